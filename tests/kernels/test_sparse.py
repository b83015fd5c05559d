"""Sparse matrices: what test_operations.py cannot know of them. 500 matrices beside scipy.sparse, wrong indices, what a
matrix costs each rung of a GPU, the instruction for two of four, and that wrong rungs are noticed."""

import functools
import itertools

import numba
import numpy as np
import pytest
import scipy.sparse

import dlkernels
from dlkernels import cuda, implementations
from dlkernels.device import name as device_name
from dlkernels.sparse import cpu_spmv, gpu_spmv, gpu_two_four, reference
from dlkernels.sparse.checks import check_entries
from dlkernels.tensor_cores import KINDS
from simt.xray import available, compiled, xray

EXECUTOR = pytest.mark.skipif(device_name != "executor", reason="about what stands in for a GPU")
COMPILER = pytest.mark.skipif(not available(), reason="the compiler for GPUs is not installed: run `make gpu`")
#: The stand-in for the instruction, full of shuffles, is compiled for a quarter of a minute: by night.
COMPILED = pytest.param("compiled", marks=pytest.mark.slow)
ENGINES = ("executor", COMPILED) if device_name == "executor" else ("auto",)
f32, i32, u32 = np.float32, np.int32, np.uint32


# ---- beside scipy.sparse ---------------------------------------------------------------------------------------------


def even(random, rows, columns):
    return scipy.sparse.random(rows, columns, random.uniform(0, 0.4), "csr", "float64", random)


def from_counts(random, counts, columns):
    """Columns in any order, some of them twice."""
    crow_indices = np.concatenate([[0], np.cumsum(counts)]).astype(np.int64)
    col_indices = random.integers(0, max(columns, 1), crow_indices[-1])
    matrix = scipy.sparse.csr_matrix((len(counts), columns))
    matrix.indptr, matrix.indices = crow_indices, col_indices
    matrix.data = random.standard_normal(len(col_indices))
    return matrix


def power_law(random, rows, columns):
    return from_counts(random, np.minimum(random.pareto(1.0, rows), 4 * columns).astype(int) * (columns > 0), columns)


def one_row(random, rows, columns):
    counts = np.zeros(rows, int)
    if rows and columns:
        counts[random.integers(rows)] = random.integers(1, 5000)
    return from_counts(random, counts, columns)


def zeros(random, rows, columns):
    """What is stored may be zero, and often nothing is stored."""
    matrix = from_counts(random, random.integers(0, 2, rows) * (columns > 0) * random.integers(0, 2), columns)
    matrix.data[:] = 0
    return matrix


def banded(random, rows, columns):
    bands = [random.standard_normal(min(rows, columns)) for _ in range(3)]
    return scipy.sparse.csr_matrix(scipy.sparse.diags(bands, [-1, 0, 1], shape=(rows, columns)))


KINDS_OF_MATRICES = (even, power_law, one_row, zeros, banded)
SHAPES = ((1, 1), (7, 5), (3, 400), (400, 3), (90, 70), (31, 257), (0, 4), (4, 0), (1, 900), (900, 1))


