"""04-channels: Scale and shift, channels last."""

from ...definition import Budget, Case, Section, random_values, unwritten
from ...kinds.arrays import Suspect
from ...kinds.compiled import CompiledTask
from .shared import as_float64


def channel_arguments(*shape):
    """make(rng) -> x of that shape (..., channels), scale and shift of shape (channels,), out."""
    return lambda rng: (
        random_values(rng, *shape),
        random_values(rng, shape[-1]),
        random_values(rng, shape[-1]),
        unwritten(*shape),
    )


CHANNELS = CompiledTask(
    id="04-channels",
    section=Section("4.2", "04_vectors", "Vectors"),
    title="Scale and shift, channels last",
    objective="Order the loops over an NHWC image so that the compiler vectorises the inner one",
    points=2,
    minutes=10,
    spec=lambda x, scale, shift, out: as_float64(x) * scale + shift,
    cases=(
        Case("square: 2 x 4 x 4 x 4", channel_arguments(2, 4, 4, 4)),
        Case("one pixel: 1 x 1 x 1 x 5", channel_arguments(1, 1, 1, 5)),
        Case("ragged: 3 x 5 x 7 x 19", channel_arguments(3, 5, 7, 19)),
    ),
    suspects=(
        Suspect(lambda x, scale, shift, out: as_float64(x) * scale, "This is x * scale: the shift is missing."),
        Suspect(lambda x, scale, shift, out: as_float64(x) + shift, "This is x + shift: the scale is missing."),
        Suspect(
            lambda x, scale, shift, out: (as_float64(x) + shift) * scale, "This is (x + shift) * scale: multiply first."
        ),
        Suspect(lambda x, scale, shift, out: as_float64(x) * shift + scale, "Scale and shift are exchanged."),
        Suspect(
            lambda x, scale, shift, out: as_float64(x) * scale[0] + shift[0],
            "All channels were treated like channel 0. The index of scale and shift is that of the channel.",
        ),
    ),
    advice={
        "raised-IndexError": (
            "An index left its array. x has four axes: image, row, column, channel. scale and shift have one: channel."
        ),
        "wrong-value": (
            "Each element is x * scale + shift, in floating point (no int), with scale and shift of its own channel, "
            "the last index."
        ),
        "some-unwritten": "Not all images, rows, columns or channels were visited. Compare your four bounds with "
        "x.shape.",
    },
    budget=Budget(
        points=1,
        # some more for the sizes of an array that is seen as rows of pixels
        text="nearly all of the arithmetic on whole vectors, and no array allocated",
        require={"multiplies": 2 * 5 * 7 * 128 + 16, "scalar_share": 0.1, "arrays": 0},
        over=(
            "The result is right, but the inner loop does not walk through neighbours in memory, or an array is made "
            "on the way. Which of the four axes has stride 1 (4 bytes)? It belongs into the inner loop."
        ),
        case=Case("2 x 5 x 7 x 128", channel_arguments(2, 5, 7, 128)),
    ),
    hints=(
        "Print x.strides of a (2, 5, 7, 128) array of float32. Along which axis are elements neighbours?",
        "Four loops: images, rows, columns of pixels, and channels innermost. scale and shift are read along the same "
        "axis.",
        "The index of the innermost loop chooses the scale and the shift of an element: which axis of x does it count? "
        "The three loops outside only say which pixel it is.",
    ),
)
