"""The gradient of a bias: what arrives, summed over all that the bias was added to.

Sums are float64, so that rounding does not grow with the batch. Each is made by one thread, in one order: the same bits
for any number of threads.
"""

import numpy as np

from .. import team
from ..host import plain
from ..simd.cache import cached_njit
from ..simd.inner import inner_njit
from ..simd.line import memory
from ..team import share

COLUMNS = 64  # of a task: some lines of the cache of each row, and as many sums
TASK = 1 << 14  # numbers of a task that is worth handing over
PARALLEL_FROM = 1 << 16  # numbers; below, waking the threads costs more than it gains


@inner_njit()
def _add(line, sums):
    for j in range(sums.size):
        sums[j] += line[j]


@inner_njit()
def _some_columns(arguments, task, who):
    rows, sums = arguments
    (count, width), line = rows.shape, memory(rows)
    start = task * COLUMNS
    some = memory(sums)[start : min(start + COLUMNS, width)]
    for r in range(count):
        _add(line[r * width + start : r * width + start + some.size], some)


@inner_njit(fastmath={"reassoc"})
def _sum(line):
    total = np.float64(0)
    for i in range(line.size):
        total += line[i]
    return total


@inner_njit()
def _some_channels(arguments, task, who):
    planes, sums, task_channels = arguments
    (count, channels, area), line = planes.shape, memory(planes)
    for channel in range(task * task_channels, min((task + 1) * task_channels, channels)):
        total = np.float64(0)
        for n in range(count):
            start = (n * channels + channel) * area
            total += _sum(line[start : start + area])
        sums[channel] = total


@cached_njit()
def _all_columns(rows, sums, threads, team):
    share(_some_columns, (rows, sums), -(-sums.size // COLUMNS), threads, rows.size // 32, team)


@cached_njit()
def _all_channels(planes, sums, task_channels, threads, team):
    tasks = -(-sums.size // task_channels)
    share(_some_channels, (planes, sums, task_channels), tasks, threads, planes.size // 32, team)


def over_rows(rows):
    """The sum of each column of a matrix, in its dtype."""
    sums = np.zeros(rows.shape[1])
    _all_columns(plain(rows), sums, _threads(rows), team.members())
    return sums.astype(rows.dtype)


def over_pictures(grad):
    """The sum of each channel of (batch, channels, height, width), in its dtype."""
    sums = np.zeros(grad.shape[1])
    planes = plain(grad).reshape(*grad.shape[:2], grad.shape[2] * grad.shape[3])
    threads = _threads(grad)
    task_channels = max(1, min(TASK // max(len(planes) * planes.shape[2], 1), -(-sums.size // threads)))
    _all_channels(planes, sums, task_channels, threads, team.members())
    return sums.astype(grad.dtype)


def _threads(x):
    return 1 if x.size < PARALLEL_FROM else team.size()
