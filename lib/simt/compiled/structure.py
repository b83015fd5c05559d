"""Take ``return``, ``break`` and ``continue`` out of code, so that only the ends of ``if`` and loops decide what runs
next.

    if i >= n:                       if i >= n:
        return              ->           pass
    y[i] = x[i]                      else:
                                         y[i] = x[i]

In a loop a flag remembers the jump, and the code behind it asks the flag. What follows can then be cut at barriers:
there is nothing left that jumps over a cut.
"""

import ast

from .core import assign, contains, name, negation

LOOPS = (ast.For, ast.While)


def _falls_through(block, kind):
    """Whether control can reach the end of a block without a jump of this kind."""
    for node in block:
        if isinstance(node, kind):
            return False
        if isinstance(node, ast.If) and node.orelse:
            if not _falls_through(node.body, kind) and not _falls_through(node.orelse, kind):
                return False
    return True


def has(node, kind):
    """Whether a statement jumps; ``break`` and ``continue`` of loops inside it are their own affair."""
    if kind is ast.Return:
        return contains(node, ast.Return)
    if isinstance(node, kind):
        return True
    if isinstance(node, LOOPS):
        return False
    return any(has(n, kind) for b in (getattr(node, "body", []), getattr(node, "orelse", [])) for n in b)


def without(kind, block, land, temporary):
    """``block`` without jumps of this kind.

    kind: ast.Return, ast.Break or ast.Continue. land(jump): the statements that a jump leaves behind.
    temporary(): a fresh name. Returns the new list of statements.
    """
    result = []
    for position, node in enumerate(block):
        rest = block[position + 1 :]
        if isinstance(node, kind):
            return result + land(node)
        if not has(node, kind):
            result.append(node)
            continue
        if isinstance(node, ast.If):
            body, orelse = node.body, node.orelse
            if not rest:
                pass
            elif not _falls_through(body, kind):
                orelse = orelse + rest
            elif orelse and not _falls_through(orelse, kind):
                body = body + rest
            else:
                return result + _with_flag(kind, node, rest, land, temporary)
            chosen = ast.If(
                node.test,
                without(kind, body, land, temporary) or [ast.copy_location(ast.Pass(), node)],
                without(kind, orelse, land, temporary),
            )
            return [*result, ast.copy_location(chosen, node)]
        return result + _out_of_loop(node, rest, land, temporary)
    return result


def _with_flag(kind, branch, rest, land, temporary):
    """A branch that jumps on some of its paths only: a flag notes the jump, and what follows asks the flag."""
    flag = temporary()

    def land_and_note(jump):
        return [*land(jump), assign(flag, ast.Constant(True), jump)]

    body, orelse = (without(kind, b, land_and_note, temporary) for b in (branch.body, branch.orelse))
    guarded = ast.copy_location(ast.If(branch.test, body or [ast.copy_location(ast.Pass(), branch)], orelse), branch)
    behind = without(kind, rest, land, temporary) or [ast.copy_location(ast.Pass(), branch)]
    after = ast.copy_location(ast.If(negation(name(flag)), behind, []), branch)
    return [assign(flag, ast.Constant(False), branch), guarded, after]


def _out_of_loop(loop, rest, land, temporary):
    """A loop with ``return`` inside: note it in a flag, break, and ask behind the loop."""
    flag = temporary()

    def leave(block):
        statements = []
        for node in block:
            if isinstance(node, ast.Return):
                return [
                    *statements,
                    *land(node),
                    assign(flag, ast.Constant(True), node),
                    ast.copy_location(ast.Break(), node),
                ]
            if contains(node, ast.Return):
                if isinstance(node, LOOPS):
                    statements.append(rebuilt(node))
                    ask = ast.If(name(flag), [ast.copy_location(ast.Break(), node)], [])
                    statements.append(ast.copy_location(ask, node))
                    continue
                new = ast.If(node.test, leave(node.body), leave(node.orelse))
                node = ast.copy_location(new, node)
            statements.append(node)
        return statements

    def rebuilt(node):
        if isinstance(node, ast.For):
            new = ast.For(node.target, node.iter, leave(node.body), leave(node.orelse))
        else:
            new = ast.While(node.test, leave(node.body), leave(node.orelse))
            new.may_wait = getattr(node, "may_wait", False)
        return ast.copy_location(new, node)

    statements = [assign(flag, ast.Constant(False), loop), rebuilt(loop)]
    if rest:
        behind = without(ast.Return, rest, land, temporary) or [ast.Pass()]
        statements.append(ast.copy_location(ast.If(negation(name(flag)), behind, []), loop))
    return statements
