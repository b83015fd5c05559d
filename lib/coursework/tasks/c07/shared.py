"""What several tasks of chapter 07 use: inputs, and what may go wrong in two dimensions."""

import numpy as np

from ...definition import Case, random_values, unwritten


def add_arguments(n, m=None):
    """make(rng) -> a of n elements, b of m (default: n), out as long as the longer one."""
    m = n if m is None else m
    return lambda rng: (random_values(rng, n), random_values(rng, m), unwritten(max(n, m)))


BLOCK_2D = (16, 8)  # threads along x and y


def grid_2d(rows, columns):
    """The grid (x, y) of blocks that covers rows x columns elements."""
    return -(-columns // BLOCK_2D[0]), -(-rows // BLOCK_2D[1])


def case_2d(name, make, rows, columns):
    """A case of a kernel with a thread for each element of a matrix, columns along x."""
    x, y = grid_2d(rows, columns)
    where = "1 block" if x * y == 1 else f"{x} blocks along x, {y} along y"
    return Case(f"{name}: {rows} x {columns} in {where}", make(rows, columns), grid=(x, y), block=BLOCK_2D)


def thread_2d(index, case):
    """(block, thread) that writes an element of a matrix."""
    (row, column), (x, y) = index, BLOCK_2D
    return (column // x, row // y), (column % x, row % y)


BEYOND_2D = (
    "The grid has more threads than the matrix has elements, in both directions. The row must be below the number of "
    "rows, the column below the number of columns: out.shape has both."
)
TURNED = (
    "x counts columns and y counts rows, and cuda.grid(2) gives x first. Is one of them used as the other, in an index "
    "or in the guard?"
)
GAPS_2D = (
    "Does the index use the number of the block in both directions? And x counts columns, y counts rows: is one of "
    "them used as the other, in an index or in the guard? Every element needs a store, whatever its value is."
)


def silu(z):
    """z * sigmoid(z) in float64, without overflow."""
    z = np.asarray(z, np.float64)
    small = np.exp(-np.abs(z))
    return z * np.where(z < 0, small, 1.0) / (1 + small)
