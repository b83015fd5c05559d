"""Examples of softmax, normalisations and attention.

The errors allowed are sums of what each rounding can do (Higham, Accuracy and Stability of Numerical Algorithms,
chapters 3 and 4): a sum of n terms is wrong by n roundings at most, and e^z by |z| of them, as z itself was rounded.
"""

import math
from dataclasses import replace

import numpy as np

from ..examples import Examples
from . import modifiers, reference

SHAPES = ((), (1,), (0, 4), (3, 0), (1, 7), (5, 33), (4, 1), (2, 3, 17), (17,), (3, 2, 2, 5))
LARGE = ((250, 300), (3, 20001), (10, 9, 129))
TIMED = ((128, 128), (4096, 1024))
SETTLED = 1100.0  # e^-1100 is 0 in every type


def _abs(x):
    return np.abs(np.asarray(x, np.float64))


# ---- softmax ---------------------------------------------------------------------------------------------------------


def softmax_arguments(draw, *shape):
    return draw.array(*shape), (-1, 0, -2)[draw.seed % 3] if len(shape) > 1 else -1


def softmax_gradient_arguments(draw, *shape):
    x, dim = softmax_arguments(draw, *shape)
    return draw.array(*shape), x, dim


def _roundings(x, dim):
    """How many roundings e^(x - max) and the sum of all of them may be wrong by, and x - max."""
    x = np.asarray(x, np.float64)
    axis = dim if x.ndim else None
    far = _abs(x - x.max(axis=axis, keepdims=True, initial=-np.inf))
    return x.shape[dim] + 12 + np.minimum(far, SETTLED) if x.ndim else 13.0, far


def softmax_error(arguments, expected, eps):
    return _roundings(*arguments)[0] * eps * expected


def log_softmax_error(arguments, expected, eps):
    count, far = _roundings(*arguments)
    return 2 * eps * (count + far)


def softmax_gradient_error(arguments, expected, eps):
    grad, x, dim = arguments
    y, count, axis = reference.softmax(x, dim), _roundings(x, dim)[0], dim if np.ndim(x) else None
    return 3 * eps * y * (count * (_abs(grad) + (y * _abs(grad)).sum(axis=axis, keepdims=True))
                          + (count * y * _abs(grad)).sum(axis=axis, keepdims=True))  # fmt: skip


def log_softmax_gradient_error(arguments, expected, eps):
    grad, x, dim = arguments
    y, count, axis = reference.softmax(x, dim), _roundings(x, dim)[0], dim if np.ndim(x) else None
    return 3 * eps * (_abs(grad) + count * y * _abs(grad).sum(axis=axis, keepdims=True))


def _of_softmax(make, allowed, values):
    return Examples(make, allowed, SHAPES, LARGE, TIMED, values=values, seeds=3)


SOFTMAX = _of_softmax(softmax_arguments, softmax_error, ("normal", "tiny", "huge", "special", "few"))
LOG_SOFTMAX = _of_softmax(softmax_arguments, log_softmax_error, ("normal", "tiny", "huge", "special", "few"))
SOFTMAX_BACKWARD = _of_softmax(softmax_gradient_arguments, softmax_gradient_error, ("normal", "tiny"))
LOG_SOFTMAX_BACKWARD = _of_softmax(softmax_gradient_arguments, log_softmax_gradient_error, ("normal", "tiny"))


# ---- normalisations --------------------------------------------------------------------------------------------------

ROWS = ((1,), (0, 4), (1, 7), (5, 33), (4, 1), (2, 3, 17), (17,), (3, 2, 2, 5))


def layer_norm_arguments(draw, *shape):
    x = _rows(draw, *shape)
    weight, bias, eps = draw.one_of(((True, True, 1e-5), (True, False, 1e-3), (False, False, 1e-5), (False, True, 0.1)))
    n = x.shape[-1]
    return x, draw.array(n) if weight else None, draw.array(n) if bias else None, eps


def rms_norm_arguments(draw, *shape):
    x = _rows(draw, *shape)
    weight, eps = draw.one_of(((True, None), (False, 1e-5), (True, 1e-2)))
    return x, draw.array(x.shape[-1]) if weight else None, eps


