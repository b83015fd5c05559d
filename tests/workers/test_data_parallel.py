"""Data parallel: the gradients of one worker, in which bits; what goes over the wires; batch norm, the exception."""

import numpy as np
import pytest
from nets import accumulated, batches, close, gradients, joined, loss_of, mlp, same_bits

from training import SGD, Tensor, modules
from training import functional as F
from workers import threads
from workers.data import DataParallel, SyncBatchNorm2d, buckets, synchronized

SIZES = (1, 2, 3, 4)


def step(group, parts, **options):
    model = DataParallel(mlp(seed=group.rank), group, **options)  # another start on each: worker 0's counts
    loss_of(model, parts[group.rank]).backward()
    model.synchronize()
    return gradients(model.module)


@pytest.mark.parametrize("n", SIZES)
@pytest.mark.parametrize("overlap", [True, False])
@pytest.mark.parametrize("bucket", [0, 300, 1 << 20])
def test_the_bits_of_one_worker_who_takes_the_parts_in_turns(n, overlap, bucket):
    parts = batches(n)
    expected = accumulated(mlp(), parts)
    for found in threads.run(lambda group: step(group, parts, overlap=overlap, bucket=bucket), n):
        same_bits(found, expected)


@pytest.mark.parametrize("algorithm", ["naive", "direct", "ring", "tree", "halving"])
@pytest.mark.parametrize("n", SIZES)
def test_orders_of_sums(n, algorithm):
    """The same bits on all workers always; of one worker's accumulation in order, or with two workers."""
    parts = batches(n, seed=3)
    each = threads.run(lambda group: step(group, parts, algorithm=algorithm), n)
    for found in each[1:]:
        same_bits(found, each[0])
    compare = same_bits if n <= 2 or algorithm in ("naive", "direct") else close
    compare(each[0], accumulated(mlp(), parts))


@pytest.mark.parametrize("n", SIZES)
def test_the_gradients_of_the_whole_batch(n):
    parts, model = batches(n), mlp()
    loss_of(model, joined(parts)).backward()
    close(threads.run(lambda group: step(group, parts), n)[0], gradients(model))


@pytest.mark.parametrize("n", [2, 3])
def test_training_with_accumulation(n):
    """Three steps of two batches each: weights stay those of one worker."""
    steps = [[batches(n, seed=10 * k + half) for half in range(2)] for k in range(3)]

    def many(group):
        model = DataParallel(mlp(seed=group.rank), group, bucket=400)
        optimizer = SGD(model.parameters(), lr=0.1, momentum=0.9)
        for first, second in steps:
            optimizer.zero_grad()
            with model.no_sync():
                loss_of(model, first[group.rank]).backward()
            loss_of(model, second[group.rank]).backward()
            model.synchronize()
            optimizer.step()
        return model.module.state_dict()

    model = mlp()
    optimizer = SGD(model.parameters(), lr=0.1, momentum=0.9)
    for first, second in steps:
        optimizer.zero_grad()
        for part in first + second:
            loss_of(model, part).backward()
        for p in model.parameters():
            p.grad /= np.float32(n)
        optimizer.step()
    found = threads.run(many, n)
    for other in found[1:]:
        same_bits(other, found[0])
    close(found[0], model.state_dict())


def test_buckets_begin_with_the_last_layer_and_hold_one_dtype():
    model = mlp((4, 8, 8, 2), norm=False)
    made = buckets(model.parameters(), 4 * (8 * 8 + 8))
    assert [p for bucket in made for p in bucket] == model.parameters()[::-1]
    assert [sum(p.data.nbytes for p in bucket) for bucket in made] == [4 * 18 + 4 * 8, 4 * 64 + 4 * 8, 4 * 32]
    assert [len(bucket) for bucket in buckets(model.parameters(), 0)] == [1] * 6
    wide = modules.Linear(2, 2, generator=np.random.default_rng(0)).to("float64")
    assert len(buckets([*model.parameters(), *wide.parameters()], 1 << 20)) == 2


