"""Products on tensor cores: that they are fed as their docstrings say, and that what stands in for the instructions
without a GPU does what these do.

That every rung is right at all sizes and layouts is tested from the examples, in test_operations.py.
"""

import contextlib

import numpy as np
import pytest

from dlkernels import cuda, implementations, matmul_half
from dlkernels.async_copy import copy_async, wait_copies
from dlkernels.device import name as device_name
from dlkernels.matrix import gpu_tensor, gpu_tensor_fed, reference
from dlkernels.tensor_cores import KINDS, load_matrices, load_matrices_transposed, multiply
from dlkernels.wide import store4
from simt import xray

from .checks import on_device

pytestmark = pytest.mark.rotates(whole=True)  # what a function's cases compile is compiled on one day

FED = {"ldmatrix": gpu_tensor_fed.ldmatrix_kernel, "pipelined": gpu_tensor_fed.pipelined_kernel}
COMPILER = pytest.mark.skipif(not xray.available(), reason="the compiler for GPUs is not installed: run `make gpu`")
EXECUTOR = pytest.mark.skipif(device_name != "executor", reason="about what stands in for a GPU")
ENGINES = ("executor", "compiled") if device_name == "executor" else ("auto",)
u32 = np.uint32


def running_on(engine):
    return cuda.engine(engine) if device_name == "executor" else contextlib.nullcontext()


def sixteen_bits(shape, kind, seed=0):
    x = np.random.default_rng(seed).standard_normal(shape)
    return x.astype(np.float16) if kind == "f16" else (x.astype("f").view(u32) >> 16).astype(np.uint16)


# ---- what the compiler makes of them ---------------------------------------------------------------------------------


@COMPILER
@pytest.mark.parametrize("arch", ["sm_80", "sm_90"])
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("name", FED)
def test_a_quarter_of_the_main_loop_is_multiplication(name, kind, arch):
    view = xray.compiled(FED[name](kind), gpu_tensor_fed.PAIRS[0], arch)
    assert not view.spills
    assert not view.stack_bytes, "a local array did not fit into registers"
    assert view.occupancy(gpu_tensor_fed.THREADS).blocks_per_sm >= 2
    loop = view.main_loop
    assert loop["TENSOR.HMMA"] == 32
    assert loop.tensor_share >= 0.25
    assert loop["LDSM"] == 12
    assert loop["LDG.16"] == loop["LDG.32"] == loop["STS.32"] == loop["STS.16"] == 0, "narrow accesses"
    if name == "ldmatrix":
        assert loop["LDG.128"] == loop["STS.128"] == 4
    else:
        assert loop["LDGSTS"] == view.sass.count("LDGSTS.E.BYPASS.128") == 4
        assert loop["LDG"] == loop["STS"] == 0, "copies go through registers"
        assert loop["BAR"] == 1


@COMPILER
def test_the_first_rung_is_mostly_not_multiplication():
    """Why there are others."""
    loop = xray.compiled(gpu_tensor.tensor_core_kernel("f16"), gpu_tensor.BITS[0], "sm_80").main_loop
    assert loop["TENSOR.HMMA"] == 8
    assert loop.tensor_share < 0.05


# ---- what the x-ray sees ---------------------------------------------------------------------------------------------


@EXECUTOR
@pytest.mark.parametrize(("name", "order"), [("ldmatrix", "forward"), ("pipelined", "reverse")])
def test_no_bank_conflicts(name, order):
    m, n, k = 128, 128, 64
    a, b, out = sixteen_bits((m, k), "f16", 1), sixteen_bits((k, n), "f16", 2), np.zeros((m, n), "f")
    arguments = a.reshape(-1).view(u32), b.reshape(-1).view(u32), out.reshape(-1), u32(m), u32(n), u32(k)
    report = xray.xray(FED[name]("f16"), 1, gpu_tensor_fed.THREADS, order=order)(*arguments)
    np.testing.assert_allclose(out, reference.matmul_half(a, b), rtol=1e-4, atol=1e-4)
    assert report.ok, str(report)
    assert report.total["bank_ways"] == 1
    assert report.total["bank_conflicts"] == 0
    assert report.total["efficiency"] == 1
    trace = report.trace
    shared = trace.space == trace.space.max(initial=0, where=trace.space < 2)
    assert set(trace.size[shared]) == {16}, "a narrow access to shared memory"
    assert report.total["shared_load_requests"] == 8 * 12 * k // 32  # 8 warps, 12 of ldmatrix for 32 steps of k