def _rows(draw, *shape):
    return draw.array(*shape[:-1], max(1, shape[-1]))


def _gradient_of(make):
    def arguments(draw, *shape):
        x, *rest = make(draw, *shape)
        return draw.array(*x.shape), x, *rest

    return arguments


def _norm_errors(x, eps, centred, number):
    """(result without weight, what x was multiplied by, how far the result may be off)."""
    x = np.asarray(x, np.float64)
    y, scale = reference._normal(x, np.finfo(x.dtype).eps if eps is None else eps, centred)
    count, size = x.shape[-1] + 8, _abs(x).mean(axis=-1, keepdims=True) if centred else 0.0
    of_mean = count * number * size * scale  # how far the mean may be off, beside the result
    return y, scale, count * number * (_abs(y) + _abs(x) * scale * centred) + 2 * of_mean + _abs(y) * of_mean**2


def layer_norm_error(arguments, expected, eps):
    x, weight, bias, term = arguments
    error = _norm_errors(x, term, True, eps)[2]
    return (1 if weight is None else _abs(weight)) * error + (0 if bias is None else 4 * eps * _abs(bias))


def rms_norm_error(arguments, expected, eps):
    x, weight, term = arguments
    term = np.finfo(x.dtype).eps if term is None else term
    return (1 if weight is None else _abs(weight)) * _norm_errors(x, term, False, eps)[2]


def _norm_gradient_error(grad, x, weight, term, centred, eps):
    y, scale, off = _norm_errors(x, term, centred, eps)
    g = _abs(grad) * (1 if weight is None else _abs(weight))
    n = x.shape[-1] + 10
    size, mean = _abs(y) + 1, g.mean(axis=-1, keepdims=True)
    of_x = (
        scale * (n * eps * size + off) * 3 * (g + mean + (size + off) * (g * (size + off)).mean(axis=-1, keepdims=True))
    )
    rows = x.size // x.shape[-1]
    of_weight = (_abs(grad) * (off + (rows + 4) * eps * _abs(y))).reshape(-1, x.shape[-1]).sum(axis=0)
    of_bias = (rows + 4) * eps * _abs(grad).reshape(-1, x.shape[-1]).sum(axis=0)
    return of_x, of_weight, of_bias


def layer_norm_gradient_error(arguments, expected, eps):
    grad, x, weight, bias, term = arguments
    of_x, of_weight, of_bias = _norm_gradient_error(grad, x, weight, term, True, eps)
    return (of_x, *([] if weight is None else [of_weight]), *([] if bias is None else [of_bias]))


def rms_norm_gradient_error(arguments, expected, eps):
    grad, x, weight, term = arguments
    term = np.finfo(x.dtype).eps if term is None else term
    of_x, of_weight, _ = _norm_gradient_error(grad, x, weight, term, False, eps)
    return of_x if weight is None else (of_x, of_weight)


def _of_norm(make, allowed, values, seeds):
    return Examples(make, allowed, ROWS, LARGE, TIMED, values=values, seeds=seeds)


LAYER_NORM = _of_norm(layer_norm_arguments, layer_norm_error, ("normal", "tiny"), 4)
RMS_NORM = _of_norm(rms_norm_arguments, rms_norm_error, ("normal", "tiny"), 3)
LAYER_NORM_BACKWARD = _of_norm(_gradient_of(layer_norm_arguments), layer_norm_gradient_error, ("normal",), 4)
RMS_NORM_BACKWARD = _of_norm(_gradient_of(rms_norm_arguments), rms_norm_gradient_error, ("normal",), 3)


# ---- attention: a size is (batch, heads, queries, keys, width, value width), or shorter ------------------------------

