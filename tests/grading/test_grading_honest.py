"""One extraction: what is green in a student's notebook is green when it is graded, what is red is red.

Each style is run in IPython's shell, as in Jupyter, and checked there. Then its answer crosses the wall: as the texts
that the notebook's process sends, checked and written anew by the grader, defined and run as in the clean process. Both
say the same.
"""

import dataclasses
import sys

import pytest

from coursework import checking, definition
from coursework.answer import AnswerFailed, Local
from coursework.check import notebook_shell
from coursework.grading import servant
from coursework.grading.remote import Remote

pytestmark = pytest.mark.rotates

ADD = """
@cuda.jit
def add(a, b, out):
    i = cuda.grid(1)
    if i < out.size:
        out[i] = a[i] + b[i % b.size]
"""
SIZED = ADD.replace("out.size:", "out.size + 16 - SIZE:")
ROUTED = ADD.replace("a[i] + b[i % b.size]", "plus(a[i], b[i % b.size])")
CHAIN = "".join(f"        elif i == {n}:\n            out[i] = a[i] + b[i % b.size]\n" for n in range(2, 200))
PLUS = "@cuda.jit(device=True)\ndef plus(x, y):\n    return x + y\n"

KERNELS = {
    "as it is": [ADD],
    "a magic": ["%matplotlib inline\n" + ADD],
    "a timer left in": [ADD + "%timeit -n 1 -r 1 sum(range(10))"],
    "a shell's command left in": ["!nproc > /dev/null\n" + ADD],
    "a cell's magic": ["%%capture\n" + ADD],
    "a question to IPython": ["?cuda\n" + ADD],
    "an assignment of a magic": ["here = %pwd\n" + ADD],
    "a computed constant": ["WARP = 4\nSIZE = 4 * WARP", SIZED],
    "a tuple": ["TILE = 16\nSHAPE = (TILE, TILE)", SIZED.replace("SIZE", "SHAPE[0]")],
    "a padded tile": ["TILE = 15\nSIZE = TILE + 1\n" + SIZED],
    "an annotated constant": ["SIZE: int = 16", SIZED],
    "a private constant": ["_SIZE = 16", SIZED.replace("SIZE", "_SIZE")],
    "a constant in an if": ["if 1 > 0:\n    SIZE = 16\nelse:\n    SIZE = 8", SIZED],
    "a constant in a try": ["try:\n    SIZE = 16\nexcept Exception:\n    SIZE = 8", SIZED],
    "a constant of a loop": ["for SIZE in (4, 8, 16):\n    print(SIZE)", SIZED],
    "a constant of a call": ["SIZE = int('16')", SIZED],
    "a constant of NumPy": ["SIZE = np.int64(16)", SIZED],
    "a float of NumPy": ["SIZE = np.float32(16)", SIZED],
    "a constant of a dict": ["SIZES = {'tile': 16}\nSIZE = SIZES['tile']", SIZED],
    "a constant of a class": ["class Settings:\n    size = 16\nSIZE = Settings.size", SIZED],
    "a constant of math": ["SIZE = math.ceil(15.5)", SIZED],
    "a constant of a lambda": ["double = lambda x: 2 * x\nSIZE = double(8)", SIZED],
    "a walrus": ["print(SIZE := 16)", SIZED],
    "unpacked": ["SIZE, *others = 16, 1, 2", SIZED],
    "two names at once": ["A = SIZE = 16", SIZED],
    "a truth": ["FAST = True", ADD.replace("i < out.size", "FAST and i < out.size")],
    "annotated parameters": [ADD.replace("(a, b, out)", "(a: np.ndarray, b: 'array', out: list[float]) -> None")],
    "annotated positional parameters": [ADD.replace("(a, b, out)", "(a: np.ndarray, b, /, out)")],
    "an annotated variable": [ADD.replace("i = cuda", "i: int = cuda")],
    "an announced variable": [ADD.replace("    i = cuda", "    i: int\n    i = cuda")],
    "a docstring in Chinese": [ADD.replace("    i = cuda", '    """向量加法"""\n    i = cuda')],
    "notes in many languages": [ADD.replace("i = cuda.grid(1)", "i = cuda.grid(1)  # поток, 线程, خيط, 🧵")],
    "names in other letters": [ADD.replace("i ", "größe ").replace("[i", "[größe")],
    "an import": ["import math\nimport os, sys\n" + ADD],
    "NumPy by its whole name": ["import numpy\n" + ADD.replace("a[i] +", "numpy.float32(a[i]) +")],
    "math under another name": ["import math as m\n" + ADD.replace("a[i] +", "m.fabs(a[i] * 0) + a[i] +")],
    "a function of math by itself": ["from math import fabs\n" + ADD.replace("a[i] +", "fabs(a[i] * 0) + a[i] +")],
    "a type of NumPy by itself": ["from numpy import float32\n" + ADD.replace("a[i] +", "float32(a[i]) +")],
    "a device function": [PLUS, ROUTED],
    "a device function of a device function": [PLUS + "@cuda.jit(device=True)\ndef more(x, y):\n    return plus(x, y)\n", ROUTED.replace("plus", "more")],
    "a device function under another name": [PLUS + "both = plus", ROUTED.replace("plus", "both")],
    "the kernel under another name": [ADD.replace("def add", "def my_kernel") + "add = my_kernel"],
    "written twice": [ADD.replace("+ b", "- b"), ADD],
    "a kernel in an if": ["if True:\n" + "".join(f"    {line}\n" for line in ADD.strip().splitlines())],
    "made by a function": [
        "def make(SIZE):\n" + "".join(f"    {line}\n" for line in SIZED.strip().splitlines()) + "    return add\nadd = make(16)"
    ],
    "a long chain": [ADD.replace("if i < out.size:", "if i >= out.size:\n            return\n        elif i == 1:").replace(
        "    out[i] = a[i] + b[i % b.size]\n", "        out[i] = a[i] + b[i % b.size]\n" + CHAIN + "        else:\n            out[i] = a[i] + b[i % b.size]\n"
    ).replace("    if i >= out.size", "    if True:\n        if i >= out.size")],
    "an empty call of the decorator": [ADD.replace("cuda.jit", "cuda.jit()")],
    "an option": [ADD.replace("cuda.jit", "cuda.jit(fastmath=True)")],
    "on one line": ["@cuda.jit\ndef add(a, b, out):\n    i = cuda.grid(1); n = out.size\n    if i < n: out[i] = a[i] + b[i % b.size]"],
    "with tabs": [ADD.replace("    ", "\t")],
    "with ends of lines of Windows": [ADD.replace("\n", "\r\n")],
    "over several lines": [ADD.replace("a[i] + b[i % b.size]", "(\n            a[i]  # first\n            + \\\n            b[i % b.size]\n        )")],
    "a guard that leaves": [ADD.replace("if i < out.size:", "if i >= out.size:\n        return\n    if True:")],
    "with prints and a trial beside it": [ADD + "x = np.ones(4, np.float32)\nadd[1, 32](x, x, x)\nprint(x)\nassert x[0] == 2"],
    "with a helper class beside it": ["class Timer:\n    def __enter__(self):\n        return self\n    def __exit__(self, *error):\n        pass\n" + ADD],
}  # fmt: skip
RED_KERNELS = {
    "a list": ["SIZE = [16]", SIZED.replace("SIZE", "SIZE[0]")],
    "a text": ["SIZE = '16'", SIZED],
    "an array": ["SIZE = np.ones(1)", SIZED.replace("SIZE", "SIZE[0]")],
    "a plain function": ["def plus(x, y):\n    return x + y", ROUTED],
    "a name that nobody made": [SIZED],
    "a wrong constant": ["SIZE = 20", SIZED],
    "no decorator": [ADD.replace("@cuda.jit", "")],
    "two decorators": ["def same(f):\n    return f\n" + ADD.replace("@cuda", "@same\n@cuda")],
    "a default value": [ADD.replace("out)", "out, n=3)")],
    "a new meaning for min": ["min = 3\n" + ADD.replace("if i", "if min == 3 and i")],
    "a new meaning for np": ["import math as np\n" + ADD.replace("a[i] +", "np.float32(a[i]) +")],
    "a sum of 600 terms": [ADD.replace("a[i] + b", "a[i]" + " + 0" * 600 + " + b")],
    "a form feed, by which IPython counts lines and Python does not": ["SIZE = 16\n\x0c\n" + SIZED],
    "the kernel before": [ADD, ADD.replace("+ b", "- b")],
}

