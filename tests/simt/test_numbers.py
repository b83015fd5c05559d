"""Kernels compute what compiled numba computes: the same source run by the executor and by njit, bit for bit."""

import importlib.util
import itertools
import math
import operator

import hypothesis
import hypothesis.strategies as st
import numpy as np
import pytest
from numba import njit, types

from simt import cuda, numbers, run

HEADER = """
import math
from numba import float32, float64, int8, int16, int32, int64, uint8, uint16, uint32, uint64

def kernel(out, i8, i32, i64, u8, u32, u64, f32, f64, n, x):
    for p in range(out.shape[0]):
"""
counter = itertools.count()
VALUES = {
    "i8": np.array([-128, -3, -1, 0, 1, 2, 77, 127], np.int8),
    "i32": np.array([-(2**31), -7, -1, 0, 1, 3, 1000, 2**31 - 1], np.int32),
    "i64": np.array([-(2**62), -9, -1, 0, 1, 5, 2**40, 2**63 - 1], np.int64),
    "u8": np.array([0, 1, 2, 3, 100, 200, 254, 255], np.uint8),
    "u32": np.array([0, 1, 2, 3, 1000, 2**31, 2**32 - 2, 2**32 - 1], np.uint32),
    "u64": np.array([0, 1, 2, 3, 10, 2**40, 2**63, 2**64 - 1], np.uint64),
    "f32": np.array([-3.7, -1.0, -0.1, 0.0, 0.1, 2.5, 1e10, 1e38], np.float32),
    "f64": np.array([-1e300, -2.5, -0.3, 0.0, 0.7, 3.0, 1e20, np.inf], np.float64),
}
INTEGERS = [f"{name}[p]" for name in ("i8", "i32", "i64", "u8", "u32", "u64")] + ["n", "3", "-2", "7", "p"]
FLOATS = ["f32[p]", "f64[p]", "x", "0.5", "float32(1.5)", "f32[p]", "f32[p - p]"]


def integer_expressions():
    def grow(inner):
        return st.one_of(
            st.builds("({} {} {})".format, inner, st.sampled_from(["+", "-", "*", "&", "|", "^"]), inner),
            st.builds("({} // {})".format, inner, st.sampled_from(["3", "-2", "7", "u8[p]", "n"])),
            st.builds("({} % {})".format, inner, st.sampled_from(["3", "-2", "7", "u8[p]", "n"])),
            st.builds("({} {} {})".format, inner, st.sampled_from(["<<", ">>"]), st.sampled_from("15")),
            st.builds("(-{})".format, inner),
            st.builds("(~{})".format, inner),
            st.builds("({} ** 2)".format, st.sampled_from(INTEGERS)),
            st.builds(
                "{}({})".format, st.sampled_from(["int32", "uint8", "int64", "uint32", "uint64", "int16"]), inner
            ),
            st.builds(
                "int64({}({}, {}))".format,
                st.sampled_from(["min", "max"]),
                st.sampled_from(["i8[p]", "i32[p]", "i64[p]"]),
                st.sampled_from(["n", "p", "-2"]),
            ),
        )

    return st.recursive(st.sampled_from(INTEGERS), grow, max_leaves=3)


def expressions():
    integer = integer_expressions()

    def grow(inner):
        either = st.one_of(inner, integer)
        return st.one_of(
            st.builds("({} {} {})".format, inner, st.sampled_from(["+", "-", "*", "/"]), either),
            st.builds("({} {} {})".format, either, st.sampled_from(["+", "-", "*", "/"]), inner),
            st.builds("({} / {})".format, integer, integer),
            st.builds("(-{})".format, inner),
            st.builds("abs({})".format, inner),
            st.builds("{}({})".format, st.sampled_from(["float32", "float64", "float"]), inner),
            st.builds("math.sqrt(abs({}))".format, inner),
            st.builds(
                "({} if {} {} {} else {})".format, inner, either, st.sampled_from(["<", "<=", ">", ">="]), inner, inner
            ),
        )

    return st.one_of(integer, st.recursive(st.sampled_from(FLOATS), grow, max_leaves=5))


#: Small enough that no product overflows: LLVM assumes that signed integers never do, so compiled code may do anything.
SMALL = {
    name: values if name in ("i8", "u8", "f32", "f64") else np.clip(values, -100 if name[0] == "i" else 0, 100)
    for name, values in VALUES.items()
}


