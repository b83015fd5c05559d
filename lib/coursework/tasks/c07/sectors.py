"""07-sectors: Predict the sectors of three loads."""

import numpy as np

from dlkernels import cuda

from ...definition import Section
from ...kinds.prediction import PredictionTask, Question


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
