"""Alignment, layout of records, and order of loops, on one thread."""

from . import FALSE, TRUE, Part, gain, random

CLAIM = "Aligned data loads faster than unaligned; SoA beats AoS; row order beats column order."
FEW = "true if few of the fields are used, and the loop waits for memory"
PARTS = (
    Part(
        "aligned far", "aligned data, from memory", "seconds, 4 bytes off / aligned; 64 MiB", FALSE, "04_vectors", 1.1
    ),
    Part(
        "aligned near",
        "aligned data, from the first level",
        "seconds, 4 bytes off / aligned; 16 KiB",
        "true if the loop waits for loads that cross a line: most of all where a vector is as long as one",
        "04_vectors",
        1.1,
    ),
    Part(
        "one field",
        "SoA, one field of all records",
        "seconds, AoS / SoA; 8 fields, a million records",
        FEW,
        "04_memory",
        1.1,
    ),
    Part(
        "records",
        "SoA, whole records in random order",
        "seconds, AoS / SoA; 8 fields, a million records",
        FEW,
        "04_memory",
        1.1,
    ),
    Part(
        "rows",
        "row order",
        "seconds, by columns / by rows, both in any order of sums; 2000 x 2000",
        TRUE,
        "04_memory",
        1,
    ),
)


def measure(quick):
    import numpy as np
    from numba import njit

    from cpulab.measure.bandwidth import read_all
    from cpulab.measure.lines import empty_aligned

    def off(size, repeat):
        room = empty_aligned(size + 16)
        room[:] = 0
        on, shifted = room[:size], room[1 : size + 1]
        return gain(lambda: read_all(shifted, 1, repeat), lambda: read_all(on, 1, repeat), quick, 1)

    @njit
    def field(records):
        total = np.float32(0)
        for i in range(records.shape[0]):
            total = max(total, records[i, 0])
        return total

    @njit
    def chosen(records, order):
        total = np.float32(0)
        for i in order:
            for j in range(records.shape[1]):
                total = max(total, records[i, j])
        return total

    @njit(fastmath=True)  # else both may wait for one addition after another
    def by_rows(x):
        total = np.float32(0)
        for i in range(x.shape[0]):
            for j in range(x.shape[1]):
                total += x[i, j]
        return total

    @njit(fastmath=True)
    def by_columns(x):
        total = np.float32(0)
        for j in range(x.shape[1]):
            for i in range(x.shape[0]):
                total += x[i, j]
        return total

    aos = random(1 << (16 if quick else 20), 8)
    soa = np.asfortranarray(aos)  # the same indices: each field lies together
    order = np.random.default_rng(1).permutation(len(aos))
    square = random(*(500, 500) if quick else (2000, 2000))
    return {
        "aligned far": off(1 << 24, 1),
        "aligned near": off(1 << 12, 400),
        "one field": gain(lambda: field(aos), lambda: field(soa), quick, 1),
        "records": gain(lambda: chosen(aos, order), lambda: chosen(soa, order), quick, 1),
        "rows": gain(lambda: by_columns(square), lambda: by_rows(square), quick, 1),
    }
