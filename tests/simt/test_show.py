"""Sentences and tables as HTML: what is passed arrives as text, whatever it holds."""

from html.parser import HTMLParser

import pytest

from simt.show import Column, breakable, code, sentence, table

HOSTILE = "</td></table><script>alert('x')</script>\"' onload=\"y\" &amp; &lt; `"


class Page(HTMLParser):
    """The tags, their attributes and the texts between them."""

    def __init__(self, html):
        super().__init__()
        self.tags, self.attributes, self.texts = [], [], []
        self.feed(html)
        self.close()

    def handle_starttag(self, tag, attrs):
        self.tags.append(tag)
        self.attributes += attrs

    def handle_data(self, data):
        self.texts.append(data)


def test_hostile_text_is_escaped_once_wherever_it_stands():
    columns = [Column(HOSTILE, note=HOSTILE), Column("b", code), Column("c", sentence, right=True)]
    page = Page(table(columns, [(HOSTILE, HOSTILE, HOSTILE)], caption=HOSTILE, kind=HOSTILE, style=HOSTILE))
    assert page.tags == ["table", "caption", "thead", "tr", "th", "th", "th", "tbody", "tr", "td", "td", "code", "td"]
    assert page.texts == [HOSTILE, HOSTILE, "b", "c", HOSTILE, HOSTILE, HOSTILE]
    values = [value for name, value in page.attributes if name in ("class", "title") or value == HOSTILE]
    assert values == [HOSTILE] * 3
    assert {name for name, _ in page.attributes} == {"class", "style", "scope", "title"}


def test_code_in_a_sentence_is_escaped_too():
    assert sentence("use `a<b` & `c`") == "use <code>a&lt;b</code> &amp; <code>c</code>"
    assert sentence("an `odd` one `") == "an `odd` one `"
    assert "<caption>by <code>a&lt;b</code></caption>" in table([Column("n")], [(1,)], caption="by `a<b`")
    assert code("a<b`") == "<code>a&lt;b`</code>"


def test_a_table_without_headings_is_rows_only():
    assert table((Column(), Column(right=True)), [("a", 1)]) == (
        "<table><tr><td>a</td><td style='text-align:right'>1</td></tr></table>"
    )


def test_a_wide_table_scrolls_in_a_box():
    html = table([Column("n", kind="l", right=True, style="padding:0")], [(1,), (2,)], caption="two", scroll=True)
    assert html == (
        "<div style='overflow-x:auto' tabindex='0'><table><caption>two</caption>"
        "<thead><tr><th scope='col' class='l' style='padding:0;text-align:right'>n</th></tr></thead>"
        "<tbody><tr><td class='l' style='padding:0;text-align:right'>1</td></tr>"
        "<tr><td class='l' style='padding:0;text-align:right'>2</td></tr></tbody></table></div>"
    )


def test_a_row_must_fit_the_columns():
    with pytest.raises(ValueError, match="zip"):
        table([Column("a")], [("1", "2")])


def test_long_names_may_be_broken_and_numbers_not():
    assert breakable("l1tex__t_requests < 1.25") == "l1tex__<wbr>t_<wbr>requests &lt; 1.25"
    assert breakable("lib/simt/show.py:12") == "lib/<wbr>simt/<wbr>show.py:12"
    assert breakable("matmul_naive") == "matmul_naive"
