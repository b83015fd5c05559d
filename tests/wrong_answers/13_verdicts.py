"""Answers to 13-verdicts."""

from answers import data

RIGHT = {"first": "zero", "second": "bias", "third": "right", "fourth": "pairs", "fifth": "ends", "sixth": "floor"}

in_another_order = data("right", dict(reversed(RIGHT.items())))
first_is_right = data("wrong verdict: it goes wrong here", RIGHT | {"first": "right"})
fifth_rounds_down = data("wrong verdict: it goes wrong here", RIGHT | {"fifth": "floor"})
another_word = data("wrong not-allowed: did you mean", RIGHT | {"first": "zero point"})
