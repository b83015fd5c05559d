"""Which variables each thread needs one of between two pieces, and what every piece must load and store of them.

    for t in threads: i = grid(t); v = x[i]       v is live across the cut: it becomes an array v[t]
    ---- barrier ----                             i is computed again from t
    for t in threads: y[i] = v + s[0]             s[0] is read in one piece only: it stays a local variable

A piece of the kernel then begins with what it needs, and ends with what others need::

    for t in threads:
        i = _bx * 64 + t          recomputed: cheaper than memory, and LLVM sees how it follows from t
        v = peek(_v, t)           loaded
        ...
        poke(_v, t, v)            stored
"""

import ast
from dataclasses import dataclass, field

from .core import BLOCK, GRID, THREAD, Sync
from .core import statements as all_statements
from .splitting import Agree, Any, Collective, Region, ScalarBreak, ScalarFor, ScalarIf, ScalarWhile
from .uniformity import names_in

CHEAP = 30  # nodes of an expression that is rather computed again than kept


@dataclass
class Needs:
    """What one piece does with variables. ``exposed``: read before it surely wrote them."""

    exposed: set = field(default_factory=set)
    assigned: set = field(default_factory=set)
    certain: set = field(default_factory=set)
    loads: set = field(default_factory=set)
    fresh: set = field(default_factory=set)  # may be read though nobody has assigned them: begin as zero
    stores: set = field(default_factory=set)
    live: set = field(default_factory=set)  # read by a piece that may run later
    reached: set = field(default_factory=set)  # may have been assigned before


def exposed_in(block, certain):
    """(names read before they are surely assigned, names surely assigned after) of a list of statements.

    certain: names surely assigned before. A name that is never assigned in the kernel counts as read, too.
    """
    exposed, certain = set(), set(certain)
    for node in block:
        if isinstance(node, ast.Assign):
            exposed |= names_in(node.value) - certain
            certain.add(node.targets[0].id)
        elif isinstance(node, ast.If):
            exposed |= names_in(node.test) - certain
            ends = []
            for body in (node.body, node.orelse):
                inside, after = exposed_in(body, certain)
                exposed |= inside
                if not _jumps(body):
                    ends.append(after)
            certain = set.intersection(*ends) if ends else certain
        elif isinstance(node, (ast.For, ast.While)):
            head = node.iter if isinstance(node, ast.For) else node.test
            exposed |= names_in(head) - certain
            start = certain | ({node.target.id} if isinstance(node, ast.For) else set())
            inside, after = exposed_in(node.body, start)
            exposed |= inside
            runs = isinstance(node, ast.For) and _surely_runs(node)
            if runs and not any(isinstance(n, (ast.Break, ast.Continue)) for n in all_statements(node.body)):
                certain = after
            inside, _ = exposed_in(node.orelse, certain)
            exposed |= inside
        else:
            exposed |= names_in(node) - certain
    return exposed, certain


def _jumps(block):
    return bool(block) and isinstance(block[-1], (ast.Break, ast.Continue))


def _surely_runs(node):
    from .interchange import trip_count

    return bool(trip_count(node))


def assigned_in(block):
    names = set()
    for node in all_statements(block):
        if isinstance(node, ast.Assign):
            names.add(node.targets[0].id)
        elif isinstance(node, ast.For):
            names.add(node.target.id)
        elif isinstance(node, Sync) and node.target:
            names.add(node.target)
    return names


def leaves(pieces):
    """All pieces that loop over the threads."""
    for piece in pieces:
        if isinstance(piece, (Region, Collective, Any, Agree)):
            yield piece
        elif isinstance(piece, ScalarIf):
            yield from leaves(piece.body)
            yield from leaves(piece.orelse)
        elif isinstance(piece, (ScalarFor, ScalarWhile)):
            yield from leaves(piece.body)


