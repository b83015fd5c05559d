"""Operations of the book's table in OpenCL: their signatures are those of dlkernels, their arrays NumPy's.

    from opencl.operations import matmul, scaled_dot_product_attention
    matmul(a, b)          # on a GPU from any vendor, or on PoCL

Each checks its arguments as dlkernels does, brings arrays to the device, launches (launches.py) and fetches the result:
float32, or float64 where the device has it, of any strides. Where nothing is to be computed, nothing is launched.
"""

import math

import numpy as np

from dlkernels import implementations
from dlkernels.recurrent.layers import on_layers

from . import launches
from .host import device


def _prepared(name, *arguments):
    """The arguments as the table's rungs take them, checked."""
    return implementations.OPERATIONS[name].prepare(*arguments)


def _there(x):
    return None if x is None else device().array(x)


def _into(out, found):
    """Fetch a result into `out`, and return that."""
    out[...] = found.get().reshape(out.shape)
    return out


def _rows(x, dim=-1):
    """(x as contiguous rows along `dim`, a function that gives a result of that shape x's own again)."""
    moved = np.moveaxis(x, dim, -1) if x.ndim else x.reshape(1)
    rows = np.ascontiguousarray(moved).reshape(math.prod(moved.shape[:-1]), moved.shape[-1])

    def back(found):
        return np.ascontiguousarray(np.moveaxis(found.reshape(moved.shape), -1, dim)).reshape(x.shape)

    return rows, back


# ---- vectors and sums ------------------------------------------------------------------------------------------------


def add(a, b, out=None):
    """a + b: dlkernels.add."""
    a, b, out = _prepared("add", a, b, out)
    return _into(out, launches.add(_there(a), _there(b))) if out.size else out


