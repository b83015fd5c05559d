"""Examples of losses. The errors allowed are sums of what each rounding can do, as in attention/examples.py."""

from dataclasses import replace

import numpy as np

from ..examples import Examples
from . import reference

# ---- cross-entropy: a size is (rows, classes), (rows, classes, more rows) or (classes,) ------------------------------

SHAPES = ((1,), (7,), (1, 1), (0, 4), (1, 7), (5, 33), (4, 1), (3, 70), (2, 3, 17), (0, 3, 2), (2, 5, 3, 2))
LARGE = ((250, 300), (3, 20001), (70, 10, 129))
TIMED = ((64, 10), (2048, 65))

#: (reduction, label_smoothing, ignore_index)
SETTINGS = (("mean", 0.0, -100), ("none", 0.1, -100), ("sum", 0.0, 0), ("mean", 0.3, -1), ("none", 0.0, 2))
SETTLED = 1100.0  # e^-1100 is 0 in every type


def cross_entropy_arguments(draw, *shape):
    classes = max(1, shape[1] if len(shape) > 1 else shape[0])
    rows = (shape[0], *shape[2:]) if len(shape) > 1 else ()
    reduction, smoothing, ignored = draw.one_of(SETTINGS)
    x = draw.array(*(shape[:1] if rows else ()), classes, *rows[1:])
    target = draw.indices(*rows, below=classes)
    if target.size and target.flags.writeable:
        target[draw.random.random(rows) < 0.2] = ignored
        origin = (0,) * target.ndim
        target[origin] = next((k for k in range(classes) if k != ignored), ignored)  # a mean of no rows has no slope
    if not (reference.rows_of(x, target)[1] != ignored).any():
        reduction = "sum"
    return x, target, ignored, reduction, smoothing


def _row_errors(x, eps):
    """(how far the loss of each row may be off; its log-sum-exp; how far each softmax may be, beside itself)."""
    x = np.where(np.isfinite(x), x, 0.0)
    top, n = x.max(axis=1, initial=-np.inf), x.shape[1]
    far, size = np.abs(x - top[:, None]), np.abs(x).max(axis=1, initial=0)
    lse = np.abs(reference.log_sum_exp(x))
    of_loss = 4 * eps * ((n + 14) * (1 + size) + far.max(axis=1, initial=0))
    return of_loss, lse, eps * (n + 16 + np.minimum(far, SETTLED) + 3 * (lse + size)[:, None])


def _reduced_error(errors, losses, reduction, count, eps):
    if reduction == "none":
        return errors
    total = errors.sum() + (losses.size + 3) * eps * np.abs(np.where(np.isfinite(losses), losses, 0)).sum()
    return total if reduction == "sum" else total / max(count, 1)


def with_lse_error(arguments, expected, eps):
    input, target, ignored, reduction, smoothing = arguments
    x, flat = reference.rows_of(input, target)
    errors, lse, _ = _row_errors(x, eps)
    losses = reference.losses_of(x, flat, ignored, smoothing)
    shape = np.shape(expected[0]) if reduction == "none" else ()
    of_result = np.reshape(_reduced_error(errors, losses, reduction, (flat != ignored).sum(), eps), shape)
    return of_result, (errors + 2 * eps * lse).reshape(np.shape(target))


def cross_entropy_error(arguments, expected, eps):
    return with_lse_error(arguments, (expected,), eps)[0]


CROSS_ENTROPY = Examples(
    cross_entropy_arguments,
    cross_entropy_error,
    SHAPES,
    LARGE,
    TIMED,
    values=("normal", "tiny", "few"),
    seeds=len(SETTINGS),
)
WITH_LSE = replace(CROSS_ENTROPY, allowed=with_lse_error)


def gradient_arguments(draw, *shape):
    x, target, ignored, reduction, smoothing = cross_entropy_arguments(draw, *shape)
    grad = draw.array(*target.shape) if reduction == "none" else draw.array()
    return grad, x, target, ignored, reduction, smoothing


def gradient_error(arguments, expected, eps):
    grad, input, target, ignored, reduction, smoothing = arguments
    x, flat = reference.rows_of(input, target)
    off = _row_errors(x, eps)[2]
    softmax = np.exp(x - reference.log_sum_exp(x)[:, None])
    g = np.broadcast_to(np.abs(np.reshape(np.asarray(grad, np.float64), -1)), flat.shape)[:, None]
    g = g / max((flat != ignored).sum(), 1) if reduction == "mean" else g
    error = 4 * g * (softmax * off + eps * (softmax + smoothing + (np.arange(x.shape[1]) == flat[:, None])))
    axis = 1 if input.ndim > 1 else 0
    return np.moveaxis(error.reshape(np.moveaxis(input, axis, -1).shape), -1, axis)


BACKWARD = replace(CROSS_ENTROPY, arguments=gradient_arguments, allowed=gradient_error, values=("normal", "tiny"))


def from_lse_arguments(draw, *shape):
    grad, x, target, *rest = gradient_arguments(draw, *shape)
    lse = reference.log_sum_exp(reference.rows_of(x, target)[0]).reshape(target.shape)
    return grad, x, target, lse.astype(draw.dtype), *rest


def from_lse_error(arguments, expected, eps):
    grad, x, target, _, *rest = arguments
    return gradient_error((grad, x, target, *rest), expected, eps)


FROM_LSE = replace(BACKWARD, arguments=from_lse_arguments, allowed=from_lse_error)


# ---- squares ---------------------------------------------------------------------------------------------------------

REDUCTIONS = ("mean", "none", "sum")


def mse_arguments(draw, *shape):
    reduction = draw.one_of(REDUCTIONS)
    x, target = draw.array(*shape), draw.array(*shape)
    return x, target, "sum" if reduction == "mean" and not x.size else reduction


def mse_error(arguments, expected, eps):
    input, target, reduction = arguments
    squares = reference.mse_loss(input, target, "none")
    squares = np.where(np.isfinite(squares), squares, 0.0)
    return _reduced_error(4 * eps * squares, squares, reduction, squares.size, eps)


def mse_gradient_arguments(draw, *shape):
    x, target, reduction = mse_arguments(draw, *shape)
    return draw.array(*x.shape) if reduction == "none" else draw.array(), x, target, reduction


def mse_gradient_error(arguments, expected, eps):
    return tuple(5 * eps * np.abs(gradient) for gradient in expected)


MSE = Examples(
    mse_arguments,
    mse_error,
    shapes=((), (0,), (1,), (2,), (31,), (300,), (3, 0), (7, 13), (2, 3, 5)),
    large=((100_003,), (333, 301)),
    timed=((64, 10), (1 << 20,)),
    values=("normal", "tiny", "few"),
    seeds=len(REDUCTIONS),
)
MSE_BACKWARD = replace(MSE, arguments=mse_gradient_arguments, allowed=mse_gradient_error, values=("normal", "tiny"))
