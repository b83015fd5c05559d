"""Layers on codes of 8 bits: what their examples do not reach.

That every rung is right at all sizes, layouts and dtypes is tested from the examples, in test_operations.py.
"""

import itertools
import json
import os
import subprocess
import sys

import numpy as np
import pytest
from llvmlite import ir
from numba import njit, types
from numba.extending import intrinsic

from dlkernels import PackedWeight, conv2d_int8, cuda, implementations, linear_int8
from dlkernels.device import name as device_name
from dlkernels.integer import gpu_conv2d, gpu_linear, reference
from dlkernels.integer.codes import longest
from dlkernels.integer.dp4a import dot_of_codes
from dlkernels.simd import has
from dlkernels.simd.vector import call_llvm
from simt import xray

from . import torch_integer
from .checks import check, on_device

EXECUTOR = pytest.mark.skipif(device_name != "executor", reason="about what stands in for a GPU")
COMPILER = pytest.mark.skipif(not xray.available(), reason="the compiler for GPUs is not installed: run `make gpu`")
LINEAR = implementations.of("linear_int8", "cpu")
CONV2D = implementations.of("conv2d_int8", "cpu")
RECORD = json.loads(torch_integer.FILE.read_text(encoding="utf-8"))["rows"]


def by_name(row):
    return row.name


# ---- beside PyTorch --------------------------------------------------------------------------------------------------


def ours(case):
    arguments = torch_integer.layer(case)
    return (linear_int8 if case["kind"] == "linear" else conv2d_int8)(*arguments)


def differences(case, engine):
    theirs = torch_integer.kept(case, engine).astype(int)
    return np.abs(ours(case).astype(int) - theirs)


@pytest.mark.quick
def test_codes_are_those_of_pytorch():
    """FBGEMM's to the bit; oneDNN's within one, and nearly all the same."""
    plain = [case for case in RECORD if case["kind"] != "depthwise"]
    assert {case["kind"] for case in plain} == {"linear", "conv2d"}
    for case in plain:
        assert not differences(case, "fbgemm").any(), case
    found = np.concatenate([differences(case, "onednn").reshape(-1) for case in plain])
    assert found.max() <= 1
    assert np.count_nonzero(found) <= found.size / 1000


def test_a_record_of_codes_that_mean_something():
    """Most lie between the limits."""
    codes = np.concatenate([torch_integer.kept(case, "fbgemm").reshape(-1) for case in RECORD])
    assert np.mean((codes > 0) & (codes < 255)) > 0.6
    assert len(np.unique(codes)) == 256


def test_sixteen_bits_saturate_in_a_depthwise_layer_of_fbgemm():
    """With codes of full range it is far off; with inputs of 7 bits, and by oneDNN, it is right."""
    full, reduced = (case for case in RECORD if case["kind"] == "depthwise")
    assert (full["bits"], reduced["bits"]) == (8, 7)
    assert differences(full, "fbgemm").max() > 10
    assert differences(full, "onednn").max() <= 1
    assert differences(reduced, "fbgemm").max() <= 1


# ---- 16 bits, and 32 -------------------------------------------------------------------------------------------------


@intrinsic
def saturating(typingctx, unsigned, signed, out):
    """vpmaddubsw of the first 16 codes of each."""

    def emit(context, builder, signature, arguments):
        data = [
            context.make_array(kind)(context, builder, value).data
            for kind, value in zip(signature.args, arguments, strict=True)
        ]
        codes, sums = ir.VectorType(ir.IntType(8), 16), ir.VectorType(ir.IntType(16), 8)
        a, b = (builder.load(builder.bitcast(one, codes.as_pointer()), align=1) for one in data[:2])
        pairs = call_llvm(builder, "x86.ssse3.pmadd.ub.sw.128", sums, [a, b])
        builder.store(pairs, builder.bitcast(data[2], sums.as_pointer()), align=1)
        return context.get_dummy_value()

    return types.none(unsigned, signed, out), emit


