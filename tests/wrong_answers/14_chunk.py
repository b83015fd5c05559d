"""Answers to 14-chunk."""

from answers import MASTER, edit, replace


def starts_one_later(rank, step, n):
    """right"""
    return (rank - step + 1) % n


def by_cases(rank, step, n):
    """right"""
    chunk = rank - step
    while chunk < 0:
        chunk = chunk + n
    return chunk


def from_a_list(rank, step, n):
    """right"""
    order = list(range(n))
    return order[rank - step]


always_its_own = edit(
    MASTER, "wrong twice: what a worker sends next is what has just come to it", replace("rank - step", "rank")
)
fewer_chunks = edit(MASTER, "wrong raised-ZeroDivisionError: There are n chunks", replace("% n", "% (n - n)"))
two_at_a_time = edit(MASTER, "wrong lacking: Which chunk came to it", replace("rank - step", "rank - 2 * step"))
nothing = edit(
    MASTER, "wrong type: Return the number of a chunk", replace("return (rank - step) % n", "(rank - step) % n")
)
one_chunk_less = edit(MASTER, "wrong lacking: Which chunk came to it", replace("% n", "% max(1, n - 1)"))
