"""What several tasks of chapter 01 use: the events of a timing, and what is said of a statistic."""

import math
import statistics
from dataclasses import replace

from ...definition import Slip


def is_number(value):
    return isinstance(value, int | float) and not isinstance(value, bool) and math.isfinite(value)


def is_close(a, b):
    return abs(a - b) <= 1e-9 * max(abs(a), abs(b), 1e-12)


def timed_events(log):
    """The events between the first and the second reading of the clock, the third and the fourth ...; None if odd."""
    intervals, inside = [], None
    for event in log:
        if event[0] == "clock":
            if inside is None:
                inside = []
            else:
                intervals.append(inside)
                inside = None
        elif inside is not None:
            inside.append(event)
    return intervals if inside is None else None


def with_events(slip, result):
    """The slip, with what came in words: the value, and in which order things happened at first."""
    if slip is None:
        return None
    value, names = result["value"], [event[0] for event in result["log"]]
    order = ", ".join(names[:9]) + (", ..." if len(names) > 9 else "")
    said = f"{value:.6g}" if is_number(value) else repr(value)[:60]
    return replace(slip, got=f"{said}, after: {order or 'nothing'}")


WARM_UP = "The first call compiles. Make it before you read the clock, and forget it."


def judge_statistic(value, values, right, name):
    """None if `value` is `right`; else a Slip that recognises the mean, the smallest, the largest, the sum, the
    last."""
    expected = f"{right:.6g}, {name}"
    if not is_number(value):
        return Slip("type", expected, "Return one number.")
    if is_close(value, right):
        return None
    for kind, mistaken, cause in (
        ("mean", statistics.mean(values), "This is the mean. One long run pulls it up; the median hardly moves."),
        ("smallest", min(values), "This is the smallest. It is a lucky run, not a usual one: take the median."),
        ("largest", max(values), "This is the largest: a disturbed run. Take the median."),
        ("sum", math.fsum(values), "This is the sum of all runs. Take the median of the single ones."),
        ("middle", values[len(values) // 2], "This is the one in the middle of the list as measured. Sort it first."),
        (
            "upper",
            sorted(values)[len(values) // 2],
            "The number is even: the median is the mean of the two in the middle.",
        ),
        (
            "lower",
            sorted(values)[(len(values) - 1) // 2],
            "The number is even: the median is the mean of the two in the middle.",
        ),
    ):
        if is_close(value, mistaken):
            return Slip(kind, expected, cause)
    return Slip(
        "value",
        expected,
        "Each time is one reading of the clock minus the one before. statistics.median sorts and picks.",
    )
