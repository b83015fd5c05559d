"""Batch normalisation: each channel brought to mean 0 and variance 1.

Names and arguments are PyTorch's. Arrays are float32 or float64, of any strides, in host or device memory (there:
float32). Nothing changes its inputs, the running statistics neither: `batch_norm_with_statistics` returns those of the
batch, and `running_statistics` makes new running ones of them. Wrong arguments raise ValueError or TypeError.

    result, mean, var = batch_norm_with_statistics(x, weight, bias)                   # in training
    running = running_statistics(*running, mean, var, x.size // x.shape[1])
    result = batch_norm(x, *running, weight, bias)                                    # afterwards

Sums are added in blocks of a length that follows from the shape, and these in their order: the results are the same,
bit for bit, for any number of threads.

Its files, in reading order:

reference.py  the specification in NumPy            examples.py  what each operation can be called with
cpu.py        the ladders, forward and backward     gpu.py       the same on a GPU
running.py    the running statistics
"""

import math

from ..arguments import check_gradient, float_array, number, one_place, same
from ..implementations import call, operation
from . import examples, reference


def _check(input, eps, **channels):
    """eps as a number. channels: arrays of a number for each channel, or None."""
    arrays = {"input": input} | {name: array for name, array in channels.items() if array is not None}
    for name, array in arrays.items():
        float_array(name, array)
    one_place(**arrays)
    same("dtype", **arrays)
    shape = tuple(input.shape)
    if len(shape) < 2:
        raise ValueError(f"input has shape {shape}; expected (batch, channels, ...).")
    for name, array in arrays.items():
        if array is not input and tuple(array.shape) != shape[1:2]:
            raise ValueError(
                f"{name} has shape {tuple(array.shape)}; expected {shape[1:2]}, as input, of shape {shape}, has so "
                "many channels."
            )
    eps = float(number("eps", eps, "float64"))
    if not eps >= 0:
        raise ValueError(f"eps is {eps}; expected a number that is not negative.")
    return eps


def _check_count(input):
    """Raise unless each channel has a variance."""
    shape = tuple(input.shape)
    if shape[1] and shape[0] * math.prod(shape[2:]) < 2:
        raise ValueError(
            f"input has shape {shape}; expected more than one value for each channel, as the batch's own variance is "
            "used. Take larger batches, or training=False with running statistics."
        )


def _check_norm(input, running_mean, running_var, weight, bias, training, eps):
    """(running_mean, running_var, eps), without running statistics in training."""
    if training not in (True, False):
        raise TypeError(f"training is {training!r}; expected True or False.")
    eps = _check(input, eps, running_mean=running_mean, running_var=running_var, weight=weight, bias=bias)
    if training:
        _check_count(input)
        return None, None, eps
    for name, array in (("running_mean", running_mean), ("running_var", running_var)):
        if array is None:
            raise TypeError(f"{name} is None; expected an array of a number for each channel, as training is False.")
    return running_mean, running_var, eps


@operation("batch_norm", reference.batch_norm, examples.NORM, constants=("running_mean", "running_var"))
def _prepare_batch_norm(
    input, running_mean=None, running_var=None, weight=None, bias=None, training=False, momentum=0.1, eps=1e-5
):
    mean, var, eps = _check_norm(input, running_mean, running_var, weight, bias, training, eps)
    return mean, var, weight, bias, eps, input


@operation(
    "batch_norm_with_statistics",
    reference.batch_norm_with_statistics,
    examples.WITH_STATISTICS,
    results=("result", "mean", "var"),
    constants=("mean", "var"),
)
def _prepare_with_statistics(input, weight=None, bias=None, eps=1e-5):
    eps = _check(input, eps, weight=weight, bias=bias)
    _check_count(input)
    return weight, bias, eps, input


@operation("batch_norm_backward", reference.batch_norm_backward, examples.BACKWARD, backward_of="batch_norm")
def _prepare_backward(
    grad, input, running_mean=None, running_var=None, weight=None, bias=None, training=False, eps=1e-5
):
    mean, var, eps = _check_norm(input, running_mean, running_var, weight, bias, training, eps)
    check_gradient(grad, input.shape, input=input)
    return mean, var, weight, bias, eps, grad, input


@operation(
    "batch_norm_backward_from_statistics",
    reference.batch_norm_backward_from_statistics,
    examples.FROM_STATISTICS,
    backward_of="batch_norm_with_statistics",
)
def _prepare_backward_from_statistics(grad, input, mean, var, weight=None, bias=None, eps=1e-5):
    for name, array in (("mean", mean), ("var", var)):
        float_array(name, array)
    eps = _check(input, eps, mean=mean, var=var, weight=weight, bias=bias)
    _check_count(input)
    check_gradient(grad, input.shape, input=input)
    return mean, var, weight, bias, eps, grad, input


from . import cpu, gpu  # noqa: E402, F401
from .running import running_statistics  # noqa: E402, F401


def batch_norm(
    input, running_mean=None, running_var=None, weight=None, bias=None, training=False, momentum=0.1, eps=1e-5
):
    """(input - mean) / sqrt(var + eps) * weight + bias, channel by channel, as torch.nn.functional.batch_norm.

    input: (batch, channels, ...). weight, bias: (channels,), or None for ones and zeros. training: whether mean and
    variance are those of input, or running_mean and running_var, (channels,). A new array. Unlike PyTorch's, it leaves
    the running statistics as they are, and momentum counts for nothing: see the head of this folder.
    """
    return call("batch_norm", input, running_mean, running_var, weight, bias, training, momentum, eps)


def batch_norm_with_statistics(input, weight=None, bias=None, eps=1e-5):
    """`batch_norm` in training, and what it found: (result, mean, var), new arrays.

    mean, var: (channels,). var is that of n numbers, not n - 1, and without eps; torch.native_batch_norm returns
    1 / sqrt(var + eps) in its place.
    """
    return call("batch_norm_with_statistics", input, weight, bias, eps)


def batch_norm_backward(
    grad, input, running_mean=None, running_var=None, weight=None, bias=None, training=False, eps=1e-5
):
    """The gradients of input, weight and bias (of those that are given), given `grad`, the one of batch_norm(...).

    In training mean and variance are computed again, and are functions of input.
    """
    return call("batch_norm_backward", grad, input, running_mean, running_var, weight, bias, training, eps)


def batch_norm_backward_from_statistics(grad, input, mean, var, weight=None, bias=None, eps=1e-5):
    """As `batch_norm_backward` in training, from the statistics that `batch_norm_with_statistics` returned."""
    return call("batch_norm_backward_from_statistics", grad, input, mean, var, weight, bias, eps)
