"""Races at real size: for each element of memory one word that says who has come there, kept while a launch is counted.

Two accesses of one element race as conflicts.py has it: different threads make them, one is a plain store or one of
the two is atomic and the other is not, and no barrier stands between. To know *whether* an element is raced for, no
list of accesses is needed, because of all that can go on without a race is one of these:

    one thread comes, with accesses of any kind
    several come, and all load, or all are atomic

What comes next keeps to it, or is a race with one of those who came before. So one word for each element is enough, as
in detectors for GPUs that keep a few bits of shadow memory (iGUARD, Kamath and Basu 2021), and it is exact: a word
never forgets who could race.

*Near* words, of each CPU thread, are for threads of one block, in shared and in global memory. A clock says what a
word knows from before the last barrier of the block, or of the warp: barriers make it count on, nothing is cleared.
*Far* words are for blocks, in global memory, and all CPU threads share them: they change by compare-and-swap.

Which two accesses it was is for the executor to say: it runs the block again, or the two.
"""

from numba import njit
from numba.core import types
from numba.extending import intrinsic

from ..trace import STORE
from .counting import at_address
from .slots import (
    APART,
    BEGUN,
    BLOCK,
    CLOCK,
    FAILED,
    FAR,
    MOST_SUSPECTS,
    NEAR,
    SHADOW_WORDS,
    SHADOWS,
    SUSPECT_WORDS,
    SUSPECTED,
    SUSPECTS,
    TURN,
    WARPS,
)
from .storage import peek, poke
from .words import FLAG, INDEX

compiled = njit(error_model="numpy", nogil=True)
IN_BLOCK, IN_GRID = 1, 2  # who can see an array
STORES = 1 << STORE
KINDS = 7

# A near word, from the lowest bit: a thread; several of its warp came; of several warps; the kinds of accesses since
# the warp's last barrier; those before it; the clock.
THREAD, SEVERAL, WARPS_CAME, SINCE, BEFORE, TIME = (1 << 10) - 1, 1 << 10, 1 << 11, 12, 15, 18
# A far word: a block; another one; there is another one; the kinds of accesses; barriers of the grid before.
BLOCK_BITS = 24
SECOND, BLOCKS_CAME, SEEN, TURNS = BLOCK_BITS, 1 << 2 * BLOCK_BITS, 2 * BLOCK_BITS + 1, 2 * BLOCK_BITS + 4
MOST_BLOCKS, MOST_TURNS = 1 << BLOCK_BITS, 1 << 63 - TURNS


@intrinsic
def look(typing, pointer, index):
    """``pointer[index]``, which another CPU thread may be changing."""

    def generate(context, builder, signature, args):
        return builder.load_atomic(builder.gep(args[0], [args[1]]), "monotonic", 8)

    return types.int64(FLAG, types.int64), generate


@intrinsic
def swap(typing, pointer, index, old, new):
    """Put ``new`` where ``old`` is; False where it is there no more."""

    def generate(context, builder, signature, args):
        pointer = builder.gep(args[0], [args[1]])
        return builder.extract_value(builder.cmpxchg(pointer, args[2], args[3], "monotonic", "monotonic"), 1)

    return types.boolean(FLAG, types.int64, types.int64, types.int64), generate


@compiled
def near(counter, words, k, thread, kind):
    """A thread comes to element ``k``; returns the thread that it races with, or -1."""
    word = peek(words, k)
    time, owner, since = word >> TIME, word & THREAD, word >> SINCE & KINDS
    if time < peek(counter, BEGUN):  # from before the last barrier of the block
        poke(words, k, peek(counter, CLOCK) << TIME | kind << SINCE | thread)
        return -1
    if word & WARPS_CAME:
        return -1 if since == kind else owner
    if owner >> 5 != thread >> 5:
        if word >> BEFORE & KINDS | since != kind or kind == STORES:
            return owner
        poke(words, k, word | WARPS_CAME)
    elif time < peek(counter, WARPS + (thread >> 5)):  # from before the last barrier of this warp
        before = word >> BEFORE & KINDS | since
        poke(words, k, peek(counter, CLOCK) << TIME | before << BEFORE | kind << SINCE | thread)
    elif owner == thread and not word & SEVERAL:
        if not since & kind:
            poke(words, k, word | kind << SINCE)
    elif since != kind or kind == STORES:
        return owner
    elif not word & SEVERAL:
        poke(words, k, word | SEVERAL)
    return -1


