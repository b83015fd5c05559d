"""Answers to 06b-bins. What is said beside the kernel is CLAIMS, or the kernel's own `claims`."""

import numpy as np
from answers import MASTER, cut, edit, insert, replace

from dlkernels import cuda

CLAIMS = {"fault": "race"}


@cuda.jit
def counted_in_global_memory(labels, counts):
    """right"""
    for i in range(cuda.grid(1), labels.size, cuda.gridsize(1)):
        cuda.atomic.add(counts, labels[i], 1)


@cuda.jit
def a_barrier_in_each_round(labels, counts):
    """wrong race: what happens if both load before either stores?"""
    block_counts = cuda.shared.array(10, np.int32)
    t = cuda.threadIdx.x
    if t < 10:
        block_counts[t] = 0
    cuda.syncthreads()
    i = cuda.grid(1)
    for _ in range((labels.size + cuda.gridsize(1) - 1) // cuda.gridsize(1)):
        if i < labels.size:
            block_counts[labels[i]] += 1
        i += cuda.gridsize(1)
        cuda.syncthreads()
    if t < 10:
        cuda.atomic.add(counts, t, block_counts[t])


atomic_without_barriers = edit(
    MASTER,
    "wrong atomic-against-plain: nothing says who comes first",
    cut("cuda.syncthreads()", after="block_counts[t] = 0"),
    cut("cuda.syncthreads()", after="cuda.atomic.add(block_counts, labels[i], 1)"),
)


a_row_for_each_thread = edit(
    "not_set_to_zero",
    "right",
    replace("10, np", "(32, 10), np"),
    insert("for k in range(10):\n    block_counts[t, k] = 0", after="t = cuda.threadIdx.x"),
    replace("cuda.atomic.add(block_counts, labels[i], 1)", "block_counts[t, labels[i]] += 1"),
    replace(
        "cuda.atomic.add(counts, t, block_counts[t])",
        "for row in range(32):\n    cuda.atomic.add(counts, t, block_counts[row, t])",
    ),
)


@cuda.jit
def one_round(labels, counts):
    """wrong wrong-value: by one thread of the grid and no other"""
    i = cuda.grid(1)
    if i < labels.size:
        cuda.atomic.add(counts, labels[i], 1)


@cuda.jit
def called_wrong(labels, counts):
    """wrong verdict: look at `block_counts[labels[i]]` in thread"""
    for i in range(cuda.grid(1), labels.size, cuda.gridsize(1)):
        cuda.atomic.add(counts, labels[i], 1)


@cuda.jit
def called_right(labels, counts):
    """wrong verdict: follow two threads through it"""
    for i in range(cuda.grid(1), labels.size, cuda.gridsize(1)):
        cuda.atomic.add(counts, labels[i], 1)


@cuda.jit
def called_by_another_name(labels, counts):
    """wrong not-allowed: one of "right", "race", "stuck\""""
    for i in range(cuda.grid(1), labels.size, cuda.gridsize(1)):
        cuda.atomic.add(counts, labels[i], 1)


called_wrong.py_func.claims = {"fault": "wrong number"}
called_right.py_func.claims = {"fault": "right"}
called_by_another_name.py_func.claims = {"fault": "a data race"}