def test_a_bucket_is_on_its_way_before_backward_ends():
    """When the first layer's gradient is made, the buckets of those behind it were begun."""

    def work(group):
        model = DataParallel(mlp(norm=False), group, bucket=0)
        begun = []
        first = model.module.parameters()[0]
        first.when_ready = lambda p: (begun.append(len(model._running)), model._ready(p))
        loss_of(model, batches(2)[group.rank]).backward()
        model.synchronize()
        return begun

    assert all(begun[0] >= 4 for begun in threads.run(work, 2))


def test_bytes():
    """By the ring each worker sends 2 (n - 1) / n of the gradients' bytes."""

    def work(group):
        model = DataParallel(mlp((8, 16, 8), norm=False), group, algorithm="ring")
        before = group.bytes_sent
        loss_of(model, batches(4, width=8, classes=8)[group.rank]).backward()
        model.synchronize()
        return group.bytes_sent - before, sum(p.data.nbytes for p in model.parameters())

    for sent, size in threads.run(work, 4):
        assert sent == 2 * 3 * size // 4


def test_a_parameter_that_nobody_used_gets_zeros():
    class Half(modules.Module):
        def __init__(self):
            rng = np.random.default_rng(0)
            self.used, self.idle = modules.Linear(6, 5, generator=rng), modules.Linear(6, 5, generator=rng)

        def forward(self, x):
            return self.used(x)

    def work(group):
        model = DataParallel(Half(), group)
        loss_of(model, batches(2)[group.rank]).backward()
        model.synchronize()
        return gradients(model.module)

    for found in threads.run(work, 2):
        assert not found["idle.weight"].any()
        assert found["used.weight"].any()


def images(n, seed=0):
    rng = np.random.default_rng(seed)
    shift = np.arange(n, dtype=np.float32)  # what each worker sees differs
    return [rng.standard_normal((3, 4, 5, 5), np.float32) * (1 + shift[k]) + shift[k] for k in range(n)]


def convolution(group=None):
    rng = np.random.default_rng(0)
    model = modules.Sequential(
        modules.Conv2d(4, 6, 3, generator=rng),
        modules.BatchNorm2d(6),
        modules.ReLU(),
        modules.Flatten(),
        modules.Linear(54, 5, generator=rng),
    )
    return synchronized(model, group) if group else model


def image_step(model, x, labels):
    F.cross_entropy(model(Tensor(x)), labels).backward()


@pytest.mark.parametrize("n", SIZES)
def test_batch_norm_is_the_exception_unless_it_is_synchronized(n):
    parts, labels = images(n), np.random.default_rng(1).integers(5, size=(n, 3))
    one = convolution()
    image_step(one, np.concatenate(parts), labels.reshape(-1))

    def work(group, synchronize):
        model = DataParallel(convolution(group if synchronize else None), group)
        image_step(model, parts[group.rank], labels[group.rank])
        model.synchronize()
        state = model.module.state_dict()
        return gradients(model.module), {name: state[name] for name in ("1.running_mean", "1.running_var")}

    for found, running in threads.run(work, n, True):
        close(found, gradients(one), 3e-5)
        close(running, {name: one.state_dict()[name] for name in running})
    if n > 1:
        found, running = threads.run(work, n, False)[0]
        expected = gradients(one)["0.weight"]
        assert np.abs(found["0.weight"] - expected).max() > 0.05 * np.abs(expected).max()


def test_sync_batch_norm_of_one_worker_is_batch_norm():
    x = images(1)[0]

    def work(group):
        mine, usual = SyncBatchNorm2d(4, group), modules.BatchNorm2d(4)
        results = []
        for norm in (mine, usual):
            leaf = Tensor(x, requires_grad=True)
            y = norm(leaf)
            y.backward(np.cos(np.arange(x.size, dtype=np.float32)).reshape(x.shape))
            norm.eval()
            results.append({"y": y.data, "x": leaf.grad, "eval": norm(Tensor(x)).data, **gradients(norm)})
        close(*results)

    threads.run(work, 1)
