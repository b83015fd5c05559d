"""Products with few rows, as of one sample and a layer's weights. Each element of b meets few numbers, so that it is
reading b that takes the time; to pack b, that is to read, write and read it again, would take three times as long.

    b's columns are contiguous (x weight^T)    sums along columns of b, in vectors            `by_columns`
    b's rows are contiguous (grad weight)      multiples of rows of b, eight at a time        `by_rows`

b is read once, in the order in which it stands. Threads share the columns of the result: each element is the sum of one
thread, in one order.
"""

from ..simd import broadcast, first_lanes, fma, lanes, load, reduce_add, store
from ..simd.cache import cached_njit
from ..simd.inner import inner_njit
from ..simd.line import memory
from ..team import share

BY_COLUMNS, BY_COLUMNS_SMALL, BY_ROWS = 16, 8, 2  # rows; with more, packing b costs less than it gains
TOGETHER = 12  # columns, or a multiple, of a task: they go by fours, or by threes


@inner_njit()
def _one_by_four(a, a_start, b, b0, b1, b2, b3, k):
    """One row times four columns, k elements each, a vector at least: a[a_start:] and those of b from the given
    elements on. Two sums for each, since an addition takes as long as four loads."""
    size, zero = lanes(a), broadcast(a.dtype.type(0))
    s, t, u, v, s_next, t_next, u_next, v_next = zero, zero, zero, zero, zero, zero, zero, zero
    n_full = k - k % size
    for p in range(0, n_full - size, 2 * size):
        q = p + size
        x, y = load(a, a_start + p), load(a, a_start + q)
        s, s_next = fma(x, load(b, b0 + p), s), fma(y, load(b, b0 + q), s_next)
        t, t_next = fma(x, load(b, b1 + p), t), fma(y, load(b, b1 + q), t_next)
        u, u_next = fma(x, load(b, b2 + p), u), fma(y, load(b, b2 + q), u_next)
        v, v_next = fma(x, load(b, b3 + p), v), fma(y, load(b, b3 + q), v_next)
    if n_full % (2 * size):
        p = n_full - size
        x = load(a, a_start + p)
        s, t = fma(x, load(b, b0 + p), s), fma(x, load(b, b1 + p), t)
        u, v = fma(x, load(b, b2 + p), u), fma(x, load(b, b3 + p), v)
    if n_full < k:  # the last vector, without what was counted
        p, done = k - size, size - (k - n_full)
        x = first_lanes(done, zero, load(a, a_start + p))
        s_next = fma(x, first_lanes(done, zero, load(b, b0 + p)), s_next)
        t_next = fma(x, first_lanes(done, zero, load(b, b1 + p)), t_next)
        u_next = fma(x, first_lanes(done, zero, load(b, b2 + p)), u_next)
        v_next = fma(x, first_lanes(done, zero, load(b, b3 + p)), v_next)
    return reduce_add(s + s_next), reduce_add(t + t_next), reduce_add(u + u_next), reduce_add(v + v_next)


@inner_njit()
def _four_by_three(a, row, next_row, third_row, last_row, b, column, next_column, last_column, k):
    """Four rows times three columns: 12 products for 7 loads."""
    size, zero = lanes(a), broadcast(a.dtype.type(0))
    s0, s1, s2, t0, t1, t2 = zero, zero, zero, zero, zero, zero
    u0, u1, u2, v0, v1, v2 = zero, zero, zero, zero, zero, zero
    n_full = k - k % size
    for p in range(0, n_full, size):
        x, y, z = load(b, column + p), load(b, next_column + p), load(b, last_column + p)
        w = load(a, row + p)
        s0, s1, s2 = fma(w, x, s0), fma(w, y, s1), fma(w, z, s2)
        w = load(a, next_row + p)
        t0, t1, t2 = fma(w, x, t0), fma(w, y, t1), fma(w, z, t2)
        w = load(a, third_row + p)
        u0, u1, u2 = fma(w, x, u0), fma(w, y, u1), fma(w, z, u2)
        w = load(a, last_row + p)
        v0, v1, v2 = fma(w, x, v0), fma(w, y, v1), fma(w, z, v2)
    if n_full < k:
        p, done = k - size, size - (k - n_full)
        x, y = first_lanes(done, zero, load(b, column + p)), first_lanes(done, zero, load(b, next_column + p))
        z = first_lanes(done, zero, load(b, last_column + p))
        w = first_lanes(done, zero, load(a, row + p))
        s0, s1, s2 = fma(w, x, s0), fma(w, y, s1), fma(w, z, s2)
        w = first_lanes(done, zero, load(a, next_row + p))
        t0, t1, t2 = fma(w, x, t0), fma(w, y, t1), fma(w, z, t2)
        w = first_lanes(done, zero, load(a, third_row + p))
        u0, u1, u2 = fma(w, x, u0), fma(w, y, u1), fma(w, z, u2)
        w = first_lanes(done, zero, load(a, last_row + p))
        v0, v1, v2 = fma(w, x, v0), fma(w, y, v1), fma(w, z, v2)
    return (
        (reduce_add(s0), reduce_add(s1), reduce_add(s2)),
        (reduce_add(t0), reduce_add(t1), reduce_add(t2)),
        (reduce_add(u0), reduce_add(u1), reduce_add(u2)),
        (reduce_add(v0), reduce_add(v1), reduce_add(v2)),
    )


