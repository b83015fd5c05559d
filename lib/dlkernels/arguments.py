"""Checks of arguments that every operation shares. A wrong argument ends in a sentence, not in a wrong number."""

import numbers

import numpy as np

from .device import is_device_array
from .host import new
from .launches import device_array
from .layouts import memory

FLOATS = (np.dtype("float32"), np.dtype("float64"))


def float_array(name, x, dtypes=FLOATS):
    """Return `x` if it is an array of one of `dtypes`; raise TypeError that names the argument otherwise."""
    if not (isinstance(x, np.ndarray) or is_device_array(x)):
        raise TypeError(
            f"{name} is a {type(x).__name__}; expected a NumPy array (or a device array). "
            f"Try np.asarray({name}, dtype=np.float32)."
        )
    if x.dtype not in dtypes:
        expected = " or ".join(map(str, dtypes))
        where = ".copy_to_host()" if is_device_array(x) else ""
        raise TypeError(f"{name} has dtype {x.dtype}; expected {expected}. Try {name}{where}.astype(np.{dtypes[0]}).")
    return x


def number(name, value, dtype):
    """`value` as a NumPy number of `dtype`; raise TypeError unless it is one real number."""
    if isinstance(value, bool) or not isinstance(value, numbers.Real):
        raise TypeError(f"{name} is a {type(value).__name__}; expected a number.")
    return np.dtype(dtype).type(value)


def same(attribute, **arrays):
    """Raise unless all `arrays` (given by name) agree in `attribute`: "shape" or "dtype"."""
    (first_name, x), *others = arrays.items()
    for name, y in others:
        if getattr(y, attribute) != getattr(x, attribute):
            error = TypeError if attribute == "dtype" else ValueError
            raise error(
                f"{name} has {attribute} {getattr(y, attribute)}, but {first_name} has {attribute} "
                f"{getattr(x, attribute)}; expected the same. Nothing is broadcast or converted here."
            )


def one_place(**arrays):
    """Raise unless all `arrays` live in host memory or all in device memory."""
    if all(map(_is_host_array, arrays.values())):
        return
    on_device = [name for name, x in arrays.items() if is_device_array(x)]
    if len(on_device) < len(arrays):
        host = [name for name in arrays if name not in on_device]
        raise ValueError(
            f"{', '.join(on_device)} in device memory, but {', '.join(host)} in host memory; expected all in one "
            "place. Use cuda.to_device(x) or x.copy_to_host()."
        )


def output(out, shape, dtype, **inputs):
    """The array to write: a new one where `out` is None, else `out` after checks.

    `out` may be one of the `inputs` itself (an in-place operation). It may not overlap one partly, for then
    the result would depend on the order in which elements are written.
    """
    if out is None:
        like = next(iter(inputs.values()))
        return device_array(shape, dtype) if is_device_array(like) else new(shape, dtype)
    float_array("out", out)
    one_place(out=out, **inputs)
    if tuple(out.shape) != tuple(shape):
        raise ValueError(f"out has shape {out.shape}; expected {tuple(shape)}.")
    if out.dtype != dtype:
        raise TypeError(f"out has dtype {out.dtype}; expected {dtype}, the dtype of the inputs.")
    if not is_device_array(out) and not out.flags.writeable:
        raise ValueError("out is read-only; expected an array that can be written. Pass out=None or a copy.")
    if _overlaps_itself(out):
        raise ValueError("out has elements that share memory (a broadcast view?); expected one place per element.")
    for name, x in inputs.items():
        if out is not x and overlap(out, x) and not _same_view(out, x):
            raise ValueError(
                f"out overlaps {name} without being {name}; expected separate memory, or out={name} itself "
                "to work in place."
            )
    return out


def check_gradient(grad, shape, **others):
    """Raise unless grad is what may arrive at a result of that shape, made of the arrays `others`."""
    float_array("grad", grad)
    one_place(grad=grad, **others)
    same("dtype", **others, grad=grad)
    if tuple(grad.shape) != tuple(shape):
        raise ValueError(f"grad has shape {tuple(grad.shape)}; expected {tuple(shape)}, the shape of the result.")


def overlap(x, y):
    """Whether two arrays share an element. In numba's simulator nobody knows it of device arrays: False."""
    if is_device_array(x) != is_device_array(y):
        return False
    x, y = memory(x), memory(y)
    if x is None or not np.may_share_memory(x, y):
        return False
    try:
        return np.shares_memory(x, y, max_work=100_000)
    except np.exceptions.TooHardError:  # strides so odd that the answer would take long: refuse them
        return True


def _is_host_array(x):
    return isinstance(x, np.ndarray)


def _same_view(x, y):
    x, y = memory(x), memory(y)
    return x.ctypes.data == y.ctypes.data and x.strides == y.strides and x.shape == y.shape


def _overlaps_itself(x):
    return x.size > 0 and 0 in x.strides and any(s == 0 and n > 1 for s, n in zip(x.strides, x.shape, strict=True))
