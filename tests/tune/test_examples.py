"""The two products whose sizes are left open: right for sizes and shapes of all kinds, and counted."""

import functools

import numpy as np
import pytest

from cpulab.tune import product, tiled

SHAPES = [(1, 1, 1), (1, 40, 3), (37, 53, 29), (64, 48, 130), (5, 100, 70)]
BLOCKS = [(32, 16), (64, 64), (512, 128)]


@functools.cache
def operands(m, n, k):
    rng = np.random.default_rng(m + n + k)
    return rng.standard_normal((m, k), np.float32), rng.standard_normal((k, n), np.float32)


@pytest.mark.rotates
@pytest.mark.parametrize(("rows", "vectors", "unroll"), [(1, 1, 1), (6, 2, 4), (4, 3, 1), (14, 1, 4), (8, 2, 1)])
def test_the_product_is_right_for_every_shape_and_block(rows, vectors, unroll):
    for shape in SHAPES:
        a, b = operands(*shape)
        right = a.astype(np.float64) @ b
        for depth, height in BLOCKS:
            out = np.full(shape[:2], np.nan, np.float32)
            product.multiply(a, b, out, rows=rows, vectors=vectors, unroll=unroll, depth=depth, height=height)
            assert np.abs(out - right).max() < 1e-4, (shape, depth, height)


def test_all_of_the_products_space_can_be_had():
    space = product.space()
    assert all(
        space[i]["height"] >= space[i]["rows"] and space[i]["depth"] % space[i]["unroll"] == 0
        for i in range(len(space))
    )


def test_counts_of_a_product_that_fits():
    one = {"rows": 4, "vectors": 2, "unroll": 1, "depth": 32, "height": 8}
    lanes = product.vector_width(np.float32)
    m, n, k = 16, 4 * lanes, 64
    work, stalls, loads, spilled, packed, results = product.counts(one, m, n, k)
    assert work == m * (n / lanes) * k
    assert (stalls, spilled) == (0, 0)
    assert loads == work / 8 * (4 / lanes + 2)
    assert packed == (m * k + n * k) / lanes
    assert results == m * (n / lanes) * 3  # written twice, read once


def test_padding_stalls_and_spills_are_counted():
    lanes, registers = product.vector_width(np.float32), product.vector_registers()
    small = {"rows": 1, "vectors": 1, "unroll": 1, "depth": 32, "height": 8}
    large = {"rows": 14, "vectors": 4, "unroll": 4, "depth": 32, "height": 16}
    assert product.counts(small, 3, lanes, 32)[1] == 7 * 3 * 32
    work, stalls, _, spilled, *_ = product.counts(large, 15, lanes, 30)
    assert work == 2 * 14 * 4 * 32  # of 15 x 1 vectors and 30 steps
    assert (stalls, spilled) == (0, 2 * 32 * max(0, 56 + 5 - registers))


SIZES = {"across": 8, "down": 8, "rows": 2, "columns": 2, "depth": 8, "apart": True}


@pytest.mark.rotates
@pytest.mark.parametrize(
    "change", [{}, {"apart": False}, {"columns": 4, "rows": 1}, {"depth": 16}, {"across": 16, "down": 4}]
)
def test_the_gpu_kernel_is_right_and_races_nowhere(change):
    for shape in ((16, 16, 16), (19, 21, 11)):
        assert tiled.counts(SIZES | change, *shape).min() > 0  # ValueError otherwise


def test_wider_tiles_move_fewer_sectors_and_neighbours_meet_in_banks():
    narrow, wide = (tiled.counts(SIZES | {"columns": c}, 32, 64, 8)[0] for c in (1, 8))
    assert wide < narrow
    apart, beside = (
        tiled.counts(SIZES | {"across": 32, "down": 2, "columns": 4, "apart": x}, 4, 128, 8)[1] for x in (True, False)
    )
    assert apart < beside


def test_the_gpus_space_fits_blocks_and_shared_memory():
    space = tiled.space()
    for number in range(len(space)):
        sizes = space[number]
        assert 64 <= sizes["across"] * sizes["down"] <= 256
        grid, block = tiled.launch(sizes, 100, 70)
        assert grid[0] * sizes["across"] * sizes["columns"] >= 70
        assert grid[1] * sizes["down"] * sizes["rows"] >= 100
        assert block == (sizes["across"], sizes["down"])
