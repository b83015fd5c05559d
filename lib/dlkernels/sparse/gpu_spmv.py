"""A sparse matrix times a vector, on the GPU, in float32.

The ladder of spmv             what the rung adds
    spmv_scalar        a thread for each row: neighbours in a warp read entries that lie a row apart
    spmv_vector        a warp for each row: 32 lanes read neighbouring entries, a tree of shuffles adds them up
    spmv_merge_gpu     a block for as many steps of the merge path as any other; what is cut is carried out

Names of the first two are those of Bell and Garland, Implementing sparse matrix-vector multiplication on
throughput-oriented processors (2009); the third is Merrill and Garland's (2016; cpu_spmv.py says what the path is).

Each loses somewhere, and the x-ray counts it (tests/kernels/test_sparse.py): `spmv_scalar` reads a sector for each
entry where rows are long, and a warp waits for its longest row; `spmv_vector` has 31 idle lanes where rows have one
entry; both leave one thread or warp with all of one huge row. `spmv_merge_gpu` has searches, barriers and a second
launch, which pay nothing where rows are even.
"""

import functools

import numpy as np

from ..device import cuda
from ..implementations import implementation
from ..launches import device_array

f32, i32, i64 = np.float32, np.int32, np.int64
THREADS, WARP = 128, 32
ALL = 0xFFFFFFFF
ITEMS = 7  # steps of the path for each thread; odd, so that lanes a run apart are in different banks
TILE = THREADS * ITEMS
FIX = 128  # threads that add carries
INDICES = ("int32", "int64")


def signatures(template):
    """The signature for both dtypes of indices; "@" stands for a line of these."""
    return [f"void({template.replace('@', f'{kind}[::1]')})" for kind in INDICES]


SPMV = signatures("@, @, float32[::1], float32[::1], float32[::1]")


def on_lines(rung):
    """Let `rung(crow_indices, col_indices, values, x, out)` have a new result; without entries it is not called."""

    @functools.wraps(rung)
    def wrapper(crow_indices, col_indices, values, input):
        rows = crow_indices.size - 1
        if not values.size:
            return cuda.to_device(np.zeros(rows, f32))
        out = device_array(rows, f32)
        rung(crow_indices, col_indices, values, input, out)
        return out

    return wrapper


@cuda.jit
def scalar_kernel(crow_indices, col_indices, values, x, out):
    i = cuda.grid(1)
    if i < out.size:
        total = f32(0)
        for k in range(crow_indices[i], crow_indices[i + 1]):
            total += values[k] * x[col_indices[k]]
        out[i] = total


