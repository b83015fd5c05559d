"""Context parallel: a sequence is cut among the workers, and keys and values go round a ring.

    x = Tensor(cut_sequence(x, group))              # this worker's steps of (batch, steps, width)
    model = context_parallel(model, group)          # its attention looks at the steps of all workers
    y = model(x)                                    # this worker's steps of the result

Each worker keeps its queries. In n steps the keys and values of all workers pass by; attention over each is computed
and merged with what came before, by the logarithms of the sums of exponentials (`dlkernels.merge_attention`). No worker
has all keys at a time, nor a whole row of scores. Backward, the gradients of keys and values travel with them, and come
home after a full turn. Liu and others 2023, "Ring Attention with Blockwise Transformers for Near-Infinite Context".

With a causal mask the last steps look at many keys and the first at few, so that consecutive pieces leave most workers
waiting. The balanced cut gives worker r of n the pieces r and 2n - 1 - r of 2n: all have the same work ("zigzag", as in
zhuzilin's ring-flash-attention; Brandon and others 2023, "Striped Attention", cut step by step for the same reason).
"""

import itertools

import numpy as np

import dlkernels
from training import functional as F
from training.modules import Module, MultiheadAttention
from training.tensor import record

from .group import bounds


def pieces_of(rank, size, balanced=True):
    """The numbers of the pieces that a worker has: two of 2 * size, or one of size."""
    return (rank, 2 * size - 1 - rank) if balanced else (rank,)


def cut_sequence(x, group, dim=1, balanced=True):
    """This worker's pieces of an array along `dim`, one behind the other. Rotary embeddings need the numbers of its
    steps: cut np.arange(steps) alike. ValueError where there are fewer steps than pieces."""
    return np.concatenate([np.take(x, range(*part), dim) for part in _parts(x.shape[dim], group, balanced)], dim)


def join_sequence(x, group, steps, dim=1, balanced=True):
    """The whole array, on each worker, of pieces as `cut_sequence` makes them. steps: of the whole."""
    joined = group.all_gather(x, axis=dim)
    order = [np.arange(*part) for rank in range(group.size) for part in _parts(steps, group, balanced, rank)]
    return np.take(joined, np.argsort(np.concatenate(order)), dim)


def _parts(steps, group, balanced, rank=None):
    """[(begin, end)] of a worker's pieces."""
    number = group.size * (1 + balanced)
    if steps < number:
        raise ValueError(f"{steps} steps cannot be cut into {number} pieces; expected a step for each at least.")
    cuts = bounds(steps, number)
    return [(cuts[k], cuts[k + 1]) for k in pieces_of(group.rank if rank is None else rank, group.size, balanced)]


def visible(query_piece, key_piece, is_causal):
    """None where no query of one piece looks at a key of the other; else whether the causal mask is within the pair."""
    if not is_causal or key_piece < query_piece:
        return False
    return True if key_piece == query_piece else None


def work(rank, size, balanced=True):
    """Pairs of a query and a key that a worker computes under a causal mask, where all workers together do 1."""
    pieces, number = pieces_of(rank, size, balanced), size * (1 + balanced)
    pairs = [visible(a, b, True) for a in pieces for b in range(number)]
    return (pairs.count(False) + pairs.count(True) / 2) / (number * number / 2)


def ring_attention(q, k, v, group, steps, is_causal=True, balanced=True):
    """softmax(q k^T / sqrt(width)) v over the keys of all workers, for the queries of this one. A Tensor.

    q, k, v: Tensors (..., steps of this worker, width), cut by `cut_sequence` from sequences of `steps`. Sends
    (n - 1) times k and v forward; backward the same, and n times their gradients. Host memory.
    """
    lengths = [[end - begin for begin, end in _parts(steps, group, balanced, rank)] for rank in range(group.size)]
    if q.shape[-2] != sum(lengths[group.rank]):
        raise ValueError(f"q has {q.shape[-2]} steps; expected {sum(lengths[group.rank])}, this worker's of {steps}.")
    ring = _Ring(group, lengths, balanced, is_causal)
    result, lse = ring.forward(q.data, k.data, v.data)
    return record("ring_attention", result, [q, k, v], ring.backward, (q.data, k.data, v.data, result, lse))


