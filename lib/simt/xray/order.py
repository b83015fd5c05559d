"""Order that a kernel makes for itself: fences, and atomics on flags, counters and locks.

    thread a                            thread b
    x[0] = 1                            while cuda.atomic.add(flag, 0, 0) == 0: pass     (acquires)
    cuda.threadfence()                  cuda.threadfence()
    cuda.atomic.exch(flag, 0, 1)        y = x[0]
      (releases)

As in CUDA's memory model. An atomic *releases* the accesses that a fence stands behind, itself before the atomic: of
the same thread, or of others with a barrier between. It *acquires* for the accesses that are made only because of the
value that it returned (executor/gates.py), behind a fence or a barrier of the block. Between threads of two blocks the
fence must be ``threadfence``, within a block ``threadfence_block`` will do. What was acquired before a release is
released again.

That one atomic came after another in this run says nothing of the next: evidence.py tells what the value that it
returned proves.
"""

import bisect
import collections
import operator

import numpy as np

from ..trace import WARP
from . import lanes
from .evidence import Evidence

MOST_ROUNDS = 8
_TESTS = {
    "Eq": operator.eq,
    "NotEq": operator.ne,
    "Lt": operator.lt,
    "LtE": operator.le,
    "Gt": operator.gt,
    "GtE": operator.ge,
}
_WHOLE = int | np.integer
_MIRRORED = {"Eq": "Eq", "NotEq": "NotEq", "Lt": "Gt", "LtE": "GtE", "Gt": "Lt", "GtE": "LtE"}


class AtomicEvent:
    """An atomic of the run: where its thread stood (its stamp), what it found and left."""

    __slots__ = (
        "address", "block", "delta", "epoch", "known", "name", "new", "node", "number", "old", "row", "stamp", "tests",
        "thread", "value",
    )  # fmt: skip


