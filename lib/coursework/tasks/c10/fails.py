"""10-fails: Find numbers for which three shortcuts fail."""

import math

import numpy as np

from ...definition import Case, Section, Slip
from ...kinds.counterexample import CounterexampleTask, Flaw
from ...kinds.data import Numbers, Whole
from ...kinds.function import FunctionTask


# The statement shows `first` to `third`; a test compares.
def first(a, b):
    products = np.cumprod(a)
    return products * np.cumsum(b / products)


def second(b):
    half = len(b) // 2
    h = 0.0
    for number in b[:half]:
        h = max(h + number, 0)
    return max(h + b[half:].sum(), 0)


def third(a, b):
    for k in range(int(math.log2(len(b)))):
        d = 2**k
        b = np.append(b[:d], a[d:] * b[:-d] + b[d:])
        a = np.append(a[:d], a[d:] * a[:-d])
    return b


def _right_states(a, b):
    h, states = np.float32(0), np.empty_like(b)
    for t in range(len(b)):
        states[t] = h = a[t] * h + b[t]
    return states


def _right_end(b):
    h = 0.0
    for number in b:
        h = max(h + number, 0)
    return h


def _judge_recurrence(arguments, result):
    a, b = (argument.astype(np.float64) for argument in arguments)
    right = np.empty_like(b)
    h = 0.0
    for t in range(len(b)):
        right[t] = h = a[t] * h + b[t]
    bad = ~np.isclose(np.asarray(result, np.float64), right, rtol=1e-3, atol=1e-4)
    if not bad.any():
        return None
    t = int(np.argmax(bad))
    return Slip("state", f"state {t} = {right[t]:.5g}", "", f"{result[t]:.5g}")


def _judge_end(arguments, result):
    right = _right_end(arguments[0].astype(np.float64))
    return None if abs(result - right) <= 1e-3 else Slip("end", f"{right:g}", "", f"{result:g}")


def _judges(name, judge):
    return FunctionTask(
        id=f"10-{name}",
        title="A recurrence",
        objective="Write it",
        points=1,
        minutes=1,
        judge=judge,
        cases=(),
        hints=("", "", ""),
    )


def _near_one(rng, n):
    """So that a state can tell whether a step long before it is there."""
    return rng.uniform(0.97, 1, n).astype(np.float32)


def _in_a_list(x):
    return str([round(float(v), 4) for v in x])


FAILS = CounterexampleTask(
    id="10-fails",
    section=Section("10.3", "10_scan", "A stretch of steps is a step"),
    title="Find numbers for which three shortcuts fail",
    objective="Find inputs that show an underflow, a stretch that is no sum, and a scan with a round too few",
    points=3,
    minutes=10,
    flaws=(
        Flaw(
            name="first",
            judge=_judges("states", _judge_recurrence),
            wrong=first,
            right=_right_states,
            fields={"a": Numbers(1, 40, 0.001, 1)},
            case=lambda a: Case(f"a = {_in_a_list(a)}", lambda rng: (a.copy(), np.ones_like(a))),
            lead="The program divides by products of many numbers up to 1. What is the smallest number that a float32 "
            "can hold?",
        ),
        Flaw(
            name="second",
            judge=_judges("end", _judge_end),
            wrong=second,
            right=_right_end,
            fields={"b": Numbers(2, 8, -9, 9)},
            case=lambda b: Case(f"b = {_in_a_list(b)}", lambda rng: (b.copy(),)),
            lead="The second half was replaced by its sum. What is forgotten then, if the state would touch 0 inside "
            "of that half?",
        ),
        Flaw(
            name="third",
            judge=_judges("scan", _judge_recurrence),
            wrong=third,
            right=_right_states,
            fields={"n": Whole(1, 64)},
            case=lambda n: Case(f"n = {n}", lambda rng: (_near_one(rng, n), 1 + _near_one(rng, n))),
            lead="After k rounds an element knows of how many steps? And how many rounds are there for this n?",
        ),
    ),
    hints=(
        "Each author tried short lists of numbers around 1, all positive, and n = 8, 16 and 64. What did nobody try?",
        "first: make the product small, so small that it is 0. second: let the state fall in the second half, and rise "
        "again. third: int() cuts off what stands behind the point.",
        "first: as many small factors as you may have. second: four numbers are enough; the third takes more away than "
        "there is. third: any n that is no power of two.",
    ),
)
