"""06-histogram: A histogram with more bins than threads."""

import numpy as np

from ...definition import Budget, Case, Section
from ...kinds.arrays import Suspect
from ...kinds.kernel import KernelTask
from .shared import EVERYBODY_COMES, NOTHING, TOLD_FIRST, over

BINS = 50


def bins_case(name, n, blocks):
    """x (n,) int32 with a few values outside of the bins, counts (BINS,) int32, zeros."""
    return Case(
        f"{name}: n = {n} in {blocks} block{'s' * (blocks > 1)} of 32",
        lambda rng: (rng.integers(-3, BINS + 3, n).astype(np.int32), np.zeros(BINS, np.int32)),
        blocks,
        32,
    )


def _bins(x):
    return np.bincount(x[(x >= 0) & (x < BINS)], minlength=BINS)


NOT_BROUGHT = (
    "Some bins of counts stayed 0. Does the block bring what it has counted to counts, and all 50 bins of it? A block "
    "has 32 threads: which of them brings bin 40?"
)

HISTOGRAM = KernelTask(
    id="06-histogram",
    section=Section("6.4", "06_branches", "One for each block"),
    title="A histogram with more bins than threads",
    objective="Write a histogram that counts in shared memory and goes to global memory once for each bin",
    points=2,
    minutes=21,
    spec=lambda x, counts: _bins(x),
    tell_first=TOLD_FIRST,
    cases=(
        bins_case("one block, exact", 32, 1),
        bins_case("exact", 256, 4),
        bins_case("ragged", 333, 3),
        bins_case("more threads than elements", 10, 2),
    ),
    suspects=(
        Suspect(
            lambda x, counts: np.bincount(np.clip(x, 0, BINS - 1), minlength=BINS),
            "Values below 0 or above 49 were counted in the first and the last bin. They belong to none.",
        ),
        Suspect(
            lambda x, counts: np.bincount(x % BINS, minlength=BINS),
            "Values outside of 0 to 49 were counted in some other bin, by their rest. They belong to none.",
        ),
        Suspect(
            lambda x, counts: _bins(x) * (_bins(x) < 2) + (_bins(x) > 1),
            "No count is above 1: what stood there was replaced, not added to.",
        ),
        *(
            Suspect(
                lambda x, counts, k=k: _bins(x[: 32 * k]) if len(x) > 32 * k else NOTHING,
                "Each thread counted one element. There are more elements than threads in the grid: a thread goes on "
                "by the number of threads in the grid.",
            )
            for k in (1, 2, 3, 4)
        ),
        *(
            Suspect(
                lambda x, counts, k=k: k * _bins(x),
                "Each element was counted several times, once by every block. Which elements does block b begin with?",
            )
            for k in (2, 3, 4)
        ),
    ),
    advice={
        "race": (
            "Two threads change one count at the same time: both read it, both add 1 to the same number, and one "
            "addition is lost. Which operation reads, adds and writes without letting anybody in between?"
        ),
        "atomic-against-plain": (
            "A thread counts in a bin which another one sets to 0, or reads to bring it to counts, and no barrier lies "
            "between the two. Set to 0, count, bring away: everybody waits after each of the first two."
        ),
        "divergent-barrier": EVERYBODY_COMES,
        "barrier-after-exit": EVERYBODY_COMES,
        "uninitialised-shared": (
            "A bin in shared memory holds anything at first. All 50 of them need a 0, and a block has 32 threads: "
            "which thread sets bin 40? And is there a barrier before anybody counts?"
        ),
        "out-of-bounds": (
            "An index left its array. x has n elements, the bins are 0 to 49, and some values of x belong to no bin: "
            "ask both ways before you count."
        ),
        "none-beyond": "Every thread has an element here. Some values of x lie above 49, and belong to no bin.",
        "negative-index": "A value of x below 0 belongs to no bin. Python would count from the end; here it is an "
        "error.",
        "two-writers": "Several blocks bring their counts to the same bins of counts. There, too, an addition must not "
        "be lost.",
        **dict.fromkeys(("nothing-written", "some-unwritten", "gaps-in-one-block", "tail"), NOT_BROUGHT),
        "wrong-value": (
            "Work out bin 0 by hand. Is each element of x counted by one thread of the grid? And does each block bring "
            "its bins to counts, added to what others have brought?"
        ),
        "scaled": "Every count is too large by the same factor. Does every block count all of x?",
    },
    budget=Budget(
        points=1,
        text="at most 4 atomic requests to global memory, and 32 loads, for n = 1024 in 2 blocks",
        require={"global_atomic_requests": 4, "global_load_requests": 32, "global_store_requests": 0},
        over=(
            "The histogram is right, but global memory is asked more often than once for each element and once for "
            "each bin of a block. Where does a block count, and when does it bring its counts away?"
        ),
        causes=(
            (
                over("global_load_requests"),
                "The histogram is right, but x is asked for more often than once for each warp and round. A value that "
                "is compared and then used as an index can stay in a variable. Or does one thread count everything?",
            ),
        ),
        case=bins_case("exact", 1024, 2),
    ),
    hints=(
        "How many threads of a block may want to count in bin 7 at the same time? And how many blocks?",
        "Three stages, with a barrier between them: the block sets its own bins to 0, it counts its share of x there, "
        "it brings each bin to counts. A block has 32 threads and 50 bins, so the first and the last stage are loops.",
        "All three loops begin at a thread's number and go on by a number of threads: of the block for bins, of the "
        "grid for x. cuda.atomic.add takes an array, an index and what to add: 1 where a thread counts, and in the "
        "last stage what the block has counted.",
    ),
)
