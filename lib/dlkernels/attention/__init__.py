"""Attention, and what stands beside it in a Transformer: softmax, normalisations, positions.

Names, argument orders and defaults are PyTorch's (a normalisation's shape is that of its weight: the last dimension).
Arrays are float32 or float64, of any strides, in host or device memory; what is computed from device arrays stays on the
device, in float32. Nothing changes its inputs. Wrong arguments raise ValueError or TypeError.
"""

import numbers

import numpy as np

from ..arguments import FLOATS, float_array, number, one_place, output, same
from ..implementations import call, operation
from ..reduce import cumsum
from ..vector.scalar import PARAMETERS
from . import examples, reference
from .geometry import HALVES, geometry
from .modifiers import BlockMask, check_modifier, create_block_mask  # noqa: F401

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


@operation("scaled_dot_product_attention", reference.scaled_dot_product_attention, examples.ATTEND, constants=("mask",))
def _prepare_attention(q, k, v, mask=None, is_causal=False, scale=None, enable_gqa=False):
    return mask, *geometry(q, k, v, mask, is_causal, scale, enable_gqa), q, k, v


@operation(
    "scaled_dot_product_attention_backward",
    reference.scaled_dot_product_attention_backward,
    examples.ATTEND_BACKWARD,
    backward_of="scaled_dot_product_attention",
)
def _prepare_attention_backward(grad, q, k, v, mask=None, is_causal=False, scale=None, enable_gqa=False):
    shape, g = geometry(q, k, v, mask, is_causal, scale, enable_gqa)
    float_array("grad", grad)
    one_place(grad=grad, q=q)
    same("dtype", q=q, grad=grad)
    if tuple(grad.shape) != shape:
        raise ValueError(f"grad has shape {tuple(grad.shape)}; expected {shape}, the shape of the result.")
    return mask, shape, g, grad, q, k, v


@operation(
    "attention_with_sums",
    reference.attention_with_sums,
    examples.WITH_SUMS,
    results=("result", "sums"),
    constants=("mask", "sums"),
)
def _prepare_attention_with_sums(q, k, v, mask=None, is_causal=False, scale=None, enable_gqa=False):
    return mask, *geometry(q, k, v, mask, is_causal, scale, enable_gqa), q, k, v


@operation(
    "attention_backward_from_sums",
    reference.attention_backward_from_sums,
    examples.FROM_SUMS,
    backward_of="attention_with_sums",
)
def _prepare_attention_from_sums(grad, q, k, v, result, sums, mask=None, is_causal=False, scale=None, enable_gqa=False):
    _, shape, g, *rest = _prepare_attention_backward(grad, q, k, v, mask, is_causal, scale, enable_gqa)
    for name, x, expected in (("result", result, shape), ("sums", sums, (2, *shape[:-1]))):
        float_array(name, x)
        one_place(**{name: x}, q=q)
        same("dtype", q=q, **{name: x})
        if tuple(x.shape) != expected:
            raise ValueError(
                f"{name} has shape {tuple(x.shape)}; expected {expected}, as attention_with_sums(q, k, v, ...) returns it."
            )
    return mask, g, result, sums, *rest


@operation(
    "attention_half",
    reference.attention_half,
    examples.HALF,
    no_backward="scaled_dot_product_attention of the same in float32 has one",
)
def _prepare_attention_half(q, k, v, mask=None, is_causal=False, scale=None, enable_gqa=False):
    shape, g = geometry(q, k, v, mask, is_causal, scale, enable_gqa, HALVES)
    return mask, g, q, k, v, output(None, shape, FLOATS[0], q=q)


# ---- modifiers -------------------------------------------------------------------------------------------------------


@operation(
    "flex_attention",
    reference.flex_attention,
    examples.FLEX,
    no_backward="nobody knows the derivative of a caller's score_mod",
)
def _prepare_flex(query, key, value, score_mod=None, block_mask=None, scale=None, enable_gqa=False):
    shape, g = geometry(query, key, value, None, False, scale, enable_gqa)
    if score_mod is not None:
        check_modifier("score_mod", score_mod)
    if block_mask is not None:
        check_block_mask(block_mask, shape, g)
    return score_mod, block_mask, shape, g, query, key, value


