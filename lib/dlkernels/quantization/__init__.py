"""Quantisation: numbers in eight or four bits, and layers whose weights are stored in few bytes.

    code = clip(round(x / scale) + zero_point)          x is nearly scale * (code - zero_point)

Names are PyTorch's where it has one. Scales are float32 and positive: one for all numbers, one for each index of
`axis`, or one for `group_size` neighbours of the last axis. Arrays of any strides, in host or device memory. Nothing
changes its inputs. Wrong arguments raise ValueError or TypeError.

Its files, in reading order:

formats.py        what each code stands for: whole numbers, float8, nf4      reference.py   the specification in NumPy
runs.py           which scale belongs to which numbers                       examples.py    what can be called with what
cpu_codes.py      quantize and dequantize on the CPU                         gpu_codes.py   on a GPU
cpu_ranges.py     choose_qparams: scale and zero point of a range            gpu_ranges.py
cpu_fake.py       fake_quantize and its straight-through backward            gpu_fake.py
cpu_int4.py       linear_int4: a layer whose weight has four bits            gpu_int4.py
hashing.py        which shared weight stands where
cpu_layers.py     linear_codebook, linear_hashed, linear_low_rank            gpu_layers.py
"""

import numbers

import numpy as np

from ..arguments import FLOATS, check_gradient, float_array, one_place, same
from ..device import is_device_array
from ..host import new
from ..implementations import call, operation
from ..launches import device_array
from ..matrix import linear, linear_backward
from . import examples, reference
from .formats import FORMATS, pack, unpack  # noqa: F401
from .runs import runs, scales_shape

FLOAT32 = FLOATS[0]
CODES = (np.dtype("int8"), np.dtype("uint8"))


def _format(dtype):
    if not isinstance(dtype, str) or dtype not in FORMATS:
        raise ValueError(f"dtype is {dtype!r}; expected one of {', '.join(map(repr, FORMATS))}.")
    return FORMATS[dtype]


def _whole(name, value, least, most=None):
    if isinstance(value, bool) or not isinstance(value, numbers.Integral):
        raise TypeError(f"{name} is {value!r}; expected a whole number.")
    if value < least or (most is not None and value > most):
        wanted = f"from {least} to {most}" if most is not None else f"of at least {least}"
        raise ValueError(f"{name} is {value}; expected a number {wanted}.")
    return int(value)


def _check_granularity(shape, axis, group_size):
    if axis is not None and group_size is not None:
        raise ValueError(f"axis is {axis} and group_size is {group_size}; expected one of them at most.")
    if (axis is not None or group_size is not None) and not shape:
        raise ValueError(
            "input is a single number; expected an array of at least one dimension for axis or group_size."
        )
    if axis is not None:
        _whole("axis", axis, -len(shape), len(shape) - 1)
    if group_size is not None:
        _whole("group_size", group_size, 1)


def _for_each(name, values, shape, dtype, **beside):
    """An array of `dtype` and that shape, where the array `beside` it lies; of one number a line of one."""
    ((label, x),) = beside.items()
    if isinstance(values, numbers.Real) and not isinstance(values, bool | np.ndarray):
        if shape:
            raise TypeError(f"{name} is one number; expected an array of {dtype} of shape {shape}.")
        if dtype.kind == "i":
            _whole(name, values, -(2**31), 2**31 - 1)
        return np.full(1, values, dtype)
    float_array(name, values, (dtype,))
    if tuple(values.shape) != tuple(shape):
        raise ValueError(f"{name} has shape {tuple(values.shape)}; expected {tuple(shape)}.")
    if shape:
        one_place(**{name: values, label: x})
    return values if shape else values.reshape(1)


def _check_in_host_memory(name, values, least, most, wanted):
    """Each of these within limits; what lies in device memory is not looked at."""
    if isinstance(values, np.ndarray) and values.size and not (values.min() >= least and values.max() <= most):
        raise ValueError(f"{name} has numbers from {values.min()} to {values.max()}; expected {wanted}.")


def _steps(scale, zero_point, shape, axis, group_size, ends, dtype=FLOAT32, **beside):
    """(scales, zero points) as rungs take them, after checks; ends: between which a zero point has to lie, or None."""
    _check_granularity(shape, axis, group_size)
    wanted = scales_shape(shape, axis, group_size)
    scale = _for_each("scale", scale, wanted, dtype, **beside)
    _check_in_host_memory("scale", scale, np.finfo(dtype).smallest_subnormal, np.inf, "positive numbers")
    if zero_point is None:
        return scale, np.zeros(1, np.int32)
    if ends is None:
        raise ValueError(
            "zero_point is given; expected None: a format that is no range of whole numbers has its own zero."
        )
    zero = _for_each("zero_point", zero_point, wanted, np.dtype(np.int32), **beside)
    _check_in_host_memory("zero_point", zero, *ends, f"numbers from {ends[0]} to {ends[1]}")
    return scale, zero


