"""Blocks that are on the device together: where threads wait for one another by flags, locks or counters of their own,
or at a barrier of the grid.

Blocks begin one after the other, the next one when those that have begun wait, as many at once as the device holds. A
thread that goes round in a loop that may wait gives way (source/waiting.py). Where a whole turn of all threads has
changed nothing, neither memory nor any variable, no later turn will: they wait for ever.
"""

import re

from ..errors import Deadlock
from ..limits import check_cooperative, most_resident_blocks
from ..progress import Progress
from ..source.waiting import awaited
from .memory import Array, Record
from .operations import SYNC
from .threads import Block

WAIT = SYNC["wait"]
_COUNTER = re.compile(r"_[nv]\d+$|_t$")  # the engine's own variables: rounds, visits, the thread


class Residents:
    """Runs the blocks of a launch together."""

    def __init__(self, launch):
        self.launch = launch
        self.together = launch.program.grid_sync  # then all of them must be on the device
        self.most = most_resident_blocks(launch.block_shape)
        self.blocks, self.coming = [], []

    def run(self):
        launch = self.launch
        if self.together:
            check_cooperative(launch.grid, launch.block_shape)
        self.coming = list(launch.shuffle(range(launch.blocks)))[::-1]
        progress, quiet, before = Progress(launch.name, launch.blocks), 0, None
        while self.coming or self.blocks:
            if not self.blocks or (self.together and self.coming):
                self._begin()
                continue
            left = {block: launch.advance(block) for block in launch.shuffle(self.blocks)}
            ended = [block for block, waits in left.items() if not waits]
            for block in ended:
                launch.snapshot(block, -1)
                progress.done_one()
            self.blocks = [block for block in self.blocks if left[block]]
            if self.blocks and all(left[block] == "grid" for block in self.blocks) and not self.coming:
                self._pass_grid_barrier()
            elif not ended and self.coming and len(self.blocks) < self.most:
                self._begin()
            elif not ended:
                quiet += 1
                if before is not None and before == self._state():
                    self._wait_for_ever()
                before = self._state() if quiet & (quiet - 1) == 0 else None  # ever more seldom: a turn may be long
                continue
            quiet, before = 0, None
        progress.finish()

    def _begin(self):
        block = Block(self.coming.pop(), self.launch.grid)
        self.launch.start(block)
        self.blocks.append(block)

    def _pass_grid_barrier(self):
        launch, waiting = self.launch, self.blocks[0].threads[0]
        if len(self.blocks) < launch.blocks:
            launch.fault(
                Deadlock,
                f"{len(self.blocks)} of {launch.blocks} blocks wait at the grid barrier, the others have ended: "
                "every thread of the grid must reach it",
                waiting.request[1],
                waiting,
            )
        launch.meetings.release_grid(self.blocks)

    # -- waiting for ever ---------------------------------------------------------------------------------------------

    def _state(self):
        """All that a turn of the waiting threads could change: memory, and where each thread stands with what
        values."""
        arrays = [hash(a.data.tobytes()) for a in self.launch.arguments if isinstance(a, Array)]
        for block in self.blocks:
            arrays.append(None if block.memory is None else hash(block.memory.tobytes()))
            for thread in block.threads:
                arrays += [hash(a.data.tobytes()) for a in (thread.locals or {}).values()]
                arrays.append(stand(thread.generator))
        return arrays

    def _wait_for_ever(self):
        launch = self.launch
        threads = sorted((t for b in self.blocks for t in b.threads), key=lambda t: t.number)
        waiting = [t for t in threads if t.request[0] == WAIT]
        thread = waiting[0]
        site = thread.request[1]
        loop, source = launch.program.loops[site]
        wanted = awaited(loop, source, _frames(thread.generator)[-1].f_locals)
        reason = f"for `{wanted}`, which nobody sets" if wanted else "for what nobody does"
        more = []
        if len(waiting) > 1:
            more.append(
                f"so do {len(waiting) - 1} other threads in loops"
                if len(waiting) > 2
                else "so does 1 other thread in a loop"
            )
        if len(threads) > len(waiting):
            standing = next(t for t in threads if t.request[0] != WAIT)
            others = len(threads) - len(waiting)
            more.append(f"{others} thread{'s' * (others > 1)} stand at line {launch.sites[standing.request[1]].line}")
        if self.coming:
            more.append(
                f"{len(self.coming)} block{'s have' if len(self.coming) > 1 else ' has'} not begun: the device holds "
                f"{self.most} blocks of this shape at once, and a block begins when another has ended"
            )
        tail = "".join(f". {part[0].upper()}{part[1:]}" for part in more)
        line = launch.sites[site].line
        launch.finding(
            "waits-for-ever",
            f"{launch.who(thread)} waits at line {line} {reason}{tail}",
            site,
            thread,
            threads=tuple(t.number for t in waiting),
        )
        launch.fault(Deadlock, f"waits {reason}{tail}", site, thread)


def _frames(generator):
    """Of a thread's generator and of those that it waits in, the innermost last."""
    frames = []
    while generator is not None:
        frames.append(generator.gi_frame)
        generator = generator.gi_yieldfrom
    return frames


def stand(generator):
    """Where a thread stands, and what its variables hold, to be compared."""
    return [
        (f.f_lasti, [(name, _plain(v)) for name, v in f.f_locals.items() if not _COUNTER.match(name)])
        for f in _frames(generator)
    ]


def _plain(value):
    """A variable's value as something to compare; views and records that say the same are equal, and nan is itself."""
    if isinstance(value, Record):
        return _plain(value.array)
    if isinstance(value, Array):
        return value.name, value.offset, value.shape
    return tuple(map(_plain, value)) if isinstance(value, tuple) else repr(value)
