"""What a result may be, in a student's notebook as in grading: plain data. As such it crosses the wall of the sandbox.

Numbers, text, None, lists and dicts of them, arrays of numbers. What is nearly that becomes it: numbers of NumPy are
Python's, tuples are lists. The rest is refused on both sides of the wall, with what to write in its place.
"""

import json
import numbers
from typing import NamedTuple

import numpy as np

MOST_BITS = 1000  # of a whole number: so that float() takes it


class Limits(NamedTuple):
    depth: int  # lists in lists
    characters: int  # of all but the arrays, as JSON
    arrays: int
    array_bytes: int  # of all arrays together


RESULT = Limits(15, 900_000, 9_000, 48 << 20)


class NotPlain(TypeError):
    """The value is not plain data; the message says what to write instead."""


def plain(value, limits=RESULT, keep=lambda array: array):
    """`value` with exact plain types; NotPlain for anything else, or for too much of it. `keep`: what becomes of an
    array."""
    characters, arrays, array_bytes = 0, 0, 0

    def count(written):
        nonlocal characters
        characters += written + 2
        if characters > limits.characters:
            raise NotPlain(f"it is longer than {limits.characters:,} characters")

    def leaf(x):
        count(len(json.dumps(x)))
        return x

    def array(x):
        nonlocal arrays, array_bytes
        arrays, array_bytes = arrays + 1, array_bytes + x.nbytes
        count(32)
        if arrays > limits.arrays:
            raise NotPlain(f"it has more than {limits.arrays} arrays")
        if array_bytes > limits.array_bytes:
            raise NotPlain(f"its arrays have more than {limits.array_bytes >> 20} MiB")
        return keep(x)

    def walk(x, path):
        if len(path) > limits.depth:
            raise NotPlain("it is nested too deeply")
        if type(x) is np.ndarray and x.ndim == 0:
            x = x[()]
        if isinstance(x, np.generic) and x.dtype.kind in _NUMPY:
            x = _NUMPY[x.dtype.kind](x)
        if x is None or x is ...:  # an answer that is still open
            return leaf(None)
        if type(x) is int and x.bit_length() > MOST_BITS:
            raise NotPlain(_at(path) + f"a whole number of {x.bit_length():,} bits")
        if type(x) in (bool, int, float, str):
            return leaf(x)
        if type(x) is np.ndarray and x.dtype.kind == "U":
            x = x.tolist()
        if type(x) is np.ndarray and x.dtype.kind in "biufc":
            return array(x)
        if type(x) in (list, tuple):
            count(0)
            return [walk(y, (*path, i)) for i, y in enumerate(x)]
        if type(x) is dict:
            count(0)
            return {leaf(_key(k, path)): walk(y, (*path, k)) for k, y in x.items()}
        raise NotPlain(_at(path) + _instead(x))

    return walk(value, ())


_NUMPY = {"b": bool, "i": int, "u": int, "f": float, "U": str}  # kinds of NumPy's numbers and text


def reals(value):
    """`value` as a float64 array; None where it holds anything but real numbers: text, complex numbers, lists of
    different lengths. It may hold NaN: a comparison that shall refuse it asks whether a number is near, not whether it
    is far off."""
    try:
        found = np.asarray(value)
    except ValueError:
        return None
    return found.astype(np.float64) if found.dtype.kind in "biuf" else None


def _key(key, path):
    """The key of a dict as text, as JSON has it."""
    if isinstance(key, np.generic) and key.dtype.kind in "iuU":
        key = key.item()
    if (type(key) is int and key.bit_length() <= MOST_BITS) or type(key) is str:
        return str(key)
    raise NotPlain(f"{_at(path)}a dict with {_a(key)} for a key; text and whole numbers can be keys")


def _at(path):
    """Where in a result something stands, in words."""
    return f"at {''.join(f'[{part!r}]' for part in path)[:60]}: " if path else ""


def _a(value):
    name = type(value).__name__
    return f"{'an' if name[0] in 'aeiouAEIOU' else 'a'} {name}"


def _instead(value):
    """A value that is not plain, and what to write for it. Nothing of it is called: its class may be anybody's."""
    kind = type(value)
    if kind is np.ndarray:
        return f"an array of {value.dtype}; write `.tolist()` behind it, and it is a list"
    if issubclass(kind, complex | np.complexfloating):
        return f"{_a(value)}; put complex numbers into an array"
    if issubclass(kind, set | frozenset):
        return f"{_a(value)}, which has no order; write `sorted(...)` around it, and it is a list"
    made = next((made for of, made in _AROUND if issubclass(kind, of)), None)
    if made is None and hasattr(kind, "__iter__"):
        made = "list", "a list"
    if made:
        return f"{_a(value)}; write `{made[0]}(...)` around it, and it is {made[1]}"
    if callable(value):
        return f"{_a(value)}; write brackets behind it to call it"
    return f"{_a(value)}; use numbers, text, lists, dicts or arrays of numbers"


_AROUND = (
    (np.ndarray, ("np.asarray", "an array")),
    (str, ("str", "text")),
    (dict, ("dict", "a dict")),
    (numbers.Integral, ("int", "a number")),
    (numbers.Number, ("float", "a number")),
)
