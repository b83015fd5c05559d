"""What an order that a kernel makes for itself lacks: a fence, a wider one, or a barrier before a flag is passed on.

The order is worked out again, as if a fence stood behind every access (and as if barriers parted a block where its
source passes an atomic on): two accesses that are in order then, lack just that.
"""

import functools

import numpy as np

from ..source.ways import around
from .cures import TWO_FLAGS
from .evidence import accepts
from .order import Order
from .spans import moment

MOST = 16  # atomics at each end of a pair
PAIRS = 12  # of a conflict that are looked at
MOST_ATOMICS = 4000  # that are looked at a second time


class Fenced(Order):
    """The order of a trace, if a fence of the device stood behind every access and every atomic."""

    def _release(self, e):
        return {e.thread: e.row}, e.epoch, {self._warp(e.thread): [e.stamp]}

    def _acquire(self, e):
        return {e.thread: e.row + 1}, e.epoch, {self._warp(e.thread): [e.stamp]}


class Missing:
    """Asked for pairs of accesses that nothing orders. kernel_order: the one that it has (order.py), or None."""

    def __init__(self, trace, kernel_order):
        self.trace, self.kernel_order, self._ways = trace, kernel_order, {}

    @functools.cached_property
    def fenced(self):
        trace = self.trace
        if not 0 < len(trace.atomics) <= MOST_ATOMICS or not any(trace.guards.values()):
            return None
        order = Fenced(trace, 0)
        return order if any(e.known for e in order.events) else None

    def cure(self, conflict):
        """A sentence, or "" where neither fences nor barriers by the atomics would put its accesses in order."""
        if self.fenced is None:
            return ""
        sampled = np.unique(np.linspace(0, conflict.count - 1, PAIRS).astype(int))
        said = [self._of_pair(int(conflict.a[k]), int(conflict.b[k])) for k in sampled]
        return max(said, key=lambda cure: ("syncthreads" in cure, bool(cure))) if said[0] else ""

    def of_two_flags(self, conflict):
        """A sentence where each of two threads sets what only the other asks, and goes on where it finds nothing."""
        if self.kernel_order is None:
            return ""
        order, rows = self.kernel_order.any, (int(conflict.a[0]), int(conflict.b[0]))
        sets, asks = [], []
        for row in rows:
            events = self._own(order.of_block[int(self.trace.block[row])], row)
            sets.append({e.address for e in events if e.new != e.old})
            asks.append({e.address for e in events if e.node in order.guards(row) and self._finds_nothing(order, e)})
        theirs = [asks[k] & sets[1 - k] - sets[k] for k in (0, 1)]
        return TWO_FLAGS if all(theirs) else ""

    def of_what_proves_nothing(self, conflict):
        """A sentence where the second access waits for the first by an atomic whose value says nothing of it."""
        if self.kernel_order is None:
            return ""
        order, sites = self.kernel_order.wide, self.trace.sites
        for i, j in ((conflict.a[0], conflict.b[0]), (conflict.b[0], conflict.a[0])):
            first, second = int(i), int(j)
            guards, stamp = order.guards(second), order._stamp(first)
            asks = [e for e in order.of_block[int(self.trace.block[second])] if e.node in guards and e.row < second]
            for e in (e for e in asks if e.new == e.old or e.name not in ("cas", "exch")):  # not of who takes a lock
                for w in order.of_block[int(self.trace.block[first])]:
                    tells = w.address == e.address and w.new != w.old and order._covered(w.number, first, stamp)
                    if tells and first < w.row and not e.known >> w.number & 1:
                        tell, ask = (sites[self.trace.site[x.row]] for x in (w, e))
                        return (
                            f"What `{ask.text}` on line {ask.line} finds may be there before `{tell.text}` on line "
                            f"{tell.line} has come: go on only with a value that cannot be there without it."
                        )
        return ""

    def _finds_nothing(self, order, e):
        start = order.of_address[e.address][0].old
        return e.new == e.old and accepts(e, start)

    def _of_pair(self, i, j):
        chains = [
            (self._lacks(first, second, w, e), first, second, w, e)
            for first, second in ((i, j), (j, i))
            for w, e in self._chains(first, second)
        ]
        fewest = min(chains, key=lambda c: (sum(c[0][:2]), c[0][0], sum(c[0][2:]), c[3].row), default=None)
        return self._sentence(*fewest) if fewest else ""

    def _chains(self, first, second):
        """Pairs of an atomic that passes on the first access, and one that knows of it before the second: of the
        threads of the two accesses where they have any, else of others of their blocks."""
        order, guards, trace = self.fenced, self.fenced.guards(second), self.trace
        knows = [e for e in order.of_block[int(trace.block[second])] if e.known and e.node in guards]
        knows = self._own(knows, second) or [e for e in knows if self._stands_before(e.row, second)]
        if not knows:
            return
        known = 0
        for e in knows:
            known |= e.known
        tells = [w for w in order.of_block[int(trace.block[first])] if known >> w.number & 1]
        of_thread = [w for w in tells if w.thread == trace.thread[first] and first < w.row]
        tells = of_thread or [w for w in tells if self._stands_before(first, w.row)]
        for w in tells[:MOST]:
            for e in knows[-MOST:]:
                if e.known >> w.number & 1:
                    yield w, e

    def _own(self, events, row):
        return [e for e in events if e.thread == self.trace.thread[row] and e.row < row]

    def _stands_before(self, a, b):
        """Whether accesses of one block are in this order, or would be with a barrier where all threads come by."""
        trace = self.trace
        if trace.thread[a] == trace.thread[b]:
            return a < b
        if trace.epoch[a] != trace.epoch[b]:
            return trace.epoch[a] < trace.epoch[b]
        if trace.warp[a] != trace.warp[b] and self._some(a) & self._some(b):
            return False  # there is no point between them where all threads come by
        return self._moment(a) < self._moment(b)

    def _some(self, row):
        """The branches and loops around an access that not all threads of a block take."""
        number = int(self.trace.site[row])
        if number not in self._ways:
            site = self.trace.sites[number]
            self._ways[number] = {(site.function, way.line) for way in around(site) if way.divergent}
        return self._ways[number]

    def _moment(self, row):
        return moment(self.trace, self.trace.site[row], self.trace.visit[row])

    def _lacks(self, first, second, w, e):
        """(barrier before w, barrier after e, fence before w, fence after e): what is missing."""
        stamp_of = self.fenced._stamp
        barriers = (
            not self.fenced._covered(w.number, first, stamp_of(first)),
            not self.fenced._after(e.number, second, stamp_of(second)),
        )
        order = self.kernel_order and (self.kernel_order.any if self._near(first, second) else self.kernel_order.wide)
        return *barriers, *self._lacks_fences(order, first, second, w, e, *barriers)

    def _lacks_fences(self, order, first, second, w, e, before, after):
        if order is None:
            return True, True
        w_number, e_number, stamp_of = w.number, e.number, self.fenced._stamp
        return (
            not (any(order.covers[w_number][::2]) if before else order._covered(w_number, first, stamp_of(first))),
            not (any(order.behind[e_number][::2]) if after else order._after(e_number, second, stamp_of(second))),
        )

    def _near(self, first, second):
        return self.trace.block[first] == self.trace.block[second]

    def _sentence(self, lacks, first, second, w, e):
        before, after, release, acquire = lacks
        near, sites = self._near(first, second), self.trace.sites
        fence = "cuda.threadfence_block()" if near else "cuda.threadfence()"
        tell, ask = (sites[self.trace.site[x.row]] for x in (w, e))
        waits = "the wait" if self._waits(ask) else f"`{ask.text}`"
        passes_on, waits = f"before `{tell.text}` on line {tell.line}", f"after {waits} on line {ask.line}"
        both = f"before and after `{tell.text}` on line {tell.line}" if tell == ask else f"{passes_on} and {waits}"
        if before:
            barrier = self._barrier(first, w)
            put = f"{barrier}, then {fence}," if release else barrier
            return f"Put {put} {passes_on}: other threads may not be done when it is passed on."
        if after:
            barrier = self._barrier(second, e)
            put = f"{fence}, then {barrier}," if acquire else barrier
            return f"Put {put} {waits}: one thread waits, and others go on."
        if not (release or acquire):
            return f"Put {fence} before every atomic that passes something on, and after every one that waits for it."
        where = both if release and acquire else passes_on if release else waits
        narrow = (
            self.kernel_order
            and not near
            and self._lacks_fences(self.kernel_order.any, first, second, w, e, False, False)
        )
        if narrow and not any(narrow):
            block = "threadfence_block() orders for threads of one block only"
            return f"The fence {where} must be cuda.threadfence(): {block}."
        return f"Put {fence} {where}: an atomic alone orders nothing but itself."

    def _barrier(self, row, event):
        """The barrier that takes in the threads of an access and an atomic of one block."""
        of_access = int(self.trace.thread[row])
        return f"cuda.sync{'warp' if self.fenced._warp(of_access) == self.fenced._warp(event.thread) else 'threads'}()"

    def _waits(self, site):
        """Whether an atomic stands in the head or body of a ``while``."""
        return any(
            loop.kind == "loop" and loop.text.startswith("while") and loop.line == site.line
            for loop in self.trace.sites
        )
