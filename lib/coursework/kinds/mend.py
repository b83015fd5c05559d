"""A kernel that is handed out, broken or not: the answer is what is wrong with it, and the kernel mended.

How to define one (the call in the notebook is check("06b-bins", bins, fault=bins_fault)):

    BINS = MendTask(
        id="06b-bins", title="...", objective="Debug ...", points=2, minutes=6, hints=(...),
        spec=..., cases=(...),                      # as of every KernelTask; it fails on at least one, or is right
        handed_out=bins,                            # as it is handed out: the build writes it into the answer cell
        tried=Case("the author's launch", ...),     # on which it shows nothing
        faults=FAULTS,                              # as of a DetectiveTask; the one without kinds means right
    )

What is wrong is found by running the program, never typed. The check asks for it first, so that a kernel is not changed
here and there until it is green; a wrong word is told with a launch and a place, not with the name of the fault. A
program that is right is handed in as it is. All that the x-ray finds is told before a wrong result is: it is what the
task is about.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import ClassVar

from ..answer import AnswerFailed, Local
from ..checking import arguments_of
from ..definition import Case, refuse_unknown
from ..diagnosis import threads_per_block, total
from ..outcome import UNSOLVED, WRONG, Failed, Failure
from .data import Choice, Refused, claimed, in_words
from .kernel import COUNTS, KernelTask

_SEEN = {}  # a program does not change while a process lives
_LOOK = "X-ray it on this launch, and follow two threads through it. What do they do that its author did not think of?"
_PROVE = "Which launch would show it, and which two threads? X-ray that one."


@dataclass(frozen=True, kw_only=True)
class MendTask(KernelTask):
    """`scratch`: the places of arguments that the kernel may write to besides its output."""

    not_begun: ClassVar[str] = "Not answered yet: what is wrong with it?"
    claims: ClassVar[tuple] = ("fault",)

    handed_out: Callable
    tried: Case
    faults: tuple
    scratch: tuple = ()

    def __post_init__(self):
        super().__post_init__()
        refuse_unknown(self, "faults", [k for fault in self.faults for k in fault.kinds], self.shows())
        if sum(not fault.kinds for fault in self.faults) != 1:
            raise ValueError(f"task {self.id}: one of its faults must have no kinds: it means right")

    def failures(self):
        return (*super().failures(), "not-allowed", "verdict")

    def examine(self, answer, cases, seed):
        run = self.seen(seed)
        said, truth = self._said(answer), self.fault_of(run).name
        if said != truth:
            raise Failed(self._not_that(said, run))
        checked, *more = super().examine(answer, cases, seed)
        if run:
            self._mended(answer, seed)
        summary = f'As it was handed out: "{truth}". {in_words(run)}'
        return (summary, *checked), *more

    def _mended(self, answer, seed):
        """Raises Failed where the kernel was replaced: one thread does what many did, so that many more requests go to
        memory."""
        allowed = 2 * self._requests(Local(self.handed_out, admitted=True, printed=True), seed)
        counted = self._requests(answer, seed)
        if allowed and counted > allowed:
            facts = ((COUNTS["global_load_requests"], f"{counted}; as it was handed out: {allowed // 2}"),)
            cause = "Start again from the kernel as it was handed out, and change what is wrong with it: a line or two."
            raise Failed(Failure("replaced", "The result is right, but the task is to mend the kernel", facts, cause))

    def _requests(self, answer, seed):
        """Requests for global memory in the case of most threads; 0 where the kernel does not end, or makes none."""
        case = max(self.cases, key=lambda candidate: total(candidate.grid) * threads_per_block(candidate))
        arguments = arguments_of(case, seed, 3000)
        try:
            _, report = answer.xray(case.grid, case.block, arguments, {"global_load_requests": 0})
        except AnswerFailed:
            return 0
        return sum(e["counted"] for e in report["excess"] if e["measure"] == "global_load_requests")

    def seen(self, seed):
        """(case, Failure) of the first case on which the program fails, as it is handed out; None where it is right."""
        key = (self.id, self.handed_out, seed)
        if key not in _SEEN:
            _SEEN[key] = next(self.runs(seed), None)
        return _SEEN[key]

    def runs(self, seed, cases=None):
        """(case, Failure) of each case on which the program fails; lazily."""
        for case in self.cases if cases is None else cases:
            try:
                super().examine(Local(self.handed_out, admitted=True, printed=True), (case,), seed)
            except Failed as failed:
                yield case, failed.failure

    def fault_of(self, run):
        """The Fault that a run shows; that of a right program for None."""
        kind = run[1].kind if run else None
        for fault in self.faults:
            if kind in fault.kinds or (run is None and not fault.kinds):
                return fault
        raise LookupError(f"task {self.id}: no fault lists {kind!r}, which the program showed")

    def inputs_unchanged(self, case, arguments, after):
        kept = [x if i in self.scratch else y for i, (x, y) in enumerate(zip(arguments, after, strict=True))]
        return super().inputs_unchanged(case, arguments, kept)

    def _no_findings(self, case, report, kinds=None, exact=False):
        super()._no_findings(case, report, None, exact)

    def _said(self, answer):
        """What the student says is wrong; raises Failed where that is nothing, or no such word."""
        choice = Choice(tuple(fault.name for fault in self.faults))
        value = claimed(answer, "fault")
        if value is None or value is ...:
            facts = (("missing", "the fault, in the first line of the cell with the kernel"),)
            raise Failed(Failure("unanswered", self.not_begun, facts), UNSOLVED)
        try:
            return choice.read(value)
        except Refused as error:
            facts = (("the rule", choice.words), ("got", str(error)))
            raise Failed(Failure("not-allowed", "The fault is no such word", facts), WRONG) from None

    def _not_that(self, said, run):
        shown, lead = (in_words(run, tell=False), _LOOK) if run else ("No launch of this task shows that.", _PROVE)
        facts = (("you said", f'"{said}"'), ("as handed out", shown), ("a lead", self.advice.get("verdict", lead)))
        right = said == next(fault.name for fault in self.faults if not fault.kinds)
        head = "It is not right as it was handed out" if right else "This is not what is wrong with it"
        return Failure("verdict", head, facts)
