"""Attention without a softmax: a state of fixed size instead of a cache that grows.

    linear_attention    S_t = a_t S_{t-1} + k_t v_t^T                             (Katharopoulos and others 2020; with
                        decay, Sun 2023)
    gated_delta_rule    S_t = a_t (I - b_t k_t k_t^T) S_{t-1} + b_t k_t v_t^T     (Yang, Kautz and Hatamizadeh 2024)
    of both             o_t = scale * S_t^T q_t,  a_t = e^(g_t)

The delta rule takes away what the state holds for a key before it writes the key's new value: with d_t = b_t (v_t - a_t
S_{t-1}^T k_t) its state, too, grows by k_t d_t^T.

The ladders                     what the rung adds
    *_recurrence    a token at a time: the state is read and written for each; heads on all cores
    *_chunks        64 tokens at a time by products of matrices: the state is read and written once for all of them

Within a chunk, with G_i = g_1 + ... + g_i and S the state before it,

    D = V, or for the delta rule the solution of (I + L) D = b (V - e^G K S),  L_ij = b_i e^(G_i - G_j) k_i . k_j for j
                                                                               < i
    O = scale (e^G Q S + (Q K^T * e^(G_i - G_j) for j <= i) D)
    S = e^(G_last) S + K^T (e^(G_last - G_j) D)
"""

import math

import numpy as np
from numba import njit, prange

from .. import team
from ..host import plain, workspace
from ..implementations import implementation
from ..matrix.blocks import REGISTERS
from ..simd import fma, lanes, load, minimum, store, vector_width
from ..simd.cache import cached_njit
from ..simd.exponential import exp
from ..simd.line import memory
from ..simd.tile import tile_load, tile_multiply_add, tile_store, tile_zeros
from ..team import share
from .flash import ALONE

CHUNK = 64


def on_lines(way):
    """The function of a rung: `way(q, k, v, g, beta, out)` takes (heads, tokens, ...); q is scaled, g zeros where there
    is none."""

    def wrapper(k, v, g, beta, scale, q):
        out = np.zeros((*q.shape[:-1], v.shape[-1]), q.dtype)
        if out.size:
            heads, tokens = math.prod(q.shape[:-2]), q.shape[-2]
            lines = [plain(x).reshape(heads, tokens, x.shape[-1]) for x in (q * q.dtype.type(scale), k, v)]
            g = np.zeros((heads, tokens), q.dtype) if g is None else plain(g).reshape(heads, tokens)
            beta = None if beta is None else plain(beta).reshape(heads, tokens)
            way(*lines, g, beta, out.reshape(heads, tokens, -1))
        return out

    return wrapper


# ---- 1: a token at a time ----------------------------------------------------------------------------------------


@cached_njit(parallel=True, error_model="numpy", fastmath={"contract"})
def _recurrence(q, k, v, g, beta, delta, out):
    heads, tokens, width = q.shape
    for h in prange(heads):
        state, new = np.zeros((width, v.shape[2]), q.dtype), np.empty(v.shape[2], q.dtype)
        for t in range(tokens):
            decay = math.exp(g[h, t])
            new[:] = v[h, t]
            for p in range(width):
                for c in range(new.size):
                    state[p, c] *= decay
                    if delta:
                        new[c] -= k[h, t, p] * state[p, c]
            if delta:
                new *= beta[h, t]
            for p in range(width):
                for c in range(new.size):
                    state[p, c] += k[h, t, p] * new[c]
                    out[h, t, c] += q[h, t, p] * state[p, c]


def by_recurrence(q, k, v, g, beta, out):
    _recurrence(q, k, v, g, g if beta is None else beta, beta is not None, out)


# ---- 2: chunks ---------------------------------------------------------------------------------------------------

ROWS = 8 if REGISTERS == 32 else 4  # of a register tile, two vectors wide


@njit
def row_products(a, a_start, steps, b, b_start, b_step, c, c_start, columns, depth, fresh):
    """ROWS rows of c = a b, or c += a b unless `fresh`; columns of c: a multiple of two vectors, from one row to the
    next, too."""
    for left in range(0, columns, 2 * lanes(c)):
        acc = tile_zeros(c, ROWS, 2) if fresh else tile_load(c, c_start + left, b_step, ROWS, 2)
        acc = tile_multiply_add(acc, depth, a, a_start, steps, b, b_start + left, b_step)
        tile_store(c, c_start + left, b_step, acc)


@njit
def fade(line, start, sums, factors, size):
    """Row i of a triangle is multiplied by factors[i] e^(sums[i] - sums[j]) for j <= i; zeros above it."""
    for i in range(size):
        row = start + i * size
        for j in range(0, i + 1, lanes(line)):
            distance = exp(minimum(line[sums + i] - load(line, sums + j), line.dtype.type(0)))
            store(line, row + j, line[factors + i] * distance * load(line, row + j))
        line[row + i + 1 : row + size] = 0


@njit
def substitute(line, system, new, size, columns):
    """new = the solution of (I + system) x = new; of `system`, (size, size), what lies below the diagonal counts."""
    for i in range(size):
        for left in range(0, columns, 2 * lanes(line)):
            there = new + i * columns + left
            x0, x1 = load(line, there), load(line, there + lanes(line))
            for j in range(i):
                factor, above = -line[system + i * size + j], new + j * columns + left
                x0 = fma(factor, load(line, above), x0)
                x1 = fma(factor, load(line, above + lanes(line)), x1)
            store(line, there, x0)
            store(line, there + lanes(line), x1)


