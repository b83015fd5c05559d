"""Answers to 15-model."""

from answers import MASTER, edit, replace


def in_a_loop(m, n, k, tiles, capacity):
    """right"""
    there = []
    for number, (rows, columns, depth) in enumerate(tiles):
        if 4 * depth * (rows + columns) > capacity:
            continue
        blocks = ((m + rows - 1) // rows) * ((n + columns - 1) // columns)
        by_rows = m * k * ((n + columns - 1) // columns) + k * n * ((m + rows - 1) // rows)
        there.append((4 * by_rows + 4 * m * n + 0 * blocks, number))
    return [number for _, number in sorted(there)]


all_of_them = edit(MASTER, "wrong order: that do not fit shared memory", replace("<= capacity", "<= capacity + 1e9"))
elements = edit(MASTER, "wrong order: a float32 has 4 bytes", replace("4 * depth * (rows", "depth * (rows"))
of_the_result = edit(
    MASTER,
    "wrong order: the tile of the result is in registers",
    replace("4 * depth * (rows + columns)", "4 * rows * columns"),
)
turned = edit(
    MASTER,
    "wrong order: for each tile side by side",
    replace("m * k * across + k * n * down", "m * k * down + k * n * across"),
)
no_whole_tiles = edit(
    MASTER, "wrong order: a whole number", replace("-(-n // columns), -(-m // rows)", "n / columns, m / rows")
)
from_the_most = edit(MASTER, "wrong order: from the most bytes", replace("return 4 * (m", "return -4 * (m"))
later_ones_first = edit(
    MASTER, "wrong order: in the order of the list", replace("range(len(tiles))", "reversed(range(len(tiles)))")
)
the_largest = edit(
    MASTER,
    "wrong order: The largest tile is not always",
    replace("return 4 * (m * k * across + k * n * down + m * n)", "return -rows * columns"),
)
tiles_themselves = edit(
    MASTER,
    "wrong type: positions in `tiles`",
    replace(
        "return sorted(filter(fits, range(len(tiles))), key=moved)",
        "return [tiles[i] for i in filter(fits, range(len(tiles)))]",
    ),
)
the_first_alone = edit(
    MASTER,
    "wrong number: A tile is left out",
    replace(
        "return sorted(filter(fits, range(len(tiles))), key=moved)",
        "return sorted(filter(fits, range(len(tiles))), key=moved)[:1]",
    ),
)
