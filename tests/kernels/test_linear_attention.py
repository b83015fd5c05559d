"""What only attention without a softmax has: chunks of any size, decays that vanish, values that give way."""

import numpy as np
import pytest

from dlkernels import gated_delta_rule, linear_attention
from dlkernels.attention import linear

pytestmark = pytest.mark.rotates


def numbers(seed, *shape, dtype="float64"):
    return np.random.default_rng(seed).standard_normal(shape).astype(dtype)


def test_without_decay_it_is_a_product_under_the_diagonal():
    q, k, v = numbers(0, 2, 150, 8), numbers(1, 2, 150, 8), numbers(2, 2, 150, 5)
    expected = np.tril(q @ k.swapaxes(1, 2)) @ v / np.sqrt(8)
    np.testing.assert_allclose(linear_attention(q, k, v), expected, rtol=1e-9, atol=1e-11)


@pytest.mark.parametrize("size", [1, 3, 16, 100])
def test_any_size_of_chunks_gives_the_same(size, monkeypatch):
    q, k, v, g = numbers(0, 3, 70, 8), numbers(1, 3, 70, 8), numbers(2, 3, 70, 5), -np.abs(numbers(3, 3, 70))
    k /= np.linalg.norm(k, axis=-1, keepdims=True)
    beta = np.random.default_rng(4).random((3, 70))
    usual = gated_delta_rule(q, k, v, g, beta)
    monkeypatch.setattr(linear, "CHUNK", size)
    np.testing.assert_allclose(gated_delta_rule(q, k, v, g, beta), usual, rtol=1e-9, atol=1e-12)


def test_decays_that_leave_nothing_are_no_overflow():
    """e^(G_i - G_j) is taken for j <= i only: for the others it would be infinite."""
    q, k, v = (numbers(i, 1, 130, 4, dtype="float32") for i in range(3))
    result = linear_attention(q, k, v, np.full((1, 130), -90, np.float32), 1.0)
    np.testing.assert_allclose(result, (q * k).sum(axis=-1, keepdims=True) * v, rtol=1e-5, atol=1e-6)


def test_a_value_gives_way_to_a_new_one():
    """The delta rule is a memory: a key that comes again has its newest value, and no other key is touched."""
    keys = np.eye(4)[[0, 1, 2, 0, 3, 1]]
    values = numbers(0, 6, 3)
    queries = np.eye(4)[[0, 0, 0, 0, 1, 2]]
    newest = values[[0, 0, 0, 3, 1, 2]]
    result = gated_delta_rule(queries, keys, values, np.zeros(6), np.ones(6), scale=1.0)
    np.testing.assert_allclose(result, newest, atol=1e-14)
    added = linear_attention(queries, keys, values, scale=1.0)
    np.testing.assert_allclose(added[3], values[0] + values[3], atol=1e-14)


def test_wrong_arguments():
    q = np.zeros((2, 5, 4), np.float32)
    with pytest.raises(ValueError, match=r"The shapes are q \(2, 5, 4\), k \(2, 5, 3\).*same leading dimensions"):
        linear_attention(q, q[..., :3], q)
    with pytest.raises(ValueError, match=r"g \(2, 4\).*g \(\.\.\., tokens\)"):
        linear_attention(q, q, q, q[:, :4, 0])
    with pytest.raises(TypeError, match=r"beta is a NoneType; expected a NumPy array"):
        gated_delta_rule(q, q, q, q[..., 0], None)
    with pytest.raises(TypeError, match=r"g has dtype float64, but q has dtype float32"):
        linear_attention(q, q, q, np.zeros((2, 5)))
