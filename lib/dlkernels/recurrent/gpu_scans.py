"""Linear recurrences on the GPU, in float32.

The ladder of scan              what the rung adds
    scan_thread_per_row     one thread walks through a row, a step after the other
    scan_hillis_steele      a block for each row: log2 n rounds, in each of which every thread joins what lies 1, 2, 4,
                            ... before it: n log2 n operations, few rounds (Hillis and Steele 1986)
    scan_blelloch           a tree, up and down: 2 n operations, twice the rounds (Blelloch 1990)
    scan_blocks             a row in chunks of several blocks: their totals, the states between them, their results

A stretch of steps is a step again, h = p h + e. Two of them, one after the other, are (q p) h + (q e + f). A row longer
than a block's tile is walked through tile by tile, but for the last rung.
"""

import functools
import math

import numpy as np

from ..device import cuda
from ..implementations import implementation

f32 = np.float32
LINE = "float32[::1]"
SHAPE = "int64, int64, int64, int64"  # steps, after, first, step
THREADS = 128
PAIRS = 2 * THREADS
ITEMS = 8  # steps of a thread, where several blocks have a row
CHUNK = THREADS * ITEMS
MOST_BLOCKS = 1 << 16
FEW_STEPS = 32  # one thread for each row is enough up to here
MANY_ROWS = 4096  # a block for each row fills the device from here on
# One thread for each row takes 0.43 us for a step, however many rows there are; a block for each row 28 ps for a step
# of one row (an H200, 4096 rows of 4096 steps that lie beside each other: 1755 us and 476 us). They are equal at 15,000
# rows.
ENOUGH_THREADS = 1 << 14

LIMITS = "products of a must not overflow within a tile: a state of zero before it would become NaN"


def on_lines(rung):
    """Let `rung(a, b, h, out, rows, shape)`, written for lines of memory, take any dimension.

    h: the state before the first step of each row. shape: steps, elements from one step to the next, the first step's
    place in a row, and elements to the next step in the order in which steps are made. Empty arrays never reach it.
    """

    @functools.wraps(rung)
    def wrapper(dim, reverse, h0, a, b):
        shape, out = tuple(a.shape), cuda.device_array(tuple(a.shape), f32)
        if out.size:
            steps, after = shape[dim], math.prod(shape[dim + 1 :])
            rows = out.size // steps
            h = cuda.to_device(np.zeros(rows, f32)) if h0 is None else h0.reshape(rows)
            first, step = ((steps - 1) * after, -after) if reverse else (0, after)
            rung(*(x.reshape(x.size) for x in (a, b)), h, out.reshape(out.size), rows, (steps, after, first, step))
        return out

    return wrapper


@cuda.jit(device=True)
def row_at(row, steps, after):
    """Where a row begins: rows of one stretch of memory lie beside each other."""
    return row // after * steps * after + row % after


# ---- one thread for each row -----------------------------------------------------------------------------------------


@cuda.jit
def thread_per_row_kernel(a, b, h, out, steps, after, first, step):
    row = cuda.grid(1)
    if row < h.size:
        element, state = row_at(row, steps, after) + first, h[row]
        for _ in range(steps):
            state = a[element] * state + b[element]
            out[element] = state
            element += step


