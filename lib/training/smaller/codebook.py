"""A few values for all weights of a layer: each weight is an index into them, found by k-means.

Han, Mao, Dally 2016, "Deep Compression". The values go on learning: the gradient of a value is the sum of the gradients
of all weights that share it. A weight that pruning made 0 stays 0 and takes a bit in a mask. The paper's third step,
codes whose length follows from how often they come (Huffman 1952), is counted by `huffman_bits`.
"""

import heapq

import numpy as np

from ..modules import Parameter
from ..tensor import record
from .calibration import finite
from .parametrized import Parametrized, replaced, weight_of
from .storage import pack, sparse


def kmeans(x, count, iterations=50):
    """(centroids (count,) float32, sorted; indices of x's shape): Lloyd's algorithm for numbers.

    The first centroids are spread evenly from the smallest to the largest: that keeps some for the few large weights,
    which matter (the paper's figure 6). The sum of squares never grows from one round to the next. A centroid that
    nothing is near to stays where it is.
    """
    if not 1 <= count <= 1 << 16:
        raise ValueError(f"count is {count}; expected 1 to 65536.")
    flat = np.sort(finite(x).reshape(-1).astype(np.float64))
    centroids = np.linspace(flat[0], flat[-1], count)
    sums = np.append(0, np.cumsum(flat))
    for _ in range(iterations):
        # sorted numbers: those of a centroid lie between two borders
        borders = np.searchsorted(flat, (centroids[1:] + centroids[:-1]) / 2)
        begins, ends = np.append(0, borders), np.append(borders, flat.size)
        sizes = ends - begins
        new = np.where(sizes > 0, (sums[ends] - sums[begins]) / np.maximum(sizes, 1), centroids)
        if np.array_equal(new, centroids):
            break
        centroids = np.sort(new)
    centroids = centroids.astype(np.float32)
    return centroids, nearest(x, centroids)


def nearest(x, centroids):
    """For each number the index of the nearest of sorted centroids."""
    middle = (centroids[1:].astype(np.float64) + centroids[:-1]) / 2
    return np.searchsorted(middle, x).astype(np.uint8 if len(centroids) <= 256 else np.uint16)


class Codebook(Parametrized):
    """A weight of 2^bits values, `centroids` (learned), where `indices` point. Zeros of the weight stay zero."""

    def __init__(self, layer, bits=4):
        super().__init__(layer)
        if not 1 <= bits <= 8:
            raise ValueError(f"bits is {bits}; expected 1 to 8.")
        weight = weight_of(layer).data
        self.bits, self.mask = bits, weight != 0
        values = weight[self.mask] if self.mask.any() else np.zeros(1, weight.dtype)
        self.centroids = Parameter(kmeans(values, 1 << bits)[0])
        self.indices = nearest(weight, self.centroids.data)
        self.layer.weight = None  # the codebook stands for it

    def computed(self):
        centroids, count = self.centroids, self.centroids.size

        def backward(grad, kept):
            grad = np.where(self.mask, grad, 0).reshape(-1)
            return [np.bincount(self.indices.reshape(-1), grad, count).astype(centroids.dtype)]

        return record(
            "codebook",
            np.where(self.mask, centroids.data[self.indices], 0).astype(centroids.dtype),
            [centroids],
            backward,
        )

    def arrays(self):
        found = {"codes": pack(self.indices[self.mask], self.bits), "centroids": self.centroids.data}
        return found if self.mask.all() else found | {"mask": sparse(self.mask)["mask"]}


def shared(model, bits=4):
    """A copy of the network with `Codebook` layers, 2^bits values for each. bits: an int, or {layer's name: int}."""
    return replaced(model, lambda name, layer: Codebook(layer, bits[name] if isinstance(bits, dict) else bits))


def huffman_bits(counts):
    """Bits of a text in Huffman's code, given how often each symbol comes: the sum of all merged weights."""
    heap = [int(count) for count in counts if count]
    if len(heap) == 1:
        return heap[0]  # one symbol still takes a bit
    heapq.heapify(heap)
    bits = 0
    while len(heap) > 1:
        both = heapq.heappop(heap) + heapq.heappop(heap)
        bits += both
        heapq.heappush(heap, both)
    return bits
