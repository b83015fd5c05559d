"""Convolutions on a GPU: what they load and how often, derived first and then counted; that the compiler keeps their
tiles in registers; which rung is chosen.

That every rung is right at all sizes and layouts is tested from the examples, in test_operations.py.
"""

import contextlib

import numpy as np
import pytest

from dlkernels import conv2d, conv2d_half, cuda, implementations
from dlkernels.convolution import (
    geometry,
    gpu,
    gpu_backward,
    gpu_backward_gemm,
    gpu_backward_weights,
    gpu_choose,
    gpu_depthwise,
    gpu_gemm,
    reference,
)
from dlkernels.device import name as device_name
from dlkernels.tensor_cores import KINDS
from simt import xray

from . import torch_references as torch_says
from .checks import on_device

pytestmark = pytest.mark.rotates(whole=True)  # what a function's cases compile is compiled on one day

COMPILER = pytest.mark.skipif(not xray.available(), reason="the compiler for GPUs is not installed: run `make gpu`")
EXECUTOR = pytest.mark.skipif(device_name != "executor", reason="about what stands in for a GPU")
ARCHITECTURES = ("sm_75", "sm_80", "sm_90")
WARP = 32
f32 = np.float32


def whole(*shape, seed=1, dtype=f32):
    """Small whole numbers: all sums are exact."""
    return torch_says.whole_numbers(shape, seed).astype(dtype)


def narrow(x, kind):
    """As 16 bits: exact for whole numbers below 256."""
    return x.astype(np.float16) if kind == "f16" else (x.astype(f32).view(np.uint32) >> 16).astype(np.uint16)


def compiled_engine():
    return cuda.engine("compiled") if device_name == "executor" else contextlib.nullcontext()


# ---- counts, derived first -------------------------------------------------------------------------------------------

INS, TAPS = 2, 9  # two input channels and 3 x 3 weights: 18 terms for each result


def look(kernel, x, weight, block, known=None):
    """The x-ray of one block, without padding; the result is compared. Returns (report, results).

    known: what gives the sizes to a kernel that takes lines of memory.
    """
    outs = len(weight)
    groups = x.shape[1] // weight.shape[1]
    g, shape = geometry.convolution(x.shape[2:], weight.shape[2:], groups=groups)
    out, bias = np.zeros((len(x), outs, *shape), f32), whole(outs, seed=3)
    plain = [reference.widened(a) if a.dtype.itemsize == 2 else a for a in (x, weight)]
    if known is None:
        arguments = x, weight, bias, out, *gpu.numbers(weight, g)
    else:
        lines = [a.reshape(-1).view(np.uint16) if a.dtype == np.float16 else a.reshape(-1) for a in (x, weight)]
        arguments = *lines, bias, out.reshape(-1), *known(x, weight, g, out)
    report = xray.xray(kernel, (1, 1, 1), block)(*arguments)
    np.testing.assert_array_equal(out, reference.conv2d(*plain, bias, groups=groups))
    assert report.ok, str(report)
    return report, out.size


def per_result(report, results, array):
    """Loads of an array's elements from global memory for each result."""
    return (
        sum(e.accesses for e in report.expressions if (e.kind, e.space, e.array) == ("load", "global", array)) / results
    )


def ways(report):
    return {(e.array, e.kind): e.bank_ways for e in report.expressions if e.space == "shared"}


WINDOW = (16 + 2) ** 2 / 16**2  # pixels that a block of 16 x 16 results sees, for each of them
LADDER = {
    # rung: kernel, output channels, threads, loads of weights and of pixels for each result
    "one_per_output": (gpu.direct_kernel, 1, (16, 16), INS * TAPS, INS * TAPS),
    "shared_halo": (gpu.halo_kernel, 1, (16, 16), INS * TAPS, INS * WINDOW),
    "channels": (gpu.channels_kernel, 4, (16, 16), INS * TAPS, INS * WINDOW / 4),
    "implicit_gemm": (gpu_gemm.implicit_kernel, 64, 128, INS * TAPS / 128, INS * TAPS / 64),
}


