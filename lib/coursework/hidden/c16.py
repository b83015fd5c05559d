"""Hidden cases of chapter 16: other shapes."""

from ..tasks.c16.bins import bins_case
from ..tasks.c16.halo import halo_case
from ..tasks.c16.ndrange import ndrange_case
from ..tasks.c16.race import race_case
from ..tasks.c16.ragged import ragged_case
from ..tasks.c16.rows import rows_case
from ..tasks.c16.sums import sums_case
from ..tasks.c16.tiled import tiled_case

CASES = {
    "16-ndrange": (ndrange_case(7, 1000, 32, 8), ndrange_case(128, 128, 128, 2), ndrange_case(1, 7, 1, 1)),
    "16-ragged": (ragged_case("tall", 17, 3), ragged_case("one row", 1, 25)),
    "16-sums": (sums_case("one more", 65), sums_case("one less", 127)),
    "16-halo": (halo_case("two ways", 10, 17), halo_case("one column", 12, 1), halo_case("one number", 1, 1)),
    "16-bins": (bins_case("far below zero", 130, 2, -5000, 0), bins_case("one number", 1, 1)),
    "16-race": (race_case(2),),
    "16-rows": (rows_case("one number", 1, 1), rows_case("seven rows", 7, 33)),
    "16-tiled": (tiled_case("long", 3, 5, 30), tiled_case("wide", 10, 17, 1), tiled_case("tall", 20, 2, 9)),
}
