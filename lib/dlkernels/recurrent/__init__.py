"""Recurrent networks: what reads a sequence step by step, and keeps a state.

Names, layouts, gate orders and defaults are PyTorch's. Arrays are float32 or float64, of any strides; nothing changes its
inputs. Wrong arguments raise ValueError or TypeError.
"""

from ..implementations import call, operation
from . import examples, reference
from .geometry import check_gradients, check_nonlinearity, prepare

# ---- arguments -------------------------------------------------------------------------------------------------------


@operation("rnn", reference.rnn, examples.RNN)
def _prepare_rnn(
    x, h0, w_ih, w_hh, b_ih=None, b_hh=None, nonlinearity="tanh", bidirectional=False, batch_first=False, lengths=None
):
    kind, weights = check_nonlinearity(nonlinearity), (w_ih, w_hh, b_ih, b_hh)
    g, states, weights = prepare(kind, x, (h0,), weights, bidirectional, batch_first, lengths)
    return g, *states, *weights, x


@operation("lstm", reference.lstm, examples.LSTM)
def _prepare_lstm(x, h0, c0, w_ih, w_hh, b_ih=None, b_hh=None, bidirectional=False, batch_first=False, lengths=None):
    g, states, weights = prepare("lstm", x, (h0, c0), (w_ih, w_hh, b_ih, b_hh), bidirectional, batch_first, lengths)
    return g, *states, *weights, x


@operation("gru", reference.gru, examples.GRU)
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


@operation("gru_backward", reference.gru_backward, examples.GRU_BACKWARD, backward_of="gru")
def _prepare_gru_backward(grad, x, *rest, **named):
    g, *prepared = _prepare_gru(x, *rest, **named)
    return g, *check_gradients(g, grad, x), *prepared


from . import (  # noqa: E402
    backward,  # noqa: F401
    cpu,  # noqa: F401
)

# ---- the public functions --------------------------------------------------------------------------------------------


def rnn(
    x, h0, w_ih, w_hh, b_ih=None, b_hh=None, nonlinearity="tanh", bidirectional=False, batch_first=False, lengths=None
):
    """h' = tanh(w_ih x + b_ih + w_hh h + b_hh), step by step, as torch.nn.RNN. Returns (output, h_n).

    nonlinearity: "tanh" or "relu". w_ih: (hidden, features), w_hh: (hidden, hidden). All else as for `lstm`, without c.
    """
    return call("rnn", x, h0, w_ih, w_hh, b_ih, b_hh, nonlinearity, bidirectional, batch_first, lengths)


def lstm(x, h0, c0, w_ih, w_hh, b_ih=None, b_hh=None, bidirectional=False, batch_first=False, lengths=None):
    """A network of long short-term memory, as torch.nn.LSTM without projections. Returns (output, h_n, c_n), new arrays.

    x: (steps, batch, features); (batch, steps, features) if batch_first; (steps, features) for a single sequence.
    h0, c0: (layers * directions, batch, hidden), without the batch for a single sequence; None for zeros.
    w_ih: (4 * hidden, features), w_hh: (4 * hidden, hidden), b_ih, b_hh: (4 * hidden,) or None, gates in the order i f g o.
    For more than one layer or direction each is a sequence of arrays: of the first layer, forward and (if bidirectional)
    backward, then of the second, whose w_ih has directions * hidden columns, and so on.
    lengths: None, or how many steps of x each sequence of the batch really has, in any order: what follows is not read into a
    state, and output is zero there (PyTorch's pack_padded_sequence and pad_packed_sequence).
    output: as x, with directions * hidden features: what the last layer has written. h_n, c_n: the last states, as h0.
    """
    return call("lstm", x, h0, c0, w_ih, w_hh, b_ih, b_hh, bidirectional, batch_first, lengths)


def gru(x, h0, w_ih, w_hh, b_ih=None, b_hh=None, bidirectional=False, batch_first=False, lengths=None):
    """A network of gated recurrent units, as torch.nn.GRU. Returns (output, h_n).

    w_ih: (3 * hidden, features), w_hh: (3 * hidden, hidden), gates in the order r z n; b_hh of n stands inside the product
    with r. All else as for `lstm`, without c.
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

    grad: the gradient with respect to the output of lstm(...), or (those of output, h_n and c_n), each of them an array or
    None for zeros. Gradients of weights are given as weights are: an array each, or a tuple of arrays.
    """
    return call("lstm_backward", grad, x, h0, c0, w_ih, w_hh, b_ih, b_hh, bidirectional, batch_first, lengths)


def gru_backward(grad, x, h0, w_ih, w_hh, b_ih=None, b_hh=None, bidirectional=False, batch_first=False, lengths=None):
    """The gradients of x, h0, w_ih, w_hh, b_ih and b_hh (of those that are given), as `lstm_backward` gives them."""
    return call("gru_backward", grad, x, h0, w_ih, w_hh, b_ih, b_hh, bidirectional, batch_first, lengths)
