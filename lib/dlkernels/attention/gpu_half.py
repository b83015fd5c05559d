"""Attention on tensor cores: numbers of 16 bits, sums and exponentials in float32.

The ladder of attention_half      what the rung adds
    attention_half_tensor_cores   a warp multiplies 16 queries by 8 keys, and their weights by 8 columns, in one
                                  instruction

A block of four warps has 64 queries and walks over tiles of 64 keys. The scores of a warp are sums of one
multiplication, and the weights factors of the next; both instructions want them in the same threads (tensor_cores.py
says who holds what), so that weights never leave the registers (Dao 2023, section 3.3). Keys and values have rooms of
their own: the values are copied while the scores are computed, and the next keys while the values are multiplied.
"""

import functools
import math

import numpy as np

from ..async_copy import copy_async, wait_copies
from ..device import cuda
from ..implementations import implementation
from ..launches import device_array, launch, line, sent, view
from ..layouts import aligned, bits
from ..tensor_cores import CAPABILITY, KINDS, load_matrices, load_matrices_transposed, multiply, pack
from ..wide import store2
from .gpu import LINE, PLACES, TERMS, f32, terms_of
from .gpu_patches import MOST, counted
from .gpu_rows import ALL, MOST_BLOCKS

u16, u32 = np.uint16, np.uint32
EDGE, THREADS = 64, 128  # queries of a block, and keys of a tile; four warps, 16 queries for each
WIDTHS = (64, 128)  # a kernel for each


