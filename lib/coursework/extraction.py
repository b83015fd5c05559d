"""What an answer is made of: its function or class, what that uses of the notebook, and the values that those names
have.

One extraction for the student's own check, `make check` and grading: it looks at the living function in the process
where the notebook was run, so cells with magics, constants that were computed, helpers under another name and whatever
else works there is found as it is. A function becomes its source; a number, or a tuple of numbers, is written out. The
result is a list of statements that stand by themselves. In grading they cross the wall as text, and are checked there
once more.
"""

import ast
import functools
import math
import types

import numpy as np

from . import admission, trees
from .admission import NotAdmitted
from .vocabulary import COMPILED, COUNTED, KERNEL, MODULES

LANGUAGES = {language.key: language for language in (KERNEL, COMPILED, COUNTED)}
MOST_STATEMENTS = 200
_DROPPED = ("cache",)  # an option of a decorator that means nothing where nothing is kept


def prelude():
    """The names every kernel or compiled function may use, as the first cell of an exercise defines them."""
    import numba
    from numba import get_num_threads, get_thread_id, njit, prange

    from dlkernels import cuda

    return {
        "cuda": cuda,
        "math": math,
        "np": np,
        "numba": numba,
        "njit": njit,
        "prange": prange,
        "get_thread_id": get_thread_id,
        "get_num_threads": get_num_threads,
    }


def of(answer, language):
    """The statements of an admitted answer: a numba function or kernel of this process, and all that it uses; raises
    NotAdmitted."""
    found = _Found(answer, language)
    statements = [*found.constants.values(), *found.functions.values()]
    admission.check(statements, language)
    return statements


def written(statements):
    """The statements as texts, each on the lines of its cell."""
    return anew([trees.cleaned(statement) for statement in statements])


def parsed(texts):
    """The statements of texts that may come from anybody, one of each; raises NotAdmitted."""
    if not isinstance(texts, list) or not all(isinstance(text, str) for text in texts) or len(texts) > MOST_STATEMENTS:
        raise NotAdmitted("no list of functions and constants", 0, "is what an answer is made of")
    statements = []
    for text in texts:
        try:
            body = trees.parse(text).body
        except trees.TooLarge as error:
            raise NotAdmitted(str(error), error.line, "is more than an answer needs") from None
        except SyntaxError as error:
            raise NotAdmitted("no Python", error.lineno or 0, "cannot be an answer") from None
        if len(body) != 1:
            raise NotAdmitted("more than one statement", 0, "was taken for one")
        statements += body
    return statements


def admitted(texts, language, name):
    """Texts that may come from anybody, as they may run: written anew from the trees that were checked."""
    statements = parsed(texts)
    if name not in {getattr(statement, "name", "") for statement in statements}:
        raise NotAdmitted(f"nothing called {name}", 0, "was to be found")
    admission.check(statements, language)
    return anew(statements)


def anew(statements):
    """The texts of statements that were checked."""
    try:
        return [trees.text_of(statement) for statement in statements]
    except trees.TooLarge as error:
        raise NotAdmitted(str(error), error.line, "is no Python") from None


