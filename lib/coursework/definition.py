"""What a task is. Tasks stand in `tasks/`, one folder a chapter, one file a task; `find` and `of_chapter` look them up.

The kinds of task stand in `kinds/`, one file each.
"""

import builtins
import difflib
import functools
import importlib
import pkgutil
import re
import zlib
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import ClassVar, NamedTuple

import numpy as np

HINT_LEVELS = 3
PARTS = {"check": "results", "budget": "budget", "predict": "prediction"}  # function of a notebook -> graded part


@dataclass(frozen=True)
class Case:
    """One set of arguments. `make(rng)` returns the tuple of arguments; `grid` and `block` are for kernels."""

    name: str
    make: Callable
    grid: tuple | int = 1
    block: tuple | int = 1


@dataclass(frozen=True)
class Budget:
    """What a right answer may cost at most. `require` maps a name of the task's `counts` to its limit."""

    points: int
    text: str  # the budget in the words of the statement
    require: dict
    over: str  # the likely cause when it is exceeded
    case: Case | None = None  # default: the task's last case
    golf: object | None = None  # golf.Golf: an open end beyond the budget, without points
    causes: tuple = ()  # (test(tuple of Over), words): the first whose test holds says more than `over`

    def cause(self, over):
        return next((words for test, words in self.causes if test(over)), self.over)


class Over(NamedTuple):
    """A count over its limit. `where`: in words; `kind`, `step`: of a kernel's access, bytes from lane to lane."""

    name: str
    counted: float
    limit: float
    where: str = ""
    kind: str = ""
    step: int | None = None


@dataclass(frozen=True)
class Slip:
    """How a result is wrong, and why that probably is. `got`: what came, in words; default: the result itself.
    `picture`: as in outcome.Failure. `until`: the step (events.told) at which it was wrong, where that is not the
    end."""

    kind: str
    expected: str
    cause: str
    got: str = ""
    picture: dict = field(default_factory=dict)
    until: str = ""


@dataclass(frozen=True)
class Section:
    """What to read before a task: a heading of a page in chapters/, and the page's number in the book."""

    number: str  # "2.2"
    page: str  # "02_waiting"
    heading: str  # "A condition"

    @property
    def place(self):
        """Where it stands, in words: for those who have the book beside the notebook, and no link to follow."""
        return f'section {self.number} of the book, "{self.heading}"'

    @property
    def link(self):
        """The heading in its page, by the anchor that MyST makes of it."""
        anchor = re.sub(r"[^\w\- ]", "", self.heading.lower()).replace(" ", "-")
        return f"chapters/{self.page}.md#{anchor}"


