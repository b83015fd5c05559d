"""Recurrent networks on the CPU: the ladder of Appleyard, Kocisky and Blunsom (2016).

    *_per_gate          as the formulas are written: for each step and gate a product with x and one with h
    *_gates_batched     the weights of all gates are one matrix: two products for each step
    *_pointwise_fused   all that follows them in one pass, compiled: nothing between goes to memory
    *_inputs_batched    what does not wait for h, the product with x, is done for all steps at once
    *_vectors           a step as one job of the team, in vectors over the batch or over the units (fast.py);
                        a plain network's pass in vectors (fast_rnn.py)

Each rung is one layer in one direction (`layers.on_layers`); PyTorch's semantics stand in reference.py.
"""

import math

import numpy as np

from ..implementations import implementation
from ..matrix.backward import product
from ..simd.cache import cached_njit
from .geometry import GATES
from .layers import in_order, on_layers, there

# ---- 1, 2: products, and NumPy for the rest --------------------------------------------------------------------------


def sigmoid(x):
    with np.errstate(over="ignore"):
        return 1 / (1 + np.exp(-x))


def affine(x, weight, bias):
    y = product(x, weight.T)
    return y if bias is None else y + bias


def rows_of(weight, gate, hidden):
    """The part of a weight or bias that belongs to one gate."""
    return None if weight is None else weight[gate * hidden : (gate + 1) * hidden]


def step(kind, of_x, of_h, h, c):
    """(new h, new c) from lists of gates, W x + b and U h + d."""
    if kind == "lstm":
        i, f, g, o = (a + b for a, b in zip(of_x, of_h, strict=True))
        c = sigmoid(f) * c + sigmoid(i) * np.tanh(g)
        return sigmoid(o) * np.tanh(c), c
    if kind == "gru":
        r, z = sigmoid(of_x[0] + of_h[0]), sigmoid(of_x[1] + of_h[1])
        n = np.tanh(of_x[2] + r * of_h[2])
        return (1 - z) * n + z * h, None
    both = of_x[0] + of_h[0]
    return (np.maximum(both, 0) if kind == "relu" else np.tanh(both)), None


def keep(g, t, h, c, new_h, new_c, out):
    """Make the new states the states, and write the output, where a sequence still goes on."""
    going = there(g, t)
    if going is None:
        h[:], out[t] = new_h, new_h
    else:
        np.copyto(h, new_h, where=going)
        out[t] = np.where(going, new_h, 0)
    if c is not None:
        np.copyto(c, new_c, where=True if going is None else going)


def per_gate(g, reverse, x, h, c, w_ih, w_hh, b_ih, b_hh, out):
    n, ks = g.hidden, range(GATES[g.kind])
    for t in in_order(g.steps, reverse):
        of_x = [affine(x[t], rows_of(w_ih, k, n), rows_of(b_ih, k, n)) for k in ks]
        of_h = [affine(h, rows_of(w_hh, k, n), rows_of(b_hh, k, n)) for k in ks]
        keep(g, t, h, c, *step(g.kind, of_x, of_h, h, c), out)


def gates_batched(g, reverse, x, h, c, w_ih, w_hh, b_ih, b_hh, out):
    for t in in_order(g.steps, reverse):
        of_x, of_h = (
            np.split(part, GATES[g.kind], axis=1) for part in (affine(x[t], w_ih, b_ih), affine(h, w_hh, b_hh))
        )
        keep(g, t, h, c, *step(g.kind, of_x, of_h, h, c), out)


# ---- 3, 4: one pass behind the products ------------------------------------------------------------------------------


@cached_njit(error_model="numpy")
def lstm_pass(of_x, of_h, t, lengths, h, c, out):
    """One step behind the products, for sequences that go on: h, c and out are written."""
    batch, hidden = h.shape
    one = h.dtype.type(1)
    for b in range(batch):
        if t >= lengths[b]:
            continue
        for u in range(hidden):
            i = one / (one + math.exp(-(of_x[b, u] + of_h[b, u])))
            f = one / (one + math.exp(-(of_x[b, hidden + u] + of_h[b, hidden + u])))
            g = math.tanh(of_x[b, 2 * hidden + u] + of_h[b, 2 * hidden + u])
            o = one / (one + math.exp(-(of_x[b, 3 * hidden + u] + of_h[b, 3 * hidden + u])))
            c[b, u] = f * c[b, u] + i * g
            h[b, u] = o * math.tanh(c[b, u])
            out[t, b, u] = h[b, u]


