"""Answers to 10-linear."""

from answers import data

RIGHT = {"A": "waits", "B": "pair", "C": "max", "D": "fraction", "E": "waits"}

a_is_a_pair = data("wrong verdict: look at `h =", RIGHT | {"A": "pair"})
b_is_a_fraction = data("wrong verdict: No trial of this task shows that", RIGHT | {"B": "fraction"})
c_waits = data('wrong verdict: C: "waits"', RIGHT | {"C": "waits"})
d_waits = data("wrong verdict: Write two steps one after the other as one formula", RIGHT | {"D": "waits"})
all_wait = data("wrong verdict: with x =", dict.fromkeys("ABCDE", "waits"))
misspelt = data('wrong not-allowed: did you mean "fraction"?', RIGHT | {"D": "fractions"})
another_letter = data('wrong not-allowed: a dict with "A", "B", "C", "D", "E"', RIGHT | {"F": "pair"})
