"""Softmax, layer norm and RMS norm on the GPU, in float32: a block for each row.

The ladder of softmax                      what the rung adds
    softmax_thread_per_row    one thread takes a row through its three passes
    softmax_block_per_row     a block for each row: neighbouring threads read neighbouring numbers; the threads of a
                              warp add up by shuffles, the warps of a block in shared memory
in gpu_row_warps.py
    softmax_warp_per_row      a warp for each row, which it keeps in registers: no barrier, and each number moves once

The sums for the gradients of weight and bias run down columns: one thread for each, so that neighbouring threads read
neighbouring numbers there, too. They are few threads for a GPU:
in gpu_norm_gradients.py
    layer_norm_backward_warp_per_row    a warp for each row keeps its share of these sums in registers, and a second
                                        kernel adds the shares
"""

import functools
import math

import numpy as np

from .. import launches
from ..device import cuda
from ..implementations import implementation
from ..launches import constant, device_array, view
from ..layouts import transposed

f32 = np.float32
WARP, MOST_WARPS = 32, 8
ALL = 0xFFFFFFFF  # all lanes of a warp
MOST_BLOCKS = 1 << 16  # each takes a row after the other, if there are more
COLUMNS = 64  # threads of a block, where each has a column
MATRIX = "float32[:, ::1]"


# ---- what threads find together ------------------------------------------------------------------------------------


@cuda.jit(device=True)
def warp_sum(value):
    """The sum over a warp, for each of its threads: five exchanges with a thread that is 16, 8, 4, 2, 1 away."""
    value += cuda.shfl_xor_sync(ALL, value, 16)
    value += cuda.shfl_xor_sync(ALL, value, 8)
    value += cuda.shfl_xor_sync(ALL, value, 4)
    value += cuda.shfl_xor_sync(ALL, value, 2)
    return value + cuda.shfl_xor_sync(ALL, value, 1)


@cuda.jit(device=True)
def warp_max(value):
    """The largest of a warp; NaN may be lost, but then the sum of exponentials has it."""
    value = max(value, cuda.shfl_xor_sync(ALL, value, 16))
    value = max(value, cuda.shfl_xor_sync(ALL, value, 8))
    value = max(value, cuda.shfl_xor_sync(ALL, value, 4))
    value = max(value, cuda.shfl_xor_sync(ALL, value, 2))
    return max(value, cuda.shfl_xor_sync(ALL, value, 1))


