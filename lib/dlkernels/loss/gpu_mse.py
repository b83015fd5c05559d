"""The mean squared error on the GPU, in float32, forward and backward.

The ladder of mse_loss             what the rung adds
    mse_two_stages     each block adds squares as a grid walks over the arrays; one block adds what the blocks found

No atomics: the number of blocks follows from the size, and the result has the same bits at each run.
"""

import numpy as np

from ..attention.gpu_rows import MOST_WARPS, WARP, block_sum
from ..device import cuda
from ..implementations import implementation
from .gpu_cross_entropy import ADD_LOSSES, added

f32 = np.float32
THREADS, MOST_BLOCKS = MOST_WARPS * WARP, 1024
LINE = "float32[::1]"


def blocks_for(size):
    return min(-(-size // THREADS), MOST_BLOCKS)


def line(x):
    return x.reshape(x.size)


@cuda.jit
def squares_kernel(x, target, out):
    for i in range(cuda.grid(1), out.size, cuda.gridsize(1)):
        out[i] = (x[i] - target[i]) * (x[i] - target[i])


@cuda.jit
def sums_kernel(x, target, sums):
    parts = cuda.shared.array(MOST_WARPS, f32)
    total = f32(0)
    for i in range(cuda.grid(1), x.size, cuda.gridsize(1)):
        total += (x[i] - target[i]) * (x[i] - target[i])
    total = block_sum(total, parts)
    if cuda.threadIdx.x == 0:
        sums[cuda.blockIdx.x] = total


SQUARES = f"void({LINE}, {LINE}, {LINE})"


@implementation(
    "mse_loss",
    "gpu",
    adds="each block adds squares as the grid walks over the arrays; one block adds what the blocks found",
    dtypes=("float32",),
    kernels=[(sums_kernel, [SQUARES]), (squares_kernel, [SQUARES]), ADD_LOSSES],
    public=True,
)
def mse_two_stages(reduction, input, target):
    size = input.size
    if reduction == "none":
        out = cuda.device_array(tuple(input.shape), f32)
        if size:
            squares_kernel[blocks_for(size), THREADS](line(input), line(target), line(out))
        return out
    sums = cuda.device_array(max(blocks_for(size), 1), f32)
    if size:
        sums_kernel[blocks_for(size), THREADS](line(input), line(target), sums)
    return added(sums if size else sums[:0], size if reduction == "mean" else 1)


@cuda.jit
def gradient_kernel(grad, factor, x, target, of_x, of_target):
    for i in range(cuda.grid(1), x.size, cuda.gridsize(1)):
        g = factor * (grad[i] if grad.size > 1 else grad[0]) * (x[i] - target[i])
        of_x[i] = g
        of_target[i] = -g


@implementation(
    "mse_loss_backward",
    "gpu",
    adds="both gradients in one pass, by a grid that walks over the arrays",
    dtypes=("float32",),
    kernels=[(gradient_kernel, [f"void({LINE}, float32, {LINE}, {LINE}, {LINE}, {LINE})"])],
    public=True,
)
def mse_backward_grid_stride(reduction, grad, input, target):
    of_x, of_target = (cuda.device_array(tuple(input.shape), f32) for _ in range(2))
    if input.size:
        factor = f32(2 / input.size if reduction == "mean" else 2)
        arguments = line(grad), factor, line(input), line(target)
        gradient_kernel[blocks_for(input.size), THREADS](*arguments, line(of_x), line(of_target))
    return of_x, of_target
