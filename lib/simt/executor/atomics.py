"""Read-modify-write on one element: what ``cuda.atomic`` does. One thread runs at a time, so each is atomic by
nature."""

import numpy as np

from ..errors import NotOnAGpu
from ..numbers import normal
from .memory import Array, Memory, convert

_INTEGERS = ("int32", "int64", "uint32", "uint64")
_NUMBERS = (*_INTEGERS, "float32", "float64")
_SMALLEST = np.finfo(np.float32).tiny  # of the normal numbers


def flushes(name, dtype):
    """Whether a GPU takes subnormal numbers for zeros in global memory. It has an instruction that adds float32, and
    only that one does (PTX ISA, ``atom``); numba-cuda makes the other atomics of floats with a compare-and-swap."""
    return name == "add" and str(dtype) == "float32"


def _flushed(x):
    """A float32, or a zero of its sign where it is subnormal."""
    return np.copysign(np.float32(0), x) if abs(x) < _SMALLEST else x


def _largest(old, value):
    return value if value > old or old != old else old


def _smallest(old, value):
    return value if value < old or old != old else old


#: name -> (element types that numba has it for, new value from the old value and the operands)
OPERATIONS = {
    "add": (_NUMBERS, lambda old, value: old + value),
    "sub": (_NUMBERS, lambda old, value: old - value),
    "max": (_NUMBERS, lambda old, value: value if value > old else old),  # a nan on either side changes nothing
    "min": (_NUMBERS, lambda old, value: value if value < old else old),
    "nanmax": (_NUMBERS, lambda old, value: old if value != value else _largest(old, value)),
    "nanmin": (_NUMBERS, lambda old, value: old if value != value else _smallest(old, value)),
    "and_": (_INTEGERS, lambda old, value: old & value),
    "or_": (_INTEGERS, lambda old, value: old | value),
    "xor": (_INTEGERS, lambda old, value: old ^ value),
    "exch": (_NUMBERS, lambda old, value: value),
    "inc": (("uint32", "uint64"), lambda old, value: 0 if old >= value else old + 1),
    "dec": (("uint32", "uint64"), lambda old, value: value if old == 0 or old > value else old - 1),
    "cas": (_INTEGERS, lambda old, expected, value: value if old == expected else old),
}


def atomic(memory: Memory, name, array, index, operands, site, visit=0):
    """Perform one atomic operation; returns the old value."""
    fault = memory.launch.fault
    if type(array) is not Array:
        fault(NotOnAGpu, f"cuda.atomic.{name} works on an array element, not on a {type(array).__name__}", site)
    if array.space not in ("global", "shared"):
        fault(NotOnAGpu, f"cuda.atomic.{name} works on global and shared arrays, not on {array.space} memory", site)
    if array.readonly:
        fault(NotOnAGpu, f"array {array.name!r} is read-only: the kernel may not write to it", site)
    dtype = array.data.dtype
    types, compute = OPERATIONS[name]
    if str(dtype) not in types:
        fault(NotOnAGpu, f"cuda.atomic.{name} does not exist for {dtype}; only for {', '.join(types)}", site)
    key = memory.wrapped(array, index if isinstance(index, tuple) else (index,))
    key = memory.key_of(array, key, site)
    if len(key) != array.data.ndim or not all(isinstance(k, int) for k in key):
        fault(NotOnAGpu, f"cuda.atomic.{name} needs one index for each of the {array.data.ndim} axes", site)
    if not memory.check(array, key, site, visit):
        return normal(np.zeros((), dtype)[()])
    old = normal(array.data[key])
    plain = int if dtype.kind in "iu" else type(old)
    try:
        operands = [plain(convert(value, dtype)) for value in operands]
    except (TypeError, ValueError):
        fault(NotOnAGpu, f"cuda.atomic.{name} on {dtype} cannot take {operands!r}", site)
    memory.note(array, key, site, visit, writes=False)
    flush = _flushed if array.space == "global" and flushes(name, dtype) else lambda x: x
    new = flush(convert(compute(flush(plain(old)), *map(flush, operands)), dtype))
    array.data[key] = new
    if name == "cas" and operands[0] == operands[1]:  # it leaves what it finds, whatever that is: it reads
        name, operands = "add", (0,)
    memory.note_atomic(name, old, new, operands[-1])
    if array.init is not None:
        memory.mark(array, key)
    return old
