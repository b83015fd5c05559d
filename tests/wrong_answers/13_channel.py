"""Answers to 13-channel."""

import numpy as np
from answers import MASTER, edit, replace


def filter_by_filter(weight, bias, input_scale):
    """right"""
    codes, scales, sums = [], [], []
    for w, b in zip(weight, bias, strict=True):
        size = np.abs(w).max()
        scale = size / 127 if size > 0 else 1.0
        codes.append(np.rint(w / scale))
        scales.append(scale)
        sums.append(round(float(b) / (input_scale * scale)))
    return np.array(codes), np.array(scales), np.array(sums)


def as_small_types(weight, bias, input_scale):
    """right"""
    flat = weight.reshape(len(weight), -1).astype(np.float64)
    sizes = np.maximum(flat.max(axis=1), -flat.min(axis=1))
    scales = np.where(sizes == 0, 1, sizes / 127)
    codes = np.rint(flat / scales[:, None]).astype(np.int8).reshape(weight.shape)
    return codes, scales.astype(np.float32), np.rint(bias / (input_scale * scales)).astype(np.int32)


one_for_all = edit(
    MASTER, "wrong one-scale: each has its own", replace("np.abs(weight).max(axis=(1, 2, 3))", "np.abs(weight).max()")
)
one_for_all_repeated = edit(
    MASTER,
    "wrong one-scale: largest size of each filter",
    replace("np.abs(weight).max(axis=(1, 2, 3))", "np.full(len(weight), np.abs(weight).max())"),
)
by_input = edit(
    MASTER,
    "wrong wrong-axis: All terms of one sum need the same scale",
    replace("np.abs(weight).max(axis=(1, 2, 3))", "np.abs(weight).max(axis=(0, 2, 3))"),
    replace("scales.reshape(-1, 1, 1, 1)", "scales.reshape(1, -1, 1, 1)"),
    replace("bias / (input_scale * scales)", "bias / (input_scale * scales[0])"),
)
without_size = edit(
    MASTER,
    "wrong no-size: a weight far below 0",
    replace("np.abs(weight).max(axis=(1, 2, 3))", "np.maximum(weight.max(axis=(1, 2, 3)), 0.001)"),
)
steps_128 = edit(MASTER, "wrong steps: not by 128", replace("sizes / 127", "sizes / 128"))
steps_255 = edit(MASTER, "wrong steps: not by 255", replace("sizes / 127", "sizes / 255"))
divides_by_nothing = edit(
    MASTER, "wrong no-scale: A filter may be all zeros", replace("np.where(sizes > 0, sizes / 127, 1.0)", "sizes / 127"),
    replace("np.rint(weight / scales.reshape(-1, 1, 1, 1))", "np.rint(weight / np.maximum(scales, 1e-30).reshape(-1, 1, 1, 1))"),
    replace("(input_scale * scales)", "(input_scale * np.maximum(scales, 1e-30))"),
)  # fmt: skip
cut_off = edit(MASTER, "wrong cut-off: a cast to int does that", replace("np.rint(weight", "np.trunc(weight"))
without_input = edit(MASTER, "wrong bias-input: The input's is missing", replace("(input_scale * scales)", "scales"))
without_weight = edit(
    MASTER,
    "wrong bias-weight: The filter's own is missing",
    replace("(input_scale * scales)", "(input_scale + 0 * scales)"),
)
as_it_was = edit(
    MASTER, "wrong bias-float: This is the bias as it was", replace("np.rint(bias / (input_scale * scales))", "bias")
)
clipped_bias = edit(
    MASTER,
    "wrong bias-clipped: not clipped to eight",
    replace("np.rint(bias / (input_scale * scales))", "np.clip(np.rint(bias / (input_scale * scales)), -128, 127)"),
)
two_only = edit(MASTER, "wrong type: Return three arrays", replace("return codes, scales, ", "return codes, "))
flat = edit(
    MASTER,
    "wrong shape: The codes have the shape of the weight",
    replace("return codes, ", "return codes.reshape(len(codes), -1), "),
)
bias_not_rounded = edit(
    MASTER,
    "wrong bias-rounding: whole number",
    replace("np.rint(bias / (input_scale * scales))", "bias / (input_scale * scales)"),
)
bias_cut_off = edit(
    MASTER,
    "wrong bias-rounding: cast to int cuts off",
    replace("np.rint(bias / (input_scale * scales))", "(bias / (input_scale * scales)).astype(np.int64)"),
)
no_bias = edit(
    MASTER, "wrong bias: round(bias", replace("np.rint(bias / (input_scale * scales))", "np.full(len(scales), np.nan)")
)
