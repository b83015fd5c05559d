"""What the source of a kernel or device function means before it runs: what both engines read it with."""

import ast
import contextlib
import numbers as abstract_numbers

import numpy as np

from ..errors import NotOnAGpu
from .known import as_called, known_parameters
from .names import DeviceName, Scope, member, python_of
from .sites import site_of
from .syntax import local_names, root_name
from .tree import tree_of


class Source:
    """One function's source.

    node: its syntax tree. locals: names of its variables. aliases: variable -> the function that it is another name
    for, or parameter -> what is known of it (known.py); not among the locals then. in_inner: whether names are read as
    a function inside this one sees them.
    """

    def __init__(self, python_function):
        self.python_function, self.name = python_function, python_function.__name__
        self.node = tree_of(python_function)
        self.scope = Scope(python_function)
        self.locals = local_names(self.node)
        self.in_inner = False
        self.aliases = dict(known_parameters(python_function))
        self.locals -= set(self.aliases)
        self._find_aliases()

    @property
    def parameters(self):
        """Names of the parameters that can be given by position."""
        return [a.arg for a in self.node.args.posonlyargs + self.node.args.args]

    def site(self, node, kind):
        return site_of(node, kind, self.python_function)

    def refuse(self, node, what, error=NotOnAGpu, kernel=None):
        """Raise ``error``, with the line."""
        raise error(what, site=self.site(node, "refused"), kernel=kernel or self.name)

    # -- names --------------------------------------------------------------------------------------------------------

    def is_local(self, node):
        return isinstance(node, ast.Name) and node.id in self.locals

    def static(self, node):
        """(True, object) where an expression is known before the kernel runs: a global, a closure, a module's
        member."""
        if isinstance(node, ast.Constant):
            return True, node.value
        if isinstance(node, ast.Name) and node.id in self.aliases:
            return True, self.aliases[node.id]
        if isinstance(node, ast.Name) and node.id not in self.locals:
            try:
                return True, self.scope.lookup(node.id)
            except NameError as error:
                self.refuse(node, f"{error}")
        if isinstance(node, ast.Attribute):
            known, value = self.static(node.value)
            if known and not isinstance(value, (DeviceName, np.ndarray, abstract_numbers.Number)):
                try:
                    return True, member(value, node.attr)
                except AttributeError:
                    owner = ast.unparse(node.value)
                    self.refuse(node, f"{owner} has no {node.attr!r} that can be used in a kernel")
        return False, None

    def static_item(self, node):
        """(True, object) where ``sizes[0]`` is an item of a tuple that is known before the kernel runs."""
        known, value = self.static(node.value) if isinstance(node.value, (ast.Name, ast.Attribute)) else (False, None)
        if known and isinstance(value, tuple):
            known, index = self.static(node.slice)
            if known and isinstance(index, int) and -len(value) <= index < len(value):
                return True, value[index]
        return False, None

    def _find_aliases(self):
        """``sync = cuda.syncthreads``: a variable that is only ever another name for a function."""
        if isinstance(self.node, ast.Lambda):
            return
        stores = [n.id for n in ast.walk(self.node) if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Store)]
        arguments = {a.arg for a in ast.walk(self.node) if isinstance(a, ast.arg)}
        for statement in ast.walk(self.node):
            if not (isinstance(statement, ast.Assign) and isinstance(statement.value, (ast.Name, ast.Attribute))):
                continue
            target = statement.targets[0]
            if len(statement.targets) > 1 or not isinstance(target, ast.Name) or target.id in arguments:
                continue
            if stores.count(target.id) != 1 or root_name(statement.value) in self.locals:
                continue
            known, value = self.static(statement.value)
            is_value = isinstance(value, (abstract_numbers.Number, np.ndarray, np.dtype, tuple, str, type(None)))
            if isinstance(value, DeviceName):
                is_value = value.kind == "value"
            if known and not is_value:
                self.aliases[target.id] = value
                self.locals.discard(target.id)

    @contextlib.contextmanager
    def inside(self, node):
        """Names as a function or lambda defined inside this function sees them."""
        outer = self.in_inner, self.locals
        arguments = {a.arg for a in node.args.args}
        self.in_inner = True
        self.locals = self.locals | arguments | (local_names(node) if isinstance(node, ast.FunctionDef) else set())
        try:
            yield
        finally:
            self.in_inner, self.locals = outer

    # -- calls --------------------------------------------------------------------------------------------------------

    def bind(self, node, name):
        """Arguments of a call of one of cuda's names, in the order of its parameters (None: not given)."""
        passed = dict(zip(name.parameters, node.args, strict=False))
        for keyword in node.keywords:
            if keyword.arg not in name.parameters or keyword.arg in passed:
                self.refuse(node, f"{ast.unparse(node.func)}() got an unexpected argument {keyword.arg!r}")
            passed[keyword.arg] = keyword.value
        if len(node.args) > len(name.parameters):
            count = len(name.parameters)
            self.refuse(node, f"{ast.unparse(node.func)}() takes {count} arguments, {len(node.args)} came")
        missing = [p for p in name.parameters if p not in passed and p not in name.optional]
        if missing:
            self.refuse(node, f"{ast.unparse(node.func)}() misses the argument {missing[0]!r}")
        return [passed.get(p) for p in name.parameters]

    def callee(self, call):
        """The Python function of the device function that a call calls, as it is called here; None for anything
        else."""
        if self.is_local(call.func) or not isinstance(call.func, ast.Name | ast.Attribute):
            return None
        function = python_of(self.static(call.func)[1])
        return None if function is None else as_called(self, call, function)

    def constant_shape(self, node, seen=()):
        """The shape as a tuple of ints, or None where it is not a constant in numba's eyes. seen: variables on the way
        here."""
        if isinstance(node, ast.Tuple):
            parts = [self.constant_shape(e, seen) for e in node.elts]
            return None if any(p is None or len(p) != 1 for p in parts) else tuple(p[0] for p in parts)
        if isinstance(node, ast.BinOp) and all(isinstance(n, ast.Constant) for n in (node.left, node.right)):
            return _as_shape(eval(compile(ast.Expression(node), "shape", "eval"), {"__builtins__": {}}))
        if self.is_local(node):
            if node.id in seen:  # a = b, b = a
                return None
            names = [n for n in ast.walk(self.node) if isinstance(n, ast.Name) and n.id == node.id]
            stores = [n for n in names if isinstance(n.ctx, ast.Store)]
            for n in ast.walk(self.node):
                if isinstance(n, ast.Assign) and len(stores) == 1 and n.targets == stores:
                    return self.constant_shape(n.value, (*seen, node.id))
            return None
        known, value = self.static_item(node) if isinstance(node, ast.Subscript) else self.static(node)
        return _as_shape(value) if known else None

    def assigned_name(self, call):
        """The variable that a call, or a part cut out of it at once, is assigned to, as its author calls it; None if
        there is none."""
        for node in ast.walk(self.node):
            if isinstance(node, ast.Assign):
                for target in node.targets:
                    pairs = [(target, node.value)]
                    if isinstance(target, ast.Tuple) and isinstance(node.value, ast.Tuple):
                        pairs = list(zip(target.elts, node.value.elts, strict=False))
                    for left, right in pairs:
                        while isinstance(right, ast.Subscript) and isinstance(right.slice, ast.Slice):
                            right = right.value
                        if right is call and isinstance(left, ast.Name):
                            return left.id
        return None


def _as_shape(value):
    values = value if isinstance(value, tuple) else (value,)
    if all(isinstance(v, (int, np.integer)) and not isinstance(v, bool) for v in values):
        return tuple(map(int, values))
    return None
