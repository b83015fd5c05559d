"""Questions that wait for a guess: on a page with and without JavaScript, by keyboard, in a downloaded notebook."""

import re
import subprocess
import sys
from fractions import Fraction

import nbformat
import numpy as np
import pytest
from built import ROOT

from cpulab import predictions

sys.path.insert(0, str(ROOT / "_ext"))
from chapter_notebook import plain_notebook

CONF = f"""
import sys
sys.path.insert(0, {str(ROOT / "_ext")!r})
extensions = ["myst_nb", "predict"]
html_static_path = [{str(ROOT / "_static")!r}]
html_css_files, html_js_files = ["book.css"], ["predict.js"]
nb_execution_mode = "force"
nb_execution_timeout = 600
"""
HEADER = """---
file_format: mystnb
kernelspec:
  name: python3
---
"""
PAGE = f"""{HEADER}
# Guessing

## How long

```{{predict}} steps
:unit: times as long
How much longer?
```

```{{code-cell}} ipython3
print("measured", 6 * 7)
```

Between the two.

```{{code-cell}} ipython3
from cpulab.predictions import answer
answer("steps", 42)
```

It speaks of the answer.

The end:

## What bounds it

```{{predict}} bound
:choices: arithmetic | memory "alone"
Which?
```

```{{code-cell}} ipython3
answer("bound", 'memory "alone"')
```
"""


def build(folder, text):
    (folder / "conf.py").write_text(CONF)
    (folder / "index.md").write_text(text)
    command = [sys.executable, "-m", "sphinx", "-q", "-b", "html", folder, folder / "out"]
    return subprocess.run(command, capture_output=True, text=True)


@pytest.fixture(scope="module")
def page(tmp_path_factory):
    folder = tmp_path_factory.mktemp("predict")
    done = build(folder, PAGE)
    assert not done.stderr, done.stderr
    return folder / "out" / "index.html"


def details(name):
    return f"document.querySelector('details[data-name={name}]')"


def form(name):
    return f"document.querySelector('form[data-name={name}]')"


VERDICT = "document.querySelector('.predict[data-name={}] .predict-verdict').textContent"


def test_what_follows_is_closed_to_its_answer(page):
    """Without JavaScript: a closed `details` that holds all from the question to the answer, and no dead form."""
    text = page.read_text()
    closed = re.findall(r'<details class="predict-answer".*?</details>', text, re.S)
    assert len(closed) == 2
    assert "measured" in closed[0]
    assert "Between the two." in closed[0]
    assert "The answer: 42" in closed[0]
    assert "It speaks of the answer." in closed[0]
    assert "The end" not in closed[0]
    assert text.count('<form class="predict-form" hidden') == 2


@pytest.mark.parametrize(
    ("typed", "said"),
    [
        ("5", "You said 5; it is 42: 8.4 times too little."),
        ("1,000", "You said 1,000; it is 42: 24 times too much."),
        ("1,5", "You said 1.5; it is 42: 28 times too little."),
        ("0,125", "You said 0.125; it is 42: 340 times too little."),
        ("45x", "You said 45; it is 42: right, to within a tenth."),
        ("-3", "You said -3; it is 42."),
        ("0", "You said 0; it is 42."),
    ],
)
def test_a_number_is_judged_as_in_a_notebook(page, browser, typed, said):
    opened = browser.open(page.as_uri(), width=390)
    opened.evaluate("sessionStorage.clear()")
    opened = browser.open(page.as_uri(), width=390)
    assert not opened.evaluate(f"{details('steps')}.open")
    opened.evaluate(f"{form('steps')}.elements.guess.value = {typed!r}; {form('steps')}.requestSubmit()")
    assert opened.evaluate(f"{details('steps')}.open")
    assert opened.evaluate(VERDICT.format("steps")) == said
    assert not opened.evaluate(f"{details('bound')}.open"), "the other question was answered, too"
    number = {"1,000": 1000, "1,5": 1.5, "0,125": 0.125, "45x": 45}.get(typed) or int(typed)
    assert predictions.verdict(number, 42) == said
    again = browser.open(page.as_uri(), width=390)
    assert again.evaluate(VERDICT.format("steps")) == said, "the guess was forgotten"


def test_what_is_no_number_opens_nothing(page, browser):
    opened = browser.open(page.as_uri())
    opened.evaluate("sessionStorage.clear()")
    opened = browser.open(page.as_uri())
    opened.evaluate(f"{form('steps')}.elements.guess.value = 'many'; {form('steps')}.requestSubmit()")
    assert not opened.evaluate(f"{details('steps')}.open")
    assert "Type a number" in opened.evaluate(VERDICT.format("steps"))
    opened.evaluate(f"{form('steps')}.querySelector('.predict-skip').click()")
    assert opened.evaluate(f"{details('steps')}.open")
    assert opened.evaluate(f"{form('steps')}.hidden")


def test_a_choice(page, browser):
    opened = browser.open(page.as_uri())
    opened.evaluate(f"{form('bound')}.querySelectorAll('input')[1].click(); {form('bound')}.requestSubmit()")
    assert opened.evaluate(VERDICT.format("bound")) == 'Right: memory "alone".'
    assert not opened.errors


