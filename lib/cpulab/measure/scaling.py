"""How does the time of a job change with the number of workers? Two laws, and measurements to hold against them.

*Strong scaling*: the job stays the same. Amdahl, Validity of the single processor approach to achieving large scale
computing capabilities, AFIPS 1967: the part that only one worker can do bounds the speed-up.

*Weak scaling*: the job grows with the workers. Gustafson, Reevaluating Amdahl's law, Communications of the ACM 31
(1988): what one worker would need for the large job, over what all of them need.

The serial share fitted to measured times holds everything that does not shrink with more workers, not only serial
code: the cost of starting threads, waiting for the slowest, a memory that all of them share (Karp and Flatt, Measuring
parallel processor performance, Communications of the ACM 33, 1990).
"""

import math
import statistics
from dataclasses import dataclass

import numba

from .peak_rates import thread_counts
from .table import Table, with_unit
from .timing import Times, times


def amdahl(serial, workers):
    """Speed-up of a job of which a share ``serial`` (0 to 1, measured with one worker) cannot be divided."""
    _check(serial, workers)
    return 1 / (serial + (1 - serial) / workers)


def gustafson(serial, workers):
    """Scaled speed-up of a job that grows with the workers; ``serial`` is the share of the *parallel run's* time."""
    _check(serial, workers)
    return serial + workers * (1 - serial)


def serial_share(seconds):
    """The serial share that fits ``{workers: seconds}`` best, by least squares.

    The time with n workers is taken as ``a + b / n``; the share is ``a / (a + b)``. At least two numbers of workers
    are needed. Below 0: faster than the workers explain (more cache, say). Above 1: slower with more workers.
    """
    if not isinstance(seconds, dict) or len(seconds) < 2:
        raise ValueError(f"seconds must be a dict workers -> seconds with two entries or more, not {seconds!r}")
    for workers, value in seconds.items():
        _check(0, workers)
        if not (value > 0 and math.isfinite(value)):
            raise ValueError(f"seconds[{workers}] is {value!r}; expected a positive number")
    slope, fixed = statistics.linear_regression([1 / n for n in seconds], list(seconds.values()))
    return fixed / (fixed + slope)


def _check(serial, workers):
    if not 0 <= serial <= 1:
        raise ValueError(f"serial is {serial!r}; expected a share from 0 to 1")
    if not workers >= 1:
        raise ValueError(f"workers is {workers!r}; expected 1 or more")


@dataclass(frozen=True)
class Share:
    """A fitted serial share: the median of the rounds with its quartiles."""

    share: float
    low: float
    high: float

    def __float__(self):
        return self.share

    def __str__(self):
        if math.isnan(self.share):
            return "unknown"
        if self.share > 10:  # the workers hindered each other, or others had the cores
            return "far above 100%"
        return f"{self.share:.1%} ({self.low:.1%} to {self.high:.1%})"

    __repr__ = __str__


class _Scaling:
    """What both measurements share: a table, as text and as HTML."""

    def _note(self):
        return " (other programs were running)" if self.times.busy else ""

    def __str__(self):
        return str(self.table())

    __repr__ = __str__

    def _repr_html_(self):
        return self.table()._repr_html_()


