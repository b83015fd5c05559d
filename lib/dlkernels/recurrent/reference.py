"""Recurrent networks in NumPy and float64: what every other implementation is tested against.

rnn       h' = tanh(W x + b + U h + d), or relu of it (Elman 1990)
lstm      i, f, g, o = W x + b + U h + d;  c' = sigmoid(f) c + sigmoid(i) tanh(g);  h' = sigmoid(o) tanh(c')
          (Hochreiter and Schmidhuber 1997, Gers and others 2000)
gru       r, z, n of W x + b, and of U h + d;  n = tanh(n of x + sigmoid(r) * n of h);  h' = (1 - z) n + z h
          (Cho and others 2014, with r behind the product, as PyTorch and cuDNN have it)

Gates stand in PyTorch's order: i f g o and r z n. A network has layers, the next reading what the one before has
written, and in each one direction or two. A padded sequence keeps its state where it has ended, and writes zeros there;
read backwards it begins at its own end.

Each `<name>_backward(grad, ...)` gives the gradients of the arrays among the arguments that follow.
"""

import numpy as np


def _double(x):
    """In float64; what counts its own roundings (examples.py) as it is."""
    return x if not isinstance(x, np.ndarray) else np.asarray(x, np.float64)


def sigmoid(x):
    return 1 / (1 + np.exp(-x))


def in_order(steps, reverse):
    return range(steps - 1, -1, -1) if reverse else range(steps)


def _parts(x, count):
    """The gates of an array (batch, count * hidden)."""
    hidden = x.shape[-1] // count
    return [x[..., k * hidden : (k + 1) * hidden] for k in range(count)]


# ---- one layer in one direction ----------------------------------------------------------------------------------


def _step(kind, of_x, of_h, h, c):
    """(new h, new c, what the backward needs) from the two halves of the gates."""
    if kind == "lstm":
        i, f, g, o = _parts(of_x + of_h, 4)
        i, f, g, o = sigmoid(i), sigmoid(f), np.tanh(g), sigmoid(o)
        c = f * c + i * g
        return o * np.tanh(c), c, (i, f, g, o, np.tanh(c))
    if kind == "gru":
        (r, z, n), (r_h, z_h, n_h) = _parts(of_x, 3), _parts(of_h, 3)
        r, z = sigmoid(r + r_h), sigmoid(z + z_h)
        n = np.tanh(n + r * n_h)
        return (1 - z) * n + z * h, c, (r, z, n, n_h)
    h = np.maximum(of_x + of_h, 0) if kind == "relu" else np.tanh(of_x + of_h)
    return h, c, (h,)


def _forward(kind, x, h, c, weights, lengths, reverse):
    """(output, h, c, what was kept of each step: the states before, and what `_step` returns)."""
    w_ih, w_hh, b_ih, b_hh = weights
    output, kept = [None] * len(x), [None] * len(x)
    for t in in_order(len(x), reverse):
        of_x, of_h = x[t] @ w_ih.T, h @ w_hh.T
        if b_ih is not None:
            of_x, of_h = of_x + b_ih, of_h + b_hh
        new_h, new_c, gates = _step(kind, of_x, of_h, h, c)
        kept[t], output[t] = (h, c, gates), new_h
        if lengths is None:
            h, c = new_h, new_c
        else:
            there = (t < lengths)[:, None]
            output[t] = np.where(there, new_h, 0.0)
            h, c = np.where(there, new_h, h), None if c is None else np.where(there, new_c, c)
    return np.stack(output), h, c, kept


def _step_backward(kind, of_h, of_c, h, c, gates):
    """(gradients of W x + b, of U h + d, of h by other ways, of c) of one step."""
    if kind == "lstm":
        i, f, g, o, squashed = gates
        of_c = of_c + of_h * o * (1 - squashed * squashed)
        parts = of_c * g * i * (1 - i), of_c * c * f * (1 - f), of_c * i * (1 - g * g), of_h * squashed * o * (1 - o)
        both = np.concatenate(parts, axis=-1)
        return both, both, None, of_c * f
    if kind == "gru":
        r, z, n, n_h = gates
        of_n = of_h * (1 - z) * (1 - n * n)
        of_r_z = of_n * n_h * r * (1 - r), of_h * (h - n) * z * (1 - z)
        return np.concatenate((*of_r_z, of_n), axis=-1), np.concatenate((*of_r_z, of_n * r), axis=-1), of_h * z, None
    (y,) = gates
    both = of_h * (y > 0) if kind == "relu" else of_h * (1 - y * y)
    return both, both, None, None


