"""Reductions in NumPy and float64: what every other implementation is tested against.

sum          the sum of an array, or along some of its dimensions
sum_backward the gradient that arrives at a sum, in each place that was added up
cumsum       running sums along a dimension: out[k] = x[0] + ... + x[k]
histogram    how many numbers lie in each of equal bins from min to max; those outside, and NaN, in none. The last bin
             has both its edges. As for torch.histc, the bin is (x - min) * bins / (max - min), computed in the type of
             x: which of two bins a number beside their edge lies in is a matter of rounding, so that here the type is
             part of the definition
"""

import numpy as np


def _double(x):
    return np.asarray(x, dtype=np.float64)


def sum(x, dim=None, keepdim=False):
    return np.sum(_double(x), axis=dim, keepdims=keepdim)


def sum_backward(grad, x, dim=None, keepdim=False):
    grad = _double(grad) if keepdim or dim is None else np.expand_dims(_double(grad), dim)
    return np.broadcast_to(grad, x.shape)


def cumsum(x, dim):
    return np.cumsum(_double(x), axis=dim)


def histogram(x, bins, min, max):
    real = np.asarray(x).dtype.type
    low, high = real(min), real(max)
    inside = x[(x >= low) & (x <= high)]
    index = ((inside - low) * real(bins) / (high - low)).astype(np.int64)
    return np.bincount(np.minimum(index, bins - 1), minlength=bins)
