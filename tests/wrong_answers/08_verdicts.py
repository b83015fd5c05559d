"""Answers to 08-verdicts: functions that return the dict of the answer cell."""

RIGHT = {"A": "outside", "B": "right", "C": "race", "D": "wrong product"}


def but(**verdicts):
    return RIGHT | verdicts


def in_another_order():
    """right"""
    return dict(reversed(RIGHT.items()))


def a_reads_leftovers():
    """wrong verdict: ragged: (5 x 19) @ (19 x 20)"""
    return but(A="leftovers")


def the_odd_barriers_are_wrong():
    """wrong verdict: B: "barrier"""
    return but(B="barrier")


def c_is_right():
    """wrong verdict: thread (15, 0) of block (0, 0) and thread (0, 0) of block (0, 0)"""
    return but(C="right")


def c_reads_outside():
    """wrong verdict: look at `a_tile[y, p]`"""
    return but(C="outside")


def d_has_gaps():
    """wrong verdict: element [0, 0], which belongs to thread (0, 0) of block (0, 0)"""
    return but(D="gaps")


def all_right():
    """wrong verdict: "right" two tiles"""
    return dict.fromkeys("ABCD", "right")


def two_exchanged():
    """wrong verdict: of block (0, 0)"""
    return but(A="race", C="outside")


def misspelt():
    """wrong not-allowed: did you mean "outside"?"""
    return but(A="outsid")


def a_list():
    """wrong not-allowed: which is a list"""
    return list(RIGHT.values())


def several_for_one():
    """wrong not-allowed: which is a list"""
    return but(A=["outside", "race"])


def a_number():
    """wrong not-allowed: which is a number"""
    return but(A=3)


def a_huge_number():
    """wrong not-allowed: something very long, which is a number"""
    return but(A=10**6000)


def the_kernel_itself():
    """wrong not-allowed: which is a builtin_function_or_method"""
    return but(A=print)
