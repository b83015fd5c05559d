"""Answers to 06-races."""

from answers import data

RIGHT = {
    "A": "stuck",
    "B": "race",
    "C": "unset",
    "D": "outside",
    "E": "right",
    "F": "race",
    "G": "wrong number",
    "H": "stuck",
}

in_another_order = data("right", dict(reversed(RIGHT.items())))
c_is_a_race = data("wrong verdict: n = 256 in 5 blocks of 64: look at `tile[t + 1]`", RIGHT | {"C": "race"})
d_asks_for_the_last = data("wrong verdict: look at `x[i + 1]` in thread 63 of block 3", RIGHT | {"D": "right"})
e_never_fills_place_64 = data("wrong verdict: No launch of this task shows that", RIGHT | {"E": "unset"})
g_is_only_slow = data("wrong verdict: element [63], which belongs to thread 63", RIGHT | {"G": "right"})
g_reads_what_is_not_there = data("wrong verdict: element [63], which belongs to thread 63", RIGHT | {"G": "unset"})
all_races = data("wrong verdict: in thread", dict.fromkeys(RIGHT, "race"))
misspelt = data('wrong not-allowed: did you mean "wrong number"?', RIGHT | {"G": "wrong numbers"})
a_list = data("wrong not-allowed: which is a list", list(RIGHT.values()))
