"""Scaled dot-product attention, its gradient, and attention with functions of a caller in its loop: what is called, and
what checks its arguments.
"""

from ..arguments import FLOATS, check_gradient, float_array, one_place, output, same
from ..implementations import call, operation
from . import examples, reference
from .geometry import HALVES, geometry
from .modifiers import BlockMask, check_modifier


@operation(
    "scaled_dot_product_attention",
    reference.scaled_dot_product_attention,
    examples.ATTEND,
    constants=("mask",),
    by_shape=True,
)
def _prepare_attention(q, k, v, mask=None, is_causal=False, scale=None, enable_gqa=False):
    return mask, *geometry(q, k, v, mask, is_causal, scale, enable_gqa), q, k, v


@operation(
    "scaled_dot_product_attention_backward",
    reference.scaled_dot_product_attention_backward,
    examples.ATTEND_BACKWARD,
    backward_of="scaled_dot_product_attention",
    by_shape=True,
)
def _prepare_attention_backward(grad, q, k, v, mask=None, is_causal=False, scale=None, enable_gqa=False):
    shape, g = geometry(q, k, v, mask, is_causal, scale, enable_gqa)
    check_gradient(grad, shape, q=q)
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
                f"{name} has shape {tuple(x.shape)}; expected {expected}, as attention_with_sums(q, k, v, ...) returns "
                "it."
            )
    return mask, g, result, sums, *rest


@operation(
    "attention_half",
    reference.attention_half,
    examples.HALF,
    no_backward="scaled_dot_product_attention of the same in float32 has one",
    by_shape=True,
)
def _prepare_attention_half(q, k, v, mask=None, is_causal=False, scale=None, enable_gqa=False):
    shape, g = geometry(q, k, v, mask, is_causal, scale, enable_gqa, HALVES)
    return mask, g, q, k, v, output(None, shape, FLOATS[0], q=q)


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
            f"block_mask is for {mask.B} batches, {mask.H} heads, {mask.Q_LEN} queries and {mask.KV_LEN} keys; "
            f"expected {batches} or 1, {heads} or 1, {g.queries} and {g.keys}."
        )


# ---- what is called -------------------------------------------------------------------------------------------------


def scaled_dot_product_attention(q, k, v, mask=None, is_causal=False, scale=None, enable_gqa=False):
    """softmax(scale q k^T + mask) v, as torch.nn.functional.scaled_dot_product_attention without dropout. A new array.

    q: (..., queries, width), k: (..., keys, width), v: (..., keys, value width); leading dimensions are broadcast.
    mask: what can be broadcast to (..., queries, keys): True where a query may look at a key, or numbers that are added
    to the scores, of the dtype of q. None for all keys. is_causal: True for query i to look at keys 0 to i only,
    whatever the numbers of queries and keys: the first query and the first key stand together, as in PyTorch. Not with
    a mask. scale: None for 1 / sqrt(width). enable_gqa: True where k and v have fewer heads than q, in the dimension
    before the last two: query head h then looks at head h // (heads of q / heads of k). A query that may look at no key
    gets zeros, as in PyTorch. What stands in v where nobody may look should be finite: it may be multiplied by zero or
    not. In host memory, finite terms of a mask beyond finfo.max / log2(e) on either side count as that.
    """
    return call("scaled_dot_product_attention", q, k, v, mask, is_causal, scale, enable_gqa)


def scaled_dot_product_attention_backward(grad, q, k, v, mask=None, is_causal=False, scale=None, enable_gqa=False):
    """The gradients of q, k and v, given `grad`, the one with respect to scaled_dot_product_attention(...).

    A mask is taken as given: it gets no gradient. For a row masked by finfo.min alone, the rung for GPUs that takes odd
    widths (attention_backward_threads) has each key's weight as 1, as PyTorch's flash attention has; all others have 1
    / keys.
    """
    return call("scaled_dot_product_attention_backward", grad, q, k, v, mask, is_causal, scale, enable_gqa)


def attention_with_sums(q, k, v, mask=None, is_causal=False, scale=None, enable_gqa=False):
    """(result, sums): that of `scaled_dot_product_attention`, and what `attention_backward_from_sums` needs beside it.

    Arguments and errors are those of `scaled_dot_product_attention`. result: (..., queries, value width); sums: (2,
    ..., queries), of the dtype of q. sums[0]: the largest score of each query times log2(e), the least finite number
    where it may look at no key; sums[1]: the sum of 2^(score log2(e) - that): the two that Dao and others keep
    (FlashAttention, 2022, section 3.1), to base 2. The logarithm of a query's sum of exponentials is ln(2) (sums[0] +
    log2(sums[1])). What masks add beyond finfo.max / log2(e), finfo.min among it, counts as that. New arrays; host
    memory only.
    """
    return call("attention_with_sums", q, k, v, mask, is_causal, scale, enable_gqa)


def attention_backward_from_sums(grad, q, k, v, result, sums, mask=None, is_causal=False, scale=None, enable_gqa=False):
    """`scaled_dot_product_attention_backward` without its way forward: result and sums are what `attention_with_sums`
    returned.

    grad, result: (..., queries, value width); sums: (2, ..., queries); all of the dtype of q, else ValueError or
    TypeError. The other arguments are those of the call that returned them. With other ones the gradients are wrong,
    and nobody notices: only shapes are checked. Host memory only. Source: Dao and others, FlashAttention (2022),
    section 3.1.
    """
    return call("attention_backward_from_sums", grad, q, k, v, result, sums, mask, is_causal, scale, enable_gqa)


def attention_half(q, k, v, mask=None, is_causal=False, scale=None, enable_gqa=False):
    """`scaled_dot_product_attention` of 16-bit numbers: float16, or bfloat16 given by its bits in uint16. A new float32
    array.

    Scores, exponentials and sums are float32; weights are rounded to the type of v before they are multiplied by it.
    mask: True and False, or float32. On a GPU, widths of at most 128.
    """
    return call("attention_half", q, k, v, mask, is_causal, scale, enable_gqa)


def flex_attention(query, key, value, score_mod=None, block_mask=None, scale=None, enable_gqa=False):
    """Attention with functions of yours in its loop, as torch.nn.attention.flex_attention. A new array; host memory
    only.

    query, key, value, scale, enable_gqa: as q, k, v of `scaled_dot_product_attention`. score_mod: a njit function
    (score, b, h, q_idx, kv_idx) -> score, called for each scaled score; b counts all leading dimensions but the last of
    them, which is h. A constant such as 0.5 is float64: np.float32(0.5) keeps the loop fast. block_mask: what
    dlkernels.attention.create_block_mask made of a mask_mod. Both None for all keys, as they are. The first call with
    new functions compiles the loop with them in it.
    """
    return call("flex_attention", query, key, value, score_mod, block_mask, scale, enable_gqa)
