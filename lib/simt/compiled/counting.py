"""What a launch does to memory, counted while it runs compiled: the 32 lanes of a warp, side by side.

Between two barriers the threads run one after the other. So each access leaves its byte offset in the *slot* of its
warp
instruction: the slot's key says which expression, which array, and which *visit* (the call path and the iterations of
the loops around it, mixed into one number). When the threads of a warp have run, each slot they touched holds what one
instruction of the warp addresses, and tallying.py counts its sectors, bank passes and so on. The executor groups the
accesses of its trace by the same keys, so both count the same.

All lanes make the same accesses in the same order, mostly: the slot wanted is the one behind the last one, and only the
first lane looks it up in the hash table. Slots stay where they are for the next warp.
"""

import numpy as np
from numba import njit, typeof
from numba.core import types
from numba.core.errors import TypingError
from numba.extending import intrinsic
from numba.np import arrayobj

from ..trace import SPACES
from .slots import (
    ARRAY_SHIFT,
    BASES,
    CURSOR,
    ENTRY,
    FAILED,
    FULL,
    INFO,
    INFO_WORDS,
    KEPT_SLOTS,
    KEY,
    KIND_BITS,
    LANES,
    MET,
    META,
    MOST_MET,
    MOST_SLOTS,
    OFFSETS,
    SITE_BITS,
    SLOT,
    SLOTS,
    TABLE,
    TABLE_BITS,
    TOUCHED,
    TOUCHED_LIST,
    TWICE,
    USED,
    WARP,
)
from .storage import peek, poke
from .tallying import tally
from .words import FLAG, INDEX

compiled = njit(error_model="numpy", nogil=True)
MOST_WORDS = 1 << 40  # the buffer's end is not asked for


def _shuffled(b, x):
    """Mix the bits of an i64 (the end of splitmix64)."""
    for shift, factor in ((30, 0xBF58476D1CE4E5B9), (27, 0x94D049BB133111EB)):
        x = b.mul(b.xor(x, b.lshr(x, INDEX(shift))), INDEX(factor))
    return b.xor(x, b.lshr(x, INDEX(31)))


@intrinsic
def visit(typing, parent, site, iteration):
    """The number of a visit: of a loop's iteration, or of a call, within the visit ``parent``."""

    def generate(context, builder, signature, args):
        b = builder
        parent, site, iteration = args
        far = b.add(b.mul(site, INDEX(0x9E3779B97F4A7C15)), b.mul(iteration, INDEX(0xD1342543DE82EF95)))
        return _shuffled(b, b.add(_shuffled(b, b.add(parent, INDEX(1))), far))

    return types.int64(types.int64, types.int64, types.int64), generate


@intrinsic
def shuffled(typing, key):
    def generate(context, builder, signature, args):
        return _shuffled(builder, args[0])

    return types.int64(types.int64), generate


@intrinsic
def at_address(typing, address):
    """The buffer at an address."""

    def generate(context, builder, signature, args):
        return builder.inttoptr(args[0], INDEX.as_pointer())

    return FLAG(types.intp), generate


@intrinsic
def words_of(typing, counter):
    """The buffer as an array."""
    kind = types.Array(types.int64, 1, "C")

    def generate(context, builder, signature, args):
        array = context.make_array(kind)(context, builder)
        arrayobj.populate_array(array, args[0], [INDEX(MOST_WORDS)], [INDEX(8)], INDEX(8), None)
        return array._getvalue()

    return kind(counter), generate


@compiled
def place(counter, key, meta):
    """The slot of a key: the one that has it, or a new one."""
    mask = (1 << TABLE_BITS) - 1
    h = shuffled(key) & mask
    while True:
        p = peek(counter, TABLE + h)
        if p == 0:
            break
        if peek(counter, p + KEY) == key:
            return p
        h = (h + 1) & mask
    used = peek(counter, USED)
    if used == MOST_SLOTS:
        poke(counter, FAILED, peek(counter, FAILED) | FULL)
        return SLOTS + SLOT * MOST_SLOTS
    p = SLOTS + SLOT * used
    poke(counter, USED, used + 1)
    poke(counter, TABLE + h, p)
    poke(counter, p + KEY, key)
    poke(counter, p + META, meta)
    poke(counter, p + ENTRY, TABLE + h)
    return p


def record(counter, key, meta, thread, offset):
    """One access of one thread."""
    p = peek(counter, CURSOR)
    if peek(counter, p + KEY) != key:
        p = place(counter, key, meta)
    lanes, lane = peek(counter, p + LANES), thread & 31
    if lanes == 0:
        touched = peek(counter, TOUCHED)
        poke(counter, TOUCHED_LIST + touched, p)
        poke(counter, TOUCHED, touched + 1)
    elif lanes >> lane & 1:
        poke(counter, FAILED, peek(counter, FAILED) | TWICE)
    poke(counter, p + LANES, lanes | 1 << lane)
    poke(counter, p + OFFSETS + lane, offset)
    poke(counter, CURSOR, p + SLOT)


_RECORD = types.void(FLAG, types.int64, types.int64, types.int64, types.int64)