# ---- right at all sizes ----------------------------------------------------------------------------------------------

RAGGED = [(1, 8, 8), (129, 136, 72), (5, 7, 9), (0, 8, 8), (8, 8, 0)]


@pytest.mark.parametrize("size", RAGGED, ids=str)
@pytest.mark.parametrize("row", implementations.of("matmul_half", "gpu"), ids=lambda row: row.name)
def test_ragged(row, size):
    m, n, k = size
    for engine, kind in zip(ENGINES, KINDS, strict=False):
        a, b = sixteen_bits((m, k), kind, 1), sixteen_bits((k, n), kind, 2)
        with running_on(engine):
            got = row(a, b)
        np.testing.assert_allclose(got, reference.matmul_half(a, b), rtol=1e-4, atol=1e-4, err_msg=engine)


@pytest.mark.parametrize("row", implementations.of("matmul_half", "gpu"), ids=lambda row: row.name)
@pytest.mark.parametrize("kind", KINDS)
def test_numbers_that_are_not_finite(kind, row):
    """By each engine: which one runs a product depends on its size."""
    a, b = np.zeros((16, 16), np.float16), np.eye(16, dtype=np.float16)
    a[0, 0], a[1, 1], a[2, 2], a[3, 3], b[3, 3] = np.inf, np.nan, -np.inf, 6e-8, 65504
    if kind == "bf16":
        a, b = ((x.astype("f").view(u32) >> 16).astype(np.uint16) for x in (a, b))
    expected = reference.matmul_half(a, b)
    for engine in ENGINES:
        with running_on(engine), np.errstate(invalid="ignore"):
            np.testing.assert_allclose(row(a, b), expected, rtol=1e-6, err_msg=engine)


def test_a_row_of_zeros_for_what_is_outside():
    """What lies behind a matrix in memory is no part of it, be it not a number."""
    room = np.full(3 * 128 * 40, np.nan, np.float16)
    room[: 130 * 40] = 1
    there = on_device(room)
    a, b = there[: 130 * 40].reshape(130, 40), there[: 40 * 24].reshape(40, 24)
    np.testing.assert_array_equal(matmul_half(a, b).copy_to_host(), 40)


# ---- what stands in for the instructions -----------------------------------------------------------------------------


@cuda.jit
def load_kernel(words, plain, transposed):
    tile = cuda.shared.array((32, 4), u32)
    t = cuda.threadIdx.x
    store4(tile, (t, 0), (words[4 * t], words[4 * t + 1], words[4 * t + 2], words[4 * t + 3]))
    cuda.syncthreads()
    plain[t, 0], plain[t, 1], plain[t, 2], plain[t, 3] = load_matrices(tile, (t, 0))
    w0, w1, w2, w3 = load_matrices_transposed(tile, (t, 0))
    transposed[t, 0], transposed[t, 1], transposed[t, 2], transposed[t, 3] = w0, w1, w2, w3


@pytest.mark.parametrize("engine", ENGINES)
def test_each_thread_gets_its_pairs(engine):
    matrices = np.random.default_rng(1).integers(0, 1 << 16, (4, 8, 8)).astype(np.uint16)
    plain, transposed = np.zeros((32, 4), u32), np.zeros((32, 4), u32)
    with running_on(engine):
        load_kernel[1, 32](matrices.reshape(-1).view(u32), plain, transposed)
    for got, source in ((plain, matrices), (transposed, matrices.transpose(0, 2, 1))):
        for lane in range(32):
            group, pair = lane // 4, lane % 4 * 2
            expected = np.ascontiguousarray(source[:, group, pair : pair + 2]).view(u32)[:, 0]
            np.testing.assert_array_equal(got[lane], expected)


