"""The chapters' sources: code narrow enough for half a screen; of the library, and where it is folded, for a whole
one."""

import re
import sys

import pytest
from built import ROOT, pages

sys.path.insert(0, str(ROOT / "_ext"))
from chapter_notebook import plain_markdown

pytestmark = pytest.mark.quick

COLUMNS = 60
WHOLE_COLUMNS = 84
FOLDED = ("hide-input", "hide-cell")
CELL = re.compile(r"^```\{code-cell\}[^\n]*\n(.*?)^```$", re.MULTILINE | re.DOTALL)
CLOSED = re.compile(r"^(`{3,}|:{3,})\{dropdown\}.*?^\1[ ]*$", re.MULTILINE | re.DOTALL)
INCLUDED = re.compile(r"^(`{3,})\{literalinclude\}.*?^\1[ ]*$", re.MULTILINE | re.DOTALL)
TAGS = re.compile(r"^:tags: \[(.*)\]$", re.MULTILINE)
CHAPTERS = [name for name in pages() if (ROOT / f"{name}.md").exists()]


def shown_cells(text, folded=False):
    """The code that the page shows without a click, or after one, as (line number, line)."""
    for cell in CELL.finditer(text):
        tags = TAGS.search(cell[1])
        tags = tags[1].split(", ") if tags else []
        if "remove-cell" in tags or "remove-input" in tags or any(tag in tags for tag in FOLDED) != folded:
            continue
        first = text.count("\n", 0, cell.start(1)) + 1
        yield from ((first + place, line) for place, line in enumerate(cell[1].splitlines()))


def wider(name, columns, folded=False):
    lines = shown_cells((ROOT / f"{name}.md").read_text(encoding="utf-8"), folded)
    return [f"{name}.md:{number} has {len(line)} columns: {line}" for number, line in lines if len(line) > columns]


@pytest.mark.parametrize("name", CHAPTERS)
def test_code_is_narrow(name):
    wide = wider(name, COLUMNS)
    assert not wide, f"{len(wide)} lines are wider than {COLUMNS} columns:\n" + "\n".join(wide)


@pytest.mark.parametrize("name", CHAPTERS)
def test_folded_code_fits(name):
    wide = wider(name, WHOLE_COLUMNS, folded=True)
    assert not wide, f"{len(wide)} folded lines are wider than {WHOLE_COLUMNS} columns:\n" + "\n".join(wide)


def included(text, folder):
    """The lines of files that the page shows without a click."""
    for listing in INCLUDED.finditer(CLOSED.sub("", text)):
        yield from plain_markdown(listing[0], folder).splitlines()


@pytest.mark.parametrize("name", CHAPTERS)
def test_listings_of_the_library_fit(name):
    page = ROOT / f"{name}.md"
    lines = list(included(page.read_text(encoding="utf-8"), page.parent))
    wide = [f"{len(line)} columns: {line}" for line in lines if len(line) > WHOLE_COLUMNS]
    assert not wide, f"{name} shows {len(wide)} lines wider than {WHOLE_COLUMNS} columns:\n" + "\n".join(wide)


def test_of_a_listing_only_what_is_open_counts(tmp_path):
    (tmp_path / "kernels.py").write_text("def f():\n    return 1\n\n\ndef g():\n    return 2\n")
    show = "```{{literalinclude}} kernels.py\n:language: python\n:pyobject: {}\n```\n"
    text = f"# T\n\n{show.format('f')}\n````{{dropdown}} More\n{show.format('g')}````\n"
    assert [line for line in included(text, tmp_path) if "```" not in line] == ["def f():", "    return 1"]


def test_a_wide_line_is_found_where_it_stands():
    text = "# T\n\n```{code-cell} ipython3\nx = 1\n```\n\n```{code-cell}\n:tags: [remove-cell]\ny\n```\n"
    text += "\n```{code-cell}\n:tags: [hide-input]\nz\n```\n"
    assert list(shown_cells(text)) == [(4, "x = 1")]
    assert list(shown_cells(text, folded=True)) == [(13, ":tags: [hide-input]"), (14, "z")]
