"""Answers to 15-tune."""

from itertools import product  # the notebook's

import numpy as np


def by_model(parameters, fits, count, trials):
    """right"""

    def gcd(a, b):
        return gcd(b, a % b) if b else a

    def cost(sizes):  # for a large matrix: cycles for each element of the result, and each step
        across, down, rows, columns, apart = sizes.values()
        right = columns * (1 if apart else max(1, across * gcd(columns, 32) / 32))
        left = rows * max(1, gcd(rows, 32) / across)
        return 1 / (4 * across * columns) + 1 / (4 * down * rows) + (right + left) / (32 * rows * columns)

    there = [dict(zip(parameters, values, strict=True)) for values in product(*parameters.values())]
    there = sorted((sizes for sizes in there if fits(sizes)), key=cost)[:9]
    counts = [count(sizes) for sizes in there]
    return there[int(np.argmin(counts))]


def pairs_from_two_corners(parameters, fits, count, trials):
    """over budget over-budget: it took too many trials"""
    known = {}

    def score(sizes):
        key = tuple(sizes.values())
        if key not in known:
            known[key] = count(sizes) if fits(sizes) and len(known) < trials else float("inf")
        return known[key]

    def descend(best):
        changed = True
        while changed:
            changed = False
            for one, other in (("rows", "columns"), ("across", "down"), ("apart", "columns")):
                for values in product(parameters[one], parameters[other]):
                    near = {**best, one: values[0], other: values[1]}
                    if score(near) < score(best):
                        best, changed = near, True
        return best

    starts = (
        {"across": 16, "down": 4, "rows": 4, "columns": 4, "apart": 1},
        {"across": 32, "down": 8, "rows": 4, "columns": 4, "apart": 1},
    )
    return min(map(descend, starts), key=score)


def everything(parameters, fits, count, trials):
    """wrong many: Count your trials"""
    there = [dict(zip(parameters, values, strict=True)) for values in product(*parameters.values())]
    return min((sizes for sizes in there if fits(sizes)), key=count)


def whatever_fits_or_not(parameters, fits, count, trials):
    """wrong unfit: before you try a configuration"""
    return min((dict(zip(parameters, values, strict=True)) for values in product(*parameters.values())), key=count)


def the_first_that_fits(parameters, fits, count, trials):
    """wrong far: It is too far off"""
    for values in product(*parameters.values()):
        sizes = dict(zip(parameters, values, strict=True))
        if fits(sizes):
            count(sizes)
            return sizes


def a_guess(parameters, fits, count, trials):
    """wrong untried: What was never counted is a guess"""
    return {"across": 16, "down": 4, "rows": 4, "columns": 4, "apart": 1}


def values_alone(parameters, fits, count, trials):
    """wrong none: A configuration is a dict"""
    return count((16, 4, 4, 4, 1))


def nothing(parameters, fits, count, trials):
    """wrong type: Return the dict"""
    count({"across": 16, "down": 4, "rows": 4, "columns": 4, "apart": 1})


def too_large(parameters, fits, count, trials):
    """wrong unfit: The choice does not fit"""
    return {"across": 32, "down": 8, "rows": 8, "columns": 8, "apart": 1}


def the_worst(parameters, fits, count, trials):
    """wrong far: times the cycles of the best"""
    sizes = {"across": 4, "down": 8, "rows": 1, "columns": 1, "apart": 0}
    count(sizes)
    return sizes


def a_name_is_missing(parameters, fits, count, trials):
    """wrong raised-KeyError: all five names"""
    return count({name: parameters[name][0] for name in parameters if fits({name: 32})})


def many_but_right(parameters, fits, count, trials):
    """over budget over-budget: it took too many trials"""
    there = [dict(zip(parameters, values, strict=True)) for values in product(*parameters.values())]
    there = [sizes for sizes in there if fits(sizes)]
    there.sort(key=lambda s: (1 / (s["rows"] * s["across"]), -s["rows"] * s["columns"]))
    there.sort(key=lambda s: (s["rows"] + s["columns"]) / (s["rows"] * s["columns"]))
    counts = [count(sizes) for sizes in there[: min(trials, 190)]]
    return there[int(np.argmin(counts))]
