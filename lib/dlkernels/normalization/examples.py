"""Examples of batch normalisation. The errors allowed count roundings (Higham 2002, chapters 3 and 4)."""

import numpy as np

from ..examples import Examples
from . import reference

SHAPES = ((1, 1), (2, 0), (0, 3), (4, 1), (7, 5), (5, 33), (3, 2, 9), (2, 3, 4, 5), (1, 4, 3, 3))
LARGE = ((300, 301), (5, 37, 30, 31), (70, 3, 20, 21), (2, 1, 40000))
TIMED = ((64, 32, 28, 28), (64, 64, 14, 14), (256, 1024))
SETTINGS = (
    (True, True, True, 1e-5),
    (False, True, True, 1e-3),
    (True, False, False, 0.1),
    (False, True, False, 1e-5),
    (False, False, True, 1e-5),
)  # training, weight, bias, eps


def _input(draw, training, *shape):
    """Two values at least for each channel, where there are statistics to be found."""
    shape = shape if len(shape) > 1 else (*shape, 1)
    if training and shape[0] * np.prod(shape[2:]) < 2:
        shape = (2, shape[1], *(max(1, n) for n in shape[2:]))
    return draw.array(*shape)


def _channels(draw, present, x):
    return draw.array(x.shape[1]) if present else None


def _variance(draw, x):
    y = draw.array(x.shape[1])
    writeable, y.flags.writeable = y.flags.writeable, True
    np.abs(y, out=y)
    y.flags.writeable = writeable
    return y


def norm_arguments(draw, *shape):
    training, weight, bias, eps = draw.one_of(SETTINGS)
    x = _input(draw, training, *shape)
    running = (None, None) if training and draw.seed % 2 else (_channels(draw, True, x), _variance(draw, x))
    return x, *running, _channels(draw, weight, x), _channels(draw, bias, x), training, 0.1, eps


def statistics_arguments(draw, *shape):
    _, weight, bias, eps = draw.one_of(SETTINGS)
    x = _input(draw, True, *shape)
    return x, _channels(draw, weight, x), _channels(draw, bias, x), eps


def backward_arguments(draw, *shape):
    x, *rest, training, _, eps = norm_arguments(draw, *shape)
    return draw.array(*x.shape), x, *rest, training, eps


def from_statistics_arguments(draw, *shape):
    x, weight, bias, eps = statistics_arguments(draw, *shape)
    mean, var = (statistic.astype(x.dtype) for statistic in reference.moments(x))
    return draw.array(*x.shape), x, mean, var, weight, bias, eps


def _size(x):
    return np.abs(np.asarray(x, np.float64))


def _normal_error(x, mean, var, term, eps, found):
    """(size of the normalised input, its scale, how far it may be off). found: whether mean and variance are found."""
    y, scale = reference._normal(x, mean, var, term)
    # the mean is rounded once; of a sum each number may be rounded as often as it is added, on a GPU up to 32 times
    count = 40 if found else 4
    of_mean = count * eps * (_size(reference._along(mean, x)) + np.sqrt(_size(reference._along(var, x)))) * scale
    off = 40 * eps * _size(y) + 2 * of_mean
    return _size(y), scale, off + (_size(y) * (of_mean**2 + 2 * of_mean * 0) if found else 0)


def _scaled_error(x, mean, var, weight, bias, term, eps, found):
    _, _, off = _normal_error(x, mean, var, term, eps, found)
    size = 1 if weight is None else _size(reference._along(weight, x))
    return size * off + (0 if bias is None else 4 * eps * _size(reference._along(bias, x)))


def norm_error(arguments, expected, eps):
    x, mean, var, weight, bias, training, _, term = arguments
    mean, var = reference.moments(x) if training else (mean, var)
    return _scaled_error(x, mean, var, weight, bias, term, eps, training)


def statistics_error(arguments, expected, eps):
    x, weight, bias, term = arguments
    _, mean, var = expected
    of_mean = 40 * eps * (_size(mean) + np.sqrt(var))
    return _scaled_error(x, mean, var, weight, bias, term, eps, True), of_mean, 80 * eps * var + of_mean**2


def _gradient_error(grad, x, mean, var, weight, bias, term, eps, training):
    y, scale, off = _normal_error(x, mean, var, term, eps, training)
    axes, count = reference._axes(x), max(1, x.size // max(1, x.shape[1]))
    size = _size(grad)
    of_bias = 60 * eps * size.sum(axes)
    of_weight = (size * (off + 60 * eps * y)).sum(axes)
    weights = 1 if weight is None else _size(reference._along(weight, x))
    of_x = 60 * eps * size
    if training:
        along = reference._along((size * y).sum(axes), x)
        of_x = of_x + (60 * eps * reference._along(size.sum(axes), x) + (off + 60 * eps * y) * along) / count
        of_x = of_x + y * reference._along(of_weight, x) / count
        of_x = of_x + size * off  # a scale that is off
    of_x = weights * scale * of_x
    found = of_x, None if weight is None else of_weight, None if bias is None else of_bias
    return tuple(error for error in found if error is not None)


def backward_error(arguments, expected, eps):
    grad, x, mean, var, weight, bias, training, term = arguments
    mean, var = reference.moments(x) if training else (mean, var)
    return _gradient_error(grad, x, mean, var, weight, bias, term, eps, training)


def from_statistics_error(arguments, expected, eps):
    grad, x, mean, var, weight, bias, term = arguments
    return _gradient_error(grad, x, mean, var, weight, bias, term, eps, True)


def _examples(arguments, allowed, values=("normal",)):
    return Examples(arguments, allowed, SHAPES, LARGE, TIMED, values=values, seeds=len(SETTINGS))


NORM = _examples(norm_arguments, norm_error, ("normal", "tiny"))
WITH_STATISTICS = _examples(statistics_arguments, statistics_error)
BACKWARD = _examples(backward_arguments, backward_error)
FROM_STATISTICS = _examples(from_statistics_arguments, from_statistics_error)
