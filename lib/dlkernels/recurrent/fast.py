"""The last rungs of the ladders of LSTM and GRU on a CPU, in float32: a step as one job of the team, in vectors.

A task has some units, and of these all gates: it needs nothing of a step but the states before it, so the team meets
once a step. Two forms, by what lies in the lanes of a vector::

    over the batch      gates[row, sequence] = P[row, sequence] + the sum over k of U[row, k] * h[k, sequence]
                        a register tile of ROWS rows and VECTORS vectors; states are kept transposed
    over the units      gates[row] = P[row] + the sum over k of U[row, k] * h[k], for a single sequence
                        each weight is used once a step: it comes from the cache of the core that has it

P = W x + b of a block of steps is a product of matrices before them. What follows the products is in fast_gates.py.
"""

import numpy as np

from .. import team
from ..host import aligned_zeros, plain
from ..implementations import implementation
from ..matrix.backward import product
from ..matrix.blocks import REGISTERS
from ..matrix.choose import multiply_contiguous
from ..simd import vector_width
from ..simd.cache import cached_njit
from ..simd.inner import inner_njit
from ..simd.line import memory
from ..simd.pack import pack, transpose_block
from ..simd.tile import tile_load, tile_multiply_add, tile_store, tile_zeros
from ..team import share
from .cpu import inputs_batched
from .fast_gates import gru_vector, lstm_vector
from .geometry import GATES
from .layers import on_layers

f32 = np.float32
VECTORS = 2
ROWS = 12 if REGISTERS >= 32 else 6  # with VECTORS they fill the registers, but for the operands
UNITS = 24  # of a task over the batch: a multiple of ROWS
PANELS = UNITS // ROWS
ACROSS = 4  # vectors of units in a task over the units
BLOCK = 1 << 18  # numbers of P at a time
DEEP = 1024  # features above which P is a product by blocks: panels of W would not stay in the caches
APART = 256  # rows of P at multiples of this many numbers would share the same places of a cache
PARALLEL_FROM = 1 << 17  # multiply-adds of a step below which the team costs more than it gains
LSTM, GRU = 0, 1
ZERO, ONE = f32(0), f32(1)

lanes = vector_width(np.float32)


# ---- over the batch --------------------------------------------------------------------------------------------------


def panels(matrix, gates):
    """U, or W, in the order in which tiles read it: for each task, gate and tile of rows a panel (columns, ROWS).

    The last tile of a task begins earlier if it must, even before the task's first row.
    """
    hidden = len(matrix) // gates
    starts = [
        k * hidden + start + min(r, min(UNITS, hidden - start) - ROWS)
        for start in range(0, hidden, UNITS)
        for k in range(gates)
        for r in range(0, UNITS, ROWS)
    ]
    return packed(matrix, starts, ROWS)


def packed(matrix, starts, rows):
    """Rows of a matrix from each start on, turned over: (starts, columns, rows)."""
    result = aligned_zeros((len(starts), matrix.shape[1], rows), np.float32)
    _turn_over(plain(matrix), np.array(starts), result)
    return result


@cached_njit()
def _turn_over(matrix, starts, result):
    columns, rows = result.shape[1:]
    for k in range(starts.size):
        source_start, target_start = starts[k] * columns, k * columns * rows
        pack(memory(matrix), source_start, 1, columns, columns, rows, memory(result), target_start, rows)


