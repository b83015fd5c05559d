"""Values of a kernel on their way to OpenCL C: a text, numba's type, and what is known of the number.

A number carries the interval in which it lies, so that ``i // 16`` of a thread's index becomes a plain ``/`` and
``x[i]`` a plain access, and only what may be negative is given Python's meaning by a function.
"""

import math
from dataclasses import dataclass, replace

from numba.core import types

#: numba's types and OpenCL's. A bool is an int in C; float16 is stored as half and computed as float
NAMES = {
    types.int8: "char", types.int16: "short", types.int32: "int", types.int64: "long", types.uint8: "uchar",
    types.uint16: "ushort", types.uint32: "uint", types.uint64: "ulong", types.float32: "float",
    types.float64: "double", types.boolean: "bool", types.float16: "float",
}  # fmt: skip
STORED = NAMES | {types.boolean: "uchar", types.float16: "half"}
LARGEST = (1 << 31) - 1  # of an extent, a whole argument's usual size, and the threads along an axis

# how tightly C binds, from `=` to a name
ASSIGN, CHOICE, OR, AND, BIT_OR, BIT_XOR, BIT_AND, EQUAL, LESS, SHIFT, SUM, PRODUCT, UNARY, ATOM = range(14)


@dataclass(frozen=True)
class Value:
    """A number in an expression.

    type: numba's. made: the type that C gives the text, where it is another one: an int for a small literal.
    low, high: the interval of a whole number. uniform: whether all threads of a block have the same. constant: its
    value where it is known.
    """

    text: str
    type: types.Type
    low: int = 0
    high: int = 0
    uniform: bool = True
    binds: int = ATOM
    made: types.Type | None = None
    constant: object = None

    @property
    def is_whole(self):
        return isinstance(self.type, types.Integer | types.Boolean)

    @property
    def in_c(self):
        return self.made or self.type


@dataclass(frozen=True)
class Several:
    """A tuple: its items."""

    items: tuple

    @property
    def uniform(self):
        return all(item.uniform for item in self.items)


@dataclass(frozen=True)
class ArrayValue:
    """An array: where its first element is, and how far its axes go.

    text: a pointer, or where `fixed` a C array of that shape. dtype: of its elements. space: "__global", "__local",
    "__private", "__constant". shape: a Value for each axis. strides: in elements, a Value for each; None: contiguous.
    """

    text: str
    dtype: types.Type
    space: str
    shape: tuple
    strides: tuple | None = None
    fixed: bool = False
    readonly: bool = False
    uniform: bool = True

    @property
    def form(self):
        """What two arrays must have in common to be held by one variable."""
        return self.dtype, self.space, len(self.shape), self.strides is None


class Nothing:
    """What a call returns that returns nothing."""

    uniform = True


NOTHING = Nothing()


def bounds(kind):
    """The interval of a whole type."""
    if isinstance(kind, types.Boolean):
        return 0, 1
    return (kind.minval, kind.maxval) if isinstance(kind, types.Integer) else (0, 0)


def number(text, kind, low=None, high=None, **rest):
    """A Value; an interval that is not given, or that the type cannot hold, is the type's."""
    least, most = bounds(kind)
    if low is None or low < least or high > most:
        low, high = least, most
    return Value(text, kind, low, high, **rest)


def literal(value, kind=None):
    """A constant. Whole numbers are int64 and floats float64, unless ``kind`` says otherwise."""
    if kind is None:
        kind = types.boolean if isinstance(value, bool) else types.int64 if isinstance(value, int) else types.float64
    if isinstance(kind, types.Boolean):
        return number("true" if value else "false", kind, int(value), int(value), constant=bool(value))
    if isinstance(kind, types.Integer):
        value = int(value)
        small = kind == types.int64 and abs(value) <= LARGEST
        suffix = {types.int64: "L", types.uint32: "u", types.uint64: "UL"}.get(kind, "")
        text = str(value) if small else f"{value}{suffix}"
        if value == -(1 << 63):
            text = "LONG_MIN"
        made = types.int32 if small or kind.bitwidth < 32 else None
        return number(text, kind, value, value, made=made, constant=value, binds=UNARY if value < 0 else ATOM)
    value = float(value)
    if math.isnan(value):
        return Value("NAN", kind, constant=value, made=types.float32)
    if math.isinf(value):
        text = "INFINITY" if value > 0 else "-INFINITY"
        return Value(text, kind, constant=value, made=types.float32, binds=ATOM if value > 0 else UNARY)
    text = _shortest(value, kind) + ("" if kind == types.float64 else "f")
    return Value(text, kind, constant=value, binds=UNARY if text.startswith("-") else ATOM)


