"""Answers to 02-fails."""

from answers import data

RIGHT = {
    "places": {"places": 6, "A": 3, "B": 3, "C": 3},
    "payments": {"source_1": 0, "target_1": 1, "source_2": 1, "target_2": 3},
}


def payments(a, b, c, d):
    return RIGHT | {"payments": {"source_1": a, "target_1": b, "source_2": c, "target_2": d}}


def places(places, a, b, c):
    return RIGHT | {"places": {"places": places, "A": a, "B": b, "C": c}}


other_accounts = data("right", payments(8, 6, 2, 3))
nearly = data("wrong agrees: How many places can the three jobs hold", places(6, 3, 3, 2))
too_few_places = data("wrong not-allowed: a whole number from 6 to 9", places(3, 2, 2, 2))
a_job_of_seven = data("wrong not-allowed: a whole number from 1 to 3", places(6, 7, 1, 1))
other_locks = data("wrong agrees: which two locks each payment takes", payments(0, 1, 5, 3))
the_same_payment_twice = data("wrong agrees: which of them first", payments(2, 3, 2, 3))
one_lock_twice = data("wrong not-allowed: have different locks", payments(0, 3, 1, 2))
to_itself = data("wrong not-allowed: source % 3 != target % 3", payments(4, 4, 1, 2))
no_such_account = data("wrong not-allowed: a whole number from 0 to 8", payments(0, 9, 1, 2))
a_text = data("wrong not-allowed: which is text", places("6", 3, 3, 3))
another_name = data('wrong not-allowed: did you mean "source_1"?', RIGHT | {"payments": {"source1": 0}})
