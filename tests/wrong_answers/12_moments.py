"""Answers to 12-moments."""

import numpy as np
from answers import MASTER, cut, edit, replace


def two_passes(parts):
    """right"""
    count = sum(n for n, _, _ in parts)
    mean = sum(n * m for n, m, _ in parts) / max(count, 1)
    return count, mean, sum(s + n * (m - mean) ** 2 for n, m, s in parts)


def around_the_first_mean(parts):
    """right"""
    n, m, s = np.array(parts, float).T
    count = n.sum()
    if not count:
        return 0, 0.0, 0.0
    base = m[n > 0][0]
    off = m - base
    away = (n * off).sum() / count
    return int(count), base + away, (s + n * (off - away) ** 2).sum()


def mean_of_means(parts):
    """wrong unweighted: weigh each mean by its count"""
    n, m, s = np.array(parts).T
    mean = m.mean()
    return n.sum(), mean, (s + n * (m - mean) ** 2).sum()


def inside_only(parts):
    """wrong inside-only: adds its count times the square"""
    count, mean, _ = two_passes(parts)
    return count, mean, sum(s for _, _, s in parts)


def between_only(parts):
    """wrong between-only: Those inside each part are missing"""
    count, mean, _ = two_passes(parts)
    return count, mean, sum(n * (m - mean) ** 2 for n, m, _ in parts)


def not_by_its_count(parts):
    """wrong no-count: once for each of its numbers"""
    count, mean, _ = two_passes(parts)
    return count, mean, sum(s + (m - mean) ** 2 for n, m, s in parts if n)


def by_squares(parts):
    """wrong cancelled: square the difference"""
    count, mean, _ = two_passes(parts)
    return count, mean, sum(s + n * m * m for n, m, s in parts) - count * mean * mean


def unbiased(parts):
    """wrong divided: This is the variance"""
    count, mean, squares = two_passes(parts)
    return count, mean, squares / max(count - 1, 1)


variance = edit(unbiased, "wrong divided: This is the variance", replace("count - 1", "count"))


def deviation(parts):
    """wrong divided: not divided, and no root"""
    count, mean, squares = two_passes(parts)
    return count, mean, (squares / max(count, 1)) ** 0.5


def divides_by_nothing(parts):
    """wrong raised-ZeroDivisionError: do not divide by a count that can be 0"""
    count = sum(n for n, _, _ in parts)
    mean = sum(n * m for n, m, _ in parts) / count
    return count, mean, sum(s + n * (m - mean) ** 2 for n, m, s in parts)


def nothing_is_nan(parts):
    """wrong empty: do not divide by a count that can be 0"""
    n, m, s = np.array(parts).T
    with np.errstate(invalid="ignore"):
        mean = (n * m).sum() / n.sum()
    return n.sum(), mean, (s + n * (m - mean) ** 2).sum()


half = edit(MASTER, "wrong mean: sum of count * mean", replace("mean += off * n / both", "mean += off / 2"))
forgets_the_count = edit(MASTER, "wrong count: are added up", cut("count = both"))
one_part = edit(MASTER, "wrong count: are added up", replace("return count, mean, squares", "return n, m, s"))


def no_squares(parts):
    """wrong type: Return three numbers"""
    return two_passes(parts)[:2]


def a_text(parts):
    """wrong type: Return three numbers"""
    return tuple(str(x) for x in two_passes(parts))


def an_array(parts):
    """right"""
    return np.array(two_passes(parts))
