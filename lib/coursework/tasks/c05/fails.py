"""05-fails: Find launches on which three kernels fail."""

from dataclasses import replace

from dlkernels import cuda

from ...definition import Case, Section
from ...kinds.counterexample import CounterexampleTask, Flaw
from ...kinds.data import Whole
from .doubling import DOUBLE, a_launch
from .shared import BLOCK, picture_arguments, thread_of_pixel


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


def a_picture(rows, columns):
    """The case of a picture that a student chose, in blocks of 16 x 16."""
    x, y = -(-columns // 16), -(-rows // 16)
    return Case(f"{rows} x {columns} in {x} x {y} blocks", picture_arguments(rows, columns), (x, y), BLOCK)


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
            lead="The numbers are right, and always will be. Which element does the thread behind the last one take, "
            "and whose is that?",
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
            judge=replace(DOUBLE, id="05-double-picture", writer=thread_of_pixel),
            wrong=linear,
            right=_doubled_picture,
            fields={"rows": Whole(1, 64), "columns": Whole(1, 64)},
            case=a_picture,
            lead=(
                "Take a thread whose column lies beyond the right edge. Which number does the condition compute for "
                "it? When is there such a thread, and when is there a row below?"
            ),
        ),
    ),
    hints=(
        "Take the condition of each kernel, or what stands in its place. Which threads should it stop, and which does "
        "it stop?",
        "wrapped: let there be more threads than elements. pairs: think of the last pair. linear: the condition stops "
        "what lies behind the end of memory, not what lies beside the picture.",
        "wrapped: the x-ray looks at who stores. pairs: an even n has no half pair. linear: let the last block of a "
        "row hang over the right edge; the rows can be few.",
    ),
)
