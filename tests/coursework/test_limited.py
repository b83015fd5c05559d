"""A check never hurts: what goes on and on is stopped, and the message names its loop."""

import contextlib
import functools
import importlib
import itertools
import json
import signal
import subprocess
import sys
import textwrap
import threading
import time
from pathlib import Path

import numba
import numpy as np
import pytest
from numba import njit, prange
from numba import prange as shared_out

from coursework import checking, counted, definition, limited
from coursework.answer import AnswerFailed, Local
from cpulab.watch import Beyond64Bits
from dlkernels import cuda

pytestmark = pytest.mark.rotates

X = np.arange(20, dtype=np.float64)


def failed(call, *arguments):
    with pytest.raises(AnswerFailed) as caught:
        call(*arguments)
    return caught.value


# Kernels ------------------------------------------------------------------------------------------------------------


@cuda.jit
def no_step(a, b, out):
    i = cuda.grid(1)
    while i < out.size:
        out[i] = a[i] + b[i]


@cuda.jit
def no_next_tile(a, b, c):
    tile = cuda.shared.array((16, 16), np.float32)
    x, y = cuda.threadIdx.x, cuda.threadIdx.y
    first = 0
    while first < a.shape[1]:
        tile[y, x] = a[y, x]
        cuda.syncthreads()
        for k in range(16):
            c[y, x] = tile[y, k]
        cuda.syncthreads()


@cuda.jit
def round_and_round(a, b, out):
    for _ in range(900):
        out[0] = a[0]


def failure(task, answer):
    outcome = checking.check(definition.find(task), Local(answer))
    return outcome.failure, dict(outcome.failure.facts)


@pytest.mark.quick
def test_a_kernel_without_end_is_told_by_its_loop():
    found, facts = failure("07-add", no_step)
    assert found.kind == "raised-TooManyIterations"
    assert found.headline.endswith("it went on and on")
    assert facts["it said"] == "this loop has gone round 100,000 times. Nothing inside the loop changes `i`."
    assert facts["at the line"] == "while i < out.size"
    assert facts["happened in"] == "thread 0 of block 0"


def test_threads_that_go_round_together_are_stopped_too():
    found, facts = failure("08-tiled", no_next_tile)
    assert found.kind == "raised-TooManyIterations"
    assert "Nothing inside the loop changes `first`." in facts["it said"]
    assert facts["at the line"] == "while first < a.shape[1]"


def test_too_many_accesses_end_a_check(monkeypatch):
    monkeypatch.setattr(limited, "KERNEL_ACCESSES", 1000)
    found, facts = failure("07-add", round_and_round)
    assert found.kind == "raised-TraceFull"
    assert "too many to trace" in facts["it said"]
    assert facts["at the line"] == "for _ in range(900):"


# Compiled functions -------------------------------------------------------------------------------------------------


@njit
def never_ends(x, i):
    while i >= 0:
        x[0] += i
    return x[0]


@njit
def outer(x, out):
    i = 0
    while i < x.size:
        for j in range(10):
            out[j] = x[i]


@njit(parallel=True)
def inside_prange(x, out):
    for i in prange(x.size):
        j = 0
        while j < 10:
            out[i] += x[j]


@njit
def in_a_helper(x, out):
    for i in range(x.size):
        out[i] = never_ends(x, i)


@njit
def in_the_else(x, out):
    for i in range(3):
        out[i] = x[i]
    else:
        while True:
            out[0] += x[0]


@pytest.mark.parametrize(
    ("function", "line", "question"),
    [
        (outer, "while i < x.size:", "changes `i`"),
        (inside_prange, "while j < 10:", "changes `j`"),
        (in_a_helper, "while i >= 0:", "changes `i`"),
        (in_the_else, "while True:", "no `break`"),
    ],
    ids=lambda value: getattr(value, "__name__", None),
)
def test_a_compiled_loop_without_end_is_told(function, line, question):
    error = failed(Local(function).compiled_call, (X, np.zeros(20)), 2)
    assert (error.name, error.line) == ("TooManyIterations", line)
    assert question in error.text


@njit(parallel=True)
def loops_of_every_kind(x, out):
    total = 0.0
    for i in prange(x.size):
        some = 0.0
        for j in range(10):
            some += x[j]
            if j == 8:
                break
        else:
            some = -1.0
        k = 0
        while k < i:
            k += 1
            if k == 5:
                continue
            some += k
        out[i] = some
        total += some
    return total


