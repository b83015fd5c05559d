"""The API reference, made from the library: signatures, docstrings, and the table of operations.

    ```{api} cpulab.measure
    claim ratio times
    ```

describes these names of a module; without names, what its file defines and says a word about. Files are read, not
imported.

    ```{operations} matrix
    ```

describes the operations of a folder of dlkernels, each with a call, its gradient and its ladder: the table is asked,
the one thing that is imported. Sphinx's autodoc would import all packages, and our docstrings are plain text, no
reStructuredText.
"""

import ast
import inspect
import re
import sys
from functools import cache
from html import escape
from pathlib import Path

from docutils import nodes
from sphinx import addnodes
from sphinx.util import logging
from sphinx.util.docutils import SphinxDirective

logger = logging.getLogger(__name__)
LIBRARY = Path(__file__).resolve().parent.parent / "lib"
FULL = 110  # letters of a line of a docstring: a shorter one, where the next word would fit, was ended on purpose
CODE = re.compile(r"`+([^`]+)`+")


class Described(SphinxDirective):
    """One directive of Sphinx's domain for Python for each name: a target, an entry in the page's contents."""

    has_content = True
    required_arguments = 1

    def entries(self, found):
        """What Sphinx makes of signatures, (kind, full name with arguments, content) each, all at once: that is
        faster."""
        made = self.parse_text_to_nodes(
            "\n\n".join(f"`````{{py:{kind}}} {call}\n:no-index-entry:\n`````" for kind, call, _ in found)
        )
        bodies = [part for node in made for part in node.findall(addnodes.desc_content)]
        for body, (_, _, content) in zip(bodies, found, strict=True):
            body += content
        return made


class Api(Described):
    def run(self):
        module = self.arguments[0]
        names = " ".join(self.content).split() or own_names(module)
        return self.entries([one for name in names for one in self.described(module, name)])

    def described(self, module, name):
        found = definition(module, name)
        if found is None:
            logger.warning("%s has no %s", module, name, location=self.get_location())
            return []
        text = ast.get_docstring(found) or ""
        if isinstance(found, ast.FunctionDef):
            arguments = parameters(found)
            return [("function", f"{module}.{name}({arguments})", folded(content(text, names_in(arguments))))]
        arguments = of_class(found)
        parts, rows = content(text, names_in(arguments)), methods(found)
        number = f"{len(rows[0])} method{'s' * (len(rows[0]) > 1)}" if rows else ""
        return [("class", f"{module}.{name}({arguments})", folded(parts + rows, number))]


class Operations(Described):
    def run(self):
        import dlkernels
        from dlkernels import implementations

        table = implementations.OPERATIONS
        names = dlkernels.FOLDERS[self.arguments[0]].split()
        backwards = {table[name].backward for name in names if name in table}
        gradients = {name for name in backwards if isinstance(name, str)}
        shown = [name for name in names if name not in gradients]
        return self.entries([one for name in shown for one in self.operation(dlkernels, table.get(name), name)])

    def operation(self, dlkernels, operation, name):
        function = getattr(dlkernels, name)
        if inspect.isclass(function):
            module = function.__module__
            return Api.described(self, module, name)
        arguments = signature(function)
        parts = content(inspect.getdoc(function), names_in(arguments))
        number = ""
        if operation is not None:
            rungs = ladders(operation)
            parts += [call_of(operation), self.gradient(dlkernels, operation), *rungs]
            number = "gradients, rungs" if rungs else "gradients"
        return [("function", f"dlkernels.{name}({arguments})", folded(parts, number))]

    def gradient(self, dlkernels, operation):
        """Which function computes its gradients, or why there is none."""
        if isinstance(operation.backward, str):
            call = operation.backward + signature(getattr(dlkernels, operation.backward), "({})")
            return nodes.paragraph("", "", nodes.Text("Gradients: "), nodes.literal("", call), classes=["api-note"])
        said = "from other operations (`implementations.gradients`)."
        if operation.backward is None:
            said = f"none: {operation.no_backward or 'it computes gradients itself'}."
        return nodes.paragraph("", "", *inline(f"Gradients: {said}"), classes=["api-note"])

    described = Api.described


# ---- what stands in the files ----------------------------------------------------------------------------------------


@cache
def tree(module):
    path = LIBRARY.joinpath(*module.split("."))
    path = path / "__init__.py" if path.is_dir() else path.with_suffix(".py")
    return ast.parse(path.read_text(encoding="utf-8"))


def own_names(module):
    """What a module's file defines, says a word about, and does not hide."""
    kinds = ast.FunctionDef | ast.ClassDef
    found = [node for node in tree(module).body if isinstance(node, kinds) and node.name[0] != "_"]
    return [node.name for node in found if ast.get_docstring(node)]


