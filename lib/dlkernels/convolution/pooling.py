"""Pooling on the CPU: the largest, or the mean, of each window.

The ladders                               what the rung adds
    *_direct       each window by itself, as the formula is written
    *_columns      the columns of a row of windows first, then along the row; all cores. With stride s a result takes k
                   s + k looks, not k k
"""

import functools

import numpy as np

from .. import team
from ..host import plain
from ..implementations import implementation
from ..simd.cache import cached_njit
from ..simd.inner import inner_njit
from ..simd.line import memory
from ..team import share
from . import pairs
from .choose import workspace

PLANES, TASKS = 1 << 14, 32  # pixels of a task that is worth handing over, if there are so many tasks
PARALLEL_FROM = 1 << 15  # pixels that are looked at; below, waking the threads costs more than it gains
KNOWN = 1 << 10  # windows along an axis; beyond, keeping what was found takes more time, and memory, than looking again


def planes(x):
    """A contiguous array of pictures, as (planes, height, width)."""
    x = plain(x)
    return x.reshape(-1, *x.shape[-2:])


def threads_for(looks):
    return 1 if looks < PARALLEL_FROM else team.size()


@inner_njit()
def plane_of(line, number, high, wide):
    """Plane `number` of planes that lie one after the other in a line of memory, which counts no references: two
    threads that count those of one array wait for each other."""
    return line[number * high * wide : (number + 1) * high * wide].reshape((high, wide))


