"""Answers to 01-claims."""

import numpy as np
from answers import data

RIGHT = {
    "ratio": {"peer": [1, 2], "ours": [2, 1]},
    "workers": {"percent": 1, "wanted": 34},
    "clock": {"tick": 60, "cost": 20},
}

other_inputs = data(
    "right",
    {
        "ratio": {"peer": np.array([10.0, 1, 5]), "ours": (1, 10, 5)},
        "workers": {"percent": np.int64(5), "wanted": 16},
        "clock": {"tick": 38, "cost": 1},
    },
)
equal_times = data("wrong agrees: When can a mean be above 1", RIGHT | {"ratio": {"peer": [3, 3], "ours": [3, 3]}})
ours_always_faster = data(
    "wrong agrees: One of the two is the winner", RIGHT | {"ratio": {"peer": [2, 3, 4], "ours": [1, 2, 3]}}
)
one_pair = data("wrong agrees: the winner here", RIGHT | {"ratio": {"peer": [9], "ours": [2]}})
different_lengths = data(
    "wrong not-allowed: as many times of the one", RIGHT | {"ratio": {"peer": [1, 2, 3], "ours": [2, 1]}}
)
time_of_nothing = data("wrong not-allowed: at place 1: 0", RIGHT | {"ratio": {"peer": [1, 0], "ours": [2, 1]}})
no_whole_number = data("wrong agrees: what ceil makes of it", RIGHT | {"workers": {"percent": 7, "wanted": 11}})
at_the_limit = data("wrong not-allowed: below the limit", RIGHT | {"workers": {"percent": 10, "wanted": 10}})
a_fraction = data("wrong not-allowed: with a point", RIGHT | {"workers": {"percent": 2.5, "wanted": 10}})
a_fine_clock = data("wrong agrees: The clock stands still", RIGHT | {"clock": {"tick": 1, "cost": 50}})
a_power_of_two_of_calls = data("wrong agrees: How far apart", RIGHT | {"clock": {"tick": 32, "cost": 1}})
a_call_of_a_tick = data("wrong agrees: The clock stands still", RIGHT | {"clock": {"tick": 50, "cost": 50}})
no_tick = data("wrong not-allowed: a whole number from 1 to 60", RIGHT | {"clock": {"tick": 0, "cost": 5}})
code = data("wrong not-allowed: which is text", RIGHT | {"ratio": {"peer": "[1, 2]", "ours": [2, 1]}})
a_fourth = data('wrong not-allowed: a dict with "ratio", "workers", "clock"', RIGHT | {"fourth": {}})
