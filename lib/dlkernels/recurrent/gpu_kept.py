"""LSTM, GRU and RNN on the GPU, forward, where the gradients are asked for: the steps of gpu.py, which keep more.

Of each step the states before it are kept, and what the formulas of backward.py need of its gates: they would cost a
product with U to find again.
"""

import math

from ..device import cuda
from .gpu import THREADS, before_all_steps, f32, launches, sigmoid

KEPT = {"lstm": 6, "gru": 4, "tanh": 1, "relu": 1}  # lines of each step


@cuda.jit
def lstm_keep_kernel(p, u, b_hh, h, c, new, out, before, kept, lengths, t, by_step, by_sequence, hidden, width, column):
    """kept: six lines of a row, i, f, g, o, tanh of the new c, and the old c."""
    job = cuda.grid(1)
    if job < h.size:
        b, unit, rows = job // hidden, job % hidden, 4 * hidden
        row = t * by_step + b * by_sequence
        state, written, gate, h_start, keep = h[job], f32(0), row * rows + unit, b * hidden, 6 * row * hidden + unit
        before[row * hidden + unit] = state
        if t < lengths[b]:
            i, f = p[gate] + b_hh[unit], p[gate + hidden] + b_hh[hidden + unit]
            g, o = p[gate + 2 * hidden] + b_hh[2 * hidden + unit], p[gate + 3 * hidden] + b_hh[3 * hidden + unit]
            for k in range(hidden):
                number, weight = h[h_start + k], k * rows + unit
                i += u[weight] * number
                f += u[weight + hidden] * number
                g += u[weight + 2 * hidden] * number
                o += u[weight + 3 * hidden] * number
            i, f, g, o = sigmoid(i), sigmoid(f), math.tanh(g), sigmoid(o)
            cell = f * c[job] + i * g
            squashed = math.tanh(cell)
            kept[keep], kept[keep + hidden], kept[keep + 2 * hidden] = i, f, g
            kept[keep + 3 * hidden], kept[keep + 4 * hidden], kept[keep + 5 * hidden] = o, squashed, c[job]
            c[job] = cell
            state = o * squashed
            written = state
        new[job] = state
        out[row * width + column + unit] = written


@cuda.jit
def gru_keep_kernel(p, u, b_hh, h, new, out, before, kept, lengths, t, by_step, by_sequence, hidden, width, column):
    """kept: four lines of a row, r, z, n, and U h + d of n."""
    job = cuda.grid(1)
    if job < h.size:
        b, unit, rows = job // hidden, job % hidden, 3 * hidden
        row = t * by_step + b * by_sequence
        state, written, gate, h_start, keep = h[job], f32(0), row * rows + unit, b * hidden, 4 * row * hidden + unit
        before[row * hidden + unit] = state
        if t < lengths[b]:
            r, z, of_n = p[gate] + b_hh[unit], p[gate + hidden] + b_hh[hidden + unit], b_hh[2 * hidden + unit]
            for k in range(hidden):
                number, weight = h[h_start + k], k * rows + unit
                r += u[weight] * number
                z += u[weight + hidden] * number
                of_n += u[weight + 2 * hidden] * number
            r, z = sigmoid(r), sigmoid(z)
            n = math.tanh(p[gate + 2 * hidden] + r * of_n)
            kept[keep], kept[keep + hidden], kept[keep + 2 * hidden], kept[keep + 3 * hidden] = r, z, n, of_n
            state = (f32(1) - z) * n + z * state
            written = state
        new[job] = state
        out[row * width + column + unit] = written


@cuda.jit
def rnn_keep_kernel(
    p, u, b_hh, relu, h, new, out, before, kept, lengths, t, by_step, by_sequence, hidden, width, column
):
    """kept: the new state."""
    job = cuda.grid(1)
    if job < h.size:
        b, unit = job // hidden, job % hidden
        row = t * by_step + b * by_sequence
        state, written = h[job], f32(0)
        before[row * hidden + unit] = state
        if t < lengths[b]:
            total = p[row * hidden + unit] + b_hh[unit]
            for k in range(hidden):
                total += u[k * hidden + unit] * h[b * hidden + k]
            if relu:
                state = f32(0) if total <= 0 else total  # this way round NaN stays NaN
            else:
                state = math.tanh(total)
            kept[row * hidden + unit] = state
            written = state
        new[job] = state
        out[row * width + column + unit] = written


def forward(g, reverse, x, weights, h, c, out, lengths, place):
    """A layer in one direction. Returns of each step the states before it and what is kept, and U."""
    p, u, b_hh = before_all_steps(x, weights)
    before, new = (cuda.device_array(size, f32) for size in (x.shape[0] * g.hidden, h.size))
    kept, blocks = cuda.device_array(KEPT[g.kind] * before.size, f32), -(-h.size // THREADS)
    for t, old, after in launches(g.steps, reverse, h, new):
        ends = after, out, before, kept, lengths, t, *place
        if g.kind == "lstm":
            lstm_keep_kernel[blocks, THREADS](p, u, b_hh, old, c, *ends)
        elif g.kind == "gru":
            gru_keep_kernel[blocks, THREADS](p, u, b_hh, old, *ends)
        else:
            rnn_keep_kernel[blocks, THREADS](p, u, b_hh, g.kind == "relu", old, *ends)
    return before, kept
