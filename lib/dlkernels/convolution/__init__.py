"""Convolutions of pictures.

Names, argument orders and defaults are PyTorch's. Pictures are (batch, channels, height, width), or (channels, height,
width) without a batch; float32 or float64, of any strides, in host or device memory. What is computed from device
arrays stays on the device, in float32. Nothing changes its inputs. Wrong arguments raise ValueError or TypeError.

Padded zeros are not stored anywhere that a caller sees, and an implementation may leave them out of a sum: where a
weight is infinite or NaN, results at the rim may be NaN or not.

Its files, in reading order:

reference.py      the specification in NumPy             examples.py        what each operation can be called with
geometry.py       where a window stands, checked         pictures.py        arrays of any layout as pictures
choose.py         which way a convolution goes, and why  sizes.py           how large numbers are: what accuracy allows
plans.py          what follows from shapes, kept         private.py         when each thread prepares for itself

forward, cpu      cpu.py (the direct loops), im2col.py (patches as columns), implicit.py (columns nowhere), tiles.py
                  (register tiles), pointwise.py (1 x 1), winograd.py, fft.py, pooling.py,
                  pairs.py (its windows of 2 x 2, side by side)
                  depthwise.py (a plane at a time), lanes.py (channels in lanes), turned.py (pixels turned for these),
                  separable.py (depthwise and 1 x 1, fused), local.py (weights of its own for each place)
backward, cpu     backward.py (the ladder), backward_implicit.py (without columns), depthwise_backward.py,
                  backward_turned.py (weights, channels last)
forward, gpu      gpu.py (direct, halo), gpu_gemm.py (implicit GEMM), gpu_depthwise.py, gpu_pooling.py (and backward),
                  gpu_choose.py (which way); no rung: gpu_flat.py (what 64-bit indices cost)
backward, gpu     gpu_backward.py (a thread an element), gpu_backward_gemm.py, gpu_backward_weights.py
"""

import functools
import numbers
from dataclasses import replace

import numpy as np

from ..arguments import FLOATS, check_gradient, float_array, one_place, output, same
from ..device import is_device_array
from ..host import new, plain
from ..implementations import call, operation, public_rung, run
from . import examples, geometry, reference

HALVES = (np.dtype("float16"), np.dtype("uint16"))


def check_pictures(x, name="x", kinds=FLOATS):
    """Raise unless x is an array of pictures, with or without batch."""
    float_array(name, x, kinds)
    if x.ndim not in (3, 4) or 0 in tuple(x.shape)[-2:]:
        raise ValueError(
            f"{name} has shape {tuple(x.shape)}; expected (batch, channels, height, width) or (channels, height, "
            f"width), with at least one pixel. One picture without channels is {name}[None]."
        )


def check_convolution(x, weight, bias, stride, padding, dilation, groups, half=False):
    """(Geometry, shape of the result) of a convolution; ValueError or TypeError where there is none.

    half: x and weight have 16 bits, and bias is float32.
    """
    numbers_are_plain = type(stride) is type(padding) is type(dilation) is type(groups) is int
    if numbers_are_plain and type(x) is type(weight) is np.ndarray and (bias is None or type(bias) is np.ndarray):
        kinds = (x.shape, x.dtype), (weight.shape, weight.dtype)
        if bias is not None:
            kinds += ((bias.shape, bias.dtype),)
        return _check_arrays_like(kinds, stride, padding, dilation, groups, half)
    return _check_convolution(x, weight, bias, stride, padding, dilation, groups, half)


@functools.lru_cache(maxsize=256)  # a layer that is called again need not be checked again
def _check_arrays_like(kinds, stride, padding, dilation, groups, half):
    x, weight, *bias = (np.broadcast_to(np.zeros((), dtype), shape) for shape, dtype in kinds)
    return _check_convolution(x, weight, bias[0] if bias else None, stride, padding, dilation, groups, half)


