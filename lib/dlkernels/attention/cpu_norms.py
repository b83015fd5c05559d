"""Layer norm and RMS norm on the CPU, forward and backward.

The ladder of layer_norm                   what the rung adds
    layer_norm_passes      NumPy's operators: a pass for the mean, one for the variance, one for each step that follows
    layer_norm_vectors     a row goes through all of them while the cache has it; vectors, all cores

rms_norm is the same without the mean, and without bias. With y the normalised row, s what it was multiplied by, and
g = grad * weight, the gradient of a row is

    s (g - mean of g - y * mean of (g y))            without the middle term for rms_norm

and that of weight the sum over rows of grad * y. Each task adds up its rows in memory of its own.
"""

import functools
import math

import numpy as np

from .. import team
from ..host import new, plain
from ..implementations import implementation
from ..simd import broadcast, fma, lanes, load, prefetch, reduce_add, store
from ..simd.cache import cached_njit
from ..simd.inner import inner_njit
from ..simd.line import memory
from ..team import share
from .rows import part_of, shared, total

NEAR = 1 << 12  # bytes of a row up to which fetching the next one was measured to pay: up to 1.4 times as fast


def on_last(rung):
    """Let `rung(x, weight, bias, eps, out)`, written for contiguous rows, take arrays of any dimensions and no
    weight."""

    @functools.wraps(rung)
    def wrapper(weight, bias, eps, x):
        n = x.shape[-1]
        out = new(x.shape, x.dtype)
        if out.size:
            weight = np.ones(n, x.dtype) if weight is None else plain(weight)
            bias = np.zeros(n, x.dtype) if bias is None else plain(bias)
            rung(plain(x).reshape(-1, n), weight, bias, x.dtype.type(eps), out.reshape(-1, n))
        return out

    return wrapper


# ---- 1: NumPy's operators ----------------------------------------------------------------------------------------


@implementation(
    "layer_norm", device="cpu", adds="NumPy's operators, one after the other: each is a pass over the array"
)
@on_last
def layer_norm_passes(x, weight, bias, eps, out):
    np.subtract(x, x.mean(axis=1, keepdims=True), out=out)
    out /= np.sqrt((out * out).mean(axis=1, keepdims=True) + eps)
    out *= weight
    out += bias


@implementation("rms_norm", device="cpu", adds="NumPy's operators, one after the other: each is a pass over the array")
@on_last
def rms_norm_passes(x, weight, bias, eps, out):
    np.divide(x, np.sqrt((x * x).mean(axis=1, keepdims=True) + eps), out=out)
    out *= weight


# ---- 2: row by row, vectors, all cores ---------------------------------------------------------------------------


@inner_njit()
def squares(line, start, mean, n):
    """The sum of (x - mean)^2 for n numbers. A row that is not long has the one behind it fetched meanwhile."""
    ahead = n if n * line.itemsize <= NEAR else 0
    width, result, i = lanes(line), line.dtype.type(0), 0
    if n >= 2 * width:
        sum0, sum1 = broadcast(result), broadcast(result)
        while i + 2 * width <= n:
            if ahead:
                prefetch(line, start + ahead + i)
                prefetch(line, start + ahead + i + width)
            diff0, diff1 = load(line, start + i) - mean, load(line, start + i + width) - mean
            sum0, sum1 = fma(diff0, diff0, sum0), fma(diff1, diff1, sum1)
            i += 2 * width
        result = reduce_add(sum0 + sum1)
    while i < n:
        result += (line[start + i] - mean) * (line[start + i] - mean)
        i += 1
    return result


@inner_njit(error_model="numpy")
def moments(line, start, n, eps, centred):
    """(mean or 0, what x - mean is multiplied by) of a row."""
    count, mean = line.dtype.type(n), line.dtype.type(0)
    if centred:
        mean = total(line, start, n) / count
    return mean, line.dtype.type(1) / line.dtype.type(math.sqrt(squares(line, start, mean, n) / count + eps))


@inner_njit(error_model="numpy", fastmath={"contract"})
def _norm_part(arguments, task, who):
    x, weight, bias, eps, out, centred, tasks = arguments
    rows, n = out.shape
    line, result, factors, terms = memory(x), memory(out), memory(weight), memory(bias)
    width = lanes(out)
    start, stop = part_of(task, tasks, rows)
    for r in range(start, stop):
        mean, scale = moments(line, r * n, n, eps, centred)
        row_start, i = r * n, 0
        while i + width <= n:
            y = (load(line, row_start + i) - mean) * scale
            store(result, row_start + i, fma(y, load(factors, i), load(terms, i)))
            i += width
        while i < n:
            result[row_start + i] = (line[row_start + i] - mean) * scale * weight[i] + bias[i]
            i += 1


