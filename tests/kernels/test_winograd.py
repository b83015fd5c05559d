"""Convolutions that add before they multiply: how far off they are, and when `conv2d` takes them."""

from fractions import Fraction

import numpy as np
import pytest
from numba import get_num_threads, set_num_threads

from dlkernels import conv2d, conv2d_fft, conv2d_winograd, implementations
from dlkernels.convolution import choose, fft, geometry, implicit, private, reference, winograd
from dlkernels.convolution.sizes import PART, sizes

pytestmark = pytest.mark.rotates

WAYS = {"conv2d_winograd_2x2": None, "conv2d_winograd_4x4": conv2d_winograd, "conv2d_fft": conv2d_fft}
WAYS["conv2d_winograd_2x2"] = implementations.of("conv2d_winograd", "cpu")[0]


def layer(seed, shape=(2, 32, 30, 26), outs=32, kernel=3):
    """Pixels and weights of a layer, float32, normal."""
    random = np.random.default_rng(seed)
    x, weight = random.standard_normal(shape), random.standard_normal((outs, shape[1], kernel, kernel))
    return x.astype(np.float32), weight.astype(np.float32)


def bound(name, x, weight):
    """What choose.py promises of a result: no term of it is smaller than the largest."""
    n, eps = weight[0].size, float(np.finfo(x.dtype).eps)
    largest = float(np.abs(weight).max()) * float(np.abs(x).max())
    return choose.WORSE.get(name, 1) * (n + 3) * eps * n * largest


def error(result, x, weight, **named):
    return np.abs(result - reference.conv2d(x, weight, **named))


# ---- the matrices ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("points", [winograd.POINTS, (1, 2), (0.5, 3)])
@pytest.mark.parametrize("m", [2, 4])
def test_the_matrices_make_a_convolution(m, points):
    """In fractions, exactly: for any pixels and weights."""
    exact = [
        [[Fraction(v).limit_denominator(1 << 20) for v in row] for row in matrix]
        for matrix in winograd.matrices(m, points)
    ]
    of_pixels, of_weights, of_results = (np.array(matrix) for matrix in exact)
    random = np.random.default_rng(m)
    d, w = (np.array([Fraction(int(v)) for v in random.integers(-9, 10, size)]) for size in (m + 2, 3))
    assert list(of_results @ ((of_weights @ w) * (of_pixels @ d))) == [d[k : k + 3] @ w for k in range(m)]


def test_the_factors_of_pixels_and_results_are_exact_in_float32():
    of_pixels, _, of_results = winograd.matrices(4)
    for matrix in (of_pixels, of_results):
        np.testing.assert_array_equal(matrix, matrix.astype(np.float32))


def by_matrices(matrices, pixels, weight):
    """F(m x m, 3x3) of tiles (tile, channel, n, n) in float32 as NumPy computes it: (out, tile, m, m)."""
    of_pixels, of_weights, of_results = (matrix.astype(np.float32) for matrix in matrices)
    u, v = of_weights @ weight @ of_weights.T, of_pixels @ pixels @ of_pixels.T
    return of_results @ np.einsum("ocij,tcij->otij", u, v) @ of_results.T


def test_these_points_halve_the_error():
    """Against Lavin and Gray's 1, -1, 2, -2; and F(2x2) is nearer still."""
    random = np.random.default_rng(0)
    pixels = random.standard_normal((40, 64, 6, 6)).astype(np.float32)
    weight = random.standard_normal((16, 64, 3, 3)).astype(np.float32)
    right = np.stack([reference.conv2d(tile, weight) for tile in pixels], axis=1)

    def rms(result):
        return np.sqrt(np.mean((result - right[..., : result.shape[-2], : result.shape[-1]]) ** 2))

    ours, theirs = (
        rms(by_matrices(winograd.matrices(4, points), pixels, weight)) for points in (winograd.POINTS, (1, 2))
    )
    two = rms(by_matrices(winograd.matrices(2), np.ascontiguousarray(pixels[..., :4, :4]), weight))
    assert 1.5 * ours < theirs
    assert two < ours


