"""What only matrix products have: stacks that are broadcast, blocks, splits, 16 bits, messages.

That every rung is right at all sizes, layouts and values is tested from the examples, in test_operations.py.
"""

import subprocess
import sys

import numpy as np
import pytest
from numba import njit

from dlkernels import (
    axpy,
    cuda,
    implementations,
    linear,
    linear_backward,
    matmul,
    matmul_backward,
    matmul_half,
    matmul_int8,
    matmul_strassen,
)
from dlkernels.device import name as device_name
from dlkernels.examples import LAYOUTS, Draw
from dlkernels.matrix import blocks, choose, gpu_stacks, gpu_wide, half, reference, strassen
from dlkernels.matrix.gpu_wide import FOURS
from dlkernels.simd import vector_width
from dlkernels.simd.line import memory
from simt import xray
from simt.trace import KINDS, SHARED

pytestmark = pytest.mark.rotates

CPU = implementations.of("matmul", "cpu") + implementations.of("matmul_strassen", "cpu")
GPU = implementations.of("matmul", "gpu")
ONE_PER_ELEMENT = {"matmul_naive", "matmul_coalesced", "matmul_shared_tile"}


def label(row):
    return f"{row.device}-{row.name}"


def operand(shape, dtype, layout="contiguous", seed=0):
    return Draw(dtype, layout, seed=seed).array(*shape)


def check(function, a, b, out=None):
    """function(a, b) against float64; the error allowed is that of a sum of k rounded terms, element by element."""
    copies = a.copy(), b.copy()
    got = function(a, b) if out is None else function(a, b, out=out)
    assert out is None or got is out
    expected = reference.matmul(a, b)
    assert got.shape == expected.shape
    assert got.dtype == a.dtype
    k, eps = a.shape[-1], np.finfo(a.dtype).eps
    allowed = (k + 2) * eps * (np.abs(a).astype(float) @ np.abs(b).astype(float)) + np.finfo(a.dtype).tiny
    wrong = np.argwhere(~(np.abs(got - expected) <= allowed))
    assert not wrong.size, (
        f"{wrong.shape[0]} of {got.size} wrong, first {wrong[0]}: {got[tuple(wrong[0])]}, expected "
        f"{expected[tuple(wrong[0])]}"
    )
    np.testing.assert_array_equal(a, copies[0])
    np.testing.assert_array_equal(b, copies[1])
    return got


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_few_rows_of_every_layout(dtype):
    """Both sides of where another way begins: rows, a vector of terms or of columns, and threads."""
    for m in (1, 2, 3, 4, 5, 8, 9, 16, 17):
        for k, n in ((7, 9), (8, 8), (16, 17), (31, 50), (64, 100), (515, 333)):
            a, b = operand((m, k), dtype), operand((k, n), dtype, seed=1)
            for left in (a, np.asfortranarray(a)):
                for right in (b, np.asfortranarray(b)):
                    check(matmul, left, right)


def test_few_rows_count_each_term_once():
    """The last vector of a row or column begins before what is left: an infinity there must not be multiplied again."""
    for m in (1, 2, 5):
        a, b = np.ones((m, 21), np.float32), np.ones((21, 21), np.float32)
        a[:, 14], b[14, 14] = 0.5, np.inf
        for right in (b, np.asfortranarray(b)):
            expected = a @ b
            assert np.array_equal(matmul(a, right), expected)
            assert np.isinf(expected[:, 14]).all()


def test_few_rows_have_the_same_bits_by_any_number_of_threads():
    for m in (1, 2, 8):
        a, b = operand((m, 700), np.float32), operand((700, 333), np.float32, seed=1)
        for right in (b, np.asfortranarray(b)):
            one, several = np.empty((2, m, 333), np.float32)
            choose.multiply_contiguous(a, right, one, 1)
            choose.multiply_contiguous(a, right, several, 3)
            assert np.array_equal(one, several)


# ---- the CPU ladder ----------------------------------------------------------------------------------------


