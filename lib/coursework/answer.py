"""Run a student's function on copies of given arguments, and hand back plain data.

`Local` runs it in this process. The grader's `Remote` (grading/remote.py) has the same methods and runs it in a
sandbox, so a student's own check and the graded one are the same code.
"""

import contextlib
import copy
import functools
import inspect
import io
import linecache
import re
import sys
import traceback
import tracemalloc
import warnings
from dataclasses import asdict, dataclass, fields, replace
from types import FunctionType

import numpy as np

from . import limited, ranges, unset
from .plain import NotPlain, plain

VARIABLE = inspect.CO_VARARGS | inspect.CO_VARKEYWORDS
PRINTED_LINES = 20
PRINTED_MOST = 20_000_000  # characters of one call: nobody reads them, and memory ends
TEXT_MOST = 20_000  # characters of an answer in OpenCL C
SMALL = 3000  # elements that a function can go through as Python, without anybody waiting


class AnswerFailed(Exception):
    """The answer raised. `name`: type of the exception; `line`: source line; `place`: thread and block, in words."""

    def __init__(self, name, text, line="", place=""):
        super().__init__(f"{name}: {text}")
        self.name, self.text, self.line, self.place = name, text, line, place


@dataclass(frozen=True)
class Cost:
    """What one call of a compiled function allocated: arrays inside numba's code, bytes in NumPy's.

    What the compiled code multiplies and loads (executed.costs) has names of its own.
    """

    arrays: int
    numpy_bytes: int


