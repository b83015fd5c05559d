"""10-plan: Be the scheduler of a scan."""

import operator

import numpy as np

from ...checking import short
from ...definition import Budget, Case, Section, Slip
from ...kinds.function import FunctionTask

PLANNED = 64
LISTS = (list, tuple, np.ndarray)  # what a grader gets as it is


def plan_case(name, n):
    return Case(f"{name}: {n} step{'s' if n > 1 else ''}", lambda rng: (n,))


def fewest_rounds(n):
    """Rounds in which a stretch of one step becomes n, if each doubles it."""
    return (n - 1).bit_length()


def busiest(arguments, result):
    """Joins of the round that has most of them."""
    return max(map(len, result), default=0)


def _listed(x):
    """A list, tuple or array as it is; TypeError for what has no length, or no order."""
    if type(x) not in LISTS:
        raise TypeError
    return x


def _pair_of(x):
    """Two whole numbers; TypeError for anything else."""
    pair = tuple(map(operator.index, _listed(x)))
    if len(pair) != 2:
        raise TypeError
    return pair


def _plan_of(result):
    """Rounds of pairs of whole numbers, or None. What is no list, tuple or array is none, as it has no length, or no
    order."""
    if type(result) not in (list, tuple):
        return None
    try:
        return [[_pair_of(pair) for pair in _listed(pairs)] for pairs in result]
    except TypeError:
        return None


def _steps(first, last):
    return f"step {first}" if first == last else f"steps {first} to {last}"


def _slip_of_join(left, right, begins, kept):
    """(kind, expected, cause) of a join of what two places knew before the round, or None. begins: of each place's
    stretch; kept: places into which something was joined in this round."""
    if not (0 <= left < len(begins) and 0 <= right < len(begins)):
        return "place", f"places from 0 to {len(begins) - 1}", "There is a place for each step, and no other."
    if left >= right:
        cause = (
            "A pair is (left, right): the stretch of the left place comes before that of the right one, which keeps "
            "both."
        )
        return "order", "a left place before the right one", cause
    if right in kept:
        cause = "Both joins read what the last round left, and the second one overwrites the first."
        return "twice", "one join into each place", cause
    begin = begins[right]
    knew = (
        f"Before this round place {left} knew {_steps(begins[left], left)}, and place {right} {_steps(begin, right)}."
    )
    if begin == 0:
        return "overlap", "no more joins into this place", f"{knew} It has all that it needs."
    if left >= begin:
        cause = f"{knew} {_steps(max(begin, begins[left]), left).capitalize()} would be counted twice."
        return "overlap", f"place {begin - 1} on the left: its stretch ends before step {begin}", cause
    if left < begin - 1:
        cause = f"{knew} {_steps(left + 1, begin - 1).capitalize()} would be left out."
        return "gap", f"place {begin - 1} on the left: its stretch ends before step {begin}", cause
    return None


def judge_plan(arguments, result):
    """A Slip, or None for a plan that joins all in the fewest rounds."""
    (n,), plan = arguments, _plan_of(result)
    if plan is None:
        cause = "A plan is a list of rounds, a round is a list of pairs, and a pair is two places: (left, right)."
        return Slip("type", "a list of lists of pairs of whole numbers", cause, short(result)[:120])
    begins = list(range(n))
    for number, pairs in enumerate(plan, 1):
        before, kept = list(begins), set()
        for left, right in pairs:
            slip = _slip_of_join(left, right, before, kept)
            if slip is not None:
                kind, expected, cause = slip
                return Slip(kind, expected, cause, f"round {number}: ({short(left)}, {short(right)})"[:120])
            begins[right] = before[left]
            kept.add(right)
    lacking = [place for place in range(n) if begins[place]]
    if lacking:
        place = lacking[0]
        cause = (
            f"After the last round {len(lacking)} of {n} places lack something. Which place knows the stretch that "
            f"ends right before step {begins[place]}?"
        )
        return Slip("lacking", f"place {place} knows {_steps(0, place)}", cause, _steps(begins[place], place))
    least = fewest_rounds(n)
    if len(plan) > least:
        cause = (
            "Every place knows all that it should, but later than need be. A stretch can double in each round: how "
            "many rounds does it take from 1 step to all?"
        )
        expected, got = (f"{count} round{'s' if count != 1 else ''}" for count in (least, len(plan)))
        return Slip("rounds", expected, cause, got)
    return None


PLAN = FunctionTask(
    id="10-plan",
    section=Section("10.3", "10_scan", "Blelloch"),
    title="Be the scheduler of a scan",
    objective="Plan the joins of a scan in the fewest rounds, with half as many workers as steps",
    points=1,
    minutes=18,
    judge=judge_plan,
    cases=(
        plan_case("a power of two", 8),
        plan_case("two", 2),
        plan_case("odd", 5),
        plan_case("more", 13),
        plan_case("a warp", 32),
        plan_case("one", 1),
    ),
    costs={"joins": ("joins in the busiest round", busiest)},
    advice={
        "raised-IndexError": "Places go from 0 to n - 1, also in the last group, which may have fewer steps than the "
        "others.",
        "raised-ZeroDivisionError": "The distances begin with 1, not with 0.",
        "raised-ValueError": "Is it the case with a single step? Nothing is to be joined there, and there is no "
        "logarithm of 0: an empty list is the plan.",
    },
    budget=Budget(
        points=2,
        text="at most half as many joins in any round as there are steps",
        require={"joins": PLANNED // 2},
        over=(
            "The plan is right, but in one of its rounds more than half of the places join. Most of these joins repeat "
            "what others have joined: if each half of the steps has all its own sums, what is it that a place in the "
            "right half lacks?"
        ),
        case=plan_case("budget", PLANNED),
    ),
    hints=(
        "Take 8 steps. Before the last round each half of them is finished by itself: place 3 knows steps 0 to 3, "
        "place 7 steps 4 to 7. Which joins are left, and how many?",
        "The same holds in each half, a round earlier, and in each quarter before. So in the round with distance d the "
        "steps lie in groups of 2 d; the right half of each group joins, and all of it with the same left place.",
        "For d = 1, 2 and 4 write down i // d for eight places: what is true of it in every right half? And what do "
        "you get if you multiply it by d again: which place is that, and which one stands before it?",
    ),
)
