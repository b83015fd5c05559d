"""Element-wise operations in NumPy and float64: what every other implementation is tested against.

    add        a + b
    axpy       alpha * x + y                                  (BLAS level 1)
    relu       max(x, 0)
    leaky_relu x if x > 0 else negative_slope * x
    elu        x if x > 0 else alpha * (exp(x) - 1)
    sigmoid    1 / (1 + exp(-x))
    tanh       (exp(x) - exp(-x)) / (exp(x) + exp(-x))
    silu       x * sigmoid(x), also called Swish
    gelu       x * Phi(x), Phi the normal distribution function   (Hendrycks and Gimpel 2016)

Each `<name>_backward(grad, x)` is the gradient with respect to x: grad times the derivative at x.
"""

import math

import numpy as np


def _double(x):
    return np.asarray(x, dtype=np.float64)


def add(a, b):
    return _double(a) + _double(b)


def axpy(alpha, x, y):
    return float(alpha) * _double(x) + _double(y)


def relu(x):
    x = _double(x)
    return np.where(x <= 0, 0.0, x)  # so that NaN stays NaN


def leaky_relu(x, negative_slope=0.01):
    x = _double(x)
    return np.where(x > 0, x, negative_slope * x)


def elu(x, alpha=1.0):
    x = _double(x)
    return np.where(x > 0, x, alpha * np.expm1(np.minimum(x, 0)))


def sigmoid(x):
    x = _double(x)
    small = np.exp(-np.abs(x))  # never overflows
    return np.where(x < 0, small, 1.0) / (1 + small)


def tanh(x):
    return np.tanh(_double(x))


def silu(x):
    x = _double(x)
    return x * sigmoid(x)  # NaN at -inf, as in PyTorch


_erfc = np.vectorize(math.erfc, otypes=[np.float64])


def gelu(x):
    x = _double(x)
    return 0.5 * x * _erfc(-x / math.sqrt(2))  # NaN at -inf, as in PyTorch


def relu_backward(grad, x):
    return _double(grad) * np.where(_double(x) > 0, 1.0, 0.0)


def leaky_relu_backward(grad, x, negative_slope=0.01):
    return _double(grad) * np.where(_double(x) > 0, 1.0, negative_slope)


def elu_backward(grad, x, alpha=1.0):
    x = _double(x)
    return _double(grad) * np.where(x > 0, 1.0, alpha * np.exp(np.minimum(x, 0)))


def sigmoid_backward(grad, x):
    return _double(grad) * sigmoid(x) * sigmoid(-_double(x))


def tanh_backward(grad, x):
    small = np.exp(-2 * np.abs(_double(x)))
    return _double(grad) * (4 * small / (1 + small) ** 2)


def silu_backward(grad, x):
    x = _double(x)
    return _double(grad) * (sigmoid(x) + x * sigmoid(x) * sigmoid(-x))


def gelu_backward(grad, x):
    x = _double(x)
    return _double(grad) * (0.5 * _erfc(-x / math.sqrt(2)) + x * np.exp(-0.5 * x * x) / math.sqrt(2 * math.pi))


ACTIVATIONS = {f.__name__: f for f in (relu, leaky_relu, elu, sigmoid, tanh, silu, gelu)}


def bias_activation(x, bias, activation="relu"):
    """activation(x + bias), x of shape (..., features), bias of shape (features,)."""
    return ACTIVATIONS[activation](_double(x) + _double(bias))


def bias_activation_backward(grad, x, bias, activation="relu"):
    """(gradient of x, gradient of bias)."""
    of_x = globals()[f"{activation}_backward"](grad, _double(x) + _double(bias))
    return of_x, of_x.sum(axis=tuple(range(of_x.ndim - 1)))
