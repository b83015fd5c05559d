"""Hidden cases of chapter 06: sizes that no visible case has."""

from ..tasks.c06.bug import energy_case
from ..tasks.c06.histogram import bins_case
from ..tasks.c06.keep import keep_case
from ..tasks.c06.scan import scan_case
from ..tasks.c06.shared import spread_case
from ..tasks.c06.soa import apart_case
from ..tasks.c06.turn import turn_case

CASES = {
    "06-soa": (apart_case("one point", 1), apart_case("one more than a block", 65), apart_case("n", 190)),
    "06-turn": (turn_case("one column", 45, 1), turn_case("one more each way", 33, 65), turn_case("one element", 1, 1)),
    "06-spread": (spread_case("one element", 1, 2), spread_case("one more", 129, -2), spread_case("three", 300, 7)),
    "06-lanes": (spread_case("one element", 1, 2), spread_case("one more", 129, -2), spread_case("n", 161, 7)),
    "06-bug": (energy_case("one thread", 3, 1), energy_case("seven threads", 20, 7), energy_case("n", 127, 127)),
    "06-histogram": (bins_case("one element", 1, 1), bins_case("one thread too few", 65, 2), bins_case("n", 500, 5)),
    "06-keep": (
        keep_case("nothing kept", 64, 64, 0),
        keep_case("all kept", 96, 96, 1),
        keep_case("one element", 1, 32, 1),
        keep_case("idle warps", 33, 256),
    ),
    "06-scan": (scan_case("one element", 1, 1), scan_case("one more than a warp", 4, 33), scan_case("n", 1, 255)),
}
