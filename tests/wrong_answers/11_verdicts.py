"""Answers to 11-verdicts."""

from answers import data

RIGHT = {"A": "too much", "B": "barrier", "C": "race", "D": "right", "E": "keys lost"}

in_another_order = data("right", dict(reversed(RIGHT.items())))
b_reads_too_much = data("wrong verdict: look at `cuda.syncthreads()`", RIGHT | {"B": "too much"})
d_loses_keys = data("wrong verdict: No launch of this task shows that", RIGHT | {"D": "keys lost"})
all_right = data("wrong verdict: 64 queries and keys", dict.fromkeys("ABCDE", "right"))
misspelt = data('wrong not-allowed: did you mean "keys lost"?', RIGHT | {"E": "key lost"})
another_letter = data('wrong not-allowed: a dict with "A", "B", "C", "D", "E"', RIGHT | {"F": "right"})
