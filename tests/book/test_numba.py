"""What the book says of numba and no page shows, because it takes seconds to compile."""

import numpy as np
from numba import njit, prange


@njit
def count(labels, counts):
    for label in labels:
        counts[label] += 1


@njit(parallel=True)
def count_reduced(parts):
    counts = np.zeros(10, np.int64)
    for t in prange(parts.shape[0]):
        own = np.zeros(10, np.int64)
        count(parts[t], own)
        counts += own
    return counts


def test_a_whole_array_can_be_a_reduction_variable():
    """Chapter 3, Reductions: `s` may be a whole array. Without the reduction threads would lose counts."""
    labels = np.random.default_rng(0).integers(0, 10, (64, 1 << 14), dtype=np.uint8)
    for _ in range(5):
        np.testing.assert_array_equal(count_reduced(labels), np.bincount(labels.ravel()))
