"""The last rungs of the ladders of LSTM and GRU on a CPU, in float32: a step as one job of the team, in vectors.

A task has some units, and of these all gates: it needs nothing of a step but the states before it, so the team meets once a
step. Two forms, by what lies in the lanes of a vector::

    over the batch      gates[row, sequence] = P[row, sequence] + the sum over k of U[row, k] * h[k, sequence]
                        a register tile of ROWS rows and VECTORS vectors; states are kept transposed
    over the units      gates[row] = P[row] + the sum over k of U[row, k] * h[k], for a single sequence
                        each weight is used once a step: it comes from the cache of the core that has it

P = W x + b of a block of steps is a product of matrices before them. What follows the products is a loop over lanes that LLVM
makes vectors of, as exp is our own (vector/fast.py). Its states are rounded to multiples of the smallest normal number: a
state that fades would else stay at the smallest of all numbers, with which some CPUs are slow (`settled`).
"""

import numpy as np
from numba import njit

from .. import team
from ..implementations import implementation
from ..matrix.backward import product
from ..matrix.blocks import REGISTERS
from ..matrix.choose import multiply_contiguous
from ..simd import vector_width
from ..simd.cache import cached_njit
from ..simd.inner import inner_njit
from ..simd.line import memory
from ..simd.pack import transpose_block
from ..simd.tile import tile_load, tile_multiply_add, tile_store, tile_zeros
from ..team import share
from ..vector.fast import exp, sigmoid, tanh, tanh_as_quotient
from .cpu import inputs_batched
from .geometry import GATES
from .layers import on_layers

f32 = np.float32
VECTORS = 2
ROWS = 12 if REGISTERS >= 32 else 6  # with VECTORS they fill the registers, but for the operands
UNITS = 24  # of a task over the batch: a multiple of ROWS
PANELS = UNITS // ROWS
ACROSS = 4  # vectors of units in a task over the units
BLOCK = 1 << 18  # numbers of P at a time
APART = 256  # rows of P at multiples of this many numbers would share the same places of a cache
PARALLEL_FROM = 1 << 17  # multiply-adds of a step below which the team costs more than it gains
LSTM, GRU = 0, 1
SMALLEST = f32(2.0**-102)  # above it there is room for multiples of 2^-125, below it of 2^-126, the least normal number
ZERO, ONE = f32(0), f32(1)

lanes = vector_width(np.float32)
compiled = njit(error_model="numpy", fastmath={"contract"})


@inner_njit(forceinline=True)
def settled(x):
    """x, but a multiple of the smallest normal number, or of twice that."""
    return (x + SMALLEST) - SMALLEST


# ---- behind the products -----------------------------------------------------------------------------------------------


# LLVM makes vectors of these loops as no array is read and written at the same places, and as each is compared with few others.
# Indices begin at 0: one that may be negative counts from an array's end, and a vector of such is gathered, lane by lane.


@compiled
def lstm_lanes(count, gates, at, apart, b_i, b_f, b_g, b_o, mask, h, h_at, c, c_at, new, new_at, cell, cell_at):
    """New states of `count` lanes; gates[at + k * apart + lane] are those of gate k, mask is 1 where a sequence goes on."""
    of_i, of_f = gates[at : at + count], gates[at + apart : at + apart + count]
    of_g, of_o = gates[at + 2 * apart : at + 2 * apart + count], gates[at + 3 * apart : at + 3 * apart + count]
    h, c, new, cell = (
        h[h_at : h_at + count], c[c_at : c_at + count], new[new_at : new_at + count], cell[cell_at : cell_at + count],
    )  # fmt: skip
    for j in range(count):
        f, going = sigmoid(of_f[j] + b_f, ZERO), mask[j]
        g, below = tanh_as_quotient(of_g[j] + b_g)
        # sigmoid times tanh, with one division
        added = g / (below * (ONE + exp(-of_i[j] - b_i)))
        cell[j] = going * settled(f * c[j] + added) + (ONE - going) * c[j]
    for j in range(count):
        above, below = tanh_as_quotient(cell[j])
        shown, going = above / (below * (ONE + exp(-of_o[j] - b_o))), mask[j]
        new[j] = going * settled(shown) + (ONE - going) * h[j]


@compiled
def gru_lanes(count, gates, at, apart, p, p_at, b_r, b_z, b_n, b_h, mask, h, h_at, new, new_at):
    """The same; p[p_at + lane]: the part of gate n that x has."""
    of_r, of_z = gates[at : at + count], gates[at + apart : at + apart + count]
    of_n, p = gates[at + 2 * apart : at + 2 * apart + count], p[p_at : p_at + count]
    h, new = h[h_at : h_at + count], new[new_at : new_at + count]
    for j in range(count):
        r, z = sigmoid(of_r[j] + b_r, ZERO), sigmoid(of_z[j] + b_z, ZERO)
        n = tanh(p[j] + b_n + r * (of_n[j] + b_h), ZERO)
        new[j] = mask[j] * settled((ONE - z) * n + z * h[j]) + (ONE - mask[j]) * h[j]