@EXECUTOR
@pytest.mark.parametrize("rung", LADDER)
def test_loads_for_each_result(rung):
    """The reuse factor of a rung: how many fewer than one load for each factor of each product."""
    kernel, outs, block, weights, pixels = LADDER[rung]
    known, high = (gpu_gemm.sizes, 8) if rung == "implicit_gemm" else (None, 16)
    x = whole(1, INS, high + 2, 18)
    report, results = look(kernel, x, whole(outs, INS, 3, 3, seed=2), block, known)
    assert per_result(report, results, "weight") == weights
    assert per_result(report, results, "x") == pixels


@EXECUTOR
def test_with_a_halo_each_pixel_is_loaded_once():
    # 18 x 18 pixels for 16 x 16 results. Every warp loads two rows of 16 and, in one more request, the 2 pixels at the
    # end of each; the first warp also the last two rows, again in two requests. Without, a warp asks for each factor.
    x, weight = whole(1, INS, 18, 18), whole(1, INS, 3, 3, seed=2)
    for kernel, requests in ((gpu.direct_kernel, TAPS * 8), (gpu.halo_kernel, 8 * 2 + 2)):
        report, _ = look(kernel, x, weight, (16, 16))
        (loads,) = [e for e in report.expressions if (e.kind, e.array) == ("load", "x")]
        assert loads.requests == INS * requests


@EXECUTOR
def test_what_a_block_of_register_tiles_asks_for():
    # 18 terms: 3 tiles of 8, the last with 2. A warp loads one place of 32 pixels with one request, and 8 places of 4
    # channels with another; from shared memory a thread reads 4 times 16 bytes for 64 multiply-adds.
    x, weight = whole(1, INS, 10, 18), whole(64, INS, 3, 3, seed=2)
    report, _ = look(gpu_gemm.implicit_kernel, x, weight, 128, gpu_gemm.sizes)
    loads = {e.array: e.requests for e in report.expressions if (e.kind, e.space) == ("load", "global")}
    assert loads == {"x": 4 * 18, "weight": 4 * 4 * 3, "bias": 4 * 8 * 2}
    multiply_adds = 64 * 128 * 3 * 8 // WARP
    assert report.total["shared_load_requests"] == multiply_adds * 4 / 64
    assert report.total["barriers"] == 2 * 3
    assert set(ways(report).values()) == {1}, ways(report)
    (stores,) = [e for e in report.expressions if (e.kind, e.array, e.accesses > 0) == ("store", "out", True)]
    assert stores.efficiency == 1


@EXECUTOR
@pytest.mark.parametrize(("side", "planes"), [(32, 1), (16, 4), (8, 16)])
def test_depthwise_pixels_are_loaded_once(side, planes):
    # A square with its halo for each plane; a thread reads 3 columns of 6 pixels and 9 weights for 4 results.
    x, weight = whole(1, planes, side + 2, side + 2), whole(planes, 1, 3, 3, seed=2)
    block = side, side // gpu_depthwise.ROWS, planes
    kernel = gpu_depthwise.depthwise_kernel(3, 3, 1, side)
    report, results = look(kernel, x, weight, block, lambda x, weight, g, out: gpu_depthwise.sizes(x, g, out))
    assert results == 32 * 32
    assert per_result(report, results, "x") == (side + 2) ** 2 / side**2
    assert per_result(report, results, "weight") == TAPS / side**2
    assert report.total["shared_load_requests"] == (3 * 6 + TAPS) * results / 4 / WARP
    conflicts = ways(report)
    assert conflicts["windows", "load"] == {32: 1, 16: 1, 8: 2}[side], conflicts
    assert conflicts["factors", "load"] == 1


@EXECUTOR
@pytest.mark.parametrize("kind", KINDS)
def test_tensor_cores_are_fed_without_conflicts(kind):
    # 36 terms: 2 tiles of 32. Each of 4 warps gives 32 multiplications and 12 loads of matrices for a tile.
    x, weight = narrow(whole(1, 4, 10, 18), kind), narrow(whole(64, 4, 3, 3, seed=2), kind)
    report, results = look(gpu_gemm.tensor_kernel(kind), x, weight, 128, gpu_gemm.sizes)
    assert per_result(report, results, "weight") == 4 * TAPS / 128
    assert per_result(report, results, "x") == 4 * TAPS / 64
    assert report.total["shared_load_requests"] == 4 * 2 * 12
    assert set(ways(report).values()) == {1}, ways(report)
    assert {e.efficiency for e in report.expressions if (e.kind, e.array) == ("store", "out") and e.accesses} == {1}


