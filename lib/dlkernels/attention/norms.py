"""Layer norm and RMS norm, along the last dimension: what is called, and what checks its arguments."""

import numpy as np

from ..arguments import check_gradient, float_array, number, one_place, same
from ..implementations import call, operation
from . import examples, reference


def _check_norm(x, weight, bias, eps):
    """The number that stands beside the variance."""
    arrays = {"x": x} | {name: array for name, array in (("weight", weight), ("bias", bias)) if array is not None}
    for name, array in arrays.items():
        float_array(name, array)
    one_place(**arrays)
    same("dtype", **arrays)
    if x.ndim < 1 or tuple(x.shape)[-1] == 0:
        raise ValueError(f"x has shape {tuple(x.shape)}; expected at least one number along the last dimension.")
    for name, array in arrays.items():
        if array is not x and tuple(array.shape) != tuple(x.shape)[-1:]:
            raise ValueError(
                f"{name} has shape {tuple(array.shape)}; expected {tuple(x.shape)[-1:]}, the last dimension of x, "
                f"which has shape {tuple(x.shape)}."
            )
    eps = float(number("eps", np.finfo(x.dtype).eps if eps is None else eps, np.float64))
    if not eps >= 0:
        raise ValueError(f"eps is {eps}; expected a number that is not negative.")
    return eps


@operation("layer_norm", reference.layer_norm, examples.LAYER_NORM, by_shape=True)
def _prepare_layer_norm(x, weight=None, bias=None, eps=1e-5):
    return weight, bias, _check_norm(x, weight, bias, eps), x


@operation("rms_norm", reference.rms_norm, examples.RMS_NORM, by_shape=True)
def _prepare_rms_norm(x, weight=None, eps=None):
    return weight, None, _check_norm(x, weight, None, eps), x


@operation(
    "layer_norm_backward",
    reference.layer_norm_backward,
    examples.LAYER_NORM_BACKWARD,
    backward_of="layer_norm",
    by_shape=True,
)
def _prepare_layer_norm_backward(grad, x, weight=None, bias=None, eps=1e-5):
    eps = _check_norm(x, weight, bias, eps)
    check_gradient(grad, x.shape, x=x)
    return weight, bias, eps, grad, x


@operation(
    "rms_norm_backward", reference.rms_norm_backward, examples.RMS_NORM_BACKWARD, backward_of="rms_norm", by_shape=True
)
def _prepare_rms_norm_backward(grad, x, weight=None, eps=None):
    eps = _check_norm(x, weight, None, eps)
    check_gradient(grad, x.shape, x=x)
    return weight, eps, grad, x


# ---- what is called -------------------------------------------------------------------------------------------------


def layer_norm(x, weight=None, bias=None, eps=1e-5):
    """(x - mean) / sqrt(variance + eps) * weight + bias along the last dimension, as torch.nn.functional.layer_norm.

    x: (..., n). weight, bias: (n,) or None, for ones and zeros. The variance is that of n numbers, not n - 1. A new
    array.
    """
    return call("layer_norm", x, weight, bias, eps)


def rms_norm(x, weight=None, eps=None):
    """x / sqrt(mean of x^2 + eps) * weight along the last dimension, as torch.nn.functional.rms_norm.

    x: (..., n). weight: (n,) or None, for ones. eps: None for the spacing of the type's numbers at 1. A new array.
    """
    return call("rms_norm", x, weight, eps)


def layer_norm_backward(grad, x, weight=None, bias=None, eps=1e-5):
    """The gradients of x, weight and bias (of those that are given), given `grad`, the one of layer_norm(...)."""
    return call("layer_norm_backward", grad, x, weight, bias, eps)


def rms_norm_backward(grad, x, weight=None, eps=None):
    """The gradients of x and weight (if there is one), given `grad`, the one with respect to rms_norm(...)."""
    return call("rms_norm_backward", grad, x, weight, eps)
