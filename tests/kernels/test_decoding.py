"""What only decoding has: caches that grow, hold bytes or lie in pages, and partial results that are merged."""

import itertools

import numpy as np
import pytest

from dlkernels import KVCache, PagedKVCache, decode_attention, merge_attention, scaled_dot_product_attention
from dlkernels.attention import cpu, flash, reference, split
from dlkernels.attention.geometry import geometry
from dlkernels.attention.kv_cache import to_bytes

pytestmark = pytest.mark.rotates


def numbers(seed, *shape, dtype="float32"):
    return np.random.default_rng(seed).standard_normal(shape).astype(dtype)


# ---- the cache against recomputation ---------------------------------------------------------------------------------


@pytest.mark.parametrize("group", [1, 3])
@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_a_cache_gives_what_recomputation_gives(dtype, group):
    """Tokens come one by one or several at a time; after each step, the newest rows of causal attention over all."""
    draw = np.random.default_rng(group)
    batch, heads, length, width, values = 2, 2, 90, 24, 20
    q = numbers(1, batch, heads * group, length, width, dtype=dtype)
    k, v = numbers(2, batch, heads, length, width, dtype=dtype), numbers(3, batch, heads, length, values, dtype=dtype)
    whole = reference.scaled_dot_product_attention(q, k, v, None, True, None, True)
    cache = KVCache(batch, heads, length, width, values, dtype)
    while cache.length < length:
        new = min(int(draw.choice([1, 1, 1, 2, 7])), length - cache.length)
        place = np.s_[:, :, cache.length : cache.length + new]
        cache.append(k[place], v[place])
        np.testing.assert_allclose(cache.attend(q[place]), whole[place], rtol=0, atol=50 * np.finfo(dtype).eps)
    np.testing.assert_array_equal(cache.k, k)
    np.testing.assert_array_equal(cache.v, v)
    assert cache.k.base is not None, "a view, not a copy"


def test_a_full_cache_refuses_or_grows():
    x = numbers(0, 1, 2, 3, 4)
    cache = KVCache(1, 2, 4, 4)
    cache.append(x, x)
    with pytest.raises(ValueError, match=r"room for 4 tokens and holds 3; 3 more do not fit.*grow=True"):
        cache.append(x, x)
    assert cache.length == 3, "what does not fit leaves no trace"
    np.testing.assert_array_equal(cache.k, x)
    for dtype in ("float32", "int8"):
        growing, roomy = KVCache(1, 2, 4, 4, dtype=dtype, grow=True), KVCache(1, 2, 12, 4, dtype=dtype)
        for _ in range(4):
            growing.append(x, x)
            roomy.append(x, x)
        assert (growing.length, growing.room) == (12, 16)
        np.testing.assert_array_equal(growing.k, roomy.k)
        np.testing.assert_array_equal(growing.attend(x[:, :, :1]), roomy.attend(x[:, :, :1]))


# ---- bytes -----------------------------------------------------------------------------------------------------------


def test_bytes_are_wrong_by_half_a_step_and_take_a_quarter():
    k, v, q = numbers(1, 2, 2, 300, 64), numbers(2, 2, 2, 300, 64), numbers(3, 2, 4, 1, 64)
    narrow, wide = KVCache(2, 2, 300, 64, dtype="int8"), KVCache(2, 2, 300, 64)
    for cache in (narrow, wide):
        cache.append(k, v)
    step = np.abs(k).max(axis=-1, keepdims=True) / 127
    error = np.abs(narrow.k - k)
    assert (error <= step * (0.5 + 1e-5)).all()
    assert error.max() > step.max() / 4
    assert narrow.nbytes / wide.nbytes == (64 + 4) / (4 * 64)
    exact = reference.decode_attention(q, k, v)
    stored = reference.decode_attention(q, narrow.k, narrow.v)
    np.testing.assert_allclose(narrow.attend(q), stored, rtol=0, atol=1e-5)  # the kernel adds nothing to it
    # A score is off by |q|_1 * half a step / sqrt(width) at most, so a weight by that factor both ways; a value by half
    # a step.
    of_score = np.abs(q).sum(axis=-1).max() * step.max() / 2 / 8
    bound = np.expm1(2 * of_score) * np.abs(v).max() + np.abs(v).max() / 127
    assert 0 < np.abs(narrow.attend(q) - exact).max() < bound


def test_rows_of_zeros_are_bytes_too():
    narrow, factors = to_bytes(np.zeros((2, 3), np.float32))
    np.testing.assert_array_equal(narrow, 0)
    np.testing.assert_array_equal(factors, 0)


