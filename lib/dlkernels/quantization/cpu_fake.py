"""fake_quantize and its backward on the CPU, in float32 and float64.

The ladder of fake_quantize        what the rung adds
    fake_quantize_numpy      NumPy: a pass for each step
    fake_quantize_vectors    numba: one pass, no code is stored; a vector at a time; all cores
"""

import functools

import numpy as np

from .. import team
from ..host import plain
from ..implementations import implementation
from ..simd.cache import cached_njit
from ..simd.inner import inner_njit
from ..simd.line import memory
from ..team import share
from .cpu_codes import PIECE, _spread, cut, matrix


def on_rows(rung):
    """Let `rung(runs, least, most, scales, zeros, *matrices)` take arrays of any shape."""

    @functools.wraps(rung)
    def wrapper(runs, least, most, scale, zero, *arrays):
        *inputs, out = arrays
        if out.size:
            lines = plain(scale).reshape(-1), plain(zero).reshape(-1)
            rung(runs, least, most, *lines, *(matrix(x, runs) for x in inputs), matrix(out, runs))
        return out

    return wrapper


@implementation("fake_quantize", device="cpu", adds="NumPy: a pass for each step")
@on_rows
def fake_quantize_numpy(runs, least, most, scales, zeros, x, out):
    zero, scale, real = _spread(zeros, runs), _spread(scales, runs), x.dtype.type
    with np.errstate(all="ignore"):
        codes = np.rint(x / scale)
    codes = np.clip(codes, real(least) - zero.astype(real), real(most) - zero.astype(real))
    np.copyto(codes, real(least) - zero.astype(real), where=np.isnan(codes))
    np.multiply(codes, scale, out=out)


def _in_runs(name, line_of):
    """A function of rungs' arguments, which takes all cores: `line_of(x, grad, scale, low, high, out)` for each run of
    numbers with one scale. low, high: limits of x / scale."""

    @inner_njit()
    def task(arguments, task, who):
        runs, least, most, scales, zeros, x, grad, out, pieces, task_pieces = arguments
        real, length = x.dtype.type, x.shape[1]
        numbers, grads, results = memory(x), memory(grad), memory(out)
        for piece in range(task * task_pieces, min((task + 1) * task_pieces, pieces * x.shape[0])):
            row, begin = piece // pieces, piece % pieces * PIECE
            last = min(begin + PIECE, length)
            while begin < last:
                group = begin // runs.run
                of = (row // runs.repeat * runs.groups + group) % scales.size
                end, zero = min(last, (group + 1) * runs.run), zeros[of % zeros.size]
                low, high = real(least - zero), real(most - zero)
                span = slice(row * length + begin, row * length + end)
                line_of(numbers[span], grads[span], scales[of], low, high, results[span])
                begin = end

    @cached_njit(holds=name)
    def by_team(arguments, tasks, threads, least, team):
        share(task, arguments, tasks, threads, least, team)

    def run(runs, least, most, scales, zeros, x, grad, out):
        pieces, task_pieces, tasks, threads = cut(*x.shape)
        arguments = runs, least, most, scales, zeros, x, grad, out, pieces, task_pieces
        by_team(arguments, tasks, threads, x.size // 2, team.members())

    return run


@inner_njit()
def round_line(x, _grad, scale, low, high, out):
    for j in range(x.size):
        q = x[j] / scale
        q = q if q > low else low
        q = q if q < high else high
        out[j] = np.rint(q) * scale


_round = _in_runs("round_line", round_line)


@implementation("fake_quantize", device="cpu", adds="numba: one pass, no code is stored; all cores", public=True)
@on_rows
def fake_quantize_vectors(runs, least, most, scales, zeros, x, out):
    _round(runs, least, most, scales, zeros, x, x, out)


@implementation("fake_quantize_backward", device="cpu", adds="NumPy: codes again, then a choice")
@on_rows
def fake_quantize_backward_numpy(runs, least, most, scales, zeros, x, grad, out):
    with np.errstate(all="ignore"):
        codes = np.rint(x / _spread(scales, runs))
    zero = _spread(zeros, runs)
    out[...] = np.where((codes >= least - zero) & (codes <= most - zero), grad, x.dtype.type(0))


@inner_njit()
def pass_line(x, grad, scale, low, high, out):
    none = x.dtype.type(0)
    for j in range(x.size):
        q = np.rint(x[j] / scale)
        out[j] = grad[j] if q >= low and q <= high else none


_pass = _in_runs("pass_line", pass_line)


@implementation(
    "fake_quantize_backward", device="cpu", adds="numba: codes are made again in the same pass; all cores", public=True
)
@on_rows
def fake_quantize_backward_vectors(runs, least, most, scales, zeros, x, grad, out):
    _pass(runs, least, most, scales, zeros, x, grad, out)