def definition(module, name):
    """The function or class `name`, where the module's file defines it, or where that imports it from."""
    for node in tree(module).body:
        if isinstance(node, ast.FunctionDef | ast.ClassDef) and node.name == name:
            return node
        if isinstance(node, ast.ImportFrom) and node.level == 1 and node.module:
            for alias in node.names:
                if name == (alias.asname or alias.name):
                    inside = (LIBRARY.joinpath(*module.split("."))).is_dir()
                    package = module if inside else module.rpartition(".")[0]
                    return definition(f"{package}.{node.module}", alias.name)
    return None


def parameters(function):
    """The parameters of a function, as text, without annotations and self."""
    taken = function.args
    for one in (*taken.posonlyargs, *taken.args, *taken.kwonlyargs, taken.vararg, taken.kwarg):
        if one is not None:
            one.annotation = None
    return re.sub(r"^(self|cls)(, )?", "", ast.unparse(taken))


def of_class(found):
    """How an object is made: the parameters of __init__, or the fields of a data class."""
    for node in found.body:
        if isinstance(node, ast.FunctionDef) and node.name == "__init__":
            return parameters(node)
    if not any("dataclass" in ast.unparse(one) for one in found.decorator_list):
        return ""
    fields = [node for node in found.body if isinstance(node, ast.AnnAssign) and not hidden(node)]
    return ", ".join(node.target.id + ("" if node.value is None else default(node.value)) for node in fields)


def hidden(field):
    return field.target.id[0] == "_" or "ClassVar" in ast.unparse(field.annotation)


def default(value):
    return "=..." if isinstance(value, ast.Call) else f"={ast.unparse(value)}"


def methods(found):
    """The methods and properties of a class that say a word, a line for each."""
    lines = nodes.definition_list(classes=["api-arguments"])
    for node in found.body:
        if not isinstance(node, ast.FunctionDef) or node.name[0] == "_" or not ast.get_docstring(node):
            continue
        asked = any(ast.unparse(one) == "property" for one in node.decorator_list)
        call = node.name if asked else f"{node.name}({parameters(node)})"
        first = ast.get_docstring(node).split("\n\n")[0].replace("\n", " ")
        term = nodes.term("", "", nodes.literal("", call))
        text = nodes.definition("", nodes.paragraph("", "", *inline(first)))
        lines += nodes.definition_list_item("", term, text)
    return [lines] if len(lines) else []


# ---- what docstrings say ---------------------------------------------------------------------------------------------


def names_in(arguments):
    """The names of parameters, of their text."""
    return set(re.findall(r"(?:^|, |\*)(\w+)", re.sub(r"=[^,]*", "", arguments)))


def content(text, names):
    """A docstring as nodes: paragraphs, lines about parameters, and code that is indented."""
    parts = []
    for block in re.split(r"\n\s*\n", text):
        lines = block.strip("\n").splitlines()
        if not lines:
            continue
        if parts and all(line.startswith("    ") for line in lines):
            code = inspect.cleandoc("\n".join(lines))
            parts.append(nodes.literal_block(code, code, language="python" if runs(code) else "none"))
            continue
        parts += [paragraph(piece, names) for piece in pieces(lines, names)]
    return parts


def folded(parts, number=""):
    """The first paragraph, and all that follows behind a click. number: what else there is than words."""
    words = any(isinstance(part, nodes.paragraph) and "api-note" not in part["classes"] for part in parts[1:])
    label = ", ".join(filter(None, ("more" * words, number)))
    if not label:
        return parts
    opened = nodes.raw("", f'<details class="api-more"><summary>{label}</summary>', format="html")
    return [parts[0], opened, *parts[1:], nodes.raw("", "</details>", format="html")]


def runs(code):
    try:
        ast.parse(code)
    except SyntaxError:
        return False
    return True


def pieces(lines, names):
    """Lines that belong together, joined: a new piece where a parameter is begun, or where a line was ended early."""
    made = []
    for line in lines:
        line, before = line.strip(), made[-1][-1] if made else ""
        early = len(before) + 1 + len(line.split()[0] if line.split() else "") < FULL
        if not made or about(line, names) or line.startswith("Returns ") or (early and before.endswith((".", ":"))):
            made.append([line])
        else:
            made[-1].append(line)
    return [" ".join(piece).replace("::", ":") for piece in made]


def about(line, names):
    """Whether a line begins with names of parameters and a colon."""
    found = re.match(r"((?:\w+(?:, | and ))*\w+):(?= |$)", line)
    return bool(found) and set(re.split(", | and ", found[1])) <= names