def _shortest(value, kind):
    import numpy as np

    text = repr(value) if kind == types.float64 else str(np.float32(value))
    return text if any(c in text for c in ".en") else f"{text}.0"


def in_parentheses(value, binds):
    """The text of a value as an operand of what binds as tightly as ``binds``."""
    return value.text if value.binds >= binds else f"({value.text})"


def converted(value, kind, implicit=False):
    """A value in the C type of ``kind``. implicit: where C converts by itself, as in an assignment."""
    have, want = value.in_c, kind
    same_number = replace(value, type=kind, made=None) if keeps(value, kind) else number("", kind)
    result = replace(same_number, uniform=value.uniform, constant=None)
    if value.constant is not None and not isinstance(kind, types.Boolean) and keeps(value, kind):
        if isinstance(kind, types.Float) or value.is_whole:
            made = replace(literal(value.constant, kind), uniform=value.uniform)
            if isinstance(kind, types.Float) and made.in_c != kind and not implicit:  # NAN is a float
                made = replace(made, text=f"({NAMES[kind]}){made.text}", made=None, binds=UNARY)
            return made if not implicit or not value.text.isidentifier() else replace(result, text=value.text)
    if have == want or (NAMES[have] == NAMES[want] and want != types.float16):
        return replace(result, text=value.text, binds=value.binds)
    if isinstance(want, types.Boolean):
        return replace(result, text=f"{in_parentheses(value, EQUAL + 1)} != 0", binds=EQUAL, low=0, high=1)
    if want == types.float16:
        return replace(result, text=f"rounded_to_half({value.text})", binds=ATOM)
    if isinstance(have, types.Float) and isinstance(want, types.Integer):
        return replace(result, text=f"convert_{NAMES[want]}_sat({value.text})", binds=ATOM)
    if implicit:
        return replace(result, text=value.text, binds=value.binds)
    text = in_parentheses(value, UNARY)
    if text.startswith("(int)get_") and isinstance(want, types.Integer):
        text = text[5:]  # OpenCL's own numbers are size_t
    return replace(result, text=f"({NAMES[want]}){text}", binds=UNARY)


def exactly(value, kind):
    """In the very C type. (What is only ``converted`` may be an int in C that stands for a long: a small constant.)"""
    named = value.constant is not None and value.text.isidentifier()
    found = replace(value, type=kind, made=value.in_c) if named and keeps(value, kind) else converted(value, kind)
    if found.in_c == kind:
        return found
    if kind == types.int64 and found.constant is not None and not named:
        return replace(found, text=f"{found.low}L", made=None, constant=None)
    text = f"({NAMES[kind]}){in_parentheses(found, UNARY)}"
    return replace(found, text=text, made=None, constant=None, binds=UNARY)


def joins(value, kind):
    """Whether C computes in ``kind`` what this number and one of that type are operands of."""
    have = value.in_c
    if isinstance(have, types.Boolean) or have.bitwidth < kind.bitwidth or have == kind:
        return True
    return have.bitwidth == kind.bitwidth and not kind.signed


def keeps(value, kind):
    """Whether a conversion leaves the number as it is, as far as the interval tells."""
    if isinstance(kind, types.Boolean):
        return isinstance(value.type, types.Boolean)
    if isinstance(kind, types.Integer):
        low, high = bounds(kind)
        return value.is_whole and low <= value.low and value.high <= high
    return value.constant is not None


def joined(a, b):
    """What is known of a number that is one of two; the type is the first's."""
    return replace(a, low=min(a.low, b.low), high=max(a.high, b.high), uniform=a.uniform and b.uniform, constant=None)
