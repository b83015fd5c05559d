"""Gradients of recurrent networks on the CPU: backward through time (Werbos 1990).

Forward, each step keeps its gates and the states before it. Backward, a step waits for the gradient of its new state,
which comes from the step after it; what does not wait, the gradients of weights and of x, is one product for all steps:

    of W    the sum over t of (of the gates at t)^T x_t, that is G^T X with steps and batch as rows
    of U    the same with the states before each step; of x: G W
"""

import numpy as np

from ..implementations import implementation
from ..matrix.backward import product
from .cpu import affine, of_all_inputs, sigmoid
from .geometry import GATES
from .layers import backward_on_layers, in_order, there


def forward(g, reverse, x, h, c, w_ih, w_hh, b_ih, b_hh, out):
    """A layer, and of each step: the state before it, and what the formulas of its backward need."""
    states = np.empty((g.steps, g.batch, g.hidden), x.dtype)
    kept, of_x = [None] * g.steps, of_all_inputs(g, x, w_ih, b_ih)
    for t in in_order(g.steps, reverse):
        states[t], before_c = h, c
        new_h, c, gates = _step(g.kind, of_x[t], affine(h, w_hh, b_hh), h, c)
        kept[t], going = (before_c, gates), there(g, t)
        if going is None:
            out[t] = h = new_h
        else:
            out[t] = np.where(going, new_h, 0)
            h, c = np.where(going, new_h, h), None if c is None else np.where(going, c, before_c)
    return states, kept


def _step(kind, of_x, of_h, h, c):
    """(new h, new c, what is kept)."""
    parts = [np.split(part, GATES[kind], axis=1) for part in (of_x, of_h)]
    if kind == "lstm":
        i, f, g, o = (a + b for a, b in zip(*parts, strict=True))
        i, f, g, o = sigmoid(i), sigmoid(f), np.tanh(g), sigmoid(o)
        c = f * c + i * g
        squashed = np.tanh(c)
        return o * squashed, c, (i, f, g, o, squashed)
    if kind == "gru":
        (r, z, n), (of_r, of_z, of_n) = parts
        r, z = sigmoid(r + of_r), sigmoid(z + of_z)
        n = np.tanh(n + r * of_n)
        return (1 - z) * n + z * h, None, (r, z, n, of_n)
    both = of_x + of_h
    y = np.maximum(both, 0) if kind == "relu" else np.tanh(both)
    return y, None, (y,)


def backward(g, reverse, grad, of_h, of_c, x, kept, w_ih, w_hh):
    """The gradients of x, w_ih, w_hh, b_ih and b_hh; of_h and of_c become those of the first states."""
    states, steps = kept
    width = w_hh.shape[0]
    for_x = np.empty((g.steps, g.batch, width), x.dtype)
    for_h = np.empty_like(for_x) if g.kind == "gru" else for_x  # of U h + d; but for the GRU's n it is the same
    for t in in_order(g.steps, not reverse):
        before_c, gates = steps[t]
        direct, new_c = _step_backward(
            g.kind, of_h + grad[t], of_c, states[t], before_c, gates, for_x[t], for_h[t], g.hidden
        )
        going = there(g, t)
        if going is not None:
            np.copyto(for_x[t], 0, where=~going)
            np.copyto(for_h[t], 0, where=~going)
        new_h = product(for_h[t], w_hh)
        if direct is not None:
            new_h += direct
        np.copyto(of_h, new_h, where=True if going is None else going)
        if of_c is not None:
            np.copyto(of_c, new_c, where=True if going is None else going)
    rows = g.steps * g.batch
    by_x, by_h = for_x.reshape(rows, width), for_h.reshape(rows, width)
    of_x = product(by_x, w_ih).reshape(g.steps, g.batch, x.shape[2])
    of_w_ih = product(by_x.T, x.reshape(rows, x.shape[2]))
    of_w_hh = product(by_h.T, states.reshape(rows, g.hidden))
    sums = [part.sum(axis=0, dtype=np.float64).astype(x.dtype) for part in (by_x, by_h)]
    return of_x, of_w_ih, of_w_hh, *sums


def _step_backward(kind, of_h, of_c, h, c, gates, for_x, for_h, hidden):
    """(gradient of h by ways that do not lead through U, gradient of c); for_x and for_h are written."""
    if kind == "lstm":
        i, f, g, o, squashed = gates
        of_c = of_c + of_h * o * (1 - squashed * squashed)
        parts = of_c * g * i * (1 - i), of_c * c * f * (1 - f), of_c * i * (1 - g * g), of_h * squashed * o * (1 - o)
        np.concatenate(parts, axis=1, out=for_x)
        return None, of_c * f
    if kind == "gru":
        r, z, n, of_n = gates
        slope = of_h * (1 - z) * (1 - n * n)
        of_r_z = slope * of_n * r * (1 - r), of_h * (h - n) * z * (1 - z)
        np.concatenate((*of_r_z, slope), axis=1, out=for_x)
        np.concatenate((*of_r_z, slope * r), axis=1, out=for_h)
        return of_h * z, None
    (y,) = gates
    for_x[:] = of_h * (y > 0) if kind == "relu" else of_h * (1 - y * y)
    return None, None


network_backward = backward_on_layers(forward, backward)
ADDS = "backward through time: a product with U for each step; those for weights and x are one each for all steps"


@implementation("rnn_backward", device="cpu", adds=ADDS, public=True)
def rnn_backward_products(*arguments):
    return network_backward(*arguments)


@implementation("lstm_backward", device="cpu", adds=ADDS, public=True)
def lstm_backward_products(*arguments):
    return network_backward(*arguments)


@implementation("gru_backward", device="cpu", adds=ADDS, public=True)
def gru_backward_products(*arguments):
    return network_backward(*arguments)