@implementation(
    "spmv",
    "gpu",
    adds="a thread for each row",
    limits="a warp waits for the longest of its 32 rows; long rows are read a sector for each entry",
    dtypes=("float32",),
    kernels=[(scalar_kernel, SPMV)],
)
@on_lines
def spmv_scalar(crow_indices, col_indices, values, x, out):
    scalar_kernel[-(-out.size // THREADS), THREADS](crow_indices, col_indices, values, x, out)


@cuda.jit
def vector_kernel(crow_indices, col_indices, values, x, out):
    lane, i = cuda.threadIdx.x, cuda.blockIdx.x * cuda.blockDim.y + cuda.threadIdx.y
    if i < out.size:
        total = f32(0)
        for k in range(crow_indices[i] + lane, crow_indices[i + 1], WARP):
            total += values[k] * x[col_indices[k]]
        for apart in (16, 8, 4, 2, 1):
            total += cuda.shfl_down_sync(ALL, total, apart)
        if lane == 0:
            out[i] = total


@implementation(
    "spmv",
    "gpu",
    adds="a warp for each row: lanes read neighbouring entries, and add up by shuffles",
    limits="rows of fewer than 32 entries leave lanes idle; one huge row is one warp's work",
    dtypes=("float32",),
    kernels=[(vector_kernel, SPMV)],
)
@on_lines
def spmv_vector(crow_indices, col_indices, values, x, out):
    warps = THREADS // WARP
    vector_kernel[-(-out.size // warps), (WARP, warps)](crow_indices, col_indices, values, x, out)


# ---- the merge path --------------------------------------------------------------------------------------------------


@cuda.jit(device=True)
def row_on_path(ends, first, rows, entries, diagonal):
    """How many of `rows` rows end before the path crosses a diagonal; ends[first ...] are their ends, among
    `entries`."""
    low, high = max(i64(0), diagonal - entries), min(diagonal, rows)
    while low < high:
        middle = (low + high) // 2
        if ends[first + middle] <= diagonal - middle - 1:
            low = middle + 1
        else:
            high = middle
    return low


@cuda.jit
def merge_kernel(crow_indices, col_indices, values, x, out, carry_rows, carries):
    """Each block walks TILE steps of the path. What belongs to a row that it does not end is its carry."""
    products = cuda.shared.array(TILE, f32)
    ends = cuda.shared.array(TILE, i64)
    sums = cuda.shared.array(THREADS, f32)
    last_rows = cuda.shared.array(THREADS, i64)
    corners = cuda.shared.array(2, i64)
    t, block = cuda.threadIdx.x, cuda.blockIdx.x
    rows, entries = i64(out.size), i64(values.size)
    start = min(i64(block) * TILE, rows + entries)
    stop = min(start + TILE, rows + entries)
    if t < 2:
        corners[t] = row_on_path(crow_indices, 1, rows, entries, start if t == 0 else stop)
    cuda.syncthreads()
    top, bottom = corners[0], corners[1]
    left, right = start - top, stop - bottom
    for k in range(left + t, right, THREADS):  # entries are read side by side, whatever their rows
        products[k - left] = values[k] * x[col_indices[k]]
    for i in range(top + t, bottom, THREADS):
        ends[i - top] = crow_indices[i + 1] - left
    cuda.syncthreads()
    thread_step = min(i64(t) * ITEMS, stop - start)
    row = row_on_path(ends, 0, bottom - top, right - left, thread_step)
    entry = thread_step - row
    first_row, first_sum, total = row, f32(0), f32(0)
    for _ in range(min(i64(ITEMS), stop - start - thread_step)):
        if row < bottom - top and ends[row] <= entry:  # a step down: the row ends
            if row == first_row:
                first_sum = total
            else:
                out[top + row] = total
            row += 1
            total = f32(0)
        else:
            total += products[entry]
            entry += 1
    sums[t], last_rows[t] = total, row
    cuda.syncthreads()
    apart = 1
    while apart < THREADS:  # threads whose rows are the same add up from the left
        before = f32(0)
        if t >= apart and last_rows[t - apart] == row:
            before = sums[t - apart]
        cuda.syncthreads()
        sums[t] += before
        cuda.syncthreads()
        apart *= 2
    if row > first_row:  # the first row that ended here began with threads to the left, or with blocks
        if t > 0 and last_rows[t - 1] == first_row:
            first_sum += sums[t - 1]
        out[top + first_row] = first_sum
    if t == THREADS - 1:
        carry_rows[block], carries[block] = top + row, sums[t]


@cuda.jit(device=True)
def first_of(lines, row):
    """Where the first of the rising numbers `lines` stands that is not below `row`."""
    low, high = 0, lines.size
    while low < high:
        middle = (low + high) // 2
        if lines[middle] < row:
            low = middle + 1
        else:
            high = middle
    return low


@cuda.jit
def carries_kernel(carry_rows, carries, out):
    """The carries of a row lie side by side: who has the first of them adds them all, in order."""
    b = cuda.grid(1)
    if b < carries.size:
        row = carry_rows[b]
        if row < out.size and first_of(carry_rows, row) == b:
            total, k = f32(0), b
            while k < carries.size and carry_rows[k] == row:
                total += carries[k]
                k += 1
            out[row] += total


@implementation(
    "spmv",
    "gpu",
    adds="equal steps of the merge path for each thread; what is cut is carried out, and added by a second launch",
    dtypes=("float32",),
    kernels=[
        (merge_kernel, signatures("@, @, float32[::1], float32[::1], float32[::1], int64[::1], float32[::1]")),
        (carries_kernel, ["void(int64[::1], float32[::1], float32[::1])"]),
    ],
    public=True,
)
@on_lines
def spmv_merge_gpu(crow_indices, col_indices, values, x, out):
    blocks = -(-(out.size + values.size) // TILE)
    carry_rows, carries = device_array(blocks, i64), device_array(blocks, f32)
    merge_kernel[blocks, THREADS](crow_indices, col_indices, values, x, out, carry_rows, carries)
    carries_kernel[-(-blocks // FIX), FIX](carry_rows, carries, out)
