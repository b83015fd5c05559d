"""What is said of mistakes that beginners make: each names what its author can look at."""

import math
import threading
from collections import deque

import numpy as np
import pytest
from numba import njit, prange

from coursework import checking, definition, feedback, watched
from coursework.answer import PRINTED_LINES, Local
from dlkernels import cuda

pytestmark = pytest.mark.quick


def outcome_of(task, answer, part="results"):
    check = checking.check_budget if part == "budget" else checking.check
    return check(definition.find(task), Local(answer))


def said(task, answer, part="results"):
    outcome = outcome_of(task, answer, part)
    return outcome.failure, dict(outcome.failure.facts)


# Names ----------------------------------------------------------------------------------------------------------------


@cuda.jit
def misspelt_array(a, b, out):
    i = cuda.grid(1)
    if i < out.size:
        ouy[i] = a[i] + b[i]  # noqa: F821


@cuda.jit
def bare_thread(a, b, out):
    i = threadIdx.x  # noqa: F821
    if i < out.size:
        out[i] = a[i] + b[i]


@cuda.jit
def misspelt_member(a, b, out):
    i = cuda.threadidx.x
    if i < out.size:
        out[i] = a[i] + b[i]


@cuda.jit
def unknown(a, b, out):
    i = cuda.grid(1)
    if i < out.size:
        out[i] = a[i] + quux  # noqa: F821


@pytest.mark.parametrize(
    ("kernel", "offset", "words"),
    [
        (misspelt_array, 4, "'ouy', which is not defined: did you mean `out`?"),
        (bare_thread, 2, "'threadIdx', which is not defined: did you mean `cuda.threadIdx`?"),
        (unknown, 4, "'quux', which is not defined"),
    ],
    ids=lambda value: getattr(value, "__name__", None),
)
def test_a_name_that_is_not_defined(kernel, offset, words):
    failure, facts = said("07-add", kernel)
    line = kernel.py_func.__code__.co_firstlineno + offset
    assert failure.kind == "raised-NameError"
    assert facts["it said"] == f"line {line} uses {words}"


def test_a_member_that_does_not_exist():
    _, facts = said("07-add", misspelt_member)
    line = misspelt_member.py_func.__code__.co_firstlineno + 2
    assert facts["it said"] == (
        f"line {line} uses cuda.threadidx, which a CUDA kernel cannot contain; did you mean `cuda.threadIdx`?"
    )


# What was in the output before --------------------------------------------------------------------------------------


@cuda.jit
def adds_to_out(a, b, out):
    j, i = cuda.grid(2)
    if i < out.shape[0] and j < out.shape[1]:
        for p in range(a.shape[1]):
            out[i, j] += a[i, p] * b[p, j]


@njit(parallel=True)
def adds_to_out_on_the_cpu(x, bias, out):
    for i in prange(x.shape[0]):
        for j in range(x.shape[1]):
            z = x[i, j] + bias[j]
            out[i, j] += z / (1 + math.exp(-z))


@pytest.mark.parametrize(("task", "answer"), [("08-naive", adds_to_out), ("07-fused", adds_to_out_on_the_cpu)])
def test_a_sum_that_begins_with_nan_is_no_overflow(task, answer):
    failure, _ = said(task, answer)
    assert failure.kind == "adds-to-old"
    assert "0" in failure.cause


# Two threads for one element ----------------------------------------------------------------------------------------


@cuda.jit
def grid_for_block(a, b, out):
    i = cuda.blockIdx.x * cuda.gridDim.x + cuda.threadIdx.x
    if i < out.size:
        out[i] = a[i] + b[i]


def test_blocks_that_overlap_are_told_by_the_element_they_share():
    failure, facts = said("07-add", grid_for_block)
    assert failure.kind == "two-writers"
    assert "thread 4 of block 0" in facts["and"] or "of block 1" in facts["and"]
    assert "block to block" in failure.cause


# Threads have one notation ------------------------------------------------------------------------------------------


@cuda.jit
def no_guard(a, b, out):
    j, i = cuda.grid(2)
    total = np.float32(0)
    for p in range(a.shape[1]):
        total += a[i, p] * b[p, j]
    out[i, j] = total


