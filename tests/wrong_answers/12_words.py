"""Answers to 12-words: edits of the master, and others."""

import numpy as np
from answers import MASTER, cut, edit, replace

from dlkernels import cuda


@cuda.jit
def a_tree_of_two(grad, order, start, out):
    """right"""
    word, column = cuda.blockIdx.x, 64 * cuda.blockIdx.y + cuda.threadIdx.x
    begin, end = start[word], start[word + 1]
    if column < out.shape[1]:
        even, odd = np.float32(0), np.float32(0)
        for k in range(begin, end - 1, 2):
            even += grad[order[k], column]
            odd += grad[order[k + 1], column]
        if (end - begin) % 2:
            even += grad[order[end - 1], column]
        out[word, column] = even + odd


as_they_stand = edit(
    MASTER, "wrong suspect: position number k of it is order[k]", replace("grad[order[k], column]", "grad[k, column]")
)
the_last = edit(MASTER, "wrong suspect: they are added up, not replaced", replace("total += grad", "total = grad"))
to_the_end = edit(
    MASTER,
    "wrong suspect: beyond its own positions",
    replace("range(start[word], start[word + 1])", "range(start[word], order.size)"),
)
from_the_beginning = edit(
    MASTER,
    "wrong suspect: the first position of all",
    replace("range(start[word], start[word + 1])", "range(start[word + 1])"),
)
all_of_them = edit(
    MASTER,
    "wrong suspect: the sum of all positions",
    replace("range(start[word], start[word + 1])", "range(order.size)"),
)
without_its_last = edit(
    MASTER,
    "wrong suspect: The last position of each word is missing",
    replace("start[word + 1])", "start[word + 1] - 1)"),
)
without_its_first = edit(
    MASTER,
    "wrong suspect: The first position of each word is missing",
    replace("range(start[word], ", "range(start[word] + 1, "),
)
mean = edit(
    MASTER,
    "wrong suspect: divided by the number of its positions",
    replace("out[word, column] = total", "out[word, column] = total / max(1, start[word + 1] - start[word])"),
)
order_to_a_word = edit(
    MASTER,
    "wrong wrong-value: Take word 0 by hand",
    replace("grad[order[k], column]", "grad[order[k] - order[0] if order[k] > order[0] else order[k], column]"),
)
first_block_only = edit(
    MASTER,
    "wrong some-unwritten: blockIdx.y counts stretches",
    replace("64 * cuda.blockIdx.y + cuda.threadIdx.x", "cuda.threadIdx.x"),
)
into_out = edit(
    MASTER,
    "wrong adds-to-old: Begin it with 0",
    replace("total += grad[order[k], column]", "out[word, column] += grad[order[k], column]"),
    cut("out[word, column] = total"),
)
only_words_that_occur = edit(
    MASTER,
    "wrong some-unwritten: does not occur has a gradient, too: 0",
    replace("out[word, column] = total", "if start[word] < start[word + 1]:\n    out[word, column] = total"),
)
with_atomics = edit(
    MASTER,
    "over budget over-budget: This result needs none",
    replace("total += grad[order[k], column]", "cuda.atomic.add(out, (word, column), grad[order[k], column])"),
    replace("total = np.float32(0)", "out[word, column] = 0"),
    cut("out[word, column] = total"),
)
stores_each_time = edit(
    MASTER,
    "over budget over-budget: Keep the sum in a variable",
    replace("total += grad[order[k], column]", "out[word, column] += grad[order[k], column]"),
    replace("total = np.float32(0)", "out[word, column] = 0"),
    cut("out[word, column] = total"),
)