def test_counting_changes_no_result():
    mine, counted = np.zeros(20), np.zeros(20)
    expected = loops_of_every_kind(X, mine)
    got, (_, counted) = Local(loops_of_every_kind).compiled_call((X, counted), 2)
    np.testing.assert_allclose(counted, mine)
    assert got == pytest.approx(expected)
    assert limited.interpreted(loops_of_every_kind)(X, counted) == pytest.approx(expected)


def test_counted_prange_is_parallel_still(recwarn):
    Local(inside_prange)  # numba warns of a parallel function in which nothing is parallel
    limited.compiled(loops_of_every_kind)(X, np.zeros(20))
    assert not [w for w in recwarn if "parallel" in str(w.message)]


@njit
def half_of(x, out):
    for i in range(x.size / 2):
        out[i] = x[i]


@njit(parallel=True)
def half_at_once(x, out):
    for i in prange(x.size / 2):
        out[i] = x[i]


@njit
def down_to_infinity(x, out):
    for i in range(x.size - 1, 1e309, -1):
        out[i] = x[i]


@pytest.mark.parametrize("function", [half_of, half_at_once, down_to_infinity], ids=lambda f: f.__name__)
def test_a_range_of_floats_is_refused_as_python_does(function):
    """numba takes it; where the float is infinite, the machine code is of no meaning, and its process may die."""
    error = failed(Local(function).compiled_call, (X, np.zeros(20)))
    assert error.text == "range takes whole numbers, and this is a float64: n // 2 is whole, n / 2 is not"
    assert "range(x.size" in error.line


# An index outside -----------------------------------------------------------------------------------------------------


@njit
def next_of(x, i):
    return x[i + 1]


@njit
def past_the_end(x, out):
    for i in range(x.size):
        out[i] = next_of(x, i)


@njit
def rows_for_columns(x, out):
    a = np.zeros((4, 7))
    for i in range(7):
        out[i] = a[i, 2] + a[0, i]


@pytest.mark.parametrize(
    ("function", "text", "line"),
    [
        (past_the_end, "x[20] is outside: x has 20 elements", "return x[i + 1]"),
        (rows_for_columns, "a[4, 2] is outside: a has 4 elements on axis 0", "out[i] = a[i, 2] + a[0, i]"),
    ],
)
def test_an_index_outside_is_told_with_array_and_line(function, text, line):
    error = failed(Local(function).compiled_call, (X, np.zeros(20)))
    assert (error.name, error.text, error.line) == ("IndexError", text, line)


# Plain Python ---------------------------------------------------------------------------------------------------------


def counts_for_ever(n):
    steps = 0
    while n > 0:
        for i in range(3):
            steps += i
    return steps


def test_plain_python_without_end_is_told():
    error = failed(Local(counts_for_ever).call, (3,))
    assert (error.name, error.text) == (
        "TooManyIterations",
        "this loop goes on and on: the check stopped it. Nothing inside the loop changes `n`.",
    )
    assert Local(counts_for_ever).call((0,))[0] == 0
    assert sys.gettrace() is None


class Counts:
    """An answer that is no function."""

    def __call__(self, n):
        return counts_for_ever(n)


def goes_through(n):
    return [0 for _ in itertools.count(n)]


@pytest.mark.parametrize(
    ("answer", "argument", "line"),
    [
        (Counts(), 3, "while n > 0:"),
        (functools.partial(counts_for_ever), 3, "while n > 0:"),
        (lambda n: counts_for_ever(n), 3, "while n > 0:"),
        (goes_through, 3, "return [0 for _ in itertools.count(n)]"),
        (lambda n: any(False for _ in itertools.count()), 3, ""),
    ],
    ids=("object", "partial", "helper", "comprehension", "generator"),
)
def test_plain_python_without_end_is_told_in_whatever_form_it_comes(answer, argument, line, monkeypatch):
    monkeypatch.setattr(limited, "PYTHON_LINES", 20_000)
    error = failed(Local(answer).call, (argument,))
    assert error.name == "TooManyIterations"
    assert line in error.line


def test_a_helper_in_another_file_is_counted_and_named(tmp_path, monkeypatch):
    (tmp_path / "my_helper.py").write_text("def settle(n):\n    while n != 0:\n        n = n - 2\n")
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.setattr(limited, "PYTHON_LINES", 20_000)
    helper = importlib.import_module("my_helper")
    error = failed(Local(lambda n: helper.settle(n)).call, (3,))
    assert (error.name, error.line) == ("TooManyIterations", "while n != 0:")
    assert "come closer to the end" in error.text


PATIENCE = 60  # seconds, for a thread that would never end
WAITS = None  # a lock, while an answer waits that is to be interrupted


