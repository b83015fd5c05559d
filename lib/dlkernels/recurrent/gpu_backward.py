"""Gradients of LSTM, GRU and RNN on the GPU, in float32: backward through time (Werbos 1990).

Forward, each step keeps what its formulas need (gpu_kept.py). Backward, a step waits for the gradient of its new state:

    of_h    what came from outside and by ways past U, plus the sum over gates of what they got, times U

One launch for each step does that sum and then its own gates: thread (sequence, unit) writes gradients of its gates,
which the threads of the next launch read. Rows of U are read along units, so neighbouring threads read neighbours, and
U needs no transposed copy here. What does not wait is one product each for all steps: the gradients of W, U and x
(backward.py).
"""

import functools

import numpy as np

from .. import vector
from ..device import cuda
from ..implementations import implementation
from ..layouts import transposed
from ..matrix.gpu_layers import TRANSPOSE, product, sum_over
from .geometry import GATES
from .gpu import LENGTHS, LINE, PLACE, THREADS, copy_kernel, f32
from .gpu_kept import forward, gru_keep_kernel, lstm_keep_kernel, rnn_keep_kernel


@cuda.jit
def ended_kernel(x, out, lengths, features, by_step, by_sequence, steps):
    """x, with zeros behind the end of each sequence, whatever stands there."""
    e = cuda.grid(1)
    if e < x.size:
        row = e // features
        b = row // steps if by_step == 1 else row % by_step
        t = row % steps if by_step == 1 else row // by_step
        out[e] = x[e] if t < lengths[b] else f32(0)


# ---- backward --------------------------------------------------------------------------------------------------------


