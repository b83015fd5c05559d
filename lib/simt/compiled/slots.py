"""Where the counts of a launch lie: one buffer of int64 for each CPU thread, which compiled code knows by a pointer.

    header | first addresses of arrays | what arrays are | touched slots | hash table | slots | scratch
    | what shadow.py needs | sums

A slot: its key; what access it is; which lanes made it; its place in the hash table; an offset for each lane.
"""

import numpy as np

# The header.
CURSOR, USED, WARP, TOUCHED, FAILED, MET, MOST_MET = range(7)
CLOCK, BEGUN, BLOCK, TURN, NEAR, FAR, SUSPECTED = range(7, 14)  # of shadow.py
BASES, MOST_ARRAYS = 16, 256
INFO, INFO_WORDS = BASES + MOST_ARRAYS, 4  # space, virtual address, bytes from one element to the next, bytes of one
MOST_SLOTS, KEPT_SLOTS, TABLE_BITS = 1 << 17, 1 << 12, 18
TOUCHED_LIST = INFO + INFO_WORDS * MOST_ARRAYS
TABLE = TOUCHED_LIST + MOST_SLOTS + 1
SLOTS = TABLE + (1 << TABLE_BITS)
SLOT, KEY, META, LANES, ENTRY, OFFSETS = 36, 0, 1, 2, 3, 4  # words of a slot
SCRATCH = SLOTS + SLOT * (MOST_SLOTS + 2)  # more slots: where the cursor stands behind the last, and where nobody looks
ADDRESSES, SOME_LANES, ALL_LANES, COUNTS, KNOWN = (SCRATCH + 32 * k for k in range(5))
WARPS = KNOWN + 32 * 64  # when each warp passed its last barrier
SHADOWS, SHADOW_WORDS = WARPS + 32, 4  # of each array: memory seen by, first byte, bytes of a unit (log2), first word
SUSPECTS, SUSPECT_WORDS, MOST_SUSPECTS = SHADOWS + SHADOW_WORDS * MOST_ARRAYS, 8, 64
SUMS = SUSPECTS + SUSPECT_WORDS * MOST_SUSPECTS
SITE_BITS, KIND_BITS, SIZE_BITS, ARRAY_SHIFT = 24, 2, 10, 40  # of META, from the lowest
TWICE, FULL, APART = 1, 2, 4  # what may have failed; APART: only the look for races
MEASURES = (
    "requests", "lanes", "bytes_used", "sectors", "wavefronts", "least_wavefronts", "ways", "addresses", "contention",
)  # fmt: skip


LARGEST = ("ways", "contention")  # of which the largest counts; of the others, the sum


def buffer(sites, arrays, bases):
    """An empty buffer. arrays: of each, the words of INFO. bases: of those that are given, where they lie."""
    words = np.zeros(SUMS + len(MEASURES) * sites * MOST_ARRAYS, np.int64)  # what nobody touches takes no memory
    words[CURSOR], words[WARP], words[CLOCK], words[BEGUN] = SLOTS, -1, 1, 1
    words[INFO : INFO + INFO_WORDS * len(arrays)] = np.array(arrays, np.int64).ravel()
    words[ALL_LANES : ALL_LANES + 32] = range(32)
    words[BASES : BASES + len(bases)] = bases
    return words


def sums(words, sites):
    """The counts as an array: site, array, measure."""
    return words[SUMS:].reshape(sites, MOST_ARRAYS, len(MEASURES))
