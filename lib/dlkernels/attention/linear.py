"""Attention without a softmax: a state of fixed size instead of a cache that grows.

    linear_attention    S_t = a_t S_{t-1} + k_t v_t^T                             (Katharopoulos and others 2020; with decay, Sun 2023)
    gated_delta_rule    S_t = a_t (I - b_t k_t k_t^T) S_{t-1} + b_t k_t v_t^T     (Yang, Kautz and Hatamizadeh 2024)
    of both             o_t = scale * S_t^T q_t,  a_t = e^(g_t)

The delta rule takes away what the state holds for a key before it writes the key's new value: with d_t = b_t (v_t - a_t S_{t-1}^T
k_t) its state, too, grows by k_t d_t^T.

The ladders                     what the rung adds
    *_recurrence    a token at a time: the state is read and written for each; heads on all cores
    *_chunks        64 tokens at a time by products of matrices: the state is read and written once for all of them

Within a chunk, with G_i = g_1 + ... + g_i and S the state before it,

    D = V, or for the delta rule the solution of (I + L) D = b (V - e^G K S),  L_ij = b_i e^(G_i - G_j) k_i . k_j for j < i
    O = scale (e^G Q S + (Q K^T * e^(G_i - G_j) for j <= i) D)
    S = e^(G_last) S + K^T (e^(G_last - G_j) D)
"""

import math

import numpy as np
from numba import prange

from .. import matrix
from ..implementations import implementation
from ..simd.cache import cached_njit
from .rows import plain

CHUNK = 64


def on_lines(way):
    """The function of a rung: `way(q, k, v, g, beta, out)` takes (heads, tokens, ...); q is scaled, g zeros where there is none."""

    def whole(k, v, g, beta, scale, q):
        out = np.zeros((*q.shape[:-1], v.shape[-1]), q.dtype)
        if out.size:
            heads, tokens = math.prod(q.shape[:-2]), q.shape[-2]
            lines = [plain(x).reshape(heads, tokens, x.shape[-1]) for x in (q * q.dtype.type(scale), k, v)]
            g = np.zeros((heads, tokens), q.dtype) if g is None else plain(g).reshape(heads, tokens)
            beta = None if beta is None else plain(beta).reshape(heads, tokens)
            way(*lines, g, beta, out.reshape(heads, tokens, -1))
        return out

    return whole


# ---- 1: a token at a time ----------------------------------------------------------------------------------------


@cached_njit(parallel=True, error_model="numpy", fastmath={"contract"})
def _recurrence(q, k, v, g, beta, delta, out):
    heads, tokens, width = q.shape
    for h in prange(heads):
        state, new = np.zeros((width, v.shape[2]), q.dtype), np.empty(v.shape[2], q.dtype)
        for t in range(tokens):
            decay = math.exp(g[h, t])
            new[:] = v[h, t]
            for p in range(width):
                for c in range(new.size):
                    state[p, c] *= decay
                    if delta:
                        new[c] -= k[h, t, p] * state[p, c]
            if delta:
                new *= beta[h, t]
            for p in range(width):
                for c in range(new.size):
                    state[p, c] += k[h, t, p] * new[c]
                    out[h, t, c] += q[h, t, p] * state[p, c]


def by_recurrence(q, k, v, g, beta, out):
    _recurrence(q, k, v, g, g if beta is None else beta, beta is not None, out)


# ---- 2: chunks ---------------------------------------------------------------------------------------------------


@cached_njit(error_model="numpy", fastmath={"contract"})
def substitute(system, new):
    """new = the solution of (I + system) x = new, for each head; of `system` what lies below the diagonal counts."""
    for h in range(new.shape[0]):
        for i in range(new.shape[1]):
            for j in range(i):
                for c in range(new.shape[2]):
                    new[h, i, c] -= system[h, i, j] * new[h, j, c]


def by_chunks(q, k, v, g, beta, out):
    heads, tokens, width = q.shape
    size = min(CHUNK, tokens)
    count = -(-tokens // size)

    def cut(x):
        """(heads, count, size, ...), with zeros at the end: they change no state."""
        room = np.zeros((heads, count * size, *x.shape[2:]), x.dtype)
        room[:, :tokens] = x
        return room.reshape(heads, count, size, *x.shape[2:])

    q, k, v, g = (cut(x) for x in (q, k, v, g))
    sums = np.cumsum(g, axis=-1)
    earlier = np.tri(size, dtype=bool)
    decay = np.exp(np.where(earlier, sums[..., :, None] - sums[..., None, :], -np.inf))
    grown, left = np.exp(sums)[..., None], np.exp(sums[..., -1:] - sums)[..., None]
    scores = matrix.matmul(q, k.swapaxes(-1, -2)) * decay
    if beta is not None:
        beta = cut(beta)[..., None]
        system = matrix.matmul(k, k.swapaxes(-1, -2)) * decay * beta
    state, result = np.zeros((heads, width, v.shape[-1]), q.dtype), np.empty_like(v)
    for c in range(count):
        new = v[:, c]
        if beta is not None:
            new = beta[:, c] * (new - grown[:, c] * matrix.matmul(k[:, c], state))
            substitute(np.ascontiguousarray(system[:, c]), new)
        result[:, c] = grown[:, c] * matrix.matmul(q[:, c], state) + matrix.matmul(scores[:, c], new)
        state = grown[:, c, -1:] * state + matrix.matmul(k[:, c].swapaxes(-1, -2), left[:, c] * new)
    out[...] = result.reshape(heads, count * size, -1)[:, :tokens]


ONE = "a token at a time: its state is read and written for each; heads are shared out over all cores"
MANY = "64 tokens at a time, by products of matrices: the state is read and written once for all of them"


@implementation("linear_attention", device="cpu", adds=ONE)
def linear_recurrence(k, v, g, scale, q):
    return on_lines(by_recurrence)(k, v, g, None, scale, q)


@implementation("linear_attention", device="cpu", adds=MANY, public=True)
def linear_chunks(k, v, g, scale, q):
    return on_lines(by_chunks)(k, v, g, None, scale, q)


@implementation("gated_delta_rule", device="cpu", adds=ONE)
def delta_recurrence(k, v, g, beta, scale, q):
    return on_lines(by_recurrence)(k, v, g, beta, scale, q)


@implementation(
    "gated_delta_rule",
    device="cpu",
    adds=f"{MANY}; what tokens of a chunk take away from each other is a triangular system",
    public=True,
)
def delta_chunks(k, v, g, beta, scale, q):
    return on_lines(by_chunks)(k, v, g, beta, scale, q)
