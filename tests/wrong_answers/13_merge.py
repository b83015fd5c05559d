"""Answers to 13-merge."""

import numpy as np
from answers import MASTER, edit, replace


def all_at_once(crow, parts):
    """right"""
    rows, entries = len(crow) - 1, int(crow[-1])
    each = (rows + entries + parts - 1) // parts
    d = np.minimum(np.arange(parts + 1) * each, rows + entries)
    ends = crow[1:] + np.arange(rows)  # row r is finished with step number ends[r]
    row = np.searchsorted(ends, d, side="left")
    return np.stack([row, d - row], axis=1)


def by_bisection_of_entries(crow, parts):
    """right"""
    rows, entries = len(crow) - 1, int(crow[-1])
    steps = rows + entries
    each = max(1, -(-steps // parts))
    found = []
    for k in range(parts + 1):
        d = min(k * each, steps)
        low, high = -1, rows
        while high - low > 1:
            middle = (low + high) // 2
            if crow[middle + 1] + middle + 1 <= d:
                low = middle
            else:
                high = middle
        found.append([low + 1, d - low - 1])
    return found


def equal_entries(crow, parts):
    """wrong by-entries: a row or an entry"""
    entries = int(crow[-1])
    each = -(-entries // parts)
    d = [min(k * each, entries) for k in range(parts + 1)]
    return [(int(np.searchsorted(crow, e, side="right")) - 1, e) for e in d]


without_the_end = edit(MASTER, "wrong count: the end of the last one", replace("range(parts + 1)", "range(parts)"))
rounded_down = edit(
    MASTER, "wrong rounded: are rounded up", replace("-(-(rows + entries) // parts)", "(rows + entries) // parts")
)
unfinished = edit(MASTER, "wrong unfinished: is finished", replace("<= d - middle - 1", "< d - middle - 1"))
too_far = edit(MASTER, "wrong too-far: it is not finished", replace("crow[middle + 1] <=", "crow[middle] <="))
swapped = edit(
    MASTER,
    "wrong swapped: the row comes first",
    replace("found.append((low, d - low))", "found.append((d - low, low))"),
)
only_rows = edit(MASTER, "wrong type: pairs", replace("found.append((low, d - low))", "found.append(low)"))
without_limits = edit(
    MASTER,
    "wrong raised-IndexError: index",
    replace("low, high = max(0, d - entries), min(d, rows)", "low, high = 0, d + 2"),
)
not_on_the_diagonal = edit(
    MASTER, "wrong diagonal: its row and its entry together", replace("(low, d - low)", "(low, int(crow[low]))")
)
halves = edit(MASTER, "wrong type: whole numbers", replace("(low, d - low)", "(low, d - low + 0.5)"))
