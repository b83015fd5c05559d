"""The words of shadow.py in memory, and what they said when the launch is over."""

from dataclasses import dataclass
from math import gcd, prod

import numpy as np

from . import shadow, slots

MOST_UNITS = 1 << 24  # of global memory: 128 MB of words for the launch, and as much for each CPU thread at most
ALIGNED = 64


@dataclass(frozen=True)
class Suspect:
    """Two accesses that race. blocks: the block, or the two. site, array: numbers of the later one; offset: bytes;
    thread: linear in the launch; other: the other thread (the same one: not known which), or -1 between blocks."""

    blocks: tuple
    site: int
    array: int
    offset: int
    thread: int
    other: int


class Shadows:
    """What a launch needs to look for races. unseen: why it cannot, or ""."""

    def __init__(self, unit, arrays, fences, blocks, shared_bytes):
        self.threads = unit.threads
        self.rows = np.zeros((slots.MOST_ARRAYS, slots.SHADOW_WORDS), np.int64)
        self.kept = []
        self.units = self._of_global(arrays)
        shared = self._of_shared(unit, shared_bytes)
        self.rows[: len(arrays), 3] = shared  # near words: those of shared memory come first
        self.near = shared + self.units
        self.unseen = self._unseen(unit, fences, blocks) if unit.counted.raced else "it was not asked for"
        if self.unseen:
            self.rows[:] = 0
            self.near = self.units = 0
        self.far = np.zeros(self.units + 1, np.int64)

    def _unseen(self, unit, fences, blocks):
        if fences:
            return "it has fences, by which flags, locks and counters may order threads"
        if self.units > MOST_UNITS:
            return f"its arrays have more than {MOST_UNITS:,} elements"
        if blocks > shadow.MOST_BLOCKS:
            return f"it has more than {shadow.MOST_BLOCKS:,} blocks"
        shared = [unit.memory.numbers.get(identifier) for identifier in unit.memory.shared]
        if len(shared) > len(set(shared)):
            return "a device function that makes a shared array is called at several places"
        return ""

    def _of_global(self, arrays):
        """Units of global memory, each as large as the smallest element."""
        some = [(k, a) for k, a in enumerate(arrays) if all(a.shape)]
        unit = gcd(*(n for _, a in some for n in (a.dtype.itemsize, a.base, *a.strides)))
        bits, end = max(0, (unit & -unit).bit_length() - 1), 0
        for k, a in some:
            self.rows[k, :3] = shadow.IN_GRID, a.base, bits
            last = sum((n - 1) * max(0, s) for n, s in zip(a.shape, a.strides, strict=True))
            end = max(end, (a.base + last + a.dtype.itemsize - 1 >> bits) + 1)
        return end

    def _of_shared(self, unit, shared_bytes):
        """Units of shared memory. All dynamic arrays lie in the same place."""
        arrays = [(number, o) for number, o in unit.counted.own.values() if o.space == "shared"]
        if not arrays:
            return 0
        bits, offset = min(o.dtype.itemsize for _, o in arrays).bit_length() - 1, -(-shared_bytes // ALIGNED) * ALIGNED
        for number, o in arrays:
            size = prod(o.shape) * o.dtype.itemsize
            self.rows[number, :3] = shadow.IN_BLOCK, offset if size else 0, bits
            offset += -(-size // ALIGNED) * ALIGNED
        return offset >> bits

    def attach(self, words):
        """Give a counter its words."""
        near = np.zeros(self.near + 1, np.int64)  # what nobody touches takes no memory
        self.kept.append(near)
        words[slots.NEAR], words[slots.FAR] = near.ctypes.data, self.far.ctypes.data
        words[slots.SHADOWS : slots.SHADOWS + self.rows.size] = self.rows.ravel()

    def found(self, buffers, grid_barriers, last_first):
        """(`Suspect` objects, of each expression and array the one in the first block; why nothing is known, or "").

        last_first: blocks ran from the last one on.
        """
        if not self.unseen and any(b[slots.FAILED] & slots.APART for b in buffers):
            self.unseen = "lanes of a warp meet in a cuda.syncwarp() that does not take in all of them"
        if not self.unseen and grid_barriers >= shadow.MOST_TURNS:
            self.unseen = f"it passes more than {shadow.MOST_TURNS - 1:,} barriers of the grid"
        if self.unseen:
            return (), self.unseen
        found = {}
        for b in buffers:
            rows = b[slots.SUSPECTS :][: slots.SUSPECT_WORDS * b[slots.SUSPECTED]].reshape(-1, slots.SUSPECT_WORDS)
            for scope, site, array, offset, block, thread, other, _ in rows.tolist():
                near = scope == shadow.IN_BLOCK
                blocks = (block,) if near else tuple(sorted((block, other)))
                first_thread = block * self.threads
                suspect = Suspect(
                    blocks, site, array, offset, first_thread + thread, first_thread + other if near else -1
                )
                key = scope, site, array
                if key not in found or (blocks < found[key].blocks) != last_first:
                    found[key] = suspect
        return tuple(found[key] for key in sorted(found)), ""
