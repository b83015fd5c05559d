"""Which range of numbers shall the codes cover? A wide one clips nothing and has coarse steps; a narrow one clips.

min_max          the smallest and largest: clips nothing; one outlier makes all steps coarse
percentile       leaves out the same part of the numbers at both ends
least_squares    the range with the smallest mean square error, found by trying
entropy          the range whose histogram loses the least information (Migacz, "8-bit Inference with TensorRT", 2017)

Each returns (low, high); `calibrate` makes a scale and a zero point of it. A code q stands for scale (q - zero_point).
"""

import numpy as np

import dlkernels

TRACE = 1e-4


def limits(bits):
    """The smallest and the largest code of `bits` bits, with a sign: -128 and 127 of 8."""
    if isinstance(bits, bool) or not isinstance(bits, int | np.integer) or not 2 <= bits <= 16:
        raise ValueError(f"bits is {bits!r}; expected a whole number from 2 to 16.")
    return -(1 << int(bits) - 1), (1 << int(bits) - 1) - 1


def min_max(x, bits=8, symmetric=False):
    """x: an array of any shape, finite floating-point numbers, one at least; so in all four."""
    x = finite(x)
    return float(x.min()), float(x.max())


def percentile(x, bits=8, symmetric=False, percent=99.9):
    """percent: of the numbers (symmetric: of their sizes) that are inside, half of the others at each end."""
    if not 0 < percent <= 100:
        raise ValueError(f"percent is {percent}; expected a number above 0, 100 at most.")
    x = finite(x)
    if symmetric:
        high = float(np.percentile(np.abs(x), percent))
        return -high, high
    low, high = np.percentile(x, [(100 - percent) / 2, (100 + percent) / 2])
    return float(low), float(high)


def least_squares(x, bits=8, symmetric=False, tries=80):
    """Of `tries` ranges, from the whole one down to a twentieth of it, the one with the smallest error."""
    x = finite(x)
    low, high = min_max(x)
    if symmetric:
        high = max(-low, high)
        low = -high
    best = None
    for part in np.linspace(1, 0.05, tries):
        scale, zero_point = scale_and_zero_point(part * low, part * high, bits, symmetric)
        error = np.mean(np.square(x - rounded(x, scale, zero_point, bits), dtype=np.float64))
        if best is None or error < best[0]:
            best = error, part
    return float(best[1] * low), float(best[1] * high)


def entropy(x, bits=8, symmetric=False, bins=2048):
    """The sizes |x| go into a histogram of `bins`. Each range that ends at one of them is tried: what is beyond it
    goes into its last bin (P), the histogram is merged into as many bins as there are codes for one sign and spread
    out again (Q); the smallest Kullback-Leibler divergence of P from Q wins. Where only P has something, Q is given a
    trace (1e-4 of a number, as MXNet does), else one outlier would make all ranges without it infinitely bad."""
    x = finite(x)
    size = np.abs(x)
    codes = limits(bits)[1] + 1
    top = float(size.max())
    if bins < codes:
        raise ValueError(f"bins is {bins}; expected at least {codes}, one for each code of a sign.")
    if top == 0:
        return 0.0, 0.0
    counts, _ = np.histogram(size, bins, (0, top))
    counts = counts.astype(np.float64)
    divergences = np.full(bins + 1, np.inf)
    for end in range(codes, bins + 1):
        p = counts[:end].copy()
        p[-1] += counts[end:].sum()
        q = _merged(counts[:end], codes)
        divergences[end] = kl_divergence(p, np.where((q == 0) & (p > 0), TRACE, q))
    high = int(divergences.argmin()) * top / bins
    return max(float(x.min()), -high), min(float(x.max()), high)


def _merged(counts, codes):
    """A histogram as `codes` numbers can tell it: each merged bin spread evenly over those of its bins that are not
    empty."""
    of = np.arange(len(counts)) * codes // len(counts)
    full = counts > 0
    sums = np.bincount(of, counts, codes)
    return np.where(full, (sums / np.maximum(np.bincount(of, full, codes), 1))[of], 0)


def kl_divergence(p, q):
    """Sum of p log(p / q) of two histograms, each divided by its sum; infinite where q is 0 and p is not."""
    p, q = p / p.sum(), q / max(q.sum(), np.finfo(np.float64).tiny)
    positive = p > 0
    if (q[positive] == 0).any():
        return np.inf
    return float(np.sum(p[positive] * np.log(p[positive] / q[positive])))


METHODS = {method.__name__: method for method in (min_max, percentile, least_squares, entropy)}


def calibrate(x, method="min_max", bits=8, symmetric=False, **options):
    """(scale, zero_point), np.float32 and np.int32, for the numbers x (any shape, finite, one at least)."""
    if method not in METHODS:
        raise ValueError(f"method is {method!r}; expected one of {', '.join(METHODS)}.")
    return scale_and_zero_point(*METHODS[method](x, bits, symmetric, **options), bits, symmetric)


def scale_and_zero_point(low, high, bits=8, symmetric=False):
    """Those with which the codes cover low to high, 0 always included: 0 has a code of its own, so that padding and
    ReLU stay exact (Jacob et al. 2018, section 2.1). symmetric: the zero point is 0. low, high: numbers or arrays."""
    least, most = limits(bits)
    low, high = np.minimum(low, 0.0), np.maximum(high, 0.0)
    if symmetric:
        scale, zero_point = np.maximum(-low, high) / most, np.zeros_like(low)
    else:
        scale = (high - low) / (most - least)
        zero_point = least - np.rint(low / np.where(scale > 0, scale, 1))
    scale = np.where(scale > 0, np.maximum(scale, np.finfo(np.float32).tiny), 1)  # 1: nothing but zeros
    zero_point = np.clip(zero_point, least, most).astype(np.int32)
    return scale.astype(np.float32)[()], zero_point[()]


def rounded(x, scale, zero_point, bits=8):
    """What is left of x, float32 or float64, after it was a code."""
    return dlkernels.fake_quantize(x, x.dtype.type(scale), zero_point, *limits(bits))


def finite(x):
    """x as an array; ValueError where it has no numbers, or some that are not finite."""
    x = np.asarray(x)
    if not x.size or x.dtype.kind != "f" or not np.isfinite(x).all():
        raise ValueError(f"x has {x.size} numbers of {x.dtype}; expected finite floating-point numbers, one at least.")
    return x
