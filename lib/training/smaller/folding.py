"""Batch norm after training multiplies and adds numbers that no longer change: they can go into the weight before it.

    gamma (w x - mean) / s + beta  =  (gamma / s) w x  +  (beta - gamma mean / s)      with s = sqrt(var + eps)

A layer less to run, and the weight that is rounded is the one that is used (Jacob et al. 2018, "Quantization and
Training of Neural Networks for Efficient Integer-Arithmetic-Only Inference", section 3.2).
"""

import copy

import numpy as np

from ..modules import BatchNorm2d, Conv2d, Sequential
from .parametrized import plain


def folded(model):
    """A copy of a Sequential without batch norm and dropout, for inference: it computes what the network does in
    evaluation mode. ValueError where batch norm does not stand directly after a convolution."""
    if not isinstance(model, Sequential):
        raise TypeError(f"model is {type(model).__name__}; expected a Sequential, whose order tells what to fold.")
    kept = []
    for part in copy.deepcopy(model):
        if isinstance(part, BatchNorm2d):
            if not (kept and isinstance(kept[-1], Conv2d)):
                before = type(kept[-1]).__name__ if kept else "nothing"
                raise ValueError(f"batch norm stands after {before}; expected a convolution, to fold it into.")
            kept[-1] = _with(kept[-1], part)
        elif type(part).__name__ != "Dropout":
            kept.append(part)
    return Sequential(*kept).eval()


def _with(convolution, norm):
    gamma, beta, mean, var = (
        x.data.astype(np.float64) for x in (norm.weight, norm.bias, norm.running_mean, norm.running_var)
    )
    factor = gamma / np.sqrt(var + norm.eps)
    before = 0.0 if convolution.bias is None else convolution.bias.data
    dtype = convolution.weight.dtype
    weight = (convolution.weight.data * factor[:, None, None, None]).astype(dtype)
    return plain(weight, (beta + (before - mean) * factor).astype(dtype), convolution.options)
