"""Optimisers on the GPU.

The ladder of each       what the rung adds
    *_launches   a kernel for each line of the formula: what one writes, the next reads
    *_fused      one kernel for all lines: a thread has an element's numbers in registers
    *_wide       16 bytes per load and store: a quarter of the requests

Each array is a launch. So one buffer, of which all parameters are views, is one launch for a whole network.

The ladder of clip_grad_norm
    clip_grad_norm_one_block    a block adds the squares of an array; a thread adds the sums of arrays
    clip_grad_norm_two_stages   many blocks for each array, each with a sum of its own in a place of its own; one block
                                adds these in their order: no atomics, the same bits in each run

Squares are added in float64: their sum would overflow, or vanish, in float32. It is one addition for a number that
comes from memory.
"""

import math

import numpy as np

from ..device import cuda
from ..implementations import Several, implementation
from ..layouts import aligned
from ..wide import WIDTH, load4, store4
from .groups import as_tuple
from .steps import adam_step_gpu, sgd_step_gpu

THREADS, MOST_BLOCKS = 256, 1024
WARP, ALL = 32, 0xFFFFFFFF
WARPS = THREADS // WARP
CHUNK = 1 << 14  # elements that a block adds up, at least
REALS = ("float32", "float64")
LIMITS = "each array is a launch: a buffer of which the parameters are views is one"
ALIGNED = "arrays that do not begin at a multiple of 16 bytes take the kernel of {}_fused; " + LIMITS
f64 = np.float64


def signatures(lines, numbers, integers=0):
    """For float32 and float64: numbers of that type, then `integers` int64, then lines of it."""
    return [f"void({', '.join([t] * numbers + ['int64'] * integers + [f'{t}[::1]'] * lines)})" for t in REALS]


