"""08-tiled: Tiles in shared memory, from a transpose."""

from ...definition import Budget, Section
from ...golf import Golf
from ...kinds.kernel import KernelTask
from .shared import (
    BUDGET_K,
    BUDGET_M,
    BUDGET_N,
    LOADED_AGAIN,
    TILE,
    TILE_ADVICE,
    TILES_OF_BUDGET,
    TOLD_FIRST,
    TOO_MANY_BARRIERS,
    of_turned,
    over,
    spec,
    thread_of,
    turned_case,
    turned_suspects,
)

TILED = KernelTask(
    id="08-tiled",
    section=Section("8.2", "08_matmul_gpu", "Rung 3: a tile in shared memory"),
    title="Tiles in shared memory, from a transpose",
    objective="Write a tiled matmul kernel that loads each element once per tile, in rows of memory",
    points=4,
    minutes=30,
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
            "Is one tile alone wrong? Then add all 16 terms, with the same number in both tiles. Which element of `at` "
            "does a_tile[r, y] hold, and who stored it? Is it right? Then look at how it goes on along k: start is 0, "
            "16, 32 ..., both loads use it, for the rows of `at` and for those of `b`, and `total` begins at 0 once, "
            "before the loop."
        )
    },
    budget=Budget(
        points=2,
        text=(
            f"1/{TILE} of the load requests of task 3, at most two barriers for each tile, "
            "no bank conflict, at most 4 sectors per request"
        ),
        require=TILES_OF_BUDGET,
        over=(
            "The result is right, but lanes of a warp meet in a bank of shared memory. Two rows of 16 fill the 32 "
            "banks, so a tile that is stored as it was loaded needs no padding. Which index of `a_tile` is `p` then?"
        ),
        causes=(
            (over("global_load_requests"), LOADED_AGAIN),
            (over("barriers"), TOO_MANY_BARRIERS),
            (
                over("sectors_per_request"),
                "The result is right, but a load jumps from row to row, so that each lane needs a sector of its own. "
                "Neighbouring threads (`x`) should take neighbours of a row of `at`, whichever element that is: "
                "another thread may need it.",
            ),
        ),
        case=turned_case("exact", BUDGET_M, BUDGET_K, BUDGET_N),
        golf=Golf(
            count="global_load_requests",
            best=120,
            require={"atomics": 0},
            lead="Which elements of a and b do several blocks load? A block may compute more than 16 x 16 elements.",
        ),
    ),
    hints=(
        f"The tile of a that a block needs is {TILE} x {TILE} elements of at, too. Where in at does it begin, and "
        "along which of its indices do neighbours in memory lie?",
        "The element that a thread loads need not be one that it uses. For each tile along k: every thread loads one "
        "element of at and one of b, both along a row of memory (0 beyond the edge); barrier; TILE terms from shared "
        "memory; barrier.",
        "Of at, thread (x, y) loads row start + y, and of the columns that belong to this block's rows the one "
        "numbered x: it needs blockIdx.y, not its own i. Then a_tile has p as its first index, as b_tile has.",
    ),
)
