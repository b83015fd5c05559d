"""The roofline: at most how fast can a kernel be that does so much arithmetic for each byte it moves?

Williams, Waterman, Patterson: Roofline: an insightful visual performance model for multicore architectures,
Communications of the ACM 52 (2009). A kernel of ``flops`` operations that moves ``bytes`` can reach

    min(peak FLOP/s, flops / bytes * bandwidth)

The picture shows this bound, measured on this machine, and kernels as points under it.
"""

import itertools
import math
from dataclasses import dataclass

from .peak_rates import Peaks, peaks
from .table import Table, with_unit

ROOF_LINES = ("-", "--", "-.", ":")


@dataclass(frozen=True)
class Point:
    """A kernel: its name, floating point operations, bytes moved to and from memory, and seconds."""

    name: str
    flops: float
    bytes: float
    seconds: float

    def __post_init__(self):
        for label in ("flops", "bytes", "seconds"):
            value = getattr(self, label)
            if not (value > 0 and math.isfinite(value)):
                raise ValueError(f"{label} of the point {self.name!r} is {value}; expected a positive number")

    @property
    def intensity(self):
        """FLOP per byte."""
        return self.flops / self.bytes

    @property
    def rate(self):
        """FLOP per second."""
        return self.flops / self.seconds


@dataclass(frozen=True)
class Roof:
    """Peak arithmetic and bandwidth with one number of threads (or of a GPU)."""

    label: str
    peak: float  # FLOP/s
    bandwidth: float  # byte/s

    def at(self, intensity):
        """The bound in FLOP/s for a kernel of that many FLOP per byte."""
        return min(self.peak, intensity * self.bandwidth)

    @property
    def ridge(self):
        return self.peak / self.bandwidth

    def bound(self, intensity):
        return "memory" if intensity < self.ridge else "arithmetic"


BEATEN = 1.1  # times a roof: a point above that shows that the roof is too low


def roofs(measured=None, threads=None, points=()):
    """The `Roof` for each number in ``threads``, fastest first (default: all threads).

    ``points``: kernels that are to stand under them, as for `roofline`. Where one stands more than a tenth above the
    highest, kept peaks are measured again: the machine is faster than it was then. ``measured``: `Peaks` to be taken as
    they are.
    """
    points = [_point(p) for p in points]

    def beaten(known):
        return any(p.rate > BEATEN * max(roof.at(p.intensity) for roof in _of(known, threads)) for p in points)

    return _of(measured or peaks(beaten=beaten), threads)


def _of(measured, threads):
    counts = sorted(threads or [max(measured.flops)], reverse=True)
    return [
        Roof(f"{n} thread{'s' if n > 1 else ''}", measured.peak_flops(n), measured.bandwidth(threads=n)) for n in counts
    ]


def _point(point):
    return point if isinstance(point, Point) else Point(*point)


def _points(points):
    converted = [_point(point) for point in points]
    if not converted:
        raise ValueError("no points given; expected (name, flops, bytes, seconds) or Point for each kernel")
    return converted


def _roofs(under, points):
    if under is None or isinstance(under, Peaks):
        return roofs(under, points=points)
    return [under] if isinstance(under, Roof) else list(under)


def roofline_table(points, under=None):
    """What the picture shows, in a `Table`: each kernel's bound, and the share of it that is reached."""
    points = _points(points)
    roof = _roofs(under, points)[0]
    rows = []
    for p in points:
        bound = roof.at(p.intensity)
        cells = (p.name, f"{p.intensity:.3g}", with_unit(p.rate, "FLOP/s"), with_unit(bound, "FLOP/s"))
        rows.append((*cells, f"{p.rate / bound:.0%}"))
    headings = (
        "",
        "FLOP per byte",
        "reached",
        "bound",
        "share",
    )  # five fit a phone; the picture shows which roof it is
    return Table(headings, rows, _describe(roof))


def _describe(roof):
    peak, bandwidth = with_unit(roof.peak, "FLOP/s"), with_unit(roof.bandwidth, "B/s")
    return f"Roofline, {roof.label}: {peak}, {bandwidth}, ridge at {roof.ridge:.1f} FLOP per byte"


def alt_text(points, under=None):
    """The picture in words, for the ``alt`` of the image."""
    points = _points(points)
    roof = _roofs(under, points)[0]
    parts = [
        f"{p.name}: {p.intensity:.3g} FLOP per byte, {with_unit(p.rate, 'FLOP/s')}, "
        f"{p.rate / roof.at(p.intensity):.0%} of the bound set by {roof.bound(p.intensity)}"
        for p in points
    ]
    return f"{_describe(roof)}. " + "; ".join(parts) + "."


def roofline(points, under=None):
    """Draw kernels under the measured roofs, in the book's style; returns a figure.

    Show it with ``figures.show(figure, alt=figure.alt_text)``. ``points``: `Point` or ``(name, flops, bytes,
    seconds)`` for each kernel. ``under``: `Peaks`, a `Roof` or several (default: `roofs` of this machine, all threads).
    """
    from matplotlib import pyplot

    from .. import figures

    points = _points(points)
    under = _roofs(under, points)
    figure, axes = figures.subplots()
    intensities = [p.intensity for p in points] + [roof.ridge for roof in under]
    left, right = min(intensities) / 4, max(intensities) * 8
    for roof, line in zip(under, itertools.cycle(ROOF_LINES), strict=False):
        corners = [left, roof.ridge, right]
        style = {"color": figures.INK, "linestyle": line, "marker": "none", "linewidth": 1.2}
        axes.plot(corners, [roof.at(x) for x in corners], **style)
        note = f"{roof.label}: {with_unit(roof.peak, 'FLOP/s')}, {with_unit(roof.bandwidth, 'B/s')}"
        offset_style = {"textcoords": "offset points", "ha": "right", "fontsize": "small"}
        axes.annotate(note, (right, roof.peak), (-2, 3 if roof is under[0] else -10), **offset_style)
    for p in points:
        axes.plot(p.intensity, p.rate, linestyle="none", label=p.name, zorder=3)  # marker: from the style
    lowest = min([p.rate for p in points] + [roof.at(left) for roof in under])
    highest = max(roof.peak for roof in under)
    axes.set(xscale="log", xlim=(left, right), xlabel="FLOP per byte of memory traffic")
    axes.set(yscale="log", ylim=(lowest / 2, highest * 2.5), ylabel="speed")
    axes.yaxis.set_major_formatter(lambda value, _: with_unit(value, "FLOP/s", digits=1))
    axes.xaxis.set_major_formatter(lambda value, _: f"{value:g}")
    axes.legend(loc="best")
    figure.alt_text = alt_text(points, under)
    pyplot.close(figure)  # a notebook shows the returned figure; left open it would show it twice
    return figure
