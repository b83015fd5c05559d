"""A typing context with what a GPU has, and the inference of a function in it."""

import ast
import copy
import functools
import inspect
import operator
import threading
from types import CodeType, FunctionType

import numpy as np
from numba.core import compiler, types
from numba.core import untyped_passes as untyped
from numba.core.compiler_machinery import PassManager
from numba.core.errors import NumbaError, TypingError
from numba.core.registry import cpu_target
from numba.core.target_extension import target_override, target_registry
from numba.core.typed_passes import NopythonTypeInference
from numba.core.typing.context import BaseContext
from numba.core.typing.templates import fold_arguments, signature

from ..intrinsics import Intrinsic, stand_ins
from ..source.names import DeviceName, DeviceNamespace, canonical
from ..source.refused import OURS
from ..source.tree import tree_of
from .device_names import TYPES, UFUNCS, Dim3, Print, registry
from .words import a


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
    """numba's builtins, NumPy's functions of numbers, ``math`` and the names of cuda. ``inference``: the one under
    way."""

    inference, _loaded = None, False

    def __init__(self):
        self._resolved = {}
        super().__init__()

    def refresh(self):
        """Once: numba's pipeline asks for it again with each function."""
        if not self._loaded:
            self._loaded = True
            super().refresh()

    def load_additional_registries(self):
        from numba.core.typing import cmathdecl, enumdecl, npydecl
        from numba.cpython import builtins, enumimpl, iterators, numbers, rangeobj, tupleobj, unicode  # noqa: F401
        from numba.np import arraymath, arrayobj  # noqa: F401 - types of functions, given as they are imported

        for known in (cmathdecl.registry, enumdecl.registry, npydecl.registry, registry):
            self.install_registry(known)

    def resolve_value_type(self, value):
        """The type of a global or closure variable, or of a module's member."""
        value = canonical(value)
        if isinstance(value, DeviceName):
            return TYPES[value]
        if isinstance(value, DeviceNamespace):
            return types.Module(value)
        if isinstance(getattr(value, "py_func", None), FunctionType):  # a kernel called from a kernel is a function
            return DeviceFunction(value.py_func)
        if _has_types_elsewhere(value):
            self.inference.unknown = True
        if isinstance(value, np.ufunc) and value.__name__ not in UFUNCS and not self.inference.in_stand_in:
            raise ValueError(f"np.{value.__name__} does not exist in a kernel")
        return types.Function(Print) if value is print else super().resolve_value_type(value)

    def resolve_setattr(self, target, attr, value):
        """Nothing in a kernel has attributes that can be set, but for records."""
        if isinstance(target, Dim3 | types.Array | types.BaseTuple):
            raise TypingError(f"{OURS}attributes of {a(str(target))} cannot be changed in a kernel")
        return super().resolve_setattr(target, attr, value)

    def resolve_function_type(self, function, args, kws):
        """The signature of a call, or of an operation. Remembered: kernels do the same few things again and again."""
        if kws or type(function) is not types.Function:
            return self._resolve(function, args, kws)
        question = function, tuple(args)
        if question not in self._resolved:
            self._resolved[question] = self._resolve(function, args, kws)
        return self._resolved[question]

    def _resolve(self, function, args, kws):
        """As numba has it; but what it types and does not compile for a GPU has no signature."""
        key = getattr(function, "typing_key", function)
        if key in (min, max) and len(args) == 1 and not isinstance(args[0], types.BaseTuple):
            name, operand = key.__name__, types.unliteral(args[0])
            loop = f": compare in a loop, best = {name}(best, x[i])" if isinstance(operand, types.Array) else ""
            raise TypingError(f"{OURS}{name}() of one value takes a tuple, {a(str(operand))} came{loop}")
        if key is operator.contains and isinstance(args[0], types.Array):
            raise TypingError(f"{OURS}`in` does not search an array here: write the loop")
        try:
            found = super().resolve_function_type(function, args, kws)
        except (ArithmeticError, AssertionError, AttributeError, LookupError, TypeError, ValueError) as error:
            raise TypingError(f"{getattr(key, '__name__', key)}() does not take these arguments: {error}") from None
        if isinstance(getattr(found, "return_type", None), types.Array) and (
            isinstance(key, np.ufunc) or key in _ARITHMETIC
        ):
            raise TypingError(f"{OURS}a whole array cannot be used in arithmetic in a kernel: work on its elements")
        if function is operator.getitem and isinstance(args[1], types.NoneType):
            raise TypingError(f"{OURS}an index must be a whole number, None came")
        return found


