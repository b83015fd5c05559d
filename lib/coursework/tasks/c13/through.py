"""13-through: A gradient that goes straight through a rounding."""

import numpy as np

from ...definition import Case, Section, Slip
from ...kinds.function import FunctionTask
from ...plain import reals


def through(w, grad, scale, low, high):
    """(rounded weights, gradient of w)."""
    w = np.asarray(w, np.float64)
    code = np.rint(w / scale)
    inside = (code >= low) & (code <= high)
    return scale * np.clip(code, low, high), np.where(inside, grad, 0.0)


def judge_through(arguments, result):
    w, grad, scale, low, high = arguments
    rounded, back = through(*arguments)
    expected = f"rounded {np.round(rounded[:5], 4).tolist()}, gradient {np.round(back[:5], 4).tolist()}"
    if not isinstance(result, tuple | list) or len(result) != 2:
        return Slip("type", expected, "Return two arrays: the rounded weights and the gradient.")
    r, g = map(reals, result)
    if r is None or g is None:
        return Slip("type", expected, "Return two arrays of numbers.")
    if r.shape != rounded.shape or g.shape != back.shape:
        return Slip("shape", expected, f"Both have the shape of w, {rounded.shape}.", f"shapes {r.shape} and {g.shape}")
    tie = np.abs(w / scale - np.floor(w / scale) - 0.5) < 1e-4
    bad = np.flatnonzero(~(np.abs(r - rounded) <= 1e-5 * scale) & ~(tie & np.isfinite(r)))
    if bad.size:
        i = bad[0]
        got, wanted = f"{r[i]:.6g} for w = {w[i]:.6g}", f"{rounded[i]:.6g}"
        if np.allclose(r, np.clip(np.rint(w / scale), low, high)):
            return Slip(
                "code", wanted, "This is the code. The forward pass goes on with the number that it stands for.", got
            )
        if np.allclose(r, back) and np.allclose(g, rounded):
            return Slip(
                "order", wanted, "The two are exchanged: the rounded weights come first, then the gradient.", got
            )
        floor = np.floor(w / scale)
        if np.allclose(r, scale * np.clip(floor, low, high)):
            return Slip("floor", wanted, "This was rounded down, as `//` does. Round to the nearest.", got)
        if np.allclose(r, scale * np.clip(np.rint(w / scale), -high, high)):
            return Slip("low", wanted, f"Below, codes end at {low}, not at {-high}.", got)
        if abs(r[i] - scale * np.rint(w[i] / scale)) <= 1e-5 * scale:
            return Slip("clip", wanted, f"Codes end at {low} and {high}.", got)
        if abs(r[i] - w[i]) <= 1e-6 * abs(w[i]):
            return Slip(
                "unrounded", wanted, "The weight was not rounded: the network has to feel what it will be.", got
            )
        return Slip("rounded", wanted, "scale * clip(round(w / scale), low, high).", got)
    bad = np.flatnonzero(~(np.abs(g - back) <= 1e-6 * np.maximum(np.abs(back), 1e-9)) & ~(tie & np.isfinite(g)))
    if not bad.size:
        return None
    return _wrong_gradient(w, grad, g, back, scale, low, high, bad, rounded)


def _wrong_gradient(w, grad, g, back, scale, low, high, bad, rounded):
    i = bad[0]
    got, wanted = f"{g[i]:.6g} at w = {w[i]:.6g}", f"{back[i]:.6g}"
    if not g.any():
        cause = (
            "This is the true slope of a staircase, and nothing learns by it. Pretend that it is 1 where nothing was "
            "clipped."
        )
        return Slip("true-slope", wanted, cause, got)
    if np.allclose(g, grad, rtol=1e-6):
        cause = "This weight was clipped: to move it further changes nothing. Its gradient is 0."
        return Slip("clipped-too", wanted, cause, got)
    if np.allclose(g, np.where(back != 0, 0, grad), rtol=1e-6):
        return Slip("turned", wanted, "The mask is turned round: gradients pass where nothing was clipped.", got)
    code = np.rint(w / scale)
    if np.allclose(g, np.where((code > low) & (code < high), grad, 0), rtol=1e-6):
        cause = f"A weight whose code is {low} or {high} was not clipped: its gradient passes."
        return Slip("ends", wanted, cause, got)
    edge = (w >= scale * low) & (w <= scale * high)
    if np.allclose(g, np.where(edge, grad, 0), rtol=1e-6):
        cause = (
            "Half a step beyond the last code the weight is still rounded to it, not clipped. Compare the code, not "
            "the weight."
        )
        return Slip("edge", wanted, cause, got)
    for factor, words in ((scale, "multiplied by"), (1 / scale, "divided by")):
        if np.allclose(g, factor * back, rtol=1e-5):
            cause = f"The gradient was {words} the scale. The number w / scale * scale has the slope 1."
            return Slip("scaled", wanted, cause, got)
    floor = np.floor(w / scale)
    if np.allclose(g, np.where((floor >= low) & (floor <= high), grad, 0), rtol=1e-6):
        return Slip("floor", wanted, "The codes were rounded down, as `//` does. Round to the nearest.", got)
    for inside, end in ((code <= high, low), (code >= low, high)):
        if np.allclose(g, np.where(inside, grad, 0), rtol=1e-6):
            cause = f"Codes beyond {end} were clipped, too: no gradient passes at either end."
            return Slip("one-end", wanted, cause, got)
    if np.allclose(g, np.where(back != 0, 1, 0)):
        return Slip("mask", wanted, "This is the slope. The gradient is the slope times the one that arrives.", got)
    return Slip(
        "gradient",
        wanted,
        "grad as it arrives where the code lies from low to high before it is clipped, 0 elsewhere.",
        got,
    )


def weights(n, spread, scale, low, high):
    def make(rng):
        w = rng.uniform(-spread, spread, n)
        code = w / scale
        w = np.where(np.abs(code - np.floor(code) - 0.5) < 0.02, w + 0.1 * scale, w)
        w[: min(n, 3)] = (scale * (high + 0.3), scale * (low - 0.3), scale * high)[: min(n, 3)]
        return w, rng.standard_normal(n), scale, low, high

    return make


THROUGH = FunctionTask(
    id="13-through",
    section=Section("13", "13_bits", "Training through a rounding"),
    title="A gradient that goes straight through",
    objective="Write a rounding with which a network can learn: forward, and the straight-through gradient",
    points=2,
    minutes=12,
    judge=judge_through,
    cases=(
        Case("two bits", weights(12, 3.0, 0.5, -2, 1)),
        Case("four bits", weights(40, 1.5, 0.125, -8, 7)),
        Case("nothing is clipped", lambda rng: (0.1 * rng.uniform(-1, 1, 9), rng.standard_normal(9), 0.03, -8, 7)),
        Case("nearly all is clipped", weights(30, 8.0, 0.1, -4, 3)),
        Case("unsigned codes", weights(20, 2.0, 0.25, 0, 3)),
    ),
    hints=(
        "How fast does round(x) grow with x? Where is that number useless, and what is put in its place?",
        "Where a code lies outside of low to high before it is clipped, a small change of w changes nothing. "
        "Elsewhere pretend that rounding is the identity.",
        "Round w / scale to codes. Keep a mask of those that lie from low to high before you clip them: with it "
        "the gradient is multiplied. The forward pass gives the clipped codes times the scale.",
    ),
)
