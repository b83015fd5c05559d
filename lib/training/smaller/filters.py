"""Whole filters go: the network becomes smaller for every kernel, without zeros to skip.

Li, Kadav, Durdanovic, Samet, Graf 2017, "Pruning Filters for Efficient ConvNets". A filter that goes takes its channel
out of the next layer, too. Here the smallest by the sum of |weight| go, the same part of each layer but the last one.
"""

import numpy as np

from ..modules import AvgPool2d, Conv2d, Flatten, Linear, MaxPool2d, ReLU, Sequential
from .parametrized import plain

BETWEEN = (ReLU, MaxPool2d, AvgPool2d, Flatten)  # a channel of zeros stays one through all of these


def chosen(model, keep):
    """{index of a layer in the Sequential: sorted indices of the filters that stay}, one at least; without the last."""
    if not 0 < keep <= 1:
        raise ValueError(f"keep is {keep}; expected the part of the filters that stays, above 0, 1 at most.")
    found = {}
    for k, layer in list(_layers(model).items())[:-1]:
        sizes = np.abs(layer.weight.data).reshape(layer.weight.shape[0], -1).sum(axis=1)
        count = max(1, round(keep * len(sizes)))
        found[k] = np.sort(np.argsort(-sizes, kind="stable")[:count])
    return found


def smaller(model, keep=0.5):
    """A network without the other filters: plain layers of fewer channels. keep: a part, or what `chosen` returns.

    model: a Sequential of Conv2d (groups=1), Linear, ReLU, pooling and Flatten; fold batch norm first (folding.py).
    """
    stays = keep if isinstance(keep, dict) else chosen(model, keep)
    parts, before, count = [], None, None  # the channels that stayed in the last layer, and how many it had
    for k, part in enumerate(_checked(model)):
        if isinstance(part, Conv2d | Linear):
            weight = part.weight.data
            if before is not None:  # a flattened channel is several columns next to each other
                inner = weight.reshape(weight.shape[0], count, -1)[:, before]
                weight = inner.reshape(weight.shape[0], -1, *weight.shape[2:])
            bias = None if part.bias is None else part.bias.data
            before, count = stays.get(k), part.weight.shape[0]
            if before is not None:
                weight, bias = weight[before], None if bias is None else bias[before]
            part = plain(np.array(weight), None if bias is None else np.array(bias), getattr(part, "options", None))
        parts.append(part)
    return Sequential(*parts).eval()


def zeroed(model, keep=0.5):
    """The network as it was, but with weight and bias 0 of the filters that would go: what `smaller` has to equal."""
    stays = keep if isinstance(keep, dict) else chosen(model, keep)
    parts = []
    for k, part in enumerate(_checked(model)):
        if k in stays:
            there = np.isin(np.arange(part.weight.shape[0]), stays[k])
            weight = part.weight.data * there.reshape(-1, *[1] * (part.weight.data.ndim - 1))
            bias = None if part.bias is None else part.bias.data * there
            part = plain(weight, bias, getattr(part, "options", None))
        parts.append(part)
    return Sequential(*parts).eval()


def _layers(model):
    return {k: part for k, part in enumerate(_checked(model)) if isinstance(part, Conv2d | Linear)}


def _checked(model):
    if not isinstance(model, Sequential):
        raise TypeError(f"model is {type(model).__name__}; expected a Sequential, whose order tells what follows what.")
    for part in model:
        if not isinstance(part, (Conv2d, Linear, *BETWEEN)) or getattr(part, "options", {}).get("groups", 1) != 1:
            raise TypeError(
                f"the network has {type(part).__name__}; expected Conv2d of one group, Linear, ReLU, "
                "pooling and Flatten. Fold batch norm first."
            )
    return model
