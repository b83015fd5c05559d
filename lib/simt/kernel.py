"""Kernels: what ``@cuda.jit`` returns, how a launch is checked and its arguments prepared."""

import contextlib
import functools
import inspect
import os
import threading

import numpy as np
from numba.core import sigutils, types
from numba.np.numpy_support import as_dtype

from . import numbers
from .executor.addresses import AddressSpace, describe
from .executor.launch import Launch
from .executor.memory import Array
from .executor.program import Program
from .hostarrays import DeviceNDArray, MappedArray, to_device
from .limits import check_launch, dimensions, most_resident_blocks
from .source import kinds

ORDER = "DLKERNELS_ORDER"
_setting = threading.local()


def check_order(order):
    """``order`` if it is one: "forward", "reverse", "shuffled" or "shuffled:<seed>"."""
    name, _, seed = str(order).partition(":")
    if name not in ("forward", "reverse", "shuffled") or (seed and (name != "shuffled" or not seed.isdigit())):
        raise ValueError(f'order is {order!r}; expected "forward", "reverse", "shuffled" or "shuffled:<seed>"')
    return str(order)


@contextlib.contextmanager
def order(name, seed=None):
    """Run the launches inside the ``with`` in another order of threads and blocks. A correct kernel gives the same.

    name: "forward", "reverse" or "shuffled"; seed: for "shuffled". The environment variable DLKERNELS_ORDER sets the
    default.
    """
    before = getattr(_setting, "order", None)
    _setting.order = check_order(name if seed is None else f"{name}:{seed}")
    try:
        yield
    finally:
        _setting.order = before


@contextlib.contextmanager
def budget(iterations):
    """Stop a launch inside the ``with`` when one thread has run that many loop iterations (``BudgetExceeded``)."""
    before = getattr(_setting, "budget", None)
    _setting.budget = iterations
    try:
        yield
    finally:
        _setting.budget = before


def chosen_order():
    """The order that ``order`` or DLKERNELS_ORDER asks for; None if nobody asks."""
    return getattr(_setting, "order", None) or os.environ.get(ORDER) or None


def chosen_budget():
    """The budget that ``budget`` set; None if there is none."""
    return getattr(_setting, "budget", None)


