"""Products of 8- and 16-bit numbers by dot products in one instruction, and by what stands in for it elsewhere.

Sizes, layouts and values that all operations bear are tested from the examples, in test_operations.py.
"""

import os
import subprocess
import sys

import numba
import numpy as np
import pytest

from dlkernels import implementations, matmul_half, matmul_int8
from dlkernels.matrix import blocks, choose, dots, half_dot, reference
from dlkernels.simd import target

pytestmark = pytest.mark.rotates

EIGHT_BITS = implementations.of("matmul_int8")
WIDENED, DOTS_OF_TWO = implementations.of("matmul_half", "cpu")
CORNERS = np.array([-128, -127, -1, 0, 1, 127], np.int8)


def label(row):
    return row.name


def spoil_workspaces():
    """Nothing may depend on what an earlier product left behind."""
    for threads in (1, 2):
        choose.workspace(dots.WORK, threads).view(np.uint32)[:] = 0x7FC3A581


def around(*sizes):
    return [size + more for size in sizes for more in (-1, 0, 1)]


@pytest.mark.parametrize("row", EIGHT_BITS, ids=label)
def test_eight_bits_are_exact_at_the_edges_of_tiles_and_blocks(row):
    random, group = np.random.default_rng(0), 4
    shapes = [(m, 5, 9) for m in around(dots.ROWS, blocks.HEIGHT)]
    shapes += [(3, n, 10) for n in around(dots.PANEL, blocks.WIDTH)]
    shapes += [(2, 3, k) for k in (1, 2, 3, 4, 5, 6, 7, *around(blocks.DEPTH * group), 2 * blocks.DEPTH * group + 3)]
    shapes += [(300, 130, 2100), (130, 2100, 70)]
    for m, n, k in shapes:
        spoil_workspaces()
        a, b = random.choice(CORNERS, (m, k)), random.choice(CORNERS, (k, n))
        np.testing.assert_array_equal(row(a, b), a.astype(float) @ b, err_msg=f"{m} {n} {k}")


@pytest.mark.parametrize("row", EIGHT_BITS, ids=label)
def test_sums_of_eight_bits_reach_the_ends_of_their_range(row):
    """Products of one sign would overflow 16 bits: an instruction that saturates there shows."""
    for k in (4, 131_071):
        for x in (-128, 127):
            for y in (-128, 127):
                a, b = np.full((3, k), x, np.int8), np.full((k, 2), y, np.int8)
                np.testing.assert_array_equal(row(a, b), k * x * y)


@pytest.mark.quick
def test_eight_bits_in_stacks_and_beyond_what_fits():
    stack = np.random.default_rng(0).integers(-128, 128, (2, 9, 12), dtype=np.int8)
    np.testing.assert_array_equal(matmul_int8(stack, stack[0].T), stack.astype(int) @ stack[0].T.astype(int))
    with pytest.raises(ValueError, match="sums of 131072 terms might exceed 32 bits"):
        matmul_int8(np.zeros((1, 131_072), np.int8), np.zeros((131_072, 1), np.int8))


def test_all_pairs_of_eight_bit_numbers():
    numbers = np.arange(-128, 128, dtype=np.int8)
    np.testing.assert_array_equal(matmul_int8(numbers[:, None], numbers[None]), np.outer(numbers.astype(int), numbers))


def test_eight_bits_without_the_instruction(monkeypatch):
    a, b = np.random.default_rng(0).integers(-128, 128, (2, 40, 40), np.int8)
    expected = matmul_int8(a, b)
    monkeypatch.setattr(dots, "DOT4", False)
    np.testing.assert_array_equal(matmul_int8(a, b), expected)


# ---- bfloat16 ----------------------------------------------------------------------------------------------


def bfloats(x):
    """The bits of numbers that need no rounding, or are cut off."""
    return (np.asarray(x, np.float32).view(np.uint32) >> 16).astype(np.uint16)


def widened(bits):
    return (bits.astype(np.uint32) << 16).view(np.float32).astype(float)