@cached_njit(error_model="numpy")
def _norm_shared(x, weight, bias, eps, out, centred, tasks, threads, least, team):
    share(_norm_part, (x, weight, bias, eps, out, centred, tasks), tasks, threads, least, team)


def by_vectors(x, weight, bias, eps, out, centred):
    tasks, threads, least = shared(*out.shape)
    _norm_shared(x, weight, bias, eps, out, centred, tasks, threads, least, team.members())


VECTORS = "a row goes through all steps while the cache has it, a vector at a time; rows shared out over all cores"


@implementation("layer_norm", device="cpu", adds=VECTORS, public=True)
@on_last
def layer_norm_vectors(x, weight, bias, eps, out):
    by_vectors(x, weight, bias, eps, out, True)


@implementation("rms_norm", device="cpu", adds=VECTORS, public=True)
@on_last
def rms_norm_vectors(x, weight, bias, eps, out):
    by_vectors(x, weight, bias, eps, out, False)


# ---- gradients ---------------------------------------------------------------------------------------------------


@inner_njit(error_model="numpy", fastmath={"contract"})
def _gradient_part(arguments, task, who):
    """Gradients of the task's rows, and its part of those of weight and bias: sums[task, 0] and sums[task, 1]."""
    grad, x, weight, eps, out, sums, centred, tasks = arguments
    rows, n = out.shape
    grad, line, weight, result, part = memory(grad), memory(x), memory(weight), memory(out), memory(sums)
    of_weight, of_bias = 2 * task * n, (2 * task + 1) * n
    width, zero, count = lanes(out), out.dtype.type(0), out.dtype.type(n)
    start, stop = part_of(task, tasks, rows)
    for r in range(start, stop):
        row_start, i = r * n, 0
        mean, scale = moments(line, row_start, n, eps, centred)
        along, off = zero, zero  # the sums of grad * weight * y and of grad * weight
        if n >= width:
            alongs, offs = broadcast(zero), broadcast(zero)
            while i + width <= n:
                g, y = load(grad, row_start + i), (load(line, row_start + i) - mean) * scale
                store(part, of_weight + i, fma(g, y, load(part, of_weight + i)))
                store(part, of_bias + i, g + load(part, of_bias + i))
                g = g * load(weight, i)
                alongs, offs = fma(g, y, alongs), g + offs
                i += width
            along, off = reduce_add(alongs), reduce_add(offs)
        while i < n:
            g, y = grad[row_start + i], (line[row_start + i] - mean) * scale
            part[of_weight + i] += g * y
            part[of_bias + i] += g
            along += g * weight[i] * y
            off += g * weight[i]
            i += 1
        along, off, i = along / count, off / count if centred else zero, 0
        while i + width <= n:
            y = (load(line, row_start + i) - mean) * scale
            store(result, row_start + i, (fma(load(grad, row_start + i), load(weight, i), y * -along) - off) * scale)
            i += width
        while i < n:
            y = (line[row_start + i] - mean) * scale
            result[row_start + i] = (grad[row_start + i] * weight[i] - off - y * along) * scale
            i += 1


@cached_njit(error_model="numpy")
def _gradient_shared(grad, x, weight, eps, out, sums, centred, tasks, threads, least, team):
    share(_gradient_part, (grad, x, weight, eps, out, sums, centred, tasks), tasks, threads, least, team)


def gradients(weight, bias, eps, grad, x, centred):
    """Of x, and of weight and bias where there are such."""
    n = x.shape[-1]
    of_x, summed = np.empty(x.shape, x.dtype), np.zeros((2, n))
    if x.size:
        out, factors = of_x.reshape(-1, n), np.ones(n, x.dtype) if weight is None else plain(weight)
        tasks, threads, least = shared(*out.shape)
        sums = np.zeros((tasks, 2, n), x.dtype)
        term = x.dtype.type(eps)
        _gradient_shared(
            plain(grad), plain(x), factors, term, out, sums, centred, tasks, threads, least, team.members()
        )
        summed = sums.sum(axis=0, dtype=np.float64)
    of_weight, of_bias = summed.astype(x.dtype)
    found = [of_x, *([] if weight is None else [of_weight]), *([] if bias is None else [of_bias])]
    return tuple(found) if len(found) > 1 else of_x


GRADIENT = (
    "mean and variance are computed again, not kept; rows shared out over all cores, each sums for weight and bias "
    "alone"
)


@implementation("layer_norm_backward", device="cpu", adds=GRADIENT, public=True)
def layer_norm_backward_vectors(weight, bias, eps, grad, x):
    return gradients(weight, bias, eps, grad, x, True)


@implementation("rms_norm_backward", device="cpu", adds=GRADIENT, public=True)
def rms_norm_backward_vectors(weight, eps, grad, x):
    return gradients(weight, None, eps, grad, x, False)
