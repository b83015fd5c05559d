"""What executing the pages of the book took, against tests/budgets.toml: a warning, for the machine may be busy."""

import json
import sqlite3
import warnings
from contextlib import closing

import budgets
import pytest
from built import BOOK, ROOT, pages

CACHE = BOOK.parent / ".jupyter_cache" / "global.db"


def executed():
    """{page: seconds its cells took when they were last executed}, as jupyter-cache keeps them."""
    with closing(sqlite3.connect(f"{CACHE.as_uri()}?mode=ro", uri=True)) as database:
        rows = database.execute("select uri, data from nbcache order by created").fetchall()
    return {
        name: json.loads(data)["execution_seconds"]
        for uri, data in rows
        for name in pages()
        if uri.endswith(f"/{name}.md")
    }


@pytest.mark.book
def test_pages_keep_to_their_budgets(book):
    if not CACHE.exists():
        pytest.skip(f"{book} was built elsewhere")
    seconds = executed()
    assert seconds, f"{CACHE} knows none of the pages"
    over = list(budgets.over("pages", seconds))
    if over:
        warnings.warn("\n".join(over), stacklevel=1)


@pytest.mark.quick
def test_every_budget_of_its_own_is_of_a_file_or_page_that_exists():
    files, chapters = (budgets.allowed(kind)[1] for kind in ("tests", "pages"))
    assert [name for name in files if not (ROOT / "tests" / name).is_file()] == []
    assert set(chapters) <= set(pages())


@pytest.mark.quick
def test_what_is_over_budget_is_named_with_its_seconds(monkeypatch):
    monkeypatch.setattr(budgets, "allowed", lambda kind: (10, {"long": 40}))
    assert list(budgets.over("pages", {"a": 14, "long": 59})) == []
    assert list(budgets.over("pages", {"a": 16, "long": 61})) == [
        "a took 16 s, its budget is 10 s (tests/budgets.toml)",
        "long took 61 s, its budget is 40 s (tests/budgets.toml)",
    ]
