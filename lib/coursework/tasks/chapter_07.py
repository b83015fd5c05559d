"""Tasks of chapter 07, Vector add and element-wise kernels."""

import math
from dataclasses import replace

import numpy as np

from dlkernels import cuda

from ..definition import Budget, Case, Section, Slip, random_values, unwritten
from ..golf import Golf
from ..kinds.arrays import Suspect
from ..kinds.counterexample import CounterexampleTask, Flaw
from ..kinds.data import Numbers, Whole
from ..kinds.detective import DetectiveTask, Fault
from ..kinds.function import FunctionTask
from ..kinds.kernel import KernelTask
from ..kinds.measured import Card, MeasuredTask
from ..kinds.parallel import ParallelTask, Watch
from ..kinds.prediction import PredictionTask, Question

# 07-zip ------------------------------------------------------------------------------------------------------


def two_lines(n):
    """make(rng) -> a, b, out of shape (n,)."""
    return lambda rng: (random_values(rng, n), random_values(rng, n), unwritten(n))


ZIP = KernelTask(
    id="07-zip",
    section=Section("7", "07_vector_add", "The same job on a GPU"),
    title="The larger of two, element by element",
    objective="Write a kernel in which each thread of one block computes one element",
    points=1,
    minutes=4,
    spec=lambda a, b, out: np.maximum(a, b),
    cases=(
        Case("one block of a warp: n = 32", two_lines(32), grid=1, block=32),
        Case("ragged: n = 7 in 1 block of 7", two_lines(7), grid=1, block=7),
        Case("not exact warps: n = 200 in 1 block of 200", two_lines(200), grid=1, block=200),
    ),
    suspects=(
        Suspect(lambda a, b, out: a, "This is a alone: b was never larger."),
        Suspect(lambda a, b, out: b, "This is b alone: a was never larger."),
        Suspect(lambda a, b, out: a + b, "This is a + b. The larger one of the two is asked for."),
        Suspect(lambda a, b, out: np.minimum(a, b), "This is the smaller one of the two."),
        Suspect(lambda a, b, out: np.maximum(a, 0), "This is ReLU of a. The other number is that of b."),
    ),
    advice={
        "none-beyond": "There are as many threads as elements here. Count from 0: the last index is out.size - 1.",
        "race": "Each thread has one element, its own. Does every thread of this kernel walk over all of them?",
        "raised-TypeError": "a and b are arrays. Compare the elements of this thread, a[i] and b[i].",
    },
    hints=(
        "The block has one thread for each element. What tells two threads apart?",
        "cuda.threadIdx.x is 0 in the first thread of the block, 1 in the second. No loop is needed: the threads are the loop.",
        "Take the number of the thread as i. Then one line: Python's max takes two numbers, and numba knows it.",
    ),
)

# 07-launch ---------------------------------------------------------------------------------------------------


def judge_launch(arguments, result):
    """(blocks, threads) is right if every element has a thread, no block is idle and the hardware agrees."""
    (n,) = arguments
    expected = "two whole numbers: (blocks, threads per block)"
    if not isinstance(result, list | tuple) or len(result) != 2 or not all(type(v) is int for v in result):
        cause = "`/` gives a float even where the division has no rest; `//` gives a whole number."
        if not isinstance(result, list | tuple) or len(result) != 2:
            cause = "Return the two numbers, `return blocks, threads`."
        return Slip("type", expected, cause)
    blocks, threads = result
    if blocks % 32 == 0 and threads % 32 and (threads - 1) * blocks < n <= threads * blocks:
        return Slip("exchanged", expected, "The number of blocks comes first, then the threads of a block.")
    if threads > 1024:
        return Slip(
            "over-1024", "at most 1024 threads per block", "1024 is the limit of every NVIDIA GPU. Use more blocks."
        )
    if threads < 32 or threads % 32:
        return Slip(
            "not-warps",
            "a multiple of 32 threads per block",
            "Threads run in warps of 32: the rest of a warp would idle. Choose the threads of a block first, the same for every "
            "n; the number of blocks follows from n.",
        )
    if blocks < 1 or blocks * threads < n:
        cause = "The number of blocks was rounded down, so the last elements have no thread. Round up."
        return Slip(
            "too-few", f"at least {n} {'thread' if n == 1 else 'threads'} in all, not {blocks * threads}", cause
        )
    if (blocks - 1) * threads >= n:
        cause = (
            "The last block has nothing to do. n // threads + 1 is one block too many when the division has no rest; and a block "
            "handles `threads` elements, not one."
        )
        return Slip("too-many", f"no more than {-(-n // threads)} blocks of {threads} threads", cause)
    return None


LAUNCH = FunctionTask(
    id="07-launch",
    section=Section("7", "07_vector_add", "The same job on a GPU"),
    title="Blocks for half a million elements",
    objective="Choose the number of blocks and threads for n elements within the limits of a GPU",
    points=2,
    minutes=8,
    judge=judge_launch,
    cases=(
        Case("n = 1", lambda rng: (1,)),
        Case("n = 1024", lambda rng: (1024,)),
        Case("n = 1025", lambda rng: (1025,)),
        Case("n = 500,000", lambda rng: (500_000,)),
    ),
    hints=(
        "Fix the threads per block first: 256, say. How many blocks does n = 257 need? And n = 256?",
        "You need n / threads, rounded up. In Python // rounds down. What can you add to n before you divide?",
        "The sum should reach the next multiple of `threads` for each n but a multiple itself. Try 1, threads and threads - 1 "
        "with n = 256 and n = 257: which of the three is right for both?",
    ),
)

# 07-add ------------------------------------------------------------------------------------------------------


