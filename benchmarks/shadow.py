"""What it would cost to look for races while counting: a shadow of shared memory, by hand, for one kernel.

    python benchmarks/run.py shadow           recorded in results/shadow.json; takes seconds
    python benchmarks/run.py shadow --quick   smaller, not recorded

For each element the shadow holds who stored it last and who loaded it, and in which turn between two barriers (Flanagan
and Freund, FastTrack, PLDI 2009, with a barrier as the only order). The same accesses of a tiled product are made
without it, with it, and counted by the compiled engine. CPU time of one thread, the smallest of some rounds.
"""

import numpy as np
from engine import TILE
from numba import njit
from xray import accesses_of, counted, smallest

THREADS, MANY = TILE * TILE, 2047
BITS = 11  # of a thread's number within its block, MANY included


@njit
def stored(shadow, e, thread, turn):
    """1 where another thread used the element in this turn."""
    w, r = shadow[e, 0], shadow[e, 1]
    shadow[e, 0] = turn << BITS | thread
    return int(w >> BITS == turn and w & MANY != thread) | int(r >> BITS == turn and r & MANY != thread)


@njit
def loaded(shadow, e, thread, turn):
    """1 where another thread stored the element in this turn."""
    w, r = shadow[e, 0], shadow[e, 1]
    shadow[e, 1] = turn << BITS | (thread if r >> BITS != turn or r & MANY == thread else MANY)
    return int(w >> BITS == turn and w & MANY != thread)


@njit
def product(a, b, c, shadow, watched, barriers):
    """A tiled product, its shared tiles in one array; how many of their accesses meet another. barriers: 2 a step, or
    1."""
    n, found, turn = a.shape[0], 0, 0
    tiles = np.zeros(2 * THREADS, np.float32)
    for block in range((n // TILE) ** 2):
        i0, j0 = block // (n // TILE) * TILE, block % (n // TILE) * TILE
        c[i0 : i0 + TILE, j0 : j0 + TILE] = 0
        for k in range(0, n, TILE):
            turn += 1 if barriers == 2 or k == 0 else 0
            for t in range(THREADS):
                y, x = t // TILE, t % TILE
                tiles[t], tiles[THREADS + t] = a[i0 + y, k + x], b[k + y, j0 + x]
                if watched:
                    found += stored(shadow, t, t, turn) + stored(shadow, THREADS + t, t, turn)
            turn += 1
            for t in range(THREADS):
                y, x = t // TILE, t % TILE
                total = np.float32(0)
                for p in range(TILE):
                    total += tiles[y * TILE + p] * tiles[THREADS + p * TILE + x]
                    if watched:
                        found += loaded(shadow, y * TILE + p, t, turn)
                        found += loaded(shadow, THREADS + p * TILE + x, t, turn)
                c[i0 + y, j0 + x] += total
    return found


def made(n, watched, barriers=2):
    rng = np.random.default_rng(n)
    a, b = (rng.random((n, n), dtype=np.float32) for _ in range(2))
    c, shadow = np.zeros_like(a), np.full((2 * THREADS, 2), -1, np.int64)
    found = product(a, b, c, shadow, watched, barriers)
    np.testing.assert_allclose(c, a @ b, rtol=1e-4)
    return found


def benchmark(quick=False):
    n, rounds = (64, 1) if quick else (256, 9)
    assert made(2 * TILE, True) == 0
    assert made(2 * TILE, True, barriers=1) > 0  # without its second barrier
    made(2 * TILE, False)
    plain, watched = (smallest(lambda w=w: made(n, w), rounds)[0] for w in (False, True))
    accesses = n * n * (n // TILE) * (2 + 2 * TILE)  # of shared memory
    nanoseconds = (watched - plain) / accesses * 1e9
    counting = counted(n, rounds)
    of_counting = counting["seconds"] / accesses_of(n) * 1e9
    print(f"a shadow: {nanoseconds:.1f} ns an access; counting: {of_counting:.1f} ns")
    return {
        "n": n,
        "shadow": nanoseconds,
        "counting": of_counting,
        "unit": "ns of CPU time an access",
        "rounds": rounds,
    }
