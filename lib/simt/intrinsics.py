"""Python stand-ins for compiler intrinsics (``numba.cuda.extending.intrinsic``), which have no Python body.

A 16-byte load, for example::

    @intrinsic
    def load4(typingctx, array, index): ...          # emits <4 x float> load, on a GPU

    def load4_in_python(context, array, index):      # the same, for the executor
        return context.load(array, index, 4)         # recorded as one access of 16 bytes

    simt.stand_in(load4, load4_in_python)

The stand-in takes the intrinsic's arguments after a ``context`` (``StandInContext``) with ``context.load(array,
index, count)`` and ``context.store(array, index, values)``.
"""

from .errors import KernelError, NotOnAGpu, OutOfBounds
from .executor.memory import Array, check_index, convert
from .numbers import normal

stand_ins = {}


def stand_in(intrinsic, python_function):
    """Let kernels that call ``intrinsic`` run ``python_function(context, *arguments)`` in the executor. Returns
    intrinsic."""
    if not callable(python_function):
        raise TypeError(f"stand_in takes a Python function, a {type(python_function).__name__} came")
    stand_ins[intrinsic] = python_function
    return intrinsic


class StandInContext:
    """Given to a Python stand-in of an ``@intrinsic`` as its first argument: reads and writes for it.

    ``load(array, index, count)`` and ``store(array, index, values)`` touch ``count`` neighbouring elements of the last
    axis as one access, as a 16-byte load or store does: it is recorded as one access of ``count * itemsize`` bytes, and
    must be aligned to that, as on a GPU.
    """

    def __init__(self, memory, load_site, store_site, visit):
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
            self._memory.state.fault(KernelError, f"array {array.name!r} is read-only", site)
        for key, value in zip(keys, values, strict=True):
            array.data[key] = convert(value, array.data.dtype)
        size = len(values) * array.data.itemsize
        self._memory.note(array, keys[0], site, self._visit, writes=True, size=size)

    def _keys(self, array, index, count, site):
        fault = self._memory.state.fault
        if type(array) is not Array:
            fault(NotOnAGpu, f"a vector access needs an array, a {type(array).__name__} came", site)
        *outer, last = (int(k) for k in (index if isinstance(index, tuple) else (index,)))
        keys = [(*outer, last + k) for k in range(count)]
        if len(keys[0]) != array.data.ndim:
            fault(NotOnAGpu, f"array {array.name!r} has {array.data.ndim} axes, {len(keys[0])} indices came", site)
        for key in keys:
            wrong = check_index(array, key)
            if wrong:
                self._memory.state.finding(wrong[0], wrong[1], site, array=array.number, index=key)
                fault(OutOfBounds, wrong[1], site)
        size = count * array.data.itemsize
        address = array.address_of(keys[0])
        if address % size or array.data.strides[-1] != array.data.itemsize:
            fault(
                KernelError,
                f"a vector access of {size} bytes to {array.name!r} at {keys[0]} is not aligned to {size} bytes: "
                "a GPU would stop with CUDA_ERROR_MISALIGNED_ADDRESS",
                site,
            )
        return keys
