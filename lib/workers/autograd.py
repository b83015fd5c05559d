"""Collectives on the tape: what a collective moves forward, another one moves backward.

Each worker has a tape of its own, on which a collective is a node like any other: all workers come to it in the same
order, forward and backward, as the network is the same. What they are for:

    function        forward          backward         where
    copy            (as it is)       all_reduce       into layers that are cut, of what all workers have
    reduce          all_reduce       (as it is)       out of them: partial sums become what all workers have
    gather          all_gather       reduce_scatter   into layers that are cut, of a tensor that is cut itself
    scatter         reduce_scatter   all_gather       out of them, so that the result is cut
    cut             (own part)       all_gather       from what all workers have to a part on each
    join            all_gather       (own part)       the way back
    exchange        all_to_all       all_to_all       rows that other workers are to compute with

`copy` and `reduce` are f and g of Shoeybi and others 2019, "Megatron-LM", section 3; `gather` and `scatter` those of
Korthikanti and others 2022, "Reducing Activation Recomputation in Large Transformer Models", section 4.2.2. All assume
that what all workers have, as after `reduce` or `join`, is used by each of them alike up to the loss.

Sums are in the order of ranks (algorithm "direct"): the bits are the same for each number's place in its array.
"""

import numpy as np

from training.tensor import record

from .group import bounds


def copy(x, group):
    """x itself; backward adds up the gradients of all workers."""
    return record("copy", x.data, [x], lambda grad, kept: [group.all_reduce(grad, algorithm="direct")])


def reduce(x, group):
    """The sum of all workers' x, on each of them; backward gives each its gradient as it is."""
    return record("reduce", group.all_reduce(x.data, algorithm="direct"), [x], lambda grad, kept: [grad])


def gather(x, group, dim=0):
    """All workers' x, one behind the other along `dim`; backward adds up and gives each worker its part.

    Parts are cut as `bounds` cuts: ValueError where a worker has another length along dim than its part of the whole.
    """
    full = group.all_gather(x.data, axis=dim)
    _expect(x, dim, full.shape[dim], group)
    return record("gather", full, [x], lambda grad, kept: [reduce_scatter(grad, group, dim)])


def scatter(x, group, dim=0):
    """This worker's part, along `dim`, of the sum of all workers' x; backward gathers the parts' gradients."""
    part = reduce_scatter(x.data, group, dim)
    return record("scatter", part, [x], lambda grad, kept: [group.all_gather(grad, axis=dim)])


def cut(x, group, dim=0):
    """This worker's part along `dim` of an x that all workers have; backward gathers the parts' gradients."""
    index = [slice(None)] * len(x.shape)
    index[dim] = group.part(x.shape[dim])
    return record("cut", x.data[tuple(index)], [x], lambda grad, kept: [group.all_gather(grad, axis=dim)])


def join(x, group, dim=0):
    """All workers' parts along `dim`, on each; backward gives each worker its part of the gradient."""
    full = group.all_gather(x.data, axis=dim)
    _expect(x, dim, full.shape[dim], group)
    index = [slice(None)] * len(x.shape)
    index[dim] = group.part(full.shape[dim])
    return record("join", full, [x], lambda grad, kept: [grad[tuple(index)]])


def exchange(x, group, counts):
    """Rows of x to other workers: the first counts[0] to worker 0, the next counts[1] to worker 1, and so on.

    Returns (the rows that arrived, in the order of ranks, how many came from each). Backward sends gradients back.
    """
    if sum(counts) != x.shape[0] or len(counts) != group.size:
        raise ValueError(
            f"counts is {list(counts)}; expected {group.size} numbers that add up to {x.shape[0]}, the rows of x."
        )
    parts = group.all_to_all(np.split(x.data, np.cumsum(counts)[:-1]))
    came = [len(part) for part in parts]

    def backward(grad, kept):
        return [np.concatenate(group.all_to_all(np.split(grad, np.cumsum(came)[:-1])))]

    return record("exchange", np.concatenate(parts), [x], backward), came


def reduce_scatter(array, group, dim=0):
    """`Group.reduce_scatter` of arrays along any dimension."""
    found = group.reduce_scatter(np.moveaxis(array, dim, 0), algorithm="direct")
    return np.ascontiguousarray(np.moveaxis(found, 0, dim))


def _expect(x, dim, length, group):
    cuts = bounds(length, group.size)
    local_length = cuts[group.rank + 1] - cuts[group.rank]
    if x.shape[dim] != local_length:
        raise ValueError(
            f"worker {group.rank} has {x.shape[dim]} of {length} along dimension {dim}; expected "
            f"{local_length}, as workers.bounds cuts."
        )
