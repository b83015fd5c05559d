"""A Transformer's block and its two halves: what is called, and what checks its arguments."""

import numbers

import numpy as np

from ..arguments import check_gradient, float_array, one_place, same
from ..implementations import call, operation
from ..vector.scalar import PARAMETERS
from . import examples, reference


def check_layers(x, **layers):
    """Raise unless these are weights and biases that follow each other, from x and back to its width.

    layers: name -> (array or None, its shape).
    """
    arrays = {"x": x} | {name: array for name, (array, _) in layers.items() if array is not None}
    for name, array in arrays.items():
        float_array(name, array)
    one_place(**arrays)
    same("dtype", **arrays)
    for name, (array, shape) in layers.items():
        if array is not None and tuple(array.shape) != shape:
            raise ValueError(
                f"{name} has shape {tuple(array.shape)}; expected {shape}, where x has shape {tuple(x.shape)}."
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
            f"in_weight has shape {tuple(in_weight.shape)}; expected (rows, {tuple(x.shape)[-1]}) with a multiple of "
            f"{total} rows: {heads} heads of queries, {kv_heads} of keys and {kv_heads} of values."
        )
    return int(kv_heads), in_weight.shape[0] // total


@operation("multi_head_attention", reference.multi_head_attention, examples.MULTI_HEAD)
def _prepare_multi_head(x, in_weight, in_bias, out_weight, out_bias, heads, kv_heads=None, is_causal=False):
    kv_heads, head_width = check_heads(x, in_weight, heads, kv_heads, is_causal)
    rows, width = in_weight.shape[0], tuple(x.shape)[-1]
    check_layers(
        x,
        in_weight=(in_weight, (rows, width)),
        in_bias=(in_bias, (rows,)),
        out_weight=(out_weight, (width, heads * head_width)),
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
    check_gradient(grad, x.shape, x=x)
    return *prepared, grad, x


@operation("feed_forward", reference.feed_forward, examples.FEED_FORWARD)
def _prepare_feed_forward(x, up_weight, up_bias, down_weight, down_bias, activation="gelu"):
    known = (*PARAMETERS, *reference.GATED)
    if activation not in known:
        raise ValueError(f"activation is {activation!r}; expected one of {', '.join(known)}.")
    for name, array in (("x", x), ("up_weight", up_weight)):
        float_array(name, array)
    gated = activation in reference.GATED
    if x.ndim < 1 or tuple(x.shape)[-1] == 0:
        raise ValueError(f"x has shape {tuple(x.shape)}; expected (..., width) with a width of at least 1.")
    if up_weight.ndim != 2 or (gated and up_weight.shape[0] % 2):
        even, halves = "an even number of ", ": the layer with the activation, then the one that it is multiplied by"
        raise ValueError(
            f"up_weight has shape {tuple(up_weight.shape)}; expected ({even if gated else ''}rows, "
            f"{tuple(x.shape)[-1]}){halves if gated else ''}."
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
    check_gradient(grad, x.shape, x=x)
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
    check_layers(x, **{name: (array, tuple(x.shape)[-1:]) for name, array in norms.items()})
    return (norm1_weight, norm1_bias, *attention), (norm2_weight, norm2_bias, *feed), x


@operation(
    "transformer_block_backward",
    reference.transformer_block_backward,
    examples.BLOCK_BACKWARD,
    backward_of="transformer_block",
)
def _prepare_block_backward(grad, x, *arguments):
    attention, feed, x = _prepare_block(x, *arguments)
    check_gradient(grad, x.shape, x=x)
    return attention, feed, grad, x


# ---- what is called -------------------------------------------------------------------------------------------------


def multi_head_attention(x, in_weight, in_bias, out_weight, out_bias, heads, kv_heads=None, is_causal=False):
    """Attention of x to itself with several heads, as torch.nn.MultiheadAttention. A new array; host memory only.

    x: (..., tokens, width). in_weight: ((heads + 2 kv_heads) d, width), the rows of queries, then of keys, then of
    values, each head after head; in_bias: one number for each of its rows, or None. out_weight: (width, heads d),
    out_bias: (width,) or None. kv_heads: None for as many as heads; less for grouped queries. is_causal: as for
    `scaled_dot_product_attention`.
    """
    return call("multi_head_attention", x, in_weight, in_bias, out_weight, out_bias, heads, kv_heads, is_causal)


def multi_head_attention_backward(
    grad, x, in_weight, in_bias, out_weight, out_bias, heads, kv_heads=None, is_causal=False
):
    """The gradients of x, weights and biases (of those that are given), given `grad`, the one of
    multi_head_attention(...)."""
    return call(
        "multi_head_attention_backward", grad, x, in_weight, in_bias, out_weight, out_bias, heads, kv_heads, is_causal
    )


def feed_forward(x, up_weight, up_bias, down_weight, down_bias, activation="gelu"):
    """activation(x up_weight^T + up_bias) down_weight^T + down_bias: a Transformer's other half. A new array; host
    memory only.

    x: (..., width). up_weight: (inner, width), up_bias: (inner,) or None; down_weight: (width, inner), down_bias:
    (width,) or None. activation: a name, as for `linear`, or one with a gate: "swiglu", "geglu", "reglu" (Shazeer
    2020). Then up_weight has 2 inner rows: the first half goes through silu, gelu or relu, and is multiplied by the
    second.
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
    """One pre-norm block: y = x + multi_head_attention(layer_norm(x)), then y + feed_forward(layer_norm(y)). A new
    array.

    x: (..., tokens, width). Weights and biases as for `layer_norm`, `multi_head_attention` and `feed_forward`; a bias,
    and the weight of a norm, may be None. Host memory only. As torch.nn.TransformerEncoderLayer with norm_first=True,
    without dropout, but for is_causal, which is True here unless said otherwise.
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
    """The gradients of x, weights and biases (of those that are given), in that order, given `grad`, the one of the
    block."""
    arrays = norm1_weight, norm1_bias, in_weight, in_bias, out_weight, out_bias, norm2_weight, norm2_bias
    feed = up_weight, up_bias, down_weight, down_bias
    return call("transformer_block_backward", grad, x, *arrays, *feed, heads, kv_heads, is_causal, activation)
