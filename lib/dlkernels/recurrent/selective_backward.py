"""The gradient of the selective scan on the CPU.

Backward, a step needs the state before it. The first rung keeps all states, N times as many numbers as u has. The
second computes those of one channel again, into a line that stays in the cache, and walks back over it: more
arithmetic, and no such array.
"""

import numpy as np

from .. import team
from ..host import plain
from ..implementations import implementation
from ..simd.cache import cached_njit
from ..simd.inner import inner_njit
from ..team import share
from ..vector.fast import exp
from .selective import PARALLEL_FROM, ZERO, advance, by_steps, compiled, f32, weighted

GROUPS = 8  # of channels; a group adds up gradients of B and C of its own, always in one order

# ---- 1: all states are kept ------------------------------------------------------------------------------------------


@implementation(
    "selective_scan_backward",
    device="cpu",
    adds="backward through time, all channels at once; all states are kept",
    public=True,
)
def selective_scan_backward_steps(grad, delta, A, B, C, D, u):
    (batch, channels, steps), count = u.shape, A.shape[1]
    states = np.zeros((steps + 1, batch, channels, count), u.dtype)
    for t in range(steps):
        step = delta[:, :, t, None]
        states[t + 1] = np.exp(step * A) * states[t] + step * u[:, :, t, None] * B[:, None, :, t]
    of_u, of_delta, of_B, of_C = (np.empty(array.shape, u.dtype) for array in (u, u, B, C))
    arrived, of_A = np.zeros_like(states[0]), np.zeros(A.shape, u.dtype)
    for t in reversed(range(steps)):
        step, x, g = (array[:, :, t, None] for array in (delta, u, grad))
        factor, of_h = np.exp(step * A), arrived + g * C[:, None, :, t]
        of_C[:, :, t], of_B[:, :, t] = (g * states[t + 1]).sum(1), (of_h * (step * x)).sum(1)
        fed, of_exponent = (of_h * B[:, None, :, t]).sum(-1), of_h * factor * states[t]
        of_delta[:, :, t] = (of_exponent * A).sum(-1) + fed * u[:, :, t]
        of_u[:, :, t] = fed * delta[:, :, t]
        of_A += (of_exponent * step).sum(0)
        arrived = of_h * factor
    return _all(of_u, of_delta, of_A, of_B, of_C, D, grad, u)


def _all(of_u, of_delta, of_A, of_B, of_C, D, grad, u):
    """The gradients as they are returned, with what D adds."""
    if D is None:
        return of_u, of_delta, of_A, of_B, of_C
    return (
        of_u + grad * D[:, None],
        of_delta,
        of_A,
        of_B,
        of_C,
        (grad * u).sum(axis=(0, 2), dtype=np.float64).astype(u.dtype),
    )


# ---- 2: states are computed again ------------------------------------------------------------------------------------


# Each loop writes one array and reads few others: LLVM makes vectors of such (fast.py).


@compiled
def _back(count, step, fed, g, a, b, c, old, new, factor, of_h, arrived, of_a, of_b, of_c):
    """One step of one channel: (gradient of delta by way of exp(delta A), gradient of delta u)."""
    for n in range(count):
        factor[n] = exp(step * a[n])
    for n in range(count):
        of_h[n] = arrived[n] + g * c[n]
    for n in range(count):
        of_c[n] += g * new[n]
    for n in range(count):
        of_b[n] += fed * of_h[n]
    of_fed = weighted(count, b, of_h)
    for n in range(count):
        arrived[n] = of_h[n] * factor[n]
    for n in range(count):
        factor[n] = arrived[n] * old[n]  # from here on the gradient of the exponent
    for n in range(count):
        of_a[n] += step * factor[n]
    return weighted(count, a, factor), of_fed


@inner_njit(error_model="numpy")
def _some_channels(arguments, task, who):
    """One sequence of a group of channels. of_a: (batch, channels, states); of_b, of_c: (groups, batch, steps,
    states)."""
    grad, delta, a, b_t, c_t, u, states, lines, of_u, of_delta, of_a, of_b, of_c = arguments
    batch, channels, steps = u.shape
    b, group = task % batch, task // batch
    count, group_channels = a.shape[1], -(-channels // of_b.shape[0])
    h, (factor, of_h, arrived) = states[who], (lines[who, 0], lines[who, 1], lines[who, 2])
    for k in range(group * group_channels, min(channels, (group + 1) * group_channels)):
        for n in range(count):
            h[0, n], arrived[n] = ZERO, ZERO
        for t in range(steps):
            for n in range(count):
                h[t + 1, n] = h[t, n]
            advance(count, delta[b, k, t], delta[b, k, t] * u[b, k, t], a[k], b_t[b, t], h[t + 1])
        for back in range(steps):
            t = steps - 1 - back
            step, x = delta[b, k, t], u[b, k, t]
            by_factor, of_fed = _back(
                count, step, step * x, grad[b, k, t], a[k], b_t[b, t], c_t[b, t], h[t], h[t + 1], factor, of_h, arrived,
                of_a[b, k], of_b[group, b, t], of_c[group, b, t],
            )  # fmt: skip
            of_delta[b, k, t] = by_factor + of_fed * x
            of_u[b, k, t] = of_fed * step


@cached_njit(error_model="numpy")
def _fused(inputs, made, tasks, threads, least, team):
    share(_some_channels, inputs + made, tasks, threads, least, team)


@implementation(
    "selective_scan_backward",
    device="cpu",
    adds="states of a channel are computed again, into a line that stays in the cache; cores share the channels",
    dtypes=("float32",),
    public=True,
)
def selective_scan_backward_fused(grad, delta, A, B, C, D, u):
    (batch, channels, steps), count = u.shape, A.shape[1]
    groups, work = max(1, min(GROUPS, channels)), u.size * count
    threads = 1 if work < PARALLEL_FROM else team.size()
    of_u, of_delta = np.empty(u.shape, f32), np.empty(u.shape, f32)
    of_a, of_b, of_c = (np.zeros(s, f32) for s in ((batch, channels, count), *[(groups, batch, steps, count)] * 2))
    if u.size:
        inputs = plain(grad), plain(delta), plain(A), by_steps(B), by_steps(C), plain(u)
        states, lines = np.empty((threads, steps + 1, count), f32), np.empty((threads, 3, count), f32)
        made = states, lines, of_u, of_delta, of_a, of_b, of_c
        _fused(inputs, made, groups * batch, threads, 12 * work, team.members())
    of_B, of_C = (np.ascontiguousarray(partial.sum(0).swapaxes(1, 2)) for partial in (of_b, of_c))
    return _all(of_u, of_delta, of_a.sum(0), of_B, of_C, D, grad, u)
