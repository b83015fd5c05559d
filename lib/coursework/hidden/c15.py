"""Hidden cases of chapter 15: other shapes, tables and compile times."""

from ..tasks.c15.chain import chain_case
from ..tasks.c15.faults import submission
from ..tasks.c15.halving import table
from ..tasks.c15.model import DEEP, SQUARE, model_case
from ..tasks.c15.tune import tuning

CASES = {
    "15-model": (
        model_case("thin", 3000, 12, 64, SQUARE[::-1], 4096),
        model_case("nothing fits", 64, 64, 64, DEEP, 100),
    ),
    "15-tune": (tuning(64, 64, 64, 300), tuning(1000, 48, 32, 300)),
    "15-halving": (table(5, 2), table(31, 16)),
    "15-faults": (
        submission("an honest one, 3 repeats", "honest", 7.0, 3),
        submission("keeps results, nothing to compile", "cached", 0.0, 4),
        submission("another clock, late", "patched", 3.0, 7),
    ),
    "15-chain": (
        chain_case("one element", 1, 1, 1),
        chain_case("one column, many rows", 50, 1, 3),
        chain_case("three blocks down, ragged both ways", 29, 33, 3),
    ),
}
