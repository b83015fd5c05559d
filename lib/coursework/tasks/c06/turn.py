"""06-turn: A picture on its side."""

import numpy as np

from ...definition import Budget, Case, Section, random_values, unwritten
from ...kinds.arrays import Suspect
from ...kinds.kernel import KernelTask
from .shared import NOTHING, TOLD_FIRST, over

TILE = 32


def turn_case(name, rows, columns):
    """picture (rows, columns), out (columns, rows), in blocks of 32 x 32 threads that cover the picture."""
    x, y = -(-columns // TILE), -(-rows // TILE)
    where = "1 block" if x * y == 1 else f"{x} x {y} blocks"
    return Case(
        f"{name}: {rows} x {columns} in {where}",
        lambda rng: (random_values(rng, rows, columns), unwritten(columns, rows)),
        (x, y),
        (TILE, TILE),
    )


def _stores(index, case):
    """(block, thread) that stores an element of the turned picture out of the tile."""
    (column, flipped_row), rows = index, case.make(np.random.default_rng(0))[0].shape[0]
    row = rows - 1 - flipped_row
    return (column // TILE, row // TILE), (row % TILE, column % TILE)


TURN = KernelTask(
    id="06-turn",
    section=Section("6.2", "06_banks", "Rung 3: a padded tile"),
    title="A picture on its side",
    objective="Write a kernel that loads and stores in whole sectors though rows become columns, and meets in no bank",
    points=2,
    minutes=24,
    spec=lambda picture, out: np.rot90(picture, -1),
    tell_first=TOLD_FIRST,
    cases=(
        turn_case("one block, exact", 32, 32),
        turn_case("exact", 64, 32),
        turn_case("ragged", 40, 21),
        turn_case("ragged, one row", 1, 45),
    ),
    writer=_stores,
    suspects=(
        Suspect(
            lambda picture, out: picture.T,
            "This is the transpose: rows became columns, but from left to right. The first row of the picture becomes "
            "the last column.",
        ),
        Suspect(
            lambda picture, out: np.rot90(picture),
            "It was turned to the left. To the right, the first row of the picture becomes the last column.",
        ),
        Suspect(
            lambda picture, out: picture[::-1, ::-1].T,
            "It was transposed the other way round: rows and columns are both counted from the end. Only the rows are.",
        ),
        Suspect(
            lambda picture, out: picture if picture.shape == out.shape else NOTHING,
            "This is the picture itself: nothing was turned.",
        ),
        Suspect(
            lambda picture, out: picture[:, ::-1] if picture.shape == out.shape else NOTHING,
            "The picture was mirrored, not turned: its rows are still rows. The tile is crossed once: stored along its "
            "rows and read down its columns, or the other way round.",
        ),
    ),
    advice={
        "race": (
            "A thread reads an element of the tile that another one stores, and nothing makes the threads of all warps "
            "wait: cuda.syncthreads() does; cuda.syncwarp() waits for the 32 threads of one warp. Where must all "
            "threads of the block have come, before any of them reads?"
        ),
        "divergent-barrier": (
            "Some threads of the block wait where others never come. A thread that has nothing to load comes to the "
            "barrier all the same: it may have something to store."
        ),
        "barrier-after-exit": (
            "Some threads had ended when the others waited. Did they return early, or is the barrier in an `if` that "
            "they skip? A thread that has nothing to load comes to the barrier all the same: it may have something to "
            "store."
        ),
        "uninitialised-shared": (
            "An element of the tile is read that nobody stored. At the edge the tile is not full, and it is read "
            "crosswise: the thread that stores has another row and another column than the one it loaded, so it needs "
            "a guard of its own."
        ),
        "out-of-bounds": (
            "An index left its array. At the edge the tile is not full. The thread that loads asks for row top + y and "
            "column left + x; the thread that stores takes another element, and asks for that one. And out has as many "
            "rows as the picture has columns."
        ),
        "none-beyond": (
            "The blocks end where the picture ends here, so no guard is missing. out has as many rows as the picture "
            "has columns: is one used as the other? And counted from 0, the last column is one less than their number."
        ),
        "negative-index": (
            "An index fell below 0. Row r of the picture becomes column rows - 1 - r, if there is such a row. The "
            "thread that stores takes another element out of the tile than it put in: does its guard ask for that one?"
        ),
        "some-unwritten": (
            "Some elements were never stored. Is the number of the block in their place, and are rows and columns of "
            "blocks exchanged as those of threads are? And the guard of the store asks for the element that this "
            "thread takes out of the tile, not for the one that it put in."
        ),
        "gaps-in-one-block": (
            "Some elements were never stored. The guard of the store asks for the element that this thread takes out "
            "of the tile, not for the one that it put in."
        ),
        "wrong-value": (
            "Take the second block of a picture of 64 x 32, block (0, 1): its tile begins at row 32 of the picture. In "
            "which columns of out does it belong?"
        ),
    },
    budget=Budget(
        points=2,
        text="at most 4 sectors for each request, one load and one store for each element, one barrier, and no bank "
        "conflict",
        require={
            "sectors_per_request": 4,
            "global_load_requests": 128,
            "global_store_requests": 128,
            "barriers": 1,
            "bank_ways": 1,
        },
        over="The picture is right, but it costs more than one load and one store for each element, with one barrier "
        "between them.",
        causes=(
            (
                lambda rows: any(o.name == "sectors_per_request" and o.kind == "store" for o in rows),
                "The picture is right, but neighbouring lanes store into different rows of out. x is what differs from "
                "lane to lane: in the store it must count along a row of out, whatever it counted in the load. The "
                "tile has all 1024 elements.",
            ),
            (
                over("sectors_per_request"),
                "The picture is right, but neighbouring lanes load from different rows of the picture. x is what "
                "differs from lane to lane: in the load it must count along a row.",
            ),
            (
                over("bank_ways"),
                "The picture is right, but the lanes of a warp meet in a bank. They go down a column of the tile, and "
                "element [r, c] of a tile whose rows have W words lies in bank (W r + c) % 32. With W = 32 that is one "
                "bank for the whole column. With which W are there 32?",
            ),
        ),
        case=turn_case("exact", 64, 64),
    ),
    hints=(
        "Where does the element at row 0 and column 5 go? And the one at row 7? Which elements of the picture become "
        "one row of out?",
        "Load along a row, store along a row: in between the tile is crossed. A thread takes another element out of "
        "the tile than it put in: row x of it, column y. Which element of the picture was that?",
        "The store's thread has the picture's row top + x and column left + y, with a guard for each. That column is "
        "the row of out; the column of out is counted from the end, as the statement says. Down a column of the tile "
        "every lane should meet another bank: let its rows be one word longer.",
    ),
)
