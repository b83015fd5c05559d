"""13-breaks: Numbers on which min-max loses."""

import numpy as np

from ...definition import Case, Section, Slip
from ...kinds.function import FunctionTask
from ...plain import reals

LOSES = 1.5  # times the error of the other range


def error(x, largest, bits):
    """Mean square error of numbers from 0 on, coded with 2^bits codes from 0 to `largest`."""
    if not largest > 0:
        return float(np.mean(np.square(x)))
    steps = 2**bits - 1
    codes = np.clip(np.rint(x * (steps / largest)), 0, steps)
    return float(np.mean(np.square(codes * (largest / steps) - x)))


def both(x, bits):
    """(error with the range up to the largest number, error with the range up to the 99th percentile)."""
    return error(x, x.max(), bits), error(x, np.percentile(x, 99), bits)


def judge_breaks(arguments, result):
    n, bits = arguments
    expected = f"{n} numbers from 0 on: the error of min-max at least {LOSES} times that of the percentile"
    x = reals(result)
    if x is None or not x.ndim:
        return Slip("type", expected, "Return numbers: a list, or an array of one dimension.")
    x = x.reshape(-1)
    if x.size != n:
        return Slip("count", expected, f"{n} numbers are asked for.", f"{x.size} of them")
    bad = np.flatnonzero(~((x >= 0) & (x < np.inf)))
    if bad.size:
        cause = "All numbers are finite, and none is below 0: they come out of a ReLU."
        return Slip("range", expected, cause, f"{x[bad[0]]:.6g}, number {bad[0]}")
    if x.max() > 1e9:
        return Slip("range", expected, "Stay below 1e9.", f"{x.max():.3g}")
    min_max, cut = both(x, bits)
    got = f"min-max {min_max:.4g}, percentile {cut:.4g}"
    if min_max >= LOSES * cut and min_max > 0:
        return None
    if x.max() == x.min() or min_max == 0:
        cause = "Min-max codes these without an error. Begin with many different numbers, as rng.uniform draws them."
        return Slip("no-error", expected, cause, got)
    clipped = float(np.mean(np.square(np.maximum(x - np.percentile(x, 99), 0))))
    if clipped > 0.5 * cut and clipped > 0.7 * min_max:
        cause = (
            "What the percentile clips costs more here than the coarse steps of min-max: a distance of 100 that is "
            "clipped counts 10,000. An outlier has to be far enough out to coarsen the steps, and near enough not to "
            "be missed."
        )
        return Slip("too-far", expected, cause, got)
    many = float(np.mean(x > 0.8 * x.max()))
    if many > 0.02:
        cause = (
            "The numbers fill the range up to the largest, so that nothing is gained by cutting it. Who needs few of "
            "its codes?"
        )
        return Slip("full", expected, cause, got)
    return Slip(
        "not-yet",
        expected,
        "Nearly. How many outliers are there, and how far out? Try each while the other is kept.",
        got,
    )


def asked(n, bits):
    return Case(f"{n} numbers, {bits} bits", lambda rng: (n, bits))


BREAKS = FunctionTask(
    id="13-breaks",
    section=Section("13", "13_bits", "Where to cut"),
    title="Numbers on which min-max loses",
    objective="Construct data for which the range from the least to the largest number is the wrong one",
    points=2,
    minutes=15,
    judge=judge_breaks,
    cases=(asked(1000, 3), asked(100, 2), asked(10_000, 4), asked(50_000, 5)),
    hints=(
        "Two errors compete: half a step for every number, and a whole distance for the few that are clipped. Which of "
        "them does one outlier change for min-max, and which for the percentile?",
        "With 1,000 numbers from 0 to 1 and one at M, min-max makes steps of M / 7 for all, about M * M / 588 on the "
        "mean; the percentile clips one number, (M - 1) * (M - 1) / 1000 on the mean, and has 1 / 588 from its own "
        "steps. For which M is the first larger?",
        "One outlier at 2.5 among numbers drawn from 0 to 1 does it for 3 bits and 1,000 numbers. With more bits the "
        "steps are finer, so take more numbers, and the outlier further out: about 4 for 5 bits.",
    ),
)
