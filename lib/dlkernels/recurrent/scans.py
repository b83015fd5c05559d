"""Linear recurrences h_t = a_t h_{t-1} + b_t on the CPU, and the networks that are made of them.

The ladder of scan            what the rung adds
    scan_sequential    as the formula is written: each step waits for the one before
    scan_channels      channels that lie beside each other are lanes of a vector; all cores have some
    scan_chunks        few channels: four rows at a time, so that a core has something to do while a step waits. A
                       single row is cut into chunks, which are walked through twice: first for each chunk's product of
                       all a and what it would end with after zero, and when it is known what comes before it, for its
                       results

A chunk as a whole is again a step, h = p h + e (Blelloch 1990): so time can be cut, which states that are not linear in
each other do not allow. The price is a second walk: it pays where other cores are idle.
"""

import functools
import math

import numpy as np

from .. import team
from ..host import plain
from ..implementations import implementation
from ..matrix.backward import product
from ..simd import fma, lanes, load, store, vector_width
from ..simd.cache import cached_njit
from ..simd.inner import inner_njit
from ..simd.line import memory
from ..team import share
from .reference import before

PARALLEL_FROM = 1 << 15  # numbers below which waking another thread costs more than it gains
CHUNK = 1 << 12  # steps of a chunk at least
PAGE = 1024  # rows whose distance is near a multiple of this many numbers share the same places of a cache
BLOCK = 64  # steps after which a product that is as good as zero is made zero: denormal numbers are slow
NOTHING = 1e-280


def on_lines(rung):
    """Let `rung(a, b, h, out, reverse)`, written for contiguous arrays (before, steps, after), take any dimension.

    h: (before, after), the state before the first step, which it may change. Empty arrays never reach it.
    """

    @functools.wraps(rung)
    def wrapper(dim, reverse, h0, a, b):
        shape, out = a.shape, np.empty(a.shape, a.dtype)
        lines = math.prod(shape[:dim]), shape[dim], math.prod(shape[dim + 1 :])
        if out.size:
            state = lines[0], lines[2]
            h = np.zeros(state, a.dtype) if h0 is None else np.array(h0, order="C").reshape(state)
            rung(plain(a).reshape(lines), plain(b).reshape(lines), h, out.reshape(lines), reverse)
        return out

    return wrapper


# ---- 1: as the formula is written ------------------------------------------------------------------------------------


@inner_njit()
def walk(a, b, out, index, step, count, h):
    """One row: `count` steps from element `index` on. Returns the last state."""
    for _ in range(count):
        h = a[index] * h + b[index]
        out[index] = h
        index += step
    return h


@cached_njit()
def _sequential(a, b, h, out, reverse):
    rows, steps, after = a.shape
    a_line, b_line, result = memory(a), memory(b), memory(out)
    step, first_step = (-after, (steps - 1) * after) if reverse else (after, 0)
    for r in range(rows):
        for c in range(after):
            walk(a_line, b_line, result, r * steps * after + first_step + c, step, steps, h[r, c])


@implementation("scan", device="cpu", adds="as the formula is written: each step waits for the one before")
@on_lines
def scan_sequential(a, b, h, out, reverse):
    _sequential(a, b, h, out, reverse)


# ---- 2: channels side by side ----------------------------------------------------------------------------------------


