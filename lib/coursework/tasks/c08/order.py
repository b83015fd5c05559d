"""08-order, the second part of 08-waves: In which order should the blocks go?"""

from ...definition import Section
from ...kinds.prediction import PredictionTask, Question
from .shared import WAVE_TILE

SIDE, AT_ONCE, STRIP_K = 32, 64, 4096  # tiles along a side of out; blocks that run at once; the length k


def strips(rows):
    """Strips of a and of b that the first AT_ONCE blocks need, if blocks go down through groups of `rows` rows of
    tiles."""
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
    objective="Count what the blocks that run at once need together, and choose the order in which they share most of "
    "it",
    after="08-waves",
    points=1,
    minutes=5,
    questions=(
        Question(
            "by_rows",
            f"strips of a and b that the first {AT_ONCE} of {SIDE} x {SIDE} blocks need, row by row",
            strips_by_rows,
            {
                AT_ONCE: "Blocks share: all in a row of tiles need one strip of a, all in a column one of b. Count "
                "each once.",
                2 * AT_ONCE: "That is two for each block. But all in one row of tiles need the same strip of a.",
                SIDE: "These are the strips of b. Blocks need strips of a, too.",
                2: "These are the strips of a. Blocks need strips of b, too.",
            },
            "How many rows of tiles do the blocks fill, and how many columns? A row is a strip of a, a column one of "
            "b.",
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
        "Draw the 32 x 32 tiles, and fill in the first 64 blocks in each of the orders. Which rows and which columns "
        "do they touch?",
        "A strip of a belongs to a row of tiles, a strip of b to a column: count the rows and the columns, each once, "
        "and add.",
        "Row by row, 64 blocks fill whole rows of 32. In groups of r rows they reach 64 / r columns: the sum is r + 64 "
        "/ r. A strip is 128 x 4096 numbers of 4 bytes.",
    ),
)
