"""Tasks of chapter 01, Why parallel. Times come from clocks that the check controls, so that every verdict is exact."""

import math
import statistics
from dataclasses import replace

from ..definition import Case, Section, Slip
from ..kinds.function import FunctionTask
from ..kinds.prediction import PredictionTask, Question
from ..kinds.scenario import ScenarioTask


def _number(value):
    return isinstance(value, int | float) and not isinstance(value, bool) and math.isfinite(value)


def _close(a, b):
    return abs(a - b) <= 1e-9 * max(abs(a), abs(b), 1e-12)


# 01-workers --------------------------------------------------------------------------------------------------


def fewest_workers(serial, wanted):
    """The smallest number of workers whose speed-up after Amdahl reaches `wanted`; None if there is none."""
    if wanted <= 1:
        return 1
    left = 1 / wanted - serial  # what remains of the time for the divisible part
    return math.ceil((1 - serial) / left) if left > 0 else None


def judge_workers(arguments, result):
    """Right if it is the whole number of `fewest_workers`, or None where there is none."""
    serial, wanted = arguments
    right = fewest_workers(serial, wanted)
    if right is None:
        if result is None:
            return None
        limit = f"with {serial:.0%} serial work, the speed-up stays below {1 / serial:g} however many workers there are"
        return Slip("impossible", f"None: {limit}", "Compare `wanted` with the limit 1 / serial before you divide.")
    expected = f"{right}, a whole number"
    if result is None:
        cause = (
            f"The limit is 1 / serial, and {wanted} lies below it: some number is enough. Does a search end too early, or are "
            "serial and parallel share exchanged?"
        )
        if wanted <= 1:
            cause = "One worker is as fast as one worker: for `wanted` = 1 that is enough, however much is serial."
        return Slip("none", expected, cause if serial else "Without serial work there is no limit.")
    if type(result) is not int:
        return Slip("type", expected, "There are no half workers: round up, and return an int (math.ceil gives one).")
    if result == right:
        return None
    if result == right - 1:
        cause = "That many are not quite enough. Round up, not down or to the nearest."
        if serial and result == math.ceil(wanted):
            cause += " And does `serial` come in?"
        return Slip("too-few", expected, cause)
    if 0 < serial < 1 and result == math.ceil((wanted - serial) / (1 - serial)):
        cause = "This is Gustafson's law, for a job that grows. Here the job stays the same."
        if result == math.ceil(wanted):
            cause += " Or is `serial`, a share from 0 to 1, taken for a percentage, or left out?"
        return Slip("gustafson", expected, cause)
    if serial and result == math.ceil(wanted):
        cause = (
            "That many would do if hardly anything were serial. `serial` is a share from 0 to 1, no percentage: where does it "
            "come in?"
        )
        return Slip("nothing-serial", expected, cause)
    if result == right + 1:
        return Slip("too-many", expected, "One fewer is enough. Is 1 added where the division has no rest?")
    return Slip(
        "other", expected, "With n workers the time is serial + (1 - serial) / n. It must not exceed 1 / wanted."
    )


WORKERS = FunctionTask(
    id="01-workers",
    section=Section("1.3", "01_scaling", "Amdahl's law: the job stays the same"),
    title="How many workers do you need?",
    objective="Compute the number of workers that Amdahl's law demands for a speed-up",
    points=2,
    minutes=10,
    judge=judge_workers,
    cases=(
        Case("a quarter is serial, twice as fast", lambda rng: (0.25, 2.0)),
        Case("nothing is serial, 7 times as fast", lambda rng: (0.0, 7.0)),
        Case("10 % serial, 4.5 times as fast", lambda rng: (0.1, 4.5)),
        Case("5 % serial, 25 times as fast", lambda rng: (0.05, 25.0)),
        Case("half is serial, exactly at the limit: twice as fast", lambda rng: (0.5, 2.0)),
        Case("all is serial, as fast as now", lambda rng: (1.0, 1.0)),
        Case("1 % serial, 93 times as fast", lambda rng: (0.01, 93.0)),
    ),
    advice={
        "raised-RecursionError": "Python ends after 1000 calls inside each other, and more workers may be needed. Compute.",
        "raised-ZeroDivisionError": (
            "Where the limit is just reached, nothing is left for the divisible part: test for that before you divide."
        ),
    },
    hints=(
        "Take the time with one worker as 1. How much time may the whole job take, and how much of it does the serial part use?",
        "1 / wanted is the time allowed; 1 / wanted - serial is left for the divisible part, which needs (1 - serial) / n.",
        "If wanted <= 1, one worker is enough. left = 1 / wanted - serial; if left <= 0 return None, else math.ceil((1 - serial) / left).",
    ),
)

