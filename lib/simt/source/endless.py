"""Why a loop may go on and on, as far as its source tells."""

import ast
import linecache

from .syntax import stored_names


def question(file, line, function_globals=None):
    """A sentence about the loop at a line of a file (or notebook cell): what its author should look at first."""
    loop = _loop_at(file, line, function_globals)
    if loop is None:
        return "Does the loop ever stop?"
    if isinstance(loop, ast.For):
        return f"Is `{ast.unparse(loop.iter)}` as long as it should be?"
    inside = {name for part in (*loop.body, loop.test) for name in stored_names(part) | _touched_names(part)}
    watched = _numbers_of(loop.test)
    if not watched:
        if not isinstance(loop.test, ast.Constant):
            return f"Does anything change what `{ast.unparse(loop.test)}` looks at?"
        return "Is its `break` ever reached?" if _leaves(loop) else "Nothing inside it leaves the loop: no `break`."
    changed = [name for name in watched if name in inside]
    if changed:
        return f"Does {_either(changed)} come closer to the end each time round?"
    return f"Nothing inside the loop changes {_either(watched)}."


def _loop_at(file, line, function_globals):
    text = "".join(linecache.getlines(file, function_globals))
    try:
        loops = [node for node in ast.walk(ast.parse(text)) if isinstance(node, ast.While | ast.For)]
    except (SyntaxError, ValueError):
        return None
    return next((loop for loop in loops if loop.lineno == line), None)


def _numbers_of(test):
    """Variables of a condition that stand by themselves: `i` of `i < x.size`, in their order."""
    inner = {id(n.value) for n in ast.walk(test) if isinstance(n, ast.Attribute | ast.Subscript)}
    inner |= {id(n.func) for n in ast.walk(test) if isinstance(n, ast.Call)}
    inner |= {id(part) for n in ast.walk(test) if isinstance(n, ast.Call) for part in n.args}
    return list(dict.fromkeys(n.id for n in ast.walk(test) if isinstance(n, ast.Name) and id(n) not in inner))


def _touched_names(tree):
    """Names of what a method is called of, or an element stored into: `todo` of `todo.pop()`."""
    methods = (n.func for n in ast.walk(tree) if isinstance(n, ast.Call))
    elements = (n for n in ast.walk(tree) if isinstance(n, ast.Subscript) and not isinstance(n.ctx, ast.Load))
    parts = [n.value for n in (*methods, *elements) if isinstance(n, ast.Attribute | ast.Subscript)]
    return {n.id for n in parts if isinstance(n, ast.Name)}


def _leaves(loop):
    """Whether a loop holds a `return`, or a `break` of its own."""
    waiting = list(loop.body)
    while waiting:
        node = waiting.pop()
        if isinstance(node, ast.Break | ast.Return):
            return True
        if isinstance(node, ast.For | ast.While):
            waiting += [n for n in ast.walk(node) if isinstance(n, ast.Return)] + node.orelse
        else:
            waiting += list(ast.iter_child_nodes(node))
    return False


def _either(names):
    said = [f"`{name}`" for name in names]
    return " or ".join([", ".join(said[:-1]), said[-1]] if len(said) > 1 else said)
