"""Weights and activations of few bits: a network that computes as if it had integers, and can learn so.

Numbers are rounded to what codes can say and stay floating-point ("fake" quantisation): the accuracy is the one that
integer kernels have, and the tape works. The slope of a rounding is 0 almost everywhere, so nothing would learn. The
**straight-through estimator** takes 1 instead, and 0 where the number was clipped (Bengio, Leonard, Courville 2013).
Training so is called quantisation-aware (Jacob et al. 2018): `networks.trained(quantized(model, ...), ...)`.
"""

import numpy as np

from ..tensor import record
from .calibration import calibrate, limits, rounded
from .parametrized import Parametrized, inputs, replaced, weight_of
from .rounded import grid


def fake_quantize(x, scale, zero_point, bits=8):
    """A Tensor of any shape, rounded to its codes; straight-through gradient. scale, zero_point: numbers."""
    least, most = limits(bits)
    code = np.rint(x.data / scale) + zero_point
    inside = (code >= least) & (code <= most)
    return record("fake_quantize", rounded(x.data, scale, zero_point, bits).astype(x.dtype, copy=False), [x],
                  lambda grad, kept: [np.where(kept, grad, 0)], inside)  # fmt: skip


class Quantized(Parametrized):
    """A layer with a weight of `bits` bits and, after `calibrated`, an input of `activation_bits`.

    The scales of the weight follow from the weight at each call, or from a fixed `grid`.
    """

    def __init__(
        self, layer, bits=8, granularity="channel", group_size=32, symmetric=True, method="min_max", fixed=None
    ):
        super().__init__(layer)
        self.how = {"bits": bits, "granularity": granularity, "group_size": group_size, "symmetric": symmetric,
                    "method": method}  # fmt: skip
        self.fixed, self.input = fixed, None
        self.matrix_grid(np.zeros((1, 1), np.float32))  # says now what is wrong with bits and so on

    def calibrated(self, x, bits=8, method="min_max", **options):
        """Round the layer's input from now on; scale and zero point fit x, an array of such inputs."""
        self.input = (*calibrate(x, method, bits, **options), bits)
        return self

    def matrix_grid(self, matrix):
        return self.fixed or grid(matrix, **self.how)

    def codes(self):
        """(codes (out, K), Grid) of the weight as it is now."""
        matrix = weight_of(self.layer).data.reshape(weight_of(self.layer).shape[0], -1)
        found = self.matrix_grid(matrix)
        return found.codes(matrix), found

    def computed(self):
        weight = weight_of(self.layer)
        matrix = weight.data.reshape(weight.shape[0], -1)
        found = self.matrix_grid(matrix)
        code = np.rint(matrix / found.spread(matrix.shape[1])[0]) + found.spread(matrix.shape[1])[1]
        least, most = limits(found.bits)
        inside = ((code >= least) & (code <= most)).reshape(weight.shape)
        return record("fake_quantize", found.rounded(matrix).astype(weight.dtype).reshape(weight.shape), [weight],
                      lambda grad, kept: [np.where(kept, grad, 0)], inside)  # fmt: skip

    def forward(self, x):
        return super().forward(x if self.input is None else fake_quantize(x, *self.input))

    def arrays(self):
        codes, found = self.codes()
        return found.arrays(codes)


class Half(Parametrized):
    """A weight that is stored as float16."""

    def computed(self):
        weight = weight_of(self.layer)
        return record("half", weight.data.astype(np.float16).astype(weight.dtype), [weight], lambda grad, kept: [grad])

    def arrays(self):
        return {"weight": weight_of(self.layer).data.astype(np.float16)}


def quantized(model, bits=8, granularity="channel", group_size=32, symmetric=True, method="min_max",
              activation_bits=None, x=None, activation_method="min_max"):  # fmt: skip
    """A copy of the network with `Quantized` layers.

    bits: of weights, 2 to 16; an int, or {layer's name: int}. granularity: "tensor", "channel" or "group" (of
    group_size). symmetric: no zero points for weights. method: one of calibration.py, for weights. activation_bits:
    also round what reaches each layer, with ranges by `activation_method` from x, some inputs of the network (training
    images, no labels). Train the result to let it recover.
    """
    if (activation_bits is None) != (x is None):
        raise ValueError("expected activation_bits and x together: the ranges of activations are found with inputs x.")
    seen = {} if x is None else inputs(model, x)

    def make(name, layer):
        own = bits[name] if isinstance(bits, dict) else bits
        new = Quantized(layer, own, granularity, group_size, symmetric, method)
        return new.calibrated(seen[name], activation_bits, activation_method) if seen else new

    return replaced(model, make)


def halved(model):
    """A copy of the network with weights of float16."""
    return replaced(model, lambda name, layer: Half(layer))
