"""The linear recurrence in one launch, in float32: each number is read once, in the order of memory.

    scan_look_back      a block loads its chunk into shared memory, walks there, and takes the state before it from what
                        the blocks before it have told by then (Merrill and Garland, Single-pass Parallel Prefix Scan
                        with Decoupled Look-back, 2016)

A chunk of steps is a step again, h = p h + e (gpu_scans.py). A block tells its p and e as soon as it has them, and the
state behind its chunk when it knows the state before. Who waits, waits for lower tickets only, as in cumsum_look_back
(reduce/gpu_cumsum.py).
"""

import numpy as np

from ..device import cuda
from ..implementations import implementation
from ..reduce.gpu_cumsum import NOTHING, SUM, TOTAL, tell
from .gpu_scans import CHUNK, ITEMS, LIMITS, LINE, SHAPE, THREADS, f32, joined, on_lines, row_at

i32 = np.int32
ROOM = CHUNK + CHUNK // 32


@cuda.jit(device=True)
def slot(k):
    """Where step k of a chunk lies: a number is left out after each 32, so that threads that are ITEMS apart meet in no
    bank."""
    return k + k // 32


@cuda.jit(device=True)
def state_before(products, ends, states, told, job):
    """The state before chunk `job`, which is not the first of its row: back to the first chunk whose state is known."""
    p, e, k, status = f32(1), f32(0), job, i32(NOTHING)  # of the chunks that were gone back
    while status != SUM:
        k -= 1
        status = cuda.atomic.add(told, k, 0)
        while status == NOTHING:
            status = cuda.atomic.add(told, k, 0)
        cuda.threadfence()  # the numbers are not read before the word that they are there
        if status == SUM:
            e = p * states[k] + e
        else:
            e = p * ends[k] + e
            p = p * products[k]
    return e


@cuda.jit
def scan_look_back_kernel(a, b, h, out, ticket, told, products, ends, states, steps, after, first, step):
    tile_a = cuda.shared.array(ROOM, f32)
    tile_b = cuda.shared.array(ROOM, f32)
    ps = cuda.shared.array(THREADS, f32)
    es = cuda.shared.array(THREADS, f32)
    number = cuda.shared.array(1, i32)
    ahead = cuda.shared.array(1, f32)
    t, chunks = cuda.threadIdx.x, -(-steps // CHUNK)
    if t == 0:
        number[0] = cuda.atomic.add(ticket, 0, 1)  # those with lower numbers have begun
    cuda.syncthreads()
    job = number[0]
    begin = job % chunks * CHUNK
    start, count = row_at(job // chunks, steps, after) + first + begin * step, min(CHUNK, steps - begin)
    for k in range(t, CHUNK, THREADS):
        tile_a[slot(k)] = a[start + k * step] if k < count else f32(1)  # a step that changes nothing
        tile_b[slot(k)] = b[start + k * step] if k < count else f32(0)
    cuda.syncthreads()
    p, e = f32(1), f32(0)
    for k in range(t * ITEMS, (t + 1) * ITEMS):
        e = tile_a[slot(k)] * e + tile_b[slot(k)]
        p *= tile_a[slot(k)]
    p, e = joined(p, e, ps, es)
    if t == THREADS - 1:
        before = h[job // chunks]
        if job % chunks > 0:
            products[job] = p
            tell(ends, e, told, job, TOTAL)
            before = state_before(products, ends, states, told, job)
        tell(states, p * before + e, told, job, SUM)
        ahead[0] = before
    cuda.syncthreads()
    state = ahead[0]
    if t > 0:
        state = ps[t - 1] * state + es[t - 1]
    for k in range(t * ITEMS, (t + 1) * ITEMS):
        state = tile_a[slot(k)] * state + tile_b[slot(k)]
        tile_b[slot(k)] = state
    cuda.syncthreads()
    for k in range(t, count, THREADS):
        out[start + k * step] = tile_b[slot(k)]


@implementation(
    "scan",
    "gpu",
    adds="one launch: chunks are read once, in order, into shared memory; a block looks back at what those before it "
    "have told",
    dtypes=("float32",),
    limits=LIMITS,
    kernels=[
        (
            scan_look_back_kernel,
            [f"void({LINE}, {LINE}, {LINE}, {LINE}, int32[::1], int32[::1], {LINE}, {LINE}, {LINE}, {SHAPE})"],
        )
    ],
)
@on_lines
def scan_look_back(a, b, h, out, rows, shape):
    jobs = rows * -(-shape[0] // CHUNK)
    ticket, told = cuda.to_device(np.zeros(1, i32)), cuda.to_device(np.full(jobs, NOTHING, i32))
    products, ends, states = (cuda.device_array(jobs, f32) for _ in range(3))
    scan_look_back_kernel[jobs, THREADS](a, b, h, out, ticket, told, products, ends, states, *shape)