def add_arguments(n, m=None):
    """make(rng) -> a of n elements, b of m (default: n), out as long as the longer one."""
    m = n if m is None else m
    return lambda rng: (random_values(rng, n), random_values(rng, m), unwritten(max(n, m)))


def padded(a, b):
    """a and b in float64, the shorter one filled up with 0."""
    n = max(len(a), len(b))
    return (np.concatenate([x.astype(np.float64), np.zeros(n - len(x))]) for x in (a, b))


def sum_of_padded(a, b, out):
    """The specification."""
    a, b = padded(a, b)
    return a + b


def _of_padded(formula):
    return lambda a, b, out: formula(*padded(a, b))


ADD = KernelTask(
    id="07-add",
    section=Section("7", "07_vector_add", "The same job on a GPU"),
    title="Add vectors of different lengths",
    objective="Write a kernel in which each thread computes one element, and guard each access by its own array",
    points=3,
    minutes=10,
    spec=sum_of_padded,
    cases=(
        Case("one block: n = 32 in 1 block of 32", add_arguments(32), grid=1, block=32),
        Case("exact: n = 256 in 4 blocks of 64", add_arguments(256), grid=4, block=64),
        Case("ragged: n = 300 in 3 blocks of 128", add_arguments(300), grid=3, block=128),
        Case("ragged: n = 1000 in 8 blocks of 128", add_arguments(1000), grid=8, block=128),
        Case("b is shorter: 300 and 70 in 3 blocks of 128", add_arguments(300, 70), grid=3, block=128),
        Case("a is shorter: 33 and 250 in 4 blocks of 64", add_arguments(33, 250), grid=4, block=64),
    ),
    suspects=(
        Suspect(_of_padded(lambda a, b: a - b), "This is a - b."),
        Suspect(_of_padded(lambda a, b: a * b), "This is a * b."),
        Suspect(_of_padded(lambda a, b: 2 * a), "This is a + a: b is never read."),
        Suspect(_of_padded(lambda a, b: a), "This is a alone: b was not added."),
        Suspect(_of_padded(lambda a, b: b), "This is b alone: a was not added."),
        Suspect(
            lambda a, b, out: np.array([a[min(i, len(a) - 1)] + b[min(i, len(b) - 1)] for i in range(len(out))]),
            "Where one vector has ended, its last element was added again and again. There it counts as 0.",
        ),
        Suspect(
            lambda a, b, out: np.array([a[i % len(a)] + b[i % len(b)] for i in range(len(out))], np.float64),
            "Where one vector has ended, it was begun again from its start. There it counts as 0.",
        ),
    ),
    advice={
        "out-of-bounds": (
            "This thread has no such element. There may be more threads than elements, and a and b may be shorter than out: "
            "each access needs a guard that knows the length of its own array."
        ),
        "raised-TypeError": (
            "Is one number used where there is something else? threadIdx, blockIdx and blockDim have .x, cuda.grid(1) is one "
            "number and cuda.grid(2) two, and an element is a[i], with brackets."
        ),
    },
    hints=(
        "The case of n = 1000 starts 8 * 128 = 1024 threads. What should the other 24 threads do? And where b has 70 elements and "
        "out has 300, what should the thread of element 100 read?",
        "Three questions for the thread of element i: is there an out[i]? Is there an a[i]? Is there a b[i]? Each may have "
        "its own answer.",
        "Begin with a sum of 0 in a variable. What a has for this thread is added if i < a.size, what b has alike; the store has "
        "a guard of its own.",
    ),
)

# 07-sectors --------------------------------------------------------------------------------------------------


@cuda.jit
def _strided(x, out, stride):
    i = cuda.grid(1)
    out[i] = x[i * stride]


@cuda.jit
def _four_in_a_row(x, out):
    i = cuda.grid(1)
    total = 0.0
    for k in range(4):
        total += x[4 * i + k]
    out[i] = total


def _sectors(kernel, *more):
    """Sectors per request of the loads from x, counted by running one warp in the x-ray."""
    from simt.xray import xray

    x, out = np.zeros(32 * 8, np.float32), np.zeros(32, np.float32)
    report = xray(kernel, 1, 32)(x, out, *more)
    return round(next(e for e in report.expressions if e.array == "x").sectors_per_request)


SECTORS = PredictionTask(
    id="07-sectors",
    section=Section("7", "07_vector_add", "What one warp asks of memory"),
    title="Predict the sectors of three loads",
    objective="Predict how many 32-byte sectors one warp needs for a load",
    points=2,
    minutes=8,
    questions=(
        Question(
            "neighbours",
            "sectors of one warp for x[i], float32",
            lambda: _sectors(_strided, 1),
            {
                32: "One sector per thread? Neighbouring threads share a sector: it holds 32 bytes.",
                128: "128 is the number of bytes. How many sectors of 32 bytes is that?",
                1: "One request, but it needs 32 * 4 bytes, and a sector has 32.",
                8: "A sector holds 8 float32. How many such groups are there in 32 lanes?",
            },
        ),
        Question(
            "every_eighth",
            "sectors of one warp for x[8 * i], float32",
            lambda: _sectors(_strided, 8),
            {
                4: "As few as for neighbours? Lane 0 reads byte 0, lane 1 reads byte 32: is that the same sector?",
                8: "The stride is 8 elements. How many bytes is that, and how many lanes fall into one sector?",
                1024: "1024 is the number of bytes from the first lane to the last. Count sectors of 32 bytes.",
            },
        ),
        Question(
            "four_in_a_row",
            "sectors of one warp for x[4 * i + k], one value of k, float32",
            lambda: _sectors(_four_in_a_row),
            {
                4: "Over the whole loop each sector is used fully, but one request (one k) reads every fourth element.",
                32: "Two lanes share a sector here: lane 0 reads bytes 0-3, lane 1 reads bytes 16-19.",
                64: "That is the sum over the loop, k = 0 ... 3. One request is one value of k.",
            },
        ),
    ),
    hints=(
        "A request is one load of one warp: 32 lanes at once. Write down the byte address that lanes 0, 1 and 2 read.",
        "float32 has 4 bytes; a sector is bytes 0-31, 32-63, and so on. Two lanes in one sector cost one sector.",
        "Neighbours: 32 lanes * 4 bytes = 128 bytes in a row. Divide by 32. Then do the same with the lanes 32 and 16 "
        "bytes apart.",
    ),
)

