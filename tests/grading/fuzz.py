"""Mutants of right answers and of escapes: what admission lets through is run under an audit hook, and does nothing
else.

    python tests/grading/fuzz.py 100000 --seed 1          (make fuzz; KEEP=FILE keeps what came out)

A mutant is what a hostile notebook may send: the texts of an answer. Grammar-aware mutations put escapes, parts of
other answers and odd text in its place. Those that are refused are counted by the reason. Those that are admitted are
looked at as the compiler sees them, by rules that share nothing with admission.py, then defined and run as in the clean
process: as plain Python, where each event that Python's audit hook tells of must be in EVENTS; kernels then by the
executor, with a case of their task, and one in COMPILED of the compiled functions by numba, where the bell of the clean
process (guard.py) listens. At the first that neither allows the process ends and the mutant is told.
"""

import argparse
import ast
import collections
import contextlib
import dis
import io
import json
import os
import platform
import random
import sys
import tempfile
import types
from pathlib import Path

import hostile
import numpy as np

from coursework import build, definition, extraction, plain_python, trees, vocabulary
from coursework.admission import NotAdmitted
from coursework.answer import AnswerFailed, Local
from coursework.checking import arguments_of
from coursework.grading import guard, servant
from coursework.grading.remote import Remote
from coursework.kinds.compiled import CompiledTask
from coursework.kinds.kernel import KernelTask
from coursework.kinds.measured import MeasuredTask
from coursework.kinds.scenario import ScenarioTask

EVENTS = frozenset(
    ["compile", "exec", "builtins.id", "object.__getattr__", "sys.settrace", "code.__new__", "function.__new__"]
)
LINES = 400  # that a mutant may run as Python
FOLDER = str(Path(tempfile.gettempdir(), "requests"))  # of the clean process, were there one
COMPILED = 10  # compiled functions for one that numba compiles, which takes a second
KEYS = ("kernel", "compiled", "counted", "plain")