# 01-roof -----------------------------------------------------------------------------------------------------


def judge_roof(arguments, result):
    """(seconds, "arithmetic" | "memory"), the larger of the two times and which it is."""
    flops, moved, peak, bandwidth = arguments
    by_arithmetic, by_memory = flops / (peak * 1e9), moved / (bandwidth * 1e9)
    right = max(by_arithmetic, by_memory)
    bound = "arithmetic" if by_arithmetic > by_memory else "memory"
    expected = f"({right:.6g}, {bound!r})"
    if not isinstance(result, list | tuple) or len(result) != 2 or not _number(result[0]):
        return Slip("type", expected, "Return two values: the seconds, and the word for what sets the limit.")
    seconds, said = result
    if not _close(seconds, right):
        for factor, cause in (
            (1e9, "The rates are given in GFLOP/s and GB/s. 1 G is 1e9."),
            (1e-9, "The factor 1e9 stands on the wrong side: more flops per second is less time."),
            (2**30 / 1e9, "G in a rate is 1e9; 2**30 is a GiB."),
            (1e9 / 2**30, "G in a rate is 1e9; 2**30 is a GiB."),
        ):
            if _close(seconds, right * factor):
                return Slip("units", expected, cause)
        if _close(seconds, min(by_arithmetic, by_memory)):
            cause = "This is the shorter of the two times. Both limits hold, so the longer one decides."
            return Slip("shorter", expected, cause)
        if _close(seconds, by_arithmetic + by_memory):
            cause = "This is the sum. A core computes while the next data is on its way: only the longer time counts."
            return Slip("sum", expected, cause)
        if _close(seconds, flops / (bandwidth * 1e9)) or _close(seconds, moved / (peak * 1e9)):
            return Slip("crossed", expected, "Flops belong to the peak, bytes to the bandwidth.")
        if _close(seconds * by_arithmetic, 1) or _close(seconds * by_memory, 1):
            return Slip("upside-down", expected, "This is rate / work, in 1/s. A time is work / rate.")
        if seconds in (int(by_arithmetic), int(by_memory)):
            return Slip("cut", expected, "The fraction of a second was cut off: `/` keeps it, `//` and int() do not.")
        if abs(seconds - right) <= 1e-2 * right:
            return Slip("rounded", expected, "Nearly. Return the seconds as they are, without rounding.")
        cause = (
            "Two times: flops / peak and bytes / bandwidth, in plain units, from the arguments and from nothing else."
        )
        return Slip("other", expected, cause)
    if said != bound:
        return Slip("bound", expected, f"The seconds are right. Which of the two limits gave them? Say {bound!r}.")
    return None


ROOF = FunctionTask(
    id="01-roof",
    section=Section("1", "01_why_parallel", "The roofline"),
    title="At best, how long?",
    objective="Compute the least time of a kernel from its flops, its bytes and the two limits of a machine",
    points=2,
    minutes=10,
    judge=judge_roof,
    cases=(
        Case("vector add, 1e8 elements, 100 GFLOP/s, 25 GB/s", lambda rng: (1e8, 12e8, 100.0, 25.0)),
        Case("matrix product, n = 2000, 100 GFLOP/s, 25 GB/s", lambda rng: (1.6e10, 4.8e7, 100.0, 25.0)),
        Case("any kernel", lambda rng: tuple(float(v) for v in rng.uniform((1e9, 1e9, 50, 10), (9e9, 9e9, 90, 40)))),
    ),
    hints=(
        "How long would the arithmetic take if all data were there? How long would the data take if nothing were computed?",
        "flops / peak and bytes / bandwidth are two times. Both are needed, at the same moment. G is 1e9.",
        'a = flops / (peak * 1e9) and m = nbytes / (bandwidth * 1e9); return max(a, m), "arithmetic" if a > m else "memory".',
    ),
)

