"""Whether a kernel has types, and what is said of one that has none."""

import ast
import operator
import re
from types import FunctionType

import numpy as np
from numba import typeof
from numba.core import ir, types
from numba.core.errors import NumbaError, TypingError
from numba.np.numpy_support import from_dtype

from ..errors import NotOnAGpu
from ..source.function import Source
from ..source.refused import OURS
from .context import Inference
from .words import words


class NoTypes(NotOnAGpu, TypingError):
    """The kernel's variables and operations have no types, for the arguments of this launch. For numba, a
    TypingError."""

    def __init__(self, reason, **where):
        super().__init__(reason, **where)
        self.msg, self.loc = reason, None


def signature_of(values):
    """What tells the types of a launch's arguments from those of others; cheap, since each launch asks."""
    return tuple(map(_kind, values))


def _kind(value):
    data = getattr(value, "data", None)
    if isinstance(data, np.ndarray):
        flags = data.flags
        return data.dtype, data.ndim, flags.c_contiguous, flags.f_contiguous, value.readonly
    return (type(value), *map(_kind, value)) if isinstance(value, tuple) else type(value)


def _type(value):
    """numba's type of an argument as the executor holds it."""
    data = getattr(value, "data", None)
    if isinstance(data, np.ndarray):
        layout = "C" if data.flags.c_contiguous else "F" if data.flags.f_contiguous else "A"
        return types.Array(from_dtype(data.dtype), data.ndim, layout, readonly=value.readonly)
    if isinstance(value, tuple):
        return types.BaseTuple.from_types(tuple(map(_type, value)), type(value) if hasattr(value, "_fields") else None)
    return typeof(value)


def refusal(python_function, values):
    """The `NoTypes` of a kernel that has no types for these arguments; None where it has, or where nobody knows."""
    inference = Inference()
    try:
        argument_types = tuple(map(_type, values))
    except (NumbaError, ValueError, NotImplementedError):
        return None
    if any("float16" in str(kind) for kind in argument_types):  # of which numba knows nothing on a CPU
        return None
    try:
        state = inference.run(python_function, argument_types)
    except NumbaError as error:
        if inference.unknown or "float16" in str(error):
            return None
        function, error = inference.failed or (python_function, error)
        return _refusal(Source(function), error, python_function.__name__)
    except Exception:  # of numba's own making, and numba-cuda's passes are not the same to the letter
        return None
    source = Source(python_function)
    if state.return_type != types.none:
        return _at(source, None, ast.AST, "CUDA kernel must have void return type: write results to an array argument")
    line = _divided_in_place(state)
    if line is not None:
        what = (
            "`/=` gives a float, and this array holds whole numbers: numba-cuda fails on it. Write a[i] = int32(a[i] / "
            "b), or `//=`"
        )
        return _at(source, line, ast.AugAssign, what)
    return None


def _divided_in_place(state):
    """The line of an element of an integer array that is divided in place by an integer."""
    floats = set()
    for block in state.func_ir.blocks.values():
        for step in block.body:
            value = getattr(step, "value", None)
            in_place = isinstance(value, ir.Expr) and value.op == "inplace_binop"
            if in_place and value.fn is operator.itruediv:
                if not any(isinstance(t, types.Float | types.Complex) for t in state.calltypes[value].args):
                    floats.add(step.target.name)
            if isinstance(step, ir.SetItem | ir.StaticSetItem) and value.name in floats:
                if isinstance(getattr(state.typemap[step.target.name], "dtype", None), types.Integer | types.Boolean):
                    return step.loc.line
    return None


def _refusal(source, error, kernel):
    said = re.sub("\x1b\\[[0-9;]*m", "", str(error))
    _, ours, reason = said.partition(OURS)
    what, wanted = (reason.split("\n")[0], ast.Call | ast.Subscript | ast.BinOp) if ours else words(said)
    return _at(source, getattr(getattr(error, "loc", None), "line", None), wanted, what, kernel)


def _at(source, line, wanted, what, kernel=None):
    """The `NoTypes` with the first node on a line that is of a kind, or of which a function `wanted` says so."""
    nodes = [n for n in ast.walk(source.node) if line is not None and getattr(n, "lineno", None) == line]
    nodes.sort(key=lambda n: n.col_offset)  # as they are typed
    fits = wanted if isinstance(wanted, FunctionType) else lambda n: isinstance(n, wanted)
    items = (
        n for n in nodes if fits is wanted and isinstance(n, ast.Subscript)
    )  # an index that is a tuple by another name
    node = next(filter(fits, nodes), next(items, nodes[0] if nodes else source.node))
    named = f"array {ast.unparse(node.value)!r}" if isinstance(node, ast.Subscript) else "the array"
    return NoTypes(what.replace("{array}", named), site=source.site(node, "refused"), kernel=kernel or source.name)
