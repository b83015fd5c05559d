"""Accesses and threads in words."""

import numpy as np

from .. import show
from ..trace import ATOMIC, LOAD, STORE


def does(kind, what):
    return {LOAD: f"loads {what}", STORE: f"stores {what}", ATOMIC: f"updates {what} atomically"}[kind]


def element(trace, row):
    """(array name, index) of an access, the index with one number per axis."""
    info = trace.arrays[trace.array[row]]
    index = np.unravel_index(int(trace.element[row]), info.shape) if info.shape else ()
    return info.name, tuple(int(i) for i in index)


def thread(trace, linear):
    """{"thread": (x, y, z), "block": (x, y, z)} of a thread that is linear in the launch, x fastest."""
    block, within = divmod(int(linear), trace.threads_per_block)
    return {"thread": _xyz(within, trace.block_shape), "block": _xyz(block, trace.grid)}


def span(values):
    """ "0-31", "0-30 by 2" or a short list: "0,16"."""
    values = np.unique(values)
    steps = np.diff(values)
    if len(values) == 1:
        return str(values[0])
    if (steps == steps[0]).all() and (len(steps) > 1 or steps[0] == 1):
        return f"{values[0]}-{values[-1]}" + (f" by {steps[0]}" if steps[0] > 1 else "")
    listed = ",".join(map(str, values[:8].tolist()))
    return listed + (f",... ({len(values)} of {values[0]}-{values[-1]})" if len(values) > 8 else "")


def _xyz(linear, shape):
    x, y = shape[0], shape[1]
    return (linear % x, linear // x % y, linear // (x * y))


def who(trace, row):
    return name_of(trace, trace.thread[row])


def name_of(trace, linear):
    return show.who(**thread(trace, linear), block_shape=trace.block_shape, grid=trace.grid)