def _backward(kind, grad, of_h, of_c, x, kept, weights, lengths, reverse):
    """(gradients of x, of h and c at the beginning, of the weights) of one layer in one direction."""
    w_ih, w_hh, b_ih, _ = weights
    for_x, for_h = [None] * len(x), [None] * len(x)
    for t in in_order(len(x), not reverse):
        h, c, gates = kept[t]
        for_x[t], for_h[t], direct, before_c = _step_backward(kind, of_h + grad[t], of_c, h, c, gates)
        if lengths is not None:
            there = (t < lengths)[:, None]
            for_x[t], for_h[t] = np.where(there, for_x[t], 0.0), np.where(there, for_h[t], 0.0)
        before_h = for_h[t] @ w_hh
        before_h = before_h if direct is None else before_h + direct
        if lengths is not None:
            before_h = np.where(there, before_h, of_h)
            before_c = None if before_c is None else np.where(there, before_c, of_c)
        of_h, of_c = before_h, before_c
    rows = len(x) * x.shape[1]
    for_x, for_h = (np.stack(part).reshape(rows, w_hh.shape[0]) for part in (for_x, for_h))
    states = np.stack([h for h, _, _ in kept]).reshape(rows, w_hh.shape[1])
    of_x = (for_x @ w_ih).reshape(*x.shape)
    biases = () if b_ih is None else (for_x.sum(axis=0), for_h.sum(axis=0))
    return of_x, of_h, of_c, (for_x.T @ x.reshape(rows, x.shape[2]), for_h.T @ states, *biases)


# ---- all layers --------------------------------------------------------------------------------------------------


def _network(x, states, weights, bidirectional, batch_first, lengths):
    """The arguments of a call as (x (steps, batch, features), states (layers * directions, batch, hidden), weights by
    layer and direction, directions, lengths, the axis of the batch or None)."""
    weights = [[None if array is None else _double(array) for array in layer] for layer in by_layer(*weights)]
    x, directions, axis = _double(x), 2 if bidirectional else 1, 0 if batch_first else 1
    states = [None if state is None else _double(state) for state in states]
    if len(x.shape) == 2:  # one sequence
        axis, x = None, x[:, None]
        states = [None if state is None else state[:, None] for state in states]
    elif batch_first:
        x = np.moveaxis(x, 0, 1)
    lengths = None if lengths is None else np.asarray(lengths)
    x = _padded(x, lengths)
    shape = len(weights), x.shape[1], weights[0][1].shape[1]
    states = [np.zeros(shape) if state is None else state for state in states]
    return x, states, weights, directions, lengths, axis


def _padded(x, lengths):
    """(steps, batch, ...) with zeros where a sequence has ended, whatever stands there."""
    return x if lengths is None else np.where((np.arange(len(x))[:, None] < lengths)[..., None], x, 0.0)


def by_layer(w_ih, w_hh, b_ih, b_hh):
    """[(w_ih, w_hh, b_ih, b_hh), ...], whether arrays are given or sequences of them."""
    if not isinstance(w_ih, list | tuple):
        return [(w_ih, w_hh, b_ih, b_hh)]
    without = [None] * len(w_ih)
    return list(zip(w_ih, w_hh, without if b_ih is None else b_ih, without if b_hh is None else b_hh, strict=True))


def _back(x, axis):
    """A result (steps, batch, ...) as the caller's arrays stand."""
    return x[:, 0] if axis is None else np.moveaxis(x, 0, 1) if axis == 0 else x


def _run(kind, x, states, weights, bidirectional, batch_first, lengths):
    """(results, all layers' kept steps)."""
    x, (h0, c0), weights, directions, lengths, axis = _network(x, states, weights, bidirectional, batch_first, lengths)
    last_h, last_c, everything = [], [], []
    for first in range(0, len(weights), directions):
        parts, read = [], x
        for k in range(first, first + directions):
            c = c0[k] if kind == "lstm" else None
            output, h, c, kept = _forward(kind, read, h0[k], c, weights[k], lengths, k > first)
            parts.append(output)
            last_h.append(h)
            last_c.append(c)
            everything.append((read, kept))
        x = np.concatenate(parts, axis=-1)
    states = [last_h, last_c] if kind == "lstm" else [last_h]
    states = [np.stack(state)[:, 0] if axis is None else np.stack(state) for state in states]
    return (_back(x, axis), *states), everything


