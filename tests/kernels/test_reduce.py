"""Reductions: how exact the rungs are, that threads change no digit, what kernels do to memory and whom they wait for.

That every rung is right at all sizes and layouts is tested from the examples, in test_operations.py.
"""

import numba
import numpy as np
import pytest

import dlkernels
from dlkernels import implementations
from dlkernels.device import name as device_name
from dlkernels.reduce import cpu_sum, gpu_cumsum, gpu_histogram, gpu_sum
from dlkernels.simd import vector_width
from simt import xray

pytestmark = pytest.mark.rotates

EXECUTOR = pytest.mark.skipif(device_name != "executor", reason="about what stands in for a GPU")
f32 = np.float32


def rung(name):
    return next(row for row in implementations.everything() if row.name == name)


def numbers(*shape, dtype=f32):
    return np.random.default_rng(1).standard_normal(shape).astype(dtype)


# ---- sum -------------------------------------------------------------------------------------------------------------


def test_how_exact_each_rung_is():
    """A tenth, again and again: one after the other, the roundings of a float32 add up; each rung says by how much."""
    x = np.full(1 << 22, 0.1, f32)
    exact = x.astype(np.float64).sum()
    off = {row.name: abs(float(row(x)) - exact) / exact for row in implementations.of("sum", "cpu")}
    eps = np.finfo(f32).eps
    assert off["sum_sequential"] > 1e4 * eps
    sums = 8 * vector_width(np.dtype(f32))  # each of a part so much shorter
    assert off["sum_vectors"] < 1.25 * off["sum_sequential"] / sums
    assert off["sum_pairwise"] == off["sum_parallel"] <= 16 * eps
    assert off["sum_compensated"] <= eps


@pytest.mark.parametrize("shape", [(300_001,), (70_001, 3), (5, 900, 70)], ids=str)
def test_threads_change_no_digit(shape):
    x, before = numbers(*shape), numba.get_num_threads()
    try:
        for dim in (None, 0, -1):
            found = []
            for threads in (1, min(2, numba.config.NUMBA_NUM_THREADS)):
                numba.set_num_threads(threads)
                found.append(dlkernels.sum(x, dim))
            np.testing.assert_array_equal(*found)
    finally:
        numba.set_num_threads(before)


def test_a_transpose_is_summed_where_it_lies(monkeypatch):
    """What is contiguous in another order of dimensions is not copied."""
    x = numbers(40, 50, 60)
    monkeypatch.setattr(np, "require", lambda *arguments, **named: pytest.fail("copied"))
    for dim in (None, 0, 1, (0, 2)):
        np.testing.assert_allclose(
            dlkernels.sum(x.transpose(2, 0, 1), dim), x.transpose(2, 0, 1).sum(dim), rtol=1e-4, atol=1e-4
        )


def test_compensated_infinities():
    row = rung("sum_compensated")
    x = np.ones((3, 200), f32)
    x[0, 7], x[1, 3], x[1, 4] = np.inf, np.inf, -np.inf
    np.testing.assert_array_equal(row(x, -1), [np.inf, np.nan, 200])


BARRIERS = {"interleaved": 9, "sequential_addressing": 9, "first_add": 9, "shuffle": 1}


@EXECUTOR
@pytest.mark.parametrize("name", BARRIERS)
def test_barriers_of_a_block(name):
    x, out = numbers(gpu_sum.THREADS), np.zeros(1, f32)
    kernel = getattr(gpu_sum, f"{name}_kernel")
    report = xray.xray(kernel, 1, gpu_sum.THREADS)(x, out, x.size, 1, 1)
    np.testing.assert_allclose(out[0], x.sum(), rtol=1e-5)
    assert report.ok, str(report)
    assert report.total["barriers"] == BARRIERS[name]


@EXECUTOR
@pytest.mark.parametrize("order", ["forward", "reverse"])
def test_the_last_block_adds_whatever_the_order(order):
    """Whichever block comes last, it sees the sums of all: the fence and the counter order them."""
    chunks, n = 3, 3 * 64 * 2 + 5
    x, out = numbers(2, n), np.zeros(2, f32)
    parts, ready = np.zeros(2 * chunks, f32), np.zeros(2, np.int32)
    arguments = x.reshape(-1), parts, ready, out, n, 1, chunks
    report = xray.xray(gpu_sum.last_block_kernel, 2 * chunks, 64, order=order)(*arguments)
    np.testing.assert_allclose(out, x.sum(axis=1), rtol=1e-4, atol=1e-5)
    assert report.ok, str(report)
    np.testing.assert_array_equal(ready, chunks)