@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_layouts_of_large_operands_are_followed_while_packing(layout, dtype):
    a, b = operand((290, 310), dtype, layout, 1), operand((310, 280), dtype, layout, 2)
    for left in (a, operand((290, 310), dtype)):
        for right in (b, operand((310, 280), dtype)):
            check(matmul, left, right)
            check(matmul, left, right, operand((290, 280), dtype, layout, 3))


STACKS = [((2,), ()), ((), (3,)), ((2, 3), (2, 3)), ((2, 1), (3,)), ((1,), (4,)), ((0,), (1,)), ((7,), (7,))]


@pytest.mark.parametrize(("left", "right"), STACKS, ids=str)
@pytest.mark.parametrize(
    "row", [row for row in CPU if row.public or row.name in ("matmul_ijk", "matmul_tile")], ids=label
)
def test_stacks_are_broadcast(row, left, right):
    for m, n, k in ((5, 9, 4), (0, 3, 2), (3, 2, 0), (40, 33, 100)):
        a, b = operand((*left, m, k), "float32", seed=1), operand((*right, k, n), "float32", seed=2)
        got = check(row, a, b)
        np.testing.assert_allclose(got, a @ b, rtol=1e-3, atol=1e-3)


def test_a_sum_of_no_terms_is_zero():
    for shape in ((3, 4), (2, 3, 4)):
        out = np.full(shape, np.nan, np.float32)
        result = matmul(np.zeros((*shape[:-1], 0), "f"), np.zeros((*shape[:-2], 0, 4), "f"), out)
        np.testing.assert_array_equal(result, 0)


def test_unaligned_memory():
    raw = np.zeros(4 * 12 + 1, np.uint8)[1:].view("<f4").reshape(3, 4)
    assert not raw.flags.aligned
    raw[...] = np.arange(12).reshape(3, 4)
    np.testing.assert_array_equal(matmul(raw, raw.T), raw @ raw.T)


def test_every_part_of_a_shared_product_is_computed_once():
    for threads in (1, 2, 3, 4, 6, 7, 64):
        for m, n in ((1000, 1000), (10, 5000), (5000, 10)):
            down, across = blocks.best_parts(m, n, threads)
            assert down * across == threads
    assert blocks.best_parts(4000, 100, 4) == (4, 1)
    assert blocks.best_parts(1000, 1000, 4) == (2, 2)


def test_parts_are_small_where_twice_as_many_suffice():
    assert choose.parts_for(128, 128, 128, 2) == (2, 2)
    for m, n, k in ((256, 256, 256), (256, 256, 200), (1000, 100, 100)):
        down, across = choose.parts_for(m, n, k, 2)
        assert down * across == 8
        assert m // down * (n // across) * k <= blocks.SMALL
    assert choose.parts_for(300, 300, 300, 2) == (2, 2)


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize(
    "size", [(8, 16, 8), (8, 16, 16384), (8, 512, 512), (65, 63, 67), (130, 120, 110), (250, 251, 255)]
)
def test_transposes_are_taken_as_they_stand(size, dtype, monkeypatch):
    m, n, k = size
    a, b = operand((k, m), dtype, seed=1).T, operand((n, k), dtype, seed=2).T
    monkeypatch.setattr(blocks, "place", None)  # not the way for any strides
    for x, y in ((a, b), (np.ascontiguousarray(a), b), (a, np.ascontiguousarray(b))):
        for frozen in (False, True):
            x.flags.writeable = y.flags.writeable = not frozen
            np.testing.assert_allclose(matmul(x, y), x.astype("d") @ y.astype("d"), rtol=0, atol=1e-4 * k**0.5)


def test_a_part_without_rows_or_columns_is_no_error():
    """A task must not raise, and a long sum has more parts than elements."""
    for m, n in ((0, 3), (2, 0), (0, 0)):
        a, b, out = np.ones((1, m, 50), "f"), np.ones((1, 50, n), "f"), np.ones((1, m, n), "f")
        places, work = (blocks.place(x) for x in (a, b, out)), choose.workspace(out.dtype)
        blocks.matmul_strided(*places, (1, m, n, 50), work)


