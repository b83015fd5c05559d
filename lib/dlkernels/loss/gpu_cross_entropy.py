"""Cross-entropy on the GPU, in float32, forward and backward.

The ladder of cross_entropy                what the rung adds
    cross_entropy_thread_per_row     one thread takes a row through two passes
    cross_entropy_block_per_row      a block for each row, in one pass: each thread corrects its sum when a larger
                                     number comes (Milakov and Gimelshein, 2018); neighbouring threads read neighbouring
                                     numbers
    cross_entropy_warp_per_row       a warp for each row of up to LONGEST numbers: no barrier

A kernel writes the loss of each row and its log-sum-exp, a second one adds the losses: one block, in an order that
follows from their number. So no atomics, and the same bits at each run.
"""

import functools
import math

import numpy as np

from ..attention.gpu_rows import (
    COLUMNS,
    MATRIX,
    MOST_BLOCKS,
    MOST_WARPS,
    WARP,
    block_max,
    block_sum,
    warp_max,
    warp_sum,
)
from ..device import cuda
from ..implementations import implementation
from ..layouts import contiguous, transposed

f32 = np.float32
WARPS = 4  # of a block whose warps have a row each
LONGEST = 1024  # numbers of a row that a warp takes; longer ones have a block
LINE, WHOLE = "float32[::1]", "int64[::1]"