@pytest.mark.skipif(not has("ssse3"), reason="the instruction is one of x86")
def test_vpmaddubsw_saturates_as_the_reference_says():
    @njit
    def multiply(unsigned, signed, out):
        saturating(unsigned, signed, out)

    unsigned = np.array([255, 255, 255, 1, 0, 7, 255, 128] * 2, np.uint8)
    signed = np.array([127, 127, -128, -128, 127, -3, 127, -128] * 2, np.int8)
    out = np.empty(8, np.int16)
    multiply(unsigned, signed, out)
    np.testing.assert_array_equal(out, reference.saturating_pairs(unsigned, signed))
    exact = (unsigned.astype(int) * signed).reshape(-1, 2).sum(axis=1)
    assert (out[0], exact[0]) == (32767, 64770)
    assert np.count_nonzero(out != exact) == 2


@pytest.mark.parametrize("zeros", [False, True], ids=["symmetric", "with zero points"])
@pytest.mark.parametrize("row", LINEAR, ids=by_name)
def test_the_longest_sums_fit(row, zeros):
    """All codes at the ends that make the largest sums, on both sides, and as many as are allowed."""
    terms = longest(zeros)
    for sign, input_zero in itertools.product((-1, 1), (0, 255)):
        x = np.full((2, terms), 255 - input_zero, np.uint8)
        weight = np.full((3, terms), 127 if sign > 0 else -128, np.int8)
        zero = (-128 if sign > 0 else 127) if zeros else 0
        arguments = x, weight, None, 1.0, input_zero, 1.0, zero, None, 0, None
        sums = (x.astype(int) - input_zero) @ (weight.astype(int) - zero).T
        assert np.abs(sums).max() > (2**31 - 1) * (0.99 if zeros or sign < 0 else 0.98)
        check(row, implementations.OPERATIONS["linear_int8"], arguments)


def test_longer_sums_are_refused():
    for zeros in (0, 1):
        terms = longest(bool(zeros)) + 1
        x, weight = np.zeros((1, terms), np.uint8), np.zeros((1, terms), np.int8)
        with pytest.raises(
            ValueError, match=rf"the sum of {terms} products, which might exceed 32 bits; expected at most {terms - 1}"
        ):
            linear_int8(x, weight, weight_zero_point=zeros)
    assert (longest(False), longest(True)) == (65793, 33025)
    assert (longest(False) + 1) * 255 * 128 > 2**31 - 1
    assert (longest(True) + 1) * 255 * 255 > 2**31 - 1


# ---- rounding --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("row", LINEAR, ids=by_name)
def test_ties_go_to_even_and_limits_hold(row):
    x = np.arange(256, dtype=np.uint8)[:, None]
    one = np.ones((1, 1), np.int8)
    got = row(x, one, None, 1.0, 100, 0.5, 0, 1.0, 3)  # halves
    np.testing.assert_array_equal(got[:, 0], np.clip(np.rint((np.arange(256) - 100) / 2) + 3, 0, 255))
    got = row(x, one, None, 1.0, 100, 4.0, 0, 1.0, 3)
    assert (got.min(), got.max()) == (0, 255)
    got = row(x, one, None, 1.0, 100, 1.0, 0, 1.0, 30, "relu")
    np.testing.assert_array_equal(got[:, 0], np.clip(np.arange(256) - 70, 30, 255))


def test_a_code_is_at_most_one_off_the_real_number():
    """The reference rounds each step to float32; the same in float64 differs next to ties alone."""
    for seed in range(6):
        x, weight, bias, *rest = implementations.OPERATIONS["linear_int8"].examples.make(
            (40, 300, 200), seed, dtype="uint8"
        )
        rest[4] = rest[4] or 1.0
        got = reference.linear_int8(x, weight, bias, *rest)
        real = reference.linear_int8(x, weight, bias, *rest[:4], None, 0, rest[6]) / np.float64(np.float32(rest[4]))
        exact = np.clip(np.rint(real) + rest[5], 0, 255)
        assert np.abs(got - exact).max() <= 1
        assert np.mean(got != exact) < 1e-3


# ---- packed weights, ways of going -----------------------------------------------------------------------------------


