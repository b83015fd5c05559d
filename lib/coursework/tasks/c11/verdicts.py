"""11-verdicts: Where does a causal loop end?"""

import math

import numpy as np

from dlkernels import cuda

from ...definition import Budget, Case, Section, random_values, unwritten
from ...kinds.detective import DetectiveTask, Fault
from ...kinds.kernel import KernelTask
from .shared import TOLD_FIRST, attention


# The statement shows the kernel, and for each of five the end of its loop and what stands last in it; a test compares.
@cuda.jit(device=True)
def _to_the_end(i, n):
    return n


@cuda.jit(device=True)
def _to_the_query(i, n):
    return min(i + 1, n)


@cuda.jit(device=True)
def _to_the_first_of_the_block(i, n):
    return min(32 * cuda.blockIdx.x + 1, n)


@cuda.jit(device=True)
def _to_the_last_of_the_block(i, n):
    return min(32 * cuda.blockIdx.x + 32, n)


def narrow_kernel(end, waits):
    """Causal attention whose queries, keys and values are one number each; `end(i, n)`: where its loop over tiles
    ends."""

    @cuda.jit
    def kernel(q, k, v, out):
        keys = cuda.shared.array(16, np.float32)
        values = cuda.shared.array(16, np.float32)
        t, i, n = cuda.threadIdx.x, cuda.grid(1), k.size
        query, largest = q[min(i, n - 1)], np.float32(-math.inf)
        total = result = np.float32(0)
        for start in range(0, end(i, n), 16):
            if t < 16 and start + t < n:
                keys[t] = k[start + t]
                values[t] = v[start + t]
            cuda.syncthreads()
            for r in range(min(16, n - start)):
                if start + r <= i:
                    above = max(largest, query * keys[r])
                    factor = math.exp(largest - above)
                    weight = math.exp(query * keys[r] - above)
                    total = total * factor + weight
                    result = result * factor + weight * values[r]
                    largest = above
            if waits:
                cuda.syncthreads()
        if i < n:
            out[i] = result / total

    return kernel


def narrow_case(name, n):
    """A case of causal attention whose queries, keys and values are one number each."""

    def make(rng):
        return *(random_values(rng, n) for _ in range(3)), unwritten(n)

    return Case(f"{name}: {n} queries and keys", make, grid=-(-n // 32), block=32)


def narrow_attention(q, k, v, out):
    return attention(q[:, None], k[:, None], v[:, None], 1.0, lambda i, j: j <= i)[:, 0]


_NEEDED = 2 + 4  # tiles of 16 keys, of two blocks of 32 queries
NARROW = KernelTask(
    id="11-narrow",
    title="Causal attention",
    objective="Write it",
    points=1,
    minutes=1,
    spec=narrow_attention,
    rtol=1e-4,
    atol=1e-4,
    tell_first=TOLD_FIRST,
    cases=(narrow_case("exact", 64), narrow_case("one block", 20), narrow_case("ragged", 45)),
    kept=Budget(
        points=0,
        text="",
        require={"global_load_requests": 2 * _NEEDED + 2},
        over="It must not load tiles that no query of its block may look at.",
        case=narrow_case("exact", 64),
    ),
    hints=("", "", ""),
)

VERDICTS = DetectiveTask(
    id="11-verdicts",
    section=Section("11.3", "11_attention_gpu", "The last barrier"),
    title="Where does a causal loop end?",
    objective="Judge causal attention kernels by where their loops end, and by the barrier at the end",
    points=3,
    minutes=12,
    judge=NARROW,
    programs={
        "A": narrow_kernel(_to_the_end, True),
        "B": narrow_kernel(_to_the_query, True),
        "C": narrow_kernel(_to_the_last_of_the_block, False),
        "D": narrow_kernel(_to_the_last_of_the_block, True),
        "E": narrow_kernel(_to_the_first_of_the_block, True),
    },
    faults=(
        Fault("right", "right for every length, and loads no tile that no query of the block may look at"),
        Fault("too much", "right for every length, but loads tiles that nobody needs", ("replaced",)),
        Fault("race", "a thread stores where another one still reads", ("race",)),
        Fault(
            "barrier",
            "some threads of a block wait where others never come",
            ("divergent-barrier", "barrier-after-exit"),
        ),
        Fault(
            "keys lost",
            "some queries miss keys that they may look at",
            ("wrong-value", "suspect", "precision", "not-finite", "one-element"),
        ),
    ),
    hints=(
        "Take a block of 32 queries, 32 to 63. Which tiles does it need? Which end has the loop for its first query, "
        "and which for its last one?",
        "Three questions for each kernel: do all threads of a block make equally many rounds? Is the last tile that of "
        "the last query of the block? Can a fast thread fill a tile while a slow one reads it?",
        "For thread 0 and thread 31 of block 1 write down `END` of each kernel, and how many rounds of 16 that makes. "
        "Then ask what stands between the last read of a tile and the first store of the next.",
    ),
)
