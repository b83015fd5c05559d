"""Answers to 12-loops."""

from answers import data

RIGHT = {"first": "stale", "second": "pairs", "third": "learns", "fourth": "right", "fifth": "judges", "sixth": "leak"}

in_another_order = data("right", dict(reversed(RIGHT.items())))
first_is_right = data("wrong verdict: it goes wrong here", RIGHT | {"first": "right"})
second_is_right = data("wrong verdict: it goes wrong here", RIGHT | {"second": "right"})
third_is_right = data("wrong verdict: it goes wrong here", RIGHT | {"third": "right"})
fourth_is_stale = data("wrong verdict: No run of this task shows that", RIGHT | {"fourth": "stale"})
fifth_learns = data("wrong verdict: it goes wrong here", RIGHT | {"fifth": "learns"})
sixth_is_right = data("wrong verdict: it goes wrong here", RIGHT | {"sixth": "right"})
two_exchanged = data("wrong verdict: which gradients wait", RIGHT | {"third": "judges", "fifth": "learns"})
all_right = data("wrong verdict: it goes wrong here", dict.fromkeys(RIGHT, "right"))
