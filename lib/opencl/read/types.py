"""OpenCL C's types, and values while a kernel is read: a piece of Python's syntax tree with a type of C.

All whole numbers are int64 in the Python that is written: that is what the executor is quick with. Each `Value` knows
between which bounds its Python value lies. It is brought back into its C type only where the bounds say that it may
have left it, and where that matters: sums, products and bits may be taken modulo 2**bits at the end.
"""

import ast
from dataclasses import dataclass, replace

LOW, HIGH = -(1 << 63), (1 << 63) - 1


@dataclass(frozen=True)
class Number:
    """A scalar type. bits, signed: of whole numbers; numpy: name of its dtype."""

    name: str
    numpy: str
    bits: int = 0
    signed: bool = True
    rank: int = 0

    @property
    def whole(self):
        return self.bits > 0

    @property
    def low(self):
        return -(1 << self.bits - 1) if self.signed else 0 if self.bits < 64 else LOW

    @property
    def high(self):
        return (1 << self.bits - 1) - 1 if self.signed or self.bits == 64 else (1 << self.bits) - 1

    def __str__(self):
        return self.name


@dataclass(frozen=True)
class Vector:
    of: Number
    length: int

    def __str__(self):
        return f"{self.of}{self.length}"


@dataclass(frozen=True)
class Pointer:
    of: object  # a Number or a Vector
    space: str
    const: bool = False

    def __str__(self):
        return f"{self.space} {self.of} *"


@dataclass(frozen=True)
class Array:
    of: object
    shape: tuple
    space: str

    def __str__(self):
        return f"{self.space} {self.of}" + "".join(f"[{n}]" for n in self.shape)


INT, UINT = Number("int", "int32", 32, True, 3), Number("uint", "uint32", 32, False, 4)
LONG, ULONG = Number("long", "int64", 64, True, 5), Number("ulong", "uint64", 64, False, 6)
FLOAT, DOUBLE = Number("float", "float32", rank=10), Number("double", "float64", rank=11)
NUMBERS = {
    t.name: t
    for t in (
        Number("bool", "bool", 8, False, 0), Number("char", "int8", 8, True, 1), Number("uchar", "uint8", 8, False, 1),
        Number("short", "int16", 16, True, 2), Number("ushort", "uint16", 16, False, 2),
        INT, UINT, LONG, ULONG, FLOAT, DOUBLE,
    )
}  # fmt: skip
NUMBERS |= {"size_t": ULONG, "ptrdiff_t": LONG}


@dataclass
class Value:
    """A scalar: node, type, and bounds of a whole number's Python value. truth: the node is a bool of Python."""

    node: ast.AST
    type: Number
    low: int = 0
    high: int = 0
    truth: bool = False

    @property
    def constant(self):
        """The number itself, where it is known; else None."""
        return self.low if self.type.whole and self.low == self.high and not self.truth else None


@dataclass
class Parts:
    """A vector: a `Value` for each component."""

    values: list
    type: Vector


@dataclass
class Address:
    """Where a pointer points: an array by its Python name, and the number of elements from its begin on."""

    array: str
    offset: Value
    type: Pointer
    shape: tuple = ()  # of an array that is meant as a whole
    unscaled: bool = False  # of a vector: the offset counts numbers up to its first, not vectors


def name(identifier, store=False):
    return ast.Name(identifier, ast.Store() if store else ast.Load())


def call(function, *arguments):
    return ast.Call(name(function) if isinstance(function, str) else function, list(arguments), [])


def whole(number, kind=INT):
    """The `Value` of a whole number that is known."""
    node = ast.Constant(number) if number >= 0 else ast.UnaryOp(ast.USub(), ast.Constant(-number))
    return Value(node, kind, number, number)


def variable(identifier, kind):
    return Value(name(identifier), kind, *((kind.low, kind.high) if kind.whole else (0, 0)))


def of_type(node, kind):
    """The `Value` of a node whose Python value is surely one of its type."""
    return Value(node, kind, *((kind.low, kind.high) if kind.whole else (0, 0)))


def as_number(value):
    """A truth value as 0 or 1."""
    if not value.truth:
        return value
    node = ast.IfExp(value.node, ast.Constant(1), ast.Constant(0))
    return Value(node, INT, 0, 1)


def truth(value):
    """The node of a condition: whether a value is not 0."""
    if value.truth:
        return value.node
    value = exact(value)
    zero = ast.Constant(0) if value.type.whole else ast.Constant(0.0)
    return ast.Compare(value.node, [ast.NotEq()], [zero])


def exact(value):
    """A value whose Python value is one of its type: what left it is brought back, modulo 2**bits."""
    value = as_number(value)
    kind = value.type
    if not kind.whole or (kind.low <= value.low and value.high <= kind.high):
        return value
    if kind.bits == 64:
        return replace(value, low=LOW, high=HIGH)  # int64 wraps by itself
    mask = (1 << kind.bits) - 1
    if value.constant is not None:
        number = value.constant & mask
        return whole(number - (1 << kind.bits) if number > kind.high else number, kind)
    half = 1 << kind.bits - 1
    node = value.node
    if kind.signed:
        node = ast.BinOp(node, ast.Add(), ast.Constant(half))
    node = ast.BinOp(node, ast.BitAnd(), ast.Constant(mask))
    if kind.signed:
        node = ast.BinOp(node, ast.Sub(), ast.Constant(half))
    return of_type(node, kind)


def convert(value, kind):
    """A value in another type, as a C cast has it."""
    if kind.name == "bool":
        return Value(ast.IfExp(truth(value), ast.Constant(1), ast.Constant(0)), kind, 0, 1)
    value = as_number(value)
    if value.type == kind:
        return exact(value)
    if kind.whole and value.type.whole:
        if value.type.bits < kind.bits or not value.type.bits:
            value = exact(value)
        return exact(replace(value, type=kind))
    if kind.whole:  # towards zero; beyond the type C leaves open what comes
        return of_type(call("ocl_int64", value.node), kind)
    value = exact(value)
    unsigned = value.type.bits == 64 and not value.type.signed and value.low < 0
    node = call("ocl_from_ulong", value.node) if unsigned else value.node
    return Value(call(f"ocl_{kind.numpy}", node), kind)


def common(a, b):
    """The type in which C works out an operation of two types."""
    kind = max((a, b), key=lambda t: t.rank)
    return INT if kind.rank < INT.rank else kind


def dtype_name(kind):
    return kind.of.numpy if isinstance(kind, Vector) else kind.numpy


def lanes(kind):
    """How many numbers an element has."""
    return kind.length if isinstance(kind, Vector) else 1
