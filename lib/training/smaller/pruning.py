"""Weights that become zero, by their size: a mask stays on the weight while the others learn on.

Han, Pool, Tran, Dally 2015, "Learning both Weights and Connections for Efficient Neural Networks"; the schedule of Zhu,
Gupta 2017, "To prune, or not to prune". The weight keeps its shape: zeros save bytes, and time only with a kernel for
them (dlkernels/sparse). Whole filters: filters.py.
"""

import numpy as np

from ..tensor import Tensor, record
from .parametrized import Parametrized, layers, replaced, weight_of
from .storage import csr, smallest, sparse

SCOPES = ("global", "layer")


class Masked(Parametrized):
    """A weight times a mask (a Tensor of bool): what is masked is 0, gets no gradient, and is not stored."""

    def __init__(self, layer, mask):
        super().__init__(layer)
        weight = weight_of(layer)
        if mask.shape != weight.shape or mask.dtype != bool:
            raise ValueError(f"mask is {mask.shape} {mask.dtype}; expected {weight.shape} bool, as the weight.")
        self.mask = Tensor(mask)

    def computed(self):
        weight, mask = weight_of(self.layer), self.mask.data
        return record("masked", weight.data * mask, [weight], lambda grad, kept: [grad * kept], mask)

    def arrays(self):
        weight = self.computed().data
        return smallest({"weight": weight}, sparse(weight), csr(weight.reshape(weight.shape[0], -1)))


def largest(sizes, keep):
    """The mask of the `keep` (0 to 1) largest numbers of an array of sizes: round(keep * size) of them. Of equal ones
    those that come first."""
    if not 0 <= keep <= 1:
        raise ValueError(f"keep is {keep}; expected the part of the weights that stays, 0 to 1.")
    mask = np.zeros(sizes.size, bool)
    mask[np.argsort(-sizes.reshape(-1), kind="stable")[: round(keep * sizes.size)]] = True
    return mask.reshape(sizes.shape)


def masks(model, keep, scope="global"):
    """{layer's name: mask}. "layer": the part `keep` of each layer; "global": of all weights together, so that a layer
    with small weights loses more."""
    if scope not in SCOPES:
        raise ValueError(f"scope is {scope!r}; expected one of {', '.join(SCOPES)}.")
    sizes = {name: np.abs(weight_of(layer).data) for name, layer in layers(model).items()}
    if scope == "layer":
        return {name: largest(size, keep) for name, size in sizes.items()}
    flat = largest(np.concatenate([size.reshape(-1) for size in sizes.values()]), keep)
    parts = np.split(flat, np.cumsum([size.size for size in sizes.values()])[:-1])
    return {name: part.reshape(size.shape) for (name, size), part in zip(sizes.items(), parts, strict=True)}


def two_of_four(weight):
    """The mask of the two largest of each four weights next to each other along a row of the (out, K) matrix, as sparse
    tensor cores want them (Mishra et al. 2021, "Accelerating Sparse Deep Neural Networks"). Of a rest of three the two
    largest stay, of one or two all."""
    matrix = np.abs(weight.reshape(weight.shape[0], -1))
    padded = np.pad(matrix, ((0, 0), (0, -matrix.shape[1] % 4)), constant_values=-1)
    fours = padded.reshape(len(matrix), -1, 4)
    order = np.argsort(-fours, axis=-1, kind="stable")
    mask = np.zeros(fours.shape, bool)
    np.put_along_axis(mask, order[..., :2], True, axis=-1)
    return mask.reshape(padded.shape)[:, : matrix.shape[1]].reshape(weight.shape)


def pruned(model, keep=0.2, scope="global"):
    """A copy of the network with `Masked` layers. keep: the part of the weights that stays, or "2:4". Train it with few
    steps and a small rate to let it recover (networks.trained)."""
    if keep == "2:4":
        return replaced(model, lambda name, layer: Masked(layer, two_of_four(weight_of(layer).data)))
    chosen = masks(model, keep, scope)
    return replaced(model, lambda name, layer: Masked(layer, chosen[name]))


def density(model):
    """The part of the weights of all layers that is not zero."""
    weights = [weight_of(layer).data for layer in layers(model).values()]
    return sum(np.count_nonzero(x) for x in weights) / sum(x.size for x in weights)


def sparsity_at(step, begin, end, first, last):
    """Zhu and Gupta's schedule: from sparsity `first` at step `begin` to `last` at `end`, along a cubic: fast where
    most weights are not needed, slowly at the end."""
    done = min(1.0, max(0.0, (step - begin) / (end - begin)))
    return last + (first - last) * (1 - done) ** 3


class Gradual:
    """A hook of `fit` that prunes while the network learns: every `every` steps from `begin` to `end`, by size.

    model: a network that `pruned(model, 1.0)` gave. What is masked stays masked.
    """

    def __init__(self, model, begin, end, keep, every=10, scope="global"):
        if not (0 <= begin < end and every >= 1 and 0 <= keep <= 1):
            raise ValueError(
                f"begin is {begin}, end {end}, every {every}, keep {keep}; expected 0 <= begin < end, "
                "every 1 or more, keep 0 to 1."
            )
        self.model, self.begin, self.end, self.keep, self.every, self.scope = model, begin, end, keep, every, scope

    def __call__(self, history):
        step = history.steps[-1]
        if self.begin <= step <= self.end and ((step - self.begin) % self.every == 0 or step == self.end):
            part = 1 - sparsity_at(step, self.begin, self.end, 0.0, 1 - self.keep)
            for name, mask in masks(self.model, part, self.scope).items():
                layer = layers(self.model)[name]
                layer.mask.data &= mask
