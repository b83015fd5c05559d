"""Answers to 07-broadcast."""

from answers import MASTER, edit, replace

from dlkernels import cuda


@cuda.jit
def by_hand(r, c, z):
    """right"""
    i = cuda.threadIdx.y + cuda.blockDim.y * cuda.blockIdx.y
    j = cuda.threadIdx.x + cuda.blockDim.x * cuda.blockIdx.x
    if i < c.size and j < r.size:
        z[i, j] = c[i] + r[j]


@cuda.jit
def no_guard(row, column, out):
    """wrong out-of-bounds: The row must be below the number of rows"""
    j, i = cuda.grid(2)
    out[i, j] = row[j] + column[i]


guard_of_columns_only = edit(
    MASTER, "wrong out-of-bounds: The row must be below the number of rows", replace("i < out.shape[0] and j", "j")
)
row_alone = edit(MASTER, "wrong suspect: no column was added", replace("row[j] + column[i]", "row[j]"))
column_alone = edit(MASTER, "wrong suspect: no row was added", replace("row[j] + column[i]", "column[i]"))


@cuda.jit
def one_block(row, column, out):
    """wrong some-unwritten: the number of the block in both directions"""
    i, j = cuda.threadIdx.y, cuda.threadIdx.x
    if i < out.shape[0] and j < out.shape[1]:
        out[i, j] = row[j] + column[i]


around = edit(
    MASTER, "wrong wrong-value: element", replace("row[j] + column[i]", "row[i % row.size] + column[j % column.size]")
)
adds_to_what_was_there = edit(
    MASTER, "wrong adds-to-old: Begin each sum with 0", replace("out[i, j] = row[j]", "out[i, j] += row[j]")
)


@cuda.jit
def into_the_column(row, column, out):
    """wrong input-changed: may only be read"""
    j, i = cuda.grid(2)
    if i < out.shape[0] and j < out.shape[1]:
        column[i] += row[j]
        out[i, j] = column[i]
