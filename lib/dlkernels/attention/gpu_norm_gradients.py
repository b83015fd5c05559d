"""Gradients of layer norm and RMS norm on the GPU: a warp for each row, and sums over rows in two stages.

The rung before (gpu_rows.py) goes four times over a row, and then one thread walks down each column: for 1024 columns
1024 threads, where a GPU has room for a hundred times as many. Here a warp keeps a row of x and of the gradient in
registers, as in gpu_row_warps.py, and goes on to a further row; so it can add up there what the row gives to weight and
bias. Nothing of x is read a second time, as it would be by a kernel for the sums alone: three numbers move for each of
x, and few for partial sums. Those of a block's warps are added in shared memory, and those of the blocks by a second
kernel, each in an order that follows from the sizes: no atomics, and the same bits at each run.
"""

import functools
import math

from ..device import cuda
from ..implementations import implementation
from ..launches import device_array, launch
from . import gpu_rows
from .gpu_row_warps import COUNTS, LINE, LISTED, LONGEST, WARPS, f32, fits, line, u32
from .gpu_rows import WARP, warp_sum

BLOCKS = 264  # at most, where there are sums and rows are long: two for each multiprocessor of an H200
MORE = 4  # times as many at most, where rows are short and more blocks fit on a multiprocessor
PARTS_WARPS = 32  # of a block of the second kernel: each adds one partial sum of 32
LIMITS = f"rows of more than {LONGEST} numbers, and 2^32 elements or more, take the kernels of {{}}_block_per_row"


@functools.cache
def gradient_kernel(count, sums):
    """The kernel for rows of up to 32 x `count` numbers. sums: 0 for none, 1 for that of weight, 2 for that of bias,
    too.

    weight: looked at where `weighted`. parts: the sums over the rows of each block, (blocks, sums, n); looked at where
    `sums`.
    """
    room = max(sums, 1), WARP * count

    @cuda.jit
    def norm_gradient_by_warps_kernel(grad, x, weight, eps, centred, weighted, out, parts, rows, n):
        xs, grads = cuda.local.array(count, f32), cuda.local.array(count, f32)
        of_weight, of_bias = cuda.local.array(count, f32), cuda.local.array(count, f32)
        lane, warp = u32(cuda.threadIdx.x), u32(cuda.threadIdx.y)
        r, step = u32(u32(cuda.blockIdx.x) * u32(WARPS) + warp), u32(u32(cuda.gridDim.x) * u32(WARPS))
        for k in range(count):
            of_weight[k], of_bias[k] = f32(0), f32(0)
        while r < rows:
            first = u32(r * n + lane)
            for k in range(count):
                xs[k], grads[k] = f32(0), f32(0)
                if u32(lane + u32(WARP * k)) < n:
                    xs[k], grads[k] = x[u32(first + u32(WARP * k))], grad[u32(first + u32(WARP * k))]
            if centred:
                total = f32(0)
                for k in range(count):
                    total += xs[k]
                mean = warp_sum(total) / f32(n)
                for k in range(count):
                    xs[k] = xs[k] - mean if u32(lane + u32(WARP * k)) < n else f32(0)
            total = f32(0)
            for k in range(count):
                total += xs[k] * xs[k]
            scale = f32(1) / math.sqrt(warp_sum(total) / f32(n) + eps)
            for k in range(count):
                xs[k] *= scale
                if sums > 0:
                    of_weight[k] += grads[k] * xs[k]
                if sums > 1:
                    of_bias[k] += grads[k]
            if weighted:
                for k in range(count):
                    if u32(lane + u32(WARP * k)) < n:
                        grads[k] *= weight[u32(lane + u32(WARP * k))]
            total, along, off = f32(0), f32(0), f32(0)
            for k in range(count):
                total += grads[k]
                along += grads[k] * xs[k]
            along = warp_sum(along) / f32(n)
            if centred:
                off = warp_sum(total) / f32(n)
            for k in range(count):
                if u32(lane + u32(WARP * k)) < n:
                    out[u32(first + u32(WARP * k))] = scale * (grads[k] - off - xs[k] * along)
            r = u32(r + step) if u32(rows - r) > step else rows  # r + step may be more than 32 bits hold
        if sums > 0:
            added = cuda.shared.array(room, f32)
            for turn in range(u32(WARPS)):  # a warp adds what it has to what those before it had
                if warp == turn:
                    for k in range(count):
                        i = u32(lane + u32(WARP * k))
                        added[0, i] = of_weight[k] + added[0, i] if warp > 0 else of_weight[k]
                    if sums > 1:
                        for k in range(count):
                            i = u32(lane + u32(WARP * k))
                            added[sums - 1, i] = of_bias[k] + added[sums - 1, i] if warp > 0 else of_bias[k]
                cuda.syncthreads()
            part_start = u32(u32(cuda.blockIdx.x) * u32(u32(sums) * n))
            for i in range(u32(u32(WARP) * warp + lane), n, u32(WARP * WARPS)):
                parts[u32(part_start + u32(i))] = added[0, i]
                if sums > 1:
                    parts[u32(u32(part_start + n) + u32(i))] = added[sums - 1, i]

    return norm_gradient_by_warps_kernel


