"""Answers to 02-fails: functions that return the dict of the answer cell."""

RIGHT = {
    "places": {"places": 6, "A": 3, "B": 3, "C": 3},
    "payments": {"source_1": 0, "target_1": 1, "source_2": 1, "target_2": 3},
}


def but(**fails):
    return RIGHT | fails


def payments(a, b, c, d):
    return but(payments={"source_1": a, "target_1": b, "source_2": c, "target_2": d})


def places(places, a, b, c):
    return but(places={"places": places, "A": a, "B": b, "C": c})


def other_accounts():
    """right"""
    return payments(8, 6, 2, 3)


def nearly():
    """wrong agrees: How many places can the three jobs hold"""
    return places(6, 3, 3, 2)


def too_few_places():
    """wrong not-allowed: a whole number from 6 to 9"""
    return places(3, 2, 2, 2)


def a_job_of_seven():
    """wrong not-allowed: a whole number from 1 to 3"""
    return places(6, 7, 1, 1)


def other_locks():
    """wrong agrees: which two locks each payment takes"""
    return payments(0, 1, 5, 3)


def the_same_payment_twice():
    """wrong agrees: which of them first"""
    return payments(2, 3, 2, 3)


def one_lock_twice():
    """wrong not-allowed: have different locks"""
    return payments(0, 3, 1, 2)


def to_itself():
    """wrong not-allowed: source % 3 != target % 3"""
    return payments(4, 4, 1, 2)


def no_such_account():
    """wrong not-allowed: a whole number from 0 to 8"""
    return payments(0, 9, 1, 2)


def a_text():
    """wrong not-allowed: which is text"""
    return places("6", 3, 3, 3)


def another_name():
    """wrong not-allowed: did you mean "source_1"?"""
    return but(payments={"source1": 0})
