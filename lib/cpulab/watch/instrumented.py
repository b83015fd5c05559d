"""A numba function as a Python function whose arrays, loops and reductions report to a Recorder.

Only four things of its source are changed: `prange` hands out iterations, `name += x` inside a parallel loop is a
reduction (as in numba), a variable that an iteration sets is worthless in the next one until it is set there, and whole
numbers have 64 bits (whole.py). Where Python's `math` raises, it says what compiled code computes.
"""

import ast
import functools
import inspect
import linecache
import math
import operator
import textwrap
import types

import numba
import numpy as np

from . import whole
from .arrays import UNNAMED, TracedArray, as_traced
from .loops import Loop
from .recorder import Carried, Region

_WATCH = "__watch__"
_OPERATORS = {name: functools.partial(whole.of, name) for name in whole.OPERATORS} | {
    "Div": operator.truediv,
    "FloorDiv": operator.floordiv,
    "Mod": operator.mod,
    "BitOr": operator.or_,
    "BitAnd": operator.and_,
    "BitXor": operator.xor,
    "MatMult": operator.matmul,
}


class Unset:
    """A variable whose value belongs to another iteration. Using it in any way is an error."""

    def __init__(self, name):
        object.__setattr__(self, "_name", name)

    def _used(self, *_, **__):
        raise Carried(object.__getattribute__(self, "_name"))

    __add__ = __radd__ = __sub__ = __rsub__ = __mul__ = __rmul__ = __truediv__ = __rtruediv__ = _used
    __floordiv__ = __rfloordiv__ = __mod__ = __rmod__ = __pow__ = __rpow__ = __neg__ = __abs__ = __bool__ = _used
    __eq__ = __ne__ = __lt__ = __le__ = __gt__ = __ge__ = __getitem__ = __setitem__ = __index__ = __float__ = _used
    __int__ = __call__ = __iter__ = __len__ = __and__ = __or__ = __xor__ = __getattr__ = __array__ = _used
    __hash__ = None


class Hooks:
    """What the changed program calls."""

    def __init__(self, recorder, schedule, chunk):
        self.recorder, self.schedule, self.chunk = recorder, schedule, chunk

    def loop(self, values, line):
        """The iterations of `for i in prange(...)`: parallel if outermost, else a plain loop."""
        recorder = self.recorder
        if recorder.region >= 0:
            yield from values
            return
        region = Region(line)
        recorder.regions.append(region)
        recorder.region = len(recorder.regions) - 1
        try:
            yield from Loop(recorder, self.schedule, self.chunk).run(region, list(values))
        finally:
            recorder.region, recorder.thread, recorder.iteration = -1, 0, -1

    def combine(self, operator, target, value):
        """`target op= value` for a name inside a parallel loop: each thread has its own, so no access is shared."""
        if not isinstance(target, TracedArray):
            return _OPERATORS[operator](target, value)
        value = value._load_all() if isinstance(value, TracedArray) else value
        target._data[...] = _OPERATORS[operator](target._data, value)
        return target

    def unset(self, name):
        return Unset(name)

    def named(self, name, value):
        """`name = value`: an array that the function made is called by that name in reports."""
        if isinstance(value, TracedArray) and value._root.made and value._root.name in UNNAMED:
            value._root.name = name
        return value


_KNOWN = frozenset(
    [
        "array",
        "asarray",
        "ascontiguousarray",
        "zeros",
        "ones",
        "empty",
        "full",
        "zeros_like",
        "ones_like",
        "empty_like",
        "full_like",
        "arange",
        "linspace",
        "eye",
        "identity",
        "concatenate",
        "stack",
        "vstack",
        "hstack",
        "column_stack",
        "split",
        "array_split",
        "reshape",
        "ravel",
        "transpose",
        "swapaxes",
        "expand_dims",
        "copy",
        "sum",
        "mean",
        "median",
        "std",
        "var",
        "prod",
        "min",
        "max",
        "amin",
        "amax",
        "minimum",
        "maximum",
        "fmin",
        "fmax",
        "argmin",
        "argmax",
        "argsort",
        "sort",
        "searchsorted",
        "unique",
        "abs",
        "absolute",
        "fabs",
        "exp",
        "exp2",
        "expm1",
        "log",
        "log2",
        "log10",
        "log1p",
        "sqrt",
        "square",
        "cbrt",
        "power",
        "sin",
        "cos",
        "tan",
        "tanh",
        "sinh",
        "cosh",
        "arctan",
        "arctan2",
        "sign",
        "floor",
        "ceil",
        "rint",
        "round",
        "trunc",
        "clip",
        "where",
        "cumsum",
        "cumprod",
        "diff",
        "dot",
        "vdot",
        "inner",
        "outer",
        "matmul",
        "trace",
        "any",
        "all",
        "isnan",
        "isinf",
        "isfinite",
        "allclose",
        "array_equal",
        "add",
        "subtract",
        "multiply",
        "divide",
        "true_divide",
        "floor_divide",
        "mod",
        "remainder",
        "negative",
        "reciprocal",
        "maximum",
        "logical_and",
        "logical_or",
        "logical_not",
        "logical_xor",
        "bitwise_and",
        "bitwise_or",
        "bitwise_xor",
        "equal",
        "not_equal",
        "less",
        "less_equal",
        "greater",
        "greater_equal",
        "take",
        "repeat",
        "flip",
        "roll",
        "count_nonzero",
        "nonzero",
        "bincount",
        "histogram",
        "interp",
        "copysign",
        "hypot",
        "ndindex",
    ]
)


