"""An LSTM on a CPU that keeps its gates, and its gradient from them, in float32: a step is one job of the team.

Lanes of a vector are units, as they lie in memory, so nothing is turned over. A task has UNITS units, and of these all
gates of all sequences: it needs nothing of a step but what the step before has left::

    forward     of_h[sequence, gate] = the sum over k of h[sequence, k] * U[gate, k]; then gates, c and h
    backward    of_h[sequence, unit] = the sum over gates of of_gates[sequence, gate] * U[gate, unit]; then of_gates

The product of GROUP sequences goes to a line of the thread's own, and is used there at once. DEPTH rows of a panel of U
at a time meet all of them, so that they come from the L2 cache once. What waits for no step, the gradients of W, U and
x, is one product each for all steps.
"""

import numpy as np

from .. import team
from ..host import aligned_zeros, plain, workspace
from ..implementations import implementation
from ..matrix.backward import product
from ..matrix.choose import multiply_contiguous
from ..simd import broadcast, fma, load, load_part, store, store_part, vector_registers, vector_width
from ..simd.cache import cached_njit
from ..simd.inner import inner_njit
from ..simd.line import memory
from ..simd.pack import pack
from ..simd.tile import tile_load, tile_multiply_add, tile_store, tile_zeros
from ..team import share
from . import backward as products
from .cpu import lengths_of
from .fast import threads_for
from .fast_backward import FEW, backward_in_vectors, forward_in_vectors
from .fast_gates import below_sigmoid, tanh_as_quotient
from .layers import backward_from, backward_on_layers, in_order, keeping

f32 = np.float32
# Sequences of a tile: TALL, where there are so many.
ROWS, TALL, VECTORS = FEW, max(FEW, 8 if vector_registers() == 32 else 6), 2
GROUP, DEPTH = 32, 128  # 16 and 8 KiB: factors and a part of a panel lie in the L1 cache together
lanes = vector_width(np.float32)
UNITS = VECTORS * lanes
ZERO, ONE = f32(0), f32(1)
WIDE = 4 * UNITS  # numbers of a sequence in a thread's line
LINE = (GROUP + 1) * WIDE  # the last: sums over the sequences, or a state that nobody needs
PANEL, GATES = 0, 1  # whether the rows of a panel are rows of U, or columns


