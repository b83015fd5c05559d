"""Answers to 11-back."""

import math

import numpy as np


def query_by_query(q, k, v, top, total, along, grad):
    """right"""
    of_q, of_k, of_v = np.zeros_like(q), np.zeros_like(k), np.zeros_like(v)
    scale = 1 / math.sqrt(q.shape[1])
    for i in range(len(q)):
        for j in range(len(k)):
            weight = math.exp(scale * (q[i] @ k[j]) - top[i]) / total[i]
            slope = scale * weight * (grad[i] @ v[j] - along[i])
            of_q[i] += slope * k[j]
            of_k[j] += slope * q[i]
            of_v[j] += weight * grad[i]
    return of_q, of_k, of_v


def by_the_logarithm(q, k, v, top, total, along, grad):
    """right"""
    scale = q.shape[1] ** -0.5
    weights = np.exp(scale * q @ k.T - (top + np.log(total))[:, None])
    slopes = scale * weights * (grad @ v.T - along[:, None])
    return [slopes @ k, slopes.T @ q, weights.T @ grad]


def by_einsum(q, k, v, top, total, along, grad):
    """right"""
    weights = np.exp(np.einsum("ic,jc->ij", q, k) / np.sqrt(q.shape[1]) - top[:, None]) / total[:, None]
    slopes = weights * (np.einsum("ic,jc->ij", grad, v) - along[:, None]) / np.sqrt(q.shape[1])
    return np.einsum("ij,jc->ic", slopes, k), np.einsum("ij,ic->jc", slopes, q), np.einsum("ij,ic->jc", weights, grad)


def _back(q, k, v, top, total, along, grad, weights=None, slopes=None, scale=None):
    scale = q.shape[1] ** -0.5 if scale is None else scale
    scores = q @ k.T / math.sqrt(q.shape[1])
    w = np.exp(scores - top[:, None]) / total[:, None] if weights is None else weights(scores)
    arrived = grad @ v.T
    s = scale * (w * (arrived - along[:, None]) if slopes is None else slopes(w, arrived))
    return s @ k, s.T @ q, w.T @ grad


def not_divided(q, k, v, top, total, along, grad):
    """wrong of_v: not divided by `total`"""
    return _back(q, k, v, top, total, along, grad, lambda s: np.exp(s - top[:, None]))


def divided_by_the_tile(q, k, v, top, total, along, grad):
    """wrong of_v: over *this tile*"""

    def softmax(s):
        e = np.exp(s - s.max(axis=1, keepdims=True))
        return e / e.sum(axis=1, keepdims=True)

    return _back(q, k, v, top, total, along, grad, softmax)


def top_of_the_tile(q, k, v, top, total, along, grad):
    """wrong of_v: the largest score of *this tile*"""
    return _back(q, k, v, top, total, along, grad, lambda s: np.exp(s - s.max(axis=1, keepdims=True)) / total[:, None])


def without_top(q, k, v, top, total, along, grad):
    """wrong of_v: Take `top` off"""
    return _back(q, k, v, top, total, along, grad, lambda s: np.exp(s) / total[:, None])


def without_along(q, k, v, top, total, along, grad):
    """wrong of_q: what one weight gains, the others lose"""
    return _back(q, k, v, top, total, along, grad, slopes=lambda w, arrived: w * arrived)


def along_added(q, k, v, top, total, along, grad):
    """wrong of_q: It has to be taken off"""
    return _back(q, k, v, top, total, along, grad, slopes=lambda w, arrived: w * (arrived + along[:, None]))


def along_too_late(q, k, v, top, total, along, grad):
    """wrong of_q: before the product with the weights"""
    return _back(q, k, v, top, total, along, grad, slopes=lambda w, arrived: w * arrived - along[:, None])


def along_of_the_tile(q, k, v, top, total, along, grad):
    """wrong of_q: `along` is that sum over all keys"""
    return _back(
        q, k, v, top, total, along, grad,
        slopes=lambda w, arrived: w * (arrived - (w * arrived).sum(axis=1, keepdims=True)),
    )  # fmt: skip


def without_weights(q, k, v, top, total, along, grad):
    """wrong of_q: multiplied by its weight"""
    return _back(q, k, v, top, total, along, grad, slopes=lambda w, arrived: arrived - along[:, None])


def without_scale(q, k, v, top, total, along, grad):
    """wrong of_q: the way back has the same factor"""
    return _back(q, k, v, top, total, along, grad, scale=1)


def scale_twice(q, k, v, top, total, along, grad):
    """wrong of_q: divides once, not twice"""
    return _back(q, k, v, top, total, along, grad, scale=1 / q.shape[1])


def scale_for_queries_only(q, k, v, top, total, along, grad):
    """wrong of_k: the way back has the same factor"""
    of_q, of_k, of_v = _back(q, k, v, top, total, along, grad)
    return of_q, of_k * math.sqrt(q.shape[1]), of_v


def weights_for_keys(q, k, v, top, total, along, grad):
    """wrong of_k: is the sum of slopes"""
    of_q, _, of_v = _back(q, k, v, top, total, along, grad)
    weights = np.exp(q @ k.T / math.sqrt(q.shape[1]) - top[:, None]) / total[:, None]
    return of_q, weights.T @ q, of_v


def not_transposed(q, k, v, top, total, along, grad):
    """wrong raised-ValueError: Do the shapes fit"""
    weights = np.exp(q @ k.T / math.sqrt(q.shape[1]) - top[:, None]) / total[:, None]
    return (*_back(q, k, v, top, total, along, grad)[:2], weights @ grad)


def one_array(q, k, v, top, total, along, grad):
    """wrong type: Three arrays are asked for"""
    return np.concatenate([part.ravel() for part in _back(q, k, v, top, total, along, grad)])


def in_another_order(q, k, v, top, total, along, grad):
    """wrong type: in this order"""
    of_q, of_k, of_v = _back(q, k, v, top, total, along, grad)
    return of_v, of_q, of_k


def in_float32(q, k, v, top, total, along, grad):
    """wrong of_v: nearly right, but not to the last digits"""
    q, k, v, top, total, along, grad = (x.astype(np.float32) for x in (q, k, v, top, total, along, grad))
    return _back(q, k, v, top, total, along, grad)


def in_place(q, k, v, top, total, along, grad):
    """wrong input-changed: The caller still needs its array"""
    q *= q.shape[1] ** -0.5
    weights = np.exp(q @ k.T - top[:, None]) / total[:, None]
    slopes = weights * (grad @ v.T - along[:, None])
    return slopes @ k * q.shape[1] ** -0.5, slopes.T @ q, weights.T @ grad
