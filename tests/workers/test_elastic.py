"""A training that is killed goes on from its last checkpoint: to the bit, on any number of workers; nothing is left."""

import random
import sys

import functions
import numpy as np
import pytest
from functions import learns
from leftovers import nothing_left
from nets import batches, loss_of, same_bits

from training import modules
from workers import GroupError, elastic, examples, processes, threads
from workers.checkpoints import INDEX

STEPS, EVERY = 96, 6


@pytest.fixture(scope="module")
def never_stopped(tmp_path_factory):
    return processes.run(learns, 1, str(tmp_path_factory.mktemp("whole")), STEPS, EVERY, threads=1)[0]


@pytest.mark.skipif(sys.platform != "linux", reason="/dev/shm is looked at")
@pytest.mark.parametrize("kills", [3, *(pytest.param(25, id=f"part {k}", marks=pytest.mark.slow) for k in range(8))])
def test_killed_at_random_moments(kills, never_stopped, tmp_path):
    """SIGKILL while they compute, send, write and read; then another number of workers goes on. 200 kills at night."""
    seed = random.SystemRandom().randrange(1_000_000) if kills > 3 else 46
    chance, killed, began, number = random.Random(seed), 0, [], 0
    while killed < kills:
        folder, number = tmp_path / str(number), number + 1
        sizes = [chance.choice((1, 2, 4)) for _ in range(8)]
        moments = [(chance.randrange(size), chance.uniform(0, 0.3)) for size in sizes[: min(5, kills - killed)]]
        with nothing_left():
            found, ended = elastic.keep_running(learns, sizes, str(folder), STEPS, EVERY, timeout=120, kills=moments)
        for error, size, (rank, _) in zip(ended, sizes, moments, strict=False):
            assert str(error) == f"worker {rank} of {size} was killed by SIGKILL before it returned", f"seed {seed}"
        for _, *arrays in found:
            for array, expected in zip(arrays, never_stopped[1:], strict=True):
                assert array.tobytes() == expected.tobytes(), f"seed {seed}, training {number}"
        files = {file.name for file in folder.iterdir()}
        if found[0][0] < STEPS:  # it saved at its end: what those that were killed left is gone
            assert files == {INDEX} | {name for name in files if name.endswith(f"of-{len(found)}.safetensors")}
            assert len(files) == len(found) + 1
        killed, began = killed + len(ended), [*began, found[0][0]]
    print(f"{killed} kills in {number} trainings; the last groups began at {began} of {STEPS} steps")
    assert killed >= kills


def test_the_network_of_the_page(tmp_path):
    """By threads: 1, 2 and 4 workers have the same bits, and so has one who loads what three fourths of them wrote."""
    found = [threads.run(examples.resumable, n, tmp_path / str(n), 8, 4) for n in (1, 2, 4)]
    for other in found[1:]:
        for one in other:
            same_bits(one["weights"], found[0][0]["weights"])
    losses = {**found[0][0]["losses"]}
    threads.run(examples.resumable, 4, tmp_path / "cut", 5, 4)
    (again,) = threads.run(examples.resumable, 1, tmp_path / "cut", 8, 4)
    assert again["began"] == 4
    assert again["losses"] == {step: losses[step] for step in range(4, 8)}
    same_bits(again["weights"], found[0][0]["weights"])


@pytest.mark.slow
def test_the_network_of_the_page_by_processes(tmp_path):
    expected = threads.run(examples.resumable, 1, tmp_path / "whole", 12, 3)[0]
    with nothing_left():
        found, ended = elastic.keep_running(
            examples.resumable, (4, 2, 1, 2), tmp_path / "cut", 12, 3, die=[(3, 5), (0, 7), (0, 0.01)]
        )
    assert len(ended) == 3
    for one in found:
        same_bits(one["weights"], expected["weights"])


@pytest.mark.parametrize("size", [1, 2, 4, 8])
def test_a_mean_in_the_order_of_a_tree(size):
    """The bits of pairs, then pairs of pairs; not those of one after the other."""
    arrays = [functions.given(k, (99,), fractions=True) for k in range(8)]
    tree, row = arrays, sum(arrays[1:], arrays[0])
    while len(tree) > 1:
        tree = [a + b for a, b in zip(tree[::2], tree[1::2], strict=True)]
    for found in threads.run(lambda group: elastic.tree_mean(group, arrays.__getitem__, 8), size):
        assert found.tobytes() == (tree[0] / 8).tobytes()
        assert (found != row / 8).any()
        np.testing.assert_allclose(found, np.mean(arrays, 0), rtol=1e-4, atol=1e-4)


def test_gradients_in_the_order_of_a_tree():
    parts, linear = batches(4), lambda: modules.Linear(6, 5, generator=np.random.default_rng(3))

    def work(group):
        model = linear()
        loss = elastic.tree_gradients(group, model.parameters(), lambda k: loss_of(model, parts[k]), 4)
        return loss, {name: p.grad for name, p in model.named_parameters()}

    (loss, alone), *_ = threads.run(work, 1)
    model = linear()
    assert loss == pytest.approx(np.mean([loss_of(model, part).item() for part in parts]), rel=1e-6)
    for n in (2, 4):
        for other, grads in threads.run(work, n):
            assert other == loss
            same_bits(grads, alone)


@pytest.mark.parametrize(
    ("size", "parts", "words"), [(3, 4, "3 workers;"), (2, 3, "3 parts;"), (4, 2, "no more workers")]
)
def test_no_whole_subtrees(size, parts, words):
    with pytest.raises(GroupError, match=words):
        threads.run(lambda group: elastic.tree_mean(group, lambda k: np.zeros(1), parts), size)


def test_the_last_failure_is_told():
    started = []
    with pytest.raises(GroupError, match=r"worker \d of 2 raised TypeError"):  # it takes no attempt
        elastic.keep_running(functions.raises, (3, 2), restarts=1, started=lambda workers: started.append(workers.size))
    assert started == [3, 2]
