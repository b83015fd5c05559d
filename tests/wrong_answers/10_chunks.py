"""Answers to 10-chunks."""

import numpy as np
from answers import MASTER, cut, edit, insert, replace
from numba import njit, prange


@njit(parallel=True)
def pairs_in_one_array(a, b, h0, chunks, out):
    """right"""
    steps = len(a)
    size = (steps + chunks - 1) // chunks
    kept = np.ones((chunks, 3))
    for c in prange(chunks):
        p, e = 1.0, 0.0
        stop = min(steps, c * size + size)
        for t in range(c * size, stop):
            x = a[t]
            e = e * x + b[t]
            p = p * x
        kept[c, 0], kept[c, 1] = p, e
    kept[0, 2] = h0
    for c in range(1, chunks):
        kept[c, 2] = kept[c - 1, 0] * kept[c - 1, 2] + kept[c - 1, 1]
    for c in prange(chunks):
        state = kept[c, 2]
        stop = min(steps, c * size + size)
        for t in range(c * size, stop):
            state = state * a[t] + b[t]
            out[t] = state


h0_in_the_first_only = edit(
    MASTER,
    "wrong suspect: h0 got lost behind the first chunk",
    replace("h = h0", "h = 0.0"),
    replace("h = ends[c]", "h = ends[c] if c else h0"),
)
state_of_its_own_end = edit(
    MASTER, "wrong suspect: the state at its own end", cut("before = h"), replace("ends[c] = before", "ends[c] = h")
)
added_to_each = edit(
    MASTER, "wrong suspect: It fades", replace("h = ends[c]", "h = 0.0"), replace("out[t] = h", "out[t] = h + ends[c]")
)


@njit(parallel=True)
def no_factor(a, b, h0, chunks, out):
    """wrong suspect: a is missing"""
    for c in prange(chunks):
        length = -(-a.size // chunks)
        h = h0
        for t in range(c * length):
            h = h + b[t]
        for t in range(c * length, min((c + 1) * length, a.size)):
            h = h + b[t]
            out[t] = h


divided_by_products = edit(
    MASTER,
    "wrong not-finite: multiplied, never divided by",
    replace("end = 1", "total = 1"),
    replace(
        """
        factor = a[t]
        product *= factor
        end = factor * end + b[t]
        """,
        "product *= a[t]\ntotal += b[t] / product if product != 0 else np.inf",
    ),
    replace("[c] = end", "[c] = product * total"),
)


@njit(parallel=True)
def state_goes_on(a, b, h0, chunks, out):
    """wrong raised-ValueError: What does a chunk do to any state"""
    length = -(-a.size // chunks)
    h = h0
    for c in prange(chunks):
        for t in range(c * length, min((c + 1) * length, a.size)):
            h = a[t] * h + b[t]
            out[t] = h


first_walk_only_parallel = edit(
    MASTER,
    "over budget over-budget: more is loaded",
    insert(
        """
        checksum = np.zeros(chunks)
        for c in prange(chunks):
            for t in range(c * length, min((c + 1) * length, steps)):
                out[t] = b[t]
                checksum[c] += 1
        """,
        before="h = h0",
    ),
)
factor_loaded_twice = edit(
    MASTER,
    "over budget over-budget: into a name that is used twice",
    replace(
        """
        factor = a[t]
        product *= factor
        end = factor * end + b[t]
        """,
        "product *= a[t]\nend = a[t] * end + b[t]",
    ),
)


@njit(parallel=True)
def local_states_kept(a, b, h0, chunks, out):
    """over budget over-budget: an array as long as a"""
    steps = a.size
    length = -(-steps // chunks)
    local, faded = np.empty(steps), np.empty(steps)
    for c in prange(chunks):
        product, end = 1.0, 0.0
        for t in range(c * length, min((c + 1) * length, steps)):
            product *= a[t]
            end = a[t] * end + b[t]
            local[t] = end
            faded[t] = product
    before = np.empty(chunks)
    h = h0
    for c in range(chunks):
        before[c] = h
        last = min((c + 1) * length, steps) - 1
        if last >= c * length:
            h = faded[last] * h + local[last]
    for c in prange(chunks):
        for t in range(c * length, min((c + 1) * length, steps)):
            out[t] = local[t] + faded[t] * before[c]


@njit(parallel=True)
def a_loop_of_one_round(a, b, h0, chunks, out):
    """wrong not-parallel: Both walks through the steps belong into a prange loop"""
    for _ in prange(1):
        h = h0
        for t in range(a.size):
            h = a[t] * h + b[t]
            out[t] = h


@njit(parallel=True)
def three_chunks_of_four(a, b, h0, chunks, out):
    """wrong not-parallel: Both walks"""
    size = (a.size + chunks - 1) // chunks
    some = chunks * 3 // 4
    h = h0
    for t in range(min(some * size, a.size)):
        h = a[t] * h + b[t]
        out[t] = h
    for _ in prange(1):
        last = h
        for t in range(some * size, a.size):
            last = a[t] * last + b[t]
            out[t] = last
