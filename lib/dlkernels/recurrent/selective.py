"""The selective scan, Mamba's recurrence, on the CPU (Gu and Dao 2023): a linear recurrence whose factors come from the
input.

The ladder of selective_scan       what the rung adds
    selective_scan_steps      as the formula is written: a step after the other, all channels at once
    selective_scan_factors    the factors of all steps first, then `scan`: time may be cut, but N times as many numbers
                              as u has go to memory and come back
    selective_scan_fused      a channel's N states stay in a vector: a step reads u, delta, B and C and writes y,
                              nothing else

The gradient (selective_backward.py) needs all states again: fused, it computes them a second time instead of keeping
them.
"""

import numpy as np
from numba import njit

from .. import team
from ..arguments import check_gradient, float_array, one_place, same
from ..examples import Examples
from ..host import plain
from ..implementations import call, implementation, operation
from ..simd.cache import cached_njit
from ..simd.inner import inner_njit
from ..team import share
from ..vector.fast import exp
from . import selective_reference as reference
from .examples import rounded
from .fast_gates import settled
from .scans import scan_chunks

f32 = np.float32
ZERO = f32(0)
CHANNELS = 8  # of a task
PARALLEL_FROM = 1 << 15  # states, over all steps, below which waking another thread costs more than it gains
compiled = njit(error_model="numpy", fastmath={"contract", "reassoc"})

# ---- arguments -------------------------------------------------------------------------------------------------------


def arguments(draw, *shape):
    """A size is (batch, channels, steps, states), or without the batch, which is then 1."""
    batch, channels, steps, states = _four(shape)
    u, delta = draw.array(batch, channels, steps), draw.array(batch, channels, steps, scale=0.3)
    A, D = draw.array(channels, states, scale=0.5), draw.array(channels)
    B, C = draw.array(batch, states, steps), draw.array(batch, states, steps)
    return u, delta, A, B, C, draw.one_of((D, None))


def _four(shape):
    batch, channels, steps, states = shape if len(shape) == 4 else (1, *shape)
    return batch, channels, steps, max(1, states)


def _gradient_arguments(draw, *shape):
    return draw.array(*_four(shape)[:3]), *arguments(draw, *shape)


SIZES = (1, 1, 1, 1), (2, 3, 4, 5), (0, 2, 3, 2), (2, 0, 3, 2), (2, 3, 0, 2), (1, 9, 7, 16), (3, 1, 2, 3), (2, 5, 3)
LARGE, TIMED = ((2, 20, 50, 16), (1, 33, 300, 7)), ((1, 256, 1024, 16),)


def _examples(make, function):
    return Examples(make, rounded(function), SIZES, LARGE, TIMED, values=("normal",), seeds=2)


@operation("selective_scan", reference.selective_scan, _examples(arguments, reference.selective_scan))
def _prepare(u, delta, A, B, C, D=None):
    arrays = {"u": u, "delta": delta, "A": A, "B": B, "C": C} | ({} if D is None else {"D": D})
    for name, array in arrays.items():
        float_array(name, array)
    one_place(**arrays)
    same("dtype", **arrays)
    if u.ndim != 3:
        raise ValueError(f"u has shape {tuple(u.shape)}; expected (batch, channels, steps).")
    batch, channels, steps = u.shape
    if A.ndim != 2 or A.shape[0] != channels or A.shape[1] == 0:
        raise ValueError(f"A has shape {tuple(A.shape)}; expected ({channels}, states), as u has {channels} channels.")
    by_step = batch, A.shape[1], steps
    for name, wanted in {"delta": (batch, channels, steps), "B": by_step, "C": by_step, "D": (channels,)}.items():
        if name in arrays and tuple(arrays[name].shape) != wanted:
            raise ValueError(
                f"{name} has shape {tuple(arrays[name].shape)}; expected {wanted}, as u has shape {tuple(u.shape)} and "
                f"A has {A.shape[1]} states."
            )
    return delta, A, B, C, D, u


@operation(
    "selective_scan_backward",
    reference.selective_scan_backward,
    _examples(_gradient_arguments, reference.selective_scan_backward),
    backward_of="selective_scan",
)
def _prepare_backward(grad, u, delta, A, B, C, D=None):
    delta, A, B, C, D, u = _prepare(u, delta, A, B, C, D)
    check_gradient(grad, u.shape, u=u)
    return grad, delta, A, B, C, D, u


