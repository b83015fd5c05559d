"""Element-wise kernels on the GPU.

The ladder of every operation              what the rung adds
    *_one_per_element   one thread per element, guarded: the grid is rounded up to whole blocks
    *_grid_stride       a grid of fixed size walks over the array: any length, and work per thread to amortise
    *_wide              16 bytes per load and store: a quarter of the memory instructions (add and axpy)
"""

import functools

import numpy as np

from ..device import cuda
from ..implementations import implementation
from ..launches import device_array, launch, view
from ..layouts import aligned
from ..wide import WIDTH, load4, store4
from . import scalar
from .flat import flat

THREADS = 256  # per block: eight warps, enough to hide latency, few enough for any kernel's registers
ALIGNED = "arrays that do not begin at a multiple of 16 bytes, as slices may, take the kernel of {}_grid_stride"
MOST_BLOCKS = 1024  # of a grid-stride launch: several per multiprocessor on every GPU of today


def blocks_for(count, most=None):
    """How many blocks give `count` threads, rounded up; at most `most`."""
    blocks = (count + THREADS - 1) // THREADS
    return blocks if most is None else min(blocks, most)


def signatures(*patterns):
    """Numba signatures for float32 and float64: `[]` stands for a contiguous line of elements, `.` for one."""
    line = {"[]": "{}[::1]", "[,]": "{}[:, ::1]", ".": "{}"}
    return [f"void({', '.join(line[p].format(t) for p in patterns)})" for t in ("float32", "float64")]


# ---- add -----------------------------------------------------------------------------------------------


@cuda.jit
def add_kernel(a, b, out):
    i = cuda.grid(1)
    if i < out.size:  # the last block may have threads to spare
        out[i] = a[i] + b[i]


@implementation("add", "gpu", adds="one thread per element", kernels=[(add_kernel, signatures("[]", "[]", "[]"))])
@flat
def add_one_per_element(a, b, out):
    add_kernel[blocks_for(out.size), THREADS](a, b, out)


@cuda.jit
def add_grid_stride_kernel(a, b, out):
    for i in range(cuda.grid(1), out.size, cuda.gridsize(1)):
        out[i] = a[i] + b[i]


@implementation(
    "add",
    "gpu",
    adds="a fixed grid walks over the array",
    kernels=[(add_grid_stride_kernel, signatures("[]", "[]", "[]"))],
)
@flat
def add_grid_stride(a, b, out):
    add_grid_stride_kernel[blocks_for(out.size, MOST_BLOCKS), THREADS](a, b, out)


@cuda.jit
def add_wide_kernel(a, b, out):
    fours = out.size // WIDTH
    for i in range(cuda.grid(1), fours, cuda.gridsize(1)):
        a0, a1, a2, a3 = load4(a, WIDTH * i)
        b0, b1, b2, b3 = load4(b, WIDTH * i)
        store4(out, WIDTH * i, (a0 + b0, a1 + b1, a2 + b2, a3 + b3))
    rest = WIDTH * fours + cuda.grid(1)
    if rest < out.size:
        out[rest] = a[rest] + b[rest]


