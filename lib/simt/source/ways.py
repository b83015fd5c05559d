"""Which branch, loop or `return` of a function leads threads past a place in it, as far as the source says it."""

import ast
from dataclasses import dataclass

from .tree import parsed

OWN = ("threadIdx", "grid", "laneid")  # what is another value for each thread of a block
LOOPS = ast.For | ast.AsyncFor | ast.While
LEAVES = ast.Break | ast.Continue | ast.Return


@dataclass(frozen=True)
class Way:
    """kind: "branch", "loop" or "return". line: where it begins. divergent: whether threads of a block differ in it."""

    kind: str
    line: int
    divergent: bool


def around(site, parameters=()):
    """The branches and loops around a `Site`, outermost first. parameters: whether its function's may differ between
    threads."""
    function = _function(site)
    if function is None:
        return []
    known = _own_names(function, {a.arg for a in function.args.args} if parameters else set())
    return [
        Way(
            "loop" if isinstance(node, LOOPS) else "branch",
            node.lineno,
            any(_own(test, known) for test in _tests(node)),
        )
        for node in _holding(function, site)
        if _may_skip(node, site)
    ]


def return_before(site, line=0):
    """The first `return` of its function by which a thread may leave before it comes to a `Site`, or the one on
    `line`."""
    function = _function(site)
    if function is None:
        return None
    loops = [node for node in _holding(function, site) if isinstance(node, LOOPS)]
    for node in sorted((n for n in ast.walk(function) if isinstance(n, ast.Return)), key=lambda n: n.lineno):
        earlier = node.lineno < site.line or any(loop.lineno <= node.lineno <= loop.end_lineno for loop in loops)
        if earlier and line in (0, node.lineno):
            return Way("return", node.lineno, True)
    return None


def _function(site):
    module = parsed(site.file)
    if module is None:
        return None
    named = [n for n in ast.walk(module) if isinstance(n, ast.FunctionDef) and n.name == site.function]
    return next((n for n in named if n.lineno <= site.line <= n.end_lineno), None)


def _holds(node, site):
    if not hasattr(node, "lineno"):
        return False
    begin, end = (node.lineno, node.col_offset), (node.end_lineno, node.end_col_offset)
    return begin <= (site.line, site.column) and (site.end_line, site.end_column) <= end


def _holding(function, site):
    return [n for n in ast.walk(function) if n is not function and _holds(n, site)]  # breadth first: outermost first


def _may_skip(node, site):
    """Whether a thread may go past the site because of this node around it."""
    if isinstance(node, ast.If):
        return not _holds(node.test, site)
    if isinstance(node, ast.For):
        return not _holds(node.iter, site)
    if isinstance(node, ast.IfExp):
        return not _holds(node.test, site)
    if isinstance(node, ast.BoolOp):
        return not _holds(node.values[0], site)
    return isinstance(node, ast.While | ast.Match)


def _tests(node):
    """What decides whether, and how often, a thread comes to what stands in a node."""
    if isinstance(node, ast.BoolOp):
        return node.values[:-1]
    if isinstance(node, ast.Match):
        return [node.subject]
    if not isinstance(node, LOOPS):
        return [node.test]
    leaves = [
        n.test for n in ast.walk(node) if isinstance(n, ast.If) and any(isinstance(m, LEAVES) for m in ast.walk(n))
    ]
    return [node.iter if isinstance(node, ast.For) else node.test, *leaves]


def _own_names(function, known):
    """Variables that may have another value for each thread of a block."""
    before = None
    while before != (before := len(known)):
        for node in ast.walk(function):
            if isinstance(node, ast.Assign | ast.AugAssign | ast.AnnAssign | ast.NamedExpr) and node.value is not None:
                targets = node.targets if isinstance(node, ast.Assign) else [node.target]
                value = node.value
            elif isinstance(node, ast.For):
                targets, value = [node.target], node.iter
            else:
                continue
            if _own(value, known):
                names = (n for target in targets for n in ast.walk(target))
                known |= {n.id for n in names if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Store)}
    return known


def _own(expression, known):
    """Whether an expression may have another value for each thread. An element has where its index has."""
    if isinstance(expression, ast.Subscript):
        return _own(expression.slice, known)
    if isinstance(expression, ast.Name):
        return expression.id in known or expression.id in OWN
    if isinstance(expression, ast.Attribute) and expression.attr in (*OWN, "atomic"):
        return True
    return any(_own(child, known) for child in ast.iter_child_nodes(expression))
