"""Softmax, layer norm and RMS norm on the GPU, continued: a warp for each row, which it keeps in registers.

A block that shares a row (gpu_rows.py) reads it two to four times and waits at barriers between. A row of up to 1024
numbers fits into the registers of one warp: lane l holds numbers l, l + 32, l + 64, ... So each number is loaded once
and stored once, what the lanes find they exchange by shuffles, and no thread waits at a barrier. PyTorch has such
kernels, too.

A register has no index at run time: there is a kernel for each power of two of numbers in a lane, whose loops the
compiler writes out. Lanes beyond the end of a row hold what changes nothing: -inf where a softmax looks for the
largest, else 0. Index arithmetic is unsigned, in 32 bits (gpu.py of the matrix product says why).
"""

import functools
import math

import numpy as np

from .. import launches
from ..device import cuda
from ..implementations import implementation
from ..launches import device_array, line
from . import gpu_rows
from .gpu_rows import WARP, f32, on_rows, warp_max, warp_sum

u32 = np.uint32
WARPS = 4  # of a block; each has a row
COUNTS = 1, 2, 4, 8, 16, 32  # numbers of a row in a lane
LONGEST = WARP * COUNTS[-1]
MOST = 1 << 32  # elements: places are counted in 32 bits
LINE = "float32[::1]"
LIMITS = f"rows of more than {LONGEST} numbers, and 2^32 elements or more, take the kernel of {{}}_block_per_row"
LISTED = COUNTS[-1], 4  # in the table; a test compiles all


def fits(rows, n):
    """Whether a warp can hold a row, and 32 bits a place."""
    return n <= LONGEST and rows * n < MOST


@functools.cache
def count_for(n):
    """How many numbers of such a row a lane holds."""
    return next(count for count in COUNTS if n <= WARP * count)


