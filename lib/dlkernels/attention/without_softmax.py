"""Attention without a softmax, which keeps a state: what is called, and what checks its arguments."""

import numpy as np

from ..arguments import float_array, number, one_place, same
from ..implementations import call, operation
from ..reduce import cumsum
from . import examples, reference


def check_tokens(q, k, v, scale, **rest):
    """What results are multiplied by; ValueError or TypeError unless all have the same heads and tokens."""
    arrays = {"q": q, "k": k, "v": v} | {name: array for name, array in rest.items() if array is not None}
    for name, array in arrays.items():
        float_array(name, array)
    one_place(**arrays)
    same("dtype", **arrays)
    told = ", ".join(f"{name} {tuple(array.shape)}" for name, array in arrays.items())
    tokens = tuple(q.shape)[:-1]
    fits = tuple(k.shape) == tuple(q.shape) and tuple(v.shape)[:-1] == tokens
    if q.ndim < 2 or not fits or any(tuple(array.shape) != tokens for array in rest.values() if array is not None):
        also = "".join(f", {name} (..., tokens)" for name in rest)
        raise ValueError(
            f"The shapes are {told}; expected q and k (..., tokens, width), v (..., tokens, value width){also}, with "
            "the same leading dimensions."
        )
    if tuple(q.shape)[-1] == 0:
        raise ValueError(f"The shapes are {told}; expected a width of at least 1.")
    return tuple(q.shape)[-1] ** -0.5 if scale is None else float(number("scale", scale, np.float64))


def _linear_attention_backward(grad, q, k, v, g, scale):
    """Each gradient is linear attention again: that of q over the same tokens, those of k and v from the last one back.

    The gradient of g is a running sum from the end: token t counts q_t . dq_t - k_t . dk_t (Yang and others 2023).
    """

    def back(x):
        return x[..., ::-1, :]

    scale = tuple(q.shape)[-1] ** -0.5 if scale is None else scale
    later = None if g is None else np.concatenate([g[..., :1], g[..., :0:-1]], axis=-1)  # the first is of no state
    of_q = linear_attention(grad, v, k, g, scale)
    of_k = back(linear_attention(back(v), back(grad), back(q), later, scale))
    of_v = back(linear_attention(back(k), back(q), back(grad), later, scale))
    found = {"q": of_q, "k": of_k, "v": of_v}
    if g is None:
        return found
    of_decay = (q * of_q).sum(axis=-1) - (k * of_k).sum(axis=-1)
    return found | {"g": cumsum(of_decay[..., ::-1], -1)[..., ::-1]}


@operation(
    "linear_attention", reference.linear_attention, examples.LINEAR_ATTENTION, backward=_linear_attention_backward
)
def _prepare_linear_attention(q, k, v, g=None, scale=None):
    return k, v, g, check_tokens(q, k, v, scale, g=g), q


@operation(
    "gated_delta_rule",
    reference.gated_delta_rule,
    examples.DELTA,
    no_backward="nobody has written it: the states have to be walked through from the last one back",
)
def _prepare_delta(q, k, v, g, beta, scale=None):
    for name, array in (("g", g), ("beta", beta)):
        float_array(name, array)
    return k, v, g, beta, check_tokens(q, k, v, scale, g=g, beta=beta), q


# ---- what is called -------------------------------------------------------------------------------------------------


def linear_attention(q, k, v, g=None, scale=None):
    """Causal attention without a softmax: o_t = scale * q_t S_t, S_t = e^(g_t) S_{t-1} + k_t v_t^T. A new array; host
    memory only.

    q, k: (..., tokens, width), v: (..., tokens, value width), of the same leading dimensions. g: (..., tokens),
    logarithms of how much of the state stays, at most 0; None for all of it. scale: None for 1 / sqrt(width).
    """
    return call("linear_attention", q, k, v, g, scale)


def gated_delta_rule(q, k, v, g, beta, scale=None):
    """As `linear_attention`, but what the state holds for a key gives way to its new value (Yang and others 2024).

    S_t = e^(g_t) (I - beta_t k_t k_t^T) S_{t-1} + beta_t k_t v_t^T. q, k, v, scale as there; k should have rows of
    length 1. g: (..., tokens), logarithms of how much of the state stays, at most
    0. beta: (..., tokens), how much of a key's old value is replaced, 0 to 1. A new array; host memory only.
    """
    return call("gated_delta_rule", q, k, v, g, beta, scale)