def check_block_mask(mask, shape, g):
    """ValueError or TypeError unless it was made for such queries and keys."""
    if not isinstance(mask, BlockMask):
        raise TypeError(
            f"block_mask is a {type(mask).__name__}; expected what create_block_mask(mask_mod, ...) returns."
        )
    heads = shape[-3] if len(shape) > 2 else 1
    batches = g.heads // heads if heads else 0
    if (mask.Q_LEN, mask.KV_LEN) != (g.queries, g.keys) or mask.B not in (1, batches) or mask.H not in (1, heads):
        raise ValueError(
            f"block_mask is for {mask.B} batches, {mask.H} heads, {mask.Q_LEN} queries and {mask.KV_LEN} keys; expected "
            f"{batches} or 1, {heads} or 1, {g.queries} and {g.keys}."
        )


# ---- decoding --------------------------------------------------------------------------------------------------------

INTEGERS = ("int64", "int32")


@operation(
    "decode_attention",
    reference.decode_attention,
    examples.DECODE,
    no_backward="a cache is for a model that has learned already",
)
def _prepare_decode(q, k, v, lengths=None, block_table=None, k_scale=None, v_scale=None, scale=None, return_lse=False):
    factor = check_decode(q, k, v, k_scale, v_scale, scale, return_lse)
    places = {name: x for name, x in (("lengths", lengths), ("block_table", block_table)) if x is not None}
    for name, x in places.items():
        float_array(name, x, INTEGERS)
    one_place(q=q, **places)
    paged = block_table is not None
    sequences = tuple(q.shape)[:-3]
    if not paged and tuple(k.shape)[:-3] != sequences:
        raise ValueError(
            f"q has shape {tuple(q.shape)} and k has shape {tuple(k.shape)}; expected the same dimensions before heads: "
            "one cache for each sequence."
        )
    if paged:
        check_table(block_table, k, sequences)
    elif lengths is None:
        lengths = np.full(sequences, tuple(k.shape)[-2])
    room = tuple(k.shape)[-2] * (tuple(block_table.shape)[-1] if paged else 1)
    check_lengths(lengths, sequences, room)
    if paged:
        check_pages(block_table, lengths, k.shape[0], k.shape[2])
    return lengths, block_table, k_scale, v_scale, factor, bool(return_lse), k, v, q


def check_decode(q, k, v, k_scale, v_scale, scale, return_lse):
    """What scores are multiplied by; ValueError or TypeError where the arrays do not fit each other."""
    float_array("q", q)
    kinds = ("int8",) if k_scale is not None or v_scale is not None else (q.dtype,)
    for name, x in (("k", k), ("v", v)):
        float_array(name, x, kinds)
    given = {"q": q, "k": k, "v": v}
    if kinds == ("int8",):
        if k_scale is None or v_scale is None:
            raise ValueError(
                "One of k_scale and v_scale is None; expected both, or neither, for keys and values of floats."
            )
        for name, x in (("k_scale", k_scale), ("v_scale", v_scale)):
            given[name] = float_array(name, x, (q.dtype,))
    one_place(**given)
    told = ", ".join(f"{name} {tuple(x.shape)}" for name, x in given.items())
    q_shape, k_shape, v_shape = (tuple(x.shape) for x in (q, k, v))
    if min(len(q_shape), len(k_shape), len(v_shape)) < 3 or q_shape[-1] != k_shape[-1] or k_shape[:-1] != v_shape[:-1]:
        raise ValueError(
            f"The shapes are {told}; expected q (..., heads, queries, width), k (..., heads of k, room, width) and "
            "v (..., heads of k, room, value width)."
        )
    if q_shape[-1] == 0:
        raise ValueError(f"The shapes are {told}; expected a width of at least 1.")
    if q_shape[-3] % k_shape[-3] if k_shape[-3] else q_shape[-3]:
        raise ValueError(
            f"The shapes are {told}; expected a number of heads of q that is a multiple of that of k and v."
        )
    if k_scale is not None and not tuple(k_scale.shape) == tuple(v_scale.shape) == k_shape[:-1]:
        raise ValueError(f"The shapes are {told}; expected k_scale and v_scale {k_shape[:-1]}: a factor for each row.")
    if not isinstance(return_lse, bool | np.bool):
        raise TypeError(f"return_lse is {return_lse!r}; expected True or False.")
    return q_shape[-1] ** -0.5 if scale is None else float(number("scale", scale, np.float64))


