"""09-plane: A window slides over pictures, with zeros around."""

from ...definition import Budget, Case, Section, random_values, unwritten
from ...kinds.arrays import Suspect
from ...kinds.kernel import KernelTask
from .shared import BORDERS, NOTHING, ONE_TAP, TAPS, names_over, windows

WIDE, TALL = PLANE_BLOCK = (32, 4)  # a warp is 32 neighbours of a row


def plane_arguments(channels, height, width, tall, broad, padding):
    """make(rng) -> x (channels, height, width), weight (channels, tall, broad), padding, out."""
    high, wide = height + 2 * padding - tall + 1, width + 2 * padding - broad + 1
    return lambda rng: (
        random_values(rng, channels, height, width),
        random_values(rng, channels, tall, broad),
        padding,
        unwritten(high, wide),
    )


def plane_case(name, channels, height, width, tall, broad, padding):
    high, wide = height + 2 * padding - tall + 1, width + 2 * padding - broad + 1
    x, y = -(-wide // WIDE), -(-high // TALL)
    where = "1 block" if x * y == 1 else f"{x} x {y} blocks"
    many = f"{channels} channel{'s' if channels > 1 else ''}"
    said = f"{name}: {many} of {height} x {width}, kernel {tall} x {broad}, padding {padding}, {where}"
    return Case(said, plane_arguments(channels, height, width, tall, broad, padding), grid=(x, y), block=PLANE_BLOCK)


def _of_plane(formula):
    return lambda x, weight, padding, out: formula(x, weight, padding)


def _channels(change):
    """windows() of other channels: `change(x, weight)` gives them."""
    return lambda x, w, p: windows(*change(x, w), p) if len(x) > 1 else NOTHING


CHANNELS = (
    (_channels(lambda x, w: (x[:1], w[:1])), "This is the first channel alone. The sum goes over all channels."),
    (
        _channels(lambda x, w: (x[-1:], w[-1:])),
        "This is the last channel alone: does the sum begin at 0 again for each channel, or is the store inside the "
        "loop?",
    ),
    (_channels(lambda x, w: (x, 0 * w + w[:1])), "The weights of channel 0 were used for all channels."),
    (_channels(lambda x, w: (0 * x + x[:1], w)), "The pixels of channel 0 were used for all channels."),
    (_channels(lambda x, w: (x[:-1], w[:-1])), "The last channel is missing."),
)


def _cut(rows, columns):
    """windows() of x with zeros from the last row or column of out on, where out is smaller than x."""

    def formula(x, w, p):
        high, wide = x.shape[1] + 2 * p - w.shape[1] + 1, x.shape[2] + 2 * p - w.shape[2] + 1
        kept = x.copy()
        if rows:
            kept[:, high:] = 0
        if columns:
            kept[:, :, wide:] = 0
        return windows(kept, w, p) if (kept != x).any() else NOTHING

    return formula


EDGES = tuple(
    (
        _cut(rows, columns),
        "Pixels of x count as 0 from the edge of out on. Whether there is a pixel, x says: row < x.shape[1], column < "
        "x.shape[2]; out.shape is for the thread alone.",
    )
    for rows, columns in ((True, True), (True, False), (False, True))
)

PLANE = KernelTask(
    id="09-plane",
    section=Section("9.3", "09_convolution_gpu", "Rung 1: one thread for each result"),
    title="A window slides over pictures, with zeros around",
    objective="Write a convolution of several channels with zero padding, whose warps read neighbours",
    points=3,
    minutes=22,
    spec=lambda x, weight, padding, out: windows(x, weight, padding),
    atol=1e-5,
    cases=(
        plane_case("one block, no padding", 1, 6, 34, 3, 3, 0),
        plane_case("ragged, 3 channels", 3, 7, 40, 3, 3, 1),
        plane_case("a tall kernel", 2, 9, 21, 5, 3, 2),
        plane_case("an even kernel", 2, 6, 11, 2, 2, 1),
        plane_case("exact", 2, 8, 64, 3, 3, 1),
    ),
    partial={"one block, no padding: 1 channel of 6 x 34, kernel 3 x 3, padding 0, 1 block": 1},
    writer=lambda index, case: ((index[1] // WIDE, index[0] // TALL), (index[1] % WIDE, index[0] % TALL)),
    suspects=tuple(
        Suspect(_of_plane(formula), cause) for formula, cause in (*CHANNELS, *BORDERS, *EDGES, *TAPS, *ONE_TAP)
    ),
    advice={
        "out-of-bounds": (
            "Two guards are needed. One for the thread: the grid may reach beyond out. One for each pixel: its row "
            "must be from 0 to x.shape[1] - 1 and its column from 0 to x.shape[2] - 1, else it counts as 0. Is it an "
            "index of `weight`? It has as many channels as x, weight.shape[1] rows and weight.shape[2] columns."
        ),
        "none-beyond": (
            "Each thread has an element of out here, so it is the pixel, or the weight, that does not exist. Which row "
            "and column of x belong to (ky, kx), and which of the two lengths bounds which?"
        ),
        "negative-index": (
            "This pixel lies above or to the left of the picture, where it counts as 0. Ask before you load: a "
            "negative index is no place on a GPU."
        ),
        "some-unwritten": "Which thread has this element? x counts columns and y rows, and cuda.grid(2) gives x first.",
        "wrong-value": (
            "Work out the first wrong element: row y of out needs rows y + ky - padding of x, column z needs columns z "
            "+ kx - padding, of every channel. Do the loops go over all rows and columns of weight, and is each index "
            "compared with the length of its own axis? Is a term left out that should count, or one added twice?"
        ),
    },
    budget=Budget(
        points=1,
        text="at most 5 sectors for each load and each store of a warp, at most twice as many loads of a warp as a "
        "window has pixels and weights, and each element of out stored once",
        require={
            "sectors_per_request": 5,
            "global_load_requests": 2 * (2 * 2 * 3 * 3) * 8 * 64 // 32,
            "global_store_requests": 8 * 64 // 32,
        },
        over="The result is right, but out is stored more than once for each element: add up in a local variable, and "
        "store at the end.",
        causes=(
            (
                lambda rows: "sectors_per_request" in names_over(rows),
                "The result is right, but neighbouring threads of a warp load pixels that lie far apart: `threadIdx.x` "
                "changes fastest within a warp, so let it choose the column.",
            ),
            (
                lambda rows: "global_load_requests" in names_over(rows),
                "The result is right, but warps load too often. The 32 lanes of a warp should load together: does an "
                "`if` or a loop let a few of them work while the others wait? Each thread needs every weight once, and "
                "every pixel of its window once.",
            ),
        ),
        case=plane_case("exact", 2, 8, 64, 3, 3, 1),
    ),
    hints=(
        "With a kernel of 3 x 3 and padding 1: which nine pixels does out[0, 0] need, and which of them does the "
        "picture have?",
        "One thread, one element, one sum in a variable. Three loops: over channels, ky and kx. For each, the place of "
        "the pixel is that of the thread, plus (ky, kx), minus the padding.",
        "cuda.grid(2) gives the column first, then the row: a guard for both. In the innermost loop two lines for the "
        "place, (i, j); one `if` with four comparisons; under it a line that adds a product.",
    ),
)