def _ends(form):
    return (form.lowest, form.highest) if form.whole else None


def _empty(shape, dtype, like):
    return device_array(shape, dtype) if is_device_array(like) else new(shape, dtype)


@operation(
    "quantize", reference.quantize, examples.QUANTIZE, no_backward="a code is a whole number; fake_quantize has one"
)
def _prepare_quantize(input, scale, zero_point=None, dtype="int8", axis=None, group_size=None):
    form = _format(dtype)
    float_array("input", input, (FLOAT32,))
    shape = tuple(input.shape)
    steps = _steps(scale, zero_point, shape, axis, group_size, _ends(form), input=input)
    if form.packed and not shape:
        raise ValueError(f"input is a single number; expected an array: {dtype} packs two codes in a byte.")
    out = _empty((*shape[:-1], form.width(shape[-1])) if shape else (), form.dtype, input)
    return dtype, runs(shape, axis, group_size, form.packed), input, *steps, out


@operation(
    "dequantize",
    reference.dequantize,
    examples.DEQUANTIZE,
    no_backward="codes are whole numbers; fake_quantize has one",
)
def _prepare_dequantize(codes, scale, zero_point=None, dtype="int8", axis=None, group_size=None, length=None):
    form = _format(dtype)
    float_array("codes", codes, (form.dtype,))
    shape = tuple(codes.shape)
    if form.packed:
        if not shape:
            raise ValueError(f"codes is a single number; expected an array: {dtype} packs two codes in a byte.")
        most = 2 * shape[-1]
        length = most if length is None else _whole("length", length, max(most - 1, 0), most)
        shape = (*shape[:-1], length)
    elif length is not None:
        raise ValueError(f"length is {length}; expected None: only packed codes have a byte that may be half empty.")
    steps = _steps(scale, zero_point, shape, axis, group_size, _ends(form), codes=codes)
    return dtype, runs(shape, axis, group_size, form.packed), codes, *steps, _empty(shape, FLOAT32, codes)


@operation(
    "choose_qparams",
    reference.choose_qparams,
    examples.CHOOSE_QPARAMS,
    results=("scale", "zero_point"),
    no_backward="a scale is a constant of what follows",
)
def _prepare_choose_qparams(input, dtype="int8", axis=None, group_size=None, symmetric=True):
    form = _format(dtype)
    if not isinstance(symmetric, bool):
        raise TypeError(f"symmetric is {symmetric!r}; expected True or False.")
    if symmetric and form.lowest == 0:
        raise ValueError(
            "symmetric is True and dtype is 'uint8', whose zero lies at its end; expected symmetric=False."
        )
    if not symmetric and not form.whole:
        raise ValueError(f"symmetric is False; expected True: {dtype} has no zero point.")
    float_array("input", input, (FLOAT32,))
    shape = tuple(input.shape)
    _check_granularity(shape, axis, group_size)
    return dtype, symmetric, runs(shape, axis, group_size), scales_shape(shape, axis, group_size), input


def _check_fake(input, scale, zero_point, quant_min, quant_max, axis, group_size):
    float_array("input", input)
    least, most = (
        _whole(name, value, -(2**22), 2**22) for name, value in (("quant_min", quant_min), ("quant_max", quant_max))
    )
    if least > most:
        raise ValueError(f"quant_min is {least} and quant_max is {most}; expected quant_min <= quant_max.")
    shape, ends = tuple(input.shape), (least, most)
    steps = _steps(scale, zero_point, shape, axis, group_size, ends, input.dtype, input=input)
    return runs(shape, axis, group_size), *ends, *steps


@operation(
    "fake_quantize",
    reference.fake_quantize,
    examples.FAKE_QUANTIZE,
    constants=("scale",),
    slope_of=reference.not_clipped,
)
def _prepare_fake_quantize(input, scale, zero_point=None, quant_min=-128, quant_max=127, axis=None, group_size=None):
    checked = _check_fake(input, scale, zero_point, quant_min, quant_max, axis, group_size)
    return *checked, input, _empty(tuple(input.shape), input.dtype, input)


