"""The glossary's data against the pages and the libraries that they name; the page, the index, the search and the cards
in a browser."""

import importlib
import json
import re
import sys
from collections import Counter

import axe
import pytest
from built import ROOT

sys.path.insert(0, str(ROOT / "_ext"))
import glossary

TERMS = glossary.terms()
KEYS = {"term", "forms", "chinese", "says", "page", "on", *glossary.ELSEWHERE}
# Names of OpenCL that are in none of our kernels and pages: OpenCL API 3.0 section 5.1, OpenCL C 3.0 section 6.15.11,
# and the extension cl_khr_subgroup_shuffle_relative
SPECIFIED = {"clCreateCommandQueueWithProperties", "async_work_group_copy", "sub_group_shuffle_down"}


def forms(term):
    return [term["term"], *term.get("forms", ())]


def found_in(term, text):
    text = " ".join(re.sub(r"[*`]", "", text).lower().split())
    stand = (form.lower() for form in forms(term) if form.lower() in text)
    return any(re.search(rf"(?<!\w){re.escape(form)}(?:s|es)?(?!\w)", text) for form in stand)


def code(term, language):
    return re.findall(r"`([^`]+)`", term.get(language, ""))


def faults(terms):
    """Sentences, one for each fault of the data that needs no other file but the pages."""
    stems = [path.stem for path in (ROOT / "chapters").glob("*.md")]
    words = [word.lower() for term in terms for word in (*forms(term), *term["chinese"])]
    yield from (f"{word} stands there twice" for word, count in Counter(words).items() if count > 1)
    for term in terms:
        name = term["term"]
        yield from (f"{name}: there is no key {key}" for key in term.keys() - KEYS)
        if not term["chinese"] or any(word.isascii() for word in term["chinese"]):
            yield f"{name} has no Chinese word"
        if not re.fullmatch(r"[^\n]+\.", term["says"]) or ". " in term["says"]:
            yield f"{name}: not one sentence: {term['says']}"
        page, anchor = term["page"].split("#")
        text = dict(glossary.sections(f"chapters/{page}")).get(anchor)
        if text is None:
            yield f"{name}: {page}.md has no section {anchor}"
        elif not found_in(term, text):
            yield f"{name} does not occur in the section {anchor} of {page}.md"
        yield from (
            f"{name}: no page begins with {on}" for on in term.get("on", ()) if not any(s.startswith(on) for s in stems)
        )


@pytest.mark.quick
def test_each_term_stands_in_the_section_that_teaches_it():
    assert list(faults(TERMS)) == []


@pytest.mark.quick
@pytest.mark.parametrize(
    ("change", "fault"),
    [
        ({"page": "06_banks#33-banks"}, "has no section"),
        ({"page": "06_banks#further-reading"}, "does not occur"),
        ({"forms": ["warp"]}, "stands there twice"),
        ({"chinese": ["bank"]}, "no Chinese word"),
        ({"says": "One. Two."}, "not one sentence"),
        ({"metal": "x"}, "no key metal"),
        ({"on": ["18"]}, "no page begins with 18"),
    ],
)
def test_a_planted_fault_is_found(change, fault):
    two = {term["term"]: term for term in TERMS if term["term"] in ("swizzle", "warp")}
    assert any(fault in sentence for sentence in faults([two["warp"], {**two["swizzle"], **change}]))


@pytest.mark.quick
def test_the_index_has_each_operation_at_a_section_that_is_there():
    entries = [(entry, page, anchor) for page, own in glossary.places().items() for entry, anchor in own]
    missing = {f"{name} (operation)" for name in glossary.operations()} - {entry for entry, *_ in entries}
    assert not missing, f"name in chapters/glossary.toml what teaches {missing}"
    assert [entry for entry in entries if entry[2] not in dict(glossary.sections(entry[1]))] == []
    given = glossary.data()["operations"].keys() - glossary.operations()
    assert not given, f"dlkernels has no {given}"


@pytest.mark.quick
def test_words_of_opencl_are_in_our_kernels():
    files = [
        *(ROOT / "lib/opencl").rglob("*.cl"),
        *(ROOT / "lib/opencl").rglob("*.py"),
        *(ROOT / "chapters").glob("16_*.md"),
    ]
    known = set(
        re.findall(r"\w+", " ".join(path.read_text(encoding="utf-8") for path in [*files, ROOT / "chapters/tools.md"]))
    )
    words = {word for term in TERMS for part in code(term, "opencl") for word in re.findall(r"[A-Za-z_]\w+", part)}
    assert words - known == SPECIFIED


def test_words_of_numba_are_in_numba():
    import numba

    modules = {"numba": numba, "cuda": pytest.importorskip("numba.cuda")}
    for term in TERMS:
        for part in code(term, "numba"):
            first, *rest = re.match(r"@?([\w.]+)", part)[1].split(".")
            if part != "s += x":
                found = modules.get(first) or getattr(numba, first)
                for name in rest:
                    found = getattr(found, name)


def test_words_of_pytorch_are_in_pytorch():
    torch = pytest.importorskip("torch")
    for term in TERMS:
        for name in (name for name in code(term, "pytorch") if name.startswith("torch.")):
            found, path = torch, "torch"
            for part in name.split(".")[1:]:
                path += f".{part}"
                found = getattr(found, part) if hasattr(found, part) else importlib.import_module(path)


