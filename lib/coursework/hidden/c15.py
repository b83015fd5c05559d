"""Hidden cases of chapter 15: sizes that no visible case has."""

from ..tasks.c15.chain import chain_case

CASES = {
    "15-chain": (
        chain_case("one element", 1, 1, 1),
        chain_case("one column, many rows", 50, 1, 3),
        chain_case("three blocks down, ragged both ways", 29, 33, 3),
    )
}
