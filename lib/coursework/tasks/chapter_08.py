"""Tasks of chapter 08, Tiled matmul: from three loops to tiles of tiles, with a budget that shrinks at each step."""

from dataclasses import replace

import numpy as np

from dlkernels import cuda

from .. import network
from ..definition import Budget, Case, Section, Slip, random_values, unwritten
from ..golf import Golf
from ..kinds.arrays import Suspect
from ..kinds.compiled import CompiledTask
from ..kinds.detective import DetectiveTask, Fault
from ..kinds.function import FunctionTask
from ..kinds.kernel import KernelTask
from ..kinds.prediction import PredictionTask, Question

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
    """What every task but the first computes."""
    return product(a, b)


def blocks(m, n, tile=TILE):
    """The grid (x, y) of an m x n result: x counts tiles along a row, y along a column."""
    return -(-n // tile), -(-m // tile)


def case(name, m, k, n, tile=TILE):
    """A case of a kernel whose block computes a tile x tile piece of the result."""
    x, y = blocks(m, n, tile)
    where = "1 block" if x * y == 1 else f"{x} x {y} blocks"
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
)

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


COUNT = PredictionTask(
    id="08-count",
    section=Section("8", "08_matmul", "Count first"),
    title="Count before you write",
    objective="Predict the flops, bytes and load requests of a matmul",
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
    ),
    hints=(
        "Take one element of the result. How many multiplies and adds does its sum take? How many elements are there?",
        "Intensity is flops divided by bytes: write both with n for the three lengths, and most of it cancels. A request "
        "is one load of a whole warp, so follow one thread and count its loads.",
        f"flops = 2 * m * k * n, bytes = 4 * (m * k + k * n + m * n). One thread: 2 loads for each p; with tiles 2 loads "
        f"for each {TILE} values of p.",
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
            "The result is right, but in the loop that does the work the compiler could not fill vectors from "
            "neighbouring elements. Which index changes in your inner loop, and which way does it walk through b and out?"
        ),
        case=CPU_BUDGET_CASE,
    ),
    hints=(
        "A vector is filled from neighbours in memory. Rows lie one after the other: are b[p, j] and b[p + 1, j] "
        "neighbours? Are b[p, j] and b[p, j + 1]?",
        "The last index of b and of out should change in the inner loop, and nothing else should. Then an element of out "
        "collects its sum over many rounds, so it must start at 0.",
        "`out[:] = 0`, then `for i`, inside it `for p in range(a.shape[1])`, inside it `for j`: "
        "`out[i, j] += a[i, p] * b[p, j]`.",
    ),
)

