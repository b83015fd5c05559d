"""Running statistics: what a batch's mean and variance become for the time after training."""

import numbers

from ..arguments import float_array, number
from ..implementations import call


def running_statistics(running_mean, running_var, mean, var, count, momentum=0.1):
    """(running_mean, running_var) after a batch, as torch.nn.BatchNorm2d makes them. New arrays.

    running - momentum * (running - mean), and the same with var * count / (count - 1): the estimate of the variance
    that is not too small on average. All: (channels,), of one dtype, in one memory; mean and var as
    `batch_norm_with_statistics` returns them. count: how many values a channel has, at least 2. momentum: from 0 to 1;
    1 / (number of batches so far) makes running statistics the mean of all batches.
    """
    if isinstance(count, bool) or not isinstance(count, numbers.Integral) or count < 2:
        raise ValueError(f"count is {count!r}; expected a whole number of at least 2, the values of a channel.")
    share = float(number("momentum", momentum, "float64"))
    if not 0 <= share <= 1:
        raise ValueError(f"momentum is {momentum}; expected a number from 0 to 1.")
    for name, array in (("running_mean", running_mean), ("running_var", running_var), ("mean", mean), ("var", var)):
        float_array(name, array)
    moved = (call("axpy", -share, running, running, None) for running in (running_mean, running_var))
    parts = (share, mean), (share * count / (count - 1), var)
    return tuple(call("axpy", part, array, rest, None) for (part, array), rest in zip(parts, moved, strict=True))
