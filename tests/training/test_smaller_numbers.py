"""Numbers made smaller: ranges, codes, k-means, hashes, factors, GPTQ and AWQ, each beside what it has to equal."""

import numpy as np
import pytest
import scipy.sparse
import scipy.stats
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

import dlkernels
from training.smaller import awq, calibration, codebook, data_files, gptq, hashed, kv_cache, low_rank, pruning, storage
from training.smaller.rounded import grid

pytestmark = pytest.mark.quick


def normal(*shape, seed=0, dtype=np.float32):
    return np.random.default_rng(seed).standard_normal(shape).astype(dtype)


# ---- ranges ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("symmetric", [False, True])
@pytest.mark.parametrize("bits", [2, 3, 4, 8])
def test_what_is_inside_the_range_is_wrong_by_half_a_step_at_most(bits, symmetric):
    x = np.linspace(-1.5, 3, 1001, dtype=np.float32)
    scale, zero_point = calibration.calibrate(x, bits=bits, symmetric=symmetric)
    assert (scale.dtype, zero_point.dtype) == (np.float32, np.int32)
    found = calibration.rounded(x, scale, zero_point, bits)
    # a zero point is rounded, too: then an end may be clipped by half a step
    assert np.abs(found - x).max() <= scale * (1 + 1e-5) * (0.5 if symmetric else 1)
    assert len(np.unique(found)) <= 1 << bits
    assert calibration.rounded(np.zeros(1, np.float32), scale, zero_point, bits)[0] == 0
    assert (zero_point == 0) == symmetric


def test_a_range_always_has_zero_and_may_be_nothing_but_zero():
    scale, zero_point = calibration.calibrate(np.full(5, 7, np.float32))
    assert zero_point == -128
    assert scale == pytest.approx(7 / 255)
    scale, zero_point = calibration.calibrate(np.zeros(5, np.float32))
    assert scale > 0
    assert calibration.rounded(np.zeros(3, np.float32), scale, zero_point).tolist() == [0, 0, 0]


@pytest.mark.parametrize("symmetric", [False, True])
@pytest.mark.parametrize("bits", [3, 4, 8])
def test_least_squares_is_the_best_of_its_ranges_and_cuts_outliers(bits, symmetric):
    x = normal(4000)
    x[0] = 10

    def error(range_):
        scale, zero_point = calibration.scale_and_zero_point(*range_, bits, symmetric)
        return np.mean(np.square(x - calibration.rounded(x, scale, zero_point, bits), dtype=np.float64))

    found = calibration.least_squares(x, bits, symmetric)
    whole = np.array([-10, 10] if symmetric else [x.min(), x.max()], np.float64)
    assert error(found) == pytest.approx(min(error(part * whole) for part in np.linspace(1, 0.05, 80)))
    assert error(found) < error(whole) / (1 if bits == 8 else 2)
    assert found[1] <= 10


def test_percentile_keeps_that_part_of_the_numbers():
    x = normal(10_000)
    for percent in (90, 99):
        low, high = calibration.percentile(x, percent=percent)
        assert np.mean((x >= low) & (x <= high)) == pytest.approx(percent / 100, abs=1e-3)
        low, high = calibration.percentile(x, symmetric=True, percent=percent)
        assert low == -high
        assert np.mean(np.abs(x) <= high) == pytest.approx(percent / 100, abs=1e-3)
    assert calibration.percentile(x, percent=100) == calibration.min_max(x)


def test_divergence_is_scipys_and_0_of_the_same():
    p, q = np.array([4.0, 0, 3, 1]), np.array([1.0, 2, 2, 5])
    assert calibration.kl_divergence(p, p) == 0
    assert calibration.kl_divergence(p, 7 * p) == pytest.approx(0, abs=1e-15)
    assert calibration.kl_divergence(p, q) == pytest.approx(scipy.stats.entropy(p, q))
    assert calibration.kl_divergence(q, p) == np.inf