class _Found:
    """What a function uses, found from the values that its names have."""

    def __init__(self, answer, language):
        self.language = language
        self.constants, self.functions, self.values = {}, {}, {}
        self.own = answer.py_func.__globals__
        self.paths, self.given = _known(language.key)
        self.function(answer.py_func.__name__, answer)

    def function(self, name, value):
        """Note a function under the name by which it is used, and look at what it uses."""
        python = value.py_func
        tree = trees.of(python)
        if tree is None:
            if python.__code__.co_filename == "<timed exec>":
                why = "cannot be read: take that line out, and run the cell again"
                raise NotAdmitted(f"{name}, whose text the line `%%time` hides", 0, why)
            raise NotAdmitted(f"{name}, whose source is not found", 0, self.language.where)
        try:
            trees.limit(tree)
        except trees.TooLarge as error:
            raise NotAdmitted(str(error), error.line, "is more than an answer needs") from None
        tree = trees.cleaned(tree)
        self.functions[name], self.values[name] = tree, value
        for decorator in tree.decorator_list:
            if isinstance(decorator, ast.Call):
                decorator.keywords = [option for option in decorator.keywords if option.arg not in _DROPPED]
        closure = zip(python.__code__.co_freevars, python.__closure__ or (), strict=True)
        scope = self.own | {name: cell.cell_contents for name, cell in closure}
        renamed = {}
        for used in _free(tree):
            if used.id in scope:
                renamed[used.id] = self.use(used, scope[used.id])
        for used in _free(tree):
            used.id = renamed.get(used.id, used.id)
        tree.name = name

    def use(self, node, value):
        """Note what `node.id` means; returns the name by which that is known here."""
        name = node.id
        if id(value) in self.given:
            return self.given[id(value)]
        if name in self.language.names and name != "cuda":
            raise NotAdmitted(f"a new meaning for {name}", node.lineno, self.language.where)
        if name in self.values and self.values[name] is not value:
            raise NotAdmitted(f"{name} with two meanings", node.lineno, self.language.where)
        if name == "cuda" or name in self.values:
            return name
        self.values[name] = value
        if isinstance(getattr(value, "py_func", None), types.FunctionType):
            if value.py_func.__globals__ is not self.own:
                raise NotAdmitted(f"{name}, which is of another file", node.lineno, self.language.where)
            self.function(name, value)
        elif id(value) in self.paths:
            self.constants[name] = _assignment(name, self.paths[id(value)])
        else:
            try:
                self.constants[name] = _assignment(name, literal(value))
            except TypeError:
                why = ": it may use numbers, tuples of numbers, and functions with the same decorator"
                raise NotAdmitted(f"{name}, {kind(value)}", node.lineno, self.language.where + why) from None
        return name


@functools.cache
def _known(key):
    """({id of what a language may name: its path}, {id of what the first cell of an exercise gives: its name})."""
    language, fixed, paths = LANGUAGES[key], prelude(), {}
    for path in sorted(language.paths):
        root, *members = path.split(".")
        thing = fixed[root]
        for member in members:
            try:
                thing = getattr(thing, member)
            except (AttributeError, RuntimeError):  # NumPy lacks it; cuda.blockDim is something in a kernel only
                thing = None
                break
        if thing is not None and not isinstance(thing, int | float):
            paths.setdefault(id(thing), path)
    return paths, {id(thing): name for name, thing in fixed.items() if name in language.names | MODULES}


def literal(value):
    """A number, or a tuple of numbers, as source; raises TypeError for anything else."""
    if isinstance(value, np.bool_):
        value = bool(value)
    if isinstance(value, np.generic) and value.dtype.kind in "iuf":
        return f"np.{value.dtype.name}({literal(value.item())})"
    if type(value) is tuple:
        return f"({''.join(literal(part) + ', ' for part in value)})"
    if type(value) is float and not math.isfinite(value):
        return "math.nan" if math.isnan(value) else "math.inf" if value > 0 else "-math.inf"
    if type(value) not in (int, float, bool) or (type(value) is int and value.bit_length() > admission.MOST_BITS):
        raise TypeError
    return repr(value)


def _assignment(name, text):
    """The statement ``name = text``."""
    return ast.fix_missing_locations(
        ast.Assign([ast.Name(name, ast.Store())], ast.parse(text, mode="eval").body, lineno=1)
    )


def _free(tree):
    """The uses of names that are no variable or parameter: a `row` of one's own is not the notebook's function
    `row`."""
    names = [node for node in ast.walk(tree) if isinstance(node, ast.Name)]
    local = {node.id for node in names if not isinstance(node.ctx, ast.Load)}
    local |= {node.arg for node in ast.walk(tree) if isinstance(node, ast.arg)}
    return [node for node in names if node.id not in local]


def kind(value):
    others = {types.FunctionType: "plain Python function", type: "class"}
    name = others.get(type(value), type(value).__name__)
    return f"{'an' if name[0] in 'aeiou' else 'a'} {name} of the notebook"
