"""11-merge: Two parts become one."""

import math

import numpy as np

from ...definition import Case, Section, Slip, random_values
from ...kinds.function import FunctionTask
from .shared import NEARLY, shown_numbers

VALUES = 4  # columns of v


def part_of(scores, v):
    """What is kept of some keys: (largest score, sum of exponentials, the same exponentials times v)."""
    if not len(scores):
        return -math.inf, 0.0, np.zeros(VALUES)
    top = float(scores.max())
    weights = np.exp(scores - top)
    return top, float(weights.sum()), weights @ v


def two_parts(first_count, second_count, around=(0, 0), spread=3):
    """make(rng) -> m1, l1, acc1, m2, l2, acc2 of `first_count` and of `second_count` keys, whose scores lie around
    these numbers."""

    def make(rng):
        parts = []
        for number, centre in zip((first_count, second_count), around, strict=True):
            scores = centre + spread * random_values(rng, number, dtype=np.float64)
            parts += part_of(scores, random_values(rng, number, VALUES, dtype=np.float64))
        return tuple(parts)

    return make


def merged(m1, l1, acc1, m2, l2, acc2):
    """(m, l, acc) of both parts together."""
    m = max(m1, m2)
    a, b = (0.0 if m == -math.inf else math.exp(part_max - m) for part_max in (m1, m2))
    return m, a * l1 + b * l2, a * acc1 + b * acc2


def _factors(change):
    """x1 * factor + x2 * factor, with other factors than the right ones: `change(m1, m2, m)` gives them."""

    def formula(m1, m2, x1, x2):
        with np.errstate(all="ignore"):
            a, b = change(m1, m2, np.float64(max(m1, m2)))
            return a * x1 + b * x2

    return formula


MERGES = (
    (
        _factors(lambda m1, m2, m: (1, 1)),
        "here the two were added as they are. Each part counts with a largest score of its own: its exponentials are "
        "exp(score - m1) or exp(score - m2). What turns exp(score - m1) into exp(score - m)? Either of the two parts "
        "can be the one with the smaller m.",
    ),
    (
        _factors(lambda m1, m2, m: (np.exp(m2 - m), np.exp(m1 - m))),
        "the factors are exchanged: the part with the larger m counts in full, the other one less.",
    ),
    (
        _factors(lambda m1, m2, m: (np.exp(m - m1), np.exp(m - m2))),
        "the exponent is turned round: exp(score - m) is exp(score - m1) times exp(m1 - m), and m1 - m is never above "
        "0.",
    ),
    (
        _factors(lambda m1, m2, m: (np.exp(m1), np.exp(m2))),
        "these are sums of exp(score), without a largest score. That overflows where scores are large: bring both "
        "parts to the common m.",
    ),
    (
        _factors(lambda m1, m2, m: (m1 >= m2, m2 > m1)),
        "only the part with the larger m is left. The other one counts, too, only less.",
    ),
    (
        _factors(lambda m1, m2, m: (m1 < m2, m2 <= m1)),
        "only the part with the smaller m is left. Both count, the one with the larger m in full.",
    ),
    (
        _factors(lambda m1, m2, m: (np.exp(-abs(m1 - m2)),) * 2),
        "both parts got the same factor. The one with the larger m counts in full.",
    ),
    (
        _factors(lambda m1, m2, m: (m1 - m + 1, m2 - m + 1)),
        "the factor is the exponential of a difference, not the difference.",
    ),
)

_EMPTY = (
    "Both parts are empty: both m are -inf, and -inf - (-inf) is NaN, not a number. What shall come out where there is "
    "nothing to put together?"
)