ESCAPES = """
    open('/etc/passwd') | __import__('os').system('true') | exec('x = 1') | eval('1') | ().__class__.__base__.__subclasses__() | np.ctypeslib
    np.lib.stride_tricks.as_strided(x, (9,)) | np.ctypeslib.ctypes.memset(0, 0, 9) | np.load('x') | np.save('x', x) | np.random.rand() | np.f2py
    np.core._multiarray_umath | np.distutils | np.testing.IS_PYPY | np.DataSource | np.memmap('x') | np.fromfile('x') | np.array.__globals__
    numba.core | numba.objmode() | numba.cuda | numba.njit(open) | numba.extending.intrinsic | numba.config | numba.typed.List() | numba.cfunc(x)
    cuda.cudadrv | cuda.current_context() | cuda.to_device(x) | cuda.jit(open) | cuda.synchronize() | cuda.atomic | cuda.shared | cuda.select_device(0)
    math.__loader__ | math.sqrt.__self__ | math.__dict__ | (lambda: 0).__globals__ | [].append.__self__ | (x for x in [1]).gi_frame.f_globals
    type(x) | globals() | locals() | vars() | getattr(x, 'y') | setattr(x, 'y', 1) | delattr(x, 'y') | dir() | input() | breakpoint() | help()
    compile('1', '', 'exec') | memoryview(b'a') | classmethod(open) | object() | super() | print.__self__ | print(file=open('x', 'w')) | print(open('x'))
    '{0.__class__}'.format(x) | f'{open(1)}' | f'{x!r:{open(1)}}' | '%s' % open(1) | b''.join(open(1)) | 'a'.format_map(x) | str.format | int.mro()
    x.ctypes.data | x.tofile('x') | x.dump('x') | x.data.obj | x.base | x.view(object) | x.setflags(write=1) | x.dtype.type | x.__array_interface__
    x.__class__ | x._data | x._recorder | x._root.array | x.T.__init__.__globals__ | x.__reduce__() | x.f_back | x.tb_frame | x.gi_code | x.func_globals
    threading._shutdown | threading.sys | threading.settrace(print) | threading.excepthook | threading.Thread(target=open, args=('x',)) | threading.local().__dict__
    queue.threading | queue.Queue.mutex | time.sleep.__self__ | random.SystemRandom() | random._os | statistics.sys | concurrent.futures.ProcessPoolExecutor()
    concurrent.futures.thread | itertools.chain.from_iterable | np.linalg.lapack_lite | np.ndarray.__new__ | np.ndarray.tofile | np.frombuffer(x, object)
    (y := open('x')) | [open('x') for y in range(3)] | {open(1): 1} | {**x} | [*x, *open(1)] | (yield open(1)) | (yield from open(1)) | (await x) | lambda y=open(1): y
    servant | coursework | sys.modules | os | builtins | __builtins__ | __name__ | __file__ | __loader__ | __spec__ | quit() | exit() | copyright() | SystemExit
    print.__class__ | range.__getattribute__ | np.float32.__mro__ | cuda.grid.__call__.__func__ | Exception().__traceback__ | NotImplementedError.__subclasses__()
    open | exec | eval | np | numba | cuda | math | threading | time.__class__ | deque.__init__ | Lock.__class__ | Thread._bootstrap | sleep.__self__ | 7 ** 7 ** 7
"""
STATEMENTS = [
    "import os", "from os import *", "import os as np", "from . import servant", "global x\nx = open", "nonlocal x", "del x",
    "with open('x') as f:\n    pass", "try:\n    open('x')\nexcept:\n    pass", "try:\n    pass\nfinally:\n    open('x')",
    "async def g():\n    await open('x')", "def g(a=open('x')):\n    pass", "def g(a: open('x'), /):\n    pass", "def g() -> open('x'):\n    pass",
    "class A(open('x')):\n    y = open('x')", "class A(metaclass=open('x')):\n    pass", "@open\ndef g():\n    pass", "y: open('x') = 1", "y: open('x')",
    "np.float32 = open", "x.shape = open('x')", "x[open('x')] = 1", "for np in open('x'):\n    pass", "for x.y in [1]:\n    pass", "while open('x'):\n    break",
    "assert open('x'), open('x')", "raise open('x')", "raise ValueError from open('x')", "return open('x')", "print(open('x'))", "cuda = open('x')",
    "match x:\n    case open():\n        pass", "match x:\n    case np.x:\n        pass", "match open('x'):\n    case _:\n        pass",
    "lambda: open('x')", "x += open('x')", "x = y = open", "open = print\nopen('x')", "print = open\nprint('x')", "a, *b = open('x')", "__builtins__ = 1",
    "try:\n    pass\nexcept* ValueError:\n    open('x')", "rounds_1_ = -1", "left_at_line_ = x", "pass; open('x')", "if 0: pass\nelif open('x'): pass",
]  # fmt: skip
HEADS = [
    "x: open('a'), /", "x: open('a')", "*x: open('a')", "**x: open('a')", "*, x: open('a')", "x=open('a')", "*, x=open('a')", "x=(lambda: open('a'))()",
    "x: (y := open('a'))", "x, /, y: open('a') = 3", "x: 'open(1)'", "np", "cuda, x", "__x", "open", "x: np.lib", "x=np",
]  # fmt: skip
DECORATORS = [
    "open", "open('x')", "(lambda f: f)", "cuda.jit(open('x'))", "cuda.jit(link=open('x'))", "cuda.jit(device=open('x'))", "njit(open)", "njit(locals={})",
    "numba.extending.overload(open)", "numba.generated_jit", "np.vectorize", "cuda.jit(**open('x'))", "njit(inline='always')", "cuda.jit('void()')",
    "cuda.declare_device('f', 'i()')", "(x := cuda).jit", "cuda.jit if 1 else open", "staticmethod", "property", "classmethod", "f.setter", "x[open('a')]",
]  # fmt: skip
TOPS = [
    "open('x')", "import os", "x = open('x')", "np = open", "X: open('x') = 1", "X = [open('x')]", "X = np.float32(open('x'))", "if 1: open('x')",
    "X = lambda: open('x')", "class X:\n    open('x')", "class X(open('x')): pass", "for X in open('x'): pass", "X = Y = 3", "X, Y = 1, 2", "X = 7 ** 7 ** 9",
    "with open('x'): pass", "X = (1, (2, open('x')))", "X = math.sqrt", "X = np.ctypeslib", "X = -open('x')", "X += open('x')", "del np", "X = (yield)",
]  # fmt: skip
LINE_ENDS = [
    "\u2028",
    "\u2029",
    "\x85",
    "\x0b",
    "\x0c",
    "\x1c",
    "\x1d",
    "\x1e",
    "\r",
    "\r\n",
    "\n\n",
    "\\\n",
    ";",
    "\0",
    "\ufeff",
    "\u00a0",
]
# Letters that look like others, or that Python reads as others (NFKC).
TWINS = str.maketrans("aeopcxynmt_", "аеорсхуｎｍｔ＿")


