"""What a task is. Tasks stand in `tasks/`, one module a chapter; `find` and `of_chapter` look them up.

KernelTask      a CUDA kernel; run in the executor, traffic counted by the x-ray
CompiledTask    a numba function of arrays that writes into its last argument; temporaries counted
FunctionTask    a plain Python function, checked by a property of its result
ParallelTask    a numba function with prange: as CompiledTask, and every access of its loop watched
ScenarioTask    plain Python that the course's own scenario calls and observes: fake clocks, counted calls
ThreadTask      the same for code with threads, under every schedule that matters and with real threads
PredictionTask  numbers the student predicts; the truth is computed, never typed
"""

import importlib
import pkgutil
import zlib
from collections.abc import Callable
from dataclasses import dataclass, field

import numpy as np

HINT_LEVELS = 3


@dataclass(frozen=True)
class Case:
    """One set of arguments. `make(rng)` returns the tuple of arguments; `grid` and `block` are for kernels."""

    name: str
    make: Callable
    grid: tuple | int = 1
    block: tuple | int = 1


@dataclass(frozen=True)
class Suspect:
    """A well-known mistake: if the result equals `formula(*arguments)`, `cause` is what happened."""

    formula: Callable
    cause: str


@dataclass(frozen=True)
class Budget:
    """What a right answer may cost at most.

    `require` maps a name of the x-ray's report (kernels), or of `answer.Cost` (compiled functions), to its limit.
    """

    points: int
    text: str  # the budget in the words of the statement
    require: dict
    over: str  # the likely cause when it is exceeded
    case: Case | None = None  # default: the task's last case


@dataclass(frozen=True, kw_only=True)
class Task:
    """Common to all tasks. `advice` maps a kind of failure (diagnosis.py) to a sentence that replaces the general
    one."""

    id: str
    title: str
    objective: str  # a verb that can be measured: "Compute ...", "Predict ..."
    points: int
    minutes: int
    hints: tuple
    advice: dict = field(default_factory=dict)
    budget: Budget | None = None

    def __post_init__(self):
        if len(self.hints) != HINT_LEVELS:
            raise ValueError(f"task {self.id} has {len(self.hints)} hints; expected {HINT_LEVELS}")

    @property
    def chapter(self):
        return self.id.split("-")[0]

    @property
    def seed(self):
        """The seed of the random numbers of a student's own check: the same on every machine."""
        return zlib.crc32(self.id.encode()) % 10_000


@dataclass(frozen=True, kw_only=True)
class KernelTask(Task):
    """`spec(*arguments)` returns what `arguments[out]` must hold afterwards (NumPy, float64).

    `tell_first`: findings of the x-ray that explain a wrong result better than the result does.
    """

    spec: Callable
    cases: tuple
    out: int = -1
    suspects: tuple = ()
    rtol: float = 1e-5
    atol: float = 1e-6
    writer: Callable | None = None  # (index, case) -> (block, thread); default: one element per thread in a row
    tell_first: tuple = ()


@dataclass(frozen=True, kw_only=True)
class CompiledTask(Task):
    """Like KernelTask, for a function compiled by numba that is called as `f(*arguments)`."""

    spec: Callable
    cases: tuple
    out: int = -1
    suspects: tuple = ()
    rtol: float = 1e-5
    atol: float = 1e-6


@dataclass(frozen=True)
class Watch:
    """How `cpulab.explore.watch` runs a ParallelTask. `case`: a small one; default: the task's first."""

    threads: int = 2
    schedule: str = "static"
    chunk: int | None = None
    case: Case | None = None


@dataclass(frozen=True, kw_only=True)
class ParallelTask(CompiledTask):
    """A function with `prange`. Right is: the compiled result for several numbers of threads, no race, nothing carried.

    `out="result"`: the function returns its result. The budget may name what `watch` counts (false_sharing,
    line_transfers, cache_lines, loads, stores, allocations, temporaries, imbalance) beside the names of `answer.Cost`.
    """

    out: int | str = -1
    watch: Watch = field(default_factory=Watch)


