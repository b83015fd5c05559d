"""The gradient of a GRU on a CPU, in float32, as that of an LSTM (fast_backward.py).

In its n, r stands between U h + d and the rest: so the gradients of W x + b and of U h + d differ in that part, and
both are kept.
"""

import numpy as np

from ..implementations import implementation
from ..matrix.backward import product
from ..simd.cache import cached_njit
from ..simd.line import memory
from ..vector.fast import sigmoid, tanh
from .cpu import lengths_of, of_all_inputs
from .fast_backward import FEW, ONE, ZERO, compiled, times, transposed_times
from .layers import backward_on_layers, in_order

f32 = np.float32


# ---- one sequence, one step ------------------------------------------------------------------------------------------


@compiled
def forward_lanes(hidden, of_x, of_h, bias, before, gates, of_n, h):
    """gates, of_n = the part of U h + d for n, and h of one sequence, after W x + b and U h."""
    r, z, n = gates[:hidden], gates[hidden : 2 * hidden], gates[2 * hidden :]
    of_xn, of_hn, bias_n = of_x[2 * hidden :], of_h[2 * hidden :], bias[2 * hidden :]
    for j in range(2 * hidden):
        gates[j] = sigmoid(of_x[j] + (of_h[j] + bias[j]), ZERO)
    for j in range(hidden):
        of_n[j] = of_hn[j] + bias_n[j]
    for j in range(hidden):
        n[j] = tanh(of_xn[j] + r[j] * of_n[j], ZERO)
    for j in range(hidden):
        h[j] = (ONE - z[j]) * n[j] + z[j] * before[j]


@compiled
def backward_lanes(hidden, grad, of_h, gates, of_n, before, for_x, for_h):
    """for_x, for_h: of W x + b and of U h + d. of_h, of the new h, becomes what reaches the old one directly, through
    z."""
    r, z, n = gates[:hidden], gates[hidden : 2 * hidden], gates[2 * hidden :]
    x_r, x_z, x_n = for_x[:hidden], for_x[hidden : 2 * hidden], for_x[2 * hidden :]
    h_n = for_h[2 * hidden :]
    for j in range(hidden):
        of_h[j] += grad[j]
    for j in range(hidden):
        x_n[j] = of_h[j] * (ONE - z[j]) * (ONE - n[j] * n[j])
    for j in range(hidden):
        x_r[j] = x_n[j] * of_n[j] * r[j] * (ONE - r[j])
    for j in range(hidden):
        x_z[j] = of_h[j] * (before[j] - n[j]) * z[j] * (ONE - z[j])
    for j in range(2 * hidden):
        for_h[j] = for_x[j]
    for j in range(hidden):
        h_n[j] = x_n[j] * r[j]
    for j in range(hidden):
        of_h[j] *= z[j]


# ---- all steps -------------------------------------------------------------------------------------------------------


@cached_njit(error_model="numpy")
def forward_steps(few, start, stop, step, lengths, of_x, of_h, w_hh, bias, h, states, gates, of_n, out):
    """Steps start, start + step, ... before stop. few: of_h is made here, else it is there, for one step."""
    batch, hidden = h.shape
    for t in range(start, stop, step):
        for b in range(batch):
            for j in range(hidden):
                states[t, b, j] = h[b, j]
            if t >= lengths[b]:
                continue
            if few:
                times(memory(w_hh), 3 * hidden, hidden, memory(h[b]), of_h[b])
            forward_lanes(hidden, of_x[t, b], of_h[b], bias, states[t, b], gates[t, b], of_n[t, b], h[b])
            for j in range(hidden):
                out[t, b, j] = h[b, j]


@cached_njit(error_model="numpy")
def backward_steps(few, start, stop, step, lengths, grad, w_hh, of_h, line, states, gates, of_n, for_x, for_h):
    batch, hidden = of_h.shape
    for t in range(start, stop, step):
        for b in range(batch):
            if t >= lengths[b]:
                for_x[t, b], for_h[t, b] = ZERO, ZERO
                continue
            backward_lanes(hidden, grad[t, b], of_h[b], gates[t, b], of_n[t, b], states[t, b], for_x[t, b], for_h[t, b])
            if few:
                transposed_times(memory(w_hh), 3 * hidden, hidden, for_h[t, b], memory(line))
                for j in range(hidden):
                    of_h[b, j] += line[j]


def forward_in_vectors(g, reverse, x, h, c, w_ih, w_hh, b_ih, b_hh, out):
    """As `backward.forward`, for a GRU."""
    shape, rows = (g.steps, g.batch, g.hidden), 3 * g.hidden
    states, of_n = np.empty(shape, f32), np.empty(shape, f32)
    gates, of_x = np.empty((*shape[:2], rows), f32), of_all_inputs(g, x, w_ih, b_ih)
    bias, of_h = np.zeros(rows, f32) if b_hh is None else b_hh, np.empty((g.batch, rows), f32)
    rest = lengths_of(g), of_x, of_h, w_hh, bias, h, states, gates, of_n, out
    order = in_order(g.steps, reverse)
    if g.batch < FEW:
        forward_steps(True, order.start, order.stop, order.step, *rest)
    else:
        for t in order:
            of_h[:] = product(h, w_hh.T)
            forward_steps(False, t, t + 1, 1, *rest)
    return states, (gates, of_n)


def backward_in_vectors(g, reverse, grad, of_h, of_c, x, kept, w_ih, w_hh):
    """As `backward.backward`, for a GRU."""
    states, (gates, of_n) = kept
    for_x, for_h, rows = np.empty_like(gates), np.empty_like(gates), g.steps * g.batch
    lengths, line = lengths_of(g), np.empty(g.hidden, f32)
    rest = lengths, np.ascontiguousarray(grad), w_hh, of_h, line, states, gates, of_n, for_x, for_h
    order = in_order(g.steps, not reverse)
    if g.batch < FEW:
        backward_steps(True, order.start, order.stop, order.step, *rest)
    else:
        for t in order:
            backward_steps(False, t, t + 1, 1, *rest)
            np.add(of_h, product(for_h[t], w_hh), out=of_h, where=(t < lengths)[:, None])
    by_x, by_h = for_x.reshape(rows, 3 * g.hidden), for_h.reshape(rows, 3 * g.hidden)
    of_x = product(by_x, w_ih).reshape(g.steps, g.batch, x.shape[2])
    of_w_ih, of_w_hh = product(by_x.T, x.reshape(rows, x.shape[2])), product(by_h.T, states.reshape(rows, g.hidden))
    return of_x, of_w_ih, of_w_hh, *(part.sum(axis=0, dtype=np.float64).astype(f32) for part in (by_x, by_h))


network_backward = backward_on_layers(forward_in_vectors, backward_in_vectors)


@implementation(
    "gru_backward",
    device="cpu",
    adds="what surrounds the products of a step in one compiled pass; for few sequences the whole loop over the steps",
    dtypes=("float32",),
    public=True,
)
def gru_backward_vectors(*arguments):
    return network_backward(*arguments)