def as_rows(x):
    """Logits as contiguous (rows, classes): (N, C, d1, ...) are turned."""
    shape = tuple(x.shape)
    rows = x.size // (shape[1] if len(shape) > 1 else shape[0])
    if len(shape) > 2:
        x = transposed(x.reshape(shape[0], shape[1], math.prod(shape[2:])))
    return x.reshape(rows, x.size // rows)


def on_classes(rung, keeps=False):
    """Let `rung(x, target, ignored, smoothing, losses, lse)` take logits of any dimensions, and reduce its losses."""

    @functools.wraps(rung)
    def wrapper(target, ignored, reduction, smoothing, count, input):
        shape, size = tuple(target.shape), target.size
        losses, lse = cuda.device_array(max(size, 1), f32), cuda.device_array(max(size, 1), f32)
        if size:
            rung(as_rows(input), target.reshape(size), ignored, smoothing, losses, lse)
        losses, lse = (losses, lse) if size else (losses[:0], lse[:0])
        result = losses.reshape(shape) if reduction == "none" else added(losses, count if reduction == "mean" else 1)
        return (result, lse.reshape(shape)) if keeps else result

    return wrapper


# ---- the sum of all losses -------------------------------------------------------------------------------------------


@cuda.jit
def add_losses_kernel(losses, divisor, out):
    parts = cuda.shared.array(MOST_WARPS, f32)
    total = f32(0)
    for i in range(cuda.threadIdx.x, losses.size, cuda.blockDim.x):
        total += losses[i]
    total = block_sum(total, parts)
    if cuda.threadIdx.x == 0:
        out[0] = total / divisor


ADD_LOSSES = (add_losses_kernel, [f"void({LINE}, float32, {LINE})"])


def added(losses, divisor):
    """Their sum, or mean, as an array ()."""
    out = cuda.device_array(1, f32)
    add_losses_kernel[1, MOST_WARPS * WARP](losses, f32(divisor if divisor else math.nan), out)
    return out.reshape(())


@cuda.jit(device=True)
def loss_of(top, total, inner, chosen, n, smoothing):
    """The loss of a row. inner: the sum of its logits; chosen: that of its target."""
    logarithm = math.log(total)
    loss = logarithm + (top - chosen)
    if smoothing > f32(0):
        loss = (f32(1) - smoothing) * loss + smoothing * (logarithm + (top - inner / f32(n)))
    return loss


# ---- a thread for each row -------------------------------------------------------------------------------------------


@cuda.jit
def thread_per_row_kernel(x, target, ignored, smoothing, losses, lse):
    r = cuda.grid(1)
    rows, n = x.shape
    if r < rows:
        top, total, inner = x[r, 0], f32(0), f32(0)
        for i in range(1, n):
            top = max(top, x[r, i])
        for i in range(n):
            value = x[r, i]
            total += math.exp(value - top)
            inner += value
        lse[r] = top + math.log(total)
        losses[r] = f32(0)
        if target[r] != ignored:
            losses[r] = loss_of(top, total, inner, x[r, target[r]], n, smoothing)


FORWARD = f"void({MATRIX}, {WHOLE}, int64, float32, {LINE}, {LINE})"


@implementation(
    "cross_entropy",
    "gpu",
    adds="one thread takes a row through two passes; nothing of the size of the logits is written",
    dtypes=("float32",),
    kernels=[(thread_per_row_kernel, [FORWARD]), ADD_LOSSES],
)
@on_classes
def cross_entropy_thread_per_row(x, target, ignored, smoothing, losses, lse):
    thread_per_row_kernel[-(-x.shape[0] // COLUMNS), COLUMNS](x, target, ignored, smoothing, losses, lse)


# ---- a block, a warp for each row ------------------------------------------------------------------------------------


@cuda.jit(device=True)
def online(x, r, first, step):
    """(largest, sum of e^(x - largest), sum) of the numbers first, first + step, ... of row r, each read once."""
    top, total, inner = f32(-math.inf), f32(0), f32(0)
    for i in range(first, x.shape[1], step):
        value = x[r, i]
        inner += value
        if value > top:
            total = total * math.exp(top - value) + math.exp(value - value)  # NaN, not 1, if it is infinite
            top = value
        elif value != top or top > f32(-math.inf):
            total += math.exp(value - top)
    return top, total, inner


@cuda.jit
def block_per_row_kernel(x, target, ignored, smoothing, losses, lse):
    parts = cuda.shared.array(MOST_WARPS, f32)
    rows, n = x.shape
    for r in range(cuda.blockIdx.x, rows, cuda.gridDim.x):
        thread_top, total, inner = online(x, r, cuda.threadIdx.x, cuda.blockDim.x)
        top = block_max(thread_top, parts)
        total = block_sum(total * math.exp(thread_top - top), parts)
        if smoothing > f32(0):
            inner = block_sum(inner, parts)
        if cuda.threadIdx.x == 0:
            lse[r] = top + math.log(total)
            losses[r] = f32(0)
            if target[r] != ignored:
                losses[r] = loss_of(top, total, inner, x[r, target[r]], n, smoothing)


def block_for_each(kernel, x, *arguments):
    warps = min(MOST_WARPS, -(-x.shape[1] // WARP))
    kernel[min(x.shape[0], MOST_BLOCKS), warps * WARP](x, *arguments)


@implementation(
    "cross_entropy",
    "gpu",
    adds="a block for each row, which reads it once: sums so far are corrected when a larger number comes",
    dtypes=("float32",),
    kernels=[(block_per_row_kernel, [FORWARD]), ADD_LOSSES],
)
@on_classes
def cross_entropy_block_per_row(x, target, ignored, smoothing, losses, lse):
    block_for_each(block_per_row_kernel, x, target, ignored, smoothing, losses, lse)


@cuda.jit
def warp_per_row_kernel(x, target, ignored, smoothing, losses, lse):
    lane, r = cuda.threadIdx.x, cuda.blockIdx.x * WARPS + cuda.threadIdx.y
    rows, n = x.shape
    if r < rows:
        lane_top, total, inner = online(x, r, lane, WARP)
        top = warp_max(lane_top)
        total = warp_sum(total * math.exp(lane_top - top))
        if smoothing > f32(0):
            inner = warp_sum(inner)
        if lane == 0:
            lse[r] = top + math.log(total)
            losses[r] = f32(0)
            if target[r] != ignored:
                losses[r] = loss_of(top, total, inner, x[r, target[r]], n, smoothing)


def by_rows(warps_kernel, blocks_kernel, x, *arguments):
    if x.shape[1] > LONGEST:
        block_for_each(blocks_kernel, x, *arguments)
    else:
        warps_kernel[-(-x.shape[0] // WARPS), (WARP, WARPS)](x, *arguments)


LIMITS = f"rows of more than {LONGEST} numbers have a block each"
BOTH = [(warp_per_row_kernel, [FORWARD]), (block_per_row_kernel, [FORWARD]), ADD_LOSSES]


@implementation(
    "cross_entropy",
    "gpu",
    adds="a warp for each row: what its lanes found is put together by shuffles, without a barrier",
    limits=LIMITS,
    dtypes=("float32",),
    kernels=BOTH,
    public=True,
)
@on_classes
def cross_entropy_warp_per_row(x, target, ignored, smoothing, losses, lse):
    by_rows(warp_per_row_kernel, block_per_row_kernel, x, target, ignored, smoothing, losses, lse)


@implementation(
    "cross_entropy_with_lse",
    "gpu",
    adds="a warp for each row; the log-sum-exp is returned, too",
    limits=LIMITS,
    dtypes=("float32",),
    kernels=BOTH,
    public=True,
)
@functools.partial(on_classes, keeps=True)
def cross_entropy_with_lse_warp_per_row(x, target, ignored, smoothing, losses, lse):
    by_rows(warp_per_row_kernel, block_per_row_kernel, x, target, ignored, smoothing, losses, lse)


# ---- gradients -------------------------------------------------------------------------------------------------------


def on_gradients(rung):
    """Let `rung(x, target, lse, grad, ignored, smoothing, factor, out)` take logits of any dimensions.

    lse: found first where none is kept.
    """

    @functools.wraps(rung)
    def wrapper(target, ignored, reduction, smoothing, count, lse, grad, input):
        shape, size = tuple(input.shape), target.size
        if not size:
            return cuda.device_array(shape, f32)
        x, target = as_rows(input), target.reshape(size)
        if lse is None:
            losses, lse = cuda.device_array(size, f32), cuda.device_array(size, f32)
            by_rows(warp_per_row_kernel, block_per_row_kernel, x, target, ignored, f32(0), losses, lse)
        out = cuda.device_array(tuple(x.shape), f32)
        factor = f32(1 / max(count, 1) if reduction == "mean" else 1)
        lines = contiguous(lse).reshape(size), contiguous(grad).reshape(grad.size)
        rung(x, target, *lines, ignored, smoothing, factor, out)
        if len(shape) > 2:
            out = transposed(out.reshape(shape[0], math.prod(shape[2:]), shape[1]))
        return out.reshape(shape)

    return wrapper


@cuda.jit
def gradient_kernel(x, target, lse, grad, ignored, smoothing, factor, out):
    i, r = cuda.grid(2)
    rows, n = x.shape
    if i < n and r < rows:
        g = factor * (grad[r] if grad.size > 1 else grad[0])
        if target[r] == ignored:
            out[r, i] = f32(0)
        else:
            wanted = smoothing / f32(n) + (f32(1) - smoothing if target[r] == i else f32(0))
            out[r, i] = g * (math.exp(x[r, i] - lse[r]) - wanted)


GRADIENT = f"void({MATRIX}, {WHOLE}, {LINE}, {LINE}, int64, float32, float32, {MATRIX})"
MOST_IN_Y = 65535  # blocks in a grid's second dimension
COLUMNS_ROWS = WARP, 8


def by_elements(x, target, lse, grad, ignored, smoothing, factor, out):
    """A thread for each number, so many rows at a time as a grid has blocks for."""
    rows, n = x.shape
    step, by_row = MOST_IN_Y * COLUMNS_ROWS[1], grad.size > 1
    for first in range(0, rows, step):
        span = slice(first, min(first + step, rows))
        grid = -(-n // COLUMNS_ROWS[0]), -(-(span.stop - first) // COLUMNS_ROWS[1])
        arguments = target[span], lse[span], grad[span] if by_row else grad
        gradient_kernel[grid, COLUMNS_ROWS](x[span], *arguments, ignored, smoothing, factor, out[span])


@implementation(
    "cross_entropy_backward",
    "gpu",
    adds="the log-sum-exp of each row is found again, a warp for each; then a thread for each number",
    limits=LIMITS,
    dtypes=("float32",),
    kernels=[*BOTH[:2], (gradient_kernel, [GRADIENT])],
    public=True,
)
@on_gradients
def cross_entropy_backward_two_kernels(x, target, lse, grad, ignored, smoothing, factor, out):
    by_elements(x, target, lse, grad, ignored, smoothing, factor, out)


@implementation(
    "cross_entropy_backward_from_lse",
    "gpu",
    adds="softmax from the log-sum-exp that was kept: a thread for each number, which it reads and writes once",
    dtypes=("float32",),
    kernels=[(gradient_kernel, [GRADIENT])],
    public=True,
)
@on_gradients
def cross_entropy_backward_from_lse_threads(x, target, lse, grad, ignored, smoothing, factor, out):
    by_elements(x, target, lse, grad, ignored, smoothing, factor, out)
