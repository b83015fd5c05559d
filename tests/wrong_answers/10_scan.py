"""Answers to 10-scan."""

import numpy as np

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


@cuda.jit
def forwards(a, grad, out):
    """wrong suspect: This is the scan forward"""
    factors = cuda.shared.array(64, np.float32)
    sums = cuda.shared.array(64, np.float32)
    r, t, steps = cuda.blockIdx.x, cuda.threadIdx.x, a.shape[1]
    factor, total = np.float32(0), np.float32(0)
    if t < steps:
        total = grad[r, t]
        if t > 0:
            factor = a[r, t]
    for d in (1, 2, 4, 8, 16, 32):
        factors[t] = factor
        sums[t] = total
        cuda.syncthreads()
        if t >= d:
            total += factor * sums[t - d]
            factor *= factors[t - d]
        cuda.syncthreads()
    if t < steps:
        out[r, t] = total


@cuda.jit
def factor_too_early(a, grad, out):
    """wrong suspect: a is taken one step too early"""
    factors = cuda.shared.array(64, np.float32)
    sums = cuda.shared.array(64, np.float32)
    r, t, steps = cuda.blockIdx.x, cuda.threadIdx.x, a.shape[1]
    factor, total = np.float32(0), np.float32(0)
    if t < steps:
        total = grad[r, t]
        factor = a[r, t]
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


@cuda.jit
def sums_only(a, grad, out):
    """wrong suspect: The factors are missing"""
    factors = cuda.shared.array(64, np.float32)
    sums = cuda.shared.array(64, np.float32)
    r, t, steps = cuda.blockIdx.x, cuda.threadIdx.x, a.shape[1]
    factor, total = np.float32(0), np.float32(0)
    if t < steps:
        total = grad[r, t]
        if t + 1 < steps:
            factor = np.float32(1)
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


@cuda.jit
def five_rounds(a, grad, out):
    """wrong suspect: Only 32 steps got into each number"""
    factors = cuda.shared.array(64, np.float32)
    sums = cuda.shared.array(64, np.float32)
    r, t, steps = cuda.blockIdx.x, cuda.threadIdx.x, a.shape[1]
    factor, total = np.float32(0), np.float32(0)
    if t < steps:
        total = grad[r, t]
        if t + 1 < steps:
            factor = a[r, t + 1]
    for d in (1, 2, 4, 8, 16):
        factors[t] = factor
        sums[t] = total
        cuda.syncthreads()
        if t + d < 64:
            total += factor * sums[t + d]
            factor *= factors[t + d]
        cuda.syncthreads()
    if t < steps:
        out[r, t] = total


@cuda.jit
def first_barrier_missing(a, grad, out):
    """wrong race: Two barriers are needed"""
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
        if t + d < 64:
            total += factor * sums[t + d]
            factor *= factors[t + d]
        cuda.syncthreads()
    if t < steps:
        out[r, t] = total


@cuda.jit
def last_barrier_missing(a, grad, out):
    """wrong race: when all have read"""
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
    if t < steps:
        out[r, t] = total


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


@cuda.jit
def a_barrier_for_each_branch(a, grad, out):
    """wrong divergent-barrier: stands in an `if` between the barriers"""
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
        else:
            cuda.syncthreads()
    if t < steps:
        out[r, t] = total


@cuda.jit
def left_early(a, grad, out):
    """wrong barrier-after-exit: Threads beyond the row"""
    factors = cuda.shared.array(64, np.float32)
    sums = cuda.shared.array(64, np.float32)
    r, t, steps = cuda.blockIdx.x, cuda.threadIdx.x, a.shape[1]
    if t >= steps:
        return
    factor, total = np.float32(0), np.float32(0)
    if t < steps:
        total = grad[r, t]
        if t + 1 < steps:
            factor = a[r, t + 1]
    for d in (1, 2, 4, 8, 16, 32):
        factors[t] = factor
        sums[t] = total
        cuda.syncthreads()
        if t + d < steps:
            total += factor * sums[t + d]
            factor *= factors[t + d]
        cuda.syncthreads()
    if t < steps:
        out[r, t] = total


@cuda.jit
def nobody_stored_there(a, grad, out):
    """wrong uninitialised-shared: beyond the end of the row"""
    factors = cuda.shared.array(64, np.float32)
    sums = cuda.shared.array(64, np.float32)
    r, t, steps = cuda.blockIdx.x, cuda.threadIdx.x, a.shape[1]
    factor, total = np.float32(0), np.float32(0)
    if t < steps:
        total = grad[r, t]
        if t + 1 < steps:
            factor = a[r, t + 1]
    for d in (1, 2, 4, 8, 16, 32):
        if t < steps:
            factors[t] = factor
            sums[t] = total
        cuda.syncthreads()
        if t + d < 64:
            total += factor * sums[t + d]
            factor *= factors[t + d]
        cuda.syncthreads()
    if t < steps:
        out[r, t] = total


@cuda.jit
def too_far(a, grad, out):
    """wrong out-of-bounds: looks d places further"""
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
        if t < 64:
            total += factor * sums[t + d]
            factor *= factors[t + d]
        cuda.syncthreads()
    if t < steps:
        out[r, t] = total


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


@cuda.jit
def factor_before_the_sum(a, grad, out):
    """wrong wrong-value: before the factor changes"""
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
            factor *= factors[t + d]
            total += factor * sums[t + d]
        cuda.syncthreads()
    if t < steps:
        out[r, t] = total


@cuda.jit
def factor_of_the_other(a, grad, out):
    """wrong wrong-value: Which factor belongs to the pair"""
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
            total += factors[t + d] * sums[t + d]
            factor *= factors[t + d]
        cuda.syncthreads()
    if t < steps:
        out[r, t] = total


@cuda.jit
def factor_as_it_was(a, grad, out):
    """wrong wrong-value: out[1] is grad[1]"""
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
        cuda.syncthreads()
    if t < steps:
        out[r, t] = total


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


@cuda.jit
def three_barriers(a, grad, out):
    """over budget over-budget: with more barriers"""
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
        cuda.syncthreads()
        if t + d < 64:
            total += factor * sums[t + d]
            factor *= factors[t + d]
        cuda.syncthreads()
    if t < steps:
        out[r, t] = total
