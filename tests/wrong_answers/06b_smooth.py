"""Answers to 06b-smooth. What is said beside the kernel is CLAIMS, or the kernel's own `claims`."""

import numpy as np
from answers import MASTER, edit, replace

from dlkernels import cuda

CLAIMS = {"fault": "unset"}


@cuda.jit
def four_threads_fill_the_halo(x, out):
    """right"""
    tile = cuda.shared.array(68, np.float32)
    t, i, last = cuda.threadIdx.x, cuda.grid(1), x.size - 1
    tile[t + 2] = x[min(i, last)]
    if t < 4:
        place = t if t < 2 else t + 64
        tile[place] = x[max(0, min(i - t + place - 2, last))]
    cuda.syncthreads()
    if i <= last:
        out[i] = (tile[t] + tile[t + 1] + tile[t + 2] + tile[t + 3] + tile[t + 4]) / 5


@cuda.jit
def without_a_tile(x, out):
    """wrong replaced: Start again from the kernel as it was handed out"""
    i, last = cuda.grid(1), x.size - 1
    if i <= last:
        total = np.float32(0)
        for k in range(i - 2, i + 3):
            total += x[max(0, min(k, last))]
        out[i] = total / 5


a_place_too_far = edit(MASTER, "wrong out-of-bounds: how large is the array?", replace("tile[t + 4]", "tile[t + 5]"))
the_tile_alone = edit(
    MASTER,
    "wrong suspect: from element i -2 to i +1",
    replace("range(5)", "range(4)"),
    replace("total / 5", "total / 4"),
)
the_wrong_neighbours = edit(MASTER, "wrong wrong-value: Which elements of x belong there", replace("i + 2", "i + 1"))


@cuda.jit
def zeros_in_the_gap(x, out):
    """wrong wrong-value: for the first two and for the last two threads of a block"""
    tile = cuda.shared.array(68, np.float32)
    t, i, last = cuda.threadIdx.x, cuda.grid(1), x.size - 1
    tile[t + 2] = x[min(i, last)]
    if t < 2:
        tile[t] = x[max(i - 2, 0)]
        tile[t + 66] = 0
    cuda.syncthreads()
    if i <= last:
        total = np.float32(0)
        for k in range(5):
            total += tile[t + k]
        out[i] = total / 5


one_place_for_all = edit(
    zeros_in_the_gap,
    "wrong race: Does each place have one thread that stores it",
    replace("[t + 66] = 0", "[66] = tile[67] = x[min(i + 64, last)]"),
)
called_outside = edit(
    without_a_tile, "wrong verdict: look at `tile[t + k]` in thread 62 of block 0", claims={"fault": "outside"}
)