@dataclass(frozen=True, kw_only=True)
class Task:
    """Common to all tasks; a kind of task is a subclass in `kinds/`.

    `advice` maps a kind of failure (one of `failures`) to a sentence that replaces the general one.
    """

    part: ClassVar[str] = "results"  # what its first check is about: a value of PARTS
    not_begun: ClassVar[str] = "Not solved yet"
    on_device: ClassVar[bool] = False  # a CUDA kernel
    is_text: ClassVar[bool] = False  # of a kernel in another language: it is not kept for later chapters
    claims: ClassVar[tuple] = ()  # names of what a check is told beside the answer: check("04-roofline", f, flops=...)
    causes: ClassVar[dict] = {  # the likely cause of what an answer raised
        "IndexError": "A thread used an index outside the array. Which threads have nothing to do?",
        "OutOfBounds": "A thread used an index outside the array. Which threads have nothing to do?",
        "NameError": "A name is used that is not defined there. Spelt differently somewhere?",
        "TypingError": "A type does not fit. Is a whole array used where one element is meant, x for x[i], or an "
        "element where an array is?",
        "NotAdmitted": "Kernels of this course keep to plain Python, math and cuda, which run alike here and on a GPU.",
        "NotPlain": "A check compares numbers, text, lists, dicts and arrays of numbers, here as when it is graded.",
        "OutputLimit": "The check stopped it here. Is there a loop that never ends, or a print in one that runs "
        "millions of times?",
        "TooManyIterations": "A right answer needs far fewer rounds, so the check stopped it here.",
        "TraceFull": "It uses memory far more often than a right answer. Does every loop end where it should?",
        "TimeLimit": "It did not end. Does every loop come closer to its end each time round?",
        "MemoryError": "It asked for more memory than an answer needs.",
        "RuntimeWarning": "NumPy divided by 0, or a number that no integer can hold (NaN, from 0 / 0, or one that is "
        "too large) became an integer. Which input has a 0 there?",
    }

    id: str
    title: str
    objective: str  # a verb that can be measured: "Compute ...", "Predict ..."
    points: int
    minutes: int
    hints: tuple
    advice: dict = field(default_factory=dict)
    budget: Budget | None = None
    partial: dict = field(default_factory=dict)  # name of a case -> points for it, where another one is wrong
    section: Section | None = None  # what to read first
    after: str = ""  # a second part: the student's own check opens when this task is right; grading does not ask

    def only_cases(self):
        """Whether a check is its cases, one after the other, and nothing behind them: then more cases behind these
        change nothing of what is said of these."""
        return False

    def __post_init__(self):
        if len(self.hints) != HINT_LEVELS:
            raise ValueError(f"task {self.id} has {len(self.hints)} hints; expected {HINT_LEVELS}")
        refuse_unknown(self, "advice", self.advice, self.failures())
        refuse_unknown(self, "partial", self.partial, [case.name for case in getattr(self, "cases", ())])
        if sum(self.partial.values()) >= max(1, self.points):
            raise ValueError(
                f"task {self.id}: cases alone are worth {sum(self.partial.values())} of {self.points} points; expected "
                "fewer"
            )
        if self.budget is not None:
            golf = self.budget.golf
            refuse_unknown(self, "budget", self.budget.require, self.counts())
            refuse_unknown(self, "golf", (golf.count, *golf.require) if golf else (), self.counts())

    @property
    def chapter(self):
        return chapter_of(self.id)

    @property
    def seed(self):
        """The seed of the random numbers of a student's own check: the same on every machine."""
        return zlib.crc32(self.id.encode()) % 10_000

    def section_for(self, failure):
        """What to read before another try."""
        return self.section

    # What a kind says of itself ---------------------------------------------------------------------------------

    def failures(self):
        """The kinds of failure that `advice` can speak about."""
        return tuple(f"raised-{name}" for name in RAISED)

    def shows(self):
        """The kinds of failure by which a run can end: `failures`, and the slips of a judge of the task's own."""
        return self.failures()

    def counts(self):
        """What a budget may name, with its words in a message; nothing: the kind has no budget."""
        return {}

    def accept(self, answer):
        """Raises ValueError, for whoever called the check, if `answer` cannot be one."""

    def examine(self, answer, cases, seed):
        """Check the results: (what was checked, what was not[, a picture of what the answer does]); raises
        outcome.Failed for an answer that is not right.

        `answer`: an answer.Local or the grader's Remote; answer.claims has what was said of it.
        """
        raise NotImplementedError

    def look(self, answer):
        """(what is drawn, in words; a picture as in outcome.Failure; what was found) of what an answer does in the
        smallest case, right or wrong; raises ValueError where there is nothing to draw."""
        raise ValueError(f"{self.id} is not about a kernel; show draws kernels.")

    def overspent(self, answer, case, arguments):
        """([(name, count, limit, where), ...], picture) of what is over the budget; raises outcome.Failed for an
        answer that is not right."""
        raise NotImplementedError


