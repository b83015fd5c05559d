"""Answers to 06-races: functions that return the dict of the answer cell."""

RIGHT = {
    "A": "stuck",
    "B": "race",
    "C": "unset",
    "D": "outside",
    "E": "right",
    "F": "race",
    "G": "wrong number",
    "H": "stuck",
}


def but(**verdicts):
    return RIGHT | verdicts


def in_another_order():
    """right"""
    return dict(reversed(RIGHT.items()))


def c_is_a_race():
    """wrong verdict: n = 256 in 5 blocks of 64: look at `tile[t + 1]`"""
    return but(C="race")


def d_asks_for_the_last():
    """wrong verdict: look at `x[i + 1]` in thread 63 of block 3"""
    return but(D="right")


def e_never_fills_place_64():
    """wrong verdict: No launch of this task shows that"""
    return but(E="unset")


def g_is_only_slow():
    """wrong verdict: element [63], which belongs to thread 63"""
    return but(G="right")


def g_reads_what_is_not_there():
    """wrong verdict: element [63], which belongs to thread 63"""
    return but(G="unset")


def all_races():
    """wrong verdict: in thread"""
    return dict.fromkeys(RIGHT, "race")


def misspelt():
    """wrong not-allowed: did you mean "wrong number"?"""
    return but(G="wrong numbers")


def a_list():
    """wrong not-allowed: which is a list"""
    return list(RIGHT.values())
