"""Layers of quantised networks: inputs and weights are codes of 8 bits, sums have 32.

A code q stands for scale (q - zero_point); the names are those of PyTorch's quantised tensors. Inputs are uint8 or
int8, weights int8, scales and biases float32; any strides, in host or device memory. A result has the input's dtype,
or is float32 where no `output_scale` is given. Sums are exact, and what follows is PyTorch's arithmetic (FBGEMM's), in
float32 with ties to even: reference.py says it, and every implementation gives the very same codes. Nothing changes
its inputs. Wrong arguments raise ValueError or TypeError.

Its files, in reading order:

reference.py   the specification in NumPy                 examples.py    what each operation can be called with
codes.py       scales, zero points, how many terms fit    packed.py      weights in the order in which they are read

cpu            words.py (four products in each lane: vpdpbusd, and what stands in for it), requantize.py (from sums to
               codes), cpu_linear.py, cpu_conv2d.py (the ladders), planes.py (pictures as planes of words)
gpu            dp4a.py (the instruction, and what stands in for it), gpu_results.py (from sums to codes), gpu_linear.py,
               gpu_conv2d.py (the ladders)

After Jacob et al., Quantization and Training of Neural Networks for Efficient Integer-Arithmetic-Only Inference (CVPR
2018), and Khudia et al., FBGEMM: Enabling High-Performance Low-Precision Deep Learning Inference (2021).
"""

import functools
import numbers

import numpy as np

from ..arguments import float_array, number, one_place
from ..convolution import check_pictures, geometry
from ..device import is_device_array
from ..host import new
from ..implementations import call, operation
from ..launches import constant, device_array
from . import examples, reference
from .codes import LIMITS, longest, quantizer
from .packed import PackedWeight

CODES = tuple(LIMITS)
INT8, FLOAT32, INT32 = (np.dtype(name) for name in ("int8", "float32", "int32"))
TINIEST, LARGEST = float(np.finfo(FLOAT32).smallest_subnormal), float(np.finfo(FLOAT32).max)


def _check_arrays(input, weight, bias, scale, zeros):
    """The codes of the weight, after what does not depend on shapes."""
    float_array("input", input, CODES)
    codes = weight.weight if isinstance(weight, PackedWeight) else weight
    float_array("weight", codes, (INT8,))
    arrays = {"input": input, "weight": codes}
    for name, x, dtype in (
        ("bias", bias, FLOAT32),
        ("weight_scale", scale, FLOAT32),
        ("weight_zero_point", zeros, INT32),
    ):
        if x is not None and not isinstance(x, numbers.Real):
            arrays[name] = float_array(name, x, (dtype,))
    one_place(**arrays)
    for name in list(arrays)[2:]:
        if tuple(arrays[name].shape) != tuple(codes.shape[:1]):
            raise ValueError(
                f"{name} has shape {tuple(arrays[name].shape)}; expected {tuple(codes.shape[:1])}, one number for each "
                "output channel."
            )
    return codes


def _zero_point(name, value, dtype):
    if isinstance(value, bool) or not isinstance(value, numbers.Integral):
        raise TypeError(f"{name} is {value!r}; expected a whole number.")
    least, most = LIMITS[dtype]
    if not least <= value <= most:
        raise ValueError(f"{name} is {value}; expected a code of {dtype}, {least} to {most}.")
    return int(value)


def _scale(name, value):
    """Every scale is a positive number, and finite in float32."""
    scale = number(name, value, FLOAT32)
    if not (0 < scale < np.inf):
        raise ValueError(f"{name} is {value}; expected a number above 0.")
    return scale


