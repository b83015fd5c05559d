"""01-ratio: An honest ratio."""

import math
import statistics

from ...definition import Case, Section, Slip
from ...kinds.scenario import ScenarioTask
from .shared import WARM_UP, is_close, is_number, judge_statistic, timed_events, with_events


def play_ratio(median_ratio, rounds, compiling, drift, slow_every):
    """Run `median_ratio(peer, ours, clock, rounds)` on a clock of ours. Returns its value and what happened.

    First calls take `compiling` seconds more, every `slow_every`-th call 30 times as long, and the machine gets
    slower by the share `drift` in each second. Who runs right behind the other is 10 % slower.
    """
    log, state = [], {"now": 0.0, "calls": 0, "last": ""}
    called = set()

    def clock():
        log.append(["clock", 0.0, True])
        return state["now"]

    def candidate(name, seconds):
        def run():
            state["calls"] += 1
            cost = seconds * (1 + drift * state["now"])
            cost *= 1.1 if state["last"] not in ("", name) else 1
            cost *= 30 if state["calls"] % slow_every == 0 else 1
            cost += compiling if name not in called else 0
            called.add(name)
            state["last"] = name
            state["now"] += cost
            log.append([name, cost, True])

        return run

    value = median_ratio(candidate("peer", 0.02), candidate("ours", 0.01), clock, rounds)
    return {"value": value, "log": log}


def judge_ratio(arguments, result):
    return with_events(_ratio(arguments, result), result)


def _ratio(arguments, result):
    """The median of the ratios of `rounds` rounds; in a round each runs once, and they take turns in being first."""
    rounds = arguments[0]
    log, value = result["log"], result["value"]
    names = [event[0] for event in log if event[0] != "clock"]
    if {"peer", "ours"} - set(names):
        return Slip("no-call", "calls of peer() and of ours()", "One of the two is never called.")
    intervals = timed_events(log)
    if not intervals:
        return Slip("clock", "clock() before and after each call", "Two readings belong to each time: start and end.")
    inside = [event for interval in intervals for event in interval]
    for name in ("peer", "ours"):
        first_call = next(event for event in log if event[0] == name)
        if any(first_call is event for event in inside):
            return Slip("warm-up", f"the first call of {name}() outside of what is timed", WARM_UP)
    if any(len(interval) != 1 for interval in intervals):
        return Slip(
            "mixed",
            "one call between two readings of the clock",
            "Between two readings there is more than one call, or none. Time each call by itself.",
        )
    if len(intervals) != 2 * rounds:
        return Slip(
            "count",
            f"{rounds} rounds: {2 * rounds} timed calls",
            f"There are {len(intervals)} timed calls. In a round, each of the two runs once.",
        )
    pairs = [(intervals[k][0], intervals[k + 1][0]) for k in range(0, 2 * rounds, 2)]
    if any(a[0] == b[0] for a, b in pairs):
        return Slip(
            "blocks",
            "peer and ours once in each round",
            "One is run several times in a row. If the machine drifts, whoever comes later is hit: take turns.",
        )
    ahead = [a[0] for a, _ in pairs]
    if abs(2 * ahead.count("peer") - rounds) > 1:
        return Slip(
            "order",
            "each of the two first in half of the rounds",
            f"peer was first in {ahead.count('peer')} of {rounds} rounds. Who runs behind the other may find "
            "its threads or its data: change the order from round to round.",
        )
    times = [{a[0]: a[1], b[0]: b[1]} for a, b in pairs]
    ratios = [t["peer"] / t["ours"] for t in times]
    right = statistics.median(ratios)
    if is_number(value) and not is_close(value, right):
        expected = f"{right:.6g}, the median of the ratios"
        peer, ours = ([t[name] for t in times] for name in ("peer", "ours"))
        if is_close(value, statistics.median(t["ours"] / t["peer"] for t in times)):
            return Slip(
                "inverted",
                expected,
                "This is ours / peer. The ratio of this book is peer / ours: above 1, ours is faster.",
            )
        crossed = [r if k % 2 == (ahead[0] == "ours") else 1 / r for k, r in enumerate(ratios)]
        if is_close(value, statistics.median(crossed)) or is_close(value, statistics.median(1 / r for r in crossed)):
            cause = (
                "In the rounds in which the order is changed, the time of ours is taken for that of peer: keep each by "
                "name."
            )
            return Slip("crossed", expected, cause)
        if is_close(value, statistics.median(t["peer"] - t["ours"] for t in times)):
            return Slip("difference", expected, "This is a difference of times, in seconds. A ratio is peer / ours.")
        if is_close(value, statistics.median(peer) / statistics.median(ours)):
            cause = (
                "This is the ratio of two medians. They may come from different rounds: form the ratio inside each "
                "round."
            )
            return Slip("medians", expected, cause)
        if is_close(value, math.fsum(peer) / math.fsum(ours)):
            return Slip(
                "sums",
                expected,
                "This is the ratio of the sums: one disturbed run decides it. Form the ratio in each round.",
            )
    return judge_statistic(value, ratios, right, "the median of the ratios")


RATIO = ScenarioTask(
    id="01-ratio",
    section=Section("1.2", "01_timing", "Mistake 5: first A, then B"),
    title="An honest ratio",
    objective="Write a comparison of two functions that compilation, drift and disturbed runs cannot spoil",
    points=5,
    minutes=20,
    scenario=play_ratio,
    judge=judge_ratio,
    cases=(
        Case("8 rounds on a quiet machine", lambda rng: (8, 0.0, 0.0, 1000)),
        Case("8 rounds, the first calls compile", lambda rng: (8, 5.0, 0.0, 1000)),
        Case("9 rounds, the machine gets slower and slower", lambda rng: (9, 1.0, 3.0, 1000)),
        Case("12 rounds, every 7th call is disturbed", lambda rng: (12, 1.0, 0.5, 7)),
    ),
    hints=(
        "What would go wrong if peer ran 10 times and then ours 10 times, while the machine gets slower?",
        "Warm up both. Then, in each round, time one call of each and keep peer / ours. In every second round, begin "
        "with ours.",
        "Let a small function time one call. What tells you, from the number of a round, who begins in it? Keep a "
        "ratio of each round, whoever began; which function of statistics hardly notices one bad round?",
    ),
)
