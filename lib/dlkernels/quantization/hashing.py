"""A hash that says which shared weight an element of a matrix has.

Chen and others, Compressing neural networks with the hashing trick (2015). An index is computed when it is needed, and
stored nowhere. Two rounds of the finalizer of MurmurHash3 (Appleby, 2011), of the row and then of the column, are 32
bits to which each bit of both matters. Their product with the number of shared weights, divided by 2^32, is the index;
the last bit is the sign.

One function is all there is: it takes NumPy arrays of uint32, and is compiled for the CPU and for the GPU.
"""

import numpy as np

u32, u64 = np.uint32, np.uint64
GOLDEN = u32(0x9E3779B1)  # 2^32 divided by the golden ratio: neighbours lie far apart


def mixed(h):
    """The finalizer of MurmurHash3: each bit of h changes each bit of the result in half of all cases."""
    h = u32((h ^ h >> u32(16)) * u32(0x85EBCA6B))
    h = u32((h ^ h >> u32(13)) * u32(0xC2B2AE35))
    return h ^ h >> u32(16)
