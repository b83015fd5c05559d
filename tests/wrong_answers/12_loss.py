"""Answers to 12-loss. Most are edits of the master, or of an answer that goes through the scores three times."""

import math

import numpy as np
from answers import MASTER, cut, edit, insert, replace

from dlkernels import cuda


@cuda.jit
def largest_first(logits, labels, count, grad):
    """over budget over-budget: more often than twice"""
    row, lane = cuda.blockIdx.x, cuda.threadIdx.x
    top = np.float32(-math.inf)
    for j in range(lane, logits.shape[1], 32):
        top = max(top, logits[row, j])
    for d in (16, 8, 4, 2, 1):
        top = max(top, cuda.shfl_xor_sync(0xFFFFFFFF, top, d))
    total = np.float32(0)
    for j in range(lane, logits.shape[1], 32):
        total += math.exp(logits[row, j] - top)
    for d in (16, 8, 4, 2, 1):
        total += cuda.shfl_xor_sync(0xFFFFFFFF, total, d)
    label = labels[row]
    for j in range(lane, logits.shape[1], 32):
        p = math.exp(logits[row, j] - top) / total
        if j == label:
            p -= np.float32(1)
        grad[row, j] = p / count if label >= 0 else 0


no_largest = edit(
    largest_first,
    "wrong not-finite: exp of a large number is infinite",
    replace("total += math.exp(logits[row, j] - top)", "total += math.exp(logits[row, j])"),
    replace("p = math.exp(logits[row, j] - top)", "p = math.exp(logits[row, j])"),
)
own_largest = edit(
    largest_first,
    "wrong suspect: the largest of its own scores",
    replace("for d in (16, 8, 4, 2, 1):\n    top = max(top, cuda.shfl_xor_sync(0xFFFFFFFF, top, d))", "pass"),
    replace("top = np.float32(-math.inf)", "top = np.float32(-1e30)"),
)
own_sum = edit(
    largest_first,
    "wrong suspect: own sum",
    replace("for d in (16, 8, 4, 2, 1):\n    top = max(top, cuda.shfl_xor_sync(0xFFFFFFFF, top, d))", "pass"),
    replace("for d in (16, 8, 4, 2, 1):\n    total += cuda.shfl_xor_sync(0xFFFFFFFF, total, d)", "pass"),
)
sum_of_a_lane = edit(
    largest_first,
    "wrong suspect: its own sum",
    replace("for d in (16, 8, 4, 2, 1):\n    total += cuda.shfl_xor_sync(0xFFFFFFFF, total, d)", "pass"),
)
no_number = edit(
    MASTER,
    "wrong not-finite: -inf less -inf is no number",
    replace(
        "if higher > -math.inf:\n    total = total * math.exp(top - higher) + more * math.exp(other - higher)",
        "total = total * math.exp(top - higher) + more * math.exp(other - higher)",
    ),
)
sums_not_corrected = edit(
    MASTER,
    "wrong suspect: They rest on different largest scores",
    replace("total = total * math.exp(top - higher) + more * math.exp(other - higher)", "total += more"),
)
old_sum_not_corrected = edit(
    MASTER,
    "wrong suspect: rests on the old one",
    replace("total = total * math.exp(top - higher) + math.exp(score - higher)", "total += math.exp(score - higher)"),
)
probabilities_only = edit(MASTER, "wrong suspect: one is taken off", cut("if j == label:\n    p -= np.float32(1)"))
not_divided = edit(MASTER, "wrong suspect: a mean over `count` rows", replace("p / count", "p"))
divided_by_classes = edit(
    MASTER, "wrong suspect: divided by the number of classes", replace("p / count", "p / logits.shape[1]")
)
other_sign = edit(MASTER, "wrong suspect: The sign is wrong", replace("p / count", "-p / count"))
no_label_is_a_label = edit(
    MASTER, "wrong suspect: has probabilities here", replace("p / count if label >= 0 else 0", "p / count")
)
last_class = edit(
    MASTER,
    "wrong suspect: was taken for the last class",
    replace("p / count if label >= 0 else 0", "p / count"),
    replace("if j == label:", "if j == label % logits.shape[1]:"),
)
first_32 = edit(
    MASTER,
    "wrong suspect: Each lane looked at one class",
    replace("lane, logits.shape[1], 32", "lane, min(32, logits.shape[1]), 32", after="row, lane"),
    replace("lane, logits.shape[1], 32", "lane, min(32, logits.shape[1]), 32", after="label = labels[row]"),
)
out_of_the_row = edit(
    MASTER,
    "wrong out-of-bounds: ends at the number of classes",
    replace("logits.shape[1], 32", "logits.shape[1] + 32, 32", after="row, lane"),
)
label_twice = edit(
    MASTER, "over budget over-budget: the label more often than once", replace("j == label", "j == labels[row]")
)
a_round_short = edit(MASTER, "wrong wrong-value: Two passes", replace("(16, 8, 4, 2, 1)", "(16, 8, 4, 2)"))
returns_before = edit(
    MASTER,
    "wrong inactive-lane-read: none returns before",
    insert("if lane >= logits.shape[1]:\n    return", after="row, lane = cuda.blockIdx.x, cuda.threadIdx.x"),
)
down_without_broadcast = edit(
    MASTER,
    "wrong wrong-value: leaves a result in lane 0 alone",
    replace("cuda.shfl_xor_sync", "cuda.shfl_down_sync", after="other ="),
    replace("cuda.shfl_xor_sync", "cuda.shfl_down_sync", after="more ="),
)
half_a_mask = edit(
    MASTER,
    "wrong lane-not-in-mask: 0xFFFFFFFF",
    replace("0xFFFFFFFF", "0xFFFF", after="other ="),
    replace("0xFFFFFFFF", "0xFFFF", after="more ="),
)
