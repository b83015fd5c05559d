"""Syntax trees of answers: found, limited, freed of what does nothing, and written as text again.

Where a class is graded, what runs is written anew from the tree that was checked, so nothing of the text runs that no
tree shows. Each statement keeps its line, as far as it has one to itself, for messages.
"""

import ast
import contextlib
import copy
import inspect
import linecache
import sys
import textwrap
import warnings

MOST_TEXT = 100_000  # characters of a function, with the cell or file that it stands in where that is needed
MOST_NODES = 20_000
MOST_DEPTH = 500  # an elif chain counts each of its conditions
FRAMES = 30_000  # calls within calls, to go through a tree of that depth


class TooLarge(ValueError):
    """A source or a tree beyond the limits. Carries the line."""

    def __init__(self, text, line=0):
        super().__init__(text)
        self.line = line


@contextlib.contextmanager
def deep():
    """Room for functions that call themselves once for each level of a tree."""
    before = sys.getrecursionlimit()
    sys.setrecursionlimit(max(before, FRAMES))
    try:
        yield
    finally:
        sys.setrecursionlimit(before)


def parse(text, most=MOST_TEXT):
    """The tree of a source text; raises TooLarge, or SyntaxError for whatever Python cannot read."""
    if len(text) > most:
        raise TooLarge(f"{len(text):,} characters of source, and {most:,} are read")
    try:
        return ast.parse(text)
    except (ValueError, RecursionError, MemoryError) as error:
        raise SyntaxError(f"no Python: {type(error).__name__}") from None


def limit(tree):
    """Raises TooLarge for a tree that is too deep, or has too many nodes."""
    count, level, waiting = 0, 0, [tree]
    while waiting:
        level, count = level + 1, count + len(waiting)
        line = getattr(waiting[0], "lineno", 0)
        if count > MOST_NODES:
            raise TooLarge(f"more than {MOST_NODES:,} parts", getattr(tree, "lineno", line))
        if level > MOST_DEPTH:
            raise TooLarge(f"expressions or conditions nested {MOST_DEPTH} deep", line)
        waiting = [child for node in waiting for child in ast.iter_child_nodes(node)]


def first_line(node):
    """Where a statement begins, its decorators included."""
    return min([node.lineno, *(d.lineno for d in getattr(node, "decorator_list", ()))])


def of(function, name=None, kind=ast.FunctionDef):
    """The tree of a function of this process, or of the class `name` around it; None where no source is found."""
    code = function.__code__
    lines = linecache.getlines(code.co_filename, function.__globals__)
    try:
        tree = parse("".join(lines), 100 * MOST_TEXT)
    except SyntaxError:
        tree = ast.Module([], [])
    line, wanted = code.co_firstlineno, name or function.__name__
    inside = [n for n in ast.walk(tree) if isinstance(n, kind) and n.name == wanted]
    around = [n for n in inside if first_line(n) <= line <= n.end_lineno]
    if around:
        return around[-1]
    if kind is ast.FunctionDef:
        with contextlib.suppress(OSError, TypeError, SyntaxError):
            tree = ast.parse(textwrap.dedent(inspect.getsource(function))).body[0]
            return ast.increment_lineno(tree, line - 1) if isinstance(tree, kind) else None
    return None


def cleaned(statement):
    """A copy without docstrings and annotations, which do nothing where it is run; ``x: int = 3`` becomes ``x = 3``."""
    with deep():
        return _Cleaner().visit(copy.deepcopy(statement))


class _Cleaner(ast.NodeTransformer):
    def visit_FunctionDef(self, node):
        self.generic_visit(node)
        node.returns = node.type_comment = None
        for argument in (
            *node.args.posonlyargs,
            *node.args.args,
            *node.args.kwonlyargs,
            node.args.vararg,
            node.args.kwarg,
        ):
            if argument is not None:
                argument.annotation = argument.type_comment = None
        return self._without_docstring(node)

    def visit_ClassDef(self, node):
        self.generic_visit(node)
        return self._without_docstring(node)

    def _without_docstring(self, node):
        if ast.get_docstring(node, clean=False) is not None:
            node.body = node.body[1:] or [ast.copy_location(ast.Pass(), node.body[0])]
        return node

    def visit_AnnAssign(self, node):
        self.generic_visit(node)
        if node.value is None:  # a variable is announced, as in `total: float`
            return ast.copy_location(ast.Pass(), node)
        return ast.copy_location(ast.Assign([node.target], node.value), node)


def text_of(statement):
    """A statement as text that parses to the same tree, its parts on the lines that they have."""
    with deep():
        text = ast.unparse(statement)
        again = ast.parse(text).body[0]
        same = ast.dump(again) == ast.dump(statement)
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                compile(text, "<answer>", "exec")
        except (SyntaxError, ValueError, RecursionError):  # a tree that stands for nothing, as of `yield *x`
            same = False
        if not same:
            raise TooLarge("something that cannot be written down again", getattr(statement, "lineno", 0))
    lines, placed = text.split("\n"), []
    wanted = {
        first_line(new): first_line(old) for new, old in zip(_statements(again), _statements(statement), strict=True)
    }
    for number, line in enumerate(lines, start=1):
        placed += [""] * (wanted.get(number, 0) - len(placed) - 1)
        placed.append(line)
    return "\n".join(placed)


def _statements(tree):
    """All statements, in the same order for equal trees. (Those in lambdas and the like do not exist.)"""
    return [node for node in ast.walk(tree) if isinstance(node, ast.stmt)]
