"""Tasks of chapter 08, Tiled matmul: from three loops to tiles of tiles, with a budget that shrinks at each step."""

from dataclasses import replace

import numpy as np

from cpulab.explore import Program
from dlkernels import cuda

from .. import network
from ..definition import Budget, Case, Section, Slip, random_values, unwritten
from ..golf import Golf
from ..kinds.arrays import Suspect
from ..kinds.compiled import CompiledTask
from ..kinds.counterexample import CounterexampleTask, Flaw
from ..kinds.data import Whole
from ..kinds.detective import DetectiveTask, Fault
from ..kinds.function import FunctionTask
from ..kinds.kernel import KernelTask
from ..kinds.measured import Card, MeasuredTask
from ..kinds.prediction import PredictionTask, Question
from ..kinds.schedule import ScheduleTask

TILE = 16
SQUARE = (TILE, TILE)  # the block of every kernel here: 256 threads, 8 warps of two rows
WARPS = TILE * TILE // 32


def operands(m, k, n):
    """make(rng) -> a (m, k), b (k, n), out (m, n), float32."""
    return lambda rng: (random_values(rng, m, k), random_values(rng, k, n), unwritten(m, n))


def product(a, b):
    """a @ b in float64; nothing where the shapes do not fit (for suspects that exchange them)."""
    if a.shape[1] != b.shape[0]:
        return np.zeros(0)
    return a.astype(np.float64) @ b


def spec(a, b, out):
    """What most tasks compute."""
    return product(a, b)


