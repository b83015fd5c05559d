"""ZeRO 1 to 3: the weights of one worker's optimizer, and the paper's bytes, held and sent."""

import gc
import weakref

import numpy as np
import pytest
from nets import batches, close, loss_of, mlp, same_bits, sequence, transformer

from training import SGD, Adam, AdamW, Tensor, activation_bytes, modules
from training.memory import checkpoint
from workers import GroupError, threads
from workers.data import DataParallel
from workers.zero import FullySharded, ZeroOptimizer, clip_grad_norm_, fully_shard, held_bytes, state_bytes, whole_state

SIZES = (1, 2, 3, 4)
KINDS = [(SGD, {"lr": 0.1, "momentum": 0.9}), (Adam, {"lr": 0.01}), (AdamW, {"lr": 0.01})]


def one_worker(steps, kind, options, accumulate=1):
    """Weights after steps of the mean of all parts' gradients, in order."""
    model = mlp()
    optimizer = kind(model.parameters(), **options)
    for parts in steps:
        optimizer.zero_grad()
        for part in parts:
            loss_of(model, part).backward()
        for p in model.parameters():
            p.grad /= np.float32(len(parts) // accumulate)
        optimizer.step()
    return model.state_dict()


def sharded(group, steps, stage, kind, options, bucket):
    model = mlp(seed=group.rank)
    if stage == 3:
        model = fully_shard(model, group)
        optimizer = kind(model.parameters(), **options)
    else:
        optimizer = ZeroOptimizer(model.parameters(), kind, group, stage, bucket, **options)
    for parts in steps:
        optimizer.zero_grad()
        for part in parts[group.rank :: group.size]:
            loss_of(model, part).backward()
        optimizer.step()
    return whole_state(model)


@pytest.mark.parametrize(("kind", "options"), KINDS, ids=lambda x: getattr(x, "__name__", ""))
@pytest.mark.parametrize("stage", [1, 2, 3])
@pytest.mark.parametrize("n", SIZES)
def test_the_bits_of_one_optimizer(n, stage, kind, options):
    steps = [batches(n, seed=k) for k in range(3)]
    expected = one_worker(steps, kind, options)
    for bucket in (0, 1 << 20):
        for found in threads.run(sharded, n, steps, stage, kind, options, bucket):
            same_bits(found, expected)


@pytest.mark.parametrize("stage", [1, 2, 3])
def test_accumulation(stage):
    """Two backward passes for each step: a worker's sum first, then the workers'."""
    steps = [batches(4, seed=k) for k in range(2)]
    expected = one_worker(steps, Adam, {"lr": 0.01}, accumulate=2)
    for found in threads.run(sharded, 2, steps, stage, Adam, {"lr": 0.01}, 300):
        close(found, expected, 1e-4)


def after_a_step(group, stage):
    model, part = mlp((16, 32, 16), norm=False), batches(4, width=16, classes=16)[group.rank]
    if stage in (1, 2):
        optimizer = ZeroOptimizer(model.parameters(), Adam, group, stage, bucket=1024)
    else:
        model = fully_shard(model, group) if stage else DataParallel(model, group, algorithm="ring")
        optimizer = Adam(model.parameters())
    before = group.bytes_sent
    loss_of(model, part).backward()
    if stage == 0:
        model.synchronize()
    optimizer.step()
    parameters = model.module.parameters() if stage == 0 else model.parameters()
    return held_bytes(parameters, optimizer), group.bytes_sent - before


@pytest.mark.parametrize("stage", [0, 1, 2, 3])
def test_bytes_held_and_sent(stage):
    n, size = 4, sum(p.size for p in mlp((16, 32, 16), norm=False).parameters())
    found = threads.run(after_a_step, n, stage)
    held = [sum(parts) for parts, _ in found]
    share = [4 * size / (n if stage == 3 else 1), 4 * size / (n if stage >= 2 else 1), 8 * size / (n if stage else 1)]
    if stage == 1:
        share[1] += 4 * size / n  # the part of the sum, beside the worker's own gradients
    assert np.mean([parts for parts, _ in found], axis=0) == pytest.approx(share)
    assert max(held) - min(held) <= 16 * 8  # parts differ by one number of each bucket
    if stage != 1:
        assert np.mean(held) == pytest.approx(state_bytes(size, n, stage))
    sent = [count for _, count in found]
    assert np.mean(sent) == pytest.approx((3 if stage == 3 else 2) * (n - 1) / n * 4 * size)


def test_the_papers_table():
    """Rajbhandari and others 2020, figure 1: 7.5 billion parameters, 64 workers, mixed precision."""
    found = [state_bytes(7.5e9, 64, stage, 2, 2, 12) / 1e9 for stage in range(4)]
    assert found == pytest.approx([120, 31.4, 16.6, 1.9], abs=0.05)


def test_weights_are_whole_only_while_they_are_used():
    """Between forward and backward no array of a unit's weights is alive; with them the tape keeps no more."""

    def work(group):
        model = fully_shard(transformer(), group)
        alive = []
        units = [part for _, part in model.named_modules() if isinstance(part, FullySharded)]
        assert len(units) == 2
        assert len(model.parameters()) == 2
        for unit in units:
            views = unit._views
            unit._views = lambda flat, views=views: (alive.append(weakref.ref(flat)), views(flat))[1]
        y = model(Tensor(sequence(), requires_grad=True))
        gc.collect()
        between = [ref() is not None for ref in alive]
        kept = activation_bytes(y)
        y.backward(np.ones(y.shape, np.float32))
        assert all(p.grad is not None and p.grad.shape == p.shape for p in model.parameters())
        return between, kept

    plain = transformer()(Tensor(sequence(), requires_grad=True))
    for between, kept in threads.run(work, 2):
        assert between == [False, False]
        assert kept == activation_bytes(plain)


@pytest.mark.parametrize("n", [1, 3])
def test_units_around_units_a_checkpoint_and_shared_weights(n):
    """A Linear used twice, and blocks inside a unit that has weights beside them."""

    class Net(modules.Module):
        def __init__(self):
            rng = np.random.default_rng(0)
            self.block = modules.TransformerBlock(12, 4, 24, generator=rng)
            self.linear = modules.Linear(12, 12, generator=rng)
            self.norm = modules.LayerNorm(12)
            self.again = self.linear

        def forward(self, x):
            x = checkpoint(self.block, self.linear(x)) if self.checkpoints else self.block(self.linear(x))
            return self.norm(self.again(x))

    def gradients_of(model, net, checkpoints):
        net.checkpoints = checkpoints
        x = Tensor(sequence(), requires_grad=True)
        y = model(x)
        y.backward(np.cos(np.arange(y.size, dtype=np.float32)).reshape(y.shape))
        return {"y": y.data, "x": x.grad}

    def work(group, checkpoints):
        net = Net()
        model = fully_shard(net, group, [net.block])
        found = gradients_of(model, net, checkpoints)
        for _, part in model.named_modules():
            if isinstance(part, FullySharded):
                part.shard.data[...] = part.shard.grad
        return found | whole_state(model)

    net = Net()
    expected = gradients_of(net, net, False)
    expected |= {name: x.grad for name, x in net.named_tensors()}
    for checkpoints in (False, True):
        for found in threads.run(work, n, checkpoints):
            close(found, expected)


@pytest.mark.parametrize("n", [1, 3])
def test_clipping(n):
    grads = [np.arange(7, dtype=np.float32), np.full(4, -3, np.float32)]
    whole = float(np.sqrt(sum(np.square(g, dtype=np.float64).sum() for g in grads)))

    def work(group):
        mine = []
        for grad in grads:
            p = modules.Parameter(grad[group.part(len(grad))].copy())
            p.grad = p.data.copy()
            mine.append(p)
        norm = clip_grad_norm_(mine, 2.0, group)
        return norm, [group.all_gather(p.grad) for p in mine]

    for norm, found in threads.run(work, n):
        assert norm == pytest.approx(whole)
        for a, b in zip(found, grads, strict=True):
            np.testing.assert_allclose(a, b * 2 / whole, rtol=1e-6)


def test_errors():
    with pytest.raises(GroupError, match="stage is 3; expected 1 or 2"):
        threads.run(lambda group: ZeroOptimizer(mlp().parameters(), Adam, group, stage=3), 1)
    with pytest.raises(GroupError, match="no weights"):
        threads.run(lambda group: FullySharded(modules.ReLU(), group), 1)
