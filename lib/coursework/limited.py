"""An answer that goes on and on is stopped: its loops are counted, in compiled code and in plain Python.

Kernels are counted by the executor (simt.budget), threads under a schedule by cpulab.explore. All limits are many times
what right answers need; a test holds that. Plain Python that waits (a sleep, a lock, a question to the user) has no
loop to count: it is interrupted after PYTHON_SECONDS. Both hold wherever a check is called, but not under a debugger,
and the second in the main thread only. Nothing within the process stops one call that stays in C, such as
sum(itertools.count()): a shell's check then ends the process (check.Watchman), the grader its sandbox; in a notebook
the kernel is restarted by hand.
"""

import _thread
import ast
import builtins
import contextlib
import copy
import functools
import linecache
import signal
import sys
import threading
import time

import numpy as np

from . import ranges, unset

KERNEL_ROUNDS = 100_000, 1_500_000  # of the loops of one thread, of all threads together
KERNEL_ACCESSES = 6_000_000
COMPILED_ROUNDS = 100_000_000  # of the loops of one call, or of one iteration of its prange: about a second
PYTHON_LINES = 2_000_000  # about as long
PYTHON_SECONDS = 45.0  # of one call that does not count lines; a first call may compile what it calls
AGAIN = 1.0  # seconds between two interrupts
LEFT = "left_at_line_"


class GoesOn(Exception):
    """A loop was stopped: the number of its line, its file and the names it knows (default: those of the answer)."""

    def __init__(self, line, file=None, names=None):
        super().__init__(line)
        self.line, self.file, self.names = line, file, names


class NeverEnds(Exception):
    """A call was interrupted; its traceback ends where it stood."""


def said(error, function):
    """What a GoesOn means, in a sentence; and the line."""
    from simt.source import endless

    file = error.file or _python(function).__code__.co_filename
    question = endless.question(file, error.line, error.names or _python(function).__globals__)
    line = linecache.getline(file, error.line, error.names).strip()
    ends = line.startswith(("for ", "["))  # such a loop comes to an end, be it late
    return f"this loop {'takes too many rounds' if ends else 'goes on and on'}: the check stopped it. {question}", line


def call(function, arguments):
    """function(*arguments) of plain Python. GoesOn once its lines, and those of what it calls outside of libraries,
    have run PYTHON_LINES times; NeverEnds after PYTHON_SECONDS."""
    if sys.gettrace() is not None:  # a debugger
        return function(*arguments)
    from cpulab.explore.tracing import is_foreign

    source_file = getattr(getattr(function, "__code__", None), "co_filename", None)
    runs, left, tracers = {}, PYTHON_LINES, {}  # of each file: a first call may compile, and compilers call much

    def trace(frame, event, argument):
        file = frame.f_code.co_filename
        if file not in tracers:
            tracers[file] = line if file == source_file or not is_foreign(file) else None
        return tracers[file]

    def line(frame, event, argument):
        nonlocal left
        if event == "line":
            location = frame.f_code.co_filename, frame.f_lineno
            runs[location] = runs.get(location, 0) + 1
            left -= 1
            if left < 0:
                raise GoesOn(_busiest_loop(frame, runs), frame.f_code.co_filename, frame.f_globals)
        return line

    fired = Interrupts()
    try:
        with interrupted(PYTHON_SECONDS, fired):
            sys.settrace(trace)
            try:
                return function(*arguments)
            finally:
                sys.settrace(None)
    except KeyboardInterrupt as error:
        fired.end()  # one may have come between the call's end and that of the block
        if not fired:
            raise
        told = NeverEnds(f"it had not come to an end after {PYTHON_SECONDS:g} seconds. What does it wait for?")
        raise told.with_traceback(error.__traceback__) from None


class Interrupts(list):
    """An element for each interrupt that was sent; no more are sent once it is `over`. handler: what to do with those
    of the user when that has come, if it was something else meanwhile."""

    over, handler = False, None

    def __init__(self):
        super().__init__()
        self.lock = threading.Lock()

    def end(self):
        self.over = True
        with self.lock:  # none is being sent
            handler, self.handler = self.handler, None
        if handler is not None:
            signal.signal(signal.SIGINT, handler)


