"""What the book needs beyond jupyter-book: formulas without a network, notebooks to download, clean pages.

MathJax is not put under ``_static/``: jupyter-book would load every script it finds there a second time.
"""

import functools
import json
import os
import re
from pathlib import Path

import nbformat
from chapter_notebook import plain_notebook
from docutils import nodes
from myst_nb.core import render

ROOT = Path(__file__).resolve().parent.parent
INSTALLED = re.compile(r"(?<![^\s'\"(])[^\s'\"(]*/(site-packages/|lib/python3\.\d+/)")  # also IPython's ~/...
# The file that a cell's code pretends to come from.
CELL = re.compile(r"(?<![^\s'\"(])[^\s'\"(]*/ipykernel_\d+/\d+\.py")
BARRIERS = (
    (r'<th class="head[^>]*">(?:<p>\s*</p>)?\s*</th>', "<td></td>"),  # a heading that says nothing
    (r'<summary aria-label="Toggle hidden content">', "<summary>"),  # its own words say more
    (r'(<div [^>]*)role="doc-biblioentry"', r"\1"),  # withdrawn from ARIA
    (r'<div role="list" class="citation-list">', '<div class="citation-list">'),
    (r'(<figure\b[^>]*) role="group"', r"\1"),  # is one already
)
CELL_OF_TABLE = re.compile(r"<td\b.*?</td>", re.S)
LONG_NAME = re.compile(r'(?<=<span class="pre">)[^<]{13,}(?=</span>)')  # in a table that a cell prints: simt.show
SIGN = re.compile(r"(?<=[_/(=\[])(?=\w)|(?<=[a-z]\.)(?=\w)")
CODE = re.compile(r"(<pre\b.*?</pre>|<script\b.*?</script>)", re.S)
TIMES = re.compile(r"(?<=\d) ([x×]) (?=\d)")
FORMULA = re.compile(r'\(?<span class="math notranslate nohighlight">[^<]*</span>[.,;:?!)]+')
INSTALLS = "# Finds the course's library"  # coursework/install_cell.py
LIBRARY = ("File lib/", "File .../")  # frames of a traceback in which a reader finds nothing of their own


def vendored_mathjax(app, config):
    config.html_static_path.append(str(ROOT / "_vendor"))
    config.html_math_renderer = "mathjax"


def drop_thebe(app, pagename, templatename, context, doctree):
    """sphinx-thebe writes its constants twice, an error in every browser's console; nothing here uses it."""
    context["script_files"] = [
        script
        for script in context["script_files"]
        if "thebe" not in str(getattr(script, "filename", "")).lower()
        and "THEBE" not in str(getattr(script, "attributes", {}).get("body", ""))
    ]


def offer_notebook(app, pagename, templatename, context, doctree):
    """Give every executed Markdown chapter an .ipynb in its download menu, in Markdown that Jupyter shows."""
    executed = Path(app.outdir).parent / "jupyter_execute" / f"{pagename}.ipynb"
    if not str(context.get("sourcename", "")).endswith(".md") or not executed.exists():
        return
    target = Path(app.outdir) / "_sources" / f"{pagename}.ipynb"
    target.parent.mkdir(parents=True, exist_ok=True)
    folder = Path(app.env.doc2path(pagename)).parent
    notebook = plain_notebook(nbformat.read(executed, as_version=4), folder)
    with_library(notebook, app.config.html_theme_options)
    nbformat.write(notebook, target)
    context["ipynb_source"] = f"{pagename}.ipynb"


def with_library(notebook, options):
    """Where a page can be opened elsewhere, its notebook begins as an exercise does: it installs what is missing."""
    if any(url for name, url in options.get("launch_buttons", {}).items() if name.endswith("_url")):
        from coursework import build

        build.with_install(notebook, "page", f"git+{options['repository_url']}", build.version(ROOT))


def without_barriers(app, pagename, templatename, context, doctree):
    """What a page's own HTML tells a screen reader and should not; tests/book/axe.py finds it."""
    for pattern, replacement in BARRIERS:
        context["body"] = re.sub(pattern, replacement, context.get("body", ""))


def fold_installation(app, docname, source):
    """The cell with which an exercise finds the library is for Jupyter: on a page it stands behind a click."""
    if docname.startswith("exercises/"):
        notebook = json.loads(source[0])
        for cell in notebook["cells"]:
            if "".join(cell["source"]).startswith(INSTALLS):
                cell["metadata"].setdefault("tags", []).append("hide-input")
        source[0] = json.dumps(notebook)


def good_breaks(app, pagename, templatename, context, doctree):
    """Lines end well: long code in a table after a sign, a formula with its full stop, "4 x 4" not in its middle."""
    body = CELL_OF_TABLE.sub(
        lambda cell: LONG_NAME.sub(lambda name: SIGN.sub("<wbr>", name[0]), cell[0]), context.get("body", "")
    )
    parts = CODE.split(FORMULA.sub(r'<span class="together">\g<0></span>', body))
    context["body"] = "".join(part if i % 2 else TIMES.sub(r"&#160;\1&#160;", part) for i, part in enumerate(parts))


def clean_outputs(app, doctree):
    """Outputs name ``lib/...``, not the machine that built the page; tracebacks show the reader's own frames."""
    for node in list(doctree.findall(lambda n: isinstance(n, nodes.literal_block | nodes.raw))):
        text = node.astext()
        cleaned = INSTALLED.sub(".../", text.replace(f"{ROOT}/", "").replace(str(ROOT), "."))
        cleaned = CELL.sub("cell", cleaned)
        if "traceback" in node.get("classes", ()):
            frames = cleaned.split("\n\n")
            cleaned = "\n\n".join(frame for frame in frames if not frame.startswith(LIBRARY))
        if cleaned != text:
            node.rawsource = cleaned
            node.children = []
            node += nodes.Text(cleaned)


def whole_lines(coalesce):
    """`coalesce_streams` of myst-nb for outputs whose pieces were put together before: it ends a line after each piece,
    and what one `print` writes may come in several."""

    def joined(outputs):
        first, kept = {}, []
        for output in outputs or ():
            if output["output_type"] != "stream" or output["name"] not in first:
                output = nbformat.from_dict(output)  # a copy: the kept results stay as they are
                kept.append(output)
                if output["output_type"] == "stream":
                    first[output["name"]] = output
            else:
                first[output["name"]]["text"] += output["text"]
        return coalesce(kept)

    return joined


def setup(app):
    if not hasattr(render.coalesce_streams, "__wrapped__"):
        render.coalesce_streams = functools.wraps(render.coalesce_streams)(whole_lines(render.coalesce_streams))
    os.environ.setdefault("DLKERNELS_QUIET", "1")  # a page shows what a launch did, not how long it took
    os.environ.setdefault("DLKERNELS_MEASURED", "first")  # what a user has after some calls, from the first on
    app.connect("config-inited", vendored_mathjax)
    app.connect("source-read", fold_installation)
    app.connect("doctree-read", clean_outputs)
    app.connect("html-page-context", offer_notebook, priority=400)  # before the theme lists the downloads
    app.connect("html-page-context", without_barriers, priority=900)
    app.connect("html-page-context", good_breaks, priority=900)
    app.connect("html-page-context", drop_thebe, priority=900)
    return {"version": "1", "parallel_read_safe": True, "parallel_write_safe": True}
