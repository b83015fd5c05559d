"""A small book that names files of the library: each is a page with an anchor for each line, and each name leads to
it."""

import io
import os
import re
import sys
from contextlib import contextmanager
from unittest import mock

import pytest
from axe import violations
from bs4 import BeautifulSoup
from built import ROOT
from test_links import broken_links, html_pages
from test_read import Reading

sys.path.insert(0, str(ROOT / "_ext"))
from source_pages import NAMED

GPU = "lib/dlkernels/matrix/gpu.py"
SIGNATURE = "lib/dlkernels/recurrent/gpu.py"
CONF = f"""
import sys
sys.path.insert(0, {str(ROOT / "_ext")!r})
extensions = ["myst_nb", "source_pages"]
nb_execution_mode = "cache"
nb_execution_timeout = 600
html_theme = "sphinx_book_theme"
html_context = {{"default_mode": "auto"}}
html_static_path = [{str(ROOT / "_static")!r}]
html_css_files = ["book.css"]
html_js_files = ["access.js"]
exclude_patterns = ["_build"]
"""
HEADER = "---\nfile_format: mystnb\nkernelspec: {name: python3, display_name: Python 3}\n---\n"
PAGE = f"""{HEADER}# Places

In `lib/dlkernels/team.py`, not in `lib/coursework/kinds/kind.py`; [`lib/dlkernels/device.py`](../index.md) leads elsewhere.

```{{literalinclude}} %s
:language: python
:pyobject: tile_2d_kernel
:start-at: for q in range
:end-before: for r in range(8)
:dedent: 8
```

```{{literalinclude}} %s
:language: python
:start-at: def gate_kernel
:end-at: "fmt: skip"
```

```{{code-cell}} ipython3
from dlkernels import rungs
rungs.table("add", device="cpu")
```
"""


@contextmanager
def sphinx(root):
    """The application that builds the book, and what it warns of."""
    from sphinx.application import Sphinx
    from sphinx.util.docutils import docutils_namespace, patch_docutils

    out, warnings = root / "_build" / "html", io.StringIO()
    with patch_docutils(str(root)), docutils_namespace(), mock.patch.dict(os.environ):  # an extension sets variables
        yield Sphinx(root, root, out, out.parent / "doctrees", "html", status=None, warning=warnings), warnings


def small_book(root):
    """Write the sources of a book of two pages."""
    (root / "conf.py").write_text(CONF)
    (root / "index.md").write_text("# Start\n\n```{toctree}\nchapters/places\n```\n")
    (root / "chapters").mkdir()
    (root / "chapters" / "places.md").write_text(
        PAGE % tuple(os.path.relpath(ROOT / name, root / "chapters") for name in (GPU, SIGNATURE))
    )
    return root


@pytest.fixture(scope="module")
def built(tmp_path_factory):
    """The folder of the built pages."""
    root = small_book(tmp_path_factory.mktemp("sources"))
    with sphinx(root) as (app, warnings):
        app.build()
    assert warnings.getvalue() == ""
    return root / "_build" / "html"


def links(page):
    """{what is shown: where it leads} of the links to files of the library."""
    article = BeautifulSoup(page.read_text(encoding="utf-8"), "html.parser").find("article")
    return {a.get_text(): a["href"] for a in article.find_all("a", href=re.compile(r"/lib/"))}


def test_each_name_of_a_file_leads_to_its_line(built):
    found = links(built / "chapters" / "places.html")
    text = (ROOT / GPU).read_text(encoding="utf-8")
    line = text.count("\n", 0, text.index("for q in range", text.index("def tile_2d_kernel"))) + 1
    assert found["lib/dlkernels/team.py"] == "../lib/dlkernels/team.html"
    assert found[f"{GPU}:{line}"] == f"../lib/dlkernels/matrix/gpu.html#line-{line}"
    rungs = [name for name in found if name.startswith("lib/dlkernels/vector/cpu.py:")]
    assert len(rungs) >= 5  # of the ladder that a cell shows
    assert len(found) == 3 + len(rungs)
    assert [fault for page in html_pages(built) for fault in broken_links(page)] == []