@compiled
def far(words, k, block, kind, turn):
    """A block comes to element ``k``; returns the block that it races with, or -1."""
    while True:
        word = look(words, k)
        if word == 0 or word >> TURNS != turn:
            new = turn << TURNS | kind << SEEN | block
        else:
            known_block, seen = word & MOST_BLOCKS - 1, word >> SEEN & KINDS
            if word & BLOCKS_CAME:
                if seen == kind:
                    return -1
                return known_block if known_block != block else word >> SECOND & MOST_BLOCKS - 1
            if known_block == block:
                new = word | kind << SEEN
            elif seen != kind or kind == STORES:
                return known_block
            else:
                new = word | BLOCKS_CAME | block << SECOND
        if new == word or swap(words, k, word, new):
            return -1


@compiled
def suspect(counter, scope, site, number, offset, thread, other):
    """Note a race: of each expression, array and scope the first one."""
    count = peek(counter, SUSPECTED)
    for k in range(count):
        row = SUSPECTS + SUSPECT_WORDS * k
        if peek(counter, row) == scope and peek(counter, row + 1) == site and peek(counter, row + 2) == number:
            return
    if count < MOST_SUSPECTS:
        row = SUSPECTS + SUSPECT_WORDS * count
        poke(counter, SUSPECTED, count + 1)
        poke(counter, row, scope)
        poke(counter, row + 1, site)
        poke(counter, row + 2, number)
        poke(counter, row + 3, offset)
        poke(counter, row + 4, peek(counter, BLOCK))
        poke(counter, row + 5, thread)
        poke(counter, row + 6, other)


def come(counter, site, kind, size, number, thread, offset):
    """One access of one thread."""
    row = SHADOWS + SHADOW_WORDS * number
    seen_by = peek(counter, row)
    if seen_by == 0:
        return
    start, unit = offset + peek(counter, row + 1), peek(counter, row + 2)
    begin = start >> unit
    end, words = (start + size - 1 >> unit) + 1, at_address(peek(counter, NEAR))
    near_start = peek(counter, row + 3)
    for k in range(begin, end):
        other = near(counter, words, near_start + k, thread, kind)
        if other >= 0:
            suspect(counter, IN_BLOCK, site, number, offset, thread, other)
    if seen_by == IN_GRID:
        words = at_address(peek(counter, FAR))
        for k in range(begin, end):
            other = far(words, k, peek(counter, BLOCK), kind, peek(counter, TURN))
            if other >= 0:
                suspect(counter, IN_GRID, site, number, offset, thread, other)


_COME = types.void(FLAG, *[types.int64] * 6)


def shadow(watch, number, offset, kind, size):
    """Emit the look at an access. ``watch``: who asks (watching.py); ``number``: of the array."""
    operands = [INDEX(watch.site), INDEX(1 << kind), INDEX(size), number, watch.thread, offset]
    watch.context.compile_internal(watch.builder, come, _COME, [watch.counter, *operands])


@compiled
def order_block(counter):
    """A barrier of the block."""
    now = peek(counter, CLOCK) + 1
    poke(counter, CLOCK, now)
    poke(counter, BEGUN, now)


@compiled
def enter(counter, block):
    """A block begins, or comes back from a barrier of the grid."""
    poke(counter, BLOCK, block)
    order_block(counter)


@compiled
def order_warps(counter, threads):
    """``syncwarp`` by all lanes of all warps."""
    now = peek(counter, CLOCK) + 1
    poke(counter, CLOCK, now)
    for warp in range(threads + 31 >> 5):
        poke(counter, WARPS + warp, now)


@compiled
def order_some(counter, lanes, active, threads):
    """``syncwarp`` by some lanes. lanes[t]: those that meet thread t, where it is active."""
    now = peek(counter, CLOCK) + 1
    poke(counter, CLOCK, now)
    for thread in range(threads):
        if peek(active, thread):
            base = thread & ~31
            if peek(lanes, thread) == (1 << min(32, threads - base)) - 1:
                poke(counter, WARPS + (base >> 5), now)
            else:  # lanes that are ordered in pairs: one clock for each warp does not tell
                poke(counter, FAILED, peek(counter, FAILED) | APART)