@operation(
    "fake_quantize_backward",
    reference.fake_quantize_backward,
    examples.FAKE_QUANTIZE_BACKWARD,
    backward_of="fake_quantize",
)
def _prepare_fake_quantize_backward(
    grad, input, scale, zero_point=None, quant_min=-128, quant_max=127, axis=None, group_size=None
):
    checked = _check_fake(input, scale, zero_point, quant_min, quant_max, axis, group_size)
    check_gradient(grad, input.shape, input=input)
    return *checked, input, grad, _empty(tuple(input.shape), input.dtype, input)


# ---- layers whose weights have few bits ------------------------------------------------------------------------------


def _check_layer(input, weight, bias, width):
    """The shape of the layer's result. width: of a row of weight, for so many inputs."""
    float_array("input", input, (FLOAT32,))
    arrays = {"input": input, "weight": weight} | ({} if bias is None else {"bias": bias})
    one_place(**arrays)
    if input.ndim < 1 or weight.ndim != 2 or weight.shape[1] != width(input.shape[-1]):
        raise ValueError(
            f"weight has shape {tuple(weight.shape)} and input has shape {tuple(input.shape)}; expected input of shape "
            "(..., in) and weight of shape (out, in), where two codes of four bits are one byte."
        )
    if bias is not None:
        float_array("bias", bias, (FLOAT32,))
        if tuple(bias.shape) != tuple(weight.shape[:1]):
            raise ValueError(f"bias has shape {tuple(bias.shape)}; expected {tuple(weight.shape[:1])}.")
    return (*input.shape[:-1], weight.shape[0])


@operation(
    "linear_int4",
    reference.linear_int4,
    examples.LINEAR_INT4,
    no_backward="its weight is codes; linear of what dequantize makes of them has one",
)
def _prepare_linear_int4(input, weight, scale, zero_point=None, bias=None, group_size=None):
    float_array("weight", weight, (CODES[1],))
    shape, form = _check_layer(input, weight, bias, FORMATS["int4"].width), FORMATS["int4"]
    length = input.shape[-1]
    if group_size is None:
        group_size = max(length + length % 2, 2)
    elif _whole("group_size", group_size, 2) % 2:
        raise ValueError(f"group_size is {group_size}; expected an even number: two codes share a byte, and a scale.")
    wanted = (weight.shape[0], length)
    float_array("scale", scale, (FLOAT32,))
    scale, zero = _steps(scale, zero_point, wanted, None, group_size, _ends(form), input=input)
    zero = None if zero_point is None else zero
    return group_size, bias, input, weight, scale, zero, _empty(shape, FLOAT32, input)


@operation(
    "linear_codebook",
    reference.linear_codebook,
    examples.LINEAR_CODEBOOK,
    no_backward="its weight is indices; linear of codebook[weight] has one",
)
def _prepare_linear_codebook(input, weight, codebook, bias=None, scale=None, group_size=None):
    float_array("weight", weight, (CODES[1],))
    float_array("codebook", codebook, (FLOAT32,))
    if codebook.ndim != 1 or not 1 <= codebook.shape[0] <= 256:
        raise ValueError(f"codebook has shape {tuple(codebook.shape)}; expected (levels,), from 1 to 256 of them.")
    packed = codebook.shape[0] <= 16 and input.ndim > 0 and weight.shape[-1:] != tuple(input.shape[-1:])
    shape = _check_layer(input, weight, bias, FORMATS["int4"].width if packed else int)
    one_place(input=input, codebook=codebook)
    length = input.shape[-1]
    if (group_size is None) is not (scale is None):
        raise ValueError(
            f"group_size is {group_size}, scale is a {type(scale).__name__}; expected both, or None twice."
        )
    if scale is not None:
        scale, _ = _steps(scale, None, (weight.shape[0], length), None, group_size, None, input=input)
    return bias, input, weight, codebook, packed, scale, group_size or max(length, 1), _empty(shape, FLOAT32, input)


def _check_hashed(input, weight, out_features, bias, seed):
    """The shape of the layer's result."""
    arrays = {"input": input, "weight": weight} | ({} if bias is None else {"bias": bias})
    for name, array in arrays.items():
        float_array(name, array)
    one_place(**arrays)
    same("dtype", **arrays)
    _whole("out_features", out_features, 0, 2**31 - 1)
    _whole("seed", seed, 0, 2**32 - 1)
    if input.ndim < 1:
        raise ValueError("input is a single number; expected an array of shape (..., in).")
    if weight.ndim != 1 or (not weight.size and input.shape[-1] and out_features):
        raise ValueError(f"weight has shape {tuple(weight.shape)}; expected (shared,), one weight at least.")
    if bias is not None and tuple(bias.shape) != (out_features,):
        raise ValueError(f"bias has shape {tuple(bias.shape)}; expected {(out_features,)}.")
    return (*input.shape[:-1], int(out_features))


