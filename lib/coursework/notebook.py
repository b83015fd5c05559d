"""What an exercise notebook imports:

    from coursework.notebook import begin, budget, check, hint, predict, show

A check that fails shows what is wrong and raises CheckFailed, so that no tool can mistake it for success.
"""

import functools
import os
from dataclasses import replace

from simt.show import sentence

from . import checking, definition, feedback, fresh, kept, own, progress
from .answer import AnswerFailed, Local
from .kinds.arrays import ArrayTask
from .outcome import UNSOLVED, Failure, Outcome

OUTCOMES = []  # every outcome of this process, for check.py
_WATCHES = {}  # the one on this process's cells, once `begin` has run


class CheckFailed(AssertionError):
    """The check is red. The message was shown already, so a notebook prints one line instead of a stack trace."""

    def __init__(self, outcome):
        super().__init__(feedback.headline(outcome))
        self.outcome = outcome

    def _render_traceback_(self):
        return [f"{type(self).__name__}: {self}"]


class NotSolvedYet(CheckFailed):
    """The answer cell is still as it was shipped."""


class Misused(ValueError):
    """A function of this module was called with something that it does not know: one line, no stack trace."""

    def _render_traceback_(self):
        return [str(self)]


def _with_tasks(function):
    """It does nothing in the process where a grader runs a notebook, for there is no task (grading/walls.py)."""

    @functools.wraps(function)
    def called(*arguments, **named):
        return function(*arguments, **named) if definition.chapters() else None

    return called


class _Message:
    """Rich where the front end shows HTML, the same words where it shows text."""

    def __init__(self, text, html):
        self.text, self.html = text, html

    def __repr__(self):
        return self.text

    def _repr_html_(self):
        return self.html


@_with_tasks
def begin(chapter):
    """First cell: what runs the code, and what there is to do. A dead `begin` means a broken set-up."""
    tasks = definition.of_chapter(chapter)
    points = sum(points for task in tasks for _, points in progress.parts(task))
    print(_machine(tasks))
    _tell_what_to_run_first()
    print(f"{len(tasks)} tasks, {points} points, about {sum(t.minutes for t in tasks)} minutes.")
    if kept.path() and any(isinstance(task, ArrayTask) and not task.is_text for task in tasks):
        print(f"The functions that you solve are kept for later chapters: in {kept.FILE}, beside this notebook.")

    for line in own.told(chapter):
        print(line)


@_with_tasks
def me(name):
    """Say who you are, where your class has numbers for each student: your e-mail address, or what your instructor
    said."""
    if own.of_class() is None:
        print("In this book all have the same numbers. There is nothing to say.")
        return
    own.say(name)
    print(f"Welcome, {name}. Run the cell with begin(...) now: it tells your numbers.")


@_with_tasks
def another(task_id):
    """Other numbers for a task of prediction, where your class allows a new try."""
    print(own.again(_task(task_id, "predict").id))


def _machine(tasks):
    """One sentence: which device runs the kernels; where there is none, that no GPU is needed."""
    from dlkernels import device

    if any(task.on_device for task in tasks):
        return device.describe()
    return f"All of it runs on the CPU ({os.cpu_count()} cores); no GPU is needed."


def _tell_what_to_run_first():
    """From now on, a check that stops at a name that is not there says which cell makes it, and none judges old
    code."""
    try:
        from IPython import get_ipython
    except ImportError:
        return
    shell = get_ipython()
    if shell is not None:
        shell.events.register("post_run_cell", _name_missing)
        if _WATCHES.get("shell") is None:
            _WATCHES["shell"] = fresh.Watch(shell)
            _WATCHES["shell"].register()


def _name_missing(result):
    """Called after each cell."""
    error = result.error_in_exec
    call = definition.graded_call(result.info.raw_cell or "") if type(error) is NameError else None
    if call is None or error.name is None:
        return
    said = (
        f"`{error.name}` is not there yet. Run the cell of {call[1]} above that makes it; when it ends without an "
        "error, run this one again."
    )
    display(said.replace("`", ""), feedback.card(sentence(said), "#8a6d00"))


@_with_tasks
def check(task_id, answer, seed=None, hidden=False, **claims):
    """Check the result of an answer against its specification. `seed`: other random numbers than the usual ones.
    `claims`: what you say of it, where the task asks for that."""
    task = _task(task_id, "check")
    _fits(task, "check")
    task.accept(answer)
    if set(claims) != set(task.claims):
        asked, got = ", ".join(task.claims) or "nothing", ", ".join(claims) or "nothing"
        raise ValueError(f"{task_id} asks for {asked} beside the answer; got {got}.")
    _refuse_old(task, "results", answer)
    return _show(checking.check(task, Local(answer, claims=claims), seed, hidden), answer)


