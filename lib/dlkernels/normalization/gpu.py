"""Batch normalisation on the GPU, in float32.

The ladder of batch_norm           what the rung adds
    batch_norm_block_per_channel   a block finds mean and variance of a channel, and writes its results
    batch_norm_two_stages          many blocks for a channel, each with the moments of its chunk; then a thread for each
                                   channel joins them; then a thread for each element

A network's layer has 32 to 512 channels: with a block for each, most of a GPU stands idle. Backward is of two stages,
too: both sums of a chunk in one pass. A mean and squared deviations from it are joined (Chan, Golub and LeVeque 1979),
so a large mean costs no digits; the few numbers of each channel are float64. All sums are added in an order that
follows from the shape: no atomics, and the same bits in each run.
"""

import functools
import math

import numpy as np

from ..device import cuda
from ..implementations import implementation

f32, f64 = np.float32, np.float64
THREADS, WARP, ALL = 256, 32, 0xFFFFFFFF
WARPS = THREADS // WARP
CHUNK = 1 << 13  # numbers of a channel that a block of the first stage adds up
MOST_BLOCKS = 1024  # of the kernels with a thread for each element
LINE, TABLE = "float32[::1]", "float64[:, ::1]"
PARTS = "float64[:, :, ::1]"
LIMITS = "where input is (batch, channels), neighbouring threads read numbers that lie `channels` apart"


