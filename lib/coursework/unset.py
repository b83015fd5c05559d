"""Memory that nobody has set is often zero by chance, or holds what was right a moment ago. While an answer is checked,
it is neither: what `np.empty` makes holds JUNK.

Compiled functions and those that run as Python fill it where they make it (`Filled`). Around a call of plain Python,
memory is littered: the blocks that NumPy keeps for small arrays, and, where the C library is glibc, those that it hands
out.
"""

import ast
import contextlib
import ctypes
import functools

import numpy as np

JUNK = 0xFE  # every byte: -5e303 as a float64, -1.7e38 as a float32, True as a bool
FILLED = "holds_junk_"
_KEPT, _SMALL = 7, 1041  # blocks that are kept of each size below so many bytes: by NumPy, the largest by glibc
_M_PERTURB = -6  # of malloc.h; memory that is handed out holds the complement of the byte


def junk(dtype):
    """A number of which every byte is JUNK."""
    dtype = np.dtype(dtype)
    return dtype.type(True) if dtype.kind == "b" else np.frombuffer(bytes([JUNK]) * dtype.itemsize, dtype)[0]


def is_junk(value):
    """Whether a number of an array is what nobody has set."""
    return isinstance(value, np.number) and bool(value == junk(value.dtype))


def filled(array):
    """The array, full of junk: as Python."""
    array[...] = junk(array.dtype)
    return array


@functools.cache
def compiled():
    """`filled` for compiled functions."""
    from numba import njit
    from numba.extending import overload
    from numba.np.numpy_support import as_dtype

    def typed(array):
        raise NotImplementedError

    @overload(typed)
    def _(array):
        value = junk(as_dtype(array.dtype))

        def fill(array):
            array.fill(value)
            return array

        return fill

    @njit
    def filled(array):
        return typed(array)

    return filled


class Filled(ast.NodeTransformer):
    """np.empty(...) and np.empty_like(...) become FILLED(...) of themselves, in a function that knows `names`."""

    def __init__(self, names):
        self.names = names

    def visit_Call(self, node):
        self.generic_visit(node)
        made = node.func
        if isinstance(made, ast.Attribute) and isinstance(made.value, ast.Name):
            what = getattr(self.names.get(made.value.id), made.attr, None)
        else:
            what = self.names.get(made.id) if isinstance(made, ast.Name) else None
        if what is not np.empty and what is not np.empty_like:
            return node
        return ast.copy_location(ast.Call(ast.Name(FILLED, ast.Load()), [node], []), node)


@contextlib.contextmanager
def littered():
    """A block in which memory that is handed out holds junk, as far as this process can be asked for it."""
    perturb = _perturb()
    _litter()
    perturb(JUNK ^ 0xFF)
    try:
        yield
    finally:
        perturb(0)


def _litter():
    """Let NumPy keep blocks of junk only: small arrays get them, the last first. (Few are of bytes, with odd sizes.)"""
    kept = [np.full(size, JUNK, np.uint8) for size in range(1, _SMALL) for _ in range(1 if size % 4 else _KEPT)]
    kept.clear()


@functools.cache
def _perturb():
    """A function that asks the C library for such memory; of others than glibc, none."""
    try:
        library = ctypes.CDLL(None)
        library.gnu_get_libc_version  # noqa: B018
        return functools.partial(library.mallopt, _M_PERTURB)
    except (OSError, TypeError, AttributeError):
        return lambda byte: None
