"""What the generator knows while it writes: numba's types, expressions with their type and level, variables, arrays.

The *level* of an expression says who agrees on its value: 0 all threads of the block, 1 those of a warp, 2 each thread
has its own. The level of a place in the kernel says who gets there together. A barrier may stand at level 0 only, a
warp operation at level 1 at most, and the condition of a uniform branch or loop has level 0.
"""

import operator
from dataclasses import dataclass, field, replace
from functools import cache

from numba.core import types
from numba.core.registry import cpu_target

BLOCK, WARP, THREAD = 0, 1, 2
INTEGERS = (types.int32, types.int64, types.uint32)
FLOATS = (types.float32, types.float64)
STORED_BITS, HELD_BITS = (40, 50)  # what is stored is small; sums of it, kept in variables and arrays, are larger
_WIDTHS = {types.int8: 7, types.uint8: 8, types.int16: 15, types.int32: 31, types.uint32: 32}
OPERATORS = {
    "+": operator.add, "-": operator.sub, "*": operator.mul, "//": operator.floordiv, "%": operator.mod,
    "/": operator.truediv, "&": operator.and_, "|": operator.or_, "^": operator.xor, "<<": operator.lshift,
    ">>": operator.rshift,
}  # fmt: skip


@cache
def result(symbol, left, right):
    """numba's type of ``left symbol right``, asked from numba itself."""
    cpu_target.typing_context.refresh()
    return cpu_target.typing_context.resolve_function_type(OPERATORS[symbol], (left, right), {}).return_type


@dataclass(frozen=True)
class Expression:
    """Source text with its numba type and its level. ``bits``: an integer is smaller than 2**bits, whatever its sign.

    numba tells LLVM that no signed integer overflows, so a kernel in which one does has no definite result in its
    compilers.
    """

    text: str
    type: object
    level: int = BLOCK
    bits: int = HELD_BITS

    @property
    def width(self):
        return min(self.bits, _WIDTHS.get(self.type, 63))

    def cast(self, target):
        return self if self.type == target else replace(self, text=f"{target}({self.text})", type=target)

    def below(self, bits):
        """The same expression if it is small enough, else its remainder."""
        if self.width <= bits:
            return self
        return Expression(f"({self.text} % {(1 << bits) - 3})", types.int64, self.level, bits)


@dataclass
class Variable:
    """A name that the kernel assigns. ``fixed``: not to be assigned again (a loop's counter, for one)."""

    name: str
    type: object
    level: int
    fixed: bool = False
    kind: str = "number"  # or "truth", "rough", "local", "tuple"
    size: int = 0  # of a local array or a tuple


@dataclass
class Shared:
    """An array that the threads of a block share, and what they may do with it until the next barrier.

    mode: "read" (anyone, anywhere), ("own", k) (each thread its own slots, k elements rotated) or ("atomic",
    operation).
    prefix: the index of the block, for a global array of which each block has a row.
    """

    name: str
    type: object
    shape: tuple
    threads: int
    mode: object = "read"
    prefix: str = ""

    @property
    def size(self):
        return self.shape[0] if len(self.shape) == 1 else self.shape[0] * self.shape[1]

    @property
    def can_be_owned(self):
        return len(self.shape) == 2 or self.size >= self.threads

    def own_index(self, random):
        rotated = f"(t + {self.mode[1]})" if self.mode[1] else "t"
        if len(self.shape) == 2:
            columns = self.threads // self.shape[0]
            return f"t // {columns}, {rotated} % {columns}"
        slot = f"{rotated} % {self.threads}" if self.mode[1] else "t"
        if self.size >= 2 * self.threads and random.random() < 0.5:
            slot = f"{slot} + {self.threads}"
        return self.prefix + slot


@dataclass
class Loop:
    """A loop that is being written. ``modes`` are those of the shared arrays at its head."""

    level: int
    modes: dict
    may_continue: bool = True


@dataclass
class Array:
    """A global array: ``data`` as it is before the launch, ``use`` "input", "output", "rough" or an atomic
    operation."""

    name: str
    data: object = field(repr=False)
    use: str = "input"
