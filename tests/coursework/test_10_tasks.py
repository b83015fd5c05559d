"""Chapter 10: the specifications in the statements, the tasks and the library say the same; budgets hold what they
claim."""

import ast
import math
import re

import answers
import masters
import numpy as np
import pytest

from coursework import checking
from coursework.answer import Local
from coursework.grading import servant
from coursework.tasks import c10 as tasks
from dlkernels.recurrent import reference
from simt.xray import xray

MASTER = masters.cells("10")


@pytest.mark.quick
def test_a_padded_batch_is_read_backwards_as_the_specification_reads_a_reversed_row():
    """The statement shows the other direction: run on each row turned round, it gives the answer turned round."""
    code = compile(masters.specification("10-lengths"), "10-lengths", "exec")
    for (x, u, lengths, _), case in masters.cases_of(tasks.LENGTHS):
        right = tasks.lengths.read_back(x, u, lengths)
        for r, length in enumerate(lengths):
            turned = x[:length, r : r + 1][::-1].astype(np.float64)
            scope = {"np": np, "x": turned, "u": u.astype(np.float64), "hidden": len(u), "lengths": [length], "r": 0}
            scope["out"] = np.empty_like(turned)
            exec(code, scope)
            np.testing.assert_allclose(scope["out"][::-1, 0], right[:length, r], rtol=1e-9, err_msg=case)
            assert not right[length:, r].any()


def _close(found, right, case=""):
    np.testing.assert_allclose(found, right, rtol=1e-9, atol=1e-12, err_msg=case)


@pytest.mark.quick
def test_the_tasks_compute_what_the_library_computes():
    for (x, h, c, *weights), case in masters.cases_of(tasks.CELL):
        _, new_h, new_c = reference.lstm(x[None], h[None], c[None], *weights)
        for found, right in zip(tasks.cell.lstm_cell(x, h, c, *weights), (new_h, new_c), strict=True):
            _close(found, right[0], case)
    for (of_x, of_h, h, _), case in masters.cases_of(tasks.FUSED):
        sums = of_x.astype(np.float64), of_h.astype(np.float64)
        _close(tasks.fused.gru_cell(of_x, of_h, h), reference._step("gru", *sums, h.astype(np.float64), None)[0], case)
    for (x, u, lengths, _), case in masters.cases_of(tasks.LENGTHS):
        whole = np.isfinite(x).all(axis=2)[..., None]
        hidden, weights = len(u), [[np.eye(len(u))] * 2, [u, u]]
        both, _ = reference.rnn(np.where(whole, x, 0), None, *weights, bidirectional=True, lengths=lengths)
        _close(tasks.lengths.read_back(x, u, lengths), both[..., hidden:], case)
    for (a, b, h0, _, _), case in masters.cases_of(tasks.CHUNKS):
        _close(tasks.chunks.states(a, b, h0), reference.scan(a, b, np.array(h0)), case)
    for (a, grad, _), case in masters.cases_of(tasks.SCAN):
        _close(tasks.scan.gradients(a, grad), reference.scan_backward(grad, a, np.zeros_like(a), dim=1)[1], case)


@pytest.mark.quick
def test_a_step_backwards_is_what_the_library_has_and_what_is_measured():
    for (z, c, of_h, of_c), case in masters.cases_of(tasks.BACKWARD):
        _, new, gates = tasks.backward._forward(z, c)
        right, _, _, before = reference._step_backward("lstm", of_h, of_c, None, c, (*gates, np.tanh(new)))
        found = tasks.backward.step_backward(z, c, of_h, of_c)
        _close(found[0], right, case)
        _close(found[1], before, case)
        for number, gradient in enumerate(found):
            for place in np.ndindex(gradient.shape):
                slope = tasks.backward.slope_by_trying((z, c, of_h, of_c), number, place)
                assert abs(slope - gradient[place]) < 1e-8, (case, number, place)


@pytest.mark.quick
@pytest.mark.parametrize(
    ("task", "right", "mistakes"),
    [
        (tasks.CELL, tasks.cell.lstm_cell, tasks.cell.CELLS),
        (tasks.BACKWARD, tasks.backward.step_backward, tasks.backward.BACKWARDS),
    ],
    ids=["10-cell", "10-backward"],
)
def test_every_mistake_gives_something_of_its_own_in_the_first_case(task, right, mistakes):
    """Else a message would name the wrong one of two causes."""
    arguments = task.cases[0].make(np.random.default_rng(1))
    results = [np.concatenate([part.ravel() for part in right(*arguments, **one)]) for one, _ in (({}, ""), *mistakes)]
    for k, one in enumerate(results):
        for number, other in enumerate(results[:k]):
            assert not np.allclose(one, other, rtol=1e-9, atol=1e-12), (mistakes[k - 1], mistakes[number - 1])


