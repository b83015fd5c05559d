"""Faults to plant in the table of implementations, as a newcomer might add them. None has a test of its own."""

import math
from dataclasses import replace

import numpy as np

import dlkernels
from dlkernels import implementations
from dlkernels.arguments import float_array, output
from dlkernels.examples import Examples, roundings
from dlkernels.implementations import implementation, operation
from dlkernels.integer import reference as integer
from dlkernels.integer.codes import factors


def an_exported_function_that_is_not_in_the_table():
    export("kalman_filter", lambda x, weight: 42)


def an_operation_that_returns_42():
    declare("cube", lambda x, out: np.power(x, 3, out=out))
    export("cube", lambda x, out=None: 42)


def a_public_function_that_takes_a_wrong_rung():
    declare("cube", lambda x, out: np.power(x, 2, out=out))
    export("cube", lambda x, out=None: implementations.call("cube", x, out))


def a_rung_with_a_wrong_tail():
    @implementation("add", device="cpu", adds="eight elements at a time")
    def add_by_eights(a, b, out):
        whole = out.size - out.size % 8
        np.add(a, b, out=out)
        if whole and out.ndim == 1:
            out[whole:] = a[whole:]
        return out


def a_rung_that_writes_its_input():
    @implementation("relu", device="cpu", adds="no second array")
    def relu_in_place(x, parameter, out):
        np.maximum(x, 0, out=x)
        out[...] = x
        return out


def a_rung_that_loses_nan():
    @implementation("relu", device="cpu", adds="a comparison the other way round")
    def relu_by_comparison(x, parameter, out):
        out[...] = np.where(x > 0, x, 0)
        return out


def a_kernel_that_forgets_its_last_block():
    from dlkernels.vector.flat import flat
    from dlkernels.vector.gpu import THREADS, add_kernel, signatures

    @implementation("add", "gpu", adds="no rounding up", kernels=[(add_kernel, signatures("[]", "[]", "[]"))])
    @flat
    def add_whole_blocks(a, b, out):
        if out.size >= THREADS:
            add_kernel[out.size // THREADS, THREADS](a, b, out)
        else:
            add_kernel[1, THREADS](a, b, out)


def a_backward_with_the_wrong_sign():
    table = implementations.OPERATIONS["tanh_backward"]
    export("tanh_backward", lambda grad, x: -table.reference(grad, x))


def an_operation_that_says_nothing_of_its_gradient():
    declare("cube", lambda x, out: np.power(x, 3, out=out))


def a_short_way_to_another_result():
    table = implementations.OPERATIONS
    table["add"] = replace(table["add"], quick=lambda a, b, out: a + b + np.spacing(a + b) if out is None else None)


def an_integer_layer_whose_pairs_saturate():
    @implementation(
        "linear_int8", device="cpu", adds="vpmaddubsw: pairs in 16 bits", dtypes=("uint8", "int8", "float32")
    )
    def linear_int8_saturating(x, weight, bias, scale, zeros, q, out):
        codes = (x.view(np.uint8) ^ np.uint8(q.flip)).reshape(math.prod(x.shape[:-1]), x.shape[-1])
        even = [np.pad(one, ((0, 0), (0, one.shape[1] % 2))) for one in (codes, weight)]
        sums = integer.saturating_pairs(even[0][:, None], even[1]).sum(axis=-1)
        rests = codes.sum(axis=1, dtype=np.int64)[:, None] - q.input_zero * x.shape[-1]
        sums -= q.input_zero * weight.sum(axis=1, dtype=np.int64) + (0 if zeros is None else zeros * rests)
        return written(sums, bias, scale, q, out)


def an_integer_layer_that_rounds_ties_away():
    @implementation("linear_int8", device="cpu", adds="x + 0.5, cut off", dtypes=("uint8", "int8", "float32"))
    def linear_int8_rounds_up(x, weight, bias, scale, zeros, q, out):
        return written(exact_sums(x, weight, zeros, q), bias, scale, q, out, round=lambda v: np.floor(v + 0.5))


def an_integer_layer_that_forgets_the_zero_point_of_the_weight():
    @implementation("linear_int8", device="cpu", adds="no sums of rows", dtypes=("uint8", "int8", "float32"))
    def linear_int8_symmetric(x, weight, bias, scale, zeros, q, out):
        return written(exact_sums(x, weight, None, q), bias, scale, q, out)


def an_integer_convolution_padded_with_code_zero():
    from dlkernels import conv2d_int8

    @implementation("conv2d_int8", device="cpu", adds="zeros around the picture", dtypes=("uint8", "int8", "float32"))
    def conv2d_int8_zeros_outside(x, weight, bias, scale, zeros, q, g, out):
        width = [(0, 0)] * (x.ndim - 2) + [(g.top, g.bottom), (g.left, g.right)]
        padded, zero = np.pad(x, width), q.input_zero - q.flip
        place = (g.stride_y, g.stride_x), 0, (g.dilation_y, g.dilation_x), g.groups
        codes, relu = out.dtype != np.float32, q.low == 0
        scales = float(q.input_scale), int(zero), scale, 0 if zeros is None else zeros
        result = (float(q.output_scale), int(q.output_zero)) if codes else (None, 0)
        out[...] = conv2d_int8(padded, weight, bias, *place, *scales, *result, "relu" if relu else None)
        return out


def exact_sums(x, weight, zeros, q):
    codes = (x.view(np.uint8) ^ np.uint8(q.flip)).astype(np.int64) - q.input_zero
    codes = codes.reshape(math.prod(x.shape[:-1]), x.shape[-1])
    return codes @ (weight.astype(np.int64) - (0 if zeros is None else zeros[:, None])).T


def written(sums, bias, scale, q, out, round=np.rint):
    """From sums to results, as a newcomer may have copied it."""
    codes = out.dtype != np.float32
    start, factor, add = factors(bias, scale, q, codes)
    values = np.clip((sums.astype(np.float32) + start) * factor + add, q.low, q.high)
    out[...] = ((round(values) + q.output_zero) if codes else values).reshape(out.shape)
    return out


def declare(name, rung):
    """An operation of one array, with one rung."""
    examples = Examples(
        lambda draw, *shape: (draw.array(*shape),), roundings(2, lambda x: x**3), ((0,), (1,), (7, 13)), ((300, 999),),
        ((64,),), values=("normal",),
    )  # fmt: skip

    @operation(name, lambda x: np.asarray(x, np.float64) ** 3, examples)
    def prepare(x, out=None):
        float_array("x", x)
        return x, output(out, x.shape, x.dtype, x=x)

    rung.__name__ = f"{name}_numpy"
    implementation(name, device="cpu", adds="NumPy", public=True)(rung)


def export(name, function):
    function.__name__ = name
    setattr(dlkernels, name, function)
    if name not in dlkernels.__all__:
        dlkernels.__all__.append(name)