@operation("linear_hashed", reference.linear_hashed, examples.LINEAR_HASHED)
def _prepare_linear_hashed(input, weight, out_features, bias=None, seed=0):
    shape = _check_hashed(input, weight, out_features, bias, seed)
    return bias, input, weight, int(seed), _empty(shape, input.dtype, input)


@operation(
    "linear_hashed_backward",
    reference.linear_hashed_backward,
    examples.LINEAR_HASHED_BACKWARD,
    backward_of="linear_hashed",
)
def _prepare_linear_hashed_backward(grad, input, weight, out_features, bias=None, seed=0):
    check_gradient(grad, _check_hashed(input, weight, out_features, bias, seed), input=input)
    return int(seed), bias, grad, input, weight


def _low_rank_backward(grad, input, u, v, bias=None):
    of_hidden, of_u, *of_bias = linear_backward(grad, linear(input, v), u, bias)
    of_input, of_v = linear_backward(of_hidden, input, v)
    return {"input": of_input, "u": of_u, "v": of_v} | ({"bias": of_bias[0]} if of_bias else {})


@operation("linear_low_rank", reference.linear_low_rank, examples.LINEAR_LOW_RANK, backward=_low_rank_backward)
def _prepare_linear_low_rank(input, u, v, bias=None):
    arrays = {"input": input, "u": u, "v": v} | ({} if bias is None else {"bias": bias})
    for name, array in arrays.items():
        float_array(name, array)
    one_place(**arrays)
    same("dtype", **arrays)
    if u.ndim != 2 or v.ndim != 2 or input.ndim < 1 or u.shape[1] != v.shape[0] or v.shape[1] != input.shape[-1]:
        raise ValueError(
            f"u has shape {tuple(u.shape)}, v has shape {tuple(v.shape)} and input has shape {tuple(input.shape)}; "
            "expected (out, rank), (rank, in) and (..., in)."
        )
    if bias is not None and tuple(bias.shape) != tuple(u.shape[:1]):
        raise ValueError(f"bias has shape {tuple(bias.shape)}; expected {tuple(u.shape[:1])}.")
    return bias, input, u, v, _empty((*input.shape[:-1], u.shape[0]), input.dtype, input)


from . import (  # noqa: E402
    cpu_codes,  # noqa: F401
    cpu_fake,  # noqa: F401
    cpu_int4,  # noqa: F401
    cpu_layers,  # noqa: F401
    cpu_ranges,  # noqa: F401
    gpu_codes,  # noqa: F401
    gpu_fake,  # noqa: F401
    gpu_int4,  # noqa: F401
    gpu_layers,  # noqa: F401
    gpu_ranges,  # noqa: F401
)

# ---- what is called -------------------------------------------------------------------------------------------------


def quantize(input, scale, zero_point=None, dtype="int8", axis=None, group_size=None):
    """The codes of input: round(input / scale) + zero_point, ties to even; what lies outside goes to the end.

    input: float32, any shape. dtype: "int8", "uint8", "int4", "e4m3", "e5m2" or "nf4" (formats.py says what they are).
    scale: float32, positive: one number; with `axis`, one for each of its indices; with `group_size`, (..., ceil(n /
    group_size)), one for so many neighbours of the last axis, n numbers long. zero_point: int32, of the shape of scale,
    or None for 0; of "int8", "uint8" and "int4" only.
    A new array: int8 for "int8", else uint8; of four bits (..., ceil(n / 2)), two codes in a byte, the even one low.

    As torch.quantize_per_tensor and quantize_per_channel, but that input is divided by scale, not multiplied by its
    reciprocal, and that an odd zero point does not change where ties go (theirs is added before they round). NaN
    becomes the highest code, as with quantize_per_tensor (quantize_per_channel makes 0 of it); of a float8 its NaN,
    with its sign; of nf4 code 0. Infinities become the ends, also of "e5m2".
    """
    return call("quantize", input, scale, zero_point, dtype, axis, group_size)


def dequantize(codes, scale, zero_point=None, dtype="int8", axis=None, group_size=None, length=None):
    """scale * (what each code stands for - zero_point), a new float32 array.

    codes: as `quantize` makes them; all else as there. length: how many numbers a row of packed codes has, where
    they are odd; None: two for each byte.
    """
    return call("dequantize", codes, scale, zero_point, dtype, axis, group_size, length)