@_with_tasks
def budget(task_id, answer, seed=None):
    """Check what a right answer costs, in counts that are equal on every machine."""
    task = _task(task_id, "budget")
    if task.budget is None:
        raise ValueError(f"{task_id} has no budget.")
    _refuse_old(task, "budget", answer)
    outcome = checking.check_budget(task, Local(answer), seed)
    told = next((o.failure for o in reversed(OUTCOMES) if (o.task, o.part) == (task_id, task.part)), None)
    if (
        outcome.status == checking.WRONG and told and _words(told) == _words(outcome.failure)
    ):  # a check has just said it
        said = "first make the result right; the check above says what is wrong"
        outcome = replace(outcome, failure=Failure(told.kind, said))
    return _show(outcome, answer)


def _refuse_old(task, part, answer):
    """Judge nothing that its cell does not make any more."""
    stale = _WATCHES["shell"].why_stale(answer) if _WATCHES else ""
    if stale:
        failure = Failure("stale", f"Not checked: {stale}", cause="What would be judged is the code of an earlier run.")
        worth = task.budget.points if part == "budget" else task.points
        _show(Outcome(task.id, part, UNSOLVED, 0, worth, failure=failure), answer)


def _words(failure):
    """A failure without what a check alone says: the picture, and the points of its parts."""
    return replace(failure, picture={}, facts=tuple(fact for fact in failure.facts if fact[0] != "points"))


@_with_tasks
def predict(task_id, **numbers):
    """Compare what you predicted with what the machine counts: predict("07-sectors", neighbours=..., ...)."""
    task = own.of_student(_task(task_id, "predict"))
    _fits(task, "predict")
    task.accept(numbers)
    return _show(checking.check(task, numbers))


@_with_tasks
def show(task_id, kernel):
    """Draw what a kernel does in the smallest case of its task: which thread stores where. It judges nothing.

    For your own arrays and more questions: `xray(kernel, grid, block)(*arrays)`.
    """
    task = _task(task_id, "show")
    try:
        what, drawn, found = task.look(Local(kernel))
    except AnswerFailed as error:
        begun = error.name != "NotImplementedError"
        said = f"{error} {error.place} {error.line}".rstrip() if begun else f"{task.not_begun}: nothing to draw."
        print(f"{task_id}: {said}")
        return
    head = f"{task_id}, {what}"
    picture = f"<div style='max-width:520px'>{drawn['svg']}</div>" if drawn else ""
    words = [] if drawn else ["It touches no global memory."]
    facts = "".join(f"<div>{sentence(line)}</div>" for line in (*words, *found))
    text = "\n".join([head, *([drawn["alt"]] if drawn else words), *found])
    display(text, feedback.card(f"<b>{sentence(head)}</b>{picture}{facts}"))


@_with_tasks
def hint(task_id="", level=None):
    """Show the next hint for a task: a question, then the idea, then the missing step. `level` 1, 2 or 3 picks one."""
    if not task_id:
        raise Misused('hint of which task? Write its name, as in hint("07-add").')
    task = _task(task_id, "hint")
    level = progress.next_hint(task_id) if level is None else level
    if level not in range(1, definition.HINT_LEVELS + 1):
        raise Misused(f"level is {level}; expected 1, 2 or 3.")
    levels, text = definition.HINT_LEVELS, task.hints[level - 1]
    html = feedback.hint_html(task_id, level, levels, text)
    display(f"Hint {level} of {levels} for {task_id}\n{text}", html)


def _task(task_id, function):
    try:
        task = definition.find(task_id)
    except ValueError as error:
        raise Misused(f"{function}({task_id!r}): {error}") from None
    if function != "hint" and not _open(task):
        prerequisite = definition.find(task.after)
        failure = Failure("closed", f'A second part: first solve {prerequisite.id}, "{prerequisite.title}"')
        outcome = Outcome(task.id, definition.PARTS[function], UNSOLVED, 0, task.points, failure=failure)
        OUTCOMES.append(outcome)
        display(feedback.as_text(outcome), feedback.as_html(outcome))
        raise NotSolvedYet(outcome)
    return task


def _open(task):
    """Whether the task that this one comes after was solved: here, or as far as the progress is known."""
    solved = {o.task for o in OUTCOMES if o.status == checking.RIGHT and o.part != "budget"}
    return not progress.waits_for(task, solved)


def _fits(task, function):
    """Raises ValueError for a task that another function of the notebook is about."""
    (right,) = (name for name, part in definition.PARTS.items() if part == task.part)
    if right != function:
        article = "is a prediction" if right == "predict" else "is no prediction"
        raise ValueError(f'{task.id} {article}; use {right}("{task.id}", ...).')


def display(text, html):
    """Show one message: as HTML where the front end can."""
    from IPython import display as shown

    shown.display(_Message(text, html))


def _show(outcome, answer=None):
    outcome = progress.note(outcome)
    OUTCOMES.append(outcome)
    read = progress.to_read(outcome)
    display(feedback.as_text(outcome, read=read), feedback.as_html(outcome, read))
    if outcome.status == checking.UNSOLVED:
        raise NotSolvedYet(outcome)
    if outcome.status != checking.RIGHT:
        raise CheckFailed(outcome)
    kept.keep(outcome, answer)