# ---- shapes that go a way of their own: skinny ones, one matrix times many ---------------------------------


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("turned", [(False, False), (True, False), (False, True), (True, True)], ids=str)
def test_last_columns_that_fill_less_than_a_panel(dtype, turned):
    """Packed: one vector wide or two, with 1 to 14 rows in the last tile."""
    for m, n, k in ((201, 200, 60), (127, 209, 90), (133, 197, 530), (140, 1, 20000), (260, 131, 70), (253, 1029, 20)):
        a = operand((k, m), dtype, seed=1).T if turned[0] else operand((m, k), dtype, seed=1)
        b = operand((n, k), dtype, seed=2).T if turned[1] else operand((k, n), dtype, seed=2)
        check(matmul, a, b)


@njit
def multiply_packed(a, b, c, m, n, k, work):
    x, y, z = blocks.matrix_at(a, 0, work), blocks.matrix_at(b, 0, work), blocks.matrix_at(c, 0, work)
    blocks.multiply_large(x, y, z, m, n, k, memory(work), np.int64(0), np.int64(blocks.PACKED_A))


def packed(a, b):
    """a b, packed however small it is."""
    out = np.full((len(a), b.shape[1]), np.nan, a.dtype)
    multiply_packed(*(blocks.place(x[None]) for x in (a, b, out)), *out.shape, len(b), choose.workspace(a.dtype))
    return out


@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_last_tiles_of_every_height_and_width(dtype):
    size = vector_width(np.dtype(dtype))
    panel = blocks.VECTORS * size
    widths = {1, 2, 3, 4, 5, size - 1, size, size + 1, 2 * size, 2 * size + 1, panel - 1, panel}
    for k in (blocks.LONG - 1, blocks.LONG + 3, blocks.DEPTH + blocks.SPARE + 1):
        for m in (*range(1, 2 * blocks.ROWS + 2), blocks.HEIGHT - 1, blocks.HEIGHT, blocks.HEIGHT + 1):
            a = operand((m, k), dtype, seed=m)
            for n in widths | {panel + width for width in widths}:
                check(packed, a, operand((k, n), dtype, seed=n))


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("layout", LAYOUTS)
def test_skinny_products(dtype, layout):
    """A right matrix of few columns: the left one is read as it stands, however the others lie."""
    wide = operand((900, 3000), dtype, seed=3)
    for m, n, k in (
        (700, 16, 300),
        (701, 13, 301),
        (350, 32, 640),
        (6, 17, 40000),
        (3, 16, 60000),
        (2000, 8, 200),
        (150, 31, 900),
    ):
        a, b = operand((m, k), dtype, layout, 1), operand((k, n), dtype, layout, 2)
        check(matmul, a, b)
        check(matmul, operand((k, m), dtype, seed=1).T, b)
        if k <= len(wide):
            check(matmul, a, wide[:k, 5 : 5 + n])  # each row on a page of its own


BESIDE = [(8, 300, 49, 200), (3, 500, 5, 1000), (5, 300, 17, 500), (3, 600, 49, 544), (3, 700, 97, 544), (2, 640, 49, 100), (9, 130, 128, 150), (2, 130, 127, 150), (40, 257, 36, 300), (3, 7, 100, 3100)]  # fmt: skip


@pytest.mark.parametrize("size", BESIDE, ids=str)
@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_one_matrix_times_a_stack(size, dtype, monkeypatch):
    stack, m, n, k = size
    calls, usual = [], choose.multiply_beside
    monkeypatch.setattr(choose, "multiply_beside", lambda *given: calls.append(1) or usual(*given))
    a, b = operand((m, k), dtype, seed=1), operand((stack, k, n), dtype, seed=2)
    matmul_ladder = {row.name: row for row in CPU}
    for way in (matmul, matmul_ladder["matmul_tile"], matmul_ladder["matmul_parallel"]):
        check(way, a, b)
    check(matmul, operand((k, m), dtype, seed=1).T, operand((stack, n, k), dtype, seed=2).swapaxes(1, 2))
    check(matmul, a, b[::-1, :, ::-1], out=operand((m, stack, n), dtype).swapaxes(0, 1))
    assert len(calls) == 5
    check(matmul, np.stack([a] * stack), b)  # equal matrices that are not one
    assert len(calls) == 5


