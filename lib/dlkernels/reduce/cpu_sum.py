"""Sums on the CPU.

The ladder of sum                         what the rung adds
    sum_sequential         one number after the other: each addition waits for the one before
    sum_vectors            eight vectors of sums, which do not wait for each other
    sum_compensated        what an addition rounds away is kept, and taken into the next one (Kahan 1965)
    sum_pairwise           blocks, whose sums are joined by a tree: rounding errors grow with its height, not with n
    sum_parallel           all cores: each takes some of the blocks

The blocks do not depend on how many threads there are, and nor does a single digit of the result.
"""

import functools

import numpy as np

from .. import team
from ..host import new
from ..implementations import implementation
from ..simd import broadcast, lanes, load, reduce_add, store, vector_width
from ..simd.cache import cached_njit
from ..simd.inner import inner_njit
from ..simd.line import memory
from ..team import share
from .lines import in_memory_order, lines_of, pieces

BLOCK = 1 << 12  # numbers that lie side by side, added by vectors
CHUNK = 16 * BLOCK  # numbers of a piece of work, joined by a tree
ROWS, COLUMNS = 256, 1024  # of a piece of work where columns are added up; more rows where there are few columns
PARALLEL_FROM = 1 << 16  # numbers below which waking another thread costs more than it gains


def on_lines(rung):
    """Let `rung(x) -> sums`, written for contiguous (before, n, after) and (before, after), reduce any dimensions.

    Empty arrays never reach it.
    """

    @functools.wraps(rung)
    def wrapper(dims, shape, x):
        if not x.size:
            return np.zeros(shape, x.dtype)
        x, dims = (x, dims) if x.ndim else (x.reshape(1), (0,))
        axes, y = in_memory_order(x)
        for line in lines_of(y.shape, [axes.index(dim) for dim in dims]):
            y = rung(y.reshape(line))
        kept = [axis for axis in axes if axis not in dims]
        y = y.reshape([x.shape[axis] for axis in kept]).transpose(np.argsort(kept).astype(int))
        return np.ascontiguousarray(y).reshape(shape)

    return wrapper


# ---- 1, 2: one after the other, and side by side -----------------------------------------------------------


@cached_njit()
def _sequential(x, out):
    rows, n, after = x.shape
    for r in range(rows):
        for c in range(after):
            total = x.dtype.type(0)
            for k in range(n):
                total += x[r, k, c]
            out[r, c] = total


@implementation("sum", device="cpu", adds="one number after the other: each addition waits for the one before")
@on_lines
def sum_sequential(x):
    out = np.empty((x.shape[0], x.shape[2]), x.dtype)
    _sequential(x, out)
    return out


@inner_njit()
def total(line, start, n):
    """The sum of n numbers side by side."""
    width, result, i = lanes(line), line.dtype.type(0), 0
    if n >= 8 * width:
        a, b, c, d = (
            load(line, start),
            load(line, start + width),
            load(line, start + 2 * width),
            load(line, start + 3 * width),
        )
        i = start + 4 * width
        e, f, g, h = load(line, i), load(line, i + width), load(line, i + 2 * width), load(line, i + 3 * width)
        i = 8 * width
        while i + 8 * width <= n:
            k = start + i
            a, b = a + load(line, k), b + load(line, k + width)
            c, d = c + load(line, k + 2 * width), d + load(line, k + 3 * width)
            e, f = e + load(line, k + 4 * width), f + load(line, k + 5 * width)
            g, h = g + load(line, k + 6 * width), h + load(line, k + 7 * width)
            i += 8 * width
        result = reduce_add(((a + b) + (c + d)) + ((e + f) + (g + h)))
    if i + width <= n:
        a = load(line, start + i)
        i += width
        while i + width <= n:
            a = a + load(line, start + i)
            i += width
        result += reduce_add(a)
    while i < n:
        result += line[start + i]
        i += 1
    return result


@inner_njit()
def column_totals(line, start, step, n, out, out_start, count):
    """out[out_start + c] = the sum of line[start + k * step + c] over all k < n, for c < count: eight rows at once."""
    width = lanes(line)
    for c in range(count):
        out[out_start + c] = 0
    n_full = n - n % 8
    for k in range(0, n_full, 8):
        row, c = start + k * step, 0
        while c + width <= count:
            i = row + c
            a, b = load(line, i), load(line, i + step)
            d, e = load(line, i + 2 * step), load(line, i + 3 * step)
            i += 4 * step
            f, g = load(line, i), load(line, i + step)
            h, j = load(line, i + 2 * step), load(line, i + 3 * step)
            store(out, out_start + c, load(out, out_start + c) + (((a + b) + (d + e)) + ((f + g) + (h + j))))
            c += width
        while c < count:
            i = row + c
            low = (line[i] + line[i + step]) + (line[i + 2 * step] + line[i + 3 * step])
            i += 4 * step
            out[out_start + c] += low + ((line[i] + line[i + step]) + (line[i + 2 * step] + line[i + 3 * step]))
            c += 1
    for k in range(n_full, n):
        for c in range(count):
            out[out_start + c] += line[start + k * step + c]


