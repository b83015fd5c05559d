"""Gradients of attention on the GPU: weights are computed again, nothing of queries x keys numbers is kept.

A thread for each query finds the logarithm of its sum, and then the gradient of its row of q; a thread for each key the
gradients of its rows of k and v, from all queries that look at it. So nobody adds to another's sum. Heads that share a
matrix add up at the end. The formulas stand in cpu_backward.py.
"""

import math

import numpy as np

from ..device import cuda
from ..implementations import implementation
from ..launches import device_array, launch, sent, view
from .gpu import LINE, ONE_HEAD, PLACES, SIZES, TERMS, THREADS, attention_shared_tiles, numbers, terms_of
from .gpu_rows import f32


@cuda.jit(device=True)
def score_of(q, q_start, k, k_start, width, scale, mask, mask_place):
    """The score of a query that begins at one place and a key at another."""
    total = f32(0)
    for c in range(width):
        total += q[q_start + c] * k[k_start + c]
    return total * scale + mask[mask_place]


@cuda.jit(device=True)
def dot(a, a_start, b, b_start, n):
    total = f32(0)
    for c in range(n):
        total += a[a_start + c] * b[b_start + c]
    return total


@cuda.jit
def queries_kernel(
    q, k, v, mask, of_q, of_k, of_v, of_mask, grad, out, logs, along, part,
    queries, keys, width, values, mask_row, mask_column, causal, scale,
):  # fmt: skip
    row = cuda.grid(1)
    if row < logs.size:
        h, i = row // queries, row % queries
        q_start, mask_start, part_start = of_q[h] + i * width, of_mask[h] + i * mask_row, row * width
        last = min(i + 1, keys) if causal else keys
        top, total = f32(-math.inf), f32(0)
        for j in range(last):
            score = score_of(q, q_start, k, of_k[h] + j * width, width, scale, mask, mask_start + j * mask_column)
            if score > top:
                total *= math.exp(top - score)
                top = score
            if score != -math.inf:
                total += math.exp(score - top)
        logarithm = f32(math.inf)
        if total != 0:
            logarithm = top + math.log(total)
        inner = dot(grad, row * values, out, row * values, values)
        logs[row] = logarithm
        along[row] = inner
        for c in range(width):
            part[part_start + c] = f32(0)
        for j in range(last):
            k_start = of_k[h] + j * width
            score = score_of(q, q_start, k, k_start, width, scale, mask, mask_start + j * mask_column)
            arrived = dot(grad, row * values, v, of_v[h] + j * values, values)
            slope = scale * math.exp(score - logarithm) * (arrived - inner)
            for c in range(width):
                part[part_start + c] += slope * k[k_start + c]


@cuda.jit
def keys_kernel(
    q, k, v, mask, of_q, of_k, of_v, of_mask, grad, logs, along, part_k, part_v,
    queries, keys, width, values, mask_row, mask_column, causal, scale,
):  # fmt: skip
    row = cuda.grid(1)
    if row < of_k.size * keys:
        h, j = row // keys, row % keys
        k_start, v_start, mask_start = of_k[h] + j * width, of_v[h] + j * values, of_mask[h] + j * mask_column
        for c in range(width):
            part_k[row * width + c] = f32(0)
        for c in range(values):
            part_v[row * values + c] = f32(0)
        for i in range(j if causal else 0, queries):
            q_start, line = of_q[h] + i * width, h * queries + i
            score = score_of(q, q_start, k, k_start, width, scale, mask, mask_start + i * mask_row)
            weight = math.exp(score - logs[line])
            slope = scale * weight * (dot(grad, line * values, v, v_start, values) - along[line])
            for c in range(width):
                part_k[row * width + c] += slope * q[q_start + c]
            for c in range(values):
                part_v[row * values + c] += weight * grad[line * values + c]


@cuda.jit
def collect_kernel(part, places, size, out):
    """out[e] = the sum over all heads that share its matrix."""
    e = cuda.grid(1)
    if e < out.size:
        total, inside, first = f32(0), e % size, e // size * size
        for h in range(places.size):
            if places[h] == first:
                total += part[h * size + inside]
        out[e] = total


def collected(part, places, size, x):
    """The gradient of x from those by heads."""
    if x.size == 0:
        return device_array(tuple(x.shape), f32)
    if part.size == 0:
        return cuda.to_device(np.zeros(tuple(x.shape), f32))
    if part.size == x.size:
        return view(part, tuple(x.shape))
    out = device_array(x.size, f32)
    launch(collect_kernel, -(-x.size // THREADS), THREADS, part, sent(places), size, out)
    return view(out, tuple(x.shape))


LINES = ", ".join([LINE] * 4)


@implementation(
    "scaled_dot_product_attention_backward",
    "gpu",
    adds="a thread for each query, then one for each key: weights are computed again, and nobody adds to another's sum",
    dtypes=("float32",),
    kernels=[
        (queries_kernel, [f"void({LINES}, {ONE_HEAD}, {', '.join([LINE] * 5)}, {SIZES})"]),
        (keys_kernel, [f"void({LINES}, {ONE_HEAD}, {', '.join([LINE] * 5)}, {SIZES})"]),
        (collect_kernel, [f"void({LINE}, {PLACES}, int64, {LINE})"]),
        TERMS,
    ],
)
def attention_backward_threads(mask, shape, g, grad, q, k, v):
    sizes = g.queries * g.width, g.keys * g.width, g.keys * g.values
    numbers_of = g.of_q, g.of_k, g.of_v
    if g.heads * g.queries * g.keys == 0 or g.values == 0:
        parts = [cuda.to_device(np.zeros(g.heads * size, f32)) for size in sizes]
    else:
        parts = [device_array(g.heads * size, f32) for size in sizes]
        rows = g.heads * g.queries
        logs, along = device_array(rows, f32), device_array(rows, f32)
        out = attention_shared_tiles(mask, shape, g, q, k, v)
        lines = [x.reshape(x.size) for x in (q, k, v)]
        places = [sent(x) for x in (*numbers_of, g.of_mask)]
        everything, arrived = (*lines, terms_of(mask), *places), grad.reshape(grad.size)
        queries_kernel[-(-rows // THREADS), THREADS](
            *everything, arrived, out.reshape(out.size), logs, along, parts[0], *numbers(g)
        )
        keys_kernel[-(-g.heads * g.keys // THREADS), THREADS](
            *everything, arrived, logs, along, parts[1], parts[2], *numbers(g)
        )
    return tuple(collected(*each) for each in zip(parts, numbers_of, sizes, (q, k, v), strict=True))
