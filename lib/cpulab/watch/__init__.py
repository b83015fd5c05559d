"""`watch`: a parallel loop with each load and store recorded.

instrumented.py  the function, changed so that it reports     arrays.py    arrays that report
loops.py         which thread runs which iteration            recorder.py  the record
whole.py         whole numbers of 64 bits
analysis.py      races, false sharing, cache lines            report.py, picture.py  for people
"""

import numpy as np

from .analysis import Race, SharedLine
from .arrays import TracedArray
from .instrumented import ChangedCopies
from .loops import SCHEDULES
from .recorder import Carried, Recorder, TooLarge
from .report import WatchReport
from .whole import Beyond64Bits

__all__ = ["Beyond64Bits", "Race", "SharedLine", "TooLarge", "WatchReport", "watch"]


def watch(function, threads=2, schedule="static", chunk=None, limit=200_000):
    """Call as `watch(function)(*arguments)`: runs the Python source of `function` and reports what its loops touch.

    function: made by `njit(parallel=True)`, or plain Python with numba's `prange`. threads: how many share the
    outermost prange loops. schedule: "static" (numba's own division), "cyclic" (chunks in turns), "dynamic" (the next
    chunk to the thread that did least), "guided". chunk: iterations a thread takes at a time; with "static" they are
    handed out in turns.

    Each array starts at a cache line of its own; a view keeps its offset. Whole-array statements outside prange loops
    count as serial, though numba may share them out. Arguments are left unchanged (see `report.arguments`).
    Raises TooLarge after `limit` accesses, Beyond64Bits where a whole number needs more than 64 bits, and what the
    function itself raises.
    """
    if schedule not in SCHEDULES:
        raise ValueError(f"schedule is {schedule!r}; expected one of {', '.join(SCHEDULES)}")
    if not isinstance(threads, int) or threads < 1:
        raise ValueError(f"threads is {threads!r}; expected a whole number from 1 on")
    if chunk is not None and (not isinstance(chunk, int) or chunk < 1):
        raise ValueError(f"chunk is {chunk!r}; expected a whole number from 1 on, or None")

    def call(*arguments):
        report = _run(function, threads, schedule, chunk, limit, arguments)
        if report.recorder.asks_for_thread and not report.races and threads > 1:
            again = _run(function, threads, "cyclic", 1, limit, arguments)  # neighbours on different threads, too
            report.races = again.races
        return report

    return call


def _run(function, threads, schedule, chunk, limit, arguments):
    recorder = Recorder(threads, limit)
    program = ChangedCopies(recorder, schedule, chunk).function(function)
    original = getattr(function, "py_func", function)
    names = original.__code__.co_varnames
    traced, copies = [], {}
    for name, argument in zip(names, arguments, strict=False):
        if isinstance(argument, np.ndarray):
            argument = _traced(argument, name, recorder, copies)
        traced.append(argument)
    carried = []
    try:
        with np.errstate(all="ignore"):
            result = program(*traced)
    except Carried as error:
        carried, result = [error.name], None
    after = tuple(t._data if isinstance(t, TracedArray) else t for t in traced)
    said = f"{schedule} schedule" + (f" with chunks of {chunk}" if chunk else "")
    return WatchReport(original.__name__, recorder, _plain(result), after, carried, said)


def _traced(array, name, recorder, copies):
    """A traced copy of an argument; views of the same memory stay views of the same memory."""
    owner = array
    while isinstance(owner.base, np.ndarray):
        owner = owner.base
    if id(owner) not in copies:
        copies[id(owner)] = owner.copy(order="K")
    copy = copies[id(owner)]
    if array is owner:
        data = copy
    else:
        offset = array.__array_interface__["data"][0] - owner.__array_interface__["data"][0]
        begin = copy.ravel(order="K").view(np.uint8)
        data = np.ndarray(array.shape, array.dtype, begin, offset, array.strides)
    root = recorder.root(data, name, False)
    return TracedArray(data, root, recorder)


def _plain(result):
    if isinstance(result, TracedArray):
        return result._data
    if isinstance(result, tuple | list):
        return type(result)(_plain(x) for x in result)
    return result