def test_the_bounds_follow_from_the_matrices():
    """The largest that a result of ones may become, each step with the worst signs, over the 81 of a direct sum's
    bound."""
    for m in (2, 4):
        of_pixels, of_weights, of_results = map(np.abs, winograd.matrices(m))
        worst = (of_results @ (of_pixels.sum(axis=1) * of_weights.sum(axis=1))).max() ** 2
        assert 2 * worst / 81 < choose.WORSE[f"conv2d_winograd_{m}x{m}"] < 4 * worst / 81


# ---- errors of the rungs ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize("values", ["normal", "positive", "outlier", "alternating"])
@pytest.mark.parametrize("name", WAYS)
def test_errors_are_within_the_bound(name, values):
    x, weight = layer(1, kernel=9 if name == "conv2d_fft" else 3)
    if values == "positive":
        x, weight = np.abs(x), np.abs(weight)
    elif values == "outlier":
        x[:, ::5, 3::7, 4::9] = 1e6
    elif values == "alternating":  # of one size, with the signs that make sums of pixels large and results small
        x, weight = (np.where(np.indices(one.shape).sum(axis=0) % 2, 1, -1).astype(np.float32) for one in (x, weight))
        weight[:, ::2] *= -1
    assert error(WAYS[name](x, weight, padding=1), x, weight, padding=1).max() <= bound(name, x, weight)


def test_errors_of_usual_numbers_beside_direct_sums():
    """Of normal pixels and weights, in float32: F(2x2) as direct sums, F(4x4) less than six times as far off."""
    x, weight = layer(2, (1, 128, 28, 28), 32)
    (direct,) = [row for row in implementations.of("conv2d", "cpu") if row.name == "conv2d_tile"]
    rms = {
        name: np.sqrt(np.mean(error(way(x, weight), x, weight) ** 2))
        for name, way in {**WAYS, "direct": direct}.items()
    }
    assert rms["conv2d_winograd_2x2"] < 1.5 * rms["direct"]
    assert rms["direct"] < rms["conv2d_winograd_4x4"] < 6 * rms["direct"]
    assert rms["conv2d_fft"] < rms["direct"]


def test_an_infinite_pixel_is_not_a_number_for_winograd():
    """Each result is made of the pixels that its tile sees, so nothing goes further; but some of them are subtracted
    from each other."""
    x, weight = np.ones((1, 1, 12, 12), np.float32), np.ones((1, 1, 3, 3), np.float32)
    x[0, 0, 3, 3] = np.inf
    for name in ("conv2d_winograd_2x2", "conv2d_winograd_4x4"):
        result = WAYS[name](x, weight)
        assert np.isnan(result).any()
        assert not np.isfinite(result[..., 1:4, 1:4]).any()
        np.testing.assert_allclose(result[..., 8:, 8:], 9, rtol=1e-5)


# ---- what conv2d chooses ---------------------------------------------------------------------------------------------


def chosen(x, weight, **named):
    return conv2d(x, weight, explain=True, **named)


def test_conv2d_goes_by_winograd_where_there_are_channels():
    x, weight = layer(3, (1, 64, 28, 28), 64)
    result, choice = chosen(x, weight, padding=1)
    assert choice.rung == "conv2d_winograd_4x4"
    assert "36 multiplications for 144" in choice.why
    assert choice.multiplies == 36 * 49 * 64 * 64
    np.testing.assert_array_equal(result, conv2d_winograd(x, weight, padding=1))
    assert error(result, x, weight, padding=1).max() <= bound(choice.rung, x, weight)


