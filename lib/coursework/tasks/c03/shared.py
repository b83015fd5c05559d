"""What several tasks of chapter 03 use: schedules of a loop, played."""

import numpy as np


def makespan(costs, threads, chunk, step=None):
    """When the last thread ends, if whoever is free takes the next ``chunk`` iterations. `step`: from chunk to
    chunk."""
    free = [0] * threads
    for first in range(0, len(costs), step or chunk):
        free[free.index(min(free))] += sum(costs[first : first + chunk])
    return max(free)


def static_makespan(costs, threads):
    from cpulab.watch.loops import blocks

    return max(sum(costs[first:last]) for first, last in blocks(len(costs), threads))


PREDICT_ROWS = list(range(1, 9))  # row i of a causal loop costs i + 1


def is_whole(value):
    return isinstance(value, int | np.integer) and not isinstance(value, bool)
