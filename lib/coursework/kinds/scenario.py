"""Plain Python that the course's own scenario calls and observes: fake clocks, counted calls."""

import importlib
from collections.abc import Callable
from dataclasses import dataclass, field
from types import CodeType, FunctionType
from typing import ClassVar

from ..checking import arguments_of, attempt, headline, names_of
from ..definition import Over, Task
from ..judging import judged, short
from ..outcome import UNSOLVED, Failed, Failure

RULES = {
    "NotAdmitted": "An answer here is functions and classes of plain Python that use threading, queue, time, math, "
    "NumPy and each other: no files, no imports inside, nothing that leads out of its own objects.",
    "UnboundLocalError": "A name that is assigned in a function is local to it, and has no value before. Is `self.` "
    "missing?",
    "RuntimeError": "A lock was released, or waited for, by a thread that does not hold it. `with` takes and releases "
    "it by itself; `acquire(blocking=False)` may not get it.",
    "AttributeError": "An object has no such attribute. Is it set in `__init__`, and spelt alike everywhere?",
    **{name: Task.causes[name] for name in ("NameError", "TimeLimit")},
}


@dataclass(frozen=True, kw_only=True)
class ScenarioTask(Task):
    """`scenario(answer, *arguments)` runs the student's function or class and returns plain data, or events.Played.

    It is a function of the module of tasks: in grading it runs where the answer runs, in the clean process. Arguments
    are plain data. The result is compared with `spec(*arguments)`, or `judge(arguments, result)` returns None or a
    Slip. `without` maps names that would spoil the exercise to why (plain_python.refuse_what_spoils). The budget's
    `require` names counts of events.Played; the most over all schedules counts.
    """

    causes: ClassVar[dict] = Task.causes | RULES
    # How playing.play runs it; thread.py has more to say.
    threaded: ClassVar[bool] = False
    allow_busy_waiting = True

    scenario: Callable
    cases: tuple
    spec: Callable | None = None
    judge: Callable | None = None
    without: dict = field(default_factory=dict)
    lines: int = 150_000  # of one run: a limit that right answers do not reach

    def __post_init__(self):
        super().__post_init__()
        importlib.import_module("coursework.playing")  # later, the grader's guard would take it for a break-in
        if (self.spec is None) == (self.judge is None):
            raise ValueError(f"task {self.id}: give either spec or judge")

    def failures(self):
        """A judge's slips bring their own words."""
        of_explore = (
            "deadlock",
            "deadlock-full",
            "livelock",
            "endless",
            "blocked",
            "lock-not-released",
            "lost-update",
            "busy-waiting",
        )
        return (*super().failures(), *of_explore, "wrong-result", "type")

    def shows(self):
        """A slip's kind is one of the texts in its judge."""
        return (*self.failures(), *(texts_of(self.judge) if self.judge else ()))

    def counts(self):
        """The scenario counts by name, so every text in it may be the name of a count."""
        return {text: text for text in texts_of(self.scenario)}

    def exploration(self):
        """Options of cpulab.explore."""
        return {"schedules": 1, "ticks": self.lines}

    def examine(self, answer, cases, seed):
        for index, case in enumerate(cases):
            self._play(answer, case, arguments_of(case, seed, index))
        return (names_of(self, cases),), ""

    def overspent(self, answer, case, arguments):
        counts = self._play(answer, case, arguments)["counts"]
        limits = self.budget.require.items()
        return [Over(name, counts.get(name, 0), limit) for name, limit in limits if counts.get(name, 0) > limit], {}

    def _play(self, answer, case, arguments):
        """What answer.play says of a right answer; raises Failed for any other."""
        played = attempt(self, case, lambda: answer.play(self, arguments))
        self._no_finding(case, played)
        self._right(headline(case), arguments, played["result"])  # the grader's own look at what came back
        return played

    def _no_finding(self, case, played):
        finding = played["finding"]
        if finding is None:
            return
        kind, name, facts = finding["kind"], finding["name"], [tuple(map(str, f)) for f in finding["facts"]]
        if name == "NotImplementedError":
            raise Failed(Failure("unsolved", self.not_begun), UNSOLVED)
        if kind == "exception":
            kind, said = f"raised-{name}", f"it stopped with {name}"
        else:
            said = finding["headline"] if kind in ("deadlock", "livelock", "endless") else kind.replace("-", " ")
            if kind == "lost-update" or not facts:
                facts = [("it said", finding["headline"]), *facts]
        full = kind == "deadlock" and "room" in str(facts)  # a put that waits needs other words than a get
        advice = (full and self.advice.get("deadlock-full")) or self.advice.get(kind)
        if name == "own lock":  # what was seen says it all
            advice = ""
        if advice and finding["cause"] and not finding["often"]:
            facts.append(("what happened", finding["cause"]))
        cause = advice or RULES.get(name, "") or finding["cause"]
        picture = _of_waiting(finding["waits"]) if finding["waits"] else {}
        picture |= {"table": played["table"]} if played["table"] else {}
        raise Failed(Failure(kind, f"{headline(case)} {said}", tuple(facts), cause, picture))

    def _right(self, where, arguments, result):
        slip = judged(self, arguments, result)
        if slip:
            facts = (("expected", slip.expected), ("got", slip.got or short(result)))
            raise Failed(Failure(slip.kind, f"{where} wrong result", facts, slip.cause, slip.picture))


def _of_waiting(waits):
    from .. import pictures  # knows the x-ray's SVG: loaded when there is something to draw

    if not any(whom and what != pictures.END for _, what, whom in waits):
        return {}  # nobody has what another one waits for: boxes without a relation
    return pictures.waiting([tuple(map(str, wait)) for wait in waits])


def texts_of(function):
    """The texts in a function, in what is defined inside it, and in the functions and classes of its chapter that it
    uses."""
    texts, seen, waiting = set(), set(), [(function, {})]
    while waiting:
        thing, known = waiting.pop()
        if isinstance(thing, FunctionType):
            known = thing.__globals__
        if isinstance(thing, FunctionType | type):
            if thing in seen or _chapter(thing) != _chapter(function):
                continue
            seen.add(thing)
            parts = vars(thing).values() if isinstance(thing, type) else [thing.__code__]
            waiting += [(part, known) for part in parts]
        elif isinstance(thing, CodeType):
            texts.update(x for x in thing.co_consts if isinstance(x, str))
            waiting += [(x, known) for x in thing.co_consts if isinstance(x, CodeType)]
            waiting += [(known.get(name), known) for name in thing.co_names]
    return texts


def _chapter(thing):
    """Where a function is defined: the folder of its chapter, coursework.tasks.c09, or any other module."""
    return thing.__module__.split(".")[:3]
