"""Cross-entropy on the CPU, forward and backward.

The ladder of cross_entropy                what the rung adds
    cross_entropy_passes     NumPy: the logarithm of softmax as an array of its own, of which one number a row is used
    cross_entropy_rows       a row goes through all steps while the cache has it; only its log-sum-exp is made
    cross_entropy_parallel   prange: rows shared out over all cores
    cross_entropy_vectors    exponentials of a vector of numbers at once; tasks that wait for no late thread

Each row's loss is log(sum of e^(x - top)) + (top - x[target]), with top its largest number: nothing of the size of the
logits is written. Losses are kept, a number a row, and added in their order in float64: the sum is the same on any
number of threads. The gradient of a row is g (softmax - wanted), wanted being 1 for the target, or what label smoothing
makes of that; with the log-sum-exp kept, softmax is e^(x - lse), and a row is read once and written once.
"""

import functools
import math

import numpy as np
from numba import prange

from .. import team
from ..attention.cpu_softmax import exponentials
from ..attention.rows import largest, part_of, shared, total
from ..host import new, plain
from ..implementations import implementation
from ..indices import as_line
from ..simd import broadcast, fma, lanes, load, reduce_add, store
from ..simd.cache import cached_njit
from ..simd.exponential import exp
from ..simd.inner import inner_njit
from ..simd.line import memory
from ..team import share

compiled = cached_njit(error_model="numpy")  # log(0) and 0 / 0 are no errors
TOGETHER, NUMBERS = 8, 4096  # rows that take each step together at most, and numbers of them


def as_rows(x):
    """Logits as contiguous (rows, classes)."""
    if x.ndim == 2:
        return plain(x)
    x = np.moveaxis(x, 1, -1) if x.ndim > 2 else x
    return plain(x).reshape(math.prod(x.shape[:-1]), x.shape[-1])


@compiled
def _added(losses):
    result = 0.0
    for i in range(losses.size):
        result += losses[i]
    return result


def reduced(losses, reduction, count, shape):
    """The result: of `shape` where nothing is reduced."""
    if reduction == "none":
        return losses.reshape(shape)
    total = _added(losses)
    if reduction == "mean":
        total = total / count if count else math.nan
    return np.array(total, losses.dtype)


def on_classes(rung, keeps=False):
    """Let `rung(x, target, ignored, smoothing, losses, lse)` take logits of any dimensions, and reduce its losses.

    keeps: to return (result, lse).
    """

    @functools.wraps(rung)
    def whole(target, ignored, reduction, smoothing, count, input):
        losses, lse = np.empty(target.size, input.dtype), np.empty(target.size, input.dtype)
        if target.size:
            rung(as_rows(input), as_line(target), ignored, smoothing, losses, lse)
        result = reduced(losses, reduction, count, target.shape)
        return (result, lse.reshape(target.shape)) if keeps else result

    return whole


# ---- 1: NumPy --------------------------------------------------------------------------------------------------------


@implementation(
    "cross_entropy",
    device="cpu",
    adds="NumPy: the logarithm of softmax as an array, five passes over it, of which one number a row is used",
)
@on_classes
def cross_entropy_passes(x, target, ignored, smoothing, losses, lse):
    with np.errstate(invalid="ignore"):
        below = x - x.max(axis=1, keepdims=True)
        below -= np.log(np.exp(below).sum(axis=1, keepdims=True))
        counts = target != ignored
        losses[:] = -below[np.arange(len(x)), np.where(counts, target, 0)]
        if smoothing:
            losses *= 1 - smoothing
            losses -= smoothing * below.mean(axis=1)
        losses[~counts] = 0


# ---- 2, 3: row by row ------------------------------------------------------------------------------------------------


@inner_njit(error_model="numpy")
def _one_row(x, r, target, ignored, smoothing, losses, lse):
    real, n = x.dtype.type, x.shape[1]
    top = real(-np.inf)
    for i in range(n):
        top = max(top, x[r, i])
    summed, inner = real(0), real(0)
    for i in range(n):
        summed += math.exp(x[r, i] - top)
        inner += x[r, i]
    is_ignored = target[r] == ignored
    chosen = x[r, 0 if is_ignored else target[r]]  # an index that is ignored need be no class
    _finish(chosen, r, is_ignored, n, smoothing, top, summed, inner, losses, lse)


@inner_njit(error_model="numpy")
def _finish(chosen, r, is_ignored, n, smoothing, top, summed, inner, losses, lse):
    """Write the loss of row r, whose target's logit is `chosen`, and its log-sum-exp. inner: the sum of its logits."""
    one = losses.dtype.type(1)
    logarithm = losses.dtype.type(math.log(summed))
    loss = logarithm + (top - chosen)
    if smoothing > 0:
        loss = (one - smoothing) * loss + smoothing * (logarithm + (top - inner / losses.dtype.type(n)))
    losses[r] = losses.dtype.type(0) if is_ignored else loss
    lse[r] = top + logarithm


