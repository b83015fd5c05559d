"""Answers to 09-verdicts."""

from answers import data

RIGHT = {"A": "race", "B": "right", "C": "wrong numbers", "D": "outside"}

in_another_order = data("right", dict(reversed(RIGHT.items())))
b_goes_outside = data("wrong verdict: No launch of this task shows that", RIGHT | {"B": "outside"})
all_right = data("wrong verdict: 30 results", dict.fromkeys("ABCD", "right"))
misspelt = data('wrong not-allowed: did you mean "race"?', RIGHT | {"A": "races"})
another_letter = data('wrong not-allowed: a dict with "A", "B", "C", "D"', RIGHT | {"E": "right"})
