"""The specification of the selective scan, in NumPy and float64, and its gradient."""

import numpy as np

from .reference import _double


def _by_steps(u, delta, A, B, C):
    """(u, delta, B, C with time first, A) in float64."""
    u, delta, B, C = (np.moveaxis(_double(array), -1, 0) for array in (u, delta, B, C))
    return u, delta, _double(A), B, C


def _factors(delta, A, B, u):
    """(exp(delta A), delta B u) of one step: (batch, dim, states)."""
    step = delta[..., None]
    return np.exp(step * A), step * u[..., None] * B[:, None]


def selective_scan(u, delta, A, B, C, D=None):
    """h' = exp(delta A) h + delta B u; y = C h' + D u, for each channel its own states (Gu and Dao 2023)."""
    u, delta, A, B, C = _by_steps(u, delta, A, B, C)
    h, found = 0.0, []
    for t in range(len(u)):
        factor, added = _factors(delta[t], A, B[t], u[t])
        h = factor * h + added
        y = (h * C[t][:, None]).sum(-1)
        found.append(y if D is None else y + _double(D) * u[t])
    return np.moveaxis(np.stack(found) if found else u, 0, -1)


def selective_scan_backward(grad, u, delta, A, B, C, D=None):
    """The gradients of u, delta, A, B, C and, if it is given, D."""
    grad = np.moveaxis(_double(grad), -1, 0)
    u, delta, A, B, C = _by_steps(u, delta, A, B, C)
    h = 0.0 * (u[0][..., None] * A) if len(u) else 0.0
    states = [h]
    for t in range(len(u)):
        factor, added = _factors(delta[t], A, B[t], u[t])
        states.append(factor * states[-1] + added)
    arrived, of_A, of_D, steps = 0.0, 0.0 * A, 0.0 * A[:, 0], []
    for t in reversed(range(len(u))):
        factor, _ = _factors(delta[t], A, B[t], u[t])
        of_h = arrived + grad[t][..., None] * C[t][:, None]
        of_C = (grad[t][..., None] * states[t + 1]).sum(1)
        of_B = (of_h * (delta[t] * u[t])[..., None]).sum(1)
        fed = (of_h * B[t][:, None]).sum(-1)  # of delta u
        of_exponent = of_h * factor * states[t]
        of_delta = (of_exponent * A).sum(-1) + fed * u[t]
        of_A = of_A + (of_exponent * delta[t][..., None]).sum(0)
        of_u = fed * delta[t] if D is None else fed * delta[t] + grad[t] * _double(D)
        of_D = of_D + (grad[t] * u[t]).sum(0)
        steps.append((of_u, of_delta, of_B, of_C))
        arrived = of_h * factor
    if not steps:
        return _time_last(u), _time_last(delta), of_A, _time_last(B), _time_last(C), *(() if D is None else (of_D,))
    of_u, of_delta, of_B, of_C = (
        np.moveaxis(np.stack(gradients[::-1]), 0, -1) for gradients in map(list, zip(*steps, strict=True))
    )
    return of_u, of_delta, of_A, of_B, of_C, *(() if D is None else (of_D,))


def _time_last(x):
    """An array that has time first, as it was given."""
    return np.moveaxis(x, 0, -1)
