"""An array that reports each load and store to a Recorder, and otherwise behaves like its NumPy array.

What is its own begins with an underscore: an admitted answer cannot reach it, and so not the record either.
"""

import numpy as np
from numpy.lib.mixins import NDArrayOperatorsMixin

from .recorder import LOAD, STORE

UNNAMED = ("an array made inside", "a temporary array")
_NO_LOADS = {"shape", "ndim", "size", "zeros_like", "empty_like", "ones_like", "full_like", "result_type"}
_METHODS = {
    "sum", "mean", "std", "var", "min", "max", "prod", "any", "all", "argmin", "argmax", "argsort", "cumsum", "dot",
    "copy",
    "reshape", "ravel", "transpose", "round", "clip", "take", "repeat", "nonzero", "trace", "diagonal", "swapaxes",
}  # fmt: skip


class TracedArray(NDArrayOperatorsMixin):
    """`_data`: the NumPy array or a view of it; `_root`: the memory it lives in."""

    __slots__ = ("_data", "_offsets", "_recorder", "_root")
    __hash__ = None

    def __init__(self, data, root, recorder):
        self._data, self._root, self._recorder, self._offsets = data, root, recorder, None

    shape = property(lambda self: self._data.shape)
    size = property(lambda self: self._data.size)
    ndim = property(lambda self: self._data.ndim)
    dtype = property(lambda self: self._data.dtype)
    itemsize = property(lambda self: self._data.itemsize)
    nbytes = property(lambda self: self._data.nbytes)
    strides = property(lambda self: self._data.strides)
    T = property(lambda self: self._like(self._data.T))

    def __len__(self):
        return len(self._data)

    def __iter__(self):
        return (self[i] for i in range(len(self._data)))

    def __repr__(self):
        return f"TracedArray({self._root.name}, shape {self.shape})"

    def _like(self, view):
        return TracedArray(view, self._root, self._recorder)

    @property
    def _start(self):
        """Byte address of the first element."""
        begin = self._root.array.__array_interface__["data"][0]
        return self._root.base + self._data.__array_interface__["data"][0] - begin

    @property
    def _addresses(self):
        """Byte address of every element."""
        if self._offsets is None:
            offsets = np.zeros(self._data.shape, np.int64)
            for axis, (n, stride) in enumerate(zip(self._data.shape, self._data.strides, strict=True)):
                offsets += (np.arange(n) * stride).reshape([-1 if i == axis else 1 for i in range(self._data.ndim)])
            self._offsets = offsets + self._start
        return self._offsets

    def _load_all(self):
        """The NumPy array, with every element's load recorded."""
        self._recorder.note(LOAD, self._root, self._addresses)
        return self._data

    def __getitem__(self, key):
        key = _plain_key(key)
        picked = self._data[key]
        if isinstance(picked, np.ndarray):
            if np.may_share_memory(picked, self._data) and not _is_fancy(key):
                return self._like(picked)
            self._recorder.note(LOAD, self._root, self._addresses[key])
            return as_traced(picked, self._recorder, temporary=True)
        self._recorder.note(LOAD, self._root, int(self._addresses[key]))
        return picked

    def __setitem__(self, key, value):
        key = _plain_key(key)
        if isinstance(value, TracedArray):
            target = self._data[key]
            if isinstance(target, np.ndarray) and _same_memory(target, value._data):
                return  # `a[i] += b` stores a[i] in place, then again
            value = value._load_all()
        self._data[key] = value
        where = self._addresses[key]
        self._recorder.note(STORE, self._root, where if isinstance(where, np.ndarray) else int(where))

    def __array_ufunc__(self, ufunc, method, *inputs, out=None, **kwargs):
        if method == "at":
            target, index, *rest = inputs
            where = target._addresses[_plain_key(index)]
            self._recorder.note(LOAD, target._root, where)
            getattr(ufunc, method)(target._data, _plain_key(index), *[_loaded(x) for x in rest])
            self._recorder.note(STORE, target._root, where)
            return None
        plain = [_loaded(x) for x in inputs]
        targets = out or ()
        if targets:
            kwargs["out"] = tuple(t._data if isinstance(t, TracedArray) else t for t in targets)
        with np.errstate(all="ignore"):
            result = getattr(ufunc, method)(*plain, **kwargs)
        for target in targets:
            if isinstance(target, TracedArray):
                target._recorder.note(STORE, target._root, target._addresses)
        if targets:
            return targets[0] if len(targets) == 1 else targets
        return _wrapped(result, self._recorder)

    def __array_function__(self, function, types, args, kwargs):
        name = function.__name__
        if name == "copyto":
            args[0][...] = args[1]
            return None
        plain = _map(lambda a: a._data, (args, kwargs))
        with np.errstate(all="ignore"):
            result = function(*plain[0], **plain[1])
        if name in _NO_LOADS:
            return _wrapped(result, self._recorder, temporary=False)
        for array in _arrays((args, kwargs)):
            if isinstance(result, np.ndarray) and np.may_share_memory(result, array._data):
                return array._like(result)
        for array in _arrays((args, kwargs)):
            array._load_all()
        return _wrapped(result, self._recorder)

    def __getattr__(self, name):
        if name in _METHODS:
            return lambda *args, **kwargs: getattr(np, name)(self, *args, **kwargs)
        raise AttributeError(f"watch does not know the attribute {name!r} of an array")

    def fill(self, value):
        self[...] = value

    def astype(self, dtype, **_):
        return as_traced(self._load_all().astype(dtype), self._recorder, temporary=True)

    def flatten(self):
        return as_traced(self._load_all().flatten(), self._recorder, temporary=True)

    def item(self, *index):
        return self[index].item() if index else self._load_all().item()

    def __float__(self):
        return float(self._load_all())

    def __int__(self):
        return int(self._load_all())

    def __bool__(self):
        return bool(self._load_all())


def as_traced(array, recorder, temporary):
    """A traced array for one that the function made."""
    recorder.allocations += 1
    recorder.temporaries += temporary
    return TracedArray(array, recorder.root(array, UNNAMED[temporary], True), recorder)


def _wrapped(result, recorder, temporary=True):
    if isinstance(result, tuple | list):
        return type(result)(_wrapped(x, recorder, temporary) for x in result)
    if isinstance(result, np.ndarray) and result.ndim:
        return as_traced(result, recorder, temporary)
    return result[()] if isinstance(result, np.ndarray) else result


def _loaded(x):
    return x._load_all() if isinstance(x, TracedArray) else x


def _plain_key(key):
    if isinstance(key, tuple):
        return tuple(_loaded(k) for k in key)
    return _loaded(key)


def _is_fancy(key):
    return any(isinstance(k, np.ndarray | list) for k in (key if isinstance(key, tuple) else (key,)))


def _same_memory(a, b):
    same = a.__array_interface__["data"][0] == b.__array_interface__["data"][0]
    return same and a.shape == b.shape and a.strides == b.strides


def _map(change, value):
    if isinstance(value, TracedArray):
        return change(value)
    if isinstance(value, tuple | list):
        return type(value)(_map(change, x) for x in value)
    if isinstance(value, dict):
        return {k: _map(change, x) for k, x in value.items()}
    return value


def _arrays(value):
    if isinstance(value, TracedArray):
        yield value
    elif isinstance(value, tuple | list):
        for x in value:
            yield from _arrays(x)
    elif isinstance(value, dict):
        yield from _arrays(list(value.values()))
