"""The memory model: from the addresses of a warp instruction to sectors, wavefronts and broadcasts.

All functions take flat arrays, one entry per access of one thread:

    request  which warp instruction (0, 1, 2 ...) the access belongs to
    lane     0-31, the thread's place in its warp
    address  byte address; shared memory starts at a multiple of 128
    size     bytes: 1, 2, 4, 8 or 16

and return one value per request. Nothing here loops over accesses.

Sources: CUDA C++ Best Practices Guide, "Coalesced Access to Global Memory" (32-byte transactions); CUDA C++
Programming Guide, "Shared Memory" (32 banks, 4 bytes wide, one word served to any number of lanes at once)
and "Local Memory" (consecutive words of a thread lie 32 words apart). A warp moves at most 128 bytes of
shared memory in one pass, so 8-byte accesses go by half warps and 16-byte accesses by quarter warps.
"""

import numpy as np

WARP = 32
SECTOR_BYTES = 32
BANKS = 32
BANK_BYTES = 4


def group(*columns):
    """Number the distinct rows of integer columns: (number of each row, index of one row of each number).

    Numbers ascend with the rows, the first column counting most.
    """
    key = pack(*columns)
    _, first, inverse = np.unique(key, return_index=True, return_inverse=True)
    return inverse, first


def pack(*columns):
    """One int64 key whose order is that of the rows (c0, c1, ...). Columns are integers of any range."""
    key = np.zeros(len(columns[0]), np.int64)
    span = 1
    for column in columns:
        column = np.asarray(column, np.int64)
        low = int(column.min()) if column.size else 0
        width = int(column.max()) - low + 1 if column.size else 1
        if span * width >= 2**62:  # renumber densely before the key overflows
            key = np.unique(key, return_inverse=True)[1].astype(np.int64)
            span = int(key.max()) + 1
            if span * width >= 2**62:
                column = np.unique(column, return_inverse=True)[1].astype(np.int64)
                low, width = 0, int(column.max()) + 1
        key = key * width + (column - low)
        span *= width
    return key


def count_distinct(request, requests, *what):
    """Number of distinct rows of ``what`` in each request, shape (requests,)."""
    _, first = group(request, *what)
    return np.bincount(request[first], minlength=requests)


def spread(address, size, unit):
    """Cut accesses into pieces of ``unit`` bytes: (index of the access, number of the unit)."""
    first, last = address // unit, (address + size - 1) // unit
    pieces = (last - first + 1).astype(np.int64)
    index = np.repeat(np.arange(len(address)), pieces)
    offset = np.arange(len(index)) - np.repeat(np.cumsum(pieces) - pieces, pieces)
    return index, first[index] + offset


def sectors(request, requests, address, size):
    """32-byte sectors each request touches. The fewest for 32 lanes of 4 bytes is 4."""
    index, sector = spread(address, size, SECTOR_BYTES)
    return count_distinct(request[index], requests, sector)


def bytes_used(request, requests, address, size):
    """Distinct bytes each request touches: 32 lanes that read one float use 4 bytes."""
    _, first = group(request, address, size)
    return np.bincount(request[first], weights=size[first], minlength=requests).astype(np.int64)


def local_address(offset, lane):
    """Address of byte ``offset`` of a thread's local array: the words of 32 lanes lie side by side."""
    return (offset // BANK_BYTES * WARP + lane) * BANK_BYTES + offset % BANK_BYTES


def bank_passes(request, requests, lane, address, size):
    """Shared memory: (wavefronts, least wavefronts, ways) of each request.

    wavefronts: passes the banks need. least: passes needed without any conflict, one for each part of the
    warp (whole, half or quarter, for 4, 8 or 16 bytes) with an active lane. ways: most different 4-byte words
    that one bank must serve within a part; 1 is free of conflicts. A word shared by lanes counts once.
    """
    part = lane // np.clip(WARP * BANK_BYTES // np.maximum(size, BANK_BYTES), 1, WARP)
    index, word = spread(address, size, BANK_BYTES)
    _, first = group(request[index], part[index], word)  # one row per (request, part, word)
    access, word = index[first], word[first]
    _, bank_first, words = np.unique(
        pack(request[access], part[access], word % BANKS), return_index=True, return_counts=True
    )
    owner = access[bank_first]
    part_number, part_first = group(request[owner], part[owner])
    worst = np.zeros(len(part_first), np.int64)
    np.maximum.at(worst, part_number, words)
    of_part = request[owner[part_first]]
    wavefronts = np.bincount(of_part, weights=worst, minlength=requests).astype(np.int64)
    least = np.bincount(of_part, minlength=requests)
    ways = np.zeros(requests, np.int64)
    np.maximum.at(ways, of_part, worst)
    return wavefronts, least, ways


def contention(request, requests, address):
    """Most lanes of each request that address one place: an atomic serves them one after another."""
    number, first = group(request, address)
    lanes = np.bincount(number)
    most = np.zeros(requests, np.int64)
    np.maximum.at(most, request[first], lanes)
    return most