#: (mask, is_causal, scale, heads of q for one of k and v or None, whether k and v serve all of the batch)
SETTINGS = (
    (None, False, None, None, False),
    (None, True, None, None, False),
    ("which", False, None, None, False),
    ("terms", False, 0.3, None, True),
    (None, True, 0.7, 2, False),
    ("keys", False, None, 3, False),
    ("shared", False, None, 1, True),
)
ATTENTION = (
    (1, 1, 1, 1, 1, 1), (2, 1, 3, 5, 4, 3), (0, 2, 3, 2, 1, 4), (1, 2, 0, 3, 2, 2), (1, 1, 2, 0, 3, 5), (5, 3, 4),
    (2, 3, 5, 3), (3, 7, 2), (1, 1, 9, 6, 5, 1),
)  # fmt: skip
# Past a tile of queries and of keys, of widths that fill registers and of others.
LARGE_ATTENTION = (
    (2, 2, 100, 131, 64, 64),
    (1, 3, 50, 300, 33, 7),
    (3, 300, 70, 20),
    (1, 1, 7, 1100, 40, 41),
    (130, 130, 72),
)
TIMED_ATTENTION = ((1, 2, 128, 128, 64, 64), (1, 8, 1024, 1024, 64, 64))


def attention_arguments(draw, *shape, settings=SETTINGS):
    *batch, queries, keys, width, values = shape if len(shape) > 3 else (*shape, shape[-1])
    width = max(1, width)
    kind, is_causal, scale, group, alone = draw.one_of(settings)
    gqa = group is not None and len(batch) > 0
    lead = (*batch[:-1], batch[-1] * group) if gqa else tuple(batch)
    few = (1,) * (len(batch) - 1) + tuple(batch[-1:]) if alone else tuple(batch)
    q = draw.array(*lead, queries, width)
    k, v = draw.array(*few, keys, width), draw.array(*few, keys, values)
    return q, k, v, _mask(draw, kind, lead, queries, keys), is_causal, scale, gqa


def _mask(draw, kind, lead, queries, keys):
    if kind is None:
        return None
    shape = {
        "which": (*lead, queries, keys),
        "terms": (*lead, queries, keys),
        "keys": (1, keys),
        "shared": (queries, keys),
    }
    allowed = draw.random.random(shape[kind]) < 0.7
    terms = draw.random.standard_normal(shape[kind])
    return allowed if kind in ("which", "keys") else np.where(allowed, terms, -np.inf).astype(draw.dtype)


def _attention_sizes(arguments, eps):
    """(weights, how far each may be off beside itself, the arguments in float64 without signs)."""
    q, k, v, mask, is_causal, scale, gqa = arguments
    v = reference._repeated(np.asarray(v, np.float64), q.shape[-3]) if gqa else v
    off, q, k, scale = _off_by(q, k, mask, scale, gqa)
    scores = reference._scores(q, k, mask, is_causal, scale)
    return *_weights_off(scores, off, eps), _abs(q), _abs(k), _abs(v), scale


def _off_by(q, k, mask, scale, gqa):
    """(how many roundings scores may be off by, q, k, scale): what a score is made of, in float64, k for each head."""
    q, k = (np.asarray(x, np.float64) for x in (q, k))
    k = reference._repeated(k, q.shape[-3]) if gqa else k
    scale = q.shape[-1] ** -0.5 if scale is None else scale
    off = (q.shape[-1] + 8) * scale * np.matmul(_abs(q), np.swapaxes(_abs(k), -1, -2))
    if mask is not None and mask.dtype != bool:
        off = off + 4 * np.where(np.isfinite(mask), _abs(mask), 0.0)
    return off, q, k, scale


def _weights_off(scores, off, eps):
    """(weights, how far each may be off beside itself) where scores are off by so many roundings."""
    weights = reference._weights(scores)
    finite = np.where(np.isfinite(scores), scores, 0.0)
    far = np.minimum(_abs(finite - scores.max(axis=-1, keepdims=True, initial=-np.inf)), SETTLED)
    off = np.expm1(eps * (off + scores.shape[-1] + 14 + np.where(np.isfinite(far), far, 0.0)))
    return weights, off + (weights * off).sum(axis=-1, keepdims=True)


def attention_error(arguments, expected, eps):
    weights, off, _, _, v, _ = _attention_sizes(arguments, eps)
    return 2 * np.matmul(weights * (off + (weights.shape[-1] + 4) * eps), v)


