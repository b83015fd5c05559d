"""What a student has solved is kept: the source of each solved kernel, in `my_kernels.py` beside the notebooks.

    from my_kernels import add, matmul                 # in a later notebook, once both are solved
    from coursework.kept import kernels
    mine = kernels("matmul", "softmax_rows")           # yours where solved, else NumPy's; says which are whose
    mine.matmul(a, b, out)

`check` and `budget` write it when they turn green. A kernel within its budget is never replaced by one that is only
right. Each stands in a function of its own, so that two tasks may both have a TILE. What else is in the file stays. Of
plain Python the prefetcher of chapter 02 is kept as well.
"""

import ast
import importlib.util
import inspect
import math
import re
import sys
import textwrap
import types
from types import SimpleNamespace

import numpy as np

from cpulab.files import locked, read_text, write_text

from . import golf, progress

FILE = "my_kernels.py"
HEAD = '''"""Your kernels, kept by the checks of the notebooks when they turned green: from my_kernels import matmul

A part between >>> and <<< is replaced when you solve that task again as well or better (in golf: with no higher count).
The rest is yours.
"""

import math

import numba
import numpy as np
from numba import get_num_threads, get_thread_id, njit, prange

from dlkernels import cuda
'''
_KNOWN = {"math", "numba", "np", "get_num_threads", "get_thread_id", "njit", "prange", "cuda"}
_MARK = re.compile(r"^# (?:>>> (\S+): \w+ \((.*?)\)|<<< (\S+))\n", re.MULTILINE)
_RANKS = ("result", "result and budget")
_ROOTS = ("math", "numpy", "numba", "dlkernels", "simt", "queue", "threading", "time", "collections")
_PLAIN = "02-prefetch"  # a task whose answer is plain Python and used again


class NotKept(Exception):
    """The answer's source cannot stand by itself; the message says why."""


def path():
    """Where the kernels are kept, or None where the progress is not."""
    beside = progress.file()
    return beside and beside.with_name(FILE)


def keep(outcome, answer):
    """Keep a kernel whose check (or budget) is green; says in one line why not, where it could not."""
    answer = _function(answer, outcome.task == _PLAIN)
    target, python = path(), getattr(answer, "py_func", None)
    if target is None or python is None:
        return
    rank = _RANKS[outcome.part == "budget"]
    rank += f", golf {outcome.golf['count']:g}" if golf.counts_as_record(outcome.golf) else ""
    try:
        target = target.resolve()  # a link stays one
        part = f"# >>> {outcome.task}: {python.__name__} ({rank})\n{_alone(outcome.task, answer)}# <<< {outcome.task}\n"
        with locked(target):
            old = read_text(target) if target.exists() else HEAD
            new = _with(old, outcome.task, rank, part)
            if new != old:
                ast.parse(new)
                write_text(target, new)
    except NotKept as error:
        print(f"{python.__name__} is not kept in {FILE}: {error}.")
    except SyntaxError as error:
        print(f"Nothing is kept: {FILE} is no Python at line {error.lineno}. Mend that line, or delete the file.")
    except (OSError, ValueError) as error:
        print(
            f"{python.__name__} is not kept: {FILE} cannot be read or written "
            f"({getattr(error, 'strerror', '') or error})."
        )


def _function(value, plain):
    """A function of plain Python as one that was compiled: with its source at `py_func`."""
    return SimpleNamespace(py_func=value) if plain and inspect.isfunction(value) else value


def _with(text, task, rank, part):
    """The file with a part added, or in the place of that task's old one, unless the old one is better."""
    for head, end in _parts(text):
        if head[1] != task:
            continue
        if _worth(rank) < _worth(head[2]):
            return text
        if text[head.start() : end.end()] == part:
            return text
        return text[: head.start()].rstrip("\n") + "\n\n\n" + part + text[end.end() :]
    return text.rstrip("\n") + "\n\n\n" + part


def _worth(rank):
    """What the words in brackets are worth, to be compared: the budget before the result, in golf the lower count."""
    name, _, count = rank.partition(", golf ")
    try:
        count = -float(count)
    except ValueError:
        count = -math.inf
    return _RANKS.index(name) if name in _RANKS else 0, count


def _parts(text):
    """(its >>> line, its <<< line), as matches, of each part; one without an end, or with another one inside, is the
    student's own text."""
    head = None
    for mark in _MARK.finditer(text):
        if mark[1]:
            head = mark
        elif head is not None and mark[3] == head[1]:
            yield head, mark
            head = None


def _alone(task, answer):
    """A function that makes the kernel and all of the notebook that it uses, and the line that calls it."""
    texts, lines = {}, []
    _collect(answer, texts, lines)
    name, maker = answer.py_func.__name__, _maker(task)
    body = "\n\n".join(["\n".join(lines)] * bool(lines) + [text.rstrip("\n") for text in texts.values()])
    body = textwrap.indent(f"{body}\n\nreturn {name}\n", "    ")
    return f"def {maker}():\n{body}\n\n{name} = {maker}()\n"


