"""Answers to 04-lanes."""

from answers import data

RIGHT = {"A": "never", "B": "order", "C": "vectors", "D": "error", "E": "never"}

in_another_order = data("right", dict(reversed(RIGHT.items())))
a_is_a_sum = data("wrong verdict: one number is computed at a time", RIGHT | {"A": "order"})
a_has_vectors = data('wrong verdict: A: "vectors"', RIGHT | {"A": "vectors"})
b_has_vectors = data("wrong verdict: what rounds i and i + 1 need", RIGHT | {"B": "vectors"})
c_raises = data('wrong verdict: C: "error"', RIGHT | {"C": "error"})
all_have = data("wrong verdict: one number is computed at a time", dict.fromkeys("ABCDE", "vectors"))
misspelt = data('wrong not-allowed: did you mean "order"?', RIGHT | {"B": "orders"})
a_word = data("wrong not-allowed: which is text", "never")
true_or_false = data("wrong not-allowed: a truth value, True or False", RIGHT | {"A": False})
