"""Some programs of which one (or more) is right: the answer is a verdict on each.

How to define one. A task of another kind, the `judge`, says what right is and what can be found; what is true of a
program is found by running it on the judge's cases, never typed:

    VERDICTS = DetectiveTask(
        id="08-verdicts", title="...", objective="Judge ...", points=4, minutes=15, hints=(...),
        judge=TILED_SMALL,                        # KernelTask(..., cases=(...)): small cases, at least one for each
                                                  fault
        programs={"A": unguarded, "B": swapped, "C": two_swaps, "D": one_barrier},
        faults=(
            Fault("right", "gives a @ b for every shape"),
            Fault("race", "threads meet in shared memory", ("race",)),
            Fault("outside", "reads outside of a matrix", ("out-of-bounds", "negative-index")),
            Fault("wrong element", "multiplies the wrong elements", ("suspect", "wrong-value", "transposed")),
        ),
    )

A Fault lists the kinds of failure (those of `judge.shows()`) by which a run shows it; the one without any means right.
A program may show one fault only: tests/coursework/test_detective.py runs every program of every such task on every
case. In the notebook: the sources in the statement, a cell `verdicts = {"A": ..., "B": ..., "C": ..., "D": ...}`,
`check("08-verdicts", verdicts)`.

All verdicts together earn the points: one that was guessed earns nothing by itself. A wrong answer is told how many are
right, and what a run of one program shows: threads and elements, not the name of the fault.
"""

import zlib
from dataclasses import dataclass

from ..definition import Task, refuse_unknown
from ..outcome import Failed, Failure
from .data import Choice, DataTask, in_words, outcome_of

_SEEN = {}  # the programs do not change while a process lives: a class is graded with one run of each


@dataclass(frozen=True)
class Fault:
    """What can be said of a program. `kinds`: the failures by which a run shows it; none: that it is right."""

    name: str
    text: str
    kinds: tuple = ()


@dataclass(frozen=True, kw_only=True)
class DetectiveTask(DataTask):
    """The answer: {name of a program: name of a fault}. `nothing`: said of a program whose runs show no fault."""

    judge: Task
    programs: dict
    faults: tuple
    run: str = "launch"  # what a case of the judge is called
    nothing: str = ""  # what is said of a program that shows no fault; default: no run shows one
    #: what is said in place of a run of a program whose verdict is wrong: where a run, or that none shows it, tells all
    told: str = ""

    def __post_init__(self):
        super().__post_init__()
        refuse_unknown(self, "faults", [k for fault in self.faults for k in fault.kinds], self.judge.shows())
        if sum(not fault.kinds for fault in self.faults) != 1:
            raise ValueError(f"task {self.id}: one of its faults must have no kinds: it means right")

    def failures(self):
        return (*super().failures(), "verdict")

    def examine(self, answer, cases, seed):
        choice = Choice(tuple(fault.name for fault in self.faults))
        verdicts = self.read(self.given(answer), dict.fromkeys(self.programs, choice)) or {}
        missing = [name for name in self.programs if verdicts.get(name) is None]
        if missing:
            self.unanswered(missing)
        seen = self.seen(seed)
        wrong = [name for name in self.programs if verdicts[name] != self.fault_of(seen[name]).name]
        if wrong:
            raise Failed(self._told(verdicts, seen, wrong))
        nothing = self.nothing or (in_words(None) if self.run == "launch" else f"No {self.run} shows a fault of it.")
        checked = [
            f"{name}, {verdicts[name]}. {in_words(seen[name]) if seen[name] else nothing}" for name in self.programs
        ]
        runs = len(self.judge.cases)
        how = f" on up to {runs} {self.run}{'es' if self.run == 'launch' else 's'}" if runs > 1 else ""
        return (f"Found by running each{how}.", *checked), ""

    def seen(self, seed):
        """{name of a program: (case, Failure) of the first launch on which it fails, or None}."""
        key = (self.judge.id, seed, tuple(self.programs.values()))
        if key not in _SEEN:
            _SEEN[key] = {name: next(self.runs(program, seed), None) for name, program in self.programs.items()}
        return _SEEN[key]

    def runs(self, program, seed):
        """(case, Failure) of each launch on which a program fails; lazily, as one is enough to know its fault."""
        for case in self.judge.cases:
            failure = outcome_of(self.judge, program, case, seed)
            if failure:
                yield case, failure

    def fault_of(self, run):
        """The Fault that a run shows; that of a right program for None."""
        kind = run[1].kind if run else None
        for fault in self.faults:
            if kind in fault.kinds or (run is None and not fault.kinds):
                return fault
        raise LookupError(f"task {self.id}: no fault lists {kind!r}, which a program showed")

    def _told(self, verdicts, seen, wrong):
        """What is said of a wrong answer: how many verdicts are right, and one run. Which one depends on all the
        verdicts. Who tries one word after the other still comes to an end, by some two checks a program."""
        failing = [name for name in wrong if seen[name]] or wrong
        name = failing[zlib.crc32(repr(verdicts).encode()) % len(failing)]
        count = f"{len(verdicts) - len(wrong)} of {len(verdicts)} verdicts are right"
        run = in_words(seen[name], tell=False) if seen[name] else f"No {self.run} of this task shows that."
        run = self.told or run
        facts = [("not right", f'{name}: "{verdicts[name]}"'), ("a run of it", run)]
        facts += [("a lead", self.advice.get("verdict", _LOOK))]
        table = seen[name][1].picture.get("table") if seen[name] else None
        return Failure("verdict", count, tuple(facts), picture={"table": table} if table else {})


_LOOK = "Work this launch out line by line for what is named here. Where does the program do what you did not expect?"
