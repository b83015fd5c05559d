"""Device functions: compiled by themselves, or made part of the kernel where they have a barrier or shared memory
inside."""

import ast
import inspect
from dataclasses import dataclass

from numba import njit

from ..executor.lowering import Lowering as ExecutorLowering
from ..executor.program import LoweredFunction
from ..source.tree import tree_of
from . import storage
from .core import HIDDEN, Sync, assign, call, contains, name
from .lowering import Lowering
from .vectorise import ThreadLoops


@dataclass
class Device:
    """A device function that is compiled by itself. ``effects``: "thread", "load", "store"."""

    name: str
    effects: frozenset


class DeviceFunctions:
    """The part of `Unit` that knows device functions."""

    def must_inline(self, function):
        """Whether a device function has a barrier, a warp operation or shared memory inside."""
        if function in self.inlining:
            return False
        self.inlining.append(function)
        try:
            names = self.names_of(function, [])
            checker = Lowering(self, names)
            for node in ast.walk(names.node):
                if isinstance(node, ast.Call):
                    if checker.synchronises(node):
                        return True
                    found, value = (False, None) if checker._is_local(node.func) else names.static(node.func)
                    if found and getattr(value, "path", "") == "shared.array":
                        return True
            return False
        finally:
            self.inlining.pop()

    def names_of(self, function, kinds):
        """The executor's lowering of a function: it knows what names mean."""
        lowered = LoweredFunction(self.program, function, kinds, is_kernel=False)
        return ExecutorLowering(lowered, tree_of(function))

    def bound_arguments(self, lowering, node, function, stands_in):
        """The arguments of a call in the order of the parameters; defaults as constants that carry a bound name."""
        if stands_in:
            return node.args
        signature = inspect.signature(function)
        bound = signature.bind(*node.args, **{k.arg: k.value for k in node.keywords})
        nodes = []
        for parameter in signature.parameters.values():
            if parameter.name in bound.arguments:
                nodes.append(bound.arguments[parameter.name])
            else:
                constant = ast.Constant(None)
                constant.bound = self.bind(parameter.default)
                nodes.append(constant)
        return nodes

    def inlined(self, lowering, node, function, kinds):
        if function in self.in_progress:
            lowering.refuse(node, "a device function that calls itself")
        self.counter += 1
        return Lowering(self, self.names_of(function, kinds), prefix=f"_i{self.counter}_")

    def device(self, lowering, node, function, kinds, stands_in):
        """A device function, compiled by itself; called with the thread's place and its own arguments."""
        if function in self.in_progress:
            lowering.refuse(node, "a device function that calls itself")
        if function not in self.devices:
            self.in_progress.add(function)
            names = self.names_of(function, kinds)
            inner = Lowering(self, names)
            parameters = [a.arg for a in names.node.args.posonlyargs + names.node.args.args]
            if stands_in:
                inner.context = parameters.pop(0)
            outer, self.private = self.private, {}
            if isinstance(names.node, ast.Lambda):
                lowering.refuse(node, "a lambda")
            body = inner.block(names.node.body)
            body = [*self.local_arrays(), *with_stop(body)]
            self.private = outer
            made = function_of(function.__name__, [*HIDDEN, *parameters], body, function, self.namespace)
            compiled = njit(error_model="numpy", nogil=True, _nrt=False, pipeline_class=ThreadLoops)(made)
            known = self.bind(compiled, f"_d_{function.__name__}")
            if not inner.effects:
                self.pure.add(known)
            self.devices[function] = Device(known, frozenset(inner.effects))
            self.in_progress.discard(function)
        return self.devices[function]

    def local_arrays(self):
        """Assignments that make the private arrays of a device function."""
        made = []
        for identifier, (shape, dtype) in self.private.items():
            maker = self.bind(storage.whole_array(shape, dtype))
            made.append(assign(identifier, call(maker), self.origin))
        return made


def with_stop(block):
    """``while`` loops that end when the launch is told to stop (Ctrl-C must end a loop that never ends) or the block
    has
    failed: what is read outside an array is 0, and may be what the loop goes on for."""
    for node in ast.walk(ast.Module(block, [])):
        if isinstance(node, ast.While) and not contains(node, Sync):
            node.test = ast.BoolOp(ast.And(), [call("_going_on", name("_stop"), name("_flag")), node.test])
    return block


def function_of(identifier, parameters, statements, original, namespace):
    """A Python function from statements; its lines are those of the original, so that errors name them."""
    arguments = ast.arguments([], [ast.arg(p) for p in parameters], None, [], [], None, [])
    tree = ast.FunctionDef(identifier, arguments, statements or [ast.Pass()], [], None, type_params=[])
    tree.lineno = original.__code__.co_firstlineno
    tree.col_offset, tree.end_lineno, tree.end_col_offset = 0, tree.lineno, 0
    module = ast.fix_missing_locations(ast.Module([tree], []))
    code = compile(module, original.__code__.co_filename, "exec", dont_inherit=True)
    scope = {}
    exec(code, namespace, scope)
    made = scope[identifier]
    made.tree = tree
    return made
