"""The x-ray: what a kernel did to memory, counted exactly, and where it races. No GPU needed.

    report = xray(kernel, grid, block)(*args)
    print(report)                                           # or show it in a notebook
    report.require(sectors_per_request=4, bank_ways=1, races=0)

`compiled` shows what the compiler makes of the same kernel for a real GPU: registers, spills, instructions.
"""

from .. import run
from ..errors import KernelError, TooManyIterations, Unsupported
from ..policy import check_name, is_large
from ..trace import MOST_ACCESSES, Trace
from .arguments import copies, restore, same
from .budget import BudgetExceeded
from .compiler import Compiled, Unavailable, available, compiled
from .counted import CountedReport, NotLookedFor
from .findings import Finding
from .occupancy import Occupancy, occupancy
from .report import Report
from .watching import launches

__all__ = [
    "BudgetExceeded",
    "Compiled",
    "Finding",
    "NotLookedFor",
    "Occupancy",
    "Report",
    "Unavailable",
    "available",
    "compiled",
    "launches",
    "occupancy",
    "xray",
]

UNDEFINED = "inactive-lane-read"
OTHER = 0x5A  # another value of what is undefined: what depends on it shows


def xray(
    kernel,
    grid,
    block,
    shared_bytes=0,
    order="forward",
    snapshots=False,
    most_accesses=MOST_ACCESSES,
    engine="executor",
):
    """Return a function that runs ``kernel`` with the given arguments and returns a `Report`.

    grid, block: int or tuple of up to three ints, as in ``kernel[grid, block]``. shared_bytes: dynamic
    shared memory per block. order: the order in which threads run, "forward", "reverse" or
    "shuffled:<seed>".
    snapshots: keep the contents of shared memory at each barrier, for ``report.replay()``.
    most_accesses: of all threads together; `TraceFull`, a MemoryError, is raised beyond.
    engine: "executor" records every access, and finds races and the like. "compiled" only counts, and takes launches of
    real size: tens of millions of accesses in a second; what needs single accesses raises `NotLookedFor`. "auto" takes
    the executor for small launches, and counts large ones. ``report.engine`` says which it was.

    The kernel runs in full, and arrays are changed as by a launch. Where it cannot go on (a deadlock, a
    shuffle from a lane outside its mask) the report covers what ran until then, and says so
    (``report.stopped``). Thousands of threads are fine; for a matrix of real size, x-ray a few blocks (the
    pattern is the same), or only count.
    """
    check_name(engine)

    def launch(*args):
        if engine == "compiled" or (engine == "auto" and is_large(kernel, grid, block, args)):
            from .. import count  # the compiled engine is not loaded before it is needed

            before = copies(args) if engine == "auto" else None
            try:
                return CountedReport(count(kernel, grid, block, args, shared_bytes, order))
            except Unsupported:
                if engine == "compiled":
                    raise
                restore(args, before)
        return looked_at(args)

    def looked_at(args):
        trace, stopped = Trace(snapshots=snapshots, limit=most_accesses), None
        again = copies(args)
        try:
            run(kernel, grid, block, args, shared_bytes=shared_bytes, order=order, trace=trace)
        except KernelError as error:
            if isinstance(error, TooManyIterations) or not hasattr(trace, "site"):
                raise  # an endless loop, or it never started: Python that no GPU runs, no source
            stopped = error
        if stopped is None and any(f.kind == UNDEFINED for f in trace.findings):
            others = copies(again)
            try:
                run(kernel, grid, block, again, shared_bytes=shared_bytes, order=order)
                run(kernel, grid, block, others, shared_bytes=shared_bytes, order=order, unset=OTHER)
            except KernelError:  # what the trace has noted, a barrier after an exit, ends a run without one
                pass
            else:
                if same(again, others):  # nobody used what the shuffles got
                    trace.findings[:] = [f for f in trace.findings if f.kind != UNDEFINED]
        report = Report(trace, stopped)
        if stopped and report.ok:
            raise stopped  # an error of the kernel's arithmetic, say, that the x-ray has no words for
        return report

    return launch
