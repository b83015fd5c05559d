"""09-roofline: A depthwise layer under the roof."""

import numpy as np

from ...definition import Case, Section, random_values, unwritten
from ...kinds.arrays import Suspect
from ...kinds.measured import Card, MeasuredTask
from .shared import NOTHING, ONE_TAP, TAPS, windows

EDGE = 34


def depthwise_arguments(channels, height=EDGE, width=EDGE):
    """make(rng) -> x (channels, height, width), weight (channels, 3, 3), out (channels, height - 2, width - 2)."""
    return lambda rng: (
        random_values(rng, channels, height, width),
        random_values(rng, channels, 3, 3),
        unwritten(channels, height - 2, width - 2),
    )


def depthwise(x, weight):
    """Each channel with a kernel of its own, no padding, float64."""
    return np.stack([windows(x[c : c + 1], weight[c : c + 1], 0) for c in range(len(x))])


ROOFLINE = MeasuredTask(
    id="09-roofline",
    section=Section("9.2", "09_convolution_fast", "Depthwise: the limit is memory?"),
    title="A depthwise layer under the roof",
    objective="Count the flops and bytes of a depthwise convolution, and say what bounds it",
    points=3,
    minutes=18,
    spec=lambda x, weight, out: depthwise(x, weight),
    atol=1e-5,
    cases=(
        Case("one window: 1 of 3 x 3", depthwise_arguments(1, 3, 3)),
        Case("one channel: 1 of 8 x 6", depthwise_arguments(1, 8, 6)),
        Case("channels: 5 of 6 x 11", depthwise_arguments(5, 6, 11)),
    ),
    suspects=(
        Suspect(
            lambda x, weight, out: np.stack([windows(x, weight, 0)] * len(x)) if len(x) > 1 else NOTHING,
            "This is the sum over all channels: an ordinary layer. Depthwise means that each channel stays by itself.",
        ),
        Suspect(
            lambda x, weight, out: depthwise(x, np.repeat(weight[:1], len(x), 0)) if len(x) > 1 else NOTHING,
            "All channels were computed with the weights of channel 0. Each has its own.",
        ),
        Suspect(
            lambda x, weight, out: depthwise(np.repeat(x[:1], len(x), 0), weight) if len(x) > 1 else NOTHING,
            "All channels were computed from the pixels of channel 0.",
        ),
        *(
            Suspect(
                lambda x, weight, out, f=formula: np.stack([f(x[c, None], weight[c, None], 0) for c in range(len(x))]),
                cause,
            )
            for formula, cause in (*TAPS, *ONE_TAP)
        ),
    ),
    claimed=Case(f"4 channels of {EDGE} x {EDGE}", depthwise_arguments(4)),
    measured=Case(f"4096 channels of {EDGE} x {EDGE}", depthwise_arguments(4096)),
    card=Card(peak=200e9, bandwidth=25e9),
    advice={
        "flops": "Write down the multiplications and additions of one element of the result as they stand in your "
        "loop, then multiply by the number of elements: 4 channels of 32 x 32.",
        "moved": "x has 4 channels of 34 x 34, the result 4 of 32 x 32, and each channel has 9 weights. An element "
        "counts once, however often it is loaded, and has 4 bytes.",
        "roof": "The ridge is peak divided by bandwidth. Is your intensity to the left of it, or to the right?",
        "raised-IndexError": "An index left its array: the result is two rows and columns smaller than the picture.",
        "not-finite": "The sum begins with what stood in out. Begin it with 0.",
    },
    hints=(
        "For one element of the result: how many weights, and so how many products? How many numbers of x does a whole "
        "channel read?",
        "Without a sum over channels there are nine products for each number that is stored, whatever the number of "
        "channels. Every number of x, of weight and of out counts once for the bytes.",
        "A sum that begins with 0 takes a multiplication and an addition for each of nine weights: how many sums are "
        "there, if a picture of 34 loses two pixels each way? Bytes: which of the three arrays is how large, with 4 "
        "bytes for each number?",
    ),
)
