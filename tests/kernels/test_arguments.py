"""Wrong arguments: what the message says, and that nothing was written."""

import builtins

import numpy as np
import pytest

import dlkernels
from dlkernels import add, axpy, bias_activation, cuda, implementations, relu

pytestmark = pytest.mark.quick

X = np.arange(6, dtype=np.float32)


def read_only():
    x = np.zeros(6, np.float32)
    x.flags.writeable = False
    return x


def overlapping():
    base = np.zeros(7, np.float32)
    return add, (base[:6], X), {"out": base[1:]}


CASES = {
    "a list": (add, ([1.0], X), {}, TypeError, r"a is a list; expected a NumPy array.*np\.asarray\(a"),
    "shapes differ": (add, (X, X[:5]), {}, ValueError, r"b has shape \(5,\), but a has shape \(6,\); expected the same"),
    "no broadcasting": (add, (X, X.reshape(6, 1)), {}, ValueError, r"Nothing is broadcast"),
    "dtypes differ": (add, (X, X.astype(np.float64)), {}, TypeError, r"b has dtype float64, but a has dtype float32"),
    "integers": (add, (X.astype(int), X), {}, TypeError, r"a has dtype int64; expected float32 or float64"),
    "half precision": (relu, (X.astype(np.float16),), {}, TypeError, r"x has dtype float16"),
    "complex": (relu, (X.astype(complex),), {}, TypeError, r"x has dtype complex128"),
    "objects": (relu, (X.astype(object),), {}, TypeError, r"x has dtype object"),
    "byte order": (relu, (X.astype(">f4"),), {}, TypeError, r"x has dtype >f4"),
    "out of another shape": (add, (X, X), {"out": np.zeros(5, np.float32)}, ValueError, r"out has shape \(5,\); expected \(6,\)"),
    "out of another dtype": (add, (X, X), {"out": np.zeros(6)}, TypeError, r"out has dtype float64; expected float32"),
    "out is a list": (add, (X, X), {"out": [0.0] * 6}, TypeError, r"out is a list"),
    "out is read-only": (add, (X, X), {"out": read_only()}, ValueError, r"out is read-only"),
    "out overlaps": (*overlapping(), ValueError, r"out overlaps a without being a"),
    "out broadcast": (add, (X, X), {"out": np.lib.stride_tricks.as_strided(np.zeros(1, np.float32), (6,), (0,))}, ValueError, r"share memory"),
    "alpha is a string": (axpy, ("2", X, X), {}, TypeError, r"alpha is a str; expected a number"),
    "alpha is an array": (axpy, (X, X, X), {}, TypeError, r"alpha is a ndarray; expected a number"),
    "bias too long": (bias_activation, (X.reshape(2, 3), X), {}, ValueError, r"bias has shape \(6,\) and x has shape \(2, 3\)"),
    "unknown activation": (bias_activation, (X, X, "swish"), {}, ValueError, r"activation is 'swish'; expected one of relu"),
}  # fmt: skip


@pytest.mark.parametrize("case", CASES.values(), ids=CASES.keys())
def test_wrong_arguments(case):
    function, args, kwargs, error, message = case
    before = np.array(kwargs["out"], copy=True) if "out" in kwargs else None
    with pytest.raises(error, match=message):
        function(*args, **kwargs)
    if before is not None:
        np.testing.assert_array_equal(kwargs["out"], before)


def test_an_empty_out_shares_nothing():
    """NumPy gives rows of no elements a stride of zero, as if they were one."""
    empty = np.empty((2, 0), np.float32)
    assert add(empty, empty, out=np.empty((2, 0), np.float32)).shape == (2, 0)


def test_host_and_device_arrays_do_not_mix():
    with pytest.raises(ValueError, match=r"a in device memory, but b in host memory.*cuda\.to_device"):
        add(cuda.to_device(X), X)


def test_device_arrays_give_device_arrays():
    result = add(cuda.to_device(X), cuda.to_device(X))
    assert hasattr(result, "copy_to_host")
    np.testing.assert_array_equal(result.copy_to_host(), X + X)


def test_device_out_is_written():
    out = cuda.device_array(6, np.float32)
    assert add(cuda.to_device(X), cuda.to_device(X), out) is out
    np.testing.assert_array_equal(out.copy_to_host(), 2 * X)


def test_the_table_answers_wrong_questions_with_a_sentence():
    with pytest.raises(ValueError, match=r"no operation is called 'ad'; there are .*add, "):
        implementations.of("ad")
    with pytest.raises(ValueError, match="device is 'tpu'; expected 'cpu', 'gpu' or None"):
        implementations.of("add", "tpu")
    with pytest.raises(ValueError, match="'nothing' is not declared"):
        implementations.implementation("nothing", device="cpu", adds="")
    with pytest.raises(ValueError, match="device is 'tpu'"):
        implementations.implementation("add", device="tpu", adds="")
    with pytest.raises(ValueError, match="has an implementation named add_numpy on cpu already"):
        implementations.implementation("add", device="cpu", adds="twice")(implementations.of("add")[1].function)


def test_public_names_exist_and_are_documented():
    for name in dlkernels.__all__:
        assert getattr(dlkernels, name).__doc__, name
    for name in implementations.OPERATIONS:
        assert name in dlkernels.__all__ or (hasattr(builtins, name) and hasattr(dlkernels, name))
