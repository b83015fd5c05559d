"""Blocks of 1024 and of 500,000 threads, asked of the executor, which has a GPU's limits."""

from . import TRUE, Part

CLAIM = "One block cannot hold 500,000 threads; the limit is 1024."
PARTS = (
    Part("refused", "500,000 threads are refused", "launches refused, of one", TRUE, "05_threads", 1, 1, exact=True),
    Part(
        "limit",
        "the limit is 1024",
        "the most threads that are not refused",
        TRUE,
        "05_threads",
        1024,
        1024,
        exact=True,
    ),
)


def measure(quick):
    import numpy as np

    from simt import LaunchError, cuda

    @cuda.jit
    def mark(out):
        i = cuda.threadIdx.x
        if i < out.size:
            out[i] = 1

    def runs(count):
        out = np.zeros(1, np.float32)
        try:
            mark[1, count](out)
        except LaunchError:
            return False
        return out[0] == 1

    most = max(count for count in (1, 512, 1023, 1024, 1025, 2048) if runs(count))
    return {"refused": not runs(500_000), "limit": most}
