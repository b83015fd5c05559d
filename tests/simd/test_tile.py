"""The register tile and packing: right values at every width, nothing written outside, the instructions they
promise."""

import platform
import re
import subprocess
import sys

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numba import njit
from numba.core.errors import TypingError

from dlkernels import simd
from dlkernels.simd.line import memory
from dlkernels.simd.pack import pack, transpose_block
from dlkernels.simd.tile import tile_load, tile_multiply_add, tile_scale, tile_store, tile_store_part, tile_zeros

DTYPES = ["float32", "float64"]
X86 = platform.machine().lower() in ("x86_64", "amd64")
SHAPES = [(1, 1, 4), (6, 2, 8), (14, 2, 16), (3, 3, 4), (4, 3, 8), (5, 1, 2)]


def tile_kernels(rows, vectors, lanes):
    """Functions that use each operation once, for one shape of tile."""
    pitch = vectors * lanes

    @njit
    def multiply(c, count, a, a_at, strides, b, b_at, b_step):
        tile_store(
            c,
            0,
            pitch,
            tile_multiply_add(tile_zeros(c, rows, vectors, lanes), count, a, a_at, strides, b, b_at, b_step),
        )

    @njit
    def multiply_taps(c, count, a, strides, b, b_step, taps):
        acc = tile_multiply_add(tile_zeros(c, rows, vectors, lanes), count, a, 0, strides, b, 0, b_step, taps)
        tile_store(c, 0, pitch, acc)

    @njit
    def online_softmax_step(c, c_row, scale, a, b):
        """C = C * scale + acc, with scale by lane."""
        acc = tile_multiply_add(tile_zeros(c, rows, vectors, lanes), 3, a, 0, (1, rows), b, 0, pitch)
        tile_store(c, 0, c_row, tile_scale(tile_load(c, 0, c_row, rows, vectors, lanes), scale, 0) + acc)

    @njit
    def store_part(c, at, c_row, values, m, n, add):
        tile_store_part(c, at, c_row, tile_load(values, 0, pitch, rows, vectors, lanes), m, n, add)

    @njit
    def multiply_and_keep(c, count, a, b, b_step, keep):
        acc = tile_zeros(c, rows, vectors, lanes)
        tile_store(c, 0, pitch, tile_multiply_add(acc, count, a, 0, (1, rows), b, 0, b_step, None, keep))

    return multiply, multiply_taps, online_softmax_step, store_part, multiply_and_keep


KERNELS = {shape: tile_kernels(*shape) for shape in SHAPES}


@pytest.mark.parametrize("shape", SHAPES, ids=str)
@pytest.mark.parametrize("dtype", DTYPES)
def test_outer_products_add_up(shape, dtype):
    rows, vectors, lanes = shape
    rng = np.random.default_rng(0)
    for depth in (0, 1, 2, 7):
        a, b = (
            rng.standard_normal((depth + 1, rows)).astype(dtype),
            rng.standard_normal((depth + 1, vectors * lanes)).astype(dtype),
        )
        c = np.full((rows, vectors * lanes), 7, dtype)
        KERNELS[shape][0](c, depth, a, 0, (1, rows), b, 0, vectors * lanes)
        np.testing.assert_allclose(c, a[:depth].T.astype(float) @ b[:depth], rtol=1e-5, atol=1e-5)
        turned = np.ascontiguousarray(a.T)  # the same numbers with strides exchanged
        KERNELS[shape][0](c, depth, turned, 0, (depth + 1, 1), b, 0, vectors * lanes)
        np.testing.assert_allclose(c, a[:depth].T.astype(float) @ b[:depth], rtol=1e-5, atol=1e-5)