# Exceptions that an answer can end with, by name; the numba, queue and threading ones are not worth an import.
RAISED = frozenset(
    {name for name, thing in vars(builtins).items() if isinstance(thing, type) and issubclass(thing, BaseException)}
    | set(Task.causes)
    | {"Signature", "ReadError", "NotCompiled", "KernelDied", "BadMessage", "NoResult"}
    | {"LoweringError", "UnsupportedError", "UnsupportedBytecodeError", "UnsupportedRewriteError"}
    | {"NumbaTypeError", "NumbaValueError"}
    | {"KernelError", "LaunchError", "Deadlock", "NotOnAGpu", "NoTypes", "Unsupported", "NotFollowed", "SourceNotFound"}
    | {
        "Empty",
        "Full",
        "StatisticsError",
        "BrokenBarrierError",
        "CancelledError",
        "InvalidStateError",
        "BrokenExecutor",
    }
)


def refuse_unknown(task, option, names, known):
    """Raises ValueError for a name that no check of the task would ever look at."""
    for name in names:
        if name in known:
            continue
        near = difflib.get_close_matches(str(name), sorted(known), 1, 0)
        cure = f"did you mean {near[0]!r}?" if near else f"a {type(task).__name__} takes none."
        raise ValueError(f"task {task.id}: {option} has no {name!r}; {cure}")


def random_values(rng, *shape, dtype=np.float32):
    """Values in [-1, 1) without zeros or repeats worth speaking of: a coincidence cannot pass for a result."""
    return rng.uniform(-1, 1, shape).astype(dtype)


def unwritten(*shape, dtype=np.float32):
    """An output array full of a NaN that no computation gives, so that an element nobody wrote is seen."""
    bits = {4: (np.uint32, 0x7FC0ABCD), 8: (np.uint64, 0x7FF800000000ABCD)}[np.dtype(dtype).itemsize]
    return np.full(shape, bits[1], bits[0]).view(dtype)


def chapters():
    """The chapters that have tasks: two digits each, and a letter where a chapter has a second notebook."""
    from . import tasks

    return list(_chapters_in(tuple(tasks.__path__)))


@functools.cache
def _chapters_in(folders):
    return tuple(sorted(info.name.removeprefix("c") for info in pkgutil.iter_modules(folders)))


def chapter_of(name):
    """The chapter of a task or a notebook: "07" of "07-add" and of "07_vector_add.ipynb", "06b" of "06b_debugging"."""
    return re.split("[-_]", str(name), maxsplit=1)[0]


def padded(chapter):
    """How the names of a chapter's notebook and tasks begin: "07" of 7, "06b" of "6b"; any other text as it is."""
    return re.sub(r"^\d(?!\d)", r"0\g<0>", str(chapter))


def of_chapter(chapter):
    """The tasks of one chapter ("07" or 7, "06b"), in the order of its notebook. Only its folder is imported."""
    wanted = padded(chapter)
    if wanted not in chapters():
        raise ValueError(f"Chapter {chapter!r} has no tasks. Chapters with tasks: {', '.join(chapters())}.")
    return list(importlib.import_module(f"coursework.tasks.c{wanted}").TASKS)


def everything():
    """All tasks, chapter by chapter."""
    return [task for chapter in chapters() for task in of_chapter(chapter)]


def find(task_id):
    """The task called `task_id`."""
    chapter = chapter_of(task_id)
    tasks = of_chapter(chapter) if chapter in chapters() else everything()
    for task in tasks:
        if task.id == task_id:
            return task
    raise ValueError(f"No task is called {task_id!r}. There are: {', '.join(task.id for task in tasks)}.")


_CHECK = re.compile(rf"^({'|'.join(PARTS)})\(\s*[\"']([\w-]+)[\"']", re.MULTILINE)


def graded_call(source):
    """(function, task id) of the check in a cell, or None."""
    call = _CHECK.search(source)
    return call.groups() if call else None


def hidden_cases(task):
    """Cases kept back for grading; an empty tuple in a copy made for a class (release.py)."""
    try:
        module = importlib.import_module(f"coursework.hidden.c{task.chapter}")
    except ModuleNotFoundError:
        return ()
    return tuple(module.CASES.get(task.id, ()))