class Order:
    """The order of a trace. scope: 1 counts fences of the device only, 0 those of the block as well."""

    def __init__(self, trace, scope):
        self.trace = trace
        self._divided, self._barriers = lanes.divided(trace), lanes.barriers(trace)
        self.blocks_fences = collections.defaultdict(list)
        for row, thread, epoch, warp_epoch, wide in trace.fences:
            if wide >= scope:
                self.blocks_fences[thread // trace.threads_per_block].append((row, thread, epoch, warp_epoch))
        self.events = self._events()
        self._note_comparisons()
        self.bits = {e.row: 1 << e.number for e in self.events}  # who sees it knows that it has happened
        self.of_block = collections.defaultdict(list)
        self.of_address = collections.defaultdict(list)
        for event in self.events:
            self.of_block[event.block].append(event)
            self.of_address[event.address].append(event)
        self._guards, self._released, self._acquired = {}, {}, {}
        self.from_on = self._from_on()
        self.covers = [self._release(e) for e in self.events]
        self.behind = [self._acquire(e) for e in self.events]
        for e in self.events:  # as it happened: every atomic proves all before it
            self._know(e, lambda w, e: True)
        for _ in range(MOST_ROUNDS):  # and then what is proved, given the order that was
            evidence = {address: Evidence(events, self) for address, events in self.of_address.items()}
            before = [e.known for e in self.events]
            for e in self.events:
                self._know(e, evidence[e.address].proves)
            if before == [e.known for e in self.events]:
                break

    def _events(self):
        trace, events = self.trace, []
        tested = {atom for guards in trace.guards.values() for atom in guards}
        nodes = trace.atomic_nodes
        asked = {
            int(trace.address[row]) * 4 + int(trace.space[row])
            for row, *_ in trace.atomics
            if nodes.get(int(trace.site[row])) in tested
        }
        for row, old, new, name, value in trace.atomics:
            location = int(trace.address[row]) * 4 + int(trace.space[row])
            if location not in asked:
                continue  # nobody looks at what is there: a sum
            e = AtomicEvent()
            e.row, e.name, e.number, e.known = row, name, len(events), 0
            e.old, e.new, e.value = (x.item() if isinstance(x, np.generic) else x for x in (old, new, value))
            e.stamp, e.block = self._stamp(row), int(trace.block[row])
            e.thread, e.epoch, _ = e.stamp
            e.address = (location, e.block) if trace.space[row] else (location, -1)  # shared memory is each block's own
            e.node = nodes.get(int(trace.site[row])) if nodes.get(int(trace.site[row])) in tested else None
            e.delta = 1 if name == "inc" else -1 if name == "dec" else e.new - e.old
            e.tests = []
            events.append(e)
        return _without_repetitions(events)

    def _from_on(self):
        """With each atomic itself and all later ones of its thread (bits): who knows one of them knows that it has
        happened."""
        later, found = collections.defaultdict(int), []
        for e in reversed(self.events):
            later[e.thread] |= 1 << e.number
            found.append(later[e.thread])
        return found[::-1]

    def _note_comparisons(self):
        """With each atomic the comparisons of what it returned: (operator, bound, result, the read that the bound is
        from)."""
        latest, events = {}, iter([*self.events, None])
        coming = next(events)
        for row, thread, number, left, right, result in self.trace.asked:
            while coming is not None and coming.row < row:
                latest[coming.node, coming.thread] = latest[coming.node, -1, coming.block] = coming
                coming = next(events)
            operator_, *sides, left_is_sum, right_is_sum = self.trace.asked_of[number]
            block = thread // self.trace.threads_per_block
            found = [[latest.get((n, thread)) or latest.get((n, -1, block)) for n in nodes] for nodes in sides]
            for events_, others, value, bound, name, is_sum in zip(
                found,
                found[::-1],
                (left, right),
                (right, left),
                (operator_, _MIRRORED.get(operator_)),
                (left_is_sum, right_is_sum),
                strict=True,
            ):
                for e in events_ if name in _TESTS else ():
                    if e is not None and value == e.old:
                        _note(e, _TESTS[name], bound, result, others)
                    elif e is not None and is_sum and all(isinstance(v, _WHOLE) for v in (value, bound, e.old)):
                        _note(e, _TESTS[name], int(bound) - (int(value) - int(e.old)), result, others)

    # -- what stands before what, within a block ----------------------------------------------------------------------

    def _release(self, e):
        """(thread -> row, epoch, warp -> stamps): accesses before these are behind a fence before ``e``."""
        rows, last, warps = {}, -1, collections.defaultdict(list)
        for row, thread, epoch, warp_epoch in self.blocks_fences[e.block]:
            in_thread, stamp = thread == e.thread and row <= e.row, (thread, epoch, warp_epoch)
            if in_thread or epoch < e.epoch or self._before(stamp, e.stamp):
                rows[thread] = max(row, rows.get(thread, -1))
                last = max(last, epoch)
                warps[self._warp(thread)].append(stamp)
        return rows, last, {w: self._last(w, stamps) for w, stamps in warps.items()}

    def _acquire(self, e):
        """The same the other way round: accesses from these on are behind a fence or barrier after ``e``."""
        rows, warps = {}, collections.defaultdict(list)
        for row, thread, epoch, warp_epoch in self.blocks_fences[e.block]:
            in_thread, stamp = thread == e.thread and row > e.row, (thread, epoch, warp_epoch)
            if in_thread or epoch > e.epoch or self._before(e.stamp, stamp):
                rows[thread] = min(row, rows.get(thread, row))
                warps[self._warp(thread)].append(stamp)
        return rows, e.epoch, {w: self._last(w, stamps, min) for w, stamps in warps.items()}

    def _last(self, warp, stamps, extreme=max):
        """The stamps that speak for all: one, if all barriers of the warp were for all of its lanes."""
        if self._divided[warp]:
            return list(dict.fromkeys(stamps))
        return [extreme(stamps, key=lambda stamp: stamp[1:])]

    def _before(self, stamp, other):
        """Whether barriers of their warp put a stamp (thread, epoch, warp epoch) before another; False in another
        warp."""
        (thread, *when), (other_thread, *then) = stamp, other
        warp = self._warp(thread)
        if warp != self._warp(other_thread):
            return False
        if when[0] != then[0] or not self._divided[warp]:
            return when < then
        of = self.trace.threads_per_block
        return lanes.before(self._barriers[warp], thread % of % WARP, when[1], other_thread % of % WARP, then[1])

    def _warp(self, thread):
        trace = self.trace
        block, within = divmod(thread, trace.threads_per_block)
        return block * trace.warps_per_block + within // WARP

    def _covered(self, number, row, stamp):
        (thread, epoch, _), (rows, last, warps) = stamp, self.covers[number]
        if row < rows.get(thread, -1) or epoch < last:
            return True
        return any(self._before(stamp, fence) for fence in warps.get(self._warp(thread), ()))

    def _after(self, number, row, stamp):
        (thread, epoch, _), (rows, first, warps) = stamp, self.behind[number]
        if epoch > first or (thread in rows and row >= rows[thread]):
            return True
        return any(self._before(fence, stamp) for fence in warps.get(self._warp(thread), ()))

    # -- what an atomic knows -----------------------------------------------------------------------------------------

    def _know(self, e, proves):
        """Set the atomics (bits) whose releases ``e`` acquires, those of others that they pass on included."""
        e.known = 0
        if e.node is None:
            return
        for w in reversed(self.of_address[e.address]):  # the last one first: it mostly knows the others
            if w.row < e.row and w.thread != e.thread and not e.known >> w.number & 1 and proves(w, e):
                e.known |= 1 << w.number | self.passed_on(w)

    def passed_on(self, w):
        """What others have released, that ``w`` releases again."""
        known = 0
        for r in self.of_block[w.block]:
            if r.row < w.row and r.known and r.node in self.guards(w.row):
                if self._covered(w.number, r.row, r.stamp):
                    known |= r.known
        return known

    def seen_before(self, m):
        """Atomics that came before ``m`` in every run in which it comes at all, itself left out."""
        known = 0
        for r in self.of_block[m.block]:
            if r.row < m.row and (r.thread == m.thread or r.epoch < m.epoch):
                known |= 1 << r.number
                if r.known and r.node in self.guards(m.row):
                    known |= r.known
        return known

    def guards(self, row):
        """The atomics that gate an access, by its expression and by the calls around it."""
        trace = self.trace
        key = int(trace.site[row]), int(trace.visit[row])
        if key not in self._guards:
            path = trace.visit_path(key[1])
            self._guards[key] = frozenset().union(*(trace.guards.get(s, ()) for s in (key[0], *(s for s, _ in path))))
        return self._guards[key]

    def as_good(self, m, w):
        """Whether ``m`` releases all that ``w`` does."""
        (rows, last, _), (of_w, last_of_w, _) = self.covers[m.number], self.covers[w.number]
        if m.block != w.block or last < last_of_w or self.passed_on(w) & ~self.passed_on(m):
            return False
        return not any(row > rows.get(thread, -1) and self._stores(thread, last, row) for thread, row in of_w.items())

    def _stores(self, thread, epoch, row):
        """Whether a thread has accesses from an epoch on, before a row."""
        trace = self.trace
        accesses = (np.asarray(trace.thread[:row]) == thread) & (np.asarray(trace.epoch[:row]) >= epoch)
        return bool(accesses.any())

    # -- pairs of accesses --------------------------------------------------------------------------------------------

    def _stamp(self, row):
        trace = self.trace
        return tuple(int(c[row]) for c in (trace.thread, trace.epoch, trace.warp_epoch))

    def _releases(self, row):
        if row not in self._released:
            stamp, found = self._stamp(row), self.bits.get(row, 0)
            for e in self.of_block[stamp[0] // self.trace.threads_per_block]:
                if e.row > row and self._covered(e.number, row, stamp):
                    found |= 1 << e.number
            self._released[row] = found
        return self._released[row]

    def _acquires(self, row):
        if row not in self._acquired:
            stamp, found = self._stamp(row), 0
            for e in self.of_block[stamp[0] // self.trace.threads_per_block]:
                if e.known and e.row < row and self._after(e.number, row, stamp):
                    found |= e.known if e.node in self.guards(row) else 0
            self._acquired[row] = found
        return self._acquired[row]

    def ordered(self, i, j):
        """Whether access (row) i is before j in every run, or j before i."""
        first, second = min(i, j), max(i, j)
        return bool(self._releases(first) & self._acquires(second))


def _note(e, test, bound, result, others):
    """That what ``e`` found passed a test. A bound that comes from an earlier read of the same place is that read's."""
    same = [o for o in others if o is not None and o is not e and o.address == e.address]
    since = max(same, key=lambda o: (o.old == bound, o.row), default=None)
    if since is not None and since.row > e.row:  # it is the later one that is asked
        test, bound, result, since = _anything, e.old, True, None
    if (noted := (test, bound, result, since)) not in e.tests:
        e.tests.append(noted)


def _anything(_value, _bound):
    return True


def _without_repetitions(events):
    """Of a thread that asks again and again and finds the same, the first and the last time."""
    kept, last, again = [], {}, set()
    for e in events:
        before = last.get(e.thread)
        same = before is not None and (before.node, before.address, before.old) == (e.node, e.address, e.old)
        if same and e.new == e.old and before.new == before.old and before.number in again:
            kept[before.number] = None
        if same and e.new == e.old and before.new == before.old:
            again.add(e.number)
        last[e.thread] = e
        kept.append(e)
    kept = [e for e in kept if e is not None]
    for number, e in enumerate(kept):
        e.number = number
    return kept


class Both:
    """Pairs of rows of a trace: which are ordered, by fences of the right scope."""

    def __init__(self, trace):
        self.trace = trace
        self.wide = Order(trace, 1)
        self.any = Order(trace, 0) if any(not wide for *_, wide in trace.fences) else self.wide

    def label(self, rows):
        """Numbers such that accesses of one thread at one expression with equal numbers are ordered alike."""
        marks = collections.defaultdict(list)
        for row, thread, *_ in self.trace.fences:
            marks[thread].append(row)
        for event in self.any.events:
            marks[event.thread].append(event.row)
        for list_ in marks.values():
            list_.sort()
        thread = self.trace.thread[rows].tolist()
        return np.array(
            [
                bisect.bisect_right(marks[t], row) if t in marks else 0
                for t, row in zip(thread, rows.tolist(), strict=True)
            ],
            np.int64,
        )

    def unordered(self, i, j):
        """Which pairs of rows (i, j) nothing orders, in either direction."""
        block = self.trace.block
        same = (block[i] == block[j]).tolist()
        pairs = zip(i.tolist(), j.tolist(), same, strict=True)
        return np.array([not (self.any if in_block else self.wide).ordered(a, b) for a, b, in_block in pairs], bool)