def choose_qparams(input, dtype="int8", axis=None, group_size=None, symmetric=True):
    """(scale, zero_point) with which the least and the largest number of input just fit, for `quantize`.

    symmetric: 0 has code 0 and zero_point is None: scale = largest |x| / highest code. Else scale = (largest - least) /
    (codes - 1), both taken with 0, so that 0 has a code: zero_point, int32. scale is float32, of the shape that
    `quantize` takes; where all is 0, it is 1. NaN in input makes its scale NaN.
    """
    return call("choose_qparams", input, dtype, axis, group_size, symmetric)


def fake_quantize(input, scale, zero_point=None, quant_min=-128, quant_max=127, axis=None, group_size=None):
    """What is left of input after quantize and dequantize, in floating point, for training that knows of it.

    (clip(round(input / scale) + zero_point, quant_min, quant_max) - zero_point) * scale, as
    torch.fake_quantize_per_tensor_affine and, with `axis`, fake_quantize_per_channel_affine; input is divided by scale,
    not multiplied by its reciprocal. NaN becomes the lowest number, as there.
    input: float32 or float64, any shape; scale: of its dtype; zero_point: int32, from quant_min to quant_max, or None.
    Its gradient goes straight through where nothing was clipped; scale has none.
    """
    return call("fake_quantize", input, scale, zero_point, quant_min, quant_max, axis, group_size)


def fake_quantize_backward(
    grad, input, scale, zero_point=None, quant_min=-128, quant_max=127, axis=None, group_size=None
):
    """The gradient of input, given `grad`, the one with respect to fake_quantize(input, ...).

    It is grad where the rounded code lies from quant_min to quant_max, else 0: the straight-through estimator (Bengio,
    Leonard and Courville, Estimating or propagating gradients through stochastic neurons, 2013).
    """
    return call("fake_quantize_backward", grad, input, scale, zero_point, quant_min, quant_max, axis, group_size)


def linear_int4(input, weight, scale, zero_point=None, bias=None, group_size=None):
    """input W^T + bias, where W = dequantize(weight, scale, zero_point, "int4", group_size=group_size) is never stored.

    input: (..., in), float32; for few rows, as when a language model writes one word after the other.
    weight: (out, ceil(in / 2)), uint8, two codes from -8 to 7 in a byte, the even one low.
    scale: (out, ceil(in / group_size)), float32. zero_point: int32, of the shape of scale, or None for 0.
    group_size: how many neighbours have a scale, even; None: all of a row. bias: (out,) or None.
    A new array (..., out), float32.
    """
    return call("linear_int4", input, weight, scale, zero_point, bias, group_size)


def linear_codebook(input, weight, codebook, bias=None, scale=None, group_size=None):
    """input W^T + bias, where W = codebook[weight]: a layer whose weights share few levels, as k-means finds them.

    input: (..., in), float32. codebook: (levels,), float32, 256 at most. weight: (out, in), uint8, indices of the
    codebook; of 16 levels or less also (out, ceil(in / 2)), two in a byte, the even one low. An index behind the last
    level is NaN. scale: (out, ceil(in / group_size)), float32: W is multiplied by it, as for "nf4", whose codebook is
    FORMATS["nf4"].levels. bias: (out,) or None. A new array (..., out).
    (Han, Mao and Dally, Deep compression, 2016.)
    """
    return call("linear_codebook", input, weight, codebook, bias, scale, group_size)


def linear_hashed(input, weight, out_features, bias=None, seed=0):
    """input W^T + bias, where a hash of row, column and seed says which shared weight W has there, and its sign.

    input: (..., in); weight: (shared,), one dtype, float32 or float64 (on a GPU: float32). out_features: rows of W,
    which is stored nowhere. seed: a whole number below 2^32. bias: (out_features,) or None. A new array
    (..., out_features).
    (Chen and others, Compressing neural networks with the hashing trick, 2015; the hash is that of hashing.py.)
    """
    return call("linear_hashed", input, weight, out_features, bias, seed)


def linear_hashed_backward(grad, input, weight, out_features, bias=None, seed=0):
    """The gradients of input, weight and (if there is one) bias, given `grad`, that of linear_hashed(...).

    That of a shared weight is the sum over all places where it stands.
    """
    return call("linear_hashed_backward", grad, input, weight, out_features, bias, seed)


def linear_low_rank(input, u, v, bias=None):
    """(input V^T) U^T + bias: a layer whose weight is the product U V of two thin matrices.

    input: (..., in), u: (out, rank), v: (rank, in), bias: (out,) or None, one dtype, float32 or float64 (on a GPU:
    float32). A new array (..., out). U V is never formed: multiplications and weights are rank (in + out), not in out.
    """
    return call("linear_low_rank", input, u, v, bias)