# 01-predict --------------------------------------------------------------------------------------------------

DEGREE, ELEMENTS, LANES, LATENCY, UNITS = 8, 1000, 8, 4, 2


class _Counted:
    """A number that counts the additions and multiplications made with its like."""

    done = 0

    def _count(self, other):
        _Counted.done += 1
        return self

    __mul__ = __rmul__ = __add__ = __radd__ = _count


def _flops():
    """Flops of Horner's rule, counted for one element and taken for all."""
    before = _Counted.done
    s = v = _Counted()
    for _ in range(DEGREE):
        s = s * v + 1
    return (_Counted.done - before) * ELEMENTS


def _vector_instructions():
    """Multiply-add instructions for all elements, counted as a vectorised loop goes over them."""
    count = 0
    for _ in range(0, ELEMENTS, LANES):
        for _ in range(DEGREE):
            count += 1
    return count


def _finished(chains, cycles=400):
    """Steps that a core finishes if each of `chains` chains may start its next step when the last is done."""
    ready, done = [0] * chains, 0
    for now in range(cycles):
        free = UNITS
        for k in range(chains):
            if free and ready[k] <= now:
                ready[k], free, done = now + LATENCY, free - 1, done + 1
    return done


def _fewest_chains():
    """The smallest number of chains with which the core finishes as many steps as with very many, by trying."""
    most = _finished(100)
    return next(k for k in range(1, 101) if _finished(k) == most)


def _scaled_speedup():
    """Eight workers, a job of 8 hours: 2 serial, 6 in parallel. Time of one worker, added up, over theirs."""
    serial, parallel, workers = 2, 6, 8
    return (serial + sum(parallel for _ in range(workers))) / (serial + parallel)


PREDICT = PredictionTask(
    id="01-predict",
    section=Section("1", "01_why_parallel", "The roofline"),
    title="Predict, then count",
    objective="Predict flops, instructions, steps in flight and a scaled speed-up",
    points=2,
    minutes=15,
    questions=(
        Question(
            "flops",
            f"flops of a polynomial of degree {DEGREE} for {ELEMENTS} elements, multiply and add counted as one each",
            _flops,
            {
                DEGREE * ELEMENTS: "Each step of the rule is a multiply and an add: two flops.",
                2 * DEGREE: "That is one element.",
                2 * ELEMENTS: "That is one step of the rule for all elements. How many steps are there?",
            },
            "Count the multiplies and adds of one element first.",
        ),
        Question(
            "intensity",
            "arithmetic intensity of that loop in flop per byte, float32, each element read once and written once",
            lambda: _flops() / (2 * 4 * ELEMENTS),
            {
                4: "Each element is read and written: twice 4 bytes.",
                16: "That is flop per element. How many bytes is an element read and written?",
                1: "Half of it. Is a multiply-add one flop or two, and has a float32 4 bytes or 8?",
                8: "That is flop per number moved. A float32 has 4 bytes.",
            },
            "flops of one element over bytes of one element.",
        ),
        Question(
            "instructions",
            f"multiply-add instructions of that loop, if each handles {LANES} lanes",
            _vector_instructions,
            {
                DEGREE * ELEMENTS: f"That is without vectors. One instruction does {LANES} elements.",
                2 * DEGREE * ELEMENTS // LANES: "A multiply-add is two flops, but one instruction.",
                ELEMENTS // LANES: "That is the number of vectors. How many multiply-adds does each need?",
            },
            "How many vectors are there, and how many multiply-adds does each go through?",
        ),
        Question(
            "in_flight",
            f"chains that keep a core busy which can begin {UNITS} steps in each cycle, with a latency of {LATENCY} cycles",
            _fewest_chains,
            {
                LATENCY: f"With {LATENCY} chains, one step can begin in each cycle. The core can begin {UNITS}.",
                LATENCY * UNITS * LANES: "The lanes of a vector work side by side: a chain is a chain of vectors.",
                LATENCY // UNITS: "In flight is throughput times latency, not latency over throughput.",
            },
            "Little's law: how many steps begin until the first one is done?",
        ),
        Question(
            "scaled",
            "scaled speed-up of 8 workers whose run takes 8 hours, 2 of them serial",
            _scaled_speedup,
            {
                8
                / (
                    0.25 * 8 + 0.75
                ): "That is Amdahl's law, with the share as one worker sees it. Add up what one worker would need.",
                8: "The serial part does not get faster.",
                6: "That is the parallel part alone, 6 of 8 hours with 8 workers. The serial part is work, too.",
            },
            "How many hours would one worker need for all of it? Divide by 8.",
        ),
    ),
    hints=(
        "Take one element: how many steps does the rule have, and how many flops is a step? For the chains: draw the cycles as columns.",
        "Vectors: elements / lanes of them, each goes through all steps. In flight = steps begun per cycle * cycles of one step.",
        "2 * degree * elements; divided by 8 bytes per element; degree * elements / lanes; 2 * 4; (2 + 8 * 6) / 8.",
    ),
)

