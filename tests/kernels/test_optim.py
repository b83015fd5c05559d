"""Optimisers: as PyTorch has them, in place, the same bits however they are called, and the bytes that they move."""

import itertools

import numba
import numpy as np
import pytest

import dlkernels
from dlkernels import adamw, clip_grad_norm, cuda, implementations, sgd
from dlkernels.optim import gpu, groups, reference
from simt.xray import xray

from . import torch_training as torch_says
from .checks import arrays_of

CASES = torch_says.recorded()
STEPS = torch_says.STEPS


def ways(name):
    """The reference and every rung of the CPU."""
    return [getattr(reference, name), *implementations.of(name, "cpu")]


def same_sums(arrays, kept, case):
    for x, right in zip(arrays, kept, strict=True):
        np.testing.assert_allclose(torch_says.sums(x), right, rtol=1e-9, atol=1e-9, err_msg=str(case))


@pytest.mark.parametrize("name", ["sgd", "adam", "adamw"])
def test_pytorch_takes_the_same_steps(name):
    cases = [case for case in CASES if case["name"] == name]
    assert len(cases) >= 30
    for case, way in itertools.product(cases, ways(name)):
        params, seed, options = torch_says.arrays(case["seed"]), case["seed"], torch_says.options(case)
        zeros = tuple(map(np.zeros_like, params))
        states = (None,) if name == "sgd" else (zeros, zeros)
        for step in range(1, STEPS + 1):
            counted = () if name == "sgd" else (step,)
            params, *states = way(params, torch_says.arrays(seed + 100 * step), *states, *counted, **options)
        same_sums(arrays_of((params, *states)), case["results"], case)


def test_pytorch_clips_the_same_way():
    for case, way in itertools.product(
        (case for case in CASES if case["name"] == "clip_grad_norm"), ways("clip_grad_norm")
    ):
        same_sums(arrays_of(way(torch_says.arrays(case["seed"] + 100), case["max_norm"])), case["results"], case)


# ---- bits ------------------------------------------------------------------------------------------------------------


def draw(*shapes, seed=0, dtype=np.float32):
    rng = np.random.default_rng(seed)
    return tuple(rng.standard_normal(shape).astype(dtype) for shape in shapes)


MANY = ((70000,), (3, 5), (), (129, 257), (1,), (16384,))


def on_threads(function):
    """Results with one thread and with all of them."""
    before, found = numba.get_num_threads(), []
    try:
        for threads in (1, numba.config.NUMBA_NUM_THREADS):
            numba.set_num_threads(threads)
            found.append(function())
    finally:
        numba.set_num_threads(before)
    return found


def test_no_bit_depends_on_threads_or_on_how_parameters_lie():
    p, g, m, v = (draw(*MANY, seed=seed) for seed in range(4))
    v = tuple(map(np.asarray, map(np.abs, v)))
    one, all_of_them = on_threads(lambda: arrays_of(adamw(p, g, m, v, 3)))
    for x, y in zip(one, all_of_them, strict=True):
        np.testing.assert_array_equal(x, y)
    lines = [np.concatenate([x.reshape(-1) for x in group]) for group in (p, g, m, v)]
    for line, group in zip(adamw(*lines, 3), adamw(p, g, m, v, 3), strict=True):
        np.testing.assert_array_equal(line, np.concatenate([x.reshape(-1) for x in group]))
    for rung in implementations.of("adamw", "cpu"):
        for x, y in zip(one, arrays_of(rung(p, g, m, v, 3)), strict=True):
            np.testing.assert_array_equal(x, y, err_msg=rung.name)
    one, all_of_them = on_threads(lambda: arrays_of(clip_grad_norm(g, 0.5)))
    for x, y in zip(one, all_of_them, strict=True):
        np.testing.assert_array_equal(x, y)


# ---- in place --------------------------------------------------------------------------------------------------------


def test_views_of_one_buffer_are_changed_where_they_lie():
    buffer, (g,) = np.ones(20, np.float32), draw((20,))
    p = buffer[:5], buffer[5:].reshape(3, 5)
    expected = buffer - np.float32(0.5) * g
    result = sgd(p, (g[:5], g[5:].reshape(3, 5)), lr=0.5, out=(p, None))
    assert result[0][1] is p[1]
    assert result[1] is None
    np.testing.assert_array_equal(buffer, expected)
    strided = np.zeros((20, 2), np.float32)
    sgd(strided[:, 0], g, lr=0.5, out=(strided[:, 0], None))
    np.testing.assert_array_equal(strided[:, 0], -np.float32(0.5) * g)
    assert (strided[:, 1] == 0).all()


def test_results_over_other_arrays_are_refused():
    p, g, m = draw((8,), (8,), (8,))
    line = np.zeros(12, np.float32)
    refused = r"shares memory with .*; expected separate memory"
    with pytest.raises(ValueError, match=refused):
        sgd(p, g, out=(g, None))
    with pytest.raises(ValueError, match=refused):
        sgd(line[:8], g, out=(line[4:], None))
    with pytest.raises(ValueError, match=refused):  # tied weights, given twice
        sgd((p, p), (g, m), out=((p, p), None))
    with pytest.raises(ValueError, match=refused):
        adamw(p, g, m, line[:8], 1, out=(p, m, m))
    with pytest.raises(ValueError, match=refused):
        clip_grad_norm((p, line[2:]), 1.0, out=(None, (p, line[:10])))
    both = np.zeros((8, 2), np.float32)  # side by side: no element in common
    sgd(both[:, 0], both[:, 1], out=(both[:, 0], None))


