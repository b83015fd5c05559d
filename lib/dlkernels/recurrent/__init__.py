"""Recurrent networks: what reads a sequence step by step, and keeps a state.

Names, layouts, gate orders and defaults are PyTorch's. Arrays are float32 or float64, of any strides; nothing changes
its inputs. Wrong arguments raise ValueError or TypeError.

Its files, in reading order:

reference.py   the specification in NumPy                examples.py   what each operation can be called with
rounded.py     numbers that count their roundings        geometry.py   arguments, brought into one form
layers.py      a network as layers: a CPU rung is one layer in one direction

cpu            cpu.py (the ladders of RNN, LSTM, GRU), fast.py (their last rungs, in vectors), fast_gates.py (what
               follows a step's products), fast_strands.py (threads that do not meet), fast_rnn.py
backward, cpu  backward.py (through time), fast_backward.py (LSTM, few sequences), fast_backward_gru.py
               fast_kept.py (LSTM: gates kept forward, and used backward)
scans, cpu     scans.py (linear recurrences, minGRU, minLSTM), selective_reference.py, selective.py (Mamba's scan),
               selective_backward.py, newton.py (any recurrence, by rounds of linear ones)
gpu            gpu.py (a launch for each step), gpu_persistent.py (one launch for all)
backward, gpu  gpu_kept.py (forward that keeps what is needed), gpu_backward.py
scans, gpu     gpu_scans.py, gpu_scan_look_back.py (in one launch), gpu_minimal.py (minGRU), gpu_selective.py
"""

import numpy as np

from ..arguments import check_gradient, float_array, one_place, same
from ..implementations import call, operation
from . import examples, reference
from .geometry import check_gradients, check_nonlinearity, prepare, whole_number

# ---- arguments -------------------------------------------------------------------------------------------------------


@operation("rnn", reference.rnn, examples.RNN, results=("output", "h_n"))
def _prepare_rnn(
    x, h0, w_ih, w_hh, b_ih=None, b_hh=None, nonlinearity="tanh", bidirectional=False, batch_first=False, lengths=None
):
    kind, weights = check_nonlinearity(nonlinearity), (w_ih, w_hh, b_ih, b_hh)
    g, states, weights = prepare(kind, x, (h0,), weights, bidirectional, batch_first, lengths)
    return g, *states, *weights, x


@operation("lstm", reference.lstm, examples.LSTM, results=("output", "h_n", "c_n"))
def _prepare_lstm(x, h0, c0, w_ih, w_hh, b_ih=None, b_hh=None, bidirectional=False, batch_first=False, lengths=None):
    g, states, weights = prepare("lstm", x, (h0, c0), (w_ih, w_hh, b_ih, b_hh), bidirectional, batch_first, lengths)
    return g, *states, *weights, x


@operation("gru", reference.gru, examples.GRU, results=("output", "h_n"))
def _prepare_gru(x, h0, w_ih, w_hh, b_ih=None, b_hh=None, bidirectional=False, batch_first=False, lengths=None):
    g, states, weights = prepare("gru", x, (h0,), (w_ih, w_hh, b_ih, b_hh), bidirectional, batch_first, lengths)
    return g, *states, *weights, x


@operation("rnn_backward", reference.rnn_backward, examples.RNN_BACKWARD, backward_of="rnn")
def _prepare_rnn_backward(grad, x, *rest, **named):
    g, *prepared = _prepare_rnn(x, *rest, **named)
    return g, *check_gradients(g, grad, x), *prepared


@operation("lstm_backward", reference.lstm_backward, examples.LSTM_BACKWARD, backward_of="lstm")
def _prepare_lstm_backward(grad, x, *rest, **named):
    g, *prepared = _prepare_lstm(x, *rest, **named)
    return g, *check_gradients(g, grad, x), *prepared


KEPT = "output", "h_n", "c_n", "gates", "cells"


@operation("lstm_with_gates", reference.lstm_with_gates, examples.WITH_GATES, results=KEPT, constants=KEPT[3:])
def _prepare_lstm_with_gates(
    x, h0, c0, w_ih, w_hh, b_ih=None, b_hh=None, bidirectional=False, batch_first=False, lengths=None
):
    return _prepare_lstm(x, h0, c0, w_ih, w_hh, b_ih, b_hh, bidirectional, batch_first, lengths)


