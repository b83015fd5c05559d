"""Gradients of the matrix product, and the linear layer y = activation(x w^T + bias), forward and backward.

The gradient of a product is two products: with y = a b and g the gradient of the loss with respect to y,

    dL/da[i, p] = sum over j of g[i, j] b[p, j], that is g b^T,        dL/db = a^T g.

Nothing is transposed in memory: a transposed view has its strides exchanged, and packing follows the strides.
"""

import math

import numpy as np

from .. import vector
from ..host import taken, workspace
from ..implementations import implementation
from .bias import over_rows
from .choose import multiply_contiguous
from .cpu import matmul_parallel
from .reference import unbroadcast


def product(a, b):
    """a b, into a new array."""
    if a.ndim == b.ndim == 2:
        out = np.empty((a.shape[0], b.shape[1]), a.dtype)
        if a.size and b.size and _as_they_stand(a.flags) and _as_they_stand(b.flags):
            multiply_contiguous(a, b, out)  # past checks that take as long as two matrices of 32 x 32
            return out
    else:
        stack = np.broadcast_shapes(a.shape[:-2], b.shape[:-2])
        out = np.empty((*stack, a.shape[-2], b.shape[-1]), a.dtype)
    return matmul_parallel(a, b, out)


def _as_they_stand(flags):
    return flags.aligned and flags.forc


@implementation(
    "matmul_backward", device="cpu", adds="two products, with transposed views of the other operand", public=True
)
def matmul_backward_products(grad, a, b, wanted=("a", "b")):
    return (
        unbroadcast(product(grad, b.swapaxes(-1, -2)), a.shape) if "a" in wanted else None,
        unbroadcast(product(a.swapaxes(-1, -2), grad), b.shape) if "b" in wanted else None,
    )


@implementation(
    "linear",
    device="cpu",
    adds="a product with the transposed weight; bias and activation in one more pass",
    public=True,
)
def linear_product(x, weight, bias, activation, out):
    rows = math.prod(x.shape[:-1])  # not -1: there may be no features to divide by
    lines, result = x.reshape(rows, weight.shape[1]), np.ascontiguousarray(out).reshape(rows, weight.shape[0])
    if activation is None:
        matmul_parallel(lines, weight.T, result)
        if bias is not None:
            result += bias
    else:  # from one array into another: in place, the compiler makes no vectors of the loop
        line = workspace(result.dtype, result.size)
        with taken(line):
            before = matmul_parallel(lines, weight.T, line[: result.size].reshape(result.shape))
            if bias is None:
                getattr(vector, activation)(before, out=result)
            else:
                vector.bias_activation(before, bias, activation, out=result)
    if not np.may_share_memory(result, out):
        out[...] = result.reshape(out.shape)
    return out


@implementation(
    "linear_backward",
    device="cpu",
    adds="the layer before its activation is computed again, not kept: less memory",
    public=True,
)
def linear_backward_products(bias, activation, grad, x, weight, wanted=("x", "weight", "bias")):
    count = math.prod(x.shape[:-1])
    rows, lines = grad.reshape(count, weight.shape[0]), x.reshape(count, weight.shape[1])
    if activation is not None:
        before = linear_product(lines, weight, bias, None, np.empty(rows.shape, rows.dtype))
        rows = getattr(vector, f"{activation}_backward")(rows, before)
    of_x = product(rows, weight).reshape(x.shape) if "x" in wanted else None
    of_weight = product(rows.T, lines) if "weight" in wanted else None
    if bias is None:
        return of_x, of_weight
    return of_x, of_weight, over_rows(rows) if "bias" in wanted else None
