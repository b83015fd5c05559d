"""Pooling on the GPU, in float32: one thread for each window. In a gradient, windows that overlap add to the same pixels."""

import math

import numpy as np

from ..device import cuda
from ..implementations import implementation
from .gpu import LOW, SIDE, f32, grid_for

LOWEST = f32(-np.inf)
PLANES = "float32[:, :, ::1]"
WINDOW = ", int64" * 8
WINDOWS = "int64[:, ::1], int64[:, ::1], int64"


def planes(x):
    """A contiguous device array of pictures, as (planes, height, width)."""
    *stack, high, wide = tuple(x.shape)
    return x.reshape(math.prod(stack), high, wide)


def launch(kernel, windows, *arguments):
    """Run a kernel with one thread for each element of `windows`, an array of planes."""
    count, high, wide = tuple(windows.shape)
    side = LOW if max(high, wide) <= LOW else SIDE
    kernel[grid_for(count, high, wide, side), (side, side)](*arguments)


def numbers(g):
    return g.kernel_y, g.kernel_x, g.stride_y, g.stride_x, g.top, g.left, g.dilation_y, g.dilation_x


# ---- the largest -----------------------------------------------------------------------------------------------------


@cuda.jit(device=True)
def largest_of(x, p, first_i, first_j, tall, broad, dilation_y, dilation_x):
    """Where the largest pixel of a window stands: the first of several, the last NaN; -1 for no pixel."""
    place = -1
    best = f32(0)
    for ky in range(tall):
        i = first_i + ky * dilation_y
        for kx in range(broad):
            j = first_j + kx * dilation_x
            if i >= 0 and i < x.shape[1] and j >= 0 and j < x.shape[2]:
                pixel = x[p, i, j]
                if place < 0 or pixel > best or pixel != pixel:
                    best = pixel
                    place = i * x.shape[2] + j
    return place


@cuda.jit
def max_kernel(x, out, tall, broad, stride_y, stride_x, top, left, dilation_y, dilation_x):
    z, y = cuda.grid(2)
    if y < out.shape[1] and z < out.shape[2]:
        for p in range(cuda.blockIdx.z, out.shape[0], cuda.gridDim.z):
            i, j = y * stride_y - top, z * stride_x - left
            place = largest_of(x, p, i, j, tall, broad, dilation_y, dilation_x)
            out[p, y, z] = x[p, place // x.shape[2], place % x.shape[2]] if place >= 0 else LOWEST


@implementation(
    "max_pool2d",
    "gpu",
    adds="one thread for each window",
    dtypes=("float32",),
    kernels=[(max_kernel, [f"void({PLANES}, {PLANES}{WINDOW})"])],
    public=True,
)
def max_pool2d_one_per_window(x, g, out):
    if out.size:
        launch(max_kernel, planes(out), planes(x), planes(out), *numbers(g))
    return out


@cuda.jit
def max_places_kernel(x, out, places, tall, broad, stride_y, stride_x, top, left, dilation_y, dilation_x):
    z, y = cuda.grid(2)
    if y < out.shape[1] and z < out.shape[2]:
        for p in range(cuda.blockIdx.z, out.shape[0], cuda.gridDim.z):
            i, j = y * stride_y - top, z * stride_x - left
            place = largest_of(x, p, i, j, tall, broad, dilation_y, dilation_x)
            out[p, y, z] = x[p, place // x.shape[2], place % x.shape[2]] if place >= 0 else LOWEST
            places[p, y, z] = place


@implementation(
    "max_pool2d_with_indices",
    "gpu",
    adds="one thread for each window, which also says where its largest stands",
    dtypes=("float32",),
    kernels=[(max_places_kernel, [f"void({PLANES}, {PLANES}, int64[:, :, ::1]{WINDOW})"])],
    public=True,
)
def max_pool2d_places_one_per_window(x, g, out):
    places = cuda.device_array(tuple(out.shape), np.int64)
    if out.size:
        launch(max_places_kernel, planes(out), planes(x), planes(out), planes(places), *numbers(g))
    return out, places


@cuda.jit
def max_back_kernel(grad, x, of_x, tall, broad, stride_y, stride_x, top, left, dilation_y, dilation_x):
    z, y = cuda.grid(2)
    if y < grad.shape[1] and z < grad.shape[2]:
        for p in range(cuda.blockIdx.z, grad.shape[0], cuda.gridDim.z):
            i, j = y * stride_y - top, z * stride_x - left
            place = largest_of(x, p, i, j, tall, broad, dilation_y, dilation_x)
            if place >= 0:
                cuda.atomic.add(of_x, (p, place // x.shape[2], place % x.shape[2]), grad[p, y, z])


@implementation(
    "max_pool2d_backward",
    "gpu",
    adds="one thread for each window looks for its largest again; atomics, as windows may overlap",
    dtypes=("float32",),
    kernels=[(max_back_kernel, [f"void({PLANES}, {PLANES}, {PLANES}{WINDOW})"])],
    public=True,
)
def max_pool2d_backward_one_per_window(g, grad, x):
    of_x = cuda.to_device(np.zeros(tuple(x.shape), f32))
    if grad.size:
        launch(max_back_kernel, planes(grad), planes(grad), planes(x), planes(of_x), *numbers(g))
    return of_x


# ---- the mean ----------------------------------------------------------------------------------------------------------


@cuda.jit
def mean_kernel(x, down, across, divisor, out):
    z, y = cuda.grid(2)
    if y < out.shape[1] and z < out.shape[2]:
        length = divisor if divisor != 0 else down[y, 2] * across[z, 2]
        for p in range(cuda.blockIdx.z, out.shape[0], cuda.gridDim.z):
            total = f32(0)
            for i in range(down[y, 0], down[y, 1]):
                for j in range(across[z, 0], across[z, 1]):
                    total += x[p, i, j]
            out[p, y, z] = total / f32(length)


@cuda.jit
def mean_back_kernel(grad, down, across, divisor, of_x):
    z, y = cuda.grid(2)
    if y < grad.shape[1] and z < grad.shape[2]:
        length = divisor if divisor != 0 else down[y, 2] * across[z, 2]
        for p in range(cuda.blockIdx.z, grad.shape[0], cuda.gridDim.z):
            part = grad[p, y, z] / f32(length)
            for i in range(down[y, 0], down[y, 1]):
                for j in range(across[z, 0], across[z, 1]):
                    cuda.atomic.add(of_x, (p, i, j), part)


def _put(name):
    """The rungs of an average pooling, and of its gradient."""

    def rung(x, down, across, divisor, out):
        if out.size:
            launch(mean_kernel, planes(out), planes(x), down, across, divisor, planes(out))
        return out

    def back(down, across, divisor, grad, x):
        of_x = cuda.to_device(np.zeros(tuple(x.shape), f32))
        if grad.size:
            launch(mean_back_kernel, planes(grad), planes(grad), down, across, divisor, planes(of_x))
        return of_x

    for function, operation, kernel, adds in (
        (rung, name, mean_kernel, "one thread for each window"),
        (back, f"{name}_backward", mean_back_kernel, "one thread for each window; atomics, as windows may overlap"),
    ):
        function.__name__ = f"{operation}_one_per_window"
        signature = f"void({PLANES}, {WINDOWS}, {PLANES})"
        implementation(operation, "gpu", adds=adds, dtypes=("float32",), kernels=[(kernel, [signature])], public=True)(
            function
        )


for _name in ("avg_pool2d", "adaptive_avg_pool2d"):
    _put(_name)