ATTEND = Examples(
    attention_arguments,
    attention_error,
    ATTENTION,
    LARGE_ATTENTION,
    TIMED_ATTENTION,
    values=("normal", "tiny"),
    seeds=len(SETTINGS),
)


def with_sums_error(arguments, expected, eps):
    q, k, _, mask, _, scale, gqa = arguments
    far = _off_by(q, k, mask, scale, gqa)[0] / math.log(2)
    far = np.broadcast_to(far.max(axis=-1, initial=0), expected[1][0].shape)
    _, (top, total) = expected
    off = eps * (far + 2 * np.where(top == np.finfo(q.dtype).min, 0, _abs(top)))
    return attention_error(arguments, expected[0], eps), np.stack(
        [off, total * (np.expm1(2 * off) + (total + 14) * eps)]
    )


WITH_SUMS = replace(ATTEND, allowed=with_sums_error)


def half_arguments(draw, *shape):
    q, k, v, mask, *rest = attention_arguments(replace(draw, dtype="float32"), *shape)
    narrow = [draw.array(*x.shape) for x in (q, k, v)]
    return *narrow, mask, *rest


def half_error(arguments, expected, eps):
    """Weights are rounded to 16 bits, too; those of float16 that are nearly zero by half of 2^-24."""
    q, k, v, *rest = arguments
    spacing = 2.0**-10 if q.dtype == np.float16 else 2.0**-7
    arguments = *(reference.widened(x) for x in (q, k, v)), *rest
    weights, off, _, _, size, _ = _attention_sizes(arguments, eps)
    return 2 * np.matmul(weights * (off + spacing / 2 + (weights.shape[-1] + 4) * eps) + 2.0**-25, size)


HALF = Examples(
    half_arguments,
    half_error,
    (*ATTENTION, (1, 2, 3, 4, 8, 8)),
    (*LARGE_ATTENTION[:4], (130, 130, 24)),
    TIMED_ATTENTION,
    dtypes=("float16", "bfloat16"),
    values=("normal",),
    seeds=len(SETTINGS),
)


def attention_gradient_arguments(draw, *shape):
    q, k, v, *rest = attention_arguments(draw, *shape)
    lead = np.broadcast_shapes(q.shape[:-2], () if rest[-1] else k.shape[:-2])
    return draw.array(*lead, q.shape[-2], v.shape[-1]), q, k, v, *rest


def attention_gradient_error(arguments, expected, eps):
    grad, q, k, v, *_ = arguments
    weights, off, q_size, k_size, v_size, scale = _attention_sizes(arguments[1:], eps)
    grad = _abs(grad)
    arrived = np.matmul(grad, np.swapaxes(v_size, -1, -2))
    terms = weights.shape[-1] + weights.shape[-2] + q.shape[-1] + v.shape[-1] + 16
    inner = (weights * arrived).sum(axis=-1, keepdims=True) + (weights * off * arrived).sum(axis=-1, keepdims=True)
    wrong = scale * weights * (off * (arrived + inner) + terms * eps * (arrived + inner))
    wrong = wrong + scale * weights * (weights * off * arrived).sum(axis=-1, keepdims=True)
    of_q = np.matmul(wrong, k_size)
    of_k = np.matmul(np.swapaxes(wrong, -1, -2), q_size)
    of_v = np.matmul(np.swapaxes(weights * (off + terms * eps), -1, -2), grad)
    parts = zip((of_q, of_k, of_v), (q, k, v), strict=True)
    return tuple(3 * reference._collected(part, x.shape) for part, x in parts)


ATTEND_BACKWARD = Examples(
    attention_gradient_arguments,
    attention_gradient_error,
    ATTENTION,
    LARGE_ATTENTION,
    TIMED_ATTENTION,
    values=("normal", "tiny"),
    seeds=len(SETTINGS),
)


def from_sums_arguments(draw, *shape):
    grad, *arrays = attention_gradient_arguments(draw, *shape)
    kept = (x.astype(draw.dtype) for x in reference.attention_with_sums(*arrays))
    return grad, *arrays[:3], *kept, *arrays[3:]


