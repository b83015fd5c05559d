"""What a traced launch records: one row for every load, store and atomic of every thread.

Run a kernel with a trace, then read NumPy columns:

    trace = Trace()
    simt.run(kernel, grid, block, args, trace=trace)
    trace.thread, trace.address, trace.sites[trace.site[0]].text

Row ``i`` of every column below (an array whose values are worked out when asked for, recording.py) is the access that
happened ``i``-th in the run (one thread runs at a time, so the order is total, and the same for every run with the same
``order``). All columns have length ``len(trace)``.

===============  =======  ==========================================================================================
column           dtype    meaning
===============  =======  ==========================================================================================
``thread``       int64    linear thread id in the launch: ``block * threads_per_block + id within its block`` (x
                          fastest)
``block``        int64    linear block id in the launch (x fastest)
``warp``         int64    linear warp id in the launch; a warp is 32 consecutive threads of one block
``lane``         int64    0 ... 31
``site``         int64    index into ``sites``: the source expression; a load and a store are different sites
``kind``         int8     ``LOAD``, ``STORE`` or ``ATOMIC``
``array``        int64    index into ``arrays``
``space``        int8     ``GLOBAL``, ``SHARED``, ``LOCAL`` or ``CONST`` (of that array)
``offset``       int64    bytes from the array's first element (negative only in an array with negative strides)
``address``      int64    bytes within its space: see below
``size``         int64    bytes of this access (16 for a vector access made by a stand-in, else the element size)
``element``      int64    flat index of the element in C order (of the whole array, also when reached through a view)
``visit``        int64    which visit of the site: equal (call path, iterations of the enclosing loops) = equal number
``epoch``        int64    block barriers that the thread had passed
``warp_epoch``   int64    ``syncwarp`` barriers that the thread had passed
``grid_epoch``   int64    grid barriers that the thread had passed
===============  =======  ==========================================================================================

*Warp instruction.* Rows with equal ``(warp, site, visit)`` are one warp instruction, as a GPU issues a structured
program: a divergent ``if`` in a loop does not merge different iterations, and two calls of a device function stay
apart. A thread has at most one row for each ``(site, visit)``.

*Addresses.* Global arrays get virtual base addresses, aligned to 256 bytes and never overlapping; two arguments that
share memory (a view of one another) share addresses. Shared addresses count from the start of the block's shared memory
(every block has its own: compare them only within one block). Local addresses count from the start of the thread's own
local memory (compare within one thread). Constant addresses count from the start of constant memory.

*Events.* ``barriers`` (block and grid barriers), ``collectives`` (warp operations) and ``findings`` (what went wrong
while the kernel ran) are lists of the small classes below, in the order in which they happened. ``position`` in them is
the number of rows recorded before the event.

*Snapshots.* With ``Trace(snapshots=True)``, ``snapshots`` holds copies of the block's shared arrays as they were at
each block barrier and when the block ended.
"""

from dataclasses import dataclass, field

import numpy as np

from .recording import FULL, Column, Recording

LOAD, STORE, ATOMIC = 0, 1, 2
KINDS = ("load", "store", "atomic")
GLOBAL, SHARED, LOCAL, CONST = 0, 1, 2, 3
SPACES = ("global", "shared", "local", "const")
WARP = 32
VISITS = 10  # accesses that may be recorded for each visit of a loop or call
MOST_ACCESSES = 16_000_000  # 1.6 GB, with all that is worked out from them
ROUNDS_AFTER = 2_000  # of a loop, once something has gone wrong: what is read outside an array may be why it never ends


@dataclass(frozen=True)
class ArrayInfo:
    """An array that the kernel touched."""

    name: str  # as the author of the kernel calls it
    space: str  # "global", "shared", "local" or "const"
    dtype: np.dtype
    shape: tuple
    strides: tuple  # bytes
    base: int  # address of the first element, in its space
    site: int = -1  # where a shared or local array is made; -1 for an argument


@dataclass(frozen=True)
class Barrier:
    """A block barrier (or grid barrier, where ``block`` is -1) that was passed."""

    site: int
    block: int
    epoch: int  # barriers passed before this one: accesses before it have epoch <= this
    threads: int  # how many threads met there
    position: int


@dataclass(frozen=True)
class Collective:
    """A warp operation: shuffle, vote, match or syncwarp, executed by ``lanes`` together."""

    name: str  # "shfl_down_sync"
    site: int
    block: int
    warp: int  # linear in the launch
    mask: int  # as the kernel gave it
    lanes: int  # bit mask of the lanes that took part
    position: int


