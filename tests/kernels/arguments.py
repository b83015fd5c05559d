"""Arguments for every operation of the table: what to call it with, at a given size, layout and kind of values.

`make(operation, shape, dtype, values, layout, seed)` gives the arguments of one call, and
`tolerance(operation, dtype)` how far the result may be from the float64 reference.
"""

import zlib

import numpy as np

from dlkernels.vector import PARAMETERS

LAYOUTS = ("contiguous", "strided", "reversed", "transposed")
ELEMENTWISE = {"add", "axpy", "bias_activation"} | {name + end for name in PARAMETERS for end in ("", "_backward")}
VALUES = ("normal", "tiny", "huge", "special")


def array(shape, dtype, values, layout, rng):
    """An array of `shape`, laid out in memory as `layout` says."""
    if layout == "strided":
        base = fill((*shape[:-1], 2 * shape[-1] + 1) if shape else shape, dtype, values, rng)
        return base[..., 1::2] if shape else base
    if layout == "reversed":
        base = fill(shape, dtype, values, rng)
        return base[..., ::-1] if shape else base
    if layout == "transposed":
        return fill(shape[::-1], dtype, values, rng).T
    return fill(shape, dtype, values, rng)


def fill(shape, dtype, values, rng):
    x = rng.standard_normal(shape)
    limits = np.finfo(dtype)
    if values == "tiny":
        x = x * float(limits.tiny) * 4
    elif values == "huge":
        x = np.sign(x) * float(limits.max) * rng.uniform(0.1, 0.45, shape)
    elif values == "special":
        choices = [np.nan, np.inf, -np.inf, 0.0, -0.0, 1.0, -1.0, float(limits.tiny), float(limits.max) / 3]
        x = rng.choice(choices, shape)
    return np.asarray(x, dtype=dtype)


def generator(seed, *key):
    """A reproducible random generator for this test case."""
    return np.random.default_rng([seed, zlib.crc32(repr(key).encode())])


def make(operation, shape, dtype, values="normal", layout="contiguous", seed=0):
    rng = generator(seed, operation, shape, str(dtype), values, layout)

    def one(wanted=shape):
        return array(tuple(wanted), np.dtype(dtype), values, layout, rng)

    if operation == "matmul":  # a product of that shape, with four terms in each sum
        rows, columns = (1, *shape)[-2:]
        return (one((*shape[:-2], rows, 4)), one((*shape[:-2], 4, columns)))
    if operation == "axpy":
        return (float(rng.uniform(-0.9, 0.9)), one(), one())
    if operation == "bias_activation":
        activation = sorted(PARAMETERS)[seed % len(PARAMETERS)]
        shape = shape or (1,)
        return (one(shape), one(shape[-1:]), activation)
    if operation == "add" or operation.endswith("_backward"):
        return (one(), one())
    return (one(),)


def tolerance(operation, dtype):
    """Relative and absolute error allowed, in units that suit results of size about max(1, |inputs|)."""
    eps = float(np.finfo(dtype).eps)
    if operation in ("add", "axpy", "relu", "relu_backward", "leaky_relu", "leaky_relu_backward"):
        return 2 * eps, eps
    return 8 * eps, 8 * eps
