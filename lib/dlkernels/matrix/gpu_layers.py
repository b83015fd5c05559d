"""The linear layer, and the gradients of matrix products, on the GPU: the products of gpu_stacks.py, put together.

    y = activation(x w^T + bias)               one product, and one more pass for bias and activation
    dL/da = g b^T,   dL/db = a^T g             one product each

Kernels want rows of both operands to be contiguous, so what a formula transposes is copied first (layouts.transposed).
A sum over rows, for the gradient of a bias or of an operand that was broadcast, is a product with a row of ones: sums
of many terms are what `matmul_split_k` is good at.
"""

import math

import numpy as np
from numba import njit

from .. import vector
from ..device import cuda
from ..implementations import implementation
from ..launches import constant, device_array, view
from ..layouts import transpose_kernel, transposed
from ..vector.gpu import add_bias, bias_map_kernel
from .gpu import f32, shape
from .gpu_stacks import matmul_split_k

TRANSPOSE = (transpose_kernel(f32), ["void(float32[:, :, ::1], float32[:, :, ::1])"])


@njit
def same(x, parameter):
    return x


BIAS = (bias_map_kernel(same), ["void(float32[:, ::1], float32[::1], float32, float32[:, ::1])"])


def product(a, b):
    """a b, into a new array."""
    stack = np.broadcast_shapes(shape(a)[:-2], shape(b)[:-2])
    return matmul_split_k(a, b, device_array((*stack, shape(a)[-2], shape(b)[-1]), f32))


def sum_over(x, axis):
    """The sum over one axis, which stays, with one element."""
    *before, count = shape(x)[: axis + 1]
    after = shape(x)[axis + 1 :]
    summed = (*before, 1, *after)
    if x.size == 0:
        return cuda.to_device(np.zeros(summed, f32))
    ones = view(constant(count, 1), (1, count))
    return view(product(ones, view(x, (math.prod(before), count, math.prod(after)))), summed)


def unbroadcast(grad, wanted):
    """The gradient of an operand of shape `wanted`: summed over the leading dimensions along which it was repeated."""
    missing = grad.ndim - len(wanted)
    for axis, extent in enumerate((*[1] * missing, *wanted[:-2])):
        if extent == 1 and shape(grad)[axis] != 1:
            grad = sum_over(grad, axis)
    return view(grad, tuple(wanted))


@implementation(
    "matmul_backward",
    device="gpu",
    adds="two products with transposed copies; broadcast dimensions are summed by a product with ones",
    dtypes=("float32",),
    kernels=[TRANSPOSE],
    public=True,
)
def matmul_backward_transposed(grad, a, b):
    return unbroadcast(product(grad, transposed(b)), shape(a)), unbroadcast(product(transposed(a), grad), shape(b))


@implementation(
    "linear",
    device="gpu",
    adds="a product with a transposed copy of the weight; bias and activation in one more pass",
    dtypes=("float32",),
    kernels=[TRANSPOSE, BIAS],
    public=True,
)
def linear_transposed(x, weight, bias, activation, out):
    if out.size == 0:
        return out
    rows = math.prod(shape(x)[:-1])
    result = view(out, (rows, weight.shape[0]))
    matmul_split_k(view(x, (rows, weight.shape[1])), transposed(weight), result)
    if bias is not None and activation is not None:
        vector.bias_activation(result, bias, activation, out=result)
    elif bias is not None:
        add_bias(same, result, bias, f32(0), result)
    elif activation is not None:
        getattr(vector, activation)(result, out=result)
    return out


@implementation(
    "linear_backward",
    device="gpu",
    adds="the layer before its activation is computed again, not kept; the bias by a product with ones",
    dtypes=("float32",),
    kernels=[TRANSPOSE],
    public=True,
)
def linear_backward_transposed(bias, activation, grad, x, weight):
    count = math.prod(shape(x)[:-1])
    rows, lines = view(grad, (count, weight.shape[0])), view(x, (count, weight.shape[1]))
    if activation is not None:
        before = linear_transposed(lines, weight, bias, None, device_array(shape(rows), f32))
        derivative = getattr(vector, f"{activation}_backward")
        rows = derivative(rows, before)
    grads = view(product(rows, weight), shape(x)), product(transposed(rows), lines)
    return grads if bias is None else (*grads, view(sum_over(rows, 0), weight.shape[0]))
