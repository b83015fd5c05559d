"""Words of shared memory whose loads and stores all processes see in one order.

x86 keeps the order of plain stores, and of plain loads (Intel SDM, volume 3A, 8.2.2). Other processors, as ARM's, may
show another process the new count of a ring buffer before the bytes that it counts. There these stand in for the plain
words: a memoryview's indices, by atomic operations.
"""

import numpy as np

from dlkernels.simd.atomic import atomic_load, fetch_add
from dlkernels.simd.cache import cached_njit


@cached_njit()
def _load(words, i):
    return atomic_load(words, i)


@cached_njit()
def _store(words, i, value):
    fetch_add(words, i, value - words[i])  # each word has one writer


class Words:
    """`buffer` as 64-bit words: words[i], words[i] = value, release()."""

    def __init__(self, buffer):
        self._array = np.frombuffer(buffer, np.int64)

    def __getitem__(self, i):
        return int(_load(self._array, i))

    def __setitem__(self, i, value):
        _store(self._array, i, value)

    def release(self):
        self._array = None
