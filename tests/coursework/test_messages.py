"""What is said of mistakes that beginners make: each names what its author can look at."""

import ast
import math
import re
import threading
from collections import deque
from pathlib import Path

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
    assert alt.lower().count("thread") == 2
    assert "out[0]" in alt
    for who in facts["happened in"].split(" and ")[:2]:
        assert who.lower() in alt.lower()


# Numbers that were predicted ------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("task", "name", "value", "kind", "words"),
    [
        ("01-bus", "chain", "3000", "not-a-number", "without quotation marks"),
        ("01-bus", "chain", [3000], "not-a-number", "without quotation marks"),
        ("01-bus", "chain", float("nan"), "not-a-number", "a number"),
        ("01-bus", "from_here", 29 / 3, "prediction", "A whole number is asked for."),
        ("01-bus", "from_here", 10**400, "prediction", "The car needs 4 n cycles"),
        ("08-waves", "share", 10**400, "prediction", "divided by the places of all waves"),
        ("04-moved", "second", 400 / 3, "prediction", "how many times as fast it is"),
        ("04-moved", "second", 0.75, "prediction", "A share, where per cent are asked for?"),
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


def test_of_shares_and_per_cent_only_a_question_about_them_speaks():
    task = definition.find("03-layers")  # 4000 microseconds
    truth = {question.name: question.truth() for question in task.questions}
    for said in (truth["all_come"] / 100, truth["all_come"] * 100):
        cause = checking.check(task, truth | {"all_come": said}).failure.cause
        assert cause.startswith("The digits are right, and the unit is another one.")


def test_a_prediction_may_come_from_numpy_and_a_letter_may_be_small():
    for task, name, form in (("01-bus", "chain", np.int64), ("08-listing", "wide", str.lower)):
        task = definition.find(task)
        truth = {question.name: question.truth() for question in task.questions}
        assert checking.check(task, truth | {name: form(truth[name])}).status == "right"


def test_choices_come_after_the_numbers_and_one_says_nothing_of_another():
    task = definition.find("08-listing")
    truth = {question.name: question.truth() for question in task.questions}
    guessed = truth | {"wide": "A", "local": "A", "b_loads": 256}
    said = feedback.as_text(checking.check(task, guessed))
    assert said.startswith("08-listing: b_loads")
    assert "the others" not in said
    assert "local" not in said
    for other in ("A", truth["local"]):
        said = feedback.as_text(checking.check(task, guessed | {"b_loads": truth["b_loads"], "local": other}))
        assert said.startswith("08-listing: wide")
        assert "the numbers   right" in said
        assert "local" not in said


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
        (whole_arrays, "one thread works on single elements, on several of them in a loop"),
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


@cuda.jit
def opposite(a, b, out):
    i = cuda.threadIdx.x
    out[i] = -max(a[i], b[i])


@cuda.jit
def three_times(a, b, out):
    i = cuda.threadIdx.x
    out[i] = 3 * max(a[i], b[i])


@pytest.mark.parametrize(
    ("kernel", "words"),
    [(opposite, "Every number has the opposite sign."), (three_times, "Every number is 3 times what it should be.")],
    ids=lambda value: getattr(value, "__name__", None),
)
def test_one_factor_for_all(kernel, words):
    failure, _ = said("07-zip", kernel)
    assert failure.kind == "scaled"
    assert failure.cause.startswith(words)


# How it looks ---------------------------------------------------------------------------------------------------------


def texts_of(path):
    """All text in a file of Python, but for its docstrings."""
    tree = ast.parse(path.read_text(encoding="utf-8"))
    docstrings = {id(n.value) for n in ast.walk(tree) if isinstance(n, ast.Expr)}
    constants = [n for n in ast.walk(tree) if isinstance(n, ast.Constant) and id(n) not in docstrings]
    return [n.value for n in constants if isinstance(n.value, str)]


def test_no_stars_in_words_that_are_shown_as_they_are():
    course = Path(definition.__file__).parent
    paths = [path for wish in ("tasks/**/*.py", "kinds/*.py", "*.py") for path in course.glob(wish)]
    texts = [text for path in paths for text in texts_of(path)]
    assert len(texts) > 5000
    assert not [text for text in texts if re.search(r"(^|\s)\*[a-z]+\*(\W|$)", text)]


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
    assert (
        watched.of(sums_of_anything, arguments, 2, "static", None, (), 0.9)["unset"] == f"line {line} reads `own[t, 0]`"
    )
    assert watched.of(sums_that_begin_with_0, arguments, 2, "static", None, (), 0.9)["unset"] == ""


# Notebook 07, walked through by a student -----------------------------------------------------------------------------


@cuda.jit
def columns_as_rows(x, out):
    i, j = cuda.grid(2)
    if i < out.shape[0] and j < out.shape[1]:
        out[i, j] = max(x[i, j], 0)


def test_where_there_is_one_block_its_number_is_not_the_cause():
    failure, _ = said("07-map", columns_as_rows)
    assert failure.kind == "some-unwritten"
    assert "cuda.grid(2) gives x first" in failure.cause
    assert "number of the block" not in failure.cause


@cuda.jit
def rounds_rounded_up(alpha, x, y):
    step = cuda.gridsize(1)
    for k in range(math.ceil(y.size / step)):
        i = cuda.grid(1) + k * step
        if i < y.size:
            y[i] += alpha * x[i]


@cuda.jit
def larger_by_numpy(a, b, out):
    i = cuda.threadIdx.x
    out[i] = np.maximum(a[i], b[i])


@pytest.mark.parametrize(("task", "kernel"), [("07-axpy", rounds_rounded_up), ("07-zip", larger_by_numpy)])
def test_what_numba_compiles_for_a_gpu_is_taken(task, kernel):
    assert outcome_of(task, kernel).status == checking.RIGHT


@cuda.jit
def a_float_as_index(alpha, x, y):
    first = cuda.grid(1) * math.ceil(y.size / cuda.gridsize(1))
    y[first] = alpha * x[first] + y[first]


def test_a_float_as_index_says_where_floats_come_from():
    failure, facts = said("07-axpy", a_float_as_index)
    assert failure.headline.endswith("it was not run")
    assert "`//` gives whole numbers" in facts["it said"]


@cuda.jit
def same_start(alpha, x, y):
    for i in range(cuda.threadIdx.x, y.size, cuda.gridsize(1)):
        y[i] += alpha * x[i]


@cuda.jit
def short_step(alpha, x, y):
    for i in range(cuda.grid(1), y.size, cuda.blockDim.x):
        y[i] += alpha * x[i]


def test_twice_by_the_start_or_by_the_step():
    assert "Where does thread 0 of block 0 begin" in said("07-axpy", same_start)[0].cause
    assert "By how much does the index grow" in said("07-axpy", short_step)[0].cause


def test_rows_of_the_picture_are_rounds_where_the_grid_is_small():
    failure, _ = said("07-axpy", short_step)
    rows = feedback.picture_rows(failure.picture)
    assert [row.split(" x")[0].split(" .")[0] for row in rows[:3]] == [
        "round 1, block 0",
        "round 1, block 1",
        "round 2, block 0",
    ]
    assert feedback.picture_rows(said("07-add", grid_for_block)[0].picture)[0].startswith("block 0 ")


@cuda.jit
def second_store_adds(a, b, out):
    i = cuda.grid(1)
    if i < a.size:
        out[i] = a[i]
    if i < b.size:
        out[i] += b[i]


def test_a_nan_that_was_stored_was_written():
    failure, _ = said("07-add", second_store_adds)
    assert failure.kind == "adds-to-old"
    assert failure.picture["state"] == [0] * 33 + [1] * 217
    assert "_" not in "".join(row.split(" ", 2)[2] for row in feedback.picture_rows(failure.picture))


@cuda.jit
def reads_beyond_b(a, b, out):
    i = cuda.grid(1)
    if i < out.size:
        out[i] = a[i] + b[i]


def test_an_index_outside_is_told_once_and_the_end_is_drawn():
    outcome = outcome_of("07-add", reads_beyond_b)
    text = feedback.as_text(outcome).lower()
    assert text.count("thread 70 of block 0") == 2  # in the sentence, and in the words of the picture
    svg = outcome.failure.picture["svg"]
    assert svg.count("stroke-dasharray") == 5  # 70 to 74
    assert "b ends at the dashes" in svg
    assert re.search(r"> <text", svg)  # words stay apart where a notebook that is not trusted drops the rest


def test_lines_of_the_course_s_own_kernels_are_those_that_are_printed():
    fails = {
        "first": {"n": 100, "blocks": 4, "threads": 64},
        "second": {"n": 100, "blocks": 2, "threads": 64},
        "third": {"n": 100, "blocks": 2, "threads": 64},
        "fourth": {"x": [100.0]},
    }
    outcome = outcome_of("07-fails", fails)
    assert outcome.status == checking.RIGHT
    assert ">line 5<" in outcome.picture["svg"]


@njit(parallel=True)
def no_prange(x, bias, out):
    for i in range(x.shape[0]):
        for j in range(x.shape[1]):
            z = x[i, j] + bias[j]
            out[i, j] = z / (1 + math.exp(-z))


def test_a_loop_that_is_not_shared_is_told_by_the_check_alone(recwarn):
    _, facts = said("07-fused", no_prange)
    assert "prange" in facts["it has"]
    assert not [w for w in recwarn if "parallel=True" in str(w.message)]


@njit
def gated(x, scale, shift, out):
    for i in range(x.shape[0]):
        for j in range(x.shape[1]):
            z = x[i, j] * scale[j] + shift[j]
            out[i, j] = z * min(max(z + 3, 0), 6) / 6


@njit
def in_branches(x, scale, shift, out):
    for i in range(x.shape[0]):
        for j in range(x.shape[1]):
            z = x[i, j] * scale[j] + shift[j]
            if z <= -3:
                out[i, j] = 0
            elif z >= 3:
                out[i, j] = z
            else:
                out[i, j] = z * (z + 3) / 6


@njit
def gated_by_numpy(x, scale, shift, out):
    for i in range(x.shape[0]):
        for j in range(x.shape[1]):
            z = x[i, j] * scale[j] + shift[j]
            out[i, j] = z * np.minimum(np.maximum(z + 3, 0), 6) / 6


FLOPS, MOVED = 5 * 32 * 64, 4 * (2 * 32 * 64 + 2 * 64)


def claimed(function, **changed):
    claims = {"flops": FLOPS, "moved": MOVED, "intensity": FLOPS / MOVED, "roof": "memory"} | changed
    return checking.check(definition.find("07-roofline"), Local(function, claims=claims))


def test_two_digits_of_an_intensity_are_enough():
    assert claimed(gated, intensity=0.6).status == checking.RIGHT
    assert "rounded too far" in claimed(gated, intensity=0.58).failure.cause
    assert "rounded" not in claimed(gated, intensity=0.5).failure.cause


def test_a_count_that_depends_on_the_numbers_is_told():
    assert "depends on the numbers" in claimed(in_branches).failure.cause
    assert "depends" not in claimed(gated, flops=FLOPS + 999).failure.cause


def test_what_cannot_be_counted_is_told_before_the_answers_are_asked_for():
    outcome = claimed(gated_by_numpy, flops=..., roof=...)
    assert outcome.failure.kind == "raised-NotAdmitted"
    assert "Python's own min, max" in outcome.failure.cause


def test_all_that_is_missing_is_listed():
    outcome = claimed(gated, flops=..., roof=...)
    assert (outcome.status, dict(outcome.failure.facts)["missing"]) == (checking.UNSOLVED, "flops, roof")
    numbers = {"neighbours": ..., "every_eighth": 32, "four_in_a_row": None}
    outcome = checking.check(definition.find("07-sectors"), numbers)
    assert (outcome.status, dict(outcome.failure.facts)["missing"]) == (checking.UNSOLVED, "neighbours, four_in_a_row")


def test_a_wrong_verdict_shows_where_and_not_what():
    verdicts = {"A": "two writers", "B": "outside", "C": "right", "D": "wrong numbers"}
    _, facts = said("07-verdicts", verdicts)
    assert "look at element [128]" in facts["a run of it"]
    assert "written" not in facts["a run of it"]


@pytest.mark.parametrize("task", ["07-map", "08-naive"])
def test_blocks_are_counted_along_x_and_y(task):
    names = [case.name for case in definition.find(task).cases]
    assert any("blocks along x, " in name and name.endswith(" along y") for name in names)


def test_headlines_name_no_class_of_the_course():
    assert "was not run" in said("07-add", lambda a, b, out: None)[0].headline
    assert "was not run" in said("07-add", misspelt_member)[0].headline


def test_one_argument_is_no_tuple():
    _, facts = said("07-launch", launch)
    assert facts["called with"] == "1"
    assert facts["expected"] == "at least 1 thread in all, not 0"