def check_table(block_table, k, sequences):
    """ValueError unless it has a row of page numbers for each sequence."""
    if k.ndim != 4 or block_table.ndim != len(sequences) + 1 or tuple(block_table.shape)[:-1] != sequences:
        raise ValueError(
            f"block_table has shape {tuple(block_table.shape)} and k has shape {tuple(k.shape)}; expected "
            f"({', '.join(map(str, (*sequences, 'pages of each')))}), and k (pages, heads, tokens of a page, width)."
        )


def check_lengths(lengths, sequences, room):
    """ValueError unless it has a number of keys, 0 to room, for each sequence."""
    if lengths is None:
        raise ValueError("lengths is None, and block_table is given; expected the number of keys of each sequence.")
    if tuple(lengths.shape) != sequences:
        raise ValueError(
            f"lengths has shape {tuple(lengths.shape)}; expected {sequences}, one number for each sequence."
        )
    if isinstance(lengths, np.ndarray) and lengths.size and not 0 <= lengths.min() <= lengths.max() <= room:
        raise ValueError(
            f"lengths are from {lengths.min()} to {lengths.max()}; expected 0 to {room}, the room of k and v."
        )


def check_pages(block_table, lengths, pages, page):
    """ValueError unless all pages that are read exist."""
    if isinstance(block_table, np.ndarray) and isinstance(lengths, np.ndarray) and block_table.size:
        used = np.arange(tuple(block_table.shape)[-1]) * page < lengths[..., None]
        wrong = block_table[used & ((block_table < 0) | (block_table >= pages))]
        if wrong.size:
            raise ValueError(f"block_table names page {wrong[0]}; expected 0 to {pages - 1}, as k has {pages} pages.")


@operation(
    "merge_attention",
    reference.merge_attention,
    examples.MERGE,
    no_backward="what it merges are results of decode_attention, which has none",
)
def _prepare_merge(one, one_lse, other, other_lse):
    given = {"one": one, "one_lse": one_lse, "other": other, "other_lse": other_lse}
    for name, x in given.items():
        float_array(name, x)
    one_place(**given)
    same("dtype", **given)
    same("shape", one=one, other=other)
    same("shape", one_lse=one_lse, other_lse=other_lse)
    if tuple(one.shape)[:-1] != tuple(one_lse.shape) or not one.ndim:
        raise ValueError(
            f"one has shape {tuple(one.shape)} and one_lse has shape {tuple(one_lse.shape)}; expected (..., values) and (...)."
        )
    return one_lse, other, other_lse, one


# ---- positions -------------------------------------------------------------------------------------------------------


@operation(
    "sinusoidal_encoding",
    reference.sinusoidal_encoding,
    examples.SINUSOIDAL,
    no_backward="its only array are positions, and those are given, not learned",
)
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


@operation("rotary_embedding", reference.rotary_embedding, examples.ROTARY, constants=("positions",))
def _prepare_rotary(x, positions, base=10000.0, interleaved=False):
    return *_check_rotary(x, positions, base, interleaved), 1, x


@operation(
    "rotary_embedding_backward",
    reference.rotary_embedding_backward,
    examples.ROTARY_BACKWARD,
    backward_of="rotary_embedding",
)
def _prepare_rotary_backward(grad, x, positions, base=10000.0, interleaved=False):
    checked = _check_rotary(x, positions, base, interleaved)
    _check_gradient(grad, x)
    return *checked, -1, grad