def _check_convolution(x, weight, bias, stride, padding, dilation, groups, half):
    kinds = HALVES if half else FLOATS
    check_pictures(x, kinds=kinds)
    arrays = {"x": x, "weight": weight} | ({} if bias is None else {"bias": bias})
    for name, array in arrays.items():
        float_array(name, array, FLOATS[:1] if half and name == "bias" else kinds)
    one_place(**arrays)
    same("dtype", **{name: array for name, array in arrays.items() if not (half and name == "bias")})
    if type(groups) is not int and (isinstance(groups, bool) or not isinstance(groups, numbers.Integral)):
        raise TypeError(f"groups is {groups!r}; expected a whole number.")
    if groups < 1:
        raise ValueError(f"groups is {groups}; expected at least 1.")
    if weight.ndim != 4 or 0 in (weight.shape[0], *tuple(weight.shape)[2:]):
        raise ValueError(
            f"weight has shape {tuple(weight.shape)}; expected (out_channels, in_channels / groups, height, width), "
            "with at least one output channel and one pixel."
        )
    channels, (outs, ins) = x.shape[x.ndim - 3], tuple(weight.shape)[:2]
    if channels != ins * groups:
        raise ValueError(
            f"x has shape {tuple(x.shape)}, so {channels} channels, but weight has shape {tuple(weight.shape)} and "
            f"groups is {groups}: {ins} x {groups} = {ins * groups} channels; expected the same number."
        )
    if outs % groups:
        raise ValueError(f"weight has {outs} output channels and groups is {groups}; expected a multiple of groups.")
    if bias is not None and tuple(bias.shape) != (outs,):
        raise ValueError(f"bias has shape {tuple(bias.shape)}; expected ({outs},), one number for each output channel.")
    picture, kernel = tuple(x.shape)[-2:], tuple(weight.shape)[2:]
    g, sizes = geometry.convolution(picture, kernel, stride, padding, dilation, int(groups))
    return g, (*tuple(x.shape)[:-3], outs, *sizes)


def carray(x):
    """Whether a kernel takes an array as it is."""
    return type(x) is np.ndarray and x.flags.carray


def _quick_conv2d(x, weight, bias, stride, padding, dilation, groups):
    """Contiguous arrays: after a large result Python's own memory has left the cache, and checks take longer than
    alone."""
    if carray(x) and carray(weight) and (bias is None or carray(bias)) and weight.ndim == x.ndim == 4:
        g, shape = check_convolution(x, weight, bias, stride, padding, dilation, groups)
        out = new(shape, x.dtype)
        if out.size and weight.size:
            cpu.fastest(x, weight, no_bias(len(weight), x.dtype) if bias is None else bias, g, out)
            return out
    return None


@operation("conv2d", reference.conv2d, examples.CONV2D, quick=_quick_conv2d, by_shape=True)
def _prepare_conv2d(x, weight, bias=None, stride=1, padding=0, dilation=1, groups=1):
    g, shape = check_convolution(x, weight, bias, stride, padding, dilation, groups)
    return x, weight, bias, g, output(None, shape, x.dtype, x=x)


def _on_the_cpu(name, **arrays):
    """Raise where an array is in device memory."""
    for which, array in arrays.items():
        if is_device_array(array):
            raise ValueError(
                f"{which} is in device memory; expected host memory: {name} runs on the CPU. Use "
                f"{which}.copy_to_host(){', or conv2d' if name in ('conv2d_winograd', 'conv2d_fft') else ''}."
            )


@operation("conv2d_winograd", reference.conv2d, examples.WINOGRAD, backward="conv2d_backward")
def _prepare_winograd(x, weight, bias=None, stride=1, padding=0, dilation=1, groups=1):
    _on_the_cpu("conv2d_winograd", x=x, weight=weight, bias=bias)
    return _prepare_conv2d(x, weight, bias, stride, padding, dilation, groups)


@operation("conv2d_fft", reference.conv2d, examples.FFT, backward="conv2d_backward")
def _prepare_fft(x, weight, bias=None, stride=1, padding=0, dilation=1, groups=1):
    _on_the_cpu("conv2d_fft", x=x, weight=weight, bias=bias)
    return _prepare_conv2d(x, weight, bias, stride, padding, dilation, groups)