@njit
def scale(line, start, count, factor):
    """So many numbers, whole vectors, times the factor."""
    for i in range(0, count, lanes(line)):
        store(line, start + i, factor * load(line, start + i))


@njit
def _chunks(arguments, head, who):
    """All chunks of a head, one after the other."""
    q, k, v, g, beta, delta, out, lines, per_thread, size = arguments
    (tokens, width), columns, line = q.shape[1:], v.shape[2], memory(lines)
    turned = per_thread * who
    scores = turned + width * size
    system = scores + size * size
    new = system + size * size
    result = new + size * columns
    state = result + size * columns
    sums = state + width * columns
    ones, part = sums + size, sums + 2 * size
    line[state:sums] = 0
    line[ones : ones + size] = 1
    from_q, from_k, from_v, two = memory(q), memory(k), memory(v), 2 * lanes(line)
    for begin in range(0, tokens, size):
        first_row, total = head * tokens + begin, line.dtype.type(0)
        for i in range(size):
            total += g[head, begin + i]
            line[sums + i] = total
            line[part + i] = beta[head, begin + i]
            for p in range(width):
                line[turned + p * size + i] = from_k[(first_row + i) * width + p]
        for top in range(0, size, ROWS):
            rows, across = (first_row + top) * width, (top + ROWS + two - 1) // two * two
            square_start, offset = top * size, top * columns
            row_products(from_q, rows, (width, 1), line, turned, size, line, scores + square_start, across, width, True)
            row_products(from_q, rows, (width, 1), line, state, columns, line, result + offset, columns, width, True)
            if delta:
                row_products(
                    from_k, rows, (width, 1), line, turned, size, line, system + square_start, across, width, True
                )
                row_products(from_k, rows, (width, 1), line, state, columns, line, new + offset, columns, width, True)
        fade(line, scores, sums, ones, size)
        for i in range(size):
            grown = exp(line[sums + i])
            scale(line, result + i * columns, columns, grown)
            for c in range(0, columns, lanes(line)):
                value, offset = load(from_v, (first_row + i) * columns + c), new + i * columns + c
                if delta:
                    value = line[part + i] * fma(-grown, load(line, offset), value)
                store(line, offset, value)
        if delta:
            fade(line, system, sums, part, size)
            substitute(line, system, new, size, columns)
        for top in range(0, size, ROWS):
            row, offset = scores + top * size, result + top * columns
            row_products(line, row, (size, 1), line, new, columns, line, offset, columns, top + ROWS, False)
        for i in range(size):
            scale(line, new + i * columns, columns, exp(total - line[sums + i]))
        scale(line, state, width * columns, exp(total))
        for top in range(0, width, ROWS):
            offset = state + top * columns
            row_products(
                from_k, first_row * width + top, (1, width), line, new, columns, line, offset, columns, size, False
            )
        for i in range(min(size, out.shape[1] - begin)):
            for c in range(out.shape[2]):
                out[head, begin + i, c] = line[result + i * columns + c]


@cached_njit(error_model="numpy")
def _on_heads(arguments, heads, threads, least, team):
    share(_chunks, arguments, heads, threads, least, team)


def by_chunks(q, k, v, g, beta, out):
    heads, tokens, width = q.shape
    two = 2 * vector_width(q.dtype)
    size = up(min(CHUNK, tokens), two)

    def room(x, *last):
        """x with zeros behind it, up to whole chunks and whole tiles: they change no state."""
        if x.shape == (heads, up(tokens, size), *last):
            return x
        padded = np.zeros((heads, up(tokens, size), *last), x.dtype)
        padded[(slice(None), *map(slice, x.shape[1:]))] = x
        return padded

    width, columns = up(width, ROWS), up(v.shape[2], two)
    q, k, v = room(q, width), room(k, width), room(v, columns)
    delta = beta is not None
    g = room(g)
    beta = room(beta) if delta else g
    per_thread = size * (width + 2 * size + 2 * columns + 3) + width * columns
    work = heads * tokens * (size * (width + columns) + 2 * width * columns)
    threads = 1 if work < ALONE else min(heads, team.size())
    lines = workspace(q.dtype, threads * per_thread)
    _on_heads((q, k, v, g, beta, delta, out, lines, per_thread, size), heads, threads, work // 100, team.members())


def up(number, multiple):
    """The next multiple."""
    return -(-number // multiple) * multiple


ONE = "a token at a time: its state is read and written for each; heads are shared out over all cores"
MANY = "64 tokens at a time, by products of matrices: the state is read and written once for all of them"


@implementation("linear_attention", device="cpu", adds=ONE)
def linear_recurrence(k, v, g, scale, q):
    return on_lines(by_recurrence)(k, v, g, None, scale, q)


@implementation("linear_attention", device="cpu", adds=MANY, public=True)
def linear_chunks(k, v, g, scale, q):
    return on_lines(by_chunks)(k, v, g, None, scale, q)


@implementation("gated_delta_rule", device="cpu", adds=ONE)
def delta_recurrence(k, v, g, beta, scale, q):
    return on_lines(by_recurrence)(k, v, g, beta, scale, q)


@implementation(
    "gated_delta_rule",
    device="cpu",
    adds=f"{MANY}; what tokens of a chunk take away from each other is a triangular system",
    public=True,
)
def delta_chunks(k, v, g, beta, scale, q):
    return on_lines(by_chunks)(k, v, g, beta, scale, q)
