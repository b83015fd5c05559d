"""The frontier of accuracy and bytes: its points against trying all, and the slider in a browser."""

import math

from hypothesis import given
from hypothesis import strategies as st

from cpulab.figures.frontier import Frontier, Point, best, rising

POINTS = st.lists(
    st.builds(Point, st.text(min_size=1, max_size=5), st.integers(1, 30), st.sampled_from([0.5, 0.9, 0.95, 1.0])),
    min_size=1,
    max_size=12,
)
SOME = (
    Point("whole", 65536, 0.98),
    Point("4 bits", 8192, 0.97, 1.5),
    Point("2 bits", 4096, 0.5),
    Point("bad", 9000, 0.9),
)


@given(POINTS)
def test_a_point_is_on_the_frontier_if_no_other_beats_it(points):
    way = rising(points)
    for point in points:
        beaten = any(
            p.nbytes <= point.nbytes
            and p.accuracy >= point.accuracy
            and (p.nbytes, p.accuracy) != (point.nbytes, point.accuracy)
            for p in points
        )
        assert any((p.nbytes, p.accuracy) == (point.nbytes, point.accuracy) for p in way) != beaten


@given(POINTS, st.integers(0, 31))
def test_the_best_within_a_budget_is_the_last_of_the_frontier_that_fits(points, budget):
    found = best(points, budget)
    fit = [point for point in rising(points) if point.nbytes <= budget]
    assert (found is None) == (not fit)
    if fit:
        assert (found.nbytes, found.accuracy) == (fit[-1].nbytes, fit[-1].accuracy)


def test_text_says_the_frontier():
    said = str(Frontier(SOME, "Accuracy of four networks."))
    assert said.splitlines()[0] == "[Figure: Accuracy of four networks.]"
    assert "4 bits: 97.0% in 8.0 KiB, 1.5 times as fast as the whole network" in said
    assert "bad" not in said


def test_more_bytes_stand_to_the_right_and_more_accuracy_above():
    figure = Frontier(SOME, "Accuracy of four networks.")
    places = [figure._place(point) for point in SOME]
    assert [p[0] for p in sorted(places)] == [figure._place(p)[0] for p in sorted(SOME, key=lambda p: p.nbytes)]
    assert (
        figure._place(SOME[0])[1] < figure._place(SOME[1])[1] < figure._place(SOME[3])[1] == figure._place(SOME[2])[1]
    )
    step = figure._place(SOME[0])[0] - figure._place(SOME[1])[0]  # three doublings, as much as each other three
    assert math.isclose(step, 3 * (figure._place(SOME[1])[0] - figure._place(SOME[2])[0]), abs_tol=0.3)


def test_names_are_escaped():
    html = Frontier((Point("<b>&", 5, 0.95), *SOME), "Accuracy <of> networks.")._repr_html_()
    assert "<b>" not in html
    assert "&lt;b&gt;" in html


def test_the_slider_marks_the_point_of_its_budget(browser, tmp_path):
    html = Frontier(SOME, "Accuracy of four networks.")._repr_html_()
    (tmp_path / "page.html").write_text(
        f"<!doctype html><meta charset='utf-8'><title>T</title>{html}", encoding="utf-8"
    )
    page = browser.open((tmp_path / "page.html").as_uri())
    assert not page.errors
    slide = "s => { const i = document.querySelector('input'); i.value = s; i.dispatchEvent(new Event('input')); }"
    for k, point in enumerate(rising(SOME)):
        page.evaluate(f"({slide})({k})")
        assert point.words in page.evaluate("document.querySelector('figcaption').textContent")
        large = page.evaluate(
            "[...document.querySelectorAll('circle')].findIndex(dot => dot.getAttribute('r') === '7')"
        )
        assert SOME[large] == point
