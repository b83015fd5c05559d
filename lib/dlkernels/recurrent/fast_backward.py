"""The gradient of an LSTM for one or few sequences on a CPU, in float32: the loop over the steps is compiled.

A step in NumPy is some twenty calls on short arrays, and each costs more than its arithmetic. Here there is no call at
all: U is read once a step, from the cache, forward a row times h, backward a sum of rows. For more sequences U is worth
a tile (fast_kept.py).
"""

import numpy as np
from numba import njit

from ..matrix.backward import product
from ..simd import broadcast, fma, lanes, load, reduce_add, store
from ..simd.cache import cached_njit
from ..simd.inner import inner_njit
from ..simd.line import memory
from ..vector.fast import sigmoid, tanh
from .cpu import lengths_of, of_all_inputs
from .layers import in_order

FEW = 4  # sequences below which a product of matrices costs more than its arithmetic
f32 = np.float32
ZERO, ONE = f32(0), f32(1)
compiled = njit(error_model="numpy", fastmath={"contract"})


# ---- one sequence, one step ------------------------------------------------------------------------------------------


# LLVM makes vectors of these loops as each writes one or two arrays and reads few others (fast.py says more).


@compiled
def forward_lanes(hidden, of_x, of_h, before, gates, cell, squashed, h):
    """gates, cell, squashed = tanh(cell) and h of one sequence, after W x + b and U h + d."""
    i, f, o = gates[:hidden], gates[hidden : 2 * hidden], gates[3 * hidden :]
    g, of_g, of_hg = gates[2 * hidden : 3 * hidden], of_x[2 * hidden : 3 * hidden], of_h[2 * hidden : 3 * hidden]
    of_o, of_ho = of_x[3 * hidden :], of_h[3 * hidden :]
    for j in range(2 * hidden):
        gates[j] = sigmoid(of_x[j] + of_h[j], ZERO)
    for j in range(hidden):
        g[j] = tanh(of_g[j] + of_hg[j], ZERO)
    for j in range(hidden):
        o[j] = sigmoid(of_o[j] + of_ho[j], ZERO)
    for j in range(hidden):
        cell[j] = f[j] * before[j] + i[j] * g[j]
    for j in range(hidden):
        squashed[j] = tanh(cell[j], ZERO)
    for j in range(hidden):
        h[j] = o[j] * squashed[j]


@compiled
def backward_lanes(hidden, grad, of_h, of_c, gates, before, squashed, of_gates):
    """of_gates from the gradients of h and c of one sequence; of_h is used up, of_c becomes that of c before."""
    i, f, o = gates[:hidden], gates[hidden : 2 * hidden], gates[3 * hidden :]
    g, of_i, of_f = gates[2 * hidden : 3 * hidden], of_gates[:hidden], of_gates[hidden : 2 * hidden]
    of_g, of_o = of_gates[2 * hidden : 3 * hidden], of_gates[3 * hidden :]
    for j in range(hidden):
        of_h[j] += grad[j]
    for j in range(hidden):
        of_c[j] += of_h[j] * o[j] * (ONE - squashed[j] * squashed[j])
    for j in range(hidden):
        of_o[j] = of_h[j] * squashed[j] * o[j] * (ONE - o[j])
    for j in range(hidden):
        of_i[j] = of_c[j] * g[j] * i[j] * (ONE - i[j])
    for j in range(hidden):
        of_g[j] = of_c[j] * i[j] * (ONE - g[j] * g[j])
    for j in range(hidden):
        of_f[j] = of_c[j] * before[j] * f[j] * (ONE - f[j])
    for j in range(hidden):
        of_c[j] *= f[j]


# ---- U times a vector ------------------------------------------------------------------------------------------------


