"""A chapter as a notebook to download: MyST's directives and roles become the Markdown that Jupyter shows."""

import ast
import re
from pathlib import Path

from nbformat import v4

FENCE = re.compile(r"^(?P<fence>:{3,}|`{3,})\{(?P<name>[\w:-]+)\} *(?P<title>.*)$")
OPTION = re.compile(r"^:(?P<key>[\w-]+): *(?P<value>.*)$")
ROLE = re.compile(r"\{(?P<role>[\w:-]+)\}`(?P<body>[^`]+)`")
CODE = {"code", "code-block", "sourcecode"}
DROPPED = {"bibliography", "tableofcontents", "raw", "contents"}
FOR_TOOLS = re.compile(r"  # (fmt: skip|noqa.*)$", re.MULTILINE)  # what a formatter reads in a listing, and no reader
BOXES = {"grid", "grid-item", "tab-set", "container"}  # only their contents are shown


def plain_notebook(notebook, folder):
    """The same notebook without outputs, with Markdown that needs no MyST. `folder`: where the chapter stands."""
    cells = []
    for cell in notebook.cells:
        if cell.cell_type == "markdown":
            for text, question in _questions(cell.source):
                cells.append(v4.new_markdown_cell(plain_markdown(text, folder)))
                if question:
                    cells.append(v4.new_code_cell(_guess(question)))
        elif cell.cell_type == "code":
            cell.outputs, cell.execution_count = [], None
            cells.append(cell)
    notebook.cells = [cell for cell in cells if cell.source.strip()]
    notebook.metadata = {"kernelspec": {"name": "python3", "display_name": "Python 3", "language": "python"}}
    return notebook


def _questions(text):
    """The text in pieces, each to the end of a `predict` box: (text, the box's name and options, or None)."""
    lines, piece = iter(text.splitlines()), []
    for line in lines:
        opening = FENCE.match(line)
        if not opening or opening["name"] != "predict":
            piece.append(line)
            continue
        options, body = _body(lines, opening["fence"])
        piece += [f"{opening['fence']}{{admonition}} Predict", *body, opening["fence"]]
        yield "\n".join(piece), {"name": opening["title"].strip(), **options}
        piece = []
    yield "\n".join(piece), None


def _guess(question):
    """The cell in which a reader of the notebook answers."""
    choices = [choice.strip() for choice in question.get("choices", "").split("|") if choice.strip()]
    hint = f"one of {', '.join(map(repr, choices))}" if choices else question.get("unit") or "a number"
    return f"from cpulab.predictions import guess\n\nguess({question['name']!r}, ...)  # {hint}, in place of the dots"


def plain_markdown(text, folder=Path()):
    """Directives become bold-titled quotes, roles their text; targets, options and comments disappear."""
    lines, out = iter(text.splitlines()), []
    for line in lines:
        opening = FENCE.match(line)
        if opening:
            out += _directive(opening, *_body(lines, opening["fence"]), folder)
        elif not re.match(r"^(\([\w:.-]+\)=|% )", line):
            out.append(ROLE.sub(_role, line))
    return "\n".join(out).strip()


def _body(lines, fence):
    """The options on top, as a dict, and the lines up to the closing fence."""
    options, body = {}, []
    for line in lines:
        if line.strip() == fence:
            break
        option = OPTION.match(line) if not body else None
        if option:
            options[option["key"]] = option["value"]
        elif body or line.strip():
            body.append(line)
    return options, body


def _directive(opening, options, body, folder):
    name, title = opening["name"], opening["title"].strip()
    if name in DROPPED:
        return []
    if name in CODE:
        return [f"```{title}", *body, "```"]
    if name == "literalinclude":
        return [f"```{options.get('language', 'python')}", *_included(folder / title, options), "```"]
    if name == "math":
        return ["$$", *body, "$$"]
    if name in {"figure", "image"}:
        return [f"*{' '.join(body)}*"] if body else []
    content = plain_markdown("\n".join(body), folder).splitlines()
    if name in BOXES:
        return content
    heading = ROLE.sub(_role, title) if title else name.replace("-start", "").replace("-", " ").capitalize()
    return [f"> **{heading}**", ">", *(f"> {line}".rstrip() for line in content), ""]


def _included(path, options):
    """The lines of a file, or of one function or class in it (`:pyobject:`), or a part of either (`:start-at:` ...)."""
    lines = path.read_text(encoding="utf-8").splitlines()
    wanted = options.get("pyobject")
    if wanted is not None:
        node = ast.parse("\n".join(lines))
        for part in wanted.split("."):
            node = next(child for child in node.body if getattr(child, "name", None) == part)
        first = min([node.lineno, *(decorator.lineno for decorator in node.decorator_list)])
        lines = lines[first - 1 : node.end_lineno]
    if "start-at" in options:
        lines = lines[_first(lines, options["start-at"]) :]
    if "end-before" in options:
        lines = lines[: _first(lines, options["end-before"], after=1)]
    if "end-at" in options:
        lines = lines[: _first(lines, options["end-at"]) + 1]
    return [FOR_TOOLS.sub("", line[int(options.get("dedent") or 0) :]) for line in lines]


def _first(lines, text, after=0):
    """The number of the first line that has the text, as Sphinx looks for it."""
    text = text.strip('"')
    return next(k for k, line in enumerate(lines) if k >= after and text in line)


def _role(match):
    body = match["body"]
    if match["role"] == "math":
        return f"${body}$"
    shown = re.sub(r"\s*<[^>]*>$", "", body)
    return f"({shown})" if match["role"].startswith("cite") else shown
