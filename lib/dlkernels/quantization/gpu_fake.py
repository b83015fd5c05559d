"""fake_quantize and its backward on the GPU, in float32: a thread for each number."""

import functools

import numpy as np

from ..device import cuda
from ..implementations import implementation
from .gpu_codes import LINE, RUNS, THREADS, WHOLE, blocks_for, line, step_of

f32 = np.float32
RINT = f32(1.5 * 2**23)


@cuda.jit(device=True)
def rint(x):
    """x, rounded to a whole number, ties to even; what is too large for that is whole already, or no number."""
    return (x + RINT) - RINT if abs(x) < f32(2**22) else x


@cuda.jit
def fake_kernel(x, scales, zeros, least, most, length, run, groups, repeat, out):
    for i in range(cuda.grid(1), out.size, cuda.gridsize(1)):
        group = step_of(i // length, i % length, run, groups, repeat, scales)
        zero = zeros[group % zeros.size]
        low, high = f32(least - zero), f32(most - zero)
        q = x[i] / scales[group]
        q = q if q > low else low
        q = q if q < high else high
        out[i] = rint(q) * scales[group]


@cuda.jit
def backward_kernel(x, scales, zeros, least, most, length, run, groups, repeat, grad, out):
    for i in range(cuda.grid(1), out.size, cuda.gridsize(1)):
        group = step_of(i // length, i % length, run, groups, repeat, scales)
        zero, code = zeros[group % zeros.size], rint(x[i] / scales[group])
        out[i] = grad[i] if code >= f32(least - zero) and code <= f32(most - zero) else f32(0)


def on_lines(rung):
    """Let `rung(blocks, before, runs, after)` take arrays of any shape."""

    @functools.wraps(rung)
    def wrapper(runs, least, most, scale, zero, input, *arrays):
        out = arrays[-1]
        if out.size:
            before = line(input), line(scale), line(zero), least, most
            of_runs = runs.length, runs.run, runs.groups, runs.repeat
            rung(blocks_for(out.size), *before, *of_runs, *(line(x) for x in arrays))
        return out

    return wrapper


@implementation(
    "fake_quantize",
    "gpu",
    adds="a thread for each number; no code is stored",
    dtypes=("float32",),
    kernels=[(fake_kernel, [f"void({LINE}, {LINE}, {WHOLE}, int64, int64, {RUNS}, {LINE})"])],
    public=True,
)
@on_lines
def fake_quantize_threads(blocks, *arguments):
    fake_kernel[blocks, THREADS](*arguments)


@implementation(
    "fake_quantize_backward",
    "gpu",
    adds="a thread for each number; its code is made again",
    dtypes=("float32",),
    kernels=[(backward_kernel, [f"void({LINE}, {LINE}, {WHOLE}, int64, int64, {RUNS}, {LINE}, {LINE})"])],
    public=True,
)
@on_lines
def fake_quantize_backward_threads(blocks, *arguments):
    backward_kernel[blocks, THREADS](*arguments)
