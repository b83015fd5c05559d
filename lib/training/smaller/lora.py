"""A network learns something new by a few numbers: its weights rest, and a matrix of low rank is added to each.

Hu et al. 2021, "LoRA: Low-Rank Adaptation of Large Language Models". W + (alpha / r) B A with B (out, r), which begins
with zeros, and A (r, K), drawn at random: the network begins as it was. Gradients and Adam's moments are kept for r
(out + K) numbers instead of out K. For inference the sum is one weight again (`parametrized.merged`): no time is lost.
"""

import numpy as np

from .. import functional as F
from ..modules import Parameter, checked
from ..tensor import Tensor
from .parametrized import Parametrized, replaced, weight_of


class LoRA(Parametrized):
    """A layer whose weight and bias do not learn, with B and A that do. rank: 1 or more."""

    def __init__(self, layer, rank=4, alpha=None, *, generator):
        super().__init__(layer)
        weight = weight_of(layer)
        out, width = weight.shape[0], weight.size // weight.shape[0]
        if not 1 <= rank <= min(out, width):
            raise ValueError(f"rank is {rank}; expected 1 to {min(out, width)}, for a weight of {out} x {width}.")
        draw = checked(generator).standard_normal((rank, width)) / np.sqrt(width)
        self.a, self.b = Parameter(draw.astype(weight.dtype)), Parameter(np.zeros((out, rank), weight.dtype))
        self.factor = (2 * rank if alpha is None else alpha) / rank
        for part in (layer, *(module for _, module in layer.named_modules())):  # a buffer is kept, and does not learn
            for name, x in list(vars(part).items()):
                if isinstance(x, Parameter):
                    setattr(part, name, Tensor(x.data))

    def computed(self):
        weight = weight_of(self.layer)
        return weight + F.reshape(self.b @ self.a, weight.shape) * self.factor

    def arrays(self):
        """What has to be stored of the new task: the network as it was is there once, for all tasks."""
        return {"a": self.a.data, "b": self.b.data}


def adapted(model, rank=4, alpha=None, seed=0):
    """A copy of the network with `LoRA` layers, of rank `rank` or less where a layer is smaller."""
    generator = np.random.default_rng(seed)

    def make(name, layer):
        weight = weight_of(layer)
        most = min(weight.shape[0], weight.size // weight.shape[0])
        return LoRA(layer, min(rank, most), alpha, generator=generator)

    return replaced(model, make)
