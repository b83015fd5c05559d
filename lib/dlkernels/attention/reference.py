"""Softmax, normalisations and attention in NumPy and float64: what every other implementation is tested against.

softmax          e^x / sum of e^x along a dimension; a row of which all is -inf has no softmax: NaN, as PyTorch gives
log_softmax      its logarithm
layer_norm       (x - mean) / sqrt(variance + eps) * weight + bias along the last dimension (Ba, Kiros and Hinton 2016)
rms_norm         x / sqrt(mean of x^2 + eps) * weight (Zhang and Sennrich 2019)
scaled_dot_product_attention    softmax(scale q k^T + mask) v (Vaswani and others 2017). Causal: query i looks at keys 0
                                to
                 i, whatever their numbers, so that the first row and the first column meet. A query that may look at
                 no key gets zeros. Both as in PyTorch 2.13.
attention_half   the same of float16, or of bfloat16 given by its bits in uint16

Each `<name>_backward(grad, ...)` gives the gradients of the arrays among the arguments that follow.
"""

import math

import numpy as np

from ..convolution.reference import widened
from ..matrix.reference import linear, linear_backward, unbroadcast


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


def attention_with_sums(q, k, v, mask=None, is_causal=False, scale=None, enable_gqa=False):
    least, wide = np.finfo(q.dtype).min, [_double(x) for x in (q, k, v)]
    first_k = _repeated(wide[1], q.shape[-3]) if enable_gqa else wide[1]
    scores = _scores(wide[0], first_k, mask, is_causal, q.shape[-1] ** -0.5 if scale is None else scale) / np.log(2)
    result = scaled_dot_product_attention(*wide, mask, is_causal, scale, enable_gqa)
    top = np.maximum(scores.max(axis=-1, initial=-np.inf), least)
    return result, np.stack([top, np.exp2(scores - top[..., None]).sum(axis=-1)])


def attention_half(q, k, v, *rest):
    return scaled_dot_product_attention(*(widened(half) for half in (q, k, v)), *rest)


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


def attention_backward_from_sums(grad, q, k, v, result, sums, *rest):
    return scaled_dot_product_attention_backward(grad, q, k, v, *rest)


def _collected(grad, shape):
    """The sum over all heads that an array of this shape was broadcast to, or repeated for."""
    if len(shape) > 2 and grad.shape[-3] != shape[-3] > 1:
        heads = shape[-3], grad.shape[-3] // shape[-3]
        grad = grad.reshape(*grad.shape[:-3], *heads, *grad.shape[-2:]).sum(axis=-3)
    return unbroadcast(grad, shape)


# ---- modifiers -------------------------------------------------------------------------------------------------------


def _flex_scores(q, k, score_mod, block_mask, scale):
    """(scores, the same modified): functions of single numbers are called for each."""
    scores = scale * np.matmul(q, np.swapaxes(k, -1, -2))
    lead = scores.shape[:-2]
    heads = lead[-1] if lead else 1
    number = np.arange(math.prod(lead)).reshape(*lead, 1, 1)
    places = number // max(heads, 1), number % max(heads, 1), *np.ogrid[: scores.shape[-2], : scores.shape[-1]]
    changed = scores
    if score_mod is not None:
        changed = np.vectorize(score_mod, otypes=[np.float64])(scores, *places)
    if block_mask is not None:
        seen = np.broadcast_to(np.vectorize(block_mask.mask_mod, otypes=[bool])(*places), scores.shape)
        changed = np.where(seen, changed, -np.inf)
    return scores, changed


def flex_attention(query, key, value, score_mod=None, block_mask=None, scale=None, enable_gqa=False):
    q, k, v = _double(query), _double(key), _double(value)
    if enable_gqa:
        k, v = (_repeated(x, q.shape[-3]) for x in (k, v))
    scale = q.shape[-1] ** -0.5 if scale is None else scale
    return np.matmul(_weights(_flex_scores(q, k, score_mod, block_mask, scale)[1]), v)


# ---- without a softmax -----------------------------------------------------------------------------------------------


def linear_attention(q, k, v, g=None, scale=None):
    return _recurrent(q, k, v, g, None, scale)


def gated_delta_rule(q, k, v, g, beta, scale=None):
    return _recurrent(q, k, v, g, beta, scale)


def _recurrent(q, k, v, g, beta, scale):
    q, k, v = _double(q), _double(k), _double(v)
    scale = q.shape[-1] ** -0.5 if scale is None else scale
    decay = np.ones(q.shape[:-1]) if g is None else np.exp(_double(g))
    state, out = np.zeros((*q.shape[:-2], q.shape[-1], v.shape[-1])), np.empty((*q.shape[:-1], v.shape[-1]))
    for t in range(q.shape[-2]):
        state = decay[..., t, None, None] * state
        new = v[..., t, :]
        if beta is not None:
            held = np.einsum("...pc,...p->...c", state, k[..., t, :])
            new = _double(beta)[..., t, None] * (new - held)
        state = state + k[..., t, :, None] * new[..., None, :]
        out[..., t, :] = scale * np.einsum("...pc,...p->...c", state, q[..., t, :])
    return out


# ---- decoding --------------------------------------------------------------------------------------------------------


