"""Softmax and its logarithm, along any dimension: what is called, and what checks its arguments."""

import numbers

from ..arguments import check_gradient, float_array
from ..implementations import call, operation
from . import examples, reference


def check_dimension(x, dim):
    """The dimension, counted from the first; ValueError where x has none such."""
    if isinstance(dim, bool) or not isinstance(dim, numbers.Integral):
        raise TypeError(f"dim is {dim!r}; expected a whole number.")
    most = max(x.ndim, 1)  # a single number has a softmax, too: 1
    if not -most <= dim < most:
        raise ValueError(
            f"dim is {dim}, and x has shape {tuple(x.shape)}; expected a number from {-most} to {most - 1}."
        )
    return int(dim) % most


def _prepare_softmax(x, dim=-1):
    float_array("x", x)
    return check_dimension(x, dim), x


def _prepare_softmax_backward(grad, x, dim=-1):
    float_array("x", x)
    check_gradient(grad, x.shape, x=x)
    return check_dimension(x, dim), grad, x


operation("softmax", reference.softmax, examples.SOFTMAX, by_shape=True)(_prepare_softmax)
operation("log_softmax", reference.log_softmax, examples.LOG_SOFTMAX, by_shape=True)(_prepare_softmax)
operation(
    "softmax_backward", reference.softmax_backward, examples.SOFTMAX_BACKWARD, backward_of="softmax", by_shape=True
)(_prepare_softmax_backward)
operation(
    "log_softmax_backward",
    reference.log_softmax_backward,
    examples.LOG_SOFTMAX_BACKWARD,
    backward_of="log_softmax",
    by_shape=True,
)(_prepare_softmax_backward)


# ---- what is called -------------------------------------------------------------------------------------------------


def softmax(x, dim=-1):
    """e^x divided by its sum along dimension `dim`, as torch.nn.functional.softmax. A new array.

    A row of -inf alone has no softmax: NaN, as PyTorch gives; so has one with NaN or inf.
    """
    return call("softmax", x, dim)


def log_softmax(x, dim=-1):
    """The logarithm of `softmax`, without its rounding to zero, as torch.nn.functional.log_softmax. A new array."""
    return call("log_softmax", x, dim)


def softmax_backward(grad, x, dim=-1):
    """The gradient of x, given `grad`, the one with respect to softmax(x, dim)."""
    return call("softmax_backward", grad, x, dim)


def log_softmax_backward(grad, x, dim=-1):
    """The gradient of x, given `grad`, the one with respect to log_softmax(x, dim)."""
    return call("log_softmax_backward", grad, x, dim)