@inner_njit()
def some_columns(arguments, task, who):
    """A task of `by_columns`."""
    a, b, c, task_columns = arguments
    (m, k), n = a.shape, c.shape[1]
    x, y, z = memory(a), memory(b), memory(c)
    end = min((task + 1) * task_columns, n)
    if m == 1:
        for j in range(task * task_columns, end, 4):
            places = j, min(j + 1, n - 1), min(j + 2, n - 1), min(j + 3, n - 1)
            sums = _one_by_four(x, 0, y, places[0] * k, places[1] * k, places[2] * k, places[3] * k, k)
            for q in range(min(4, end - j)):
                z[j + q] = sums[q]
        return
    for j in range(task * task_columns, end, 3):
        columns = j * k, min(j + 1, n - 1) * k, min(j + 2, n - 1) * k
        for i in range(0, m, 4):  # a row that is missing is the last one again
            rows = i * k, min(i + 1, m - 1) * k, min(i + 2, m - 1) * k, min(i + 3, m - 1) * k
            sums = _four_by_three(x, rows[0], rows[1], rows[2], rows[3], y, columns[0], columns[1], columns[2], k)
            for r in range(min(4, m - i)):
                for q in range(min(3, end - j)):
                    z[(i + r) * n + j + q] = sums[r][q]


@cached_njit()
def by_columns(a, b, c, task_columns, threads, least, team):
    """c = a b^T for C-contiguous matrices with a vector of terms or more. task_columns: of the result."""
    share(some_columns, (a, b, c, task_columns), -(-len(b) // task_columns), threads, least, team)


@inner_njit()
def _add_eight(a, a_start, step, b, row, pitch, c, c_start, count):
    """c[c_start:] += the eight rows of b from element `row` on, times a[a_start], a[a_start + step], ...: `count`
    elements, at least a vector of them."""
    size = lanes(c)
    s, t, u, v = a[a_start], a[a_start + step], a[a_start + 2 * step], a[a_start + 3 * step]
    w, x, y, z = a[a_start + 4 * step], a[a_start + 5 * step], a[a_start + 6 * step], a[a_start + 7 * step]
    rows = row, row + pitch, row + 2 * pitch, row + 3 * pitch
    more = rows[0] + 4 * pitch, rows[1] + 4 * pitch, rows[2] + 4 * pitch, rows[3] + 4 * pitch
    for j in range(0, count, size):
        done = max(0, j + size - count)  # the last vector of a row ends with it: what was counted stays
        j -= done
        before = load(c, c_start + j)
        total = fma(broadcast(s), load(b, rows[0] + j), before)
        total = fma(broadcast(t), load(b, rows[1] + j), total)
        total = fma(broadcast(u), load(b, rows[2] + j), total)
        total = fma(broadcast(v), load(b, rows[3] + j), total)
        total = fma(broadcast(w), load(b, more[0] + j), total)
        total = fma(broadcast(x), load(b, more[1] + j), total)
        total = fma(broadcast(y), load(b, more[2] + j), total)
        total = fma(broadcast(z), load(b, more[3] + j), total)
        store(c, c_start + j, first_lanes(done, before, total) if done else total)


@inner_njit()
def _add_one(factor, b, row, c, to, count):
    source, target = b[row : row + count], c[to : to + count]
    for j in range(count):
        target[j] += factor * source[j]


@inner_njit()
def _some_strips(arguments, task, who):
    a, turned, b, c, parts = arguments
    (k, n), m = b.shape, c.shape[0]
    row, step = (1, m) if turned else (k, 1)
    x, y, z = memory(a), memory(b), memory(c)
    left = task * n // parts
    count = (task + 1) * n // parts - left
    for i in range(m):
        z[i * n + left : i * n + left + count] = 0
    eights = k - k % 8
    for p in range(0, eights, 8):
        for i in range(m):
            _add_eight(x, i * row + p * step, step, y, p * n + left, n, z, i * n + left, count)
    for p in range(eights, k):
        for i in range(m):
            _add_one(x[i * row + p * step], y, p * n + left, z, i * n + left, count)


@cached_njit()
def by_rows(a, turned, b, c, parts, threads, least, team):
    """c = a b for C-contiguous matrices; `turned`: a is given as its transpose. parts: of the columns of the result,
    each of a vector or more."""
    share(_some_strips, (a, turned, b, c, parts), parts, threads, least, team)
