"""Answers to 06b-largest. What is said beside the kernel is CLAIMS, or the kernel's own `claims`."""

import numpy as np
from answers import MASTER, cut, edit, insert, replace

from dlkernels import cuda

CLAIMS = {"fault": "right"}


@cuda.jit
def more_barriers(x, lengths, out):
    """right"""
    best = cuda.shared.array(64, np.float32)
    row, t = cuda.blockIdx.x, cuda.threadIdx.x
    n = lengths[row]
    if n > 0:
        best[t] = x[row, min(t, n - 1)]
        for j in range(t + 64, n, 64):
            best[t] = max(best[t], x[row, j])
        cuda.syncthreads()
        d = 32
        while d > 0:
            if t < d:
                best[t] = max(best[t], best[t + d])
            cuda.syncthreads()
            d //= 2
    if t == 0:
        out[row] = best[0] if n > 0 else 0


@cuda.jit
def one_thread(x, lengths, out):
    """right"""
    row = cuda.blockIdx.x
    if cuda.threadIdx.x == 0:
        n = lengths[row]
        best = x[row, 0] if n > 0 else np.float32(0)
        for j in range(1, n):
            best = max(best, x[row, j])
        out[row] = best


those_without_an_element_leave = edit(
    MASTER,
    "wrong barrier-after-exit: Which threads go another way",
    replace("if n == 0:", "if t >= n:"),
    replace("min(t, n - 1)", "t"),
)


@cuda.jit
def a_zero_instead(x, lengths, out):
    """wrong suspect: a 0 took part"""
    best = cuda.shared.array(64, np.float32)
    row, t = cuda.blockIdx.x, cuda.threadIdx.x
    n = lengths[row]
    best[t] = x[row, t] if t < n else 0
    for j in range(t + 64, n, 64):
        best[t] = max(best[t], x[row, j])
    d = 32
    while d > 0:
        cuda.syncthreads()
        if t < d:
            best[t] = max(best[t], best[t + d])
        d //= 2
    if t == 0:
        out[row] = best[0]


guarded_one_by_one = edit(
    a_zero_instead,
    "wrong uninitialised-shared: Which thread should have stored this place",
    replace("best[t] = x[row, t] if t < n else 0", "if t < n:\n    best[t] = x[row, t]"),
)
the_whole_row = edit(
    a_zero_instead,
    "wrong suspect: They belong to no sequence",
    replace("lengths[row]", "x.shape[1]"),
    replace("[row, t] if t < n else 0", "[row, min(t, n - 1)]"),
    replace("[0]", "[0] if lengths[row] > 0 else 0"),
)
nobody_leaves = edit(
    MASTER,
    "wrong negative-index: what is there for it to do?",
    cut("""
    if n == 0:
        if t == 0:
            out[row] = 0
        return
    """),
)
fewer_barriers = edit(
    MASTER,
    "wrong race: what would have to lie between the two?",
    insert("cuda.syncthreads()", before="d = 32"),
    cut("cuda.syncthreads()"),
)


@cuda.jit
def called_stuck(x, lengths, out):
    """wrong verdict: No launch of this task shows that"""
    if cuda.threadIdx.x == 0:
        out[cuda.blockIdx.x] = 0


@cuda.jit
def called_a_race(x, lengths, out):
    """wrong verdict: No launch of this task shows that"""
    if cuda.threadIdx.x == 0:
        out[cuda.blockIdx.x] = 0


called_stuck.py_func.claims = {"fault": "stuck"}
called_a_race.py_func.claims = {"fault": "race"}