@cached_njit()
def _vectors(x, out):
    rows, n, after = x.shape
    line, sums = memory(x), memory(out)
    for r in range(rows):
        if after == 1:
            sums[r] = total(line, r * n, n)
        else:
            column_totals(line, r * n * after, after, n, sums, r * after, after)


@implementation("sum", device="cpu", adds="eight vectors of sums, which do not wait for each other")
@on_lines
def sum_vectors(x):
    out = np.empty((x.shape[0], x.shape[2]), x.dtype)
    _vectors(x, out)
    return out


# ---- 3: what is rounded away -------------------------------------------------------------------------------


@inner_njit()
def more(total, lost, x):
    """(total + x, what its rounding has added too much): numbers or vectors."""
    x = x - lost
    new = total + x
    return new, (new - total) - x


@inner_njit()
def compensated_vectors(line, index, step, n, room):
    """The sums of four neighbouring vectors, n times `step` apart: room = their sums, then what these have too much."""
    width = lanes(line)
    a = b = c = d = broadcast(line.dtype.type(0))
    p = q = r = s = a
    for _ in range(n):
        a, p = more(a, p, load(line, index))
        b, q = more(b, q, load(line, index + width))
        c, r = more(c, r, load(line, index + 2 * width))
        d, s = more(d, s, load(line, index + 3 * width))
        index += step
    store(room, 0, a)
    store(room, width, b)
    store(room, 2 * width, c)
    store(room, 3 * width, d)
    store(room, 4 * width, -p)
    store(room, 5 * width, -q)
    store(room, 6 * width, -r)
    store(room, 7 * width, -s)


@inner_njit()
def compensated(line, start, step, n, total, lost):
    """`more` for n numbers that are `step` apart."""
    for k in range(n):
        total, lost = more(total, lost, line[start + k * step])
    return total, lost


@cached_njit()
def _compensated(x, out):
    rows, n, after = x.shape
    line, sums = memory(x), memory(out)
    width, zero = lanes(line), x.dtype.type(0)
    room = np.empty(8 * width, x.dtype)
    for r in range(rows):
        row_start, c = r * n * after, 0
        if after == 1 and n >= 4 * width:
            times = n // (4 * width)
            compensated_vectors(line, row_start, 4 * width, times, room)
            done = 4 * width * times
            total, lost = compensated(memory(room), 0, 1, room.size, zero, zero)
            sums[r] = compensated(line, row_start + done, 1, n - done, total, lost)[0]
            c = 1
        while c + 4 * width <= after:
            compensated_vectors(line, row_start + c, after, n, room)
            for k in range(4 * width):
                sums[r * after + c + k] = room[k] + room[4 * width + k]
            c += 4 * width
        while c < after:
            sums[r * after + c] = compensated(line, row_start + c, after, n, zero, zero)[0]
            c += 1


@implementation(
    "sum",
    device="cpu",
    adds="what an addition rounds away is kept, and taken into the next one: right to the last digit",
)
@on_lines
def sum_compensated(x):
    out = np.empty((x.shape[0], x.shape[2]), x.dtype)
    _compensated(x, out)
    if np.isnan(out).any():  # infinity minus infinity is what was lost: such sums are exact without
        plainly = np.empty_like(out)
        _vectors(x, plainly)
        return np.where(np.isnan(out), plainly, out)
    return out


# ---- 4, 5: blocks, joined by a tree, on all cores ----------------------------------------------------------


@inner_njit()
def tree_total(line, start, n, sums):
    """The sum of n numbers side by side. sums: room for one sum of each height of the tree."""
    blocks = pieces_of(n, BLOCK)
    for block in range(blocks):
        subtotal = total(line, start + block * BLOCK, min(BLOCK, n - block * BLOCK))
        height, number = 0, block
        while number & 1:  # there is another of that height: both make one of the next
            subtotal = sums[height] + subtotal
            height, number = height + 1, number >> 1
        sums[height] = subtotal
    result, height = line.dtype.type(0), 0
    while blocks >> height:
        if blocks >> height & 1:
            result = sums[height] + result
        height += 1
    return result


pieces_of = inner_njit()(pieces)