@cuda.jit
def add_parts_kernel(parts, sums, blocks, n):
    """The sum of `blocks` lines of n numbers: a warp adds one line of 32 for 32 columns, then one warp what those
    have."""
    found = cuda.shared.array((PARTS_WARPS, WARP), f32)
    lane, warp = u32(cuda.threadIdx.x), u32(cuda.threadIdx.y)
    i, total = u32(u32(u32(WARP) * u32(cuda.blockIdx.x)) + lane), f32(0)
    if i < n:
        for part in range(warp, blocks, u32(PARTS_WARPS)):
            total += parts[u32(u32(u32(part) * n) + i)]
    found[warp, lane] = total
    cuda.syncthreads()
    if warp == 0 and i < n:
        for w in range(1, PARTS_WARPS):
            total += found[w, lane]
        sums[i] = total


GRADIENT = f"void({LINE}, {LINE}, {LINE}, float32, boolean, boolean, {LINE}, {LINE}, uint32, uint32)"
ADD_PARTS = (add_parts_kernel, [f"void({LINE}, {LINE}, uint32, uint32)"])


def kernels(sums):
    return [*((gradient_kernel(count, sums), [GRADIENT]) for count in LISTED), ADD_PARTS]


def blocks_for(rows, count):
    """How many blocks share rows whose sums they keep: none has a row more than it needs to."""
    rounds = -(-rows // (WARPS * BLOCKS * min(MORE, COUNTS[-1] // count)))
    return -(-rows // (WARPS * rounds))


def norm_gradients(weight, bias, eps, grad, x, centred):
    n = tuple(x.shape)[-1]
    if not x.size or not fits(x.size // n, n):
        return gpu_rows.norm_gradients(weight, bias, eps, grad, x, centred)
    rows, count = x.size // n, next(count for count in COUNTS if n <= WARP * count)
    sums = 2 if bias is not None else 1 if weight is not None else 0
    blocks = blocks_for(rows, count) if sums else -(-rows // WARPS)
    out, some = device_array(tuple(x.shape), f32), line(x)  # what is not looked at may be any array
    parts = device_array(blocks * sums * n, f32) if sums else some
    arguments = some if weight is None else weight, f32(eps), centred, weight is not None
    kernel = gradient_kernel(count, sums)
    launch(kernel, blocks, (WARP, WARPS), line(grad), some, *arguments, line(out), parts, u32(rows), u32(n))
    if not sums:
        return out
    found = device_array((sums, n), f32)
    grid = -(-found.size // WARP)
    launch(add_parts_kernel, grid, (WARP, PARTS_WARPS), parts, line(found), u32(blocks), u32(found.size))
    return out, *(found[s] for s, array in enumerate((weight, bias)) if array is not None)


@implementation(
    "layer_norm_backward",
    "gpu",
    adds="a warp for each row, in registers; it keeps its share of the sums over rows, and a second kernel adds the "
    "shares",
    limits=LIMITS.format("layer_norm_backward"),
    dtypes=("float32",),
    kernels=kernels(2),
    public=True,
)
def layer_norm_backward_warp_per_row(weight, bias, eps, grad, x):
    return norm_gradients(weight, bias, eps, grad, x, True)


@implementation(
    "rms_norm_backward",
    "gpu",
    adds="a warp for each row, in registers; it keeps its share of the sum over rows, and a second kernel adds the "
    "shares",
    limits=LIMITS.format("rms_norm_backward"),
    dtypes=("float32",),
    kernels=kernels(1),
    public=True,
)
def rms_norm_backward_warp_per_row(weight, eps, grad, x):
    return norm_gradients(weight, None, eps, grad, x, False)
