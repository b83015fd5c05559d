"""Rounds of a program: steps after which it is in a state in which it was before, so that they can be repeated for
ever.

A livelock is such a round, and so is the starving of a thread. `best` finds the most that any round reaches: states
that lead to each other lie on one round together, and no round leaves them.
"""

from collections import deque
from dataclasses import dataclass, field


@dataclass(frozen=True)
class State:
    """Where a run stands. Two that are equal go on alike.

    shared: (name, value in words) of each global variable and lock. threads: of each thread, how it waits, and where it
    stands with which values. values: the plain global variables, {name: value}. lines: of each thread, "at line 7".
    """

    shared: tuple
    threads: tuple
    values: dict = field(compare=False)
    lines: tuple = field(compare=False)


@dataclass(frozen=True)
class Round:
    """threads: the names of those that make a step in it. states: the plain global variables before each of its steps.
    first, last: the numbers of its steps in the schedule, from 1 (0: it was not played)."""

    threads: frozenset
    states: tuple
    first: int = 0
    last: int = 0


def of_steps(steps, states):
    """The longest Round of each state that comes again. `states` are those before each of the `steps`, and the one
    after."""
    first_seen, found = {}, {}
    for k, state in enumerate(states):
        begin = first_seen.setdefault(state, k)
        if k > begin:
            found[state] = _round(steps[begin:k], states[begin:k], begin + 1, k)
    return tuple(found.values())


def nearest(states, names):
    """(number of steps, what differs, in words): the earlier state that is most like the last one."""
    *earlier, last = states
    k = min(range(len(earlier)), key=lambda k: (len(_apart(earlier[k], last, names)), -k))
    return k, "; ".join(_apart(earlier[k], last, names))


def _apart(old, new, names):
    """What differs between two states, in words."""
    was, rows = dict(old.shared), zip(names, old.threads, new.threads, old.lines, new.lines, strict=True)
    apart = [f"{name} was {was.get(name)}, and is {value}" for name, value in new.shared if was.get(name) != value]
    for name, a, b, then, now in rows:
        if a != b:
            apart.append(f"{name} was {then}, and is {now}" if then != now else f"{name} is {now} with other values")
    return apart


def _round(steps, states, first=0, last=0):
    return Round(frozenset(steps), tuple(state.values for state in states), first, last)


def best(follows, start, score):
    """(the largest `score(Round)` of all rounds, steps from `start` that end with such a round); (None, ()) if there is
    none. `follows`: {state: {thread: the state after its step}}."""
    most, among = None, ()
    for circle in _circles(follows):
        steps = [(a, name) for a in circle for name, b in follows[a].items() if b in circle]
        reached = score(_round([name for _, name in steps], [state for state, _ in steps])) if steps else None
        if steps and (most is None or reached > most):
            most, among = reached, circle
    if most is None:
        return None, ()
    way = _way(follows, start, lambda state: state in among)
    home = way[-1][2] if way else start
    round_ = _walk(follows, home, among, lambda r: score(r) == most)
    return most, tuple(name for _, name, _ in (*way, *round_))


def _circles(follows):
    """The sets of states that lead to each other (Kosaraju): in the order in which a search leaves them, backwards."""
    left, seen = [], set()
    for root in follows:
        stack = [] if root in seen else [(root, iter(follows[root].values()))]
        seen.add(root)
        while stack:
            state, others = stack[-1]
            following = next((s for s in others if s not in seen), None)
            if following is None:
                left.append(stack.pop()[0])
            else:
                seen.add(following)
                stack.append((following, iter(follows[following].values())))
    before, taken = {}, set()
    for state, steps in follows.items():
        for following in steps.values():
            before.setdefault(following, []).append(state)
    for root in reversed(left):
        circle, stack = set(), [root]
        while stack:
            state = stack.pop()
            if state not in taken:
                taken.add(state)
                circle.add(state)
                stack += before.get(state, ())
        if circle:
            yield circle


def _way(follows, start, found, inside=None):
    """The shortest way (state, thread, state) ... from `start` to a state that is `found`, within `inside`."""
    ways, waiting = {start: ()}, deque([start])
    while waiting:
        state = waiting.popleft()
        if found(state):
            return ways[state]
        for name, following in follows[state].items():
            if following not in ways and (inside is None or following in inside):
                ways[following] = (*ways[state], (state, name, following))
                waiting.append(following)
    raise LookupError("no way leads there")


def _walk(follows, home, inside, good):
    """Steps within `inside` from `home` back to it that make a `good` round: one new step after the other."""
    walk, end = (), home
    new = {(a, name) for a in inside for name, b in follows[a].items() if b in inside}

    def before_a_new_one(state):
        return any((state, name) in new for name in follows[state])

    while True:
        back = _way(follows, end, lambda state: state == home, inside)
        circle = walk + back
        if circle and good(_round([name for _, name, _ in circle], [a for a, _, _ in circle])):
            return circle
        walk += _way(follows, end, before_a_new_one, inside)
        end = walk[-1][2] if walk else home
        name = next(name for name in follows[end] if (end, name) in new)
        walk += ((end, name, follows[end][name]),)
        end = walk[-1][2]
        new.difference_update((a, name) for a, name, _ in walk)