def escapes():
    return [text.strip() for line in ESCAPES.splitlines() for text in line.split(" | ") if text.strip()]


def seeds():
    """{key: [(task, the texts of a right answer), ...]} from the masters."""
    kinds = {MeasuredTask: "counted", CompiledTask: "compiled", KernelTask: "kernel", ScenarioTask: "plain"}
    found = {key: [] for key in KEYS}
    for path in build.masters(hostile.ROOT):
        cells = {cell.id: cell.source for cell in build.read(path).cells if cell.cell_type == "code"}
        for task in definition.of_chapter(path.name[:2]):
            key = next((key for kind, key in kinds.items() if isinstance(task, kind)), None)
            try:
                body = ast.parse(cells.get(task.id, "")).body if key else ()
            except SyntaxError:
                continue
            body = [
                trees.cleaned(node) for node in body if isinstance(node, ast.FunctionDef | ast.ClassDef | ast.Assign)
            ]
            wanted = (
                body if key == "plain" else [n for n in body if isinstance(n, ast.FunctionDef) and n.decorator_list]
            )
            texts = [ast.unparse(node) for node in wanted]
            if texts and _verdict(texts, key) is None:
                found[key].append((task, texts))
    return found


def _names(texts):
    bodies = (ast.parse(text).body for text in texts)
    return [node.name for body in bodies for node in body if isinstance(node, ast.FunctionDef | ast.ClassDef)]


def _send(texts, key):
    """What the grader makes of texts that a notebook sent."""
    name = (_names_or_none(texts) or ["f"])[-1]
    return Remote.checked({"name": name, "texts": texts}, extraction.LANGUAGES.get(key), {})[1]


def _names_or_none(texts):
    try:
        return _names(texts)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return None


def _verdict(texts, key):
    """None for an admitted answer, else why it is refused, in a word or two."""
    try:
        _send(texts, key)
    except AnswerFailed as error:
        return error.text.split(" uses ")[-1].split(",")[0][:40]
    return None


