"""12-tape: The backward pass, in order."""

import numpy as np

from ...definition import Case, Section, Slip
from ...kinds.function import FunctionTask


def _in_order(made_from, last):
    """`last` first, and each variable behind all that were made from it."""
    reached, waiting = {last}, [last]
    while waiting:
        for parent, _ in made_from[waiting.pop()]:
            if parent not in reached:
                reached.add(parent)
                waiting.append(parent)
    users = dict.fromkeys(reached, 0)
    for name in reached:
        for parent, _ in made_from[name]:
            users[parent] += 1
    order, ready = [], [last]
    while ready:
        order.append(ready.pop())
        for parent, _ in made_from[order[-1]]:
            users[parent] -= 1
            if not users[parent]:
                ready.append(parent)
    return order


def tape_gradients(made_from, last):
    found = {last: 1}
    for name in _in_order(made_from, last):
        for parent, slope in made_from[name]:
            found[parent] = found.get(parent, 0) + slope * found[name]
    return found


def _replaced(made_from, last):
    """As if a gradient that arrives took the place of what was there."""
    found = {last: 1}
    for name in _in_order(made_from, last):
        for parent, slope in made_from[name]:
            found[parent] = slope * found[name]
    return found


def _slopes_added(made_from, last):
    """As if a slope were added on the way, not multiplied."""
    found = {last: 1}
    for name in _in_order(made_from, last):
        for parent, slope in made_from[name]:
            found[parent] = found.get(parent, 0) + slope + found[name]
    return found


def _as_in_the_dict(made_from, last, names):
    """As if the order of the names were that of the backward pass; what has got nothing yet passes nothing on."""
    found = {last: 1}
    for name in names:
        for parent, slope in made_from[name]:
            if name in found:
                found[parent] = found.get(parent, 0) + slope * found[name]
    return found


def _at_once(made_from, last, again, deep):
    """As if each variable passed on what it had when its turn came: once, or each time that something arrives."""
    found, waiting, seen = {last: 1}, [last], {last}
    for _ in range(20 * len(made_from)):
        if not waiting:
            return found
        name = waiting.pop() if deep else waiting.pop(0)
        for parent, slope in made_from[name]:
            found[parent] = found.get(parent, 0) + slope * found[name]
            if again or parent not in seen:
                seen.add(parent)
                waiting.append(parent)
    return None


def _from_one(made_from, last):
    """As if there were a 1 to which each gradient is added."""
    found = dict.fromkeys(_in_order(made_from, last), 1)
    for name in _in_order(made_from, last):
        for parent, slope in made_from[name]:
            found[parent] += slope * found[name]
    return found


def _another_order(made_from, last, result, right):
    """The Slip of a result that comes of an order which has nothing to do with who was made from whom, or None."""
    more = set(result) - {last, *(parent for parent, _ in made_from[last])}
    orders = (
        ("dict-order", made_from, "in the order of the dict"),
        ("dict-order", reversed(made_from), "in the order of the dict"),
        ("name-order", sorted(made_from), "in the order of their names"),
        ("name-order", sorted(made_from, reverse=True), "in the order of their names"),
    )
    passed = [(kind, words, _as_in_the_dict(made_from, last, list(names))) for kind, names, words in orders]
    fits = [
        (kind, words) for kind, words, found in passed if found != right and more and found == _given(result, right)
    ]
    if not fits:
        return None
    kind, words = fits[0]
    if len({kind for kind, _ in fits}) > 1:
        words = "in the order of the dict, or in that of their names"
    name = next(name for name in right if result.get(name) != right[name])
    cause = f"The variables had their turn {words}, which says nothing. First all that were made from a variable, "
    return Slip(
        kind, f"{right[name]} for {name!r}", cause + "then the variable itself.", f"{result.get(name)!r} for {name!r}"
    )


def _given(result, right):
    """A result without the zeros of variables that were given nothing."""
    return {name: value for name, value in result.items() if value or right.get(name) == 0}