FIRST = (
    "@njit\ndef scale_shift(x, scale, shift, out):\n    for n in range(x.shape[0]):\n        for i in "
    "range(x.shape[1]):\n            for j in range(x.shape[2]):\n                for c in range(x.shape[3]):\n"
    "                    out[n, i, j, c] = x[n, i, j, c] * scale[c] + shift[c]\n"
)
COMPILED = {
    "kept on disk": [FIRST.replace("@njit", "@njit(cache=True)")],
    "numba's own": [FIRST.replace("@njit", "@numba.njit")],
    "numba under another name": ["import numba as nb\n" + FIRST.replace("@njit", "@nb.njit")],
    "njit under another name": ["from numba import njit as fast\n" + FIRST.replace("@njit", "@fast")],
    "a slice": [FIRST.replace("for c in range(x.shape[3]):\n                    out[n, i, j, c] = x[n, i, j, c] * scale[c] + shift[c]", "out[n, i, j, :] = x[n, i, j, :] * scale + shift")],
    "a helper and a number": ["ONE = 1.0", "@njit(inline='always')\ndef line(x, a, b):\n    return x * a * ONE + b", FIRST.replace("x[n, i, j, c] * scale[c] + shift[c]", "line(x[n, i, j, c], scale[c], shift[c])")],
}  # fmt: skip