def launch(kernel_for, rows, n, *arguments):
    """Run the kernel for rows of n numbers, a warp for each."""
    count = count_for(n)
    launches.launch(kernel_for(count), -(-rows // WARPS), (WARP, WARPS), *arguments, u32(rows), u32(n))


# ---- softmax ---------------------------------------------------------------------------------------------------------


@functools.cache
def softmax_kernel(count, logarithm):
    """The kernel for rows of up to 32 x `count` numbers."""

    @cuda.jit
    def warp_per_row_kernel(x, out, rows, n):
        xs = cuda.local.array(count, f32)
        lane, r = u32(cuda.threadIdx.x), u32(u32(cuda.blockIdx.x) * u32(WARPS) + u32(cuda.threadIdx.y))
        if r < rows:
            first, top = u32(r * n + lane), f32(-math.inf)
            for k in range(count):
                xs[k] = x[u32(first + u32(WARP * k))] if u32(lane + u32(WARP * k)) < n else f32(-math.inf)
            for k in range(count):
                top = max(top, xs[k])
            top, total = warp_max(top), f32(0)
            for k in range(count):
                xs[k] -= top
                if logarithm:
                    total += math.exp(xs[k])
                else:
                    xs[k] = math.exp(xs[k])
                    total += xs[k]
            total = warp_sum(total)
            last = math.log(total) if logarithm else f32(1) / total
            for k in range(count):
                if u32(lane + u32(WARP * k)) < n:
                    out[u32(first + u32(WARP * k))] = xs[k] - last if logarithm else xs[k] * last

    return warp_per_row_kernel


def softmax_kernels(logarithm):
    return [(softmax_kernel(count, logarithm), [f"void({LINE}, {LINE}, uint32, uint32)"]) for count in LISTED]


def softmax_rows(x, out, logarithm):
    rows, n = tuple(x.shape)
    if fits(rows, n):
        launch(lambda count: softmax_kernel(count, logarithm), rows, n, line(x), line(out))
    else:
        gpu_rows.launch(gpu_rows.block_per_row_kernel, rows, n, x, out, logarithm)


@implementation(
    "softmax",
    "gpu",
    adds="a warp for each row, which stays in its registers: no barrier, and each number moves once",
    limits=LIMITS.format("softmax"),
    dtypes=("float32",),
    kernels=softmax_kernels(False),
    public=True,
)
@on_rows
def softmax_warp_per_row(x, out):
    softmax_rows(x, out, False)


@implementation(
    "log_softmax",
    "gpu",
    adds="a warp for each row, as for softmax",
    limits=LIMITS.format("log_softmax"),
    dtypes=("float32",),
    kernels=softmax_kernels(True),
    public=True,
)
@on_rows
def log_softmax_warp_per_row(x, out):
    softmax_rows(x, out, True)


@functools.cache
def softmax_gradient_kernel(count, logarithm):
    """The kernel for rows of up to 32 x `count` numbers: a lane holds as many of x, and of the gradient."""

    @cuda.jit
    def gradient_by_warps_kernel(grad, x, out, rows, n):
        xs, grads = cuda.local.array(count, f32), cuda.local.array(count, f32)
        lane, r = u32(cuda.threadIdx.x), u32(u32(cuda.blockIdx.x) * u32(WARPS) + u32(cuda.threadIdx.y))
        if r < rows:
            first, top = u32(r * n + lane), f32(-math.inf)
            for k in range(count):
                xs[k], grads[k] = f32(-math.inf), f32(0)
                if u32(lane + u32(WARP * k)) < n:
                    xs[k], grads[k] = x[u32(first + u32(WARP * k))], grad[u32(first + u32(WARP * k))]
            for k in range(count):
                top = max(top, xs[k])
            top, total, inner = warp_max(top), f32(0), f32(0)
            for k in range(count):
                xs[k] = math.exp(xs[k] - top)
                total += xs[k]
                inner += grads[k] if logarithm else grads[k] * xs[k]
            total, inner = f32(1) / warp_sum(total), warp_sum(inner)
            for k in range(count):
                if u32(lane + u32(WARP * k)) < n:
                    y = xs[k] * total
                    slope = grads[k] - y * inner if logarithm else y * (grads[k] - inner * total)
                    out[u32(first + u32(WARP * k))] = slope

    return gradient_by_warps_kernel


def softmax_gradient_kernels(logarithm):
    signature = f"void({LINE}, {LINE}, {LINE}, uint32, uint32)"
    return [(softmax_gradient_kernel(count, logarithm), [signature]) for count in LISTED]


def softmax_gradient_rows(grad, x, out, logarithm):
    rows, n = tuple(x.shape)
    if fits(rows, n):
        launch(lambda count: softmax_gradient_kernel(count, logarithm), rows, n, line(grad), line(x), line(out))
    else:
        gpu_rows.launch(gpu_rows.softmax_gradient_kernel, rows, n, grad, x, out, logarithm)


BOTH = "a warp for each row: its numbers and their gradients stay in registers"


@implementation(
    "softmax_backward",
    "gpu",
    adds=BOTH,
    limits=LIMITS.format("softmax_backward"),
    dtypes=("float32",),
    kernels=softmax_gradient_kernels(False),
    public=True,
)
@on_rows
def softmax_backward_warp_per_row(grad, x, out):
    softmax_gradient_rows(grad, x, out, False)


@implementation(
    "log_softmax_backward",
    "gpu",
    adds=BOTH,
    limits=LIMITS.format("log_softmax_backward"),
    dtypes=("float32",),
    kernels=softmax_gradient_kernels(True),
    public=True,
)
@on_rows
def log_softmax_backward_warp_per_row(grad, x, out):
    softmax_gradient_rows(grad, x, out, True)


# ---- normalisations --------------------------------------------------------------------------------------------------


@functools.cache
def norm_kernel(count):
    """The kernel for rows of up to 32 x `count` numbers. weight and bias: looked at where `weighted`, `biased`."""

    @cuda.jit
    def norm_by_warps_kernel(x, weight, bias, eps, centred, weighted, biased, out, rows, n):
        xs = cuda.local.array(count, f32)
        lane, r = u32(cuda.threadIdx.x), u32(u32(cuda.blockIdx.x) * u32(WARPS) + u32(cuda.threadIdx.y))
        if r < rows:
            first = u32(r * n + lane)
            for k in range(count):
                xs[k] = x[u32(first + u32(WARP * k))] if u32(lane + u32(WARP * k)) < n else f32(0)
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
            if weighted:
                for k in range(count):
                    if u32(lane + u32(WARP * k)) < n:
                        xs[k] *= weight[u32(lane + u32(WARP * k))]
            if biased:
                for k in range(count):
                    if u32(lane + u32(WARP * k)) < n:
                        xs[k] += bias[u32(lane + u32(WARP * k))]
            for k in range(count):
                if u32(lane + u32(WARP * k)) < n:
                    out[u32(first + u32(WARP * k))] = xs[k]

    return norm_by_warps_kernel


NORM = f"void({LINE}, {LINE}, {LINE}, float32, boolean, boolean, boolean, {LINE}, uint32, uint32)"
NORMS = [(norm_kernel(count), [NORM]) for count in LISTED]


def norm(weight, bias, eps, x, centred):
    n = tuple(x.shape)[-1]
    if not x.size or not fits(x.size // n, n):
        return gpu_rows.norm(weight, bias, eps, x, centred)
    out, some = device_array(tuple(x.shape), f32), line(x)  # what is not looked at may be any array
    parameters = some if weight is None else weight, some if bias is None else bias
    settings = f32(eps), centred, weight is not None, bias is not None
    launch(norm_kernel, x.size // n, n, some, *parameters, *settings, line(out))
    return out


@implementation(
    "layer_norm",
    "gpu",
    adds="a warp for each row, which stays in its registers",
    limits=LIMITS.format("layer_norm"),
    dtypes=("float32",),
    kernels=NORMS,
    public=True,
)
def layer_norm_warp_per_row(weight, bias, eps, x):
    return norm(weight, bias, eps, x, True)


@implementation(
    "rms_norm",
    "gpu",
    adds="a warp for each row, which stays in its registers",
    limits=LIMITS.format("rms_norm"),
    dtypes=("float32",),
    kernels=NORMS,
    public=True,
)
def rms_norm_warp_per_row(weight, bias, eps, x):
    return norm(weight, bias, eps, x, False)
