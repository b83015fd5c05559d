"""What a variable of a kernel holds while the proof walks through it: terms of z3, and whose they are.

A level says for whom a value is the same: GRID for all threads of a launch, BLOCK for those of one block, THREAD for
none.
"""

import numbers
from dataclasses import dataclass, field

import numpy as np
import z3

GRID, BLOCK, THREAD = 0, 1, 2


class NotProvable(Exception):
    """The proof cannot follow a kernel. reason: why, for a person; site: where (a `Site`, or None)."""

    def __init__(self, reason, site=None):
        super().__init__(reason)
        self.reason, self.site = reason, site


class Written(Exception):
    """A parameter is stored to that was taken for one that is not."""

    def __init__(self, name):
        super().__init__(name)
        self.name = name


@dataclass(frozen=True, eq=False)
class Number:
    """An integer. term: a Python int, or a term of z3. natural: known to be 0 or more."""

    term: object
    level: int = GRID
    natural: bool = False

    @property
    def constant(self):
        return self.term if isinstance(self.term, int) else None


@dataclass(frozen=True, eq=False)
class Flag:
    """A condition: a Python bool, or a term of z3."""

    term: object
    level: int = GRID


@dataclass(frozen=True, eq=False)
class Unknown:
    """Anything that no index is made of, as a float is: only its level is known."""

    level: int


@dataclass(frozen=True, eq=False)
class Several:
    """A tuple."""

    items: tuple


@dataclass(frozen=True, eq=False)
class Known:
    """A Python object that is known before the kernel runs: a function, a dtype, None."""

    value: object


@dataclass(eq=False)
class Array:
    """space: "global", "shared", "local" or "constant". shape: a `Number` for each axis. written: by anybody in the
    kernel."""

    name: str
    space: str
    shape: tuple
    integer: bool = False
    boolean: bool = False
    unsigned: bool = False
    written: bool = False
    contents: object = None  # for integers that nobody writes: a function of z3
    dtype: object = None


@dataclass(frozen=True, eq=False)
class View:
    """An array, or the part of it that its first indices select."""

    array: Array
    prefix: tuple = field(default=())


YES, NO = Flag(True), Flag(False)


def both(a, b):
    if a.term is False or b.term is False:
        return NO
    if a.term is True:
        return b
    if b.term is True or a.term is b.term:
        return a
    return Flag(z3.And(a.term, b.term), max(a.level, b.level))


def either(a, b):
    if a.term is True or b.term is True:
        return YES
    if a.term is False:
        return b
    if b.term is False or a.term is b.term:
        return a
    return Flag(z3.Or(a.term, b.term), max(a.level, b.level))


def opposite(a):
    return Flag(not a.term, a.level) if isinstance(a.term, bool) else Flag(z3.Not(a.term), a.level)


def as_number(value):
    """A flag as 0 or 1."""
    if isinstance(value, Flag):
        term = int(value.term) if isinstance(value.term, bool) else z3.If(value.term, z3.IntVal(1), z3.IntVal(0))
        return Number(term, value.level, True)
    return value


def level_of(value):
    """For whom a value is the same."""
    if isinstance(value, Several):
        return max((level_of(item) for item in value.items), default=GRID)
    return getattr(value, "level", GRID)


def chosen(test, a, b, site=None):
    """``a if test else b``."""
    if a is b or test.term is True:
        return a
    if test.term is False:
        return b
    if a is None or b is None:  # not set on one of the ways: only a thread of the other may read it
        return b if a is None else a
    if isinstance(a, Flag) and isinstance(b, Flag):
        if a.term is b.term:
            return a
        return Flag(z3.If(test.term, _bool(a.term), _bool(b.term)), max(test.level, a.level, b.level))
    if isinstance(a, Number | Flag) and isinstance(b, Number | Flag):
        a, b = as_number(a), as_number(b)
        if a.term is b.term or (a.constant is not None and a.constant == b.constant):
            return a if a.natural else b
        term = z3.If(test.term, _int(a.term), _int(b.term))
        return Number(term, max(test.level, a.level, b.level), a.natural and b.natural)
    if isinstance(a, Several) and isinstance(b, Several) and len(a.items) == len(b.items):
        return Several(tuple(chosen(test, x, y, site) for x, y in zip(a.items, b.items, strict=True)))
    if isinstance(a, View) or isinstance(b, View):
        if isinstance(a, View) and isinstance(b, View) and a.array is b.array and not a.prefix and not b.prefix:
            return a
        raise NotProvable("a variable is one array or another", site)
    if isinstance(a, Known) and isinstance(b, Known) and a.value is b.value:
        return a
    return Unknown(max(test.level, level_of(a), level_of(b)))


def of_object(value):
    """A Python object as a value."""
    if isinstance(value, bool | np.bool_):
        return Flag(bool(value))
    if isinstance(value, numbers.Integral):
        return Number(int(value), GRID, value >= 0)
    if isinstance(value, numbers.Number):
        return Unknown(GRID)
    if isinstance(value, tuple):
        return Several(tuple(map(of_object, value)))
    return Known(value)


def _bool(term):
    return z3.BoolVal(term) if isinstance(term, bool) else term


def _int(term):
    return z3.IntVal(term) if isinstance(term, int) else term
