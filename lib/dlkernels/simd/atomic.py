"""Atomic operations on array elements: read, change and write back as one step that no other thread can divide.

    counter = np.zeros(1, np.int64)
    mine = fetch_add(counter, 0, 4)     # in any number of threads: nobody else gets the same four

numba has them for GPUs only. These work in ``@njit`` functions on a CPU, for int32 and int64 (`fetch_add` for float32
and float64, too), and give all threads one order of events (LLVM's ``seq_cst``). In Python code they are ordinary
statements, for one thread at a time.
Indices are not checked, and are not wrapped if negative.
"""

from numba import types
from numba.core.errors import TypingError

from .emitted import emitted
from .memory import address_of

WHOLE, FLOATS = (types.int32, types.int64), (types.float32, types.float64)


def _check(name, array, index, *values, dtypes=WHOLE):
    if not isinstance(array, types.Array) or array.dtype not in dtypes:
        raise TypingError(f"{name} expects an array of {' or '.join(map(str, dtypes))}, not {array}")
    if array.ndim != 1 or array.layout != "C" or not array.aligned or not array.mutable:
        raise TypingError(f"{name} expects a 1-D, C-contiguous array that may be written, not {array}")
    if not isinstance(index, types.Integer):
        raise TypingError(f"{name} expects an integer index, not {index}")
    kinds = (types.Integer, types.Float) if dtypes is not WHOLE else types.Integer
    if wrong := [value for value in values if not isinstance(value, kinds)]:
        raise TypingError(f"{name} expects {'numbers' if dtypes is not WHOLE else 'integers'}, not {wrong[0]}")
    return array.dtype


def _fetch_add(array, i, value):
    dtype = _check("fetch_add", array, i, value, dtypes=WHOLE + FLOATS)
    kind = "fadd" if dtype in FLOATS else "add"

    def emit(context, builder, signature, arguments):
        address = address_of(context, builder, array, arguments[0], i, arguments[1])
        change = context.cast(builder, arguments[2], value, dtype)
        return builder.atomic_rmw(kind, address, change, "seq_cst")

    return dtype(array, i, value), emit


def _compare_and_swap(array, i, expected, new):
    dtype = _check("compare_and_swap", array, i, expected, new)

    def emit(context, builder, signature, arguments):
        address = address_of(context, builder, array, arguments[0], i, arguments[1])
        old = context.cast(builder, arguments[2], expected, dtype)
        wanted = context.cast(builder, arguments[3], new, dtype)
        pair = builder.cmpxchg(address, old, wanted, "seq_cst", "seq_cst")
        return builder.extract_value(pair, 1)

    return types.boolean(array, i, expected, new), emit


def _load(array, i):
    dtype = _check("atomic_load", array, i)

    def emit(context, builder, signature, arguments):
        address = address_of(context, builder, array, arguments[0], i, arguments[1])
        return builder.load_atomic(address, "seq_cst", dtype.bitwidth // 8)

    return dtype(array, i), emit


def fetch_add(array, i, value):
    """Add ``value`` to ``array[i]`` in one step; returns what was there before. 1-D, C-contiguous.

    For float32 and float64 the sum depends on the order in which threads come. On x86 it is a loop: read, add, and try
    again where another thread has written meanwhile.
    """
    old = array[i]
    array[i] += value
    return old


def compare_and_swap(array, i, expected, new):
    """If ``array[i]`` is ``expected``, store ``new`` there, in one step; returns whether it was."""
    if array[i] != expected:
        return False
    array[i] = new
    return True


def atomic_load(array, i):
    """``array[i]`` as it is at this moment: the compiler may not use a value that it read before."""
    return array[i]


emitted(fetch_add, _fetch_add, (types.Array, types.Integer, types.Number))
emitted(compare_and_swap, _compare_and_swap, (types.Array, types.Integer, types.Integer, types.Integer))
emitted(atomic_load, _load, (types.Array, types.Integer))
