"""Order between blocks that a kernel makes for itself: ``cuda.threadfence()`` and an atomic counter.

The pattern of a reduction in one launch: each block stores its part, passes a fence and adds to a counter; the block
that counts last reads all the parts. What a block did before its atomic is then ordered before what another block
does after a later atomic on the same address.

For each such address an access gets two moments of the run: *released*, when its block last updated the counter after
the access, and *acquired*, when its block first updated it before the access. Access i is ordered before access j
if i was released before j was acquired. Taking the last and the first update never orders too much.
"""

import inspect

import numpy as np

from ..trace import ATOMIC, GLOBAL
from . import columns

MOST_COUNTERS = 16
NEVER = np.iinfo(np.int64).max


FENCES = {"threadfence", "threadfence_system"}


def uses_fence(kernel, callers=()):
    """Does the kernel's own code name a fence, or that of a device function which it calls?"""
    function = getattr(kernel, "py_func", kernel)
    code = getattr(function, "__code__", None)
    if code is None or function in callers:
        return False
    known = inspect.getclosurevars(function)
    called = (one for one in (*known.globals.values(), *known.nonlocals.values()) if hasattr(one, "py_func"))
    return bool(FENCES & set(code.co_names)) or any(uses_fence(one, (*callers, function)) for one in called)


def moments(trace, rows):
    """(released, acquired) of some rows of a trace, each of shape (counters, rows). NEVER and -1 where there is
    none."""
    per_counter = [_of_counter(trace, rows, updates) for updates in _counters(trace)]
    released, acquired = zip(*per_counter, strict=True) if per_counter else ((), ())
    shape = (len(per_counter), len(rows))
    return np.array(released, np.int64).reshape(shape), np.array(acquired, np.int64).reshape(shape)


def unordered(i, j, released, acquired):
    """Which pairs of columns (i, j) no counter orders, in either direction."""
    ordered = (released[:, i] < acquired[:, j]) | (released[:, j] < acquired[:, i])
    return ~ordered.any(axis=0)


def _counters(trace):
    """Rows of the atomics on each global address that several blocks update."""
    atomics = np.flatnonzero((trace.kind == ATOMIC) & (trace.space == GLOBAL))
    number, _ = columns.group(trace.address[atomics])
    for k in range(min(int(number.max(initial=-1)) + 1, MOST_COUNTERS)):
        updates = atomics[number == k]
        if len(np.unique(trace.block[updates])) > 1:
            yield updates


def _of_counter(trace, rows, updates):
    blocks = int(trace.block.max()) + 1
    first, last = np.full(blocks, NEVER), np.full(blocks, -1)
    np.minimum.at(first, trace.block[updates], updates)
    np.maximum.at(last, trace.block[updates], updates)
    block = trace.block[rows]
    begin, end = first[block], last[block]
    counts = end >= 0
    p, q = np.where(counts, end, 0), np.where(counts, begin, 0)
    before = counts & (_same_thread(trace, rows, p) & (rows <= p) | (trace.epoch[rows] < trace.epoch[p]))
    after = counts & (_same_thread(trace, rows, q) & (rows > q) | (trace.epoch[rows] > trace.epoch[q]))
    return np.where(before, end, NEVER), np.where(after, begin, -1)


def _same_thread(trace, rows, others):
    return trace.thread[rows] == trace.thread[others]
