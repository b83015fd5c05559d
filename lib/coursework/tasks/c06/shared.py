"""What several tasks of chapter 06 use: inputs, suspects and advice of kernels that reduce."""

import numpy as np

from ...definition import Case, random_values, unwritten
from ...kinds.arrays import Suspect

NOTHING = np.zeros(0)  # what a suspect gives for arguments that it does not fit

# A race explains a wrong result better than the result does.
TOLD_FIRST = (
    "race",
    "divergent-barrier",
    "divergent-warp-operation",
    "barrier-after-exit",
    "uninitialised-shared",
    "atomic-against-plain",
)


def over(name):
    """Whether a count is over its budget."""
    return lambda rows: any(o.name == name for o in rows)


def blocks_of(n, threads):
    """How many blocks of `threads` cover n elements, and that in words."""
    blocks = -(-n // threads)
    return blocks, f"{blocks} block{'s' * (blocks > 1)} of {threads}"


def counted_accesses(kernel, threads, *arguments):
    """The x-ray's rows of one block, one for each access in the source."""
    from simt.xray import xray

    return xray(kernel, 1, threads)(*arguments).expressions


THREADS = 64

REDUCED = 128  # threads of a block


def spread_case(name, n, shift):
    """x (n,) with values around `shift`, so that 0 is beyond them all; out: a number for each block."""
    blocks, where = blocks_of(n, REDUCED)
    return Case(
        f"{name}: n = {n} in {where}",
        lambda rng: ((random_values(rng, n) + np.float32(shift)).astype(np.float32), unwritten(blocks)),
        blocks,
        REDUCED,
    )


def by_block(formula, threads=REDUCED):
    """formula(stretch of x) of each block, in float64."""
    return lambda x, out: np.array([formula(x[k : k + threads].astype(np.float64)) for k in range(0, len(x), threads)])


def _with_zero(stretch):
    """The spread where threads without an element put in 0."""
    more = np.zeros(int(len(stretch) < REDUCED))
    return np.ptp(np.concatenate([stretch, more]))


SPREAD_SUSPECTS = (
    Suspect(by_block(np.max), "This is the largest number of each stretch. The smallest one has to be taken away."),
    Suspect(by_block(np.min), "This is the smallest number of each stretch."),
    Suspect(
        by_block(lambda s: s.min() - s.max()), "The sign is turned round: the largest minus the smallest is asked for."
    ),
    Suspect(
        by_block(_with_zero),
        "Where the last block is not full, 0 took part, and x has no 0. What may a thread without an element put in, "
        "so that it changes neither the largest number nor the smallest?",
    ),
    Suspect(
        lambda x, out: np.full(len(out), np.ptp(x.astype(np.float64))) if len(out) > 1 else NOTHING,
        "This is the spread of all of x. Each block has a stretch of its own.",
    ),
    Suspect(by_block(lambda s: s[0] - s[0]), "The spread came out as 0: the number of thread 0 met no other number."),
    Suspect(
        lambda x, out: by_block(np.ptp)(x[:REDUCED], out)[np.zeros(len(out), int)] if len(out) > 1 else NOTHING,
        "All blocks got the spread of the first stretch. Which element does thread t of block b load?",
    ),
)
WHO_MAY_STORE = (
    "Several threads store to one place of out. A block has one place, that of its number, and one thread of it is "
    "enough to store."
)
EVERYBODY_COMES = (
    "Some threads of the block wait at a barrier where others never come. Everybody comes to every barrier, in every "
    "round, those with nothing left to do, too: only the work stands under the `if`."
)

ONE_WALKS = (
    "The result is right, but x is asked for much more often than once for each warp. Does one thread walk through a "
    "stretch, while the others wait? Each thread loads the one element that is its own."
)

SHUFFLES_TOO = (
    "Shuffles, too, stand outside of every `if`: all 32 lanes of a warp make all of them, those without an element too."
)

TRUSTED = {n: f"R trusts {n} flag{'s' * (n != 1)} whose number is not there yet" for n in range(4)}
