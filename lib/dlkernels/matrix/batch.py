"""From products of many matrices, of any layout, to products of two."""

import functools

import numpy as np


def batched(rung=None, *, strided=False, stacks=False):
    """Let `rung`, written for two matrices, take arrays of shape (..., m, k) and (..., k, n).

    Leading dimensions are broadcast. Matrices that are not C-contiguous are copied first; a `strided` rung takes them
    as they are, and only wants rows of the result to be contiguous. A rung that takes `stacks` gets 3-D arrays, stacks
    of matrices of equal length. Empty results never reach the rung, nor do products of no terms: they are zero.
    """
    if rung is None:
        return functools.partial(batched, strided=strided, stacks=stacks)

    @functools.wraps(rung)
    def on_batches(a, b, out):
        if out.size == 0 or a.shape[-1] == 0:
            out[...] = 0
            return out
        if not strided:
            a, b = np.ascontiguousarray(a), np.ascontiguousarray(b)
        elif not (a.flags.aligned and b.flags.aligned):
            a, b = np.require(a, requirements="A"), np.require(b, requirements="A")
        result = out if out.flags.c_contiguous or (strided and _rows_contiguous(out)) else np.empty_like(out, order="C")
        if out.ndim == 2:
            rung(*((x[None] for x in (a, b, result)) if stacks else (a, b, result)))
        else:
            left = np.broadcast_to(a, (*out.shape[:-2], *a.shape[-2:]))
            right = np.broadcast_to(b, (*out.shape[:-2], *b.shape[-2:]))
            for index in np.ndindex(out.shape[: -3 if stacks else -2]):
                rung(left[index], right[index], result[index])
        if result is not out:
            out[...] = result
        return out

    return on_batches


def _rows_contiguous(x):
    return x.flags.aligned and x.strides[-1] == x.itemsize