# ---- pages -----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("dtype", ["float32", "int8"])
def test_pages_give_what_one_line_gives(dtype):
    """Sequences of all lengths come, grow and go; those that are there ask together."""
    draw, kind = np.random.default_rng(5), np.dtype(dtype)
    pool, alone = PagedKVCache(40, 4, 2, 16, dtype=kind), {}
    for turn in range(60):
        if len(alone) > 4 or (alone and draw.random() < 0.1):
            gone = int(draw.choice(sorted(alone)))
            pool.end(gone)
            del alone[gone]
        if not alone or draw.random() < 0.2:
            alone[pool.begin()] = KVCache(1, 2, 4, 16, dtype=kind, grow=True)
        sequence = int(draw.choice(sorted(alone)))
        new = int(draw.integers(1, 6))
        k, v = numbers(turn, 2, new, 16), numbers(turn + 1000, 2, new, 16)
        pool.append(sequence, k, v)
        alone[sequence].append(k[None], v[None])
        q = numbers(turn + 2000, len(alone), 6, 1, 16)
        result = pool.attend(list(alone), q)
        for i, cache in enumerate(alone.values()):
            np.testing.assert_allclose(result[i : i + 1], cache.attend(q[i : i + 1]) if cache.length else 0, atol=2e-6)
    length = sum(cache.length for cache in alone.values())
    used = 40 - len(pool.free)
    assert length <= 4 * used <= length + 3 * len(alone), "a sequence wastes less than a page"
    assert sorted(itertools.chain(pool.free, *pool.tables.values())) == list(range(40)), "each page once"


def test_a_pool_without_pages_says_so():
    pool, x = PagedKVCache(2, 4, 1, 8), numbers(0, 1, 5, 8)
    first, second = pool.begin(), pool.begin()
    pool.append(first, x, x)
    with pytest.raises(ValueError, match=r"5 more tokens need 2 more pages of 4, and 0 are free"):
        pool.append(second, x, x)
    assert (pool.lengths[second], pool.tables[second]) == (0, [])
    pool.end(first)
    pool.append(second, x, x)
    with pytest.raises(ValueError, match=r"sequence is 1; expected one of \[2\]"):
        pool.attend([first], x[None, :, :1])


# ---- splits and their merge ------------------------------------------------------------------------------------------


@pytest.mark.parametrize("splits", [1, 2, 3, 17])
def test_any_number_of_splits_gives_the_same(splits):
    """More splits than keys among them: a split of no key adds nothing."""
    for keys in (1, 5, 16, 300):
        q, k, v = numbers(1, 6, 2, 24), numbers(2, 2, keys, 24), numbers(3, 2, keys, 70)
        _, g = geometry(q, k, v, None, False, None, True)
        plan, out = split.plan_of(g), np.zeros(6 * 2 * 70, np.float32)
        assert (plan.groups, plan.rows) == (2, 6)
        lines = [x.reshape(-1) for x in (q, k, v)]
        sums = split.attend(plan, *lines, None, None, np.zeros(1, np.float32), out, splits)
        expected = reference.scaled_dot_product_attention(q, k, v, None, False, None, True)
        np.testing.assert_allclose(out.reshape(6, 2, 70), expected, atol=2e-6)
        scores = np.einsum("hqc,hkc->hqk", q, np.repeat(k, 3, 0)) / np.sqrt(24)
        np.testing.assert_allclose(sums.reshape(6, 2), np.log(np.exp(scores).sum(axis=-1)), atol=1e-5)


def test_merged_parts_are_the_whole():
    """Attention over some keys and over others, in any order and number of parts."""
    q, k, v = (
        numbers(1, 3, 1, 16, dtype="float64"),
        numbers(2, 3, 50, 16, dtype="float64"),
        numbers(3, 3, 50, 8, dtype="float64"),
    )
    for cuts in ([0, 50], [0, 20, 50], [0, 1, 1, 30, 49, 50]):
        out, lse = np.zeros((3, 1, 8)), np.full((3, 1), -np.inf)
        for first, last in reversed(list(itertools.pairwise(cuts))):
            part = decode_attention(q, k[:, first:last], v[:, first:last], return_lse=True)
            out, lse = merge_attention(out, lse, *part)
        whole, whole_lse = reference.decode_attention(q, k, v, return_lse=True)
        np.testing.assert_allclose(out, whole, rtol=1e-12, atol=1e-14)
        np.testing.assert_allclose(lse, whole_lse, rtol=1e-13)


def test_few_queries_take_the_way_of_few(monkeypatch):
    """The attention of one query does not fill tiles of queries, that of many does."""
    monkeypatch.setattr(flash, "attend", None)
    q, k = numbers(1, 2, 1, 8), numbers(2, 2, 40, 8)
    expected = reference.scaled_dot_product_attention(q, k, k)
    np.testing.assert_allclose(scaled_dot_product_attention(q, k, k), expected, atol=1e-6)
    with pytest.raises(TypeError, match="NoneType"):
        scaled_dot_product_attention(numbers(1, 2, flash.wide("float32"), 8), k, k)
    _, g = geometry(q, k, k, None, False, None, False)
    assert cpu.extra_bytes("attention_split", g, threads=1) < 4 * 3000


