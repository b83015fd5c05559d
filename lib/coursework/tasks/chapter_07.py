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
from ..kinds.function import FunctionTask
from ..kinds.kernel import KernelTask
from ..kinds.parallel import ParallelTask, Watch
from ..kinds.prediction import PredictionTask, Question

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
        return Slip("too-few", f"at least {n} threads in all, not {blocks * threads}", cause)
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
    minutes=10,
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
        "(n + threads - 1) // threads rounds up: it is one more than n // threads unless the division has no rest.",
    ),
)

# 07-add ------------------------------------------------------------------------------------------------------


def add_arguments(n):
    return lambda rng: (random_values(rng, n), random_values(rng, n), unwritten(n))


ADD = KernelTask(
    id="07-add",
    section=Section("7", "07_vector_add", "The same job on a GPU"),
    title="Vector add with a guard",
    objective="Write a kernel in which each thread computes one element, for any n",
    points=3,
    minutes=10,
    spec=lambda a, b, out: a.astype(np.float64) + b,
    cases=(
        Case("one block: n = 32 in 1 block of 32", add_arguments(32), grid=1, block=32),
        Case("exact: n = 256 in 4 blocks of 64", add_arguments(256), grid=4, block=64),
        Case("ragged: n = 300 in 3 blocks of 128", add_arguments(300), grid=3, block=128),
        Case("ragged: n = 1000 in 8 blocks of 128", add_arguments(1000), grid=8, block=128),
    ),
    suspects=(
        Suspect(lambda a, b, out: a - b, "This is a - b."),
        Suspect(lambda a, b, out: a * b, "This is a * b."),
        Suspect(lambda a, b, out: a, "This is a alone: b was not added."),
        Suspect(lambda a, b, out: 2 * a, "This is a + a: b is never read."),
    ),
    advice={
        "out-of-bounds": (
            "The grid has more threads than there are elements, and this thread has none. Let it do nothing: a guard."
        ),
        "raised-TypeError": (
            "Is one number used where there is something else? threadIdx, blockIdx and blockDim have .x, cuda.grid(1) is one "
            "number and cuda.grid(2) two, and an element is a[i], with brackets."
        ),
    },
    hints=(
        "The last case starts 8 * 128 = 1024 threads for 1000 elements. What should the other 24 threads do?",
        "Two steps: find out which element i belongs to this thread, then work only if there is such an element.",
        "i = cuda.grid(1) is blockIdx.x * blockDim.x + threadIdx.x. Then `if i < out.size:` around the one line of work.",
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
    minutes=10,
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

# 07-axpy -----------------------------------------------------------------------------------------------------

AXPY_ALPHA = 2.5


def axpy_arguments(n):
    return lambda rng: (AXPY_ALPHA, random_values(rng, n), random_values(rng, n))


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
            "Some elements have no thread: the step from round to round is the number of threads in the grid of *this* launch, "
            "cuda.gridsize(1)."
        ),
        "raised-TypeError": "Here the grid has one dimension: cuda.grid(1) and cuda.gridsize(1) are single numbers.",
        "one-block": "Only the first 64 elements changed. Which thread of the whole grid am I, and how many are we?",
    },
    budget=Budget(
        points=2,
        text="4 sectors for each load and each store of a warp",
        require={"sectors_per_request": 4},
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
        "cuda.grid(1) is t and cuda.gridsize(1) is T. `for i in range(t, y.size, T):` and one line in the loop.",
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
        "z = x[i, j] + bias[j], then out[i, j] = z / (1 + math.exp(-z)), since z * sigmoid(z) = z / (1 + exp(-z)).",
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
    minutes=15,
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
        "gradient is 1 where its *input* was positive.",
        "i = blockIdx.x * blockDim.x + threadIdx.x, and the test is x[i] > 0.",
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
    "judge": ADD,
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

TASKS = (LAUNCH, ADD, SECTORS, AXPY, FUSED, BUG, FAILS)
