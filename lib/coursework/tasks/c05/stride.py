"""05-stride: A share for each thread."""

import numpy as np

from ...definition import Budget, Case, Section, random_values, unwritten
from ...kinds.arrays import Suspect
from ...kinds.kernel import KernelTask


def share_arguments(n, threads):
    """make(rng) -> x of shape (n,), partial with a place for each thread."""
    return lambda rng: (random_values(rng, n), unwritten(threads))


def shares(x, threads, offset=0):
    """What each thread adds up: x[t], x[t + threads], ..."""
    return np.array([x[offset + t :: threads].sum(dtype=np.float64) for t in range(threads)])


def _pieces(x, partial):
    """Sums of pieces that lie together."""
    length = -(-len(x) // len(partial))
    return [x[t * length : (t + 1) * length].sum(dtype=np.float64) for t in range(len(partial))]


STRIDE = KernelTask(
    id="05-stride",
    section=Section("5", "05_threads", "Grid-stride loops"),
    title="A share for each thread",
    objective="Write a grid-stride loop that keeps its sum in a register, for any grid and any length",
    points=2,
    minutes=15,
    spec=lambda x, partial: shares(x, len(partial)),
    rtol=1e-4,
    atol=1e-5,
    cases=(
        Case("one block: n = 100 in 1 block of 32", share_arguments(100, 32), grid=1, block=32),
        Case("exact: n = 512 in 2 blocks of 64", share_arguments(512, 128), grid=2, block=64),
        Case("ragged: n = 1000 in 3 blocks of 64", share_arguments(1000, 192), grid=3, block=64),
        Case("more threads than elements: n = 40 in 2 blocks of 32", share_arguments(40, 64), grid=2, block=32),
    ),
    suspects=(
        Suspect(
            lambda x, partial: np.concatenate([x[: len(partial)], np.zeros(max(len(partial) - len(x), 0))]),
            "This is the first element of each thread alone. A thread goes on, by as many elements as there are "
            "threads in the grid, to the end of x, not of partial.",
        ),
        Suspect(
            lambda x, partial: [x[t:].sum(dtype=np.float64) for t in range(len(partial))],
            "Each thread added up everything from its own element on: the step is 1. A thread goes on by the number of "
            "threads in the grid; cuda.gridDim.x counts blocks.",
        ),
        Suspect(
            _pieces,
            "Each thread added up elements that lie together. Thread t takes x[t], and goes on by the number of "
            "threads in the grid.",
        ),
        Suspect(
            lambda x, partial: np.full(len(partial), x.sum(dtype=np.float64)),
            "Each thread added up all of x: its share is asked for.",
        ),
        Suspect(
            lambda x, partial: [x[t::64].sum(dtype=np.float64) for t in range(len(partial))],
            "The step is 64, whatever the grid. Where there are several blocks, elements are added up in each of them.",
        ),
        Suspect(
            lambda x, partial: [x[t::32].sum(dtype=np.float64) for t in range(len(partial))],
            "The step is that of one block of 32. Where there are several blocks, elements are added up in each of "
            "them.",
        ),
        Suspect(
            lambda x, partial: [x[t : len(x) - 1 : len(partial)].sum(dtype=np.float64) for t in range(len(partial))],
            "The last element of x is missing. Where does range end?",
        ),
        Suspect(
            lambda x, partial: shares(x, len(partial)) - np.pad(x[: len(partial)], (0, max(len(partial) - len(x), 0))),
            "The first element of each share is missing. Where does the loop start?",
        ),
        Suspect(
            lambda x, partial: [x[t :: len(partial)][-1:].sum() for t in range(len(partial))],
            "This is the last element of each share: the sum was replaced, not added to.",
        ),
    ),
    advice={
        "out-of-bounds": "The loop must end before the end of x: its bound is x.size. And partial has one place for "
        "each thread.",
        "none-beyond": "The loop must end before the end of x: its bound is x.size.",
        "one-block": "Only the places of block 0 were written. Which thread of the whole grid am I?",
        "two-writers": "Two threads store to one place of partial. A thread's own place is its number in the whole "
        "grid.",
        "race": "Two threads store to one place. Does each thread go over all of partial? The threads are that loop: "
        "each stores one sum.",
        "adds-to-old": "partial holds anything before, and a sum that begins there is no sum. Begin with 0, in a "
        "variable.",
        "tail": "Threads without an element have an empty share: its sum is 0, and it must be stored, too.",
        "first-round-only": "Each thread of the grid has a place of partial, whether x is longer or shorter than the "
        "grid.",
        "wrong-value": (
            "Write down which elements thread 1 of block 1 adds up. It begins at its number in the whole grid, and "
            "goes on by the number of threads in the whole grid."
        ),
        "raised-TypeError": "Here the grid has one dimension: cuda.grid(1) and cuda.gridsize(1) are single numbers.",
    },
    budget=Budget(
        points=1,
        text="one load of each element, and one store for each thread: 16 load requests and 4 store requests",
        require={"global_load_requests": 16, "global_store_requests": 4},
        over=(
            "The sums are right, but memory is asked more often than once for an element: is partial loaded and stored "
            "in each round? A variable of the thread lies in a register."
        ),
        case=Case("n = 512 in 2 blocks of 64", share_arguments(512, 128), grid=2, block=64),
    ),
    hints=(
        "With 192 threads and 1000 elements: which elements does thread 5 add up? How do you say that with range?",
        "A start, an end and a step: the number of this thread in the grid, the length of x, the number of threads in "
        "the grid. The sum is a variable until the loop has ended.",
        "Before the loop a sum of 0. The loop has one line. The store comes behind the loop, outside of it, and needs "
        "no guard: partial has a place for every thread.",
    ),
)