def test_a_packed_weight_gives_the_same():
    for seed, shape in enumerate([(9, 70, 50), (1, 5, 3), (40, 64, 33)]):
        arguments = implementations.OPERATIONS["linear_int8"].examples.make(shape, seed, dtype="int8")
        layer = PackedWeight(arguments[1])
        for row in LINEAR:
            np.testing.assert_array_equal(row(arguments[0], layer, *arguments[2:]), linear_int8(*arguments))
    for seed, shape in enumerate([(2, 9, 17, 30, 33, 3), (1, 2, 2, 5, 7, 3)] * 4):
        arguments = implementations.OPERATIONS["conv2d_int8"].examples.make(shape, seed, dtype="uint8")
        layer = PackedWeight(arguments[1], arguments[6])
        np.testing.assert_array_equal(conv2d_int8(arguments[0], layer, *arguments[2:]), conv2d_int8(*arguments))


def test_a_packed_weight_is_a_copy_and_says_what_it_is():
    weight = np.ones((3, 5), np.int8)
    layer, x = PackedWeight(weight), np.ones((2, 5), np.uint8)
    weight[:] = 9
    np.testing.assert_array_equal(linear_int8(x, layer), 5)
    assert repr(layer) == "PackedWeight of shape (3, 5)"
    assert repr(PackedWeight(np.ones((4, 1, 3, 3), np.int8), 2)) == "PackedWeight of shape (4, 1, 3, 3), 2 groups"


@pytest.mark.parametrize("shape", [(0, 5), (0, 0), (3, 0)], ids=str)
def test_a_packed_weight_may_be_empty_as_others_may(shape):
    weight, x = np.ones(shape, np.int8), np.ones((4, shape[1]), np.uint8)
    np.testing.assert_array_equal(linear_int8(x, PackedWeight(weight)), linear_int8(x, weight), strict=True)


FALLBACK = """
import sys
from dlkernels import implementations
from dlkernels.integer import words
sys.path.insert(0, {root!r})
from tests.kernels.checks import check
assert not words.DOT4
for name in ("linear_int8", "conv2d_int8"):
    operation = implementations.OPERATIONS[name]
    row = implementations.of(name, "cpu")[-1]
    for seed, shape in enumerate([*operation.examples.shapes, *operation.examples.large[:2]]):
        check(row, operation, operation.examples.make(shape, seed, dtype="uint8"))
print("the same")
"""


@pytest.mark.slow
@pytest.mark.skipif(not has("avx2"), reason="the other processor is one of x86")
def test_a_processor_without_the_instruction_has_the_same_codes(request):
    root = str(request.config.rootpath)
    older = {"NUMBA_CPU_NAME": "haswell", "NUMBA_CPU_FEATURES": "+avx,+avx2,+fma"}
    command = [sys.executable, "-c", FALLBACK.format(root=root)]
    done = subprocess.run(command, env={**os.environ, **older}, capture_output=True, text=True, check=False)
    assert done.stdout == "the same\n", done.stderr