# 01-bug ------------------------------------------------------------------------------------------------------


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


def _timed(log):
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


def _told(slip, result):
    """The slip, with what came in words: the value, and in which order things happened at first."""
    if slip is None:
        return None
    value, names = result["value"], [event[0] for event in result["log"]]
    order = ", ".join(names[:9]) + (", ..." if len(names) > 9 else "")
    said = f"{value:.6g}" if _number(value) else repr(value)[:60]
    return replace(slip, got=f"{said}, after: {order or 'nothing'}")


WARM_UP = "The first call compiles. Make it before you read the clock, and forget it."


def judge_benchmark(arguments, result):
    return _told(_benchmark(arguments, result), result)


def _benchmark(arguments, result):
    """The median of `repeats` timed calls, each alone and with data of its own, after a call that is not timed."""
    repeats = arguments[0]
    log, value = result["log"], result["value"]
    intervals = _timed(log)
    calls = [event for event in log if event[0] == "function"]
    if not calls:
        return Slip("no-call", "calls of function(data)", "function is never called.")
    if not intervals:
        return Slip("clock", "clock() before and after each call", "Two readings belong to each time: start and end.")
    if any(calls[0] is event for inside in intervals for event in inside):
        return Slip("warm-up", "the first call outside of what is timed", WARM_UP)
    inside = [event for interval in intervals for event in interval]
    if any(event[0] == "make_data" for event in inside):
        return Slip("setup-timed", "nothing but the call between two readings of the clock",
                    "The time to make the data is measured, too. Make it before you read the clock.")  # fmt: skip
    timed = [event for event in inside if event[0] == "function"]
    if any(not event[2] for event in timed):
        return Slip("cached", "data of its own for each timed call",
                    "A call got data that the function had seen before: it lies in the cache. Call make_data() for each.")  # fmt: skip
    if [len(interval) for interval in intervals] != [1] * repeats:
        return Slip("count", f"{repeats} times, each of one call",
                    f"There are {len(timed)} timed calls in {len(intervals)} pairs of readings. One pair around each call.")  # fmt: skip
    times = [event[1] for event in timed]
    return _statistic(value, times, statistics.median(times), "the median of the times")


