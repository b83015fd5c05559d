"""06-races: Eight kernels, one of them right."""

import numpy as np

from dlkernels import cuda

from ...definition import Section
from ...kinds.detective import DetectiveTask, Fault
from .pairs import PAIRS


# The statement shows these kernels; a test compares.
@cuda.jit
def _kernel_a(x, out):
    tile = cuda.shared.array(65, np.float32)
    t, i, last = cuda.threadIdx.x, cuda.grid(1), x.size - 1
    tile[t] = x[min(i, last)]
    if t == 63:
        tile[64] = x[min(i + 1, last)]
    if i <= last:
        cuda.syncthreads()
        out[i] = max(tile[t], tile[t + 1])


@cuda.jit
def _kernel_b(x, out):
    tile = cuda.shared.array(65, np.float32)
    t, i, last = cuda.threadIdx.x, cuda.grid(1), x.size - 1
    tile[t] = x[min(i, last)]
    cuda.syncthreads()
    if t == 0:
        tile[64] = x[min(i + 64, last)]
    if i <= last:
        out[i] = max(tile[t], tile[t + 1])


@cuda.jit
def _kernel_c(x, out):
    tile = cuda.shared.array(65, np.float32)
    t, i, last = cuda.threadIdx.x, cuda.grid(1), x.size - 1
    if i <= last:
        tile[t] = x[i]
    if i == last:
        tile[t + 1] = x[last]
    cuda.syncthreads()
    if i <= last:
        out[i] = max(tile[t], tile[t + 1])


@cuda.jit
def _kernel_d(x, out):
    tile = cuda.shared.array(65, np.float32)
    t, i, last = cuda.threadIdx.x, cuda.grid(1), x.size - 1
    tile[t] = x[i] if i <= last else x[last]
    if t == 63 and i <= last:
        tile[64] = x[i + 1]
    cuda.syncthreads()
    if i <= last:
        out[i] = max(tile[t], tile[t + 1])


@cuda.jit
def _kernel_e(x, out):
    tile = cuda.shared.array(64, np.float32)
    t, i, last = cuda.threadIdx.x, cuda.grid(1), x.size - 1
    if i <= last:
        tile[t] = x[i]
    cuda.syncthreads()
    if i < last:
        beside = tile[t + 1] if t < 63 else x[i + 1]
        out[i] = max(tile[t], beside)
    if i == last:
        out[i] = tile[t]


@cuda.jit
def _kernel_f(x, out):
    tile = cuda.shared.array(65, np.float32)
    t, last = cuda.threadIdx.x, x.size - 1
    i = cuda.blockIdx.x * 63 + t
    tile[t] = x[min(i, last)]
    if t == 63:
        tile[64] = x[min(i + 1, last)]
    cuda.syncthreads()
    if i <= last:
        out[i] = max(tile[t], tile[t + 1])


@cuda.jit
def _kernel_g(x, out):
    tile = cuda.shared.array(64, np.float32)
    t, i, last = cuda.threadIdx.x, cuda.grid(1), x.size - 1
    tile[t] = x[min(i, last)]
    cuda.syncthreads()
    if i <= last:
        out[i] = max(tile[t], tile[min(t + 1, 63)])


@cuda.jit
def _kernel_h(x, out):
    tile = cuda.shared.array(65, np.float32)
    t, i, last = cuda.threadIdx.x, cuda.grid(1), x.size - 1
    if i > last:
        return
    tile[t] = x[i]
    if t == 63 or i == last:
        tile[t + 1] = x[min(i + 1, last)]
    cuda.syncthreads()
    out[i] = max(tile[t], tile[t + 1])


RACES = DetectiveTask(
    id="06-races",
    section=Section("6.3", "06_together", "Barriers and races"),
    title="Eight kernels, one of them right",
    objective="Judge kernels with shared memory by their text: races, barriers, edges",
    points=4,
    minutes=16,
    judge=PAIRS,
    programs={
        "A": _kernel_a,
        "B": _kernel_b,
        "C": _kernel_c,
        "D": _kernel_d,
        "E": _kernel_e,
        "F": _kernel_f,
        "G": _kernel_g,
        "H": _kernel_h,
    },
    faults=(
        Fault("right", "gives what the specification says, for every n and every such launch"),
        Fault("race", "two threads use one place, one of them stores, and nothing orders the two", ("race",)),
        Fault(
            "stuck",
            "threads wait at a barrier for others of their block that never come",
            ("divergent-barrier", "divergent-warp-operation", "barrier-after-exit"),
        ),
        Fault("unset", "a place of shared memory is read that nobody has stored", ("uninitialised-shared",)),
        Fault("outside", "an index lies outside of its array", ("out-of-bounds", "negative-index")),
        Fault("wrong number", "an element gets a wrong number", ("wrong-value", "shifted", "suspect", "precision")),
    ),
    hints=(
        "Choose a launch of two blocks in which the second is not full, and one in which both are. For each kernel: "
        "what do thread 63 of block 0 and the thread of the last element do?",
        "Go through each kernel with four questions. Who stores each place of tile, and is there a barrier before "
        "others read it? Do all threads of a block come to the barrier? Who stores tile[64], or what stands in its "
        "place? Which block stores each place of out?",
        "A thread that has nothing to store must come to the barrier, too. A number may be right and two threads may "
        "have stored it all the same. And a kernel that needs no place 64 can be right without one.",
    ),
)
