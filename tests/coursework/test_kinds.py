"""Kinds of tasks: a new one is one file; unknown keys are refused; a check imports what it needs."""

import ast
import inspect
import json
import re
import subprocess
import sys
from pathlib import Path

import masters
import nbformat
import numpy as np
import pytest

import coursework.tasks
from coursework import build, check, diagnosis, executed, notebook, progress
from coursework.answer import Cost
from coursework.definition import Budget, Case
from coursework.grading import grade, plugin, sandbox
from coursework.kinds import compiled, kernel, parallel
from coursework.kinds.compiled import CompiledTask
from coursework.kinds.counterexample import CounterexampleTask, Flaw
from coursework.kinds.data import Whole
from coursework.kinds.detective import DetectiveTask, Fault
from coursework.kinds.function import FunctionTask
from coursework.kinds.kernel import KernelTask
from coursework.kinds.measured import MeasuredTask
from coursework.kinds.parallel import ParallelTask, Watch
from coursework.kinds.prediction import PredictionTask, Question
from coursework.kinds.scenario import ScenarioTask
from coursework.kinds.schedule import RoundTask, ScheduleTask
from coursework.kinds.thread import ThreadTask
from cpulab.explore import Program

ROOT = Path(__file__).resolve().parents[2]
COMMON = {"title": "t", "objective": "Write it", "points": 3, "minutes": 5, "hints": ("a", "b", "c")}

# a new kind ------------------------------------------------------------------------------------------------------

CHAPTER = '''
"""A chapter with a kind of its own: a sentence, with a budget of words."""

from dataclasses import dataclass

from coursework.checking import arguments_of, attempt, headline, names_of
from coursework.definition import Budget, Case, Over, Task
from coursework.outcome import Failed, Failure


@dataclass(frozen=True, kw_only=True)
class SentenceTask(Task):
    """The answer is a function of a name that returns a sentence about it."""

    cases: tuple

    def failures(self):
        return (*super().failures(), "nameless")

    def counts(self):
        return {"words": "words in the sentence"}

    def examine(self, answer, cases, seed):
        for index, case in enumerate(cases):
            self._sentence(answer, case, arguments_of(case, seed, index))
        return (names_of(self, cases),), "Style was not looked at."

    def overspent(self, answer, case, arguments):
        words, most = len(self._sentence(answer, case, arguments).split()), self.budget.require["words"]
        return ([Over("words", words, most)] if words > most else []), {}

    def _sentence(self, answer, case, arguments):
        sentence, _ = attempt(self, case, lambda: answer.call(arguments))
        if arguments[0] not in str(sentence):
            cause = self.advice.get("nameless", "The name is missing.")
            raise Failed(Failure("nameless", f"{headline(case)} no name", (("got", repr(sentence)),), cause))
        return sentence


GREET = SentenceTask(
    id="99-greet",
    title="A greeting",
    objective="Greet somebody by name",
    points=3,
    minutes=5,
    hints=("Who?", "An f-string.", "return f'Hello {name}'"),
    cases=(Case("Ada", lambda rng: ("Ada",)), Case("Grace", lambda rng: ("Grace",))),
    advice={"nameless": "Whom do you greet?"},
    budget=Budget(points=1, text="at most two words", require={"words": 2}, over="Be brief."),
)
TASKS = (GREET,)
'''

GREETINGS = {
    "solved": 'return f"Hello {name}"',
    "wrong": 'return "Hello you"',
    "wordy": 'return f"A very good day to you, {name}"',
    "shipped": "raise NotImplementedError",
}


