"""What an operation can be called with. From its examples alone come its tests, its gradient check and its benchmark.

    @operation("add", reference.add, Examples(lambda draw, *shape: (draw.array(*shape), draw.array(*shape)), ...))

`arguments(draw, *shape)` makes the arguments of one call of that size; a `Draw` makes arrays of one dtype, layout in
memory and kind of values. The same function so serves a test of empty arrays, one of NaN in strided float64, and a
benchmark of 64 MiB.
"""

import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

LAYOUTS = ("contiguous", "strided", "reversed", "transposed", "offset")
VALUES = ("normal", "tiny", "huge", "special")


@dataclass(frozen=True)
class Draw:
    """Arrays and numbers for one call, the same for the same seed.

    dtype: a float or integer type of NumPy, or "bfloat16" (its bits as uint16). layout: see LAYOUTS; "offset" begins
    one element after the start of its memory, so that vectors of elements are not aligned; "read-only" is contiguous.
    values: "normal"; "tiny", near the smallest normal number; "huge", near the largest; "special", with NaN,
    infinities, both zeros; "few" of them among normal numbers.
    """

    dtype: str = "float32"
    layout: str = "contiguous"
    values: str = "normal"
    seed: int = 0

    def __post_init__(self):
        object.__setattr__(self, "random", np.random.default_rng(self.seed))

    def array(self, *shape, scale=None):
        """An array of that shape, laid out as `layout` says. scale: what its numbers are multiplied by."""

        def fill(shape):
            return self.fill(shape) if scale is None else self.fill(shape) * np.dtype(self.dtype).type(scale)

        return self._laid_out(shape, fill)

    def indices(self, *shape, below, dtype=np.int64):
        """Whole numbers from 0 to `below` - 1, laid out as `layout` says."""
        return self._laid_out(shape, lambda shape: np.asarray(self.random.integers(0, max(below, 1), shape), dtype))

    def uniform(self, low, high, *shape):
        """Numbers of `dtype` between the two, laid out as `layout` says."""
        return self._laid_out(shape, lambda shape: np.asarray(self.random.uniform(low, high, shape), self.dtype))

    def placed(self, x):
        """The numbers of x, laid out as `layout` says."""
        room = self._laid_out(x.shape, lambda shape: np.empty(shape, x.dtype))
        room.flags.writeable = True
        room[...] = x
        room.flags.writeable = self.layout != "read-only"
        return room

    def _laid_out(self, shape, fill):
        if not shape or self.layout in ("contiguous", "read-only"):
            x = fill(shape)
            x.flags.writeable = self.layout != "read-only"
            return x
        if self.layout == "offset":
            return fill((math.prod(shape) + 1,))[1:].reshape(shape)
        if self.layout == "strided":
            return fill((*shape[:-1], 2 * shape[-1] + 1))[..., 1::2]
        if self.layout == "reversed":
            return fill(shape)[..., ::-1]
        return fill(shape[::-1]).T

    def number(self, low, high):
        """A Python float between the two."""
        return float(self.random.uniform(low, high))

    def one_of(self, choices):
        """Each in its turn: the choice goes by the seed."""
        return choices[self.seed % len(choices)]

    def fill(self, shape):
        """A contiguous array of that shape: numbers as `dtype` and `values` say."""
        if self.dtype == "bfloat16":
            upper_half = self.random.standard_normal(shape, np.float32).reshape(-1).view(np.uint32) >> 16
            return upper_half.astype(np.uint16).reshape(shape)
        dtype = np.dtype(self.dtype)
        if dtype.kind in "iu":
            limits = np.iinfo(dtype)
            ends = np.array([limits.min, limits.max], dtype)
            if self.values != "normal":
                return np.asarray(self.random.choice(ends, shape), dtype)
            return self.random.integers(limits.min, limits.max, shape, dtype, endpoint=True)
        limits = np.finfo(dtype)
        if self.values == "special":
            choices = [np.nan, np.inf, -np.inf, 0.0, -0.0, 1.0, -1.0, float(limits.tiny), float(limits.max) / 3]
            return np.asarray(self.random.choice(choices, shape), dtype)
        x = self.random.standard_normal(shape, dtype if dtype in ("float32", "float64") else np.float64)
        x = np.asarray(x, np.float64 if self.values in ("tiny", "huge") else x.dtype)
        if self.values == "tiny":
            x = x * (float(limits.tiny) * 4)
        elif self.values == "huge":
            x = np.sign(x) * float(limits.max) * self.random.uniform(0.1, 0.45, shape)
        elif self.values == "few":
            odd = self.random.choice([np.nan, np.inf, -np.inf, 0.0, -0.0], shape)
            x = np.where(self.random.random(shape) < 0.05, odd, x)
        return np.asarray(x, dtype)


@dataclass(frozen=True)
class Examples:
    """The calls by which an operation is tested and timed.

    arguments: (draw, *shape) -> positional arguments of the public function; one may be a tuple of arrays.
    allowed: (arguments, expected, eps) -> how far each element of the result may be from the float64 `expected` (an
    array, or one for each result of a tuple); eps: the spacing of the result's numbers at 1.
    shapes: small, for every way of running a kernel: empty, one, odd, ragged, not square. large: past the sizes at
    which rungs change their way of working (blocks, threads). timed: for the benchmark.
    dtypes: of the arguments. values, layouts: which of VALUES (or "few") and LAYOUTS it has to bear.
    seeds: how many calls it takes to see each choice of `draw.one_of`. in_place: `out` may be an argument.
    terms: (arguments) -> how many numbers each element of the result is the sum of, where a rung adds them by atomics:
    it may lose the smallest normal number with each, beyond `allowed` (implementations.py, ``flushes``).
    """

    arguments: Callable
    allowed: Callable
    shapes: tuple
    large: tuple
    timed: tuple = ()
    dtypes: tuple = ("float32", "float64")
    values: tuple = VALUES
    layouts: tuple = LAYOUTS
    seeds: int = 1
    in_place: bool = False
    terms: Callable | None = None

    def make(self, shape, seed=0, **kind):
        """Arguments of one call; kind: dtype, layout, values as for `Draw`."""
        return self.arguments(Draw(seed=seed, **kind), *shape)


def roundings(count, size):
    """An `allowed` for results that are rounded `count` times on the way, from numbers as large as size(*arguments)."""

    def allowed(arguments, expected, eps):
        doubles = [np.abs(np.asarray(x, np.float64)) for x in arguments]
        return count * eps * size(*doubles)

    return allowed


def exact(arguments, expected, eps):
    """An `allowed` for integers."""
    return 0
