"""Answers to 03-cut."""

from itertools import pairwise


def _cut(costs, most):
    found, part = [0], 0
    for i, cost in enumerate(costs):
        if part + cost > most:
            found.append(i)
            part = 0
        part += cost
    return [*found, len(costs)]


def from_the_back(costs, threads):
    """right"""

    def cut(most):
        found, part = [len(costs)], 0
        for i in range(len(costs) - 1, -1, -1):
            if part + costs[i] > most:
                found.append(i + 1)
                part = 0
            part += costs[i]
        found.append(0)
        return found[::-1]

    low, high = max(costs), sum(costs)
    while low < high:
        middle = (low + high) // 2
        if len(cut(middle)) <= threads + 1:
            high = middle
        else:
            low = middle + 1
    found = cut(low)
    return [0] * (threads + 1 - len(found)) + found


def shares_rounded_down(costs, threads):
    """wrong busier: how many parts are needed"""
    found, done, total = [0], 0, sum(costs)
    for i, cost in enumerate(costs):
        while len(found) < threads and done + cost > len(found) * total / threads:
            found.append(i)
        done += cost
    return found + [len(costs)] * (threads + 1 - len(found))


def everything_for_the_last(costs, threads):
    """wrong busier: go to its neighbour"""
    return [0] * threads + [len(costs)]


def without_the_end(costs, threads):
    """wrong number: the last one an end"""
    return [t * len(costs) // threads for t in range(threads)]


def too_many_parts(costs, threads):
    """wrong number: Each part has a beginning"""
    return _cut(costs, max(costs))


def begins_at_one(costs, threads):
    """wrong ends: begins at 0"""
    return [1] + [len(costs)] * threads


def ends_at_the_last_index(costs, threads):
    """wrong ends: after the last iteration"""
    return [0] * threads + [len(costs) - 1]


def falling(costs, threads):
    """wrong order: A part begins where the one before ends"""
    return [0, *range(threads - 1, 0, -1), len(costs)] if threads > 2 else [0, 6, 8]


def sizes_of_the_parts(costs, threads):
    """wrong number: numbers"""
    return [len(costs) // threads] * threads


def a_number(costs, threads):
    """wrong type: Return a list"""
    return threads


def floats(costs, threads):
    """wrong type: part t is range(borders[t], borders[t + 1])"""
    return [float(t * len(costs) // threads) for t in range(threads + 1)]


def for_eight_rows(costs, threads):
    """wrong number: the last one an end"""
    return [0, 6, 8]


def all_cuts(costs, threads):
    """wrong raised-TooManyIterations: the check stopped it"""
    best, found = None, None
    stack = [[0]]
    while stack:
        borders = stack.pop()
        if len(borders) == threads:
            borders = [*borders, len(costs)]
            busiest = max(sum(costs[a:b]) for a, b in pairwise(borders))
            if best is None or busiest < best:
                best, found = busiest, borders
        else:
            stack += [[*borders, b] for b in range(borders[-1], len(costs) + 1)]
    return found


def an_endless_generator(costs, threads):
    """wrong raised-NotPlain: a callable_iterator; write `list(...)` around it"""
    return iter(int, 1)


def nested(costs, threads):
    """wrong type: Return a list"""
    return [[0], [len(costs)]]
