"""What is counted is checked, and nothing that does the work escapes the count."""

from dataclasses import replace

import numpy as np
import pytest
from numba import njit, prange

from coursework import checking, definition, extraction, vocabulary
from coursework.admission import NotAdmitted
from coursework.answer import AnswerFailed, Local
from dlkernels import cuda

CHANNELS, FLIP, AXPY, ROOF = map(definition.find, ("04-channels", "05-flip", "07-axpy", "04-roofline"))


@njit
def scale_shift(x, scale, shift, out):
    for n in range(x.shape[0]):
        for i in range(x.shape[1]):
            for j in range(x.shape[2]):
                for c in range(x.shape[3]):
                    out[n, i, j, c] = x[n, i, j, c] * scale[c] + shift[c]


class CheapWhenCounted(Local):
    """Right in each check; the call that is counted leaves the output as it was."""

    def cost(self, arguments, wanted=()):
        return dict.fromkeys(wanted, 0), [(None, arguments)]

    def counts(self, arguments):
        return {"flops": 1, "moved": 1}, None, arguments

    def watch(self, arguments, *how):
        seen = {"races": [], "carried": [], "counts": {}, "examples": {}, "alone": "", "unset": "", "started": 1}
        seen["most"] = 0.5
        return seen | {"result": None, "after": arguments}


def test_a_call_that_is_counted_must_be_right():
    assert checking.check_budget(CHANNELS, Local(scale_shift)).status == checking.RIGHT
    outcome = checking.check_budget(CHANNELS, CheapWhenCounted(scale_shift), examined=True)
    assert (outcome.status, outcome.points) == (checking.WRONG, 0)
    assert "wrong result" in outcome.failure.headline


def test_a_call_whose_flops_are_counted_must_be_right():
    with pytest.raises(checking.Failed, match="wrong result"):
        ROOF._counted(CheapWhenCounted(scale_shift), checking.arguments_of(ROOF.claimed, 1, 0))


def test_a_call_that_is_watched_must_be_right():
    table = definition.find("03-table")
    case = table.budget.case or table.cases[-1]
    with pytest.raises(checking.Failed, match="wrong result"):
        table.cost(CheapWhenCounted(scale_shift), case, checking.arguments_of(case, 1, 0))


@njit
def one_by_one_beside_a_loop_of_vectors(x, scale, shift, out):
    idle = np.zeros(x.shape[3], np.float32)
    for again in range(200):
        for c in range(x.shape[3]):
            idle[c] = idle[c] + shift[c] * again
    for c in range(x.shape[3]):
        for n in range(x.shape[0]):
            for i in range(x.shape[1]):
                for j in range(x.shape[2]):
                    out[n, i, j, c] = x[n, i, j, c] * scale[c] + shift[c] + 0 * idle[c]


def test_a_loop_of_vectors_beside_the_one_that_works_earns_nothing():
    case = CHANNELS.budget.case or CHANNELS.cases[-1]
    arguments = checking.arguments_of(case, CHANNELS.seed, 1000)
    over, *_ = CHANNELS.overspent(Local(one_by_one_beside_a_loop_of_vectors), case, arguments)
    assert {o.name for o in over} >= {"multiplies"}


@cuda.jit
def flip_with_atomics(picture, out):
    x, y = cuda.grid(2)
    if y < out.shape[0] and x < out.shape[1]:
        out[y, x] = cuda.atomic.add(picture, (y, picture.shape[1] - 1 - x), 0)


def test_a_load_by_an_atomic_counts():
    case = FLIP.budget.case or FLIP.cases[-1]
    arguments = checking.arguments_of(case, FLIP.seed, 1000)
    _, report = Local(flip_with_atomics).xray(case.grid, case.block, arguments, FLIP.budget.require)
    assert "atomics" in {e["measure"] for e in report["excess"]}
    over = (definition.Over("atomics", 1, 0),)
    assert "plain loads and stores" in FLIP.budget.cause(over)


@cuda.jit
def axpy_lane_by_lane(alpha, x, y):
    for lane in range(32):
        if cuda.threadIdx.x % 32 == lane:
            for i in range(cuda.grid(1), y.size, cuda.gridsize(1)):
                y[i] = alpha * x[i] + y[i]


def test_one_lane_at_a_time_is_not_coalesced():
    outcome = checking.check_budget(AXPY, Local(axpy_lane_by_lane))
    assert (outcome.status, outcome.failure.kind) == (checking.WRONG, "over-budget")
    assert "the other 31 wait" in outcome.failure.cause


def test_every_budget_on_memory_counts_atomics():
    from coursework.kinds.kernel import KernelTask

    budgets = [task.budget for task in definition.everything() if isinstance(task, KernelTask) and task.budget]
    about = [budget.require for budget in budgets if "load" in str(budget.require) or "sectors" in str(budget.require)]
    assert about
    assert all("atomic" in str(require) for require in about)


@pytest.mark.parametrize(
    "state", ["np.random.rand()", "np.random.seed(1)", "numba.config", "np.lib", "time.time()", "random.random()"]
)
def test_nothing_that_remembers_is_admitted(state):
    """So an answer cannot count its calls, and find out which of them is counted."""
    text = f"@njit\ndef f(x):\n    y = {state}"
    for language in (vocabulary.COMPILED, vocabulary.COUNTED):
        with pytest.raises(NotAdmitted):
            extraction.admitted([text], language, "f")


def test_the_budget_of_a_copy_is_the_same():
    assert replace(FLIP, points=1).budget == FLIP.budget


class Watched(Local):
    """As it is watched; nothing is compiled."""

    def compiled_call(self, *arguments, **how):
        raise AnswerFailed("NotCompiled", "not asked here")


@njit(parallel=True)
def softmax_of_which_one_row_is_shared(x, out):
    last = x.shape[0] - 1
    for k in prange(2):
        for i in range(last * k, last + k):
            total = 0.0
            for j in range(x.shape[1]):
                total += np.exp(x[i, j])
            for j in range(x.shape[1]):
                out[i, j] = np.exp(x[i, j]) / total


@njit(parallel=True)
def softmax_in_halves(x, out):
    rows = x.shape[0]
    for k in prange(2):
        for i in range(rows * k // 2, rows * (k + 1) // 2):
            total = 0.0
            for j in range(x.shape[1]):
                total += np.exp(x[i, j])
            for j in range(x.shape[1]):
                out[i, j] = np.exp(x[i, j]) / total


@pytest.mark.parametrize(
    ("function", "told"),
    [(softmax_of_which_one_row_is_shared, "in most cases one of 2 threads"), (softmax_in_halves, "")],
)
def test_one_row_for_the_second_thread_is_no_sharing(function, told):
    softmax = definition.find("11-softmax")
    with np.errstate(over="ignore", invalid="ignore"):
        said = softmax._alone(Watched(function), softmax.cases, 1)
    assert said.startswith(told)
    assert bool(said) == bool(told)


@njit
def fill(out, value):
    unset = np.empty(1)
    for i in range(out.size):
        out[i] = 2.0 * value[i] * (unset[0] < -1e300)


@njit
def tells_the_count_by_unset_memory(value, out):
    fill(out, value)


def test_the_counted_call_finds_in_unset_memory_what_the_checked_one_found():
    arguments = np.ones(8), np.zeros(8)
    (_, checked) = Local(tells_the_count_by_unset_memory).compiled_call(arguments)
    cost, runs = Local(tells_the_count_by_unset_memory).cost(arguments, ["arrays", "multiplies"])
    assert cost["multiplies"] >= 8
    for _, (_, out) in [(None, checked), runs[-1]]:
        np.testing.assert_array_equal(out, 2)
