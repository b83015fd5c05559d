"""The memory of one block: its shared arrays, and what each of its threads keeps, all on the stack of a CPU thread."""

import ast
import math

import numpy as np
from numba.core import types
from numba.core.registry import cpu_target

from ..limits import check_shared
from . import storage
from .core import assign, call, name

MOST_STACK = 4 << 20  # bytes of shared and private memory of one block


def size_of(kind):
    """Bytes of a value in memory."""
    context = cpu_target.target_context
    return context.get_abi_sizeof(context.get_data_type(kind))


class BlockMemory:
    """What a kernel's blocks need. ``unit``: the kernel being compiled; ``shared_bytes``: its dynamic shared memory."""

    def __init__(self, unit, shared_bytes):
        self.unit, self.namespace, self.threads = unit, unit.namespace, unit.threads
        self.shared_bytes = shared_bytes
        self.shared, self.private = {}, {}  # name of an array -> (shape, dtype)
        self.holders = {}  # name of the memory of a private array of all threads -> call that makes it
        self.shared_used = self.stack = 0  # bytes
        self.numbers = {}  # name of an array -> its number, where accesses are counted

    def declare(self, space, shape, dtype, wanted, node):
        """Make room for a shared or local array; returns its name."""
        identifier = wanted or self.namespace.temporary()
        if space == "local":
            self.private[identifier] = shape, dtype
            return identifier
        if 0 in shape:
            if len(shape) != 1:
                self.unit.refuse_line("a dynamic shared array of several axes", node)
        else:
            itemsize = np.dtype(str(dtype) if dtype != types.boolean else "bool").itemsize
            self.shared_used = -(-self.shared_used // 16) * 16 + math.prod(shape) * itemsize
            shown = self.unit.source.assigned_name(node) or identifier
            check_shared(self.shared_used, self.shared_bytes, shown)
        self.shared[identifier] = shape, dtype
        return identifier

    def per_thread(self, kind):
        """Name of the function that makes an array with one value of a type for each thread."""
        self._take(self.threads, kind)
        return self.namespace.once(("storage", kind), lambda: storage.per_thread(kind, self.threads))

    def private_views(self):
        """``sums = view of this thread's part``: an expression of the thread's number, so it is computed again where
        needed."""
        assignments = []
        for identifier, (shape, dtype) in self.private.items():
            size = math.prod(shape)
            self._take(size * self.threads, dtype)
            holder = f"_p_{identifier}"
            maker = self.namespace.bind(storage.per_thread(dtype, size * self.threads, poison=True))
            view = self.namespace.bind_pure(storage.private_view(shape, dtype, self.threads), f"_view_{identifier}")
            self.holders[holder] = call(maker)
            value = call(view, name(holder), name("_t"))
            if identifier in self.numbers:
                value = self.unit.counted.tagged(self.numbers[identifier], value)
            assignments.append(assign(identifier, value, self.unit.origin))
        return assignments

    def sizes(self):
        """(name, bytes) of all arrays: those that each thread has, and those of the block."""
        for identifier, (shape, dtype) in self.private.items():
            yield f"_p_{identifier}", math.prod(shape) * size_of(dtype) * self.threads
        for identifier, (shape, dtype) in self.shared.items():
            if 0 not in shape:
                yield identifier, math.prod(shape) * size_of(dtype)
        if self.shared_bytes:
            yield "_dynamic", self.shared_bytes

    def _take(self, count, kind):
        self.stack += count * max(1, getattr(kind, "bitwidth", 8) // 8)
        if self.stack > MOST_STACK:
            self.unit.refuse_line(f"a block that needs more than {MOST_STACK >> 20} MiB for its threads' variables")

    def statements(self):
        """Statements at the head of a block: its threads' private memory, and its shared arrays, poisoned."""
        statements = [assign(holder, maker, self.unit.origin) for holder, maker in self.holders.items()]
        for holder in self.holders:
            if (number := self.numbers.get(holder.removeprefix("_p_"))) is not None:
                statements.append(self.unit.counted.settle(number, holder))
        for identifier, (shape, dtype) in self.shared.items():
            if 0 in shape:
                maker = self.namespace.once(("dynamic", dtype), lambda dtype=dtype: storage.dynamic_array(dtype))
                value = call(maker, name("_dynamic"))
            else:
                key = "shared", identifier
                value = call(self.namespace.once(key, lambda s=shape, d=dtype: storage.whole_array(s, d)))
            number = self.numbers.get(identifier)
            if number is not None:
                value = self.unit.counted.tagged(number, value)
            statements.append(assign(identifier, value, self.unit.origin))
            if number is not None:
                statements.append(self.unit.counted.settle(number, identifier))
        if any(0 in shape for shape, _ in self.shared.values()):
            statements.append(ast.Expr(call("_poison_bytes", name("_dynamic"))))
        return statements
