"""Batch normalisation on the CPU, forward and backward.

The ladder of batch_norm           what the rung adds
    batch_norm_passes      NumPy's operators: a pass for the mean, one for the variance, one for each step that follows
    batch_norm_compiled    a channel goes through all steps while the cache has it
    batch_norm_parallel    prange: each thread takes channels
    batch_norm_team        tasks that wait for no late thread; blocks of a channel where channels are few; where a
                           channel is a column of numbers, many side by side in vectors

With y the normalised input, s what it was multiplied by, and n values in a channel, the gradient of input is

    s * weight * (grad - (sum of grad + y * sum of (grad * y)) / n)       without what is divided by n, where mean and
                                                                          variance are given

Both sums are found in one pass. All sums are added in float64: a mean of 10000 with deviations of 1 keeps them. The
variance is the sum of squared deviations from the mean of a block, which is read a second time from the cache; blocks
are joined as Chan, Golub and LeVeque do (1979).
"""

import functools
import math

import numpy as np
from numba import prange

from .. import team
from ..host import new, plain
from ..implementations import implementation
from ..simd.cache import cached_njit
from ..simd.inner import inner_njit
from ..simd.line import memory
from ..team import share

BLOCK = 1 << 15  # elements of a block, 128 KiB: the L2 cache has it when it is read again
FEW = 16  # channels; where there are fewer, each is shared out in blocks
COLUMNS = 64  # channels of a task where each is a column
ALONE = 1 << 15  # elements below which waking another thread costs more than it gains
SUM = {"reassoc", "contract"}  # a sum may be added up in vectors


# ---- a block of a channel: some of its images ------------------------------------------------------------------------


@inner_njit()
def piece(x, start, count):
    """`count` numbers of a line, as a line: indices that begin elsewhere than at 0 may be negative for all that the
    compiler knows, and a loop over them has no vectors."""
    return x[start : start + count]


@inner_njit(error_model="numpy", fastmath=SUM)
def block_moments(x, c, first, last, channels, size):
    """(mean, sum of squared deviations from it) of channel c of images first ... last - 1, in float64."""
    total, squares = 0.0, 0.0
    for image in range(first, last):
        line = piece(x, (image * channels + c) * size, size)
        for i in range(size):
            total += np.float64(line[i])
    mean = total / ((last - first) * size)
    for image in range(first, last):
        line = piece(x, (image * channels + c) * size, size)
        for i in range(size):
            off = np.float64(line[i]) - mean
            squares += off * off
    return mean, squares


@inner_njit(error_model="numpy", fastmath={"contract"})
def block_apply(x, out, c, first, last, channels, size, mean, factor, term):
    """out = (x - mean) * factor + term."""
    for image in range(first, last):
        line, target = piece(x, (image * channels + c) * size, size), piece(out, (image * channels + c) * size, size)
        for i in range(size):
            target[i] = (line[i] - mean) * factor + term


@inner_njit(error_model="numpy", fastmath=SUM)
def block_products(grad, x, c, first, last, channels, size, mean):
    """(sum of grad, sum of grad * (x - mean)) of a block, in float64."""
    total, along = 0.0, 0.0
    for image in range(first, last):
        line, arrived = piece(x, (image * channels + c) * size, size), piece(grad, (image * channels + c) * size, size)
        for i in range(size):
            g = np.float64(arrived[i])
            total += g
            along += g * (np.float64(line[i]) - mean)
    return total, along


@inner_njit(error_model="numpy", fastmath={"contract"})
def block_gradient(grad, x, out, c, first, last, channels, size, mean, factor, slope, term):
    """out = grad * factor + (x - mean) * slope + term."""
    for image in range(first, last):
        line, arrived = piece(x, (image * channels + c) * size, size), piece(grad, (image * channels + c) * size, size)
        target = piece(out, (image * channels + c) * size, size)
        for i in range(size):
            target[i] = arrived[i] * factor + ((line[i] - mean) * slope + term)


@inner_njit(error_model="numpy")
def joined(parts, c, images, group, size):
    """(mean, variance) of channel c from those of its blocks of `group` images, in their order."""
    mean, squares, before = 0.0, 0.0, 0.0
    for b in range(parts.shape[1]):
        count = (min((b + 1) * group, images) - b * group) * size
        off = parts[c, b, 0] - mean
        after = before + count
        mean += off * (count / after)
        squares += parts[c, b, 1] + off * off * (before * (count / after))
        before = after
    return mean, squares / before