@compiled
def _rows(x, target, ignored, smoothing, losses, lse):
    for r in range(x.shape[0]):
        _one_row(x, r, target, ignored, smoothing, losses, lse)


@implementation(
    "cross_entropy",
    device="cpu",
    adds="a row goes through all steps while the cache has it, and nothing of the size of the logits is written",
)
@on_classes
def cross_entropy_rows(x, target, ignored, smoothing, losses, lse):
    _rows(x, target, ignored, smoothing, losses, lse)


@cached_njit(error_model="numpy", parallel=True)
def _parallel(x, target, ignored, smoothing, losses, lse):
    for r in prange(x.shape[0]):
        _one_row(x, r, target, ignored, smoothing, losses, lse)


@implementation("cross_entropy", device="cpu", adds="prange: rows shared out over all cores")
@on_classes
def cross_entropy_parallel(x, target, ignored, smoothing, losses, lse):
    _parallel(x, target, ignored, smoothing, losses, lse)


# ---- 4: vectors, and the team ----------------------------------------------------------------------------------------


@inner_njit(error_model="numpy")
def _sum_of_exponentials(x, start, top, n):
    """The sum of e^(x - top) for n numbers."""
    width, result, i = lanes(x), x.dtype.type(0), 0
    if n >= 2 * width:
        even, odd = broadcast(result), broadcast(result)
        while i + 2 * width <= n:
            even, odd = even + exp(load(x, start + i) - top), odd + exp(load(x, start + i + width) - top)
            i += 2 * width
        result = reduce_add(even + odd)
    while i < n:
        result += exp(x[start + i] - top)
        i += 1
    return result


