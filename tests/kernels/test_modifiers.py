"""What only modifiers have: tiles that are never read, windows with a sink, functions that read arrays of their own."""

import numpy as np
import pytest
from numba import njit

from dlkernels import flex_attention, scaled_dot_product_attention
from dlkernels.attention import create_block_mask, flash, modifiers, reference

KEYS = flash.KEYS
WINDOW = modifiers.sliding_window(40, 3)  # one for several tests: the loop is compiled for each


def numbers(seed, *shape):
    return np.random.default_rng(seed).standard_normal(shape).astype(np.float32)


def seen_by(mask_mod, queries, keys):
    return np.vectorize(mask_mod.py_func, otypes=[bool])(0, 0, *np.ogrid[:queries, :keys])


def test_windows_see_what_they_should():
    for window, sink in ((1, 0), (40, 3), (300, 0)):
        seen = seen_by(modifiers.sliding_window(window, sink), 300, 300)
        for i in range(300):
            np.testing.assert_array_equal(
                np.flatnonzero(seen[i]), [j for j in range(i + 1) if i - j < window or j < sink]
            )


@pytest.mark.rotates
@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_a_window_with_a_sink_is_attention_under_its_mask(dtype):
    q, k, v = (numbers(i, 2, 300, 24).astype(dtype) for i in range(3))
    mask = create_block_mask(WINDOW, None, None, 300, 300)
    expected = reference.scaled_dot_product_attention(q, k, v, seen_by(WINDOW, 300, 300))
    np.testing.assert_allclose(flex_attention(q, k, v, block_mask=mask), expected, atol=20 * np.finfo(dtype).eps)


def test_without_modifiers_it_is_attention():
    q, k, v = (numbers(i, 3, 200, 16) for i in range(3))
    np.testing.assert_array_equal(flex_attention(q, k, v), scaled_dot_product_attention(q, k, v))


def test_kinds_of_tiles_are_those_of_the_mask():
    """Nobody, some and all, of a mask with ragged edges: as a count over the dense mask has it."""
    queries, keys = 3 * flash.wide("float32") + 5, 4 * KEYS + 9
    mask_mod = modifiers.sliding_window(90, 2)
    dense, across = seen_by(mask_mod, queries, keys), flash.wide("float32")
    kinds = create_block_mask(mask_mod, None, None, queries, keys).kinds("float32")
    assert kinds.shape == (1, 1, 4, 5)
    assert set(kinds.reshape(-1)) >= {flash.NOBODY, flash.SOME}
    for (_, _, tile, place), kind in np.ndenumerate(kinds):
        part = dense[tile * across : (tile + 1) * across, place * KEYS : (place + 1) * KEYS]
        assert kind == (flash.ALL if part.all() else flash.SOME if part.any() else flash.NOBODY)
    whole = create_block_mask(modifiers.sliding_window(10**6, 10**6), None, None, queries, 1)
    assert (whole.kinds("float32") == flash.ALL).all()
    mask = create_block_mask(modifiers.causal, None, None, 48 * 20, 64 * 15)
    assert mask.sparsity() == 100 * (mask.kinds("float32") == flash.NOBODY).mean() > 40
    assert mask.kinds("float32") is create_block_mask(modifiers.causal, None, None, 960, 960).kinds("float32"), (
        "asked once"
    )


def test_tiles_that_nobody_sees_are_not_read():
    """What stands there would spoil every sum."""
    q, k, v = (numbers(i, 400, 8) for i in range(3))
    mask = create_block_mask(WINDOW, None, None, 400, 400)
    right = flex_attention(q, k, v, None, mask)
    first = 6 * KEYS  # the last tile of keys: only the last queries look into it
    k[first:], v[first:] = np.nan, np.nan
    spoiled = flex_attention(q, k, v, None, mask)
    tiles = mask.kinds("float32")[0, 0, :, 6] == flash.NOBODY
    untouched = np.repeat(tiles, flash.wide("float32"))[:400]
    assert 300 < untouched.sum() < 400
    np.testing.assert_array_equal(spoiled[untouched], right[untouched])
    assert np.isnan(spoiled[-1]).all()


@pytest.mark.rotates
def test_a_modifier_may_read_arrays_of_its_own():
    """A bias for each distance, as in T5: an array outside, which the lanes beyond the last query may not read past."""
    bias = numbers(9, 70)

    @njit
    def relative(score, b, h, q_idx, kv_idx):
        return score + bias[q_idx - kv_idx + 20]

    q, k, v = numbers(0, 2, 50, 8), numbers(1, 2, 21, 8), numbers(2, 2, 21, 8)
    terms = bias[np.arange(50)[:, None] - np.arange(21) + 20]
    expected = reference.scaled_dot_product_attention(q, k, v, terms)
    np.testing.assert_allclose(flex_attention(q, k, v, relative), expected, atol=1e-6)


Q = np.zeros((2, 3, 5, 8), np.float32)
MASK = create_block_mask(modifiers.causal, 2, 3, 5, 5)
WRONG = {
    "not compiled": ((Q, Q, Q, lambda s, b, h, q, k: s), TypeError, r"score_mod is a function; expected.*@numba\.njit"),
    "a mask_mod": ((Q, Q, Q, None, modifiers.causal), TypeError, r"block_mask is a CPUDispatcher; expected what create_block"),
    "other lengths": ((Q[:, :, :4], Q, Q, None, MASK), ValueError, r"5 queries and 5 keys; expected 2 or 1, 3 or 1, 4 and 5"),
    "other heads": ((Q[:, :2], Q[:, :2], Q[:, :2], None, MASK), ValueError, r"3 heads.*expected 2 or 1, 2 or 1, 5 and 5"),
}  # fmt: skip


@pytest.mark.parametrize("case", WRONG.values(), ids=WRONG.keys())
def test_wrong_arguments(case):
    arguments, error, message = case
    with pytest.raises(error, match=message):
        flex_attention(*arguments)


def test_wrong_masks():
    with pytest.raises(TypeError, match=r"mask_mod is a function; expected a function with @numba\.njit"):
        create_block_mask(lambda b, h, q, k: True, None, None, 4, 4)
    with pytest.raises(TypeError, match=r"KV_LEN is 4\.0; expected a whole number\."):
        create_block_mask(modifiers.causal, None, None, 4, 4.0)
    with pytest.raises(ValueError, match=r"Q_LEN is -1; expected a number that is not negative"):
        create_block_mask(modifiers.causal, None, None, -1, 4)
