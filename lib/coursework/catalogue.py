"""All tasks in a list, notebook by notebook: what the page chapters/exercise_list.md shows.

catalogue.of("../exercises")   # where the notebooks lie, as the page sees it
"""

import html
import json
import re
import sys
from dataclasses import dataclass
from pathlib import Path

from . import definition, progress

UNNAMED = ("arrays", "data")  # what kinds have in common, and no kinds


@dataclass(frozen=True)
class Row:
    """A task in its notebook. `address`: its heading on the notebook's page."""

    task: object
    number: str  # as in its heading; a second part of a task has none
    address: str

    @property
    def points(self):
        return sum(points for _, points in progress.parts(self.task))


@dataclass(frozen=True)
class Sheet:
    """A notebook with its tasks."""

    title: str
    rows: tuple

    @property
    def summary(self):
        points, minutes = sum(row.points for row in self.rows), sum(row.task.minutes for row in self.rows)
        return f"{self.title}: {len(self.rows)} tasks, {points} points, about {minutes} minutes"


class Catalogue(tuple):
    """Sheets, printed as folded tables."""

    __slots__ = ()

    def __repr__(self):
        lines = []
        for sheet in self:
            lines.append(sheet.summary)
            lines += [
                f"  {row.number:>2} {row.task.title} ({kind(row.task)}, {row.points}, {row.task.minutes} min)"
                for row in sheet.rows
            ]
        return "\n".join(lines)

    def _repr_html_(self):
        return "".join(_folded(sheet) for sheet in self)


def of(folder):
    """The Catalogue of the notebooks in `folder`."""
    notebooks = sorted(Path(folder).glob("*.ipynb"))
    return Catalogue(
        _sheet(path, Path(folder)) for path in notebooks if definition.chapter_of(path.name) in definition.chapters()
    )


def kind(task):
    """The name of a task's kind: that of its file in kinds/; "own" for a kind that one task alone has."""
    for base in type(task).__mro__:
        package, _, name = base.__module__.rpartition(".")
        if package.endswith(".kinds") and name not in UNNAMED:
            return name
    return "own"


def kinds(sheets):
    """{kind: (number of tasks, what its file says of it)} of all tasks in a catalogue, the most frequent first."""
    tasks = [row.task for sheet in sheets for row in sheet.rows]
    names = [kind(task) for task in tasks]
    return {
        name: (names.count(name), _said(name))
        for name in sorted(set(names), key=lambda name: (-names.count(name), name))
    }


def _said(name):
    module = sys.modules.get(f"{__package__}.kinds.{name}")
    said = (
        module.__doc__.split("\n\n")[0]
        if module
        else "A kind that one task has for itself; its statement says how it is checked."
    )
    return " ".join(said.replace("`", "").split())


def _sheet(path, folder):
    cells = json.loads(path.read_text(encoding="utf-8"))["cells"]
    headings = {cell.get("id"): "".join(cell["source"]).splitlines()[0] for cell in cells if "".join(cell["source"])}
    tasks = definition.of_chapter(definition.chapter_of(path.name))
    page = folder / path.with_suffix(".html").name
    rows = [_row(task, headings[f"{task.id}-task"], page) for task in tasks]
    title = next(line for line in headings.values() if line.startswith("# "))
    return Sheet(title.removeprefix("# ").removesuffix(": exercises"), tuple(rows))


def _row(task, heading, page):
    numbered = re.match(r"## (\d+)\.", heading)
    return Row(task, numbered[1] if numbered else "", f"{page.as_posix()}#{anchor(heading)}")


def anchor(heading):
    """The anchor that a heading has on its page."""
    return re.sub(r"[^a-z0-9]+", "-", heading.lower()).lstrip("-0123456789").rstrip("-")


HEAD = "<tr><th>task</th><th>kind</th><th>points</th><th>minutes</th><th>read first</th></tr>"


def _folded(sheet):
    rows = "".join(map(_html, sheet.rows))
    table = f"<table><thead>{HEAD}</thead><tbody>{rows}</tbody></table>"
    return f"<details><summary>{html.escape(sheet.summary)}</summary>{table}</details>"


def _html(row):
    task = row.task
    number = f"{row.number}. " if row.number else "– "
    title = f'{number}<a href="{row.address}">{html.escape(task.title)}</a>'
    opens = f"<br><small>opens after {task.after}</small>" if task.after else ""
    points = " + ".join(str(points) for _, points in progress.parts(task))
    read = f'<a href="{task.section.page}.html">{task.section.number}</a>' if task.section else ""
    cells = [title + opens, kind(task), points, task.minutes, read]
    return "<tr>" + "".join(f"<td>{cell}</td>" for cell in cells) + "</tr>"
