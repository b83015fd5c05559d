"""What several tasks of chapter 08 use: products, what may go wrong with their tiles, and what tiles may cost."""

import numpy as np

from ...definition import Case, random_values, unwritten
from ...kinds.arrays import Suspect

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
    "The result is right, but in the loop that does the work the compiler could not fill vectors from neighbouring "
    "elements. Which index changes fastest, in your inner loop or along your slices, and which way does it walk "
    "through `b` and `out`?"
)

NO_BARRIER = (
    "A barrier is missing between the two accesses. One belongs after the tiles are filled, before anyone reads them; "
    "a second one after all have read them, before the next tiles overwrite them."
)
UNEVEN = (
    "All threads of a block must reach every barrier, those without an element too: they load for the others. Keep "
    "cuda.syncthreads() out of every `if`, and do not return early; guard the loads and the store instead."
)

# A race explains a wrong sum better than the sum does.
TOLD_FIRST = (
    "race",
    "divergent-barrier",
    "divergent-warp-operation",
    "barrier-after-exit",
    "uninitialised-shared",
    "uninitialised-local",
)
TILE_ADVICE = {
    "none-beyond": (
        "The tiles end where the matrices end here, so no guard is missing. x counts columns, y counts rows, and "
        "`cuda.grid(2)` gives x first: is one of them used as the other? Along k a tile begins at `start`. Is it a "
        "tile that is left? Compare with its shape."
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
        "inside, and put 0 into the tile elsewhere; guard the store, too. Is it a tile that is left? Compare with its "
        "shape."
    ),
    "uninitialised-local": (
        "A local array belongs to one thread and holds anything at first: set sums to 0. What the threads of a block "
        "load for each other must lie in cuda.shared.array."
    ),
    "some-unwritten": "Which block should have written this element? Compare its number with the one your index uses.",
}

BUDGET_M, BUDGET_K, BUDGET_N = 32, 48, 48


def tiled_loads(m, k, n):
    """Load requests of all warps with TILE x TILE tiles: one of a and one of b for each tile step."""
    x, y = blocks(m, n)
    return x * y * WARPS * 2 * -(-k // TILE)


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
        ].cause: "Here at was used as if it were a. Row p of at is column p of a. Compare the two indices of the load, "
        "and those with which its tile is stored and then read.",
        SUSPECTS[2].cause: "The indices of b are exchanged."
        if not b_too
        else "Here bt was used as if it were b. Compare the two indices of the load, and those with which its tile is "
        "stored and then read: it must be crossed once.",
    }
    return tuple(
        Suspect(of_turned(suspect.formula, b_too), told.get(suspect.cause, suspect.cause)) for suspect in SUSPECTS
    )


LOADED_AGAIN = (
    "The result is right, but elements are loaded from global memory again. Each is loaded once for its tile, and all "
    "16 threads that need it read it from shared memory."
)
TOO_MANY_BARRIERS = (
    "The result is right, but the block waits more often than it must. In each round two barriers are enough: when are "
    "the tiles full, and when have all read them?"
)

TILES_OF_BUDGET = {
    "global_load_requests": tiled_loads(BUDGET_M, BUDGET_K, BUDGET_N),
    "barriers": 2 * (BUDGET_K // TILE),
    "bank_ways": 1,
    "sectors_per_request": 4,
}

WAVE_M, WAVE_N, WAVE_TILE, WAVE_THREADS, WAVE_REGISTERS, WAVE_SHARED, MULTIPROCESSORS = (
    3000,
    2500,
    128,
    256,
    80,
    40,
    108,
)
