"""Pictures of a cache and of threads that wait: what they say, and that they can be read in any colours."""

import re
from dataclasses import replace
from xml.etree import ElementTree

import pytest

from coursework import checking, definition, feedback, pictures
from coursework.answer import Local

pytestmark = pytest.mark.quick


def row_by_row(n, m):
    return [(i, j) for i in range(n) for j in range(m)]


def drawn(task, answer):
    outcome = checking.check(definition.find(task), answer)
    assert outcome.status == checking.WRONG
    return outcome, outcome.failure.picture


def well_made(picture):
    """The picture is XML with its words for who cannot see it; all colours are the page's, or green and red."""
    tree = ElementTree.fromstring(picture["svg"])
    assert tree.attrib["role"] == "img"
    assert tree[0].text == picture["alt"]
    colours = set(re.findall(r'(?:fill|stroke)="([^"]+)"', picture["svg"]))
    assert colours <= {"currentColor", pictures.GREEN, pictures.RED}
    assert not re.search(r'<text[^>]+fill="#', picture["svg"])  # letters are read in light and dark
    left, right = 0, pictures.WIDTH
    for box in tree.iter("{http://www.w3.org/2000/svg}rect"):
        assert left <= float(box.attrib["x"])
        assert float(box.attrib["x"]) + float(box.attrib["width"]) <= right


def contrast(colour, page):
    def luminance(text):
        parts = [int(text[i : i + 2], 16) / 255 for i in (1, 3, 5)]
        parts = [c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in parts]
        return 0.2126 * parts[0] + 0.7152 * parts[1] + 0.0722 * parts[2]

    low, high = sorted((luminance(colour), luminance(page)))
    return (high + 0.05) / (low + 0.05)


@pytest.mark.parametrize("page", ["#ffffff", "#121212"])
@pytest.mark.parametrize("colour", [pictures.GREEN, pictures.RED])
def test_green_and_red_are_seen_on_light_and_dark(colour, page):
    assert contrast(colour, page) >= 3  # WCAG 2.2, 1.4.11


def test_the_cache_of_an_order_that_walks_down_columns():
    outcome, picture = drawn("04-order", Local(row_by_row))
    well_made(picture)
    # Row 0 of x uses 64 lines of out and 4 of x; 40 fit. Then out[0, 1] needs the first of them again.
    assert "line 0 of row 0 of out is needed again and is no longer in the cache" in picture["alt"]
    assert "Move 65, x[1, 0] to out[0, 1]" in picture["alt"]
    out = next(line for line in picture["text"].splitlines() if line.startswith("out  line 0"))
    marks = out.split()[-1]
    assert (marks[0], marks.count("#"), len(marks)) == ("!", 36, 64)
    x = "".join(line.split()[-1] for line in picture["text"].splitlines() if line.startswith("x "))
    assert marks.count("#") + x.count("#") == 40
    for text in (feedback.as_text(outcome), feedback.as_html(outcome)):
        assert picture["alt"] in text


def test_no_picture_of_a_cache_where_nothing_is_needed_twice():
    moments = [(f"move {k}", (("x", k, 0),)) for k in range(10)]
    assert pictures.cache_of(moments, {"x": (10, 1)}, 4) == {}


def test_predictions_of_a_cache_come_with_a_smaller_one_that_does_not_tell_the_answer():
    questions = definition.find("04-lines").questions
    truth = {q.name: q.truth() for q in questions}
    for name, fetched, found in (("small_cache", 20, 0), ("larger_cache", 10, 10)):
        _, picture = drawn("04-lines", truth | {name: 137})
        well_made(picture)
        assert f"{fetched} of 20 uses fetch their line, {found} find it there" in picture["alt"]
        assert str(truth[name]) not in picture["alt"] + picture["text"]
        marks = "".join(line.split()[-1] for line in picture["text"].splitlines()[:-1])
        assert (marks.count("!"), marks.count("o")) == (fetched, found)


def test_a_ring_is_told_from_a_chain():
    ring = pictures.waiting([("main", pictures.END, "A"), ("A", "lock 2", "B"), ("B", "lock 1", "A")])
    well_made(ring)
    assert ring["alt"] == (
        "main waits for the end of A; A waits for lock 2, which B has; B waits for lock 1, which A has. That is a ring."
    )
    assert ring["svg"].count(pictures.RED) == 2 * 2 + 2 * 3  # two boxes (fill, stroke), two arrows of three lines
    chain = pictures.waiting([("main", pictures.END, "A"), ("A", "changed", "")])
    well_made(chain)
    assert "ring" not in chain["alt"]
    assert pictures.RED not in chain["svg"]
    own = pictures.waiting([("A", "lock", "A")])
    assert own["alt"] == "A waits for lock, which it has. That is a ring."
    assert pictures.waiting([]) == {}


def test_a_deadlock_of_threads_shows_its_ring():
    flaw = next(flaw for flaw in definition.find("02-fails").flaws if flaw.name == "payments")
    task = replace(flaw.judge, cases=(flaw.case(0, 1, 1, 3),))
    outcome = checking.check(task, Local(flaw.wrong, admitted=True))
    picture = outcome.failure.picture
    assert outcome.failure.kind == "deadlock"
    well_made(picture)
    assert picture["table"]
    assert re.search(
        r"A waits for locks\[\d\], which B has; B waits for locks\[\d\], which A has. That is a ring.", picture["alt"]
    )
    text, html = feedback.as_text(outcome), feedback.as_html(outcome)
    assert "--[lock" in text
    assert "step  thread" in text
    assert html.index("<svg") < html.index("class='interleaving'")
