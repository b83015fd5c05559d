"""The arrays that a kernel makes itself: shared, local and constant memory.

A block's shared arrays lie in one piece of memory, as on a GPU: static arrays one after the other from its start,
dynamic memory behind the largest possible static part. Fresh memory is poisoned (nan, or -1), so that a read before a
store shows.
"""

import numpy as np

from ..errors import KernelError
from ..limits import MAX_CONSTANT_MEMORY, check_shared
from ..numbers import numpy_dtype
from .addresses import describe
from .memory import Array


class OwnArrays:
    """A launch's shared, local and constant arrays. ``site``: the place in the kernel where one is made."""

    def __init__(self, launch):
        self.launch, self.trace, self.shared_bytes = launch, launch.trace, launch.shared_bytes
        self.shared_capacity = 48 * 1024 + self.shared_bytes
        self.shared_layout, self.shared_used = {}, 0
        self.local_layout, self.local_used = {}, 0
        self.constants, self.constant_used = {}, 0

    def ports(self):
        """What a lowered kernel calls."""
        return {"_shared": self.shared, "_local": self.local, "_constant_array": self.constant}

    def shared(self, thread, site, shape, dtype, name):
        block = thread.block
        array = block.arrays.get(site)
        if array is not None:
            return array
        dtype = numpy_dtype(dtype)
        if block.memory is None:
            block.memory = np.full(self.shared_capacity, 0xFF, np.uint8)  # poison: nan, or -1
            block.init = bytearray(len(block.memory)) if self.trace is not None else None
        dynamic = 0 in shape
        if dynamic and len(shape) != 1:
            self.launch.fault(
                KernelError, "a dynamic shared array has the shape 0: one axis, sized by the launch", site
            )
        if dynamic:
            shape, offset = (self.shared_bytes // dtype.itemsize,), self.shared_capacity - self.shared_bytes
        elif site not in self.shared_layout:
            offset = -(-self.shared_used // 16) * 16
            used = offset + int(np.prod(shape)) * dtype.itemsize
            check_shared(used, self.shared_bytes, name)
            self.shared_layout[site], self.shared_used = offset, used
        else:
            offset = self.shared_layout[site]
        data = np.ndarray(shape, dtype, block.memory.data, offset)
        number, init = -1, None
        if self.trace is not None:
            number = self._register("shared", name, data, offset, site)
            init = memoryview(block.init)[offset : offset + data.nbytes]
        array = block.arrays[site] = Array(data, name, "shared", number, init=init)
        return array

    def local(self, thread, site, shape, dtype, name):
        if thread.locals is None:
            thread.locals = {}
        array = thread.locals.get(site)
        if array is None:
            dtype = numpy_dtype(dtype)
            size = int(np.prod(shape)) * dtype.itemsize
            if site not in self.local_layout:
                offset = -(-self.local_used // 16) * 16
                self.local_layout[site], self.local_used = offset, offset + size
            data = np.full(size, 0xFF, np.uint8).view(dtype).reshape(shape)
            traced = self.trace is not None
            number = self._register("local", name, data, self.local_layout[site], site) if traced else -1
            init = bytearray(size) if traced else None
            array = thread.locals[site] = Array(data, name, "local", number, init=init)
        return array

    def constant(self, values, name):
        array = self.constants.get(id(values))
        if array is None:
            if self.constant_used + values.nbytes > MAX_CONSTANT_MEMORY:
                self.launch.fault(
                    KernelError, f"constant memory holds {MAX_CONSTANT_MEMORY} bytes; {name!r} does not fit", None
                )
            number = -1
            if self.trace is not None:
                number = self._register("const", name, values, self.constant_used, id(values))
            self.constant_used += -(-values.nbytes // 256) * 256
            array = self.constants[id(values)] = Array(values, name, "const", number, readonly=True)
        return array

    def _register(self, space, name, data, base, key):
        """Number of a shared, local or constant array in the trace: one for each place where it is made."""
        numbers = self.trace.array_numbers
        if (space, key) not in numbers:
            numbers[space, key] = len(self.trace.arrays)
            array = Array(data, name, space)
            self.trace.arrays.append(describe(array, base, key if space != "const" else -1))
        return numbers[space, key]