@pytest.mark.parametrize("stride", [1, 2, 3, 7])
@pytest.mark.parametrize("dilation", [1, 2, 5])
@pytest.mark.parametrize("groups", [1, 3, "depthwise"])
def test_planes_for_all_strides_and_dilations(stride, dilation, groups):
    """Which pixels are neighbours in the planes depends on these; sizes are ragged, padding is odd and even."""
    draw = np.random.default_rng(stride + 10 * dilation)
    groups = 12 if groups == "depthwise" else groups
    for kernel, padding in (
        ((3, 3), 1),
        ((1, 5), (0, 2)),
        ((2, 7), (3, 4)),
        ((1, 1), (0, 2)),
        ((5, 1), "valid"),
        ((2, 2), 4),
    ):
        x = draw.integers(-128, 128, (2, 12, 31, 37)).astype(np.int8)
        weight = draw.integers(-128, 128, (24, 12 // groups, *kernel)).astype(np.int8)
        arguments = x, weight, None, stride, padding, dilation, groups, 0.1, -7, 0.01, 0, 1.5, 4, None
        for row in CONV2D[-2:]:
            check(row, implementations.OPERATIONS["conv2d_int8"], arguments)


# ---- wrong arguments -------------------------------------------------------------------------------------------------

X, W = np.zeros((2, 6), np.uint8), np.zeros((3, 6), np.int8)
P, K = np.zeros((1, 4, 5, 5), np.uint8), np.zeros((6, 2, 3, 3), np.int8)
WRONG = [
    (lambda: linear_int8(X.astype(np.float32), W), TypeError, "input has dtype float32; expected uint8 or int8"),
    (lambda: linear_int8(X, W.view(np.uint8)), TypeError, "weight has dtype uint8; expected int8"),
    (lambda: linear_int8(X, W[:, :5]), ValueError, r"weight has shape \(3, 5\) and input has shape \(2, 6\); expected"),
    (lambda: linear_int8(X, W, np.zeros(2, "f")), ValueError, r"bias has shape \(2,\); expected \(3,\)"),
    (lambda: linear_int8(X, W, np.zeros(3)), TypeError, "bias has dtype float64; expected float32"),
    (lambda: linear_int8(X, W, None, 0.0), ValueError, "input_scale is 0.0; expected a number above 0"),
    (lambda: linear_int8(X, W, None, float("nan")), ValueError, "input_scale is nan"),
    (lambda: linear_int8(X, W, None, [1.0]), TypeError, "input_scale is a list; expected a number"),
    (
        lambda: linear_int8(X, W, None, 1.0, -1),
        ValueError,
        "input_zero_point is -1; expected a code of uint8, 0 to 255",
    ),
    (lambda: linear_int8(X, W, None, 1.0, 0.5), TypeError, "input_zero_point is 0.5; expected a whole number"),
    (lambda: linear_int8(X, W, None, 1.0, True), TypeError, "input_zero_point is True; expected a whole number"),
    (
        lambda: linear_int8(X, W, weight_scale=np.array([1, 0, 1], "f")),
        ValueError,
        "weight_scale has elements that are",
    ),
    (
        lambda: linear_int8(X, W, None, 1e-30, 0, 1e-30),
        ValueError,
        "in output channel 0 input_scale [*] weight_scale is",
    ),
    (
        lambda: linear_int8(X, W, None, 1e10, 0, np.array([1, 1, 1e20], "f"), 0, 1e-20),
        ValueError,
        "in output channel 2 .* expected numbers that float32 can hold",
    ),
    (lambda: conv2d_int8(P, K, groups=2, input_scale=1e30, weight_scale=1e30), ValueError, "in output channel 0"),
    (lambda: linear_int8(X, W, weight_scale=np.ones(4, "f")), ValueError, r"weight_scale has shape \(4,\)"),
    (lambda: linear_int8(X, W, weight_zero_point=200), ValueError, "weight_zero_point is 200; expected a code of int8"),
    (
        lambda: linear_int8(X, W, weight_zero_point=np.full(3, 200, np.int32)),
        ValueError,
        "weight_zero_point has elements beyond the codes of int8",
    ),
    (lambda: linear_int8(X, W, output_scale=-1.0), ValueError, "output_scale is -1.0; expected a number above 0"),
    (lambda: linear_int8(X, W, output_scale=1.0, output_zero_point=256), ValueError, "output_zero_point is 256"),
    (lambda: linear_int8(X, W, activation="gelu"), ValueError, "activation is 'gelu'; expected None or 'relu'"),
    (lambda: conv2d_int8(P[0, 0], K, groups=2), ValueError, r"input has shape \(5, 5\); expected \(batch"),
    (lambda: conv2d_int8(P, K), ValueError, r"input has 4 channels, weight has shape \(6, 2, 3, 3\) and groups is 1"),
    (lambda: conv2d_int8(P, K, groups=1.0), TypeError, "groups is 1.0; expected a whole number"),
    (lambda: conv2d_int8(P, K[0], groups=2), ValueError, r"weight has shape \(2, 3, 3\); expected \(out_channels"),
    (lambda: conv2d_int8(P, PackedWeight(K), groups=2), ValueError, "packed for 1 groups and groups is 2"),
    (lambda: PackedWeight(K, 4), ValueError, r"weight has shape \(6, 2, 3, 3\) and groups is 4; expected"),
    (lambda: PackedWeight(on_device(K)), ValueError, "weight is in device memory; expected host memory"),
    (lambda: linear_int8(on_device(X), PackedWeight(W)), ValueError, "in device memory, but weight in host memory"),
]


@pytest.mark.quick
@pytest.mark.parametrize("wrong", range(len(WRONG)))
def test_wrong_arguments_end_in_a_sentence(wrong):
    call, error, words = WRONG[wrong]
    with pytest.raises(error, match=words):
        call()


# ---- on the GPU ------------------------------------------------------------------------------------------------------


@cuda.jit
def dots_kernel(x, w, totals):
    k = cuda.grid(1)
    if k < totals.size:
        totals[k] = dot_of_codes(x[k], w[k], totals[k])


@pytest.mark.parametrize("engine", ["executor", "compiled"] if device_name == "executor" else ["auto"])
def test_dp4a_multiplies_codes_without_a_sign_by_codes_with_one(engine):
    draw = np.random.default_rng(1)
    x, w = draw.integers(0, 256, (70, 4)).astype(np.uint8), draw.integers(-128, 128, (70, 4)).astype(np.int8)
    x[:2], w[0], w[1] = 255, 127, -128
    start = draw.integers(-(2**31), 2**31, 70).astype(np.int32)
    start[0] = 2**31 - 1  # the sum wraps around
    expected = (start.astype(np.int64) + (x.astype(int) * w).sum(axis=1)).astype(np.int32)
    totals = start.copy()
    with cuda.engine(engine) if engine != "auto" else cuda.defer_cleanup():
        dots_kernel[2, 64](x.view(np.uint32)[:, 0], w.view(np.uint32)[:, 0], totals)
    np.testing.assert_array_equal(totals, expected)


@COMPILER
@pytest.mark.parametrize(("module", "least"), [(gpu_linear, 16), (gpu_conv2d, 16)], ids=["linear", "conv2d"])
def test_the_compiler_makes_the_instruction_of_it(module, least):
    view = xray.compiled(module.tile_kernel(True), (module._words)(True)[0], "sm_80")
    assert view.sass.count("IDP.4A.U8.S8") >= least
    assert not view.spills
    assert not view.stack_bytes, "a local array did not fit into registers"


def traffic(kernel, grid, words):
    """The x-ray of a linear layer of 64 x 64 results, 64 terms, by one of its kernels."""
    draw = np.random.default_rng(2)
    x, weight = draw.integers(0, 256, (64, 64)).astype(np.uint8), draw.integers(0, 256, (64, 64)).astype(np.uint8)
    out, channels = np.zeros((64, 64), np.uint8), (np.zeros(64, "f"), np.ones(64, "f"), np.zeros(64, np.int32))
    q = np.float32(1), np.int32(3), np.int32(0), np.float32(9000), np.int32(128), np.float32(-128), np.float32(127)
    signed = weight.view(np.int8).astype(int)
    if words:
        sums = signed.sum(axis=1).astype(np.int32)
        given = x.view(np.uint32), weight.view(np.uint32), sums, np.zeros(64, np.int32), np.uint32(0)
    else:
        given = x, weight
    report = xray.xray(kernel, grid, (16, 16))(*given, *channels, out, *q)
    sums = (x.astype(int) - 3) @ signed.T
    expected = np.clip(np.rint(sums.astype(np.float32) * (np.float32(1) / np.float32(9000))) + 128, 0, 255)
    np.testing.assert_array_equal(out, expected)
    assert report.ok, str(report)
    return report.total


@EXECUTOR
@pytest.mark.rotates
def test_words_ask_a_quarter_as_often_and_tiles_move_little():
    bytes_, words, tile = (
        traffic(module(True), grid, number > 0)
        for number, (module, grid) in enumerate(
            [(gpu_linear.one_per_output_kernel, (4, 4)), (gpu_linear.words_kernel, (4, 4)), (gpu_linear.tile_kernel, 1)]
        )
    )
    warps = 64 * 64 // 32
    of_channels = 3 * warps  # bias, scale, zero point: once for each warp
    assert bytes_["global_load_requests"] == warps * (2 * 64 + 64) + 2 * warps  # the zero point is read for each term
    assert words["global_load_requests"] == warps * 2 * 16 + of_channels + 2 * warps
    assert tile["global_load_requests"] == 2 * 2 * 8 * 2 + of_channels + 2 * warps
    # A warp stores four rows of eight words, of which three meet the banks of the first row; no load has a conflict.
    assert tile["bank_conflicts"] == tile["shared_store_requests"] == 8 * 2 * 2 * 2
    assert tile["barriers"] == 2 * 2