def test_an_answer_is_shown_with_the_unit_of_its_question(page, browser):
    opened = browser.open(page.as_uri())
    opened.evaluate("sessionStorage.clear()")
    opened = browser.open(page.as_uri())
    opened.evaluate(f"{form('steps')}.elements.guess.value = '5'; {form('steps')}.requestSubmit()")
    shown = "document.querySelector('p.prediction[data-name={}]').innerText"
    assert opened.evaluate(shown.format("steps")) == "The answer: 42 times as long"
    opened.evaluate(f"{form('bound')}.querySelector('.predict-skip').click()")
    assert opened.evaluate(shown.format("bound")) == 'The answer: memory "alone"'  # a choice has none


def test_one_is_not_said_with_a_plural(tmp_path, browser):
    text = HEADER
    for k, unit in enumerate(("barriers", "times as long", "ms", "% of all")):
        text += f"\n# Q{k}\n\n```{{predict}} q{k}\n:unit: {unit}\nHow many?\n```\n\n"
        text += f"```{{code-cell}} ipython3\nfrom cpulab.predictions import answer\nanswer('q{k}', 1)\n```\n"
    done = build(tmp_path, text)
    assert not done.stderr, done.stderr
    opened = browser.open((tmp_path / "out" / "index.html").as_uri())
    said = "[...document.querySelectorAll('p.prediction')].map(p => p.textContent)"
    assert opened.evaluate(said) == [f"The answer: 1 {unit}" for unit in ("barrier", "times as long", "ms", "% of all")]


def test_a_question_without_an_answer_fails_the_build(tmp_path):
    done = build(tmp_path, f"{HEADER}\n# T\n\n```{{predict}} lost\nHow many?\n```\n\n## Next\n\nText.\n")
    assert "the question 'lost' has no answer in its section" in done.stderr


def test_two_questions_of_one_name_fail_the_build(tmp_path):
    """The page would judge the second guess by the first answer."""
    question, cell = "```{predict} same\nHow many?\n```\n", "```{code-cell} ipython3\nanswer('same', 4)\n```\n"
    cell = cell.replace("answer(", "from cpulab.predictions import answer\nanswer(")
    done = build(tmp_path, f"{HEADER}\n# T\n\n## A\n\n{question}\n{cell}\n## B\n\n{question}\n{cell}")
    assert "two questions are called 'same'" in done.stderr


def test_names_with_odd_characters(tmp_path):
    cell = '```{code-cell} ipython3\nfrom cpulab.predictions import answer\nanswer("it\'s<&", 4)\n```\n'
    done = build(tmp_path, f"{HEADER}\n# T\n\n```{{predict}} it's<&\nHow many?\n```\n\n{cell}")
    assert not done.stderr, done.stderr
    assert (
        '<details class="predict-answer" data-name="it&#x27;s&lt;&amp;">'
        in (tmp_path / "out" / "index.html").read_text()
    )


def test_a_notebook_asks_in_a_cell():
    text = "Before.\n\n```{predict} steps\n:unit: times as long\nHow much longer?\n```\n\nAfter."
    plain = plain_notebook(nbformat.v4.new_notebook(cells=[nbformat.v4.new_markdown_cell(text)]), ROOT)
    assert [cell.cell_type for cell in plain.cells] == ["markdown", "code", "markdown"]
    assert plain.cells[0].source == "Before.\n\n> **Predict**\n>\n> How much longer?"
    assert "guess('steps', ...)  # times as long" in plain.cells[1].source
    assert plain.cells[2].source == "After."


def test_guesses_in_a_notebook(capsys):
    predictions.guess("a test", ...)
    assert "No guess yet" in capsys.readouterr().out
    assert repr(predictions.Answer("a test", 1.0666)) == "The answer: 1.07"
    predictions.guess("a test", 4)
    assert repr(predictions.Answer("a test", 1.0666)) == "You said 4; it is 1.07: 3.8 times too much."
    predictions.guess("a test", "four")
    assert repr(predictions.Answer("a test", 1.0666)) == "You said 'four', which is no number; it is 1.07."
    predictions.guess("a test", 4)
    assert repr(predictions.Answer("a test", float("nan"))) == "You said 4; it is nan."
    predictions.guess("a test", "memory")
    assert repr(predictions.Answer("a test", "Memory")) == "Right: Memory."
    assert 'data-value="a &lt;b&gt;"' in predictions.Answer("x", "a <b>")._repr_html_()


def test_guesses_and_answers_at_the_ends_of_what_a_number_can_be():
    assert predictions.verdict(1e-320, 42) == "You said 1e-320; it is 42."
    assert predictions.verdict(10**400, 42) == f"You said {10**400}; it is 42."
    assert predictions.verdict(Fraction(1, 2), 42) == "You said 1/2; it is 42."
    assert predictions.verdict(0, 0) == "You said 0; it is 0: right, to within a tenth."
    assert predictions.verdict(np.int64(5), np.float16(65504)) == "You said 5; it is 65,504: 13,000 times too little."
    assert predictions.shown(1e300) == "1e+300"
    with pytest.raises(TypeError):
        predictions.answer("a test", None)