class Kernel:
    """A kernel, or a device function where ``device`` is true. ``py_func`` is the Python function, untouched.

    Launch it with ``kernel[grid, block](*arguments)``: NumPy arrays are copied to the device and back, device arrays
    stay. Nothing is read or run before the first launch; global and closure variables are frozen then, as in numba.
    """

    def __init__(self, py_func, signatures=(), device=False, options=None):
        functools.update_wrapper(self, py_func)
        self.py_func = py_func
        self.device = device
        self.is_kernel = not device
        self.targetoptions = dict(options or {}, device=device)
        self.declared = [_declared(s) for s in signatures]
        self._programs = {}
        self.__defaults__ = py_func.__defaults__

    def __repr__(self):
        return f"<{'device function' if self.device else 'kernel'} {self.py_func.__name__} of the executor>"

    def __getitem__(self, configuration):
        if not isinstance(configuration, tuple) or not 2 <= len(configuration) <= 4:
            raise ValueError("must specify at least the griddim and blockdim")
        return self.configure(*configuration)

    def configure(self, griddim, blockdim, stream=0, sharedmem=0):
        """``kernel[griddim, blockdim, stream, sharedmem]``: the kernel, ready to be called with its arguments."""
        self._refuse_device()
        return Configured(self, dimensions(griddim, "griddim"), dimensions(blockdim, "blockdim"), int(sharedmem))

    def forall(self, ntasks, tpb=0, stream=0, sharedmem=0):
        """A launch with at least one thread for each of ``ntasks`` tasks, in one dimension."""
        self._refuse_device()
        if ntasks < 0:
            raise ValueError(f"Can't create ForAll with negative task count: {ntasks}")
        threads = tpb or 128
        if not ntasks:
            return lambda *arguments: None
        return self.configure((ntasks + threads - 1) // threads, threads, stream, sharedmem)

    def __call__(self, *arguments, **keywords):
        if self.device:
            return self.py_func(*arguments, **keywords)
        raise ValueError(
            "Kernel launch configuration was not specified. Use the syntax: "
            f"{self.py_func.__name__}[blockspergrid, threadsperblock](arg0, arg1, ..., argn)"
        )

    @property
    def overloads(self):
        """Only for ``overloads[signature].max_cooperative_grid_blocks(blockdim)``, whatever the signature."""
        return _Overloads()

    def _refuse_device(self):
        if self.device:
            raise RuntimeError(f"{self.py_func.__name__} is a device function: only a kernel can be launched")

    def program(self, argument_kinds, traced, counted):
        """The lowered program for these kinds of arguments, made once."""
        key = tuple(argument_kinds), traced, counted
        if key not in self._programs:
            self._programs[key] = Program(self.py_func, argument_kinds, traced, counted)
        return self._programs[key]


class _Overloads:
    def __getitem__(self, signature):
        return self

    def max_cooperative_grid_blocks(self, blockdim, dynsmemsize=0):
        """Most blocks that a kernel with a grid barrier may have."""
        return most_resident_blocks(dimensions(blockdim, "blockdim"))


class Configured:
    """A kernel with its launch configuration."""

    def __init__(self, kernel, grid, block, shared_bytes):
        self.kernel, self.griddim, self.blockdim, self.sharedmem = kernel, grid, block, shared_bytes

    def __call__(self, *arguments):
        from .policy import start

        start(self.kernel, self.griddim, self.blockdim, arguments, self.sharedmem)


def run(kernel, grid, block, args, shared_bytes=0, order=None, trace=None, budget=None):
    """Launch ``kernel`` on the executor, whatever engine is chosen (policy.py).

    kernel: a ``Kernel``, or anything with the kernel's Python function as ``py_func`` (a numba.cuda kernel), or that
    function. grid, block: an int or a tuple of up to three. args: a sequence. shared_bytes: dynamic shared memory.
    order: "forward", "reverse", "shuffled[:seed]"; default: set by ``simt.order``, or DLKERNELS_ORDER, or forward.
    trace: a ``Trace`` to record into (returned, finished). budget: most loop iterations of one thread, None for no
    limit.
    """
    if not isinstance(kernel, Kernel):
        kernel = Kernel(getattr(kernel, "py_func", kernel))
    grid, block = dimensions(grid, "griddim"), dimensions(block, "blockdim")
    check_launch(grid, block, shared_bytes)
    order = check_order(order or chosen_order() or "forward")
    if budget is None:
        budget = chosen_budget()
    prepared = Arguments(kernel, args, trace)
    program = kernel.program([kinds.of_argument(v) for v in prepared.values], trace is not None, budget is not None)
    name = kernel.py_func.__name__
    if trace is not None:
        trace.kernel, trace.grid, trace.block_shape = name, grid, block
        trace.shared_bytes, trace.order, trace.sites = shared_bytes, order, program.sites.sites
    launch = Launch(program, name, grid, block, prepared.values, shared_bytes, order, trace, budget)
    try:
        launch.run()
    finally:
        if trace is not None:
            trace._finish()
    prepared.copy_back()
    return trace


class Arguments:
    """A kernel's arguments, checked and made ready: ``values`` for the kernel, ``copy_back`` for host arrays."""

    def __init__(self, kernel, args, trace):
        function = kernel.py_func
        parameters = list(inspect.signature(function).parameters.values())
        names = [p.name for p in parameters]
        required = sum(p.default is p.empty for p in parameters)
        if not required <= len(args) <= len(names):
            raise TypeError(
                f"kernel {function.__name__} takes {len(names)} arguments ({', '.join(names)}), {len(args)} came"
            )
        args = [*args, *(p.default for p in parameters[len(args) :])]
        self._back = []
        self._addresses = AddressSpace()
        self._trace = trace
        args = [self._on_device(value, name) for value, name in zip(args, names, strict=True)]
        args = _match(kernel, args)
        self.values = [self._value(value, name) for value, name in zip(args, names, strict=True)]

    def _on_device(self, value, name):
        """Host arrays become device arrays, and are copied back after the launch, as numba does."""
        if isinstance(value, MappedArray):
            return DeviceNDArray(value)
        if isinstance(value, np.ndarray):
            if value.dtype.hasobject or value.dtype.kind in "USMm":
                raise TypeError(f"argument {name!r} is an array of {value.dtype}, which a kernel cannot use")
            try:
                copy = to_device(value)
            except ValueError as error:
                raise ValueError(f"argument {name!r}: {error}") from None
            if value.flags.writeable:
                self._back.append((value, copy))
            else:
                copy._data.flags.writeable = False
            return copy
        if isinstance(value, tuple):
            parts = [self._on_device(v, f"{name}[{i}]") for i, v in enumerate(value)]
            return type(value)(*parts) if hasattr(value, "_fields") else tuple(parts)
        if isinstance(value, int) and not -(1 << 63) <= value < 1 << 64:
            raise OverflowError(f"argument {name!r} is {value}, which does not fit into 64 bits")
        return value

    def _value(self, value, name):
        if isinstance(value, DeviceNDArray):
            data = value._data
            base = self._addresses.base(data)
            number = -1
            array = Array(data, name, "global", readonly=not data.flags.writeable, lead=base)
            if self._trace is not None:
                number = len(self._trace.arrays)
                self._trace.arrays.append(describe(array, base))
            array.number = number
            return array
        if isinstance(value, tuple):
            parts = [self._value(v, f"{name}[{i}]") for i, v in enumerate(value)]
            return type(value)(*parts) if hasattr(value, "_fields") else tuple(parts)
        if value is None or isinstance(value, (bool, int, float, complex, np.generic)):
            if isinstance(value, np.datetime64 | np.timedelta64 | np.str_ | np.bytes_ | np.object_):
                raise TypeError(f"argument {name!r} is a {type(value).__name__}, which a kernel cannot use")
            if isinstance(value, int) and value >= 1 << 63:
                return np.uint64(value)
            plain = int(value) if isinstance(value, int) and type(value) not in (int, bool) else value
            return numbers.normal(plain)
        if hasattr(value, "copy_to_host"):
            raise TypeError(
                f"argument {name!r} lives on a GPU ({type(value).__module__}): make it with the same `cuda` as the kernel"
            )
        hint = " (make it a NumPy array: np.array(...))" if isinstance(value, (list, set, range)) else ""
        raise TypeError(f"argument {name!r} is a {type(value).__name__}, which a kernel cannot take{hint}")

    def copy_back(self):
        for host, device in self._back:
            device.copy_to_host(host)


def _declared(signature):
    """Argument types of a signature given to ``jit``: a string, or numba types."""
    arguments, result = sigutils.normalize_signature(signature)
    if result not in (None, types.none):
        return None if result is None else (arguments, result)
    return arguments, None


def _match(kernel, args):
    """The arguments as the first declared signature that accepts them takes them; as they are if none is declared."""
    if not kernel.declared:
        return args
    for declared, _ in kernel.declared:
        converted = [_accept(t, v) for t, v in zip(declared, args, strict=False)]
        if len(declared) == len(args) and all(v is not _NO for v in converted):
            return converted
    came = ", ".join(_typed(v) for v in args)
    known = "\n".join(f"    ({', '.join(map(str, declared))})" for declared, _ in kernel.declared)
    raise TypeError(
        f"No matching definition for argument type(s) {came}\n  {kernel.py_func.__name__} was declared for:\n{known}"
    )


_NO = object()


def _accept(declared, value):
    """``value`` as a parameter of the declared type receives it, or ``_NO``."""
    if isinstance(declared, types.Array):
        if not isinstance(value, DeviceNDArray):
            return _NO
        contiguous = {"C": value.is_c_contiguous(), "F": value.is_f_contiguous()}.get(declared.layout, True)
        fits = value.ndim == declared.ndim and value.dtype == as_dtype(declared.dtype) and contiguous
        return value if fits else _NO
    if isinstance(declared, types.BaseTuple):
        if not isinstance(value, tuple) or len(value) != len(declared):
            return _NO
        parts = [_accept(t, v) for t, v in zip(declared, value, strict=True)]
        return _NO if any(p is _NO for p in parts) else tuple(parts)
    if isinstance(declared, (types.Number, types.Boolean)) and isinstance(value, (int, float, complex, np.generic)):
        if isinstance(value, (complex, np.complexfloating)) and not isinstance(declared, types.Complex):
            return _NO
        return numbers.caster(declared)(value)
    return value if not isinstance(value, DeviceNDArray) else _NO


def _typed(value):
    if isinstance(value, DeviceNDArray):
        layout = "C" if value.is_c_contiguous() else "F" if value.is_f_contiguous() else "A"
        return f"array({value.dtype}, {value.ndim}d, {layout})"
    try:
        return str(numbers.numba_type(type(value)))
    except TypeError:
        return type(value).__name__
