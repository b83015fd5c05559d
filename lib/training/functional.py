"""The operations of the table on Tensors: ``F.conv2d(x, weight, bias, stride=2)`` is ``dlkernels.conv2d`` on a tape.

Every operation is here by its name, with the arguments of the library (`__getattr__`): a new row of the table needs no
line. What stands in this file only moves numbers about, as a network needs it between its layers. Host arrays may be
views; of device arrays, what is no whole reshape is copied on the device.
"""

import functools
import math

import numpy as np

import dlkernels
from dlkernels import cuda
from dlkernels.device import is_device_array
from dlkernels.layouts import contiguous, copy

from .tensor import apply, record

OPERATIONS = {name for names in dlkernels.FOLDERS.values() for name in names.split() if name.islower()}


def __getattr__(name):
    if name not in OPERATIONS:
        raise AttributeError(f"the library has no operation {name!r}; `dir(training.functional)` lists them.")
    globals()[name] = found = functools.wraps(getattr(dlkernels, name))(functools.partial(apply, name))
    return found


def __dir__():
    return sorted({*globals(), *OPERATIONS})


def reshape(x, shape):
    """The same numbers in the same order in another shape. One length may be -1."""
    shape = (shape,) if isinstance(shape, int) else tuple(shape)
    if shape.count(-1) == 1:
        known = -math.prod(shape)
        shape = tuple(x.size // known if n == -1 and known else n for n in shape)
    if math.prod(shape) != x.size:
        raise ValueError(f"x has shape {x.shape}, {x.size} numbers; expected as many as shape {shape} has.")
    before = x.shape
    return record("reshape", _reshaped(x.data, shape), [x], lambda grad, kept: [_reshaped(grad, before)])


def _reshaped(array, shape):
    return contiguous(array).reshape(shape) if is_device_array(array) else array.reshape(shape)


def flatten(x, start_dim=1):
    """All dimensions from start_dim on as one: (batch, channels, height, width) becomes (batch, features)."""
    return reshape(x, (*x.shape[:start_dim], math.prod(x.shape[start_dim:])))


def permute(x, dims):
    """The dimensions in another order, as torch.permute. Device arrays: the last two exchanged, or as they are."""
    dims = tuple(dims)
    if sorted(dims) != list(range(len(x.shape))):
        raise ValueError(f"dims is {dims} and x has shape {x.shape}; expected each of its dimensions once.")
    back = tuple(dims.index(k) for k in range(len(dims)))
    return record("permute", _permuted(x.data, dims), [x], lambda grad, kept: [_permuted(grad, back)])


def _permuted(array, dims):
    if not is_device_array(array):
        return array.transpose(dims)
    usual = tuple(range(len(dims)))
    if dims == usual:
        return array
    if dims != (*usual[:-2], usual[-1], usual[-2]):
        raise ValueError(f"dims is {dims}; expected the last two exchanged, as x is in device memory.")
    return dlkernels.transpose(array)


def select(x, index):
    """x[index], as NumPy has it: numbers, slices, Ellipsis; no arrays, as these would add up gradients."""
    parts = index if isinstance(index, tuple) else (index,)
    if not all(part is Ellipsis or isinstance(part, slice | int | np.integer) for part in parts):
        raise TypeError(f"index is {index!r}; expected numbers, slices and Ellipsis. Rows by their numbers: embedding.")
    shape, dtype = x.shape, x.dtype

    def backward(grad, kept):
        found = np.zeros(shape, dtype)
        found = cuda.to_device(found) if is_device_array(grad) else found
        _write(found, index, grad)
        return [found]

    return record("select", x.data[index], [x], backward)


def _write(array, index, value):
    if is_device_array(array):
        copy(value, array[index])
    else:
        array[index] = value


def concatenate(tensors, dim=0):
    """Several tensors as one, one behind the other along a dimension, as torch.cat."""
    tensors = list(tensors)
    rest = {(*x.shape[: dim % len(x.shape)], *x.shape[dim % len(x.shape) + 1 :]) for x in tensors}
    if len(rest) != 1:
        raise ValueError(
            f"the shapes are {[x.shape for x in tensors]}; expected them to differ in dimension {dim} only."
        )
    dim %= len(tensors[0].shape)
    lengths = [x.shape[dim] for x in tensors]
    shape = (*tensors[0].shape[:dim], sum(lengths), *tensors[0].shape[dim + 1 :])
    like, parts, start = tensors[0].data, [], 0
    for n in lengths:
        parts.append((slice(None),) * dim + (slice(start, start + n),))
        start += n
    out = cuda.device_array(shape, like.dtype) if is_device_array(like) else np.empty(shape, like.dtype)
    for x, part in zip(tensors, parts, strict=True):
        _write(out, part, x.data)
    return record("concatenate", out, tensors, lambda grad, kept: [grad[part] for part in parts])


def split_heads(x, heads, parts=1):
    """What a layer made for all heads, head by head: (..., tokens, parts * heads * d) becomes a tuple of so many parts,
    each (..., heads, tokens, d). Queries, keys and values are three. Host memory only; the parts are contiguous.
    """
    *lead, tokens, width = x.shape
    if heads < 1 or parts < 1 or width % (parts * heads):
        raise ValueError(
            f"x has shape {x.shape}; expected a multiple of {parts} * {heads} numbers in the last dimension."
        )
    _on_host(x)
    shape = (*lead, tokens, parts, heads, width // (parts * heads))
    last = len(lead)  # where tokens, parts and heads stand; they become parts, ..., heads, tokens
    order = (last + 1, *range(last), last + 2, last, last + 3)
    apart = np.ascontiguousarray(x.data.reshape(shape).transpose(order))

    def backward(grads, kept):
        found = np.empty(shape, x.dtype)
        for part, grad in zip(found.transpose(order), grads, strict=True):
            part[...] = 0 if grad is None else grad
        return [found.reshape(x.shape)]

    return record("split_heads", tuple(apart), [x], backward)


def merge_heads(x):
    """The inverse of `split_heads` with one part: (..., heads, tokens, d) becomes (..., tokens, heads * d)."""
    if len(x.shape) < 3:
        raise ValueError(f"x has shape {x.shape}; expected (..., heads, tokens, d).")
    _on_host(x)
    *lead, heads, tokens, head_width = x.shape
    apart = (*lead, tokens, heads, head_width)
    backward = lambda grad, kept: [grad.reshape(apart).swapaxes(-2, -3)]  # noqa: E731
    return record("merge_heads", x.data.swapaxes(-2, -3).reshape(*lead, tokens, heads * head_width), [x], backward)


def _on_host(x):
    if is_device_array(x.data):
        raise TypeError("x is in device memory; expected host memory, as heads are only moved there.")
