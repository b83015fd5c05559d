"""MyST into the Markdown that Jupyter shows, for the notebooks offered for download."""

import sys

import nbformat
import pytest
from built import ROOT

sys.path.insert(0, str(ROOT / "_ext"))
from chapter_notebook import plain_markdown, plain_notebook

pytestmark = pytest.mark.quick


@pytest.mark.parametrize(
    ("myst", "plain"),
    [
        ("Plain *text* with $a < b$.", "Plain *text* with $a < b$."),
        ("```{note}\nMind the gap.\n```", "> **Note**\n>\n> Mind the gap."),
        (":::{admonition} Predict\n:class: tip\n\nHow many?\n:::", "> **Predict**\n>\n> How many?"),
        ("::::{note}\n:::{tip}\nInner\n:::\n::::", "> **Note**\n>\n> > **Tip**\n> >\n> > Inner"),
        ("```{math}\n:label: roof\na = b\n```", "$$\na = b\n$$"),
        ("```{code-block} python\nx = 1\n```", "```python\nx = 1\n```"),
        ("```python\n:not an option:\n```", "```python\n:not an option:\n```"),
        ("(roof)=\n## The roof", "## The roof"),
        ("See {ref}`the roof <roof>` in {cite:t}`williams2009roofline`.", "See the roof in (williams2009roofline)."),
        ("Since {math}`a=b`.", "Since $a=b$."),
        ("::::{grid} 1 1 3 3\n\n:::{grid-item-card} Read\nNow\n:::\n::::", "> **Read**\n>\n> Now"),
        ("```{bibliography}\n```", ""),
    ],
)
def test_markdown(myst, plain):
    assert plain_markdown(myst) == plain


def test_notebook_loses_outputs_and_keeps_code():
    made = nbformat.v4.new_notebook(
        cells=[
            nbformat.v4.new_markdown_cell("```{note}\nA\n```"),
            nbformat.v4.new_code_cell("1 + 1", outputs=[nbformat.v4.new_output("stream", text="2")]),
            nbformat.v4.new_markdown_cell("```{bibliography}\n```"),
        ]
    )
    plain = plain_notebook(made, ROOT)
    nbformat.validate(plain)
    assert [cell.cell_type for cell in plain.cells] == ["markdown", "code"]
    assert plain.cells[1].source == "1 + 1"
    assert plain.cells[1].outputs == []


def test_included_function_stands_in_the_notebook(tmp_path):
    (tmp_path / "kernels.py").write_text("import x\n\n\n@x.jit\ndef add(a):\n    return a\n\n\ny = 1\n")
    myst = "```{literalinclude} kernels.py\n:language: python\n:pyobject: add\n```"
    assert plain_markdown(myst, tmp_path) == "```python\n@x.jit\ndef add(a):\n    return a\n```"


def test_a_part_of_a_function(tmp_path):
    (tmp_path / "kernels.py").write_text("def add(a):\n    for i in a:\n        a[i] += 1\n    return a\n")
    myst = "```{literalinclude} kernels.py\n:pyobject: add\n:start-at: for i\n:end-before: return\n:dedent: 4\n```"
    assert plain_markdown(myst, tmp_path) == "```python\nfor i in a:\n    a[i] += 1\n```"


def test_a_listing_does_not_show_what_is_for_a_formatter(tmp_path):
    (tmp_path / "kernels.py").write_text("x = [1,2]  # fmt: skip\ny = 1  # noqa: E741\nz = 2  # seconds\n")
    found = plain_markdown("```{literalinclude} kernels.py\n```", tmp_path)
    assert found == "```python\nx = [1,2]\ny = 1\nz = 2  # seconds\n```"


def test_what_a_cell_prints_keeps_its_lines():
    """One `print` may come in several pieces, wherever it was cut."""
    import book
    from myst_nb.core.utils import coalesce_streams

    def stream(text, name="stdout"):
        return nbformat.v4.new_output("stream", text=text, name=name)

    figure = nbformat.v4.new_output("display_data", data={"text/plain": "a figure"})
    pieces = [stream("busy"), stream("careful\n", "stderr"), figure, stream(" 94"), stream("%\nrounds: 17\n")]
    shown = book.whole_lines(coalesce_streams)(pieces)
    assert [o.get("text") for o in shown] == ["busy 94%\nrounds: 17\n", "careful\n", None]
    assert [p.text for p in pieces if p.output_type == "stream"] == ["busy", "careful\n", " 94", "%\nrounds: 17\n"]
    assert book.whole_lines(coalesce_streams)([]) == [] == book.whole_lines(coalesce_streams)(None)
