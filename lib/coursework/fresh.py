"""Is what a check is given what stands in its cell? In a notebook, a function outlives the text that made it.

Somebody breaks the cell of an answer that was right, or gives its function another name, runs it, and runs the check:
what the old name stands for is still the old function. So each cell is looked at as it ends: a name belongs to the cell
that bound it last, and is stale once that cell has run again without binding it.
"""

import ast
from dataclasses import dataclass

_MISSING = object()


@dataclass
class _Bound:
    cell: str
    stale: str = ""  # why, in words


class Watch:
    """Follows the cells of a shell of IPython: `register` it once."""

    def __init__(self, shell):
        self.shell, self.bound, self._before = shell, {}, dict(shell.user_ns)

    def register(self):
        self.shell.events.register("pre_run_cell", self.begins)
        self.shell.events.register("post_run_cell", self.ended)

    def begins(self, info):
        self._before = dict(self.shell.user_ns)

    def ended(self, result):
        cell = getattr(result.info, "cell_id", None)
        if cell is None:  # not every front end says which cell it is
            return
        now, before = self.shell.user_ns, self._before
        names = _assigned(self.shell, result.info.raw_cell or "") if result.success else set()
        names |= {name for name, value in now.items() if value is not before.get(name, _MISSING)}
        error = result.error_before_exec or result.error_in_exec
        for name, bound in self.bound.items():
            if bound.cell == cell and name not in names:
                bound.stale = _told(error) if error else f"no longer makes {name}"
        self.bound |= {name: _Bound(cell) for name in names if not name.startswith("_")}

    def why_stale(self, answer):
        """What has become of the cell that made `answer`, in words; "" where it is as it was when it made it."""
        for name, bound in self.bound.items():
            if bound.stale and self.shell.user_ns.get(name, _MISSING) is answer:
                return f"the last run of the cell that made {name} {bound.stale}"
        return ""


def _told(error):
    line = f" (line {error.lineno})" if isinstance(error, SyntaxError) and error.lineno else ""
    return f"ended with {type(error).__name__}: {getattr(error, 'msg', None) or error}".removesuffix(": ") + line


def _assigned(shell, source):
    """The names that a cell's own lines bind, those within its functions and classes left out."""
    try:
        nodes = list(ast.parse(shell.transform_cell(source)).body)
    except SyntaxError:
        return set()
    names = set()
    while nodes:
        node = nodes.pop()
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            names.add(node.name)
            continue
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
            names.add(node.id)
        if isinstance(node, ast.alias):
            names.add((node.asname or node.name).split(".")[0])
        nodes += ast.iter_child_nodes(node)
    return names