class Mutator:
    def __init__(self, random_, found):
        self.random, self.seeds = random_, found
        self.escapes = [ast.parse(text, mode="eval").body for text in escapes() if "await" not in text]
        attributes = {
            name for thing in (np, np.zeros(1), (), "", print, ValueError(), types.FunctionType) for name in dir(thing)
        }
        self.attributes = sorted(
            attributes | {"ctypes", "gi_frame", "f_back", "tb_frame", "co_code", "_data", "func_globals"}
        )

    def mutant(self):
        """(key, texts, task) of one; no task for one that is sent for another language."""
        key = self.random.choice(KEYS)
        task, texts = self.random.choice(self.seeds[key])
        texts = list(texts)
        if self.random.random() < 0.1:
            key, task = self.random.choice(KEYS), None
        for _ in range(self.random.choice((1, 1, 1, 2, 3))):
            place = self.random.randrange(len(texts))
            with contextlib.suppress(SyntaxError, ValueError, IndexError, RecursionError, MemoryError), trees.deep():
                texts[place] = self.random.choice(self.CHANGES)(self, texts[place])
        if self.random.random() < 0.05:
            texts.insert(self.random.randrange(len(texts) + 1), self.random.choice(TOPS))
        return key, texts, task

    def _expressions(self, tree):
        """(node, field, place) of each expression that may be replaced."""
        for node in ast.walk(tree):
            for field, value in ast.iter_fields(node):
                if isinstance(value, ast.expr):
                    yield node, field, None
                elif isinstance(value, list):
                    yield from ((node, field, i) for i, part in enumerate(value) if isinstance(part, ast.expr))

    def _put(self, tree, make):
        node, field, place = self.random.choice(list(self._expressions(tree)))
        old = getattr(node, field) if place is None else getattr(node, field)[place]
        new = make(old)
        if place is None:
            setattr(node, field, new)
        else:
            getattr(node, field)[place] = new
        return ast.unparse(ast.fix_missing_locations(tree))

    def escape(self, text):
        return self._put(ast.parse(text), lambda old: self.random.choice(self.escapes))

    def transplant(self, text):
        _, texts = self.random.choice(self.seeds[self.random.choice(KEYS)])
        other = ast.parse(self.random.choice(texts))
        node, field, place = self.random.choice(list(self._expressions(other)))
        part = getattr(node, field) if place is None else getattr(node, field)[place]
        return self._put(ast.parse(text), lambda old: part)

    def chain(self, text):
        def longer(old):
            for _ in range(self.random.choice((1, 1, 2, 3))):
                old = ast.Attribute(old, self.random.choice(self.attributes), ast.Load())
            return ast.Call(old, [], []) if self.random.random() < 0.4 else old

        return self._put(ast.parse(text), longer)

    def wrapped(self, text):
        shapes = (
            "lambda: {}",
            "[{} for y in x]",
            "({} if x else x)",
            "f'{{{}}}'",
            "({},)",
            "{{{}: 1}}",
            "print({})",
            "(y := {})",
            "x[{}]",
            "{}.x",
            "{}()",
            "*{}",
        )
        shape = self.random.choice(shapes)
        return self._put(ast.parse(text), lambda old: _expression(shape.format(ast.unparse(old))))

    def statement(self, text):
        tree = ast.parse(text)
        bodies = [node.body for node in ast.walk(tree) if isinstance(getattr(node, "body", None), list)]
        body = self.random.choice(bodies)
        body.insert(self.random.randrange(len(body) + 1), ast.parse(self.random.choice(STATEMENTS)).body[0])
        return ast.unparse(ast.fix_missing_locations(tree))

    def head(self, text):
        place = text.index("def ")
        opening, closing = text.index("(", place), text.index(")", place)
        old, new = text[opening + 1 : closing], self.random.choice(HEADS)
        both = self.random.choice((new, f"{old}, {new}", f"{new}, {old}"))
        returns = self.random.choice(("", "", " -> open('x')", " -> (y := 3)"))
        return text[: opening + 1] + both + ")" + returns + text[closing + 1 :]

    def decorator(self, text):
        lines = text.split("\n")
        line = "@" + self.random.choice(DECORATORS)
        if lines[0].startswith("@") and self.random.random() < 0.5:
            return "\n".join([line, *lines[1:]])
        return "\n".join([line, text] if self.random.random() < 0.5 else [lines[0], line, *lines[1:]])

    def rename(self, text):
        tree = ast.parse(text)
        names = sorted({node.id for node in ast.walk(tree) if isinstance(node, ast.Name)})
        old, others = (
            self.random.choice(names),
            ("open", "exec", "np", "cuda", "__x", "print", "range", "eval", "_x", "self", "numba", "type"),
        )
        new = self.random.choice(others) if self.random.random() < 0.7 else old.translate(TWINS)
        for node in ast.walk(tree):
            if isinstance(node, ast.Name) and node.id == old and (self.random.random() < 0.7):
                node.id = new
        return ast.unparse(tree)

    def twins(self, text):
        place = self.random.randrange(len(text))
        return text[:place] + text[place : place + 12].translate(TWINS) + text[place + 12 :]

    def line_end(self, text):
        place = self.random.choice([0, len(text), *(i for i, letter in enumerate(text) if letter in "\n #:,)")])
        code = self.random.choice(
            ("open('x')", "import os", "", "x = open", "@open('x')", "#", "'''", '"', "type: ignore")
        )
        mark = self.random.choice(LINE_ENDS)
        comment = self.random.choice(("", "# ", "#", "'''"))
        return text[:place] + comment + mark + code + self.random.choice(("", mark, "\n")) + text[place:]

    def constant(self, text):
        values = (
            "'text'",
            "b'a'",
            "1j",
            "...",
            "10 ** 99",
            "1" + "0" * 80,
            "None",
            "-1",
            "1e999",
            "'{0.x}'",
            "f'{x}'",
            "u'a'",
            "True",
            "0x7fffffffffffffff",
            "nan",
        )
        return self._put(ast.parse(text), lambda old: _expression(self.random.choice(values)))

    def noise(self, text):
        place = self.random.randrange(len(text))
        return (
            text[:place]
            + self.random.choice("()[]{}.,:;=@*&|'\"\\#_ \n\tлx0~^%")
            + text[place + self.random.choice((0, 1)) :]
        )

    def deep(self, text):
        shapes = (
            ("-" * 900, ""),
            ("(" * 90, ")" * 90),
            ("1 + " * 800, ""),
            ("[" * 60, "]" * 60),
            ("not " * 600, ""),
            ("x if x else " * 300, ""),
        )
        before, after = self.random.choice(shapes)
        return self._put(ast.parse(text), lambda old: _expression(f"{before}{ast.unparse(old)}{after}"))

    CHANGES = (
        escape, escape, escape, transplant, chain, chain, wrapped, statement, statement, head, head, decorator, rename, rename, twins, line_end, line_end,
        constant, noise, deep,
    )  # fmt: skip


