"""What only element-wise operations have: non-temporal stores, which begin and end at any alignment."""

import numpy as np
import pytest

from dlkernels import implementations
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