@cuda.jit(device=True)
def block_sum(value, parts):
    """The sum over a block, for each of its threads. parts: shared, one for each warp."""
    value += cuda.shfl_xor_sync(ALL, value, 16)
    value += cuda.shfl_xor_sync(ALL, value, 8)
    value += cuda.shfl_xor_sync(ALL, value, 4)
    value += cuda.shfl_xor_sync(ALL, value, 2)
    value += cuda.shfl_xor_sync(ALL, value, 1)
    if cuda.threadIdx.x % WARP == 0:
        parts[cuda.threadIdx.x // WARP] = value
    cuda.syncthreads()
    total = f32(0)
    for warp in range(cuda.blockDim.x // WARP):
        total += parts[warp]
    cuda.syncthreads()  # parts may be written again
    return total


@cuda.jit(device=True)
def index(c, k, channels, size):
    """Where number k of channel c lies."""
    return (k // size * channels + c) * size + k % size


@cuda.jit(device=True)
def chunk_moments(x, c, first, last, channels, size, parts):
    """(mean, sum of squared deviations) of numbers first ... last - 1 of channel c, for each thread of the block."""
    t, threads = cuda.threadIdx.x, cuda.blockDim.x
    total = f32(0)
    for k in range(first + t, last, threads):
        total += x[index(c, k, channels, size)]
    mean = block_sum(total, parts) / f32(last - first)
    off = f32(0)  # what rounding has left of the sum of deviations
    squares = f32(0)
    for k in range(first + t, last, threads):
        deviation = x[index(c, k, channels, size)] - mean
        off += deviation
        squares += deviation * deviation
    off, squares = block_sum(off, parts), block_sum(squares, parts)
    count = f64(last - first)
    return f64(mean) + f64(off) / count, f64(squares) - f64(off) * f64(off) / count


# ---- 1: a block for each channel -------------------------------------------------------------------------------------


@cuda.jit
def block_per_channel_kernel(x, weight, bias, eps, weighted, biased, out, channels, size, count):
    parts = cuda.shared.array(WARPS, f32)
    c = cuda.blockIdx.x
    mean, squares = chunk_moments(x, c, 0, count, channels, size, parts)
    factor, near = 1.0 / math.sqrt(squares / count + eps), f32(mean)
    term = (near - mean) * factor  # the mean's rounding
    if weighted:
        factor *= weight[c]
        term *= weight[c]
    if biased:
        term += bias[c]
    for k in range(cuda.threadIdx.x, count, cuda.blockDim.x):
        i = index(c, k, channels, size)
        out[i] = (x[i] - near) * f32(factor) + f32(term)


CHANNEL = f"void({LINE}, {LINE}, {LINE}, float64, boolean, boolean, {LINE}, int64, int64, int64)"


# ---- 2: two stages ---------------------------------------------------------------------------------------------------


@cuda.jit
def moments_kernel(x, parts, channels, size, count):
    """parts[c, chunk]: mean and sum of squared deviations of a chunk of channel c. A block for each."""
    shared = cuda.shared.array(WARPS, f32)
    chunks = parts.shape[1]
    c, chunk = cuda.blockIdx.x // chunks, cuda.blockIdx.x % chunks
    first = chunk * CHUNK
    mean, squares = chunk_moments(x, c, first, min(first + CHUNK, count), channels, size, shared)
    if cuda.threadIdx.x == 0:
        parts[c, chunk, 0] = mean
        parts[c, chunk, 1] = squares


@cuda.jit
def join_kernel(parts, table, count):
    """table[0], table[1]: mean and variance of each channel, from its chunks in their order. A thread for each."""
    c = cuda.grid(1)
    if c < table.shape[1]:
        mean, squares, before = f64(0), f64(0), f64(0)
        for chunk in range(parts.shape[1]):
            chunk_count = f64(min(count - chunk * CHUNK, CHUNK))
            off, after = parts[c, chunk, 0] - mean, before + chunk_count
            mean += off * (chunk_count / after)
            squares += parts[c, chunk, 1] + off * off * (before * (chunk_count / after))
            before = after
        table[0, c] = mean
        table[1, c] = squares / before


@cuda.jit
def widen_kernel(mean, var, table):
    """Statistics that were given, in float64."""
    c = cuda.grid(1)
    if c < table.shape[1]:
        table[0, c] = mean[c]
        table[1, c] = var[c]


@cuda.jit
def narrow_kernel(table, mean, var):
    """Statistics that were found, in float32."""
    c = cuda.grid(1)
    if c < table.shape[1]:
        mean[c] = table[0, c]
        var[c] = table[1, c]


@cuda.jit
def coefficients_kernel(weight, bias, eps, weighted, biased, table):
    """table[2], table[3]: factor and term of the forward pass."""
    c = cuda.grid(1)
    if c < table.shape[1]:
        mean, factor = table[0, c], 1.0 / math.sqrt(table[1, c] + eps)
        if weighted:
            factor *= weight[c]
        term = (f32(mean) - mean) * factor
        if biased:
            term += bias[c]
        table[2, c] = factor
        table[3, c] = term


@cuda.jit
def apply_kernel(x, table, out, size):
    channels = table.shape[1]
    for i in range(cuda.grid(1), out.size, cuda.gridsize(1)):
        c = i // size % channels
        out[i] = (x[i] - f32(table[0, c])) * f32(table[2, c]) + f32(table[3, c])


@cuda.jit
def products_kernel(grad, x, table, parts, size, count):
    """parts[c, chunk]: the sums of grad and of grad * (x - mean) of a chunk of channel c. A block for each."""
    shared = cuda.shared.array(WARPS, f32)
    channels, chunks = parts.shape[0], parts.shape[1]
    c, chunk = cuda.blockIdx.x // chunks, cuda.blockIdx.x % chunks
    first, near = chunk * CHUNK, f32(table[0, c])
    total, along = f32(0), f32(0)
    for k in range(first + cuda.threadIdx.x, min(first + CHUNK, count), cuda.blockDim.x):
        i = index(c, k, channels, size)
        total += grad[i]
        along += grad[i] * (x[i] - near)
    total, along = block_sum(total, shared), block_sum(along, shared)
    if cuda.threadIdx.x == 0:
        parts[c, chunk, 0] = total
        parts[c, chunk, 1] = along + (near - table[0, c]) * total


@cuda.jit
def slopes_kernel(parts, weight, eps, weighted, moving, table, of_weight, of_bias, count):
    """table[2] to table[4]: factor, slope and term of the gradient of x. of_weight, of_bias: both sums of each
    channel."""
    c = cuda.grid(1)
    if c < table.shape[1]:
        total, along = f64(0), f64(0)
        for chunk in range(parts.shape[1]):
            total += parts[c, chunk, 0]
            along += parts[c, chunk, 1]
        mean, scale = table[0, c], 1.0 / math.sqrt(table[1, c] + eps)
        of_weight[c] = along * scale
        of_bias[c] = total
        factor, slope, term = scale, f64(0), f64(0)
        if weighted:
            factor *= weight[c]
        if moving:
            slope = -factor * scale * scale * along / count
            term = -factor * total / count + (f32(mean) - mean) * slope
        table[2, c] = factor
        table[3, c] = slope
        table[4, c] = term


@cuda.jit
def gradient_kernel(grad, x, table, out, size):
    channels = table.shape[1]
    for i in range(cuda.grid(1), out.size, cuda.gridsize(1)):
        c = i // size % channels
        inner = (x[i] - f32(table[0, c])) * f32(table[3, c]) + f32(table[4, c])
        out[i] = grad[i] * f32(table[2, c]) + inner


STATISTICS = [
    (moments_kernel, [f"void({LINE}, {PARTS}, int64, int64, int64)"]),
    (join_kernel, [f"void({PARTS}, {TABLE}, int64)"]),
]
WIDEN = (widen_kernel, [f"void({LINE}, {LINE}, {TABLE})"])
NARROW = (narrow_kernel, [f"void({TABLE}, {LINE}, {LINE})"])
APPLY = [
    (coefficients_kernel, [f"void({LINE}, {LINE}, float64, boolean, boolean, {TABLE})"]),
    (apply_kernel, [f"void({LINE}, {TABLE}, {LINE}, int64)"]),
]
GRADIENT = [
    (products_kernel, [f"void({LINE}, {LINE}, {TABLE}, {PARTS}, int64, int64)"]),
    (slopes_kernel, [f"void({PARTS}, {LINE}, float64, boolean, boolean, {TABLE}, {LINE}, {LINE}, int64)"]),
    (gradient_kernel, [f"void({LINE}, {LINE}, {TABLE}, {LINE}, int64)"]),
]


# ---- launches --------------------------------------------------------------------------------------------------------


def _line(x):
    return x if x.ndim == 1 else x.reshape(x.size)


def _sizes(x):
    """(channels, numbers of a channel in an image, numbers of a channel, chunks)."""
    batch, channels, *rest = tuple(x.shape)
    size = math.prod(rest)
    return channels, size, batch * size, -(-batch * size // CHUNK)


def _by_channel(kernel, channels, *arguments):
    kernel[-(-channels // THREADS), THREADS](*arguments)


def _by_element(kernel, size, *arguments):
    kernel[min(-(-size // THREADS), MOST_BLOCKS), THREADS](*arguments)


def _table(mean, var, x):
    """A table of which the first two rows are mean and variance: those given, or those of x."""
    channels, size, count, chunks = _sizes(x)
    table = cuda.device_array((5, channels), f64)
    if mean is not None:
        _by_channel(widen_kernel, channels, mean, var, table)
        return table
    parts = cuda.device_array((channels, chunks, 2), f64)
    moments_kernel[channels * chunks, THREADS](_line(x), parts, channels, size, count)
    _by_channel(join_kernel, channels, parts, table, count)
    return table


def _applied(table, weight, bias, eps, x):
    channels, size, _, _ = _sizes(x)
    line, out = _line(x), cuda.device_array(tuple(x.shape), f32)
    # what is not looked at may be any array
    parameters = [line if array is None else array for array in (weight, bias)]
    _by_channel(coefficients_kernel, channels, *parameters, eps, weight is not None, bias is not None, table)
    _by_element(apply_kernel, x.size, line, table, _line(out), size)
    return out


def _gradients(mean, var, weight, bias, eps, grad, x, moving):
    channels, size, count, chunks = _sizes(x)
    out = cuda.device_array(tuple(x.shape), f32)
    if x.size:
        table, line = _table(mean, var, x), _line(x)
        parts, sums = cuda.device_array((channels, chunks, 2), f64), cuda.device_array((2, channels), f32)
        products_kernel[channels * chunks, THREADS](_line(grad), line, table, parts, size, count)
        settings = line if weight is None else weight, eps, weight is not None, moving
        _by_channel(slopes_kernel, channels, parts, *settings, table, sums[0], sums[1], count)
        _by_element(gradient_kernel, x.size, _line(grad), line, table, _line(out), size)
    else:
        sums = cuda.to_device(np.zeros((2, channels), f32))
    found = out, *(sums[k] for k, array in enumerate((weight, bias)) if array is not None)
    return found if len(found) > 1 else out


put = functools.partial(implementation, device="gpu", dtypes=("float32",), limits=LIMITS)


@put("batch_norm", adds="a block for each channel", kernels=[(block_per_channel_kernel, [CHANNEL]), WIDEN, *APPLY])
def batch_norm_block_per_channel(mean, var, weight, bias, eps, x):
    if mean is not None or not x.size:
        return batch_norm_two_stages(mean, var, weight, bias, eps, x)
    channels, size, count, _ = _sizes(x)
    line, out = _line(x), cuda.device_array(tuple(x.shape), f32)
    parameters = [line if array is None else array for array in (weight, bias)]
    flags = weight is not None, bias is not None
    block_per_channel_kernel[channels, THREADS](line, *parameters, eps, *flags, _line(out), channels, size, count)
    return out


TWO_STAGES = "many blocks for a channel, each with the moments of a chunk; a thread for each channel joins them"


@put("batch_norm", adds=TWO_STAGES, kernels=[*STATISTICS, WIDEN, *APPLY], public=True)
def batch_norm_two_stages(mean, var, weight, bias, eps, x):
    if not x.size:
        return cuda.device_array(tuple(x.shape), f32)
    return _applied(_table(mean, var, x), weight, bias, eps, x)


@put("batch_norm_with_statistics", adds=TWO_STAGES, kernels=[*STATISTICS, NARROW, *APPLY], public=True)
def batch_norm_with_statistics_two_stages(weight, bias, eps, x):
    channels = x.shape[1]
    mean, var = cuda.device_array(channels, f32), cuda.device_array(channels, f32)
    if not x.size:
        return cuda.device_array(tuple(x.shape), f32), mean, var
    table = _table(None, None, x)
    _by_channel(narrow_kernel, channels, table, mean, var)
    return _applied(table, weight, bias, eps, x), mean, var


SUMS = "both sums of a chunk in one pass, a thread for each channel joins them; then a thread for each element"


@put("batch_norm_backward", adds=SUMS, kernels=[*STATISTICS, WIDEN, *GRADIENT], public=True)
def batch_norm_backward_two_stages(mean, var, weight, bias, eps, grad, x):
    return _gradients(mean, var, weight, bias, eps, grad, x, mean is None)


@put(
    "batch_norm_backward_from_statistics",
    adds="from the statistics that were kept",
    kernels=[WIDEN, *GRADIENT],
    public=True,
)
def batch_norm_backward_from_statistics_two_stages(mean, var, weight, bias, eps, grad, x):
    return _gradients(mean, var, weight, bias, eps, grad, x, True)
