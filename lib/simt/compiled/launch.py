"""Launch a kernel on the compiled engine."""

import numpy as np
from numba import typeof

from ..errors import (
    Deadlock,
    EngineFault,
    KernelError,
    LaunchError,
    NotFollowed,
    OutOfBounds,
    TooManyIterations,
    Unsupported,
)
from ..executor.arguments import Arguments
from ..executor.launch import Launch
from ..executor.memory import Array
from ..hostarrays import on_host
from ..kernel import kernel_of
from ..limits import check_cooperative, check_launch, dimensions
from ..settings import wraps
from ..source.endless import question
from ..work import estimate
from .running import BlockFailure, RunningLaunch, cpu_threads
from .together import LeftWaiting, Together
from .unit import Unit

ORDERS = ("forward", "reverse")
LONG = 20_000_000  # steps: some 20 seconds of the executor
SMALL = 64 << 20  # bytes that are copied before a launch which may fail


def run(kernel, grid, block, args, shared_bytes=0, checked=True, threads=None, order="forward"):
    """Launch ``kernel`` compiled for the CPU. Arguments and errors as in ``simt.run``.

    checked: stop at an index outside its array, with the executor's message; False: such an index is undefined
    behaviour.
    threads: CPU threads (default: all cores). order: "forward" or "reverse", of the threads in a block and of the
    blocks. Raises ``Unsupported`` before anything has run where the kernel has something that only the executor can do.
    """
    kernel = kernel_of(kernel)
    check_order(order)
    grid, block = dimensions(grid, "griddim"), dimensions(block, "blockdim")
    check_launch(grid, block, shared_bytes)
    prepared = Arguments(kernel, args, None)
    if kernel.program(prepared.values).grid_sync:
        check_cooperative(grid, block)
    made = unit_of(kernel, prepared, block, shared_bytes, checked, order)
    start(kernel, made, prepared, grid, block, args, shared_bytes, checked, order, threads)


def check_order(order):
    if order not in ORDERS:
        raise ValueError(f'order is {order!r}; the compiled engine knows "forward" and "reverse"')


def start(kernel, made, prepared, grid, block, args, shared_bytes, checked, order, threads, counter=None):
    """Run what `unit_of` has made; returns how many barriers of the grid were passed. counter: what makes a buffer for
    the counts of a CPU thread, where there are any."""
    unit, function = made
    values = [plain(v) for v in prepared.values]
    if unit.wide and any(v.lead % max(16, 4 * v.data.itemsize) for v in prepared.values if isinstance(v, Array)):
        unit.refuse_line("16-byte accesses to an array that does not begin at a multiple of their size")
    kept = _kept(kernel, prepared)
    try:
        launch = function, grid, values, shared_bytes, order, threads or cpu_threads()
        running = RunningLaunch(*launch, counter) if unit.keeps is None else Together(*launch, unit.keeps, counter)
        running.run()
    except BlockFailure as failure:
        for now, before in kept:
            now[...] = before
        if failure.flag & Unit.ENDLESS:
            raced = counter is not None and unit.counted.raced
            key = _key(values, block, checked, order, shared_bytes, counter is not None, raced)
            _endless(kernel, unit, failure, kernel.program(prepared.values).waits, key)
        _explain(kernel, unit, grid, block, args, shared_bytes, order, failure, bool(kept))
    except (ValueError, ArithmeticError):  # of a range whose step is 0, for one: the executor knows where
        _again(kernel, unit, grid, block, args, shared_bytes, order)
        raise
    prepared.copy_back()
    return 0 if unit.keeps is None else running.passed


def _kept(kernel, prepared):
    """Copies of the arrays, for a launch that may have to begin anew: where loops may wait for others, the executor
    takes over; where atomics say who came first, a block that failed must be run with those before it."""
    program = kernel.program(prepared.values)
    flat = [v for value in prepared.values for v in (value if isinstance(value, tuple) else (value,))]
    arrays = [v.data for v in flat if isinstance(v, Array) and not v.readonly]
    if program.waits or (program.tickets and sum(a.nbytes for a in arrays) < SMALL):
        return [(a, a.copy()) for a in arrays]
    return []


def _endless(kernel, unit, failure, waits, key):
    """Raise for a loop that goes on and on. One that may wait for others is for the executor; nothing has happened
    then."""
    lines = unit.lines_of(failure.flag) or [failure.line]
    site = unit.loop_at(lines)
    if not waits:
        asked = question(site.file, site.line) if site else "Does the loop ever stop?"
        raise TooManyIterations(f"this loop goes on and on. {asked}", site=site, kernel=unit.name)
    what = "this loop, which waits for threads that run after it here"
    kernel.compiled[key] = Unsupported(what, site=site, kernel=unit.name)
    raise kernel.compiled[key]