@inner_njit()
def row_totals(line, n, sums, first, last):
    """The sums of rows first ... last - 1, each of at most CHUNK numbers."""
    room = np.empty(64, sums.dtype)
    if n < 2 * lanes(line):  # less than the overhead of vectors
        for row in range(first, last):
            result = line.dtype.type(0)
            for k in range(row * n, row * n + n):
                result += line[k]
            sums[row] = result
    else:
        for row in range(first, last):
            sums[row] = total(line, row * n, n) if n <= BLOCK else tree_total(line, row * n, n, room)


@inner_njit()
def narrow_totals(line, start, n, out, out_start, count, room):
    """`column_totals` for less columns than a vector has lanes: some rows, one behind the other, are a wide one."""
    width = lanes(line)
    wide = count * width
    column_totals(line, start, wide, n // width, room, 0, wide)
    column_totals(room, 0, count, width, out, out_start, count)
    for k in range(n - n % width, n):
        for c in range(count):
            out[out_start + c] += line[start + k * count + c]


@inner_njit()
def high_for(after, width):
    """Rows of a piece of work where columns are added up."""
    return ROWS if after >= width else ROWS * width


@inner_njit()
def _some_chunks(arguments, task, who):
    x, out, jobs, tasks = arguments
    _, n, after = x.shape
    chunks, line, sums, width = out.shape[1], memory(x), memory(out), lanes(memory(x))
    begin, end = task * jobs // tasks, (task + 1) * jobs // tasks
    if after == 1 and chunks == 1:
        row_totals(line, n, sums, begin, end)
        return
    room, across, high = np.empty(max(64, width * width), x.dtype), pieces_of(after, COLUMNS), high_for(after, width)
    for job in range(begin, end):
        if after == 1:
            row, start = job // chunks, job % chunks * CHUNK
            sums[job] = tree_total(line, row * n + start, min(CHUNK, n - start), room)
        else:
            row_chunk, col = job // across, job % across * COLUMNS
            row, start = row_chunk // chunks, row_chunk % chunks * high
            source_at, sums_at = (row * n + start) * after + col, row_chunk * after + col
            if after < width:
                narrow_totals(line, source_at, min(high, n - start), sums, sums_at, after, memory(room))
            else:
                column_totals(line, source_at, after, min(high, n - start), sums, sums_at, min(COLUMNS, after - col))


@cached_njit()
def _chunks(x, out, last, jobs, tasks, threads, least, team):
    share(_some_chunks, (x, out, jobs, tasks), tasks, threads, least, team)
    if last.size:
        _some_chunks((out, last, last.shape[0] * pieces_of(last.shape[2], COLUMNS), 1), 0, 0)


@cached_njit()
def _short(x):
    result = np.empty(1, x.dtype)
    row_totals(memory(x), x.size, result, 0, 1)
    return result[0]


def short(x):
    """The sum of contiguous numbers, few enough for one piece of work, as `summed` has it: an array of no
    dimensions."""
    return np.array(_short(x.reshape(-1)), x.dtype)


def summed(x, threads):
    """Sums of chunks, then of these sums, and so on: in the same call where they are few."""
    while True:
        rows, n, after = x.shape
        most = CHUNK if after == 1 else high_for.py_func(after, vector_width(x.dtype))
        chunks = pieces(n, most)
        out = np.empty((rows, chunks, after), x.dtype)
        few = 1 < chunks <= most and out.size < PARALLEL_FROM
        last = np.empty((rows, 1 if few else 0, after), x.dtype)
        jobs = rows * chunks * pieces(after, COLUMNS)
        threads = 1 if x.size < PARALLEL_FROM else threads
        _chunks(x, out, last, jobs, min(jobs, 8 * threads), threads, x.size // 16, team.members())
        if chunks == 1 or few:
            return last if few else out
        x = out


def whole(x):
    """As `short`, for any number of them."""
    return summed(x.reshape(1, -1, 1), team.size()).reshape(())


@implementation(
    "sum",
    device="cpu",
    adds="blocks, joined by a tree: rounding errors grow with its height, not with the numbers added",
)
@on_lines
def sum_pairwise(x):
    return summed(x, 1)


@implementation(
    "sum",
    device="cpu",
    adds="all cores: each takes some of the blocks, which are the same for any number of them",
    public=True,
)
@on_lines
def sum_parallel(x):
    return summed(x, team.size())


# ---- its gradient ----------------------------------------------------------------------------------------------------


@implementation("sum_backward", device="cpu", adds="NumPy's broadcasting", public=True)
def sum_backward_broadcast(dims, grad, x):
    of_x = new(x.shape, x.dtype)
    of_x[...] = grad.reshape([1 if axis in dims else n for axis, n in enumerate(x.shape)])
    return of_x
