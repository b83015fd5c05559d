"""15-faults: Repair a benchmark with five faults."""

from ...definition import Case, Section, Slip
from ...kinds.scenario import ScenarioTask

USUAL = 0.004  # seconds of a call, compiled, with data that it has not seen
CHECKING, MAKING = 0.05, 0.25  # seconds to check a result, to make data
UNEQUAL = {3: 0.4, 5: 5, 10: 5}  # times as long, of an uneven submission: the third call, the fifth, the tenth


class Result:
    """What a call returns: a result that may still be on its way, as on a GPU."""

    def __init__(self, value, finish):
        self._value, self._finish = value, finish

    def result(self):
        self._finish()
        return self._value


def play_bench(bench, kind, compiling, repeats):
    """Run `bench(run, make_data, right, clock, repeats)` on a clock of ours with a submission of a kind; its value."""
    now, calls, seen, data_made = [0.0], [0], set(), [0]
    clock = {"now": lambda: now[0]}

    def make_data():
        now[0] += MAKING
        data_made[0] += 1
        return data_made[0]

    def run(data):
        calls[0] += 1
        is_first, fresh = calls[0] == 1, data not in seen
        seen.add(data)
        work = USUAL * (1 if fresh else 0.001 if kind == "cached" else 0.25)
        if (kind == "wrong" and fresh and not is_first) or (kind == "once" and calls[0] == 4):
            return Result(-1, lambda: None)
        work *= UNEQUAL.get(calls[0], 1) if kind == "uneven" else 1
        work += compiling if is_first else 0
        if kind == "patched" and is_first:
            slow = [now[0]]
            clock["now"] = lambda: slow[0] + (now[0] - slow[0]) / 10
        if kind == "deferred":
            left = [work]

            def finish():
                now[0] += left[0]
                left[0] = 0.0

            now[0] += 1e-6
            return Result(data, finish)
        now[0] += work
        return Result(data, lambda: None)

    def right(data, value):
        now[0] += CHECKING
        return data == value

    value = bench(run, make_data, right, clock, repeats)
    return value if value is None or isinstance(value, int | float) else "none"


def judge_bench(arguments, result):
    kind, compiling, repeats = arguments
    if kind in ("wrong", "once"):
        if result is None:
            return None
        which = "first result is right, and the others are" if kind == "wrong" else "fourth result alone is"
        cause = f"Its {which} nothing, quickly. Which results does the benchmark look at?"
        return Slip("unchecked", "None: results are wrong", cause, _shown(result))
    expected = f"{USUAL} s for a call, to within 5 %"
    if result is None:
        return Slip(
            "refused",
            expected,
            "All results of this one are right. Is `right` asked about data and its own result?",
            "None",
        )
    if isinstance(result, str):
        return Slip("type", expected, "Return seconds, or None.", "neither")
    if abs(result - USUAL) <= 0.05 * USUAL:
        return None
    unit = next((name for name, n in (("milli", 1e3), ("micro", 1e6)) if abs(result / n - USUAL) <= 0.05 * USUAL), "")
    if unit:
        return Slip("unit", expected, f"These are {unit}seconds. Seconds are asked for.", _shown(result))
    mean_with_compile = (compiling + USUAL * (repeats - 1)) / repeats
    if result > 0.9 * mean_with_compile and compiling > 1 and result < mean_with_compile * 1.2 + 2 * USUAL:
        return Slip("compiles", expected, "The first call compiles. Does its time count?", _shown(result))
    if result >= CHECKING:
        return Slip(
            "setup",
            expected,
            "Making data, checking or compiling is timed, too: what stands between the two looks at the clock?",
            _shown(result),
        )
    if kind == "patched":
        cause = (
            'This submission puts another clock into `clock["now"]` when it is called. Which clock does the '
            "benchmark look at?"
        )
        return Slip("patched", expected, cause, _shown(result))
    if kind == "deferred":
        cause = "This submission only begins its work when it is called, and does it when the result is asked for."
        return Slip("deferred", expected, cause, _shown(result))
    if kind == "cached":
        return Slip(
            "cached", expected, "This submission keeps results, and knows data that it has seen.", _shown(result)
        )
    if kind == "uneven":
        cause = (
            "Its calls take 4 ms as a rule, one less, and some were interrupted. The median of the repeats is asked "
            "for, not their mean, the best or the last."
        )
        return Slip("uneven", expected, cause, _shown(result))
    if abs(result - USUAL / 4) <= 0.05 * USUAL:
        return Slip("warm", expected, "The data was in the cache: a call before had the same.", _shown(result))
    if result < USUAL / 100:
        cause = (
            'By `clock["now"]` the work takes 4 ms. Is that clock asked before the call, and again when the '
            "result is there?"
        )
        return Slip("clock", expected, cause, _shown(result))
    return Slip("value", expected, "One call's seconds are asked for: the median of the repeats.", _shown(result))


def _shown(value):
    return value if isinstance(value, str) else f"{value:.3g}{'' if value is None else ' s'}"


def submission(name, kind, compiling=0.5, repeats=9):
    return Case(name, lambda rng: (kind, compiling, repeats))


FAULTS = ScenarioTask(
    id="15-faults",
    section=Section("15.2", "15_tuning", "Five faults of a benchmark"),
    title="Repair a benchmark with five faults",
    objective="Repair a benchmark so that what is submitted to it cannot look faster than it is",
    points=4,
    minutes=20,
    scenario=play_bench,
    judge=judge_bench,
    cases=(
        submission("an honest submission, nothing to compile", "honest", 0.0),
        submission("an honest submission, 30 s to compile", "honest", 30.0),
        submission("an honest submission, one repeat, 30 s to compile", "honest", 30.0, 1),
        submission("an honest submission on a busy machine", "uneven", 0.0),
        submission("submission C, 2 s to compile", "cached", 2.0),
        submission("submission D", "deferred"),
        submission("submission E", "patched", 0.5, 5),
        submission("submission F", "wrong"),
        submission("submission G", "once"),
    ),
    advice={
        "raised-TypeError": "`run(data)` returns an object; its value comes from `.result()`, when the work is done.",
        "raised-StatisticsError": "This is the median of no number at all. Were wrong results left out? Where one is "
        "wrong, the answer is None.",
    },
    hints=(
        "Go through the lines of the benchmark: what might a submission do in each of them that costs it nothing?",
        "Five things: a call before the clock counts; new data for each call; the clock that was there before the "
        "first call; the result itself inside the time; every result checked, outside of it.",
        "Keep the clock before all else. In the loop: data, begin, the call and its result, end, then the "
        "question whether it is right. The first turn's time is left out.",
    ),
)
