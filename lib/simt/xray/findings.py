"""What is wrong with a launch, said to a person: where, which threads, which element, and the cure.

Races and reads of uninitialised shared memory are worked out here from the whole trace, so they do not
depend on the order in which the executor happened to run the threads. What can only be seen while a kernel
runs (an index out of bounds, a barrier that not all threads reach, a wrong warp mask) comes from the trace's
own findings.

Stores of several threads to one element are reported as a race even where all store the same value: the CUDA
memory model gives no meaning to two unordered plain stores, and a later change of the value would turn it
into an error.
"""

from ..errors import Deadlock
from . import causes, unset
from .conflicts import places_of
from .finding import PARTED, UNSET, Finding
from .seen import deadlock, seen_while_running

__all__ = ["Finding", "findings"]


def findings(trace, stopped=None):
    """All `Finding` of a trace: what stopped the kernel first, then races, then the rest, by line.

    stopped: the error that ended the launch, if any; a deadlock that the trace does not list becomes a finding.
    """
    places = places_of(trace)
    seen = seen_while_running(trace)
    if isinstance(stopped, Deadlock) and not any(f.line == stopped.line for f in seen):
        seen.append(deadlock(stopped))
    early = unset.of_shared(trace, *places), unset.of_global(trace)
    reads = [f for rows, kind in zip(early, UNSET, strict=True) for f in unset.describe(trace, rows, kind)]
    everything = seen + reads + causes.races(trace, places)
    # What happened before threads went different ways may be why they did, if a test reads it.
    parted = min((f.position for f in seen if f.kind in PARTED), default=-1)

    def rank(f):
        if f.kind in PARTED:
            return 0
        if 0 <= f.position < parted and (f.is_race or f.kind in UNSET) and f.array.split("[")[0] not in trace.idle:
            return -1
        return 1 if f.is_race else 2 if f.kind in UNSET else 0

    return sorted(everything, key=lambda f: (rank(f), f.line, f.kind, f.array, f.message))
