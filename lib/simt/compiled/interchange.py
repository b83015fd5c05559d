"""Move long loops that all threads run alike outside the loop over the threads.

    for t in range(256):                          for p in range(n):
        for p in range(n):                ->          for t in range(256):
            total[t] += a[row, p] * b[p, t]               total[t] += a[row, p] * b[p, t]

Now the inner loop runs over neighbours in ``b`` and ``total``: LLVM makes vector instructions of it. A short loop of
constant length stays inside: LLVM unrolls it, and ``total`` stays in a register meanwhile. (MCUDA has no such step;
without it a naive matrix product is about twenty times slower.)
"""

import ast

from .core import Sync, bodies, contains
from .structure import without

SHORT = 32  # iterations that LLVM unrolls
FEW = 8  # threads: fewer are not worth a vector loop


def trip_count(node):
    """Iterations of a ``for`` over a ``range`` of constants; None where they are not known."""
    if isinstance(node.iter, ast.Call) and isinstance(node.iter.func, ast.Name) and node.iter.func.id == "range":
        if all(isinstance(a, ast.Constant) and type(a.value) is int for a in node.iter.args):
            try:
                return len(range(*(a.value for a in node.iter.args)))
            except (ValueError, TypeError):
                return None
    return None


def choose(block, uniformity, threads, temporary):
    """Prepare the loops worth moving; returns them as a set of ids. ``continue`` in them becomes structure."""
    if threads < FEW:
        return set()
    chosen = set()
    _walk(block, uniformity, chosen, temporary)
    return chosen


def _walk(block, uniformity, chosen, temporary):
    for node in block:
        if isinstance(node, ast.For) and not contains(node, Sync):
            if not _worth(node, uniformity):
                continue
            chosen.add(id(node))
            node.body = without(ast.Continue, node.body, lambda jump: [], temporary) or [ast.Pass()]
        elif isinstance(node, ast.While) and not contains(node, Sync):
            continue
        for body in bodies(node):
            _walk(body, uniformity, chosen, temporary)


def _worth(node, uniformity):
    """Whether moving this loop outside lets the loop over the threads become vector instructions."""
    is_range = isinstance(node.iter, ast.Call) and node.iter.func.id == "range"
    if not is_range or node.orelse or not uniformity.is_uniform(node.iter):
        return False
    count = trip_count(node)
    if count is not None and count <= SHORT and not _holds_long_loop(node, uniformity):
        return False
    return _vectorises(node.body, uniformity, 1)


def _holds_long_loop(node, uniformity):
    """Whether a loop inside is worth moving: it can only move together with this one."""
    inner = [n for body in bodies(node) for n in body]
    return any(_worth(n, uniformity) if isinstance(n, ast.For) else _holds_long_loop(n, uniformity) for n in inner)


def _vectorises(block, uniformity, unrolled):
    for node in block:
        if isinstance(node, (ast.While, ast.Break)):
            return False
        if isinstance(node, ast.For):
            count = trip_count(node)
            if count is None or count > SHORT:
                if not _worth(node, uniformity):
                    return False
                continue
            if unrolled * count > 2 * SHORT or not _vectorises(node.body, uniformity, unrolled * count):
                return False
            continue
        if any(not _vectorises(body, uniformity, unrolled) for body in bodies(node)):
            return False
        if _has_atomic(node):
            return False
    return True


def _has_atomic(node):
    if bodies(node):
        return False
    return any(
        isinstance(n, ast.Call) and isinstance(n.func, ast.Name) and n.func.id.startswith("_atomic")
        for n in ast.walk(node)
    )
