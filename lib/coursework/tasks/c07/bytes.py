"""07-bytes: What fusing a chain saves."""

import numpy as np

from dlkernels import cuda

from ...definition import Section
from ...kinds.prediction import PredictionTask, Question

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
    """Bytes that a launch over CHAIN elements moves, counted by the x-ray; `number`: in the place of the second
    argument."""
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
    objective="Predict the bytes that a chain of element-wise operations moves, before and after it is fused, and the "
    "time that they take at least",
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
                * CHAIN: "That is four arrays. Count those that a thread loads from, and then those that it stores "
                "into.",
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
        "An array of 1024 float32 is 4096 bytes. Count arrays: each one that a kernel loads, each one that it stores. "
        "What goes from one kernel to the next counts twice.",
        "apart: add up the arrays of the three kernels. For the fused kernel leave out all that goes from one "
        "operation to the next. A number is no array. The backward kernel loads all that it needs to find the sign "
        "again. millis: bytes divided by bandwidth.",
    ),
)
