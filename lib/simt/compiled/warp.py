"""Warp operations between two loops over the threads: what all lanes brought lies in arrays, one value for each thread.

``participants`` finds out who takes part, and whether all that a mask names are there; the rest compute the results. A
lane that reads from one which takes no part gets nan, or -1, as in the executor.
"""

import numpy as np
from llvmlite import ir
from numba import njit
from numba.core import types
from numba.extending import intrinsic

from .arithmetic import inline
from .storage import peek, poke, raise_flag

WARP = 32
compiled = njit(error_model="numpy", nogil=True)


@intrinsic
def poison(typing, pointer):
    """All bits one, of the type that ``pointer`` points to: nan, or -1."""
    kind = pointer.dtype

    def generate(context, builder, signature, args):
        value = context.get_value_type(kind)
        if isinstance(kind, types.Float):
            return builder.bitcast(ir.IntType(kind.bitwidth)(-1), value)
        return ir.Constant(value, -1)

    return kind(pointer), generate


@inline
def source_sync(lane, operand):
    return operand & 31


@inline
def source_xor(lane, operand):
    return (lane ^ operand) & 31


@inline
def source_up(lane, operand):
    source = lane - operand
    return source if 0 <= source < WARP else lane


@inline
def source_down(lane, operand):
    source = lane + operand
    return source if 0 <= source < WARP else lane


SOURCES = {
    "shfl_sync": source_sync,
    "shfl_xor_sync": source_xor,
    "shfl_up_sync": source_up,
    "shfl_down_sync": source_down,
}


@inline
def from_whole_warp(values, source, thread, threads):
    """The value of lane ``source`` where every thread of the block takes part."""
    source_thread = thread - (thread & 31) + source
    return peek(values, source_thread) if source_thread < threads else poison(values)


@inline
def from_participant(values, source, thread, part):
    return peek(values, thread - (thread & 31) + source) if part >> source & 1 else poison(values)


@compiled
def participants(part, mask, active, alive, threads, flag, bit):
    """part[t]: the lanes that take part together with thread t. Raises the flag where a mask is not met.

    mask[t]: what the thread named; active[t]: it is here; alive[t]: it has not returned (None: nobody has).
    """
    for base in range(0, threads, WARP):
        lanes = min(WARP, threads - base)
        living = 0
        for lane in range(lanes):
            if alive is None or peek(alive, base + lane):
                living |= 1 << lane
        known, present = -1, 0
        for lane in range(lanes):
            if peek(active, base + lane):
                named = peek(mask, base + lane)
                if named != known:
                    known, present = named, 0
                    for peer in range(lanes):
                        if peek(active, base + peer) and peek(mask, base + peer) == named:
                            present |= 1 << peer
                poke(part, base + lane, present)
                if not named >> lane & 1 or named & living & ~present:
                    raise_flag(flag, bit)


def _vote(decide):
    @compiled
    def vote(result, values, part, active, threads):
        for base in range(0, threads, WARP):
            lanes = min(WARP, threads - base)
            votes = 0
            for lane in range(lanes):
                if peek(active, base + lane) and peek(values, base + lane):
                    votes |= 1 << lane
            for lane in range(lanes):
                if peek(active, base + lane):
                    members = peek(part, base + lane)
                    poke(result, base + lane, decide(votes & members, members))

    return vote


ballot_sync = _vote(inline(lambda votes, members: votes))
any_sync = _vote(inline(lambda votes, members: votes != 0))
all_sync = _vote(inline(lambda votes, members: votes == members))
eq_sync = _vote(inline(lambda votes, members: votes == members or votes == 0))


@compiled
def match_any_sync(result, values, part, active, threads):
    for thread in range(threads):
        if peek(active, thread):
            base, same = thread - (thread & 31), 0
            for lane in range(WARP):
                if peek(part, thread) >> lane & 1 and peek(values, base + lane) == peek(values, thread):
                    same |= 1 << lane
            poke(result, thread, same)


@compiled
def match_all_sync(result, values, part, active, threads):
    """Two results: the mask, and whether all are the same (which is whether the mask is not 0)."""
    for thread in range(threads):
        if peek(active, thread):
            base, members = thread - (thread & 31), peek(part, thread)
            leader = 0
            while not members >> leader & 1:
                leader += 1
            same = True
            for lane in range(WARP):
                if members >> lane & 1 and peek(values, base + lane) != peek(values, base + leader):
                    same = False
            poke(result, thread, members if same else 0)


VOTES = {
    "ballot_sync": ballot_sync,
    "any_sync": any_sync,
    "all_sync": all_sync,
    "eq_sync": eq_sync,
    "match_any_sync": match_any_sync,
    "match_all_sync": match_all_sync,
}


# -- barriers that count -----------------------------------------------------------------------------------------------


@compiled
def barrier_count(values, threads):
    count = 0
    for thread in range(threads):
        count += peek(values, thread)
    return np.int32(count)


@compiled
def barrier_and(values, threads):
    return np.int32(barrier_count(values, threads) == threads)


@compiled
def barrier_or(values, threads):
    return np.int32(barrier_count(values, threads) > 0)


# -- what numba's type inference sees in their place ------------------------------------------------------------------


def _stub(result):
    @intrinsic
    def stub(typing, value):
        def generate(context, builder, signature, args):
            raise NotImplementedError("only typed, never compiled")

        return result(types.unliteral(value))(value), generate

    return stub


STUBS = {
    **{name: _stub(lambda t: t) for name in SOURCES},
    **{name: _stub(lambda t: types.int32) for name in ("ballot_sync", "match_any_sync", "match_all_sync")},
    **{name: _stub(lambda t: types.boolean) for name in ("any_sync", "all_sync", "eq_sync")},
    **{name: _stub(lambda t: types.int32) for name in ("count", "and", "or")},
}
