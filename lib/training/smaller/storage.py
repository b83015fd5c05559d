"""How many bytes a network takes, from what would really be written: codes packed to their bits, masks to one bit.

Each `Parametrized` layer gives its arrays; this file packs them. All other numbers (biases, norms) count as they are.
"""

import numpy as np

from ..modules import Module
from .parametrized import Parametrized, layers


def pack(codes, bits):
    """Whole numbers 0 to 2^bits - 1 (any shape), `bits` (1 to 16) bits each, one behind the other, lowest bit first:
    uint8 (ceil(size bits / 8),). With 4 bits: two in a byte, the even one in the low half."""
    codes = np.ascontiguousarray(codes).reshape(-1)
    if not 1 <= bits <= 16:
        raise ValueError(f"bits is {bits}; expected 1 to 16.")
    if codes.size and not (codes.min() >= 0 and codes.max() < 1 << bits):
        raise ValueError(f"codes are from {codes.min()} to {codes.max()}; expected 0 to {(1 << bits) - 1}.")
    words = codes.astype("<u2").view(np.uint8).reshape(-1, 2)
    return np.packbits(np.unpackbits(words, axis=1, count=bits, bitorder="little").reshape(-1), bitorder="little")


def unpack(packed, bits, count):
    """`count` codes of `pack`, as uint16."""
    flat = np.unpackbits(packed, count=count * bits, bitorder="little").reshape(count, bits)
    words = np.zeros((count, 16), np.uint8)
    words[:, :bits] = flat
    return np.packbits(words, axis=1, bitorder="little").view("<u2").reshape(-1)


def sparse(values):
    """An array with zeros, as {"mask": a bit for each number, "values": those that are not zero}."""
    flat = np.ascontiguousarray(values).reshape(-1)
    return {"mask": pack(flat != 0, 1), "values": flat[flat != 0]}


def dense(arrays, shape):
    """What `sparse` was given."""
    mask = unpack(arrays["mask"], 1, int(np.prod(shape))).astype(bool)
    flat = np.zeros(mask.size, arrays["values"].dtype)
    flat[mask] = arrays["values"]
    return flat.reshape(shape)


def csr(matrix):
    """A matrix (rows, columns) with zeros, compressed by rows, {"values", "columns", "starts"}: indices of the smallest
    unsigned type that holds them. Beside a mask it is smaller where few numbers are left."""
    rows, columns = np.nonzero(matrix)
    starts = np.zeros(matrix.shape[0] + 1, np.min_scalar_type(rows.size))
    starts[1:] = np.cumsum(np.bincount(rows, minlength=matrix.shape[0]))
    smallest = np.min_scalar_type(max(0, matrix.shape[1] - 1))
    return {"values": matrix[rows, columns], "columns": columns.astype(smallest), "starts": starts}


def total(arrays):
    """Bytes of all arrays of a dict."""
    return sum(array.nbytes for array in arrays.values())


def smallest(*ways):
    """The dict of arrays that takes the fewest bytes."""
    return min(ways, key=total)


def network(model):
    """{name: array} of everything that has to be stored of a network."""
    found, covered = {}, set()
    for name, layer in layers(model).items():
        if isinstance(layer, Parametrized):
            found |= {f"{name}.{key}": array for key, array in layer.arrays().items()}
            bias = [] if layer.bias is None else [layer.bias]
            found |= {f"{name}.bias": parameter.data for parameter in bias}
            covered |= {id(x) for _, x in layer.named_tensors()}
    return found | {name: x.data for name, x in model.named_tensors() if id(x) not in covered}


def nbytes(model):
    """Bytes of a network (a Module) as it would be stored; see `network`."""
    if not isinstance(model, Module):
        raise TypeError(f"model is {type(model).__name__}; expected a Module.")
    return total(network(model))
