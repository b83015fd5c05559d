"""Optimisers on the CPU.

The ladder of each       what the rung adds
    *_passes     NumPy: a pass over memory for each operation of the formula
    *_compiled   one pass over each array: what is read once is used at once
    *_parallel   prange: blocks of an array for every thread
    *_team       all arrays in one call, in blocks of one length: tasks that wait for no late thread, in vectors;
                 compiled once for any number of arrays, since it takes addresses

For a float32 parameter Adam must read four numbers and write three: 28 bytes, which is what all rungs but the first
move. The first moves 12 bytes for each of its operations on two arrays, 8 for each on one.

An array with few elements costs each rung but the last a call; a network has hundreds of such.
"""

import functools

import numpy as np
from numba import prange

from .. import team
from ..implementations import Several, implementation
from ..simd import lanes, load, store
from ..simd.cache import cached_njit
from ..simd.inner import inner_njit
from ..simd.line import memory_at
from ..team import share
from .groups import address, address_of_result, as_tuple
from .steps import adam_step, sgd_step

BLOCK = 1 << 14  # elements of a task: each array of 64 KiB, four of them fit the L2 cache
ALONE = 1 << 15  # elements below which waking another thread costs more than it gains

UNFUSED = "NumPy's operators, array by array: each is a pass over memory"
FUSED = "one pass over each array: what was read is used while it is in registers"
BLOCKS = "blocks of each array for every thread"
ALL = "all arrays in one call, in vectors: blocks of one length, which threads take; a late thread costs nothing"


# ---- arrays as kernels take them -------------------------------------------------------------------------------------


def flat(x):
    """A host array as a line: itself if it is contiguous, else a copy."""
    return np.require(x, requirements="CA").reshape(-1)


def lines(groups, results):
    """(for each array of a group the lines of all groups, and lines for its results), one after the other.

    A result that is not contiguous is written as a line first.
    """
    written = [as_tuple(result) for result in results]
    for k in range(len(groups[0])):
        arrays = [None if group is None else flat(group[k]) for group in groups]
        targets = [None if result is None else result[k] for result in written]
        room = [None if x is None else x.reshape(-1) if _plain(x) else np.empty(x.size, x.dtype) for x in targets]
        yield arrays, room
        for target, line in zip(targets, room, strict=True):
            if target is not None and not _plain(target):
                target[...] = line.reshape(target.shape)


def _plain(x):
    return x.flags.c_contiguous and x.flags.aligned


def each(rung):
    """Let `rung(constants, kinds..., lines of all groups, lines of results)` take all arrays, one after the other."""

    @functools.wraps(rung)
    def on_all(*arguments):
        *settings, results = arguments
        groups = [x for x in settings if x is None or isinstance(x, Several)]
        settings = settings[: len(settings) - len(groups)]
        for arrays, room in lines(groups, results):
            if room[0].size:
                rung(*settings, *arrays, *room)
        return results

    return on_all


# ---- SGD -------------------------------------------------------------------------------------------------------------


@implementation("sgd", "cpu", adds=UNFUSED)
@each
def sgd_passes(constants, kind, nesterov, p, g, buffer, out, out_buffer):
    lr, momentum, rest, decay = constants
    if decay:
        g = g + decay * p
    if kind:
        out_buffer[:] = momentum * buffer + rest * g if kind > 1 else g
        g = g + momentum * out_buffer if nesterov else out_buffer
    np.subtract(p, lr * g, out=out)


@inner_njit(error_model="numpy")
def _sgd_one(i, constants, kind, nesterov, p, g, buffer, out, out_buffer):
    lr, momentum, rest, decay = constants
    before = buffer[i] if kind > 1 else g[i]
    moved, after = sgd_step(p[i], g[i], before, kind, nesterov, lr, momentum, rest, decay)
    out[i] = moved
    if kind > 0:
        out_buffer[i] = after


@cached_njit(error_model="numpy")
def _sgd_compiled(constants, kind, nesterov, p, g, buffer, out, out_buffer):
    for i in range(out.size):
        _sgd_one(i, constants, kind, nesterov, p, g, buffer, out, out_buffer)


@cached_njit(error_model="numpy", parallel=True)
def _sgd_parallel(constants, kind, nesterov, p, g, buffer, out, out_buffer):
    for i in prange(out.size):
        _sgd_one(i, constants, kind, nesterov, p, g, buffer, out, out_buffer)


def _buffers(g, buffer, out, out_buffer):
    """Arrays in the place of those that are not there: they are not looked at."""
    return g if buffer is None else buffer, out if out_buffer is None else out_buffer


@implementation("sgd", "cpu", adds=FUSED)
@each
def sgd_compiled(constants, kind, nesterov, p, g, buffer, out, out_buffer):
    buffer, out_buffer = _buffers(g, buffer, out, out_buffer)
    _sgd_compiled(constants, kind, nesterov, p, g, buffer, out, out_buffer)


@implementation("sgd", "cpu", adds=BLOCKS)
@each
def sgd_parallel(constants, kind, nesterov, p, g, buffer, out, out_buffer):
    buffer, out_buffer = _buffers(g, buffer, out, out_buffer)
    _sgd_parallel(constants, kind, nesterov, p, g, buffer, out, out_buffer)


# ---- Adam and AdamW --------------------------------------------------------------------------------------------------


def adam_in_passes(constants, p, g, m, v, out, out_m, out_v):
    kept, decay, rest1, beta2, rest2, root, eps, rate = constants
    if decay:
        g = g + decay * p
    np.add(m, rest1 * (g - m), out=out_m)
    np.add(beta2 * v, rest2 * g * g, out=out_v)
    np.subtract(kept * p, rate * out_m / (np.sqrt(out_v) / root + eps), out=out)


