"""`make slides`: a deck of slides for each page of the built book, `_build/html/slides/08_matmul.html`.

No slide is written by hand. A page's head gives the title and what one can do after it; each section gives, in its
order, its questions, figures, formulas, ladders, claims, its first listing of the library or else its first cell, and
of its prose the sentences with something in bold. All of its prose stands in the speaker's notes (key S). Exercises
and further reading are left out.

The show itself is reveal.js, from the wheel sphinx-revealjs (build/reveal): nothing comes from a network when slides
are shown.
"""

import argparse
import posixpath
import re
import shutil
import sys
from copy import copy
from dataclasses import dataclass, field
from html import escape
from pathlib import Path
from urllib.parse import urlsplit

from bs4 import BeautifulSoup, NavigableString, Tag

ROOT = Path(__file__).resolve().parent.parent
BOOK = ROOT / "_build" / "html"
REVEAL = ROOT / "build" / "reveal" / "sphinx_revealjs" / "_static" / "revealjs"
REVEAL_FILES = ("LICENSE", "dist/reveal.js", "dist/reveal.css", "plugin/notes/notes.js")
LEFT_OUT = ("Exercises", "Further reading")
ROWS = 8  # of a table on one slide
LINES = 24  # of code on one slide
SENTENCE = re.compile(r"(?<=[.?!:])\s+(?=[^a-z])")


@dataclass
class Slide:
    """One slide. kind: title, points, predict, figure, formula, table, ladder, claim or code."""

    kind: str
    heading: str
    body: str = ""
    points: list = field(default_factory=list)
    question: str = ""
    notes: str = ""


# ---- from a page to slides -------------------------------------------------------------------------------------------


def slides(html):
    """The slides of a page, given as the HTML of the built book."""
    page = BeautifulSoup(html, "html.parser")
    for form in page.select("form.predict-form"):
        form.replace_with(answers(page, form))
    for useless in page.select("a.headerlink, .predict-verdict, button, details.above-input"):
        useless.extract()
    top = page.select_one("article section")
    return [slide for section in [top, *top.find_all("section")] for slide in of_section(section, section is top)]


def answers(page, form):
    """What may be chosen, or the unit, in place of the form that asks."""
    choices = [label.get_text(strip=True) for label in form.select("fieldset label")]
    unit = form.find("span")
    words = page.new_tag("p")
    words.string = " | ".join(choices) or (unit.get_text(strip=True) if unit else "")
    return words


def of_section(section, first):
    """The slides of one section, without those of the sections in it."""
    heading = section.find(re.compile("^h[1-6]$"), recursive=False)
    if heading is None or heading.get_text().strip() in LEFT_OUT:
        return []
    name, made, points, listed = heading.decode_contents().strip(), [], [], False
    listings = any(follows_place(one) for one in section.find_all("div", "highlight-python", recursive=False))
    if first:
        goals = section.select_one("div.admonition.tip")
        made.append(Slide("title", name, content_of(goals)))
        if goals:
            goals.extract()
    prose = [
        one.get_text(" ", strip=True) for one in section.find_all(["p", "li"]) if one.find_parent("section") is section
    ]
    for kind, node in blocks(section):
        if kind == "prose":
            points += told(node)
            continue
        if kind == "list":
            points += [item.decode_contents().strip() for item in node.find_all("li", recursive=False)]
            continue
        if kind == "code" and (listed or too_long(node) or (listings and "cell_input" in node["class"])):
            continue
        if kind == "predict":
            made, points = asked(made, points, name, content_of(node))
            continue
        listed = listed or kind == "code"
        for part in shown(kind, node):
            made.append(Slide(kind, name, part, points))
            points = []
    if points and made and made[-1].kind not in ("title", "points", "predict") and not made[-1].points:
        made[-1].points = points
    elif points or not made:
        made.append(Slide("points", name, points=points or first_sentence(section)))
    made[0].notes = "\n".join(prose)
    return made


def asked(made, points, name, question):
    """The slides with a question: beside the code or figure before it, or on a slide of its own."""
    if made and not points and made[-1].kind in ("code", "figure", "formula") and not made[-1].points:
        made[-1].kind, made[-1].question = "predict", question
        return made, []
    if points:
        made = [*made, Slide("points", name, points=points)]
    return [*made, Slide("predict", name, question=question)], []


def blocks(node):
    """(kind, element) of what a section shows by itself, in its order."""
    for child in node.find_all(recursive=False):
        classes = child.get("class", ())
        if child.name == "section" or "live-note" in classes:
            continue
        kind = kind_of(child, classes)
        if kind:
            yield kind, child
        elif "cell_input" not in classes and (
            child.name == "div" or "predict-answer" in classes
        ):  # cells, their outputs, answers that are opened
            yield from blocks(child)