# ---- over the batch ----------------------------------------------------------------------------------------------------


def panels(w_hh, gates):
    """U in the order in which tiles read it: for each task, gate and tile of rows a panel (hidden, ROWS).

    The last tile of a task begins earlier if it must, even before the task's first row.
    """
    hidden = w_hh.shape[1]
    starts = [
        k * hidden + first + min(r, min(UNITS, hidden - first) - ROWS)
        for first in range(0, hidden, UNITS)
        for k in range(gates)
        for r in range(0, UNITS, ROWS)
    ]
    return np.ascontiguousarray(w_hh[np.add.outer(starts, np.arange(ROWS))].transpose(0, 2, 1))


@inner_njit(error_model="numpy")
def _products(weights, panel, row, rows, hidden, state, h_at, wide, p, p_at, p_row, added, gates, at):
    """gates[r, :] = (P[row + r, :] if added) + the sum over k of U[row + r, k] * h[k, :] for r < rows, in tiles as of `panels`."""
    for tile in range(-(-rows // ROWS)):
        r, place = min(tile * ROWS, rows - ROWS), (panel + tile) * hidden * ROWS
        v = 0
        while v + VECTORS * lanes <= wide:
            if added:
                acc = tile_load(p, p_at + (row + r) * p_row + v, p_row, ROWS, VECTORS)
            else:
                acc = tile_zeros(p, ROWS, VECTORS)
            acc = tile_multiply_add(acc, hidden, weights, place, (1, ROWS), state, h_at + v, wide)
            tile_store(gates, at + r * wide + v, wide, acc)
            v += VECTORS * lanes
        if v < wide:
            if added:
                one = tile_load(p, p_at + (row + r) * p_row + v, p_row, ROWS, 1)
            else:
                one = tile_zeros(p, ROWS, 1)
            one = tile_multiply_add(one, hidden, weights, place, (1, ROWS), state, h_at + v, wide)
            tile_store(gates, at + r * wide + v, wide, one)


@inner_njit(error_model="numpy")
def _step_over_batch(arguments, task, who):
    """One step of UNITS units, all sequences."""
    kind, weights, bias, p, p_at, state, h_at, new_at, mask, whole, line, each, t, out = arguments
    batch, hidden = out.shape[1], out.shape[2]
    wide = -(-batch // lanes) * lanes
    p_row, first = p.shape[1], task * UNITS
    units = min(UNITS, hidden - first)
    apart = (UNITS + ROWS) * wide
    gates, states, numbers, given = memory(line), memory(state), memory(p), memory(weights)
    at = who * each + ROWS * wide
    count = 4 if kind == LSTM else 3
    for k in range(count):
        _products(
            given, (task * count + k) * PANELS, k * hidden + first, units, hidden, states, h_at, wide, numbers, p_at, p_row, kind == LSTM or k < 2,
            gates, at + k * apart,
        )  # fmt: skip
    cells, new_cells = h_at + 2 * hidden * wide, new_at + 2 * hidden * wide
    for u in range(units):
        unit = first + u
        b_0, b_1, b_2, b_3 = (bias[unit], bias[hidden + unit], bias[2 * hidden + unit], bias[3 * hidden + unit])
        place, there = at + u * wide, unit * wide
        if kind == LSTM:
            lstm_lanes(
                wide, gates, place, apart, b_0, b_1, b_2, b_3, mask, states, h_at + there, states, cells + there,
                states, new_at + there, states, new_cells + there,
            )  # fmt: skip
        else:
            of_n = p_at + (2 * hidden + unit) * p_row
            gru_lanes(
                wide, gates, place, apart, numbers, of_n, b_0, b_1, b_2, b_3, mask, states, h_at + there,
                states, new_at + there,
            )  # fmt: skip
    if whole and units >= lanes and batch >= lanes:
        result = memory(out)
        for u in range(0, units, lanes):
            unit = first + min(u, units - lanes)  # the last block begins earlier
            for s in range(0, batch, lanes):
                b = min(s, batch - lanes)
                transpose_block(states, new_at + unit * wide + b, wide, result, (t * batch + b) * hidden + unit, hidden)
        return
    for b in range(batch):
        if mask[b] != ZERO:
            for unit in range(first, first + units):
                out[t, b, unit] = states[new_at + unit * wide + b]


@cached_njit(error_model="numpy")
def _over_batch(
    kind, weights, bias, p, state, now, mask, lengths, line, each, begin, steps, reverse, out, threads, team
):
    """`steps` steps from `begin` on, whose P there is. now: 0 or 1, where in `state` the states before them stand."""
    batch, hidden = out.shape[1], out.shape[2]
    wide = -(-batch // lanes) * lanes
    tasks, least = -(-hidden // UNITS), hidden * hidden * wide // 40
    for number in range(steps):
        k = steps - 1 - number if reverse else number
        t = begin + k
        whole = True  # whether all sequences go on
        for b in range(batch):
            mask[b] = ONE if t < lengths[b] else ZERO
            whole = whole and t < lengths[b]
        h_at, new_at = now * hidden * wide, (1 - now) * hidden * wide
        arguments = kind, weights, bias, p, k * batch, state, h_at, new_at, mask, whole, line, each, t, out
        share(_step_over_batch, arguments, tasks, threads, least, team)
        now = 1 - now
    return now


def line_of(size):
    """A new line of memory of zeros, with room for a tile behind its end."""
    return np.zeros(size + VECTORS * lanes, np.float32)


def threads_for(hidden, wide, gates):
    return 1 if gates * hidden * hidden * wide < PARALLEL_FROM else team.size()


def over_batch(kind, g, reverse, x, h, c, w_ih, w_hh, bias, out):
    wide, gates = -(-g.batch // lanes) * lanes, GATES[g.kind]
    size = g.hidden * wide
    state = line_of(4 * size)  # h and c, each before and after a step
    state[:size].reshape(g.hidden, wide)[:, : g.batch] = h.T
    if c is not None:
        state[2 * size : 3 * size].reshape(g.hidden, wide)[:, : g.batch] = c.T
    weights = panels(w_hh, gates)
    threads, each = threads_for(g.hidden, wide, gates), gates * (UNITS + ROWS) * wide
    line, mask = line_of(threads * each), np.zeros(wide, np.float32)
    lengths = np.full(g.batch, g.steps) if g.lengths is None else g.lengths
    block = max(1, BLOCK // (gates * g.hidden * g.batch))
    if block > 1 and block * g.batch % APART == 0:
        block -= 1
    room, now = line_of(min(block, g.steps) * gates * g.hidden * g.batch), 0
    begins = range(0, g.steps, block)
    for begin in reversed(begins) if reverse else begins:
        some = x[begin : begin + block].reshape(-1, x.shape[2])
        p = room[: gates * g.hidden * len(some)].reshape(gates * g.hidden, len(some))
        multiply_contiguous(w_ih, some.T, p)
        now = _over_batch(
            kind, weights, bias, p, state, now, mask, lengths, line, each, begin, len(some) // g.batch, reverse, out,
            threads, team.members(),
        )  # fmt: skip
    h[:] = state[now * size : (now + 1) * size].reshape(g.hidden, wide)[:, : g.batch].T
    if c is not None:
        c[:] = state[(2 + now) * size : (3 + now) * size].reshape(g.hidden, wide)[:, : g.batch].T


# ---- over the units ----------------------------------------------------------------------------------------------------


@inner_njit(error_model="numpy")
def _step_over_units(arguments, task, who):
    """One step of ACROSS vectors of units of a single sequence. The last task begins earlier, in rows of its own."""
    kind, weights, bias_h, p, p_at, state, h_at, new_at, ones, line, each, out, out_at = arguments
    hidden = weights.shape[1]
    first = task * ACROSS * lanes
    units = min(ACROSS * lanes, hidden - first)
    begin = min(first, hidden - ACROSS * lanes)
    gates, states, numbers, given, behind = memory(line), memory(state), memory(p), memory(weights), memory(bias_h)
    at, apart = who * each, ACROSS * lanes
    count = 4 if kind == LSTM else 3
    for k in range(count):
        column = k * hidden + begin
        if kind == LSTM or k < 2:
            acc = tile_load(numbers, p_at + column, 0, 1, ACROSS)
        else:
            acc = tile_load(behind, begin, 0, 1, ACROSS)
        place = (task * count + k) * hidden * ACROSS * lanes
        acc = tile_multiply_add(acc, hidden, states, h_at, (0, 1), given, place, ACROSS * lanes)
        tile_store(gates, at + k * apart, 0, acc)
    place, cells = at + first - begin, h_at + 2 * hidden + first
    if kind == LSTM:
        lstm_lanes(
            units, gates, place, apart, ZERO, ZERO, ZERO, ZERO, ones, states, h_at + first, states, cells,
            states, new_at + first, states, new_at + 2 * hidden + first,
        )  # fmt: skip
    else:
        of_n = p_at + 2 * hidden + first
        gru_lanes(
            units, gates, place, apart, numbers, of_n, ZERO, ZERO, ZERO, ZERO, ones, states, h_at + first,
            states, new_at + first,
        )  # fmt: skip
    shown, result = (
        states[new_at + first : new_at + first + units],
        memory(out)[out_at + first : out_at + first + units],
    )
    for unit in range(units):
        result[unit] = shown[unit]


@cached_njit(error_model="numpy")
def _over_units(kind, weights, bias_h, p, state, now, ones, line, each, begin, steps, reverse, out, b, threads, team):
    hidden, rows = weights.shape[1], p.shape[1]
    tasks, least = -(-hidden // (ACROSS * lanes)), hidden * hidden // 4
    for number in range(steps):
        k = steps - 1 - number if reverse else number
        h_at, new_at = now * hidden, (1 - now) * hidden
        out_at = ((begin + k) * out.shape[1] + b) * hidden
        arguments = kind, weights, bias_h, p, k * rows, state, h_at, new_at, ones, line, each, out, out_at
        share(_step_over_units, arguments, tasks, threads, least, team)
        now = 1 - now
    return now


def columns(w_hh, gates):
    """U in the order in which tasks read it: for each task and gate (hidden, units). The last task begins earlier if it must."""
    hidden, units = w_hh.shape[1], ACROSS * lanes
    starts = [k * hidden + min(u, hidden - units) for u in range(0, hidden, units) for k in range(gates)]
    return np.ascontiguousarray(w_hh[np.add.outer(starts, np.arange(units))].transpose(0, 2, 1))


def over_units(kind, g, reverse, x, h, c, w_ih, weights, bias, bias_h, out, b):
    """Sequence b alone. weights: as `columns` gives them; bias: what is added to P; bias_h: to U h of the GRU's n."""
    rows, hidden = GATES[g.kind] * g.hidden, g.hidden
    steps = g.steps if g.lengths is None else int(g.lengths[b])
    state = line_of(4 * hidden)
    state[:hidden] = h[b]
    if c is not None:
        state[2 * hidden : 3 * hidden] = c[b]
    threads, each = threads_for(hidden, 1, GATES[g.kind]), GATES[g.kind] * ACROSS * lanes
    line, ones = line_of(threads * each), np.ones(ACROSS * lanes, np.float32)
    block, now = max(1, BLOCK // rows), 0
    begins = range(0, steps, block)
    for begin in reversed(begins) if reverse else begins:
        p = product(np.ascontiguousarray(x[begin : min(begin + block, steps), b]), w_ih.T)
        p += bias
        now = _over_units(
            kind, weights, bias_h, p, state, now, ones, line, each, begin, len(p), reverse, out, b, threads,
            team.members(),
        )  # fmt: skip
    h[b] = state[now * hidden : (now + 1) * hidden]
    if c is not None:
        c[b] = state[(2 + now) * hidden : (3 + now) * hidden]


# ---- the rungs ---------------------------------------------------------------------------------------------------------


def in_vectors(g, reverse, x, h, c, w_ih, w_hh, b_ih, b_hh, out):
    """A layer in one direction, in the form that fits; small ones as the rung below."""
    kind, hidden = LSTM if g.kind == "lstm" else GRU, g.hidden
    few = g.batch < lanes // 4 or g.batch == 1
    if hidden < (ACROSS * lanes if few else ROWS):
        inputs_batched(g, reverse, x, h, c, w_ih, w_hh, b_ih, b_hh, out)
        return
    zeros = np.zeros(GATES[g.kind] * hidden, np.float32)
    b_ih, b_hh = (zeros if one is None else one for one in (b_ih, b_hh))
    whole = b_ih + b_hh
    if kind == GRU:  # what U h of n is multiplied with comes after its bias
        whole = np.concatenate((whole[: 2 * hidden], b_ih[2 * hidden :], b_hh[2 * hidden :]))
    if few:
        weights = columns(w_hh, GATES[g.kind])
        for b in range(g.batch):
            rows = whole[: GATES[g.kind] * hidden]
            over_units(kind, g, reverse, x, h, c, w_ih, weights, rows, whole[-hidden:].copy(), out, b)
    else:
        over_batch(kind, g, reverse, x, h, c, w_ih, w_hh, whole, out)


WHAT = "a step is a job of the team, each task has all gates of some units; vectors over the batch, or over units for batch 1"


@implementation("lstm", device="cpu", adds=WHAT, dtypes=("float32",), public=True)
@on_layers
def lstm_vectors(*arguments):
    in_vectors(*arguments)


@implementation("gru", device="cpu", adds=WHAT, dtypes=("float32",), public=True)
@on_layers
def gru_vectors(*arguments):
    in_vectors(*arguments)
