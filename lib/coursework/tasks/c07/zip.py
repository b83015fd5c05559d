"""07-zip: The larger of two, element by element."""

import numpy as np

from ...definition import Case, Section, random_values, unwritten
from ...kinds.arrays import Suspect
from ...kinds.kernel import KernelTask


def two_lines(n):
    """make(rng) -> a, b, out of shape (n,)."""
    return lambda rng: (random_values(rng, n), random_values(rng, n), unwritten(n))


ZIP = KernelTask(
    id="07-zip",
    section=Section("7", "07_vector_add", "The same job on a GPU"),
    title="The larger of two, element by element",
    objective="Write a kernel in which each thread of one block computes one element",
    points=1,
    minutes=6,
    spec=lambda a, b, out: np.maximum(a, b),
    cases=(
        Case("one block of a warp: n = 32", two_lines(32), grid=1, block=32),
        Case("ragged: n = 7 in 1 block of 7", two_lines(7), grid=1, block=7),
        Case("not exact warps: n = 200 in 1 block of 200", two_lines(200), grid=1, block=200),
    ),
    suspects=(
        Suspect(lambda a, b, out: a, "This is a alone: b was never larger."),
        Suspect(lambda a, b, out: b, "This is b alone: a was never larger."),
        Suspect(lambda a, b, out: a + b, "This is a + b. The larger one of the two is asked for."),
        Suspect(lambda a, b, out: np.minimum(a, b), "This is the smaller one of the two."),
        Suspect(lambda a, b, out: np.maximum(a, 0), "This is ReLU of a. The other number is that of b."),
    ),
    advice={
        "none-beyond": "There are as many threads as elements here. Count from 0: the last index is out.size - 1.",
        "race": "Each thread has one element, its own. Does every thread of this kernel walk over all of them?",
        "raised-TypeError": "a and b are arrays. Compare the elements of this thread, a[i] and b[i].",
    },
    hints=(
        "The block has one thread for each element. What tells two threads apart?",
        "cuda.threadIdx.x is 0 in the first thread of the block, 1 in the second. No loop is needed: the threads are "
        "the loop.",
        "Take the number of the thread as i. Then one line: Python's max takes two numbers, and numba knows it.",
    ),
)