def _expression(text):
    return ast.parse(text, mode="eval").body


# What was admitted ----------------------------------------------------------------------------------------------------

WORDS = {
    key: {part for path in language.paths for part in path.split(".")}
    | language.attributes
    | {"jit", "njit"}
    | vocabulary.MODULES
    for key, language in extraction.LANGUAGES.items()
}
_NEVER = (
    "IMPORT_NAME",
    "IMPORT_FROM",
    "STORE_GLOBAL",
    "DELETE_GLOBAL",
    "DELETE_NAME",
    "LOAD_BUILD_CLASS",
    "STORE_ATTR",
    "DELETE_ATTR",
    "MAKE_CELL",
)


def look_at(texts, key):
    """What is wrong with admitted texts as the compiler sees them; "" where nothing is."""
    for text in texts:
        if any(end in text for end in LINE_ENDS if end not in ("\n\n", ";", "\u00a0", "\\\n")):
            return "an odd end of a line"
        try:
            waiting = [compile(text, "<mutant>", "exec")]
        except SyntaxError:  # a starred expression in an odd place: nothing is defined
            continue
        while waiting:
            code = waiting.pop()
            waiting += [part for part in code.co_consts if isinstance(part, types.CodeType)]
            if wrong := _in_code(code, key):
                return wrong
    return ""


def _in_code(code, key):
    attributes = [step for step in dis.get_instructions(code) if step.opname in ("LOAD_ATTR", "LOAD_METHOD")]
    hidden = [
        name
        for name in (*code.co_names, *code.co_varnames)
        if name.startswith("__") and name not in plain_python.METHODS
    ]
    hidden = [
        name
        for name in hidden
        if key != "plain"
        or name not in ("__module__", "__name__", "__qualname__", "__slots__", "__classcell__", "__class__")
    ]
    hidden += [s.argval for s in attributes if s.argval.startswith("__") and s.argval not in plain_python.METHODS]
    if hidden:
        return f"the name {hidden[0]}"
    outside = [s.argval for s in dis.get_instructions(code) if s.opname in ("LOAD_GLOBAL", "LOAD_NAME")]
    builtin = plain_python.BUILTINS if key == "plain" else vocabulary.BUILTINS
    banned = {name for name in outside if hasattr(servant.builtins, name) and name not in builtin} - {"__name__"}
    if banned:
        return f"the builtin {min(banned)}"
    if key == "plain":
        return ""
    if odd := {step.argval for step in attributes} - WORDS[key]:
        return f"the attribute {min(odd)}"
    steps = [step for step in dis.get_instructions(code) if step.opname in _NEVER]
    steps += [step for step in dis.get_instructions(code) if step.opname == "MAKE_FUNCTION" and step.arg]
    return f"{steps[0].opname} {steps[0].argval}" if steps else ""


def _is_odd(event, arguments):
    return event not in EVENTS


def _is_forbidden(event, arguments):
    return guard.is_forbidden(event, arguments, FOLDER)


class _TooLong(BaseException):
    pass


def run(texts, key):
    """Define an admitted answer as the clean process does, and call it as Python with something small; its
    functions."""
    namespace = servant.define(texts, key == "plain")
    threaded = any(
        word in text
        for text in texts
        for word in ("hread", "Pool", "sleep", "Queue", "wait", "acquire", "join", "get(", "put(", "**", "<<", "cycle")
    )
    functions = [namespace[name] for name in _names(texts) if name in namespace]
    for function in functions:
        python = getattr(function, "py_func", function)
        if not isinstance(python, types.FunctionType) or threaded:
            continue
        n = python.__code__.co_argcount
        for arguments in (
            [np.arange(4.0) + i for i in range(n)],
            [np.ones((3, 3)) * i for i in range(n)],
            [3] * n,
            [[1, 2, 3]] * n,
        ):
            _call(python, arguments)
    return functions


