"""Answers to 12-accumulate."""

import numpy as np
from answers import MASTER, edit, replace


def weighs_at_the_end(gradient, x, t, most):
    """right"""
    total = 0.0
    for k in range(0, len(x), most):
        rows = x[k : k + most]
        total = total + len(rows) * gradient(rows, t[k : k + most])
    return total / len(x)


def copies(gradient, x, t, most):
    """right"""
    found, weights = [], []
    for k in range(0, len(x), most):
        found.append(gradient(x[k : k + most], t[k : k + most]).copy())
        weights.append(len(x[k : k + most]))
    return np.array(weights) @ np.array(found) / sum(weights)


keeps_what_is_not_its_own = edit(copies, "wrong alias: uses its memory again", replace(".copy()", ""))


def adds_into_the_first(gradient, x, t, most):
    """wrong alias: an array of your own"""
    total = gradient(x[:most], t[:most])
    for k in range(most, len(x), most):
        total += gradient(x[k : k + most], t[k : k + most])
    return total


def all_at_once(gradient, x, t, most):
    """wrong memory: has memory for `most` rows"""
    return gradient(x, t)


def drops_the_tail(gradient, x, t, most):
    """wrong tail: they make a part that is not full"""
    total = np.zeros(x.shape[1])
    for k in range(0, len(x) - most + 1, most):
        total += gradient(x[k : k + most], t[k : k + most]) * most / len(x)
    return total


sums = edit(MASTER, "wrong sum: a mean, and so is its gradient", replace(" * (len(part) / len(x))", ""))
unweighted = edit(
    MASTER,
    "wrong unweighted: weigh each by its rows",
    replace("(len(part) / len(x))", "(1 / len(range(0, len(x), most)))"),
)
by_most = edit(
    MASTER, "wrong wrong-weight: The last one has fewer rows", replace("len(part) / len(x)", "most / len(x)")
)
not_divided = edit(MASTER, "wrong not-divided: was not divided by all rows", replace("len(part) / len(x)", "len(part)"))
the_last = edit(MASTER, "wrong last: the last part alone", replace("total += gradient", "total = gradient"))
all_labels = edit(MASTER, "wrong part: the same part of t", replace("t[k : k + most]", "t"))
row_by_row = edit(
    MASTER,
    "over budget over-budget: the parts are smaller than they may be",
    replace("for k in range(0, len(x), most):", "for k in range(len(x)):"),
    replace("x[k : k + most]", "x[k : k + 1]"),
    replace("t[k : k + most]", "t[k : k + 1]"),
)


def a_number(gradient, x, t, most):
    """wrong type: Return one gradient, an array"""
    return 0.0


def the_first_part(gradient, x, t, most):
    """wrong first: Go through all rows"""
    return gradient(x[:most], t[:most]).copy()


def rows_without_a_row(gradient, x, t, most):
    """wrong part: a single row is x[k : k + 1]"""
    return sum(gradient(x[k], t[k]) for k in range(len(x))) / len(x)


def sizes_nearly_equal(gradient, x, t, most):
    """right"""
    parts = -(-len(x) // most)
    pairs = zip(np.array_split(x, parts), np.array_split(t, parts), strict=True)
    return sum(len(a) * gradient(a, b) for a, b in pairs) / len(x)
