"""What a kernel that is compiled to be counted knows besides: its expressions, and arrays with numbers."""

import ast
from dataclasses import dataclass

import numpy as np
from numba.core import types

from ..errors import Unsupported
from ..trace import SPACES
from . import counting
from .core import assign, call, name, parse
from .slots import MOST_ARRAYS


@dataclass(frozen=True)
class Own:
    """An array of the kernel's own. site: where it is made, or None."""

    space: str
    name: str
    dtype: np.dtype
    shape: tuple
    site: object
    step: int  # bytes from an element to the next one of the same thread


class Counted:
    """The numbers of one kernel. raced: races are looked for (shadow.py).

    Arrays among the arguments come first, in their order, then the kernel's own.
    """

    def __init__(self, unit, raced):
        self.unit, self.raced = unit, raced
        self.sites = {}  # Site -> number
        self.arguments = sum(map(arrays_in, unit.argument_types))
        self.own = {}  # what makes it -> (number, Own)
        self.visits = 0

    def site(self, site):
        return self.sites.setdefault(site, len(self.sites))

    def next_visit(self):
        """A number for a loop or call."""
        self.visits += 1
        return self.visits

    def array(self, key, space, shown, dtype, shape, site=None, threads=1):
        """The number of an array that the kernel makes at one place of its source."""
        if key not in self.own:
            number = self.arguments + len(self.own)
            if number >= MOST_ARRAYS:
                raise Unsupported(f"more than {MOST_ARRAYS} arrays to be counted", kernel=self.unit.name)
            dtype = np.dtype("bool" if dtype == types.boolean else str(dtype))
            self.own[key] = number, Own(space, shown, dtype, shape, site, threads * dtype.itemsize)
        return self.own[key][0]

    def info(self, arrays):
        """The words that the counter knows of each array. arrays: the trace's entries of the arguments."""
        rows = [(SPACES.index("global"), a.base, 0, 0) for a in arrays]
        return rows + [(SPACES.index(o.space), 0, o.step, o.dtype.itemsize) for _, o in self.own.values()]

    # -- statements ---------------------------------------------------------------------------------------------------

    def tagged(self, number, value):
        """``value``, an expression that makes an array, with its number."""
        return call(self.unit.namespace.bind_pure(counting.tagger(number), f"_tag{self.next_visit()}"), value)

    def settle(self, number, memory):
        """Say where an array begins."""
        return ast.copy_location(ast.Expr(call("_settle", name("_counter"), number, name(memory))), self.unit.origin)

    def frozen(self, values, shown):
        """An array from outside the kernel, which never changes."""
        number = self.array(("const", id(values)), "const", shown, values.dtype, values.shape)
        maker = self.unit.namespace.once(("frozen", id(values)), lambda: counting.frozen(np.array(values), number))
        self.unit.namespace.pure.add(maker)
        self.unit.namespace.cheap.add(maker)
        return call(maker)

    def given(self, parameters):
        """(names of the compiled function's parameters, statements that number the arrays among them)."""
        start, raw, statements = 0, [], [assign("_counter", call("_at_address", name("_counts")), self.unit.origin)]
        for parameter, kind in zip(parameters, self.unit.argument_types, strict=True):
            count = arrays_in(kind)
            raw.append(f"_raw_{parameter}" if count else parameter)
            if count:
                statements.append(assign(parameter, self.tagged(start, name(raw[-1])), self.unit.origin))
            start += count
        return raw, statements

    def region(self, body):
        """What each thread does first in a piece with these statements, and what follows when all have done it."""
        if not any(isinstance(n, ast.Name) and n.id == "_counter" for s in body for n in ast.walk(s)):
            return [], []
        return parse("_begin_thread(_counter, _t)"), parse("_flush(_counter)")


def arrays_in(kind):
    """Arrays in an argument of this type."""
    if isinstance(kind, types.BaseTuple):
        return sum(map(arrays_in, kind))
    return int(isinstance(kind, types.Array))