def extreme(name):
    """A layer with numbers that sums before products do not bear."""
    x, weight = layer(4, (1, 64, 28, 28), 64)
    if name == "a bright pixel":
        x[0, 5, 9, 9] = 1e9
    elif name == "a large weight":
        weight[3, 5, 1, 1] = 1e9
    elif name == "an infinite pixel":
        x[0, 5, 9, 9] = np.inf
    elif name == "a pixel that is no number":
        x[0, 5, 9, 9] = np.nan
    elif name == "dark":
        x *= np.float32(1e-36)
    elif name == "very bright":
        x *= np.float32(1e34)
    elif name == "zeros":
        x[:] = 0
    return x, weight


EXTREMES = (
    "a bright pixel",
    "a large weight",
    "an infinite pixel",
    "a pixel that is no number",
    "dark",
    "very bright",
    "zeros",
)


@pytest.mark.parametrize("name", EXTREMES)
def test_extreme_numbers_are_added_up_directly(name):
    """Then each result is as near as its own terms allow, and what is infinite stays so."""
    x, weight = extreme(name)
    result, choice = chosen(x, weight, padding=1)
    assert choice.rung == "conv2d_implicit"
    assert "conv2d_winograd_4x4 would be faster" in choice.why
    right, terms = reference.conv2d(x, weight, padding=1), reference.conv2d(np.abs(x), np.abs(weight), padding=1)
    np.testing.assert_array_equal(np.isfinite(result), np.isfinite(right))
    there, limits = np.isfinite(right), np.finfo(np.float32)
    allowed = (weight[0].size + 3) * (float(limits.eps) * terms + float(limits.smallest_subnormal))
    assert (np.abs(result[there] - right[there]) <= allowed[there]).all()


def test_numbers_between_take_the_smaller_tile():
    """Some pixels are a thousand times as large: too much for F(4x4), not for F(2x2)."""
    x, weight = layer(5, (1, 64, 28, 28), 64)
    x[0, :, 7, 9] *= 2000
    result, choice = chosen(x, weight)
    assert choice.rung == "conv2d_winograd_2x2"
    assert "conv2d_winograd_4x4 would be faster, but the largest numbers are" in choice.why
    assert error(result, x, weight).max() <= bound(choice.rung, x, weight)


@pytest.mark.parametrize("name", ["few channels", "strided", "dilated", "grouped"])
def test_what_winograd_is_not_for(name):
    x, weight = layer(6, (1, 4 if name == "few channels" else 64, 28, 28), 64)
    named = {"strided": {"stride": 2}, "dilated": {"dilation": 2}, "grouped": {"groups": 2}}.get(name, {})
    _, choice = chosen(x, weight[:, :32] if name == "grouped" else weight, **named)
    assert choice.rung == ("conv2d_tile" if name in ("grouped", "few channels") else "conv2d_implicit")
    assert "would be faster" not in choice.why


# ---- large kernels ---------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("span", "results"), [(3, 5), (31, 200), (200, 100), (700, 3), (1, 1)])
def test_squares_hold_the_kernel(span, results):
    for weights in (0.1, 30):
        assert fft.length(span, results, weights) >= span


def test_squares_are_small_only_where_the_picture_is():
    """Each transform costs something beside its numbers: cut into squares of 8, a picture took three times as long as
    with 24."""
    assert fft.length(3, 94, 4) >= 24
    assert fft.length(3, 6, 256) <= 8


def test_large_kernels_go_by_fft():
    x, weight = layer(7, (1, 32, 70, 80), 32, kernel=31)
    result, choice = chosen(x, weight, padding=15)
    assert choice.rung == "conv2d_fft"
    assert "a kernel of 31 x 31: products of spectra of" in choice.why
    assert choice.multiplies < result.size * weight[0].size / 10
    assert error(result, x, weight, padding=15).max() <= bound("conv2d_fft", x, weight)
    g, _ = geometry.convolution((70, 80), (7, 7), padding=3)
    assert not fft.pays(np.empty((32, 32, 7, 7), np.float32), g, result)


