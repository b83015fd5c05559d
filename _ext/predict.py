"""``{predict}``: a question that hides what answers it until the reader has guessed.

    ```{predict} chains
    :unit: times as long
    How much longer does it take?
    ```

asks for a number; with ``:choices: memory | arithmetic`` for a choice. All that follows, to the cell that calls
`cpulab.predictions.answer("chains", ...)` and the paragraphs that speak of it, goes into a ``<details>``, which also
works without JavaScript; with it, ``_static/predict.js`` asks for the guess, opens the answer and says how far off it
was.
"""

import html
from typing import ClassVar

from claims import marks
from docutils import nodes
from docutils.parsers.rst import directives
from sphinx.transforms.post_transforms import SphinxPostTransform
from sphinx.util import logging
from sphinx.util.docutils import SphinxDirective

logger = logging.getLogger(__name__)
TITLE = "Predict"


class Question(nodes.Element):
    """The box; `name`, `unit`, `choices`, and the question as children."""


class Hidden(nodes.Element):
    """What the guess opens."""


class Predict(SphinxDirective):
    required_arguments = 1
    option_spec: ClassVar = {"unit": directives.unchanged, "choices": directives.unchanged}
    has_content = True

    def run(self):
        choices = [part.strip() for part in self.options.get("choices", "").split("|") if part.strip()]
        question = Question("", name=self.arguments[0], unit=self.options.get("unit", ""), choices=choices)
        self.set_source_info(question)
        self.state.nested_parse(self.content, self.content_offset, question)
        return [question]


class HideAnswers(SphinxPostTransform):
    """Put what follows each question, to its answer, into a `Hidden`."""

    default_priority = 50

    def run(self, **options):
        names = set()
        for question in list(self.document.findall(Question)):
            if question["name"] in names:
                logger.warning("two questions are called %r", question["name"], location=question)
            names.add(question["name"])
            siblings = question.parent.children
            after = siblings[siblings.index(question) + 1 :]
            mark = f'data-name="{html.escape(question["name"])}"'
            ends = [i for i, node in enumerate(after) if any(mark in raw.astext() for raw in node.findall(nodes.raw))]
            if not ends and not executed(self.env):
                continue
            if not ends:
                logger.warning(
                    "the question %r has no answer in its section: call predictions.answer(%r, ...) in a cell below it",
                    question["name"],
                    question["name"],
                    location=question,
                )
                continue
            end = ends[0] + 1
            while end < len(after) and speaks_of_it(after[end]):
                end += 1
            hidden = Hidden("", name=question["name"])
            for node in after[:end]:
                question.parent.remove(node)
                hidden += node
            question.parent.insert(question.parent.index(question) + 1, hidden)


def speaks_of_it(node):
    """Is it a paragraph on what came, or the note that a measured statement came out otherwise (claims.py)?"""
    if isinstance(node, nodes.paragraph):
        return not introduces(node)
    return "tag_remove-input" in node.get("classes", ()) and any(marks(raw.astext()) for raw in node.findall(nodes.raw))


def introduces(paragraph):
    """Does it lead on to what comes next, rather than speak of what came?"""
    return paragraph.astext().rstrip().endswith(":")


def executed(env):
    """Was the page run? `make read` first writes it without: then no question has its answer yet."""
    return bool(getattr(env, "nb_metadata", {}).get(env.docname, {}).get("exec_data"))


def visit_question(self, node):
    name = html.escape(node["name"])
    self.body.append(f'<div class="admonition important predict" data-name="{name}">')
    self.body.append(f'<p class="admonition-title">{TITLE}</p>')


def depart_question(self, node):
    name, unit = html.escape(node["name"]), html.escape(node["unit"])
    self.body.append(f'<form class="predict-form" hidden data-name="{name}">')
    if node["choices"]:
        self.body.append("<fieldset><legend>Your guess</legend>")
        for choice in map(html.escape, node["choices"]):
            self.body.append(f'<label><input type="radio" name="guess" value="{choice}" required> {choice}</label>')
        self.body.append("</fieldset>")
    else:
        self.body.append(
            '<label>Your guess <input type="text" inputmode="decimal" name="guess" autocomplete="off" required '
            f'aria-describedby="predict-{name}-unit"></label> <span id="predict-{name}-unit">{unit}</span>'
        )
    self.body.append('<button type="submit">Compare</button> <button type="button" class="predict-skip">Just show it')
    self.body.append('</button></form><p class="predict-verdict" role="status"></p></div>')


def visit_hidden(self, node):
    name = html.escape(node["name"])
    self.body.append(f'<details class="predict-answer" data-name="{name}"><summary>What happens</summary>')


def depart_hidden(self, node):
    self.body.append("</details>")


def setup(app):
    app.add_node(Question, html=(visit_question, depart_question))
    app.add_node(Hidden, html=(visit_hidden, depart_hidden))
    app.add_directive("predict", Predict)
    app.add_post_transform(HideAnswers)
    return {"version": "1", "parallel_read_safe": True, "parallel_write_safe": True}
