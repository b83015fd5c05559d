"""Kernels of deep learning, from a Python loop to the fastest we can write, on CPU and GPU.

from dlkernels import cuda              numba.cuda, or the executor where there is no GPU
from dlkernels import add, relu         the operations, with PyTorch's names and arguments
from dlkernels import implementations   implementations.of("add", device="cpu"): the ladder behind one
"""

from . import implementations
from .device import cuda
from .matrix import linear, linear_backward, matmul, matmul_backward, matmul_half, matmul_int8, matmul_strassen
from .vector import (
    add,
    axpy,
    bias_activation,
    elu,
    elu_backward,
    gelu,
    gelu_backward,
    leaky_relu,
    leaky_relu_backward,
    relu,
    relu_backward,
    sigmoid,
    sigmoid_backward,
    silu,
    silu_backward,
    tanh,
    tanh_backward,
)

__all__ = [
    "add",
    "axpy",
    "bias_activation",
    "cuda",
    "elu",
    "elu_backward",
    "gelu",
    "gelu_backward",
    "implementations",
    "leaky_relu",
    "leaky_relu_backward",
    "linear",
    "linear_backward",
    "matmul",
    "matmul_backward",
    "matmul_half",
    "matmul_int8",
    "matmul_strassen",
    "relu",
    "relu_backward",
    "sigmoid",
    "sigmoid_backward",
    "silu",
    "silu_backward",
    "tanh",
    "tanh_backward",
]
