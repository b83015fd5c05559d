"""A kernel as both engines know it: a Python function, what was declared of it, and what they have made of it."""

import functools

from numba.core import sigutils, types

from .executor.program import Program
from .source import kinds
from .typed.refusals import refusal, signature_of


class Kernel:
    """A kernel, or a device function where ``device`` is true. ``py_func`` is the Python function, untouched.

    Nothing is read before the first launch; global and closure variables are frozen then, as in numba.
    """

    def __init__(self, py_func, signatures=(), device=False, options=None):
        functools.update_wrapper(self, py_func)
        self.py_func = py_func
        self.device = device
        self.is_kernel = not device
        self.targetoptions = dict(options or {}, device=device)
        self.declared = [_declared(s) for s in signatures]
        self._programs, self._refusals = {}, {}
        self.has_types = False  # whether numba need not be asked: it was read from a language in which all has a type
        self.compiled = {}  # what the compiled engine has made of it, by the kind of launch
        self.__defaults__ = py_func.__defaults__

    def program(self, values, traced=False, counted=False):
        """The kernel lowered for the executor and for arguments of the kinds of ``values``, once for each."""
        argument_kinds = [kinds.of_argument(value) for value in values]
        key = tuple(argument_kinds), traced, counted
        if key not in self._programs:
            self._programs[key] = Program(self.py_func, argument_kinds, traced, counted)
        self._refuse_without_types(values)
        return self._programs[key]

    def _refuse_without_types(self, values):
        """Raise what numba's types say of the kernel for such arguments; asked once for each kind of them."""
        if self.has_types:
            return
        key = signature_of(values)
        if key not in self._refusals:
            self._refusals[key] = refusal(self.py_func, values)
        if self._refusals[key] is not None:
            raise self._refusals[key].with_traceback(None)


def kernel_of(function):
    """A ``Kernel`` for itself, for a kernel of numba.cuda, or for a Python function."""
    return function if isinstance(function, Kernel) else Kernel(getattr(function, "py_func", function))


def _declared(signature):
    """Argument types of a signature given to ``jit``: a string, or numba types."""
    arguments, result = sigutils.normalize_signature(signature)
    if result not in (None, types.none):
        return None if result is None else (arguments, result)
    return arguments, None
