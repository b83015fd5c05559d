"""07-launch: Blocks for half a million elements."""

from ...definition import Case, Section, Slip
from ...kinds.function import FunctionTask


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
            "Threads run in warps of 32: the rest of a warp would idle. Choose the threads of a block first, the same "
            "for every n; the number of blocks follows from n.",
        )
    if blocks < 1 or blocks * threads < n:
        cause = "The number of blocks was rounded down, so the last elements have no thread. Round up."
        return Slip(
            "too-few", f"at least {n} {'thread' if n == 1 else 'threads'} in all, not {blocks * threads}", cause
        )
    if (blocks - 1) * threads >= n:
        cause = (
            "The last block has nothing to do. n // threads + 1 is one block too many when the division has no rest; "
            "and a block handles `threads` elements, not one."
        )
        return Slip("too-many", f"no more than {-(-n // threads)} blocks of {threads} threads", cause)
    return None


LAUNCH = FunctionTask(
    id="07-launch",
    section=Section("7", "07_vector_add", "The same job on a GPU"),
    title="Blocks for half a million elements",
    objective="Choose the number of blocks and threads for n elements within the limits of a GPU",
    points=2,
    minutes=12,
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
        "The sum should reach the next multiple of `threads` for each n but a multiple itself. Try 1, threads and "
        "threads - 1 with n = 256 and n = 257: which of the three is right for both?",
    ),
)