def test_strassen_at_sizes_where_it_works(monkeypatch):
    monkeypatch.setattr(strassen, "LEAST", 8)
    for m, n, k in ((64, 64, 64), (71, 59, 67), (16, 17, 33), (40, 16, 90)):
        a, b = operand((m, k), "float64", seed=1), operand((k, n), "float64", seed=2)
        np.testing.assert_allclose(matmul_strassen(a, b), a @ b, rtol=1e-10, atol=1e-10)
        calls = count_products(monkeypatch, a, b)
        assert calls >= 7, "the matrices were not cut up"


def count_products(monkeypatch, a, b):
    calls = []
    original = strassen.matmul_parallel
    with monkeypatch.context() as patch:
        patch.setattr(strassen, "matmul_parallel", lambda x, y, out: calls.append(1) or original(x, y, out))
        matmul_strassen(a, b)
    return len(calls)


# ---- the GPU ladder, here in the executor --------------------------------------------------------------------


@pytest.mark.slow
@pytest.mark.parametrize("row", GPU, ids=label)
def test_gpu_rungs_over_several_blocks(row):
    size = (140, 132, 20) if row.name not in ONE_PER_ELEMENT or device_name == "gpu" else (50, 40, 37)
    m, n, k = size
    check(row, operand((m, k), "float32", seed=1), operand((k, n), "float32", seed=2))
    check(row, operand((m, k + 1), "float32", seed=1), operand((k + 1, n + 1), "float32", seed=2))


@pytest.mark.slow
@pytest.mark.skipif(device_name != "executor", reason="the engines stand in for a GPU")
@pytest.mark.parametrize("row", GPU, ids=label)
def test_gpu_rungs_at_a_thousand(row):
    with cuda.engine("compiled"):
        check(row, operand((1000, 777), "float32", seed=1), operand((777, 1033), "float32", seed=2))


def test_split_sums_are_complete_and_stay_in_their_part(monkeypatch):
    monkeypatch.setattr(gpu_stacks, "LEAST_DEPTH", 8)
    a, b = operand((2, 4, 28), "float32", seed=1), operand((28, 8), "float32", seed=2)
    assert gpu_stacks.splits_for(2, 28) == 3
    check(implementations.public_rung("matmul", "gpu", a.dtype), a, b)


def test_device_arrays():
    a, b = operand((6, 4), "float32", seed=1), operand((4, 8), "float32", seed=2)
    there = matmul(cuda.to_device(a), cuda.to_device(b))
    np.testing.assert_allclose(there.copy_to_host(), a @ b, rtol=1e-5, atol=1e-5)
    with pytest.raises(TypeError, match="matmul has no gpu implementation for float64"):
        matmul(cuda.to_device(a.astype(float)), cuda.to_device(b.astype(float)))


def test_a_product_with_its_own_transpose_on_the_device():
    a = operand((20, 36), "float32", seed=1)
    there = cuda.to_device(a)
    np.testing.assert_allclose(matmul(there, there.T).copy_to_host(), a @ a.T, rtol=1e-5, atol=1e-5)
    np.testing.assert_allclose(matmul(there.T, there).copy_to_host(), a.T @ a, rtol=1e-5, atol=1e-5)


@pytest.mark.parametrize(("left", "right"), STACKS, ids=str)
def test_stacks_are_broadcast_on_the_device(left, right):
    a, b = operand((*left, 3, 4), "float32", seed=1), operand((*right, 4, 5), "float32", seed=2)
    there = cuda.to_device(a), cuda.to_device(b)
    product = matmul(*there)
    expected = reference.matmul(a, b)
    np.testing.assert_allclose(product.copy_to_host(), expected, rtol=1e-5, atol=1e-5)
    grads = matmul_backward(product, *there)
    for got, right_one in zip(grads, reference.matmul_backward(expected, a, b), strict=True):
        np.testing.assert_allclose(got.copy_to_host(), right_one, rtol=1e-4, atol=1e-4)


