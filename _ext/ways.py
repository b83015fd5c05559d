"""The ways through the book: which page needs which, drawn as a map, and walks, which are short lists of pages.

    ```{book-map}
    ```
    ```{walk} train
    ```

What a page needs, and how long it takes, it says itself in its head ("**Time:** 20 minutes. **Needs:**
[5](05_threads.md)"); what stands behind a semicolon is needed for a part of it. The walks are in chapters/walks.toml.
Each page of a walk has a strip for it, hidden until its address ends in ?walk=train: then _static/ways.js shows it.
"""

import re
import tomllib
from collections import defaultdict
from dataclasses import dataclass
from functools import cache
from html import escape
from pathlib import Path

import yaml
from docutils import nodes
from sphinx.util.docutils import SphinxDirective

ROOT = Path(__file__).resolve().parent.parent
WALKS = "chapters/walks.toml"
TITLE = re.compile(r"^# (.+)$", re.M)
TIME = re.compile(r"\*\*Time:\*\* (\d+)\sminutes")
NEEDS = re.compile(r"\*\*Needs:\*\*(.*?)(?=\n\n|\n`{3}|\n:{3}|\Z)", re.S)
LINK = re.compile(r"\[([^\]]*)\]\((\w+)\.md(?:#[^)]*)?\)")
NUMBERED = re.compile(r"(\d\d)_")

WIDTH, LEFT, COLUMN, ROW, BOX = 480, 58, 52, 58, (42, 26)  # of the map


@dataclass(frozen=True)
class Page:
    """A page in chapters/: `number` and `name` are its title's parts, `needs` whole pages, `partly` those for a part of
    it."""

    file: str
    number: str
    name: str
    minutes: int
    needs: tuple
    partly: tuple

    @property
    def title(self):
        return f"{self.number} {self.name}".strip()

    @property
    def chapter(self):
        """1 of 01_timing; 0 of a page without a number."""
        numbered = NUMBERED.match(self.file)
        return int(numbered[1]) if numbered else 0


@dataclass(frozen=True)
class Walk:
    name: str
    title: str
    about: str
    steps: tuple  # (file, why)


def read(file, text):
    """The Page whose source is `text`."""
    number, name = re.fullmatch(r"([\d.]*)\s*(.*)", TITLE.search(text)[1]).groups()
    time, needs = TIME.search(text), NEEDS.search(text)
    whole, _, part = needs[1].partition(";") if needs else ("", "", "")
    linked = [tuple(dict.fromkeys(page for _, page in LINK.findall(words))) for words in (whole, part)]
    return Page(file, number, name, int(time[1]) if time else 0, *linked)


def contents(root=ROOT):
    """The names of the files that _toc.yml lists, in its order."""

    def files(entry):
        for key, value in entry.items():
            if key in ("root", "file"):
                yield value
            elif isinstance(value, list):
                for child in value:
                    yield from files(child)

    return list(files(yaml.safe_load((root / "_toc.yml").read_text(encoding="utf-8"))))


def book(root=ROOT):
    """{file: Page} of the pages in chapters/, in the order of the contents."""
    files = [name.removeprefix("chapters/") for name in contents(root) if name.startswith("chapters/")]
    return {file: read(file, (root / "chapters" / f"{file}.md").read_text(encoding="utf-8")) for file in files}


def walks(root=ROOT):
    """{name: Walk}."""
    listed = tomllib.loads((root / WALKS).read_text(encoding="utf-8"))
    return {
        name: Walk(name, walk["title"], walk["about"], tuple((step["page"], step["why"]) for step in walk["step"]))
        for name, walk in listed.items()
    }


def before(pages, file):
    """The files of all pages that must be read before one, in the order of the contents."""
    found, left = set(), [file]
    while left:
        for need in pages[left.pop()].needs:
            if need not in found:
                found.add(need)
                left.append(need)
    return [name for name in pages if name in found]


