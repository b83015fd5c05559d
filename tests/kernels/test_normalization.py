"""Batch normalisation: as PyTorch has it, right where the mean is large, the same bits on any number of threads."""

import itertools

import numpy as np
import pytest

from dlkernels import (
    batch_norm,
    batch_norm_backward,
    batch_norm_backward_from_statistics,
    batch_norm_with_statistics,
    cuda,
    implementations,
)
from dlkernels.normalization import reference, running_statistics

from . import torch_training as torch_says
from .checks import arrays_of
from .test_optim import on_threads

CASES = [case for case in torch_says.recorded() if case["name"] == "batch_norm"]


def ways(name):
    return [getattr(reference, name), *implementations.of(name, "cpu")]


def same_sums(arrays, kept, case):
    for x, right in zip(arrays, kept, strict=True):
        np.testing.assert_allclose(torch_says.sums(x), right, rtol=1e-7, atol=1e-6, err_msg=str(case))


def test_pytorch_gives_the_same_results_and_gradients():
    assert len(CASES) >= 50
    assert {case["training"] for case in CASES} == {True, False}
    for case in CASES:
        x, grad, mean, var, weight, bias = torch_says.normalised(case)
        options = torch_says.options(case)
        given, result, gradients = (mean, var, weight, bias), case["results"][:1], case["results"][3:]
        for way in ways("batch_norm"):
            same_sums([way(x, *given, **options)], result, case)
        options.pop("momentum")
        for way in ways("batch_norm_backward"):
            same_sums(arrays_of(way(grad, x, *given, **options)), gradients, case)
        if not case["training"]:
            continue
        options.pop("training")
        for way, back in itertools.product(
            ways("batch_norm_with_statistics"), ways("batch_norm_backward_from_statistics")
        ):
            out, *found = way(x, weight, bias, **options)
            same_sums([out], result, case)
            same_sums(arrays_of(back(grad, x, *found, weight, bias, **options)), gradients, case)


@pytest.mark.parametrize("device", [False, True])
def test_pytorch_has_the_same_running_statistics(device):
    for case in CASES if not device else CASES[:3]:
        x, _, *running, weight, bias = torch_says.normalised(case)
        if case["training"]:
            _, *found = batch_norm_with_statistics(x, weight, bias, case["eps"])
            before = (*running, *found)
            given = [cuda.to_device(one) for one in before] if device else before
            after = running_statistics(*given, x.size // x.shape[1], case["momentum"])
            after = [one.copy_to_host() for one in after] if device else after
            same_sums(after, case["results"][1:3], case)


@pytest.mark.parametrize("shape", [(64, 3, 20, 20), (300, 40), (2, 20, 300, 301)])
@pytest.mark.parametrize("rung", implementations.of("batch_norm_with_statistics"), ids=lambda rung: rung.name)
def test_a_large_mean_keeps_a_small_variance(rung, shape):
    """Of float32 numbers whose squares have no digit left for it."""
    if rung.device == "gpu" and np.prod(shape) > 100_000:
        pytest.skip("long in the executor")
    x = (10_000 + 0.01 * np.random.default_rng(0).standard_normal(shape)).astype(np.float32)
    out, mean, var = rung(x)
    right, right_mean, right_var = reference.batch_norm_with_statistics(x)
    np.testing.assert_allclose(var, right_var, rtol=1e-5)
    np.testing.assert_array_equal(mean, right_mean.astype(np.float32))
    np.testing.assert_allclose(out, right, atol=1e-4)


@pytest.mark.parametrize("shape", [(16, 3, 60, 61), (40, 33, 9, 10), (500, 130)])
def test_no_bit_depends_on_threads(shape):
    rng = np.random.default_rng(1)
    x, grad = rng.standard_normal((2, *shape), np.float32)
    weight = rng.standard_normal(shape[1]).astype(np.float32)

    def both():
        out, mean, var = batch_norm_with_statistics(x, weight, weight)
        return out, mean, var, *batch_norm_backward_from_statistics(grad, x, mean, var, weight, weight)

    for one, other in zip(*on_threads(both), strict=True):
        np.testing.assert_array_equal(one, other)


def test_running_statistics_stay_as_they_are():
    x = np.random.default_rng(2).standard_normal((4, 3, 2)).astype(np.float32)
    running = np.zeros(3, np.float32), np.ones(3, np.float32)
    in_training = batch_norm(x, *running, training=True)
    assert (running[0] == 0).all()
    assert (running[1] == 1).all()
    np.testing.assert_array_equal(in_training, batch_norm(x, training=True))
    np.testing.assert_array_equal(in_training, batch_norm_with_statistics(x)[0])


X = np.zeros((2, 3), np.float32)


@pytest.mark.parametrize(
    ("error", "words", "call"),
    [
        (TypeError, "running_mean is None", lambda: batch_norm(X)),
        (ValueError, r"input has shape \(3,\); expected \(batch, channels", lambda: batch_norm(X[0], training=True)),
        (ValueError, "more than one value for each channel", lambda: batch_norm(X[:1], training=True)),
        (ValueError, "more than one value for each channel", lambda: batch_norm_with_statistics(X[:0])),
        (ValueError, r"weight has shape \(2,\); expected \(3,\)", lambda: batch_norm(X, weight=X[:, 0], training=True)),
        (ValueError, "eps is -1", lambda: batch_norm(X, training=True, eps=-1)),
        (TypeError, "training is 'yes'", lambda: batch_norm(X, training="yes")),
        (ValueError, "grad has shape", lambda: batch_norm_backward(X[:1], X, training=True)),
        (ValueError, "count is 1", lambda: running_statistics(X[0], X[0], X[0], X[0], 1)),
        (ValueError, "momentum is 2", lambda: running_statistics(X[0], X[0], X[0], X[0], 5, 2)),
    ],
)
def test_wrong_arguments(error, words, call):
    with pytest.raises(error, match=words):
        call()
