"""Updates that add: ``y[r] += t`` is a load and a store, and atomic additions in its place would end every conflict
between such lines, in whatever order threads come to them."""

import ast

from ..source.tree import parsed

_ATOMIC = ("cuda.atomic.add(", "cuda.atomic.sub(")


def additions(sites):
    """Numbers of the sites that add to an element: ``y[r] += t`` and ``y[r] = y[r] + t`` (both accesses), and atomic
    additions."""
    places = {file: _places(file) for file in {s.file for s in sites}}
    return {
        number
        for number, s in enumerate(sites)
        if (s.kind in ("load", "store") and (s.line, s.column) in places[s.file])
        or (s.kind == "atomic" and s.text.startswith(_ATOMIC))
    }


def _places(file):
    """(line, column) of the elements that a file's additions load and store."""
    found = set()
    for node in ast.walk(parsed(file) or ast.Module([], [])):
        if isinstance(node, ast.AugAssign) and isinstance(node.op, ast.Add | ast.Sub):
            found.add((node.target.lineno, node.target.col_offset))
        elif isinstance(node, ast.Assign) and isinstance(node.value, ast.BinOp):
            target, sum_ = node.targets[0], node.value
            parts = [sum_.left, sum_.right] if isinstance(sum_.op, ast.Add) else [sum_.left]
            for part in parts if isinstance(sum_.op, ast.Add | ast.Sub) else ():
                if ast.unparse(part) == ast.unparse(target):
                    found |= {(n.lineno, n.col_offset) for n in (part, target)}
    return found
