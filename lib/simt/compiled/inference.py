"""Ask numba which type every variable has where a piece of the kernel begins.

The kernel is written out once more as one thread runs it, barriers replaced by functions that only have a type, and
with a ``_probe(number, v)`` wherever a variable crosses a cut. numba's own type inference runs on that; the types of
the probes' arguments are the types of the variables there. So a variable that is first a whole number and later a float
has in each piece the type that numba gives it.
"""

import ast

from numba.core import types
from numba.extending import intrinsic

from ..typed.context import infer as types_of
from .core import assign, call, name
from .splitting import Agree, Any, Collective, Region, ScalarBreak, ScalarFor, ScalarIf, ScalarWhile


@intrinsic(prefer_literal=True)
def probe(typing, number, value):
    def generate(context, builder, signature, args):
        return context.get_dummy_value()

    return types.void(number, value), generate


def infer(function, argument_types):
    """(types of the probes by number, types of every variable by name) of a Python function. NumbaError if it has
    none."""
    state = types_of(function, argument_types)
    probes = {}
    for expression, signature in state.calltypes.items():
        if signature is not None and len(signature.args) == 2 and _is_probe(state.typemap, expression):
            probes[signature.args[0].literal_value] = types.unliteral(signature.args[1])
    variables = {}
    for identifier, kind in state.typemap.items():
        if not identifier.startswith(("$", "arg.")):
            variables.setdefault(identifier.partition(".")[0], set()).add(types.unliteral(kind))
    return probes, variables


def _is_probe(typemap, expression):
    if getattr(expression, "op", "") != "call":
        return False
    kind = typemap.get(expression.func.name)
    return kind is not None and getattr(kind, "typing_key", None) is probe


class Sequential:
    """Writes the pieces out as one thread runs them, with probes. ``probes``: number -> (piece, variable)."""

    def __init__(self, replication, origin):
        self.replication, self.origin, self.probes = replication, origin, {}

    def _probe(self, piece, variable):
        number = len(self.probes)
        self.probes[number] = piece, variable
        return ast.Expr(call("_probe", number, name(variable)))

    def block(self, pieces):
        statements = []
        for piece in pieces:
            statements += getattr(self, "on_" + type(piece).__name__)(piece)
        return statements or [ast.Pass()]

    def on_Region(self, piece: Region):
        loads, _ = self.replication.kept(piece)
        return [*(self._probe(piece, v) for v in loads), *piece.statements]

    def on_Collective(self, piece: Collective):
        sync, statements = piece.sync, []
        loads, _ = self.replication.kept(piece)
        statements += [self._probe(piece, v) for v in loads]
        if sync.kind == "grid":
            statements += [self._probe(piece, v) for v in self.replication.scalars_across(piece)]
        if sync.target is None:
            return statements
        value = sync.operands["value"]
        statements.append(assign(sync.target, call(f"_stub_{sync.kind}", value), sync))
        statements.append(self._probe(piece, sync.target))
        return statements

    def on_Any(self, piece: Any):
        loads, _ = self.replication.kept(piece)
        present = assign(piece.result, call("bool", name(piece.guards[-1])), self.origin)
        return [*(self._probe(piece, v) for v in loads), present]

    def on_Agree(self, piece: Agree):
        loads, _ = self.replication.kept(piece)
        return [*(self._probe(piece, v) for v in loads), assign(piece.result, name(piece.variable), self.origin)]

    def on_ScalarIf(self, piece: ScalarIf):
        test = name(piece.guard) if piece.guard else piece.test
        return [ast.If(test, self.block(piece.body), self.block(piece.orelse))]

    def on_ScalarFor(self, piece: ScalarFor):
        return [ast.For(name(piece.target, True), piece.iter, self.block(piece.body), [])]

    def on_ScalarWhile(self, piece: ScalarWhile):
        return [ast.While(ast.Constant(True), self.block(piece.body), [])]

    def on_ScalarBreak(self, piece: ScalarBreak):
        return [ast.If(piece.test, [ast.Break()], [])]