def asleep(n):
    return WAITS.release(), time.sleep(n)


def stands_before_a_lock(n):
    lock = threading.Lock()
    lock.acquire()
    return WAITS.release(), lock.acquire()


def loses_the_first_interrupt(n):
    WAITS.release()
    with contextlib.suppress(KeyboardInterrupt):
        time.sleep(n)
    return time.sleep(n), "as one that comes just before a sleep, or to a callback of the garbage collector"


def at_once(n):
    return n


class Bell(threading.Thread):
    """In the place of a Timer: the time is over once the answer waits, on whatever machine."""

    made = None

    def __init__(self, seconds, function):
        super().__init__(daemon=True)
        self.seconds, self.function, self.cancelled, self.waits = seconds, function, False, WAITS
        self.made.append(self)

    def run(self):
        self.waits.acquire()
        self.function()

    def cancel(self):
        self.cancelled = True


@pytest.fixture(params=[signal.default_int_handler, signal.SIG_IGN], ids=["usual", "ignored"])
def interrupts(request):
    """What this process does with the signal of Ctrl-C: a job in a shell's background ignores it."""
    before = signal.signal(signal.SIGINT, request.param)
    yield request.param
    after = signal.signal(signal.SIGINT, before)
    assert after is request.param


@pytest.mark.parametrize("waits", [asleep, stands_before_a_lock, loses_the_first_interrupt])
def test_plain_python_that_waits_is_interrupted(waits, interrupts, monkeypatch):
    monkeypatch.setitem(globals(), "WAITS", threading.Lock())
    monkeypatch.setattr(Bell, "made", [])
    monkeypatch.setattr(threading, "Timer", Bell)
    monkeypatch.setattr(limited, "AGAIN", 0.05)
    WAITS.acquire()
    error = failed(Local(waits).call, (600,))
    assert error.name == "TimeLimit"
    assert "it had not come to an end after 45 seconds" in error.text
    waiting = "return WAITS.release(), time.sleep(n)", "return WAITS.release(), lock.acquire()", "return time.sleep(n)"
    assert error.line.startswith(waiting)
    assert Local(at_once).call((0,))[0] == 0
    assert [(bell.seconds, bell.cancelled) for bell in Bell.made] == [(limited.PYTHON_SECONDS, True)] * 2
    assert sys.gettrace() is None


def test_an_interrupt_of_the_user_before_the_call_begins_is_the_last(monkeypatch):
    """Later ones would meet whatever runs then, one each second."""
    waits, sent = threading.Lock(), []
    waits.acquire()
    monkeypatch.setitem(globals(), "WAITS", waits)
    monkeypatch.setattr(Bell, "made", [])
    monkeypatch.setattr(limited, "AGAIN", 0.01)

    class Interrupted(Bell):
        def start(self):
            super().start()
            raise KeyboardInterrupt

    monkeypatch.setattr(threading, "Timer", Interrupted)
    with pytest.raises(KeyboardInterrupt) as kept:
        limited.call(at_once, (1,))
    monkeypatch.setattr(signal, "pthread_kill", lambda *arguments: sent.append(arguments))
    waits.release()
    Bell.made[0].join(PATIENCE)
    assert kept.traceback
    assert (Bell.made[0].is_alive(), sent) == (False, [])


def test_an_interrupt_between_the_end_of_a_call_and_that_of_its_block_is_the_last(interrupts, monkeypatch):
    """Though the block has not noticed: the interrupt came where Python calls what ends it."""
    waits, sent, send = threading.Lock(), [], signal.pthread_kill
    waits.acquire()
    monkeypatch.setitem(globals(), "WAITS", waits)
    monkeypatch.setattr(Bell, "made", [])
    monkeypatch.setattr(threading, "Timer", Bell)
    monkeypatch.setattr(limited, "AGAIN", 0.01)

    def once(*arguments):
        sent.append(arguments)
        if len(sent) == 1:
            send(*arguments)

    def at_the_end(frame, event, argument):
        if event == "call" and frame.f_code is contextlib._GeneratorContextManager.__exit__.__code__:
            sys.setprofile(None)
            raise KeyboardInterrupt

    def ends(n):
        with contextlib.suppress(KeyboardInterrupt):
            asleep(n)
        sys.setprofile(at_the_end)

    monkeypatch.setattr(signal, "pthread_kill", once)
    try:
        with pytest.raises(limited.NeverEnds) as kept:
            limited.call(ends, (600,))
    finally:
        sys.setprofile(None)
    Bell.made[0].join(PATIENCE)
    assert not Bell.made[0].is_alive()
    assert kept.traceback