def both(folder, lines, values=VALUES):
    """Run the same source in the executor and compiled; returns both results, (positions, expressions)."""
    body = "".join(f"        out[p, {k}] = {line}\n" for k, line in enumerate(lines))
    name = f"generated_{next(counter)}"
    path = folder / f"{name}.py"
    path.write_text(HEADER + body)
    spec = importlib.util.spec_from_file_location(name, path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    arguments = [*values.values(), 11, -0.75]
    ours, compiled = np.zeros((8, len(lines))), np.zeros((8, len(lines)))
    run(cuda.jit(module.kernel), 1, 1, [ours, *arguments])
    njit(error_model="numpy")(module.kernel)(compiled, *arguments)
    return ours, compiled


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return tmp_path_factory.mktemp("generated")


@pytest.mark.rotates
@hypothesis.settings(
    max_examples=12,
    deadline=None,
    suppress_health_check=[hypothesis.HealthCheck.too_slow, hypothesis.HealthCheck.data_too_large],
    phases=[hypothesis.Phase.generate],
)
@hypothesis.given(lines=st.lists(expressions(), min_size=30, max_size=30))
def test_expressions_agree_with_compiled_numba(folder, lines):
    """12 x 30 expressions at 8 points each, integers of six types and floats of two."""
    ours, compiled = both(folder, lines, SMALL)
    for k, line in enumerate(lines):
        np.testing.assert_array_equal(ours[:, k], compiled[:, k], err_msg=line)


WRITTEN = [
    "i32[p] + i32[p]", "u8[p] - u8[0 - 0 + 7]", "u8[p] - 1", "u32[p] + u32[p]", "u64[p] + n", "i32[p] * i32[p]",
    "i64[p] * 3", "f32[p] * 0.5", "f32[p] * f32[p]", "f32[p] * float32(0.5)", "f32[p] + n", "f32[p] + i8[p]",
    "f32[p] + i32[p]", "f32[p] * 2", "i32[p] / 3", "i32[p] / 0", "-i32[p] / 0", "0 / (n - 11)", "f32[p] / 0", "1.0 / f64[p]",
    "i32[p] // 0", "i32[p] % 0", "i32[p] // -3", "i32[p] % -3", "f64[p] // 0.7", "f64[p] % 0.7", "f32[p] // f32[5]",
    "f32[p] % f32[5]", "f64[p] % -0.7", "f32[p] ** 2", "i32[p] ** 2", "u8[p] ** 2", "f64[p] ** 2", "n ** 3",
    "2 ** n", "i8[p] << 20", "u8[p] << 60", "i32[p] >> 3", "u64[p] >> 1", "-u8[p]", "~u8[p]", "~i8[p]", "-u64[p]",
    "int32(i64[p])", "uint8(i32[p])", "int8(i32[p])", "uint64(i32[p])", "float32(i64[p])", "float32(f64[3])",
    "int(f32[0])", "int(f64[1])", "int(f64[2])", "int32(f32[0]) / 2", "round(f32[0])", "round(f64[1])", "round(f64[5])",
    "float(f32[p]) * 3.0", "float(f32[p]) * float32(3.0)", "abs(i8[p])", "abs(f32[p])", "min(f32[p], 0.5)",
    "max(i32[p], u8[p])", "min(n, p)", "max(f32[p], f64[p])", "min(i32[p], i64[p], 3)", "f32[p] < 0.1", "f32[p] == 0.1",
    "f32[p] >= f64[p]", "u64[p] > i64[p]", "i64[p] < 0", "i8[p] == u8[p]", "u64[p] == 2**64 - 1", "True + 1",
    "(i32[p] > 0) + (u8[p] > 2)", "not i8[p]", "i8[p] and f32[p]", "n if p > 3 else 0.5", "math.sqrt(f32[5]) * f32[5]",
    "math.isnan(f64[p])", "math.isinf(f64[p] * 10.0)", "math.copysign(f32[p], -1.0)", "math.fabs(f32[p])", "math.pi",
    "i64[p] + 1", "i64[p] * i64[p]", "n * n * n", "(p + 1) * 2**62",
    "complex(f32[5], f64[5]).imag", "divmod(i32[p], 7)[1]", "pow(f32[5], 2)",
]  # fmt: skip


@pytest.mark.rotates
def test_written_cases_agree_with_compiled_numba(folder):
    ours, compiled = both(folder, WRITTEN)
    for k, line in enumerate(WRITTEN):
        np.testing.assert_array_equal(ours[:, k], compiled[:, k], err_msg=line)


ROUNDED = [f"math.{name}(f{bits}[4])" for name in
           ["exp", "expm1", "log", "log10", "log1p", "log2", "sin", "cos", "tan", "asin", "acos", "atan", "sinh", "cosh", "tanh", "asinh", "atanh", "erf", "erfc", "gamma", "lgamma"]
           for bits in (32, 64)] + [
    "math.pow(f32[5], f32[4])", "math.pow(f64[5], f64[4])", "math.atan2(f32[4], f32[5])", "math.hypot(f64[4], f64[5])",
    "f32[5] ** f32[4]", "f32[5] ** 0.3", "f64[5] ** f64[4]", "f32[5] ** -2", "math.exp(3)", "math.log(n)", "math.sqrt(n)",
    "math.exp(f32[7])", "math.log(f32[0])", "math.exp(-f64[6])", "math.radians(f64[5])", "math.degrees(f32[5])",
]  # fmt: skip


def test_math_functions_agree_to_rounding(folder):
    ours, compiled = both(folder, ROUNDED)
    for k, line in enumerate(ROUNDED):
        tolerance = 3e-7 if "f32" in line else 1e-14
        np.testing.assert_allclose(ours[:, k], compiled[:, k], rtol=tolerance, err_msg=line)


def one(function, *values):
    return numbers.dispatch(function)(*values)


@pytest.mark.parametrize("function", [math.floor, math.ceil, math.trunc])
def test_rounding_gives_a_float_as_on_a_gpu(function):
    """numba-cuda types these as C does (float in, float out); the CPU target as Python does."""
    assert type(one(function, np.float32(2.5))) is np.float32
    assert type(one(function, 2.5)) is float
    assert one(function, -2.5) == function(-2.5)
    assert one(math.fmod, -7.5, 2.0) == -1.5


def test_nan_loses_in_min_and_max_as_fminf_does():
    assert one(min, math.nan, 1.0) == 1.0
    assert one(max, np.float32(2), np.float32(math.nan)) == 2.0


@pytest.mark.parametrize(
    ("target", "value", "expected"),
    [
        (types.int32, 2**31, -(2**31)),
        (types.int32, 1e20, 2**31 - 1),
        (types.int32, -1e20, -(2**31)),
        (types.int32, math.nan, 0),
        (types.uint8, -1, 255),
        (types.uint8, 300.7, 255),
        (types.int64, 2**63, -(2**63)),
        (types.uint64, -1, 2**64 - 1),
        (types.boolean, 3, True),
    ],
)
def test_casts_wrap_integers_and_saturate_floats(target, value, expected):
    assert numbers.caster(target)(value) == expected


def test_int64_wraps(folder):
    """As the machine does. (Compiled numba may assume that it never happens, so there is nothing to compare with.)"""

    def kernel(out, x):
        out[0] = x + 1 < 0
        out[1] = x * 2 + 0.0
        out[2] = (x << 1) + 2 == 0

    out = np.zeros(3)
    cuda.jit(kernel)[1, 1](out, 2**63 - 1)
    assert out.tolist() == [1.0, -2.0, 1.0]


def test_shifts_too_far_give_nothing():
    assert one(operator.lshift, 1, 64) == 0
    assert one(operator.rshift, -1, 70) == -1
    assert one(operator.rshift, 5, 64) == 0


@cuda.jit
def _counts_to(limit, step, out):
    for k in range(limit[0]):
        out[0] = k + 1
    for k in range(1, limit[0] / 2, step[0]):
        out[1] += k


@pytest.mark.parametrize("engine", ["executor", "compiled"])
def test_a_range_cuts_floats_off_as_numba_does(engine):
    limit, step, out = np.array([9.75]), np.array([1]), np.zeros(2)
    with cuda.engine(engine):
        _counts_to[1, 1](limit, step, out)
    compiled = np.zeros(2)
    njit(_counts_to.py_func)(limit, step, compiled)
    np.testing.assert_array_equal(out, compiled)
    np.testing.assert_array_equal(out, [9, 1 + 2 + 3])
