"""What only element-wise operations have: non-temporal stores, which begin and end at any alignment."""

import numpy as np
import pytest

import dlkernels
from dlkernels import implementations
from dlkernels.vector import fast
from dlkernels.vector.cpu import STREAM_FROM

from .checks import check

STREAMING = [row for row in implementations.everything() if row.name.endswith("_streaming")]


@pytest.mark.rotates
@pytest.mark.parametrize("row", STREAMING, ids=lambda row: row.name)
@pytest.mark.parametrize("offset", [0, 1, 3, 7])
def test_streaming_from_any_alignment(row, offset):
    """The part before the first 32- or 64-byte boundary and the part after the last are stored one by one."""
    operation, size = implementations.OPERATIONS[row.operation], STREAM_FROM + 5
    arguments = [
        x[offset:] if isinstance(x, np.ndarray) else x for x in operation.examples.make((size + offset,), offset)
    ]
    out = np.full(size + offset + 8, 7, np.float32)
    check(row, operation, arguments, out=out[offset : offset + size])
    np.testing.assert_array_equal(np.delete(out, np.s_[offset : offset + size]), 7, err_msg="wrote outside `out`")


def test_there_are_such_rungs():
    assert {row.operation for row in STREAMING} == {"add", "axpy"}


def test_tanh_is_right_over_all_that_float32_holds():
    """Its quotient is fitted to where tanh rounds to 1, and is cut off beyond."""
    x = np.arange(0, np.float32(np.inf).view(np.int32), 1021, dtype=np.int32).view(np.float32)
    found, right = dlkernels.tanh(x), np.tanh(x.astype(np.float64))
    assert np.all(np.abs(found - right) <= 2.5 * np.finfo("f").eps * right)
    assert found.max() == 1
    np.testing.assert_array_equal(found[x > 9.05], 1)
    np.testing.assert_array_equal(found[x < 1e-5], x[x < 1e-5])
    np.testing.assert_array_equal(dlkernels.tanh(-x), -found)
    ends = dlkernels.tanh(np.array([np.inf, -np.inf, np.nan, -0.0], np.float32))
    np.testing.assert_array_equal(ends, np.array([1, -1, np.nan, 0], np.float32))
    assert np.signbit(ends[3])


def test_the_quotient_for_tanh_is_as_near_as_its_source_says():
    x = np.linspace(0, float(fast.FLAT), 100_001)[1:]
    above, below = (
        np.polynomial.polynomial.polyval(x * x, [1, *map(float, coefficients)])
        for coefficients in ((fast.D1, fast.D2, fast.D3, fast.D4), (fast.E1, fast.E2, fast.E3, fast.E4))
    )
    assert np.abs(x * above / below / np.tanh(x) - 1).max() < 6.5e-8
