"""Answers to 02-buffers."""

from answers import data

RIGHT = {"A": "gives up", "B": "sleeps on", "C": "right", "D": "crashes"}

a_is_right = data("wrong verdict: one producer, two consumers, bound 2: it goes wrong here", RIGHT | {"A": "right"})
a_crashes = data('wrong verdict: A: "crashes"', RIGHT | {"A": "crashes"})
c_is_overfull = data('wrong verdict: C: "overfull"', RIGHT | {"C": "overfull"})
d_is_right = data("wrong verdict: one producer, two consumers, bound 2: it goes wrong here", RIGHT | {"D": "right"})
b_and_c_exchanged = data('wrong verdict: B: "right"', RIGHT | {"B": "right", "C": "sleeps on"})
all_right = data("wrong verdict: it goes wrong here", dict.fromkeys("ABCD", "right"))
misspelt = data('wrong not-allowed: did you mean "sleeps on"?', RIGHT | {"B": "sleep on"})
a_class = data("wrong not-allowed: which is a type", RIGHT | {"A": int})
a_list = data("wrong not-allowed: which is a list", list(RIGHT.values()))
