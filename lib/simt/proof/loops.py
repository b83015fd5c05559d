"""Loops, for the proof: one round that stands for any, begun with whatever the rounds before may have left.

What a round changes is unknown when it begins. Where all threads of a block go round together, and a variable is the
same for all, it stays so: that is found out by trial. With a barrier inside, three walks cover what meets: the first
round up to its first barrier, behind what came before the loop; any round; and the round after it, up to its first
barrier.
"""

import ast

from ..source.syntax import stored_names
from .state import Loop, State, describe, one_of
from .values import BLOCK, THREAD, YES, Known, NotProvable, Number, Several, Unknown, both, chosen, either, opposite


class Counted:
    """The head of ``for i in range(start, stop, step)``."""

    def __init__(self, walk, node, state):
        limits = [walk.as_index(walk.value(a, state)) for a in node.iter.args]
        zero, one = Number(0, 0, True), Number(1, 0, True)
        self.start, self.stop, self.step = (zero, limits[0], one) if len(limits) == 1 else (*limits, one)[:3]
        self.walk, self.node = walk, node
        self.level = max(self.start.level, self.stop.level, self.step.level)

    def enter(self, state, round):
        """Begin a round, by its number; returns the condition that there is one."""
        arithmetic = self.walk.arithmetic
        value = arithmetic.binary("Add", self.start, arithmetic.binary("Mult", self.step, round))
        self.walk.assign(self.node.target, value, state)
        if self.step.constant is not None:
            return arithmetic.compare("Lt" if self.step.constant > 0 else "Gt", value, self.stop)
        up = arithmetic.compare("Gt", self.step, Number(0))
        below, above = arithmetic.compare("Lt", value, self.stop), arithmetic.compare("Gt", value, self.stop)
        return either(both(up, below), both(opposite(up), above))

    def any_round(self, level):
        return self.walk.arithmetic.number("round", level, True)

    def after(self, round):
        return self.walk.arithmetic.binary("Add", round, Number(1, 0, True))


class Tested:
    """The head of ``while test``."""

    level = 0

    def __init__(self, walk, node, state):
        self.walk, self.node = walk, node

    def enter(self, state, round):
        return self.walk.truth(self.node.test, state)

    def any_round(self, level):
        return None

    def after(self, round):
        return None