def test_a_step_of_training_stays_on_the_device():
    """A layer, its gradients and the step: only device arrays, and the loss falls."""
    x, target = (cuda.to_device(operand(shape, "float32", seed=k)) for k, shape in enumerate(((8, 12), (8, 4))))
    weight, bias = cuda.to_device(operand((4, 12), "float32", seed=3)), cuda.to_device(np.zeros(4, "f"))
    losses = []
    for _ in range(3):
        error = axpy(-1, target, linear(x, weight, bias, "tanh"))
        losses.append(float((error.copy_to_host() ** 2).sum()))
        _, grad_weight, grad_bias = linear_backward(error, x, weight, bias, "tanh")
        weight, bias = axpy(-0.02, grad_weight, weight), axpy(-0.02, grad_bias, bias)
    assert losses[0] > losses[1] > losses[2]


COMPILER = pytest.mark.skipif(not xray.available(), reason="the compiler for GPUs is not installed: run `make gpu`")


@COMPILER
@pytest.mark.parametrize(
    "arch", ["sm_80", *(pytest.param(arch, marks=pytest.mark.slow) for arch in ("sm_75", "sm_90"))]
)
@pytest.mark.parametrize("row", GPU, ids=label)
def test_gpu_kernels_keep_their_sums_in_registers(row, arch):
    for kernel, signatures in row.kernels:
        view = xray.compiled(kernel, signatures[0], arch)
        assert not view.spills
        assert not view.stack_bytes, "a local array did not fit into registers"
        if row.name not in ONE_PER_ELEMENT and "sum_parts" not in view.kernel:
            assert view.occupancy(256).blocks_per_sm >= 2, f"{view.registers} registers: one block per multiprocessor"
        if row.limits == FOURS and "sum_parts" not in view.kernel:
            assert view.main_loop.ffma_share >= (0.75 if row.name == "matmul_wide" else 0.85)


def widths(report, kind):
    """Bits of each shared access of that kind -> how many of the x-ray's requests have them."""
    trace = report.trace
    rows = (trace.space == SHARED) & (trace.kind == KINDS.index(kind))
    _, first = np.unique(np.stack([x[rows] for x in (trace.warp, trace.site, trace.visit)]), axis=1, return_index=True)
    bits, counts = np.unique(8 * trace.size[rows][first], return_counts=True)
    return dict(zip(bits.tolist(), counts.tolist(), strict=True))


def widths_in(mix, name):
    """The same of a stretch of machine code."""
    return {bits: mix[f"{name}.{bits}"] for bits in (8, 16, 32, 64, 128) if mix[f"{name}.{bits}"]}


IN_16_BYTES = {  # kernel: its arguments behind m, n, k
    gpu_wide.wide_kernel: (),
    gpu_wide.unrolled_kernel: (),
    gpu_wide.double_buffered_kernel: (),
    gpu_stacks.batched_kernel: (0, 0),
    gpu_stacks.split_kernel: (0, 0, 1, 8),
}


@COMPILER
@pytest.mark.parametrize("kernel", IN_16_BYTES, ids=lambda kernel: kernel.py_func.__name__)
def test_x_ray_and_machine_code_agree_on_the_width_of_shared_accesses(kernel):
    """16 bytes at a time, as the docstrings say, and no bank conflicts."""
    k = 8
    a, b, out = operand((128, k), "float32"), operand((k, 128), "float32"), np.zeros((128, 128), "f")
    numbers = [np.uint32(x) for x in (128, 128, k, *IN_16_BYTES[kernel])]
    report = xray.xray(kernel, 1, 256)(a.reshape(-1), b.reshape(-1), out.reshape(-1), *numbers)
    np.testing.assert_allclose(out, a @ b, rtol=1e-4, atol=1e-4)
    assert report.ok
    assert report.total["bank_ways"] == 1
    (signature,) = [s for row in GPU for one, (s,) in row.kernels if one is kernel]
    view = xray.compiled(kernel, signature, "sm_80")
    loads, stores = widths(report, "load"), widths(report, "store")
    assert loads.keys() == widths_in(view.main_loop, "LDS").keys() == {128}
    warps, adds = 8, 64 * k  # multiply-adds of a thread
    assert loads[128] / (warps * adds) == view.main_loop["LDS.128"] / view.main_loop["FFMA"] == 1 / 16
    written = widths_in(view.mix, "STS")
    assert stores.keys() == written.keys() == {32, 128}
    assert stores[32] / stores[128] == written[32] / written[128] == 4


