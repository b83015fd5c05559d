"""16-bins: A kernel of numba.cuda in OpenCL C."""

import numpy as np

from ...definition import Case, Section
from ...kinds.arrays import Suspect
from ...kinds.opencl import OpenCLTask
from .shared import FIRST, whole_numbers

BINS, WIDTH, LOCAL = 16, 8, 64


def counted(values, counts, n):
    return np.bincount((values // WIDTH) % BINS, minlength=BINS)


def of_two_groups(values, firsts):
    """The counts where two work-groups go through the values, from these numbers on."""
    step = 2 * LOCAL
    return sum(counted(values[np.arange(len(values)) % step // LOCAL == f // LOCAL], None, None) for f in firsts)


def bins_case(name, n, groups, low=-200, high=200):
    return Case(
        f"{name}: {n} numbers, {groups} work-group{'s' if groups > 1 else ''}",
        lambda rng: (whole_numbers(rng, n, low, high), np.zeros(BINS, np.int32), n),
        grid=groups,
        block=LOCAL,
    )


BINS_TASK = OpenCLTask(
    id="16-bins",
    section=Section("16", "16_opencl", "Term by term"),
    kernel="bins",
    tell_first=FIRST,
    title="A kernel of numba.cuda in OpenCL C",
    objective="Translate a kernel by hand, with what C does differently: division, types, addresses",
    points=3,
    minutes=18,
    spec=counted,
    out=1,
    rtol=0,
    atol=0,
    cases=(
        bins_case("positive", 100, 1, 0, 200),
        bins_case("below zero, too", 64, 1),
        bins_case("two work-groups, several rounds", 300, 2),
        bins_case("fewer numbers than work-items", 5, 1),
    ),
    suspects=(
        Suspect(
            lambda values, counts, n: np.bincount(np.abs(np.fix(values / WIDTH).astype(int)) % BINS, minlength=BINS),
            "Numbers below zero went into the bin of their positive counterpart.",
        ),
        Suspect(
            lambda values, counts, n: np.bincount(np.fix(values / WIDTH).astype(int) % BINS, minlength=BINS),
            "-3 / 8 is 0 in C, which rounds towards zero; Python's -3 // 8 is -1. The shift -3 >> 3 rounds down, as // "
            "does.",
        ),
        Suspect(
            lambda values, counts, n: np.bincount((values[:LOCAL] // WIDTH) % BINS, minlength=BINS),
            "Only the first numbers were counted. A work-item goes on: in steps of all work-items of the NDRange.",
        ),
        Suspect(lambda values, counts, n: np.bincount(values % BINS, minlength=BINS), "A bin is 8 numbers wide."),
        Suspect(
            lambda values, counts, n: counted(values, counts, n) + 1,
            "Each count is one too large: the counts of a work-group begin with 0.",
        ),
        *(
            Suspect(
                lambda values, counts, n, first=first: of_two_groups(values, [first]),
                "These are the counts of one work-group: another one's were lost. They are added to counts, "
                "atomically.",
            )
            for first in (0, LOCAL)
        ),
        Suspect(
            lambda values, counts, n: of_two_groups(values, [0, 0]),
            "Each work-group counted the same numbers. Where does a work-item begin, in the whole NDRange?",
        ),
        Suspect(
            lambda values, counts, n: counted(values, counts, n) + counted(values[LOCAL:], counts, n),
            "Some numbers were counted by both work-groups: cuda.gridsize(1) is all work-items, not those of a "
            "work-group.",
        ),
    ),
    advice={
        "negative-index": (
            "C's / and % round towards zero: -20 / 8 % 16 is -2, and Python's -20 // 8 % 16 is 13. Which operators on "
            "whole numbers do the same in both for 8 and 16, which are powers of two?"
        ),
        "out-of-bounds": (
            "values has n numbers, `own` and counts have 16, and a work-group has 64 work-items. Which of them set a "
            "count to 0, or add one? And bins are 0 to 15: what does each operator on the way to the bin leave of a "
            "number?"
        ),
        "tail": "The last bins got nothing. 8 is 2 * 2 * 2, and 16 bins need four bits: what do the shift and the mask "
        "leave of a number?",
        "race": (
            "A count is loaded and stored, and others come between: cuda.atomic.add is atomic_add here, and takes an "
            "address. That holds for `own`, which work-items share, and for counts, which work-groups share."
        ),
        "atomic-against-plain": "Some add atomically while another one loads or stores plainly. A barrier stands "
        "between the zeros and the counting. Another one stands between the counting and the sums. And what "
        "work-groups share, all add to atomically.",
        "uninitialised-shared": "Local memory holds anything at the start. Who sets the 16 counts to 0, and what comes "
        "behind it?",
        "wrong-value": "Count one bin by hand: with what does it begin, which numbers fall into it (8 of them, and "
        "again 128 further), and who counts each? Where there are numbers below zero: into which bin does Python put "
        "-3?",
    },
    hints=(
        "Line by line: what is cuda.grid(1), cuda.gridsize(1), cuda.shared.array, cuda.syncthreads, cuda.atomic.add in "
        "OpenCL C? And values.size?",
        "atomic_add takes an address: &group_counts[k]. And -3 // 8 is -1 in Python, where -3 / 8 is 0 in C: for "
        "powers of two, `>> 3` and `& 15` do what `// 8` and `% 16` do in Python.",
        "Sixteen counters in local memory, set to zero by the first 16 work-items; a barrier; each work-item goes "
        "through the values in steps of the whole NDRange; a barrier; the first 16 add theirs to counts.",
    ),
)
