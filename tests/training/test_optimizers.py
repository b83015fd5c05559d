"""Optimizers beside recorded PyTorch results, their states, and learning rates that change."""

import itertools

import numpy as np
import pytest
from torch_networks import numbers
from torch_optimizers import CASES, SHAPES, STEPS, gradient, options, rate, recorded

import training
from dlkernels import cuda
from training import SGD, Adam, CosineAnnealing, StepLR, Tensor, clip_grad_norm_
from training.modules import Parameter

pytestmark = pytest.mark.quick


def start():
    return [Parameter(numbers(shape, k)) for k, shape in enumerate(SHAPES)]


def some_steps(optimizer, steps, lr):
    norms = []
    for step in steps:
        for k, weight in enumerate(optimizer.parameters):
            weight.grad = gradient(step, k)
        optimizer.lr = lr * rate(step)
        norms.append(clip_grad_norm_(optimizer.parameters, 1.5))
        optimizer.step()
    return norms


def made(case, weights):
    return getattr(training, case[0])(weights, **options(case))


@pytest.mark.parametrize("which", range(len(CASES)))
def test_steps_are_pytorchs(which):
    case, expected = CASES[which], recorded()["answers"][which]
    weights = start()
    arrays = [weight.data for weight in weights]
    norms = some_steps(made(case, weights), range(STEPS), case[1]["lr"])
    np.testing.assert_allclose(norms, expected["norms"], rtol=1e-12)
    for weight, array, values in zip(weights, arrays, expected["weights"], strict=True):
        assert weight.data is array  # written in place
        np.testing.assert_allclose(array, values, rtol=1e-9)


@pytest.mark.parametrize("which", range(len(CASES)))
def test_a_state_goes_on_to_the_bit(which):
    case = CASES[which]
    one, other = start(), start()
    whole, first = made(case, one), made(case, other)
    some_steps(whole, range(STEPS), case[1]["lr"])
    some_steps(first, range(4), case[1]["lr"])
    state, then = first.state_dict(), [Parameter(weight.data.copy()) for weight in other]
    some_steps(first, range(4, 5), case[1]["lr"])  # does not change a state that was taken
    second = getattr(training, case[0])(then, lr=9.0)
    second.load_state_dict(state)
    some_steps(second, range(4, STEPS), case[1]["lr"])
    assert all((a.data == b.data).all() for a, b in zip(one, then, strict=True))


def test_what_does_not_fit_is_told():
    weights = start()
    optimizer = Adam(weights)
    some_steps(optimizer, range(2), 0.1)
    state = optimizer.state_dict()
    with pytest.raises(ValueError, match=r"3 parameters; expected 1"):
        Adam(weights[:1]).load_state_dict(state)
    with pytest.raises(ValueError, match=r"exp_avg of parameter 0 has shape \(3, 4\); expected .*\(5,\)"):
        Adam([weights[1], weights[0], weights[2]]).load_state_dict(state)
    with pytest.raises(TypeError, match="requires_grad"):
        Adam([Tensor(np.zeros(3))])
    with pytest.raises(TypeError, match="expected some Tensors"):
        SGD([])
    with pytest.raises(ValueError, match="lr is -1"):
        SGD(weights, lr=-1)


def test_nothing_to_clip_and_nothing_to_step():
    weights = start()
    assert clip_grad_norm_(weights, 1.0) == 0
    SGD(weights).step()
    Adam(weights).zero_grad()
    assert all(weight.grad is None and weight.version == 0 for weight in weights)


def test_weights_in_device_memory():
    results = []
    for there in (np.copy, cuda.to_device):
        weights = [Parameter(there(weight.data.astype(np.float32))) for weight in start()]
        optimizer = Adam(weights, lr=0.1)
        for step in range(3):
            for weight in weights:
                weight.grad = there(np.full(weight.shape, step + 1.0, np.float32))
            clip_grad_norm_(weights, 1.0)
            optimizer.step()
        state = optimizer.state_dict()
        fresh = Adam(weights)
        fresh.load_state_dict(state)
        assert (fresh.state_dict()["state"]["0"]["exp_avg"] == state["state"]["0"]["exp_avg"]).all()
        results.append([weight.numpy() for weight in weights])
    for one, other in zip(*results, strict=True):
        np.testing.assert_allclose(one, other, rtol=1e-5)


def rates(schedule, steps):
    found = [schedule.optimizer.lr]
    for _ in range(steps):
        schedule.step()
        found.append(schedule.optimizer.lr)
    return found


def test_steps_of_a_rate():
    assert rates(StepLR(SGD(start(), lr=8.0), 2, gamma=0.5), 5) == [8, 8, 4, 4, 2, 2]


def test_a_cosine_with_warm_up():
    found = rates(CosineAnnealing(SGD(start(), lr=2.0), total=10, warmup=3, lowest=0.1), 12)
    assert found[:4] == [0.5, 1.0, 1.5, 2.0]
    assert found[10:] == pytest.approx([0.2] * 3)
    assert all(a > b for a, b in itertools.pairwise(found[3:11]))
    assert found[6] + found[7] == pytest.approx(2.2)  # beside the middle, 6.5


def test_a_schedule_goes_on_where_it_stood():
    one = CosineAnnealing(SGD(start(), lr=2.0), total=10, warmup=3)
    expected = rates(one, 9)
    half = CosineAnnealing(SGD(start(), lr=2.0), total=10, warmup=3)
    rates(half, 4)
    other = CosineAnnealing(SGD(start(), lr=7.0), total=10, warmup=3)
    other.load_state_dict(half.state_dict())
    assert rates(other, 5) == expected[4:]
    with pytest.raises(ValueError, match="warmup is 5 and total is 5"):
        CosineAnnealing(SGD(start()), total=5, warmup=5)
    with pytest.raises(ValueError, match="step_size is 0"):
        StepLR(SGD(start()), 0)
