"""`make pdf`, on a small book: nothing is cut off, nothing folded that ought to be read, and its parts are found."""

import io
import unicodedata

import print_book
import pytest
from built import ROOT
from pypdf import PdfReader
from test_share import HEADER
from test_source_pages import sphinx

CONF = f"""
import sys
sys.path.insert(0, {str(ROOT / "_ext")!r})
extensions = ["myst_nb", "sphinx_design", "book", "share"]
nb_execution_mode = "off"
myst_enable_extensions = ["dollarmath", "amsmath", "colon_fence"]
myst_heading_anchors = 3
html_title = "A book"
html_theme = "sphinx_book_theme"
html_static_path = [{str(ROOT / "_static")!r}]
html_css_files = ["book.css"]
exclude_patterns = ["_build"]
"""
LINE = "listing = " + " + ".join(f"part_{k:02}" for k in range(12)) + "  # 84 columns, to this:" + "." * 90 + "ends"
PAGE = f"""{HEADER}# Wide things

Back to [what comes first](index.md#before), on to [the end](#the-end), out to <a href="_static/figures.js">nothing</a>.

```python
{LINE}
```

| {" | ".join(f"column {k}" for k in range(9))} |
|{"---|" * 9}
| {" | ".join(f"`a_long_name_of_a_cell_{k}`" for k in range(9))} |

```{{raw}} html
<figure class="drawing"><svg class="figure" viewBox="0 0 9 1" style="width:1900px"><path d="M0 0h9"/></svg></figure>
<details class="admonition hide above-input"><summary>Show</summary><p>a plot is drawn</p></details>
```

```{{dropdown}} More than is needed
the derivation
```

::::{{tab-set}}
:::{{tab-item}} One
first tab
:::
:::{{tab-item}} Two
second tab
:::
::::

## The end

Here.
"""
# What is wider than the paper, or cut off at its own edge.
CUT = """(() => [...document.querySelectorAll("article *")].filter((part) => {
  if (part.closest("mjx-assistive-mml, svg *") || !part.getClientRects().length) return false;
  const style = getComputedStyle(part);
  if (style.position === "absolute" || style.display === "inline") return false;
  const hidden = style.overflowX !== "visible" && part.scrollWidth > part.clientWidth + 2;
  return hidden || part.getBoundingClientRect().right > innerWidth + 1;
}).map((part) => part.tagName + " " + part.textContent.trim().slice(0, 60)))()"""


def cut(browser, url):
    page = browser.open(url, width=print_book.WIDTH)
    browser.call("Emulation.setEmulatedMedia", browser.session, media="print")
    try:
        return page.evaluate(CUT)
    finally:
        browser.call("Emulation.setEmulatedMedia", browser.session, media="")


@pytest.fixture(scope="module")
def small(tmp_path_factory):
    root = tmp_path_factory.mktemp("printed")
    (root / "conf.py").write_text(CONF)
    (root / "index.md").write_text("# Start\n\n## Before\n\nThe start.\n\n```{toctree}\nwide\n```\n")
    (root / "wide.md").write_text(PAGE)
    with sphinx(root) as (app, warnings):
        app.build()
    assert warnings.getvalue() == ""
    return root / "_build" / "html"


@pytest.fixture(scope="module")
def pdf(small, browser):
    patch = pytest.MonkeyPatch()
    patch.setattr(print_book, "BOOK", small)
    file = io.BytesIO()
    print_book.make([("", ["index"]), ("Part I", ["wide"])], browser, say=lambda _: None).write(file)
    patch.undo()
    assert not (small / "contents.html").exists()
    return PdfReader(file)


def text(pages):
    said = unicodedata.normalize("NFKC", "".join(page.extract_text() for page in pages))  # no ligatures
    return "".join(said.split())


def test_nothing_is_cut_off(small, browser):
    assert cut(browser, (small / "wide.html").as_uri()) == []


def test_without_the_style_for_paper_this_would_be_seen(small, browser, tmp_path):
    page = (small / "wide.html").read_text(encoding="utf-8").replace("_static/book.css", "_static/none.css")
    (small / "plain.html").write_text(page, encoding="utf-8")
    found = " ".join(cut(browser, (small / "plain.html").as_uri()))
    assert all(word in found for word in ("PRE", "svg"))


def test_all_that_ought_to_be_read_is_printed(pdf):
    said = text(pdf.pages)
    for words in (LINE[-60:], "the derivation", "first tab", "second tab", "a_long_name_of_a_cell_8"):
        assert "".join(words.split()) in said
    assert "aplotisdrawn" not in said
    assert "Foldedcodeisleftoutofthisprint" in said


def test_pages_are_numbered_and_listed(pdf):
    assert pdf.page_labels[:2] == ["i", "1"]
    assert text(pdf.pages[1:2]).endswith("1")
    assert "Widethings2" in text(pdf.pages[:1])
    start, (before,), part, (wide, (end,)) = pdf.outline
    titles = [entry.title for entry in (start, before, part, wide, end)]
    assert titles == ["Start", "Before", "Part I", "Wide things", "The end"]
    assert pdf.get_destination_page_number(wide) == 2


def test_links_lead_within_the_pdf(pdf):
    """To the contents' pages, to the other page, to a heading of its own; one to a file that is not printed is none."""
    goals = [
        [pdf.get_page_number(note.get_object()["/Dest"][0].get_object()) for note in page.get("/Annots", ())]
        for page in pdf.pages
    ]
    assert goals[0] == [1, 2]
    assert 1 in goals[2]
    assert any(goal >= 2 for goal in goals[2])
    assert all("/A" not in note.get_object() for page in pdf.pages for note in page.get("/Annots", ()))


@pytest.mark.book
@pytest.mark.parametrize("name", ["chapters/tools", "chapters/04_memory", "chapters/xray_counts"])
def test_pages_of_the_book_fit_the_paper(book, browser, name):
    assert cut(browser, (book / f"{name}.html").as_uri()) == []
