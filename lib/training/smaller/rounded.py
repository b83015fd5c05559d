"""A weight as codes and scales: rounding to nearest, with one scale for all, for a channel, or for a group.

A weight (out, in, ...) is taken as a matrix (out, K). Each row, or each `group_size` columns of a row, has the scale
that its own numbers need: fewer of them suffer from one large number, and there are more scales to store.
"""

from dataclasses import dataclass

import numpy as np

import dlkernels

from .. import functional as F
from ..tensor import Tensor
from .calibration import METHODS, finite, limits, scale_and_zero_point
from .storage import pack, smallest, unpack

GRANULARITIES = ("tensor", "channel", "group")


@dataclass(frozen=True)
class Grid:
    """Which numbers a weight (rows, K) may have: scales (), (rows,) or (rows, groups), for `bits` bits, as the
    operations of dlkernels/quantization take them."""

    scales: np.ndarray  # float32
    zero_points: np.ndarray | None  # int32, None where all are 0
    bits: int
    group_size: int | None = None  # of scales for groups

    def rounded(self, matrix):
        """(rows, K), an array or a Tensor, to the nearest of these numbers; a Tensor's gradient goes straight on."""
        run = F.fake_quantize if isinstance(matrix, Tensor) else dlkernels.fake_quantize
        where = {0: {}, 1: {"axis": 0}, 2: {"group_size": self.group_size}}[self.scales.ndim]
        return run(matrix, self.scales.astype(matrix.dtype), self.zero_points, *limits(self.bits), **where)

    def spread(self, shape):
        """(scales, zero points), one for each number of a matrix of this shape."""
        zeros = np.zeros_like(self.scales, np.int32) if self.zero_points is None else self.zero_points
        if self.scales.ndim == 2:
            return tuple(np.repeat(x, self.group_size, axis=1)[:, : shape[1]] for x in (self.scales, zeros))
        return tuple(np.broadcast_to(x.reshape(-1, 1), shape) for x in (self.scales, zeros))

    def codes(self, matrix):
        """(rows, K) -> int16 codes."""
        scales, zeros = self.spread(matrix.shape)
        return (np.rint(self.rounded(matrix) / scales) + zeros).astype(np.int16)

    def numbers(self, codes):
        """What codes (rows, K) stand for: float32."""
        scales, zeros = self.spread(codes.shape)
        return (codes - zeros).astype(np.float32) * scales

    def arrays(self, codes):
        """What is stored: packed codes (with a mask where many are zeros), scales, zero points."""
        scales = {"scales": self.scales}
        if self.zero_points is not None:
            scales["zero_points"] = self.zero_points.astype(np.int8 if self.bits <= 8 else np.int16)
        short = codes & ((1 << self.bits) - 1)  # two's complement
        ways = [{"codes": pack(short, self.bits)}]
        if self.zero_points is None:
            ways.append({"mask": pack(codes != 0, 1), "codes": pack(short[codes != 0], self.bits)})
        return smallest(*ways) | scales

    def stored(self, arrays, shape):
        """The codes (rows, K) that `arrays` packed."""
        mask, half = np.ones(shape, bool), 1 << (self.bits - 1)
        if "mask" in arrays:
            mask = unpack(arrays["mask"], 1, mask.size).astype(bool).reshape(shape)
        codes = np.zeros(shape, np.int16)
        codes[mask] = (unpack(arrays["codes"], self.bits, mask.sum()).astype(np.int32) ^ half) - half
        return codes


def grid(matrix, bits=8, granularity="channel", group_size=32, symmetric=True, method="min_max"):
    """The `Grid` that fits a matrix (rows, K). method: one of calibration.py, asked for each scale."""
    if granularity not in GRANULARITIES:
        raise ValueError(f"granularity is {granularity!r}; expected one of {', '.join(GRANULARITIES)}.")
    if group_size < 1:
        raise ValueError(f"group_size is {group_size}; expected at least 1.")
    if method not in METHODS:
        raise ValueError(f"method is {method!r}; expected one of {', '.join(METHODS)}.")
    finite(matrix)
    width = matrix.shape[1]
    size = group_size if granularity == "group" else width
    rows = matrix.reshape(1, -1) if granularity == "tensor" else matrix
    starts = list(range(0, rows.shape[1], size if granularity == "group" else rows.shape[1]))
    if method == "min_max":  # all at once: in training it is found at each step
        low, high = (extreme.reduceat(rows, starts, axis=1).astype(float) for extreme in (np.minimum, np.maximum))
    else:
        stops = [*starts[1:], rows.shape[1]]
        parts = [[row[begin:end] for begin, end in zip(starts, stops, strict=True)] for row in rows]
        ranges = np.array([[METHODS[method](part, bits, symmetric) for part in row] for row in parts])
        low, high = ranges[..., 0], ranges[..., 1]
    shape = {"tensor": (), "channel": (len(matrix),), "group": low.shape}[granularity]
    scales, zeros = (np.reshape(x, shape) for x in scale_and_zero_point(low, high, bits, symmetric))
    return Grid(scales, None if symmetric else zeros, bits, group_size if granularity == "group" else None)
