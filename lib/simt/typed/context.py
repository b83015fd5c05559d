"""A typing context with what a GPU has, and the inference of a function in it."""

import inspect
import threading
from types import FunctionType

from numba.core import compiler, types
from numba.core.compiler_machinery import PassManager
from numba.core.errors import NumbaError, TypingError
from numba.core.registry import cpu_target
from numba.core.target_extension import target_override
from numba.core.typed_passes import NopythonTypeInference
from numba.core.typing.context import BaseContext
from numba.core.typing.templates import fold_arguments, signature

from ..intrinsics import Intrinsic, stand_ins
from ..source.names import DeviceName, DeviceNamespace, canonical
from ..vectors import VectorType
from .device_names import TYPES, registry


class DeviceFunction(types.Callable, types.Type):
    """The type of one device function: inferred anew for the types of each call."""

    def __init__(self, python_function):
        self.python_function = python_function
        super().__init__(f"device function {python_function.__name__} at {id(python_function)}")

    def get_call_type(self, context, args, kws):
        return context.inference.call(self.python_function, args, kws)

    def get_call_signatures(self):
        return (), True

    def get_impl_key(self, sig):
        return self.python_function


class Context(BaseContext):
    """numba's builtins, NumPy's functions of numbers, ``math`` and the names of cuda. ``inference``: the one under way."""

    inference = None

    def load_additional_registries(self):
        from numba.core.typing import cmathdecl, enumdecl, npydecl

        for each in (cmathdecl.registry, enumdecl.registry, npydecl.registry, registry):
            self.install_registry(each)

    def resolve_value_type(self, value):
        """The type of a global or closure variable, or of a module's member."""
        value = canonical(value)
        if isinstance(value, DeviceName):
            return TYPES[value]
        if isinstance(value, DeviceNamespace):
            return types.Module(value)
        if isinstance(getattr(value, "py_func", None), FunctionType) and not getattr(value, "is_kernel", False):
            return DeviceFunction(value.py_func)
        if _has_types_elsewhere(value):
            self.inference.unknown = True
        return super().resolve_value_type(value)


def _has_types_elsewhere(value):
    """Whether it is an intrinsic or a vector, which only the compiler for GPUs has types for."""
    if isinstance(value, Intrinsic | VectorType):
        return True
    try:
        return value in stand_ins
    except TypeError:
        return False


class _OnlyTypes(compiler.CompilerBase):
    """numba's pipeline up to the types."""

    def define_pipelines(self):
        manager = PassManager("types")
        manager.passes.extend(compiler.DefaultPassBuilder.define_untyped_pipeline(self.state).passes)
        manager.add_pass(NopythonTypeInference, "nopython frontend")
        manager.finalize()
        return [manager]


def infer(function, argument_types, typing=None):
    """The state of numba's pipeline, with the types of all variables of a Python function. NumbaError if it has none."""
    flags = compiler.Flags()
    flags.error_model, flags.nrt = "numpy", False
    with target_override("cpu"):
        typing, target = typing or cpu_target.typing_context, cpu_target.target_context
        typing.refresh()
        target.refresh()
        pipeline = _OnlyTypes(typing, target, None, argument_types, None, flags, {})
        pipeline.state.cr = "only types"  # what the pipeline asks for at its end
        pipeline.compile_extra(function)
    return pipeline.state


class Inference:
    """The inference of one kernel and the device functions that it calls.

    unknown: whether it met something whose types only its engine knows. failed: (function, error) of the device function that
    has no types.
    """

    def __init__(self):
        self.unknown, self.failed, self._under_way = False, None, []

    def run(self, function, argument_types):
        """The type that the function returns. NumbaError where it has no types."""
        with _lock:
            context = _context()
            before, context.inference = context.inference, self
            try:
                return infer(function, argument_types, context).return_type
            finally:
                context.inference = before

    def call(self, function, args, kws):
        """The signature of a call of a device function."""
        python_signature = inspect.signature(function)
        try:
            args = fold_arguments(
                python_signature, args, kws, lambda _, __, t: t, lambda _, __, value: types.Omitted(value), _no_star
            )
        except TypeError as error:
            raise TypingError(str(error)) from None
        if function in self._under_way:  # numba knows recursion, too, but not in this order
            self.unknown = True
            raise TypingError(f"{function.__name__} calls itself")
        self._under_way.append(function)
        try:
            result = self.run(function, args)
        except NumbaError as error:
            self.failed = self.failed or (function, error)
            raise
        finally:
            self._under_way.pop()
        self.failed = None
        return signature(result, *args).replace(pysig=python_signature)


def _no_star(*_):
    raise TypingError("*args are not possible in a kernel")


_lock = threading.RLock()
_made = []


def _context():
    if not _made:
        _made.append(Context())
    return _made[0]
