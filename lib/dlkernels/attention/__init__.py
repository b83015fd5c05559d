"""Attention, and what stands beside it in a Transformer: softmax, normalisations, positions.

Names, argument orders and defaults are PyTorch's (a normalisation's shape is that of its weight: the last dimension).
Arrays are float32 or float64, of any strides, in host or device memory; what is computed from device arrays stays on the
device, in float32. Nothing changes its inputs. Wrong arguments raise ValueError or TypeError.
"""

import numbers

import numpy as np

from ..arguments import float_array, number, one_place, same
from ..implementations import call, operation
from . import examples, reference
from .geometry import geometry

# ---- softmax ---------------------------------------------------------------------------------------------------------


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
    _check_gradient(grad, x)
    return check_dimension(x, dim), grad, x


def _check_gradient(grad, x):
    float_array("grad", grad)
    one_place(grad=grad, x=x)
    same("dtype", x=x, grad=grad)
    if tuple(grad.shape) != tuple(x.shape):
        raise ValueError(f"grad has shape {tuple(grad.shape)}; expected {tuple(x.shape)}, the shape of the result.")


operation("softmax", reference.softmax, examples.SOFTMAX)(_prepare_softmax)
operation("log_softmax", reference.log_softmax, examples.LOG_SOFTMAX)(_prepare_softmax)
operation("softmax_backward", reference.softmax_backward, examples.SOFTMAX_BACKWARD, backward_of="softmax")(
    _prepare_softmax_backward
)
operation(
    "log_softmax_backward", reference.log_softmax_backward, examples.LOG_SOFTMAX_BACKWARD, backward_of="log_softmax"
)(_prepare_softmax_backward)


# ---- normalisations ----------------------------------------------------------------------------------------------------


def _check_norm(x, weight, bias, eps):
    """The number that stands beside the variance."""
    given = {"x": x} | {name: one for name, one in (("weight", weight), ("bias", bias)) if one is not None}
    for name, one in given.items():
        float_array(name, one)
    one_place(**given)
    same("dtype", **given)
    if x.ndim < 1 or tuple(x.shape)[-1] == 0:
        raise ValueError(f"x has shape {tuple(x.shape)}; expected at least one number along the last dimension.")
    for name, one in given.items():
        if one is not x and tuple(one.shape) != tuple(x.shape)[-1:]:
            raise ValueError(
                f"{name} has shape {tuple(one.shape)}; expected {tuple(x.shape)[-1:]}, the last dimension of x, which has "
                f"shape {tuple(x.shape)}."
            )
    eps = float(number("eps", np.finfo(x.dtype).eps if eps is None else eps, np.float64))
    if not eps >= 0:
        raise ValueError(f"eps is {eps}; expected a number that is not negative.")
    return eps


@operation("layer_norm", reference.layer_norm, examples.LAYER_NORM)
def _prepare_layer_norm(x, weight=None, bias=None, eps=1e-5):
    return weight, bias, _check_norm(x, weight, bias, eps), x


@operation("rms_norm", reference.rms_norm, examples.RMS_NORM)
def _prepare_rms_norm(x, weight=None, eps=None):
    return weight, None, _check_norm(x, weight, None, eps), x


@operation("layer_norm_backward", reference.layer_norm_backward, examples.LAYER_NORM_BACKWARD, backward_of="layer_norm")
def _prepare_layer_norm_backward(grad, x, weight=None, bias=None, eps=1e-5):
    eps = _check_norm(x, weight, bias, eps)
    _check_gradient(grad, x)
    return weight, bias, eps, grad, x


@operation("rms_norm_backward", reference.rms_norm_backward, examples.RMS_NORM_BACKWARD, backward_of="rms_norm")
def _prepare_rms_norm_backward(grad, x, weight=None, eps=None):
    eps = _check_norm(x, weight, None, eps)
    _check_gradient(grad, x)
    return weight, eps, grad, x


# ---- attention -------------------------------------------------------------------------------------------------------


@operation("scaled_dot_product_attention", reference.scaled_dot_product_attention, examples.ATTEND)
def _prepare_attention(q, k, v, mask=None, is_causal=False, scale=None, enable_gqa=False):
    return mask, *geometry(q, k, v, mask, is_causal, scale, enable_gqa), q, k, v


@operation(
    "scaled_dot_product_attention_backward",
    reference.scaled_dot_product_attention_backward,
    examples.ATTEND_BACKWARD,
    backward_of="scaled_dot_product_attention",
    constants=("mask",),
)
def _prepare_attention_backward(grad, q, k, v, mask=None, is_causal=False, scale=None, enable_gqa=False):
    shape, g = geometry(q, k, v, mask, is_causal, scale, enable_gqa)
    float_array("grad", grad)
    one_place(grad=grad, q=q)
    same("dtype", q=q, grad=grad)
    if tuple(grad.shape) != shape:
        raise ValueError(f"grad has shape {tuple(grad.shape)}; expected {shape}, the shape of the result.")
    return mask, shape, g, grad, q, k, v


# ---- positions -------------------------------------------------------------------------------------------------------


@operation("sinusoidal_encoding", reference.sinusoidal_encoding, examples.SINUSOIDAL)
def _prepare_sinusoidal(positions, width, base=10000.0):
    float_array("positions", positions)
    if isinstance(width, bool) or not isinstance(width, numbers.Integral):
        raise TypeError(f"width is {width!r}; expected a whole number.")
    if width < 1:
        raise ValueError(f"width is {width}; expected at least 1.")
    return int(width), _check_base(base), positions


