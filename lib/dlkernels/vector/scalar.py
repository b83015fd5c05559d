"""The element-wise functions for one element. The loops of cpu.py and the kernels of gpu.py both call them.

`functions(real)` builds them for one type, `real` being `np.float32` or `np.float64`: every constant must have
the type of the data, because numba computes ``float32 * 0.5`` in double precision (0.5 is a float64), which
halves the width of a vector instruction and is far slower on many GPUs.

Each takes the element and the operation's `parameter` (a slope or scale; most ignore it). A backward function
takes the gradient that arrives, the element, and the parameter.

`error_model="numpy"` lets a division by zero give inf as in C. Python's rule (raise an error) would put a
branch into every loop, and LLVM does not vectorise loops that may raise.
"""

import functools
import math

import numpy as np
from numba import njit

#: the parameter each operation takes, with PyTorch's default; None: it takes none
PARAMETERS = {
    "relu": None,
    "leaky_relu": ("negative_slope", 0.01),
    "elu": ("alpha", 1.0),
    "sigmoid": None,
    "tanh": None,
    "silu": None,
    "gelu": None,
}

REALS = (np.float32, np.float64)


@functools.cache
def functions(real):
    """The dictionary name -> compiled scalar function, for `real` = np.float32 or np.float64."""
    zero, half, one, two, four = (real(value) for value in (0, 0.5, 1, 2, 4))
    root_half = real(math.sqrt(0.5))
    bell = real(1 / math.sqrt(2 * math.pi))

    def relu(x, parameter):
        return zero if x <= zero else x  # this way round NaN stays NaN

    def leaky_relu(x, parameter):
        return x if x > zero else parameter * x

    def elu(x, parameter):
        return x if x > zero else parameter * math.expm1(x)

    def sigmoid(x, parameter):
        return one / (one + math.exp(-x))

    def tanh(x, parameter):
        return math.tanh(x)

    def silu(x, parameter):
        return x / (one + math.exp(-x))

    def gelu(x, parameter):
        return half * x * math.erfc(-x * root_half)

    def relu_backward(grad, x, parameter):
        return grad if x > zero else zero * grad

    def leaky_relu_backward(grad, x, parameter):
        return grad if x > zero else parameter * grad

    def elu_backward(grad, x, parameter):
        return grad if x > zero else grad * parameter * math.exp(x)

    def sigmoid_backward(grad, x, parameter):
        small = math.exp(-abs(x))
        return grad * (small / ((one + small) * (one + small)))

    def tanh_backward(grad, x, parameter):
        small = math.exp(-two * abs(x))
        return grad * (four * small / ((one + small) * (one + small)))

    def silu_backward(grad, x, parameter):
        s = one / (one + math.exp(-x))
        return grad * (s * (one + x * (one - s)))

    def gelu_backward(grad, x, parameter):
        return grad * (half * math.erfc(-x * root_half) + x * bell * math.exp(-half * x * x))

    defined = dict(locals())
    names = [*PARAMETERS, *(name + "_backward" for name in PARAMETERS)]
    return {name: njit(error_model="numpy")(defined[name]) for name in names}