@pytest.mark.parametrize("kind", KINDS)
def test_a_multiplication_places_its_elements_as_documented(kind):
    mma = multiply(kind)

    @cuda.jit
    def kernel(words, sums):
        t = cuda.threadIdx.x
        s = mma(
            words[t, 0], words[t, 1], words[t, 2], words[t, 3], words[t, 4], words[t, 5],
            sums[t, 0], sums[t, 1], sums[t, 2], sums[t, 3],
        )  # fmt: skip
        sums[t, 0], sums[t, 1], sums[t, 2], sums[t, 3] = s

    a, b = sixteen_bits((16, 16), kind, 1).view(np.uint16), sixteen_bits((16, 8), kind, 2).view(np.uint16)
    words = np.zeros((32, 6), u32)
    for lane in range(32):
        group, t = lane // 4, lane % 4
        for number, (row, column) in enumerate(((0, 0), (8, 0), (0, 8), (8, 8))):
            low, high = a[group + row, 2 * t + column : 2 * t + column + 2]
            words[lane, number] = int(low) | int(high) << 16
        for number, row in enumerate((0, 8)):
            low, high = b[2 * t + row : 2 * t + row + 2, group]
            words[lane, 4 + number] = int(low) | int(high) << 16
    start = np.random.default_rng(3).standard_normal((16, 8)).astype("f")
    numbers = [x.view(np.float16) if kind == "f16" else x for x in (a, b)]
    expected = start + reference.matmul_half(*numbers)
    for engine in ENGINES:
        sums = np.zeros((32, 4), "f")
        places = [(lane, lane // 4, lane % 4 * 2) for lane in range(32)]
        for lane, i, j in places:
            sums[lane] = start[i, j], start[i, j + 1], start[i + 8, j], start[i + 8, j + 1]
        with running_on(engine):
            kernel[1, 32](words, sums)
        for lane, i, j in places:
            wanted = expected[i, j], expected[i, j + 1], expected[i + 8, j], expected[i + 8, j + 1]
            np.testing.assert_allclose(sums[lane], wanted, rtol=1e-5, atol=1e-5, err_msg=engine)


# ---- copies that arrive later ----------------------------------------------------------------------------------------


def copying(wait_where):
    """A kernel that copies through shared memory; "before" the barrier is where the wait belongs."""
    early, late = wait_where == "before", wait_where == "after"

    @cuda.jit
    def kernel(x, y, inside):
        tile = cuda.shared.array((32, 4), u32)
        t = cuda.threadIdx.x
        copy_async(tile, (t, 0), x, 4 * t, t < inside)
        if early:
            wait_copies()
        cuda.syncthreads()
        if late:
            wait_copies()
        for e in range(4):
            y[4 * t + e] = tile[31 - t, e]

    return kernel


def test_copies_arrive_and_are_filled_with_zeros():
    x, y = np.arange(128, dtype=u32), np.zeros(128, u32)
    copying("before")[1, 32](x, y, 20)
    expected = np.where(np.arange(128) < 80, x, 0).reshape(32, 4)[::-1].reshape(-1)
    np.testing.assert_array_equal(y, expected)


@EXECUTOR
@pytest.mark.parametrize("where", ["nowhere", "after"])
def test_a_wait_that_is_missing_or_late_shows(where):
    x, y = np.arange(128, dtype=u32), np.zeros(128, u32)
    report = xray.xray(copying(where), 1, 32)(x, y, 32)
    assert [finding.kind for finding in report.findings] == ["unfinished-copy"]
    assert (y == 0xFFFFFFFF).any(), "no poison was read"


@EXECUTOR
def test_a_copy_is_a_load_and_a_store_of_sixteen_bytes():
    x, y = np.arange(128, dtype=u32), np.zeros(128, u32)
    report = xray.xray(copying("before"), 1, 32)(x, y, 32)
    assert report.ok, str(report)
    assert set(report.trace.size[report.trace.site == report.trace.site[0]]) == {16}
    assert report.total["global_load_requests"] == report.total["shared_store_requests"] == 1
