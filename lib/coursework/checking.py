"""Check an answer against its task. The same code serves the student's notebook and the grader.

`check` and `check_budget` return an Outcome and never raise for what the answer does; the caller shows it. How an
answer is checked, its task says (`kinds/`); the functions behind these two are what the kinds share.
"""

import inspect
import re
import time
import traceback
from dataclasses import replace
from pathlib import Path

import numpy as np

from . import golf
from .answer import AnswerFailed
from .definition import hidden_cases
from .outcome import RIGHT, UNSOLVED, WRONG, Failed, Failure, Outcome

# What the check itself says of an answer: it would not end, or uses what the task is to build.
SAID = dict.fromkeys(("TooManyIterations", "TraceFull", "TimeLimit"), "it went on and on")
SAID["OutputLimit"] = "it printed and printed"
SAID |= dict.fromkeys(("Spoils", "NotAdmitted", "NotOnAGpu", "NoTypes", "NotCompiled"), "it was not run")
SAID["Signature"] = SAID["ReadError"] = "it was not run"
SAID["Beyond64Bits"] = "a whole number left its 64 bits"
_COMPILING = "TypingError", "LoweringError", "UnsupportedError", "UnsupportedRewriteError"
SAID |= dict.fromkeys(_COMPILING, "numba could not compile it")
SAID["NotPlain"] = "what it returned cannot be compared"
SECRET = 1 << 32  # seeds from here on are secrets of a class, and not told


def check(task, answer, seed=None, hidden=False):
    """Check results. `answer` is an answer.Local or the grader's Remote; for predictions a dict name -> answer.

    `seed` seeds the random numbers of all cases; `hidden` adds the cases kept back for grading. An answer that does not
    come to an end is stopped; how, and what cannot be stopped from within a process, limited.py says.
    """
    seed = task.seed if seed is None else seed
    begun = time.perf_counter()
    try:
        checked, note, *drawn = task.examine(answer, task.cases + (hidden_cases(task) if hidden else ()), seed)
        status, failure, picture = RIGHT, None, drawn[0] if drawn else {}
    except Failed as failed:
        status, failure, checked, note, picture = failed.status, failed.failure, (), "", {}
    except Exception as error:
        status, failure, checked, note, picture = WRONG, own_fault(error), (), "", {}
    points = task.points if status == RIGHT else 0
    if status == WRONG and task.partial and failure.kind != "checker-error":
        points, failure = _by_cases(task, answer, seed, failure)
    seconds = time.perf_counter() - begun
    return Outcome(task.id, task.part, status, points, task.points, checked, note, failure, seconds, picture)


def _by_cases(task, answer, seed, failure):
    """(points, failure that says them) of an answer that is not right, for the cases that its task gives points for
    alone."""
    points, earned = 0, []
    for case in task.cases:
        if case.name in task.partial:
            try:
                task.examine(answer, (case,), seed)
            except Exception:  # not right, or a fault that was told already
                continue
            points, earned = points + task.partial[case.name], [*earned, repr(case.name)]
    said = ("points", f"{points} of {task.points}: {', '.join(earned)} is right") if earned else None
    return points, replace(failure, facts=(*failure.facts, said)) if said else failure


def check_budget(task, answer, seed=None, examined=False):
    """Check what the answer costs. Only a right answer can meet a budget: doing nothing is cheap.

    `examined`: all cases were found right before, so that only the budget's own is run.
    """
    budget, seed = task.budget, task.seed if seed is None else seed
    begun = time.perf_counter()
    try:
        if not examined:
            task.examine(answer, task.cases, seed)
        checked = _budget(task, answer, seed)
        status, failure = RIGHT, None
    except Failed as failed:
        status, failure, checked = failed.status, failed.failure, ()
    except Exception as error:
        status, failure, checked = WRONG, own_fault(error), ()
    points = budget.points if status == RIGHT else 0
    score = golf.play(task, answer, lambda case: arguments_of(case, seed, 1000)) if status == RIGHT else {}
    note = "Time was not looked at: these are counts, equal on every machine."
    return Outcome(
        task.id,
        "budget",
        status,
        points,
        budget.points,
        checked,
        note,
        failure,
        time.perf_counter() - begun,
        golf=score,
    )


def _budget(task, answer, seed):
    budget, case = task.budget, task.budget.case or task.cases[-1]
    over, picture, *reached = task.overspent(answer, case, arguments_of(case, seed, 1000))
    if over:
        words = task.counts()
        said = [
            (words.get(o.name, o.name), f"{number(o.counted)}{o.where}; the budget is {number(o.limit)}") for o in over
        ]
        facts = tuple(dict.fromkeys(said))[:3]  # a load and a store of one expression read the same
        raise Failed(
            Failure(
                "over-budget", f"{headline(case)} right, but over budget", facts, budget.cause(tuple(over)), picture
            )
        )
    return (f"Case: {case.name}. The result is right.", f"Within the budget: {budget.text}.", *reached)


