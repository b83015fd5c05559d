"""Answers to 10-scan."""

import numpy as np
from answers import MASTER, cut, edit, insert, replace

from dlkernels import cuda


@cuda.jit
def two_halves_in_turns(a, grad, out):
    """right"""
    pairs = cuda.shared.array((2, 2, 64), np.float32)
    row, t = cuda.blockIdx.x, cuda.threadIdx.x
    inside = t < a.shape[1]
    pairs[0, 0, t] = a[row, t + 1] if t + 1 < a.shape[1] else 1
    pairs[0, 1, t] = grad[row, t] if inside else 0
    d, now = 1, 0
    while d < 64:
        cuda.syncthreads()
        factor, total = pairs[now, 0, t], pairs[now, 1, t]
        if t < 64 - d:
            total += factor * pairs[now, 1, t + d]
            factor *= pairs[now, 0, t + d]
        pairs[1 - now, 0, t] = factor
        pairs[1 - now, 1, t] = total
        now = 1 - now
        d *= 2
    if inside:
        out[row, t] = pairs[now, 1, t]


@cuda.jit
def turned_round(a, grad, out):
    """right"""
    p = cuda.shared.array(64, np.float32)
    s = cuda.shared.array(64, np.float32)
    i, row, n = cuda.threadIdx.x, cuda.blockIdx.x, a.shape[1]
    t = n - 1 - i
    p[i], s[i] = 1, 0
    if t >= 0:
        s[i] = grad[row, t]
        if i > 0:
            p[i] = a[row, t + 1]
    cuda.syncthreads()
    for k in range(6):
        other_p, other_s = np.float32(1), np.float32(0)
        if i >= 1 << k:
            other_p, other_s = p[i - (1 << k)], s[i - (1 << k)]
        cuda.syncthreads()
        s[i] += p[i] * other_s
        p[i] *= other_p
        cuda.syncthreads()
    if t >= 0:
        out[row, t] = s[i]


forwards = edit(
    MASTER,
    "wrong suspect: This is the scan forward",
    replace("if t + 1 < steps:", "if t > 0:"),
    replace("a[r, t + 1]", "a[r, t]"),
    replace("t + d < 64", "t >= d"),
    replace("factor * sums[t + d]", "factor * sums[t - d]"),
    replace("factors[t + d]", "factors[t - d]"),
)
factor_too_early = edit(
    MASTER,
    "wrong suspect: a is taken one step too early",
    replace("if t + 1 < steps:\n    factor = a[r, t + 1]", "factor = a[r, t]"),
)
sums_only = edit(MASTER, "wrong suspect: The factors are missing", replace("a[r, t + 1]", "np.float32(1)"))
five_rounds = edit(
    MASTER,
    "wrong suspect: Only 32 steps got into each number",
    replace("for d in (1, 2, 4, 8, 16, 32):", "for d in (1, 2, 4, 8, 16):"),
)
first_barrier_missing = edit(
    MASTER, "wrong race: Two barriers are needed", cut("cuda.syncthreads()", after="sums[t] = total")
)
last_barrier_missing = edit(
    MASTER, "wrong race: when all have read", cut("cuda.syncthreads()", after="factor *= factors[t + d]")
)


@cuda.jit
def barrier_in_the_if(a, grad, out):
    """wrong divergent-barrier: what only some do stands in an `if` between the barriers"""
    factors = cuda.shared.array(64, np.float32)
    sums = cuda.shared.array(64, np.float32)
    r, t, steps = cuda.blockIdx.x, cuda.threadIdx.x, a.shape[1]
    factor, total = np.float32(0), np.float32(0)
    if t < steps:
        total = grad[r, t]
        if t + 1 < steps:
            factor = a[r, t + 1]
    for d in (1, 2, 4, 8, 16, 32):
        factors[t] = factor
        sums[t] = total
        cuda.syncthreads()
        if t + d < 64:
            total += factor * sums[t + d]
            factor *= factors[t + d]
            cuda.syncthreads()
    if t < steps:
        out[r, t] = total


a_barrier_for_each_branch = edit(
    MASTER,
    "wrong divergent-barrier: stands in an `if` between the barriers",
    replace(
        "cuda.syncthreads()",
        """
            cuda.syncthreads()
        else:
            cuda.syncthreads()
        """,
        after="factor *= factors[t + d]",
    ),
)
left_early = edit(
    MASTER,
    "wrong barrier-after-exit: Threads beyond the row",
    insert("if t >= steps:\n    return", after="r, t, steps = cuda.blockIdx.x, cuda.threadIdx.x, a.shape[1]"),
    replace("t + d < 64", "t + d < steps"),
)
nobody_stored_there = edit(
    MASTER,
    "wrong uninitialised-shared: beyond the end of the row",
    replace(
        "factors[t] = factor\nsums[t] = total",
        """
        if t < steps:
            factors[t] = factor
            sums[t] = total
        """,
    ),
)
too_far = edit(MASTER, "wrong out-of-bounds: looks d places further", replace("if t + d", "if t"))


@cuda.jit
def no_guard(a, grad, out):
    """wrong out-of-bounds: from the row"""
    factors = cuda.shared.array(64, np.float32)
    sums = cuda.shared.array(64, np.float32)
    r, t, steps = cuda.blockIdx.x, cuda.threadIdx.x, a.shape[1]
    factor, total = np.float32(0), np.float32(0)
    total = grad[r, t]
    if t + 1 < steps:
        factor = a[r, t + 1]
    for d in (1, 2, 4, 8, 16, 32):
        factors[t] = factor
        sums[t] = total
        cuda.syncthreads()
        if t + d < 64:
            total += factor * sums[t + d]
            factor *= factors[t + d]
        cuda.syncthreads()
    if t < steps:
        out[r, t] = total


factor_before_the_sum = edit(
    MASTER,
    "wrong wrong-value: before the factor changes",
    insert("factor *= factors[t + d]", before="total += factor * sums[t + d]"),
    cut("factor *= factors[t + d]"),
)
factor_of_the_other = edit(
    MASTER, "wrong wrong-value: Which factor belongs to the pair", replace("total += factor", "total += factors[t + d]")
)
factor_as_it_was = edit(MASTER, "wrong wrong-value: out[1] is grad[1]", cut("factor *= factors[t + d]"))


@cuda.jit
def one_thread(a, grad, out):
    """over budget over-budget: Does one thread walk"""
    r, t, steps = cuda.blockIdx.x, cuda.threadIdx.x, a.shape[1]
    if t == 0:
        g = np.float32(0)
        for back in range(steps):
            k = steps - 1 - back
            if back:
                g *= a[r, k + 1]
            g += grad[r, k]
            out[r, k] = g


@cuda.jit
def all_behind(a, grad, out):
    """over budget over-budget: all steps behind it"""
    factors = cuda.shared.array(65, np.float32)
    sums = cuda.shared.array(64, np.float32)
    r, t, steps = cuda.blockIdx.x, cuda.threadIdx.x, a.shape[1]
    if t < steps:
        factors[t] = a[r, t]
        sums[t] = grad[r, t]
    cuda.syncthreads()
    if t < steps:
        total, factor = np.float32(0), np.float32(1)
        for k in range(t, steps):
            total += factor * sums[k]
            if k + 1 < steps:
                factor *= factors[k + 1]
        out[r, t] = total


three_barriers = edit(
    MASTER, "over budget over-budget: with more barriers", insert("cuda.syncthreads()", before="if t + d < 64:")
)