@inner_njit(error_model="numpy")
def _adam_one(i, constants, p, g, m, v, out, out_m, out_v):
    out[i], out_m[i], out_v[i] = adam_step(p[i], g[i], m[i], v[i], *constants)


@cached_njit(error_model="numpy")
def _adam_compiled(constants, p, g, m, v, out, out_m, out_v):
    for i in range(out.size):
        _adam_one(i, constants, p, g, m, v, out, out_m, out_v)


@cached_njit(error_model="numpy", parallel=True)
def _adam_parallel(constants, p, g, m, v, out, out_m, out_v):
    for i in prange(out.size):
        _adam_one(i, constants, p, g, m, v, out, out_m, out_v)


# ---- all arrays in one call ------------------------------------------------------------------------------------------


def table(groups, results):
    """(a row of numbers for each array: its elements, its first task, where each group and each result lies; how many
    elements and tasks there are; what must be copied back afterwards; copies that must be kept alive until then)."""
    rows, size, tasks, back, copies = [], 0, 0, [], []
    written = [as_tuple(result) for result in results]
    for k, p in enumerate(groups[0]):
        elements = p.size
        if not elements:
            continue
        row = [elements, tasks]
        for group in groups:
            x = None if group is None else group[k]
            if x is not None and not _plain(x):
                x = flat(x)
                copies.append(x)
            row.append(0 if x is None else address(x))
        for result in written:
            line = None if result is None else result[k]
            if line is not None and not _plain(line):
                line = np.empty(line.shape, line.dtype)
                back.append((result[k], line))
            row.append(0 if line is None else address_of_result(line))
        rows.append(row)
        size += elements
        tasks += -(-elements // BLOCK)
    return np.array(rows, np.int64), size, tasks, back, copies


@inner_njit()
def block_of(rows, task):
    """(the row of a task's array, its first element, the one behind its last)."""
    low, high = 0, rows.shape[0]
    while high - low > 1:  # the last array whose first task is not behind this one
        middle = (low + high) // 2
        if rows[middle, 1] <= task:
            low = middle
        else:
            high = middle
    start = (task - rows[low, 1]) * BLOCK
    return low, start, min(start + BLOCK, rows[low, 0])


def run_all(kernel, settings, groups, results):
    """Run `kernel(settings, rows, tasks, like, threads, least, team)` on all arrays."""
    rows, size, tasks, back, copies = table(groups, results)
    if tasks:
        threads = 1 if size < ALONE else team.size()
        kernel(settings, rows, tasks, np.empty(0, results.dtype), threads, size // 2, team.members())
    for target, line in back:
        target[...] = line
    del copies
    return results


@inner_njit(error_model="numpy")
def _adam_part(arguments, task, who):
    constants, rows, like = arguments
    row, i, last = block_of(rows, task)
    p, g, m, v = (
        memory_at(rows[row, 2], like),
        memory_at(rows[row, 3], like),
        memory_at(rows[row, 4], like),
        memory_at(rows[row, 5], like),
    )
    out, out_m, out_v = memory_at(rows[row, 6], like), memory_at(rows[row, 7], like), memory_at(rows[row, 8], like)
    width = lanes(like)
    while i + width <= last:
        new_p, new_m, new_v = adam_step(load(p, i), load(g, i), load(m, i), load(v, i), *constants)
        store(out, i, new_p)
        store(out_m, i, new_m)
        store(out_v, i, new_v)
        i += width
    while i < last:
        _adam_one(i, constants, p, g, m, v, out, out_m, out_v)
        i += 1


@cached_njit(error_model="numpy")
def _adam_shared(constants, rows, tasks, like, threads, least, team):
    share(_adam_part, (constants, rows, like), tasks, threads, least, team)


@inner_njit(error_model="numpy")
def _sgd_part(arguments, task, who):
    settings, rows, like = arguments
    constants, kind, nesterov = settings
    lr, momentum, rest, decay = constants
    row, i, last = block_of(rows, task)
    p, g, buffer = memory_at(rows[row, 2], like), memory_at(rows[row, 3], like), memory_at(rows[row, 4], like)
    out, out_buffer = memory_at(rows[row, 5], like), memory_at(rows[row, 6], like)
    width = lanes(like)
    while i + width <= last:
        before = load(buffer, i) if kind > 1 else load(g, i)
        moved, after = sgd_step(load(p, i), load(g, i), before, kind, nesterov, lr, momentum, rest, decay)
        store(out, i, moved)
        if kind > 0:
            store(out_buffer, i, after)
        i += width
    while i < last:
        _sgd_one(i, constants, kind, nesterov, p, g, buffer, out, out_buffer)
        i += 1


@cached_njit(error_model="numpy")
def _sgd_shared(settings, rows, tasks, like, threads, least, team):
    share(_sgd_part, (settings, rows, like), tasks, threads, least, team)


@implementation("sgd", "cpu", adds=ALL, public=True)
def sgd_team(constants, kind, nesterov, params, grads, buffers, results):
    return run_all(_sgd_shared, (constants, kind, nesterov), (params, grads, buffers), results)


def _put(name):
    """The ladder of Adam or AdamW: what differs stands in the constants."""

    def put(suffix, adds, rung, public=False):
        rung.__name__ = f"{name}_{suffix}"
        implementation(name, "cpu", adds=adds, public=public)(rung)

    def team(constants, *rest):
        return run_all(_adam_shared, constants, rest[:-1], rest[-1])

    put("passes", UNFUSED, each(adam_in_passes))
    put("compiled", FUSED, each(_adam_compiled))
    put("parallel", BLOCKS, each(_adam_parallel))
    put("team", ALL, team, public=True)


for _name in ("adam", "adamw"):
    _put(_name)