@contextlib.contextmanager
def interrupted(seconds, fired=None):
    """KeyboardInterrupt in a block that runs longer; `fired`, Interrupts, has an element then. Only in the main thread,
    and not while compiled code runs."""
    main = threading.main_thread()
    fired = Interrupts() if fired is None else fired
    on_main = threading.current_thread() is main
    handler = signal.getsignal(signal.SIGINT)
    if on_main and handler in (signal.SIG_IGN, signal.SIG_DFL):  # a job of a shell's background ignores the signal
        fired.handler = handler
        signal.signal(signal.SIGINT, signal.default_int_handler)
    fired.over = not (on_main and callable(signal.getsignal(signal.SIGINT)))

    def interrupt():
        """Again and again: one that comes just before a sleep does not end it, and one that comes while garbage is
        collected raises nothing."""
        while True:
            with fired.lock:
                if fired.over:
                    return
                fired.append(seconds)
                if hasattr(signal, "pthread_kill"):  # ends a sleep, too
                    signal.pthread_kill(main.ident, signal.SIGINT)
                else:
                    _thread.interrupt_main()
            time.sleep(AGAIN)

    timer = threading.Timer(seconds, interrupt)
    timer.daemon = True
    try:
        timer.start()
        yield
    finally:
        fired.over = True
        with contextlib.suppress(KeyboardInterrupt):  # one that came as the block was ending
            timer.cancel()
            with fired.lock:
                time.sleep(0.01 if fired else 0)
        fired.end()


def _busiest_loop(frame, runs):
    """The line of the loop around a running line, or around the call that led there, whose head ran most often; the
    line itself where there is none."""
    file = frame.f_code.co_filename
    tree = ast.parse("".join(linecache.getlines(file, frame.f_globals)))
    loops = [n for n in ast.walk(tree) if isinstance(n, ast.For | ast.While)]
    running, outer = [], frame
    while outer is not None:
        running += [outer.f_lineno] if outer.f_code.co_filename == file else []
        outer = outer.f_back
    around = [n for n in loops if any(n.lineno <= line <= n.end_lineno for line in running)]
    around = [n for n in around if isinstance(n, ast.While)] or around  # a `for` goes through something that ends
    return max((n.lineno for n in around), key=lambda n: runs.get((file, n), 0), default=frame.f_lineno)


@functools.lru_cache(maxsize=16)
def compiled(function, idle=False):
    """The numba function compiled again, for one call: an index out of bounds raises, a loop without an end GoesOn.
    idle: its parallel loops have no iterations, to see what they are good for."""
    return _stopped_by(_without_loops(function) if idle else bare(function))


@functools.lru_cache(maxsize=16)
def bare(function):
    """The same with one more argument, an int64 array of one zero, where it notes the line of a loop that it left."""
    from .shapes import checked_njit

    options = {k: v for k, v in function.targetoptions.items() if k in ("parallel", "fastmath", "nogil")}
    return checked_njit(**options)(_rewritten(function, bare, COMPILED_ROUNDS, [ranges.Whole], _more()))


@functools.lru_cache(maxsize=16)
def filled(function):
    """The numba function as it is, but that np.empty holds junk, with one more argument, as `bare` has it; None where
    it makes nothing by np.empty. What is counted without a look at indices can then not be told from what was checked
    before."""
    return _filled(function) if _makes_unset(function) else None


def _filled(function):
    from numba import njit

    kept = ("parallel", "fastmath", "nogil", "error_model", "inline")
    options = {k: v for k, v in function.targetoptions.items() if k in kept}
    return njit(**options)(_rewritten(function, _filled, 0, (), _more()))


def _makes_unset(function):
    """Whether it, or a numba function that it calls, names np.empty or np.empty_like."""
    python = _python(function)
    used = [python.__globals__.get(name) for name in python.__code__.co_names]
    named = {"empty", "empty_like"}.intersection(python.__code__.co_names)
    made = any(value is np.empty or value is np.empty_like for value in used)
    return bool(named) or made or any(_is_helper(v, function) and _makes_unset(v) for v in used)


@functools.lru_cache(maxsize=16)
def _without_loops(function):
    """On one thread: there is nothing to share, and it is compiled in half the time."""
    from .shapes import checked_njit

    changes = [_NoIterations, ranges.Whole]
    return checked_njit()(_rewritten(function, _without_loops, COMPILED_ROUNDS, changes, _more()))


def _more():
    """What a function that is compiled again uses, by name."""
    return {unset.FILLED: unset.compiled(), ranges.WHOLE: ranges.compiled()}


def interpreted(function, change=None, names=None):
    """The numba function as Python, with `prange` as `range`; GoesOn after PYTHON_LINES rounds of its loops.

    change: an ast.NodeTransformer that goes over it, and over its helpers; names: what it then uses, by name. Whole
    numbers have 64 bits, as in compiled code."""
    from cpulab.watch import whole

    changes = [*([lambda _: change] if change else []), lambda _: whole.WholeIn64Bits()]
    names = {unset.FILLED: unset.filled} | whole.NAMES | (names or {})

    def helper(callee):
        return _rewritten(callee, helper, PYTHON_LINES, changes, names)

    return _stopped_by(helper(function))


