"""Answers to 11-merge."""

import math

import numpy as np


def by_a_difference(m1, l1, acc1, m2, l2, acc2):
    """right"""
    if l1 == 0:
        return m2, l2, acc2
    if l2 == 0:
        return m1, l1, acc1
    if m1 < m2:
        m1, l1, acc1, m2, l2, acc2 = m2, l2, acc2, m1, l1, acc1
    factor = np.exp(m2 - m1)
    return [m1, l1 + factor * l2, acc1 + factor * acc2]


def as_arrays(m1, l1, acc1, m2, l2, acc2):
    """right"""
    m, sums, accs = np.array([m1, m2]), np.array([l1, l2]), np.stack([acc1, acc2])
    top = m.max()
    factors = np.exp(m - top) if np.isfinite(top) else np.zeros(2)
    return top, factors @ sums, factors @ accs


def added(m1, l1, acc1, m2, l2, acc2):
    """wrong l: here the two were added as they are"""
    return max(m1, m2), l1 + l2, acc1 + acc2


def sum_corrected_only(m1, l1, acc1, m2, l2, acc2):
    """wrong acc: acc: here the two were added as they are"""
    m = max(m1, m2)
    if m == -math.inf:
        return m, 0.0, acc1
    return m, math.exp(m1 - m) * l1 + math.exp(m2 - m) * l2, acc1 + acc2


def second_is_later(m1, l1, acc1, m2, l2, acc2):
    """wrong l: Either of the two parts can be the one"""
    m = max(m1, m2)
    if m == -math.inf:
        return m, 0.0, acc1
    factor = math.exp(m1 - m)
    return m, factor * l1 + l2, factor * acc1 + acc2


def exchanged(m1, l1, acc1, m2, l2, acc2):
    """wrong l: the factors are exchanged"""
    m = max(m1, m2)
    if m == -math.inf:
        return m, 0.0, acc1
    first, second = math.exp(m2 - m), math.exp(m1 - m)
    return m, first * l1 + second * l2, first * acc1 + second * acc2


def turned_round(m1, l1, acc1, m2, l2, acc2):
    """wrong l: the exponent is turned round"""
    m = max(m1, m2)
    if m == -math.inf:
        return m, 0.0, acc1
    first, second = np.exp(m - m1), np.exp(m - m2)
    return m, first * l1 + second * l2, first * acc1 + second * acc2


def without_a_largest(m1, l1, acc1, m2, l2, acc2):
    """wrong l: these are sums of exp(score)"""
    m = max(m1, m2)
    return m, np.exp(m1) * l1 + np.exp(m2) * l2, np.exp(m1) * acc1 + np.exp(m2) * acc2


def divided(m1, l1, acc1, m2, l2, acc2):
    """wrong acc: That comes once, when all keys have been seen"""
    m = max(m1, m2)
    if m == -math.inf:
        return m, 0.0, acc1
    first, second = math.exp(m1 - m), math.exp(m2 - m)
    total = first * l1 + second * l2
    return m, total, (first * acc1 + second * acc2) / total


def winner_takes_all(m1, l1, acc1, m2, l2, acc2):
    """wrong l: only the part with the larger m"""
    return (m1, l1, acc1) if m1 > m2 else (m2, l2, acc2)


def difference_of_infinities(m1, l1, acc1, m2, l2, acc2):
    """wrong empty: both m are -inf"""
    m = max(m1, m2)
    first, second = math.exp(m1 - m), math.exp(m2 - m)
    return m, first * l1 + second * l2, first * acc1 + second * acc2


def difference_of_infinities_in_numpy(m1, l1, acc1, m2, l2, acc2):
    """wrong raised-RuntimeWarning: both m are -inf"""
    m = np.maximum(m1, m2)
    first, second = np.exp(m1 - m), np.exp(m2 - m)
    return m, first * l1 + second * l2, first * acc1 + second * acc2


def overflows(m1, l1, acc1, m2, l2, acc2):
    """wrong raised-OverflowError: The exponent is above 700"""
    m = max(m1, m2)
    if m == -math.inf or l1 == 0 or l2 == 0:
        return (m1, l1, acc1) if m1 > m2 else (m2, l2, acc2)
    a, b = math.exp(m1), math.exp(m2)
    return m, (a * l1 + b * l2) / math.exp(m), (a * acc1 + b * acc2) / math.exp(m)


def sum_of_largest(m1, l1, acc1, m2, l2, acc2):
    """wrong m: the larger of m1 and m2"""
    return m1 + m2, l1 * l2, acc1 * acc2


def always_the_first(m1, l1, acc1, m2, l2, acc2):
    """wrong m: the larger of m1 and m2"""
    factor = math.exp(m2 - m1)
    return m1, l1 + factor * l2, acc1 + factor * acc2


def result_of_attention(m1, l1, acc1, m2, l2, acc2):
    """wrong type: Three things are asked for"""
    m = max(m1, m2)
    first, second = math.exp(m1 - m), math.exp(m2 - m)
    return (first * acc1 + second * acc2) / (first * l1 + second * l2)


def in_place(m1, l1, acc1, m2, l2, acc2):
    """wrong input-changed: The caller still needs its array"""
    m = max(m1, m2)
    first, second = math.exp(m1 - m), math.exp(m2 - m)
    acc1 *= first
    acc1 += second * acc2
    return m, first * l1 + second * l2, acc1


def difference_as_factor(m1, l1, acc1, m2, l2, acc2):
    """wrong l: the factor is the exponential of a difference"""
    m = max(m1, m2)
    first, second = m1 - m + 1, m2 - m + 1
    return m, first * l1 + second * l2, first * acc1 + second * acc2


def as_text(*arguments):
    """wrong type: Three things are asked for"""
    m, total, acc = by_a_difference(*arguments)
    return str(m), str(total), acc.astype(str)
