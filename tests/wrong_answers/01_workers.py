"""Answers to 01-workers."""

import math


def by_trying(serial, wanted):
    """right"""
    if wanted <= 1:
        return 1
    if 1 / wanted <= serial:
        return None
    n = 1
    while 1 / (serial + (1 - serial) / n) < wanted:
        n += 1
    return n


def rounded_down(serial, wanted):
    """wrong too-few: Round up"""
    if 1 / wanted <= serial:
        return None
    return int((1 - serial) / (1 / wanted - serial))


def one_more(serial, wanted):
    """wrong too-many: One fewer is enough"""
    if 1 / wanted <= serial:
        return None
    return int((1 - serial) / (1 / wanted - serial)) + 1


def a_float(serial, wanted):
    """wrong type: no half workers"""
    if 1 / wanted <= serial:
        return None
    return (1 - serial) / (1 / wanted - serial)


def never_none(serial, wanted):
    """wrong impossible: Compare `wanted` with the limit"""
    return math.ceil((1 - serial) / (1 / wanted - serial))


def divided_by_nothing(serial, wanted):
    """wrong raised-ZeroDivisionError: nothing is left for the divisible part"""
    if 1 / wanted < serial:
        return None
    return math.ceil((1 - serial) / (1 / wanted - serial))


def gustafson(serial, wanted):
    """wrong gustafson: for a job that grows"""
    if serial == 1 or 1 / wanted <= serial:
        return None
    return math.ceil((wanted - serial) / (1 - serial))


def shares_exchanged(serial, wanted):
    """wrong none: exchanged"""
    parallel = 1 - serial
    if wanted <= 1:
        return 1
    if 1 / wanted <= parallel:
        return None
    return math.ceil(serial / (1 / wanted - parallel))


def as_many_as_wanted(serial, wanted):
    """wrong other: must not exceed 1 / wanted"""
    return math.ceil(wanted) * 4 if 1 / wanted > serial else None


def at_most_a_hundred(serial, wanted):
    """wrong none: a search end too early"""
    for n in range(1, 101):
        if 1 / (serial + (1 - serial) / n) >= wanted:
            return n
    return None
