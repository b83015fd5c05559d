"""Pipelines with real stages: gradients of one worker that accumulates, under each schedule, and who waits for ever."""

import numpy as np
import pytest
from nets import batches, close, gradients, mlp, same_bits

from training import Tensor, modules
from training import functional as F
from workers import GroupError, schedules, threads
from workers.pipeline import DeferredWeights, Pipeline

WIDTHS = (6, 9, 8, 7, 10, 9, 8, 7, 5)  # 8 linear layers


def stages(number):
    """A network of 8 layers, cut."""
    parts = list(mlp(WIDTHS))
    return [modules.Sequential(*piece) for piece in np.array_split(np.array(parts, dtype=object), number)]


def expected(cut, micro):
    losses = []
    model = modules.Sequential(*cut)
    for x, labels in micro:
        loss = F.cross_entropy(model(Tensor(x)), labels)
        losses.append(loss.item())
        (loss / len(micro)).backward()
    return losses, [gradients(stage) for stage in cut]


def run_pipeline(orders, number, micro, steps=1, capacity=None):
    def work(group):
        mine = {one.stage for one in orders[group.rank]}
        cut = {s: stage for s, stage in enumerate(stages(number)) if s in mine}
        pipeline = Pipeline(cut, orders, group, F.cross_entropy)
        for _ in range(steps):
            for stage in cut.values():
                stage.zero_grad()
            losses = pipeline.step(
                [x for x, _ in micro] if 0 in cut else None,
                [labels for _, labels in micro] if number - 1 in cut else None,
            )
        return losses, {s: gradients(stage) for s, stage in cut.items()}

    return threads.run(work, len(orders), capacity=capacity)


SCHEDULES = {
    "gpipe": (lambda p, m: schedules.gpipe(p, m), 1),
    "1f1b": (lambda p, m: schedules.one_f_one_b(p, m), 1),
    "interleaved": (lambda p, m: schedules.interleaved(p, m, 2), 2),
    "zb-h1": (lambda p, m: schedules.zero_bubble(p, m), 1),
    "zb-h2": (lambda p, m: schedules.zero_bubble(p, m, ahead=2), 1),
}


@pytest.mark.parametrize("name", SCHEDULES)
@pytest.mark.parametrize("p", [1, 2, 3, 4])
@pytest.mark.parametrize("capacity", [None, 0])
def test_the_bits_of_accumulation(name, p, capacity):
    make, chunks = SCHEDULES[name]
    for m in (p, 2 * p):
        micro = batches(m, examples=3)
        losses, grads = expected(stages(p * chunks), micro)
        found = run_pipeline(make(p, m), p * chunks, micro, steps=2, capacity=capacity)
        assert [part for part, _ in found if part] == [losses]
        for _, own in found:
            for s, each in own.items():
                same_bits(each, grads[s])


def test_activations_are_let_go():
    """Of 1F1B, stage 0 of 3 holds at most 3 microbatches of 6."""

    def work(group):
        cut = stages(3)[group.rank]
        pipeline = Pipeline({group.rank: cut}, schedules.one_f_one_b(3, 6), group, F.cross_entropy)
        held, backward = [], pipeline._backward
        pipeline._backward = lambda *arguments: (held.append(len(pipeline.live)), backward(*arguments))
        micro = batches(6)
        pipeline.step([x for x, _ in micro], [labels for _, labels in micro])
        return max(held)

    assert threads.run(work, 3) == [3, 2, 1]


def test_deferred_weights_are_the_same_bits():
    x, model, other = batches(1)[0][0], mlp(), mlp()
    deferred = DeferredWeights(other)
    for one in (model, other):
        for k in range(2):
            if one is other:
                deferred.begin()
            y = one(Tensor(x + k))
            y.backward(np.cos(np.arange(y.size, dtype=np.float32)).reshape(y.shape))
    assert other.parameters()[0].grad is None  # of a linear layer: not yet
    for _ in range(2):
        deferred.run()
    same_bits(gradients(other), gradients(model))


def test_one_stage_of_whole_numbers():
    """The first stage may be an embedding, whose input has no gradient."""
    words = [np.array([1, 4, 2]), np.array([0, 0, 3])]
    labels = [np.array([0, 1, 2]), np.array([2, 1, 0])]

    def parts():
        rng = np.random.default_rng(0)
        return [modules.Embedding(5, 4, generator=rng), modules.Linear(4, 3, generator=rng)]

    def work(group):
        part = parts()[group.rank]
        Pipeline({group.rank: part}, schedules.gpipe(2, 2), group, F.cross_entropy).step(words, labels)
        return gradients(part)

    one = modules.Sequential(*parts())
    for x, y in zip(words, labels, strict=True):
        (F.cross_entropy(one(x), y) / 2).backward()
    first, second = threads.run(work, 2)
    close({"0.weight": first["weight"], "1.weight": second["weight"], "1.bias": second["bias"]}, gradients(one), 1e-6)


def test_errors():
    orders = schedules.gpipe(2, 3)

    def inputs_missing(group):
        Pipeline({group.rank: stages(2)[group.rank]}, orders, group, F.cross_entropy).step(None, [1, 2, 3])

    def wrong_stage(group):
        Pipeline({1 - group.rank: modules.ReLU()}, orders, group, F.cross_entropy)

    for work, size, words in (
        (inputs_missing, 2, "inputs has None microbatches; the schedule has 3"),
        (wrong_stage, 2, r"has the stages \[.\]; the schedule gives it \[.\]"),
        (lambda group: Pipeline({}, orders, group, None), 3, "for 2 workers; expected 3"),
    ):
        with pytest.raises(GroupError, match=words):
            threads.run(work, size)
