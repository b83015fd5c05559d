"""What an answer may contain: the part of Python that numba compiles, and nothing else.

Two reasons. A kernel that uses more would not compile on a GPU, and the student should hear that before the
GPU says it. And when a class is graded, an admitted answer cannot reach anything but its arguments: it names no
module, opens no file and changes no object, so what the x-ray counts while it runs can be trusted.

All is allowed by lists (vocabulary.py has the words): kinds of nodes, names, what is in a module, what an array has.
Each node of an answer is looked at; what no rule knows is refused. extraction.py says what an answer is made of.
"""

import ast
import builtins
import difflib
import re

from . import trees
from .vocabulary import COMPILED, COUNTED, CUDA, EXAMPLES, KERNEL, MADE, MODULES, NAMED, Language

__all__ = ["COMPILED", "COUNTED", "KERNEL", "Language", "NotAdmitted", "Undefined", "check"]

DIMENSIONS = ("cuda.threadIdx", "cuda.blockIdx", "cuda.blockDim", "cuda.gridDim")
# What np.empty makes is filled by its name (unset.py), and numba looks at no index of np.take with an axis.
CALLED = ("np.empty", "np.empty_like", "np.take")
PRODUCTS = ("np.dot", "np.vdot", "np.inner", "np.matmul")
MOST_BITS = 128  # of a whole number that is written out
# Names that the course gives to variables of its own where it counts the rounds and flops of an answer.
_OURS = re.compile(r"(rounds|most)_\d+_|left_at_line_|flop_|__.*")


class NotAdmitted(Exception):
    """The answer uses something that the compiler, or the grader, does not take. Carries the line number."""

    name = "NotAdmitted"  # of the failure that it becomes

    def __init__(self, what, line, where):
        super().__init__(f"{f'line {line}' if line else 'it'} uses {what}, which {where}")
        self.line = line


class CallsALibrary(NotAdmitted):
    """numba hands products of arrays to SciPy's BLAS, which one student has and another has not, and nobody counts."""

    name = "ImportError"

    def __init__(self, what, line):
        Exception.__init__(
            self, f"line {line} uses {what} on arrays, which calls a library: this course cannot count what that does"
        )
        self.line = line


class Undefined(NotAdmitted):
    """The answer uses a name that nobody has defined."""

    name = "NameError"

    def __init__(self, name, line, known, cuda=True):
        meant = _meant(name, known, CUDA if cuda else ())
        Exception.__init__(self, f"line {line} uses {name!r}, which is not defined" + (f": {meant}" if meant else ""))
        self.line = line


def _meant(name, known, cuda):
    """What a misspelt name was probably meant to be. `cuda`: members of that module."""
    for member in sorted(cuda):
        if len(member) > 1 and member.lower() == name.lower():
            return f"did you mean `cuda.{member}`?"
    if f"math.{name}" in KERNEL.paths:
        return f"did you mean `math.{name}`?"
    near = difflib.get_close_matches(name, sorted(known), 1, 0.6)
    return f"did you mean `{near[0]}`?" if near else ""


def check(statements, language):
    """Raise NotAdmitted unless the functions and constants `statements` are written in `language`, all of them."""
    defined = {s.name for s in statements if isinstance(s, ast.FunctionDef)}
    constants = {
        t.id: s.value for s in statements if isinstance(s, ast.Assign) for t in s.targets if isinstance(t, ast.Name)
    }
    renamed = {name: _dotted(value) for name, value in constants.items() if _dotted(value) in CALLED}
    defined |= constants.keys()
    for statement in statements:
        try:
            trees.limit(statement)
        except trees.TooLarge as error:
            raise NotAdmitted(str(error), error.line, "is more than an answer needs") from None
        with trees.deep():
            _Rules(language, language.names | defined, renamed).statement(statement)


