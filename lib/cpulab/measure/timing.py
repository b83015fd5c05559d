"""Compare functions by time on a machine that is never quiet.

A time alone says little: the clock of a processor drifts, other programs run, and the worker threads of the
last library still spin when the next one starts (OpenBLAS: 30 ms). So candidates are interleaved: every
round times each of them once, in changing order, and a *ratio* is formed inside the round, where both sides
met the same conditions. The result is the median of these ratios with its quartiles.

Before each sample we wait until no thread of this process computes, then call the function once untimed, so
that its own workers are awake and its data is where it would be in a loop (not where one call takes so long that this
counts for nothing). Rounds in which other programs used the processor are thrown away when enough others remain.
"""

import contextlib
import gc
import math
import statistics
import sys
import time
from dataclasses import dataclass, field

import psutil

from .cores import one_core_each, others_run, settle
from .table import Table, with_unit
from .turns import HURRY, alone

LEAST_ROUNDS = 3
LEAST_CALLS = 7  # of `fastest`
SAMPLE_SECONDS = 0.002 if HURRY else 0.02  # one sample calls the function so often that it lasts about this long
LONG = 0.1  # seconds of a call beside which its first microseconds count for nothing
SPREAD_WANTED = 0.01  # stop early when the quartiles pin the median down to this
FOREIGN_CORES = 0.15  # a round in which others used more of a core than this is not quiet
TICK = 0.01  # the system counts processor time in steps of this many seconds


class Clock:
    """What timing asks of the machine. Tests replace it by one they control."""

    def __init__(self):
        self.own_is_fine = time.get_clock_info("process_time").resolution < 1e-3  # not on Windows

    def now(self):
        """Seconds, from any origin."""
        return time.perf_counter()

    def sleep(self, seconds):
        time.sleep(seconds)

    def own(self):
        """Processor seconds used by all threads of this process."""
        return time.process_time()

    def others_work(self):
        """Whether other threads of this process compute."""
        running = others_run()
        if running is not None:
            return running
        start, own_before = self.now(), self.own()
        self.sleep(0.012)  # a running thread's time is counted at the system's ticks, 4 to 10 ms apart
        return self.own() - own_before > 0.25 * (self.now() - start)

    def everyone(self):
        """Processor seconds used by all programs, or taken by another virtual machine."""
        spent = psutil.cpu_times()
        return sum(getattr(spent, kind, 0.0) for kind in ("user", "nice", "system", "irq", "softirq", "steal"))


class ThreadClock(Clock):
    """Counts the processor time of the calling thread: for `fastest` of functions that use one thread, beside other
    programs."""

    def now(self):
        return time.thread_time() if self.own_is_fine else super().now()


@dataclass(frozen=True)
class Ratio:
    """``ratio`` is peer time / our time: above 1, ours is faster. ``low`` and ``high`` are its quartiles."""

    ratio: float
    low: float
    high: float
    seconds: float  # ours, median of one call
    peer_seconds: float
    rounds: int
    discarded: int
    busy: bool  # other programs ran all the time: take the spread seriously

    def __float__(self):
        return self.ratio

    def __str__(self):
        note = ", machine busy" if self.busy else ""
        times = f"{with_unit(self.seconds, 's')} against {with_unit(self.peer_seconds, 's')}"
        low, ratio, high = (_times(x) for x in (self.low, self.ratio, self.high))
        return f"{ratio}x ({low} to {high}; {times}; {self.rounds} rounds{note})"

    __repr__ = __str__

    def to_dict(self):
        return dict(vars(self))