def test_entropy_keeps_a_histogram_that_codes_can_tell_and_cuts_a_far_outlier():
    counts = np.arange(1, 129, dtype=np.float64)
    assert calibration.kl_divergence(counts, calibration._merged(counts, 128)) == 0
    merged = calibration._merged(np.array([2.0, 0, 4, 8]), 2)
    assert merged.tolist() == [2, 0, 6, 6]  # the mean of those that are not empty
    x = normal(20_000)
    low, high = calibration.entropy(x)
    assert 3 < high <= np.abs(x).max()
    x[0] = 100
    assert calibration.min_max(x)[1] == 100
    assert calibration.entropy(x)[1] < 20
    assert calibration.entropy(np.abs(x))[0] >= 0
    assert low == pytest.approx(-high, rel=0.3)


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (lambda: calibration.calibrate(np.array([1, np.nan], np.float32)), "expected finite"),
        (lambda: calibration.calibrate(np.zeros(0, np.float32)), "0 numbers"),
        (lambda: calibration.calibrate(np.arange(3)), "int64"),
        (lambda: calibration.calibrate(normal(3), "mean"), "expected one of min_max, percentile"),
        (lambda: calibration.calibrate(normal(3), bits=1), "bits is 1; expected a whole number from 2"),
        (lambda: calibration.percentile(normal(3), percent=0), "percent is 0"),
        (lambda: calibration.entropy(normal(3), bins=5), "bins is 5; expected at least 128"),
        (lambda: grid(normal(2, 3), granularity="row"), "expected one of tensor, channel, group"),
        (lambda: grid(normal(2, 3), group_size=0), "group_size is 0"),
        (lambda: grid(np.full((2, 3), np.inf, np.float32)), "expected finite"),
        (lambda: storage.pack(np.array([4]), 2), "codes are from 4 to 4; expected 0 to 3"),
        (lambda: storage.pack(np.array([-1]), 2), "codes are from -1"),
        (lambda: storage.pack(np.array([1]), 17), "bits is 17"),
        (lambda: codebook.kmeans(np.zeros(0), 2), "x has 0 numbers"),
        (lambda: codebook.kmeans(np.array([1, np.nan]), 2), "expected finite"),
        (lambda: codebook.kmeans(np.zeros(3), 0), "count is 0"),
        (lambda: low_rank.truncated(normal(3, 4), 4), "rank is 4; expected 1 to 3"),
        (lambda: pruning.largest(normal(3), 1.5), "keep is 1.5"),
        (lambda: gptq.gptq_matrix(normal(3, 4), normal(5, 3)), "expected .out, K. and .rows, K."),
        (lambda: gptq.gptq_matrix(normal(3, 4), normal(2, 4), damping=0), "2 rows of x do not determine 4 columns"),
        (lambda: awq.awq_matrix(normal(3, 4), normal(5, 4), tries=0), "tries is 0"),
        (lambda: kv_cache.kept(normal(3, 4)), "expected .batch, heads, tokens, width., float32"),
        (lambda: kv_cache.kept(normal(1, 1, 3, 4), by="row"), 'expected "token" or "channel"'),
        (lambda: data_files.ways(normal(3)), "whole k from 0 to 255"),
        (lambda: data_files.break_even((1, 0), (2, 0)), "expected the larger file first"),
    ],
)
def test_what_is_wrong_is_said(call, words):
    with pytest.raises(ValueError, match=words):
        call()


# ---- codes -----------------------------------------------------------------------------------------------------------


