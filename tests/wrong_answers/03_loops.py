"""Answers to 03-loops."""

from answers import data

RIGHT = {"A": "race", "B": "right", "C": "rows left out", "D": "wrong start", "E": "carried"}

in_another_order = data("right", dict(reversed(RIGHT.items())))
a_is_carried = data("wrong verdict: iteration 0", RIGHT | {"A": "carried"})
b_is_carried = data('wrong verdict: B: "carried"', RIGHT | {"B": "carried"})
d_is_right = data("wrong verdict: element [5] is 0; expected -1", RIGHT | {"D": "right"})
e_is_right = data("wrong verdict: top is used before the iteration has set it", RIGHT | {"E": "right"})
e_races = data("wrong verdict: what may another iteration do", RIGHT | {"E": "race"})
misspelt = data('wrong not-allowed: did you mean "carried"?', RIGHT | {"E": "caried"})
a_list = data("wrong not-allowed: which is a list", list(RIGHT.values()))
the_loop_itself = data("wrong not-allowed: which is a builtin_function_or_method", RIGHT | {"A": max})
a_sixth = data('wrong not-allowed: a dict with "A", "B", "C", "D", "E"', RIGHT | {"F": "race"})