def thread_per_row(a, b, h, out, rows, shape):
    thread_per_row_kernel[-(-rows // THREADS), THREADS](a, b, h, out, *shape)


@implementation(
    "scan",
    "gpu",
    adds="one thread walks through a row: as many threads as rows",
    dtypes=("float32",),
    kernels=[(thread_per_row_kernel, [f"void({LINE}, {LINE}, {LINE}, {LINE}, {SHAPE})"])],
)
@on_lines
def scan_thread_per_row(a, b, h, out, rows, shape):
    thread_per_row(a, b, h, out, rows, shape)


# ---- a block for each row --------------------------------------------------------------------------------------------


@cuda.jit
def hillis_steele_kernel(a, b, h, out, steps, after, first, step):
    ps = cuda.shared.array(THREADS, f32)
    es = cuda.shared.array(THREADS, f32)
    t = cuda.threadIdx.x
    for row in range(cuda.blockIdx.x, h.size, cuda.gridDim.x):
        row_start, carry = row_at(row, steps, after) + first, h[row]
        for begin in range(0, steps, THREADS):
            p, e = f32(1), f32(0)  # a step that changes nothing
            if begin + t < steps:
                p = a[row_start + (begin + t) * step]
                e = b[row_start + (begin + t) * step]
            if t == 0:
                e = p * carry + e
            ps[t] = p
            es[t] = e
            cuda.syncthreads()
            for d in (1, 2, 4, 8, 16, 32, 64):
                if t >= d:
                    e = p * es[t - d] + e
                    p = p * ps[t - d]
                cuda.syncthreads()  # all have read
                ps[t] = p
                es[t] = e
                cuda.syncthreads()  # all have written
            if begin + t < steps:
                out[row_start + (begin + t) * step] = e
            carry = es[THREADS - 1]
            cuda.syncthreads()


def block_per_row(a, b, h, out, rows, shape):
    hillis_steele_kernel[min(rows, MOST_BLOCKS), THREADS](a, b, h, out, *shape)


@implementation(
    "scan",
    "gpu",
    adds="a block for each row: in round k each thread joins what ended 2^k before it (Hillis and Steele)",
    dtypes=("float32",),
    limits=LIMITS,
    kernels=[(hillis_steele_kernel, [f"void({LINE}, {LINE}, {LINE}, {LINE}, {SHAPE})"])],
)
@on_lines
def scan_hillis_steele(a, b, h, out, rows, shape):
    block_per_row(a, b, h, out, rows, shape)


@cuda.jit
def blelloch_kernel(a, b, h, out, steps, after, first, step):
    ps = cuda.shared.array(PAIRS, f32)
    es = cuda.shared.array(PAIRS, f32)
    t = cuda.threadIdx.x
    for row in range(cuda.blockIdx.x, h.size, cuda.gridDim.x):
        row_start, carry = row_at(row, steps, after) + first, h[row]
        for begin in range(0, steps, PAIRS):
            for i in range(t, PAIRS, THREADS):
                inside = begin + i < steps
                ps[i] = a[row_start + (begin + i) * step] if inside else f32(1)
                es[i] = b[row_start + (begin + i) * step] if inside else f32(0)
            cuda.syncthreads()
            for d in (1, 2, 4, 8, 16, 32, 64, 128):  # up: a node takes in its left neighbour's stretch
                right = (2 * t + 2) * d - 1
                if right < PAIRS:
                    es[right] += ps[right] * es[right - d]
                    ps[right] *= ps[right - d]
                cuda.syncthreads()
            total = ps[PAIRS - 1] * carry + es[PAIRS - 1]
            cuda.syncthreads()
            if t == 0:
                es[PAIRS - 1] = carry
            cuda.syncthreads()
            for d in (128, 64, 32, 16, 8, 4, 2, 1):  # down: the state before a stretch, left to right
                right = (2 * t + 2) * d - 1
                if right < PAIRS:
                    state = es[right]
                    es[right] = ps[right - d] * state + es[right - d]
                    es[right - d] = state
                cuda.syncthreads()
            for i in range(t, PAIRS, THREADS):
                if begin + i < steps:
                    element = row_start + (begin + i) * step
                    out[element] = a[element] * es[i] + b[element]
            carry = total
            cuda.syncthreads()


@implementation(
    "scan",
    "gpu",
    adds="a tree of stretches, up for their totals and down for the states before them: 2 n operations, not n log2 n "
    "(Blelloch)",
    dtypes=("float32",),
    limits=LIMITS,
    kernels=[(blelloch_kernel, [f"void({LINE}, {LINE}, {LINE}, {LINE}, {SHAPE})"])],
)
@on_lines
def scan_blelloch(a, b, h, out, rows, shape):
    blelloch_kernel[min(rows, MOST_BLOCKS), THREADS](a, b, h, out, *shape)


# ---- several blocks for a row ----------------------------------------------------------------------------------------


@cuda.jit(device=True)
def stretch(a, b, element, step, count):
    """(p, e) of `count` steps."""
    p, e = f32(1), f32(0)
    for _ in range(count):
        e = a[element] * e + b[element]
        p *= a[element]
        element += step
    return p, e


@cuda.jit(device=True)
def joined(p, e, ps, es):
    """(p, e) of all steps up to this thread's, by Hillis and Steele's rounds."""
    t = cuda.threadIdx.x
    ps[t] = p
    es[t] = e
    cuda.syncthreads()
    for d in (1, 2, 4, 8, 16, 32, 64):
        if t >= d:
            e = p * es[t - d] + e
            p = p * ps[t - d]
        cuda.syncthreads()
        ps[t] = p
        es[t] = e
        cuda.syncthreads()
    return p, e


@cuda.jit
def totals_kernel(a, b, products, ends, steps, after, first, step):
    """(p, e) of each chunk: a block each, CHUNK steps."""
    ps = cuda.shared.array(THREADS, f32)
    es = cuda.shared.array(THREADS, f32)
    t, chunks = cuda.threadIdx.x, -(-steps // CHUNK)
    for job in range(cuda.blockIdx.x, products.size, cuda.gridDim.x):
        begin = job % chunks * CHUNK + t * ITEMS
        start = row_at(job // chunks, steps, after) + first + begin * step
        p, e = stretch(a, b, start, step, max(0, min(ITEMS, steps - begin)))
        p, e = joined(p, e, ps, es)
        if t == THREADS - 1:
            products[job] = p
            ends[job] = e
        cuda.syncthreads()


@cuda.jit
def states_kernel(products, ends, h):
    """ends[k] = the state before chunk k: a thread for each row."""
    row = cuda.grid(1)
    if row < h.size:
        chunks, state = products.size // h.size, h[row]
        for k in range(row * chunks, (row + 1) * chunks):
            before = state
            state = products[k] * state + ends[k]
            ends[k] = before


@cuda.jit
def results_kernel(a, b, states, out, steps, after, first, step):
    ps = cuda.shared.array(THREADS, f32)
    es = cuda.shared.array(THREADS, f32)
    t, chunks = cuda.threadIdx.x, -(-steps // CHUNK)
    for job in range(cuda.blockIdx.x, states.size, cuda.gridDim.x):
        begin = job % chunks * CHUNK + t * ITEMS
        element = row_at(job // chunks, steps, after) + first + begin * step
        count = max(0, min(ITEMS, steps - begin))
        p, e = stretch(a, b, element, step, count)
        joined(p, e, ps, es)
        state = states[job]
        if t > 0:
            state = ps[t - 1] * state + es[t - 1]
        for _ in range(count):
            state = a[element] * state + b[element]
            out[element] = state
            element += step
        cuda.syncthreads()


@implementation(
    "scan",
    "gpu",
    adds="a row in chunks, a block each: their totals, the states between them, their results; many rows have a block "
    "or a thread each",
    dtypes=("float32",),
    limits=LIMITS,
    kernels=[
        (totals_kernel, [f"void({LINE}, {LINE}, {LINE}, {LINE}, {SHAPE})"]),
        (states_kernel, [f"void({LINE}, {LINE}, {LINE})"]),
        (results_kernel, [f"void({LINE}, {LINE}, {LINE}, {LINE}, {SHAPE})"]),
    ],
    public=True,
)
@on_lines
def scan_blocks(a, b, h, out, rows, shape):
    beside = abs(shape[3]) > 1  # rows lie beside each other: threads of neighbours read neighbours
    if shape[0] <= FEW_STEPS or (rows >= ENOUGH_THREADS and beside):
        thread_per_row(a, b, h, out, rows, shape)
        return
    if rows >= MANY_ROWS:
        block_per_row(a, b, h, out, rows, shape)
        return
    chunks = -(-shape[0] // CHUNK)
    products, ends = (cuda.device_array(rows * chunks, f32) for _ in range(2))
    blocks = min(rows * chunks, MOST_BLOCKS)
    totals_kernel[blocks, THREADS](a, b, products, ends, *shape)
    states_kernel[-(-rows // THREADS), THREADS](products, ends, h)
    results_kernel[blocks, THREADS](a, b, ends, out, *shape)


# ---- its gradient: formulas in scans.py ------------------------------------------------------------------------------


@cuda.jit
def before_kernel(x, start, out, steps, after, backwards):
    """out = x of the step before; `start`, one number for each row, before the first."""
    i = cuda.grid(1)
    if i < out.size:
        t = i // after % steps
        if t == (steps - 1 if backwards else 0):
            out[i] = start[i // after // steps * after + i % after]
        else:
            out[i] = x[i + after if backwards else i - after]


@cuda.jit
def times_kernel(x, y, out):
    i = cuda.grid(1)
    if i < out.size:
        out[i] = x[i] * y[i]


@cuda.jit
def first_kernel(a, of_b, out, steps, after, first, step):
    """The gradient of the state before the first step of each row."""
    row = cuda.grid(1)
    if row < out.size:
        element = row_at(row, steps, after) + first
        out[row] = a[element] * of_b[element]


def before(x, start, dim, backwards):
    """x of the step before, in the order in which steps are made."""
    shape, out = tuple(x.shape), cuda.device_array(tuple(x.shape), f32)
    steps, after = shape[dim], math.prod(shape[dim + 1 :])
    rows = x.size // steps
    start = cuda.to_device(np.zeros(rows, f32)) if start is None else start.reshape(rows)
    grid = -(-x.size // THREADS), THREADS
    before_kernel[grid](x.reshape(x.size), start, out.reshape(x.size), steps, after, backwards)
    return out


@implementation(
    "scan_backward",
    "gpu",
    adds="a scan against the direction, with the a of the next step; its products with the states before",
    dtypes=("float32",),
    limits=LIMITS,
    kernels=[
        (before_kernel, [f"void({LINE}, {LINE}, {LINE}, int64, int64, boolean)"]),
        (times_kernel, [f"void({LINE}, {LINE}, {LINE})"]),
        (first_kernel, [f"void({LINE}, {LINE}, {LINE}, {SHAPE})"]),
    ],  # and those of scan_blocks
    public=True,
)
def scan_backward_blocks(dim, reverse, h0, grad, a, b):
    if a.size == 0:
        nothing = [cuda.device_array(tuple(x.shape), f32) for x in (a, b)]
        return (*nothing, *(() if h0 is None else (cuda.to_device(np.zeros(tuple(h0.shape), f32)),)))
    of_b = scan_blocks(dim, not reverse, None, before(a, None, dim, not reverse), grad)
    states = before(scan_blocks(dim, reverse, h0, a, b), h0, dim, reverse)
    of_a, size = cuda.device_array(tuple(a.shape), f32), a.size
    times_kernel[-(-size // THREADS), THREADS](of_b.reshape(size), states.reshape(size), of_a.reshape(size))
    if h0 is None:
        return of_a, of_b
    steps, after, of_h0 = a.shape[dim], math.prod(tuple(a.shape)[dim + 1 :]), cuda.device_array(tuple(h0.shape), f32)
    shape = (steps, after, (steps - 1) * after, -after) if reverse else (steps, after, 0, after)
    rows = h0.size
    first_kernel[-(-rows // THREADS), THREADS](a.reshape(size), of_b.reshape(size), of_h0.reshape(rows), *shape)
    return of_a, of_b, of_h0