@inner_njit()
def times(weights, rows, n, h, out):
    """out[r] = the sum over k < n of weights[r, k] * h[k]: four rows at a time, but for those that are left."""
    width = lanes(h)
    for r in range(rows // 4 * 4, rows):
        out[r] = ZERO
        for k in range(n):
            out[r] += weights[r * n + k] * h[k]
    for r in range(0, rows - 3, 4):
        row_start, k = r * n, 0
        a = b = c = d = broadcast(ZERO)
        while k + width <= n:
            v, i = load(h, k), row_start + k
            a, b = fma(load(weights, i), v, a), fma(load(weights, i + n), v, b)
            c, d = fma(load(weights, i + 2 * n), v, c), fma(load(weights, i + 3 * n), v, d)
            k += width
        out[r], out[r + 1], out[r + 2], out[r + 3] = reduce_add(a), reduce_add(b), reduce_add(c), reduce_add(d)
        while k < n:
            for m in range(4):
                out[r + m] += weights[row_start + m * n + k] * h[k]
            k += 1


@inner_njit()
def transposed_times(weights, rows, n, factors, out):
    """out[k] = the sum over r of factors[r] * weights[r, k], for k < n: four rows at a time."""
    width = lanes(out)
    for k in range(n):
        out[k] = ZERO
    for r in range(rows // 4 * 4, rows):
        for k in range(n):
            out[k] += factors[r] * weights[r * n + k]
    for r in range(0, rows - 3, 4):
        row_start, k = r * n, 0
        p, q, s, t = factors[r], factors[r + 1], factors[r + 2], factors[r + 3]
        while k + width <= n:
            i = row_start + k
            low = fma(load(weights, i), broadcast(p), load(out, k))
            high = fma(load(weights, i + 2 * n), broadcast(s), load(weights, i + 3 * n) * t)
            store(out, k, fma(load(weights, i + n), broadcast(q), low) + high)
            k += width
        while k < n:
            i = row_start + k
            out[k] += p * weights[i] + q * weights[i + n] + (s * weights[i + 2 * n] + t * weights[i + 3 * n])
            k += 1


# ---- all steps -------------------------------------------------------------------------------------------------------


@cached_njit(error_model="numpy")
def forward_steps(start, stop, step, lengths, of_x, of_h, w_hh, h, c, states, cells, gates, squashed, out):
    """Steps start, start + step, ... before stop."""
    batch, hidden = h.shape
    for t in range(start, stop, step):
        for b in range(batch):
            for j in range(hidden):
                states[t, b, j], cells[t, b, j] = h[b, j], c[b, j]
            if t >= lengths[b]:
                continue
            times(memory(w_hh), 4 * hidden, hidden, memory(h[b]), of_h[b])
            forward_lanes(hidden, of_x[t, b], of_h[b], cells[t, b], gates[t, b], c[b], squashed[t, b], h[b])
            for j in range(hidden):
                out[t, b, j] = h[b, j]


@cached_njit(error_model="numpy")
def backward_steps(start, stop, step, lengths, grad, w_hh, of_h, of_c, cells, gates, squashed, of_gates):
    batch, hidden = of_h.shape
    for t in range(start, stop, step):
        for b in range(batch):
            if t >= lengths[b]:
                of_gates[t, b] = ZERO
                continue
            backward_lanes(
                hidden, grad[t, b], of_h[b], of_c[b], gates[t, b], cells[t, b], squashed[t, b], of_gates[t, b]
            )
            transposed_times(memory(w_hh), 4 * hidden, hidden, of_gates[t, b], memory(of_h[b]))


def forward_in_vectors(g, reverse, x, h, c, w_ih, w_hh, b_ih, b_hh, out):
    """As `backward.forward`, for an LSTM."""
    shape = g.steps, g.batch, g.hidden
    states, cells, squashed = (np.empty(shape, f32) for _ in range(3))
    gates, of_x = np.empty((*shape[:2], 4 * g.hidden), f32), of_all_inputs(g, x, w_ih, b_ih)
    if b_hh is not None:
        of_x += b_hh
    of_h, steps = np.empty((g.batch, 4 * g.hidden), f32), in_order(g.steps, reverse)
    forward_steps(
        steps.start, steps.stop, steps.step, lengths_of(g), of_x, of_h, w_hh, h, c, states, cells, gates, squashed, out
    )
    return states, (cells, gates, squashed)


def backward_in_vectors(g, reverse, grad, of_h, of_c, x, kept, w_ih, w_hh):
    """As `backward.backward`, for an LSTM."""
    states, steps = kept
    of_gates, rows = np.empty_like(steps[1]), g.steps * g.batch
    order, arrived = in_order(g.steps, not reverse), np.ascontiguousarray(grad)
    backward_steps(order.start, order.stop, order.step, lengths_of(g), arrived, w_hh, of_h, of_c, *steps, of_gates)
    lines = of_gates.reshape(rows, 4 * g.hidden)
    of_x = product(lines, w_ih).reshape(g.steps, g.batch, x.shape[2])
    of_w_ih, of_w_hh = (product(lines.T, array.reshape(rows, array.shape[2])) for array in (x, states))
    sums = lines.sum(axis=0, dtype=np.float64).astype(f32)
    return of_x, of_w_ih, of_w_hh, sums, sums.copy()