# 08-naive ----------------------------------------------------------------------------------------------------

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
        "not-finite": INITIAL_NAN,
        "nothing-written": INITIAL_NAN,
    },
    budget=Budget(
        points=1,
        text="at most 4 sectors for each load and each store of a warp, and each element of out stored once",
        require={"sectors_per_request": 4, "global_store_requests": 32 * 64 // 32},
        over=(
            "The result is right, but neighbouring threads of a warp work on different rows, which lie far apart: "
            "threadIdx.x changes fastest within a warp, so let it choose the column. Or an element of out is stored more "
            "than once: add up in a local variable, and store at the end."
        ),
        case=case("exact", 32, 24, 64),
    ),
    hints=(
        "Which element of out belongs to thread (x, y) of block (bx, by)? Which threads have none?",
        "One thread computes one sum in a local variable, and stores it once at the end. The column comes from x, the row "
        "from y, and the guard checks both.",
        "`j, i = cuda.grid(2)`, then `if i < out.shape[0] and j < out.shape[1]:` with `total = np.float32(0)`, a loop "
        "over p with `total += a[i, p] * b[p, j]`, and `out[i, j] = total`.",
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


TILED = KernelTask(
    id="08-tiled",
    section=Section("8.2", "08_matmul_gpu", "Rung 3: a tile in shared memory"),
    title="Tiles in shared memory",
    objective="Write a tiled matmul kernel that loads each element once per tile",
    points=3,
    minutes=20,
    spec=spec,
    atol=1e-5,
    cases=(
        case("one block, one tile", 16, 16, 16),
        case("exact", 32, 32, 16),
        case("ragged", 20, 19, 28),
        case("thin", 5, 9, 37),
    ),
    suspects=SUSPECTS,
    writer=thread_of,
    tell_first=TOLD_FIRST,
    advice=TILE_ADVICE
    | {
        "wrong-value": (
            "One tile alone is right? Then look at how it goes on along k: start is 0, 16, 32 ..., both loads use it, one along the "
            "row of a and one down the column of b, and total begins at 0 once, before the loop."
        )
    },
    budget=Budget(
        points=2,
        text=(
            f"1/{TILE} of the load requests of task 3, at most two barriers for each tile, "
            "no bank conflict, at most 4 sectors per request"
        ),
        require={
            "global_load_requests": tiled_loads(_BUDGET_M, _BUDGET_K, _BUDGET_N),
            "barriers": 2 * (_BUDGET_K // TILE),
            "bank_ways": 1,
            "sectors_per_request": 4,
        },
        over=(
            "The result is right, but it costs more than it must. Every thread loads one element of a and one of b for "
            "each tile, threadIdx.x chooses the column of both tiles, and the sum reads shared memory only. The tiles "
            "need no padding: two rows of 16 fill the 32 banks."
        ),
        case=case("exact", _BUDGET_M, _BUDGET_K, _BUDGET_N),
        golf=Golf(
            count="global_load_requests",
            best=120,
            require={"atomics": 0},
            lead="Which elements of a and b do several blocks load? A block may compute more than 16 x 16 elements.",
        ),
    ),
    hints=(
        f"The {TILE} threads in a row of the block need the same row of a, each its own column of b. If each of them "
        f"loads one element, how many of the {TILE} terms can all of them then add?",
        "For each tile along k: every thread stores one element of a and one of b into shared memory (0 beyond the "
        "edge); barrier; every thread adds TILE terms out of shared memory; barrier. After the last tile, store.",
        "`for start in range(0, a.shape[1], TILE):` with `a_tile[y, x] = a[i, start + x]` and "
        "`b_tile[y, x] = b[start + y, j]`, both guarded with `... if ... else 0`; then "
        "`total += a_tile[y, p] * b_tile[p, x]`. One cuda.syncthreads() before this loop over p, one after it.",
    ),
)

# 08-bug ------------------------------------------------------------------------------------------------------

BUG = KernelTask(
    id="08-bug",
    section=Section("8.2", "08_matmul_gpu", "Rung 3: a tile in shared memory"),
    title="Repair two bugs that most inputs do not show",
    objective="Debug a tiled kernel with the x-ray's findings",
    points=3,
    minutes=15,
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
        "A second cuda.syncthreads() as the last line of the loop over start. And an `else:` for each of the two `if`s: "
        "`a_tile[y, x] = 0`, `b_tile[y, x] = 0`.",
    ),
)

# 08-register -------------------------------------------------------------------------------------------------

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
            "Look at which rows are wrong. Each row of out needs the products of its *own* row of a with all p, each once: is one of "
            "the lines a copy with an index not changed, = in the place of +=, or a step that is not as long as what is unrolled?"
        ),
    },
    budget=Budget(
        points=2,
        text="at most 1.75 memory accesses for each vector multiply (task 2 has 3), each product once, and no array allocated",
        require=VECTORISED | {"accesses_per_multiply": 1.75, "arrays": 0},
        over=(
            "The result is right, but the loop that does the work asks memory too often, is not vectorised any more, or "
            "works on an array of its own. Each round should load and store out[i, j] once for several terms of the sum."
        ),
        case=CPU_BUDGET_CASE,
    ),
    hints=(
        "In task 2 a multiply costs three accesses: b is loaded, out is loaded, out is stored. Which of the three could be "
        "shared by four terms of the same sum?",
        "Take four values of p in one round of the loop over p. Then the inner loop adds four terms to out[i, j] at once: "
        "4 loads of b, one load and one store of out, four multiplies. What is left over after the last multiple of 4 "
        "goes through the loop of task 2.",
        "`for p in range(0, k - k % 4, 4):`, there `x0, x1, x2, x3 = a[i, p], a[i, p + 1], a[i, p + 2], a[i, p + 3]`, "
        "and in the inner loop one line: `out[i, j] += x0 * b[p, j] + x1 * b[p + 1, j] + x2 * ...`. Then a second loop "
        "`for p in range(k - k % 4, k):`.",
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
    points=2,
    minutes=20,
    spec=spec,
    atol=1e-5,
    cases=(
        case("one block, one step", 32, 16, 32, WIDE),
        case("exact", 32, 32, 64, WIDE),
        case("ragged", 37, 19, 50, WIDE),
    ),
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
            "The result is right, but something is loaded more often than it must. In one round of the loop over p a "
            "thread needs two numbers of a and two of b: load each once into a local variable, and use it twice."
        ),
        case=case("exact", _FOUR_M, _FOUR_K, _FOUR_N, WIDE),
    ),
    hints=(
        "In task 4 a thread loads two numbers from shared memory for one multiply-add. With two numbers of a column of a "
        "and two of a row of b, how many products can it make?",
        "Each of the two tiles has two halves, one below the other. Every thread stores one element into each of the four "
        "halves, has four sums, and in each round of the loop over p loads one number from each half.",
        "`top, bottom = a_tile[y, p], a_tile[y + TILE, p]` and `left, right = b_tile[p, x], b_tile[p + TILE, x]`, then "
        "four lines such as `sums[0, 0] += top * left`. Row i is blockIdx.y * 32 + threadIdx.y, the lower one i + 16; "
        "the columns alike.",
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


JUDGE = replace(TILED, id="08-judge", cases=(case("two tiles", 16, 32, 16), case("ragged", 5, 19, 20)), budget=None)

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
    if not cause and np.array_equal(labels, ((x.astype(np.float64) @ w1 + b1) @ w2 + b2).argmax(axis=1)):
        cause = "This is what comes out without SiLU: two matmuls in a row are no more than one."
    cause = cause or "Follow one picture: which shape has what you hold after each step, and which kernel wrote it?"
    return Slip("labels", f"{truth[wrong[0]]} for row {wrong[0]}", cause,
                f"{labels[wrong[0]]}; {wrong.size} of {len(x)} rows are wrong")  # fmt: skip


NETWORK = FunctionTask(
    id="08-network",
    section=Section("7.2", "07_fusion", "The first neural layer"),
    title="A network on your own kernels",
    objective="Compose matmul, bias, activation and softmax into a network that reads digits",
    points=2,
    minutes=10,
    judge=judge_network,
    cases=(
        Case("one picture", network_arguments(1)),
        Case("64 pictures", network_arguments(64)),
        Case("33 pictures: no multiple of anything", network_arguments(33)),
    ),
    advice={"raised-ValueError": "Do the shapes fit? A kernel writes into an array that you have made for it."},
    hints=(
        "Which shape has x, which has w1? So which shape must the array have that the first matmul writes into?",
        "Each kernel writes into its last argument: make that array first, as np.empty of float32. The order is matmul, bias_silu, "
        "matmul, scale_shift, softmax_rows, largest.",
        "`z = np.empty((len(x), w1.shape[1]), np.float32)`, then `mine.matmul(x, w1, z)`, and so on. scale_shift wants four axes: "
        "reshape both arrays to (n, 1, 1, 10), with a scale of ones. largest takes one row, as float64.",
    ),
)

TASKS = (COUNT, IKJ, NAIVE, TILED, BUG, REGISTER, FOUR, VERDICTS, NETWORK)
