"""Functions of a program in OpenCL C: their types, parameters and bodies, as functions of Python."""

import ast
import contextlib
import difflib
import keyword
from dataclasses import dataclass

import numpy as np
from pycparser import c_ast

from .builtins import LOCAL_FENCE
from .expressions import Variable
from .runtime import NAMESPACE
from .statements import Statements, assigned
from .types import NUMBERS, Array, Number, Pointer, Vector, dtype_name, name, whole


@dataclass
class Made:
    """A function of the program, read. parameters: its types; result: a `Number`, or None."""

    python_name: str
    parameters: list
    result: object
    node: ast.FunctionDef
    barriers: list


_OF_A_FUNCTION = (
    "scopes", "out", "steps", "barriers", "given", "inside", "expanding", "result", "hoists", "float_type", "every",
)  # fmt: skip


class Reader(Statements):
    """Reads one function and those that it calls. local: bytes of the kernel's arguments in local memory, by name."""

    def __init__(self, text, local):
        self.text, self.local = text, local
        self.namespace = dict(NAMESPACE)
        self.functions = {d.decl.name: d for d in text.tree.ext if isinstance(d, c_ast.FuncDef)}
        self.made, self.under_way = {}, []
        self.globals = {}
        self.counter = 0
        self._start(None)
        for declaration in text.tree.ext:
            if isinstance(declaration, c_ast.Decl) and not isinstance(declaration.type, c_ast.FuncDecl):
                self._constant(declaration)

    def _start(self, result):
        self.scopes, self.out, self.steps, self.barriers = [{}], [], [], []
        self.meanings, self.inside, self.expanding, self.result = {}, None, (), result
        self.float_type, self.hoists = NUMBERS["float"], True

    # -- names -------------------------------------------------------------------------------------------------------

    def lookup(self, c_name):
        for scope in reversed(self.scopes):
            if c_name in scope:
                return scope[c_name]
        return self.globals.get(c_name)

    def names(self):
        return [n for scope in (*self.scopes, self.globals, self.text.macros) for n in scope]

    def near(self, word, known):
        found = difflib.get_close_matches(word, [str(k) for k in known], 1, 0.7)
        return f"Did you mean {found[0]!r}?" if found else ""

    def python_name(self, c_name):
        """A name that no other variable of the function has, in any scope."""
        taken = {n for scope in self.every for n in scope}
        free = c_name.strip("_") or "x"
        free = f"{free}_" if keyword.iskeyword(free) or free in ("range", "self") or free.startswith("ocl_") else free
        base, number = free, 1
        while free in taken:
            number += 1
            free = f"{base}_{number}"
        self.every.append({free})
        return free

    def fresh(self, what):
        self.counter += 1
        return f"ocl_{what}{self.counter}"

    def keep(self, tree, node):
        """A variable of our own for a tree, set before the statement that is read; its name."""
        variable = self.fresh("kept")
        self.emit(ast.Assign([name(variable, True)], tree), node)
        return variable

    @contextlib.contextmanager
    def in_place(self):
        """What is read inside is not worked out once, before its statement: a part of && or ?:, the test of a loop."""
        outer, self.hoists = self.hoists, False
        try:
            yield
        finally:
            self.hoists = outer

    @contextlib.contextmanager
    def scope(self):
        self.scopes.append({})
        try:
            yield
        finally:
            self.scopes.pop()

    @contextlib.contextmanager
    def within(self, meanings, inside, expanding):
        """What macro parameters mean, the place that stands for what is read, the macros that are under way."""
        outer = self.meanings, self.inside, self.expanding
        self.meanings, self.inside, self.expanding = meanings, inside, expanding
        try:
            yield
        finally:
            self.meanings, self.inside, self.expanding = outer

    # -- places ------------------------------------------------------------------------------------------------------

    def error(self, node, what, cure=""):
        line = self.inside[0][0] if self.inside else getattr(getattr(node, "coord", None), "line", 0)
        return self.text.error(what, cure, line)

    def span(self, node):
        """(begin, end) of a node in the text."""
        begin, brackets, base = self.text.begin(node), 0, node
        while isinstance(base, c_ast.ArrayRef):
            brackets, base = brackets + 1, base.name
        if isinstance(node, c_ast.FuncCall):
            brackets = 1
        return begin, self.text.past(begin, brackets)

    def located(self, tree, node):
        """The tree, with places for those of its nodes that have none."""
        if node is None or node.coord is None:
            return tree
        self.put(tree, *(self.inside or self.span(node)))
        return tree

    def put(self, tree, begin, end, over=False):
        line, column = self.text.bytes_before(begin)
        end_line, end_column = self.text.bytes_before(max(begin, end))
        for part in ast.walk(tree):
            if "lineno" in part._attributes and (over or not hasattr(part, "lineno")):
                part.lineno, part.col_offset, part.end_lineno, part.end_col_offset = line, column, end_line, end_column

    # -- types -------------------------------------------------------------------------------------------------------

    def declared_type(self, declared, node, quals=()):
        """The type that a declaration gives: Number, Vector, Pointer or Array; None for void."""
        if isinstance(declared, c_ast.Typename):
            return self.declared_type(declared.type, node, declared.quals)
        if isinstance(declared, c_ast.PtrDecl):
            inner = declared.type
            if isinstance(inner, c_ast.PtrDecl | c_ast.ArrayDecl):
                raise self.error(node, "a pointer to a pointer is not read here", "Give the kernel a flat array")
            of = self.declared_type(inner, node)
            space = next((q for q in inner.quals if q in ("global", "local", "constant")), "private")
            if of is None:
                raise self.error(node, "a pointer to void is not read here")
            return Pointer(of, space, "const" in inner.quals)
        if isinstance(declared, c_ast.ArrayDecl):
            shape, inner = [], declared
            while isinstance(inner, c_ast.ArrayDecl):
                size = None if inner.dim is None else self.scalar(inner.dim).constant
                if size is None or size < 1:
                    raise self.error(
                        node, "the length of an array must be known before the kernel runs", "A number, or a #define"
                    )
                shape.append(size)
                inner = inner.type
            of = self.declared_type(inner, node)
            space = next((q for q in inner.quals if q in ("global", "local", "constant")), "private")
            return Array(of, tuple(shape), space)
        if not isinstance(declared, c_ast.TypeDecl) or not isinstance(declared.type, c_ast.IdentifierType):
            raise self.error(node, "structures and unions are not read here", "Take an array for each member")
        return self._named(declared.type.names, node)

    def _named(self, names, node):
        if names == ["void"]:
            return None
        unsigned = "unsigned" in names
        plain = [n for n in names if n not in ("unsigned", "signed", "int")] or ["int"]
        called = ("u" if unsigned else "") + plain[0]
        if called in NUMBERS:
            return NUMBERS[called]
        base = called.rstrip("0123456789")
        if base in NUMBERS and called != base:
            return Vector(NUMBERS[base], int(called[len(base) :]))
        cure = "float has more of everything, and is what the course's kernels take" if called == "half" else ""
        raise self.error(node, f"the type {' '.join(names)} is not read here", cure)

    def _constant(self, node):
        """``__constant float weights[3] = {...}`` of the program, or ``enum { NONE, RELU }``."""
        if isinstance(node.type, c_ast.Enum) and node.type.values:
            number = -1
            for item in node.type.values.enumerators:
                number = number + 1 if item.value is None else self.scalar(item.value).constant
                self.globals[item.name] = Variable((), NUMBERS["int"], known=whole(number))
            return
        kind = self.declared_type(node.type, node, node.quals)
        space = kind.space if isinstance(kind, Array) else next((q for q in node.quals if q == "constant"), "")
        if space != "constant" or node.init is None:
            raise self.error(node, "only __constant data with its values stands outside of functions")
        if not isinstance(kind, Array):
            value = self.scalar(node.init)
            if value.constant is None and not (isinstance(value.node, ast.Name) and not kind.whole):
                raise self.error(node, "the value of a constant must be known")
            self.globals[node.name] = Variable((), kind, known=value)
            return
        made = np.zeros(kind.shape, kind.of.numpy)
        for index, item in self.listed(node.init, kind.shape, node).items():
            if item is not None:
                made[index] = self._number(item)
        python_name = f"ocl_constant_{node.name}"
        self.namespace[python_name] = made
        self.globals[node.name] = Variable((python_name,), Array(kind.of, kind.shape, "constant"), const=True)

    def _number(self, node):
        value = self.scalar(node)
        if value.constant is not None:
            return value.constant
        found = eval(
            compile(ast.fix_missing_locations(ast.Expression(value.node)), "constant", "eval"), dict(self.namespace)
        )
        return float(found)

    # -- functions ---------------------------------------------------------------------------------------------------

    def function(self, called, node=None):
        """A function of the program as a `Made`; read when it is first called."""
        if called in self.made:
            return self.made[called]
        if called in self.under_way:
            raise self.error(node, f"{called}() calls itself, which OpenCL C does not allow", "Write a loop")
        definition = self.functions[called]
        kept = {key: getattr(self, key) for key in _OF_A_FUNCTION if hasattr(self, key)}
        self.under_way.append(called)
        try:
            made = self._read(definition)
        finally:
            self.under_way.pop()
            for key, value in kept.items():
                setattr(self, key, value)
        self.made[called] = made
        self.namespace[made.python_name] = None  # comes when all are compiled
        return made

    def _read(self, definition):
        declaration = definition.decl
        is_kernel = "kernel" in declaration.funcspec
        result = self.declared_type(declaration.type.type, declaration)
        if is_kernel and result is not None:
            raise self.error(declaration, "a kernel returns nothing", "__kernel void")
        if result is not None and not isinstance(result, Number):
            raise self.error(declaration, f"a function returns a number here, not a {result}")
        self._start(result)
        self.every = []
        moved, parameters, arguments, kinds = assigned(definition.body), [], [], []
        declared = declaration.type.args.params if declaration.type.args else []
        for parameter in declared:
            kind = self.declared_type(parameter.type, parameter, getattr(parameter, "quals", ()))
            if kind is None:  # (void)
                continue
            if isinstance(kind, Array):
                kind = Pointer(kind.of, kind.space)
            kinds.append(kind)
            self._parameter(parameter, kind, is_kernel, parameter.name in moved, arguments)
            parameters.append(parameter.name)
        before, self.out = self.out, []
        for item in definition.body.block_items or []:
            self.statement(item)
        body = before + self.out or [ast.Pass()]
        python_name = declaration.name if is_kernel else f"ocl_own_{declaration.name}"
        python_name = f"{python_name}_" if keyword.iskeyword(python_name) else python_name
        args = ast.arguments([], [ast.arg(a) for a in arguments], None, [], [], None, [])
        made = ast.FunctionDef(python_name, args, body, [], None, type_params=[])
        self.put(made, (declaration.coord.line, 0), (declaration.coord.line, 0))
        last = max(n.end_lineno for n in ast.walk(made) if hasattr(n, "end_lineno"))
        made.end_lineno, made.end_col_offset = last, len(self.text.lines[last - 1].encode())
        if is_kernel:
            self._local_is_fenced(made)
        return Made(python_name, kinds, result, made, self.barriers)

    def _local_is_fenced(self, kernel):
        """Where work-items share local memory, some barrier has to be one of local memory."""
        shares = any(isinstance(n, ast.Attribute) and n.attr == "shared" for n in ast.walk(kernel))
        barriers = [*self.barriers, *(pair for made in self.made.values() for pair in made.barriers)]
        if shares and barriers and not any(flags & LOCAL_FENCE for _, flags in barriers):
            node, says = barriers[0][0], "the barrier orders global memory alone, and this kernel uses local memory"
            raise self.error(node, says, "barrier(CLK_LOCAL_MEM_FENCE)")

    def _parameter(self, node, kind, is_kernel, moves, arguments):
        python_name = self.python_name(node.name)
        if not isinstance(kind, Pointer):
            if is_kernel and isinstance(kind, Vector):
                raise self.error(node, "a kernel's argument is a number or an array here")
            entry = self.scopes[-1][node.name] = Variable((python_name,), kind)
            if isinstance(kind, Vector):
                entry.names = tuple(f"{python_name}_{i}" for i in range(kind.length))
            arguments += entry.names
            return
        offset = f"{python_name}_offset" if moves or not is_kernel else ""
        self.scopes[-1][node.name] = Variable((python_name,), kind, False, python_name, offset)
        if is_kernel and kind.space == "private":
            raise self.error(node, "a kernel's pointer needs an address space", f"__global {kind.of} *{node.name}")
        if is_kernel and kind.space == "local":
            maker = ast.Attribute(ast.Attribute(name("ocl_cuda"), "shared", ast.Load()), "array", ast.Load())
            count = self.local.get(node.name, 0) // np.dtype(dtype_name(kind.of)).itemsize
            if count < 1:
                raise self.error(node, f"{node.name} is in local memory, and no size came for it", "LocalMemory(bytes)")
            array = ast.Call(maker, [ast.Constant(count), name(f"ocl_{dtype_name(kind.of)}")], [])
            self.emit(ast.Assign([name(python_name, True)], array), node)
        else:
            arguments.append(python_name)
            if not is_kernel:
                arguments.append(offset)
        if is_kernel and moves:
            self.emit(ast.Assign([name(offset, True)], ast.Constant(0)), node)
