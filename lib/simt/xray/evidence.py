"""What an atomic that returned ``v`` proves of another one on the same address: that it came before, in every run.

    a counter that is only added to       v cannot have been reached without this addition; of one that runs round
                                          (inc, dec) the turns are counted
    bits that are only set                v has a bit that nobody else sets
    a lock                                all who leave a value that may be taken have taken it before: whoever held it
                                          has given it back, or comes later
    a flag that is set to values          v was stored by one atomic only, or by some that release as much, or come
                                          after it

It must hold for every value that would have passed the same comparisons: ``while flag < 1`` is content with 1 where it
saw 3. What others would have stored counts, too, had they come first: the second ``exch(flag, 0, 1)`` changes nothing
in this run.
"""

import collections
import itertools
import math

_ADDS = ("add", "sub", "inc", "dec")
_STORES = ("exch", "cas", "max", "min", "nanmax", "nanmin")


class Evidence:
    """What the atomics on one address prove of one another, as far as an `order` is known."""

    def __init__(self, events, order):
        self.events, self.order = events, order
        self.changes = [e for e in events if e.new != e.old or e.name in ("inc", "dec")]
        self.changed_by = {m.number for m in self.changes}
        self.stores = [e for e in events if e.number in self.changed_by or e.name in _STORES]
        self.seen = {m.number: order.seen_before(m) for m in self.stores}
        self.start = events[0].old
        adds = [e for e in self.changes if e.name in _ADDS]
        self.resets = [e for e in self.changes if e.name not in _ADDS]
        self.grows = any(e.delta > 0 for e in adds)
        self.round = _round(self.changes)  # after how many steps it is where it was
        self.one_way = len({e.delta > 0 for e in adds}) == 1
        if not self.round and any(e.new - e.old != e.delta for e in self.changes[:-1] if e.name in _ADDS):
            self.one_way = False  # it has run round, and nobody can say how
        self.counter = self.one_way and not self.resets
        self.steps = dict(zip((e.number for e in events), _steps_before(events), strict=True)) if self.round else {}
        self.bits = [e for e in events if e.name == "or_"] if all(e.name == "or_" for e in self.changes) else []
        self.values = {e.new for e in self.changes} | {self.start}
        self.changed = 0  # the changes, and what their threads did later (bits)
        for m in self.changes:
            self.changed |= order.from_on[m.number]
        self.of_block = collections.defaultdict(list)
        for e in events:
            self.of_block[e.block].append(e)
        self._locks, self._leasts, self._asked_of, self._found = {}, {}, None, ()

    def proves(self, w, e):
        """Whether ``e`` can only have gone on as it did because ``w`` came before it."""
        if w.new == w.old and w.name not in ("inc", "dec"):
            return False  # it left nothing to be seen
        if self.one_way and e.name in _ADDS and self._counted(w, e):
            return True
        if self.counter:
            return False
        if e.new != e.old and not accepts(e, e.new) and self._is_lock(e):
            return accepts(e, w.new)
        if self.bits:
            without = 0
            for m in self.bits:
                if m is not w and m is not e and not self._after(m, w) and not self._after(m, e):
                    without |= int(m.value)
            return all(int(v) & ~int(self.start) & ~without for v in self.values if accepts(e, v))
        return all(self._stored_after(w, e, v) for v in self.values if accepts(e, v))

    def _after(self, m, e):
        """Whether ``m`` comes after ``e`` in every run: it has seen it, or what its thread did later."""
        return bool(self.seen[m.number] & self.order.from_on[e.number]) if m.number in self.seen else False

    def _certain(self, e):
        """(what came before ``e`` in every run, what was stored over before it came), as bits."""
        if self._asked_of is not e:  # it is asked of one atomic after the other
            before, over = self.order.seen_before(e), 0
            for c in self.changes:
                if before & self.order.from_on[c.number]:
                    over |= self.seen[c.number]
            self._asked_of, self._found = e, (before, over)
        return self._found

    # -- flags --------------------------------------------------------------------------------------------------------

    def _stored_after(self, w, e, value):
        before, over = self._certain(e)
        if value == self.start and not before & self.changed:
            return False  # it may still have been there
        for m in self.stores:  # one that adds to what it finds may come to any value
            if m is w or m is e or (m.name in _STORES and m.value != value) or self._after(m, e) or self._after(m, w):
                continue
            if not over & self.order.from_on[m.number] and not self.order.as_good(m, w):
                return False
        return True

    # -- locks --------------------------------------------------------------------------------------------------------

    def _is_lock(self, e):
        """Whether all who leave a value that ``e`` would take hold the lock: the change before was to take it."""
        key = tuple(e.tests) or e.old
        if key not in self._locks:
            self._locks[key] = all(self._gives_back(m, e) for m in self.stores if accepts(e, _stored(m)))
        return self._locks[key]

    def _gives_back(self, m, e):
        before = [c for c in self.changes if self.seen[m.number] >> c.number & 1 and c.block == m.block]
        before = [c for c in before if c.thread == m.thread] or before
        if not before:
            return False
        last = max(before, key=lambda c: c.row)
        undone = m.name in _ADDS and last.name in _ADDS and m.delta == -last.delta  # of one who came too late
        return undone or (accepts(e, last.old) and not accepts(e, last.new))

    # -- counters -----------------------------------------------------------------------------------------------------

    def _counted(self, w, e):
        """Whether the count that ``e`` found cannot be reached without ``w``, since it was last set for certain."""
        before, _ = self._certain(e)
        past = [r for r in self.resets if before & self.order.from_on[r.number]]
        if any(r not in past and not self._after(r, e) for r in self.resets):
            return False  # it may have been set to anything
        begin = max(past, key=lambda r: r.row) if past else None
        if begin is not None and self._after(begin, w):
            return True
        most = 0
        for m in self.changes:
            if m is w or m is e or m in self.resets or (m.row > e.row and self._after(m, e)) or self._after(m, w):
                continue
            if begin is None or not self._after(begin, m):
                most += abs(m.delta)
        return most < self._least(e, begin)

    def _least(self, e, begin):
        """The smallest count, from ``begin`` (or the start) on, that would have done as well as what ``e`` found.

        It is what its thread knew already, or it stands beside a bound of the comparisons."""
        count = self._count(e, begin)
        if not e.tests:
            return max(count % self.round, self._floor(e, begin)) if self.round else count
        key = e.number, begin
        if key not in self._leasts:
            floor, step = min(self._floor(e, begin), count), 1 if self.grows else -1
            start = self.start if begin is None else begin.new
            tests = [(test, self._bound(bound, since, begin), result) for test, bound, result, since in e.tests]
            beside = [(value - start) * step for _, bound, _ in tests for value in _neighbours(bound, e.old)]
            tried = range(floor, count) if self.round else (n for n in (floor, *beside) if floor <= n <= count)
            self._leasts[key] = min((n for n in tried if _passes(tests, self._value(start + step * n))), default=count)
        return self._leasts[key]

    def _count(self, e, begin):
        """How many steps the counter was from ``begin`` (or the start) when ``e`` came."""
        return self.steps[e.number] if self.round else abs(e.old - (self.start if begin is None else begin.new))

    def _value(self, value):
        return int(value) % self.round if self.round else value

    def _floor(self, e, begin):
        """The count that ``e`` cannot but find: what was added before it in every run; and a read is never older than
        an earlier one of the same place, by its thread or before a barrier of its block."""
        key = e.number, begin, "floor"
        if key not in self._leasts:
            before = self.order.seen_before(e)
            floor = sum(
                abs(m.delta)
                for m in self.changes
                if before & self.order.from_on[m.number]
                and m not in self.resets
                and (begin is None or self._after(m, begin))
            )
            for p in self.of_block[e.block]:
                if p.row >= e.row:
                    break
                if p.thread != e.thread and p.epoch >= e.epoch:
                    continue
                if begin is None or self.order.seen_before(p) & self.order.from_on[begin.number]:
                    known = self._least(p, begin) if p.tests else self._floor(p, begin)
                    floor = max(floor, known + (abs(p.delta) if p.number in self.changed_by else 0))
            self._leasts[key] = floor
        return self._leasts[key]

    def _bound(self, bound, since, begin):
        """A bound of a comparison; of one that was read from the counter, the least that it could have been."""
        if since is None:
            return bound
        known = self._least(since, begin) if since.tests else self._floor(since, begin)
        more = self._count(since, begin) - known
        return self._value(bound - more if self.grows else bound + more)


def _round(changes):
    """The length of the round that a counter makes, if nothing but `inc` changes it, or `dec`, and up to one number."""
    same = len({(e.name, e.value) for e in changes}) == 1 and changes[0].name in ("inc", "dec")
    return int(changes[0].value) + 1 if same and changes[0].old <= changes[0].value else 0


def _steps_before(events):
    """Of each atomic how many steps a counter had made before it."""
    return itertools.accumulate((int(e.name in ("inc", "dec")) for e in events[:-1]), initial=0)


def _neighbours(bound, like):
    """A bound of a comparison and the numbers next to it, of the kind of an atomic's value."""
    if isinstance(like, int):
        floor = math.floor(bound)
        return floor - 1, floor, floor + 1
    return bound, math.nextafter(bound, -math.inf), math.nextafter(bound, math.inf)


def _stored(m):
    """What an atomic stores, or would have stored."""
    return m.value if m.name in _STORES else m.new


def accepts(e, value):
    """Whether another value would have passed the comparisons that the one found has passed; itself it has."""
    if not e.tests:
        return value == e.old
    return _passes([test[:3] for test in e.tests], value)


def _passes(tests, value):
    return all(test(value, bound) == result for test, bound, result in tests)
