"""Find the source of a kernel: its syntax tree."""

import ast
import copy
import linecache
from functools import lru_cache

from ..errors import SourceNotFound


@lru_cache(maxsize=64)
def _functions(text):
    """The functions and lambdas of a file, by their first line: a file of tasks is long, and asked for again and
    again."""
    try:
        module = ast.parse(text)
    except SyntaxError:
        return {}
    found = {}
    for node in ast.walk(module):
        if isinstance(node, ast.FunctionDef | ast.Lambda):
            found.setdefault(_first_line(node), []).append(node)
    return found


def _first_line(node):
    return min([node.lineno, *(d.lineno for d in getattr(node, "decorator_list", ()))])


_made_trees = {}  # file -> the syntax tree of what was never Python text


def give(file, module):
    """From now on the functions of ``file`` have their trees from ``module``, whose places are those of another text.

    That text stands in Python's ``linecache``: a kernel that was read from another language has its lines there.
    """
    _made_trees[file] = module


def parsed(file):
    """The syntax tree of a file, as given or from its text; None where it is no Python."""
    if file in _made_trees:
        return _made_trees[file]
    try:
        return ast.parse("".join(linecache.getlines(file)))
    except (SyntaxError, ValueError):
        return None


def tree_of(function):
    """The ``FunctionDef`` or ``Lambda`` node of a Python function. Do not change it: it is shared.

    Its variables that begin with an underscore have other names here: such names are the engines' own.
    """
    code = function.__code__
    if code.co_filename in _made_trees:
        return next(node for node in _made_trees[code.co_filename].body if node.name == code.co_name)
    linecache.checkcache(code.co_filename)
    lines = linecache.getlines(code.co_filename, function.__globals__)
    candidates = []
    for node in _functions("".join(lines)).get(code.co_firstlineno, ()):
        if code.co_name == ("<lambda>" if isinstance(node, ast.Lambda) else node.name):
            arguments = node.args.posonlyargs + node.args.args
            if tuple(a.arg for a in arguments) == code.co_varnames[: code.co_argcount]:
                candidates.append(node)
    if len(candidates) != 1:
        raise SourceNotFound(
            f"the source of {code.co_name!r} was not found at {code.co_filename}:{code.co_firstlineno}. The executor "
            "follows a kernel through its source: define it in a file or a notebook cell, and if you edited the file, "
            "import it again. Of text given to exec it knows only what ran after simt.activate().",
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