@inner_njit(error_model="numpy")
def coefficients(c, mean, var, weight, bias, eps, out):
    """(mean, factor, term) of `block_apply`; the mean's rounding is in the term."""
    near = out.dtype.type(mean)
    factor = weight[c] / math.sqrt(var + eps)
    return near, out.dtype.type(factor), out.dtype.type(bias[c] + (near - mean) * factor)


@inner_njit(error_model="numpy")
def slopes(c, total, along, mean, var, weight, eps, count, moving, out):
    """(mean, factor, slope, term) of `block_gradient`. moving: whether mean and variance are those of the input."""
    real, scale = out.dtype.type, 1 / math.sqrt(var + eps)
    near, factor = real(mean), weight[c] * scale
    slope, term = 0.0, 0.0
    if moving:
        slope = -factor * scale * scale * along / count
        term = -factor * total / count + (near - mean) * slope
    return near, real(factor), real(slope), real(term)


# ---- a channel, and all of them --------------------------------------------------------------------------------------


@inner_njit(error_model="numpy")
def _channel_moments(x, c, parts, images, channels, size, group):
    for b in range(parts.shape[1]):
        parts[c, b] = block_moments(x, c, b * group, min((b + 1) * group, images), channels, size)
    return joined(parts, c, images, group, size)


@inner_njit(error_model="numpy")
def _forward_channel(c, x, weight, bias, eps, out, mean, var, parts, found, shape):
    images, channels, size, group = shape
    if found:
        mean[c], var[c] = _channel_moments(x, c, parts, images, channels, size, group)
    near, factor, term = coefficients(c, mean[c], var[c], weight, bias, eps, out)
    block_apply(x, out, c, 0, images, channels, size, near, factor, term)


@inner_njit(error_model="numpy")
def _backward_channel(c, grad, x, weight, eps, out, mean, var, sums, parts, found, moving, shape):
    images, channels, size, group = shape
    if found:
        mean[c], var[c] = _channel_moments(x, c, parts, images, channels, size, group)
    total, along = 0.0, 0.0
    for b in range(parts.shape[1]):
        block_total, block_along = block_products(
            grad, x, c, b * group, min((b + 1) * group, images), channels, size, mean[c]
        )
        total, along = total + block_total, along + block_along
    sums[0, c], sums[1, c] = along / math.sqrt(var[c] + eps), total
    count = images * size
    near, factor, slope, term = slopes(c, total, along, mean[c], var[c], weight, eps, count, moving, out)
    block_gradient(grad, x, out, c, 0, images, channels, size, near, factor, slope, term)


# ---- what every rung gets --------------------------------------------------------------------------------------------


