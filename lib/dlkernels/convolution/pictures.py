"""From arrays of any layout to what loops over pictures can take."""

import functools

import numpy as np

from ..host import plain


def on_pictures(rung):
    """Let `rung`, written for contiguous arrays with a batch and a bias, take what `conv2d` prepares. Returns the
    result.

    Arrays that are not contiguous are copied; so are read-only ones, for which numba would compile everything again. A
    result of no elements never reaches the rung, nor do sums of no terms.
    """

    @functools.wraps(rung)
    def wrapper(x, weight, bias, g, out):
        if weight.size == 0:
            out[...] = 0 if bias is None else bias[:, None, None]
        elif out.size:
            bias = no_bias(len(weight), out.dtype) if bias is None else plain(bias)
            rung(with_batch(plain(x)), plain(weight), bias, g, with_batch(out))
        return out

    return wrapper


@functools.lru_cache(maxsize=256)
def no_bias(channels, dtype):
    """Zeros, the same array each time: who gets it need not look at them. Nobody writes to it."""
    return np.zeros(channels, dtype)


def with_batch(x):
    return x if x.ndim == 4 else x[None]
