"""Examples of quantisation. A size is the shape of what is quantised.

Codes are exact but for one thing: a quotient that float32 rounds to the middle between two codes may go either way.
There the neighbour is allowed.
"""

import numpy as np

from ..examples import Draw, Examples
from . import reference
from .formats import FORMATS
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
    at = x if dtype == "nf4" else np.abs(x)
    after = np.clip(np.searchsorted(bounds, at), 1, bounds.size - 1)
    return np.minimum(np.abs(bounds[after] - at), np.abs(bounds[after - 1] - at)) <= error + 2 * eps * np.abs(at)


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


QUANTIZE = Examples(
    _quantize_arguments, _quantize_error, SHAPES, LARGE, TIMED, dtypes=("float32",), seeds=len(CHOICES)
)  # fmt: skip


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
    _dequantize_arguments, _dequantize_error, SHAPES, LARGE, TIMED, dtypes=("float32",),
    values=("normal", "tiny", "huge"), seeds=len(CHOICES),
)  # fmt: skip

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
)  # fmt: skip

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


FAKE_QUANTIZE = Examples(
    _fake_arguments, _fake_error, SHAPES, LARGE, TIMED, seeds=len(FAKE)
)  # fmt: skip


def _fake_gradient_arguments(draw, *shape):
    input, *rest = _fake_arguments(draw, *shape)
    return draw.array(*shape), input, *rest


def _fake_gradient_error(arguments, expected, eps):
    """All of a number, where it is not clear whether its code was clipped."""
    near, _ = _fake_near(arguments[1:], eps)
    grad = np.asarray(arguments[0], np.float64)
    return near * np.abs(np.where(np.isfinite(grad), grad, 0))


FAKE_QUANTIZE_BACKWARD = Examples(
    _fake_gradient_arguments, _fake_gradient_error, SHAPES, LARGE, TIMED, seeds=len(FAKE)
)  # fmt: skip
