"""01-claims: Three functions that are right, nearly always."""

import math

import numpy as np

from ...definition import Case, Section, Slip
from ...kinds.counterexample import CounterexampleTask, Flaw
from ...kinds.data import Numbers, Whole
from ...kinds.function import FunctionTask
from ...kinds.scenario import ScenarioTask


def mean_ratio(peer, ours):
    ratios = [p / o for p, o in zip(peer, ours, strict=True)]
    return sum(ratios) / len(ratios)


def _geometric(peer, ours):
    return math.exp(sum(math.log(p / o) for p, o in zip(peer, ours, strict=True)) / len(peer))


def both_ways(ratio, peer, ours):
    return {"peer / ours": ratio(peer, ours), "ours / peer": ratio(ours, peer)}


def judge_ways(arguments, result):
    forth, back = result["peer / ours"], result["ours / peer"]
    if forth > 1 + 1e-9 and back > 1 + 1e-9:
        cause = "Each of the two is faster than the other."
        return Slip("both", "at most one of the two above 1", cause, f"{forth:.4g} and, exchanged, {back:.4g}")
    return None


def workers_for(percent, wanted):
    serial = percent / 100
    return math.ceil((1 - serial) / (1 / wanted - serial))


def _workers_for(percent, wanted):
    """In whole numbers: (100 - percent) / (100 / wanted - percent), rounded up."""
    return -(-(100 - percent) * wanted // (100 - percent * wanted))


def judge_claimed(arguments, result):
    percent, wanted = arguments
    right = _workers_for(percent, wanted)
    said = f"{right}: {percent} + {100 - percent} / {right} is at most 100 / {wanted}"
    return None if result == right else Slip("too-many", said, "")


def time_of(call, clock):
    calls = 1
    while True:
        start = clock()
        for _ in range(calls):
            call()
        passed = clock() - start
        if passed > 0:
            return passed / calls
        calls *= 2


def _time_of(call, clock):
    calls, step = 1, 0
    while True:
        start = clock()
        for _ in range(calls):
            call()
        passed = clock() - start
        step = step or passed
        if passed > 12 * step > 0:
            return passed / calls
        calls *= 2


def on_a_coarse_clock(time_of, tick, cost):
    now = [0]

    def call():
        now[0] += cost

    return time_of(call, lambda: now[0] // tick * tick)


def judge_coarse(arguments, result):
    cost = arguments[1]
    if abs(result - cost) > 0.1 * cost:
        return Slip("coarse", f"{cost} microseconds, to within 10 %", "", f"{result:.6g}")
    return None


_UNSEEN = {"points": 1, "minutes": 5, "hints": ("", "", ""), "cases": (), "title": "", "objective": ""}

CLAIMS = CounterexampleTask(
    id="01-claims",
    section=Section("1.2", "01_timing", "What the book does"),
    title="Three functions that are right, nearly always",
    objective="Find times and settings for which a common way to compare, to round or to time is wrong",
    points=4,
    minutes=15,
    flaws=(
        Flaw(
            name="ratio",
            judge=ScenarioTask(id="01-claims", scenario=both_ways, judge=judge_ways, **_UNSEEN),
            wrong=mean_ratio,
            right=_geometric,
            fields={"peer": Numbers(1, 6, 1, 100, np.float64), "ours": Numbers(1, 6, 1, 100, np.float64)},
            rules=((lambda peer, ours: len(peer) == len(ours), "as many times of the one as of the other"),),
            case=lambda peer, ours: Case(f"{len(peer)} times each", lambda rng: (peer.tolist(), ours.tolist())),
            lead="One of the two is the winner here, whoever is asked. When can a mean be above 1 although half of it "
            "is below?",
        ),
        Flaw(
            name="workers",
            judge=FunctionTask(id="01-claims", judge=judge_claimed, **_UNSEEN),
            wrong=workers_for,
            right=_workers_for,
            fields={"percent": Whole(1, 50), "wanted": Whole(2, 50)},
            rules=((lambda percent, wanted: percent * wanted < 100, "below the limit: percent * wanted < 100"),),
            case=lambda percent, wanted: Case(
                f"{percent} % serial, {wanted} times as fast", lambda rng: (percent, wanted)
            ),
            lead="A computer's 0.1 is not a tenth. When does the smallest error of a quotient change what ceil makes "
            "of it?",
        ),
        Flaw(
            name="clock",
            judge=ScenarioTask(id="01-claims", scenario=on_a_coarse_clock, judge=judge_coarse, **_UNSEEN),
            wrong=time_of,
            right=_time_of,
            fields={"tick": Whole(1, 60), "cost": Whole(1, 60)},
            case=lambda tick, cost: Case(f"a tick of {tick}, a call of {cost}", lambda rng: (tick, cost)),
            lead="The clock stands still between two ticks. How far apart can the time that passed and the time that "
            "it shows be?",
        ),
    ),
    hints=(
        "For each function: which step of it throws something away, or treats two things alike that are not?",
        "ratio: let each be faster once. workers: look for inputs whose exact answer is a whole number before it is "
        "rounded. clock: what is shown is a whole number of ticks.",
        "ratio: two pairs of times are enough. workers: a loop over all inputs finds some, if you compare with "
        "whole-number arithmetic. clock: choose a tick so long that the loop ends at the first one, and count calls by "
        "hand.",
    ),
)
