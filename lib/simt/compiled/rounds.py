"""Every loop ends: one that goes on and on fails, and when the launch is told to stop (Ctrl-C), loops are left.

    while test:                while _going_on(_stop, _flag) and test:
        ...            ->          _k1 = _k1 + 1
                                   if _k1 > MOST: _raise_flag(_flag, ...)

    for k in range(n):         _rounds = _more_rounds(_rounds, MOST, 0, n, 1)
        ...            ->      if _rounds > MOST: _raise_flag(_flag, ...)
                               if _rounds <= LONG or _going_on(_stop, _flag):
                                   for k in range(n): ...

How long a range is, is known before it begins: counting costs the loop itself nothing. ``_rounds`` adds up those of a
thread, so that loops in loops end too. A range that may be left before its end is counted round by round.
"""

import ast
import copy

from .core import Sync, assign, bodies, call, contains, name, parse, statements
from .interchange import trip_count
from .structure import has

MOST_ROUNDS = 1 << 30  # of the loops of one thread: seconds
MOST_WAITING = 1 << 26  # of one that may wait for other threads, which run after this one here: a second
MOST_COUNTED = 1 << 22  # of one where its accesses are counted as well
LONG = 1 << 16  # rounds after which a thread asks whether it should stop
FEW = 1 << 10  # rounds of ranges of constant length, one in another, that nobody need count


def with_stop(block, unit):
    """Counted ``while`` loops. What is read outside an array is 0, and may be what a loop goes on for: where the block
    has failed they end as well."""
    result = []
    for node in block:
        for body in bodies(node):
            body[:] = with_stop(body, unit)
        if isinstance(node, ast.While) and not contains(node, Sync):
            rounds = unit.namespace.temporary()
            node.test = ast.BoolOp(ast.And(), [call("_going_on", name("_stop"), name("_flag")), node.test])
            waiting = MOST_WAITING if unit.counted is None else MOST_COUNTED
            most = waiting if getattr(node, "may_wait", False) else MOST_ROUNDS
            over = f"if {rounds} > {most}:\n    _raise_flag(_flag, {unit.endless(node)})"
            node.body[:0] = parse(f"{rounds} = {rounds} + 1\n{over}", node)
            result.append(assign(rounds, ast.Constant(0), node))
        result.append(node)
    return result


def with_limits(block, unit, often=False):
    """Counted ranges, in statements that one thread runs. often: ask before each of them, because the thread comes here
    again and again."""
    if not any(isinstance(n, ast.For) for n in statements(block)):
        return block
    counted = _counted(copy.deepcopy(block), unit, 1, -1 if often else LONG)  # a piece may be written twice
    uses = any(isinstance(n, ast.Name) and n.id == "_rounds" for s in counted for n in ast.walk(s))
    return [assign("_rounds", ast.Constant(0), unit.origin), *counted] if uses else counted


def _counted(block, unit, around, long):
    """around: the rounds of the loops around whose lengths are constants."""
    result = []
    for node in block:
        inside, count = around, False
        if isinstance(node, ast.While):
            inside = 1
        elif is_range(node):
            turns = trip_count(node)
            count = turns is None or around * turns > FEW
            inside = 1 if count else around * turns
        for body in bodies(node):
            body[:] = _counted(body, unit, inside, long)
        result += _limited(node, unit, long) if count else [node]
    return result


def is_range(node):
    called = node.iter.func if isinstance(node, ast.For) and isinstance(node.iter, ast.Call) else None
    return isinstance(called, ast.Name) and called.id == "range"


def may_be_left(body):
    return any(has(node, jump) for node in body for jump in (ast.Break, ast.Return))


def _limited(node, unit, long):
    over = f"if _rounds > {MOST_ROUNDS}:\n    _raise_flag(_flag, {unit.endless(node)})"
    if may_be_left(node.body):
        ask = f"_rounds = _rounds + 1\nif _rounds > {LONG} and not _going_on(_stop, _flag):\n    break"
        node.body[:0] = parse(f"{over}\n{ask}", node)
        return [node]
    before, length = range_given(node, unit, "_rounds", MOST_ROUNDS)
    begins = f"if _rounds <= {long} or _going_on(_stop, _flag):\n    LOOP"
    return [*before, assign("_rounds", length, node), *parse(f"{over}\n{begins}", node, LOOP=[node])]


def range_given(node, unit, rounds, most):
    """(statements before a ``for``, how many ``rounds`` there are with its own). What a limit calls is called once."""
    before, limits = [], []
    for limit in node.iter.args:
        if any(isinstance(n, ast.Call) for n in ast.walk(limit)):
            before.append(assign(unit.namespace.temporary(), limit, node))
            limit = name(before[-1].targets[0].id)
        limits.append(limit)
    node.iter = call("range", *limits)
    three = [ast.Constant(0), *limits, ast.Constant(1)] if len(limits) == 1 else [*limits, ast.Constant(1)][:3]
    return before, call("_more_rounds", name(rounds), most, *three)
