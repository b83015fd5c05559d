"""Tasks of chapter 09, Convolution: windows that slide, what they share, and what is left to compute when it is shared."""

import math

import numpy as np

from dlkernels import cuda
from dlkernels.convolution import reference

from ..definition import Budget, Case, Section, random_values, unwritten
from ..golf import Golf
from ..kinds.arrays import Suspect
from ..kinds.compiled import CompiledTask
from ..kinds.counterexample import CounterexampleTask, Flaw
from ..kinds.data import Whole
from ..kinds.detective import DetectiveTask, Fault
from ..kinds.kernel import KernelTask
from ..kinds.measured import Card, MeasuredTask
from ..kinds.parallel import ParallelTask, Watch
from ..kinds.prediction import PredictionTask, Question

NOTHING = np.zeros(0)  # what a suspect gives for arguments that it does not fit
TOLD_FIRST = ("race", "divergent-barrier", "barrier-after-exit", "uninitialised-shared", "uninitialised-local")


def _over(rows):
    """The names of the counts that are over their limits."""
    return {o.name for o in rows}


# 09-sizes ----------------------------------------------------------------------------------------------------


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
                28: "That needs padding. Without it the window must lie inside the picture: where does its left edge stand last?",
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
                    "That is the number of steps, or padding on one side only. How wide is the padded picture, and how many places are there, the "
                    "first one included?"
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
                21: "Three weights that are 4 apart: first pixel 0, last pixel 8. How many pixels does the window span?",
                23: "The window spans 9 pixels. At how many places can its left edge stand?",
                25: "The window spans pixels 0 to 8: those are 9, not 8.",
                26: "Three weights have two gaps. How wide is a window with weights at 0, 4 and 8?",
                32: "That needs padding.",
            },
            "Draw the three weights of a row with their distance. From the first to the last, how many pixels is that?",
        ),
    ),
    hints=(
        "Take one row of the picture, and slide the window along it. Where does its left edge stand first, and where last?",
        "Padding makes the row longer, on both sides. Dilation makes the window wider: from its first weight to its last. Then "
        "the stride says which places are taken.",
        "Let n be the row with its padding, and w the pixels from the first weight to the last, both included. There are n - w + 1 "
        "places; every stride-th is taken, the first one always.",
    ),
)

# 09-line -----------------------------------------------------------------------------------------------------

LINE_BLOCK = 32


def line_arguments(results, taps, stride=1, rest=0):
    """make(rng) -> x (n,), weight (taps,), stride, out (results,). `rest`: elements of x at its end that no window reaches."""
    n = (results - 1) * stride + taps + rest
    return lambda rng: (random_values(rng, n), random_values(rng, taps), stride, unwritten(results))


def line_case(name, results, taps, stride=1, rest=0):
    grid = -(-results // LINE_BLOCK)
    where = "1 block" if grid == 1 else f"{grid} blocks"
    said = (
        f"{name}: {results} results, {taps} weight{'s' if taps > 1 else ''}, stride {stride}, {where} of {LINE_BLOCK}"
    )
    return Case(said, line_arguments(results, taps, stride, rest), grid=grid, block=LINE_BLOCK)


def along(x, weight, stride, out, step=1):
    """Weighted sums of windows that begin at i * stride, with `step` from one weight to the next, in float64."""
    x, places = x.astype(np.float64), np.arange(out.size) * stride
    if not weight.size or places[-1] + (weight.size - 1) * step >= x.size:
        return NOTHING
    return sum(w * x[places + t * step] for t, w in enumerate(weight.astype(np.float64)))


LINE = KernelTask(
    id="09-line",
    section=Section("9", "09_convolution", "The layer"),
    title="A window slides along a line",
    objective="Write a kernel in which each thread computes one weighted sum over a window",
    points=2,
    minutes=8,
    spec=lambda x, weight, stride, out: along(x, weight, stride, out),
    cases=(
        line_case("one block", 32, 3),
        line_case("ragged", 50, 4),
        line_case("ragged, jumps", 70, 5, 2, 1),
        line_case("one weight, wide jumps", 33, 1, 3, 2),
        line_case("exact", 64, 2),
    ),
    suspects=(
        Suspect(
            lambda x, weight, stride, out: along(x, weight[::-1], stride, out),
            "The weights are taken in the opposite order: weight[0] belongs to the first element of a window.",
        ),
        Suspect(
            lambda x, weight, stride, out: along(x, weight, 1, out),
            "The stride was not used: the window of out[i] begins at i * stride, not at i.",
        ),
        Suspect(
            lambda x, weight, stride, out: along(x, weight, 1, out, stride),
            "The stride was given to the weights. It belongs to i: windows begin `stride` apart, and within a window the elements are "
            "neighbours. (What you wrote is called dilation.)",
        ),
        Suspect(
            lambda x, weight, stride, out: along(x, weight[:-1], stride, out),
            "The last weight is missing: how many rounds has the loop over the weights?",
        ),
        Suspect(
            lambda x, weight, stride, out: along(x[1:], weight[1:], stride, out),
            "The first weight is missing: does the loop over the weights begin at 0?",
        ),
        Suspect(
            lambda x, weight, stride, out: along(x[weight.size - 1 :], weight[-1:], stride, out),
            "This is the last term of each sum alone: the terms must be added up, not replaced.",
        ),
        Suspect(
            lambda x, weight, stride, out: along(x, weight[:1], stride, out),
            "This is the first term of each sum alone. Does the loop end after its first round?",
        ),
        Suspect(
            lambda x, weight, stride, out: along(x[1:], weight, stride, out), "Each window begins one element too late."
        ),
        Suspect(
            lambda x, weight, stride, out: along(x, 0 * weight + 1, stride, out),
            "These are sums of the elements of x: the weights are missing.",
        ),
        Suspect(
            lambda x, weight, stride, out: along(x, 0 * weight + weight[0], stride, out),
            "weight[0] was used for all elements of a window. Which index of `weight` should change from term to term?",
        ),
    ),
    advice={
        "out-of-bounds": (
            "The grid may have more threads than out has elements: this thread may have none. If it has one, its window begins at "
            "i * stride and has weight.size elements, all neighbours: which index is that of the last one?"
        ),
        "none-beyond": (
            "Each thread has an element here, so no guard is missing. The window of out[i] begins at i * stride and has weight.size "
            "elements, all neighbours: which index is that of the last one?"
        ),
        "race": "Each thread has one element of out, its own, and adds up in a variable of its own.",
        "raised-TypeError": "x and weight are arrays: multiply one element of each, x[...] * weight[...].",
    },
    hints=(
        "Which elements of x does out[0] need, with 3 weights and stride 2? Which does out[1] need?",
        "Thread i has one sum. Its window begins at i * stride, and the element for weight t lies t further on.",
        "A guard for i by out.size; a sum that begins with np.float32(0); a loop over the weights that adds a product; the store "
        "behind the loop.",
    ),
)

# what may go wrong with a window that slides over a picture ----------------------------------------------------


def windows(x, weight, padding, mode="constant", top=None):
    """x (channels, height, width) and weight (channels, tall, broad) to one plane, float64. `top`: zeros above and to the left,
    where those are not as many as below and to the right; `padding` is the number on both sides together, halved."""
    x, weight = x.astype(np.float64), weight.astype(np.float64)
    top = padding if top is None else top
    before, after = (top, 2 * padding - top) if top >= 0 else (0, 2 * padding - top)
    if mode != "constant" and padding > min(x.shape[1:]) - 1:
        return NOTHING
    if mode == "abs":
        wide = np.pad(np.pad(x, ((0, 0), (before, 0), (before, 0)), "reflect"), ((0, 0), (0, after), (0, after)))
    else:
        wide = np.pad(x, ((0, 0), (before, after), (before, after)), mode)
    if top < 0:
        wide = wide[:, -top:, -top:]
    high, broad = (n - k + 1 for n, k in zip(wide.shape[1:], weight.shape[1:], strict=True))
    return sum(
        weight[c, ky, kx] * wide[c, ky : ky + high, kx : kx + broad] for c, ky, kx in np.ndindex(*weight.shape)
    ) + np.zeros((high, broad))


def without(weight, ky, kx):
    """The weights with 0 at one place."""
    left = weight.copy()
    left[:, ky, kx] = 0
    return left


def _inner(result, x, padding):
    """A result whose rim is 0, where windows reach beyond the picture."""
    inside = np.zeros_like(result)
    if padding:
        inside[padding:-padding, padding:-padding] = result[padding:-padding, padding:-padding]
    return inside


def _square(weight):
    return weight.shape[1] == weight.shape[2]


BORDERS = (
    (
        lambda x, w, p: windows(x, w, p, "edge") if p else NOTHING,
        "A wrong border: beyond the edge the nearest pixel was used again (an index cut off by min and max). There the picture "
        "counts as 0.",
    ),
    (
        lambda x, w, p: windows(x, w, p, "wrap") if p else NOTHING,
        "A wrong border: beyond the edge the picture begins again at the other side (an index with %, or a negative one). There it "
        "counts as 0.",
    ),
    (
        lambda x, w, p: windows(x, w, p, "reflect") if p else NOTHING,
        "A wrong border: beyond the edge the picture was mirrored. There it counts as 0.",
    ),
    (
        lambda x, w, p: windows(x, w, p, "abs") if p else NOTHING,
        "A wrong border: above and to the left the picture was mirrored (abs of an index). There it counts as 0.",
    ),
    (
        lambda x, w, p: _inner(windows(x, w, p), x, p) if p else NOTHING,
        "A wrong border: out is 0 where a window reaches beyond the picture. Only the pixels that are missing count as 0; those "
        "inside still count.",
    ),
    (
        lambda x, w, p: windows(x, w, p, top=0) if p else NOTHING,
        "A wrong border: all zeros stand below and to the right, and everything is shifted. The window of out[0, 0] begins `padding` "
        "pixels above and to the left of the picture.",
    ),
    (
        lambda x, w, p: windows(x, w, p, top=2 * p) if p else NOTHING,
        "A wrong border: all zeros stand above and to the left, and everything is shifted. The window of out[0, 0] begins `padding` "
        "pixels above and to the left of the picture, not twice as many.",
    ),
    (
        lambda x, w, p: windows(x, w, p, top=-p) if p else NOTHING,
        "A wrong border: the padding was added to the index of a pixel, and must be subtracted: the window of out[0, 0] begins above "
        "and to the left of the picture.",
    ),
)
TAPS = (
    (
        lambda x, w, p: windows(x, w[:, ::-1, ::-1], p),
        "Wrong taps: the kernel is turned round, in both directions. weight[0, 0] meets the pixel above and to the left.",
    ),
    (lambda x, w, p: windows(x, w[:, ::-1], p), "Wrong taps: the rows of the weights come in the opposite order."),
    (
        lambda x, w, p: windows(x, w[:, :, ::-1], p),
        "Wrong taps: the columns of the weights come in the opposite order.",
    ),
    (
        lambda x, w, p: windows(x, w.swapaxes(1, 2), p) if _square(w) else NOTHING,
        "Wrong taps: ky and kx are exchanged, in the weights or in the pixels. ky goes with rows, kx with columns.",
    ),
    (lambda x, w, p: windows(x, 0 * w + 1, p), "Wrong taps: these are sums of pixels, and the weights are missing."),
    (
        lambda x, w, p: windows(x, 0 * w + w[:, :1, :1], p),
        "Wrong taps: the first weight was used for all pixels. Which indices of `weight` should change from tap to tap?",
    ),
    (
        lambda x, w, p: windows(x, np.where(np.arange(w.shape[1])[:, None] < w.shape[1] - 1, w, 0), p),
        "Wrong taps: the last row of weights is missing. How many rounds has the loop over ky?",
    ),
    (
        lambda x, w, p: windows(x, np.where(np.arange(w.shape[2]) < w.shape[2] - 1, w, 0), p),
        "Wrong taps: the last column of weights is missing. How many rounds has the loop over kx?",
    ),
    (
        lambda x, w, p: windows(x, np.where(np.arange(w.shape[1])[:, None] > 0, w, 0), p),
        "Wrong taps: the first row of weights is missing. Does the loop over ky begin at 0?",
    ),
    (
        lambda x, w, p: windows(x, np.where(np.arange(w.shape[2]) > 0, w, 0), p),
        "Wrong taps: the first column of weights is missing. Does the loop over kx begin at 0?",
    ),
)
ONE_TAP = tuple(
    (
        lambda x, w, p, ky=ky, kx=kx: windows(x, without(w, ky, kx), p) if w.shape[1:] == (3, 3) else NOTHING,
        f"A wrong tap: the term of weight[{ky}, {kx}] is missing, everywhere.",
    )
    for ky, kx in np.ndindex(3, 3)
)

# 09-plane ----------------------------------------------------------------------------------------------------

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
        "This is the last channel alone: does the sum begin at 0 again for each channel, or is the store inside the loop?",
    ),
    (_channels(lambda x, w: (x, 0 * w + w[:1])), "The weights of channel 0 were used for all channels."),
    (_channels(lambda x, w: (0 * x + x[:1], w)), "The pixels of channel 0 were used for all channels."),
    (_channels(lambda x, w: (x[:-1], w[:-1])), "The last channel is missing."),
)

