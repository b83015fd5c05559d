"""Answers to 13-int8."""

import numpy as np
from answers import MASTER, cut, edit, replace

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


unsigned = edit(
    MASTER,
    "wrong suspect: without their sign: 255 is -1",
    cut("if code_a > 127:\n    code_a -= 256"),
    cut("if code_b > 127:\n    code_b -= 256"),
)
unsigned_a = edit(MASTER, "wrong suspect: The codes of a were read without", cut("if code_a > 127:\n    code_a -= 256"))
unsigned_b = edit(MASTER, "wrong suspect: The codes of b were read without", cut("if code_b > 127:\n    code_b -= 256"))
no_zero = edit(MASTER, "wrong suspect: is not subtracted from the codes of a", replace("(code_a - zero)", "code_a"))
zero_once = edit(
    MASTER,
    "wrong suspect: subtracted once from each sum",
    replace("(code_a - zero)", "code_a"),
    replace("out[i, j] = total", "out[i, j] = total - zero"),
)
zero_added = edit(MASTER, "wrong suspect: The zero point was added", replace("code_a - zero", "code_a + zero"))
zero_of_both = edit(MASTER, "wrong suspect: from the codes of b as well", replace("* code_b", "* (code_b - zero)"))
first_codes = edit(MASTER, "wrong suspect: Only one code of each word", replace("range(4)", "range(1)"))
as_words = edit(
    MASTER,
    "wrong suspect: multiplied as whole numbers",
    replace("total += (code_a - zero) * code_b", "if k == 0:\n    total += (word_a - zero) * word_b"),
)
no_guard = edit(
    MASTER,
    "wrong out-of-bounds: guard row and column",
    replace("if i < out.shape[0] and j < out.shape[1]:", "if True:"),
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
borrowed = edit(
    MASTER,
    "wrong suspect: subtracted from the word",
    replace("word_a, word_b = a[i, w], b[j, w]", "word_a, word_b = a[i, w] - zero, b[j, w]"),
    replace("(code_a - zero)", "code_a"),
)
unmasked = edit(MASTER, "wrong suspect: not masked", replace("(word_b >> 8 * k) & 255", "word_b >> 8 * k"))
