"""Examples of matrix products. A size is (..., m, n, k): a is (..., m, k), b is (..., k, n).

The error allowed is that of a sum of k rounded terms, element by element: (k + 2) eps |a| |b|, whatever the order of
the additions (Higham, Accuracy and Stability of Numerical Algorithms, section 3.5).
"""

import math

import numpy as np

from ..examples import Examples, exact
from ..vector.scalar import PARAMETERS

# 19 steps are more than one tile of every kernel: a barrier that is missing between two tiles shows.
SHAPES = (
    (1, 1, 1), (5, 7, 3), (20, 36, 12), (13, 1, 9), (1, 33, 20), (40, 33, 100), (17, 16, 15), (3, 5, 19),
    (0, 3, 2), (3, 0, 2), (3, 2, 0), (2, 3, 4, 4), (3, 2, 5, 9, 4), (0, 3, 4, 5), (7, 5, 6, 8),
)  # fmt: skip
# Past a register tile, a packed block in every direction, and the size where small matrices end.
LARGE = (
    (130, 130, 130), (261, 45, 300), (1, 300, 700), (300, 1, 515), (270, 270, 1), (13, 4200, 20), (5, 3, 1100),
    (257, 301, 190), (256, 304, 192), (7, 140, 90, 33),
)  # fmt: skip
TIMED = ((64, 64, 64), (256, 256, 256), (1024, 1024, 1024))
VALUES = ("normal", "tiny", "few")  # products of huge numbers overflow in float32 and not in the reference


def operands(draw, *shape):
    *stack, m, n, k = shape
    return draw.array(*stack, m, k), draw.array(*stack, k, n)


def _sizes(*arrays):
    return [np.abs(np.asarray(x, np.float64)) for x in arrays]


def _product_error(arguments, expected, eps):
    a, b = _sizes(*arguments[:2])
    return (a.shape[-1] + 2) * eps * (a @ b)


MATMUL = Examples(operands, _product_error, SHAPES, LARGE, TIMED, values=VALUES)


def _strassen_error(arguments, expected, eps):
    """By norms, not element by element (Higham, section 23.2.2), for one level."""
    a, b = _sizes(*arguments)
    largest = [x.max(axis=(-2, -1), keepdims=True, initial=0) for x in (a, b)]
    return _product_error(arguments, expected, eps) + 50 * a.shape[-1] * eps * largest[0] * largest[1]


STRASSEN = Examples(operands, _strassen_error, SHAPES, LARGE, ((2048, 2048, 2048),), values=("normal", "tiny"))


def _widened(x):
    x = np.asarray(x)
    return (x.astype(np.uint32) << 16).view(np.float32) if x.dtype == np.uint16 else x


def _half_error(arguments, expected, eps):
    return _product_error([_widened(x) for x in arguments], expected, eps)


# With rows of multiples of 16 bytes, too, which some rungs ask for.
HALF = Examples(
    operands,
    _half_error,
    (*SHAPES, (3, 8, 8), (2, 2, 8, 8)),
    ((270, 1030, 40), (20, 530, 1100), (1, 3, 1030), (515, 1, 3), (2, 65, 66, 67), (270, 136, 328), (2, 7, 264, 40)),
    TIMED,
    dtypes=("float16", "bfloat16"),
    values=("normal",),
)
INT8 = Examples(
    operands,
    exact,
    SHAPES,
    ((130, 100, 1100), (3, 70, 4096), (261, 45, 300)),
    TIMED,
    dtypes=("int8",),
    values=("normal", "huge"),
)


def _gradient_arguments(draw, *shape):
    a, b = operands(draw, *shape)
    return draw.array(*shape[:-1]), a, b


def _gradient_error(arguments, expected, eps):
    grad, a, b = _sizes(*arguments)
    (m, n), k = grad.shape[-2:], a.shape[-1]
    return (n + 2) * eps * (grad @ np.swapaxes(b, -1, -2)), (m + 2) * eps * (np.swapaxes(a, -1, -2) @ grad) + k * 0