def edges(pages):
    """[(needed, needing, whole)]: no line that follows from others; `whole` is False for a part of the page."""
    drawn = []
    for page in pages.values():
        for need in page.needs:
            if not any(need in before(pages, other) for other in page.needs):
                drawn.append((need, page.file, True))
        drawn += [(need, page.file, False) for need in page.partly if need not in before(pages, page.file)]
    return drawn


# The map -----------------------------------------------------------------------------------------------------------


def places(pages):
    """{file: (x, y)} of the middle of each numbered page: a row for each chapter."""
    rows = defaultdict(list)
    for page in pages.values():
        if page.chapter:
            rows[page.chapter].append(page.file)
    return {
        file: (LEFT + COLUMN * (column + 0.5), ROW * (row + 0.5) + 8)
        for row, files in enumerate(rows.values())
        for column, file in enumerate(files)
    }


def line(start, end):
    """A curve from the page that is needed down to the one that needs it."""
    (x0, y0), (x1, y1) = start, end
    if y0 == y1:
        side = BOX[0] / 2 if x1 > x0 else -BOX[0] / 2
        if abs(x1 - x0) == COLUMN:
            return f"M{x0 + side:g} {y0:g}L{x1 - side:g} {y1:g}"
        bend = y0 - BOX[1] / 2 - 9
        return f"M{x0:g} {y0 - BOX[1] / 2:g}C{x0:g} {bend:g} {x1:g} {bend:g} {x1:g} {y1 - BOX[1] / 2:g}"
    rows = abs(y1 - y0) / ROW
    if x0 == x1 and rows > 1:  # round the boxes between them
        side = x0 - BOX[0] / 2
        bend = side - (12 + 5 * rows if x0 < LEFT + COLUMN else 14)
        return f"M{side:g} {y0:g}C{bend:g} {y0:g} {bend:g} {y1:g} {side:g} {y1:g}"
    half = BOX[1] / 2 if y1 > y0 else -BOX[1] / 2
    middle = (y0 + y1) / 2
    return f"M{x0:g} {y0 + half:g}C{x0:g} {middle:g} {x1:g} {middle:g} {x1:g} {y1 - half:g}"


def drawing(pages):
    """The map as inline SVG, its pages as links, and a menu that asks what to read before one of them."""
    at = places(pages)
    height = max(y for _, y in at.values()) + ROW / 2 + 4
    lines = "".join(
        f'<path d="{line(at[need], at[file])}" data-from="{need}" data-to="{file}" '
        f'class="{"whole" if whole else "partly"}"/>'
        for need, file, whole in edges(pages)
        if need in at and file in at
    )
    names = "".join(
        f'<text class="name" x="{x - BOX[0] / 2:g}" y="{y - BOX[1] / 2 - 5:g}">{escape(pages[file].name)}</text>'
        for file, (x, y) in at.items()
        if "." not in pages[file].number
    )
    boxes = "".join(box(pages[file], x, y) for file, (x, y) in at.items())
    options = "".join(f'<option value="{file}">{escape(pages[file].title)}</option>' for file in at)
    return f"""<figure class="drawing book-map">
<svg class="figure" viewBox="0 0 {WIDTH} {height:g}" width="{WIDTH}" role="group" aria-labelledby="book-map-title">
<title id="book-map-title">Which page needs which: a row for each chapter, a box for each page, a line from each page down to those
that need it</title>
<g aria-hidden="true">{lines}{names}</g>{boxes}</svg>
<div data-controls hidden><label>What must I read before <select data-goal><option value="">(choose a page)</option>{options}</select></label>
<div data-answer role="status"></div></div>
<figcaption>A row for each chapter, a box for each page. A line leads from a page down to one that needs it; a dashed one, to a page that
needs it for a part. Lines that follow from others are left out. A box is a link.</figcaption>
</figure>"""


def box(page, x, y):
    wide, high = BOX
    return (
        f'<a href="{page.file}.html" data-page="{page.file}" data-needs="{" ".join(page.needs)}" '
        f'data-minutes="{page.minutes}" '
        f'aria-label="{escape(page.title, quote=True)}"><title>{escape(page.title)}</title><rect x="{x - wide / 2:g}" '
        f'y="{y - high / 2:g}" width="{wide}" height="{high}" rx="4"/><text x="{x:g}" y="{y + 5:g}" '
        f'text-anchor="middle">{page.number}</text></a>'
    )