class Loops:
    """The part of the walk that goes through loops."""

    def do_For(self, node, state):
        if node.orelse:
            self.cannot(node, "a loop with `else` is not followed")
        source = self.frame.source
        call = node.iter if isinstance(node.iter, ast.Call) and not source.is_local(node.iter.func) else None
        if call is not None and source.static(call.func)[1] is range:
            self.rounds(node, Counted(self, node, state), state)
            return
        items = self.value(node.iter, state)
        if not isinstance(items, Several):
            self.cannot(node, f"a loop over `{ast.unparse(node.iter)}` is not followed")
        loop = Loop(self.meets(node.body))
        for item in items.items:  # written out
            loop.continues = []
            self.assign(node.target, item, state)
            self.within(loop, node, state)
        self.gather(loop.breaks, state, node)

    def do_While(self, node, state):
        if node.orelse:
            self.cannot(node, "a loop with `else` is not followed")
        self.rounds(node, Tested(self, node, state), state)

    def within(self, loop, node, state):
        """The body of a loop once; whoever left it by `continue` is there again at its end."""
        self.frame.loops.append(loop)
        try:
            self.block(node.body, state)
        finally:
            self.frame.loops.pop()
        self.gather(loop.continues, state, node)

    def gather(self, left, state, node):
        """Threads that had left go on with the others."""
        for leaving in left:
            if state.live.term is False:
                state.variables, state.live = leaving.variables, leaving.live
            else:
                names = dict.fromkeys((*state.variables, *leaving.variables))
                site = self.site(node, "loop")
                state.variables = {
                    n: chosen(leaving.live, leaving.variables.get(n), state.variables.get(n), site) for n in names
                }
                state.live = either(state.live, leaving.live)
            have = {id(a) for a, _ in state.open}
            state.open = [*state.open, *((a, f) for a, f in leaving.open if id(a) not in have)]

    def rounds(self, node, head, state):
        head_node = node.test if isinstance(node, ast.While) else node.target
        loop = Loop(self.meets([*node.body, head_node]))
        changed = sorted(set().union(*(stored_names(part) for part in (head_node, *node.body))))
        begun = len(self.frame.returns)
        guess, together, passes = self.settle(node, head, loop, changed, state)
        del self.frame.returns[begun:]
        if not loop.meets:
            self.by_themselves(node, head, changed, guess, together, state)
        elif passes:
            self.without_barrier(node, head, changed, guess, state)
        else:
            self.in_step(node, head, changed, guess, state)
        if len(self.frame.returns) > begun:  # in some round
            gone = self.arithmetic.flag("returned", THREAD)
            values = [value for _, value in self.frame.returns[begun:]]
            value = (
                values[0] if all(isinstance(v, Known) and v.value is None for v in values) else self.anything(values)
            )
            self.frame.returns[begun:] = [(both(state.live, gone), value)]
            state.live = both(state.live, opposite(gone))

    def anything(self, values):
        return self.of(_joined_all([describe(v) for v in values], None), THREAD)

    # -- what a round changes ------------------------------------------------------------------------------------------

    def settle(self, node, head, loop, changed, state):
        """(name -> description, whether all threads go round together, whether a round may pass no barrier)."""
        guess = {name: describe(state.variables.get(name)) for name in changed}
        while True:
            mark = self.arithmetic.mark()
            self.trial += 1
            trial = state.copy(open=[(None, YES)], ahead=False)
            self.set(trial, guess, BLOCK)
            tried = Loop(loop.meets)
            condition = head.enter(trial, head.any_round(BLOCK))
            trial.live = both(state.live, condition)
            alone = max(head.level, condition.level) == THREAD
            before = trial.live
            self.within(tried, node, trial)
            passes = any(access is None for access, _ in trial.open) and trial.live.term is not False
            alone = alone or any(_alone(leaving.live, before) for leaving in tried.breaks)
            ends = [leaving.variables for leaving in ([trial] if trial.live.term is not False else []) + tried.breaks]
            self.trial -= 1
            found = {}
            for name in changed:
                parts = [guess[name], *(describe(variables.get(name)) for variables in ends)]
                found[name] = _joined_all(parts, self.site(node, "loop"))
                if alone:
                    found[name] = _own(found[name])
            self.arithmetic.back_to(mark)
            if found == guess:
                return guess, not alone, passes
            guess = found

    def set(self, state, guess, level):
        """Variables that hold anything of their kind."""
        for name, kind in guess.items():
            if kind is None:
                state.variables.pop(name, None)
            elif kind[0] != "same":
                state.variables[name] = self.of(kind, level, name)

    def of(self, kind, level, name="value"):
        if kind is None:
            return Unknown(THREAD)
        what, more, by_thread = kind
        level = THREAD if by_thread else level
        if what == "number":
            return self.arithmetic.number(name, level, more)
        if what == "flag":
            return self.arithmetic.flag(name, level)
        if what == "several":
            return Several(tuple(self.of(part, level) for part in more))
        return more if what == "same" else Unknown(level)

    # -- loops without barriers ----------------------------------------------------------------------------------------

    def by_themselves(self, node, head, changed, guess, together, state):
        """Each thread goes round on its own: two that meet may be in different rounds."""
        loop = Loop(False)
        inner = State(dict(state.variables), state.live, state.open, state.ahead)
        self.set(inner, guess, THREAD)
        condition = head.enter(inner, head.any_round(THREAD))
        inner.live = both(state.live, condition)
        self.within(loop, node, inner)
        opened = inner.open
        for leaving in loop.breaks:
            have = {id(a) for a, _ in opened}
            opened = [*opened, *((a, f) for a, f in leaving.open if id(a) not in have)]
        state.open = opened
        self.set(state, guess, BLOCK if together else THREAD)

    # -- loops with barriers -------------------------------------------------------------------------------------------

    def in_step(self, node, head, changed, guess, state):
        """All threads of the block go round together, and every round comes to a barrier."""
        zero = Number(0, 0, True)
        first_round = state.copy(ahead=True)
        condition = head.enter(first_round, zero)
        self.must_agree(state, state.live, condition, node, "loop")
        exits = [(both(state.live, opposite(condition)), state.variables, [*first_round.open])]
        first_round.live = both(state.live, condition)
        loop = Loop(True)
        self.within(loop, node, first_round)
        exits += [(leaving.live, leaving.variables, leaving.open) for leaving in loop.breaks]
        if not state.ahead:
            round = head.any_round(BLOCK)
            any_round = state.copy(open=[])
            self.set(any_round, guess, BLOCK)
            again = head.enter(any_round, round)
            self.must_agree(state, state.live, again, node, "loop")
            any_round.live = both(both(state.live, condition), again)
            loop = Loop(True)
            self.within(loop, node, any_round)
            exits += [(leaving.live, leaving.variables, leaving.open) for leaving in loop.breaks]
            if any_round.live.term is not False:
                last = dict(any_round.variables)
                after = any_round.copy()
                more = head.enter(after, head.after(round))
                self.must_agree(any_round, any_round.live, more, node, "loop")
                exits.append((both(any_round.live, opposite(more)), last, [*after.open]))
                after.live, after.ahead = both(any_round.live, more), True
                loop = Loop(True)
                self.within(loop, node, after)
                exits += [(leaving.live, leaving.variables, leaving.open) for leaving in loop.breaks]
        live, variables, opened = one_of(exits, self.arithmetic, self.site(node, "loop"))
        state.live, state.variables, state.open = live, variables, opened

    def without_barrier(self, node, head, changed, guess, state):
        """Some rounds may pass no barrier, so that rounds far apart meet: any round, and any later one."""
        opened = state.open
        before = state.live
        for ahead in (state.ahead, True):
            any_round = state.copy(open=opened, ahead=ahead)
            self.set(any_round, guess, BLOCK)
            condition = head.enter(any_round, head.any_round(BLOCK))
            self.must_agree(state, before, condition, node, "loop")
            any_round.live = both(before, condition)
            loop = Loop(True)
            self.within(loop, node, any_round)
            for end in (any_round, *loop.breaks):
                have = {id(a) for a, _ in opened}
                opened = [*opened, *((a, YES) for a, _ in end.open if id(a) not in have)]
        state.open = [(a, YES) for a, _ in opened]
        self.set(state, guess, BLOCK)