def _check_base(base):
    base = float(number("base", base, np.float64))
    if not base > 0:
        raise ValueError(f"base is {base}; expected a number above 0.")
    return base


def _check_rotary(x, positions, base, interleaved):
    """(positions, base, interleaved) of a call."""
    float_array("x", x)
    float_array("positions", positions)
    one_place(x=x, positions=positions)
    same("dtype", x=x, positions=positions)
    if x.ndim < 2 or tuple(x.shape)[-1] % 2 or not tuple(x.shape)[-1]:
        raise ValueError(
            f"x has shape {tuple(x.shape)}; expected (..., positions, width) with an even width of at least 2."
        )
    if tuple(positions.shape) != tuple(x.shape)[-2:-1]:
        raise ValueError(
            f"positions has shape {tuple(positions.shape)}, and x has shape {tuple(x.shape)}; expected "
            f"{tuple(x.shape)[-2:-1]}, one position for each row of x."
        )
    if not isinstance(interleaved, bool | np.bool):
        raise TypeError(f"interleaved is {interleaved!r}; expected True or False.")
    return positions, _check_base(base), bool(interleaved)


@operation("rotary_embedding", reference.rotary_embedding, examples.ROTARY)
def _prepare_rotary(x, positions, base=10000.0, interleaved=False):
    return *_check_rotary(x, positions, base, interleaved), 1, x


@operation(
    "rotary_embedding_backward",
    reference.rotary_embedding_backward,
    examples.ROTARY_BACKWARD,
    backward_of="rotary_embedding",
    constants=("positions",),
)
def _prepare_rotary_backward(grad, x, positions, base=10000.0, interleaved=False):
    checked = _check_rotary(x, positions, base, interleaved)
    _check_gradient(grad, x)
    return *checked, -1, grad


from . import (  # noqa: E402
    cpu,  # noqa: F401
    cpu_backward,  # noqa: F401
    cpu_norms,  # noqa: F401
    cpu_softmax,  # noqa: F401
    encodings,  # noqa: F401
    gpu,  # noqa: F401
    gpu_backward,  # noqa: F401
    gpu_rows,  # noqa: F401
)


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


def layer_norm(x, weight=None, bias=None, eps=1e-5):
    """(x - mean) / sqrt(variance + eps) * weight + bias along the last dimension, as torch.nn.functional.layer_norm.

    x: (..., n). weight, bias: (n,) or None, for ones and zeros. The variance is that of n numbers, not n - 1. A new array.
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


def scaled_dot_product_attention(q, k, v, mask=None, is_causal=False, scale=None, enable_gqa=False):
    """softmax(scale q k^T + mask) v, as torch.nn.functional.scaled_dot_product_attention without dropout. A new array.

    q: (..., queries, width), k: (..., keys, width), v: (..., keys, value width); leading dimensions are broadcast.
    mask: what can be broadcast to (..., queries, keys): True where a query may look at a key, or numbers that are added to
    the scores, of the dtype of q. None for all keys.
    is_causal: True for query i to look at keys 0 to i only, whatever the numbers of queries and keys: the first query and
    the first key stand together, as in PyTorch. Not with a mask.
    scale: None for 1 / sqrt(width). enable_gqa: True where k and v have fewer heads than q, in the dimension before the
    last two: query head h then looks at head h // (heads of q / heads of k).
    A query that may look at no key gets zeros, as in PyTorch. What stands in v where nobody may look should be finite: it
    may be multiplied by zero or not.
    """
    return call("scaled_dot_product_attention", q, k, v, mask, is_causal, scale, enable_gqa)


def scaled_dot_product_attention_backward(grad, q, k, v, mask=None, is_causal=False, scale=None, enable_gqa=False):
    """The gradients of q, k and v, given `grad`, the one with respect to scaled_dot_product_attention(...).

    A mask is taken as given: it gets no gradient.
    """
    return call("scaled_dot_product_attention_backward", grad, q, k, v, mask, is_causal, scale, enable_gqa)


def sinusoidal_encoding(positions, width, base=10000.0):
    """Sines and cosines that say where a token stands (Vaswani and others 2017): (..., width) for positions (...).

    Column 2 i is sin(position * base^(-2 i / width)), column 2 i + 1 the cosine of the same angle. positions: numbers, of
    the dtype that the result shall have; host memory only.
    """
    return call("sinusoidal_encoding", positions, width, base)


def rotary_embedding(x, positions, base=10000.0, interleaved=False):
    """Each pair of numbers of x turned by an angle that grows with its position (Su and others 2021). A new array.

    x: (..., length, width) with an even width: queries or keys of one head, or of several. positions: (length,) of the dtype
    of x. Pair i turns by position * base^(-2 i / width). interleaved: True for pairs of neighbours, 2 i and 2 i + 1, as in the
    paper; False for i and i + width / 2, as in most models of today.
    """
    return call("rotary_embedding", x, positions, base, interleaved)


def rotary_embedding_backward(grad, x, positions, base=10000.0, interleaved=False):
    """The gradient of x, given `grad`, the one with respect to rotary_embedding(...): it turns back. Positions get none."""
    return call("rotary_embedding_backward", grad, x, positions, base, interleaved)
