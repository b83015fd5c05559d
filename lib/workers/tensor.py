"""Tensor parallel: each layer is cut, and each worker has a part of every weight.

    tensor_parallel(model, group)                 # all Transformer blocks of a model, in place
    tensor_parallel(model, group, sequence=True)  # and its norms: activations are cut along the steps

Two linear layers are cut so that nothing is sent between them: the first one by its outputs (columns of x W^T), the
second by its inputs, so that each worker has what its part needs. Then partial sums are added up: one all-reduce
forward and one backward for the pair. What is between them works on each output alone: an activation, or attention,
whose heads are cut. Shoeybi and others 2019, "Megatron-LM: Training Multi-Billion Parameter Language Models Using
Model Parallelism", section 3.

Sequence parallel: an all-reduce is a reduce-scatter and an all-gather. Between the two, where Megatron's norms and
residuals do the same work on all workers, each works on its part of the steps only: as many bytes are sent, and
activations of the norms are cut, too. Korthikanti and others 2022, section 4.2.2.

A bias that is added to a sum of parts is worker 0's alone. All other weights are cut, but for norms, which all have.
"""

import numpy as np

from training import functional as F
from training.modules import LayerNorm, Linear, Module, Parameter, TransformerBlock
from training.tensor import record

from . import autograd
from .group import bounds


class ColumnParallelLinear(Module):
    """The part of a Linear that makes `outputs` (a slice; None: this worker's of equal ones).

    x: what all workers have, or with `sequence` this worker's part of it along the last dimension but one. Returns the
    outputs of this worker.
    """

    def __init__(self, linear, group, sequence=False, outputs=None):
        outputs = group.part(linear.weight.shape[0]) if outputs is None else outputs
        self.weight = Parameter(linear.weight.data[outputs].copy())
        self.bias = linear.bias and Parameter(linear.bias.data[outputs].copy())
        self.group, self.sequence = group, sequence

    def forward(self, x):
        x = autograd.gather(x, self.group, -2) if self.sequence else autograd.copy(x, self.group)
        return F.linear(x, self.weight, self.bias)


class RowParallelLinear(Module):
    """The part of a Linear that takes `inputs` (a slice; None: this worker's of equal ones).

    x: these inputs. Returns the sum over all workers, on each of them; with `sequence`, this worker's part of it along
    the last dimension but one.
    """

    def __init__(self, linear, group, sequence=False, inputs=None):
        inputs = group.part(linear.weight.shape[1]) if inputs is None else inputs
        self.weight = Parameter(linear.weight.data[:, inputs].copy())
        self.bias = linear.bias and Parameter(linear.bias.data.copy()) if group.rank == 0 else None
        self.group, self.sequence = group, sequence

    def forward(self, x):
        part = F.linear(x, self.weight, self.bias)
        return autograd.scatter(part, self.group, -2) if self.sequence else autograd.reduce(part, self.group)


class ParallelAttention(Module):
    """The part of a MultiheadAttention with this worker's heads. Needs a head for each worker at least: ValueError."""

    def __init__(self, attention, group, sequence=False):
        if attention.heads < group.size:
            raise ValueError(f"{attention.heads} heads for {group.size} workers; expected a head for each at least.")
        width = attention.in_proj_weight.shape[1]
        head_width, cuts = width // attention.heads, bounds(attention.heads, group.size)
        columns = slice(cuts[group.rank] * head_width, cuts[group.rank + 1] * head_width)
        rows = np.concatenate([np.arange(width)[columns] + part * width for part in range(3)])  # of q, k, v
        full = Linear.__new__(Linear)
        full.weight, full.bias = attention.in_proj_weight, attention.in_proj_bias
        self.in_proj = ColumnParallelLinear(full, group, sequence, rows)
        self.out_proj = RowParallelLinear(attention.out_proj, group, sequence, columns)
        self.heads, self.is_causal = cuts[group.rank + 1] - cuts[group.rank], attention.is_causal

    def forward(self, x):
        q, k, v = F.split_heads(self.in_proj(x), self.heads, 3)
        result, _ = F.attention_with_sums(q, k, v, is_causal=self.is_causal)
        return self.out_proj(F.merge_heads(result))


