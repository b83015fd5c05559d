"""A kernel without its barrier, for translated.py: run as a script, it runs translated, under Oclgrind say."""

import numpy as np
from numba import float32

from simt import cuda

GRID, BLOCK = 2, 32


@cuda.jit
def turned(x, out):
    tile = cuda.shared.array(32, float32)
    t, i = cuda.threadIdx.x, cuda.grid(1)
    tile[t] = x[i]
    out[i] = tile[31 - t]


def arguments():
    x = np.arange(GRID * BLOCK, dtype=np.float32)
    return x, np.zeros_like(x)


if __name__ == "__main__":
    from opencl.translate.launch import run

    run(turned, GRID, BLOCK, arguments())