def sum(x, dim=None, keepdim=False):
    """The sum of x, or along `dim`: dlkernels.sum."""
    dims, shape, x = _prepared("sum", x, dim, keepdim)
    out = np.zeros(shape, x.dtype)
    if not x.size:
        return out
    last = tuple(range(x.ndim - len(dims), x.ndim))
    rows = np.moveaxis(x, dims, last).reshape(out.size, x.size // out.size)
    return _into(out, launches.sum_rows(_there(rows)))


def relu(x, out=None):
    """max(x, 0): dlkernels.relu."""
    return _activation("relu", x, out)


def gelu(x, out=None):
    """x times the normal distribution function at x: dlkernels.gelu."""
    return _activation("gelu", x, out)


def relu_backward(grad, x, out=None):
    """The gradient of x, given that of relu(x): dlkernels.relu_backward."""
    return _activation_backward("relu", grad, x, out)


def gelu_backward(grad, x, out=None):
    """The gradient of x, given that of gelu(x): dlkernels.gelu_backward."""
    return _activation_backward("gelu", grad, x, out)


def _activation(name, x, out):
    x, *_, out = _prepared(name, x, None, out)
    return _into(out, launches.activation(_there(x), name)) if out.size else out


def _activation_backward(name, grad, x, out):
    grad, x, *_, out = _prepared(f"{name}_backward", grad, x, None, out)
    return _into(out, launches.activation_backward(_there(grad), _there(x), name)) if out.size else out


# ---- matrices --------------------------------------------------------------------------------------------------------


def transpose(x, out=None):
    """A copy with rows and columns exchanged: dlkernels.transpose."""
    x, out = _prepared("transpose", x, out)
    if not x.size:
        return out
    return _into(out, launches.transpose(_there(x).reshape(-1, *x.shape[-2:])))


def matmul(a, b, out=None, kernel="matmul_registers"):
    """a b, for stacks too: dlkernels.matmul. kernel: one of launches.MATMUL."""
    a, b, out = _prepared("matmul", a, b, out)
    if not out.size or not a.shape[-1]:
        out[...] = 0
        return out
    stacked = [
        x[None] if x.ndim == 2 else np.broadcast_to(x, (*out.shape[:-2], *x.shape[-2:])).reshape(-1, *x.shape[-2:])
        for x in (a, b)
    ]
    return _into(out, launches.matmul(*map(_there, stacked), kernel=kernel))


def linear(x, weight, bias=None, activation=None, out=None):
    """activation(x weight^T + bias): dlkernels.linear."""
    x, weight, bias, activation, out = _prepared("linear", x, weight, bias, activation, out)
    if not out.size:
        return out
    rows = _there(x.reshape(-1, x.shape[-1]))
    return _into(out, launches.linear(rows, _there(weight), _there(bias), activation))


def linear_backward(grad, x, weight, bias=None, activation=None):
    """The gradients of x, weight and, if there is one, bias: dlkernels.linear_backward."""
    bias, activation, grad, x, weight = _prepared("linear_backward", grad, x, weight, bias, activation)
    found = np.zeros_like(x, order="C"), np.zeros_like(weight, order="C"), np.zeros(len(weight), weight.dtype)
    if x.size and weight.size:
        rows, there, arriving = (
            _there(array) for array in (x.reshape(-1, x.shape[-1]), weight, grad.reshape(-1, len(weight)))
        )
        if activation is not None:
            summed = launches.linear(rows, there, _there(bias))
            arriving = launches.activation_backward(arriving, summed, activation)
        for out, array in zip(found, launches.linear_backward(arriving, rows, there), strict=True):
            _into(out, array)
    return found if bias is not None else found[:2]


def conv2d(x, weight, bias=None, stride=1, padding=0, dilation=1, groups=1, kernel="conv2d_implicit"):
    """A convolution of pictures: dlkernels.conv2d. kernel: one of launches.CONV2D."""
    x, weight, bias, g, out = _prepared("conv2d", x, weight, bias, stride, padding, dilation, groups)
    if not out.size:
        return out
    if not weight.size:
        out[...] = 0 if bias is None else bias[:, None, None]
        return out
    pictures = _there(x.reshape(-1, *x.shape[-3:]))
    return _into(out, launches.conv2d(pictures, _there(weight), _there(bias), g, out.shape[-2:], kernel))


# ---- rows ------------------------------------------------------------------------------------------------------------


def softmax(x, dim=-1):
    """e^x divided by its sum along `dim`: dlkernels.softmax."""
    dim, x = _prepared("softmax", x, dim)
    rows, back = _rows(x, dim)
    return back(launches.softmax(_there(rows)).get() if x.size else rows.copy())


def layer_norm(x, weight=None, bias=None, eps=1e-5):
    """(x - mean) / sqrt(variance + eps) * weight + bias along the last dimension: dlkernels.layer_norm."""
    weight, bias, eps, x = _prepared("layer_norm", x, weight, bias, eps)
    rows, back = _rows(x)
    return back(launches.layer_norm(_there(rows), _there(weight), _there(bias), eps).get() if x.size else rows.copy())


def _classes_last(input, target):
    """(logits (rows, classes), targets (rows,) as int32, a function that gives a result input's shape again)."""
    rows, back = _rows(input, 1 if input.ndim > 1 else 0)
    return rows, np.ascontiguousarray(target, np.int32).reshape(-1), back


def cross_entropy(input, target, ignore_index=-100, reduction="mean", label_smoothing=0.0):
    """-log softmax(input)[target], smoothed and reduced: dlkernels.cross_entropy."""
    target, ignored, reduction, smoothing, count, input = _prepared(
        "cross_entropy", input, target, ignore_index, reduction, label_smoothing
    )
    rows, flat, _ = _classes_last(input, target)
    if not len(rows):
        losses = np.zeros(target.shape, input.dtype)
        return losses if reduction == "none" else _reduced(losses.sum(), reduction, count)
    losses = launches.cross_entropy(_there(rows), _there(flat), ignored, float(smoothing))
    if reduction == "none":
        return losses.get().reshape(target.shape)
    return _reduced(launches.sum_rows(losses.reshape(1, -1)).get()[0], reduction, count)


def _reduced(total, reduction, count):
    with np.errstate(invalid="ignore"):
        return np.asarray(total / total.dtype.type(count) if reduction == "mean" else total)


def cross_entropy_backward(grad, input, target, ignore_index=-100, reduction="mean", label_smoothing=0.0):
    """The gradient of input: dlkernels.cross_entropy_backward."""
    target, ignored, reduction, smoothing, count, _, grad, input = _prepared(
        "cross_entropy_backward", grad, input, target, ignore_index, reduction, label_smoothing
    )
    rows, flat, back = _classes_last(input, target)
    if not len(rows):
        return np.zeros_like(input, order="C")
    scale = 1 / max(count, 1) if reduction == "mean" else 1.0
    arriving = _there(grad.reshape(-1))
    return back(
        launches.cross_entropy_backward(arriving, _there(rows), _there(flat), ignored, float(smoothing), scale).get()
    )


# ---- attention, recurrent networks, a step of training ---------------------------------------------------------------


def scaled_dot_product_attention(q, k, v, mask=None, is_causal=False, scale=None, enable_gqa=False):
    """softmax(scale q k^T + mask) v: dlkernels.scaled_dot_product_attention, by tiles of keys."""
    mask, shape, g, q, k, v = _prepared("scaled_dot_product_attention", q, k, v, mask, is_causal, scale, enable_gqa)
    out = np.zeros(shape, q.dtype)
    if not out.size or not g.keys:
        return out
    if mask is not None and mask.dtype == bool:
        mask = np.ascontiguousarray(mask).view(np.uint8)
    return _into(out, launches.attention(*map(_there, (q, k, v, mask)), g))


def lstm(
    x, h0, c0, w_ih, w_hh, b_ih=None, b_hh=None, bidirectional=False, batch_first=False, lengths=None, sequence=True
):
    """A network of LSTM layers: dlkernels.lstm. sequence: one launch for a layer, or (False) one for each step."""
    prepared = _prepared("lstm", x, h0, c0, w_ih, w_hh, b_ih, b_hh, bidirectional, batch_first, lengths)
    return on_layers(_layer_by_sequence if sequence else _layer_by_steps)(*prepared)


def _layer(sequence, g, reverse, x, h, c, w_ih, w_hh, b_ih, b_hh, out):
    lengths = np.full(g.batch, g.steps) if g.lengths is None else g.lengths
    of_x = launches.linear(_there(x.reshape(-1, x.shape[-1])), _there(w_ih), _there(b_ih))
    found = launches.lstm(
        of_x.reshape(g.steps, g.batch, -1),
        _there(w_hh),
        _there(b_hh),
        _there(lengths.astype(np.int32)),
        _there(h),
        _there(c),
        reverse,
        sequence,
    )
    for to, array in zip((out, h, c), found, strict=True):
        _into(to, array)


def _layer_by_sequence(*arguments):
    _layer(True, *arguments)


def _layer_by_steps(*arguments):
    _layer(False, *arguments)


def sgd(
    params, grads, momentum_buffers=None, lr=1e-3, momentum=0.0, dampening=0.0, weight_decay=0.0, nesterov=False,
    out=None,
):  # fmt: skip
    """A step of gradient descent, (params, momentum_buffers): dlkernels.sgd."""
    (lr, momentum, kept, decay), kind, nesterov, params, grads, buffers, results = _prepared(
        "sgd", params, grads, momentum_buffers, lr, momentum, dampening, weight_decay, nesterov, out
    )
    moved, states = (result if isinstance(result, tuple) or result is None else (result,) for result in results)
    for k, (p, grad) in enumerate(zip(params, grads, strict=True)):
        if not p.size:
            continue
        there, buffer = _there(p), None
        if kind:
            buffer = _there(buffers[k] if kind == 2 else np.zeros_like(p))
        numbers = float(lr), float(momentum), 1 - float(kept), float(decay)
        launches.sgd(there, _there(grad), buffer, *numbers, kind == 1, nesterov)
        _into(moved[k], there)
        if kind:
            _into(states[k], buffer)
    return tuple(results)
