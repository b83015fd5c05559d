"""Answers to 01-fit."""

import numpy as np


def with_lstsq(workers, seconds):
    """right"""
    columns = np.stack([np.ones(len(workers)), 1 / np.array(workers)], axis=1)
    (a, b), *_ = np.linalg.lstsq(columns, np.array(seconds), rcond=None)
    return float(a / (a + b))


def by_hand(workers, seconds):
    """right"""
    x = [1 / n for n in workers]
    mx, my = sum(x) / len(x), sum(seconds) / len(x)
    b = sum((u - mx) * (v - my) for u, v in zip(x, seconds, strict=True)) / sum((u - mx) ** 2 for u in x)
    a = my - b * mx
    return a / (a + b)


def _line(workers, seconds):
    b, a = np.polyfit(1 / np.array(workers), seconds, 1)
    return float(a), float(b)


def in_seconds(workers, seconds):
    """wrong seconds: of the time with one worker"""
    return _line(workers, seconds)[0]


def the_parallel_share(workers, seconds):
    """wrong parallel: the share that can be divided"""
    a, b = _line(workers, seconds)
    return b / (a + b)


def over_b(workers, seconds):
    """wrong share: With one worker"""
    a, b = _line(workers, seconds)
    return a / b


def first_and_last(workers, seconds):
    """wrong two-points: Fit all of them"""
    ratio, n = seconds[-1] / seconds[0], workers[-1]
    return (ratio - 1 / n) / (1 - 1 / n)


def against_workers(workers, seconds):
    """wrong against-n: a line in 1 / n"""
    b, a = np.polyfit(workers, seconds, 1)
    return float(a / (a + b))


def clipped(workers, seconds):
    """wrong clipped: Do not hide it"""
    a, b = _line(workers, seconds)
    return min(max(a / (a + b), 0), 1)


def mean_of_each(workers, seconds):
    """wrong near: by least squares of the times"""
    shares = [(t / seconds[0] - 1 / n) / (1 - 1 / n) for n, t in zip(workers, seconds, strict=True) if n > 1]
    return sum(shares) / len(shares)


def as_text(workers, seconds):
    """wrong type: Return the share as a float"""
    a, b = _line(workers, seconds)
    return f"{a / (a + b):.1%}"
