"""Cells as a notebook runs them, for tests: sources that are found again, the names that they make, what an answer is
made of."""

import linecache

from coursework import extraction, plain_extraction, plain_python
from coursework.grading.remote import Remote


def run(cells, scope):
    """Run source texts one after the other in `scope`; those that Python cannot read are left out."""
    whole = scope["__file__"] = f"<cells {id(scope)}>"
    linecache.cache[whole] = (0, None, [], whole)
    for number, text in enumerate(cells):
        file = f"<cell {id(scope)} {number}>"
        linecache.cache[file] = (len(text), None, text.splitlines(keepends=True), file)
        try:
            code = compile(text, file, "exec")
        except SyntaxError:
            continue
        exec(code, scope)
        linecache.cache[whole][2].extend(f"{text}\n".splitlines(keepends=True))
    return scope


def collect(cells, name, language):
    """The texts of the answer called `name` of a kernel's or compiled language, as grading would run them."""
    scope = run(cells, {"__name__": "answer", **extraction.prelude()})
    texts = extraction.written(extraction.of(scope[name], language))
    return Remote.checked({"name": scope[name].__name__, "texts": texts}, language, ())[1]


def program(cells, name, without=()):
    """(name, texts) of an answer in plain Python."""
    scope = run(cells, plain_python.prelude())
    texts = extraction.written(plain_extraction.of(scope[name], without))
    return Remote.checked({"name": scope[name].__name__, "texts": texts}, None, without)


def collect_plain(cells, name, without=()):
    return program(cells, name, without)[1]
