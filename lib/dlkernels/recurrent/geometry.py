"""What a call of a recurrent network is: checked arguments, brought into one form for all rungs."""

import numbers
from typing import NamedTuple

import numpy as np

from ..arguments import float_array, one_place, same
from .reference import by_layer

GATES = {"tanh": 1, "relu": 1, "lstm": 4, "gru": 3}
NAMES = {"tanh": "rnn", "relu": "rnn"}
WEIGHTS = ("w_ih", "w_hh", "b_ih", "b_hh")


class Geometry(NamedTuple):
    """The shape of a network and of what it reads.

    kind: "tanh", "relu", "lstm" or "gru". axis: where the batch stands in x, None for a single sequence. lengths: of
    each sequence of the batch (int64), or None where all have `steps`. biased: whether there are biases. many: whether
    weights came as sequences of arrays. given: which of h0 and c0 were.
    """

    kind: str
    layers: int
    directions: int
    steps: int
    batch: int
    features: int
    hidden: int
    axis: int | None
    lengths: np.ndarray | None
    biased: bool
    many: bool
    given: tuple

    def by_steps(self, x):
        """What the user gave, or will get, as (steps, batch, ...)."""
        return x[:, None] if self.axis is None else x.swapaxes(0, 1) if self.axis == 0 else x

    def as_given(self, x):
        """The inverse of `by_steps`."""
        return x[:, 0] if self.axis is None else x.swapaxes(0, 1) if self.axis == 0 else x

    def states_shape(self):
        """Of h0, as the user has it."""
        count = self.layers * self.directions
        return (count, self.hidden) if self.axis is None else (count, self.batch, self.hidden)

    def output_shape(self):
        width = self.directions * self.hidden
        if self.axis is None:
            return self.steps, width
        return (self.batch, self.steps, width) if self.axis == 0 else (self.steps, self.batch, width)

    def kept_shapes(self):
        """Of an LSTM's gates, and of its cells before each step: by layer and direction, always steps first."""
        lead = self.layers * self.directions, self.steps, *(() if self.axis is None else (self.batch,))
        return (*lead, 4 * self.hidden), (*lead, self.hidden)

    def result_shapes(self):
        """Of the output and the last states."""
        return self.output_shape(), *[self.states_shape()] * (2 if self.kind == "lstm" else 1)


def prepare(kind, x, states, weights, bidirectional, batch_first, lengths):
    """(geometry, states, a flat list of weights: w_ih, w_hh, b_ih, b_hh of each layer and direction)."""
    for name, flag in (("bidirectional", bidirectional), ("batch_first", batch_first)):
        if not isinstance(flag, bool | np.bool):
            raise TypeError(f"{name} is {flag!r}; expected True or False.")
    directions = 2 if bidirectional else 1
    float_array("x", x)
    layers = _by_layer(weights, directions)
    states = dict(zip(("h0", "c0"), states, strict=False))
    passed = {name: state for name, state in states.items() if state is not None}
    arrays = {"x": x} | passed | {name: array for name, array in _named(layers, directions) if array is not None}
    for name, array in arrays.items():
        float_array(name, array)
    one_place(**arrays)
    same("dtype", **arrays)
    if x.ndim not in (2, 3):
        raise ValueError(
            f"x has shape {tuple(x.shape)}; expected (steps, batch, features), or (batch, steps, features) with "
            "batch_first=True, or (steps, features) for a single sequence."
        )
    axis = None if x.ndim == 2 else 0 if batch_first else 1
    shape = tuple(x.shape)
    steps, batch, features = (shape[0], 1, shape[1]) if axis is None else (shape[1 - axis], shape[axis], shape[2])
    if steps == 0 or features == 0:
        raise ValueError(f"x has shape {shape}; expected at least one step and one feature.")
    hidden = _check_weights(kind, layers, directions, features)
    biased = layers[0][2] is not None
    many = isinstance(weights[0], list | tuple)
    g = Geometry(
        kind, len(layers) // directions, directions, steps, batch, features, hidden, axis,
        _check_lengths(lengths, axis, steps, batch), biased, many,
        tuple(state is not None for state in states.values()),
    )  # fmt: skip
    for name, state in passed.items():
        if tuple(state.shape) != g.states_shape():
            raise ValueError(
                f"{name} has shape {tuple(state.shape)}; expected {g.states_shape()}: (layers * directions"
                f"{'' if axis is None else ', batch'}, hidden).{_projected(state.shape[-1:], hidden)}"
            )
    return g, list(states.values()), [array for layer in layers for array in layer]