# ---- 16 bits (8 bits, and bfloat16 by its own instruction: test_dots.py) -------------------------------------


def sixteen_bits(shape, kind, seed=0):
    x = np.random.default_rng(seed).standard_normal(shape)
    return x.astype(np.float16) if kind == "float16" else (x.astype("f").view(np.uint32) >> 16).astype(np.uint16)


@pytest.mark.parametrize("kind", ["float16", "bfloat16"])
@pytest.mark.parametrize("row", implementations.of("matmul_half"), ids=label)
def test_mixed_precision(row, kind):
    """The GPU's rung also shows that every element is where PTX's documentation says, by a stand-in in the executor."""
    for left, right, (m, n, k) in (((), (), (40, 36, 20)), ((2,), (), (3, 4, 5)), ((), (), (2, 3, 0))):
        a, b = sixteen_bits((*left, m, k), kind, 1), sixteen_bits((*right, k, n), kind, 2)
        got = row(a, b)
        assert got.dtype == np.float32
        np.testing.assert_allclose(got, reference.matmul_half(a, b), rtol=1e-5, atol=1e-5)


def test_all_numbers_of_16_bits_are_widened_exactly():
    """Zeros of both signs, the smallest (subnormal) ones, infinities and all that are no numbers included."""
    for kind in ("float16", "bfloat16"):
        bits = np.arange(2**16, dtype=np.uint16).reshape(256, 256)
        x = bits.view(np.float16) if kind == "float16" else bits
        wide = x.astype("f") if kind == "float16" else (bits.astype(np.uint32) << 16).view("f")
        block = np.empty((256, 256), "f")
        half.widen_block(bits, 0, 0, kind == "bfloat16", block)
        np.testing.assert_array_equal(block, wide)
        np.testing.assert_array_equal(np.signbit(block), np.signbit(wide))


# Across the blocks that are widened at a time: more than one in each direction, and ragged.
@pytest.mark.parametrize(("m", "n", "k"), [(270, 1030, 40), (20, 530, 1100), (1, 3, 1030), (515, 1, 3)])
@pytest.mark.parametrize("kind", ["float16", "bfloat16"])
def test_mixed_precision_block_by_block(m, n, k, kind):
    a, b = sixteen_bits((m, k), kind, 1), sixteen_bits((k, n), kind, 2)
    expected = reference.matmul_half(a, b)
    np.testing.assert_allclose(matmul_half(a, b), expected, rtol=1e-4, atol=1e-4)
    turned = np.asfortranarray(a), sixteen_bits((n, k), kind, 3).T
    np.testing.assert_allclose(matmul_half(*turned), reference.matmul_half(*turned), rtol=1e-4, atol=1e-4)


@pytest.mark.skipif(sys.platform == "win32", reason="the system does not tell the most memory used")
def test_no_operand_is_widened_whole():
    """Two matrices of 16 MiB in 16 bits would take 64 MiB in float32; blocks, and room to pack them, take 7 a
    thread."""
    script = """
import resource, sys
import numpy as np
from dlkernels import matmul_half
rng = np.random.default_rng(0)
a, b = rng.standard_normal((16, 2**19), "f").astype(np.float16), np.ones((2**19, 16), np.float16)
matmul_half(a[:, :64], b[:64])
before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
matmul_half(a, b)
print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before)
"""
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    kilobytes = int(done.stdout) / (1024 if sys.platform == "darwin" else 1)
    assert kilobytes < 20_000


def test_mixed_precision_at_the_ends_of_the_range():
    a = np.array([[65504, 6e-8, -0.0, 1]], np.float16)  # the largest, the smallest
    np.testing.assert_array_equal(matmul_half(a, np.eye(4, dtype=np.float16)), a.astype("f"))
    infinite = np.array([[np.inf, 1]], np.float16)
    np.testing.assert_array_equal(matmul_half(infinite, np.ones((2, 1), np.float16)), [[np.inf]])


