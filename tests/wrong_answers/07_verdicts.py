"""Answers to 07-verdicts."""

from answers import data

RIGHT = {"A": "two writers", "B": "outside", "C": "right", "D": "gaps"}

in_another_order = data("right", dict(reversed(RIGHT.items())))
a_has_gaps = data('wrong verdict: A: "gaps"', RIGHT | {"A": "gaps"})
b_has_gaps = data("wrong verdict: look at `x[i]`", RIGHT | {"B": "gaps"})
the_odd_one_is_wrong = data("wrong verdict: No launch of this task shows that", RIGHT | {"C": "wrong numbers"})
d_is_right = data("wrong verdict: n = 200 in 2 blocks of 64", RIGHT | {"D": "right"})
all_right = data("wrong verdict: of 64", dict.fromkeys("ABCD", "right"))
misspelt = data('wrong not-allowed: did you mean "two writers"?', RIGHT | {"A": "two writer"})
a_list = data("wrong not-allowed: which is a list", list(RIGHT.values()))
several_for_one = data("wrong not-allowed: which is a list", RIGHT | {"A": ["outside", "gaps"]})
a_huge_number = data("wrong not-allowed: something very long, which is a number", RIGHT | {"A": 10**6000})
lower_case = data(
    'wrong not-allowed: a dict with "A", "B", "C", "D"', {name.lower(): verdict for name, verdict in RIGHT.items()}
)