def test_fft_takes_squares_in_parts(monkeypatch):
    """With little memory for spectra: some squares, some output channels at a time, the same results."""
    x, weight = layer(8, (2, 3, 50, 40), 6, kernel=11)
    whole = conv2d_fft(x, weight)
    monkeypatch.setattr(fft, "SPECTRA", 100_000)
    np.testing.assert_allclose(conv2d_fft(x, weight), whole, rtol=0, atol=bound("conv2d_fft", x, weight))
    grouped = conv2d_fft(x, weight[:, :1], groups=3)
    assert error(grouped, x, weight[:, :1], groups=3).max() <= bound("conv2d_fft", x, weight)


def test_a_few_tiles_do_not_pay_for_large_ones():
    """The last layer of a network: of many pictures F(4x4); of a few F(2x2), which is nearer, too; of one, with
    AVX-512, neither."""
    x, weight = layer(3, (16, 64, 7, 7), 64)
    few = "conv2d_winograd_2x2" if winograd.REGISTERS == 32 else "conv2d_winograd_4x4"
    one = "conv2d_implicit" if winograd.REGISTERS == 32 else "conv2d_winograd_2x2"
    for pictures, rung in ((1, one), (2, few), (4, few), (5, "conv2d_winograd_4x4"), (16, "conv2d_winograd_4x4")):
        assert conv2d(x[:pictures], weight, padding=1, explain=True)[1].rung == rung


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_sizes_of_two_arrays_and_of_one(dtype):
    """Each in parts, of which the last may be short; whatever is NaN or infinite shows in the mean."""
    rng = np.random.default_rng(0)
    for counts in ((1, 1), (5, PART), (PART, 1), (2 * PART + 3, PART - 1), (100, 3 * PART), (3 * PART + 17,)):
        arrays = [rng.standard_normal(n).astype(dtype) * (k + 1) for k, n in enumerate(counts)]
        for array, found in zip(arrays, sizes(*arrays), strict=True):
            assert found.largest == abs(array).max()
            assert np.isclose(found.mean, abs(array).mean(dtype=float), rtol=1e-5)
        for wrong in (np.inf, -np.inf, np.nan):
            for k, array in enumerate(arrays):
                place = rng.integers(array.size)
                kept, array[place] = array[place], wrong
                finite = [np.isfinite(found.mean) for found in sizes(*arrays)]
                array[place] = kept
                assert finite == [n != k for n in range(len(arrays))]


@pytest.mark.parametrize("shape", [(1, 96, 96, 20, 20), (9, 40, 70, 14, 15), (1, 300, 130, 7, 9), (2, 64, 33, 30, 31)])
@pytest.mark.parametrize("alone", [True, False])
def test_threads_prepare_for_themselves_or_for_all(shape, alone, monkeypatch):
    """Few or many tiles beside output channels; what the call before left in memory changes nothing."""
    pictures, ins, outs, high, wide = shape
    monkeypatch.setattr(private, "pays", lambda *_: alone)
    for module in (winograd, implicit):  # kept plans know the rule as it was
        monkeypatch.setattr(module, "plan", module.plan.__wrapped__)
    rng = np.random.default_rng(1)
    x = rng.standard_normal((pictures, ins, high, wide), dtype=np.float32)
    weight = rng.standard_normal((outs, ins, 3, 3), dtype=np.float32)
    g, _ = geometry.convolution((high, wide), (3, 3), 1, 1)
    expected, bias = reference.conv2d(x, weight, padding=1), np.zeros(outs, np.float32)
    numbers = get_num_threads()
    for module, *first in ((winograd, 4), (winograd, 2), (implicit,)):
        for threads in range(1, numbers + 1):
            set_num_threads(threads)
            for turn in (1, -1):  # kept memory holds what belongs to other pixels
                out = np.full(expected.shape, np.nan, np.float32)
                module.convolve(*first, turn * x, weight, bias, g, out)
                assert np.allclose(out, turn * expected, atol=2e-3), (module.__name__, first, threads)
    set_num_threads(numbers)
