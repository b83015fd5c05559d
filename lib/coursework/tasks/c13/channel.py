"""13-channel: A convolution's weights, a scale for each channel, and the bias as a sum."""

import numpy as np

from ...definition import Case, Section, Slip
from ...kinds.function import FunctionTask
from ...plain import reals


def folded(weight, bias, input_scale):
    """(codes int8 of the weight's shape, scales (out,), bias as int32 sums (out,)): symmetric, -127 to 127."""
    weight = np.asarray(weight, np.float64)
    sizes = np.abs(weight).reshape(len(weight), -1).max(axis=1)
    scales = np.where(sizes > 0, sizes / 127, 1.0)
    codes = np.rint(weight / scales.reshape(-1, 1, 1, 1))
    return codes, scales, np.rint(np.asarray(bias, np.float64) / (input_scale * scales))


def _arrays(result):
    if not isinstance(result, tuple | list) or len(result) != 3:
        return None
    found = [reals(x) for x in result]
    return None if any(x is None for x in found) else found


def judge_channel(arguments, result):
    weight, bias, input_scale = arguments
    codes, scales, sums = folded(*arguments)
    expected = f"scales {np.round(scales[:3], 6).tolist()}..., sums of the bias {sums[:3].astype(int).tolist()}..."
    arrays = _arrays(result)
    if arrays is None:
        return Slip(
            "type", expected, "Return three arrays: the codes, a scale for each filter, the bias as whole numbers."
        )
    q, s, b = arrays
    if s.shape != scales.shape:
        if s.size == 1 < scales.size:
            return Slip(
                "one-scale", expected, f"This is one scale for all. There are {len(scales)} filters: each has its own."
            )
        if s.size == weight.shape[1] != scales.size:
            cause = (
                "There is a scale for each input channel here. All terms of one sum need the same scale: that is a "
                "filter's."
            )
            return Slip("wrong-axis", expected, cause)
        cause = f"There is a scale for each filter, weight.shape[0] = {len(scales)}: one row of them."
        return Slip("shape", expected, cause, f"scales of shape {s.shape}")
    if q.shape != codes.shape:
        return Slip("shape", expected, f"The codes have the shape of the weight, {codes.shape}.")
    if not np.isfinite(s).all() or not (s > 0).all():
        return Slip("no-scale", expected, "A filter may be all zeros: then its scale is 1, not 0 or NaN.")
    off = np.flatnonzero(np.abs(s - scales) > 1e-5 * scales)
    if off.size:
        c = off[0]
        got = f"scale {s[c]:.6g} of filter {c}"
        if abs(s[c] - np.abs(weight).max() / 127) <= 1e-5 * s[c]:
            return Slip(
                "one-scale",
                f"{scales[c]:.6g}",
                "This is the scale of the whole tensor. Take the largest size of each filter.",
                got,
            )
        if abs(s[c] - weight[c].max() / 127) <= 1e-5 * abs(s[c]):
            return Slip(
                "no-size", f"{scales[c]:.6g}", "The largest size counts: a weight far below 0 needs its code, too.", got
            )
        for steps in (128, 255, 256):
            if abs(s[c] - np.abs(weight[c]).max() / steps) <= 1e-5 * s[c]:
                cause = f"The largest size gets the code 127, so it is divided by 127, not by {steps}."
                return Slip("steps", f"{scales[c]:.6g}", cause, got)
        if abs(s[c] - 1 / scales[c]) <= 1e-5 * s[c]:
            cause = "This is 1 / scale. The scale is the width of a step: a code times it is the weight, nearly."
            return Slip("inverse", f"{scales[c]:.6g}", cause, got)
        return Slip("scale", f"{scales[c]:.6g}", "A filter's scale is its largest size divided by 127.", got)
    exact = np.asarray(weight, np.float64) / scales.reshape(-1, 1, 1, 1)
    tie = np.abs(exact - np.floor(exact) - 0.5) < 1e-4
    bad = np.argwhere(~((q == codes) | (tie & (np.abs(q - codes) == 1))))
    if bad.size:
        index = tuple(int(i) for i in bad[0])
        got = f"code {q[index]:.6g} at {list(index)}"
        if q[index] == np.trunc(exact[index]) or q[index] == np.floor(exact[index]):
            return Slip(
                "cut-off",
                f"{codes[index]:.0f}",
                "This was cut off: a cast to int does that. Round to the nearest first.",
                got,
            )
        return Slip("codes", f"{codes[index]:.0f}", "A code is round(weight / scale of its filter).", got)
    if b.shape != sums.shape:
        cause = "There is a bias for each filter, one row of them."
        return Slip("shape", f"{sums.size} numbers", cause, f"shape {b.shape}")
    # Half a step of rounding, and what float32 cannot say of a large sum.
    near = np.abs(b - bias / (input_scale * scales)) <= 0.5 + 1e-6 * np.maximum(np.abs(sums), 1)
    wrong = np.flatnonzero(~near | (b != np.rint(b)))
    return _wrong_bias(b, bias, scales, sums, input_scale, int(wrong[0])) if wrong.size else None