def _call(function, arguments):
    left = LINES

    def trace(frame, event, argument):
        nonlocal left
        left -= 1
        if left < 0:
            raise _TooLong
        return trace

    sys.settrace(trace)
    try:
        with contextlib.redirect_stdout(io.StringIO()), np.errstate(all="ignore"):
            result = function(*arguments)
            if isinstance(result, types.GeneratorType):
                next(result, None)
    except (Exception, _TooLong):
        return
    finally:
        sys.settrace(None)


def launch(function, task):
    """As the clean process does for a case of the task: a kernel in the executor, a compiled function through numba;
    whether it came to its end."""
    case = min(task.cases, key=lambda case: sum(getattr(x, "size", 1) for x in arguments_of(case, 1, 0)))
    answer, arguments = Local(function, admitted=True), arguments_of(case, 1, 0)
    with contextlib.redirect_stdout(io.StringIO()):
        try:
            if isinstance(task, KernelTask):
                answer.xray(case.grid, case.block, arguments)
            else:
                answer.compiled_call(arguments)
        except AnswerFailed:
            return False
    return True


def fuzz(count, seed, tell=lambda made, outcomes: None):
    """Counter of what became of `count` mutants; ends the process at the first that does what it may not.

    `tell` is called now and then, with how many were made and what became of them."""
    sys.dont_write_bytecode = True  # as in the sandbox: what is imported late opens no file to write
    found, outcomes, current, inside = seeds(), collections.Counter(), [None], [None]
    mutator = Mutator(random.Random(seed), found)

    def heard(event, arguments):
        if inside[0] and inside[0](event, arguments):
            inside[0] = None
            print(f"ESCAPED: {event} {arguments!r}"[:300], *current[0], sep="\n", file=sys.__stdout__, flush=True)
            os._exit(3)

    sys.addaudithook(heard)
    for number in range(count):
        if number and number % 5000 == 0:
            tell(number, outcomes)
        key, texts, task = mutator.mutant()
        try:
            clean = _send(texts, key)
        except AnswerFailed as error:
            if not isinstance(error.__context__, NotAdmitted):  # a fault of ours
                raise
            outcomes["refused"] += 1
            continue
        outcomes[f"admitted, {key}"] += 1
        current[0] = key, f"mutant {number} of seed {seed}", *clean
        if wrong := look_at(clean, key):
            print(f"ESCAPED: {wrong}", *current[0], sep="\n", file=sys.__stdout__, flush=True)
            os._exit(3)
        functions = []
        try:
            inside[0] = _is_odd
            functions = run(clean, key)
            inside[0] = _is_forbidden
            if functions and task and (key == "kernel" or (key != "plain" and number % COMPILED == 0)):
                outcomes["launched"] += 1
                outcomes["came to its end"] += launch(functions[-1], task)
        except (Exception, _TooLong) as error:  # of the definition: a class whose body fails
            outcomes[f"fails with {type(error).__name__}"] += 1
        finally:
            inside[0] = None
    return outcomes


def summary(made, seed, outcomes):
    """What a run leaves behind when no mutant got out."""
    return {
        "mutants": made,
        "seed": seed,
        "refused": outcomes["refused"],
        "admitted": {key: outcomes[f"admitted, {key}"] for key in KEYS},
        "launched": outcomes["launched"],
        "came to its end": outcomes["came to its end"],
        "escaped": 0,  # else the process would have ended with status 3
        "failed when defined": {k.split()[-1]: n for k, n in sorted(outcomes.items()) if k.startswith("fails with ")},
        "python": platform.python_version(),
    }


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("count", type=int)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--keep", type=Path, metavar="FILE", help="write count, seed and outcomes there, as JSON")
    options = parser.parse_args()

    def told(made, outcomes):
        print(f"{made} of {options.count}: {dict(outcomes)}", flush=True)
        if options.keep:  # what was reached, should the run be ended
            options.keep.write_text(json.dumps(summary(made, options.seed, outcomes), indent=1) + "\n")

    told(options.count, fuzz(options.count, options.seed, told))
