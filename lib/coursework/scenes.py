"""Checks of ScenarioTask and ThreadTask: what playing.py found, in words."""

from .outcome import UNSOLVED, Failed, Failure
from .playing import judged, short

RULES = {
    "NotAdmitted": "An answer here is functions and classes of plain Python that use threading, queue, time, math, NumPy and "
    "each other: no files, no imports inside, nothing that leads out of its own objects.",
    "NameError": "A name is used that is not defined there. Spelt differently somewhere?",
    "AttributeError": "An object has no such attribute. Is it set in `__init__`, and spelt alike everywhere?",
    "TimeLimit": "It did not end. Does every loop come closer to its end each time round?",
}


def check(task, cases, answer, arguments_of, attempt, threads):
    """Play every case; raises Failed at the first that goes wrong. Returns what was checked, and what was not."""
    runs = 0
    for index, case in enumerate(cases):
        arguments = arguments_of(case, index)
        played = attempt(task, case, lambda a=arguments: answer.play(task, a))
        runs += played["schedules"]
        _no_finding(task, case, played)
        _again(task, case, arguments, played["result"])
    if not threads:
        return (), ""
    if task.stress:
        for index, case in enumerate(cases):
            arguments = arguments_of(case, index)
            done = attempt(task, case, lambda a=arguments: answer.stress(task, a))
            _no_hitch(task, case, arguments, done)
    most = task.preemptions
    checked = (
        f"{runs} schedules of the threads, each with few interruptions (at most {most}) or at random: no wrong result, no "
        "deadlock, no endless loop, every lock released.",
        *((f"{task.stress} runs of each case with real threads.",) if task.stress else ()),
    )
    return checked, "Schedules with more interruptions than that, and speed, were not looked at."


def budget(task, case, arguments, answer, attempt):
    """[(name, counted, allowed), ...] of the counts over the budget; raises Failed where the result is wrong."""
    played = attempt(task, case, lambda: answer.play(task, arguments))
    _no_finding(task, case, played)
    _again(task, case, arguments, played["result"])
    counts, limits = played["counts"], task.budget.require
    return [(n, counts.get(n, 0), limit) for n, limit in limits.items() if counts.get(n, 0) > limit]


def _no_finding(task, case, played):
    finding = played["finding"]
    if finding is None:
        return
    kind, name, facts = finding["kind"], finding["name"], [tuple(map(str, f)) for f in finding["facts"]]
    if name == "NotImplementedError":
        raise Failed(Failure("unsolved", "Not solved yet"), UNSOLVED)
    if kind == "exception":
        kind, said = f"raised-{name}", f"it stopped with {name}"
    else:
        said = finding["headline"] if kind in ("deadlock", "livelock", "endless") else kind.replace("-", " ")
        if kind == "lost-update" or not facts:
            facts = [("it said", finding["headline"]), *facts]
    cause = task.advice.get(kind) or finding["cause"] or RULES.get(name, "")
    if task.advice.get(kind) and finding["cause"]:
        facts.append(("what happened", finding["cause"]))
    picture = {"table": played["table"]} if played["table"] else {}
    raise Failed(Failure(kind, f"Case {case.name!r}: {said}", tuple(facts), cause, picture))


def _again(task, case, arguments, result):
    """The grader's own look at the result that came back."""
    slip = judged(task, arguments, result)
    if slip:
        facts = (("expected", slip.expected), ("got", slip.got or short(result)))
        raise Failed(Failure(slip.kind, f"Case {case.name!r}: wrong result", facts, slip.cause))


def _no_hitch(task, case, arguments, done):
    where = f"Case {case.name!r}, with real threads:"
    if done["hung"]:
        raise Failed(Failure("deadlock", f"{where} it never ended", (), task.advice.get("deadlock", "")))
    if done["error"]:
        name = str(done["error"]).split(":")[0]
        raise Failed(
            Failure(f"raised-{name}", f"{where} it stopped with {name}", (("it said", str(done["error"])),),
                    task.advice.get(f"raised-{name}", ""))
        )  # fmt: skip
    for result in done["results"]:
        slip = judged(task, arguments, result)
        if slip:
            facts = (("expected", slip.expected), ("got", slip.got or short(result)))
            raise Failed(Failure(slip.kind, f"{where} wrong result", facts, slip.cause))
