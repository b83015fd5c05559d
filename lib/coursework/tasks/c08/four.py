"""08-four: Four elements for each thread."""

from ...definition import Budget, Section
from ...kinds.kernel import KernelTask
from .shared import (
    LOADED_AGAIN,
    SUSPECTS,
    TILE,
    TILE_ADVICE,
    TOLD_FIRST,
    TOO_MANY_BARRIERS,
    WARPS,
    blocks,
    case,
    over,
    spec,
    tiled_loads,
)


def thread_of_four(index, case):
    """The same where the tile of a block is four times as large, and each thread writes one element of each quarter."""
    return (index[1] // (2 * TILE), index[0] // (2 * TILE)), (index[1] % TILE, index[0] % TILE)


def naive_loads(m, k, n):
    """Load requests with one thread for each element: one of a and one of b for each term."""
    x, y = blocks(m, n)
    return x * y * WARPS * 2 * k


WIDE = 2 * TILE
_FOUR_M, _FOUR_K, _FOUR_N = 32, 32, 64

FOUR = KernelTask(
    id="08-four",
    section=Section("8.2", "08_matmul_gpu", "Rung 4: eight elements of a column"),
    title="Four elements for each thread",
    objective="Write a kernel that halves the loads from shared and from global memory with a register tile",
    points=4,
    minutes=30,
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
            "Each thread writes four elements: its own, the one 16 rows below, the one 16 columns to the right, and "
            "the one below and to the right. Which of them is this one, and is it guarded by its own row and column? "
            "From block to block the indices grow by 32."
        ),
        "wrong-value": (
            "The map shows which quarter of a tile is wrong. Which two numbers must its sum multiply: the upper or the "
            "lower one of a, the left or the right one of b? If all quarters are wrong where k is more than 16, do the "
            "sums begin at 0 once, before the loop over the tiles?"
        ),
    },
    budget=Budget(
        points=2,
        text=(
            "half the load requests of task 4, to global and to shared memory, for the same matrices; at most two "
            "barriers for each step; no bank conflict"
        ),
        require={
            "global_load_requests": tiled_loads(_FOUR_M, _FOUR_K, _FOUR_N) // 2,
            "shared_load_requests": naive_loads(_FOUR_M, _FOUR_K, _FOUR_N) // 2,
            "barriers": 2 * (_FOUR_K // TILE),
            "bank_ways": 1,
        },
        over=(
            "The result is right, but shared memory is asked more often than it must be. In one round of the loop over "
            "`p` a thread makes four products. Of how many different numbers, and how many does your round load?"
        ),
        causes=(
            (over("global_load_requests"), LOADED_AGAIN),
            (over("barriers"), TOO_MANY_BARRIERS),
            (
                over("bank_ways"),
                "The result is right, but lanes of a warp meet in a bank. The halves of a tile lie one below the "
                "other: two rows of 16 words fill the 32 banks, and a warp is two rows of the block. Which index grows "
                "with `x`?",
            ),
        ),
        case=case("exact", _FOUR_M, _FOUR_K, _FOUR_N, WIDE),
    ),
    hints=(
        "In task 4 a thread loads two numbers from shared memory for one multiply-add. With two numbers of a column of "
        "a and two of a row of b, how many products can it make?",
        "Each of the two tiles has two halves, one below the other. Every thread stores one element into each of the "
        "four halves, has four sums, and in each round of the loop over p loads one number from each half.",
        "In a round over p take four numbers into variables: of a_tile in rows y and y + TILE, of b_tile in rows p and "
        "p + TILE. Each sum multiplies one of the first two and one of the others. The second row of the result is i + "
        "TILE, the second column j + TILE, each with a guard of its own.",
    ),
)
