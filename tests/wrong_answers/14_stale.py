"""Answers to 14-stale: functions that return the dict of the answer cell."""

RIGHT = {"stale": {"rate": 0.64, "staleness": 2}, "divided": {"rate": 1.95, "staleness": 3}}


def but(**flaws):
    return RIGHT | flaws


def at_the_edge():
    """right"""
    return but(stale={"rate": 0.63, "staleness": 2}, divided={"rate": 1.99, "staleness": 2})


def far_too_late():
    """right"""
    return but(divided={"rate": 1.8, "staleness": 50})


def a_small_rate():
    """wrong agrees: Halve what is between"""
    return but(stale={"rate": 0.5, "staleness": 2})


def nearly():
    """wrong agrees: Halve what is between"""
    return but(stale={"rate": 0.61, "staleness": 2})


def more_staleness():
    """wrong not-allowed: a staleness of at most 2"""
    return but(stale={"rate": 0.6, "staleness": 5})


def nobody_converges():
    """wrong right-fails-too: however fresh the gradient is"""
    return but(divided={"rate": 2.5, "staleness": 4})


def staleness_1():
    """wrong agrees: only just converge"""
    return but(divided={"rate": 1.99, "staleness": 1})


def half_a_step():
    """wrong not-allowed: with a point"""
    return but(divided={"rate": 1.9, "staleness": 2.5})


def a_negative_rate():
    """wrong not-allowed: a number from 0.001 to 10"""
    return but(divided={"rate": -1, "staleness": 2})
