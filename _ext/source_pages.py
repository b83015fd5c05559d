"""The library's files that the pages name, each as a page of its own with an anchor for each line, and the links to
them.

A page names a file as `lib/dlkernels/matrix/gpu.py`, or with a line as `lib/dlkernels/matrix/gpu.py:40`: in its text,
in what a cell shows, or below a ``{literalinclude}``, which says by itself where its lines stand. Sphinx's own
`viewcode` shows only modules whose objects are documented, and imports them; here nothing is imported.
"""

import re
from functools import cache
from html import escape
from pathlib import Path

from chapter_notebook import FOR_TOOLS
from docutils import nodes
from sphinx.directives.code import LiteralInclude
from sphinx.util import logging

logger = logging.getLogger(__name__)
ROOT = Path(__file__).resolve().parent.parent
# With the places at which simt.show lets a browser break it. What solves exercises is not shown: coursework is left
# out.
NAMED = re.compile(r"(?<![\w/])(lib/(?:<wbr>)?(?:dlkernels|simt|cpulab)/[\w/<>]+?\.(?:<wbr>)?py)\b(?::(\d+))?")
# What is no text of a page, or a link already.
NO_TEXT = re.compile(r"(<(a|script|style|svg|button|summary)\b.*?</\2>|<(?!wbr>)[^>]*>)", re.S)
CODE = nodes.raw | nodes.literal | nodes.literal_block
SIDEBARS = ["navbar-logo.html", "search-button-field.html"]  # the menu of the book would take most of the time and room


class Listing(LiteralInclude):
    """A `literalinclude` of the library that says below itself where its first line stands."""

    def run(self):
        numbered = "linenos" in self.options
        self.options["lineno-match"] = None  # else nobody counts
        shown = super().run()
        for block in (block for node in shown for block in node.findall(nodes.literal_block)):
            block["linenos"] = numbered
            block.rawsource = FOR_TOOLS.sub("", block.astext())
            block[:] = [nodes.Text(block.rawsource)]
            file = Path(block["source"])
            if file.is_relative_to(ROOT):
                name = file.relative_to(ROOT).as_posix()
                place = nodes.literal("", f"{name}:{block['highlight_args']['linenostart']}")
                if NAMED.fullmatch(place.astext()):
                    shown.append(nodes.paragraph("", "", place, classes=["source-place"]))
        return shown


class SourcePages:
    """Which pages name which files, and the pages of these files."""

    def __init__(self):
        self.written = {}  # name of a file: what its page was made of

    def begin(self, app, env, docnames):
        env.source_names = getattr(env, "source_names", {})  # name of a page: the files that it names

    def forget(self, app, env, docname):
        getattr(env, "source_names", {}).pop(docname, None)

    def merge(self, app, env, docnames, other):
        env.source_names.update({name: other.source_names[name] for name in docnames if name in other.source_names})

    def note(self, app, doctree):
        """Which files does the page name?"""
        text = " ".join(node.astext() for node in doctree.findall(nodes.TextElement) if isinstance(node, CODE))
        names = {file_of(found) for found in NAMED.finditer(text)}
        for missing in sorted(name for name in names if not (ROOT / name).is_file()):
            logger.warning("there is no file %s", missing, location=app.env.docname)
        app.env.source_names[app.env.docname] = {name for name in names if (ROOT / name).is_file()}

    def link(self, app, pagename, templatename, context, doctree):
        """Each name of a file becomes a link to its page."""
        names = app.env.source_names.get(pagename)
        if not names:
            return

        def linked(found):
            name, line = file_of(found), found[2]
            if name not in names:
                return found[0]
            address = app.builder.get_relative_uri(pagename, page_of(name)) + (f"#line-{line}" if line else "")
            return f'<a class="reference internal" href="{address}">{found[0]}</a>'

        parts = NO_TEXT.split(context["body"])  # text, what is none, the name of its tag, text ...
        parts[::3] = [NAMED.sub(linked, text) for text in parts[::3]]
        del parts[2::3]
        context["body"] = "".join(parts)

    def pages(self, app):
        """The pages of the files that are new since the last time."""
        namers = {}
        for page in sorted(app.env.source_names):
            for name in app.env.source_names[page]:
                namers.setdefault(name, []).append(page)
        for name in sorted(namers):
            made_of = (ROOT / name).stat().st_mtime, namers[name]
            if self.written.get(name) != made_of:
                self.written[name] = made_of
                context = {"title": name, "body": body(app, name, namers[name]), "sidebars": SIDEBARS}
                yield page_of(name), context, "page.html"


def file_of(found):
    return found[1].replace("<wbr>", "")


def page_of(name):
    return name.removesuffix(".py")


def body(app, name, namers):
    """What the page of a file shows: which pages name it, and its lines."""
    links = ", ".join(
        f'<a class="reference internal" href="{app.builder.get_relative_uri(page_of(name), page)}">'
        f"{escape(app.env.titles[page].astext())}</a>"
        for page in namers
    )
    code = highlighted(app.builder.highlighter, (ROOT / name).read_text(encoding="utf-8"))
    title = escape(name).replace("/", "/<wbr>")
    return (
        f'<h1>{title}</h1><p>This file is named in: {links}.</p><div class="highlight-python notranslate '
        f'source-file">{code}</div>'
    )


@cache
def highlighted(highlighter, text):
    return highlighter.highlight_block(text, "python", linenos="inline", linespans="line")


def setup(app):
    pages = SourcePages()
    app.add_directive("literalinclude", Listing, override=True)
    app.connect("env-before-read-docs", pages.begin)
    app.connect("env-purge-doc", pages.forget)
    app.connect("env-merge-info", pages.merge)
    app.connect("doctree-read", pages.note)
    app.connect("html-page-context", pages.link, priority=950)  # when what the pages show is final
    app.connect("html-collect-pages", pages.pages)
    return {"version": "1", "env_version": 1, "parallel_read_safe": True, "parallel_write_safe": True}
