"""The levels of memory, seen from a program: what one number becomes when the data no longer fits into a cache.

`bandwidth_ladder` and `latency_ladder` measure it over sizes and return a `Ladder`: its table has a row for each level
of the machine, its picture shows the steps.
"""

import itertools
import math
from dataclasses import dataclass

from . import machine
from .table import Table, with_unit

SMALLEST = 4 * 2**10
PER_DOUBLING = 2  # sizes measured from one power of two to the next
BEYOND = 4  # the largest size is this many times the largest cache
MOST = 2**30  # ... but no larger than this
MEMORY = "memory"


@dataclass(frozen=True, repr=False)
class Ladder:
    """``values[k]``, in ``unit``, was measured with ``sizes[k]`` bytes of data."""

    what: str
    unit: str
    sizes: tuple
    values: tuple
    caches: tuple  # (name, bytes) of each cache that one core uses, nearest first

    def level_of(self, size):
        """The name of the smallest cache that holds ``size`` bytes, or "memory"."""
        return next((name for name, room in self.caches if size <= room), MEMORY)

    @property
    def levels(self):
        """Level -> the value in the middle (in the logarithm) between the cache before and its own size.

        Not at the full size: a cache also holds what others leave there, so one level fades into the next. For memory
        it is the value at the largest size.
        """
        by_level, before = {}, SMALLEST
        for name, room in self.caches:
            by_level[name] = self.values[self._nearest(math.sqrt(before * room))]
            before = room
        if self.level_of(self.sizes[-1]) == MEMORY:
            by_level[MEMORY] = self.values[-1]
        return by_level

    def _nearest(self, size):
        return min(range(len(self.sizes)), key=lambda k: abs(math.log(self.sizes[k] / size)))

    def table(self):
        """One row for each level: its size, the value, and how it compares with the level before."""
        rows, before = [], None
        for name, value in self.levels.items():
            room = dict(self.caches).get(name)
            step = f"{max(value, before) / min(value, before):.1f}" if before else ""
            rows.append((name, size_in_words(room) if room else "", with_unit(value, self.unit), step))
            before = value
        return Table(("level", "size", self.what, "step"), rows)

    def __repr__(self):
        return str(self.table())

    def _repr_html_(self):
        return self.table()._repr_html_()

    def alt_text(self):
        """The picture in words."""
        said = [f"{with_unit(value, self.unit)} in {name}" for name, value in self.levels.items()]
        return f"{self.what} against size, in steps: {', '.join(said)}."


def ladder_picture(*ladders):
    """Draw `Ladder`s of one unit into one picture, with a line where each cache ends.

    Returns a figure with its ``alt_text``: ``figures.show(figure, figure.alt_text)``.
    """
    from matplotlib import pyplot

    from .. import figures

    if not ladders or len({ladder.unit for ladder in ladders}) != 1:
        raise ValueError("ladder_picture takes one or more ladders of one unit; draw bandwidth and latency apart")
    figure, axes = figures.subplots()
    for ladder in ladders:
        axes.plot(ladder.sizes, ladder.values, label=ladder.what, markersize=4)
    for name, room in ladders[0].caches:
        axes.axvline(room, linestyle="--", color="0.5", linewidth=1, marker="none")
        axes.annotate(name, (room, 1), (-3, -10), xycoords=("data", "axes fraction"), textcoords="offset points",
                      ha="right", fontsize="small")  # fmt: skip
    axes.set(xscale="log", yscale="log", xlabel="bytes of data")
    axes.set(ylabel=ladders[0].what if len(ladders) == 1 else "")
    axes.xaxis.set_major_locator(pyplot.FixedLocator([2**k for k in range(12, 36, 4)]))
    axes.xaxis.set_major_formatter(lambda value, _: size_in_words(value))
    axes.minorticks_off()
    axes.yaxis.set_major_formatter(lambda value, _: with_unit(value, ladders[0].unit, digits=1))
    low, high = (f(value for ladder in ladders for value in ladder.values) for f in (min, max))
    axes.set(xlim=(ladders[0].sizes[0] / 1.5, ladders[0].sizes[-1] * 1.5), ylim=(low / 2, high * 3))
    if len(ladders) > 1:
        axes.legend()
    figure.alt_text = " ".join(ladder.alt_text() for ladder in ladders)
    pyplot.close(figure)
    return figure


def size_in_words(size):
    """``49152`` -> ``48 KiB``."""
    for power, unit in ((30, "GiB"), (20, "MiB"), (10, "KiB")):
        if size >= 2**power:
            return f"{size / 2**power:g}\N{NO-BREAK SPACE}{unit}"
    return f"{size:g}\N{NO-BREAK SPACE}B"


def cache_levels():
    """((name, bytes), ...) of the caches, nearest first; empty where the system does not say (Windows)."""
    return tuple((f"L{level}", size) for level, size, _ in machine.caches())


def ladder_sizes(largest=None):
    """Sizes in bytes from 4 KiB to ``largest`` (default: four times the largest cache, at most 1 GiB), two to each
    doubling."""
    largest = largest or min(BEYOND * machine.last_level_cache(), MOST)
    if largest < SMALLEST:
        raise ValueError(f"largest is {largest} bytes; expected at least {SMALLEST}")
    steps = round(PER_DOUBLING * math.log2(largest / SMALLEST))
    return tuple(int(SMALLEST * 2 ** (k / PER_DOUBLING)) // 1024 * 1024 for k in range(steps + 1))


def check_sizes(sizes):
    """The sizes as a tuple of whole bytes; ValueError unless they rise and begin with a page at least."""
    sizes = ladder_sizes() if sizes is None else tuple(int(size) for size in sizes)
    if len(sizes) < 2 or sizes[0] < SMALLEST or any(a >= b for a, b in itertools.pairwise(sizes)):
        raise ValueError(f"sizes are {sizes}; expected two or more rising sizes from {SMALLEST} bytes on")
    return sizes