@given(st.integers(1, 16), st.integers(0, 70), st.integers(0, 9))
def test_packed_codes_come_back_and_take_their_bits(bits, count, seed):
    codes = np.random.default_rng(seed).integers(0, 1 << bits, count)
    packed = storage.pack(codes, bits)
    assert packed.dtype == np.uint8
    assert len(packed) == -(-count * bits // 8)
    assert storage.unpack(packed, bits, count).tolist() == codes.tolist()


def test_four_bits_are_two_in_a_byte_the_even_one_low():
    assert storage.pack(np.array([1, 2, 15]), 4).tolist() == [0x21, 0x0F]


@given(hnp.arrays(np.float32, hnp.array_shapes(min_dims=2, max_dims=2, max_side=12),
                  elements=st.sampled_from([0.0, 0.0, 1.5, -2.0])))  # fmt: skip
def test_numbers_with_zeros_come_back(x):
    assert np.array_equal(storage.dense(storage.sparse(x), x.shape), x)
    rows = storage.csr(x)
    back = scipy.sparse.csr_matrix((rows["values"], rows["columns"].astype(int), rows["starts"].astype(int)), x.shape)
    assert np.array_equal(back.toarray(), x)
    assert storage.total(storage.smallest(rows, storage.sparse(x))) <= storage.total(rows)


@pytest.mark.parametrize("method", ["min_max", "percentile", "least_squares"])
@pytest.mark.parametrize("symmetric", [True, False])
@pytest.mark.parametrize(("granularity", "scales"), [("tensor", ()), ("channel", (5,)), ("group", (5, 3))])
def test_a_grid_has_the_scales_that_its_parts_ask_for(granularity, scales, symmetric, method):
    x = normal(5, 37) * np.geomspace(0.1, 10, 5, dtype=np.float32)[:, None]
    found = grid(x, 4, granularity, 16, symmetric, method)
    assert found.scales.shape == scales
    assert (found.zero_points is None) == symmetric
    spread, zeros = found.spread(x.shape)
    parts = {
        "tensor": [np.s_[:, :]],
        "channel": [np.s_[k] for k in range(5)],
        "group": [np.s_[k, j : j + 16] for k in range(5) for j in (0, 16, 32)],
    }[granularity]
    for part in parts:
        scale, zero_point = calibration.calibrate(x[part], method, 4, symmetric)
        assert np.all(spread[part] == scale)
        assert np.all(zeros[part] == zero_point)
        expected = calibration.rounded(x[part], scale, zero_point, 4)
        np.testing.assert_allclose(found.rounded(x)[part], expected, rtol=1e-6)
    codes = found.codes(x)
    for these in (codes, np.where(normal(5, 37, seed=1) > 1, codes, 0).astype(np.int16)):
        assert np.array_equal(found.stored(found.arrays(these), x.shape), these)
    sizes = [storage.total(grid(x, bits, granularity, 16, symmetric).arrays(codes // 8)) for bits in (2, 4, 8)]
    assert sizes == sorted(sizes)


def test_a_masked_code_is_stored_where_that_is_smaller():
    found = grid(normal(8, 64), 8)
    codes = found.codes(normal(8, 64) * 3)
    few = np.where(normal(8, 64, seed=1) > 1, codes, 0).astype(np.int16)
    assert "mask" not in found.arrays(codes)
    assert "mask" in found.arrays(few)
    assert storage.total(found.arrays(few)) < storage.total(found.arrays(codes)) / 2


# ---- GPTQ and AWQ ----------------------------------------------------------------------------------------------------


def correlated(rows, width, seed=3):
    """Inputs as layers have them: sums of few things, of different size."""
    return normal(rows, width // 2, seed=seed) @ normal(width // 2, width, seed=seed + 1) + normal(rows, width, seed=9)


@pytest.mark.parametrize("symmetric", [True, False])
@pytest.mark.parametrize("bits", [2, 3, 4])
def test_gptq_is_least_squares_for_the_columns_that_are_left(bits, symmetric):
    """Column by column, by lstsq instead of Cholesky: the columns that are left answer to the error as well as any
    can."""
    matrix, x = normal(6, 8), correlated(50, 8).astype(np.float64)
    codes, found = gptq.gptq_matrix(matrix, x, bits, symmetric=symmetric, damping=0)
    scales, zeros = found.spread(matrix.shape)
    w, exact = matrix.astype(np.float64), x @ matrix.T.astype(np.float64)
    for j in range(8):
        code = np.clip(np.rint(w[:, j] / scales[:, j]) + zeros[:, j], *calibration.limits(bits))
        assert np.array_equal(codes[:, j], code), j
        w[:, j] = scales[:, j] * (code - zeros[:, j])
        if j < 7:
            left = exact - x[:, : j + 1] @ w[:, : j + 1].T
            w[:, j + 1 :] = np.linalg.lstsq(x[:, j + 1 :], left, rcond=None)[0].T


@pytest.mark.parametrize("granularity", ["tensor", "channel", "group"])
def test_gptq_and_awq_beat_rounding_to_nearest(granularity):
    matrix, both = normal(24, 32), correlated(600, 32)
    x, new = both[:300], both[300:]
    nearest = grid(matrix, 3, granularity, 8)
    codes, found = gptq.gptq_matrix(matrix, x, 3, granularity, 8)
    usual = gptq.output_error(matrix, nearest.rounded(matrix), new)
    assert gptq.output_error(matrix, found.numbers(codes), new) < 0.8 * usual
    x, new = (one * np.where(np.arange(32) % 9, 1, 10) for one in (x, new))  # a few large inputs
    codes, found, s, exponent = awq.awq_matrix(matrix, x, 3, granularity, 8)
    assert 0 < exponent <= 1
    usual = gptq.output_error(matrix, nearest.rounded(matrix), new)
    assert gptq.output_error(matrix, found.numbers(codes) / s, new) < usual


def test_an_input_that_is_always_zero_does_not_stop_gptq():
    x = correlated(40, 8)
    x[:, 3] = 0
    codes, found = gptq.gptq_matrix(normal(4, 8), x, 4)
    assert np.isfinite(found.numbers(codes)).all()


def test_awq_is_never_worse_on_its_own_inputs_and_shares_scales():
    for seed in range(5):
        matrix, x = normal(6, 18, seed=seed), normal(30, 18, seed=seed + 9)
        nearest = gptq.output_error(matrix, grid(matrix, 3, "group", 6).rounded(matrix), x)
        codes, found, s, _ = awq.awq_matrix(matrix, x, 3, "group", 6, share=9)
        assert gptq.output_error(matrix, found.numbers(codes) / s, x) <= nearest * (1 + 1e-6)
        assert len(np.unique(s)) <= 2


# ---- keys and values -------------------------------------------------------------------------------------------------


def test_keys_want_a_scale_for_a_channel_and_error_falls_with_bits():
    q, k, v = (normal(2, 3, n, 32, seed=n) for n in (5, 100, 101))
    v = v[:, :, :100]
    k[..., 3] += 12  # a channel that is large in every token
    errors = {
        by: [kv_cache.attention_error(q, k, v, bits, keys=by)[0] for bits in (2, 4, 8)] for by in ("channel", "token")
    }
    assert all(errors[by] == sorted(errors[by], reverse=True) for by in errors)
    assert all(one < other for one, other in zip(*errors.values(), strict=True))
    assert errors["channel"][2] < 0.01


def test_eight_bits_by_token_are_as_near_as_the_cache_of_bytes():
    q, k, v = (normal(2, 3, n, 32, seed=n) for n in (1, 60, 61))
    v = v[:, :, :60]
    cache = dlkernels.KVCache(2, 3, 60, 32, dtype="int8")
    cache.append(k, v)
    exact = dlkernels.scaled_dot_product_attention(q, k, v)
    error = np.linalg.norm(cache.attend(q) - exact) / np.linalg.norm(exact)
    assert kv_cache.attention_error(q, k, v, 8, "token", "token")[0] == pytest.approx(error, rel=0.5)
    assert cache.nbytes < k.nbytes


def test_what_is_kept_is_near_and_bytes_are_counted():
    x = normal(1, 2, 70, 32)
    for bits in (2, 4, 8):
        token, channel = (kv_cache.kept(x, bits, by, 16) for by in ("token", "channel"))
        assert token.nbytes == 2 * 70 * (32 * bits // 8 + 2 * 5)
        assert channel.nbytes == 2 * 32 * (64 * bits // 8 + 4 * 5 + 6 * 4)  # the last 6 tokens stay float32
        assert np.array_equal(channel.numbers[:, :, 64:], x[:, :, 64:])
        steps = (x.reshape(1, 2, 70, 2, 16).max(-1) - np.minimum(0, x.reshape(1, 2, 70, 2, 16).min(-1))) / (2**bits - 1)
        assert np.all(np.abs(token.numbers - x).reshape(1, 2, 70, 2, 16) <= steps[..., None] * 1.01)
    short = kv_cache.kept(x[:, :, :3], 4, "channel", 16)
    assert np.array_equal(short.numbers, x[:, :, :3])
    assert short.nbytes == x[:, :, :3].nbytes


# ---- fewer numbers ---------------------------------------------------------------------------------------------------


@given(hnp.arrays(np.float32, st.integers(1, 60), elements=st.floats(-4, 4, width=32)), st.integers(1, 9))
def test_kmeans_never_gets_worse_and_takes_the_nearest(x, count):
    last = np.inf
    for rounds in (0, 1, 2, 3, 50):
        centroids, indices = codebook.kmeans(x, count, rounds)
        error = np.sum((x.astype(np.float64) - centroids[indices]) ** 2)
        assert error <= last + 1e-5
        last = error
        nearest = np.abs(x[:, None].astype(np.float64) - centroids).min(axis=1)
        np.testing.assert_allclose(np.abs(x - centroids[indices].astype(np.float64)), nearest, atol=1e-6)


def test_kmeans_finds_clusters_and_shapes_stay():
    x = np.repeat(np.array([-2, 0.5, 3], np.float32), 4).reshape(3, 4)[:, ::-1]
    centroids, indices = codebook.kmeans(x, 3)
    assert centroids.tolist() == [-2, 0.5, 3]
    assert np.array_equal(centroids[indices], x)
    assert indices.dtype == np.uint8


def test_huffmans_bits_lie_between_the_entropy_and_one_more():
    counts = np.array([50, 20, 0, 20, 5, 5])
    least = scipy.stats.entropy(counts / 100, base=2) * 100
    assert least <= codebook.huffman_bits(counts) <= least + 100
    assert codebook.huffman_bits([4, 4, 4, 4]) == 32
    assert codebook.huffman_bits([7]) == 7


def test_hashes_spread_and_depend_on_the_seed():
    h = hashed.hashes(1 << 15)
    assert len(np.unique(h)) == len(h)
    counts = np.bincount(h >> np.uint32(1) & np.uint32(63), minlength=64)
    assert scipy.stats.chisquare(counts).pvalue > 1e-3
    assert abs(np.mean(h & np.uint32(1)) - 0.5) < 0.02
    assert not np.any(h == hashed.hashes(1 << 15, seed=1))
    assert np.array_equal(h[:100], hashed.hashes(100))


def test_factors_of_a_rank_are_the_closest():
    matrix = normal(9, 14)
    s = np.linalg.svd(matrix, compute_uv=False)
    for rank in (1, 4, 9):
        u, v = low_rank.truncated(matrix, rank)
        assert (u.shape, v.shape) == ((9, rank), (rank, 14))
        assert np.linalg.norm(matrix - u @ v) == pytest.approx(np.sqrt(np.sum(s[rank:] ** 2)), rel=1e-4, abs=1e-5)


def test_the_largest_weights_stay_and_of_four_two():
    x = np.array([[3.0, -5, 1, 1], [0, 0, 2, -2]])
    assert pruning.largest(np.abs(x), 0.5).tolist() == [[True, True, False, False], [False, False, True, True]]
    assert pruning.largest(np.ones(5), 0.4).tolist() == [True, True, False, False, False]
    mask = pruning.two_of_four(x)
    assert mask.tolist() == [[True, True, False, False], [False, False, True, True]]
    x = normal(6, 3, 5, 5)
    mask = pruning.two_of_four(x).reshape(6, 75)
    assert np.all(mask[:, :72].reshape(6, 18, 4).sum(-1) == 2)
    assert np.all(mask[:, 72:].sum(-1) == 2)
    sizes = np.abs(x.reshape(6, 75)[:, :72].reshape(6, 18, 4))
    kept = mask[:, :72].reshape(6, 18, 4)
    assert np.all(np.where(kept, sizes, np.inf).min(-1) >= np.where(kept, 0, sizes).max(-1))
    for width, stay in ((1, 1), (2, 2), (3, 2), (5, 3)):
        assert np.all(pruning.two_of_four(normal(4, width)).sum(-1) == stay)


def test_the_schedule_of_zhu_and_gupta():
    assert [pruning.sparsity_at(step, 10, 20, 0.1, 0.9) for step in (0, 10, 20, 99)] == pytest.approx(
        [0.1, 0.1, 0.9, 0.9]
    )
    middle = pruning.sparsity_at(15, 10, 20, 0.0, 0.8)
    assert middle == pytest.approx(0.8 - 0.8 / 8)


# ---- pictures --------------------------------------------------------------------------------------------------------


def test_pictures_come_back_from_each_file():
    images = (np.random.default_rng(0).integers(0, 17, (40, 1, 8, 8)) * (normal(40, 1, 8, 8) > 0)).astype(
        np.float32
    ) / np.float32(16)
    files = data_files.ways(images, 16)
    for name, (content, decode) in files.items():
        found = decode(content)
        assert found.dtype == np.float32
        assert found.shape == images.shape
        np.testing.assert_allclose(found, images, rtol=0, atol=5e-4 if name == "float16" else 0)
    sizes = {name: len(content) for name, (content, _) in files.items()}
    assert sizes["float32"] > sizes["float16"] > sizes["uint8"] > sizes["uint8, lzma"]
    assert data_files.break_even((300, 1.0), (100, 3.0)) == 100
    assert data_files.break_even((300, 2.0), (100, 1.0)) == float("inf")