def from_sums_error(arguments, expected, eps):
    grad, q, k, v, _, _, *rest = arguments
    return tuple(2 * part for part in attention_gradient_error((grad, q, k, v, *rest), expected, eps))


FROM_SUMS = replace(ATTEND_BACKWARD, arguments=from_sums_arguments, allowed=from_sums_error)


# ---- modifiers -------------------------------------------------------------------------------------------------------

#: (score_mod, mask_mod, whether the mask is asked for each batch and head, heads of q for one of k or None)
MODIFIED = ((modifiers.alibi(4), modifiers.sliding_window(6, 2), True, 2), (modifiers.soft_cap(2.0), None, False, None))


def flex_arguments(draw, *shape):
    score_mod, mask_mod, by_head, group = draw.one_of(MODIFIED)
    q, k, v, _, _, scale, gqa = attention_arguments(draw, *shape, settings=((None, False, 0.4, group, False),))
    lead = q.shape[:-2]
    heads = lead[-1] if lead else 1
    mask = None
    if mask_mod is not None:
        sizes = (math.prod(lead[:-1]), heads) if by_head and math.prod(lead) else (None, None)
        mask = modifiers.create_block_mask(mask_mod, *sizes, q.shape[-2], k.shape[-2])
    return q, k, v, score_mod, mask, scale, gqa


def flex_error(arguments, expected, eps):
    q, k, v, score_mod, mask, scale, gqa = arguments
    q, k, v = (np.asarray(x, np.float64) for x in (q, k, v))
    if gqa:
        k, v = (reference._repeated(x, q.shape[-3]) for x in (k, v))
    scores, changed = reference._flex_scores(q, k, score_mod, mask, scale)
    off = (q.shape[-1] + 8) * scale * np.matmul(_abs(q), np.swapaxes(_abs(k), -1, -2))
    off = off + 8 * np.where(
        np.isfinite(changed), _abs(changed - scores), 0.0
    )  # what these modifiers add is rounded, too
    weights, off = _weights_off(changed, off, eps)
    return 2 * np.matmul(weights * (off + (weights.shape[-1] + 4) * eps), _abs(v))


FLEX = Examples(
    flex_arguments,
    flex_error,
    ATTENTION,
    LARGE_ATTENTION,
    TIMED_ATTENTION,
    dtypes=("float32",),  # the loop is compiled for each modifier: the other type has a test of its own
    values=("normal", "tiny"),
    seeds=len(MODIFIED),
)


# ---- decoding: a size is (sequences, heads of k, queries, room, width), with more dimensions or none before heads
# ---------

#: (heads of q for one of k, lengths or None, tokens of a page or None, bytes, scale, return_lse)
CACHES = (
    (1, False, None, False, None, False),
    (3, True, None, False, None, True),
    (2, True, 4, False, 0.3, False),
    (1, True, None, True, None, False),
    (4, True, 5, True, None, True),
    (2, False, None, False, 1.0, True),
)
DECODED = ((1, 1, 1, 1), (2, 1, 5, 3), (1, 1, 1, 1, 1), (2, 2, 1, 7, 4), (0, 2, 1, 3, 2), (2, 1, 0, 3, 2), (2, 2, 3, 0,
           5), (3, 1, 2, 9, 6), (2, 1, 2, 1, 11, 3))  # fmt: skip
LARGE_DECODED = ((2, 2, 1, 1100, 64), (1, 1, 17, 300, 40), (2, 1, 4, 70, 129), (2, 1, 2, 2, 333, 72))
TIMED_DECODED = ((1, 8, 1, 1024, 64), (1, 8, 1, 16384, 64))