def paragraph(text, names):
    """Its names of parameters before a colon are code, as is what stands between backticks."""
    made = nodes.paragraph(classes=["api-argument"] if about(text, names) else [])
    for number, chunk in enumerate(CODE.split(text)):
        if number % 2:
            made += nodes.literal("", chunk)
            continue
        start = "^|" if number == 0 else ""
        for at, part in enumerate(re.split(rf"(?:{start}(?<=[.,;)] ))((?:\w+, )*\w+)(?=: )", chunk)):
            name = at % 2 and set(part.split(", ")) <= names
            made += nodes.strong("", "", nodes.literal("", part)) if name else nodes.Text(part)
    return made


def inline(text):
    """Text with what stands between backticks as code."""
    return [nodes.literal("", part) if at % 2 else nodes.Text(part) for at, part in enumerate(CODE.split(text))]


# ---- what the table says ---------------------------------------------------------------------------------------------


def signature(function, around="{}"):
    return around.format(str(inspect.signature(function))[1:-1])


def call_of(operation):
    """The shapes of a small call, one of those that its tests make, and of its results."""
    arguments, given = example(operation), []
    for one, value in zip(inspect.signature(operation.function).parameters.values(), arguments, strict=False):
        if shape_of(value) is not None:
            given.append(f"{one.name} {shape_of(value)}")
        elif not (value is one.default or value == one.default):
            given.append(f"{one.name}={shown(value)}")
    said = [nodes.Text("For example: "), nodes.literal("", ", ".join(given))]
    if not any(callable(value) for value in arguments):  # else something is compiled first
        said += [nodes.Text(" gives "), nodes.literal("", results_of(operation, arguments))]
    return nodes.paragraph("", "", *said, nodes.Text("."), classes=["api-note"])


def example(operation):
    """Arguments of a small call without an axis of none or one, where its tests have such a call."""
    shapes = operation.examples.shapes
    small = [shape for shape in shapes if shape and min(shape) > 1]
    return operation.examples.make(small[0] if small else shapes[0], dtype=operation.examples.dtypes[0])


def results_of(operation, arguments):
    """The shapes of the results, as the reference has them."""
    results = operation.reference(*arguments)
    several = results if isinstance(results, tuple) else (results,)
    return ", ".join(shape_of(one) or "()" for one in several if one is not None)


def shape_of(value):
    """The shape of an array, or those of several; None of all else."""
    if isinstance(value, tuple | list) and value and all(hasattr(one, "shape") for one in value):
        return ", ".join(str(one.shape) for one in value)
    return str(value.shape) if hasattr(value, "shape") else None


def shown(value):
    """A number to three digits, a function or an object by its name."""
    if isinstance(value, float):
        return f"{value:.3g}"
    if isinstance(value, int | str | tuple | None):
        return repr(value)
    return getattr(value, "__name__", type(value).__name__)


def ladders(operation):
    """Its rungs, and those of its gradients, as lists. Where they stand, chapters and the gallery say: to name all
    files here would make a page of each in a build that runs nothing."""
    from dlkernels import implementations

    names = [operation.name, *([operation.backward] if isinstance(operation.backward, str) else [])]
    found = [(name, device, implementations.of(name, device)) for name in names for device in ("cpu", "gpu")]
    lists = [
        f"<p>{'On the CPU' if device == 'cpu' else 'On a GPU'}, <code>{name}</code>:</p>"
        f'<ol class="api-rungs">{"".join(map(row, rungs))}</ol>'
        for name, device, rungs in found
        if rungs
    ]
    return [nodes.raw("", "".join(lists), format="html")] if lists else []


def row(rung):
    """One rung: its name, which leads to its card if it is a GPU's; what it adds, and what it cannot do."""
    name, limits = f"<code>{rung.name}</code>", limits_of(rung)
    if rung.device == "gpu":
        name = f'<a class="reference internal" href="gallery.html#{rung.card}">{name}</a>'
    said = f"{escape(rung.adds)}{f'. Limits: {escape(limits)}' if limits else ''}"
    said = CODE.sub(r"<code>\1</code>", said)
    return f"<li>{name}{' (public)' if rung.public else ''}: {said}</li>"


def limits_of(rung):
    """What a rung cannot do."""
    said = [rung.limits] if rung.limits else []
    if rung.capability:
        said.append("a GPU of compute capability " + ".".join(map(str, rung.capability)) + " or newer")
    return "; ".join(said)


def setup(app):
    sys.path[:0] = [str(LIBRARY)] if str(LIBRARY) not in sys.path else []
    app.add_directive("api", Api)
    app.add_directive("operations", Operations)
    return {"version": "1", "parallel_read_safe": True, "parallel_write_safe": True}