@operation(
    "conv2d_local",
    reference.conv2d_local,
    examples.CONV2D_LOCAL,
    no_backward="no network here learns such weights; conv2d has one",
)
def _prepare_local(x, weight, bias=None, stride=1, padding=0, dilation=1):
    _on_the_cpu("conv2d_local", x=x, weight=weight, bias=bias)
    float_array("weight", weight)
    if weight.ndim != 6 or 0 in tuple(weight.shape)[-2:]:
        raise ValueError(
            f"weight has shape {tuple(weight.shape)}; expected (out_channels, in_channels, kernel height, kernel "
            "width, height, width): a kernel for each place of the result."
        )
    g, shape = check_convolution(x, weight[..., 0, 0], bias, stride, padding, dilation, 1)
    if tuple(weight.shape[-2:]) != tuple(shape[-2:]):
        raise ValueError(
            f"weight has shape {tuple(weight.shape)}, so kernels for {weight.shape[-2]} x {weight.shape[-1]} places, "
            f"but the result has {shape[-2]} x {shape[-1]}; expected the same."
        )
    return x, weight, bias, g, output(None, shape, x.dtype, x=x)


def _separable_backward(grad, x, depthwise, pointwise, bias, stride, padding, dilation):
    """What is between the two convolutions is computed again, not kept."""
    layer = stride, padding, dilation, x.shape[x.ndim - 3]
    between = conv2d(x, depthwise, None, *layer)
    of_between, of_pointwise, *of_bias = conv2d_backward(grad, between, pointwise, bias)
    of_x, of_depthwise = conv2d_backward(of_between, x, depthwise, None, *layer)
    found = {"x": of_x, "depthwise": of_depthwise, "pointwise": of_pointwise}
    return found | {"bias": of_bias[0]} if of_bias else found


@operation("conv2d_separable", reference.conv2d_separable, examples.CONV2D_SEPARABLE, backward=_separable_backward)
def _prepare_separable(x, depthwise, pointwise, bias=None, stride=1, padding=0, dilation=1):
    _on_the_cpu("conv2d_separable", x=x, depthwise=depthwise, pointwise=pointwise, bias=bias)
    check_pictures(x)
    float_array("pointwise", pointwise)
    same("dtype", x=x, pointwise=pointwise)
    channels = x.shape[x.ndim - 3]
    g, (*front, between, height, width) = check_convolution(
        x, depthwise, None, stride, padding, dilation, max(channels, 1)
    )
    if pointwise.ndim != 4 or tuple(pointwise.shape[1:]) != (between, 1, 1) or not len(pointwise):
        raise ValueError(
            f"pointwise has shape {tuple(pointwise.shape)}; expected (out_channels, {between}, 1, 1), as depthwise has "
            f"shape {tuple(depthwise.shape)}."
        )
    if bias is not None:
        float_array("bias", bias)
        same("dtype", x=x, bias=bias)
        if tuple(bias.shape) != (len(pointwise),):
            raise ValueError(
                f"bias has shape {tuple(bias.shape)}; expected ({len(pointwise)},), one number for each output channel."
            )
    return x, depthwise, pointwise, bias, g, output(None, (*front, len(pointwise), height, width), x.dtype, x=x)


@operation(
    "conv2d_half",
    reference.conv2d_half,
    examples.HALF,
    no_backward="conv2d of the same in float32 has one",
    by_shape=True,
)
def _prepare_conv2d_half(x, weight, bias=None, stride=1, padding=0, dilation=1, groups=1):
    g, shape = check_convolution(x, weight, bias, stride, padding, dilation, groups, half=True)
    return x, weight, bias, g, output(None, shape, FLOATS[0], x=x)


def _partial_conv2d_backward(wanted, grad, x, *rest, **named):
    """A first layer's: its pictures want no gradient, which costs as much as all others."""
    if "x" in wanted or is_device_array(grad):
        return None
    return backward.without_pixels(*_prepare_conv2d_backward(grad, x, *rest, **named))


