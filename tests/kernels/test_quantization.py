"""Quantisation: what test_operations.py cannot know of it. All codes, all numbers of 16 bits, ties; what other
libraries make of them; errors of half a step; bytes that move."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from scipy.stats import norm

import dlkernels
from dlkernels import cuda, implementations
from dlkernels.quantization import FORMATS, gpu_int4, pack, reference, unpack
from simt.xray import xray

from . import float8_codes as others
from .float8_codes import KINDS, patterns, ties

f32 = np.float32
SAYS = others.recorded()
FLOAT8 = ("e4m3", "e5m2")
RUNGS = [pytest.param(rung, id=rung.name) for rung in implementations.of("quantize", "cpu")]
BACK = [pytest.param(rung, id=rung.name) for rung in implementations.of("dequantize", "cpu")]


# ---- all there is ----------------------------------------------------------------------------------------------------


def same_codes(found, kept, x):
    """Of what is no number the sign is not compared: x86 makes such a float32 of float16 with its sign, others may
    not."""
    missing = np.isnan(x)
    np.testing.assert_array_equal(found[~missing], kept[~missing])
    np.testing.assert_array_equal(found[missing] & 0x7F, kept[missing] & 0x7F)


@pytest.mark.parametrize("rung", RUNGS)
@pytest.mark.parametrize("name", FLOAT8)
def test_every_number_of_16_bits_has_the_code_of_ml_dtypes(rung, name):
    for kind in KINDS:
        x = patterns(kind)
        same_codes(rung(x, 1.0, None, name), others.unpacked(SAYS["codes"][name][kind]), x)
    x = ties(name)
    same_codes(rung(x, 1.0, None, name), others.unpacked(SAYS["ties"][name]), x)


@pytest.mark.parametrize("name", FLOAT8)
def test_the_reference_agrees(name):
    for x, kept in [(patterns(kind), SAYS["codes"][name][kind]) for kind in KINDS] + [(ties(name), SAYS["ties"][name])]:
        with np.errstate(invalid="ignore"):
            same_codes(reference.quantize(x, 1.0, None, name), others.unpacked(kept), x)


@pytest.mark.parametrize("rung", RUNGS)
@pytest.mark.parametrize("name", FORMATS)
@pytest.mark.parametrize("kind", KINDS)
def test_every_number_of_16_bits_has_the_code_of_the_reference(rung, name, kind):
    """A scale of 1/4 divides without rounding but at the very ends: codes are equal."""
    x = patterns(kind)
    with np.errstate(all="ignore"):
        found, expected = (way(x, 0.25, None, name) for way in (rung, reference.quantize))
    np.testing.assert_array_equal(found, expected)


@pytest.mark.parametrize("rung", BACK)
@pytest.mark.parametrize("name", FORMATS)
def test_every_code_is_the_number_that_it_stands_for(rung, name):
    form = FORMATS[name]
    codes = np.arange(256, dtype=np.uint8).view(form.dtype)
    found = rung(codes, 1.0, None, name)
    if name in FLOAT8:
        expected = np.array([float(v) for v in SAYS["values"][name]])
    elif form.packed:
        numbers = np.array([codes & 15, codes >> 4]).T.reshape(-1)
        expected = form.levels[numbers] if name == "nf4" else (numbers ^ 8).astype(int) - 8
    else:
        expected = codes.astype(float)
    np.testing.assert_array_equal(found, expected)
    known = ~np.isnan(expected)
    np.testing.assert_array_equal(np.signbit(found[known]), np.signbit(expected[known]))


@pytest.mark.parametrize("name", FORMATS)
def test_a_number_that_has_a_code_comes_back(name):
    """All codes but NaN and infinity; there and back, on the CPU and on the GPU."""
    form = FORMATS[name]
    codes = np.arange(256, dtype=np.uint8)
    if name in FLOAT8:
        codes = codes[np.isfinite(form.levels)]
    codes = codes.view(form.dtype)
    x = dlkernels.dequantize(codes, 0.5, None, name)
    np.testing.assert_array_equal(dlkernels.quantize(x, 0.5, None, name), codes)
    there = cuda.to_device(x)
    np.testing.assert_array_equal(dlkernels.quantize(there, 0.5, None, name).copy_to_host(), codes)


@pytest.mark.parametrize("name", FLOAT8)
def test_ties_on_a_gpu(name):
    x = ties(name)
    for rung in implementations.of("quantize", "gpu"):
        same_codes(rung(x, 1.0, None, name), others.unpacked(SAYS["ties"][name]), x)


def test_nf4_is_made_of_quantiles():
    """Dettmers and others (2023), section 3: a half of the levels from each side, and 0; the largest is 1."""
    most = (1 - 1 / 32 + 1 - 1 / 30) / 2  # halfway between the last of 16 and of 15 equal parts
    upper, lower = norm.ppf(np.linspace(most, 0.5, 9)[:-1]), -norm.ppf(np.linspace(most, 0.5, 8)[:-1])
    levels = np.sort(np.concatenate([upper, [0.0], lower]))
    np.testing.assert_allclose(FORMATS["nf4"].levels, levels / levels.max(), atol=2e-7)


# ---- as PyTorch ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("rung", RUNGS)
def test_whole_numbers_are_those_of_pytorch(rung):
    """On x86 it adds the zero point before it rounds: with an odd one ties go the other way. fake_quantize adds it
    after."""
    x, of = others.numbers(), SAYS["quantized"]
    np.testing.assert_array_equal(rung(x, 0.5, -4, "int8"), of["int8"])
    np.testing.assert_array_equal(rung(x, 0.5, 100, "uint8"), of["uint8"])
    steps = np.array([0.25, 0.5, 1.0], f32), np.array([6, -14, 0], np.int32)
    np.testing.assert_array_equal(rung(x[:1200].reshape(3, 400), *steps, "int8", 0), of["int8 rows"])
    np.testing.assert_array_equal(rung(np.full(9, np.nan, f32), 0.5, None, "int8"), of["nan"])


@pytest.mark.parametrize(
    "rung", [pytest.param(rung, id=rung.name) for rung in implementations.of("fake_quantize", "cpu")]
)
def test_fake_quantize_is_that_of_pytorch(rung):
    backward = next(r for r in implementations.of("fake_quantize_backward", "cpu") if r.name[-5:] == rung.name[-5:])
    x = others.numbers()
    rows = x[:1200].reshape(3, 400), np.array([0.25, 0.5, 1.0], f32), np.array([3, -7, 0], np.int32), -128, 127, 0
    calls = {"tensor": (x, 0.5, -3), "four": (x, 0.5, None, -8, 7), "nan": (x * f32(np.nan), 0.5, -3), "rows": rows}
    for name, call in calls.items():
        says = SAYS[f"fake {name}"]
        np.testing.assert_array_equal(rung(*call), np.array(says["result"], f32), err_msg=name)
        np.testing.assert_array_equal(backward(np.ones_like(call[0]), *call), says["gradient"], err_msg=name)


# ---- errors of half a step -------------------------------------------------------------------------------------------

NUMBERS = st.floats(-1e4, 1e4, width=32)


@settings(max_examples=60, deadline=None)
@given(arrays(f32, st.tuples(st.integers(1, 4), st.integers(1, 40)), elements=NUMBERS), st.sampled_from(list(FORMATS)))
def test_the_error_is_half_a_step(x, name):
    """With the scales that choose_qparams finds nothing is clipped: not beyond half a step, of what steps there are."""
    form = FORMATS[name]
    for affine in (False, True):
        if (affine and not form.whole) or (name == "uint8" and not affine):
            continue
        for kind in ({}, {"axis": 0}, {"group_size": 6}):
            scale, zero = dlkernels.choose_qparams(x, name, **kind, symmetric=not affine)
            rest = {"length": x.shape[1]} if form.packed else {}
            codes = dlkernels.quantize(x, scale, zero, name, **kind)
            back = dlkernels.dequantize(codes, scale, zero, name, **kind, **rest)
            steps = np.broadcast_to(reference.spread(scale, x.shape, **kind), x.shape).astype(np.float64)
            if form.whole:
                half = steps * (0.5 if not affine else 1.0)  # a zero point that is rounded may clip another half
            elif name == "nf4":
                half = steps * np.diff(form.levels).max() / 2
            else:
                least = 2.0 ** (1 - form.bias - form.fraction)
                half = np.maximum(np.abs(x) * 2.0 ** -(form.fraction + 1), steps * least / 2)
            assert (np.abs(back - x.astype(np.float64)) <= half * (1 + 1e-5) + 1e-5 * np.abs(x)).all(), (name, kind)


@settings(max_examples=40, deadline=None)
@given(arrays(f32, st.tuples(st.integers(1, 5), st.integers(1, 30)), elements=NUMBERS), st.booleans())
def test_zero_comes_back_as_zero(x, symmetric):
    """Where numbers that are 0 are many, as behind a ReLU or in padding, an error there would be everywhere."""
    x[:, ::3] = 0
    for kind in ({}, {"axis": 1}, {"group_size": 4}):
        scale, zero = dlkernels.choose_qparams(x, "int8", **kind, symmetric=symmetric)
        back = dlkernels.dequantize(dlkernels.quantize(x, scale, zero, "int8", **kind), scale, zero, "int8", **kind)
        assert (back[:, ::3] == 0).all()


@settings(max_examples=60, deadline=None)
@given(st.data())
def test_packed_codes_come_back(data):
    shape = (*data.draw(st.lists(st.integers(0, 4), max_size=2)), data.draw(st.integers(0, 9)))
    codes = data.draw(arrays(np.int8, shape, elements=st.integers(-8, 7)))
    bytes = pack(codes)
    assert bytes.dtype == np.uint8
    assert bytes.shape == (*shape[:-1], (shape[-1] + 1) // 2)
    np.testing.assert_array_equal(unpack(bytes, shape[-1]), codes)
    np.testing.assert_array_equal(unpack(bytes, shape[-1], signed=False), codes & 15)
    if shape[-1] % 2:
        assert not (bytes[..., -1] >> 4).any()
    np.testing.assert_array_equal(dlkernels.quantize(codes.astype(f32), 1.0, None, "int4"), bytes)
    back = dlkernels.dequantize(bytes, 1.0, None, "int4", length=shape[-1])
    np.testing.assert_array_equal(back, codes)


def test_what_lies_outside_goes_to_the_end():
    x = np.array([np.inf, -np.inf, 3e38, -3e38, 0.0, -0.0, np.nan], f32)
    ends = {
        "int8": (127, -128, 0, 0),
        "uint8": (255, 0, 0, 0),
        "e4m3": (0x7E, 0xFE, 0, 0x80),
        "e5m2": (0x7B, 0xFB, 0, 0x80),
    }
    missing = {"int8": 127, "uint8": 255, "e4m3": 0x7F, "e5m2": 0x7E}
    for rung in [*implementations.of("quantize", "cpu"), *implementations.of("quantize", "gpu")]:
        for name, (high, low, zero, negative) in ends.items():
            found = rung(x, 1.0, None, name).tolist()
            assert found == [high, low, high, low, zero, negative, missing[name]], (rung.name, name)
        assert unpack(rung(x, 1.0, None, "int4"), 7).tolist() == [7, -8, 7, -8, 0, 0, 7]
        assert unpack(rung(x, 1.0, None, "nf4"), 7, signed=False).tolist() == [15, 0, 15, 0, 7, 7, 0]


def test_who_lets_numpy_raise_at_an_underflow_can_quantize():
    with np.errstate(all="raise"):
        assert dlkernels.quantize(np.ones(3, f32), 0.5).tolist() == [2, 2, 2]


# ---- wrong arguments -------------------------------------------------------------------------------------------------

X, S = np.ones((4, 6), f32), np.ones(4, f32)
WRONG = {
    "quantize": [
        ((X.astype(np.float64), 1.0), TypeError, "input has dtype float64; expected float32"),
        ((X, 1.0, None, "int3"), ValueError, "dtype is 'int3'; expected one of 'int8'"),
        ((X, -1.0), ValueError, "scale has numbers from -1.0 to -1.0; expected positive numbers"),
        ((X, np.array([1, np.nan, 1, 1], f32), None, "int8", 0), ValueError, "expected positive numbers"),
        ((X, S), ValueError, r"scale has shape \(4,\); expected \(\)"),
        ((X, 1.0, None, "int8", 0), TypeError, r"scale is one number; expected an array of float32 of shape \(4,\)"),
        ((X, S, None, "int8", 2), ValueError, "axis is 2; expected a number from -2 to 1"),
        ((X, S, None, "int8", 0, 3), ValueError, "axis is 0 and group_size is 3; expected one of them at most"),
        ((X, 1.0, 300, "int8"), ValueError, "zero_point has numbers from 300 to 300; expected numbers from -128 to 127"),
        ((X, 1.0, 1, "e4m3"), ValueError, "zero_point is given; expected None"),
        ((X, 1.0, 0.5), TypeError, "zero_point is 0.5; expected a whole number"),
        ((np.ones((), f32), 1.0, None, "int4"), ValueError, "input is a single number; expected an array"),
    ],
    "dequantize": [
        ((np.zeros(4, np.uint8), 1.0), TypeError, "codes has dtype uint8; expected int8"),
        ((np.zeros(4, np.uint8), 1.0, None, "int4", None, None, 5), ValueError, "length is 5; expected a number from 7 to 8"),
        ((np.zeros(4, np.int8), 1.0, None, "int8", None, None, 4), ValueError, "length is 4; expected None"),
    ],
    "choose_qparams": [
        ((X, "uint8"), ValueError, "symmetric is True and dtype is 'uint8', whose zero lies at its end"),
        ((X, "nf4", None, None, False), ValueError, "symmetric is False; expected True: nf4 has no zero point"),
        ((X, "int8", None, 0), ValueError, "group_size is 0; expected a number of at least 1"),
    ],
    "fake_quantize": [
        ((X, 1.0, None, 3, 2), ValueError, "quant_min is 3 and quant_max is 2; expected quant_min <= quant_max"),
        ((X, 1.0, 9, 0, 7), ValueError, "zero_point has numbers from 9 to 9; expected numbers from 0 to 7"),
    ],
    "linear_int4": [
        ((X, np.zeros((2, 2), np.uint8), np.ones((2, 1), f32)), ValueError, r"weight has shape \(2, 2\) and input has shape"),
        ((X, np.zeros((2, 3), np.uint8), np.ones((2, 2), f32), None, None, 3), ValueError, "group_size is 3; expected an even"),
        ((X, np.zeros((2, 3), np.uint8), np.ones((2, 2), f32)), ValueError, r"scale has shape \(2, 2\); expected \(2, 1\)"),
    ],
}  # fmt: skip


@pytest.mark.parametrize("name", WRONG)
def test_a_wrong_argument_ends_in_a_sentence(name):
    for arguments, kind, words in WRONG[name]:
        with pytest.raises(kind, match=words):
            getattr(dlkernels, name)(*arguments)


# ---- bytes that move -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["thread", "warp", "wide"])
def test_four_bits_a_weight_are_what_moves(name):
    """A warp that reads neighbouring bytes moves each byte of the weight once; threads a row apart a sector for each
    byte."""
    outputs, inputs, group = 32, 256, 64
    draw = np.random.default_rng(1)
    x, weight = draw.standard_normal(inputs).astype(f32), draw.integers(0, 256, (outputs, inputs // 2), np.uint8)
    scale, out = np.full((outputs, inputs // group), 0.5, f32), np.zeros(outputs, f32)
    launch = ((1, 1), 32) if name == "thread" else ((outputs // 8, 1), (32, 8))
    lines = x, weight.reshape(-1), scale.reshape(-1), np.zeros(1, np.int32), np.zeros(1, f32)
    report = xray(getattr(gpu_int4, f"{name}_kernel"), *launch)(
        *lines, inputs, 1, inputs // group, 6 if name == "wide" else group, out
    )
    expected = reference.linear_int4(x, weight, scale, group_size=group)
    np.testing.assert_allclose(out, expected, rtol=1e-4, atol=1e-3)
    assert report.ok, str(report)
    sectors = sum(e.sectors for e in report.expressions if (e.space, e.array) == ("global", "weight"))
    bytes_of_weight = weight.size  # half of the weights
    assert sectors == (inputs * outputs if name == "thread" else bytes_of_weight // 32)
