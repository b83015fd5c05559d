"""Half precision: what is rounded and what is not, overflow, the scale, and whether it learns the same."""

import numpy as np
import pytest
from trained import Training, same

from training import GradScaler, Tensor, activation_bytes, autocast, checkpoint, data, modules
from training import functional as F


def is_half(x):
    return np.array_equal(x, x.astype(np.float16).astype(np.float32), equal_nan=True)


def layers(scale=1.0):
    generator = np.random.default_rng(3)
    model = modules.Sequential(
        modules.Linear(32, 64, generator=generator), modules.ReLU(), modules.Linear(64, 8, generator=generator)
    )
    vars(model)["2"].weight.data *= np.float32(scale)
    return model, generator.standard_normal((16, 32)).astype(np.float32)


def test_results_and_weights_are_half_and_master_weights_are_not():
    model, x = layers()
    masters, seen = {name: weights.data for name, weights in model.named_parameters()}, []
    forward = type(vars(model)["0"]).forward

    class Looked(modules.Linear):
        def forward(self, x):
            result = forward(self, x)
            seen.extend([self.weight.data, result.data])
            return result

    vars(model)["0"].__class__ = vars(model)["2"].__class__ = Looked
    with autocast(model):
        output = model(Tensor(x))
    assert len(seen) == 4
    assert all(map(is_half, seen))
    assert all(
        weights.data is masters[name] and not is_half(weights.data) for name, weights in model.named_parameters()
    )
    output.backward(np.ones_like(output.data))
    assert all(is_half(weights.grad) and weights.grad.any() for weights in model.parameters())
    with autocast(model), pytest.raises(ZeroDivisionError):
        raise ZeroDivisionError
    assert all(weights.data is masters[name] for name, weights in model.named_parameters())
    assert not is_half(model(Tensor(x)).data)


def test_the_gradients_are_close_to_those_of_float32():
    model, x = layers()
    grad = np.random.default_rng(1).standard_normal((16, 8)).astype(np.float32)
    model(Tensor(x)).backward(grad)
    expected = [weights.grad for weights in model.parameters()]
    model.zero_grad()
    with autocast(model):
        output = model(Tensor(x))
    output.backward(grad)
    for weights, full in zip(model.parameters(), expected, strict=True):
        error = abs(weights.grad - full).max() / abs(full).max()
        assert 0 < error < 0.01


def test_the_tape_keeps_half_the_bytes():
    generator = np.random.default_rng(0)
    model = modules.Sequential(
        modules.Conv2d(1, 8, 3, padding=1, generator=generator), modules.ReLU(), modules.Conv2d(8, 8, 3, generator=generator),
        modules.ReLU(), modules.Flatten(), modules.Linear(288, 10, generator=generator), modules.Sigmoid(),
    )  # fmt: skip
    x = np.ones((32, 1, 8, 8), np.float32)
    full = activation_bytes(model(Tensor(x))) - x.nbytes
    with autocast(model):
        output = model(Tensor(x))
    copies = sum(weights.data.nbytes for weights in model.parameters()) / 2  # of the weights
    assert full / 2 <= activation_bytes(output) - x.nbytes <= full / 2 + copies


def test_an_overflow_skips_the_step_and_halves_the_scale():
    training, found = Training(dropout=False), []
    scaler, weights = GradScaler(init_scale=2.0**30, growth_interval=3), [training.weights]

    def watch(history):
        weights.append(training.weights)
        found.append((scaler.factor, not same(weights[-1], weights[-2])))
        assert all(np.isfinite(x).all() for x in weights[-1].values())

    training.fit(epochs=6, scaler=scaler, hooks=[watch], schedule=None)
    factors = [2.0**30, *(factor for factor, _ in found)]
    assert found[0] == (2.0**29, False)
    for before, (factor, changed) in zip(factors, found, strict=False):
        assert factor in ((before, 2 * before) if changed else (before / 2,))
    assert sum(changed for _, changed in found) > 10