def _maker(task):
    """The name of the function that makes a task's kernel: kernels of two tasks may be called alike."""
    return "_of_" + re.sub(r"\W", "_", task)


def _collect(function, texts, lines, around=()):
    """Sources of a kernel and its helpers, those first that others use; constants and imports as `lines`."""
    python = function.py_func
    try:
        text = textwrap.dedent(inspect.getsource(python))
    except (OSError, TypeError):
        raise NotKept(f"the source of {python.__name__} was not found") from None
    closure, plain = inspect.getclosurevars(python).nonlocals, isinstance(function, SimpleNamespace)
    for name in dict.fromkeys(n.id for n in ast.walk(ast.parse(text)) if isinstance(n, ast.Name)):
        value = closure.get(name, python.__globals__.get(name, _collect))
        value = _function(value, plain and getattr(value, "__module__", "") == python.__module__)
        is_local = name in python.__code__.co_varnames or name in texts or getattr(value, "py_func", None) is python
        if is_local or name in _KNOWN or value is _collect or value in around:
            continue
        if hasattr(value, "py_func"):
            _collect(value, texts, lines, (*around, function))
        else:
            line = _line(name, value)
            lines += [line] * (line not in lines)
    texts[python.__name__] = text


def _line(name, value):
    """The line that gives `name` its value in another file."""
    if isinstance(value, types.ModuleType) and value.__name__.split(".")[0] in _ROOTS:
        return f"import {name}" if name == value.__name__ else f"import {value.__name__} as {name}"
    if isinstance(value, np.generic):
        value = value.item()
    numbers = value if isinstance(value, tuple) else (value,)
    if numbers and all(isinstance(x, bool | int | float) for x in numbers):
        written = [repr(x) if math.isfinite(x) else f'float("{x}")' for x in numbers]
        return f"{name} = " + (f"({', '.join(written)},)" if isinstance(value, tuple) else written[0])
    home = getattr(value, "__module__", "") or ""
    if home.split(".")[0] in _ROOTS and getattr(sys.modules.get(home), getattr(value, "__name__", ""), None) is value:
        return f"from {home} import {value.__name__} as {name}"
    raise NotKept(f"it uses {name}, which is neither a kernel of the notebook, nor a number, nor a module")


# Used again ----------------------------------------------------------------------------------------------------------


def _bias_silu(x, bias, out):
    z = x + bias
    out[:] = z * (0.5 * (1 + np.tanh(z / 2)))


def _softmax_rows(x, out):
    e = np.exp(x - x.max(axis=1, keepdims=True))
    out[:] = e / e.sum(axis=1, keepdims=True)


def _matmul(a, b, out):
    np.matmul(a, b, out=out)


def _scale_shift(x, scale, shift, out):
    out[:] = x * scale + shift


def _largest(x, where):
    if x.ndim != 1:
        raise ValueError(f"largest takes one row, of shape (n,): got shape {x.shape}. Call it for each row")
    where[0] = np.argmax(x)


def _prefetch(items, load, bound):
    for item in items:
        yield load(item)


# What stands in for a kernel that is not solved: (its task, the function). NumPy's need no compiling.
STAND_INS = {
    "matmul": ("08-ikj", _matmul),
    "bias_silu": ("07-fused", _bias_silu),
    "scale_shift": ("04-channels", _scale_shift),
    "softmax_rows": ("03-softmax", _softmax_rows),
    "largest": ("03-largest", _largest),
}
LOOPS = {"prefetch": (_PLAIN, _prefetch)}  # the same for plain Python: a loop without a thread


def kernels(*names):
    """The kernels called `names`, yours where they are kept, as attributes; prints which are whose."""
    known = STAND_INS | LOOPS
    unknown = [name for name in names if name not in known]
    if unknown or not names:
        raise ValueError(f"kernels() knows {', '.join(known)}; got {', '.join(map(str, unknown)) or 'no name'}")
    solved, why = _mine()
    found = {}
    for name in names:
        task, function = known[name]
        theirs = "a plain loop" if name in LOOPS else "NumPy's"
        solution = solved.get(_maker(task))
        solution = solution and solution()
        found[name] = solution or function
        print(f"{name:<13}" + ("yours" if solution else f"{theirs}, until {task} is solved here"))
    if why:
        print(why)
    return SimpleNamespace(**found)


def _mine():
    """({name: what makes a kernel} of the file, why there are none)."""
    target = path()
    if target is None or not target.exists():
        return {}, ""
    try:
        read_text(target)  # refuses what is no file, which an import would wait for
        spec = importlib.util.spec_from_file_location("my_kernels", target)
        module = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(module)
    except (Exception, SystemExit) as error:
        return {}, f"{FILE} could not be used: {type(error).__name__}: {error}. Mend it, or delete it."
    return {name: value for name, value in vars(module).items() if name.startswith("_of_") and callable(value)}, ""