def kind_of(node, classes):
    if "predict" in classes:
        return "predict"
    if "seealso" in classes:
        return "claim"
    if node.name in ("figure", "svg", "img"):
        return "figure"
    if node.name == "table":
        return "ladder" if "rungs" in classes else "table"
    if "math" in classes and node.name == "div":
        return "formula"
    if ("cell_input" in classes and "def " in node.get_text()) or (
        "highlight-python" in classes and follows_place(node)
    ):
        return "code"
    if "cell_input" in classes:
        return None
    if node.name in ("ol", "ul"):
        return "list" if isinstance(node.parent, Tag) and node.parent.name == "section" else None
    return "prose" if node.name == "p" or "note" in classes else None


def follows_place(node):
    """Whether it is a listing of the library: the book says below one where it stands."""
    after = node.find_next_sibling()
    return after is not None and "source-place" in after.get("class", ())


def too_long(node):
    return len(node.get_text().strip().splitlines()) > LINES


def told(node):
    """The sentences with something in bold."""
    found, sentence = [], []
    paragraphs = [node] if node.name == "p" else node.find_all("p")
    for paragraph in paragraphs:
        for child in list(paragraph.children):
            pieces = SENTENCE.split(child) if type(child) is NavigableString else [child]
            for at, piece in enumerate(pieces):
                if at:
                    found, sentence = [*found, sentence], []
                sentence.append(piece)
        found, sentence = [*found, sentence], []
    bold = [one for one in found if any(isinstance(part, Tag) and part.name == "strong" for part in one)]
    titled = [one for one in found if "admonition-title" in node.get("class", ()) and one]
    return [
        "".join(str(part) if isinstance(part, Tag) else escape(part) for part in one).strip() for one in bold or titled
    ]


def first_sentence(section):
    paragraph = section.find("p", recursive=False)
    return [SENTENCE.split(paragraph.decode_contents())[0]] if paragraph else []


def content_of(box):
    """A box without its title."""
    if box is None:
        return ""
    box = copy(box)
    for title in box.select("p.admonition-title"):
        title.extract()
    return box.decode_contents().strip()


def shown(kind, node):
    """The HTML of a block; a long table is several."""
    if kind in ("table", "ladder"):
        return parts_of(node)
    script = node.find_next_sibling()
    moves = kind == "figure" and script is not None and script.name == "script" and not script.get("src")
    return [(content_of(node) if kind == "claim" else str(node)) + (str(script) if moves else "")]


def parts_of(table):
    rows = table.select("tbody tr")
    found = []
    for at in range(0, max(1, len(rows)), ROWS):
        part = BeautifulSoup(str(table), "html.parser")
        for k, row in enumerate(part.select("tbody tr")):
            if not at <= k < at + ROWS:
                row.extract()
        found.append(str(part))
    return found


# ---- from slides to a deck -------------------------------------------------------------------------------------------

DECK = """<!doctype html>
<html lang="en"><head><meta charset="utf-8"><title>%(title)s</title>
<meta name="viewport" content="width=device-width, initial-scale=1">
<link rel="stylesheet" href="reveal/dist/reveal.css"><link rel="stylesheet" href="../_static/pygments.css">
<style>%(style)s</style>
<script>window.MathJax = {options: {processHtmlClass: "math"}};</script>
<script defer src="../_static/mathjax/tex-svg.js"></script><script src="../_static/figures.js"></script>
</head><body><div class="reveal"><div class="slides">
%(slides)s
</div></div>
<script src="reveal/dist/reveal.js"></script><script src="reveal/plugin/notes/notes.js"></script>
<script>
Reveal.initialize({width: 1280, height: 720, margin: 0.03, center: false, hash: true, transition: "none", slideNumber: "c/t",
  controls: false, plugins: [RevealNotes]});
function fit() { // a long table or listing is shown smaller, not cut off
  const slide = Reveal.getCurrentSlide(), both = slide.querySelector(".both"), scale = Reveal.getScale();
  const from = slide.getBoundingClientRect();
  for (let zoom = 1, turn = 0; turn < 3; turn++) { // what is smaller may break its lines elsewhere
    both.style.zoom = zoom;
    let right = 0, bottom = 0;
    for (const box of [...both.querySelectorAll("*")].map(part => part.getBoundingClientRect()).filter(box => box.width && box.height)) {
      right = Math.max(right, (box.right - from.left) / scale);
      bottom = Math.max(bottom, (box.bottom - from.top) / scale);
    }
    const top = (both.getBoundingClientRect().top - from.top) / scale;
    zoom *= Math.min(1, 1260 / right, (705 - top) / (bottom - top));
    both.style.zoom = zoom;
  }
}
Reveal.on("ready", fit);
Reveal.on("slidechanged", fit);
</script>
</body></html>
"""


