"""The executor: runs a lowered kernel on the CPU, one thread at a time, in an order that is the same every time.

A kernel without barriers is called once for each thread. A kernel with barriers or warp operations is a generator:
each thread runs until it yields a request to wait for others, and meetings.py says who can go on.
"""

import random
import traceback

import numpy as np

from .. import show
from ..errors import KernelError, TooManyIterations, raised_in_kernel
from ..kernel import kernel_of
from ..limits import MOST_ROUNDS, check_launch, dimensions
from ..progress import Progress
from ..settings import check_order, chosen_budget, chosen_order
from ..source.deciding import idle
from ..source.endless import question
from ..source.sites import Site
from ..trace import WARP, Incident, Snapshot
from .arguments import Arguments
from .atomics import atomic
from .meetings import Meetings
from .memory import POISON, Memory
from .operations import VALUES
from .ownarrays import OwnArrays
from .residents import WAIT, Residents
from .sleeping import Sleepers
from .standins import StandInContext
from .threads import Block, Dim3, Thread
from .traced_memory import TracedMemory

MOST_TRACED = 20_000  # rounds of a loop that may wait, where every access is recorded: seconds


def run(kernel, grid, block, args, shared_bytes=0, order=None, trace=None, budget=None, unset=POISON, only=None):
    """Launch ``kernel`` on the executor, whatever engine is chosen (policy.py).

    kernel: what ``@cuda.jit`` returns, of ours or of numba.cuda's, or the Python function. grid, block: an int or a
    tuple of up to three. args: a sequence. shared_bytes: dynamic shared memory.
    order: "forward", "reverse", "shuffled[:seed]"; default: set by ``simt.order``, or DLKERNELS_ORDER, or forward.
    trace: a ``Trace`` to record into (returned, finished). budget: most loop iterations of one thread, or of (one, all
    together); default: set by ``simt.budget``, or ``limits.MOST_ROUNDS``. unset: the bytes of what a shuffle gets from
    a lane that takes no part. only: numbers of the blocks to run, where blocks do not wait for one another; None: all.
    """
    kernel = kernel_of(kernel)
    grid, block = dimensions(grid, "griddim"), dimensions(block, "blockdim")
    check_launch(grid, block, shared_bytes)
    order = check_order(order or chosen_order() or "forward")
    if budget is None:
        budget = chosen_budget()
    elif isinstance(budget, int):
        budget = (budget, None)
    prepared = Arguments(kernel, args, trace)
    program = kernel.program(prepared.values, traced=trace is not None, counted=budget is not None)
    name = kernel.py_func.__name__
    if trace is not None:
        trace.kernel, trace.grid, trace.block_shape = name, grid, block
        trace.function = kernel.py_func
        trace.shared_bytes, trace.order, trace.sites = shared_bytes, order, program.sites.sites
        trace.sets, trace.asked_of = program.sets, program.asked
        trace.guards, trace.atomic_nodes = program.guards, program.atomic_nodes
        trace.idle = idle(kernel.py_func)
    launch = Launch(program, name, grid, block, prepared.values, shared_bytes, order, trace, budget)
    launch.unset, launch.only = unset, only
    try:
        launch.run()
    finally:
        if trace is not None:
            trace.finish()
            trace.unwritten = trace.written_now()
    prepared.copy_back()
    return trace


