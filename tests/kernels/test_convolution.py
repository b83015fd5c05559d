"""What only convolutions have: PyTorch's results for random parameters, impossible ones, degenerate shapes."""

import math

import numpy as np
import pytest

import dlkernels
from dlkernels import conv2d, conv2d_backward, convolution, cuda, implementations, max_pool2d
from dlkernels.convolution import backward, choose, geometry, gpu, lanes, pointwise, pooling, reference
from dlkernels.host import workspace

from . import torch_references as torch_says

pytestmark = pytest.mark.rotates

RECORD = torch_says.recorded()
POOLINGS = ("max_pool2d", "avg_pool2d", "adaptive_max_pool2d", "adaptive_avg_pool2d")
MEANS = ("avg_pool2d", "adaptive_avg_pool2d")


def possible(name):
    return [case for case in RECORD[name] if "refused" not in case]


def refused(name):
    return [case for case in RECORD[name] if "refused" in case]


POSSIBLE = possible("conv2d")


def ways(name):
    """The reference, and every rung of an operation; the public function is one of them."""
    rungs = [pytest.param(rung, id=rung.name) for rung in implementations.of(name, "cpu")]
    return [pytest.param(getattr(reference, name), id=f"reference-{name}"), *rungs]


def own(way):
    """The cases that a rung does not hand to another one; of rungs that nobody calls by conv2d's name, every third."""
    shapes = {
        "conv2d_pointwise": lambda case: case["weight"][2:] == [1, 1],
        "conv2d_depthwise": lambda case: case["weight"][1] == 1,
    }
    name = getattr(way, "name", "")
    cases = [case for case in POSSIBLE if shapes.get(name, lambda case: True)(case)]
    return cases if name in shapes or not name or way.public else cases[::3]


# ---- what PyTorch gives ----------------------------------------------------------------------------------------------
# Whole numbers: all are compared to the last bit.


@pytest.mark.parametrize("way", ways("conv2d"))
def test_pytorch_gives_the_same_convolutions(way):
    assert len(POSSIBLE) >= 500
    for case in own(way):
        result = way(*torch_says.inputs(case), **torch_says.options(case))
        assert torch_says.told(result) == case["result"], case


@pytest.mark.parametrize("way", ways("conv2d_backward"))
def test_pytorch_gives_the_same_gradients(way):
    for case in own(way):
        grad = torch_says.whole_numbers(case["result"]["shape"], 4)
        gradients = way(grad, *torch_says.inputs(case), **torch_says.options(case))
        assert [torch_says.told(gradient) for gradient in gradients] == case["gradients"], case


@pytest.mark.parametrize("where", ["grad", "x", "weight"])
def test_an_infinite_number_of_a_depthwise_convolution_stays_with_its_terms(where):
    """Work on whole lines would multiply it by zeros that the formula does not have, and 0 times infinity is NaN."""
    draw = np.random.default_rng(0)
    grad, x, weight = (
        draw.uniform(1, 2, shape).astype(np.float32) for shape in ((1, 3, 4, 4), (1, 3, 7, 7), (3, 1, 3, 3))
    )
    {"grad": grad[0, 1, 1], "x": x[0, 1, 2], "weight": weight[1, 0, 1]}[where][0] = np.inf
    options = {"stride": 2, "padding": 1, "groups": 3}
    exact = reference.conv2d_backward(grad, x, weight, **options)
    for found, expected in zip(conv2d_backward(grad, x, weight, **options), exact, strict=True):
        assert not np.isnan(expected).all()
        np.testing.assert_allclose(found[~np.isnan(expected)], expected[~np.isnan(expected)], rtol=1e-5)


def gradients_of(grad, x, weight, **options):
    """Of float64 copies, by the columns of im2col, and the same of the absolute values: what rounding may be compared
    to."""
    geometry = convolution.geometry.convolution(x.shape[2:], weight.shape[2:], **options)[0]
    given = [one.astype(np.float64) for one in (grad, x, weight)]
    columns = backward.conv2d_backward_columns
    return columns(None, geometry, *given), columns(None, geometry, *(np.abs(one) for one in given))