def judge_tape(arguments, result):
    made_from, last = arguments
    right = tape_gradients(made_from, last)
    if not isinstance(result, dict):
        return Slip("type", "a dict, name: gradient", "Return a dict with a gradient for each name.")
    strange = [name for name, value in result.items() if not isinstance(value, int | float | np.integer | np.floating)]
    if strange:
        got = f"{type(result[strange[0]]).__name__} for {strange[0]!r}"
        return Slip("type", "a number for each name", "A gradient is one number here: return {name: number}.", got)
    if result == right:
        return None
    slip = _another_order(made_from, last, result, right)
    if slip:
        return slip
    strange = sorted(set(result) - set(right), key=str)
    if strange:
        return Slip(
            "strange",
            f"the {len(right)} variables that {last!r} was made from, and itself",
            f"{last!r} was not made from {strange[0]!r}: begin at `last`, and follow what each was made from.",
            f"{strange[0]!r} is among the names",
        )
    missing = sorted(set(right) - set(result))
    if missing:
        if missing == [last]:
            cause = f"{last!r} itself has a gradient, too: 1. All others follow from it."
        else:
            cause = (
                f"{missing[0]!r} is one of the variables that {last!r} was made from: are the parents of parents "
                "followed?"
            )
        return Slip("missing", f"{len(right)} names", cause, f"{len(result)} names; {missing[0]!r} is missing")
    name = next(name for name in right if result[name] != right[name])
    got = f"{result[name]!r} for {name!r}"
    slips = (
        (
            "replaced",
            _replaced(made_from, last),
            "A gradient that arrives takes the place of one that was there. A variable that is used twice gets two: "
            "add them.",
        ),
        *(
            (
                "early",
                _at_once(made_from, last, False, deep),
                "A variable passed its gradient on before all of it had arrived. First all that were made from it have "
                "their turn, then the variable itself.",
            )
            for deep in (False, True)
        ),
        *(
            (
                "twice",
                _at_once(made_from, last, True, deep),
                "A variable passed on the same part of its gradient more than once: each time that something arrived, "
                "it passed on all that it had.",
            )
            for deep in (False, True)
        ),
        (
            "added",
            _slopes_added(made_from, last),
            "The slope was added. A gradient that passes a slope is multiplied by it; what arrives on different ways "
            "is added."
            + (f" Or all began with 1, as only {last!r} does." if result == _from_one(made_from, last) else ""),
        ),
        (
            "from-one",
            _from_one(made_from, last),
            f"All gradients began with 1. Only that of {last!r} does, the others with 0.",
        ),
        (
            "no-slope",
            {name: value and 1 for name, value in right.items()},
            "Every gradient is 1. What goes to a parent is multiplied by the slope beside it.",
        ),
    )
    cause = "Follow this variable by hand: which variables were made from it, and what does each of them pass on?"
    kind, cause = next(
        ((kind, words) for kind, mistaken, words in slips if result == mistaken), ("wrong-result", cause)
    )
    return Slip(kind, f"{right[name]} for {name!r}", cause, got)


def chain(length):
    """v0 -> v1 -> ... : each made from the one before."""
    made_from = {"v0": []} | {f"v{k}": [[f"v{k - 1}", 1 if k % 3 else -1]] for k in range(1, length)}
    return lambda rng: (made_from, f"v{length - 1}")


def doublings(length):
    """Each made from the one before twice, as x + x."""
    made_from = {"v0": []} | {f"v{k}": [[f"v{k - 1}", 1], [f"v{k - 1}", 1]] for k in range(1, length)}
    return lambda rng: (made_from, f"v{length - 1}")


def network(variables, edges):
    """A random network; some of its variables have nothing to do with the last one."""

    def make(rng):
        names = [f"v{k}" for k in rng.permutation(variables).tolist()]
        made_from = {name: [] for name in names}
        for k in range(1, variables):
            for j in rng.integers(0, k, min(edges, k)).tolist():
                made_from[names[k]].append([names[j], int(rng.integers(1, 4)) * int(rng.choice([-1, 1]))])
        mixed = rng.permutation(names).tolist()
        return {name: made_from[name] for name in mixed}, names[-2]

    return make


_RESIDUAL = {
    "x": [],
    "w": [],
    "unused": [["x", 5]],
    "h": [["x", 2], ["w", 3]],
    "sum": [["x", 1], ["h", 1]],
    "loss": [["sum", 4]],
}

TAPE = FunctionTask(
    id="12-tape",
    section=Section("12", "12_training", "A tape"),
    title="The backward pass, in order",
    objective="Write a backward pass that visits each variable once, in topological order, however deep the network is",
    points=5,
    minutes=25,
    judge=judge_tape,
    cases=(
        Case("one product", lambda rng: ({"a": [], "b": [], "y": [["a", 3], ["b", 2]]}, "y")),
        Case("a residual connection", lambda rng: (_RESIDUAL, "loss")),
        Case("three doublings", doublings(4)),
        Case("12 variables", network(12, 2)),
        Case("40 doublings", doublings(41)),
        Case("a chain of 3,000", chain(3000)),
    ),
    advice={
        "raised-TooManyIterations": "This visits every path through the network, and 40 doublings have a million "
        "million of them. Mark what was visited, and visit nothing twice.",
        "raised-RecursionError": "A function that calls itself for each parent is 3,000 calls deep here, more than "
        "Python allows. Keep a list of what is still to be done, and take from it in a loop.",
        "raised-KeyError": "A variable without parents has an empty list, and a name that no gradient has reached yet "
        "is not in your dict: `found.get(name, 0)`.",
    },
    hints=(
        "When does a variable know its whole gradient? Which other variables must have had their turn by then?",
        "Two passes. The first finds all variables that `last` was made from, and for each of them how many times it "
        "was used. The second begins at `last`; whoever has heard from all its users has its turn.",
        "In the second pass keep a list of variables that are ready. Taking one out, multiply its gradient by each "
        "slope, add it to the parent's, and count one use less of that parent. When is a parent ready? A parent that "
        "stands twice in a list was used twice.",
    ),
)
