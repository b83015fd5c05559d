"""Hidden cases of chapter 08: thin matrices, lengths just beside a multiple of the tile, tiles that are nearly
empty."""

from ..definition import Case
from ..tasks.c08.four import WIDE
from ..tasks.c08.int8 import int8_case
from ..tasks.c08.network import network_arguments
from ..tasks.c08.shared import both_turned, case, operands, turned, turned_case
from ..tasks.c08.strides import strided_case

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


def _turned_tiles(make):
    return (
        turned_case("one element", 1, 1, 1, make),
        turned_case("less than a tile", 5, 3, 9, make),
        turned_case("one more than a tile", 17, 17, 16, make),
        turned_case("one short of two tiles", 15, 31, 32, make),
    )


CASES = {
    "08-ikj": _CPU,
    "08-naive": _TILES,
    "08-tiled": _turned_tiles(turned),
    "08-both": _turned_tiles(both_turned),
    "08-bug": _TILES,
    "08-register": (*_CPU, Case("one more than 4: (6 x 5) @ (5 x 8)", operands(6, 5, 8))),
    "08-four": (
        case("one element", 1, 1, 1, WIDE),
        case("one quarter", 16, 7, 16, WIDE),
        case("one row and column more than a quarter", 17, 17, 17, WIDE),
        case("a thin second block", 8, 33, 40, WIDE),
    ),
    "08-network": (Case("two pictures", network_arguments(2)), Case("100 pictures", network_arguments(100))),
    "08-thin": (*_CPU, Case("the shape of the claims: (256 x 32) @ (32 x 8)", operands(256, 32, 8))),
    "08-strides": (
        strided_case("one matrix", 1, 3, 4, 5),
        strided_case("both transposed", 3, 9, 2, 17, a_turned=True, b_turned=True),
        strided_case("every third column of a, b for all", 3, 5, 4, 8, b_single=True, a_every=3),
    ),
    "08-int8": (int8_case("one element", 1, 1, 1), int8_case("longer sums", 4, 511, 3)),
}
