"""Answers to 03-balance."""

from numba import get_num_threads, njit, prange


@njit
def _row(a, out, i):
    total = 0.0
    for j in range(i + 1):
        total += a[i, j]
    out[i] = total


@njit(parallel=True)
def folded(a, out):
    """right"""
    n = out.size
    for k in prange((n + 1) // 2):
        _row(a, out, k)
        if n - 1 - k > k:
            _row(a, out, n - 1 - k)


@njit(parallel=True)
def in_turns(a, out):
    """right"""
    threads = get_num_threads()
    for t in prange(threads):
        for i in range(t, out.size, threads):
            total = 0.0
            for j in range(i + 1):
                total += a[i, j]
            out[i] = total


@njit(parallel=True)
def plain(a, out):
    """over budget over-budget: always gives the same number"""
    for i in prange(out.size):
        total = 0.0
        for j in range(i + 1):
            total += a[i, j]
        out[i] = total


@njit(parallel=True)
def two_bands(a, out):
    """over budget over-budget: work longest"""
    n = out.size
    for i in prange(n):
        _row(a, out, n - 1 - i)


@njit
def on_one_thread(a, out):
    """wrong not-parallel: @njit without parallel=True"""
    for i in range(out.size):
        _row(a, out, i)


@njit(parallel=True)
def a_loop_for_show(a, out):
    """over budget over-budget: outside the parallel loop"""
    for i in prange(out.size):
        out[i] = 0
    for i in range(out.size):
        _row(a, out, i)


@njit(parallel=True)
def middle_forgotten(a, out):
    """wrong some-unwritten: the middle one has no partner"""
    n = out.size
    for k in prange(n // 2):
        _row(a, out, k)
        _row(a, out, n - 1 - k)


@njit(parallel=True)
def no_diagonal(a, out):
    """wrong suspect: i included"""
    n = out.size
    for i in prange(n):
        total = 0.0
        for j in range(i):
            total += a[i, j]
        out[i] = total


@njit(parallel=True)
def whole_rows(a, out):
    """wrong suspect: row i ends at j = i"""
    for i in prange(out.size):
        total = 0.0
        for j in range(out.size):
            total += a[i, j]
        out[i] = total


@njit(parallel=True)
def by_columns(a, out):
    """wrong race: Two iterations use the same element"""
    for i in range(out.size):
        out[i] = 0
    for j in prange(out.size):
        for i in range(j, out.size):
            out[i] += a[i, j]


@njit(parallel=True)
def sums_of_columns(a, out):
    """wrong suspect: belongs to row i"""
    for j in prange(out.size):
        total = 0.0
        for i in range(j, out.size):
            total += a[i, j]
        out[j] = total


@njit(parallel=True)
def a_tuple_of_two_types(a, out):
    """wrong raised-TypingError: one after the other"""
    n = out.size
    for k in prange((n + 1) // 2):
        for i in (k, n - 1 - k):
            total = 0.0
            for j in range(i + 1):
                total += a[i, j]
            out[i] = total
