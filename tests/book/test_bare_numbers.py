"""No number in the text that nobody can trace: the page's code has it, a source is cited, or numbers.toml says why."""

import numbers_in_prose as numbers
import pytest
from built import ROOT, pages

pytestmark = pytest.mark.quick

CHAPTERS = [name for name in pages() if (ROOT / f"{name}.md").exists()]


@pytest.mark.parametrize("name", CHAPTERS)
def test_every_number_can_be_traced(name):
    known = numbers.allowed()
    text = (ROOT / f"{name}.md").read_text(encoding="utf-8")
    new = [sentence for sentence in numbers.bare(text) if not known.get((name, sentence))]
    assert not new, (
        f"{len(new)} sentences of {name} have a number that no code of the page, no source and no record vouches for. "
        "Let a cell print or assert it, cite a source, or put the sentence into tests/book/numbers.toml with the "
        "reason:\n\n" + "\n".join(numbers.entry(name, sentence) for sentence in new)
    )


def test_no_reason_is_left_of_a_sentence_that_is_gone():
    texts = {name: numbers.bare((ROOT / f"{name}.md").read_text(encoding="utf-8")) for name in CHAPTERS}
    gone = [f"{page}: {text}" for page, text in numbers.allowed() if text not in texts.get(page, [])]
    assert not gone, "in tests/book/numbers.toml, but no longer on the page:\n" + "\n".join(gone)


PAGE = """---
kernelspec: {{name: python3}}
---
# Title 99

{}

```{{code-cell}} ipython3
n = 4096
assert ratio == 8 and (
    ways == 32)
print(55)
```
"""


@pytest.mark.parametrize(
    "sentence",
    [
        "It is 3.7 times faster.",
        "The loop reaches 82 % of the roof.",
        "It needs 17 registers.",
        "We run it on 4096 elements, which takes 12 ms.",
        "It is 55 times slower.",  # 55 stands in the code, but no assertion holds it
        "```{note}\nIt takes 17 turns.\n```",
        "- One.\n- It takes 17 turns.",
        "| a | 17 turns |\n|---|---|\n| b | c |",
    ],
)
def test_a_bare_number_is_found(sentence):
    assert len(numbers.bare(PAGE.format(sentence))) == 1


@pytest.mark.parametrize(
    "sentence",
    [
        "It is 8 times faster, with 32 ways.",
        "We run it on 4096 elements of float32, on sm_80 with AVX-512.",
        "A product of 1024 × 1024 matrices, as in chapter 7 and 2-D grids.",
        "In 2008 they wrote Python 3.13 for an A100.",
        "It reached 3.7 times that {cite:p}`someone2020`.",
        "The recorded run shows 3.7 times.",
        "It costs `17` and $17 n$ and\n\n$$ 17 + 4 $$",
        "1. First.\n2. Second.",
        "## 17 things",
        "```python\nx = 17\n```",
        "```{literalinclude} a.py\n:lines: 17\n```",
    ],
)
def test_a_number_that_is_vouched_for_is_not(sentence):
    assert numbers.bare(PAGE.format(sentence)) == []


def test_what_to_paste_is_read_again(tmp_path, monkeypatch):
    text = numbers.entry("chapters/x", 'It is "3.7" \\ times faster.').replace('why = ""', 'why = "because"')
    (tmp_path / "numbers.toml").write_text(text, encoding="utf-8")
    monkeypatch.setattr(numbers, "LIST", tmp_path / "numbers.toml")
    assert numbers.allowed() == {("chapters/x", 'It is "3.7" \\ times faster.'): "because"}