def _statistic(value, values, right, name):
    """None if `value` is `right`; else a Slip that recognises the mean, the smallest, the largest, the sum, the
    last."""
    expected = f"{right:.6g}, {name}"
    if not _number(value):
        return Slip("type", expected, "Return one number.")
    if _close(value, right):
        return None
    for kind, other, cause in (
        ("mean", statistics.mean(values), "This is the mean. One long run pulls it up; the median hardly moves."),
        ("smallest", min(values), "This is the smallest. It is a lucky run, not a usual one: take the median."),
        ("largest", max(values), "This is the largest: a disturbed run. Take the median."),
        ("sum", math.fsum(values), "This is the sum of all runs. Take the median of the single ones."),
        ("middle", values[len(values) // 2], "This is the one in the middle of the list as measured. Sort it first."),
        ("upper", sorted(values)[len(values) // 2], "The number is even: the median is the mean of the two in the middle."),
        ("lower", sorted(values)[(len(values) - 1) // 2], "The number is even: the median is the mean of the two in the middle."),
    ):  # fmt: skip
        if _close(value, other):
            return Slip(kind, expected, cause)
    return Slip(
        "value",
        expected,
        "Each time is one reading of the clock minus the one before. statistics.median sorts and picks.",
    )


BUG = ScenarioTask(
    id="01-bug",
    section=Section("1.2", "01_timing", "Mistake 1: the first call"),
    title="A benchmark that measures something else",
    objective="Debug a benchmark: find what it measures besides the function",
    points=3,
    minutes=15,
    scenario=play_benchmark,
    judge=judge_benchmark,
    cases=(
        Case("9 repeats, the first call takes 30 s more, every 4th is disturbed", lambda rng: (9, 30.0, 4)),
        Case("5 repeats, nothing is disturbed", lambda rng: (5, 0.0, 1000)),
        Case("6 repeats, every 5th is disturbed", lambda rng: (6, 2.0, 5)),
    ),
    hints=(
        "Write down all that happens between the two readings of the clock in the first round. What of it is the function?",
        "Three things: the first call is special, making data is not the function's work, and one disturbed run spoils a mean.",
        "Before the loop: function(make_data()). In the loop: data = make_data() first, then start = clock(). "
        "At the end: return statistics.median(times).",
    ),
)

# 01-ratio ----------------------------------------------------------------------------------------------------


def play_ratio(median_ratio, rounds, compiling, drift, slow_every):
    """Run `median_ratio(peer, ours, clock, rounds)` on a clock of ours. Returns its value and what happened.

    First calls take `compiling` seconds more, every `slow_every`-th call 30 times as long, and the machine gets
    slower by the share `drift` in each second. Who runs right behind the other is 10 % slower.
    """
    log, state = [], {"now": 0.0, "calls": 0, "last": ""}
    first = set()

    def clock():
        log.append(["clock", 0.0, True])
        return state["now"]

    def candidate(name, seconds):
        def run():
            state["calls"] += 1
            cost = seconds * (1 + drift * state["now"])
            cost *= 1.1 if state["last"] not in ("", name) else 1
            cost *= 30 if state["calls"] % slow_every == 0 else 1
            cost += compiling if name not in first else 0
            first.add(name)
            state["last"] = name
            state["now"] += cost
            log.append([name, cost, True])

        return run

    value = median_ratio(candidate("peer", 0.02), candidate("ours", 0.01), clock, rounds)
    return {"value": value, "log": log}


def judge_ratio(arguments, result):
    return _told(_ratio(arguments, result), result)


def _ratio(arguments, result):
    """The median of the ratios of `rounds` rounds; in a round each runs once, and they take turns in being first."""
    rounds = arguments[0]
    log, value = result["log"], result["value"]
    names = [event[0] for event in log if event[0] != "clock"]
    if {"peer", "ours"} - set(names):
        return Slip("no-call", "calls of peer() and of ours()", "One of the two is never called.")
    intervals = _timed(log)
    if not intervals:
        return Slip("clock", "clock() before and after each call", "Two readings belong to each time: start and end.")
    inside = [event for interval in intervals for event in interval]
    for name in ("peer", "ours"):
        first = next(event for event in log if event[0] == name)
        if any(first is event for event in inside):
            return Slip("warm-up", f"the first call of {name}() outside of what is timed", WARM_UP)
    if any(len(interval) != 1 for interval in intervals):
        return Slip("mixed", "one call between two readings of the clock",
                    "Between two readings there is more than one call, or none. Time each call by itself.")  # fmt: skip
    if len(intervals) != 2 * rounds:
        return Slip("count", f"{rounds} rounds: {2 * rounds} timed calls",
                    f"There are {len(intervals)} timed calls. In a round, each of the two runs once.")  # fmt: skip
    pairs = [(intervals[k][0], intervals[k + 1][0]) for k in range(0, 2 * rounds, 2)]
    if any(a[0] == b[0] for a, b in pairs):
        return Slip("blocks", "peer and ours once in each round",
                    "One is run several times in a row. If the machine drifts, whoever comes later is hit: take turns.")  # fmt: skip
    ahead = [a[0] for a, _ in pairs]
    if abs(2 * ahead.count("peer") - rounds) > 1:
        return Slip("order", "each of the two first in half of the rounds",
                    f"peer was first in {ahead.count('peer')} of {rounds} rounds. Who runs behind the other may find its "
                    "threads or its data: change the order from round to round.")  # fmt: skip
    times = [{a[0]: a[1], b[0]: b[1]} for a, b in pairs]
    ratios = [t["peer"] / t["ours"] for t in times]
    right = statistics.median(ratios)
    if _number(value) and not _close(value, right):
        expected = f"{right:.6g}, the median of the ratios"
        peer, ours = ([t[name] for t in times] for name in ("peer", "ours"))
        if _close(value, statistics.median(t["ours"] / t["peer"] for t in times)):
            return Slip(
                "inverted",
                expected,
                "This is ours / peer. The ratio of this book is peer / ours: above 1, ours is faster.",
            )
        crossed = [r if k % 2 == (ahead[0] == "ours") else 1 / r for k, r in enumerate(ratios)]
        if _close(value, statistics.median(crossed)) or _close(value, statistics.median(1 / r for r in crossed)):
            cause = "In the rounds in which the order is changed, the time of ours is taken for that of peer: keep each by name."
            return Slip("crossed", expected, cause)
        if _close(value, statistics.median(t["peer"] - t["ours"] for t in times)):
            return Slip("difference", expected, "This is a difference of times, in seconds. A ratio is peer / ours.")
        if _close(value, statistics.median(peer) / statistics.median(ours)):
            cause = "This is the ratio of two medians. They may come from different rounds: form the ratio inside each round."
            return Slip("medians", expected, cause)
        if _close(value, math.fsum(peer) / math.fsum(ours)):
            return Slip(
                "sums",
                expected,
                "This is the ratio of the sums: one disturbed run decides it. Form the ratio in each round.",
            )
    return _statistic(value, ratios, right, "the median of the ratios")


RATIO = ScenarioTask(
    id="01-ratio",
    section=Section("1.2", "01_timing", "Mistake 5: first A, then B"),
    title="An honest ratio",
    objective="Write a comparison of two functions that compilation, drift and disturbed runs cannot spoil",
    points=3,
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
        "Warm up both. Then, in each round, time one call of each and keep peer / ours. In every second round, begin with ours.",
        "for r in range(rounds): order = (peer, ours) if r % 2 == 0 else (ours, peer); a small function times one call; "
        "append the ratio; statistics.median at the end.",
    ),
)

# 01-fit ------------------------------------------------------------------------------------------------------


def fitted(workers, seconds):
    """(a, b) of the line a + b / n through the times, by least squares."""
    slope, fixed = statistics.linear_regression([1 / n for n in workers], seconds)
    return fixed, slope


def judge_fit(arguments, result):
    """The share a / (a + b) of the fitted line."""
    workers, seconds = arguments
    fixed, slope = fitted(workers, seconds)
    right = fixed / (fixed + slope)
    expected = f"{right:.6g}"
    if not _number(result):
        return Slip("type", f"one number, {expected}", "Return the share as a float.")
    if abs(result - right) <= 1e-6:
        return None
    near = lambda other: abs(result - other) <= 1e-6  # noqa: E731
    if near(0) and right < 0:
        return Slip(
            "clipped", expected, "A share below 0 says that the workers are faster than they should be. Do not hide it."
        )
    if near(slope / (fixed + slope)):
        return Slip("parallel", expected, "This is the share that can be divided, b / (a + b).")
    if near(fixed):
        return Slip(
            "seconds", expected, "This is a, in seconds. The share is a / (a + b): of the time with one worker."
        )
    if near(slope) or near(fixed / slope):
        return Slip("share", expected, "With one worker, n = 1, the time is a + b. The share is a / (a + b).")
    ends = seconds[0], seconds[-1]
    n = workers[0], workers[-1]
    b = (ends[0] - ends[1]) / (1 / n[0] - 1 / n[1])
    a = ends[0] - b / n[0]
    if near(a / (a + b)):
        return Slip("two-points", expected, "This uses the first and the last time alone. Fit all of them.")
    slope_n, fixed_n = statistics.linear_regression(workers, seconds)
    if near(fixed_n / (fixed_n + slope_n)):
        return Slip(
            "against-n", expected, "This is a line in n. The model is a line in 1 / n: fit the times against 1 / n."
        )
    if near(fixed / seconds[0]):
        return Slip(
            "measured", expected, "Divide by the fit's own time with one worker, a + b: the measured one has noise."
        )
    if near(fixed / (fixed + slope / workers[-1])):
        return Slip(
            "most-workers", expected, "This is the share of the time with most workers. Take n = 1: a / (a + b)."
        )
    if abs(result - right) <= 5e-3:
        cause = "Close. Return what the fit says: unrounded, by least squares of the times, over all times, a line in 1 / n."
        return Slip("near", expected, cause)
    if not slope or near(_one_over_n_cut(workers, seconds)):
        return Slip("cut", expected, "1 // n is 0 for every n above 1: `/` keeps the fraction.")
    cause = (
        "The model is seconds = a + b / n: a straight line in 1 / n, no curve, and not through the origin. Least squares of "
        "the *times* gives a and b; then a / (a + b)."
    )
    return Slip("other", expected, cause)


def _one_over_n_cut(workers, seconds):
    """The share of one who writes 1 // n."""
    x = [1 // n for n in workers]
    if len(set(x)) < 2:
        return math.nan
    slope, fixed = statistics.linear_regression(x, seconds)
    return fixed / (fixed + slope)


def times_of(serial, workers, noise=0.0, scale=1.0):
    """make(rng) -> (workers, seconds) after Amdahl, with relative noise."""
    return lambda rng: (
        list(workers),
        [float(scale * (serial + (1 - serial) / n) * (1 + noise * rng.uniform(-1, 1))) for n in workers],
    )


FIT = FunctionTask(
    id="01-fit",
    section=Section("1.3", "01_scaling", "Fitted to measurements"),
    title="The serial share, from measured times",
    objective="Fit Amdahl's law to times and report the serial share",
    points=3,
    minutes=15,
    judge=judge_fit,
    cases=(
        Case("exact times, 1 to 8 workers, 20 % serial", times_of(0.2, (1, 2, 4, 8), scale=3.0)),
        Case("noisy times, 1 to 16 workers", times_of(0.1, (1, 2, 4, 8, 16), noise=0.05, scale=0.7)),
        Case("two times only", times_of(0.35, (1, 2), scale=2.0)),
        Case("faster than the workers explain", lambda rng: ([1, 2, 4], [1.0, 0.45, 0.2])),
    ),
    advice={"raised-TypeError": "A list cannot be divided. `np.array(workers)` can, element by element."},
    hints=(
        "Plot the times against 1 / n in your head, not against n. What kind of curve is a + b / n then?",
        "A straight line: b is its slope, a its value at 1 / n = 0. np.polyfit(x, y, 1) returns slope and intercept of the best line.",
        "b, a = np.polyfit(1 / np.array(workers), seconds, 1), then return a / (a + b).",
    ),
)

TASKS = (PREDICT, ROOF, BUG, RATIO, WORKERS, FIT)
