"""Answers to 11-split."""

import math

import numpy as np
from answers import MASTER, cut, edit, insert, replace


def part_by_part(results, logs):
    """right"""
    parts, heads, columns = results.shape
    out = np.zeros((heads, columns))
    for h in range(heads):
        top = max(logs[:, h])
        if top == -math.inf:
            continue
        total = 0.0
        for p in range(parts):
            weight = math.exp(logs[p, h] - top)
            total += weight
            out[h] += weight * results[p, h]
        out[h] /= total
    return out


def by_pairs(results, logs):
    """right"""
    out, log = results[0].copy(), logs[0].copy()
    for result, other in zip(results[1:], logs[1:], strict=True):
        with np.errstate(invalid="ignore"):
            both = np.logaddexp(log, other)
        some = both > -np.inf
        first, second = (np.where(some, np.exp(x - np.where(some, both, 0)), 0) for x in (log, other))
        out, log = first[:, None] * out + second[:, None] * result, np.where(some, both, -np.inf)
    return out


def mean(results, logs):
    """wrong weights: This is the mean of the parts"""
    return results.mean(axis=0)


def added(results, logs):
    """wrong weights: The parts were added"""
    return results.sum(axis=0)


def logs_as_weights(results, logs):
    """wrong weights: The weights are the logarithms"""
    return ((logs / logs.sum(axis=0))[:, :, None] * results).sum(axis=0)


not_normalised = edit(
    MASTER, "wrong weights: divide by their sum over the parts", replace("weights / total", "weights")
)


def over_heads(results, logs):
    """wrong weights: over the heads of a part"""
    top = logs.max(axis=1, keepdims=True)
    top[top == -np.inf] = 0
    weights = np.exp(logs - top)
    total = weights.sum(axis=1, keepdims=True)
    total[total == 0] = 1
    return ((weights / total)[:, :, None] * results).sum(axis=0)


def over_everything(results, logs):
    """wrong weights: over all parts and heads together"""
    top = np.array(logs.max())
    top[top == -np.inf] = 0
    weights = np.exp(logs - top)
    total = np.array(weights.sum())
    total[total == 0] = 1
    return ((weights / total)[:, :, None] * results).sum(axis=0)


turned_round = edit(
    MASTER, "wrong weights: is a sign turned round", insert("logs = -logs", before="top = logs.max(axis=0)")
)
winner = edit(
    MASTER,
    "wrong weights: Only the part with the largest sum is left",
    replace("np.exp(logs - top)", "(logs == top) * 1.0"),
)
empty_heads = edit(MASTER, "wrong raised-RuntimeWarning: nothing can be subtracted", cut("top[top == -np.inf] = 0"))
nothing_by_nothing = edit(MASTER, "wrong raised-RuntimeWarning: inf / inf or 0 / 0", cut("total[total == 0] = 1"))
no_largest = edit(MASTER, "wrong vanished: Subtract the largest logarithm first", replace("logs - top", "logs"))
one_largest_for_all = edit(
    MASTER,
    "wrong vanished: and that of the head",
    replace("logs.max(axis=0)", "np.array([logs.max()] * logs.shape[1])"),
)
empty_is_nan = edit(
    MASTER, "wrong empty: No part of head", replace("total[total == 0] = 1", "total[total == 0] = np.nan")
)
one_more_axis = edit(
    MASTER,
    "wrong type: the axis of the parts is gone",
    replace("((weights / total)[:, :, None] * results).sum(axis=0)", "(weights / total)[:, :, None] * results"),
)
shapes = edit(
    MASTER, "wrong raised-ValueError: weights need one axis more", replace("[:, :, None] * results", "* results")
)
in_place = edit(
    MASTER,
    "wrong input-changed: The caller still needs its array",
    replace("weights = np.exp(logs - top)", "logs -= top\nweights = np.exp(logs)"),
)