def check_bfloats(function, a, b):
    """Products are exact, and each of at most k + 2 additions rounds to nearest (Higham, section 3.1: gamma)."""
    got, expected = function(a, b), reference.matmul_half(a, b)
    finite, k, unit = np.isfinite(expected), a.shape[-1], 2.0**-24
    gamma = (k + 2) * unit / (1 - (k + 2) * unit)
    with np.errstate(invalid="ignore"):
        allowed = gamma * (np.abs(widened(a)) @ np.abs(widened(b))) + 2.0**-150
        assert (np.abs(got - expected)[finite] <= allowed[finite]).all()
    np.testing.assert_array_equal(got[~finite], expected[~finite])
    return got


@pytest.mark.parametrize("threads", [1, 2])
@pytest.mark.parametrize("row", [WIDENED, DOTS_OF_TWO], ids=label)
def test_bfloat16_at_the_edges_of_tiles_and_blocks(row, threads):
    random, group, before = np.random.default_rng(0), 2, numba.get_num_threads()
    shapes = [(m, 5, 9) for m in around(dots.ROWS, blocks.HEIGHT)]
    shapes += [(3, n, 10) for n in around(dots.PANEL, blocks.WIDTH)]
    shapes += [(2, 3, k) for k in (1, 2, 3, *around(blocks.DEPTH * group), 2 * blocks.DEPTH * group + 1)]
    shapes += [(300, 130, 1100), (130, 1100, 70)]
    numba.set_num_threads(min(threads, numba.config.NUMBA_NUM_THREADS))
    try:
        for m, n, k in shapes:
            spoil_workspaces()
            a, b = bfloats(random.standard_normal((m, k))), bfloats(random.standard_normal((k, n)))
            check_bfloats(row, a, b)
    finally:
        numba.set_num_threads(before)


@pytest.mark.parametrize("row", [WIDENED, DOTS_OF_TWO], ids=label)
def test_bfloat16_that_is_not_finite(row):
    """Also in the last step of an odd number of steps, beside the zeros that fill it up."""
    for k in (1, 2, 3, 8, 1025):
        for special in (np.inf, -np.inf, np.nan):
            for place in {0, k // 2, k - 1}:
                a, b = np.ones((3, k)), np.ones((k, 4))
                a[1, place] = b[place, 2] = special
                a[2, place] = 0
                check_bfloats(row, bfloats(a), bfloats(b))
    a, b = bfloats([[np.inf, 1.0], [3e38, 3e38]]), bfloats([[1.0, 1.0], [-np.inf, 1.0]])
    np.testing.assert_array_equal(row(a, b), [[np.nan, np.inf], [-np.inf, np.inf]])


@pytest.mark.parametrize("writable", [(False, True), (True, False), (False, False)], ids=str)
def test_bfloat16_that_is_read_only(writable):
    random = np.random.default_rng(0)
    a, b = bfloats(random.standard_normal((20, 40))), bfloats(random.standard_normal((40, 30)))
    a.flags.writeable, b.flags.writeable = writable
    check_bfloats(DOTS_OF_TWO, a, b)


def test_no_small_number_is_lost(monkeypatch):
    """The instruction takes subnormal numbers for zero: where one may occur, it is not used."""
    widened_ones = []
    original = half_dot.PRODUCTS["bf16"].__wrapped__
    monkeypatch.setattr(
        half_dot.PRODUCTS["bf16"], "__wrapped__", lambda *given: widened_ones.append(1) or original(*given)
    )
    ulp = 2.0**-7
    for exponent in (0, -40, -56, -57, -70):  # numbers of that size times others of 2^-56: the least sum is 2^-126
        a = np.array([[1 + ulp, -1.0], [0.0, 1.0]]) * 2.0**exponent
        b = np.array([[1 + ulp, 1.0], [1 + 2 * ulp, 0.0]]) * 2.0**-56
        np.testing.assert_array_equal(DOTS_OF_TWO(bfloats(a), bfloats(b)), a @ b)
        if dots.DOT2:
            assert bool(widened_ones) == (exponent < -56), exponent
    for tiny, large in ((2.0**-130, 2.0**100), (2.0**-133, 1.0), (-(2.0**-127), 2.0**127)):
        for a, b in (([[tiny, 0.0]], [[large], [0.0]]), ([[0.0, large]], [[0.0], [tiny]])):
            assert DOTS_OF_TWO(bfloats(a), bfloats(b)) == tiny * large
    a, b = bfloats(np.full((3, 4096), 2.0**-65)), bfloats(np.full((4096, 2), 2.0**-65))
    np.testing.assert_array_equal(DOTS_OF_TWO(a, b), 2.0**-118)  # each product by itself is subnormal
    np.testing.assert_array_equal(DOTS_OF_TWO(np.zeros_like(a), b), 0)


def test_bfloat16_without_the_instruction(monkeypatch):
    random = np.random.default_rng(0)
    a, b = bfloats(random.standard_normal((2, 40, 40))), bfloats(random.standard_normal((2, 40, 40)))
    monkeypatch.setattr(dots, "DOT2", False)
    np.testing.assert_array_equal(matmul_half(a, b), WIDENED(a, b))


# ---- the instructions ----------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("kind", "there", "instruction"),
    [(numba.int32, dots.DOT4, "vpdpbusd"), (numba.float32, dots.DOT2, "vdpbf16ps")],
    ids=["vpdpbusd", "vdpbf16ps"],
)
def test_the_tile_stays_in_registers(kind, there, instruction):
    if not there:
        pytest.skip(f"this machine has no {instruction}")
    kernel = numba.njit(lambda sums, work, depth: dots.dot_tile(sums, work, 0, 9, depth))
    kernel.compile((kind[:, ::1], numba.uint32[::1], numba.int64))
    lines = [line for line in kernel.inspect_asm()[kernel.signatures[0]].splitlines() if instruction in line]
    assert len(lines) == dots.ROWS * dots.VECTORS
    assert not any("sp)" in line for line in lines)