class Replication:
    """Decides for every variable of a kernel that was split into ``pieces``; ``needs[piece]`` says what each piece
    does.

    recomputed: name -> expression. immutable: names that never change (arguments that are not reassigned).
    """

    def __init__(self, pieces, block, uniformity, arguments, cheap):
        self.pieces, self.uniformity, self.cheap = pieces, uniformity, cheap
        self.variables = set()
        for piece in leaves(pieces):
            self.variables |= self._assigned(piece)
        self.variables |= set(_scalar_targets(pieces))
        self.immutable = (set(arguments) | set(BLOCK) | set(GRID) | set(THREAD)) - self.variables
        self.forced = {
            v.id
            for piece in leaves(pieces)
            if isinstance(piece, Collective)
            for role, v in piece.sync.operands.items()
            if role == "value" and isinstance(v, ast.Name)
        }
        if "_alive" in self.variables:
            self.forced.add("_alive")
        uniformity.varying |= self.forced
        self.recomputed = {}
        self._find_recomputed()
        self.needs = {piece: self._needs_of(piece) for piece in leaves(pieces)}
        self._behind = set()
        self._reach(pieces, set())
        self._live(pieces, set())

    def is_scalar(self, variable):
        return variable not in self.uniformity.varying

    # -- what is recomputed -------------------------------------------------------------------------------------------

    def _find_recomputed(self):
        """Varying variables assigned once, from things that never change and at little cost."""
        values, counts = {}, {}
        for piece in leaves(self.pieces):
            for node in all_statements(piece.statements if isinstance(piece, Region) else []):
                if isinstance(node, ast.Assign):
                    target = node.targets[0].id
                    values[target] = node.value
                    counts[target] = counts.get(target, 0) + 1
                elif isinstance(node, ast.For):
                    counts[node.target.id] = 2
            if isinstance(piece, Collective) and piece.sync.target:
                counts[piece.sync.target] = 2
        for target in _scalar_targets(self.pieces):
            counts[target] = counts.get(target, 0) + 2
        fixed, changed = set(), True
        while changed:
            changed = False
            for target, value in values.items():
                if target in fixed or counts[target] != 1 or target in self.forced:
                    continue
                if names_in(value) - self._functions(value) <= self.immutable | fixed and self._is_cheap(value):
                    fixed.add(target)
                    changed = True
        self.recomputed = {t: values[t] for t in values if t in fixed and t in self.uniformity.varying}
        # uniform, and always the same: its first value is its last
        self.constants = {t: values[t] for t in values if t in fixed and t not in self.recomputed}
        self.immutable |= set(self.constants)

    def _functions(self, value):
        return {n.func.id for n in ast.walk(value) if isinstance(n, ast.Call) and isinstance(n.func, ast.Name)}

    def _is_cheap(self, value):
        nodes = list(ast.walk(value))
        return len(nodes) <= 3 * CHEAP and self._functions(value) <= self.cheap

    def closure(self, names):
        """The recomputed variables among ``names``, and those they need, in an order in which they can be computed."""
        order = []

        def visit(variable):
            if variable in self.recomputed and variable not in order:
                for inner in sorted(names_in(self.recomputed[variable])):
                    visit(inner)
                order.append(variable)

        for variable in sorted(names):
            visit(variable)
        return order

    # -- what each piece needs ----------------------------------------------------------------------------------------

    def _assigned(self, piece):
        if isinstance(piece, Region):
            return assigned_in(piece.statements)
        if isinstance(piece, Collective):
            return {piece.sync.target} if piece.sync.target else set()
        return set()  # what `Any` and `Agree` find is a scalar of the block, used as such only

    def _needs_of(self, piece):
        needs = Needs(assigned=self._assigned(piece))
        if isinstance(piece, Region):
            needs.exposed, needs.certain = exposed_in(piece.statements, set())
        elif isinstance(piece, Collective):
            needs.exposed = {v.id for v in piece.sync.operands.values() if isinstance(v, ast.Name)}
            needs.exposed |= self.forced & {"_alive"}
            needs.certain = set(needs.assigned)
        elif isinstance(piece, Agree):
            needs.exposed = {piece.variable}
        needs.exposed = (needs.exposed | set(piece.guards)) & self.variables
        return needs

    def _reach(self, pieces, before):
        """Walk forward: which variables may have been assigned when a piece begins."""
        for piece in pieces:
            if isinstance(piece, (Region, Collective, Any, Agree)):
                needs = self.needs[piece]
                needs.loads |= needs.exposed & before
                needs.fresh |= needs.exposed - before
                needs.reached |= before
                before = before | needs.assigned
            elif isinstance(piece, ScalarIf):
                before = self._reach(piece.body, before) | self._reach(piece.orelse, before)
            elif isinstance(piece, (ScalarFor, ScalarWhile)):
                target = {piece.target} if isinstance(piece, ScalarFor) else set()
                before = self._reach(piece.body, before | target)
                before = self._reach(piece.body, before)
        return before

    def _live(self, pieces, after):
        """Walk backward: which variables a later piece may read. Returns those live before ``pieces``."""
        for piece in reversed(pieces):
            if isinstance(piece, (Region, Collective, Any, Agree)):
                needs = self.needs[piece]
                needs.live |= after
                stored = (needs.assigned & (needs.live | self.forced)) - set(self.recomputed)
                unsure = {v for v in stored if v not in needs.certain}
                needs.stores = stored
                needs.loads |= unsure & needs.reached
                needs.fresh |= unsure - needs.reached
                needs.fresh -= needs.loads
                killed = needs.certain if not piece.guards else set()
                after = (after - killed) | needs.exposed | (unsure & needs.reached)
            elif isinstance(piece, ScalarIf):
                after = self._live(piece.body, after) | self._live(piece.orelse, after) | names_in(piece.test)
            elif isinstance(piece, ScalarBreak):
                after = after | names_in(piece.test) | self._behind
            elif isinstance(piece, (ScalarFor, ScalarWhile)):
                outer, self._behind = self._behind, after
                inside = after
                while True:
                    live = self._live(piece.body, inside) | after
                    if isinstance(piece, ScalarFor):
                        live |= names_in(piece.iter)
                    if live <= inside:
                        break
                    inside = inside | live
                self._behind = outer
                after = inside
        return after

    # -- summaries ----------------------------------------------------------------------------------------------------

    def kept(self, piece):
        """(names to load, names to store) of a piece: the variables that each thread has one of, in memory."""
        needs = self.needs[piece]

        def per_thread(names):
            return sorted(n for n in names if not self.is_scalar(n) and n not in self.recomputed)

        return per_thread(needs.loads), per_thread(needs.stores)

    def scalars_across(self, barrier):
        """The scalars of the block that have a value before a barrier and are read behind it."""
        needs = self.needs[barrier]
        return sorted(v for v in needs.live & needs.reached if self.is_scalar(v) and v not in self.constants)

    def constants_before(self, barrier):
        """Those variables that are always the same and may have been assigned, in the order of the source."""
        return [v for v in self.constants if v in self.needs[barrier].reached]

    def zeros(self, piece):
        """Names that must begin as zero, because a path through the piece reads them unassigned."""
        needs = self.needs[piece]
        return sorted(n for n in needs.fresh if n not in self.recomputed and not isinstance(piece, Collective))

    def restored(self, piece, updated, assigned=()):
        """Of the names that a piece reads and then assigns, the scalars of the block that have a value before.

        Every thread begins with that value: ``step //= 2`` is done once for the block, not once for each thread.
        """
        before = self.needs[piece].reached | set(assigned)
        return sorted(n for n in updated & before if self.is_scalar(n))


def _scalar_targets(pieces):
    for piece in pieces:
        if isinstance(piece, ScalarFor):
            yield piece.target
        if isinstance(piece, ScalarIf):
            yield from _scalar_targets(piece.body)
            yield from _scalar_targets(piece.orelse)
        elif isinstance(piece, (ScalarFor, ScalarWhile)):
            yield from _scalar_targets(piece.body)
