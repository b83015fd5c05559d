"""Answers to 03-chunk."""


def _ends(costs, threads, chunk, visit):
    free, counter = [0] * threads, 0
    for first in range(0, len(costs), chunk):
        t = min(range(threads), key=free.__getitem__)
        counter = max(free[t], counter) + visit
        free[t] = counter + sum(costs[first : first + chunk])
    return max(free)


def with_min(costs, threads, visit):
    """right"""

    def ends(chunk):
        free, counter = [0] * threads, 0
        for first in range(0, len(costs), chunk):
            free.sort()
            counter = max(free[0], counter) + visit
            free[0] = counter + sum(costs[first : first + chunk])
        return max(free)

    return min(range(1, len(costs) + 1), key=ends)


def largest_of_equals(costs, threads, visit):
    """wrong tie: of equal ones return the smallest"""
    return min(range(len(costs), 0, -1), key=lambda chunk: _ends(costs, threads, chunk, visit))


def free_visits(costs, threads, visit):
    """wrong free: if a visit costs nothing"""
    return min(range(1, len(costs) + 1), key=lambda chunk: _ends(costs, threads, chunk, 0))


def no_queue(costs, threads, visit):
    """wrong no-queue: Only one can be there at a time"""

    def ends(chunk):
        free = [0] * threads
        for first in range(0, len(costs), chunk):
            free[free.index(min(free))] += visit + sum(costs[first : first + chunk])
        return max(free)

    return min(range(1, len(costs) + 1), key=ends)


def one_chunk_each(costs, threads, visit):
    """wrong static: who ends last"""
    return -(-len(costs) // threads)


def always_one(costs, threads, visit):
    """wrong ones: visit the counter most often"""
    return 1


def ten_chunks_each(costs, threads, visit):
    """wrong other: Play this size with paper"""
    return max(2, len(costs) // (10 * threads))


def the_time_itself(costs, threads, visit):
    """wrong type: the number of iterations in a chunk"""
    return min(_ends(costs, threads, chunk, visit) for chunk in range(1, len(costs) + 1))


def a_float(costs, threads, visit):
    """wrong type: a whole number from 1 to 12"""
    return 3.0


def nothing(costs, threads, visit):
    """wrong type: Return the number of iterations"""


def tables_of_the_visible(costs, threads, visit):
    """wrong raised-KeyError: return {12: 5}"""
    return {12: 5}[len(costs)]


def endless(costs, threads, visit):
    """wrong raised-TooManyIterations: the check stopped it"""
    while True:
        pass
