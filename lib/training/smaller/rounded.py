"""A weight as codes and scales: rounding to nearest, with one scale for all, for a channel, or for a group.

A weight (out, in, ...) is taken as a matrix (out, K). Each row, or each `group_size` columns of a row, has the scale
that its own numbers need: fewer of them suffer from one large number, and there are more scales to store.
"""

from dataclasses import dataclass

import numpy as np

from .calibration import METHODS, limits, scale_and_zero_point
from .storage import pack, smallest, unpack

GRANULARITIES = ("tensor", "channel", "group")


@dataclass(frozen=True)
class Grid:
    """Which numbers a weight may have: scales and zero_points, (1 or rows, groups of a row), for `bits` bits."""

    scales: np.ndarray  # float32
    zero_points: np.ndarray | None  # int32, None where all are 0
    bits: int
    group_size: int

    def spread(self, width):
        """(scales, zero points), one for each of `width` columns, or one for all."""
        zeros = np.zeros_like(self.scales, np.int32) if self.zero_points is None else self.zero_points
        if self.scales.shape[1] == 1:
            return self.scales, zeros
        return tuple(np.repeat(x, self.group_size, axis=1)[:, :width] for x in (self.scales, zeros))

    def codes(self, matrix):
        """(rows, K) -> int16 codes, ties to even."""
        scales, zeros = self.spread(matrix.shape[1])
        return np.clip(np.rint(matrix / scales) + zeros, *limits(self.bits)).astype(np.int16)

    def numbers(self, codes):
        """What codes (rows, K) stand for: float32."""
        scales, zeros = self.spread(codes.shape[1])
        return (codes - zeros).astype(np.float32) * scales

    def rounded(self, matrix):
        return self.numbers(self.codes(matrix))

    def arrays(self, codes):
        """What is stored: packed codes (with a mask where many are zeros), scales, zero points."""
        scales = {"scales": self.scales}
        if self.zero_points is not None:
            scales["zero_points"] = self.zero_points.astype(np.int8 if self.bits <= 8 else np.int16)
        least = limits(self.bits)[0]
        ways = [{"codes": pack(codes - least, self.bits)}]
        if self.zero_points is None:
            kept = codes[codes != 0]
            ways.append({"mask": pack(codes != 0, 1), "codes": pack(kept - least, self.bits)})
        return smallest(*ways) | scales

    def stored(self, arrays, shape):
        """The codes (rows, K) that `arrays` packed."""
        size, least = int(np.prod(shape)), limits(self.bits)[0]
        if "mask" not in arrays:
            return (unpack(arrays["codes"], self.bits, size).astype(np.int16) + least).reshape(shape)
        mask = unpack(arrays["mask"], 1, size).astype(bool)
        codes = np.zeros(size, np.int16)
        codes[mask] = unpack(arrays["codes"], self.bits, int(mask.sum())).astype(np.int16) + least
        return codes.reshape(shape)


def grid(matrix, bits=8, granularity="channel", group_size=32, symmetric=True, method="min_max"):
    """The `Grid` that fits a matrix (rows, K). method: one of calibration.py, asked for each scale."""
    if granularity not in GRANULARITIES:
        raise ValueError(f"granularity is {granularity!r}; expected one of {', '.join(GRANULARITIES)}.")
    if group_size < 1:
        raise ValueError(f"group_size is {group_size}; expected at least 1.")
    if method not in METHODS:
        raise ValueError(f"method is {method!r}; expected one of {', '.join(METHODS)}.")
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
    scales, zeros = scale_and_zero_point(low, high, bits, symmetric)
    return Grid(scales, None if symmetric else zeros, bits, size)