# ---- without a softmax -----------------------------------------------------------------------------------------------


def check_tokens(q, k, v, scale, **rest):
    """What results are multiplied by; ValueError or TypeError unless all have the same heads and tokens."""
    given = {"q": q, "k": k, "v": v} | {name: one for name, one in rest.items() if one is not None}
    for name, one in given.items():
        float_array(name, one)
    one_place(**given)
    same("dtype", **given)
    told = ", ".join(f"{name} {tuple(one.shape)}" for name, one in given.items())
    tokens = tuple(q.shape)[:-1]
    fits = tuple(k.shape) == tuple(q.shape) and tuple(v.shape)[:-1] == tokens
    if q.ndim < 2 or not fits or any(tuple(one.shape) != tokens for one in rest.values() if one is not None):
        also = "".join(f", {name} (..., tokens)" for name in rest)
        raise ValueError(
            f"The shapes are {told}; expected q and k (..., tokens, width), v (..., tokens, value width){also}, with the same "
            "leading dimensions."
        )
    if tuple(q.shape)[-1] == 0:
        raise ValueError(f"The shapes are {told}; expected a width of at least 1.")
    return tuple(q.shape)[-1] ** -0.5 if scale is None else float(number("scale", scale, np.float64))


def _linear_attention_backward(grad, q, k, v, g, scale):
    """Each gradient is linear attention again: that of q over the same tokens, those of k and v from the last token back.

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
    for name, one in (("g", g), ("beta", beta)):
        float_array(name, one)
    return k, v, g, beta, check_tokens(q, k, v, scale, g=g, beta=beta), q


# ---- a Transformer's block -------------------------------------------------------------------------------------------


def check_layers(x, **layers):
    """Raise unless these are weights and biases that follow each other, from x and back to its width.

    layers: name -> (array or None, its shape).
    """
    given = {"x": x} | {name: one for name, (one, _) in layers.items() if one is not None}
    for name, one in given.items():
        float_array(name, one)
    one_place(**given)
    same("dtype", **given)
    for name, (one, shape) in layers.items():
        if one is not None and tuple(one.shape) != shape:
            raise ValueError(
                f"{name} has shape {tuple(one.shape)}; expected {shape}, where x has shape {tuple(x.shape)}."
            )


def check_heads(x, in_weight, heads, kv_heads, is_causal):
    """(heads of k and v, width of a head); ValueError or TypeError where they do not divide what is there."""
    kv_heads = heads if kv_heads is None else kv_heads
    for name, count in (("heads", heads), ("kv_heads", kv_heads)):
        if isinstance(count, bool) or not isinstance(count, numbers.Integral):
            raise TypeError(f"{name} is {count!r}; expected a whole number.")
        if count < 1:
            raise ValueError(f"{name} is {count}; expected at least 1.")
    if heads % kv_heads:
        raise ValueError(f"heads is {heads} and kv_heads is {kv_heads}; expected a multiple of kv_heads.")
    if not isinstance(is_causal, bool | np.bool):
        raise TypeError(f"is_causal is {is_causal!r}; expected True or False.")
    float_array("x", x)
    float_array("in_weight", in_weight)
    if x.ndim < 2 or tuple(x.shape)[-1] == 0:
        raise ValueError(f"x has shape {tuple(x.shape)}; expected (..., tokens, width) with a width of at least 1.")
    total = heads + 2 * kv_heads
    if in_weight.ndim != 2 or in_weight.shape[0] % total or not in_weight.shape[0]:
        raise ValueError(
            f"in_weight has shape {tuple(in_weight.shape)}; expected (rows, {tuple(x.shape)[-1]}) with a multiple of {total} rows: "
            f"{heads} heads of queries, {kv_heads} of keys and {kv_heads} of values."
        )
    return int(kv_heads), in_weight.shape[0] // total


@operation("multi_head_attention", reference.multi_head_attention, examples.MULTI_HEAD)
def _prepare_multi_head(x, in_weight, in_bias, out_weight, out_bias, heads, kv_heads=None, is_causal=False):
    kv_heads, each = check_heads(x, in_weight, heads, kv_heads, is_causal)
    rows, width = in_weight.shape[0], tuple(x.shape)[-1]
    check_layers(
        x,
        in_weight=(in_weight, (rows, width)),
        in_bias=(in_bias, (rows,)),
        out_weight=(out_weight, (width, heads * each)),
        out_bias=(out_bias, (width,)),
    )
    return in_weight, in_bias, out_weight, out_bias, int(heads), kv_heads, bool(is_causal), x


@operation(
    "multi_head_attention_backward",
    reference.multi_head_attention_backward,
    examples.MULTI_HEAD_BACKWARD,
    backward_of="multi_head_attention",
)
def _prepare_multi_head_backward(
    grad, x, in_weight, in_bias, out_weight, out_bias, heads, kv_heads=None, is_causal=False
):
    *prepared, x = _prepare_multi_head(x, in_weight, in_bias, out_weight, out_bias, heads, kv_heads, is_causal)
    _check_gradient(grad, x)
    return *prepared, grad, x


@operation("feed_forward", reference.feed_forward, examples.FEED_FORWARD)
def _prepare_feed_forward(x, up_weight, up_bias, down_weight, down_bias, activation="gelu"):
    known = (*PARAMETERS, *reference.GATED)
    if activation not in known:
        raise ValueError(f"activation is {activation!r}; expected one of {', '.join(known)}.")
    for name, one in (("x", x), ("up_weight", up_weight)):
        float_array(name, one)
    gated = activation in reference.GATED
    if x.ndim < 1 or tuple(x.shape)[-1] == 0:
        raise ValueError(f"x has shape {tuple(x.shape)}; expected (..., width) with a width of at least 1.")
    if up_weight.ndim != 2 or (gated and up_weight.shape[0] % 2):
        raise ValueError(
            f"up_weight has shape {tuple(up_weight.shape)}; expected ({'an even number of ' if gated else ''}rows, "
            f"{tuple(x.shape)[-1]}){': the layer with the activation, then the one that it is multiplied by' if gated else ''}."
        )
    rows, width = up_weight.shape[0], tuple(x.shape)[-1]
    check_layers(
        x,
        up_weight=(up_weight, (rows, width)),
        up_bias=(up_bias, (rows,)),
        down_weight=(down_weight, (width, rows // 2 if gated else rows)),
        down_bias=(down_bias, (width,)),
    )
    return up_weight, up_bias, down_weight, down_bias, activation, x


@operation(
    "feed_forward_backward", reference.feed_forward_backward, examples.FEED_FORWARD_BACKWARD, backward_of="feed_forward"
)
def _prepare_feed_forward_backward(grad, x, up_weight, up_bias, down_weight, down_bias, activation="gelu"):
    *prepared, x = _prepare_feed_forward(x, up_weight, up_bias, down_weight, down_bias, activation)
    _check_gradient(grad, x)
    return *prepared, grad, x


@operation("transformer_block", reference.transformer_block, examples.BLOCK)
def _prepare_block(
    x,
    norm1_weight,
    norm1_bias,
    in_weight,
    in_bias,
    out_weight,
    out_bias,
    norm2_weight,
    norm2_bias,
    up_weight,
    up_bias,
    down_weight,
    down_bias,
    heads,
    kv_heads=None,
    is_causal=True,
    activation="gelu",
):
    *attention, x = _prepare_multi_head(x, in_weight, in_bias, out_weight, out_bias, heads, kv_heads, is_causal)
    *feed, _ = _prepare_feed_forward(x, up_weight, up_bias, down_weight, down_bias, activation)
    norms = {
        "norm1_weight": norm1_weight,
        "norm1_bias": norm1_bias,
        "norm2_weight": norm2_weight,
        "norm2_bias": norm2_bias,
    }
    check_layers(x, **{name: (one, tuple(x.shape)[-1:]) for name, one in norms.items()})
    return (norm1_weight, norm1_bias, *attention), (norm2_weight, norm2_bias, *feed), x


@operation(
    "transformer_block_backward",
    reference.transformer_block_backward,
    examples.BLOCK_BACKWARD,
    backward_of="transformer_block",
)
def _prepare_block_backward(grad, x, *arguments):
    attention, feed, x = _prepare_block(x, *arguments)
    _check_gradient(grad, x)
    return attention, feed, grad, x


from . import (  # noqa: E402
    cpu,  # noqa: F401
    cpu_backward,  # noqa: F401
    cpu_decode,  # noqa: F401
    cpu_norms,  # noqa: F401
    cpu_softmax,  # noqa: F401
    encodings,  # noqa: F401
    gpu,  # noqa: F401
    gpu_backward,  # noqa: F401
    gpu_backward_patches,  # noqa: F401
    gpu_decode,  # noqa: F401
    gpu_half,  # noqa: F401
    gpu_norm_gradients,  # noqa: F401
    gpu_patches,  # noqa: F401
    gpu_row_warps,  # noqa: F401
    gpu_rows,  # noqa: F401
    linear,  # noqa: F401
    transformer,  # noqa: F401
)
from .cache import KVCache, PagedKVCache  # noqa: E402, F401


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
    may be multiplied by zero or not. In host memory, finite terms of a mask beyond finfo.max / log2(e) on either side count as that.
    """
    return call("scaled_dot_product_attention", q, k, v, mask, is_causal, scale, enable_gqa)


