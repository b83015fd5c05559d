"""All steps of a nonlinear recurrence h_t = f(h_{t-1}, x_t) at once, by Newton's method, in NumPy.

    solve           guesses all states, and corrects all of them together until none moves
    rnn_steps, lstm_steps, gru_steps    f and its Jacobians for a network of one layer and one sequence

Linearised around a guess g, each step is h_t = f(g_{t-1}) + J_t (h_{t-1} - g_{t-1}): a *linear* recurrence in h,
whose scan is parallel over time. One round is one such scan (Lim and others, DEER, 2024). The price: J_t is an n x n
matrix, so a join of two stretches costs n^3, where a step of the chain costs n^2. `diagonal=True` keeps the diagonals
only (a quasi-Newton method, Gonzalez and others, ELK, 2024): a join is then as cheap as in `dlkernels.scan`, and
there are more rounds.

After round k at least the first k states are right, as in the chain. So T rounds are enough for T steps; where the
network forgets, or its steps are nearly linear, a few are.
"""

import numpy as np

from .reference import sigmoid


def solve(steps, h0, count, tolerance=1e-9, diagonal=False, rounds=None):
    """The states after each of `count` steps, (count, n) in float64, and how many rounds it took.

    steps: a function of the states *before* all steps, (count, n); it returns the states after them, (count, n), and
    the Jacobians, (count, n, n). h0: (n,). tolerance: no number of the last round's states moved by more. rounds:
    stop after so many, whatever moved; default: after `count`, when all states are those of the chain.
    """
    h0 = np.asarray(h0, np.float64)
    states = np.zeros((count, h0.size))
    for done in range(1, (count if rounds is None else rounds) + 1):
        before = np.concatenate([h0[None], states[:-1]])
        with np.errstate(over="ignore"):  # sigmoids of large numbers
            after, jacobian = steps(before)
        if diagonal:
            a = np.diagonal(jacobian, axis1=1, axis2=2).copy()
            new = scan_diagonal(a, after - a * before, h0)
        else:
            b = after - (jacobian @ before[..., None])[..., 0]
            new = scan_matrices(jacobian, b, h0)
        new[~np.isfinite(new)] = 0  # where it overflowed, it begins again
        moved = np.abs(new - states).max(initial=0)
        states = new
        if moved <= tolerance:
            return states, done
    return states, done if count else 0


# ---- scans over time, as trees of joins ------------------------------------------------------------------------------


def scan_matrices(a, b, h0):
    """The states of h_t = a_t h_{t-1} + b_t. a: (count, n, n), b: (count, n)."""

    def apply(matrices, vectors):
        return (matrices @ vectors[..., None])[..., 0]

    return _tree(a, b, h0, np.matmul, apply)


def scan_diagonal(a, b, h0):
    """The same for diagonal matrices, of which `a` has the diagonals: (count, n)."""
    return _tree(a, b, h0, np.multiply, np.multiply)


def _tree(a, b, h0, times, apply):
    b = b.copy()
    if len(b):
        with np.errstate(all="ignore"):  # solve looks for what overflowed
            b[0] += apply(a[:1], h0[None])[0]
            _joined(a, b, times, apply)
    return b


def _joined(a, b, times, apply):
    """b becomes the states: pairs of steps are joined, half as many steps solved, the states between them filled in."""
    if len(b) == 1:
        return
    even, odd = slice(0, len(b) - len(b) % 2, 2), slice(1, None, 2)
    later = b[odd] + apply(a[odd], b[even])
    _joined(times(a[odd], a[even]), later, times, apply)
    b[odd] = later
    b[2::2] += apply(a[2::2], later[: len(b[2::2])])


# ---- networks --------------------------------------------------------------------------------------------------------


def _inputs(x, w_ih, b_ih):
    x, w_ih = np.asarray(x, np.float64), np.asarray(w_ih, np.float64)
    return x @ w_ih.T + (0 if b_ih is None else b_ih)


def rnn_steps(x, w_ih, w_hh, b_ih=None, b_hh=None):
    """Of `rnn` with tanh. x: (count, features); a state is h."""
    inputs, u = _inputs(x, w_ih, b_ih), np.asarray(w_hh, np.float64)
    bias = 0 if b_hh is None else b_hh

    def steps(h):
        new = np.tanh(inputs + h @ u.T + bias)
        return new, (1 - new**2)[:, :, None] * u

    return steps


def gru_steps(x, w_ih, w_hh, b_ih=None, b_hh=None):
    """Of `gru`. A state is h."""
    inputs, u = _inputs(x, w_ih, b_ih), np.asarray(w_hh, np.float64)
    bias, (of_r, of_z, of_n) = 0 if b_hh is None else b_hh, np.split(u, 3)

    def steps(h):
        (r, z, n), (r_h, z_h, n_h) = (np.split(part, 3, axis=1) for part in (inputs, h @ u.T + bias))
        r, z = sigmoid(r + r_h), sigmoid(z + z_h)
        n = np.tanh(n + r * n_h)
        slope_r, slope_z, slope_n = r * (1 - r) * n_h, z * (1 - z) * (h - n), (1 - z) * (1 - n**2)
        of_state = slope_n[..., None] * (r[..., None] * of_n + slope_r[..., None] * of_r) + slope_z[..., None] * of_z
        return (1 - z) * n + z * h, of_state + z[..., None] * np.eye(h.shape[1])

    return steps


def lstm_steps(x, w_ih, w_hh, b_ih=None, b_hh=None):
    """Of `lstm`. A state is (h, c), one behind the other."""
    inputs, u = _inputs(x, w_ih, b_ih), np.asarray(w_hh, np.float64)
    bias, of_gates = 0 if b_hh is None else b_hh, np.split(u, 4)

    def steps(state):
        h, c = np.split(state, 2, axis=1)
        i, f, g, o = np.split(inputs + h @ u.T + bias, 4, axis=1)
        i, f, g, o = sigmoid(i), sigmoid(f), np.tanh(g), sigmoid(o)
        new = f * c + i * g
        top = np.tanh(new)
        slopes = g * i * (1 - i), c * f * (1 - f), i * (1 - g**2)  # of the new c, for what enters i, f and g
        c_by_h = sum(slope[..., None] * part for slope, part in zip(slopes, of_gates, strict=False))
        c_by_c, down = f[..., None] * np.eye(h.shape[1]), (o * (1 - top**2))[..., None]
        h_by_h = down * c_by_h + (top * o * (1 - o))[..., None] * of_gates[3]
        jacobian = np.block([[h_by_h, down * c_by_c], [c_by_h, c_by_c]])
        return np.concatenate([o * top, new], axis=1), jacobian

    return steps
