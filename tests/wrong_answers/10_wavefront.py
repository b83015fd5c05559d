"""Answers to 10-wavefront."""

import functools

import numpy as np


def by_need(directions, steps):
    """right"""

    @functools.cache
    def when(layer, way, t):
        if layer < 0 or not 0 <= t < steps:
            return 0
        below = max((when(layer - 1, w, t) for w in range(directions[layer - 1])), default=0) if layer else 0
        return 1 + max(below, when(layer, way, t + (1 if way else -1)))

    return [
        [[when(layer, way, t) for t in range(steps)] for way in range(count)] for layer, count in enumerate(directions)
    ]


def round_after_round(directions, steps):
    """right"""
    found = [np.zeros((count, steps)) for count in directions]
    number = 0
    while any((layer == 0).any() for layer in found):
        number += 1
        ready = []
        for k, layer in enumerate(found):
            for way, t in np.ndindex(layer.shape):
                before = t - 1 if way == 0 else t + 1
                done = not 0 <= before < steps or layer[way, before] > 0
                if layer[way, t] == 0 and done and (k == 0 or (found[k - 1][:, t] > 0).all()):
                    ready.append((k, way, t))
        for k, way, t in ready:
            found[k][way, t] = number
    return tuple(found)


def _walk(directions, steps, below_of, join=lambda before, under: max(before, under) + 1, start=0):
    below, rounds = np.full((1, steps), start), []
    for count in directions:
        layer = np.zeros((count, steps), int)
        for way in range(count):
            before = start
            for t in range(steps) if way == 0 else range(steps - 1, -1, -1):
                before = layer[way, t] = join(before, below_of(below, way, t))
        rounds.append(layer)
        below = layer
    return rounds


def from_zero(directions, steps):
    """wrong rounds: The first round has the number 1"""
    return _walk(directions, steps, lambda below, way, t: below[:, t].max(), start=-1)


def layer_by_layer(directions, steps):
    """wrong rounds: Every layer waited for the end"""
    return _walk(directions, steps, lambda below, way, t: below.max())


def own_direction(directions, steps):
    """wrong rounds: waited for one direction of the layer below"""
    return _walk(directions, steps, lambda below, way, t: below[min(way, len(below) - 1), t])


def forward_direction(directions, steps):
    """wrong rounds: Only the forward direction of the layer below"""
    return _walk(directions, steps, lambda below, way, t: below[0, t])


def nothing_below(directions, steps):
    """wrong rounds: The layer below was not waited for"""
    return _walk(directions, steps, lambda below, way, t: 0)


def no_step_before(directions, steps):
    """wrong rounds: The step before in the same layer"""
    return _walk(directions, steps, lambda below, way, t: below[:, t].max(), lambda before, under: under + 1)


def added(directions, steps):
    """wrong rounds: were added"""
    return _walk(directions, steps, lambda below, way, t: below[:, t].max(), lambda before, under: before + under + 1)


def the_smaller(directions, steps):
    """wrong rounds: It waits for the last"""
    return _walk(
        directions, steps, lambda below, way, t: below[:, t].max(), lambda before, under: min(before, under) + 1
    )


def both_forwards(directions, steps):
    """wrong rounds: The second direction was read forwards"""
    rounds = _walk([1] * len(directions), steps, lambda below, way, t: below[:, t].max())
    return [np.repeat(layer, count, axis=0) for layer, count in zip(rounds, directions, strict=True)]


def one_worker(directions, steps):
    """wrong rounds: as a single worker would"""
    numbers = np.arange(1, sum(directions) * steps + 1).reshape(-1, steps)
    return np.split(numbers, np.cumsum(directions)[:-1])


def next_step_below(directions, steps):
    """wrong cell: and step 0 of every direction of the layer below"""
    return _walk(directions, steps, lambda below, way, t: below[:, min(t + 1, steps - 1)].max())


def one_row_each(directions, steps):
    """wrong type: an array (directions, steps) for each layer"""
    return [layer[0] for layer in _walk(directions, steps, lambda below, way, t: below[:, t].max())]


def last_round_only(directions, steps):
    """wrong type: A list is asked for"""
    return int(max(layer.max() for layer in _walk(directions, steps, lambda below, way, t: below[:, t].max())))


def as_text(directions, steps):
    """wrong type: A list is asked for"""
    return [layer.astype(str) for layer in _walk(directions, steps, lambda below, way, t: below[:, t].max())]