@cuda.jit
def stops(a, b, out):
    j, i = cuda.grid(2)
    while i == 3 and j == 2:
        i += 0
    if i < out.shape[0] and j < out.shape[1]:
        total = np.float32(0)
        for p in range(a.shape[1]):
            total += a[i, p] * b[p, j]
        out[i, j] = total


def test_a_thread_is_called_the_same_everywhere():
    _, facts = said("08-naive", no_guard)
    assert facts["happened in"] in facts["it said"]
    assert facts["happened in"].startswith("thread (")
    _, facts = said("08-naive", stops)
    assert facts["happened in"] == "thread (2, 3) of block (0, 0)"


# Printing -----------------------------------------------------------------------------------------------------------


@cuda.jit
def talks(a, b, out):
    i = cuda.grid(1)
    if i < out.size:
        print("thread", i, "adds", a[min(i, a.size - 1)])
        out[i] = (a[i] if i < a.size else 0) + (b[i] if i < b.size else 0)


def test_prints_of_a_kernel_are_shown_the_first_of_them(capsys):
    assert outcome_of("07-add", talks).status == checking.RIGHT
    lines = capsys.readouterr().out.splitlines()
    assert lines[0].startswith("thread 0 adds ")
    assert lines[PRINTED_LINES] == "... and 12 more lines"


@cuda.jit
def text_elsewhere(a, b, out):
    name = "a"
    i = cuda.grid(1)
    if i < out.size and name == "a":
        out[i] = a[i] + b[i]


def test_text_is_for_printing_only():
    assert said("07-add", text_elsewhere)[0].kind == "raised-NotAdmitted"


# Threads of Python --------------------------------------------------------------------------------------------------


class WaitsWithoutTheLock:
    def __init__(self, bound):
        self.items, self.bound, self.closed = deque(), bound, False
        self.changed = threading.Condition()

    def put(self, item):
        with self.changed:
            self.items.append(item)
            self.changed.notify_all()

    def get(self):
        while not self.items and not self.closed:
            self.changed.wait()
        return self.items.popleft() if self.items else None

    def close(self):
        with self.changed:
            self.closed = True
            self.changed.notify_all()


def test_an_exception_is_told_before_the_deadlock_that_it_causes():
    failure, facts = said("02-buffer", WaitsWithoutTheLock)
    assert failure.kind == "raised-RuntimeError"
    assert "un-acquired lock" in facts["it said"]


# Budgets ------------------------------------------------------------------------------------------------------------


@cuda.jit
def right_in_one_case_only(alpha, x, y):
    i = cuda.grid(1)
    while i < 512 and i < y.size:
        y[i] = alpha * x[i] + y[i]
        i += cuda.gridsize(1)


def test_a_budget_is_for_right_answers():
    outcome = outcome_of("07-axpy", right_in_one_case_only, "budget")
    assert outcome.points == 0
    assert "wrong result" in outcome.failure.headline


@cuda.jit
def local_tile(at, b, out):
    own = cuda.local.array(64, np.float32)
    j, i = cuda.grid(2)
    if i < out.shape[0] and j < out.shape[1]:
        for p in range(at.shape[0]):
            own[p * 3 % 64] = at[p, i]
        total = np.float32(0)
        for p in range(at.shape[0]):
            total += own[p * 3 % 64] * b[p, j]
        out[i, j] = total


def test_a_budget_that_local_memory_breaks_has_words():
    outcome = outcome_of("08-tiled", local_tile, "budget")
    assert outcome.failure.kind == "over-budget"
    assert feedback.as_html(outcome)


# The course's own faults --------------------------------------------------------------------------------------------


def test_a_check_that_fails_itself_says_so(monkeypatch):
    task = definition.find("07-add")
    monkeypatch.setattr(type(task), "compare", lambda *arguments, **options: 1 / 0)
    outcome = outcome_of("07-add", talks)
    assert (outcome.status, outcome.points, outcome.failure.kind) == (checking.WRONG, 0, "checker-error")
    assert "test_messages.py" in dict(outcome.failure.facts)["in"]
    assert "not of your answer" in outcome.failure.cause


def launch(n):
    return n // 256, 256


def test_every_headline_says_what_is_wrong():
    failure, _ = said("07-launch", launch)
    assert failure.headline == "Case 'n = 1': wrong result"


