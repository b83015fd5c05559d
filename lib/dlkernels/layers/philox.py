"""Philox4x32-10, a generator of random numbers without a state.

Salmon and others, Parallel random numbers: as easy as 1, 2, 3 (2011), section 3.3.

Four words of 32 bits, a counter, are mixed with two words of a key in ten rounds, and four random words come out: any
thread makes any number of the sequence by itself. So nothing has to be kept but key and counter, and CPU and GPU, with
any number of threads, make the same numbers.

Words are held in uint64, as the product of two has 64 bits. One function is all there is: it takes NumPy arrays, and is
compiled for the CPU and for the GPU.
"""

import numpy as np

u64 = np.uint64
M0, M1 = u64(0xD2511F53), u64(0xCD9E8D57)  # what the counter's words are multiplied by
W0, W1 = u64(0x9E3779B9), u64(0xBB67AE85)  # what is added to the key in each round
LOW, HALF = u64(0xFFFFFFFF), u64(32)
ROUNDS = 10


def philox(c0, c1, c2, c3, k0, k1):
    """Four random words of the counter c and the key k, all uint64 below 2^32."""
    for _ in range(ROUNDS):
        product_0, product_2 = c0 * M0, c2 * M1
        c0, c1, c2, c3 = (product_2 >> HALF) ^ c1 ^ k0, product_2 & LOW, (product_0 >> HALF) ^ c3 ^ k1, product_0 & LOW
        k0, k1 = (k0 + W0) & LOW, (k1 + W1) & LOW
    return c0, c1, c2, c3


def halves(number):
    """(low, high) words of a number below 2^64."""
    return u64(number & 0xFFFFFFFF), u64(number >> 32)


def threshold(p):
    """A word below it is dropped: that happens with probability p, to a part in 2^32."""
    return round(p * 2.0**32)
