"""An answer that goes on and on is stopped: its loops are counted, in compiled code and in plain Python.

Kernels are counted by the executor (simt.budget), threads under a schedule by cpulab.explore. All limits are many times
what right answers need; a test holds that.
"""

import ast
import builtins
import copy
import functools
import linecache
import sys

import numpy as np

KERNEL_ROUNDS = 100_000, 1_500_000  # of the loops of one thread, of all threads together
KERNEL_ACCESSES = 6_000_000
COMPILED_ROUNDS = 100_000_000  # of the loops of one call, or of one iteration of its prange: about a second
PYTHON_LINES = 2_000_000  # about as long
LEFT = "left_at_line_"


class GoesOn(Exception):
    """A loop was stopped. Carries the number of its line."""


def said(error, function):
    """What a GoesOn means, in a sentence; and the line."""
    from simt.source import endless

    code, line = _python(function).__code__, int(error.args[0])
    question = endless.question(code.co_filename, line, _python(function).__globals__)
    return f"this loop goes on and on: the check stopped it. {question}", linecache.getline(
        code.co_filename, line
    ).strip()


def call(function, arguments):
    """function(*arguments) of plain Python; GoesOn once its own lines have run PYTHON_LINES times."""
    if sys.gettrace() is not None or not hasattr(function, "__code__"):  # a debugger, which counts nothing away
        return function(*arguments)
    file, runs, left = function.__code__.co_filename, {}, PYTHON_LINES

    def line(frame, event, argument):
        nonlocal left
        if event == "line":
            runs[frame.f_lineno] = runs.get(frame.f_lineno, 0) + 1
            left -= 1
            if left < 0:
                raise GoesOn(_busiest_loop(file, frame, runs))
        return line

    sys.settrace(lambda frame, event, argument: line if frame.f_code.co_filename == file else None)
    try:
        return function(*arguments)
    finally:
        sys.settrace(None)


def _busiest_loop(file, frame, runs):
    """The line of the loop around a running line, or around the call that led there, whose head ran most often; the line
    itself where there is none."""
    tree = ast.parse("".join(linecache.getlines(file, frame.f_globals)))
    loops = [n for n in ast.walk(tree) if isinstance(n, ast.For | ast.While)]
    running, outer = [], frame
    while outer is not None:
        running += [outer.f_lineno] if outer.f_code.co_filename == file else []
        outer = outer.f_back
    around = [n for n in loops if any(n.lineno <= line <= n.end_lineno for line in running)]
    around = [n for n in around if isinstance(n, ast.While)] or around  # a `for` goes through something that ends
    return max((n.lineno for n in around), key=lambda n: runs.get(n, 0), default=frame.f_lineno)


@functools.lru_cache(maxsize=8)
def compiled(function):
    """The numba function compiled again, for one call: an index out of bounds raises, a loop without an end GoesOn."""
    return _stopped_by(_compiled(function))


@functools.lru_cache(maxsize=16)
def _compiled(function):
    from numba import njit

    options = {k: v for k, v in function.targetoptions.items() if k in ("parallel", "fastmath", "nogil")}
    return njit(boundscheck=True, **options)(_rewritten(function, _compiled, COMPILED_ROUNDS))


def interpreted(function):
    """The numba function as Python, with `prange` as `range`; GoesOn after PYTHON_LINES rounds of its loops."""

    def helper(other):
        return _rewritten(other, helper, PYTHON_LINES)

    return _stopped_by(helper(function))


def _stopped_by(function):
    """A function whose last argument says which line's loop was left; a raise would keep prange from being parallel."""

    def call(*arguments):
        left = np.zeros(1, np.int64)
        result = function(*arguments, left)
        if left[0]:
            raise GoesOn(int(left[0]))
        return result

    return call


def index_error(function, arguments):
    """(what was outside, in words; the line) of a call that ended with an IndexError; None where it cannot be found."""
    again = interpreted(function)
    try:
        again(*arguments)
    except IndexError as error:
        step, frame = error.__traceback__, None
        while step is not None:
            if step.tb_frame.f_code.co_filename == _python(function).__code__.co_filename:
                frame, number = step.tb_frame, step.tb_lineno
            step = step.tb_next
        return _outside(frame, number) if frame is not None else None
    except Exception:
        return None
    return None


