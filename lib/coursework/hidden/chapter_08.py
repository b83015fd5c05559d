"""Hidden cases of chapter 08: thin matrices, lengths just beside a multiple of the tile, tiles that are nearly
empty."""

from ..definition import Case
from ..tasks.chapter_08 import WIDE, case, network_arguments, operands

_CPU = (
    Case("one column: (17 x 9) @ (9 x 1)", operands(17, 9, 1)),
    Case("one term: (5 x 1) @ (1 x 40)", operands(5, 1, 40)),
    Case("one short of 4: (7 x 15) @ (15 x 31)", operands(7, 15, 31)),
)
_TILES = (
    case("one element", 1, 1, 1),
    case("less than a tile", 5, 3, 9),
    case("one more than a tile", 17, 17, 16),
    case("one short of two tiles", 15, 31, 32),
)

CASES = {
    "08-ikj": _CPU,
    "08-naive": _TILES,
    "08-tiled": _TILES,
    "08-bug": _TILES,
    "08-register": (*_CPU, Case("one more than 4: (6 x 5) @ (5 x 8)", operands(6, 5, 8))),
    "08-four": (
        case("one element", 1, 1, 1, WIDE),
        case("one quarter", 16, 7, 16, WIDE),
        case("one row and column more than a quarter", 17, 17, 17, WIDE),
        case("a thin second block", 8, 33, 40, WIDE),
    ),
    "08-network": (Case("two pictures", network_arguments(2)), Case("100 pictures", network_arguments(100))),
}