def _wrong_bias(b, bias, scales, sums, input_scale, c):
    value, got = float(b[c]), f"{b[c]:.9g} of filter {c}"

    def near(x):
        return abs(value - x) <= 1 + 1e-3 * abs(x)

    if near(bias[c] / scales[c]):
        cause = "The sum's unit is the product of two scales. The input's is missing."
        return Slip("bias-input", f"{sums[c]:.0f}", cause, got)
    if near(bias[c] / input_scale):
        cause = "The sum's unit is the product of two scales. The filter's own is missing."
        return Slip("bias-weight", f"{sums[c]:.0f}", cause, got)
    if abs(value - bias[c]) <= 1e-4 * abs(bias[c]) + 1e-6:
        cause = "This is the bias as it was. The sums count in steps of input_scale * scale: how many of them is it?"
        return Slip("bias-float", f"{sums[c]:.0f}", cause, got)
    if abs(value) in (127, 128):
        cause = "The bias is added to a sum of 32 bits: it is not clipped to eight."
        return Slip("bias-clipped", f"{sums[c]:.0f}", cause, got)
    exact = bias[c] / (input_scale * scales[c])
    if abs(value - exact) <= 1 + 1e-6 * abs(exact):
        cause = "The bias is a whole number, the nearest: it is added to whole numbers. A cast to int cuts off instead."
        return Slip("bias-rounding", f"{sums[c]:.0f}", cause, got)
    return Slip("bias", f"{sums[c]:.0f}", "The bias becomes round(bias / (input_scale * scale of its filter)).", got)


def layer(filters, channels, size, spread=0, zero=None, skew=0.0):
    """make(rng) -> weight (filters, channels, size, size), bias, input_scale. spread: filters differ by up to 2^spread
    in size; zero: the number of a filter that is all zeros."""

    def make(rng):
        weight = rng.standard_normal((filters, channels, size, size)) - skew
        weight *= 2.0 ** -rng.integers(0, spread + 1, (filters, 1, 1, 1))
        if zero is not None:
            weight[zero] = 0
        return (
            weight.astype(np.float32),
            rng.standard_normal(filters).astype(np.float32),
            float(rng.uniform(0.01, 0.05)),
        )

    return make


CHANNEL = FunctionTask(
    id="13-channel",
    section=Section("13", "13_bits", "A scale for each channel"),
    title="A scale for each filter, and a bias that is a sum",
    objective="Prepare a convolution for integers: codes by filter, and the bias in the unit of the sums",
    points=2,
    minutes=15,
    judge=judge_channel,
    cases=(
        Case("4 filters of 3 x 3", layer(4, 2, 3)),
        Case("filters of very different sizes", layer(6, 3, 3, 8)),
        Case("most weights below 0", layer(5, 4, 1, 2, None, 1.5)),
        Case("a filter of zeros", layer(3, 2, 3, 1, 1)),
        Case("more inputs than filters", layer(2, 7, 2, 3)),
    ),
    advice={
        "raised-RuntimeWarning": "A filter may be all zeros, and then its largest size is 0: its scale is 1.",
        "raised-ZeroDivisionError": "A filter may be all zeros, and then its largest size is 0: its scale is 1.",
    },
    hints=(
        "Which weights meet in one sum? They need one scale: which axes of the weight is the largest size taken over?",
        "A sum of products of codes counts in steps of input_scale * scale. How many such steps is the bias?",
        "Take abs of the weight and its max over the axes 1, 2 and 3: one number for each filter. A 127th of it is "
        "the scale, or 1 where it is 0. To divide the weight by the scales, give them the shape (filters, 1, 1, "
        "1). The bias is divided by the product of both scales, and rounded.",
    ),
)