# 07-map ------------------------------------------------------------------------------------------------------

BLOCK_2D = (16, 8)  # threads along x and y


def grid_2d(rows, columns):
    """The grid (x, y) of blocks that covers rows x columns elements."""
    return -(-columns // BLOCK_2D[0]), -(-rows // BLOCK_2D[1])


def case_2d(name, make, rows, columns):
    """A case of a kernel with a thread for each element of a matrix, columns along x."""
    x, y = grid_2d(rows, columns)
    where = "1 block" if x * y == 1 else f"{x} blocks along x, {y} along y"
    return Case(f"{name}: {rows} x {columns} in {where}", make(rows, columns), grid=(x, y), block=BLOCK_2D)


def thread_2d(index, case):
    """(block, thread) that writes an element of a matrix."""
    (row, column), (x, y) = index, BLOCK_2D
    return (column // x, row // y), (column % x, row % y)


def matrix_arguments(rows, columns):
    """make(rng) -> x and out of shape (rows, columns)."""
    return lambda rng: (random_values(rng, rows, columns), unwritten(rows, columns))


BEYOND_2D = (
    "The grid has more threads than the matrix has elements, in both directions. The row must be below the number of rows, the "
    "column below the number of columns: out.shape has both."
)
TURNED = (
    "x counts columns and y counts rows, and cuda.grid(2) gives x first. Is one of them used as the other, in an index or in the "
    "guard?"
)
GAPS_2D = (
    "Does the index use the number of the block in both directions? And x counts columns, y counts rows: is one of them used as "
    "the other, in an index or in the guard? Every element needs a store, whatever its value is."
)

MAP = KernelTask(
    id="07-map",
    section=Section("7.2", "07_fusion", "Fusion"),
    title="ReLU of a matrix",
    objective="Write a kernel on a grid of two dimensions",
    points=1,
    minutes=5,
    spec=lambda x, out: np.maximum(x.astype(np.float64), 0),
    cases=(
        case_2d("one block, full", matrix_arguments, 8, 16),
        case_2d("exact", matrix_arguments, 16, 64),
        case_2d("ragged and tall", matrix_arguments, 37, 20),
        case_2d("one row", matrix_arguments, 1, 50),
    ),
    writer=thread_2d,
    suspects=(
        Suspect(lambda x, out: x, "This is x itself: nothing became 0."),
        Suspect(lambda x, out: np.abs(x), "This is |x|. Where x is negative, 0 is asked for."),
        Suspect(lambda x, out: np.minimum(x, 0), "This keeps what is negative. ReLU keeps what is positive."),
    ),
    advice={
        "out-of-bounds": BEYOND_2D,
        "none-beyond": "Here each thread has an element, so no guard is missing. " + TURNED,
        "some-unwritten": GAPS_2D,
        "gaps-in-one-block": TURNED + " Or does an `if` leave out a store?",
        "wrong-value": TURNED,
        "race": TURNED,
    },
    hints=(
        "Thread (x, y) of block (bx, by), with 16 threads along x and 8 along y: which column is its own, and which row?",
        "The column is 16 bx + x, the row 8 by + y. cuda.grid(2) returns both sums, that along x first. A row or a column can be "
        "too large.",
        "cuda.grid(2) gives the column first, then the row. One `if` that asks two things, and under it one line with "
        "Python's max.",
    ),
)

# 07-broadcast ------------------------------------------------------------------------------------------------


def row_and_column(rows, columns):
    """make(rng) -> row of shape (columns,), column of shape (rows,), out of shape (rows, columns)."""
    return lambda rng: (random_values(rng, columns), random_values(rng, rows), unwritten(rows, columns))


def _outer(row, column):
    return column[:, None].astype(np.float64) + row


BROADCAST = KernelTask(
    id="07-broadcast",
    section=Section("7.2", "07_fusion", "Fusion"),
    title="A row and a column make a matrix",
    objective="Index vectors that are broadcast along the rows and the columns of a matrix",
    points=1,
    minutes=5,
    after="07-map",
    spec=lambda row, column, out: _outer(row, column),
    cases=(
        case_2d("one block, full", row_and_column, 8, 16),
        case_2d("wide", row_and_column, 5, 70),
        case_2d("ragged and tall", row_and_column, 37, 20),
        case_2d("exact and square", row_and_column, 32, 32),
    ),
    writer=thread_2d,
    suspects=(
        Suspect(
            lambda row, column, out: _outer(column, row) if row.size == column.size else np.zeros(0),
            "Rows and columns are exchanged: row[j] belongs to column j of the matrix.",
        ),
        Suspect(lambda row, column, out: 0 * column[:, None] + row, "This is the row alone: no column was added."),
        Suspect(lambda row, column, out: column[:, None] + 0 * row, "This is the column alone: no row was added."),
        Suspect(
            lambda row, column, out: column[:, None] * row, "This is the product of the two. The sum is asked for."
        ),
    ),
    advice={
        "out-of-bounds": BEYOND_2D,
        "none-beyond": "row has an element for each column of the matrix, column one for each row, and out has rows first. Which index "
        "does each take?",
        "some-unwritten": GAPS_2D,
        "gaps-in-one-block": TURNED + " Or does an `if` leave out a store?",
        "race": TURNED,
    },
    hints=(
        "Element [2, 5] of the matrix: which element of row does it need, and which of column?",
        "All threads of a column of the matrix read the same element of row. Nothing is copied: an index that a vector does "
        "not have is simply not used.",
        "As in the task before, with the guard by out.shape. Of the two indices, row takes the one that counts columns.",
    ),
)

# 07-axpy -----------------------------------------------------------------------------------------------------

AXPY_ALPHA = 2.5


def axpy_arguments(n):
    return lambda rng: (AXPY_ALPHA, random_values(rng, n), random_values(rng, n))


def _same_start(alpha, x, y):
    """Two blocks of 64 threads that begin at the same elements, and step by the whole grid."""
    return np.where(np.arange(x.size) % 128 < 64, 2 * alpha * x + y, y)


AXPY = KernelTask(
    id="07-axpy",
    section=Section("7", "07_vector_add", "Rung 2: the grid-stride loop"),
    title="axpy with a grid-stride loop",
    objective="Write a kernel that works for any grid, and whose warps read neighbouring elements",
    points=3,
    minutes=15,
    spec=lambda alpha, x, y: alpha * x.astype(np.float64) + y,
    cases=(
        Case("one block, one round: n = 64 in 1 block of 64", axpy_arguments(64), grid=1, block=64),
        Case("exact: n = 512 in 2 blocks of 64", axpy_arguments(512), grid=2, block=64),
        Case("ragged: n = 1000 in 2 blocks of 64", axpy_arguments(1000), grid=2, block=64),
        Case("more threads than elements: n = 40 in 2 blocks of 64", axpy_arguments(40), grid=2, block=64),
        Case("another grid: n = 300 in 3 blocks of 32", axpy_arguments(300), grid=3, block=32),
    ),
    suspects=(
        Suspect(lambda alpha, x, y: alpha * x, "This is alpha * x: the old y is missing."),
        Suspect(lambda alpha, x, y: x + y, "This is x + y: alpha is missing."),
        Suspect(lambda alpha, x, y: alpha * (x + y), "This is alpha * (x + y): only x is multiplied."),
        Suspect(
            _same_start,
            "These elements were updated twice, and others not at all. Where does thread 0 of block 0 begin, and where thread 0 of "
            "block 1? cuda.threadIdx.x is 0 in both.",
        ),
        Suspect(
            lambda alpha, x, y: 2 * alpha * x + y,
            "These elements were updated twice. By how much does the index grow in each round, and "
            "how many threads are there in the whole grid?",
        ),
    ),
    advice={
        "out-of-bounds": "The loop must end before the end of the array: range(start, y.size, step).",
        "wrong-value": (
            "Either the formula is another one (alpha belongs to x alone), or elements were updated more than once: begin at the "
            "number of this thread in the grid, and step by the number of threads in the whole grid, which is "
            "gridDim.x * blockDim.x and not always the same."
        ),
        "some-unwritten": (
            "Some elements have no thread: the step from round to round is the number of threads in the grid of this launch, "
            "cuda.gridsize(1)."
        ),
        "raised-TypeError": "Here the grid has one dimension: cuda.grid(1) and cuda.gridsize(1) are single numbers.",
        "one-block": "Only the first 64 elements changed. Which thread of the whole grid am I, and how many are we?",
    },
    budget=Budget(
        points=2,
        text="4 sectors for each load and each store of a warp",
        require={"sectors_per_request": 4, "active_lanes": 32},
        over=(
            "The result is right, but the lanes of a warp touch elements that lie far apart at the same moment. "
            "Neighbouring threads should handle neighbouring elements."
        ),
        case=Case("n = 512 in 2 blocks of 64", axpy_arguments(512), grid=2, block=64),
        golf=Golf(
            count="requests",
            best=96,
            case=Case("n = 1000 in 2 blocks of 48", axpy_arguments(1000), grid=2, block=48),
            require={"atomics": 0},
            lead="A block of 48 threads is a warp and a half. How many lanes of each request are idle?",
        ),
    ),
    hints=(
        "There are 128 threads and 1000 elements. Which elements should thread 0 of block 0 handle? And thread 1?",
        "Let thread number t of the grid handle t, t + T, t + 2T ... where T is the number of threads in the grid. "
        "Then the 32 lanes of a warp touch 32 neighbours in every round.",
        "cuda.grid(1) is t and cuda.gridsize(1) is T. Python's range takes a start, an end and a step: which of the three is "
        "which? One line in the loop.",
    ),
)

# 07-fused ----------------------------------------------------------------------------------------------------


def fused_arguments(rows, features, scale=1.0):
    def make(rng):
        x, bias = random_values(rng, rows, features), random_values(rng, features)
        return (np.float32(scale) * x, bias, unwritten(rows, features))

    return make


def silu(z):
    """z * sigmoid(z) in float64, without overflow."""
    z = np.asarray(z, np.float64)
    small = np.exp(-np.abs(z))
    return z * np.where(z < 0, small, 1.0) / (1 + small)


FUSED = ParallelTask(
    id="07-fused",
    section=Section("7.2", "07_fusion", "Fusion"),
    title="Bias and SiLU in one pass on all cores",
    objective="Fuse two element-wise operations so that no temporary array is made",
    points=3,
    minutes=15,
    spec=lambda x, bias, out: silu(x.astype(np.float64) + bias),
    rtol=2e-5,
    cases=(
        Case("one row: 1 x 8", fused_arguments(1, 8)),
        Case("square: 16 x 16", fused_arguments(16, 16)),
        Case("tall: 130 x 7", fused_arguments(130, 7)),
        Case("large numbers, up to 1000: 20 x 33", fused_arguments(20, 33, scale=1000)),
    ),
    suspects=(
        Suspect(lambda x, bias, out: silu(x), "This is silu(x): the bias was not added."),
        Suspect(lambda x, bias, out: 1 / (1 + np.exp(-(x + bias))), "This is sigmoid(z). SiLU is z * sigmoid(z)."),
        Suspect(
            lambda x, bias, out: x * silu(x + bias) / (x + bias), "This is x * sigmoid(z): the factor must be z too."
        ),
        Suspect(lambda x, bias, out: np.maximum(x + bias, 0), "This is ReLU of x + bias."),
        Suspect(
            lambda x, bias, out: silu(x + bias[: len(x), None]) if len(x) <= bias.size else np.zeros(0),
            "The bias was added along the rows; bias[j] belongs to feature (column) j.",
        ),
    ),
    advice={
        "not-finite": (
            "exp of a large number is infinite in floating point, and inf / inf is not a number. "
            "1 / (1 + exp(-z)) never divides infinity by infinity."
        ),
        "wrong-value": (
            "z is x[i, j] + bias[j] as it is, not clipped, and the result z / (1 + exp(-z)): mind the sign of the exponent."
        ),
        "raised-IndexError": "An index left its array. bias has one element for each column, not for each row.",
    },
    watch=Watch(case=Case("5 x 16, two threads", fused_arguments(5, 16))),
    budget=Budget(
        points=2,
        text="no array allocated inside the function",
        require={"arrays": 0, "numpy_bytes": 4096},
        over=(
            "The result is right, but a whole array is made on the way: memory is written and read once more. "
            "Work on one number at a time: z = x[i, j] + bias[j]."
        ),
        case=Case("256 x 64", fused_arguments(256, 64)),
    ),
    hints=(
        "x + bias on whole arrays makes an array. What would you write for one element x[i, j]?",
        "Two loops: `for i in prange(...)` over the rows, so that threads share the rows, and a plain `range` over the "
        "columns. Inside, z is one number.",
        "z * sigmoid(z) is one division: put 1 / (1 + exp(-z)) in the place of sigmoid(z). z is a variable of the inner loop, and "
        "math.exp takes one number.",
    ),
)

# 07-bytes ----------------------------------------------------------------------------------------------------

CHAIN = 1024


@cuda.jit
def _multiply(x, w, out):
    i = cuda.grid(1)
    out[i] = x[i] * w[i]


@cuda.jit
def _plus(x, r, out):
    i = cuda.grid(1)
    out[i] = x[i] + r[i]


@cuda.jit
def _relu(x, out):
    i = cuda.grid(1)
    out[i] = max(x[i], 0)


@cuda.jit
def _chain(x, w, r, out):
    i = cuda.grid(1)
    out[i] = max(x[i] * w[i] + r[i], 0)


@cuda.jit
def _chain_of_a_number(x, w, r, out):
    i = cuda.grid(1)
    out[i] = max(x[i] * w + r[i], 0)


@cuda.jit
def _chain_backward(grad, x, w, r, out):
    i = cuda.grid(1)
    g, factor = grad[i], w[i]
    out[i] = g * factor if x[i] * factor + r[i] > 0 else 0


def _moved(kernel, arrays, number=None):
    """Bytes that a launch over CHAIN elements moves, counted by the x-ray; `number`: in the place of the second argument."""
    from simt.xray import xray

    arguments = [np.ones(CHAIN, np.float32) for _ in range(arrays)]
    if number is not None:
        arguments.insert(1, np.float32(number))
    return xray(kernel, CHAIN // 256, 256)(*arguments).total["bytes_moved"]


MANY, RATE = 50_000_000, 20  # elements; GB/s


def least_milliseconds(arrays):
    """Of `arrays` arrays of MANY float32 that move once, at RATE."""
    return arrays * 4 * MANY // (1_000_000 * RATE)


def _apart():
    return _moved(_multiply, 3) + _moved(_plus, 3) + _moved(_relu, 2)


BYTES = PredictionTask(
    id="07-bytes",
    section=Section("7.2", "07_fusion", "Fusion"),
    title="What fusing a chain saves",
    objective="Predict the bytes that a chain of element-wise operations moves, before and after it is fused, and the time that they "
    "take at least",
    points=2,
    minutes=9,
    questions=(
        Question(
            "apart",
            f"bytes of three kernels, x * w, then + r, then ReLU, n = {CHAIN}",
            _apart,
            {
                8 * CHAIN: "That is the number of elements that move. A float32 has 4 bytes.",
                4
                * 4
                * CHAIN: "That is each array once. What the first kernel stores, the second one loads: both move.",
                6
                * 4
                * CHAIN: "Three results are stored, and more than three arrays are loaded. Write down each kernel's.",
                9 * 4 * CHAIN: "ReLU has one operand, not two.",
                5 * 4 * CHAIN: "Those are the loads alone. Each kernel stores a result.",
                3 * 4 * CHAIN: "That is one array for each kernel. Count what each loads, and what it stores.",
            },
            "Make a table: a line for each kernel, with the arrays that it loads and the array that it stores.",
        ),
        Question(
            "fused",
            f"bytes of one kernel that does all three, n = {CHAIN}",
            lambda: _moved(_chain, 4),
            {
                4 * CHAIN: "That is the number of elements that move. A float32 has 4 bytes.",
                3 * 4 * CHAIN: "Those are the loads. The result must be stored.",
                6 * 4 * CHAIN: "What is between the operations stays in a register.",
                2 * 4 * CHAIN: "x is loaded and out is stored. What else does the chain need?",
            },
            "Which arrays does one thread load from, and to which does it store?",
        ),
        Question(
            "a_number",
            f"bytes of the fused kernel if w is one number, an argument of the kernel, n = {CHAIN}",
            lambda: _moved(_chain_of_a_number, 3, 2),
            {
                4 * 4 * CHAIN: "That is with an array w. A number that is an argument is in no thread's loads.",
                3 * 4 * CHAIN + 4: "An argument is not loaded from an array: it comes with the launch.",
                2 * 4 * CHAIN: "r is still an array.",
            },
            "Which arrays does one thread still load from?",
        ),
        Question(
            "backward",
            f"bytes of a kernel that computes the gradient for x from grad, x, w and r, n = {CHAIN}",
            lambda: _moved(_chain_backward, 5),
            {
                4
                * 4
                * CHAIN: "That is four arrays. Count those that a thread loads from, and then those that it stores into.",
                3 * 4 * CHAIN: "The gradient passes where x * w + r is positive. What must a thread load to know that?",
                2 * 4 * CHAIN: "The gradient passes where x * w + r is positive. What must a thread load to know that?",
                6 * 4 * CHAIN: "w is needed twice in one thread. It is loaded once, and kept in a register.",
                7 * 4 * CHAIN: "x * w + r is not stored: each thread computes it once more, from what it has loaded.",
            },
            "The gradient for x is grad * w where x * w + r > 0, else 0. Which arrays must a thread look at?",
        ),
        Question(
            "millis",
            f"milliseconds of the fused kernel at least, {MANY:,} elements in each array, {RATE} GB/s",
            lambda: least_milliseconds(4),
            {
                least_milliseconds(8): "That is the time of the three kernels apart.",
                least_milliseconds(3): "Those are the loads. The result must be stored, and that takes time as well.",
                least_milliseconds(1): "That is one array, or elements in the place of bytes.",
                least_milliseconds(2): "x is loaded and out is stored. What else does the chain need?",
            },
            "How many arrays move, and how many bytes are they? A GB/s is a million bytes in each millisecond.",
            tolerance=1e-6,
            section=Section("7", "07_vector_add", "Count first"),
        ),
    ),
    hints=(
        "For one kernel: from how many arrays does a thread load an element, and into how many does it store one?",
        "An array of 1024 float32 is 4096 bytes. Count arrays: each one that a kernel loads, each one that it stores. What goes "
        "from one kernel to the next counts twice.",
        "apart: add up the arrays of the three kernels. For the fused kernel leave out all that goes from one operation to the next. A "
        "number is no array. The backward kernel loads all that it needs to find the sign again. millis: bytes divided by bandwidth.",
    ),
)

# 07-bug ------------------------------------------------------------------------------------------------------


def backward_arguments(n):
    def make(rng):
        x = random_values(rng, n)
        x[:: max(2, n // 10)] = 0  # ReLU has a corner at 0; the course takes the gradient 0 there, as PyTorch does
        return (random_values(rng, n), x, unwritten(n))

    return make


BUG = KernelTask(
    id="07-bug",
    section=Section("7.2", "07_fusion", "Backward"),
    title="Repair two bugs in a backward pass",
    objective="Debug a kernel from what its check reports",
    points=3,
    minutes=12,
    spec=lambda grad, x, out: np.where(x > 0, grad.astype(np.float64), 0.0),
    cases=(
        Case("one block: n = 32 in 1 block of 32", backward_arguments(32), grid=1, block=32),
        Case("exact: n = 256 in 4 blocks of 64", backward_arguments(256), grid=4, block=64),
        Case("ragged: n = 90 in 2 blocks of 64", backward_arguments(90), grid=2, block=64),
        Case("ragged: n = 300 in 5 blocks of 64", backward_arguments(300), grid=5, block=64),
    ),
    suspects=(
        Suspect(
            lambda grad, x, out: np.where(grad > 0, grad, 0),
            "This is relu(grad). Which array decides whether the gradient passes?",
        ),
        Suspect(
            lambda grad, x, out: np.where(x >= 0, grad, 0),
            "Right except where x is exactly 0: there the gradient is taken as 0, as PyTorch does.",
        ),
        Suspect(lambda grad, x, out: np.maximum(x, 0), "This is relu(x), the forward pass. The gradient is asked for."),
        Suspect(
            lambda grad, x, out: np.where((x > 0) & (grad > 0), grad, 0),
            "Where x > 0 a negative gradient passes, too: the sign of grad does not matter.",
        ),
        Suspect(
            lambda grad, x, out: np.where(x < 0, grad, 0),
            "The gradient passes where x < 0: the comparison is turned round.",
        ),
        Suspect(
            lambda grad, x, out: grad * np.maximum(x, 0), "This is multiplied by x. The slope of ReLU is 1 where x > 0."
        ),
        Suspect(lambda grad, x, out: grad, "This is grad itself: nothing was blocked where x <= 0."),
    ),
    advice={
        "tail": (
            "The last elements have no thread, although there are enough threads. Write down i for thread 0 of block 0, "
            "1 and 2: by how much should it grow from block to block?"
        ),
        "some-unwritten": "Where the gradient is blocked, 0 must be stored: out holds anything before.",
        "not-finite": "x is 0 in some places: 0 / 0 is not a number. Compare x with 0 instead of dividing.",
        "wrong-value": "Where x > 0 out is grad, and everywhere else it is 0, exactly.",
    },
    hints=(
        "Run the check on the kernel as it is, and believe the first case that fails. Is it an index or a value?",
        "One bug is in the index: look up what gridDim.x and blockDim.x count. The other is in the condition: ReLU's "
        "gradient is 1 where its input was positive.",
        "From one block to the next, i must grow by the number of threads in a block. And exchange the array in the condition: "
        "which of the two was the input of the forward pass?",
    ),
)

# 07-fails ----------------------------------------------------------------------------------------------------
# The statement shows the kernels `first` to `fourth`; a test compares.


@cuda.jit
def first(a, b, out):
    i = cuda.grid(1)
    if cuda.blockIdx.x < cuda.gridDim.x - 1 or i < out.size:
        out[i] = a[i] + b[i]


@cuda.jit
def second(a, b, out):
    i = cuda.grid(1)
    if cuda.threadIdx.x < out.size - 128 * cuda.blockIdx.x:
        out[i] = a[i] + b[i]


@cuda.jit
def third(a, b, out):
    for i in range(cuda.threadIdx.x, out.size, cuda.blockDim.x):
        out[i] = a[i] + b[i]


@cuda.jit
def fourth(x, out):
    i = cuda.grid(1)
    if i < out.size:
        e = math.exp(x[i])
        out[i] = x[i] * e / (1 + e)


@cuda.jit
def _guarded(a, b, out):
    i = cuda.grid(1)
    if i < out.size:
        out[i] = a[i] + b[i]


@cuda.jit
def _silu(x, out):
    i = cuda.grid(1)
    if i < out.size:
        out[i] = x[i] / (1 + math.exp(-x[i]))


SILU = replace(ADD, id="07-silu", spec=lambda x, out: silu(x), rtol=2e-5, cases=(), suspects=())


def a_launch(n, blocks, threads):
    """The case of an add that a student chose."""
    said = f"{blocks} block{'s' if blocks > 1 else ''} of {threads}"
    return Case(f"n = {n} in {said}", add_arguments(n), grid=blocks, block=threads)


def a_list(x):
    """The case of a SiLU of numbers that a student chose."""
    words = ", ".join(f"{v:g}" for v in x[:4]) + (", ..." if len(x) > 4 else "")
    return Case(f"x = [{words}] in 1 block of 64", lambda rng: (x, unwritten(len(x))), grid=1, block=64)


LAUNCHES = {
    "judge": replace(ADD, id="07-sum", cases=()),
    "right": _guarded,
    "fields": {"n": Whole(1, 2048), "blocks": Whole(1, 16), "threads": Whole(1, 256)},
    "case": a_launch,
    "rules": ((lambda n, blocks, threads: blocks * threads >= n, "a thread for each element: blocks * threads >= n"),),
}

FAILS = CounterexampleTask(
    id="07-fails",
    section=Section("7", "07_vector_add", "The same job on a GPU"),
    title="Find inputs on which four kernels fail",
    objective="Find a launch or an input that shows what is wrong with a kernel",
    points=4,
    minutes=15,
    flaws=(
        Flaw(
            name="first",
            wrong=first,
            lead="Every block but the last works without a guard. When has a thread of such a block no element?",
            **LAUNCHES,
        ),
        Flaw(
            name="second",
            wrong=second,
            lead=(
                "What is 128 meant to be? Choose a launch in which it is something else, and work out for the first and the "
                "last thread of each block whether the guard lets it through, and whether it should."
            ),
            **LAUNCHES,
        ),
        Flaw(
            name="third",
            wrong=third,
            lead="The numbers are right, and always will be. Which thread stores out[0]? Is it the only one?",
            **LAUNCHES,
        ),
        Flaw(
            name="fourth",
            judge=SILU,
            wrong=fourth,
            right=_silu,
            fields={"x": Numbers(1, 64, -1000, 1000)},
            case=a_list,
            lead="The largest float32 is about 3.4e38. Which value on the way becomes larger than that, and from which x on?",
        ),
    ),
    hints=(
        "Take the condition of each kernel, and write down when it should be true. For which thread do the two differ?",
        "first: more threads than one block needs. second: no block of 128. third: the x-ray looks at who stores, not only at "
        "what. fourth: a size does not matter, a value does.",
        "first: let a block that is not the last one have nothing to do. second: two blocks or more, of 64 threads say, "
        "and go through block 2 by hand. third: what do two blocks do? fourth: try math.exp on numbers that grow, in float32.",
    ),
)

# 07-verdicts -------------------------------------------------------------------------------------------------
# The statement shows these kernels; a test compares.


@cuda.jit
def _kernel_a(x, out):
    for i in range(cuda.grid(1), out.size, cuda.blockDim.x):
        out[i] = max(x[i], 0.1 * x[i])


@cuda.jit
def _kernel_b(x, out):
    step = cuda.gridsize(1)
    for k in range(out.size // step + 1):
        i = k * step + cuda.grid(1)
        v = x[i]
        if i < out.size:
            out[i] = v if v > 0 else 0.1 * v


@cuda.jit
def _kernel_c(x, out):
    step = cuda.gridsize(1)
    for i in range(out.size - 1 - cuda.grid(1), -1, -step):
        out[i] = max(x[i], 0.1 * x[i])


@cuda.jit
def _kernel_d(x, out):
    step = cuda.gridsize(1)
    for k in range(out.size // step):
        i = k * step + cuda.grid(1)
        out[i] = x[i] if x[i] > 0 else 0.1 * x[i]


LEAKY = replace(
    ADD,
    id="07-leaky",
    spec=lambda x, out: np.where(x > 0, x, 0.1 * x.astype(np.float64)),
    suspects=(),
    advice={},
    cases=tuple(
        Case(
            f"n = {n} in {blocks} blocks of {threads}",
            lambda rng, n=n: (random_values(rng, n), unwritten(n)),
            blocks,
            threads,
        )
        for n, blocks, threads in ((256, 2, 64), (200, 2, 64), (300, 3, 32))
    ),
)

VERDICTS = DetectiveTask(
    id="07-verdicts",
    section=Section("7", "07_vector_add", "Rung 2: the grid-stride loop"),
    title="Which of four loops is right?",
    objective="Judge grid-stride loops by their text, as a reviewer must",
    points=3,
    minutes=12,
    judge=LEAKY,
    programs={"A": _kernel_a, "B": _kernel_b, "C": _kernel_c, "D": _kernel_d},
    faults=(
        Fault("right", "leaky ReLU of each element, for every n and every launch"),
        Fault("outside", "a thread reads or writes outside of an array", ("out-of-bounds", "negative-index")),
        Fault("two writers", "two threads that nothing orders store the same element", ("race", "two-writers")),
        Fault(
            "gaps",
            "some elements of out are not stored",
            ("some-unwritten", "tail", "head", "one-block", "first-round-only", "nothing-written"),
        ),
        Fault(
            "wrong numbers",
            "an element gets a wrong number",
            ("suspect", "wrong-value", "shifted", "constant", "precision"),
        ),
    ),
    hints=(
        "Choose a small launch: 2 blocks of 4 threads, n = 10. Write down which elements thread 0 of block 1 touches in each loop.",
        "Ask of each loop: where does a thread begin, by how much does it go on, and where does it stop? Is there an element "
        "that nobody gets, or that two get? Is something read before the guard is asked?",
        "max(v, 0.1 * v) and the conditional expression are the same function: the numbers are not what differs. Neither is the "
        "direction of a loop. Look at the step of one loop, at the number of rounds of another, and at what stands before an if.",
    ),
)

# 07-roofline -------------------------------------------------------------------------------------------------


def swish_arguments(rows, features):
    """make(rng) -> x (rows, features), scale and shift (features,), out (rows, features)."""
    return lambda rng: (
        (5 * random_values(rng, rows, features)).astype(np.float32),
        random_values(rng, features),
        random_values(rng, features),
        unwritten(rows, features),
    )


def hard_swish(x, scale, shift, divisor=6):
    """z * min(max(z + 3, 0), 6) / 6 with z = x * scale + shift, float64."""
    z = x.astype(np.float64) * scale + shift
    return z * np.clip(z + 3, 0, 6) / divisor


def _gated(x, scale, shift, gate):
    z = x.astype(np.float64) * scale + shift
    return z * gate(z) / 6


ROOFLINE = MeasuredTask(
    id="07-roofline",
    section=Section("7.2", "07_fusion", "Under the roof"),
    title="A fused loop of yours under the roof",
    objective="Count the flops and bytes of a fused loop, and say what bounds it",
    points=3,
    minutes=12,
    spec=lambda x, scale, shift, out: hard_swish(x, scale, shift),
    rtol=2e-5,
    atol=1e-5,
    cases=(
        Case("one element: 1 x 1", swish_arguments(1, 1)),
        Case("square: 12 x 12", swish_arguments(12, 12)),
        Case("tall: 40 x 7", swish_arguments(40, 7)),
        Case("wide: 3 x 65", swish_arguments(3, 65)),
    ),
    suspects=(
        Suspect(lambda x, scale, shift, out: hard_swish(x, scale, 0 * shift), "The shift was not added."),
        Suspect(lambda x, scale, shift, out: hard_swish(x, 0 * scale + 1, shift), "x was not multiplied by the scale."),
        Suspect(lambda x, scale, shift, out: hard_swish(x, scale, shift, 1), "The division by 6 is missing."),
        Suspect(
            lambda x, scale, shift, out: _gated(x, scale, shift, lambda z: np.clip(z, 0, 6)),
            "The gate is that of z + 3: it opens at -3 and is open at 3.",
        ),
        Suspect(
            lambda x, scale, shift, out: _gated(x, scale, shift, lambda z: 6),
            "This is z alone, as if the gate were always open. The gate is not below 0 and not above 6: which of the two is min, which max?",
        ),
        Suspect(
            lambda x, scale, shift, out: np.clip(x.astype(np.float64) * scale + shift + 3, 0, 6) / 6,
            "This is the gate alone: it must be multiplied by z.",
        ),
        Suspect(
            lambda x, scale, shift, out: (
                hard_swish(x, scale[: len(x), None], shift[: len(x), None]) if len(x) <= scale.size else np.zeros(0)
            ),
            "scale and shift were taken by rows; scale[j] belongs to feature (column) j.",
        ),
    ),
    claimed=Case("32 x 64", swish_arguments(32, 64)),
    measured=Case("4096 x 1024", swish_arguments(4096, 1024)),
    card=Card(peak=200e9, bandwidth=25e9),
    advice={
        "flops": "Write down the operations of one element as they stand in your loop: comparisons, min and max are none. Then "
        "multiply by the number of elements.",
        "moved": "Each element of x and out moves once, and has 4 bytes. scale and shift have one element for each feature, not "
        "for each row.",
        "roof": "The ridge is peak divided by bandwidth. Is your intensity to the left of it, or to the right?",
        "raised-IndexError": "An index left its array. scale and shift have one element for each column.",
    },
    hints=(
        "What would you write for one element x[i, j]? How many + - * / stand in it?",
        "z is one number in the inner loop, so that nothing between the operations goes to memory. min and max take two numbers "
        "in numba, and count as nothing here. The bytes are two matrices and two vectors.",
        "z takes a multiplication and an addition; the gate an addition, inside max and min; then one multiplication and one "
        "division. Multiply what you count by 32 * 64, and divide by all bytes.",
    ),
)

TASKS = (ZIP, LAUNCH, ADD, MAP, BROADCAST, SECTORS, AXPY, FUSED, BYTES, BUG, FAILS, VERDICTS, ROOFLINE)