@dataclass(frozen=True)
class Times:
    """Times of several candidates, round by round. ``samples[name][r]`` is seconds per call in round r."""

    samples: dict = field(repr=False)
    discarded: int = 0
    busy: bool = False

    @property
    def seconds(self):
        """Name -> median seconds of one call."""
        return {name: statistics.median(values) for name, values in self.samples.items()}

    @property
    def best(self):
        """Name -> least seconds of one call. Other programs only ever add time, so this leaves most of theirs out."""
        return {name: min(values) for name, values in self.samples.items()}

    def ratio(self, peer, ours):
        """The `Ratio` of two candidates by name."""
        for name in (peer, ours):
            if name not in self.samples:
                raise ValueError(f"no candidate is called {name!r}; there are {', '.join(self.samples)}")
        pairs = list(zip(self.samples[peer], self.samples[ours], strict=True))
        low, middle, high = _quartiles([theirs / our for theirs, our in pairs])
        seconds = self.seconds
        return Ratio(middle, low, high, seconds[ours], seconds[peer], len(pairs), self.discarded, self.busy)

    def table(self, peer=None):
        """Seconds and ratio to ``peer`` (by default the first candidate) with quartiles."""
        peer = peer or next(iter(self.samples))
        rows = []
        for name in self.samples:
            r = self.ratio(peer, name)
            low, ratio, high = (_times(x) for x in (r.low, r.ratio, r.high))
            rows.append((name, with_unit(r.seconds, "s"), ratio, f"{low} to {high}"))
        return Table(("", "time", f"{peer} / this", "quartiles"), rows)

    def __str__(self):
        return str(self.table())

    __repr__ = __str__

    def _repr_html_(self):
        return self.table()._repr_html_()

    def to_dict(self):
        peer = next(iter(self.samples))
        return {name: self.ratio(peer, name).to_dict() for name in self.samples}


def ratio(peer, ours, **options):
    """How much faster is ``ours()`` than ``peer()``? A `Ratio`; the options are those of `times`.

    >>> ratio(lambda: np.add(a, b, out=out), lambda: dlkernels.add(a, b, out=out))  # doctest: +SKIP
    1.80x (1.74 to 1.85; 24.8 ms against 44.5 ms; 12 rounds)
    """
    return times({"peer": peer, "ours": ours}, **options).ratio("peer", "ours")


def times(candidates, budget=2.0, rounds=50, threads=None, pin=False, clock=None):
    """Time several functions against each other, interleaved.

    ``candidates``: name -> function without arguments. Each is called once untimed first, so compilation is
    not counted. ``budget``: seconds after which no new round begins, though at least three rounds are run;
    fewer than ``rounds`` are made when the spread is small. ``threads``: see `limit_threads`. ``pin``: whether
    the threads of the candidates' pools get a core each, see `one_core_each`. Returns `Times`.
    """
    if not isinstance(candidates, dict) or not candidates or not all(map(callable, candidates.values())):
        raise TypeError(f"candidates must be a dict of name -> function without arguments, not {candidates!r}")
    if not budget > 0 or rounds < LEAST_ROUNDS:
        raise ValueError(f"budget must be positive and rounds at least {LEAST_ROUNDS}, not {budget} and {rounds}")
    clock = clock or Clock()
    if HURRY:
        budget, rounds = 1e-9, LEAST_ROUNDS
    collecting = gc.isenabled()
    with limit_threads(threads) if threads else contextlib.nullcontext():
        for function in candidates.values():
            function()  # compiles, and does not count
        with alone():
            calls = {name: _calls(function, clock) for name, function in candidates.items()}
            gc.disable()  # as timeit does: a collection would hit one candidate at random
            pinned = one_core_each(candidates.values(), clock) if pin else contextlib.nullcontext()
            try:
                with pinned:
                    measured = _run_rounds(candidates, calls, budget, rounds, clock)
            finally:
                if collecting:
                    gc.enable()
    return _keep_quiet(list(candidates), measured)


def _calls(function, clock):
    """(untimed calls before a sample, calls that fill it), of a function that was called before."""
    calls = 1
    while True:
        start = clock.now()
        for _ in range(calls):
            function()
        elapsed = clock.now() - start
        if elapsed >= SAMPLE_SECONDS / 4:
            timed = max(1, round(calls * SAMPLE_SECONDS / elapsed))
            return 0 if elapsed > LONG * calls else 1 + timed // 10, timed
        calls *= 4


def _run_rounds(candidates, calls, budget, rounds, clock):
    """A list of (seconds of each candidate, cores used by other programs); ``calls``: what `_calls` says of each."""
    names = list(candidates)
    measured = []
    deadline = clock.now() + budget
    while len(measured) < rounds:
        turn = len(measured) % len(names)
        start, own_before, all_before = clock.now(), clock.own(), clock.everyone()
        seconds = {name: _sample(candidates[name], *calls[name], clock) for name in names[turn:] + names[:turn]}
        wall = clock.now() - start
        foreign = (clock.everyone() - all_before) - (clock.own() - own_before)
        measured.append(([seconds[name] for name in names], max(0.0, foreign - 2 * TICK) / wall))
        quiet = [values for values, cores in measured if cores <= FOREIGN_CORES]
        if len(quiet) > 2 * LEAST_ROUNDS and _spread(quiet) < SPREAD_WANTED:
            break
        if len(measured) >= LEAST_ROUNDS and clock.now() >= deadline:
            break
    return measured


