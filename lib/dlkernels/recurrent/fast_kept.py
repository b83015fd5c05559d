"""An LSTM on a CPU that keeps its gates, and its gradient from them, in float32: a step is one job of the team.

Lanes of a vector are units, as they lie in memory, so nothing is turned over. A task has UNITS units, and of these all
gates of all sequences: it needs nothing of a step but what the step before has left. Of ROWS sequences at a time::

    forward     of_h[sequence, gate] = the sum over k of h[sequence, k] * U[gate, k]; then gates, c and h
    backward    of_h[sequence, unit] = the sum over gates of of_gates[sequence, gate] * U[gate, unit]; then of_gates

The tile's product goes to a line of the thread's own, and is used there at once. What waits for no step, the gradients
of W, U and x, is one product each for all steps.
"""

import numpy as np

from .. import team
from ..host import aligned_zeros, plain, workspace
from ..implementations import implementation
from ..matrix.backward import product
from ..matrix.choose import multiply_contiguous
from ..simd import vector_registers, vector_width
from ..simd.cache import cached_njit
from ..simd.inner import inner_njit
from ..simd.line import memory
from ..simd.pack import pack
from ..simd.tile import tile_multiply_add, tile_store, tile_zeros
from ..team import share
from ..vector.fast import sigmoid, tanh
from . import backward as products
from .cpu import lengths_of
from .fast import threads_for
from .fast_backward import FEW, backward_in_vectors, forward_in_vectors
from .layers import backward_from, backward_on_layers, in_order, keeping

f32 = np.float32
# Sequences at a time: TALL, where there are so many. A panel then comes from the L2 cache half as often.
ROWS, TALL, VECTORS = FEW, max(FEW, 8 if vector_registers() == 32 else 4), 2
UNITS = VECTORS * vector_width(np.float32)
ZERO, ONE = f32(0), f32(1)
WIDE = 4 * UNITS  # numbers of a sequence in a thread's line
PANEL, GATES = 0, 1  # whether the rows of a panel are rows of U, or columns


