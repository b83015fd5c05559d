"""Places in a kernel's source, with their text."""

import ast
import linecache
from dataclasses import dataclass


@dataclass(frozen=True)
class Site:
    """A source expression that touches memory or synchronises. Lines count from 1, columns from 0, as in ``ast``."""

    file: str
    line: int
    column: int
    end_line: int
    end_column: int
    text: str  # "A[i, k]"
    function: str  # name of the kernel or device function it stands in
    kind: str  # "load", "store", "atomic", "barrier", "grid barrier", "collective", "allocation", "call", "loop"


class Sites:
    """Numbers the sites of a program. ``sites[i]`` is a ``Site``."""

    def __init__(self):
        self.sites = []

    def add(self, site):
        self.sites.append(site)
        return len(self.sites) - 1


def site_of(node, kind, function):
    """The `Site` of a node in the source of a Python function."""
    file = function.__code__.co_filename
    text = _segment(file, node, function.__globals__)
    end_line, end_column = node.end_lineno, node.end_col_offset
    if isinstance(node, (ast.For, ast.While)):  # the header stands for the loop
        head = node.iter if isinstance(node, ast.For) else node.test
        end_line, end_column = head.end_lineno, head.end_col_offset
        text = text.splitlines()[0].rstrip().rstrip(":")
    return Site(file, node.lineno, node.col_offset, end_line, end_column, text, function.__name__, kind)


def _segment(file, node, module_globals):
    """Text of a node, on one line. (ast's columns count bytes of UTF-8.)"""
    lines = linecache.getlines(file, module_globals)[node.lineno - 1 : node.end_lineno]
    if not lines:
        return ""
    lines = [line.encode() for line in lines]
    lines[-1] = lines[-1][: node.end_col_offset]
    lines[0] = lines[0][node.col_offset :]
    if isinstance(node, (ast.For, ast.While)):
        return lines[0].decode()
    return b" ".join(line.strip() for line in lines).decode()