def _prepare_numbers(
    input, channels, terms, input_scale, input_zero, scale, zeros, output_scale, output_zero, activation
):
    """(scale and zero point for each channel, or None for zeros; the `Quantizer`; the result's dtype)."""
    dtype, there = input.dtype, is_device_array(input)
    if isinstance(scale, numbers.Real):
        scale = _scale("weight_scale", scale)
        scale = constant(channels, float(scale)) if there else np.full(channels, scale)
    elif not there and not ((scale > 0) & (scale < np.inf)).all():
        raise ValueError("weight_scale has elements that are not above 0; expected positive numbers.")
    if isinstance(zeros, numbers.Real):
        zeros = _zero_point("weight_zero_point", zeros, INT8)
        zeros = None if zeros == 0 else constant(channels, zeros, INT32) if there else np.full(channels, zeros, INT32)
    elif not there and not ((zeros >= -128) & (zeros <= 127)).all():
        raise ValueError("weight_zero_point has elements beyond the codes of int8; expected -128 to 127.")
    if terms > longest(zeros is not None):
        raise ValueError(
            f"each result is the sum of {terms} products, which might exceed 32 bits; expected at most "
            f"{longest(zeros is not None)}{' where the weight has zero points' if zeros is not None else ''}."
        )
    settings = dtype, input_scale, input_zero, output_scale, output_zero, activation
    try:
        q = _quantizer(*settings)
    except TypeError:  # in words, also of what no cache can keep
        q = _quantizer.__wrapped__(*settings)
    if not there:
        _check_unit(scale, q)
    return scale, zeros, q, FLOAT32 if output_scale is None else dtype


def _check_unit(scale, q):
    """Raise unless float32 holds the product of scales, and that over output_scale: 0 times infinity is no number."""
    unit = scale * np.float64(q.input_scale)
    fits = (unit >= TINIEST) & (unit <= LARGEST * min(1.0, float(q.output_scale)))
    if not fits.all():
        k = int(np.argmin(fits))
        raise ValueError(
            f"in output channel {k} input_scale * weight_scale is {unit[k]:.3g}, and that divided by output_scale "
            f"{unit[k] / q.output_scale:.3g}; expected numbers that float32 can hold, {TINIEST:.2g} to {LARGEST:.2g}."
        )


@functools.lru_cache(maxsize=256, typed=True)  # a layer that is called again need not be checked again
def _quantizer(dtype, input_scale, input_zero, output_scale, output_zero, activation):
    if activation not in (None, "relu"):
        raise ValueError(f"activation is {activation!r}; expected None or 'relu'.")
    input_scale = _scale("input_scale", input_scale)
    input_zero = _zero_point("input_zero_point", input_zero, dtype)
    if output_scale is not None:
        output_scale = _scale("output_scale", output_scale)
        output_zero = _zero_point("output_zero_point", output_zero, dtype)
    return quantizer(dtype, input_scale, input_zero, output_scale, output_zero, activation)


def _result(input, shape, dtype):
    return device_array(shape, dtype) if is_device_array(input) else new(shape, dtype)


@operation(
    "linear_int8",
    reference.linear_int8,
    examples.LINEAR_INT8,
    no_backward="codes have no gradient; linear of the numbers they stand for has one",
)
def _prepare_linear_int8(
    input,
    weight,
    bias=None,
    input_scale=1.0,
    input_zero_point=0,
    weight_scale=1.0,
    weight_zero_point=0,
    output_scale=None,
    output_zero_point=0,
    activation=None,
):
    codes = _check_arrays(input, weight, bias, weight_scale, weight_zero_point)
    if input.ndim < 1 or codes.ndim != 2 or codes.shape[1] != input.shape[input.ndim - 1]:
        raise ValueError(
            f"weight has shape {tuple(codes.shape)} and input has shape {tuple(input.shape)}; expected input of shape "
            "(..., in) and weight of shape (out, in)."
        )
    outs, terms = tuple(codes.shape)
    scale, zeros, q, dtype = _prepare_numbers(
        input, outs, terms, input_scale, input_zero_point, weight_scale, weight_zero_point, output_scale,
        output_zero_point, activation,
    )  # fmt: skip
    return input, weight, bias, scale, zeros, q, _result(input, (*tuple(input.shape)[:-1], outs), dtype)


