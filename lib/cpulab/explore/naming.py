"""What the program calls a lock, a queue, a thread: read from the line that makes it."""

import ast
import contextlib
import functools
import sys

from . import sites

_kept_name = [None]


@contextlib.contextmanager
def as_it_is(name):
    """What is made meanwhile stands for something of this name that was made before the run."""
    _kept_name[0] = name
    try:
        yield
    finally:
        _kept_name[0] = None


def of_creation(tracer, otherwise):
    """(name, whether it is one of several) from the assignment whose right side is being computed.

    ("lock", False) for `self.lock = Lock()`, ("forks", True) for `forks = [Lock() for _ in range(5)]`.
    """
    if _kept_name[0]:
        return _kept_name[0], False
    frame = sys._getframe(1)
    while frame is not None and not tracer.is_own(frame.f_code.co_filename):
        frame = frame.f_back
    if frame is None:
        return otherwise, False
    name, several = _at(frame.f_code, frame.f_lasti)
    return name or otherwise, several


@functools.lru_cache(maxsize=500)
def _at(code, instruction):
    """The same for an instruction of the program; the name may be None."""
    line, end, column, stop = list(code.co_positions())[instruction // 2]
    if line is None or column is None:
        return None, False
    position = (line, column, end, stop)
    best = None
    for group in sites.nodes_of(code.co_filename).values():
        for node, _ in group:
            if isinstance(node, ast.Assign | ast.AnnAssign) and node.value is not None and _holds(node, position):
                best = node  # the innermost comes last
    if best is None:
        return None, False
    target, value = (best.targets[0] if isinstance(best, ast.Assign) else best.target), best.value
    if isinstance(target, ast.Tuple) and isinstance(value, ast.Tuple) and len(target.elts) == len(value.elts):
        pairs = zip(target.elts, value.elts, strict=True)
        target, value = next(((t, v) for t, v in pairs if _holds(v, position)), (None, None))
    if isinstance(target, ast.Attribute):
        return target.attr, not isinstance(value, ast.Call)
    if isinstance(target, ast.Name):
        return target.id, not isinstance(value, ast.Call)
    return None, False


def _holds(node, position):
    """Whether the text of `node` includes the `position`."""
    line, column, end, stop = position
    begins = (node.lineno, node.col_offset) <= (line, column)
    return begins and (end, stop) <= (node.end_lineno, node.end_col_offset)
