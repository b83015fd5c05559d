"""Grids of workers, and random networks on random grids: the gradients of one worker."""

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from nets import close, sequence, transformer

from training import Tensor, modules
from training import functional as F
from workers import GroupError, autograd, schedules, threads
from workers.data import DataParallel
from workers.grid import Grid
from workers.pipeline import Pipeline
from workers.tensor import tensor_parallel
from workers.zero import fully_shard, whole_state

WIDTH = 12


def test_groups_of_a_grid():
    def work(group):
        grid = Grid(group, pipeline=2, data=3, tensor=2)
        members = [g.all_gather(np.array([group.rank])).tolist() for g in (grid.pipeline, grid.data, grid.tensor)]
        return grid.place, members

    for rank, (place, members) in enumerate(threads.run(work, 12)):
        p, d, t = place
        assert rank == (p * 3 + d) * 2 + t
        assert members == [
            [(k * 3 + d) * 2 + t for k in range(2)],
            [(p * 3 + k) * 2 + t for k in range(3)],
            [(p * 3 + d) * 2 + k for k in range(2)],
        ]


def test_a_grid_has_to_fit():
    with pytest.raises(GroupError, match="a grid of 2 x 1 x 2 has 4 workers; expected 3"):
        threads.run(lambda group: Grid(group, 2, 1, 2), 3)


def head(rng):
    return modules.Sequential(modules.Linear(WIDTH, 5, generator=rng))


def loss(logits, labels):
    return F.cross_entropy(F.reshape(logits, (-1, 5)), labels.reshape(-1))


def stages(layers, pieces, seed):
    """Transformer blocks and a head, as stages."""
    parts = [*transformer(WIDTH, 4, layers, seed), head(np.random.default_rng(seed + 1))]
    return [modules.Sequential(*piece) for piece in np.array_split(np.array(parts, dtype=object), pieces)]


def one_worker(layers, pieces, seed, batches):
    cut = stages(layers, pieces, seed)
    model = modules.Sequential(*cut)
    for x, labels in batches:
        (loss(model(Tensor(x)), labels) / len(batches)).backward()
    return [{name: p.grad for name, p in stage.named_parameters() if "norm" in name} for stage in cut], cut


def check(pipeline, data, tensor, layers, micro, schedule, cut, seed):
    """The norms' gradients, which depend on all else, and those of the head, on each worker of a grid."""
    rng = np.random.default_rng(seed)
    batches = [(sequence(2, 6, WIDTH, seed=seed + k), rng.integers(5, size=(2, 6))) for k in range(micro * data)]
    expected, _whole = one_worker(layers, pipeline, seed, batches)
    make = {"gpipe": schedules.gpipe, "1f1b": schedules.one_f_one_b, "zb": schedules.zero_bubble}[schedule]

    def work(group):
        grid = Grid(group, pipeline, data, tensor)
        p, d, _ = grid.place
        stage = stages(layers, pipeline, seed)[p]
        tensor_parallel(stage, grid.tensor, sequence=cut)
        stage = Cut(stage, grid.tensor, p == 0, p == pipeline - 1) if cut else stage
        model = DataParallel(stage, grid.data, bucket=500, algorithm="naive")
        run = Pipeline({p: model}, make(pipeline, micro), grid.pipeline, loss)
        mine = batches[d * micro : (d + 1) * micro]
        with model.no_sync():
            losses = run.step([x for x, _ in mine], [labels for _, labels in mine])
        model.synchronize()
        return (
            p,
            losses,
            {name.removeprefix("stage."): q.grad for name, q in stage.named_parameters() if "norm" in name},
        )

    for p, losses, grads in threads.run(work, pipeline * data * tensor):
        close(grads, expected[p], 1e-4)
        assert len(losses) == (micro if p == pipeline - 1 else 0)


class Cut(modules.Module):
    """A stage whose blocks have cut steps: cut where the network begins, joined where its head is."""

    def __init__(self, stage, group, first, last):
        self.stage, self.group, self.first, self.last = stage, group, first, last

    def forward(self, x):
        x = autograd.cut(x if isinstance(x, Tensor) else Tensor(x), self.group, 1) if self.first else x
        for part in self.stage:
            if isinstance(part, modules.Sequential):  # the head
                x = autograd.join(x, self.group, 1)
            x = part(x)
        return x


GRIDS = [(p, d, t) for p in range(1, 5) for d in range(1, 5) for t in range(1, 5) if p * d * t <= 8]
CASES = {
    "grid": st.sampled_from(GRIDS), "layers": st.integers(3, 4), "micro": st.integers(1, 4),
    "schedule": st.sampled_from(["gpipe", "1f1b", "zb"]), "cut": st.booleans(), "seed": st.integers(0, 1000),
}  # fmt: skip


@settings(max_examples=5, suppress_health_check=list(HealthCheck))
@given(**CASES)
def test_random_networks_on_random_grids(grid, layers, micro, schedule, cut, seed):
    check(*grid, layers, micro, schedule, cut, seed)


@pytest.mark.slow
@settings(max_examples=100, suppress_health_check=list(HealthCheck))
@given(**CASES)
def test_a_hundred_random_networks_on_random_grids(grid, layers, micro, schedule, cut, seed):
    check(*grid, layers, micro, schedule, cut, seed)


@pytest.mark.parametrize("sizes", [(1, 2, 2), (1, 3, 1)])
def test_zero_3_in_one_direction_and_tensor_parallel_in_the_other(sizes):
    """The parts of each worker are those of its tensor group, cut among its data group."""
    x = [sequence(2, 6, WIDTH, seed=k) for k in range(sizes[1])]

    def work(group, shard):
        grid = Grid(group, *sizes)
        model = tensor_parallel(transformer(WIDTH, 4, 1), grid.tensor)
        model = fully_shard(model, grid.data) if shard else DataParallel(model, grid.data)
        y = model(Tensor(x[grid.place[1]]))
        y.backward(np.cos(np.arange(y.size, dtype=np.float32)).reshape(y.shape))
        if not shard:
            model.synchronize()
            return {name: p.grad for name, p in model.module.named_parameters()}
        for p in model.parameters():
            p.data[...] = p.grad
        return whole_state(model)

    n = sizes[1] * sizes[2]
    for found, expected in zip(threads.run(work, n, True), threads.run(work, n, False), strict=True):
        close(found, expected)
