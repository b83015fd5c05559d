"""Losses: what test_operations.py cannot know of them. Wrong targets, means of nothing, sums that repeat, what is
counted."""

import numba
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import dlkernels
from dlkernels import cuda, implementations
from dlkernels.device import name as device_name
from dlkernels.loss import gpu_cross_entropy, reference
from simt.xray import xray

from . import torch_losses as torch_says

f32 = np.float32
X = np.random.default_rng(1).standard_normal((4, 5)).astype(f32)
T = np.array([3, -100, 0, 4])


# ---- what PyTorch gives ----------------------------------------------------------------------------------------------

CASES = torch_says.recorded()["cases"]
NAMES = "cross_entropy", "mse_loss", "embedding"


def ways(backward):
    """The reference and every rung of the CPU, with the cases that PyTorch takes."""
    found = []
    for name in NAMES:
        cases = [case for case in CASES if case["name"] == name and "refused" not in case]
        operation = f"{name}_backward" if backward else name
        specification = implementations.OPERATIONS[operation].reference
        found.append(pytest.param(specification, cases, id=f"{operation}-reference"))
        found += [pytest.param(r, cases, id=r.name) for r in implementations.of(operation, "cpu")]
    return found


def same_sums(found, kept, case):
    found = torch_says.sums(found)
    assert found[:2] == kept[:2], case
    np.testing.assert_allclose(
        found[2:], kept[2:], rtol=1e-9, atol=1e-9 * (1 + case.get("factor", 1)), err_msg=str(case)
    )


@pytest.mark.parametrize(("way", "cases"), ways(backward=False))
def test_pytorch_gives_the_same(way, cases):
    assert len(cases) > 20
    for case in cases:
        arrays, options = torch_says.inputs(case)
        with np.errstate(all="ignore"):
            result = way(*arrays, **options)
        assert list(np.shape(result)) == case["of_shape"], case
        same_sums(result, case["result"], case)


@pytest.mark.parametrize(("way", "cases"), ways(backward=True))
def test_pytorch_gives_the_same_gradients(way, cases):
    for case in cases:
        arrays, options = torch_says.inputs(case)
        found = way(np.asarray(torch_says.arriving(case["of_shape"])), *arrays, **options)
        for gradient, kept in zip(found if isinstance(found, tuple) else (found,), case["gradients"], strict=False):
            same_sums(gradient, kept, case)


def test_what_pytorch_refuses_is_refused():
    refused = [case for case in CASES if "refused" in case]
    assert len(refused) > 10
    for case in refused:
        arrays, options = torch_says.inputs(case)
        with pytest.raises(ValueError, match="expected"):
            getattr(dlkernels, case["name"])(*arrays, **options)


def test_the_record_has_all_kinds():
    losses = [case for case in CASES if case["name"] == "cross_entropy" and "refused" not in case]
    assert {case["reduction"] for case in losses} == {"none", "mean", "sum"}
    assert {case["label_smoothing"] for case in losses} > {0.0, 1.0}
    assert any(case["result"][0] for case in losses), "no mean of nothing"
    assert {len(case["shape"]) for case in losses} == {1, 2, 3, 4}
    assert len({case["padding_idx"] for case in CASES if case["name"] == "embedding"}) > 4


# ---- arguments -------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("arguments", "error", "says"),
    [
        ((X, [1, 2, 3, 4]), TypeError, "target is a list; expected a NumPy array"),
        ((X, X[:, 0]), TypeError, "target has dtype float32; expected int64 or int32"),
        ((X, T[:3]), ValueError, r"target has shape \(3,\); expected \(4,\): a class for each row of input"),
        ((X[None], T), ValueError, r"target has shape \(4,\); expected \(1, 5\): .*classes along dimension 1"),
        (
            (X, np.array([0, 1, 5, 2])),
            ValueError,
            r"target\[2\] is 5; expected an index from 0 to 4, or -100, which is",
        ),
        ((X, np.array([0, -1, 1, 2])), ValueError, r"target\[1\] is -1; expected an index from 0 to 4"),
        ((X, T, 1.0), TypeError, "ignore_index is 1.0; expected a whole number"),
        ((X, T, 2**63), ValueError, f"ignore_index is {2**63}; expected a whole number that fits int64"),
        ((X[:, :0], np.full(4, -100)), ValueError, r"input has shape \(4, 0\); expected at least one class"),
        ((X, T, -100, "average"), ValueError, "reduction is 'average'; expected 'none', 'mean' or 'sum'"),
        ((X, T, -100, "mean", 1.5), ValueError, "label_smoothing is 1.5; expected a number from 0 to 1"),
        ((f32(1) + np.zeros((), f32), T), TypeError, "input is a float32"),
        ((X, cuda.to_device(T)), ValueError, "target in device memory, but input in host memory"),
    ],
)
def test_wrong_arguments_are_told(arguments, error, says):
    with pytest.raises(error, match=says):
        dlkernels.cross_entropy(*arguments)


