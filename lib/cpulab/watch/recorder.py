"""What a watched function did, access by access."""

import sys
from dataclasses import dataclass, field

import numpy as np

LINE = 64  # bytes of a cache line
PAGE = 4096
LOAD, STORE = 0, 1


class TooLarge(ValueError):
    """More accesses than can be looked at."""


class Carried(Exception):
    """A value of one iteration is used in another, which runs at the same time."""

    def __init__(self, name):
        super().__init__(name)
        self.name = name


@dataclass(frozen=True)
class Place:
    """Where in the program: an expression on a line."""

    line: int
    text: str


@dataclass(eq=False)
class Root:
    """A piece of memory: an argument, or an array made on the way. Starts at a cache line of its own."""

    name: str
    base: int
    size: int
    itemsize: int
    made: bool  # inside the function
    number: int
    array: np.ndarray
    unset: set = field(default_factory=set)  # addresses of an np.empty in which nothing was stored yet


@dataclass
class Region:
    """One execution of a parallel loop: iterations (their numbers) of each thread."""

    line: int
    iterations: list = field(default_factory=list)  # per thread: list of loop values


class Recorder:
    """`note` records an access; who does it (region, thread, iteration) is set by the loop (loops.py)."""

    def __init__(self, threads, limit):
        self.threads, self.limit = threads, limit
        self.roots, self.places, self.regions = [], [], []
        self.region, self.thread, self.iteration = -1, 0, -1
        self.rows = []  # (region, thread, iteration, place, kind, root, address)
        self.allocations = self.temporaries = 0
        self.asks_for_thread = False
        self.unset = []  # (root, number of the place) of loads of single elements in which nothing was stored before
        self.on = True
        self._place_of, self._positions, self._next = {}, {}, 0
        self.sources = {}  # code -> source lines
        self.end = PAGE

    def root(self, array, name, made):
        """A Root for the memory that `array` lives in."""
        owner = array
        while isinstance(owner.base, np.ndarray):
            owner = owner.base
        for known in self.roots:
            if known.array is owner:
                return known
        size = max(1, owner.nbytes)
        root = Root(name, self.end, size, owner.itemsize, made, len(self.roots), owner)
        self.end += -(-size // PAGE) * PAGE
        self.roots.append(root)
        return root

    def note(self, kind, root, addresses):
        """Record loads or stores at byte addresses (an int, or an array of them)."""
        if not self.on:
            return
        who = (self.region, self.thread, self.iteration, self._place(), kind, root.number)
        if root.unset:
            self._look_for_unset(kind, root, addresses, who[3])
        if isinstance(addresses, int):
            self.rows.append((*who, addresses))
        else:
            self.rows += [(*who, a) for a in np.asarray(addresses).ravel().tolist()]
        if len(self.rows) > self.limit:
            raise TooLarge(
                f"more than {self.limit:,} accesses; watch looks at every one of them, so give it small arrays "
                "(or a larger limit=)"
            )

    def _look_for_unset(self, kind, root, addresses, number):
        if kind == STORE:
            root.unset.difference_update([addresses] if isinstance(addresses, int) else np.ravel(addresses).tolist())
        elif isinstance(addresses, int) and addresses in root.unset:
            self.unset.append((root, number))

    def _place(self):
        frame = sys._getframe(2)
        while frame is not None and frame.f_code not in self.sources:
            frame = frame.f_back
        if frame is None:
            return -1
        key = (frame.f_code, frame.f_lasti)
        if key not in self._place_of:
            self._place_of[key] = len(self.places)
            self.places.append(self._describe(frame))
        return self._place_of[key]

    def _describe(self, frame):
        code = frame.f_code
        if code not in self._positions:
            self._positions[code] = list(code.co_positions())
        line, end, column, stop = self._positions[code][frame.f_lasti // 2]
        lines = self.sources[code]
        text = ""
        if line and line == end and line <= len(lines):
            text = lines[line - 1].encode()[column:stop].decode(errors="replace")
        return Place(line or frame.f_lineno, text)

    def columns(self):
        """The rows as a dict of NumPy arrays."""
        names = ("region", "thread", "iteration", "place", "kind", "root", "address")
        table = np.array(self.rows, np.int64).reshape(-1, len(names))
        return dict(zip(names, table.T, strict=True))
