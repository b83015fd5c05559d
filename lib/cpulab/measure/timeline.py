"""Which thread ran which piece of work, from when to when.

Python threads::

    timeline = Timeline()
    with timeline.piece("load batch 3"):      # in any thread
        ...
    timeline.table(); figures.show(draw_timelines({"": timeline}), alt=timeline.alt_text)

A ``prange`` loop writes into a log, one row for each piece::

    @njit(parallel=True)
    def work(x, out, log):
        for i in prange(len(x)):
            start = nanoseconds()
            ...
            note(log, i, start)

    log = new_log(len(x))
    work(x, out, log)
    Timeline.from_log(log)

Times are of the wall clock: a thread that the operating system has put to sleep in a piece counts as busy.
"""

import contextlib
import itertools
import threading
from dataclasses import dataclass

import numpy as np

from .table import Table, with_unit
from .timeline_clock import LOG_COLUMNS, nanoseconds, new_log
from .turns import alone

WAIT = "wait"  # the kind of a piece in which a thread does nothing but wait


@dataclass(frozen=True)
class Piece:
    """One piece of work: ``start`` and ``end`` in nanoseconds of `nanoseconds`; ``label`` a text, or an iteration's
    number."""

    thread: str
    label: object
    start: int
    end: int
    kind: str = "work"

    def __post_init__(self):
        if self.end < self.start:
            raise ValueError(f"the piece {self.label!r} ends {self.start - self.end} ns before it starts")


