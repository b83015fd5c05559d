"""Attention on tensor cores: numbers of 16 bits, sums and exponentials in float32.

The ladder of attention_half      what the rung adds
    attention_half_tensor_cores   a warp multiplies 16 queries by 8 keys, and their weights by 8 columns, in one instruction

A block of four warps has 64 queries and walks over tiles of 64 keys. The scores of a warp are sums of one multiplication,
and the weights factors of the next; both instructions want them in the same threads (tensor_cores.py says who holds what),
so that weights never leave the registers (Dao 2023, section 3.3). Keys and values have rooms of their own: the values are
copied while the scores are computed, and the next keys while the values are multiplied.
"""

import functools
import math

import numpy as np

from ..async_copy import copy_async, wait_copies
from ..device import cuda
from ..implementations import implementation
from ..layouts import aligned, bits
from ..tensor_cores import CAPABILITY, KINDS, load_matrices, load_matrices_transposed, multiply, pack
from ..wide import store2, store4
from .gpu import TERMS, f32, terms_of
from .gpu_patches import MOST, PLACES, counted
from .gpu_rows import ALL

u16, u32 = np.uint16, np.uint32
EDGE, THREADS = 64, 128  # queries of a block, and keys of a tile; four warps, 16 queries for each
WIDTHS = (64, 128)  # a kernel for each


