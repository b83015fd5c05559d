"""Examples of quantisation. A size is the shape of what is quantised.

Codes are exact but for one thing: a quotient that float32 rounds to the middle between two codes may go either way.
There the neighbour is allowed.
"""

import math

import numpy as np

from ..examples import Draw, Examples
from . import reference
from .formats import FORMATS, pack, unpack
from .runs import scales_shape

# One, fewer than a vector, ragged, odd rows of packed codes, rows longer than a group.
SHAPES = ((1,), (5,), (3, 7), (2, 3, 4), (4, 33), (17, 16), (1, 19), (2, 1, 5, 3), (0,), (3, 0), (0, 4))
LARGE = ((70_001,), (130, 1025), (3, 70, 515), (9_001, 9))
TIMED = ((1 << 12,), (1 << 20,), (4096, 4096))
#: Format, granularity (axis from the front or the back, or the size of a group), affine.
CHOICES = [
    (dtype, kind, affine)
    for affine in (False, True)
    for kind in (None, "first", "group", "last")
    for dtype in FORMATS
    if not affine or FORMATS[dtype].whole
]
GROUP = 6


def granularity(kind, shape):
    """(axis, group_size)."""
    return {"first": 0, "last": len(shape) - 1}.get(kind), GROUP if kind == "group" else None


def _typical(draw):
    """The size of the numbers that `draw` fills arrays with."""
    limits = np.finfo(draw.dtype)
    return {"tiny": float(limits.tiny) * 4, "huge": float(limits.max) / 8}.get(draw.values, 1.0)


def steps(draw, shape, kind, form, affine):
    """(scale, zero_point): so that most numbers lie within the format, and some do not."""
    wanted = scales_shape(shape, *granularity(kind, shape))
    reach = 2.0 * _typical(draw)  # of a normal number one in twenty lies beyond
    top = form.highest if form.lowest else form.highest / 2
    numbers = draw.random.uniform(0.5, 1.5, wanted) * reach / top
    scale = np.maximum(np.asarray(numbers, draw.dtype), np.finfo(draw.dtype).tiny)
    zero = draw.random.integers(form.lowest, form.highest, wanted, np.int32, endpoint=True) if affine else None
    if not wanted:
        return float(scale), None if zero is None else int(zero)
    lay = Draw(draw.dtype, draw.layout)
    return lay._laid_out(wanted, lambda shape: _filled(shape, scale)), zero


def _filled(shape, values):
    """The values, in an array that may be larger than they are."""
    return np.resize(values.reshape(-1), shape) if values.size else np.ones(shape, values.dtype)


def _quantize_arguments(draw, *shape):
    dtype, kind, affine = draw.one_of(CHOICES)
    return (draw.array(*shape), *steps(draw, shape, kind, FORMATS[dtype], affine), dtype, *granularity(kind, shape))


def near_a_tie(x, dtype, eps):
    """Where a quotient that is rounded as float32 rounds it may pass the middle between two codes."""
    form, error = FORMATS[dtype], 2 * eps * np.abs(x) + np.finfo(np.float32).tiny
    if form.whole:
        return np.abs(np.abs(x - np.floor(x)) - 0.5) <= error
    bounds = form.bounds.astype(np.float64)
    size = x if dtype == "nf4" else np.abs(x)
    after = np.clip(np.searchsorted(bounds, size), 1, bounds.size - 1)
    return np.minimum(np.abs(bounds[after] - size), np.abs(bounds[after - 1] - size)) <= error + 2 * eps * np.abs(size)


def _quantize_error(arguments, expected, eps):
    input, scale, _, dtype, axis, group_size = arguments
    x = reference.quotients(input, scale, axis, group_size)
    near = near_a_tie(np.where(np.isfinite(x), x, 0), dtype, np.finfo(np.float32).eps)
    if not FORMATS[dtype].packed:
        return near.astype(np.int64)
    near = near.astype(np.int64)
    if near.shape[-1] % 2:
        near = np.concatenate([near, np.zeros_like(near[..., :1])], -1)
    return near[..., ::2] + 16 * near[..., 1::2] + 15 * (near[..., ::2] > 0)  # -1 is 15 in four bits


