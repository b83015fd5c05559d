"""Training that goes on after workers have died: checkpoints now and then, and a new group that begins at the last one.

    results, ended = keep_running(train, (4, 2), folder, steps=1000, every=50)

`train(group, folder, ..., attempt=k)` loads the last checkpoint of its folder, if there is one, and goes on from there
(`checkpoints`). When a worker dies, its group ends; the next group may have another number of workers, those that are
left. PyTorch's torchrun works so ("Torch Distributed Elastic"): after a failure all workers begin again.

**Which bits.** A run that was interrupted gives the bits of one that was not, if three things hold: the batch follows
from the number of the step, all state is in the checkpoint, and sums are in one order. On the same number of workers
each algorithm has one order. `tree_mean` has one for 1, 2, 4, ... workers.
"""

import numpy as np

from . import processes
from .data import _flat, _spread
from .group import GroupError


def keep_running(function, sizes, *args, restarts=100, threads=1, timeout=None, started=None, **named):
    """Calls `function(group, *args, attempt=k, **named)` in groups of processes until one has come to its end.

    sizes: the numbers of workers of the first, second, ... group; the last one also of all that follow. restarts: how
    many groups more there may be. threads, timeout: of `processes.Workers`. started: called with each group's Workers.
    Returns (the results in the order of ranks, the GroupErrors of the groups that ended before). Raises the GroupError
    of the last group, where that ended, too; any other error at once.
    """
    ended = []
    while True:
        size = sizes[min(len(ended), len(sizes) - 1)]
        try:
            with processes.Workers(size, threads) as workers:
                if started:
                    started(workers)
                return workers.run(function, *args, attempt=len(ended), timeout=timeout, **named), ended
        except GroupError as error:
            if len(ended) == restarts:
                raise
            ended.append(error)


def tree_mean(group, part_of, parts):
    """The mean of `parts` arrays of one shape, on all workers. `part_of(k)` is
    asked once for each k = 0, 1, ..., of the worker that has this part.

    They are added as the leaves of one binary tree: 2k and 2k + 1, then these
    sums by pairs, and so on. A worker has whole subtrees, and the tree
    all-reduce adds the rest: the bits do not depend on the number of workers.
    ValueError where workers or parts are no power of two, or workers are more.
    """
    _has_whole_subtrees(group.size, parts)
    leaves = [part_of(k) for k in range(*group.part(parts).indices(parts))]
    while len(leaves) > 1:
        leaves = [a + b for a, b in zip(leaves[::2], leaves[1::2], strict=True)]
    return group.all_reduce(leaves[0], algorithm="tree") / parts


def _has_whole_subtrees(workers, parts):
    for name, n in (("workers", workers), ("parts", parts)):
        if n < 1 or n & (n - 1) or workers > parts:
            raise ValueError(
                f"{workers} workers and {parts} parts: {n} {name}; expected powers of two, and no more workers than "
                "parts, so that each worker has a whole subtree."
            )


def tree_gradients(group, parameters, loss_of, parts):
    """Leaves the mean gradient of `parts` losses in `.grad` of the parameters, by `tree_mean`. Returns the mean loss.

    loss_of(k): the loss of part k of the batch, a Tensor; each worker is asked for its own parts.
    """
    parameters = list(parameters)

    def part_of(k):
        for p in parameters:
            p.grad = None
        loss = loss_of(k)
        loss.backward()
        return np.append(_flat(parameters), loss.data)

    mean = tree_mean(group, part_of, parts)
    _spread(mean[:-1], parameters)
    return float(mean[-1])
