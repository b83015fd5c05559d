"""Softmax, normalisations and attention in NumPy and float64: what every other implementation is tested against.

softmax          e^x / sum of e^x along a dimension; a row of which all is -inf has no softmax: NaN, as PyTorch gives
log_softmax      its logarithm
layer_norm       (x - mean) / sqrt(variance + eps) * weight + bias along the last dimension (Ba, Kiros and Hinton 2016)
rms_norm         x / sqrt(mean of x^2 + eps) * weight (Zhang and Sennrich 2019)
scaled_dot_product_attention    softmax(scale q k^T + mask) v (Vaswani and others 2017). Causal: query i looks at keys 0 to
                 i, whatever their numbers, so that the first row and the first column meet. A query that may look at
                 no key gets zeros. Both as in PyTorch 2.13.

Each `<name>_backward(grad, ...)` gives the gradients of the arrays among the arguments that follow.
"""

import numpy as np

from ..matrix.reference import unbroadcast


def _double(x):
    return np.asarray(x, dtype=np.float64)


def softmax(x, dim=-1):
    x = _double(x)
    if x.size == 0:
        return x
    e = np.exp(x - x.max(axis=_axis(x, dim), keepdims=True))
    return e / e.sum(axis=_axis(x, dim), keepdims=True)


def log_softmax(x, dim=-1):
    x = _double(x)
    if x.size == 0:
        return x
    z = x - x.max(axis=_axis(x, dim), keepdims=True)
    return z - np.log(np.exp(z).sum(axis=_axis(x, dim), keepdims=True))


def _axis(x, dim):
    return dim if x.ndim else None


def softmax_backward(grad, x, dim=-1):
    y = softmax(x, dim)
    return y * (_double(grad) - (grad * y).sum(axis=_axis(y, dim), keepdims=True))


def log_softmax_backward(grad, x, dim=-1):
    y = softmax(x, dim)
    return grad - y * _double(grad).sum(axis=_axis(y, dim), keepdims=True)


def _normal(x, eps, centred):
    """(normalised x, what it was multiplied by)."""
    x = _double(x)
    if centred:
        x = x - x.mean(axis=-1, keepdims=True)
    scale = 1 / np.sqrt((x * x).mean(axis=-1, keepdims=True) + eps)
    return x * scale, scale


def layer_norm(x, weight=None, bias=None, eps=1e-5):
    y = _normal(x, eps, True)[0]
    y = y if weight is None else y * _double(weight)
    return y if bias is None else y + _double(bias)


def rms_norm(x, weight=None, eps=None):
    y = _normal(x, np.finfo(x.dtype).eps if eps is None else eps, False)[0]
    return y if weight is None else y * _double(weight)


def _norm_backward(grad, x, weight, eps, centred):
    """(gradient of x, gradient of weight)."""
    y, scale = _normal(x, eps, centred)
    arrived = _double(grad)
    g = arrived if weight is None else arrived * _double(weight)
    inner = g - y * (g * y).mean(axis=-1, keepdims=True)
    if centred:
        inner = inner - g.mean(axis=-1, keepdims=True)
    return scale * inner, (arrived * y).reshape(-1, y.shape[-1]).sum(axis=0)


def layer_norm_backward(grad, x, weight=None, bias=None, eps=1e-5):
    of_x, of_weight = _norm_backward(grad, x, weight, eps, True)
    of_bias = _double(grad).reshape(-1, x.shape[-1]).sum(axis=0)
    gradients = [of_x, *([] if weight is None else [of_weight]), *([] if bias is None else [of_bias])]
    return tuple(gradients) if len(gradients) > 1 else of_x


def rms_norm_backward(grad, x, weight=None, eps=None):
    of_x, of_weight = _norm_backward(grad, x, weight, np.finfo(x.dtype).eps if eps is None else eps, False)
    return of_x if weight is None else (of_x, of_weight)


# ---- attention -------------------------------------------------------------------------------------------------------