class NumPy:
    """np, with the arrays it makes traced. Holds computing only: nothing that reads files or runs programs."""

    def __init__(self, recorder):
        self.__recorder = recorder

    def __getattr__(self, name):
        value = getattr(np, name)
        if isinstance(value, int | float | np.generic) or value is None:
            return value
        if isinstance(value, type) and issubclass(value, np.generic | np.ndarray | bool):
            return value
        if name not in _KNOWN:
            raise AttributeError(f"watch does not know np.{name}; write the loop, or use another function")

        def call(*args, **kwargs):
            result = value(*args, **kwargs)
            result = as_traced(result, self.__recorder, False) if isinstance(result, np.ndarray) else result
            if name in ("empty", "empty_like"):
                result._root.unset = set(result._addresses.ravel().tolist())
            return result

        return call


class Math:
    """The module math; what it refuses, such as exp(1000), is what compiled code computes."""

    def __getattr__(self, name):
        return compiled_math(getattr(math, name))


def compiled_math(function):
    """A function of math that gives infinity or NaN, where Python's raises."""
    numpys = getattr(np, function.__name__, None) if callable(function) else None
    if numpys is None:
        return function

    def call(*args):
        try:
            return function(*args)
        except (OverflowError, ValueError):
            return float(numpys(*args))

    return call


class Namespace:
    """A module with some names replaced."""

    def __init__(self, module, names):
        self.__module, self.__names = module, names

    def __getattr__(self, name):
        return self.__names[name] if name in self.__names else getattr(self.__module, name)


class ChangedCopies:
    """Changed copies of a function and of the numba functions it calls."""

    def __init__(self, recorder, schedule, chunk):
        self.recorder, self.copies = recorder, {}
        hooks = Hooks(recorder, schedule, chunk)

        def thread_id():
            recorder.asks_for_thread = True
            return recorder.thread

        self.numba_names = {
            "prange": range,
            "get_thread_id": thread_id,
            "get_num_threads": lambda: recorder.threads,
            "set_num_threads": lambda n: None,
            "set_parallel_chunksize": lambda n: 0,
            "get_parallel_chunksize": lambda: 0,
        }
        self.values = {id(getattr(numba, name)): new for name, new in self.numba_names.items()}
        self.values |= {id(function): compiled_math(function) for function in vars(math).values()}
        self.values |= {id(np): NumPy(recorder), id(numba): Namespace(numba, self.numba_names), id(math): Math()}
        self.hooks = hooks

    def function(self, original):
        """The changed copy of a Python function (or of what a numba function was made from)."""
        original = getattr(original, "py_func", original)
        if original in self.copies:
            return self.copies[original]
        tree, lines = _tree_of(original)
        whole.WholeIn64Bits().visit(_Change(original).visit(tree))
        tree.decorator_list = []
        module = ast.fix_missing_locations(ast.Module([tree], []))
        space = dict(original.__globals__)
        for name, cell in zip(original.__code__.co_freevars, original.__closure__ or (), strict=True):
            space[name] = cell.cell_contents
        space |= {_WATCH: self.hooks, **whole.NAMES}
        self.copies[original] = None
        exec(compile(module, original.__code__.co_filename, "exec"), space)
        copy = space[original.__name__]
        copy.__defaults__ = original.__defaults__
        self._register(copy.__code__, lines)
        self.copies[original] = copy
        for name in _names(copy.__code__):
            if name in space and name != original.__name__:
                space[name] = self._replaced(space[name])
        return copy

    def _register(self, code, lines):
        self.recorder.sources[code] = lines
        for constant in code.co_consts:
            if isinstance(constant, types.CodeType):
                self._register(constant, lines)

    def _replaced(self, value):
        if id(value) in self.values:
            return self.values[id(value)]
        if hasattr(value, "py_func"):
            return self.function(value)
        if isinstance(value, np.ndarray):
            return TracedArray(value, self.recorder.root(value, "a global array", False), self.recorder)
        return value


