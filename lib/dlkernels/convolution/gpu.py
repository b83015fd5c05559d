"""Convolution on the GPU, in float32.

The ladder of conv2d                       what the rung adds
    conv2d_one_per_output   one thread per pixel of the result
    conv2d_constant         the weights are constants: a warp that reads one of them reads it once, for all its threads
    conv2d_shared_halo      a block loads its pixels once into shared memory, with the halo around them
    conv2d_channels         each thread computes the same pixel of 4 channels: what was loaded serves all of them
in gpu_gemm.py
    conv2d_implicit_gemm    a product of matrices, one of which is never stored: 8 channels of 8 pixels in each thread
in gpu_depthwise.py
    conv2d_depthwise_rows   one input channel for each result: four results below each other in each thread
in gpu_choose.py
    conv2d_chosen           what fits the shape
"""

import functools

import numpy as np

from .. import launches
from ..device import cuda
from ..implementations import implementation
from ..launches import constant, view
from ..layouts import MOST_IN_Y, MOST_IN_Z, as_host

f32 = np.float32
SIDE = 16  # a block computes SIDE x SIDE pixels of a plane,
LOW = 8  # or LOW x LOW where a plane is no larger: the other threads would have nothing to do
WINDOW = 40  # pixels that it keeps in shared memory, along each axis: 6400 bytes
CONSTANT = 1 << 14  # float32 in the 64 KiB of constant memory
SIZES = ", int64" * 7
DIRECT = [f"void(float32[:, :, :, ::1], float32[:, :, :, ::1], float32[::1], float32[:, :, :, ::1]{SIZES})"]


def on_pictures(rung):
    """Let `rung`, written for device arrays with a batch and a bias, take what `conv2d` prepares. Returns the result.

    A result of no elements never reaches the rung, nor do sums of no terms.
    """

    @functools.wraps(rung)
    def wrapper(x, weight, bias, g, out):
        outs = weight.shape[0]
        if weight.size == 0:
            known = np.zeros(outs, f32) if bias is None else as_host(bias)
            out.copy_to_device(np.ascontiguousarray(np.broadcast_to(known[:, None, None], tuple(out.shape))))
        elif out.size:
            bias = constant(outs, 0) if bias is None else bias
            rung(with_batch(x), weight, bias, g, with_batch(out))
        return out

    return wrapper


def with_batch(x):
    return x if x.ndim == 4 else view(x, (1, *tuple(x.shape)))


def launch(kernel, out, *arguments):
    """Run a kernel in blocks of side x side threads for every plane of `out`, from one block to the next where there
    are too many."""
    count, channels, high, wide = tuple(out.shape)
    side = side_for(out)
    launches.launch(kernel, grid_for(count * channels, high, wide, side), (side, side), *arguments)