# ---- wrong arguments -------------------------------------------------------------------------------------------------

Q, K, N = np.zeros((2, 4, 1, 8), np.float32), np.zeros((2, 2, 5, 8), np.float32), np.array([1, 5])
BYTES, FACTORS, TABLE = K.astype(np.int8), np.ones((2, 2, 5), np.float32), np.array([[0], [1]])
WRONG = {
    "another width": ((Q, K[..., :7], K), ValueError, r"expected q \(\.\.\., heads, queries, width\)"),
    "another room": ((Q, K, K[:, :, :4]), ValueError, r"v \(\.\.\., heads of k, room, value width\)"),
    "heads": ((Q[:, :3], K, K), ValueError, r"multiple of that of k and v"),
    "sequences": ((Q[:1], K, K), ValueError, r"one cache for each sequence"),
    "no heads": ((Q[0, 0], K[0, 0], K[0, 0]), ValueError, r"expected q \(\.\.\., heads"),
    "too long": ((Q, K, K, N + 1), ValueError, r"lengths are from 2 to 6; expected 0 to 5, the room of k and v"),
    "negative": ((Q, K, K, N - 2), ValueError, r"lengths are from -1 to 3"),
    "lengths of another shape": ((Q, K, K, N[:1]), ValueError, r"lengths has shape \(1,\); expected \(2,\)"),
    "lengths of floats": ((Q, K, K, N.astype(float)), TypeError, r"lengths has dtype float64; expected int64 or int32"),
    "bytes without factors": ((Q, BYTES, BYTES, N), TypeError, r"k has dtype int8; expected float32"),
    "factors of one": ((Q, BYTES, BYTES, N, None, FACTORS), ValueError, r"One of k_scale and v_scale is None"),
    "factors without bytes": ((Q, K, K, N, None, FACTORS, FACTORS), TypeError, r"k has dtype float32; expected int8"),
    "factors of another shape": (
        (Q, BYTES, BYTES, N, None, FACTORS[:1], FACTORS),
        ValueError,
        r"expected k_scale and v_scale \(2, 2, 5\)",
    ),
    "pages without lengths": ((Q, K, K, None, TABLE), ValueError, r"lengths is None, and block_table is given"),
    "a page that is not there": (
        (Q, K, K, N, TABLE + 1),
        ValueError,
        r"names page 2; expected 0 to 1, as k has 2 pages",
    ),
    "a table of another shape": ((Q, K, K, N, TABLE[0]), ValueError, r"expected \(2, pages of each\), and k \(pages"),
    "return_lse": ((Q, K, K, N, None, None, None, None, 1), TypeError, r"return_lse is 1; expected True or False"),
}


@pytest.mark.parametrize("case", WRONG.values(), ids=WRONG.keys())
def test_wrong_arguments(case):
    arguments, error, message = case
    with pytest.raises(error, match=message):
        decode_attention(*arguments)


def test_pages_beyond_the_length_may_be_anything():
    table = np.array([[1, -7], [0, 99]])
    expected = reference.decode_attention(Q + 1, K[[1, 0]], K[[1, 0]], N)
    np.testing.assert_array_equal(decode_attention(Q + 1, K, K, N, table), expected)


def test_wrong_caches():
    with pytest.raises(ValueError, match=r"room is 0; expected at least 1"):
        KVCache(1, 1, 0, 8)
    with pytest.raises(TypeError, match=r"width is 2\.0; expected a whole number"):
        KVCache(1, 1, 4, 2.0)
    with pytest.raises(TypeError, match=r"dtype is float16; expected float32, float64, or int8"):
        KVCache(1, 1, 4, 8, dtype="float16")
    cache = KVCache(2, 2, 8, 8)
    with pytest.raises(ValueError, match=r"k has shape \(2, 5, 8\); expected \(2, 2, new tokens, 8\)"):
        cache.append(K[0], K[0])
    with pytest.raises(ValueError, match=r"k has 5 new tokens and v has 4"):
        cache.append(K, K[:, :, :4])
    with pytest.raises(TypeError, match=r"v has dtype float64; expected float32"):
        cache.append(K, K.astype(float))


# ---- partial results that do not fit ---------------------------------------------------------------------------------


def test_wrong_parts():
    out, lse = np.zeros((3, 4), np.float32), np.zeros(3, np.float32)
    with pytest.raises(ValueError, match=r"one has shape \(3, 4\) and one_lse has shape \(2,\)"):
        merge_attention(out, lse[:2], out, lse[:2])
    with pytest.raises(TypeError, match=r"other_lse has dtype float64"):
        merge_attention(out, lse, out, lse.astype(float))
