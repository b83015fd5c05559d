"""A few values for all weights of a layer, and no indices to store: a hash of its position says which one a weight has.

Chen, Wilson, Tyree, Weinberger, Chen 2015, "Compressing Neural Networks with the Hashing Trick". A second hash gives
the sign, so that collisions do not add up. Positions know nothing of weights: the network has to learn with the shared
values from the start.
"""

import numpy as np

from ..modules import Parameter
from ..tensor import record
from .parametrized import Parametrized, replaced, weight_of


def hashes(count, seed=0):
    """`count` numbers, uint32, of the positions 0, 1, ...: MurmurHash3's last step, whose bits depend on all bits."""
    h = np.arange(count, dtype=np.uint32) + np.uint32((seed * 0x9E3779B9) & 0xFFFFFFFF)
    h = (h ^ (h >> np.uint32(16))) * np.uint32(0x85EBCA6B)
    h = (h ^ (h >> np.uint32(13))) * np.uint32(0xC2B2AE35)
    return h ^ (h >> np.uint32(16))


class Hashed(Parametrized):
    """A weight of `count` values (learned): weight[i] = sign(i) values[bucket(i)]. They begin as the sums, signs
    included, of the n weights that share them, over sqrt(n): as large as the weights were drawn."""

    def __init__(self, layer, count, seed=0):
        super().__init__(layer)
        weight = weight_of(layer).data
        if not 1 <= count <= weight.size:
            raise ValueError(f"count is {count}; expected 1 to {weight.size}, the number of weights.")
        h = hashes(weight.size, seed)
        self.shape, self.buckets = weight.shape, (h >> np.uint32(1)) % np.uint32(count)
        self.signs = np.where(h & np.uint32(1), -1, 1).astype(weight.dtype)
        sums, sizes = self._gathered(weight.reshape(-1), count), np.bincount(self.buckets, minlength=count)
        self.values = Parameter((sums / np.sqrt(np.maximum(sizes, 1))).astype(weight.dtype))
        self.layer.weight = None  # the values stand for it

    def _gathered(self, flat, count):
        return np.bincount(self.buckets, flat * self.signs, count)

    def computed(self):
        values = self.values

        def backward(grad, kept):
            return [self._gathered(grad.reshape(-1), values.size).astype(values.dtype)]

        weight = (values.data[self.buckets] * self.signs).reshape(self.shape)
        return record("hashed", weight, [values], backward)

    def arrays(self):
        return {"values": self.values.data}


def hashed(model, keep=0.1, seed=0):
    """A copy of the network with `Hashed` layers: `keep` (0 to 1) times as many values as weights, one at least."""
    if not 0 < keep <= 1:
        raise ValueError(f"keep is {keep}; expected above 0, 1 at most.")
    return replaced(model, lambda name, layer: Hashed(layer, max(1, round(keep * weight_of(layer).size)), seed))
