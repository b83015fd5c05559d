"""The selective scan on the GPU, in float32 (Gu and Dao 2023, section 3.3 and appendix D).

The ladder of selective_scan              what the rung adds
    selective_scan_thread_per_channel   one thread walks through a channel; its states lie in memory
    selective_scan_wide                 the factors of all steps, then `scan`: all states at once, each goes to memory
                                        and back
    selective_scan_blocks               a block for each channel, time shared out among its threads: only y is written

A channel is one of one sequence: job = sequence * channels + channel. The gradient takes the way of the second rung.
"""

import math

import numpy as np

from ..device import cuda
from ..implementations import implementation
from . import selective  # noqa: F401  declares the operation
from .gpu_scans import LIMITS, LINE, MOST_BLOCKS, THREADS, f32, joined, scan_backward_blocks, scan_blocks

ITEMS = 4  # steps of a thread in a tile
TILE = THREADS * ITEMS
SPACED = TILE + TILE // 32


def lines(*arrays):
    return [x.reshape(x.size) for x in arrays]


def zeros(*shape):
    return cuda.to_device(np.zeros(shape, f32))


def blocks_for(threads):
    return -(-threads // THREADS), THREADS


# ---- one thread for each channel -------------------------------------------------------------------------------------


@cuda.jit
def thread_per_channel_kernel(delta, a, b, c, d, u, h, y, channels, steps):
    job = cuda.grid(1)
    if job * steps < u.size:
        channel, sequence = job % channels, job // channels
        states = a.size // channels
        for t in range(steps):
            element = job * steps + t
            step, x = delta[element], u[element]
            total = d[channel] * x
            for n in range(states):
                by_step = (sequence * states + n) * steps + t
                state = math.exp(step * a[channel * states + n]) * h[job * states + n] + step * x * b[by_step]
                h[job * states + n] = state
                total += c[by_step] * state
            y[element] = total


def input_lines(delta, A, B, C, D, u):
    return lines(delta, A, B, C, zeros(u.shape[1]) if D is None else D, u)


@implementation(
    "selective_scan",
    "gpu",
    adds="one thread walks through a channel, its states in memory: as many threads as channels",
    dtypes=("float32",),
    kernels=[(thread_per_channel_kernel, [f"void({', '.join([LINE] * 8)}, int64, int64)"])],
)
def selective_scan_thread_per_channel(delta, A, B, C, D, u):
    y = cuda.device_array(tuple(u.shape), f32)
    if y.size:
        batch, channels, steps = u.shape
        thread_per_channel_kernel[blocks_for(batch * channels)](
            *input_lines(delta, A, B, C, D, u), zeros(batch * channels * A.shape[1]), *lines(y), channels, steps
        )
    return y


# ---- all states in memory: (steps, batch, channels, states) ----------------------------------------------------------


@cuda.jit
def factors_kernel(delta, a, b, u, factors, fed, channels, steps):
    """exp(delta A) and delta B u of each state of each step."""
    i = cuda.grid(1)
    if i < factors.size:
        states = a.size // channels
        n, jobs = i % states, u.size // steps
        job, t = i // states % jobs, i // states // jobs
        step = delta[job * steps + t]
        factors[i] = math.exp(step * a[job % channels * states + n])
        fed[i] = step * u[job * steps + t] * b[(job // channels * states + n) * steps + t]


@cuda.jit
def weighted_kernel(h, c, d, u, y, channels, steps):
    """y = C h + D u of each step of each channel."""
    i = cuda.grid(1)
    if i < y.size:
        job, t, states = i // steps, i % steps, h.size // u.size
        total, first = d[job % channels] * u[i], (t * (u.size // steps) + job) * states
        for n in range(states):
            total += c[(job // channels * states + n) * steps + t] * h[first + n]
        y[i] = total


def factors_of(delta, A, B, u):
    """(exp(delta A), delta B u), both (steps, all else)."""
    batch, channels, steps = u.shape
    factors, fed = (cuda.device_array((steps, batch * channels * A.shape[1]), f32) for _ in range(2))
    factors_kernel[blocks_for(factors.size)](*lines(delta, A, B, u, factors, fed), channels, steps)
    return factors, fed


@implementation(
    "selective_scan",
    "gpu",
    adds="the factors of all steps first, then a scan, a thread for each state: all of them go to memory and come back",
    dtypes=("float32",),
    limits=LIMITS,
    kernels=[
        (factors_kernel, [f"void({', '.join([LINE] * 6)}, int64, int64)"]),
        (weighted_kernel, [f"void({', '.join([LINE] * 5)}, int64, int64)"]),
    ],  # and those of scan_blocks
)
def selective_scan_wide(delta, A, B, C, D, u):
    y = cuda.device_array(tuple(u.shape), f32)
    if y.size:
        h = scan_blocks(0, False, None, *factors_of(delta, A, B, u))
        _, _, _, c, d, x = input_lines(delta, A, B, C, D, u)
        weighted_kernel[blocks_for(y.size)](*lines(h), c, d, x, *lines(y), *u.shape[1:])
    return y


# ---- a block for each channel ----------------------------------------------------------------------------------------


@cuda.jit(device=True)
def spaced(k):
    """Where step k of a tile lies in shared memory: lanes that read ITEMS steps apart have a bank each."""
    return k + k // 32


@cuda.jit
def blocks_kernel(delta, a, b, c, d, u, h, y, channels, steps):
    ps = cuda.shared.array(THREADS, f32)
    es = cuda.shared.array(THREADS, f32)
    bs = cuda.shared.array(SPACED, f32)
    cs = cuda.shared.array(SPACED, f32)
    step = cuda.local.array(ITEMS, f32)
    fed = cuda.local.array(ITEMS, f32)
    total = cuda.local.array(ITEMS, f32)
    factor = cuda.local.array(ITEMS, f32)
    added = cuda.local.array(ITEMS, f32)
    thread, states = cuda.threadIdx.x, a.size // channels
    for job in range(cuda.blockIdx.x, u.size // steps, cuda.gridDim.x):
        channel, sequence = job % channels, job // channels
        for begin in range(0, steps, TILE):
            first = begin + thread * ITEMS
            for i in range(ITEMS):
                step[i] = f32(0)  # a step of 0 changes nothing
                fed[i] = f32(0)
                total[i] = f32(0)
                if first + i < steps:
                    x = u[job * steps + first + i]
                    step[i] = delta[job * steps + first + i]
                    fed[i] = step[i] * x
                    total[i] = d[channel] * x
            for n in range(states):
                row = (sequence * states + n) * steps + begin
                for k in range(thread, min(TILE, steps - begin), THREADS):
                    bs[spaced(k)] = b[row + k]
                    cs[spaced(k)] = c[row + k]
                cuda.syncthreads()
                p, e, rate = f32(1), f32(0), a[channel * states + n]
                for i in range(ITEMS):
                    factor[i] = math.exp(step[i] * rate)
                    added[i] = fed[i] * bs[spaced(thread * ITEMS + i)] if first + i < steps else f32(0)
                    e = factor[i] * e + added[i]
                    p *= factor[i]
                joined(p, e, ps, es)
                state = h[job * states + n]
                if thread > 0:
                    state = ps[thread - 1] * state + es[thread - 1]
                for i in range(ITEMS):
                    state = factor[i] * state + added[i]
                    if first + i < steps:
                        total[i] += cs[spaced(thread * ITEMS + i)] * state
                cuda.syncthreads()  # all have read
                if thread == THREADS - 1:
                    h[job * states + n] = state
            for i in range(ITEMS):
                if first + i < steps:
                    y[job * steps + first + i] = total[i]
            cuda.syncthreads()


@implementation(
    "selective_scan",
    "gpu",
    adds="a block for each channel: its threads share out the time, a state after the other; nothing but y is written",
    dtypes=("float32",),
    limits=LIMITS,
    kernels=[(blocks_kernel, [f"void({', '.join([LINE] * 8)}, int64, int64)"])],
    public=True,
)
def selective_scan_blocks(delta, A, B, C, D, u):
    y = cuda.device_array(tuple(u.shape), f32)
    if y.size:
        batch, channels, steps = u.shape
        blocks_kernel[min(batch * channels, MOST_BLOCKS), THREADS](
            *input_lines(delta, A, B, C, D, u), zeros(batch * channels * A.shape[1]), *lines(y), channels, steps
        )
    return y


# ---- the gradient ----------------------------------------------------------------------------------------------------


@cuda.jit
def of_states_kernel(grad, c, of_h, channels, steps):
    """What y gives each state of its own step: (steps, batch, channels, states)."""
    i = cuda.grid(1)
    if i < of_h.size:
        states = of_h.size // grad.size
        n, jobs = i % states, grad.size // steps
        job, t = i // states % jobs, i // states // jobs
        of_h[i] = grad[job * steps + t] * c[(job // channels * states + n) * steps + t]


@cuda.jit
def of_inputs_kernel(grad, delta, a, b, d, u, factors, of_factors, of_fed, of_u, of_delta, channels, steps):
    """A thread for each step of each channel adds up over its states."""
    i = cuda.grid(1)
    if i < u.size:
        job, t, states = i // steps, i % steps, factors.size // u.size
        first, by_factor, by_fed = (t * (u.size // steps) + job) * states, f32(0), f32(0)
        for n in range(states):
            by_factor += of_factors[first + n] * factors[first + n] * a[job % channels * states + n]
            by_fed += of_fed[first + n] * b[(job // channels * states + n) * steps + t]
        of_delta[i] = by_factor + by_fed * u[i]
        of_u[i] = by_fed * delta[i] + grad[i] * d[job % channels]


@cuda.jit
def of_steps_kernel(grad, delta, u, h, of_fed, of_b, of_c, channels, steps):
    """A thread for each step of each state adds up over the channels of its sequence."""
    i = cuda.grid(1)
    if i < of_b.size:
        states, jobs = h.size // u.size, u.size // steps
        t, n, sequence = i % steps, i // steps % states, i // steps // states
        by_b, by_c = f32(0), f32(0)
        for job in range(sequence * channels, (sequence + 1) * channels):
            element, wide = job * steps + t, (t * jobs + job) * states + n
            by_b += of_fed[wide] * delta[element] * u[element]
            by_c += grad[element] * h[wide]
        of_b[i] = by_b
        of_c[i] = by_c


@cuda.jit
def of_weights_kernel(grad, delta, u, factors, of_factors, of_a, of_d, channels, steps):
    """A thread for each state of a channel adds up over steps and sequences; the first one of them for D, too."""
    i = cuda.grid(1)
    if i < of_a.size:
        states, jobs = of_a.size // channels, u.size // steps
        channel, n, by_a, by_d = i // states, i % states, 0.0, 0.0  # float64: many steps
        for job in range(channel, jobs, channels):
            for t in range(steps):
                element, wide = job * steps + t, (t * jobs + job) * states + n
                by_a += of_factors[wide] * factors[wide] * delta[element]
                if n == 0:
                    by_d += grad[element] * u[element]
        of_a[i] = by_a
        if n == 0:
            of_d[channel] = by_d


@implementation(
    "selective_scan_backward",
    "gpu",
    adds="factors and states of all steps, a scan against time, and a sum for each gradient: no atomics, the same "
    "every time",
    dtypes=("float32",),
    limits=LIMITS,
    kernels=[
        (of_states_kernel, [f"void({', '.join([LINE] * 3)}, int64, int64)"]),
        (of_inputs_kernel, [f"void({', '.join([LINE] * 11)}, int64, int64)"]),
        (of_steps_kernel, [f"void({', '.join([LINE] * 7)}, int64, int64)"]),
        (of_weights_kernel, [f"void({', '.join([LINE] * 7)}, int64, int64)"]),
    ],  # and those of the scan and its gradient
    public=True,
)
def selective_scan_backward_wide(grad, delta, A, B, C, D, u):
    found = [zeros(*array.shape) for array in (u, delta, A, B, C)]
    of_D = zeros(u.shape[1])
    if u.size:
        channels, steps = u.shape[1:]
        factors, fed = factors_of(delta, A, B, u)
        h, of_h = scan_blocks(0, False, None, factors, fed), cuda.device_array(tuple(factors.shape), f32)
        g, (step, a, b, c, d, x) = grad.reshape(grad.size), input_lines(delta, A, B, C, D, u)
        of_h_line, h_line, f_line = lines(of_h, h, factors)
        of_states_kernel[blocks_for(of_h.size)](g, c, of_h_line, channels, steps)
        of_factors, of_fed = lines(*scan_backward_blocks(0, False, None, of_h, factors, fed))
        of_u, of_delta, of_a, of_b, of_c = lines(*found)
        of_inputs_kernel[blocks_for(u.size)](
            g, step, a, b, d, x, f_line, of_factors, of_fed, of_u, of_delta, channels, steps
        )
        of_steps_kernel[blocks_for(B.size)](g, step, x, h_line, of_fed, of_b, of_c, channels, steps)
        of_weights_kernel[blocks_for(A.size)](g, step, x, f_line, of_factors, of_a, of_D, channels, steps)
    return *found, *(() if D is None else (of_D,))
