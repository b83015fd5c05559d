"""Examples of recurrent networks. The errors allowed come from the references themselves (rounded.py).

A size is (steps, batch, features, hidden), or (steps, features, hidden) for a single sequence. Weights are small, as
those of a network are when training begins: the states of one with large weights are chaotic, and no two orders of
adding agree.
"""

from dataclasses import replace

import numpy as np

from ..examples import Examples
from . import reference
from .geometry import GATES
from .rounded import Rounded

SIZES = ((1, 1, 1, 1), (3, 2, 4, 5), (2, 0, 3, 2), (4, 5, 1, 3), (3, 4, 2), (2, 3, 7, 1), (1, 1, 6))
# Past a task of units, with lanes to spare; as many sequences as lanes; one sequence with a last task that begins
# earlier.
LARGE = ((5, 40, 33, 35), (4, 16, 30, 48), (4, 1, 170, 150))
TIMED = ((100, 1, 256, 256), (128, 32, 256, 256))

#: (layers, bidirectional, batch first, padded, biases, states given)
SETTINGS = (
    (1, False, False, False, True, True),
    (2, True, True, True, True, True),
    (1, True, False, True, False, False),
    (2, False, False, False, False, True),
    (1, False, True, True, True, False),
)


def network(kind, states):
    """The function that makes the arguments of a network: x, its states, weights and settings."""

    def arguments(draw, *shape):
        *batch, steps, features, hidden = shape if len(shape) < 4 else (shape[1], shape[0], *shape[2:])
        steps, features, hidden = max(1, steps), max(1, features), max(1, hidden)
        layers, both, batch_first, padded, biased, with_states = draw.one_of(SETTINGS)
        batch_first, padded = batch_first and len(batch) > 0, padded and len(batch) > 0
        lead = (*batch, steps) if batch_first else (steps, *batch)
        count, rows = layers * (2 if both else 1), GATES[kind] * hidden
        x = draw.array(*lead, features)
        states_ = [draw.array(count, *batch, hidden) if with_states else None for _ in range(states)]
        widths = [features if k < count // layers else hidden * count // layers for k in range(count)]
        w_ih = tuple(draw.array(rows, width, scale=width**-0.5) for width in widths)
        w_hh = tuple(draw.array(rows, hidden, scale=1 / hidden) for _ in range(count))
        biases = [tuple(draw.array(rows) for _ in range(count)) if biased else None for _ in range(2)]
        weights = [group if count > 1 or group is None else group[0] for group in (w_ih, w_hh, *biases)]
        lengths = tuple(int(n) for n in draw.random.integers(1, steps + 1, batch[0])) if padded else None
        relu = [("tanh", "relu")[draw.seed % 2]] if kind == "tanh" else []
        return x, *states_, *weights, *relu, both, batch_first, lengths

    return arguments


def gradient_of(make, forward):
    """The arguments of the backward: gradients of all results first."""

    def arguments(draw, *shape):
        forward_arguments = make(draw, *shape)
        grads = tuple(draw.array(*result.shape) for result in forward(*forward_arguments))
        return grads, *forward_arguments

    return arguments


def rounded(reference_):
    """An `allowed` that runs the reference on numbers which count their roundings."""

    def allowed(arguments, expected, eps):
        results = reference_(*(counted(argument, eps) for argument in arguments))
        return tuple(errors(results))

    return allowed


def counted(x, eps):
    if isinstance(x, tuple) and any(isinstance(item, np.ndarray) for item in x):
        return tuple(counted(item, eps) for item in x)
    return Rounded(x, 0.0, eps) if isinstance(x, np.ndarray) else x


def errors(results):
    """Of results, as of tuples of them."""
    for result in results if isinstance(results, tuple) else (results,):
        if isinstance(result, tuple):
            yield from errors(result)
        else:
            yield 2 * result.error if isinstance(result, Rounded) else np.zeros(result.shape)  # given, not computed


def _of(kind, states, forward, backward):
    make = network(kind, states)

    def examples(arguments, function):
        return Examples(arguments, rounded(function), SIZES, LARGE, TIMED, values=("normal",), seeds=len(SETTINGS))

    return examples(make, forward), examples(gradient_of(make, forward), backward)


RNN, RNN_BACKWARD = _of("tanh", 1, reference.rnn, reference.rnn_backward)
LSTM, LSTM_BACKWARD = _of("lstm", 2, reference.lstm, reference.lstm_backward)
WITH_GATES = replace(LSTM, allowed=rounded(reference.lstm_with_gates))


def from_gates_arguments(draw, *shape):
    """Gates as a forward pass makes them, rounded: the error allowed, that of all formulas, has it."""
    grads, *arrays = LSTM_BACKWARD.arguments(draw, *shape)
    *_, gates, cells = (array.astype(draw.dtype) for array in reference.lstm_with_gates(*arrays))
    return grads, *arrays[:7], gates, cells, *arrays[7:]


FROM_GATES = replace(LSTM_BACKWARD, arguments=from_gates_arguments, allowed=rounded(reference.lstm_backward_from_gates))
GRU, GRU_BACKWARD = _of("gru", 1, reference.gru, reference.gru_backward)


# ---- linear recurrences: a size is a shape ---------------------------------------------------------------------------

LINES = ((1,), (7,), (0,), (5, 3), (3, 0), (2, 6, 5), (9, 18), (4, 1))
LARGE_LINES = ((70001,), (400, 200), (3, 9001, 3), (6, 12000))
TIMED_LINES = ((1 << 16,), (1024, 256))


def scan_arguments(draw, *shape):
    dim, reverse, with_state = draw.one_of(((0, False, False), (-1, True, True), (0, True, False), (-1, False, True)))
    a, b = draw.array(*shape), draw.array(*shape)
    rest = list(shape)
    del rest[dim]
    return a, b, draw.array(*rest) if with_state and rest else None, dim, reverse


def scan_gradient_arguments(draw, *shape):
    return draw.array(*shape), *scan_arguments(draw, *shape)


def _sizes(*arrays):
    return [None if x is None else np.abs(np.asarray(x, np.float64)) for x in arrays]


def _bounds(a, b, h0, dim, reverse, eps):
    """(sizes of the states if nothing cancelled, how far a state may be off), for steps joined in any order.

    What came s steps ago was multiplied s times and went through as many sums at most, and a few more where steps are
    joined by a tree.
    """
    sizes = reference.scan(a, b, h0, dim, reverse)
    older = reference.scan(a, a * reference.before(sizes, h0, dim, reverse), None, dim, reverse)  # sums of s |terms|
    return sizes, eps * (3 * older + 32 * sizes)


def scan_error(arguments, expected, eps):
    *arrays, dim, reverse = arguments
    return _bounds(*_sizes(*arrays), dim, reverse, eps)[1]


def scan_gradient_error(arguments, expected, eps):
    *arrays, dim, reverse = arguments
    grad, a, b, h0 = _sizes(*arrays)
    if a.shape[dim] == 0:
        return (a, b) if h0 is None else (a, b, 0.0 * h0)
    states, off = (
        reference.before(x, start, dim, reverse)
        for x, start in zip(_bounds(a, b, h0, dim, reverse, eps), (h0, None), strict=True)
    )
    of_b, off_b = _bounds(reference.before(a, None, dim, not reverse), grad, None, dim, not reverse, eps)
    off_a = off_b * (states + off) + of_b * (off + 2 * eps * states)
    if h0 is None:
        return off_a, off_b
    start_step = -1 if reverse else 0
    a, of_b, off_h = (np.moveaxis(x, dim, 0)[start_step] for x in (a, of_b, off_b))
    return off_a, off_b, a * (off_h + 2 * eps * of_b)


def _of_scan(make, allowed):
    return Examples(make, allowed, LINES, LARGE_LINES, TIMED_LINES, values=("normal", "tiny"), seeds=4)


SCAN = _of_scan(scan_arguments, scan_error)
SCAN_BACKWARD = _of_scan(scan_gradient_arguments, scan_gradient_error)


# ---- networks that are made of them ----------------------------------------------------------------------------------


def minimal(count):
    """The arguments of a network with so many gates; a size is as above."""

    def arguments(draw, *shape):
        *batch, steps, features, hidden = shape if len(shape) < 4 else (shape[1], shape[0], *shape[2:])
        features, hidden = max(1, features), max(1, hidden)
        biased, with_state = draw.one_of(((True, True), (False, False), (True, False)))
        x, weight = draw.array(steps, *batch, features), draw.array(count * hidden, features, scale=features**-0.5)
        h0 = draw.array(*batch, hidden) if with_state else None
        return x, h0, weight, draw.array(count * hidden) if biased else None

    return arguments


def minimal_gradient(count):
    def arguments(draw, *shape):
        x, h0, weight, bias = minimal(count)(draw, *shape)
        return draw.array(*x.shape[:-1], weight.shape[0] // count), x, h0, weight, bias

    return arguments


def _of_minimal(make, function):
    return Examples(make, rounded(function), SIZES, LARGE, TIMED, values=("normal", "tiny"), seeds=3)


MIN_GRU = _of_minimal(minimal(2), reference.min_gru)
MIN_LSTM = _of_minimal(minimal(3), reference.min_lstm)
MIN_GRU_BACKWARD = _of_minimal(minimal_gradient(2), reference.min_gru_backward)
MIN_LSTM_BACKWARD = _of_minimal(minimal_gradient(3), reference.min_lstm_backward)
