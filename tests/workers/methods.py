"""One step of each method, as processes run it: functions that a new process can import."""

import numpy as np
from nets import batches, gradients, loss_of, mlp, sequence, transformer

from training import Adam, Tensor, modules
from training import functional as F
from workers import schedules
from workers.context import context_parallel, cut_sequence
from workers.data import DataParallel
from workers.experts import MixtureOfExperts, feed_forward
from workers.pipeline import Pipeline
from workers.staleness import Client, ParameterServer, serve, work
from workers.tensor import tensor_parallel
from workers.zero import fully_shard, whole_state


def all_of_them(group):
    """{method: arrays} of this worker: the same bits over threads and over processes."""
    found, part = {}, batches(group.size)[group.rank]
    model = DataParallel(mlp(seed=group.rank), group, bucket=300)
    loss_of(model, part).backward()
    model.synchronize()
    found["data"] = gradients(model.module)

    model = fully_shard(mlp(seed=group.rank), group)
    optimizer = Adam(model.parameters())
    loss_of(model, part).backward()
    optimizer.step()
    found["zero"] = whole_state(model)

    x = sequence(2, 2 * group.size + 1)
    for name, y in (
        ("tensor", tensor_parallel(transformer(layers=1), group)(Tensor(x, requires_grad=True))),
        ("context", context_parallel(transformer(layers=1), group, x.shape[1])(
            Tensor(cut_sequence(x, group), requires_grad=True))),
    ):  # fmt: skip
        y.backward(np.ones(y.shape, np.float32))
        found[name] = {"y": y.data}

    rng = np.random.default_rng(0)
    router = modules.Linear(6, 4, generator=rng)
    layer = MixtureOfExperts(router, [feed_forward(6, 8, rng) for _ in range(4)], 2, 0.9, group)
    y = layer(Tensor(part[0]))
    y.backward(np.ones(y.shape, np.float32))
    found["experts"] = {"y": y.data, "router": router.weight.grad}

    stage = mlp((6, 6), seed=group.rank) if group.rank < group.size - 1 else mlp((6, 5))
    micro = batches(4)
    pipeline = Pipeline({group.rank: stage}, schedules.zero_bubble(group.size, 4), group, F.cross_entropy)
    pipeline.step([x for x, _ in micro], [labels for _, labels in micro])
    found["pipeline"] = gradients(stage)
    return found


def asynchronous(group, updates=30):
    """The steps that each worker made; on worker 0 the loss before and after."""
    from training import SGD

    model, part = mlp(), batches(1)[0]

    def gradient(weights, worker, k):
        mine = mlp()
        for p, w in zip(mine.parameters(), weights, strict=True):
            p.data[...] = w
        loss = loss_of(mine, part)
        loss.backward()
        return loss.item(), [p.grad for p in mine.parameters()]

    if group.rank:
        return len(work(Client(group, model.parameters()), group.rank - 1, gradient))
    before = loss_of(model, part).item()
    serve(ParameterServer(model.parameters(), SGD(model.parameters(), lr=0.1), group.size - 1, 1, updates), group)
    return before, loss_of(model, part).item()