MEAN = """
class Mean:
    def __init__(self):
        self.count, self.total, self._lock = 0, 0, threading.Lock()
    def add(self, value):
        with self._lock:
            self.total += value
            self.count += 1
    def read(self):
        with self._lock:
            return self.count, self.total
"""
PLAIN = {
    "as it is": [MEAN],
    "threading under another name": ["import threading as t\n" + MEAN.replace("threading.Lock", "t.Lock")],
    "a lock by itself": ["from threading import RLock\n" + MEAN.replace("threading.Lock", "RLock")],
    "a lock under another name": ["from threading import Lock as L\n" + MEAN.replace("threading.Lock", "L")],
    "a lock of the notebook": ["lock = threading.Lock()\n" + MEAN.replace("self._lock = 0, 0, threading.Lock()", "self.x = 0, 0, 0").replace("self._lock", "lock")],
    "annotations": [MEAN.replace("    def __init__", "    count: int = 0\n    def __init__").replace("value)", "value: float)").replace("read(self)", "read(self) -> tuple[int, float]")],
    "a helper class": ["class Guard:\n    def __init__(self):\n        self.lock = threading.Lock()\n" + MEAN.replace("threading.Lock()", "Guard().lock")],
    "an error of its own": ["class Wrong(ValueError):\n    pass\n" + MEAN.replace("        with self._lock:\n            self.total", "        if value is None:\n            raise Wrong('nothing')\n        with self._lock:\n            self.total")],
    "a table and a text": ["START = {'count': 0, 'total': 0}\nNAME = 'mean'\n" + MEAN.replace("0, 0, threading", "START['count'], START['total'], threading")],
    "a cell's magic": ["%%capture\n" + MEAN],
    "the class under another name": [MEAN.replace("class Mean", "class Mine") + "Mean = Mine"],
    "a base class": [MEAN.replace("class Mean", "class Base"), "class Mean(Base):\n    '''Ours.'''\n    def more(self):\n        return 1\n"],
    "a function beside it": ["def plus(a, b):\n    return a + b\n" + MEAN.replace("self.total += value", "self.total = plus(self.total, value)")],
    "a defaultdict": ["from collections import defaultdict\n" + MEAN.replace("self.count, self.total, self._lock = 0, 0,", "self.d, self.total, self._lock = defaultdict(int), 0,").replace("self.count += 1", "self.d['n'] += 1").replace("self.count, self.total\n", "self.d['n'], self.total\n")],
    "a magic inside": [MEAN + "%time mean = Mean()\n"],
}  # fmt: skip
RED_PLAIN = {
    "no lock": [MEAN.replace("with self._lock:", "if True:")],
    "a module that is not in the list": ["import os\n" + MEAN.replace("self.count += 1", "self.count += 1; os.getpid()")],
    "a class that a function made": ["from collections import namedtuple\nPair = namedtuple('Pair', 'a b')\n" + MEAN.replace("return self.count, self.total", "return Pair(self.count, self.total)")],
}  # fmt: skip
TASKS = {
    "07-add": ("add", KERNELS, RED_KERNELS),
    "04-channels": ("scale_shift", COMPILED, {}),
    "02-mean": ("Mean", PLAIN, RED_PLAIN),
}
GREEN = [(task, style) for task, (_, styles, _) in TASKS.items() for style in styles]
RED = [(task, style) for task, (_, _, styles) in TASKS.items() for style in styles]
SETUP = (
    "import math, threading, time, queue\nimport numba\nimport numpy as np\nfrom numba import njit, prange\nfrom "
    "dlkernels import cuda"
)