@functools.cache
def copy_of(columns, narrow):
    """The device function that brings 64 rows of up to `columns` numbers into a tile of pairs; zeros outside.

    narrow: from lines of single numbers, one after the other; else 16 bytes at a time, by copies that go on.
    """
    eights = columns // 8

    @cuda.jit(device=True)
    def wide(x, first, rows, width, tile, t):
        for e in range(t, u32(EDGE * eights), u32(THREADS)):
            i, c = u32(e // u32(eights)), u32(e % u32(eights) * u32(4))
            inside = i < rows and c < width // u32(2)
            copy_async(tile, (i, c), x, u32((first + i * width) // u32(2) + c), inside)

    @cuda.jit(device=True)
    def one_by_one(x, first, rows, width, tile, t):
        words = cuda.local.array(4, u32)
        for e in range(t, u32(EDGE * eights), u32(THREADS)):
            i, c = u32(e // u32(eights)), u32(e % u32(eights) * u32(4))
            for p in range(4):
                j, at = u32(u32(2) * (c + u32(p))), u32(first + i * width)
                low = x[u32(at + j)] if i < rows and j < width else u16(0)
                high = x[u32(at + j + u32(1))] if i < rows and j + u32(1) < width else u16(0)
                words[p] = u32(low) | u32(high) << u32(16)
            store4(tile, (i, c), (words[0], words[1], words[2], words[3]))

    return one_by_one if narrow else wide


@cuda.jit(device=True)
def four_max(value):
    """The largest of the 4 threads of a query."""
    value = max(value, cuda.shfl_xor_sync(ALL, value, 2))
    return max(value, cuda.shfl_xor_sync(ALL, value, 1))


@cuda.jit(device=True)
def four_sum(value):
    """The sum over the 4 threads of a query."""
    value += cuda.shfl_xor_sync(ALL, value, 2)
    return value + cuda.shfl_xor_sync(ALL, value, 1)


@functools.cache
def products_of(kind, columns):
    """(scores += queries x keys, sums += weights x values): device functions for a warp."""
    mma, pair, steps, eights = multiply(kind), pack(kind), columns // 16, columns // 8

    @cuda.jit(device=True)
    def score(left, tile, lane, scores):
        for n in range(8):
            for e in range(4):
                scores[n, e] = f32(0)
        for step in range(steps):
            a0, a1, a2, a3 = left[4 * step], left[4 * step + 1], left[4 * step + 2], left[4 * step + 3]
            for two in range(4):
                row = u32(16 * two) + lane // u32(16) * u32(8) + lane % u32(8)
                place = row, u32(8 * step) + lane // u32(8) % u32(2) * u32(4)
                w0, w1, w2, w3 = load_matrices(tile, place)
                n = 2 * two
                s0, s1, s2, s3 = scores[n, 0], scores[n, 1], scores[n, 2], scores[n, 3]
                s0, s1, s2, s3 = mma(a0, a1, a2, a3, w0, w1, s0, s1, s2, s3)
                scores[n, 0], scores[n, 1], scores[n, 2], scores[n, 3] = s0, s1, s2, s3
                n = 2 * two + 1
                s0, s1, s2, s3 = scores[n, 0], scores[n, 1], scores[n, 2], scores[n, 3]
                s0, s1, s2, s3 = mma(a0, a1, a2, a3, w2, w3, s0, s1, s2, s3)
                scores[n, 0], scores[n, 1], scores[n, 2], scores[n, 3] = s0, s1, s2, s3

    @cuda.jit(device=True)
    def add_values(weights, tile, lane, sums):
        for step in range(4):
            a0 = pair(weights[2 * step, 0], weights[2 * step, 1])
            a1 = pair(weights[2 * step, 2], weights[2 * step, 3])
            a2 = pair(weights[2 * step + 1, 0], weights[2 * step + 1, 1])
            a3 = pair(weights[2 * step + 1, 2], weights[2 * step + 1, 3])
            for two in range(eights // 2):
                place = u32(16 * step) + lane % u32(16), u32(8 * two) + lane // u32(16) * u32(4)
                w0, w1, w2, w3 = load_matrices_transposed(tile, place)
                n = 2 * two
                s0, s1, s2, s3 = sums[n, 0], sums[n, 1], sums[n, 2], sums[n, 3]
                s0, s1, s2, s3 = mma(a0, a1, a2, a3, w0, w1, s0, s1, s2, s3)
                sums[n, 0], sums[n, 1], sums[n, 2], sums[n, 3] = s0, s1, s2, s3
                n = 2 * two + 1
                s0, s1, s2, s3 = sums[n, 0], sums[n, 1], sums[n, 2], sums[n, 3]
                s0, s1, s2, s3 = mma(a0, a1, a2, a3, w2, w3, s0, s1, s2, s3)
                sums[n, 0], sums[n, 1], sums[n, 2], sums[n, 3] = s0, s1, s2, s3

    return score, add_values


@functools.cache
def tensor_kernel(kind, columns, narrow=False):
    """The kernel for "f16" or "bf16" and widths of up to `columns`; narrow: as for `copy_of`."""
    copy_rows = copy_of(columns, narrow)
    score, add_values = products_of(kind, columns)
    words, eights, pitch = columns // 4, columns // 8, columns // 2 + 4  # 8 rows begin in 8 groups of 4 banks

    @cuda.jit
    def kernel(
        q, k, v, mask, of_q, of_k, of_v, of_mask, out,
        queries, keys, width, values, mask_row, mask_column, causal, scale,
    ):  # fmt: skip
        key_tile = cuda.shared.array((EDGE, pitch), u32)
        value_tile = cuda.shared.array((EDGE, pitch), u32)  # first the queries
        left = cuda.local.array(words, u32)  # this warp's queries
        scores, sums = cuda.local.array((8, 4), f32), cuda.local.array((eights, 4), f32)
        top, total = cuda.local.array(2, f32), cuda.local.array(2, f32)
        t = u32(cuda.threadIdx.x)
        warp, lane = u32(t // u32(32)), u32(t % u32(32))
        group, pair = u32(lane // u32(4)), u32(lane % u32(4) * u32(2))
        tiles = u32((queries + u32(EDGE - 1)) // u32(EDGE))
        block = u32(cuda.blockIdx.x)
        h, first = u32(block // tiles), u32((tiles - u32(1) - block % tiles) * u32(EDGE))  # long rows first
        at_k, at_v, at_mask = u32(of_k[h]), u32(of_v[h]), u32(of_mask[h])
        here = min(u32(EDGE), u32(queries - first))
        last = min(keys, u32(first + here)) if causal else keys
        copy_rows(q, u32(of_q[h] + first * width), here, width, value_tile, t)
        copy_rows(k, at_k, last, width, key_tile, t)
        wait_copies()
        cuda.syncthreads()  # queries are there
        for step in range(words // 4):
            place = warp * u32(16) + lane % u32(16), u32(8 * step) + lane // u32(16) * u32(4)
            w0, w1, w2, w3 = load_matrices(value_tile, place)
            left[4 * step], left[4 * step + 1], left[4 * step + 2], left[4 * step + 3] = w0, w1, w2, w3
        for half in range(2):
            top[half], total[half] = f32(-math.inf), f32(0)
        for n in range(eights):
            for e in range(4):
                sums[n, e] = f32(0)
        for begin in range(u32(0), last, u32(EDGE)):
            wait_copies()
            cuda.syncthreads()  # keys are there, and nobody reads values or queries any more
            copy_rows(v, u32(at_v + begin * values), u32(last - begin), values, value_tile, t)
            score(left, key_tile, lane, scores)
            for half in range(2):
                i = min(u32(first + warp * u32(16) + group + u32(8 * half)), u32(queries - u32(1)))
                largest = top[half]
                for n in range(8):
                    for e in range(2):
                        j = u32(begin + u32(8 * n + e) + pair)
                        if j >= last or (causal and j > i):
                            scores[n, 2 * half + e] = f32(-math.inf)
                        else:
                            term = mask[u32(at_mask + i * mask_row + j * mask_column)]
                            scores[n, 2 * half + e] = scores[n, 2 * half + e] * scale + term
                        largest = max(largest, scores[n, 2 * half + e])
                largest = four_max(largest)
                shift = f32(0) if largest == -math.inf else largest
                correction = math.exp(top[half] - shift)
                top[half] = largest
                mine = f32(0)
                for n in range(8):
                    for e in range(2):
                        weight = math.exp(scores[n, 2 * half + e] - shift)
                        scores[n, 2 * half + e] = weight
                        mine += weight
                total[half] = total[half] * correction + four_sum(mine)
                for n in range(eights):
                    sums[n, 2 * half] *= correction
                    sums[n, 2 * half + 1] *= correction
            wait_copies()
            cuda.syncthreads()  # values are there, and nobody reads the keys any more
            after = u32(begin + u32(EDGE))
            if after < last:
                copy_rows(k, u32(at_k + after * width), u32(last - after), width, key_tile, t)
            add_values(scores, value_tile, lane, sums)
        for half in range(2):
            i = u32(warp * u32(16) + group + u32(8 * half))
            factor = f32(0) if total[half] == f32(0) else f32(1) / total[half]
            at = u32((h * queries + first + i) * values)
            for n in range(eights):
                c = u32(u32(8 * n) + pair)
                if i < here and c < values:
                    s0, s1 = sums[n, 2 * half] * factor, sums[n, 2 * half + 1] * factor
                    if narrow:
                        out[u32(at + c)] = s0
                        if c + u32(1) < values:
                            out[u32(at + c + u32(1))] = s1
                    else:
                        store2(out, u32(at + c), (s0, s1))

    return kernel


def _signature(number):
    line = f"{number}[::1]"
    sizes = "uint32, uint32, uint32, uint32, uint32, uint32, boolean, float32"
    return f"void({line}, {line}, {line}, float32[::1], {', '.join([PLACES] * 4)}, float32[::1], {sizes})"


HALVES, PAIRS = _signature("uint16"), _signature("uint32")


@implementation(
    "attention_half",
    "gpu",
    adds="tensor cores: scores and results in the registers of a warp; weights become factors where they are",
    limits=f"widths of at most {WIDTHS[-1]}, arrays of less than 2^32 elements; widths that are no multiples of 8 and slices "
    "at odd places are loaded number by number",
    dtypes=("float32",),
    capability=CAPABILITY,
    instead="Use scaled_dot_product_attention on float32 arrays there: x.copy_to_host().astype(np.float32), then cuda.to_device.",
    kernels=[
        *((tensor_kernel(kind, columns), [PAIRS]) for kind in KINDS for columns in WIDTHS),
        *((tensor_kernel(kind, columns, narrow=True), [HALVES]) for kind in KINDS for columns in WIDTHS),
        TERMS,
    ],
    public=True,
)
def attention_half_tensor_cores(mask, g, q, k, v, out):
    if out.size == 0:
        return out
    if g.keys == 0:
        out.copy_to_device(np.zeros(tuple(out.shape), f32))
        return out
    widest, terms = max(g.width, g.values), terms_of(mask)
    if widest > WIDTHS[-1] or max(x.size for x in (q, k, v, out, terms)) >= MOST:
        raise ValueError(
            f"q has shape {tuple(q.shape)} and v {tuple(v.shape)}; expected widths of at most {WIDTHS[-1]} and arrays of less "
            "than 2^32 elements. Use scaled_dot_product_attention on float32 arrays."
        )
    kind = "f16" if q.dtype == np.float16 else "bf16"
    lines = [bits(x).reshape(x.size) for x in (q, k, v)]
    narrow = bool(g.width % 8 or g.values % 8) or not aligned(*lines, out)
    kernel = tensor_kernel(kind, next(columns for columns in WIDTHS if widest <= columns), narrow)
    lines = lines if narrow else [x.view(u32) for x in lines]
    places = [cuda.to_device(x) for x in (g.of_q, g.of_k, g.of_v, g.of_mask)]
    grid = g.heads * -(-g.queries // EDGE)
    kernel[grid, THREADS](*lines, terms, *places, out.reshape(out.size), *counted(g))
    return out