def judge_merge(arguments, result):
    """A Slip, or None for the exact result."""
    m1, l1, acc1, m2, l2, acc2 = arguments
    m, total, acc = merged(*arguments)
    expected = f"m = {m:g}, l = {total:.6g}, acc = {shown_numbers(acc)}"
    try:
        said = [np.asarray(part) for part in result] if type(result) in (tuple, list) else []
    except (TypeError, ValueError):
        said = []
    if [part.shape for part in said] != [(), (), acc1.shape] or any(part.dtype.kind not in "iuf" for part in said):
        return Slip(
            "type",
            expected,
            "Three things are asked for, in this order: two numbers, m and l, and an array, acc, as long as acc1.",
        )
    said = [part.astype(np.float64) for part in said]
    got = f"m = {said[0]:g}, l = {said[1]:.6g}, acc = {shown_numbers(said[2])}"
    if said[0] != m:
        cause = "m is the largest score of both parts: the larger of m1 and m2, also if one of them is -inf."
        return Slip("m", expected, cause, got)
    for kind, found, right, x1, x2 in (("l", said[1], total, l1, l2), ("acc", said[2], acc, acc1, acc2)):
        if np.allclose(found, right, rtol=1e-9, atol=1e-12):
            continue
        if m == -math.inf:
            return Slip("empty", expected, _EMPTY, got)
        if min(m1, m2) == -math.inf and np.isfinite(found).all():
            cause = f"{kind}: one part is empty. It adds nothing: what the other one has comes out as it is."
            return Slip(kind, expected, cause, got)
        for formula, cause in MERGES:
            guess = formula(m1, m2, x1, x2)
            if np.allclose(found, guess, rtol=1e-9, atol=1e-12, equal_nan=True):
                return Slip(kind, expected, f"{kind}: {cause}", got)
        with np.errstate(all="ignore"):
            divided = right / total, merged(m1, l1, np.divide(acc1, l1), m2, l2, np.divide(acc2, l2))[2]
        if kind == "acc" and any(np.allclose(found, guess, rtol=1e-9) for guess in divided):
            cause = (
                "acc was divided by l. That comes once, when all keys have been seen: a part that is divided cannot be "
                "merged."
            )
            return Slip(kind, expected, cause, got)
        if not np.isfinite(found).all():
            cause = f"{kind} is no number here. An exponent above 700 overflows; -inf - (-inf) and 0 * inf are NaN."
            return Slip(kind, expected, cause, got)
        if np.allclose(found, right, rtol=1e-5, atol=1e-5):
            return Slip(kind, expected, f"{kind}: {NEARLY}", got)
        cause = (
            f"{kind} is off. Take m1 = 0, m2 = 1: by which factor does each exponential of the first part shrink, if "
            "it is to be counted from 1 and not from 0?"
        )
        return Slip(kind, expected, cause, got)
    return None


MERGE = FunctionTask(
    id="11-merge",
    section=Section("11", "11_softmax", "Two parts become one"),
    title="Two parts become one",
    objective="Merge two partial results of a softmax exactly, an empty part included",
    points=2,
    minutes=12,
    judge=judge_merge,
    cases=(
        Case("the second part has the larger score", two_parts(5, 4, (0, 2))),
        Case("the first part has the larger score", two_parts(3, 6, (12, 0))),
        Case("one key each", two_parts(1, 1)),
        Case("the second part is empty", two_parts(5, 0)),
        Case("the first part is empty", two_parts(0, 3)),
        Case("far apart: around 1000 and -1000", two_parts(4, 4, (1000, -1000))),
        Case("both are empty", two_parts(0, 0)),
    ),
    advice={
        "raised-RuntimeWarning": _EMPTY,
        "raised-OverflowError": (
            "The exponent is above 700. exp(score - m) is exp(score - m1) times exp(m1 - m): m1 - m is never above 0. "
            "Or was exp taken of a score itself?"
        ),
        "raised-ZeroDivisionError": "Nothing has to be divided here: l and acc stay sums. Who divides, does it when "
        "all keys have been seen.",
    },
    hints=(
        "A key with score s stands in acc1 as exp(s - m1) * v. As what shall it stand in the result?",
        "Every term of a part gets the same factor, so l and acc get it, too. One factor for each part; for the part "
        "with the larger m it is 1. If m is -inf nothing was seen, and no factor is needed.",
        "Three lines for m and the two factors, a line that returns. Where m is -inf, return early: the difference in "
        "the exponent would be that of two infinities.",
    ),
)
