"""11-split: Many parts, already divided."""

import contextlib

import numpy as np

from ...definition import Case, Section, Slip, random_values
from ...kinds.function import FunctionTask
from .shared import NEARLY, NOTHING, shown_numbers

COLUMNS = 3


def split_parts(parts, heads, around=0.0, empty=()):
    """make(rng) -> results (parts, heads, 3), logs (parts, heads). around: how far apart heads and parts lie; empty:
    (part, head) that saw no key."""

    def make(rng):
        results = random_values(rng, parts, heads, COLUMNS, dtype=np.float64)
        logs = 2 * random_values(rng, parts, heads, dtype=np.float64)
        logs += around * random_values(rng, 1, heads, dtype=np.float64)
        for part, head in empty:
            results[part, head], logs[part, head] = 0, -np.inf
        return results, logs

    return make


def combined(results, logs, axis=0, weights=None):
    """The result over all keys, from those of parts and the logarithms of their sums; the options are mistakes."""
    with np.errstate(all="ignore"):
        top = logs.max(axis=axis, keepdims=True)
        w = np.exp(logs - np.where(top == -np.inf, 0, top)) if weights is None else weights(logs)
        total = w.sum(axis=axis, keepdims=True)
        w = np.divide(w, total, out=np.zeros_like(w), where=total != 0)
        return (w[..., None] * results).sum(axis=0)


def _over_heads(results, weights):
    if len(weights) != weights.shape[1]:
        return NOTHING
    return (weights[..., None] * results).sum(axis=1) / weights.sum(axis=0)[:, None]


def _unweighted(results, logs):
    return results.mean(axis=0)


def _whole_parts(results, logs):
    complete = (logs > -np.inf).all(axis=1)
    return combined(results[complete], logs[complete]) if complete.any() else NOTHING


SPLITS = (
    (
        _unweighted,
        "This is the mean of the parts. One whose keys have larger scores, or that has more keys, counts more.",
    ),
    (
        lambda results, logs: results.sum(axis=0),
        "The parts were added. Each is divided by its own sum already, so they need weights that add up to 1.",
    ),
    (
        lambda results, logs: combined(results, logs, weights=lambda x: x),
        "The weights are the logarithms. They are the sums themselves: exp of them, and then divided by what they add "
        "up to.",
    ),
    (
        lambda results, logs: (np.exp(logs - logs.max(axis=0))[..., None] * results).sum(axis=0),
        "The weights do not add up to 1: divide by their sum over the parts.",
    ),
    (
        lambda results, logs: (np.exp(logs - logs.max(axis=0))[..., None] * results).mean(axis=0),
        "The weights do not add up to 1: divide by their sum over the parts, not by the number of parts.",
    ),
    (
        lambda results, logs: (np.exp(logs)[..., None] * results).sum(axis=0),
        "The weights do not add up to 1: divide by their sum over the parts.",
    ),
    (
        lambda results, logs: combined(results, logs, axis=1),
        "The weights add up to 1 over the heads of a part. They must over the parts of a head.",
    ),
    (
        lambda results, logs: combined(results, logs, axis=(0, 1)),
        "The weights add up to 1 over all parts and heads together. They must for each head by itself.",
    ),
    (
        lambda results, logs: _over_heads(results, np.exp(logs - logs.max(axis=0))),
        "The weighted results were added up over the heads. Over the parts is asked for: axis 0 of results.",
    ),
    (
        lambda results, logs: (results / np.exp(logs - logs.max(axis=0))[..., None]).mean(axis=0),
        "The results were divided by the sums again. They have been divided already: what is missing are weights to "
        "multiply by.",
    ),
    *(
        (
            lambda results, logs, some=some: combined(results[some], logs[some]) if len(logs) > 2 else NOTHING,
            f"The {which} part is left out: all parts count.",
        )
        for some, which in ((slice(-1), "last"), (slice(1, None), "first"))
    ),
    (
        _whole_parts,
        "A part that is empty for one head was left out for all of them. It may have seen keys for the others.",
    ),
    (
        lambda results, logs: combined(results, -logs),
        "The part with the smaller sum counts more here: is a sign turned round?",
    ),
    (
        lambda results, logs: np.take_along_axis(results, logs.argmax(axis=0)[None, :, None], axis=0)[0],
        "Only the part with the largest sum is left. The others count, too, only less.",
    ),
)


