"""Examples of layers on codes of 8 bits. The sizes are those of `linear` and of `conv2d`.

Codes have to be the reference's, all of them. A result in float32 may be rounded three times on the way.

The seed chooses bias, activation, and whether scales and zero points are one for all channels or one for each. The
result's scale is such that most codes lie between their limits, and some beyond.
"""

import math
from dataclasses import replace

import numpy as np

from ..convolution import examples as convolution
from ..examples import Examples
from ..matrix.examples import LARGE_LAYERS, LAYERS
from .codes import LIMITS

DTYPES = "uint8", "int8"
LIKELY = 73.9**2  # the standard deviation of a product of two codes, each of 256 equally likely ones

#: (bias, scale for each channel, zero point of the weight: None, "one" or "each", codes as a result, activation)
LINEAR = (
    (True, True, None, True, None),
    (False, False, None, True, "relu"),
    (True, True, "each", True, None),
    (True, True, None, False, "relu"),
    (False, False, "one", False, None),
    (True, False, None, True, "relu"),
)
#: The same for each of the settings of `conv2d`, which go by the seed, too.
CONV2D = (*LINEAR, (True, True, None, True, "relu"), (True, True, "each", False, None))


def numbers(draw, channels, terms, setting):
    """(bias, all arguments from input_scale on) of a layer whose results are sums of so many terms."""
    with_bias, per_channel, zeros, codes, activation = setting
    plain = replace(draw, dtype="float32", values="normal", seed=draw.seed + 1)
    least, most = LIMITS.get(np.dtype(draw.dtype), (0, 255))
    input_scale = plain.number(0.01, 0.1)
    scale = plain.uniform(0.002, 0.01, channels) if per_channel else plain.number(0.002, 0.01)
    if not with_bias:  # powers of two: many results lie in the middle between two codes
        input_scale, scale = 1 / 32, 1 / 256
    zero_point = int(draw.random.integers(-9, 9)) if zeros == "one" else 0
    if zeros == "each":
        zero_point = plain.indices(channels, below=100, dtype=np.int32)
    spread = input_scale * 0.006 * LIKELY * max(terms, 1) ** 0.5
    bias = plain.array(channels, scale=spread) if with_bias else None
    unit = spread / 50 if with_bias else 2.0 ** round(math.log2(spread / 50))
    output = (unit, int(draw.random.integers(least // 2, most))) if codes else (None, 0)
    input_zero_point = int(draw.random.integers(least, most + 1))
    return bias, (input_scale, input_zero_point, scale, zero_point, *output, activation)


def linear_arguments(draw, *shape):
    *stack, features, results = shape
    bias, rest = numbers(draw, results, features, draw.one_of(LINEAR))
    weight = replace(draw, dtype="int8", seed=draw.seed + 2).array(results, features)
    return draw.array(*stack, features), weight, bias, *rest


def conv2d_arguments(draw, *shape):
    """The pictures, weights and settings of `conv2d`, as codes."""
    x, weight, _bias, *settings = convolution.arguments(draw, *shape)
    weight = replace(draw, dtype="int8", seed=draw.seed + 2).array(*weight.shape)
    bias, rest = numbers(draw, len(weight), weight[0].size, draw.one_of(CONV2D))
    return x, weight, bias, *settings, *rest


def _allowed(of_channels):
    """None of codes; of float32 a few roundings of the sum and of the bias."""

    def allowed(arguments, expected, eps):
        bias = arguments[2]
        size = 0 if bias is None else np.abs(np.asarray(bias, np.float64)).reshape(of_channels)
        return 4 * eps * (np.abs(expected) + 2 * size)

    return allowed


LINEAR_INT8 = Examples(
    linear_arguments,
    _allowed((-1,)),
    (*LAYERS, (2, 4), (3, 0, 2), (5, 64, 50)),
    (*LARGE_LAYERS, (3, 4099, 17), (9, 5000, 50)),
    ((64, 1024, 1024), (1, 4096, 4096)),
    dtypes=DTYPES,
    values=("normal", "huge"),
    seeds=len(LINEAR),
)
CONV2D_INT8 = Examples(
    conv2d_arguments,
    _allowed((-1, 1, 1)),
    convolution.SHAPES,
    convolution.LARGE,
    ((8, 64, 64, 28, 28, 3), (1, 64, 64, 56, 56, 3)),
    dtypes=DTYPES,
    values=("normal", "huge"),
    seeds=len(CONV2D),
)