def _outside(frame, number):
    """The subscript of a line that fails with the variables of its frame."""
    text = linecache.getline(frame.f_code.co_filename, number, frame.f_globals).strip()
    tree = ast.parse("".join(linecache.getlines(frame.f_code.co_filename, frame.f_globals)))
    subscripts = [n for n in ast.walk(tree) if isinstance(n, ast.Subscript) and n.lineno <= number <= n.end_lineno]
    for node in sorted(subscripts, key=lambda n: n.end_col_offset - n.col_offset):  # the innermost first
        try:
            array, index = (
                eval(compile(ast.Expression(part), "<index>", "eval"), frame.f_globals, frame.f_locals)
                for part in (node.value, node.slice)
            )
        except Exception:
            continue
        index = index if isinstance(index, tuple) else (index,)
        for axis, (i, n) in enumerate(zip(index, getattr(array, "shape", ()), strict=False)):
            if not isinstance(i, slice) and not -n <= i < n:
                name, along = ast.unparse(node.value), f" on axis {axis}" if len(array.shape) > 1 else ""
                values = ", ".join(str(i) for i in index)
                return f"{name}[{values}] is outside: {name} has {n} elements{along}", text
    return None


def _python(function):
    return getattr(function, "py_func", function)


def _rewritten(function, helper, rounds):
    """The Python function with its loops counted, and one more argument, LEFT: there it notes the line of a loop that
    it had to leave. The numba functions of its module that it calls become helper(...) of themselves."""
    from simt.source.tree import tree_of

    python = _python(function)
    tree = copy.deepcopy(tree_of(python))
    cells = zip(python.__code__.co_freevars, python.__closure__ or (), strict=True)
    names = {"__builtins__": builtins, **python.__globals__, **{name: cell.cell_contents for name, cell in cells}}
    called = {n.func.id for n in ast.walk(tree) if isinstance(n, ast.Call) and isinstance(n.func, ast.Name)}
    helpers = {name for name in called & names.keys() if helper and _is_helper(names[name], function)}
    for node in ast.walk(tree):
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id in helpers:
            node.args.append(ast.copy_location(ast.Name(LEFT, ast.Load()), node))
    tree.decorator_list = []
    tree.args.args.append(ast.arg(LEFT))
    module = ast.fix_missing_locations(ast.Module([_Counted(rounds).of(tree)], []))
    names |= {name: helper(names[name]) for name in helpers}
    exec(compile(module, python.__code__.co_filename, "exec"), names)
    return names[python.__name__]


def _is_helper(value, function):
    """Whether a thing is a numba function of the answer, and not the answer itself."""
    python = _python(value)
    return (
        value is not function and hasattr(value, "targetoptions") and python.__module__ == _python(function).__module__
    )


class _Counted:
    """Loops that count their rounds. All loops of a function share a limit; so do those of an iteration of prange,
    which runs beside others. The loop that went round most often is to blame."""

    def __init__(self, rounds):
        self.rounds, self.number = rounds, 0

    def of(self, function):
        function.body = self._scope(function.body)
        return function

    def _scope(self, body):
        self.number += 1
        total = f"rounds_{self.number}_"
        return [*_parsed(f"{total} = 0", body[0]), *self._block(body, total, [])]

    def _block(self, body, total, around):
        return [new for statement in body for new in self._statement(statement, total, around)]

    def _statement(self, node, total, around):
        if isinstance(node, ast.For) and _last_name(node.iter).endswith("prange"):
            node.body = self._scope(node.body)
            return [node]
        if isinstance(node, ast.For | ast.While):
            self.number += 1
            own = f"rounds_{self.number}_"
            loops = [*around, (own, node.lineno, isinstance(node, ast.While))]
            suspected = [loop for loop in loops if loop[2]] or loops  # a `for` goes through something that ends
            blame = "".join(
                f"\n    if {' and '.join(f'{name} >= {other}' for other, _, _ in suspected)}:\n        {LEFT}[0] = {line}"
                for name, line, _ in suspected
            )
            stop = f"if {total} > {self.rounds} and not {LEFT}[0]:{blame}\nif {LEFT}[0]:\n    break"
            count = f"{total} += 1\n{own} += 1\n{stop}"
            node.body = [*_parsed(count, node.body[0]), *self._block(node.body, total, loops)]
            node.orelse = self._block(node.orelse, total, around)
            return [*_parsed(f"{own} = 0", node), node]
        for part in ("body", "orelse"):
            if isinstance(getattr(node, part, None), list):
                setattr(node, part, self._block(getattr(node, part), total, around))
        return [node]


def _parsed(text, place):
    """Statements that stand at the line of another, for messages."""
    statements = ast.parse(text).body
    for statement in statements:
        for node in ast.walk(statement):
            if hasattr(node, "lineno"):
                node.lineno = node.end_lineno = place.lineno
    return statements


def _last_name(node):
    function = node.func if isinstance(node, ast.Call) else node
    return getattr(function, "attr", getattr(function, "id", ""))
