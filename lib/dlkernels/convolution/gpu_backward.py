"""Gradients of convolution on the GPU: one thread for each element of a gradient, so that nobody adds to another's sum.

A pixel looks for the results that it went into; a weight walks over all pixels of all pictures; a bias over one
channel.

The ladder of conv2d_backward              what the rung adds
    conv2d_backward_one_per_element        one thread for each element of a gradient
in gpu_backward_gemm.py
    conv2d_backward_implicit_gemm          tiles of products in registers; many blocks share the sum of a weight's
                                           gradient
"""

import numpy as np

from ..device import cuda
from ..implementations import implementation
from .gpu import SIZES, f32, launch, numbers, with_batch

THREADS = 128
THREE = "float32[:, :, :, ::1], float32[:, :, :, ::1], float32[:, :, :, ::1]"


@cuda.jit
def input_kernel(grad, weight, of_x, stride_y, stride_x, top, left, dilation_y, dilation_x, outs_of_group):
    j, i = cuda.grid(2)
    count, channels, high, wide = of_x.shape
    ins = weight.shape[1]
    if i < high and j < wide:
        for plane in range(cuda.blockIdx.z, count * channels, cuda.gridDim.z):
            n, channel = plane // channels, plane % channels
            first, c = channel // ins * outs_of_group, channel % ins
            total = f32(0)
            for ky in range(weight.shape[2]):
                y = i + top - ky * dilation_y  # times the stride
                if y >= 0 and y % stride_y == 0 and y // stride_y < grad.shape[2]:
                    for kx in range(weight.shape[3]):
                        z = j + left - kx * dilation_x
                        if z >= 0 and z % stride_x == 0 and z // stride_x < grad.shape[3]:
                            for o in range(first, first + outs_of_group):
                                total += weight[o, c, ky, kx] * grad[n, o, y // stride_y, z // stride_x]
            of_x[n, channel, i, j] = total


@cuda.jit
def weight_kernel(grad, x, of_weight, stride_y, stride_x, top, left, dilation_y, dilation_x, outs_of_group):
    t = cuda.grid(1)
    _, ins, tall, broad = of_weight.shape
    if t < of_weight.size:
        o, c = t // (ins * tall * broad), t // (tall * broad) % ins
        ky, kx = t // broad % tall, t % broad
        channel = o // outs_of_group * ins + c
        total = f32(0)
        for n in range(grad.shape[0]):
            for y in range(grad.shape[2]):
                i = y * stride_y + ky * dilation_y - top
                if i >= 0 and i < x.shape[2]:
                    for z in range(grad.shape[3]):
                        j = z * stride_x + kx * dilation_x - left
                        if j >= 0 and j < x.shape[3]:
                            total += grad[n, o, y, z] * x[n, channel, i, j]
        of_weight[o, c, ky, kx] = total


@cuda.jit
def bias_kernel(grad, of_bias):
    o = cuda.grid(1)
    if o < of_bias.size:
        total = f32(0)
        for n in range(grad.shape[0]):
            for y in range(grad.shape[2]):
                for z in range(grad.shape[3]):
                    total += grad[n, o, y, z]
        of_bias[o] = total


def input_gradient(grad, weight, g, of_x):
    launch(input_kernel, of_x, grad, weight, of_x, *numbers(weight, g))


@implementation(
    "conv2d_backward",
    "gpu",
    adds="one thread for each element of a gradient, which collects what arrives: no atomics",
    dtypes=("float32",),
    kernels=[
        (input_kernel, [f"void({THREE}{SIZES})"]),
        (weight_kernel, [f"void({THREE}{SIZES})"]),
        (bias_kernel, ["void(float32[:, :, :, ::1], float32[::1])"]),
    ],
)
def conv2d_backward_one_per_element(bias, g, grad, x, weight):
    outs = weight.shape[0]
    of_x, of_weight, of_bias = (
        cuda.to_device(np.zeros(tuple(shape), f32)) for shape in (x.shape, weight.shape, (outs,))
    )
    if grad.size and weight.size:
        arrived = with_batch(grad)
        input_gradient(arrived, weight, g, with_batch(of_x))
        weight_kernel[-(-weight.size // THREADS), THREADS](arrived, with_batch(x), of_weight, *numbers(weight, g))
    if grad.size and bias is not None:
        bias_kernel[-(-outs // THREADS), THREADS](with_batch(grad), of_bias)
    return (of_x, of_weight) if bias is None else (of_x, of_weight, of_bias)
