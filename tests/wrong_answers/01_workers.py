"""Answers to 01-workers."""

import math


def listed(serial, parallel, starting, cores, pace, least_use):
    """right"""
    paces = [1.0] * (cores - 1) + [pace]
    found = []
    for n in range(1, cores + 1):
        each = [parallel / n / p for p in paces[:n]]
        seconds = serial + starting * (n - 1) + max(each)
        use = (serial + starting * (n - 1) + math.fsum(each)) / (n * seconds)
        if use >= least_use:
            found.append((seconds, n))
    seconds, n = min(found)
    return [n, seconds]


def the_last_of_equal_ones(serial, parallel, starting, cores, pace, least_use):
    """right"""
    best, least = 1, serial + parallel
    for n in range(2, cores + 1):
        each = [parallel / n] * (n - 1) + [parallel / n / (pace if n == cores else 1)]
        alone = serial + starting * (n - 1)
        seconds = alone + max(each)
        if alone + sum(each) >= least_use * n * seconds and seconds <= least:
            best, least = n, seconds
    return best, least


def no_straggler(serial, parallel, starting, cores, pace, least_use):
    """wrong straggler: everybody waits for that worker"""
    return listed(serial, parallel, starting, cores, 1.0, least_use)


def always_slow(serial, parallel, starting, cores, pace, least_use):
    """wrong always: The slow core is taken last"""
    found = []
    for n in range(1, cores + 1):
        slow = parallel / n / (pace if n > 1 else 1)
        seconds = serial + starting * (n - 1) + slow
        busy = serial + starting * (n - 1) + parallel / n * (n - 1) + slow
        if busy / (n * seconds) >= least_use:
            found.append((seconds, n))
    return min(found)[::-1]


def free_start(serial, parallel, starting, cores, pace, least_use):
    """wrong starting: has to be started"""
    return listed(serial, parallel, 0.0, cores, pace, least_use)


def fastest(serial, parallel, starting, cores, pace, least_use):
    """wrong use: below what is asked for"""
    return listed(serial, parallel, starting, cores, pace, 0.0)


def shared_out(serial, parallel, starting, cores, pace, least_use):
    """wrong mean-pace: nobody takes over"""
    found = []
    for n in range(1, cores + 1):
        alone = serial + starting * (n - 1)
        slow = parallel / n / (pace if n == cores else 1)
        seconds = alone + parallel / (n - 1 + (pace if n == cores else 1))
        busy = alone + parallel / n * (n - 1) + slow
        if busy / (n * seconds) >= least_use:
            found.append((seconds, n))
    return min(found)[::-1]


def all_cores(serial, parallel, starting, cores, pace, least_use):
    """wrong use: Who is ready waits for the slowest"""
    return cores, serial + starting * (cores - 1) + parallel / cores / pace


def always_one(serial, parallel, starting, cores, pace, least_use):
    """wrong not-best: Another one is allowed, and faster"""
    return 1, serial + parallel


def started_by_all(serial, parallel, starting, cores, pace, least_use):
    """wrong seconds: for each worker beyond the first"""
    n, _ = listed(serial, parallel, starting, cores, pace, least_use)
    return n, serial + starting * n + parallel / n / (pace if n == cores else 1) + 1e-3


def half_a_worker(serial, parallel, starting, cores, pace, least_use):
    """wrong count: a whole number"""
    n, seconds = listed(serial, parallel, starting, cores, pace, least_use)
    return n + 0.0, seconds


def too_many(serial, parallel, starting, cores, pace, least_use):
    """wrong count: from 1 to `cores`"""
    return 2 * cores, serial + parallel / (2 * cores)


def only_the_number(serial, parallel, starting, cores, pace, least_use):
    """wrong type: Return two numbers"""
    return listed(serial, parallel, starting, cores, pace, least_use)[0]


def nothing(serial, parallel, starting, cores, pace, least_use):
    """wrong type: Return two numbers"""


def waiting_counts_as_work(serial, parallel, starting, cores, pace, least_use):
    """wrong use: below what is asked for"""
    found = []
    for n in range(1, cores + 1):
        seconds = serial + starting * (n - 1) + parallel / n / (pace if n == cores else 1)
        found.append((seconds, n))
    return min(found)[::-1]


def infinite(serial, parallel, starting, cores, pace, least_use):
    """wrong type: Return two numbers"""
    return 1, math.inf