@inner_njit(error_model="numpy")
def _products(weights, panel, row, rows, hidden, state, h_at, wide, p, p_at, p_row, added, gates, gates_at):
    """gates[r, :] = (P[row + r, :] if added) + the sum over k of U[row + r, k] * h[k, :] for r < rows, in tiles as of
    `panels`."""
    for tile in range(-(-rows // ROWS)):
        r, weights_at = min(tile * ROWS, rows - ROWS), (panel + tile) * hidden * ROWS
        v = 0
        while v + VECTORS * lanes <= wide:
            if added:
                acc = tile_load(p, p_at + (row + r) * p_row + v, p_row, ROWS, VECTORS)
            else:
                acc = tile_zeros(p, ROWS, VECTORS)
            acc = tile_multiply_add(acc, hidden, weights, weights_at, (1, ROWS), state, h_at + v, wide)
            tile_store(gates, gates_at + r * wide + v, wide, acc)
            v += VECTORS * lanes
        if v < wide:
            if added:
                acc_1 = tile_load(p, p_at + (row + r) * p_row + v, p_row, ROWS, 1)
            else:
                acc_1 = tile_zeros(p, ROWS, 1)
            acc_1 = tile_multiply_add(acc_1, hidden, weights, weights_at, (1, ROWS), state, h_at + v, wide)
            tile_store(gates, gates_at + r * wide + v, wide, acc_1)


@inner_njit(error_model="numpy")
def _step_over_batch(arguments, task, who):
    """One step of UNITS units, all sequences."""
    kind, weights, bias, p, p_at, state, h_at, new_at, mask, all_go_on, line, stride, t, out = arguments
    batch, hidden = out.shape[1], out.shape[2]
    wide = -(-batch // lanes) * lanes
    p_row, start = p.shape[1], task * UNITS
    units = min(UNITS, hidden - start)
    gate_stride = (UNITS + ROWS) * wide
    gates, states, numbers, weight_line, going = memory(line), memory(state), memory(p), memory(weights), memory(mask)
    gates_at = who * stride + ROWS * wide
    count = 4 if kind == LSTM else 3
    for k in range(count):
        _products(
            weight_line, (task * count + k) * PANELS, k * hidden + start, units, hidden, states, h_at, wide, numbers,
            p_at, p_row, kind == LSTM or k < 2,
            gates, gates_at + k * gate_stride,
        )  # fmt: skip
    cells, new_cells = h_at + 2 * hidden * wide, new_at + 2 * hidden * wide
    for u in range(units):
        unit = start + u
        b_0, b_1, b_2, b_3 = (bias[unit], bias[hidden + unit], bias[2 * hidden + unit], bias[3 * hidden + unit])
        gate_at, state_at = gates_at + u * wide, unit * wide
        of_n = p_at + (2 * hidden + unit) * p_row
        for v in range(0, wide, lanes):
            some = state_at + v
            if kind == LSTM:
                lstm_vector(
                    gates, gate_at + v, gate_stride, b_0, b_1, b_2, b_3, going, v, states, h_at + some, cells + some,
                    states,
                    new_at + some, new_cells + some,
                )  # fmt: skip
            else:
                gru_vector(
                    gates, gate_at + v, gate_stride, numbers, of_n + v, b_0, b_1, b_2, b_3, going, v, states,
                    h_at + some, states,
                    new_at + some,
                )  # fmt: skip
    if all_go_on and units >= lanes and batch >= lanes:
        result = memory(out)
        for u in range(0, units, lanes):
            unit = start + min(u, units - lanes)  # the last block begins earlier
            for s in range(0, batch, lanes):
                b = min(s, batch - lanes)
                transpose_block(states, new_at + unit * wide + b, wide, result, (t * batch + b) * hidden + unit, hidden)
        return
    for b in range(batch):
        if mask[b] != ZERO:
            for unit in range(start, start + units):
                out[t, b, unit] = states[new_at + unit * wide + b]


@cached_njit(error_model="numpy")
def _over_batch(
    kind, weights, bias, p, state, now, mask, lengths, line, stride, begin, steps, reverse, out, threads, team
):
    """`steps` steps from `begin` on, whose P there is. now: 0 or 1, where in `state` the states before them stand."""
    batch, hidden = out.shape[1], out.shape[2]
    wide = -(-batch // lanes) * lanes
    tasks, least = -(-hidden // UNITS), hidden * hidden * wide // 40
    for number in range(steps):
        k = steps - 1 - number if reverse else number
        t = begin + k
        all_go_on = True  # whether all sequences go on
        for b in range(batch):
            mask[b] = ONE if t < lengths[b] else ZERO
            all_go_on = all_go_on and t < lengths[b]
        h_at, new_at = now * hidden * wide, (1 - now) * hidden * wide
        arguments = kind, weights, bias, p, k * batch, state, h_at, new_at, mask, all_go_on, line, stride, t, out
        share(_step_over_batch, arguments, tasks, threads, least, team)
        now = 1 - now
    return now


@inner_njit(error_model="numpy")
def _inputs_of_units(arguments, task, who):
    """P of all gates of UNITS units, for all columns of a block. The last task may write rows of another once more, the
    same."""
    count, weights, hidden, depth, line, p = arguments
    start, wide, numbers = task * UNITS, p.shape[1], memory(p)
    for k in range(count):
        row = k * hidden + start
        _products(
            memory(weights), (task * count + k) * PANELS, row, min(UNITS, hidden - start), depth, memory(line), 0, wide,
            numbers, 0, wide, False, numbers, row * wide,
        )  # fmt: skip


@cached_njit(error_model="numpy")
def _inputs(count, weights, hidden, x, line, p, threads, team):
    """P = W x: U's panels of W, and x (columns, features) turned into `line`. Each W is packed once for all blocks of
    steps."""
    columns, depth = x.shape
    wide = p.shape[1]
    pack(memory(x), 0, 1, depth, depth, columns, memory(line), 0, wide)
    least = count * hidden * depth * wide // 40
    share(_inputs_of_units, (count, weights, hidden, depth, line, p), -(-hidden // UNITS), threads, least, team)


def line_of(size):
    """A new line of memory of zeros, with room for a tile behind its end."""
    return aligned_zeros((size + VECTORS * lanes,), np.float32)


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
    threads, stride = threads_for(g.hidden, wide, gates), gates * (UNITS + ROWS) * wide
    line, mask = line_of(threads * stride), np.zeros(wide, np.float32)
    lengths = np.full(g.batch, g.steps) if g.lengths is None else g.lengths
    block = max(1, BLOCK // (gates * g.hidden * g.batch))
    if block > 1 and block * g.batch % APART == 0:
        block -= 1
    features, most = x.shape[2], -(-min(block, g.steps) * g.batch // lanes) * lanes
    room, now = line_of(gates * g.hidden * most), 0
    if features <= DEEP:
        of_x, turned = panels(w_ih, gates), line_of(features * most)
    begins = range(0, g.steps, block)
    for begin in reversed(begins) if reverse else begins:
        some = np.ascontiguousarray(x[begin : begin + block].reshape(-1, features))
        columns = -(-len(some) // lanes) * lanes if features <= DEEP else len(some)
        p = room[: gates * g.hidden * columns].reshape(gates * g.hidden, columns)
        if features <= DEEP:
            _inputs(gates, of_x, g.hidden, some, turned, p, threads, team.members())
        else:
            multiply_contiguous(w_ih, some.T, p)
        now = _over_batch(
            kind, weights, bias, p, state, now, mask, lengths, line, stride, begin, len(some) // g.batch, reverse, out,
            threads, team.members(),
        )  # fmt: skip
    h[:] = state[now * size : (now + 1) * size].reshape(g.hidden, wide)[:, : g.batch].T
    if c is not None:
        c[:] = state[(2 + now) * size : (3 + now) * size].reshape(g.hidden, wide)[:, : g.batch].T


# ---- over the units --------------------------------------------------------------------------------------------------


@inner_njit(error_model="numpy")
def _step_over_units(arguments, task, who):
    """One step of ACROSS vectors of units of a single sequence. The last task begins earlier, in rows of its own."""
    kind, weights, bias_h, p, p_at, state, h_at, new_at, going, line, stride, out, out_at, backwards = arguments
    hidden = weights.shape[1]
    task = -(-hidden // (ACROSS * lanes)) - 1 - task if backwards else task
    start = task * ACROSS * lanes
    units = min(ACROSS * lanes, hidden - start)
    begin = min(start, hidden - ACROSS * lanes)
    gates, states, numbers, weight_line, bias_line = (
        memory(line),
        memory(state),
        memory(p),
        memory(weights),
        memory(bias_h),
    )
    gates_at, gate_stride = who * stride, ACROSS * lanes
    count = 4 if kind == LSTM else 3
    for k in range(count):
        column = k * hidden + begin
        if kind == LSTM or k < 2:
            acc = tile_load(numbers, p_at + column, 0, 1, ACROSS)
        else:
            acc = tile_load(bias_line, begin, 0, 1, ACROSS)
        weights_at = (task * count + k) * hidden * ACROSS * lanes
        acc = tile_multiply_add(acc, hidden, states, h_at, (0, 1), weight_line, weights_at, ACROSS * lanes)
        tile_store(gates, gates_at + k * gate_stride, 0, acc)
    # New states stand where gates were, until those that are this task's own go where others read them.
    of_n, ones, result, skipped = p_at + 2 * hidden + begin, memory(going), memory(out), start - begin
    for v in range(skipped // lanes * lanes, gate_stride, lanes):
        if kind == LSTM:
            lstm_vector(
                gates, gates_at + v, gate_stride, ZERO, ZERO, ZERO, ZERO, ones, 0, states, h_at + begin + v,
                h_at + 2 * hidden + begin + v,
                gates, gates_at + v, gates_at + gate_stride + v,
            )  # fmt: skip
        else:
            gru_vector(
                gates, gates_at + v, gate_stride, numbers, of_n + v, ZERO, ZERO, ZERO, ZERO, ones, 0, states,
                h_at + begin + v,
                gates, gates_at + v,
            )  # fmt: skip
    for unit in range(units):
        gate_at = gates_at + skipped + unit
        states[new_at + start + unit] = result[out_at + start + unit] = gates[gate_at]
        if kind == LSTM:
            states[new_at + 2 * hidden + start + unit] = gates[gate_at + gate_stride]


@cached_njit(error_model="numpy")
def _over_units(kind, weights, bias_h, p, state, now, ones, line, stride, begin, steps, reverse, out, b, threads, team):
    hidden, rows = weights.shape[1], p.shape[1]
    tasks, least = -(-hidden // (ACROSS * lanes)), hidden * hidden // 4
    for number in range(steps):
        k = steps - 1 - number if reverse else number
        h_at, new_at = now * hidden, (1 - now) * hidden
        out_at = ((begin + k) * out.shape[1] + b) * hidden
        # To and fro: what a thread read last of U is what its cache still has. A team keeps its order, each its part.
        backwards = threads == 1 and number % 2 == 1
        arguments = kind, weights, bias_h, p, k * rows, state, h_at, new_at, ones, line, stride, out, out_at, backwards
        share(_step_over_units, arguments, tasks, threads, least, team)
        now = 1 - now
    return now


def columns(w_hh, gates):
    """U in the order in which tasks read it: for each task and gate (hidden, units). The last task begins earlier if it
    must."""
    hidden, units = w_hh.shape[1], ACROSS * lanes
    starts = [k * hidden + min(u, hidden - units) for u in range(0, hidden, units) for k in range(gates)]
    return packed(w_hh, starts, units)


def over_units(kind, g, reverse, x, h, c, w_ih, weights, bias, bias_h, out, b):
    """Sequence b alone. weights: as `columns` gives them; bias: what is added to P; bias_h: to U h of the GRU's n."""
    rows, hidden = GATES[g.kind] * g.hidden, g.hidden
    steps = g.steps if g.lengths is None else int(g.lengths[b])
    state = line_of(4 * hidden)
    state[:hidden] = h[b]
    if c is not None:
        state[2 * hidden : 3 * hidden] = c[b]
    threads, stride = threads_for(hidden, 1, GATES[g.kind]), GATES[g.kind] * ACROSS * lanes
    line, ones = line_of(threads * stride), np.ones(ACROSS * lanes, np.float32)
    block, now = max(1, BLOCK // rows), 0
    begins = range(0, steps, block)
    for begin in reversed(begins) if reverse else begins:
        p = product(np.ascontiguousarray(x[begin : min(begin + block, steps), b]), w_ih.T)
        p += bias
        now = _over_units(
            kind, weights, bias_h, p, state, now, ones, line, stride, begin, len(p), reverse, out, b, threads,
            team.members(),
        )  # fmt: skip
    h[b] = state[now * hidden : (now + 1) * hidden]
    if c is not None:
        c[b] = state[(2 + now) * hidden : (3 + now) * hidden]


# ---- the rungs -------------------------------------------------------------------------------------------------------


def in_vectors(g, reverse, x, h, c, w_ih, w_hh, b_ih, b_hh, out):
    """A layer in one direction, in the form that fits; small ones as the rung below."""
    kind, hidden = LSTM if g.kind == "lstm" else GRU, g.hidden
    few = g.batch < lanes // 4 or g.batch == 1
    if hidden < (ACROSS * lanes if few else ROWS):
        inputs_batched(g, reverse, x, h, c, w_ih, w_hh, b_ih, b_hh, out)
        return
    zeros = np.zeros(GATES[g.kind] * hidden, np.float32)
    b_ih, b_hh = (zeros if array is None else array for array in (b_ih, b_hh))
    bias = b_ih + b_hh
    if kind == GRU:  # what U h of n is multiplied with comes after its bias
        bias = np.concatenate((bias[: 2 * hidden], b_ih[2 * hidden :], b_hh[2 * hidden :]))
    if few:
        weights = columns(w_hh, GATES[g.kind])
        for b in range(g.batch):
            rows = bias[: GATES[g.kind] * hidden]
            over_units(kind, g, reverse, x, h, c, w_ih, weights, rows, bias[-hidden:].copy(), out, b)
    else:
        over_batch(kind, g, reverse, x, h, c, w_ih, w_hh, bias, out)


WHAT = (
    "a step is a job of the team, each task has all gates of some units; vectors over the batch, or over units for "
    "batch 1"
)


@implementation("lstm", device="cpu", adds=WHAT, dtypes=("float32",))
@on_layers
def lstm_vectors(*arguments):
    in_vectors(*arguments)


@implementation("gru", device="cpu", adds=WHAT, dtypes=("float32",), public=True)
@on_layers
def gru_vectors(*arguments):
    in_vectors(*arguments)
