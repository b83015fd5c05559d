"""Kernels of deep learning, from a Python loop to the fastest we can write, on CPU and GPU.

from dlkernels import cuda              numba.cuda, or the executor where there is no GPU
from dlkernels import add, relu         the operations, with PyTorch's names and arguments
from dlkernels import implementations   implementations.of("add", device="cpu"): the ladder behind one
"""

from . import implementations
from .convolution import (
    adaptive_avg_pool2d,
    adaptive_avg_pool2d_backward,
    avg_pool2d,
    avg_pool2d_backward,
    conv2d,
    conv2d_backward,
    conv2d_fft,
    conv2d_half,
    conv2d_local,
    conv2d_separable,
    conv2d_winograd,
    max_pool2d,
    max_pool2d_backward,
    max_pool2d_with_indices,
)
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
    "adaptive_avg_pool2d",
    "adaptive_avg_pool2d_backward",
    "add",
    "avg_pool2d",
    "avg_pool2d_backward",
    "axpy",
    "bias_activation",
    "conv2d",
    "conv2d_backward",
    "conv2d_fft",
    "conv2d_half",
    "conv2d_local",
    "conv2d_separable",
    "conv2d_winograd",
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
    "max_pool2d",
    "max_pool2d_backward",
    "max_pool2d_with_indices",
    "relu",
    "relu_backward",
    "sigmoid",
    "sigmoid_backward",
    "silu",
    "silu_backward",
    "tanh",
    "tanh_backward",
]
