"""What is said of mistakes in chapter 08, and of its right answers."""

import re
from types import SimpleNamespace

import numpy as np
import pytest
from numba import njit

from coursework import checking, definition, feedback, kept, network
from coursework.answer import Local
from coursework.kinds.measured import FAR
from coursework.outcome import WRONG, Failure, Outcome
from coursework.tasks.c08 import HASTY, IKJ, NAIVE, NETWORK, ORDER, THIN
from dlkernels import cuda


@cuda.jit
def set_by_a_slice(a, b, out):
    sums = cuda.local.array((2, 2), np.float32)
    sums[:] = 0
    out[0, 0] = sums[0, 0]


def test_slices_are_refused_by_the_executor_not_by_numba():
    facts = dict(checking.check(definition.find("08-four"), Local(set_by_a_slice)).failure.facts)
    assert facts["it said"].endswith(
        "uses a slice, which the executor of this course does not take: one thread works on single elements, on "
        "several of them in a loop"
    )


@cuda.jit
def one_each(a, b, out):
    j, i = cuda.grid(2)
    if i < out.shape[0] and j < out.shape[1]:
        total = np.float32(0)
        for p in range(a.shape[1]):
            total += a[i, p] * b[p, j]
        out[i, j] = total


def test_green_draws_a_case_without_a_rest():
    outcome = checking.check(NAIVE, Local(one_each))
    assert outcome.status == "right"
    assert "32 lanes touch 4 sectors" in outcome.picture["alt"]


@njit
def by_rows(a, b, out):
    out[:] = 0
    for i in range(a.shape[0]):
        for p in range(a.shape[1]):
            for j in range(b.shape[1]):
                out[i, j] += a[i, p] * b[p, j]


def test_a_budget_says_what_was_reached():
    outcome = checking.check_budget(IKJ, Local(by_rows), examined=True)
    assert "Counted: 3 memory accesses per vector multiply." in outcome.checked


@pytest.mark.rotates
@pytest.mark.parametrize(
    ("seconds", "words"), [(100.0, "the lower one, and your loop is far below both roofs"), (1e-9, " binds;")]
)
def test_far_below_both_roofs_neither_binds(seconds, words):
    assert 0 < FAR < 1
    answer = SimpleNamespace(timed=lambda arguments: (seconds, 1))
    said, _ = THIN._measured(answer, 0, {"flops": 131072, "moved": 41984})
    assert words in said


def test_sums_at_the_end_of_a_schedule():
    steps = "".join(HASTY.most[1])
    said = feedback.as_text(checking.check(HASTY, Local(steps)))
    assert "A reads 2 numbers of the next tile" in said
    assert f"the sum of A is {HASTY.program.play(steps).state['sums'][0]}, and should be 63" in said
    assert "A reads 1 number of the next tile;" in feedback.as_text(checking.check(HASTY, Local("A")))


@cuda.jit
def sums_not_set(a, b, out):
    sums = cuda.local.array((2, 2), np.float32)
    sums[0, 0] += a[0, 0]
    out[0, 0] = sums[0, 0]


def test_a_small_array_is_drawn_with_the_elements_that_it_has():
    failure = checking.check(definition.find("08-four"), Local(sums_not_set)).failure
    assert failure.kind == "uninitialised-local"
    assert set(re.findall(r"sums\[0, (\d+)\]", failure.picture["svg"])) == {"0", "1"}


def test_warps_are_called_warps():
    said = feedback.as_text(checking.check(HASTY, Local("A")))
    assert re.search(r"step +warp +line", said)
    assert not re.search(r"\bthreads?\b", said)
    assert "the warps are called A, B" in feedback.as_text(checking.check(HASTY, Local("ABX")))


def test_bytes_for_mib():
    truth = {question.name: question.truth() for question in ORDER.questions}
    failure = checking.check(ORDER, truth | {"mib": truth["mib"] * 2**20}).failure
    assert "the unit is another one" in failure.cause


def test_a_fault_of_the_course_asks_for_a_restart():
    outcome = Outcome("08-ikj", "results", WRONG, 0, 2, failure=Failure("checker-error", "The check itself failed"))
    assert feedback.advice(outcome).startswith("Restart the kernel")
    assert "Mend the cell" not in feedback.as_text(outcome)


def test_largest_takes_one_row():
    with pytest.raises(ValueError, match="largest takes one row"):
        kept._largest(np.zeros((2, 10)), np.zeros(1, np.int64))


def all_rows_at_once(x, w1, b1, w2, b2):
    p = network.probabilities(x, w1, b1, w2, b2)
    return np.full(len(x), p.argmax())


def test_a_label_that_is_no_digit():
    failure = checking.check(NETWORK, Local(all_rows_at_once)).failure
    assert "one row of the probabilities, or all of them" in failure.cause