def _by_layer(weights, directions):
    """[(w_ih, w_hh, b_ih, b_hh), ...] of all layers and directions."""
    many = {
        name: isinstance(weight, list | tuple)
        for name, weight in zip(WEIGHTS, weights, strict=True)
        if weight is not None
    }
    if "w_ih" not in many or "w_hh" not in many:
        missing = "w_hh" if "w_ih" in many else "w_ih"
        raise TypeError(f"{missing} is None; expected an array, or a sequence of them.")
    if ("b_ih" in many) != ("b_hh" in many):
        given_bias = "b_ih" if "b_ih" in many else "b_hh"
        raise ValueError(f"{given_bias} is given alone; expected both of b_ih and b_hh, or none.")
    if len(set(many.values())) > 1:
        told = ", ".join(f"{name}: {'several arrays' if several else 'one'}" for name, several in many.items())
        raise TypeError(f"{told}; expected an array each for one layer, or a sequence of arrays each for several.")
    if many["w_ih"]:
        counts = {name: len(weight) for name, weight in zip(WEIGHTS, weights, strict=True) if weight is not None}
        if len(set(counts.values())) > 1 or counts["w_ih"] == 0 or counts["w_ih"] % directions:
            told = ", ".join(f"{name}: {count}" for name, count in counts.items())
            unit = "layer" if directions == 1 else "layer and direction (forward, backward, forward, ...)"
            raise ValueError(f"{told} arrays; expected as many of each, one for every {unit}.")
    elif directions == 2:
        raise ValueError(
            "w_ih is one array, and bidirectional is True; expected two for each layer: forward, backward."
        )
    return by_layer(*weights)


def _named(layers, directions):
    """(name for messages, array) of all weights."""
    for k, layer in enumerate(layers):
        index = "" if len(layers) == 1 else f"[{k}]"
        yield from ((f"{name}{index}", array) for name, array in zip(WEIGHTS, layer, strict=True))


def _check_weights(kind, layers, directions, features):
    """The number of hidden units."""
    gates = GATES[kind]
    rows = tuple(layers[0][1].shape)
    if len(rows) != 2 or rows[0] == 0 or rows[0] % gates:
        raise ValueError(f"w_hh has shape {rows}; expected ({'' if gates == 1 else f'{gates} * '}hidden, hidden).")
    hidden = rows[0] // gates
    for k, layer in enumerate(layers):
        width = features if k < directions else directions * hidden
        wanted = (gates * hidden, width), (gates * hidden, hidden), (gates * hidden,), (gates * hidden,)
        for name, array, shape in zip(WEIGHTS, layer, wanted, strict=True):
            if array is not None and tuple(array.shape) != shape:
                index = "" if len(layers) == 1 else f"[{k}]"
                projected = _projected(tuple(array.shape)[-1:], hidden) if name == "w_hh" else ""
                raise ValueError(
                    f"{name}{index} has shape {tuple(array.shape)}; expected {shape}, for {width} features and "
                    f"{hidden} hidden units.{projected}"
                )
    return hidden


def _projected(width, hidden):
    """A hint where arrays look like those of an LSTM with projections."""
    if width and 0 < width[0] < hidden:
        return f" Projections (PyTorch's proj_size, here {width[0]}?) are not supported: leave them out."
    return ""


def _check_lengths(lengths, axis, steps, batch):
    if lengths is None:
        return None
    if axis is None:
        raise ValueError("lengths is given for a single sequence; expected None, or x with a batch.")
    found = np.asarray(lengths)
    are_integers = found.dtype.kind in "iu" or (found.size == 0 and batch == 0)
    if not are_integers or found.dtype == object:
        raise TypeError(f"lengths is {lengths!r}; expected whole numbers, one for each sequence of the batch.")
    if found.shape != (batch,):
        raise ValueError(f"lengths has shape {found.shape}; expected {(batch,)}, one for each sequence of the batch.")
    wrong = np.flatnonzero((found < 1) | (found > steps))
    if wrong.size:
        raise ValueError(
            f"lengths[{wrong[0]}] is {found[wrong[0]]}; expected from 1 to {steps}, the number of steps in x."
        )
    return found.astype(np.int64)


def check_gradients(g, grad, x):
    """The gradients of all results, None for those that are not given."""
    names = ("output", "h_n", "c_n")[: len(g.result_shapes())]
    grads = tuple(grad) if isinstance(grad, list | tuple) else (grad, *[None] * (len(names) - 1))
    if len(grads) != len(names):
        raise ValueError(f"grad has {len(grads)} arrays; expected {len(names)}: for {', '.join(names)}.")
    for name, array, shape in zip(names, grads, g.result_shapes(), strict=True):
        if array is None:
            continue
        label = "grad" if array is grad else f"grad of {name}"
        float_array(label, array)
        one_place(**{label: array, "x": x})
        same("dtype", **{"x": x, label: array})
        if tuple(array.shape) != shape:
            raise ValueError(f"{label} has shape {tuple(array.shape)}; expected {shape}, the shape of {name}.")
    return list(grads)


def check_nonlinearity(nonlinearity):
    if nonlinearity not in ("tanh", "relu"):
        raise ValueError(f"nonlinearity is {nonlinearity!r}; expected 'tanh' or 'relu'.")
    return nonlinearity


def whole_number(name, value):
    if isinstance(value, bool) or not isinstance(value, numbers.Integral):
        raise TypeError(f"{name} is {value!r}; expected a whole number.")
    return int(value)
