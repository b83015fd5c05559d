"""Where arrays stand in the memory of the pretended device."""

import numpy as np

from ..trace import ArrayInfo


class AddressSpace:
    """Hands out virtual device addresses to global arrays: aligned to 256 bytes, shared memory at shared addresses."""

    def __init__(self):
        self._next = 0
        self._known = []  # (first byte, one past the last, virtual address)

    def base(self, data):
        """Virtual address of the first element of a NumPy array (or view)."""
        root = data
        while isinstance(root.base, np.ndarray):
            root = root.base
        low, high = np.lib.array_utils.byte_bounds(root)
        pointer = data.__array_interface__["data"][0]
        for known_low, known_high, virtual in self._known:
            if known_low <= low and high <= known_high:
                return virtual + pointer - known_low
        virtual = self._next
        self._known.append((low, high, virtual))
        self._next += -(-max(1, high - low) // 256) * 256
        return virtual + pointer - low


def describe(array, base, site=-1):
    """The trace's entry for an array."""
    return ArrayInfo(array.name, array.space, array.data.dtype, array.data.shape, array.data.strides, base, site)
