"""Answers to 08-verdicts."""

from answers import data

RIGHT = {"A": "outside", "B": "right", "C": "race", "D": "wrong product"}

in_another_order = data("right", dict(reversed(RIGHT.items())))
a_reads_leftovers = data("wrong verdict: ragged: (5 x 19) @ (19 x 20)", RIGHT | {"A": "leftovers"})
the_odd_barriers_are_wrong = data('wrong verdict: B: "barrier', RIGHT | {"B": "barrier"})
c_is_right = data(
    "wrong verdict: thread (15, 0) of block (0, 0) and thread (0, 0) of block (0, 0)", RIGHT | {"C": "right"}
)
c_reads_outside = data("wrong verdict: look at `a_tile[y, p]`", RIGHT | {"C": "outside"})
d_has_gaps = data(
    "wrong verdict: element [0, 0], which belongs to thread (0, 0) of block (0, 0)", RIGHT | {"D": "gaps"}
)
all_right = data('wrong verdict: "right" two tiles', dict.fromkeys("ABCD", "right"))
two_exchanged = data("wrong verdict: of block (0, 0)", RIGHT | {"A": "race", "C": "outside"})
misspelt = data('wrong not-allowed: did you mean "outside"?', RIGHT | {"A": "outsid"})
a_list = data("wrong not-allowed: which is a list", list(RIGHT.values()))
several_for_one = data("wrong not-allowed: which is a list", RIGHT | {"A": ["outside", "race"]})
a_number = data("wrong not-allowed: which is a number", RIGHT | {"A": 3})
a_huge_number = data("wrong not-allowed: something very long, which is a number", RIGHT | {"A": 10**6000})
the_kernel_itself = data("wrong not-allowed: which is a builtin_function_or_method", RIGHT | {"A": print})
