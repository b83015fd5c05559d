"""What is made from chapters/glossary.toml: the page of the glossary, the index, and the sentence that a page shows
over a term.

``{terms}`` writes Sphinx's ``{glossary}`` from the data, so that ``{term}`bank conflict` `` works, and its Chinese
words too. The index has each term at the section that teaches it, each operation of the library at its ladder, or else
at the section that the file gives or that names it first, and each function that a page lists. ``_static/glossary.js``
marks the terms of a page; it takes them from a script and not from JSON, which a page that was opened from disk may not
load.
"""

import ast
import json
import re
import tomllib
from functools import cache
from pathlib import Path

from docutils import nodes
from docutils.statemachine import StringList
from sphinx import addnodes
from sphinx.domains.std import Glossary
from sphinx.transforms import SphinxTransform
from sphinx.util import logging

logger = logging.getLogger(__name__)
ROOT = Path(__file__).resolve().parent.parent
DATA = ROOT / "chapters" / "glossary.toml"
HOME = "chapters/glossary"
SCRIPT = "glossary-terms.js"
ELSEWHERE = {"cuda": "CUDA", "opencl": "OpenCL", "numba": "numba", "pytorch": "PyTorch"}
CHINESE = "中文"  # the heading of their part of the index
CELL = re.compile(r"^(`{3,})\{code-cell\}.*?^\1 *$", re.MULTILINE | re.DOTALL)
HEADING = re.compile(r"^#{1,6} (.*)$", re.MULTILINE)
LADDER = re.compile(r'(?<![\w"])table\(\s*"(\w+)"')
LISTED = re.compile(r"\{literalinclude\} \.\./lib/\S+\n(?::(?!pyobject).*\n)*:pyobject: (?:\w+\.)?([^\W_]\w*)")
NAMED = re.compile(r"(?<![\w.])\w+(?=\()|(?<=`)\w+(?=`)")


def data():
    return tomllib.loads(DATA.read_text(encoding="utf-8"))


def terms():
    return sorted(data()["term"], key=lambda term: term["term"].lower())


@cache
def sections(page):
    """[(anchor, text with its heading and code)]: the sections of a page, each to the next heading, under the names
    that MyST gives."""
    text = (ROOT / f"{page}.md").read_text(encoding="utf-8")
    cells = [match.span() for match in CELL.finditer(text)]
    headings = [found for found in HEADING.finditer(text) if not any(a < found.start() < b for a, b in cells)]
    ends, named = [found.start() for found in headings[1:]] + [len(text)], {}
    for found, end in zip(headings, ends, strict=True):
        anchor = slug = re.sub(r"[^\w\- ]", "", found[1].strip().lower()).replace(" ", "-")
        again = 0
        while anchor in named:
            again += 1
            anchor = f"{slug}-{again}"
        named[anchor] = text[found.start() : end]
    return list(named.items())


@cache
def title(page):
    return HEADING.search(CELL.sub("", (ROOT / f"{page}.md").read_text(encoding="utf-8")))[1]


@cache
def chapters():
    """The numbered pages of the table of contents, in its order: those that teach."""
    contents = (ROOT / "_toc.yml").read_text(encoding="utf-8")
    return re.findall(r"^ *- file: (chapters/\d\d_\w+)$", contents, re.MULTILINE)


def operations():
    """The names that `dlkernels` offers, read from its source."""
    tree = ast.parse((ROOT / "lib/dlkernels/__init__.py").read_text(encoding="utf-8"))
    folders = next(node.value for node in tree.body if isinstance(node, ast.Assign) and node.targets[0].id == "FOLDERS")
    return {name for names in ast.literal_eval(folders).values() for name in names.split()}