def grid_for(planes, high, wide, side):
    """Blocks of side x side threads for planes of high x wide elements, along x, y and z; fewer in z than planes where
    these are too many. ValueError where no GPU starts as many in y."""
    down = -(-high // side)
    if down > MOST_IN_Y:
        raise ValueError(
            f"a plane has {high} rows; expected at most {MOST_IN_Y * side} on a GPU. Exchange rows and columns, or cut "
            "the pictures into parts."
        )
    return -(-wide // side), down, min(planes, MOST_IN_Z)


def side_for(out):
    """The side of a block."""
    return LOW if max(tuple(out.shape)[2:]) <= LOW else SIDE


def numbers(weight, g):
    """What kernels have to know of a geometry."""
    return g.stride_y, g.stride_x, g.top, g.left, g.dilation_y, g.dilation_x, weight.shape[0] // g.groups


# ---- one thread per output ---------------------------------------------------------------------------------------


@cuda.jit
def direct_kernel(x, weight, bias, out, stride_y, stride_x, top, left, dilation_y, dilation_x, outs_of_group):
    z, y = cuda.grid(2)
    count, outs, high, wide = out.shape
    if y < high and z < wide:
        for plane in range(cuda.blockIdx.z, count * outs, cuda.gridDim.z):
            n, o = plane // outs, plane % outs
            first = o // outs_of_group * weight.shape[1]
            total = bias[o]
            for c in range(weight.shape[1]):
                for ky in range(weight.shape[2]):
                    i = y * stride_y + ky * dilation_y - top
                    for kx in range(weight.shape[3]):
                        j = z * stride_x + kx * dilation_x - left
                        if i >= 0 and i < x.shape[2] and j >= 0 and j < x.shape[3]:
                            total += weight[o, c, ky, kx] * x[n, first + c, i, j]
            out[n, o, y, z] = total


@implementation(
    "conv2d", "gpu", adds="one thread per pixel of the result", dtypes=("float32",), kernels=[(direct_kernel, DIRECT)]
)
@on_pictures
def conv2d_one_per_output(x, weight, bias, g, out):
    launch(direct_kernel, out, x, weight, bias, out, *numbers(weight, g))


# ---- weights in constant memory ------------------------------------------------------------------------------------


@functools.lru_cache(16)
def constant_kernel(weights, shape):
    """The kernel for weights that are known when it is compiled: their bytes, and their shape."""
    weight = np.frombuffer(weights, f32).reshape(shape)
    ins, tall, broad = shape[1:]

    @cuda.jit
    def kernel(x, bias, out, stride_y, stride_x, top, left, dilation_y, dilation_x, outs_of_group):
        factors = cuda.const.array_like(weight)
        z, y = cuda.grid(2)
        count, outs, high, wide = out.shape
        if y < high and z < wide:
            for plane in range(cuda.blockIdx.z, count * outs, cuda.gridDim.z):
                n, o = plane // outs, plane % outs
                first = o // outs_of_group * ins
                total = bias[o]
                for c in range(ins):
                    for ky in range(tall):
                        i = y * stride_y + ky * dilation_y - top
                        for kx in range(broad):
                            j = z * stride_x + kx * dilation_x - left
                            if i >= 0 and i < x.shape[2] and j >= 0 and j < x.shape[3]:
                                total += factors[o, c, ky, kx] * x[n, first + c, i, j]
                out[n, o, y, z] = total

    return kernel


SAMPLE = np.ones((2, 3, 3, 3), f32)


@implementation(
    "conv2d",
    "gpu",
    adds="weights in constant memory: all threads of a warp read the same one at once, and global memory is left to "
    "pixels",
    limits="compiled again for all weights that are new; more than 64 KiB of them go the way of conv2d_one_per_output",
    largest=300,
    dtypes=("float32",),
    kernels=[
        (
            constant_kernel(SAMPLE.tobytes(), SAMPLE.shape),
            [f"void(float32[:, :, :, ::1], float32[::1], float32[:, :, :, ::1]{SIZES})"],
        )
    ],
)
@on_pictures
def conv2d_constant(x, weight, bias, g, out):
    if weight.size > CONSTANT:
        launch(direct_kernel, out, x, weight, bias, out, *numbers(weight, g))
        return
    known = constant_kernel(weight.copy_to_host().tobytes(), tuple(weight.shape))
    launch(known, out, x, bias, out, *numbers(weight, g))


# ---- a tile of the picture in shared memory ------------------------------------------------------------------------


@cuda.jit
def halo_kernel(x, weight, bias, out, stride_y, stride_x, top, left, dilation_y, dilation_x, outs_of_group):
    window = cuda.shared.array((WINDOW, WINDOW), f32)
    tx, ty, side = cuda.threadIdx.x, cuda.threadIdx.y, cuda.blockDim.x
    z, y = cuda.grid(2)
    count, outs, high, wide = out.shape
    spans_y = (side - 1) * stride_y + (weight.shape[2] - 1) * dilation_y + 1  # the block's pixels and their halo
    spans_x = (side - 1) * stride_x + (weight.shape[3] - 1) * dilation_x + 1
    first_i = cuda.blockIdx.y * side * stride_y - top
    first_j = cuda.blockIdx.x * side * stride_x - left
    for plane in range(cuda.blockIdx.z, count * outs, cuda.gridDim.z):
        n, o = plane // outs, plane % outs
        first = o // outs_of_group * weight.shape[1]
        total = bias[o]
        for c in range(weight.shape[1]):
            for r in range(ty, spans_y, side):
                i = first_i + r
                for q in range(tx, spans_x, side):
                    j = first_j + q
                    inside = i >= 0 and i < x.shape[2] and j >= 0 and j < x.shape[3]
                    window[r, q] = x[n, first + c, i, j] if inside else f32(0)
            cuda.syncthreads()  # the window is complete
            for ky in range(weight.shape[2]):
                row = ty * stride_y + ky * dilation_y
                for kx in range(weight.shape[3]):
                    pixel = window[row, tx * stride_x + kx * dilation_x]
                    total += weight[o, c, ky, kx] * pixel
            cuda.syncthreads()  # nobody reads it any more
        if y < high and z < wide:
            out[n, o, y, z] = total


def fits(g, out):
    """Whether the pixels that a block sees fit into its window."""
    spans_y = (side_for(out) - 1) * g.stride_y + (g.kernel_y - 1) * g.dilation_y + 1
    spans_x = (side_for(out) - 1) * g.stride_x + (g.kernel_x - 1) * g.dilation_x + 1
    return max(spans_y, spans_x) <= WINDOW


TOO_LARGE = f"blocks that need more than {WINDOW} x {WINDOW} pixels take the kernel of conv2d_one_per_output"


@implementation(
    "conv2d",
    "gpu",
    adds="a block loads its pixels once into shared memory, with the halo around them: for 3 x 3, 324 loads instead of "
    "2304",
    limits=TOO_LARGE,
    dtypes=("float32",),
    kernels=[(halo_kernel, DIRECT)],
)
@on_pictures
def conv2d_shared_halo(x, weight, bias, g, out):
    kernel = halo_kernel if fits(g, out) else direct_kernel
    launch(kernel, out, x, weight, bias, out, *numbers(weight, g))


# ---- several channels for each thread ------------------------------------------------------------------------------

CHANNELS = 4


@cuda.jit
def channels_kernel(x, weight, bias, out, stride_y, stride_x, top, left, dilation_y, dilation_x, outs_of_group):
    window = cuda.shared.array((WINDOW, WINDOW), f32)
    sums = cuda.local.array(CHANNELS, f32)
    tx, ty, side = cuda.threadIdx.x, cuda.threadIdx.y, cuda.blockDim.x
    z, y = cuda.grid(2)
    count, outs, high, wide = out.shape
    spans_y = (side - 1) * stride_y + (weight.shape[2] - 1) * dilation_y + 1
    spans_x = (side - 1) * stride_x + (weight.shape[3] - 1) * dilation_x + 1
    first_i = cuda.blockIdx.y * side * stride_y - top
    first_j = cuda.blockIdx.x * side * stride_x - left
    groups, tiles = outs // outs_of_group, (outs_of_group + CHANNELS - 1) // CHANNELS
    for part in range(cuda.blockIdx.z, count * groups * tiles, cuda.gridDim.z):
        n, group = part // (groups * tiles), part // tiles % groups
        o, last = group * outs_of_group + part % tiles * CHANNELS, (group + 1) * outs_of_group - 1
        for k in range(CHANNELS):
            sums[k] = bias[min(o + k, last)]  # beyond the group's last channel, that one again: it is not written
        for c in range(weight.shape[1]):
            channel = group * weight.shape[1] + c
            for r in range(ty, spans_y, side):
                i = first_i + r
                for q in range(tx, spans_x, side):
                    j = first_j + q
                    inside = i >= 0 and i < x.shape[2] and j >= 0 and j < x.shape[3]
                    window[r, q] = x[n, channel, i, j] if inside else f32(0)
            cuda.syncthreads()
            for ky in range(weight.shape[2]):
                row = ty * stride_y + ky * dilation_y
                for kx in range(weight.shape[3]):
                    pixel = window[row, tx * stride_x + kx * dilation_x]
                    for k in range(CHANNELS):
                        sums[k] += weight[min(o + k, last), c, ky, kx] * pixel
            cuda.syncthreads()
        if y < high and z < wide:
            for k in range(CHANNELS):
                if o + k <= last:
                    out[n, o + k, y, z] = sums[k]


@implementation(
    "conv2d",
    "gpu",
    adds=f"each thread computes a pixel of {CHANNELS} channels: what a block has loaded serves all of them",
    limits=TOO_LARGE,
    dtypes=("float32",),
    kernels=[(channels_kernel, DIRECT)],
)
@on_pictures
def conv2d_channels(x, weight, bias, g, out):
    few = weight.shape[0] // g.groups < CHANNELS  # one channel would be computed several times
    kernel = direct_kernel if not fits(g, out) else halo_kernel if few else channels_kernel
    launch(kernel, out, x, weight, bias, out, *numbers(weight, g))
