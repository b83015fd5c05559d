"""Answers to 03-table."""

import numpy as np
from answers import cut, edit, replace
from numba import get_num_threads, njit, prange


@njit(parallel=True)
def flat_tables(truth, guess, weight, out):
    """right"""
    classes, threads = out.shape[0], get_num_threads()
    room = -(-out.size // 8) * 8
    tables = np.zeros(threads * room)
    for t in prange(threads):
        for i in range(t, truth.size, threads):
            tables[t * room + truth[i] * classes + guess[i]] += weight[i]
    out[:] = 0
    for t in range(threads):
        for k in range(out.size):
            out[k // classes, k % classes] += tables[t * room + k]


@njit(parallel=True)
def classes_shared_out(truth, guess, weight, out):
    """over budget over-budget: write into one cache line"""
    for k in prange(out.shape[0]):
        for j in range(out.shape[1]):
            out[k, j] = 0
        for i in range(truth.size):
            if truth[i] == k:
                out[k, guess[i]] += weight[i]


@njit(parallel=True)
def tight_tables(truth, guess, weight, out):
    """over budget over-budget: Which is padded in yours"""
    classes, threads = out.shape[0], get_num_threads()
    tables = np.zeros((threads, classes, classes))
    for t in prange(threads):
        for i in range(t * truth.size // threads, (t + 1) * truth.size // threads):
            tables[t, truth[i], guess[i]] += weight[i]
    out[:] = 0
    for t in range(threads):
        for r in range(classes):
            for c in range(classes):
                out[r, c] += tables[t, r, c]


padded_rows = edit(
    tight_tables,
    "over budget over-budget: larger ones than need be",
    replace("(threads, classes, classes)", "(threads, classes, (classes + 7) // 8 * 8)"),
)
exchanged = edit(
    tight_tables,
    "wrong suspect: the row is the true class",
    replace("tables[t, truth[i], guess[i]]", "tables[t, guess[i], truth[i]]"),
)
counts = edit(tight_tables, "wrong suspect: adds its weight, not 1", replace("weight[i]", "1"))


@njit
def on_one_thread(truth, guess, weight, out):
    """wrong not-parallel: @njit without parallel=True"""
    out[:] = 0
    for i in range(truth.size):
        out[truth[i], guess[i]] += weight[i]


added_to_old = edit(tight_tables, "wrong adds-to-old: NaN", cut("out[:] = 0"))
tail_lost = edit(
    tight_tables,
    "wrong wrong-value: samples belong to no thread",
    replace(
        "classes, threads = out.shape[0], get_num_threads()",
        "classes, threads = out.shape[0], 2\npart = truth.size // 3",
    ),
    replace("truth.size // threads, (t + 1) * truth.size // threads", "part, (t + 1) * part"),
)


@njit(parallel=True)
def room_for_three_classes(truth, guess, weight, out):
    """wrong raised-IndexError: is yours as large"""
    classes, threads = out.shape[0], get_num_threads()
    tables = np.zeros((threads, 16))
    for t in prange(threads):
        for i in range(t * truth.size // threads, (t + 1) * truth.size // threads):
            tables[t, truth[i] * classes + guess[i]] += weight[i]
    for r in range(classes):
        for c in range(classes):
            out[r, c] = 0
            for t in range(threads):
                out[r, c] += tables[t, r * classes + c]


@njit(parallel=True)
def only_what_occurs(truth, guess, weight, out):
    """wrong some-unwritten: does not occur"""
    classes, threads = out.shape[0], get_num_threads()
    tables = np.zeros((threads, classes, classes))
    for t in prange(threads):
        for i in range(t * truth.size // threads, (t + 1) * truth.size // threads):
            tables[t, truth[i], guess[i]] += weight[i]
    for i in range(truth.size):
        total = 0.0
        for t in range(threads):
            total += tables[t, truth[i], guess[i]]
        out[truth[i], guess[i]] = total
