"""Answers to 03-finish."""

from answers import MASTER, cut, edit, replace


def with_clocks(costs, threads, chunk):
    """right"""
    clocks = dict.fromkeys(range(threads), 0)
    position = 0
    while position < len(costs):
        earliest = min(clocks, key=lambda t: (clocks[t], t))
        clocks[earliest] += sum(costs[position : position + chunk])
        position += chunk
    return max(clocks.values())


sorted_list = edit(MASTER, "right", replace("t = free.index(min(free))", "free.sort()"), replace("[t]", "[0]"))


def one_thread(costs, threads, chunk):
    """wrong one-thread: as if there were one thread"""
    return sum(costs)


def static(costs, threads, chunk):
    """wrong static: parts fixed in advance"""
    size, rest = divmod(len(costs), threads)
    ends = [t * size + min(t, rest) for t in range(threads + 1)]
    return max(sum(costs[ends[t] : ends[t + 1]]) for t in range(threads))


def in_turns(costs, threads, chunk):
    """wrong in-turns: who is free first"""
    free = [0] * threads
    for turn, first in enumerate(range(0, len(costs), chunk)):
        free[turn % threads] += sum(costs[first : first + chunk])
    return max(free)


def without_chunks(costs, threads, chunk):
    """wrong single: takes `chunk` iterations at once"""
    free = [0] * threads
    for cost in costs:
        free[free.index(min(free))] += cost
    return max(free)


def last_chunk_lost(costs, threads, chunk):
    """wrong tail: left out"""
    free = [0] * threads
    for k in range(len(costs) // chunk):
        free[free.index(min(free))] += sum(costs[k * chunk : (k + 1) * chunk])
    return max(free)


def ideal(costs, threads, chunk):
    """wrong ideal: as if iterations could be split"""
    return -(-sum(costs) // threads)


def sorts_what_it_got(costs, threads, chunk):
    """wrong input-changed: Work on a copy"""
    costs.sort()
    free = [0] * threads
    for first in range(0, len(costs), chunk):
        free[free.index(min(free))] += sum(costs[first : first + chunk])
    return max(free)


first_to_end = edit(
    sorts_what_it_got, "wrong first-end: when the first thread ends", cut("costs.sort()"), replace("max", "min")
)
