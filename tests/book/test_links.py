"""The built book's files, without a browser: links and anchors, downloads, nothing of the machine that built it."""

import re
from functools import cache
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urlsplit

import nbformat
import pytest
from bs4 import BeautifulSoup
from built import ROOT, pages

pytestmark = pytest.mark.book


@cache
def parsed(path):
    return BeautifulSoup(path.read_text(encoding="utf-8"), "html.parser")


class Tags(HTMLParser):
    """The links of a page, as (tag, attributes), and its anchors. All pages are many: a tree of each would take
    minutes."""

    LINKS = ("a", "link", "script", "img", "source", "iframe")

    def __init__(self, text):
        super().__init__()
        self.links, self.anchors = [], set()
        self.feed(text)
        self.close()

    def handle_starttag(self, tag, attributes):
        attributes = dict(attributes)
        if tag in self.LINKS:
            self.links.append((tag, attributes))
        self.anchors.add(attributes.get("id"))
        if tag == "a":
            self.anchors.add(attributes.get("name"))


@cache
def tags(path):
    return Tags(path.read_text(encoding="utf-8"))


def html_pages(book):
    return [path for path in sorted(book.rglob("*.html")) if "_static" not in path.relative_to(book).parts]


def broken_links(page):
    """Sentences for the links of one page that lead nowhere."""
    for tag, attributes in tags(page).links:
        address = attributes.get("href") or attributes.get("src")
        if not address or address.startswith(("data:", "mailto:", "javascript:")):
            continue
        parts = urlsplit(address)
        if parts.scheme or parts.netloc:
            if tag != "a" and "canonical" not in (attributes.get("rel") or ""):
                yield f"<{tag}> loads from the network: {address}"
            elif tag == "a" and parts.scheme != "https":
                yield f"link is not https: {address}"
            continue
        target = (page.parent / unquote(parts.path)).resolve() if parts.path else page
        if not target.exists():
            yield f"no such file: {address}"
        elif parts.fragment and target.suffix == ".html" and unquote(parts.fragment) not in tags(target).anchors:
            yield f"no such anchor: {address}"


def test_links_and_anchors_lead_somewhere(book):
    broken = [f"{page.relative_to(book)}: {fault}" for page in html_pages(book) for fault in broken_links(page)]
    assert not broken, "\n".join(broken)


@pytest.mark.parametrize(
    ("tag", "fault"),
    [
        ('<a href="nowhere.html">x</a>', "no such file"),
        ('<a href="#nowhere">x</a>', "no such anchor"),
        ('<a href="http://example.org">x</a>', "not https"),
        ('<script src="https://cdn.example.org/x.js"></script>', "from the network"),
    ],
)
def test_planted_broken_link_is_found(tag, fault, tmp_path):
    (tmp_path / "page.html").write_text(f'<p id="here"><a href="#here">fine</a>{tag}</p>', encoding="utf-8")
    assert [fault in sentence for sentence in broken_links(tmp_path / "page.html")] == [True]


def test_every_page_of_the_contents_is_in_the_menu(book):
    menu = parsed(book / f"{pages()[0]}.html").select("nav.bd-links a, .navbar-brand")
    addresses = {urlsplit(a["href"]).path for a in menu}
    missing = [name for name in pages()[1:] if f"{name}.html" not in addresses]
    assert not missing, f"not in the menu: {missing}"


def test_nothing_of_the_build_machine_is_left(book):
    secret = re.compile("|".join(map(re.escape, {str(ROOT), str(Path.home()), "/ipykernel_"} - {"/"})))
    leaks = []
    for path in [*html_pages(book), *(book / "_sources").rglob("*"), book / "searchindex.js"]:
        if path.is_file():
            found = secret.search(path.read_text(encoding="utf-8"))
            leaks += [f"{path.relative_to(book)}: {found.string[found.start() : found.end() + 60]}"] if found else []
    assert not leaks, "\n".join(leaks)


def executed_chapters():
    sources = {name: ROOT / f"{name}.md" for name in pages()}
    return [name for name, path in sources.items() if path.exists() and "{code-cell}" in path.read_text("utf-8")]


@pytest.mark.parametrize("name", executed_chapters())
def test_executed_chapter_offers_a_notebook_that_jupyter_shows(name, book):
    page = book / f"{name}.html"
    button = parsed(page).find("a", class_="btn-download-notebook-button")
    assert button, "no .ipynb in the download menu"
    notebook = nbformat.read((page.parent / button["href"]).resolve(), as_version=4)
    nbformat.validate(notebook)
    assert any(cell.cell_type == "code" for cell in notebook.cells)
    markdown = "\n".join(cell.source for cell in notebook.cells if cell.cell_type == "markdown")
    left = re.findall(r"^(?::{3,}|`{3,})\{.*|\{[a-z:-]+\}`.*", markdown, flags=re.MULTILINE)
    assert not left, f"MyST that Jupyter shows raw: {left}"


@pytest.mark.parametrize("name", executed_chapters())
def test_cell_that_should_fail_did_fail(name, book):
    """`raises-exception` only allows an error: a wrong version that passes would go unnoticed."""
    expected = (ROOT / f"{name}.md").read_text("utf-8").count("raises-exception")
    shown = len(parsed(book / f"{name}.html").select(".output.traceback"))
    assert shown == expected, f"{expected} cells are tagged raises-exception, {shown} show an error"
