"""Answers to 04-bug."""

from answers import edit, replace
from numba import njit, prange


@njit(parallel=True)
def line_by_line(x, out):
    """right"""
    lines = -(-x.size // 16)
    for t in prange(4):
        for line in range(t * lines // 4, (t + 1) * lines // 4):
            for i in range(16 * line, min(16 * line + 16, x.size)):
                out[i] = x[i] * x[i]


@njit(parallel=True)
def rounded_up_only(x, out):
    """over budget over-budget: a part ends in the middle of a line"""
    part = (x.size + 3) // 4
    for t in prange(4):
        for i in range(t * part, min((t + 1) * part, x.size)):
            out[i] = x[i] * x[i]


over_the_end = edit(
    "as_given", "wrong raised-IndexError: End it at min", replace("x.size // 4", "(x.size + 63) // 64 * 16")
)
lines_rounded_down = edit(
    "as_given", "wrong some-unwritten: A division that rounds down", replace("x.size // 4", "x.size // 64 * 16")
)


@njit(parallel=True)
def parts_overlap(x, out):
    """wrong race: Part t ends where part t + 1 begins"""
    part = (x.size + 63) // 64 * 16
    for t in prange(4):
        for i in range(t * part, min((t + 1) * part + 1, x.size)):
            out[i] = x[i] * x[i]


doubled = edit(
    parts_overlap, "wrong suspect: The square is asked for", replace("part + 1", "part"), replace("[i] * x", "[i] + x")
)
one_thread_for_all_parts = edit(
    parts_overlap, "wrong not-parallel: no loop over prange", replace("prange", "range"), replace("part + 1", "part")
)


@njit(parallel=True)
def all_in_one_part(x, out):
    """wrong not-parallel: the others have nothing to do"""
    for t in prange(4):
        for i in range(t * 4096, min((t + 1) * 4096, x.size)):
            out[i] = x[i] * x[i]


@njit(parallel=True)
def four_elements_of_five(x, out):
    """wrong not-parallel: stand outside the loop"""
    some = x.size * 4 // 5
    for i in range(some):
        out[i] = x[i] * x[i]
    for i in prange(some, x.size):
        out[i] = x[i] * x[i]
