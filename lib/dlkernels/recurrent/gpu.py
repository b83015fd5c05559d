"""LSTM, GRU and RNN on the GPU, in float32. Each step is a launch, as it needs the states of all units before it.

The ladder of lstm                what the rung adds
    lstm_kernel_per_gate      four kernels for the gates of a step, one for what follows: gates go through global memory
    lstm_fused_cell           one thread for each unit and sequence: its four gates, and its states, stay in registers
    lstm_fused_inputs         W x of all steps is one product before; U is transposed, so that neighbouring threads,
                              which have neighbouring units, read neighbouring weights

A step reads all of U again: at batch 1 that is all it does.
"""

import functools
import math

import numpy as np

from ..device import cuda
from ..implementations import implementation
from ..layouts import transposed
from ..matrix.gpu_layers import linear_transposed

f32 = np.float32
THREADS = 128
LINE, LENGTHS = "float32[::1]", "int64[::1]"


def on_layers(layer):
    """Let `layer`, one direction of one layer, take a whole network.

    layer(g, reverse, x, weights, h, c, new, out, lengths, place): x, (rows, features), has a row for each step and
    sequence; h: (batch * hidden,), the states before; c the same, changed in place, or None; new: where the last h
    goes; out: a line of rows as those of x. place: what kernels need to find a row and its columns in it (PLACE).
    """

    @functools.wraps(layer)
    def wrapper(g, *arrays):
        *states, x = (*arrays[: len(g.given)], arrays[-1])
        flat = arrays[len(g.given) : -1]
        count, size = g.layers * g.directions, g.batch * g.hidden
        first = [cuda.to_device(np.zeros((count, size), f32)) if s is None else s.reshape(count, size) for s in states]
        last = [cuda.device_array((count, size), f32) for _ in states]
        shape, width = g.output_shape(), g.directions * g.hidden
        out = cuda.device_array(shape, f32)
        if g.batch:
            lengths = cuda.to_device(np.full(g.batch, g.steps) if g.lengths is None else g.lengths)
            by_step, by_sequence = (1, g.steps) if g.axis == 0 else (g.batch, 1)
            for k in range(count):
                if k % g.directions == 0:
                    read, features = x if k == 0 else out, g.features if k == 0 else width
                    out = cuda.device_array(shape, f32)
                c = None
                if len(states) > 1:
                    c = last[1][k]
                    copy_kernel[-(-size // THREADS), THREADS](first[1][k], c)
                place = by_step, by_sequence, g.hidden, width, k % g.directions * g.hidden
                rows = read.reshape(read.size // features, features)
                states_of = first[0][k], c, last[0][k]
                layer(
                    g,
                    k % g.directions == 1,
                    rows,
                    flat[4 * k : 4 * k + 4],
                    *states_of,
                    out.reshape(out.size),
                    lengths,
                    place,
                )
        return out, *(state.reshape(g.states_shape()) for state in last)

    return wrapper


def launches(steps, reverse, h, new):
    """(step, states before it, where those after it go) of each step: two lines in turn, and `new` in the end."""
    rooms = [cuda.device_array(h.size, f32) for _ in range(min(2, steps - 1))]
    for number in range(steps):
        target = new if number == steps - 1 else rooms[number % 2]
        yield steps - 1 - number if reverse else number, h, target
        h = target


def zeros(size):
    return cuda.to_device(np.zeros(size, f32))


@cuda.jit
def copy_kernel(source, target):
    i = cuda.grid(1)
    if i < source.size:
        target[i] = source[i]


@cuda.jit(device=True)
def dot(a, a_start, step, b, b_start, n):
    """The sum of a[a_start + k * step] * b[b_start + k]."""
    total = f32(0)
    for k in range(n):
        total += a[a_start + k * step] * b[b_start + k]
    return total


@cuda.jit(device=True)
def sigmoid(x):
    return f32(1) / (f32(1) + math.exp(-x))


PLACE = "int64, int64, int64, int64, int64"  # by_step, by_sequence, hidden, width, column


# ---- a kernel for each gate ------------------------------------------------------------------------------------------


@cuda.jit
def gate_kernel(
    x, w, b_ih, u, b_hh, h, gate, gates, t,
    by_step, by_sequence, hidden, width, column,
):  # fmt: skip
    """W x + b + U h + d of one gate: a thread for each unit and sequence."""
    job = cuda.grid(1)
    if job < h.size:
        b, unit = job // hidden, gate * hidden + job % hidden
        features = w.size // b_ih.size
        row = t * by_step + b * by_sequence
        of_x = dot(w, unit * features, 1, x, row * features, features) + b_ih[unit]
        of_h = dot(u, unit * hidden, 1, h, b * hidden, hidden)
        gates[gate * h.size + job] = of_x + of_h + b_hh[unit]


@cuda.jit
def lstm_states_kernel(gates, h, c, new, out, lengths, t, by_step, by_sequence, hidden, width, column):
    job = cuda.grid(1)
    if job < h.size:
        b, unit, size = job // hidden, job % hidden, h.size
        element = (t * by_step + b * by_sequence) * width + column + unit
        state, written = h[job], f32(0)
        if t < lengths[b]:
            cell = sigmoid(gates[size + job]) * c[job] + sigmoid(gates[job]) * math.tanh(gates[2 * size + job])
            c[job] = cell
            state = sigmoid(gates[3 * size + job]) * math.tanh(cell)
            written = state
        new[job] = state
        out[element] = written


@implementation(
    "lstm",
    "gpu",
    adds="a kernel for each gate of a step, and one for what follows: gates go through global memory",
    dtypes=("float32",),
    kernels=[
        (gate_kernel, [f"void({', '.join([LINE] * 6)}, int64, {LINE}, int64, {PLACE})"]),
        (lstm_states_kernel, [f"void({', '.join([LINE] * 5)}, {LENGTHS}, int64, {PLACE})"]),
        (copy_kernel, [f"void({LINE}, {LINE})"]),
    ],
)
@on_layers
def lstm_kernel_per_gate(g, reverse, x, weights, h, c, new, out, lengths, place):
    w, u, b_ih, b_hh = flat_weights(weights)
    blocks, gates = -(-h.size // THREADS), cuda.device_array(4 * h.size, f32)
    for t, before, after in launches(g.steps, reverse, h, new):
        for gate in range(4):
            gate_kernel[blocks, THREADS](x.reshape(x.size), w, b_ih, u, b_hh, before, gate, gates, t, *place)
        lstm_states_kernel[blocks, THREADS](gates, before, c, after, out, lengths, t, *place)


def flat_weights(weights):
    """(W, U, b, d) as lines; zeros for biases that are not there."""
    w, u, b_ih, b_hh = weights
    rows = u.shape[0]
    return w.reshape(w.size), u.reshape(u.size), *(zeros(rows) if b is None else b for b in (b_ih, b_hh))


# ---- all gates of a unit in one thread -------------------------------------------------------------------------------


@cuda.jit
def lstm_cell_kernel(x, w, b_ih, u, b_hh, h, c, new, out, lengths, t, by_step, by_sequence, hidden, width, column):
    job = cuda.grid(1)
    if job < h.size:
        b, unit = job // hidden, job % hidden
        row, features = t * by_step + b * by_sequence, w.size // b_ih.size
        state, written, x_start, h_start = h[job], f32(0), row * features, b * hidden
        if t < lengths[b]:
            i, f, g, o = b_ih[unit], b_ih[hidden + unit], b_ih[2 * hidden + unit], b_ih[3 * hidden + unit]
            for k in range(features):
                number = x[x_start + k]
                i += w[unit * features + k] * number
                f += w[(hidden + unit) * features + k] * number
                g += w[(2 * hidden + unit) * features + k] * number
                o += w[(3 * hidden + unit) * features + k] * number
            i += b_hh[unit]
            f += b_hh[hidden + unit]
            g += b_hh[2 * hidden + unit]
            o += b_hh[3 * hidden + unit]
            for k in range(hidden):
                number = h[h_start + k]
                i += u[unit * hidden + k] * number
                f += u[(hidden + unit) * hidden + k] * number
                g += u[(2 * hidden + unit) * hidden + k] * number
                o += u[(3 * hidden + unit) * hidden + k] * number
            cell = sigmoid(f) * c[job] + sigmoid(i) * math.tanh(g)
            c[job] = cell
            state = sigmoid(o) * math.tanh(cell)
            written = state
        new[job] = state
        out[row * width + column + unit] = written


@implementation(
    "lstm",
    "gpu",
    adds="one thread for each unit and sequence: four gates at once, x and h are read once, no gate is written",
    dtypes=("float32",),
    kernels=[(lstm_cell_kernel, [f"void({', '.join([LINE] * 9)}, {LENGTHS}, int64, {PLACE})"])],
)
@on_layers
def lstm_fused_cell(g, reverse, x, weights, h, c, new, out, lengths, place):
    w, u, b_ih, b_hh = flat_weights(weights)
    for t, before, after in launches(g.steps, reverse, h, new):
        lstm_cell_kernel[-(-h.size // THREADS), THREADS](
            x.reshape(x.size), w, b_ih, u, b_hh, before, c, after, out, lengths, t, *place
        )


# ---- W x before ------------------------------------------------------------------------------------------------------


@cuda.jit
def lstm_step_kernel(p, u, b_hh, h, c, new, out, lengths, t, by_step, by_sequence, hidden, width, column):
    """p: W x + b of all steps; u: U transposed, so that the threads of a warp read neighbours."""
    job = cuda.grid(1)
    if job < h.size:
        b, unit, rows = job // hidden, job % hidden, 4 * hidden
        row = t * by_step + b * by_sequence
        state, written, gate, h_start = h[job], f32(0), row * rows + unit, b * hidden
        if t < lengths[b]:
            i, f = p[gate] + b_hh[unit], p[gate + hidden] + b_hh[hidden + unit]
            g, o = p[gate + 2 * hidden] + b_hh[2 * hidden + unit], p[gate + 3 * hidden] + b_hh[3 * hidden + unit]
            for k in range(hidden):
                number, weight = h[h_start + k], k * rows + unit
                i += u[weight] * number
                f += u[weight + hidden] * number
                g += u[weight + 2 * hidden] * number
                o += u[weight + 3 * hidden] * number
            cell = sigmoid(f) * c[job] + sigmoid(i) * math.tanh(g)
            c[job] = cell
            state = sigmoid(o) * math.tanh(cell)
            written = state
        new[job] = state
        out[row * width + column + unit] = written


def before_all_steps(x, weights):
    """(W x + b of all steps, U transposed, d) as lines."""
    w, u, b_ih, b_hh = weights
    p = linear_transposed(x, w, b_ih, None, cuda.device_array((x.shape[0], w.shape[0]), f32))
    turned = transposed(u)
    return p.reshape(p.size), turned.reshape(turned.size), zeros(u.shape[0]) if b_hh is None else b_hh


STEP = f"void({LINE}, {LINE}, {LINE}, {LINE}, {LINE}, {LINE}, {LINE}, {LENGTHS}, int64, {PLACE})"


@implementation(
    "lstm",
    "gpu",
    adds="W x of all steps in one product before; U is transposed: the threads of a warp read neighbouring weights",
    dtypes=("float32",),
    kernels=[(lstm_step_kernel, [STEP])],
    public=True,
)
@on_layers
def lstm_fused_inputs(g, reverse, x, weights, h, c, new, out, lengths, place):
    p, u, b_hh = before_all_steps(x, weights)
    for t, before, after in launches(g.steps, reverse, h, new):
        lstm_step_kernel[-(-h.size // THREADS), THREADS](p, u, b_hh, before, c, after, out, lengths, t, *place)


@cuda.jit
def gru_step_kernel(p, u, b_hh, h, new, out, lengths, t, by_step, by_sequence, hidden, width, column):
    job = cuda.grid(1)
    if job < h.size:
        b, unit, rows = job // hidden, job % hidden, 3 * hidden
        row = t * by_step + b * by_sequence
        state, written, gate, h_start = h[job], f32(0), row * rows + unit, b * hidden
        if t < lengths[b]:
            r, z, n = p[gate] + b_hh[unit], p[gate + hidden] + b_hh[hidden + unit], b_hh[2 * hidden + unit]
            for k in range(hidden):
                number, weight = h[h_start + k], k * rows + unit
                r += u[weight] * number
                z += u[weight + hidden] * number
                n += u[weight + 2 * hidden] * number
            z = sigmoid(z)
            n = math.tanh(p[gate + 2 * hidden] + sigmoid(r) * n)
            state = (f32(1) - z) * n + z * state
            written = state
        new[job] = state
        out[row * width + column + unit] = written


@implementation(
    "gru",
    "gpu",
    adds="one thread for each unit and sequence; W x of all steps in one product before; U transposed",
    dtypes=("float32",),
    kernels=[(gru_step_kernel, [f"void({LINE}, {LINE}, {LINE}, {LINE}, {LINE}, {LINE}, {LENGTHS}, int64, {PLACE})"])],
    public=True,
)
@on_layers
def gru_fused_inputs(g, reverse, x, weights, h, c, new, out, lengths, place):
    p, u, b_hh = before_all_steps(x, weights)
    for t, before, after in launches(g.steps, reverse, h, new):
        gru_step_kernel[-(-h.size // THREADS), THREADS](p, u, b_hh, before, after, out, lengths, t, *place)


@cuda.jit
def rnn_step_kernel(p, u, b_hh, relu, h, new, out, lengths, t, by_step, by_sequence, hidden, width, column):
    job = cuda.grid(1)
    if job < h.size:
        b, unit = job // hidden, job % hidden
        row = t * by_step + b * by_sequence
        state, written = h[job], f32(0)
        if t < lengths[b]:
            total = p[row * hidden + unit] + b_hh[unit] + dot(u, unit, hidden, h, b * hidden, hidden)
            if relu:
                state = f32(0) if total <= 0 else total  # this way round NaN stays NaN
            else:
                state = math.tanh(total)
            written = state
        new[job] = state
        out[row * width + column + unit] = written


@implementation(
    "rnn",
    "gpu",
    adds="one thread for each unit and sequence; W x of all steps in one product before; U transposed",
    dtypes=("float32",),
    kernels=[
        (rnn_step_kernel, [f"void({LINE}, {LINE}, {LINE}, boolean, {LINE}, {LINE}, {LINE}, {LENGTHS}, int64, {PLACE})"])
    ],
    public=True,
)
@on_layers
def rnn_fused_inputs(g, reverse, x, weights, h, c, new, out, lengths, place):
    p, u, b_hh = before_all_steps(x, weights)
    relu = g.kind == "relu"
    for t, before, after in launches(g.steps, reverse, h, new):
        rnn_step_kernel[-(-h.size // THREADS), THREADS](p, u, b_hh, relu, before, after, out, lengths, t, *place)
