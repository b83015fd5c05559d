"""What a page gives to those who pass it on: a description, a preview, a link to each figure, a notebook that opens
elsewhere.

The description is `description:` of a page's front matter, else the beginning of its text. With `html.baseurl` in
_config.yml previews have a picture; with `repository` and `launch_buttons` pages have buttons for Colab, Binder or a
JupyterHub. These open a notebook, and a chapter is Markdown: publishing puts the notebooks made of pages beside them,
on a branch of their own.

    python _ext/share.py    # copy the notebooks of the built book beside their pages
"""

import re
import shutil
from html import escape, unescape
from pathlib import Path

from book import offer_notebook
from docutils import nodes

ROOT = Path(__file__).resolve().parent.parent
BRANCH = "notebooks"  # .github/workflows/pages.yml writes it
PICTURE = ("_static/shot-race.png", "The x-ray of a kernel that adds up an array: one finding, a race, with its cure.")
LONGEST = 200  # characters; a search engine cuts what is longer
SENTENCE = re.compile(r"(?<=[.!?])\s+")
FIGURE = re.compile(r'<script\b.*?</script>|<figure\b.*?</figure>|<svg class="figure".*?</svg>', re.S)
IDS = re.compile(r'\sid="([^"]+)"')
DRAWING = re.compile(r'<title id="([\w-]+)-title">')  # of a picture in _static/
WORDS = (re.compile(r'aria-label="([^"]*)"'), re.compile(r"<figcaption\b[^>]*>(.*?)</figcaption>", re.S))


def description(metadata, doctree):
    """What a page is about: as its front matter says, else the first sentences of its text."""
    if metadata.get("description"):
        return str(metadata["description"])
    own = [p for p in doctree.findall(nodes.paragraph) if isinstance(p.parent, nodes.section)]
    told = [p for p in own if not any(isinstance(part, nodes.reference | nodes.math) for part in p.findall())]
    text = " ".join((told or own)[0].astext().split()) if own else ""
    said, *more = SENTENCE.split(text)
    for sentence in more:
        if len(said) + len(sentence) >= LONGEST:
            break
        said += f" {sentence}"
    return said


def describe(app, pagename, templatename, context, doctree):
    """Write the description, and what a preview of the page shows, into its head."""
    if doctree is None:
        return
    said = description(app.env.metadata[pagename], doctree)
    title = unescape(re.sub(r"<[^>]*>", "", context["title"]))
    book, base = app.config.html_title, app.config.html_baseurl
    tags = {"og:title": title, "og:type": "article", "og:site_name": book, "og:description": said}
    if base:
        picture, shows = PICTURE
        tags["og:url"] = context["pageurl"]
        tags |= {"og:image": f"{base.rstrip('/')}/{picture}", "og:image:alt": shows}
    lines = [f'<meta name="description" content="{escape(said)}">'] if said else []
    lines += [f'<meta property="{name}" content="{escape(text)}">' for name, text in tags.items() if text]
    lines += ['<meta name="twitter:card" content="summary_large_image">'] if base else []
    context["metatags"] += "\n".join(lines)


def link_figures(app, pagename, templatename, context, doctree):
    """Each figure gets a name and a link to it, which can be copied."""
    taken = set(IDS.findall(context.get("body", "")))

    def named(match):
        figure = match[0]
        if figure.startswith("<script"):
            return figure
        opening = figure[: figure.index(">") + 1]
        found = IDS.search(opening) if figure.startswith("<figure") else None
        name = found[1] if found else _name(figure, taken)
        link = (
            f'<a class="figure-link" href="#{name}" aria-label="Link to this figure" title="Link to this figure">#</a>'
        )
        if figure.startswith("<svg"):
            return f'<div class="linked-figure" id="{name}">{figure}{link}</div>'
        if not found:
            figure = figure.replace("<figure", f'<figure id="{name}"', 1)
        return figure.removesuffix("</figure>") + link + "</figure>"

    context["body"] = FIGURE.sub(named, context.get("body", ""))


def _name(figure, taken):
    """A name by what a figure shows, which other figures of the page may not have. Numbers may be a machine's own."""
    drawing = DRAWING.search(figure)
    said = drawing[1] if drawing else next((found[1] for word in WORDS if (found := word.search(figure))), "")
    words = re.findall(r"[a-z]+", re.sub(r"<[^>]*>|&\w+;", " ", said).lower())[:6]
    stem = name = drawing[1] if drawing else "-".join(["figure", *words])
    number = 1
    while name in taken:
        number += 1
        name = f"{stem}-{number}"
    taken.add(name)
    return name


def launch(app, pagename, templatename, context, doctree):
    """Let the theme's buttons open a notebook: of a page of Markdown, the one that is made of it."""
    groups = [group for group in context.get("header_buttons", ()) if group.get("label") == "launch-buttons"]
    for button in (button for group in groups for button in group["buttons"]):
        url = button["url"].replace(f"{pagename}.md", f"{pagename}.ipynb")
        branch = app.config.html_theme_options.get("repository_branch") or "master"  # the theme's own
        for place in ("/blob/{}/", "/{}?urlpath=", "&branch={}"):  # Colab, Binder, JupyterHub
            url = url.replace(place.format(branch), place.format(BRANCH))
        button["url"] = url
    if groups:
        offer_notebook(app, pagename, templatename, context, doctree)  # the theme has put the page's Markdown into it


def setup(app):
    app.connect("html-page-context", describe)
    app.connect("html-page-context", link_figures, priority=940)
    app.connect("html-page-context", launch, priority=900)
    return {"version": "1", "parallel_read_safe": True, "parallel_write_safe": True}


def main():
    for made in sorted((ROOT / "_build" / "html" / "_sources").rglob("*.ipynb")):
        page = ROOT / made.relative_to(ROOT / "_build" / "html" / "_sources")
        if page.with_suffix(".md").exists():
            shutil.copy(made, page)
            print(page.relative_to(ROOT))


if __name__ == "__main__":
    main()
