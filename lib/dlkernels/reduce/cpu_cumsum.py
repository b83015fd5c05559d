"""Running sums on the CPU: out[k] = x[0] + ... + x[k].

The ladder of cumsum                      what the rung adds
    cumsum_sequential      one number after the other: each sum waits for the one before
    cumsum_vectors         sums within a vector by moving and adding; what came before waits for one addition in 16
                           numbers. Blocks, with their totals in float64; columns beside each other are lanes
    cumsum_parts           all cores: rows, or parts of a long one, which are read twice: for what they add up to, and
                           for their sums when it is known what comes before
"""

import functools

import numpy as np

from .. import team
from ..host import plain
from ..implementations import implementation
from ..simd import broadcast, lanes, last_lane, load, prefix_sum, store
from ..simd.cache import cached_njit
from ..simd.inner import inner_njit
from ..simd.line import memory
from ..team import share
from .cpu_sum import BLOCK, PARALLEL_FROM, tree_total
from .lines import lines_of, pieces

PART = 1 << 16  # numbers of a part at least
COLUMNS = 256  # that are taken along a dimension at once: they and their sums stay in the first cache


def on_lines(rung):
    """Let `rung(x, out)`, written for contiguous (before, n, after), take any dimension. Empty arrays never reach
    it."""

    @functools.wraps(rung)
    def wrapper(dim, x):
        out = np.empty(x.shape, x.dtype)
        if out.size:
            (line,) = lines_of(x.shape, (dim,))
            rung(plain(x).reshape(line), out.reshape(line))
        return out

    return wrapper


# ---- 1: one after the other --------------------------------------------------------------------------------


@cached_njit()
def _sequential(x, out):
    rows, n, after = x.shape
    for r in range(rows):
        for c in range(after):
            total = x.dtype.type(0)
            for k in range(n):
                total += x[r, k, c]
                out[r, k, c] = total


@implementation("cumsum", device="cpu", adds="one number after the other: each sum waits for the one before")
@on_lines
def cumsum_sequential(x, out):
    _sequential(x, out)


# ---- 2: vectors --------------------------------------------------------------------------------------------


@inner_njit()
def block_along(line, sums, start, n, before):
    """Running sums of n numbers side by side, on top of `before`. Returns what the n numbers add up to."""
    width, i, total = lanes(line), 0, line.dtype.type(0)
    if n >= width:
        base, carry = broadcast(before), broadcast(total)
        while i + 2 * width <= n:  # the sums within two vectors are made while the carry waits for neither
            low, high = prefix_sum(load(line, start + i)), prefix_sum(load(line, start + i + width))
            middle = carry + broadcast(last_lane(low))
            store(sums, start + i, base + (carry + low))
            store(sums, start + i + width, base + (middle + high))
            carry = middle + broadcast(last_lane(high))
            i += 2 * width
        while i + width <= n:
            low = prefix_sum(load(line, start + i))
            store(sums, start + i, base + (carry + low))
            carry = carry + broadcast(last_lane(low))
            i += width
        total = last_lane(carry)
    while i < n:
        total += line[start + i]
        sums[start + i] = before + total
        i += 1
    return total


@inner_njit()
def along(line, sums, start, n, before):
    """Running sums of n numbers side by side, on top of `before`: in blocks, with float64 between them."""
    for block_start in range(0, n, BLOCK):
        before += block_along(line, sums, start + block_start, min(BLOCK, n - block_start), line.dtype.type(before))


@inner_njit()
def down(line, sums, row, step, n, count):
    """Running sums of `count` columns side by side; the first row is there."""
    width = lanes(line)
    for _ in range(1, n):
        above, row, c = row, row + step, 0
        while c + width <= count:
            store(sums, row + c, load(sums, above + c) + load(line, row + c))
            c += width
        while c < count:
            sums[row + c] = sums[above + c] + line[row + c]
            c += 1


@inner_njit()
def columns(x, out, r, left):
    """All running sums of some columns of a matrix."""
    _, n, after = x.shape
    start, count = r * n * after + left, min(COLUMNS, after - left)
    line, sums = memory(x), memory(out)
    for c in range(count):
        sums[start + c] = line[start + c]
    down(line, sums, start, after, n, count)


@cached_njit()
def _vectors(x, out):
    rows, n, after = x.shape
    for r in range(rows):
        if after == 1:
            along(memory(x), memory(out), r * n, n, 0.0)
        else:
            for left in range(0, after, COLUMNS):
                columns(x, out, r, left)


@implementation(
    "cumsum", device="cpu", adds="within a vector by moving and adding: one addition waits for another in 16 numbers"
)
@on_lines
def cumsum_vectors(x, out):
    _vectors(x, out)


# ---- 3: all cores ------------------------------------------------------------------------------------------


@inner_njit()
def _some_columns(arguments, task, who):
    x, out, jobs, tasks = arguments
    across = -(-x.shape[2] // COLUMNS)
    for job in range(task * jobs // tasks, (task + 1) * jobs // tasks):
        columns(x, out, job // across, job % across * COLUMNS)


@inner_njit()
def _some_rows(arguments, task, who):
    x, out, jobs, tasks = arguments
    n, line, sums = x.shape[1], memory(x), memory(out)
    for row in range(task * jobs // tasks, (task + 1) * jobs // tasks):
        if n >= 2 * lanes(line):
            along(line, sums, row * n, n, 0.0)
        else:
            total = line.dtype.type(0)
            for k in range(row * n, row * n + n):
                total += line[k]
                sums[k] = total


@cached_njit()
def _rows(x, out, jobs, tasks, threads, least, team):
    if x.shape[2] == 1:
        share(_some_rows, (x, out, jobs, tasks), tasks, threads, least, team)
    else:
        share(_some_columns, (x, out, jobs, tasks), tasks, threads, least, team)


@inner_njit()
def _total(arguments, task, who):
    x, _, totals, row_start, size, _ = arguments
    totals[task] = tree_total(memory(x), row_start + task * size, size, np.empty(64, x.dtype))


@inner_njit()
def _sums(arguments, task, who):
    x, out, totals, row_start, size, n = arguments
    start = task * size
    along(memory(x), memory(out), row_start + start, min(size, n - start), totals[task])


@cached_njit()
def _parts(x, out, parts, threads, least, team):
    """Rows one after the other, each in parts."""
    rows, n, _ = x.shape
    size, totals = -(-n // parts), np.empty(parts)
    for r in range(rows):
        arguments = x, out, totals, r * n, size, n
        totals[parts - 1] = 0  # nobody needs it
        share(_total, arguments, parts - 1, threads, least // rows, team)
        before = 0.0
        for k in range(parts):
            before, totals[k] = before + totals[k], before
        share(_sums, arguments, parts, threads, least // rows, team)


@implementation(
    "cumsum",
    device="cpu",
    adds="all cores: rows, or parts of a long one: first what each adds up to, then its sums on top of those before it",
    public=True,
)
@on_lines
def cumsum_parts(x, out):
    rows, n, after = x.shape
    jobs, uncut = rows * pieces(after, COLUMNS), after > 1 or n < 4 * PART
    threads = 1 if x.size < PARALLEL_FROM or (uncut and jobs == 1) else team.size()
    if threads > 1 and not uncut and rows < 2 * threads:
        _parts(x, out, min(4 * threads, n // PART), threads, x.size // 8, team.members())
    else:
        _rows(x, out, jobs, min(jobs, 8 * threads), threads, x.size // 8, team.members())