@cached_njit(error_model="numpy")
def _panels(w_hh, how, result):
    """U as tasks read it: for each task, and forward each gate, a panel whose rows are as long as a tile is wide."""
    rows, hidden = w_hh.shape
    source, target = memory(w_hh), memory(result)
    for task in range(-(-hidden // UNITS)):
        first = task * UNITS
        units = min(UNITS, hidden - first)
        if how == PANEL:
            at = task * rows * UNITS
            for r in range(rows):
                for j in range(units):
                    target[at + r * UNITS + j] = source[r * hidden + first + j]
        else:
            for k in range(4):
                at = (task * 4 + k) * hidden * UNITS
                pack(source, (k * hidden + first) * hidden, 1, hidden, hidden, units, target, at, UNITS)


def panels(w_hh, how):
    hidden = w_hh.shape[1]
    result = aligned_zeros((-(-hidden // UNITS) * 4 * hidden * UNITS,), f32)
    _panels(plain(w_hh), how, result)
    return result


# ---- forward ---------------------------------------------------------------------------------------------------------


@inner_njit(error_model="numpy", fastmath={"contract"})
def _gates(first, units, hidden, bias, of_h, row, c, h):
    """Some units of a sequence: their gates, in the place of W x, c, which becomes the new one, and h."""
    i, f = row[first : first + units], row[hidden + first : hidden + first + units]
    g, o = row[2 * hidden + first :][:units], row[3 * hidden + first :][:units]
    b_i, b_f = bias[first : first + units], bias[hidden + first : hidden + first + units]
    b_g, b_o = bias[2 * hidden + first :][:units], bias[3 * hidden + first :][:units]
    for j in range(units):
        i[j] = sigmoid(i[j] + b_i[j] + of_h[j], ZERO)
    for j in range(units):
        f[j] = sigmoid(f[j] + b_f[j] + of_h[UNITS + j], ZERO)
    for j in range(units):
        g[j] = tanh(g[j] + b_g[j] + of_h[2 * UNITS + j], ZERO)
    for j in range(units):
        o[j] = sigmoid(o[j] + b_o[j] + of_h[3 * UNITS + j], ZERO)
    for j in range(units):
        c[j] = f[j] * c[j] + i[j] * g[j]
    for j in range(units):
        h[j] = o[j] * tanh(c[j], ZERO)


@inner_njit(error_model="numpy")
def _forward_units(arguments, task, who):
    """A step of UNITS units. h: before and after it; c becomes the new one."""
    weights, bias, lengths, h, now, c, line, t, gates, cells, out = arguments
    batch, hidden = c.shape
    first = task * UNITS
    units = min(UNITS, hidden - first)
    last = first + units
    own, before, after = line[who * TALL * WIDE : (who + 1) * TALL * WIDE], h[now], h[1 - now]
    rows, states, panel = TALL if batch >= TALL else ROWS, memory(before), memory(weights)
    for top in range(0, batch, rows):
        begin = min(top, batch - rows)
        for k in range(4):
            at = (task * 4 + k) * hidden * UNITS
            if rows == TALL:
                tall = tile_zeros(memory(own), TALL, VECTORS)
                tall = tile_multiply_add(tall, hidden, states, begin * hidden, (hidden, 1), panel, at, UNITS)
                tile_store(memory(own), k * UNITS, WIDE, tall)
            else:
                acc = tile_zeros(memory(own), ROWS, VECTORS)
                acc = tile_multiply_add(acc, hidden, states, begin * hidden, (hidden, 1), panel, at, UNITS)
                tile_store(memory(own), k * UNITS, WIDE, acc)
        for b in range(top, min(top + rows, batch)):
            cells[t, b, first:last] = c[b, first:last]
            if t < lengths[b]:
                of_h = own[(b - begin) * WIDE : (b - begin + 1) * WIDE]
                _gates(first, units, hidden, bias, of_h, gates[t, b], c[b, first:last], after[b, first:last])
                out[t, b, first:last] = after[b, first:last]
            else:
                after[b, first:last] = before[b, first:last]
                for k in range(4):
                    gates[t, b, k * hidden + first : k * hidden + last] = ZERO


@cached_njit(error_model="numpy")
def _forward(weights, bias, lengths, h, c, line, begin, end, step, gates, cells, out, threads, least, team):
    """All steps; returns which of the two h is the last."""
    now, tasks = 0, -(-c.shape[1] // UNITS)
    for t in range(begin, end, step):
        arguments = weights, bias, lengths, h, now, c, line, t, gates, cells, out
        share(_forward_units, arguments, tasks, threads, least, team)
        now = 1 - now
    return now


def forward(g, reverse, x, h, c, w_ih, w_hh, b_ih, b_hh, out, gates, cells):
    """One direction of one layer; see `layers.keeping`."""
    if g.batch < FEW:
        _, (cells[:], gates[:], _) = forward_in_vectors(g, reverse, x, h, c, w_ih, w_hh, b_ih, b_hh, out)
        if g.lengths is not None:
            gates[np.arange(g.steps)[:, None] >= g.lengths] = ZERO
        return
    multiply_contiguous(x.reshape(-1, x.shape[2]), w_ih.T, gates.reshape(-1, 4 * g.hidden))
    bias = np.zeros(4 * g.hidden, f32) if b_ih is None else b_ih + b_hh
    states, threads, steps = np.stack((h, h)), threads_for(g.hidden, g.batch, 4), in_order(g.steps, reverse)
    line = workspace(np.dtype(f32), threads * TALL * WIDE)
    now = _forward(
        panels(w_hh, GATES), bias, lengths_of(g), states, c, line, steps.start, steps.stop, steps.step, gates, cells,
        out, threads, least(g), team.members(),
    )  # fmt: skip
    h[:] = states[now]


def least(g):
    """Nanoseconds that one thread needs at least for the product of a step."""
    return g.hidden * g.hidden * g.batch // 25


# ---- backward --------------------------------------------------------------------------------------------------------


@inner_njit(error_model="numpy", fastmath={"contract"})
def _of_gates(first, units, hidden, grad, through, of_h, of_c, before, row, result, h):
    """What some units of a sequence give to their gates. of_h is used up, of_c becomes that of c before; h: the new
    state."""
    i, f = row[first : first + units], row[hidden + first : hidden + first + units]
    g, o = row[2 * hidden + first :][:units], row[3 * hidden + first :][:units]
    of_i, of_f = result[first : first + units], result[hidden + first : hidden + first + units]
    of_g, of_o = result[2 * hidden + first :][:units], result[3 * hidden + first :][:units]
    for j in range(units):
        of_h[j] += through[j] + grad[j]
    for j in range(units):
        h[j] = tanh(f[j] * before[j] + i[j] * g[j], ZERO)
    for j in range(units):
        of_c[j] += of_h[j] * o[j] * (ONE - h[j] * h[j])
    for j in range(units):
        of_o[j] = of_h[j] * h[j] * o[j] * (ONE - o[j])
    for j in range(units):
        h[j] *= o[j]
    for j in range(units):
        of_i[j] = of_c[j] * g[j] * i[j] * (ONE - i[j])
    for j in range(units):
        of_g[j] = of_c[j] * i[j] * (ONE - g[j] * g[j])
    for j in range(units):
        of_f[j] = of_c[j] * before[j] * f[j] * (ONE - f[j])
    for j in range(units):
        of_c[j] *= f[j]
    of_h[:] = ZERO


@inner_njit(error_model="numpy")
def _backward_units(arguments, task, who):
    """A step of UNITS units, after step `later`, which is -1 at first."""
    weights, lengths, grad, of_h, of_c, h0, line, t, later, reverse, gates, cells, of_gates, states, sums = arguments
    batch, hidden = of_h.shape
    first = task * UNITS
    units = min(UNITS, hidden - first)
    last, depth, panel = first + units, 4 * hidden, task * 4 * hidden * UNITS
    own = line[who * TALL * WIDE : (who + 1) * TALL * WIDE]
    rows, gave, factors = TALL if batch >= TALL else ROWS, memory(of_gates), memory(weights)
    for top in range(0, batch, rows):
        begin = min(top, batch - rows)
        at = (later * batch + begin) * depth
        if later < 0:
            own[: TALL * UNITS] = ZERO
        elif rows == TALL:
            tall = tile_zeros(memory(own), TALL, VECTORS)
            tall = tile_multiply_add(tall, depth, gave, at, (depth, 1), factors, panel, UNITS)
            tile_store(memory(own), 0, UNITS, tall)
        else:
            acc = tile_zeros(memory(own), ROWS, VECTORS)
            acc = tile_multiply_add(acc, depth, gave, at, (depth, 1), factors, panel, UNITS)
            tile_store(memory(own), 0, UNITS, acc)
        for b in range(top, min(top + rows, batch)):
            through, arrived = own[(b - begin) * UNITS : (b - begin + 1) * UNITS], of_h[b, first:last]
            if t >= lengths[b]:
                for j in range(units):
                    arrived[j] += through[j]
                for k in range(4):
                    of_gates[t, b, k * hidden + first : k * hidden + last] = ZERO
                states[t, b, first:last] = ZERO
                continue
            # The state of this step is what the later one began with: until that is known, its line is free.
            line_of_h = states[later, b, first:last] if later >= 0 else own[TALL * UNITS : TALL * UNITS + units]
            _of_gates(
                first, units, hidden, grad[t, b, first:last], through, arrived, of_c[b, first:last],
                cells[t, b, first:last], gates[t, b], of_gates[t, b], line_of_h,
            )  # fmt: skip
            if t == (lengths[b] - 1 if reverse else 0):
                states[t, b, first:last] = h0[b, first:last]
            for k in range(4):
                for j in range(k * hidden + first, k * hidden + last):
                    sums[j] += of_gates[t, b, j]


@cached_njit(error_model="numpy")
def _backward(
    weights, lengths, grad, of_h, of_c, h0, line, begin, end, step, gates, cells, of_gates, states, sums, threads,
    least, team,
):  # fmt: skip
    later, tasks, back = -1, -(-of_h.shape[1] // UNITS), step > 0
    for t in range(begin, end, step):
        arguments = weights, lengths, grad, of_h, of_c, h0, line, t, later, back, gates, cells, of_gates, states, sums
        share(_backward_units, arguments, tasks, threads, least, team)
        later = t


def backward(g, reverse, grad, of_h, of_c, x, kept, w_ih, w_hh):
    """One direction of one layer; see `layers.backward_from`."""
    h0, gates, cells = kept
    if g.batch < FEW:
        states, squashed, _ = restored(g, reverse, h0, gates, cells)
        return backward_in_vectors(g, reverse, grad, of_h, of_c, x, (states, (cells, gates, squashed)), w_ih, w_hh)
    of_gates, states, sums = np.empty_like(gates), np.empty_like(cells), np.zeros(4 * g.hidden)
    threads, steps, rows = threads_for(g.hidden, g.batch, 4), in_order(g.steps, not reverse), g.steps * g.batch
    line = workspace(np.dtype(f32), threads * TALL * WIDE)
    _backward(
        panels(w_hh, PANEL), lengths_of(g), plain(grad), of_h, of_c, h0, line, steps.start, steps.stop, steps.step,
        gates, cells, of_gates, states, sums, threads, least(g), team.members(),
    )  # fmt: skip
    of_h += product(of_gates[steps[-1]], w_hh)
    lines = of_gates.reshape(rows, 4 * g.hidden)
    of_x = product(lines, w_ih).reshape(g.steps, g.batch, x.shape[2])
    of_w_ih, of_w_hh = (product(lines.T, one.reshape(rows, one.shape[2])) for one in (x, states))
    return of_x, of_w_ih, of_w_hh, sums.astype(f32), sums.astype(f32)


def restored(g, reverse, h0, gates, cells):
    """(the state before each step, tanh of the new cells, the new states) of one direction of one layer."""
    i, f, candidate, o = np.split(gates, 4, axis=2)
    squashed = np.tanh(f * cells + i * candidate)
    shown = o * squashed
    states = np.zeros_like(shown)
    if reverse:
        states[:-1] = shown[1:]
        states[lengths_of(g) - 1, np.arange(g.batch)] = h0
    else:
        states[1:], states[0] = shown[:-1], h0
    return states, squashed, shown


# ---- the rungs -------------------------------------------------------------------------------------------------------


def forward_by_products(g, reverse, x, h, c, w_ih, w_hh, b_ih, b_hh, out, gates, cells):
    """As `forward`, of any dtype."""
    _, steps = products.forward(g, reverse, x, h, c, w_ih, w_hh, b_ih, b_hh, out)
    for t, (before, parts) in enumerate(steps):
        gates[t], cells[t] = np.concatenate(parts[:4], axis=1), before
    if g.lengths is not None:
        gates[np.arange(g.steps)[:, None] >= g.lengths] = 0
    last = (np.zeros(g.batch, np.int64) if reverse else lengths_of(g) - 1), np.arange(g.batch)
    i, f, candidate, o = np.split(gates[last], 4, axis=1)
    c[:] = f * cells[last] + i * candidate
    h[:] = o * np.tanh(c)


def backward_by_products(g, reverse, grad, of_h, of_c, x, kept, w_ih, w_hh):
    """As `backward`, of any dtype."""
    h0, gates, cells = kept
    states, squashed, _ = restored(g, reverse, h0, gates, cells)
    steps = [(cells[t], (*np.split(gates[t], 4, axis=1), squashed[t])) for t in range(g.steps)]
    return products.backward(g, reverse, grad, of_h, of_c, x, (states, steps), w_ih, w_hh)


def _shown(*arguments):
    return restored(*arguments)[2]


def _forward_kept(g, reverse, x, h, c, w_ih, w_hh, b_ih, b_hh, out):
    """As `layers.backward_on_layers` wants it: few sequences keep more, others what `lstm_with_gates` returns."""
    if g.batch < FEW:
        return forward_in_vectors(g, reverse, x, h, c, w_ih, w_hh, b_ih, b_hh, out)
    h0, gates = h.copy(), np.empty((g.steps, g.batch, 4 * g.hidden), f32)
    cells = np.empty((g.steps, g.batch, g.hidden), f32)
    forward(g, reverse, x, h, c, w_ih, w_hh, b_ih, b_hh, out, gates, cells)
    return h0, gates, cells


def _backward_kept(g, *arguments):
    return (backward_in_vectors if g.batch < FEW else backward)(g, *arguments)


whole = backward_on_layers(_forward_kept, _backward_kept)
from_products, from_vectors = (backward_from(one, _shown) for one in (backward_by_products, backward))
PRODUCTS = "a product with U for each step; gates are kept"
OF_UNITS = "a step is a job of the team, vectors over units: a task has all gates of some units, of all sequences"


@implementation(
    "lstm_backward",
    device="cpu",
    adds=f"{OF_UNITS}; for few sequences the whole loop over the steps is compiled",
    dtypes=("float32",),
    public=True,
)
def lstm_backward_vectors(*arguments):
    return whole(*arguments)


@implementation("lstm_with_gates", device="cpu", adds=PRODUCTS, public=True)
@keeping
def lstm_with_gates_products(*arguments):
    forward_by_products(*arguments)


@implementation("lstm_with_gates", device="cpu", adds=OF_UNITS, dtypes=("float32",), public=True)
@keeping
def lstm_with_gates_vectors(*arguments):
    forward(*arguments)


@implementation(
    "lstm_backward_from_gates",
    device="cpu",
    adds="backward through time, a product with U for each step: nothing of the forward pass is computed again",
    public=True,
)
def lstm_backward_from_gates_products(*arguments):
    return from_products(*arguments)


@implementation("lstm_backward_from_gates", device="cpu", adds=OF_UNITS, dtypes=("float32",), public=True)
def lstm_backward_from_gates_vectors(*arguments):
    return from_vectors(*arguments)
