"""A CUDA kernel: run in the executor, compared with a specification, its traffic counted by the x-ray."""

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import ClassVar

import numpy as np

from simt import show
from simt.limits import dimensions

from .. import diagnosis
from ..checking import arguments_of, attempt, headline
from ..definition import Budget, Over, refuse_unknown
from ..outcome import Failed, Failure
from .arrays import ArrayTask

# What the x-ray finds. A finding's own cure stands in the place of advice.
WRONG_ACCESS = ("out-of-bounds", "negative-index")
ENDS = (*WRONG_ACCESS, "lane-not-in-mask")  # these end a run, and make any comparison of results pointless
FINDINGS = (
    *WRONG_ACCESS,
    "race",
    "atomic-against-plain",
    "uninitialised-shared",
    "uninitialised-local",
    "uninitialised-variable",
    "uninitialised-global",
    "unfinished-copy",
    "divergent-barrier",
    "barrier-after-exit",
    "lane-not-in-mask",
    "inactive-lane-read",
    "divergent-warp-operation",
    "waits-for-ever",
)
_EACH = "sectors_per_request bank_ways bank_ways_mean contention addresses_per_request efficiency active_lanes"
_SUMS = """
    requests accesses sectors bytes_moved bytes_used bytes_loaded bytes_stored wavefronts bank_conflicts atomics
    barriers grid_barriers races findings shared_bytes shared_bytes_used shared_wavefronts
    local_requests local_sectors const_requests
"""
_SPLIT = [f"global_{kind}_{what}" for kind in ("load", "store", "atomic") for what in ("requests", "sectors")]
_SPLIT += [f"shared_{kind}_requests" for kind in ("load", "store", "atomic")]
# What the x-ray counts, and its words in a message where the name does not speak for itself.
COUNTS = {name: name for name in (*_EACH.split(), *_SUMS.split(), *_SPLIT)} | {
    "sectors_per_request": "sectors per request",
    "bank_ways": "ways of the worst bank conflict",
    "bytes_loaded": "bytes loaded",
    "bytes_stored": "bytes stored",
    "global_load_requests": "load requests to global memory",
    "shared_load_requests": "load requests to shared memory",
    "global_store_requests": "store requests to global memory",
    "shared_store_requests": "store requests to shared memory",
    "barriers": "barriers in a block",
    "atomics": "atomic operations",
    "active_lanes": "lanes of a warp that work together, at least",
}

# A load that is written as an atomic, or made by one lane at a time, is no cheaper for it.
_ATOMIC = (
    "An atomic operation reads and writes memory, too, and others wait for it. This result needs none: plain loads and "
    "stores are what the budget is about."
)
_LANES = (
    "While one lane of a warp works, the other 31 wait. Let all lanes go to memory in the same instruction, each to "
    "its own element."
)
_DEARER = {
    "atomics": (lambda over: any(o.name == "atomics" for o in over), _ATOMIC),
    "active_lanes": (lambda over: any(o.name == "active_lanes" for o in over), _LANES),
}
_TWO_WRITERS = (
    "Some elements have two threads and others none, so the index is not a different one for each thread. Write it "
    "down for thread 0 of blocks 0, 1 and 2: by how much should it grow from block to block?"
)
_ONE_BLOCK = (
    "All threads of the block use the same index, or some of them do. Write it down for threads 0, 1 and 2: which of "
    "the numbers in it differ from thread to thread?"
)
_STORED_TWICE = (
    "Two threads store to this place, and the last one wins. Which element belongs to a thread, and does its store "
    "have an index for each axis of the array?"
)


