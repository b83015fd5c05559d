"""Blocks that wait for one another at a barrier of the grid: there a block leaves its function, and later comes back.

    for t in range(n):                       _at = _stand[_b]               where it left; 0: at the beginning
        y[i] = v                             if _at == 0: number = 0
        cuda.cg.this_grid().sync()    ->     while True:
        v = y[last - i]                          if _at == 0: the test, y[i] = v
                                                 if _at == 0: keep v, number; _stand[_b] = 1; return
                                                 elif _at == 1: bring them back; _at = 0
                                                 if _at == 0: v = y[last - i]

Only branches and loops around such a barrier ask where the block comes from. What a block has is on the stack, as
everywhere; what it still needs is copied to memory of its own (``_kept``) when it leaves: so LLVM knows as much of it
as ever.
"""

import ast

from numba.core import types

from . import storage
from .blockmemory import size_of
from .core import FAILED, assign, call, name, parse
from .replication import leaves
from .splitting import Collective, ScalarIf, ScalarWhile

ALIGNED = 64
STAND, KEPT = types.Array(types.int64, 1, "C"), types.Array(types.uint8, 2, "C")


class Meetings:
    """Writes the code around grid barriers. ``bytes``: what each block keeps while it waits."""

    def __init__(self, generation):
        self.generation, self.unit = generation, generation.unit
        collectives = [p for p in leaves(generation.replication.pieces) if isinstance(p, Collective)]
        barriers = [p for p in collectives if p.sync.kind == "grid"]
        self.numbers = {piece: number for number, piece in enumerate(barriers, 1)}
        self.bytes, self.places = 0, {}  # what -> where it lies in that

    def inside(self, pieces):
        """The numbers of the barriers in some pieces: they follow each other."""
        return [self.numbers[p] for p in leaves(pieces) if p in self.numbers] if self.numbers else []

    def block(self, pieces):
        """Statements of pieces with a grid barrier among or in them."""
        statements, run = [], []
        for piece in pieces:
            if self.inside([piece]):
                statements += [*self._from_the_start(run), *getattr(self, "on_" + type(piece).__name__)(piece)]
                run = []
            else:
                run += self.generation.on(piece)
        return statements + self._from_the_start(run)

    def _from_the_start(self, run):
        return [ast.If(_starts(), run, [])] if run else []

    def on_ScalarIf(self, piece: ScalarIf):
        way = self.unit.namespace.temporary()  # noted first: at the end of either branch _at is 0
        ask = parse(f"{way} = 0\nif _at == 0:\n    {way} = 1 if TEST else 2", TEST=piece.test)
        for number, body in enumerate((piece.body, piece.orelse), 1):
            if self.inside(body):
                ask.append(ast.If(_among(self.inside(body)), [assign(way, ast.Constant(number), self.unit.origin)], []))
        body, orelse = (self.generation.block(part) or [ast.Pass()] for part in (piece.body, piece.orelse))
        taken, not_taken = (parse(f"{way} == {number}")[0].value for number in (1, 2))
        return [*ask, ast.If(taken, body, [ast.If(not_taken, orelse, [])])]

    def on_ScalarWhile(self, piece: ScalarWhile):
        entered = ast.BoolOp(ast.Or(), [_starts(), _among(self.inside(piece.body))])
        rounds, loop = self.generation.on_ScalarWhile(piece)
        return [ast.If(_starts(), [rounds], []), ast.If(entered, [loop], [])]

    # -- leaving and coming back --------------------------------------------------------------------------------------

    def on_Collective(self, piece: Collective):
        number, origin = self.numbers[piece], self.unit.origin
        keep, bring = [], []
        for pointer, size in (*self._slots(piece), *self.unit.memory.sizes()):
            offset = self._place(pointer, size)
            keep.append(ast.Expr(call("_keep", name("_kept"), name("_b"), offset, name(pointer), size)))
            bring.append(ast.Expr(call("_bring", name("_kept"), name("_b"), offset, name(pointer), size)))
        for variable, kind in self._scalars(piece):
            offset = self._place((variable, kind), size_of(kind))
            keeper, bringer = (
                self.unit.namespace.once((make, kind), lambda make=make, kind=kind: make(kind))
                for make in (storage.keep_value, storage.kept_value)
            )
            keep.append(ast.Expr(call(keeper, name("_kept"), name("_b"), offset, name(variable))))
            bring.append(assign(variable, call(bringer, name("_kept"), name("_b"), offset), origin))
        if self.unit.counted is not None:  # the barriers that it has passed
            offset = self._place("_met", 8)
            keep.append(ast.Expr(call("_keep_met", name("_kept"), name("_b"), offset, name("_counter"))))
            bring.append(ast.Expr(call("_bring_met", name("_kept"), name("_b"), offset, name("_counter"))))
        replication = self.generation.replication
        for variable in replication.constants_before(piece):
            bring.append(assign(variable, replication.constants[variable], origin))
        leave = parse(f"_stand[_b] = {number}\nreturn")
        failed = parse(FAILED, origin)
        back = ast.If(parse(f"_at == {number}")[0].value, [*parse("_at = 0"), *bring], [])
        return [ast.If(_starts(), [*failed, *keep, *leave], [back])]

    def _scalars(self, piece):
        """(name, type) of the variables of the block that are needed behind a barrier."""
        for variable in self.generation.replication.scalars_across(piece):
            kind = self.generation.types_of.get((piece, variable))
            if kind is None or not all(isinstance(part, (types.Number, types.Boolean)) for part in _parts(kind)):
                self.unit.refuse_variable(
                    f"a variable {variable!r} of type {kind} that is used on both sides of a grid barrier", variable
                )
            yield variable, kind
        for rounds in self.generation.around:
            yield rounds, types.int64

    def _slots(self, piece):
        """(pointer, bytes) of the variables of each thread that are needed behind a barrier."""
        generation = self.generation
        needed = generation.replication.needs[piece].live
        for (variable, kind), slots in generation.slots.items():
            if variable in needed:
                for slot, part in zip(slots, _parts(kind), strict=True):
                    yield slot, size_of(part) * generation.threads

    def _place(self, what, size):
        """Where something lies in what a block keeps."""
        if what not in self.places:
            self.places[what] = self.bytes
            self.bytes += -(-size // ALIGNED) * ALIGNED
        return self.places[what]


def _parts(kind):
    """A type, or those of a tuple's items, as `Generation` gives them slots."""
    return [p for part in kind for p in _parts(part)] if isinstance(kind, types.BaseTuple) else [kind]


def _starts():
    return parse("_at == 0")[0].value


def _among(numbers):
    return parse(f"{numbers[0]} <= _at and _at <= {numbers[-1]}")[0].value