@operation(
    "conv2d_backward",
    reference.conv2d_backward,
    examples.CONV2D_BACKWARD,
    backward_of="conv2d",
    by_shape=True,
    partial=_partial_conv2d_backward,
)
def _prepare_conv2d_backward(grad, x, weight, bias=None, stride=1, padding=0, dilation=1, groups=1):
    g, shape = check_convolution(x, weight, bias, stride, padding, dilation, groups)
    check_gradient(grad, shape, x=x, weight=weight)
    return bias, g, grad, x, weight


from . import choose, cpu, gpu, gpu_choose, gpu_depthwise, gpu_gemm, local, separable  # noqa: E402, F401
from .pictures import no_bias, with_batch  # noqa: E402


def conv2d(x, weight, bias=None, stride=1, padding=0, dilation=1, groups=1, explain=False):
    """The convolution of pictures, as torch.nn.functional.conv2d.

    x: (batch, in_channels, height, width) or (in_channels, height, width). weight: (out_channels, in_channels / groups,
    kernel height, kernel width). bias: (out_channels,) or None. One dtype: float32 or float64 (on a GPU: float32).
    stride, padding, dilation: a whole number, or two for y and x. padding may also be "valid" (none) or "same": the
    result has the picture's size, with stride 1; where an odd number of zeros is needed, the odd one stands at the end.
    groups: input and output channels are cut into so many groups, and each group sees its own only.
    Returns a new array, (batch, out_channels, out_height, out_width), or without batch if x has none.
    explain: True returns (result, choice): how it was computed, why so, its multiply-adds, its workspace in bytes, and
    the bytes that input, weights, bias and result have, as each has to be moved once.

    Where it is faster, host arrays go by Winograd's algorithm or by Fourier transforms. A result y of n terms is then
    off by at most WORSE (n + 3) eps n largest|weight| largest|x|, WORSE as `choose.WORSE` says: up to 20 times the
    bound of a direct sum whose numbers are all as large as the largest. This is done only where the largest numbers are
    not far from the mean (`choose.SPREAD`), and all are finite. The rungs conv2d_tile and conv2d_planes always add up
    directly.
    """
    if not explain:
        found = _quick_conv2d(x, weight, bias, stride, padding, dilation, groups)
        return call("conv2d", x, weight, bias, stride, padding, dilation, groups) if found is None else found
    with_bias = bias is not None
    x, weight, bias, g, out = arguments = _prepare_conv2d(x, weight, bias, stride, padding, dilation, groups)
    on_gpu = is_device_array(x)
    rung = public_rung("conv2d", "gpu" if on_gpu else "cpu", x.dtype)
    if on_gpu:
        choice = gpu_choose.explained(gpu.with_batch(x), weight, g, gpu.with_batch(out))
    else:
        choice = choose.explained(with_batch(plain(x)), plain(weight), g, with_batch(out))
    once = (x.size + weight.size + with_bias * weight.shape[0] + out.size) * x.dtype.itemsize
    return run(rung, arguments), replace(choice, bytes=once)


def conv2d_half(x, weight, bias=None, stride=1, padding=0, dilation=1, groups=1):
    """As `conv2d`, of float16, or of bfloat16 given by its bits as uint16; sums, bias and result are float32.

    On a GPU: by tensor cores, from compute capability 8.0 on.
    """
    return call("conv2d_half", x, weight, bias, stride, padding, dilation, groups)


def conv2d_winograd(x, weight, bias=None, stride=1, padding=0, dilation=1, groups=1):
    """As `conv2d`, with 36 multiplications for 144 where the kernel is 3 x 3 and stride, dilation and groups are 1.

    After Winograd (1980), F(4x4, 3x3). Results are less accurate than direct sums where weights or pixels are of very
    different size, and NaN where those are infinite. Host memory only.
    """
    return call("conv2d_winograd", x, weight, bias, stride, padding, dilation, groups)


