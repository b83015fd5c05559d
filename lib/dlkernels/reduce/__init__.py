"""Reductions: many numbers become one, or few.

Names and arguments are PyTorch's. Arrays are float32 or float64, of any shape and strides, in host or device memory
(there: float32). Nothing changes its inputs. Wrong arguments raise ValueError or TypeError.

Its files, in reading order:

reference.py      the specification in NumPy        examples.py       what each operation can be called with
lines.py          any dimensions as (before, n, after)
cpu_sum.py        sums                              gpu_sum.py        tree, shuffles, the last block
cpu_cumsum.py     running sums                      gpu_cumsum.py     Hillis and Steele, Blelloch, look-back
cpu_histogram.py  histograms                        gpu_histogram.py  atomics in global and shared memory
"""

import numpy as np

from ..arguments import check_gradient, float_array, number
from ..device import cuda, is_device_array
from ..implementations import call, operation
from ..vector.flat import alike
from . import examples, reference
from .lines import whole_dim

MOST_BINS = (1 << 31) - 2


def _quick_sum(x, dim, keepdim):
    if dim is None and keepdim is False and type(x) is np.ndarray and x.size and alike(x):
        if x.size <= cpu_sum.CHUNK:
            return cpu_sum.short(x)
        if x.flags.writeable:  # another type for the compiler, else
            return cpu_sum.whole(x)
    return None


@operation("sum", reference.sum, examples.SUM, quick=_quick_sum, by_shape=True)
def _prepare_sum(x, dim=None, keepdim=False):
    float_array("x", x)
    if not isinstance(keepdim, bool):
        raise TypeError(f"keepdim is {keepdim!r}; expected True or False.")
    shape, dims = tuple(x.shape), dim if isinstance(dim, tuple | list) else (dim,)
    dims = tuple(range(len(shape))) if dim is None else tuple(whole_dim(d, len(shape)) for d in dims)
    if dim is not None and (not dims or len(set(dims)) < len(dims)):
        raise ValueError(f"dim is {dim}; expected None, a number, or several different ones.")
    if keepdim:
        return dims, tuple(1 if axis in dims else n for axis, n in enumerate(shape)), x
    return dims, tuple(n for axis, n in enumerate(shape) if axis not in dims), x


@operation("sum_backward", reference.sum_backward, examples.SUM_BACKWARD, backward_of="sum", by_shape=True)
def _prepare_sum_backward(grad, x, dim=None, keepdim=False):
    dims, shape, x = _prepare_sum(x, dim, keepdim)
    check_gradient(grad, shape, x=x)
    return dims, grad, x


def _cumsum_backward(grad, dim):
    """The running sums from the other end."""
    back = (slice(None),) * (dim % grad.ndim) + (slice(None, None, -1),)
    return {"x": cumsum(grad[back], dim)[back]}


@operation("cumsum", reference.cumsum, examples.CUMSUM, backward=_cumsum_backward, by_shape=True)
def _prepare_cumsum(x, dim):
    float_array("x", x)
    return whole_dim(dim, x.ndim), x


@operation(
    "histogram",
    reference.histogram,
    examples.HISTOGRAM,
    no_backward="a count does not change when a number moves a little",
)
def _prepare_histogram(x, bins, min, max):
    float_array("x", x)
    if isinstance(bins, bool) or not hasattr(bins, "__index__"):
        raise TypeError(f"bins is {bins!r}; expected a whole number.")
    if not 1 <= bins <= MOST_BINS:
        raise ValueError(f"bins is {bins}; expected a number from 1 to {MOST_BINS}.")
    low, high = number("min", min, x.dtype), number("max", max, x.dtype)
    with np.errstate(over="ignore", invalid="ignore"):
        product = (high - low) * x.dtype.type(bins)
    if not (low < high and np.isfinite(product)):
        raise ValueError(
            f"min is {min} and max is {max}; expected min < max, both finite, and (max - min) * bins to be a number "
            f"that {x.dtype} has."
        )
    counts = np.zeros(bins.__index__(), np.int64)
    return low, high, x, cuda.to_device(counts) if is_device_array(x) else counts


from . import (  # noqa: E402
    cpu_cumsum,  # noqa: F401
    cpu_histogram,  # noqa: F401
    cpu_sum,
    gpu_cumsum,  # noqa: F401
    gpu_histogram,  # noqa: F401
    gpu_sum,  # noqa: F401
)


def sum(x, dim=None, keepdim=False):
    """The sum of x, or along a dimension or several, as torch.sum. A new array, of no dimensions for the whole sum.

    dim: None for all, a number, or a tuple of numbers. keepdim: True to keep these dimensions, with one element each.
    """
    found = _quick_sum(x, dim, keepdim)
    return call("sum", x, dim, keepdim) if found is None else found


def sum_backward(grad, x, dim=None, keepdim=False):
    """The gradient of x, given `grad`, the one with respect to sum(x, dim, keepdim): it goes to all that was added up.

    grad: the shape of that sum, the dtype of x. x: only its shape counts. A new array. Wrong arguments: as for `sum`.
    """
    return call("sum_backward", grad, x, dim, keepdim)


def cumsum(x, dim):
    """Running sums along a dimension, as torch.cumsum: out[k] = x[0] + ... + x[k]. A new array of the shape of x."""
    return call("cumsum", x, dim)


def histogram(x, bins, min, max):
    """How many numbers of x lie in each of `bins` equal bins from min to max: int64 counts, as torch.histc, which
    returns floats.

    A number on an edge between two bins lies in the upper one, max in the last. What is outside, or NaN, is not
    counted.
    """
    return call("histogram", x, bins, min, max)
