"""From the addresses of one warp instruction to sectors, bank passes and broadcasts, as xray/traffic.py defines them."""

import math

from numba import njit

from ..trace import ATOMIC, CONST, LOCAL, SHARED, WARP
from .slots import (
    ADDRESSES,
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

BANKS = 32
SECTOR, WORD = 32, 4
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
    space, first, step, item = words[info], words[info + 1], words[info + 2], words[info + 3]
    address, lane = words[ADDRESSES : ADDRESSES + WARP], words[SOME_LANES : SOME_LANES + WARP]
    n = 0
    if lanes == (1 << WARP) - 1 and space != LOCAL:
        n = WARP
        for k in range(WARP):
            address[k] = words[p + OFFSETS + k] + first
            lane[k] = k
    else:
        for k in range(WARP):
            if lanes >> k & 1:
                at = words[p + OFFSETS + k]
                if space == LOCAL:  # the words of 32 lanes lie side by side
                    at = first + at // step * item
                    at = (at // WORD * WARP + k) * WORD + at % WORD
                else:
                    at += first
                address[n], lane[n] = at, k
                n += 1
    step = even(address, n)
    addresses, contention = different(words, n, step)
    row = SUMS + ROW * (MOST_ARRAYS * site + number)
    words[row] += 1
    words[row + 1] += n
    words[row + 2] += addresses * size
    if space == SHARED:
        wavefronts, least, ways = bank_passes(words, n, size, step)
        words[row + 4] += wavefronts
        words[row + 5] += least
        words[row + 6] = max(words[row + 6], ways)
    elif space != CONST:
        words[row + 3] += sectors(words, n, size, step)
    words[row + 7] += addresses
    if kind == ATOMIC:
        words[row + 8] = max(words[row + 8], contention)


@compiled
def even(address, n):
    """The step from one address to the next, or -1 where it is not always the same, or goes down."""
    if n == 1:
        return 0
    step = address[1] - address[0]
    apart = 0
    for k in range(2, n):
        apart |= address[k] - address[k - 1] ^ step
    return step if apart == 0 and step >= 0 else -1


@compiled
def find(known, count, place, value):
    """(where a value stands among the ``count`` known, whether it is new). place: where the last one stood."""
    for guess in (place, place + 1):
        if guess < count and known[guess] == value:
            return guess, False
    for k in range(count):
        if known[k] == value:
            return k, False
    known[count] = value
    return count, True


@compiled
def different(words, n, step):
    """(different addresses, most lanes at one of them)"""
    if step >= 0:
        return (n, 1) if step else (1, n)
    address, lanes, known = words[ADDRESSES:], words[COUNTS:], words[KNOWN:]
    count, place, most = 0, 0, 0
    for k in range(n):
        place, new = find(known, count, place, address[k])
        if new:
            count += 1
            lanes[place] = 0
        lanes[place] += 1
        most = max(most, lanes[place])
    return count, most


@compiled
def sectors(words, n, size, step):
    """Sectors of 32 bytes that an instruction touches."""
    address, known = words[ADDRESSES:], words[KNOWN:]
    first, last = address[0] // SECTOR, (address[n - 1] + size - 1) // SECTOR
    if 0 <= step <= SECTOR:
        return last - first + 1
    if step > 0 and step % SECTOR == 0 and (address[0] + size - 1) // SECTOR == first:
        return n
    count, place = 0, 0
    for k in range(n):
        for sector in range(address[k] // SECTOR, (address[k] + size - 1) // SECTOR + 1):
            place, new = find(known, count, place, sector)
            count += new
    return count


@compiled
def bank_passes(words, n, size, step):
    """(wavefronts, least wavefronts, ways) of an access to shared memory."""
    address, lane, count, known = words[ADDRESSES:], words[SOME_LANES:], words[COUNTS:], words[KNOWN:]
    if size == WORD and step >= 0 and step % WORD == 0:
        if step <= WORD:
            return 1, 1, 1
        if lane[n - 1] - lane[0] == n - 1:
            banks = BANKS // max(1, math.gcd(step // WORD, BANKS))
            ways = (n + banks - 1) // banks
            return ways, 1, ways
    at_once = min(WARP, max(1, WARP * WORD // max(size, WORD)))
    wavefronts = least = ways = k = 0
    while k < n:
        part, most = lane[k] // at_once, 0
        for bank in range(BANKS):
            count[bank] = 0
        while k < n and lane[k] // at_once == part:
            for word in range(address[k] // WORD, (address[k] + size - 1) // WORD + 1):
                bank = word % BANKS
                there = count[bank]
                for j in range(there):
                    if known[64 * bank + j] == word:
                        break
                else:
                    known[64 * bank + there] = word
                    count[bank] = there + 1
                    most = max(most, there + 1)
            k += 1
        wavefronts += most
        least += 1
        ways = max(ways, most)
    return wavefronts, least, ways