def conv2d_fft(x, weight, bias=None, stride=1, padding=0, dilation=1, groups=1):
    """As `conv2d`, by Fourier transforms where the stride is 1: for large kernels.

    Results are less accurate than direct sums where weights or pixels are of very different size, and one pixel that is
    infinite or NaN makes a whole square of results NaN. Host memory only.
    """
    return call("conv2d_fft", x, weight, bias, stride, padding, dilation, groups)


def conv2d_local(x, weight, bias=None, stride=1, padding=0, dilation=1):
    """A convolution whose weights are not shared: each place of the result has a kernel of its own.

    x, bias, stride, padding, dilation: as for `conv2d`. weight: (out_channels, in_channels, kernel height, kernel
    width, out_height, out_width). PyTorch has no such function; Keras had LocallyConnected2D. Host memory only.
    """
    return call("conv2d_local", x, weight, bias, stride, padding, dilation)


def conv2d_separable(x, depthwise, pointwise, bias=None, stride=1, padding=0, dilation=1):
    """A depthwise convolution, then one of 1 x 1 pixels, as conv2d(conv2d(x, depthwise, groups=channels), pointwise,
    bias).

    x: as for `conv2d`. depthwise: (channels, 1, kernel height, kernel width), or several times as many. pointwise:
    (out_channels, channels, 1, 1). bias: (out_channels,) or None. stride, padding, dilation: of the depthwise part.
    What is between the two is not kept. Host memory only.
    """
    return call("conv2d_separable", x, depthwise, pointwise, bias, stride, padding, dilation)


def conv2d_backward(grad, x, weight, bias=None, stride=1, padding=0, dilation=1, groups=1):
    """The gradients of x, weight and (if there is one) bias, given `grad`, the one with respect to conv2d(...).

    With stride 1 the gradient of x is a convolution of `grad`. On the CPU it goes the way that `conv2d` would choose,
    Winograd's among them, and is as accurate as said there.
    """
    return call("conv2d_backward", grad, x, weight, bias, stride, padding, dilation, groups)


# ---- pooling ---------------------------------------------------------------------------------------------------------


def _result_shape(x, sizes):
    return (*tuple(x.shape)[:-2], *sizes)


def _result_of(x, down, across):
    """A new array for a result of each window."""
    return output(None, _result_shape(x, (len(down), len(across))), x.dtype, x=x)


def max_windows(x, kernel_size, stride, padding, dilation, ceil_mode):
    """(windows along y, along x) of a max pooling."""
    check_pictures(x)
    picture = tuple(x.shape)[-2:]
    g, sizes = geometry.pooling(picture, kernel_size, stride, padding, dilation, ceil_mode)
    return geometry.places(picture, sizes, g)


def _prepare_max(x, kernel_size, stride=None, padding=0, dilation=1, ceil_mode=False):
    down, across = max_windows(x, kernel_size, stride, padding, dilation, ceil_mode)
    return x, down, across, _result_of(x, down, across)


operation("max_pool2d", reference.max_pool2d, examples.MAX_POOL2D)(_prepare_max)
operation(
    "max_pool2d_with_indices",
    reference.max_pool2d_with_indices,
    examples.MAX_POOL2D,
    backward="max_pool2d_backward",
    results=("result", "indices"),
    constants=("indices",),
)(_prepare_max)


def _prepare_adaptive_max(x, output_size):
    check_pictures(x)
    down, across = geometry.adaptive_places(tuple(x.shape)[-2:], output_size)
    return x, down, across, _result_of(x, down, across)


operation("adaptive_max_pool2d", reference.adaptive_max_pool2d, examples.ADAPTIVE_MAX_POOL2D)(_prepare_adaptive_max)
operation(
    "adaptive_max_pool2d_with_indices",
    reference.adaptive_max_pool2d_with_indices,
    examples.ADAPTIVE_MAX_POOL2D,
    backward="adaptive_max_pool2d_backward",
    results=("result", "indices"),
    constants=("indices",),
)(_prepare_adaptive_max)


