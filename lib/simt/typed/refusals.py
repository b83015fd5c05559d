"""Whether a kernel has types, and what is said of one that has none."""

import ast
import operator
import re

import numpy as np
from numba import typeof
from numba.core import ir, types
from numba.core.errors import NumbaError
from numba.np.numpy_support import from_dtype

from ..errors import NotOnAGpu
from ..source.function import Source
from ..source.refused import OURS
from .context import Inference


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
    """The `NotOnAGpu` of a kernel that has no types for these arguments; None where it has, or where nobody knows."""
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
        what = "`/=` gives a float, and this array holds whole numbers: numba-cuda fails on it. Write a[i] = int32(a[i] / b), or `//=`"
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


# -- words -------------------------------------------------------------------------------------------------------------

_SYMBOLS = {
    "add": "+", "sub": "-", "mul": "*", "truediv": "/", "floordiv": "//", "mod": "%", "pow": "**", "lshift": "<<",
    "rshift": ">>", "and_": "&", "or_": "|", "xor": "^", "lt": "<", "le": "<=", "gt": ">", "ge": ">=", "eq": "==", "ne": "!=",
    "neg": "-", "pos": "+", "invert": "~", "contains": "in", "is_": "is", "is_not": "is not", "matmul": "@", "not_": "not",
}  # fmt: skip
_UNIFY = re.compile(r"Cannot unify (.+?) and (.+?) for '([^']+)'", re.DOTALL)
_CALL = re.compile(r">>> (\S+?)\((.*)\)$", re.MULTILINE)
_LITERAL = re.compile(r"Literal\[(\w+)\]\((.*?)\)")


def _refusal(source, error, kernel):
    said = re.sub("\x1b\\[[0-9;]*m", "", str(error))
    _, ours, reason = said.partition(OURS)
    what, wanted = (reason.split("\n")[0], ast.Call | ast.Subscript | ast.BinOp) if ours else _words(said)
    return _at(source, getattr(getattr(error, "loc", None), "line", None), wanted, what, kernel)


def _at(source, line, wanted, what, kernel=None):
    """The `NotOnAGpu` with the first node of a kind that stands on a line."""
    here = [n for n in ast.walk(source.node) if line is not None and getattr(n, "lineno", None) == line]
    node = next((n for n in here if isinstance(n, wanted)), here[0] if here else source.node)
    named = f"array {ast.unparse(node.value)!r}" if isinstance(node, ast.Subscript) else "the array"
    return NotOnAGpu(what.replace("{array}", named), site=source.site(node, "refused"), kernel=kernel or source.name)


def _words(said):
    """(what is wrong, in words; the kind of node that it is about) for what numba says."""
    if found := _UNIFY.search(said):
        first, second, variable = found.groups()
        variable = variable.partition(".")[0]
        if variable.startswith("$"):
            return f"one value that is {_a(first)} on one way and {_a(second)} on another: give both one type", ast.expr
        return (
            f"{variable!r} is {_a(first)} on one way and {_a(second)} on another, and a variable in a kernel has one type: "
            "convert one of them, or use two names"
        ), (ast.Assign, ast.AugAssign, ast.For)
    if found := _CALL.search(said):
        name, given = found.group(1).rpartition(".")[2], _parts(found.group(2))
        return _of_call(name, given)
    if found := re.search(r"Unknown attribute '([^']+)' of type (.+)", said):
        owner = re.sub(r"Module\(<module '([\w.]+)'.*", r"\1", found.group(2))
        owner = owner if owner != found.group(2) else _a(owner)
        return f"{owner} has no {found.group(1)!r} in a kernel", ast.Attribute
    if found := re.search(r"unsupported NumPy function '(\S+)'", said):
        name = found.group(1).replace("numpy.", "np.")
        return f"{name}() does not exist in a kernel: of numbers, math has it; of arrays, write the loop", ast.Call
    if "getiter" in said:
        return "a loop in a kernel goes over a range, an array, or a tuple whose items have one type", ast.For
    if found := re.search(r"[Nn]ame '(\w+)' is not defined|[Vv]ariable '(\w+)' is not defined", said):
        return f"{found.group(1) or found.group(2)!r} has no value here on any way", ast.Name
    lines = (line.strip() for line in said.splitlines())
    line = next((n for n in lines if n and not n.startswith("Failed in ")), "no types")
    return f"numba finds no types for this: {line}", ast.AST


