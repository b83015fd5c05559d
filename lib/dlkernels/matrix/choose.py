"""Which way a product goes: the one place that decides it.

matrices                                    one thread                  several
small, contiguous: as they stand            blocks.matmul_small
few rows: b as it stands, read once         few.by_columns, few.by_rows
contiguous, or a transpose: packed          blocks.matmul_threads
any strides, stacks: packed, strides kept   blocks.matmul_strided       blocks.matmul_strided_threads
one matrix times each of a stack of narrow ones             blocks.matmul_beside
"""

import threading

import numpy as np

from .. import team
from ..simd import vector_bytes, vector_width
from . import blocks, few
from .blocks import SMALL_ROWS, matmul_small

PARALLEL_FROM = 90**3  # multiply-adds; below, waking the threads costs more than it gains
READ_FROM = 1 << 17  # elements of the right matrix; the same where there are few rows, and reading is all
FEW_TERMS = 8  # with fewer, there is less to read than to write
LONG_PART = 32 * blocks.SMALL  # multiply-adds of a part: about a millisecond
NARROW = 128  # columns; with more, packing the left matrix for each of a stack is little beside the product
ONE_VECTOR = vector_width(np.float32)  # elements; enough for float64, too
_kept = threading.local()


def threads_for(work, most=None):
    """How many threads a product of `work` multiply-adds is worth: one, or `most` (default: all of the team)."""
    return 1 if work < PARALLEL_FROM else most or team.size()


def parts_for(m, n, k, threads):
    """(down, across): how a product is cut for several threads.

    Two parts each, four where they then are small, not packed, and where the product is so long that packing twice
    costs next to nothing: a thread whose core another program shares (a BLAS, for a tenth of a second after its last
    product) then keeps the others waiting half as long.
    """
    parts, work = 2 * threads, m * n * k
    if parts * blocks.SMALL < work <= 2 * parts * blocks.SMALL or work >= parts * LONG_PART:
        parts *= 2
    return blocks.best_parts(m, n, parts)


def least_time(work):
    """Nanoseconds that one thread needs at least for `work` multiply-adds."""
    return work // 100  # two vectors of 16 in each cycle, at 3 GHz


def multiply(a, b, out, most_threads=None):
    """out = a b for 3-D arrays, stacks of matrices of equal length, none of them empty. out: contiguous rows."""
    (stack, m, n), k = out.shape, a.shape[2]
    if stack == 1 and out.flags.c_contiguous and a.flags.forc and b.flags.forc:
        multiply_contiguous(a[0], b[0], out[0], most_threads)
        return
    if stack > 1 and a.strides[0] == 0 and n <= NARROW and m * n * k > blocks.SMALL:
        multiply_beside(a[0], b, out, most_threads)
        return
    threads = threads_for(stack * m * n * k, most_threads)
    places = blocks.place(a), blocks.place(b), blocks.place(out)
    if threads == 1:
        blocks.matmul_strided(*places, (stack, m, n, k), workspace(out.dtype))
    else:
        parts = (1, 1) if stack >= threads else parts_for(m, n, k, threads)
        work, each = workspace(out.dtype, threads), blocks.room(out.dtype)
        blocks.matmul_strided_threads(
            *places, (stack, m, n, k), parts, work, each, threads, least_time(stack * m * n * k), team.members()
        )


def multiply_beside(a, b, out, most_threads=None):
    """out = a b for one matrix and a stack of narrow ones.

    The columns of each that fill no vector stand together, as rows, for a product of their own, if they would fill half
    a vector there: of 7 x 7 pixels the last.
    """
    (stack, m, n), k, size = out.shape, len(b[0]), vector_width(out.dtype)
    whole = n - n % size if 2 * stack * (n % size) >= size else n
    if whole:
        threads = threads_for(stack * m * whole * k, most_threads)
        parts = blocks.best_parts(m, stack * whole, 2 * threads if threads > 1 else 1)
        work, each = workspace(out.dtype, threads), blocks.room(out.dtype)
        least = least_time(stack * m * whole * k)
        places = blocks.place(a[None]), blocks.place(b), blocks.place(out)
        blocks.matmul_beside(*places, (stack, m, whole, k), parts, work, each, threads, least, team.members())
    if whole < n:
        rest = np.ascontiguousarray(b[:, :, whole:].transpose(0, 2, 1)).reshape(-1, k)
        results = np.empty((len(rest), m), out.dtype)
        multiply(rest[None], a.T[None], results[None], most_threads)
        out[:, :, whole:] = results.reshape(stack, -1, m).transpose(0, 2, 1)


def multiply_contiguous(a, b, out, most_threads=None):
    """out = a b for contiguous matrices, none of them empty: a or b may be the transpose of a C-contiguous one."""
    m, n = out.shape
    adds = m * n * a.shape[1]
    turned = not a.flags.c_contiguous, not b.flags.c_contiguous
    if adds < PARALLEL_FROM and m >= SMALL_ROWS and n >= ONE_VECTOR and not any(turned):
        matmul_small(a, b, out)
        return
    if m <= few.BY_COLUMNS and _multiply_few(a, b, out, turned, most_threads):
        return
    a, b = a.T if turned[0] else a, b.T if turned[1] else b
    threads = threads_for(adds, most_threads)
    parts = parts_for(m, n, adds // (m * n), threads) if threads > 1 else (1, 1)
    work, each = workspace(out.dtype, threads), blocks.room(out.dtype)
    blocks.matmul_threads(a, b, out, turned, parts, work, each, threads, least_time(adds), team.members())


def _multiply_few(a, b, out, turned, most_threads):
    """`multiply_contiguous` for few rows of a, where it pays not to pack b: whether it did."""
    (k, n), m, size = b.shape, len(a), vector_width(out.dtype)
    threads = 1 if k * n < READ_FROM else most_threads or team.size()
    least = k * n * out.itemsize // 40  # 40 bytes in a nanosecond
    if turned[1] and not turned[0] and k >= size and (m <= few.BY_COLUMNS_SMALL or m * n * k > blocks.SMALL):
        each = max(1, n // (4 * threads * few.TOGETHER)) * few.TOGETHER if threads > 1 else n
        few.by_columns(a, b.T, out, each, threads, least, team.members())
        return True
    if not turned[1] and m <= few.BY_ROWS and n >= size and k >= FEW_TERMS:
        parts = min(2 * threads, n // (4 * size)) if threads > 1 else 1
        few.by_rows(a.T if turned[0] else a, turned[0], b, out, max(1, parts), threads, least, team.members())
        return True
    return False


def workspace(dtype, threads=1):
    """Memory for packed blocks of a and b, aligned to vectors and kept for the next call.

    The line for one thread is a few MiB, which the system provides page by page as they are used.
    """
    lines = _kept.__dict__
    name = dtype.char if threads == 1 else (dtype.char, threads)
    if name not in lines:
        spare = vector_bytes() // dtype.itemsize
        line = np.empty(threads * blocks.room(dtype) + spare, dtype)
        lines[name] = line[-(line.ctypes.data // dtype.itemsize) % spare :]
    return lines[name]
