"""Expert parallel: a mixture of experts, whose experts are on different workers; tokens travel to theirs and back.

A router gives each token scores, and the token goes through its k best experts only: the network has the weights of all
experts, and a token costs the work of k. Each worker has its tokens and some experts. Two all-to-all move the tokens:
to the workers of their experts, and the results back. Lepikhin and others 2020, "GShard"; Fedus and others 2021,
"Switch Transformers" (k = 1).

An expert takes at most `capacity` tokens of a worker. What is too much is dropped, and goes on unchanged where the
layer stands beside a residual: then its part of the result is zero. First choices go before second ones, and within
these earlier tokens before later ones (GShard, algorithm 1).
"""

import math

import numpy as np

from training import functional as F
from training.modules import Linear, Module, Sequential
from training.tensor import Tensor, record

from . import autograd


class MixtureOfExperts(Module):
    """x: (..., width). Each token through the `top_k` of all experts that the router prefers, weighted by its scores.

    experts: the modules of all experts, rows in and as many rows out; this worker keeps its part of them. All workers
    give the same ones. group: None for one worker. capacity_factor: a worker's tokens that an expert takes, in parts of
    top_k * tokens / experts; None: all. The weights of the choices are the softmax over them, with top_k=1 the softmax
    over all experts, so that the router learns.

    After each call: `dropped`, choices of this worker's tokens that were left out; `load`, how many chose each expert;
    `balance`, the auxiliary loss of Switch Transformers (section 2.2), a Tensor: 1 where all experts get alike.
    """

    def __init__(self, router, experts, top_k=2, capacity_factor=1.25, group=None):
        experts = list(experts)
        if not 1 <= top_k <= len(experts):
            raise ValueError(f"top_k is {top_k}; expected 1 to {len(experts)}, the number of experts.")
        if group is not None and len(experts) < group.size:
            raise ValueError(f"{len(experts)} experts for {group.size} workers; expected one for each at least.")
        if router.weight.shape[0] != len(experts):
            raise ValueError(f"the router scores {router.weight.shape[0]} experts; expected {len(experts)}.")
        self.number, self.top_k, self.capacity_factor, self.group = len(experts), top_k, capacity_factor, group
        self.router = router
        self.local = group.part(self.number) if group else slice(0, self.number)
        self.experts = Sequential(*experts[self.local])

    def capacity(self, tokens):
        """How many of so many tokens of a worker an expert takes."""
        if self.capacity_factor is None:
            return tokens * self.top_k
        return math.ceil(self.capacity_factor * self.top_k * tokens / self.number)

    def forward(self, x):
        shape = x.shape
        x = F.reshape(x, (-1, shape[-1]))
        if not x.requires_grad:  # so that all workers come to the same collectives backward, whatever arrives here
            x = Tensor(x.data, requires_grad=True)
        logits = self.router(x)
        chosen = np.argsort(-logits.data, axis=1, kind="stable")[:, : self.top_k]
        weights = self._weights(logits, chosen)
        token, expert = self._dispatched(chosen)
        rows = F.embedding(token, x)  # a row for each choice, in the order of experts; its gradient adds up by token
        result = self._through_experts(rows, np.bincount(expert, minlength=self.number))
        return F.reshape(combine(result, weights, token, expert), shape)

    def _weights(self, logits, chosen):
        probabilities = F.softmax(logits)
        fraction = np.bincount(chosen[:, 0], minlength=self.number) / max(1, len(chosen))
        factor = (fraction * self.number / max(1, len(chosen))).astype(probabilities.dtype).reshape(-1, 1)
        self.balance = (probabilities @ Tensor(factor)).sum()
        if self.top_k == 1:
            return probabilities
        mask = np.full(logits.shape, np.finfo(logits.dtype).min / 2, logits.dtype)
        np.put_along_axis(mask, chosen, 0, 1)
        return F.softmax(logits + Tensor(mask))

    def _dispatched(self, chosen):
        """(token, expert) of the choices that are within the capacity, in the order of experts."""
        expert = chosen.T.reshape(-1)  # first choices of all tokens, then second ones
        token = np.tile(np.arange(len(chosen)), self.top_k)
        order = np.argsort(expert, kind="stable")
        expert, token = expert[order], token[order]
        number = np.arange(len(expert)) - np.searchsorted(expert, expert)  # its number among those of its expert
        taken = number < self.capacity(len(chosen))
        self.load, self.dropped = np.bincount(expert, minlength=self.number), int(np.sum(~taken))
        return token[taken], expert[taken]

    def _through_experts(self, rows, counts):
        """The rows, counts[e] for expert e, each through its expert."""
        if self.group is None or self.group.size == 1:
            return self._compute(rows, counts[None])
        n = self.group.size
        owners = [range(self.number)[part] for part in _parts(self.number, n)]
        table = np.stack(
            self.group.all_to_all([counts[list(expert_range)] for expert_range in owners])
        )  # (worker, own expert)
        arrived, came = autograd.exchange(
            rows, self.group, [int(counts[list(expert_range)].sum()) for expert_range in owners]
        )
        back, _ = autograd.exchange(self._compute(arrived, table), self.group, came)
        return back

    def _compute(self, rows, table):
        """table[w, e]: how many rows of worker w are for expert e of this worker; rows in this order."""
        expert = np.concatenate([np.repeat(np.arange(table.shape[1]), counts) for counts in table])
        order = np.argsort(expert, kind="stable")
        ends = np.cumsum(np.bincount(expert, minlength=table.shape[1]))
        results = []
        for layer, end, count in zip(self.experts, ends, np.diff(ends, prepend=0), strict=True):
            if count:
                results.append(layer(F.embedding(order[end - count : end], rows)))
        if not results:
            return rows  # none: as many rows, and the tape goes on
        return F.embedding(np.argsort(order, kind="stable"), F.concatenate(results))


def combine(rows, weights, token, expert):
    """(tokens, width): to each token its rows are added, each times weights[token, expert]. rows: one a choice."""
    tokens = weights.shape[0]
    factors = weights.data[token, expert][:, None]
    result = np.zeros((tokens, rows.shape[1]), rows.dtype)
    np.add.at(result, token, factors * rows.data)

    def backward(grad, kept):
        of_weights = np.zeros(weights.shape, weights.dtype)
        of_weights[token, expert] = (grad[token] * kept).sum(axis=1)
        return [factors * grad[token], of_weights]

    return record("combine", result, [rows, weights], backward, rows.data)


def feed_forward(width, hidden, generator):
    """An expert: two linear layers and what is between them."""
    from training.modules import GELU

    return Sequential(Linear(width, hidden, generator=generator), GELU(), Linear(hidden, width, generator=generator))


def _parts(length, size):
    from .group import bounds

    cuts = bounds(length, size)
    return [slice(cuts[k], cuts[k + 1]) for k in range(size)]