def _of_call(name, given):
    arrays = [t for t in given if t.startswith("array(")]
    if name in ("getitem", "setitem", "static_getitem", "static_setitem") and given:
        return _of_item(name.removeprefix("static_"), given), ast.Subscript
    if name in _SYMBOLS:
        nodes = ast.BinOp | ast.UnaryOp | ast.Compare | ast.AugAssign
        if arrays:
            return "a whole array cannot be used in arithmetic in a kernel: work on its elements", nodes
        operands = " and ".join(map(_a, given))
        return f"`{_SYMBOLS[name]}` does not exist for {operands} in a kernel: convert, as in int32(x)", nodes
    if arrays and name in ("min", "max", "abs", "round", "int", "float", "bool", "complex"):
        return f"{name}() of a whole array cannot be used in a kernel: work on its elements", ast.Call
    came = f" for {', '.join(map(_a, given))}" if given else " without arguments"
    return f"{name}() does not exist{came} in a kernel", ast.Call


def _of_item(name, given):
    """What is wrong with an index, or with what is stored; ``{array}`` stands for the array by its name."""
    array, index, *value = given
    if array.startswith("readonly array(") and value:
        return "{array} is read-only: the kernel may not write to it"
    array = array.removeprefix("readonly ")
    if not array.startswith("array("):
        what = "cannot be changed" if value else "cannot be indexed"
        return f"{_a(array)} {what} in a kernel{'' if value else f' with {_a(index)}'}"
    dtype, axes, *_ = _parts(array[6:-1])
    uniform = re.fullmatch(r"UniTuple\(.* x (\d+)\)", index)
    count = int(uniform[1]) if uniform else len(_parts(index[6:-1])) if index.startswith("Tuple(") else 1
    if count > int(axes[:-1]):
        return f"{{array}} has {axes[:-1]} ax{'i' if axes == '1d' else 'e'}s, but {count} indices came"
    if value and not re.search("float|complex|bool|unicode|str|none|array", index):
        return f"cannot store {_a(value[0])} in {{array}} of {dtype}"
    return f"{{array}} is indexed with {_a(index)}: an index must be a whole number"


def _parts(text):
    """The types of a signature as numba writes it."""
    parts, depth, start = [], 0, 0
    for place, letter in enumerate(text):
        depth += (letter in "([<{") - (letter in ")]>}")
        if letter == "," and not depth:
            parts.append(text[start:place])
            start = place + 1
    return [part.strip() for part in (*parts, text[start:]) if part.strip()]


_NAMES = {
    "none": "None", "NoneType(none)": "None", "unicode_type": "a text", "bool": "a truth value", "Dim3": "a place of three axes",
}  # fmt: skip


def _a(kind):
    kind = kind.strip()
    if found := _LITERAL.fullmatch(kind):
        return f"a{'n' if found[1] == 'int' else ''} {found[1].replace('int', 'int64')}"
    if kind.startswith("array("):
        dtype, axes, *_ = _parts(kind[6:-1])
        return f"an array of {dtype} with {axes[:-1]} ax{'i' if axes == '1d' else 'e'}s"
    if kind.startswith(("Tuple(", "UniTuple(")):
        return f"a tuple ({kind.partition('(')[2][:-1]})"
    if kind in _NAMES:
        return _NAMES[kind]
    return f"a{'n' if kind[:1] in 'aeio' else ''} {kind}"
