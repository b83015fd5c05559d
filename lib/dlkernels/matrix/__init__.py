"""Matrix products.

The names, argument orders and defaults are PyTorch's. Operands are float32 or float64 arrays of at least two
dimensions, of any strides (contiguous device arrays on a GPU); leading dimensions are broadcast against each other.
Nothing changes its inputs; ``out`` may not share memory with them. Wrong arguments raise ValueError or TypeError.
"""

import numpy as np

from ..arguments import float_array, one_place, output, same
from ..device import is_device_array
from ..implementations import call, operation
from . import reference


@operation("matmul", reference.matmul)
def _prepare_matmul(a, b, out=None):
    float_array("a", a)
    float_array("b", b)
    one_place(a=a, b=b)
    same("dtype", a=a, b=b)
    shape = _product_shape(a, b)
    for name, x in (("a", a), ("b", b)):
        if out is x:
            raise ValueError(
                f"out is {name} itself; expected separate memory: every element of {name} is read many times."
            )
    return a, b, output(out, shape, a.dtype, a=a, b=b)


def _product_shape(a, b):
    """The shape of a @ b; ValueError where there is none."""
    if a.ndim < 2 or b.ndim < 2 or a.shape[-1] != b.shape[-2]:
        raise ValueError(
            f"a has shape {tuple(a.shape)} and b has shape {tuple(b.shape)}; expected (..., m, k) and (..., k, n) "
            "with the same k. A vector is a matrix with one row, x[None, :], or one column, x[:, None]."
        )
    try:
        batch = np.broadcast_shapes(a.shape[:-2], b.shape[:-2])
    except ValueError:
        raise ValueError(
            f"a has shape {tuple(a.shape)} and b has shape {tuple(b.shape)}; expected leading dimensions that are equal, "
            "1 or missing."
        ) from None
    return (*batch, a.shape[-2], b.shape[-1])


from . import cpu, gpu  # noqa: E402, F401


def matmul(a, b, out=None):
    """The matrix product a b; for stacks of matrices, of each pair.

    a: (..., m, k), b: (..., k, n), float32 or float64, same dtype; leading dimensions are broadcast.
    out: (..., m, n), where to write, or None for a new array.
    """
    if out is None:
        product = cpu.two_matrices(a, b)
        if product is not None:
            return product
    return call("matmul", a, b, out)
