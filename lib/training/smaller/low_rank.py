"""Two thin matrices for one: W (out, K) is nearly U V with r columns, when few of its singular values are large.

The truncated singular value decomposition is the closest of all matrices of rank r (Eckart, Young 1936). A linear layer
becomes two, out r + r K numbers for out K; a convolution becomes one with r filters and one of 1 x 1 (Denton et al.
2014, "Exploiting Linear Structure Within Convolutional Networks"). They are plain layers: they need no kernel of their
own, and learn on.
"""

import heapq

import numpy as np

from ..modules import Sequential
from .parametrized import layers, options_of, plain, replaced, weight_of


def truncated(matrix, rank):
    """(out, rank) and (rank, K), float32, whose product is the closest to matrix (out, K). The singular values go to
    both in equal parts."""
    if not 1 <= rank <= min(matrix.shape):
        raise ValueError(f"rank is {rank}; expected 1 to {min(matrix.shape)}, for a matrix {matrix.shape}.")
    u, s, v = np.linalg.svd(matrix.astype(np.float64), full_matrices=False)
    root = np.sqrt(s[:rank])
    return (u[:, :rank] * root).astype(np.float32), (root[:, None] * v[:rank]).astype(np.float32)


def ranks_by_error(model, error):
    """{layer's name: the smallest rank with |W - U V| <= error |W|} (Frobenius); None where that saves no bytes."""
    if not 0 <= error < 1:
        raise ValueError(f"error is {error}; expected 0 or more, below 1.")
    found = {}
    for name, matrix in _matrices(model).items():
        squares = np.linalg.svd(matrix, compute_uv=False) ** 2
        left = np.append(np.cumsum(squares[::-1])[::-1], 0)  # what is lost with rank 0, 1, ...
        rank = max(1, int(np.argmax(left <= error**2 * left[0])))
        found[name] = rank if rank * sum(matrix.shape) < matrix.size else None
    return found


def ranks_by_bytes(model, budget):
    """{layer's name: rank} whose factors take `budget` bytes at most. Each next rank goes to the layer where it removes
    most of the (relative, squared) error for a byte; None for a layer that is not worth splitting any more."""
    spectra = {name: np.linalg.svd(matrix, compute_uv=False) ** 2 for name, matrix in _matrices(model).items()}
    cost = {name: 4 * sum(matrix.shape) for name, matrix in _matrices(model).items()}
    full_bytes = {name: 4 * matrix.size for name, matrix in _matrices(model).items()}
    # of one row or column: its factors are no smaller
    ranks = {name: 1 if cost[name] < full_bytes[name] else None for name in spectra}
    left = budget - sum(min(cost[name], full_bytes[name]) for name in spectra)
    if left < 0:
        raise ValueError(f"budget is {budget} bytes; rank 1 of each layer takes {budget - left}.")
    error = {name: s / (s.sum() or 1) / cost[name] for name, s in spectra.items()}  # that each rank removes, for a byte
    heap = [(-error[name][1], name) for name, rank in ranks.items() if rank is not None]
    heapq.heapify(heap)
    while heap:
        _, name = heapq.heappop(heap)
        # with one more the whole weight may be as cheap: then the layer is done, without error
        step = min(cost[name], full_bytes[name] - ranks[name] * cost[name])
        if step > left:
            continue
        left -= step
        ranks[name] += 1
        if ranks[name] * cost[name] >= full_bytes[name]:
            ranks[name] = None
        elif ranks[name] < len(spectra[name]):
            heapq.heappush(heap, (-error[name][ranks[name]], name))
    return ranks


def low_rank(model, ranks):
    """A copy of the network with two layers for each that has a rank in {layer's name: rank or None}."""
    unknown = sorted(set(ranks) - set(layers(model)))
    if unknown:
        raise ValueError(f"ranks names {unknown}; the network's layers are {sorted(layers(model))}.")

    def split(name, layer):
        rank, weight, options = ranks.get(name), weight_of(layer), options_of(layer)
        if rank is None:
            return layer
        u, v = truncated(weight.data.reshape(weight.shape[0], -1), rank)
        bias = None if layer.bias is None else layer.bias.data
        if options is None:
            return Sequential(plain(v, None), plain(u, bias))
        if options["groups"] != 1:
            raise ValueError(f"{name} has groups={options['groups']}; expected 1.")
        pointwise = {"stride": 1, "padding": 0, "dilation": 1, "groups": 1}
        return Sequential(
            plain(v.reshape(rank, *weight.shape[1:]), None, options), plain(u[:, :, None, None], bias, pointwise)
        )

    return replaced(model, split)


def _matrices(model):
    weights = {name: weight_of(layer).data for name, layer in layers(model).items()}
    return {name: weight.reshape(weight.shape[0], -1).astype(np.float64) for name, weight in weights.items()}