@pytest.mark.parametrize("operation", ["cross_entropy", "cross_entropy_with_lse", "cross_entropy_backward"])
def test_an_ignored_index_need_be_no_class(operation):
    """Nobody looks up the logit of a class that is not there: 255, say, stands for the rim of things in pictures."""
    far = 1 << 40  # so far behind the logits that whoever reads there is ended
    where = np.array([3, far, 0, 4])
    grad = (np.ones((), f32),) if operation.endswith("backward") else ()
    for rung in implementations.of(operation, "cpu"):
        found = rung(*grad, X, where, ignore_index=far, label_smoothing=0.1)
        expected = rung(*grad, X, T, label_smoothing=0.1)
        for one, other in zip(found, expected, strict=True) if isinstance(found, tuple) else [(found, expected)]:
            np.testing.assert_array_equal(one, other)


def test_wrong_targets_on_the_device_are_told_before_a_kernel_runs():
    with pytest.raises(ValueError, match=r"target\[2\] is 7; expected an index from 0 to 4"):
        dlkernels.cross_entropy(cuda.to_device(X), cuda.to_device(np.array([0, 1, 7, 2])))


def test_a_sum_kept_of_another_call_is_told():
    with pytest.raises(ValueError, match=r"lse has shape \(3,\); expected \(4,\), as cross_entropy_with_lse returns"):
        dlkernels.cross_entropy_backward_from_lse(np.zeros((), f32), X, T, X[:3, 0])
    with pytest.raises(ValueError, match=r"grad has shape \(4,\); expected \(\)"):
        dlkernels.cross_entropy_backward(X[:, 0], X, T)


@pytest.mark.parametrize("place", [np.asarray, cuda.to_device])
def test_a_mean_of_nothing_is_not_a_number_and_its_gradient_is_zero(place):
    ignored, grad = np.full(4, -100), np.ones((), f32)
    for smoothing in (0.0, 0.1):
        found = dlkernels.cross_entropy(place(X), place(ignored), label_smoothing=smoothing)
        assert np.isnan(_host(found))
        assert found.shape == ()
        assert _host(dlkernels.cross_entropy(place(X), place(ignored), -100, "sum", smoothing)) == 0
        gradient = dlkernels.cross_entropy_backward(place(grad), place(X), place(ignored), -100, "mean", smoothing)
        np.testing.assert_array_equal(_host(gradient), 0 * X)
    assert np.isnan(_host(dlkernels.cross_entropy(place(X[:0]), place(T[:0]))))
    assert np.isnan(_host(dlkernels.mse_loss(place(X[:0]), place(X[:0]))))


def _host(x):
    return x.copy_to_host() if hasattr(x, "copy_to_host") else x


def test_targets_of_32_bits_are_the_same():
    for place in (np.asarray, cuda.to_device):
        expected = dlkernels.cross_entropy(place(X), place(T))
        np.testing.assert_array_equal(
            _host(dlkernels.cross_entropy(place(X), place(T.astype(np.int32)))), _host(expected)
        )


def test_logits_of_any_size_cost_what_their_distance_costs():
    """Adding a number to all logits changes nothing: the largest is taken away first, and no exponential overflows."""
    for shift in (-3e4, 3e4):
        found = dlkernels.cross_entropy(X * 4 + f32(shift), T)
        np.testing.assert_allclose(found, reference.cross_entropy(X * 4 + f32(shift), T), rtol=1e-5)