@pytest.mark.parametrize("shape", SHAPES, ids=str)
def test_offsets_move_the_start(shape):
    rows, vectors, lanes = shape
    rng = np.random.default_rng(1)
    a, b = (rng.standard_normal(5 * rows + 3).astype("f"), rng.standard_normal(5 * vectors * lanes + 2).astype("f"))
    c = np.empty((rows, vectors * lanes), "f")
    KERNELS[shape][0](c, 5, a, 3, (1, rows), b, 2, vectors * lanes)
    np.testing.assert_allclose(c, a[3:].reshape(5, rows).T @ b[2:].reshape(5, -1), rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize("shape", SHAPES, ids=str)
def test_taps_are_a_convolution(shape):
    """Rows are channels, lanes are pixels of a row, taps the offsets of a 2 x 3 filter."""
    rows, vectors, lanes = shape
    width, planes = vectors * lanes + 2, 3
    rng = np.random.default_rng(2)
    image, weight = rng.standard_normal((planes, 2, width)), rng.standard_normal((rows, planes, 2, 3))
    expected = np.zeros((rows, vectors * lanes))
    for p in range(planes):
        for y in range(2):
            for x in range(3):
                expected += weight[:, p, y, x, None] * image[p, y, x : x + vectors * lanes]
    c = np.empty((rows, vectors * lanes))
    taps = (0, 1, 2, width, width + 1, width + 2)
    KERNELS[shape][1](c, planes, weight, (planes * 6, 6, 1), image, 2 * width, taps)
    np.testing.assert_allclose(c, expected, rtol=1e-12, atol=1e-12)


@pytest.mark.rotates
@pytest.mark.parametrize("shape", SHAPES, ids=str)
@pytest.mark.parametrize("dtype", DTYPES)
def test_load_scale_add_store(shape, dtype):
    rows, vectors, lanes = shape
    n = vectors * lanes
    rng = np.random.default_rng(3)
    a, b = rng.standard_normal((3, rows)).astype(dtype), rng.standard_normal((3, n)).astype(dtype)
    scale = rng.standard_normal(n).astype(dtype)
    room = rng.standard_normal((rows, n + 5)).astype(dtype)
    expected = room.copy()
    expected[:, :n] = room[:, :n] * scale + a.T @ b
    KERNELS[shape][2](room, n + 5, scale, a, b)
    np.testing.assert_allclose(room, expected, rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize("shape", SHAPES, ids=str)
@pytest.mark.parametrize("add", [False, True])
def test_a_part_is_stored_and_nothing_else(shape, add):
    rows, vectors, lanes = shape
    n = vectors * lanes
    values = np.arange(1.0, rows * n + 1).reshape(rows, n)
    for m in (0, 1, rows - 1, rows, rows + 3):
        for columns in (0, 1, n // 2, n - 1, n, n + 3):
            room = np.full((rows + 2, n + 4), 0.5)
            KERNELS[shape][3](room, n + 4 + 2, n + 4, values, m, columns, add)
            expected = np.full((rows + 2, n + 4), 0.5)
            inside = expected[1 : 1 + min(m, rows), 2 : 2 + min(columns, n)]
            inside[...] = values[:m, :columns] + (0.5 if add else 0)
            np.testing.assert_array_equal(room, expected)


@pytest.mark.rotates
@given(data=st.data())
def test_pack_any_layout(data):
    dtype = data.draw(st.sampled_from(DTYPES))
    height, width = data.draw(st.integers(0, 40)), data.draw(st.integers(0, 40))
    base = np.arange((2 * height + 1) * (2 * width + 1), dtype=dtype).reshape(2 * height + 1, 2 * width + 1)
    rows, columns = (
        data.draw(st.sampled_from([slice(0, height), slice(1, 2 * height + 1, 2)])),
        data.draw(st.sampled_from([slice(0, width), slice(1, 2 * width + 1, 2)])),
    )
    source = base[rows, columns]
    if data.draw(st.booleans()):
        source = source.T
    if data.draw(st.booleans()):
        source = np.asfortranarray(source)
    source = source[:: data.draw(st.sampled_from([1, -1])), :: data.draw(st.sampled_from([1, -1]))]
    spare = data.draw(st.integers(0, 5))
    target = np.full((source.shape[0] + 1, source.shape[1] + spare), -1, dtype)
    pack_array(source, target, spare)
    np.testing.assert_array_equal(target[: source.shape[0], : source.shape[1]], source)
    assert (target[source.shape[0] :] == -1).all()
    assert (target[:, source.shape[1] :] == -1).all()


@njit
def pack_array(source, target, spare):
    row, column = source.strides[0] // source.itemsize, source.strides[1] // source.itemsize
    pack(memory(source), 0, row, column, source.shape[0], source.shape[1], memory(target), 0, target.shape[1])


@pytest.mark.parametrize("dtype", DTYPES)
def test_transpose_in_registers(dtype):
    n = simd.vector_width(dtype)
    source = np.arange((n + 1) * (n + 3), dtype=dtype).reshape(n + 1, n + 3)
    target = np.full((n + 2, n + 1), -1, dtype)
    njit(lambda x, y, at, row, to, target_row: transpose_block(x, at, row, y, to, target_row))(
        source, target, n + 3 + 2, n + 3, n + 1, n + 1
    )
    np.testing.assert_array_equal(target[1 : n + 1, :n], source[1:, 2 : 2 + n].T)
    assert (target[0] == -1).all()
    assert (target[-1] == -1).all()


def test_memory_is_the_arrays_own():
    x = np.arange(20.0, dtype="f").reshape(4, 5)

    @njit
    def write(array, i, value):
        memory(array)[i] = value

    write(x[1:, ::2], 1, 99.0)
    assert x[1, 1] == 99


@pytest.mark.skipif(not X86, reason="names of x86 instructions")
def test_the_loop_stays_in_registers():
    """As many multiply-adds as the tile has vectors, and no access to the stack in between."""
    lanes = simd.vector_width()
    rows = 14 if simd.instruction_set() == "AVX-512" else 6
    if simd.instruction_set() not in ("AVX2", "AVX-512"):
        pytest.skip("this machine has no fused multiply-add")

    @njit
    def kernel(c, depth, a, b):
        acc = tile_zeros(c, rows, 2)
        tile_store(c, 0, 2 * lanes, tile_multiply_add(acc, depth, a, 0, (1, rows), b, 0, 2 * lanes))

    kernel(np.empty((rows, 2 * lanes), "f"), 1, np.ones(rows, "f"), np.ones(2 * lanes, "f"))
    (assembly,) = kernel.inspect_asm().values()
    blocks = re.split(r"\n(?=\.L)", assembly)
    loop = max(blocks, key=lambda block: block.count("vfmadd"))
    assert loop.count("vfmadd") % (2 * rows) == 0
    assert loop.count("vfmadd") >= 2 * rows
    assert "(%rsp)" not in loop


@pytest.mark.skipif(not X86, reason="names of x86 instructions")
def test_a_tile_that_fills_all_registers_is_computed_a_turn_at_a_time():
    """Of several turns at once LLVM would load all vectors first; in attention it had to write them to the stack."""
    if simd.instruction_set() not in ("AVX2", "AVX-512"):
        pytest.skip("this machine has no fused multiply-add")
    rows, lanes = simd.vector_registers() - 2, simd.vector_width()

    @njit
    def kernel(c, depth, a, b):
        acc = tile_zeros(c, rows, 1)
        tile_store(c, 0, lanes, tile_multiply_add(acc, depth, a, 0, (1, rows), b, 0, lanes))

    kernel(np.empty((rows, lanes), "f"), 1, np.ones(rows, "f"), np.ones(lanes, "f"))
    (assembly,) = kernel.inspect_asm().values()
    loop = max(re.split(r"\n(?=\.L)", assembly), key=lambda block: block.count("vfmadd"))
    assert loop.count("vfmadd") == rows
    assert "(%rsp)" not in loop


@pytest.mark.rotates
@pytest.mark.parametrize("shape", SHAPES, ids=str)
@pytest.mark.parametrize("dtype", DTYPES)
def test_vectors_are_packed_on_the_way(shape, dtype):
    rows, vectors, lanes = shape
    width = vectors * lanes
    rng = np.random.default_rng(0)
    for depth in (0, 1, 7):
        a = rng.standard_normal((depth + 1, rows)).astype(dtype)
        b = rng.standard_normal((depth + 1, width + 5)).astype(dtype)
        c, line = np.full((rows, width), 7, dtype), np.full(3 + (depth + 2) * (width + 1), 9, dtype)
        KERNELS[shape][4](c, depth, a, b, width + 5, (line, 3, width + 1))
        np.testing.assert_allclose(c, a[:depth].T.astype(float) @ b[:depth, :width], rtol=1e-5, atol=1e-5)
        expected = np.full_like(line, 9)
        for k in range(depth):
            expected[3 + k * (width + 1) :][:width] = b[k, :width]
        np.testing.assert_array_equal(line, expected)


def compiled(body, *arguments):
    return njit(body)(*arguments)


MISTAKES = {
    "rows are not constant": (lambda x, n: tile_store(x, 0, 1, tile_zeros(x, n, 2)), "constants for rows"),
    "no rows": (lambda x, n: tile_store(x, 0, 1, tile_zeros(x, 0, 2)), "at least 1 row"),
    "integers": (lambda x, n: tile_store(x, 0, 1, tile_zeros(np.zeros(3, np.int32), 1, 2)), "float32 or float64"),
    "another dtype": (lambda x, n: tile_store(np.zeros(100), 0, 1, tile_zeros(x, 1, 2)), "array of float32, the tile's"),
    "no tile": (lambda x, n: tile_store(x, 0, 1, x), "expects a tile"),
    "strides missing": (lambda x, n: tile_store(x, 0, 1, tile_multiply_add(tile_zeros(x, 1, 1), n, x, 0, (1,), x, 0, 1)), "tuple of 2 strides"),
    "taps are a number": (lambda x, n: tile_store(x, 0, 1, tile_multiply_add(tile_zeros(x, 1, 1), n, x, 0, (1, 1, 1), x, 0, 1, 5)), "tuple of offsets"),
    "no place to keep": (lambda x, n: tile_store(x, 0, 1, tile_multiply_add(tile_zeros(x, 1, 1), n, x, 0, (1, 1), x, 0, 1, None, x)), "to keep vectors in"),
    "kept in another dtype": (lambda x, n: tile_store(x, 0, 1, tile_multiply_add(tile_zeros(x, 1, 1), n, x, 0, (1, 1), x, 0, 1, None, (np.zeros(9), 0, 1))), "array of float32, the tile's"),
}  # fmt: skip


@pytest.mark.parametrize("mistake", MISTAKES.values(), ids=MISTAKES.keys())
def test_mistakes_are_said(mistake):
    body, message = mistake
    with pytest.raises(TypingError, match=message):
        compiled(body, np.zeros(100, "f"), 1)


def test_read_only_arrays_are_not_written():
    x = np.zeros(64, "f")
    x.flags.writeable = False
    with pytest.raises(TypingError, match="read-only"):
        njit(lambda x: tile_store(x, 0, 1, tile_zeros(x, 1, 1)))(x)


PROGRAM = """
import sys
from pathlib import Path
from dlkernels.simd import cache
cache.LIBRARY = Path(sys.argv[1])
cache.library_stamp.cache_clear()
sys.path.insert(0, sys.argv[1] + "/matrix")
import kernel
print(kernel.run(1), sum(kernel.run.stats.cache_hits.values()))
"""


@pytest.mark.rotates
def test_the_cache_notices_other_files(tmp_path):
    """A function kept on disk is compiled again when a file that it only imports from has changed."""
    folder = tmp_path / "matrix"
    folder.mkdir()
    (folder / "kernel.py").write_text(
        "from helper import helper\nfrom dlkernels.simd.cache import cached_njit\n\n\n"
        "@cached_njit()\ndef run(x):\n    return helper(x)\n"
    )

    def run(text):
        (folder / "helper.py").write_text(f"from numba import njit\n\n\n@njit\ndef helper(x):\n    return {text}\n")
        command = [sys.executable, "-B", "-c", PROGRAM, str(tmp_path)]
        return subprocess.run(command, capture_output=True, text=True, check=True, cwd=tmp_path).stdout.split()

    assert run("x + 10") == ["11", "0"]
    assert run("x + 10") == ["11", "1"]
    assert run("x + 20") == ["21", "0"]