class _NoIterations(ast.NodeTransformer):
    """for i in prange(...) becomes for i in range(0), in a function that knows `names`."""

    def __init__(self, names):
        self.names = names

    def visit_For(self, node):
        self.generic_visit(node)
        if _is_prange(node.iter, self.names):
            node.iter = ast.copy_location(ast.Call(ast.Name("range", ast.Load()), [ast.Constant(0)], []), node.iter)
        return node


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


def _rewritten(function, helper, rounds, changes=(), more=None):
    """The Python function with its loops counted, and one more argument, LEFT: there it notes the line of a loop that
    it had to leave. The numba functions of its module that it calls become helper(...) of themselves. What np.empty
    makes holds junk (unset.py). changes: what makes an ast.NodeTransformer of the names that the function knows."""
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
    for change in (unset.Filled, *changes):
        tree = change(names).visit(tree)
    tree.args.args.append(ast.arg(LEFT))
    tree = _Counted(rounds, names).of(tree) if rounds else tree
    module = ast.fix_missing_locations(ast.Module([tree], []))
    names |= {name: helper(names[name]) for name in helpers} | (more or {})
    exec(compile(module, python.__code__.co_filename, "exec"), names)
    return names[python.__name__]


def _is_helper(value, function):
    """Whether a thing is a numba function of the answer, and not the answer itself."""
    python = _python(value)
    return (
        value is not function and hasattr(value, "targetoptions") and python.__module__ == _python(function).__module__
    )


ENDLESS = 1 << 60  # so many rounds more count those of a `while`


class _Counted:
    """Loops that count their rounds. All loops of a function share a limit; so do those of an iteration of prange,
    which runs beside others. The loop that went round most often is to blame."""

    def __init__(self, rounds, names):
        self.rounds, self.names, self.number = rounds, names, 0

    def of(self, function):
        function.body = self._scope(function.body)
        return function

    def _scope(self, body):
        self.number += 1
        total, most = f"rounds_{self.number}_", f"most_{self.number}_"
        return [*_parsed(f"{total} = {most} = 0", body[0]), *self._block(body, (total, most), [])]

    def _block(self, body, scope, around):
        return [new for statement in body for new in self._statement(statement, scope, around)]

    def _statement(self, node, scope, around):
        if isinstance(node, ast.For) and _is_prange(node.iter, self.names):
            node.body = self._scope(node.body)
            return [node]
        if isinstance(node, ast.For | ast.While):
            self.number += 1
            counter, (total, most) = f"rounds_{self.number}_", scope
            loops = [*around, (counter, node.lineno, isinstance(node, ast.While))]
            # To blame is the loop it happens in, or the next `while` around it: a `for` goes through something that
            # ends.
            name, line, endless = next((loop for loop in loops[::-1] if loop[2]), loops[-1])
            stop = (
                f"if {total} > {self.rounds}:\n    {LEFT}[0], {most} = {line}, {name} + {ENDLESS * endless}\n    break"
            )
            count = f"if {LEFT}[0]:\n    break\n{total} += 1\n{counter} += 1\n{stop}"
            # ... or a loop around that one which went round more often. (`most` is 0 where a helper's loop was left.)
            worse = f"{counter} + {ENDLESS * loops[-1][2]}"
            after = f"if 0 < {most} < {worse}:\n    {LEFT}[0], {most} = {node.lineno}, {worse}"
            node.body = [*_parsed(count, node.body[0]), *self._block(node.body, scope, loops)]
            node.orelse = self._block(node.orelse, scope, around)
            return [*_parsed(f"{counter} = 0", node), node, *_parsed(after, node)]
        for part in ("body", "orelse"):
            if isinstance(getattr(node, part, None), list):
                setattr(node, part, self._block(getattr(node, part), scope, around))
        return [node]


def _parsed(text, origin):
    """Statements that stand at the line of another, for messages."""
    statements = ast.parse(text).body
    for statement in statements:
        for node in ast.walk(statement):
            if hasattr(node, "lineno"):
                node.lineno = node.end_lineno = origin.lineno
    return statements


def _is_prange(node, names):
    """Whether it is prange(...), by whatever name, in a function that knows `names`."""
    from numba import prange

    if not isinstance(node, ast.Call):
        return False
    if isinstance(node.func, ast.Attribute):
        return node.func.attr == "prange"
    return isinstance(node.func, ast.Name) and names.get(node.func.id) is prange