class Local:
    """A function of this process. `admitted`: its source was looked at already. `claims`: what the student says of it,
    by name, each with a `value()`. `printed`: pictures count lines as the function is printed in a statement, from
    1."""

    def __init__(self, function, admitted=False, claims=None, printed=False):
        self.function, self.admitted, self.printed = function, admitted, printed
        self.claims = {name: Local(value) for name, value in (claims or {}).items()}

    def value(self):
        """The thing itself, as plain data. What is none comes as it is: whoever asks says what is asked for."""
        try:
            return plain(self.function)
        except NotPlain:
            return self.function

    def call(self, arguments):
        """f(*copies of arguments) -> (result, arguments afterwards)."""
        self._takes(arguments)
        arguments = _copies(arguments)
        with (
            warnings.catch_warnings()
        ):  # a NaN that becomes an integer is another one on another machine, or times 0 is 0
            warnings.filterwarnings("error", "(invalid value|divide by zero) encountered", RuntimeWarning)
            warnings.filterwarnings(
                "ignore", "(over|under)flow encountered", RuntimeWarning
            )  # what comes of it is judged
            with unset.littered():
                return plain_result(self._guarded(limited.call, self.function, arguments)), arguments

    def compiled_call(self, arguments, threads=None, idle=False):
        """As `call`, for a numba function: recompiled with every index checked and every loop counted. `threads`: of
        its parallel loops; `idle`: those have no iterations."""
        self._admit("compiled")
        self._takes(arguments)
        after = _copies(arguments)
        if idle:
            return self._guarded(lambda: limited.compiled(self.function, idle=True)(*after)), after
        try:
            with _threads(threads):
                result = self._guarded(self._compiled_again(), *after)
                self._no_lost_error(arguments)
                return plain_result(result), after
        except AnswerFailed as failed:
            found = limited.index_error(self.function, _copies(arguments)) if failed.name == "IndexError" else None
            if found:
                raise AnswerFailed("IndexError", *found) from None
            raise

    def _no_lost_error(self, arguments):
        """numba forgets an IndexError of an iteration of prange: small arguments go through the function as Python."""
        small = sum(x.size for x in arguments if isinstance(x, np.ndarray)) <= SMALL
        if small and self.function.targetoptions.get("parallel"):
            with np.errstate(all="ignore"), contextlib.redirect_stdout(io.StringIO()):
                found = limited.index_error(self.function, _copies(arguments))
            if found:
                raise AnswerFailed("IndexError", *found)

    def _compiled_again(self):
        from simt.errors import SourceNotFound

        try:
            return limited.compiled(self.function)
        except SourceNotFound:
            return _with_bounds(self.function)

    def watch(self, arguments, threads, schedule, chunk, wanted, outside):
        """One call with every load and store recorded: see watched.of."""
        from . import watched

        self._admit("compiled")
        how = threads, schedule, chunk, wanted, outside
        return self._guarded(lambda: watched.of(self.function, _copies(arguments), *how))

    def cost(self, arguments, wanted=()):
        """(what a call costs, as a dict of Cost's fields; [(result, arguments afterwards) of each call that was
        counted]).

        Counts, not times: the same on every machine. `wanted` names what is asked for; for names of executed.costs the
        compiled code is run with counters. It is run on arguments with which compiled_call came to no index outside of
        an array.
        """
        self._admit("compiled")
        allocated = {field.name for field in fields(Cost)}
        if not set(wanted) - allocated:
            cost, run = self._allocated(*self._compiled_before(), arguments)
            if cost["arrays"]:  # numba leaves out an array that nobody needs, but not one that is filled with junk
                cost, run = self._allocated(_with_bounds(self.function), (), arguments)
            return cost, [run]
        from . import executed

        function, more = limited.filled(self.function), (np.zeros(1, np.int64),)
        if function is None:
            function, more = self.function, ()
        fresh, cost, runs = self._guarded(executed.compiled, function, (*arguments, *more)), {}, []
        if allocated & set(wanted):
            cost, run = self._allocated(_with_bounds(self.function) if more else fresh, (), arguments)
            runs.append(run)
        after = _copies(arguments)
        counted, result = self._guarded(executed.of, fresh, (*after, *more))
        return cost | counted, [*runs, (plain_result(result), after)]

    def _compiled_before(self):
        """(the function that compiled_call has compiled already, what it takes behind the arguments): it allocates what
        the answer does, or more, and compiling takes longer than all else of a count."""
        from simt.errors import SourceNotFound

        try:
            return limited.bare(self.function), (np.zeros(1, np.int64),)
        except SourceNotFound:
            return _with_bounds(self.function), ()

    def _allocated(self, function, more, arguments):
        from numba.core.runtime import _nrt_python, rtsys

        _nrt_python.memsys_enable_stats()
        self._guarded(function, *_copies(arguments), *more)  # may compile
        arguments = _copies(arguments)
        handles = sum(
            isinstance(x, np.ndarray) for x in (*arguments, *more)
        )  # numba makes one for each array passed in
        tracemalloc.start()
        before = rtsys.get_allocation_stats().mi_alloc
        result = self._guarded(function, *arguments, *more)
        arrays = rtsys.get_allocation_stats().mi_alloc - before - handles
        numpy_bytes = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
        return asdict(Cost(arrays, numpy_bytes)), (plain_result(result), arguments)

    def counts(self, arguments):
        """(flops and bytes of one call, counted in the source; its result; the arguments afterwards): see
        counted.of."""
        self._admit("counted")
        from . import counted

        counts, result, after = self._guarded(lambda: counted.of(self.function, arguments))
        return counts, plain_result(result), after

    def timed(self, make):
        """(seconds of a call on what make() gives, the median of a third of a second; threads that it uses). The grader
        never asks."""
        from cpulab import measure

        arguments, threads = make(), 1
        if self.function.targetoptions.get("parallel"):
            import numba

            threads = numba.get_num_threads()
        took = measure.times({"yours": lambda: self.function(*arguments)}, budget=0.3, threads=threads)
        return took.seconds["yours"], threads

    def play(self, task, arguments):
        """The scenario of `task` with this answer, under chosen schedules: see playing.play."""
        self._admit_python(task.without)
        from . import playing

        return self._guarded(lambda: playing.play(task, self.function, _copies(arguments)))

    def stress(self, task, arguments):
        """The scenario of `task` with this answer and real threads: see playing.stress."""
        self._admit_python(task.without)
        from . import playing

        return self._guarded(lambda: playing.stress(task, self.function, _copies(arguments), task.stress))

    def xray(self, grid, block, arguments, require=None):
        """kernel[grid, block](*copies of arguments) in the executor, every load and store recorded.

        Returns (arguments afterwards, report): a dict with "findings", a "map" of which thread touches what, and, where
        `require` gives limits by name, "excess" and a "picture" of the first request over its limit.
        """
        from simt import cuda as executor

        self._admit("kernel")
        self._takes(arguments)
        arguments = _copies(arguments)
        # an admitted answer stands by itself, so what was made of it for one case holds for the next
        kernel = (_kernel_kept if self.admitted else executor.jit)(self.function.py_func)
        return arguments, self._seen(kernel, grid, block, arguments, require)

    def opencl(self, name, grid, block, arguments, require=None):
        """As `xray`, for an answer that is a text in OpenCL C with a kernel `name`. grid: of work-groups."""
        text = self.value()
        if not isinstance(text, str) or len(text) > TEXT_MOST:
            what = "this text is too long" if isinstance(text, str) else f"this is {type(text).__name__}, not a text"
            raise AnswerFailed("TypeError", f"{what}; the kernel in OpenCL C is asked for")
        arguments = _copies(arguments)
        kernel, *_, launch_arguments = self._guarded(_launch_of_text, text, name, grid, block, arguments)
        return arguments, self._seen(kernel, grid, block, launch_arguments, require)

    def _seen(self, kernel, grid, block, arguments, require):
        """The report of `xray`: a run of a kernel, which changes the arguments."""
        import simt
        from simt.progress import hidden as without_progress_line
        from simt.xray import BudgetExceeded, xray

        with without_progress_line(), simt.budget(*limited.KERNEL_ROUNDS):
            report = self._guarded(xray(kernel, grid, block, most_accesses=limited.KERNEL_ACCESSES), *arguments)
        excess, picture = [], {}
        try:
            report.require(**(require or {}))
        except BudgetExceeded as error:
            excess = [asdict(e) | {"step": _step(report, e)} for e in error.exceeded]
            picture = _picture(report, excess[0])
        first_line = kernel.py_func.__code__.co_firstlineno if self.printed else 1
        findings = [
            f.to_dict() | ({"picture": _met(report, f, first_line)} if i == 0 else {})
            for i, f in enumerate(report.findings)
        ]
        return {"findings": findings, "excess": excess, "picture": picture, "map": _map(report)}

    def program(self, language, without=()):
        """What the answer is made of, as texts that stand by themselves: {"name": the answer's, "texts": [...]}.

        `language`: the key of one of extraction.LANGUAGES, or "plain". Raises AnswerFailed for what is not admitted.
        """
        from . import extraction
        from .admission import NotAdmitted

        statements = self._extracted_python(without) if language == "plain" else self._extracted(language)
        name = getattr(self.function, "py_func", self.function).__name__
        try:
            return {"name": name, "texts": extraction.written(statements)}
        except NotAdmitted as error:
            raise AnswerFailed(error.name, str(error)) from None

    def _admit(self, language):
        self._compiles(language)
        if not self.admitted:
            self._extracted(language)

    def _admit_python(self, without=()):
        self._runs()
        if not self.admitted:
            self._extracted_python(without)

    def _runs(self):
        if not callable(self.function):
            raise AnswerFailed("TypeError", f"this is {self.function!r}; a function or class is asked for")

    def _compiles(self, language):
        if not isinstance(getattr(self.function, "py_func", None), FunctionType):
            decorator = "cuda.jit" if language == "kernel" else "njit"
            raise AnswerFailed("NotCompiled", f"this is a plain Python object; write @{decorator} above the function")

    def _takes(self, arguments):
        """AnswerFailed where the function has another number of parameters."""
        python = getattr(self.function, "py_func", self.function)
        if not isinstance(python, FunctionType) or python.__defaults__ or python.__code__.co_flags & VARIABLE:
            return
        names = python.__code__.co_varnames[: python.__code__.co_argcount]
        if len(names) != len(arguments):
            count = f"{len(names)} parameter" + "s" * (len(names) != 1)
            said = f"{python.__name__} has {count} ({', '.join(names)}), and {len(arguments)} arguments come"
            raise AnswerFailed("Signature", said)

    def _extracted(self, language):
        """The statements of the answer, admitted."""
        from . import extraction
        from .admission import NotAdmitted

        self._compiles(language)
        try:
            return extraction.of(self.function, extraction.LANGUAGES[language])
        except NotAdmitted as error:
            raise AnswerFailed(error.name, str(error)) from None

    def _extracted_python(self, without):
        from . import plain_extraction
        from .admission import NotAdmitted

        self._runs()
        try:
            return plain_extraction.of(self.function, without)
        except NotAdmitted as error:
            raise AnswerFailed(error.name, str(error)) from None

    def _guarded(self, function, *arguments):
        try:
            with few_lines(), warnings.catch_warnings():
                warnings.filterwarnings("ignore", r"\s*The keyword argument 'parallel=True'")  # a check says it itself
                return function(*arguments)
        except AnswerFailed:
            raise
        except limited.GoesOn as error:
            raise AnswerFailed("TooManyIterations", *limited.said(error, self.function)) from None
        except limited.NeverEnds as error:
            raise AnswerFailed("TimeLimit", str(error), self._line_of(error)) from None
        except Exception as error:
            if isinstance(error, SystemError) and error.__cause__:
                error = error.__cause__  # how numba reports what was raised inside prange
            raise _described(error, self._line_of(error)) from None

    def _line_of(self, error):
        code = getattr(getattr(self.function, "py_func", self.function), "__code__", None)
        if code is None:
            return ""
        for frame in reversed(traceback.extract_tb(error.__traceback__)):
            if frame.filename == code.co_filename:
                return linecache.getline(frame.filename, frame.lineno or 0).strip() or (frame.line or "")
        return ""


