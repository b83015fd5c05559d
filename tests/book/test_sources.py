"""The chapters' sources: code narrow enough for half a screen."""

import re

import pytest
from built import ROOT, pages

pytestmark = pytest.mark.quick

COLUMNS = 60
CELL = re.compile(r"^```\{code-cell\}[^\n]*\n(.*?)^```$", re.MULTILINE | re.DOTALL)
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


def test_a_wide_line_is_found_where_it_stands():
    text = "# T\n\n```{code-cell} ipython3\nx = 1\n```\n\n```{code-cell}\n:tags: [remove-cell]\ny\n```\n"
    assert list(shown_cells(text)) == [(4, "x = 1")]
