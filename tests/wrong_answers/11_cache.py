"""Answers to 11-cache."""

import math

import numpy as np
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
def all_of_the_cache(q, keys, values, length, scale, out):
    """wrong suspect: All of the cache was looked at"""
    heads, width = q.shape
    share = heads // keys.shape[0]
    for h in range(heads):
        g = h // share
        largest, total = -math.inf, 0.0
        for c in range(width):
            out[h, c] = 0
        for j in range(keys.shape[1]):
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


@njit
def newest_missing(q, keys, values, length, scale, out):
    """wrong suspect: The newest position is missing"""
    heads, width = q.shape
    share = heads // keys.shape[0]
    for h in range(heads):
        g = h // share
        largest, total = -math.inf, 0.0
        for c in range(width):
            out[h, c] = 0
        for j in range(length - 1):
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
            out[h, c] /= max(total, 1e-30)


@njit
def one_too_many(q, keys, values, length, scale, out):
    """wrong suspect: One position too many"""
    heads, width = q.shape
    share = heads // keys.shape[0]
    for h in range(heads):
        g = h // share
        largest, total = -math.inf, 0.0
        for c in range(width):
            out[h, c] = 0
        for j in range(min(length + 1, keys.shape[1])):
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


@njit
def first_missing(q, keys, values, length, scale, out):
    """wrong suspect: The first position is missing"""
    heads, width = q.shape
    share = heads // keys.shape[0]
    for h in range(heads):
        g = h // share
        largest, total = -math.inf, 0.0
        for c in range(width):
            out[h, c] = 0
        for j in range(1, length):
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
            out[h, c] /= max(total, 1e-30)


@njit
def heads_in_turn(q, keys, values, length, scale, out):
    """wrong suspect: This is head h with h % groups"""
    heads, width = q.shape
    for h in range(heads):
        g = h % keys.shape[0]
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


@njit
def one_head_for_all(q, keys, values, length, scale, out):
    """wrong suspect: the first head of the cache"""
    heads, width = q.shape
    for h in range(heads):
        g = 0
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


@njit
def no_groups(q, keys, values, length, scale, out):
    """wrong raised-IndexError: to which does head h belong"""
    heads, width = q.shape
    for h in range(heads):
        g = h
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


@njit
def result_not_corrected(q, keys, values, length, scale, out):
    """wrong suspect: The result was not corrected"""
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
                out[h, c] = out[h, c] + weight * values[g, j, c]
            largest = above
        for c in range(width):
            out[h, c] /= total


@njit
def sum_not_corrected(q, keys, values, length, scale, out):
    """wrong suspect: The sum was not corrected"""
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
            total = total + weight
            for c in range(width):
                out[h, c] = out[h, c] * correction + weight * values[g, j, c]
            largest = above
        for c in range(width):
            out[h, c] /= total


@njit
def nothing_corrected(q, keys, values, length, scale, out):
    """wrong suspect: Neither sum nor result"""
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
            weight = math.exp(score - above)
            total = total + weight
            for c in range(width):
                out[h, c] = out[h, c] + weight * values[g, j, c]
            largest = above
        for c in range(width):
            out[h, c] /= total


@njit
def no_scale(q, keys, values, length, scale, out):
    """wrong suspect: not multiplied by `scale`"""
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
            above = max(largest, score)
            correction, weight = math.exp(largest - above), math.exp(score - above)
            total = total * correction + weight
            for c in range(width):
                out[h, c] = out[h, c] * correction + weight * values[g, j, c]
            largest = above
        for c in range(width):
            out[h, c] /= total


@njit
def not_divided(q, keys, values, length, scale, out):
    """wrong suspect: not divided by the sum"""
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


@njit
def keys_mixed(q, keys, values, length, scale, out):
    """wrong suspect: The keys were mixed"""
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
                out[h, c] = out[h, c] * correction + weight * keys[g, j, c]
            largest = above
        for c in range(width):
            out[h, c] /= total


@njit
def not_begun(q, keys, values, length, scale, out):
    """wrong nothing-written: Does each row of out begin with 0"""
    heads, width = q.shape
    share = heads // keys.shape[0]
    for h in range(heads):
        g = h // share
        largest, total = -math.inf, 0.0
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


@njit
def masked_by_a_weight(q, keys, values, length, scale, out):
    """wrong suspect: A weight of 0 does not help"""
    heads, width = q.shape
    share = heads // keys.shape[0]
    for h in range(heads):
        g = h // share
        largest, total = -math.inf, 0.0
        for c in range(width):
            out[h, c] = 0
        for j in range(keys.shape[1]):
            score = 0.0
            for c in range(width):
                score += q[h, c] * keys[g, j, c]
            score *= scale
            if j >= length:
                score = -math.inf
            above = max(largest, score)
            correction, weight = math.exp(largest - above), math.exp(score - above)
            total = total * correction + weight
            for c in range(width):
                out[h, c] = out[h, c] * correction + weight * values[g, j, c]
            largest = above
        for c in range(width):
            out[h, c] /= total


@njit
def largest_goes_on(q, keys, values, length, scale, out):
    """wrong wrong-value: begin anew in each head"""
    heads, width = q.shape
    share = heads // keys.shape[0]
    largest = -math.inf
    total = 0.0
    for h in range(heads):
        g = h // share
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