def mean_windows(x, kernel_size, stride, padding, ceil_mode, count_include_pad, divisor_override):
    """(windows along y, along x, divisor or 0) of an average pooling."""
    check_pictures(x)
    if divisor_override is not None and (
        isinstance(divisor_override, bool) or not isinstance(divisor_override, numbers.Integral)
    ):
        raise TypeError(f"divisor_override is {divisor_override!r}; expected a whole number, or None.")
    if divisor_override == 0:
        raise ValueError("divisor_override is 0; expected another number, or None for the number of pixels.")
    if divisor_override is not None and abs(divisor_override) > geometry.MOST:
        raise ValueError(f"divisor_override is {divisor_override}; expected at most {geometry.MOST}.")
    picture = tuple(x.shape)[-2:]
    g, sizes = geometry.pooling(picture, kernel_size, stride, padding, 1, ceil_mode)
    return *geometry.windows(picture, sizes, g, count_include_pad), int(divisor_override or 0)


@operation("avg_pool2d", reference.avg_pool2d, examples.AVG_POOL2D)
def _prepare_avg(
    x, kernel_size, stride=None, padding=0, ceil_mode=False, count_include_pad=True, divisor_override=None
):
    down, across, divisor = mean_windows(
        x, kernel_size, stride, padding, ceil_mode, count_include_pad, divisor_override
    )
    return x, down, across, divisor, _result_of(x, down, across)


@operation("adaptive_avg_pool2d", reference.adaptive_avg_pool2d, examples.ADAPTIVE_AVG_POOL2D)
def _prepare_adaptive(x, output_size):
    check_pictures(x)
    down, across = geometry.adaptive_windows(tuple(x.shape)[-2:], output_size)
    return x, down, across, 0, _result_of(x, down, across)


@operation("max_pool2d_backward", reference.max_pool2d_backward, examples.MAX_POOL2D_BACKWARD, backward_of="max_pool2d")
def _prepare_max_backward(grad, x, kernel_size, stride=None, padding=0, dilation=1, ceil_mode=False):
    down, across = max_windows(x, kernel_size, stride, padding, dilation, ceil_mode)
    check_gradient(grad, _result_shape(x, (len(down), len(across))), x=x)
    return down, across, grad, x


@operation(
    "adaptive_max_pool2d_backward",
    reference.adaptive_max_pool2d_backward,
    examples.ADAPTIVE_MAX_POOL2D_BACKWARD,
    backward_of="adaptive_max_pool2d",
)
def _prepare_adaptive_max_backward(grad, x, output_size):
    check_pictures(x)
    down, across = geometry.adaptive_places(tuple(x.shape)[-2:], output_size)
    check_gradient(grad, _result_shape(x, (len(down), len(across))), x=x)
    return down, across, grad, x


@operation("avg_pool2d_backward", reference.avg_pool2d_backward, examples.AVG_POOL2D_BACKWARD, backward_of="avg_pool2d")
def _prepare_avg_backward(
    grad, x, kernel_size, stride=None, padding=0, ceil_mode=False, count_include_pad=True, divisor_override=None
):
    down, across, divisor = mean_windows(
        x, kernel_size, stride, padding, ceil_mode, count_include_pad, divisor_override
    )
    check_gradient(grad, _result_shape(x, (len(down), len(across))), x=x)
    return down, across, divisor, grad, x


@operation(
    "adaptive_avg_pool2d_backward",
    reference.adaptive_avg_pool2d_backward,
    examples.ADAPTIVE_AVG_POOL2D_BACKWARD,
    backward_of="adaptive_avg_pool2d",
)
def _prepare_adaptive_backward(grad, x, output_size):
    check_pictures(x)
    down, across = geometry.adaptive_windows(tuple(x.shape)[-2:], output_size)
    check_gradient(grad, _result_shape(x, (len(down), len(across))), x=x)
    return down, across, 0, grad, x


from . import backward, gpu_backward, gpu_backward_gemm, gpu_pooling, pooling  # noqa: E402, F401


