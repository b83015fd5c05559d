"""Which rows of a record are no longer of what is there: `made_of` says what a row was made of, when it was made.

    made_of(kernel, rung.function)     a digest of the files that they stand in, whatever comments and docstrings say
    known(rows, key)                   {key: row} of those that say what they were made of

A benchmark whose rows are made one by one gets the rows `kept` before, and makes those again whose files have changed:
`make records`. What the engine counts is not among them: when that changes, `make bench` makes all of them again.
"""

import ast
import functools
import hashlib
import inspect


def made_of(*functions):
    files = {inspect.getsourcefile(inspect.unwrap(getattr(one, "py_func", one))) for one in functions}
    return hashlib.sha256("".join(map(_digest, sorted(files))).encode()).hexdigest()[:16]


@functools.cache
def _digest(file):
    with open(file, encoding="utf-8") as text:
        tree = ast.parse(text.read())
    for node in ast.walk(tree):
        if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant):  # a docstring
            node.value = ast.Constant(None)
    return hashlib.sha256(ast.dump(tree).encode()).hexdigest()


def known(rows, key):
    return {key(row): row for row in rows if "made_of" in row}


def again(key, made, kept):
    """The row that is kept of `key`, if it was made of the same; None, and its name is told, if it must be made
    again."""
    row = kept.get(key)
    if row and row["made_of"] == made:
        return row
    print(f"to be made again: {key}", flush=True)
    return None
