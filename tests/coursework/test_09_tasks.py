"""Chapter 09: the specifications in the statements, the tasks and the library say the same; budgets hold what they
claim."""

import itertools
from dataclasses import replace

import answers
import masters
import numpy as np
import pytest

from coursework import checking, definition
from coursework.answer import Local
from coursework.grading import servant
from coursework.kinds.data import outcome_of
from coursework.tasks import c09 as tasks
from dlkernels.convolution import reference

MASTER = masters.cells("09")


@pytest.mark.quick
def test_the_tasks_compute_what_the_library_computes():
    rng = np.random.default_rng(0)
    for name in ("09-plane", "09-pool", "09-weight", "09-im2col"):
        task = definition.find(name)
        for case in (*task.cases, *definition.hidden_cases(task)):
            arguments = case.make(rng)
            expected = task.spec(*arguments)
            if name == "09-plane":
                x, weight, padding, _ = arguments
                found = reference.conv2d(x, weight[None], None, 1, padding)[0]
            elif name == "09-pool":
                x, size, stride, padding, _ = arguments
                if 2 * padding > size:
                    continue  # the library, as PyTorch, refuses windows without a pixel
                found = reference.max_pool2d_with_indices(x, size, stride, padding)[1]
            elif name == "09-weight":
                grad, x, padding, out = arguments
                found = reference.conv2d_backward(grad, x, np.zeros(out.shape), None, 1, padding)[1]
            else:
                x, kernel, stride, padding, _ = arguments
                weight = rng.uniform(-1, 1, (2, len(x), kernel, kernel))
                found = reference.conv2d(x, weight, None, stride, padding).reshape(2, -1)
                expected = weight.reshape(2, -1) @ expected
            np.testing.assert_allclose(found, expected, rtol=1e-9, atol=1e-12, err_msg=case.name)


def test_the_right_kernel_is_right_for_other_sizes_too():
    others = tuple(tasks.verdicts.scatter_case(*sizes) for sizes in itertools.product((1, 31, 64), (1, 2, 33)))
    for name, program in tasks.VERDICTS.programs.items():
        right = checking.check(replace(tasks.verdicts.SCATTER, cases=others), Local(program, admitted=True))
        assert (right.status == checking.RIGHT) == (name == "B")


def test_a_line_with_a_wide_halo_is_needed_for_the_fourth_and_none_for_the_others():
    """Which sizes refute: those that the leads and hints name."""
    first, second, third, fourth = tasks.FAILS.flaws
    for taps, padding, dilation, stride in itertools.product((2, 3), (0, 1, 4), (1, 2), (1, 2)):
        case = first.case(n=17, taps=taps, padding=padding, dilation=dilation, stride=stride)
        arguments = case.make(np.random.default_rng(0))
        right = tasks.fails.padded_line(*arguments)
        reached = {t * dilation + i * stride - padding for i in range(right.size) for t in range(taps)}
        refuted = {
            flaw.name: outcome_of(flaw.judge, flaw.wrong, case, 1) is not None for flaw in (first, second, third)
        }
        n, out = 17, right.size
        assert refuted["first"] == any(min(n, out) <= j < max(n, out) for j in reached)
        assert refuted["second"] == (padding > 0 and dilation > 1)
        ends = [n - (i * stride - padding) for i in range(out)]
        assert refuted["third"] == any(end % dilation > 0 and 0 <= end // dilation < taps for end in ends)
    for taps, dilation in itertools.product((2, 5, 9), (1, 2, 3, 4)):
        case = fourth.case(n=64, taps=taps, padding=0, dilation=dilation)
        found = outcome_of(fourth.judge, fourth.wrong, case, 1)
        assert (found is not None) == ((taps - 1) * dilation > 16), (taps, dilation)


def test_a_tile_without_its_barrier_is_a_race():
    source = MASTER["09-halo"]
    assert source.count("    cuda.syncthreads()\n") == 1
    answer = Local(servant.define([source.replace("    cuda.syncthreads()\n", "")])["halo"])
    assert checking.check(definition.find("09-halo"), answer).failure.kind == "race"


def test_the_budget_of_the_tile_is_a_quarter_of_what_is_counted_without_one():
    """And the golf's least is each pixel once, 32 in a request, and the weights."""
    from simt.xray import xray

    task = definition.find("09-halo")
    case = task.budget.case
    counted = xray(answers.answer("09-halo", "no_tile"), case.grid, case.block)(
        *case.make(np.random.default_rng(0))
    ).total
    assert task.budget.require["global_load_requests"] * 4 == counted["global_load_requests"]
    x, weight, _ = case.make(np.random.default_rng(0))
    assert task.budget.golf.best == x.size // 32 + 1
    assert weight.size < 32


def test_the_large_layer_is_the_small_one_many_times():
    """So what was counted of the small one holds for the large one, channel by channel."""
    roofline = tasks.ROOFLINE
    small, large = (case.make(np.random.default_rng(0)) for case in (roofline.claimed, roofline.measured))
    ratios = {a.size / b.size for a, b in zip(large, small, strict=True)}
    assert ratios == {4096 / 4}