@pytest.fixture
def chapter(tmp_path, monkeypatch):
    """The new chapter, in a folder of its own, and its master notebook in `solutions/`."""
    (tmp_path / "tasks").mkdir()
    (tmp_path / "tasks" / "c99.py").write_text(CHAPTER)
    monkeypatch.setattr(coursework.tasks, "__path__", [*coursework.tasks.__path__, str(tmp_path / "tasks")])
    monkeypatch.setenv("DLKERNELS_PROGRESS", str(tmp_path / "progress.json"))
    monkeypatch.setattr(notebook, "OUTCOMES", [])
    cells = [
        ("99-greet", f"def greet(name):\n    ### BEGIN SOLUTION\n    {GREETINGS['solved']}\n    ### END SOLUTION"),
        ("99-greet-check", 'check("99-greet", greet)'),
        ("99-greet-budget", 'budget("99-greet", greet)'),
    ]
    master = nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell(source, id=name) for name, source in cells])
    (tmp_path / "solutions").mkdir()
    (tmp_path / "solutions" / "99_greet.ipynb").write_text(build.text_of(master))
    build.build(tmp_path)
    yield tmp_path
    sys.modules.pop("coursework.tasks.c99", None)


def function(name):
    scope = {"__name__": "answer"}
    exec(f"def greet(name):\n    {GREETINGS[name]}", scope)
    return scope["greet"]


def test_a_new_kind_is_one_file_for_the_student(chapter, capsys):
    notebook.check("99-greet", function("solved"))
    notebook.budget("99-greet", function("solved"))
    said = capsys.readouterr().out
    assert "99-greet: result right (3 points)" in said
    assert "Style was not looked at" in said
    assert "Within the budget: at most two words." in said
    outcomes = {(o.task, o.part): o for o in notebook.OUTCOMES}
    lines, right = check.report(Path("99_greet.ipynb"), outcomes, [])
    assert right
    assert "4 of 4 points on the visible cases." in lines
    assert "[x] 99-greet" in progress.table(progress.read())
    with pytest.raises(notebook.CheckFailed):
        notebook.budget("99-greet", function("wordy"))
    assert "words in the sentence 7; the budget is 2" in " ".join(capsys.readouterr().out.split())
    with pytest.raises(notebook.CheckFailed):
        notebook.check("99-greet", function("wrong"))
    assert "Whom do you greet?" in capsys.readouterr().out
    with pytest.raises(notebook.NotSolvedYet):
        notebook.check("99-greet", function("shipped"))
    with pytest.raises(ValueError, match="99-greet is no prediction; use check"):
        notebook.predict("99-greet", name=1)


@pytest.mark.rotates
@pytest.mark.parametrize(
    ("answer", "points", "kinds"),
    [("solved", 4, ["", ""]), ("wrong", 0, ["nameless", "nameless"]), ("wordy", 3, ["", "over-budget"])],
)
def test_a_new_kind_is_one_file_for_the_grader(chapter, request, answer, points, kinds):
    exercise = build.read(chapter / "exercises" / "99_greet.ipynb")
    next(filter(build.is_answer, exercise.cells)).source = f"def greet(name):\n    {GREETINGS[answer]}"
    path = chapter / "99_greet.ipynb"
    path.write_text(build.text_of(exercise))
    collector = plugin.Notebook.from_parent(request.session, path=path)
    master = chapter / "solutions" / "99_greet.ipynb"
    row = grade.grade("anna", "99_greet", path, master, "rlimit", sandbox.Limits(120, 1200), 1, collector)
    assert (row["points"], row["max_points"], row["status"]) == (points, 4, "graded"), row["tasks"]
    assert [task["kind"] for task in row["tasks"]] == kinds
    assert "Ada; Grace" in row["tasks"][0]["text"] or kinds[0]


def test_no_kind_is_named_outside_its_file():
    folder = ROOT / "lib" / "coursework"
    names = {p.stem.title() + "Task" for p in (folder / "kinds").glob("*.py")} - {"__Init__Task"}
    for path in folder.rglob("*.py"):
        if path.relative_to(folder).parts[0] in ("kinds", "tasks", "first.py"):
            continue
        used = {n.id for n in ast.walk(ast.parse(path.read_text())) if isinstance(n, ast.Name)}
        assert not used & names, path


# unknown keys ----------------------------------------------------------------------------------------------------


