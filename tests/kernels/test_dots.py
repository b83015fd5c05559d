"""Products of 8- and 16-bit numbers by dot products in one instruction, and by what stands in for it elsewhere.

Sizes, layouts and values that all operations bear are tested from the examples, in test_operations.py.
"""

import os
import subprocess
import sys

import numpy as np
import pytest

from dlkernels import implementations, matmul_int8
from dlkernels.matrix import blocks, choose, dots
from dlkernels.simd import target

EIGHT_BITS = implementations.of("matmul_int8")
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
    shapes = [(m, 5, 9) for m in around(blocks.ROWS, blocks.HEIGHT)]
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
assert all("ymm" in line and "rsp" not in line for line in loop), loop
"""
    run(script, NUMBA_CPU_NAME="haswell", NUMBA_CPU_FEATURES="+avx,+avx2,+fma,+avxvnni")


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
