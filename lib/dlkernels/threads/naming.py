"""What the program calls a lock, a queue, a thread: read from the line that makes it."""

import ast
import sys

from . import sites


def of_creation(tracer, otherwise):
    """The target of the assignment whose right side is being computed: "lock" for `self.lock = Lock()`."""
    frame = sys._getframe(1)
    while frame is not None and not tracer.is_own(frame.f_code.co_filename):
        frame = frame.f_back
    if frame is None:
        return otherwise
    line = frame.f_lineno
    for group in sites.nodes_of(frame.f_code.co_filename).values():
        for node, _ in group:
            if isinstance(node, ast.Assign | ast.AnnAssign) and node.lineno <= (line or 0) <= node.end_lineno:
                target = node.targets[0] if isinstance(node, ast.Assign) else node.target
                if isinstance(target, ast.Attribute):
                    return target.attr
                if isinstance(target, ast.Name):
                    return target.id
                if isinstance(target, ast.Tuple) and isinstance(node.value, ast.Tuple):
                    names = [t.attr if isinstance(t, ast.Attribute) else ast.unparse(t) for t in target.elts]
                    return _of_tuple(frame, node, names) or otherwise
    return otherwise


def _of_tuple(frame, node, names):
    """Of `a, b = Lock(), Lock()` the name that belongs to the call that is being made."""
    at = list(frame.f_code.co_positions())[frame.f_lasti // 2]
    for value, name in zip(node.value.elts, names, strict=False):
        if (value.lineno, value.col_offset) == (at[0], at[2]):
            return name
    return None