def deck(page, found):
    """The HTML of the deck of chapters/`page`."""
    title = re.sub(r"<[^>]+>", "", found[0].heading)
    body = relative("\n".join(map(one_slide, found)), page)
    style = (Path(__file__).parent / "slides.css").read_text(encoding="utf-8")
    return DECK % {"title": escape(title), "style": style, "slides": body}


def one_slide(slide):
    level = "h1" if slide.kind == "title" else "h2"
    parts = []
    if slide.points:
        parts.append(f"<ul>{''.join(f'<li>{one}</li>' for one in slide.points)}</ul>")
    if slide.question:
        parts.append(f'<div class="question"><p class="label">Predict</p>{slide.question}</div>')
    if slide.body:
        label = {"claim": "Claim, tested", "title": "After this page you can"}.get(slide.kind, "")
        parts.append(f'<div class="shown">{f"<p class=label>{label}</p>" if label else ""}{slide.body}</div>')
    notes = f'<aside class="notes">{escape(slide.notes)}</aside>' if slide.notes else ""
    both = f'<div class="both">{"".join(parts)}</div>'
    return f'<section class="{slide.kind}"><{level}>{slide.heading}</{level}>{both}{notes}</section>'


def relative(html, page):
    """Addresses as seen from the folder slides/, beside the page's folder chapters/."""

    def moved(found):
        name, address = found[1], found[2]
        if urlsplit(address).scheme or address.startswith("//"):
            return found[0]
        if address.startswith("#"):
            return f'{name}="../chapters/{page}.html{address}"'
        return f'{name}="{posixpath.normpath(posixpath.join("../chapters", address))}"'

    parts = re.split(r"(<svg\b.*?</svg>|<script\b.*?</script>)", html, flags=re.DOTALL)  # their addresses are their own
    parts[::2] = [re.sub(r'\b(href|src)="([^"]+)"', moved, part) for part in parts[::2]]
    return "".join(parts)


def index(decks):
    rows = "".join(f'<li><a href="{page}.html">{escape(title)}</a> ({number})</li>' for page, title, number in decks)
    return (
        '<!doctype html><html lang="en"><meta charset="utf-8"><meta name="viewport" content="width=device-width">'
        "<title>Slides</title><body style='font: 18px system-ui, sans-serif; margin: 2rem auto; max-width: 40rem'>"
        "<h1>Slides</h1><p>Arrow keys move; S opens the notes, O the overview, F fills the screen.</p>"
        f"<ul>{rows}</ul></body></html>"
    )


def main(arguments=None):
    options = argparse.ArgumentParser(description="Make slides of the built book.")
    options.add_argument("pages", nargs="*", help="names of pages, such as 08_matmul; none: all chapters")
    options.add_argument("--book", type=Path, default=BOOK)
    options = options.parse_args(arguments)
    built = sorted((options.book / "chapters").glob("[0-9]*.html"))
    chosen = [path for path in built if not options.pages or path.stem in options.pages]
    missing = set(options.pages) - {path.stem for path in chosen}
    if missing or not chosen:
        print(f"Not built: {', '.join(sorted(missing)) or 'the book'}. First: make html", file=sys.stderr)
        return 1
    if not REVEAL.is_dir():
        print(f"reveal.js is not in {REVEAL}: make slides fetches it.", file=sys.stderr)
        return 1
    out = options.book / "slides"
    for name in REVEAL_FILES:
        (out / "reveal" / name).parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(REVEAL / name, out / "reveal" / name)
    decks, without = [], 0
    for path in chosen:
        html = path.read_text(encoding="utf-8")
        found = slides(html)
        (out / path.name).write_text(deck(path.stem, found), encoding="utf-8")
        decks.append((path.stem, re.sub(r"<[^>]+>", "", found[0].heading), len(found)))
        without += "live-note" in html
    (out / "index.html").write_text(index(decks), encoding="utf-8")
    print(f"{len(decks)} decks, {sum(number for *_, number in decks)} slides: {out / 'index.html'}")
    if without:
        print(f"{without} pages have not been run: their slides lack what code shows. make html runs them.")
    return 0


if __name__ == "__main__":
    sys.exit(main())
