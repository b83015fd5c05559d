"""Grade one submission: merge, run in the sandbox, check from outside. Never raises for what a student did."""

import ast
import re
import time

from .. import build, checking, definition, feedback, progress
from ..answer import AnswerFailed
from . import exchange
from .intake import insides, merge, reading
from .intake.submissions import NO_EXERCISE
from .remote import Remote
from .sandbox import Sandbox
from .session import Session
from .walls import ANSWERS
from .watch import Watch

_ME = re.compile(r"""(?:^|[;.])\s*me\(\s*["']([^"'\n]+)["']\s*\)""", re.MULTILINE)
MAX_ANSWER = 20_000  # characters of an answer that are kept, to be compared with others


def parts_of(exercise):
    """[(task, part, points), ...] of an exercise such as "07_vector_add"; [] for an entry that is of none."""
    if exercise == NO_EXERCISE:
        return []
    return [
        (t, part, points)
        for t in definition.of_chapter(definition.chapter_of(exercise))
        for part, points in progress.parts(t)
    ]


def empty_result(student, exercise, status, flags=()):
    """The result of a submission in which nothing could be graded: a row with 0 points, and why."""
    tasks = [
        {"task": t.id, "part": part, "points": 0, "max_points": points, "status": status, "headline": "",
         "kind": status, "text": ""}
        for t, part, points in parts_of(exercise)
    ]  # fmt: skip
    return _result(student, exercise, status, list(flags), tasks, {}, 0.0)


def _result(student, exercise, status, flags, tasks, answers, seconds):
    return exchange.encodable(
        {
            "student": student,
            "exercise": exercise,
            "points": sum(t["points"] for t in tasks),
            "max_points": sum(t["max_points"] for t in tasks),
            "status": status,
            "flags": flags,
            "tasks": tasks,
            "notes": [],
            "answers": answers,
            "seconds": round(seconds, 2),
        }
    )


def grade(student, exercise, path, master_path, mode, limits, seed, file, drawn=None):
    """Result of the notebook at `path` as a dict of plain data.

    `file`: the nbval collector that the cells belong to. `seed`: of the random numbers in all cases. `drawn(task,
    said)`: the tasks with the numbers that a student may have had, where they have numbers of their own.
    """
    begun = time.monotonic()
    master, shipped = merge.canonical(master_path)
    try:
        cells, cut = reading.load(path)
    except reading.Unreadable as error:
        return empty_result(student, exercise, f"unreadable: {error}")
    merged = merge.merge(master, shipped, cells)
    merged.flags += [*cut, *insides.flags(merged.steps)]
    if not any(step.kind == "answer" and step.source.strip() for step in merged.steps):
        return empty_result(student, exercise, "no answers", merged.flags)
    walls = Sandbox(mode, limits, without=ANSWERS), Sandbox(mode, limits)
    with walls[0] as sandbox, walls[1] as clean, Watch(sandbox, clean):
        session = Session(sandbox, clean, file)
        try:
            said = _who_they_say(merged)
            tasks = _run(session, merged, seed, (lambda task: drawn(task, said)) if drawn else (lambda task: [task]))
        finally:
            session.close()
    answers = {i: source[:MAX_ANSWER] for i, source in merged.answers.items()}
    flags = [*merged.flags, *dict.fromkeys(session.flags)]
    result = _result(student, exercise, "graded", flags, tasks, answers, time.monotonic() - begun)
    result["notes"] = exchange.encodable(session.notes)
    return result


def _who_they_say(merged):
    """The name in the last me("...") of a notebook. It chooses among the names that a student has, no more."""
    said = [name for step in merged.steps for name in _ME.findall(step.source)]
    return said[-1] if said else ""


def _run(session, merged, seed, drawn):
    graded, checked = {}, {}
    if merged.answers.keys() - merged.untouched:
        session.prepare()
    # Without extra cells, an untouched answer cell needs no process to be found unsolved.
    untouched = set() if any(step.kind == "extra" for step in merged.steps) else merged.untouched
    for step in merged.steps:
        if step.kind == "check":
            for outcome in _check(step, session, seed, untouched, graded, checked, drawn):
                key = (outcome.task, outcome.part)
                if key not in graded or graded[key].status == checking.RIGHT:
                    graded[key] = outcome
        else:
            session.add_cell(step.id, step.source, given=step.kind == "given")
    return [_task(outcome) for outcome in graded.values()]


def _check(step, session, seed, untouched, graded, checked, drawn):
    """Outcomes of a canonical check cell, run here, in the grader's own process, on stand-ins for the student's
    names. `graded`: the outcomes before, by (task, part); `checked`: the stand-ins that they are about, by task."""
    outcomes = []
    tree = ast.parse(step.source)
    _, task_id = definition.graded_call(step.source)
    if task_id in untouched:
        return [checking.unsolved(definition.find(task_id), build.part_of(step.source))]

    # A check with hidden cases begins with those that are visible. Where it is nothing but its cases, they are run
    # once.
    with_hidden = any(isinstance(node, ast.keyword) and node.arg == "hidden" for node in ast.walk(tree))

    def check(task_id, answer, hidden=False, **claims):
        if not hidden and with_hidden and definition.find(task_id).only_cases():
            return
        if hidden and outcomes and outcomes[-1].status != checking.RIGHT:
            return  # wrong already on the visible cases
        answer.claims, checked[task_id] = claims, answer
        outcomes.append(checking.check(definition.find(task_id), answer, seed=seed, hidden=hidden))

    def budget(task_id, answer):
        task = definition.find(task_id)
        result = next((o for o in reversed(outcomes) if o.task == task_id), graded.get((task_id, task.part)))
        if result is not None and result.status != checking.RIGHT:
            outcomes.append(checking.not_earned(result, task))
        else:
            examined = result is not None and answer.is_still(checked[task_id])
            outcomes.append(checking.check_budget(task, answer, seed=seed, examined=examined))

    def predict(task_id, **answers):
        task = definition.find(task_id)
        try:
            numbers = {name: answer.value() for name, answer in answers.items()}
        except AnswerFailed as error:
            # a stub that still raises leaves no variable behind
            failure = checking.Failure("unsolved", "No numbers were handed in", (("it said", error.text),))
            outcomes.append(checking.Outcome(task.id, "prediction", checking.UNSOLVED, 0, task.points, failure=failure))
        else:
            tried = [checking.check(variant, numbers) for variant in drawn(task)]
            outcomes.append(next((o for o in tried if o.status == checking.RIGHT), tried[0]))

    scope = {"check": check, "budget": budget, "predict": predict}
    for node in ast.walk(tree):
        if isinstance(node, ast.Name) and node.id not in scope:
            scope[node.id] = Remote(session, node.id)
    exec(compile(tree, step.id, "exec"), scope)
    return outcomes


def _task(outcome):
    return {
        "task": outcome.task,
        "part": outcome.part,
        "points": outcome.points,
        "max_points": outcome.max_points,
        "status": outcome.status,
        "headline": feedback.headline(outcome),
        "kind": outcome.failure.kind if outcome.failure else "",
        "text": feedback.as_text(outcome, advise=False),
    }
