"""The errata: each row has a date, a page that exists, what was wrong and who found it; the newest first."""

import csv
import re
from datetime import date

import pytest
from built import ROOT, pages

pytestmark = pytest.mark.quick

HEAD, *ROWS = csv.reader((ROOT / "chapters" / "errata.csv").read_text(encoding="utf-8").splitlines())


def test_the_page_shows_the_table():
    assert ":file: errata.csv" in (ROOT / "chapters" / "errata.md").read_text(encoding="utf-8")
    assert HEAD == ["date", "page", "what was wrong", "found by"]
    days = [date.fromisoformat(row[0]) for row in ROWS]
    assert days == sorted(days, reverse=True)


@pytest.mark.parametrize("row", ROWS, ids=lambda row: f"{row[0]} {row[1]}")
def test_a_row_is_whole(row):
    _day, page, wrong, finder = row
    linked = re.fullmatch(r"\[[^\]]+\]\((\w+)\.md\)", page)
    assert page == "the library" or (linked and f"chapters/{linked[1]}" in pages()), page
    assert len(wrong) > 30
    assert finder
