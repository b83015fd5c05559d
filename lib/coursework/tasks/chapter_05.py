"""Tasks of chapter 05, Kernels and threads: launches, indices, guards, the first layer, streams and occupancy."""

from dataclasses import replace

import numpy as np

from cpulab.explore import Program
from dlkernels import cuda
from simt.xray.occupancy import occupancy

from ..definition import Budget, Case, Section, Slip, random_values, unwritten
from ..kinds.arrays import Suspect
from ..kinds.counterexample import CounterexampleTask, Flaw
from ..kinds.data import Whole
from ..kinds.detective import DetectiveTask, Fault
from ..kinds.function import FunctionTask
from ..kinds.kernel import KernelTask
from ..kinds.prediction import PredictionTask, Question
from ..kinds.schedule import ScheduleTask

NOTHING = np.zeros(0)  # what a suspect gives for arguments that it does not fit

# 05-launch ---------------------------------------------------------------------------------------------------

ELEMENTS, THREADS, WARP = 500_000, 192, 32


def _blocks():
    return -(-ELEMENTS // THREADS)


def _idle():
    return _blocks() * THREADS - ELEMENTS


def _warps():
    return -(-200 // WARP)


LAUNCH = PredictionTask(
    id="05-launch",
    section=Section("5", "05_threads", "Half a million elements"),
    title="Half a million elements, by hand",
    objective="Predict the blocks, idle threads and warps of a launch",
    points=1,
    minutes=4,
    questions=(
        Question(
            "blocks",
            f"blocks of {THREADS} threads for {ELEMENTS} elements",
            _blocks,
            {
                ELEMENTS // THREADS: "Rounded down: then the last elements have no thread.",
                ELEMENTS: "That is the number of elements: one block for each. A block has 192 threads, each with an element.",
                _blocks() * THREADS: "Those are threads. How many blocks of 192 are they?",
                -(-ELEMENTS // 256): "That is the number of blocks of 256. These have 192 threads.",
                -(
                    -ELEMENTS // 1024
                ): "That is the number of blocks of 1024, the largest there are. These have 192 threads.",
                -(-ELEMENTS // WARP): "That is the number of warps. A block of 192 threads has six of them.",
            },
            "Divide the elements by the threads of a block. Where there is a rest, who computes it?",
        ),
        Question(
            "idle",
            "threads of this launch that have no element",
            _idle,
            {
                ELEMENTS
                % THREADS: "Those are the threads of the last block that have an element. The others are asked for.",
                0: "Then the division would have no rest. How many threads are there in all?",
                THREADS: "A whole block? Then it need not be started.",
                _idle()
                - 1: "One too few. Count from the first index without an element, 500000, to the last thread, both counted.",
                _idle() + 1: "One too many. 500000 elements have the indices 0 to 499999.",
            },
            "How many threads are there in all, blocks times threads of a block? How many elements?",
        ),
        Question(
            "warps",
            "warps of one block of 200 threads",
            _warps,
            {
                200 // WARP: "Six warps have 192 threads. Where do the other 8 run?",
                200: "Those are threads. A warp has 32 of them.",
                8: "Eight warps would be 256 threads. Is the eighth one needed?",
                WARP: "That is the number of threads of a warp.",
            },
            "Threads run in warps of 32. A warp that is not full is one all the same.",
        ),
    ),
    hints=(
        "A block is started whole or not at all. What follows for the last elements?",
        "Blocks are elements divided by threads, rounded up; warps of a block are threads divided by 32, rounded up. What rounding up "
        "adds is idle.",
        "500000 / 192 is 2604.17: which whole number is the first that is enough? Times 192, and take away the elements. Then 200 / 32.",
    ),
)

# 05-shift ----------------------------------------------------------------------------------------------------


def shift_arguments(n, k):
    """make(rng) -> x of shape (n,), k, out of shape (n,)."""
    return lambda rng: (random_values(rng, n), k, unwritten(n))


def shifted(x, k):
    """x moved k places up, with zeros in front."""
    return np.concatenate([np.zeros(min(k, len(x))), x[: max(len(x) - k, 0)].astype(np.float64)])


SHIFT = KernelTask(
    id="05-shift",
    section=Section("5", "05_threads", "Guards"),
    title="Move a vector by k places",
    objective="Write a kernel whose threads each ask which elements there are before they read and write",
    points=2,
    minutes=8,
    spec=lambda x, k, out: shifted(x, k),
    cases=(
        Case("one block: n = 32, k = 5 in 1 block of 32", shift_arguments(32, 5), grid=1, block=32),
        Case("exact: n = 256, k = 70 in 4 blocks of 64", shift_arguments(256, 70), grid=4, block=64),
        Case("ragged: n = 300, k = 7 in 3 blocks of 128", shift_arguments(300, 7), grid=3, block=128),
        Case("k beyond the end: n = 100, k = 130 in 2 blocks of 64", shift_arguments(100, 130), grid=2, block=64),
    ),
    partial={"one block: n = 32, k = 5 in 1 block of 32": 1},
    suspects=(
        Suspect(lambda x, k, out: x, "This is x itself: nothing moved."),
        Suspect(
            lambda x, k, out: np.concatenate([x[k:], np.zeros(min(k, len(x)))]),
            "It moved the other way: out[0] got x[k]. Element 0 of x belongs to place k of out.",
        ),
        Suspect(
            lambda x, k, out: np.roll(x, k),
            "What left at the end came in again in front. There the specification has zeros.",
        ),
        Suspect(lambda x, k, out: x[::-1], "This is x turned round. It shall keep its order."),
        Suspect(
            lambda x, k, out: np.concatenate([np.zeros(min(k + 1, len(x))), x[1 : max(len(x) - k, 1)]]),
            "Only place k is wrong: it got 0, and belongs to x[0]. Does the condition ask for more than k, or for k and more?",
        ),
        Suspect(
            lambda x, k, out: np.concatenate([np.full(min(k, len(x)), x[0]), x[: max(len(x) - k, 0)]]),
            "The first places got x[0]. There the specification has zeros.",
        ),
        Suspect(lambda x, k, out: 0 * x, "All of it is 0: no element of x arrived."),
    ),
    advice={
        "out-of-bounds": (
            "There are more threads than elements in some launches, and a thread beyond the end has nothing to read or to write. Which "
            "condition lets through exactly the indices of out?"
        ),
        "none-beyond": (
            "Here each thread has an element, so that none is too many. But the last k elements of x have no place out[i + k]: they are lost. And the "
            "first k places of out have no element x[i - k]: they get 0. Python would count from the end, here it is an error. Which of the "
            "two do you use, and what asks whether it is there?"
        ),
        "race": "Two threads store to one place. Each thread has one place of out: does a loop in every thread write several?",
        "negative-index": (
            "The first k places have no element of x that moves there. Python would count from the end; here it is an error. What shall stand "
            "in these places?"
        ),
        "head": "The first k places were never written. They hold anything before, and shall hold 0.",
        "some-unwritten": "Each place of out needs a store: those that no element of x moves to get 0.",
        "gaps-in-one-block": "Each place of out needs a store: those that no element of x moves to get 0.",
        "nothing-written": (
            "Nothing was stored where k is larger than n. Each place of out needs a store: with nothing to move there it gets 0."
        ),
    },
    hints=(
        "Let the thread own a place of out. Which element of x comes to place 10 when k is 7? And to place 3?",
        "Two questions, each with its own answer: is there a place i of out? And if there is, is there an element of x k places before it?",
        "The number of the thread in the grid is i. Outer `if`: the store. Inside, the value is 0 unless i has reached k; then it comes "
        "from k places before.",
    ),
)

# 05-flip -----------------------------------------------------------------------------------------------------

BLOCK = (16, 16)


def picture_arguments(rows, columns):
    """make(rng) -> picture and out of shape (rows, columns)."""
    return lambda rng: (random_values(rng, rows, columns), unwritten(rows, columns))


def picture_case(name, rows, columns):
    """A case whose grid has as many blocks along x as along y, so that either may count rows."""
    blocks = -(-max(rows, columns) // 16)
    where = "1 block" if blocks == 1 else f"{blocks} x {blocks} blocks"
    return Case(f"{name}: {rows} x {columns} in {where}", picture_arguments(rows, columns), (blocks, blocks), BLOCK)


def _thread_of(index, case):
    """(block, thread) that writes an element, x counting columns."""
    (row, column) = index
    return (column // 16, row // 16), (column % 16, row % 16)


FLIP = KernelTask(
    id="05-flip",
    section=Section("5", "05_threads", "Two and three dimensions"),
    title="A picture in the mirror",
    objective="Write a kernel on a grid of two dimensions, and give the columns to the direction in which warps run",
    points=2,
    minutes=10,
    spec=lambda picture, out: picture[:, ::-1],
    cases=(
        picture_case("one block, exact", 16, 16),
        picture_case("exact", 32, 32),
        picture_case("ragged and tall", 37, 20),
        picture_case("ragged and wide", 5, 41),
    ),
    writer=_thread_of,
    suspects=(
        Suspect(lambda picture, out: picture, "This is the picture itself: nothing was mirrored."),
        Suspect(lambda picture, out: picture[::-1], "It stands on its head: the rows were exchanged, not the columns."),
        Suspect(
            lambda picture, out: picture[::-1, ::-1],
            "Rows and columns are both turned round. The rows stay where they are.",
        ),
        Suspect(
            lambda picture, out: picture.T[:, ::-1] if picture.shape[0] == picture.shape[1] else NOTHING,
            "Rows and columns of the picture are exchanged before it is mirrored: one of the two indices is used as the other.",
        ),
        Suspect(
            lambda picture, out: picture.T if picture.shape[0] == picture.shape[1] else NOTHING,
            "Rows and columns are exchanged, and nothing is mirrored: one of the two indices is used as the other.",
        ),
        Suspect(
            lambda picture, out: picture.T[::-1] if picture.shape[0] == picture.shape[1] else NOTHING,
            "Rows and columns of the picture are exchanged, and the rows mirrored: one of the two indices is used as the other.",
        ),
    ),
    advice={
        "out-of-bounds": (
            "The grid has more threads than the picture has elements, in both directions: the row must be below picture.shape[0], the column "
            "below picture.shape[1], each by itself. And counted from 0, the last column is one less than their number."
        ),
        "none-beyond": (
            "Here each thread has an element, so no guard is missing. The mirror of column 0 is the last column, which has a number "
            "counted from 0; that of column c is as far from the right edge as c is from the left one."
        ),
        "negative-index": (
            "An index fell below 0. A thread beyond the right edge has no mirror: is it kept out, by a guard that asks for rows and for columns, each by "
            "itself? The row must be below picture.shape[0], the column below picture.shape[1]."
        ),
        "some-unwritten": (
            "Some elements have no thread. Does the place use the number of the block in both directions? And is the guard that of rows for "
            "the row, and that of columns for the column?"
        ),
        "race": (
            "Two threads store to one element. Which element belongs to a thread? It needs a row and a column, one of x and one of y, and "
            "each thread mirrors only its own."
        ),
        "raised-TypeError": "cuda.grid(2) gives two numbers, that along x first; an element is picture[row, column].",
    },
    budget=Budget(
        points=1,
        text="at most 4 sectors for each load and each store of a warp",
        require={"sectors_per_request": 4, "active_lanes": 32},
        over=(
            "The picture is right, but neighbouring threads of a warp, which differ in x, lie in different rows of memory. Elements of one row "
            "are neighbours: what should x count?"
        ),
        case=picture_case("exact", 32, 32),
    ),
    hints=(
        "A thread has two numbers, one along x and one along y. Which element of out is its own? And from which column does it come?",
        "16 threads in a row of a block differ in x only. In memory, elements of one row of the picture are neighbours. So x should count "
        "what differs within a row.",
        "cuda.grid(2) gives both numbers, that along x first. One guard with two conditions. The mirror of column 0 is the last column, that "
        "of column 1 the last but one: their sum is always the same.",
    ),
)

# 05-stride ---------------------------------------------------------------------------------------------------


def share_arguments(n, threads):
    """make(rng) -> x of shape (n,), partial with a place for each thread."""
    return lambda rng: (random_values(rng, n), unwritten(threads))


def shares(x, threads, first=0):
    """What each thread adds up: x[t], x[t + threads], ..."""
    return np.array([x[first + t :: threads].sum(dtype=np.float64) for t in range(threads)])


def _pieces(x, partial):
    """Sums of pieces that lie together."""
    length = -(-len(x) // len(partial))
    return [x[t * length : (t + 1) * length].sum(dtype=np.float64) for t in range(len(partial))]


STRIDE = KernelTask(
    id="05-stride",
    section=Section("5", "05_threads", "Grid-stride loops"),
    title="A share for each thread",
    objective="Write a grid-stride loop that keeps its sum in a register, for any grid and any length",
    points=2,
    minutes=10,
    spec=lambda x, partial: shares(x, len(partial)),
    rtol=1e-4,
    atol=1e-5,
    cases=(
        Case("one block: n = 100 in 1 block of 32", share_arguments(100, 32), grid=1, block=32),
        Case("exact: n = 512 in 2 blocks of 64", share_arguments(512, 128), grid=2, block=64),
        Case("ragged: n = 1000 in 3 blocks of 64", share_arguments(1000, 192), grid=3, block=64),
        Case("more threads than elements: n = 40 in 2 blocks of 32", share_arguments(40, 64), grid=2, block=32),
    ),
    suspects=(
        Suspect(
            lambda x, partial: np.concatenate([x[: len(partial)], np.zeros(max(len(partial) - len(x), 0))]),
            "This is the first element of each thread alone. A thread goes on, by as many elements as there are threads in the grid, to the end of x, "
            "not of partial.",
        ),
        Suspect(
            lambda x, partial: [x[t:].sum(dtype=np.float64) for t in range(len(partial))],
            "Each thread added up everything from its own element on: the step is 1. A thread goes on by the number of threads in the grid; "
            "cuda.gridDim.x counts blocks.",
        ),
        Suspect(
            _pieces,
            "Each thread added up elements that lie together. Thread t takes x[t], and goes on by the number of threads in the grid.",
        ),
        Suspect(
            lambda x, partial: np.full(len(partial), x.sum(dtype=np.float64)),
            "Each thread added up all of x: its share is asked for.",
        ),
        Suspect(
            lambda x, partial: [x[t::64].sum(dtype=np.float64) for t in range(len(partial))],
            "The step is 64, whatever the grid. Where there are several blocks, elements are added up in each of them.",
        ),
        Suspect(
            lambda x, partial: [x[t::32].sum(dtype=np.float64) for t in range(len(partial))],
            "The step is that of one block of 32. Where there are several blocks, elements are added up in each of them.",
        ),
        Suspect(
            lambda x, partial: [x[t : len(x) - 1 : len(partial)].sum(dtype=np.float64) for t in range(len(partial))],
            "The last element of x is missing. Where does range end?",
        ),
        Suspect(
            lambda x, partial: shares(x, len(partial)) - np.pad(x[: len(partial)], (0, max(len(partial) - len(x), 0))),
            "The first element of each share is missing. Where does the loop start?",
        ),
        Suspect(
            lambda x, partial: [x[t :: len(partial)][-1:].sum() for t in range(len(partial))],
            "This is the last element of each share: the sum was replaced, not added to.",
        ),
    ),
    advice={
        "out-of-bounds": "The loop must end before the end of x: its bound is x.size. And partial has one place for each thread.",
        "none-beyond": "The loop must end before the end of x: its bound is x.size.",
        "one-block": "Only the places of block 0 were written. Which thread of the whole grid am I?",
        "two-writers": "Two threads store to one place of partial. A thread's own place is its number in the whole grid.",
        "race": "Two threads store to one place. Does each thread go over all of partial? The threads are that loop: each stores one sum.",
        "adds-to-old": "partial holds anything before, and a sum that begins there is no sum. Begin with 0, in a variable.",
        "tail": "Threads without an element have an empty share: its sum is 0, and it must be stored, too.",
        "first-round-only": "Each thread of the grid has a place of partial, whether x is longer or shorter than the grid.",
        "wrong-value": (
            "Write down which elements thread 1 of block 1 adds up. It begins at its number in the whole grid, and goes on by the number of "
            "threads in the whole grid."
        ),
        "raised-TypeError": "Here the grid has one dimension: cuda.grid(1) and cuda.gridsize(1) are single numbers.",
    },
    budget=Budget(
        points=1,
        text="one load of each element, and one store for each thread: 16 load requests and 4 store requests",
        require={"global_load_requests": 16, "global_store_requests": 4},
        over=(
            "The sums are right, but memory is asked more often than once for an element: is partial loaded and stored in each round? A variable of the "
            "thread lies in a register."
        ),
        case=Case("n = 512 in 2 blocks of 64", share_arguments(512, 128), grid=2, block=64),
    ),
    hints=(
        "With 192 threads and 1000 elements: which elements does thread 5 add up? How do you say that with range?",
        "A start, an end and a step: the number of this thread in the grid, the length of x, the number of threads in the grid. The sum is a "
        "variable until the loop has ended.",
        "Before the loop a sum of 0. The loop has one line. The store comes behind the loop, outside of it, and needs no guard: partial "
        "has a place for every thread.",
    ),
)

# 05-place ----------------------------------------------------------------------------------------------------


def judge_place(arguments, result):
    """A Slip, or None for the place of element i in a volume."""
    i, depth, rows, columns = arguments
    if i >= depth * rows * columns:
        cause = "There is no such element: the volume has depth * rows * columns, counted from 0. Then return None."
        return None if result is None else Slip("beyond", "None", cause)
    right = tuple(int(v) for v in np.unravel_index(i, (depth, rows, columns)))
    expected = f"(z, y, x) = {right}"
    if not isinstance(result, tuple | list) or len(result) != 3:
        cause = "Return three numbers, `return z, y, x`. None is for an i that is too large, and this element is there."
        return Slip("type", expected, cause)
    if not all(isinstance(v, int | np.integer) for v in result):
        return Slip(
            "type", expected, "`/` gives a float even where the division has no rest; `//` gives a whole number."
        )
    said, (z, y, x) = tuple(int(v) for v in result), right
    if said == right:
        return None
    causes = (
        ((x, y, z), "The order is z, y, x: the one that changes slowest comes first."),
        (
            (z, i // columns, x),
            "y counts the rows from the beginning of the volume. From one slice to the next it begins anew: % rows.",
        ),
        ((z, y, i % (rows * columns)), "x is the place in the slice. In its row it begins anew: % columns."),
        ((z, y, i), "x is all of i. In its row it begins anew: % columns."),
        (
            np.unravel_index(i, (depth, columns, rows)),
            "A row has as many elements as there are columns. Here rows and columns are exchanged.",
        ),
        (
            np.unravel_index(i, (depth, rows, columns), "F"),
            "Here z changes fastest. In memory x does: elements 0 and 1 are neighbours in a row.",
        ),
        ((i // depth, y, x), "z counts slices. How many elements has one of them?"),
        ((i // rows, y, x), "z counts slices. How many elements has one of them?"),
        ((i // columns, y, x), "z counts slices. How many elements has one of them?"),
        ((z + 1, y + 1, x + 1), "Count from 0: element 0 stands at (0, 0, 0)."),
    )
    cause = next((words for place, words in causes if said == tuple(int(v) for v in place)), "")
    wrong = [name for name, a, b in zip("zyx", said, right, strict=True) if a != b]
    cause = cause or (
        f"Not right: {', '.join(wrong)}. A row has `columns` elements, a slice has rows * columns. How many whole slices lie before element i, and how "
        "many whole rows in what is left?"
    )
    return Slip("place", expected, cause)


def _at(i, *shape):
    return Case(f"i = {i} in {' x '.join(map(str, shape))}", lambda rng: (i, *shape))


PLACE = FunctionTask(
    id="05-place",
    section=Section("5", "05_threads", "Two and three dimensions"),
    title="Where in the volume?",
    objective="Compute slice, row and column of an element from the number of its thread",
    points=2,
    minutes=7,
    judge=judge_place,
    cases=(
        _at(7, 2, 3, 4),
        _at(17, 2, 3, 4),
        _at(0, 2, 3, 4),
        _at(23, 2, 3, 4),
        _at(24, 2, 3, 4),
        _at(1234, 20, 12, 30),
    ),
    advice={
        "raised-ValueError": "np.unravel_index refuses an index beyond the end. Ask first whether there is such an element.",
        "raised-TypeError": "i, depth, rows and columns are whole numbers, not arrays.",
    },
    hints=(
        "A volume of 2 x 3 x 4 has slices of 12 elements, in rows of 4. In which slice is element 17? How many elements of that slice come "
        "before it?",
        "`//` tells how many whole ones lie before, `%` what is left. Begin with the slices, and go on with what is left.",
        "The slice is i divided by the elements of a slice. What is left, divided by the elements of a row, is the row; what is left of "
        "that is the column. First of all, the guard.",
    ),
)

# 05-layer ----------------------------------------------------------------------------------------------------


def layer_arguments(samples, inputs, outputs, scale=1):
    """make(rng) -> x (samples, inputs), w (inputs, outputs), b (outputs,), y (samples, outputs)."""
    return lambda rng: (
        scale * random_values(rng, samples, inputs),
        random_values(rng, inputs, outputs),
        random_values(rng, outputs),
        unwritten(samples, outputs),
    )


def layer_case(name, samples, inputs, outputs, scale=1):
    """A case in blocks of 16 x 4 threads, the outputs along x."""
    x, y = -(-outputs // 16), -(-samples // 4)
    where = "1 block" if x * y == 1 else f"{x} x {y} blocks"
    arguments = layer_arguments(samples, inputs, outputs, np.float32(scale))
    return Case(
        f"{name}: {samples} sample{'s' * (samples > 1)}, {inputs} -> {outputs} in {where}", arguments, (x, y), (16, 4)
    )


def sigmoid(z):
    """1 / (1 + exp(-z)) in float64, without overflow."""
    z = np.asarray(z, np.float64)
    small = np.exp(-np.abs(z))
    return np.where(z < 0, small, 1.0) / (1 + small)


def weighted(x, w, b=0, first=0):
    """x @ w + b in float64."""
    return x[:, first:].astype(np.float64) @ w[first:].astype(np.float64) + b


LAYER = KernelTask(
    id="05-layer",
    section=Section("5", "05_threads", "The first layer"),
    title="A layer for a batch",
    objective="Write a layer as a kernel with a device function, a thread for each output of each sample",
    points=3,
    minutes=12,
    spec=lambda x, w, b, y: sigmoid(weighted(x, w, b)),
    rtol=2e-5,
    cases=(
        layer_case("one block, exact", 4, 7, 16),
        layer_case("ragged", 6, 10, 21),
        layer_case("large numbers, up to 1000", 3, 5, 18, 1000),
        layer_case("one sample", 1, 12, 33),
    ),
    writer=lambda index, case: ((index[1] // 16, index[0] // 4), (index[1] % 16, index[0] % 4)),
    suspects=(
        Suspect(
            lambda x, w, b, y: weighted(x, w, b), "This is the weighted sum with its bias: sigmoid was not applied."
        ),
        Suspect(lambda x, w, b, y: sigmoid(weighted(x, w)), "The bias was not added."),
        Suspect(lambda x, w, b, y: sigmoid(weighted(x, w)) + b, "The bias comes before sigmoid, not behind it."),
        Suspect(
            lambda x, w, b, y: sigmoid(-weighted(x, w, b)),
            "This is sigmoid(-z): a sign is turned round in its exponent.",
        ),
        Suspect(
            lambda x, w, b, y: sigmoid(weighted(x, w) + x.shape[1] * b.astype(np.float64)),
            "The bias was added for each input. It is added once.",
        ),
        Suspect(
            lambda x, w, b, y: sigmoid(weighted(x[:, -1:], w[-1:], b)),
            "This is the last product alone with the bias: the products must be added up, not replaced.",
        ),
        Suspect(
            lambda x, w, b, y: sigmoid(weighted(x[:, -1:], w[-1:])),
            "This is the last product alone: the products must be added up, not replaced.",
        ),
        Suspect(
            lambda x, w, b, y: sigmoid(weighted(x, w, b, first=1)),
            "The first input is missing: where does the loop begin?",
        ),
        Suspect(
            lambda x, w, b, y: sigmoid(weighted(x[:, :-1], w[:-1], b)),
            "The last input is missing: where does the loop end?",
        ),
        Suspect(
            lambda x, w, b, y: sigmoid(weighted(np.repeat(x[:1], len(x), 0), w, b)),
            "All samples got the result of sample 0.",
        ),
    ),
    advice={
        "out-of-bounds": (
            "An index left its array. There are more threads than outputs and samples: output < y.shape[1], sample < y.shape[0]. And x has "
            "samples first, w has inputs first."
        ),
        "none-beyond": (
            "Here each thread has an output, so no guard is missing. x has samples first, then inputs; w inputs first, then outputs; and "
            "the loop takes each of the x.shape[1] inputs once."
        ),
        "negative-index": "An index fell below 0. The loop goes over the inputs, from 0 on.",
        "not-finite": (
            "exp of a large number is infinite, and infinity divided by infinity is no number. 1 / (1 + exp(-z)) never divides infinity by "
            "infinity."
        ),
        "adds-to-old": "The sum begins with what stood in y. Begin it with 0, or with the bias, in a variable.",
        "some-unwritten": "Some outputs have no thread. x counts outputs, y counts samples: is one used as the other, in an index or in the guard?",
        "gaps-in-one-block": "x counts outputs, y counts samples: is one of them used as the other, in the guard or in the store?",
        "race": "Two threads store to one element. An output of a sample belongs to one thread: y[sample, output].",
        "raised-TypeError": (
            "Is one number used where there is an array? The sum is one number, of elements x[sample, k] and w[k, output], and the device function "
            "takes and returns one number."
        ),
        "wrong-value": (
            "Work out y[0, 0] by hand: the sum of x[0, k] * w[k, 0] over all k, plus b[0], and then sigmoid. Which index in your loop does "
            "not change as it should?"
        ),
    },
    hints=(
        "A thread has one output of one sample. Which row of x and which column of w does it need? How long is its loop?",
        "A device function is an ordinary function with @cuda.jit(device=True) above it: it returns a number, and a kernel calls it. The sum over the "
        "inputs begins with the bias or with 0.",
        "cuda.grid(2) gives the output first, then the sample. A guard for both. In the loop one product is added; behind it stands the one "
        "store, with the device function around the sum.",
    ),
)

# 05-fails ----------------------------------------------------------------------------------------------------
# The statement shows the kernels `wrapped`, `pairs` and `linear`; a test compares.


@cuda.jit
def wrapped(x, out):
    i = cuda.grid(1) % out.size
    out[i] = 2 * x[i]


@cuda.jit
def pairs(x, out):
    i = 2 * cuda.grid(1)
    if i < out.size:
        out[i] = 2 * x[i]
        out[i + 1] = 2 * x[i + 1]


@cuda.jit
def linear(x, out):
    column, row = cuda.grid(2)
    rows, columns = out.shape
    if row * columns + column < rows * columns:
        out[row, column] = 2 * x[row, column]


@cuda.jit
def _doubled(x, out):
    for i in range(cuda.grid(1), out.size, cuda.gridsize(1)):
        out[i] = 2 * x[i]


@cuda.jit
def _doubled_picture(x, out):
    column, row = cuda.grid(2)
    if row < out.shape[0] and column < out.shape[1]:
        out[row, column] = 2 * x[row, column]


def _vector(n):
    return lambda rng: (random_values(rng, n), unwritten(n))


def a_launch(n, blocks, threads):
    """The case of a doubling that a student chose."""
    return Case(f"n = {n} in {blocks} block{'s' * (blocks > 1)} of {threads}", _vector(n), blocks, threads)


def a_picture(rows, columns):
    """The case of a picture that a student chose, in blocks of 16 x 16."""
    x, y = -(-columns // 16), -(-rows // 16)
    return Case(f"{rows} x {columns} in {x} x {y} blocks", picture_arguments(rows, columns), (x, y), BLOCK)


DOUBLE = replace(
    SHIFT, id="05-double", spec=lambda x, out: 2 * x.astype(np.float64), cases=(), suspects=(), advice={}, partial={}
)
LAUNCHES = {"n": Whole(1, 1024), "blocks": Whole(1, 16), "threads": Whole(1, 128)}

FAILS = CounterexampleTask(
    id="05-fails",
    section=Section("5", "05_threads", "Guards"),
    title="Find launches on which three kernels fail",
    objective="Find a launch or a shape that shows what a guard forgets",
    points=3,
    minutes=12,
    flaws=(
        Flaw(
            name="wrapped",
            judge=DOUBLE,
            wrong=wrapped,
            right=_doubled,
            fields=LAUNCHES,
            case=a_launch,
            rules=(
                (lambda n, blocks, threads: blocks * threads >= n, "a thread for each element: blocks * threads >= n"),
            ),
            lead="The numbers are right, and always will be. Which element does the thread behind the last one take, and whose is that?",
        ),
        Flaw(
            name="pairs",
            judge=DOUBLE,
            wrong=pairs,
            right=_doubled,
            fields=LAUNCHES,
            case=a_launch,
            rules=(
                (lambda n, blocks, threads: 2 * blocks * threads >= n, "enough threads: 2 * blocks * threads >= n"),
            ),
            lead="The guard asks about the first element of a pair. For which n is the second one not there?",
        ),
        Flaw(
            name="linear",
            judge=replace(DOUBLE, id="05-double-picture", writer=_thread_of),
            wrong=linear,
            right=_doubled_picture,
            fields={"rows": Whole(1, 64), "columns": Whole(1, 64)},
            case=a_picture,
            lead=(
                "Take a thread whose column lies beyond the right edge. Which number does the condition compute for it? When is there such a thread, and "
                "when is there a row below?"
            ),
        ),
    ),
    hints=(
        "Take the condition of each kernel, or what stands in its place. Which threads should it stop, and which does it stop?",
        "wrapped: let there be more threads than elements. pairs: think of the last pair. linear: the condition stops what lies behind "
        "the end of memory, not what lies beside the picture.",
        "wrapped: the x-ray looks at who stores. pairs: an even n has no half pair. linear: let the last block of a row hang over the right edge; "
        "the rows can be few.",
    ),
)

# 05-verdicts -------------------------------------------------------------------------------------------------
# The statement shows these kernels; a test compares.


@cuda.jit
def _kernel_a(x, out):
    i = cuda.grid(1)
    if cuda.blockIdx.x < out.size // cuda.blockDim.x:
        out[i] = x[i] / 2


@cuda.jit
def _kernel_b(x, out):
    i = cuda.threadIdx.x * cuda.gridDim.x + cuda.blockIdx.x
    if i < out.size:
        out[i] = x[i] / 2


@cuda.jit
def _kernel_c(x, out):
    first = cuda.blockIdx.x * cuda.blockDim.x
    if first < out.size:
        i = first + cuda.threadIdx.x
        out[i] = x[i] / 2


@cuda.jit
def _kernel_d(x, out):
    i = min(cuda.grid(1), out.size - 1)
    out[i] = x[i] / 2


HALVE = replace(
    DOUBLE,
    id="05-halve",
    spec=lambda x, out: x.astype(np.float64) / 2,
    cases=tuple(a_launch(n, blocks, threads) for n, blocks, threads in ((256, 4, 64), (200, 4, 64), (70, 3, 32))),
)

VERDICTS = DetectiveTask(
    id="05-verdicts",
    section=Section("5", "05_threads", "Guards"),
    title="Which of four kernels is right?",
    objective="Judge kernels by their text, thread by thread",
    points=3,
    minutes=10,
    judge=HALVE,
    programs={"A": _kernel_a, "B": _kernel_b, "C": _kernel_c, "D": _kernel_d},
    faults=(
        Fault("right", "halves each element, for every n and every launch with a thread for each element"),
        Fault("outside", "a thread reads or writes outside of an array", ("out-of-bounds", "negative-index")),
        Fault("two writers", "two threads that nothing orders store the same element", ("race", "two-writers")),
        Fault(
            "gaps",
            "some elements of out are not stored",
            ("some-unwritten", "tail", "head", "one-block", "nothing-written"),
        ),
        Fault(
            "wrong numbers",
            "an element gets a wrong number",
            ("wrong-value", "shifted", "scaled", "constant", "precision"),
        ),
    ),
    hints=(
        "Choose a small launch: 3 blocks of 4 threads, n = 10. Write down for each kernel which element each thread takes.",
        "Ask of each kernel: do two threads take the same element? Is there an element that nobody takes? What do the two threads do that "
        "are too many?",
        "An unusual order of the elements is no fault, as long as each has one thread. What does a division leave out that rounds down? Is a block "
        "stopped or a thread? And is one that is too many stopped at all?",
    ),
)

# 05-crossing -------------------------------------------------------------------------------------------------


def pays_from(intensity, cpu, gpu, link, calls):
    """Bytes from which on a GPU is faster, copies included; None where it never is."""
    gained = intensity / cpu - intensity / gpu - 1 / link  # seconds for each byte
    return calls / gained if gained > 0 else None


def judge_crossing(arguments, result):
    """A Slip, or None for the size from which on a GPU pays."""
    intensity, cpu, gpu, link, calls = arguments
    right = pays_from(*arguments)
    if right is None:
        if result is None:
            return None
        cause = "Here each byte costs the GPU more than the CPU, on the link and in work together. More bytes make it worse: it never pays. Then return None."
        return Slip("never", "None", cause)
    expected = f"about {right:.6g} bytes"
    if isinstance(result, bool) or not isinstance(result, int | float | np.integer | np.floating):
        cause = "It does pay here: each byte costs the CPU more seconds than the GPU and the link. Return the number of bytes, one number."
        return Slip("type", expected, cause)
    if abs(result - right) <= 1e-6 * right:
        return None

    def size(gained, seconds=calls):
        return seconds / gained if gained else np.inf

    causes = (
        (
            size(intensity / cpu - 1 / link),
            "The GPU's own work is missing: intensity * n / gpu seconds beside the copies.",
        ),
        (size(intensity / cpu - intensity / gpu), "The copies are missing: n bytes take n / link seconds."),
        (size(1 / cpu - 1 / gpu - 1 / link), "A byte has `intensity` operations, on both sides: that is missing."),
        (
            size(intensity / cpu - intensity / gpu - intensity / link),
            "What travels is bytes: the link is not asked once for each operation.",
        ),
        (
            size(intensity / cpu),
            "This is where the CPU takes as long as the calls alone. Copies and the GPU's work take time, too.",
        ),
        (
            size(intensity / cpu - intensity / gpu + 1 / link),
            "The sign of the copies is turned round: they are a cost of the GPU.",
        ),
        (right * intensity, "Those are operations. How many bytes are that?"),
        (1 / right, "Turned upside down: the calls are divided by what each byte saves."),
        (right / 4, "Those are elements of 4 bytes. Bytes are asked for."),
    )
    cause = next(
        (words for guess, words in causes if np.isfinite(guess) and abs(result - guess) <= 1e-6 * abs(guess)), ""
    )
    cause = cause or (
        "Write down the seconds of both sides for n bytes: the CPU's work; for the GPU its calls, the copies and its work. Where they are equal, what is n?"
    )
    return Slip("size", expected, cause)


def _job(name, intensity, cpu, gpu, link, calls=40e-6):
    return Case(name, lambda rng: (intensity, cpu, gpu, link, calls))


CROSSING = FunctionTask(
    id="05-crossing",
    section=Section("5.2", "05_transfers", "Intensity decides"),
    title="From which size on does it pay?",
    objective="Compute from which size on a GPU is faster, copies included",
    points=2,
    minutes=8,
    judge=judge_crossing,
    cases=(
        _job("much work for each byte", 100.0, 1e11, 1e13, 2e10),
        _job("a fast link", 4.0, 2e10, 1e13, 6e10),
        _job("a vector add: little work", 1 / 12, 1e10, 1e13, 2e10),
        _job("slow calls", 50.0, 2e11, 5e12, 3e10, 1e-3),
        _job("a GPU that is slower", 10.0, 1e12, 5e11, 3e10),
    ),
    advice={
        "raised-ZeroDivisionError": "Where a byte costs both sides the same, there is no size at which the calls are paid. Ask before you divide.",
        "raised-TypeError": "All five are plain numbers, and one number or None comes back.",
    },
    hints=(
        "How many seconds does the CPU need for n bytes? And the GPU, with all it has to do? Which of these parts grow with n?",
        "Both times are straight lines in n. The GPU's begins higher, at the calls; does it rise more slowly? What does each byte cost the CPU, and what the GPU?",
        "Take what a byte costs the GPU, its share of the link and its operations, away from what it costs the CPU. If something is left, each byte pays back that much: how many bytes pay back "
        "the calls?",
    ),
)

# 05-overlap --------------------------------------------------------------------------------------------------

LASTS = {"A": (4, 2, 3), "B": (1, 6, 1), "C": (2, 3, 2)}  # ms of load, kernel and store
WORK = ("load", "kernel", "store")
ONE_BY_ONE = sum(map(sum, LASTS.values()))


def timeline(issued):
    """{engine: [(stream, begin, end), ...]} of work in the order in which it was issued; ms."""
    lanes, ready = {"copies": [], "kernels": []}, {}
    for name, work in (text.split() for text in issued):
        lane = lanes["kernels" if work == "kernel" else "copies"]
        begin = max(lane[-1][2] if lane else 0, ready.get(name, 0))
        ready[name] = begin + LASTS[name][WORK.index(work)]
        lane.append((name, begin, ready[name]))
    return lanes


def _ends(played):
    return max(end for lane in timeline(played.state["issued"]).values() for _, _, end in lane)


def _lanes(played):
    return "; ".join(
        f"{engine} " + ", ".join(f"{name} {begin} to {end}" for name, begin, end in lane)
        for engine, lane in timeline(played.state["issued"]).items()
    )


OVERLAP = ScheduleTask(
    id="05-overlap",
    section=Section("5.2", "05_transfers", "Streams and overlap"),
    title="Be the scheduler: keep both engines busy",
    objective="Choose the order in which three streams are issued so that copies and kernels overlap most",
    points=2,
    minutes=8,
    program=Program(
        """
        issued = []


        def stream(name):
            issued.append(name + " load")
            issued.append(name + " kernel")
            issued.append(name + " store")
        """,
        A=("stream", "A"),
        B=("stream", "B"),
        C=("stream", "C"),
    ),
    who="stream",
    score=lambda played: ONE_BY_ONE - _ends(played),
    shown={saved: f"All has ended after {ONE_BY_ONE - saved} ms" for saved in range(ONE_BY_ONE)},
    at_the_end=_lanes,
    slips={
        0: "Nothing overlaps: each store is issued before the next load, and a store waits for its kernel. What could the copy engine do "
        "while the first kernel runs?",
        7: "In turns some copies run beside kernels. Whose kernel is the longest, and from when on does it run?",
        8: "Which engine waits at the beginning, and for how long? Another stream could go first.",
        9: "One millisecond is left. Look for a gap in the line of the copies: which store waits there for its kernel, and what could be copied "
        "meanwhile?",
    },
    otherwise="Look for gaps in the two lines. Where an engine waits, what was issued too late, or too early?",
    advice={
        "unknown-thread": "The streams are A, B and C. A step issues the next piece of work of its stream.",
        "impossible": "A stream has three pieces of work. One that has issued them all cannot be named again.",
        "type": 'Write a string with one letter for each step, as "AAABBBCCC".',
    },
    hints=(
        "Add up all copies, and all kernels. How soon could everything end if the busier engine never waited? Which waiting can no order "
        "avoid?",
        "The kernels should begin early and the stores should not wait: begin with the stream whose load is short and whose kernel is long, and load the "
        "others beside it.",
        "A store that is issued early blocks every load behind it until its kernel has ended. Load two streams first; then place each store where "
        "its kernel has just ended.",
    ),
)

# 05-occupancy ------------------------------------------------------------------------------------------------


def _resident(threads, registers, shared=0):
    return occupancy("sm_80", threads, registers, shared)


def _most_registers():
    return max(r for r in range(1, 256) if _resident(256, r).occupancy == 1)


OCCUPANCY = PredictionTask(
    id="05-occupancy",
    section=Section("5.2", "05_transfers", "Occupancy"),
    title="How many blocks fit?",
    objective="Predict how many blocks are resident on a multiprocessor, and what limits them",
    points=2,
    minutes=8,
    questions=(
        Question(
            "blocks",
            "blocks of 256 threads with 64 registers each",
            lambda: _resident(256, 64).blocks_per_sm,
            {
                8: "That is what the places for warps allow. How many registers do 8 such blocks need?",
                1024: "That is how many threads the registers are enough for. A block has 256.",
                1: "How many registers does one block need? Is that all there are?",
                32: "That is the limit of blocks alone, or the warps of the blocks. What do warps and registers allow?",
            },
            "Work out for each supply how many blocks it is enough for. The scarcest one decides.",
        ),
        Question(
            "warps",
            "resident warps with blocks of 192 threads and 32 registers each",
            lambda: _resident(192, 32).warps_per_sm,
            {
                64: "That would fill all places. A block has 6 warps: how many whole blocks go into 64?",
                10: "Those are the blocks. How many warps has each?",
                6: "That is one block.",
                11 * 6: "There are 64 places: the eleventh block does not fit as a whole.",
                10 * 192: "Those are threads. A warp has 32.",
                32: "Those are the blocks that could be there at most, or the registers of a thread. How many blocks of 6 warps fit?",
            },
            "A block is resident as a whole, or not at all. How many blocks of 6 warps go into 64 places?",
        ),
        Question(
            "shared",
            "blocks of 128 threads with 32 registers and 41 KiB of shared memory each",
            lambda: _resident(128, 32, 41 * 1024).blocks_per_sm,
            {
                4: "164 / 41 is 4 exactly, but the system takes 1 KiB in each block: four of 42 KiB are too many.",
                16: "That is what warps and registers allow. How much shared memory do 16 blocks need?",
                5: "That is rounded up: the fifth block does not fit as a whole.",
                1: "How many times do 42 KiB go into 164 KiB?",
            },
            "How many blocks do the warps allow, how many the registers, how many the shared memory?",
        ),
        Question(
            "registers",
            "the most registers a thread may have if blocks of 256 threads shall fill all places for warps",
            _most_registers,
            {
                64: "With 64 only half of the places are filled, as the first question shows.",
                255: "That is the most a thread can have at all. How many threads share the 65,536 registers?",
                256: "That would be for one block. All places filled are eight blocks.",
                _most_registers() - 1: "One more does fit.",
                _most_registers() + 1: "One too many: a warp gets registers in units of 256.",
                16: "With 16 all places are filled, and with more than that, too.",
            },
            "All places are 64 warps of 32 threads. What is each one's share of 65,536 registers?",
        ),
    ),
    hints=(
        "A block needs places for its warps, registers, and shared memory. Which of the three is gone first?",
        "For each supply: what there is, divided by what one block needs, rounded down. The smallest of these numbers is the number of blocks.",
        "A block of 256 threads with r registers each takes 256 * r of 65,536, and 8 of 64 places. For the second question mind whole blocks; for the "
        "third add 1 KiB to each block.",
    ),
)

TASKS = (LAUNCH, SHIFT, PLACE, FLIP, STRIDE, LAYER, FAILS, VERDICTS, CROSSING, OVERLAP, OCCUPANCY)