@operation(
    "lstm_backward_from_gates", reference.lstm_backward_from_gates, examples.FROM_GATES, backward_of="lstm_with_gates"
)
def _prepare_lstm_from_gates(grad, x, h0, c0, w_ih, w_hh, b_ih, b_hh, gates, cells, *settings, **named):
    g, *prepared = _prepare_lstm_backward(grad, x, h0, c0, w_ih, w_hh, b_ih, b_hh, *settings, **named)
    for (name, array), expected in zip({"gates": gates, "cells": cells}.items(), g.kept_shapes(), strict=True):
        float_array(name, array)
        one_place(**{name: array}, x=x)
        same("dtype", x=x, **{name: array})
        if tuple(array.shape) != expected:
            raise ValueError(
                f"{name} has shape {tuple(array.shape)}; expected {expected}, as lstm_with_gates(x, ...) returns it."
            )
    return g, gates, cells, *prepared


@operation("gru_backward", reference.gru_backward, examples.GRU_BACKWARD, backward_of="gru")
def _prepare_gru_backward(grad, x, *rest, **named):
    g, *prepared = _prepare_gru(x, *rest, **named)
    return g, *check_gradients(g, grad, x), *prepared


@operation("scan", reference.scan, examples.SCAN)
def _prepare_scan(a, b, h0=None, dim=0, reverse=False):
    arrays = {"a": a, "b": b} | ({} if h0 is None else {"h0": h0})
    for name, array in arrays.items():
        float_array(name, array)
    one_place(**arrays)
    same("dtype", **arrays)
    same("shape", a=a, b=b)
    shape, dim = tuple(a.shape), whole_number("dim", dim)
    if not -len(shape) <= dim < len(shape):
        expected = f"a number from {-len(shape)} to {len(shape) - 1}" if shape else "arrays of at least one dimension"
        raise ValueError(f"dim is {dim}, and a has shape {shape}; expected {expected}.")
    if not isinstance(reverse, bool | np.bool):
        raise TypeError(f"reverse is {reverse!r}; expected True or False.")
    dim %= len(shape)
    rest = shape[:dim] + shape[dim + 1 :]
    if h0 is not None and tuple(h0.shape) != rest:
        raise ValueError(f"h0 has shape {tuple(h0.shape)}; expected {rest}, the shape of a without dimension {dim}.")
    return dim, bool(reverse), h0, a, b


@operation("scan_backward", reference.scan_backward, examples.SCAN_BACKWARD, backward_of="scan")
def _prepare_scan_backward(grad, a, b, h0=None, dim=0, reverse=False):
    dim, reverse, h0, a, b = _prepare_scan(a, b, h0, dim, reverse)
    check_gradient(grad, a.shape, a=a)
    return dim, reverse, h0, grad, a, b


def _check_minimal(gates, x, h0, weight, bias):
    """The number of hidden units."""
    arrays = {
        name: array for name, array in (("x", x), ("h0", h0), ("weight", weight), ("bias", bias)) if array is not None
    }
    for name, array in arrays.items():
        float_array(name, array)
    one_place(**arrays)
    same("dtype", **arrays)
    if x.ndim not in (2, 3) or x.shape[-1] == 0:
        raise ValueError(f"x has shape {tuple(x.shape)}; expected (steps, batch, features) or (steps, features).")
    rows = tuple(weight.shape)
    if len(rows) != 2 or rows[0] == 0 or rows[0] % gates or rows[1] != x.shape[-1]:
        raise ValueError(
            f"weight has shape {rows}; expected ({gates} * hidden, {x.shape[-1]}), as x has so many features."
        )
    hidden = rows[0] // gates
    for name, wanted in (("bias", (rows[0],)), ("h0", (*tuple(x.shape)[1:-1], hidden))):
        if name in arrays and tuple(arrays[name].shape) != wanted:
            raise ValueError(f"{name} has shape {tuple(arrays[name].shape)}; expected {wanted}.")
    return hidden


@operation("min_gru", reference.min_gru, examples.MIN_GRU)
def _prepare_min_gru(x, h0, weight, bias=None):
    _check_minimal(2, x, h0, weight, bias)
    return h0, weight, bias, x


@operation("min_lstm", reference.min_lstm, examples.MIN_LSTM)
def _prepare_min_lstm(x, h0, weight, bias=None):
    _check_minimal(3, x, h0, weight, bias)
    return h0, weight, bias, x


@operation("min_gru_backward", reference.min_gru_backward, examples.MIN_GRU_BACKWARD, backward_of="min_gru")
def _prepare_min_gru_backward(grad, x, h0, weight, bias=None):
    hidden = _check_minimal(2, x, h0, weight, bias)
    check_gradient(grad, (*tuple(x.shape)[:-1], hidden), x=x)
    return grad, h0, weight, bias, x


