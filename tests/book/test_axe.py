"""Every page of the built book under axe-core: readers with a screen reader, with a keyboard, with weak eyes."""

import pytest
from axe import violations
from built import OTHERS, pages

pytestmark = pytest.mark.book

VIEWS = {"desktop, light": (1280, False), "phone, dark": (390, True)}


@pytest.mark.rotates(by=lambda params: params["view"])
@pytest.mark.parametrize("view", VIEWS)
@pytest.mark.parametrize("name", [*pages(), *OTHERS])
def test_page_has_no_barrier(name, view, book, browser):
    width, dark = VIEWS[view]
    found = violations(browser.open((book / f"{name}.html").as_uri(), width=width, dark=dark))
    assert not found, f"{name}, {view}:\n" + "\n".join(found)


SOUND = (
    '<!doctype html><html lang="en"><meta charset="utf-8"><title>T</title>'
    '<meta name="viewport" content="width=device-width, initial-scale=1">'
    '<body style="background: white; color: black"><main><h1>T</h1>{}</main></body></html>'
)
PLANTED = {
    '<p style="color: #aaa">Faint</p>': "color-contrast",
    '<img src="data:image/gif;base64,R0lGODlhAQABAAAAACw=">': "image-alt",
    "<button></button>": "button-name",
    '<input type="text">': "label",
    '<a href="#x"></a>': "link-name",
    "<h4>Too deep</h4>": "heading-order",
    '<div style="overflow: auto; width: 50px; height: 20px"><p style="width: 900px">A long line</p></div>':
        "scrollable-region-focusable",
    "<table><tr><th></th></tr><tr><td>1</td></tr></table>": "empty-table-header",
}  # fmt: skip


@pytest.mark.parametrize("fault", PLANTED)
def test_planted_barrier_is_found(fault, browser, tmp_path):
    (tmp_path / "page.html").write_text(SOUND.format(fault), encoding="utf-8")
    found = violations(browser.open((tmp_path / "page.html").as_uri(), width=390))
    assert any(sentence.startswith(PLANTED[fault]) for sentence in found), found


def test_sound_page_has_no_barrier(browser, tmp_path):
    (tmp_path / "page.html").write_text(SOUND.format("<h2>U</h2><p>Text</p>"), encoding="utf-8")
    assert violations(browser.open((tmp_path / "page.html").as_uri(), width=390)) == []