@cache
def places():
    """{page: [(entry of the index, anchor)]}"""
    found = {}
    for term in terms():
        page, anchor = term["page"].split("#")
        for word in (term["term"], *term["chinese"]):
            found.setdefault(f"chapters/{page}", []).append((word, anchor))
    known, ladders, named = operations(), {}, {}
    for page in chapters():
        for anchor, text in sections(page):
            found.setdefault(page, []).extend((f"{name} (function)", anchor) for name in LISTED.findall(text))
            for name in known.intersection(LADDER.findall(text)):
                ladders.setdefault(name, []).append((page, anchor))
            for name in known.intersection(NAMED.findall(text)):
                named.setdefault(name, [(page, anchor)])
    given = {
        name: [(f"chapters/{page}", anchor)]
        for name, (page, anchor) in ((name, place.split("#")) for name, place in data()["operations"].items())
    }
    taught = named | ladders | given
    for name in sorted(known):
        for page, anchor in taught.get(name) or taught.get(re.sub(r"_(backward|with)(_\w+)?$", "", name), ()):
            found.setdefault(page, []).append((f"{name} (operation)", anchor))
    return found


class Terms(Glossary):
    """Sphinx's `glossary`, with what the data say."""

    def run(self):
        self.env.note_dependency(str(DATA))
        self.content = StringList()
        for term in terms():
            for line in written(term):
                self.content.append(line, str(DATA), len(self.content))
        shown = super().run()
        for term in (term for node in shown for term in node.findall(nodes.term)):
            if not term.astext().isascii():
                term["classes"] += ["chinese", "language-zh-CN"]
        return shown


def written(term):
    """The lines of a term in a `glossary`."""
    page, anchor = term["page"].split("#")
    elsewhere = [f"{name}: {term[key]}" for key, name in ELSEWHERE.items() if key in term]
    place = f"[{title(f'chapters/{page}')}]({page}.md#{anchor})"
    return [
        term["term"],
        *(f"{word} : {CHINESE}" for word in term["chinese"]),
        f"  {term['says']}",
        "",
        "  " + " · ".join([*elsewhere, f"in {place}"]),
        "",
    ]


class Places(SphinxTransform):
    """The entries of the index at the sections of a page."""

    default_priority = 840  # before Sphinx's domains collect what a page has

    def apply(self, **options):
        page = self.env.docname
        if page not in places():
            return
        self.env.note_dependency(str(DATA))
        by_anchor = {}
        for entry, anchor in places()[page]:
            by_anchor.setdefault(anchor, []).append(entry)
        for section in self.document.findall(nodes.section):
            entries = by_anchor.pop(section.get("slug"), ())
            if entries:
                of = [("single", entry, section["ids"][0], "main", key_of(entry)) for entry in entries]
                section.insert(1, addnodes.index(entries=of))
        for anchor, entries in by_anchor.items():
            logger.warning("no section %s, for %s", anchor, ", ".join(entries), location=page)


def key_of(entry):
    return None if entry.isascii() else CHINESE


def write_script(app, builder):
    """The terms, for _static/glossary.js: where the pages look for them before they are written."""
    if builder.format != "html" or HOME not in app.env.found_docs:
        return
    objects, slugs = app.env.get_domain("std").objects, app.env.metadata
    shown = []
    for term in terms():
        page, anchor = term["page"].split("#")
        page = f"chapters/{page}"
        shown.append(
            {
                "term": term["term"],
                "forms": [term["term"], *term.get("forms", ())],
                "chinese": term["chinese"],
                "says": term["says"],
                "elsewhere": [[name, term[key]] for key, name in ELSEWHERE.items() if key in term],
                "id": objects["term", term["term"]][1],
                "place": f"{builder.get_target_uri(page)}#{slugs[page]['myst_slugs'][anchor][1]}",
                "title": title(page),
                "on": term.get("on", []),
            }
        )
    script = {"home": builder.get_target_uri(HOME), "terms": shown}
    target = Path(app.outdir) / "_static" / SCRIPT
    target.parent.mkdir(parents=True, exist_ok=True)
    target.write_text(f"window.glossary = {json.dumps(script, ensure_ascii=False)};\n", encoding="utf-8")


def setup(app):
    app.add_directive("terms", Terms)
    app.add_transform(Places)
    app.add_js_file(SCRIPT)
    app.connect("write-started", write_script)
    return {"version": "1", "env_version": 1, "parallel_read_safe": True, "parallel_write_safe": True}
