"""01-bug: A benchmark that measures something else."""

import statistics

from ...definition import Case, Section, Slip
from ...kinds.scenario import ScenarioTask
from .shared import WARM_UP, judge_statistic, timed_events, with_events


def play_benchmark(benchmark, repeats, compiling, slow_every):
    """Run `benchmark(function, make_data, clock, repeats)` on a clock of ours. Returns its value and what happened.

    The first call of the function takes `compiling` seconds more, every `slow_every`-th one 40 times as long; data
    that the function has seen before is in the cache, and four times as fast. Making data takes long.
    """
    log, state = [], {"now": 0.0, "calls": 0, "made": 0}
    seen = set()

    def clock():
        log.append(["clock", 0.0, True])
        return state["now"]

    def make_data():
        state["now"] += 0.25
        state["made"] += 1
        log.append(["make_data", 0.25, True])
        return [state["made"]]

    def function(data):
        state["calls"] += 1
        k, fresh = state["calls"], data[0] not in seen
        seen.add(data[0])
        cost = 0.002 * (1 + 0.01 * (7 * k % 11)) * (1 if fresh else 0.25)
        cost = cost * (40 if k % slow_every == 0 else 1) + (compiling if k == 1 else 0)
        state["now"] += cost
        log.append(["function", cost, fresh])

    value = benchmark(function, make_data, clock, repeats)
    return {"value": value, "log": log}


def judge_benchmark(arguments, result):
    return with_events(_benchmark(arguments, result), result)


def _benchmark(arguments, result):
    """The median of `repeats` timed calls, each alone and with data of its own, after a call that is not timed."""
    repeats = arguments[0]
    log, value = result["log"], result["value"]
    intervals = timed_events(log)
    calls = [event for event in log if event[0] == "function"]
    if not calls:
        return Slip("no-call", "calls of function(data)", "function is never called.")
    if not intervals:
        return Slip("clock", "clock() before and after each call", "Two readings belong to each time: start and end.")
    if any(calls[0] is event for inside in intervals for event in inside):
        return Slip("warm-up", "the first call outside of what is timed", WARM_UP)
    inside = [event for interval in intervals for event in interval]
    if any(event[0] == "make_data" for event in inside):
        return Slip(
            "setup-timed",
            "nothing but the call between two readings of the clock",
            "The time to make the data is measured, too. Make it before you read the clock.",
        )
    timed = [event for event in inside if event[0] == "function"]
    if any(not event[2] for event in timed):
        return Slip(
            "cached",
            "data of its own for each timed call",
            "A call got data that the function had seen before: it lies in the cache. Call make_data() for each.",
        )
    if [len(interval) for interval in intervals] != [1] * repeats:
        return Slip(
            "count",
            f"{repeats} times, each of one call",
            f"There are {len(timed)} timed calls in {len(intervals)} pairs of readings. One pair around each call.",
        )
    times = [event[1] for event in timed]
    return judge_statistic(value, times, statistics.median(times), "the median of the times")


BUG = ScenarioTask(
    id="01-bug",
    section=Section("1.2", "01_timing", "Mistake 1: the first call"),
    title="A benchmark that measures something else",
    objective="Debug a benchmark: find what it measures besides the function",
    points=4,
    minutes=15,
    scenario=play_benchmark,
    judge=judge_benchmark,
    cases=(
        Case("9 repeats, the first call takes 30 s more, every 4th is disturbed", lambda rng: (9, 30.0, 4)),
        Case("5 repeats, nothing is disturbed", lambda rng: (5, 0.0, 1000)),
        Case("6 repeats, every 5th is disturbed", lambda rng: (6, 2.0, 5)),
    ),
    hints=(
        "Write down all that happens between the two readings of the clock in the first round. What of it is the "
        "function?",
        "Three things: the first call is special, making data is not the function's work, and one disturbed run spoils "
        "a mean.",
        "In the loop, which call must stand before start = clock()? What must have been called once before the loop "
        "begins? And which function of statistics hardly notices one long run?",
    ),
)