def decode_arguments(draw, *shape, caches=CACHES):
    *lead, heads, queries, keys, width = shape
    width = max(1, width)
    group, lengthy, page, narrow, scale, lse = draw.one_of(caches)
    values = width + draw.seed % 2
    q = draw.array(*lead, heads * group, queries, width)
    lengths, table, room = None, None, (*lead, heads, keys)
    if lengthy:
        lengths = draw.random.integers(0, keys, lead, endpoint=True)
        lengths = np.asarray(lengths, (np.int64, np.int32)[draw.seed % 4 // 2])
    if page is not None:
        count = -(-keys // page)
        table = np.asarray(draw.random.permutation(math.prod(lead) * count + 3))[: math.prod(lead) * count]
        table = table.astype(np.int64).reshape(*lead, count)
        room = (table.size + 3, heads, page)
    if not narrow:
        return q, draw.array(*room, width), draw.array(*room, values), lengths, table, None, None, scale, lse
    k, v = (draw.random.integers(-127, 128, (*room, n)).astype(np.int8) for n in (width, values))
    factors = [(draw.random.random(room) / 127).astype(draw.dtype) for _ in "kv"]
    return q, k, v, lengths, table, *factors, scale, lse


def decode_error(arguments, expected, eps):
    q, k, v, lengths, table, k_scale, v_scale, scale, lse = arguments
    k, v, allowed = reference._decode_parts(q, k, v, lengths, table, k_scale, v_scale)
    weights, off, _, _, v, _ = _attention_sizes((q, k, v, allowed, False, scale, False), eps)
    of_out = 3 * np.matmul(weights * (off + (weights.shape[-1] + 8) * eps), v)
    if not lse:
        return of_out
    size = np.where(np.isfinite(expected[1]), np.abs(expected[1]), 0.0)
    return of_out, 2 * (weights * off).sum(axis=-1) + (weights.shape[-1] + 8) * eps + 4 * eps * size


DECODE = Examples(
    decode_arguments, decode_error, DECODED, LARGE_DECODED, TIMED_DECODED, values=("normal", "tiny"), seeds=len(CACHES)
)


def merge_arguments(draw, *shape):
    *lead, values = shape
    out, lse, other, other_lse = (draw.array(*lead, *width) for width in ((values,), (), (values,), ()))
    if draw.seed % 2 and lse.size:  # no key at all in one of them, or in both
        lse, other_lse = (
            np.where(draw.random.random(x.shape) < 0.5, x, x.dtype.type(-np.inf)) for x in (lse, other_lse)
        )
    return out, lse, other, other_lse


def merge_error(arguments, expected, eps):
    out, lse, other, other_lse = arguments
    far = np.where(np.isfinite(lse) & np.isfinite(other_lse), _abs(np.where(np.isfinite(lse), lse, 0) - other_lse), 0.0)
    size = np.where(np.isfinite(expected[1]), _abs(expected[1]), 0.0)
    count = 12 + np.minimum(far, SETTLED)
    return count[..., None] * eps * (_abs(out) + _abs(other)), eps * (count + 4 * size)


MERGED = ((1,), (0, 4), (3, 0), (1, 7), (5, 33), (2, 3, 17), (17,), (3, 2, 2, 5))
MERGE = Examples(
    merge_arguments, merge_error, MERGED, LARGE, ((64, 64), (1024, 64)), values=("normal", "tiny"), seeds=2
)


# ---- positions -------------------------------------------------------------------------------------------------------

TURNED = ((1, 1), (2, 3), (0, 4), (3, 0), (5, 7), (2, 3, 4), (4, 9, 1), (2, 1, 5, 3))
LARGE_TURNED = ((600, 64), (3, 300, 70), (7, 70, 2, 130))
TIMED_TURNED = ((128, 64), (8, 1024, 64))


def sinusoidal_arguments(draw, *shape):
    *lead, width = shape
    positions = np.floor(100 * _abs(draw.array(*lead, 1)[..., 0])).astype(draw.dtype)
    return positions, max(1, width), (10000.0, 100.0)[draw.seed % 2]


def sinusoidal_error(arguments, expected, eps):
    """Of an angle in float64, and one rounding of what comes."""
    return eps + 4e-16 * (1 + _abs(arguments[0])[..., None])


SINUSOIDAL = Examples(
    sinusoidal_arguments, sinusoidal_error, TURNED, LARGE_TURNED, TIMED_TURNED, values=("normal",), seeds=2
)


def rotary_arguments(draw, *shape):
    """A size counts pairs along its last dimension."""
    *lead, length, pairs = shape
    x = draw.array(*lead, length, 2 * max(1, pairs))
    positions = np.floor(draw.random.uniform(0, 1000, length)).astype(draw.dtype)
    return x, positions, (10000.0, 500.0)[draw.seed % 2], draw.seed % 4 > 1


def rotary_gradient_arguments(draw, *shape):
    x, *rest = rotary_arguments(draw, *shape)
    return draw.array(*x.shape), x, *rest


def _turned_error(x, positions, interleaved, eps):
    x = _abs(x)
    pairs = x.reshape(*x.shape[:-1], x.shape[-1] // 2, 2) if interleaved else np.stack(np.split(x, 2, axis=-1), axis=-1)
    size = pairs.sum(axis=-1)
    both = np.repeat(size, 2, axis=-1) if interleaved else np.concatenate([size, size], axis=-1)
    return (3 * eps + 1e-15 * _abs(positions).max(initial=1)) * both


def rotary_error(arguments, expected, eps):
    x, positions, _, interleaved = arguments
    return _turned_error(x, positions, interleaved, eps)


def rotary_gradient_error(arguments, expected, eps):
    grad, _, positions, _, interleaved = arguments
    return _turned_error(grad, positions, interleaved, eps)


def _of_rotary(make, allowed):
    return Examples(make, allowed, TURNED, LARGE_TURNED, TIMED_TURNED, values=("normal", "tiny"), seeds=4)


ROTARY = _of_rotary(rotary_arguments, rotary_error)
ROTARY_BACKWARD = _of_rotary(rotary_gradient_arguments, rotary_gradient_error)


# ---- a Transformer's block: a size is (..., tokens, heads of k, width of a head) -------------------------------------


def moved(reference_of, count):
    """An `allowed` for what is put together from operations that were tested one by one.

    Each is stable: what it gives is nearly the exact result of arguments that are wrong by a few roundings (Higham,
    chapter 1). How far that moves the result is found by trying: each number is moved by `count` roundings of the
    largest of its array, up and down at random, twice. To that come as many roundings of the largest number there is.
    """

    def allowed(arguments, expected, eps):
        results = expected if isinstance(expected, tuple) else (expected,)
        arrays = [x for x in arguments if isinstance(x, np.ndarray)]
        far = [count * eps * max(_abs(x).max(initial=0) for x in (*results, *arrays))] * len(results)
        for seed in range(2):
            draw = np.random.default_rng(seed)
            there = [
                x + count * eps * _abs(x).max(initial=0) * draw.choice([-1.0, 1.0], x.shape)
                if isinstance(x, np.ndarray)
                else x
                for x in arguments
            ]
            came = reference_of(*there)
            pairs = zip(far, came if isinstance(came, tuple) else (came,), results, strict=True)
            far = [most + _abs(result - expected_result).max(initial=0) for most, result, expected_result in pairs]
        return tuple(np.full(x.shape, most) for x, most in zip(results, far, strict=True))

    return allowed


def _weight(draw, rows, width):
    x = draw.array(rows, width)
    return x * x.dtype.type(max(width, 1) ** -0.5)


def _bias(draw, present, size):
    return draw.array(size) if present else None


def multi_head_arguments(draw, *shape):
    *lead, heads, head_width = shape
    heads, head_width = max(1, min(heads, 4)), max(1, head_width)
    group, biased, is_causal = draw.one_of(((1, True, False), (2, False, True), (1, True, True)))
    width = 5 if draw.seed % 2 else heads * group * head_width
    total = heads * (group + 2) * head_width
    arrays = _weight(draw, total, width), _bias(draw, biased, total), _weight(draw, width, heads * group * head_width)
    return draw.array(*lead, width), *arrays, _bias(draw, biased, width), heads * group, heads, is_causal


def feed_forward_arguments(draw, *shape):
    *lead, inner, width = shape
    inner, width = max(1, inner), max(1, width)
    activation, biased = draw.one_of((("gelu", True), ("swiglu", False), ("tanh", False), ("geglu", True)))
    rows = 2 * inner if activation in reference.GATED else inner
    arrays = _weight(draw, rows, width), _bias(draw, biased, rows), _weight(draw, width, inner)
    return draw.array(*lead, width), *arrays, _bias(draw, biased, width), activation


def block_arguments(draw, *shape):
    *lead, heads, head_width = shape
    heads, head_width = max(1, min(heads, 4)), max(4, head_width)
    group, biased, activation = draw.one_of(((1, True, "gelu"), (2, False, "swiglu")))
    width, total = heads * group * head_width, heads * (group + 2) * head_width
    inner = width + 3
    x, normed = (
        draw.array(*lead, width),
        [draw.array(width) if is_weight or biased else None for is_weight in (1, 0, 1, 0)],
    )
    attention = (
        _weight(draw, total, width),
        _bias(draw, biased, total),
        _weight(draw, width, width),
        _bias(draw, biased, width),
    )
    rows = 2 * inner if activation in reference.GATED else inner
    feed = (
        _weight(draw, rows, width),
        _bias(draw, biased, rows),
        _weight(draw, width, inner),
        _bias(draw, biased, width),
    )
    return x, *normed[:2], *attention, *normed[2:], *feed, heads * group, heads, True, activation


def _of_parts(make, name, timed=((128, 4, 32), (512, 4, 64))):
    shapes = (1, 1, 1), (0, 2, 3), (4, 1, 5), (3, 2, 2), (2, 3, 1, 4), (2, 0, 2, 1), (2, 1, 3, 2, 3), (7, 3, 5)
    large = (700, 2, 50), (3, 110, 4, 55)
    return Examples(make, moved(getattr(reference, name), 40), shapes, large, timed, values=("normal",), seeds=4)


INNER = ((128, 512, 128), (512, 1024, 256))
MULTI_HEAD = _of_parts(multi_head_arguments, "multi_head_attention")
MULTI_HEAD_BACKWARD = _of_parts(_gradient_of(multi_head_arguments), "multi_head_attention_backward")
FEED_FORWARD = _of_parts(feed_forward_arguments, "feed_forward", INNER)
FEED_FORWARD_BACKWARD = _of_parts(_gradient_of(feed_forward_arguments), "feed_forward_backward", INNER)
BLOCK = _of_parts(block_arguments, "transformer_block")
BLOCK_BACKWARD = _of_parts(_gradient_of(block_arguments), "transformer_block_backward")


# ---- without a softmax: a size is (..., tokens, width) ---------------------------------------------------------------


def linear_arguments(draw, *shape):
    *lead, tokens, width = shape
    width = max(1, width)
    decayed, scale, more = draw.one_of(((False, None, 0), (True, 0.5, 3), (True, None, 1)))
    q, k, v = (
        draw.array(*lead, tokens, width),
        draw.array(*lead, tokens, width),
        draw.array(*lead, tokens, width + more),
    )
    return q, k, v, _decays(draw, *lead, tokens) if decayed else None, scale


def _decays(draw, *shape):
    return draw.random.uniform(-0.6, 0, shape).astype(draw.dtype)


def delta_arguments(draw, *shape):
    """Keys of length 1, as models make them, and a part of at most 1 that is written: or the state would grow without
    end."""
    q, k, v, g, scale = linear_arguments(draw, *shape)
    k = k / np.maximum(np.linalg.norm(k, axis=-1, keepdims=True), np.finfo(k.dtype).tiny)
    g = _decays(draw, *q.shape[:-1]) if g is None else g
    return q, k, v, g, draw.random.random(q.shape[:-1]).astype(q.dtype), scale


TOKENS = ((1, 1), (0, 2), (3, 4), (7, 5), (2, 9, 3), (0, 3, 2), (2, 0, 3), (2, 3, 6, 4))
LARGE_TOKENS = ((1100, 64), (3, 150, 150), (2, 3, 200, 60))
TIMED_TOKENS = ((8, 1024, 64), (8, 4096, 64))


def _without_softmax(make, name):
    allowed = moved(getattr(reference, name), 100)
    return Examples(make, allowed, TOKENS, LARGE_TOKENS, TIMED_TOKENS, values=("normal",), seeds=3)


LINEAR_ATTENTION = _without_softmax(linear_arguments, "linear_attention")
DELTA = _without_softmax(delta_arguments, "gated_delta_rule")