def attention_half(q, k, v, mask=None, is_causal=False, scale=None, enable_gqa=False):
    """`scaled_dot_product_attention` of 16-bit numbers: float16, or bfloat16 given by its bits in uint16. A new float32 array.

    Scores, exponentials and sums are float32; weights are rounded to the type of v before they are multiplied by it. mask:
    True and False, or float32. On a GPU, widths of at most 128.
    """
    return call("attention_half", q, k, v, mask, is_causal, scale, enable_gqa)


def scaled_dot_product_attention_backward(grad, q, k, v, mask=None, is_causal=False, scale=None, enable_gqa=False):
    """The gradients of q, k and v, given `grad`, the one with respect to scaled_dot_product_attention(...).

    A mask is taken as given: it gets no gradient. For a row masked by finfo.min alone, the rung for GPUs that takes odd widths
    (attention_backward_threads) has each key's weight as 1, as PyTorch's flash attention has; all others have 1 / keys.
    """
    return call("scaled_dot_product_attention_backward", grad, q, k, v, mask, is_causal, scale, enable_gqa)


def attention_with_sums(q, k, v, mask=None, is_causal=False, scale=None, enable_gqa=False):
    """(result, sums): that of `scaled_dot_product_attention`, and what `attention_backward_from_sums` needs beside it.

    Arguments and errors are those of `scaled_dot_product_attention`. result: (..., queries, value width); sums: (2, ...,
    queries), of the dtype of q. sums[0]: the largest score of each query times log2(e), the least finite number where it may
    look at no key; sums[1]: the sum of 2^(score log2(e) - that): the two that Dao and others keep (FlashAttention, 2022,
    section 3.1), to base 2. The logarithm of a query's sum of exponentials is ln(2) (sums[0] + log2(sums[1])). What masks add
    beyond finfo.max / log2(e), finfo.min among it, counts as that. New arrays; host memory only.
    """
    return call("attention_with_sums", q, k, v, mask, is_causal, scale, enable_gqa)