PLANE = KernelTask(
    id="09-plane",
    section=Section("9.3", "09_convolution_gpu", "Rung 1: one thread for each result"),
    title="A window slides over pictures, with zeros around",
    objective="Write a convolution of several channels with zero padding, whose warps read neighbours",
    points=3,
    minutes=15,
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
    suspects=tuple(Suspect(_of_plane(formula), cause) for formula, cause in (*CHANNELS, *BORDERS, *TAPS, *ONE_TAP)),
    advice={
        "out-of-bounds": (
            "Two guards are needed. One for the thread: the grid may reach beyond out. One for each pixel: its row must be from 0 to "
            "x.shape[1] - 1 and its column from 0 to x.shape[2] - 1, else it counts as 0. Is it an index of `weight`? It has as many "
            "channels as x."
        ),
        "none-beyond": (
            "Each thread has an element of out here, so it is the pixel, or the weight, that does not exist. Which row and column of x "
            "belong to (ky, kx), and which of the two lengths bounds which?"
        ),
        "negative-index": (
            "This pixel lies above or to the left of the picture, where it counts as 0. Ask before you load: a negative index is no "
            "place on a GPU."
        ),
        "some-unwritten": "Which thread has this element? x counts columns and y rows, and cuda.grid(2) gives x first.",
        "wrong-value": (
            "Work out the first wrong element: row y of out needs rows y + ky - padding of x, column z needs columns z + kx - padding, of "
            "every channel. Do the loops go over all rows and columns of weight, and is each index compared with the length of its own axis? "
            "Is a term left out that should count, or one added twice?"
        ),
    },
    budget=Budget(
        points=1,
        text="at most 5 sectors for each load and each store of a warp, at most twice as many loads of a warp as a window has pixels and "
        "weights, and each element of out stored once",
        require={
            "sectors_per_request": 5,
            "global_load_requests": 2 * (2 * 2 * 3 * 3) * 8 * 64 // 32,
            "global_store_requests": 8 * 64 // 32,
        },
        over="The result is right, but out is stored more than once for each element: add up in a local variable, and store at the end.",
        causes=(
            (
                lambda rows: "sectors_per_request" in _over(rows),
                "The result is right, but neighbouring threads of a warp load pixels that lie far apart: `threadIdx.x` changes fastest "
                "within a warp, so let it choose the column.",
            ),
            (
                lambda rows: "global_load_requests" in _over(rows),
                "The result is right, but warps load too often. The 32 lanes of a warp should load together: does an `if` or a loop let a "
                "few of them work while the others wait? Each thread needs every weight once, and every pixel of its window once.",
            ),
        ),
        case=plane_case("exact", 2, 8, 64, 3, 3, 1),
    ),
    hints=(
        "With a kernel of 3 x 3 and padding 1: which nine pixels does out[0, 0] need, and which of them does the picture have?",
        "One thread, one element, one sum in a variable. Three loops: over channels, ky and kx. For each, the place of the pixel is "
        "that of the thread, plus (ky, kx), minus the padding.",
        "cuda.grid(2) gives the column first, then the row: a guard for both. In the innermost loop two lines for the "
        "place, (i, j); one `if` with four comparisons; under it a line that adds a product.",
    ),
)