class Timeline:
    """Pieces of work by thread. Add them from any thread with `piece` or `add`, or read a log with `from_log`."""

    def __init__(self, threads=()):
        """``threads``: names of rows in the order wanted; a thread that never works then shows up as idle."""
        self._pieces = []
        self._named = tuple(threads)

    @contextlib.contextmanager
    def piece(self, label, kind="work", thread=None):
        """Record the ``with`` block as a piece of the calling thread.

        ``kind``: a word by which pieces are drawn alike; `WAIT` ("wait") does not count as busy.
        ``thread``: the row's name (default: the name of the Python thread).
        """
        start = nanoseconds()
        try:
            yield
        finally:
            self.add(thread or threading.current_thread().name, label, start, nanoseconds(), kind)

    def add(self, thread, label, start, end, kind="work"):
        """Add a piece that was timed elsewhere (`nanoseconds`), in a compiled function or another process."""
        self._pieces.append(Piece(str(thread), label, int(start), int(end), kind))

    @classmethod
    def from_log(cls, log, threads=None):
        """A timeline from a `new_log` that `note` has filled; the pieces are labelled with their row's number.

        ``threads``: how many threads had been offered the work, so that idle ones are shown (default: those seen).
        Rows that nobody wrote are left out.
        """
        log = np.asarray(log)
        if log.ndim != 2 or log.shape[1] != LOG_COLUMNS or log.dtype != np.int64:
            raise ValueError(f"log is {log.dtype} of shape {log.shape}; expected int64 (pieces, 3), see new_log")
        (written,) = np.nonzero(log[:, 0] >= 0)
        if not written.size:
            raise ValueError("log is empty: no piece was noted; call note(log, i, start) at the end of each piece")
        seen = sorted(set(log[written, 0].tolist()) | set(range(threads or 0)))
        timeline = cls([f"thread {t}" for t in seen])
        for i in written.tolist():
            thread, start, end = log[i].tolist()
            timeline.add(f"thread {thread}", i, start, end)
        return timeline

    @property
    def pieces(self):
        """All pieces in the order in which they began."""
        return sorted(self._pieces, key=lambda piece: (piece.start, piece.end))

    @property
    def threads(self):
        """The names of the threads: those given first, then as they began."""
        return list(dict.fromkeys((*self._named, *(piece.thread for piece in self.pieces))))

    def of(self, thread):
        """The pieces of one thread, in the order in which they began."""
        return [piece for piece in self.pieces if piece.thread == thread]

    @property
    def start(self):
        """When the first piece began, in nanoseconds."""
        return min(piece.start for piece in self._some())

    @property
    def end(self):
        """When the last piece ended, in nanoseconds."""
        return max(piece.end for piece in self._some())

    @property
    def elapsed(self):
        """Seconds from the beginning of the first piece to the end of the last."""
        return (self.end - self.start) * 1e-9

    def _some(self):
        if not self._pieces:
            raise ValueError("nothing was recorded; add pieces of work with `with timeline.piece(...)` first")
        return self._pieces

    def busy_seconds(self):
        """Thread -> seconds in which it was in at least one piece that is not `WAIT`."""
        return {thread: 1e-9 * covered([p for p in self.of(thread) if p.kind != WAIT]) for thread in self.threads}

    def busy(self):
        """Thread -> share of the elapsed time in which it worked, 0 to 1."""
        return {thread: seconds / max(self.elapsed, 1e-9) for thread, seconds in self.busy_seconds().items()}

    @property
    def balance(self):
        """Mean busy time of the threads over that of the busiest: 1 is perfect, 1 / threads is one thread alone."""
        seconds = list(self.busy_seconds().values())
        return sum(seconds) / len(seconds) / max(*seconds, 1e-9)

    def overlap(self):
        """Seconds in which at least two threads worked at once."""
        marks = []
        for thread in self.threads:
            for first, last in union([p for p in self.of(thread) if p.kind != WAIT]):
                marks += [(first, 1), (last, -1)]
        marks.sort()
        working, total = 0, 0
        for (time, change), (following, _) in itertools.pairwise(marks):
            working += change
            total += (following - time) if working >= 2 else 0
        return 1e-9 * total

    def table(self):
        """Thread, number of pieces, time busy, and busy / elapsed, as a `Table`."""
        seconds, share = self.busy_seconds(), self.busy()
        rows = [
            (thread, len(self.of(thread)), with_unit(seconds[thread], "s"), f"{share[thread]:.0%}")
            for thread in self.threads
        ]
        caption = f"{with_unit(self.elapsed, 's')} elapsed; balance {self.balance:.2f}"
        return Table(("thread", "pieces", "busy", "busy / elapsed"), rows, caption)

    def __str__(self):
        return str(self.table())

    __repr__ = __str__

    def _repr_html_(self):
        return self.table()._repr_html_()

    @property
    def alt_text(self):
        """What the picture shows, in words."""
        share = "; ".join(
            f"{thread}: {counted(len(self.of(thread)), 'piece')}, {share:.0%} busy"
            for thread, share in self.busy().items()
        )
        return f"Timeline of {counted(len(self.threads), 'thread')} over {with_unit(self.elapsed, 's')}. {share}."


def counted(number, noun):
    return f"{number} {noun}{'' if number == 1 else 's'}"


def union(pieces):
    """Disjoint (start, end) in nanoseconds that cover the pieces, which may be nested."""
    joined = []
    for piece in sorted(pieces, key=lambda piece: piece.start):
        if joined and piece.start <= joined[-1][1]:
            joined[-1] = joined[-1][0], max(joined[-1][1], piece.end)
        else:
            joined.append((piece.start, piece.end))
    return joined


def covered(pieces):
    """Nanoseconds covered by at least one of the pieces."""
    return sum(last - first for first, last in union(pieces))


def fastest_timeline(run, pieces, threads=None, calls=4):
    """The timeline of the fastest of several runs: of ``run(log)``, which notes its ``pieces`` pieces of work in a
    `new_log`.

    It is called once more before, for its compilation. ``threads``: see `Timeline.from_log`.
    """
    run(new_log(pieces))
    logs = [new_log(pieces) for _ in range(calls)]
    with alone():
        for log in logs:
            run(log)
    return min((Timeline.from_log(log, threads) for log in logs), key=lambda timeline: timeline.elapsed)
