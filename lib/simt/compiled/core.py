"""The small language that a kernel is lowered to: Python's syntax tree, with two additions.

``Sync`` stands for a barrier or warp operation, always a statement of its own. Everything else is plain Python that
numba
compiles: expressions without side effects on names, ``if``, ``for``, ``while``, assignments to single names, calls.
"""

import ast


class Sync(ast.stmt):
    """A barrier or warp operation.

    kind: "block", "count", "and", "or", "grid" (barriers), "syncwarp", or the name of a warp operation.
    target: the variable that receives the result, or None. operands: role ("value", "operand", "mask") -> Name or
    Constant.
    """

    _fields = ()

    def __init__(self, kind, target, operands, origin):
        super().__init__()
        self.kind, self.target, self.operands = kind, target, operands
        ast.copy_location(self, origin)

    def __deepcopy__(self, memo):
        return Sync(self.kind, self.target, dict(self.operands), self)

    @property
    def is_barrier(self):
        return self.kind in BARRIERS

    def __repr__(self):
        return f"<{self.kind} -> {self.target}>"


BARRIERS = ("block", "count", "and", "or", "grid")
THREAD = ("_tx", "_ty", "_tz", "_t")
BLOCK = ("_bx", "_by", "_bz")
GRID = ("_gx", "_gy", "_gz")
HIDDEN = ("_flag", "_stop", *THREAD, *BLOCK, *GRID)  # what a device function gets besides its arguments


#: ask whether a thread of the block has failed, and leave
FAILED = "if _read_flag(_flag) != 0:\n    _result[0] = _b\n    _result[1] = _read_flag(_flag)\n    return\n"


def bodies(node):
    """The lists of statements inside a statement."""
    return [b for b in (getattr(node, "body", None), getattr(node, "orelse", None)) if isinstance(b, list) and b]


def statements(block):
    """Every statement in a list of statements, and in those inside."""
    for node in block:
        yield node
        for body in bodies(node):
            yield from statements(body)


def contains(node, kinds):
    """Whether a statement is, or has inside, one of these kinds."""
    return any(isinstance(n, kinds) for n in statements([node]))


def name(identifier, store=False):
    return ast.Name(identifier, ast.Store() if store else ast.Load())


def call(function, *args):
    """``function(*args)``: nodes as they are, anything else as a constant."""
    return ast.Call(name(function), [a if isinstance(a, ast.AST) else ast.Constant(a) for a in args], [])


def assign(target, value, origin):
    made = ast.Assign([name(target, True)], value)
    return ast.copy_location(made, origin)


def negation(test):
    return ast.UnaryOp(ast.Not(), test)


def parse(text, origin=None, **parts):
    """Statements from text; names given as keywords are replaced: by nodes, or by lists of statements where they stand
    alone."""

    class Fill(ast.NodeTransformer):
        def visit_Name(self, node):
            part = parts.get(node.id)
            return part if isinstance(part, ast.AST) else node

        def visit_Expr(self, node):
            if isinstance(node.value, ast.Name) and isinstance(parts.get(node.value.id), list):
                return parts[node.value.id]
            return self.generic_visit(node)

    tree = ast.parse(text)
    if origin is not None:
        for node in ast.walk(tree):
            if hasattr(node, "lineno"):
                ast.copy_location(node, origin)
    return Fill().visit(tree).body


def show(block):
    """Source text of statements, for people and for tests."""

    class Readable(ast.NodeTransformer):
        def visit_Sync(self, node):
            made = ast.Expr(call(node.kind, *node.operands.values()))
            return assign(node.target, made.value, node) if node.target else made

    import copy

    tree = ast.Module([Readable().visit(copy.deepcopy(s)) for s in block], [])
    return ast.unparse(ast.fix_missing_locations(tree))
