"""Answers to 03-histogram."""

import numpy as np
from numba import get_num_threads, njit, prange


@njit(parallel=True)
def padded_rows(labels, counts):
    """right"""
    threads = get_num_threads()
    own = np.zeros((threads, (counts.size + 7) // 8 * 8), np.int64)
    for t in prange(threads):
        for i in range(t * labels.size // threads, (t + 1) * labels.size // threads):
            own[t, labels[i]] += 1
    for k in range(counts.size):
        counts[k] = 0
        for t in range(threads):
            counts[k] += own[t, k]


@njit(parallel=True)
def strided(labels, counts):
    """right"""
    parts = 4
    own = np.zeros((parts, counts.size + 8 - counts.size % 8), np.int64)
    for p in prange(parts):
        for i in range(p, labels.size, parts):
            own[p, labels[i]] = own[p, labels[i]] + 1
    for k in range(counts.size):
        total = 0
        for p in range(parts):
            total += own[p, k]
        counts[k] = total


@njit(parallel=True)
def as_shipped(labels, counts):
    """wrong race: one addition is lost"""
    for k in range(counts.size):
        counts[k] = 0
    for i in prange(labels.size):
        counts[labels[i]] += 1


@njit(parallel=True)
def read_then_write(labels, counts):
    """wrong race: a row of counts of its own"""
    for k in range(counts.size):
        counts[k] = 0
    for i in prange(labels.size):
        old = counts[labels[i]]
        counts[labels[i]] = old + 1


@njit(parallel=True)
def rows_added_in_the_loop(labels, counts):
    """wrong race: add up the rows after the loop"""
    threads = get_num_threads()
    own = np.zeros((threads, counts.size + 8), np.int64)
    for k in range(counts.size):
        counts[k] = 0
    for t in prange(threads):
        for i in range(t * labels.size // threads, (t + 1) * labels.size // threads):
            own[t, labels[i]] += 1
        for k in range(counts.size):
            counts[k] += own[t, k]


@njit(parallel=True)
def never_cleared(labels, counts):
    """wrong suspect: Where is it set to 0"""
    threads = get_num_threads()
    own = np.zeros((threads, counts.size + 8), np.int64)
    for t in prange(threads):
        for i in range(t * labels.size // threads, (t + 1) * labels.size // threads):
            own[t, labels[i]] += 1
    for t in range(threads):
        for k in range(counts.size):
            counts[k] += own[t, k]


@njit(parallel=True)
def first_half(labels, counts):
    """wrong suspect: the parts must cover all of them"""
    own = np.zeros((1, counts.size), np.int64)
    for t in prange(1):
        for i in range(labels.size // 2):
            own[t, labels[i]] += 1
    for k in range(counts.size):
        counts[k] = own[0, k]


@njit(parallel=True)
def rows_too_short(labels, counts):
    """wrong raised-IndexError: a row needs one place for each class"""
    threads = get_num_threads()
    own = np.zeros((threads, 8), np.int64)
    for t in prange(threads):
        for i in range(t * labels.size // threads, (t + 1) * labels.size // threads):
            own[t, labels[i]] += 1
    for k in range(counts.size):
        counts[k] = 0
        for t in range(threads):
            counts[k] += own[t, k]


@njit(parallel=True)
def packed_rows(labels, counts):
    """over budget over-budget: a multiple of 8"""
    threads = get_num_threads()
    own = np.zeros((threads, counts.size), np.int64)
    for t in prange(threads):
        for i in range(t * labels.size // threads, (t + 1) * labels.size // threads):
            own[t, labels[i]] += 1
    for k in range(counts.size):
        counts[k] = 0
        for t in range(threads):
            counts[k] += own[t, k]


@njit(parallel=True)
def by_class(labels, counts):
    """over budget over-budget: travel between their cores"""
    for k in prange(counts.size):
        total = 0
        for i in range(labels.size):
            total += labels[i] == k
        counts[k] = total


@njit(parallel=True)
def past_the_last_label(labels, counts):
    """wrong raised-IndexError: There are labels.size labels"""
    threads = get_num_threads()
    rows = np.zeros((threads, (counts.size + 7) // 8 * 8), np.int64)
    part = (labels.size + threads - 1) // threads
    for t in prange(threads):
        for i in range(t * part, (t + 1) * part):
            rows[t, labels[i]] += 1
    for k in range(counts.size):
        counts[k] = rows[:, k].sum()