def shape_of(x):
    """(images, channels, numbers of a channel in one image, images of a block)."""
    size = math.prod(x.shape[2:])
    return x.shape[0], x.shape[1], size, max(1, BLOCK // max(1, size))


def room(shape):
    """Where blocks leave their moments or sums."""
    images, channels, _, group = shape
    return np.empty((channels, -(-images // group), 2))


def _given(mean, var, weight, bias, x):
    """(whether statistics are to be found, mean, var, weight, bias) in float64."""
    channels, found = x.shape[1], mean is None
    wide = [None if array is None else np.array(array, np.float64) for array in (mean, var, weight, bias)]
    empty = np.empty(channels), np.empty(channels), np.ones(channels), np.zeros(channels)
    return found, *(array if array is not None else default for array, default in zip(wide, empty, strict=True))


def _forward(loop, mean, var, weight, bias, eps, x):
    """(result, mean, var) by loop(x, weight, bias, eps, out, mean, var, parts, found, shape)."""
    found, mean, var, weight, bias = _given(mean, var, weight, bias, x)
    out, shape = new(x.shape, x.dtype), shape_of(x)
    if x.size:
        loop(plain(x).reshape(-1), weight, bias, eps, out.reshape(-1), mean, var, room(shape), found, shape)
    return out, mean.astype(x.dtype), var.astype(x.dtype)


def _backward(loop, mean, var, weight, bias, eps, grad, x, moving):
    """Gradients by loop(grad, x, weight, eps, out, mean, var, sums, parts, found, moving, shape)."""
    wanted = weight is not None, bias is not None
    found, mean, var, weight, _ = _given(mean, var, weight, bias, x)
    out, shape, sums = new(x.shape, x.dtype), shape_of(x), np.zeros((2, x.shape[1]))
    if x.size:
        lines = plain(grad).reshape(-1), plain(x).reshape(-1)
        loop(*lines, weight, eps, out.reshape(-1), mean, var, sums, room(shape), found, moving, shape)
    sums = sums.astype(x.dtype)
    result = out, *(gradient for gradient, there in zip(sums, wanted, strict=True) if there)
    return result if len(result) > 1 else out


# ---- 1: NumPy's operators ----------------------------------------------------------------------------------------


@implementation(
    "batch_norm", device="cpu", adds="NumPy's operators, one after the other: each is a pass over the array"
)
def batch_norm_passes(mean, var, weight, bias, eps, x):
    beside = (-1, *[1] * (x.ndim - 2))
    if not x.size:
        return np.empty(x.shape, x.dtype)
    if mean is None:
        axes = (0, *range(2, x.ndim))
        mean = x.mean(axes, dtype=np.float64)
        var = np.square(x - mean.reshape(beside)).mean(axes)
    factor = (1 if weight is None else weight) / np.sqrt(np.asarray(var, np.float64) + eps)
    out = (x - mean.reshape(beside)).astype(x.dtype, copy=False)
    out *= factor.reshape(beside).astype(x.dtype)
    if bias is not None:
        out += bias.reshape(beside)
    return out


# ---- 2 and 3: channel by channel ---------------------------------------------------------------------------------


@cached_njit(error_model="numpy")
def _forward_compiled(x, weight, bias, eps, out, mean, var, parts, found, shape):
    for c in range(shape[1]):
        _forward_channel(c, memory(x), weight, bias, eps, memory(out), mean, var, parts, found, shape)


@cached_njit(parallel=True, error_model="numpy")
def _forward_parallel(x, weight, bias, eps, out, mean, var, parts, found, shape):
    for c in prange(shape[1]):
        _forward_channel(c, memory(x), weight, bias, eps, memory(out), mean, var, parts, found, shape)


@implementation(
    "batch_norm", device="cpu", adds="a channel goes through all steps while the cache has it: one pass over memory"
)
def batch_norm_compiled(mean, var, weight, bias, eps, x):
    return _forward(_forward_compiled, mean, var, weight, bias, eps, x)[0]


@implementation("batch_norm", device="cpu", adds="prange: each thread takes channels")
def batch_norm_parallel(mean, var, weight, bias, eps, x):
    return _forward(_forward_parallel, mean, var, weight, bias, eps, x)[0]


# ---- 4: a team -------------------------------------------------------------------------------------------------------
# A task is a channel; where they are few, a block of one, in phases: 1 for sums, 2 for results.


@inner_njit(error_model="numpy")
def _forward_part(arguments, task, who):
    phase, x, weight, bias, eps, out, mean, var, parts, found, shape = arguments
    images, channels, size, group = shape
    x, out = memory(x), memory(out)
    if phase == 0:
        _forward_channel(task, x, weight, bias, eps, out, mean, var, parts, found, shape)
        return
    c, b = task // parts.shape[1], task % parts.shape[1]
    start, stop = b * group, min((b + 1) * group, images)
    if phase == 1:
        parts[c, b] = block_moments(x, c, start, stop, channels, size)
    else:
        near, factor, term = coefficients(c, mean[c], var[c], weight, bias, eps, out)
        block_apply(x, out, c, start, stop, channels, size, near, factor, term)


@cached_njit(error_model="numpy")
def _forward_shared(x, weight, bias, eps, out, mean, var, parts, found, shape, threads, least, team):
    images, channels, size, group = shape
    rest = x, weight, bias, eps, out, mean, var, parts, found, shape
    if channels >= FEW:
        share(_forward_part, (0, *rest), channels, threads, least, team)
        return
    tasks = channels * parts.shape[1]
    if found:
        share(_forward_part, (1, *rest), tasks, threads, least, team)
        for c in range(channels):
            mean[c], var[c] = joined(parts, c, images, group, size)
    share(_forward_part, (2, *rest), tasks, threads, least, team)


@inner_njit(error_model="numpy")
def _backward_part(arguments, task, who):
    phase, grad, x, weight, eps, out, mean, var, sums, parts, found, moving, shape = arguments
    images, channels, size, group = shape
    grad, x, out = memory(grad), memory(x), memory(out)
    if phase == 0:
        _backward_channel(task, grad, x, weight, eps, out, mean, var, sums, parts, found, moving, shape)
        return
    c, b = task // parts.shape[1], task % parts.shape[1]
    start, stop = b * group, min((b + 1) * group, images)
    if phase == 1:
        parts[c, b] = block_moments(x, c, start, stop, channels, size)
    elif phase == 2:
        parts[c, b] = block_products(grad, x, c, start, stop, channels, size, mean[c])
    else:
        along, count = sums[0, c] * math.sqrt(var[c] + eps), images * size
        near, factor, slope, term = slopes(c, sums[1, c], along, mean[c], var[c], weight, eps, count, moving, out)
        block_gradient(grad, x, out, c, start, stop, channels, size, near, factor, slope, term)


@cached_njit(error_model="numpy")
def _backward_shared(grad, x, weight, eps, out, mean, var, sums, parts, found, moving, shape, threads, least, team):
    images, channels, size, group = shape
    rest = grad, x, weight, eps, out, mean, var, sums, parts, found, moving, shape
    if channels >= FEW:
        share(_backward_part, (0, *rest), channels, threads, least, team)
        return
    tasks = channels * parts.shape[1]
    if found:
        share(_backward_part, (1, *rest), tasks, threads, least, team)
        for c in range(channels):
            mean[c], var[c] = joined(parts, c, images, group, size)
    share(_backward_part, (2, *rest), tasks, threads, least, team)
    for c in range(channels):
        total, along = 0.0, 0.0
        for b in range(parts.shape[1]):
            total, along = total + parts[c, b, 0], along + parts[c, b, 1]
        sums[0, c], sums[1, c] = along / math.sqrt(var[c] + eps), total
    share(_backward_part, (3, *rest), tasks, threads, least, team)


# ---- where a channel is a column: input (batch, channels) ------------------------------------------------------------


@inner_njit(error_model="numpy")
def _column_moments(x, first, count, rows, channels, mean, var):
    """Of `count` columns from `first` on: neighbours side by side, a row after the other. mean, var: of these."""
    mean[:count] = 0.0
    var[:count] = 0.0
    for r in range(rows):
        line = piece(x, r * channels + first, count)
        for c in range(count):
            mean[c] += np.float64(line[c])
    for c in range(count):
        mean[c] /= rows
    for r in range(rows):
        line = piece(x, r * channels + first, count)
        for c in range(count):
            off = np.float64(line[c]) - mean[c]
            var[c] += off * off
    for c in range(count):
        var[c] /= rows


@inner_njit(error_model="numpy", fastmath={"contract"})
def _forward_columns_part(arguments, task, who):
    x, weight, bias, eps, out, mean, var, table, found, shape = arguments
    rows, channels, _, _ = shape
    start, stop = task * COLUMNS, min((task + 1) * COLUMNS, channels)
    count, x, out = stop - start, memory(x), memory(out)
    if found:
        _column_moments(x, start, count, rows, channels, memory(mean)[start:stop], memory(var)[start:stop])
    for c in range(start, stop):
        table[0, c], table[1, c], table[2, c] = coefficients(c, mean[c], var[c], weight, bias, eps, out)
    known = memory(table)
    near, factor = known[start:stop], known[channels + start : channels + stop]
    term = known[2 * channels + start : 2 * channels + stop]
    for r in range(rows):
        source, target = piece(x, r * channels + start, count), piece(out, r * channels + start, count)
        for c in range(count):
            target[c] = (source[c] - near[c]) * factor[c] + term[c]


@cached_njit(error_model="numpy")
def _forward_columns(x, weight, bias, eps, out, mean, var, parts, found, shape, threads, least, team):
    table = np.empty((3, shape[1]), out.dtype)
    tasks = (shape[1] + COLUMNS - 1) // COLUMNS
    share(
        _forward_columns_part, (x, weight, bias, eps, out, mean, var, table, found, shape), tasks, threads, least, team
    )


@inner_njit(error_model="numpy", fastmath={"contract"})
def _backward_columns_part(arguments, task, who):
    grad, x, weight, eps, out, mean, var, sums, table, found, moving, shape = arguments
    rows, channels, _, _ = shape
    start, stop = task * COLUMNS, min((task + 1) * COLUMNS, channels)
    count, grad, x, out = stop - start, memory(grad), memory(x), memory(out)
    means = memory(mean)[start:stop]
    if found:
        _column_moments(x, start, count, rows, channels, means, memory(var)[start:stop])
    along, total = memory(sums)[start:stop], memory(sums)[channels + start : channels + stop]
    for r in range(rows):
        arrived, source = piece(grad, r * channels + start, count), piece(x, r * channels + start, count)
        for c in range(count):
            g = np.float64(arrived[c])
            along[c] += g * (np.float64(source[c]) - means[c])
            total[c] += g
    for c in range(start, stop):
        table[0, c], table[1, c], table[2, c], table[3, c] = slopes(
            c, sums[1, c], sums[0, c], mean[c], var[c], weight, eps, rows, moving, out
        )
        sums[0, c] /= math.sqrt(var[c] + eps)
    known = memory(table)
    near, factor = known[start:stop], known[channels + start : channels + stop]
    slope = known[2 * channels + start : 2 * channels + stop]
    term = known[3 * channels + start : 3 * channels + stop]
    for r in range(rows):
        arrived, source = piece(grad, r * channels + start, count), piece(x, r * channels + start, count)
        target = piece(out, r * channels + start, count)
        for c in range(count):
            target[c] = arrived[c] * factor[c] + ((source[c] - near[c]) * slope[c] + term[c])


@cached_njit(error_model="numpy")
def _backward_columns(grad, x, weight, eps, out, mean, var, sums, parts, found, moving, shape, threads, least, team):
    table = np.empty((4, shape[1]), out.dtype)
    rest = grad, x, weight, eps, out, mean, var, sums, table, found, moving, shape
    share(_backward_columns_part, rest, (shape[1] + COLUMNS - 1) // COLUMNS, threads, least, team)


# ---- the last rungs --------------------------------------------------------------------------------------------------


def _by_team(images, columns):
    """A loop that chooses by the shape, its last argument, and calls a team."""

    @functools.wraps(images)
    def loop(*arguments):
        rows, channels, size, _ = arguments[-1]
        count = rows * channels * size
        threads = 1 if count < ALONE else team.size()
        (columns if size == 1 else images)(*arguments, threads, count // 2, team.members())

    return loop


_forward_team = _by_team(_forward_shared, _forward_columns)
_backward_team = _by_team(_backward_shared, _backward_columns)
TEAM = "tasks that wait for no late thread: channels, blocks of a channel where they are few, many columns side by side"


@implementation("batch_norm", device="cpu", adds=TEAM, public=True)
def batch_norm_team(mean, var, weight, bias, eps, x):
    return _forward(_forward_team, mean, var, weight, bias, eps, x)[0]


@implementation("batch_norm_with_statistics", device="cpu", adds=TEAM, public=True)
def batch_norm_with_statistics_team(weight, bias, eps, x):
    return _forward(_forward_team, None, None, weight, bias, eps, x)


SUMS = (
    "statistics are computed again; both sums in one pass while the cache has the channel; then the gradient of input"
)


@implementation("batch_norm_backward", device="cpu", adds=SUMS, public=True)
def batch_norm_backward_team(mean, var, weight, bias, eps, grad, x):
    return _backward(_backward_team, mean, var, weight, bias, eps, grad, x, mean is None)


@implementation(
    "batch_norm_backward_from_statistics", device="cpu", adds="from the statistics that were kept", public=True
)
def batch_norm_backward_from_statistics_team(mean, var, weight, bias, eps, grad, x):
    return _backward(_backward_team, mean, var, weight, bias, eps, grad, x, True)
