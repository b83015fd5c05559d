"""08-fails: Find shapes for which four kernels fail."""

from dataclasses import replace

import numpy as np

from dlkernels import cuda

from ...definition import Case, Section
from ...kinds.counterexample import CounterexampleTask, Flaw
from ...kinds.data import Whole
from .bug import BUG
from .shared import TILE, case, operands


# The statement shows the kernels `first` to `fourth`; a test compares.
@cuda.jit
def first(a, b, out):
    a_tile = cuda.shared.array((TILE, TILE), np.float32)
    b_tile = cuda.shared.array((TILE, TILE), np.float32)
    x, y = cuda.threadIdx.x, cuda.threadIdx.y
    j, i = cuda.grid(2)
    (m, n), k = out.shape, a.shape[1]
    total = np.float32(0)
    for start in range(0, n, TILE):
        a_tile[y, x] = a[i, start + x] if i < m and start + x < k else 0
        b_tile[y, x] = b[start + y, j] if start + y < k and j < n else 0
        cuda.syncthreads()
        for p in range(TILE):
            total += a_tile[y, p] * b_tile[p, x]
        cuda.syncthreads()
    if i < m and j < n:
        out[i, j] = total


@cuda.jit
def second(a, b, out):
    j, i = cuda.grid(2)
    (m, n), k = out.shape, a.shape[1]
    if i * n + j < m * n:
        total = np.float32(0)
        for p in range(k):
            total += a[i, p] * b[p, j]
        out[i, j] = total


@cuda.jit
def third(a, b, out):
    a_tile = cuda.shared.array((TILE, TILE), np.float32)
    b_tile = cuda.shared.array((TILE, TILE), np.float32)
    x, y = cuda.threadIdx.x, cuda.threadIdx.y
    j, i = cuda.grid(2)
    (m, n), k = out.shape, a.shape[1]
    total = np.float32(0)
    for start in range(0, k, TILE):
        if i < m and j < n:
            a_tile[y, x] = a[i, start + x] if start + x < k else 0
            b_tile[y, x] = b[start + y, j] if start + y < k else 0
        cuda.syncthreads()
        for p in range(min(TILE, k - start)):
            if i < m and j < n:
                total += a_tile[y, p] * b_tile[p, x]
        cuda.syncthreads()
    if i < m and j < n:
        out[i, j] = total


@cuda.jit
def fourth(a, b, out):
    parts = cuda.shared.array((4, 4, TILE), np.float32)
    x, y, z = cuda.threadIdx.x, cuda.threadIdx.y, cuda.threadIdx.z
    i, j = cuda.blockIdx.y * 4 + y, cuda.blockIdx.x * TILE + x
    (m, n), k = out.shape, a.shape[1]
    depth = (k + 2) // 4
    parts[z, y, x] = 0
    if i < m and j < n:
        for p in range(z * depth, min(k, (z + 1) * depth)):
            parts[z, y, x] += a[i, p] * b[p, j]
    cuda.syncthreads()
    if z == 0 and i < m and j < n:
        low = parts[0, y, x] + parts[1, y, x]
        out[i, j] = low + parts[2, y, x] + parts[3, y, x]


@cuda.jit
def _one_each(a, b, out):
    j, i = cuda.grid(2)
    if i < out.shape[0] and j < out.shape[1]:
        total = np.float32(0)
        for p in range(a.shape[1]):
            total += a[i, p] * b[p, j]
        out[i, j] = total


@cuda.jit
def _four_parts(a, b, out):
    parts = cuda.shared.array((4, 4, TILE), np.float32)
    x, y, z = cuda.threadIdx.x, cuda.threadIdx.y, cuda.threadIdx.z
    i, j = cuda.blockIdx.y * 4 + y, cuda.blockIdx.x * TILE + x
    parts[z, y, x] = 0
    if i < out.shape[0] and j < out.shape[1]:
        for p in range(z, a.shape[1], 4):
            parts[z, y, x] += a[i, p] * b[p, j]
    cuda.syncthreads()
    if z == 0 and i < out.shape[0] and j < out.shape[1]:
        out[i, j] = parts[0, y, x] + parts[1, y, x] + parts[2, y, x] + parts[3, y, x]


def in_parts(m, k, n):
    """The case of a kernel whose blocks have 4 rows of 16 elements, and four threads for each."""
    grid = -(-n // TILE), -(-m // 4)
    return Case(f"({m} x {k}) @ ({k} x {n})", operands(m, k, n), grid=grid, block=(TILE, 4, 4))


SHAPES = {
    "judge": replace(BUG, id="08-product", cases=(), kept=None),
    "right": _one_each,
    "fields": {"m": Whole(1, 64), "k": Whole(1, 64), "n": Whole(1, 64)},
    "case": lambda m, k, n: case("yours", m, k, n),
}

FAILS = CounterexampleTask(
    id="08-fails",
    section=Section("8.2", "08_matmul_gpu", "Rung 3: a tile in shared memory"),
    title="Find shapes for which four kernels fail",
    objective="Find a shape that shows what is wrong with a matmul",
    points=3,
    minutes=12,
    flaws=(
        Flaw(
            name="first",
            wrong=first,
            lead="The tiles go on along k. What does the loop over them end with, and when is that too early?",
            **SHAPES,
        ),
        Flaw(
            name="second",
            wrong=second,
            lead=(
                "The guard counts elements as they lie in memory. Where does a thread with a column that does not "
                "exist fall into that count, and is it let through?"
            ),
            **SHAPES,
        ),
        Flaw(
            name="third",
            wrong=third,
            lead="A thread that has no element of out has something to load for others. What is missing when it loads "
            "nothing?",
            **SHAPES,
        ),
        Flaw(
            name="fourth",
            wrong=fourth,
            lead="Four parts of `depth` terms: how many terms are that for each k, and for which k is it too few?",
            **SHAPES | {"right": _four_parts, "case": in_parts},
        ),
    ),
    hints=(
        "For each kernel, write down for which threads or terms the condition should hold, and for which it does. "
        "Which of the three lengths decides?",
        "first: compare the end of the loop over start with what is summed. second: multiples of 16 show nothing. "
        "third: which threads fill the tiles, and who reads what they should have stored? fourth: only k matters.",
        "first: make the sum longer than a row of out. second: the threads beyond the right edge, in a row that is not "
        "the last one. third: leave threads of a block without an element, in one direction. fourth: try k = 4, 5, 6, "
        "7 with a pencil.",
    ),
)
