"""06b-norms: The length of each group of 32."""

import math

import numpy as np

from dlkernels import cuda

from ...definition import Case, random_values, unwritten
from ...kinds.arrays import Suspect
from ...kinds.mend import MendTask
from ..c06.shared import THREADS
from .shared import FAULTS, SEEN, SHUFFLES, launch


@cuda.jit
def norms(x, out):
    i = cuda.grid(1)
    if i < x.size:
        total = x[i] * x[i]
        for d in (16, 8, 4, 2, 1):
            total += cuda.shfl_down_sync(0xFFFFFFFF, total, d)
        if cuda.laneid == 0:
            out[i // 32] = math.sqrt(total)


def norms_case(name, n):
    """x (n,); out: a number for each 32 elements; blocks of 64."""
    said, blocks, threads = launch(name, n, THREADS)
    return Case(said, lambda rng: (random_values(rng, n), unwritten(-(-n // 32))), blocks, threads)


def of_groups(formula, x, length=32):
    return np.array([formula(np.float64(x[k : k + length])) for k in range(0, len(x), length)])


NORMS = MendTask(
    id="06b-norms",
    section=SHUFFLES,
    title="The length of each group of 32",
    objective="Debug a reduction by shuffles",
    points=2,
    minutes=7,
    spec=lambda x, out: of_groups(np.linalg.norm, x),
    rtol=1e-4,
    atol=1e-5,
    cases=(norms_case("one block", 64), norms_case("exact", 192), norms_case("ragged", 100), norms_case("few", 5)),
    writer=lambda index, case: (index[0] // 2, index[0] % 2 * 32),
    handed_out=norms,
    tried=norms_case("four groups", 128),
    faults=FAULTS,
    suspects=(
        Suspect(lambda x, out: of_groups(lambda g: (g**2).sum(), x), "The roots of the sums are asked for."),
        Suspect(
            lambda x, out: of_groups(lambda g: abs(g[0]), x),
            "Only the first number of each group went in: the others did not come to lane 0.",
        ),
    ),
    advice={
        **SEEN,
        "out-of-bounds": "An index left its array: a thread without an element loads or stores all the same.",
        "wrong-value": "Work out a warp of 8 lanes by hand, of which 5 have an element: d is 4, then 2, then 1. Has "
        "lane 0 seen every number in the end, and nothing else?",
        **dict.fromkeys(
            ("tail", "some-unwritten", "gaps-in-one-block"),
            "Some groups have no number. A block has two warps, and each of them has a group: which thread of each "
            "stores?",
        ),
    },
    hints=(
        "The author's n was a multiple of 32. Which lanes are behind the `if` where it is not?",
        "The mask 0xFFFFFFFF says that all 32 lanes come to the shuffle. In the last warp only some lanes have an "
        "element: whom do they ask? And what would the others have to bring along, so that the sum stays what it is?",
        "Let all lanes shuffle: the load stands under the `if`, and so does the store. In between, total is there in "
        "every lane, also in one without an element.",
    ),
)
