"""15-model: Rank tiles by the bytes they move."""

import numpy as np

from ...definition import Case, Section, Slip
from ...kinds.function import FunctionTask


def tile_bytes(m, n, k, tile, across="columns", full_tiles=True, stored=True):
    """Bytes between memory and the blocks of a tiled product of (m, k) and (k, n), float32."""
    rows, columns, _ = tile
    count = {
        True: lambda size, edge: -(-size // edge),
        False: lambda size, edge: size / edge,
        "down": int.__floordiv__,
    }[full_tiles]
    down, right = count(m, rows), count(n, columns)
    if across == "rows":  # the wrong way round
        down, right = right, down
    return 4 * (m * k * right + k * n * down + (m * n if stored else 0))


def shared_bytes(tile):
    rows, columns, depth = tile
    return 4 * depth * (rows + columns)


def ranked(m, n, k, tiles, capacity, fits=shared_bytes, cost=tile_bytes, last=1):
    """Numbers of the tiles that fit, the fewest bytes first; equal ones in the order of the list."""
    there = [i for i, tile in enumerate(tiles) if fits(tile) <= capacity]
    return sorted(there, key=lambda i: (cost(m, n, k, tiles[i]), last * i))


_SLIPS = (
    ({"fits": lambda tile: 0}, "Tiles that do not fit shared memory are among them."),
    (
        {"fits": lambda tile: shared_bytes(tile) / 4},
        "Elements were compared with a capacity in bytes: a float32 has 4 bytes.",
    ),
    ({"fits": lambda tile: shared_bytes(tile) + 1}, "A tile that takes exactly `capacity` bytes fits."),
    (
        {"fits": lambda tile: 4 * tile[0] * tile[1]},
        "In shared memory stand a tile of a, rows x depth, and one of b, depth x columns; the tile of the result is in "
        "registers.",
    ),
    (
        {"cost": lambda *a: tile_bytes(*a, across="rows")},
        "a is loaded once for each tile side by side, and b once for each tile one below the other.",
    ),
    (
        {"cost": lambda *a: tile_bytes(*a, full_tiles=False)},
        "The number of tiles is a whole number: one that reaches over the edge loads as a full one does.",
    ),
    (
        {"cost": lambda *a: tile_bytes(*a, full_tiles="down")},
        "The number of tiles is rounded up: a piece at the edge is a tile, too.",
    ),
    (
        {"cost": lambda m, n, k, tile: k * (tile[0] + tile[1]) + tile[0] * tile[1]},
        "That is what one block moves. Count what all blocks together move.",
    ),
    ({"cost": lambda *a: -tile_bytes(*a)}, "The order is from the most bytes to the fewest."),
    ({"last": -1}, "Tiles with equal bytes stand in the order of the list."),
    (
        {"cost": lambda m, n, k, tile: -tile[0] * tile[1]},
        "The largest tile is not always the one with the fewest bytes: count what is loaded.",
    ),
    (
        {"cost": lambda m, n, k, tile: shared_bytes(tile)},
        "That is what a tile takes in shared memory. Count what all blocks together load.",
    ),
)


def judge_model(arguments, result):
    right = ranked(*arguments)
    expected = f"{len(right)} numbers of tiles: {right[:6]}" + (" ..." if len(right) > 6 else "")
    if not isinstance(result, list | tuple) or not all(
        isinstance(i, int | np.integer) and not isinstance(i, bool) for i in result
    ):
        return Slip("type", expected, "Return a list of whole numbers: positions in `tiles`.")
    result = [int(i) for i in result]
    if result == right:
        return None
    if len(set(result)) < len(result) or any(not 0 <= i < len(arguments[3]) for i in result):
        return Slip("number", expected, "A tile stands in the list once, and its number is its position in `tiles`.")
    for mistake, cause in _SLIPS:
        if result == ranked(*arguments, **mistake):
            return Slip("order", expected, cause)
    there = sorted(right)
    if sorted(result) == list(range(len(right))) and [there[i] for i in result] == right:
        return Slip(
            "number", expected, "These are positions among the tiles that fit. Positions in `tiles` are asked for."
        )
    if set(result) != set(right):
        return Slip("number", expected, "A tile is left out, or one too many is there: which of them fit?")
    return Slip("order", expected, "Work out the bytes of the first two tiles by hand: which comes first?")


def model_case(name, m, n, k, tiles, capacity):
    return Case(f"{name}: ({m} x {k}) @ ({k} x {n})", lambda rng: (m, n, k, [list(tile) for tile in tiles], capacity))


EDGES = (8, 16, 32, 64, 128)
SQUARE = tuple((rows, columns, 8) for rows in EDGES for columns in EDGES)
DEEP = tuple((rows, columns, depth) for depth in (64, 8, 16) for rows in (128, 32, 48) for columns in (32, 96, 128))

MODEL = FunctionTask(
    id="15-model",
    section=Section("15.2", "15_tuning", "A model that prunes"),
    title="Rank tiles by the bytes they move",
    objective="Write a cost model: order candidates by counted bytes, without running one",
    points=3,
    minutes=18,
    judge=judge_model,
    cases=(
        model_case("no tile", 64, 64, 64, (), 1 << 10),
        model_case("two tiles", 256, 64, 32, ((64, 16, 8), (16, 64, 8)), 1 << 14),
        model_case("square", 512, 512, 256, SQUARE, 1 << 14),
        model_case("ragged", 100, 70, 33, SQUARE[::-1], 1536),
        model_case("fewer rows than a tile", 8, 4096, 100, SQUARE, 20_000),
        model_case("some too deep", 1000, 130, 64, DEEP, 12_000),
    ),
    advice={
        "raised-ZeroDivisionError": "A tile has no zero among its numbers; the list of tiles may be empty.",
        "raised-IndexError": "`tiles` may be empty. The answer is then an empty list.",
    },
    hints=(
        "The result is cut into tiles. How many tiles use the same row of a, and how many the same column of b?",
        "Each tile of the result needs all of its rows of a and all of its columns of b. So a is loaded as often as "
        "there are tiles side by side.",
        "Count tiles across and down, rounded up. Bytes: 4 (m k across + k n down + m n). Leave out what needs more "
        "than `capacity`, then sort the positions by their bytes; `sorted` keeps the order of equals.",
    ),
)