def needed(page, pages):
    """What a page needs, as Markdown links by number."""

    def links(files):
        return ", ".join(f"[{pages[file].number or pages[file].name}]({file}.md)" for file in files)

    part = f"for a part {links(page.partly)}" if page.partly else ""
    return "; ".join(filter(None, (links(page.needs), part))) or "–"


def table(pages):
    """The map in words: Markdown."""
    rows = [
        f"| [{page.title}]({page.file}.md) | {page.minutes} | {needed(page, pages)} |"
        for page in pages.values()
        if page.chapter
    ]
    return ["| page | minutes | needs |", "|---|--:|---|", *rows]


class Map(SphinxDirective):
    def run(self):
        depend(self.env)
        pages = book()
        figure = nodes.raw("", drawing(pages), format="html")
        words = ["````{dropdown} The map in words: each page, its minutes, what it needs", *table(pages), "````"]
        return [figure, *self.parse_text_to_nodes("\n".join(words))]


# Walks --------------------------------------------------------------------------------------------------------------


class Steps(SphinxDirective):
    required_arguments = 1

    def run(self):
        depend(self.env)
        pages, walk = book(), walks()[self.arguments[0]]
        listed = [pages[file] for file, _ in walk.steps]
        total = sum(page.minutes for page in listed)
        lines = [f"{walk.about} {len(listed)} pages, {total} minutes to read.", ""]
        lines += [
            f"1. [{page.title}]({page.file}.md), {page.minutes} min: {why}"
            for page, (_, why) in zip(listed, walk.steps, strict=True)
        ]
        place = nodes.container("", *self.parse_text_to_nodes("\n".join(lines)), classes=["walk", f"walk-{walk.name}"])
        return [place]


def depend(env):
    """A page that is made of others' heads is made again with them."""
    for name in (*contents(), "_toc"):
        env.note_dependency(str(ROOT / (f"{name}.yml" if name == "_toc" else f"{name}.md")))
    env.note_dependency(str(ROOT / WALKS))


def strip(walk, file, titles, where):
    """The strip of a walk on one of its pages: HTML, hidden until ways.js finds the walk in the page's address."""
    files = [name for name, _ in walk.steps]
    place = files.index(file)

    def link(step, word):
        name = files[step]
        return f'<a href="{name}.html?walk={walk.name}">{word} {escape(titles[name])}</a>'

    parts = [f'<a href="map.html#walk-{walk.name}">{escape(walk.title)}</a>, {place + 1} of {len(files)}']
    parts += [link(place - 1, "before:")] if place else []
    parts += [link(place + 1, "next:")] if place + 1 < len(files) else ["the last page"]
    shown = "".join(f"<span>{part}</span>" for part in parts)
    label = f"Walk, {where} of the page"
    return (
        f'<nav class="walk-strip" data-walk="{walk.name}" aria-label="{label}" hidden><span>Walk:</span> '
        f"{shown}</nav>\n"
    )


@cache
def known():
    """(walks, {file: title}); once for a build."""
    return walks(), {page.file: page.title for page in book().values()}


def begin(app):
    known.cache_clear()


def strips(app, pagename, templatename, context, doctree):
    """Put a page's strips above and below its text."""
    folder, _, file = pagename.rpartition("/")
    if folder != "chapters" or "body" not in context:
        return
    taken, titles = known()
    mine = [walk for walk in taken.values() if file in dict(walk.steps)]
    above, below = ("".join(strip(walk, file, titles, where) for walk in mine) for where in ("top", "end"))
    context["body"] = above + context["body"] + below


def setup(app):
    app.add_directive("book-map", Map)
    app.add_directive("walk", Steps)
    app.connect("builder-inited", begin)
    app.connect("html-page-context", strips, priority=900)
    return {"version": "1", "parallel_read_safe": True, "parallel_write_safe": True}
