"""A launch out of a model of z3, and what the x-ray sees in it."""

import warnings
from dataclasses import dataclass, field

import numpy as np
import z3
from numba.core import types as nb

from ..errors import KernelError, NotOnAGpu
from ..limits import MAX_THREADS_PER_BLOCK
from ..trace import TraceFull
from ..xray.arguments import copies
from .values import Array

MOST_ELEMENTS = 1 << 20  # of one array
MOST_ACCESSES = 4_000_000
ROUNDS = 2  # launches that are made larger where an index lay outside
FITTINGS, STEP = 6, 16  # and times that arrays of the launch found are made longer, to a multiple of so many elements
#: (threads and blocks along an axis, elements along one, a scalar) at most: the first that allow a launch are taken
SIZES = ((4, 2, 8), (8, 2, 32), (32, 4, 128), (128, 8, 256), (264, 8, 512), (520, 8, 1100), (1024, 64, 4096))
EFFORT = 200_000  # of z3, for each size
SHOWN = 3  # launches that a verdict names
ROOM = {
    1: 8192,
    2: 96,
    3: 20,
    4: 10,
    5: 6,
}  # axes of an array -> elements along each, where the kernel never asks for its size
WAYS = (("model", False), ("model", True), ("ones", True))  # contents of arrays, and whether they get room
#: (blocks, threads of a line, of a plane, elements along an axis, a scalar) of launches that nobody thought about
PLAIN = ((2, (32, 1, 1), (8, 4, 1), 64, 8), (1, (64, 1, 1), (8, 8, 1), 128, 16))
RACES = ("race", "atomic-against-plain")
OUTSIDE = ("out-of-bounds", "negative-index")
BARRIERS = ("divergent-barrier", "barrier-after-exit")


@dataclass(frozen=True)
class Launch:
    """A launch that was run. arguments: in words, "x: float32[8]" or "n = 5". found: the x-ray's findings, or what
    stopped it."""

    grid: tuple
    block: tuple
    shared_bytes: int
    arguments: tuple
    values: tuple = field(repr=False, compare=False)
    found: tuple = field(default=(), compare=False)

    def __str__(self):
        more = f", {self.shared_bytes} bytes of dynamic shared memory" if self.shared_bytes else ""
        return f"[{_short(self.grid)}, {_short(self.block)}]({', '.join(self.arguments)}){more}"


def _short(size):
    while len(size) > 1 and size[-1] == 1:
        size = size[:-1]
    return str(size[0]) if len(size) == 1 else str(tuple(size))


