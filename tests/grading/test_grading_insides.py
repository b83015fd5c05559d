"""Cells that ask the course for its own answers are told; no honest notebook is."""

import ast
from pathlib import Path

import answers
import pytest

from coursework import build
from coursework.grading.intake import insides, merge
from coursework.grading.intake.merge import Step

ROOT = Path(__file__).resolve().parents[2]
SETUP = Step("given", "07-setup", "from coursework.notebook import begin, check, hint, predict\nbegin('07')")


def told(*cells):
    steps = [Step("extra", f"after-07-setup-{i}", source) for i, source in enumerate(cells[:-1])]
    return insides.flags([SETUP, *steps, Step("answer", "07-sectors", cells[-1])])


@pytest.mark.parametrize(
    ("source", "words"),
    [
        ("from coursework import definition", "coursework.definition"),
        ("import coursework.tasks.c07 as t\nx = t.LAUNCH", "coursework.tasks.c07, t"),
        (
            "from coursework.tasks.c03.shared import makespan\ny = makespan([1], 2, 3)",
            "coursework.tasks.c03.shared.makespan, makespan",
        ),
        ("def f():\n    from coursework.variants import of", "coursework.variants.of"),
        ("import coursework.notebook\nd = coursework.notebook.definition.find", ".definition"),
        ("from coursework.notebook import _task", "coursework.notebook._task"),
        ("d = check.__globals__['definition']", ".__globals__"),
        ("import importlib\nd = importlib.import_module('coursework.definition')", "coursework.definition"),
        ("import sys\nd = sys.modules['coursework.tasks.c07']", "coursework.tasks"),
        ("s = open('lib/coursework/tasks/c07/launch.py').read()", "coursework/tasks"),
        ("!cat lib/coursework/tasks/c07/launch.py", "coursework/tasks"),
        ("text = !cat lib/coursework/hidden/c07.py", "coursework/hidden"),
        ("neighbours = question.truth()", ".truth"),
        ("r = task.spec(1), task.judge", ".spec, .judge"),
        ("d = __import__('course' + 'work.def' + 'inition', fromlist=['x'])", "__import__"),
        ("import importlib\nd = importlib.import_module('.'.join(('coursework', 'tasks')))", ".import_module"),
        ("from importlib import import_module as bring\nd = bring(''.join(parts))", "bring"),
        ("f = __import__\nd = f('coursework')", "__import__"),
        ("import sys\nd = [m for n, m in sys.modules.items() if n.endswith('c07')]", ".modules"),
        ("import sys\nd = getattr(sys, 'mod' + 'ules')", "getattr(sys, 'mod' + 'ules')"),
        ("import coursework.notebook as n\nd = getattr(n, 'def' + 'inition')", "getattr(n, 'def' + 'inition')"),
        ("exec('from course' + 'work import definition')", "a program that is put together"),
        ("exec('from coursework import definition as d')", "coursework.definition"),
        ("d = [c for c in object.__subclasses__() if c.__name__ == 'Task']", ".__subclasses__"),
        ("d = (lambda: 0).__globals__['__builtins__']", ".__globals__"),
        ("import gc\nd = gc.get_objects()", ".get_objects"),
        ("b = __builtins__\nd = b.__dict__", "__builtins__"),
    ],
)
def test_what_knows_the_answers_is_told(source, words):
    assert told(source) == [f"asks the course for its own answers: cell 07-sectors ({words})"]


def test_a_name_is_known_from_another_cell():
    assert told("from coursework import definition as d", "x = 1", "y = d.find('07-sectors')") == [
        "asks the course for its own answers: cell after-07-setup-0 (coursework.definition)",
        "asks the course for its own answers: cell 07-sectors (d)",
    ]


@pytest.mark.parametrize(
    "source",
    [
        "from coursework.kept import kernels\nmine = kernels('matmul')",
        "# coursework.definition has what is right\nneighbours = 4",
        "'''I did not look at coursework.tasks, and q.truth() is not mine.'''\nneighbours = 4",
        "truth = 3\ndef judge(spec):\n    return truth - spec",
        "class Row:\n    truth: int = 3\n    def judge(self):\n        return self.truth\nx = Row().judge()",
        "class Row:\n    def __init__(self):\n        self.spec = 1\nx = Row().spec",
        "from collections import namedtuple\nRow = namedtuple('Row', 'guess truth')\nx = Row(1, 2).truth",
        "from types import SimpleNamespace\nx = SimpleNamespace(truth=1).truth",
        "def makespan(costs, threads):\n    return max(costs)\nx = makespan([1], 2)",
        "import coursework\nprint(coursework.__file__)",
        "variants = tasks = definition = hidden = 3\nprint(variants + tasks + definition + hidden)",
        "def f(:\n    from coursework import definition",
        "x = " + "(" * 5000 + ")" * 5000,
        "import sys\ncolab = 'google.colab' in sys.modules\nt = sys.modules.get('torch')",
        "import importlib\ntorch = importlib.util.find_spec('torch') and importlib.import_module('torch')",
        "n = __import__('os').cpu_count()",
        "x = [getattr(np, name)(1.0) for name in ('sin', 'cos')]",
        "y = eval('1 + 1')",
        "modules = {}\nmodules['a'] = 1",
        "%timeit sum(range(3))\n!nproc",
    ],
)
def test_honest_cells_are_not(source):
    assert told(source) == []


@pytest.mark.parametrize("folder", ["exercises", "solutions"])
def test_no_notebook_of_the_course_is_told(folder):
    found = {}
    for path in sorted((ROOT / folder).glob("*.ipynb")):
        cells = [cell for cell in build.read(path).cells if cell.cell_type == "code"]
        found[path.name] = insides.flags([Step("extra", cell.id, cell.source) for cell in cells])
    assert len(found) >= 12
    assert {name: flags for name, flags in found.items() if flags} == {}


def test_no_right_answer_of_the_tests_is_told():
    """Each as the answer that it is, without the module around it."""
    count = 0
    for path in sorted((ROOT / "tests" / "wrong_answers").glob("[0-9]*.py")):
        nodes = ast.parse(path.read_text(encoding="utf-8")).body
        right = {
            node.name: ast.unparse(node)
            for node in nodes
            if isinstance(node, ast.FunctionDef | ast.ClassDef) and (ast.get_docstring(node) or "").startswith("right")
        }
        for name, value in vars(answers.load(path.stem.replace("_", "-"))).items():
            if isinstance(value, answers.edit) and value.__doc__ == "right":
                right[name] = value.source
        count += len(right)
        for name, source in right.items():
            assert insides.flags([Step("answer", name, source)]) == [], (path.name, name)
    assert count > 100


def test_a_merged_notebook_is_told_once_for_each_cell():
    master, shipped = merge.canonical(next((ROOT / "solutions").glob("07_*.ipynb")))
    cells = [("07-sectors", "07-sectors", "from coursework import definition"), ("", "", "x = definition.find")]
    assert len(insides.flags(merge.merge(master, shipped, cells).steps)) == 2
