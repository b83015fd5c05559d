"""The compiled engine's work, made readable: what it generated as Python, and which line of a kernel runs in which
piece.

_poke(_a0_total, _t, total + _load(None, 2, sa, (ty, k)))    ->    total_of[t] = total + sa[ty, k]
"""

import ast
import html
import linecache
from dataclasses import dataclass

from numba import typeof

from ..executor.arguments import Arguments
from ..kernel import kernel_of
from ..limits import dimensions
from .launch import plain
from .replication import leaves
from .splitting import Region
from .unit import Unit

COUNTERS = {"_rounds", "_turns"}


def _names(node):
    return {n.id for n in ast.walk(node) if isinstance(n, ast.Name)}


class _Plain(ast.NodeTransformer):
    """Loads, stores and storage as subscripts; what only keeps the books is left out."""

    def visit_Call(self, node):
        called = node.func.id if isinstance(node.func, ast.Name) else ""
        self.generic_visit(node)
        if called in ("_load", "_item"):
            return ast.Subscript(node.args[2], node.args[3], ast.Load())
        if called == "_peek":
            return ast.Subscript(node.args[0], node.args[1], ast.Load())
        if called == "_between":
            return node.args[0]
        return node

    def visit_Name(self, node):
        name = node.id
        if (
            name.startswith("_a") and name[2:3].isdigit() and "_" in name[2:]
        ):  # an array with an element for each thread
            name = f"{name[2:].partition('_')[2]}_of"
        elif name.startswith("_k") and name[2:].isdigit():
            name = f"k{name[2:]}"
        elif name.startswith("_"):
            name = name[1:]
        return ast.Name(name, node.ctx)

    def visit_If(self, node):
        if _names(node.test) & COUNTERS:
            loops = [n for n in node.body if isinstance(n, ast.For)]
            return [self.visit(n) for n in loops] or None
        self.generic_visit(node)
        return None if _names(node.test) & {"flag", "stop"} else node

    def visit_Assign(self, node):
        if any(_names(target) & COUNTERS for target in node.targets):
            return None
        self.generic_visit(node)
        same = isinstance(node.value, ast.Name) and [getattr(t, "id", "") for t in node.targets] == [node.value.id]
        return None if same else node  # tx = _tx

    def visit_Expr(self, node):
        called = (
            node.value.func.id if isinstance(node.value, ast.Call) and isinstance(node.value.func, ast.Name) else ""
        )
        args = node.value.args if called else []
        if called in ("_mark", "_fence"):
            return None
        if called == "_store":
            statement = ast.Assign([ast.Subscript(args[2], args[3], ast.Store())], args[4])
        elif called == "_poke":
            statement = ast.Assign([ast.Subscript(args[0], args[1], ast.Store())], args[2])
        else:
            statement = node
        return self.generic_visit(statement)


def _is_bookkeeping(node):
    names = _names(node)
    if isinstance(node, ast.If) and _names(node.test) & COUNTERS:
        return False
    return (bool(names & {"_flag", "_result", "_b", "_bx", "_by", "_bz"}) and not isinstance(node, ast.For)) or (
        isinstance(node, ast.Assign)
        and isinstance(node.value, (ast.Constant, ast.Call))
        and all(isinstance(t, ast.Name) and t.id in ("_tx", "_ty", "_tz", "_t") for t in node.targets)
    )


def readable(text):
    """Generated source (``compiled.stages(...)["generated"]``) of one block, without what only keeps the books.

    >>> print(readable(stages(kernel, block, args)["generated"]))  # doctest: +SKIP
    """
    (function,) = ast.parse(text).body
    loop = next(n for n in function.body if isinstance(n, ast.For))
    body = [n for n in loop.body if not _is_bookkeeping(n) and not _allocates(n)]
    shown = _Plain().visit(ast.Module(body, []))
    return ast.unparse(ast.fix_missing_locations(shown))


def _allocates(node):
    """``sa = _c66()``: a shared array on the stack."""
    call = node.value if isinstance(node, ast.Assign) else None
    return (
        isinstance(call, ast.Call)
        and isinstance(call.func, ast.Name)
        and call.func.id.startswith("_c")
        and not call.args
    )


class _Watched(Unit):
    """A unit that remembers its pieces."""

    def split(self, body, known):
        self.cut = super().split(body, known)
        return self.cut


