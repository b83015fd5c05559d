"""Answers to 06b-dots. What is said beside the kernel is CLAIMS, or the kernel's own `claims`."""

import numpy as np
from answers import MASTER, cut, edit, insert, replace

from dlkernels import cuda

CLAIMS = {"fault": "stuck"}


@cuda.jit
def zeros_first(a, b, out):
    """right"""
    s = cuda.shared.array(64, np.float32)
    t, i = cuda.threadIdx.x, cuda.grid(1)
    s[t] = 0
    if i < a.size:
        s[t] = a[i] * b[i]
    d = 32
    while d > 0:
        cuda.syncthreads()
        if t < d:
            s[t] += s[t + d]
        d //= 2
    if t == 0:
        out[cuda.blockIdx.x] = s[0]


@cuda.jit
def one_thread_adds(a, b, out):
    """wrong replaced: Start again from the kernel as it was handed out"""
    if cuda.threadIdx.x == 0:
        total = np.float32(0)
        for i in range(cuda.grid(1), min(cuda.grid(1) + 64, a.size)):
            total += a[i] * b[i]
        out[cuda.blockIdx.x] = total


@cuda.jit
def as_it_was(a, b, out):
    """wrong barrier-after-exit: where does their way part from that of the others?"""
    s = cuda.shared.array(64, np.float32)
    t, i = cuda.threadIdx.x, cuda.grid(1)
    if i < a.size:
        s[t] = a[i] * b[i]
        d = 32
        while d > 0:
            cuda.syncthreads()
            if t < d:
                s[t] += s[t + d]
            d //= 2
    if t == 0:
        out[cuda.blockIdx.x] = s[0]


barrier_for_those_who_add = edit(
    MASTER,
    "wrong barrier-after-exit: Which threads go another way",
    insert("cuda.syncthreads()", after="s[t] = a[i] * b[i] if i < a.size else 0"),
    cut("cuda.syncthreads()"),
    insert("cuda.syncthreads()", after="s[t] += s[t + d]"),
)
no_barrier = edit(MASTER, "wrong race: Where do the threads of a block have to meet", cut("cuda.syncthreads()"))


@cuda.jit
def no_tree(a, b, out):
    """wrong suspect: the rounds of the tree did not take place"""
    t, i = cuda.threadIdx.x, cuda.grid(1)
    if t == 0:
        out[cuda.blockIdx.x] = a[i] * b[i]


the_last_one_again = edit(
    MASTER,
    "wrong wrong-value: Does every product get to place 0",
    replace("cuda.grid(1)", "min(cuda.grid(1), a.size - 1)"),
    replace("s[t] = a[i] * b[i] if i < a.size else 0", "s[t] = a[i] * b[i]"),
)
called_a_race = edit(
    one_thread_adds, "wrong verdict: look at `cuda.syncthreads()` in thread 0 of block 1", claims={"fault": "race"}
)