def test_an_interrupt_of_the_user_stays_one(monkeypatch):
    def interrupted(n):
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        Local(interrupted).call((1,))


# From a shell ---------------------------------------------------------------------------------------------------------


def notebook_of(folder, *cells):
    path = folder / "07_vector_add.ipynb"
    made = [
        {"cell_type": "code", "id": f"c{i}", "metadata": {}, "outputs": [], "execution_count": None, "source": text}
        for i, text in enumerate(cells)
    ]
    path.write_text(json.dumps({"nbformat": 4, "nbformat_minor": 5, "metadata": {}, "cells": made}))
    return path


GREEN = """
from coursework.notebook import check

def launch(n):
    return (n + 255) // 256, 256
"""


@pytest.fixture(autouse=True)
def own_progress(tmp_path, monkeypatch):
    monkeypatch.setenv("DLKERNELS_PROGRESS", str(tmp_path / "progress.json"))


def run_in_a_process(path, watched="", seconds=15):
    """What `check.run` prints, in a process of its own: an interrupt must not meet the tests. Only the endless cell has
    a limit, for the others may take long on a busy machine: one that calls `goes_on.set()` is interrupted then, and the
    process that ends this one is told of `watched` alone."""
    program = f"""
        import threading
        from pathlib import Path
        from coursework import check

        class Timer(threading.Thread):
            def __init__(self, seconds, function):
                super().__init__(daemon=True)
                self.function = function

            def run(self):
                check.goes_on.wait()
                check.goes_on.clear()
                self.function()

            def cancel(self):
                pass

        class Watchman(check.Watchman):
            def _tell(self, name):
                if name in ("", {watched!r}):
                    super()._tell(name)

        threading.Timer, check.Watchman, check.PATIENCE, check.goes_on = Timer, Watchman, 1, threading.Event()
        outcomes, errors = check.run(Path({str(path)!r}), lambda text: print(text, flush=True), seconds={seconds})
        print(*errors, sep="\\n")
    """
    return subprocess.run(
        [sys.executable, "-c", textwrap.dedent(program)], capture_output=True, text=True, timeout=600, cwd=Path(__file__).parent
    )  # fmt: skip


def test_an_endless_cell_is_stopped_and_the_next_ones_run(tmp_path):
    endless = "import coursework.check\ncoursework.check.goes_on.set()\nwhile True:\n    pass"
    done = run_in_a_process(notebook_of(tmp_path, GREEN, endless, 'check("07-launch", launch)'))
    assert done.returncode == 0, done.stderr
    assert "07-launch: result right" in done.stdout
    assert "Cell c1 was stopped after 15 seconds. Does each of its loops come to an end?" in done.stdout


def test_compiled_code_without_end_costs_only_what_comes_after_it(tmp_path):
    compiled = "from numba import njit\n@njit\ndef f(n):\n    while n > 0:\n        n += 2\n    return n\nf(0)"
    path = notebook_of(tmp_path, GREEN, 'check("07-launch", launch)', compiled, "f(1)", "print('never')")
    done = run_in_a_process(path, watched="Cell c3", seconds=1)
    assert done.returncode != 0
    assert "07-launch: result right" in done.stdout
    assert "Cell c3 did not end within 1 seconds, and cannot be interrupted." in done.stderr


# Parallel loops -----------------------------------------------------------------------------------------------------


@njit
def filled_in_parallel(out):
    for i in shared_out(out.size):
        out[i] = 1


@njit(parallel=True)
def through_a_helper(x, out):
    filled_in_parallel(out)
    total = 0.0
    for i in numba.prange(x.size):
        total += x[i]
    out[0] = total + 5


def test_without_iterations_only_the_rest_is_left():
    _, (_, whole) = Local(through_a_helper).compiled_call((X, np.zeros(3)))
    _, (_, rest) = Local(through_a_helper).compiled_call((X, np.zeros(3)), idle=True)
    assert (whole.tolist(), rest.tolist()) == ([X.sum() + 5, 1, 1], [5, 0, 0])


@njit
def wraps_around(x, out):
    large = 1 << 62
    out[0] = x[0] * (large * 4)


@pytest.mark.parametrize("call", [limited.interpreted(wraps_around), lambda *a: counted.of(wraps_around, a)])
def test_a_whole_number_beyond_64_bits_ends_a_run_as_python(call):
    with pytest.raises(Beyond64Bits, match=r"4611686018427387904 \* 4 is a whole number of more than 64 bits"):
        call(X + 1, np.zeros(1))