def scenario(answer, n):
    return answer(n)


def counted(answer, n):
    return helper(answer, n)


def helper(answer, n):
    return {"in_flight": n}


CASES = (Case("c", lambda rng: (1,)),)
KINDS = {
    KernelTask: {"spec": np.add, "cases": CASES},
    CompiledTask: {"spec": np.add, "cases": CASES},
    ParallelTask: {"spec": np.add, "cases": CASES},
    FunctionTask: {"judge": lambda a, r: None, "cases": CASES},
    ScenarioTask: {"scenario": scenario, "spec": abs, "cases": CASES},
    ThreadTask: {"scenario": counted, "spec": abs, "cases": CASES},
    MeasuredTask: {"spec": np.add, "cases": CASES, "claimed": CASES[0], "measured": CASES[0], "card": None},
    ScheduleTask: {"program": Program("", A=("f",)), "score": len, "shown": "{}"},
    RoundTask: {"program": Program("", A=("f",)), "score": len, "shown": {}},
    PredictionTask: {"questions": (Question("q", "?", lambda: 1),)},
}
JUDGE = FunctionTask(id="99-j", **COMMON, **KINDS[FunctionTask])
KINDS |= {
    CounterexampleTask: {
        "flaws": (Flaw("f", JUDGE, wrong=abs, right=abs, fields={"n": Whole(1, 2)}, case=lambda n: CASES[0], lead="?"),)
    },
    DetectiveTask: {
        "judge": JUDGE,
        "programs": {"A": abs},
        "faults": (Fault("right", "r"), Fault("stops", "s", ("raised-IndexError",))),
    },
}


def make(kind, **options):
    return kind(**{"id": "99-x", **COMMON, **KINDS[kind], **options})


def limits(**require):
    return Budget(points=1, text="t", require=require, over="o")


@pytest.mark.parametrize(
    ("kind", "options", "says"),
    [
        (KernelTask, {"advice": {"out-of-bonds": "?"}}, "advice has no 'out-of-bonds'; did you mean 'out-of-bounds'?"),
        (KernelTask, {"advice": {"one-blok": "?"}}, "advice has no 'one-blok'; did you mean 'one-block'?"),
        (KernelTask, {"tell_first": ("rase",)}, "tell_first has no 'rase'; did you mean 'race'?"),
        (KernelTask, {"budget": limits(bank_way=1)}, "budget has no 'bank_way'; did you mean 'bank_ways'?"),
        (CompiledTask, {"advice": {"not-finit": "?"}}, "advice has no 'not-finit'; did you mean 'not-finite'?"),
        (CompiledTask, {"advice": {"one-block": "?"}}, "advice has no 'one-block'"),
        (CompiledTask, {"budget": limits(array=0)}, "budget has no 'array'; did you mean 'arrays'?"),
        (CompiledTask, {"budget": limits(false_sharing=0)}, "budget has no 'false_sharing'"),
        (ParallelTask, {"advice": {"races": "?"}}, "advice has no 'races'; did you mean 'race'?"),
        (ParallelTask, {"budget": limits(inbalance=1)}, "budget has no 'inbalance'; did you mean 'imbalance'?"),
        (ParallelTask, {"watch": Watch(schedule="cyclical")}, "watch.schedule has no 'cyclical'; did you mean "
                                                              "'cyclic'?"),
        (FunctionTask, {"advice": {"raised-IndexErorr": "?"}}, "advice has no 'raised-IndexErorr'; did you mean "
                                                               "'raised-IndexError'?"),
        (FunctionTask, {"budget": limits(arrays=0)}, "budget has no 'arrays'; a FunctionTask takes none"),
        (ScenarioTask, {"advice": {"dead-lock": "?"}}, "advice has no 'dead-lock'; did you mean 'deadlock'?"),
        (ScenarioTask, {"budget": limits(in_flight=2)}, "budget has no 'in_flight'"),
        (ThreadTask, {"advice": {"busy-wait": "?"}}, "advice has no 'busy-wait'; did you mean 'busy-waiting'?"),
        (ThreadTask, {"budget": limits(inflight=2)}, "budget has no 'inflight'; did you mean 'in_flight'?"),
        (MeasuredTask, {"advice": {"flop": "?"}}, "advice has no 'flop'; did you mean 'flops'?"),
        (MeasuredTask, {"budget": limits(arrays=0)}, "budget has no 'arrays'; a MeasuredTask takes none"),
        (ScheduleTask, {"advice": {"imposible": "?"}}, "advice has no 'imposible'; did you mean 'impossible'?"),
        (ScheduleTask, {"advice": {"no-round": "?"}}, "advice has no 'no-round'"),
        (RoundTask, {"advice": {"noround": "?"}}, "advice has no 'noround'; did you mean 'no-round'?"),
        (PredictionTask, {"advice": {"deadlock": "?"}}, "advice has no 'deadlock'; a PredictionTask takes none"),
        (PredictionTask, {"budget": limits(arrays=0)}, "budget has no 'arrays'; a PredictionTask takes none"),
        (CounterexampleTask, {"advice": {"agree": "?"}}, "advice has no 'agree'; did you mean 'agrees'?"),
        (CounterexampleTask, {"budget": limits(n=1)}, "budget has no 'n'; a CounterexampleTask takes none"),
        (DetectiveTask, {"advice": {"verdicts": "?"}}, "advice has no 'verdicts'; did you mean 'verdict'?"),
        (DetectiveTask, {"faults": (Fault("right", "r"), Fault("s", "s", ("raced",)))}, "faults has no 'raced'"),
    ],
)  # fmt: skip
def test_unknown_keys_are_refused_where_the_task_is_defined(kind, options, says):
    with pytest.raises(ValueError, match="task 99-x: ") as error:
        make(kind, **options)
    assert says in str(error.value)
    assert make(kind)


