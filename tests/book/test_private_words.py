"""The field's word stands where this book had one of its own: the list is private_words.toml, the table
docs/WRITING.md's."""

import re
import tomllib

import numbers_in_prose
import pytest
from built import ROOT, pages

pytestmark = pytest.mark.quick

WORDS = tomllib.loads((ROOT / "tests/book/private_words.toml").read_text(encoding="utf-8"))["word"]
CHAPTERS = [name for name in pages() if (ROOT / f"{name}.md").exists()]


def found(word, text):
    """The sentences of a page in which a private word stands."""
    headings = re.findall(r"^#+ (.*)$", re.sub(r"^(`{3,})\{code-cell.*?^\1$", "", text, flags=re.DOTALL | re.M), re.M)
    paragraphs = [*headings, *numbers_in_prose.prose_and_code(text)[0]]
    for quiet in (r"`[^`]*`", r"(?<=\])\([^)]*\)"):  # code, and where links lead
        paragraphs = [re.sub(quiet, "``", paragraph) for paragraph in paragraphs]
    sentences = [sentence for paragraph in paragraphs for sentence in numbers_in_prose.sentences(paragraph)]
    return [sentence for sentence in sentences if re.search(word["find"], sentence, re.IGNORECASE)]


@pytest.mark.parametrize("name", CHAPTERS)
def test_the_fields_word_is_used(name):
    text = (ROOT / f"{name}.md").read_text(encoding="utf-8")
    wrong, done = [], []
    for word in WORDS:
        sentences = found(word, text)
        if name not in word["to_do"]:
            wrong += [f"{word['private']} -> {word['term']}\n    {sentence}" for sentence in sentences]
        elif not sentences:
            done.append(word["private"])
    assert not wrong, f"{name} has words of its own for what the field has a term for:\n" + "\n".join(wrong)
    assert not done, f"{name} is done: strike it from tests/book/private_words.toml under {', '.join(done)}"


def test_the_table_for_writers_has_these_words():
    rows = re.findall(r"^\| ([\w ,]+) \| (.+) \|$", (ROOT / "docs/WRITING.md").read_text(encoding="utf-8"), re.M)
    assert [(word["private"], word["term"]) for word in WORDS] == [
        row for row in rows if row[0] in {w["private"] for w in WORDS}
    ]


@pytest.mark.parametrize(
    "sentence",
    [
        "The way back takes longer.",
        "A lane takes a place of its own.",
        "Each hop goes to L2.",
        "There is no room for it.",
        "Rows are shared evenly out.",
        "Softmax gives a larger share to it.",
        "Nobody loaded it.",
        "No length is told.",
    ],
)
def test_a_private_word_is_found(sentence):
    assert any(found(word, f"---\nx: 1\n---\n\n{sentence}\n") for word in WORDS), sentence


@pytest.mark.parametrize(
    "sentence",
    [
        "We add in place.",
        "One load in place of two, in the place of three.",
        "It takes place later, and we place a point under the roof.",
        "A share of PyTorch's speed; threads share memory.",
        "A thread in a waiting room.",
        "`room` and `place` are names.",
        "```{code-cell} ipython3\nroom = 1  # no room\n```",
    ],
)
def test_a_plain_word_is_not(sentence):
    assert not [word["private"] for word in WORDS if found(word, f"---\nx: 1\n---\n\n{sentence}\n")]
