"""A Python function, or operator, that compiled code replaces by a few of LLVM's instructions.

    emitted(operator.neg, describe, (VectorType,))      describe(type): (signature, emit) as an intrinsic's, or None

An intrinsic has no meaning in Python, and ``overload`` makes a function of one call around it, which numba takes
through its whole compiler for each mix of types.
"""

import inspect

from numba.extending import lower_builtin, type_callable


def emitted(function, describe, *mixes):
    """In compiled code, a call of `function` is what `describe` says of the types of its arguments.

    mixes: tuples of the classes of types for which it may say something. The parameters of `describe` are the call's.
    """

    def typed(*types, **named):
        found = describe(*types, **named)
        return found and found[0]

    def lower(context, builder, signature, arguments):
        return describe(*signature.args)[1](context, builder, signature, arguments)

    typed.__signature__ = inspect.signature(describe)
    type_callable(function)(lambda context: typed)
    for kinds in mixes:
        lower_builtin(function, *kinds)(lower)