@pytest.mark.parametrize(
    "options", [{}, {"padding": 1}, {"padding": 3}, {"stride": 2, "padding": 1}, {"dilation": (1, 2)}]
)
@pytest.mark.parametrize("shape", [(9, 35, 20, 7, 9), (2, 3, 1040, 9, 8), (1, 520, 40, 9, 10), (1, 24, 40, 33, 47)])
def test_gradients_whatever_kept_memory_holds(shape, options):
    """More channels than a block is wide or deep; several pictures in a block; of the last shape, Winograd's way."""
    draw, (batch, ins, outs, high, wide) = np.random.default_rng(0), shape
    dtype = np.float32 if "padding" in options else np.float64
    x, weight = (draw.standard_normal(size).astype(dtype) for size in ((batch, ins, high, wide), (outs, ins, 3, 3)))
    grad = draw.standard_normal(conv2d(x, weight, **options).shape).astype(dtype)
    exact, sizes = gradients_of(grad, x, weight, **options)
    workspace(x.dtype, 1)[:] = np.nan
    of_x, of_weight = conv2d_backward(grad, x, weight, **options)
    eps = np.finfo(dtype).eps
    assert np.all(np.abs(of_weight - exact[1]) <= (grad.size // outs + 3) * eps * sizes[1])
    assert np.abs(of_x - exact[0]).max() <= 30 * eps * sizes[0].max()


def test_the_gradient_of_pixels_goes_winograds_way(monkeypatch):
    """Where it pays and the numbers allow it; what is infinite stays with its terms."""
    draw = np.random.default_rng(0)
    x, weight = (draw.standard_normal(size).astype(np.float32) for size in ((1, 64, 28, 28), (64, 64, 3, 3)))
    chosen, ask = [], choose.way

    def way(*given):
        chosen.append(ask(*given)[0])
        return chosen[-1], ""

    monkeypatch.setattr(choose, "way", way)
    conv2d_backward(x, x, weight, padding=1)
    assert chosen == ["conv2d_winograd_4x4"]
    weight[0, 0] *= 1e9
    conv2d_backward(x, x, weight, padding=1)
    assert chosen[1:] == ["conv2d_implicit"]
    weight[0, 1, 0, 0] = np.inf
    of_x = conv2d_backward(np.abs(x), x, weight, padding=1)[0]
    assert len(chosen) == 2
    assert np.isinf(of_x[0, 1, :-1, :-1]).all()
    assert np.isfinite(of_x[0, 1, -1]).all()
    assert np.isfinite(np.delete(of_x[0], 1, axis=0)).all()


@pytest.mark.parametrize(("name", "way"), [pytest.param(n, *w.values, id=w.id) for n in POOLINGS for w in ways(n)])
def test_pytorch_gives_the_same_poolings(name, way):
    for case in possible(name):
        x, _ = torch_says.pixels(case, name in MEANS)
        assert torch_says.told(way(x, **torch_says.options(case))) == case["result"], case


@pytest.mark.parametrize(
    ("name", "way"),
    [pytest.param(n, *w.values, id=w.id) for n in POOLINGS if n not in MEANS for w in ways(f"{n}_with_indices")],
)
def test_pytorch_finds_the_largest_in_the_same_places(name, way):
    for case in possible(name):
        x, _ = torch_says.pixels(case, mean=False)
        told = [torch_says.told(part) for part in way(x, **torch_says.options(case))]
        assert told == [case["result"], case["indices"]], case


@pytest.mark.parametrize("name", POOLINGS)
def test_pytorch_gives_the_same_gradients_of_poolings(name):
    for case in possible(name):
        x, arriving = torch_says.pixels(case, name in MEANS)
        grad = arriving(case["result"]["shape"])
        for module in (reference, dlkernels):
            gradient = getattr(module, f"{name}_backward")(grad, x, **torch_says.options(case))
            assert [torch_says.told(gradient)] == case["gradients"], case


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_windows_of_two_by_two_of_every_width(dtype):
    """They are done some at a time, the last of a row again. From few numbers, so that windows have several largest."""
    random = np.random.default_rng(5)
    numbers = np.array([0.0, -0.0, 1, 2, -np.inf, np.inf, np.nan], dtype)
    for high, wide in [(2 + k % 5, wide) for k, wide in enumerate(range(2, 53))]:
        x = random.choice(numbers, (3, 2, high, wide), p=[0.2, 0.2, 0.2, 0.2, 0.1, 0.05, 0.05])
        grad = random.standard_normal((3, 2, high // 2, wide // 2)).astype(dtype)
        largest, places = dlkernels.max_pool2d_with_indices(x, 2)
        result = max_pool2d(x, 2)
        assert np.array_equal(result, largest, equal_nan=True)
        assert np.array_equal(np.signbit(result), np.signbit(largest))
        expected = np.zeros((6, high * wide), dtype)
        np.put_along_axis(expected, places.reshape(6, -1), grad.reshape(6, -1), axis=1)
        gradient = dlkernels.max_pool2d_backward(grad, x, 2)
        assert np.array_equal(gradient, expected.reshape(x.shape)), (high, wide)


@pytest.mark.parametrize("windows", [pooling.KNOWN, pooling.KNOWN + 1, 5 * pooling.KNOWN])
def test_what_is_known_of_long_pictures_takes_no_memory(windows):
    """The windows of a row of a million pixels are megabytes."""
    direct, _ = implementations.of("max_pool2d", "cpu")
    x = (np.arange(4 * windows + 1, dtype=np.float32) % 7)[1:].reshape(1, 1, 2, -1)
    pooling._known.cache_clear()
    assert np.array_equal(max_pool2d(x, 2), direct(x, 2))
    assert pooling._known.cache_info().currsize == (2 if windows == pooling.KNOWN else 1)
    for stride in (3, 1):
        assert np.array_equal(max_pool2d(x, 2, (2, stride)), direct(x, 2, (2, stride)))


def some_that_are_not_square():
    """Cases with kernels of two different lengths, small enough for a thread-by-thread run."""
    terms = {
        id(case): math.prod(case["result"]["shape"]) * math.prod(case["weight"][1:])
        for case in POSSIBLE
        if case["weight"][2] != case["weight"][3]
    }
    return sorted((case for case in POSSIBLE if 300 < terms.get(id(case), 0) < 4000), key=lambda c: terms[id(c)])[::6]


GPU_RUNGS = [rung for name in ("conv2d", "conv2d_backward") for rung in implementations.of(name, "gpu")]


@pytest.mark.parametrize("most", [65535, 2], ids=["as it is", "two blocks in z"])
@pytest.mark.parametrize("rung", GPU_RUNGS, ids=lambda rung: rung.name)
def test_pytorch_gives_the_same_as_kernels_for_gpus(rung, most, monkeypatch):
    """Weights that are not square; and with fewer blocks in z, so that each has several planes."""
    monkeypatch.setattr(gpu, "MOST_IN_Z", most)
    cases = some_that_are_not_square()
    assert len(cases) > 8
    for case in cases:
        arrays = [None if a is None else a.astype(np.float32) for a in torch_says.inputs(case)]
        if rung.operation == "conv2d":
            assert torch_says.told(rung(*arrays, **torch_says.options(case))) == case["result"], case
            continue
        grad = torch_says.whole_numbers(case["result"]["shape"], 4).astype(np.float32)
        gradients = rung(grad, *arrays, **torch_says.options(case))
        assert [torch_says.told(gradient) for gradient in gradients] == case["gradients"], case


@pytest.mark.parametrize("outs", [1, 6])
@pytest.mark.parametrize("kernel", [(1, 5), (5, 1), (2, 3)])
@pytest.mark.parametrize("rung", GPU_RUNGS, ids=lambda rung: rung.name)
def test_a_block_whose_threads_all_have_a_result_loads_all_that_they_need(rung, kernel, outs):
    x, weight, grad = (
        torch_says.whole_numbers(shape, seed).astype(np.float32)
        for seed, shape in enumerate(
            ((1, 2, *(gpu.LOW + k - 1 for k in kernel)), (outs, 2, *kernel), (1, outs, gpu.LOW, gpu.LOW))
        )
    )
    if rung.operation == "conv2d":
        np.testing.assert_array_equal(rung(x, weight), reference.conv2d(x, weight))
    else:
        for got, expected in zip(rung(grad, x, weight), reference.conv2d_backward(grad, x, weight), strict=True):
            np.testing.assert_array_equal(got, expected)


def test_the_record_has_all_kinds():
    """Or the test above would not say much."""
    assert {len(case["x"]) for case in POSSIBLE} == {3, 4}
    assert {case["padding"] for case in POSSIBLE if isinstance(case["padding"], str)} == {"same", "valid"}
    for name in ("stride", "padding", "dilation"):
        assert sum(isinstance(case[name], list) and len(set(case[name])) == 2 for case in POSSIBLE) > 50, name
        assert sum(case[name] not in (0, 1) for case in POSSIBLE) > 100, name
    assert sum(case["groups"] > 1 for case in POSSIBLE) > 100
    assert sum(case["groups"] == case["x"][-3] > 1 for case in POSSIBLE) > 20  # depthwise
    assert sum(0 in case["x"] for case in POSSIBLE) > 20  # of no pictures
    assert sum(case["x"][-2:] == [1, 1] for case in POSSIBLE) > 3
    assert sum(case["x"][-2:] == case["weight"][2:] for case in POSSIBLE) > 20
    assert sum(case["bias"] is None for case in POSSIBLE) > 100
    assert sum(max(np.atleast_1d(case["stride"])) > max(case["weight"][2:]) for case in POSSIBLE) > 20


@pytest.mark.quick
@pytest.mark.parametrize("name", ["conv2d", "max_pool2d", "avg_pool2d"])
def test_what_pytorch_refuses_is_refused_with_a_sentence(name):
    assert len(refused(name)) > 10
    for case in refused(name):
        arrays = torch_says.inputs(case) if name == "conv2d" else torch_says.pixels(case, name in MEANS)[:1]
        with pytest.raises((ValueError, TypeError), match=r"expected .+\.$"):
            getattr(dlkernels, name)(*arrays, **torch_says.options(case))


# ---- impossible arguments --------------------------------------------------------------------------------------------

X, W = np.zeros((2, 4, 5, 6), np.float32), np.zeros((6, 2, 3, 3), np.float32)
WRONG = {
    "one axis": ((X[0, 0], W), {}, ValueError, r"x has shape \(5, 6\); expected \(batch, channels, height, width\)"),
    "no pixels": ((X[:, :, :0], W), {}, ValueError, r"x has shape \(2, 4, 0, 6\).*with at least one pixel"),
    "weight of three axes": ((X, W[0]), {}, ValueError, r"weight has shape \(2, 3, 3\); expected \(out_channels"),
    "channels": ((X, W), {}, ValueError, r"4 channels.*groups is 1: 2 x 1 = 2 channels; expected the same number"),
    "groups do not divide": ((X, W[:5]), {"groups": 2}, ValueError, r"5 output channels and groups is 2; expected a multiple"),
    "no groups": ((X, W), {"groups": 0}, ValueError, r"groups is 0; expected at least 1"),
    "half a group": ((X, W), {"groups": 2.0}, TypeError, r"groups is 2\.0; expected a whole number"),
    "bias": ((X, W, W[0, 0, 0]), {"groups": 2}, ValueError, r"bias has shape \(3,\); expected \(6,\), one number for each"),
    "dtypes": ((X, W.astype(float)), {"groups": 2}, TypeError, r"weight has dtype float64, but x has dtype float32"),
    "integers": ((X.astype(int), W), {"groups": 2}, TypeError, r"x has dtype int64; expected float32 or float64"),
    "a list": ((X, [1.0]), {}, TypeError, r"weight is a list; expected a NumPy array"),
    "no stride": ((X, W), {"groups": 2, "stride": 0}, ValueError, r"stride is 0; expected at least 1"),
    "three strides": ((X, W), {"groups": 2, "stride": (1, 1, 1)}, TypeError, r"stride is \(1, 1, 1\); expected a whole number, or two"),
    "a broken stride": ((X, W), {"groups": 2, "stride": 1.5}, TypeError, r"stride is 1\.5; expected a whole number"),
    "padding below zero": ((X, W), {"groups": 2, "padding": (0, -1)}, ValueError, r"padding is \(0, -1\); expected nothing negative"),
    "padding as an array": ((X, W), {"groups": 2, "padding": np.array([1, 2])}, TypeError, r"padding is array\(\[1, 2\]\); expected a whole number, or two"),
    "padding by name": ((X, W), {"groups": 2, "padding": "full"}, ValueError, r"padding is 'full'; expected \"same\", \"valid\""),
    "same with a stride": ((X, W), {"groups": 2, "padding": "same", "stride": 2}, ValueError, r"expected stride 1, or padding as numbers"),
    "a stride beyond all": ((X, W), {"groups": 2, "stride": 2**63}, ValueError, r"stride is 9223372036854775808; expected at most 2147483647"),
    "padding beyond all": ((X, W), {"groups": 2, "padding": (0, 2**40)}, ValueError, r"padding is \(0, 1099511627776\); expected at most"),
    "dilation beyond all": ((X, W[:, :, :1, :1]), {"groups": 2, "dilation": 2**70}, ValueError, r"dilation is \d+; expected at most"),
    "does not fit": ((X, W), {"groups": 2, "dilation": 3}, ValueError, r"spans 7 x 7 pixels with its dilation, but the picture has 5 x 6.*expected a kernel that fits in"),
}  # fmt: skip


@pytest.mark.quick
@pytest.mark.parametrize("case", WRONG.values(), ids=WRONG.keys())
def test_wrong_arguments(case):
    arguments, named, error, message = case
    with pytest.raises(error, match=message):
        conv2d(*arguments, **named)


GRAD = np.zeros((2, 6, 3, 4), np.float32)
WRONG_ELSEWHERE = {
    "grad": (conv2d_backward, (GRAD[:1], X, W), {"groups": 2}, ValueError, r"grad has shape \(1, 6, 3, 4\); expected \(2, 6, 3, 4\)"),
    "grad's dtype": (conv2d_backward, (GRAD.astype(float), X, W), {"groups": 2}, TypeError, r"grad has dtype float64, but x has"),
    "weights of no places": (dlkernels.conv2d_local, (X, W), {}, ValueError, r"weight has shape \(6, 2, 3, 3\); expected \(out_channels, .*a kernel for each place"),
    "weights of other places": (dlkernels.conv2d_local, (X, np.zeros((6, 4, 3, 3, 3, 5), np.float32)), {}, ValueError, r"kernels for 3 x 5 places, but the result has 3 x 4"),
    "pointwise": (dlkernels.conv2d_separable, (X, W[:4, :1], W), {}, ValueError, r"pointwise has shape \(6, 2, 3, 3\); expected \(out_channels, 4, 1, 1\)"),
    "bias of a separable one": (dlkernels.conv2d_separable, (X, W[:4, :1], np.zeros((5, 4, 1, 1), np.float32), W[0, 0, 0]), {}, ValueError, r"bias has shape \(3,\); expected \(5,\)"),
    "depthwise": (dlkernels.conv2d_separable, (X, W, W), {}, ValueError, r"4 channels.*groups is 4: 2 x 4 = 8 channels"),
    "much padding": (max_pool2d, (X, 3), {"padding": 2}, ValueError, r"padding is \(2, 2\).*expected at most half of it"),
    "no window": (max_pool2d, (X, 0), {}, ValueError, r"kernel_size is 0; expected at least 1"),
    "a window that does not fit": (max_pool2d, (X, 7), {}, ValueError, r"spans 7 x 7 pixels, but the picture has 5 x 6"),
    "divisor": (dlkernels.avg_pool2d, (X, 2), {"divisor_override": 0}, ValueError, r"divisor_override is 0; expected another number"),
    "a divisor beyond all": (dlkernels.avg_pool2d, (X, 2), {"divisor_override": -(2**70)}, ValueError, r"divisor_override is -\d+; expected at most"),
    "half a divisor": (dlkernels.avg_pool2d, (X, 2), {"divisor_override": 0.5}, TypeError, r"divisor_override is 0\.5; expected a whole"),
    "three sizes": (dlkernels.adaptive_avg_pool2d, (X, (1, 2, 3)), {}, TypeError, r"output_size is \(1, 2, 3\); expected a whole number or None"),
    "no sizes": (dlkernels.adaptive_max_pool2d, (X, (0, None)), {}, ValueError, r"output_size is \[0, 6\]; expected at least 1"),
    "half a size": (dlkernels.adaptive_max_pool2d_with_indices, (X, 1.5), {}, TypeError, r"output_size is \[1\.5, 1\.5\]; expected a whole number"),
    "a flat picture shared out": (dlkernels.adaptive_max_pool2d, (X[0, 0], 2), {}, ValueError, r"x has shape \(5, 6\).*One picture without channels is x\[None\]"),
    "a gradient of other windows": (dlkernels.adaptive_max_pool2d_backward, (X, X, 2), {}, ValueError, r"grad has shape \(2, 4, 5, 6\); expected \(2, 4, 2, 2\)"),
    "a flat picture": (max_pool2d, (X[0, 0], 2), {}, ValueError, r"x has shape \(5, 6\).*One picture without channels is x\[None\]"),
}  # fmt: skip


@pytest.mark.quick
@pytest.mark.parametrize("case", WRONG_ELSEWHERE.values(), ids=WRONG_ELSEWHERE.keys())
def test_wrong_arguments_of_the_others(case):
    function, arguments, named, error, message = case
    with pytest.raises(error, match=message):
        function(*arguments, **named)


# ---- which way, and why ----------------------------------------------------------------------------------------------

LAYERS = {
    "conv2d_pointwise": (((2, 8, 9, 10), (5, 8, 1, 1)), {}),
    "conv2d_tile": (((2, 8, 9, 10), (3, 8, 3, 3)), {"padding": 1}),
    "conv2d_implicit": (((2, 8, 9, 10), (40, 8, 3, 3)), {"padding": 1}),
    "conv2d_depthwise": (((2, 3, 9, 10), (3, 1, 3, 3)), {"groups": 3}),  # fewer channels than any vector has lanes
    "conv2d_depthwise_lanes": (((2, 32, 9, 10), (32, 1, 3, 3)), {"groups": 32, "stride": 2}),
}


@pytest.mark.parametrize("rung", LAYERS)
def test_conv2d_says_what_it_does(rung):
    shapes, named = LAYERS[rung]
    x, weight = (torch_says.whole_numbers(shape, 1).astype(np.float32) for shape in shapes)
    result, choice = conv2d(x, weight, **named, explain=True)
    assert choice.rung == rung
    assert choice.multiplies == result.size * weight[0].size
    assert str(choice).startswith(f"{rung}: ")
    np.testing.assert_array_equal(result, conv2d(x, weight, **named))
    (named_rung,) = [row for row in implementations.of("conv2d", "cpu") if row.name == rung]
    np.testing.assert_array_equal(result, named_rung(x, weight, **named))


@pytest.mark.parametrize(
    ("ins", "outs", "wide", "rung"),
    [
        (3, 64, 224, "conv2d_tile"),  # a network's first layer
        (8, 64, 64, "conv2d_tile"),
        (9, 64, 64, "conv2d_implicit"),
        (3, 64, 1, "conv2d_implicit"),  # rows that fill no vector
        (64, 1, 64, "conv2d_tile"),
        (64, 64, 64, "conv2d_implicit"),
    ],
)
def test_few_channels_go_by_tiles_of_pixels(ins, outs, wide, rung):
    g, shape = geometry.convolution((9, wide), (3, 3), stride=2, padding=1)
    weight = np.empty((outs, ins, 3, 3), np.float32)
    assert choose.direct_way(weight, g, np.empty((1, outs, *shape), np.float32)) == rung


@pytest.mark.parametrize("size", [(9, 10), (80, 90)], ids=["one thread", "all threads"])
@pytest.mark.parametrize("rung", ["conv2d_tile", "conv2d_depthwise", "conv2d_depthwise_lanes"])
def test_the_workspace_that_is_told_is_what_is_used(rung, size, monkeypatch):
    asked, usual = [], choose.workspace

    def workspace(dtype, elements):
        asked.append(elements * dtype.itemsize)
        return usual(dtype, elements)

    for module in (choose, lanes):
        monkeypatch.setattr(module, "workspace", workspace)
    ((*stack, _, _), kernel), named = LAYERS[rung]
    x, weight = (torch_says.whole_numbers(shape, 1).astype(np.float32) for shape in ((*stack, *size), kernel))
    _, choice = conv2d(x, weight, **named, explain=True)
    assert choice.rung == rung
    assert asked == [choice.workspace]


@pytest.mark.parametrize("rung", LAYERS)
def test_the_bytes_that_are_told_are_those_of_all_arrays(rung):
    shapes, named = LAYERS[rung]
    x, weight = (torch_says.whole_numbers(shape, 1).astype(np.float32) for shape in shapes)
    bias = np.ones(len(weight), np.float32)
    result, choice = conv2d(x, weight, **named, explain=True)
    assert choice.bytes == x.nbytes + weight.nbytes + result.nbytes
    assert conv2d(x, weight, bias, **named, explain=True)[1].bytes == choice.bytes + bias.nbytes
    # A view has the bytes of what it shows, and a picture without batch those of one with.
    assert (
        conv2d(x[:1, :, ::-1], weight, **named, explain=True)[1].bytes
        == (x.nbytes + result.nbytes) // 2 + weight.nbytes
    )
    assert conv2d(x[0], weight, **named, explain=True)[1].bytes == (x.nbytes + result.nbytes) // 2 + weight.nbytes


# ---- kernels of one pixel --------------------------------------------------------------------------------------------


@pytest.mark.parametrize("copied", [pointwise.COPIED, 3000, 1], ids=["at once", "some", "a row at a time"])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize(
    ("shape", "outs", "named"),
    [
        ((3, 5, 9, 10), 7, {"stride": 2}),
        ((2, 18, 7, 9), 12, {"stride": (3, 1), "groups": 3}),
        ((40, 6, 4, 5), 8, {"stride": (1, 3)}),
        ((3, 64, 14, 14), 300, {"stride": 2}),
        ((2, 3, 2, 3), 4, {"stride": 5}),
        ((2, 4, 5, 6), 4, {"groups": 4}),
        ((1, 4, 5, 6), 4, {"groups": 2}),
        ((1, 2, 9, 5), 3, {"stride": (4, 2)}),
        ((5, 3, 6), 2, {"stride": 2}),
    ],
    ids=str,
)
def test_a_kernel_of_one_pixel_with_strides_and_groups(shape, outs, named, dtype, copied, monkeypatch):
    monkeypatch.setattr(pointwise, "COPIED", copied)
    ins = shape[-3] // named.get("groups", 1)
    x, weight = (
        torch_says.whole_numbers(shape, 1).astype(dtype),
        torch_says.whole_numbers((outs, ins, 1, 1), 2).astype(dtype),
    )
    bias = torch_says.whole_numbers((outs,), 3).astype(dtype)
    if named.get("groups") == shape[-3]:
        got = {row.name: row for row in implementations.of("conv2d", "cpu")}["conv2d_pointwise"](
            x, weight, bias, **named
        )
    else:
        got, choice = conv2d(x, weight, bias, **named, explain=True)
        assert choice.rung == "conv2d_pointwise"
    np.testing.assert_array_equal(got, reference.conv2d(x, weight, bias, **named))


def test_what_a_kernel_of_one_pixel_copies_is_told_and_bounded(monkeypatch):
    asked, usual = [], pointwise.workspace

    def workspace(dtype, elements):
        asked.append(elements * dtype.itemsize)
        return usual(dtype, elements)

    monkeypatch.setattr(pointwise, "workspace", workspace)
    weight = np.ones((4, 8, 1, 1), np.float32)
    for shape, times in (((2, 8, 9, 10), 1), ((2, 8, 2000, 600), 4), ((5, 8, 1100, 700), 5)):
        _, choice = conv2d(np.ones(shape, np.float32), weight, stride=2, explain=True)
        assert max(asked) == choice.workspace <= pointwise.COPIED
        assert len(asked) == times
        asked.clear()
    assert conv2d(np.ones((2, 8, 9, 10), np.float32), weight, explain=True)[1].workspace == 0
    assert not asked


def test_a_convolution_of_nothing_is_explained():
    empty = np.zeros((0, 8, 9, 10), np.float32)
    result, choice = conv2d(empty, np.zeros((5, 8, 3, 3), np.float32), explain=True)
    assert result.shape == (0, 5, 7, 8)
    assert (choice.multiplies, choice.workspace) == (0, 0)


def test_the_workspace_of_a_layer_does_not_grow_with_the_picture():
    """A band of it is copied at a time."""
    weight = np.zeros((16, 16, 3, 3), np.float32)
    sizes = [conv2d(np.zeros((1, 16, n, 64), np.float32), weight, explain=True)[1].workspace for n in (640, 1280)]
    assert sizes[1] <= 1.1 * sizes[0]
    assert sizes[1] < 16 * 1280 * 64 * 4 / 2


def test_planes_with_more_rows_than_a_gpu_starts_blocks_for():
    tall = cuda.to_device(np.ones((1, 1, 65535 * 16 + 1, 1), np.float32))
    weight = cuda.to_device(np.ones((1, 1, 1, 1), np.float32))
    halo = next(row for row in implementations.of("conv2d", "gpu") if row.name == "conv2d_shared_halo")
    for way in (lambda: halo(tall, weight), lambda: max_pool2d(tall, 1)):
        with pytest.raises(
            ValueError, match=r"a plane has 1048561 rows; expected at most 1048560 on a GPU\. Exchange rows"
        ):
            way()
