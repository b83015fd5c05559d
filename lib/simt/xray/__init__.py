"""The x-ray: what a kernel did to memory, counted exactly, and where it races. No GPU needed.

    report = xray(kernel, grid, block)(*args)
    print(report)                                           # or show it in a notebook
    report.require(sectors_per_request=4, bank_ways=1, races=0)

`compiled` shows what the compiler makes of the same kernel for a real GPU: registers, spills, instructions.

Its files, in reading order:

a run         arguments.py (to run it again), seen.py (what went wrong on the way)
counts        analysis.py (from a trace to rows), columns.py (its tools), traffic.py (the memory model), counted.py
              (counts of the compiled engine), metrics.py (Nsight's names), occupancy.py, budget.py
order, races  conflicts.py, races.py, raced.py (in words), lanes.py (of a warp), order.py (fences and atomics),
              evidence.py (what an atomic proves), suspected.py (what the compiled engine saw), missing.py (which fence
              or barrier would do), unset.py (reads of what nobody wrote)
one cause     causes.py, updates.py, spans.py, meeting.py, merging.py, consequences.py
findings      finding.py, findings.py, cures.py, words.py
pictures      report.py, pictures.py, player.py, timeline.py, svg.py
the compiler  compiler.py (registers, spills), sass.py (machine code)
"""

from .. import run
from ..errors import Deadlock, KernelError, NotFollowed, TooManyIterations, Unsupported
from ..policy import check_name, is_large
from ..trace import MOST_ACCESSES, Trace, TraceFull
from . import suspected
from .arguments import copies, restore, same
from .budget import BudgetExceeded
from .compiler import Compiled, Unavailable, available, compiled
from .counted import CountedReport, NotLookedFor
from .findings import Finding
from .occupancy import Occupancy, occupancy
from .report import Report

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
    most_accesses: of all threads together; `TraceFull`, a MemoryError, is raised beyond where
    nothing was found.
    engine: "executor" records every access, and finds races and the like. "compiled" counts, looks for races, and takes
    launches of real size: tens of millions of accesses in a second. Other findings, and what needs single accesses,
    raise `NotLookedFor`; so do races where the kernel has fences, where lanes meet in a ``syncwarp`` for a part of the
    warp, and of more than 16 million elements. What it finds is told by the executor, which runs the block again, or
    the two. The report's first line says whether races were looked for. "auto" takes
    the executor for small launches, and counts large ones; shuffled orders, snapshots, and what cannot be counted or
    ends in a barrier that not all reach are the executor's. ``report.engine`` says which it was.

    The kernel runs in full, and arrays are changed as by a launch. Where it cannot go on (a deadlock, a
    shuffle from a lane outside its mask, a loop that goes on and on after an index out of bounds) the report covers
    what ran until then, and says so (``report.stopped``). Thousands of threads are fine; for a matrix of real size,
    x-ray a few blocks (the pattern is the same), or take the compiled engine.
    """
    check_name(engine)

    def launch(*args):
        if engine == "compiled":
            return counted(args)
        if engine == "executor" or snapshots or order.startswith("shuffled") or not is_large(kernel, grid, block, args):
            return looked_at(args)
        before = copies(args)
        try:
            return counted(args)
        except (Unsupported, NotFollowed, Deadlock) as error:  # the executor can tell
            restore(args, before)
            failed = error
        try:
            return looked_at(args)
        except TraceFull:
            if isinstance(failed, Deadlock):
                raise failed from None
            raise

    def counted(args):
        from .. import count  # the compiled engine is not loaded before it is needed

        again = copies(args)
        counts = seen = count(kernel, grid, block, args, shared_bytes, order, races=True)
        if any(len(suspect.blocks) > 1 for suspect in counts.suspects):  # which blocks meet first is a matter of luck
            seen = count(kernel, grid, block, copies(again), shared_bytes, order, threads=1, races=True)
        return CountedReport(counts, suspected.races(seen, (kernel, grid, block, shared_bytes, lambda: copies(again))))

    def looked_at(args):
        trace, stopped = Trace(snapshots=snapshots, limit=most_accesses), None
        again = copies(args)
        try:
            run(kernel, grid, block, args, shared_bytes=shared_bytes, order=order, trace=trace)
        except (KernelError, TraceFull) as error:
            endless = isinstance(error, TooManyIterations | TraceFull)
            if not hasattr(trace, "site") or (endless and not trace.findings):
                raise  # a loop that nothing explains, or it never started: Python that no GPU runs, no source
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