@COMPILER
@pytest.mark.parametrize("arch", ["sm_80", "sm_90"])
def test_tensor_cores_are_used(arch):
    for kernel, signatures in implementations.of("matmul_half", "gpu")[0].kernels:
        view = xray.compiled(kernel, signatures[0], arch)
        assert view.main_loop["TENSOR.HMMA"] == 8
        assert not view.spills
        assert not view.stack_bytes


# ---- gradients ---------------------------------------------------------------------------------------------


def slope(function, x, direction, step=1e-5):
    """The derivative of a scalar function of an array, in one direction, by a central difference."""
    return (function(x + step * direction) - function(x - step * direction)) / (2 * step)


@pytest.mark.quick
@pytest.mark.parametrize(("left", "right"), [((), ()), ((2,), (2,)), ((2, 1), (3,)), ((4,), ())], ids=str)
def test_gradients_of_the_product(left, right):
    a, b = operand((*left, 5, 7), "float64", seed=1), operand((*right, 7, 6), "float64", seed=2)
    weights = operand(matmul(a, b).shape, "float64", seed=3)
    grads = matmul_backward(weights, a, b)
    for number, (x, grad) in enumerate(zip((a, b), grads, strict=True)):
        assert grad.shape == x.shape
        direction = operand(x.shape, "float64", seed=4)

        def loss(y, number=number):
            return float((matmul(*((y, b) if number == 0 else (a, y))) * weights).sum())

        assert (grad * direction).sum() == pytest.approx(slope(loss, x, direction), rel=1e-6)
    for got, expected in zip(grads, reference.matmul_backward(weights, a, b), strict=True):
        np.testing.assert_allclose(got, expected, rtol=1e-12, atol=1e-12)


def test_gradients_are_summed_over_many_rows():
    rows, columns = 2_000_000, 3
    grad, ones = np.full((rows, columns), 0.1, "f"), np.ones((rows, 1), "f")
    weight, bias = np.ones((columns, 1), "f"), np.zeros(columns, "f")
    exact = rows * float(np.float32(0.1))
    np.testing.assert_allclose(linear_backward(grad, ones, weight, bias)[2], exact, rtol=1e-6)
    shared = matmul_backward(grad[:, None], ones[:, :, None], np.ones((1, columns), "f"))[1]
    np.testing.assert_allclose(shared[0], exact, rtol=1e-6)


def test_linear_in_single_precision_and_any_layout():
    for layout in LAYOUTS:
        x, weight = operand((6, 40), "float32", layout, 1), operand((30, 40), "float32", layout, 2)
        bias, out = operand((30,), "float32", layout, 3), operand((6, 30), "float32", layout, 4)
        expected = reference.linear(x, weight, bias, "gelu")
        np.testing.assert_allclose(linear(x, weight, bias, "gelu", out), expected, rtol=1e-4, atol=1e-4)
        grads = linear_backward(out, x, weight, bias, "gelu")
        for got, right in zip(grads, reference.linear_backward(out, x, weight, bias, "gelu"), strict=True):
            np.testing.assert_allclose(got, right, rtol=1e-3, atol=1e-3)


# ---- wrong arguments ---------------------------------------------------------------------------------------