@dataclass(frozen=True)
class Slip:
    """How a result is wrong, and why that probably is. `got`: what came, in words; default: the result itself."""

    kind: str
    expected: str
    cause: str
    got: str = ""


@dataclass(frozen=True, kw_only=True)
class FunctionTask(Task):
    """`judge(arguments, result)` returns None for a right result, else a Slip."""

    judge: Callable
    cases: tuple


@dataclass(frozen=True, kw_only=True)
class ScenarioTask(Task):
    """`scenario(answer, *arguments)` runs the student's function or class and returns plain data, or events.Played.

    It is a function of the module of tasks: in grading it runs where the answer runs, in the clean process. Arguments
    are plain data. The result is compared with `spec(*arguments)`, or `judge(arguments, result)` returns None or a
    Slip. The budget's `require` names counts of events.Played; the most over all schedules counts.
    """

    scenario: Callable
    cases: tuple
    spec: Callable | None = None
    judge: Callable | None = None

    def __post_init__(self):
        super().__post_init__()
        if (self.spec is None) == (self.judge is None):
            raise ValueError(f"task {self.id}: give either spec or judge")


@dataclass(frozen=True, kw_only=True)
class ThreadTask(ScenarioTask):
    """A ScenarioTask whose scenario runs threads: explored (threads/exploration.py), then `stress` real runs."""

    preemptions: int = 2
    schedules: int = 300
    seconds: float = 10.0  # of CPU time, for a case: a limit that right answers do not reach
    stress: int = 20
    allow_busy_waiting: bool = False


@dataclass(frozen=True)
class Question:
    """One number to predict. `truth()` computes it; `slips` maps a wrong answer to what it rests on.

    `otherwise`: what to do about any other wrong answer. `tolerance`: relative, for what cannot be counted exactly.
    """

    name: str
    text: str
    truth: Callable
    slips: dict = field(default_factory=dict)
    otherwise: str = "Draw the 32 lanes of one warp and mark what each one touches."
    tolerance: float = 0.0


@dataclass(frozen=True, kw_only=True)
class PredictionTask(Task):
    questions: tuple


def random_values(rng, *shape, dtype=np.float32):
    """Values in [-1, 1) without zeros or repeats worth speaking of: a coincidence cannot pass for a result."""
    return rng.uniform(-1, 1, shape).astype(dtype)


def unwritten(*shape, dtype=np.float32):
    """An output array full of a NaN that no computation gives, so that an element nobody wrote is seen."""
    bits = {4: (np.uint32, 0x7FC0ABCD), 8: (np.uint64, 0x7FF800000000ABCD)}[np.dtype(dtype).itemsize]
    return np.full(shape, bits[1], bits[0]).view(dtype)


def _modules():
    from . import tasks

    return [
        importlib.import_module(f"{tasks.__name__}.{info.name}")
        for info in sorted(pkgutil.iter_modules(tasks.__path__), key=lambda info: info.name)
    ]


def everything():
    """All tasks, chapter by chapter, in the order of the notebooks."""
    return [task for module in _modules() for task in module.TASKS]


def chapters():
    """The chapters that have tasks, as two-digit strings."""
    return sorted({task.chapter for task in everything()})


def of_chapter(chapter):
    """The tasks of one chapter ("07" or 7)."""
    wanted = f"{int(chapter):02d}" if str(chapter).isdigit() else str(chapter)
    found = [task for task in everything() if task.chapter == wanted]
    if not found:
        raise ValueError(f"Chapter {chapter!r} has no tasks. Chapters with tasks: {', '.join(chapters())}.")
    return found


def find(task_id):
    """The task called `task_id`."""
    tasks = everything()
    for task in tasks:
        if task.id == task_id:
            return task
    near = [task.id for task in tasks if task.chapter == str(task_id)[:2]] or [task.id for task in tasks]
    raise ValueError(f"No task is called {task_id!r}. There are: {', '.join(near)}.")


def hidden_cases(task):
    """Cases kept back for grading; an empty tuple in a copy made for a class (release.py)."""
    try:
        module = importlib.import_module(f"coursework.hidden.chapter_{task.chapter}")
    except ModuleNotFoundError:
        return ()
    return tuple(module.CASES.get(task.id, ()))
