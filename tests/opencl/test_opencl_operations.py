"""Every operation in OpenCL, from the examples of the table alone: against float64, at all sizes, layouts and
values."""

import functools
import inspect

import numpy as np
import opencl_here as here
import pytest
from kernels.checks import check, is_out, mapped, seed_of, takes_out

from dlkernels import implementations
from dlkernels.examples import Draw

here.needed()

from opencl import launches, operations  # noqa: E402

#: operation -> ways to compute it: keyword arguments that choose a kernel
WAYS = {
    "add": [{}], "sum": [{}], "relu": [{}], "relu_backward": [{}], "gelu": [{}], "gelu_backward": [{}], "transpose": [{}],
    "matmul": [{"kernel": name} for name in launches.MATMUL], "linear": [{}], "linear_backward": [{}],
    "conv2d": [{"kernel": name} for name in launches.CONV2D], "softmax": [{}], "layer_norm": [{}],
    "cross_entropy": [{}], "cross_entropy_backward": [{}], "scaled_dot_product_attention": [{}],
    "lstm": [{"sequence": True}, {"sequence": False}], "sgd": [{}],
}  # fmt: skip
IN_TURN = pytest.mark.rotates(together=lambda params: params["name"])
DAILY = ("add", "softmax", "scaled_dot_product_attention")  # test_digits.py runs most others each day
ways = pytest.mark.parametrize(
    ("name", "way"),
    [
        pytest.param(name, way, id="-".join([name, *map(str, way.values())]))
        for name, each in WAYS.items()
        for way in each
    ],
)


def given(name, way):
    return functools.partial(getattr(operations, name), **way), implementations.OPERATIONS[name]


@IN_TURN
@ways
def test_shapes(name, way):
    """Empty, one, odd and ragged sizes, with each choice of the examples, and into `out`."""
    shapes_agree(name, way)


@pytest.mark.quick
@pytest.mark.parametrize("name", DAILY)
def test_shapes_of_some(name):
    shapes_agree(name, {})


def shapes_agree(name, way):
    function, operation = given(name, way)
    examples = operation.examples
    for number, shape in enumerate(examples.shapes):
        for seed in range(examples.seeds) if examples.seeds < 4 else range(number % 2, examples.seeds, 2):
            arguments = examples.make(shape, seed)
            result = check(function, operation, arguments)
            if takes_out(operation) and seed < 2:
                out = mapped(lambda x: np.full_like(x, 7), result)
                assert is_out(check(function, operation, arguments, out=out), out)


@IN_TURN
@ways
def test_layouts_and_values(name, way):
    function, operation = given(name, way)
    examples = operation.examples
    shape = max(examples.shapes, key=np.prod)
    for layout in examples.layouts:
        check(function, operation, examples.make(shape, seed_of(shape, layout), layout=layout))
    for values in examples.values:
        for seed in range(max(2, examples.seeds)):
            check(function, operation, examples.make(shape, seed, values=values))


@IN_TURN
@ways
def test_double_precision(name, way):
    here.double()
    function, operation = given(name, way)
    for shape in operation.examples.shapes:
        check(function, operation, operation.examples.make(shape, seed_of(shape), dtype="float64"))


@pytest.mark.slow
@ways
def test_large(name, way):
    function, operation = given(name, way)
    for shape in operation.examples.large:
        check(function, operation, operation.examples.make(shape, seed_of(shape)))


@pytest.mark.parametrize("name", WAYS)
def test_the_signature_is_the_table_s(name):
    """The same names in the same order, with the same defaults; what chooses a kernel comes last."""
    ours, theirs = (
        list(inspect.signature(one).parameters.values())
        for one in (getattr(operations, name), implementations.OPERATIONS[name].function)
    )
    shared = [one for one in ours if one.name not in ("kernel", "sequence")]
    assert [str(one) for one in shared] == [str(one) for one in theirs if one.name != "explain"]
    assert ours[: len(shared)] == shared


def test_attention_takes_smaller_tiles_where_local_memory_is_small(monkeypatch):
    operation = implementations.OPERATIONS["scaled_dot_product_attention"]
    arguments = operation.examples.arguments(Draw(), 2, 9, 11, 40, 40)
    monkeypatch.setattr(launches.device(), "local_bytes", 1500)
    check(operations.scaled_dot_product_attention, operation, arguments)
    monkeypatch.setattr(launches.device(), "local_bytes", 100)
    with pytest.raises(ValueError, match="q has 40 numbers in a row"):
        operations.scaled_dot_product_attention(*arguments)


def test_wrong_arguments_are_told_as_dlkernels_tells_them():
    with pytest.raises(ValueError, match=r"expected \(\.\.\., m, k\) and \(\.\.\., k, n\)"):
        operations.matmul(np.ones((2, 3), np.float32), np.ones((2, 3), np.float32))
    with pytest.raises(TypeError, match="x"):
        operations.softmax(np.ones((2, 3), np.int32))
