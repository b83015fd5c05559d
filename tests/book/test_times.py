"""The time that a page says it takes is measured: 200 words a minute, 15 lines of shown code, half a minute for a
question."""

import re

import pytest
from built import ROOT

pytestmark = pytest.mark.quick

WORDS, LINES, QUESTION = 200, 15, 0.5
LISTING = 12  # lines of a function of the library, about
FENCE = r"^(`{3,4})%s(.*?)\n((?::[^\n]*\n)*)(.*?)^\1$"
PAGES = sorted(p for p in (ROOT / "chapters").glob("*.md") if re.match(r"\d\d_", p.name))


def minutes(text):
    """To read a page: `text` is its source."""
    text = text.split("---", 2)[2]
    cells = re.findall(FENCE % r"\{code-cell\}", text, re.DOTALL | re.MULTILINE)
    shown = [source for _, _, tags, source in cells if "hide-" not in tags and "remove-" not in tags]
    shown += [source for *_, source in re.findall(FENCE % "python", text, re.DOTALL | re.MULTILINE)]
    lines = sum(bool(line.strip()) for source in shown for line in source.splitlines())
    lines += LISTING * text.count("{literalinclude}")
    prose = re.sub(
        FENCE % r"(?:\{code-cell\}|\{raw\}|\{literalinclude\}|python)", "", text, flags=re.DOTALL | re.MULTILINE
    )
    prose = re.sub(r"\]\([^)]*\)|\{[a-z:]+\}`[^`]*`|^\|[-| ]+\|$|^:.*$", "]", prose, flags=re.MULTILINE)
    words = len(re.findall(r"[A-Za-z][\w'-]*", prose))
    return words / WORDS + lines / LINES + QUESTION * text.count("{predict}")


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_the_time_of_a_page_is_what_its_length_takes(page):
    text = page.read_text(encoding="utf-8")
    (said,) = re.findall(r"\*\*Time:\*\* (\d+)\sminutes", text)
    measured = minutes(text)
    assert abs(int(said) - measured) <= max(2, 0.15 * measured), f"{said} minutes are said; it is {measured:.0f}"


def test_more_text_takes_longer():
    page = "---\nx: 1\n---\n"
    assert minutes(page + "word " * 400) == 2
    assert minutes(page + "```{code-cell} ipython3\n" + "x = 1\n" * 30 + "```\n") == 2
    assert minutes(page + "```{code-cell} ipython3\n:tags: [hide-input]\n" + "x = 1\n" * 30 + "```\n") == 0
    assert minutes(page + "```{predict} a\n:unit: lanes\n```\n") == pytest.approx(QUESTION, abs=0.02)