def run(script, **environment):
    return subprocess.run(
        [sys.executable, "-c", script], env=os.environ | environment, capture_output=True, text=True, check=True
    ).stdout


X86 = pytest.mark.skipif(target.instruction_set() not in ("AVX-512", "AVX2"), reason="for 64-bit x86")


@X86
def test_the_instruction_of_256_bits_is_found_and_compiled():
    """Compiled, not run: the machine may not have it."""
    script = """
from numba import njit, types
from dlkernels.matrix import dots
assert dots.DOT4 and not dots.DOT2 and dots.LANES == 8
kernel = njit(lambda sums, work, depth: dots.dot_tile(sums, work, 0, 9, depth))
kernel.compile((types.int32[:, ::1], types.uint32[::1], types.int64))
code = kernel.inspect_asm()[kernel.signatures[0]]
loop = [line for line in code.splitlines() if "vpdpbusd" in line]
assert len(loop) == dots.ROWS * dots.VECTORS == 12, loop
assert all("ymm" in line and "sp)" not in line for line in loop), loop
"""
    run(script, NUMBA_CPU_NAME="haswell", NUMBA_CPU_FEATURES="+avx,+avx2,+fma,+avxvnni")


@pytest.mark.skipif(not (dots.DOT4 and dots.LANES == 16), reason="AVX512-VNNI has the instruction in both widths")
def test_the_instruction_of_256_bits_computes_the_same():
    script = """
import numpy as np
from dlkernels import matmul_int8
from dlkernels.matrix import dots
dots.DOT4 = True  # here by AVX512-VNNI, which nobody looks for at this width
assert dots.LANES == 8
for m, n, k in ((1, 1, 1), (7, 17, 5), (130, 100, 2100)):
    a, b = (np.random.default_rng(k).choice(np.array([-128, -127, 0, 127], np.int8), size) for size in ((m, k), (k, n)))
    assert (matmul_int8(a, b) == a.astype(float) @ b).all(), (m, n, k)
"""
    run(script, NUMBA_CPU_NAME="haswell", NUMBA_CPU_FEATURES="+avx,+avx2,+fma,+avx512vl,+avx512vnni")


@X86
def test_features_that_are_switched_off_are_not_used():
    script = """
import numpy as np
from dlkernels import matmul_int8
from dlkernels.matrix import dots
assert not dots.DOT4 and not dots.DOT2
x = np.full((20, 20), -128, np.int8)
assert (matmul_int8(x, x) == 20 * 128 * 128).all()
"""
    run(script, NUMBA_CPU_NAME="haswell", NUMBA_CPU_FEATURES="+avx,+avx2,+fma")
