"""Quantisation in NumPy and float64: what every other implementation is tested against.

quantize          the code of x / scale, rounded, plus the zero point; what lies outside the format goes to its end.
                  Whole numbers: ties to even. Of what is not a number: the highest code, as torch.quantize_per_tensor
dequantize        scale * (number of the code - zero point)
choose_qparams    the scale, and zero point, with which the least and the largest number just fit. 0 always has a code
fake_quantize     dequantize(quantize(x)), in floating point; as PyTorch's, it takes the lowest code of no number
fake_quantize_backward    straight through (Bengio and others 2013): what arrives, where no end was passed, else 0
linear_int4       input W^T + bias, where W is dequantized: of codes of four bits
linear_codebook   where W is looked up, and scaled
linear_hashed     where each place of W has a shared weight, and a sign, which a hash of row and column chooses
linear_low_rank   where W is a product of two thin matrices

A scale belongs to all numbers, to those of an index of `axis`, or to `group_size` neighbours of the last axis.
"""

import math

import numpy as np

from .formats import FORMATS, pack, unpack

SMALLEST = np.finfo(np.float32).tiny


def _double(x):
    return np.asarray(x, dtype=np.float64)


def spread(values, shape, axis=None, group_size=None):
    """The scales, or zero points, as an array that goes with one of that shape."""
    values = np.asarray(values)
    if group_size is not None:
        return np.repeat(values, group_size, axis=-1)[..., : shape[-1]]
    if axis is None:
        return values.reshape(())
    return np.expand_dims(values, tuple(k for k in range(len(shape)) if k != axis % len(shape)))


def _zeros(zero_point, *rest):
    return 0 if zero_point is None else _double(spread(zero_point, *rest))


def quotients(input, scale, axis=None, group_size=None):
    with np.errstate(all="ignore"):
        return _double(input) / _double(spread(scale, np.shape(input), axis, group_size))


def float8(x, fraction, bias, largest):
    """The nearest numbers of a float8, ties to an even last digit; no further than the largest."""
    size = np.minimum(np.abs(x), largest)
    exponent = np.maximum(np.frexp(np.where(size > 0, size, 1))[1] - 1, 1 - bias)
    step = np.ldexp(1.0, exponent - fraction)
    return np.minimum(np.rint(size / step) * step, largest)


def quantize(input, scale, zero_point=None, dtype="int8", axis=None, group_size=None):
    form, x = FORMATS[dtype], quotients(input, scale, axis, group_size)
    missing = np.isnan(x)
    if form.whole:
        codes = np.rint(x) + _zeros(zero_point, x.shape, axis, group_size)
        codes = np.where(missing, form.highest, np.clip(codes, form.lowest, form.highest)).astype(np.int64)
    elif dtype == "nf4":
        levels = _double(form.levels)
        distance = np.abs(np.clip(x, -1, 1)[..., None] - levels)  # argmin takes the lower of two that are as near
        codes = np.where(missing, form.nan, np.argmin(np.where(np.isnan(distance), 0, distance), axis=-1))
    else:
        positive = _double(form.levels[:128])
        positive = positive[np.isfinite(positive)]
        nearest = float8(np.where(missing, 0, x), form.fraction, form.bias, form.highest)
        codes = np.where(missing, form.nan, np.searchsorted(positive, nearest)) | np.signbit(_double(input)) * 128
    return pack(codes & 15) if form.packed else codes.astype(form.dtype)


def dequantize(codes, scale, zero_point=None, dtype="int8", axis=None, group_size=None, length=None):
    form = FORMATS[dtype]
    numbers = unpack(codes, length, signed=form.whole) if form.packed else np.asarray(codes)
    rest = numbers.shape, axis, group_size
    numbers = _double(numbers) - _zeros(zero_point, *rest) if form.whole else _double(form.levels)[numbers]
    return numbers * _double(spread(scale, *rest))


def choose_qparams(input, dtype="int8", axis=None, group_size=None, symmetric=True):
    form, x = FORMATS[dtype], _double(input)
    if group_size is not None:
        groups = range(0, x.shape[-1], group_size)
        parts = [x[..., start : start + group_size] for start in groups]
        low = np.stack([part.min(-1, initial=0) for part in parts], -1) if parts else np.zeros((*x.shape[:-1], 0))
        high = np.stack([part.max(-1, initial=0) for part in parts], -1) if parts else np.zeros((*x.shape[:-1], 0))
    else:
        others = None if axis is None else tuple(k for k in range(x.ndim) if k != axis % x.ndim)
        low, high = np.asarray(x.min(others, initial=0)), np.asarray(x.max(others, initial=0))
    with np.errstate(all="ignore"):
        width = np.maximum(-low, high) / form.highest if symmetric else (high - low) / form.steps
        scale = np.where(width > 0, np.maximum(width, SMALLEST), np.where(np.isnan(width), np.nan, 1))
        if symmetric:
            return scale, None
        zero = np.clip(form.lowest - np.rint(low / scale), form.lowest, form.highest)
    return scale, np.where(np.isnan(zero), form.lowest, zero).astype(np.int32)


