"""Answers to 15-halving."""

import numpy as np
from answers import MASTER, edit, replace


def by_arrays(samples):
    """right"""
    left, seen, taken = np.arange(len(samples)), 1, len(samples)
    while left.size > 1:
        medians = np.array([np.median(samples[i][:seen]) for i in left])
        left = left[np.argsort(medians, kind="stable")][: (left.size + 1) // 2]
        left = np.sort(left)
        if left.size == 1:
            break
        more = min(2 * seen, samples.shape[1])
        taken += left.size * (more - seen)
        seen = more
    return int(left[0]), int(taken)


def exhaustive(samples):
    """wrong halving: this is an exhaustive search"""
    return int(np.argmin(np.median(samples, axis=1))), samples.size if len(samples) > 1 else 1


rows_too_short = edit(
    MASTER,
    "wrong raised-IndexError: take those that are there",
    replace("more = min(2 * seen, samples.shape[1])", "more = 2 * seen\nsamples[0, more - 1]"),
)
