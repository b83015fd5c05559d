"""08-both: Both operands as transposes."""

from ...definition import Budget, Section
from ...kinds.kernel import KernelTask
from .shared import (
    BUDGET_K,
    BUDGET_M,
    BUDGET_N,
    LOADED_AGAIN,
    TILE_ADVICE,
    TILES_OF_BUDGET,
    TOLD_FIRST,
    TOO_MANY_BARRIERS,
    both_turned,
    of_turned,
    over,
    spec,
    thread_of,
    turned_case,
    turned_suspects,
)

NO_WIDTH = (
    "The result is right, but lanes of a warp meet in a bank. A tile that is stored along its rows needs rows of W = "
    "16 words (or 48, 80 ...), so that two of them fill the 32 banks. If the same tile is then read down a column, no "
    "W serves both: with these the 16 words of a column lie in two banks, and with any other the two rows of the store "
    "meet. Cross it in the store instead, down a column: a load along a row is free with any W."
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
    minutes=18,
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
            "Look at the load of `bt`. Its first index counts columns of the result: it begins at those of this block, "
            "and must stay below n. Its second one goes along k, from start on, and must stay below k. Is it another "
            "number than the index for at?"
        )
    },
    budget=Budget(
        points=2,
        text="the same as in task 4, for the same lengths: loads, barriers, sectors, and no bank conflict",
        require=TILES_OF_BUDGET,
        over=(
            "The result is right, but lanes of a warp meet in a bank. Element `[r, c]` of a tile with rows of W words "
            "lies in bank (r W + c) mod 32. The 32 lanes of a warp have 16 values of `x` and two of `y`. Write down "
            "their banks for the store of the crossed tile, and choose W so that none comes twice."
        ),
        causes=(
            (over("global_load_requests"), LOADED_AGAIN),
            (over("barriers"), TOO_MANY_BARRIERS),
            (
                over("sectors_per_request"),
                "The result is right, but a load jumps from row to row, so that each lane needs a sector of its own. "
                "Neighbours of `bt` lie along k: which index of `bt` should grow with `x`? The tile is crossed "
                "afterwards, in shared memory.",
            ),
            (_crossed_in_the_load, NO_WIDTH),
            (
                _odd_and_crossed_in_the_store,
                "The result is right, but two lanes of a warp meet in a bank. An odd W is for 32 lanes down one "
                "column. Here 16 lanes go down one column and 16 down the column beside it, and with an odd W an "
                "element of the one lies in a bank of the other. Which W keep the two columns apart, and the 16 "
                "elements of each?",
            ),
        ),
        case=turned_case("exact", BUDGET_M, BUDGET_K, BUDGET_N, both_turned),
    ),
    hints=(
        "Of bt, the neighbours in memory lie along k. Which element should thread (x, y) load, so that a warp loads "
        "two pieces of rows? And which elements does it use afterwards?",
        "Somewhere a tile must be crossed: stored along a column, or read along one. Then 16 lanes are W words apart, "
        "W being the length of a row of the tile. Which W put 16 such words, and the 16 of the other y, into 32 "
        "different banks?",
        "Rows may be longer than 16: the rest stays unused. An odd W is the usual advice, and fits 32 lanes on one "
        "column. Here 16 lanes are on a column and two are side by side: each step of x should pass over an even "
        "number of banks.",
    ),
)