def _launch_of_text(text, name, grid, block, arguments):
    """(kernel, grid, block, arguments for it) of a program in OpenCL C; opencl.ReadError for what is wrong in it."""
    sizes = [size if isinstance(size, tuple | list) else (size,) for size in (grid, block)]
    global_size = tuple(groups * items for groups, items in zip(*sizes, strict=True))
    return _program(text).launch(name, global_size, sizes[1], arguments)


@functools.lru_cache(maxsize=4)
def _program(text):
    from opencl.read import Program

    return Program(text)


def plain_result(result):
    """`result` as plain data, in the notebook as in grading; AnswerFailed says what to write instead."""
    try:
        return plain(result)
    except NotPlain as error:
        raise AnswerFailed("NotPlain", str(error)) from None


def _met(report, finding, first_line):
    """The drawing of a finding's threads at their element; {} where it is about no element. `first_line`: the line that
    counts as 1."""
    if not finding.threads or not finding.index:
        return {}
    return _plain(report.meeting(replace(finding, lines=tuple(line - first_line + 1 for line in finding.lines))))


def _map(report):
    """The drawing of one store to global memory (else a load): which lane touches which bytes."""
    rows = sorted((e for e in report.expressions if e.space == "global"), key=lambda e: e.kind != "store")
    choice = {"expression": rows[0].text, "line": rows[0].line, "kind": rows[0].kind} if rows else None
    return _plain(report.thread_map(**choice)) if choice else {}


