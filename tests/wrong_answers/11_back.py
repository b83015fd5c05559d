"""Answers to 11-back."""

import math

import numpy as np
from answers import edit, replace


def query_by_query(q, k, v, cap, top, total, along, grad):
    """right"""
    of_q, of_k, of_v = np.zeros_like(q), np.zeros_like(k), np.zeros_like(v)
    scale = 1 / math.sqrt(q.shape[1])
    for i in range(len(q)):
        for j in range(len(k)):
            t = math.tanh(scale * (q[i] @ k[j]) / cap)
            weight = math.exp(cap * t - top[i]) / total[i]
            slope = scale * (1 - t * t) * weight * (grad[i] @ v[j] - along[i])
            of_q[i] += slope * k[j]
            of_k[j] += slope * q[i]
            of_v[j] += weight * grad[i]
    return of_q, of_k, of_v


def by_the_logarithm(q, k, v, cap, top, total, along, grad):
    """right"""
    scale = q.shape[1] ** -0.5
    t = np.tanh(scale / cap * q @ k.T)
    weights = np.exp(cap * t - (top + np.log(total))[:, None])
    slopes = scale * (1 - t) * (1 + t) * weights * (grad @ v.T - along[:, None])
    return [slopes @ k, slopes.T @ q, weights.T @ grad]


def by_einsum(q, k, v, cap, top, total, along, grad):
    """right"""
    scores = cap * np.tanh(np.einsum("ic,jc->ij", q, k) / np.sqrt(q.shape[1]) / cap)
    weights = np.exp(scores - top[:, None]) / total[:, None]
    slopes = weights * (np.einsum("ij,cj->ic", grad, v) - along[:, None])
    slopes *= (1 - (scores / cap) ** 2) / np.sqrt(q.shape[1])
    return np.einsum("ij,jc->ic", slopes, k), np.einsum("ij,ic->jc", slopes, q), np.einsum("ij,ic->jc", weights, grad)


def _back(
    q, k, v, cap, top, total, along, grad, weights=None, slopes=None, scale=None, bent=lambda s, capped, cap: 1 - (capped / cap) ** 2
):  # fmt: skip
    scale = q.shape[1] ** -0.5 if scale is None else scale
    raw = q @ k.T / math.sqrt(q.shape[1])
    scores = cap * np.tanh(raw / cap)
    w = np.exp(scores - top[:, None]) / total[:, None] if weights is None else weights(scores)
    arrived = grad @ v.T
    s = w * (arrived - along[:, None]) if slopes is None else slopes(w, arrived)
    s = scale * s * bent(raw, scores, cap)
    return s @ k, s.T @ q, w.T @ grad


def without_the_cap(q, k, v, cap, top, total, along, grad):
    """wrong of_v: of scores without the cap"""
    scores = q @ k.T / math.sqrt(q.shape[1])
    weights = np.exp(scores - top[:, None]) / total[:, None]
    slopes = weights * (grad @ v.T - along[:, None]) / math.sqrt(q.shape[1])
    return slopes @ k, slopes.T @ q, weights.T @ grad


def without_the_cap_back(q, k, v, cap, top, total, along, grad):
    """wrong of_q: the cap was forgotten on the way back"""
    return _back(q, k, v, cap, top, total, along, grad, bent=lambda raw, capped, cap: 1)


def square_of_the_score(q, k, v, cap, top, total, along, grad):
    """wrong of_q: not 1 - x^2"""
    return _back(q, k, v, cap, top, total, along, grad, bent=lambda raw, capped, cap: 1 - (raw / cap) ** 2)


def cap_in_front(q, k, v, cap, top, total, along, grad):
    """wrong of_q: the two cancel"""
    return _back(q, k, v, cap, top, total, along, grad, bent=lambda raw, capped, cap: cap * (1 - (capped / cap) ** 2))


def cap_divides(q, k, v, cap, top, total, along, grad):
    """wrong of_q: the two cancel"""
    return _back(q, k, v, cap, top, total, along, grad, bent=lambda raw, capped, cap: (1 - (capped / cap) ** 2) / cap)


def tanh_is_not_the_capped(q, k, v, cap, top, total, along, grad):
    """wrong of_q: tanh is the capped score divided by `cap`"""
    return _back(q, k, v, cap, top, total, along, grad, bent=lambda raw, capped, cap: 1 - capped**2)


def not_divided(q, k, v, cap, top, total, along, grad):
    """wrong of_v: not divided by `total`"""
    return _back(q, k, v, cap, top, total, along, grad, lambda s: np.exp(s - top[:, None]))


def divided_by_the_tile(q, k, v, cap, top, total, along, grad):
    """wrong of_v: over this tile"""

    def softmax(s):
        e = np.exp(s - s.max(axis=1, keepdims=True))
        return e / e.sum(axis=1, keepdims=True)

    return _back(q, k, v, cap, top, total, along, grad, softmax)


def top_of_the_tile(q, k, v, cap, top, total, along, grad):
    """wrong of_v: the largest score of this tile"""
    return _back(
        q, k, v, cap, top, total, along, grad, lambda s: np.exp(s - s.max(axis=1, keepdims=True)) / total[:, None]
    )