@pytest.mark.parametrize(
    ("error", "words", "call"),
    [
        (ValueError, "momentum is 0", lambda p: sgd(p, p, p)),
        (ValueError, "Nesterov", lambda p: sgd(p, p, nesterov=True)),
        (ValueError, "lr is -1", lambda p: sgd(p, p, lr=-1)),
        (ValueError, "step is 0", lambda p: adamw(p, p, p, p, 0)),
        (ValueError, r"betas\[1\] is 1; .*less than 1", lambda p: adamw(p, p, p, p, 1, betas=(0.9, 1.0))),
        (TypeError, "exp_avgs is None", lambda p: adamw(p, p, None, p, 1)),
        (TypeError, "grads is a ndarray; expected a tuple", lambda p: sgd((p, p), p)),
        (ValueError, "grads has 1 arrays, but params has 2", lambda p: sgd((p, p), (p,))),
        (ValueError, r"grads\[1\] has shape \(2,\); expected \(3,\)", lambda p: sgd((p, p), (p, p[:2]))),
        (TypeError, r"grads\[0\] has dtype float64", lambda p: sgd((p,), (p.astype(float),))),
        (ValueError, "params is empty", lambda p: sgd((), ())),
        (TypeError, "out is ndarray; expected None or a tuple", lambda p: sgd(p, p, out=p)),
        (ValueError, "max_norm is -1", lambda p: clip_grad_norm(p, -1)),
        (ValueError, "max_norm is nan; expected a finite number", lambda p: clip_grad_norm(p, np.nan)),
        (ValueError, "lr is inf; expected a finite number of at least 0", lambda p: sgd(p, p, lr=np.inf)),
    ],
)
def test_wrong_arguments(error, words, call):
    with pytest.raises(error, match=words):
        call(np.zeros(3, np.float32))


# ---- extreme gradients -----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("device", [False, True])
@pytest.mark.parametrize("size", [1e25, 1e-30])
def test_squares_neither_overflow_nor_vanish(size, device):
    """PyTorch 2.13 adds in float32: inf and 0."""
    g = np.full(1000, size, np.float32)
    norm, clipped = clip_grad_norm(cuda.to_device(g) if device else g, 1.0)
    if device:
        norm, clipped = norm.copy_to_host(), clipped.copy_to_host()
    np.testing.assert_allclose(norm, np.sqrt(1000) * size, rtol=1e-6)
    np.testing.assert_allclose(clipped, g * min(1.0, 1 / (np.sqrt(1000) * size + 1e-6)), rtol=1e-6)


def test_what_is_not_finite_is_seen():
    g = np.ones(5, np.float32)
    for wrong, norm in ((np.nan, np.nan), (np.inf, np.inf)):
        g[2] = wrong
        total, clipped = clip_grad_norm(g, 1.0)
        np.testing.assert_array_equal(total, np.float32(norm))
        assert np.isnan(clipped[2])
        np.testing.assert_array_equal(clipped[:2], np.float32([np.nan] * 2 if np.isnan(norm) else [0, 0]))


@pytest.mark.parametrize("device", [False, True])
def test_without_a_limit_the_norm_is_found(device):
    """How PyTorch's users watch a norm: max_norm is infinite, and nothing is clipped."""
    g = np.float32([3, 4])
    norm, clipped = clip_grad_norm(cuda.to_device(g) if device else g, np.inf)
    if device:
        norm, clipped = norm.copy_to_host(), clipped.copy_to_host()
    assert norm == 5
    np.testing.assert_array_equal(clipped, g)


# ---- bytes -----------------------------------------------------------------------------------------------------------


def moved(kernel, size, arrays, *numbers):
    """Bytes that a launch loads and stores, for each element."""
    lines = [np.ones(size, np.float32) for _ in range(arrays)]
    report = xray(kernel, size // gpu.THREADS, gpu.THREADS)(*numbers, *lines)
    assert not report.findings
    return report.total["bytes_moved"] / size


def test_what_is_fused_moves_what_must_be_moved():
    size, one = 2 * gpu.THREADS, np.float32(1)
    apart = (
        moved(gpu.mean_kernel, size, 3, one)
        + moved(gpu.square_kernel, size, 3, one, one)
        + moved(gpu.below_kernel, size, 2, one, one)
        + moved(gpu.quotient_kernel, size, 4, one, one)
    )
    numbers = [one] * 8
    assert moved(gpu.adam_kernel, size, 7, *numbers) == 4 * (4 + 3)
    assert moved(gpu.adam_wide_kernel, size, 7, *numbers) == 4 * (4 + 3)
    assert apart == 4 * (3 + 3 + 2 + 4)


def test_the_names_that_users_import():
    assert {"adam", "adamw", "clip_grad_norm", "sgd"} <= set(dlkernels.__all__)


@pytest.mark.quick
def test_where_an_array_lies_is_known_for_as_long_as_it_lives():
    before = len(groups._known)
    kept = np.zeros(3, np.float32)
    for n in range(1, 200):  # others get the number of one that is gone
        x = np.zeros(n, np.float32)[::-1][: n // 2 + 1]
        assert groups.address(x) == groups.address(x) == x.ctypes.data
        assert groups.address(kept) == kept.ctypes.data
    del x
    assert len(groups._known) == before + 1
    with pytest.raises(ValueError, match="cannot resize"):  # which would move it
        kept.resize(1000, refcheck=False)