@cached_njit(error_model="numpy")
def gru_pass(of_x, of_h, t, lengths, h, out):
    batch, hidden = h.shape
    one = h.dtype.type(1)
    for b in range(batch):
        if t >= lengths[b]:
            continue
        for u in range(hidden):
            r = one / (one + math.exp(-(of_x[b, u] + of_h[b, u])))
            z = one / (one + math.exp(-(of_x[b, hidden + u] + of_h[b, hidden + u])))
            n = math.tanh(of_x[b, 2 * hidden + u] + r * of_h[b, 2 * hidden + u])
            h[b, u] = (one - z) * n + z * h[b, u]
            out[t, b, u] = h[b, u]


@cached_njit(error_model="numpy")
def rnn_pass(of_x, of_h, t, lengths, relu, h, out):
    batch, hidden = h.shape
    zero = h.dtype.type(0)
    for b in range(batch):
        if t >= lengths[b]:
            continue
        for u in range(hidden):
            both = of_x[b, u] + of_h[b, u]
            if relu:
                h[b, u] = zero if both <= zero else both  # this way round NaN stays NaN
            else:
                h[b, u] = math.tanh(both)
            out[t, b, u] = h[b, u]


def one_pass(g, of_x, of_h, t, lengths, h, c, out):
    if g.kind == "lstm":
        lstm_pass(of_x, of_h, t, lengths, h, c, out)
    elif g.kind == "gru":
        gru_pass(of_x, of_h, t, lengths, h, out)
    else:
        rnn_pass(of_x, of_h, t, lengths, g.kind == "relu", h, out)


def lengths_of(g):
    return np.full(g.batch, g.steps) if g.lengths is None else g.lengths


def pointwise_fused(g, reverse, x, h, c, w_ih, w_hh, b_ih, b_hh, out):
    lengths = lengths_of(g)
    for t in in_order(g.steps, reverse):
        one_pass(g, affine(x[t], w_ih, b_ih), affine(h, w_hh, b_hh), t, lengths, h, c, out)


def of_all_inputs(g, x, w_ih, b_ih):
    """W x + b of all steps: (steps, batch, gates * hidden)."""
    return affine(x.reshape(g.steps * g.batch, x.shape[2]), w_ih, b_ih).reshape(g.steps, g.batch, w_ih.shape[0])


def inputs_batched(g, reverse, x, h, c, w_ih, w_hh, b_ih, b_hh, out):
    lengths, of_x = lengths_of(g), of_all_inputs(g, x, w_ih, b_ih)
    for t in in_order(g.steps, reverse):
        one_pass(g, of_x[t], affine(h, w_hh, b_hh), t, lengths, h, c, out)


# ---- the table -------------------------------------------------------------------------------------------------------


@implementation(
    "lstm", device="cpu", adds="as the formulas are written: for each step and gate a product with x and one with h"
)
@on_layers
def lstm_per_gate(*arguments):
    per_gate(*arguments)


@implementation("lstm", device="cpu", adds="the weights of all four gates are one matrix: two products for each step")
@on_layers
def lstm_gates_batched(*arguments):
    gates_batched(*arguments)


@implementation("lstm", device="cpu", adds="what follows the products in one pass: no gate is written to memory")
@on_layers
def lstm_pointwise_fused(*arguments):
    pointwise_fused(*arguments)


@implementation(
    "lstm",
    device="cpu",
    adds="the product with x does not wait for h: one for all steps; a step has one product left",
    public=True,
)
@on_layers
def lstm_inputs_batched(*arguments):
    inputs_batched(*arguments)


@implementation("gru", device="cpu", adds="as the formulas are written: two products for each step and gate")
@on_layers
def gru_per_gate(*arguments):
    per_gate(*arguments)


@implementation(
    "gru",
    device="cpu",
    adds="one product with x for all steps, one with h for all gates; the rest of a step in one pass",
    public=True,
)
@on_layers
def gru_inputs_batched(*arguments):
    inputs_batched(*arguments)


@implementation("rnn", device="cpu", adds="as the formula is written: two products for each step")
@on_layers
def rnn_per_gate(*arguments):
    per_gate(*arguments)


@implementation(
    "rnn", device="cpu", adds="one product with x for all steps; the rest of a step in one pass", public=True
)
@on_layers
def rnn_inputs_batched(*arguments):
    inputs_batched(*arguments)
