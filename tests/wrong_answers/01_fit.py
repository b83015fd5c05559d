"""Answers to 01-fit."""

import math
import statistics

import numpy as np
from answers import edit, replace


def _fit(workers, seconds):
    b, a = np.polyfit(1 / np.array(workers), seconds, 1)
    return float(a), float(b)


def _rejected(workers, runs, a, b):
    return any(not min(t) <= a + b / n <= max(t) for n, t in zip(workers, runs, strict=True))


def by_hand(workers, runs):
    """right"""
    x = [1 / n for n in workers]
    y = [sorted(t)[len(t) // 2] for t in runs]
    mx, my = math.fsum(x) / len(x), math.fsum(y) / len(y)
    b = math.fsum((p - mx) * (q - my) for p, q in zip(x, y, strict=True)) / math.fsum((p - mx) ** 2 for p in x)
    a = my - b * mx
    line = [a + b * p for p in x]
    holds = all(min(t) <= said and said <= max(t) for t, said in zip(runs, line, strict=True))
    return a / (a + b) if holds else None


def with_lstsq(workers, runs):
    """right"""
    matrix = np.stack([np.ones(len(workers)), 1 / np.array(workers)], axis=1)
    a, b = np.linalg.lstsq(matrix, np.array([np.median(t) for t in runs]), rcond=None)[0]
    return None if _rejected(workers, runs, a, b) else float(a / (a + b))


def never_rejects(workers, runs):
    """wrong accepted: No share describes that"""
    a, b = _fit(workers, [statistics.median(t) for t in runs])
    return a / (a + b)


def always_rejects(workers, runs):
    """wrong rejected: nothing speaks against it"""
    return None


def exactly_through_the_medians(workers, runs):
    """wrong rejected: nothing speaks against it"""
    middle = [statistics.median(t) for t in runs]
    a, b = _fit(workers, middle)
    return a / (a + b) if all(a + b / n == m for n, m in zip(workers, middle, strict=True)) else None


means = edit(never_rejects, "wrong mean: take medians", replace("median", "mean"))
fastest_runs = edit(never_rejects, "wrong fastest: lucky ones", replace("statistics.median", "min"))


def all_runs(workers, runs):
    """wrong mean: take medians first"""
    a, b = _fit([n for n, t in zip(workers, runs, strict=True) for _ in t], [x for t in runs for x in t])
    return a / (a + b)


parallel_share = edit(never_rejects, "wrong parallel: that can be divided", replace("return a", "return b"))


def in_seconds(workers, runs):
    """wrong seconds: of the time with one worker"""
    return _fit(workers, [statistics.median(t) for t in runs])[0]


a_over_b = edit(never_rejects, "wrong share: the time is a + b", replace("(a + b)", "b"))


def a_line_in_n(workers, runs):
    """wrong against-n: fit against 1 / n"""
    b, a = np.polyfit(np.array(workers), [statistics.median(t) for t in runs], 1)
    return float(a / (a + b))


def first_and_last(workers, runs):
    """wrong two-points: Fit all of them"""
    a, b = _fit([workers[0], workers[-1]], [statistics.median(runs[0]), statistics.median(runs[-1])])
    return a / (a + b)


def in_per_cent(workers, runs):
    """wrong percent: That is in per cent"""
    a, b = _fit(workers, [statistics.median(t) for t in runs])
    return None if _rejected(workers, runs, a, b) else 100 * a / (a + b)


clipped = edit(in_per_cent, "wrong clipped: Do not hide it", replace("100 * a / (a + b)", "max(0.0, a / (a + b))"))


def a_text(workers, runs):
    """wrong type: as a float, or None"""
    return "about a fifth"


def one_line_for_all(workers, runs):
    """wrong raised-TypeError: a list of times"""
    return runs[0] / runs[1]


def makes_its_own_runs(workers, runs):
    """wrong input-changed: The caller still needs its list"""
    for times in runs:
        times[:] = [1.0]
    return 1.0