class Wall:
    """A session without processes: what crosses the wall is what crosses it in grading."""

    def __init__(self, scope):
        self.scope, self.flags = scope, []

    def ask_notebook(self, operation, name, arguments=()):
        return servant.carry_out({"operation": operation, "name": name, "arguments": arguments}, self.scope)

    def ask_clean(self, operation, name, sources, **request):
        request |= {"operation": operation, "name": name}
        return _plain(servant.carry_out(request, servant.define(sources, request["plain"])))


def _plain(value):
    """As JSON has it."""
    if isinstance(value, dict):
        return {key: _plain(part) for key, part in value.items()}
    return [_plain(part) for part in value] if isinstance(value, tuple | list) else value


@pytest.fixture
def shell(monkeypatch):
    monkeypatch.setitem(sys.modules, "__main__", sys.modules["__main__"])  # a shell puts its own there
    shell = notebook_shell()
    shell.reset(new_session=True)
    return shell


def both(shell, task_id, cells):
    """What the student's check and the grader's say of the answer in some cells."""
    name = TASKS[task_id][0]
    for cell in (SETUP, *cells):
        shell.run_cell(cell, store_history=True)
    task = definition.find(task_id)
    task = dataclasses.replace(task, cases=task.cases[1:2] if task_id == "02-mean" else task.cases[:1])
    own = checking.check(task, Local(shell.user_ns[name]))
    return own, checking.check(task, Remote(Wall(shell.user_ns), name))


@pytest.mark.parametrize(("task", "style"), GREEN)
def test_what_is_green_for_the_student_is_green_when_graded(shell, task, style):
    own, graded = both(shell, task, TASKS[task][1][style])
    assert own.status == checking.RIGHT, own
    assert graded.status == checking.RIGHT, graded


@pytest.mark.parametrize(("task", "style"), RED)
def test_what_is_red_for_the_student_is_red_when_graded(shell, task, style):
    own, graded = both(shell, task, TASKS[task][2][style])
    assert own.status != checking.RIGHT, own
    assert graded.status != checking.RIGHT, graded
    assert own.failure.kind == graded.failure.kind


@pytest.mark.parametrize(
    "said",
    [
        "np.int64(4)",
        "int(4)",
        "4",
        "len('abcd')",
        "8 // 2",
        "np.arange(5)[4]",
        "4 if True else 0",
        "np.uint8(4)",
        "sum([1, 3])",
        "0x4",
    ],
)
def test_numbers_of_any_type_are_the_same_numbers(shell, said):
    task = definition.find("07-sectors")
    names = [question.name for question in task.questions]
    truths = {question.name: question.truth() for question in task.questions}
    shell.run_cell(SETUP + "".join(f"\n{name} = ({said}) - 4 + {truths[name]}" for name in names))
    own = checking.check(task, {name: shell.user_ns[name] for name in names})
    wall = Wall(shell.user_ns)
    graded = checking.check(task, {name: Remote(wall, name).value() for name in names})
    assert (own.status, graded.status) == (checking.RIGHT, checking.RIGHT)


def test_an_answer_that_changes_between_check_and_budget_is_checked_again():
    before, after = Remote(Wall({}), "f"), Remote(Wall({}), "f")
    before.asked, before.said = ["kernel", {}], {"name": "f", "texts": ["1"]}
    after.said = {"name": "f", "texts": ["2"]}
    assert not after.is_still(before)
    after.said = {"name": "f", "texts": ["1"]}
    assert after.is_still(before)
    with pytest.raises(AnswerFailed):
        Remote(Wall({}), "f").ask(before.asked)