def attention_backward_from_sums(grad, q, k, v, result, sums, mask=None, is_causal=False, scale=None, enable_gqa=False):
    """`scaled_dot_product_attention_backward` without its way forward: result and sums are what `attention_with_sums` returned.

    grad, result: (..., queries, value width); sums: (2, ..., queries); all of the dtype of q, else ValueError or TypeError.
    The other arguments are those of the call that returned them. With other ones the gradients are wrong, and nobody notices:
    only shapes are checked. Host memory only. Source: Dao and others, FlashAttention (2022), section 3.1.
    """
    return call("attention_backward_from_sums", grad, q, k, v, result, sums, mask, is_causal, scale, enable_gqa)


def flex_attention(query, key, value, score_mod=None, block_mask=None, scale=None, enable_gqa=False):
    """Attention with functions of yours in its loop, as torch.nn.attention.flex_attention. A new array; host memory only.

    query, key, value, scale, enable_gqa: as q, k, v of `scaled_dot_product_attention`. score_mod: a njit function (score, b, h,
    q_idx, kv_idx) -> score, called for each scaled score; b counts all leading dimensions but the last of them, which is h. A
    constant such as 0.5 is float64: np.float32(0.5) keeps the loop fast. block_mask: what
    dlkernels.attention.create_block_mask made of a mask_mod. Both None for all keys, as they are.
    The first call with new functions compiles the loop with them in it.
    """
    return call("flex_attention", query, key, value, score_mod, block_mask, scale, enable_gqa)


