"""``numba.vectorize`` and ``guvectorize`` with ``target="cuda"``: numba imports these builders from
``numba.cuda.vectorizers``.

Each declared type is a kernel with one thread for each element (or for each turn of the outer loops), made from text.
"""

import itertools
import linecache

import numpy as np
from numba.core import sigutils, types
from numba.np.numpy_support import as_dtype
from numba.np.ufunc.sigparse import parse_signature

from .dispatcher import Dispatcher
from .hostarrays import DeviceNDArray, device_array, to_device
from .source.names import DEVICE

THREADS = 128
_numbers = itertools.count(1)


def _kernel(core, name, parameters, statement):
    """A kernel that does something for each of its ``count`` threads."""
    text = f"def {name}({', '.join(parameters)}, count):\n    i = grid(1)\n    if i < count:\n        {statement}\n"
    file = f"<vectorize {next(_numbers)}: {name}>"
    linecache.cache[file] = len(text), None, text.splitlines(keepends=True), file
    names = {"grid": DEVICE["grid"], "core": core}
    exec(compile(text, file, "exec"), names)
    return Dispatcher(names[name])


class _Builder:
    """What numba's decorators ask: the function, then each of its types, then what is to be called."""

    def __init__(self, function, identity=None, cache=False, targetoptions=None):
        self.function, self.types = getattr(function, "py_func", function), []
        self.core = Dispatcher(self.function, (), device=True)

    def add(self, sig):
        self.types.append(sigutils.normalize_signature(sig))

    def disable_compile(self):
        """Nothing is compiled before it is called."""


class CUDAVectorize(_Builder):
    def build_ufunc(self):
        return ElementWise(self)


class CUDAGUFuncVectorize(_Builder):
    def __init__(self, function, signature, identity=None, cache=False, targetoptions=None, writable_args=()):
        super().__init__(function)
        if writable_args:
            raise TypeError("writable_args are not supported")
        self.signature = signature

    def build_ufunc(self):
        return Generalized(self)


class _Called:
    def __init__(self, builder):
        self.builder, self.pyfunc, self.__name__ = builder, builder.function, builder.function.__name__
        self.__doc__ = builder.function.__doc__

    def _chosen(self, arrays):
        """The first declared types to which all arguments can be cast safely."""
        for declared, result in self.builder.types:
            wanted = [as_dtype(t.dtype if isinstance(t, types.Array) else t) for t in declared[: len(arrays)]]
            if all(_fits(a, w) for a, w in zip(arrays, wanted, strict=True)):
                return declared, wanted, result
        came = ", ".join(str(a.dtype) for a in arrays)
        raise TypeError(f"no matching signature of {self.__name__} for argument types {came}")


def _fits(array, wanted):
    return np.can_cast(array.dtype, wanted, "safe") or (
        array.ndim == 0 and np.can_cast(array.dtype, wanted, "same_kind")
    )


def _host(value):
    return value._data if isinstance(value, DeviceNDArray) else np.asarray(value)


def _returned(result, shape, arguments, out):
    """As numba returns it: on the device where an argument lies there, else on the host, else into ``out``."""
    result = result.reshape(shape)
    if out is not None:
        if isinstance(out, DeviceNDArray):
            out.copy_to_device(result)
        else:
            out[...] = result.copy_to_host()
        return out
    if any(isinstance(a, DeviceNDArray) for a in arguments):
        return result
    return result.copy_to_host() if shape else result.copy_to_host()[()]


class ElementWise(_Called):
    """A function of numbers, called with arrays that are broadcast together."""

    def __init__(self, builder):
        super().__init__(builder)
        names = [f"a{k}" for k in range(len(builder.types[0][0]))]
        call = f"out[i] = core({', '.join(f'{n}[i]' for n in names)})"
        self.kernel = _kernel(builder.core, self.__name__, [*names, "out"], call)

    def __call__(self, *arguments, out=None, stream=0):
        arrays = [_host(a) for a in arguments]
        if len(arrays) != len(self.builder.types[0][0]):
            raise TypeError(f"{self.__name__} takes {len(self.builder.types[0][0])} arguments, {len(arrays)} came")
        _, wanted, result = self._chosen(arrays)
        broadcast = np.broadcast_arrays(*arrays)
        shape = broadcast[0].shape
        flat = [to_device(np.ascontiguousarray(a, t).reshape(-1)) for a, t in zip(broadcast, wanted, strict=True)]
        made = device_array(max(1, broadcast[0].size), as_dtype(result))
        if broadcast[0].size:
            self.kernel[-(-broadcast[0].size // THREADS), THREADS](*flat, made, broadcast[0].size)
        return _returned(made[: broadcast[0].size], shape, arguments, out)

    def reduce(self, array, stream=0):
        """From left to right; numba halves the array again and again."""
        host = _host(array)
        total = host[0]
        for value in host[1:]:
            total = self.pyfunc(total, value)
        return host.dtype.type(total)


class Generalized(_Called):
    """A function of small arrays, called for each turn of the loops around them: its layout is ``(m,n),(n)->(m)``."""

    def __init__(self, builder):
        super().__init__(builder)
        self.inputs, self.outputs = parse_signature(builder.signature)
        self.kernels = {}

    def _kernel(self, declared):
        """Scalars of the layout are numbers where they are declared so, else arrays of one element."""
        scalars = tuple(not isinstance(t, types.Array) for t in declared)
        if scalars not in self.kernels:
            names = [f"a{k}" for k in range(len(declared))]
            parts = [f"{n}[i, 0]" if scalar else f"{n}[i]" for n, scalar in zip(names, scalars, strict=True)]
            self.kernels[scalars] = _kernel(self.builder.core, self.__name__, names, f"core({', '.join(parts)})")
        return self.kernels[scalars]

    def __call__(self, *arguments, out=None, stream=0):
        nin, arguments = len(self.inputs), list(arguments)
        out = arguments.pop() if len(arguments) == nin + 1 and out is None else out
        if len(arguments) != nin or len(self.outputs) != 1:
            raise TypeError(f"{self.__name__} takes {nin} arguments and gives one; {len(arguments)} came")
        arrays, (result,) = [_host(a) for a in arguments], self.outputs
        declared, wanted, _ = self._chosen(arrays)
        sizes, outer = {}, []
        for array, dimensions in zip(arrays, self.inputs, strict=True):
            inner = array.shape[array.ndim - len(dimensions) :]
            if len(inner) != len(dimensions) or any(
                sizes.setdefault(d, n) != n for d, n in zip(dimensions, inner, strict=True)
            ):
                raise ValueError(
                    f"{self.__name__}: shapes {[a.shape for a in arrays]} do not match {self.builder.signature}"
                )
            outer.append(array.shape[: array.ndim - len(dimensions)])
        loops = np.broadcast_shapes(*outer)
        count = int(np.prod(loops))
        flat = []
        for array, dimensions, dtype in zip(arrays, self.inputs, wanted, strict=True):
            inner = array.shape[array.ndim - len(dimensions) :]
            stacked = np.ascontiguousarray(np.broadcast_to(array, (*loops, *inner)), dtype)
            flat.append(to_device(stacked.reshape(count, *(inner or (1,)))))
        shape = tuple(sizes[d] for d in result)
        made = to_device(np.zeros((count, *(shape or (1,))), as_dtype(declared[-1].dtype)))
        if count:
            self._kernel(declared)[-(-count // THREADS), THREADS](*flat, made, count)
        return _returned(made, (*loops, *shape), arguments, out)