def selective_scan(u, delta, A, B, C, D=None):
    """h' = exp(delta A) h + delta B u and y = C h' + D u in each channel, as mamba_ssm's function of this name. A new
    array.

    u, delta: (batch, channels, steps). A: (channels, states); each channel has states of its own. B, C: (batch, states,
    steps), for all channels alike. D: (channels,) or None. What a model adds around it, a softplus around delta and a
    gate on y, is the caller's.
    """
    return call("selective_scan", u, delta, A, B, C, D)


def selective_scan_backward(grad, u, delta, A, B, C, D=None):
    """The gradients of u, delta, A, B, C and (if it is given) D, given `grad`, the one of selective_scan(...)."""
    return call("selective_scan_backward", grad, u, delta, A, B, C, D)


# ---- 1, 2: NumPy, and the scan of this library -----------------------------------------------------------------------


@implementation(
    "selective_scan",
    device="cpu",
    adds="as the formula is written: a step after the other, all channels at once",
    public=True,
)
def selective_scan_steps(delta, A, B, C, D, u):
    h, y = np.zeros((*u.shape[:2], A.shape[1]), u.dtype), np.empty(u.shape, u.dtype)
    for t in range(u.shape[2]):
        step = delta[:, :, t, None]
        h = np.exp(step * A) * h + step * u[:, :, t, None] * B[:, None, :, t]
        y[:, :, t] = (h * C[:, None, :, t]).sum(-1)
    return y if D is None else y + D[:, None] * u


@implementation(
    "selective_scan",
    device="cpu",
    adds="the factors of all steps first, then a scan: all states go to memory and come back",
)
def selective_scan_factors(delta, A, B, C, D, u):
    steps = np.moveaxis(delta, 2, 0)[..., None]  # (steps, batch, channels, 1)
    fed = steps * np.moveaxis(u, 2, 0)[..., None] * np.moveaxis(B, 2, 0)[:, :, None]
    h = scan_chunks(0, False, None, np.exp(steps * A), fed)
    y = np.moveaxis((h * np.moveaxis(C, 2, 0)[:, :, None]).sum(-1), 0, 2)
    return np.ascontiguousarray(y if D is None else y + D[:, None] * u)


# ---- 3: states that stay ---------------------------------------------------------------------------------------------


@compiled
def advance(count, step, fed, a, b, h):
    """h = exp(step a) h + fed b of one channel."""
    for n in range(count):
        h[n] = settled(exp(step * a[n]) * h[n] + fed * b[n])


@compiled
def weighted(count, c, h):
    """The sum of c[n] h[n]."""
    total = ZERO
    for n in range(count):
        total += c[n] * h[n]
    return total


@inner_njit(error_model="numpy")
def _some_channels(arguments, task, who):
    """All steps of CHANNELS channels of one sequence."""
    delta, a, b_t, c_t, d, u, y, lines = arguments
    _, channels, steps = u.shape
    groups = -(-channels // CHANNELS)
    b, first_channel = task // groups, task % groups * CHANNELS
    count, h = a.shape[1], lines[who]
    for k in range(first_channel, min(channels, first_channel + CHANNELS)):
        for n in range(count):
            h[n] = ZERO
        for t in range(steps):
            step, x = delta[b, k, t], u[b, k, t]
            advance(count, step, step * x, a[k], b_t[b, t], h)
            y[b, k, t] = weighted(count, c_t[b, t], h) + d[k] * x


@cached_njit(error_model="numpy")
def _fused(delta, a, b_t, c_t, d, u, y, lines, tasks, threads, least, team):
    share(_some_channels, (delta, a, b_t, c_t, d, u, y, lines), tasks, threads, least, team)


def by_steps(x):
    """(batch, states, steps) as (batch, steps, states): a step reads its states side by side."""
    return np.ascontiguousarray(x.swapaxes(1, 2))


def lines_for(threads, count):
    """A line of states for each thread, a cache line apart at least."""
    return np.zeros((threads, count + 32), f32)[:, :count]


@implementation(
    "selective_scan",
    device="cpu",
    adds="a channel's states stay in a vector: nothing but y is written; cores share the channels",
    dtypes=("float32",),
    public=True,
)
def selective_scan_fused(delta, A, B, C, D, u):
    batch, channels, _ = u.shape
    y, work = np.empty(u.shape, f32), u.size * A.shape[1]
    if u.size:
        threads = 1 if work < PARALLEL_FROM else team.size()
        arguments = [
            plain(delta),
            plain(A),
            by_steps(B),
            by_steps(C),
            np.zeros(channels, f32) if D is None else plain(D),
            plain(u),
        ]
        tasks = batch * -(-channels // CHANNELS)
        _fused(*arguments, y, lines_for(threads, A.shape[1]), tasks, threads, 4 * work, team.members())
    return y