def decode_attention(q, k, v, lengths=None, block_table=None, k_scale=None, v_scale=None, scale=None, return_lse=False):
    """Attention of the newest queries of each sequence over its cache of keys and values. A new array.

    q: (..., heads, queries, width), usually one query. k: (..., heads of k, room, width), v: (..., heads of k, room, value
    width); the heads of q are a multiple, and neighbours share. Float32 or float64 (on a GPU: float32), or int8 with k_scale
    and v_scale, of the dtype of q and shape (..., heads of k, room): a key is its bytes times its factor.
    lengths: (...), int64 or int32: how many keys each sequence has; None for all of the room. The queries are the last of
    their sequence, whose keys are in the cache already: query i looks at keys 0 to length - queries + i. A query before
    the first key gets zeros. What lengths and block_table hold is checked in host memory only.
    block_table: None, or for a cache in pages their numbers, in order, (..., pages of a sequence), int64 or int32: then k
    and v are (pages, heads of k, tokens of a page, width), and lengths must be given.
    scale: None for 1 / sqrt(width). return_lse: True for (result, logarithm of each query's sum of exponentials, of shape
    (..., heads, queries), -inf where there is no key), as `merge_attention` takes them.
    """
    return call("decode_attention", q, k, v, lengths, block_table, k_scale, v_scale, scale, return_lse)


def merge_attention(one, one_lse, other, other_lse):
    """(result, lse) of attention over two sets of keys, from the results over each. New arrays; host memory only.

    one, other: (..., values). one_lse, other_lse: (...), the logarithm of each query's sum of exponentials, -inf for no key.
    """
    return call("merge_attention", one, one_lse, other, other_lse)


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


def multi_head_attention(x, in_weight, in_bias, out_weight, out_bias, heads, kv_heads=None, is_causal=False):
    """Attention of x to itself with several heads, as torch.nn.MultiheadAttention. A new array; host memory only.

    x: (..., tokens, width). in_weight: ((heads + 2 kv_heads) d, width), the rows of queries, then of keys, then of values, each
    head after head; in_bias: one number for each of its rows, or None. out_weight: (width, heads d), out_bias: (width,) or
    None. kv_heads: None for as many as heads; less for grouped queries. is_causal: as for `scaled_dot_product_attention`.
    """
    return call("multi_head_attention", x, in_weight, in_bias, out_weight, out_bias, heads, kv_heads, is_causal)


def multi_head_attention_backward(
    grad, x, in_weight, in_bias, out_weight, out_bias, heads, kv_heads=None, is_causal=False
):
    """The gradients of x, weights and biases (of those that are given), given `grad`, the one of multi_head_attention(...)."""
    return call(
        "multi_head_attention_backward", grad, x, in_weight, in_bias, out_weight, out_bias, heads, kv_heads, is_causal
    )