class MisspeltMethod:
    def __init__(self):
        self.lock, self.count, self.total = threading.Lock(), 0, 0

    def add(self, value):
        self.lock.aquire()
        self.total += value

    def read(self):
        return self.count, self.total


class MisspeltName:
    def __init__(self):
        self.lock, self.count, self.total = treading.Lock(), 0, 0  # noqa: F821

    def add(self, value):
        self.total += value

    def read(self):
        return self.count, self.total


def test_misspelt_words_of_plain_python():
    failure, facts = said("02-mean", MisspeltMethod)
    assert failure.kind == "raised-NotAdmitted"
    assert facts["it said"].endswith("did you mean `self.lock.acquire`?")
    failure, facts = said("02-mean", MisspeltName)
    assert failure.kind == "raised-NameError"
    assert facts["it said"].endswith("'treading', which is not defined: did you mean `threading`?")


# Pictures -----------------------------------------------------------------------------------------------------------


@cuda.jit
def all_into_one(a, b, out):
    i = cuda.grid(1)
    if i < out.size:
        out[i] = a[i] + b[i]
        out[0] = a[0] + b[0]


def test_a_green_kernel_shows_which_lane_touches_what():
    outcome = outcome_of("07-add", talks)
    assert "lanes touch" in outcome.picture["alt"]
    assert "<svg" in feedback.as_html(outcome)
    assert outcome.picture["alt"] in feedback.as_text(outcome)


def test_a_race_shows_both_threads_and_their_element():
    failure, facts = said("07-add", all_into_one)
    assert failure.kind == "race"
    alt = failure.picture["alt"]
    assert alt.count("thread") == 2
    assert "out[0]" in alt
    for who in facts["happened in"].split(" and ")[:2]:
        assert who in alt


# Numbers that were predicted ------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("task", "name", "value", "kind", "words"),
    [
        ("01-bus", "chain", "3000", "not-a-number", "without quotation marks"),
        ("01-bus", "chain", [3000], "not-a-number", "without quotation marks"),
        ("01-bus", "chain", float("nan"), "not-a-number", "a number"),
        ("01-bus", "from_here", 29 / 3, "prediction", "A whole number is asked for."),
        ("01-bus", "from_here", 10**400, "prediction", "The car needs 4 n cycles"),
        ("04-moved", "second", 400 / 3, "prediction", "how many times as fast it is"),
        ("04-moved", "second", 0.75, "prediction", "per cent"),
        ("04-moved", "ordinary", 16, "prediction", "the unit is another one"),
        ("08-waves", "share", 74, "prediction", "where a share is asked for"),
        ("08-listing", "wide", 2, "not-a-number", "a letter in quotation marks"),
        ("08-listing", "wide", "a", "prediction", "loads one word of 4 bytes"),
    ],
)
def test_a_prediction_in_another_form(task, name, value, kind, words):
    task = definition.find(task)
    truth = {question.name: question.truth() for question in task.questions}
    failure = checking.check(task, truth | {name: value}).failure
    assert failure.kind == kind
    assert words in failure.cause


def test_a_prediction_may_come_from_numpy_and_a_letter_may_be_small():
    for task, name, form in (("01-bus", "chain", np.int64), ("08-listing", "wide", str.lower)):
        task = definition.find(task)
        truth = {question.name: question.truth() for question in task.questions}
        assert checking.check(task, truth | {name: form(truth[name])}).status == "right"


# One thread, one element ----------------------------------------------------------------------------------------------


@cuda.jit
def whole_arrays(a, b, out):
    out[:] = a


@cuda.jit
def three_for_one(a, b, out):
    i = cuda.threadIdx
    out[i] = max(a[i], b[i])


@cuda.jit
def no_such_member(a, b, out):
    i = cuda.grid(1)
    if i < out.sizes:
        out[i] = max(a[i], b[i])


@pytest.mark.parametrize(
    ("kernel", "words"),
    [
        (whole_arrays, "a kernel is what one thread does, with single elements"),
        (three_for_one, "is three numbers: cuda.threadIdx.x, .y and .z"),
        (no_such_member, "did you mean `out.size`?"),
    ],
    ids=lambda value: getattr(value, "__name__", None),
)
def test_what_a_kernel_cannot_contain(kernel, words):
    failure, facts = said("07-zip", kernel)
    assert failure.kind == "raised-NotAdmitted"
    assert words in facts["it said"]


