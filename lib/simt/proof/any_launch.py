"""The launch that a proof is about: where a thread stands in it, the sizes of all arrays, the scalars. All of it
unknown."""

import numpy as np
import z3
from numba.core import types as nb

from ..limits import MAX_BLOCK, MAX_THREADS_PER_BLOCK, WARP_SIZE
from .arithmetic import Arithmetic
from .values import BLOCK, GRID, THREAD, Array, Number, Unknown, View

LETTERS = "xyz"


class AnyLaunch:
    """block: the only block that is looked at, or None for all. mentioned: the axes of block and grid that the kernel
    asks for; a launch has one thread, or one block, along the others.
    """

    def __init__(self, block=None):
        self.arithmetic = arithmetic = Arithmetic()
        self.unsigned = False  # whether something counts without signs
        self.mentioned = {"block": set(), "grid": set()}
        self.sized = set()  # names of arrays whose size the kernel asks for
        self.shared, self.arrays = {}, []
        self.fixed = block
        self.block = [Number(b, GRID, True) for b in block] if block else self._axes("blockDim", GRID)
        self.grid = self._axes("gridDim", GRID)
        self.thread, self.block_index = self._axes("threadIdx", THREAD), self._axes("blockIdx", BLOCK)
        for inside, size in (
            *zip(self.thread, self.block, strict=True),
            *zip(self.block_index, self.grid, strict=True),
        ):
            arithmetic.fact(inside.term < size.term, inside.level, inside.term)
        for size in (*self.block, *self.grid):
            if size.constant is None:
                arithmetic.fact(size.term >= 1, GRID, size.term)
        self._whole = {}
        for axis in range(3):
            block_start = arithmetic.binary("Mult", self.block_index[axis], self.block[axis])
            self._whole["grid", axis] = arithmetic.binary("Add", block_start, self.thread[axis])
            self._whole["gridsize", axis] = arithmetic.binary("Mult", self.grid[axis], self.block[axis])
        (x, y, z), (wide, high, _) = self.thread, self.block
        above = arithmetic.binary("Add", y, arithmetic.binary("Mult", z, high))
        line = arithmetic.binary("Add", x, arithmetic.binary("Mult", above, wide))
        self._lane = arithmetic.binary("Mod", line, Number(WARP_SIZE, GRID, True))

    def _axes(self, name, level):
        return [self.arithmetic.number(f"{name}.{letter}", level, True) for letter in LETTERS]

    # -- where a thread is ---------------------------------------------------------------------------------------------

    def number(self, name, axis):
        """``threadIdx.x`` and the like."""
        self.mentioned["block" if name in ("threadIdx", "blockDim") else "grid"].add(axis)
        return {"threadIdx": self.thread, "blockDim": self.block, "blockIdx": self.block_index, "gridDim": self.grid}[
            name
        ][axis]

    def whole(self, name, axis):
        """``grid(1)`` or ``gridsize(1)``, along an axis."""
        self.mentioned["block"].add(axis)
        self.mentioned["grid"].add(axis)
        return self._whole[name, axis]

    def lane(self):
        self.mentioned["block"].add(0)
        return self._lane

    def limits(self):
        """What holds of every launch: as few axes as the kernel asks for, and no more threads than a block may have."""
        found = []
        if self.fixed is None:
            sizes = [size.term for size in self.block]
            found += [size <= most for size, most in zip(sizes, MAX_BLOCK, strict=True)]
            found += [sizes[axis] == 1 for axis in range(3) if axis not in self.mentioned["block"]]
            asked = sorted(self.mentioned["block"])
            for a, b in ((a, b) for a in asked for b in asked if a < b):
                found += [z3.Implies(sizes[b] >= low, sizes[a] <= most) for low, most in _hyperbola()]
        found += [self.grid[axis].term == 1 for axis in range(3) if axis not in self.mentioned["grid"]]
        return found

    # -- arguments and arrays ------------------------------------------------------------------------------------------

    def argument(self, name, kind, written):
        """A parameter of the kernel, by its numba type: (value, (name, type, symbols) for the launch)."""
        arithmetic = self.arithmetic
        if isinstance(kind, nb.Array):
            shape = tuple(arithmetic.number(f"{name}.shape[{axis}]", GRID, True) for axis in range(kind.ndim))
            array = self._of_type(name, "global", shape, kind.dtype)
            array.written = written
            if array.integer and not written:
                sorts = [z3.IntSort()] * (kind.ndim + 1)
                array.contents = z3.Function(f"{name}[]", *sorts)
            self.arrays.append(array)
            return View(array), array
        if isinstance(kind, nb.Boolean):
            flag = arithmetic.flag(name, GRID)
            return flag, flag
        if isinstance(kind, nb.Integer):
            self.unsigned |= not kind.signed
            number = arithmetic.number(name, GRID, not kind.signed)
            return number, number
        return Unknown(GRID), None

    def array(self, name, space, shape, kind):
        sizes = tuple(Number(int(n), GRID, True) for n in shape)
        array = self._of_type(name, space, sizes, self.dtype(kind))
        array.written = space != "constant"
        return array

    def dynamic(self, name, kind):
        """Shared memory whose size the launch gives."""
        size = self.arithmetic.number(f"{name}.size", GRID, True)
        array = self._of_type(name, "shared", (size,), self.dtype(kind))
        array.written = True
        return array

    def _of_type(self, name, space, shape, kind):
        dtype = self.dtype(kind)
        self.unsigned |= dtype.kind == "u"
        return Array(name, space, shape, dtype.kind in "iu", dtype.kind == "b", dtype.kind == "u", dtype=dtype)

    @staticmethod
    def dtype(kind):
        """NumPy's type of a type given as anybody gives it."""
        if isinstance(kind, nb.Boolean):
            return np.dtype(np.bool_)
        return np.dtype(str(kind)) if isinstance(kind, nb.Type) else np.dtype(kind)


def _hyperbola():
    """(low, most): of two axes, where one is `low` or more, the other is at most `most`."""
    before, found = None, []
    for low in range(2, MAX_THREADS_PER_BLOCK + 1):
        most = MAX_THREADS_PER_BLOCK // low
        if most != before:
            found.append((low, most))
            before = most
    return found
