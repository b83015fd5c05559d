"""The host's part of a call on device arrays: a second one is not checked again, sends nothing, asks for nothing twice.

Counts, no clock. `benchmarks/gpu_host.py` measures the same with numba-cuda and a driver that does nothing.
"""

import importlib
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from cpulab import measure
from dlkernels import add, cuda, device, implementations, launches, softmax
from simt.dispatcher import Dispatcher
from simt.xray import Unavailable

from .checks import dtypes_for, mapped

BY_SHAPE = [one for one in implementations.OPERATIONS.values() if one.by_shape]
stand_in = pytest.mark.skipif(device.name != "executor", reason="counts what the executor is asked for")


def public(operation):
    return next(row for row in reversed(implementations.of(operation.name, "gpu")) if row.public)


@stand_in
@pytest.mark.parametrize("operation", BY_SHAPE, ids=lambda operation: operation.name)
def test_a_second_call_launches_and_does_no_more(operation, monkeypatch):
    row, examples = public(operation), operation.examples
    shape = next(shape for shape in sorted(examples.shapes, key=np.prod) if np.prod(shape) > 1)
    arguments = examples.make(shape, dtype=next(iter(dtypes_for(row))))
    first = mapped(cuda.to_device, arguments)
    second = mapped(lambda x: cuda.to_device(np.flip(x).copy()), arguments)
    operation.function(*first)  # which is checked, and sends what stays
    asked = []

    def counting(owner, name):
        before = getattr(owner, name)

        def counted(*given, **named):
            asked.append(name)
            return before(*given, **named)

        monkeypatch.setattr(owner, name, counted)

    for owner, name in (
        (cuda, "to_device"),
        (launches.DEVICE_ARRAY, "copy_to_host"),
        (launches.DEVICE_ARRAY, "copy_to_device"),
        (Dispatcher, "__getitem__"),
    ):
        counting(owner, name)
    expected = row(*second)
    long_way, asked[:] = list(asked), []

    def checked_again(*given):
        pytest.fail(f"{operation.name} checks its arguments again")

    table = implementations._OPERATIONS | {operation.name: replace(operation, prepare=checked_again)}
    monkeypatch.setattr(implementations, "_OPERATIONS", table)
    result = operation.function(*second)
    assert set(asked) <= {"__getitem__"}, f"more than launches: {asked}"
    assert asked.count("__getitem__") == long_way.count("__getitem__")
    monkeypatch.undo()
    for one, other in zip(flat(result), flat(expected), strict=True):
        np.testing.assert_array_equal(one.copy_to_host(), other.copy_to_host())


def test_what_was_checked_holds_for_the_same_kind_of_call_only():
    x, y = np.arange(6, dtype=np.float32), np.ones(6, np.float32)
    on_device = cuda.to_device
    a, b, memory = on_device(x), on_device(y), on_device(np.zeros(7, np.float32))
    for one, other in ((a, b), (a, b), (a, a), (b, a)):
        expected = one.copy_to_host() + other.copy_to_host()
        np.testing.assert_array_equal(add(one, other).copy_to_host(), expected)
    assert add(on_device(x.astype(np.float64)), on_device(y.astype(np.float64))).dtype == np.float64
    out = on_device(np.zeros(6, np.float32))
    assert add(a, b, out=out) is add(a, b, out=out) is out
    assert add(out, b, out=out) is out
    np.testing.assert_array_equal(out.copy_to_host(), x + 2 * y)
    with pytest.raises(ValueError, match="out overlaps a without being a"):
        add(memory[:6], b, out=memory[1:])
    with pytest.raises(ValueError, match="b has shape"):
        add(a, memory)
    softmax(a, 0)
    with pytest.raises(TypeError, match="dim is False"):
        softmax(a, False)


def test_the_record_has_no_more_than_that():
    """With numba-cuda and a driver that does nothing, which counts what it is asked for."""
    for name, ways in measure.recorded("gpu_host").data["calls"].items():
        asked, usual = ways["kept"]["counts"], ways["numba"]["counts"]
        assert asked["launches"] == usual["launches"] > 0, name
        assert asked["allocations from the pool"] == usual["allocations"] > 0, name
        assert asked["allocations"] == asked["copies to the device"] == asked["copies to the host"] == 0, name


def flat(x):
    return x if isinstance(x, tuple) else (x,)


@pytest.mark.slow
def test_numba_cuda_is_asked_for_no_more_either(monkeypatch):
    """Its kernels get the very arguments that it passes itself, too; compiles for a GPU, and needs a C compiler."""
    monkeypatch.syspath_prepend(str(Path(__file__).parents[2] / "benchmarks"))
    gpu_host = importlib.import_module("gpu_host")
    try:
        found = gpu_host.benchmark(quick=True)
    except Unavailable as missing:
        pytest.skip(str(missing))
    recorded = measure.recorded("gpu_host").data["calls"]
    assert {name: one["kept"]["counts"] for name, one in found["calls"].items()} == {
        name: one["kept"]["counts"] for name, one in recorded.items()
    }
