"""A chapter as a notebook to download: MyST's directives and roles become the Markdown that Jupyter shows."""

import re

FENCE = re.compile(r"^(?P<fence>:{3,}|`{3,})\{(?P<name>[\w:-]+)\} *(?P<title>.*)$")
OPTION = re.compile(r"^:[\w-]+:")
ROLE = re.compile(r"\{(?P<role>[\w:-]+)\}`(?P<body>[^`]+)`")
CODE = {"code", "code-block", "literalinclude", "sourcecode"}
DROPPED = {"bibliography", "tableofcontents", "raw", "contents"}
BOXES = {"grid", "grid-item", "tab-set", "container"}  # only their contents are shown


def plain_notebook(notebook):
    """The same notebook without outputs, with Markdown that needs no MyST."""
    for cell in notebook.cells:
        if cell.cell_type == "markdown":
            cell.source = plain_markdown(cell.source)
        elif cell.cell_type == "code":
            cell.outputs, cell.execution_count = [], None
    notebook.cells = [cell for cell in notebook.cells if cell.source.strip()]
    notebook.metadata = {"kernelspec": {"name": "python3", "display_name": "Python 3", "language": "python"}}
    return notebook


def plain_markdown(text):
    """Directives become bold-titled quotes, roles their text; targets, options and comments disappear."""
    lines, out = iter(text.splitlines()), []
    for line in lines:
        opening = FENCE.match(line)
        if opening:
            out += _directive(opening, _body(lines, opening["fence"]))
        elif not re.match(r"^(\([\w:.-]+\)=|% )", line):
            out.append(ROLE.sub(_role, line))
    return "\n".join(out).strip()


def _body(lines, fence):
    """The lines up to the closing fence, without the options on top."""
    body = []
    for line in lines:
        if line.strip() == fence:
            break
        if body or not (OPTION.match(line) or not line.strip()):
            body.append(line)
    return body


def _directive(opening, body):
    name, title = opening["name"], opening["title"].strip()
    if name in DROPPED:
        return []
    if name in CODE:
        return [f"```{title}", *body, "```"]
    if name == "math":
        return ["$$", *body, "$$"]
    if name in {"figure", "image"}:
        return [f"*{' '.join(body)}*"] if body else []
    content = plain_markdown("\n".join(body)).splitlines()
    if name in BOXES:
        return content
    heading = ROLE.sub(_role, title) if title else name.replace("-start", "").replace("-", " ").capitalize()
    return [f"> **{heading}**", ">", *(f"> {line}".rstrip() for line in content), ""]


def _role(match):
    body = match["body"]
    if match["role"] == "math":
        return f"${body}$"
    shown = re.sub(r"\s*<[^>]*>$", "", body)
    return f"({shown})" if match["role"].startswith("cite") else shown
