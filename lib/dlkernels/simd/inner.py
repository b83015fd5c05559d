"""Functions that kernels are made of: compiled once, in the kernel that calls them.

numba makes machine code of every ``@njit`` function, ready for a call from Python, and then links the function into
each one that calls it, where it is optimised and made machine code of again: a function below five others is compiled
six times, and the kernel runs the last copy. Here such a function stays LLVM's instructions until a kernel is made of
it. A first convolution then takes a third of the time (`tests/simd/test_inner.py` counts the copies).
"""

import contextlib
import functools
from types import CodeType

from numba import njit

try:
    from numba import types
    from numba.core import ir
    from numba.core.codegen import JITCodeLibrary
    from numba.core.compiler import Compiler
    from numba.core.compiler_machinery import register_pass
    from numba.core.errors import TypingError
    from numba.core.registry import CPUDispatcher, cpu_target
    from numba.core.typed_passes import NopythonRewrites
    from numba.core.untyped_passes import InlineClosureLikes

    _known = all(
        hasattr(JITCodeLibrary, name)
        for name in ("_get_module_for_linking", "_finalize_dynamic_globals", "_optimize_final_module")
    )
except ImportError:  # no public interface: where it has moved, numba's own way is slow, but right
    _known = False

#: Intrinsics whose result is an array that counts no references.
UNOWNED = set()
WRAPPERS = {"nopython": True, "no_cpython_wrapper": True, "no_cfunc_wrapper": True}

if _known:
    # numba asks LLVM for the size of each variable, and has it parse a module for that: once for each type will do
    cpu_target.target_context.get_abi_sizeof = functools.cache(cpu_target.target_context.get_abi_sizeof)

    class _Library(JITCodeLibrary):
        """Code that is kept as LLVM's instructions: to be linked into others, never run from here."""

        def _optimize_functions(self, module):
            """As numba's, but for functions that are only named."""
            module.data_layout = self._codegen._data_layout
            for function in module.functions:
                if not function.is_declaration:
                    passes, builder = self._codegen._function_pass_manager()
                    passes.run(function, builder)

        def finalize(self):
            self._raise_if_finalized()
            for library in dict.fromkeys(self._linking_libraries):
                self._reload_init.update(library._reload_init)
                self._final_module.link_in(library._get_module_for_linking(), preserve=True)
            if not any(isinstance(library, _Library) for library in self._linking_libraries):
                # innermost loops: some are slower where LLVM sees them first in their callers
                self._optimize_final_module()
            self._finalize_dynamic_globals()
            self._finalized = True

        def get_pointer_to_function(self, name):
            self._ensure_finalized()
            return 0

        codegen = property(lambda self: self)

        def set_env(self, name, environment):
            """An environment is set where machine code is."""

    class _Compiler(Compiler):
        def define_pipelines(self):
            self.state.library = _Library(self.state.targetctx.codegen(), self.state.func_id.func_qualname)
            self.state.library.enable_object_caching()
            (pipeline,) = super().define_pipelines()
            nested = any(isinstance(constant, CodeType) for constant in self.state.func_id.code.co_consts)
            pipeline.passes = [
                (_Rewrites if step is NopythonRewrites else step, says)
                for step, says in pipeline.passes
                if nested or step is not InlineClosureLikes
            ]
            pipeline.finalize()
            return [pipeline]

    @register_pass(mutates_CFG=True, analysis_only=False)
    class _Rewrites(NopythonRewrites):
        """A function that makes no array and returns none has no array expression to rewrite, and counts no references:
        its caller's do. They would be a tenth of what is compiled."""

        _name = "inner_rewrites"
        PASSED_ON = "getattr", "static_getitem", "getitem", "build_tuple", "exhaust_iter", "cast"

        def __init__(self):
            super().__init__()

        def run_pass(self, state):
            def counted(kind):
                return state.targetctx.data_model_manager[kind].contains_nrt_meminfo()

            def passed_on(value):
                if isinstance(value, ir.Expr) and value.op == "call":
                    called = state.typemap[value.func.name]
                    return isinstance(called, types.NamedTupleClass) or getattr(called, "typing_key", None) in UNOWNED
                if isinstance(value, ir.Expr) and value.op == "getitem":
                    return not counted(state.typemap[value.index.name])
                return not isinstance(value, ir.Expr) or value.op in self.PASSED_ON

            def makes_none(statement):
                if isinstance(statement, (ir.SetItem, ir.StaticSetItem)):  # an array may be copied first
                    return not counted(state.typemap[statement.value.name])
                if not isinstance(statement, ir.Assign) or passed_on(statement.value):
                    return True
                return not counted(state.typemap[statement.target.name])

            lines = (statement for block in state.func_ir.blocks.values() for statement in block.body)
            if counted(state.return_type) or not all(map(makes_none, lines)):
                return super().run_pass(state)
            state.targetctx = state.targetctx.subtarget(enable_nrt=False)
            return False

    def _any_number(kind):
        if isinstance(kind, types.BaseTuple) and not isinstance(kind, types.BaseNamedTuple):
            return types.Tuple([_any_number(member) for member in kind])
        return types.unliteral(kind) if isinstance(kind, types.IntegerLiteral) else kind

    class _Inner(CPUDispatcher):
        """What `inner_njit` makes."""

        def __init__(self, py_func, locals=None, targetoptions=None, pipeline_class=None):
            super().__init__(py_func, locals or {}, WRAPPERS | (targetoptions or {}), _Compiler)
            self.options = targetoptions or {}

        def get_call_template(self, arguments, named):
            """A number that the caller knows is compiled as any other, unless the function must know it, too."""
            plain = tuple(map(_any_number, arguments))
            if plain != tuple(arguments):
                with contextlib.suppress(TypingError):
                    return super().get_call_template(plain, named)
            return super().get_call_template(arguments, named)

        @functools.cached_property
        def whole(self):
            """The function by itself, as ``@njit`` compiles it: what a call from Python runs."""
            return njit(**self.options)(self.py_func)

        def __call__(self, *arguments, **named):
            return self.whole(*arguments, **named)


#: Options of numba's `overload` (as `jit_options`) for implementations that are compiled in this way.
INNER = {"nopython": True} if not _known else WRAPPERS | {"pipeline_class": _Compiler}


def inner_njit(**options):
    """``@inner_njit()``: as ``@njit``, for a function that compiled functions call.

    Called from Python, it is compiled a second time, by itself. options: those of ``@njit`` but for cache and parallel.
    """

    def decorate(function):
        if not _known:
            return njit(**options)(function)
        return _Inner(function, targetoptions=options)

    return decorate