@pytest.mark.quick
def test_stretches_have_the_form_of_their_steps():
    """What is said of a pair, a maximum and a fraction holds for five steps one after the other, too; the others
    wait."""
    judge, rng = tasks.LINEAR.judge, np.random.default_rng(2)
    for name, said in (("A", "waits"), ("B", "pair"), ("C", "max"), ("D", "fraction"), ("E", "waits")):
        for low, high in ((0.5, 1.5), (-1, 0.4), (-2.5, -1)):
            h = np.sort(rng.uniform(0.1, 4, 11))
            end = h
            for x in rng.uniform(low, high, 5):
                end = tasks.LINEAR.programs[name](end, x)
            slip = judge.judge((h, 0.0), end)
            assert (slip is None and said in ("pair", "max")) or slip.kind == said, (name, low)


@pytest.mark.quick
def test_numbers_of_the_prediction_are_those_of_the_library():
    features, hidden = tasks.steps.FEATURES, tasks.steps.HIDDEN
    w_ih, w_hh = tasks.steps._weights()
    states = np.zeros((1, 1, hidden))
    reference.lstm(np.zeros((1, 1, features)), states, states, w_ih, w_hh)  # they fit
    assert tasks.steps._products() == w_ih.size + w_hh.size
    assert (tasks.steps._chain(), tasks.steps._rounds()) == (tasks.steps.STEPS + tasks.steps.LAYERS - 1, 10)


def test_each_of_the_two_barriers_is_needed():
    """With either of them left out the x-ray finds a race; with both there is none."""
    scope = servant.define([MASTER["10-scan"]])
    case = tasks.SCAN.cases[1]
    arguments = case.make(np.random.default_rng(0))
    for kernel, races in (
        (scope["scan_backward"], False),
        (answers.answer("10-scan", "first_barrier_missing"), True),
        (answers.answer("10-scan", "last_barrier_missing"), True),
    ):
        found = xray(kernel, case.grid, case.block)(*(x.copy() for x in arguments)).findings
        assert any(finding.kind == "race" for finding in found) == races


@pytest.mark.quick
def test_the_message_of_a_gradient_tells_the_measured_slope():
    answer = answers.answer("10-backward", "g_as_a_sigmoid")
    facts = dict(checking.check(tasks.BACKWARD, Local(answer)).failure.facts)
    number, slope = re.search(
        r"^(\S+) for g of unit 0 in row 0; tried out, forward: (\S+)$", facts["expected"]
    ).groups()
    assert float(slope) == pytest.approx(float(number), rel=1e-3)


# ---- plans for a scan ------------------------------------------------------------------------------------------------


def master_plan():
    scope = {}
    exec(re.sub(r"### (BEGIN|END) SOLUTION", "", MASTER["10-plan"]), scope)
    return scope["plan"]


def played(n, plan):
    """What each place knows after a plan, as a list of steps: nothing of how the check follows stretches."""
    known = [[i] for i in range(n)]
    for pairs in plan:
        before = list(known)
        for left, right in pairs:
            known[right] = before[left] + before[right]
    return known


@pytest.mark.quick
def test_the_plan_of_the_statement_is_right():
    (listing,) = re.findall(r"^```python\n(.*?)^```$", MASTER["10-plan-task"], re.MULTILINE | re.DOTALL)
    assert tasks.plan.judge_plan((4,), ast.literal_eval(listing)) is None


@pytest.mark.quick
def test_a_plan_is_taken_if_and_only_if_it_scans_in_the_fewest_rounds():
    """Plans of all sizes with a pair moved, left out, doubled or exchanged."""
    rng, plan = np.random.default_rng(0), master_plan()
    seen = {True: 0, False: 0}
    for n in [*range(1, 34), 64, 100]:
        right = [list(pairs) for pairs in plan(n)]
        assert tasks.plan.judge_plan((n,), right) is None
        assert tasks.plan.busiest((n,), right) <= n // 2
        assert len(right) == math.ceil(math.log2(n))
        for _ in range(40 if right else 0):
            changed = [list(pairs) for pairs in right]
            pairs = changed[rng.integers(len(changed))]
            k, kind = rng.integers(len(pairs)), rng.integers(4)
            if kind == 0:
                pairs[k] = tuple(int(place) for place in rng.integers(0, n, 2))
            elif kind == 1:
                del pairs[k]
            elif kind == 2:
                changed.insert(int(rng.integers(len(changed) + 1)), [pairs[k]])
            else:
                other = changed[rng.integers(len(changed))]
                other.append(pairs.pop(k))
            scans = played(n, changed) == [list(range(i + 1)) for i in range(n)]
            once = all(len({right for _, right in pairs}) == len(pairs) for pairs in changed)
            taken = tasks.plan.judge_plan((n,), changed) is None
            assert taken == (scans and once and len(changed) <= len(right)), (n, changed)
            seen[taken] += 1
    assert min(seen.values()) > 20, seen