MATMUL_BACKWARD = Examples(_gradient_arguments, _gradient_error, SHAPES, LARGE[:4], TIMED, values=VALUES)

# A linear layer of size (..., in, out), with and without bias and activation. Those with a kink are left out of the
# gradient: beside the kink, a rounded sum has the other slope.
LAYERS = ((3, 4), (1, 1), (9, 7, 5), (2, 3, 7, 5), (7, 1, 5), (4, 5, 1), (0, 3, 4), (33, 40, 30))
LARGE_LAYERS = ((300, 515, 130), (5, 1100, 261), (2, 70, 130, 260))
SMOOTH = (None, "tanh", "gelu", "silu", "sigmoid", "elu")


def _layer(activations):
    def arguments(draw, *shape):
        *stack, features, results = shape
        bias = draw.array(results) if draw.seed // len(activations) % 2 else None
        weight = draw.array(results, features)
        return draw.array(*stack, features), weight, bias, draw.one_of(activations)

    return arguments


def _layer_sum_error(x, weight, bias, eps):
    x, weight = _sizes(x, weight)
    return (weight.shape[1] + 3) * eps * (x @ weight.T + (0 if bias is None else np.abs(np.asarray(bias, np.float64))))


def _linear_error(arguments, expected, eps):
    x, weight, bias, _ = arguments
    steepest = 1.2  # of all activations: that of gelu and silu, below 1.13
    return steepest * _layer_sum_error(x, weight, bias, eps) + 8 * eps * (np.abs(expected) + 1)


LINEAR = Examples(
    _layer((None, *PARAMETERS)),
    _linear_error,
    LAYERS,
    LARGE_LAYERS,
    ((512, 512, 512),),
    values=("normal",),
    seeds=2 * (1 + len(PARAMETERS)),
)


def _layer_gradient_arguments(draw, *shape):
    rest = _layer(SMOOTH)(draw, *shape)
    return draw.array(*shape[:-2], shape[-1]), *rest


def _layer_gradient_error(arguments, expected, eps):
    """The derivative of the activation changes by no more than the sum it is taken at; then come sums of products."""
    grad, x, weight, bias, activation = arguments
    count = math.prod(x.shape[:-1])
    bent = 0 if activation is None else _layer_sum_error(x, weight, bias, eps).reshape(count, weight.shape[0])
    g, lines, w = _sizes(grad.reshape(count, weight.shape[0]), x.reshape(count, weight.shape[1]), weight)
    error = g * (1.2 * bent + 16 * eps)  # of what arrives at the sum
    errors = [
        (error @ w + (w.shape[0] + 2) * eps * 1.2 * (g @ w)).reshape(np.shape(x)),
        error.T @ lines + (len(lines) + 2) * eps * 1.2 * (g.T @ lines),
        error.sum(axis=0) + (len(lines) + 2) * eps * 1.2 * g.sum(axis=0),
    ]
    return tuple(errors if bias is not None else errors[:2])


LINEAR_BACKWARD = Examples(
    _layer_gradient_arguments,
    _layer_gradient_error,
    LAYERS,
    LARGE_LAYERS,
    ((512, 512, 512),),
    values=("normal",),
    seeds=2 * len(SMOOTH),
)


# Matrices to turn over: none may change a number. Less than a vector, a vector and a row more, blocks and ragged ones.
TRANSPOSE = Examples(
    lambda draw, *shape: (draw.array(*shape),),
    exact,
    ((1, 1), (5, 7), (16, 17), (33, 8), (1, 40), (40, 1), (0, 3), (3, 0), (2, 3, 5), (3, 2, 9, 4), (0, 3, 4),
    (2, 0, 4)),
    ((301, 333), (1000, 129), (3, 70_001), (50_001, 17), (40, 70, 33), (2, 3, 128, 192)),
    ((64, 64), (1024, 1024), (4096, 4096), (256, 128, 64)),
)  # fmt: skip
