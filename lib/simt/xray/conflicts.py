"""Accesses of a trace that conflict, and that nothing orders: which expressions, and which accesses for example."""

from dataclasses import dataclass

import numpy as np

from ..trace import GLOBAL, LOAD, SHARED
from . import columns, lanes, races
from .order import Both

_SCOPES = ("warp", "block", "grid")


@dataclass(frozen=True)
class Conflict:
    """Two source expressions that conflict on an array. a, b: rows of the trace that do, of each location one pair, the
    example first; ``a`` stands on the later line. scope: the widest, "warp", "block" or "grid"."""

    a: np.ndarray
    b: np.ndarray
    scope: str

    @property
    def count(self):
        return len(self.a)


def order_of(trace):
    """The order that the kernel makes by fences and atomics of its own, or None."""
    return Both(trace) if trace.fences else None


def conflicts(trace, locations=None, kernel_order=None):
    """A `Conflict` for each pair of source expressions that meet on an array. Where the kernel has fences, its own
    flags, counters and locks may order accesses too (kernel_order, see `order`)."""
    rows, location = locations or locations_of(trace)
    turn = columns.compact(trace.grid_epoch[rows], trace.epoch[rows])
    # Few locations are contended between two barriers: a quick look drops the rest.
    near = races.contended(columns.compact(location, turn), columns.compact(trace.thread[rows]), trace.kind[rows])
    r, where = rows[near], columns.pack(location[near], turn[near])
    in_block = columns.pack(where, trace.block[r])
    found = [
        _conflicts_in_warps(trace, r, where, kernel_order),
        _conflicts(trace, r, in_block, trace.warp[r], kernel_order),
    ]
    r, where = _seen_by_blocks(trace, rows, location)
    found.append(_conflicts(trace, r, where, trace.block[r], kernel_order))
    width = np.repeat(np.arange(len(found)), [len(i) for i, _ in found])
    return _merged(trace, width, *(np.concatenate(column) for column in zip(*found, strict=True)))


def _rank(trace, rows):
    """A number for each access that does not depend on the order of the run; equal ones say the same of themselves."""
    return columns.pack(trace.thread[rows], trace.address[rows], trace.size[rows])


def _conflicts(trace, rows, where, owner, kernel_order, apart=None):
    """Pairs of rows. kernel_order: what the kernel makes for itself, or None. apart: columns that accesses must share
    for one example to speak for all of them."""
    alike = [trace.site[rows], *(apart or ())]
    if kernel_order is not None and len(rows):
        alike += [trace.thread[rows], trace.epoch[rows], trace.warp_epoch[rows], kernel_order.label(rows)]
    label = columns.group(*alike)[0] if len(alike) > 1 else alike[0]
    i, j = races.unordered_pairs(where, owner, trace.kind[rows], label, _rank(trace, rows))
    i, j = rows[i], rows[j]
    if kernel_order is None or not len(i):
        return i, j
    open_ = kernel_order.unordered(i, j)
    return i[open_], j[open_]


def _conflicts_in_warps(trace, rows, where, kernel_order):
    divided = lanes.divided(trace)[trace.warp[rows]]
    in_step = columns.pack(where, trace.warp[rows], np.where(divided, 0, trace.warp_epoch[rows]))
    if not divided.any():
        return _conflicts(trace, rows, in_step, trace.thread[rows], kernel_order)
    apart = np.where(divided, trace.thread[rows], 0), np.where(divided, trace.warp_epoch[rows], 0)
    i, j = _conflicts(trace, rows, in_step, trace.thread[rows], kernel_order, apart)
    undivided = ~lanes.divided(trace)[trace.warp[i]] if len(i) else np.zeros(0, bool)
    open_ = undivided | lanes.unordered(trace, i, j) if len(i) else undivided
    return i[open_], j[open_]


def _seen_by_blocks(trace, rows, location):
    """(rows, where): accesses of global memory that could meet those of another block; where they could."""
    keep = np.flatnonzero(trace.space[rows] == GLOBAL)
    where = columns.compact(location[keep], trace.grid_epoch[rows[keep]])
    contended = races.contended(where, trace.block[rows[keep]], trace.kind[rows[keep]])
    return rows[keep[contended]], where[contended]


def locations_of(trace):
    """(rows, location): accesses of memory that several threads can see and someone writes, and where they go.

    Accesses are cut into units of the smallest size in use, so that a 16-byte access and a 4-byte one meet;
    location numbers the units, apart for each block's shared memory.
    """
    rows = np.flatnonzero(_can_conflict(trace)[trace.array]) if len(trace.arrays) else np.zeros(0, np.int64)
    if not len(rows):
        return rows, rows
    rows, sizes = rows.astype(np.int32), np.unique(trace.size[rows])
    unit = int(np.gcd.reduce(sizes))
    if len(sizes) == 1 and not (trace.address[rows] % unit).any():
        number = trace.address[rows] // unit
    else:
        piece, number = columns.spread(trace.address[rows], trace.size[rows], unit)
        rows = rows[piece]
    in_block = np.where(trace.space[rows] == SHARED, trace.block[rows], -1)
    return rows, columns.compact(in_block, number)


def _can_conflict(trace):
    """For each array: is it shared, or global and does it overlap one that is written?"""
    written = np.bincount(trace.array, weights=trace.kind != LOAD, minlength=len(trace.arrays)) > 0
    spans = [(a.base, a.base + _extent(a)) if a.space == "global" else (0, 0) for a in trace.arrays]
    low, high = np.array(spans).T
    overlap = (low[:, None] < high) & (low < high[:, None])
    return np.array([a.space == "shared" for a in trace.arrays]) | (overlap & written).any(axis=1)


def _extent(info):
    """Bytes from the base of an array to its end."""
    last = sum((n - 1) * abs(s) for n, s in zip(info.shape, info.strides, strict=True))
    return last + info.dtype.itemsize if all(info.shape) else 0


def _merged(trace, width, a, b):
    """Conflicts by (expressions, array). The widest scope and then the first example speak for all."""
    line = np.array([s.line for s in trace.sites])
    rank = columns.pack(line[trace.site], trace.kind, trace.site, trace.thread)
    a, b = np.where(rank[a] >= rank[b], a, b), np.where(rank[a] >= rank[b], b, a)  # later line first
    number, _ = columns.group(trace.site[a], trace.site[b], trace.array[a])
    threads = trace.thread[b], trace.thread[a]
    order = np.lexsort((trace.size[b], trace.address[b], trace.size[a], *threads, trace.address[a], -width, number))
    parts = np.split(order, np.flatnonzero(np.diff(number[order])) + 1) if len(order) else []
    return [Conflict(a[part], b[part], _SCOPES[width[part[0]]]) for part in parts]
