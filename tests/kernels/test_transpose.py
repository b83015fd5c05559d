"""The transpose on a GPU: sectors and bank conflicts, derived first and then counted; matrices taller than a grid. On
the CPU: what is there already is not turned twice.

That every rung is right at all sizes and layouts is tested from the examples, in test_operations.py.
"""

import numpy as np
import pytest

from dlkernels import cuda, layouts, transpose
from dlkernels.device import name as device_name
from dlkernels.matrix import cpu_transpose, gpu_transpose
from simt import xray

pytestmark = pytest.mark.quick

TILE = layouts.TILE
KERNELS = {
    "naive": gpu_transpose.naive_kernel,
    "tiled": gpu_transpose.tiled_kernel(np.float32),
    "padded": layouts.transpose_kernel(np.float32),
    "swizzled": gpu_transpose.swizzled_kernel(np.float32),
}
# Of 32 numbers that a warp writes down a column, each lies in a sector of its own; along a row, eight share one.
SECTORS = {"naive": 32, "tiled": 4, "padded": 4, "swizzled": 4}
WAYS = {"tiled": 32, "padded": 1, "swizzled": 1}  # of a column of the tile: all in one bank, or each in its own


def numbers(*shape):
    return np.arange(np.prod(shape), dtype=np.float32).reshape(shape)


@pytest.mark.skipif(device_name != "executor", reason="about what stands in for a GPU")
@pytest.mark.parametrize("name", KERNELS)
def test_sectors_and_bank_conflicts(name):
    x, out = numbers(1, TILE, TILE), np.zeros((1, TILE, TILE), np.float32)
    report = xray.xray(KERNELS[name], (1, 1, 1), (TILE, layouts.ROWS))(x, out)
    np.testing.assert_array_equal(out[0], x[0].T)
    assert report.ok, str(report)
    there = {(e.space, e.kind): e for e in report.expressions}
    assert there["global", "load"].sectors_per_request == 4
    assert there["global", "store"].sectors_per_request == SECTORS[name]
    if name != "naive":
        assert there["shared", "store"].bank_ways == 1
        assert there["shared", "load"].bank_ways == WAYS[name]


@pytest.mark.parametrize("shape", [(200, 3), (3, 70, 5)], ids=str)
def test_more_than_a_grid_may_hold(shape, monkeypatch):
    """Rows and matrices are cut into several launches where a grid has too few blocks."""
    monkeypatch.setattr(layouts, "MOST_IN_Y", 2)
    monkeypatch.setattr(layouts, "MOST_IN_Z", 2)
    x = numbers(*shape)
    got = transpose(cuda.to_device(x)).copy_to_host()
    np.testing.assert_array_equal(got, np.swapaxes(x, -1, -2))
    np.testing.assert_array_equal(layouts.transposed(cuda.to_device(x)).copy_to_host(), got)


def test_a_transpose_is_only_copied(monkeypatch):
    monkeypatch.setattr(cpu_transpose, "turned", lambda *arguments: pytest.fail("turned over twice"))
    x = numbers(3, 40, 50)
    got = transpose(np.swapaxes(x, -1, -2))
    np.testing.assert_array_equal(got, x)
    assert got.flags.c_contiguous
    assert not np.shares_memory(got, x)


def test_wrong_arguments():
    with pytest.raises(ValueError, match=r"x has shape \(3,\); expected \(\.\.\., m, n\)"):
        transpose(numbers(3))
    x = numbers(4, 4)
    with pytest.raises(ValueError, match="out overlaps x; expected separate memory"):
        transpose(x, out=x)
