"""Where threads wait for one another: barriers of a block or the grid, and warp operations.

A thread that waits has made a ``request``: (kind, site, variant, predicate) at a barrier of the block, (kind, site) at
one of the grid, in a traced run with the visit behind them; (kind, site, name, mask, what it brings) at a warp
operation. ``answer`` says who can go on. If nobody can, that is a deadlock.
"""

import numpy as np

from ..errors import Deadlock, KernelError, NotOnAGpu, TooManyIterations
from ..limits import MOST_ROUNDS
from ..source.endless import question
from ..source.refused import not_counted, not_shuffled, not_voted
from ..source.ways import around
from ..trace import Barrier, Collective
from . import operations
from .warp import SHUFFLED, VOTED, VOTES, combine

BLOCK, WARP_OPERATION, GRID, WAIT = (operations.SYNC[kind] for kind in ("block", "warp", "grid", "wait"))


MOST_TRACED = 500_000  # barriers of all threads of a block where every access is recorded: seconds


class Meetings:
    """The barriers and warp operations of a launch."""

    def __init__(self, launch):
        self.launch, self.trace = launch, launch.trace

    def answer(self, block):
        """Answer what can be answered; returns the threads that can go on."""
        waiting = block.threads
        if self.launch.program.waits:  # those that go round in a loop may come yet
            waiting = [t for t in waiting if t.request[0] != WAIT]
        if not waiting:
            return []
        at_warp = [t for t in waiting if t.request[0] == WARP_OPERATION]
        if at_warp:
            released = self._answer_warps(block, at_warp)
            if released:
                return released
        if len(waiting) < len(block.threads):
            return []
        at_barrier = [t for t in waiting if t.request[0] == BLOCK]
        if len(at_barrier) == len(waiting):
            return self._release_block(block, waiting)
        if all(t.request[0] == GRID for t in waiting):
            return self._check_grid(block, waiting)
        return self._deadlock(block, waiting)

    # -- block barriers -----------------------------------------------------------------------------------------------

    def _release_block(self, block, threads):
        places = {_place(t) for t in threads}
        if len(places) > 1:
            self._diverged(threads)
        if len(threads) < self.launch.threads_per_block:
            self._others_ended(block, threads, "this barrier", "block")
        first = threads[0]
        most = 2 * MOST_ROUNDS if self.trace is None else MOST_TRACED
        if first.epoch * len(threads) > most and self.launch.budget is None:
            self._goes_on_for_ever(first)
        variant = first.request[2]
        if variant:
            self._check_predicates(threads)
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
            self.trace.barriers.append(Barrier(site, block.number, threads[0].epoch, len(threads), len(self.trace)))
        for thread in threads:
            thread.request = None
            thread.epoch += 1
        self.launch.snapshot(block, site, threads[0].epoch)
        return threads

    def _goes_on_for_ever(self, thread):
        site = thread.request[1]
        loops = [] if self.trace is None else self.trace.visit_path(_place(thread)[1])
        around_it = [number for number, _ in loops if self.launch.sites[number].kind == "loop"]
        reason = f"the block has passed {thread.epoch:,} barriers. "
        if around_it:
            site = max((turn, number) for number, turn in loops if number in around_it)[1]
            loop = self.launch.sites[site]
            reason += question(loop.file, loop.line)
        else:
            reason += "Does the loop around this one ever stop?"
        self.launch.fault(TooManyIterations, f"{reason} simt.budget sets another limit", site, thread)

    def _check_predicates(self, threads):
        """As numba-cuda types them: whole numbers, and a bool is none."""
        for thread in threads:
            value = thread.request[3]
            if isinstance(value, bool | np.bool_) or not isinstance(value, int | np.integer):
                reason = not_counted(f"cuda.syncthreads_{thread.request[2]}", type(value).__name__)
                self.launch.fault(NotOnAGpu, reason, thread.request[1], thread)

    def _check_values(self, name, threads):
        """What a shuffle hands over, and what a vote asks, as numba-cuda types them."""
        shuffles = name.startswith("shfl")
        allowed = SHUFFLED if shuffles else VOTED if name in VOTES else None
        for thread in threads if allowed else ():
            value = thread.request[4]
            if not isinstance(value, allowed) or (shuffles and type(value) is bool):
                reason = (not_shuffled if shuffles else not_voted)(type(value).__name__)
                self.launch.fault(NotOnAGpu, f"cuda.{name}: {reason}", thread.request[1], thread)

    def _diverged(self, threads):
        sites = {t.request[1] for t in threads}
        which = (
            "different barriers"
            if len(sites) > 1
            else "one barrier in different turns of a loop, or by different calls"
        )
        message = f"threads of one block wait at {which}:\n" + self._who_waits(threads)
        others = [t.request[1] for t in threads]
        for visit in {visit for _, visit in map(_place, threads)} if len(sites) == 1 and self.trace is not None else ():
            others += [site for site, _ in self.trace.visit_path(visit)]
        self._stop_or_note("divergent-barrier", message, threads, tuple(dict.fromkeys(others)))

    def _others_ended(self, block, threads, which, scope):
        """Threads wait at a barrier, and the others of their block have come to their end."""
        count, first_thread = self.launch.threads_per_block, block.number * self.launch.threads_per_block
        present = {t.number - first_thread for t in threads}
        example = next(n for n in range(count) if n not in present)
        coordinates = self.launch.words(self.launch.places[example][:3])
        left = block.returns.get(first_thread + example, 0)
        message = (
            f"{len(threads)} of {count} threads of block {self.launch.words(block.place)} wait at {which}, the others "
            f"have ended without it (thread {coordinates}, for one): every thread of the {scope} must reach it"
        )
        self._stop_or_note("barrier-after-exit", message, threads, left=left)

    def _stop_or_note(self, kind, message, threads, other_sites=(), left=0):
        self._note(kind, message, threads, other_sites, left)
        if self.trace is None or not self.trace.collect:
            self.launch.fault(Deadlock, message, threads[0].request[1], threads[0])

    def _note(self, kind, message, threads, other_sites, left=0):
        """The first thread stands for all of them."""
        numbers, places = tuple(t.number for t in threads), [_place(t) for t in threads]
        groups = tuple(map(places.index, places))
        visit = 0 if self.trace is None else places[0][1]
        self.launch.finding(
            kind, message, threads[0].request[1], threads[0], -1, (), numbers, other_sites, groups, visit, left
        )

    def _who_waits(self, threads):
        """One line for each place where threads wait."""
        groups = {}
        for thread in threads:
            groups.setdefault(_place(thread), []).append(thread)
        lines = []
        several = len({number for number, _ in groups}) < len(groups)
        for (number, visit), members in groups.items():
            site = self.launch.sites[number]
            shown = ", ".join(self.launch.words(t.place) for t in members[:3]) + (", ..." if len(members) > 3 else "")
            mask = ""
            if members[0].request[0] == WARP_OPERATION and members[0].request[2] != "activemask":
                mask = f" with mask 0x{int(members[0].request[3]) & 0xFFFFFFFF:08x}"
            way = self._way(visit) if several else ""
            lines.append(f"    line {site.line}: {site.text}{way}{mask} - {len(members)} threads: {shown}")
        return "\n".join(lines)

    def _way(self, visit):
        """How a thread came to a place: the calls and the turns of loops, from 0."""
        parts = []
        if self.trace is None:
            turns = visit[-1] if visit else ()
            return f" (turn {', '.join(str(n - 1) for n in turns)} of its loops)" if turns else ""
        for number, turn in self.trace.visit_path(visit):
            site = self.launch.sites[number]
            parts.append(f"turn {turn} of line {site.line}" if site.kind == "loop" else f"call on line {site.line}")
        return f" ({', '.join(parts)})" if parts else ""

    def _deadlock(self, block, threads):
        ended = self.launch.threads_per_block - len(threads)
        tail = f"\n    {ended} threads have ended" if ended else ""
        at_warp = [t for t in threads if t.request[0] == WARP_OPERATION]
        kind, what = "divergent-barrier", "barrier"
        if at_warp and not self._barrier_is_apart(threads):
            kind, what = "divergent-warp-operation", "warp operation"
            threads = [*at_warp, *(t for t in threads if t.request[0] != WARP_OPERATION)]
        message = (
            f"deadlock in block {self.launch.words(block.place)}: threads wait for others that never come to the same "
            f"{what}:\n"
        )
        message += self._who_waits(threads) + tail
        sites = tuple(dict.fromkeys(t.request[1] for t in threads))
        self._note(kind, message, threads, sites)
        self.launch.fault(Deadlock, message, threads[0].request[1], threads[0])

    def _barrier_is_apart(self, threads):
        """Whether a barrier that some wait at is what not all threads come to, rather than the warp operation that
        waits for them: it stands in a branch of some threads, and the warp operation does not."""
        guarded = {True: [], False: []}
        for number in {t.request[1] for t in threads}:
            site = self.launch.sites[number]
            guarded[site.kind == "collective"].append(any(way.divergent for way in around(site)))
        return any(guarded[False]) and not any(guarded[True])

    # -- grid barriers ------------------------------------------------------------------------------------------------

    def _check_grid(self, block, threads):
        if len(threads) < self.launch.threads_per_block:
            self._others_ended(block, threads, "the grid barrier", "grid")
        return []

    def release_grid(self, blocks):
        threads = [t for block in blocks for t in block.threads]
        if len({_place(t) for t in threads}) > 1:
            message = "threads wait at different grid barriers:\n" + self._who_waits(threads)
            self.launch.fault(Deadlock, message, threads[0].request[1], threads[0])
        if self.trace is not None:
            self.trace.barriers.append(
                Barrier(threads[0].request[1], -1, threads[0].grid_epoch, len(threads), len(self.trace))
            )
        for block in blocks:
            self.launch.snapshot(block, threads[0].request[1], block.threads[0].epoch + 1)
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
            self._complete(block, warp, name, mask, present, members)
            released.extend(members)
        return released

    def _complete(self, block, warp, name, mask, present, members):
        start = 3 if name == "activemask" else 4
        self._check_values(name, members)
        by_lane = {t.lane: t for t in members}

        def inactive(lane, source):
            self.launch.finding(
                "inactive-lane-read",
                f"{name}: lane {lane} reads from lane {source}, which takes no part: the value is undefined",
                by_lane[lane].request[1],
                by_lane[lane],
            )

        results = combine(name, {t.lane: t.request[start:] for t in members}, inactive, self.launch.unset)
        if self.trace is not None:
            linear = block.number * self.trace.warps_per_block + warp
            site = members[0].request[1]
            self.trace.collectives.append(Collective(name, site, block.number, linear, mask, present, len(self.trace)))
        for thread in members:
            thread.answer = results[thread.lane]
            thread.request = None
            if name == "syncwarp":
                thread.warp_epoch += 1

    def _outside_mask(self, thread, name, mask):
        message = f"{name} is called by lane {thread.lane}, which is not in its mask 0x{mask:08x}"
        self.launch.finding("lane-not-in-mask", message, thread.request[1], thread)
        self.launch.fault(KernelError, message, thread.request[1], thread)


def _place(thread):
    """Where a thread waits: the expression, and in a traced run the calls and turns of loops that led there."""
    kind, site, *rest = thread.request
    visit = {BLOCK: 2, GRID: 0}.get(kind, len(rest))
    visit = rest[visit] if len(rest) > visit else 0
    return site, visit if isinstance(visit, int) else (*_calls(thread.generator), visit)


def _calls(generator):
    """Without a trace: where a thread stands in each of the functions whose calls led to a barrier, and in what
    rounds."""
    while generator.gi_yieldfrom is not None:
        frame = generator.gi_frame
        yield frame.f_lasti, tuple(v for name, v in frame.f_locals.items() if name.startswith("_n"))
        generator = generator.gi_yieldfrom
