"""The figure of a whole and its parts: its bars fill what they should, and the slider says one of them."""

import re

import pytest

from cpulab.figures.parts import BOTTOM, HEIGHT, TOP, Bar, Parts

BARS = (
    Bar("8", {"computing": 0.9, "messages": 0.1}, "8 workers: 90 % computing."),
    Bar("64", {"computing": 0.6, "messages": 0.4}, "64 workers: 60 % computing."),
    Bar("<512>", {"computing": 0.25, "messages": 0.75}, "512 workers & more: 25 % computing."),
)
FIGURE = Parts(BARS, "workers", "Parts of a step for 8 to 512 workers.")


def test_text_says_each_bar():
    assert str(FIGURE).splitlines() == ["[Figure: Parts of a step for 8 to 512 workers.]", *(bar.words for bar in BARS)]


def test_parts_stand_on_one_another_and_fill_the_whole():
    drawn = "".join(FIGURE._drawn())
    rects = [
        tuple(map(float, r)) for r in re.findall(r'x="([\d.]+)" y="([\d.]+)" width="[\d.]+" height="([\d.]+)"', drawn)
    ]
    assert len(rects) == 6
    for k, bar in enumerate(BARS):
        (x, low, first), (x2, high, second) = rects[2 * k : 2 * k + 2]
        assert x == x2
        assert low + first == pytest.approx(HEIGHT - BOTTOM)
        assert high + second == pytest.approx(low, abs=0.2)
        assert high == pytest.approx(TOP, abs=0.3)
        assert first / (first + second) == pytest.approx(bar.parts["computing"], abs=0.01)
    assert rects[0][0] < rects[2][0] < rects[4][0]


def test_words_are_escaped():
    html = FIGURE._repr_html_()
    assert "<512>" not in html
    assert "&lt;512&gt;" in html


def test_the_slider_marks_a_bar_and_says_it(browser, tmp_path):
    (tmp_path / "page.html").write_text(
        f"<!doctype html><meta charset='utf-8'><title>T</title>{FIGURE._repr_html_()}", encoding="utf-8"
    )
    page = browser.open((tmp_path / "page.html").as_uri())
    assert not page.errors
    slide = "s => { const i = document.querySelector('input'); i.value = s; i.dispatchEvent(new Event('input')); }"
    for k, bar in enumerate(BARS):
        page.evaluate(f"({slide})({k})")
        assert page.evaluate("document.querySelector('figcaption').textContent") == bar.words
        marked = page.evaluate("Number(document.querySelector('[data-mark]').getAttribute('x'))")
        assert marked == FIGURE._left(k)