def max_pool2d(x, kernel_size, stride=None, padding=0, dilation=1, ceil_mode=False, return_indices=False):
    """The largest pixel of each window, as torch.nn.functional.max_pool2d; NaN where a window has one.

    x: (batch, channels, height, width) or (channels, height, width), float32 or float64 (on a GPU: float32).
    kernel_size, stride, padding, dilation: a whole number, or two for y and x. stride: None for windows side by side.
    What is padded is never the largest; padding may be half a window at most.
    ceil_mode: True for windows that reach over the end, too, if they begin in the picture or in the padding before it.
    return_indices: True returns (result, indices): where each largest pixel stands, row * width + column, int64.
    """
    name = "max_pool2d_with_indices" if return_indices else "max_pool2d"
    return call(name, x, kernel_size, stride, padding, dilation, ceil_mode)


def max_pool2d_with_indices(x, kernel_size, stride=None, padding=0, dilation=1, ceil_mode=False):
    """(result, indices) of `max_pool2d`."""
    return call("max_pool2d_with_indices", x, kernel_size, stride, padding, dilation, ceil_mode)


def avg_pool2d(x, kernel_size, stride=None, padding=0, ceil_mode=False, count_include_pad=True, divisor_override=None):
    """The mean of each window, as torch.nn.functional.avg_pool2d. Arguments as for `max_pool2d`, and

    count_include_pad: whether a window's sum is divided by its pixels with the padding, or by those of the picture
    alone.
    divisor_override: a whole number to divide by instead.
    """
    return call("avg_pool2d", x, kernel_size, stride, padding, ceil_mode, count_include_pad, divisor_override)


def adaptive_max_pool2d(x, output_size, return_indices=False):
    """The largest pixels of windows that share each picture out, as torch.nn.functional.adaptive_max_pool2d.

    output_size: as for `adaptive_avg_pool2d`; return_indices: as for `max_pool2d`.
    """
    name = "adaptive_max_pool2d_with_indices" if return_indices else "adaptive_max_pool2d"
    return call(name, x, output_size)


def adaptive_max_pool2d_with_indices(x, output_size):
    """(result, indices) of `adaptive_max_pool2d`."""
    return call("adaptive_max_pool2d_with_indices", x, output_size)


def adaptive_avg_pool2d(x, output_size):
    """Means of windows that share each picture out, as torch.nn.functional.adaptive_avg_pool2d.

    output_size: height and width of the result, a whole number for both, or None for those of the picture. Window y of
    h reaches from row floor(y height / h) to ceil((y + 1) height / h), so that neighbours may overlap.
    """
    return call("adaptive_avg_pool2d", x, output_size)


def max_pool2d_backward(grad, x, kernel_size, stride=None, padding=0, dilation=1, ceil_mode=False):
    """The gradient of x, given `grad`, the one with respect to max_pool2d(...): it goes to the largest of each window.

    On a GPU atomics add what windows send to a pixel. They take what is below float32's smallest normal number,
    1.2e-38, for zero: such a result is lost there, and such parts of one. So in all gradients of pooling.
    """
    return call("max_pool2d_backward", grad, x, kernel_size, stride, padding, dilation, ceil_mode)


def adaptive_max_pool2d_backward(grad, x, output_size):
    """The gradient of x, given `grad`, the one with respect to adaptive_max_pool2d(...). On a GPU: see
    `max_pool2d_backward`."""
    return call("adaptive_max_pool2d_backward", grad, x, output_size)


def avg_pool2d_backward(
    grad, x, kernel_size, stride=None, padding=0, ceil_mode=False, count_include_pad=True, divisor_override=None
):
    """The gradient of x, given `grad`, the one with respect to avg_pool2d(...). On a GPU: see `max_pool2d_backward`."""
    rest = kernel_size, stride, padding, ceil_mode, count_include_pad, divisor_override
    return call("avg_pool2d_backward", grad, x, *rest)


def adaptive_avg_pool2d_backward(grad, x, output_size):
    """The gradient of x, given `grad`, the one with respect to adaptive_avg_pool2d(...). On a GPU: see
    `max_pool2d_backward`."""
    return call("adaptive_avg_pool2d_backward", grad, x, output_size)
