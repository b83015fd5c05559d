"""06-keep: Keep what is positive, in its order."""

import numpy as np

from ...definition import Budget, Case, Section, random_values, unwritten
from ...kinds.arrays import Suspect
from ...kinds.kernel import KernelTask
from .shared import EVERYBODY_COMES, NOTHING, SHUFFLES_TOO, over


def keep_case(name, n, threads, share=0.5):
    """x (n,), of which about `share` is above 0; out (n,); one block."""

    def make(rng):
        x = np.abs(random_values(rng, n))
        return np.where(rng.random(n) < share, x, -x).astype(np.float32), unwritten(n)

    return Case(f"{name}: n = {n} in 1 block of {threads}", make, 1, threads)


def kept(x, size=None):
    """What is above 0, in its order, and zeros."""
    found = x[x > 0].astype(np.float64)
    return np.concatenate([found, np.zeros(len(x) - len(found))])


def _by_warps(x, out):
    """Each warp begins at place 0 again, and the last one that stores wins; zeros behind what all of them kept."""
    found = np.zeros(len(x))
    for k in range(0, len(x), 32):
        stretch = x[k : k + 32]
        stretch = stretch[stretch > 0]
        found[: len(stretch)] = stretch
    return found


KEEP = KernelTask(
    id="06-keep",
    section=Section("6.4", "06_branches", "Warp votes"),
    title="Keep what is positive, in its order",
    objective="Write a compaction: places from a vote in each warp, and a scan over the warps' counts",
    points=3,
    minutes=24,
    spec=lambda x, out: kept(x),
    tell_first=("divergent-barrier", "divergent-warp-operation", "barrier-after-exit", "uninitialised-shared"),
    cases=(
        keep_case("one block, exact, one warp", 32, 32),
        keep_case("exact", 128, 128),
        keep_case("ragged", 100, 128),
        keep_case("ragged, nearly all", 250, 256, 0.9),
    ),
    writer=lambda index, case: (0, index[0]),
    suspects=(
        Suspect(
            lambda x, out: np.maximum(x, 0),
            "The positive numbers stayed where they were. They shall move together, to the front.",
        ),
        Suspect(lambda x, out: kept(-x) * -1, "The negative numbers were kept."),
        Suspect(
            lambda x, out: np.concatenate([kept(x)[(x > 0).sum() :], kept(x)[: (x > 0).sum()]]),
            "The zeros come first. They belong behind the numbers.",
        ),
        Suspect(
            _by_warps,
            "Every warp began at place 0 again. Which place does the first positive number of warp 1 get, and how does "
            "the warp know?",
        ),
        Suspect(
            lambda x, out: (
                np.concatenate([kept(x)[(x > 0).sum() - 1 :: -1], np.zeros((x <= 0).sum())])
                if (x > 0).any()
                else NOTHING
            ),
            "The order is turned round: a place counts the positive numbers before it, not behind it.",
        ),
    ),
    advice={
        "race": (
            "Is it a count of a warp? Between storing and reading it a barrier has to come. Is it a place of out? That "
            "is the place of one thread: how many positive numbers come before its own, in its warp and in all warps "
            "before?"
        ),
        "divergent-barrier": f"{EVERYBODY_COMES} {SHUFFLES_TOO.replace('Shuffles', 'Votes')}",
        "barrier-after-exit": f"{EVERYBODY_COMES} {SHUFFLES_TOO.replace('Shuffles', 'Votes')}",
        "divergent-warp-operation": "The lanes of a warp do not come to the same vote. "
        f"{SHUFFLES_TOO.replace('Shuffles', 'Votes')}",
        "uninitialised-shared": (
            "A count is read that nobody has stored by then. One lane of each warp stores the warp's count: is there a "
            "barrier before others read it? And a launch may have fewer warps than the array has places: how many has "
            "this one?"
        ),
        "out-of-bounds": (
            "An index left its array. A thread beyond the end of x has no number: it votes, and says no. Is the place "
            "counted right? Behind the last number of out there is none."
        ),
        "none-beyond": (
            "Each thread has a number here. Is its place counted right? It is the number of positive numbers before "
            "it: none for the first."
        ),
        "one-block": "Only the first places were stored: do the other warps know how many numbers come before theirs?",
        "tail": "The places behind the kept numbers hold anything before. Who stores the zeros there? How many are "
        "kept in all?",
        "some-unwritten": (
            "Some places were never stored. Those below the number of all that are kept get a number, those from there "
            "on a 0: do both groups know that number?"
        ),
        "gaps-in-one-block": (
            "Some places were never stored. Those below the number of all that are kept get a number, those from there "
            "on a 0: do both groups know that number?"
        ),
        "head": "The first places were never stored. How many positive numbers come before the first one?",
        "wrong-value": (
            "Take the first warp by hand: votes of lanes 0 to 4 are 1, 0, 1, 1, 0, say. Lane 3 gets place 2: which "
            "bits of the votes count? And what is added for the warps before?"
        ),
    },
    budget=Budget(
        points=1,
        text="one barrier, no atomics, for 256 threads at most 8 store requests to shared memory and 128 that load, "
        "and one load of each element",
        require={
            "barriers": 1,
            "atomics": 0,
            "shared_store_requests": 8,
            "shared_load_requests": 128,
            "global_load_requests": 8,
        },
        over=(
            "The result is right, but it costs more than a vote and a count for each warp. The votes of 32 lanes come "
            "as one number, and its bits tell each lane its place: shared memory need hold one number for each warp."
        ),
        causes=(
            (
                over("atomics"),
                "The result is right, but threads go one after the other through an atomic operation. A vote needs "
                "none.",
            ),
            (
                lambda rows: {o.name for o in rows} == {"global_load_requests"},
                "The result is right, but x is loaded more than once. What a thread has loaded can stay in a variable. "
                "Or does one thread do it all?",
            ),
            (
                lambda rows: {o.name for o in rows} <= {"barriers", "shared_store_requests"},
                "The result is right, with more than one barrier, or more stores than one for each warp. When the "
                "counts of all warps are stored, each thread can add up what it needs.",
            ),
        ),
        case=keep_case("exact", 256, 256),
    ),
    hints=(
        "Where does a kept number go? What must its thread know of the numbers before it? What of that does its own "
        "warp know, and what not?",
        "cuda.ballot_sync gives each lane the votes of its whole warp as one number, bit k for lane k. The bits below "
        "a lane's own are the lanes before it; cuda.popc counts them. One number for each warp goes through shared "
        "memory: how many it keeps.",
        "A mask with as many ones as there are lanes before lane l picks their bits: a power of two, less 1, is such a "
        "number. The first lane of each warp stores popc of all votes; one barrier; then every thread goes through the "
        "counts: those of the warps before its own belong to its place, those of all warps make the number from which "
        "on zeros stand.",
    ),
)
