"""Cells as a notebook runs them, for tests: sources that are found again, the names that they make, what an answer is made of."""

import linecache

from coursework import extraction, plain_extraction, plain_python
from coursework.grading.remote import Remote


def run(cells, scope):
    """Run source texts one after the other in `scope`; those that Python cannot read are left out."""
    for number, text in enumerate(cells):
        file = f"<cell {id(scope)} {number}>"
        linecache.cache[file] = (len(text), None, text.splitlines(keepends=True), file)
        try:
            code = compile(text, file, "exec")
        except SyntaxError:
            continue
        exec(code, scope)
    return scope


def collect(cells, name, language):
    """The texts of the answer called `name` of a kernel's or compiled language, as grading would run them."""
    scope = run(cells, {"__name__": "answer", **extraction.prelude()})
    texts = extraction.written(extraction.of(scope[name], language))
    return Remote.checked({"name": scope[name].__name__, "texts": texts}, language, ())[1]


def collect_plain(cells, name, without=()):
    """The same for an answer in plain Python."""
    scope = run(cells, plain_python.prelude())
    texts = extraction.written(plain_extraction.of(scope[name], without))
    return Remote.checked({"name": scope[name].__name__, "texts": texts}, None, without)[1]