@dataclass(frozen=True)
class Incident:
    """Something wrong that was seen while the kernel ran.

    ``kind`` is one of: "out-of-bounds", "negative-index", "uninitialised-shared", "uninitialised-local",
    "divergent-barrier", "barrier-after-exit", "lane-not-in-mask", "inactive-lane-read",
    "unfinished-copy", "waits-for-ever", "uninitialised-variable".
    """

    kind: str
    message: str  # one sentence for a person
    site: int
    thread: int = -1
    block: int = -1
    array: int = -1
    index: tuple = ()
    other_sites: tuple = ()  # divergent barrier: where the other threads wait
    threads: tuple = ()  # threads concerned, linear in the launch, where there are several
    groups: tuple = ()  # of each of them, with whom it waits
    position: int = 0
    visit: int = 0  # how the first of them came there
    left: int = 0  # of a barrier after an exit: the line of the `return` by which one left; 0: it came to the end


@dataclass(frozen=True)
class Snapshot:
    """Shared memory of one block, right after barrier ``epoch`` (``site`` = -1: when the block ended)."""

    block: int
    epoch: int
    site: int
    position: int
    arrays: dict = field(hash=False)  # array id -> copy of its values


class TraceFull(MemoryError):
    """More accesses than ``Trace(limit=...)`` allows."""


