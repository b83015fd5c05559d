"""Answers to 10-plan."""

import itertools
import math

import numpy as np
from answers import edit, replace


def _groups(n):
    plan, d = [], 1
    while d < n:
        plan.append([(i // d * d - 1, i) for i in range(n) if i // d % 2])
        d *= 2
    return plan


def halves(n):
    """right"""

    def joined(first, last):
        if last - first < 2:
            return []
        middle = first + 2 ** ((last - first - 1).bit_length() - 1)
        sides = joined(first, middle), joined(middle, last)
        rounds = max(map(len, sides))
        # a short side waits: its rounds are the first ones
        plan = [[pair for side in sides if k < len(side) for pair in side[k]] for k in range(rounds)]
        return [*plan, [(middle - 1, i) for i in range(middle, last)]]

    return joined(0, n)


def arrays_and_tuples(n):
    """right"""
    return tuple(tuple((np.int64(left), right) for left, right in pairs) for pairs in _groups(n))


def lists_of_arrays(n):
    """right"""
    return [np.array(pairs) for pairs in _groups(n)]


def hillis_and_steele(n):
    """over budget over-budget: more than half of the places join"""
    plan, d = [], 1
    while d < n:
        plan.append([(i - d, i) for i in range(d, n)])
        d *= 2
    return plan


def the_tree_of_the_page(n):
    """wrong rounds: later than need be"""
    plan, d = [], 1
    while d < n:
        plan.append([(i - d, i) for i in range(2 * d - 1, n, 2 * d)])
        d *= 2
    while d > 2:
        d //= 2
        plan.append([(i - d // 2, i) for i in range(d + d // 2 - 1, n, d)])
    return plan


def one_after_the_other(n):
    """wrong rounds: how many rounds does it take"""
    return [[(i - 1, i)] for i in range(1, n)]


def an_empty_round(n):
    """wrong rounds: A stretch can double in each round"""
    return [*_groups(n), []]


def one_round_too_few(n):
    """wrong lacking: places lack something"""
    return _groups(n)[:-1]


up_only = edit(
    hillis_and_steele, "wrong lacking: Which place knows the stretch", replace("d, n", "2 * d - 1, n, 2 * d")
)


def nothing(n):
    """wrong lacking: ends right before step"""
    return []


def the_first_of_the_group(n):
    """wrong gap: would be left out"""
    return [[(left // (d := 2**k) * d, right) for left, right in pairs] for k, pairs in enumerate(_groups(n))]


def distances_that_grow_too_fast(n):
    """wrong gap: would be left out"""
    return [[(i - 2**k - k, i) for i in range(2**k + k, n)] for k in range((n - 1).bit_length())]


def distances_that_do_not_grow(n):
    """wrong overlap: It has all that it needs"""
    return [[(i - 1, i) for i in range(1, n)] for _ in range((n - 1).bit_length())]


def in_place(n):
    """wrong overlap: Before this round place"""
    # as if the joins of a round came one after the other
    return [[(i - 1, i) for i in range(1, n)], *_groups(n)[1:]]


def what_is_finished_again(n):
    """wrong overlap: It has all that it needs"""
    return [
        [(max(i // 2**k * 2**k - 1, 0), i) for i in range(1, n) if i // 2**k % 2 or i < 2**k]
        for k in range((n - 1).bit_length())
    ]


def right_and_left(n):
    """wrong order: the stretch of the left place comes before"""
    return [[(right, left) for left, right in pairs] for pairs in _groups(n)]


def places_from_one(n):
    """wrong place: There is a place for each step"""
    return [[(left + 1, right + 1) for left, right in reversed(pairs)] for pairs in _groups(n)]


def from_the_end(n):
    """wrong place: no other"""
    return [[(i - 2**k, i) for i in range(n)] for k in range((n - 1).bit_length())]


def both_into_one(n):
    """wrong twice: the second one overwrites the first"""
    return [pairs + pairs[-1:] for pairs in _groups(n)]


def a_flat_list(n):
    """wrong type: a round is a list of pairs"""
    return [pair for pairs in _groups(n) for pair in pairs]


def only_the_number_of_rounds(n):
    """wrong type: A plan is a list of rounds"""
    return (n - 1).bit_length()


def strings(n):
    """wrong type: a pair is two places"""
    return [[(str(left), str(right)) for left, right in pairs] for pairs in _groups(n)]


def triples(n):
    """wrong type: a pair is two places"""
    return [[(left, right, 1) for left, right in pairs] for pairs in _groups(n)]


def the_place_before(n):
    """wrong overlap: Step 2 would be counted twice"""
    return [[(right - 1, right) for _, right in pairs] for pairs in _groups(n)]


def rounds_as_sets(n):
    """wrong raised-NotPlain: at [0]: a set, which has no order; write `sorted(...)` around it"""
    return [set(pairs) for pairs in _groups(n)]


def rounds_that_can_be_read_once(n):
    """wrong raised-NotPlain: at [0]: a zip; write `list(...)` around it"""
    return [zip([left for left, _ in pairs], [right for _, right in pairs], strict=True) for pairs in _groups(n)]


def rounds_without_end(n):
    """wrong raised-NotPlain: at [0]: a repeat; write `list(...)` around it"""
    return [itertools.repeat((0, 1)) for _ in _groups(n)]


class Short(list):
    def __len__(self):
        return 1


def rounds_that_lie(n):
    """wrong raised-NotPlain: at [0]: a Short; write `list(...)` around it"""
    return [Short(pairs) for pairs in hillis_and_steele(n)]


def a_stretch_of_three(n):
    """wrong overlap: Step 6 would be counted twice"""
    return [[(6, 7), (4, 5)], [(5, 7)], [(6, 7)]] if n == 8 else _groups(n)


def twice_into_one(n):
    """wrong twice: Both joins read what the last round left"""
    return [[(1, 2), (0, 2)]] if n > 2 else _groups(n)


def far_away(n):
    """wrong place: There is a place for each step"""
    return [[(0, 10**200)]] if n > 1 else []


def a_long_number(n):
    """wrong raised-NotPlain: at [0]: a whole number of 6,644 bits"""
    return [10**2000]


def a_logarithm(n):
    """wrong raised-ValueError: an empty list is the plan"""
    rounds = math.floor(math.log2(n - 1)) + 1
    return [[(i // 2**k * 2**k - 1, i) for i in range(n) if i // 2**k % 2] for k in range(rounds)]


def distances_from_zero(n):
    """wrong raised-ZeroDivisionError: not with 0"""
    return [[(i // k * k - 1, i) for i in range(n) if i // k % 2] for k in range(n)]
