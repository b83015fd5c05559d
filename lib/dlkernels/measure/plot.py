"""The roofline: at most how fast can a kernel be that does so much arithmetic for each byte it moves?

Williams, Waterman, Patterson: Roofline: an insightful visual performance model for multicore architectures,
Communications of the ACM 52 (2009). A kernel of ``flops`` operations that moves ``bytes`` can reach

    min(peak flop/s, flops / bytes * bandwidth)

The picture shows this bound, measured on this machine, and kernels as points under it.
"""

import math
from dataclasses import dataclass

from .limits import Peaks, peaks
from .table import Table, with_unit

MARKERS = "osD^vP*X"


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
        """flop per byte."""
        return self.flops / self.bytes

    @property
    def rate(self):
        """flop per second."""
        return self.flops / self.seconds


@dataclass(frozen=True)
class Roof:
    """Peak arithmetic and bandwidth with one number of threads (or of a GPU)."""

    label: str
    peak: float  # flop/s
    bandwidth: float  # byte/s

    def at(self, intensity):
        """The bound in flop/s for a kernel of that many flop per byte."""
        return min(self.peak, intensity * self.bandwidth)

    @property
    def ridge(self):
        return self.peak / self.bandwidth

    def bound(self, intensity):
        return "memory" if intensity < self.ridge else "arithmetic"


def roofs(measured=None, threads=None):
    """The `Roof` for each number in ``threads``, fastest first (default: all threads)."""
    measured = measured or peaks()
    counts = sorted(threads or [max(measured.flops)], reverse=True)
    return [
        Roof(f"{n} thread{'s' if n > 1 else ''}", measured.peak_flops(n), measured.bandwidth(threads=n))
        for n in counts
    ]


def _points(points):
    made = [point if isinstance(point, Point) else Point(*point) for point in points]
    if not made:
        raise ValueError("no points given; expected (name, flops, bytes, seconds) or Point for each kernel")
    return made


def _roofs(given):
    if given is None or isinstance(given, Peaks):
        return roofs(given)
    return [given] if isinstance(given, Roof) else list(given)


def roofline_table(points, under=None):
    """What the picture shows, in a `Table`: each kernel's bound, and the share of it that is reached."""
    roof = _roofs(under)[0]
    rows = []
    for p in _points(points):
        bound = roof.at(p.intensity)
        cells = (p.name, f"{p.intensity:.3g}", with_unit(p.rate, "flop/s"), with_unit(bound, "flop/s"))
        rows.append((*cells, f"{p.rate / bound:.0%}", roof.bound(p.intensity)))
    headings = ("", "flop per byte", "reached", "bound", "share", "bound by")
    return Table(headings, tuple(rows), right=(1, 2, 3, 4), caption=_describe(roof))


def _describe(roof):
    peak, bandwidth = with_unit(roof.peak, "flop/s"), with_unit(roof.bandwidth, "B/s")
    return f"Roofline, {roof.label}: {peak}, {bandwidth}, ridge at {roof.ridge:.1f} flop per byte"


def alt_text(points, under=None):
    """The picture in words, for the ``alt`` of the image."""
    roof = _roofs(under)[0]
    parts = [
        f"{p.name}: {p.intensity:.3g} flop per byte, {with_unit(p.rate, 'flop/s')}, "
        f"{p.rate / roof.at(p.intensity):.0%} of the bound set by {roof.bound(p.intensity)}"
        for p in _points(points)
    ]
    return f"{_describe(roof)}. " + "; ".join(parts) + "."


def roofline(points, under=None, title=None):
    """Draw kernels under the measured roofs. Returns a matplotlib figure; ``figure.alt_text`` says it in words.

    ``points``: `Point` or ``(name, flops, bytes, seconds)`` for each kernel. ``under``: `Peaks`, a `Roof` or
    several (default: this machine with all threads). Readable in grey: points differ by marker, roofs by line.
    """
    from matplotlib import pyplot

    points, under = _points(points), _roofs(under)
    figure, axes = pyplot.subplots(figsize=(6.4, 4.0), layout="constrained")
    intensities = [p.intensity for p in points] + [roof.ridge for roof in under]
    left, right = min(intensities) / 4, max(intensities) * 8
    for roof, line in zip(under, _line_styles(), strict=False):
        corners = [left, roof.ridge, right]
        axes.plot(corners, [roof.at(x) for x in corners], color="black", linestyle=line, linewidth=1.4)
        note = f"{roof.label}: {with_unit(roof.peak, 'flop/s')}, {with_unit(roof.bandwidth, 'B/s')}"
        axes.annotate(note, (right, roof.peak), (-4, 4), textcoords="offset points", ha="right", fontsize=8)
    for k, p in enumerate(points):
        marker, hollow = MARKERS[k % len(MARKERS)], k >= len(MARKERS)
        face = "white" if hollow else f"C{k % 10}"
        style = {"marker": marker, "markerfacecolor": face, "markeredgecolor": "black", "markersize": 8}
        axes.plot(p.intensity, p.rate, linestyle="none", label=p.name, zorder=3, **style)
    axes.set(xscale="log", yscale="log", xlim=(left, right), xlabel="flop per byte of memory traffic")
    lowest = min([p.rate for p in points] + [roof.at(left) for roof in under])
    axes.set(ylim=(lowest / 2, max(roof.peak for roof in under) * 2.5), ylabel="flop/s")
    axes.yaxis.set_major_formatter(lambda value, _: with_unit(value, "flop/s", digits=1))
    axes.xaxis.set_major_formatter(lambda value, _: f"{value:g}")
    axes.grid(True, which="major", alpha=0.3)
    axes.legend(loc="lower right", fontsize=8)
    if title:
        axes.set_title(title)
    figure.alt_text = alt_text(points, under)
    pyplot.close(figure)  # a notebook shows the returned figure; left open it would show it twice
    return figure


def _line_styles():
    return ["-", "--", "-.", ":"]
