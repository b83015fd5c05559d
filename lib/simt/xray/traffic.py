"""The memory model: from the addresses of a warp instruction to sectors, wavefronts and broadcasts.

The functions take matrices with a row for each warp instruction and a column for each of its accesses:

    active   False where a row has fewer accesses than there are columns
    lane     0-31, the thread's place in its warp
    address  byte address; shared memory starts at a multiple of 128
    size     bytes: 1, 2, 4, 8 or 16, one for each row, shape (rows, 1)

and return one value per row. Nothing here loops over accesses.

Sources: CUDA C++ Best Practices Guide, "Coalesced Access to Global Memory" (32-byte transactions); CUDA C++
Programming Guide, "Shared Memory" (32 banks, 4 bytes wide, one word served to any number of lanes at once)
and "Local Memory" (consecutive words of a thread lie 32 words apart). A warp moves at most 128 bytes of
shared memory in one pass, so 8-byte accesses go by half warps and 16-byte accesses by quarter warps. Loads of 8 and 16
bytes take twice as many lanes at once where neighbours want the same (`paired`): found on an H200, whose own counts of
wavefronts for 1284 patterns are kept in benchmarks/results/gpu_banks.json, and agree with these functions in all.
"""

import numpy as np

from ..limits import BANK_BYTES, BANKS, SECTOR_BYTES

WARP = 32
_NOTHING = np.iinfo(np.int64).max  # sorts behind every address


def sectors(active, address, size):
    """32-byte sectors each request touches. The fewest for 32 lanes of 4 bytes is 4."""
    return _distinct(_pieces(active, address, size, SECTOR_BYTES))


def bytes_used(active, address, size):
    """Different bytes each request touches: 32 lanes that read one float use 4 bytes."""
    return addresses(active, address) * size[:, 0]


def addresses(active, address):
    """Different addresses of each request: constant memory serves one at a time."""
    return _distinct(np.where(active, address, _NOTHING))


def contention(active, address):
    """Most lanes of each request that address one place: an atomic serves them one after another."""
    return _longest_run(np.sort(np.where(active, address, _NOTHING), axis=1))


def local_address(offset, lane):
    """Address of byte ``offset`` of a thread's local array: the words of 32 lanes lie side by side."""
    return (offset // BANK_BYTES * WARP + lane) * BANK_BYTES + offset % BANK_BYTES


def bank_passes(active, lane, address, size, load):
    """Shared memory: (wavefronts, least wavefronts, ways) of each request. load: whether it is one, for each row.

    wavefronts: passes the banks need. least: passes needed without any conflict, one for each part of the
    warp (`lanes_at_once`) with an active lane. ways: most different 4-byte words that one bank must serve within a
    part; 1 is free of conflicts. A word shared by lanes counts once.
    """
    part = lane // lanes_at_once(size, load & paired(active, lane, address))[:, None]
    wavefronts, least, ways = (np.zeros(len(active), np.int64) for _ in range(3))
    for number in range(int(part.max(initial=0)) + 1):
        words = np.sort(_pieces(active & (part == number), address, size, BANK_BYTES), axis=1)
        is_new = np.diff(words, axis=1, prepend=-1) != 0
        banks = np.sort(np.where(is_new & (words != _NOTHING), words % BANKS, _NOTHING), axis=1)
        most = _longest_run(banks)
        wavefronts += most
        least += most > 0
        ways = np.maximum(ways, most)
    return wavefronts, least, ways


def lanes_at_once(size, pairs):
    """Lanes of a warp that shared memory serves in one pass, for each row: 32 up to 4 bytes, 16 for 8, 8 for 16; twice
    as many where ``pairs`` says so."""
    return np.clip(WARP * BANK_BYTES // np.maximum(size[:, 0], BANK_BYTES) * (1 + pairs), 1, WARP)


def paired(active, lane, address):
    """Whether over the whole warp each lane wants the same address as its neighbour (lane i as i^1, or each i as i^2),
    or one of both is not active."""
    wanted = np.full((len(active), WARP), -1, np.int64)
    row = np.broadcast_to(np.arange(len(active))[:, None], active.shape)
    wanted[row[active], lane[active]] = address[active]
    found = np.zeros(len(active), bool)
    for apart in (1, 2):
        neighbour = wanted[:, np.arange(WARP) ^ apart]
        found |= ((wanted == neighbour) | (wanted < 0) | (neighbour < 0)).all(axis=1)
    return found


def _pieces(active, address, size, unit):
    """Numbers of the units of ``unit`` bytes that each access touches, with columns for wide accesses."""
    first, last = address // unit, (address + size - 1) // unit
    most = int((last - first).max(where=active, initial=0)) + 1
    columns = [np.where(active, np.minimum(first + k, last), _NOTHING) for k in range(most)]
    return np.concatenate(columns, axis=1) if most > 1 else columns[0]


def _distinct(values):
    values = np.sort(values, axis=1)
    return ((np.diff(values, axis=1, prepend=-1) != 0) & (values != _NOTHING)).sum(axis=1)


def _longest_run(values):
    """Length of the longest run of equal values in each sorted row, 0 for a row of nothing."""
    column = np.arange(values.shape[1])
    new = np.diff(values, axis=1, prepend=-1) != 0
    start = np.maximum.accumulate(np.where(new, column, 0), axis=1)
    return np.where(values != _NOTHING, column - start + 1, 0).max(axis=1, initial=0)
