"""A kernel with all the device functions it calls, lowered and ready to be linked to an engine."""

import ast
import types

from ..source.function import Source
from ..source.sites import Sites
from .gates import gates_of
from .lowering import Lowering
from .operations import VALUES


class Program:
    """A kernel and all device functions it calls, lowered for one way of running (traced or not, with budget or not).

    ``sites`` are shared by all of them; ``synchronises``, ``grid_sync`` and ``waits`` tell the engine how threads must
    take turns.
    """

    def __init__(self, kernel, argument_kinds, traced, counted):
        self.traced, self.counted = traced, counted or traced
        self.sites = Sites()
        self.files = set()
        self._functions = {}
        self._in_progress = set()
        self.grid_sync = False
        self.waits = False  # whether there are loops that may wait for other threads
        self.fences = False  # whether there are memory fences
        self.tickets = False  # whether somebody takes what an atomic returned: it depends on who came before
        self.gates = {}  # Python function -> its Gates, in a traced run
        self.sets = set()  # sites of exchanges whose old value nobody takes: they store
        self.asked = []  # comparisons with what atomics returned: (operator, atomics of the left side, of the right)
        self.guards, self.atomic_nodes = {}, {}  # site -> the atomics that gate it; site of an atomic -> its node
        self.loops = {}  # site of such a loop -> (its node, the source it stands in)
        self.kernel = self.function(kernel, argument_kinds, is_kernel=True)
        self.notes_atomics = self.fences or any(self.guards.values())  # whether they may make an order

    @property
    def synchronises(self):
        return self.kernel.synchronises

    def function(self, python_function, argument_kinds, is_kernel=False):
        """The lowered form of a kernel or device function for these kinds of arguments; lowered at its first use."""
        key = id(python_function), tuple(argument_kinds)
        if key not in self._functions:
            self.files.add(python_function.__code__.co_filename)
            lowered = self._functions[key] = LoweredFunction(self, python_function, argument_kinds, is_kernel)
            self._in_progress.add(lowered)
            lowered.lower()
            self._in_progress.discard(lowered)
        return self._functions[key]

    def is_recursive(self, lowered):
        return lowered in self._in_progress

    def recursive(self, source):
        """Whether a device function may call itself: its threads cannot wait for others."""
        seen, open_ = set(), [source]
        while open_:
            current = open_.pop()
            for node in ast.walk(current.node):
                if isinstance(node, ast.Call) and isinstance(node.func, ast.Name):
                    function = current.callee(node)
                    if function is source.python_function:
                        return True
                    if function is not None and function not in seen:
                        seen.add(function)
                        open_.append(Source(function))
        return False

    def holds_barrier(self, node, source, seen=()):
        """Whether a barrier of the block stands in a part of a function's source, or in a device function called
        there."""
        for call in ast.walk(node):
            if not isinstance(call, ast.Call) or source.is_local(call.func):
                continue
            value = source.static(call.func)[1]
            if getattr(value, "kind", None) == "barrier":
                return True
            function = source.callee(call)
            if function is not None and function not in seen:
                inner = Source(function)
                if self.holds_barrier(inner.node, inner, (*seen, function)):
                    return True
        return False

    def link(self, ports):
        """The kernel as a Python function, its loads, stores and so on bound to ``ports`` (name -> function)."""
        linked = {}

        def link(lowered):
            if lowered not in linked:
                namespace = {"__builtins__": {}, **VALUES, **ports, **lowered.constants}
                function = types.FunctionType(lowered.code, namespace, lowered.name)
                function.__defaults__ = lowered.python_function.__defaults__
                function.__kwdefaults__ = lowered.python_function.__kwdefaults__
                linked[lowered] = function
                for name, callee in lowered.callees.items():
                    namespace[name] = link(callee)
            return linked[lowered]

        return link(self.kernel)


class LoweredFunction:
    """One kernel or device function, lowered."""

    def __init__(self, program, python_function, argument_kinds, is_kernel):
        self.program, self.python_function, self.is_kernel = program, python_function, is_kernel
        self.argument_kinds = argument_kinds
        self.name = python_function.__name__
        self.constants, self.callees = {}, {}
        self.synchronises = False
        self.code = None

    def lower(self):
        gates = gates_of(self.python_function, self.program.gates) if self.program.traced else None
        body = Lowering(self, gates.source if gates else Source(self.python_function), gates).lower()
        module = ast.fix_missing_locations(ast.Module([body], []))
        compiled = compile(module, self.python_function.__code__.co_filename, "exec", dont_inherit=True)
        self.code = next(c for c in compiled.co_consts if isinstance(c, types.CodeType) and c.co_name == body.name)