# 09-cost -----------------------------------------------------------------------------------------------------

INS, OUTS, SIDE = 32, 64, 28


def _layer(ins, outs, kernel, groups=1):
    """(x, weight, result) of a layer on SIDE x SIDE pixels that keeps their number; only the shapes matter."""
    x, weight = np.zeros((ins, SIDE, SIDE), np.float32), np.zeros((outs, ins // groups, kernel, kernel), np.float32)
    out = reference.conv2d(x, weight, None, 1, kernel // 2, 1, groups).astype(np.float32)
    return x, weight, out


def multiplications(x, weight, out):
    """Each element of the result has a product for each weight of its channel."""
    return out.size * weight[0].size


def moved(x, weight, out):
    return x.nbytes + weight.nbytes + out.nbytes


def _dense():
    return _layer(INS, OUTS, 3)


def _separable():
    return _layer(INS, INS, 3, INS), _layer(INS, OUTS, 1)


_PIXELS = SIDE * SIDE
_DENSE = OUTS * _PIXELS * INS * 9
_DEPTH, _POINT = INS * _PIXELS * 9, OUTS * _PIXELS * INS

COST = PredictionTask(
    id="09-cost",
    section=Section("9", "09_convolution", "Depthwise separable"),
    title="What a separable layer saves, and what it does not",
    objective="Predict multiplications and bytes of a convolution, grouped, and depthwise separable",
    points=2,
    minutes=8,
    questions=(
        Question(
            "dense",
            f"multiplications of a 3 x 3 layer, {INS} to {OUTS} channels, {SIDE} x {SIDE}",
            lambda: multiplications(*_dense()),
            {
                OUTS * _PIXELS * 9: f"That is one input channel. Each output channel looks at all {INS}.",
                INS * _PIXELS * 9: f"That is one output channel. There are {OUTS}.",
                _POINT: "That is a kernel of 1 x 1.",
                2 * _DENSE: "That counts the additions, too. Multiplications are asked for.",
                OUTS * INS * 9: "That is the number of weights. Each of them is used at every pixel of the result.",
            },
            "One element of the result: how many products has its sum? Then all elements.",
        ),
        Question(
            "grouped",
            "the same layer in 4 groups",
            lambda: multiplications(*_layer(INS, OUTS, 3, 4)),
            {
                _DENSE: "In 4 groups an output channel sees only the input channels of its own group.",
                _DENSE
                // 16: "The groups are four. Each has a quarter of the inputs and of the outputs: a sixteenth of the work, four times.",
                4 * _DENSE: "Groups make fewer pairs of channels, not more.",
                _DENSE // 8: "How many input channels does an output channel see, in 4 groups?",
                _DENSE // INS: "That is as many groups as channels. Here there are 4.",
            },
            "In 4 groups, how many input channels does one output channel see?",
        ),
        Question(
            "separable",
            "depthwise 3 x 3, then 1 x 1 to 64 channels: multiplications of both",
            lambda: sum(multiplications(*one) for one in _separable()),
            {
                _DEPTH: "That is the depthwise part alone. A 1 x 1 layer follows.",
                _POINT: "That is the 1 x 1 part alone. The depthwise layer comes before it.",
                OUTS * _PIXELS * 9 + OUTS * _PIXELS * OUTS: "The depthwise layer has as many channels as come in, 32.",
                OUTS * _PIXELS * 9 + _POINT: "The depthwise layer has as many channels as come in, 32, not as go out.",
            },
            "Depthwise: each channel has its own 3 x 3 weights and no sum over channels. The 1 x 1 layer: a product for each pair of channels.",
        ),
        Question(
            "dense_bytes",
            "bytes of the ordinary layer if x, weights and result move once, float32",
            lambda: moved(*_dense()),
            {
                moved(*_dense()) // 4: "That is the number of elements. A float32 has 4 bytes.",
                4 * (INS + OUTS) * _PIXELS: "The weights move, too.",
                4 * (INS * _PIXELS + 9 * INS * OUTS): "The result must be stored, too.",
                4 * (OUTS * _PIXELS + 9 * INS * OUTS): "The picture must be loaded, too.",
                4
                * (
                    (INS + OUTS) * _PIXELS + 9 * OUTS
                ): "Each output channel has 9 weights for each of the 32 input channels.",
            },
            "Three arrays: the pixels that come in, the weights, the pixels that go out. Write down the elements of each.",
        ),
        Question(
            "separable_bytes",
            "the same of the depthwise and the 1 x 1 layer together, one after the other",
            lambda: sum(moved(*one) for one in _separable()),
            {
                sum(moved(*one) for one in _separable()) // 4: "That is the number of elements. A float32 has 4 bytes.",
                4
                * (
                    (INS + OUTS) * _PIXELS + 9 * INS + INS * OUTS
                ): "What the first layer stores, the second one loads: both move.",
                moved(*_separable()[0]): "That is the depthwise layer alone.",
                moved(*_separable()[1]): "That is the 1 x 1 layer alone.",
                4 * ((2 * INS + INS + OUTS) * _PIXELS): "The weights move, too.",
                4
                * (
                    (2 * INS + OUTS) * _PIXELS + 9 * INS + INS * OUTS
                ): "What the first layer stores, the second one loads: both move.",
            },
            "Two layers, three arrays each. The result of the first is the picture of the second, and counts twice.",
        ),
    ),
    hints=(
        "For one number of the result: over how many channels and places of the kernel does its sum go?",
        "A result of c channels has c * 28 * 28 elements. With g groups a sum goes over 1/g of the input channels; depthwise over one. "
        "Bytes: the elements of three arrays, times 4.",
        "ordinary: how many products for one of the 64 * 784 elements? Depthwise has 32 * 784 elements, and each has "
        "far fewer; 1 x 1 has the channels alone. For the bytes of two layers, the array between them counts twice.",
    ),
)

# 09-halo -----------------------------------------------------------------------------------------------------

TILE = 16
HALO_BLOCK = (TILE, TILE)


def halo_arguments(height, width):
    """make(rng) -> x (height, width), weight (3, 3), out (height, width)."""
    return lambda rng: (random_values(rng, height, width), random_values(rng, 3, 3), unwritten(height, width))


def halo_case(name, height, width):
    x, y = -(-width // TILE), -(-height // TILE)
    where = "1 block" if x * y == 1 else f"{x} x {y} blocks"
    return Case(f"{name}: {height} x {width}, {where}", halo_arguments(height, width), grid=(x, y), block=HALO_BLOCK)


def _of_picture(formula):
    return lambda x, weight, out: formula(x[None], weight[None], 1)


def by_blocks(x, weight, keep):
    """The result if each block knows only some of its halo: keep(r, q) of the 18 x 18 places of its tile, the others are 0."""
    out, wide = np.zeros(x.shape), np.pad(x.astype(np.float64), (1, TILE + 1))
    r, q = np.ogrid[: TILE + 2, : TILE + 2]
    for i, j in np.ndindex(-(-x.shape[0] // TILE), -(-x.shape[1] // TILE)):
        i, j = i * TILE, j * TILE
        tile = np.where(keep(r, q), wide[i : i + TILE + 2, j : j + TILE + 2], 0)
        part = windows(tile[None], weight[None], 0)
        out[i : i + TILE, j : j + TILE] = part[: x.shape[0] - i, : x.shape[1] - j]
    return out


def _halo(keep):
    """A suspect's formula: nothing where one block has the whole picture, because then there is no neighbour."""
    return lambda x, weight, out: by_blocks(x, weight, keep) if max(x.shape) > TILE else NOTHING


def _blocks_exchanged(x, weight, out):
    """Each block computes what belongs to the block at the other side of the diagonal."""
    edge = -(-max(x.shape) // TILE) * TILE
    if edge == TILE:
        return NOTHING
    square = np.zeros((edge, edge))
    square[: x.shape[0], : x.shape[1]] = x
    rows, columns = np.indices(x.shape)
    all_of_it = windows(square[None], weight[None], 1)
    return all_of_it[columns // TILE * TILE + rows % TILE, rows // TILE * TILE + columns % TILE]


def _four_taps(x, weight, out):
    kept = np.zeros_like(weight)
    kept[:2, :2] = weight[:2, :2]
    return windows(x[None], kept[None], 1)


_LAST = TILE + 1
HALOS = (
    (
        lambda r, q: (r > 0) & (q > 0) & (r < _LAST) & (q < _LAST),
        "A wrong border, between blocks: the halo is missing. The pixels around a block's own 16 x 16 belong to its neighbours, and "
        "count. Only beyond the picture is 0.",
    ),
    (
        lambda r, q: ((r > 0) & (r < _LAST)) | ((q > 0) & (q < _LAST)),
        "A wrong border, between blocks: the four corners of the halo are missing. The pixel above and to the left of a block counts "
        "for its first window.",
    ),
    (
        lambda r, q: (q > 0) & (q < _LAST),
        "A wrong border, between blocks: the halo to the left and right is missing. Above and below it is there.",
    ),
    (
        lambda r, q: (r > 0) & (r < _LAST),
        "A wrong border, between blocks: the halo above and below is missing. To the left and right it is there.",
    ),
    (
        lambda r, q: (r < _LAST) & (q < _LAST),
        "A wrong border, between blocks: the halo below and to the right is missing. The tile has 18 rows and columns, two more than "
        "the block has threads.",
    ),
    (
        lambda r, q: (r > 0) & (q > 0),
        "A wrong border, between blocks: the halo above and to the left is missing. The tile begins one pixel before the block's own.",
    ),
    (
        lambda r, q: (r < _LAST) & (r >= 0) & (q >= 0),
        "A wrong border, between blocks: the last row of the halo is missing. The tile has 18 rows.",
    ),
    (
        lambda r, q: (q < _LAST) & (r >= 0),
        "A wrong border, between blocks: the last column of the halo is missing. The tile has 18 columns.",
    ),
)

_GOLF_HEIGHT, _GOLF_WIDTH = 32, 48
_BLOCKS = _GOLF_HEIGHT * _GOLF_WIDTH // TILE**2
_NAIVE = 18 * 8 * _BLOCKS  # requests of one thread per output: 9 weights and 9 pixels, 8 warps in a block

HALO = KernelTask(
    id="09-halo",
    section=Section("9.3", "09_convolution_gpu", "Rung 3: a tile with its halo"),
    title="A tile and its halo in shared memory",
    objective="Write a convolution whose blocks load each pixel once, with the halo that their neighbours own",
    points=3,
    minutes=20,
    spec=lambda x, weight, out: windows(x[None], weight[None], 1),
    atol=1e-5,
    cases=(
        halo_case("one block", 16, 16),
        halo_case("exact", 32, 32),
        halo_case("ragged", 21, 37),
        halo_case("smaller than a block", 5, 3),
    ),
    writer=lambda index, case: ((index[1] // TILE, index[0] // TILE), (index[1] % TILE, index[0] % TILE)),
    suspects=(
        Suspect(
            _blocks_exchanged,
            "Blocks took their pixels from each other's place: blockIdx.y counts rows of blocks, blockIdx.x columns.",
        ),
        Suspect(_four_taps, "The last row and the last column of the kernel are missing: nine taps, 3 x 3."),
        *(Suspect(_halo(keep), cause) for keep, cause in HALOS),
        *(Suspect(_of_picture(formula), cause) for formula, cause in (*BORDERS, *TAPS, *ONE_TAP)),
    ),
    tell_first=TOLD_FIRST,
    advice={
        "race": (
            "One thread stores a place of shared memory, another one uses it, and nothing orders the two. All threads must have stored "
            "before anyone reads: where belongs a barrier? And does each place have one thread that fills it?"
        ),
        "divergent-barrier": (
            "All threads of a block must reach the barrier, those without an element of out too: they load for the others. Keep "
            "cuda.syncthreads() out of every `if` and every loop whose rounds differ."
        ),
        "barrier-after-exit": (
            "A thread that has come to its end does not reach the barrier. Does one without an element of out return early? It has pixels "
            "to load for others: guard the store in the place of the return. Or does the barrier stand in a loop that others leave earlier?"
        ),
        "uninitialised-shared": (
            "A place of shared memory is read that nobody has filled. The tile has 18 x 18 = 324 places and the block 256 threads: who "
            "fills the other 68? Beyond the picture a place needs a 0, too. And is there a barrier between storing and reading?"
        ),
        "out-of-bounds": (
            "Three shapes are in play: a tile of 18 x 18, a block of 16 x 16, a picture of any size. Compare this index with the shape of "
            "its own array; a pixel that the picture does not have is a 0 in the tile."
        ),
        "negative-index": (
            "The tile begins one pixel above and to the left of the block's own: at the edge of the picture that is row or column -1, "
            "where there is none. Ask before you load, and put 0 into the tile. Is it the index of the tile? Its place (0, 0) is the pixel "
            "above and to the left of the block, so thread (0, 0) reads from (0, 0) on; a tile of 16 x 16 has no room for the halo."
        ),
        "some-unwritten": "Which thread has this element? x counts columns and y rows; a block computes 16 x 16 elements.",
        "wrong-value": (
            "Is the error everywhere, at the rim of the picture, or where two blocks meet? Everywhere: which place of the tile meets "
            "weight[ky, kx]? At a rim: what stands in the outermost places of the tile?"
        ),
    },
    budget=Budget(
        points=2,
        text="a quarter of the load requests of one thread for each output without a tile, and at most two barriers",
        require={"global_load_requests": _NAIVE // 4, "barriers": 2},
        over=(
            "The result is right, but the warps ask global memory more often than they must. A thread for each output, without a tile, "
            "makes 9 requests of pixels and 9 of weights for each warp. Which of the two are still in your inner loop?"
        ),
        causes=(
            (
                lambda rows: "barriers" in _over(rows),
                "The result is right, but the block waits more often than it must. When is the tile full? Nobody fills it again.",
            ),
            (
                lambda rows: any(
                    o.name == "global_load_requests" and o.counted >= 9 * 8 * _BLOCKS + 8 * _BLOCKS for o in rows
                ),
                "The result is right, but something is still loaded from global memory by each warp, tap by tap. "
                "The pixels lie in the tile; the nine weights can be loaded once for a block, too.",
            ),
        ),
        case=halo_case("exact", _GOLF_HEIGHT, _GOLF_WIDTH),
        golf=Golf(
            count="global_load_requests",
            best=49,
            require={"atomics": 0},
            lead="A request brings up to 32 numbers. How many of your requests bring fewer, and which pixels are loaded by several blocks?",
        ),
    ),
    hints=(
        "A block of 16 x 16 outputs with a kernel of 3 x 3: how many pixels does it need? How many threads are there to load them?",
        "Number the 324 places of the tile, and the 256 threads. Each thread takes the places with its own number, and 256 further on. "
        "From the number of a place follow its row and its column in the tile, and from those the pixel.",
        "A thread goes on in steps of 256 as long as there are places. // and % by the width of the tile give row and "
        "column; the tile's corner is the pixel one above and one to the left of the block's own first. A barrier; "
        "then nine products, of which the thread's own place in the tile is the first; the guard only around the "
        "store. The weights fit into shared memory, too.",
    ),
)

# 09-pool -----------------------------------------------------------------------------------------------------

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


def _all_different(rng, shape):
    return rng.permutation(math.prod(shape)).reshape(shape) - math.prod(shape)


def _many_equal(rng, shape):
    return rng.integers(-3, 0, shape)


def _with_nan(rng, shape):
    x = rng.integers(-3, 3, shape).astype(float)
    x[rng.random(shape) < 0.15] = np.nan
    return x


def _with_infinities(rng, shape):
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
    """Where the largest pixel of each window lies, row * width + column, as PyTorch finds it; the options are mistakes."""
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
    objective="Write max pooling that finds the places of the largest pixels, with ties, NaN and padding as PyTorch has them",
    points=3,
    minutes=12,
    spec=lambda x, size, stride, padding, places: places_of_maxima(x, size, stride, padding),
    cases=(
        pool_case("one block, all different", _all_different, 1, 8, 16, 2, 2, 0),
        pool_case("ragged, overlapping, padded", _all_different, 2, 9, 13, 3, 2, 1),
        pool_case("many equal", _many_equal, 2, 7, 10, 3, 1, 1),
        pool_case("NaN among them", _with_nan, 1, 8, 11, 3, 2, 1),
        pool_case("-inf, and one inf", _with_infinities, 1, 6, 12, 2, 2, 1),
        pool_case("exact", _all_different, 1, 16, 32, 2, 2, 0),
    ),
    writer=lambda index, case: (
        (index[2] // POOL_BLOCK[0], index[1] // POOL_BLOCK[1], index[0]),
        (index[2] % POOL_BLOCK[0], index[1] % POOL_BLOCK[1], 0),
    ),
    suspects=(
        Suspect(
            _pool(equal=True),
            "Of several that are equally large this is the last. The first counts: when may a later one take its place?",
        ),
        Suspect(
            _pool(nan="never"),
            "A NaN was passed over: each comparison with NaN is false. A NaN counts as larger than all; math.isnan tells.",
        ),
        Suspect(
            _pool(nan="begin"),
            "A NaN was passed over, unless it came first; then it stayed. Each comparison with NaN is false. A NaN counts as larger than "
            "all; math.isnan tells.",
        ),
        Suspect(
            _pool(nan="first"),
            "Of several NaN this is the first. As in PyTorch the last one counts: a NaN takes the place of whatever was there.",
        ),
        Suspect(
            _pool(equal=True, nan="never"),
            "Of several that are equally large this is the last, and a NaN was passed over: each comparison with NaN is false.",
        ),
        Suspect(
            _pool(first=False),
            "Where all pixels of a window are -inf, none is larger than what the search begins with, and none is found. The first pixel "
            "counts, whatever it is.",
        ),
        Suspect(
            _pool(best=0, first=False),
            "In some windows no pixel was found, and -1 is stored. Does the search begin with 0, which is larger than all of them? Begin "
            "with -math.inf, or with the first pixel.",
        ),
        Suspect(
            _pool(outside=-np.inf),
            "In a window of -inf the place is that of padding. Was padding compared as -inf, or does the search begin at the corner of the "
            "window? The first pixel that the picture has counts.",
        ),
        Suspect(
            _pool(outside=-np.inf, again=True),
            "In a window of -inf the place is that of padding, which was compared as -inf. The first pixel that the picture has counts.",
        ),
        Suspect(
            _pool(outside=0.0),
            "Beyond the picture a 0 was compared, too, and it is larger than negative pixels. Padding is no pixel: it is never the "
            "largest.",
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
            "These are places within the window. The place in the picture is asked for: row * width + column, of the picture.",
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
            "These are places in a picture with its padding. That of x itself is asked for: rows and columns without the padding.",
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
            "Two guards are needed: one for the thread, whose window out must have, and one for each pixel, as a window may reach beyond "
            "the picture: its row must be from 0 to height - 1, its column from 0 to width - 1."
        ),
        "none-beyond": (
            "Each thread has a window here. A pixel of it may lie beyond the picture: its row must be from 0 to height - 1, its column "
            "from 0 to width - 1. Are row and column exchanged somewhere?"
        ),
        "negative-index": "This pixel lies above or to the left of the picture: padding, which is never the largest. Ask before you load.",
        "constant": (
            "Every place is the same. Is a new largest pixel remembered, with its place? And may it be that nothing is larger than "
            "what the search begins with?"
        ),
        "wrong-value": (
            "Work out the first wrong window: which pixels does it have, which of them is the largest, and at which row * width + column "
            "of its channel does it lie? If a window has no pixel above -inf, its first pixel counts. Is the padding subtracted, and left out also where "
            "all pixels are below 0? To ask for NaN: math.isnan(pixel), or pixel != pixel."
        ),
        "some-unwritten": (
            "Some windows were never stored. cuda.grid(3) gives columns first, then rows, then channels: is each compared with its own axis of places?"
        ),
        "raised-TypeError": "x[c, i, j] is one pixel, and `places` takes one whole number for each window.",
    },
    hints=(
        "To find where the largest of a few numbers is, what must you remember on the way? And which pixel is the first of a window "
        "that begins above and to the left of the picture?",
        "Remember two things: the largest so far, and its place; -1 says that there is none yet. Go through the window row by row and "
        "leave out what the picture does not have. Three reasons let a pixel in: there is none yet, it is larger, it is NaN.",
        "`c, y, z` are blockIdx.z and the two of cuda.grid(3), the column first. One `if` for the picture's edges; inside it one with "
        "three conditions and `or`. What `>` says where one of the two is NaN, think over: is the last NaN found, and does it stay?",
    ),
)

# 09-im2col ---------------------------------------------------------------------------------------------------


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


def rimmed(x, padding, mode="constant", shift=0):
    """Pictures with so many pixels more on each side, float64. `mode`: as of np.pad, or "negative": what negative indices find above
    and to the left. `shift`: pixels of the rim that stand below and to the right in the place of above and to the left."""
    sides, first = ((0, 0),) * (x.ndim - 2), (padding - shift, padding + shift)
    if mode != "negative":
        return np.pad(x.astype(np.float64), (*sides, first, first), mode)
    x = np.pad(x.astype(np.float64), (*sides, (padding, 0), (padding, 0)), "wrap")
    return np.pad(x, (*sides, (0, padding), (0, padding)))


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
    minutes=15,
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
            "The channel changes fastest from row to row. It changes slowest, as in a weight of shape (channels, kernel, kernel).",
        ),
        Suspect(
            _columns(turned=True), "The kernel is turned round: the first row of a channel is the tap ky = 0, kx = 0."
        ),
        Suspect(
            _columns(by_column=True),
            "The windows come column by column. They come row by row: window (y, z) is column y * width of the result + z.",
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
            "A wrong border: a negative index takes a pixel from the other side. Beyond the edge the picture counts as 0.",
        ),
        Suspect(
            lambda x, kernel, stride, padding, out: (
                columns(x, kernel, stride, padding, shift=padding) if padding else NOTHING
            ),
            "A wrong border: the padding was not subtracted. Window (0, 0) begins `padding` pixels above and to the left of the picture.",
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
            "An index left its array. A pixel of a window may lie beyond the picture: its row must be from 0 to height - 1, its column "
            "from 0 to width - 1. out has channels * kernel * kernel rows and a column for each window: high * wide are those of the result, not of the "
            "picture. Is a row counted up from round to round of the parallel loop? Rounds run at the same time: compute it."
        ),
        "raised-TypingError": (
            "numba has no np.pad, and none is needed: ask for each pixel where it lies before you load it. Or is a whole array used where "
            "one element is meant?"
        ),
        "some-unwritten": (
            "Where the picture has no pixel, a 0 must be stored: out holds anything before. And does each row of out have its turn: every "
            "channel, every ky, every kx? And each column: do `high` and `wide` count the first window, too?"
        ),
        "not-finite": "Where the picture has no pixel, a 0 must be stored: out holds anything before.",
        "wrong-value": (
            "Take the first wrong element, [row, column]. From the row follow c, ky and kx, from the column y and z: the pixel is "
            "x[c, y * stride + ky - padding, z * stride + kx - padding], or 0 where there is none. Padding is subtracted here. In `high` and `wide`, each "
            "from its own side of the picture, it counts twice; and a row of windows has `wide` columns."
        ),
        "race": (
            "Two rounds of the parallel loop store the same element. Let each round have rows of out of its own: those of a channel, or a "
            "single one. Is a row's number made of c, ky and kx?"
        ),
        "carried-scalar": (
            "A number goes on from one round of the parallel loop to the next, such as a row that is counted up. Rounds run at the same "
            "time: compute the row from c, ky and kx."
        ),
    },
    watch=Watch(case=columns_case("watched", 2, 5, 6, 3, 1, 1), outside=0.7, starts=3),  # first a padded copy
    budget=Budget(
        points=1,
        text="no array made inside, each element of out stored once, at most one pixel loaded for it",
        require={"arrays": 0, "numpy_bytes": 4096, "stores": _ELEMENTS, "loads": _ELEMENTS},
        over="The result is right, but an array is made on the way. A padded copy is not needed: ask where a pixel lies before you load it.",
        causes=(
            (
                lambda rows: "stores" in _over(rows) and "arrays" not in _over(rows),
                "The result is right, but elements of out are stored twice: memory is written once more. Store the pixel or the 0, not "
                "first the one and then the other.",
            ),
            (
                lambda rows: "loads" in _over(rows) and "arrays" not in _over(rows),
                "The result is right, but more is loaded than one pixel for each element of out. What does the inner loop load beside it?",
            ),
        ),
        case=_COUNTED,
    ),
    hints=(
        "One column of the matrix is a window, written out as a list. In which order do its elements come? One row is one tap: what "
        "do its elements have in common?",
        "Let the threads share the rows: row r belongs to one channel and one tap. From r follow c, ky and kx, by // and %. Then two "
        "plain loops over the windows, y and z.",
        "`prange` goes over the rows of out; kx is r % kernel, and ky what is left of r // kernel in the same way. The result's width is that of the picture with "
        "both paddings, less the kernel, divided by the stride, plus 1. One conditional expression: the pixel if it is inside, else 0.",
    ),
)

# 09-weight ---------------------------------------------------------------------------------------------------


def gradient_arguments(batch, ins, outs, height, width, kernel, padding):
    """make(rng) -> grad (batch, outs, ...), x (batch, ins, height, width), padding, out (outs, ins, kernel, kernel)."""
    high, wide = (n + 2 * padding - kernel + 1 for n in (height, width))
    return lambda rng: (
        random_values(rng, batch, outs, high, wide),
        random_values(rng, batch, ins, height, width),
        padding,
        unwritten(outs, ins, kernel, kernel),
    )


def gradient_case(name, batch, ins, outs, height, width, kernel, padding):
    said = f"{name}: {batch} of {height} x {width}, {ins} to {outs} channels, kernel {kernel} x {kernel}, padding {padding}"
    return Case(said, gradient_arguments(batch, ins, outs, height, width, kernel, padding))


def weight_gradient(grad, x, padding, mode="constant", shift=0):
    """For each weight the sum of grad times the pixel that it met, float64."""
    x, grad = rimmed(x, padding, mode, shift), grad.astype(np.float64)
    high, wide = grad.shape[2:]
    tall, broad = x.shape[2] - high + 1, x.shape[3] - wide + 1
    sums = np.empty((grad.shape[1], x.shape[1], tall, broad))
    for ky, kx in np.ndindex(tall, broad):
        sums[:, :, ky, kx] = np.einsum("nohw,nchw->oc", grad, x[:, :, ky : ky + high, kx : kx + wide])
    return sums


def backwards(grad, x, padding, out):
    """As if weight[ky, kx] had met the pixel (y - ky + padding, z - kx + padding)."""
    (tall, broad), (high, wide) = out.shape[2:], grad.shape[2:]
    more = max(tall, broad)
    x, sums = rimmed(x, more), np.empty(out.shape)
    for ky, kx in np.ndindex(tall, broad):
        i, j = more - ky + padding, more - kx + padding
        sums[:, :, ky, kx] = np.einsum("nohw,nchw->oc", grad.astype(np.float64), x[:, :, i : i + high, j : j + wide])
    return sums


def _gradient(change):
    """A suspect: `change` of the right gradient, where that is another one."""

    def formula(grad, x, padding, out):
        return change(weight_gradient(grad, x, padding), grad, x, padding)

    return formula


WEIGHT = ParallelTask(
    id="09-weight",
    section=Section("9.2", "09_convolution_fast", "Backward"),
    title="The gradient of the weights",
    objective="Write the backward pass of a convolution by its weights in parallel, without a race",
    points=3,
    minutes=15,
    spec=lambda grad, x, padding, out: weight_gradient(grad, x, padding),
    rtol=2e-5,
    atol=2e-5,
    cases=(
        gradient_case("one picture", 1, 1, 1, 5, 6, 3, 0),
        gradient_case("channels", 1, 3, 2, 6, 5, 3, 1),
        gradient_case("a batch", 3, 2, 4, 5, 7, 3, 1),
        gradient_case("1 x 1", 2, 3, 2, 4, 5, 1, 0),
        gradient_case("kernel 5 x 5", 2, 2, 3, 6, 7, 5, 2),
    ),
    suspects=(
        Suspect(
            _gradient(lambda right, grad, x, p: right[:, :, ::-1, ::-1]),
            "The kernel is turned round: weight[..., ky, kx] met the pixel (y + ky - padding, z + kx - padding), and that pixel counts here.",
        ),
        Suspect(
            backwards,
            "The way back was taken the wrong way round: element (y, z) of the result met pixel (y + ky - padding, z + kx - padding), so "
            "pixel (i, j) belongs to element (i - ky + padding, j - kx + padding).",
        ),
        Suspect(
            _gradient(lambda right, grad, x, p: right.swapaxes(2, 3)),
            "ky and kx are exchanged: ky goes with rows, kx with columns.",
        ),
        Suspect(
            _gradient(lambda right, grad, x, p: weight_gradient(grad[:1], x[:1], p) if len(x) > 1 else NOTHING),
            "This is the gradient of the first picture alone. All pictures of the batch used the same weights: their gradients add up.",
        ),
        Suspect(
            _gradient(lambda right, grad, x, p: weight_gradient(grad[-1:], x[-1:], p) if len(x) > 1 else NOTHING),
            "This is the gradient of the last picture alone: does the sum begin at 0 again for each picture?",
        ),
        Suspect(
            _gradient(lambda right, grad, x, p: right / len(x) if len(x) > 1 else NOTHING),
            "This is divided by the number of pictures. A gradient of a sum is a sum: the loss has seen to the mean.",
        ),
        Suspect(
            lambda grad, x, padding, out: weight_gradient(grad, x, padding, "edge") if padding else NOTHING,
            "A wrong border: beyond the edge the nearest pixel was used again. There the picture counts as 0.",
        ),
        Suspect(
            lambda grad, x, padding, out: weight_gradient(grad, x, padding, "negative") if padding else NOTHING,
            "A wrong border: a negative index takes a pixel from the other side. Beyond the edge the picture counts as 0.",
        ),
        Suspect(
            lambda grad, x, padding, out: weight_gradient(grad, x, padding, shift=padding) if padding else NOTHING,
            "A wrong border: the padding was not subtracted. Element (0, 0) of the result saw pixels from -padding on.",
        ),
        Suspect(
            lambda grad, x, padding, out: (
                weight_gradient(grad, np.repeat(x[:, :1], x.shape[1], 1), padding) if x.shape[1] > 1 else NOTHING
            ),
            "All input channels got the gradient of channel 0.",
        ),
        Suspect(
            lambda grad, x, padding, out: (
                weight_gradient(np.repeat(grad[:, :1], grad.shape[1], 1), x, padding) if grad.shape[1] > 1 else NOTHING
            ),
            "All output channels got the gradient of output channel 0.",
        ),
    ),
    advice={
        "raised-IndexError": (
            "An index left its array. A pixel may lie beyond the picture: its row must be from 0 to height - 1, its column from 0 to "
            "width - 1. grad has the result's shape: (batch, out channels, rows, columns)."
        ),
        "race": (
            "Two rounds of the parallel loop add to the same weight: every picture, and every pixel of the result, used every weight. "
            "Which loop can the threads share so that each has weights of its own?"
        ),
        "carried-scalar": "Each weight has a sum of its own. Begin it at 0 inside the loops, where its weight is chosen.",
        "wrong-value": (
            "Work out the first wrong weight, [o, c, ky, kx]: over all pictures, rows y and columns z, grad[n, o, y, z] times the pixel "
            "x[n, c, y + ky - padding, z + kx - padding], where there is one. Is the padding subtracted, and does the sum begin anew for each weight?"
        ),
    },
    watch=Watch(case=gradient_case("watched", 2, 2, 2, 4, 4, 3, 1), starts=3),
    hints=(
        "In the forward pass, which elements of the result did weight[o, c, 0, 0] help to make? With which pixel was it multiplied "
        "for each of them?",
        "The slope of a sum by one of its weights is the pixel beside it. So each weight gathers: over all pictures, rows and "
        "columns of the result, what arrived there times the pixel. Share the weights out, not the pictures.",
        "`for o in prange(...)` over the output channels; inside, plain loops over c, ky, kx, and for each a sum that begins with 0; "
        "then loops over n, y, z, and the same four comparisons as in task 3.",
    ),
)

# 09-winograd -------------------------------------------------------------------------------------------------


def pairs(x, g, out, half=0.5, signs=(1, 1, 1, 1), second=None):
    """F(2, 3): two elements of out from four products; the options are mistakes."""
    x, g, even = x.astype(np.float64), g.astype(np.float64), out.size // 2 * 2
    a, b, c, d = (x[k : k + even : 2] for k in range(4))
    plus, minus = (g[0] + g[1] + g[2]) * half, (g[0] - g[1] + g[2]) * half
    m = (a - c) * g[0], (b + c) * plus, (c - b) * minus, (b - d) * g[2]
    m = [sign * one for sign, one in zip(signs, m, strict=True)]
    result = np.empty(out.size)
    result[0:even:2], result[1:even:2] = m[0] + m[1] + m[2], m[1] - m[2] - m[3]
    if second is not None:
        result[1:even:2] = second(m)
    if out.size % 2:
        result[-1] = g @ x[-3:]
    return result


def winograd_arguments(results):
    """make(rng) -> x (results + 2,), g (3,), out (results,)."""
    return lambda rng: (random_values(rng, results + 2), random_values(rng, 3), unwritten(results))


def _pairs(**mistake):
    return lambda x, g, out: pairs(x, g, out, **mistake) if out.size > 1 else NOTHING


_RESULTS = 512

WINOGRAD = CompiledTask(
    id="09-winograd",
    section=Section("9.4", "09_convolution_winograd", "By hand, in one dimension"),
    title="Four products in the place of six",
    objective="Write the transform F(2, 3), and prepare the weights once",
    points=1,
    minutes=12,
    spec=lambda x, g, out: along(x, g, 1, out),
    rtol=2e-5,
    atol=1e-5,
    cases=(
        Case("one pair", winograd_arguments(2)),
        Case("many pairs: 40 results", winograd_arguments(40)),
        Case("an odd number: 13 results", winograd_arguments(13)),
        Case("one result", winograd_arguments(1)),
    ),
    suspects=(
        Suspect(
            lambda x, g, out: along(x, g[::-1], 1, out),
            "The weights are turned round: g[0] belongs to the first element.",
        ),
        Suspect(_pairs(half=1), "The weights of m1 and m2 are sums that must be halved."),
        Suspect(
            _pairs(signs=(-1, 1, 1, 1)),
            "The first product, m0, has the wrong sign: (d0 - d2) g0, and it is added to the first result.",
        ),
        Suspect(
            _pairs(signs=(1, 1, -1, 1)), "The third product, m2, has the wrong sign: it is (d2 - d1) times its weight."
        ),
        Suspect(
            _pairs(signs=(1, 1, 1, -1)),
            "The fourth product, m3, has the wrong sign: (d1 - d3) g2, subtracted from the second result.",
        ),
        Suspect(_pairs(second=lambda m: m[1] + m[2] - m[3]), "In the second result m2 was added. It is m1 - m2 - m3."),
        Suspect(_pairs(second=lambda m: m[1] - m[2]), "In the second result m3 is missing: it is m1 - m2 - m3."),
        Suspect(
            _pairs(second=lambda m: m[0] + m[1] + m[2]),
            "Both results of a pair are the first one. The second is m1 - m2 - m3.",
        ),
    ),
    advice={
        "raised-IndexError": (
            "An index left its array. A pair needs four elements of x, and makes two of out. Where out has an odd number, one result is "
            "left over at the end, with three elements of x."
        ),
        "some-unwritten": (
            "Some results are not stored. Pairs begin at 0, 2, 4 ...; each stores out[i] and out[i + 1]. Where out has an odd number, the "
            "last one is left over, and needs three products of its own."
        ),
        "nothing-written": (
            "Nothing was stored: `out[i] = ` stores, and `out = ` only gives a name to another array. Where out has one element there is "
            "no pair: what is left over after the pairs needs lines of its own."
        ),
        "wrong-value": (
            "Which result of a pair is wrong: the first, at an even place, or the second? Compare with m0 + m1 + m2, or m1 - m2 - m3, term "
            "by term. Where does the next pair begin?"
        ),
        "raised-ImportError": "Write the loop yourself: functions of NumPy that call a library are not counted.",
    },
    budget=Budget(
        points=3,
        text="two multiplications for each result, and at most 16 more (three would be the sum as it stands)",
        require={"multiplies": 2 * _RESULTS + 16},
        over=(
            "The result is right, but it takes more multiplications than two for each result. How many stand in your loop for a pair: "
            "the four products alone?"
        ),
        causes=(
            (
                lambda rows: any(o.counted >= 2.9 * _RESULTS for o in rows),
                "The result is right, but it takes three multiplications for each result or more, as the sum does as it stands. Halving is a "
                "multiplication, too: are the weights of m1 and m2 prepared once, before the loop?",
            ),
        ),
        case=Case(f"{_RESULTS} results", winograd_arguments(_RESULTS)),
    ),
    hints=(
        "Multiply out m0 + m1 + m2 on paper. Which products of d and g are left, and which cancel?",
        "Everything with g alone can be computed before the loop. In the loop: four elements of x, four sums or differences of them, "
        "four products, and four additions or subtractions.",
        "Two names before the loop, for the weights of m1 and m2. The loop goes in steps of 2, and ends before an element that "
        "would be alone. After it an `if` for an odd number: one sum of three products.",
    ),
)

# 09-fails ----------------------------------------------------------------------------------------------------
# The statement shows the kernels `first` to `fourth`; a test compares.


@cuda.jit
def first(x, weight, stride, padding, dilation, out):
    i = cuda.grid(1)
    if i < out.size:
        total = np.float32(0)
        for t in range(weight.size):
            j = i * stride + t * dilation - padding
            if j >= 0 and j < out.size:
                total += weight[t] * x[j]
        out[i] = total


@cuda.jit
def second(x, weight, stride, padding, dilation, out):
    i = cuda.grid(1)
    if i < out.size:
        total = np.float32(0)
        for t in range(weight.size):
            j = i * stride + (t - padding) * dilation
            if j >= 0 and j < x.size:
                total += weight[t] * x[j]
        out[i] = total


@cuda.jit
def third(x, weight, stride, padding, dilation, out):
    i = cuda.grid(1)
    if i < out.size:
        left = i * stride - padding
        begin = max(0, (-left + dilation - 1) // dilation)
        end = min(weight.size, (x.size - left) // dilation)
        total = np.float32(0)
        for t in range(begin, end):
            total += weight[t] * x[left + t * dilation]
        out[i] = total


@cuda.jit
def fourth(x, weight, stride, padding, dilation, out):
    line = cuda.shared.array(48, np.float32)
    own, i = cuda.threadIdx.x, cuda.grid(1)
    left = 32 * cuda.blockIdx.x - padding
    for p in range(own, 48, 32):
        j = left + p
        line[p] = x[j] if j >= 0 and j < x.size else 0
    cuda.syncthreads()
    if i < out.size:
        total = np.float32(0)
        for t in range(weight.size):
            total += weight[t] * line[own + t * dilation]
        out[i] = total


@cuda.jit
def _right(x, weight, stride, padding, dilation, out):
    i = cuda.grid(1)
    if i < out.size:
        total = np.float32(0)
        for t in range(weight.size):
            j = i * stride + t * dilation - padding
            if j >= 0 and j < x.size:
                total += weight[t] * x[j]
        out[i] = total


def padded_line(x, weight, stride, padding, dilation, out):
    """The specification, float64."""
    return along(np.pad(x.astype(np.float64), padding), weight, stride, out, dilation)


def _results(n, taps, padding, dilation, stride=1):
    return (n + 2 * padding - (taps - 1) * dilation - 1) // stride + 1


def a_line(n, taps, padding, dilation, stride=1):
    """The case of a line that a student chose."""
    results = _results(n, taps, padding, dilation, stride)

    def make(rng):
        return random_values(rng, n), random_values(rng, taps), stride, padding, dilation, unwritten(results)

    said = f"n = {n}, taps = {taps}, padding = {padding}, dilation = {dilation}, stride = {stride}"
    return Case(said, make, grid=-(-results // LINE_BLOCK), block=LINE_BLOCK)


def _fits(n, taps, padding, dilation, stride=1):
    return n + 2 * padding >= (taps - 1) * dilation + 1


PADDED = KernelTask(
    id="09-padded",
    title="A line with everything",
    objective="Write it",
    points=1,
    minutes=1,
    spec=padded_line,
    cases=(),
    hints=("", "", ""),
)
_FIELDS = {"n": Whole(1, 64), "taps": Whole(1, 9), "padding": Whole(0, 8), "dilation": Whole(1, 4)}
LINES = {
    "judge": PADDED,
    "right": _right,
    "fields": _FIELDS | {"stride": Whole(1, 3)},
    "case": a_line,
    "rules": ((_fits, "a window fits into the line: (taps - 1) * dilation + 1 <= n + 2 * padding"),),
}

FAILS = CounterexampleTask(
    id="09-fails",
    section=Section("9", "09_convolution", "Stride, padding, dilation"),
    title="Find sizes for which four kernels fail",
    objective="Find a padding, stride or dilation that shows what is wrong with a convolution",
    points=3,
    minutes=12,
    flaws=(
        Flaw(
            name="first",
            wrong=first,
            lead=(
                "The guard of a pixel looks at the size of out. When is out as long as x, when is it shorter, and is there an element of x "
                "that counts and is left out then?"
            ),
            **LINES,
        ),
        Flaw(
            name="second",
            wrong=second,
            lead="The padding stands inside the brackets. What is it multiplied by there, and for which numbers makes that no difference?",
            **LINES,
        ),
        Flaw(
            name="third",
            wrong=third,
            lead=(
                "`begin` and `end` replace the guard: the first tap inside the line, and the first one beyond it. One of the two divisions "
                "rounds up, the other one down. Which taps t have left + t * dilation < x.size, and what does rounding leave out?"
            ),
            **LINES,
        ),
        Flaw(
            name="fourth",
            wrong=fourth,
            lead="32 outputs and a halo: how many elements of the line does a block need, and how many has it?",
            **LINES | {"fields": _FIELDS},
        ),
    ),
    hints=(
        "Each kernel is right for taps = 3, padding = 1, dilation = 1, stride = 1: the author tried nothing else. Which of these numbers "
        "does each line with a mistake use?",
        "first: make out shorter than x. second: a product with 1 shows nothing, and one with 0 neither. third: write down for the last "
        "windows which taps lie inside. fourth: a window can be wide without many taps.",
        "first: no padding. second: two numbers must not be what they usually are. third: dilation 2, and windows that reach "
        "beyond the end. fourth: from the first to the last tap it is (taps - 1) * dilation; the halo has 16.",
    ),
)

# 09-verdicts -------------------------------------------------------------------------------------------------
# The statement shows these kernels; a test compares.


@cuda.jit
def _kernel_a(grad, weight, dx):
    i = cuda.grid(1)
    if i < grad.size:
        for t in range(weight.size):
            dx[i + t] += weight[t] * grad[i]


@cuda.jit
def _kernel_b(grad, weight, dx):
    j = cuda.grid(1)
    if j < dx.size:
        begin = max(0, j - weight.size + 1)
        end = min(j + 1, grad.size)
        total = np.float32(0)
        for i in range(begin, end):
            total += weight[j - i] * grad[i]
        dx[j] = total


@cuda.jit
def _kernel_c(grad, weight, dx):
    j = cuda.grid(1)
    if j < dx.size:
        total = np.float32(0)
        for t in range(weight.size):
            i = j + t - (weight.size - 1)
            if i >= 0 and i < grad.size:
                total += weight[t] * grad[i]
        dx[j] = total


@cuda.jit
def _kernel_d(grad, weight, dx):
    i = cuda.grid(1)
    if i < dx.size:
        for t in range(weight.size):
            cuda.atomic.add(dx, i + t, weight[t] * grad[i])


def scatter_case(results, taps):
    """A case of the gradient by the input of a line: `results` elements arrive, each of `taps` weights spreads them."""
    n = results + taps - 1

    def make(rng):
        return random_values(rng, results), random_values(rng, taps), np.zeros(n, np.float32)

    return Case(f"{results} results, {taps} weights", make, grid=-(-n // LINE_BLOCK), block=LINE_BLOCK)


SCATTER = KernelTask(
    id="09-scatter",
    title="The gradient of the input",
    objective="Write it",
    points=1,
    minutes=1,
    spec=lambda grad, weight, dx: np.convolve(grad.astype(np.float64), weight.astype(np.float64)),
    atol=1e-5,
    cases=(scatter_case(30, 3), scatter_case(70, 4), scatter_case(12, 7)),
    hints=("", "", ""),
)

VERDICTS = DetectiveTask(
    id="09-verdicts",
    section=Section("9.2", "09_convolution_fast", "Backward"),
    title="Which of four backward passes is right?",
    objective="Judge kernels that scatter or gather a gradient by their text, as a reviewer must",
    points=3,
    minutes=12,
    judge=SCATTER,
    programs={"A": _kernel_a, "B": _kernel_b, "C": _kernel_c, "D": _kernel_d},
    faults=(
        Fault("right", "the gradient of each element of x, for every number of results and weights"),
        Fault(
            "race",
            "two threads change the same element, and nothing orders them",
            ("race", "two-writers", "atomic-against-plain"),
        ),
        Fault("outside", "a thread reads or writes outside of an array", ("out-of-bounds", "negative-index")),
        Fault(
            "gaps",
            "some elements of dx get nothing",
            ("some-unwritten", "tail", "head", "one-block", "first-round-only", "nothing-written"),
        ),
        Fault(
            "wrong numbers",
            "an element gets a wrong number",
            ("suspect", "wrong-value", "shifted", "constant", "precision", "scaled", "one-element"),
        ),
    ),
    hints=(
        "Take 3 results and 2 weights, and write down which products belong to dx[0], dx[1], dx[2] and dx[3].",
        "Two ways lead there: a thread for each result spreads what arrived, or a thread for each element of x gathers. Ask of the first: "
        "who else adds here? Of the second: which result and which weight meet here?",
        "out[i] used x[i + t] with weight[t]. So dx[j] gathers weight[t] * grad[j - t]: as t grows, the place in grad falls. Compare "
        "each kernel with that, and each guard with the array that is indexed under it.",
    ),
)

# 09-roofline -------------------------------------------------------------------------------------------------

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
    section=Section("9.2", "09_convolution_fast", "Depthwise: the limit is memory"),
    title="A depthwise layer under the roof",
    objective="Count the flops and bytes of a depthwise convolution, and say what bounds it",
    points=3,
    minutes=12,
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
        "flops": "Write down the multiplications and additions of one element of the result as they stand in your loop, then multiply by "
        "the number of elements: 4 channels of 32 x 32.",
        "moved": "x has 4 channels of 34 x 34, the result 4 of 32 x 32, and each channel has 9 weights. An element counts once, however "
        "often it is loaded, and has 4 bytes.",
        "roof": "The ridge is peak divided by bandwidth. Is your intensity to the left of it, or to the right?",
        "raised-IndexError": "An index left its array: the result is two rows and two columns smaller than the picture.",
        "not-finite": "The sum begins with what stood in out. Begin it with 0.",
    },
    hints=(
        "For one element of the result: how many weights, and so how many products? How many numbers of x does a whole channel read?",
        "Without a sum over channels there are nine products for each number that is stored, whatever the number of channels. "
        "Every number of x, of weight and of out counts once for the bytes.",
        "A sum that begins with 0 takes a multiplication and an addition for each of nine weights: how many sums are "
        "there, if a picture of 34 loses two pixels each way? Bytes: which of the three arrays is how large, with 4 "
        "bytes for each number?",
    ),
)

TASKS = (SIZES, LINE, PLANE, FAILS, COST, HALO, POOL, IM2COL, WEIGHT, VERDICTS, WINOGRAD, ROOFLINE)