def judge_split(arguments, result):
    """A Slip, or None for the exact result."""
    results, logs = arguments
    right = combined(results, logs)
    if not isinstance(result, np.ndarray) or result.shape != right.shape or result.dtype.kind != "f":
        cause, got = "One array of NumPy is asked for, with a row for each head.", ""
        if isinstance(result, np.ndarray):
            cause = "One row for each head is asked for: the axis of the parts is gone."
            got = f"shape {result.shape}, {result.dtype}"
        return Slip("type", f"a float64 array of shape {right.shape}", cause, got)
    bad = ~np.isclose(result, right, rtol=1e-9, atol=1e-12).all(axis=1)
    if not bad.any():
        return None
    head = int(np.argmax(bad))
    expected, got = (f"head {head}: {shown_numbers(x[head])}" for x in (right, result))
    some = (logs > -np.inf).any(axis=0)
    if not bad[some].any():
        cause = f"No part of head {head} saw a key. There is nothing to weigh, and zeros shall come out, not 0 / 0."
        return Slip("empty", expected, cause, got)
    if not result[head].any():
        return Slip("vanished", expected, f"All weights of head {head} have become 0. {_APART}", got)
    for formula, cause in SPLITS:
        guess = NOTHING
        with np.errstate(all="ignore"), contextlib.suppress(ValueError):  # where no part is left there is no largest
            guess = formula(results, logs)
        if guess.shape == result.shape and np.allclose(
            result[some], guess[some], rtol=1e-9, atol=1e-12, equal_nan=True
        ):
            return Slip("weights", expected, cause, got)
    if not np.isfinite(result[head]).all():
        return Slip("not-finite", expected, _APART, got)
    if np.allclose(result, right, rtol=1e-5, atol=1e-5):
        return Slip("value", expected, NEARLY[0].upper() + NEARLY[1:], got)
    cause = (
        "Take one head with two parts, whose sums are 1 and 3. Their results count a quarter and three quarters. What "
        "are the logarithms of the sums, and what turns them into these weights?"
    )
    return Slip("value", expected, cause, got)


_APART = (
    "exp overflows above 709, and is 0 below -745; then inf / inf or 0 / 0 is NaN. Subtract the largest logarithm "
    "first, and that of the head: another head's may be thousands away. Where it is -inf itself, nothing can be "
    "subtracted."
)

SPLIT = FunctionTask(
    id="11-split",
    section=Section("11", "11_softmax", "Two parts become one"),
    title="Many parts, already divided",
    objective="Combine the results of parts of a cache by the logarithms of their sums",
    points=2,
    minutes=15,
    judge=judge_split,
    cases=(
        Case("5 parts, 5 heads", split_parts(5, 5)),
        Case("4 parts, 2 heads", split_parts(4, 2)),
        Case("parts without keys", split_parts(4, 2, empty=((1, 0), (2, 0), (0, 1)))),
        Case("one part", split_parts(1, 4)),
        Case("large logarithms, heads far apart", split_parts(3, 4, 3000, ((0, 1), (2, 3)))),
        Case("a head without keys", split_parts(3, 3, empty=((0, 1), (1, 1), (2, 1)))),
    ),
    advice={
        "raised-RuntimeWarning": f"A number that is none came up. {_APART}",
        "raised-OverflowError": _APART,
        "raised-ValueError": (
            "Two shapes do not fit. logs has (parts, heads), results has (parts, heads, columns): weights need one "
            "axis more, weights[:, :, None], before they meet results. Or is an array empty? A part may have no key "
            "for one head and many for another: it cannot be taken out for all."
        ),
        "raised-ZeroDivisionError": "No part of this head saw a key: zeros shall come out. Ask before you divide.",
    },
    hints=(
        "A part's result was divided by its own sum. What would have to be multiplied again to merge it as in task 2?",
        "exp(logs) are the sums, so they are the weights, divided by what they add up to over the parts of a head. To "
        "keep exp in range subtract the largest logarithm of the head: it cancels. A head without keys has none that "
        "is finite.",
        "Largest over axis 0; where it is -inf take 0 in its place. Weights: exp of the difference. Their sum over "
        "axis 0 may be 0, then take 1. The rest is a weighted sum over axis 0, with weights that have one axis more.",
    ),
)
