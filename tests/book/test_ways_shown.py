"""The map and the walks of the built book in a browser, from disk."""

import sys

import pytest
from axe import violations
from built import ROOT

sys.path.insert(0, str(ROOT / "_ext"))
import ways

pytestmark = pytest.mark.book

CHOOSE = """(() => {
  const goal = document.querySelector("[data-goal]");
  goal.value = "%s";
  goal.dispatchEvent(new Event("change"));
  return [...document.querySelectorAll("[data-answer] li a")].map((a) => a.getAttribute("href").replace(".html", ""));
})()"""
SHOWN = "[...document.querySelectorAll('.walk-strip')].filter(e => e.offsetHeight).map(e => e.textContent)"
LINKS = "[...document.querySelectorAll('.walk-train li')].map(li => li.querySelector('a').href)"


def test_the_map_says_what_to_read_before_a_page(book, browser):
    pages = ways.book()
    page = browser.open((book / "chapters" / "map.html").as_uri(), width=390)
    assert page.evaluate(CHOOSE % "11_attention_gpu") == ways.before(pages, "11_attention_gpu")
    marked = page.evaluate("[...document.querySelectorAll('.book-map a.on')].map(a => a.dataset.page)")
    assert marked == [*ways.before(pages, "11_attention_gpu"), "11_attention_gpu"]
    assert page.evaluate(CHOOSE % "05_threads") == []


def test_a_walk_goes_from_page_to_page(book, browser):
    files = [file for file, _ in ways.walks()["train"].steps]
    links = browser.open((book / "chapters" / "map.html").as_uri()).evaluate(LINKS)
    assert links == [(book / "chapters" / f"{file}.html").as_uri() + "?walk=train" for file in files]
    page = browser.open(links[3], width=390, dark=True)
    above, below = page.evaluate(SHOWN)
    assert above == below
    assert f"4 of {len(files)}" in above
    assert not violations(page)
    onward = page.evaluate("document.querySelector('.walk-strip:not([hidden]) span:last-child a').href")
    assert onward == links[4]


def test_no_strip_without_a_walk(book, browser):
    for query in ("", "?walk=none"):
        assert browser.open((book / "chapters" / "08_matmul.html").as_uri() + query).evaluate(SHOWN) == []