A, B = np.ones((3, 4), "f"), np.ones((4, 5), "f")
WIDE = np.ones((3, 5), "f")
MISTAKES = {
    "inner sizes differ": (matmul, (A, A), {}, ValueError, r"a has shape \(3, 4\) and b has shape \(3, 4\); expected \(..., m, k\)"),
    "a vector": (matmul, (A, np.ones(4, "f")), {}, ValueError, r"A vector is a matrix with one row, x\[None, :\]"),
    "stacks do not match": (matmul, (np.ones((2, 3, 4), "f"), np.ones((3, 4, 5), "f")), {}, ValueError, "leading dimensions that are equal"),
    "dtypes differ": (matmul, (A, B.astype(float)), {}, TypeError, "b has dtype float64, but a has dtype float32"),
    "integers": (matmul, (A.astype(int), B), {}, TypeError, "a has dtype int64"),
    "a list": (matmul, ([[1.0]], B), {}, TypeError, r"a is a list; expected a NumPy array"),
    "out of another shape": (matmul, (A, B), {"out": np.zeros((5, 3), "f")}, ValueError, r"out has shape \(5, 3\); expected \(3, 5\)"),
    "out of another dtype": (matmul, (A, B), {"out": np.zeros((3, 5))}, TypeError, "out has dtype float64"),
    "out is an operand": (matmul, (np.ones((4, 4), "f"), B[:, :4].copy()), {}, ValueError, "out overlaps a"),
    "half of single": (matmul_half, (A, B), {}, TypeError, "a has dtype float32; expected float16 or uint16"),
    "halves mixed": (matmul_half, (A.astype(np.float16), B.astype(np.uint16)), {}, TypeError, "b has dtype uint16, but a"),
    "integers of 16 bits": (matmul_int8, (A.astype(np.int16), B), {}, TypeError, "a has dtype int16; expected int8"),
    "grad of another shape": (matmul_backward, (A, A, B), {}, ValueError, r"grad has shape \(3, 4\); expected \(3, 5\)"),
    "weight turned over": (linear, (A, B), {}, ValueError, r"weight of shape \(out, in\)"),
    "bias too long": (linear, (A, B.T.copy(), np.ones(4, "f")), {}, ValueError, r"bias has shape \(4,\); expected \(5,\)"),
    "unknown activation": (linear, (A, B.T.copy(), None, "swish"), {}, ValueError, "activation is 'swish'; expected None or one of"),
}  # fmt: skip


@pytest.mark.quick
@pytest.mark.parametrize("case", MISTAKES.items(), ids=MISTAKES.keys())
def test_wrong_arguments(case):
    name, (function, args, kwargs, error, message) = case
    if name == "out is an operand":
        kwargs = {"out": args[0]}
    before = [x.copy() for x in (*args, *kwargs.values()) if isinstance(x, np.ndarray)]
    with pytest.raises(error, match=message):
        function(*args, **kwargs)
    after = [x for x in (*args, *kwargs.values()) if isinstance(x, np.ndarray)]
    for x, y in zip(before, after, strict=True):
        np.testing.assert_array_equal(x, y)


def test_out_may_not_overlap_an_operand():
    room = np.ones(30, "f")
    a, out = room[:12].reshape(3, 4), room[8:23].reshape(3, 5)
    with pytest.raises(ValueError, match="out overlaps a"):
        matmul(a, B, out)
    square = np.ones((4, 4), "f")
    with pytest.raises(ValueError, match="out overlaps a"):
        matmul(square.T, square.copy(), square)
    with pytest.raises(ValueError, match="out"):
        matmul(square[:], square.copy(), square)


def test_the_short_way_gives_what_the_ladder_gives():
    for m, n, k in ((1, 1, 1), (16, 16, 16), (130, 70, 200)):
        a, b = operand((m, k), "float32", seed=1), operand((k, n), "float32", seed=2)
        np.testing.assert_array_equal(matmul(a, b), implementations.public_rung("matmul", "cpu", a.dtype)(a, b))
        np.testing.assert_array_equal(matmul(b.T, a.T), implementations.public_rung("matmul", "cpu", a.dtype)(b.T, a.T))
    with pytest.raises(TypeError, match="a is a list"):
        matmul([[1.0]], B)


@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_the_short_way_at_the_edges_of_what_needs_no_packing(dtype):
    rows, vector = blocks.SMALL_ROWS, choose.ONE_VECTOR
    for m in (1, rows - 1, rows, rows + 1, 2 * rows + 3):
        for n in (1, vector - 1, vector, vector + 1, 2 * vector, 2 * vector + 1, 3 * vector + 5):
            for k in (1, 2, 7, 60):
                a, b = operand((m, k), dtype, seed=m), operand((k, n), dtype, seed=n)
                exact = a.astype(np.float64) @ b.astype(np.float64)
                np.testing.assert_allclose(matmul(a, b), exact, rtol=1e-4, atol=1e-5, err_msg=f"{m} {n} {k}")
    a, b = operand((20, 20), dtype, seed=1), operand((20, 40), dtype, seed=2)
    a[3, 5], b[7, 30] = np.nan, np.inf
    np.testing.assert_array_equal(np.isfinite(matmul(a, b)), np.isfinite(a @ b))
