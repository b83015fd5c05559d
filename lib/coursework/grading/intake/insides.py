"""Cells that ask the course for its own answers: through the modules that define its tasks, or what a task has.

The process that runs a notebook has the course's code in it, so a cell can do that. This finds who does not hide it.
"""

import ast
import re

from ... import trees

MODULES = {"tasks", "definition", "variants", "hidden"}  # of the course: they know what is right
OF_A_TASK = {"truth", "judge", "spec"}
_WAYS = MODULES | {"__globals__", "__closure__", "__wrapped__"}
_WRITTEN = re.compile(rf"coursework[./\\]+({'|'.join(sorted(MODULES))})\b")
_COMMAND = re.compile(r"^\s*(?:\w+\s*=\s*)?[%!?]")  # a line for IPython


def flags(steps):
    """One for each cell of the student's that names what knows the answers. `steps`: of a merge.Merged."""
    read = [(step, *_read(step.source)) for step in steps]
    course, inside, own = set(), set(), set()
    for _, nodes, _ in read:
        for node in nodes:
            for name, module in _imported(node):
                course.add(name)
                if _knows(module):
                    inside.add(name)
            own |= _made(node)
    found = []
    for step, nodes, commands in read:
        if step.kind not in ("answer", "extra"):
            continue
        words = [word for node in nodes for word in _words(node, course, inside, own)]
        words += [match[0] for command in commands for match in _WRITTEN.finditer(command)]
        if words:
            found.append(
                f"asks the course for its own answers: cell {step.id} ({', '.join(dict.fromkeys(words))})"[:200]
            )
    return found


def _read(source):
    """(the nodes of a cell in their order, without texts that stand alone; its lines for IPython)."""
    lines = source.splitlines()
    commands = [line for line in lines if _COMMAND.match(line)]
    try:
        with trees.deep():
            tree = trees.parse("\n".join("" if _COMMAND.match(line) else line for line in lines))
            trees.limit(tree)
    except (SyntaxError, trees.TooLarge):
        return [], commands
    nodes, waiting = [], [tree]
    while waiting:
        node = waiting.pop()
        if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant):
            continue
        nodes.append(node)
        waiting += [*ast.iter_child_nodes(node)][::-1]
    return nodes, commands


def _imported(node):
    """(name in the notebook, what it is of the course) of each import."""
    if isinstance(node, ast.Import):
        for alias in node.names:
            if alias.name.split(".")[0] == "coursework":
                yield alias.asname or "coursework", alias.name if alias.asname else "coursework"
    elif isinstance(node, ast.ImportFrom) and (node.module or "").split(".")[0] == "coursework":
        for alias in node.names:
            yield alias.asname or alias.name, f"{node.module}.{alias.name}"


def _knows(module):
    """Whether a thing of the course knows what is right, or is not meant for others."""
    parts = module.split(".")[1:]
    return any(part in MODULES or part.startswith("_") for part in parts)


def _words(node, course, inside, own):
    """What a node names that knows the answers. `course`, `inside`: names that are the course's, that know the answers;
    `own`: attributes that the notebook itself makes."""
    if isinstance(node, ast.Import):
        return [alias.name for alias in node.names if alias.name.startswith("coursework.") and _knows(alias.name)]
    if isinstance(node, ast.ImportFrom):
        return [module for _, module in _imported(node) if _knows(module)]
    if isinstance(node, ast.Name):
        return [node.id] if node.id in inside else []
    if isinstance(node, ast.Attribute):
        of_course = node.attr in _WAYS and _root(node) in course
        of_a_task = node.attr in OF_A_TASK - own and isinstance(node.ctx, ast.Load)
        return [f".{node.attr}"] if of_course or of_a_task else []
    if isinstance(node, ast.Constant) and isinstance(node.value, str):
        return [match[0] for match in _WRITTEN.finditer(node.value)]
    return []


def _root(node):
    while isinstance(node, ast.Attribute):
        node = node.value
    return node.id if isinstance(node, ast.Name) else ""


def _made(node):
    """Attributes that a node may make: a class's own, that of a keyword, those in a text such as namedtuple's."""
    if isinstance(node, ast.Attribute) and isinstance(node.ctx, ast.Store):
        return {node.attr}
    if isinstance(node, ast.keyword):
        return {node.arg}
    if isinstance(node, ast.Constant) and isinstance(node.value, str):
        return {word for word in OF_A_TASK if re.search(rf"\b{word}\b", node.value)}
    if isinstance(node, ast.ClassDef):
        return {name for statement in node.body for name in _names(statement)}
    return set()


def _names(statement):
    """What a statement of a class defines."""
    if isinstance(statement, ast.FunctionDef):
        return [statement.name]
    targets = getattr(statement, "targets", [getattr(statement, "target", None)])
    return [target.id for target in targets if isinstance(target, ast.Name)]
