"""Other numbers for the predictions of chapter 07."""

from ..tasks.c07.bytes import MANY
from . import Asked, Variants
from .c06 import sectors

TYPES = {"float32": 4, "float64": 8, "int16": 2}


def loads(dtype, stride, row):
    width = TYPES[dtype]
    return {
        "neighbours": Asked(
            f"sectors of one warp for x[i], {dtype}",
            sectors(range(32), width),
            {
                32: "One sector per thread? Neighbouring threads share a sector: it holds 32 bytes.",
                32 * width: "That is the number of bytes.",
            },
        ),
        "every_eighth": Asked(
            f"sectors of one warp for x[{stride} * i], {dtype}",
            sectors(range(0, 32 * stride, stride), width),
            {sectors(range(32), width): f"As few as for neighbours? Lane 1 reads byte {stride * width}."},
        ),
        "four_in_a_row": Asked(
            f"sectors of one warp for x[{row} * i + k], one value of k, {dtype}",
            sectors(range(0, 32 * row, row), width),
            {
                row
                * sectors(
                    range(0, 32 * row, row), width
                ): "That is the sum over the loop. One request is one value of k."
            },
        ),
    }


def chain(n, dtype, rate):
    array, many = TYPES[dtype] * n, TYPES[dtype] * MANY // 1_000_000  # bytes; millions of bytes
    return {
        "apart": Asked(
            f"bytes of three kernels, x * w, then + r, then ReLU, n = {n}, {dtype}",
            8 * array,
            {
                8 * n: "That is the number of elements that move.",
                4 * array: "What the first kernel stores, the second one loads: both move.",
                9 * array: "ReLU has one operand, not two.",
                5 * array: "Those are the loads alone. Each kernel stores a result.",
            },
            "Make a table: a line for each kernel, with the arrays that it loads and the array that it stores.",
        ),
        "fused": Asked(
            f"bytes of one kernel that does all three, n = {n}, {dtype}",
            4 * array,
            {
                4 * n: "That is the number of elements that move.",
                3 * array: "Those are the loads. The result must be stored.",
            },
            "Which arrays does one thread load from, and to which does it store?",
        ),
        "a_number": Asked(
            f"bytes of the fused kernel if w is one number, an argument of the kernel, n = {n}, {dtype}",
            3 * array,
            {
                4 * array: "That is with an array w. A number that is an argument is in no thread's loads.",
                2 * array: "r is still an array.",
            },
            "Which arrays does one thread still load from?",
        ),
        "backward": Asked(
            f"bytes of a kernel that computes the gradient for x from grad, x, w and r, n = {n}, {dtype}",
            5 * array,
            {
                3 * array: "The gradient passes where x * w + r is positive. What must a thread load to know that?",
                6 * array: "w is needed twice in one thread. It is loaded once, and kept in a register.",
            },
            "The gradient for x is grad * w where x * w + r > 0, else 0. Which arrays must a thread look at?",
        ),
        "millis": Asked(
            f"milliseconds of the fused kernel at least, {MANY:,} elements in each array, {dtype}, {rate} GB/s",
            4 * many // rate,
            {
                8 * many // rate: "That is the time of the three kernels apart.",
                3 * many // rate: "Those are the loads. The result must be stored, and that takes time as well.",
                many // rate: "That is one array.",
            },
            "How many arrays move, and how many bytes are they? A GB/s is a million bytes in each millisecond.",
        ),
    }


VARIANTS = {
    "07-sectors": Variants(
        {"dtype": "float32", "stride": 8, "row": 4},
        {"dtype": ("float32", "float64", "int16"), "stride": (5, 6, 8, 10, 12, 16), "row": (2, 4)},
        "`x` is an array of {dtype} (4 bytes for float32, 8 for float64, 2 for int16). `every_eighth` is `x[{stride} * "
        "i]`; `four_in_a_row` is `x[{row} * i + k]`, for one value of `k` below {row}.",
        loads,
    ),
    "07-bytes": Variants(
        {"n": 1024, "dtype": "float32", "rate": 20},
        {
            "n": (512, 768, 1024, 1280, 1536, 2048, 2560, 4096),
            "dtype": ("float32", "float64"),
            "rate": (10, 20, 25, 40, 50),
        },
        "all arrays are {dtype} (4 bytes for float32, 8 for float64) with {n} elements; for `millis` with 50 million, "
        "at {rate} GB/s.",
        chain,
    ),
}