@EXECUTOR
def test_columns_are_read_side_by_side():
    x, out = numbers(64, 32), np.zeros(32, f32)
    report = xray.xray(gpu_sum.columns_kernel, 1, (32, 8))(x.reshape(-1), out, 64, 32, 1)
    np.testing.assert_allclose(out, x.sum(axis=0), rtol=1e-4, atol=1e-5)
    assert report.ok, str(report)
    loads = [e for e in report.expressions if (e.space, e.kind) == ("global", "load")]
    assert {e.sectors_per_request for e in loads} == {4}


WRONG = {
    "a list": (([1.0],), TypeError, r"x is a list; expected a NumPy array"),
    "integers": ((np.arange(3),), TypeError, r"x has dtype int64; expected float32 or float64"),
    "no such dim": ((np.zeros((2, 3), f32), 2), ValueError, r"dim is 2, and x has 2 dimensions; expected a number from -2 to 1"),
    "dim of a number": ((np.zeros((), f32), 0), ValueError, r"expected an array of at least one dimension"),
    "dim twice": ((np.zeros((2, 3), f32), (1, -1)), ValueError, r"dim is \(1, -1\); expected None, a number, or several different"),
    "no dim": ((np.zeros((2, 3), f32), ()), ValueError, r"dim is \(\); expected None"),
    "dim is half": ((np.zeros(3, f32), 0.5), TypeError, r"dim is 0\.5; expected a whole number"),
    "keepdim is 1": ((np.zeros(3, f32), 0, 1), TypeError, r"keepdim is 1; expected True or False"),
}  # fmt: skip


@pytest.mark.quick
@pytest.mark.parametrize("case", WRONG.values(), ids=WRONG.keys())
def test_wrong_arguments_of_sum(case):
    arguments, error, message = case
    with pytest.raises(error, match=message):
        dlkernels.sum(*arguments)


# ---- cumsum ----------------------------------------------------------------------------------------------------------


def test_a_long_row_stays_exact():
    """Sums in float32, one after the other, lose what blocks with float64 between them keep."""
    x = np.full(1 << 22, 0.1, f32)
    exact = np.cumsum(x, dtype=np.float64)
    off = {row.name: np.max(np.abs(row(x, 0) - exact) / exact) for row in implementations.of("cumsum", "cpu")}
    assert off["cumsum_sequential"] > 1e-3
    assert off["cumsum_vectors"] < 5e-6
    assert off["cumsum_parts"] < 5e-6


LOOK_BACK = 2 * gpu_cumsum.CHUNK + 300  # numbers of a row: three blocks


def look_back_arguments(rows):
    x, jobs = numbers(rows, LOOK_BACK), 3 * rows
    told, totals = np.zeros(jobs, np.int32), np.zeros((2, jobs), f32)
    return x, np.zeros_like(x), np.zeros(1, np.int32), told, *totals


@EXECUTOR
@pytest.mark.parametrize("order", ["forward", "reverse"])
def test_look_back_in_any_order(order):
    """Blocks have the numbers in which they begin: who waits finds that those before have told, and nothing races."""
    x, out, ticket, told, *sums = look_back_arguments(2)
    arguments = x.reshape(-1), out.reshape(-1), ticket, told, *sums, LOOK_BACK, 1, 3
    report = xray.xray(gpu_cumsum.look_back_kernel, 6, gpu_cumsum.THREADS, order=order)(*arguments)
    np.testing.assert_allclose(out, np.cumsum(x, axis=1, dtype=np.float64), atol=1e-4)
    assert report.ok, str(report)
    np.testing.assert_array_equal(told, gpu_cumsum.SUM)
    assert ticket[0] == 6


@EXECUTOR
def test_how_often_x_is_read():
    """Once by the look-back, twice by three launches."""
    x, out, ticket, told, *sums = look_back_arguments(1)
    x, out = x.reshape(-1), out.reshape(-1)

    def loads(kernel, *arguments):
        report = xray.xray(kernel, 3, gpu_cumsum.THREADS)(*arguments, LOOK_BACK, 1, 3)
        return sum(e.accesses for e in report.expressions if (e.kind, e.space, e.array) == ("load", "global", "x"))

    assert loads(gpu_cumsum.look_back_kernel, x, out, ticket, told, *sums) == x.size
    assert loads(gpu_cumsum.totals_kernel, x, sums[0]) + loads(gpu_cumsum.results_kernel, x, sums[0], out) == 2 * x.size


