"""Answers to 14-loops."""

from answers import data

RIGHT = {"first": "divide", "second": "ragged", "third": "batch", "fourth": "right", "fifth": "start", "sixth": "late"}

in_another_order = data("right", dict(reversed(RIGHT.items())))
first_is_right = data("wrong verdict: it goes wrong here", RIGHT | {"first": "right"})
second_starts_apart = data("wrong verdict: it goes wrong here", RIGHT | {"second": "start"})
third_is_right = data("wrong verdict: it goes wrong here", RIGHT | {"third": "right"})
another_word = data("wrong not-allowed: did you mean", RIGHT | {"third": "batches"})
