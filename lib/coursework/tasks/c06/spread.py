"""06-spread: From the smallest to the largest."""

import numpy as np

from ...definition import Budget, Section
from ...kinds.kernel import KernelTask
from .shared import EVERYBODY_COMES, ONE_WALKS, SPREAD_SUSPECTS, TOLD_FIRST, WHO_MAY_STORE, by_block, over, spread_case

SPREAD_BY_HAND = (
    "Work out a block of 8 threads by hand: d is 4, then 2, then 1, and in each round the first d threads take in what "
    "lies d places further. Does every number get to place 0, in both trees? And does each block begin at its own "
    "stretch?"
)

SPREAD = KernelTask(
    id="06-spread",
    section=Section("6.3", "06_together", "Rung 2: sequential addressing"),
    title="From the smallest to the largest",
    objective="Write a tree reduction in shared memory with a neutral element, whole warps and a barrier a round",
    points=2,
    minutes=18,
    spec=by_block(np.ptp),
    tell_first=TOLD_FIRST,
    cases=(
        spread_case("one block, exact", 128, 3),
        spread_case("exact", 384, -3),
        spread_case("ragged, all positive", 200, 3),
        spread_case("ragged, all negative", 290, -3),
    ),
    writer=lambda index, case: (index[0], 0),
    suspects=SPREAD_SUSPECTS,
    advice={
        "race": (
            "Two threads use one place, and no barrier lies between the two. Is it out? There one thread of a block is "
            "enough. Is it shared memory? After the tree is filled, and after each round, the next readers have to "
            "wait for all who store."
        ),
        "divergent-barrier": EVERYBODY_COMES,
        "barrier-after-exit": EVERYBODY_COMES,
        "uninitialised-shared": (
            "A place of shared memory is read that nobody stored. A thread without an element has to put in something, "
            "too: what changes neither the largest number nor the smallest?"
        ),
        "out-of-bounds": (
            "An index left its array. The last stretch of x may be short; and in a round a thread reads the place t + "
            "d, which must lie in the tree: which d comes first, and which threads take part?"
        ),
        "none-beyond": "Here every thread has an element. In a round a thread reads the place t + d, which must lie in "
        "the tree.",
        "two-writers": WHO_MAY_STORE,
        "one-block": "Only block 0 stored. out has a place for each block: which number is it?",
        "not-finite": "An infinite number is left over: did the threads' own numbers get into both trees, and did all "
        "rounds take place?",
        **dict.fromkeys(("wrong-value", "precision"), SPREAD_BY_HAND),
    },
    budget=Budget(
        points=1,
        text="at most 8 barriers, no bank conflict, and for n = 256 48 store and 100 load requests to shared memory, "
        "16 load requests to global memory",
        require={
            "barriers": 8,
            "bank_ways": 1,
            "shared_store_requests": 48,
            "shared_load_requests": 100,
            "atomics": 0,
            "global_load_requests": 16,
        },
        over="The result is right, but it costs more than a tree whose rounds are made by whole warps.",
        causes=(
            (
                over("atomics"),
                "The result is right, but threads go one after the other through an atomic operation. In a tree, half "
                "of them work at the same time.",
            ),
            (
                over("bank_ways"),
                "The result is right, but lanes of a warp meet in a bank: their places lie 2, 4, 8 ... words apart. "
                "Let neighbouring threads take neighbouring places, and the distance to the partner change from round "
                "to round.",
            ),
            (
                over("shared_store_requests"),
                "The result is right, but more warps take part than the work needs. Are the threads that work in a "
                "round spread over all warps? Then each warp goes through the round for a few lanes. The threads that "
                "work should be the first ones.",
            ),
            (
                over("shared_load_requests"),
                "The result is right, but shared memory is read more often than a tree of seven rounds needs. Does one "
                "thread read everything, while the others wait?",
            ),
            (
                over("barriers"),
                "The result is right, with more barriers than a tree of 128 numbers needs: one when it is filled, and "
                "one for each of seven rounds.",
            ),
            (over("global_load_requests"), ONE_WALKS),
        ),
        case=spread_case("exact", 256, 1),
    ),
    hints=(
        "Eight numbers, four threads: how do you find the largest in three rounds? And why not the smallest in the "
        "same rounds?",
        "Two shared arrays of 128 numbers, which begin alike. In a round with distance d the first d threads take in "
        "what lies d places further: the larger one in the one array, the smaller one in the other. d is 64, 32, and "
        "so on. A barrier belongs between two rounds, for all.",
        "A thread without an element may put in any element of its block's stretch once more. The loop over d goes "
        "through seven numbers, halving; in it the work under an `if t < d`, and the barrier outside of that `if`. "
        "Thread 0 has both results in place 0.",
    ),
)
