"""Device functions that get something that is known before the kernel runs: a function, a type, the size of an array.

    def bump(values, size, change):                         in bump, as it is called here, ``size`` and ``change`` are
        tile = cuda.shared.array(size, int32)               names for 32 and for cuda.atomic.add, not variables
        ...
        change(tile, 0, 1)

    bump(x, 32, cuda.atomic.add)

numba compiles a device function for the types of its arguments, and a function or a literal has a type of its own. Here
each such call has a Python function of its own, with the same code, that carries what is known of its parameters.
"""

import ast
import numbers as abstract_numbers
import types as python_types

import numpy as np
from numba.core import types as nb

from .names import DeviceName, python_of
from .syntax import stored_names
from .tree import tree_of

_MARK = "_known_parameters"


def known_parameters(python_function):
    """{parameter: what is known of it}."""
    return getattr(python_function, _MARK, {})


def as_called(source, call, python_function):
    """The Python function of a device function, as a call in ``source`` has it; itself where nothing is known."""
    parameters = parameters_of(python_function)
    passed = dict(zip(parameters, call.args, strict=False))
    passed.update({k.arg: k.value for k in call.keywords if k.arg in parameters})
    known, sizes = {}, None
    for parameter, node in passed.items():
        is_known, value = source.static(node) if isinstance(node, ast.Name | ast.Attribute) else (False, None)
        if is_known and _only_by_name(value):
            known[parameter] = value
            continue
        size = source.constant_shape(node)
        if size is not None:
            sizes = _sizes(type(source)(python_function)) if sizes is None else sizes
            if parameter in sizes:
                known[parameter] = size if isinstance(node, ast.Tuple) or _is_tuple(source, node) else size[0]
    if known:
        stored = stored_names(tree_of(python_function))
        known = {name: value for name, value in known.items() if name not in stored}
    return _with(python_function, known) if known else python_function


def _only_by_name(value):
    """Whether it is no value that a variable can hold: a function of cuda, a device function, a type."""
    if isinstance(value, DeviceName):
        return value.kind not in ("value", "place")
    if isinstance(value, abstract_numbers.Number | np.ndarray | tuple | str):
        return False
    return isinstance(value, nb.Type | np.dtype) or callable(value)


def _is_tuple(source, node):
    """Whether a shape that is known is a tuple, or one number."""
    known, value = source.static(node)
    return isinstance(value, tuple) if known else len(source.constant_shape(node)) > 1


def parameters_of(python_function):
    """Names of all parameters, those that can be given by position first."""
    arguments = tree_of(python_function).args
    return [a.arg for a in (*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs)]


def _sizes(source, seen=()):
    """Parameters that are sizes of a shared or local array, in a device function or in one that it hands them to."""
    python_function = source.python_function
    parameters, found = parameters_of(python_function), set()
    for call in (node for node in ast.walk(source.node) if isinstance(node, ast.Call)):
        if source.is_local(call.func) or not isinstance(call.func, ast.Name | ast.Attribute):
            continue
        called = source.static(call.func)[1]
        passed = [*call.args, *(k.value for k in call.keywords)]
        if isinstance(called, DeviceName) and called.kind == "array":
            of_sizes = source.bind(call, called)[:1]
        elif (inner := python_of(called)) and inner not in seen and inner is not python_function:
            wanted = _sizes(type(source)(inner), (*seen, python_function))
            names = [*parameters_of(inner)[: len(call.args)], *(k.arg for k in call.keywords)]
            of_sizes = [node for node, name in zip(passed, names, strict=False) if name in wanted]
        else:
            continue
        found.update(n.id for node in of_sizes for n in ast.walk(node) if isinstance(n, ast.Name))
    return found & set(parameters)


def _with(python_function, known):
    """One function for the same code and the same things known."""
    made = python_function.__dict__.setdefault("_made_for_what_is_known", {})
    key = tuple((name, type(value), value) for name, value in sorted(known.items(), key=lambda item: item[0]))
    if key not in made:
        f = python_function
        copy = python_types.FunctionType(f.__code__, f.__globals__, f.__name__, f.__defaults__, f.__closure__)
        copy.__kwdefaults__, copy.__qualname__, copy.__module__ = f.__kwdefaults__, f.__qualname__, f.__module__
        setattr(copy, _MARK, known)
        made[key] = copy
    return made[key]
