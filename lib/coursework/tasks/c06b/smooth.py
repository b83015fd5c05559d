"""06b-smooth: The mean of five neighbours."""

from functools import partial

import numpy as np

from dlkernels import cuda

from ...kinds.arrays import Suspect
from ...kinds.mend import MendTask
from .shared import FAULTS, SEEN, TOGETHER, smooth_case


@cuda.jit
def smooth(x, out):
    tile = cuda.shared.array(68, np.float32)
    t, i, last = cuda.threadIdx.x, cuda.grid(1), x.size - 1
    tile[t + 2] = x[min(i, last)]
    if t < 2:
        tile[t] = x[max(i - 2, 0)]
    if t > 62:
        tile[t + 4] = x[min(i + 2, last)]
    cuda.syncthreads()
    if i <= last:
        total = np.float32(0)
        for k in range(5):
            total += tile[t + k]
        out[i] = total / 5


def windows(x, out, low=-2, high=2):
    """The mean of the elements from i + low to i + high, with the first and the last one repeated at the ends."""
    places = np.arange(len(x))[:, None] + np.arange(low, high + 1)
    return np.float64(x)[np.clip(places, 0, len(x) - 1)].mean(axis=1)


SMOOTH = MendTask(
    id="06b-smooth",
    section=TOGETHER,
    title="The mean of five neighbours",
    objective="Debug a tile with a halo",
    points=2,
    minutes=7,
    spec=lambda x, out: windows(x, out),
    rtol=1e-4,
    atol=1e-5,
    cases=(smooth_case("one block", 64), smooth_case("exact", 192), smooth_case("ragged", 100), smooth_case("few", 2)),
    handed_out=smooth,
    tried=smooth_case("an image row", 50),
    faults=FAULTS,
    suspects=(
        *(
            Suspect(partial(windows, low=low, high=high), f"Each mean reaches from element i {low:+d} to i {high:+d}.")
            for low, high in ((-1, 2), (-2, 1), (-1, 1), (0, 4), (-4, 0))
        ),
    ),
    advice={
        **SEEN,
        "uninitialised-shared": "A place of the tile is read that nobody stored. The tile has 68 places and the block "
        "64 threads: write down who stores places 0, 1, 2, 65, 66 and 67.",
        "race": "Two threads use one place of the tile. Does each place have one thread that stores it, and is there a "
        "barrier before anybody reads?",
        "wrong-value": "Each thread reads five places of the tile. Which elements of x belong there, for the first two "
        "and for the last two threads of a block?",
    },
    hints=(
        "The author's block was not full. Which places of the tile does thread 61 read, and which thread 62?",
        "Thread t reads the places t to t + 4, the last thread up to place 67. A tile for 64 threads has two places "
        "more on each side: count how many threads fill the two on the left, and how many those on the right.",
        "Place 65 belongs to thread 63. Places 66 and 67 are one halo: as many threads fill it as fill the one on the "
        "left.",
    ),
)
