"""Answers to 02-races."""

from answers import data

RIGHT = {"A": "race condition", "B": "data race", "C": "both", "D": "neither", "E": "data race", "F": "race condition"}

locks_mean_no_race = data(
    "wrong verdict: each access was noted with the locks that were held", RIGHT | {"A": "neither", "F": "neither"}
)
a_lost_addition_is_a_data_race = data("wrong verdict: Is there more than one end?", RIGHT | {"C": "data race"})
all_both = data("wrong verdict: each access was noted with the locks that were held", dict.fromkeys("ABCDEF", "both"))
all_one_race = data(
    "wrong verdict: each access was noted with the locks that were held", dict.fromkeys("ABCDEF", "data race")
)