def feed_forward(x, up_weight, up_bias, down_weight, down_bias, activation="gelu"):
    """activation(x up_weight^T + up_bias) down_weight^T + down_bias: a Transformer's other half. A new array; host memory only.

    x: (..., width). up_weight: (inner, width), up_bias: (inner,) or None; down_weight: (width, inner), down_bias: (width,) or
    None. activation: a name, as for `linear`, or one with a gate: "swiglu", "geglu", "reglu" (Shazeer 2020). Then up_weight has
    2 inner rows: the first half goes through silu, gelu or relu, and is multiplied by the second.
    """
    return call("feed_forward", x, up_weight, up_bias, down_weight, down_bias, activation)


def feed_forward_backward(grad, x, up_weight, up_bias, down_weight, down_bias, activation="gelu"):
    """The gradients of x, weights and biases (of those that are given), given `grad`, the one of feed_forward(...)."""
    return call("feed_forward_backward", grad, x, up_weight, up_bias, down_weight, down_bias, activation)


def transformer_block(
    x,
    norm1_weight,
    norm1_bias,
    in_weight,
    in_bias,
    out_weight,
    out_bias,
    norm2_weight,
    norm2_bias,
    up_weight,
    up_bias,
    down_weight,
    down_bias,
    heads,
    kv_heads=None,
    is_causal=True,
    activation="gelu",
):
    """One pre-norm block: y = x + multi_head_attention(layer_norm(x)), then y + feed_forward(layer_norm(y)). A new array.

    x: (..., tokens, width). Weights and biases as for `layer_norm`, `multi_head_attention` and `feed_forward`; a bias, and
    the weight of a norm, may be None. Host memory only. As torch.nn.TransformerEncoderLayer with norm_first=True, without
    dropout, but for is_causal, which is True here unless said otherwise.
    """
    arrays = norm1_weight, norm1_bias, in_weight, in_bias, out_weight, out_bias, norm2_weight, norm2_bias
    feed = up_weight, up_bias, down_weight, down_bias
    return call("transformer_block", x, *arrays, *feed, heads, kv_heads, is_causal, activation)


def transformer_block_backward(
    grad,
    x,
    norm1_weight,
    norm1_bias,
    in_weight,
    in_bias,
    out_weight,
    out_bias,
    norm2_weight,
    norm2_bias,
    up_weight,
    up_bias,
    down_weight,
    down_bias,
    heads,
    kv_heads=None,
    is_causal=True,
    activation="gelu",
):
    """The gradients of x, weights and biases (of those that are given), in that order, given `grad`, the one of the block."""
    arrays = norm1_weight, norm1_bias, in_weight, in_bias, out_weight, out_bias, norm2_weight, norm2_bias
    feed = up_weight, up_bias, down_weight, down_bias
    return call("transformer_block_backward", grad, x, *arrays, *feed, heads, kv_heads, is_causal, activation)


def linear_attention(q, k, v, g=None, scale=None):
    """Causal attention without a softmax: o_t = scale * q_t S_t, S_t = e^(g_t) S_{t-1} + k_t v_t^T. A new array; host memory only.

    q, k: (..., tokens, width), v: (..., tokens, value width), of the same leading dimensions. g: (..., tokens), logarithms of
    how much of the state stays, at most 0; None for all of it. scale: None for 1 / sqrt(width).
    """
    return call("linear_attention", q, k, v, g, scale)


def gated_delta_rule(q, k, v, g, beta, scale=None):
    """As `linear_attention`, but what the state holds for a key gives way to its new value (Yang and others 2024).

    S_t = e^(g_t) (I - beta_t k_t k_t^T) S_{t-1} + beta_t k_t v_t^T. q, k, v, scale as there; k should have rows of length 1. g: (..., tokens), logarithms of how much of the state stays, at most
    0. beta: (..., tokens), how much of a key's old value is replaced, 0 to 1. A new array; host memory only.
    """
    return call("gated_delta_rule", q, k, v, g, beta, scale)