def planes_of_task(planes):
    """How many of the planes make a task that is worth handing over."""
    return max(1, min(PLANES // max(planes.shape[1] * planes.shape[2], 1), len(planes) // TASKS))


def put(of, name, function, adds, public=False):
    """A function as a rung of an operation: it serves several, whose windows are lists."""

    @functools.wraps(function)
    def rung(*arguments):
        return function(*arguments)

    rung.__name__ = name
    implementation(of, device="cpu", adds=adds, public=public)(rung)


DIRECT = "each window by itself, as the formula is written"

# ---- the largest -------------------------------------------------------------------------------------------------
# Windows are given by (first, count, step) along each axis: the pixels of each that stand on the picture.


def most_looks(out, down, across):
    """How many pixels are looked at, about, if columns come first and windows are one pixel apart: by the window in the
    middle, since to look at all of them takes longer than a small pooling."""
    return out.size * int(down[len(down) // 2, 1] + across[len(across) // 2, 1])


@inner_njit()
def largest_of(picture, down, across, y, z):
    """(largest pixel of window (y, z), where it stands): NaN if there is one; the first of several, the last NaN.

    -inf and -1 where a dilated window has all its pixels in the padding.
    """
    best, place = picture.dtype.type(-np.inf), -1
    for ky in range(down[y, 1]):
        i = down[y, 0] + ky * down[y, 2]
        for kx in range(across[z, 1]):
            j = across[z, 0] + kx * across[z, 2]
            pixel = picture[np.uint64(i), np.uint64(j)]  # what might be negative would be looked at first
            take = (pixel > best) | (pixel != pixel) | (place < 0)  # no branch: half of them would be guessed wrong
            best, place = pixel if take else best, i * picture.shape[1] + j if take else place
    return best, place


def two_by_two(down, across):
    """Whether all windows are of 2 x 2 pixels beside each other."""
    return all(_known(x.dtype, x.tobytes()) if len(x) <= KNOWN else _compiled(x) for x in (down, across))


@functools.lru_cache(256)
def _known(dtype, numbers):
    return _in_pairs(np.frombuffer(numbers, dtype).reshape(-1, 3))


def _in_pairs(axis):
    for z in range(len(axis)):  # noqa: SIM110 (compiled code has no all())
        if axis[z, 0] != axis[0, 0] + 2 * z or axis[z, 1] != 2 or axis[z, 2] != 1:
            return False
    return True


_compiled = cached_njit()(_in_pairs)


@inner_njit()
def largest_of_four(picture, i, j):
    """As `largest_of`, of the pixels (i, j), (i, j + 1), (i + 1, j) and (i + 1, j + 1)."""
    i, j, one = np.uint64(i), np.uint64(j), np.uint64(1)
    best, step = picture[i, j], 0
    for pixel, number in ((picture[i, j + one], 1), (picture[i + one, j], 2), (picture[i + one, j + one], 3)):
        take = (pixel > best) | (pixel != pixel)
        best, step = pixel if take else best, number if take else step
    return best, (np.int64(i) + (step >> 1)) * picture.shape[1] + np.int64(j) + (step & 1)


@cached_njit()
def _max_direct(x, down, across, out):
    for p in range(out.shape[0]):
        for y in range(out.shape[1]):
            for z in range(out.shape[2]):
                best = out.dtype.type(-np.inf)
                for ky in range(down[y, 1]):
                    i = np.uint64(down[y, 0] + ky * down[y, 2])
                    for kx in range(across[z, 1]):
                        pixel = x[p, i, np.uint64(across[z, 0] + kx * across[z, 2])]
                        best = pixel if pixel > best or pixel != pixel else best
                out[p, y, z] = best


@implementation("max_pool2d", device="cpu", adds=DIRECT)
def max_pool2d_direct(x, down, across, out):
    if out.size:
        _max_direct(planes(x), down, across, planes(out))
    return out


@inner_njit()
def _larger(line, source):
    """line = the larger of both, element by element; NaN where one is NaN."""
    for j in range(line.size):
        pixel = source[j]
        line[j] = pixel if pixel > line[j] or pixel != pixel else line[j]


@inner_njit()
def _max_of_plane(picture, line, down, across, result):
    for y in range(result.shape[0]):
        line[:] = -np.inf
        for ky in range(down[y, 1]):
            _larger(line, picture[down[y, 0] + ky * down[y, 2]])
        for z in range(result.shape[1]):
            best = line.dtype.type(-np.inf)
            for kx in range(across[z, 1]):
                pixel = line[np.uint64(across[z, 0] + kx * across[z, 2])]
                best = pixel if pixel > best or pixel != pixel else best
            result[y, z] = best


@inner_njit()
def _max_of_some(arguments, task, who):
    x, work, down, across, out, each = arguments
    (count, high, wide), (rows, columns) = x.shape, out.shape[1:]
    source, target, line = memory(x), memory(out), memory(work)[who * wide : (who + 1) * wide]
    for plane in range(task * each, min((task + 1) * each, count)):
        picture, result = plane_of(source, plane, high, wide), plane_of(target, plane, rows, columns)
        _max_of_plane(picture, line, down, across, result)


@cached_njit()
def _max_planes(x, work, down, across, out, each, threads, team):
    share(_max_of_some, (x, work, down, across, out, each), -(-len(x) // each), threads, 0, team)


@inner_njit()
def _pairs_of_some(arguments, task, who):
    x, top, left, out, each = arguments
    (count, high, wide), (rows, columns) = x.shape, out.shape[1:]
    for plane in range(task * each, min((task + 1) * each, count)):
        first = (plane * high + top) * wide + left
        pairs.largest_of_plane(memory(x), first, wide, memory(out), plane * rows * columns, rows, columns)


@cached_njit()
def _max_pairs(x, top, left, out, each, threads, team):
    share(_pairs_of_some, (x, top, left, out, each), -(-len(x) // each), threads, 0, team)


MAX_COLUMNS = (
    "the largest of each column first, for a row of windows, then along the row: k + k pixels with stride 1, not k "
    "times k; all cores"
)


@implementation("max_pool2d", device="cpu", adds=MAX_COLUMNS, public=True)
def max_pool2d_columns(x, down, across, out):
    if out.size:
        threads, source, target = threads_for(most_looks(out, down, across)), planes(x), planes(out)
        rest = target, planes_of_task(source), threads, team.members()
        if out.shape[-1] >= pairs.LEAST and two_by_two(down, across):
            _max_pairs(source, int(down[0, 0]), int(across[0, 0]), *rest)
        else:
            _max_planes(source, workspace(out.dtype, threads * x.shape[-1]), down, across, *rest)
    return out


@inner_njit()
def _places_of_some(arguments, task, who):
    x, down, across, four, places, out, each = arguments
    (count, high, wide), (rows, columns) = x.shape, out.shape[1:]
    source, target = memory(x), memory(out)
    for plane in range(task * each, min((task + 1) * each, count)):
        picture, result = plane_of(source, plane, high, wide), plane_of(target, plane, rows, columns)
        for y in range(rows):
            for z in range(columns):
                if four:
                    best, place = largest_of_four(picture, down[y, 0], across[z, 0])
                else:
                    best, place = largest_of(picture, down, across, y, z)
                result[y, z], places[plane, y, z] = best, place


@cached_njit()
def _max_with_places(x, down, across, four, places, out, each, threads, team):
    share(_places_of_some, (x, down, across, four, places, out, each), -(-len(x) // each), threads, 0, team)


PLACES = "each window by itself, and where its largest stands; all cores"


@implementation("max_pool2d_with_indices", device="cpu", adds=PLACES, public=True)
def max_pool2d_places(x, down, across, out):
    places = np.empty(out.shape, np.int64)
    if out.size:
        threads, source, four = threads_for(most_looks(out, down, across)), planes(x), two_by_two(down, across)
        results = planes(places), planes(out)
        _max_with_places(source, down, across, four, *results, planes_of_task(source), threads, team.members())
    return out, places


put("adaptive_max_pool2d", "adaptive_max_pool2d_direct", max_pool2d_direct, DIRECT)
put("adaptive_max_pool2d", "adaptive_max_pool2d_columns", max_pool2d_columns, MAX_COLUMNS, public=True)
put("adaptive_max_pool2d_with_indices", "adaptive_max_pool2d_places", max_pool2d_places, PLACES, public=True)


# ---- the mean ------------------------------------------------------------------------------------------------------
# Windows are given by (first, last, length) along each axis: clipped to the picture, and what they are divided by.


@cached_njit()
def _mean_direct(x, down, across, divisor, out):
    for p in range(out.shape[0]):
        for y in range(out.shape[1]):
            for z in range(out.shape[2]):
                total = out.dtype.type(0)
                for i in range(down[y, 0], down[y, 1]):
                    for j in range(across[z, 0], across[z, 1]):
                        total += x[p, i, j]
                out[p, y, z] = total / (divisor if divisor else down[y, 2] * across[z, 2])


@inner_njit()
def _add(line, source):
    for j in range(line.size):
        line[j] += source[j]


@inner_njit()
def _mean_of_some(arguments, task, who):
    x, work, down, across, divisor, out, each = arguments
    (count, high, wide), (rows, columns) = x.shape, out.shape[1:]
    source, target, line = memory(x), memory(out), memory(work)[who * wide : (who + 1) * wide]
    for plane in range(task * each, min((task + 1) * each, count)):
        picture, result = plane_of(source, plane, high, wide), plane_of(target, plane, rows, columns)
        for y in range(rows):
            line[:] = 0
            for i in range(down[y, 0], down[y, 1]):
                _add(line, picture[i])
            for z in range(columns):
                total = line.dtype.type(0)
                for j in range(across[z, 0], across[z, 1]):
                    total += line[j]
                result[y, z] = total / (divisor if divisor else down[y, 2] * across[z, 2])


@cached_njit()
def _mean_planes(x, work, down, across, divisor, out, each, threads, team):
    share(_mean_of_some, (x, work, down, across, divisor, out, each), -(-len(x) // each), threads, 0, team)


def mean_direct(x, down, across, divisor, out):
    if out.size:
        _mean_direct(planes(x), down, across, divisor, planes(out))
    return out


def mean_columns(x, down, across, divisor, out):
    if out.size:
        (top, bottom, _), (left, right, _) = (axis[len(axis) // 2].tolist() for axis in (down, across))
        threads = threads_for(out.size * (bottom - top + right - left))
        work, source = workspace(out.dtype, threads * x.shape[-1]), planes(x)
        each = planes_of_task(source)
        _mean_planes(source, work, down, across, divisor, planes(out), each, threads, team.members())
    return out


for _name in ("avg_pool2d", "adaptive_avg_pool2d"):
    put(_name, f"{_name}_direct", mean_direct, DIRECT)
    put(
        _name,
        f"{_name}_columns",
        mean_columns,
        "the sum of each column first, for a row of windows, then along the row: k + k pixels, not k times k; all "
        "cores",
        public=True,
    )
