"""Slides are made of the pages: each section, question, claim, drawing and listing as often as the source has it."""

import re
import sys

import pytest
from built import ROOT

sys.path.insert(0, str(ROOT / "_ext"))
import slides

PAGE = """<article><section id="top"><h1>8 A page<a class="headerlink">#</a></h1>
<div class="tip admonition"><p class="admonition-title">After this page you can</p><ul><li><p>count.</p></li></ul></div>
<p>Not said.</p>
<section><h2>The ladder</h2>
<p>A plain sentence. A <strong>rung</strong> adds one idea. Another one.</p>
<figure class="drawing"><svg><use href="#a"/></svg></figure><script>moves()</script>
<div class="highlight-python"><pre>for i in x: pass</pre></div><p class="source-place"><code>lib/a.py:1</code></p>
<div class="admonition predict"><p class="admonition-title">Predict</p><p>How much?</p>
<form class="predict-form"><fieldset><label><input/> 1</label><label><input/> 2</label></fieldset></form></div>
<details class="predict-answer"><summary>Answer</summary><div class="cell"><div class="cell_input"><pre>def f(): pass</pre></div>
<div class="cell_output"><img src="../_images/a.png"/></div></div></details>
<div class="seealso admonition"><p class="admonition-title">Claim, tested</p><p><em>So.</em> <strong>No</strong>.</p></div>
<details class="sd-dropdown"><summary>More</summary><figure>hidden</figure></details>
<section><h3>Rung 1</h3><p>It is <a href="other.html#x">here</a>. And there.</p></section></section>
<section><h2>The rungs</h2><table class="rungs"><tbody>%s</tbody></table></section>
<section><h2>What to remember</h2><ol><li><p>One.</p></li><li><p>Two.</p></li></ol></section>
<section><h2>Exercises</h2><p>Do <strong>them</strong>.</p></section></section></article>"""


@pytest.fixture(scope="module")
def made():
    return slides.slides(PAGE % "".join(f"<tr><td>{k}</td></tr>" for k in range(2 * slides.ROWS + 1)))


@pytest.mark.quick
def test_each_part_of_a_page_is_on_one_slide(made):
    kinds = [(slide.kind, slide.heading) for slide in made]
    assert kinds == [
        ("title", "8 A page"),
        ("figure", "The ladder"),
        ("predict", "The ladder"),  # beside the code before it
        ("figure", "The ladder"),
        ("claim", "The ladder"),
        ("points", "Rung 1"),
        ("ladder", "The rungs"),
        ("ladder", "The rungs"),
        ("ladder", "The rungs"),
        ("points", "What to remember"),
    ]
    assert made[1].points == ["A <strong>rung</strong> adds one idea."]
    assert "moves()" in made[1].body
    assert made[2].question == "<p>How much?</p>\n<p>1 | 2</p>"
    assert "for i in x" in made[2].body
    assert made[5].points == ['It is <a href="other.html#x">here</a>.']
    assert made[9].points == ["<p>One.</p>", "<p>Two.</p>"]
    assert "Not said." in made[0].notes
    assert "Another one." in made[1].notes
    assert [slide.body.count("<tr>") for slide in made[6:9]] == [slides.ROWS, slides.ROWS, 1]


@pytest.mark.quick
def test_a_deck_leads_to_the_book_and_nowhere_else(made):
    text = slides.deck("08_page", made)
    assert 'href="../chapters/other.html#x"' in text
    assert 'src="../_images/a.png"' in text
    assert '<use href="#a">' in text.replace("/>", ">")
    assert not re.search(r'(?:href|src)="(?:https?:)?//', text)
    assert text.count("<section") == len(made)


def source_counts(page):
    """What the source of a page says that its deck must have."""
    text = (ROOT / "chapters" / f"{page}.md").read_text(encoding="utf-8")
    prose = re.sub(r"^(`{3,})\{code-cell\}.*?^\1$", "", text, flags=re.DOTALL | re.MULTILINE)
    headings = re.findall(r"^#{1,3} (.+)$", prose, re.MULTILINE)
    return {
        "headings": sum(one not in slides.LEFT_OUT for one in headings),
        "questions": text.count("```{predict}"),
        "claims": text.count("{admonition} Claim, tested"),
        "drawings": len(re.findall(r":file: \.\./_static/[\w-]+\.(?:html|svg)", text)),
    }


@pytest.mark.parametrize("page", ["08_matmul", "02_waiting"])
def test_the_slides_of_a_chapter_have_all_that_its_source_has(book, page):
    html = (book / "chapters" / f"{page}.html").read_text(encoding="utf-8")
    found = slides.slides(html)
    bodies = " ".join(slide.body for slide in found)
    assert source_counts(page) == {
        "headings": len(dict.fromkeys(slide.heading for slide in found)),
        "questions": sum(bool(slide.question) for slide in found),
        "claims": sum(slide.kind == "claim" for slide in found),
        "drawings": bodies.count('class="drawing'),
    }
    if "live-note" not in html:  # it was run: what the cells draw is there
        drawn = sum("<svg" in slide.body and 'class="drawing' not in slide.body for slide in found)
        assert drawn == (ROOT / "chapters" / f"{page}.md").read_text(encoding="utf-8").count("figures.show(")
        assert any(slide.kind == "ladder" for slide in found) == (page == "08_matmul")
