"""Answers to 13-int8."""

import numpy as np
from answers import MASTER, edit, replace

from dlkernels import cuda


@cuda.jit
def by_row_sums(a, b, zero, out):
    """right"""
    j = cuda.blockIdx.x * cuda.blockDim.x + cuda.threadIdx.x
    i = cuda.blockIdx.y * cuda.blockDim.y + cuda.threadIdx.y
    if i >= out.shape[0] or j >= out.shape[1]:
        return
    total, of_b = 0, 0
    for w in range(a.shape[1]):
        x, y = a[i, w], b[j, w]
        for k in range(0, 32, 8):
            p, q = (x >> k) & 255, (y >> k) & 255
            p, q = p - ((p & 128) << 1), q - ((q & 128) << 1)
            total += p * q
            of_b += q
    out[i, j] = total - zero * of_b


@cuda.jit
def from_the_top(a, b, zero, out):
    """right"""
    j, i = cuda.grid(2)
    if i < out.shape[0] and j < out.shape[1]:
        total = np.int32(0)
        for w in range(a.shape[1]):
            x, y = a[i, w], b[j, w]
            for k in range(3, -1, -1):
                p, q = (x >> 8 * k) & 255, (y >> 8 * k) & 255
                p = (p ^ 128) - 128
                q = (q ^ 128) - 128
                total += np.int32((p - zero) * q)
        out[i, j] = total


as_words = edit(
    MASTER,
    "wrong suspect: multiplied as whole numbers",
    replace("total += (code_a - zero) * code_b", "if k == 0:\n    total += (word_a - zero) * word_b"),
)
nibbles = edit(
    MASTER, "wrong suspect: four bits apart", replace("code_a = (word_a >> 8 * k)", "code_a = (word_a >> 4 * k)")
)
loads_again = edit(
    MASTER,
    "over budget over-budget: loaded again for each of their codes",
    replace("code_a = (word_a >> 8 * k)", "code_a = (a[i, w] >> 8 * k)"),
    replace("code_b = (word_b >> 8 * k)", "code_b = (b[j, w] >> 8 * k)"),
)
stores_again = edit(
    MASTER, "over budget over-budget: keep the sum in a variable", replace("out[i, j] = total", "    out[i, j] = total")
)
unmasked = edit(MASTER, "wrong suspect: not masked", replace("(word_b >> 8 * k) & 255", "word_b >> 8 * k"))
