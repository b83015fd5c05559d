"""06-bug: Repair a reduction."""

import numpy as np

from ...definition import Budget, Case, Section, random_values, unwritten
from ...kinds.arrays import Suspect
from ...kinds.kernel import KernelTask
from .shared import EVERYBODY_COMES, TOLD_FIRST, WHO_MAY_STORE, blocks_of, by_block


def energy_case(name, n, threads):
    """x (n,), out: a number for each block. The last block lacks fewer elements than there are blocks: see
    `energies`."""
    blocks, where = blocks_of(n, threads)
    if blocks * threads - n >= blocks:
        raise ValueError(f"{n} elements in {where}: their number does not say how long a stretch is")
    return Case(f"{name}: n = {n} in {where}", lambda rng: (random_values(rng, n), unwritten(blocks)), blocks, threads)


def energies(x, out):
    """Sum of squares of each block's stretch, float64."""
    return by_block(lambda stretch: (stretch**2).sum(), -(-len(x) // len(out)))(x, out)


BUG = KernelTask(
    id="06-bug",
    section=Section("6.3", "06_together", "Barriers and races"),
    title="Repair a reduction",
    objective="Debug a reduction with the x-ray's findings: what most launches do not show",
    points=3,
    minutes=18,
    spec=energies,
    rtol=1e-4,
    atol=1e-5,
    tell_first=TOLD_FIRST,
    cases=(
        energy_case("one block, exact", 128, 128),
        energy_case("exact, 96 threads", 192, 96),
        energy_case("ragged, 5 threads", 13, 5),
        energy_case("ragged, 100 threads", 298, 100),
    ),
    writer=lambda index, case: (index[0], 0),
    suspects=(
        Suspect(
            lambda x, out: by_block(np.sum, -(-len(x) // len(out)))(x, out),
            "This is the sum of x. The squares are asked for.",
        ),
    ),
    advice={
        "race": (
            "A thread reads what another one stores, and no barrier lies between the two: a fast warp is in the next "
            "round already, while a slow one still adds. Where must all threads have come, before the next round "
            "begins? Or it is within one round, where a thread adds to the very element that another one takes: with "
            "an odd number left, half of it is rounded up."
        ),
        "divergent-barrier": EVERYBODY_COMES,
        "barrier-after-exit": EVERYBODY_COMES,
        "uninitialised-shared": "A place is read that nobody stored: it lies behind the last thread of the block. "
        "Which partners are there, if the block has 5 threads?",
        "out-of-bounds": "An index left its array. A partner must be a thread of the block: t + half below the number "
        "that is left.",
        "wrong-value": (
            "No race any more, but a number is lost, or counted twice. After some round an odd number of places is "
            "left. Write down for three of them which is added to which: is one left out, or does a thread take a "
            "partner that is not there any more?"
        ),
        "precision": "Nearly right, but one number of a stretch is missing or too many. Which place is left out if an "
        "odd number of places is halved?",
        "two-writers": WHO_MAY_STORE,
    },
    kept=Budget(
        points=0,
        text="a tree",
        require={"shared_load_requests": 24, "atomics": 0, "global_load_requests": 6},
        over="The tree is gone: the numbers are added up one after the other. Keep it, and repair its rounds.",
        case=energy_case("exact", 96, 96),
    ),
    hints=(
        "Run the check on the kernel as it is: the first bug is a pair of accesses that the message names. In which "
        "rounds do they happen?",
        "The second shows where a number that is not a power of two is halved. With 5 threads: which places are added "
        "in the first round, and which one is added to none?",
        "Every round needs a barrier that all threads reach. And half of an odd number must be rounded up: then the "
        "last thread has no partner, and asks for it before it adds.",
    ),
)