def _names(code):
    names = set(code.co_names)
    for constant in code.co_consts:
        if isinstance(constant, types.CodeType):
            names |= _names(constant)
    return names


def _tree_of(function):
    """(syntax tree with the lines of its file, those lines)."""
    code = function.__code__
    lines = linecache.getlines(code.co_filename, function.__globals__)
    try:
        module = ast.parse("".join(lines))
    except SyntaxError:  # a notebook's cell with a magic
        module = ast.parse(textwrap.dedent(inspect.getsource(function)))
        ast.increment_lineno(module, code.co_firstlineno - 1)
    for node in ast.walk(module):
        if isinstance(node, ast.FunctionDef) and node.name == function.__name__:
            if min([node.lineno, *(d.lineno for d in node.decorator_list)]) == code.co_firstlineno:
                return node, lines
    raise ValueError(
        f"the source of {function.__name__} was not found; watch needs a function written with def in a file or a cell"
    )


class _Change(ast.NodeTransformer):
    """Parallel loops, their reductions, and what may not be carried from iteration to iteration."""

    def __init__(self, function):
        self.depth, self.space = 0, function.__globals__
        closure = zip(function.__code__.co_freevars, function.__closure__ or (), strict=True)
        self.closure = {name: cell.cell_contents for name, cell in closure}

    def _is_prange(self, node):
        if not isinstance(node, ast.Call):
            return False
        function = node.func
        if isinstance(function, ast.Attribute) and isinstance(function.value, ast.Name):
            module = self.closure.get(function.value.id, self.space.get(function.value.id))
            return module is numba and function.attr == "prange"
        if isinstance(function, ast.Name):
            return self.closure.get(function.id, self.space.get(function.id)) is numba.prange
        return False

    def visit_For(self, node):
        if not self._is_prange(node.iter):
            self.generic_visit(node)
            return node
        outermost, private = self.depth == 0, []
        if outermost:
            private = sorted(_private(node))
        self.depth += 1
        self.generic_visit(node)
        self.depth -= 1
        node.iter = ast.copy_location(_call("loop", node.iter, ast.Constant(node.lineno)), node.iter)
        if not outermost:
            return node
        unset = [_assign(name, _call("unset", ast.Constant(name)), node) for name in private]
        node.body = [*unset, *node.body]
        return [node, *(_assign(name, _call("unset", ast.Constant(name)), node) for name in private)]

    def visit_Assign(self, node):
        self.generic_visit(node)
        if (
            len(node.targets) == 1
            and isinstance(node.targets[0], ast.Name)
            and isinstance(node.value, ast.Call | ast.BinOp)
        ):
            name = ast.Constant(node.targets[0].id)
            node.value = ast.copy_location(_call("named", name, node.value), node.value)
        return node

    def visit_AugAssign(self, node):
        self.generic_visit(node)
        if not self.depth or not isinstance(node.target, ast.Name):
            return node
        name = node.target.id
        old = ast.Name(name, ast.Load())
        value = _call("combine", ast.Constant(type(node.op).__name__), old, node.value)
        return _assign(name, value, node)


def _call(hook, *args):
    return ast.Call(ast.Attribute(ast.Name(_WATCH, ast.Load()), hook, ast.Load()), list(args), [])


def _assign(name, value, node):
    return ast.copy_location(ast.Assign([ast.Name(name, ast.Store())], value), node)


def _private(loop):
    """Names that the body of a parallel loop sets, other than by a reduction that numba knows."""
    index = {n.id for n in ast.walk(loop.target) if isinstance(n, ast.Name)}
    plain = set()
    for statement in loop.body:
        for node in ast.walk(statement):
            if isinstance(node, ast.Assign):
                for target in node.targets:
                    for name in ast.walk(target):
                        if isinstance(name, ast.Name) and isinstance(name.ctx, ast.Store):
                            if not _reduces(name.id, node.value):
                                plain.add(name.id)
            elif isinstance(node, ast.For):
                plain |= {n.id for n in ast.walk(node.target) if isinstance(n, ast.Name)}
    return plain - index


def _reduces(name, value):
    """Whether `name = value` is a reduction: name = name + x, name = max(name, x) ..."""
    is_name = lambda node: isinstance(node, ast.Name) and node.id == name  # noqa: E731
    if isinstance(value, ast.BinOp):
        commutes = isinstance(value.op, ast.Add | ast.Mult)
        return is_name(value.left) or (commutes and is_name(value.right))
    return (
        isinstance(value, ast.Call)
        and isinstance(value.func, ast.Name)
        and value.func.id in ("min", "max")
        and any(map(is_name, value.args))
    )
