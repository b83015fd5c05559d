"""09-im2col: A convolution becomes a matmul."""

import numpy as np

from ...definition import Budget, Case, Section, random_values, unwritten
from ...kinds.arrays import Suspect
from ...kinds.parallel import ParallelTask, Watch
from .shared import NOTHING, names_over, rimmed


def columns_arguments(channels, height, width, kernel, stride, padding):
    """make(rng) -> x (channels, height, width), kernel, stride, padding, out (channels * kernel**2, windows)."""
    high, wide = ((n + 2 * padding - kernel) // stride + 1 for n in (height, width))
    return lambda rng: (
        random_values(rng, channels, height, width),
        kernel,
        stride,
        padding,
        unwritten(channels * kernel**2, high * wide),
    )


def columns_case(name, channels, height, width, kernel, stride, padding):
    said = f"{name}: {channels} of {height} x {width}, kernel {kernel}, stride {stride}, padding {padding}"
    return Case(said, columns_arguments(channels, height, width, kernel, stride, padding))


def columns(
    x, kernel, stride, padding, order="ckl", turned=False, mode="constant", shift=0, by_column=False, jump=None
):
    """The matrix of im2col; the options are mistakes. `jump`: from window to window, where that is not the stride."""
    high, wide = ((n + 2 * padding - kernel) // stride + 1 for n in x.shape[1:])
    x, jump = rimmed(x, padding, mode, shift), jump or stride
    parts = np.empty((len(x), kernel, kernel, high, wide))
    for ky, kx in np.ndindex(kernel, kernel):
        parts[:, ky, kx] = x[:, ky : ky + (high - 1) * jump + 1 : jump, kx : kx + (wide - 1) * jump + 1 : jump]
    parts = parts[:, ::-1, ::-1] if turned else parts
    parts = parts.swapaxes(3, 4) if by_column else parts
    return parts.transpose(*("ckl".index(axis) for axis in order), 3, 4).reshape(-1, high * wide)


def _columns(**mistake):
    return lambda x, kernel, stride, padding, out: columns(x, kernel, stride, padding, **mistake)


_COUNTED = columns_case("counted", 3, 12, 20, 3, 1, 1)
_ELEMENTS = 27 * 240

IM2COL = ParallelTask(
    id="09-im2col",
    section=Section("9.2", "09_convolution_fast", "Rung 3: im2col"),
    title="A convolution becomes a matmul",
    objective="Write im2col in parallel, without a padded copy",
    points=3,
    minutes=22,
    spec=lambda x, kernel, stride, padding, out: columns(x, kernel, stride, padding),
    cases=(
        columns_case("one channel", 1, 5, 6, 3, 1, 0),
        columns_case("3 channels, padded", 3, 6, 9, 3, 1, 1),
        columns_case("jumps", 2, 9, 12, 3, 2, 1),
        columns_case("an even kernel", 2, 5, 8, 2, 3, 0),
        columns_case("1 x 1", 4, 4, 7, 1, 1, 0),
    ),
    suspects=(
        Suspect(
            _columns(order="clk"),
            "ky and kx are exchanged in the rows of the matrix: a row is (c * kernel + ky) * kernel + kx.",
        ),
        Suspect(
            _columns(order="klc"),
            "The channel changes fastest from row to row. It changes slowest, as in a weight of shape (channels, "
            "kernel, kernel).",
        ),
        Suspect(
            _columns(turned=True), "The kernel is turned round: the first row of a channel is the tap ky = 0, kx = 0."
        ),
        Suspect(
            _columns(by_column=True),
            "The windows come column by column. They come row by row: window (y, z) is column y * width of the result "
            "+ z.",
        ),
        Suspect(
            lambda x, kernel, stride, padding, out: (
                columns(x, kernel, stride, padding, mode="edge") if padding else NOTHING
            ),
            "A wrong border: beyond the edge the nearest pixel was used again. There the picture counts as 0.",
        ),
        Suspect(
            lambda x, kernel, stride, padding, out: (
                columns(x, kernel, stride, padding, mode="negative") if padding else NOTHING
            ),
            "A wrong border: a negative index takes a pixel from the other side. Beyond the edge the picture counts as "
            "0.",
        ),
        Suspect(
            lambda x, kernel, stride, padding, out: (
                columns(x, kernel, stride, padding, shift=padding) if padding else NOTHING
            ),
            "A wrong border: the padding was not subtracted. Window (0, 0) begins `padding` pixels above and to the "
            "left of the picture.",
        ),
        Suspect(
            lambda x, kernel, stride, padding, out: (
                columns(x, kernel, stride, padding, jump=1) if stride > 1 else NOTHING
            ),
            "The stride was not used: window (y, z) begins at (y * stride - padding, z * stride - padding).",
        ),
        Suspect(
            lambda x, kernel, stride, padding, out: (
                np.concatenate((columns(x[:1], kernel, stride, padding),) * len(x)) if len(x) > 1 else NOTHING
            ),
            "All channels are filled from channel 0.",
        ),
    ),
    advice={
        "raised-IndexError": (
            "An index left its array. A pixel of a window may lie beyond the picture: its row must be from 0 to height "
            "- 1, its column from 0 to width - 1. out has channels * kernel * kernel rows and a column for each "
            "window: high * wide are those of the result, not of the picture. Is a row counted up from round to round "
            "of the parallel loop? Rounds run at the same time: compute it."
        ),
        "raised-TypingError": (
            "numba has no np.pad, and none is needed: ask for each pixel where it lies before you load it. Or is a "
            "whole array used where one element is meant?"
        ),
        "some-unwritten": (
            "Where the picture has no pixel, a 0 must be stored: out holds anything before. And does each row of out "
            "have its turn: every channel, every ky, every kx? And each column: do `high` and `wide` count the first "
            "window, too?"
        ),
        "not-finite": "Where the picture has no pixel, a 0 must be stored: out holds anything before.",
        "wrong-value": (
            "Take the first wrong element, [row, column]. From the row follow c, ky and kx, from the column y and z: "
            "the pixel is x[c, y * stride + ky - padding, z * stride + kx - padding], or 0 where there is none. "
            "Padding is subtracted here. In `high` and `wide`, each from its own side of the picture, it counts twice; "
            "and a row of windows has `wide` columns."
        ),
        "race": (
            "Two rounds of the parallel loop store the same element. Let each round have rows of out of its own: those "
            "of a channel, or a single one. Is a row's number made of c, ky and kx?"
        ),
        "carried-scalar": (
            "A number goes on from one round of the parallel loop to the next, such as a row that is counted up. "
            "Rounds run at the same time: compute the row from c, ky and kx."
        ),
    },
    watch=Watch(
        case=columns_case("watched", 2, 5, 6, 3, 1, 1),
        outside=0.7,  # first a padded copy
        starts=3,
        larger=(columns_case("a large picture", 4, 43, 37, 3, 1, 1),),
    ),
    budget=Budget(
        points=1,
        text="no array made inside, each element of out stored once, at most one pixel loaded for it",
        require={"arrays": 0, "numpy_bytes": 4096, "stores": _ELEMENTS, "loads": _ELEMENTS},
        over="The result is right, but an array is made on the way. A padded copy is not needed: ask where a pixel "
        "lies before you load it.",
        causes=(
            (
                lambda rows: "stores" in names_over(rows) and "arrays" not in names_over(rows),
                "The result is right, but elements of out are stored twice: memory is written once more. Store the "
                "pixel or the 0, not first the one and then the other.",
            ),
            (
                lambda rows: "loads" in names_over(rows) and "arrays" not in names_over(rows),
                "The result is right, but more is loaded than one pixel for each element of out. What does the inner "
                "loop load beside it?",
            ),
        ),
        case=_COUNTED,
    ),
    hints=(
        "One column of the matrix is a window, written out as a list. In which order do its elements come? One row is "
        "one tap: what do its elements have in common?",
        "Let the threads share the rows: row r belongs to one channel and one tap. From r follow c, ky and kx, by // "
        "and %. Then two plain loops over the windows, y and z.",
        "`prange` goes over the rows of out; kx is r % kernel, and ky what is left of r // kernel in the same way. The "
        "result's width is that of the picture with both paddings, less the kernel, divided by the stride, plus 1. One "
        "conditional expression: the pixel if it is inside, else 0.",
    ),
)
