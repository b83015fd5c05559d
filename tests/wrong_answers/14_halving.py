"""Answers to 14-halving."""

import threading

import numpy as np
from answers import MASTER, cut, edit, replace


def with_indices(rank, n, x, exchange):
    """right"""
    begin, end, distance = 0, len(x), n
    while distance > 1:
        distance //= 2
        middle = (begin + end) // 2
        if (rank // distance) % 2:
            x[middle:end] += exchange(rank - distance, x[begin:middle])
            begin = middle
        else:
            x[begin:middle] += exchange(rank + distance, x[middle:end])
            end = middle
    return x[begin:end]


def recursively(rank, n, x, exchange):
    """right"""

    def down(first, count, x):
        if count == 1:
            return x
        half = count // 2
        parts = np.split(x, 2)
        upper = rank >= first + half
        kept = parts[upper] + exchange(rank - half if upper else rank + half, parts[1 - upper])
        return down(first + half * upper, half, kept)

    return down(0, n, x)


def everything_everywhere(rank, n, x, exchange):
    """over budget over-budget: only the half that the partner keeps"""
    distance = 1
    while distance < n:
        x = x + exchange(rank ^ distance, x)
        distance *= 2
    return np.split(x, n)[rank]


def each_to_each(rank, n, x, exchange):
    """over budget over-budget: in many small messages"""
    chunks = np.split(x, n)
    total = chunks[rank]
    for k in range(1, n):
        total = total + exchange(rank ^ k, chunks[rank ^ k])
    return total


BOARD = {}
LOCK = threading.Lock()


def on_a_board(rank, n, x, exchange):
    """wrong raised-KeyError: a dict outside of the function is another one in each"""
    BOARD[rank] = x
    size = len(x)
    while size > len(x) // n:  # all have written before the last one reads
        size //= 2
        exchange(rank ^ (n * size // len(x)), np.zeros(size))
    return np.split(sum(BOARD[r] for r in range(n)), n)[rank]


def on_a_default_value(rank, n, x, exchange, board={}):  # noqa: B006 - that is the mistake
    """wrong raised-KeyError: a dict outside of the function is another one in each"""
    board[rank] = x
    if n > 1:
        exchange(rank ^ 1, np.zeros(len(x)))
    return np.split(sum(board[r] for r in range(n)), n)[rank]


def under_a_lock(rank, n, x, exchange):
    """wrong shared: not through a thing that all of them see"""
    with LOCK:
        BOARD[rank] = x
    return np.split(sum(BOARD.values()), n)[rank]


small_distances_first = edit(
    MASTER,
    "wrong another-chunk: the first partner is n / 2 away",
    replace("distance = n // 2", "distance = 1"),
    replace("while distance > 0:", "while distance < n:"),
    replace("distance //= 2", "distance *= 2"),
)
halves_swapped = edit(
    MASTER,
    "wrong another-chunk: the one with the larger rank keeps the upper half",
    replace("(high, low) if", "(low, high) if"),
    replace("else (low, high)", "else (high, low)"),
)
plus_distance = edit(
    MASTER, "wrong deadlock: rank + distance is not", replace("rank ^ distance", "(rank + distance) % n")
)
not_added = edit(MASTER, "wrong missing: worker 0 not at all", replace("kept + exchange", "0 * kept + exchange"))
sends_what_it_keeps = edit(
    MASTER, "wrong mixed: of the same places", replace("rank ^ distance, given", "rank ^ distance, kept")
)
one_step = edit(MASTER, "wrong length: half as long after each exchange", replace("distance //= 2", "distance = 0"))
ignores_what_came = edit(
    MASTER,
    "wrong own: what came was not added",
    replace("x = kept + exchange(rank ^ distance, given)", "exchange(rank ^ distance, given)\nx = kept"),
)
all_of_the_sum = edit(
    everything_everywhere, "wrong all: Worker 0 returns its own chunk", replace("np.split(x, n)[rank]", "x")
)
to_itself = edit(MASTER, "wrong raised-ValueError: a partner is another worker", replace("rank ^ distance", "rank"))
a_list = edit(MASTER, "wrong type: Each worker returns an array", replace("return x", "return x.tolist()"))
returns_nothing = edit(MASTER, "wrong type: its chunk of the sum", cut("return x"))
