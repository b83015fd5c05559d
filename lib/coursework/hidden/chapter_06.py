"""Hidden cases of chapter 06: sizes that no visible case has."""

from ..tasks.chapter_06 import apart_case, turn_case

CASES = {
    "06-soa": (apart_case("one point", 1), apart_case("one more than a block", 65), apart_case("n", 190)),
    "06-turn": (turn_case("one column", 45, 1), turn_case("one more each way", 33, 65), turn_case("one element", 1, 1)),
}