@EXECUTOR
def test_a_block_of_the_gradient_of_pixels():
    # 64 channels of 128 pixels, 2 x 4 terms: one tile; so much padding that no pixel looks outside. For each
    # multiply-add the rung before loads a weight and what arrived at a result; here a weight serves 128 pixels, and
    # what arrived 64 channels.
    x, weight, grad = whole(1, 64, 8, 16), whole(2, 64, 2, 2, seed=2), whole(1, 2, 9, 17, seed=3)
    g, _ = geometry.convolution((8, 16), (2, 2), padding=1)
    expected, multiply_adds = reference.conv2d_backward(grad, x, weight, padding=1)[0], 64 * 128 * 8
    before = xray.xray(gpu_backward.input_kernel, (2, 1, 64), (8, 8))
    before = before(grad, weight, np.zeros_like(x), *gpu.numbers(weight, g))
    report = pixels_by_tiles(grad, x, weight, g, (1, 1, 1), (1, 1, 1, 1), expected)
    for array, served in (("weight", 128), ("grad", 64)):
        assert per_result(before, multiply_adds, array) == 1
        assert per_result(report, multiply_adds, array) == 1 / served
    # A warp asks for 8 terms of 4 channels at once, and for one term of 32 pixels: 85 times fewer requests.
    assert requests(report) == {"weight": 4 * 4, "grad": 4 * 8, "of_x": 0}
    assert requests(before) == {"weight": multiply_adds // WARP, "grad": multiply_adds // WARP, "of_x": 0}
    assert report.total["shared_load_requests"] == multiply_adds // WARP * 4 / 64
    assert report.total["barriers"] == 2
    assert before.total["global_load_sectors"] > 77 * report.total["global_load_sectors"]


@EXECUTOR
def test_a_block_of_the_gradient_of_weights():
    # 64 channels of 32 x 4 weights, 8 pixels: one tile. A warp asks for 8 pixels of 4 channels, and of 4 weights, at
    # once.
    x, weight, grad = whole(1, 32, 3, 5), whole(64, 32, 2, 2, seed=2), whole(1, 64, 2, 4, seed=3)
    g, _ = geometry.convolution((3, 5), (2, 2))
    expected, multiply_adds = reference.conv2d_backward(grad, x, weight)[1], 64 * 128 * 8
    before = xray.xray(gpu_backward.weight_kernel, 64, 128)
    before = before(grad, x, np.zeros_like(weight), *gpu.numbers(weight, g))
    report, parts = xray.xray(gpu_backward_weights.weight_gemm_kernel, (1, 1, 1), 128), np.zeros(weight.size, f32)
    report = report(grad.reshape(-1), x.reshape(-1), parts, *gpu_gemm.sizes(x, weight, g, grad), np.uint32(8))
    np.testing.assert_array_equal(parts.reshape(weight.shape), expected)
    without_faults(report, "parts")
    for array, served in (("grad", 128), ("x", 64)):
        assert per_result(before, multiply_adds, array) == 1
        assert per_result(report, multiply_adds, array) == 1 / served
    assert requests(report) == {"grad": 4 * 4, "x": 4 * 8, "parts": 0}
    assert requests(before) == {"grad": multiply_adds // WARP, "x": multiply_adds // WARP, "of_weight": 0}
    # and for each x, what is known of its place
    assert report.total["shared_load_requests"] == multiply_adds // WARP * 4 / 64 + 4 * 8
    assert report.total["barriers"] == 2 + 1
    # neighbouring threads of the rung before have weights of several channels, and pixels of several rows
    assert before.total["global_load_sectors"] > 200 * report.total["global_load_sectors"]


@EXECUTOR
def test_pixels_of_a_phase_meet_the_same_weights():
    # 2 x 2 weights and a stride of 2: each pixel meets one of them. Without phases it would look for all four.
    x, weight, grad = whole(1, 64, 16, 32), whole(8, 64, 2, 2, seed=2), whole(1, 8, 8, 16, seed=3)
    g, _ = geometry.convolution((16, 32), (2, 2), 2)
    expected = reference.conv2d_backward(grad, x, weight, stride=2)[0]
    report = pixels_by_tiles(grad, x, weight, g, (1, 1, 4), (2, 2, 1, 1), expected)
    assert requests(report)["grad"] == 16 * 8  # warps of pixels, and channels: one place of four
    assert report.total["shared_load_requests"] == 64 * 512 * 8 // WARP * 4 / 64


def pixels_by_tiles(grad, x, weight, g, grid, phases, expected):
    """The x-ray of the gradient of pixels; the result is compared."""
    kernel, of_x = gpu_backward_gemm.input_gemm_kernel, np.zeros(x.size, f32)
    known = *gpu_gemm.sizes(x, weight, g, grad), *np.array(phases, np.uint32)
    report = xray.xray(kernel, grid, 128)(grad.reshape(-1), weight.reshape(-1), of_x, *known)
    np.testing.assert_array_equal(of_x.reshape(x.shape), expected)
    without_faults(report, "of_x" if g.stride_x == 1 else None)
    return report


def without_faults(report, stored):
    """No findings, no bank conflicts, and stores to an array in whole sectors."""
    assert report.ok, str(report)
    assert set(ways(report).values()) == {1}, ways(report)
    stores = {e.efficiency for e in report.expressions if (e.kind, e.array) == ("store", stored) and e.accesses}
    assert stores == ({1} if stored else set())


def requests(report):
    """Load requests to global memory, by array."""
    return {
        name: sum(e.requests for e in report.expressions if (e.kind, e.space, e.array) == ("load", "global", name))
        for name in {e.array for e in report.expressions if e.space == "global"}
    }


# ---- right where tiles end -------------------------------------------------------------------------------------------

#: (x, weight, stride, padding, dilation, groups): channels past a tile, pixels of several pictures in one, planes that are
#: no multiple of four, a last tile of few places.
RAGGED = (
    ((5, 6, 7, 5), (140, 3, 3, 3), 1, 1, 1, 2),
    ((3, 5, 13, 11), (70, 5, 2, 3), (2, 1), (0, 2), (1, 2), 1),
    ((1, 33, 12, 12), (65, 33, 1, 1), 1, 0, 1, 1),
    ((130, 8, 1, 1), (64, 8, 1, 1), 1, 0, 1, 1),
)


@pytest.mark.parametrize("case", RAGGED, ids=str)
def test_tiles_that_end_inside(case):
    shape, of_weight, *rest = case
    x, weight, bias = whole(*shape), whole(*of_weight, seed=2), whole(of_weight[0], seed=3)
    expected = reference.conv2d(x, weight, bias, *rest)
    (gemm,) = [rung for rung in implementations.of("conv2d", "gpu") if rung.name == "conv2d_implicit_gemm"]
    (tensor,) = implementations.of("conv2d_half", "gpu")
    with compiled_engine():
        np.testing.assert_array_equal(gemm(x, weight, bias, *rest), expected)
        np.testing.assert_array_equal(tensor(narrow(x, "f16"), narrow(weight, "f16"), bias, *rest), expected)


#: Channels past a tile, in groups; strides with and without dilation, some larger than the kernel; odd padding; planes that
#: are no multiple of four; pixels of many pictures in a tile.
RAGGED_GRADIENTS = (
    ((5, 36, 7, 5), (140, 18, 3, 3), 1, 1, 1, 2),
    ((3, 65, 13, 11), (70, 65, 2, 3), (2, 1), (0, 2), (1, 2), 1),
    ((1, 33, 12, 12), (65, 33, 1, 1), 1, 0, 1, 1),
    ((130, 40, 1, 1), (64, 40, 1, 1), 1, 0, 1, 1),
    ((2, 20, 12, 9), (20, 20, 3, 3), (3, 2), (2, 1), 2, 1),
    ((2, 17, 9, 11), (17, 17, 2, 2), (5, 3), 0, 1, 1),
    ((2, 32, 17, 14), (48, 16, 5, 4), 4, (5, 3), (2, 6), 2),
    ((1, 16, 9, 8), (16, 16, 4, 2), 1, "same", (1, 3), 1),
)


def gradients():
    (rung,) = [rung for rung in implementations.of("conv2d_backward", "gpu") if rung.name.endswith("implicit_gemm")]
    return rung


def same_gradients(x, weight, bias, *rest):
    """That the rung gives those of the reference, to the bit."""
    grad = whole(*reference.conv2d(x, weight, bias, *rest).shape, seed=4)
    expected = reference.conv2d_backward(grad, x, weight, bias, *rest)
    for got, want in zip(gradients()(grad, x, weight, bias, *rest), expected, strict=True):
        np.testing.assert_array_equal(got, want)


@pytest.mark.parametrize("enough", [512, 3], ids=["as it is", "few blocks"])
@pytest.mark.parametrize("case", RAGGED_GRADIENTS, ids=str)
def test_gradients_where_tiles_end_inside(case, enough, monkeypatch):
    shape, of_weight, *rest = case
    monkeypatch.setattr(gpu_backward, "input_gradient", None)  # all of these have enough channels
    monkeypatch.setattr(gpu_backward_weights, "weight_block_kernel", None)
    monkeypatch.setattr(gpu_backward_weights, "ENOUGH", enough)
    with compiled_engine():
        same_gradients(whole(*shape), whole(*of_weight, seed=2), None, *rest)


def test_blocks_share_the_pixels():
    for tiles, pixels in ((5, 100352), (1, 6272), (72, 6272), (600, 6272), (1, 50), (3, 65), (511, 1 << 20)):
        depth = gpu_backward_weights.depth_for(tiles, pixels)
        blocks = tiles * -(-pixels // depth)
        assert depth % gpu_gemm.DEPTH == 0
        assert blocks == tiles or (blocks <= 512 and depth >= 64)
    assert gpu_backward_weights.depth_for(5, 100352) == 984  # 102 blocks for each of 5 tiles


def test_gradients_are_the_same_each_time():
    """The parts of a sum are added in one order, whichever block comes first."""
    x, weight = (
        np.random.default_rng(k).standard_normal(s).astype(f32) for k, s in enumerate(((4, 16, 20, 20), (16, 16, 3, 3)))
    )
    with compiled_engine():
        first, again = (gradients()(x[:, :, 1:-1, 1:-1], x, weight) for _ in range(2))
    for a, b in zip(first, again, strict=True):
        np.testing.assert_array_equal(a, b)


@pytest.mark.parametrize("case", [((2, 3, 9, 8), 1, 3), ((3, 4, 6, 9), 2, 2), ((1, 6, 3, 5), 16, 1)], ids=str)
def test_gradients_of_small_groups(case, monkeypatch):
    """A block for each weight, and several where there are many pixels; pixels go the way of the rung before."""
    shape, of_group, groups = case
    assert gpu_backward_weights.chunks_for(27, 5000, gpu_backward_weights.MANY) == 3
    monkeypatch.setattr(gpu_backward_weights, "chunks_for", lambda *_: groups)
    monkeypatch.setattr(gpu_backward_gemm, "input_gemm_kernel", None)
    if of_group < gpu_choose.FEWEST:
        monkeypatch.setattr(gpu_backward_weights, "weight_gemm_kernel", None)
    weight = whole(of_group * groups, shape[1] // groups, 3, 3, seed=2)
    same_gradients(whole(*shape), weight, whole(len(weight), seed=3), (1, 2), 1, (2, 1), groups)


@pytest.mark.parametrize("what", ["places", "tiles", "phases"])
def test_gradients_that_do_not_fit_go_another_way(what, monkeypatch):
    monkeypatch.setattr(gpu_backward_gemm, "input_gemm_kernel", None)
    monkeypatch.setattr(gpu_backward_weights, "weight_gemm_kernel", None)
    if what == "places":
        monkeypatch.setattr(gpu_gemm, "MOST", 100)
        monkeypatch.setattr(gpu_backward_weights, "weight_block_kernel", None)
    for module in (gpu_backward_gemm, gpu_backward_weights):
        monkeypatch.setattr(module, "MOST_IN_Y", 0 if what == "tiles" else 65535)
    if what == "phases":
        monkeypatch.setattr(gpu_backward_gemm, "MOST_IN_Z", 8)
        same_gradients(whole(1, 16, 3, 3), whole(1, 16, 1, 1, seed=2), None, 300)
    else:
        same_gradients(whole(1, 16, 4, 4), whole(16, 16, 3, 3, seed=2), None)


def test_what_is_not_finite_spreads_to_the_rim_at_most():
    """A weight that is infinite is multiplied by what is outside, and never by zeros that a stride puts in between."""
    x, weight, grad = whole(1, 16, 12, 12), whole(16, 16, 3, 3, seed=2), whole(1, 16, 6, 6, seed=3)
    weight[3, 4, 1, 1], rest = np.inf, (None, 2, 1)
    with compiled_engine():
        got, expected = gradients()(grad, x, weight, *rest), reference.conv2d_backward(grad, x, weight, *rest)
        np.testing.assert_array_equal(got[1], expected[1])
        np.testing.assert_array_equal(got[0][..., :-1, :-1], expected[0][..., :-1, :-1])
        assert np.isnan(got[0][got[0] != expected[0]]).all()
        weight[3, 4, 1, 1], grad[0, 1, 0, 0], x[0, 2, 3, 3] = 1, np.inf, np.nan
        got, expected = gradients()(grad, x, weight, *rest), reference.conv2d_backward(grad, x, weight, *rest)
    for a, b in zip(got, expected, strict=True):
        np.testing.assert_array_equal(a, b)


#: (kernel, side of the picture, stride): all sides of squares.
SQUARES = (
    ((3, 3), 6, 1), ((3, 3), 13, 1), ((3, 3), 20, 1), ((3, 3), 70, 1), ((3, 3), 13, 2), ((3, 3), 70, 2),
    ((1, 1), 6, 2), ((5, 2), 13, 2), ((7, 7), 6, 1), ((7, 7), 20, 2),
)  # fmt: skip


@pytest.mark.parametrize("case", SQUARES, ids=str)
def test_depthwise_squares(case, monkeypatch):
    """Their last planes, and blocks that go on with further planes."""
    kernel, size, stride = case
    monkeypatch.setattr(gpu, "MOST_IN_Z", 2)
    (rung,) = [rung for rung in implementations.of("conv2d", "gpu") if rung.name == "conv2d_depthwise_rows"]
    x, weight, bias = whole(2, 11, size, size + 3), whole(22, 1, *kernel, seed=2), whole(22, seed=3)
    with compiled_engine():
        got = rung(x, weight, bias, stride, 3, 1, 11)
    np.testing.assert_array_equal(got, reference.conv2d(x, weight, bias, stride, 3, 1, 11))


def test_windows_that_are_too_large_for_shared_memory():
    """A dilation of 13 spans 27 pixels: with those of 16 results, more than the window holds."""
    x, weight = whole(1, 30, 40), whole(1, 1, 3, 3, seed=2)
    (halo,) = [row for row in implementations.of("conv2d", "gpu") if row.name == "conv2d_shared_halo"]
    np.testing.assert_array_equal(halo(x, weight, dilation=13), reference.conv2d(x, weight, dilation=13))


# ---- what the compiler makes of them ---------------------------------------------------------------------------------


TILED = (
    (gpu_gemm.implicit_kernel, gpu_gemm.LINES),
    *(
        (kernel, signature)
        for kernel, (signature,) in gradients().kernels
        if kernel.py_func.__name__.endswith("gemm_kernel")
    ),
)


@COMPILER
@pytest.mark.parametrize("arch", ARCHITECTURES)
@pytest.mark.parametrize(("kernel", "signature"), TILED, ids=["forward", "of pixels", "of weights"])
def test_register_tiles_stay_in_registers(kernel, signature, arch):
    view = xray.compiled(kernel, signature, arch)
    assert not view.spills
    assert not view.stack_bytes
    assert view.occupancy(gpu_gemm.THREADS).blocks_per_sm >= 4
    loop = view.main_loop
    assert loop["FFMA"] % 64 == 0
    assert loop["FFMA"] == 16 * loop["LDS.128"], "narrow loads from shared memory"


@COMPILER
@pytest.mark.parametrize("arch", ARCHITECTURES)
@pytest.mark.parametrize("usual", gpu_depthwise.USUAL, ids=str)
def test_depthwise_columns_stay_in_registers(usual, arch):
    view = xray.compiled(gpu_depthwise.depthwise_kernel(*usual), gpu_depthwise.DEPTHWISE, arch)
    assert not view.spills
    assert not view.stack_bytes
    assert view.occupancy(256).blocks_per_sm >= 2, "no other warps while one block waits for memory"


@COMPILER
@pytest.mark.parametrize("arch", ["sm_80", "sm_90"])
@pytest.mark.parametrize("kind", KINDS)
def test_tensor_cores_multiply(kind, arch):
    view = xray.compiled(gpu_gemm.tensor_kernel(kind), gpu_gemm.HALVES, arch)
    assert not view.spills
    assert not view.stack_bytes
    assert view.main_loop["TENSOR.HMMA"] == 32
    assert view.main_loop["LDSM"] == 12


# ---- which way -------------------------------------------------------------------------------------------------------

LAYERS = {
    "conv2d_depthwise_rows": ((1, 6, 9, 9), (6, 1, 3, 3), {"groups": 6, "stride": 2}),
    "conv2d_implicit_gemm": ((1, 3, 9, 9), (16, 3, 3, 3), {"padding": 1}),
    "conv2d_channels": ((1, 3, 9, 9), (5, 3, 3, 3), {}),
    "conv2d_shared_halo": ((1, 4, 9, 9), (4, 2, 3, 3), {"groups": 2}),
    "conv2d_one_per_output": ((1, 1, 45, 45), (2, 1, 2, 2), {"dilation": 40}),
}


@pytest.mark.parametrize("rung", LAYERS)
def test_conv2d_on_a_device_says_what_it_does(rung):
    shape, of_weight, named = LAYERS[rung]
    x, weight = whole(*shape), whole(*of_weight, seed=2)
    result, choice = conv2d(on_device(x), on_device(weight), **named, explain=True)
    assert choice.rung == rung
    assert str(choice).startswith(f"{rung}: ")
    assert choice.multiplies == result.size * weight[0].size
    assert choice.workspace == 0
    assert choice.bytes == x.nbytes + weight.nbytes + result.size * 4
    np.testing.assert_array_equal(result.copy_to_host(), reference.conv2d(x, weight, **named))


def test_every_way_is_chosen_by_some_layer():
    assert set(LAYERS) == set(gpu_choose.WAYS)


def test_nothing_to_multiply_is_said():
    empty = cuda.device_array((0, 3, 5, 5), f32)
    result, choice = conv2d(empty, on_device(whole(4, 3, 3, 3)), explain=True)
    assert (result.shape, choice.multiplies) == ((0, 4, 3, 3), 0)


def test_arrays_whose_places_need_more_than_32_bits(monkeypatch):
    """They go another way; tensor cores, which have none, say so."""
    x, weight = whole(1, 3, 6, 6), whole(16, 3, 3, 3, seed=2)
    expected = reference.conv2d(x, weight)
    monkeypatch.setattr(gpu_gemm, "MOST", 100)
    assert gpu_choose.way(x, weight, geometry.convolution((6, 6), (3, 3))[0], expected)[0] == "conv2d_channels"
    (gemm,) = [rung for rung in implementations.of("conv2d", "gpu") if rung.name == "conv2d_implicit_gemm"]
    np.testing.assert_array_equal(gemm(x, weight), expected)
    with pytest.raises(ValueError, match=r"x has shape \(1, 3, 6, 6\).*expected arrays of less than 2\^30 elements"):
        implementations.of("conv2d_half", "gpu")[0](narrow(x, "f16"), narrow(weight, "f16"))


# ---- 16-bit numbers --------------------------------------------------------------------------------------------------

X, W = np.zeros((1, 2, 5, 5), np.float16), np.zeros((3, 2, 3, 3), np.float16)
WRONG = {
    "float32": ((X.astype(f32), W), TypeError, r"x has dtype float32; expected float16 or uint16"),
    "two kinds": ((X, W.view(np.uint16)), TypeError, r"weight has dtype uint16, but x has dtype float16"),
    "a narrow bias": ((X, W, W[:, 0, 0, 0]), TypeError, r"bias has dtype float16; expected float32"),
}


@pytest.mark.quick
@pytest.mark.parametrize("case", WRONG.values(), ids=WRONG.keys())
def test_wrong_kinds_of_numbers(case):
    arguments, error, message = case
    with pytest.raises(error, match=message):
        conv2d_half(*arguments)