def blocks(m, n, tile=TILE):
    """The grid (x, y) of an m x n result: x counts tiles along a row, y along a column."""
    return -(-n // tile), -(-m // tile)


def case(name, m, k, n, tile=TILE):
    """A case of a kernel whose block computes a tile x tile piece of the result."""
    x, y = blocks(m, n, tile)
    where = "1 block" if x * y == 1 else f"{x} blocks along x, {y} along y"
    return Case(f"{name}: ({m} x {k}) @ ({k} x {n}), {where}", operands(m, k, n), grid=(x, y), block=SQUARE)


def thread_of(index, case):
    """(block, thread) that writes an element where each thread computes one."""
    return (index[1] // TILE, index[0] // TILE), (index[1] % TILE, index[0] % TILE)


def thread_of_four(index, case):
    """The same where the tile of a block is four times as large, and each thread writes one element of each quarter."""
    return (index[1] // (2 * TILE), index[0] // (2 * TILE)), (index[1] % TILE, index[0] % TILE)


SUSPECTS = (
    Suspect(
        lambda a, b, out: product(a, b).T, "This is the transpose of a @ b: rows and columns of out are exchanged."
    ),
    Suspect(lambda a, b, out: product(a.T, b), "This is a.T @ b: the indices of a are exchanged."),
    Suspect(lambda a, b, out: product(a, b.T), "This is a @ b.T: the indices of b are exchanged."),
    Suspect(lambda a, b, out: product(b, a), "This is b @ a: the two matrices are exchanged."),
    Suspect(
        lambda a, b, out: a * b if a.shape == b.shape else np.zeros(0),
        "This is a * b, element by element: the sum over p is missing.",
    ),
    Suspect(
        lambda a, b, out: product(a[:, -1:], b[-1:]),
        "This is the last term of the sum alone: the terms must be added up, not replaced.",
    ),
    Suspect(
        lambda a, b, out: product(a, b) * (np.arange(b.shape[1]) < b.shape[1] - 1),
        "The last column of out is missing: the loop over j ends one too early.",
    ),
    Suspect(
        lambda a, b, out: product(a, b) * (np.arange(len(a)) < len(a) - 1)[:, None],
        "The last row of out is missing: the loop over i ends too early, or its rest was forgotten.",
    ),
    Suspect(
        lambda a, b, out: a.sum(axis=1, dtype=np.float64)[:, None] + b.sum(axis=0, dtype=np.float64),
        "These are sums of a[i, p] + b[p, j]. The two must be multiplied.",
    ),
    Suspect(lambda a, b, out: product(a[:, 1:], b[1:]), "The first term of the sum, p = 0, is missing."),
    Suspect(lambda a, b, out: product(a[:, :-1], b[:-1]), "The last term of the sum, p = k - 1, is missing."),
    Suspect(
        lambda a, b, out: product(a[:, : a.shape[1] // TILE * TILE], b[: a.shape[1] // TILE * TILE]),
        f"The terms after the last multiple of {TILE} are missing: the number of tiles along k was rounded down.",
    ),
    Suspect(
        lambda a, b, out: product(a[:, :TILE], b[:TILE]),
        f"Only the first {TILE} terms of each sum were added: the loop over the tiles must go on to the end of k.",
    ),
    Suspect(
        lambda a, b, out: product(a[:, : len(a)], b[: len(a)]),
        "Each sum has as many terms as a has rows. It goes over the k columns of a, which are the rows of b.",
    ),
    Suspect(
        lambda a, b, out: product(a[:, : b.shape[1]], b[: b.shape[1]]),
        "Each sum has as many terms as b has columns. It goes over the k columns of a, which are the rows of b.",
    ),
)


def over(name, kind=None):
    """The test of a cause: a count is over its limit, at a load or a store where `kind` says so."""
    return lambda rows: any(o.name == name and kind in (None, o.kind) for o in rows)


# 08-count ----------------------------------------------------------------------------------------------------

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
    objective="Predict the flops, bytes and load requests of a matmul, and the size from which fewer flops pay for more bytes",
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
            "Follow one thread of the warp through one tile, and count its loads from a and from b. How many tiles are there?",
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
            "Write down two times with n in them, that of the flops that are saved and that of the bytes that are added. When are they equal?",
            tolerance=1e-6,
            section=Section("8.3", "08_matmul_variants", "Seven products instead of eight: Strassen"),
        ),
    ),
    hints=(
        "Take one element of the result. How many multiplies and adds does its sum take? How many elements are there?",
        "Intensity is flops divided by bytes: write both with n for the three lengths, and most of it cancels. A request "
        "is one load of a whole warp, so follow one thread and count its loads.",
        "flops: how many products has one element, and how many elements are there? Bytes: the elements of all three "
        "matrices. One thread, without tiles: how many loads for each p? With tiles, how many for each 16 values of p? "
        "strassen: an eighth of 2 n^3 flops is saved; divide it by the one rate, the bytes by the other, and n^2 cancels.",
    ),
)

# 08-ikj ------------------------------------------------------------------------------------------------------

INITIAL_NAN = (
    "Either nothing is stored in out, or something is added to what stood there before. In this check that is NaN, and "
    "NaN plus anything is NaN: begin each sum with 0."
)

NO_LIBRARY = "Write the three loops yourself: `a @ b` inside a numba function calls a library."

CPU_CASES = (
    Case("square: (8 x 8) @ (8 x 8)", operands(8, 8, 8)),
    Case("ragged: (13 x 22) @ (22 x 41)", operands(13, 22, 41)),
    Case("tall: (37 x 5) @ (5 x 3)", operands(37, 5, 3)),
    Case("one row: (1 x 20) @ (20 x 33)", operands(1, 20, 33)),
)
CPU_BUDGET_CASE = Case("(24 x 36) @ (36 x 80)", operands(24, 36, 80))
VECTORISED = {"scalar_share": 0.25, "multiplies": 24 * 36 * 80 * 5 // 4}  # a quarter for the ends of loops

NOT_IN_VECTORS = (
    "The result is right, but in the loop that does the work the compiler could not fill vectors from neighbouring elements. Which "
    "index changes fastest, in your inner loop or along your slices, and which way does it walk through `b` and `out`?"
)


def _gathers(rows):
    """Vectors that are filled number by number: an access for each."""
    return any(o.name == "accesses_per_multiply" and o.counted > 6 for o in rows)


def _half_in_vectors(rows):
    return any(o.name == "scalar_share" and o.counted < 0.75 for o in rows)


IKJ = CompiledTask(
    id="08-ikj",
    section=Section("8", "08_matmul", "Rung 2: another order"),
    title="The order of the loops",
    objective="Order three loops so that the compiler vectorises the inner one",
    points=2,
    minutes=10,
    spec=spec,
    atol=1e-5,
    cases=CPU_CASES,
    suspects=SUSPECTS,
    advice={
        "not-finite": INITIAL_NAN,
        "nothing-written": INITIAL_NAN,
        "raised-IndexError": "An index left its array. out has the rows of a and the columns of b.",
        "wrong-value": (
            "Write down out[0, 0] = a[0, 0] * b[0, 0] + a[0, 1] * b[1, 0] + ...: i runs over the rows of a, j over the columns of b, "
            "p over the columns of a, and the three lengths may differ."
        ),
        "raised-ImportError": NO_LIBRARY,
    },
    budget=Budget(
        points=1,
        text="whole vectors are multiplied, each product once, with at most 3 memory accesses for each vector",
        require=VECTORISED | {"accesses_per_multiply": 3},
        over=(
            "The result is right, but products are made more than once. Each term of a sum is one multiply: which loop goes over it again?"
        ),
        causes=(
            (
                _half_in_vectors,
                "The result is right, and products fill whole vectors, but the sums are made one number at a time. A line with whole rows, "
                "as `out[i] += a[i, p] * b[p]`, makes an array of its own for the products, and adds them in a second loop: write the "
                "loop over `j` yourself, so that one line multiplies and adds.",
            ),
            (over("scalar_share"), NOT_IN_VECTORS),
            (_gathers, NOT_IN_VECTORS),
            (
                over("accesses_per_multiply"),
                "The result is right, and whole vectors are multiplied, but the inner loop asks memory more often than it must. For each "
                "product it needs an element of `b` and one of `out`, which is loaded and stored. What else does it load or store?",
            ),
        ),
        case=CPU_BUDGET_CASE,
    ),
    hints=(
        "A vector is filled from neighbours in memory. Rows lie one after the other: are b[p, j] and b[p + 1, j] "
        "neighbours? Are b[p, j] and b[p, j + 1]?",
        "The last index of b and of out should change in the inner loop, and nothing else should. Then an element of out "
        "collects its sum over many rounds, so it must start at 0.",
        "First fill out with 0. Then the loop over i outside, that over j inside, and so that over p between them. One line in "
        "the innermost.",
    ),
)

# 08-naive ----------------------------------------------------------------------------------------------------

EXCHANGED = (
    "The threads of this grid are as many as the elements of `out`, and stand as they do, so no guard is missing. x counts columns, y "
    "counts rows, and `cuda.grid(2)` gives x first: is one of them used as the other? And p runs over the columns of `a`, which are "
    "the rows of `b`."
)

NAIVE = KernelTask(
    id="08-naive",
    section=Section("8.2", "08_matmul_gpu", "Rungs 1 and 2: one thread per element"),
    title="One thread for each element",
    objective="Write a matmul kernel on a two-dimensional grid whose warps read neighbouring elements",
    points=2,
    minutes=10,
    spec=spec,
    atol=1e-5,
    cases=(case("one block, square", 16, 16, 16), case("exact", 32, 8, 48), case("ragged", 20, 13, 28)),
    suspects=SUSPECTS,
    writer=thread_of,
    advice={
        "out-of-bounds": (
            "The grid has more threads than out has elements, in both directions: a guard must look at the row and at the "
            "column. If this thread does have an element, compare each of the two indices with the shape: p runs over the "
            "columns of a, which are the rows of b."
        ),
        "some-unwritten": (
            "Where does this element lie: at the right, at the bottom? x counts blocks and threads along a row of out, "
            "y along a column, and cuda.grid(2) gives x first."
        ),
        "none-beyond": EXCHANGED,
        "not-finite": INITIAL_NAN,
        "nothing-written": INITIAL_NAN,
    },
    budget=Budget(
        points=1,
        text="at most 4 sectors for each load and each store of a warp, and each element of out stored once",
        require={"sectors_per_request": 4, "global_store_requests": 32 * 64 // 32, "active_lanes": 32},
        over=(
            "The result is right, but elements of `out` are stored more than once: add up in a local variable, and store at the end."
        ),
        causes=(
            (
                over("sectors_per_request"),
                "The result is right, but neighbouring threads of a warp work on different rows, which lie far apart: "
                "`threadIdx.x` changes fastest within a warp, so let it choose the column.",
            ),
        ),
        case=case("exact", 32, 24, 64),
    ),
    hints=(
        "Which element of out belongs to thread (x, y) of block (bx, by)? Which threads have none?",
        "One thread computes one sum in a local variable, and stores it once at the end. The column comes from x, the row "
        "from y, and the guard checks both.",
        "cuda.grid(2) gives the column first. Under a guard that asks two things: a sum that begins with np.float32(0), a loop over "
        "p, and the store behind the loop.",
    ),
)

# 08-tiled ----------------------------------------------------------------------------------------------------

NO_BARRIER = (
    "A barrier is missing between the two accesses. One belongs after the tiles are filled, before anyone reads them; "
    "a second one after all have read them, before the next tiles overwrite them."
)
UNEVEN = (
    "All threads of a block must reach every barrier, those without an element too: they load for the others. Keep "
    "cuda.syncthreads() out of every `if`, and do not return early; guard the loads and the store instead."
)
# A race explains a wrong sum better than the sum does.
TOLD_FIRST = ("race", "divergent-barrier", "barrier-after-exit", "uninitialised-shared", "uninitialised-local")
TILE_ADVICE = {
    "none-beyond": (
        "The tiles end where the matrices end here, so no guard is missing. x counts columns, y counts rows, and `cuda.grid(2)` gives x "
        "first: is one of them used as the other? Along k a tile begins at `start`. Is it a tile that is left? Compare with its shape."
    ),
    "race": NO_BARRIER,
    "divergent-barrier": UNEVEN,
    "barrier-after-exit": UNEVEN,
    "uninitialised-shared": (
        "A tile is read where nobody stored to it. Where a or b has ended, store 0: it adds nothing to the sum. And "
        "put a barrier between storing and reading."
    ),
    "out-of-bounds": (
        "At the edges a tile reaches beyond the matrix, in rows, columns and along k. Load only where both indices lie "
        "inside, and put 0 into the tile elsewhere; guard the store, too. Is it a tile that is left? Compare with its shape."
    ),
    "uninitialised-local": (
        "A local array belongs to one thread and holds anything at first: set sums to 0. What the threads of a block load for "
        "each other must lie in cuda.shared.array."
    ),
    "some-unwritten": "Which block should have written this element? Compare its number with the one your index uses.",
}

_BUDGET_M, _BUDGET_K, _BUDGET_N = 32, 48, 48


def tiled_loads(m, k, n):
    """Load requests of all warps with TILE x TILE tiles: one of a and one of b for each tile step."""
    x, y = blocks(m, n)
    return x * y * WARPS * 2 * -(-k // TILE)


def naive_loads(m, k, n):
    """Load requests with one thread for each element: one of a and one of b for each term."""
    x, y = blocks(m, n)
    return x * y * WARPS * 2 * k


def turned(m, k, n):
    """make(rng) -> at (k, m), b (k, n), out (m, n): a arrives as its transpose."""
    return lambda rng: (random_values(rng, k, m), random_values(rng, k, n), unwritten(m, n))


def both_turned(m, k, n):
    """make(rng) -> at (k, m), bt (n, k), out (m, n): both operands arrive as their transposes."""
    return lambda rng: (random_values(rng, k, m), random_values(rng, n, k), unwritten(m, n))


def of_turned(formula, b_too=False):
    """The formula of a and b for a task whose operands arrive as their transposes."""
    if b_too:
        return lambda at, bt, out: formula(at.T, bt.T, out)
    return lambda at, b, out: formula(at.T, b, out)


def turned_case(name, m, k, n, make=turned):
    shown = {turned: f"({k} x {m}).T @ ({k} x {n})", both_turned: f"({k} x {m}).T @ ({n} x {k}).T"}[make]
    x, y = blocks(m, n)
    where = "1 block" if x * y == 1 else f"{x} blocks along x, {y} along y"
    return Case(f"{name}: {shown}, {where}", make(m, k, n), grid=(x, y), block=SQUARE)


def turned_suspects(b_too=False):
    told = {
        SUSPECTS[0].cause: "This is the transpose of the result: rows and columns of out are exchanged.",
        SUSPECTS[
            1
        ].cause: "Here at was used as if it were a. Row p of at is column p of a. Compare the two indices of the load, and "
        "those with which its tile is stored and then read.",
        SUSPECTS[2].cause: "The indices of b are exchanged."
        if not b_too
        else "Here bt was used as if it were b. Compare the two indices of the load, and those with which its tile is stored and then "
        "read: it must be crossed once.",
    }
    return tuple(Suspect(of_turned(one.formula, b_too), told.get(one.cause, one.cause)) for one in SUSPECTS)


LOADED_AGAIN = (
    "The result is right, but elements are loaded from global memory again. Each is loaded once for its tile, and all 16 threads that "
    "need it read it from shared memory."
)
TOO_MANY_BARRIERS = (
    "The result is right, but the block waits more often than it must. In each round two barriers are enough: when are the tiles "
    "full, and when have all read them?"
)

_TILES_OF_BUDGET = {
    "global_load_requests": tiled_loads(_BUDGET_M, _BUDGET_K, _BUDGET_N),
    "barriers": 2 * (_BUDGET_K // TILE),
    "bank_ways": 1,
    "sectors_per_request": 4,
}

TILED = KernelTask(
    id="08-tiled",
    section=Section("8.2", "08_matmul_gpu", "Rung 3: a tile in shared memory"),
    title="Tiles in shared memory, from a transpose",
    objective="Write a tiled matmul kernel that loads each element once per tile, in rows of memory",
    points=4,
    minutes=20,
    spec=of_turned(spec),
    atol=1e-5,
    cases=(
        turned_case("one block, one tile", 16, 16, 16),
        turned_case("exact", 32, 32, 16),
        turned_case("ragged", 20, 19, 28),
        turned_case("thin", 5, 9, 37),
    ),
    partial={"exact: (32 x 32).T @ (32 x 16), 1 blocks along x, 2 along y": 2},
    suspects=turned_suspects(),
    writer=thread_of,
    tell_first=TOLD_FIRST,
    advice=TILE_ADVICE
    | {
        "wrong-value": (
            "Is one tile alone wrong? Then add all 16 terms, with the same number in both tiles. Is it right? Then look at how it goes "
            "on along k: start is 0, 16, 32 ..., both loads use it, for the rows of `at` and for those of `b`, and `total` "
            "begins at 0 once, before the loop."
        )
    },
    budget=Budget(
        points=2,
        text=(
            f"1/{TILE} of the load requests of task 3, at most two barriers for each tile, "
            "no bank conflict, at most 4 sectors per request"
        ),
        require=_TILES_OF_BUDGET,
        over=(
            "The result is right, but lanes of a warp meet in a bank of shared memory. Two rows of 16 fill the 32 banks, so a "
            "tile that is stored as it was loaded needs no padding. Which index of `a_tile` is `p` then?"
        ),
        causes=(
            (over("global_load_requests"), LOADED_AGAIN),
            (over("barriers"), TOO_MANY_BARRIERS),
            (
                over("sectors_per_request"),
                "The result is right, but a load jumps from row to row, so that each lane needs a sector of its own. Neighbouring threads "
                "(`x`) should take neighbours of a row of `at`, whichever element that is: another thread may need it.",
            ),
        ),
        case=turned_case("exact", _BUDGET_M, _BUDGET_K, _BUDGET_N),
        golf=Golf(
            count="global_load_requests",
            best=120,
            require={"atomics": 0},
            lead="Which elements of a and b do several blocks load? A block may compute more than 16 x 16 elements.",
        ),
    ),
    hints=(
        f"The tile of a that a block needs is {TILE} x {TILE} elements of at, too. Where in at does it begin, and along which of "
        "its indices do neighbours in memory lie?",
        "The element that a thread loads need not be one that it uses. For each tile along k: every thread loads one element of "
        "at and one of b, both along a row of memory (0 beyond the edge); barrier; TILE terms from shared memory; barrier.",
        "Of at, thread (x, y) loads row start + y, and of the columns that belong to this block's rows the one numbered x: it "
        "needs blockIdx.y, not its own i. Then a_tile has p as its first index, as b_tile has.",
    ),
)

# 08-both -----------------------------------------------------------------------------------------------------

NO_WIDTH = (
    "The result is right, but lanes of a warp meet in a bank. A tile that is stored along its rows needs rows of W = 16 words (or 48, "
    "80 ...), so that two of them fill the 32 banks. If the same tile is then read down a column, no W serves both: with these the 16 "
    "words of a column lie in two banks, and with any other the two rows of the store meet. Cross it in the store instead, down a "
    "column: a load along a row is free with any W."
)


def _crossed_in_the_load(rows):
    """A tile that is stored along its rows, and meets itself there or where it is read."""
    return any(o.name == "bank_ways" and (o.kind == "load" or o.step == 4) for o in rows)


def _odd_and_crossed_in_the_store(rows):
    return any(o.name == "bank_ways" and o.kind == "store" and o.step // 4 % 2 for o in rows)


BOTH = KernelTask(
    id="08-both",
    section=Section("8.2", "08_matmul_gpu", "Rung 3: a tile in shared memory"),
    title="Both operands as transposes",
    objective="Lay out a tile in shared memory so that neither its stores nor its loads have bank conflicts",
    points=1,
    minutes=12,
    after="08-tiled",
    spec=of_turned(spec, True),
    atol=1e-5,
    cases=(
        turned_case("one block, one tile", 16, 16, 16, both_turned),
        turned_case("exact", 16, 32, 48, both_turned),
        turned_case("ragged", 20, 19, 28, both_turned),
    ),
    suspects=turned_suspects(True),
    writer=thread_of,
    tell_first=TOLD_FIRST,
    advice=TILE_ADVICE
    | {
        "wrong-value": (
            "Look at the load of `bt`. Its first index counts columns of the result: it begins at those of this block, and must stay below "
            "n. Its second one goes along k, from start on, and must stay below k. Is it another number than the index for at?"
        )
    },
    budget=Budget(
        points=2,
        text="the same as in task 4, for the same lengths: loads, barriers, sectors, and no bank conflict",
        require=_TILES_OF_BUDGET,
        over=(
            "The result is right, but lanes of a warp meet in a bank. Element `[r, c]` of a tile with rows of W words lies in bank "
            "(r W + c) mod 32. The 32 lanes of a warp have 16 values of `x` and two of `y`. Write down their banks for the store of the "
            "crossed tile, and choose W so that none comes twice."
        ),
        causes=(
            (over("global_load_requests"), LOADED_AGAIN),
            (over("barriers"), TOO_MANY_BARRIERS),
            (
                over("sectors_per_request"),
                "The result is right, but a load jumps from row to row, so that each lane needs a sector of its own. Neighbours of `bt` "
                "lie along k: which index of `bt` should grow with `x`? The tile is crossed afterwards, in shared memory.",
            ),
            (_crossed_in_the_load, NO_WIDTH),
            (
                _odd_and_crossed_in_the_store,
                "The result is right, but two lanes of a warp meet in a bank. An odd W is for 32 lanes down one column. Here 16 lanes go "
                "down one column and 16 down the column beside it, and with an odd W an element of the one lies in a bank of the other. "
                "Which W keep the two columns apart, and the 16 elements of each?",
            ),
        ),
        case=turned_case("exact", _BUDGET_M, _BUDGET_K, _BUDGET_N, both_turned),
    ),
    hints=(
        "Of bt, the neighbours in memory lie along k. Which element should thread (x, y) load, so that a warp loads two pieces of "
        "rows? And which elements does it use afterwards?",
        "Somewhere a tile must be crossed: stored along a column, or read along one. Then 16 lanes are W words apart, W being the "
        "length of a row of the tile. Which W put 16 such words, and the 16 of the other y, into 32 different banks?",
        "Rows may be longer than 16: the rest stays unused. An odd W is the usual advice, and fits 32 lanes on one column. Here "
        "16 lanes are on a column and two are side by side: each step of x should pass over an even number of banks.",
    ),
)

# 08-bug ------------------------------------------------------------------------------------------------------

BUG = KernelTask(
    id="08-bug",
    section=Section("8.2", "08_matmul_gpu", "Rung 3: a tile in shared memory"),
    title="Repair two bugs that most inputs do not show",
    objective="Debug a tiled kernel with the x-ray's findings",
    points=3,
    minutes=12,
    spec=spec,
    atol=1e-5,
    cases=(case("one block, one tile", 16, 16, 16), case("exact", 16, 48, 16), case("ragged", 20, 19, 28)),
    suspects=SUSPECTS,
    writer=thread_of,
    tell_first=TOLD_FIRST,
    advice=TILE_ADVICE
    | {
        "race": (
            "Between these two lines there is no barrier, so a fast thread stores the next tile while a slow one still "
            "reads this one. Between which two statements must all threads wait for each other?"
        ),
        "uninitialised-shared": (
            "This thread reads an element of a tile that nobody stored, or that a former tile left behind. What should "
            "stand there, where a or b has ended, so that it adds nothing to the sum?"
        ),
        "wrong-value": (
            "k is no multiple of 16 in this case: the last tile is not full. What stands in the rest of it?"
        ),
    },
    kept=Budget(
        points=0,
        text="the load requests of tiles in shared memory",
        require={"global_load_requests": tiled_loads(16, 48, 16)},
        over="The colleague's tiles are gone: more is loaded from global memory than the broken kernel did. Keep them.",
        case=case("exact", 16, 48, 16),
    ),
    hints=(
        "Run the check on the kernel as it is: the first bug is a pair of lines that the message names. What could a fast "
        "thread do while a slow one is still in the loop over p?",
        "The second shows only where a tile reaches beyond the matrix. An `if` without `else` leaves in the tile what was "
        "there before: nothing at first, then the tile before it.",
        "No tile may be filled before all have read the one before: where does the round end? And a thread whose element lies "
        "outside has something to store, too: what adds nothing to a sum?",
    ),
)

# 08-hasty, the second part of 08-bug ---------------------------------------------------------------------------

SUMMED = (1, 2, 4, 8, 16, 32)
# What A adds up, and how many numbers of the next tile are in it: no two choices have the same sum.
TOO_NEW = {
    sum(SUMMED[::2]) + SUMMED[1 + 2 * one] + SUMMED[3 + 2 * two] + SUMMED[5]: one + two
    for one in (0, 1)
    for two in (0, 1)
}

HASTY = ScheduleTask(
    id="08-hasty",
    section=Section("8.2", "08_matmul_gpu", "Rung 3: a tile in shared memory"),
    title="Be the scheduler of two warps",
    objective="Choose the steps of two warps by which a missing barrier does most harm to one of them",
    after="08-bug",
    points=2,
    minutes=8,
    who="warp",
    program=Program(
        """
        a = (1, 2, 4, 8, 16, 32)
        tile = [0, 0]  # in shared memory
        sums = [0, 0]


        def warp(w):
            total = 0
            for start in (0, 2, 4):
                tile[w] = a[start + w]
                syncthreads()
                for p in range(2):
                    total += tile[p]
            sums[w] = total
        """,
        A=("warp", 0),
        B=("warp", 1),
    ),
    score=lambda played: TOO_NEW[played.state["sums"][0]],
    shown={0: "A reads no number of the next tile", 1: "A reads 1 number of the next tile"}
    | {n: f"A reads {n} numbers of the next tile" for n in set(TOO_NEW.values()) if n > 1},
    at_the_end=lambda played: f"the sum of A is {played.state['sums'][0]}, and should be {sum(SUMMED)}",
    slips={
        0: "A read each tile before its numbers were overwritten. Which number of a tile does B overwrite, and how far may B go while "
        "A rests?",
        1: "Once A read a number that was too new. The barrier is open again when the late one has come. Who must go first "
        "then, so that A is late once more?",
    },
    advice={
        "impossible": "Who has come to the barrier makes no step until the other one has come, too. Name the other one there."
    },
    hints=(
        "Once a warp has read a tile: what keeps it from storing its next number?",
        "A comes to the barrier, and then rests. How far may B go before it has to wait for A?",
        "Both store and both come to the barrier. B alone goes on until it stands at the next barrier; then A reads one number that "
        "is too new, and goes there, too. Now nobody waits. Who should go on?",
    ),
)

# 08-register -------------------------------------------------------------------------------------------------


def _loaded_again(rows):
    return any(o.name == "accesses_per_multiply" and o.counted < 2.9 for o in rows)  # task 2 has 3


REGISTER = CompiledTask(
    id="08-register",
    section=Section("8", "08_matmul", "Rung 5: use what is loaded"),
    title="A register tile on the CPU",
    objective="Unroll loops so that each value loaded from memory serves several multiplies",
    points=2,
    minutes=15,
    spec=spec,
    atol=1e-5,
    cases=(*CPU_CASES, Case("k smaller than 4: (9 x 3) @ (3 x 17)", operands(9, 3, 17))),
    suspects=(
        Suspect(
            lambda a, b, out: product(a[:, : a.shape[1] // 4 * 4], b[: a.shape[1] // 4 * 4]),
            "The terms after the last multiple of 4 are missing. They need a loop of their own.",
        ),
        *SUSPECTS,
    ),
    advice={
        "not-finite": INITIAL_NAN,
        "nothing-written": INITIAL_NAN,
        "raised-IndexError": (
            "An index left its array: the length is no multiple of what you unrolled by. Stop before the end, and do what "
            "is left over in a loop of its own."
        ),
        "raised-ImportError": NO_LIBRARY,
        "some-unwritten": "These rows are left over: their number is no multiple of what you unrolled by.",
        "wrong-value": (
            "Look at which rows are wrong. Each row of `out` needs the products of its own row of `a` with all p, each once: is one of "
            "the lines a copy with an index not changed, = in the place of +=, or a step that is not as long as what is unrolled?"
        ),
    },
    budget=Budget(
        points=2,
        text="at most 1.75 memory accesses for each vector multiply (task 2 has 3), each product once, and no array allocated",
        require=VECTORISED | {"accesses_per_multiply": 1.75, "arrays": 0},
        over=(
            "The result is right, but the loop that does the work asks memory too often. Each round should load and store "
            "`out[i, j]` once for several terms of the sum."
        ),
        causes=(
            (
                over("arrays"),
                "The result is right, but an array is allocated. Add up in `out` itself, and name single numbers.",
            ),
            (over("scalar_share"), NOT_IN_VECTORS),
            (
                over("multiplies"),
                "The result is right, but products are made more than once. Does what is left over begin where the rounds end?",
            ),
            (
                _loaded_again,
                "The result is right, and more terms share what is loaded than in task 2. What does the formula say for your R and S? If "
                "it says less than was counted, `b` is loaded again after each store: `out` could be the same memory, for all that the "
                "compiler knows. Take what two rows share into variables before the first store, as "
                "`b0, b1 = b[p, j], b[p + 1, j]`. If it says as much, let a round handle more terms, or more rows.",
            ),
        ),
        case=CPU_BUDGET_CASE,
    ),
    hints=(
        "In task 2 a multiply costs three accesses: b is loaded, out is loaded, out is stored. Which of the three could be "
        "shared by four terms of the same sum?",
        "Take four values of p in one round of the loop over p. Then the inner loop adds four terms to out[i, j] at once: "
        "4 loads of b, one load and one store of out, four multiplies. What is left over after the last multiple of 4 "
        "goes through the loop of task 2.",
        "Two loops over p: one in steps of 4 up to k - k % 4, one over the rest. In the first, take the four elements of a into "
        "variables before the loop over j; that one then has a single line, with four products in a sum.",
    ),
)

# 08-four -----------------------------------------------------------------------------------------------------

WIDE = 2 * TILE
_FOUR_M, _FOUR_K, _FOUR_N = 32, 32, 64

FOUR = KernelTask(
    id="08-four",
    section=Section("8.2", "08_matmul_gpu", "Rung 4: eight elements of a column"),
    title="Four elements for each thread",
    objective="Write a kernel that halves the loads from shared and from global memory with a register tile",
    points=4,
    minutes=20,
    spec=spec,
    atol=1e-5,
    cases=(
        case("one block, one step", 32, 16, 32, WIDE),
        case("exact", 32, 32, 64, WIDE),
        case("ragged", 37, 19, 50, WIDE),
    ),
    partial={"exact: (32 x 32) @ (32 x 64), 2 blocks along x, 1 along y": 2},
    suspects=SUSPECTS,
    writer=thread_of_four,
    tell_first=TOLD_FIRST,
    advice=TILE_ADVICE
    | {
        "some-unwritten": (
            "Each thread writes four elements: its own, the one 16 rows below, the one 16 columns to the right, and the "
            "one below and to the right. Which of them is this one, and is it guarded by its own row and column? From block to "
            "block the indices grow by 32."
        ),
        "wrong-value": (
            "The map shows which quarter of a tile is wrong. Which two numbers must its sum multiply: the upper or the "
            "lower one of a, the left or the right one of b? If all quarters are wrong where k is more than 16, do the sums begin "
            "at 0 once, before the loop over the tiles?"
        ),
    },
    budget=Budget(
        points=2,
        text=(
            "half the load requests of task 4, to global and to shared memory, for the same matrices; at most two barriers "
            "for each step; no bank conflict"
        ),
        require={
            "global_load_requests": tiled_loads(_FOUR_M, _FOUR_K, _FOUR_N) // 2,
            "shared_load_requests": naive_loads(_FOUR_M, _FOUR_K, _FOUR_N) // 2,
            "barriers": 2 * (_FOUR_K // TILE),
            "bank_ways": 1,
        },
        over=(
            "The result is right, but shared memory is asked more often than it must be. In one round of the loop over `p` a "
            "thread makes four products. Of how many different numbers, and how many does your round load?"
        ),
        causes=(
            (over("global_load_requests"), LOADED_AGAIN),
            (over("barriers"), TOO_MANY_BARRIERS),
            (
                over("bank_ways"),
                "The result is right, but lanes of a warp meet in a bank. The halves of a tile lie one below the other: two rows of 16 "
                "words fill the 32 banks, and a warp is two rows of the block. Which index grows with `x`?",
            ),
        ),
        case=case("exact", _FOUR_M, _FOUR_K, _FOUR_N, WIDE),
    ),
    hints=(
        "In task 4 a thread loads two numbers from shared memory for one multiply-add. With two numbers of a column of a "
        "and two of a row of b, how many products can it make?",
        "Each of the two tiles has two halves, one below the other. Every thread stores one element into each of the four "
        "halves, has four sums, and in each round of the loop over p loads one number from each half.",
        "In a round over p take four numbers into variables: of a_tile in rows y and y + TILE, of b_tile in rows p and p + TILE. "
        "Each sum multiplies one of the first two and one of the others. The second row of the result is i + TILE, the second "
        "column j + TILE, each with a guard of its own.",
    ),
)

# 08-verdicts -------------------------------------------------------------------------------------------------
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
        "Go through each kernel with four questions. Is each access inside its array? Is there a barrier between each store "
        "to a tile and each load by another thread? Is what is read what was stored there? Is each element of out stored once?",
        "Take one shape in which k is no multiple of 16, and one in which k is 32. Write down what thread (1, 0) stores into "
        "the tiles, and which places the threads of its row read.",
        "An odd text is not a wrong one: indices that are exchanged twice are right, and a barrier can stand at the top of a "
        "loop. A usual text can be wrong by a condition that is not there. Look at the last tile along k, and at the "
        "moment at which the second tile is filled.",
    ),
)

# 08-fails ----------------------------------------------------------------------------------------------------
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
                "The guard counts elements as they lie in memory. Where does a thread with a column that does not exist fall "
                "into that count, and is it let through?"
            ),
            **SHAPES,
        ),
        Flaw(
            name="third",
            wrong=third,
            lead="A thread that has no element of out has something to load for others. What is missing when it loads nothing?",
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
        "For each kernel, write down for which threads or terms the condition should hold, and for which it does. Which of the "
        "three lengths decides?",
        "first: compare the end of the loop over start with what is summed. second: multiples of 16 show nothing. third: which "
        "threads fill the tiles, and who reads what they should have stored? fourth: only k matters.",
        "first: make the sum longer than a row of out. second: the threads beyond the right edge, in a row that is not the last "
        "one. third: leave threads of a block without an element, in one direction. fourth: try k = 4, 5, 6, 7 with a pencil.",
    ),
)

# 08-strides --------------------------------------------------------------------------------------------------

STACK = (8, 4)  # threads of a block along a row and a column


def strided_case(name, count, m, k, n, a_turned=False, b_turned=False, b_single=False, a_every=1):
    """A case of a stack of products; what is turned arrives as its transpose, a single b serves all."""

    def make(rng):
        a = random_values(rng, count, *((k, a_every * m) if a_turned else (m, a_every * k)))[..., ::a_every]
        b = random_values(rng, 1 if b_single else count, *((n, k) if b_turned else (k, n)))
        a_steps, b_steps = (np.array(x.strides) // 4 for x in (a, b))
        whole = a.base if a.base is not None else a
        if a_turned:
            a_steps = a_steps[[0, 2, 1]]
        if b_turned:
            b_steps = b_steps[[0, 2, 1]]
        if b_single:
            b_steps[0] = 0
        return (whole.reshape(-1), a_steps, b.reshape(-1), b_steps, k, unwritten(count, m, n))

    x, y = -(-n // STACK[0]), -(-m // STACK[1])
    return Case(f"{name}: {count} of ({m} x {k}) @ ({k} x {n})", make, grid=(x, y, count), block=(*STACK, 1))


def stack_of(flat, steps, count, rows, columns):
    """The matrices that lie in `flat` at the distances `steps`, as an array (count, rows, columns) in float64."""
    places = np.add.outer(
        np.add.outer(np.arange(count) * steps[0], np.arange(rows) * steps[1]), np.arange(columns) * steps[2]
    )
    return flat[places % flat.size].astype(np.float64)


def strided_product(a, a_steps, b, b_steps, k, out):
    """The specification."""
    count, m, n = out.shape
    return stack_of(a, a_steps, count, m, k) @ stack_of(b, b_steps, count, k, n)


def _of_steps(change):
    def formula(a, a_steps, b, b_steps, k, out):
        m, n = out.shape[1:]
        a_steps, b_steps = change(a_steps, b_steps, (m * k, k, 1), (k * n, n, 1))
        return strided_product(a, a_steps, b, b_steps, k, out)

    return formula


STRIDES = KernelTask(
    id="08-strides",
    section=Section("8.3", "08_matmul_variants", "Transposed operands"),
    title="Stacks and transposes by their strides",
    objective="Write one kernel for stacked, transposed and repeated operands, without a copy",
    points=2,
    minutes=10,
    spec=strided_product,
    atol=1e-5,
    cases=(
        strided_case("a stack, one block for each, exact", 3, 4, 5, 8),
        strided_case("a transposed", 2, 6, 7, 9, a_turned=True),
        strided_case("b transposed, ragged", 2, 5, 3, 10, b_turned=True),
        strided_case("one b for all", 4, 5, 6, 7, b_single=True),
        strided_case("every second column of a", 2, 4, 6, 9, a_every=2),
    ),
    writer=lambda index, case: (
        (index[2] // STACK[0], index[1] // STACK[1], index[0]),
        (index[2] % STACK[0], index[1] % STACK[1], 0),
    ),
    suspects=(
        Suspect(
            _of_steps(lambda a, b, whole_a, whole_b: (whole_a, whole_b)),
            "The steps were not used: this is right only for matrices that lie row by row, one after the other.",
        ),
        Suspect(
            _of_steps(lambda a, b, whole_a, whole_b: ((0, *a[1:]), b)), "Every product used the first matrix of a."
        ),
        Suspect(
            _of_steps(lambda a, b, whole_a, whole_b: (a, (0, *b[1:]))), "Every product used the first matrix of b."
        ),
        Suspect(
            _of_steps(lambda a, b, whole_a, whole_b: ((0, *a[1:]), (0, *b[1:]))),
            "Every product used the first matrices.",
        ),
        Suspect(
            _of_steps(lambda a, b, whole_a, whole_b: (a[[0, 2, 1]], b)),
            "The two steps within a matrix of a are exchanged.",
        ),
        Suspect(
            _of_steps(lambda a, b, whole_a, whole_b: (a, b[[0, 2, 1]])),
            "The two steps within a matrix of b are exchanged.",
        ),
        Suspect(_of_steps(lambda a, b, whole_a, whole_b: (a, a)), "The steps of a were used for b as well."),
    ),
    advice={
        "out-of-bounds": (
            "If the place is in a or b: it is a sum of three products, a number times a step each. Steps count elements, not bytes, "
            "and p goes from 0 to k - 1. If the index is of out, or the thread has no element of out: the grid may be larger than a "
            "matrix, and needs a guard for rows and columns."
        ),
        "none-beyond": (
            "Each thread has an element here, so no guard is missing. The place in a or b is a sum of three products, a number times "
            "its own step each, in elements, not bytes. p goes from 0 to k - 1."
        ),
        "raised-OutOfBounds": "`out` has three axes, and an element of it three indices: out[z, row, column]. The two arrays of steps have "
        "three elements each.",
        "one-block": "Only the first matrix was written. blockIdx.z counts the matrices of the stack: out[z, row, column].",
        "some-unwritten": "The matrices of the stack are counted by blockIdx.z, columns by x, rows by y; out.shape is (count, m, n).",
    },
    hints=(
        "Element [row, column] of a matrix that lies row by row, with n columns, lies n * row + column places from its start. "
        "Which numbers are the two steps here, and which would they be for its transpose?",
        "The place of an element is the sum of three products: number of the matrix, row and column, each times its step. The "
        "kernel need not know what is transposed or repeated: a step of 0 repeats.",
        "Of a you need matrix z, row i, column p; of b matrix z, row p, column j. Compute each place in a line of its own, with "
        "the three steps of that operand. The loop over p is that of task 3.",
    ),
)

# 08-thin -----------------------------------------------------------------------------------------------------

THIN_M, THIN_K, THIN_N = 256, 32, 8


THIN = MeasuredTask(
    id="08-thin",
    section=Section("8", "08_matmul", "Under the roof"),
    title="A thin product under the roof",
    objective="Count the flops and bytes of a matmul loop, and say when memory bounds it",
    points=3,
    minutes=10,
    spec=spec,
    atol=1e-5,
    cases=(*CPU_CASES, Case("one column: (40 x 17) @ (17 x 1)", operands(40, 17, 1))),
    suspects=SUSPECTS,
    claimed=Case(f"({THIN_M} x {THIN_K}) @ ({THIN_K} x {THIN_N})", operands(THIN_M, THIN_K, THIN_N)),
    measured=Case(f"(131072 x {THIN_K}) @ ({THIN_K} x {THIN_N})", operands(1 << 17, THIN_K, THIN_N)),
    card=Card(peak=100e9, bandwidth=20e9),
    advice={
        "not-finite": INITIAL_NAN,
        "nothing-written": INITIAL_NAN,
        "raised-ImportError": NO_LIBRARY,
        "raised-IndexError": "An index left its array. out has the rows of a and the columns of b.",
        "flops": f"Each of the {THIN_M} * {THIN_N} elements is a sum of {THIN_K} products. What counts is your own loop, as it "
        "stands.",
        "moved": "The elements of a, of b and of out, each counted once, have 4 bytes each.",
        "roof": "A matmul need not be bound by arithmetic. Compare your intensity with the ridge: peak divided by bandwidth.",
    },
    hints=(
        "How many multiplications and additions has one element of out, and how many elements are there?",
        "The bytes are those of three matrices. Which of the three is the largest here, and how often is each of its elements used?",
        "An element of a is used once for each column of b: 8 multiplications and 8 additions for 4 bytes. That is the "
        "intensity, but for the bytes of out and b. The ridge is 100 divided by 20.",
    ),
)

# 08-int8 -----------------------------------------------------------------------------------------------------


def int8_case(name, m, k, n, change=lambda a, b: None):
    def make(rng):
        a, b = random_values(rng, m, k), random_values(rng, k, n)
        a *= rng.uniform(0.1, 30, (m, 1)).astype(np.float32)  # rows of different size: a scale for all would be coarse
        b *= rng.uniform(0.1, 30, (1, n)).astype(np.float32)
        change(a, b)
        return a, b

    return Case(f"{name}: ({m} x {k}) @ ({k} x {n})", make)


def _scales(x, axis):
    """max |x| / 127 along an axis, in float64; 1 where all is 0."""
    scale = np.abs(x.astype(np.float64)).max(axis=axis, keepdims=True) / 127
    return np.where(scale == 0, 1.0, scale)


def quantised_product(a, b, rounded=np.rint):
    """(the product of the quantised matrices, the scale of each of its elements), float64."""
    sa, sb = _scales(a, 1), _scales(b, 0)
    return rounded(a / sa) @ rounded(b / sb), sa * sb


def _cut_off(a, b, rounded, dtype):
    """The product of matrices that were cut off: where the largest of a row comes out just below 127 depends on the dtype."""
    sa, sb = (x.astype(dtype) for x in (_scales(a, 1), _scales(b, 0)))
    return rounded(a / sa).astype(np.float64) @ rounded(b / sb).astype(np.float64)


def _of_the_largest(a, b, wraps):
    """Scales of the largest number, not of the largest absolute value: numbers below -127, which int8 takes for others."""
    (qa, sa), (qb, sb) = (
        (np.rint(x / s), s) for x, s in ((x, x.max(axis, keepdims=True) / 127) for x, axis in ((a, 1), (b, 0)))
    )
    if wraps:
        qa, qb = (q.astype(np.int64).astype(np.int8).astype(np.float64) for q in (qa, qb))
    return (qa.astype(np.float64) @ qb) * sa * sb


def _by_128(a, b):
    """128 levels, of which the largest does not fit into eight bits."""
    sa, sb = (_scales(x, axis) * 127 / 128 for x, axis in ((a, 1), (b, 0)))
    qa, qb = (np.rint(x / s).astype(np.int16).astype(np.int8).astype(np.float64) for x, s in ((a, sa), (b, sb)))
    return (qa @ qb) * sa * sb


def judge_int8(arguments, result):
    """Right if the result is a sum of products of rounded numbers, with the scales of rows and columns."""
    a, b = arguments
    shape = (a.shape[0], b.shape[1])
    expected = f"an array of real numbers of shape {shape}"
    if not isinstance(result, np.ndarray) or result.shape != shape or result.dtype.kind != "f":
        got = f"{result.dtype} of shape {result.shape}" if isinstance(result, np.ndarray) else ""
        return Slip("type", expected, "The result is a @ b nearly: integers times two scales.", got)
    if not np.isfinite(result).all():
        return Slip("not-finite", "numbers", "A row or a column of zeros has the largest value 0, and nothing can be divided by "
                    "it. Which scale would do there?", "inf or NaN")  # fmt: skip
    integers, scale = quantised_product(a, b)
    got = result.astype(np.float64) / scale
    slack = 0.5 + 1e-5 * np.abs(integers)
    off = np.abs(got - integers) > slack
    if off.mean() <= 0.02 and np.abs(got - integers).max() <= 260:  # a number halfway may be rounded either way
        return None
    i, j = np.argwhere(off)[0] if off.any() else (0, 0)
    with np.errstate(all="ignore"):
        cause = _known_slip(a, b, got, integers, scale)
    number = lambda x: f"{x[i, j] * scale[i, j]:.6g}"  # noqa: E731
    return Slip(
        "product",
        f"{number(integers)} in element [{i}, {j}]",
        cause,
        f"{number(got)}; {off.sum()} of {off.size} are off",
    )


def _known_slip(a, b, got, integers, scale):
    """What explains a wrong product of integers, in words."""
    qa, qb = (np.rint(x / _scales(x, axis)) for x, axis in ((a, 1), (b, 0)))
    wrapped = qa.astype(np.int64) @ qb.astype(np.int64)
    known = (
        (a.astype(np.float64) @ b / scale, "This is the product of the real numbers. Round both matrices to integers first."),
        (wrapped.astype(np.int8), "The sums ran over: NumPy keeps int8 for products of int8. Sum in int32."),
        (wrapped.astype(np.int16), "The sums ran over: 16 bits are too few for them. Sum in int32."),
        *((_cut_off(a, b, np.trunc, dtype), "astype(np.int8) cuts off what is behind the point. Round first.")
          for dtype in (np.float32, np.float64)),
        *((_cut_off(a, b, np.floor, dtype), "The numbers were rounded down. Round to the nearest.")
          for dtype in (np.float32, np.float64)),
        *((_of_the_largest(a, b, wraps) / scale, "A scale comes from the largest absolute value: the largest number of a row may be a "
         "small one, beside others far below 0.") for wraps in (True, False)),
        (_by_128(a, b) / scale, "With 128 the largest number does not fit: eight bits end at 127. Divide by 127."),
        (integers / scale**2, "The sum was divided by the two scales. Each number was divided by its scale; to go back, multiply."),
        (np.rint(a * _scales(a, 1)) @ np.rint(b * _scales(b, 0)), "Each number is divided by its scale, not multiplied by it."),
        (integers / scale, "These are the integers: multiply by the two scales."),
        (integers / scale * _scales(a, 1), "The scale of b is missing."),
        (integers / scale * _scales(b, 0), "The scale of a is missing."),
        (_one_scale(a, b) / scale, "One scale for a whole matrix leaves few levels to its small rows. Each row of a and each "
         "column of b has a scale of its own."),
        (_along_the_sum(a, b) / scale, "A scale must be the same for all terms of a sum: rows of a, columns of b."),
    )  # fmt: skip
    near = (text for value, text in known if np.mean(np.abs(got - value) > 0.5 + 1e-5 * np.abs(value)) <= 0.02)
    return next(
        near, "Multiply the integers first, as int32; then scale element [i, j] by the scales of row i and column j."
    )


def _one_scale(a, b):
    sa, sb = (np.abs(x).max() / 127 or 1.0 for x in (a, b))
    return (np.rint(a / sa) @ np.rint(b / sb)) * sa * sb


def _along_the_sum(a, b):
    sa, sb = _scales(a, 0), _scales(b, 1)
    return (np.rint(a / sa) * sa) @ (np.rint(b / sb) * sb)


def _zeros(a, b):
    a[len(a) // 2] = 0
    b[:, 0] = 0


INT8 = FunctionTask(
    id="08-int8",
    section=Section("8.4", "08_fewer_bits", "Eight bits"),
    title="A product in eight bits",
    objective="Quantise two matrices, multiply them in integers, and scale the result back",
    points=2,
    minutes=10,
    judge=judge_int8,
    cases=(
        int8_case("small", 3, 4, 5),
        int8_case("long sums", 6, 200, 7),
        int8_case("one column", 20, 33, 1),
        int8_case("a row and a column of zeros", 5, 8, 6, _zeros),
    ),
    advice={
        "raised-ValueError": "Do the shapes fit? The scales of a are one for each row, (m, 1), those of b one for each column, (1, n). The "
        "product of two matrices is `@`; `*` multiplies element by element.",
        "raised-RuntimeWarning": "Where `divide` is named, a row or a column of zeros was divided by its largest value: 0 / 0. Give it the "
        "scale 1 before anything is divided. Where `cast` is named, a number that no integer can hold became an integer: 0 / 0 again, or "
        "one beyond -128 to 127, and the scale comes from the largest absolute value.",
        "raised-OverflowError": "A number is too large for its type: the largest of a row should become 127.",
    },
    hints=(
        "By which number must a row be divided, so that its largest element becomes 127 or -127? Which shape have these numbers?",
        "Four steps: scales, with 1 where a row or column is zero; divide and round to the nearest, then int8; the product of "
        "the two as int32; times the scale of the row and that of the column.",
        "The largest of np.abs along an axis, with keepdims=True, come in a shape that fits. np.where mends the zeros. "
        "NumPy sums in the type of its operands, so change that before @, not after.",
    ),
)

# 08-lane -----------------------------------------------------------------------------------------------------


def _owner(row, column, part):
    """(lane, register) of an element in the fragments of mma.m16n8k16, from the table of the library's stand-in."""
    from dlkernels.tensor_cores import GROUP, LANES, T

    for register in range({"c": 4, "b": 2}[part]):
        for half in range(2):
            if part == "c":
                if half != register % 2:
                    continue
                rows, columns = GROUP + 8 * (register // 2), 2 * T + half
            else:
                rows, columns = 2 * T + 8 * register + half, GROUP
            found = LANES[(rows == row) & (columns == column)]
            if found.size:
                return int(found[0]), register
    raise LookupError((row, column, part))


def _lanes_of_row(row):
    from dlkernels.tensor_cores import GROUP, LANES

    return len(LANES[row % 8 == GROUP])


LANE = PredictionTask(
    id="08-lane",
    section=Section("8.4", "08_fewer_bits", "On tensor cores"),
    title="Which lane holds it?",
    objective="Find the lane and the register that hold an element of a tensor core's matrices",
    points=2,
    minutes=8,
    questions=(
        Question(
            "lane_of_sum",
            "the lane that holds element [11, 5] of the sums",
            lambda: _owner(11, 5, "c")[0],
            {
                46: "There are 32 lanes. Row 11 is row 3 of the lower half: group has 8 values.",
                17: "Each lane holds two neighbouring columns: t is the column divided by 2.",
                13: "This is 8 * row + column of something. A group is four lanes: lane = 4 * group + t.",
                91: "That is the number of the element in the matrix, 8 * row + column.",
            },
            "Row 11 is row group or row group + 8. Column 5 is 2t or 2t + 1. The lane is 4 * group + t.",
        ),
        Question(
            "register_of_sum",
            "which of c0, c1, c2, c3 it is, as a number",
            lambda: _owner(11, 5, "c")[1],
            {
                0: "c0 is in row group and column 2t. Is 11 below 8, and is 5 even?",
                1: "c1 is in row group, and 11 is no group.",
                2: "c2 is in column 2t, and 5 is odd.",
            },
            "There are four: 0, 1, 2 and 3.",
        ),
        Question(
            "lane_of_b",
            "the lane that holds element [9, 6] of b",
            lambda: _owner(9, 6, "b")[0],
            {
                7: "In b the rows go with t, the columns with group: the other way round than in the sums.",
                28: "Row 9 is row 2t + 9 with t = 0, not row 2t + 1.",
                39: "There are 32 lanes. In b the columns go with group, the rows with t.",
            },
            "Column 6 tells the group. Row 9 is 2t, 2t + 1, 2t + 8 or 2t + 9: which t?",
        ),
        Question(
            "lanes_of_a_row",
            "lanes that hold elements of row 5 of the sums",
            lambda: _lanes_of_row(5),
            {
                8: "The row has 8 elements. How many of them does one lane hold?",
                32: "All lanes of a warp hold something, but not of this row.",
                1: "One lane holds two elements of a row. The row has 8.",
                2: "Each lane holds two of the row. How many lanes does that take for 8?",
            },
            "A row belongs to one group. How many lanes have the same lane // 4?",
        ),
    ),
    hints=(
        "Draw the matrix of sums, 16 x 8. Write group and t beside its rows and above its columns.",
        "lane = 4 * group + t. In the sums a row gives the group (take 8 away where it is 8 or more), and a column divided by 2 "
        "gives t. In b it is the other way round.",
        "Row 11 is 8 + 3; column 5 is 2 * 2 + 1. For b: column 6 is the group itself, and row 9 belongs to t = 0.",
    ),
)

# 08-waves ----------------------------------------------------------------------------------------------------

WAVE_M, WAVE_N, WAVE_TILE, WAVE_THREADS, WAVE_REGISTERS, WAVE_SHARED, MULTIPROCESSORS = (
    3000,
    2500,
    128,
    256,
    80,
    40,
    108,
)


def _launched(m=WAVE_M, n=WAVE_N):
    x, y = blocks(m, n, WAVE_TILE)
    return x * y


def _resident():
    from simt.xray.occupancy import occupancy

    return occupancy("sm_80", WAVE_THREADS, WAVE_REGISTERS, WAVE_SHARED * 1024).blocks_per_sm


def _waves():
    return -(-_launched() // (_resident() * MULTIPROCESSORS))


WAVES = PredictionTask(
    id="08-waves",
    section=Section("8.5", "08_gpu_limits", "Waves"),
    title="How well does a grid fill a GPU?",
    objective="Compute the blocks, residents and waves of a launch, and the share of the GPU that works",
    points=2,
    minutes=8,
    questions=(
        Question(
            "launched",
            f"blocks of a {WAVE_M} x {WAVE_N} product with tiles of {WAVE_TILE} x {WAVE_TILE}",
            _launched,
            {
                23 * 19: "Both numbers of tiles were rounded down: the edges would have no block.",
                458: "The tiles at the edges are blocks, too: round each direction up before you multiply.",
                457: "The tiles at the edges are blocks, too: round each direction up before you multiply.",
                24 + 20: "Tiles along one direction times tiles along the other.",
            },
            "How many tiles lie along 3000 rows, how many along 2500 columns?",
        ),
        Question(
            "resident",
            f"blocks on one multiprocessor, {WAVE_THREADS} threads of {WAVE_REGISTERS} registers and {WAVE_SHARED} KiB each",
            _resident,
            {
                4: "Shared memory has room for four. Do the registers?",
                8: "By the number of threads eight would fit. What else does a block need?",
                2: "The last one fits: divide 65,536 by what one block's threads need.",
                3.2: "There is no part of a block.",
            },
            "Three things run out: threads, registers, shared memory. Compute for each how many blocks it allows.",
        ),
        Question(
            "rounds",
            f"waves on {MULTIPROCESSORS} multiprocessors",
            _waves,
            {
                1: "In one wave run all blocks that fit at once. Are all blocks of the launch among them?",
                5: "That is with one block on each multiprocessor at a time.",
                3: "That is with two blocks on each multiprocessor. How many fit?",
            },
            "How many blocks run at once on the whole GPU? How often must it be filled?",
        ),
        Question(
            "share",
            "the share of the places that are used in all waves together, as a number from 0 to 1",
            lambda: round(_launched() / (_waves() * _resident() * MULTIPROCESSORS), 3),
            {
                0.48: "That is the last wave alone. Take all waves together.",
                0.675: "That is the inverse of the number of waves before it was rounded up.",
                1.48: "That is the number of waves before it is rounded up. Divide it by what it is rounded up to.",
            },
            "Blocks that are launched, divided by the places of all waves.",
            tolerance=0.01,
        ),
    ),
    hints=(
        "Tiles first: the rows and the columns are each rounded up. Then ask of one multiprocessor: what is used up first?",
        "Registers: 65,536, and a block needs 256 times 80. Shared memory: 164 KiB, and a block needs 40 and 1 more. Threads: 2048. "
        "The smallest of the three numbers counts.",
        "At once run 108 times as many as fit on one. Divide the number of blocks by that and round up: waves. The share is the "
        "same quotient before and after rounding, one divided by the other.",
    ),
)

# 08-order, the second part of 08-waves --------------------------------------------------------------------------

SIDE, AT_ONCE, STRIP_K = 32, 64, 4096  # tiles along a side of out; blocks that run at once; the length k


def strips(rows):
    """Strips of a and of b that the first AT_ONCE blocks need, if blocks go down through groups of `rows` rows of tiles."""
    tiles = [(t % rows, t // rows) for t in range(AT_ONCE)]
    return len({row for row, _ in tiles}) + len({column for _, column in tiles})


def strips_by_rows():
    """The same, if blocks go through the rows of tiles one after the other."""
    tiles = [divmod(t, SIDE) for t in range(AT_ONCE)]
    return len({row for row, _ in tiles}) + len({column for _, column in tiles})


BEST_ROWS = min((2, 4, 8, 16, 32), key=strips)

ORDER = PredictionTask(
    id="08-order",
    section=Section("8.5", "08_gpu_limits", "The order of tiles"),
    title="In which order should the blocks go?",
    objective="Count what the blocks that run at once need together, and choose the order in which they share most of it",
    after="08-waves",
    points=1,
    minutes=5,
    questions=(
        Question(
            "by_rows",
            f"strips of a and b that the first {AT_ONCE} of {SIDE} x {SIDE} blocks need, row by row",
            strips_by_rows,
            {
                AT_ONCE: "Blocks share: all in a row of tiles need one strip of a, all in a column one of b. Count each once.",
                2 * AT_ONCE: "That is two for each block. But all in one row of tiles need the same strip of a.",
                SIDE: "These are the strips of b. Blocks need strips of a, too.",
                2: "These are the strips of a. Blocks need strips of b, too.",
            },
            "How many rows of tiles do the blocks fill, and how many columns? A row is a strip of a, a column one of b.",
        ),
        Question(
            "in_groups",
            f"strips that the first {AT_ONCE} need in groups of 4 rows",
            lambda: strips(4),
            {
                4: "These are the strips of a. How many columns of tiles do 64 blocks reach, 4 in each?",
                AT_ONCE // 4: "These are the strips of b. The strips of a are needed, too.",
                4 * (AT_ONCE // 4): "That is the number of blocks. Add rows and columns, do not multiply them.",
            },
            "The blocks cover 4 rows of tiles. How many columns?",
        ),
        Question(
            "rows",
            "rows in a group, 2, 4, 8, 16 or 32, with which they need fewest strips",
            lambda: BEST_ROWS,
            {
                SIDE: "That is column by column, which needs as many as row by row.",
                2: "Two rows and 32 columns: that is row by row.",
                4: "With more rows they reach fewer columns. Is the sum smaller still?",
                16: "16 rows and 4 columns need as many as 4 rows and 16 columns.",
            },
            "Rows times columns is 64. When is their sum least?",
        ),
        Question(
            "mib",
            f"MiB that the fewest strips have, for k = {STRIP_K}",
            lambda: strips(BEST_ROWS) * WAVE_TILE * STRIP_K * 4 // 2**20,
            {
                strips(BEST_ROWS): "That is the number of strips. How many MiB has one?",
                strips(BEST_ROWS)
                * WAVE_TILE
                * STRIP_K
                // 2**20: "These are millions of numbers (2**20 of them). One has 4 bytes.",
                strips_by_rows() * WAVE_TILE * STRIP_K * 4 // 2**20: "That is row by row.",
            },
            "A strip has 128 rows, or columns, of k numbers of 4 bytes.",
        ),
    ),
    hints=(
        "Draw the 32 x 32 tiles, and fill in the first 64 blocks in each of the orders. Which rows and which columns do they touch?",
        "A strip of a belongs to a row of tiles, a strip of b to a column: count the rows and the columns, each once, and add.",
        "Row by row, 64 blocks fill whole rows of 32. In groups of r rows they reach 64 / r columns: the sum is r + 64 / r. A strip "
        "is 128 x 4096 numbers of 4 bytes.",
    ),
)

# 08-listing --------------------------------------------------------------------------------------------------
# What a compiler made of four loops for sm_80 (tests/coursework/test_08_tasks.py compiles them again).


@cuda.jit
def by_kind(x, kind, out):
    sums = cuda.local.array(64, np.float32)
    for q in range(64):
        sums[q] = 0
    for p in range(np.uint32(x.size)):
        sums[np.uint32(kind[p])] += x[p]
    total = np.float32(1)
    for q in range(64):
        total *= sums[np.uint32(q)]
    out[cuda.grid(1)] = total


@cuda.jit
def by_two_kinds(x, kind, out):
    zero, other = np.float32(0), np.float32(0)
    for p in range(np.uint32(x.size)):
        if kind[p] == 0:
            zero += x[p]
        else:
            other += x[p]
    out[cuda.grid(1)] = zero * other


LISTINGS = {
    "A": """
LDG.E R7, [R6.64]
LDG.E R4, [R4.64]
FADD R9, R4, R7
STG.E [R2.64], R9
""",
    "B": """
LDG.E.128 R8, [R8.64]
LDG.E.128 R12, [R12.64]
FADD R9, R9, R13
FADD R8, R8, R12
FADD R11, R11, R15
FADD R10, R10, R14
STG.E.128 [R12.64], R8
""",
    "C": """
LDG.E R2, [R2.64]
LDG.E R4, [R4.64]
LDL R7, [R0]
FADD R7, R4, R7
STL [R0], R7
""",
    "D": """
LDG.E R6, [R6.64]
LDG.E R8, [R8.64]
ISETP.NE.AND P2, PT, R6, RZ, PT
@!P2 FADD R17, R8, R17
@P2 FADD R16, R8, R16
""",
}


def _listing_with(word):
    (name,) = (name for name, text in LISTINGS.items() if word in text)
    return name


def _loads_for(name, elements):
    """Load instructions of one warp from global memory until it has added so many elements."""
    text = LISTINGS[name]
    return text.count("LDG") * elements // (32 * text.count("FADD"))


LISTING = PredictionTask(
    id="08-listing",
    section=Section("8.5", "08_gpu_limits", "Registers are the price"),
    title="Read what a compiler made",
    objective="Find wide loads, local memory and the number of instructions in machine code",
    points=1,
    minutes=6,
    questions=(
        Question(
            "wide",
            "the listing whose loads bring 16 bytes for each thread",
            lambda: _listing_with(".128"),
            {
                "A": "LDG.E without a number loads one word of 4 bytes.",
                "C": "Two loads from global memory and one from local memory, of 4 bytes each.",
                "D": "Two loads of 4 bytes. How is a load of 128 bits written?",
            },
            'Answer with "A", "B", "C" or "D". The size of an access stands behind LDG.E, in bits.',
        ),
        Question(
            "local",
            "the listing whose sums do not stay in registers",
            lambda: _listing_with("LDL"),
            {
                "D": "R16 and R17 are sums in registers; P2 decides which of the two is added to.",
                "A": "The sum R9 goes to global memory, where it belongs: it is the result.",
                "B": "Its four sums go to global memory, where they belong: they are the result.",
            },
            'Answer with "A", "B", "C" or "D". LDL and STL are accesses to local memory.',
        ),
        Question(
            "a_loads",
            "load instructions that one warp of A needs to add 4096 pairs",
            lambda: _loads_for("A", 4096),
            {
                128: "Each pair takes two loads: one of each operand.",
                4096: "An instruction is given for the 32 lanes of a warp at once.",
                8192: "An instruction is given for the 32 lanes of a warp at once.",
            },
            "How many pairs does one pass through listing A add, in a warp?",
        ),
        Question(
            "b_loads",
            "load instructions that one warp of B needs for as many",
            lambda: _loads_for("B", 4096),
            {
                32: "Each four pairs take two loads: one of each operand.",
                256: "As many as A? One pass through B has four additions.",
                16: "128 is a number of bits: 16 bytes, four numbers of 4 bytes.",
            },
            "How many pairs does one pass through listing B add, in a warp?",
        ),
    ),
    hints=(
        "LDG loads from global memory, STG stores there; LDL and STL do the same with local memory, LDS and STS with shared "
        "memory. R8 is a register, and with .128 it stands for four: R8 to R11.",
        "A listing is one round of a loop, for one warp. Count its additions: how many elements has a warp added after one round?",
        "A adds 32 pairs in a round with two loads, B four times as many with two loads. And which listing loads what it "
        "stored in the round before?",
    ),
)

# 08-network --------------------------------------------------------------------------------------------------


def network_arguments(n):
    """make(rng) -> x (n, 63) of pictures on which the network is sure, and its trained weights w1, b1, w2, b2."""

    def make(rng):
        x, _ = network.pictures(rng, 4 * n + 20)
        p = np.sort(network.probabilities(x, *network.weights()), axis=1)
        return (x[p[:, -1] - p[:, -2] > 0.05][:n], *network.weights())

    return make


_SLIPS = (
    (lambda x, w1, b1, w2, b2: (x, w1, 0 * b1, w2, b2), "the bias of the hidden layer is missing"),
    (lambda x, w1, b1, w2, b2: (x, w1, b1, w2, 0 * b2), "the bias of the last layer is missing"),
    (lambda x, w1, b1, w2, b2: (x, w1, 0 * b1, w2, 0 * b2), "both biases are missing"),
    (
        lambda x, w1, b1, w2, b2: (x, w1, 2 * b1, w2, b2),
        "the bias of the hidden layer is added twice: bias_silu adds it, too",
    ),
    (lambda x, w1, b1, w2, b2: (x[:1].repeat(len(x), 0), w1, b1, w2, b2), "every row got the answer of the first"),
    (lambda x, w1, b1, w2, b2: (x[::-1], w1, b1, w2, b2), "the rows come in the opposite order"),
)


def judge_network(arguments, result):
    """Right if the label of every picture is that of the network in NumPy and float64."""
    x, w1, b1, w2, b2 = arguments
    expected = f"{len(x)} whole numbers from 0 to 9, one for each row of x"
    if not isinstance(result, list | tuple | np.ndarray):
        return Slip("type", expected, "Return the labels as an array or a list.")
    try:
        labels = np.asarray(result)
    except ValueError:
        return Slip("type", expected, "Return one number for each row.")
    if labels.shape == (len(x), network.DIGITS):
        return Slip("probabilities", expected, "These are numbers for every class. Which is the largest in each row?",
                    f"an array of shape {labels.shape}")  # fmt: skip
    if labels.shape != (len(x),) or labels.dtype.kind not in "iu":
        return Slip(
            "type", expected, "Return one whole number for each row.", f"{labels.dtype} of shape {labels.shape}"
        )
    truth = network.forward(*arguments)
    wrong = np.flatnonzero(labels != truth)
    if not wrong.size:
        return None
    cause = next((f"This is what comes out when {words}." for other, words in _SLIPS
                  if np.array_equal(labels, network.forward(*other(*arguments)))), "")  # fmt: skip
    straight = [((x.astype(np.float64) @ w1 + p * b1) @ w2 + q * b2).argmax(axis=1) for p in (0, 1) for q in (0, 1)]
    if not cause and any(np.array_equal(labels, other) for other in straight):
        cause = "This is what comes out without SiLU: two matmuls in a row are no more than one. Which array does the second one get?"
    if not cause and not labels.any():
        cause = "Every label is 0. Does anything write into the labels, row by row?"
    if not cause and ((labels < 0) | (labels >= network.DIGITS)).any():
        cause = (
            f"A digit is 0 to {network.DIGITS - 1}. `largest` says where the largest number of the array lies that it was given: did it get "
            "one row of the probabilities, or all of them?"
        )
    cause = cause or "Follow one picture: which shape has what you hold after each step, and which kernel wrote it?"
    return Slip("labels", f"{truth[wrong[0]]} for row {wrong[0]}", cause,
                f"{labels[wrong[0]]}; {wrong.size} of {len(x)} rows are wrong")  # fmt: skip


NETWORK = FunctionTask(
    id="08-network",
    section=Section("7.2", "07_fusion", "The first neural layer"),
    title="A network on your own kernels",
    objective="Compose matmul, bias, activation and softmax into a network that reads digits",
    points=2,
    minutes=8,
    judge=judge_network,
    cases=(
        Case("one picture", network_arguments(1)),
        Case("64 pictures", network_arguments(64)),
        Case("33 pictures: no multiple of anything", network_arguments(33)),
    ),
    advice={
        "raised-ValueError": "Do the shapes fit, for any number of rows? A kernel writes into an array that you have made for it.",
        "raised-TypeError": "A kernel returns nothing, None: it writes into its last argument. That must be an array, or a part of one "
        "as `labels[i : i + 1]`, not a number.",
        "raised-NameError": "A name is used that is not defined there. The kernels are called `mine.matmul` and so on.",
    },
    hints=(
        "Which shape has x, which has w1? So which shape must the array have that the first matmul writes into?",
        "Each kernel writes into its last argument: make that array first, as np.empty of float32. The order is matmul, bias_silu, "
        "matmul, scale_shift, softmax_rows, largest.",
        "An array in between has the rows of what goes into a kernel and the columns of its weights. scale_shift wants "
        "four axes: reshape both arrays to (n, 1, 1, 10), with a scale of ones. largest takes one row, as float64.",
    ),
)

TASKS = (
    COUNT,
    IKJ,
    NAIVE,
    TILED,
    BOTH,
    BUG,
    HASTY,
    VERDICTS,
    FAILS,
    REGISTER,
    FOUR,
    THIN,
    STRIDES,
    INT8,
    LANE,
    WAVES,
    ORDER,
    LISTING,
    NETWORK,
)
