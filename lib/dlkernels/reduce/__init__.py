"""Reductions: many numbers become one, or few.

Names and arguments are PyTorch's. Arrays are float32 or float64, of any shape and strides, in host or device memory (there:
float32). Nothing changes its inputs. Wrong arguments raise ValueError or TypeError.
"""

from .. import team
from ..arguments import float_array
from ..implementations import call, operation
from ..vector.flat import alike
from . import examples, reference
from .lines import whole_dim


@operation("sum", reference.sum, examples.SUM)
def _prepare_sum(x, dim=None, keepdim=False):
    float_array("x", x)
    if not isinstance(keepdim, bool):
        raise TypeError(f"keepdim is {keepdim!r}; expected True or False.")
    shape, dims = tuple(x.shape), dim if isinstance(dim, tuple | list) else (dim,)
    dims = tuple(range(len(shape))) if dim is None else tuple(whole_dim(one, len(shape)) for one in dims)
    if dim is not None and (not dims or len(set(dims)) < len(dims)):
        raise ValueError(f"dim is {dim}; expected None, a number, or several different ones.")
    if keepdim:
        return dims, tuple(1 if axis in dims else n for axis, n in enumerate(shape)), x
    return dims, tuple(n for axis, n in enumerate(shape) if axis not in dims), x


from . import (  # noqa: E402
    cpu_sum,
    gpu_sum,  # noqa: F401
)


def sum(x, dim=None, keepdim=False):
    """The sum of x, or along a dimension or several, as torch.sum. A new array, of no dimensions for the whole sum.

    dim: None for all, a number, or a tuple of numbers. keepdim: True to keep these dimensions, with one element each.
    """
    if (
        dim is None and keepdim is False and alike(x) and x.size
    ):  # the general path's checks take longer than a short sum
        return cpu_sum.summed(x.reshape(1, -1, 1), team.size()).reshape(())
    return call("sum", x, dim, keepdim)