QUANTIZE = Examples(_quantize_arguments, _quantize_error, SHAPES, LARGE, TIMED, dtypes=("float32",), seeds=len(CHOICES))


def _dequantize_arguments(draw, *shape):
    dtype, kind, affine = draw.one_of(CHOICES)
    form = FORMATS[dtype]
    scale, zero = steps(draw, shape, kind, form, affine)
    odd = shape[-1] % 2
    width = form.width(shape[-1])
    bits = np.asarray(draw.random.integers(0, 256, (*shape[:-1], width), np.uint8))
    if form.packed and odd:
        bits[..., -1] &= 15
    lay = Draw("float32", draw.layout)
    codes = lay._laid_out(bits.shape, lambda shape: _filled(shape, bits).view(form.dtype))
    if form.packed and odd:
        codes = codes if not codes.size else _half_empty(codes)
    return codes, scale, zero, dtype, *granularity(kind, shape), shape[-1] if form.packed else None


def _half_empty(codes):
    """The same array, whose last byte of a row has one code."""
    read_only = not codes.flags.writeable
    codes.flags.writeable = True
    codes[..., -1] &= 15
    codes.flags.writeable = not read_only
    return codes


def _dequantize_error(arguments, expected, eps):
    finite = np.where(np.isfinite(expected), expected, 0)
    return 2 * np.finfo(np.float32).eps * np.abs(finite)


DEQUANTIZE = Examples(
    _dequantize_arguments,
    _dequantize_error,
    SHAPES,
    LARGE,
    TIMED,
    dtypes=("float32",),
    values=("normal", "tiny", "huge"),
    seeds=len(CHOICES),
)

QPARAMS = [(dtype, kind, not affine) for dtype, kind, affine in CHOICES if affine or dtype != "uint8"]


def _qparams_arguments(draw, *shape):
    dtype, kind, symmetric = draw.one_of(QPARAMS)
    return draw.array(*shape), dtype, *granularity(kind, shape), symmetric


def _qparams_error(arguments, expected, eps):
    """A quotient of a rounded sum; a zero point that was near the middle of two numbers."""
    eps = np.finfo(np.float32).eps
    scale, zero = expected
    of_scale = 4 * eps * np.abs(np.where(np.isfinite(scale), scale, 0))
    return (of_scale,) if zero is None else (of_scale, np.ones(np.shape(zero)))


CHOOSE_QPARAMS = Examples(
    _qparams_arguments, _qparams_error, SHAPES, LARGE, TIMED, dtypes=("float32",), seeds=len(QPARAMS)
)

FAKE = [(dtype, kind, affine) for dtype, kind, affine in CHOICES if FORMATS[dtype].whole]


def _fake_arguments(draw, *shape):
    dtype, kind, affine = draw.one_of(FAKE)
    form = FORMATS[dtype]
    scale, zero = steps(draw, shape, kind, form, affine)
    return draw.array(*shape), scale, zero, int(form.lowest), int(form.highest), *granularity(kind, shape)


def _fake_near(arguments, eps):
    input, scale, _, _, _, axis, group_size = arguments
    x = reference.quotients(input, scale, axis, group_size)
    step = np.asarray(reference.spread(scale, np.shape(input), axis, group_size), np.float64)
    return near_a_tie(np.where(np.isfinite(x), x, 0), "int8", eps), step


def _fake_error(arguments, expected, eps):
    near, step = _fake_near(arguments, eps)
    return near * step + 2 * eps * np.abs(expected)


FAKE_QUANTIZE = Examples(_fake_arguments, _fake_error, SHAPES, LARGE, TIMED, seeds=len(FAKE))


def _fake_gradient_arguments(draw, *shape):
    input, *rest = _fake_arguments(draw, *shape)
    return draw.array(*shape), input, *rest


def _fake_gradient_error(arguments, expected, eps):
    """All of a number, where it is not clear whether its code was clipped."""
    near, _ = _fake_near(arguments[1:], eps)
    grad = np.asarray(arguments[0], np.float64)
    return near * np.abs(np.where(np.isfinite(grad), grad, 0))


