"""Find the source of a kernel: its syntax tree."""

import ast
import copy
import linecache
from functools import lru_cache

from ..errors import SourceNotFound


@lru_cache(maxsize=64)
def _parse(text):
    return ast.parse(text)


def _first_line(node):
    return min([node.lineno, *(d.lineno for d in getattr(node, "decorator_list", ()))])


def tree_of(function):
    """The ``FunctionDef`` or ``Lambda`` node of a Python function. Do not change it: it is shared.

    Its variables that begin with an underscore have other names here: such names are the engines' own.
    """
    code = function.__code__
    linecache.checkcache(code.co_filename)
    lines = linecache.getlines(code.co_filename, function.__globals__)
    candidates = []
    if lines:
        try:
            module = _parse("".join(lines))
        except SyntaxError:
            module = ast.Module([], [])
        for node in ast.walk(module):
            named = isinstance(node, ast.FunctionDef) and node.name == code.co_name
            if named or (isinstance(node, ast.Lambda) and code.co_name == "<lambda>"):
                arguments = node.args.posonlyargs + node.args.args
                if (
                    _first_line(node) == code.co_firstlineno
                    and tuple(a.arg for a in arguments) == code.co_varnames[: code.co_argcount]
                ):
                    candidates.append(node)
    if len(candidates) != 1:
        raise SourceNotFound(
            f"the source of {code.co_name!r} was not found at {code.co_filename}:{code.co_firstlineno}. "
            "The executor follows a kernel through its source: define it in a file or a notebook cell (not in a string "
            "given to exec), and if you edited the file, import it again.",
            kernel=code.co_name,
        )
    return _with_other_names(candidates[0], code)


def _with_other_names(node, code):
    taken = {*code.co_varnames, *code.co_cellvars, *code.co_freevars, *code.co_names}
    ours = [n for n in (*code.co_varnames, *code.co_cellvars) if n.startswith("_") and n.strip("_")]
    if not ours:
        return node
    if not hasattr(node, "_renamed"):
        others = {}
        for name in ours:
            others[name] = f"own{name}"
            while others[name] in taken:
                others[name] = f"own_{others[name]}"
        node._renamed = copy.deepcopy(node)
        for part in ast.walk(node._renamed):
            if isinstance(part, ast.Name):
                part.id = others.get(part.id, part.id)
            elif isinstance(part, ast.arg):
                part.arg = others.get(part.arg, part.arg)
    return node._renamed