class Trace:
    """Collects one launch. ``collect=True`` reports findings and goes on where it can; ``False`` raises at the first.

    limit: most accesses to record (about 100 bytes each while they are worked out), and ten times the most rounds of
    loops; ``TraceFull`` is raised beyond.
    """

    def __init__(self, snapshots=False, collect=True, limit=MOST_ACCESSES):
        self.with_snapshots = snapshots
        self.collect = collect
        self.limit = limit
        self.kernel, self.function = "", None  # its name, and the Python function
        self.grid = self.block_shape = (0, 0, 0)
        self.shared_bytes = 0
        self.order = "forward"
        self.sites, self.arrays = [], []
        self.fences = []  # (rows before it, thread, epoch, warp epoch, whether it is for more than the block)
        self.atomics = []  # where an order may come of them: (row, what it found, what it left, name, last operand)
        self.sets = set()  # sites of atomic exchanges that only store
        self.asked_of = []  # comparisons with what atomics returned, see executor/gates.py
        self.asked = []  # the same: (rows before it, thread, which of these, left, right, result)
        self.guards, self.atomic_nodes = {}, {}  # see executor/gates.py
        self.idle = frozenset()  # names in the kernel whose values no test reads, see source/deciding.py
        self.barriers, self.collectives, self.findings, self.snapshots = [], [], [], []
        self.recording = Recording()  # filled by the executor
        self.recorded = self.recording.pending
        # number of an array of `device_array` -> (its unwritten bytes before the launch, first address)
        self.unwritten = {}
        self.array_numbers = {}  # what makes a shared, local or constant array -> its place in `arrays`
        self.full = False
        self._visits = {}
        self._visit_rows = [(0, -1, 0)]

    def __len__(self):
        return len(self.recording)

    @property
    def threads_per_block(self):
        return int(np.prod(self.block_shape))

    @property
    def warps_per_block(self):
        return -(-self.threads_per_block // WARP)

    def visit_path(self, visit):
        """Where a visit stands: list of (site of the loop or call, iteration from 0), outermost first."""
        path = []
        while visit:
            visit, site, iteration = self._visit_rows[visit]
            path.append((site, iteration))
        return path[::-1]

    # -- used by the executor ------------------------------------------------------------------------------------

    def visit_number(self, parent, site, iteration):
        key = (parent, site, iteration)
        number = self._visits.get(key)
        if number is None:
            number = self._visits[key] = len(self._visit_rows)
            self._visit_rows.append(key)
            if iteration > ROUNDS_AFTER and self.findings:
                self._stop("the launch was stopped after what was found in it")
            if number > self.limit // VISITS or len(self.recorded) >= 2 * FULL:  # one thread goes on and on
                self._flush(number)
        return number

    def ask(self, thread, number, left, right, result):
        if self.atomics:
            self.asked.append((len(self), thread.number, number, left, right, bool(result)))
        return result

    def fence(self, thread, wide):
        self.fences.append((len(self), thread.number, thread.epoch, thread.warp_epoch, wide))

    def begin_segment(self, thread, epoch, warp_epoch, grid_epoch):
        if len(self.recorded) >= FULL:
            self._flush()
        self.recording.begin_segment(thread, epoch, warp_epoch, grid_epoch)

    def _flush(self, visits=0):
        self.recording.pack()
        if len(self) > self.limit or visits > self.limit // VISITS:
            what = f"{self.limit:,} memory accesses" if len(self) > self.limit else f"{visits - 1:,} rounds of loops"
            self._stop(
                f"the launch made more than {what}, too many to trace: use a smaller problem "
                f'(a few blocks show the same pattern), only count (xray with engine="compiled"), or raise the limit '
                f"with Trace(limit=...)"
            )

    def _stop(self, why):
        self.full = True
        raise TraceFull(f"{why}. {self.longest_loop()}")

    def longest_loop(self):
        """The loop that has gone round most: it may be one that never ends."""
        loops = [
            (turn, site) for _, site, turn in self._visit_rows[1:] if self.sites and self.sites[site].kind == "loop"
        ]
        if not loops or max(loops)[0] < 1000:
            return "Does every loop end?"
        turn, site = max(loops)
        loop = self.sites[site]
        return f"The loop on line {loop.line}, `{loop.text}`, has gone round {turn:,} times: does it end?"

    def finish(self):
        """Turn the raw recording into columns."""
        self.recording.pack() if self.full else self._flush()
        kept = self.recording
        kept.finish([a.dtype.itemsize for a in self.arrays])
        self.site, self.visit, self.array, self.offset = map(
            kept.stored, (kept.site, kept.visit, kept.array, kept.offset)
        )
        self.thread, self.epoch, self.warp_epoch, self.grid_epoch = (kept.of_segment(k) for k in (1, 2, 3, 4))
        self.size = kept.size()
        per_block, per_warp = max(1, self.threads_per_block), self.warps_per_block
        kinds = np.array([KINDS.index(s.kind) if s.kind in KINDS else -1 for s in self.sites], np.int8)
        spaces = np.array([SPACES.index(a.space) for a in self.arrays], np.int8)
        bases = np.array([a.base for a in self.arrays], np.int64)

        def column(values, dtype=np.int64):
            return Column(len(self), values, dtype)

        thread = self.thread
        self.block = column(lambda rows: thread[rows] // per_block)
        self.warp = column(lambda rows: thread[rows] // per_block * per_warp + thread[rows] % per_block // WARP)
        self.lane = column(lambda rows: thread[rows] % per_block % WARP)
        self.kind = column(lambda rows: kinds[kept.site[rows]], np.int8)
        self.space = column(lambda rows: spaces[kept.array[rows]], np.int8)
        self.address = column(lambda rows: bases[kept.array[rows]] + kept.offset[rows])
        self.element = column(self._elements)
        return self

    def written_now(self):
        """The unwritten bytes as they were before the launch, by array; the launch's stores are taken out of the
        arrays' own."""
        before, done = {}, {}
        for number, (unwritten, shift) in self.unwritten.items():
            base = unwritten.start + shift  # the address of the allocation's first byte
            if id(unwritten) not in done:
                done[id(unwritten)] = unwritten.bytes.copy()
                unwritten.bytes &= ~self.stored(base, len(unwritten.bytes))
            before[number] = done[id(unwritten)], base
        return before

    def rows_within(self, space, begin, length):
        """Accesses of a space that begin within ``length`` bytes from an address on."""
        return np.flatnonzero((self.space == space) & (self.address >= begin) & (self.address < begin + length))

    def stored(self, begin, length):
        """For each byte of global memory from an address on: did a thread store (or update) it?"""
        rows = self.rows_within(GLOBAL, begin, length)
        rows = rows[self.kind[rows] != LOAD]
        address, size, stored = self.address[rows] - begin, self.size[rows], np.zeros(length, bool)
        for width in np.unique(size).tolist():
            starts = np.unique(address[size == width])
            for k in range(width):
                stored[starts + k] = True
        return stored

    def _elements(self, rows):
        """Flat C-order element index of some rows, from the byte offset and the strides of the array."""
        arrays, offsets = np.atleast_1d(self.array[rows]), np.atleast_1d(self.offset[rows])
        element = np.zeros(len(offsets), dtype=np.int64)
        for number in np.unique(arrays).tolist():
            info, in_array = self.arrays[number], arrays == number
            element[in_array] = elements(info, offsets[in_array])
        return element if np.ndim(rows) or isinstance(rows, slice) else element[0]


def elements(info, rest):
    """Flat C-order indices of elements of an array, from bytes behind the first."""
    if _is_c_contiguous(info):
        return rest // info.dtype.itemsize
    # Undo the strides, largest first. A negative stride counts from the far end of its axis.
    flat = np.zeros_like(rest)
    scale = np.append(np.cumprod(info.shape[:0:-1], dtype=np.int64)[::-1], 1)
    for extent, stride in zip(info.shape, info.strides, strict=True):
        if stride < 0:
            rest = rest - stride * (extent - 1)
    for axis in sorted(range(len(info.shape)), key=lambda k: -abs(info.strides[k])):
        stride = info.strides[axis]
        if stride == 0 or info.shape[axis] == 1:
            continue
        index, rest = np.divmod(rest, abs(stride))
        flat += (index if stride > 0 else info.shape[axis] - 1 - index) * scale[axis]
    return flat


def _is_c_contiguous(info):
    expected = info.dtype.itemsize
    for extent, stride in zip(info.shape[::-1], info.strides[::-1], strict=True):
        if extent != 1 and stride != expected:
            return False
        expected *= extent
    return True
