"""A network as its layers: what every rung of a CPU shares, so that a rung is one layer in one direction."""

import functools

import numpy as np

from ..host import plain


def in_order(steps, reverse):
    """The steps as a direction meets them."""
    return range(steps - 1, -1, -1) if reverse else range(steps)


def there(g, t):
    """Which sequences have a step t, as a column; None if all have."""
    return None if g.lengths is None else (t < g.lengths)[:, None]


def by_steps(g, x):
    """x as a contiguous array (steps, batch, ...), with zeros behind the end of each sequence, whatever stands
    there."""
    x = plain(g.by_steps(x))
    if g.lengths is None:
        return x
    return np.where(np.arange(g.steps)[:, None, None] < g.lengths[:, None], x, x.dtype.type(0))


def split(g, arrays):
    """(states h and c, weights by layer and direction, x) of what was prepared.

    All but x are contiguous; states are new arrays, of zeros where none were given.
    """
    *states, x = (*arrays[: len(g.given)], arrays[-1])
    shape = g.layers * g.directions, g.batch, g.hidden
    states = [
        np.zeros(shape, x.dtype) if array is None else np.array(array, order="C").reshape(shape) for array in states
    ]
    flat = [None if array is None else plain(array) for array in arrays[len(g.given) : -1]]
    return states, [flat[k : k + 4] for k in range(0, len(flat), 4)], x


def joined(parts):
    """What the directions of a layer have written, side by side."""
    return parts[0] if len(parts) == 1 else np.concatenate(parts, axis=2)


def on_layers(layer):
    """Let `layer`, one direction of one layer, take a whole network.

    layer(g, reverse, x, h, c, w_ih, w_hh, b_ih, b_hh, out) gets x and out as (steps, batch, ...), h and c (None but for
    an LSTM) as (batch, hidden) of its own, which it changes into the last states. Where a sequence has ended, it writes
    zeros to out and keeps the state. A batch of no sequences never reaches it.
    """

    @functools.wraps(layer)
    def wrapper(g, *arrays):
        last, weights, x = split(g, arrays)
        read = by_steps(g, x)
        for first in range(0, g.layers * g.directions, g.directions):
            parts = [np.zeros((g.steps, g.batch, g.hidden), x.dtype) for _ in range(g.directions)]
            for k, out in enumerate(parts, first) if g.batch else ():
                layer(g, k > first, read, last[0][k], last[1][k] if len(last) > 1 else None, *weights[k], out)
            read = joined(parts)
        return g.as_given(read), *(state.reshape(g.states_shape()) for state in last)

    return wrapper


def backward_on_layers(forward, backward):
    """What computes the gradients of a whole network from one direction of one layer.

    forward(g, reverse, x, h, c, w_ih, w_hh, b_ih, b_hh, out) as for `on_layers`, but returns what `backward` needs;
    backward(g, reverse, grad, of_h, of_c, x, kept, w_ih, w_hh) changes of_h and of_c, the gradients of the last states,
    into those of the first, and returns the gradients of x, w_ih, w_hh, b_ih and b_hh.
    """

    def wrapper(g, *arrays):
        count = len(g.given)
        grads, arrays = arrays[: count + 1], arrays[count + 1 :]
        last, weights, x = split(g, arrays)
        reads, kept = [by_steps(g, x)], []
        for first in range(0, len(weights), g.directions):
            parts = [np.zeros((g.steps, g.batch, g.hidden), x.dtype) for _ in range(g.directions)]
            for k, out in enumerate(parts, first):
                c = last[1][k] if len(last) > 1 else None
                kept.append(forward(g, k > first, reads[-1], last[0][k], c, *weights[k], out))
            reads.append(joined(parts))
        reads.pop()
        return _gradients(g, grads, reads, kept, weights, last[0].shape, x.dtype, backward)

    return wrapper


def _gradients(g, grads, reads, kept, weights, shape, dtype, backward):
    """All layers, the last first. reads: what each layer has read."""
    ends = [
        np.zeros(shape, dtype) if gradient is None else np.array(gradient, order="C").reshape(shape)
        for gradient in grads[1:]
    ]
    output = g.steps, g.batch, g.directions * g.hidden
    arrived = np.zeros(output, dtype) if grads[0] is None else by_steps(g, grads[0])
    of_weights = [None] * len(weights)
    for first in range(len(weights) - g.directions, -1, -g.directions):
        read, below = reads.pop(), 0
        for k, part in enumerate(np.split(arrived, g.directions, axis=2), first):
            of_c = ends[1][k] if len(ends) > 1 else None
            of_x, *of_weights[k] = backward(g, k > first, part, ends[0][k], of_c, read, kept[k], *weights[k][:2])
            below = below + of_x
        arrived = below
    begins = [gradient.reshape(g.states_shape()) for gradient, wanted in zip(ends, g.given, strict=True) if wanted]
    kinds = list(zip(*of_weights, strict=True))[: 4 if g.biased else 2]
    return g.as_given(arrived), *begins, *(tuple(of_layers) if g.many else of_layers[0] for of_layers in kinds)


def keeping(layer):
    """As `on_layers`, for an LSTM whose gates, and cells before each step, are results, too.

    layer(g, reverse, x, h, c, w_ih, w_hh, b_ih, b_hh, out, gates, cells) fills these, too: (steps, batch, 4 * hidden)
    and (steps, batch, hidden); gates are zeros where a sequence has ended.
    """

    @functools.wraps(layer)
    def wrapper(g, *arrays):
        shapes, numbers = g.kept_shapes(), iter(range(g.layers * g.directions))
        gates, cells = (np.empty(shape, arrays[-1].dtype) for shape in shapes)
        by_layer = [
            kept_array.reshape(len(kept_array), g.steps, g.batch, kept_array.shape[-1]) for kept_array in (gates, cells)
        ]

        def one_layer(*arguments):
            k = next(numbers)
            layer(*arguments, *(kept_array[k] for kept_array in by_layer))

        return *on_layers(one_layer)(g, *arrays), gates, cells

    return wrapper


def backward_from(backward, shown):
    """As `backward_on_layers`, from what `keeping` has kept: (h0, gates, cells) of each layer and direction.

    shown(g, reverse, *kept): the states that a layer has written, in one direction.
    """

    def wrapper(g, gates, cells, *arrays):
        count = len(g.given)
        grads, arrays = arrays[: count + 1], arrays[count + 1 :]
        (h0, _), weights, x = split(g, arrays)
        by_layer = [
            plain(kept_array).reshape(len(kept_array), g.steps, g.batch, kept_array.shape[-1])
            for kept_array in (gates, cells)
        ]
        kept, reads = list(zip(h0, *by_layer, strict=True)), [by_steps(g, x)]
        for first in range(0, len(weights) - g.directions, g.directions):
            below = [shown(g, k > first, *kept[k]) for k in range(first, first + g.directions)]
            reads.append(joined(below))
        return _gradients(g, grads, reads, kept, weights, h0.shape, x.dtype, backward)

    return wrapper