FAKE_QUANTIZE_BACKWARD = Examples(_fake_gradient_arguments, _fake_gradient_error, SHAPES, LARGE, TIMED, seeds=len(FAKE))


# ---- layers: a size is (..., out, in), the input (..., in) -----------------------------------------------------------

# One, less than a vector of bytes, groups with a rest, an odd number of inputs, rows that are not the last four.
LAYERS = (
    (1, 1, 1),
    (2, 5, 7),
    (3, 9, 40),
    (1, 17, 130),
    (2, 4, 96),
    (2, 3, 6, 33),
    (2, 2),
    (0, 3, 4),
    (2, 0, 4),
    (2, 3, 0),
)
LARGE_LAYERS = ((1, 515, 301), (3, 40, 1100), (2, 70, 1025), (1, 1, 70_001), (2, 5, 64, 320))
TIMED_LAYERS = ((1, 1024, 1024), (1, 4096, 4096), (4, 4096, 4096))


def _layer(draw, shape):
    """(input, out, in, bias or None)."""
    *rows, outputs, length = shape
    bias = draw.array(outputs) if draw.seed % 2 else None
    return draw.array(*rows, length), outputs, length, bias


def _bytes(draw, shape, length):
    """Packed codes, of a row of that length."""
    bits = np.asarray(draw.random.integers(0, 256, shape, np.uint8))
    if length % 2:
        bits[..., -1:] &= 15
    return Draw("float32", draw.layout)._laid_out(shape, lambda shape: _filled(shape, bits))


INT4 = [(group, affine) for affine in (False, True) for group in (None, 6, 32, 64)]