def _plain(drawn):
    return {"svg": drawn.svg, "alt": drawn.alt}


def _step(report, excess):
    """Bytes from lane to lane where an expression jumps or meets itself in the banks."""
    if excess.measure not in _DRAWN:
        return None
    return report.step(expression=excess.text, line=excess.line, kind=excess.kind)


_DRAWN = {"sectors_per_request": "global", "efficiency": "global", "bank_ways": "shared"}  # measure: memory


class _Printed(io.TextIOBase):
    """Keeps the first lines of what is printed, and counts the others. OutputLimit when it is too much to go on."""

    def __init__(self, most):
        self.most, self.kept, self.lines, self.size, self.begun = most, io.StringIO(), 0, 0, False

    def writable(self):
        return True

    def write(self, text):
        self.size += len(text)
        if self.size > PRINTED_MOST:  # nothing more is kept, also of an answer that goes on
            raise AnswerFailed("OutputLimit", f"it had printed {PRINTED_MOST:,} characters")
        if self.lines < self.most:
            self.kept.write(text)
        self.lines += text.count("\n")
        self.begun = not text.endswith("\n") if text else self.begun  # a line
        return len(text)


@contextlib.contextmanager
def few_lines(most=PRINTED_LINES):
    """Let through the first lines that the block prints: a print in a kernel is a line for each thread and case."""
    printed = _Printed(most)
    try:
        with contextlib.redirect_stdout(printed):
            yield
    finally:
        lines = printed.kept.getvalue().splitlines()[:most]
        if lines:
            more = printed.lines + printed.begun - most
            more = [f"... and {more:,} more lines"] if more > 0 else []
            print(*lines, *more, sep="\n", file=sys.stdout)


