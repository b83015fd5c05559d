"""The figure style and `figures.show`: readable on white, on the dark page and in grey, with alt text."""

import base64
import io
import itertools
import re
import types
import xml.etree.ElementTree as ElementTree

import matplotlib
import numpy as np
import pytest
from matplotlib import pyplot as plt
from matplotlib.colors import to_rgb

from cpulab import figures

pytestmark = pytest.mark.quick

PAGES = {"light": "#ffffff", "dark": "#121212"}


def luminance(colour):
    """Relative luminance as WCAG 2 defines it, 0 (black) to 1 (white)."""
    linear = [c / 12.92 if c <= 0.03928 else ((c + 0.055) / 1.055) ** 2.4 for c in to_rgb(colour)]
    return float(np.dot(linear, [0.2126, 0.7152, 0.0722]))


def contrast(a, b):
    low, high = sorted((luminance(a), luminance(b)))
    return (high + 0.05) / (low + 0.05)


def cycle():
    with plt.style.context(figures.STYLE):
        return list(matplotlib.rcParams["axes.prop_cycle"])


def draw():
    fig, ax = figures.subplots()
    ax.plot([1, 10, 100], [1, 2, 3], label="rung")
    ax.set_xscale("log")
    ax.legend()
    return fig


@pytest.fixture(autouse=True)
def restore_matplotlib():
    with matplotlib.rc_context():
        yield
    plt.close("all")


@pytest.mark.parametrize("page", PAGES)
def test_lines_stand_out_from_the_page(page):
    for line in cycle():
        assert contrast(line["color"], PAGES[page]) >= 3, f"{line['color']} is too faint on the {page} page"


def test_lines_differ_without_colour():
    for key in ("marker", "linestyle", "color"):
        values = [str(line[key]) for line in cycle()]
        assert len(set(values)) == len(values), f"two lines of the cycle share a {key}"


def test_svg_follows_the_page_and_carries_its_alt_text():
    html = figures.to_html(draw(), 'The ratio grows, from "small" to large arrays.')
    root = ElementTree.fromstring(html)
    assert root.get("role") == "img"
    assert root.get("aria-label") == 'The ratio grows, from "small" to large arrays.'
    assert "currentColor" in html
    assert figures.INK not in html, "the ink is fixed somewhere: it would vanish on a dark page"
    assert not re.search(r"#ffffff|#000000|: white|: black", html), "a fixed white or black does not follow the page"


def test_images_have_more_pixels_than_the_page_shows():
    fig, ax = figures.subplots(figsize=(3, 3))
    ax.imshow(np.eye(8))
    image = re.search('<image[^>]*base64,([^"]+)', figures.to_html(fig, "A diagonal of eight.").replace("\n", ""))[1]
    pixels = plt.imread(io.BytesIO(base64.b64decode(image))).shape[1]
    box = ax.get_position()
    assert pixels > box.width * 3 * figures.PIXELS_PER_INCH


def test_ids_of_two_figures_never_meet():
    first, second = (figures.to_html(draw(), f"Figure number {i} of two.") for i in (1, 2))
    ids, others = (set(re.findall(r'\bid="([^"]+)"', html)) for html in (first, second))
    assert ids
    assert not ids & others
    used = set(re.findall(r'(?:href="#|url\(#)([^")]+)', first))
    assert used
    assert used <= ids


def test_same_figure_gives_same_bytes():
    first, second = (figures.to_html(draw(), "The same figure twice.") for _ in range(2))
    assert first == second


@pytest.mark.parametrize("alt", ["", "plot.png", None, "a figure"])
def test_alt_text_must_say_something(alt):
    with pytest.raises(ValueError, match="expected a sentence"):
        figures.to_html(draw(), alt)


def test_show_displays_html_and_closes(monkeypatch):
    figure, shown = draw(), []
    monkeypatch.setattr(figures, "display", lambda bundle, raw: shown.append(bundle))
    figures.show(figure, alt="One line going up.")
    assert shown[0]["text/plain"] == "[Figure: One line going up.]"
    assert shown[0]["text/html"].startswith("<svg")
    assert not plt.fignum_exists(figure.number)


def test_a_legend_that_took_long_is_no_warning(monkeypatch, recwarn):
    """On a busy machine it would be one of the page, and fail the build."""
    clock = itertools.count(step=5)
    monkeypatch.setattr("matplotlib.legend.time", types.SimpleNamespace(perf_counter=lambda: next(clock)))
    fig, ax = figures.subplots()
    ax.plot([1, 2, 3], label="a line")
    ax.legend()
    figures.to_html(fig, "A line from one to three.")
    plt.close(fig)
    assert next(clock) > 5
    assert not [warning.message for warning in recwarn]
