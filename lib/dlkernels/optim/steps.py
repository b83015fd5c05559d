"""The step of one element, for all kernels: those for CPUs call it with numbers and with vectors.

No product is fused with a sum here, in vectors or not: each element has the same bits wherever it lies.
"""

import math

from numba import njit

from ..simd.inner import inner_njit


def _adam(p, g, m, v, kept, decay, rest1, beta2, rest2, root, eps, rate):
    """(parameter, exp_avg, exp_avg_sq) after a step.

    kept: what of the parameter AdamW's decay leaves. decay: Adam's, or 0. rest1: 1 - beta1; rest2: 1 - beta2. root: of
    the second state's bias correction; rate: the learning rate over the first one's.
    """
    if decay != 0:
        g = g + decay * p
    m = m + rest1 * (g - m)
    v = beta2 * v + rest2 * g * g
    return kept * p - rate * m / (math.sqrt(v) / root + eps), m, v


def _sgd(p, g, buffer, kind, nesterov, lr, momentum, rest, decay):
    """(parameter, momentum buffer) after a step. kind: 0 without momentum, 1 in its first step, 2 in all others."""
    if decay != 0:
        g = g + decay * p
    if kind > 0:
        buffer = momentum * buffer + rest * g if kind > 1 else g
        g = g + momentum * buffer if nesterov else buffer
    return p - lr * g, buffer


adam_step, sgd_step = (inner_njit(error_model="numpy")(step) for step in (_adam, _sgd))
adam_step_gpu, sgd_step_gpu = (njit(error_model="numpy")(step) for step in (_adam, _sgd))
