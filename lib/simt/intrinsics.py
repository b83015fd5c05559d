"""Python stand-ins for compiler intrinsics (``numba.cuda.extending.intrinsic``), which have no Python body.

A 16-byte load, for example::

    @intrinsic
    def load4(typingctx, array, index): ...          # emits <4 x float> load, on a GPU

    def load4_in_python(context, array, index):      # the same, for the executor
        return context.load(array, index, 4)         # recorded as one access of 16 bytes

    simt.stand_in(load4, load4_in_python)

The stand-in takes the intrinsic's arguments after a ``context`` (``executor/standins.py``) with ``context.load(array,
index, count)``, ``context.store(array, index, values)``, and for copies that arrive later ``context.send`` and
``context.arrive``. Where it needs barriers or warp operations, it is a device function (``cuda.jit(device=True)``) with
the intrinsic's arguments.

A device function that a warp calls together, full of shuffles, is slow in the executor, which runs thread by thread.
``warp_stand_in`` gives it a function that has the operands of all 32 lanes at once; the compiled engine goes on with
the shuffles.
"""

import functools
import importlib

stand_ins = {}
warp_names = {}  # device function -> the name of the warp operation that takes its place in the executor
warp_functions = {}  # that name -> function


@functools.cache
def extending():
    """numba.cuda.extending: numba-cuda's, with types of its own, or else numba's."""
    try:
        return importlib.import_module("numba.cuda.extending")
    except ImportError:
        return importlib.import_module("numba.extending")


class Types:
    """numba's types as numba.cuda has them, loaded when the first is asked for."""

    def __getattr__(self, name):
        return getattr(getattr(extending(), "types", None) or importlib.import_module("numba.types"), name)


class Intrinsic:
    """``@Intrinsic``: as numba.cuda's ``@intrinsic``, which is loaded when a kernel is compiled for a GPU, not
    before."""

    def __init__(self, define):
        self.define = define
        functools.update_wrapper(self, define)

    @functools.cached_property
    def there(self):
        """The intrinsic of numba.cuda."""
        return extending().intrinsic(self.define)

    def __call__(self, *_):
        raise NotImplementedError(f"{self.__name__} works inside kernels only; a kernel calls it on the device")


def stand_in(intrinsic, python_function):
    """Let kernels that call ``intrinsic`` run ``python_function(context, *arguments)``, or a device function of the
    same arguments, on the CPU. Returns intrinsic."""
    if not (callable(python_function) or hasattr(python_function, "py_func")):
        raise TypeError(f"stand_in takes a Python function, a {type(python_function).__name__} came")
    stand_ins[intrinsic] = python_function
    return intrinsic


def warp_stand_in(device_function, function):
    """Let the executor run ``function(lanes)`` in place of a device function that all 32 lanes of a warp call together.

    lanes: lane -> arguments; the result: lane -> what that lane's call returns. Its name stands in messages.
    """
    warp_names[getattr(device_function, "py_func", device_function)] = function.__name__
    warp_functions[function.__name__] = function