@cuda.jit
def named_for_its_members(a, b, out):
    thread = cuda.threadIdx
    out[thread.x] = max(a[thread.x], b[thread.x])


def test_the_three_numbers_may_have_a_name():
    assert outcome_of("07-zip", named_for_its_members).status == "right"


@cuda.jit
def always_the_first(a, b, out):
    i = cuda.threadIdx.x
    out[i] = max(a[i], b[0])


@cuda.jit
def all_in_one_place(a, b, out):
    i = cuda.blockIdx.x
    out[i] = max(a[i], b[i])


@cuda.jit
def rows_for_columns(x, out):
    column, row = cuda.grid(2)
    if row < out.shape[0] and column < out.shape[1]:
        out[row, column] = max(x[column, row], 0)


@pytest.mark.parametrize(
    ("task", "kernel", "kind", "words"),
    [
        ("07-zip", always_the_first, "one-element", "the first element of `b`"),
        ("07-zip", all_in_one_place, "two-writers", "for threads 0, 1 and 2"),
        ("07-map", rows_for_columns, "out-of-bounds", "no guard is missing"),
    ],
    ids=lambda value: getattr(value, "__name__", None),
)
def test_an_index_that_goes_astray(task, kernel, kind, words):
    failure, _ = said(task, kernel)
    assert failure.kind == kind
    assert words in failure.cause


# What no integer can hold ---------------------------------------------------------------------------------------------


def product_of_nothing(a, b):
    sa, sb = np.abs(a).max(axis=1, keepdims=True) / 127, np.abs(b).max(axis=0, keepdims=True) / 127
    with np.errstate(all="ignore"):
        qa, qb = np.rint(a / sa), np.rint(b / sb)
    return (qa.astype(np.int8).astype(np.int32) @ qb.astype(np.int8).astype(np.int32)) * (sa * sb)


def product_mended(a, b):
    sa, sb = np.abs(a).max(axis=1, keepdims=True) / 127, np.abs(b).max(axis=0, keepdims=True) / 127
    with np.errstate(all="ignore"):
        qa, qb = np.where(sa == 0, 0, np.rint(a / sa)), np.where(sb == 0, 0, np.rint(b / sb))
    return (qa.astype(np.int32) @ qb.astype(np.int32)) * (sa * sb)


def test_a_nan_that_becomes_an_integer_is_told():
    failure, facts = said("08-int8", product_of_nothing)
    assert failure.kind == "raised-RuntimeWarning"
    assert "qa" in facts["at the line"]
    assert "0 / 0. Give it the scale 1" in failure.cause
    assert outcome_of("08-int8", product_mended).status == "right"


# A page of numba's ----------------------------------------------------------------------------------------------------


@njit(parallel=True)
def whole_in_math(x, y, out):
    for i in prange(x.size):
        out[i] = math.sqrt(x * x + y * y)


def test_a_typing_error_is_a_sentence_and_a_line():
    failure, facts = said("03-first", whole_in_math)
    assert failure.kind == "raised-TypingError"
    assert facts["it said"] == "numba has no sqrt(1-D array of float64)"
    assert facts["at the line"] == "out[i] = math.sqrt(x * x + y * y)"
    assert "x for x[i]" in failure.cause


# What nobody has set --------------------------------------------------------------------------------------------------


@njit(parallel=True)
def sums_of_anything(x, out):
    own = np.empty((2, 8))
    for t in prange(2):
        for i in range(4 * t, 4 * t + 4):
            own[t, 0] += x[i]
    out[0] = own[0, 0] + own[1, 0]


@njit(parallel=True)
def sums_that_begin_with_0(x, out):
    own = np.empty((2, 8))
    for t in prange(2):
        own[t, 0] = 0
        for i in range(4 * t, 4 * t + 4):
            own[t, 0] += x[i]
    out[0] = own.sum(axis=0)[0]  # what is added beside it is not used


def test_an_element_of_empty_that_is_read_first():
    arguments = np.ones(8), np.zeros(1)
    line = sums_of_anything.py_func.__code__.co_firstlineno + 5
    assert watched.of(sums_of_anything, arguments, 2, "static", None)["unset"] == f"line {line} reads `own[t, 0]`"
    assert watched.of(sums_that_begin_with_0, arguments, 2, "static", None)["unset"] == ""
