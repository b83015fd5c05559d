"""A chain of four operations, fused: launches and bytes, counted, and time; and blocks of many threads."""

from . import TRUE, Part, gain, random

CLAIM = "Operator fusion removes kernel launches and raises speed. More threads per block is faster."
FULL = "true up to the size with which blocks fill a multiprocessor"
PARTS = (
    Part(
        "launches",
        "fusion removes launches",
        "launches, one by one / fused; bias, GELU, dropout, residual",
        TRUE,
        "15_fusion",
        1.5,
        exact=True,
    ),
    Part(
        "speed",
        "fusion raises speed",
        "seconds, one by one / fused; 4096 x 1024, all threads",
        "true if the operations wait for memory or for launches",
        "15_fusion",
        1,
    ),
    Part(
        "blocks",
        "more threads in a block are faster",
        "warps on a multiprocessor, blocks of 1024 / of 64 threads",
        FULL,
        "15_fusion",
        1.01,
        exact=True,
    ),
    Part(
        "small blocks",
        "more threads in a very small block are faster",
        "warps on a multiprocessor, blocks of 64 / of 32 threads",
        FULL,
        "15_fusion",
        1.01,
        exact=True,
    ),
)


def measure(quick):
    import numpy as np

    from simt.xray import occupancy
    from training import Tensor, fusion, no_grad
    from training import functional as F

    def warps(threads, registers=32):
        return occupancy("sm_90", threads, registers).warps_per_sm

    rows = 256 if quick else 4096
    x, bias, residual = Tensor(random(rows, 1024)), Tensor(random(1024, seed=1)), Tensor(random(rows, 1024, seed=2))

    def tail(x, bias, residual):
        return F.dropout(F.gelu(x + bias), 0.1, seed=7) + residual

    def counted(most):
        with fusion.launches() as made, no_grad():
            np.asarray(fusion.fused(tail, most=most)(x, bias, residual).data)
        return len(made)

    fused = fusion.fused(tail)

    def run(f):
        def once():
            with no_grad():
                return f(x, bias, residual).data

        return once

    return {
        "launches": counted(1) / counted(32),
        "speed": gain(run(fusion.fused(tail, most=1)), run(fused), quick),
        "blocks": warps(1024) / warps(64),
        "small blocks": warps(64) / warps(32),
    }