class Launch:
    """One run of a program. ``arguments`` are ``Array`` objects and scalars, ready for the kernel."""

    def __init__(self, program, name, grid, block, arguments, shared_bytes, order, trace, budget):
        self.program, self.name, self.grid, self.block_shape = program, name, grid, block
        self.arguments, self.shared_bytes, self.trace, self.budget = arguments, shared_bytes, trace, budget
        self.sites = program.sites.sites
        self.threads_per_block = block[0] * block[1] * block[2]
        self.blocks = grid[0] * grid[1] * grid[2]
        self.current = None  # the thread that runs now
        self.steps = 0  # loop iterations of all threads, where there is a budget
        self.unset = POISON
        self.only = None  # numbers of the blocks to run; None: all
        self.shuffle = _shuffler(order)
        self.memory = TracedMemory(self) if trace is not None else Memory(self)
        self.meetings = Meetings(self)
        self.sleepers = Sleepers(self) if trace is not None and program.waits else None
        self.kernel = program.link(self._ports())
        self.places = [
            (n % block[0], n // block[0] % block[1], n // (block[0] * block[1]), n % WARP, n // WARP)
            for n in range(self.threads_per_block)
        ]

    # -- what a lowered kernel calls ----------------------------------------------------------------------------------

    def _ports(self):
        trace, (most, altogether) = self.trace, self.budget or (None, None)
        most, altogether = (float("inf") if limit is None else limit for limit in (most, altogether))
        ports = {**self.memory.ports(), **OwnArrays(self).ports()}
        block, grid = Dim3(self.block_shape), Dim3(self.grid)
        ports.update(_blockDim=block, _gridDim=grid)
        for axis, name in enumerate("xyz"):
            ports[f"_blockDim_{name}"], ports[f"_gridDim_{name}"] = block[axis], grid[axis]

        def step(thread, site, path=()):
            thread.steps += 1
            self.steps += 1
            if thread.steps > most or self.steps > altogether:
                self._over_budget(thread, site, path)
            return True

        def visit_counted(parent, site, iteration):
            step(self.current, site, (parent, iteration))
            return trace.visit_number(parent, site, iteration)

        def dim3(thread, which):
            coordinates = thread if which == "threadIdx" else thread.block
            return Dim3((coordinates.x, coordinates.y, coordinates.z))

        def grid_index(thread, dimensions):
            b, d = thread.block, self.block_shape
            x = b.x * d[0] + thread.x
            if dimensions == 1:
                return x
            y = b.y * d[1] + thread.y
            return (x, y) if dimensions == 2 else (x, y, b.z * d[2] + thread.z)

        def grid_size(thread, dimensions):
            sizes = tuple(g * d for g, d in zip(self.grid, self.block_shape, strict=True))
            return sizes[0] if dimensions == 1 else sizes[:dimensions]

        memory = self.memory

        def goes_on(thread, site, rounds):
            if rounds >= MOST_ROUNDS:
                self._goes_on_for_ever(thread, site, rounds)
            return True

        def counted_range(*limits):
            try:
                turns = range(*limits)
            except TypeError:  # a float, say
                turns = VALUES["_range"](*limits)
            return turns if len(turns) <= MOST_ROUNDS else self._counted(turns)

        ports.update(
            _step=step,
            _goes_on=goes_on,
            _range=counted_range,
            _dim3=dim3,
            _grid=grid_index,
            _gridsize=grid_size,
            _lanemask_lt=lambda: np.uint32((1 << self.current.lane) - 1),
            _atomic=lambda *args: atomic(memory, *args),
            _reduce=memory.reduce,
            _view=memory.reshaped,
            _stand_in_context=lambda *args: StandInContext(memory, *args),
        )
        if trace is not None:
            ports["_fence"], ports["_asked"] = trace.fence, trace.ask
            ports["_visit"] = trace.visit_number if self.budget is None else visit_counted
        return ports

    def _over_budget(self, thread, site, path):
        """Raise for the loop that went round most often; in a trace all loops around this one are known."""
        times = thread.steps
        if path:
            parent, iteration = path
            loops = [*self.trace.visit_path(parent), (site, iteration)]
            site, times = max(loops, key=lambda loop: loop[1])
        loop_site = self.sites[site]
        reason = f"this loop has gone round {times:,} times"
        if thread.steps <= self.budget[0]:
            reason = f"{reason}, and all loops of all threads {self.steps:,} times"
        reason += f". {question(loop_site.file, loop_site.line)}"
        self.fault(TooManyIterations, reason, site, thread)

    def _goes_on_for_ever(self, thread, site, rounds):
        loop = self.sites[site]
        reason = (
            f"this loop has gone round {rounds:,} times. {question(loop.file, loop.line)} simt.budget sets another "
            "limit"
        )
        self.fault(TooManyIterations, reason, site, thread)

    def _counted(self, turns):
        """A range that is longer than a thread may go round."""
        for k, turn in enumerate(turns):
            if k >= MOST_ROUNDS and self.budget is None:
                raise TooManyIterations(
                    f"a loop over {turns} has gone round {k:,} times. simt.budget sets another limit", kernel=self.name
                )
            yield turn

    # -- reporting ----------------------------------------------------------------------------------------------------

    def fault(self, kind, reason, site, thread=None):
        """Stop the launch: raise an error that names the line, the thread (if not said, the one that runs) and the
        block."""
        raise self._error(kind, reason, self.sites[site] if isinstance(site, int) else site, thread or self.current)

    def _error(self, kind, reason, site, thread):
        if thread is None:
            return kind(reason, site=site, kernel=self.name)
        said = self.who(thread)
        return kind(reason, site=site, kernel=self.name, thread=thread.place, block=thread.block.place, who=said)

    def who(self, thread):
        """A thread in words."""
        return show.who(thread.place, thread.block.place, self.block_shape, self.grid)

    def words(self, coordinates):
        """Coordinates of a thread or a block, as many as the launch needs."""
        return show.place(coordinates, show.axes(self.block_shape, self.grid))

    def finding(
        self,
        kind,
        message,
        site,
        thread=None,
        array=-1,
        index=(),
        threads=(),
        other_sites=(),
        groups=(),
        visit=0,
        left=0,
    ):
        """Note in the trace what went wrong, at which thread (if not said, the one that runs). Without a trace,
        nothing."""
        if self.trace is None:
            return
        thread = thread or self.current
        number, block = thread.number, thread.block.number
        self.trace.findings.append(
            Incident(
                kind,
                message,
                site,
                number,
                block,
                array,
                index,
                other_sites,
                threads,
                groups,
                len(self.trace),
                visit,
                left,
            )
        )

    def _translate(self, error):
        """An exception of Python inside the kernel, as an error that names the kernel's line."""
        frames = [f for f in traceback.extract_tb(error.__traceback__) if f.name.startswith("lowered_")]
        site = None
        if frames:
            frame = frames[-1]
            column, end = frame.colno or 0, frame.end_colno or 0
            text = (frame._line if hasattr(frame, "_line") else None) or frame.line or ""
            site = Site(frame.filename, frame.lineno, column, frame.end_lineno, end, text.strip(), self.name, "error")
        if isinstance(error, UnboundLocalError) and site is not None:
            return self._reads_unset(error.name or str(error).split("'")[1], site)
        if isinstance(error, RecursionError):
            reason = "a device function calls itself too deeply"
        else:
            reason = f"{type(error).__name__}: {error}"
        return self._error(raised_in_kernel(type(error)), reason, site, self.current)

    def _reads_unset(self, name, site):
        """Of a variable that the way of this thread has not set: on a GPU it holds whatever its register held."""
        reason = f"`{name}` is read before it is set: the way that this thread took does not set it"
        self.finding("uninitialised-variable", reason, self.program.sites.add(site))
        return self._error(KernelError, reason, site, self.current)

    # -- running ------------------------------------------------------------------------------------------------------

    def run(self):
        """Run all threads of all blocks."""
        try:
            with np.errstate(all="ignore"):
                if self.program.grid_sync or self.program.waits:
                    Residents(self).run()
                else:
                    self._run_blocks()
        except (KernelError, MemoryError):
            raise
        except RuntimeError as error:
            if type(error).__module__.startswith("simt."):
                raise
            raise self._translate(error) from error
        except Exception as error:
            raise self._translate(error) from error

    def _run_blocks(self):
        progress = Progress(self.name, self.blocks)
        for number in self.shuffle(range(self.blocks)) if self.only is None else self.only:
            block = Block(number, self.grid)
            if self.program.synchronises:
                self.start(block)
                while self.advance(block):
                    pass
            else:
                self._run_plain(block)
            self.snapshot(block, -1)
            progress.done_one()
        progress.finish()

    def _run_plain(self, block):
        """A block whose threads never wait: each is one call."""
        kernel, arguments, first_thread = self.kernel, self.arguments, block.number * self.threads_per_block
        segment = self.trace.begin_segment if self.trace is not None else None
        visit = () if segment is None else (0,)
        for n in self.shuffle(range(self.threads_per_block)):
            self.current = thread = Thread(block, first_thread + n, self.places[n])
            if segment is not None:
                segment(thread.number, 0, 0, 0)
            kernel(thread, *visit, *arguments)
        self.current = None

    def start(self, block):
        """Make the threads of a block, ready to run."""
        first_thread = block.number * self.threads_per_block
        threads = [Thread(block, first_thread + n, coordinates) for n, coordinates in enumerate(self.places)]
        visit = () if self.trace is None else (0,)
        for thread in threads:
            thread.generator = self.kernel(thread, *visit, *self.arguments)
        block.threads = threads

    def advance(self, block):
        """Run a block until it ends (""), or all its threads wait for the grid ("grid"), or none can go on before
        other threads do what it waits for in a loop ("others")."""
        runnable = [t for t in block.threads if t.request is None or (t.request[0] == WAIT and not t.asleep)]
        sleepers = self.sleepers
        segment, may_wait = self.trace.begin_segment if self.trace is not None else None, self.program.waits
        while runnable:
            ended = False
            for thread in self.shuffle(runnable):
                self.current = thread
                if segment is not None:
                    first_row = len(self.trace)
                    segment(thread.number, thread.epoch, thread.warp_epoch, thread.grid_epoch)
                answer, thread.answer = thread.answer, None
                try:
                    thread.request = request = thread.generator.send(answer)
                    if may_wait and request[0] == WAIT:
                        self._give_way(thread, request)
                except StopIteration as end:
                    thread.request = None
                    if end.value is not None:
                        block.returns[thread.number] = end.value
                    thread.generator = None
                    ended = True
                if sleepers is not None:
                    sleepers.ran(thread, first_row)
            self.current = None
            if ended:
                block.threads = [t for t in block.threads if t.generator is not None]
            runnable = self.meetings.answer(block)
        if not block.threads:
            return ""
        return "others" if any(t.request[0] == WAIT for t in block.threads) else "grid"

    def _give_way(self, thread, request):
        thread.answer = True  # the loop goes on
        most = MOST_ROUNDS if self.trace is None else MOST_TRACED
        if request[2] >= most and self.budget is None:
            self._goes_on_for_ever(thread, *request[1:])

    # -- snapshots ----------------------------------------------------------------------------------------------------

    def snapshot(self, block, site, epoch=-1):
        if self.trace is None or not self.trace.with_snapshots or not block.arrays:
            return
        arrays = {a.number: a.data.copy() for a in block.arrays.values()}
        self.trace.snapshots.append(Snapshot(block.number, epoch, site, len(self.trace), arrays))


def _shuffler(order):
    """A function that puts a sequence in the order in which it is to be run."""
    if order == "forward":
        return lambda sequence: sequence
    if order == "reverse":
        return lambda sequence: list(sequence)[::-1]
    seed = int(order.partition(":")[2] or 0)
    generator = random.Random(seed)

    def shuffled(sequence):
        items = list(sequence)
        generator.shuffle(items)
        return items

    return shuffled
