"""09-sizes: How large is the result?"""

import numpy as np

from dlkernels.convolution import reference

from ...definition import Section
from ...kinds.prediction import PredictionTask, Question


def _size(n, kernel, stride=1, padding=0, dilation=1):
    """The side of the result, of a picture that is run."""
    picture, weight = np.zeros((1, n, n)), np.zeros((1, 1, kernel, kernel))
    return reference.conv2d(picture, weight, None, stride, padding, dilation).shape[-1]


SIZES = PredictionTask(
    id="09-sizes",
    section=Section("9", "09_convolution", "Stride, padding, dilation"),
    title="How large is the result?",
    objective="Predict the size of a convolution's result from kernel, stride, padding and dilation",
    points=1,
    minutes=5,
    questions=(
        Question(
            "plain",
            "side of the result: picture 28 x 28, kernel 5 x 5",
            lambda: _size(28, 5),
            {
                28: "That needs padding. Without it the window must lie inside the picture: where does its left edge "
                "stand last?",
                23: "The left edge can stand at 0, 1, 2 ... up to 28 - 5. How many places are that?",
                25: "Its left edge stands at 0 first. Where does it stand last, if the window has 5 pixels?",
                26: "That is a kernel of 3 x 3.",
                576: "Those are all numbers of the result. How many rows has it?",
            },
            "Write down the first and the last place at which the window's left edge can stand.",
        ),
        Question(
            "halved",
            "the same: picture 28 x 28, kernel 3 x 3, stride 2, padding 1",
            lambda: _size(28, 3, 2, 1),
            {
                28: "That is stride 1. With stride 2 the window jumps over every second place.",
                13: "That is without padding, or it is the number of steps: the first place counts, too.",
                15: "The last step would put the window beyond the padding: a place that is left over does not count.",
                13.5: "A rest of a step is no place: round down, and count the first place, too.",
            },
            "With padding the picture is 30 wide. Go from left to right in steps of 2, and count.",
        ),
        Question(
            "first_layer",
            "the same: picture 224 x 224, kernel 7 x 7, stride 2, padding 3",
            lambda: _size(224, 7, 2, 3),
            {
                109: "That is without padding. There are 3 zeros on each side.",
                110: "There are 3 zeros on each side, 6 in all.",
                111: (
                    "That is the number of steps, or padding on one side only. How wide is the padded picture, and how "
                    "many places are there, the first one included?"
                ),
                113: "The last step would put the window beyond the padding: a place that is left over does not count.",
                224: "That is stride 1. With stride 2 the window jumps over every second place.",
                223: "That would be the places of stride 1, less one.",
            },
            "With padding the picture is 230 wide. The left edge can stand at 0, 2, 4 ...: up to where?",
        ),
        Question(
            "spread",
            "the same: picture 32 x 32, kernel 3 x 3, dilation 4",
            lambda: _size(32, 3, 1, 0, 4),
            {
                30: "That is dilation 1. With dilation 4 neighbouring weights meet pixels that are 4 apart.",
                20: "Three weights have two gaps between them, not three: how many pixels does the window span?",
                21: "Three weights, 4 apart: first pixel 0, last pixel 8. How many pixels does the window span?",
                23: "The window spans 9 pixels. At how many places can its left edge stand?",
                25: "The window spans pixels 0 to 8: those are 9, not 8.",
                26: "Three weights have two gaps. How wide is a window with weights at 0, 4 and 8?",
                32: "That needs padding.",
            },
            "Draw the three weights of a row with their distance. From the first to the last, how many pixels is that?",
        ),
    ),
    hints=(
        "Take one row of the picture, and slide the window along it. Where does its left edge stand first, and where "
        "last?",
        "Padding makes the row longer, on both sides. Dilation makes the window wider: from its first weight to its "
        "last. Then the stride says which places are taken.",
        "Let n be the row with its padding, and w the pixels from the first weight to the last, both included. There "
        "are n - w + 1 places; every stride-th is taken, the first one always.",
    ),
)