@functools.cache
def copy_of(columns):
    """The device function that sends 64 rows of up to `columns` numbers on their way to a tile of pairs; zeros
    outside."""
    eights = columns // 8

    @cuda.jit(device=True)
    def copy_rows(x, first, rows, width, tile, t):
        for e in range(t, u32(EDGE * eights), u32(THREADS)):
            i, c = u32(e // u32(eights)), u32(e % u32(eights) * u32(4))
            inside = i < rows and c < width // u32(2)
            copy_async(tile, (i, c), x, u32((first + i * width) // u32(2) + c), inside)

    return copy_rows


@cuda.jit(device=True)
def seen(score, i, j, last, causal, mask, mask_place):
    """A score with its term of the mask; -inf where query i may not look at key j."""
    if j >= last or (causal and j > i):
        return f32(-math.inf)
    return score + mask[mask_place]


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
    def multiply_keys(left, tile, lane, scores):
        right = cuda.local.array(4, u32)
        for n in range(8):
            for e in range(4):
                scores[n, e] = f32(0)
        for step in range(steps):
            a0, a1, a2, a3 = left[4 * step], left[4 * step + 1], left[4 * step + 2], left[4 * step + 3]
            for two in range(4):
                row = u32(16 * two) + lane // u32(16) * u32(8) + lane % u32(8)
                place = row, u32(8 * step) + lane // u32(8) % u32(2) * u32(4)
                right[0], right[1], right[2], right[3] = load_matrices(tile, place)
                for side in range(2):
                    n, b0, b1 = 2 * two + side, right[2 * side], right[2 * side + 1]
                    s0, s1, s2, s3 = scores[n, 0], scores[n, 1], scores[n, 2], scores[n, 3]
                    s0, s1, s2, s3 = mma(a0, a1, a2, a3, b0, b1, s0, s1, s2, s3)
                    scores[n, 0], scores[n, 1], scores[n, 2], scores[n, 3] = s0, s1, s2, s3

    @cuda.jit(device=True)
    def add_values(weights, tile, lane, sums):
        narrow, right = cuda.local.array(4, u32), cuda.local.array(4, u32)
        for step in range(4):
            for e in range(4):
                n, row = 2 * step + e // 2, e % 2 * 2
                narrow[e] = pair(weights[n, row], weights[n, row + 1])
            a0, a1, a2, a3 = narrow[0], narrow[1], narrow[2], narrow[3]
            for two in range(eights // 2):
                row, column = lane % u32(16), lane // u32(16) * u32(4)
                place = u32(16 * step) + row, u32(8 * two) + column
                words = load_matrices_transposed(tile, place)
                right[0], right[1], right[2], right[3] = words
                for side in range(2):
                    n, b0, b1 = 2 * two + side, right[2 * side], right[2 * side + 1]
                    s0, s1, s2, s3 = sums[n, 0], sums[n, 1], sums[n, 2], sums[n, 3]
                    s0, s1, s2, s3 = mma(a0, a1, a2, a3, b0, b1, s0, s1, s2, s3)
                    sums[n, 0], sums[n, 1], sums[n, 2], sums[n, 3] = s0, s1, s2, s3

    return multiply_keys, add_values


@functools.cache
def tensor_kernel(kind, columns):
    """The kernel for "f16" or "bf16" and widths of up to `columns`. width, value_width: multiples of 8."""
    copy_rows = copy_of(columns)
    multiply_keys, add_values = products_of(kind, columns)
    words, eights, pitch = columns // 4, columns // 8, columns // 2 + 4  # 8 rows begin in 8 groups of 4 banks

    @cuda.jit
    def kernel(
        q, k, v, mask, of_q, of_k, of_v, of_mask, out,
        value_width, queries, keys, width, values, mask_row, mask_column, causal, scale,
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
        k_head, v_head, mask_head = u32(of_k[h]), u32(of_v[h]), u32(of_mask[h])
        masked = mask_row > u32(0) or mask_column > u32(0)
        constant = f32(0) if masked else mask[mask_head]  # one term for all, be it -inf
        block_rows = min(u32(EDGE), u32(queries - first))
        last = min(keys, u32(first + block_rows)) if causal else keys
        copy_rows(q, u32(of_q[h] + first * width), block_rows, width, value_tile, t)
        copy_rows(k, k_head, last, width, key_tile, t)
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
            copy_rows(v, u32(v_head + begin * value_width), u32(last - begin), value_width, value_tile, t)
            multiply_keys(left, key_tile, lane, scores)
            after = u32(begin + u32(EDGE))
            # Is there a key that somebody may not see? Then `seen` adds each score's own term.
            one_by_one = masked or after > last or (causal and after > first)
            term = f32(0) if one_by_one else constant
            for half in range(2):
                i = min(u32(first + warp * u32(16) + group + u32(8 * half)), u32(queries - u32(1)))
                largest = top[half]
                for n in range(8):
                    for e in range(2):
                        score = scores[n, 2 * half + e] * scale + term
                        if one_by_one:
                            j = u32(begin + u32(8 * n + e) + pair)
                            mask_place = u32(mask_head + i * mask_row + j * mask_column)
                            score = seen(score, i, j, last, causal, mask, mask_place)
                        scores[n, 2 * half + e] = score
                        largest = max(largest, score)
                largest = four_max(largest)
                shift = f32(0) if largest == -math.inf else largest
                correction = math.exp(top[half] - shift)
                top[half] = largest
                thread_sum = f32(0)
                for n in range(8):
                    for e in range(2):
                        weight = math.exp(scores[n, 2 * half + e] - shift)
                        scores[n, 2 * half + e] = weight
                        thread_sum += weight
                total[half] = total[half] * correction + four_sum(thread_sum)
                for n in range(eights):
                    sums[n, 2 * half] *= correction
                    sums[n, 2 * half + 1] *= correction
            wait_copies()
            cuda.syncthreads()  # values are there, and nobody reads the keys any more
            if after < last:
                copy_rows(k, u32(k_head + after * width), u32(last - after), width, key_tile, t)
            add_values(scores, value_tile, lane, sums)
        for half in range(2):
            i = u32(warp * u32(16) + group + u32(8 * half))
            factor = f32(0) if total[half] == f32(0) else f32(1) / total[half]
            out_start = u32((h * queries + first + i) * values)
            for n in range(eights):
                c = u32(u32(8 * n) + pair)
                if i < block_rows and c < values:
                    s0, s1 = sums[n, 2 * half] * factor, sums[n, 2 * half + 1] * factor
                    if values % u32(2) == u32(0):
                        store2(out, u32(out_start + c), (s0, s1))
                    else:
                        out[u32(out_start + c)] = s0
                        if c + u32(1) < values:
                            out[u32(out_start + c + u32(1))] = s1

    return kernel


@cuda.jit
def pad_kernel(x, padded, width, padded_width):
    """Rows of `width` numbers become rows of `padded_width`: zeros behind them."""
    for e in range(cuda.grid(1), padded.size, cuda.gridsize(1)):
        row, c = e // padded_width, e % padded_width
        padded[e] = x[row * width + c] if c < width else u16(0)


@functools.lru_cache(maxsize=64)
def wider(places, width, wide):
    """Where matrices begin, given by their bytes, when their rows of `width` numbers become rows of `wide`."""
    return np.frombuffer(places, np.int64) // width * wide


def rows_of_eights(x, width, places):
    """(line of pairs, width, places) of an array in which each row begins at a multiple of 16 bytes."""
    numbers = line(bits(x))
    if width % 8 or not aligned(numbers):
        wide = -(-width // 8) * 8
        padded = device_array(x.size // width * wide, u16)
        launch(pad_kernel, min(-(-padded.size // THREADS), MOST_BLOCKS), THREADS, numbers, padded, width, wide)
        return view(padded, padded.size // 2, u32), wide, sent(wider(places.tobytes(), width, wide))
    return view(numbers, numbers.size // 2, u32), width, sent(places)


PAIRS = (
    f"void(uint32[::1], uint32[::1], uint32[::1], {LINE}, {', '.join([PLACES] * 4)}, {LINE}, "
    "uint32, uint32, uint32, uint32, uint32, uint32, uint32, boolean, float32)"
)


@implementation(
    "attention_half",
    "gpu",
    adds="tensor cores: scores and results in the registers of a warp; weights become factors where they are",
    limits=f"widths of at most {WIDTHS[-1]}, arrays of less than 2^32 elements; widths that are no multiples of 8 and "
    "slices at odd places are copied into rows that are",
    dtypes=("float32",),
    capability=CAPABILITY,
    instead="Use scaled_dot_product_attention on float32 arrays there: x.copy_to_host().astype(np.float32), then "
    "cuda.to_device.",
    kernels=[
        *((tensor_kernel(kind, columns), [PAIRS]) for kind in KINDS for columns in WIDTHS),
        (pad_kernel, ["void(uint16[::1], uint16[::1], int64, int64)"]),
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
    kind, widest, terms = "f16" if q.dtype == np.float16 else "bf16", max(g.width, g.values), terms_of(mask)
    if widest > WIDTHS[-1] or max(x.size for x in (q, k, v, out, terms)) >= MOST:
        raise ValueError(
            f"q has shape {tuple(q.shape)} and v {tuple(v.shape)}; expected widths of at most {WIDTHS[-1]} and arrays "
            "of less than 2^32 elements. Use scaled_dot_product_attention on float32 arrays."
        )
    (q, width, of_q), (k, _, of_k) = rows_of_eights(q, g.width, g.of_q), rows_of_eights(k, g.width, g.of_k)
    v, value_width, of_v = rows_of_eights(v, g.values, g.of_v)
    known = u32(value_width), *counted(g._replace(width=width))
    kernel = tensor_kernel(kind, next(columns for columns in WIDTHS if widest <= columns))
    places = of_q, of_k, of_v, sent(g.of_mask)
    launch(kernel, g.heads * -(-g.queries // EDGE), THREADS, q, k, v, terms, *places, line(out), *known)
    return out