@pytest.mark.quick
def test_wrong_arguments_of_cumsum():
    with pytest.raises(ValueError, match="dim is 1, and x has 1 dimensions; expected a number from -1 to 0"):
        dlkernels.cumsum(numbers(3), 1)
    with pytest.raises(TypeError, match="dim is None; expected a whole number"):
        dlkernels.cumsum(numbers(3), None)


# ---- histogram -------------------------------------------------------------------------------------------------------


def test_edges_and_what_is_outside():
    """As torch.histc: an edge belongs to the bin above it, the last one to the last bin; NaN and what is outside to
    none."""
    x = np.array([0, 0.25, 0.5, 0.75, 1, 1.0001, -0.0001, np.nan, np.inf, -np.inf, -0.0], f32)
    for row in implementations.of("histogram"):
        np.testing.assert_array_equal(row(x, 4, 0, 1), [2, 1, 1, 2], err_msg=row.name)


@EXECUTOR
@pytest.mark.parametrize("name", ["global", "shared", "private"])
def test_lanes_of_a_warp_that_meet(name):
    """Numbers of one bin: the 32 lanes of a warp raise one count, wherever it is; no race."""
    x, counts, bins = np.full(2 * gpu_histogram.THREADS, 0.5, f32), np.zeros(4, np.int64), 4
    tables = {"global": 0, "shared": 1, "private": gpu_histogram.WARPS}[name]
    kernel = getattr(gpu_histogram, f"{name}_kernel")
    low, high, scale = f32(0), f32(1), f32(bins)
    report = xray.xray(kernel, 2, gpu_histogram.THREADS, 4 * bins * tables)(low, high, scale, x, counts)
    np.testing.assert_array_equal(counts, [0, 0, x.size, 0])
    assert report.ok, str(report)
    atomics = {e.space: e for e in report.expressions if e.kind == "atomic"}
    number_by_number = atomics["shared" if tables else "global"]
    assert number_by_number.accesses == x.size
    assert number_by_number.contention == 32
    if tables:
        assert atomics["global"].accesses == 2  # of each block, for the one bin that is not empty


WRONG_RANGES = {
    "no bins": ((0, 0, 1), ValueError, r"bins is 0; expected a number from 1 to"),
    "half a bin": ((0.5, 0, 1), TypeError, r"bins is 0\.5; expected a whole number"),
    "nothing between": ((4, 1, 1), ValueError, r"min is 1 and max is 1; expected min < max"),
    "infinite": ((4, 0, np.inf), ValueError, r"expected min < max, both finite"),
    "too wide": ((4, -3e38, 3e38), ValueError, r"\(max - min\) \* bins to be a number that float32 has"),
    "min is NaN": ((4, np.nan, 1), ValueError, r"min is nan and max is 1"),
    "min is text": ((4, "0", 1), TypeError, r"min is a str; expected a number"),
}


@pytest.mark.quick
@pytest.mark.parametrize("case", WRONG_RANGES.values(), ids=WRONG_RANGES.keys())
def test_wrong_arguments_of_histogram(case):
    arguments, error, message = case
    with pytest.raises(error, match=message):
        dlkernels.histogram(numbers(5), *arguments)


@pytest.mark.parametrize("n", [1, 17, 5000, 300_000])
@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_the_sum_of_what_may_not_be_written_has_the_same_bits(n, dtype):
    x = np.random.default_rng(n).standard_normal(n).astype(dtype)
    total = dlkernels.sum(x)
    x.flags.writeable = False
    again = dlkernels.sum(x)
    assert again.dtype == total.dtype
    assert again.shape == total.shape == ()
    assert again.tobytes() == total.tobytes()


@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_the_short_way_of_few_numbers_adds_them_as_the_long_one(dtype):
    """In the same order, in vectors or not; of minus zeros the sign is the same, too."""
    width = vector_width(np.dtype(dtype))
    for n in (1, width - 1, width, 2 * width - 1, 2 * width, 8 * width, 8 * width + 1, cpu_sum.BLOCK + 1):
        for x in (numbers(n, dtype=dtype), np.full(n, -0.0, dtype)):
            assert dlkernels.sum(x).tobytes() == implementations.call("sum", x, None, False).tobytes()
