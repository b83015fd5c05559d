"""08-count: Count before you write."""

import numpy as np

from dlkernels import cuda

from ...definition import Section
from ...kinds.prediction import PredictionTask, Question
from .shared import SQUARE, TILE, WARPS, operands

M, K, N = 64, 48, 96
EDGE = 768
DEPTH = 64


@cuda.jit
def _one_by_one(a, b, out):
    j, i = cuda.grid(2)
    total = np.float32(0)
    for p in range(a.shape[1]):
        total += a[i, p] * b[p, j]
    out[i, j] = total


@cuda.jit
def _by_tiles(a, b, out):
    a_tile = cuda.shared.array((16, 16), np.float32)
    b_tile = cuda.shared.array((16, 16), np.float32)
    x, y = cuda.threadIdx.x, cuda.threadIdx.y
    j, i = cuda.grid(2)
    total = np.float32(0)
    for start in range(0, a.shape[1], 16):
        a_tile[y, x] = a[i, start + x]
        b_tile[y, x] = b[start + y, j]
        cuda.syncthreads()
        for p in range(16):
            total += a_tile[y, p] * b_tile[p, x]
        cuda.syncthreads()
    out[i, j] = total


class _Number:
    """A number that counts what is done with its like."""

    done = 0

    def _count(self, other):
        _Number.done += 1
        return self

    __mul__ = __add__ = __radd__ = _count


def _flops(m, k, n):
    """Counted for one element of the result; all m * n of them take the same."""
    before, total = _Number.done, 0
    for _ in range(k):
        total += _Number() * _Number()
    return (_Number.done - before) * m * n


def _bytes(m, k, n):
    return sum(np.zeros(shape, np.float32).nbytes for shape in ((m, k), (k, n), (m, n)))


def _loads_of_a_warp(kernel):
    """Load requests to global memory by one warp, counted by running one block in the x-ray."""
    from simt.xray import xray

    report = xray(kernel, 1, SQUARE)(*operands(TILE, DEPTH, TILE)(np.random.default_rng(0)))
    return report.total["global_load_requests"] // WARPS


FAST, MOVES = 100, 20  # GFLOP/s of a core, GB/s of its memory


def strassen_pays():
    """The n for which a level of Strassen's method saves as much time as its additions cost: by trying."""
    return next(n for n in range(1, 10_000) if 2 * n**3 / 8 / FAST >= 15 * 3 * 4 * (n / 2) ** 2 / MOVES)


COUNT = PredictionTask(
    id="08-count",
    section=Section("8", "08_matmul", "Count first"),
    title="Count before you write",
    objective="Predict the flops, bytes and load requests of a matmul, and the size from which fewer flops pay for "
    "more bytes",
    points=2,
    minutes=10,
    questions=(
        Question(
            "flops",
            f"flops of ({M} x {K}) @ ({K} x {N}), a multiply and an add counted as one each",
            lambda: _flops(M, K, N),
            {
                M * K * N: "That is the number of multiplies. Each comes with an add.",
                2 * M * N: "That is a multiply and an add for each element of the result. How many terms has its sum?",
                _bytes(M, K, N): "That is the number of bytes. Count multiplies and adds.",
            },
            "Take one element of the result: how many multiplies and adds? Then take all elements.",
        ),
        Question(
            "least_bytes",
            f"bytes of ({M} x {K}) @ ({K} x {N}) in float32 if each element of a, b and out moves once",
            lambda: _bytes(M, K, N),
            {
                _bytes(M, K, N) // 4: "That is the number of elements. A float32 has 4 bytes.",
                4 * (M * K + K * N): "The result must be stored, too.",
                4 * M * N: "That is the result alone. The two operands must be read.",
                8
                * M
                * K
                * N: "That is what the loads take if nothing is ever used twice. Here each element moves once.",
            },
            "Write down the number of elements of a, of b and of out, and add.",
        ),
        Question(
            "intensity",
            f"arithmetic intensity of a {EDGE} x {EDGE} matmul in flops per byte, each element moved once, float32",
            lambda: _flops(EDGE, EDGE, EDGE) / _bytes(EDGE, EDGE, EDGE),
            {
                _flops(EDGE, EDGE, EDGE) / (4 * EDGE * EDGE): "That counts the bytes of one matrix; there are three.",
                _flops(EDGE, EDGE, EDGE) / (8 * EDGE * EDGE): "That counts the bytes of two matrices; there are three.",
                EDGE / 12: "A multiply-add is two flops: a multiply and an add.",
                EDGE / 1.5: "That is flops per element. An element of float32 has 4 bytes.",
            },
            "Write flops and bytes with n for all three lengths, and divide.",
        ),
        Question(
            "naive_requests",
            f"load requests of one warp, one thread per element, k = {DEPTH}",
            lambda: _loads_of_a_warp(_one_by_one),
            {
                DEPTH: "One load in each round of the loop? A term of the sum has two factors.",
                2 * DEPTH * 32: "That is the number of loads of single threads. The 32 lanes of a warp load together.",
                2 * DEPTH * TILE * TILE: "That is the number of loads of single threads in the block.",
                2: "That is one round of the loop. How many rounds are there?",
            },
            "Follow one thread of the warp, and count its loads: the other lanes load at the same moments.",
        ),
        Question(
            "tiled_requests",
            f"load requests of one warp to global memory with {TILE} x {TILE} tiles, k = {DEPTH}",
            lambda: _loads_of_a_warp(_by_tiles),
            {
                2
                * DEPTH: "That is as many as without tiles. In a tile step, how many elements of a does a thread load?",
                DEPTH // TILE: "In each tile step a thread loads an element of a and one of b.",
                2: f"That is one tile step. How many tiles of {TILE} cover k = {DEPTH}?",
                2 * TILE: f"One tile step needs two requests, not two for each of the {TILE} terms.",
            },
            "Follow one thread of the warp through one tile, and count its loads from a and from b. How many tiles are "
            "there?",
        ),
        Question(
            "strassen",
            f"the n from which Strassen's method can pay, {FAST} GFLOP/s and {MOVES} GB/s",
            strassen_pays,
            {
                360 * FAST // MOVES: "A multiply that is saved saves an add as well: an eighth of 2 n^3.",
                45 * FAST // MOVES: "An eighth of the flops is saved, a quarter of n^3.",
                45 * FAST // (2 * MOVES): "That would be so if all flops were saved. It is an eighth of them.",
                180
                * MOVES
                // FAST: "The other way round: the faster the core computes, the later it pays to compute less.",
                180: "That would be so if a flop took as long as a byte.",
            },
            "Write down two times with n in them, that of the flops that are saved and that of the bytes that are "
            "added. When are they equal?",
            tolerance=1e-6,
            section=Section("8.3", "08_matmul_variants", "Seven products instead of eight: Strassen"),
        ),
    ),
    hints=(
        "Take one element of the result. How many multiplies and adds does its sum take? How many elements are there?",
        "Intensity is flops divided by bytes: write both with n for the three lengths, and most of it cancels. A "
        "request is one load of a whole warp, so follow one thread and count its loads.",
        "flops: how many products has one element, and how many elements are there? Bytes: the elements of all three "
        "matrices. One thread, without tiles: how many loads for each p? With tiles, how many for each 16 values of p? "
        "strassen: an eighth of 2 n^3 flops is saved; divide it by the one rate, the bytes by the other, and n^2 "
        "cancels.",
    ),
)
