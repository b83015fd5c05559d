"""What is wrong with a launch, said to a person: where, which threads, which element, and the cure.

Races and reads of uninitialised shared memory are worked out here from the whole trace, so they do not
depend on the order in which the executor happened to run the threads. What can only be seen while a kernel
runs (an index out of bounds, a barrier that not all threads reach, a wrong warp mask) comes from the trace's
own findings.

Stores of several threads to one element are reported as a race even where all store the same value: the CUDA
memory model gives no meaning to two unordered plain stores, and a later change of the value would turn it
into an error.
"""

from dataclasses import replace

from ..errors import Deadlock, TooManyIterations
from ..trace import TraceFull
from . import causes, unset
from .conflicts import locations_of
from .consequences import folded
from .finding import UNSET, Finding
from .merging import merged
from .seen import deadlock, seen_while_running

__all__ = ["Finding", "findings"]


def findings(trace, stopped=None):
    """All `Finding` of a trace: what stopped the kernel first, then races, then the rest, by line.

    stopped: the error that ended the launch, if any; a deadlock that the trace does not list becomes a finding.
    """
    locations = locations_of(trace)
    seen = seen_while_running(trace)
    if isinstance(stopped, Deadlock) and not any(f.line == stopped.line for f in seen):
        seen.append(deadlock(stopped))
    early = unset.of_shared(trace, *locations), unset.of_global(trace)
    reads = [f for rows, kind in zip(early, UNSET, strict=True) for f in unset.describe(trace, rows, kind)]
    everything = [*merged(trace, seen + reads), *causes.races(trace, locations)]
    found = sorted(folded(trace, everything), key=_rank)
    if isinstance(stopped, TooManyIterations | TraceFull) and found:
        loop = trace.longest_loop()
        if isinstance(stopped, TooManyIterations):
            loop = f"The launch was stopped at line {stopped.line}: {stopped.reason.rstrip('.')}."
        found[0] = replace(found[0], message=f"{found[0].message} {loop}")
    return found


def _rank(f):
    """What stopped threads, or led them astray, first; then races, then the rest, by line."""
    late = not f.therefore and (1 if f.is_race else 2 if f.kind in UNSET else 0)
    return late, f.line, f.kind, f.array, f.message