@operation("min_lstm_backward", reference.min_lstm_backward, examples.MIN_LSTM_BACKWARD, backward_of="min_lstm")
def _prepare_min_lstm_backward(grad, x, h0, weight, bias=None):
    hidden = _check_minimal(3, x, h0, weight, bias)
    check_gradient(grad, (*tuple(x.shape)[:-1], hidden), x=x)
    return grad, h0, weight, bias, x


from . import (  # noqa: E402
    backward,  # noqa: F401
    cpu,  # noqa: F401
    fast,  # noqa: F401
    fast_backward,  # noqa: F401
    fast_backward_gru,  # noqa: F401
    fast_kept,  # noqa: F401
    fast_rnn,  # noqa: F401
    fast_strands,  # noqa: F401
    gpu,  # noqa: F401
    gpu_backward,  # noqa: F401
    gpu_minimal,  # noqa: F401
    gpu_persistent,  # noqa: F401
    gpu_scan_look_back,  # noqa: F401
    gpu_scans,  # noqa: F401
    gpu_selective,  # noqa: F401
    scans,  # noqa: F401
    selective_backward,  # noqa: F401
)
from .selective import selective_scan, selective_scan_backward  # noqa: E402, F401

# ---- the public functions --------------------------------------------------------------------------------------------


def rnn(
    x, h0, w_ih, w_hh, b_ih=None, b_hh=None, nonlinearity="tanh", bidirectional=False, batch_first=False, lengths=None
):
    """h' = tanh(w_ih x + b_ih + w_hh h + b_hh), step by step, as torch.nn.RNN. Returns (output, h_n).

    nonlinearity: "tanh" or "relu". w_ih: (hidden, features), w_hh: (hidden, hidden). All else as for `lstm`, without c.
    """
    return call("rnn", x, h0, w_ih, w_hh, b_ih, b_hh, nonlinearity, bidirectional, batch_first, lengths)


def lstm(x, h0, c0, w_ih, w_hh, b_ih=None, b_hh=None, bidirectional=False, batch_first=False, lengths=None):
    """A network of long short-term memory, as torch.nn.LSTM without projections. Returns (output, h_n, c_n), new
    arrays.

    x: (steps, batch, features); (batch, steps, features) if batch_first; (steps, features) for a single sequence.
    h0, c0: (layers * directions, batch, hidden), without the batch for a single sequence; None for zeros.
    w_ih: (4 * hidden, features), w_hh: (4 * hidden, hidden), b_ih, b_hh: (4 * hidden,) or None, gates in the order i f
    g o. For more than one layer or direction each is a sequence of arrays: of the first layer, forward and (if
    bidirectional) backward, then of the second, whose w_ih has directions * hidden columns, and so on.
    lengths: None, or how many steps of x each sequence of the batch really has, in any order: what follows is not read
    into a state, and output is zero there (PyTorch's pack_padded_sequence and pad_packed_sequence).
    output: as x, with directions * hidden features: what the last layer has written. h_n, c_n: the last states, as h0.
    """
    return call("lstm", x, h0, c0, w_ih, w_hh, b_ih, b_hh, bidirectional, batch_first, lengths)


def gru(x, h0, w_ih, w_hh, b_ih=None, b_hh=None, bidirectional=False, batch_first=False, lengths=None):
    """A network of gated recurrent units, as torch.nn.GRU. Returns (output, h_n).

    w_ih: (3 * hidden, features), w_hh: (3 * hidden, hidden), gates in the order r z n; b_hh of n stands inside the
    product with r. All else as for `lstm`, without c.
    """
    return call("gru", x, h0, w_ih, w_hh, b_ih, b_hh, bidirectional, batch_first, lengths)


def rnn_backward(
    grad, x, h0, w_ih, w_hh, b_ih=None, b_hh=None, nonlinearity="tanh", bidirectional=False, batch_first=False,
    lengths=None,
):  # fmt: skip
    """The gradients of x, h0, w_ih, w_hh, b_ih and b_hh (of those that are given), as `lstm_backward` gives them."""
    return call("rnn_backward", grad, x, h0, w_ih, w_hh, b_ih, b_hh, nonlinearity, bidirectional, batch_first, lengths)


