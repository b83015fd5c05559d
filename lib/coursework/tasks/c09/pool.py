"""09-pool: Where is the largest pixel?"""

import math

import numpy as np

from ...definition import Case, Section
from ...kinds.arrays import Suspect
from ...kinds.kernel import KernelTask
from .shared import NOTHING

POOL_BLOCK = (8, 4, 1)


def pool_case(name, pixels, channels, height, width, size, stride, padding):
    """A case of a kernel with a thread for each window, channels along z. `pixels(rng, shape)` makes the pictures."""
    high, wide = ((n + 2 * padding - size) // stride + 1 for n in (height, width))

    def make(rng):
        x = pixels(rng, (channels, height, width)).astype(np.float32)
        return x, size, stride, padding, np.full((channels, high, wide), -7777, np.int64)

    said = f"{name}: {channels} of {height} x {width}, windows of {size} x {size}, stride {stride}, padding {padding}"
    grid = (-(-wide // POOL_BLOCK[0]), -(-high // POOL_BLOCK[1]), channels)
    return Case(said, make, grid=grid, block=POOL_BLOCK)


def all_different(rng, shape):
    return rng.permutation(math.prod(shape)).reshape(shape) - math.prod(shape)


def many_equal(rng, shape):
    return rng.integers(-3, 0, shape)


def with_nan(rng, shape):
    x = rng.integers(-3, 3, shape).astype(float)
    x[rng.random(shape) < 0.15] = np.nan
    return x


def with_infinities(rng, shape):
    x = rng.integers(-3, 3, shape).astype(float)
    x[..., : shape[-1] // 2 + 1] = -np.inf
    x[..., 0, -1] = np.inf
    return x


def places_of_maxima(
    x,
    size,
    stride,
    padding,
    best=-np.inf,
    first=True,
    equal=False,
    nan="last",
    outside=None,
    again=False,
    least=False,
    shift=0,
):
    """Where the largest pixel of each window lies, row * width + column, as PyTorch finds it; the options are
    mistakes."""
    channels, height, width = x.shape
    high, wide = ((n + 2 * padding - size) // stride + 1 for n in (height, width))
    found = np.full((channels, high, wide), -1)
    for c, y, z in np.ndindex(*found.shape):
        top, none = best, first
        for ky, kx in np.ndindex(size, size):
            i, j = y * stride + ky - padding + shift, z * stride + kx - padding + shift
            there = 0 <= i < height and 0 <= j < width
            if not there and outside is None:
                continue
            v = float(x[c, i, j]) if there else outside
            v = -v if least else v
            if np.isnan(v):
                larger = nan == "last" or (nan == "first" and not np.isnan(top)) or (nan == "begin" and none)
            else:
                larger = none or v > top or (equal and v >= top)
            if larger:
                top, found[c, y, z] = v, i * width + j
                none = again and found[c, y, z] < 0
    return found


def _pool(**mistake):
    return lambda x, size, stride, padding, out: places_of_maxima(x, size, stride, padding, **mistake)


def _of_place(change):
    """`change(c, i, j, x, size, stride, padding, y, z)` of the place (i, j) of window (y, z)."""

    def formula(x, size, stride, padding, out):
        right = places_of_maxima(x, size, stride, padding)
        c, y, z = np.indices(right.shape)
        i, j = right // x.shape[2], right % x.shape[2]
        return change(c, i, j, x, size, stride, padding, y, z)

    return formula


POOL = KernelTask(
    id="09-pool",
    section=Section("9", "09_convolution", "Pooling"),
    title="Where is the largest pixel?",
    objective="Write max pooling that finds the places of the largest pixels, with ties, NaN and padding as PyTorch "
    "has them",
    points=3,
    minutes=18,
    spec=lambda x, size, stride, padding, places: places_of_maxima(x, size, stride, padding),
    cases=(
        pool_case("one block, all different", all_different, 1, 8, 16, 2, 2, 0),
        pool_case("ragged, overlapping, padded", all_different, 2, 9, 13, 3, 2, 1),
        pool_case("many equal", many_equal, 2, 7, 10, 3, 1, 1),
        pool_case("NaN among them", with_nan, 1, 8, 11, 3, 2, 1),
        pool_case("-inf, and one inf", with_infinities, 1, 6, 12, 2, 2, 1),
        pool_case("exact", all_different, 1, 16, 32, 2, 2, 0),
    ),
    writer=lambda index, case: (
        (index[2] // POOL_BLOCK[0], index[1] // POOL_BLOCK[1], index[0]),
        (index[2] % POOL_BLOCK[0], index[1] % POOL_BLOCK[1], 0),
    ),
    suspects=(
        Suspect(
            _pool(equal=True),
            "Of several that are equally large this is the last. The first counts: when may a later one take its "
            "place?",
        ),
        Suspect(
            _pool(nan="never"),
            "A NaN was passed over: each comparison with NaN is false. A NaN counts as larger than all; math.isnan "
            "tells.",
        ),
        Suspect(
            _pool(nan="begin"),
            "A NaN was passed over, unless it came first; then it stayed. Each comparison with NaN is false. A NaN "
            "counts as larger than all; math.isnan tells.",
        ),
        Suspect(
            _pool(nan="first"),
            "Of several NaN this is the first. As in PyTorch the last one counts: a NaN takes the place of whatever "
            "was there.",
        ),
        Suspect(
            _pool(equal=True, nan="never"),
            "Of several that are equally large this is the last, and a NaN was passed over: each comparison with NaN "
            "is false.",
        ),
        Suspect(
            _pool(first=False),
            "Where all pixels of a window are -inf, none is larger than what the search begins with, and none is "
            "found. The first pixel counts, whatever it is.",
        ),
        Suspect(
            _pool(best=0, first=False),
            "In some windows no pixel was found, and -1 is stored. Does the search begin with 0, which is larger than "
            "all of them? Begin with -math.inf, or with the first pixel.",
        ),
        Suspect(
            _pool(outside=-np.inf),
            "In a window of -inf the place is that of padding. Was padding compared as -inf, or does the search begin "
            "at the corner of the window? The first pixel that the picture has counts.",
        ),
        Suspect(
            _pool(outside=-np.inf, again=True),
            "In a window of -inf the place is that of padding, which was compared as -inf. The first pixel that the "
            "picture has counts.",
        ),
        Suspect(
            _pool(outside=0.0),
            "Beyond the picture a 0 was compared, too, and it is larger than negative pixels. Padding is no pixel: it "
            "is never the largest.",
        ),
        Suspect(
            lambda x, size, stride, padding, out: places_of_maxima(x, size, 1, padding)[
                :, : out.shape[1], : out.shape[2]
            ],
            "The stride was not used: window (y, z) begins at (y * stride - padding, z * stride - padding).",
        ),
        Suspect(
            lambda x, size, stride, padding, out: places_of_maxima(x, size, stride, padding, shift=padding),
            "The padding was not subtracted: window (y, z) begins at (y * stride - padding, z * stride - padding).",
        ),
        Suspect(
            _of_place(lambda c, i, j, x, size, stride, p, y, z: np.nan_to_num(x[c, i, j])),
            "These are the largest pixels themselves. Their places are asked for: row * width + column.",
        ),
        Suspect(_pool(least=True), "This is where the smallest pixel is. Is the comparison turned round?"),
        Suspect(
            _of_place(lambda c, i, j, x, size, stride, p, y, z: (i - y * stride + p) * size + j - z * stride + p),
            "These are places within the window. The place in the picture is asked for: row * width + column, of the "
            "picture.",
        ),
        Suspect(
            _of_place(lambda c, i, j, x, size, stride, p, y, z: i * x.shape[1] + j),
            "A row of the picture has `width` pixels, x.shape[2], not x.shape[1]: the place is row * width + column.",
        ),
        Suspect(
            _of_place(lambda c, i, j, x, size, stride, p, y, z: j * x.shape[1] + i),
            "Rows and columns are exchanged: the place is row * width + column.",
        ),
        Suspect(
            _of_place(lambda c, i, j, x, size, stride, p, y, z: (c * x.shape[1] + i) * x.shape[2] + j),
            "The place is counted from the first channel on. It is that within its own channel, row * width + column.",
        ),
        Suspect(
            _of_place(lambda c, i, j, x, size, stride, p, y, z: (i + p) * (x.shape[2] + 2 * p) + j + p),
            "These are places in a picture with its padding. That of x itself is asked for: rows and columns without "
            "the padding.",
        ),
        Suspect(
            _of_place(lambda c, i, j, x, size, stride, p, y, z: (i + p) * x.shape[2] + j + p),
            "The padding is still in row and column. They are those of x: subtract it before you store, too.",
        ),
        Suspect(
            lambda x, size, stride, padding, out: (
                places_of_maxima(np.concatenate((x[:1],) * len(x)), size, stride, padding) if len(x) > 1 else NOTHING
            ),
            "All channels were searched in channel 0.",
        ),
    ),
    advice={
        "out-of-bounds": (
            "Two guards are needed: one for the thread, whose window out must have, and one for each pixel, as a "
            "window may reach beyond the picture: its row must be from 0 to height - 1, its column from 0 to width - 1."
        ),
        "none-beyond": (
            "Each thread has a window here. A pixel of it may lie beyond the picture: its row must be from 0 to height "
            "- 1, its column from 0 to width - 1. Are row and column exchanged somewhere?"
        ),
        "negative-index": "This pixel lies above or to the left of the picture: padding, which is never the largest. "
        "Ask before you load.",
        "constant": (
            "Every place is the same. Is a new largest pixel remembered, with its place? And may it be that nothing is "
            "larger than what the search begins with?"
        ),
        "wrong-value": (
            "Work out the first wrong window: which pixels does it have, which of them is the largest, and at which "
            "row * width + column of its channel does it lie? If a window has no pixel above -inf, its first pixel "
            "counts. Is the padding subtracted, and left out also where all pixels are below 0? To ask for NaN: "
            "math.isnan(pixel), or pixel != pixel."
        ),
        "some-unwritten": (
            "Some windows were never stored. cuda.grid(3) gives columns first, then rows, then channels: is each "
            "compared with its own axis of places?"
        ),
        "raised-TypeError": "x[c, i, j] is one pixel, and `places` takes one whole number for each window.",
    },
    hints=(
        "To find where the largest of a few numbers is, what must you remember on the way? And which pixel is the "
        "first of a window that begins above and to the left of the picture?",
        "Remember two things: the largest so far, and its place; -1 says that there is none yet. Go through the window "
        "row by row and leave out what the picture does not have. Three reasons let a pixel in: there is none yet, it "
        "is larger, it is NaN.",
        "`c, y, z` are blockIdx.z and the two of cuda.grid(3), the column first. One `if` for the picture's edges; "
        "inside it one with three conditions and `or`. What `>` says where one of the two is NaN, think over: is the "
        "last NaN found, and does it stay?",
    ),
)
