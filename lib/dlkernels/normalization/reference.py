"""Batch normalisation in NumPy, float64 (Ioffe and Szegedy 2015, algorithm 1; its gradient: section 3).

batch_norm                           (input - mean) / sqrt(var + eps) * weight + bias, channel by channel
batch_norm_with_statistics           with the mean and the variance of the batch, which it returns, too
batch_norm_backward                  gradients of input, weight, bias (of those that are given)
batch_norm_backward_from_statistics  the same from what batch_norm_with_statistics returned
"""

import numpy as np


def _wide(x):
    return np.asarray(x, np.float64)


def _axes(x):
    return (0, *range(2, x.ndim))


def _along(channels, x):
    """A number for each channel, beside x."""
    return _wide(channels).reshape(-1, *[1] * (x.ndim - 2))


def moments(input):
    """(mean, variance) of each channel: the variance is the one of n numbers, not n - 1."""
    x = _wide(input)
    return x.mean(_axes(x)), x.var(_axes(x))


def _normal(x, mean, var, eps):
    """(the normalised input, what input - mean was multiplied by)."""
    scale = 1 / np.sqrt(_along(var, x) + eps)
    return (_wide(x) - _along(mean, x)) * scale, scale


def _scaled(x, mean, var, weight, bias, eps):
    y, _ = _normal(x, mean, var, eps)
    return y * _along(1 if weight is None else weight, x) + _along(0 if bias is None else bias, x)


def batch_norm(
    input, running_mean=None, running_var=None, weight=None, bias=None, training=False, momentum=0.1, eps=1e-5
):
    mean, var = moments(input) if training else (running_mean, running_var)
    return _scaled(input, mean, var, weight, bias, eps)


def batch_norm_with_statistics(input, weight=None, bias=None, eps=1e-5):
    mean, var = moments(input)
    return _scaled(input, mean, var, weight, bias, eps), mean, var


def batch_norm_backward(
    grad, input, running_mean=None, running_var=None, weight=None, bias=None, training=False, eps=1e-5
):
    mean, var = moments(input) if training else (running_mean, running_var)
    return _gradients(grad, input, mean, var, weight, bias, eps, training)


def batch_norm_backward_from_statistics(grad, input, mean, var, weight=None, bias=None, eps=1e-5):
    return _gradients(grad, input, mean, var, weight, bias, eps, True)


def _gradients(grad, x, mean, var, weight, bias, eps, moving):
    """moving: whether mean and variance are those of x, and move with it."""
    grad = _wide(grad)
    y, scale = _normal(x, mean, var, eps)
    of_weight, of_bias = (grad * y).sum(_axes(x)), grad.sum(_axes(x))
    count = max(1, grad.size // max(1, grad.shape[1]))
    of_x = grad - (_along(of_bias, x) + y * _along(of_weight, x)) / count if moving else grad
    of_x = of_x * scale * _along(1 if weight is None else weight, x)
    found = of_x, None if weight is None else of_weight, None if bias is None else of_bias
    gradients = tuple(gradient for gradient in found if gradient is not None)
    return gradients if len(gradients) > 1 else of_x
