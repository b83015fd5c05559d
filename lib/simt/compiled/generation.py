"""Write the function that runs a range of blocks: for every piece of the kernel, a loop over the block's threads.

    s[t] = x[i]                    for _b in range(_first, _last):
    cuda.syncthreads()                 _bx = _b % _gx ...
    y[i] = s[63 - t]       ->          for _tx in range(64):
                                           i = _bx * 64 + _tx
                                           _store(_flag, 0, s, _tx, _load(_flag, 0, x, i))
                                       for _tx in range(64):
                                           i = _bx * 64 + _tx
                                           _store(_flag, 1, y, i, _load(_flag, 1, s, 63 - _tx))
                                       if _read_flag(_flag): return _b, _read_flag(_flag)

The extents of the block are constants, so LLVM knows the length of every loop over threads.
"""

import ast

from numba.core import types

from . import storage
from .core import FAILED, assign, call, name, parse
from .interchange import trip_count
from .meetings import Meetings
from .replication import assigned_in, exposed_in
from .rounds import FEW, MOST_ROUNDS, range_given, with_limits
from .splitting import Agree, Any, Collective, Region, ScalarBreak, ScalarFor, ScalarIf, ScalarWhile
from .warp import SOURCES

MOST_MEETINGS = 1 << 22  # rounds of a loop with a barrier or warp operation inside: seconds
MOST_OF_GRID = 1 << 19  # of one with a barrier of the grid: a minute


