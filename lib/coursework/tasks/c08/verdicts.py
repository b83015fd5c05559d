"""08-verdicts: Which of four kernels is right?"""

from dataclasses import replace

import numpy as np

from dlkernels import cuda

from ...definition import Section
from ...kinds.detective import DetectiveTask, Fault
from .bug import BUG
from .shared import TILE, case


# The statement shows the loops of these kernels; a test compares.
@cuda.jit
def _kernel_a(a, b, out):
    a_tile = cuda.shared.array((TILE, TILE), np.float32)
    b_tile = cuda.shared.array((TILE, TILE), np.float32)
    x, y = cuda.threadIdx.x, cuda.threadIdx.y
    j, i = cuda.grid(2)
    (m, n), k = out.shape, a.shape[1]
    total = np.float32(0)
    for start in range(0, k, TILE):
        a_tile[y, x] = a[i, start + x] if i < m else 0
        b_tile[y, x] = b[start + y, j] if start + y < k and j < n else 0
        cuda.syncthreads()
        for p in range(TILE):
            total += a_tile[y, p] * b_tile[p, x]
        cuda.syncthreads()
    if i < m and j < n:
        out[i, j] = total


@cuda.jit
def _kernel_b(a, b, out):
    a_tile = cuda.shared.array((TILE, TILE), np.float32)
    b_tile = cuda.shared.array((TILE, TILE), np.float32)
    x, y = cuda.threadIdx.x, cuda.threadIdx.y
    j, i = cuda.grid(2)
    (m, n), k = out.shape, a.shape[1]
    total = np.float32(0)
    for start in range(0, k, TILE):
        cuda.syncthreads()
        a_tile[x, y] = a[i, start + x] if i < m and start + x < k else 0
        b_tile[y, x] = b[start + y, j] if start + y < k and j < n else 0
        cuda.syncthreads()
        for p in range(TILE):
            total += a_tile[p, y] * b_tile[p, x]
    if i < m and j < n:
        out[i, j] = total


@cuda.jit
def _kernel_c(a, b, out):
    a_tile = cuda.shared.array((TILE, TILE), np.float32)
    b_tile = cuda.shared.array((TILE, TILE), np.float32)
    x, y = cuda.threadIdx.x, cuda.threadIdx.y
    j, i = cuda.grid(2)
    (m, n), k = out.shape, a.shape[1]
    total = np.float32(0)
    for start in range(0, k, TILE):
        a_tile[y, x] = a[i, start + x] if i < m and start + x < k else 0
        b_tile[y, x] = b[start + y, j] if start + y < k and j < n else 0
        cuda.syncthreads()
        for p in range(min(TILE, k - start)):
            total += a_tile[y, p] * b_tile[p, x]
    if i < m and j < n:
        out[i, j] = total


@cuda.jit
def _kernel_d(a, b, out):
    a_tile = cuda.shared.array((TILE, TILE), np.float32)
    b_tile = cuda.shared.array((TILE, TILE), np.float32)
    x, y = cuda.threadIdx.x, cuda.threadIdx.y
    j, i = cuda.grid(2)
    (m, n), k = out.shape, a.shape[1]
    total = np.float32(0)
    for start in range(0, k, TILE):
        a_tile[y, x] = a[i, start + x] if i < m and start + x < k else 0
        b_tile[x, y] = b[start + y, j] if start + y < k and j < n else 0
        cuda.syncthreads()
        for p in range(TILE):
            total += a_tile[y, p] * b_tile[p, x]
        cuda.syncthreads()
    if i < m and j < n:
        out[i, j] = total


JUDGE = replace(BUG, id="08-judge", cases=(case("two tiles", 16, 32, 16), case("ragged", 5, 19, 20)))

VERDICTS = DetectiveTask(
    id="08-verdicts",
    section=Section("8.2", "08_matmul_gpu", "Rung 3: a tile in shared memory"),
    title="Which of four kernels is right?",
    objective="Judge tiled kernels by their text, as a reviewer must",
    points=4,
    minutes=15,
    judge=JUDGE,
    programs={"A": _kernel_a, "B": _kernel_b, "C": _kernel_c, "D": _kernel_d},
    faults=(
        Fault("right", "out = a @ b for all shapes"),
        Fault("race", "two threads meet in shared memory without a barrier between them", ("race",)),
        Fault("outside", "a thread reads outside of a or b", ("out-of-bounds", "negative-index")),
        Fault("leftovers", "a thread reads what nobody has stored in a tile", ("uninitialised-shared",)),
        Fault("two writers", "two threads store the same element of out", ("two-writers",)),
        Fault("gaps", "some elements of out are not stored", ("some-unwritten", "tail", "head", "one-block")),
        Fault("barrier", "some threads do not reach a barrier", ("divergent-barrier", "barrier-after-exit")),
        Fault(
            "wrong product",
            "the wrong elements are multiplied",
            ("suspect", "wrong-value", "transposed", "precision", "not-finite"),
        ),
    ),
    hints=(
        "Go through each kernel with four questions. Is each access inside its array? Is there a barrier between each "
        "store to a tile and each load by another thread? Is what is read what was stored there? Is each element of "
        "out stored once?",
        "Take one shape in which k is no multiple of 16, and one in which k is 32. Write down what thread (1, 0) "
        "stores into the tiles, and which places the threads of its row read.",
        "An odd text is not a wrong one: indices that are exchanged twice are right, and a barrier can stand at the "
        "top of a loop. A usual text can be wrong by a condition that is not there. Look at the last tile along k, and "
        "at the moment at which the second tile is filled.",
    ),
)
