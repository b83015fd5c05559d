"""A Transformer's block on the CPU, put together from the operations before it.

    multi_head_attention    queries, keys and values of all heads by one product; attention; one more product
    feed_forward            two layers with an activation between them, or three for a gated one (SwiGLU)
    transformer_block       x + attention(norm(x)), then y + feed_forward(norm(y)): the norm comes first (pre-norm)

Gradients are made from the gradients of the parts. What the forward pass computed on its way is computed again, not
kept.
"""

import numpy as np

from .. import matrix, vector
from ..implementations import call, implementation
from .reference import GATED


def in_heads(x, *counts):
    """(..., length, all heads * d) as arrays (..., heads, length, d), of so many heads each. Views."""
    parts = x.reshape(*x.shape[:-1], sum(counts), x.shape[-1] // sum(counts))
    ends = np.cumsum(counts)
    return tuple(np.swapaxes(parts[..., end - count : end, :], -2, -3) for count, end in zip(counts, ends, strict=True))


def side_by_side(*parts):
    """The inverse of `in_heads`."""
    lines = [np.swapaxes(x, -2, -3) for x in parts]
    return np.concatenate([x.reshape(*x.shape[:-2], x.shape[-2] * x.shape[-1]) for x in lines], axis=-1)


def halves(x):
    """The first and the second half of the rows of a weight, or of the numbers of a bias; None of None."""
    return (None, None) if x is None else (x[: len(x) // 2], x[len(x) // 2 :])


# ---- forward -----------------------------------------------------------------------------------------------------


@implementation(
    "multi_head_attention",
    device="cpu",
    adds="queries, keys and values of all heads by one product; attention by tiles; one more product",
    public=True,
)
def multi_head_attention_parts(in_weight, in_bias, out_weight, out_bias, heads, kv_heads, is_causal, x):
    q, k, v = in_heads(matrix.linear(x, in_weight, in_bias), heads, kv_heads, kv_heads)
    result = call("scaled_dot_product_attention", q, k, v, None, is_causal, None, True)
    return matrix.linear(side_by_side(result), out_weight, out_bias)


@implementation(
    "feed_forward", device="cpu", adds="products; bias and activation of the first in one pass", public=True
)
def feed_forward_parts(up_weight, up_bias, down_weight, down_bias, activation, x):
    return matrix.linear(hidden(x, up_weight, up_bias, activation)[0], down_weight, down_bias)


def hidden(x, up_weight, up_bias, activation):
    """What the last layer takes; with a gate also its two factors."""
    if activation not in GATED:
        return (matrix.linear(x, up_weight, up_bias, activation),)
    (gate_weight, value_weight), (gate_bias, value_bias) = halves(up_weight), halves(up_bias)
    gate, value = (
        matrix.linear(x, gate_weight, gate_bias, GATED[activation]),
        matrix.linear(x, value_weight, value_bias),
    )
    return gate * value, gate, value


@implementation(
    "transformer_block", device="cpu", adds="both halves, each with a norm before and a sum after it", public=True
)
def transformer_block_parts(attention, feed, x):
    (first_norm, attention), (second_norm, feed) = (attention[:2], attention[2:]), (feed[:2], feed[2:])
    x = vector.add(x, call("multi_head_attention", call("layer_norm", x, *first_norm), *attention))
    return vector.add(x, call("feed_forward", call("layer_norm", x, *second_norm), *feed))


# ---- gradients ---------------------------------------------------------------------------------------------------


@implementation(
    "multi_head_attention_backward",
    device="cpu",
    adds="the gradients of its parts; queries, keys, values and the heads' results are computed again",
    public=True,
)
def multi_head_attention_backward_parts(in_weight, in_bias, out_weight, out_bias, heads, kv_heads, is_causal, grad, x):
    q, k, v = in_heads(matrix.linear(x, in_weight, in_bias), heads, kv_heads, kv_heads)
    options = None, is_causal, None, True
    result, sums = call("attention_with_sums", q, k, v, *options)
    arrived, *of_out = matrix.linear_backward(grad, side_by_side(result), out_weight, out_bias)
    parts = call("attention_backward_from_sums", *in_heads(arrived, heads), q, k, v, result, sums, *options)
    return *matrix.linear_backward(side_by_side(*parts), x, in_weight, in_bias), *of_out


@implementation(
    "feed_forward_backward",
    device="cpu",
    adds="the gradients of the layers; what lies between them is computed again",
    public=True,
)
def feed_forward_backward_parts(up_weight, up_bias, down_weight, down_bias, activation, grad, x):
    between, *factors = hidden(x, up_weight, up_bias, activation)
    arrived, *of_down = matrix.linear_backward(grad, between, down_weight, down_bias)
    if not factors:
        return *matrix.linear_backward(arrived, x, up_weight, up_bias, activation), *of_down
    gate, value = factors
    (gate_weight, value_weight), (gate_bias, value_bias) = halves(up_weight), halves(up_bias)
    of_gate = matrix.linear_backward(arrived * value, x, gate_weight, gate_bias, GATED[activation])
    of_value = matrix.linear_backward(arrived * gate, x, value_weight, value_bias)
    of_up = (np.concatenate(pair) for pair in zip(of_gate[1:], of_value[1:], strict=True))
    return of_gate[0] + of_value[0], *of_up, *of_down


@implementation(
    "transformer_block_backward",
    device="cpu",
    adds="the gradients of both halves, the second one first; x is kept, all else is computed again",
    public=True,
)
def transformer_block_backward_parts(attention, feed, grad, x):
    (first_norm, attention), (second_norm, feed) = (attention[:2], attention[2:]), (feed[:2], feed[2:])
    normal = call("layer_norm", x, *first_norm)
    middle = vector.add(x, call("multi_head_attention", normal, *attention))
    arrived, *of_feed = call("feed_forward_backward", grad, call("layer_norm", middle, *second_norm), *feed)
    through, *of_second = of_norm(arrived, middle, *second_norm)
    grad = vector.add(np.ascontiguousarray(grad), through)
    arrived, *of_attention = call("multi_head_attention_backward", grad, normal, *attention)
    through, *of_first = of_norm(arrived, x, *first_norm)
    return vector.add(grad, through), *of_first, *of_attention, *of_second, *of_feed


def of_norm(grad, x, weight, bias):
    """The gradients of x, and of weight and bias where there are such: always a tuple."""
    found = call("layer_norm_backward", grad, x, weight, bias)
    return found if isinstance(found, tuple) else (found,)
