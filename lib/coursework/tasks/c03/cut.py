"""03-cut: Cut a loop of known costs."""

from itertools import pairwise

import numpy as np

from ...definition import Case, Section, Slip
from ...kinds.function import FunctionTask
from .shared import PREDICT_ROWS, is_whole, static_makespan


def parts_needed(costs, most):
    """Contiguous parts of at most `most` that a loop of `costs` needs."""
    parts, part = 1, 0
    for cost in costs:
        if part + cost > most:
            parts, part = parts + 1, 0
        part += cost
    return parts


def least_busiest(costs, threads):
    """The specification of 03-cut: the least work of the busiest of `threads` contiguous parts."""
    low, high = max(costs), sum(costs)
    while low < high:
        middle = (low + high) // 2
        low, high = (low, middle) if parts_needed(costs, middle) <= threads else (middle + 1, high)
    return low


def judge_cut(arguments, result):
    costs, threads = arguments
    n = len(costs)
    expected = f"{threads + 1} whole numbers from 0 to {n}, none smaller than the one before"
    borders = list(result) if isinstance(result, list | tuple | np.ndarray) else [None]
    if not all(is_whole(b) for b in borders):
        return Slip("type", expected, "Return a list: part t is range(borders[t], borders[t + 1]).")
    if len(borders) != threads + 1:
        return Slip(
            "number",
            expected,
            "Each part has a beginning, and the last one an end; empty parts have both, too. If there are too many: "
            "the largest part may hold more than your search allowed. It can need up to the sum of all costs.",
            f"{len(borders)} numbers",
        )
    if borders[0] != 0 or borders[-1] != n:
        cause = "The first part begins at 0, and the last one ends after the last iteration."
        return Slip("ends", expected, cause, f"from {borders[0]} to {borders[-1]}")
    if any(a > b for a, b in pairwise(borders)):
        return Slip("order", expected, "A part begins where the one before ends. It may be empty.")
    works = [sum(costs[a:b]) for a, b in pairwise(borders)]
    least, busiest = least_busiest(costs, threads), max(works)
    if busiest == least:
        return None
    got = f"{busiest} units, in part {works.index(busiest)}"
    if busiest == static_makespan(costs, threads):
        cause = (
            "These parts have the same number of iterations. Equal work is asked for: where the rows are long, take "
            "fewer."
        )
    elif max(sum(sorted(costs)[a:b]) for a, b in pairwise(borders)) == least_busiest(sorted(costs), threads):
        cause = (
            "These are the best borders for the costs in order of their size. The loop keeps its own order: do not "
            "sort."
        )
    elif busiest <= -(-sum(costs) // threads) + max(costs):
        cause = (
            "Close, but a better cut exists. If you cut where the sum passes a share of the work, every border is "
            "rounded the same way. Ask instead: with at most so many units in a part, how many parts are needed?"
        )
    else:
        cause = (
            "Which part is the busiest, and could one of its ends go to its neighbour? If you fill parts up to a "
            "limit: does each new part begin with nothing in it?"
        )
    return Slip("busier", f"{least} units in the busiest part", cause, got)


def cut_arguments(n, threads, highest=50):
    return lambda rng: ([int(c) for c in rng.integers(1, highest, n)], threads)


CUT = FunctionTask(
    id="03-cut",
    section=Section("3.2", "03_schedules", "Rows that are not equal"),
    title="Cut a loop of known costs",
    objective="Divide uneven iterations into contiguous parts so that the busiest thread has as little as possible",
    points=5,
    minutes=20,
    judge=judge_cut,
    cases=(
        Case("8 causal rows, 2 threads", lambda rng: (list(PREDICT_ROWS), 2)),
        Case("100 causal rows, 4 threads", lambda rng: (list(range(1, 101)), 4)),
        Case("a long one in the middle", lambda rng: ([2, 3, 2, 40, 1, 2, 3, 2], 3)),
        Case("more threads than iterations", lambda rng: ([4, 7], 4)),
        Case("60 random costs, 7 threads", cut_arguments(60, 7)),
        Case("3000 random costs, 16 threads", cut_arguments(3000, 16)),
    ),
    advice={
        "raised-TooManyIterations": "There are far too many cuts to try them all. And a search that halves a range "
        "must make it smaller in every round, also when only two numbers are left."
    },
    hints=(
        "If somebody told you how much a part may hold at most, could you cut the loop?",
        "Go through the costs and begin a new part whenever the next one no longer fits. That takes the fewest parts "
        "for this limit. So the question is for the smallest limit that needs no more parts than there are threads.",
        "The limit lies between the largest cost and the sum of all. Halve that range again and again: does the middle "
        "need at most `threads` parts? At the end add borders at n for parts that are not needed.",
    ),
)
