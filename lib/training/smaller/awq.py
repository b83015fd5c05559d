"""AWQ: a weight that meets large activations shall be rounded with smaller steps.

Lin et al. 2023, "AWQ: Activation-aware Weight Quantization for LLM Compression and Acceleration". Multiply column k of
the weight by s[k] before it is rounded, and divide the input by it: the product is the same, and the error of that
column is s[k] times smaller, as long as the scale of its group does not grow. s = (mean |x[k]|)^a, with the exponent a
from 0 (rounding to nearest) to 1 by trying: no gradients, and nothing is fitted to single pictures.
"""

import numpy as np

from ..tensor import Tensor
from .parametrized import Parametrized, columns, inputs, options_of, replaced, weight_of
from .rounded import grid


def awq_matrix(matrix, x, bits=4, granularity="group", group_size=32, symmetric=True, tries=20, share=1):
    """(codes (out, K) int16, Grid, s (K,) float32, exponent) for a weight (out, K) whose layer is given x (rows, K).

    The weight that the layer then has is grid.numbers(codes) / s. share: columns next to each other that have the same
    s, as the taps of one input channel. As exponent 0 is tried too, the output's error on x is never larger than that
    of rounding to nearest.
    """
    if x.ndim != 2 or matrix.ndim != 2 or x.shape[1] != matrix.shape[1] or not len(x):
        raise ValueError(f"matrix is {matrix.shape} and x {x.shape}; expected (out, K) and (rows, K), some rows.")
    if tries < 1 or matrix.shape[1] % share:
        raise ValueError(f"tries is {tries}, share {share}; expected 1 or more, and a divisor of {matrix.shape[1]}.")
    size = np.abs(x).mean(axis=0, dtype=np.float64).reshape(-1, share).mean(axis=1).repeat(share)
    size = np.maximum(size, 1e-4 * max(size.max(), 1e-30))
    hessian = x.T.astype(np.float64) @ x  # |X D^T|^2 = sum of D H times D: one product of x for all tries
    best = None
    for exponent in np.linspace(0, 1, tries + 1):
        s = size**exponent
        s = s / np.sqrt(s.max() * s.min())  # its level says nothing; this keeps it near 1
        s = s.astype(np.float16).astype(np.float32)  # as it is stored
        found = grid(matrix * s, bits, granularity, group_size, symmetric)
        codes = found.codes(matrix * s)
        moved = (found.numbers(codes) / s).astype(np.float64) - matrix
        error = np.sum(moved @ hessian * moved)
        if best is None or error < best[0]:
            best = error, codes, found, s, float(exponent)
    return best[1:]


class Scaled(Parametrized):
    """A layer whose weight is codes on a grid, divided by s for each column."""

    def __init__(self, layer, codes, grid, s, share=1):
        super().__init__(layer)
        self.codes, self.grid, self.s, self.share, self.shape = codes, grid, s, share, weight_of(layer).shape
        layer.weight = None  # the codes stand for it

    def computed(self):
        return Tensor((self.grid.numbers(self.codes) / self.s).reshape(self.shape))

    def arrays(self):
        return self.grid.arrays(self.codes) | {"s": self.s[:: self.share].astype(np.float16)}


def awq(model, x, bits=4, granularity="group", group_size=32, symmetric=True, tries=20):
    """A copy of the network with `Scaled` layers, given some inputs x of the network. Not to be trained further."""
    seen = inputs(model, x)

    def make(name, layer):
        weight = weight_of(layer)
        share = 1 if options_of(layer) is None else int(np.prod(weight.shape[2:]))
        matrix, met = weight.data.reshape(weight.shape[0], -1), columns(layer, seen[name])
        *made, _ = awq_matrix(matrix, met, bits, granularity, group_size, symmetric, tries, share)
        return Scaled(layer, *made, share)

    return replaced(model, make)
