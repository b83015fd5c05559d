"""The engine: runs a lowered kernel on the CPU, one thread at a time, in an order that is the same every time.

A kernel without barriers is called once for each thread. A kernel with barriers or warp operations is a generator:
each thread runs until it yields a request, and the engine answers the requests when all threads concerned have made
theirs. If none can be answered and some thread waits, that is a deadlock, and the error says who waits where.
"""

import random
import traceback

import numpy as np

from . import operations
from .addresses import describe
from .atomics import atomic
from .errors import BudgetExceeded, Deadlock, KernelError
from .limits import MAX_CONSTANT_MEMORY, check_cooperative, check_shared
from .memory import Array, Memory
from .progress import Progress
from .threads import Block, Dim3, Thread
from .trace import WARP, Barrier, Collective, Finding, Site, Snapshot
from .traced_memory import TracedMemory
from .warp import combine

BLOCK, WARP_OPERATION, GRID = operations.SYNC["block"], operations.SYNC["warp"], operations.SYNC["grid"]


class Launch:
    """One run of a program. ``arguments`` are ``Array`` objects and scalars, ready for the kernel."""

    def __init__(self, program, name, grid, block, arguments, shared_bytes, order, trace, budget):
        self.program, self.name, self.grid, self.block_shape = program, name, grid, block
        self.arguments, self.shared_bytes, self.trace, self.budget = arguments, shared_bytes, trace, budget
        self.sites = program.sites.sites
        self.threads_per_block = block[0] * block[1] * block[2]
        self.blocks = grid[0] * grid[1] * grid[2]
        self.current = None
        self.only = None  # numbers of the blocks to run; None: all
        self.shared_layout, self.shared_used = {}, 0
        self.local_layout, self.local_used = {}, 0
        self.constants, self.constant_used = {}, 0
        self._shuffle = _shuffler(order)
        self.memory = TracedMemory(self) if trace is not None else Memory(self)
        self.kernel = program.link(self._ports())
        self.places = [
            (n % block[0], n // block[0] % block[1], n // (block[0] * block[1]), n % WARP, n // WARP)
            for n in range(self.threads_per_block)
        ]

    # -- what a lowered kernel calls ----------------------------------------------------------------------------------

    def _ports(self):
        trace, budget = self.trace, self.budget
        ports = self.memory.ports()
        block, grid = Dim3(self.block_shape), Dim3(self.grid)
        ports.update(_blockDim=block, _gridDim=grid)
        for axis, name in enumerate("xyz"):
            ports[f"_blockDim_{name}"], ports[f"_gridDim_{name}"] = block[axis], grid[axis]

        def step(thread, site):
            thread.steps += 1
            if budget is not None and thread.steps > budget:
                self._over_budget(site)
            return True

        def visit_counted(parent, site, iteration):
            step(self.current, site)
            return trace._visit(parent, site, iteration)

        def dim3(thread, which):
            place = thread if which == "threadIdx" else thread.block
            return Dim3((place.x, place.y, place.z))

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
        ports.update(
            _step=step,
            _dim3=dim3,
            _grid=grid_index,
            _gridsize=grid_size,
            _lanemask_lt=lambda: np.uint32((1 << self.current.lane) - 1),
            _shared=self.shared_array,
            _local=self.local_array,
            _constant_array=self.constant_array,
            _atomic=lambda *args: atomic(memory, *args),
            _reduce=memory.reduce,
            _view=memory.reshaped,
            _stand_in_context=memory.stand_in_context,
        )
        if trace is not None:
            ports["_visit"] = trace._visit if budget is None else visit_counted
        return ports

    def _over_budget(self, site):
        self.fault(
            BudgetExceeded,
            f"one thread has run {self.budget:,} loop iterations without an end. Does the loop ever stop?",
            site,
        )

    def shared_array(self, thread, site, shape, dtype, name):
        block = thread.block
        array = block.arrays.get(site)
        if array is not None:
            return array
        dtype = numpy_dtype(dtype)
        if block.memory is None:
            block.memory = np.full(self.shared_capacity, 0xFF, np.uint8)  # poison: nan, or -1
            block.init = bytearray(len(block.memory)) if self.trace is not None else None
        dynamic = 0 in shape
        if dynamic and len(shape) != 1:
            self.fault(
                KernelError, "a dynamic shared array has the shape 0: one axis, sized by the launch", site
            )
        if dynamic:
            shape, offset = (self.shared_bytes // dtype.itemsize,), self.dynamic_start
        elif site not in self.shared_layout:
            offset = -(-self.shared_used // 16) * 16
            used = offset + int(np.prod(shape)) * dtype.itemsize
            check_shared(used, self.shared_bytes, name)
            self.shared_layout[site], self.shared_used = offset, used
        else:
            offset = self.shared_layout[site]
        data = np.ndarray(shape, dtype, block.memory.data, offset)
        number, init = -1, None
        if self.trace is not None:
            number = self._register("shared", name, data, offset, site)
            init = memoryview(block.init)[offset : offset + data.nbytes]
        array = block.arrays[site] = Array(data, name, "shared", number, init=init)
        return array

    # Static arrays grow from the start, dynamic memory lies behind the largest possible static part.
    dynamic_start = property(lambda self: self.shared_capacity - self.shared_bytes)
    shared_capacity = property(lambda self: 48 * 1024 + self.shared_bytes)

    def local_array(self, thread, site, shape, dtype, name):
        if thread.locals is None:
            thread.locals = {}
        array = thread.locals.get(site)
        if array is None:
            dtype = numpy_dtype(dtype)
            size = int(np.prod(shape)) * dtype.itemsize
            if site not in self.local_layout:
                offset = -(-self.local_used // 16) * 16
                self.local_layout[site], self.local_used = offset, offset + size
            data = np.full(size, 0xFF, np.uint8).view(dtype).reshape(shape)
            traced = self.trace is not None
            number = self._register("local", name, data, self.local_layout[site], site) if traced else -1
            init = bytearray(size) if traced else None
            array = thread.locals[site] = Array(data, name, "local", number, init=init)
        return array

    def constant_array(self, values, name):
        array = self.constants.get(id(values))
        if array is None:
            if self.constant_used + values.nbytes > MAX_CONSTANT_MEMORY:
                self.fault(
                    KernelError,
                    f"constant memory holds {MAX_CONSTANT_MEMORY} bytes; {name!r} does not fit",
                    None,
                )
            number = -1
            if self.trace is not None:
                number = self._register("const", name, values, self.constant_used, id(values))
            self.constant_used += -(-values.nbytes // 256) * 256
            array = self.constants[id(values)] = Array(values, name, "const", number, readonly=True)
        return array

    def _register(self, space, name, data, base, key):
        """Number of a shared, local or constant array in the trace: one for each place where it is made."""
        numbers = self.trace._numbers
        if (space, key) not in numbers:
            numbers[space, key] = len(self.trace.arrays)
            array = Array(data, name, space)
            self.trace.arrays.append(describe(array, base, key if space != "const" else -1))
        return numbers[space, key]

    # -- reporting ----------------------------------------------------------------------------------------------------

    def fault(self, kind, reason, site):
        """Stop the launch: raise an error that names the line, the thread and the block."""
        place = self.sites[site] if isinstance(site, int) else site
        thread = self.current
        raise kind(
            reason,
            site=place,
            kernel=self.name,
            thread=thread.place if thread else None,
            block=thread.block.place if thread else None,
        )

    def finding(self, kind, message, site, array=-1, index=(), threads=(), other_sites=(), block=None):
        """Note in the trace what went wrong. Without a trace, nothing."""
        if self.trace is None:
            return
        thread = self.current
        number = thread.number if thread else -1
        where = block.number if block else thread.block.number if thread else -1
        self.trace.findings.append(
            Finding(kind, message, site, number, where, array, index, other_sites, threads, len(self.trace))
        )

    def _translate(self, error):
        """An exception of Python inside the kernel, as an error that names the kernel's line."""
        frames = [f for f in traceback.extract_tb(error.__traceback__) if f.name.startswith("lowered_")]
        site = None
        if frames:
            frame = frames[-1]
            column, end = frame.colno or 0, frame.end_colno or 0
            text = (frame._line if hasattr(frame, "_line") else None) or frame.line or ""
            site = Site(frame.filename, frame.lineno, column, frame.end_lineno, end, text, self.name, "error")
        if isinstance(error, RecursionError):
            reason = "a device function calls itself too deeply"
        else:
            reason = f"{type(error).__name__}: {error}"
        thread = self.current
        return KernelError(
            reason,
            site=site,
            kernel=self.name,
            thread=thread.place if thread else None,
            block=thread.block.place if thread else None,
        )

    # -- running ------------------------------------------------------------------------------------------------------

    def run(self):
        """Run all threads of all blocks."""
        try:
            with np.errstate(all="ignore"):
                if self.program.grid_sync:
                    check_cooperative(self.grid, self.block_shape)
                    self._run_together()
                else:
                    self._run_blocks()
        except (KernelError, MemoryError):
            raise
        except RuntimeError as error:
            if type(error).__module__.startswith(__package__):
                raise
            raise self._translate(error) from error
        except Exception as error:
            raise self._translate(error) from error

    def _run_blocks(self):
        progress = Progress(self.name, self.blocks)
        for number in self._shuffle(range(self.blocks)) if self.only is None else self.only:
            block = Block(number, self.grid)
            if self.program.synchronises:
                self._start(block)
                while self._advance(block):
                    pass
            else:
                self._run_plain(block)
            self._snapshot(block, -1)
            progress.done_one()
        progress.finish()

    def _run_plain(self, block):
        """A block whose threads never wait: each is one call."""
        kernel, arguments, first = self.kernel, self.arguments, block.number * self.threads_per_block
        segment = self.trace._segment if self.trace is not None else None
        visit = () if segment is None else (0,)
        for n in self._shuffle(range(self.threads_per_block)):
            self.current = thread = Thread(block, first + n, self.places[n])
            if segment is not None:
                segment(thread.number, 0, 0, 0)
            kernel(thread, *visit, *arguments)
        self.current = None

    def _run_together(self):
        """All blocks at once, for a kernel with grid barriers."""
        blocks = [Block(n, self.grid) for n in range(self.blocks)]
        for block in blocks:
            self._start(block)
        alive = blocks
        while alive:
            still = []
            for block in self._shuffle(alive):
                if self._advance(block):
                    still.append(block)
                else:
                    self._snapshot(block, -1)
            if still and len(still) < len(alive):
                waiting = still[0].threads[0]
                self.current = waiting
                self.fault(
                    Deadlock,
                    f"{len(still)} of {len(alive)} blocks wait at the grid barrier, the others have ended: "
                    "every thread of the grid must reach it",
                    waiting.request[1],
                )
            if still:
                self._release_grid(still)
            alive = still

    def _start(self, block):
        first = block.number * self.threads_per_block
        threads = [Thread(block, first + n, place) for n, place in enumerate(self.places)]
        visit = () if self.trace is None else (0,)
        for thread in threads:
            thread.generator = self.kernel(thread, *visit, *self.arguments)
        block.threads = threads

    def _advance(self, block):
        """Run a block until it ends (False) or all its threads wait for the grid (True)."""
        runnable = [t for t in block.threads if t.request is None]
        segment = self.trace._segment if self.trace is not None else None
        while runnable:
            ended = False
            for thread in self._shuffle(runnable):
                self.current = thread
                if segment is not None:
                    segment(thread.number, thread.epoch, thread.warp_epoch, thread.grid_epoch)
                answer, thread.answer = thread.answer, None
                try:
                    thread.request = thread.generator.send(answer)
                except StopIteration:
                    thread.request = None
                    thread.generator = None
                    ended = True
            self.current = None
            if ended:
                block.threads = [t for t in block.threads if t.generator is not None]
            runnable = self._answer(block)
        return bool(block.threads)

    def _answer(self, block):
        """Answer what can be answered; returns the threads that can go on."""
        waiting = block.threads
        if not waiting:
            return []
        at_warp = [t for t in waiting if t.request[0] == WARP_OPERATION]
        if at_warp:
            released = self._answer_warps(block, at_warp)
            if released:
                return released
        at_barrier = [t for t in waiting if t.request[0] == BLOCK]
        if len(at_barrier) == len(waiting):
            return self._release_block(block, waiting)
        if all(t.request[0] == GRID for t in waiting):
            return self._check_grid(block, waiting)
        return self._deadlock(block, waiting)

    # -- block barriers -----------------------------------------------------------------------------------------------

    def _release_block(self, block, threads):
        sites = {t.request[1] for t in threads}
        missing = self.threads_per_block - len(threads)
        if len(sites) > 1:
            self._diverged(block, threads)
        if missing:
            present = {t.number - block.number * self.threads_per_block for t in threads}
            example = next(n for n in range(self.threads_per_block) if n not in present)
            self.current = threads[0]
            site = threads[0].request[1]
            self._stop_or_note(
                "barrier-after-exit",
                f"{len(threads)} of {self.threads_per_block} threads of block {block.place} wait at this barrier, the others "
                f"have returned (thread {self.places[example][:3]}, for one): every thread of the block must reach it",
                site,
                block,
                threads,
            )
            self.current = None
        variant = threads[0].request[2]
        if variant:
            predicates = [bool(t.request[3]) for t in threads]
            result = {
                "count": np.int32(sum(predicates)),
                "and": np.int32(all(predicates)),
                "or": np.int32(any(predicates)),
            }
            for thread in threads:
                thread.answer = result[variant]
        site = threads[0].request[1]
        if self.trace is not None:
            self.trace.barriers.append(
                Barrier(site, block.number, threads[0].epoch, len(threads), len(self.trace))
            )
        for thread in threads:
            thread.request = None
            thread.epoch += 1
        self._snapshot(block, site, threads[0].epoch)
        return threads

    def _diverged(self, block, threads):
        groups = {}
        for thread in threads:
            groups.setdefault(thread.request[1], []).append(thread)
        self.current = threads[0]
        self._stop_or_note(
            "divergent-barrier",
            "threads of one block wait at different barriers:\n" + self._who_waits(threads),
            threads[0].request[1],
            block,
            threads,
            tuple(groups),
        )
        self.current = None

    def _stop_or_note(self, kind, message, site, block, threads, other_sites=()):
        numbers = tuple(t.number for t in threads)
        self.finding(kind, message, site, threads=numbers, other_sites=other_sites, block=block)
        if self.trace is None or not self.trace.collect:
            self.fault(Deadlock, message, site)

    def _who_waits(self, threads):
        """One line for each place where threads wait."""
        groups = {}
        for thread in threads:
            groups.setdefault(thread.request[1], []).append(thread)
        lines = []
        for number, members in groups.items():
            site = self.sites[number]
            shown = ", ".join(str(t.place) for t in members[:3]) + (", ..." if len(members) > 3 else "")
            mask = ""
            if members[0].request[0] == WARP_OPERATION and members[0].request[2] != "activemask":
                mask = f" with mask 0x{int(members[0].request[3]) & 0xFFFFFFFF:08x}"
            lines.append(f"    line {site.line}: {site.text}{mask} - {len(members)} threads: {shown}")
        return "\n".join(lines)

    def _deadlock(self, block, threads):
        ended = self.threads_per_block - len(threads)
        tail = f"\n    {ended} threads have returned" if ended else ""
        self.current = threads[0]
        kinds = {t.request[0] for t in threads}
        what = "warp operation" if kinds == {WARP_OPERATION} else "barrier"
        message = (
            f"deadlock in block {block.place}: threads wait for others that never come to the same {what}:\n"
        )
        message += self._who_waits(threads) + tail
        sites = tuple(dict.fromkeys(t.request[1] for t in threads))
        kind = "divergent-barrier" if what == "barrier" else "divergent-warp-operation"
        numbers = tuple(t.number for t in threads)
        self.finding(kind, message, threads[0].request[1], threads=numbers, other_sites=sites, block=block)
        self.fault(Deadlock, message, threads[0].request[1])

    # -- grid barriers ------------------------------------------------------------------------------------------------

    def _check_grid(self, block, threads):
        if len(threads) < self.threads_per_block:
            self.current = threads[0]
            self._stop_or_note(
                "barrier-after-exit",
                f"{len(threads)} of {self.threads_per_block} threads of block {block.place} wait at the grid barrier, the "
                "others have returned: every thread of the grid must reach it",
                threads[0].request[1],
                block,
                threads,
            )
            self.current = None
        return []

    def _release_grid(self, blocks):
        threads = [t for block in blocks for t in block.threads]
        if len({t.request[1] for t in threads}) > 1:
            self.current = threads[0]
            self.fault(
                Deadlock,
                "threads wait at different grid barriers:\n" + self._who_waits(threads),
                threads[0].request[1],
            )
        if self.trace is not None:
            self.trace.barriers.append(
                Barrier(threads[0].request[1], -1, threads[0].grid_epoch, len(threads), len(self.trace))
            )
        for block in blocks:
            self._snapshot(block, threads[0].request[1], block.threads[0].epoch + 1)
        for thread in threads:
            thread.request = None
            thread.grid_epoch += 1
            thread.epoch += 1

    # -- warp operations ----------------------------------------------------------------------------------------------

    def _answer_warps(self, block, threads):
        """Complete every warp operation whose lanes are all there."""
        groups = {}
        for thread in threads:
            request = thread.request
            if request[2] == "activemask":
                key = thread.warp, "activemask", request[1], request[3:]
            else:
                key = thread.warp, request[2], int(request[3]) & 0xFFFFFFFF
            groups.setdefault(key, []).append(thread)
        alive = {}
        for thread in block.threads:
            alive[thread.warp] = alive.get(thread.warp, 0) | 1 << thread.lane
        released = []
        for (warp, name, mask, *_), members in groups.items():
            present = sum(1 << t.lane for t in members)
            if name == "activemask":
                mask = present
            for thread in members:
                if not mask >> thread.lane & 1:
                    self._outside_mask(thread, name, mask)
            if mask & alive[warp] & ~present:
                continue
            if mask & ~alive[warp]:
                self._names_exited(block, members[0], name, mask & ~alive[warp], mask)
            self._complete(block, warp, name, mask, present, members)
            released.extend(members)
        return released

    def _complete(self, block, warp, name, mask, present, members):
        start = 3 if name == "activemask" else 4
        by_lane = {t.lane: t for t in members}

        def inactive(lane, source):
            self.current = by_lane[lane]
            self.finding(
                "inactive-lane-read",
                f"{name}: lane {lane} reads from lane {source}, which takes no part: the value is undefined",
                by_lane[lane].request[1],
            )

        results = combine(name, {t.lane: t.request[start:] for t in members}, inactive)
        if self.trace is not None:
            linear = block.number * self.trace.warps_per_block + warp
            site = members[0].request[1]
            self.trace.collectives.append(
                Collective(name, site, block.number, linear, mask, present, len(self.trace))
            )
        for thread in members:
            thread.answer = results[thread.lane]
            thread.request = None
            if name == "syncwarp":
                thread.warp_epoch += 1
        self.current = None

    def _outside_mask(self, thread, name, mask):
        self.current = thread
        message = f"{name} is called by lane {thread.lane}, which is not in its mask 0x{mask:08x}"
        self.finding("lane-not-in-mask", message, thread.request[1])
        self.fault(KernelError, message, thread.request[1])

    def _names_exited(self, block, thread, name, missing, mask):
        if self.trace is None or name == "syncwarp":  # which waits only for the lanes that are there
            return
        lanes = [lane for lane in range(WARP) if missing >> lane & 1]
        exist = self.threads_per_block - thread.warp * WARP
        reason = "do not exist" if lanes[0] >= exist else "have returned"
        self.current = thread
        self.finding(
            "mask-names-exited-lane",
            f"{name}: the mask 0x{mask:08x} names lanes {lanes[0]}-{lanes[-1]}, which {reason}",
            thread.request[1],
            block=block,
        )
        self.current = None

    # -- snapshots ----------------------------------------------------------------------------------------------------

    def _snapshot(self, block, site, epoch=-1):
        if self.trace is None or not self.trace.with_snapshots or not block.arrays:
            return
        arrays = {a.number: a.data.copy() for a in block.arrays.values()}
        self.trace.snapshots.append(Snapshot(block.number, epoch, site, len(self.trace), arrays))


def numpy_dtype(dtype):
    """The NumPy dtype of what a kernel gives as dtype: a numba type, a NumPy type, or an array's dtype."""
    if isinstance(dtype, np.dtype):
        return dtype
    if isinstance(dtype, type) and issubclass(dtype, np.generic):
        return np.dtype(dtype)
    from numba.np.numpy_support import as_dtype

    return as_dtype(dtype)


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
