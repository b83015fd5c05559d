"""06-soa: Points apart: from an array of structs to a struct of arrays."""

import numpy as np

from ...definition import Budget, Case, Section, random_values, unwritten
from ...kinds.arrays import Suspect
from ...kinds.kernel import KernelTask
from .shared import THREADS, TOLD_FIRST, blocks_of, over


def apart_case(name, n):
    """points (3 n,), out (3, n)."""
    blocks, where = blocks_of(n, THREADS)
    return Case(
        f"{name}: n = {n} in {where}", lambda rng: (random_values(rng, 3 * n), unwritten(3, n)), blocks, THREADS
    )


def _points(formula):
    """A suspect of the points as a matrix (n, 3)."""
    return lambda points, out: formula(points.reshape(-1, 3))


SOA = KernelTask(
    id="06-soa",
    section=Section("6", "06_memory", "Array of structs, or struct of arrays"),
    title="Points apart: from an array of structs to a struct of arrays",
    objective="Write a kernel that changes the layout of an array on its way through shared memory, in whole sectors",
    points=2,
    minutes=18,
    spec=lambda points, out: points.reshape(-1, 3).T,
    tell_first=TOLD_FIRST,
    cases=(
        apart_case("one block, exact", 64),
        apart_case("exact", 256),
        apart_case("ragged", 100),
        apart_case("few", 5),
    ),
    writer=lambda index, case: (index[1] // THREADS, index[1] % THREADS),
    suspects=(
        Suspect(
            lambda points, out: points.reshape(3, -1),
            "The numbers stand in out in the order in which they were loaded: nothing was sorted. Number k of points "
            "belongs to point k // 3, so in the tile the three numbers of point t lie side by side, the first of them "
            "at 3 * t.",
        ),
        Suspect(_points(lambda p: p.T[::-1]), "The rows of out are exchanged: row 0 is for x, which comes first."),
        Suspect(
            _points(lambda p: np.repeat(p[:, :1].T, 3, 0)),
            "All three rows got x. Which index of shared memory, or of points, changes from row to row?",
        ),
    ),
    advice={
        "race": (
            "A thread reads a number of the tile that another one stores, and nothing makes the threads of all warps "
            "wait: cuda.syncthreads() does; cuda.syncwarp() waits for the 32 threads of one warp. Where must all "
            "threads of the block have come, before any of them reads?"
        ),
        "divergent-barrier": (
            "Some threads of the block wait where others never come. Every thread comes to the barrier, those without "
            "a point too: guard the loads and the stores, not the barrier."
        ),
        "barrier-after-exit": (
            "Some threads had ended when the others waited. Did they return early, or is the barrier in an `if` that "
            "they skip? Threads without a point come to it, too: guard the loads and the stores, not the barrier."
        ),
        "uninitialised-shared": (
            "A place of the tile is read that nobody stored. A block has three times as many numbers as threads: does "
            "each thread store three? And does a thread without a point read?"
        ),
        "out-of-bounds": (
            "An index left its array. A block of 64 points has 192 numbers, so the tile needs as many places; and the "
            "last block has fewer points: which number of points, and which point of out, is still there?"
        ),
        "two-writers": "Two blocks store the same points. Which point is the first one of a block?",
        "wrong-value": (
            "Work out block 1 by hand: its first number is number 192 of points, x of point 64. Which place of the "
            "tile does it get, and which thread stores it?"
        ),
    },
    budget=Budget(
        points=1,
        text="whole sectors both ways (at most 4 for a request, 192 in all for 256 points), and no bank conflict",
        require={"sectors_per_request": 4, "sectors": 192, "bank_ways": 1},
        over="The result is right, but sectors are moved more than once. Each number of points is loaded once, and "
        "each of out stored once.",
        causes=(
            (
                lambda rows: any(o.name == "sectors_per_request" and o.kind == "load" for o in rows),
                "The result is right, but neighbouring lanes load numbers that are 12 bytes apart, so that a request "
                "touches three times the sectors it should. Let the lanes load neighbours, whichever points they "
                "belong to, and let the tile sort them.",
            ),
            (
                over("sectors_per_request"),
                "The result is right, but the lanes store into several rows of out at a time. Neighbouring lanes "
                "should store neighbours of one row: the tile has them all.",
            ),
            (
                over("bank_ways"),
                "The result is right, but lanes meet in a bank of shared memory. Which words of the tile do "
                "neighbouring lanes touch? A step of 3 words meets no bank twice, a step that shares a factor with 32 "
                "does.",
            ),
        ),
        case=apart_case("exact", 256),
    ),
    hints=(
        "A block has 64 points, which are 192 numbers in a row. Which of them would 64 threads load so that neighbours "
        "load neighbours? And how often must they?",
        "Load first, sort later: three rounds of 64 numbers into the tile, as they come. Then a barrier. Then a thread "
        "takes the three numbers of its own point from the tile, and stores each in its row.",
        "The loop over the numbers is one of a block: from the thread's number on, in steps of 64, as far as the block "
        "has numbers. The last block has fewer: 3 times the points that are left. Behind the barrier, point t of the "
        "block has three places of the tile in a row.",
    ),
)