def _picture(report, excess):
    """The x-ray's drawing of the costliest request of an expression over its limit, where it has one."""
    space = _DRAWN.get(excess["measure"])
    if not any(e.space == space and (e.text, e.line) == (excess["text"], excess["line"]) for e in report.expressions):
        return {}
    draw = report.bank_strip if space == "shared" else report.thread_map
    return _plain(draw(expression=excess["text"], line=excess["line"]))


def _described(error, line):
    """An AnswerFailed from any exception; the executor's know the thread, the block and the reason by themselves."""
    cause = error.__cause__
    if type(error).__name__ == "KernelError" and cause is not None:  # the kernel's own exception, with its place
        name, text = type(cause).__name__, str(cause)
    else:
        name, text = type(error).__name__, getattr(error, "reason", None) or str(error)
    if name == "TypingError":
        text, line = _of_typing(text, line)
    lines = (line, getattr(error, "text", "").strip())
    if name == "TooManyIterations":  # the loop that is meant is not always the one that ran last
        lines = lines[::-1]
    return AnswerFailed(name, text, lines[0] or lines[1], getattr(error, "who", ""))


def _of_typing(text, line):
    """(what a page of numba's TypingError says, in a sentence; the line that it points at)."""
    lines = re.sub(r"\x1b\[[\d;]*m", "", text).splitlines()  # numba's colours
    places = [k for k, pointer in enumerate(lines) if pointer.strip() == "^"]
    if refused := re.search(ranges.SAID.format(r"\w+"), text):
        return refused[0], lines[places[-1] - 1].strip() if places else line
    line_number = places[0] if places else 0
    call = re.search(r">>> (\w+)\((.*)\)", text)
    if call:
        types = re.sub(r"Literal\[\w+\]\((.*?)\)", r"\1", call[2])
        types = re.sub(r"array\((\w+), (\d)d, \w+\)", r"\2-D array of \1", types)
        said = f"numba has no {call[1]}({types})"
    else:
        said = next((row.strip() for row in lines if row.strip() and not row.startswith("Failed in")), text)
    return said, lines[line_number - 1].strip() if line_number else line


@functools.lru_cache(maxsize=64)
def _kernel_kept(function):
    from simt import cuda as executor

    return executor.jit(function)


@functools.lru_cache(maxsize=8)
def _with_bounds(function):
    """The numba function compiled again so that an index out of bounds raises instead of killing the process."""
    from .shapes import checked_njit

    options = {k: v for k, v in function.targetoptions.items() if k in ("parallel", "fastmath", "nogil")}
    return checked_njit(**options)(function.py_func)


@contextlib.contextmanager
def _threads(number):
    """`number` threads for numba's parallel loops, as many as there are at most."""
    if number is None:
        yield
        return
    import numba

    before = numba.get_num_threads()
    numba.set_num_threads(min(number, numba.config.NUMBA_NUM_THREADS))
    try:
        yield
    finally:
        numba.set_num_threads(before)


def _copies(arguments):
    return tuple(x.copy() if isinstance(x, np.ndarray) else copy.deepcopy(x) for x in arguments)