@operation(
    "conv2d_int8",
    reference.conv2d_int8,
    examples.CONV2D_INT8,
    no_backward="codes have no gradient; conv2d of the numbers they stand for has one",
)
def _prepare_conv2d_int8(
    input,
    weight,
    bias=None,
    stride=1,
    padding=0,
    dilation=1,
    groups=1,
    input_scale=1.0,
    input_zero_point=0,
    weight_scale=1.0,
    weight_zero_point=0,
    output_scale=None,
    output_zero_point=0,
    activation=None,
):
    codes = _check_arrays(input, weight, bias, weight_scale, weight_zero_point)
    check_pictures(input, "input", CODES)
    if isinstance(groups, bool) or not isinstance(groups, numbers.Integral):
        raise TypeError(f"groups is {groups!r}; expected a whole number.")
    if codes.ndim != 4 or 0 in (codes.shape[0], *tuple(codes.shape)[2:]):
        raise ValueError(
            f"weight has shape {tuple(codes.shape)}; expected (out_channels, in_channels / groups, height, width), "
            "with at least one output channel and one pixel."
        )
    (outs, ins, *kernel), channels = tuple(codes.shape), input.shape[input.ndim - 3]
    if groups < 1 or channels != ins * groups or outs % groups:
        raise ValueError(
            f"input has {channels} channels, weight has shape {tuple(codes.shape)} and groups is {groups}; expected "
            f"groups of at least 1 which divide the {outs} output channels, and {ins} input channels for each group."
        )
    if isinstance(weight, PackedWeight) and weight.groups != groups:
        raise ValueError(f"weight is packed for {weight.groups} groups and groups is {groups}; expected the same.")
    g, sizes = geometry.convolution(tuple(input.shape)[-2:], kernel, stride, padding, dilation, int(groups))
    scale, zeros, q, dtype = _prepare_numbers(
        input, outs, ins * kernel[0] * kernel[1], input_scale, input_zero_point, weight_scale, weight_zero_point,
        output_scale, output_zero_point, activation,
    )  # fmt: skip
    return input, weight, bias, scale, zeros, q, g, _result(input, (*tuple(input.shape)[:-3], outs, *sizes), dtype)


from . import cpu_conv2d, cpu_linear, gpu_conv2d, gpu_linear  # noqa: E402, F401


def linear_int8(
    input,
    weight,
    bias=None,
    input_scale=1.0,
    input_zero_point=0,
    weight_scale=1.0,
    weight_zero_point=0,
    output_scale=None,
    output_zero_point=0,
    activation=None,
):
    """The linear layer of a quantised network, as torch.ops.quantized.linear: sums, bias, ReLU, rounding in one pass.

    input: (..., in), uint8 or int8. weight: (out, in), int8, or a `PackedWeight` of such (host memory): who calls a
    layer more than once packs its weight once. bias: (out,), float32, or None.
    input_scale, input_zero_point: what the input's codes stand for. weight_scale: a number, or (out,) float32;
    weight_zero_point: a whole number, or (out,) int32.
    output_scale: that of the result, which is rounded to codes of the input's dtype; None for a result in float32.
    activation: None or "relu". Returns a new array, (..., out).

    Sums are exact: `in` may be 65,793 at most, or 33,025 where the weight has zero points; more might not fit 32 bits.
    Codes are rounded in float32, ties to even, and cut off at the limits of the dtype.
    """
    return call(
        "linear_int8", input, weight, bias, input_scale, input_zero_point, weight_scale, weight_zero_point,
        output_scale, output_zero_point, activation,
    )  # fmt: skip


def conv2d_int8(
    input,
    weight,
    bias=None,
    stride=1,
    padding=0,
    dilation=1,
    groups=1,
    input_scale=1.0,
    input_zero_point=0,
    weight_scale=1.0,
    weight_zero_point=0,
    output_scale=None,
    output_zero_point=0,
    activation=None,
):
    """The convolution of a quantised network, as torch.ops.quantized.conv2d; pictures are (batch,) channels, height,
    width.

    input: (batch, in_channels, height, width) or without batch, uint8 or int8. weight: (out_channels, in_channels /
    groups, kernel height, kernel width), int8, or a `PackedWeight` of such. stride, padding, dilation and groups: as
    for `conv2d`. Outside the picture stand codes of the zero point, which are numbers of 0. All else: as for
    `linear_int8`; the terms of a sum are the elements of a kernel.
    """
    return call(
        "conv2d_int8", input, weight, bias, stride, padding, dilation, groups, input_scale, input_zero_point,
        weight_scale, weight_zero_point, output_scale, output_zero_point, activation,
    )  # fmt: skip