_ARITHMETIC = {
    getattr(operator, name)
    for name in (
        "add", "sub", "mul", "truediv", "floordiv", "mod", "pow", "lshift", "rshift", "and_", "or_", "xor", "neg",
        "pos", "invert",
        "lt", "le", "gt", "ge", "eq", "ne", "iadd", "isub", "imul", "itruediv", "ifloordiv", "imod", "ipow", "ilshift",
        "irshift",
        "iand", "ior", "ixor",
    )
}  # fmt: skip


def _has_types_elsewhere(value):
    """Whether it is an intrinsic or a vector, which only the compiler for GPUs has types for."""
    if isinstance(value, Intrinsic) or getattr(value, "types_elsewhere", False):
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


class _Needed(compiler.CompilerBase):
    """The same without the passes that have nothing to do: they take as long as the rest."""

    def define_pipelines(self):
        code = self.state.func_id.code
        inner = any(isinstance(constant, CodeType) for constant in code.co_consts)
        if inner or _UNROLLED & set(code.co_names):
            return _OnlyTypes.define_pipelines(self)
        manager = PassManager("types")
        for compiler_pass in (
            untyped.TranslateByteCode, untyped.FixupArgs, untyped.IRProcessing, untyped.RewriteSemanticConstants,
            untyped.DeadBranchPrune, untyped.GenericRewrites, untyped.RewriteDynamicRaises, untyped.ReconstructSSA,
            untyped.DeadBranchPrune, NopythonTypeInference,
        ):  # fmt: skip
            manager.add_pass(compiler_pass, compiler_pass.__name__)
        manager.finalize()
        return [manager]


_UNROLLED = {"literal_unroll", "literally"}


class _NoTarget:
    """Stands for what the types are later compiled for: nothing is. A target of numba's takes half a second to load."""

    target, enable_nrt, call_conv = target_registry["cpu"], False, None

    def refresh(self):
        """Nothing to load."""

    def subtarget(self, **_):
        return self


def infer(function, argument_types, typing=None, target=None, pipeline=_OnlyTypes):
    """The state of numba's pipeline, with the types of all variables of a Python function. NumbaError if it has
    none."""
    flags = compiler.Flags()
    flags.error_model, flags.nrt = "numpy", False
    with target_override("cpu"):
        typing, target = typing or cpu_target.typing_context, target or cpu_target.target_context
        made = pipeline(typing, target, None, argument_types, None, flags, {})
        made.state.cr = "only types"  # what the pipeline asks for at its end
        made.compile_extra(function)
    return made.state


class Inference:
    """The inference of one kernel and the device functions that it calls.

    unknown: whether it met something whose types only its engine knows. failed: (function, error) of the device
    function that has no types.
    """

    def __init__(self):
        self.unknown, self.failed, self._under_way = False, None, []

    @property
    def in_stand_in(self):
        """Whether the function under way is one of ours, which stands for an instruction of the GPU."""
        return bool(self._under_way) and self._under_way[-1].__module__.startswith(__package__.partition(".")[0] + ".")

    def run(self, function, argument_types):
        """The state of numba's pipeline for the function. NumbaError where it has no types."""
        with _lock:
            context = context_of_kernels()
            before, context.inference = context.inference, self
            try:
                return infer(_as_written(function), argument_types, context, _NoTarget(), _Needed)
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
            result = self.run(function, args).return_type
        except NumbaError as error:
            self.failed = self.failed or (function, error)
            raise
        finally:
            self._under_way.pop()
        self.failed = None
        return signature(result, *args).replace(pysig=python_signature)


def _as_written(function):
    """The function compiled from its source, where something else was made of it: pytest rewrites what asserts."""
    code = function.__code__
    if not any(name.startswith("@") for name in (*code.co_names, *code.co_varnames)):
        return function
    node = copy.deepcopy(tree_of(function))
    node.decorator_list = []
    outer = ast.FunctionDef(
        "make",
        ast.arguments([], [ast.arg(name) for name in code.co_freevars], None, [], [], None, []),
        [node, ast.Return(ast.Name(node.name, ast.Load()))],
        [],
        None,
        type_params=[],
    )
    module = ast.fix_missing_locations(ast.Module([ast.copy_location(outer, node)], []))
    scope = {}
    exec(compile(module, code.co_filename, "exec", dont_inherit=True), function.__globals__, scope)
    written = scope["make"](*(cell.cell_contents for cell in function.__closure__ or ()))
    written.__defaults__, written.__kwdefaults__ = function.__defaults__, function.__kwdefaults__
    return written


def _no_star(*_):
    raise TypingError("*args are not possible in a kernel")


_lock = threading.RLock()


@functools.cache
def context_of_kernels():
    """The one typing context of all kernels."""
    context = Context()
    context.refresh()
    return context