@cuda.jit(device=True)
def block_sum(value, parts):
    """The sum over a block, for each thread. parts: shared, one for each warp."""
    value = warp_sum(value)
    if cuda.threadIdx.x % WARP == 0:
        parts[cuda.threadIdx.x // WARP] = value
    cuda.syncthreads()  # all parts are there
    total = f32(0)
    for warp in range(cuda.blockDim.x // WARP):
        total += parts[warp]
    cuda.syncthreads()  # they may be written again
    return total


@cuda.jit(device=True)
def block_max(value, parts):
    """The largest of a block."""
    value = warp_max(value)
    if cuda.threadIdx.x % WARP == 0:
        parts[cuda.threadIdx.x // WARP] = value
    cuda.syncthreads()
    top = parts[0]
    for warp in range(1, cuda.blockDim.x // WARP):
        top = max(top, parts[warp])
    cuda.syncthreads()
    return top


def launch(kernel, rows, n, *arguments):
    """Run a kernel with a block for each row: as many warps as there is work for."""
    warps = min(MOST_WARPS, -(-n // WARP))
    launches.launch(kernel, min(rows, MOST_BLOCKS), warps * WARP, *arguments)


# ---- softmax ---------------------------------------------------------------------------------------------------------


def on_rows(rung):
    """Let `rung(x, ..., out)`, written for matrices, take device arrays of one shape along any dimension."""

    @functools.wraps(rung)
    def wrapper(dim, *arrays):
        shape = tuple(arrays[-1].shape)
        if arrays[-1].size == 0:
            return device_array(shape, f32)
        before, n, after = math.prod(shape[:dim]), shape[dim] if shape else 1, math.prod(shape[dim + 1 :])
        turned = [transposed(view(x, (before, n, after))) if after > 1 else x for x in arrays]
        out = device_array((before * after, n), f32)
        rung(*(view(x, (before * after, n)) for x in turned), out)
        return view(transposed(view(out, (before, after, n))) if after > 1 else out, shape)

    return wrapper


@cuda.jit
def thread_per_row_kernel(x, out):
    r = cuda.grid(1)
    rows, n = x.shape
    if r < rows:
        top = x[r, 0]
        for i in range(1, n):
            top = max(top, x[r, i])
        total = f32(0)
        for i in range(n):
            total += math.exp(x[r, i] - top)
        for i in range(n):
            out[r, i] = math.exp(x[r, i] - top) / total


@implementation(
    "softmax",
    "gpu",
    adds="one thread takes a row through its three passes",
    dtypes=("float32",),
    kernels=[(thread_per_row_kernel, [f"void({MATRIX}, {MATRIX})"])],
)
@on_rows
def softmax_thread_per_row(x, out):
    thread_per_row_kernel[-(-x.shape[0] // COLUMNS), COLUMNS](x, out)


@cuda.jit
def block_per_row_kernel(x, out, logarithm):
    parts = cuda.shared.array(MOST_WARPS, f32)
    t, threads = cuda.threadIdx.x, cuda.blockDim.x
    rows, n = x.shape
    for r in range(cuda.blockIdx.x, rows, cuda.gridDim.x):
        top = f32(-math.inf)
        for i in range(t, n, threads):
            top = max(top, x[r, i])
        top = block_max(top, parts)
        total = f32(0)
        for i in range(t, n, threads):
            total += math.exp(x[r, i] - top)
        total = block_sum(total, parts)
        if logarithm:
            total = math.log(total)
            for i in range(t, n, threads):
                out[r, i] = (x[r, i] - top) - total
        else:
            for i in range(t, n, threads):
                out[r, i] = math.exp(x[r, i] - top) / total


BLOCK_PER_ROW = [(block_per_row_kernel, [f"void({MATRIX}, {MATRIX}, boolean)"])]


@implementation(
    "softmax",
    "gpu",
    adds="a block for each row: neighbouring threads read neighbouring numbers; warps add up by shuffles",
    dtypes=("float32",),
    kernels=BLOCK_PER_ROW,
)
@on_rows
def softmax_block_per_row(x, out):
    launch(block_per_row_kernel, *tuple(x.shape), x, out, False)


@implementation(
    "log_softmax", "gpu", adds="a block for each row, as for softmax", dtypes=("float32",), kernels=BLOCK_PER_ROW
)
@on_rows
def log_softmax_block_per_row(x, out):
    launch(block_per_row_kernel, *tuple(x.shape), x, out, True)


@cuda.jit
def softmax_gradient_kernel(grad, x, out, logarithm):
    parts = cuda.shared.array(MOST_WARPS, f32)
    t, threads = cuda.threadIdx.x, cuda.blockDim.x
    rows, n = x.shape
    for r in range(cuda.blockIdx.x, rows, cuda.gridDim.x):
        top = f32(-math.inf)
        for i in range(t, n, threads):
            top = max(top, x[r, i])
        top = block_max(top, parts)
        total, inner = f32(0), f32(0)
        for i in range(t, n, threads):
            e = math.exp(x[r, i] - top)
            total += e
            inner += grad[r, i] if logarithm else grad[r, i] * e
        total = block_sum(total, parts)
        inner = block_sum(inner, parts)
        for i in range(t, n, threads):
            y = math.exp(x[r, i] - top) / total
            out[r, i] = grad[r, i] - y * inner if logarithm else y * (grad[r, i] - inner / total)


SOFTMAX_GRADIENT = [(softmax_gradient_kernel, [f"void({MATRIX}, {MATRIX}, {MATRIX}, boolean)"])]
AGAIN = "a block for each row; softmax is computed again, not kept"


@implementation("softmax_backward", "gpu", adds=AGAIN, dtypes=("float32",), kernels=SOFTMAX_GRADIENT)
@on_rows
def softmax_backward_block_per_row(grad, x, out):
    launch(softmax_gradient_kernel, *tuple(x.shape), grad, x, out, False)


@implementation("log_softmax_backward", "gpu", adds=AGAIN, dtypes=("float32",), kernels=SOFTMAX_GRADIENT)
@on_rows
def log_softmax_backward_block_per_row(grad, x, out):
    launch(softmax_gradient_kernel, *tuple(x.shape), grad, x, out, True)


# ---- normalisations --------------------------------------------------------------------------------------------------


@cuda.jit(device=True)
def moments(x, r, eps, centred, parts):
    """(mean or 0, what x - mean is multiplied by) of a row."""
    t, threads, n = cuda.threadIdx.x, cuda.blockDim.x, x.shape[1]
    mean = f32(0)
    if centred:
        total = f32(0)
        for i in range(t, n, threads):
            total += x[r, i]
        mean = block_sum(total, parts) / f32(n)
    total = f32(0)
    for i in range(t, n, threads):
        total += (x[r, i] - mean) * (x[r, i] - mean)
    total = block_sum(total, parts)
    return mean, f32(1) / math.sqrt(total / f32(n) + eps)


@cuda.jit
def norm_kernel(x, weight, bias, eps, out, centred):
    parts = cuda.shared.array(MOST_WARPS, f32)
    rows, n = x.shape
    for r in range(cuda.blockIdx.x, rows, cuda.gridDim.x):
        mean, scale = moments(x, r, eps, centred, parts)
        for i in range(cuda.threadIdx.x, n, cuda.blockDim.x):
            out[r, i] = (x[r, i] - mean) * scale * weight[i] + bias[i]


NORM = [(norm_kernel, [f"void({MATRIX}, float32[::1], float32[::1], float32, {MATRIX}, boolean)"])]


def norm(weight, bias, eps, x, centred):
    out, n = device_array(tuple(x.shape), f32), tuple(x.shape)[-1]
    if x.size:
        weight, bias = (constant(n, 1) if weight is None else weight), (constant(n, 0) if bias is None else bias)
        rows = x.size // n, n
        launch(norm_kernel, *rows, view(x, rows), weight, bias, f32(eps), view(out, rows), centred)
    return out


@implementation("layer_norm", "gpu", adds="a block for each row", dtypes=("float32",), kernels=NORM)
def layer_norm_block_per_row(weight, bias, eps, x):
    return norm(weight, bias, eps, x, True)


@implementation("rms_norm", "gpu", adds="a block for each row", dtypes=("float32",), kernels=NORM)
def rms_norm_block_per_row(weight, bias, eps, x):
    return norm(weight, bias, eps, x, False)


@cuda.jit
def norm_gradient_kernel(grad, x, weight, eps, out, found, centred):
    """The gradient of x; found: mean and factor of each row, for the sums over rows."""
    parts = cuda.shared.array(MOST_WARPS, f32)
    t, threads = cuda.threadIdx.x, cuda.blockDim.x
    rows, n = x.shape
    for r in range(cuda.blockIdx.x, rows, cuda.gridDim.x):
        mean, scale = moments(x, r, eps, centred, parts)
        total, along = f32(0), f32(0)
        for i in range(t, n, threads):
            g = grad[r, i] * weight[i]
            total += g
            along += g * (x[r, i] - mean) * scale
        along = block_sum(along, parts) / f32(n)
        off = f32(0)
        if centred:
            off = block_sum(total, parts) / f32(n)
        for i in range(t, n, threads):
            out[r, i] = scale * (grad[r, i] * weight[i] - off - (x[r, i] - mean) * scale * along)
        if t == 0:
            found[r, 0] = mean
            found[r, 1] = scale


@cuda.jit
def norm_columns_kernel(grad, x, found, sums):
    """sums[0] is the gradient of weight, sums[1] that of bias: a thread for each column."""
    i = cuda.grid(1)
    rows, n = x.shape
    if i < n:
        of_weight, of_bias = f32(0), f32(0)
        for r in range(rows):
            of_weight += grad[r, i] * (x[r, i] - found[r, 0]) * found[r, 1]
            of_bias += grad[r, i]
        sums[0, i] = of_weight
        sums[1, i] = of_bias


NORM_GRADIENT = [
    (norm_gradient_kernel, [f"void({MATRIX}, {MATRIX}, float32[::1], float32, {MATRIX}, {MATRIX}, boolean)"]),
    (norm_columns_kernel, [f"void({MATRIX}, {MATRIX}, {MATRIX}, {MATRIX})"]),
]


def norm_gradients(weight, bias, eps, grad, x, centred):
    out, n = device_array(tuple(x.shape), f32), tuple(x.shape)[-1]
    of_weight, of_bias = (cuda.to_device(np.zeros(n, f32)) for _ in range(2)) if not x.size else (None, None)
    if x.size:
        rows = x.size // n, n
        grad, x, found = view(grad, rows), view(x, rows), device_array((rows[0], 2), f32)
        factors, sums = constant(n, 1) if weight is None else weight, device_array((2, n), f32)
        launch(norm_gradient_kernel, *rows, grad, x, factors, f32(eps), view(out, rows), found, centred)
        if weight is not None or bias is not None:
            launches.launch(norm_columns_kernel, -(-n // COLUMNS), COLUMNS, grad, x, found, sums)
            of_weight, of_bias = sums[0], sums[1]
    result = [out, *([] if weight is None else [of_weight]), *([] if bias is None else [of_bias])]
    return tuple(result) if len(result) > 1 else out


NORM_AGAIN = "a block for each row, one thread for each column of the sums over rows"


@implementation("layer_norm_backward", "gpu", adds=NORM_AGAIN, dtypes=("float32",), kernels=NORM_GRADIENT)
def layer_norm_backward_block_per_row(weight, bias, eps, grad, x):
    return norm_gradients(weight, bias, eps, grad, x, True)


@implementation("rms_norm_backward", "gpu", adds=NORM_AGAIN, dtypes=("float32",), kernels=NORM_GRADIENT)
def rms_norm_backward_block_per_row(weight, eps, grad, x):
    return norm_gradients(weight, None, eps, grad, x, False)
