"""Losses in NumPy and float64: what every other implementation is tested against.

cross_entropy    -log softmax(input)[target] of each row of logits, smoothed and reduced as in PyTorch
mse_loss         (input - target)^2, reduced

Label smoothing s (Szegedy and others, Rethinking the Inception architecture, 2016, section 7) puts 1 - s of the weight
on the target and spreads s evenly over all classes. Rows whose target is `ignore_index` have a loss of 0, and do not
count in a mean: that of no rows is NaN.
"""

import math

import numpy as np


def _double(x):
    return np.asarray(x, dtype=np.float64)


def rows_of(input, target):
    """(logits as (rows, classes), targets as (rows,)). The classes run along dimension 1, or along the only one."""
    x = np.moveaxis(_double(input), 1 if np.ndim(input) > 1 else 0, -1)
    return x.reshape(math.prod(x.shape[:-1]), x.shape[-1]), np.reshape(target, -1)


def log_sum_exp(x):
    """log(sum of e^x) along the last dimension."""
    top = x.max(axis=-1, initial=-np.inf)
    return top + np.log(np.exp(x - top[..., None]).sum(axis=-1))


def losses_of(x, target, ignore_index, label_smoothing):
    """The loss of each row: 0 where it is ignored."""
    counts = target != ignore_index
    chosen = np.where(counts, target, 0)
    from_top = x - x.max(axis=-1, initial=-np.inf)[:, None]
    lost = log_sum_exp(from_top)[:, None] - from_top  # of each class
    loss = np.take_along_axis(lost, chosen[:, None], axis=1)[:, 0]
    if label_smoothing:
        loss = (1 - label_smoothing) * loss + label_smoothing * lost.mean(axis=1)
    return np.where(counts, loss, 0.0)


def reduced(losses, reduction, count):
    if reduction == "none":
        return losses
    total = losses.sum()
    return total if reduction == "sum" else np.divide(total, np.float64(count))


def cross_entropy_with_lse(input, target, ignore_index=-100, reduction="mean", label_smoothing=0.0):
    x, flat = rows_of(input, target)
    losses = losses_of(x, flat, ignore_index, label_smoothing).reshape(np.shape(target))
    lse = log_sum_exp(x).reshape(np.shape(target))
    return reduced(losses, reduction, (flat != ignore_index).sum()), lse


def cross_entropy(input, target, ignore_index=-100, reduction="mean", label_smoothing=0.0):
    return cross_entropy_with_lse(input, target, ignore_index, reduction, label_smoothing)[0]


def cross_entropy_backward(grad, input, target, ignore_index=-100, reduction="mean", label_smoothing=0.0):
    x, flat = rows_of(input, target)
    counts = flat != ignore_index
    wanted = np.zeros_like(x)
    wanted[np.arange(len(flat))[counts], flat[counts]] = 1
    wanted = (1 - label_smoothing) * wanted + label_smoothing / x.shape[1]
    arriving = np.broadcast_to(np.reshape(_double(grad), -1), flat.shape) * counts
    if reduction == "mean":
        arriving = arriving / max(counts.sum(), 1)
    softmax = np.exp(x - log_sum_exp(x)[:, None])
    gradient = np.where(counts[:, None], arriving[:, None] * (softmax - wanted), 0.0)
    axis = 1 if np.ndim(input) > 1 else 0
    moved = np.moveaxis(np.empty(np.shape(input)), axis, -1).shape
    return np.moveaxis(gradient.reshape(moved), -1, axis)


def cross_entropy_backward_from_lse(grad, input, target, lse, ignore_index=-100, reduction="mean", label_smoothing=0.0):
    return cross_entropy_backward(grad, input, target, ignore_index, reduction, label_smoothing)


def mse_loss(input, target, reduction="mean"):
    squares = (_double(input) - _double(target)) ** 2
    return reduced(squares, reduction, squares.size)


def mse_loss_backward(grad, input, target, reduction="mean"):
    of_input = 2 * _double(grad) * (_double(input) - _double(target))
    if reduction == "mean":
        of_input = of_input / max(of_input.size, 1)
    return of_input, -of_input