@cuda.jit(device=True)
def through(for_h, u, job, t, by_step, by_sequence, hidden, rows):
    """The gradient that a state gets from the gates of step t, of `rows` numbers; 0 where there is no such step."""
    total = f32(0)
    if t >= 0:
        row_start = (t * by_step + job // hidden * by_sequence) * rows
        for k in range(rows):
            total += for_h[row_start + k] * u[k * hidden + job % hidden]
    return total


@cuda.jit
def first_states_kernel(for_h, u, of_h, rows, t, by_step, by_sequence, hidden, width, column):
    """Of the states before the first step, which is t."""
    job = cuda.grid(1)
    if job < of_h.size:
        of_h[job] += through(for_h, u, job, t, by_step, by_sequence, hidden, rows)


@cuda.jit
def lstm_back_kernel(u, kept, grad, of_h, of_c, for_x, lengths, t, later, by_step, by_sequence, hidden, width, column):
    """Of step t, after step `later`, which is -1 at first: the gradients of its gates; of_h: what goes past U."""
    job = cuda.grid(1)
    if job < of_h.size:
        b, unit, rows = job // hidden, job % hidden, 4 * hidden
        row = t * by_step + b * by_sequence
        gate, keep = row * rows + unit, 6 * row * hidden + unit
        arrived = of_h[job] + through(for_x, u, job, later, by_step, by_sequence, hidden, rows)
        of_i, of_f, of_g, of_o = f32(0), f32(0), f32(0), f32(0)
        if t < lengths[b]:
            i, f, g = kept[keep], kept[keep + hidden], kept[keep + 2 * hidden]
            o, squashed, before_c = kept[keep + 3 * hidden], kept[keep + 4 * hidden], kept[keep + 5 * hidden]
            arrived += grad[row * width + column + unit]
            slope = of_c[job] + arrived * o * (f32(1) - squashed * squashed)
            of_i, of_f = slope * g * i * (f32(1) - i), slope * before_c * f * (f32(1) - f)
            of_g, of_o = slope * i * (f32(1) - g * g), arrived * squashed * o * (f32(1) - o)
            of_c[job] = slope * f
            arrived = f32(0)
        for_x[gate], for_x[gate + hidden], for_x[gate + 2 * hidden], for_x[gate + 3 * hidden] = of_i, of_f, of_g, of_o
        of_h[job] = arrived


@cuda.jit
def gru_back_kernel(
    u, kept, before, grad, of_h, for_x, for_h, lengths, t, later, by_step, by_sequence, hidden, width, column
):
    """for_h: of U h + d, which but for n is what W x + b gets."""
    job = cuda.grid(1)
    if job < of_h.size:
        b, unit, rows = job // hidden, job % hidden, 3 * hidden
        row = t * by_step + b * by_sequence
        gate, keep = row * rows + unit, 4 * row * hidden + unit
        arrived = of_h[job] + through(for_h, u, job, later, by_step, by_sequence, hidden, rows)
        of_r, of_z, slope, r = f32(0), f32(0), f32(0), f32(0)
        if t < lengths[b]:
            r, z, n, of_n = kept[keep], kept[keep + hidden], kept[keep + 2 * hidden], kept[keep + 3 * hidden]
            arrived += grad[row * width + column + unit]
            slope = arrived * (f32(1) - z) * (f32(1) - n * n)
            of_r = slope * of_n * r * (f32(1) - r)
            of_z = arrived * (before[row * hidden + unit] - n) * z * (f32(1) - z)
            arrived *= z
        for_x[gate], for_x[gate + hidden], for_x[gate + 2 * hidden] = of_r, of_z, slope
        for_h[gate], for_h[gate + hidden], for_h[gate + 2 * hidden] = of_r, of_z, slope * r
        of_h[job] = arrived


@cuda.jit
def rnn_back_kernel(u, relu, kept, grad, of_h, for_x, lengths, t, later, by_step, by_sequence, hidden, width, column):
    job = cuda.grid(1)
    if job < of_h.size:
        b, unit = job // hidden, job % hidden
        row = t * by_step + b * by_sequence
        arrived = of_h[job] + through(for_x, u, job, later, by_step, by_sequence, hidden, hidden)
        slope = f32(0)
        if t < lengths[b]:
            y = kept[row * hidden + unit]
            arrived += grad[row * width + column + unit]
            slope = arrived * (f32(1) - y * y)
            if relu:
                slope = arrived if y > 0 else f32(0)
            arrived = f32(0)
        for_x[row * hidden + unit] = slope
        of_h[job] = arrived


# ---- a network -------------------------------------------------------------------------------------------------------


def line(x):
    return x.reshape(x.size)


def copied(x, shape):
    """A copy of x that may be changed; zeros if there is none."""
    if x is None:
        return cuda.to_device(np.zeros(shape, f32))
    out = cuda.device_array(shape, f32)
    if x.size:
        copy_kernel[-(-x.size // THREADS), THREADS](line(x), line(out))
    return out


def backward(g, reverse, grad, of_h, of_c, x, known, weights, lengths, place):
    """The gradients of x, W, U, b and d; of_h and of_c become those of the first states."""
    (before, kept), (w, u, *_), rows = known, weights, GATES[g.kind] * g.hidden
    for_x = cuda.device_array((x.shape[0], rows), f32)
    for_h = cuda.device_array((x.shape[0], rows), f32) if g.kind == "gru" else for_x
    blocks, later = -(-of_h.size // THREADS), -1
    for t in range(g.steps) if reverse else range(g.steps - 1, -1, -1):
        ends = lengths, t, later, *place
        if g.kind == "lstm":
            lstm_back_kernel[blocks, THREADS](line(u), kept, grad, of_h, of_c, line(for_x), *ends)
        elif g.kind == "gru":
            gru_back_kernel[blocks, THREADS](line(u), kept, before, grad, of_h, line(for_x), line(for_h), *ends)
        else:
            relu = g.kind == "relu"
            rnn_back_kernel[blocks, THREADS](line(u), relu, kept, grad, of_h, line(for_x), *ends)
        later = t
    first_states_kernel[blocks, THREADS](line(for_h), line(u), of_h, rows, later, *place)
    of_w, of_u = product(transposed(for_x), x), product(transposed(for_h), before.reshape(x.shape[0], g.hidden))
    sums = [sum_over(part, 0).reshape(rows) for part in (for_x, for_h)]
    return product(for_x, w), of_w, of_u, *sums


def network_gradients(g, *arrays):
    """A network's gradients, as `layers.backward_on_layers` has them on the CPU."""
    n_states, total = len(g.given), g.layers * g.directions
    (of_out, *of_last), states, x = arrays[: n_states + 1], arrays[n_states + 1 : 2 * n_states + 1], arrays[-1]
    weights = [arrays[2 * n_states + 1 :][4 * k : 4 * k + 4] for k in range(total)]
    shape, width = (total, g.batch * g.hidden), g.directions * g.hidden
    lengths = cuda.to_device(np.full(g.batch, g.steps) if g.lengths is None else g.lengths)
    by_step, by_sequence = (1, g.steps) if g.axis == 0 else (g.batch, 1)
    places = [(by_step, by_sequence, g.hidden, width, k % g.directions * g.hidden) for k in range(total)]
    begins, ends = [copied(s, shape) for s in states], [copied(s, shape) for s in of_last]
    read = x.reshape(g.steps * g.batch, g.features)
    if g.lengths is not None and x.size:
        read, known = cuda.device_array(read.shape, f32), (lengths, g.features, by_step, by_sequence, g.steps)
        ended_kernel[-(-x.size // THREADS), THREADS](line(x), line(read), *known)
    reads, kept = [read], []
    for k in range(total) if g.batch else ():
        if k % g.directions == 0:
            reads.append(cuda.device_array((g.steps * g.batch, width), f32))
        c = begins[1][k] if len(begins) > 1 else None
        kept.append(
            forward(
                g, k % g.directions == 1, reads[-2], weights[k], begins[0][k], c, line(reads[-1]), lengths, places[k]
            )
        )
    arrived, of_weights = copied(of_out, (g.steps * g.batch, width)), [None] * total
    for first in range(total - g.directions, -1, -g.directions):
        below = []
        for k in range(first, first + g.directions):
            if g.batch:
                of_c = ends[1][k] if len(ends) > 1 else None
                known = reads[first // g.directions], kept[k], weights[k], lengths, places[k]
                of_x, *of_weights[k] = backward(g, k > first, line(arrived), ends[0][k], of_c, *known)
                below.append(of_x)
            else:
                of_weights[k] = [
                    None if w is None else cuda.to_device(np.zeros(tuple(w.shape), f32)) for w in weights[k]
                ]
        arrived = functools.reduce(vector.add, below) if below else read
    firsts = [state.reshape(g.states_shape()) for state, wanted in zip(ends, g.given, strict=True) if wanted]
    kinds = list(zip(*of_weights, strict=True))[: 4 if g.biased else 2]
    return arrived.reshape(tuple(x.shape)), *firsts, *(tuple(each) if g.many else each[0] for each in kinds)


ADDS = (
    "backward through time: a launch for each step; the gradients of weights and of x are one product each for all "
    "steps"
)
STATES = (first_states_kernel, [f"void({LINE}, {LINE}, {LINE}, int64, int64, {PLACE})"])
OTHERS = [STATES, (ended_kernel, [f"void({LINE}, {LINE}, {LENGTHS}, int64, int64, int64, int64)"]), TRANSPOSE]


def lines(count):
    return ", ".join([LINE] * count)


def kernels(keep, before_states, back, before_gates):
    """Those of a kind, with signatures: what they are given before the lengths."""
    return [
        (keep, [f"void({before_states}, {LENGTHS}, int64, {PLACE})"]),
        (back, [f"void({before_gates}, {LENGTHS}, int64, int64, {PLACE})"]),
        *OTHERS,
    ]


@implementation(
    "lstm_backward",
    device="gpu",
    adds=ADDS,
    dtypes=("float32",),
    kernels=kernels(lstm_keep_kernel, lines(9), lstm_back_kernel, lines(6)),
    public=True,
)
def lstm_backward_launches(*arguments):
    return network_gradients(*arguments)


@implementation(
    "gru_backward",
    device="gpu",
    adds=ADDS,
    dtypes=("float32",),
    kernels=kernels(gru_keep_kernel, lines(8), gru_back_kernel, lines(7)),
    public=True,
)
def gru_backward_launches(*arguments):
    return network_gradients(*arguments)


@implementation(
    "rnn_backward",
    device="gpu",
    adds=ADDS,
    dtypes=("float32",),
    kernels=kernels(
        rnn_keep_kernel, f"{lines(3)}, boolean, {lines(5)}", rnn_back_kernel, f"{LINE}, boolean, {lines(4)}"
    ),
    public=True,
)
def rnn_backward_launches(*arguments):
    return network_gradients(*arguments)
