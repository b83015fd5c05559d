"""Weights and activations of few bits: a network that computes as if it had integers, and can learn so.

Numbers are rounded to what codes can say and stay floating-point ("fake" quantisation): the accuracy is the one that
integer kernels have, but for the last bits of sums, and the tape works. The slope of a rounding is 0 almost everywhere,
so nothing would learn. The **straight-through estimator** takes 1 instead, and 0 where the number was clipped (Bengio,
Leonard, Courville 2013). Training so is called quantisation-aware (Jacob et al. 2018): give a `quantized` network to
`networks.trained`.
"""

import numpy as np

from dlkernels.quantization.formats import pack as pack_int4

from .. import functional as F
from ..modules import Module
from ..tensor import Tensor, record
from .calibration import calibrate, limits
from .parametrized import Parametrized, inputs, merged, replaced, weight_of
from .rounded import grid


class Quantized(Parametrized):
    """A layer with a weight of `bits` bits and, after `calibrated`, an input of `activation_bits`.

    The scales of the weight follow from the weight at each call, or from a fixed `grid`.
    """

    def __init__(
        self, layer, bits=8, granularity="channel", group_size=32, symmetric=True, method="min_max", fixed=None
    ):
        super().__init__(layer)
        self.how = {
            "bits": bits,
            "granularity": granularity,
            "group_size": group_size,
            "symmetric": symmetric,
            "method": method,
        }
        self.fixed, self.input = fixed, None
        self.matrix_grid(np.zeros((1, 1), np.float32))  # says now what is wrong with bits and so on

    def calibrated(self, x, bits=8, method="min_max", **options):
        """Round the layer's input from now on; scale and zero point fit x, an array of such inputs."""
        self.input = (*calibrate(x, method, bits, **options), *limits(bits))
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
        matrix = F.reshape(weight, (weight.shape[0], -1))
        return F.reshape(self.matrix_grid(matrix.data).rounded(matrix), weight.shape)

    def forward(self, x):
        return super().forward(x if self.input is None else F.fake_quantize(x, *self.input))

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
        layer_bits = bits[name] if isinstance(bits, dict) else bits
        new = Quantized(layer, layer_bits, granularity, group_size, symmetric, method)
        return new.calibrated(seen[name], activation_bits, activation_method) if seen else new

    return replaced(model, make)


def halved(model):
    """A copy of the network with weights of float16."""
    return replaced(model, lambda name, layer: Half(layer))


class Linear4(Module):
    """A `Quantized` linear layer of four bits for inference: its weight stays codes while it is used, by
    dlkernels.linear_int4, which reads an eighth of the bytes. A scale for each channel, or for groups of even size.
    Inside `no_grad`: codes have no gradient."""

    def __init__(self, layer):
        codes, found = layer.codes()
        if found.bits != 4 or found.scales.ndim == 0 or layer.options is not None:
            raise ValueError(
                f"the layer has {found.bits} bits; expected a linear one of 4, with scales for its channels."
            )
        lead = (len(codes), -1)
        self.codes, self.scales = Tensor(pack_int4(codes)), Tensor(found.scales.reshape(lead))
        self.zero_points = None if found.zero_points is None else Tensor(found.zero_points.reshape(lead))
        self.bias, self.group_size = layer.bias, found.group_size

    def forward(self, x):
        return F.linear_int4(x, self.codes, self.scales, self.zero_points, self.bias, self.group_size)


def packed(model):
    """A copy of the network for inference: `Linear4` where a layer can be one, plain layers for all others."""

    def make(name, layer):
        if not isinstance(layer, Quantized) or layer.options is not None or layer.input is not None:
            return merged(layer)
        _, found = layer.codes()
        fits = found.bits == 4 and found.scales.ndim > 0 and (found.group_size or 0) % 2 == 0
        return Linear4(layer) if fits else merged(layer)

    return replaced(model, make)