def count(watch, array, pointer, kind, size):
    """Emit the recording of an access; returns the array's number and the offset. ``watch``: who asks (watching.py);
    ``array``: its structure in LLVM."""
    b = watch.builder
    number = b.ptrtoint(array.parent, INDEX)
    base = b.load(b.gep(watch.counter, [b.add(number, INDEX(BASES))]))
    offset = b.sub(b.ptrtoint(pointer, INDEX), base)
    known = watch.site | kind << SITE_BITS | size << SITE_BITS + KIND_BITS
    meta = b.or_(INDEX(known), b.shl(number, INDEX(ARRAY_SHIFT)))
    slot = b.mul(b.or_(b.shl(number, INDEX(32)), INDEX(2 * watch.site + 1)), INDEX(0x9E3779B97F4A7C15))
    operands = [watch.counter, b.add(watch.visit, slot), meta, watch.thread, offset]
    watch.context.compile_internal(b, record, _RECORD, operands)
    return number, offset


def is_global(watch, array):
    """i1: an array (its structure in LLVM) lies in global memory."""
    b = watch.builder
    info = b.add(b.mul(b.ptrtoint(array.parent, INDEX), INDEX(INFO_WORDS)), INDEX(INFO))
    return b.icmp_unsigned("==", b.load(b.gep(watch.counter, [info])), INDEX(SPACES.index("global")))


def tagger(first_number):
    """Intrinsic (value): the same, its arrays numbered from ``first_number`` on."""

    @intrinsic
    def tag(typing, value):
        kind = types.unliteral(value)

        def generate(context, builder, signature, args):
            return _tagged(context, builder, kind, args[0], [first_number])

        return kind(value), generate

    return tag


def _tagged(context, builder, kind, value, following):
    if isinstance(kind, types.Array):
        array = context.make_array(kind)(context, builder, value)
        array.parent = builder.inttoptr(INDEX(following[0]), array.parent.type)
        following[0] += 1
        return array._getvalue()
    if isinstance(kind, types.BaseTuple):
        for k, part in enumerate(kind):
            item = _tagged(context, builder, part, builder.extract_value(value, k), following)
            value = builder.insert_value(value, item, k)
    return value


@intrinsic(prefer_literal=True)
def settle(typing, counter, number, memory):
    """An array of the kernel's own begins here: ``memory`` is it, or a pointer."""

    def generate(context, builder, signature, args):
        data = args[2]
        if isinstance(memory, types.Array):
            data = context.make_array(memory)(context, builder, data).data
        pointer = builder.gep(args[0], [INDEX(BASES + number.literal_value)])
        builder.store(builder.ptrtoint(data, INDEX), pointer)
        return context.get_dummy_value()

    return types.void(counter, number, memory), generate


@intrinsic
def no_array(typing, values):
    """``values``, which are no array."""
    if isinstance(values, types.Array):
        raise TypingError("a loop over the elements of an array, which is not counted")

    def generate(context, builder, signature, args):
        return args[0]

    return values(values), generate


def frozen(values, number):
    """Intrinsic without arguments: an array that never changes, where it lies in memory."""
    kind = typeof(values).copy(readonly=True)

    @intrinsic
    def make(typing):
        def generate(context, builder, signature, args):
            array = context.make_array(kind)(context, builder)
            element = context.get_data_type(kind.dtype).as_pointer()
            arrayobj.populate_array(
                array,
                builder.inttoptr(INDEX(values.ctypes.data), element),
                [INDEX(n) for n in values.shape],
                [INDEX(s) for s in values.strides],
                INDEX(values.itemsize),
                None,
            )
            array.parent = builder.inttoptr(INDEX(number), array.parent.type)
            return array._getvalue()

        return kind(), generate

    return make


@compiled
def flush(counter):
    """Count what the warp has done."""
    words = words_of(counter)
    for k in range(words[TOUCHED]):
        tally(words, words[TOUCHED_LIST + k])
    words[TOUCHED] = 0
    if words[USED] > KEPT_SLOTS:
        for p in range(SLOTS, SLOTS + SLOT * words[USED], SLOT):
            words[words[p + ENTRY]] = 0
            words[p + KEY] = 0
        words[USED] = 0


@compiled
def begin_thread(counter, thread):
    """The next accesses are this thread's."""
    warp = thread >> 5
    if warp != peek(counter, WARP):
        flush(counter)
        poke(counter, WARP, warp)
    poke(counter, CURSOR, SLOTS)


@compiled
def meet(counter):
    """A barrier of the block."""
    poke(counter, MET, peek(counter, MET) + 1)


@compiled
def keep_met(kept, block, offset, counter):
    """A block leaves: it keeps the number of barriers that it has passed."""
    kept[block, offset : offset + 8].view(np.int64)[0] = peek(counter, MET)


@compiled
def bring_met(kept, block, offset, counter):
    poke(counter, MET, kept[block, offset : offset + 8].view(np.int64)[0])


@compiled
def begin_block(counter):
    poke(counter, MET, 0)
    poke(counter, WARP, -1)


@compiled
def end_block(counter):
    poke(counter, MOST_MET, max(peek(counter, MOST_MET), peek(counter, MET)))
