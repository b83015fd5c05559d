"""06-sectors: Three loads of a warp."""

import numpy as np

from dlkernels import cuda

from ...definition import Section
from ...kinds.prediction import PredictionTask, Question
from .shared import counted_accesses


@cuda.jit
def _apart(x, out, stride, first):
    i = cuda.grid(1)
    out[i] = x[stride * i + first]


def _sectors(stride, first, dtype):
    """Sectors of one warp for x[stride * i + first]."""
    x, out = np.zeros(32 * stride + first, dtype), np.zeros(32, dtype)
    rows = counted_accesses(_apart, 32, x, out, stride, first)
    return int(next(row.sectors_per_request for row in rows if row.array == "x"))


SECTORS = PredictionTask(
    id="06-sectors",
    section=Section("6", "06_memory", "Coalescing"),
    title="Three loads of a warp",
    objective="Predict the sectors of a load from its offset, its stride and the width of an element",
    points=1,
    minutes=4,
    questions=(
        Question(
            "shifted",
            "sectors of one warp for x[i + 1], float32",
            lambda: _sectors(1, 1, np.float32),
            {
                4: "128 bytes in a row are four sectors if they begin with one. These begin at byte 4: where do they "
                "end?",
                8: "How many bytes do the lanes touch in all? Not every lane has a new sector.",
                32: "Neighbouring lanes share a sector: it has room for 8 float32.",
                33: "Those are elements. How many sectors of 8 do the elements 1 to 32 lie in?",
                6: "The elements 1 to 32 begin in sector 0. In which one is element 32?",
                1: "One request, but of 128 bytes, and a sector has 32.",
            },
            "Element 1 begins at byte 4, element 32 ends before byte 132. Sectors are bytes 0 to 31, 32 to 63 and so "
            "on: how many are touched?",
        ),
        Question(
            "thirds",
            "sectors of one warp for x[3 * i], float32",
            lambda: _sectors(3, 0, np.float32),
            {
                4: "As few as for neighbours? Lane 31 reads element 93.",
                32: "Lanes 0, 1 and 2 read bytes 0, 12 and 24: is that three sectors?",
                3: "The stride is 3. How far is it, in bytes, from lane 0 to lane 31?",
                11: "32 lanes with nearly three of them in a sector: lane 31 reads byte 372. In which sector is that, "
                "counted from 0?",
                96: "Those are the elements from the first to the last. How many sectors of 8 are they?",
                384: "Those are the bytes from the first to the last lane. How many sectors of 32 bytes?",
                10: "Not every sector has three of the lanes. Lane 31 reads byte 372: in which sector is that, counted "
                "from 0?",
            },
            "Lane i reads byte 12 i. No sector between the first and the last is left out: in which sector is the "
            "last?",
        ),
        Question(
            "doubles",
            "sectors of one warp for x[i], float64",
            lambda: _sectors(1, 0, np.float64),
            {
                4: "That is for float32. An element of float64 has 8 bytes.",
                2: "Wider elements need more sectors, not fewer.",
                16: "A sector has 32 bytes. How many float64 are that?",
                32: "Neighbouring lanes share a sector: it has room for four float64.",
                256: "Those are bytes. How many sectors of 32 are they?",
                64: "Those are words of 4 bytes. How many sectors are they?",
            },
            "How many bytes do 32 elements of 8 bytes have? And a sector?",
        ),
    ),
    hints=(
        "Write down the first byte that lane 0 reads, and the last byte that lane 31 reads. Which sectors lie between "
        "them?",
        "A sector is bytes 0 to 31, 32 to 63, and so on, and it is moved as a whole. Divide the first and the last "
        "byte by 32, rounded down: that is where they lie.",
        "For `shifted` the first byte is 4 and the last 131. For `thirds` lane 31 begins at byte 3 * 31 * 4. For "
        "`doubles` the lanes have 32 times 8 bytes.",
    ),
)