def _cached(x, factors, block_table):
    """Keys or values as (..., heads, room, width), whatever lies in pages or is bytes."""
    x = _double(x) if factors is None else _double(x) * _double(factors)[..., None]
    if block_table is None:
        return x
    pages = (
        np.moveaxis(x[np.clip(block_table, 0, len(x) - 1)], -3, -4)
        if len(x)
        else np.zeros((*block_table.shape[:-1], x.shape[1], block_table.shape[-1], *x.shape[2:]))
    )
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
    z = (pairs[..., 0] + 1j * pairs[..., 1]) * np.exp(sign * 1j * turned)  # a turn is a product of complex numbers
    both = np.stack([z.real, z.imag], axis=-1)
    return both.reshape(x.shape) if interleaved else np.concatenate([both[..., 0], both[..., 1]], axis=-1)


def rotary_embedding_backward(grad, x, positions, base=10000.0, interleaved=False):
    return rotary_embedding(grad, positions, base, interleaved, -1)


# ---- a Transformer's block -------------------------------------------------------------------------------------------

#: Activations with a gate: the name of the activation of the first half, which the second half is multiplied by.
GATED = {"swiglu": "silu", "geglu": "gelu", "reglu": "relu"}


def _in_heads(x, *counts):
    parts = x.reshape(*x.shape[:-1], sum(counts), x.shape[-1] // sum(counts))
    return [np.swapaxes(part, -2, -3) for part in np.split(parts, np.cumsum(counts)[:-1], axis=-2)]


def _side_by_side(*parts):
    lines = [np.swapaxes(x, -2, -3) for x in parts]
    return np.concatenate([x.reshape(*x.shape[:-2], x.shape[-2] * x.shape[-1]) for x in lines], axis=-1)


def multi_head_attention(x, in_weight, in_bias, out_weight, out_bias, heads, kv_heads=None, is_causal=False):
    counts = heads, kv_heads or heads, kv_heads or heads
    q, k, v = _in_heads(linear(_double(x), in_weight, in_bias), *counts)
    return linear(
        _side_by_side(scaled_dot_product_attention(q, k, v, None, is_causal, None, True)), out_weight, out_bias
    )


def multi_head_attention_backward(
    grad, x, in_weight, in_bias, out_weight, out_bias, heads, kv_heads=None, is_causal=False
):
    counts = heads, kv_heads or heads, kv_heads or heads
    q, k, v = _in_heads(linear(_double(x), in_weight, in_bias), *counts)
    result = _side_by_side(scaled_dot_product_attention(q, k, v, None, is_causal, None, True))
    arrived, *of_out = linear_backward(_double(grad), result, out_weight, out_bias)
    arrived = _in_heads(arrived.reshape(result.shape), heads)[0]
    parts = scaled_dot_product_attention_backward(arrived, q, k, v, None, is_causal, None, True)
    return _like_x(linear_backward(_side_by_side(*parts), x, in_weight, in_bias), x) + tuple(of_out)


def _like_x(gradients, x):
    return np.reshape(gradients[0], np.shape(x)), *gradients[1:]


def _gated(up_weight, up_bias, activation):
    """[(weight, bias, activation), ...] of the layers that are multiplied."""
    if activation not in GATED:
        return [(up_weight, up_bias, activation)]
    half = len(up_weight) // 2
    parts = (slice(half), GATED[activation]), (slice(half, None), None)
    return [(up_weight[part], None if up_bias is None else up_bias[part], name) for part, name in parts]


def feed_forward(x, up_weight, up_bias, down_weight, down_bias, activation="gelu"):
    between = [linear(_double(x), *layer) for layer in _gated(up_weight, up_bias, activation)]
    return linear(math.prod(between), down_weight, down_bias)


def feed_forward_backward(grad, x, up_weight, up_bias, down_weight, down_bias, activation="gelu"):
    x, layers = _double(x), _gated(up_weight, up_bias, activation)
    between = [linear(x, *layer) for layer in layers]
    arrived, *of_down = linear_backward(_double(grad), math.prod(between), down_weight, down_bias)
    arrived = arrived.reshape(between[0].shape)
    others = [arrived] if len(layers) == 1 else [arrived * between[1], arrived * between[0]]
    found = [linear_backward(of_layer, x, *layer) for of_layer, layer in zip(others, layers, strict=True)]
    of_up = [np.concatenate(parts) for parts in zip(*(gradients[1:] for gradients in found), strict=True)]
    return sum(gradients[0] for gradients in found).reshape(x.shape), *of_up, *of_down


def transformer_block(x, *arguments):
    norm1, attention, norm2, feed = _parts_of_block(arguments)
    x = _double(x)
    x = x + multi_head_attention(layer_norm(x, *norm1), *attention)
    return x + feed_forward(layer_norm(x, *norm2), *feed)


def _parts_of_block(arguments):
    """What norm1, attention, norm2 and feed forward take after x, from what a block takes."""
    *arrays, heads, kv_heads, is_causal, activation = arguments
    return arrays[:2], [*arrays[2:6], heads, kv_heads, is_causal], arrays[6:8], [*arrays[8:], activation]


def transformer_block_backward(grad, x, *arguments):
    norm1, attention, norm2, feed = _parts_of_block(arguments)
    x, grad = _double(x), _double(grad)
    normal = layer_norm(x, *norm1)
    middle = x + multi_head_attention(normal, *attention)
    arrived, *of_feed = feed_forward_backward(grad, layer_norm(middle, *norm2), *feed)
    through, *of_second = _of_norm(arrived, middle, *norm2)
    grad = grad + through
    arrived, *of_attention = multi_head_attention_backward(grad, normal, *attention)
    through, *of_first = _of_norm(arrived, x, *norm1)
    return grad + through, *of_first, *of_attention, *of_second, *of_feed


def _of_norm(grad, x, weight, bias):
    found = layer_norm_backward(grad, x, weight, bias)
    return found if isinstance(found, tuple) else (found,)
