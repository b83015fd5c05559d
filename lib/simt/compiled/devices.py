"""Device functions: compiled by themselves, or made part of the kernel where they have a barrier or shared memory
inside."""

import ast
import inspect
from dataclasses import dataclass

from numba import njit

from ..source.function import Source
from ..source.known import known_parameters
from ..source.refused import UNSUPPORTED
from . import storage
from .core import assign, call
from .lowering import Lowering
from .rounds import with_limits, with_stop
from .vectorise import ThreadLoops


@dataclass
class Device:
    """A device function that is compiled by itself. ``effects``: "thread", "load", "store"."""

    name: str
    effects: frozenset


class DeviceFunctions:
    """The device functions that a kernel calls. ``unit``: the kernel being compiled."""

    def __init__(self, unit):
        self.unit = unit
        self.sources = {}  # Python function -> its Source
        self.compiled = {}  # Python function -> its Device
        self.in_progress = set()  # those that are being compiled
        self.looked_at = []  # those that `must_inline` is looking at

    def source_of(self, function):
        if function not in self.sources:
            self.sources[function] = Source(function)
        return self.sources[function]

    def must_inline(self, function):
        """Whether a device function has a barrier, a warp operation or shared memory inside."""
        if function in self.looked_at:
            return False
        self.looked_at.append(function)
        try:
            source = self.source_of(function)
            checker = Lowering(self.unit, source)
            for node in ast.walk(source.node):
                if isinstance(node, ast.Call):
                    if checker.synchronises(node):
                        return True
                    known, value = (False, None) if source.is_local(node.func) else source.static(node.func)
                    if known and getattr(value, "path", "") == "shared.array":
                        return True
            return False
        finally:
            self.looked_at.pop()

    def arguments(self, node, function, stands_in):
        """The arguments of a call in the order of the parameters; defaults as constants that carry a bound name."""
        if stands_in:
            return node.args
        signature = inspect.signature(function)
        bound = signature.bind(*node.args, **{k.arg: k.value for k in node.keywords})
        nodes, known = [], known_parameters(function)
        for parameter in signature.parameters.values():
            if parameter.name in known:
                nodes.append(ast.copy_location(ast.Constant(None), node))
            elif parameter.name in bound.arguments:
                nodes.append(bound.arguments[parameter.name])
            else:
                constant = ast.Constant(None)
                constant.bound = self.unit.namespace.bind(parameter.default)
                nodes.append(constant)
        return nodes

    def inlined(self, lowering, node, function):
        """The lowering of a device function that becomes part of the kernel."""
        if function in self.in_progress:
            lowering.refuse(node, "a device function that calls itself")
        return Lowering(self.unit, self.source_of(function), prefix=self.unit.namespace.prefix())

    def device(self, lowering, node, function, stands_in):
        """A device function, compiled by itself; called with the thread's place and its own arguments."""
        if function in self.in_progress:
            lowering.refuse(node, "a device function that calls itself")
        key = function
        if self.unit.counted is not None and stands_in:  # its accesses are those of the call
            key = function, lowering.source.site(node, "call")
        if key not in self.compiled:
            self.in_progress.add(function)
            self.compiled[key] = self._compile(lowering, node, function, stands_in)
            self.in_progress.discard(function)
        return self.compiled[key]

    def _compile(self, lowering, node, function, stands_in):
        namespace, memory = self.unit.namespace, self.unit.memory
        source = self.source_of(function)
        inner = Lowering(self.unit, source)
        parameters = list(source.parameters)
        if self.unit.counted is not None:
            inner.visit = "_visit"
        if stands_in:
            inner.context = parameters.pop(0)
            inner.stands_for = lowering, node
        outer, memory.private = memory.private, {}
        if isinstance(source.node, ast.Lambda):
            lowering.refuse(node, UNSUPPORTED[ast.Lambda])
        body = inner.block(source.node.body)
        body = [*self._local_arrays(), *with_limits(with_stop(body, self.unit), self.unit, often=True)]
        memory.private = outer
        python = function_of(function.__name__, [*self.unit.hidden, *parameters], body, function, namespace.objects)
        compiled = njit(error_model="numpy", nogil=True, _nrt=False, pipeline_class=ThreadLoops)(python)
        known = namespace.bind(compiled, f"_d_{function.__name__}")
        if not inner.effects:
            namespace.pure.add(known)
        return Device(known, frozenset(inner.effects))

    def _local_arrays(self):
        """Assignments that make the private arrays of a device function."""
        assignments = []
        for identifier, (shape, dtype) in self.unit.memory.private.items():
            maker = self.unit.namespace.bind(storage.whole_array(shape, dtype))
            value, number = call(maker), self.unit.memory.numbers.get(identifier)
            if number is not None:
                value = self.unit.counted.tagged(number, value)
            assignments.append(assign(identifier, value, self.unit.origin))
            if number is not None:
                assignments.append(self.unit.counted.settle(number, identifier))
        return assignments


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
    function = scope[identifier]
    function.tree = tree
    return function
