"""Pooling on the GPU, in float32: one thread for each window. In a gradient, windows that overlap add to the same
pixels."""

import functools
import math

import numpy as np

from ..device import cuda
from ..implementations import implementation
from .gpu import LOW, SIDE, f32, grid_for

LOWEST = f32(-np.inf)
PLANES = "float32[:, :, ::1]"
WINDOWS = "int64[:, ::1], int64[:, ::1]"


def planes(x):
    """A contiguous device array of pictures, as (planes, height, width)."""
    *stack, high, wide = tuple(x.shape)
    return x.reshape(math.prod(stack), high, wide)


def launch(kernel, windows, *arguments):
    """Run a kernel with one thread for each element of `windows`, an array of planes."""
    count, high, wide = tuple(windows.shape)
    side = LOW if max(high, wide) <= LOW else SIDE
    kernel[grid_for(count, high, wide, side), (side, side)](*arguments)


def put(operation, function, adds, kernel, signature):
    """A function as a rung of an operation: it serves several, whose windows are lists."""

    rung = functools.wraps(function)(lambda *arguments: function(*arguments))
    rung.__name__ = f"{operation.replace('with_indices', 'places')}_one_per_window"
    kernels = [(kernel, [signature])]
    # In a gradient, what windows send to a pixel is added in global memory by atomics.
    sums = operation.endswith("_backward")
    implementation(operation, "gpu", adds, ("float32",), kernels=kernels, public=True, flushes=sums)(rung)


# ---- the largest -----------------------------------------------------------------------------------------------------
# Windows are given by (first, count, step) along each axis: the pixels of each that stand on the picture.


@cuda.jit(device=True)
def largest_of(x, p, first_i, tall, step_i, first_j, broad, step_j):
    """(index of the largest pixel of a window, that pixel): the first of several,
    the last NaN; (-1, -inf) for a window without pixels."""
    place = -1
    best = LOWEST
    for ky in range(tall):
        i = first_i + ky * step_i
        for kx in range(broad):
            j = first_j + kx * step_j
            pixel = x[p, i, j]
            if place < 0 or pixel > best or pixel != pixel:
                best = pixel
                place = i * x.shape[2] + j
    return place, best


@cuda.jit(device=True)
def largest_pixel(x, p, first_i, tall, step_i, first_j, broad, step_j):
    """A window's largest pixel: NaN if one is, -inf without pixels."""
    best = LOWEST
    for ky in range(tall):
        for kx in range(broad):
            pixel = x[p, first_i + ky * step_i, first_j + kx * step_j]
            if pixel > best or pixel != pixel:
                best = pixel
    return best


@cuda.jit
def max_kernel(x, down, across, out):
    z, y = cuda.grid(2)
    if y < out.shape[1] and z < out.shape[2]:
        i, tall, step_i = down[y, 0], down[y, 1], down[y, 2]
        j, broad, step_j = across[z, 0], across[z, 1], across[z, 2]
        for p in range(cuda.blockIdx.z, out.shape[0], cuda.gridDim.z):
            out[p, y, z] = largest_pixel(x, p, i, tall, step_i, j, broad, step_j)


def largest(x, down, across, out):
    if out.size:
        launch(max_kernel, planes(out), planes(x), down, across, planes(out))
    return out


@cuda.jit
def max_places_kernel(x, down, across, out, places):
    z, y = cuda.grid(2)
    if y < out.shape[1] and z < out.shape[2]:
        i, tall, step_i = down[y, 0], down[y, 1], down[y, 2]
        j, broad, step_j = across[z, 0], across[z, 1], across[z, 2]
        for p in range(cuda.blockIdx.z, out.shape[0], cuda.gridDim.z):
            places[p, y, z], out[p, y, z] = largest_of(x, p, i, tall, step_i, j, broad, step_j)


def largest_and_places(x, down, across, out):
    places = cuda.device_array(tuple(out.shape), np.int64)
    if out.size:
        launch(max_places_kernel, planes(out), planes(x), down, across, planes(out), planes(places))
    return out, places


@cuda.jit
def max_back_kernel(grad, x, down, across, of_x):
    z, y = cuda.grid(2)
    if y < grad.shape[1] and z < grad.shape[2]:
        i, tall, step_i = down[y, 0], down[y, 1], down[y, 2]
        j, broad, step_j = across[z, 0], across[z, 1], across[z, 2]
        for p in range(cuda.blockIdx.z, grad.shape[0], cuda.gridDim.z):
            place, _ = largest_of(x, p, i, tall, step_i, j, broad, step_j)
            if place >= 0:
                cuda.atomic.add(of_x, (p, place // x.shape[2], place % x.shape[2]), grad[p, y, z])


def to_the_largest(down, across, grad, x):
    of_x = cuda.to_device(np.zeros(tuple(x.shape), f32))
    if grad.size:
        launch(max_back_kernel, planes(grad), planes(grad), planes(x), down, across, planes(of_x))
    return of_x


for _name in ("max_pool2d", "adaptive_max_pool2d"):
    put(_name, largest, "one thread for each window", max_kernel, f"void({PLANES}, {WINDOWS}, {PLANES})")
    put(
        f"{_name}_with_indices",
        largest_and_places,
        "one thread for each window, which also says where its largest stands",
        max_places_kernel,
        f"void({PLANES}, {WINDOWS}, {PLANES}, int64[:, :, ::1])",
    )
    put(
        f"{_name}_backward",
        to_the_largest,
        "one thread for each window looks for its largest again; atomics, as windows may overlap",
        max_back_kernel,
        f"void({PLANES}, {PLANES}, {WINDOWS}, {PLANES})",
    )


# ---- the mean --------------------------------------------------------------------------------------------------------


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


def mean(x, down, across, divisor, out):
    if out.size:
        launch(mean_kernel, planes(out), planes(x), down, across, divisor, planes(out))
    return out


def in_equal_parts(down, across, divisor, grad, x):
    of_x = cuda.to_device(np.zeros(tuple(x.shape), f32))
    if grad.size:
        launch(mean_back_kernel, planes(grad), planes(grad), down, across, divisor, planes(of_x))
    return of_x


for _name in ("avg_pool2d", "adaptive_avg_pool2d"):
    _signature = f"void({PLANES}, {WINDOWS}, int64, {PLANES})"
    put(_name, mean, "one thread for each window", mean_kernel, _signature)
    put(
        f"{_name}_backward",
        in_equal_parts,
        "one thread for each window; atomics, as windows may overlap",
        mean_back_kernel,
        _signature,
    )