class Generation:
    """Builds the statements of one block. ``unit``: the kernel; ``replication``: what pieces load and store.

    types_of: (piece, variable) -> numba type, from type inference; storage: kept variable -> its types.
    """

    def __init__(self, unit, replication, types_of, variables):
        self.unit, self.replication = unit, replication
        self.types_of, self.variables = types_of, variables
        self.threads = unit.block[0] * unit.block[1] * unit.block[2]
        self.storage = {}
        for (_, variable), kind in types_of.items():
            if not replication.is_scalar(variable):
                kinds = self.storage.setdefault(variable, [])
                if kind not in kinds:
                    kinds.append(kind)
        self.meetings, self.around = Meetings(self), []  # around: the counters of the loops around a piece
        self.rounds = 1  # of the loops of constant length around a piece
        self.setup = []
        self.held = set()  # guards that all threads have, where a block is written a second time for that case
        self.slots = {}
        for variable, kinds in sorted(self.storage.items()):
            for kind in kinds:
                self.slots[variable, kind] = self._slots(variable, kind)

    # -- memory for variables that each thread keeps ------------------------------------------------------------------

    def _slots(self, variable, kind):
        """Names of the arrays that hold ``variable`` while it has this type: one, or one for each item of a tuple."""
        if isinstance(kind, types.BaseTuple):
            return [s for k, part in enumerate(kind) for s in self._slots(f"{variable}_{k}", part)]
        if not isinstance(kind, (types.Number, types.Boolean)):
            self.unit.refuse_variable(
                f"a variable {variable!r} of type {kind} that is used on both sides of a barrier", variable
            )
        slot = f"_a{len(self.setup)}_{variable}"
        self.setup.append(assign(slot, call(self.unit.memory.per_thread(kind)), self.unit.origin))
        return [slot]

    def _loaded(self, slots, kind):
        if isinstance(kind, types.BaseTuple):
            return ast.Tuple([self._loaded(slots, part) for part in kind], ast.Load())
        return call("_peek", name(slots.pop(0)), name("_t"))

    def _load(self, piece, variable):
        kind = self.types_of.get((piece, variable))
        if kind is None:  # numba found that this piece never runs
            self.unit.refuse_variable(f"code that never runs, with a variable {variable!r}", variable)
        return [assign(variable, self._loaded(list(self.slots[variable, kind]), kind), self.unit.origin)]

    def _store(self, variable):
        statements = []
        kinds = self.storage.get(variable, ())
        if len({isinstance(kind, types.Complex) for kind in kinds}) > 1:
            self.unit.refuse_variable(f"a variable {variable!r} that becomes complex", variable)
        for kind in self.storage.get(variable, ()):
            slots = list(self.slots[variable, kind])
            self._stored(name(variable), slots, kind, statements)
        return statements

    def _stored(self, value, slots, kind, statements):
        if isinstance(kind, types.BaseTuple):
            for k, part in enumerate(kind):
                self._stored(call("_item", None, 0, value, k), slots, part, statements)
        else:
            statements.append(ast.Expr(call("_poke", name(slots.pop(0)), name("_t"), value)))

    # -- a loop over the threads --------------------------------------------------------------------------------------

    def over_threads(self, body):
        """``for`` every thread of the block, in the order asked for."""
        x, y, z = self.unit.block
        number = name("_tx")
        if y * z > 1:
            rows = f"(_tz * {y} + _ty)" if z > 1 else "_ty"
            number = ast.parse(f"{rows} * {x} + _tx", mode="eval").body
        statements = [ast.Expr(call("_mark")), assign("_t", number, self.unit.origin), *body]
        for variable, extent in (("_tx", x), ("_ty", y), ("_tz", z)):
            if extent > 1 or variable == "_tx":
                limits = (extent - 1, -1, -1) if self.unit.order == "reverse" else (extent,)
                statements = [ast.For(name(variable, True), call("range", *limits), statements, [])]
        return statements

    def begin(self, piece, wanted, done=()):
        """Statements that give a thread the variables ``wanted``: recomputed or loaded, and its private arrays."""
        statements, loads = [], set(self.replication.kept(piece)[0])
        for variable in self.replication.closure(wanted - set(done)):
            statements.append(assign(variable, self.replication.recomputed[variable], self.unit.origin))
        for variable in sorted(loads & wanted - set(done)):
            statements += self._load(piece, variable)
        return statements

    def guarded(self, piece, body):
        """``body`` for the threads that have all guards of the piece."""
        known = set()
        parts = []
        for guard in piece.guards:
            parts.append((self.begin(piece, {guard}, known), guard))
            known.add(guard)
        for head, guard in reversed(parts):
            if guard in self.held:  # all threads have it: only LLVM is told
                body = [*head, ast.Expr(call("_assume", name(guard))), *body]
            else:
                body = [*head, ast.If(name(guard), body or [ast.Pass()], [])]
        return body

    # -- the pieces ---------------------------------------------------------------------------------------------------

    def block(self, pieces):
        """Statements of some pieces, those of `meetings` where a grid barrier is inside."""
        if self.meetings.inside(pieces):
            return self.meetings.block(pieces)
        return [statement for piece in pieces for statement in self.on(piece)]

    def on(self, piece):
        return getattr(self, "on_" + type(piece).__name__)(piece)

    def on_Region(self, piece: Region):
        recomputed = self.replication.recomputed
        statements = [s for s in piece.statements if not (isinstance(s, ast.Assign) and s.targets[0].id in recomputed)]
        # What is always the same may be computed first: variables that are recomputed may need it.
        before = [s for s in statements if self._once(s) and s.targets[0].id in self.replication.immutable]
        statements, after = [s for s in statements if s not in before], []
        while statements and self._once(statements[0]):
            before.append(statements.pop(0))
        while statements and self._once(statements[-1]):
            after.insert(0, statements.pop())
        if not statements:
            return before
        replication = self.replication
        assigned_once = {node.targets[0].id for node in before}
        exposed = exposed_in(statements, set())[0]
        restored = replication.restored(piece, exposed & assigned_in(statements), assigned_once)
        outside = [assign(f"_r_{v}", name(v), self.unit.origin) for v in restored]
        head = [assign(v, name(f"_r_{v}"), self.unit.origin) for v in restored]
        loads, stores = replication.kept(piece)
        wanted = (exposed | set(loads)) - set(piece.guards)
        head += self.begin(piece, wanted, set(piece.guards))
        for variable in replication.zeros(piece):
            if variable not in assigned_once:
                head.append(assign(variable, call(self._zero(variable)), self.unit.origin))
        body = [*head, *statements]
        for variable in stores:
            body += self._store(variable)
        body = with_limits(body, self.unit)
        opening, closing = self.unit.counted.region(body) if self.unit.counted is not None else ([], [])
        return [*before, *outside, *self.over_threads(self.guarded(piece, [*opening, *body])), *closing, *after]

    def _once(self, node):
        """Whether a statement is one assignment of a uniform value to a scalar of the block: run once is enough."""
        return (
            isinstance(node, ast.Assign)
            and self.replication.is_scalar(node.targets[0].id)
            and self.replication.uniformity.is_uniform(node.value)
        )

    def _zero(self, variable):
        kinds = self.variables.get(variable, set())
        if len(kinds) != 1:
            shown = ", ".join(sorted(map(str, kinds)))
            self.unit.refuse_variable(
                f"a variable {variable!r} that may be read unassigned and has several types ({shown})", variable
            )
        (kind,) = kinds
        return self.unit.namespace.once(("zero", kind), lambda: storage.zero_of(kind))

    def on_Any(self, piece: Any):
        present = parse(f"{piece.result} = True")
        zero = parse(f"{piece.result} = False")
        if not piece.full:
            return [*zero, *self.over_threads(self.guarded(piece, present))]
        (guard,) = piece.guards
        count = parse(f"if {guard}:\n    {piece.result} = True\nelse:\n    {piece.full} = False")
        zero += parse(f"{piece.full} = True")
        return [*zero, *self.over_threads([*self.begin(piece, {guard}), *count])]

    def on_Agree(self, piece: Agree):
        """All threads must have the same value; it becomes a scalar of the block."""
        last = "reverse" if self.unit.order == "reverse" else ""
        is_first = " and ".join(
            f"_t{axis} == {extent - 1 if last else 0}" for axis, extent in zip("xyz", self.unit.block, strict=True)
        )
        body = self.begin(piece, {piece.variable})
        body += parse(
            f"if {is_first}:\n    {piece.result} = {piece.variable}\n"
            f"elif {piece.result} != {piece.variable}:\n    _apart = True"
        )
        zero = assign(piece.result, call(self._zero(piece.variable)), self.unit.origin)
        stop = parse(f"if _apart:\n    _raise_flag(_flag, {self.unit.DIVERGED})")
        stop[0].body += self._stop(piece.line)
        return [assign("_apart", ast.Constant(False), self.unit.origin), zero, *self.over_threads(body), *stop]

    def _stop(self, line):
        """Leave the function: this block went wrong."""
        return parse(f"_result[0] = _b\n_result[1] = _read_flag(_flag)\n_result[2] = {line}\nreturn")

    def on_ScalarIf(self, piece: ScalarIf):
        some = ast.If(piece.test, self.block(piece.body) or [ast.Pass()], self.block(piece.orelse))
        if not piece.full:
            return [some]
        self.held.add(piece.guard)
        everyone = ast.If(name(piece.full), self.block(piece.body) or [ast.Pass()], [some])
        self.held.discard(piece.guard)
        return [everyone]

    def on_ScalarFor(self, piece: ScalarFor):
        """Counted as in `rounds`, in rounds of the whole block."""
        loop = ast.For(name(piece.target, True), piece.iter, [], [])
        turns, around = trip_count(loop), self.rounds
        few = turns is not None and around * turns <= FEW
        self.rounds = around * turns if few else 1
        body = self.block(piece.body) or [ast.Pass()]
        self.rounds = around
        if few:
            loop.body = body
            return [loop]
        over = parse(f"if _turns > {MOST_ROUNDS}:\n    _raise_flag(_flag, {self.unit.ENDLESS})")
        over[0].body += self._stop(piece.line)
        ask = parse(FAILED + "if not _going_on(_stop, _flag):\n    return")
        if _may_be_left(piece.body):
            loop.body = [*ask, *over, *parse("_turns = _turns + 1"), *body]
            return [loop]
        before, length = range_given(loop, self.unit, "_turns", MOST_ROUNDS)
        loop.body = [*ask, *body]
        return [*before, assign("_turns", length, self.unit.origin), *over, loop]

    def on_ScalarWhile(self, piece: ScalarWhile):
        rounds = self.unit.namespace.temporary()
        most = MOST_OF_GRID if self.meetings.inside(piece.body) else MOST_MEETINGS
        ask = parse(FAILED + "if not _going_on(_stop, _flag):\n    return")
        count = parse(f"{rounds} = {rounds} + 1\nif {rounds} > {most}:\n    _raise_flag(_flag, {self.unit.ENDLESS})")
        count[1].body += self._stop(piece.line)
        self.around.append(rounds)
        loop = ast.While(ast.Constant(True), [*ask, *count, *self.block(piece.body)], [])
        self.around.pop()
        return [assign(rounds, ast.Constant(0), self.unit.origin), loop]

    def on_ScalarBreak(self, piece: ScalarBreak):
        return [ast.If(piece.test, [ast.Break()], [])]

    # -- warp operations ----------------------------------------------------------------------------------------------

    def on_Collective(self, piece: Collective):
        counted = self.unit.counted is not None and piece.sync.is_barrier
        meet = parse("_meet(_counter)\n" + "_order_block(_counter)" * self.unit.counted.raced) if counted else []
        return [*meet, *self.collective(piece)]

    def collective(self, piece):
        sync = piece.sync
        if sync.kind == "block":
            return []
        if sync.kind in ("count", "and", "or"):
            return self._counted(piece)
        whole_warp = isinstance(sync.operands["mask"], ast.Constant) and not piece.guards and not self.unit.returns
        raced = self.unit.counted is not None and self.unit.counted.raced
        if whole_warp and sync.kind == "syncwarp":
            return parse(f"_order_warps(_counter, {self.threads})") if raced else []
        if whole_warp and sync.kind in SOURCES:
            return self._result(
                piece, call("_from_whole_warp", self._values(piece), self._source(piece), name("_t"), self.threads)
            )
        participants = self._participants(piece)
        if sync.kind == "syncwarp":
            order = parse(f"_order_some(_counter, _part, _active, {self.threads})") if raced else []
            return [*participants, *order]
        if sync.kind in SOURCES:
            value = call(
                "_from_participant",
                self._values(piece),
                self._source(piece),
                name("_t"),
                call("_peek", name("_part"), name("_t")),
            )
            return [*participants, *self._result(piece, value)]
        results = [name(s) for kind in self.storage.get(sync.target, ()) for s in self.slots[sync.target, kind]]
        return participants + [
            ast.Expr(call(f"_{sync.kind}", slot, self._values(piece), name("_part"), name("_active"), self.threads))
            for slot in results
        ]

    def _values(self, piece):
        variable = piece.sync.operands["value"].id
        kinds = self.storage.get(variable, ())
        if len(kinds) != 1:
            self.unit.refuse_line("a warp operation that never runs, or on values of several types", piece.sync)
        (kind,) = kinds
        slots = self.slots[variable, kind]
        if len(slots) != 1:
            self.unit.refuse_line("a warp operation on a tuple", piece.sync)
        return name(slots[0])

    def _source(self, piece):
        lane = ast.BinOp(name("_t"), ast.BitAnd(), ast.Constant(31))
        return call("_" + piece.sync.kind.replace("shfl", "source"), lane, piece.sync.operands["operand"])

    def _result(self, piece, value):
        """A loop over the threads that gives each its result."""
        operands = {v.id for role, v in piece.sync.operands.items() if role != "value" and isinstance(v, ast.Name)}
        body = [*self.begin(piece, operands), assign(piece.sync.target, value, piece.sync)]
        body += self._store(piece.sync.target)
        return self.over_threads(self.guarded(piece, body))

    def _counted(self, piece):
        sync, values = piece.sync, self._values(piece)
        return [assign(sync.target, call(f"_barrier_{sync.kind}", values, self.threads), sync)]

    def _participants(self, piece):
        """Who takes part: fills _part and _active."""
        mask = piece.sync.operands["mask"]
        self.unit.uses_warp_masks = True
        known = {mask.id} if isinstance(mask, ast.Name) else set()
        body = [
            *self.begin(piece, known),
            ast.Expr(call("_poke", name("_active"), name("_t"), True)),
            ast.Expr(call("_poke", name("_mask"), name("_t"), mask)),
        ]
        alive = name(self.slots["_alive", types.boolean][0]) if self.unit.returns else ast.Constant(None)
        clear = ast.Expr(call("_poke", name("_active"), name("_t"), False))
        ask = call("_participants", name("_part"), name("_mask"), name("_active"), alive, self.threads, name("_flag"),
                   self.unit.DIVERGED)  # fmt: skip
        stop = parse(f"if _read_flag(_flag) & {self.unit.DIVERGED}:\n    pass")
        stop[0].body = self._stop(piece.sync.lineno)
        return [*self.over_threads([clear, *self.guarded(piece, body)]), ast.Expr(ask), *stop]


def _may_be_left(pieces):
    """Whether a loop over these pieces may end before its range does."""
    return any(
        isinstance(piece, ScalarBreak) or (isinstance(piece, ScalarIf) and _may_be_left([*piece.body, *piece.orelse]))
        for piece in pieces
    )
