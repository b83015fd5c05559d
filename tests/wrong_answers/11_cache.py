"""Answers to 11-cache."""

import math

import numpy as np
from answers import cut, edit, insert, replace
from numba import njit


@njit
def score(query, key, scale):
    total = 0.0
    for c in range(len(query)):
        total += query[c] * key[c]
    return total * scale


@njit
def twice_over_the_keys(q, keys, values, length, scale, out):
    """right"""
    groups, width = keys.shape[0], keys.shape[2]
    for g in range(groups):
        for h in range(g * len(q) // groups, (g + 1) * len(q) // groups):
            largest = -np.inf
            for j in range(length):
                largest = max(largest, score(q[h], keys[g, j], scale))
            total = 0.0
            out[h] = 0
            for j in range(length):
                weight = np.exp(score(q[h], keys[g, j], scale) - largest)
                total += weight
                for c in range(width):
                    out[h, c] += weight * values[g, j, c]
            for c in range(width):
                out[h, c] /= total


@njit
def only_when_larger(q, keys, values, length, scale, out):
    """right"""
    heads, width = q.shape
    for h in range(heads):
        g = h * keys.shape[0] // heads
        top, total = np.float32(-1e30), np.float32(0)
        for c in range(width):
            out[h, c] = np.float32(0)
        for j in range(length):
            score = np.float32(0)
            for c in range(width):
                score += np.float32(scale) * q[h, c] * keys[g, j, c]
            if score > top:
                factor = np.exp(top - score)
                total *= factor
                for c in range(width):
                    out[h, c] *= factor
                top = score
            weight = np.exp(score - top)
            total += weight
            for c in range(width):
                out[h, c] += weight * values[g, j, c]
        for c in range(width):
            out[h, c] /= total


@njit
def scaled_first(q, keys, values, length, scale, out):
    """right"""
    heads, width = q.shape
    share = heads // keys.shape[0]
    for h in range(heads):
        g = h // share
        largest, total = -math.inf, 0.0
        for c in range(width):
            out[h, c] = 0
        for j in range(length):
            score = 0.0
            for c in range(width):
                score += q[h, c] * keys[g, j, c]
            score *= scale
            above = max(largest, score)
            correction, weight = math.exp(largest - above), math.exp(score - above)
            total = total * correction + weight
            for c in range(width):
                out[h, c] = out[h, c] * correction + weight * values[g, j, c]
            largest = above
        for c in range(width):
            out[h, c] /= total


all_of_the_cache = edit(
    scaled_first, "wrong suspect: All of the cache was looked at", replace("range(length)", "range(keys.shape[1])")
)
newest_missing = edit(
    scaled_first,
    "wrong suspect: The newest position is missing",
    replace("range(length)", "range(length - 1)"),
    replace("out[h, c] /= total", "out[h, c] /= max(total, 1e-30)"),
)
one_too_many = edit(
    scaled_first,
    "wrong suspect: One position too many",
    replace("range(length)", "range(min(length + 1, keys.shape[1]))"),
)
first_missing = edit(
    scaled_first,
    "wrong suspect: The first position is missing",
    replace("range(length)", "range(1, length)"),
    replace("out[h, c] /= total", "out[h, c] /= max(total, 1e-30)"),
)
heads_in_turn = edit(
    scaled_first,
    "wrong suspect: This is head h with h % groups",
    cut("share = heads // keys.shape[0]"),
    replace("h // share", "h % keys.shape[0]"),
)
one_head_for_all = edit(
    scaled_first,
    "wrong suspect: the first head of the cache",
    cut("share = heads // keys.shape[0]"),
    replace("h // share", "0"),
)
no_groups = edit(
    scaled_first,
    "wrong raised-IndexError: to which does head h belong",
    cut("share = heads // keys.shape[0]"),
    replace("h // share", "h"),
)
result_not_corrected = edit(
    scaled_first, "wrong suspect: The result was not corrected", replace("out[h, c] * correction", "out[h, c]")
)
sum_not_corrected = edit(
    scaled_first, "wrong suspect: The sum was not corrected", replace("total * correction", "total")
)
nothing_corrected = edit(
    scaled_first,
    "wrong suspect: Neither sum nor result",
    replace(
        "correction, weight = math.exp(largest - above), math.exp(score - above)", "weight = math.exp(score - above)"
    ),
    replace("total * correction", "total"),
    replace("out[h, c] * correction", "out[h, c]"),
)
not_divided = edit(
    scaled_first, "wrong suspect: not divided by the sum", cut("for c in range(width):\n    out[h, c] /= total")
)
keys_mixed = edit(scaled_first, "wrong suspect: The keys were mixed", replace("values[g, j, c]", "keys[g, j, c]"))
not_begun = edit(
    scaled_first,
    "wrong nothing-written: Does each row of out begin with 0",
    cut("for c in range(width):\n    out[h, c] = 0"),
)
masked_by_a_weight = edit(
    scaled_first,
    "wrong suspect: A weight of 0 does not help",
    replace("range(length)", "range(keys.shape[1])"),
    insert("if j >= length:\n    score = -math.inf", after="score *= scale"),
)
largest_goes_on = edit(
    scaled_first,
    "wrong wrong-value: begin anew in each head",
    insert("largest = -math.inf\ntotal = 0.0", after="share = heads // keys.shape[0]"),
    cut("largest, total = -math.inf, 0.0"),
)


@njit
def rows_of_scores(q, keys, values, length, scale, out):
    """over budget over-budget: no score has to be kept"""
    share = q.shape[0] // keys.shape[0]
    for h in range(q.shape[0]):
        scores = np.zeros(length)
        for j in range(length):
            for c in range(q.shape[1]):
                scores[j] += scale * q[h, c] * keys[h // share, j, c]
        weights = np.exp(scores - scores.max())
        for c in range(q.shape[1]):
            total = 0.0
            for j in range(length):
                total += weights[j] * values[h // share, j, c]
            out[h, c] = total / weights.sum()


@njit
def as_the_specification(q, keys, values, length, scale, out):
    """wrong raised-ImportError: call a library"""
    share = len(q) // len(keys)
    for h in range(len(q)):
        scores = np.float32(scale) * np.dot(keys[h // share, :length], q[h])
        weights = np.exp(scores - scores.max())
        out[h] = np.dot(weights, values[h // share, :length]) / weights.sum()