@inner_njit()
def _some_channels(arguments, task, who):
    """All steps of some channels of one row."""
    a, b, h, out, reverse, width = arguments
    _, steps, after = a.shape
    blocks = -(-after // width)
    r, first_channel = task // blocks, task % blocks * width
    end, state = min(after, first_channel + width), memory(h)
    a_line, b_line, result, vector, base = memory(a), memory(b), memory(out), lanes(a), r * after
    for t in range(steps):
        step_at = (r * steps + (steps - 1 - t if reverse else t)) * after
        c = first_channel
        while c + vector <= end:
            new = fma(load(a_line, step_at + c), load(state, base + c), load(b_line, step_at + c))
            store(state, base + c, new)
            store(result, step_at + c, new)
            c += vector
        while c < end:
            state[base + c] = a_line[step_at + c] * state[base + c] + b_line[step_at + c]
            result[step_at + c] = state[base + c]
            c += 1


@cached_njit()
def _channels(a, b, h, out, reverse, width, tasks, threads, least, team):
    share(_some_channels, (a, b, h, out, reverse, width), tasks, threads, least, team)


def channels(a, b, h, out, reverse):
    rows, _, after = a.shape
    threads = 1 if a.size < PARALLEL_FROM else team.size()
    vector = vector_width(a.dtype)
    width = max(vector, -(-after * rows // (4 * threads) // vector) * vector) if threads > 1 else after
    _channels(a, b, h, out, reverse, width, rows * -(-after // width), threads, a.size // 4, team.members())


@implementation(
    "scan", device="cpu", adds="channels that lie beside each other are lanes of a vector; all cores have some"
)
@on_lines
def scan_channels(a, b, h, out, reverse):
    channels(a, b, h, out, reverse)


# ---- 3: rows side by side, and chunks of a row -----------------------------------------------------------------------


@inner_njit()
def walk_four(a, b, out, i0, i1, i2, i3, step, count, h, i, j, k):
    """`walk` for four rows: chains of steps that do not wait for each other."""
    for _ in range(count):
        h = a[i0] * h + b[i0]
        i = a[i1] * i + b[i1]
        j = a[i2] * j + b[i2]
        k = a[i3] * k + b[i3]
        out[i0], out[i1], out[i2], out[i3] = h, i, j, k
        i0, i1 = i0 + step, i1 + step
        i2, i3 = i2 + step, i3 + step


@inner_njit()
def ends_of_four(a, b, i0, apart, step, count, products, ends, number):
    """Of four chunks: the product of all a, in float64, where it has room, and the last state after zero."""
    i1, i2, i3 = i0 + apart, i0 + 2 * apart, i0 + 3 * apart
    h = i = j = k = a.dtype.type(0)
    p = q = r = s = 1.0
    for begin in range(0, count, BLOCK):
        for _ in range(min(BLOCK, count - begin)):
            h, p = a[i0] * h + b[i0], p * a[i0]
            i, q = a[i1] * i + b[i1], q * a[i1]
            j, r = a[i2] * j + b[i2], r * a[i2]
            k, s = a[i3] * k + b[i3], s * a[i3]
            i0, i1, i2, i3 = i0 + step, i1 + step, i2 + step, i3 + step
        p, q, r, s = or_zero(p), or_zero(q), or_zero(r), or_zero(s)
    ends[number], ends[number + 1], ends[number + 2], ends[number + 3] = h, i, j, k
    products[number], products[number + 1], products[number + 2], products[number + 3] = p, q, r, s


@inner_njit()
def or_zero(p):
    """p, or 0 for what is as good as it; NaN stays NaN."""
    return 0.0 if abs(p) < NOTHING else p


@inner_njit()
def _four_rows(arguments, task, who):
    a, b, h, out, step, first_step, steps, after = arguments
    a_line, b_line, result, state = memory(a), memory(b), memory(out), memory(h)
    row = 4 * task
    if row + 4 <= h.size:
        places = (
            place(row, steps, after) + first_step,
            place(row + 1, steps, after) + first_step,
            place(row + 2, steps, after) + first_step,
            place(row + 3, steps, after) + first_step,
        )
        walk_four(
            a_line, b_line, result, *places, step, steps, state[row], state[row + 1], state[row + 2], state[row + 3]
        )
    else:
        for r in range(row, h.size):
            walk(a_line, b_line, result, place(r, steps, after) + first_step, step, steps, state[r])


@inner_njit()
def place(row, steps, after):
    """Where a row, (before, after) in one number, begins."""
    return row // after * steps * after + row % after


@cached_njit()
def _rows(a, b, h, out, reverse, threads, least, team):
    _, steps, after = a.shape
    step, first_step = (-after, (steps - 1) * after) if reverse else (after, 0)
    share(_four_rows, (a, b, h, out, step, first_step, steps, after), -(-h.size // 4), threads, least, team)


@inner_njit()
def _ends(arguments, task, who):
    a, b, row_start, step, size, products, ends = arguments
    ends_of_four(
        memory(a), memory(b), row_start + 4 * task * size * step, size * step, step, size, products, ends, 4 * task
    )


@inner_njit()
def _results(arguments, task, who):
    a, b, out, row_start, step, size, states = arguments
    begin, apart = row_start + 4 * task * size * step, size * step
    k = 4 * task
    walk_four(
        memory(a), memory(b), memory(out), begin, begin + apart, begin + 2 * apart, begin + 3 * apart, step, size,
        states[k], states[k + 1], states[k + 2], states[k + 3],
    )  # fmt: skip


@cached_njit()
def _chunks(a, b, h, out, reverse, size, chunks, threads, least, team):
    """Each row in chunks: their ends, the states between them, their results, and what is left of the row."""
    _, steps, after = a.shape
    step, first_step = (-after, (steps - 1) * after) if reverse else (after, 0)
    products, ends, states, start = np.empty(chunks), np.empty(chunks, a.dtype), np.empty(chunks, a.dtype), memory(h)
    for row in range(h.size):
        row_start = place(row, steps, after) + first_step
        share(_ends, (a, b, row_start, step, size, products, ends), chunks // 4, threads, least, team)
        state = start[row]
        for k in range(chunks):
            states[k] = state
            if abs(products[k]) < np.inf:
                state = a.dtype.type(products[k] * state) + ends[k]
            else:  # too large for a number, but perhaps not what it is multiplied with: step by step
                state = walk(memory(a), memory(b), memory(out), row_start + k * size * step, step, size, state)
        share(_results, (a, b, out, row_start, step, size, states), chunks // 4, threads, least, team)
        left = chunks * size
        walk(memory(a), memory(b), memory(out), row_start + left * step, step, steps - left, state)


def chunk_size(steps, threads):
    """(steps of a chunk, chunks): four for each of some tasks, at distances that do not share places of a cache."""
    tasks = max(1, min(steps // (4 * CHUNK), 4 * threads))
    size = steps // (4 * tasks)
    return size - PAGE // 12 if (size + PAGE // 32) % PAGE < PAGE // 16 else size, 4 * tasks


@implementation(
    "scan",
    device="cpu",
    adds=(
        "few channels: four rows at a time, so that no step waits; a long row in chunks, which are walked through twice"
    ),
    public=True,
)
@on_lines
def scan_chunks(a, b, h, out, reverse):
    _, steps, after = a.shape
    threads = 1 if a.size < PARALLEL_FROM else team.size()
    if after >= vector_width(a.dtype):
        channels(a, b, h, out, reverse)
    elif h.size < 4 * threads and threads > 1 and steps >= 4 * CHUNK:
        size, chunks = chunk_size(steps, threads)
        _chunks(a, b, h, out, reverse, size, chunks, threads, a.size, team.members())
    else:
        _rows(a, b, h, out, reverse, threads, a.size // 2, team.members())


# ---- its gradient ----------------------------------------------------------------------------------------------------


@implementation(
    "scan_backward",
    device="cpu",
    adds="the gradient of b is a scan against the direction; of a it is that times the state before",
    public=True,
)
def scan_backward_scan(dim, reverse, h0, grad, a, b):
    if a.shape[dim] == 0:
        return (np.empty_like(a), np.empty_like(b), *(() if h0 is None else (np.zeros_like(h0),)))
    next_a = before(a, None, dim, not reverse).astype(a.dtype, copy=False)
    of_b = scan_chunks(dim, not reverse, None, next_a, grad)
    of_a = of_b * before(scan_chunks(dim, reverse, h0, a, b), h0, dim, reverse)
    if h0 is None:
        return of_a.astype(a.dtype, copy=False), of_b
    start_step = a.shape[dim] - 1 if reverse else 0
    of_h0 = np.moveaxis(a, dim, 0)[start_step] * np.moveaxis(of_b, dim, 0)[start_step]
    return of_a.astype(a.dtype, copy=False), of_b, np.asarray(of_h0)


# ---- networks whose gates look at x only -----------------------------------------------------------------------------


def sigmoids(x):
    """(sigmoid(-x), sigmoid(x)): what is kept and what is taken; each right to its last digits."""
    small = np.exp(-np.abs(x))
    near, far = 1 / (1 + small), small / (1 + small)
    return np.where(x >= 0, far, near), np.where(x >= 0, near, far)


def softplus(x):
    """log(1 + e^x)."""
    return np.logaddexp(x, x.dtype.type(0))


def gates(x, weight, bias, count):
    """Gates of all steps at once: arrays (steps, ..., hidden)."""
    lines, hidden = plain(x).reshape(-1, x.shape[-1]), weight.shape[0] // count
    found = product(lines, plain(weight).T)
    found = found if bias is None else found + bias
    return [found[:, k * hidden : (k + 1) * hidden].reshape(*x.shape[:-1], hidden) for k in range(count)]


def parts_of(kind, found):
    """(what is kept, what is taken, new state) from gates."""
    if kind == "min_gru":
        return *sigmoids(found[0]), found[1]
    take, keep = sigmoids(softplus(-found[1]) - softplus(-found[0]))
    return keep, take, found[2]


def minimal(kind, h0, weight, bias, x):
    keep, take, new = parts_of(kind, gates(x, weight, bias, 2 if kind == "min_gru" else 3))
    return scan_chunks(0, False, h0, keep, take * new)


def minimal_backward(kind, grad, h0, weight, bias, x):
    found = gates(x, weight, bias, 2 if kind == "min_gru" else 3)
    keep, take, new = parts_of(kind, found)
    of_keep, of_new, *of_h0 = scan_backward_scan(0, False, h0, grad, keep, take * new)
    of_share = (of_keep - of_new * new) * keep * take
    if kind == "min_gru":
        of_gates = -of_share, of_new * take
    else:
        of_gates = of_share * sigmoids(found[0])[0], -of_share * sigmoids(found[1])[0], of_new * take
    rows = np.concatenate([part.reshape(-1, part.shape[-1]) for part in of_gates], axis=1)
    of_x = product(rows, plain(weight)).reshape(x.shape)
    of_weight = product(rows.T, plain(x).reshape(-1, x.shape[-1]))
    biases = () if bias is None else (rows.sum(axis=0, dtype=np.float64).astype(x.dtype),)
    return of_x, *of_h0, of_weight, *biases


FORWARD = "gates of all steps in one product, as they look at x only; then a scan"
BACKWARD = "two scans, one against the direction, and two products for all steps"


@implementation("min_gru", device="cpu", adds=FORWARD, public=True)
def min_gru_scan(h0, weight, bias, x):
    return minimal("min_gru", h0, weight, bias, x)


@implementation("min_lstm", device="cpu", adds=FORWARD, public=True)
def min_lstm_scan(h0, weight, bias, x):
    return minimal("min_lstm", h0, weight, bias, x)


@implementation("min_gru_backward", device="cpu", adds=BACKWARD, public=True)
def min_gru_backward_scan(grad, h0, weight, bias, x):
    return minimal_backward("min_gru", grad, h0, weight, bias, x)


@implementation("min_lstm_backward", device="cpu", adds=BACKWARD, public=True)
def min_lstm_backward_scan(grad, h0, weight, bias, x):
    return minimal_backward("min_lstm", grad, h0, weight, bias, x)
