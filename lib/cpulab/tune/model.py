"""Cost models: what counts say about a configuration before it is compiled, let alone timed."""

import numpy as np


def pruned(space, costs, keep):
    """The part of the space that a cost model holds for the best. keep: a fraction, or how many."""
    count = keep if isinstance(keep, int) else max(1, round(keep * len(space)))
    if not 1 <= count <= len(space):
        raise ValueError(f"keep is {keep}, {count} configurations; expected 1 to {len(space)}")
    return space.only(map(int, np.argsort(_one_each(space, costs), kind="stable")[:count]))


def kept_of_best(space, costs, seconds, keep, best=10):
    """How many of the `best` configurations by seconds are in the part that the model keeps."""
    part = pruned(space, costs, keep)
    fastest = np.argsort(_one_each(space, seconds), kind="stable")[:best]
    kept = {tuple(part[number].values()) for number in range(len(part))}
    return sum(tuple(space[int(number)].values()) in kept for number in fastest)


def fitted(counts, seconds):
    """The price of each count, none below 0, for which counts @ prices is nearest to seconds, relatively.

    counts: (configurations, kinds of counts). A model is fitted to a few trials, and asked about all configurations.
    """
    from scipy.optimize import nnls

    counts, seconds = np.asarray(counts, np.float64), np.asarray(seconds, np.float64)
    scale = np.where(counts.max(axis=0) > 0, counts.max(axis=0), 1)
    prices, _ = nnls(counts / scale / seconds[:, None], np.ones(len(seconds)))
    return prices / scale


def roofline(counts, prices):
    """The slowest of several things that go on at the same time: the largest count times its price."""
    return (np.asarray(counts, np.float64) * np.asarray(prices, np.float64)).max(axis=1)


def _one_each(space, values):
    values = np.asarray(values, np.float64)
    if values.shape != (len(space),):
        raise ValueError(f"values has shape {values.shape}; expected ({len(space)},): one for each configuration")
    return values
