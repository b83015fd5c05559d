"""A layer whose weight is computed from other numbers, at each call: what most methods of this folder have in common.

A mask, codes with a scale, a table of values, two thin matrices: each is a way to compute a weight. As it is computed
on the tape, the numbers behind it learn by `fit` as any others (PyTorch: torch.nn.utils.parametrize). One may stand on
another: codes of a weight under a mask.
"""

import copy
import functools

import numpy as np

from .. import functional as F
from ..modules import Conv2d, Linear, Module, Parameter
from ..tensor import Tensor, no_grad


class Parametrized(Module):
    """Instead of `layer`, a Linear, a Conv2d or another Parametrized. Write `computed`: the weight, a Tensor.

    `arrays` gives what has to be stored for it, packed, as {name: NumPy array}.
    """

    def __init__(self, layer):
        if not isinstance(layer, KINDS):
            raise TypeError(f"layer is {type(layer).__name__}; expected Linear, Conv2d, or one of these parametrized.")
        self.layer = layer

    bias = property(lambda self: self.layer.bias)
    options = property(lambda self: options_of(self.layer))

    def computed(self):
        raise NotImplementedError(f"{type(self).__name__} has no `computed`: write how its weight is found.")

    def arrays(self):
        raise NotImplementedError(f"{type(self).__name__} has no `arrays`: write what is stored of its weight.")

    def forward(self, x):
        return run(self, x, self.computed())


KINDS = (Linear, Conv2d, Parametrized)


def run(layer, x, weight):
    """The layer's result with another weight."""
    options = options_of(layer)
    return F.linear(x, weight, layer.bias) if options is None else F.conv2d(x, weight, layer.bias, **options)


def options_of(layer):
    """Stride and so on of a convolution, None of a linear layer."""
    return getattr(layer, "options", None)


def weight_of(layer):
    """The weight of a layer of any kind, a Tensor."""
    return layer.computed() if isinstance(layer, Parametrized) else layer.weight


def plain(weight, bias, options=None):
    """A Linear (options None) or Conv2d layer of these arrays; bias: an array or None."""
    layer = object.__new__(Linear if options is None else Conv2d)
    layer.weight = Parameter(weight)
    layer.bias = None if bias is None else Parameter(bias)
    if options is not None:
        layer.options = dict(options)
    return layer


# ---- networks --------------------------------------------------------------------------------------------------------


def layers(model):
    """{name: layer} of all Linear, Conv2d and Parametrized in a network, in the order of its attributes."""
    found = {}

    def walk(module, name):
        if isinstance(module, KINDS):
            found[name] = module
            return
        for key, part in vars(module).items():
            if isinstance(part, Module):
                walk(part, f"{name}.{key}" if name else key)

    walk(model, "")
    return found


def replaced(model, make):
    """A copy of the network with make(name, layer) for each of its `layers`."""
    model = copy.deepcopy(model)
    for name, layer in layers(model).items():
        *path, last = name.split(".")
        new = make(name, layer)
        if not last:
            return new
        setattr(functools.reduce(getattr, path, model), last, new)
    return model


def merged(model):
    """A copy with plain layers, whose weights are what the parametrized ones compute now: the network for inference."""

    def fixed(name, layer):
        if not isinstance(layer, Parametrized):
            return layer
        bias = None if layer.bias is None else layer.bias.data.copy()
        return plain(np.array(weight_of(layer).data), bias, layer.options)

    with no_grad():
        return replaced(model, fixed)


def inputs(model, x):
    """{name: array} of what reaches each layer when the network, in evaluation mode, is given x (a NumPy array)."""
    model, found = copy.deepcopy(model).eval(), {}

    def watched(name, layer):
        forward = layer.forward

        def seen(x):
            found[name] = x.numpy()
            return forward(x)

        return seen

    for name, layer in layers(model).items():
        layer.forward = watched(name, layer)
    with no_grad():
        model(Tensor(x))
    return found


def columns(layer, x):
    """The matrix (rows, K) that a layer multiplies its weight, as (out, K), by, if x (an array) reaches it: im2col."""
    options = options_of(layer)
    if options is None:
        return x.reshape(-1, x.shape[-1])
    if options["groups"] != 1:
        raise ValueError(f"the convolution has groups={options['groups']}; expected 1: one matrix for all filters.")
    (sh, sw), (ph, pw), (dh, dw) = (_pair(options[name]) for name in ("stride", "padding", "dilation"))
    kh, kw = weight_of(layer).shape[2:]
    x = np.pad(x, ((0, 0), (0, 0), (ph, ph), (pw, pw)))
    seen = np.lib.stride_tricks.sliding_window_view(x, (dh * (kh - 1) + 1, dw * (kw - 1) + 1), axis=(2, 3))
    seen = seen[:, :, ::sh, ::sw, ::dh, ::dw]
    return seen.transpose(0, 2, 3, 1, 4, 5).reshape(-1, x.shape[1] * kh * kw)


def _pair(value):
    return (value, value) if isinstance(value, int | np.integer) else tuple(value)
