"""Examples of the element-wise operations: sizes beside every width of a vector, all layouts, extreme values."""

import numpy as np

from ..examples import Examples, roundings
from . import reference
from .scalar import PARAMETERS

SHAPES = ((), (0,), (1,), (2,), (31,), (1000,), (0, 5), (3, 0), (1, 1), (7, 13), (33, 64), (2, 3, 5))
LARGE = ((100_003,), (333, 301))  # past the size where threads begin
STREAMED = ((4_194_309,), (1025, 999))  # and where non-temporal stores do
TIMED = ((1 << 12,), (1 << 18,), (1 << 26,))


def _examples(arguments, allowed, **more):
    return Examples(arguments, allowed, **{"shapes": SHAPES, "large": LARGE, "timed": TIMED, "in_place": True} | more)


def _one(draw, *shape):
    return (draw.array(*shape),)


def _two(draw, *shape):
    return draw.array(*shape), draw.array(*shape)


ADD = _examples(_two, roundings(1, lambda a, b: a + b), large=STREAMED)
AXPY = _examples(
    lambda draw, *shape: (draw.number(-0.9, 0.9), *_two(draw, *shape)),
    roundings(2, lambda alpha, x, y: alpha * x + y),
    large=STREAMED,
)


def _near_one(x):
    """Results of size one are made from steps of size one, smaller ones from steps of their own size."""
    return np.minimum(np.abs(np.asarray(x, np.float64)), 1)


FORWARD = _examples(_one, lambda arguments, expected, eps: 8 * eps * (np.abs(expected) + _near_one(arguments[0])))
BACKWARD = _examples(
    _two, lambda arguments, expected, eps: 8 * eps * (np.abs(expected) + np.abs(np.asarray(arguments[0], np.float64)))
)


def _bias_arguments(draw, *shape):
    return draw.array(*shape), draw.array(*shape[-1:]), draw.one_of(tuple(PARAMETERS))


def _bias_allowed(arguments, expected, eps):
    """The sum is rounded before the activation, and the activation as by itself."""
    x, bias, name = arguments
    total, rounded = np.asarray(x, np.float64) + bias, eps * (np.abs(np.asarray(x, np.float64)) + np.abs(bias))
    ends = [reference.ACTIVATIONS[name](total + sign * rounded) for sign in (-1, 1)]
    moved = np.nan_to_num(np.abs(ends[1] - ends[0]), nan=0, posinf=0)  # beside infinity nothing is rounded
    return 8 * eps * (np.abs(expected) + _near_one(total)) + moved


BIAS = _examples(
    _bias_arguments,
    _bias_allowed,
    shapes=tuple(shape for shape in SHAPES if shape),
    large=((301, 1000), (5, 70_001)),
    timed=((4, 1024), (256, 1024), (1 << 16, 1024)),
    seeds=len(PARAMETERS),
)


def _bias_gradient_arguments(draw, *shape):
    return draw.array(*shape), *_bias_arguments(draw, *shape)


def _bias_gradient_allowed(arguments, expected, eps):
    """No activation's slope changes faster than 1.2 times its argument (gelu's and silu's), which is a rounded sum."""
    grad, x, bias, _ = (np.abs(np.asarray(x, np.float64)) if isinstance(x, np.ndarray) else x for x in arguments)
    of_x, of_bias = np.abs(expected[0]), tuple(range(x.ndim - 1))
    rows = x.size // max(1, bias.size)
    off = eps * (8 * (of_x + grad) + 1.2 * (x + bias) * grad)
    return off, off.sum(axis=of_bias) + (rows + 2) * eps * of_x.sum(axis=of_bias)


BIAS_BACKWARD = _examples(
    _bias_gradient_arguments,
    _bias_gradient_allowed,
    shapes=BIAS.shapes,
    large=BIAS.large,
    timed=BIAS.timed,
    values=("normal", "tiny"),
    seeds=len(PARAMETERS),
    in_place=False,
)