def _int4_arguments(draw, *shape):
    group, affine = INT4[draw.seed // 2 % len(INT4)]
    input, outputs, length, bias = _layer(draw, shape)
    weight = _bytes(draw, (outputs, (length + 1) // 2), length)
    wanted = scales_shape((outputs, length), None, group or max(length + length % 2, 2))
    scale = np.asarray(draw.random.uniform(0.01, 0.2, wanted), np.float32)
    zero = draw.random.integers(-8, 7, wanted, np.int32, endpoint=True) if affine else None
    return input, weight, scale, zero, bias, group


def _sum_error(input, weight, bias, more=0):
    """Of a sum of rounded products, whatever the order of the additions (Higham, section 3.5)."""
    x, w = np.abs(np.asarray(input, np.float64)), np.abs(weight)
    x = np.where(np.isfinite(x), x, 0)
    size = x @ w.T + (0 if bias is None else np.abs(np.asarray(bias, np.float64)))
    return (x.shape[-1] + 6 + more) * np.finfo(np.float32).eps * size


def _int4_error(arguments, expected, eps):
    """Codes and zero points are multiplied by inputs apart: the sum is of both."""
    input, weight, scale, zero, bias, group = arguments
    length = np.shape(input)[-1]
    rest = {"group_size": group or max(length + length % 2, 2), "length": length}
    numbers = np.abs(reference.dequantize(weight, scale, None, "int4", **rest))
    if zero is not None:
        numbers = numbers + np.abs(
            reference.spread(scale * np.float64(zero), (len(weight), length), None, rest["group_size"])
        )
    bias = None if bias is None else np.where(np.isfinite(bias), bias, 0)
    return _sum_error(input, numbers, bias)


LINEAR_INT4 = Examples(
    _int4_arguments,
    _int4_error,
    LAYERS,
    LARGE_LAYERS,
    TIMED_LAYERS,
    dtypes=("float32",),
    values=("normal", "tiny"),
    seeds=2 * len(INT4),
)

CODEBOOK = [(levels, scaled) for levels in (16, 5, 200) for scaled in (False, True)]


def _codebook_arguments(draw, *shape):
    levels, scaled = CODEBOOK[draw.seed // 2 % len(CODEBOOK)]
    input, outputs, length, bias = _layer(draw, shape)
    packed = levels <= 16 and draw.seed % 4 < 3
    indices = np.asarray(draw.random.integers(0, levels, (outputs, length), np.uint8))
    bytes = pack(indices) if packed else indices
    weight = Draw("float32", draw.layout)._laid_out(bytes.shape, lambda shape: _filled(shape, bytes))
    wanted = scales_shape((outputs, length), None, GROUP)
    scale = np.asarray(draw.random.uniform(0.5, 2, wanted), np.float32) if scaled else None
    return input, weight, draw.array(levels, scale=1.0), bias, scale, GROUP if scaled else None


def _codebook_error(arguments, expected, eps):
    input, weight, codebook, bias, scale, group = arguments
    length = np.shape(input)[-1]
    packed = len(codebook) <= 16 and weight.shape[-1] != length
    numbers = np.asarray(codebook, np.float64)[unpack(weight, length, signed=False) if packed else weight]
    if scale is not None:
        numbers = numbers * np.abs(reference.spread(scale, numbers.shape, group_size=group))
    return _sum_error(input, numbers, bias)


LINEAR_CODEBOOK = Examples(
    _codebook_arguments,
    _codebook_error,
    LAYERS,
    LARGE_LAYERS,
    TIMED_LAYERS,
    dtypes=("float32",),
    values=("normal", "tiny"),
    seeds=2 * len(CODEBOOK),
)


def _hashed_arguments(draw, *shape):
    input, outputs, _, bias = _layer(draw, shape)
    return input, draw.array(draw.one_of((1, 7, 40))), outputs, bias, draw.one_of((0, 5, 2**32 - 1))


def _hashed_error(arguments, expected, eps):
    input, weight, outputs, bias, seed = arguments
    index, _ = reference.places(len(weight), outputs, np.shape(input)[-1], seed)
    return _sum_error(input, np.asarray(weight, np.float64)[index], bias) * (eps / np.finfo(np.float32).eps)


LINEAR_HASHED = Examples(
    _hashed_arguments, _hashed_error, LAYERS, LARGE_LAYERS, TIMED_LAYERS, values=("normal", "tiny"), seeds=6
)


def _hashed_gradient_arguments(draw, *shape):
    input, *rest = _hashed_arguments(draw, *shape)
    return draw.array(*shape[:-1]), input, *rest


def _hashed_gradient_error(arguments, expected, eps):
    """Sums of products; of a shared weight over all places where it stands."""
    grad, input, weight, outputs, bias, seed = arguments
    sizes = [np.abs(np.asarray(x, np.float64)) for x in (grad, input, weight)]
    index, _ = reference.places(len(weight), outputs, np.shape(input)[-1], seed)
    rows = math.prod(input.shape[:-1])
    g, x, of_weight = sizes[0].reshape(rows, outputs), sizes[1].reshape(rows, input.shape[-1]), np.zeros(len(weight))
    np.add.at(of_weight, index, g.T @ x)
    of_input = (g @ sizes[2][index]).reshape(input.shape)
    bounds = (of_input * (outputs + 2), of_weight * (index.size + rows + 2), g.sum(axis=0) * (rows + 2))
    return tuple(eps * bound for bound in (bounds if bias is not None else bounds[:2]))


LINEAR_HASHED_BACKWARD = Examples(
    _hashed_gradient_arguments, _hashed_gradient_error, LAYERS, LARGE_LAYERS, TIMED_LAYERS, values=("normal",), seeds=6
)


def _low_rank_arguments(draw, *shape):
    input, outputs, length, bias = _layer(draw, shape)
    rank = draw.one_of((1, 4, 19, 0))
    return input, draw.array(outputs, rank), draw.array(rank, length), bias


def _low_rank_error(arguments, expected, eps):
    input, u, v, bias = arguments
    x, u, v = (np.abs(np.asarray(array, np.float64)) for array in (input, u, v))
    size = (x @ v.T) @ u.T + (0 if bias is None else np.abs(np.asarray(bias, np.float64)))
    return (x.shape[-1] + u.shape[1] + 6) * eps * size


LINEAR_LOW_RANK = Examples(
    _low_rank_arguments,
    _low_rank_error,
    LAYERS,
    (*LARGE_LAYERS, (12, 300, 400)),
    TIMED_LAYERS,
    values=("normal",),
    seeds=8,
)
