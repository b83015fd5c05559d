"""From the addresses of one warp instruction to sectors, bank passes and broadcasts, as xray/traffic.py defines
them."""

import math

from numba import njit

from ..limits import BANK_BYTES as WORD
from ..limits import BANKS
from ..limits import SECTOR_BYTES as SECTOR
from ..trace import ATOMIC, CONST, LOAD, LOCAL, SHARED, WARP
from .slots import (
    ADDRESSES,
    ALL_LANES,
    ARRAY_SHIFT,
    COUNTS,
    INFO,
    INFO_WORDS,
    KIND_BITS,
    KNOWN,
    LANES,
    MEASURES,
    META,
    MOST_ARRAYS,
    OFFSETS,
    SITE_BITS,
    SIZE_BITS,
    SOME_LANES,
    SUMS,
)

ROW = len(MEASURES)
compiled = njit(error_model="numpy", nogil=True)


@compiled
def tally(words, p):
    """Add what the slot at ``p`` did to the sums, and make it empty."""
    lanes, meta = words[p + LANES], words[p + META]
    words[p + LANES] = 0
    site = meta & (1 << SITE_BITS) - 1
    kind = meta >> SITE_BITS & (1 << KIND_BITS) - 1
    size = meta >> SITE_BITS + KIND_BITS & (1 << SIZE_BITS) - 1
    number = meta >> ARRAY_SHIFT
    info = INFO + INFO_WORDS * number
    space, base, step, item = words[info], words[info + 1], words[info + 2], words[info + 3]
    n, lane = WARP, ALL_LANES
    if lanes == (1 << WARP) - 1 and space != LOCAL:
        for k in range(WARP):
            words[ADDRESSES + k] = words[p + OFFSETS + k] + base
    else:
        n, lane = 0, SOME_LANES
        for k in range(WARP):
            if lanes >> k & 1:
                address = words[p + OFFSETS + k]
                if space == LOCAL:  # the words of 32 lanes lie side by side
                    address = address // step * item
                    address = ((address >> 2) * WARP + k) * WORD + (address & 3)
                words[ADDRESSES + n], words[SOME_LANES + n] = address + base, k
                n += 1
    row = SUMS + ROW * (MOST_ARRAYS * site + number)
    words[row] += 1
    words[row + 1] += n
    if kind != ATOMIC and n == WARP and size <= WORD and halves_equal(words):
        n = WARP // 2  # what both halves address counts once
    step, rising, addresses = shape_of(words, n)
    if kind == ATOMIC or not rising:
        addresses, contention = different(words, n)
        if kind == ATOMIC:
            words[row + 8] = max(words[row + 8], contention)
    words[row + 2] += addresses * size
    words[row + 7] += addresses
    if space == SHARED:
        lanes_per_pass = min(WARP, max(1, WARP * WORD // max(size, WORD)))
        if kind == LOAD and lanes_per_pass < WARP and (paired(words, lane, n, 1) or paired(words, lane, n, 2)):
            lanes_per_pass *= 2
        wavefronts, least, ways = bank_passes(words, lane, n, size, step, rising, lanes_per_pass)
        words[row + 4] += wavefronts
        words[row + 5] += least
        words[row + 6] = max(words[row + 6], ways)
    elif space != CONST:
        words[row + 3] += sectors(words, n, size, step, rising)


@compiled
def halves_equal(words):
    apart = 0
    for k in range(ADDRESSES, ADDRESSES + WARP // 2):
        apart |= words[k] ^ words[k + WARP // 2]
    return apart == 0


@compiled
def shape_of(words, n):
    """(the step from one address to the next, or -1 where it is not always the same; whether none is lower than the one
    before it; how many differ from the one before it, with the first)"""
    if n == 1:
        return 0, True, 1
    step = words[ADDRESSES + 1] - words[ADDRESSES]
    apart, falling, changes = 0, step, 1 if step == 0 else 2
    for k in range(ADDRESSES + 2, ADDRESSES + n):
        now = words[k] - words[k - 1]
        apart |= now ^ step
        falling |= now
        changes += now != 0
    return step if apart == 0 and step >= 0 else -1, falling >= 0, changes


@compiled
def find(words, count, start, value):
    """(where a value stands among the ``count`` known, whether it is new). start: where the last one stood."""
    for guess in (start, start + 1):
        if guess < count and words[KNOWN + guess] == value:
            return guess, False
    for k in range(count):
        if words[KNOWN + k] == value:
            return k, False
    words[KNOWN + count] = value
    return count, True


@compiled
def different(words, n):
    """(different addresses, most lanes at one of them)"""
    count, slot, most = 0, 0, 0
    for k in range(n):
        slot, new = find(words, count, slot, words[ADDRESSES + k])
        if new:
            count += 1
            words[COUNTS + slot] = 0
        words[COUNTS + slot] += 1
        most = max(most, words[COUNTS + slot])
    return count, most


@compiled
def sectors(words, n, size, step, rising):
    """Sectors of 32 bytes that an instruction touches."""
    if 0 <= step <= SECTOR:
        return (words[ADDRESSES + n - 1] + size - 1 >> 5) - (words[ADDRESSES] >> 5) + 1
    if rising:
        count, across = 1, 0
        for k in range(ADDRESSES, ADDRESSES + n):
            across += (words[k] & SECTOR - 1) + size > SECTOR
        for k in range(ADDRESSES + 1, ADDRESSES + n):
            count += words[k] >> 5 != words[k - 1] >> 5
        if not across:
            return count
    count, slot = 0, 0
    for k in range(ADDRESSES, ADDRESSES + n):
        for sector in range(words[k] >> 5, (words[k] + size - 1 >> 5) + 1):
            slot, new = find(words, count, slot, sector)
            count += new
    return count


@compiled
def paired(words, lane, n, apart):
    """Whether each lane wants the same address as lane ``i ^ apart``, or that one is not active; they stand in
    order."""
    for k in range(n):
        for j in range(k + 1, min(n, k + 1 + apart)):
            if words[lane + j] == words[lane + k] ^ apart and words[ADDRESSES + j] != words[ADDRESSES + k]:
                return False
    return True


@compiled
def bank_passes(words, lane, n, size, step, rising, lanes_per_pass):
    """(wavefronts, least wavefronts, ways) of an access to shared memory. lane: where the lanes' numbers stand.
    lanes_per_pass: how many lanes are served in a pass."""
    if size == WORD and rising and words[ADDRESSES] & 3 == 0:
        if words[ADDRESSES + n - 1] - words[ADDRESSES] < WORD * BANKS:
            return 1, 1, 1
        if step > 0 and step & 3 == 0:
            banks = BANKS // math.gcd(step >> 2, BANKS)
            ways = (n + banks - 1) // banks
            return ways, 1, ways
    wavefronts = least = ways = k = 0
    while k < n:
        part, most = words[lane + k] // lanes_per_pass, 0
        for bank in range(BANKS):
            words[COUNTS + bank] = 0
        while k < n and words[lane + k] // lanes_per_pass == part:
            for word in range(words[ADDRESSES + k] >> 2, (words[ADDRESSES + k] + size - 1 >> 2) + 1):
                bank = word & BANKS - 1
                there = words[COUNTS + bank]
                for j in range(there):
                    if words[KNOWN + 64 * bank + j] == word:
                        break
                else:
                    words[KNOWN + 64 * bank + there] = word
                    words[COUNTS + bank] = there + 1
                    most = max(most, there + 1)
            k += 1
        wavefronts += most
        least += 1
        ways = max(ways, most)
    return wavefronts, least, ways
