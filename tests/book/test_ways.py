"""The ways through the book: what pages need makes an order, the map draws it, walks keep to it."""

import re
import sys
import xml.etree.ElementTree as ElementTree

import pytest
from built import ROOT, pages

sys.path.insert(0, str(ROOT / "_ext"))
import ways

pytestmark = pytest.mark.quick

BOOK = ways.book()
ORDER = [name.removeprefix("chapters/") for name in pages()]
WALKS = ways.walks()
FIRST = ["01_why_parallel", "02_threads", "05_threads", "17_claims"]  # they need no page
PARTLY_LATER = [("10_lstm", "11_softmax")]  # a function that a later page derives
PAGE = (
    "# {}\n\n```{{admonition}} After this page you can\n- read.\n\n**Time:** {} minutes. **Needs:** {}\n```\n\nMore "
    "[9](z.md).\n"
)


def page(file, title, needs, minutes=5):
    return ways.read(file, PAGE.format(title, minutes, needs))


def test_a_page_says_what_it_needs():
    seen = page(
        "08_x", "8.2 Sums", "[5](05_a.md#here), [7](07_b.md) and\n[5](05_a.md); for its end [9](09_c.md). No GPU.", 12
    )
    assert (seen.number, seen.name, seen.minutes, seen.chapter) == ("8.2", "Sums", 12, 8)
    assert (seen.needs, seen.partly) == (("05_a", "07_b"), ("09_c",))


def test_lines_that_follow_from_others_are_not_drawn():
    three = [
        page("01_a", "1 A", "Python."),
        page("01_b", "1.2 B", "[1](01_a.md)."),
        page("02_c", "2 C", "[1](01_a.md), [1.2](01_b.md)."),
    ]
    book = {one.file: one for one in three}
    assert ways.edges(book) == [("01_a", "01_b", True), ("01_b", "02_c", True)]
    assert ways.before(book, "02_c") == ["01_a", "01_b"]


@pytest.mark.parametrize("file", [file for file, page in BOOK.items() if page.chapter])
def test_a_page_needs_pages_that_come_before_it(file):
    """Pages of the reference part have no place in the order: they are looked up."""
    one = BOOK[file]
    needs = ways.NEEDS.search((ROOT / "chapters" / f"{file}.md").read_text(encoding="utf-8"))
    assert needs, "it does not say what it needs"
    assert one.minutes
    assert one.number
    bare = re.findall(r"\bchapters? \d", ways.LINK.sub("", needs[1]))
    assert not bare, f"{bare}: a page that is needed is named by a link, [5](05_threads.md)"
    assert bool(one.needs) != (file in FIRST) or one.partly, "it needs no page; is that so? Then it belongs to FIRST"
    later = [need for need in one.needs if BOOK[need].chapter and ORDER.index(need) > ORDER.index(file)]
    later += [need for need in one.partly if ORDER.index(need) > ORDER.index(file) and (file, need) not in PARTLY_LATER]
    assert not later, f"{later} come later in the book"


@pytest.mark.parametrize("file", BOOK)
def test_a_page_that_is_needed_is_called_by_its_number(file):
    needs = ways.NEEDS.search((ROOT / "chapters" / f"{file}.md").read_text(encoding="utf-8"))
    for words, name in ways.LINK.findall(needs[1] if needs else ""):
        number = re.search(r"\d+(?:\.\d+)?", words)
        assert not number or number[0] in (BOOK[name].number, BOOK[name].number.partition(".")[0]), (
            f"[{words}]({name}.md)"
        )


def test_no_page_needs_itself():
    assert [file for file in BOOK if file in ways.before(BOOK, file)] == []


def test_the_map_has_each_page_and_each_line_once():
    svg = ways.drawing(BOOK)
    numbered = [file for file, page in BOOK.items() if page.chapter]
    parsed = ElementTree.fromstring(svg[svg.index("<svg") : svg.index("</svg>") + len("</svg>")])
    assert len(parsed.findall("g/path")) == svg.count("<path")
    assert re.findall(r'<a href="(\w+)\.html" data-page="\1"', svg) == numbered
    drawn = re.findall(r'data-from="(\w+)" data-to="(\w+)"', svg)
    assert len(drawn) == len(set(drawn)) > len(numbered)
    at = ways.places(BOOK)
    assert len(set(at.values())) == len(at)
    assert all(ways.BOX[0] / 2 < x < ways.WIDTH - ways.BOX[0] / 2 for x, _ in at.values()), (
        "a chapter has too many pages for a row"
    )


def test_the_map_in_words_says_the_same():
    lines = ways.table(BOOK)[2:]
    assert len(lines) == len(ways.places(BOOK))
    for line in lines:
        (_, file), *needs = ways.LINK.findall(line)
        assert {need for _, need in needs} == {*BOOK[file].needs, *BOOK[file].partly}


@pytest.mark.parametrize("walk", WALKS.values(), ids=lambda walk: walk.name)
def test_a_walk_has_all_that_its_pages_need(walk):
    files = [file for file, _ in walk.steps]
    assert len(files) == len(set(files)) >= 10
    missing = [
        f"{BOOK[file].title}: {BOOK[need].title}"
        for i, file in enumerate(files)
        for need in BOOK[file].needs
        if need not in files[:i]
    ]
    assert not missing, f"needed, and not before it in the walk: {missing}"
    assert all(why and BOOK[file].minutes for file, why in walk.steps)


def test_two_evenings_are_two_evenings():
    minutes = [BOOK[file].minutes for file, _ in WALKS["evenings"].steps]
    half = [file for file, _ in WALKS["evenings"].steps].index("08_matmul")  # as its text says
    assert 90 <= sum(minutes[:half]) <= 130
    assert 90 <= sum(minutes[half:]) <= 130


def test_a_strip_leads_to_the_pages_before_and_after():
    walk = WALKS["train"]
    files, titles = [file for file, _ in walk.steps], {file: page.title for file, page in BOOK.items()}
    for i, file in enumerate(files):
        strip = ways.strip(walk, file, titles, "top")
        linked = re.findall(r'href="(\w+)\.html\?walk=train"', strip)
        assert linked == files[max(0, i - 1) : i] + files[i + 1 : i + 2]
        assert f"{i + 1} of {len(files)}" in strip
        assert " hidden>" in strip
