"""06-fails: Find inputs on which three kernels fail."""

from dataclasses import replace

import numpy as np

from dlkernels import cuda

from ...definition import Case, Section, random_values, unwritten
from ...kinds.counterexample import CounterexampleTask, Flaw
from ...kinds.data import Numbers, Whole
from .pairs import PAIRS
from .shared import THREADS


# The statement shows the kernels `halved`, `crossed` and `copies`; a test compares.
@cuda.jit
def halved(x, out):
    s = cuda.shared.array(128, np.float32)
    t, threads = cuda.threadIdx.x, cuda.blockDim.x
    s[t] = x[cuda.grid(1)]
    d = 64
    while d > 0:
        cuda.syncthreads()
        if t < d and d < threads:
            s[t] += s[t + d]
        d //= 2
    if t == 0:
        out[cuda.blockIdx.x] = s[0]


@cuda.jit
def crossed(x, out):
    tile = cuda.shared.array((16, 17), np.float32)
    tx, ty = cuda.threadIdx.x, cuda.threadIdx.y
    top, left = cuda.blockIdx.y * 16, cuda.blockIdx.x * 16
    inside = top + ty < x.shape[0] and left + tx < x.shape[1]
    if inside:
        tile[ty, tx] = x[top + ty, left + tx]
    cuda.syncthreads()
    if inside:
        out[left + ty, top + tx] = tile[tx, ty]


@cuda.jit
def copies(x, counts):
    lane_counts = cuda.shared.array((32, 8), np.int32)
    t = cuda.threadIdx.x
    if t < 32:
        for b in range(8):
            lane_counts[t, b] = 0
    cuda.syncthreads()
    if t < x.size:
        lane_counts[t % 32, x[t]] += 1
    cuda.syncthreads()
    if t < 8:
        for k in range(32):
            counts[t] += lane_counts[k, t]


@cuda.jit
def _summed(x, out):
    if cuda.threadIdx.x == 0:
        total = np.float32(0)
        for k in range(cuda.blockDim.x):
            total += x[cuda.grid(1) + k]
        out[cuda.blockIdx.x] = total


@cuda.jit
def _transposed(x, out):
    column, row = cuda.grid(2)
    if row < x.shape[0] and column < x.shape[1]:
        out[column, row] = x[row, column]


@cuda.jit
def _counted_in_turn(x, counts):
    if cuda.threadIdx.x == 0:
        for k in range(x.size):
            counts[x[k]] += 1


def sum_of(threads, blocks):
    """The case of a block-wise sum that a student chose."""
    said = f"{blocks} block{'s' * (blocks > 1)} of {threads} thread{'s' * (threads > 1)}"
    return Case(said, lambda rng: (random_values(rng, blocks * threads), unwritten(blocks)), blocks, threads)


def transpose_of(rows, columns):
    """The case of a transpose that a student chose, in blocks of 16 x 16."""
    x, y = -(-columns // 16), -(-rows // 16)
    return Case(
        f"{rows} x {columns} in {x} x {y} blocks",
        lambda rng: (random_values(rng, rows, columns), unwritten(columns, rows)),
        (x, y),
        (16, 16),
    )


def histogram_of(x):
    """The case of a histogram of numbers that a student chose, in one block of 64 threads."""
    words = ", ".join(str(v) for v in x[:4]) + (", ..." if len(x) > 4 else "")
    return Case(f"x = [{words}] in 1 block of 64", lambda rng: (x, np.zeros(8, np.int32)), 1, THREADS)


_PLAIN = replace(PAIRS, id="06-plain", cases=())
FAILS = CounterexampleTask(
    id="06-fails",
    section=Section("6.3", "06_together", "Barriers and races"),
    title="Find inputs on which three kernels fail",
    objective="Find the launch, the shape or the values on which a kernel with shared memory fails",
    points=3,
    minutes=12,
    flaws=(
        Flaw(
            name="halved",
            judge=replace(
                _PLAIN,
                id="06-halved",
                spec=lambda x, out: x.reshape(len(out), -1).sum(1, dtype=np.float64),
                rtol=1e-4,
                atol=1e-5,
                writer=lambda index, case: (index[0], 0),
            ),
            wrong=halved,
            right=_summed,
            fields={"threads": Whole(1, 128), "blocks": Whole(1, 4)},
            case=sum_of,
            lead="In the first round that counts, thread t takes in place t + d. Is there such a thread, whatever the "
            "number of threads?",
        ),
        Flaw(
            name="crossed",
            judge=replace(
                _PLAIN,
                id="06-crossed",
                spec=lambda x, out: x.T.astype(np.float64),
                writer=lambda index, case: ((index[0] // 16, index[1] // 16), (index[1] % 16, index[0] % 16)),
            ),
            wrong=crossed,
            right=_transposed,
            fields={"rows": Whole(1, 64), "columns": Whole(1, 64)},
            case=transpose_of,
            lead="`inside` asks for the element that a thread loads. Which element does it store, and for which shapes "
            "of a tile are both there or both not?",
        ),
        Flaw(
            name="copies",
            judge=replace(_PLAIN, id="06-copies", spec=lambda x, counts: np.bincount(x, minlength=8), writer=None),
            wrong=copies,
            right=_counted_in_turn,
            fields={"x": Numbers(1, 64, 0, 7, np.int32)},
            case=histogram_of,
            lead="Nothing atomic is needed as long as no two threads use one counter. Which threads have the same "
            "copy, and what else must they share?",
        ),
    ),
    hints=(
        "Each kernel was tried where it is right: a block of 128 threads, a matrix of 32 x 32, a short list. What does "
        "each of them take for granted?",
        "halved: write down the rounds of a block of 3 threads. crossed: write down what thread (3, 0) of a tile with "
        "2 rows loads, and what it stores. copies: which two threads have copy 5?",
        "halved: no power of two. crossed: a tile at the edge that is not full. copies: a block has 64 threads and 32 "
        "copies, so two threads have each, and the list must be long enough for both.",
    ),
)