@cached_njit(error_model="numpy")
def _panels(w_hh, how, result):
    """U as tasks read it: for each task, and forward each gate, a panel whose rows are as long as a tile is wide."""
    rows, hidden = w_hh.shape
    source, target = memory(w_hh), memory(result)
    for task in range(-(-hidden // UNITS)):
        first_unit = task * UNITS
        units = min(UNITS, hidden - first_unit)
        if how == PANEL:
            target_start = task * rows * UNITS
            for r in range(rows):
                for j in range(units):
                    target[target_start + r * UNITS + j] = source[r * hidden + first_unit + j]
        else:
            for k in range(4):
                target_start = (task * 4 + k) * hidden * UNITS
                pack(source, (k * hidden + first_unit) * hidden, 1, hidden, hidden, units, target, target_start, UNITS)


def panels(w_hh, how):
    hidden = w_hh.shape[1]
    result = aligned_zeros((-(-hidden // UNITS) * 4 * hidden * UNITS,), f32)
    _panels(plain(w_hh), how, result)
    return result


@inner_njit(error_model="numpy")
def _tile(tall, more, terms, factors, factors_at, row, panel, panel_at, line, line_at, pitch):
    """A tile of sums over `terms` products, to the line, and added to what is there if there is `more`."""
    if tall:
        acc = tile_load(line, line_at, pitch, TALL, VECTORS) if more else tile_zeros(line, TALL, VECTORS)
        acc = tile_multiply_add(acc, terms, factors, factors_at, (row, 1), panel, panel_at, UNITS)
        tile_store(line, line_at, pitch, acc)
    else:
        low = tile_load(line, line_at, pitch, ROWS, VECTORS) if more else tile_zeros(line, ROWS, VECTORS)
        low = tile_multiply_add(low, terms, factors, factors_at, (row, 1), panel, panel_at, UNITS)
        tile_store(line, line_at, pitch, low)


@inner_njit(error_model="numpy")
def _products(count, depth, factors, factors_at, row, panel, panel_at, line, line_at, pitch):
    """line[line_at + r * pitch :] = the sum over k < depth of factors[factors_at + r * row + k] * the panel's row k,
    for r < count, of ROWS to GROUP."""
    tall = count >= TALL
    rows = TALL if tall else ROWS
    full = count - count % rows
    for k in range(0, depth, DEPTH):
        for r in range(0, full, rows):
            some, to = factors_at + r * row + k, line_at + r * pitch
            _tile(tall, k > 0, min(DEPTH, depth - k), factors, some, row, panel, panel_at + k * UNITS, line, to, pitch)
    if full < count:  # the last tile begins earlier: what it reaches over is the same once more
        r = count - rows
        _tile(tall, False, depth, factors, factors_at + r * row, row, panel, panel_at, line, line_at + r * pitch, pitch)


def by_task(bias):
    """The gates' biases as tasks read them, as long as vectors are."""
    hidden = bias.size // 4
    result = np.zeros((-(-hidden // UNITS) * UNITS, 4), f32)
    result[:hidden] = bias.reshape(4, hidden).T
    return np.ascontiguousarray(result.reshape(-1, UNITS, 4).swapaxes(1, 2))


# ---- forward ---------------------------------------------------------------------------------------------------------


@inner_njit(error_model="numpy")
def _gates(gates, gate, hidden, of_h, of_h_at, bias, bias_at, cells, kept_at, c, h, out, c_at, h_at, out_at, count):
    """A vector of units of a sequence: their gates, in the place of W x, c and h. count: of the units that there are,
    or None."""
    i = load_part(gates, gate, count) + load(bias, bias_at) + load(of_h, of_h_at)
    f = load_part(gates, gate + hidden, count) + load(bias, bias_at + UNITS) + load(of_h, of_h_at + UNITS)
    g = load_part(gates, gate + 2 * hidden, count) + load(bias, bias_at + 2 * UNITS) + load(of_h, of_h_at + 2 * UNITS)
    o = load_part(gates, gate + 3 * hidden, count) + load(bias, bias_at + 3 * UNITS) + load(of_h, of_h_at + 3 * UNITS)
    above, below = tanh_as_quotient(g)
    i, f, g, o = ONE / below_sigmoid(i), ONE / below_sigmoid(f), above / below, ONE / below_sigmoid(o)
    before = load_part(c, c_at, count)
    cell = fma(f, before, i * g)
    above, below = tanh_as_quotient(cell)
    shown = o * (above / below)
    store_part(gates, gate, i, count)
    store_part(gates, gate + hidden, f, count)
    store_part(gates, gate + 2 * hidden, g, count)
    store_part(gates, gate + 3 * hidden, o, count)
    store_part(cells, kept_at, before, count)
    store_part(c, c_at, cell, count)
    store_part(h, h_at, shown, count)
    store_part(out, out_at, shown, count)


@inner_njit(error_model="numpy")
def _forward_units(arguments, task, who):
    """A step of UNITS units. h: before and after it; c becomes the new one."""
    weights, bias, lengths, h, now, c, line, t, gates, cells, out = arguments
    batch, hidden = c.shape
    first_unit = task * UNITS
    units = min(UNITS, hidden - first_unit)
    end_unit, full = first_unit + units, units - units % lanes
    states, panel, biases = memory(h), memory(weights), memory(bias)
    kept, kept_cells, old, shown = memory(gates), memory(cells), memory(c), memory(out)
    before, after, work = now * batch * hidden, (1 - now) * batch * hidden, memory(line[who * LINE :])
    groups = -(-batch // GROUP)
    for part in range(groups):
        begin, end = part * batch // groups, (part + 1) * batch // groups
        for k in range(4):
            start = (task * 4 + k) * hidden * UNITS
            _products(end - begin, hidden, states, before + begin * hidden, hidden, panel, start, work, k * UNITS, WIDE)
        for b in range(begin, end):
            if t >= lengths[b]:
                cells[t, b, first_unit:end_unit] = c[b, first_unit:end_unit]
                h[1 - now, b, first_unit:end_unit] = h[now, b, first_unit:end_unit]
                for k in range(4):
                    gates[t, b, k * hidden + first_unit : k * hidden + end_unit] = ZERO
                continue
            unit, row, of_h, of_bias = b * hidden + first_unit, t * batch + b, (b - begin) * WIDE, task * WIDE
            start, cell = row * 4 * hidden + first_unit, row * hidden + first_unit
            for v in range(0, full, lanes):
                _gates(
                    kept, start + v, hidden, work, of_h + v, biases, of_bias + v, kept_cells, cell + v, old, states,
                    shown, unit + v, after + unit + v, cell + v, None,
                )  # fmt: skip
            if full < units:
                _gates(
                    kept, start + full, hidden, work, of_h + full, biases, of_bias + full, kept_cells, cell + full, old,
                    states, shown, unit + full, after + unit + full, cell + full, units - full,
                )  # fmt: skip


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
    line = workspace(np.dtype(f32), threads * LINE)
    now = _forward(
        panels(w_hh, GATES), by_task(bias), lengths_of(g), states, c, line, steps.start, steps.stop, steps.step, gates,
        cells, out, threads, least(g), team.members(),
    )  # fmt: skip
    h[:] = states[now]


def least(g):
    """Nanoseconds that one thread needs at least for the product of a step."""
    return g.hidden * g.hidden * g.batch // 25


# ---- backward --------------------------------------------------------------------------------------------------------


@inner_njit(error_model="numpy")
def _of_gates(
    gates, gate, hidden, grad, grad_at, line, through, total, of_h, of_c, c_at, cells, kept_at, of_gates, states,
    state_at, count,
):  # fmt: skip
    """What a vector of units of a sequence gives to their gates. of_h is used up, of_c becomes that of c before.
    states: where the new state goes. count: of the units that there are, or None."""
    i, f = load_part(gates, gate, count), load_part(gates, gate + hidden, count)
    g, o = load_part(gates, gate + 2 * hidden, count), load_part(gates, gate + 3 * hidden, count)
    before = load_part(cells, kept_at, count)
    arrived = load_part(of_h, c_at, count) + load(line, through) + load_part(grad, grad_at, count)
    above, below = tanh_as_quotient(fma(f, before, i * g))
    squashed = above / below
    shown = squashed * o
    of_cell = fma(arrived * o, ONE - squashed * squashed, load_part(of_c, c_at, count))
    of_i, of_f = of_cell * g * i * (ONE - i), of_cell * before * f * (ONE - f)
    of_g, of_o = of_cell * i * (ONE - g * g), arrived * shown * (ONE - o)
    store_part(of_h, c_at, broadcast(ZERO), count)
    store_part(of_c, c_at, of_cell * f, count)
    store_part(states, state_at, shown, count)
    store_part(of_gates, gate, of_i, count)
    store_part(of_gates, gate + hidden, of_f, count)
    store_part(of_gates, gate + 2 * hidden, of_g, count)
    store_part(of_gates, gate + 3 * hidden, of_o, count)
    store(line, total, load(line, total) + of_i)
    store(line, total + UNITS, load(line, total + UNITS) + of_f)
    store(line, total + 2 * UNITS, load(line, total + 2 * UNITS) + of_g)
    store(line, total + 3 * UNITS, load(line, total + 3 * UNITS) + of_o)


@inner_njit(error_model="numpy")
def _backward_units(arguments, task, who):
    """A step of UNITS units, after step `later`, which is -1 at first."""
    weights, lengths, grad, of_h, of_c, h0, line, t, later, reverse, gates, cells, of_gates, states, sums = arguments
    batch, hidden = of_h.shape
    first_unit = task * UNITS
    units = min(UNITS, hidden - first_unit)
    end_unit, depth, full = first_unit + units, 4 * hidden, units - units % lanes
    work, gave, factors = memory(line[who * LINE :]), memory(of_gates), memory(weights)
    kept, kept_cells, arrived, of_old, of_cells = memory(gates), memory(cells), memory(grad), memory(of_h), memory(of_c)
    total, groups = GROUP * WIDE, -(-batch // GROUP)
    for part in range(groups):
        begin, end = part * batch // groups, (part + 1) * batch // groups
        for k in range(total, LINE):
            work[k] = ZERO
        if later >= 0:
            start = (later * batch + begin) * depth
            _products(end - begin, depth, gave, start, depth, factors, task * depth * UNITS, work, 0, UNITS)
        else:
            for k in range((end - begin) * UNITS):
                work[k] = ZERO
        for b in range(begin, end):
            through = (b - begin) * UNITS
            if t >= lengths[b]:
                for j in range(units):
                    of_h[b, first_unit + j] += work[through + j]
                for k in range(4):
                    of_gates[t, b, k * hidden + first_unit : k * hidden + end_unit] = ZERO
                states[t, b, first_unit:end_unit] = ZERO
                continue
            row, unit = t * batch + b, b * hidden + first_unit
            start, cell = row * depth + first_unit, row * hidden + first_unit
            # The state of this step is what the later one began with: until that is known, its line is free.
            shown, state_at = memory(states), (later * batch + b) * hidden + first_unit
            if later < 0:
                shown, state_at = work, GROUP * UNITS
            for v in range(0, full, lanes):
                _of_gates(
                    kept, start + v, hidden, arrived, cell + v, work, through + v, total + v, of_old, of_cells,
                    unit + v, kept_cells, cell + v, gave, shown, state_at + v, None,
                )  # fmt: skip
            if full < units:
                _of_gates(
                    kept, start + full, hidden, arrived, cell + full, work, through + full, total + full, of_old,
                    of_cells, unit + full, kept_cells, cell + full, gave, shown, state_at + full, units - full,
                )  # fmt: skip
            if t == (lengths[b] - 1 if reverse else 0):
                states[t, b, first_unit:end_unit] = h0[b, first_unit:end_unit]
        for k in range(4):
            for j in range(units):
                sums[k * hidden + first_unit + j] += work[total + k * UNITS + j]


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
    line = workspace(np.dtype(f32), threads * LINE)
    _backward(
        panels(w_hh, PANEL), lengths_of(g), plain(grad), of_h, of_c, h0, line, steps.start, steps.stop, steps.step,
        gates, cells, of_gates, states, sums, threads, least(g), team.members(),
    )  # fmt: skip
    of_h += product(of_gates[steps[-1]], w_hh)
    lines = of_gates.reshape(rows, 4 * g.hidden)
    of_x = product(lines, w_ih).reshape(g.steps, g.batch, x.shape[2])
    of_w_ih, of_w_hh = (product(lines.T, array.reshape(rows, array.shape[2])) for array in (x, states))
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


network_backward = backward_on_layers(_forward_kept, _backward_kept)
from_products, from_vectors = (backward_from(one_layer, _shown) for one_layer in (backward_by_products, backward))
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
    return network_backward(*arguments)


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