@settings(max_examples=40, deadline=None)
@given(
    rows=st.integers(1, 40),
    classes=st.integers(1, 70),
    seed=st.integers(0, 1000),
    smoothing=st.sampled_from((0.0, 0.2)),
)
def test_the_gradient_of_a_row_adds_up_to_nothing(rows, classes, seed, smoothing):
    """Softmax and what is wanted both add up to one: with the log-sum-exp kept, and with it computed again."""
    draw = np.random.default_rng(seed)
    x, target = 3 * draw.standard_normal((rows, classes)), draw.integers(0, classes, rows)
    result, lse = dlkernels.cross_entropy_with_lse(x, target, label_smoothing=smoothing)
    assert result == dlkernels.cross_entropy(x, target, label_smoothing=smoothing)
    again = dlkernels.cross_entropy_backward(np.ones(()), x, target, -100, "mean", smoothing)
    kept = dlkernels.cross_entropy_backward_from_lse(np.ones(()), x, target, lse, -100, "mean", smoothing)
    np.testing.assert_allclose(kept, again, atol=1e-13)
    np.testing.assert_allclose(again.sum(axis=1), 0, atol=1e-13)


def test_results_repeat_bit_for_bit_on_any_number_of_threads():
    """A run of training that is taken up again must come to the same numbers."""
    draw = np.random.default_rng(3)
    x, target = draw.standard_normal((3000, 65)).astype(f32), draw.integers(0, 65, 3000)
    before, found = numba.get_num_threads(), set()
    try:
        for threads in (1, min(2, numba.config.NUMBA_NUM_THREADS)):
            numba.set_num_threads(threads)
            gradient = dlkernels.cross_entropy_backward(np.ones((), f32), x, target)
            found.add(
                (
                    dlkernels.cross_entropy(x, target).tobytes(),
                    gradient.tobytes(),
                    dlkernels.mse_loss(x, x + x).tobytes(),
                )
            )
    finally:
        numba.set_num_threads(before)
    assert len(found) == 1


def test_a_tape_needs_no_more_than_the_table():
    kept = implementations.keep("cross_entropy_with_lse", dlkernels.cross_entropy_with_lse(X, T), X, T)
    assert set(kept) == {"input", "target", "lse", "ignore_index", "reduction", "label_smoothing"}
    grad = np.ones((), f32)
    found = implementations.gradients("cross_entropy_with_lse", (grad, None), kept)
    plain = implementations.gradients("cross_entropy", grad, implementations.keep("cross_entropy", None, X, T))
    assert set(found) == set(plain) == {"input"}
    np.testing.assert_allclose(found["input"], plain["input"], atol=1e-6)


@pytest.mark.skipif(device_name != "executor", reason="counted in the executor")
@pytest.mark.parametrize("name", ["thread_per_row", "block_per_row", "warp_per_row"])
def test_rows_are_read_once_and_together(name):
    """Of 16 rows of 64 numbers: two warps' requests for each row, of 4 sectors, and one number for its target.

    Where a thread has a row, the 16 threads ask for a number each, in a sector of its own, and go over the row twice.
    """
    rows, n = 16, 64
    x, target = np.resize(X, (rows, n)), np.arange(rows)
    losses, lse = np.zeros(rows, f32), np.zeros(rows, f32)
    launch = {"thread_per_row": (1, 64), "block_per_row": (rows, n), "warp_per_row": (4, (32, 4))}[name]
    report = xray(getattr(gpu_cross_entropy, f"{name}_kernel"), *launch)(x, target, -100, f32(0), losses, lse)
    np.testing.assert_allclose(losses, reference.cross_entropy(x, target, reduction="none"), rtol=1e-5)
    assert report.ok, str(report)
    found = [(e.requests, e.sectors) for e in report.expressions if (e.space, e.array) == ("global", "x")]
    requests, sectors = (sum(column) for column in zip(*found, strict=True))
    if name == "thread_per_row":
        assert (requests, sectors) == (2 * n + 1, rows * (2 * n + 1))
    else:
        assert (requests, sectors) == (2 * rows + rows, 4 * 2 * rows + rows)
    assert report.total["barriers"] == (4 if name == "block_per_row" else 0)