@implementation(
    "add",
    "gpu",
    adds="16 bytes per load and store",
    limits=ALIGNED.format("add"),
    kernels=[(add_wide_kernel, signatures("[]", "[]", "[]"))],
    public=True,
)
@flat
def add_wide(a, b, out):
    if not aligned(a, b, out):
        return add_grid_stride(a, b, out)
    launch(add_wide_kernel, blocks_for((out.size + WIDTH - 1) // WIDTH, MOST_BLOCKS), THREADS, a, b, out)
    return out


# ---- axpy ----------------------------------------------------------------------------------------------


@cuda.jit
def axpy_kernel(alpha, x, y, out):
    i = cuda.grid(1)
    if i < out.size:
        out[i] = alpha * x[i] + y[i]


@implementation(
    "axpy", "gpu", adds="one thread per element", kernels=[(axpy_kernel, signatures(".", "[]", "[]", "[]"))]
)
@flat
def axpy_one_per_element(alpha, x, y, out):
    axpy_kernel[blocks_for(out.size), THREADS](alpha, x, y, out)


@cuda.jit
def axpy_grid_stride_kernel(alpha, x, y, out):
    for i in range(cuda.grid(1), out.size, cuda.gridsize(1)):
        out[i] = alpha * x[i] + y[i]


@implementation(
    "axpy",
    "gpu",
    adds="a fixed grid walks over the array",
    kernels=[(axpy_grid_stride_kernel, signatures(".", "[]", "[]", "[]"))],
)
@flat
def axpy_grid_stride(alpha, x, y, out):
    axpy_grid_stride_kernel[blocks_for(out.size, MOST_BLOCKS), THREADS](alpha, x, y, out)


@cuda.jit
def axpy_wide_kernel(alpha, x, y, out):
    fours = out.size // WIDTH
    for i in range(cuda.grid(1), fours, cuda.gridsize(1)):
        x0, x1, x2, x3 = load4(x, WIDTH * i)
        y0, y1, y2, y3 = load4(y, WIDTH * i)
        store4(out, WIDTH * i, (alpha * x0 + y0, alpha * x1 + y1, alpha * x2 + y2, alpha * x3 + y3))
    rest = WIDTH * fours + cuda.grid(1)
    if rest < out.size:
        out[rest] = alpha * x[rest] + y[rest]


@implementation(
    "axpy",
    "gpu",
    adds="16 bytes per load and store",
    limits=ALIGNED.format("axpy"),
    kernels=[(axpy_wide_kernel, signatures(".", "[]", "[]", "[]"))],
    public=True,
)
@flat
def axpy_wide(alpha, x, y, out):
    if not aligned(x, y, out):
        return axpy_grid_stride(alpha, x, y, out)
    launch(axpy_wide_kernel, blocks_for((out.size + WIDTH - 1) // WIDTH, MOST_BLOCKS), THREADS, alpha, x, y, out)
    return out


# ---- activations: the function of one element is a device function that the kernel closes over -----------


@functools.cache
def map_kernel(function):
    @cuda.jit
    def kernel(x, parameter, out):
        i = cuda.grid(1)
        if i < out.size:
            out[i] = function(x[i], parameter)

    return kernel


@functools.cache
def map_grid_stride_kernel(function):
    @cuda.jit
    def kernel(x, parameter, out):
        for i in range(cuda.grid(1), out.size, cuda.gridsize(1)):
            out[i] = function(x[i], parameter)

    return kernel


@functools.cache
def map_backward_kernel(function):
    @cuda.jit
    def kernel(grad, x, parameter, out):
        i = cuda.grid(1)
        if i < out.size:
            out[i] = function(grad[i], x[i], parameter)

    return kernel


@functools.cache
def map_backward_grid_stride_kernel(function):
    @cuda.jit
    def kernel(grad, x, parameter, out):
        for i in range(cuda.grid(1), out.size, cuda.gridsize(1)):
            out[i] = function(grad[i], x[i], parameter)

    return kernel


def _put(name, suffix, kernel_of, most_blocks, patterns, adds, public=False):
    @flat
    def rung(*arguments):
        out = arguments[-1]
        kernel = kernel_of(scalar.functions(out.dtype.type)[name])
        launch(kernel, blocks_for(out.size, most_blocks), THREADS, *arguments)

    rung.__name__ = f"{name}_{suffix}"
    kernels = [
        (kernel_of(scalar.functions(real)[name]), [signature])
        for real, signature in zip(scalar.REALS, signatures(*patterns), strict=True)
    ]
    implementation(name, device="gpu", adds=adds, kernels=kernels, public=public)(rung)


for _name in scalar.PARAMETERS:
    for _operation, _one, _many, _patterns in (
        (_name, map_kernel, map_grid_stride_kernel, ("[]", ".", "[]")),
        (f"{_name}_backward", map_backward_kernel, map_backward_grid_stride_kernel, ("[]", "[]", ".", "[]")),
    ):
        _put(_operation, "one_per_element", _one, None, _patterns, adds="one thread per element")
        _put(
            _operation,
            "grid_stride",
            _many,
            MOST_BLOCKS,
            _patterns,
            adds="a fixed grid walks over the array",
            public=True,
        )


# ---- bias and activation, fused --------------------------------------------------------------------------


@functools.cache
def bias_map_kernel(function):
    @cuda.jit
    def kernel(x, bias, parameter, out):
        # x first: neighbouring threads take neighbouring columns
        column, first = cuda.grid(2)
        step = cuda.gridsize(2)[1]
        if column < out.shape[1]:
            for row in range(first, out.shape[0], step):
                total = x[row, column] + bias[column]
                out[row, column] = function(total, parameter)

    return kernel


BLOCK = (32, 8)


def _bias_kernels():
    patterns = ("[,]", "[]", ".", "[,]")
    for real, signature in zip(scalar.REALS, signatures(*patterns), strict=True):
        for name in scalar.PARAMETERS:
            yield bias_map_kernel(scalar.functions(real)[name]), [signature]


@implementation(
    "bias_activation",
    "gpu",
    adds="a 2-D grid: columns along x, so that a warp reads one row",
    kernels=tuple(_bias_kernels()),
    public=True,
)
def bias_activation_grid(x, bias, name, parameter, out):
    if out.size == 0:
        return out
    return add_bias(scalar.functions(out.dtype.type)[name], x, bias, parameter, out)


def add_bias(function, x, bias, parameter, out):
    """out = function(x + bias, parameter) for device arrays, C-contiguous and not empty."""
    rows, columns = out.size // bias.size, bias.size
    matrix, result = view(x, (rows, columns)), view(out, (rows, columns))
    grid = ((columns + BLOCK[0] - 1) // BLOCK[0], min((rows + BLOCK[1] - 1) // BLOCK[1], MOST_BLOCKS))
    launch(bias_map_kernel(function), grid, BLOCK, matrix, bias, parameter, result)
    return out


# ---- its gradient ------------------------------------------------------------------------------------------


@functools.cache
def bias_backward_kernel(function):
    @cuda.jit
    def kernel(grad, x, bias, parameter, of_x):
        column, first = cuda.grid(2)
        step = cuda.gridsize(2)[1]
        if column < of_x.shape[1]:
            for row in range(first, of_x.shape[0], step):
                total = x[row, column] + bias[column]
                of_x[row, column] = function(grad[row, column], total, parameter)

    return kernel


@cuda.jit
def column_sums_kernel(matrix, sums):
    column = cuda.grid(1)
    if column < sums.size:
        total = matrix[0, column]
        for row in range(1, matrix.shape[0]):
            total += matrix[row, column]
        sums[column] = total


def _bias_backward_kernels():
    patterns = ("[,]", "[,]", "[]", ".", "[,]")
    for real, signature in zip(scalar.REALS, signatures(*patterns), strict=True):
        for name in scalar.PARAMETERS:
            yield bias_backward_kernel(scalar.functions(real)[f"{name}_backward"]), [signature]
    for signature in signatures("[,]", "[]"):
        yield column_sums_kernel, [signature]


@implementation(
    "bias_activation_backward",
    "gpu",
    adds="as forward, one thread per element; then one per column adds up the gradient of the bias",
    kernels=tuple(_bias_backward_kernels()),
    public=True,
)
def bias_activation_backward_grid(grad, x, bias, name, parameter, of_x):
    if of_x.size == 0:
        return of_x, cuda.to_device(np.zeros(bias.shape, bias.dtype))
    rows, columns = of_x.size // bias.size, bias.size
    matrices = [view(array, (rows, columns)) for array in (grad, x, of_x)]
    grid = ((columns + BLOCK[0] - 1) // BLOCK[0], min((rows + BLOCK[1] - 1) // BLOCK[1], MOST_BLOCKS))
    function = scalar.functions(of_x.dtype.type)[f"{name}_backward"]
    launch(bias_backward_kernel(function), grid, BLOCK, *matrices[:2], bias, parameter, matrices[2])
    of_bias = device_array(bias.shape, bias.dtype)
    launch(column_sums_kernel, blocks_for(columns), THREADS, matrices[2], of_bias)
    return of_x, of_bias