def _run_backward(kind, grads, x, states, weights, bidirectional, batch_first, lengths):
    passed = [state is not None for state in states]
    many = isinstance(weights[0], list | tuple)
    results, everything = _run(kind, x, states, weights, bidirectional, batch_first, lengths)
    grads = [
        np.zeros(result.shape) if grad is None else _double(grad) for grad, result in zip(grads, results, strict=True)
    ]
    x, _, weights, directions, lengths, axis = _network(x, states, weights, bidirectional, batch_first, lengths)
    arrived, *ends = grads
    arrived = arrived[:, None] if axis is None else np.moveaxis(arrived, 0, 1) if axis == 0 else arrived
    arrived = _padded(arrived, lengths)
    ends = [end[:, None] if axis is None else end for end in ends]
    hidden = weights[0][1].shape[1]
    begins, of_weights = [[None] * len(weights) for _ in ends], [None] * len(weights)
    for first in range(len(weights) - directions, -1, -directions):
        below = None
        for k in range(first, first + directions):
            part = arrived[..., (k - first) * hidden : (k - first + 1) * hidden]
            of_c = ends[1][k] if kind == "lstm" else None
            read, kept = everything[k]
            of_x, *begin, of_weights[k] = _backward(
                kind, part, ends[0][k], of_c, read, kept, weights[k], lengths, k > first
            )
            for collected, gradient in zip(begins, begin, strict=False):
                collected[k] = gradient
            below = of_x if below is None else below + of_x
        arrived = below
    begins = [np.stack(begin) for begin in begins]
    begins = [begin[:, 0] if axis is None else begin for begin in begins]
    kinds = list(zip(*of_weights, strict=True))
    return (
        _back(arrived, axis),
        *(begin for begin, wanted in zip(begins, passed, strict=False) if wanted),
        *(tuple(gradient) if many else gradient[0] for gradient in kinds),
    )


def rnn(
    x, h0, w_ih, w_hh, b_ih=None, b_hh=None, nonlinearity="tanh", bidirectional=False, batch_first=False, lengths=None
):
    return _run(nonlinearity, x, (h0, None), (w_ih, w_hh, b_ih, b_hh), bidirectional, batch_first, lengths)[0]


def lstm(x, h0, c0, w_ih, w_hh, b_ih=None, b_hh=None, bidirectional=False, batch_first=False, lengths=None):
    return _run("lstm", x, (h0, c0), (w_ih, w_hh, b_ih, b_hh), bidirectional, batch_first, lengths)[0]


def gru(x, h0, w_ih, w_hh, b_ih=None, b_hh=None, bidirectional=False, batch_first=False, lengths=None):
    return _run("gru", x, (h0, None), (w_ih, w_hh, b_ih, b_hh), bidirectional, batch_first, lengths)[0]


def gradients_of(grad, count):
    """The gradients of all results: of the others, where only the output's is given, None."""
    return tuple(grad) if isinstance(grad, list | tuple) else (grad, *[None] * (count - 1))


def rnn_backward(
    grad, x, h0, w_ih, w_hh, b_ih=None, b_hh=None, nonlinearity="tanh", bidirectional=False, batch_first=False,
    lengths=None,
):  # fmt: skip
    weights = w_ih, w_hh, b_ih, b_hh
    return _run_backward(
        nonlinearity, gradients_of(grad, 2), x, (h0, None), weights, bidirectional, batch_first, lengths
    )


def lstm_backward(
    grad, x, h0, c0, w_ih, w_hh, b_ih=None, b_hh=None, bidirectional=False, batch_first=False, lengths=None
):
    weights = w_ih, w_hh, b_ih, b_hh
    return _run_backward("lstm", gradients_of(grad, 3), x, (h0, c0), weights, bidirectional, batch_first, lengths)


def gru_backward(grad, x, h0, w_ih, w_hh, b_ih=None, b_hh=None, bidirectional=False, batch_first=False, lengths=None):
    weights = w_ih, w_hh, b_ih, b_hh
    return _run_backward("gru", gradients_of(grad, 2), x, (h0, None), weights, bidirectional, batch_first, lengths)


def lstm_with_gates(x, h0, c0, w_ih, w_hh, b_ih=None, b_hh=None, bidirectional=False, batch_first=False, lengths=None):
    """Also of all layers and directions the gates, zeros where a sequence has ended, and the cells before each step."""
    settings = bidirectional, batch_first, lengths
    results, everything = _run("lstm", x, (h0, c0), (w_ih, w_hh, b_ih, b_hh), *settings)
    gates = [np.stack([np.concatenate(kept[2][:4], axis=-1) for kept in layer]) for _, layer in everything]
    cells = [np.stack([c for _, c, _ in layer]) for _, layer in everything]
    gates = np.stack([_padded(of_layer, None if lengths is None else np.asarray(lengths)) for of_layer in gates])
    cells = np.stack(cells)
    return *results, *((gates[:, :, 0], cells[:, :, 0]) if len(x.shape) == 2 else (gates, cells))