def own_fault(error):
    """The failure of a check that met something nobody thought of: it costs the points of that check, not the run."""
    where = traceback.extract_tb(error.__traceback__)[-1]
    facts = (
        ("it said", f"{type(error).__name__}: {error}"[:300]),
        ("in", f"{Path(where.filename).name}:{where.lineno}"),
    )
    cause = "This is a fault of the course, not of your answer."
    return Failure("checker-error", "The check itself failed", facts, cause)


def unsolved(task, part):
    """The outcome for an answer cell that is still as it was shipped."""
    worth = task.budget.points if part == "budget" else task.points
    return Outcome(task.id, part, UNSOLVED, 0, worth, failure=Failure("unsolved", task.not_begun))


def not_earned(result, task):
    """The outcome of a budget whose task was not solved: `result` is that of its check."""
    failure = result.failure
    if result.status == WRONG:
        failure = Failure(
            failure.kind,
            f"The result is not right, so its budget does not count: {failure.headline}",
            cause="Mend the result first: the message of its own check tells what is wrong with it.",
        )
    return Outcome(task.id, "budget", result.status, 0, task.budget.points, failure=failure)


# What the kinds share ------------------------------------------------------------------------------------------------


def arguments_of(case, seed, index):
    """The arguments of a case: the same for the same seed and index."""
    return case.make(np.random.default_rng([seed, index]))


def attempt(task, case, run):
    """Run the answer; turn what it raises into a Failure."""
    try:
        return run()
    except AnswerFailed as error:
        if error.name == "NotImplementedError":
            raise Failed(Failure("unsolved", task.not_begun), UNSOLVED) from None
        facts = [("it said", error.text or error.name), ("at the line", error.line), ("happened in", error.place)]
        facts = [fact for fact in facts if fact[1]]
        kind = "raised-" + (
            "TypeError" if error.name == "NoTypes" else error.name
        )  # found before the kernel runs, or there
        cause = task.advice.get(kind) or task.causes.get(error.name, "")
        cause = _of_signature(task, error.text) if error.name == "Signature" else cause
        said = SAID.get(error.name, f"it stopped with {error.name}")
        said = "it takes too many steps" if "takes too many rounds" in error.text else said
        raise Failed(Failure(kind, f"{headline(case)} {said}", tuple(facts), cause)) from None


def _of_signature(task, said):
    """Which parameter a first line misses or has too much, as far as the specification of the task names them."""
    begin = "The first line is given, with all its parameters"
    if getattr(task, "spec", None) is None:
        return f"{begin}: write it as the cell had it."
    asked = list(inspect.signature(task.spec).parameters)
    has = re.search(r"\((.*?)\)", said)[1].split(", ")
    missing = [f"`{name}`" for name in asked if name not in has] if len(has) < len(asked) else []
    left = [f"`{name}`" for name in has if name and name not in asked] if len(has) > len(asked) else []
    about = (
        f"missing is {' and '.join(missing)}" if missing else f"not asked for is {' and '.join(left)}" if left else ""
    )
    return f"{begin}, ({', '.join(asked)})" + (f": {about}." if about else ".")


def first_change(before, now):
    """The index of the first element of an array that is not what it was, () for another shape; None where all are."""
    if before.shape != now.shape:
        return ()
    changed = before != now
    if before.dtype.kind in "fc":
        changed &= ~(np.isnan(before) & np.isnan(now))
    places = np.argwhere(changed)
    return tuple(int(i) for i in places[0]) if len(places) else None


def names_of(task, cases):
    """The cases in words: visible ones by name, those kept back by number, for who knows them can prepare for them."""
    kept_back = len(cases) - len(task.cases)
    more = f"; and {kept_back} more that are not shown" if kept_back else ""
    return "Cases: " + "; ".join(c.name for c in task.cases) + more + "."


def headline(case):
    return f"Case {case.name!r}:"


def number(value):
    return f"{value:.6g}" if isinstance(value, float | np.floating) else str(value)


def short(value):
    """A value in a few words, on one line."""
    value = value.item() if isinstance(value, np.generic) else value
    if isinstance(value, int) and abs(value) > 10**100:  # Python writes none of more than 4300 digits
        return f"a number of {value.bit_length()} bits"
    if isinstance(value, np.ndarray):
        return " ".join(repr(value).split()) if value.size <= 8 else f"{value.dtype} array of shape {value.shape}"
    try:
        text = repr(value) if not isinstance(value, tuple) else "(" + ", ".join(short(v) for v in value) + ")"
    except (
        Exception
    ):  # a number of too many digits in it, too many lists in each other, an object that cannot say what it is
        return f"a {type(value).__name__}"
    return text if len(text) <= 120 else text[:117] + "..."
