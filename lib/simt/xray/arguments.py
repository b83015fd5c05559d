"""A launch's arguments, to run it again."""

import numpy as np

from ..hostarrays import DeviceNDArray


def copies(values):
    """The same arguments with arrays of their own; two views of one array stay views of one array."""
    made = {}

    def copy(value):
        if isinstance(value, tuple):
            parts = [copy(v) for v in value]
            return type(value)(*parts) if hasattr(value, "_fields") else tuple(parts)
        if isinstance(value, DeviceNDArray):
            data, unwritten = copy(value._data), value._unwritten
            return DeviceNDArray(data, unwritten=unwritten and unwritten.copy(_address(data) - _address(value._data)))
        if not isinstance(value, np.ndarray):
            return value
        root = value
        while isinstance(root.base, np.ndarray):
            root = root.base
        if id(root) not in made:
            made[id(root)] = np.copy(root, order="K", subok=True)
        distance = _address(value) - _address(root)
        root_copy = made[id(root)]
        if not root_copy.size or not (root.flags.c_contiguous or root.flags.f_contiguous):
            return np.copy(value, order="K", subok=True)
        copied = np.ndarray(
            value.shape, value.dtype, root_copy.reshape(-1, order="A").view(np.uint8), distance, value.strides
        )
        copied.flags.writeable = value.flags.writeable
        return copied.view(type(value))

    return [copy(v) for v in values]


def _address(array):
    return array.__array_interface__["data"][0]


def restore(some, before):
    """Give the arrays of arguments the values of their `copies` again, and know again what of them nobody has
    written."""
    for a, b in zip(some, before, strict=True):
        if isinstance(a, tuple):
            restore(a, b)
        elif isinstance(a, np.ndarray | DeviceNDArray):
            if isinstance(a, DeviceNDArray) and a._unwritten is not None:
                a._unwritten.bytes = b._unwritten.bytes
            a, b = (v._data if isinstance(v, DeviceNDArray) else v for v in (a, b))
            if a.flags.writeable:
                a[...] = b


def same(some, others):
    """Whether two lists of arguments hold the same values, bit by bit."""
    for a, b in zip(some, others, strict=True):
        if isinstance(a, tuple):
            if not same(a, b):
                return False
        elif isinstance(a, np.ndarray | DeviceNDArray):
            a, b = (v._data if isinstance(v, DeviceNDArray) else v for v in (a, b))
            if a.tobytes() != b.tobytes():
                return False
    return True
