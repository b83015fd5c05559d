"""13-affine: A scale, a zero point, and codes that saturate."""

import numpy as np

from ...definition import Case, Section, Slip
from ...kinds.function import FunctionTask
from ...plain import reals


def coded(x, scale, zero, low, high):
    return np.clip(np.rint(np.asarray(x, np.float64) / scale) + zero, low, high)


def affine(seen, x, low, high):
    """(scale, zero point, codes of x) for codes low to high; the range is that of `seen`, with 0, which has a code."""
    least, most = min(0.0, seen.min()), max(0.0, seen.max())
    scale = (most - least) / (high - low) or 1.0
    zero = low - round(least / scale)
    return scale, zero, coded(x, scale, zero, low, high)


def _triple(result):
    if not isinstance(result, tuple | list) or len(result) != 3:
        return None
    scale, zero, codes = result
    if any(isinstance(n, bool) or not isinstance(n, int | float | np.integer | np.floating) for n in (scale, zero)):
        return None
    codes = reals(codes)
    return None if codes is None else (float(scale), float(zero), codes)


def judge_affine(arguments, result):
    seen, x, low, high = arguments
    scale, zero, codes = affine(*arguments)
    expected = (
        f"scale {scale:.6g}, zero point {zero}, codes "
        f"{codes[:6].astype(int).tolist()}{' ...' if codes.size > 6 else ''}"
    )
    triple = _triple(result)
    if triple is None:
        return Slip("type", expected, "Return three things: the scale, the zero point, and an array of codes.")
    s, z, q = triple
    if q.shape != codes.shape:
        return Slip("shape", expected, f"There is a code for each number: {codes.size} of them, and {q.size} came.")
    if not s > 0 or not np.isfinite(s):
        cause = "A scale is a positive number. Where all numbers are 0, the range is empty: take the scale 1 there."
        return Slip("no-scale", expected, cause)
    if not abs(s - scale) <= 1e-5 * scale:
        return _wrong_scale(s, seen, x, low, high, expected)
    if z != zero:
        return _wrong_zero(z, scale, zero, low, expected)
    return _wrong_codes(x, q, codes, scale, zero, low, high)


def _wrong_scale(s, seen, x, low, high, expected):
    span = max(0.0, seen.max()) - min(0.0, seen.min())

    def near(value):
        return abs(s - value) <= 1e-5 * abs(value)

    if seen.max() > seen.min() and near((seen.max() - seen.min()) / (high - low)):
        cause = (
            "The range of these numbers does not hold 0. It has to: padding and ReLU make zeros, and 0 needs a code."
        )
        return Slip("without-zero", expected, cause)
    if near((max(0.0, x.max()) - min(0.0, x.min())) / (high - low)):
        cause = "This is the range of x. The scale comes from the numbers that were seen before; x may lie beyond them."
        return Slip("of-x", expected, cause)
    if near(span / (high - low + 1)):
        cause = f"From {low} to {high} there are {high - low + 1} codes, and one step less between them."
        return Slip("steps", expected, cause)
    if near(np.abs(seen).max() / max(high, 1)):
        cause = (
            "This is the symmetric scale, of the largest size. Here the range from the least to the largest number is "
            "covered."
        )
        return Slip("symmetric", expected, cause)
    if near((high - low) / span if span else 0):
        return Slip(
            "inverse", expected, "This is 1 / scale. The scale is the width of a step: a range divided by steps."
        )
    return Slip("scale", expected, "The scale is (largest - least) / (high - low), both numbers taken together with 0.")


def _wrong_zero(z, scale, zero, low, expected):
    if not np.isfinite(z) or z != round(z):
        cause = "The zero point is a code: a whole number. Otherwise 0 is not met exactly."
        return Slip("fraction", expected, cause)
    if z == -zero or z == 2 * low - zero:
        return Slip(
            "sign",
            expected,
            "The sign is turned: the least number has to get the code `low`: least / scale + zero = low.",
        )
    if z == 0:
        return Slip(
            "zero-at-0",
            expected,
            "The zero point is 0, so the codes do not begin at `low`. Which code has the number 0?",
        )
    if z == low or z == zero - low:
        cause = "The least number of the range has the code `low`. Where is 0, so many steps above it?"
        return Slip("low", expected, cause)
    if abs(z - zero) == 1:
        return Slip(
            "rounding", expected, "Off by one: round to the nearest whole number. A cast to int cuts off instead."
        )
    return Slip("zero", expected, "The zero point is the code of 0: low - round(least / scale).")