@pytest.mark.parametrize("kind", KINDS_OF_MATRICES)
def test_a_hundred_matrices_as_scipy_multiplies_them(kind):
    """500 in all, by the functions that users call; in turn float32 with indices of 4 bytes, and float64 with 8, by one
    to three threads. Each rung is compared with the specification, in test_operations.py."""
    before = numba.get_num_threads()
    try:
        for seed in range(100):
            random = np.random.default_rng((seed, KINDS_OF_MATRICES.index(kind)))
            rows, columns = SHAPES[seed % len(SHAPES)]
            if kind is banded:
                rows, columns = max(rows, 2), max(columns, 2)
            dtype, index = ((f32, i32), (np.float64, np.int64))[seed // len(SHAPES) % 2]
            numba.set_num_threads(min(1 + seed // 3 % 3, numba.config.NUMBA_NUM_THREADS))
            as_scipy_says(kind(random, rows, columns), dtype, index, random)
    finally:
        numba.set_num_threads(before)


def as_scipy_says(matrix, dtype, index, random):
    values = matrix.data.astype(dtype)
    csr = matrix.indptr.astype(index), matrix.indices.astype(index), values
    exact, sizes = (
        scipy.sparse.csr_matrix((data, matrix.indices, matrix.indptr), matrix.shape)
        for data in (values.astype(float), np.abs(values.astype(float)))
    )
    allowed = (np.diff(matrix.indptr)[:, None] + 2) * np.finfo(dtype).eps
    dense = random.standard_normal((matrix.shape[1], random.integers(1, 40))).astype(dtype)
    for function, given in ((dlkernels.spmv, dense[:, 0]), (dlkernels.spmm, dense), (dlkernels.spmm, dense[:, :0])):
        got, expected, size = function(*csr, given), exact @ given.astype(float), sizes @ np.abs(given.astype(float))
        assert got.dtype == dtype
        assert got.shape == expected.shape
        assert (np.abs(got - expected) <= (allowed if got.ndim == 2 else allowed[:, 0]) * size).all()
    whole = exact.toarray()  # adds what is there twice
    assert (np.abs(dlkernels.to_dense(*csr, matrix.shape) - whole) <= allowed * sizes.toarray()).all()
    back = dlkernels.to_csr(whole.astype(dtype))
    again = scipy.sparse.csr_matrix(whole.astype(dtype))
    for got, expected in zip(back, (again.indptr, again.indices, again.data), strict=True):
        np.testing.assert_array_equal(got, expected)
    check_entries(*back[:2], matrix.shape[1], canonical=True)


@pytest.mark.parametrize("size", [(4, 4), (8, 8), (16, 16), (32, 32), (3, 5)])
def test_blocks_as_scipy_multiplies_them(size):
    random = np.random.default_rng(5)
    matrix = even(random, 12, 9)
    blocks = random.standard_normal((matrix.nnz, *size)).astype(f32)
    exact = scipy.sparse.bsr_matrix((blocks, matrix.indices, matrix.indptr), shape=(12 * size[0], 9 * size[1]))
    dense = random.standard_normal((9 * size[1], 21)).astype(f32)
    for rung in implementations.of("bsr_mm", "cpu"):
        got = rung(matrix.indptr.astype(i32), matrix.indices.astype(i32), blocks, dense)
        np.testing.assert_allclose(got, exact @ dense.astype(float), rtol=1e-4, atol=1e-4)


@pytest.mark.parametrize("name", ["spmv", "spmm", "spmm_backward"])
def test_results_repeat_on_any_number_of_threads(name):
    """The public rungs add in an order that the matrix alone decides."""
    random = np.random.default_rng(1)
    matrix = from_counts(random, np.minimum(random.pareto(0.8, 3000) * 10, 20_000).astype(int), 500)
    csr = matrix.indptr.astype(i32), matrix.indices.astype(i32), matrix.data.astype(f32)
    dense = random.standard_normal((500, 150)).astype(f32)
    grad = random.standard_normal((3000, 150)).astype(f32)
    given = {"spmv": (*csr, dense[:, 0].copy()), "spmm": (*csr, dense), "spmm_backward": (grad, *csr, dense)}[name]
    function, before = getattr(dlkernels, name), numba.get_num_threads()
    try:
        found = []
        for threads in range(1, numba.config.NUMBA_NUM_THREADS + 1):
            numba.set_num_threads(threads)
            found.append(function(*given))
    finally:
        numba.set_num_threads(before)
    for one in found[1:]:
        np.testing.assert_array_equal(one, found[0]) if name != "spmm_backward" else [
            np.testing.assert_array_equal(*pair) for pair in zip(one, found[0], strict=True)
        ]


def test_every_part_of_the_merge_path_has_as_many_steps():
    """Of rows and entries, whatever the matrix; the parts meet, and the last one ends with the matrix."""
    random = np.random.default_rng(2)
    for counts in ([0] * 50, [1000], [0, 700, 0, 0, 3], random.integers(0, 9, 100), [0] * 99 + [500]):
        crow_indices = np.concatenate([[0], np.cumsum(counts)]).astype(np.int64)
        rows, entries = len(counts), int(crow_indices[-1])
        steps, parts = rows + entries, 7
        corners = [cpu_spmv.merge_path(crow_indices, entries, part * steps // parts) for part in range(parts + 1)]
        assert corners[0] == (0, 0)
        assert corners[-1] == (rows, entries)
        for (row, entry), (last_row, last_entry) in itertools.pairwise(corners):
            assert row <= last_row
            assert entry <= last_entry
            assert abs((last_row - row) + (last_entry - entry) - steps / parts) <= 1
            assert crow_indices[row] <= entry  # all rows before it have ended
            assert row == rows or entry <= crow_indices[row + 1]


# ---- wrong arguments -------------------------------------------------------------------------------------------------

CROW, COL, VALUES, X = (
    np.array([0, 2, 2, 5], i32),
    np.array([3, 0, 1, 1, 2], i32),
    np.arange(1, 6, dtype=f32),
    np.ones(4, f32),
)


def changed(x, at, value):
    x = x.copy()
    x[at] = value
    return x


WRONG = {
    "a first pointer": ((changed(CROW, 0, 1), COL, VALUES, X), r"crow_indices\[0\] is 1; expected 0"),
    "a pointer that falls": (
        (changed(CROW, 1, 4), COL, VALUES, X),
        r"crow_indices\[2\] is 2, less than crow_indices\[1\], 4: row 1 would end before it begins",
    ),
    "a negative pointer": ((changed(CROW, 1, -1), COL, VALUES, X), r"crow_indices\[1\] is -1, less than .*: row 0 would"),
    "a last pointer": ((changed(CROW, 3, 4), COL, VALUES, X), r"crow_indices\[3\], the last, is 4, and there are 5"),
    "a column too far": ((CROW, changed(COL, 3, 4), VALUES, X), r"col_indices\[3\], in row 2, is 4; expected a column from 0 to 3"),
    "a negative column": ((CROW, changed(COL, 0, -1), VALUES, X), r"col_indices\[0\], in row 0, is -1; expected a column"),
    "no pointers": ((CROW[:0], COL, VALUES, X), "crow_indices is empty"),
    "a value less": ((CROW, COL, VALUES[:-1], X), r"values has shape \(4,\), and col_indices \(5,\)"),
}  # fmt: skip


@pytest.mark.parametrize("what", WRONG)
def test_which_entry_is_wrong(what):
    """By the product with a vector, whose short way looks at indices itself, and by that with a matrix."""
    (*csr, x), message = WRONG[what]
    for call in (lambda: dlkernels.spmv(*csr, x), lambda: dlkernels.spmm(*csr, x[:, None])):
        with pytest.raises(ValueError, match=message):
            call()


def test_a_wrong_entry_in_any_task_is_found():
    """The short way of spmv checks in parts: a large matrix, with one index changed at random."""
    random = np.random.default_rng(3)
    matrix = from_counts(random, random.integers(0, 60, 2000), 300)
    csr, x = (matrix.indptr.astype(i32), matrix.indices.astype(i32), matrix.data.astype(f32)), np.ones(300, f32)
    assert cpu_spmv.tasks_for(2000 + matrix.nnz)[0] > 4
    assert cpu_spmv.quick(*csr, x) is not None
    for _ in range(50):
        col = changed(csr[1], random.integers(matrix.nnz), random.choice([-1, 300, 2**31 - 1, -(2**31)]))
        assert cpu_spmv.quick(csr[0], col, csr[2], x) is None
        row = random.integers(1, 2000)
        crow = changed(csr[0], row, random.choice([-5, matrix.nnz + 1, csr[0][row - 1] - 1, csr[0][row + 1] + 1]))
        assert cpu_spmv.quick(crow, csr[1], csr[2], x) is None


def test_what_is_canonical():
    check_entries(np.array([0, 2, 3]), np.array([0, 4, 2]), 5, canonical=True)
    check_entries(np.array([0, 2, 3]), np.array([4, 0, 2]), 5)
    with pytest.raises(
        ValueError, match=r"col_indices\[1\]: in row 0 column 0 comes after 4; expected columns that rise"
    ):
        check_entries(np.array([0, 2, 3]), np.array([4, 0, 2]), 5, canonical=True)
    with pytest.raises(ValueError, match=r"col_indices\[2\]: row 1 has column 2 twice; expected each once"):
        check_entries(np.array([0, 1, 3]), np.array([4, 2, 2]), 5, canonical=True)


def test_duplicates_are_added_and_get_a_gradient_each():
    crow, col, values = np.array([0, 2], i32), np.array([1, 1], i32), np.array([2, 3], f32)
    dense = np.array([[10.0], [100.0]], f32)
    np.testing.assert_array_equal(dlkernels.to_dense(crow, col, values, (1, 2)), [[0, 5]])
    np.testing.assert_array_equal(dlkernels.spmm(crow, col, values, dense), [[500]])
    of_values, of_dense = dlkernels.spmm_backward(np.ones((1, 1), f32), crow, col, values, dense)
    np.testing.assert_array_equal(of_values, [100, 100])
    np.testing.assert_array_equal(of_dense, [[0], [5]])


def test_what_is_not_stored_meets_no_infinity():
    dense = np.full((2, 3), np.inf, f32)
    out = dlkernels.spmm(np.array([0, 1, 1], i32), np.array([0], i32), np.ones(1, f32), dense)
    np.testing.assert_array_equal(out, [[np.inf] * 3, [0] * 3])


# ---- what a GPU pays -------------------------------------------------------------------------------------------------


def matrix_of(counts, columns, seed=0):
    matrix = from_counts(np.random.default_rng(seed), np.asarray(counts), columns)
    return matrix.indptr.astype(i32), matrix.indices.astype(i32), matrix.data.astype(f32)


@functools.cache
def counted(name):
    """{"scalar", "vector", "merge": (report's totals, most requests of a warp)} for a matrix."""
    matrix = {
        "64 in each row": matrix_of([64] * 256, 1024),
        "one in each row": matrix_of([1] * 2048, 1024),
        "one huge row": matrix_of([1] * 99 + [8192] + [1] * 156, 1024),
    }[name]
    x, rows = np.random.default_rng(1).standard_normal(1024).astype(f32), len(matrix[0]) - 1
    expected, found = reference.spmv(*matrix, x), {}
    blocks = -(-(rows + len(matrix[1])) // gpu_spmv.TILE)
    launches = {
        "scalar": (gpu_spmv.scalar_kernel, -(-rows // gpu_spmv.THREADS), gpu_spmv.THREADS, ()),
        "vector": (gpu_spmv.vector_kernel, -(-rows // 4), (32, 4), ()),
        "merge": (gpu_spmv.merge_kernel, blocks, gpu_spmv.THREADS, (np.zeros(blocks, np.int64), np.zeros(blocks, f32))),
    }
    for way, (kernel, grid, block, carried) in launches.items():
        out = np.zeros(rows, f32)
        report = xray(kernel, grid, block)(*matrix, x, out, *carried)
        assert report.ok, str(report)
        if way == "merge":
            blocks_of_carries = xray(gpu_spmv.carries_kernel, 1, gpu_spmv.FIX)(*carried, out)
            assert blocks_of_carries.ok
        np.testing.assert_allclose(out, expected, rtol=1e-3, atol=1e-3)
        found[way] = report.total
    return found


@EXECUTOR
def test_a_thread_for_each_row_loses_where_rows_are_long():
    """Neighbours in a warp read entries a row apart: a sector for each of them, of which 4 bytes of 32 are used."""
    found = counted("64 in each row")
    assert found["scalar"]["sectors_per_request"] > 30
    assert found["scalar"]["efficiency"] < 0.14
    assert found["scalar"]["global_load_sectors"] > 2.3 * found["vector"]["global_load_sectors"]
    assert found["vector"]["active_lanes"] > 28


@EXECUTOR
def test_a_warp_for_each_row_loses_where_rows_are_short():
    found = counted("one in each row")
    assert found["vector"]["active_lanes"] < 12  # of 32: the others have nothing to load
    assert found["vector"]["global_load_requests"] >= 32 * found["scalar"]["global_load_requests"]
    assert found["vector"]["global_load_sectors"] > 3 * found["scalar"]["global_load_sectors"]
    assert found["scalar"]["active_lanes"] == 32


@EXECUTOR
def test_both_lose_where_one_row_is_huge():
    """One thread of the first has nearly all requests; the merge path has equal parts."""
    found = counted("one huge row")
    assert found["scalar"]["active_lanes"] < 1.1
    assert found["scalar"]["global_load_requests"] > 25 * found["merge"]["global_load_requests"]
    assert found["merge"]["active_lanes"] > 28


@EXECUTOR
def test_the_merge_path_loses_where_rows_are_even():
    """It has barriers, shared memory, and ends of rows that are stored apart; a matrix of even rows needs none of
    that."""
    long, short = counted("64 in each row"), counted("one in each row")
    assert long["vector"]["barriers"] == short["scalar"]["barriers"] == 0
    assert long["merge"]["barriers"] > 10
    assert long["merge"]["global_load_sectors"] > long["vector"]["global_load_sectors"]
    assert short["merge"]["global_store_sectors"] > 5 * short["scalar"]["global_store_sectors"]


# ---- two of four -----------------------------------------------------------------------------------------------------


def packed(shape, kind, seed=0):
    random = np.random.default_rng(seed)
    dense = random.standard_normal(shape)
    dense = dense.astype(np.float16) if kind == "f16" else (dense.astype(f32).view(u32) >> 16).astype(np.uint16)
    return dense, *dlkernels.to_2_4(dense)


@pytest.mark.parametrize(("dtype", "left"), [("uint16", 0.5625), ("float16", 0.5625), ("float32", 0.53125)])
def test_how_many_bytes_are_left(dtype, left):
    """Two of four numbers of b bytes, and two times two bits: (2 b + 1/2) / (4 b)."""
    dense = np.zeros((3, 64), dtype)
    values, indices = dlkernels.to_2_4(dense)
    b = dense.itemsize
    assert left == (2 * b + 0.5) / (4 * b)
    assert (values.nbytes + indices.nbytes) / dense.nbytes == left


def test_the_two_largest_stay_where_they_were():
    dense = np.array([[1, -4, 3, 2, 5, 5, 5, 5], [0, 0, 0, np.nan, -9, 1, np.inf, 0]], f32)
    values, indices = dlkernels.to_2_4(dense)
    np.testing.assert_array_equal(values, [[-4, 3, 5, 5], [0, np.nan, -9, np.inf]])
    assert indices.tolist() == [[0b0100_1001], [0b1000_1100]]
    np.testing.assert_array_equal(
        reference.from_2_4(values, indices), [[0, -4, 3, 0, 5, 5, 0, 0], [0, 0, 0, np.nan, -9, 0, np.inf, 0]]
    )


@functools.cache
def one_instruction(kind, stand_in):
    mma_sp = gpu_two_four.sparse_multiply(kind) if not stand_in else gpu_two_four.sparse_multiply_by_shuffles(kind)

    @cuda.jit
    def kernel(a, b, metadata, c, out):
        t = cuda.threadIdx.x
        out[t, 0], out[t, 1], out[t, 2], out[t, 3] = mma_sp(
            a[t, 0], a[t, 1], a[t, 2], a[t, 3], b[t, 0], b[t, 1], b[t, 2], b[t, 3],
            c[t, 0], c[t, 1], c[t, 2], c[t, 3], metadata[t],
        )  # fmt: skip

    return kernel


def words_of(pairs):
    """Pairs of 16 bits, along the last axis, as words."""
    bits = np.ascontiguousarray(pairs).view(np.uint16).astype(u32)
    return bits[..., 0] | bits[..., 1] << 16


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize("kind", KINDS)
def test_one_instruction_multiplies_as_ptx_says(kind, engine):
    """16 x 32 by 32 x 8, with random metadata; the words of threads 2 and 3 of each four do not count (selector 0)."""
    _, values, indices = packed((16, 32), kind, 1)
    b, _, _ = packed((8, 32), kind, 2)  # column by column
    lane = np.arange(32)
    group, t = lane // 4, lane % 4
    places = [(group, 2 * t), (group + 8, 2 * t), (group, 2 * t + 8), (group + 8, 2 * t + 8)]
    a_words = np.stack([words_of(np.stack([values[i, k], values[i, k + 1]], -1)) for i, k in places], 1)
    rows = [2 * t + 8 * k for k in range(4)]
    b_words = np.stack([words_of(np.stack([b[group, k], b[group, k + 1]], -1)) for k in rows], 1)
    halves = indices.view(np.uint16).astype(u32)  # (16, 2): 16 columns each
    metadata = halves[group, t % 2] | halves[group + 8, t % 2] << 16
    metadata[t > 1] = 0xE4E4E4E4
    c = np.random.default_rng(3).standard_normal((32, 4)).astype(f32)
    out = np.zeros((32, 4), f32)
    if device_name == "executor":
        with cuda.engine(engine):
            one_instruction(kind, False)[1, 32](a_words, b_words, metadata, c, out)
    else:
        one_instruction(kind, False)[1, 32](a_words, b_words, metadata, c, out)
    product = reference.linear_2_4(b, values, indices).T
    for e in range(4):
        expected = c[:, e] + product[group + e // 2 * 8, 2 * t + e % 2]
        np.testing.assert_allclose(out[:, e], expected, rtol=1e-5, atol=1e-5)


@COMPILER
@pytest.mark.parametrize("kind", KINDS)
def test_the_compiler_makes_one_sparse_instruction_for_each_step(kind):
    """ptxas knows the instruction with the operands that it is given, and calls it HMMA.SP."""
    view = compiled(gpu_two_four.tensor_core_kernel(kind), gpu_two_four.HALF[0], "sm_80")
    assert view.sass.count("HMMA.SP.16832.F32") >= 1
    assert not view.spills


@pytest.mark.parametrize("engine", ENGINES)
def test_what_lies_behind_the_last_column_is_no_part(engine):
    """Widths that are no multiple of 32, rows of no multiple of 16: memory behind is not read."""
    for kind, (samples, fours, rows) in zip(KINDS, ((5, 3, 17), (9, 9, 3)), strict=True):
        _, values, indices = packed((rows, 4 * fours), kind)
        x, _, _ = packed((samples, 4 * fours), kind, 1)
        row = implementations.of("linear_2_4_half", "gpu")[-1]
        if device_name == "executor":
            with cuda.engine(engine):
                got = row(x, values, indices)
        else:
            got = row(x, values, indices)
        np.testing.assert_allclose(got, reference.linear_2_4(x, values, indices), rtol=1e-4, atol=1e-4)


# ---- wrong rungs are noticed -----------------------------------------------------------------------------------------


def forgets_the_carry(crow_indices, col_indices, values, input):
    """A row that is cut between two parts loses what the first of them had of it."""
    out = reference.spmv(crow_indices, col_indices, values, input).astype(values.dtype)
    half = len(values) // 2
    row = int(np.searchsorted(crow_indices, half, side="right")) - 1
    if len(values) and crow_indices[row] < half:
        first = slice(int(crow_indices[row]), half)
        out[row] -= (values[first] * input[col_indices[first]]).sum()
    return out


def keeps_the_last_of_two(crow_indices, col_indices, values, input):
    """Duplicates replace each other."""
    dense = np.zeros((len(crow_indices) - 1, len(input)), values.dtype)
    dense[reference.rows_of(crow_indices), col_indices] = values
    return dense @ input if len(input) else np.zeros(len(dense), values.dtype)


def multiplies_what_is_not_stored(crow_indices, col_indices, values, input):
    """Zero times infinity is not a number."""
    dense = np.zeros((len(crow_indices) - 1, len(input)))
    np.add.at(dense, (reference.rows_of(crow_indices), np.asarray(col_indices)), np.asarray(values, float))
    return (dense @ np.asarray(input, float)).astype(values.dtype)


def leaves_empty_rows(crow_indices, col_indices, values, input):
    out = reference.spmv(crow_indices, col_indices, values, input).astype(values.dtype)
    out[np.diff(crow_indices) == 0] = 7
    return out


PLANTED = {
    forgets_the_carry: ("spmv", "test_shapes"),
    keeps_the_last_of_two: ("spmv", "test_shapes"),
    multiplies_what_is_not_stored: ("spmv", "test_values"),
    leaves_empty_rows: ("spmv", "test_shapes"),
}


@pytest.mark.parametrize("fault", PLANTED, ids=lambda fault: fault.__name__)
def test_a_planted_fault_is_noticed(fault, monkeypatch):
    from . import test_operations as tests

    monkeypatch.setattr(implementations, "_LADDERS", {k: list(v) for k, v in implementations._LADDERS.items()})
    name, test = PLANTED[fault]
    implementations.implementation(name, device="cpu", adds="a fault")(fault)
    (row,) = [row for row in implementations.of(name) if row.name == fault.__name__]
    with pytest.raises(AssertionError), np.errstate(all="ignore"):
        getattr(tests, test)(row)
    implementations.public_rung.cache_clear()
