"""Examples of optimisers. The errors allowed count roundings of what is added up (Higham 2002, chapter 3)."""

import numpy as np

from ..examples import Examples
from . import reference

SHAPES = ((), (1,), (0, 4), (3, 0), (7,), (5, 33), (2, 3, 17), (2, 1, 3, 5))
LARGE = ((300, 301), (70001,), (3, 50, 1001))
TIMED = ((1 << 12,), (1 << 20,), (1 << 24,))


def _group(draw, shape, several, positive=False):
    """One array, or a tuple of some of different shapes."""

    def one(shape):
        x = draw.array(*shape)
        if positive:
            writeable, x.flags.writeable = x.flags.writeable, True
            np.abs(x, out=x)
            x.flags.writeable = writeable
        return x

    return (one(shape), one((3,)), one(shape[1:])) if several else one(shape)


def adam_arguments(draw, *shape):
    several, step, lr, betas, eps, decay = draw.one_of(
        (
            (False, 1, 1e-3, (0.9, 0.999), 1e-8, 0.01),
            (True, 7, 0.1, (0.8, 0.95), 1e-4, 0.0),
            (True, 1000, 0.02, (0.0, 0.5), 1e-3, 0.3),
        )
    )
    groups = [_group(draw, shape, several) for _ in range(3)]
    return *groups, _group(draw, shape, several, positive=True), step, lr, betas, eps, decay


def sgd_arguments(draw, *shape):
    several, first, *options = draw.one_of(
        (
            (False, True, 0.1, 0.0, 0.0, 0.0, False),
            (True, False, 0.1, 0.9, 0.0, 0.01, True),
            (False, True, 0.5, 0.5, 0.3, 0.1, False),
            (True, False, 0.01, 0.9, 0.1, 0.0, False),
            (True, True, 0.01, 0.0, 0.0, 0.2, False),
        )
    )
    groups = [_group(draw, shape, several) for _ in range(2)]
    return *groups, None if first else _group(draw, shape, several), *options


def clip_arguments(draw, *shape):
    several, most = draw.one_of(((False, 0.5), (True, 3.0), (True, 1e6), (False, 0.0)))
    return _group(draw, shape, several), most


def _flat(found):
    """Errors of groups as the results stand: array by array."""
    return tuple(each for one in found if one is not None for each in (one if isinstance(one, tuple) else (one,)))


def _size(x):
    return np.abs(np.asarray(x, np.float64))


def adamw_error(arguments, expected, eps):
    return adam_error((*arguments[:-1], 0.0), expected, eps)


def adam_error(arguments, expected, eps):
    params, grads, exp_avgs, exp_avg_sqs, step, lr, betas, term, decay = arguments
    of = params[0] if isinstance(params, tuple) else params
    least = 4 * float(np.finfo(of.dtype).smallest_subnormal)  # by which the smallest numbers are rounded

    def one(p, g, m, v):
        g = g + decay * p if decay else g
        squared, large = np.square(g), decay * _size(p) if decay else 0.0
        p, m, v, g = _size(p), _size(m), _size(v), _size(g) + large
        of_m, of_v = 8 * eps * (m + g) + least, 8 * eps * (v + g * g) + least
        after, rate = betas[1] * v + (1 - betas[1]) * squared, lr / (1 - betas[0] ** step)
        # how far the square root may be off: the smaller of two bounds, one for v near 0
        of_root = np.minimum(np.sqrt(of_v), of_v / np.maximum(np.sqrt(after), np.finfo(np.float64).tiny))
        root = np.sqrt(1 - betas[1] ** step)
        below = np.maximum(np.sqrt(after) - of_root, 0) / root + term
        off = of_m / below + (m + g) / below * (of_root / root / below + 8 * eps)
        off = rate * off + least / below
        return 8 * eps * p + np.where(np.isnan(off), 0.0, off), of_m, of_v  # NaN: from a state that is infinite

    with np.errstate(all="ignore"):
        return _flat(reference._each(one, params, grads, exp_avgs, exp_avg_sqs))


def sgd_error(arguments, expected, eps):
    params, grads, buffers, lr, momentum, _, decay, _ = arguments

    def one(p, g, b):
        p, g = _size(p), _size(g) + (decay * _size(p) if decay else 0.0)
        b = g + (0 if b is None else momentum * _size(b))
        return 8 * eps * (p + lr * (g + b)), 8 * eps * b

    of_params, of_buffers = reference._each(one, params, grads, buffers)
    return _flat((of_params, of_buffers if momentum else None))


def clip_error(arguments, expected, eps):
    norm, grads = expected
    of_grads = tuple(8 * eps * _size(g) for g in (grads if isinstance(grads, tuple) else (grads,)))
    return (4 * eps * norm, *of_grads)


def _examples(arguments, allowed, values, seeds):
    return Examples(arguments, allowed, SHAPES, LARGE, TIMED, values=values, seeds=seeds, in_place=True)


ADAM = _examples(adam_arguments, adam_error, ("normal", "tiny", "few"), 3)
ADAMW = _examples(adam_arguments, adamw_error, ("normal", "tiny", "few"), 3)
SGD = _examples(sgd_arguments, sgd_error, ("normal", "tiny", "few"), 5)
CLIP = _examples(clip_arguments, clip_error, ("normal", "few"), 4)
