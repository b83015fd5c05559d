"""Cells that ask the course for its own answers: through the modules that define its tasks, or what a task has.

Within bubblewrap's walls these modules are not there (walls.ANSWERS); with rlimits alone they are. This tells who names
them, or takes a way round, on which no name is to be read: one that is put together, Python's own insides.
"""

import ast
import re

from ... import trees
from ...vocabulary import words

MODULES = {"tasks", "definition", "variants", "hidden"}  # of the course: they know what is right
OF_A_TASK = {"truth", "judge", "spec"}
_WAYS = MODULES | {"__globals__", "__closure__", "__wrapped__"}
BY_NAME = words("__import__ import_module find_spec spec_from_file_location resolve_name run_module run_path")
TEXTS = {"exec", "eval"}
INSIDES = words("__globals__ __builtins__ __subclasses__ __loader__ f_globals f_back get_objects get_referrers")
_WRITTEN = re.compile(rf"coursework[./\\]+({'|'.join(sorted(MODULES))})\b")
_COMMAND = re.compile(r"^\s*(?:\w+\s*=\s*)?[%!?]")  # a line for IPython


def flags(steps):
    """One for each cell of the student's that names what knows the answers. `steps`: of a merge.Merged."""
    read = [(step, *_read(step.source)) for step in steps]
    course, inside, attributes, makers = set(), set(), set(), set(BY_NAME)
    for _, nodes, _ in read:
        for node in nodes:
            for name, module in _imported(node):
                course.add(name)
                if _knows(module):
                    inside.add(name)
            attributes |= _made(node)
            if isinstance(node, ast.ImportFrom):
                makers |= {alias.asname or alias.name for alias in node.names if alias.name in BY_NAME}
    found = []
    for step, nodes, commands in read:
        if step.kind not in ("answer", "extra"):
            continue
        told = [word for node in nodes for word in _words(node, course, inside, attributes)] + _hidden(
            nodes, course, makers
        )
        told += [match[0] for command in commands for match in _WRITTEN.finditer(command)]
        if told:
            found.append(
                f"asks the course for its own answers: cell {step.id} ({', '.join(dict.fromkeys(told))})"[:200]
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


def _words(node, course, inside, attributes):
    """What a node names that knows the answers. `course`, `inside`: names that are the course's, that know the answers;
    `attributes`: attributes that the notebook itself makes."""
    if isinstance(node, ast.Import):
        return [alias.name for alias in node.names if alias.name.startswith("coursework.") and _knows(alias.name)]
    if isinstance(node, ast.ImportFrom):
        return [module for _, module in _imported(node) if _knows(module)]
    if isinstance(node, ast.Name):
        return [node.id] if node.id in inside else []
    if isinstance(node, ast.Attribute):
        of_course = node.attr in _WAYS and _root(node) in course
        of_a_task = node.attr in OF_A_TASK - attributes and isinstance(node.ctx, ast.Load)
        return [f".{node.attr}"] if of_course or of_a_task else []
    if isinstance(node, ast.Constant) and isinstance(node.value, str):
        return [match[0] for match in _WRITTEN.finditer(node.value)]
    return []


def _hidden(nodes, course, makers):
    """Ways to a module, or to what it has, on which its name is not to be read. `makers`: what makes a module of a
    name."""
    looked_up, harmless, told = set(), set(), []  # `looked_up`: sys.modules, for one plain name
    for node in nodes:
        if isinstance(node, ast.Call):
            name, argument = _last(node.func), node.args[0] if node.args else None
            plain = isinstance(argument, ast.Constant)
            if name in makers and plain:
                harmless.add(id(node.func))
            if name == "get" and plain:
                looked_up.add(id(getattr(node.func, "value", None)))
            if name in TEXTS and isinstance(node.func, ast.Name):
                told += _of_text(argument, course, makers)
            if name in ("getattr", "attrgetter", "vars") and _of_python(argument, course):
                told.append(ast.unparse(node)[:60])
        elif isinstance(node, ast.Subscript) and isinstance(node.slice, ast.Constant):
            looked_up.add(id(node.value))
        elif isinstance(node, ast.Compare) and all(isinstance(op, ast.In | ast.NotIn) for op in node.ops):
            looked_up |= {id(part) for part in node.comparators}
        elif isinstance(node, ast.Name | ast.Attribute) and id(node) not in harmless:
            name = _last(node)
            way = name in makers if isinstance(node, ast.Name) else name in BY_NAME | INSIDES
            if way or name == "__builtins__" or (ast.unparse(node) == "sys.modules" and id(node) not in looked_up):
                told.append(name if isinstance(node, ast.Name) else f".{name}")
    return told


def _of_text(text, course, makers):
    """What a text names that is run as a program; the way, where it is put together."""
    if not (isinstance(text, ast.Constant) and isinstance(text.value, str)):
        return ["a program that is put together"]
    nodes, _ = _read(text.value)
    inside = {name for node in nodes for name, module in _imported(node) if _knows(module)}
    return [word for node in nodes for word in _words(node, course, inside, set())] + _hidden(nodes, course, makers)


def _of_python(node, course):
    """Whether something is the course's, or Python's own: what has modules among its attributes."""
    return node is not None and (_root(node) in course | {"sys", "builtins", "importlib", "__builtins__"})


def _last(node):
    return node.attr if isinstance(node, ast.Attribute) else getattr(node, "id", "")


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