class Launches:
    """Makes launches of a kernel and runs them. parameters: what proving.parameters says of the kernel's. example: a
    (grid, block, arguments). ran: all that was run."""

    def __init__(self, kernel, any_launch, walk, parameters, xray, example=None, conditions=()):
        self.kernel, self.any_launch, self.walk, self.parameters, self.xray = kernel, any_launch, walk, parameters, xray
        self.example, self.conditions, self.ran = example, conditions, []

    def confirm(self, query, parts, wanted):
        """(Launch, Finding) where the x-ray finds what z3 holds possible; None where it does not.

        wanted: kinds of findings. Where an index lies outside an array, the array is made larger and z3 asked again.
        """
        more, best = [], None
        for _ in range(ROUNDS):
            model = self.smallest(query, parts, more)
            made = [self.values(model, *way) for way in WAYS] if model is not None else []
            launches = [self.run(*values) for values in made]
            launches = [launch for launch in launches if launch is not None]
            for launch in launches:
                kinds = {getattr(f, "kind", "stopped") for f in launch.found}
                found = [f for f in launch.found if getattr(f, "kind", "") in wanted]
                if found and not kinds & {*OUTSIDE, "stopped"}:
                    return launch, found[0]
                if found and best is None:
                    best = launch, found[0]
            grown = [condition for condition in map(self.larger, launches) if condition is not None]
            if not grown:
                break
            more += grown[:1]
        return best and self.fitting(*best, wanted)

    def fitting(self, launch, finding, wanted):
        """The same launch with arrays that are long enough for its indices, where it fails there, too."""
        names, tried = [name for name, *_ in self.parameters], launch
        for _ in range(0 if self.conditions else FITTINGS):
            grown = {}
            for found in tried.found:
                if getattr(found, "kind", "") == "out-of-bounds" and found.array in names:
                    size = grown.get(found.array, tried.values[names.index(found.array)].shape)
                    if len(found.index) == len(size):
                        grown[found.array] = tuple(
                            n if i < n else -(-(i + 1) // STEP) * STEP for n, i in zip(size, found.index, strict=True)
                        )
            if not grown:
                break
            values = [
                np.ones(grown[n], v.dtype) if n in grown else v.copy() if isinstance(v, np.ndarray) else v
                for n, v in zip(names, tried.values, strict=True)
            ]
            tried = self.run(tried.grid, tried.block, values, tried.shared_bytes)
            if tried is None:
                break
            kinds = {getattr(f, "kind", "stopped") for f in tried.found}
            still = [f for f in tried.found if getattr(f, "kind", "") in wanted]
            if still and not kinds & {*OUTSIDE, "stopped"}:
                return tried, still[0]
        return launch, finding

    def smallest(self, query, parts, more):
        """A model with few threads and short arrays."""
        sizes = [size.term for size in self.any_launch.block if size.constant is None]
        shapes = [n.term for array in self.any_launch.arrays for n in array.shape]
        shapes += [n.term for n in self.walk.dynamic[1].shape] if self.walk.dynamic else []
        scalars = [v.term for _, kind, _, v in self.parameters if isinstance(kind, nb.Integer)]
        for threads, blocks, length in SIZES:
            bounds = [size <= threads for size in sizes] + [g.term <= blocks for g in self.any_launch.grid]
            bounds += [n <= length for n in shapes] + [z3.And(n <= length, n >= -length) for n in scalars]
            for exact in (query.exactly(), []):
                model = query.ask(parts, [*more, *bounds, *exact], EFFORT)
                if model is not None and not isinstance(model, str):
                    return model
                if model is None and not exact:
                    break
        return None

    def values(self, model, contents, roomy):
        """(grid, block, arguments, dynamic shared bytes) of a model."""

        def number(value):
            return value.constant if value.constant is not None else model.eval(value.term, True).as_long()

        grid, block = (tuple(number(n) for n in sizes) for sizes in (self.any_launch.grid, self.any_launch.block))
        arguments = []
        for _, kind, _, value in self.parameters:
            if isinstance(value, Array):
                least = ROOM.get(len(value.shape), 0) if roomy and value.name not in self.any_launch.sized else 0
                arguments.append(_array(value, tuple(max(least, number(n)) for n in value.shape), model, contents))
            elif value is None:
                arguments.append(np.dtype(str(kind)).type(1))
            elif isinstance(kind, nb.Boolean):
                arguments.append(z3.is_true(model.eval(value.term, True)))
            else:
                arguments.append(np.dtype(str(kind)).type(number(value)))
        dynamic = self.walk.dynamic[1] if self.walk.dynamic else None
        return grid, block, arguments, number(dynamic.shape[0]) * dynamic.dtype.itemsize if dynamic else 0

    def run(self, grid, block, arguments, shared_bytes=0):
        """The `Launch`, run; None where it is too large."""
        arrays = [a for a in arguments if isinstance(a, np.ndarray)]
        if np.prod(block) > MAX_THREADS_PER_BLOCK or any(a.size > MOST_ELEMENTS for a in arrays):
            return None
        named = zip(self.parameters, arguments, strict=True)
        words = tuple(
            f"{n}: {a.dtype}[{', '.join(map(str, a.shape))}]" if isinstance(a, np.ndarray) else f"{n} = {a}"
            for (n, *_), a in named
        )
        try:
            with warnings.catch_warnings(), np.errstate(all="ignore"):
                warnings.simplefilter("ignore")
                report = self.xray(self.kernel, grid, block, shared_bytes, most_accesses=MOST_ACCESSES)(*arguments)
            found = tuple(report.findings)
        except NotOnAGpu:
            raise
        except (KernelError, TraceFull, ArithmeticError, ValueError, RuntimeError) as error:
            found = (error,)
        launch = Launch(grid, block, shared_bytes, words, tuple(arguments), found)
        self.ran.append(launch)
        return launch

    def others(self):
        """Run the example, and some launches that nobody thought about, along the axes that the kernel asks for."""
        if self.example:
            grid, block, arguments = self.example
            self.run(grid, block, copies(arguments))
        if self.conditions:
            return  # they might break them
        axes = self.any_launch.mentioned
        for blocks, of_line, of_plane, length, scalar in PLAIN:
            threads = of_plane if 1 in axes["block"] else of_line
            grid = tuple(blocks if axis in axes["grid"] else 1 for axis in range(3))
            arguments = []
            for _, kind, _, value in self.parameters:
                if isinstance(value, Array):
                    shape = (length,) * len(value.shape) if len(value.shape) < 3 else (4,) * len(value.shape)
                    arguments.append(_array(value, shape, None, "counted"))
                else:
                    arguments.append(np.dtype(str(kind)).type(scalar))
            dynamic = self.walk.dynamic[1] if self.walk.dynamic else None
            self.run(
                grid, self.any_launch.fixed or threads, arguments, length * dynamic.dtype.itemsize if dynamic else 0
            )

    def clean(self):
        """Of what was run: some launches, each once, that went through without a fault."""
        return tuple({str(launch): launch for launch in self.ran if not launch.found}.values())[-SHOWN:]

    def larger(self, launch):
        """A condition that an array is longer than in a launch, where an index lay outside it; None where none did."""
        for finding in launch.found:
            if getattr(finding, "kind", "") not in OUTSIDE:
                continue
            arrays = {a.name: a for a in self.any_launch.arrays}
            if self.walk.dynamic:
                arrays[self.walk.dynamic[1].name] = self.walk.dynamic[1]
            array, index = arrays.get(finding.array), finding.index
            if array is not None and len(index) == len(array.shape) and min(index) >= 0:
                return z3.And([n.term > int(i) for n, i in zip(array.shape, index, strict=True) if n.constant is None])
            threads = np.prod(launch.block)
            return (
                z3.Sum([size.term for size in self.any_launch.block if size.constant is None] or [z3.IntVal(0)])
                < sum(b for b, size in zip(launch.block, self.any_launch.block, strict=True) if size.constant is None)
                if threads > 1 and self.any_launch.fixed is None
                else None
            )
        return None


def _array(array, shape, model, contents):
    if np.prod(shape, dtype=object) > MOST_ELEMENTS:
        return np.zeros(MOST_ELEMENTS + 1, array.dtype)
    if contents == "model" and array.contents is not None:
        made = np.zeros(shape, array.dtype)
        for index in np.ndindex(*shape):
            value = model.eval(array.contents(*map(int, index)), True).as_long()
            made[index] = np.clip(value, -(2**31), 2**31 - 1) if abs(value) >= 2**31 else value
        return made
    if array.written and array.integer:
        return np.zeros(shape, array.dtype)  # counters and flags: they begin at zero
    if contents == "ones" or array.boolean:
        return np.ones(shape, array.dtype)
    return (np.arange(np.prod(shape)) % 13).reshape(shape).astype(array.dtype)