def blocks_for(count):
    return min(-(-count // THREADS), MOST_BLOCKS)


def each(launch):
    """Let `launch(settings..., lines of all groups, lines of results)` take all arrays, one after the other."""

    def on_all(*arguments):
        *settings, results = arguments
        groups = [x for x in settings if x is None or isinstance(x, Several)]
        settings = settings[: len(settings) - len(groups)]
        for k, p in enumerate(groups[0]):
            if p.size:
                lines = [None if x is None else _line(x[k]) for x in groups]
                launch(*settings, *lines, *(None if x is None else _line(as_tuple(x)[k]) for x in results))
        return results

    return on_all


def _line(x):
    return x if x.ndim == 1 else x.reshape(x.size)


def put(name, suffix, adds, launch, kernels, limits=LIMITS, public=False):
    rung = each(launch)
    rung.__name__ = f"{name}_{suffix}"
    implementation(name, "gpu", adds=adds, limits=limits, kernels=kernels, public=public)(rung)


LAUNCHES = "a kernel for each line of the formula: what one writes to memory, the next one reads"
FUSED = "one kernel for all lines: each number is read once, and written once"
WIDE = "16 bytes per load and store: a quarter of the requests"


# ---- Adam and AdamW --------------------------------------------------------------------------------------------------


@cuda.jit
def scaled_sum_kernel(a, b, x, y, out):
    """out = a * x + b * y: decay, momentum."""
    for i in range(cuda.grid(1), out.size, cuda.gridsize(1)):
        out[i] = a * x[i] + b * y[i]


@cuda.jit
def mean_kernel(rest1, g, m, out_m):
    for i in range(cuda.grid(1), out_m.size, cuda.gridsize(1)):
        before = m[i]
        out_m[i] = before + rest1 * (g[i] - before)


@cuda.jit
def square_kernel(beta2, rest2, g, v, out_v):
    for i in range(cuda.grid(1), out_v.size, cuda.gridsize(1)):
        gradient = g[i]
        out_v[i] = beta2 * v[i] + rest2 * gradient * gradient


@cuda.jit
def below_kernel(root, eps, v, below):
    for i in range(cuda.grid(1), below.size, cuda.gridsize(1)):
        below[i] = math.sqrt(v[i]) / root + eps


@cuda.jit
def quotient_kernel(kept, rate, p, m, below, out):
    for i in range(cuda.grid(1), out.size, cuda.gridsize(1)):
        out[i] = kept * p[i] - rate * m[i] / below[i]


def adam_launches(constants, p, g, m, v, out, out_m, out_v):
    kept, decay, rest1, beta2, rest2, root, eps, rate = constants
    grid, real = (blocks_for(p.size), THREADS), p.dtype.type
    if decay != 0:
        g, unscaled = cuda.device_array(p.size, p.dtype), g
        scaled_sum_kernel[grid](real(1), decay, unscaled, p, g)
    mean_kernel[grid](rest1, g, m, out_m)
    square_kernel[grid](beta2, rest2, g, v, out_v)
    below = cuda.device_array(p.size, p.dtype)
    below_kernel[grid](root, eps, out_v, below)
    quotient_kernel[grid](kept, rate, p, out_m, below, out)


@cuda.jit
def adam_kernel(kept, decay, rest1, beta2, rest2, root, eps, rate, p, g, m, v, out, out_m, out_v):
    for i in range(cuda.grid(1), out.size, cuda.gridsize(1)):
        moved, first, second = adam_step_gpu(p[i], g[i], m[i], v[i], kept, decay, rest1, beta2, rest2, root, eps, rate)
        out[i] = moved
        out_m[i] = first
        out_v[i] = second


def adam_fused(constants, *lines):
    adam_kernel[blocks_for(lines[-1].size), THREADS](*constants, *lines)


@cuda.jit
def adam_wide_kernel(kept, decay, rest1, beta2, rest2, root, eps, rate, p, g, m, v, out, out_m, out_v):
    fours = out.size // WIDTH
    for i in range(cuda.grid(1), fours, cuda.gridsize(1)):
        p0, p1, p2, p3 = load4(p, WIDTH * i)
        g0, g1, g2, g3 = load4(g, WIDTH * i)
        m0, m1, m2, m3 = load4(m, WIDTH * i)
        v0, v1, v2, v3 = load4(v, WIDTH * i)
        p0, m0, v0 = adam_step_gpu(p0, g0, m0, v0, kept, decay, rest1, beta2, rest2, root, eps, rate)
        p1, m1, v1 = adam_step_gpu(p1, g1, m1, v1, kept, decay, rest1, beta2, rest2, root, eps, rate)
        p2, m2, v2 = adam_step_gpu(p2, g2, m2, v2, kept, decay, rest1, beta2, rest2, root, eps, rate)
        p3, m3, v3 = adam_step_gpu(p3, g3, m3, v3, kept, decay, rest1, beta2, rest2, root, eps, rate)
        store4(out, WIDTH * i, (p0, p1, p2, p3))
        store4(out_m, WIDTH * i, (m0, m1, m2, m3))
        store4(out_v, WIDTH * i, (v0, v1, v2, v3))
    i = WIDTH * fours + cuda.grid(1)
    if i < out.size:
        moved, first, second = adam_step_gpu(p[i], g[i], m[i], v[i], kept, decay, rest1, beta2, rest2, root, eps, rate)
        out[i] = moved
        out_m[i] = first
        out_v[i] = second


def adam_wide(constants, *lines):
    if not aligned(*lines):
        return adam_fused(constants, *lines)
    adam_wide_kernel[blocks_for(-(-lines[-1].size // WIDTH)), THREADS](*constants, *lines)
    return None


ADAM_LINES = [
    (scaled_sum_kernel, signatures(3, 2)),
    (mean_kernel, signatures(3, 1)),
    (square_kernel, signatures(3, 2)),
    (below_kernel, signatures(2, 2)),
    (quotient_kernel, signatures(4, 2)),
]
for _name in ("adam", "adamw"):
    put(_name, "launches", LAUNCHES, adam_launches, ADAM_LINES)
    put(_name, "fused", FUSED, adam_fused, [(adam_kernel, signatures(7, 8))])
    put(_name, "wide", WIDE, adam_wide, [(adam_wide_kernel, signatures(7, 8))], ALIGNED.format(_name), public=True)


# ---- SGD -------------------------------------------------------------------------------------------------------------


def sgd_launches(constants, kind, nesterov, p, g, buffer, out, out_buffer):
    lr, momentum, rest, decay = constants
    grid, one = (blocks_for(p.size), THREADS), p.dtype.type(1)
    if decay != 0:
        g, alone = cuda.device_array(p.size, p.dtype), g
        scaled_sum_kernel[grid](one, decay, alone, p, g)
    if kind == 1:
        copy_kernel[grid](g, out_buffer)
    if kind == 2:
        scaled_sum_kernel[grid](momentum, rest, buffer, g, out_buffer)
    if kind and nesterov:
        ahead = cuda.device_array(p.size, p.dtype)
        scaled_sum_kernel[grid](one, momentum, g, out_buffer, ahead)
        g = ahead
    elif kind:
        g = out_buffer
    scaled_sum_kernel[grid](one, -lr, p, g, out)


@cuda.jit
def copy_kernel(x, out):
    for i in range(cuda.grid(1), out.size, cuda.gridsize(1)):
        out[i] = x[i]


@cuda.jit
def sgd_kernel(lr, momentum, rest, decay, kind, nesterov, p, g, buffer, out, out_buffer):
    for i in range(cuda.grid(1), out.size, cuda.gridsize(1)):
        before = g[i]
        if kind > 1:
            before = buffer[i]
        moved, after = sgd_step_gpu(p[i], g[i], before, kind, nesterov, lr, momentum, rest, decay)
        out[i] = moved
        if kind > 0:
            out_buffer[i] = after


def sgd_fused(constants, kind, nesterov, p, g, buffer, out, out_buffer):
    # what is not looked at may be any array
    some = g if buffer is None else buffer, out, out if out_buffer is None else out_buffer
    sgd_kernel[blocks_for(p.size), THREADS](*constants, kind, int(nesterov), p, g, *some)


SGD_LINES = [(scaled_sum_kernel, signatures(3, 2)), (copy_kernel, signatures(2, 0))]
put("sgd", "launches", LAUNCHES, sgd_launches, SGD_LINES)
put("sgd", "fused", FUSED, sgd_fused, [(sgd_kernel, signatures(5, 4, 2))])


@cuda.jit
def sgd_wide_kernel(lr, momentum, rest, decay, kind, nesterov, p, g, buffer, out, out_buffer):
    fours = out.size // WIDTH
    for i in range(cuda.grid(1), fours, cuda.gridsize(1)):
        p0, p1, p2, p3 = load4(p, WIDTH * i)
        g0, g1, g2, g3 = load4(g, WIDTH * i)
        b0, b1, b2, b3 = g0, g1, g2, g3
        if kind > 1:
            b0, b1, b2, b3 = load4(buffer, WIDTH * i)
        p0, b0 = sgd_step_gpu(p0, g0, b0, kind, nesterov, lr, momentum, rest, decay)
        p1, b1 = sgd_step_gpu(p1, g1, b1, kind, nesterov, lr, momentum, rest, decay)
        p2, b2 = sgd_step_gpu(p2, g2, b2, kind, nesterov, lr, momentum, rest, decay)
        p3, b3 = sgd_step_gpu(p3, g3, b3, kind, nesterov, lr, momentum, rest, decay)
        store4(out, WIDTH * i, (p0, p1, p2, p3))
        if kind > 0:
            store4(out_buffer, WIDTH * i, (b0, b1, b2, b3))
    i = WIDTH * fours + cuda.grid(1)
    if i < out.size:
        before = g[i]
        if kind > 1:
            before = buffer[i]
        moved, after = sgd_step_gpu(p[i], g[i], before, kind, nesterov, lr, momentum, rest, decay)
        out[i] = moved
        if kind > 0:
            out_buffer[i] = after


def sgd_wide(constants, kind, nesterov, p, g, buffer, out, out_buffer):
    some = g if buffer is None else buffer, out, out if out_buffer is None else out_buffer
    if not aligned(p, g, *some):
        return sgd_fused(constants, kind, nesterov, p, g, buffer, out, out_buffer)
    sgd_wide_kernel[blocks_for(-(-p.size // WIDTH)), THREADS](*constants, kind, int(nesterov), p, g, *some)
    return None


put("sgd", "wide", WIDE, sgd_wide, [(sgd_wide_kernel, signatures(5, 4, 2))], ALIGNED.format("sgd"), public=True)


# ---- the norm of all gradients ---------------------------------------------------------------------------------------


@cuda.jit(device=True)
def block_sum(value, parts):
    """The sum over a block, for its first thread. parts: shared float64, one for each warp."""
    t = cuda.threadIdx.x
    value += cuda.shfl_xor_sync(ALL, value, 16)
    value += cuda.shfl_xor_sync(ALL, value, 8)
    value += cuda.shfl_xor_sync(ALL, value, 4)
    value += cuda.shfl_xor_sync(ALL, value, 2)
    value += cuda.shfl_xor_sync(ALL, value, 1)
    if t % WARP == 0:
        parts[t // WARP] = value
    cuda.syncthreads()
    total = f64(0)
    if t == 0:
        for warp in range(cuda.blockDim.x // WARP):
            total += parts[warp]
    return total


@cuda.jit
def squares_kernel(first, x, sums):
    """sums[first + block]: the sum of squares of those elements that this block has."""
    parts = cuda.shared.array(WARPS, f64)
    total = f64(0)
    for i in range(cuda.grid(1), x.size, cuda.gridsize(1)):
        value = f64(x[i])
        total += value * value
    total = block_sum(total, parts)
    if cuda.threadIdx.x == 0:
        sums[first + cuda.blockIdx.x] = total


@cuda.jit
def norm_kernel(most, sums, norm, factor):
    """The norm, and what all gradients are multiplied by, of the sums of all blocks."""
    parts = cuda.shared.array(WARPS, f64)
    total = f64(0)
    for i in range(cuda.threadIdx.x, sums.size, cuda.blockDim.x):
        total += sums[i]
    total = math.sqrt(block_sum(total, parts))
    if cuda.threadIdx.x == 0:
        norm[0] = total
        share = most / (total + 1e-6)
        factor[0] = 1.0 if share > 1.0 else share  # NaN stays NaN


@cuda.jit
def scale_kernel(factor, x, out):
    for i in range(cuda.grid(1), out.size, cuda.gridsize(1)):
        out[i] = x[i] * factor[0]


def _clip(most, grads, results, most_blocks):
    norm, outs = results[0].reshape(1), as_tuple(results[1])
    counts = [max(1, min(-(-g.size // CHUNK), most_blocks)) for g in grads]
    sums, factor = cuda.device_array(sum(counts), f64), cuda.device_array(1, norm.dtype)
    first = 0
    for g, count in zip(grads, counts, strict=True):
        squares_kernel[count, THREADS](first, _line(g), sums)
        first += count
    norm_kernel[1, THREADS](most, sums, norm, factor)
    for g, out in zip(grads, outs, strict=True):
        if g.size:
            scale_kernel[blocks_for(g.size), THREADS](factor, _line(g), _line(out))
    return results


CLIP = [
    (squares_kernel, [f"void(int64, {t}[::1], float64[::1])" for t in REALS]),
    (norm_kernel, [f"void(float64, float64[::1], {t}[::1], {t}[::1])" for t in REALS]),
    (scale_kernel, signatures(3, 0)),
]


@implementation(
    "clip_grad_norm", "gpu", adds="a block adds the squares of an array; one adds what the arrays have", kernels=CLIP
)
def clip_grad_norm_one_block(most, grads, results):
    return _clip(most, grads, results, 1)


@implementation(
    "clip_grad_norm",
    "gpu",
    adds="many blocks for each array, each with a sum in a place of its own: no atomics, the same bits in each run",
    kernels=CLIP,
    limits=LIMITS,
    public=True,
)
def clip_grad_norm_two_stages(most, grads, results):
    return _clip(most, grads, results, MOST_BLOCKS)
