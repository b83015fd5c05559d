"""GPTQ: round a weight column by column, and let the columns that follow make up for the error.

Frantar, Ashkboos, Hoefler, Alistarh 2022, "GPTQ: Accurate Post-Training Quantization for Generative Pre-trained
Transformers". What matters is not how far a weight moves but how far the layer's output does: |X W^T - X Q^T|^2, a
quadratic form with H = X^T X. When column j is fixed, the best change of all later columns is

    w[k] -= (w[j] - q[j]) / U[j, j] * U[j, k]     with U^T U = H^-1, U upper triangular (Cholesky)

one row of U for each step: the factor holds the inverses of all remaining Hessians at once. No training, no labels.
"""

import numpy as np
import scipy.linalg

from .calibration import limits
from .parametrized import columns, inputs, replaced, weight_of
from .quantized import Quantized
from .rounded import Grid, grid


def gptq_matrix(matrix, x, bits=4, granularity="channel", group_size=32, symmetric=True, damping=0.01):
    """(codes (out, K) int16, Grid) for a weight (out, K) whose layer is given x (rows, K).

    damping: part of the mean of H's diagonal that is added to it, as few rows of x do not tell all directions apart.
    The grid is the one of rounding to nearest (of a group: of its columns as they are when it is reached).
    """
    if x.ndim != 2 or matrix.ndim != 2 or x.shape[1] != matrix.shape[1] or not len(x):
        raise ValueError(f"matrix is {matrix.shape} and x {x.shape}; expected (out, K) and (rows, K), some rows.")
    w, factor = matrix.astype(np.float64), _factor(x.astype(np.float64), damping)
    found = grid(matrix, bits, granularity, group_size, symmetric)
    scales, zeros = (np.array(array) for array in found.spread(w.shape))
    codes, groups = np.zeros(w.shape, np.int16), []
    for j in range(w.shape[1]):
        if granularity == "group" and j % group_size == 0:
            part = np.s_[:, j : j + group_size]
            groups.append(grid(w[part].astype(np.float32), bits, "channel", symmetric=symmetric))
            scales[part], zeros[part] = groups[-1].spread(w[part].shape)
        codes[:, j] = np.clip(np.rint(w[:, j] / scales[:, j]) + zeros[:, j], *limits(bits))
        error = (w[:, j] - scales[:, j] * (codes[:, j] - zeros[:, j])) / factor[j, j]
        w[:, j:] -= np.outer(error, factor[j, j:])
    if groups:
        zero_points = None if symmetric else np.stack([group.zero_points for group in groups], axis=1)
        found = Grid(np.stack([group.scales for group in groups], axis=1), zero_points, bits, group_size)
    return codes, found


def _factor(x, damping):
    """Upper triangular U with U^T U = (X^T X + damping)^-1. An input that is always 0 has no say: 1 on its diagonal."""
    hessian = x.T @ x
    diagonal = np.einsum("ii->i", hessian)
    diagonal[diagonal == 0] = 1
    diagonal += damping * diagonal.mean()
    try:
        inverse = scipy.linalg.cho_solve(scipy.linalg.cho_factor(hessian), np.eye(len(hessian)))
        return scipy.linalg.cholesky((inverse + inverse.T) / 2)
    except np.linalg.LinAlgError:
        raise ValueError(
            f"{len(x)} rows of x do not determine {x.shape[1]} columns: more rows, or a larger damping."
        ) from None


def gptq(model, x, bits=4, granularity="channel", group_size=32, symmetric=True, damping=0.01):
    """A copy of the network with `Quantized` layers, rounded by GPTQ, given some inputs x of the network. Each layer is
    rounded for what reaches it when those before it are rounded already."""
    done = {}

    def make(name, layer):
        if name in done:
            return done[name]
        seen = inputs(replaced(model, lambda layer_name, before: done.get(layer_name, before)), x)[name]
        weight = weight_of(layer)
        matrix = weight.data.reshape(weight.shape[0], -1)
        codes, found = gptq_matrix(matrix, columns(layer, seen), bits, granularity, group_size, symmetric, damping)
        weight.data = found.numbers(codes).reshape(weight.shape)
        done[name] = Quantized(layer, bits, granularity, group_size, symmetric, fixed=found)
        return done[name]

    return replaced(model, make)


def output_error(matrix, rounded, x):
    """|X W^T - X Q^T| / |X W^T|: how far a layer's output moves when its weight does."""
    exact, found = (x.astype(np.float64) @ weights.astype(np.float64).T for weights in (matrix, rounded))
    return float(np.linalg.norm(exact - found) / np.linalg.norm(exact))
