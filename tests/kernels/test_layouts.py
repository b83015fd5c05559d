"""Every public operation on arrays of every layout, in host and in device memory, against float64.

There is no operation by name in this file: all come from the table, their arguments from its examples.
"""

import inspect

import numpy as np
import pytest

import dlkernels
from dlkernels import implementations, layouts
from dlkernels.device import is_device_array
from dlkernels.device import name as device_name
from dlkernels.examples import LAYOUTS, Draw

from .checks import check, is_out, mapped, on_device, results_dtype, seed_of, takes_out

pytestmark = pytest.mark.rotates
#: Each day one layout of each operation, on the host and on the device.
EACH_IN_TURN = {"host": pytest.mark.rotates(by=lambda params: f"{params['operation'].name} on the host")}
EACH_IN_TURN["device"] = pytest.mark.rotates(by=lambda params: f"{params['operation'].name} on the device")

OPERATIONS = implementations.OPERATIONS
MOST = 300  # numbers in a size, where the executor stands in for a GPU
MIXED = ("transposed", "offset", "contiguous", "strided")


def operations():
    return pytest.mark.parametrize("operation", [pytest.param(o, id=o.name) for o in OPERATIONS.values()])


def shapes_of(examples):
    """The largest that the executor runs in reasonable time, the same with stacks, and all that are empty."""
    small = [shape for shape in examples.shapes if np.prod(shape) <= MOST]
    stacks = [shape for shape in small if len(shape) == max(map(len, small))]
    largest = {max(group, key=np.prod) for group in (small, stacks)}
    return [*largest, *(shape for shape in small if shape and not np.prod(shape))]


@EACH_IN_TURN["host"]
@pytest.mark.parametrize("layout", [*LAYOUTS, "read-only"])
@operations()
def test_on_the_host(operation, layout):
    function, examples = getattr(dlkernels, operation.name), operation.examples
    for dtype in examples.dtypes:
        for shape in shapes_of(examples):
            arguments = examples.make(shape, seed_of(shape, layout), dtype=dtype, layout=layout)
            result = check(function, operation, arguments)
            if takes_out(operation) and layout != "read-only":
                out = mapped(lambda x, layout=layout: Draw(str(x.dtype), layout).array(*x.shape), result)
                assert is_out(check(function, operation, arguments, out=out), out)


def has_gpu_rung(operation, dtype):
    """Whether there is a GPU rung for arguments of that dtype."""
    kind = results_dtype(operation, operation.examples.make(operation.examples.shapes[-1], dtype=dtype))
    return any(rung.public and str(kind) in rung.dtypes for rung in implementations.of(operation.name, "gpu"))


@EACH_IN_TURN["device"]
@pytest.mark.parametrize("layout", [*LAYOUTS, "mixed"])
@operations()
def test_on_the_device(operation, layout):
    function, examples = getattr(dlkernels, operation.name), operation.examples
    order = MIXED if layout == "mixed" else (layout,)
    dtypes = [dtype for dtype in examples.dtypes if has_gpu_rung(operation, dtype)]
    for dtype in set(examples.dtypes) - set(dtypes):
        refused_with_a_sentence(function, examples.make(examples.shapes[-1], dtype=dtype))
    if device_name != "gpu":  # a call takes long: the layouts have the dtypes in turn
        dtypes = dtypes[[*LAYOUTS, "mixed"].index(layout) % max(len(dtypes), 1) :][:1]
    for dtype in dtypes:
        for shape in shapes_of(examples):
            arguments = examples.make(shape, seed_of(shape, layout), dtype=dtype)
            result = check(function, operation, arguments, order)
            if takes_out(operation):
                room = mapped(lambda x, order=order: on_device(Draw(str(x.dtype)).array(*x.shape), order[0]), result)
                assert is_out(check(function, operation, arguments, order, out=room), room)


def refused_with_a_sentence(function, arguments):
    there = [on_device(x) if isinstance(x, np.ndarray) else x for x in arguments]
    with pytest.raises((TypeError, ValueError), match=r"expected .*copy_to_host\(\).*\.$"):
        function(*there)


@operations()
def test_what_is_mixed_is_refused_with_a_sentence(operation):
    """Host and device arrays in one call: named, with what to do."""
    arguments = operation.examples.make(operation.examples.shapes[-1], dtype=operation.examples.dtypes[0])
    places = [k for k, x in enumerate(arguments) if isinstance(x, np.ndarray)]
    function = getattr(dlkernels, operation.name)
    for place in places if len(places) > 1 else ():
        mixed = [on_device(x) if k == place else x for k, x in enumerate(arguments)]
        with pytest.raises(ValueError, match=r"in device memory.*expected.*copy_to_host\(\)"):
            function(*mixed)
    if "out" in inspect.signature(function).parameters and implementations.of(operation.name, "gpu"):
        result = function(*arguments)
        with pytest.raises(ValueError, match=r"out in device memory.*expected all in one place"):
            function(*arguments, out=mapped(on_device, result))


@operations()
def test_an_older_gpu_is_refused_with_a_sentence(operation, monkeypatch):
    """A rung that needs instructions which a GPU does not have says so, before anything is launched."""
    monkeypatch.setattr("dlkernels.device.compute_capability", lambda: (5, 0))
    for rung in implementations.of(operation.name, "gpu"):
        if rung.capability:
            arguments = operation.examples.make(operation.examples.shapes[0], dtype=operation.examples.dtypes[0])
            with pytest.raises(
                ValueError, match=r"needs a GPU of compute capability \d+\.\d+ or newer; this one has 5\.0\. Use "
            ):
                rung(*arguments)


# ---- the copies behind it --------------------------------------------------------------------------------------------


@pytest.mark.parametrize("dtype", ["float32", "float64", "float16", "uint16"])
@pytest.mark.parametrize("shape", [(5,), (70, 33), (3, 40, 41), (2, 3, 4, 5), (0, 4), (4, 0)], ids=str)
def test_copies_and_transpositions(shape, dtype):
    x = np.random.default_rng(1).integers(0, 1000, shape).astype(dtype)
    for layout in LAYOUTS:
        there = on_device(x, layout)
        copy = layouts.contiguous(there)
        assert copy.is_c_contiguous()
        assert (copy is there) == (layout in ("contiguous", "offset") or there.is_c_contiguous())
        np.testing.assert_array_equal(copy.copy_to_host(), x)
        room = on_device(np.zeros_like(x), layout)
        assert layouts.copy(there, room) is room
        np.testing.assert_array_equal(room.copy_to_host(), x)
        if len(shape) > 1 and dtype != "float16":
            np.testing.assert_array_equal(layouts.transposed(there).copy_to_host(), np.swapaxes(x, -1, -2))


def test_what_is_aligned():
    x = on_device(np.zeros(20, np.float32))
    assert layouts.aligned(x, x[4:], x[::-1][:4][::-1], x.reshape(4, 5))
    assert not layouts.aligned(x, x[1:])
    assert layouts.address(x[3:]) == layouts.address(x) + 12
    assert is_device_array(x[3:])


def test_device_arrays_that_overlap():
    x = on_device(np.zeros(20, np.float32))
    with pytest.raises(ValueError, match="out overlaps a without being a"):
        dlkernels.add(x[:-1], x[1:], out=x[1:])
    dlkernels.add(x[::2], x[::2], out=x[1::2])  # side by side, no element in common
    dlkernels.add(x, x, out=x)
    a = x[:16].reshape(4, 4)
    with pytest.raises(ValueError, match="out overlaps b"):
        dlkernels.matmul(on_device(np.zeros((4, 4), np.float32)), a, out=x[4:].reshape(4, 4))
