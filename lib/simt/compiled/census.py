"""Run a kernel compiled, and count what it does to memory."""

from dataclasses import dataclass

import numpy as np

from ..errors import Unsupported
from ..executor.arguments import Arguments
from ..kernel import kernel_of
from ..limits import check_cooperative, check_launch, dimensions
from ..trace import ArrayInfo, Trace
from . import slots
from .launch import check_order, plain, start, unit_of
from .suspects import Shadows


@dataclass(frozen=True)
class Counts:
    """What was counted. sums[measure][site, array]; the rest as in a `Trace`."""

    kernel: str
    grid: tuple
    block_shape: tuple
    order: str
    sites: list
    arrays: list
    sums: dict
    barriers: int  # most of any block
    grid_barriers: int
    shared_bytes: int  # of a block, static and dynamic
    suspects: tuple  # of suspects.py
    unseen: str  # why nobody looked for races; "": they were looked for

    @property
    def threads_per_block(self):
        return int(np.prod(self.block_shape))


def count(kernel, grid, block, args, shared_bytes=0, order="forward", threads=None, races=False):
    """Launch ``kernel`` compiled for the CPU, as ``compiled.run`` does, and return its `Counts`.

    races: look for races too, where the kernel makes no order by fences (``Counts.suspects``, ``Counts.unseen``).

    ``Unsupported`` where the compiled engine cannot take the kernel: before anything has run, or where a thread makes
    too many accesses between two barriers.
    """
    kernel = kernel_of(kernel)
    check_order(order)
    grid, block = dimensions(grid, "griddim"), dimensions(block, "blockdim")
    check_launch(grid, block, shared_bytes)
    trace = Trace()
    prepared = Arguments(kernel, args, trace)
    program = kernel.program(prepared.values)
    if program.grid_sync:
        check_cooperative(grid, block)
    made = unit_of(kernel, prepared, block, shared_bytes, True, order, counted=True, raced=races)
    unit, counted = made[0], made[0].counted
    info, count_of = counted.info(trace.arrays), max(1, len(counted.sites))
    bases = [data.__array_interface__["data"][0] for data in _arrays(map(plain, prepared.values))]
    shadows = Shadows(unit, trace.arrays, program.fences, grid[0] * grid[1] * grid[2], shared_bytes)
    counter = Counters(lambda: slots.buffer(count_of, info, bases), shadows)
    buffers = counter.buffers
    for unwritten, _ in trace.unwritten.values():
        unwritten.forget()  # from here on the launch writes, and nobody notes where
    grid_barriers = start(kernel, made, prepared, grid, block, args, shared_bytes, True, order, threads, counter)
    failed = int(np.bitwise_or.reduce([b[slots.FAILED] for b in buffers])) & (slots.FULL | slots.TWICE)
    if failed:
        what = (
            "makes too many accesses between two barriers" if failed & slots.FULL else "makes an access twice at once"
        )
        raise Unsupported(f"a thread that {what} to be counted", kernel=unit.name)
    sites = list(counted.sites)
    sums = {}
    for k, measure in enumerate(slots.MEASURES):
        parts = [slots.sums(b, count_of)[:, : len(info), k] for b in buffers]
        sums[measure] = np.maximum.reduce(parts) if measure in slots.LARGEST else np.add.reduce(parts)
    arrays = [*trace.arrays, *(_describe(array) for _, array in counted.own.values())]
    barriers = max(int(b[slots.MOST_MET]) for b in buffers)
    shared = unit.memory.shared_used + shared_bytes
    suspects = shadows.found(buffers, grid_barriers, order == "reverse")
    return Counts(unit.name, grid, block, order, sites, arrays, sums, barriers, grid_barriers, shared, *suspects)


class Counters:
    """Makes the buffer of each CPU thread."""

    def __init__(self, make, shadows):
        self.make, self.shadows, self.buffers = make, shadows, []

    def __call__(self):
        words = self.make()
        self.shadows.attach(words)
        self.buffers.append(words)
        return words

    def turn(self, passed):
        """All blocks have passed so many barriers of the grid."""
        for words in self.buffers:
            words[slots.TURN] = passed


def _arrays(values):
    for value in values:
        if isinstance(value, tuple):
            yield from _arrays(value)
        elif isinstance(value, np.ndarray):
            yield value


def _describe(array):
    strides = np.empty(array.shape, array.dtype).strides
    return ArrayInfo(array.name, array.space, array.dtype, array.shape, strides, 0)
