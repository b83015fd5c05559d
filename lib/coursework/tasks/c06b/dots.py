"""06b-dots: A dot product for each block."""

import numpy as np

from dlkernels import cuda

from ...definition import Case, random_values, unwritten
from ...kinds.arrays import Suspect
from ...kinds.mend import MendTask
from ..c06.shared import THREADS
from .shared import FAULTS, SEEN, TOGETHER, launch


@cuda.jit
def dots(a, b, out):
    s = cuda.shared.array(64, np.float32)
    t, i = cuda.threadIdx.x, cuda.grid(1)
    if i < a.size:
        s[t] = a[i] * b[i]
        d = 32
        while d > 0:
            cuda.syncthreads()
            if t < d:
                s[t] += s[t + d]
            d //= 2
    if t == 0:
        out[cuda.blockIdx.x] = s[0]


def dots_case(name, n):
    """a and b (n,); out: a number for each block of 64."""
    said, blocks, threads = launch(name, n, THREADS)
    return Case(said, lambda rng: (random_values(rng, n), random_values(rng, n), unwritten(blocks)), blocks, threads)


def by_stretch(formula, a, b, out, length=THREADS):
    return np.array([formula(np.float64(a[k : k + length]), b[k : k + length]) for k in range(0, len(a), length)])


DOTS = MendTask(
    id="06b-dots",
    section=TOGETHER,
    title="A dot product for each block",
    objective="Debug a tree reduction",
    points=2,
    minutes=7,
    spec=lambda a, b, out: by_stretch(np.dot, a, b, out),
    rtol=1e-4,
    atol=1e-5,
    cases=(dots_case("one block", 64), dots_case("exact", 192), dots_case("ragged", 100), dots_case("few", 3)),
    writer=lambda index, case: (index[0], 0),
    handed_out=dots,
    tried=dots_case("two full blocks", 128),
    faults=FAULTS,
    suspects=(
        Suspect(
            lambda a, b, out: by_stretch(lambda x, y: x[0] * y[0], a, b, out),
            "Each sum has one product only: the rounds of the tree did not take place.",
        ),
    ),
    advice={
        **SEEN,
        "uninitialised-shared": "All threads come to the barriers now, and the tree has 64 places. In this launch not "
        "every thread has a product: what do the others bring along?",
        "race": "A thread takes in what another one stores, and no barrier lies between the two. Where do the threads "
        "of a block have to meet, in every round?",
        "out-of-bounds": "An index left its array: a thread without an element loads all the same.",
        "wrong-value": "Work out a block of 8 by hand, of which 5 have a product: d is 4, then 2, then 1. Does every "
        "product get to place 0, and does anything else?",
    },
    hints=(
        "The author's blocks were full. Which threads go another way if a is shorter?",
        "X-ray it with n = 100. The threads without an element skip more than the product: who waits for them? And if "
        "they come along, what is their place of the tree to hold?",
        "Only the product stands under `if i < a.size`, the rounds behind it. A thread without an element stores what "
        "changes no sum.",
    ),
)