def lstm_backward(
    grad, x, h0, c0, w_ih, w_hh, b_ih=None, b_hh=None, bidirectional=False, batch_first=False, lengths=None
):
    """The gradients of x, h0, c0, w_ih, w_hh, b_ih and b_hh (of those that are given), by backward through time.

    grad: the gradient with respect to the output of lstm(...), or (those of output, h_n and c_n), each of them an array
    or None for zeros. Gradients of weights are given as weights are: an array each, or a tuple of arrays.
    """
    return call("lstm_backward", grad, x, h0, c0, w_ih, w_hh, b_ih, b_hh, bidirectional, batch_first, lengths)


def lstm_with_gates(x, h0, c0, w_ih, w_hh, b_ih=None, b_hh=None, bidirectional=False, batch_first=False, lengths=None):
    """(output, h_n, c_n, gates, cells): the results of `lstm`, and what `lstm_backward_from_gates` needs beside them.

    Arguments and errors are those of `lstm`. gates: (layers * directions, steps, batch, 4 * hidden), i f g o after
    their sigmoid and tanh, zeros where a sequence has ended. cells: (layers * directions, steps, batch, hidden), c
    before each step. Both without the batch for a single sequence, and steps first also with batch_first. New arrays
    of the dtype of x; host memory only.
    """
    return call("lstm_with_gates", x, h0, c0, w_ih, w_hh, b_ih, b_hh, bidirectional, batch_first, lengths)


def lstm_backward_from_gates(
    grad, x, h0, c0, w_ih, w_hh, b_ih, b_hh, gates, cells, bidirectional=False, batch_first=False, lengths=None
):
    """`lstm_backward` without its way forward: gates and cells are what `lstm_with_gates` returned.

    The other arguments are those of the call that returned them, b_ih and b_hh None where there were none. With other
    ones the gradients are wrong, and nobody notices: only shapes and dtypes are checked. Host memory only.
    """
    return call(
        "lstm_backward_from_gates",
        *(grad, x, h0, c0, w_ih, w_hh, b_ih, b_hh, gates, cells, bidirectional, batch_first, lengths),
    )


def gru_backward(grad, x, h0, w_ih, w_hh, b_ih=None, b_hh=None, bidirectional=False, batch_first=False, lengths=None):
    """The gradients of x, h0, w_ih, w_hh, b_ih and b_hh (of those that are given), as `lstm_backward` gives them."""
    return call("gru_backward", grad, x, h0, w_ih, w_hh, b_ih, b_hh, bidirectional, batch_first, lengths)


def scan(a, b, h0=None, dim=0, reverse=False):
    """The states of a linear recurrence, h_t = a_t h_{t-1} + b_t, along a dimension. A new array.

    a, b: arrays of one shape and dtype. h0: the state before the first step, of that shape without `dim`; None for
    zeros.
    reverse: True to begin with the last: h_t = a_t h_{t+1} + b_t. Unlike the states of `lstm`, these can be computed in
    any grouping of steps, so that time, too, can be shared out.
    """
    return call("scan", a, b, h0, dim, reverse)


def scan_backward(grad, a, b, h0=None, dim=0, reverse=False):
    """The gradients of a, b and (if it is given) h0, given `grad`, the one with respect to scan(...)."""
    return call("scan_backward", grad, a, b, h0, dim, reverse)


def min_gru(x, h0, weight, bias=None):
    """h' = (1 - sigmoid(z)) h + sigmoid(z) n, with gates z, n from x alone (Feng and others 2024). Returns all states,
    a new array.

    x: (steps, batch, features) or (steps, features). h0: (batch, hidden) or (hidden,), None for zeros. weight: (2 *
    hidden, features), bias: (2 * hidden,) or None. As no gate looks at h, all steps are one scan; there is no tanh
    around n.
    """
    return call("min_gru", x, h0, weight, bias)


def min_lstm(x, h0, weight, bias=None):
    """h' = (f h + i n) / (f + i), with gates f, i (through a sigmoid) and n from x alone (Feng and others 2024).

    Arguments as for `min_gru`, with (3 * hidden) rows of weights, in the order f i n. Returns all states, a new array.
    """
    return call("min_lstm", x, h0, weight, bias)


def min_gru_backward(grad, x, h0, weight, bias=None):
    """The gradients of x, h0, weight and bias (of those that are given), given `grad`, the one of min_gru(...)."""
    return call("min_gru_backward", grad, x, h0, weight, bias)


def min_lstm_backward(grad, x, h0, weight, bias=None):
    """The gradients of x, h0, weight and bias (of those that are given), given `grad`, the one of min_lstm(...)."""
    return call("min_lstm_backward", grad, x, h0, weight, bias)
