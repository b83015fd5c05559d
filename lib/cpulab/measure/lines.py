"""Cache lines: which line of memory does each element of an array lie in, and who writes to it?

Memory travels between the levels of a machine in *lines* of 64 bytes (128 on Apple's processors). What a loop costs
is decided less by the elements it uses than by the lines they lie in, and these can be counted without a clock:

    lines = line_map(image)                    # any shape, dtype and strides, views too
    lines.touched(np.s_[:, 0])                 # how many lines the first column lies in
    lines.fetches(order, room=512)             # how many a cache with room for 512 lines would fetch
    line_map(sums, writers=[0, 1]).shared      # lines that two threads write to
    line_picture(lines)                        # the first lines, element by element

Lines are numbered from 0, the line that holds the array's lowest byte. Where an array begins is up to the operating
system: NumPy promises 16 bytes, not a line. `empty_aligned` makes an array that begins where it is told.
"""

import contextlib
import functools
import platform
from dataclasses import dataclass

import numpy as np

from . import machine

USUAL = 64  # bytes of a line on x86-64 and on most ARM processors
NOBODY = -1


@functools.cache
def line_bytes():
    """Bytes in one cache line of this machine, or 64 where the system does not say."""
    with contextlib.suppress(Exception):  # whatever went wrong, 64 is a good guess
        if platform.system() == "Darwin":
            return int(machine._sysctl("hw.cachelinesize"))
        return int((machine.CPU_FOLDER / "cache" / "index0" / "coherency_line_size").read_text())
    return USUAL


def empty_aligned(shape, dtype=np.float32, offset=0, line=None):
    """An uninitialised C-contiguous array that begins ``offset`` bytes behind the start of a cache line.

    ``line``: bytes in a line (default: this machine's). Raises ValueError for an offset outside the line.
    """
    line = line or line_bytes()
    if not 0 <= offset < line:
        raise ValueError(f"offset is {offset}; expected 0 to {line - 1}, a byte of a line of {line}")
    size = int(np.prod(shape, dtype=np.int64)) * np.dtype(dtype).itemsize
    memory = np.empty(size + 2 * line, np.uint8)
    start = -memory.ctypes.data % line + offset
    return memory[start : start + size].view(dtype).reshape(shape)


@dataclass(frozen=True, eq=False, repr=False)
class LineMap:
    """Where the elements of an array lie. ``places[index]``: an element's first byte, counted from line 0's."""

    places: np.ndarray
    itemsize: int
    line: int  # bytes in a line
    address: int  # of line 0
    owner: np.ndarray | None = None  # the thread that writes each element

    @property
    def first(self):
        """The line of each element's first byte."""
        return self.places // self.line

    @property
    def last(self):
        """The line of each element's last byte."""
        return (self.places + self.itemsize - 1) // self.line

    @property
    def split(self):
        """The number of elements that lie across the border of two lines."""
        return int(np.count_nonzero(self.first != self.last))

    def touched(self, index=...):
        """The number of lines in which elements lie: all, or those of an ``index`` such as NumPy takes."""
        return self._lines(index).size

    def _lines(self, index=...):
        return np.unique([line[index] for line in self._of_each_piece()])

    def _of_each_piece(self):
        """For each piece of an element that may lie in another line: the line of that piece of every element."""
        steps = sorted({*range(0, self.itemsize, self.line), self.itemsize - 1})
        return [(self.places + step) // self.line for step in steps]

    def fetches(self, order, room=1):
        """Lines that a cache fetches when elements are used in ``order``, if it keeps the ``room`` last used lines.

        ``order``: flat indices (0 is the first element, as in ``array.ravel()``), or a tuple of index arrays as
        ``np.unravel_index`` gives them. A real cache keeps about as many lines, and guesses some in advance.
        """
        if room < 1:
            raise ValueError(f"room is {room}; expected at least one line")
        flat = np.ravel_multi_index(order, self.places.shape) if isinstance(order, tuple) else np.asarray(order)
        pieces = [line.ravel()[flat].tolist() for line in self._of_each_piece()]
        kept, fetched = {}, 0  # a dict remembers the order of insertion: the first key was used longest ago
        for lines in zip(*pieces, strict=True):
            for line in lines:
                if line in kept:
                    del kept[line]
                else:
                    fetched += 1
                    if len(kept) == room:
                        del kept[next(iter(kept))]
                kept[line] = True
        return fetched

    def per_set(self, index=..., sets=64):
        """How many of the touched lines fall into each of a cache's ``sets``: an array of that length.

        A cache may keep a line only in the set that its address names, ``address // line % sets``, and a set has room
        for a few lines (its *ways*). Virtual addresses are counted; a first level of 64 sets uses the same bits.
        """
        return np.bincount((self._lines(index) + self.address // self.line) % sets, minlength=sets)

    @property
    def writers(self):
        """Line -> the threads that write to it, both in order. ValueError where no writers were named."""
        if self.owner is None:
            raise ValueError("no writers were named; line_map(array, writers=...) takes the thread of each element")
        writers = {}
        written = self.owner != NOBODY
        threads = self.owner[written].tolist()
        for lines in self._of_each_piece():
            for line, thread in zip(lines[written].tolist(), threads, strict=True):
                writers.setdefault(line, set()).add(thread)
        return {line: tuple(sorted(writers[line])) for line in sorted(writers)}

    @property
    def shared(self):
        """The lines that two or more threads write to."""
        return [line for line, threads in self.writers.items() if len(threads) > 1]

    def __repr__(self):
        text = f"{self.places.size:,} elements of {self.itemsize} B in {self.touched():,} lines of {self.line} B"
        begins = int(self.places.min(initial=self.line))
        text += f", begins at byte {begins} of a line" if self.places.size else ""
        if self.owner is not None:
            text += f"; lines written by several threads: {len(self.shared)} of {len(self.writers)}"
        return text


def line_map(array, writers=None, line=None):
    """The `LineMap` of a NumPy array, or of a view with any strides.

    ``writers``: the thread that writes each element, or -1 for nobody; anything that broadcasts to the array's shape.
    ``line``: bytes in a line (default: this machine's). Raises TypeError for what is no array, ValueError for writers
    of another shape.
    """
    if not isinstance(array, np.ndarray):
        raise TypeError(f"array is a {type(array).__name__}; expected a NumPy array")
    line = line or line_bytes()
    steps = np.zeros(array.shape, np.int64)
    for axis, stride in enumerate(array.strides):
        others = [a for a in range(array.ndim) if a != axis]
        steps += np.expand_dims(np.arange(array.shape[axis]) * stride, others)
    lowest = array.ctypes.data + int(steps.min(initial=0))  # a negative stride leads below the first element
    address = lowest // line * line
    owner = None
    if writers is not None:
        try:
            owner = np.broadcast_to(np.asarray(writers, np.int64), array.shape)
        except ValueError:
            raise ValueError(
                f"writers has the shape {np.shape(writers)}; expected one thread for each element of {array.shape}"
            ) from None
    return LineMap(array.ctypes.data + steps - address, array.itemsize, line, address, owner)