def test_the_scale_grows_after_good_steps_and_starts_to_count_again_after_an_overflow():
    x = Tensor(np.ones(2, np.float32), requires_grad=True)

    class Optimizer:
        parameters, steps = (x,), 0

        def step(self):
            self.steps += 1

    optimizer, scaler, found = Optimizer(), GradScaler(init_scale=8.0, growth_interval=3), []
    for good in (1, 1, 0, 1, 1, 1, 1, 1, 1, 0, 0):
        x.grad = np.array([16, 8 if good else np.inf], np.float32)
        if len(found) % 2:
            scaler.unscale_(optimizer)
            assert x.grad[0] == 16 / scaler.factor
        scaler.step(optimizer)
        assert x.grad[0] == 16 / scaler.factor, "divided once"
        scaler.update()
        found.append((scaler.factor, optimizer.steps))
    factors, steps = zip(*found, strict=True)
    assert factors == (8, 8, 4, 4, 4, 8, 8, 8, 16, 8, 4)
    assert steps == (1, 2, 2, 3, 4, 5, 6, 7, 8, 8, 8)
    other = GradScaler(growth_interval=3)
    other.load_state_dict(scaler.state_dict())
    assert other.state_dict() == scaler.state_dict() == {"factor": 4.0, "good": 0}


def test_small_gradients_are_lost_without_the_scale_and_kept_with_it():
    model, x = layers()
    grads = {}
    for factor in (1.0, 2.0**16):
        scaler = GradScaler(init_scale=factor)
        model.zero_grad()
        with autocast(model):
            output = model(Tensor(x))
        scaler.scale(output.mean() * 1e-7).backward()
        scaler.unscale_(type("Optimizer", (), {"parameters": model.parameters()}))
        grads[factor] = vars(model)["0"].weight.grad
    model.zero_grad()
    (model(Tensor(x)).mean() * 1e-7).backward()
    full = vars(model)["0"].weight.grad
    assert np.any(full != 0)
    assert not grads[1.0].any()
    np.testing.assert_allclose(grads[2.0**16], full, atol=0.02 * abs(full).max())


def test_device_arrays_are_refused_and_the_model_is_as_before():
    from dlkernels import cuda

    model, _ = layers()
    vars(model)["2"].weight.data = there = cuda.to_device(vars(model)["2"].weight.data)
    first = vars(model)["0"].weight.data
    with pytest.raises(TypeError, match=r"model\.to\('cpu'\)"), autocast(model):
        pass
    assert vars(model)["0"].weight.data is first
    assert vars(model)["2"].weight.data is there


def test_digits_are_learned_as_well_as_in_float32():
    train, test = data.digits()
    accuracies, losses = [], []
    for scaler in (None, GradScaler()):
        training = Training(dropout=False)
        training.loader, training.optimizer.lr = data.Loader(train, 32, seed=1), 0.05
        history = training.fit(epochs=8, evaluate=test, schedule=None, scaler=scaler)
        accuracies.append(history.accuracies[-1][1])
        losses.append(np.mean(history.losses[-45:]))
    assert accuracies[0] > 0.93
    assert abs(accuracies[1] - accuracies[0]) <= 0.01
    assert losses[1] == pytest.approx(losses[0], rel=0.02)
    assert losses[1] != losses[0]


def test_a_checkpoint_is_refused_inside():
    """Its second run comes when the weights are float32 again."""
    model, x = layers()
    with autocast(model), pytest.raises(RuntimeError, match="outside of autocast"):
        checkpoint(model, Tensor(x))


def test_cross_entropy_is_computed_outside_in_float32():
    model, x = layers()
    with autocast(model):
        output = model(Tensor(x))
    loss = F.cross_entropy(output, np.arange(16) % 8)
    assert loss.dtype == np.float32
    assert not is_half(loss.data)
