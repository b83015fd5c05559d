"""One finding where one repair would do: reads of one array that is not filled, indices that go wrong alike, lanes that
left."""

import ast
from dataclasses import replace

from .cures import CURES
from .finding import UNSET

_OF_AN_ARRAY = (*UNSET, "uninitialised-local", "unfinished-copy")
_INDEX = ("out-of-bounds", "negative-index")


def merged(trace, findings):
    """The same findings, those of one cause as one, the first of them in the source."""
    shapes = {a.name: a.shape for a in trace.arrays}
    findings = sorted(findings, key=lambda f: (f.line, f.position))
    groups = []
    for f in findings:
        alike = next((g for g in groups if any(_same_cause(f, member, shapes) for member in g)), None)
        if alike is None:
            groups.append([f])
        else:
            alike.append(f)
    return [_one(group) for group in groups]


def _same_cause(f, other, shapes):
    if f.kind != other.kind or f.file != other.file:
        return False
    if f.kind in _OF_AN_ARRAY:
        return f.array.partition("[")[0] == other.array.partition("[")[0]
    if f.kind in _INDEX:
        if f.array == other.array and f.cure == other.cure != CURES[f.kind]:  # too little dynamic memory
            return True
        index, other_index = _index(f, shapes), _index(other, shapes)
        return index == other_index or (f.line == other.line and index[1] == other_index[1])
    return f.kind == "inactive-lane-read"


def _index(f, shapes):
    """(text of the index that is wrong, the variables in it)."""
    try:
        node = ast.parse(f.text, mode="eval").body
    except SyntaxError:
        return f.text, {f.text}
    node = node.slice if isinstance(node, ast.Subscript) else node.args[1] if getattr(node, "args", ()) else node
    if isinstance(node, ast.Tuple):
        outside = [not 0 <= i < n for i, n in zip(f.index, shapes.get(f.array, ()), strict=False)]
        node = node.elts[outside.index(True)] if True in outside[: len(node.elts)] else node
    return ast.unparse(node), {n.id for n in ast.walk(node) if isinstance(n, ast.Name)}


def _one(group):
    """The first of several, which names the others."""
    first, *others = group
    if not others:
        return first
    listed = dict.fromkeys(
        f"`{f.text}` (line {f.line})" for f in others if (f.text, f.line) != (first.text, first.line)
    )
    more = f" So it is with {', '.join(listed)}." if listed else ""
    lines = {line for f in group for line in f.lines}
    return replace(
        first,
        message=first.message + more,
        lines=tuple(sorted(lines)),
        count=sum(f.count for f in group),
        position=min(f.position for f in group),
    )
