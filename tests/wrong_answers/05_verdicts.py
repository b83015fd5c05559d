"""Answers to 05-verdicts."""

from answers import data

RIGHT = {"A": "gaps", "B": "right", "C": "outside", "D": "two writers"}

a_goes_outside = data("wrong verdict: n = 200 in 4 blocks of 64: look at element [192]", RIGHT | {"A": "outside"})
the_odd_one_has_two_writers = data("wrong verdict: No launch of this task shows that", RIGHT | {"B": "two writers"})
d_has_wrong_numbers = data("wrong verdict: look at `out[i]`", RIGHT | {"D": "wrong numbers"})
misspelt = data('wrong not-allowed: did you mean "two writers"?', RIGHT | {"D": "two writer"})
a_list = data("wrong not-allowed: which is a list", list(RIGHT.values()))
lower_case = data(
    'wrong not-allowed: a dict with "A", "B", "C", "D"', {name.lower(): verdict for name, verdict in RIGHT.items()}
)