class _Rules:
    """The walk over a statement of an answer. `known`: the names that it may use, beside those of its own; `renamed`:
    those of them that are something of CALLED."""

    def __init__(self, language, known, renamed):
        self.language, self.known, self.function, self.renamed = language, known, None, renamed

    def refuse(self, node, what=None, more=""):
        what = what or NAMED.get(type(node).__name__) or f"`{ast.unparse(node).splitlines()[0][:60]}`"
        cure = "" if more else self.language.cure(what)
        raise NotAdmitted(what, getattr(node, "lineno", 0), self.language.where + (more or (cure and f": {cure}")))

    # What stands outside of functions ------------------------------------------------------------------------------

    def statement(self, node):
        if isinstance(node, ast.FunctionDef):
            self.outer_function(node)
        elif isinstance(node, ast.Assign):
            self.constant(node)
        else:
            self.refuse(node)

    def constant(self, node):
        """``NAME = 16``, a tuple of numbers, a number of a NumPy type, or a new name for something that is in a
        list."""
        if len(node.targets) != 1 or not isinstance(node.targets[0], ast.Name):
            self.refuse(node)
        self.new_name(node, node.targets[0].id)
        self.literal(node.value)

    def literal(self, node):
        if isinstance(node, ast.Tuple):
            for part in node.elts:
                self.literal(part)
        elif isinstance(node, ast.Call):  # np.float32(0.5)
            if len(node.args) != 1 or node.keywords or _dotted(node.func) not in self.language.paths:
                self.refuse(node)
            self.literal(node.args[0])
        elif isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub):
            self.literal(node.operand)
        elif isinstance(node, ast.Attribute):
            self.attribute(node)
        else:
            self.number(node)

    def number(self, node):
        if not isinstance(node, ast.Constant):
            self.refuse(node)
        if type(node.value) not in (int, float, bool):
            self.refuse(node, "text as a constant")
        self.size(node)

    def size(self, node):
        if isinstance(node.value, int) and node.value.bit_length() > MOST_BITS:
            self.refuse(node, f"a number of more than {MOST_BITS} bits")

    def outer_function(self, node):
        language, arguments = self.language, node.args
        written = [_dotted(d.func if isinstance(d, ast.Call) else d) or d for d in node.decorator_list]
        if len(written) != 1 or written[0] not in language.decorators:
            self.refuse(node, "a function without its decorator @" + language.decorators[0])
        for decorator in node.decorator_list:
            self.options(decorator)
        self.new_name(node, node.name)
        others = (
            arguments.vararg or arguments.kwarg or arguments.kwonlyargs or arguments.kw_defaults or arguments.defaults
        )
        names = [*arguments.posonlyargs, *arguments.args]
        if others or node.returns or any(a.annotation for a in names) or getattr(node, "type_params", None):
            self.refuse(node, "default values, *arguments or annotations")
        local = {a.arg: a for a in names}
        for part in ast.walk(node):
            if isinstance(part, ast.Name) and isinstance(part.ctx, ast.Store):
                local.setdefault(part.id, part)
        for name, first_use in local.items():
            self.own_name(first_use, name)
        self.known, self.function = self.known | local.keys(), node.name
        self.dimensions(node)
        for part in node.body:
            self.visit(part)

    def options(self, decorator):
        for option in getattr(decorator, "keywords", ()):
            if option.arg not in self.language.options:
                self.refuse(
                    decorator, f"the option {option.arg}" if option.arg else "a computed option of the decorator"
                )
            if not isinstance(option.value, ast.Constant) or type(option.value.value) not in (bool, str, int):
                self.refuse(option.value, "a computed option of the decorator")
        for argument in getattr(decorator, "args", ()):
            self.refuse(argument, "a signature in the decorator")

    def new_name(self, node, name):
        """Of something outside of functions."""
        if name in self.language.names:
            self.refuse(node, f"a new meaning for {name}")
        self.own_name(node, name)

    def own_name(self, node, name):
        if name in MODULES:
            self.refuse(node, f"a new meaning for {name}")
        if _OURS.fullmatch(name):
            self.refuse(node, f"the name {name!r}")

    # What stands in functions --------------------------------------------------------------------------------------

    def visit(self, node):
        kind = type(node).__name__
        if isinstance(getattr(node, "op", None), ast.MatMult) and self.language is COMPILED:
            raise CallsALibrary("`@`", node.lineno)
        rule = getattr(self, f"visit_{kind}", None)
        if rule is not None:
            rule(node)
        elif kind in self.language.nodes:
            for child in ast.iter_child_nodes(node):
                self.visit(child)
        else:
            self.refuse(node)

    def visit_Slice(self, node):
        if self.language is KERNEL:  # numba compiles it; the executor does not
            why = (
                "the executor of this course does not take: one thread works on single elements, on several of them in "
                "a loop"
            )
            raise NotAdmitted("a slice", node.lineno, why)
        if "Slice" not in self.language.nodes:
            self.refuse(node, more=self.language.instead)
        for part in ast.iter_child_nodes(node):
            self.visit(part)

    def visit_FunctionDef(self, node):
        self.refuse(node, "a function inside a function")

    def visit_Name(self, node):
        self.uncalled(node)
        name = node.id
        if name in MODULES:
            self.refuse(node, f"{name} by itself; use what is in it, as in {name}.{EXAMPLES[name]}")
        if isinstance(node.ctx, ast.Del):
            self.refuse(node, "del")
        if hasattr(builtins, name) and name not in self.known:
            self.refuse(node, f"{name}()")
        if name.startswith("__"):
            cure = self.language.cure(name)
            self.refuse(node, f"the name {name!r}", cure and f": {cure}")
        if name not in self.known:
            raise Undefined(name, node.lineno, self.known)

    def visit_Constant(self, node):
        if type(node.value) not in (int, float, bool, type(None)):
            self.refuse(node, "text")
        self.size(node)

    def visit_Call(self, node):
        name = node.func.id if isinstance(node.func, ast.Name) else ""
        if name == self.function:
            self.refuse(node, "a function that calls itself")
        self.called(node)
        for part in node.args:
            if not (name == "print" and isinstance(part, ast.Constant) and type(part.value) is str):
                self.visit(part)
        for part in node.keywords:
            if part.arg is None:
                self.refuse(node, "a starred argument")
            self.visit(part.value)

    def called(self, node):
        """The function of a call. What is in CALLED must be called by its own name."""
        path = self.path(node.func)
        if self.language is COMPILED and (path in PRODUCTS or path.endswith(".dot")):
            raise CallsALibrary(f"`{ast.unparse(node.func)}`", node.lineno)
        if _is_take(path) and len(node.args) + len(node.keywords) > 1 + (path == "np.take"):
            self.refuse(node, "take with an axis", ": write x[:, indices], or a loop")
        if isinstance(node.func, ast.Attribute) and path.split(".")[0] not in MODULES:
            self.attribute(node.func)
        elif path not in CALLED or path not in self.language.paths:
            self.visit(node.func)

    def path(self, node):
        """What a name or an attribute is, with dots; of `empty`, that is np.empty in the notebook, the latter."""
        if isinstance(node, ast.Attribute) and not _dotted(node):
            return f".{node.attr}"
        return self.renamed.get(_dotted(node), _dotted(node))

    def uncalled(self, node):
        path, language = self.path(node), self.language
        method = isinstance(node, ast.Attribute) and _is_take(path) and "take" in language.attributes
        if isinstance(node.ctx, ast.Load) and (path in language.paths.intersection(CALLED) or method):
            self.refuse(node, f"{ast.unparse(node)} without a call")

    def visit_Attribute(self, node):
        self.uncalled(node)
        self.attribute(node)

    def attribute(self, node):
        """Something of a module, by the list of whole paths; or of an array, by the list of its attributes."""
        path = _dotted(node)
        root = path.split(".")[0] if path else ""
        if root in MODULES:
            if path not in self.language.paths or not isinstance(node.ctx, ast.Load):
                before = _dotted(node.value)
                if before != root and not any(known.startswith(f"{before}.") for known in self.language.paths):
                    self.not_in(node.value, before, root)  # that word is wrong already
                self.not_in(node, path, root)
            return
        if node.attr not in self.language.attributes or not isinstance(node.ctx, ast.Load):
            self.not_in(node, ast.unparse(node), "")
        self.visit(node.value)

    def not_in(self, node, path, module):
        if path in MADE and self.language is KERNEL:
            more = ": cuda.shared.array is an array of a block, cuda.local.array one of a thread"
        elif cure := self.language.cure(path):
            more = f": {cure}"
        else:
            more = _meant_member(node, self.language.members(module) if module else self.language.attributes)
            more = more or (self.language.instead if module == "np" else "")
        self.refuse(node, path, more)

    def dimensions(self, function):
        """cuda.threadIdx and its like are three numbers each: refused where one of them is used as if it were a
        number."""
        nodes = [node for statement in function.body for node in ast.walk(statement)]
        followed = {id(node.value) for node in nodes if isinstance(node, ast.Attribute)}
        named = {}  # a name for all three, as in t = cuda.threadIdx, whose members are used
        for node in nodes:
            if isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Name):
                named[id(node.value)] = node.targets[0].id
        loads = (n for n in nodes if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Load))
        bare = {n.id for n in loads if id(n) not in followed}
        for node in nodes:
            name = _dotted(node) if isinstance(node, ast.Attribute) and id(node) not in followed else ""
            if name in DIMENSIONS and (id(node) not in named or named[id(node)] in bare):
                raise NotAdmitted(f"{name} as a number", node.lineno, f"is three numbers: {name}.x, .y and .z")


def _dotted(node):
    """`cuda.threadIdx.x` as text; "" for what is no name with dots."""
    parts = []
    while isinstance(node, ast.Attribute):
        parts.append(node.attr)
        node = node.value
    return ".".join([node.id, *reversed(parts)]) if isinstance(node, ast.Name) else ""


def _is_take(path):
    return path.split(".")[-1] == "take"


def _meant_member(node, members):
    """A sentence about a member, of a module or of an array, that does not exist."""
    lower = {name.lower(): name for name in members}
    near = difflib.get_close_matches(node.attr.lower(), sorted(lower), 1, 0.6)
    return f"; did you mean `{ast.unparse(node.value)}.{lower[near[0]]}`?" if near else ""