def _rounded(input, scale, zero_point, axis, group_size):
    x = quotients(input, scale, axis, group_size)
    return np.rint(x) + _zeros(zero_point, x.shape, axis, group_size)


def fake_quantize(input, scale, zero_point=None, quant_min=-128, quant_max=127, axis=None, group_size=None):
    codes = _rounded(input, scale, zero_point, axis, group_size)
    codes = np.where(np.isnan(codes), quant_min, np.clip(codes, quant_min, quant_max))
    rest = np.shape(input), axis, group_size
    return (codes - _zeros(zero_point, *rest)) * _double(spread(scale, *rest))


def fake_quantize_backward(
    grad, input, scale, zero_point=None, quant_min=-128, quant_max=127, axis=None, group_size=None
):
    codes = _rounded(input, scale, zero_point, axis, group_size)
    return np.where((codes >= quant_min) & (codes <= quant_max), _double(grad), 0.0)


def not_clipped(input, scale, zero_point=None, quant_min=-128, quant_max=127, axis=None, group_size=None):
    """The function whose slope fake_quantize_backward is: a line as far as codes reach, and flat beyond."""
    rest = np.shape(input), axis, group_size
    zero, step = _zeros(zero_point, *rest), _double(spread(scale, *rest))
    return np.clip(_double(input), (quant_min - 0.5 - zero) * step, (quant_max + 0.5 - zero) * step)


def linear_int4(input, weight, scale, zero_point=None, bias=None, group_size=None):
    length = np.shape(input)[-1]
    group_size = group_size or max(length + length % 2, 2)
    numbers = dequantize(weight, scale, zero_point, "int4", group_size=group_size, length=length)
    return _double(input) @ numbers.T + (0 if bias is None else _double(bias))


def linear_codebook(input, weight, codebook, bias=None, scale=None, group_size=None):
    length, table = np.shape(input)[-1], np.full(256, np.nan)
    table[: len(codebook)] = codebook
    packed = len(codebook) <= 16 and np.shape(weight)[-1] != length
    numbers = table[unpack(weight, length, signed=False) if packed else weight]
    if scale is not None:
        numbers = numbers * _double(spread(scale, numbers.shape, group_size=group_size))
    return _double(input) @ numbers.T + (0 if bias is None else _double(bias))


def mixed(h):
    """The finalizer of MurmurHash3, in numbers that have no end."""
    for shift, factor in ((16, 0x85EBCA6B), (13, 0xC2B2AE35)):
        h = (h ^ h >> np.uint64(shift)) * np.uint64(factor) % np.uint64(2**32)
    return h ^ h >> np.uint64(16)


def places(shared, outputs, inputs, seed):
    """(index of the shared weight, sign) at each place of a matrix."""
    golden, modulus = np.uint64(0x9E3779B1), np.uint64(2**32)
    row, column = (np.arange(n, dtype=np.uint64) * golden % modulus for n in (outputs, inputs))
    words = mixed((mixed((row + np.uint64(seed)) % modulus)[:, None] + column) % modulus)
    return (words * np.uint64(shared) // modulus).astype(np.int64), np.where(words % np.uint64(2) == 0, 1.0, -1.0)


def linear_hashed(input, weight, out_features, bias=None, seed=0):
    index, sign = places(len(weight), out_features, np.shape(input)[-1], seed)
    return _double(input) @ (_double(weight)[index] * sign).T + (0 if bias is None else _double(bias))


def linear_hashed_backward(grad, input, weight, out_features, bias=None, seed=0):
    x, rows = _double(input), math.prod(np.shape(input)[:-1])
    lines, arrived = x.reshape(rows, x.shape[-1]), _double(grad).reshape(rows, out_features)
    index, sign = places(len(weight), out_features, x.shape[-1], seed)
    of_input = (arrived @ (_double(weight)[index] * sign)).reshape(x.shape)
    of_weight = np.zeros(len(weight))
    np.add.at(of_weight, index, (arrived.T @ lines) * sign)
    return (of_input, of_weight) if bias is None else (of_input, of_weight, arrived.sum(axis=0))


def linear_low_rank(input, u, v, bias=None):
    return (_double(input) @ _double(v).T) @ _double(u).T + (0 if bias is None else _double(bias))
