"""The vector intrinsics: right values, the instructions they promise, and errors that help."""

import math
import os
import platform
import re
import subprocess
import sys

import llvmlite.binding as llvm
import numpy as np
import pytest
from numba import get_num_threads, njit, prange, types
from numba.core.errors import TypingError

from dlkernels import simd
from dlkernels.simd import (
    broadcast,
    fence,
    first_lanes,
    fma,
    full_vectors,
    lanes,
    larger,
    last_lane,
    load,
    load_bytes,
    load_nibbles,
    load_part,
    maximum,
    memory,
    minimum,
    prefetch,
    prefix_sum,
    reduce_add,
    reduce_max,
    smaller,
    store,
    store_low_bytes,
    store_nontemporal,
    store_part,
    target,
    until_aligned,
    where,
)
from dlkernels.simd.tile import tile_zeros

pytestmark = pytest.mark.quick

DTYPES = ["float32", "float64"]
X86 = platform.machine().lower() in ("x86_64", "amd64")


@njit(parallel=True)
def add_nontemporal(a, b, out):
    head = min(out.size, until_aligned(out))
    vectors = (out.size - head) // lanes(out)
    threads = get_num_threads()
    for i in range(head):
        out[i] = a[i] + b[i]
    for t in prange(threads):
        for k in range(t * vectors // threads, (t + 1) * vectors // threads):
            i = head + k * lanes(out)
            store_nontemporal(out, i, load(a, i) + load(b, i))
        fence()
    for i in range(head + vectors * lanes(out), out.size):
        out[i] = a[i] + b[i]


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("size", [0, 1, 3, 15, 16, 17, 63, 64, 65, 1000, 4099])
@pytest.mark.parametrize("shift", [0, 1, 5])
def test_head_vectors_and_tail_cover_the_array_and_nothing_else(dtype, size, shift):
    rng = np.random.default_rng(size + shift)
    a = rng.standard_normal(size + 1).astype(dtype)[1:]
    b = rng.standard_normal(size).astype(dtype)
    room = np.full(size + shift + 40, -7, dtype)
    add_nontemporal(a, b, room[shift : shift + size])
    np.testing.assert_array_equal(room[shift : shift + size], a + b)
    assert (room[:shift] == -7).all()
    assert (room[shift + size :] == -7).all()


@njit
def every_operation(a, b, c, out):
    """Each operation on one vector, one row of ``out`` each."""
    x, y, z = load(a, 0), load(b, 0), load(c, 0)
    n = lanes(a)
    prefetch(a, 1 << 40)
    store(out, 0 * n, x + y)
    store(out, 1 * n, x - y)
    store(out, 2 * n, x * y)
    store(out, 3 * n, x / y)
    store(out, 4 * n, -x)
    store(out, 5 * n, fma(x, y, z))
    store(out, 6 * n, maximum(x, y))
    store(out, 7 * n, minimum(x, y))
    store(out, 8 * n, broadcast(c[1]))
    store(out, 9 * n, 2 * x + 0.5)
    store(out, 10 * n, maximum(x, 0))
    store(out, 11 * n, math.sqrt(x * x))
    return reduce_add(x)


@pytest.mark.parametrize("dtype", DTYPES)
def test_arithmetic_lane_by_lane(dtype):
    n = simd.vector_width(dtype)
    x, y, z = np.random.default_rng(0).standard_normal((3, n)).astype(dtype)
    out = np.zeros((12, n), dtype)
    total = every_operation(x, y, z, out)
    wide = [v.astype("float64") for v in (x, y, z)]
    expected = [
        x + y, x - y, x * y, x / y, -x, wide[0] * wide[1] + wide[2], np.maximum(x, y), np.minimum(x, y),
        np.full(n, z[1]), 2 * x + np.asarray(0.5, dtype), np.maximum(x, 0), abs(x),
    ]  # fmt: skip
    tolerance = 4 * np.finfo(dtype).eps
    for row, right in zip(out, expected, strict=True):
        np.testing.assert_allclose(row, right, rtol=tolerance, atol=tolerance)
    assert total == pytest.approx(float(wide[0].sum()), rel=1e-5)


@pytest.mark.parametrize("dtype", DTYPES)
def test_extremes_as_numpy(dtype):
    n = simd.vector_width(dtype)
    special = np.array([np.nan, np.inf, -np.inf, -0.0], dtype)
    x, y = np.resize(special, n), np.resize(special[::-1], n)
    out = np.zeros((12, n), dtype)
    with np.errstate(all="ignore"):
        every_operation(x, y, x, out)
        np.testing.assert_array_equal(out[6], np.maximum(x, y))
        np.testing.assert_array_equal(out[7], np.minimum(x, y))
        np.testing.assert_array_equal(out[3], x / y)


@pytest.mark.parametrize("dtype", DTYPES)
def test_every_bit_is_that_of_numpy(dtype):
    """Signs of zeros, subnormal numbers, sums and products that are too large: each pair of special numbers."""

    @njit
    def each(a, b, out):
        for i in range(0, a.size, lanes(a)):
            x, y = load(a, i), load(b, i)
            results = x + y, x - y, x * y, x / y, -x, math.sqrt(x), larger(x, y), smaller(x, y), where(x, y, x)
            for k in range(len(results)):
                store(out, k * a.size + i, results[k])

    of = np.finfo(dtype)
    special = [0.0, 1, 3, np.inf, of.max, of.tiny, of.tiny / 2, of.smallest_subnormal, of.eps, np.nan]
    special = np.array([sign * number for number in special for sign in (1, -1)] * 4, dtype)  # a multiple of all widths
    a, b = (np.ravel(one) for one in np.meshgrid(special, special))
    out = np.zeros((9, a.size), dtype)
    each(a, b, out.reshape(-1))
    with np.errstate(all="ignore"):
        right = (
            a + b,
            a - b,
            a * b,
            a / b,
            -a,
            np.sqrt(a),
            np.where(a > b, a, b),
            np.where(a < b, a, b),
            np.where(a, b, a),
        )
    np.testing.assert_array_equal(out, right)
    numbers = ~np.isnan(right)
    np.testing.assert_array_equal(np.signbit(out)[numbers], np.signbit(right)[numbers])


@pytest.mark.parametrize("dtype", DTYPES)
def test_the_larger_and_the_smaller_are_the_second_where_one_is_no_number(dtype):
    @njit
    def both(x, y, out):
        store(out, 0, larger(load(x, 0), load(y, 0)))
        store(out, lanes(out), smaller(load(x, 0), load(y, 0)))

    n = simd.vector_width(dtype)
    x = np.resize(np.array([np.nan, 1, 3, np.inf, -np.inf, np.nan, 2], dtype), n)
    y = np.resize(np.array([2, np.nan, -1, np.nan, 5, np.inf, 2, 7, np.nan], dtype), n)
    out = np.zeros((2, n), dtype)
    both(x, y, out.reshape(-1))
    np.testing.assert_array_equal(out, [np.where(x > y, x, y), np.where(x < y, x, y)])


@pytest.mark.parametrize("dtype", DTYPES)
def test_where_is_that_of_numpy(dtype):
    @njit
    def chosen(which, x, y, out):
        store(out, 0, where(load(which, 0), load(x, 0), load(y, 0)))

    n = simd.vector_width(dtype)
    which = np.resize(np.array([0, 1, -0.0, np.nan, -2, 0, np.inf], dtype), n)
    x = np.resize(np.array([np.nan, 1, np.inf, 2], dtype), n)
    y = np.resize(np.array([3, np.nan, 4, -np.inf, np.nan], dtype), n)
    out = np.zeros(n, dtype)
    chosen(which, x, y, out)
    np.testing.assert_array_equal(out, np.where(which, x, y))


@pytest.mark.parametrize("dtype", DTYPES)
def test_first_lanes_of_one_and_the_rest_of_another(dtype):
    @njit
    def some(count, x, y, out):
        store(out, 0, first_lanes(count, load(x, 0), load(y, 0)))

    n = simd.vector_width(dtype)
    x, y = np.arange(1, n + 1, dtype=dtype), np.full(n, -np.inf, dtype)
    for count in (-(1 << 40), -1, *range(n + 1), n + 1, 1 << 33, (1 << 62) + 1, np.uint8(3), np.uint64(1 << 63)):
        out = np.zeros(n, dtype)
        some(count, x, y, out)
        np.testing.assert_array_equal(out, np.where(np.arange(n) < int(count), x, y), err_msg=str(count))


@pytest.mark.parametrize("dtype", DTYPES)
def test_a_part_of_a_vector_is_read_and_written_and_nothing_else(dtype):
    @njit
    def some(x, i, one, out, count):
        store_part(out, i, load_part(x, i, count) + one, count)

    @njit
    def shown(x, i, out, count):
        store(out, 0, load_part(x, i, count))

    n = simd.vector_width(dtype)
    x = np.arange(1, 2 * n + 1, dtype=dtype)
    for count in (None, *range(n + 1), np.uint8(n - 1)):
        taken = np.arange(n) < (n if count is None else int(count))
        out, there = np.full(2 * n, -5, dtype), np.full(n, -5, dtype)
        some(x, 1, x[0], out, count)
        shown(x, 1, there, count)
        np.testing.assert_array_equal(out[1 : n + 1], np.where(taken, x[1 : n + 1] + 1, -5), err_msg=str(count))
        np.testing.assert_array_equal(there, np.where(taken, x[1 : n + 1], 0), err_msg=str(count))
        np.testing.assert_array_equal(np.delete(out, np.s_[1 : n + 1]), -5)


@pytest.mark.parametrize("dtype", DTYPES)
def test_running_sums_of_lanes(dtype):
    @njit
    def running(x, out):
        sums = prefix_sum(load(x, 0))
        store(out, 0, sums)
        return last_lane(sums)

    n = simd.vector_width(dtype)
    x, out = np.arange(1, n + 1, dtype=dtype) ** 2, np.zeros(n, dtype)
    assert running(x, out) == x.sum()
    np.testing.assert_array_equal(out, np.cumsum(x))
    x[n // 2] = np.nan
    running(x, out)
    np.testing.assert_array_equal(out, np.cumsum(x))


@pytest.mark.parametrize("dtype", DTYPES)
def test_the_largest_lane_as_numpy(dtype):
    largest, n = njit(lambda x: reduce_max(load(x, 0))), simd.vector_width(dtype)
    for place in range(n):
        x = -np.arange(1, n + 1, dtype=dtype)
        x[place] = 7
        assert largest(x) == 7
        x[place] = np.nan
        assert np.isnan(largest(x))
    assert largest(np.full(n, -np.inf, dtype)) == -np.inf


@pytest.mark.parametrize("dtype", DTYPES)
def test_until_aligned_is_the_distance_to_the_next_vector(dtype):
    distance = njit(lambda array: until_aligned(array))
    for shift in range(20):
        array = np.zeros(64, dtype)[shift:]
        expected = (-array.ctypes.data % simd.vector_bytes()) // array.itemsize
        assert distance(array) == expected


def _assembly(kernel):
    return "\n".join(kernel.inspect_asm().values())


@pytest.mark.skipif(not X86, reason="names of x86 instructions")
@pytest.mark.parametrize(("dtype", "instruction"), [("float32", "movntps"), ("float64", "movntpd")])
def test_the_stores_really_go_past_the_cache(dtype, instruction):
    add_nontemporal(*np.ones((3, 8), dtype))
    assembly = _assembly(add_nontemporal)
    assert re.search(rf"\bv?{instruction}\s+%[xyz]mm", assembly)
    assert "sfence" in assembly


@pytest.mark.skipif(not X86, reason="names of x86 instructions")
def test_multiply_add_and_prefetch_are_single_instructions():
    every_operation(*np.ones((3, 16), "float32"), np.ones((12, 16), "float32"))
    assembly = _assembly(every_operation)
    assert "prefetcht0" in assembly
    if simd.instruction_set() in ("AVX2", "AVX-512"):
        assert re.search(r"vfn?m(add|sub)\d+ps", assembly)


@pytest.mark.slow
@pytest.mark.skipif(not X86, reason="names of x86 processors")
@pytest.mark.parametrize(
    ("cpu", "features", "name", "width"),
    [
        ("x86-64", "", "SSE2", 4),
        ("haswell", "+avx,+avx2,+fma", "AVX2", 8),
        ("skylake-avx512", "+avx,+avx2,+fma,+avx512f,+avx512vl,+prefer-256-bit", "AVX-512", 16),
    ],
)
def test_every_width_of_x86(cpu, features, name, width):
    """Tests of this file again, in a process that compiles for an older (or another) processor."""
    if width > simd.vector_width():
        pytest.skip(f"this machine has no {name}")
    environment = {**os.environ, "NUMBA_CPU_NAME": cpu, "NUMBA_CPU_FEATURES": features}
    environment[EXPECTED] = f"{name} {width}"
    tests = [sys.executable, "-m", "pytest", "-q", "-x", "-p", "no:cacheprovider", __file__]
    tests += ["-k", "width_is_the_one or full_vectors or arithmetic or extremes or (head and 4099)"]
    result = subprocess.run(tests, env=environment, capture_output=True, text=True, timeout=300, check=False)
    assert result.returncode == 0, result.stdout[-3000:]
    assert "12 passed" in result.stdout


@pytest.mark.skipif(platform.machine().lower() not in ("x86_64", "amd64"), reason="registers of x86")
def test_full_vectors_are_those_of_the_machine():
    @njit(error_model="numpy")
    def scale(x, out):
        full_vectors()
        for i in range(out.size):
            out[i] = 3 * x[i]

    scale(np.ones(4, np.float32), np.ones(4, np.float32))
    (assembly,) = scale.inspect_asm().values()
    register = {16: "xmm", 32: "ymm", 64: "zmm"}[simd.vector_bytes()]
    assert re.search(rf"v?mulps.*%{register}", assembly)


EXPECTED = "DLKERNELS_TEST_VECTORS"


@pytest.mark.skipif(EXPECTED not in os.environ, reason="for the processes that test_every_width_of_x86 starts")
def test_the_width_is_the_one_asked_for():
    assert f"{simd.instruction_set()} {simd.vector_width()}" == os.environ[EXPECTED]


def test_the_same_code_compiles_for_arm(monkeypatch):
    """Compiled here for a 64-bit Arm with NEON: multiply-add, prefetch, a pair stored past the cache, a barrier."""
    monkeypatch.setattr(target, "_found", lambda: ("NEON", 16))
    monkeypatch.setattr(memory, "_X86", False)

    @njit(_nrt=False, no_cpython_wrapper=True)  # nothing that only x86 has, such as counting references
    def kernel(a, b, out):
        for i in range(0, out.size, lanes(out)):
            prefetch(a, i + 64)
            store_nontemporal(out, i, fma(load(a, i), load(b, i), load(out, i)))
        fence()

    kernel.compile((types.float32[::1],) * 3)
    (text,) = kernel.inspect_llvm().values()
    text = re.sub(r"target triple = .*", 'target triple = "aarch64-linux-gnu"', text)
    text = re.sub(r'target datalayout = .*|"target-(cpu|features)"="[^"]*"', "", text)
    llvm.initialize_all_targets()
    llvm.initialize_all_asmprinters()
    arm = llvm.Target.from_triple("aarch64-linux-gnu").create_target_machine(cpu="apple-m1", opt=3)
    assembly = arm.emit_assembly(llvm.parse_assembly(text))
    for instruction in (r"fmla\s+v\d+\.4s", "prfm", "stnp", "dmb"):
        assert re.search(rf"\t{instruction}", assembly), instruction


@njit
def halves(source, low, high):
    for i in range(0, low.size, lanes(low)):
        one, other = load_nibbles(source, i + 1, low)
        store(low, i, one)
        store(high, i, other)


@pytest.mark.parametrize("dtype", DTYPES)
def test_the_halves_of_bytes_become_numbers(dtype):
    """Of all 256, from an address that is aligned to nothing; as two's complement has them."""
    source = np.arange(-1, 256).astype(np.uint8)
    low, high = np.zeros(256, dtype), np.zeros(256, dtype)
    halves(source, low, high)
    np.testing.assert_array_equal(low, [(n % 16 ^ 8) - 8 for n in range(256)])
    np.testing.assert_array_equal(high, [(n // 16 ^ 8) - 8 for n in range(256)])
    with pytest.raises(TypingError, match="C-contiguous array of uint8"):
        halves(source.view(np.int8), low, high)


@njit
def widened(source, out):
    for i in range(0, out.size, lanes(out)):
        store(out, i, load_bytes(source, i + 1, out))


@pytest.mark.parametrize("dtype", DTYPES)
def test_bytes_become_numbers(dtype):
    """All 256 of them, from an address that is aligned to nothing."""
    source, out = np.arange(-129, 128).astype(np.int8), np.zeros(256, dtype)
    widened(source, out)
    np.testing.assert_array_equal(out, source[1:])
    with pytest.raises(TypingError, match="C-contiguous array of int8"):
        widened(source.astype(np.int16), out)


@njit
def low_bytes(source, target):
    for i in range(0, source.size, lanes(source)):
        store_low_bytes(target, i + 1, load(source, i))


def test_the_last_bits_of_numbers_become_bytes():
    """Whole numbers near 1.5 * 2**23, to an address that is aligned to nothing; and any others."""
    numbers = np.arange(-128, 384).astype(np.float32)
    target = np.zeros(numbers.size + 1, np.uint8)
    low_bytes(numbers + np.float32(1.5 * 2**23), target)
    np.testing.assert_array_equal(target[1:], numbers.astype(np.int64) & 255)
    low_bytes(numbers / 7, target)
    np.testing.assert_array_equal(target[1:], (numbers / 7).view(np.uint32) & 255)
    with pytest.raises(TypingError, match="C-contiguous array of uint8"):
        low_bytes(numbers, target.view(np.int8))


@pytest.mark.parametrize(
    ("array", "message"),
    [
        (np.zeros(64, "int32"), "float32 or float64"),
        (np.zeros((8, 8), "float32")[:, ::2], "C-contiguous"),
        (3.0, "expects an array"),
    ],
)
def test_what_cannot_be_loaded_is_said(array, message):
    with pytest.raises(TypingError, match=message):
        njit(lambda x: reduce_add(load(x, 0)))(array)


def test_what_cannot_be_stored_is_said():
    @njit
    def copy(source, target):
        store(target, 0, load(source, 0))

    read_only = np.zeros(64, "float32")
    read_only.flags.writeable = False
    with pytest.raises(TypingError, match="read-only"):
        copy(np.zeros(64, "float32"), read_only)
    with pytest.raises(TypingError, match="expects a vector"):
        copy(np.zeros(64, "float64"), np.zeros(64, "float32"))
    with pytest.raises(TypingError, match="vector holds float32 or float64"):
        njit(lambda: reduce_add(broadcast(1)))()


@njit
def sums_of(v):
    yield reduce_add(v)
    yield reduce_add(v + 1)


@pytest.mark.parametrize(
    "kept",
    [
        lambda x: reduce_add([load(x, 0), load(x, 1)][1]),
        lambda x: [tile_zeros(x, 1, 1)],
        lambda x: sum(list(sums_of(load(x, 0)))),
    ],
    ids=["a list", "tiles in a list", "a generator"],
)
def test_vectors_are_not_put_into_memory_that_is_not_aligned_for_them(kept):
    """The process ended with a fault."""
    with pytest.raises(TypingError, match="lives in registers, not in a list or a generator"):
        njit(kept)(np.zeros(64, "float32"))


def test_vectors_in_a_tuple():
    @njit
    def both(x):
        total = 0.0
        for v in (load(x, 0), load(x, lanes(x))):
            total += reduce_add(v)
        return total

    x = np.arange(2 * simd.vector_width(), dtype="float32")
    assert both(x) == x.sum()


def test_what_is_no_real_number_is_not_added():
    for number in (1j, True, "1"):
        with pytest.raises(TypingError, match="No implementation of function"):
            njit(lambda x, y: reduce_add(load(x, 0) + y))(np.zeros(64, "float32"), number)
