"""A plain recurrent network on a CPU, in float32: what follows a step's product is one pass in vectors.

`math.tanh` handles one number at a time, and 128 sequences of 256 units need 32,768 of them in each step: more time
than the step's product takes. The tanh of vector/fast.py is made of additions and multiplications, so LLVM makes
vectors of the loop.
"""

import numpy as np
from numba import njit

from ..implementations import implementation
from ..simd.cache import cached_njit
from ..vector.fast import tanh
from .cpu import affine, lengths_of, of_all_inputs
from .layers import in_order, on_layers

ZERO = np.float32(0)
compiled = njit(error_model="numpy", fastmath={"contract"})


@compiled
def _row(of_x, of_h, relu, h):
    """h = the new state of one sequence, from W x + b and U h + d."""
    if relu:
        for unit in range(h.size):
            both = of_x[unit] + of_h[unit]
            h[unit] = ZERO if both <= ZERO else both  # this way round NaN stays NaN
    else:
        for unit in range(h.size):
            h[unit] = tanh(of_x[unit] + of_h[unit], ZERO)


@cached_njit()
def _pass(of_x, of_h, t, lengths, relu, h, out):
    for row in range(len(h)):
        if t < lengths[row]:
            _row(of_x[row], of_h[row], relu, h[row])
            out[t, row] = h[row]


@implementation(
    "rnn", device="cpu", adds="the pass in vectors: tanh of 4, 8 or 16 units at once", dtypes=("float32",), public=True
)
@on_layers
def rnn_vectors(g, reverse, x, h, c, w_ih, w_hh, b_ih, b_hh, out):
    lengths, of_x = lengths_of(g), of_all_inputs(g, x, w_ih, b_ih)
    for t in in_order(g.steps, reverse):
        _pass(of_x[t], affine(h, w_hh, b_hh), t, lengths, g.kind == "relu", h, out)