def _repeated(x, heads):
    """Keys or values, each matrix of them for its group of heads."""
    return np.repeat(x, heads // x.shape[-3], axis=-3) if x.shape[-3] else x


def _scores(q, k, mask, is_causal, scale):
    scores = scale * np.matmul(q, np.swapaxes(k, -1, -2))
    if is_causal:
        scores = np.where(np.tri(*scores.shape[-2:], dtype=bool), scores, -np.inf)
    elif mask is not None:
        scores = scores + (np.where(mask, 0.0, -np.inf) if mask.dtype == bool else _double(mask))
    return scores


def _weights(scores):
    """Their softmax; zeros for a query that may look at no key."""
    if scores.size == 0:
        return scores
    nothing = (scores == -np.inf).all(axis=-1, keepdims=True)
    return np.where(nothing, 0.0, softmax(np.where(nothing, 0.0, scores)))


def scaled_dot_product_attention(q, k, v, mask=None, is_causal=False, scale=None, enable_gqa=False):
    q, k, v = _double(q), _double(k), _double(v)
    if enable_gqa:
        k, v = (_repeated(x, q.shape[-3]) for x in (k, v))
    scale = q.shape[-1] ** -0.5 if scale is None else scale
    return np.matmul(_weights(_scores(q, k, mask, is_causal, scale)), v)


def scaled_dot_product_attention_backward(grad, q, k, v, mask=None, is_causal=False, scale=None, enable_gqa=False):
    grad, q, first_k, first_v = (_double(x) for x in (grad, q, k, v))
    k, v = (_repeated(x, q.shape[-3]) for x in (first_k, first_v)) if enable_gqa else (first_k, first_v)
    scale = q.shape[-1] ** -0.5 if scale is None else scale
    weights = _weights(_scores(q, k, mask, is_causal, scale))
    arrived = np.matmul(grad, np.swapaxes(v, -1, -2))
    inner = scale * weights * (arrived - (weights * arrived).sum(axis=-1, keepdims=True))
    of_q = np.matmul(inner, k)
    of_k, of_v = np.matmul(np.swapaxes(inner, -1, -2), q), np.matmul(np.swapaxes(weights, -1, -2), grad)
    return tuple(_collected(part, x.shape) for part, x in zip((of_q, of_k, of_v), (q, first_k, first_v), strict=True))


def _collected(grad, shape):
    """The sum over all heads that an array of this shape was broadcast to, or repeated for."""
    if len(shape) > 2 and grad.shape[-3] != shape[-3] > 1:
        heads = shape[-3], grad.shape[-3] // shape[-3]
        grad = grad.reshape(*grad.shape[:-3], *heads, *grad.shape[-2:]).sum(axis=-3)
    return unbroadcast(grad, shape)


# ---- decoding --------------------------------------------------------------------------------------------------------


def _cached(x, factors, block_table):
    """Keys or values as (..., heads, room, width), whatever lies in pages or is bytes."""
    x = _double(x) if factors is None else _double(x) * _double(factors)[..., None]
    if block_table is None:
        return x
    pages = np.moveaxis(x[np.clip(block_table, 0, len(x) - 1)], -3, -4) if len(x) else np.zeros(
        (*block_table.shape[:-1], x.shape[1], block_table.shape[-1], *x.shape[2:])
    )  # fmt: skip
    return pages.reshape(*pages.shape[:-3], pages.shape[-3] * pages.shape[-2], pages.shape[-1])


def _decode_parts(q, k, v, lengths, block_table, k_scale, v_scale):
    """(k, v, which keys each query may look at) as arrays for all heads of q."""
    k, v = (_cached(x, factors, block_table) for x, factors in ((k, k_scale), (v, v_scale)))
    room, queries = k.shape[-2], q.shape[-2]
    ends = np.full(q.shape[:-3], room) if lengths is None else lengths
    allowed = np.arange(room) <= (ends[..., None] - queries + np.arange(queries))[..., None, :, None]
    return _repeated(k, q.shape[-3]), _repeated(v, q.shape[-3]), allowed


def decode_attention(q, k, v, lengths=None, block_table=None, k_scale=None, v_scale=None, scale=None, return_lse=False):
    q = _double(q)
    k, v, allowed = _decode_parts(q, k, v, lengths, block_table, k_scale, v_scale)
    scale = q.shape[-1] ** -0.5 if scale is None else scale
    scores = _scores(q, k, allowed, False, scale)
    out = np.matmul(_weights(scores), v)
    return (out, _logsumexp(scores)) if return_lse else out


def _logsumexp(scores):
    top = scores.max(axis=-1, initial=-np.inf)
    base = np.where(top == -np.inf, 0.0, top)
    return base + np.log(np.exp(scores - base[..., None]).sum(axis=-1))


def merge_attention(one, one_lse, other, other_lse):
    both = np.stack([_double(one_lse), _double(other_lse)], axis=-1)
    weights = _weights(both)
    return weights[..., :1] * _double(one) + weights[..., 1:] * _double(other), _logsumexp(both)


# ---- positions -------------------------------------------------------------------------------------------------------


def _angles(positions, width, base):
    return np.multiply.outer(_double(positions), base ** (-np.arange(0, width, 2) / width))


def sinusoidal_encoding(positions, width, base=10000.0):
    turned = _angles(positions, width, base)
    both = np.stack([np.sin(turned), np.cos(turned)], axis=-1)
    return both.reshape(*np.shape(positions), 2 * turned.shape[-1])[..., :width]


def rotary_embedding(x, positions, base=10000.0, interleaved=False, sign=1):
    x, turned = _double(x), _angles(positions, x.shape[-1], base)
    pairs = x.reshape(*x.shape[:-1], x.shape[-1] // 2, 2) if interleaved else np.stack(np.split(x, 2, axis=-1), axis=-1)
    whole = (pairs[..., 0] + 1j * pairs[..., 1]) * np.exp(sign * 1j * turned)  # a turn is a product of complex numbers
    both = np.stack([whole.real, whole.imag], axis=-1)
    return both.reshape(x.shape) if interleaved else np.concatenate([both[..., 0], both[..., 1]], axis=-1)


def rotary_embedding_backward(grad, x, positions, base=10000.0, interleaved=False):
    return rotary_embedding(grad, positions, base, interleaved, -1)
