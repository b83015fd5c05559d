"""What a Python stand-in for an intrinsic (intrinsics.py) reads and writes arrays with."""

from ..errors import KernelError, NotOnAGpu, OutOfBounds
from ..numbers import normal
from .memory import Array, check_index, convert, poison


class StandInContext:
    """Given to a Python stand-in of an ``@intrinsic`` as its first argument: reads and writes for it.

    ``load(array, index, count)`` and ``store(array, index, values)`` touch ``count`` neighbouring elements of the last
    axis as one access, as a 16-byte load or store does: it is recorded as one access of ``count * itemsize`` bytes, and
    must be aligned to that, as on a GPU.

    ``send(array, index, values)`` is a store that arrives when the same thread calls ``arrive()``. Until then the
    elements are poisoned (nan, or -1), and count as not initialised.
    """

    def __init__(self, memory, load_site, store_site, visit=0):
        self._memory, self._sites, self._visit = memory, (load_site, store_site), visit

    def load(self, array, index, count):
        """A tuple of ``count`` values, from ``array[index]`` on."""
        keys = self._keys(array, index, count, self._sites[0])
        values = tuple(normal(array.data[key]) for key in keys)
        size = count * array.data.itemsize
        self._memory.note(array, keys[0], self._sites[0], self._visit, writes=False, size=size)
        return values

    def store(self, array, index, values):
        """Write ``values`` to ``array[index]`` and the elements after it."""
        site = self._sites[1]
        keys = self._keys(array, index, len(values), site)
        if array.readonly:
            self._memory.launch.fault(KernelError, f"array {array.name!r} is read-only", site)
        for key, value in zip(keys, values, strict=True):
            array.data[key] = convert(value, array.data.dtype)
        size = len(values) * array.data.itemsize
        self._memory.note(array, keys[0], site, self._visit, writes=True, size=size)

    def send(self, array, index, values):
        """A store that arrives later. It counts as a store where it sets out."""
        self.store(array, index, (poison(array.data.dtype),) * len(values))
        keys = self._keys(array, index, len(values), self._sites[1])
        self._memory.forget(array, keys)
        self._memory.launch.current.copies.append((array, keys, values))

    def arrive(self):
        """What the running thread has sent is there."""
        copies = self._memory.launch.current.copies
        for array, keys, values in copies:
            for key, value in zip(keys, values, strict=True):
                array.data[key] = convert(value, array.data.dtype)
                self._memory.mark(array, key)
        copies.clear()

    def _keys(self, array, index, count, site):
        fault = self._memory.launch.fault
        if type(array) is not Array:
            fault(NotOnAGpu, f"a vector access needs an array, a {type(array).__name__} came", site)
        *outer, last = map(int, index if isinstance(index, tuple) else (index,))
        keys = [(*outer, last + k) for k in range(count)]
        if len(outer) + 1 != array.data.ndim:
            fault(NotOnAGpu, f"array {array.name!r} has {array.data.ndim} axes, {len(keys[0])} indices came", site)
        for key in (keys[0], keys[-1]):  # what lies between them is inside, too
            wrong = check_index(array, key)
            if wrong:
                self._memory.launch.finding(wrong[0], wrong[1], site, array=array.number, index=key)
                fault(OutOfBounds, wrong[1], site)
        size = count * array.data.itemsize
        if array.address_of(keys[0]) % size or array.data.strides[-1] != array.data.itemsize:
            fault(
                KernelError,
                f"a vector access of {size} bytes to {array.name!r} at {keys[0]} is not aligned to {size} bytes: "
                "a GPU would stop with CUDA_ERROR_MISALIGNED_ADDRESS",
                site,
            )
        return keys
