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


smaller_half = edit(
    MASTER, "wrong halving: the larger half goes on", replace("(len(runners) + 1) // 2", "max(1, len(runners) // 2)")
)
taken_again = edit(MASTER, "wrong halving: only what is new counts", replace("* (more - seen)", "* more"))
the_last_sample = edit(
    MASTER, "wrong halving: not by the last one", replace("samples[i, :seen]", "samples[i, seen - 1 : seen]")
)
no_more_samples = edit(MASTER, "wrong halving: those get twice as many", replace("2 * seen", "seen"))
at_once = edit(MASTER, "wrong halving: half of the candidates go on", replace("(len(runners) + 1) // 2", "1"))
the_slowest = edit(
    MASTER,
    "wrong halving: less is better",
    replace("(np.median(samples[i, :seen]), i)", "(-np.median(samples[i, :seen]), i)"),
)
the_winner_alone = edit(
    MASTER, "wrong type: two whole numbers", replace("return runners[0], taken", "return runners[0]")
)
one_too_many = edit(
    MASTER, "wrong samples: The winner is right", replace("return runners[0], taken", "return runners[0], taken + 1")
)


def exhaustive(samples):
    """wrong halving: this is an exhaustive search"""
    return int(np.argmin(np.median(samples, axis=1))), samples.size if len(samples) > 1 else 1


rows_too_short = edit(
    MASTER,
    "wrong raised-IndexError: take those that are there",
    replace("more = min(2 * seen, samples.shape[1])", "more = 2 * seen\nsamples[0, more - 1]"),
)