@inner_njit(error_model="numpy")
def _loss_part(arguments, task, who):
    x, target, ignored, smoothing, losses, lse, tasks = arguments
    rows, n = x.shape
    line = memory(x)
    first, last = part_of(task, tasks, rows)
    # A step of a row waits for the one before it, not for other rows: several take each step, while they are in L1.
    # Largest numbers and sums wait where the results will stand.
    together = max(1, min(TOGETHER, NUMBERS // n))
    for begin in range(first, last, together):
        end = min(begin + together, last)
        for r in range(begin, end):
            lse[r] = largest(line, r * n, n)
        for r in range(begin, end):
            losses[r] = _sum_of_exponentials(line, r * n, lse[r], n)
        for r in range(begin, end):
            is_ignored, inner = target[r] == ignored, x.dtype.type(0)
            chosen = line[r * n + (0 if is_ignored else target[r])]  # an index that is ignored need be no class
            if smoothing > 0:
                inner = total(line, r * n, n)
            _finish(chosen, r, is_ignored, n, smoothing, lse[r], losses[r], inner, losses, lse)


@compiled
def _loss_shared(x, target, ignored, smoothing, losses, lse, tasks, threads, least, team):
    share(_loss_part, (x, target, ignored, smoothing, losses, lse, tasks), tasks, threads, least, team)


def by_vectors(x, target, ignored, smoothing, losses, lse):
    tasks, threads, least = shared(*x.shape)
    _loss_shared(x, target, ignored, smoothing, losses, lse, tasks, threads, least, team.members())


VECTORS = "exponentials of a vector of numbers at once; rows shared out over a team that waits for no late thread"


@implementation("cross_entropy", device="cpu", adds=VECTORS, public=True)
@on_classes
def cross_entropy_vectors(x, target, ignored, smoothing, losses, lse):
    by_vectors(x, target, ignored, smoothing, losses, lse)


@implementation(
    "cross_entropy_with_lse", device="cpu", adds=f"the log-sum-exp is returned, too; {VECTORS}", public=True
)
@functools.partial(on_classes, keeps=True)
def cross_entropy_with_lse_vectors(x, target, ignored, smoothing, losses, lse):
    by_vectors(x, target, ignored, smoothing, losses, lse)


# ---- gradients -------------------------------------------------------------------------------------------------------


def on_gradients(rung):
    """Let `rung(grad, x, target, lse, ignored, smoothing, factor, out)` take logits of any dimensions.

    grad: a line of one number, or of one for each row, to be multiplied by `factor`. lse: None where none is kept.
    """

    @functools.wraps(rung)
    def whole(target, ignored, reduction, smoothing, count, lse, grad, input):
        axis = 1 if input.ndim > 1 else 0
        moved = np.moveaxis(input, axis, -1).shape
        out = new(moved, input.dtype)
        if out.size:
            x = as_rows(input)
            lse = None if lse is None else plain(lse).reshape(-1)
            factor = x.dtype.type(1 / max(count, 1) if reduction == "mean" else 1)
            grad = plain(grad).reshape(-1)
            rung(grad, x, as_line(target), lse, ignored, smoothing, factor, out.reshape(x.shape))
        return out if axis == input.ndim - 1 else np.ascontiguousarray(np.moveaxis(out, -1, axis))

    return whole


@implementation(
    "cross_entropy_backward", device="cpu", adds="NumPy: softmax, less one for the target, times what arrives"
)
@on_gradients
def cross_entropy_backward_passes(grad, x, target, lse, ignored, smoothing, factor, out):
    np.exp(x - x.max(axis=1, keepdims=True), out=out)
    out /= out.sum(axis=1, keepdims=True)
    counts = target != ignored
    out -= smoothing / x.dtype.type(x.shape[1])
    out[np.arange(len(x)), np.where(counts, target, 0)] -= 1 - smoothing
    out *= (grad * factor)[:, None]
    out[~counts] = 0


@compiled
def _gradient_rows(grad, x, target, lse, ignored, smoothing, factor, out):
    real, n, grad_step = x.dtype.type, x.shape[1], 1 if grad.size > 1 else 0
    for r in range(x.shape[0]):
        g = grad[r * grad_step] * factor
        if target[r] == ignored:
            out[r] = real(0)
            continue
        top, summed = real(-np.inf), real(0)
        for i in range(n):
            top = max(top, x[r, i])
        for i in range(n):
            out[r, i] = math.exp(x[r, i] - top)
            summed += out[r, i]
        for i in range(n):
            out[r, i] = g * (out[r, i] / summed - smoothing / real(n))
        out[r, target[r]] -= g * (real(1) - smoothing)


@implementation(
    "cross_entropy_backward", device="cpu", adds="a row goes through all steps while the cache has it: one fused loop"
)
@on_gradients
def cross_entropy_backward_rows(grad, x, target, lse, ignored, smoothing, factor, out):
    _gradient_rows(grad, x, target, lse, ignored, smoothing, factor, out)


@inner_njit(error_model="numpy")
def _exponentials_below(x, start, lse, n, g, base, out):
    """out = g e^(x - lse) - base for n numbers: softmax from what was kept, scaled, in one pass."""
    width, i = lanes(out), 0
    while i + 2 * width <= n:
        even, odd = exp(load(x, start + i) - lse), exp(load(x, start + i + width) - lse)
        store(out, start + i, fma(even, g, -base))
        store(out, start + i + width, fma(odd, g, -base))
        i += 2 * width
    while i < n:
        out[start + i] = g * exp(x[start + i] - lse) - base
        i += 1


@inner_njit()
def _scaled(out, start, n, factor, base):
    """out = factor out - base for n numbers."""
    width, i = lanes(out), 0
    while i + width <= n:
        store(out, start + i, fma(load(out, start + i), factor, -base))
        i += width
    while i < n:
        out[start + i] = factor * out[start + i] - base
        i += 1


@inner_njit(error_model="numpy")
def _softmax_below(line, start, lse, r, n, g, base, out):
    """out = g softmax - base for row r. Only one of the ways is compiled: whether lse is None follows from its type."""
    if lse is None:
        summed = exponentials(line, start, largest(line, start, n), n, out, start)
        _scaled(out, start, n, g / summed, base)
    else:
        _exponentials_below(line, start, lse[r], n, g, base, out)


@inner_njit(error_model="numpy")
def _gradient_part(arguments, task, who):
    grad, x, target, lse, ignored, smoothing, factor, out, tasks = arguments
    rows, n = x.shape
    line, result, real = memory(x), memory(out), x.dtype.type
    grad_step = 1 if grad.size > 1 else 0
    first, last = part_of(task, tasks, rows)
    for r in range(first, last):
        start, g = r * n, grad[r * grad_step] * factor
        if target[r] == ignored:
            result[start : start + n] = real(0)
            continue
        _softmax_below(line, start, lse, r, n, g, g * smoothing / real(n), result)
        result[start + target[r]] -= g * (real(1) - smoothing)


@compiled
def _gradient_shared(grad, x, target, lse, ignored, smoothing, factor, out, tasks, threads, least, team):
    arguments = grad, x, target, lse, ignored, smoothing, factor, out, tasks
    share(_gradient_part, arguments, tasks, threads, least, team)


def gradient_by_vectors(*arguments):
    tasks, threads, least = shared(*arguments[-1].shape)
    _gradient_shared(*arguments, tasks, threads, least, team.members())


@implementation("cross_entropy_backward", device="cpu", adds=VECTORS, public=True)
@on_gradients
def cross_entropy_backward_vectors(grad, x, target, lse, ignored, smoothing, factor, out):
    gradient_by_vectors(grad, x, target, lse, ignored, smoothing, factor, out)


@implementation(
    "cross_entropy_backward_from_lse",
    device="cpu",
    adds="softmax is e^(x - lse) of the log-sum-exp that was kept: one pass, no largest number, no sum",
    public=True,
)
@on_gradients
def cross_entropy_backward_from_lse_vectors(grad, x, target, lse, ignored, smoothing, factor, out):
    gradient_by_vectors(grad, x, target, lse, ignored, smoothing, factor, out)