def _wrong_codes(x, q, codes, scale, zero, low, high):
    exact = np.asarray(x, np.float64) / scale
    tie = np.abs(exact - np.floor(exact) - 0.5) < 1e-4
    bad = np.flatnonzero(~((q == codes) | (tie & (np.abs(q - codes) <= 1) & (q >= low) & (q <= high))))
    if not bad.size:
        return None
    i = bad[0]
    got = f"code {q[i]:.6g} for {x[i]:.6g}, number {i}"
    wanted = f"code {codes[i]:.0f}"
    free = np.rint(exact[i]) + zero
    if np.isnan(q[i]):
        return Slip("not-finite", wanted, "This is no number. Where was 0 divided by 0, or infinity used?", got)
    if np.isfinite(q[i]) and q[i] != round(q[i]):
        return Slip("fraction", wanted, "A code is a whole number: round to the nearest.", got)
    if not low <= q[i] <= high and q[i] == free:
        return Slip("clip", wanted, f"Codes end at {low} and {high}: what lies outside gets the last one.", got)
    if q[i] == (free - low) % (high - low + 1) + low and free != q[i]:
        cause = "The code was cast to a small type before it was clipped, and its high bits are gone. Clip first."
        return Slip("wrapped", wanted, cause, got)
    if q[i] == np.clip(np.floor(exact[i]) + zero, low, high) or q[i] == np.clip(np.trunc(exact[i]) + zero, low, high):
        return Slip(
            "cut-off", wanted, "This was cut off. The error is half a step only if you round to the nearest.", got
        )
    if q[i] == np.clip(np.rint(exact[i]), low, high):
        return Slip("no-zero", wanted, "The zero point is not added.", got)
    if q[i] == np.clip(np.rint(exact[i] - zero), low, high):
        return Slip("minus-zero", wanted, "The zero point is added to x / scale, and subtracted on the way back.", got)
    if q[i] == np.rint(np.clip(exact[i], low, high)) + zero:
        return Slip("clip-early", wanted, "Add the zero point first, then clip: codes have ends, not x / scale.", got)
    if q[i] == np.clip(np.rint(x[i] * scale) + zero, low, high):
        return Slip("times", wanted, "x was multiplied by the scale. How many steps is it from 0: divide.", got)
    return Slip("codes", wanted, "A code is clip(round(x / scale) + zero, low, high).", got)


def values(n, least, most):
    """make(rng) -> n numbers that were seen, the least and the largest of them given; n + 3 that lie up to half as far
    again."""

    def make(rng):
        seen = rng.uniform(least, most, n)
        seen[: min(n, 2)] = (least, most)[: min(n, 2)]
        middle, half = (least + most) / 2, 0.75 * (most - least)
        return seen, middle + half * rng.uniform(-1, 1, n + 3)

    return make


def affine_case(name, make, low=-128, high=127):
    return Case(name, lambda rng: (*make(rng), low, high))


AFFINE = FunctionTask(
    id="13-affine",
    section=Section("13", "13_bits", "What a code means"),
    title="A scale, a zero point, and codes",
    objective="Write numbers as whole codes of a given range, with 0 met exactly and what lies beyond it saturated",
    points=3,
    minutes=20,
    judge=judge_affine,
    cases=(
        affine_case("both signs", values(9, -1.0, 2.9)),
        affine_case("after a ReLU", values(40, 0.0, 6.0)),
        affine_case("unsigned codes", values(30, -0.7, 2.0), 0, 255),
        affine_case("all above 5", values(12, 5.0, 9.0)),
        affine_case("all below -1", values(12, -4.0, -1.0)),
        affine_case("four bits", values(25, -2.1, 1.0), -8, 7),
        affine_case("nothing but zeros", lambda rng: (np.zeros(4), np.array([0.0, 0.3, -7.0]))),
    ),
    advice={
        "raised-RuntimeWarning": "Where all numbers that were seen are 0, the range is empty: take the scale 1 there.",
        "raised-ZeroDivisionError": "Where all numbers that were seen are 0, the range is empty: take the scale 1 "
        "there.",
    },
    hints=(
        "How wide is the range, and how many steps lie between the first and the last code?",
        "Which code has the least number? So many steps above it is 0: that code is the zero point, and it is "
        "rounded, because a code is a whole number.",
        "Take the least and the largest of what was seen, together with 0. The range between them, in high - low "
        "steps, gives the scale; where it is empty, the scale is 1. As many steps as the least number lies below "
        "0, so many codes lie between `low` and the zero point. Code x: count it in steps, round, add the zero "
        "point, then clip.",
    ),
)
