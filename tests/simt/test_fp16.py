"""Half precision in the executor: storage, arithmetic that is rounded once, comparisons with NaN, CUDA's names."""

import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import simt
import simt.compiled
from simt import cuda
from simt.xray import xray

HALVES = st.floats(width=16, allow_nan=False, allow_infinity=False).map(np.float16)
ONE = {
    "hsin": np.sin, "hcos": np.cos, "hlog": np.log, "hlog2": np.log2, "hlog10": np.log10, "hexp": np.exp, "hsqrt": np.sqrt,
    "hceil": np.ceil, "hfloor": np.floor, "htrunc": np.trunc, "hrint": np.rint, "hexp2": np.exp2,
    "hexp10": lambda x: 10**x, "hrsqrt": lambda x: x**-0.5, "hrcp": lambda x: 1 / x, "hneg": np.negative, "habs": np.abs,
}  # fmt: skip
TWO = {"hadd": np.add, "hsub": np.subtract, "hmul": np.multiply, "hdiv": np.divide}


def called(name, *columns):
    """What cuda.fp16.NAME gives for each row of the columns, in a kernel with arrays of float16."""
    function = getattr(cuda.fp16, name)
    if len(columns) == 1:

        @cuda.jit
        def kernel(out, a):
            i = cuda.grid(1)
            out[i] = function(a[i])

    elif len(columns) == 2:

        @cuda.jit
        def kernel(out, a, b):
            i = cuda.grid(1)
            out[i] = function(a[i], b[i])

    else:

        @cuda.jit
        def kernel(out, a, b, c):
            i = cuda.grid(1)
            out[i] = function(a[i], b[i], c[i])

    columns = [np.atleast_1d(np.asarray(c, np.float16)) for c in columns]
    out = np.zeros(len(columns[0]), np.float16)
    simt.run(kernel, 1, len(out), [out, *columns])
    return out


def nearest(exact):
    """The float16 nearest to a fraction, to even where two are."""
    with np.errstate(over="ignore"):
        guess = np.float16(float(exact))
    if np.isinf(guess):
        return guess
    around = [np.nextafter(guess, np.float16(-np.inf)), guess, np.nextafter(guess, np.float16(np.inf))]
    around = [v for v in around if np.isfinite(v)]
    return min(around, key=lambda v: (abs(Fraction(float(v)) - exact), int(v.view(np.uint16)) & 1))


@settings(max_examples=300, deadline=None)
@given(HALVES, HALVES, HALVES)
def test_fma_is_rounded_once(a, b, c):
    exact = Fraction(float(a)) * Fraction(float(b)) + Fraction(float(c))
    if abs(exact) < 65504:
        assert called("hfma", a, b, c)[0] == nearest(exact)


def test_an_fma_that_two_roundings_would_get_wrong():
    """2 ** -11 is half of what follows 1; the tiny addend decides. In float32 it would be lost."""
    a, b, c = np.float16(1 + 2**-5), np.float16(1 - 2**-6 + 2**-10), np.float16(2**-24)
    for addend in (c, -c):
        exact = Fraction(float(a)) * Fraction(float(b)) + Fraction(float(addend))
        assert called("hfma", a, b, addend)[0] == nearest(exact)


@pytest.mark.parametrize("name", TWO)
def test_two(name):
    rng = np.random.default_rng(0)
    a, b = (rng.normal(size=900).astype(np.float16) * np.float16(8) for _ in range(2))
    with np.errstate(all="ignore"):
        np.testing.assert_array_equal(called(name, a, b), TWO[name](a.astype(np.float64), b).astype(np.float16))


@pytest.mark.parametrize("name", ONE)
def test_one(name):
    x = np.linspace(0.1, 4, 800).astype(np.float16)
    wanted = ONE[name](x.astype(np.float64)).astype(np.float16)
    np.testing.assert_array_max_ulp(called(name, x), wanted, 1, np.float16)


def test_comparisons_and_nan():
    a, b = np.array([1, 1, 2, math.nan, 1]), np.array([2, 1, 1, 1, math.nan])
    truth = {name: called(name, a, b).astype(bool).tolist() for name in ("heq", "hne", "hge", "hgt", "hle", "hlt")}
    assert truth["heq"] == [False, True, False, False, False]
    assert truth["hne"] == [True, False, True, False, False]
    assert truth["hge"] == [False, True, True, False, False]
    assert truth["hgt"] == [False, False, True, False, False]
    assert truth["hle"] == [True, True, False, False, False]
    assert truth["hlt"] == [True, False, False, False, False]
    assert called("hmax", a, b).tolist() == [2, 1, 2, 1, 1]
    assert called("hmin", a, b).tolist() == [1, 1, 1, 1, 1]


@cuda.jit
def staged(x, out):
    tile = cuda.shared.array(32, np.float16)
    t = cuda.threadIdx.x
    tile[t] = x[t]
    cuda.syncthreads()
    out[t] = tile[31 - t] * tile[31 - t]


def test_storage_in_shared_memory_rounds_and_counts_two_bytes():
    x = np.linspace(0, 3, 32).astype(np.float32)
    out = np.zeros(32, np.float16)
    report = xray(staged, 1, 32)(x, out)
    kept = x.astype(np.float16)[::-1]
    np.testing.assert_array_equal(out, kept * kept)
    store = next(e for e in report.expressions if e.array == "out")
    assert store.bytes_used == 64
    with pytest.raises(simt.KernelError, match="float16"):
        simt.compiled.run(staged, 1, 32, [x, out])