def _alone(live, before):
    return live.level == THREAD and live is not before


def _own(kind):
    """The same description, each thread's own."""
    if kind is None or kind[0] == "same":
        return kind
    if kind[0] == "several":
        return kind[0], tuple(map(_own, kind[1])), 0
    return kind[0], kind[1], 1


def _joined_all(kinds, site):
    result = kinds[0]
    for kind in kinds[1:]:
        result = _joined(result, kind, site)
    return result


def _joined(a, b, site):
    if a is None or b is None or a == b:
        return a or b
    if a[0] == "same" or b[0] == "same":
        x, y = a[1], b[1]
        alike = a[0] == b[0] and (x is y or (isinstance(x, Known) and isinstance(y, Known) and x.value is y.value))
        if alike or (
            hasattr(x, "array") and hasattr(y, "array") and x.array is y.array and not x.prefix and not y.prefix
        ):
            return a
        raise NotProvable("a variable is one array in one round of the loop and another in the next", site)
    if a[0] == "several" and b[0] == "several" and len(a[1]) == len(b[1]):
        return "several", tuple(_joined(x, y, site) for x, y in zip(a[1], b[1], strict=True)), 0
    by_thread = 1 if "several" in (a[0], b[0]) else max(a[2], b[2])
    if a[0] == b[0]:
        return a[0], a[1] and b[1], by_thread
    return "unknown", None, by_thread
