"""How the accesses of a conflict meet: at the same moment of their threads, or with room for a barrier between."""

import ast

import numpy as np

from ..trace import SHARED
from . import lanes, races
from .spans import moment, span

PLACES, ROWS = 4, 96  # of a conflict that are looked at; accesses to each


class Meeting:
    """A conflict, and when its accesses happen in the course of their threads.

    spans: where barriers could stand (spans.py), a span for each pair of moments. at_once: two threads come to the same
    expression at the same moment, and no barrier parts them. by_one_thread: a thread makes both accesses to
    one location.
    """

    def __init__(self, trace, conflict, kernel_order):
        self.trace, self.conflict, self.kernel_order = trace, conflict, kernel_order
        a, b = int(conflict.a[0]), int(conflict.b[0])
        self.sites = int(trace.site[a]), int(trace.site[b])
        self.array = trace.arrays[trace.array[a]].name
        self.spans, self.at_once, self.by_one_thread = set(), False, False
        candidates = np.flatnonzero(np.isin(trace.site[:], self.sites))
        for k in np.unique(np.linspace(0, conflict.count - 1, PLACES).astype(int)).tolist():
            self._look(self._beside(candidates, int(conflict.a[k]), int(conflict.b[k])))

    @property
    def alone(self):
        """Whether one expression is in conflict with itself."""
        return self.sites[0] == self.sites[1]

    def _beside(self, rows, a, b):
        """Accesses to the place of an example by the two expressions, between the same barriers of the grid."""
        trace = self.trace
        begin = max(trace.address[a], trace.address[b])
        end = min(trace.address[a] + trace.size[a], trace.address[b] + trace.size[b])
        overlaps = (trace.address[rows] < end) & (trace.address[rows] + trace.size[rows] > begin)
        overlaps &= (trace.space[rows] == trace.space[a]) & (trace.grid_epoch[rows] == trace.grid_epoch[a])
        if trace.space[a] == SHARED:
            overlaps &= trace.block[rows] == trace.block[a]
        rows = rows[overlaps]
        if len(rows) > ROWS:  # of each turn of each expression the first threads and the last
            order = np.lexsort((trace.thread[rows], trace.visit[rows], trace.site[rows]))
            alike = np.stack([trace.site[rows], trace.visit[rows]])[:, order]
            new = np.append(True, (alike[:, 1:] != alike[:, :-1]).any(axis=0))
            keep = new | np.roll(new, 1) | np.roll(new, -1)
            rows = rows[np.sort(order[keep])][: 2 * ROWS]
        return np.union1d(rows, (a, b))

    def _look(self, rows):
        trace = self.trace
        i, j = (rows[k] for k in np.triu_indices(len(rows), 1))
        site, thread = trace.site[i], trace.thread[i] != trace.thread[j]
        pair = ((site == self.sites[0]) & (trace.site[j] == self.sites[1])) | (
            (site == self.sites[1]) & (trace.site[j] == self.sites[0])
        )
        self.by_one_thread |= bool((pair & ~thread & (trace.epoch[i] == trace.epoch[j])).any()) and not self.alone
        i, j = i[pair & thread], j[pair & thread]
        open_ = unordered(trace, i, j, self.kernel_order) & races.conflict(trace.kind[i], trace.kind[j])
        moments = {}
        for a, b in zip(i[open_].tolist(), j[open_].tolist(), strict=True):
            key = tuple(sorted((int(trace.site[r]), int(trace.visit[r])) for r in (a, b)))
            if key not in moments:
                moments[key] = span(*(moment(trace, *access) for access in key))
        self.spans |= {s for s in moments.values() if s is not None}
        self.at_once |= None in moments.values()


def unordered(trace, i, j, kernel_order):
    """Which pairs of accesses, of different threads, to one place, nothing orders."""
    if not len(i):
        return np.zeros(0, bool)
    block, warp = (trace.block[i] == trace.block[j]), (trace.warp[i] == trace.warp[j])
    open_ = ~block | (trace.epoch[i] == trace.epoch[j])
    divided = lanes.divided(trace)[trace.warp[i]]
    open_ &= ~warp | divided | (trace.warp_epoch[i] == trace.warp_epoch[j])
    apart = np.flatnonzero(open_ & warp & divided)
    if len(apart):
        open_[apart] = lanes.unordered(trace, i[apart], j[apart])
    left = np.flatnonzero(open_)
    if kernel_order is not None and len(left):
        open_[left] = kernel_order.unordered(i[left], j[left])
    return open_


def index_of(site):
    """Text of the index in an expression such as ``a[i, k]`` or ``cuda.atomic.add(a, i, 1)``; "" where there is
    none."""
    try:
        node = ast.parse(site.text, mode="eval").body
    except SyntaxError:
        return ""
    if isinstance(node, ast.Subscript):
        return ast.unparse(node.slice)
    return ast.unparse(node.args[1]) if isinstance(node, ast.Call) and len(node.args) > 1 else ""