class _Ring:
    def __init__(self, group, lengths, balanced, is_causal):
        self.group, self.lengths, self.balanced, self.is_causal = group, lengths, balanced, is_causal

    def pairs(self, owner):
        """(slice of this worker's queries, slice of the owner's keys, causal) of the pieces that see each other."""
        me, n = self.group.rank, self.group.size
        for a, queries in zip(pieces_of(me, n, self.balanced), self.slices(me), strict=True):
            for b, keys in zip(pieces_of(owner, n, self.balanced), self.slices(owner), strict=True):
                causal = visible(a, b, self.is_causal)
                if causal is not None:
                    yield queries, keys, causal

    def slices(self, rank):
        ends = np.cumsum([0, *self.lengths[rank]])
        return [(..., slice(begin, end), slice(None)) for begin, end in itertools.pairwise(ends)]

    def turn(self, *arrays):
        """What the worker on the left has, for what this one has."""
        right, left = (self.group.rank + 1) % self.group.size, (self.group.rank - 1) % self.group.size
        if self.group.size == 1:
            return arrays
        return [self.group.exchange(array, right, left) for array in arrays]

    def owners(self):
        """Whose keys are here: first this worker's, then those that come from the left."""
        return [(self.group.rank - step) % self.group.size for step in range(self.group.size)]

    def forward(self, q, k, v):
        result = np.zeros((*q.shape[:-1], v.shape[-1]), q.dtype)
        lse = np.full(q.shape[:-1], -np.inf, q.dtype)
        for step, owner in enumerate(self.owners()):
            if step:
                k, v = self.turn(k, v)
            for queries, keys, causal in self.pairs(owner):
                part, sums = dlkernels.attention_with_sums(q[queries], k[keys], v[keys], is_causal=causal)
                part_lse = (np.log(2) * (sums[0] + np.log2(sums[1]))).astype(q.dtype)
                rows = queries[:2]
                result[queries], lse[rows] = dlkernels.merge_attention(result[queries], lse[rows], part, part_lse)
        return result, lse

    def backward(self, grad, kept):
        q, k, v, result, lse = kept
        of_q, of_k, of_v = (np.zeros(x.shape, x.dtype) for x in (q, k, v))
        # `attention_backward_from_sums` wants a number and a sum relative to it: the logarithm and 1 are such a pair.
        # With those of all keys it gives the part of the gradients that comes from the keys it is given.
        sums = np.stack([lse / np.log(2).astype(lse.dtype), np.ones_like(lse)])
        for step, owner in enumerate(self.owners()):
            if step:
                k, v, of_k, of_v = self.turn(k, v, of_k, of_v)
            for queries, keys, causal in self.pairs(owner):
                parts = dlkernels.attention_backward_from_sums(
                    grad[queries],
                    q[queries],
                    k[keys],
                    v[keys],
                    result[queries],
                    sums[(slice(None), *queries[:2])],
                    is_causal=causal,
                )
                of_q[queries] += parts[0]
                of_k[keys] += parts[1]
                of_v[keys] += parts[2]
        return [of_q, *self.turn(of_k, of_v)]


class RingSelfAttention(Module):
    """A MultiheadAttention, with its weights, over a sequence that is cut among the workers. steps: of the whole."""

    def __init__(self, attention, group, steps, balanced=True):
        self.attention, self.group, self.steps, self.balanced = attention, group, steps, balanced

    def forward(self, x):
        attention = self.attention
        q, k, v = F.split_heads(F.linear(x, attention.in_proj_weight, attention.in_proj_bias), attention.heads, 3)
        result = ring_attention(q, k, v, self.group, self.steps, attention.is_causal, self.balanced)
        return attention.out_proj(F.merge_heads(result))


def context_parallel(module, group, steps, balanced=True):
    """Let all attention of a module go round the ring, in place. Returns it.

    All workers have all weights: add up their gradients as for parts of a batch, each counting by its steps.
    """
    for _, part in list(module.named_modules()):
        for name, child in list(vars(part).items()):
            if isinstance(child, MultiheadAttention) and not isinstance(part, RingSelfAttention):
                setattr(part, name, RingSelfAttention(child, group, steps, balanced))
    return module
