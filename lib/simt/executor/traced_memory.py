"""Loads and stores that are recorded in a trace."""

from ..errors import OutOfBounds
from .memory import Array, Memory, Record, check_index


class TracedMemory(Memory):
    """The same, with every access recorded in ``launch.trace``."""

    def __init__(self, launch):
        super().__init__(launch)
        self.trace = launch.trace
        self.record = launch.trace.recorded.extend
        self.sent = set()  # elements to which a copy is on its way

    def ports(self):
        """Closures, not methods: they are called for every access."""
        record, loadn, storen = self.record, self.loadn, self.storen

        def load1(a, i, site, visit):
            try:
                if 0 <= i < a.n0:
                    offset = a.offset + i * a.s0
                    value = a.get1(i)
                    if a.init is None or a.init[offset]:
                        record((site, visit, a.number, offset))
                        return value
            except (TypeError, AttributeError, IndexError):
                pass
            return loadn(a, (i,), site, visit)

        def load2(a, i, j, site, visit):
            try:
                if 0 <= i < a.n0 and 0 <= j < a.n1:
                    offset = a.offset + i * a.s0 + j * a.s1
                    value = a.get2(i, j)
                    if a.init is None or a.init[offset]:
                        record((site, visit, a.number, offset))
                        return value
            except (TypeError, AttributeError, IndexError):
                pass
            return loadn(a, (i, j), site, visit)

        def store1(a, i, value, site, visit):
            try:
                if 0 <= i < a.n0:
                    a.put1(i, value)
                    offset = a.offset + i * a.s0
                    if a.init is not None:
                        a.init[offset] = 1
                    record((site, visit, a.number, offset))
                    return
            except (TypeError, AttributeError, IndexError, ValueError, OverflowError):
                pass
            storen(a, (i,), value, site, visit)

        def store2(a, i, j, value, site, visit):
            try:
                if 0 <= i < a.n0 and 0 <= j < a.n1:
                    a.put2((i, j), value)
                    offset = a.offset + i * a.s0 + j * a.s1
                    if a.init is not None:
                        a.init[offset] = 1
                    record((site, visit, a.number, offset))
                    return
            except (TypeError, AttributeError, IndexError, ValueError, OverflowError):
                pass
            storen(a, (i, j), value, site, visit)

        return {
            "_load1": load1,
            "_load2": load2,
            "_load3": lambda a, i, j, k, site, visit: loadn(a, (i, j, k), site, visit),
            "_loadn": loadn,
            "_store1": store1,
            "_store2": store2,
            "_store3": lambda a, i, j, k, value, site, visit: storen(a, (i, j, k), value, site, visit),
            "_storen": storen,
            "_iterate": self.iterate,
            "_field": self.field,
        }

    def loadn(self, a, key, site, visit=0):
        key = self.wrapped(a, key)
        value = super().loadn(a, key, site, visit)
        if type(a) is Array and type(value) is not Array and type(value) is not Record:
            self.note(a, key, site, visit, writes=False)
        return value

    def _put(self, a, key, value, site):
        super()._put(a, key, value, site)
        self.note(a, key, site, self._visit_of_store, writes=True)

    def storen(self, a, key, value, site, visit=0):
        self._visit_of_store = visit
        super().storen(a, key, value, site, visit)

    def note(self, a, key, site, visit, writes, size=0):
        """Record one access. size: bytes, where it is not one element."""
        key = key[0] if len(key) == 1 and isinstance(key[0], tuple) else key
        if check_index(a, key):
            return
        offset = a.offset + sum(int(k) * s for k, s in zip(key, a.data.strides, strict=False))
        if size or a.data.itemsize != a.unit:
            size = size or a.data.itemsize
            self.trace.recording.sized(size)
        self.record((site, visit, a.number, offset))
        if a.init is not None:
            step = a.data.itemsize
            if writes:
                for start in range(offset, offset + (size or step), step):
                    a.init[start] = 1
            elif not all(
                a.init[start] or a.init[start - start % a.unit]
                for start in range(offset, offset + (size or step), step)
            ):
                self._read_too_early(a, key, site, offset)

    def note_atomic(self, name, old, new, value):
        if self.launch.sleepers is not None and old == new:
            self.launch.sleepers.unchanged.add(len(self.trace) - 1)
        if self.launch.program.notes_atomics:
            self.trace.atomics.append((len(self.trace) - 1, old, new, name, value))

    def _read_too_early(self, a, key, site, offset):
        shown = ", ".join(str(int(k)) for k in key)
        if self._place(a, offset) in self.sent:
            kind, what = "unfinished-copy", "while a copy to it is on its way"
        else:
            kind, what = f"uninitialised-{a.space}", "before any thread has written there"
        message = f"{a.space} array {a.name!r} is read at [{shown}] {what}"
        self.launch.finding(kind, message, site, array=a.number, index=tuple(map(int, key)))

    def _place(self, a, offset):
        return self.launch.current.block.number, a.number, offset

    def _offset(self, a, key):
        return a.offset + sum(int(k) * s for k, s in zip(key, a.data.strides, strict=True))

    def mark(self, a, key):
        if a.init is not None:
            offset = self._offset(a, key)
            a.init[offset] = 1
            self.sent.discard(self._place(a, offset))

    def forget(self, a, keys):
        if a.init is not None:
            for key in keys:
                offset = self._offset(a, key)
                a.init[offset] = 0
                self.sent.add(self._place(a, offset))

    def check(self, a, key, site, visit):
        wrong = check_index(a, key)
        if not wrong:
            return True
        kind, message = wrong
        self.launch.finding(kind, message, site, array=a.number, index=tuple(map(int, key)))
        if not self.trace.collect:
            self.launch.fault(OutOfBounds, message, site)
        return False