def lstm_backward_from_gates(grad, x, h0, c0, w_ih, w_hh, b_ih, b_hh, gates, cells, *settings):
    return lstm_backward(grad, x, h0, c0, w_ih, w_hh, b_ih, b_hh, *settings)


# ---- linear recurrences ------------------------------------------------------------------------------------------


def scan(a, b, h0=None, dim=0, reverse=False):
    """h_t = a_t h_{t-1} + b_t along a dimension; h0: what comes before the first, None for zero."""
    a, b = np.moveaxis(_double(a), dim, 0), np.moveaxis(_double(b), dim, 0)
    h, found = 0.0 if h0 is None else _double(h0), [None] * len(a)
    for t in in_order(len(a), reverse):
        h = found[t] = a[t] * h + b[t]
    return np.moveaxis(np.stack(found) if found else b, 0, dim)


def before(h, h0, dim, reverse):
    """h_{t-1} for each t."""
    h = np.moveaxis(h, dim, 0)
    start = (np.zeros(h.shape[1:]) if h0 is None else h0)[None]
    shifted = np.concatenate((h[1:], start) if reverse else (start, h[:-1]))
    return np.moveaxis(shifted, 0, dim)


def scan_backward(grad, a, b, h0=None, dim=0, reverse=False):
    """The gradient of b is a scan against the direction, with the next a; of a it is that times the state before."""
    grad, a, b = _double(grad), _double(a), _double(b)
    h0 = None if h0 is None else _double(h0)
    if a.shape[dim] == 0:
        return (a, b) if h0 is None else (a, b, 0.0 * h0)
    of_b = scan(before(a, None, dim, not reverse), grad, None, dim, not reverse)
    of_a = of_b * before(scan(a, b, h0, dim, reverse), h0, dim, reverse)
    if h0 is None:
        return of_a, of_b
    start_step = a.shape[dim] - 1 if reverse else 0
    return of_a, of_b, np.moveaxis(a, dim, 0)[start_step] * np.moveaxis(of_b, dim, 0)[start_step]


def _gates(x, weight, bias, count):
    """Gates that look at x only: of all steps at once."""
    y = _double(x) @ _double(weight).T
    return _parts(y if bias is None else y + _double(bias), count)


def min_gru(x, h0, weight, bias=None):
    """h' = (1 - z) h + z n with z, n from x alone (Feng and others 2024): linear in h."""
    z, n = _gates(x, weight, bias, 2)
    return scan(sigmoid(-z), sigmoid(z) * n, h0)


def min_lstm(x, h0, weight, bias=None):
    """h' = f h + i n, where f and i from x alone are divided by their sum (Feng and others 2024)."""
    f, i, n = _gates(x, weight, bias, 3)
    share = _softplus(-i) - _softplus(-f)  # f / (f + i) = sigmoid(share), without 0 / 0
    return scan(sigmoid(share), sigmoid(-share) * n, h0)


def _softplus(x):
    return np.logaddexp(x, 0.0)


def _gates_backward(of_gates, x, weight, bias):
    of_gates, features = np.concatenate(of_gates, axis=-1), weight.shape[1]
    flat, lines = of_gates.reshape(-1, weight.shape[0]), _double(x).reshape(-1, features)
    biases = () if bias is None else (flat.sum(axis=0),)
    return of_gates @ _double(weight), flat.T @ lines, *biases


def min_gru_backward(grad, x, h0, weight, bias=None):
    z, n = _gates(x, weight, bias, 2)
    keep, take = sigmoid(-z), sigmoid(z)
    of_keep, of_new, *of_h0 = scan_backward(grad, keep, take * n, h0)
    of_x, *of_weights = _gates_backward(((of_new * n - of_keep) * keep * take, of_new * take), x, weight, bias)
    return of_x, *of_h0, *of_weights


def min_lstm_backward(grad, x, h0, weight, bias=None):
    f, i, n = _gates(x, weight, bias, 3)
    share = _softplus(-i) - _softplus(-f)
    keep, take = sigmoid(share), sigmoid(-share)
    of_keep, of_new, *of_h0 = scan_backward(grad, keep, take * n, h0)
    of_share = (of_keep - of_new * n) * keep * take
    of_gates = of_share * sigmoid(-f), -of_share * sigmoid(-i), of_new * take
    of_x, *of_weights = _gates_backward(of_gates, x, weight, bias)
    return of_x, *of_h0, *of_weights
