"""Words for people as HTML: a sentence and a table. What is passed is plain text, and is escaped here, once."""

import re
from collections.abc import Callable
from dataclasses import dataclass
from html import escape


def code(text):
    """Text as code."""
    return f"<code>{breakable(text)}</code>"


def axes(*shapes):
    """How many coordinates the launches of these shapes of grids and blocks need: 1, 2 or 3."""
    return max(next(n for n in (3, 2, 1) if n == 1 or shape[n - 1 :] != (1,) * (4 - n)) for shape in shapes)


def place(xyz, count):
    """A place in a grid or block with so many coordinates: "3", "(3, 1)"."""
    xyz = tuple(int(i) for i in xyz)[:count]
    return str(xyz[0]) if count == 1 else str(xyz)


def who(thread, block, block_shape, grid):
    """A thread, as in every message: "thread 3 of block 1", "thread (3, 1) of block (0, 2)"."""
    count = axes(block_shape, grid)
    return f"thread {place(thread, count)} of block {place(block, count)}"


def breakable(text):
    """Text whose long names and calls may be broken after an underline, a dot (but that of .py), a stroke, a sign of
    equality or a bracket that opens, where a line is too short for them."""
    places = r"(?<=[_/(\[=])(?![_/])|(?<=[a-z]\.)(?!py\b)"
    return re.sub(r"[\w./(\[=]{13,}", lambda name: re.sub(places, "<wbr>", name[0]), escape(text))


def sentence(text):
    """Text with what stands between backticks as code. Of an odd number all stay: nobody knows which belong
    together."""
    parts = escape(text).split("`")
    if len(parts) % 2 == 0:
        return escape(text)
    return "".join(f"<code>{part}</code>" if i % 2 else part for i, part in enumerate(parts))


@dataclass(frozen=True)
class Column:
    """How a column of `table` looks. ``render``: makes HTML of a cell's text (`escape`, `code`, `sentence`).
    ``right``: aligned to the right. ``note``: shown where the pointer rests on the heading."""

    heading: str = ""
    render: Callable = escape
    right: bool = False
    style: str = ""
    kind: str = ""  # its class in CSS
    note: str = ""

    def attributes(self):
        """Of each of its cells."""
        style = ";".join(part for part in (self.style, "text-align:right" if self.right else "") if part)
        return _attributes(style=style, kind=self.kind)


def table(columns, rows, caption="", kind="", style="", scroll=False):
    """Rows of texts or numbers as a table; a line of headings if any column has one. caption: a `sentence`.

    ``scroll``: in a box of its own, which scrolls where the page is too narrow.
    """
    above = f"<caption>{sentence(caption)}</caption>" if caption else ""
    body = "".join(_row(columns, row) for row in rows)
    if any(column.heading for column in columns):
        heads = "".join(map(_heading, columns))
        body = f"<thead><tr>{heads}</tr></thead><tbody>{body}</tbody>"
    html = f"<table{_attributes(kind=kind, style=style)}>{above}{body}</table>"
    return f"<div style='overflow-x:auto' tabindex='0'>{html}</div>" if scroll else html


def _heading(column):
    if not column.heading:
        return f"<td{column.attributes()}></td>"  # an empty <th> would be read aloud
    return f"<th scope='col'{_attributes(title=column.note)}{column.attributes()}>{breakable(column.heading)}</th>"


def _row(columns, row):
    cells = (
        f"<td{column.attributes()}>{column.render(str(cell))}</td>" for column, cell in zip(columns, row, strict=True)
    )
    return f"<tr>{''.join(cells)}</tr>"


def _attributes(kind="", **others):
    """The attributes of an element that are not empty."""
    return "".join(f" {name}='{escape(value)}'" for name, value in {"class": kind, **others}.items() if value)
