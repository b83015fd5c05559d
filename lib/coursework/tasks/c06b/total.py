"""06b-total: The block that comes last."""

import numpy as np

from dlkernels import cuda

from ...definition import Case, Section, random_values, unwritten
from ...kinds.arrays import Suspect
from ...kinds.mend import MendTask
from ..c06.shared import NOTHING
from .shared import FAULTS, SEEN, launch

ORDER = Section("6.5", "06_order", "Memory order")


@cuda.jit
def total(x, parts, count, out):
    i, block = cuda.grid(1), cuda.blockIdx.x
    lane_sum = np.float32(0)
    if i < x.size:
        lane_sum = x[i]
    for d in (16, 8, 4, 2, 1):
        lane_sum += cuda.shfl_down_sync(0xFFFFFFFF, lane_sum, d)
    if cuda.threadIdx.x == 0:
        parts[block] = lane_sum
        cuda.threadfence()
        before = cuda.atomic.add(count, 0, 1)
        if before == cuda.gridDim.x - 1:
            result = np.float32(0)
            for b in range(cuda.gridDim.x):
                result += parts[b]
            out[0] = result


def total_case(name, n):
    """x (n,); parts: a place for each block of 32; count (1,) int32, zero; out (1,)."""
    said, blocks, threads = launch(name, n, 32)
    return Case(
        said,
        lambda rng: (random_values(rng, n), unwritten(blocks), np.zeros(1, np.int32), unwritten(1)),
        blocks,
        threads,
    )


TOTAL = MendTask(
    id="06b-total",
    section=ORDER,
    title="The block that comes last",
    objective="Debug a sum that blocks hand on through a counter",
    points=2,
    minutes=9,
    spec=lambda x, parts, count, out: np.float64(x).sum(keepdims=True),
    rtol=1e-4,
    atol=1e-5,
    cases=(total_case("one block", 32), total_case("exact", 128), total_case("ragged", 75), total_case("few", 3)),
    scratch=(1, 2),
    writer=lambda index, case: (case.grid - 1, 0),
    handed_out=total,
    tried=total_case("one block", 30),
    faults=FAULTS,
    suspects=(
        Suspect(
            lambda x, parts, count, out: x[(len(x) - 1) // 32 * 32 :].sum(keepdims=True) if len(x) > 32 else NOTHING,
            "This is the sum of the last block alone.",
        ),
    ),
    advice={
        **SEEN,
        "race": "One block reads a number of parts that another one has stored, and all that passed between them is "
        "the counter. What must be seen before the counter is raised? And what may be loaded before the counter is "
        "known?",
        "nothing-written": "No block found that it is the last one. What does the counter hold when a block raises it, "
        "and how many blocks are there?",
        "wrong-value": "Which places of parts go into the sum, and which block has stored each of them?",
    },
    hints=(
        "The author had one block, which reads only what it stored itself. With two: by what does the last block know "
        "that the other's number is there?",
        "A message has two ends. The block that sends puts the number before the counter, and has a fence for it. The "
        "block that receives looks at the counter, and then loads numbers: what keeps these loads from being made "
        "early?",
        "Section 6.5 of the book has both fences: data, fence, flag; flag, fence, data. Which of the two is missing "
        "here?",
    ),
)
