"""11-roofline: Heads that share values, under the roof."""

import numpy as np

from ...definition import Case, Section, random_values, unwritten
from ...kinds.arrays import Suspect
from ...kinds.measured import Card, MeasuredTask
from .shared import NOTHING


def mix_arguments(groups, heads, positions, width):
    """make(rng) -> weights (groups, heads, positions), values (groups, positions, width), out (groups, heads,
    width)."""
    return lambda rng: (
        np.abs(random_values(rng, groups, heads, positions)),
        random_values(rng, groups, positions, width),
        unwritten(groups, heads, width),
    )


def mixed(weights, values):
    return np.matmul(weights.astype(np.float64), values.astype(np.float64))


_MIX = (2, 4, 128, 32)
ROOFLINE = MeasuredTask(
    id="11-roofline",
    section=Section("11.2", "11_attention", "Under the roof"),
    title="Heads that share values, under the roof",
    objective="Count flops and bytes of decoding with grouped heads, and say what bounds it",
    points=3,
    minutes=18,
    spec=lambda weights, values, out: mixed(weights, values),
    rtol=1e-4,
    atol=1e-5,
    cases=(
        Case("2 groups of 3 heads, 10 positions, 5 columns", mix_arguments(2, 3, 10, 5)),
        Case("one of each", mix_arguments(1, 1, 1, 1)),
        Case("3 groups of 1 head, 7 positions, 8 columns", mix_arguments(3, 1, 7, 8)),
    ),
    suspects=(
        Suspect(
            lambda weights, values, out: (
                mixed(weights, np.repeat(values[:1], len(values), 0)) if len(values) > 1 else NOTHING
            ),
            "All groups used the values of group 0. Each has its own.",
        ),
        Suspect(
            lambda weights, values, out: (
                mixed(np.repeat(weights[:, :1], weights.shape[1], 1), values) if weights.shape[1] > 1 else NOTHING
            ),
            "All heads of a group used the weights of the first. They share the values, not the weights.",
        ),
        Suspect(
            lambda weights, values, out: mixed(weights[..., 1:], values[:, 1:]) if weights.shape[2] > 1 else NOTHING,
            "The first position is missing: does the loop over positions begin at 0?",
        ),
        Suspect(
            lambda weights, values, out: mixed(weights[..., -1:], values[:, -1:]) if weights.shape[2] > 1 else NOTHING,
            "This is the term of the last position alone: the terms must be added up, not replaced.",
        ),
        Suspect(
            lambda weights, values, out: mixed(np.ones_like(weights), values),
            "The weights are missing: these are sums of values.",
        ),
        Suspect(
            lambda weights, values, out: mixed(weights, values) / weights.sum(axis=2, keepdims=True),
            "The weights were divided by their sum. They come from a softmax, ready to use.",
        ),
    ),
    claimed=Case("2 groups of 4 heads, 128 positions, 32 columns", mix_arguments(*_MIX)),
    measured=Case("512 groups of 4 heads, 128 positions, 32 columns", mix_arguments(512, *_MIX[1:])),
    card=Card(peak=200e9, bandwidth=25e9),
    advice={
        "flops": "For one number of out: a multiplication and an addition for each of 128 positions, as they stand in "
        "your loop. Then all numbers of out: 2 * 4 * 32.",
        "moved": "weights have 2 * 4 * 128 numbers, values 2 * 128 * 32, out 2 * 4 * 32, each of 4 bytes. A value "
        "counts once, though four heads use it: that is what sharing saves.",
        "roof": "The ridge is peak divided by bandwidth. Is your intensity to the left of it, or to the right?",
        "raised-IndexError": "An index left its array: values have no axis for the heads, as those of a group share "
        "them.",
        "raised-ImportError": "Write the loops yourself: `@` and np.dot inside a numba function call a library.",
        "not-finite": "The sum begins with what stood in out. Begin it with 0.",
        "adds-to-old": "The sum begins with what stood in out. Begin it with 0.",
    },
    hints=(
        "How many products are there for one number of out? Which of the three arrays is the largest, and how many "
        "heads use each number of it?",
        "Four loops: groups, heads, columns, positions; a sum in the innermost. Every number of weights, values and "
        "out counts once for the bytes, however often it is loaded.",
        "A sum that begins with 0 takes two flops for each position: multiply by the numbers of out. Bytes: 4 times "
        "the sizes of the three arrays added up. With one head in a group it would be near half a flop for each byte; "
        "four share here.",
    ),
)
