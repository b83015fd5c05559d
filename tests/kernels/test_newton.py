"""Newton's method over a whole sequence: it reaches the states of the chain, and in how many rounds."""

import numpy as np
import pytest

from dlkernels.recurrent import newton, reference

GATES = {"rnn": 1, "gru": 3, "lstm": 4}
pytestmark = pytest.mark.quick


def network(kind, count, hidden=8, features=5, seed=0, scale=1.0):
    """The steps of a network, the state before the first, and the states of the chain, in float64."""
    rng = np.random.default_rng(seed)
    rows = GATES[kind] * hidden
    x = rng.standard_normal((count, features))
    w_ih, w_hh = (scale * rng.standard_normal((rows, n)) / n**0.5 for n in (features, hidden))
    weights = w_ih, w_hh, *rng.standard_normal((2, rows))
    h0 = rng.standard_normal((2 if kind == "lstm" else 1, hidden))
    step = reference._step
    states, parts = [], tuple(one[None] for one in h0)
    for row in x:
        of_x, of_h = row @ w_ih.T + weights[2], parts[0] @ w_hh.T + weights[3]
        new = step({"rnn": "tanh"}.get(kind, kind), of_x[None], of_h, *parts, *[None] * (2 - len(parts)))
        parts = new[: len(parts)]
        states.append(np.concatenate([one[0] for one in parts]))
    steps = getattr(newton, f"{kind}_steps")(x, *weights)
    return steps, h0.ravel(), np.array(states).reshape(count, h0.size)


@pytest.mark.parametrize("kind", GATES)
@pytest.mark.parametrize("diagonal", [False, True])
@pytest.mark.parametrize("count", [0, 1, 2, 3, 7, 64])
def test_reaches_the_states_of_the_chain(kind, diagonal, count):
    steps, h0, exact = network(kind, count)
    states, rounds = newton.solve(steps, h0, count, tolerance=1e-12, diagonal=diagonal)
    np.testing.assert_allclose(states, exact, rtol=0, atol=1e-9)
    assert states.dtype == np.float64
    assert rounds <= count


@pytest.mark.parametrize("kind", GATES)
def test_jacobians_are_the_slopes(kind):
    steps, h0, exact = network(kind, 6)
    before = np.concatenate([h0[None], exact[:-1]])
    after, jacobian = steps(before)
    np.testing.assert_allclose(after, exact, atol=1e-12)
    for j in range(h0.size):
        moved = 1e-6 * (np.arange(h0.size) == j)
        slope = (steps(before + moved)[0] - steps(before - moved)[0]) / 2e-6
        np.testing.assert_allclose(jacobian[..., j], slope, atol=1e-8)


@pytest.mark.parametrize("kind", GATES)
def test_fewer_rounds_than_steps(kind):
    steps, h0, _ = network(kind, 64)
    full, cheap = (newton.solve(steps, h0, 64, 1e-6, diagonal)[1] for diagonal in (False, True))
    assert full < 20, full
    assert full <= cheap < 64, (full, cheap)


def test_a_linear_recurrence_takes_one_round():
    rng = np.random.default_rng(1)
    a, b, h0 = rng.standard_normal((20, 3, 3)) / 2, rng.standard_normal((20, 3)), rng.standard_normal(3)
    states, _ = newton.solve(lambda h: ((a @ h[..., None])[..., 0] + b, a), h0, 20, rounds=1)
    for t in range(20):
        h0 = a[t] @ h0 + b[t]
        np.testing.assert_allclose(states[t], h0, atol=1e-12)


@pytest.mark.parametrize("scale", [1, 30])
def test_round_k_has_k_states_right_even_where_later_ones_overflow(scale):
    steps, h0, exact = network("rnn", 40, scale=scale)
    for rounds in (1, 3, 10, 40):
        states, _ = newton.solve(steps, h0, 40, tolerance=0, rounds=rounds)
        np.testing.assert_allclose(states[:rounds], exact[:rounds], rtol=0, atol=1e-6)
        assert np.isfinite(states).all()


def test_scans_agree_with_the_chain():
    rng = np.random.default_rng(2)
    for count in (1, 2, 3, 5, 8, 33):
        a, b, h = rng.standard_normal((count, 4)), rng.standard_normal((count, 4)), rng.standard_normal(4)
        matrices = a[:, :, None] * np.eye(4)
        found = newton.scan_diagonal(a, b, h), newton.scan_matrices(matrices, b, h)
        for t in range(count):
            h = a[t] * h + b[t]
            for states in found:
                np.testing.assert_allclose(states[t], h, atol=1e-9)
