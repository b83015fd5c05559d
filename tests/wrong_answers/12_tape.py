"""Answers to 12-tape."""

import numpy as np
from answers import MASTER, cut, edit, insert, replace


def depth_first(made_from, last):
    """right"""
    order, seen, stack = [], set(), [(last, False)]
    while stack:
        name, done = stack.pop()
        if done:
            order.append(name)
        elif name not in seen:
            seen.add(name)
            stack.append((name, True))
            for parent, _ in made_from[name]:
                if parent not in seen:
                    stack.append((parent, False))
    found = dict.fromkeys(order, 0)
    found[last] = 1
    for name in reversed(order):
        for parent, slope in made_from[name]:
            found[parent] += slope * found[name]
    return found


def by_rounds(made_from, last):
    """right"""
    reached, new = {last}, [last]
    while new:
        new = [parent for name in new for parent, _ in made_from[name]]
        new = list({name: 0 for name in new if name not in reached})
        reached.update(new)
    users = {name: [] for name in reached}
    for name in reached:
        for parent, slope in made_from[name]:
            users[parent].append((name, slope))
    found, waiting = {last: 1}, list(reached - {last})
    open_users = {name: len(users[name]) for name in reached}
    ready = [last]
    while ready:
        name = ready.pop(0)
        if name != last:
            found[name] = sum(slope * found[user] for user, slope in users[name])
        for parent, _ in made_from[name]:
            open_users[parent] -= 1
            if not open_users[parent]:
                ready.append(parent)
    return found if len(found) == len(waiting) + 1 else None


def pushes(made_from, last):
    """wrong raised-TooManyIterations: every path through the network"""
    found, waiting = {}, [(last, 1)]
    while waiting:
        name, arrived = waiting.pop()
        found[name] = found.get(name, 0) + arrived
        for parent, slope in made_from[name]:
            waiting.append((parent, slope * arrived))
    return found


def calls_itself(made_from, last):
    """wrong raised-RecursionError: a list of what is still to be done"""
    order, seen = [], set()

    def visit(name):
        if name not in seen:
            seen.add(name)
            for parent, _ in made_from[name]:
                visit(parent)
            order.append(name)

    visit(last)
    found = dict.fromkeys(order, 0)
    found[last] = 1
    for name in reversed(order):
        for parent, slope in made_from[name]:
            found[parent] += slope * found[name]
    return found


def breadth_first(made_from, last):
    """wrong early: before all of it had arrived"""
    found, waiting, seen = {last: 1}, [last], {last}
    while waiting:
        name = waiting.pop(0)
        for parent, slope in made_from[name]:
            found[parent] = found.get(parent, 0) + slope * found[name]
            if parent not in seen:
                seen.add(parent)
                waiting.append(parent)
    return found


replaces = edit(MASTER, "wrong replaced: A variable that is used twice gets two", replace("+= slope", "= slope"))
no_slope = edit(
    MASTER, "wrong no-slope: multiplied by the slope beside it", replace("slope * found[name]", "found[name]")
)
starts_with_zero = edit(MASTER, "wrong wrong-result: which variables", cut("found[last] = 1"))
each_parent_once = edit(
    MASTER,
    "wrong raised-KeyError: no gradient has reached yet",
    replace("found, ready = dict.fromkeys(uses, 0), [last]", "found, ready = {}, [last]"),
)
all_of_them = edit(
    MASTER,
    "wrong strange: 'loss' was not made from 'unused'",
    replace("dict.fromkeys(uses, 0)", "dict.fromkeys(made_from, 0)"),
)
without_last = edit(
    MASTER, "wrong missing: itself has a gradient, too", insert("del found[last]", before="return found")
)


def parents_only(made_from, last):
    """wrong missing: are the parents of parents followed"""
    found = {last: 1}
    for parent, slope in made_from[last]:
        found[parent] = found.get(parent, 0) + slope
    return found


def a_list(made_from, last):
    """wrong type: Return a dict"""
    return [(last, 1)]


def in_the_order_of_the_dict(made_from, last):
    """wrong dict-order: the order of the dict, which says nothing"""
    found = {last: 1}
    for name in reversed(made_from):
        if name in found:
            for parent, slope in made_from[name]:
                found[parent] = found.get(parent, 0) + slope * found[name]
    return found


def slopes_added(made_from, last):
    """wrong added: is multiplied by it"""
    found, waiting = {last: 1}, [last]
    while waiting:
        name = waiting.pop()
        for parent, slope in made_from[name]:
            if parent not in found:
                waiting.append(parent)
            found[parent] = found.get(parent, 0) + slope + found[name]
    return found


def arrays(made_from, last):
    """wrong type: one number here"""
    return {name: np.ones(2) for name in made_from}


def by_their_names(made_from, last):
    """wrong name-order: in the order of their names, which says nothing"""
    found = dict.fromkeys(made_from, 0)
    found[last] = 1
    for name in sorted(made_from):
        for parent, slope in made_from[name]:
            found[parent] += slope * found[name]
    return {name: value for name, value in found.items() if value}


all_begin_with_one = edit(
    MASTER, "wrong added: Or all began with 1", replace("dict.fromkeys(uses, 0)", "dict.fromkeys(uses, 1)")
)
