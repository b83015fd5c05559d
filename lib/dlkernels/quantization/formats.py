"""Number formats of eight and four bits: what each code stands for, and where one code ends and the next begins.

    int8, uint8, int4     whole numbers, in two's complement where they have a sign
    e4m3                  1 sign, 4 exponent, 3 fraction bits: to 448, no infinity (Micikevicius and others, FP8 formats
                          for deep learning, 2022; e4m3fn of ml_dtypes, torch.float8_e4m3fn)
    e5m2                  1 sign, 5 exponent, 2 fraction bits: to 57344; it has infinities, which quantising never makes
    nf4                   16 levels, as many numbers of a normal distribution near each (Dettmers and others, QLoRA,
                          2023, appendix E)

Codes of four bits are packed: two in a byte of uint8, along the last axis, the even one in the low bits. Where their
number is odd, the last byte's high bits are 0.

A format with `levels` is a table: `bounds[i]` is the least float32 whose code is i + 1, of a float8 without its sign.
So ties are in the table too: of a float8 they go to the even code, of nf4 to the lower level, as in bitsandbytes.
"""

from dataclasses import dataclass, field

import numpy as np

f32 = np.float32
# The numbers of the paper's table, which are quantiles of a normal distribution, divided by the largest.
NF4 = (
    -1.0, -0.6961928009986877, -0.5250730514526367, -0.39491748809814453, -0.28444138169288635, -0.18477343022823334,
    -0.09105003625154495, 0.0, 0.07958029955625534, 0.16093020141124725, 0.24611230194568634, 0.33791524171829224,
    0.44070982933044434, 0.5626170039176941, 0.7229568362236023, 1.0,
)  # fmt: skip


@dataclass(frozen=True, eq=False)
class Format:
    """lowest, highest: the least and the largest number that a code stands for, at a scale of 1. fraction, bias: of a
    float8, else 0. levels: what each code stands for, bounds: see the module; of whole numbers empty."""

    name: str
    dtype: np.dtype
    bits: int
    lowest: float
    highest: float
    fraction: int = 0
    bias: int = 0
    levels: np.ndarray = field(default_factory=lambda: np.zeros(0, f32), repr=False)
    bounds: np.ndarray = field(default_factory=lambda: np.zeros(0, f32), repr=False)

    @property
    def whole(self):
        """Whether a code is the number that it stands for."""
        return not self.levels.size

    @property
    def packed(self):
        return self.bits == 4

    @property
    def steps(self):
        """How many steps of a whole format lie between its ends."""
        return int(self.highest - self.lowest)

    @property
    def nan(self):
        """The code of what is not a number, without its sign; of nf4 the lowest level, of whole numbers the highest."""
        return {3: 0x7F, 2: 0x7E}.get(self.fraction, 0)

    def width(self, length):
        """Bytes of a row of so many codes."""
        return -(-length * self.bits // 8)


def _float8_levels(fraction, bias):
    """What the 256 codes stand for."""
    codes = np.arange(256)
    exponent, digits = (codes & 0x7F) >> fraction, codes & (1 << fraction) - 1
    normal = np.ldexp(1 + digits / (1 << fraction), exponent - bias)
    size = np.where(exponent > 0, normal, np.ldexp(digits / (1 << fraction), 1 - bias))
    if fraction == 3:
        size[codes & 0x7F == 0x7F] = np.nan
    else:
        size[exponent == 31] = np.where(digits[exponent == 31] == 0, np.inf, np.nan)
    return np.where(codes < 128, size, -size).astype(f32)


def _bounds(levels, to_even):
    """Between neighbours lies their middle, which belongs to the even code, or to the lower one."""
    middle = ((levels[:-1].astype(np.float64) + levels[1:]) / 2).astype(f32)
    goes_up = (np.arange(middle.size) % 2 == 1) & to_even
    return np.where(goes_up, middle, np.nextafter(middle, f32(np.inf)))


def _float8(name, fraction, bias):
    levels = _float8_levels(fraction, bias)
    finite = levels[:128][np.isfinite(levels[:128])]
    most = float(finite[-1])
    return Format(name, np.dtype(np.uint8), 8, -most, most, fraction, bias, levels, _bounds(finite, True))


def _nf4():
    levels = np.array(NF4, f32)
    return Format("nf4", np.dtype(np.uint8), 4, -1.0, 1.0, levels=levels, bounds=_bounds(levels, False))


FORMATS = {
    format_.name: format_
    for format_ in (
        Format("int8", np.dtype(np.int8), 8, -128, 127),
        Format("uint8", np.dtype(np.uint8), 8, 0, 255),
        Format("int4", np.dtype(np.uint8), 4, -8, 7),
        _float8("e4m3", 3, 7),
        _float8("e5m2", 2, 15),
        _nf4(),
    )
}


def pack(codes):
    """Codes of four bits, (..., n), two in a byte of uint8: (..., ceil(n / 2)). The low four bits of each count."""
    low = np.asarray(codes).astype(np.uint8) & 15
    if low.shape[-1] % 2:
        low = np.concatenate([low, np.zeros_like(low[..., :1])], axis=-1)
    return low[..., ::2] | low[..., 1::2] << 4


def unpack(packed, length=None, signed=True):
    """What `pack` packed: int8 from -8 to 7, or where not signed uint8 from 0 to 15. length: how many a row has."""
    packed = np.asarray(packed)
    both = np.stack([packed & 15, packed >> 4], axis=-1).reshape(*packed.shape[:-1], 2 * packed.shape[-1])
    both = both[..., :length]
    return (both ^ 8).astype(np.int8) - np.int8(8) if signed else both
