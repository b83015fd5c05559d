"""Every page of the built book in a browser, from disk, as a reader on a desktop or a phone sees it."""

import pytest
from built import OTHERS, pages
from faults import faults, misfits

pytestmark = pytest.mark.book

WINDOWS = {"desktop": 1280, "phone": 390}
SCREENS, SCREEN = 11.5, 900  # what a page may have as it opens, with its answers closed; pixels of a screen
LONGER = {"chapters/engine": 13, "chapters/glossary": 29, "chapters/instructors": 12, "chapters/references": 30}
# What cells show is not counted: how long that is depends on the machine. It comes to two screens at most.
OWN = """document.querySelectorAll('.cell_output, .claim').forEach(e => e.style.display = 'none');
document.querySelector('article').getBoundingClientRect().height"""


@pytest.mark.rotates(by=lambda params: params["name"])
@pytest.mark.parametrize("theme", ["light", "dark"])
@pytest.mark.parametrize("window", WINDOWS)
@pytest.mark.parametrize("name", [*pages(), *OTHERS])
def test_page(name, window, theme, book, browser):
    """No fault; and, in one of the themes, room for what the page shows, and no more of it than can be read at once."""
    width = WINDOWS[window]
    page = browser.open((book / f"{name}.html").as_uri(), width=width, height=SCREEN, dark=theme == "dark")
    found = faults(page, width, theme)
    if theme == "dark" and window == "desktop" and name.startswith("chapters/"):
        found += too_long(page, name)  # last: it hides what cells show
    if theme == "light" and name != "search":
        found += misfits(page)  # opens the answers
    assert not found, f"{name} on a {window}, {theme}:\n" + "\n".join(f"- {name} {fault}" for fault in found)


def too_long(page, name):
    screens = page.evaluate(OWN) / SCREEN
    most = LONGER.get(name, SCREENS)
    return [f"has {screens:.1f} screens of {SCREEN} pixels as it opens; {most} are allowed"] if screens > most else []


def test_search_finds_pages(served, browser):
    page = browser.open(f"{served}/search.html?q=threads")
    page.wait_for("document.querySelectorAll('#search-results li a').length > 0")
    links = page.evaluate("[...document.querySelectorAll('#search-results li a')].map(a => a.textContent)")
    assert any("Threads" in text for text in links), links
    assert not page.errors
    assert not [url for url in page.requests if not url.startswith((served, "data:"))]


def test_search_works_from_disk(book, browser):
    page = browser.open((book / "search.html").as_uri() + "?q=threads")
    page.wait_for("document.querySelectorAll('#search-results li a').length > 0")


# ---- the test of the test: each fault, planted in a small page, must be found ---------------------------

SOUND = (
    '<!doctype html><html data-theme="light"><meta charset="utf-8"><title>T</title>'
    '<meta name="viewport" content="width=device-width, initial-scale=1">'
    "<article><h1>T</h1>{}</article></html>"
)
PLANTED = {
    '<img src="https://example.org/a.png" alt="A plot of two lines">': "asks the network",
    '<img src="missing.png" alt="A plot of two lines">': "a request failed",
    "<script>console.error('broken widget')</script>": "broken widget",
    "<script>nothing.there()</script>": "ReferenceError",
    '<div style="width: 500px">a wide box</div>': "pixels wide",
    r"<p>The time is \(T = n / b\).</p>": "should have been rendered",
    "<p>$$ T = n / b $$</p>": "should have been rendered",
    "<p>See {ref}`peaks`.</p>": "should have been rendered",
    "<table><caption>Recorded with `make bench`</caption></table>": "should have been rendered",
    "<p>:::{note}</p>": "should have been rendered",
    '<span class="math">T = n / b</span>': "MathJax did not set",
    '<span class="math"><mjx-container><svg/></mjx-container></span><mjx-merror>x</mjx-merror>': "MathJax",
    '<img src="data:image/gif;base64,R0lGODlhAQABAAAAACw=">': "without alternative text",
    '<img alt="plots/roofline.png" src="data:image/gif;base64,R0lGODlhAQABAAAAACw=">': "without alternative",
    "<svg><rect/></svg>": "drawing without a title",
    "<h1>Again</h1>": "2 main headings",
}
MISFITS = {
    '<div style="overflow: hidden; width: 90px; white-space: nowrap">A long line of text</div>': "cuts text off",
    '<div style="overflow: auto"><table><tr><td style="min-width: 900px">1</td></tr></table></div>': "a table wider",
    '<pre style="overflow: auto">A long line of what a cell has printed, and which nobody can read at '
    "once</pre>": "scrolls",
}


@pytest.mark.parametrize("fault", PLANTED)
def test_planted_fault_is_found(fault, browser, tmp_path):
    (tmp_path / "page.html").write_text(SOUND.format(fault), encoding="utf-8")
    found = faults(browser.open((tmp_path / "page.html").as_uri(), width=390), 390, "light")
    assert any(PLANTED[fault] in sentence for sentence in found), found


def test_sound_page_has_no_fault(browser, tmp_path):
    good = '<p>Costs $5.</p><pre>\\(</pre><code>`</code><svg><title>Two lines</title></svg><div style="overflow:auto">'
    good += '<div style="width:900px">wide, but scrolls in its own box</div></div>'
    (tmp_path / "page.html").write_text(SOUND.format(good), encoding="utf-8")
    assert faults(browser.open((tmp_path / "page.html").as_uri(), width=390), 390, "light") == []


@pytest.mark.parametrize("fault", MISFITS)
def test_planted_misfit_is_found(fault, browser, tmp_path):
    (tmp_path / "page.html").write_text(SOUND.format(fault), encoding="utf-8")
    found = misfits(browser.open((tmp_path / "page.html").as_uri(), width=390))
    assert any(MISFITS[fault] in sentence for sentence in found), found


def test_long_code_may_scroll(browser, tmp_path):
    code = (
        '<div class="cell_input"><pre style="overflow: auto">a_long_line = of_code(that_nobody, can_break, '
        "anywhere, at_all)</pre></div>"
    )
    (tmp_path / "page.html").write_text(SOUND.format(code), encoding="utf-8")
    assert misfits(browser.open((tmp_path / "page.html").as_uri(), width=390)) == []
