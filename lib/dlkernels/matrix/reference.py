"""Matrix products in NumPy and float64: what every other implementation is tested against.

matmul            out[..., i, j] = sum over p of a[..., i, p] * b[..., p, j]
matmul_backward   with g the gradient of the loss with respect to out = a b:
                  gradient of a = g b^T, gradient of b = a^T g, summed over broadcast dimensions
linear            x w^T + bias, then an activation: PyTorch's nn.functional.linear and what follows it
linear_backward   the gradients of x, w and bias
transpose         out[..., j, i] = x[..., i, j]
"""

import math

import numpy as np

from ..vector import reference as vector


def _double(x):
    return np.asarray(x, dtype=np.float64)


def matmul(a, b):
    with np.errstate(all="ignore"):
        return np.matmul(_double(a), _double(b))


def matmul_half(a, b):
    """The same, for float16, or bfloat16 given by its bits in uint16."""
    if np.asarray(a).dtype == np.uint16:
        a, b = ((np.asarray(x).astype(np.uint32) << 16).view(np.float32) for x in (a, b))
    return matmul(a, b)


def matmul_int8(a, b):
    """The same, exactly, in 64-bit integers."""
    return np.matmul(np.asarray(a, dtype=np.int64), np.asarray(b, dtype=np.int64))


def matmul_backward(grad, a, b):
    grad, a, b = _double(grad), _double(a), _double(b)
    return (
        unbroadcast(matmul(grad, np.swapaxes(b, -1, -2)), a.shape),
        unbroadcast(matmul(np.swapaxes(a, -1, -2), grad), b.shape),
    )


def unbroadcast(grad, shape):
    """Sum over the leading dimensions along which an operand of `shape` was repeated, in double precision.

    NumPy adds the matrices of a stack one by one: in float32, of millions nothing but the first digit would be right.
    """
    if grad.shape == tuple(shape):
        return grad
    total = grad.sum(axis=tuple(range(grad.ndim - len(shape))), dtype=np.float64)
    repeated = tuple(k for k, extent in enumerate(shape) if extent == 1 and total.shape[k] != 1)
    return total.sum(axis=repeated, keepdims=True).astype(grad.dtype)


def linear(x, weight, bias=None, activation=None):
    z = matmul(x, _double(weight).T)
    z = z if bias is None else z + _double(bias)
    return z if activation is None else vector.ACTIVATIONS[activation](z)


def linear_backward(grad, x, weight, bias=None, activation=None):
    if activation is not None:
        grad = getattr(vector, f"{activation}_backward")(grad, linear(x, weight, bias))
    count = math.prod(x.shape[:-1])
    rows = _double(grad).reshape(count, weight.shape[0])
    lines = _double(x).reshape(count, weight.shape[1])
    grads = matmul(grad, weight), matmul(rows.T, lines)
    return grads if bias is None else (*grads, rows.sum(axis=0))


def transpose(x):
    return np.swapaxes(_double(x), -1, -2)