def test_known_keys_are_taken():
    assert make(KernelTask, advice={"tail": "?", "raised-OutOfBounds": "?"}, budget=limits(bank_ways=1))
    assert make(ParallelTask, advice={"carried-scalar": "?"}, budget=limits(arrays=0, imbalance=1))
    assert make(ThreadTask, advice={"livelock": "?"}, budget=limits(in_flight=2))


def test_the_x_ray_finds_and_counts_what_kernel_tasks_may_name():
    from dlkernels import cuda
    from simt.xray import budget, xray
    from simt.xray.cures import CURES
    from simt.xray.finding import RACE_KINDS

    @cuda.jit
    def fill(out):
        out[cuda.grid(1)] = 1

    totals = xray(fill, 1, 32)(np.zeros(32, np.float32)).total
    assert {*budget.AT_MOST, *budget.AT_LEAST, *budget.SUMS, *totals, "races", "findings"} == set(kernel.COUNTS)
    assert {*CURES, *RACE_KINDS} == set(kernel.FINDINGS)


def test_watch_counts_what_parallel_tasks_may_name():
    from numba import prange

    from cpulab.watch import SCHEDULES, watch

    def fill(out):
        for i in prange(out.size):
            out[i] = 1

    counts = watch(fill)(np.zeros(4)).counts()
    assert set(counts) - {"races", "carried"} == set(parallel.WATCHED)
    assert parallel.SCHEDULES == SCHEDULES


def test_compiled_code_is_measured_by_what_compiled_tasks_may_name():
    assert {*Cost.__dataclass_fields__, *executed.costs("", [])} == set(compiled.COUNTS)