def _sample(function, untimed, timed, clock):
    """Seconds per call, in a process that has come to rest, after untimed calls."""
    settle(clock)
    for _ in range(untimed):
        function()
    start = clock.now()
    for _ in range(timed):
        function()
    return (clock.now() - start) / timed


def _keep_quiet(names, measured):
    """Leave out the rounds in which other programs ran, or, if that leaves too few, the louder half."""
    quiet = [values for values, cores in measured if cores <= FOREIGN_CORES]
    busy = len(quiet) < LEAST_ROUNDS
    if busy:
        keep = max(LEAST_ROUNDS, len(measured) // 2)
        quiet = [values for values, _ in sorted(measured, key=lambda measurement: measurement[1])[:keep]]
    samples = {name: [values[column] for values in quiet] for column, name in enumerate(names)}
    return Times(samples, discarded=len(measured) - len(quiet), busy=busy)


def _times(ratio):
    """A ratio with the digits that are worth reading: 0.0012, 1.50, 34.1, 1020."""
    size = abs(ratio)
    return f"{ratio:.2g}" if size < 0.1 else f"{ratio:.2f}" if size < 10 else f"{float(f'{ratio:.3g}'):g}"


def _quartiles(values):
    if len(values) == 1:
        return (values[0],) * 3
    return tuple(statistics.quantiles(values, n=4, method="inclusive"))


def _spread(quiet):
    """Relative uncertainty of the worst ratio to the first candidate: quartile distance / median / sqrt(n)."""
    worst = 0.0
    for column in range(1, len(quiet[0])) or [0]:
        against = [values[0] / values[column] if column else values[0] for values in quiet]
        low, middle, high = _quartiles(against)
        worst = max(worst, (high - low) / middle / math.sqrt(len(quiet)))
    return worst


def fastest(functions, calls=60, limit=2, clock=None):
    """Least seconds of each function, by name, over many single calls in turns; for small effects.

    Other programs only ever add time, so the fastest call is the one that was disturbed least. Stops after ``calls``
    rounds, or after ``limit`` seconds and seven rounds. Each function is called once before, untimed. ``clock``: a
    `ThreadClock` for functions that use one thread leaves out the time in which other programs had its core.
    """
    clock = clock or Clock()
    if HURRY:
        calls, limit = LEAST_ROUNDS, 0
    for run in functions.values():
        run()
    best = dict.fromkeys(functions, math.inf)
    with alone():
        begun = clock.now()
        for call in range(calls):
            for name, run in functions.items():
                start = clock.now()
                run()
                best[name] = min(best[name], clock.now() - start)
            if call + 1 >= LEAST_CALLS and clock.now() - begun > limit:
                break
    return best


@contextlib.contextmanager
def limit_threads(count):
    """Run numba, and PyTorch if it is loaded, with ``count`` threads inside the ``with`` block.

    NumPy's element-wise functions use one thread always. Its matrix product follows only where the package
    threadpoolctl is installed; elsewhere set OPENBLAS_NUM_THREADS before Python starts.
    """
    import numba

    most = numba.config.NUMBA_NUM_THREADS
    if not 1 <= count <= most:
        raise ValueError(f"threads is {count}; this machine offers numba 1 to {most} (see NUMBA_NUM_THREADS)")
    before = numba.get_num_threads()
    torch = sys.modules.get("torch")
    torch_before = torch.get_num_threads() if torch else None
    with contextlib.ExitStack() as stack:
        with contextlib.suppress(ImportError):
            from threadpoolctl import threadpool_limits

            stack.enter_context(threadpool_limits(count))
        try:
            numba.set_num_threads(count)
            if torch:
                torch.set_num_threads(count)
            yield
        finally:
            numba.set_num_threads(before)
            if torch:
                torch.set_num_threads(torch_before)
