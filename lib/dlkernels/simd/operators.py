"""Operators of numbers, vectors and arrays in our kernels: typed once.

numba tries one definition of an operator after the other, each time one is written, and makes a message of each that
does not fit: a dozen for a sum of two integers, twice. The answer is always the same. numba's own typing stays as it
is: our kernels are typed in a context beside it, which knows what it knows.
"""

import functools
import operator

from numba import types

from .tile import TileType
from .vector import VectorType

try:
    from numba.core.datamodel import models, register_default
    from numba.core.registry import cpu_target
    from numba.core.typing import Context
except ImportError:  # no public interface: where it has moved, numba's own way is slow, but right
    Context = None

KINDS = types.Number, types.Boolean, types.IntegerLiteral, types.BooleanLiteral, types.Array, VectorType, TileType

if Context is not None:

    @functools.cache
    def _known(found):
        """The type of an operator that knows its answers, for numba's."""
        known = object.__new__(_Operator)
        known.__dict__ = found.__dict__ | {"known": {}}
        return known

    class _Operator(types.Function):
        def get_call_type(self, context, arguments, named):
            arguments = tuple(arguments)
            signature = self.known.get(arguments)
            if signature is None or named:
                signature = super().get_call_type(context, arguments, named)
                ours = self._impl_keys[signature.args] is self.typing_key  # others follow their caller's options
                if ours and not named and all(isinstance(one, KINDS) for one in arguments):
                    self.known[arguments] = signature
            return signature

    register_default(_Operator)(models.OpaqueModel)

    class _Context(Context):
        def __init__(self):
            self.__dict__ = cpu_target.typing_context.__dict__

        def refresh(self):
            """What others have not loaded when a compiler begins, only a definition inside it can add."""
            cpu_target.typing_context._load_builtins()

        def _lookup_global(self, value):
            found = super()._lookup_global(value)
            ours = isinstance(value, type(operator.add)) and value.__module__ == operator.add.__module__
            return _known(found) if ours and isinstance(found, types.Function) else found

    _context = _Context()


def typed_once(state):
    """Let a compiler of numba type operators in this way. state: the compiler's, before its first pass."""
    if Context is not None and state.typingctx is cpu_target.typing_context:
        state.typingctx, state.targetctx = _context, state.targetctx.subtarget(typing_context=_context)
        state.targetctx.load_additional_registries = _context.refresh
