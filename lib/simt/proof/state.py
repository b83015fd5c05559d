"""Where a thread stands in the walk: its variables, whether it is there at all, and what it has touched since the last
barrier."""

from dataclasses import dataclass, field

from .values import NO, THREAD, YES, Flag, Number, Several, Unknown, both, chosen, either, level_of, opposite


@dataclass(frozen=True, eq=False)
class Access:
    """kind: "load", "store" or "atomic". index: a term for each axis. live: the `Flag` under which it happens."""

    array: object
    index: tuple
    kind: str
    live: object
    level: int
    site: object


@dataclass(eq=False)
class State:
    """variables: name -> value. live: a `Flag`. open: [(Access or None, Flag)]: what was touched since the last
    barrier, where the flag holds; None marks the beginning of a round of a loop.

    ahead: this walk ends at the next barrier, it only looks what comes before it.
    """

    variables: dict
    live: object = YES
    open: list = field(default_factory=list)
    ahead: bool = False

    def copy(self, **changes):
        parts = {"variables": dict(self.variables), "live": self.live, "open": list(self.open), "ahead": self.ahead}
        return State(**{**parts, **changes})

    def become(self, other):
        self.variables, self.live, self.open = other.variables, other.live, other.open


class Frame:
    """A function that the walk is in. returns: [(live, value)]. loops: those around, the innermost last."""

    def __init__(self, source):
        self.source, self.returns, self.loops = source, [], []


class Loop:
    """A loop that the walk is in: the states that `break` and `continue` left. meets: whether a barrier stands
    inside."""

    def __init__(self, meets):
        self.meets, self.breaks, self.continues = meets, [], []


def joined(test, yes, no, site):
    """The variables after a branch."""
    if yes.live.term is False:
        return no.variables
    if no.live.term is False:
        return yes.variables
    return variables_of(test, yes.variables, no.variables, site)


def variables_of(test, yes, no, site):
    names = dict.fromkeys((*yes, *no))
    return {name: chosen(test, yes.get(name), no.get(name), site) for name in names}


def live_after(state, yes, no, before_yes, before_no):
    """Under which condition a thread goes on behind a branch."""
    if yes.live is before_yes and no.live is before_no:
        return state.live
    return either(yes.live, no.live)


def open_after(test, yes, no):
    """What is open behind a branch that the whole block takes or leaves."""
    if yes is no:
        return yes
    left = {id(a): (a, f) for a, f in no}
    merged = []
    for access, flag in yes:
        unmet = left.pop(id(access), None)
        if unmet is None:
            merged.append((access, both(flag, test)))
        elif unmet[1] is flag:
            merged.append((access, flag))
        else:
            merged.append((access, either(both(flag, test), both(unmet[1], opposite(test)))))
    merged += [(access, both(flag, opposite(test))) for access, flag in left.values()]
    return [(access, flag) for access, flag in merged if flag.term is not False]


def one_of(exits, arithmetic, site):
    """The state behind a loop that the whole block leaves in one of several ways: [(live, variables, open)]."""
    exits = [leaving for leaving in exits if leaving[0].term is not False]
    if not exits:
        return NO, {}, []
    if len(exits) == 1:
        return exits[0]
    way = arithmetic.fresh("way", 1)
    arithmetic.fact(0 <= way, 1, way)
    arithmetic.fact(way < len(exits), 1, way)
    live, variables, opened = None, None, []
    for number, (alive, theirs, accesses) in enumerate(exits):
        test = arithmetic.compare("Eq", Number(way, 1), Number(number))
        taken = both(test, alive)
        live = taken if live is None else either(live, taken)
        variables = theirs if variables is None else variables_of(test, theirs, variables, site)
        opened += [(access, both(flag, test)) for access, flag in accesses]
    return live, variables, opened


def describe(value):
    """What kind of thing a variable holds, for a round of a loop that begins with any: (kind, more, level)."""
    if value is None:
        return None
    if isinstance(value, Number):
        return "number", value.natural, int(level_of(value) == THREAD)
    if isinstance(value, Flag):
        return "flag", None, int(level_of(value) == THREAD)
    if isinstance(value, Unknown):
        return "unknown", None, int(level_of(value) == THREAD)
    if isinstance(value, Several):
        return "several", tuple(describe(item) for item in value.items), 0
    return "same", value, 0