def stages(kernel, block, args, shared_bytes=0, checked=True, order="forward"):
    """The passes' results for a launch with these arguments, as source text: {"lowered": ..., "generated": ...}."""
    kernel = kernel_of(kernel)
    prepared = Arguments(kernel, args, None)
    unit, _ = unit_of(kernel, prepared, dimensions(block, "blockdim"), shared_bytes, checked, order)
    return unit.stages


def plain(value):
    """An argument as compiled code takes it: the executor's arrays as NumPy arrays."""
    if isinstance(value, Array):
        return value.data
    if isinstance(value, tuple):
        return type(value)(*map(plain, value)) if hasattr(value, "_fields") else tuple(map(plain, value))
    return value


def unit_of(kernel, prepared, block, shared_bytes, checked, order, counted=False, raced=False):
    """The unit and its function for these types of arguments, made once and kept with the kernel."""
    values = [plain(v) for v in prepared.values]
    key = _key(values, block, checked, order, shared_bytes, counted, raced)
    types = key[0]
    if key not in kernel.compiled:
        kernel.program(prepared.values)  # refuses what no GPU could run
        unit = Unit(kernel, types, block, checked, order, shared_bytes, counted, raced)
        try:
            kernel.compiled[key] = unit, unit.build()
        except Unsupported as error:
            kernel.compiled[key] = error
        except (KernelError, LaunchError, MemoryError):
            raise
        except Exception as error:  # the executor can run the kernel all the same
            if "does not dominate" in str(error):  # LLVM's check of what its own passes have made
                kernel.compiled[key] = Unsupported("this kernel: LLVM's optimiser fails on it", kernel=unit.name)
                raise kernel.compiled[key] from error
            what = f"{type(error).__name__}: {str(error).partition(chr(10))[0]}"
            kernel.compiled[key] = EngineFault(f"this kernel: its compiler failed ({what})", kernel=unit.name)
            kernel.compiled[key].__cause__ = error
    outcome = kernel.compiled[key]
    if isinstance(outcome, Unsupported):
        raise outcome.with_traceback(None)
    return outcome


def _key(values, block, checked, order, shared_bytes, counted, raced):
    """What a kernel is compiled for."""
    return tuple(typeof(v) for v in values), block, checked, order, shared_bytes, counted, raced, wraps()


def _left_waiting(unit, failure):
    what = (
        f"{failure.waiting} of {failure.blocks} blocks wait at the grid barrier, the others have ended: every thread "
    )
    site = unit.source.site(unit.barriers[failure.number], "grid barrier")
    raise Deadlock(f"{what}of the grid must reach it", site=site, kernel=unit.name)


def _again(kernel, unit, grid, block, args, shared_bytes, order, only=None):
    """Run the launch, or some blocks of it, in the executor on copies of the arguments."""
    prepared = Arguments(kernel, args, None)
    lowered = kernel.program(prepared.values)
    values = [_copy(v) for v in prepared.values]
    launch = Launch(lowered, unit.name, grid, block, values, shared_bytes, order, None, None)
    launch.only = only
    launch.run()


def _explain(kernel, unit, grid, block, args, shared_bytes, order, failure, restored):
    """Raise the error of a block that failed: run it again in the executor, which knows line, thread and index.

    restored: memory is as before the launch. Where it is not, and atomics say who came first, running it again shows
    nothing.
    """
    as_before = restored or on_host(args)
    tickets = kernel.program(Arguments(kernel, args, None).values).tickets
    tells = as_before or not tickets
    alone = unit.keeps is None and not (tickets or restored)
    if alone:
        _again(kernel, unit, grid, block, args, shared_bytes, order, [failure.block])  # raises
    apart = failure.flag & (Unit.DIVERGED | Unit.RAISED)
    everything = tells and not (alone and apart) and estimate(kernel.py_func, grid, block, args) < LONG
    if everything:  # it may depend on what other blocks do
        _again(kernel, unit, grid, block, args, shared_bytes, order)
    if isinstance(failure, LeftWaiting):
        _left_waiting(unit, failure)
    block_index = (failure.block % grid[0], failure.block // grid[0] % grid[1], failure.block // (grid[0] * grid[1]))
    if apart:
        raise NotFollowed(
            f"in block {block_index} threads take different ways around the barrier or warp operation at line "
            f"{failure.line}, which the compiled engine cannot follow (the executor can)",
            kernel=unit.name,
        )
    lines = ", ".join(map(str, unit.lines_of(failure.flag)))
    what = f"block {block_index} used an index outside an array (line {lines})"
    if everything and as_before:
        what += (
            ". In the executor, where threads run one after the other, it does not: the index depends on their order"
        )
    raise OutOfBounds(what, kernel=unit.name)


def _copy(value):
    if isinstance(value, Array):
        return Array(np.copy(value.data), value.name, value.space, readonly=value.readonly, lead=value.lead)
    return tuple(map(_copy, value)) if isinstance(value, tuple) else value