def test_the_lists_of_failures_are_those_of_the_code():
    """Every kind that is written as a text in diagnosis.py is listed; and every finding of the explorer."""
    from cpulab.explore import findings

    told = set()
    written = (diagnosis._pattern_of_unwritten, diagnosis._suspected, diagnosis._one_element, diagnosis._shape_of_error)
    for f in (*written, diagnosis.diagnose):
        pairs = [n for n in ast.walk(ast.parse(inspect.getsource(f))) if isinstance(n, ast.Tuple)]
        first = [n.elts[0] for n in pairs if n.elts]
        told |= {n.value for n in first if isinstance(n, ast.Constant) and isinstance(n.value, str) and n.value}
    assert told == {*diagnosis.KINDS, *diagnosis.LAUNCH_KINDS}
    calls = [n for n in ast.walk(ast.parse(inspect.getsource(findings))) if isinstance(n, ast.Call)]
    texts = {
        c.args[0].value for c in calls if getattr(c.func, "id", "") == "Finding" and isinstance(c.args[0], ast.Constant)
    }
    assert len(texts) > 5
    assert texts - {"exception"} <= set(make(ThreadTask).failures())


# what a check imports --------------------------------------------------------------------------------------------

ENGINES = {"simt.compiled", "simt.executor", "simt.xray"}
NUMBERS = {"dlkernels", "numba"}
IMPORTS = [  # task, at most so many modules of ours beside those of the student's own imports, none of these
    ("01-predict", 40, ENGINES | NUMBERS | {"simt.cuda", "cpulab.watch", "cpulab.measure"}),
    ("01-roof", 40, ENGINES | NUMBERS | {"simt.cuda", "cpulab.watch", "cpulab.measure"}),
    ("02-mean", 41, ENGINES | NUMBERS | {"simt.cuda", "cpulab.watch", "cpulab.measure"}),
    ("03-predict", 56, ENGINES | {"dlkernels", "simt.cuda", "cpulab.measure"}),
    ("03-largest", 60, ENGINES | {"dlkernels", "simt.cuda", "cpulab.measure"}),
    ("04-sums", 29, ENGINES | {"dlkernels", "simt.cuda", "cpulab"}),
    ("07-add", 63, {"cpulab"}),
]
CHECK_ONE = """
import json, linecache, sys
task_id, imports, source, name = sys.argv[1:]
exec(imports)
before = set(sys.modules)
from coursework import checking, definition
from coursework.answer import Local
task = definition.find(task_id)
if task.part == "prediction":
    answer = {q.name: q.truth() for q in task.questions}
else:
    linecache.cache["<answer>"] = (len(source), None, source.splitlines(True), "<answer>")
    scope = {"__name__": "answer"}
    exec(compile(source, "<answer>", "exec"), scope)
    answer = Local(scope[name], admitted=True)
outcome = checking.check(task, answer)
assert outcome.status == "right", outcome.failure
print(json.dumps([sorted(sys.modules), sorted(sys.modules.keys() - before)]))
"""
FIRST_LINES = {
    "01": "import math\n",
    "02": "import threading\n",
    "03": "import numpy as np\nfrom numba import get_num_threads, get_thread_id, njit, prange\n",
    "04": "import numpy as np\nfrom numba import njit\n",
    "07": "from dlkernels import cuda\n",
}


@pytest.mark.rotates
@pytest.mark.parametrize(("task", "most", "without"), IMPORTS)
def test_a_check_imports_what_it_needs(task, most, without):
    source = masters.cells(task[:2])
    call = re.search(rf'check\("{task}", (\w+)\)', source[f"{task}-check"])
    name = call[1] if call else ""
    imports = FIRST_LINES[task[:2]]
    command = [sys.executable, "-c", CHECK_ONE, task, imports, imports + source[task], name]
    done = subprocess.run(command, capture_output=True, text=True, cwd=ROOT, check=False)
    assert done.returncode == 0, done.stderr
    modules, more = map(set, json.loads(done.stdout))
    ours = {m for m in more if m.split(".")[0] in ("simt", "dlkernels", "training", "cpulab", "coursework")}
    ours = {m for m in ours if not re.match(r"coursework\.tasks\.c\w+\.", m)}  # the tasks of a chapter count as one
    assert not without & modules
    assert len(ours) <= most, sorted(ours)
