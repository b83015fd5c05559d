"""Where a variable of Python is declared in C, and which comment stands at which line."""

import ast
import inspect
import io
import tokenize


def comments_of(function):
    """{line: (comment, whether the line has nothing else)} of a function's source."""
    try:
        lines, first_line = inspect.getsourcelines(function)
    except (OSError, TypeError):
        return {}
    found = {}
    try:
        for token in tokenize.generate_tokens(io.StringIO("".join(lines)).readline):
            if token.type == tokenize.COMMENT and "noqa" not in token.string:
                text = token.string.lstrip("# ").rstrip()
                found[token.start[0] + first_line - 1] = text, not token.line[: token.start[1]].strip()
    except (tokenize.TokenError, IndentationError):
        pass
    return found


class Places:
    """Of each variable: the statement that declares it, or the one before which it is declared.

    inline: {(id of a statement, name)}. before: {id of a statement: [names]}. in_head: {(id of a for, name)}.
    """

    def __init__(self, body, names):
        self.names, self.paths = names, {name: [] for name in names}
        self.blocks, self.loops, self.owner = {}, set(), {}
        self.inline, self.before, self.in_head, self.outside = set(), {}, set(), set()
        self._walk(body, ())
        for name in sorted(names):
            if self.paths[name]:
                self._place(name, self.paths[name])

    def _walk(self, block, path):
        self.blocks[id(block)] = block
        for k, statement in enumerate(block):
            position = (*path, (id(block), k))
            heads, inner = _parts(statement)
            for part in heads:
                for node in ast.walk(part):
                    if isinstance(node, ast.Name) and node.id in self.names:
                        target = isinstance(statement, ast.For) and node is statement.target
                        self.paths[node.id].append((position, target))
            for body in inner:
                if isinstance(statement, ast.For | ast.While):
                    self.loops.add(id(body))
                self.owner[id(body)] = position
                self._walk(body, position)

    def _place(self, name, found):
        if self._only_in_heads(name, found):
            return
        paths = [path for path, _ in found]
        common = paths[0]
        for path in paths[1:]:
            while common and path[: len(common)] != common and not _same_block(common, path):
                common = common[:-1]
            if _same_block(common, path):
                common = min(common, path[: len(common)], key=lambda p: p[-1][1])
        block, k = common[-1]
        statement = self.blocks[block][k]
        if self._declares(statement, name, [p for p in paths if p[: len(common)] == common]):
            self.inline.add((id(statement), name))
            return
        while block in self.loops:  # what one round leaves, the next may read
            block, k = self.owner[block][-1]
        self.before.setdefault(id(self.blocks[block][k]), []).append(name)

    def _declares(self, statement, name, paths):
        if not isinstance(statement, ast.Assign) or any(isinstance(n, ast.NamedExpr) for n in ast.walk(statement)):
            return False
        if name in {n.id for n in ast.walk(statement.value) if isinstance(n, ast.Name)}:
            return False
        targets = [t for t in statement.targets for t in (t.elts if isinstance(t, ast.Tuple) else [t])]
        return len(statement.targets) == 1 and any(isinstance(t, ast.Name) and t.id == name for t in _flat(targets))

    def _only_in_heads(self, name, found):
        """Whether a variable is only ever that of loops: each declares its own."""
        loops = [path for path, target in found if target]
        if not loops or not all(any(path[: len(loop)] == loop for loop in loops) for path, _ in found):
            return False
        outer = [p for p in loops if not any(q != p and p[: len(q)] == q for q in loops)]
        if len(outer) != len(loops):
            return False
        self.in_head |= {(id(self.blocks[p[-1][0]][p[-1][1]]), name) for p in loops}
        return True


def _flat(targets):
    for target in targets:
        if isinstance(target, ast.Tuple | ast.List):
            yield from _flat(target.elts)
        else:
            yield target


def _same_block(a, b):
    """Whether a path begins with the block in which another one ends."""
    return bool(a) and len(b) >= len(a) and a[:-1] == b[: len(a) - 1] and a[-1][0] == b[len(a) - 1][0]


def _parts(statement):
    """(the expressions of a statement itself, the blocks inside it)."""
    if isinstance(statement, ast.If | ast.While):
        return [statement.test], [b for b in (statement.body, statement.orelse) if b]
    if isinstance(statement, ast.For):
        return [statement.target, statement.iter], [b for b in (statement.body, statement.orelse) if b]
    return [statement], []
