"""Numbers that come from outside a GPU's memory: batches from a disk, weights from the host. Counted, and run in time.

A loader fills buffers while the workers compute. What does not fit into memory, weights or optimizer state, passes by
in each step (out of core; Rajbhandari and others 2021, "ZeRO-Infinity").
"""

import numpy as np


def streamed(reads, computes, buffers):
    """When each batch has been computed: an array of seconds.

    reads[i], computes[i]: seconds to read, and to compute, batch i. buffers: batches in memory at a time, that in use
    included. With 1, reading and computing take turns; with 2 and equal times, the longer of both sets the pace; more
    than 2 help only where times vary.
    """
    if buffers < 1:
        raise ValueError(f"{buffers} buffers; expected 1 or more.")
    read, done = 0.0, np.zeros(len(reads))
    for i, (r, c) in enumerate(zip(reads, computes, strict=True)):
        free = done[i - buffers] if i >= buffers else 0.0  # a buffer is free when what was in it has been computed
        read = max(read, free) + r
        done[i] = max(read, done[i - 1] if i else 0.0) + c
    return done


def tokens_to_hide(gpu, bandwidth, nbytes=2):
    """Tokens that must pass through a matrix each time it is brought in at `bandwidth` bytes/s, or else the GPU waits.

    nbytes: of a number on the way. A token takes 2 operations for each number, so that it is a roofline of its own:
    the GPU's operations for each number that comes, over 2.
    """
    return gpu.flops * gpu.kernels * nbytes / bandwidth / 2