@dataclass(frozen=True, kw_only=True)
class KernelTask(ArrayTask):
    """A case gives the launch: `grid` and `block`.

    `tell_first`: findings of the x-ray that explain a wrong result better than the result does. `kept`: what a kernel
    that is repaired must still do, as counts; not graded by itself.
    """

    on_device: ClassVar[bool] = True

    writer: Callable | None = None  # (index, case) -> (block, thread); default: one element per thread in a row
    tell_first: tuple = ()
    kept: Budget | None = None

    def __post_init__(self):
        super().__post_init__()
        refuse_unknown(self, "tell_first", self.tell_first, FINDINGS)
        if self.budget is not None:
            about = " ".join(self.budget.require)
            none = {} if "atomic" in about or not ("load" in about or "sectors" in about) else {"atomics": 0}
            counted = replace(self.budget, require=none | self.budget.require, causes=self._causes())
            object.__setattr__(self, "budget", counted)

    def _causes(self):
        """Those of the budget; a task that itself limits atomics or asks for lanes knows better what to say of them."""
        budget_causes = self.budget.causes
        if any(cause in budget_causes for cause in _DEARER.values()):
            return budget_causes  # of a copy of a task
        unsaid = [cause for name, cause in _DEARER.items() if name not in self.budget.require]
        said = [cause for cause in _DEARER.values() if cause not in unsaid]
        return (*unsaid, *budget_causes, *said)

    def failures(self):
        """`none-beyond`: an index outside where no thread is beyond the end, so that no guard is missing.
        `gaps-in-one-block`: some-unwritten where there is one block, so that its number cannot be missing."""
        return (
            *super().failures(),
            *diagnosis.LAUNCH_KINDS,
            *FINDINGS,
            "two-writers",
            "replaced",
            "none-beyond",
            "gaps-in-one-block",
        )

    def counts(self):
        return COUNTS

    def only_cases(self):
        return self.kept is None

    def examine(self, answer, cases, seed):
        drawn = None
        for index, case in enumerate(cases):
            arguments = arguments_of(case, seed, index)
            report = self._run(answer, case, arguments)
            if drawn is None and _exact(case, arguments[self.out]):  # a budget is about full warps, too
                drawn = report["map"]
        if self.kept:
            self._still(answer, self.kept, seed)
        said = (*self.said(cases, seed), "No data race, no access outside an array.")
        return said, "Memory traffic and speed were not looked at.", report["map"] if drawn is None else drawn

    def _still(self, answer, kept, seed):
        over = self._run(answer, kept.case, arguments_of(kept.case, seed, 3000), kept.require)["excess"]
        if over:
            words = self.counts()
            facts = tuple((words[e["measure"]], f"{e['counted']}, not {e['allowed']}") for e in over)
            raise Failed(Failure("replaced", "The result is right, but the task is to repair", facts, kept.over))

    def overspent(self, answer, case, arguments):
        report = self._run(answer, case, arguments, self.budget.require)
        over = [
            Over(e["measure"], e["counted"], e["allowed"], _where(e), e["kind"], e["step"]) for e in report["excess"]
        ]
        return over, report["picture"]

    def look(self, answer):
        case = self.cases[0]
        _, report = answer.xray(case.grid, case.block, arguments_of(case, self.seed, 0))
        return f"case {case.name!r}: what one warp does", report["map"], [f["message"] for f in report["findings"]]

    def _run(self, answer, case, arguments, require=None):
        """The x-ray's report of a run that is right; raises Failed for any other. Races are told after the result."""
        after, report = attempt(self, case, lambda: answer.xray(case.grid, case.block, arguments, require))
        self._no_findings(case, report, ENDS + self.tell_first, _exact(case, arguments[self.out]))
        try:
            self.compare(case, arguments, after, again=lambda a: answer.xray(case.grid, case.block, a)[0])
        except Failed as failed:
            raise Failed(self._with_second_writer(failed.failure, report, case)) from None
        self._no_findings(case, report)
        return report

    def _with_second_writer(self, failure, report, case):
        """Where elements have no thread, others may have two: a race then says more than the gap, or than a number."""
        twice = [f for f in report["findings"] if f["kind"] == "race"]
        gaps = failure.kind in ("tail", "head", "some-unwritten")
        if not twice or (not gaps and failure.kind not in ("wrong-value", "constant", "precision")):
            return failure
        facts = (*failure.facts, ("and", twice[0]["message"]))
        if failure.kind in self.advice:
            return replace(failure, facts=facts)
        gap = _ONE_BLOCK if diagnosis.total(case.grid) == 1 else _TWO_WRITERS
        cause = self.advice.get("two-writers", gap if gaps else _STORED_TWICE)
        return replace(failure, kind="two-writers", facts=facts, cause=cause)

    def _no_findings(self, case, report, kinds=None, exact=False):
        """Raises Failed for what the x-ray found. `exact`: there are as many threads as elements."""
        for finding in report["findings"]:
            if kinds and (finding["kind"] not in kinds or finding["scope"] == "grid"):
                continue  # blocks that store the same elements: the wrong result says more
            facts = [("it said", finding["message"]), ("at", finding["text"]), ("happened in", _who(finding, case))]
            facts = [fact for fact in facts if fact[1]]
            cause = self.advice.get(finding["kind"], finding["cure"])
            if exact and finding["kind"] in WRONG_ACCESS:
                cause = self.advice.get("none-beyond", cause)
            said = f"{headline(case)} {finding['kind'].replace('-', ' ')}"
            raise Failed(Failure(finding["kind"], said, tuple(facts), cause, finding.get("picture", {})))

    def _mismatch(self, case, arguments, comparison):
        failure = super()._mismatch(case, arguments, comparison)
        if failure.kind != "some-unwritten" or diagnosis.total(case.grid) > 1:
            return failure
        return replace(failure, cause=self.advice.get("gaps-in-one-block", failure.cause))

    def owner(self, case, index, shape):
        """Which thread of which block should have written the element."""
        if self.writer:
            block, thread = self.writer(index, case)
            return f"thread {thread} of block {block}"
        linear = int(np.ravel_multi_index(index, shape))
        threads, blocks = diagnosis.threads_per_block(case), diagnosis.total(case.grid)
        turn, position = divmod(linear, threads * blocks)
        block, thread = divmod(position, threads)
        again = f", in round {turn + 1} of its loop" if turn else ""
        return f"thread {thread} of block {block} ({block} * {threads} + {thread} = {position}){again}"

    def threads_shown(self, case, state):
        return diagnosis.threads_per_block(case) if state.ndim == 1 else 0


def _exact(case, out):
    """Whether there are as many threads as elements."""
    return diagnosis.total(case.grid) * diagnosis.threads_per_block(case) == np.size(out)


def _where(excess):
    return f", at `{excess['text']}`" if excess["text"] else ""


def _who(finding, case):
    """The threads of a finding, the first two of them, in words."""
    shapes = dimensions(case.block, "blockdim"), dimensions(case.grid, "griddim")
    said = [show.who(t["thread"], t["block"], *shapes) for t in finding["threads"][:2]]
    more = len(finding["threads"]) - 2
    return " and ".join(said) + (f" and {more} more" if more > 0 else "")
