"""Reductions in NumPy and float64: what every other implementation is tested against.

sum          the sum of an array, or along some of its dimensions
"""

import numpy as np


def _double(x):
    return np.asarray(x, dtype=np.float64)


def sum(x, dim=None, keepdim=False):
    return np.sum(_double(x), axis=dim, keepdims=keepdim)