class SequenceLayerNorm(LayerNorm):
    """A LayerNorm of this worker's part of the steps. All have its weights, and the gradients of all parts add up."""

    def __init__(self, norm, group):
        self.weight, self.bias, self.eps, self.group = norm.weight, norm.bias, norm.eps, group

    def forward(self, x):
        weight, bias = (autograd.copy(parameter, self.group) for parameter in (self.weight, self.bias))
        return F.layer_norm(x, weight, bias, self.eps)


def tensor_parallel(module, group, sequence=False):
    """Cut all TransformerBlocks of a module, in place. Returns it. All workers give it the same weights.

    sequence: whether a block takes and returns this worker's part of the steps (`autograd.cut`, `autograd.join`).
    """
    for _, block in list(module.named_modules()):
        if isinstance(block, TransformerBlock):
            block.self_attn = ParallelAttention(block.self_attn, group, sequence)
            block.linear1 = ColumnParallelLinear(block.linear1, group, sequence)
            block.linear2 = RowParallelLinear(block.linear2, group, sequence)
            if sequence:
                block.norm1, block.norm2 = (SequenceLayerNorm(norm, group) for norm in (block.norm1, block.norm2))
    return module


def cross_entropy(logits, target, group):
    """The mean of -log softmax(logits)[target], of logits that are cut by classes. The same number on all workers.

    logits: (rows, this worker's classes), as a ColumnParallelLinear makes them. target: (rows,), numbers of classes of
    the whole. Each worker sends three numbers for a row, in the place of all its logits; backward sends nothing.
    ValueError for a target that is no class.
    """
    rows, local_classes = logits.shape
    begin = int(np.sum(group.all_gather(np.array([local_classes]))[: group.rank]))
    target = np.asarray(target).reshape(-1)
    local_rows = np.flatnonzero((target >= begin) & (target < begin + local_classes))
    target_index = (local_rows, target[local_rows] - begin)
    stats = np.full(
        (3, rows), -np.inf, logits.dtype
    )  # largest logit, sum of exponentials relative to it, target's logit
    stats[0] = logits.data.max(axis=1, initial=-np.inf)
    stats[1] = np.exp(logits.data - stats[0][:, None]).sum(axis=1)
    stats[2][local_rows] = logits.data[target_index]
    top, sums, targets = np.moveaxis(group.all_gather(stats[None]), 1, 0)
    if np.isneginf(targets.max(axis=0)).any():
        raise ValueError(f"target {target[np.isneginf(targets.max(axis=0))][0]} is no class of the logits.")
    largest = top.max(axis=0)
    lse = largest + np.log((sums * np.exp(top - largest)).sum(axis=0))
    loss = np.asarray((lse - targets.max(axis=0)).mean(), logits.dtype)

    def backward(grad, kept):
        found = np.exp(kept - lse[:, None])
        found[target_index] -= 1
        found *= grad / rows
        return [found]

    return record("vocabulary_parallel_cross_entropy", loss, [logits], backward, logits.data)


class ParallelEmbedding(Module):
    """This worker's rows of an Embedding. words: numbers of rows of the whole table; returns these rows, on all."""

    def __init__(self, embedding, group):
        rows = group.part(embedding.weight.shape[0])
        self.weight, self.begin, self.group = Parameter(embedding.weight.data[rows].copy()), rows.start, group

    def forward(self, words):
        words = np.asarray(words) - self.begin
        there = (words >= 0) & (words < self.weight.shape[0])
        found = np.zeros((*words.shape, self.weight.shape[1]), self.weight.dtype)
        found[there] = self.weight.data[words[there]]

        def backward(grad, kept):
            of_weight = np.zeros(self.weight.shape, self.weight.dtype)
            np.add.at(of_weight, words[there], grad[there])
            return [of_weight]

        return autograd.reduce(record("parallel_embedding", found, [self.weight], backward), self.group)
