"""What several tasks of chapter 11 use: attention in tiles, and what may go wrong with its running sums."""

import numpy as np

from ...definition import random_values, unwritten

NOTHING = np.zeros(0)  # what a suspect gives for arguments that it does not fit
TOLD_FIRST = (
    "race",
    "divergent-barrier",
    "divergent-warp-operation",
    "barrier-after-exit",
    "uninitialised-shared",
    "uninitialised-local",
)


def names_over(rows):
    """The names of the counts that are over their limits."""
    return {o.name for o in rows}


NEARLY = "nearly right, but not to the last digits. Is something float32 on the way, or is a small number added?"


def shown_numbers(x):
    return "[" + ", ".join(f"{v:.5g}" for v in np.ravel(x)) + "]"


def softmax_rows(x):
    """Of each row, in float64; zeros for a row of which all is -inf."""
    x = x.astype(np.float64)
    top = x.max(axis=1, keepdims=True)
    e = np.exp(x - np.where(top == -np.inf, 0, top))
    return e / np.maximum(e.sum(axis=1, keepdims=True), 1e-300)


def norm_rows(x, weight, bias, eps, centre=True, square=None, less=0, outside=False, root=True):
    """Layer norm in float64; the options are mistakes."""
    x, weight, bias = (array.astype(np.float64) for array in (x, weight, bias))
    away = x - x.mean(axis=1, keepdims=True) if centre else x
    squares = away**2 if square is None else square(x, away)
    with np.errstate(all="ignore"):
        variance = squares.sum(axis=1, keepdims=True) / (x.shape[1] - less)
        below = np.sqrt(variance) + eps if outside else np.sqrt(variance + eps) if root else variance + eps
        return away / below * weight + bias


BLOCK, TILE, HEAD = 32, 16, 4  # queries of a block, keys of a tile, numbers of a query
SCALE = 0.5


def far_below(rng, queries, keys):
    """(queries, keys), four numbers each, whose scores lie far below -1000 and are multiples of 1/2: no rounding hides
    what happens."""
    q = 16 * rng.integers(1, 3, (*queries, 4)).astype(np.float32)
    k = rng.integers(-8, 9, (*keys, 4)) / np.float32(16) - np.float32(50)
    return q, k.astype(np.float32)


def attention_arguments(queries, keys, large=1.0, below=False):
    """make(rng) -> q (queries, 4), k (keys, 4), v (keys, 4), scale, out (queries, 4). below: all scores far below 0."""

    def make(rng):
        q, k = np.float32(large) * random_values(rng, queries, HEAD), random_values(rng, keys, HEAD)
        if below:
            q, k = far_below(rng, (queries,), (keys,))
        return q, k, random_values(rng, keys, HEAD), SCALE, unwritten(queries, HEAD)

    return make


def attention(q, k, v, scale, allowed=None, masked=-np.inf, divided=True):
    """softmax(scale * q @ k.T) @ v in float64. allowed(i, j): which keys a query sees; others have the score
    `masked`."""
    q, k, v = (x.astype(np.float64) for x in (q, k, v))
    scores = scale * q @ k.T
    if allowed is not None:
        i, j = np.ogrid[: len(q), : len(k)]
        scores = np.where(allowed(i, j), scores, masked)
    with np.errstate(all="ignore"):
        e = np.exp(scores - scores.max(axis=1, keepdims=True))
        return e @ v / (e.sum(axis=1, keepdims=True) if divided else 1)


def running(q, k, v, scale, of_sum=True, of_result=True, of_step=1):
    """The online softmax over keys, or over tiles of `of_step`; the options leave out the correction of one or the
    other."""
    q, k, v = (x.astype(np.float64) for x in (q, k, v))
    scores = scale * q @ k.T
    top, total, result = np.full((len(q), 1), -np.inf), np.zeros((len(q), 1)), np.zeros((len(q), v.shape[1]))
    for start in range(0, len(k), of_step):
        part = scores[:, start : start + of_step]
        above = np.maximum(top, part.max(axis=1, keepdims=True))
        correction, weights = np.exp(top - above), np.exp(part - above)
        total = total * (correction if of_sum else 1) + weights.sum(axis=1, keepdims=True)
        result = result * (correction if of_result else 1) + weights @ v[start : start + of_step]
        top = above
    return result / total


ONLINE = (
    (
        lambda q, k, v, s: running(q, k, v, s, of_result=False),
        "The result was not corrected when a larger score came, or not with the same factor as the sum: both were "
        "counted from the old largest score.",
    ),
    (
        lambda q, k, v, s: running(q, k, v, s, of_sum=False),
        "The sum was not corrected when a larger score came, and the result was: both were counted from the old "
        "largest score.",
    ),
    (
        lambda q, k, v, s: running(q, k, v, s, False, False),
        "Neither sum nor result were corrected when a larger score came: they were counted from the old largest score.",
    ),
    (
        lambda q, k, v, s: attention(q, k, v, s, divided=False),
        "The result was not divided by the sum of the exponentials.",
    ),
    (lambda q, k, v, s: attention(q, k, v, 1.0), "The scores were not multiplied by `scale`."),
    (lambda q, k, v, s: attention(q, k, k, s), "The keys were mixed in the place of the values."),
    (lambda q, k, v, s: attention(q, v, v, s), "The scores were computed with the values in the place of the keys."),
    (
        lambda q, k, v, s: attention(q, k, v, s) * attention(q, k, v, s) / attention(q, k, v, s, divided=False),
        "The result was divided by the sum twice. That comes once, when all keys of all tiles have been seen.",
    ),
    (
        lambda q, k, v, s: s * q.astype(np.float64) @ k.T @ v,
        "The scores themselves were used as weights. Their softmax is asked for.",
    ),
)