def without_top(q, k, v, cap, top, total, along, grad):
    """wrong of_v: Take `top` off"""
    return _back(q, k, v, cap, top, total, along, grad, lambda s: np.exp(s) / total[:, None])


def without_along(q, k, v, cap, top, total, along, grad):
    """wrong of_q: what one weight gains, the others lose"""
    return _back(q, k, v, cap, top, total, along, grad, slopes=lambda w, arrived: w * arrived)


def along_added(q, k, v, cap, top, total, along, grad):
    """wrong of_q: It has to be taken off"""
    return _back(q, k, v, cap, top, total, along, grad, slopes=lambda w, arrived: w * (arrived + along[:, None]))


def along_too_late(q, k, v, cap, top, total, along, grad):
    """wrong of_q: before the product with the weights"""
    return _back(q, k, v, cap, top, total, along, grad, slopes=lambda w, arrived: w * arrived - along[:, None])


def along_of_the_tile(q, k, v, cap, top, total, along, grad):
    """wrong of_q: `along` is that sum over all keys"""
    return _back(
        q, k, v, cap, top, total, along, grad,
        slopes=lambda w, arrived: w * (arrived - (w * arrived).sum(axis=1, keepdims=True)),
    )  # fmt: skip


def without_weights(q, k, v, cap, top, total, along, grad):
    """wrong of_q: multiplied by its weight"""
    return _back(q, k, v, cap, top, total, along, grad, slopes=lambda w, arrived: arrived - along[:, None])


def without_scale(q, k, v, cap, top, total, along, grad):
    """wrong of_q: the way back has the same factor"""
    return _back(q, k, v, cap, top, total, along, grad, scale=1)


def scale_twice(q, k, v, cap, top, total, along, grad):
    """wrong of_q: divides once, not twice"""
    return _back(q, k, v, cap, top, total, along, grad, scale=1 / q.shape[1])


def scale_for_queries_only(q, k, v, cap, top, total, along, grad):
    """wrong of_k: the way back has the same factor"""
    of_q, of_k, of_v = _back(q, k, v, cap, top, total, along, grad)
    return of_q, of_k * math.sqrt(q.shape[1]), of_v


def weights_for_keys(q, k, v, cap, top, total, along, grad):
    """wrong of_k: is the sum of slopes"""
    of_q, _, of_v = _back(q, k, v, cap, top, total, along, grad)
    scores = cap * np.tanh(q @ k.T / math.sqrt(q.shape[1]) / cap)
    return of_q, (np.exp(scores - top[:, None]) / total[:, None]).T @ q, of_v


def not_transposed(q, k, v, cap, top, total, along, grad):
    """wrong raised-ValueError: Do the shapes fit"""
    scores = cap * np.tanh(q @ k.T / math.sqrt(q.shape[1]) / cap)
    return (*_back(q, k, v, cap, top, total, along, grad)[:2], np.exp(scores - top[:, None]) @ grad)


def one_array(q, k, v, cap, top, total, along, grad):
    """wrong type: Three arrays are asked for"""
    return np.concatenate([part.ravel() for part in _back(q, k, v, cap, top, total, along, grad)])


def in_another_order(q, k, v, cap, top, total, along, grad):
    """wrong type: in this order"""
    of_q, of_k, of_v = _back(q, k, v, cap, top, total, along, grad)
    return of_v, of_q, of_k


def in_float32(q, k, v, cap, top, total, along, grad):
    """wrong of_v: nearly right, but not to the last digits"""
    q, k, v, top, total, along, grad = (x.astype(np.float32) for x in (q, k, v, top, total, along, grad))
    return _back(q, k, v, cap, top, total, along, grad)


def in_place(q, k, v, cap, top, total, along, grad):
    """wrong input-changed: The caller still needs its array"""
    found = _back(q, k, v, cap, top, total, along, grad)
    grad -= along[:, None]
    return found


def as_text(q, k, v, cap, top, total, along, grad):
    """wrong type: Three arrays are asked for"""
    return tuple(part.astype(str) for part in _back(q, k, v, cap, top, total, along, grad))


def cut_off(q, k, v, cap, top, total, along, grad):
    """wrong of_v: that it only cuts off"""
    scores = np.clip(q @ k.T / math.sqrt(q.shape[1]), -cap, cap)
    return _back(
        q, k, v, cap, top, total, along, grad, weights=lambda _: np.exp(scores - top[:, None]) / total[:, None]
    )


def width_is_five(q, k, v, cap, top, total, along, grad):
    """wrong of_v: look at the weights first"""
    scores = cap * np.tanh(q @ k.T / math.sqrt(5) / cap)
    return _back(
        q, k, v, cap, top, total, along, grad, weights=lambda _: np.exp(scores - top[:, None]) / total[:, None]
    )


no_root_forward = edit(width_is_five, "wrong of_v: when they were computed again", replace("math.sqrt(5) / cap", "cap"))


def no_number_in_of_q(q, k, v, cap, top, total, along, grad):
    """wrong of_q: the weights are, as of_v is right"""
    of_q, of_k, of_v = _back(q, k, v, cap, top, total, along, grad)
    return of_q * np.nan, of_k, of_v
