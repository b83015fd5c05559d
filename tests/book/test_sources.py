"""The chapters' sources: code narrow enough for half a screen, and of the library for a whole one."""

import re
import sys

import pytest
from built import ROOT, pages

sys.path.insert(0, str(ROOT / "_ext"))
from chapter_notebook import plain_markdown

pytestmark = pytest.mark.quick

COLUMNS = 60
LIBRARY_COLUMNS = 84
CELL = re.compile(r"^```\{code-cell\}[^\n]*\n(.*?)^```$", re.MULTILINE | re.DOTALL)
CLOSED = re.compile(r"^(`{3,}|:{3,})\{dropdown\}.*?^\1[ ]*$", re.MULTILINE | re.DOTALL)
INCLUDED = re.compile(r"^(`{3,})\{literalinclude\}.*?^\1[ ]*$", re.MULTILINE | re.DOTALL)
CHAPTERS = [name for name in pages() if (ROOT / f"{name}.md").exists()]


def shown_cells(text):
    """The code that the page shows without a click, as (line number, line)."""
    for cell in CELL.finditer(text):
        if any(tag in cell[1] for tag in ("remove-cell", "remove-input", "hide-input", "hide-cell")):
            continue
        first = text.count("\n", 0, cell.start(1)) + 1
        yield from ((first + place, line) for place, line in enumerate(cell[1].splitlines()))


@pytest.mark.parametrize("name", CHAPTERS)
def test_code_is_narrow(name):
    lines = shown_cells((ROOT / f"{name}.md").read_text(encoding="utf-8"))
    wide = [f"{name}.md:{number} has {len(line)} columns: {line}" for number, line in lines if len(line) > COLUMNS]
    assert not wide, f"{len(wide)} lines are wider than {COLUMNS} columns:\n" + "\n".join(wide)


def included(text, folder):
    """The lines of files that the page shows without a click."""
    for listing in INCLUDED.finditer(CLOSED.sub("", text)):
        yield from plain_markdown(listing[0], folder).splitlines()


@pytest.mark.parametrize("name", CHAPTERS)
def test_listings_of_the_library_fit(name):
    page = ROOT / f"{name}.md"
    lines = list(included(page.read_text(encoding="utf-8"), page.parent))
    wide = [f"{len(line)} columns: {line}" for line in lines if len(line) > LIBRARY_COLUMNS]
    assert not wide, f"{name} shows {len(wide)} lines wider than {LIBRARY_COLUMNS} columns:\n" + "\n".join(wide)


def test_of_a_listing_only_what_is_open_counts(tmp_path):
    (tmp_path / "kernels.py").write_text("def f():\n    return 1\n\n\ndef g():\n    return 2\n")
    show = "```{{literalinclude}} kernels.py\n:language: python\n:pyobject: {}\n```\n"
    text = f"# T\n\n{show.format('f')}\n````{{dropdown}} More\n{show.format('g')}````\n"
    assert [line for line in included(text, tmp_path) if "```" not in line] == ["def f():", "    return 1"]


def test_a_wide_line_is_found_where_it_stands():
    text = "# T\n\n```{code-cell} ipython3\nx = 1\n```\n\n```{code-cell}\n:tags: [remove-cell]\ny\n```\n"
    assert list(shown_cells(text)) == [(4, "x = 1")]