@dataclass(frozen=True)
class Pieces:
    """Which lines run in which piece. rows: (line number, source text, frozenset of pieces, whether it is a
    barrier)."""

    kernel: str
    rows: tuple
    count: int

    def _repr_html_(self):
        return _drawn(self)

    def __repr__(self):
        return "\n".join(
            f"{' '.join(map(str, sorted(p))) or ('-' if b else ' '):8}{text}" for _, text, p, b in self.rows
        )


def pieces(kernel, block, args, shared_bytes=0):
    """The `Pieces` into which the engine cuts ``kernel`` for a launch with these arguments. ``Unsupported`` if it
    cannot."""
    kernel = kernel_of(kernel)
    values = Arguments(kernel, args, None).values
    kernel.program(values)  # refuses what no GPU could run
    types = tuple(typeof(plain(v)) for v in values)
    unit = _Watched(kernel, types, dimensions(block, "blockdim"), True, "forward", shared_bytes)
    unit.build()
    where, count = {}, 0
    for piece in leaves(unit.cut[0]):
        if isinstance(piece, Region) and piece.statements:
            count += 1
            for statement in piece.statements:
                for node in ast.walk(statement):
                    if hasattr(node, "lineno"):
                        where.setdefault(node.lineno, set()).add(count)
    barriers = {
        n.lineno for n in ast.walk(unit.node) if isinstance(n, ast.Call) and "syncthreads" in ast.unparse(n.func)
    }
    file = kernel.py_func.__code__.co_filename
    first_line, last_line = unit.node.body[0].lineno, unit.node.end_lineno
    lines = [linecache.getline(file, n).rstrip() for n in range(first_line, last_line + 1)]
    margin = min(len(line) - len(line.lstrip()) for line in lines if line)
    rows = tuple(
        (n, line[margin:], frozenset() if n in barriers else frozenset(where.get(n, ())), n in barriers)
        for n, line in zip(range(first_line, last_line + 1), lines, strict=True)
    )
    return Pieces(kernel.py_func.__name__, rows, count)


def _drawn(pieces):
    """An SVG: before each line a bar in the column of every piece that it runs in, a dashed line at a barrier."""
    height, step = 21, 20
    left = step * pieces.count + 12
    width = left + 8 * max(len(text) for _, text, _, _ in pieces.rows) + 4
    total = height * (len(pieces.rows) + 1) + 8
    parts = [
        f'<svg class="figure" role="img" viewBox="0 0 {width} {total}" width="{width}" font-size="13" '
        f'fill="currentColor" style="max-width:100%;height:auto"><title>{_said(pieces)}</title>'
    ]
    for number in range(pieces.count):
        parts.append(f'<text x="{step * number + 10}" y="15" text-anchor="middle">{number + 1}</text>')
    for row, (_, text, numbers, barrier) in enumerate(pieces.rows, 1):
        y = row * height
        weight = ' font-weight="bold"' if barrier else ""
        parts.append(
            f'<text x="{left}" y="{y + 15}" font-family="monospace" xml:space="preserve" '
            f'style="white-space:pre"{weight}>'
            f"{html.escape(text)}</text>"
        )
        if barrier:
            parts.append(
                f'<path d="M2 {y + 10}H{left - 6}" stroke="currentColor" stroke-width="2" stroke-dasharray="5 3"/>'
            )
        for number in numbers:
            parts.append(
                f'<rect x="{step * (number - 1) + 3}" y="{y}" width="14" height="{height}" '
                f'fill="currentColor" fill-opacity="{0.4 + 0.4 * (number % 2)}"/>'
            )
    return f'<div style="overflow-x:auto" tabindex="0">{"".join(parts)}</svg></div>'


def _said(pieces):
    lines = [
        f"piece {k}: line{'s' if len(rows) > 1 else ''} {', '.join(map(str, rows))}"
        for k in range(1, pieces.count + 1)
        if (rows := [row for row, (_, _, p, _) in enumerate(pieces.rows, 1) if k in p])
    ]
    cuts = [str(row) for row, r in enumerate(pieces.rows, 1) if r[3]]
    return html.escape(
        f"The lines of {pieces.kernel}. {'; '.join(lines)}; barriers: lines {', '.join(cuts) or 'none'}."
    )


__all__ = ["Pieces", "pieces", "readable"]