def test_a_listing_does_not_show_what_is_for_a_formatter(built):
    text = BeautifulSoup((built / "chapters" / "places.html").read_text(encoding="utf-8"), "html.parser").get_text()
    assert "hidden, width, column,\n):" in text
    assert "fmt: skip" in (ROOT / SIGNATURE).read_text(encoding="utf-8")
    assert "fmt: skip" not in text


def test_the_page_of_a_file_has_its_lines_and_leads_back(built):
    page = built / "lib" / "dlkernels" / "team.html"
    soup = BeautifulSoup(page.read_text(encoding="utf-8"), "html.parser")
    for number, line in enumerate((ROOT / "lib/dlkernels/team.py").read_text(encoding="utf-8").splitlines(), 1):
        shown = soup.find(id=f"line-{number}")
        assert shown.find(class_="linenos").extract().get_text().strip() == str(number)
        assert shown.get_text() == f"{line}\n"
    assert soup.find("article").find("a", string="Places")["href"] == "../../chapters/places.html"


@pytest.mark.parametrize("dark", [False, True])
@pytest.mark.parametrize("name", ["chapters/places", "lib/dlkernels/matrix/gpu"])
def test_no_barrier(name, dark, built, browser):
    address = (built / f"{name}.html").as_uri() + ("#line-226" if name.startswith("lib") else "")
    page = browser.open(address, width=390 if dark else 1280, dark=dark)
    assert not page.errors
    assert violations(page) == []


def test_a_page_is_written_again_where_it_is_new(built):
    """`make read` writes the book once for each page that is run: the pages of files that did not change stay."""
    files = [built / "lib" / name for name in ("dlkernels/team.html", "dlkernels/vector/cpu.html")]
    root = built.parents[1]
    with sphinx(root) as (app, _):
        app.build(force_all=True)
        for file in files:
            os.utime(file, (1, 1))
        (root / "index.md").write_text((root / "index.md").read_text() + "\nSee `lib/dlkernels/team.py`.\n")
        app.build()
    assert [file.stat().st_mtime != 1 for file in files] == [True, False]
    assert "Start" in files[0].read_text(encoding="utf-8").split("named in")[1][:200]


def test_make_read_shows_what_a_cell_names_once_it_has_run(tmp_path):
    with Reading(small_book(tmp_path)) as reading:
        reading.wait("All text is there")
        assert 'id="line-1"' in reading.get("lib/dlkernels/team.html")
        reading.wait("All pages are live")
        assert "../lib/dlkernels/vector/cpu.html#line-" in reading.get("chapters/places.html")
        assert 'id="line-1"' in reading.get("lib/dlkernels/vector/cpu.html")


def test_a_file_that_is_not_there_is_told(built):
    root = built.parents[1]
    (root / "chapters" / "places.md").write_text("# Places\n\nSee `lib/dlkernels/gone.py`.\n")
    with sphinx(root) as (app, warnings):
        app.build()
    assert "there is no file lib/dlkernels/gone.py" in warnings.getvalue()
    assert links(root / "_build" / "html" / "chapters" / "places.html") == {}


@pytest.mark.parametrize(
    ("text", "named"),
    [
        ("lib/dlkernels/team.py", True),
        ("lib/<wbr>dlkernels/<wbr>vector/<wbr>gpu_<wbr>wide.<wbr>py:38", True),
        ("see lib/simt/show.py.", True),
        ("lib/coursework/tasks/c08/tiled.py", False),  # answers
        ("/usr/lib/dlkernels/team.py", False),
        ("lib/dlkernels/vector/", False),
    ],
)
def test_what_names_a_file(text, named):
    assert bool(NAMED.search(text)) is named
