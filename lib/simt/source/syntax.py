"""Small helpers to build and read syntax trees."""

import ast


def make_name(identifier, store=False):
    return ast.Name(identifier, ast.Store() if store else ast.Load())


def make_call(function, *args):
    """``function(*args)``: names as strings, everything else as constants or nodes."""
    nodes = [a if isinstance(a, ast.AST) else ast.Constant(a) for a in args]
    return ast.Call(make_name(function) if isinstance(function, str) else function, nodes, [])


def root_name(node):
    while isinstance(node, ast.Attribute):
        node = node.value
    return node.id if isinstance(node, ast.Name) else None


def local_names(node):
    """Names that a function assigns (or takes), without those of functions inside it."""
    names = set()
    arguments = node.args
    for a in (*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs, arguments.vararg, arguments.kwarg):
        if a is not None:
            names.add(a.arg)

    def walk(child):
        if isinstance(child, ast.FunctionDef):
            names.add(child.name)
            return
        if isinstance(child, ast.Lambda):
            return
        if isinstance(child, ast.Name) and isinstance(child.ctx, ast.Store):
            names.add(child.id)
        for grandchild in ast.iter_child_nodes(child):
            walk(grandchild)

    for statement in node.body if isinstance(node.body, list) else [node.body]:
        walk(statement)
    return names


def names_in(node):
    """Names of the variables that a piece of code mentions."""
    return {n.id for n in ast.walk(node) if isinstance(n, ast.Name)}


def stored_names(node):
    """Names of the variables that a piece of code sets, loops' own included."""
    return {n.id for n in ast.walk(node) if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Store)}