@dataclass(frozen=True, repr=False)
class StrongScaling(_Scaling):
    """The same job with 1, 2, ... workers. ``times`` holds every round under the name ``str(workers)``."""

    workers: tuple
    times: Times

    @property
    def seconds(self):
        """Workers -> median seconds."""
        return {n: self.times.seconds[str(n)] for n in self.workers}

    def speedup(self, workers):
        """The `Ratio` of the time with the fewest workers to the time with ``workers``."""
        return self.times.ratio(str(self.workers[0]), str(workers))

    def efficiency(self, workers):
        """Speed-up per worker: 1 is perfect."""
        return self.speedup(workers).ratio * self.workers[0] / workers

    @property
    def serial(self):
        """The serial `Share`, fitted in each round, where all times met the same conditions; nan on one core."""
        if len(self.workers) < 2:
            return Share(math.nan, math.nan, math.nan)
        columns = [self.times.samples[str(n)] for n in self.workers]
        fits = [serial_share(dict(zip(self.workers, row, strict=True))) for row in zip(*columns, strict=True)]
        low, middle, high = statistics.quantiles(fits, n=4, method="inclusive")
        return Share(middle, low, high)

    def table(self):
        rows = []
        for n in self.workers:
            r = self.speedup(n)
            cells = f"{r.ratio:.2f}", f"{r.low:.2f} to {r.high:.2f}", f"{self.efficiency(n):.0%}"
            rows.append((str(n), with_unit(r.seconds, "s"), *cells))
        headings = ("workers", "time", "speed-up", "quartiles", "efficiency")
        caption = f"Serial share that fits: {self.serial}{self._note()}"
        return Table(headings, rows, caption)


@dataclass(frozen=True, repr=False)
class WeakScaling(_Scaling):
    """A job that grows with the workers; ``times`` holds ``"size, workers"`` for (1, 1), (n, 1) and (n, n)."""

    workers: tuple
    times: Times

    def speedup(self, workers):
        """Scaled speed-up, a `Ratio`: the job of size n with one worker over the same job with n workers."""
        return self.times.ratio(_name(workers, 1), _name(workers, workers))

    def efficiency(self, workers):
        """Time of the job of size 1 with one worker over that of size n with n workers: 1 is perfect."""
        return self.times.ratio(_name(1, 1), _name(workers, workers)).ratio

    def table(self):
        rows = []
        for n in self.workers:
            r = self.speedup(n)
            cells = f"{r.ratio:.2f}", f"{r.low:.2f} to {r.high:.2f}", f"{self.efficiency(n):.0%}"
            rows.append((str(n), with_unit(r.peer_seconds, "s"), with_unit(r.seconds, "s"), *cells))
        headings = ("size = workers", "one worker", "all workers", "scaled speed-up", "quartiles", "efficiency")
        return Table(headings, rows, f"The job grows with the workers{self._note()}")


def _name(size, workers):
    return f"{size}, {workers}"


def strong_scaling(job, workers=None, use=None, **options):
    """Time ``job()`` with each number of ``workers``, in turns. Returns `StrongScaling`.

    ``workers``: default 1, 2, 4, ... and all threads of numba; where that is 1 only, there is no serial share.
    ``use(n)`` is called before each run, and sets the number (default: `numba.set_num_threads`; these threads then get
    a core each). The options are those of `times`.
    """
    workers = _counts(workers)
    run = {str(n): _with(n, job, use) for n in workers}
    return StrongScaling(workers, _restoring(run, use, options))


def weak_scaling(job, workers=None, use=None, **options):
    """Time ``job(size)``, whose divisible part grows with ``size``, for size = number of workers. `WeakScaling`.

    The arguments are those of `strong_scaling`.
    """
    workers = _counts(workers)
    pairs = dict.fromkeys([(1, 1), *((n, 1) for n in workers), *((n, n) for n in workers)])
    run = {_name(size, n): _with(n, lambda size=size: job(size), use) for size, n in pairs}
    return WeakScaling(workers, _restoring(run, use, options))


def _counts(workers):
    if workers is None:
        return tuple(thread_counts())
    counts = tuple(workers)
    if len(counts) < 2 or list(counts) != sorted(set(counts)) or counts[0] < 1:
        raise ValueError(f"workers is {counts}; expected two or more rising numbers, e.g. (1, 2)")
    return counts


def _with(workers, job, use):
    use = use or numba.set_num_threads

    def run():
        use(workers)
        job()

    return run


def _restoring(run, use, options):
    if use is None and "clock" not in options:  # numba's own threads, in real time
        options = {"pin": True} | options
    before = numba.get_num_threads()
    try:
        return times(run, **options)
    finally:
        numba.set_num_threads(before)
