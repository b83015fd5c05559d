"""03-largest: A reduction that numba does not know."""

import numpy as np

from ...definition import Case, Section, random_values
from ...kinds.arrays import Suspect
from ...kinds.parallel import ParallelTask, Watch


def largest_arguments(n, kind="random"):
    def make(rng):
        x = random_values(rng, n, dtype=np.float64)
        if kind == "ties":
            x = np.round(2 * x)
        elif kind == "negative":
            x = -1 - np.abs(x)
        elif kind == "last":
            x[-1] = 5
        return x, np.full(1, -1)

    return make


LARGEST = ParallelTask(
    id="03-largest",
    section=Section("3", "03_numba_parallel", "Reductions"),
    title="A reduction that numba does not know",
    objective="Write a reduction with private results and a last step on one thread",
    points=4,
    minutes=15,
    spec=lambda x, where: np.full(1, np.argmax(x)),
    watch=Watch(outside=0.9),  # the largest number may be found first, and then one thread looks for its place
    cases=(
        Case("64 numbers, many of them equal", largest_arguments(64, "ties")),
        Case("one number", largest_arguments(1)),
        Case("997 numbers", largest_arguments(997)),
        Case("100 negative numbers", largest_arguments(100, "negative")),
        Case("the largest is the last of 1001", largest_arguments(1001, "last")),
    ),
    suspects=(
        Suspect(
            lambda x, where: np.full(1, len(x) - 1 - np.argmax(x[::-1])),
            "This is the last of the largest elements; np.argmax gives the first. Which comparison keeps the earlier "
            "one?",
        ),
        Suspect(
            lambda x, where: np.full(1, np.argmin(x)),
            "This is the smallest element. If you compared absolute values: signs count, -3 is smaller than 1.",
        ),
        Suspect(
            lambda x, where: np.zeros(1, int),
            "Index 0: no element was found larger than the starting value. With which value does the comparison begin? "
            "(If you stored x[...] itself: its place is asked for.)",
        ),
        Suspect(lambda x, where: np.full(1, int(x.max())), "This is the largest element itself, not its place."),
    ),
    advice={
        "wrong-value": (
            "The candidates of all threads must be compared, by their elements x[place], in the order of the parts, "
            "and of equal ones the first stays. A place counts from the beginning of x, not of a part; the parts must "
            "cover all of x."
        ),
        "race": (
            "Iterations of the prange loop write to the same element. Let each thread write only to its own element of "
            "an array, and compare these few candidates after the loop."
        ),
        "carried-scalar": (
            "numba makes a reduction of name += ..., and of max and min. A name that is compared and then set is none: "
            "every iteration would need what the one before it left. Use one candidate for each thread."
        ),
        "raised-TypingError": (
            "A name that is set inside the prange loop and used by later iterations cannot be compiled here: it is no "
            "reduction that numba knows. Keep one candidate for each thread in an array."
        ),
    },
    hints=(
        "numba knows sum, product, max and min. Here you need the place of the maximum. Could each thread find its "
        "own?",
        "An array of one candidate index for each thread. The loop over t is the prange loop; inside it, an ordinary "
        "loop over the part of thread t. Then an ordinary loop over the candidates.",
        "A candidate begins at the first element of its part. Which comparison keeps the first of equal elements: > or "
        ">=? Behind the inner loop each thread stores its candidate at its own place; in which order must the "
        "candidates be compared at the end?",
    ),
)