PAGE = "chapters/06_banks"
MARKED = "[...document.querySelectorAll('a.glossary-term')]"
CARD = "document.querySelector('#glossary-card')"


def link(form):
    return f"{MARKED}.find(a => a.textContent === {form!r})"


@pytest.mark.book
@pytest.mark.parametrize("dark", [False, True])
def test_a_card_over_a_term(dark, book, browser):
    page = browser.open((book / f"{PAGE}.html").as_uri(), width=390 if dark else 1280, dark=dark)
    shown = page.evaluate(f"{MARKED}.map(a => a.textContent.toLowerCase().replace(/s$/, ''))")
    assert len(shown) == len(set(shown)) > 10
    inside = "h1, h2, h3, pre, code, table, figcaption, caption, .math, mjx-container, .cell"
    assert not page.evaluate(f"{MARKED}.some(a => a.closest('{inside}') || a.parentElement.closest('a'))")
    before = page.evaluate("document.querySelector('article').getBoundingClientRect().height")
    page.evaluate(f"{link('bank conflict')}.focus()")
    text = page.evaluate(f"{CARD}.innerText")
    term = next(term for term in TERMS if term["term"] == "bank conflict")
    assert all(part in text for part in (term["says"], *term["chinese"]))
    assert page.evaluate(f"{link('bank conflict')}.getAttribute('aria-describedby')") == "glossary-card"
    assert page.evaluate("document.querySelector('article').getBoundingClientRect().height") == before
    inside = (
        "(r => r.left >= 0 && r.right <= innerWidth && r.top >= 0 && r.bottom <= "
        f"innerHeight)({CARD}.getBoundingClientRect())"
    )
    assert page.evaluate(
        f"{link('bank conflict')}.scrollIntoView({{block: 'center'}}), new Promise(requestAnimationFrame).then(() => "
        f"{inside})"
    )
    assert not page.errors
    page.evaluate(axe.script())
    assert json.loads(page.evaluate(axe.RUN.replace("document", "'#glossary-card'"))) == []  # of the page: test_axe.py
    page.evaluate(f"{CARD}.querySelector('a').focus()")
    assert page.evaluate(f"!!{CARD}")  # what is in the card can be reached
    page.evaluate("document.activeElement.dispatchEvent(new KeyboardEvent('keydown', {key: 'Escape', bubbles: true}))")
    assert page.evaluate(f"!{CARD} && document.activeElement === {link('bank conflict')}")


@pytest.mark.book
def test_marks_move_nothing(book, browser):
    page = browser.open((book / f"{PAGE}.html").as_uri(), width=390)
    height = "document.querySelector('article').getBoundingClientRect().height"
    with_marks = page.evaluate(height)
    page.evaluate(f"{MARKED}.forEach(a => a.replaceWith(...a.childNodes))")
    assert page.evaluate(height) == with_marks


def pointer(browser, kind, link, page, **params):
    place = page.evaluate(f"(r => [r.left + r.width / 2, r.top + r.height / 2])({link}.getClientRects()[0])")
    browser.call(kind, browser.session, x=place[0], y=place[1], **params)


@pytest.mark.book
def test_the_mouse_reaches_the_card_and_leaves_it(book, browser):
    page = browser.open((book / f"{PAGE}.html").as_uri())
    page.evaluate(f"{link('bank conflict')}.scrollIntoView({{block: 'center'}})")
    pointer(browser, "Input.dispatchMouseEvent", link("bank conflict"), page, type="mouseMoved")
    page.wait_for(f"!!{CARD}")
    pointer(browser, "Input.dispatchMouseEvent", CARD, page, type="mouseMoved")
    assert page.evaluate(f"new Promise(done => setTimeout(done, 600)).then(() => !!{CARD})")
    browser.call("Input.dispatchMouseEvent", browser.session, type="mouseMoved", x=2, y=2)
    page.wait_for(f"!{CARD}")


@pytest.mark.book
def test_a_tap_shows_the_card_and_stays_on_the_page(book, browser):
    page = browser.open((book / f"{PAGE}.html").as_uri(), width=390)
    page.evaluate(f"{link('bank conflict')}.scrollIntoView({{block: 'center'}})")
    page.evaluate(
        f"{link('bank conflict')}.dispatchEvent(new PointerEvent('pointerdown', {{pointerType: 'touch', bubbles: "
        f"true}}))"
    )
    page.evaluate(f"{link('bank conflict')}.click()")
    assert page.evaluate(f"new Promise(done => setTimeout(done, 200)).then(() => !!{CARD})")
    assert page.evaluate("location.pathname").endswith(f"{PAGE}.html")


@pytest.mark.book
@pytest.mark.parametrize("query", ["bank conflict", "存储体冲突", "bank冲突", "库冲突", "合并访存", "线程束", "KV缓存"])
def test_search_leads_to_the_glossary_and_to_the_page(query, book, browser):
    """From disk, where a script may load nothing else."""
    term = next(term for term in TERMS if query in (*forms(term), *term["chinese"]))
    page = browser.open((book / "search.html").as_uri() + f"?q={query}")
    page.wait_for("document.querySelectorAll('#search-results li a').length > 1")
    first = page.evaluate(
        "[...document.querySelectorAll('#search-results li a')].slice(0, 4).map(a => a.getAttribute('href'))"
    )
    assert any(address.startswith("chapters/glossary.html#term-") for address in first), first
    assert any(address.startswith(f"chapters/{term['page'].split('#')[0]}.html#") for address in first), first
