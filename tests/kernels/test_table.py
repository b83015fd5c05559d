"""Every element-wise implementation in the table against its float64 reference: shapes, layouts, types, extreme
values."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dlkernels import implementations
from dlkernels.device import name as device_name

from . import arguments

ROWS = [row for row in implementations.everything() if row.operation in arguments.ELEMENTWISE]
SHAPES = [(), (0,), (1,), (2,), (31,), (1000,), (0, 5), (3, 0), (1, 1), (7, 13), (33, 64), (2, 3, 5)]
LARGE = {"cpu": 3_000_001, "gpu": 3_000 if device_name != "gpu" else 3_000_001}


def label(row):
    return f"{row.device}-{row.name}"


def check(row, args, dtype):
    """Run `row` on `args` and compare with the reference; inputs must come back unchanged."""
    before = [np.array(x, copy=True) if isinstance(x, np.ndarray) else x for x in args]
    with np.errstate(all="ignore"):
        expected = implementations.OPERATIONS[row.operation].reference(*args)
        expected = expected.astype(dtype)
    got = row(*args)
    assert isinstance(got, np.ndarray)
    assert got.dtype == np.dtype(dtype)
    assert got.shape == expected.shape
    for x, copy in zip(args, before, strict=True):
        if isinstance(x, np.ndarray):
            np.testing.assert_array_equal(x, copy, err_msg=f"{row.name} changed its input")
    rtol, atol = arguments.tolerance(row.operation, dtype)
    scale = max([1.0] + [np.abs(x[np.isfinite(x)]).max(initial=0) for x in args if isinstance(x, np.ndarray)])
    np.testing.assert_allclose(got, expected, rtol=rtol, atol=atol * scale, err_msg=row.name)
    return got


@pytest.mark.parametrize("shape", SHAPES, ids=str)
@pytest.mark.parametrize("row", ROWS, ids=label)
def test_shapes(row, shape):
    for dtype in row.dtypes:
        check(row, arguments.make(row.operation, shape, dtype), dtype)


@pytest.mark.parametrize("layout", arguments.LAYOUTS)
@pytest.mark.parametrize("row", ROWS, ids=label)
def test_layouts(row, layout):
    for dtype in row.dtypes:
        for shape in ((65,), (9, 17), (2, 3, 4)):
            args = arguments.make(row.operation, shape, dtype, layout=layout)
            expected = check(row, args, dtype)
            out = arguments.array(expected.shape, np.dtype(dtype), "normal", layout, np.random.default_rng(1))
            assert row(*args, out=out) is out
            np.testing.assert_array_equal(out, expected)


@pytest.mark.parametrize("values", arguments.VALUES)
@pytest.mark.parametrize("row", ROWS, ids=label)
def test_extreme_values(row, values):
    for dtype in row.dtypes:
        for seed in range(7 if row.operation == "bias_activation" else 2):  # it chooses the activation
            check(row, arguments.make(row.operation, (8, 33), dtype, values=values, seed=seed), dtype)


@pytest.mark.parametrize("row", ROWS, ids=label)
def test_large(row):
    """Past the sizes at which the rung changes its way of working (threads, non-temporal stores)."""
    size = min(row.largest or LARGE[row.device], LARGE[row.device])
    for dtype in row.dtypes:
        check(row, arguments.make(row.operation, (size,), dtype), dtype)


@pytest.mark.parametrize("row", [r for r in ROWS if r.name.endswith("_streaming")], ids=label)
@pytest.mark.parametrize("offset", [0, 1, 3, 7])
def test_streaming_from_any_alignment(row, offset):
    """The part before the first 32- or 64-byte boundary and the part after the last are stored one by one."""
    from dlkernels.vector.cpu import STREAM_FROM

    size = STREAM_FROM + 5
    args = [
        x[offset:] if isinstance(x, np.ndarray) else x
        for x in arguments.make(row.operation, (size + offset,), "float32")
    ]
    out = np.full(size + offset + 8, 7, np.float32)
    row(*args, out=out[offset : offset + size])
    with np.errstate(all="ignore"):
        expected = implementations.OPERATIONS[row.operation].reference(*args).astype(np.float32)
    np.testing.assert_allclose(out[offset : offset + size], expected, rtol=3e-7, atol=3e-7)
    np.testing.assert_array_equal(np.delete(out, np.s_[offset : offset + size]), 7, err_msg="wrote outside `out`")


@pytest.mark.parametrize("row", [r for r in ROWS if r.device == "cpu"], ids=label)
@settings(max_examples=20)
@given(data=st.data())
def test_any_shape(row, data):
    shape = tuple(data.draw(st.lists(st.integers(0, 9), min_size=1, max_size=3), label="shape"))
    dtype = data.draw(st.sampled_from(row.dtypes), label="dtype")
    layout = data.draw(st.sampled_from(arguments.LAYOUTS), label="layout")
    values = data.draw(st.sampled_from(arguments.VALUES), label="values")
    seed = data.draw(st.integers(0, 1000), label="seed")
    check(row, arguments.make(row.operation, shape, dtype, values, layout, seed), dtype)


@pytest.mark.parametrize("row", ROWS, ids=label)
def test_in_place(row):
    """`out` may be the first array argument itself."""
    args = arguments.make(row.operation, (5, 40), "float32")
    expected = row(*args)
    target = next(x for x in args if isinstance(x, np.ndarray))
    assert row(*args, out=target) is target
    np.testing.assert_array_equal(target, expected)


def test_every_row_describes_itself():
    for row in ROWS:
        assert row.adds, row
        assert row.dtypes, row
        assert len(row.source) > 40, row
        assert row.device in implementations.DEVICES
    names = [(row.operation, row.device, row.name) for row in ROWS]
    assert len(names) == len(set(names))


def test_ladders_start_at_one_and_keep_the_order_of_definition():
    for name in implementations.OPERATIONS:
        for device in implementations.DEVICES:
            assert [row.rung for row in implementations.of(name, device)] == list(
                range(1, len(implementations.of(name, device)) + 1)
            )
    assert [row.name for row in implementations.of("add", "cpu")] == [
        "add_python", "add_numpy", "add_compiled", "add_parallel", "add_streaming",
    ]  # fmt: skip
