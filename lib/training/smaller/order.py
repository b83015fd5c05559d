"""Which first? Pruning looks for small weights, quantising makes many weights equal: the second sees what is left.

After rounding, whole levels are as large as one another: which of them go is decided by where they stand, not by what
they were. And a small weight that pruning kept may be rounded to 0 afterwards. Both orders keep the same number of
weights and the same bits, so that the bytes of their codes are alike; without fine-tuning and with it.
"""

import numpy as np

from ..loop import accuracy
from .networks import trained
from .parametrized import merged
from .pruning import density, pruned
from .quantized import quantized

ORDERS = ("prune, quantize", "quantize, prune")


def in_order(model, order, keep, bits, granularity="channel", scope="global", tune=None):
    """A network with `keep` of its weights and `bits` bits, in one of ORDERS. tune: a function that trains a network
    and returns it, called after each of the two steps (the mask stays; weights are rounded as they learn)."""
    if order not in ORDERS:
        raise ValueError(f"order is {order!r}; expected one of {ORDERS}.")
    tune = tune or (lambda network: network)
    if order == ORDERS[0]:
        return tune(quantized(tune(pruned(model, keep, scope)), bits, granularity))
    rounded = tune(quantized(model, bits, granularity))
    small = pruned(merged(rounded), keep, scope)
    # on the grid of the whole weight: the largest weights stay, so the scales do
    return tune(quantized(small, bits, granularity))


def compared(
    models, data, keep, bits, granularity="channel", scope="global", part="validation", tune=False, **training
):
    """{order: {"accuracy": [one for each model], "density": [...]}} on a part of data, a `Parts`. tune: fine-tune after
    each step, with `training` for `networks.trained`."""
    found = {order: {"accuracy": [], "density": []} for order in ORDERS}
    for seed, model in enumerate(models):
        for order in ORDERS:
            fit = (lambda network, seed=seed: trained(network, data.train, seed=seed, **training)) if tune else None
            small = in_order(model, order, keep, bits, granularity, scope, fit)
            found[order]["accuracy"].append(accuracy(small, *getattr(data, part)))
            found[order]["density"].append(density(small))
    return found


def mean_and_deviation(values):
    """(mean, standard deviation of the sample), floats: what an error bar shows."""
    return float(np.mean(values)), float(np.std(values, ddof=1)) if len(values) > 1 else 0.0
