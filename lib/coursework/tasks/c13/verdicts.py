"""13-verdicts: Six integer layers, one of them right."""

import numpy as np

from ...definition import Case, Section, Slip
from ...kinds.detective import DetectiveTask, Fault
from ...kinds.function import FunctionTask


def exact(x, w, bias, zero, scale, out_zero):
    """Codes of the result: sums of (x - zero) * w, plus bias, scaled, rounded, moved, clipped to uint8."""
    sums = (x.astype(np.int64) - zero) @ w.astype(np.int64).T + bias
    return np.clip(np.rint(sums * scale) + out_zero, 0, 255).astype(np.int64)


# The statement shows these; a test compares.
def first(x, w, bias, zero, scale, out_zero):
    sums = x.astype(np.int32) @ w.astype(np.int32).T + bias
    return np.clip(np.rint(sums * scale) + out_zero, 0, 255)


def second(x, w, bias, zero, scale, out_zero):
    sums = (x.astype(np.int32) - zero) @ w.astype(np.int32).T
    return np.clip(np.rint(sums * scale + bias) + out_zero, 0, 255)


def third(x, w, bias, zero, scale, out_zero):
    sums = x.astype(np.int32) @ w.astype(np.int32).T
    sums += bias - zero * w.astype(np.int32).sum(axis=1)
    return np.clip(np.rint(sums * scale) + out_zero, 0, 255)


def fourth(x, w, bias, zero, scale, out_zero):
    products = (x[:, None, :].astype(np.int16) - zero) * w.astype(np.int16)
    pairs = products[:, :, ::2].astype(np.int32) + products[:, :, 1::2]
    sums = np.clip(pairs, -32768, 32767).sum(axis=2) + bias
    return np.clip(np.rint(sums * scale) + out_zero, 0, 255)


def fifth(x, w, bias, zero, scale, out_zero):
    sums = (x.astype(np.int32) - zero) @ w.astype(np.int32).T + bias
    return np.clip(np.rint(sums * scale), 0, 255) + out_zero


def sixth(x, w, bias, zero, scale, out_zero):
    sums = (x.astype(np.int32) - zero) @ w.astype(np.int32).T + bias
    return np.clip(np.floor(sums * scale) + out_zero, 0, 255)


def judge_layer(arguments, result):
    right = exact(*arguments)
    found = np.asarray(result, np.float64)
    if found.shape != right.shape:
        return Slip("other", f"codes of shape {right.shape}", "")
    bad = np.argwhere(found != right)
    if not bad.size:
        return None
    row, column = bad[0]
    expected, got = f"code {right[row, column]}", f"code {found[row, column]:.0f} at [{row}, {column}]"
    for kind, program in (("zero", first), ("bias", second), ("pairs", fourth), ("ends", fifth), ("floor", sixth)):
        if np.array_equal(found, program(*arguments)):
            return Slip(kind, expected, "", got)
    return Slip("other", expected, "", got)


def codes(rows, outs, ins, largest):
    """make(rng) -> arguments of a layer. largest: weights may be so large; beyond 64 two products may exceed 16
    bits."""

    def make(rng):
        x = rng.integers(0, 256, (rows, ins)).astype(np.uint8)
        w = rng.integers(-largest, largest + 1, (outs, ins)).astype(np.int8)
        if largest > 64:
            x[0], w[0] = 255, 127
        bias = rng.integers(-2000, 2001, outs).astype(np.int32)
        return x, w, bias, 9, float(60 / (128 * largest * np.sqrt(ins))), 120

    return make


LAYER = FunctionTask(
    id="13-layer",
    title="",
    objective="",
    points=3,
    minutes=15,
    hints=("", "", ""),
    judge=judge_layer,
    cases=(
        Case("4 x 6 results of 32 terms, small weights", codes(4, 6, 32, 30)),
        Case("4 x 6 results of 32 terms, large weights", codes(4, 6, 32, 127)),
        Case("20 x 6 results of 8 terms", codes(20, 6, 8, 20)),
    ),
)

VERDICTS = DetectiveTask(
    id="13-verdicts",
    section=Section("13.2", "13_integer", "Back to eight bits"),
    title="Six integer layers, one of them right",
    objective="Find what is wrong with an integer layer whose results look nearly right",
    points=3,
    minutes=15,
    judge=LAYER,
    programs={"first": first, "second": second, "third": third, "fourth": fourth, "fifth": fifth, "sixth": sixth},
    run="run",
    faults=(
        Fault("right", "gives the codes of the specification"),
        Fault("zero", "the zero point of the input is not subtracted", ("zero",)),
        Fault("bias", "the bias is added in another unit", ("bias",)),
        Fault("pairs", "sums of two products are cut off at 16 bits", ("pairs",)),
        Fault("ends", "codes may lie beyond their ends", ("ends",)),
        Fault("floor", "rounds down, not to the nearest", ("floor",)),
    ),
    advice={
        "verdict": "Follow one sum of two terms through the program, with numbers: x = [9, 255], w = [3, 127], bias "
        "100, zero 9, scale 0.001, out_zero 120."
    },
    hints=(
        "Write down the formula, and in which unit each of its numbers counts: codes, sums, or codes of the result.",
        "sum of (x - zero) * w is the sum of x * w, minus zero times the sum of w. Who writes it so may be right.",
        "Which program clips before it has added everything? Which adds the bias behind the scale? Which numbers does "
        "an int16 not hold?",
    ),
)
