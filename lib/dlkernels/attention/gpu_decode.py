"""Decoding on the GPU, in float32: few queries, so there is little to do for many threads but to read keys.

The ladder of decode_attention       what the rung adds
    decode_warps        a block for each query: its warps take keys in turn, 32 lanes read a key together
    decode_split_gpu    split-KV: several blocks for each query, each with a part of the keys; a second kernel merges
                        them

A result is merged three times by the same rule: that of each warp key by key, those of the warps of a block in shared
memory, those of the blocks by the second kernel (Dao and others, Flash-Decoding, 2023).
"""

import functools
import math

import numpy as np

from ..device import cuda
from ..implementations import implementation
from ..launches import constant, device_array, launch, line, sent, view
from .gpu_rows import WARP, f32, warp_sum

WARPS = 4  # of a block
LANES_COLUMNS = 4  # columns of a value that a lane has
COLUMNS = WARP * LANES_COLUMNS  # of a block; wider values take several
THREADS = 128  # of a block that merges
BLOCKS = 264  # enough for all multiprocessors of the largest GPUs, twice
SHORTEST = 128  # keys of the room for a part, at least: how many are there is known on the device only
LEAST = f32(np.finfo(np.float32).min)  # where largest scores begin: there is no difference of two infinities


@cuda.jit
def parts_kernel(
    q,
    k,
    v,
    k_scale,
    v_scale,
    narrow,
    lengths,
    table,
    parts,
    sums,
    heads,
    shared,
    queries,
    width,
    values,
    page,
    pages,
    scale,
):
    """The result of one query over one part of its keys, and the logarithm of its sum, in parts and sums (splits, rows,
    ...)."""
    merged = cuda.shared.array((WARPS, COLUMNS), f32)
    tops = cuda.shared.array(WARPS, f32)
    totals = cuda.shared.array(WARPS, f32)
    acc = cuda.local.array(LANES_COLUMNS, f32)
    lane, warp = cuda.threadIdx.x, cuda.threadIdx.y
    row, split, splits = cuda.blockIdx.x, cuda.blockIdx.y, cuda.gridDim.y
    column = cuda.blockIdx.z * COLUMNS + lane
    head = row // queries
    sequence, of_k = head // heads, head % heads // (heads // shared)
    length = min(lengths[sequence], page * pages)
    last = max(0, length - queries + row % queries + 1)
    first, end = last * split // splits, last * (split + 1) // splits
    for i in range(LANES_COLUMNS):
        acc[i] = f32(0)
    top, total = LEAST, f32(0)
    for j in range(first + warp, end, WARPS):
        cached = (table[sequence * pages + j // page] * shared + of_k) * page + j % page
        score = f32(0)
        for c in range(lane, width, WARP):
            score += q[row * width + c] * f32(k[cached * width + c])
        score = warp_sum(score) * scale
        if narrow:
            score *= k_scale[cached]
        new = max(top, score)
        correction, weight = math.exp(top - new), math.exp(score - new)
        total = total * correction + weight
        if narrow:
            weight *= v_scale[cached]
        for i in range(LANES_COLUMNS):
            c = column + i * WARP
            if c < values:
                acc[i] = acc[i] * correction + weight * f32(v[cached * values + c])
        top = new
    if lane == 0:
        tops[warp], totals[warp] = top, total
    for i in range(LANES_COLUMNS):
        merged[warp, lane + i * WARP] = acc[i]
    cuda.syncthreads()  # the results of all warps are there
    new, total = LEAST, f32(0)
    for w in range(WARPS):
        new = max(new, tops[w])
    for w in range(WARPS):
        total += totals[w] * math.exp(tops[w] - new)
    over = f32(1) / total if total != 0 else f32(0)
    part_row = split * cuda.gridDim.x + row
    for i in range(warp, LANES_COLUMNS, WARPS):
        c = column + i * WARP
        if c < values:
            result = f32(0)
            for w in range(WARPS):
                result += merged[w, lane + i * WARP] * math.exp(tops[w] - new)
            parts[part_row * values + c] = result * over
    if lane == 0 and warp == 0 and cuda.blockIdx.z == 0:
        sums[part_row] = new + math.log(total) if total != 0 else f32(-math.inf)


@cuda.jit
def merge_kernel(parts, sums, out, lse, splits, values):
    """One thread for each number of the result: the mean of its parts, weighed by their sums. One without values:
    lse."""
    rows = lse.size
    element = cuda.grid(1)
    if element < rows * (values + 1):
        row, c = element // (values + 1), element % (values + 1)
        top = f32(-math.inf)
        for split in range(splits):
            found = sums[split * rows + row]
            top = found if found > top or found != found else top
        total, result = f32(0), f32(0)
        if top != -math.inf:
            for split in range(splits):
                weight = math.exp(sums[split * rows + row] - top)
                total += weight
                if c < values:
                    result += weight * parts[(split * rows + row) * values + c]
        if c == values:
            lse[row] = top + math.log(total) if total != 0 else f32(-math.inf)
        else:
            out[row * values + c] = result / total if total != 0 else f32(0)


LINE, PLACES, SIZES = "float32[::1]", "int64[::1]", "int64, int64, int64, int64, int64, int64, int64, float32"


def _signature(kind):
    return (
        f"void({LINE}, {kind}[::1], {kind}[::1], {LINE}, {LINE}, boolean, {PLACES}, {PLACES}, {LINE}, {LINE}, {SIZES})"
    )


PARTS = (parts_kernel, [_signature("float32"), _signature("int8")])
MERGE = (merge_kernel, [f"void({LINE}, {LINE}, {LINE}, {LINE}, int64, int64)"])


@functools.lru_cache(maxsize=64)
def numbered(n):
    """The numbers 0 to n - 1; nobody writes into them."""
    return np.arange(n)


def decode(lengths, block_table, k_scale, v_scale, scale, return_lse, k, v, q, splits):
    """What both rungs do, with so many parts of the keys of each query."""
    *lead, heads, queries, width = shape = tuple(q.shape)  # numba's simulator knows no negative places in a shape
    (shared, page, values), sequences = tuple(v.shape)[-3:], math.prod(lead)
    rows = sequences * heads * queries
    if rows == 0 or k.size == 0:
        out = cuda.to_device(np.zeros((*shape[:-1], values), f32))
        return (out, cuda.to_device(np.full(shape[:-1], -np.inf, f32))) if return_lse else out
    lines, ones = [line(x) for x in (q, k, v)], constant(1, 1)
    scales = [ones if x is None else line(x) for x in (k_scale, v_scale)]
    if block_table is None:
        table, pages = sent(numbered(sequences)), 1
    else:
        table, pages = line(block_table), tuple(block_table.shape)[-1]
    sizes = heads, shared, queries, width, values, page, pages, f32(scale)
    parts, sums = device_array(splits * rows * max(values, 1), f32), device_array(splits * rows, f32)
    places = line(lengths), table, parts, sums
    grid = rows, splits, max(1, -(-values // COLUMNS))
    launch(parts_kernel, grid, (WARP, WARPS), *lines, *scales, k_scale is not None, *places, *sizes)
    out, lse = device_array(rows * values, f32), device_array(rows, f32)
    launch(merge_kernel, -(-rows * (values + 1) // THREADS), THREADS, parts, sums, out, lse, splits, values)
    out = view(out, (*shape[:-1], values))
    return (out, view(lse, shape[:-1])) if return_lse else out


@implementation(
    "decode_attention",
    "gpu",
    adds="a block for each query: its warps take keys in turn, the lanes of a warp read a key together",
    dtypes=("float32",),
    kernels=[PARTS, MERGE],
)
def decode_warps(lengths, block_table, k_scale, v_scale, scale, return_lse, k, v, q):
    return decode(lengths, block_table, k_scale, v_scale, scale, return_lse, k, v, q, 1)


@implementation(
    "decode_attention",
    "gpu",
    adds="split-KV: several blocks for each query, each with a part of the keys; a second kernel merges them",
    dtypes=("float32",),
    kernels=[PARTS, MERGE],
    public=True,
)
def decode_split_gpu(lengths, block_table, k_scale, v_scale, scale, return_lse, k, v, q):
    rows = max(1, math.prod(tuple(q.shape)[:-1]))
    longest = tuple(k.shape)[-2] * (1 if block_table is None else tuple(block_table.shape)[-1])
    splits = max(1, min(BLOCKS // rows, longest // SHORTEST))
    return decode(lengths, block_table, k_scale, v_scale, scale, return_lse, k, v, q, splits)
