"""Answers to 10-chunks."""

import numpy as np
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


@njit(parallel=True)
def every_chunk_from_0(a, b, h0, chunks, out):
    """wrong suspect: Every chunk began with 0"""
    steps = a.size
    length = -(-steps // chunks)
    products, ends = np.empty(chunks), np.empty(chunks)
    for c in prange(chunks):
        product, end = 1.0, 0.0
        for t in range(c * length, min((c + 1) * length, steps)):
            factor = a[t]
            product *= factor
            end = factor * end + b[t]
        products[c] = product
        ends[c] = end
    h = h0
    for c in range(chunks):
        before = h
        h = products[c] * h + ends[c]
        ends[c] = before
    for c in prange(chunks):
        h = 0.0
        for t in range(c * length, min((c + 1) * length, steps)):
            h = a[t] * h + b[t]
            out[t] = h


@njit(parallel=True)
def every_chunk_from_h0(a, b, h0, chunks, out):
    """wrong suspect: Every chunk began with h0"""
    steps = a.size
    length = -(-steps // chunks)
    products, ends = np.empty(chunks), np.empty(chunks)
    for c in prange(chunks):
        product, end = 1.0, 0.0
        for t in range(c * length, min((c + 1) * length, steps)):
            factor = a[t]
            product *= factor
            end = factor * end + b[t]
        products[c] = product
        ends[c] = end
    h = h0
    for c in range(chunks):
        before = h
        h = products[c] * h + ends[c]
        ends[c] = before
    for c in prange(chunks):
        h = h0
        for t in range(c * length, min((c + 1) * length, steps)):
            h = a[t] * h + b[t]
            out[t] = h


@njit(parallel=True)
def ends_without_products(a, b, h0, chunks, out):
    """wrong suspect: The state before that one is lost"""
    steps = a.size
    length = -(-steps // chunks)
    products, ends = np.empty(chunks), np.empty(chunks)
    for c in prange(chunks):
        product, end = 1.0, 0.0
        for t in range(c * length, min((c + 1) * length, steps)):
            factor = a[t]
            product *= factor
            end = factor * end + b[t]
        products[c] = product
        ends[c] = end
    h = h0
    for c in range(chunks):
        before = h
        h = ends[c]
        ends[c] = before
    for c in prange(chunks):
        h = ends[c]
        for t in range(c * length, min((c + 1) * length, steps)):
            h = a[t] * h + b[t]
            out[t] = h


@njit(parallel=True)
def states_added(a, b, h0, chunks, out):
    """wrong suspect: were added up"""
    steps = a.size
    length = -(-steps // chunks)
    products, ends = np.empty(chunks), np.empty(chunks)
    for c in prange(chunks):
        product, end = 1.0, 0.0
        for t in range(c * length, min((c + 1) * length, steps)):
            factor = a[t]
            product *= factor
            end = factor * end + b[t]
        products[c] = product
        ends[c] = end
    h = h0
    for c in range(chunks):
        before = h
        h = h + ends[c]
        ends[c] = before
    for c in prange(chunks):
        h = ends[c]
        for t in range(c * length, min((c + 1) * length, steps)):
            h = a[t] * h + b[t]
            out[t] = h


@njit(parallel=True)
def h0_forgotten(a, b, h0, chunks, out):
    """wrong suspect: h0 is missing"""
    steps = a.size
    length = -(-steps // chunks)
    products, ends = np.empty(chunks), np.empty(chunks)
    for c in prange(chunks):
        product, end = 1.0, 0.0
        for t in range(c * length, min((c + 1) * length, steps)):
            factor = a[t]
            product *= factor
            end = factor * end + b[t]
        products[c] = product
        ends[c] = end
    h = 0.0
    for c in range(chunks):
        before = h
        h = products[c] * h + ends[c]
        ends[c] = before
    for c in prange(chunks):
        h = ends[c]
        for t in range(c * length, min((c + 1) * length, steps)):
            h = a[t] * h + b[t]
            out[t] = h


@njit(parallel=True)
def h0_in_the_first_only(a, b, h0, chunks, out):
    """wrong suspect: h0 got lost behind the first chunk"""
    steps = a.size
    length = -(-steps // chunks)
    products, ends = np.empty(chunks), np.empty(chunks)
    for c in prange(chunks):
        product, end = 1.0, 0.0
        for t in range(c * length, min((c + 1) * length, steps)):
            factor = a[t]
            product *= factor
            end = factor * end + b[t]
        products[c] = product
        ends[c] = end
    h = 0.0
    for c in range(chunks):
        before = h
        h = products[c] * h + ends[c]
        ends[c] = before
    for c in prange(chunks):
        h = ends[c] if c else h0
        for t in range(c * length, min((c + 1) * length, steps)):
            h = a[t] * h + b[t]
            out[t] = h


@njit(parallel=True)
def state_of_its_own_end(a, b, h0, chunks, out):
    """wrong suspect: the state at its own end"""
    steps = a.size
    length = -(-steps // chunks)
    products, ends = np.empty(chunks), np.empty(chunks)
    for c in prange(chunks):
        product, end = 1.0, 0.0
        for t in range(c * length, min((c + 1) * length, steps)):
            factor = a[t]
            product *= factor
            end = factor * end + b[t]
        products[c] = product
        ends[c] = end
    h = h0
    for c in range(chunks):
        h = products[c] * h + ends[c]
        ends[c] = h
    for c in prange(chunks):
        h = ends[c]
        for t in range(c * length, min((c + 1) * length, steps)):
            h = a[t] * h + b[t]
            out[t] = h


@njit(parallel=True)
def added_to_each(a, b, h0, chunks, out):
    """wrong suspect: It fades"""
    steps = a.size
    length = -(-steps // chunks)
    products, ends = np.empty(chunks), np.empty(chunks)
    for c in prange(chunks):
        product, end = 1.0, 0.0
        for t in range(c * length, min((c + 1) * length, steps)):
            factor = a[t]
            product *= factor
            end = factor * end + b[t]
        products[c] = product
        ends[c] = end
    h = h0
    for c in range(chunks):
        before = h
        h = products[c] * h + ends[c]
        ends[c] = before
    for c in prange(chunks):
        h = 0.0
        for t in range(c * length, min((c + 1) * length, steps)):
            h = a[t] * h + b[t]
            out[t] = h + ends[c]


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


@njit(parallel=True)
def rounded_down(a, b, h0, chunks, out):
    """wrong some-unwritten: round up"""
    steps = a.size
    length = steps // chunks
    products, ends = np.empty(chunks), np.empty(chunks)
    for c in prange(chunks):
        product, end = 1.0, 0.0
        for t in range(c * length, min((c + 1) * length, steps)):
            factor = a[t]
            product *= factor
            end = factor * end + b[t]
        products[c] = product
        ends[c] = end
    h = h0
    for c in range(chunks):
        before = h
        h = products[c] * h + ends[c]
        ends[c] = before
    for c in prange(chunks):
        h = ends[c]
        for t in range(c * length, min((c + 1) * length, steps)):
            h = a[t] * h + b[t]
            out[t] = h


@njit(parallel=True)
def beyond_the_end(a, b, h0, chunks, out):
    """wrong raised-IndexError: min(begin + length, steps)"""
    steps = a.size
    length = -(-steps // chunks)
    products, ends = np.empty(chunks), np.empty(chunks)
    for c in prange(chunks):
        product, end = 1.0, 0.0
        for t in range(c * length, (c + 1) * length):
            factor = a[t]
            product *= factor
            end = factor * end + b[t]
        products[c] = product
        ends[c] = end
    h = h0
    for c in range(chunks):
        before = h
        h = products[c] * h + ends[c]
        ends[c] = before
    for c in prange(chunks):
        h = ends[c]
        for t in range(c * length, (c + 1) * length):
            h = a[t] * h + b[t]
            out[t] = h


@njit(parallel=True)
def divided_by_products(a, b, h0, chunks, out):
    """wrong not-finite: multiplied, never divided by"""
    steps = a.size
    length = -(-steps // chunks)
    products, ends = np.empty(chunks), np.empty(chunks)
    for c in prange(chunks):
        product, total = 1.0, 0.0
        for t in range(c * length, min((c + 1) * length, steps)):
            product *= a[t]
            total += b[t] / product if product != 0 else np.inf
        products[c] = product
        ends[c] = product * total
    h = h0
    for c in range(chunks):
        before = h
        h = products[c] * h + ends[c]
        ends[c] = before
    for c in prange(chunks):
        h = ends[c]
        for t in range(c * length, min((c + 1) * length, steps)):
            h = a[t] * h + b[t]
            out[t] = h


@njit(parallel=True)
def steps_shared(a, b, h0, chunks, out):
    """wrong race: Two chunks use the same number"""
    for t in prange(a.size):
        out[t] = a[t] * (out[t - 1] if t > 0 else h0) + b[t]


@njit(parallel=True)
def state_goes_on(a, b, h0, chunks, out):
    """wrong raised-ValueError: What does a chunk do to any state"""
    length = -(-a.size // chunks)
    h = h0
    for c in prange(chunks):
        for t in range(c * length, min((c + 1) * length, a.size)):
            h = a[t] * h + b[t]
            out[t] = h


@njit(parallel=True)
def one_after_the_other(a, b, h0, chunks, out):
    """wrong not-parallel: Both walks"""
    steps = a.size
    length = -(-steps // chunks)
    products, ends = np.empty(chunks), np.empty(chunks)
    for c in range(chunks):
        product, end = 1.0, 0.0
        for t in range(c * length, min((c + 1) * length, steps)):
            factor = a[t]
            product *= factor
            end = factor * end + b[t]
        products[c] = product
        ends[c] = end
    h = h0
    for c in range(chunks):
        before = h
        h = products[c] * h + ends[c]
        ends[c] = before
    for c in range(chunks):
        h = ends[c]
        for t in range(c * length, min((c + 1) * length, steps)):
            h = a[t] * h + b[t]
            out[t] = h


@njit(parallel=True)
def first_walk_only_parallel(a, b, h0, chunks, out):
    """over budget over-budget: more is loaded"""
    steps = a.size
    length = -(-steps // chunks)
    products, ends = np.empty(chunks), np.empty(chunks)
    for c in prange(chunks):
        product, end = 1.0, 0.0
        for t in range(c * length, min((c + 1) * length, steps)):
            factor = a[t]
            product *= factor
            end = factor * end + b[t]
        products[c] = product
        ends[c] = end
    checksum = np.zeros(chunks)
    for c in prange(chunks):
        for t in range(c * length, min((c + 1) * length, steps)):
            out[t] = b[t]
            checksum[c] += 1
    h = h0
    for c in range(chunks):
        before = h
        h = products[c] * h + ends[c]
        ends[c] = before
    for c in prange(chunks):
        h = ends[c]
        for t in range(c * length, min((c + 1) * length, steps)):
            h = a[t] * h + b[t]
            out[t] = h


@njit(parallel=True)
def factor_loaded_twice(a, b, h0, chunks, out):
    """over budget over-budget: into a name that is used twice"""
    steps = a.size
    length = -(-steps // chunks)
    products, ends = np.empty(chunks), np.empty(chunks)
    for c in prange(chunks):
        product, end = 1.0, 0.0
        for t in range(c * length, min((c + 1) * length, steps)):
            product *= a[t]
            end = a[t] * end + b[t]
        products[c] = product
        ends[c] = end
    h = h0
    for c in range(chunks):
        before = h
        h = products[c] * h + ends[c]
        ends[c] = before
    for c in prange(chunks):
        h = ends[c]
        for t in range(c * length, min((c + 1) * length, steps)):
            h = a[t] * h + b[t]
            out[t] = h


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
def from_the_first_step_of_all(a, b, h0, chunks, out):
    """over budget over-budget: walked through again and again"""
    length = -(-a.size // chunks)
    for c in prange(chunks):
        h = h0
        for t in range(min((c + 1) * length, a.size)):
            h = a[t] * h + b[t]
            if t >= c * length:
                out[t] = h


@njit(parallel=True)
def a_loop_of_one_round(a, b, h0, chunks, out):
    """over budget over-budget: one thread does most of the work"""
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
