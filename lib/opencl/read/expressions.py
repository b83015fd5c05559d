"""Expressions of OpenCL C, each as a `Value`, `Parts` (a vector) or `Address` (a pointer)."""

import ast
import contextlib
import copy
import re
from dataclasses import dataclass, replace

import numpy as np
from pycparser import c_ast

from . import builtins
from .operations import Operations
from .types import (
    DOUBLE,
    FLOAT,
    INT,
    LONG,
    UINT,
    ULONG,
    Address,
    Array,
    Number,
    Parts,
    Pointer,
    Value,
    Vector,
    as_number,
    convert,
    exact,
    lanes,
    name,
    of_type,
    truth,
    variable,
    whole,
)

AXES = "xyzw"


@dataclass
class Variable:
    """What a name of the program is. names: its Python names, one for each component of a vector."""

    names: tuple
    type: object  # Number, Vector, Pointer or Array
    const: bool = False
    base: str = ""  # of a pointer: the array's Python name; "" while it points nowhere
    offset: str = ""  # of a pointer: the name of its offset; "": always 0
    known: object = None  # of a constant: its `Value`


class Expressions(Operations):
    """The part of `Reader` that reads expressions."""

    def expression(self, node):
        """A `Value`, `Parts` or `Address`, its tree with places in the text."""
        method = getattr(self, f"on_{type(node).__name__}", None)
        if method is None:
            raise self.error(node, f"{_WORDS.get(type(node).__name__, type(node).__name__)} is not read here")
        result = method(node)
        for value in result.values if isinstance(result, Parts) else [result]:
            self.located(value.offset.node if isinstance(value, Address) else value.node, node)
        return result

    def scalar(self, node, what="a number"):
        """The `Value` of an expression that must be a number."""
        return self.need_scalar(self.expression(node), node, what)

    def need_scalar(self, value, node, what="a number"):
        if not isinstance(value, Value) or value.type is None:
            raise self.error(node, f"{what} is expected here, and this is {self.described(value)}")
        return value

    def condition(self, node):
        return self.located(truth(self.scalar(node, "a condition")), node)

    def described(self, value):
        if isinstance(value, Value) and value.type is None:
            return "nothing: the function returns no value"
        if isinstance(value, Address):
            return f"a pointer ({value.type})"
        return f"a {value.type}"

    # -- names and constants -----------------------------------------------------------------------------------------

    def on_ID(self, node):
        if node.name in self.meanings:
            argument, *where = self.meanings[node.name]
            with self.within(*where):
                return self.expression(argument)
        entry = self.lookup(node.name)
        if entry is not None:
            return self.read_variable(entry, node)
        macro = self.text.macros.get(node.name)
        if macro is not None and macro.parameters is None:
            return self.expand(macro, (), node)
        if node.name in builtins.CONSTANTS:
            value = builtins.CONSTANTS[node.name]
            return whole(value) if isinstance(value, int) else self.real(value, FLOAT)
        raise self.error(node, f"{node.name!r} is not declared", self.near(node.name, self.names()))

    def read_variable(self, entry, node):
        if entry.known is not None:
            return copy.deepcopy(entry.known)
        if isinstance(entry.type, Vector):
            return Parts([variable(n, entry.type.of) for n in entry.names], entry.type)
        if isinstance(entry.type, Pointer):
            if not entry.base:
                raise self.error(node, f"the pointer {node.name!r} has no value yet")
            offset = variable(entry.offset, LONG) if entry.offset else whole(0, LONG)
            return Address(entry.base, offset, entry.type)
        if isinstance(entry.type, Array):
            pointer = Pointer(entry.type.of, entry.type.space, entry.const)
            if entry.type.shape == ():
                return self.load(Address(entry.names[0], whole(0, LONG), pointer), node)
            return Address(entry.names[0], whole(0, LONG), pointer, entry.type.shape)
        return variable(entry.names[0], entry.type)

    def expand(self, macro, arguments, node):
        """A macro, read where it is used."""
        if macro.body is None:
            raise self.error(node, f"the macro {macro.name} stands for `{macro.text}`, which is no expression")
        if macro.name in self.expanding:
            raise self.error(node, f"the macro {macro.name} uses itself")
        with self.macro(macro, arguments, node):
            return self.expression(macro.body)

    @contextlib.contextmanager
    def macro(self, macro, arguments, node):
        """Inside, its parameters mean the arguments, which are read as the macro's caller sees them."""
        caller = self.meanings, self.inside, self.expanding
        meanings = {p: (a, *caller) for p, a in zip(macro.parameters or (), arguments, strict=True)}
        with self.within(meanings, self.inside or self.span(node), (*self.expanding, macro.name)):
            yield

    def on_Constant(self, node):
        text = node.value
        if node.type in ("string", "char"):
            if node.type == "char" and len(text) == 3:
                return whole(ord(text[1]))
            raise self.error(node, "text is not read here", "Write what you want to see into an array")
        if "float" in node.type or "double" in node.type:
            return self.real(
                float.fromhex(text.rstrip("fF")) if "x" in text.lower() else float(text.rstrip("fFlL")),
                FLOAT if text[-1] in "fF" and "x" not in text.lower() else DOUBLE,
            )
        digits = text.lower().rstrip("ul")
        octal = len(digits) > 1 and digits[0] == "0" and digits.isdigit()
        number = int(digits, 8) if octal else int(digits, 0)
        suffix = text.lower()[len(digits) :]
        kinds = [k for k in (INT, UINT, LONG, ULONG) if not ("l" in suffix and k.bits < 64)]
        decimal = digits.isdigit() and not octal
        kinds = [k for k in kinds if k.signed != ("u" in suffix) or (not decimal and "u" not in suffix)]
        for kind in kinds:
            if number < 1 << kind.bits - kind.signed:
                return whole(number - (1 << 64) if number >> 63 else number, kind)
        raise self.error(node, f"{text} does not fit into 64 bits")

    def real(self, number, kind):
        """The `Value` of a floating-point constant."""
        if kind is DOUBLE:
            node = ast.Constant(abs(number))
            return Value(ast.UnaryOp(ast.USub(), node) if number < 0 else node, DOUBLE)
        key = f"ocl_f{len(self.namespace)}"
        self.namespace[key] = np.float32(number)
        return Value(name(key), FLOAT)

    # -- operators ---------------------------------------------------------------------------------------------------

    def on_BinaryOp(self, node):
        if node.op in ("&&", "||"):
            operation = ast.And() if node.op == "&&" else ast.Or()
            with self.in_place():
                parts = [self.condition(node.left), self.condition(node.right)]
            return Value(ast.BoolOp(operation, parts), INT, 0, 1, True)
        return self.operate(node.op, self.expression(node.left), self.expression(node.right), node)

    def on_UnaryOp(self, node):
        if node.op == "sizeof":
            return self.size_of(node)
        if node.op in ("++", "--", "p++", "p--"):
            raise self.error(
                node, f"{node.op.strip('p')} is read as a statement of its own only", "Give it a line before or after"
            )
        if node.op == "&":
            return self.address(node.expr)
        value = self.expression(node.expr)
        if node.op == "*":
            if not isinstance(value, Address):
                raise self.error(node, f"only a pointer can be followed, and this is {self.described(value)}")
            return self.load(value, node)
        if isinstance(value, Parts):
            return Parts([self.unary(node.op, v, node) for v in value.values], value.type)
        return self.unary(node.op, self.need_scalar(value, node), node)

    def address(self, node):
        """``&a[i]``, ``&total``: an `Address`."""
        address = self.target(node)
        if not isinstance(address, Address) or address.shape:
            raise self.error(node, "the address of a variable is not taken here", "Elements of arrays have one: &a[i]")
        return address

    def on_TernaryOp(self, node):
        test = self.condition(node.cond)
        with self.in_place():
            return self.choose(test, self.expression(node.iftrue), self.expression(node.iffalse), node)

    def on_Cast(self, node):
        kind = self.declared_type(node.to_type, node)
        operands = node.expr.exprs if isinstance(node.expr, c_ast.ExprList) else [node.expr]
        if isinstance(kind, Vector):
            return self.vector([self.expression(e) for e in operands], kind, node)
        if isinstance(kind, Pointer):
            value = self.expression(node.expr)
            if isinstance(value, Address) and value.type.of == kind.of:
                return value
            raise self.error(
                node, f"a pointer is not read as one to {kind.of} here", "Give the kernel an array of that type"
            )
        return convert(self.scalar(node.expr), kind)

    def on_ExprList(self, node):
        if len(node.exprs) == 1:
            return self.expression(node.exprs[0])
        raise self.error(node, "a comma between expressions is not read here", "Write two statements")

    def on_Assignment(self, node):
        raise self.error(node, "an assignment inside an expression is not read here", "Give it a line of its own")

    # -- memory ------------------------------------------------------------------------------------------------------

    def on_ArrayRef(self, node):
        target = self.target(node)
        return target if isinstance(target, Address) and target.shape else self.load(target, node)

    def on_StructRef(self, node):
        """``v.x``, ``v.s3``, ``v.xy``."""
        value = self.expression(node.name)
        if node.type != "." or not isinstance(value, Parts):
            raise self.error(node, f"components are read of vectors only, and this is {self.described(value)}")
        picked = [value.values[i] for i in self.components(node.field.name, value.type, node)]
        return picked[0] if len(picked) == 1 else Parts(picked, Vector(value.type.of, len(picked)))

    def components(self, field, kind, node):
        n = kind.length
        halves = {"lo": range(n // 2), "hi": range(n // 2, n), "even": range(0, n, 2), "odd": range(1, n, 2)}
        if field in halves:
            return list(halves[field])
        places = (
            [AXES.find(c) for c in field]
            if not re.fullmatch("[sS][0-9a-fA-F]+", field)
            else [int(c, 16) for c in field[1:]]
        )
        if any(not 0 <= p < n for p in places):
            raise self.error(node, f"a {kind} has no component .{field}")
        return places

    def target(self, node):
        """What is assigned to or taken the address of: an `Address`, or the `Variable` of a name."""
        if isinstance(node, c_ast.ID) and node.name not in self.meanings:
            entry = self.lookup(node.name)
            if entry is None or entry.known is not None:
                value = self.expression(node)  # a macro, or an error
                if isinstance(value, Address):
                    return value
                raise self.error(node, f"{node.name} is a constant", "Declare a variable for what changes")
            if isinstance(entry.type, Array):
                return Address(
                    entry.names[0],
                    whole(0, LONG),
                    Pointer(entry.type.of, entry.type.space, entry.const),
                    entry.type.shape,
                )
            return entry
        if isinstance(node, c_ast.UnaryOp) and node.op == "*":
            value = self.expression(node.expr)
            if isinstance(value, Address):
                return self.flat(value, node)
        if isinstance(node, c_ast.ArrayRef):
            return self.element(node)
        if isinstance(node, c_ast.ID):
            argument, *where = self.meanings[node.name]
            with self.within(*where):
                return self.target(argument)
        if isinstance(node, c_ast.FuncCall) and getattr(node.name, "name", "") in self.text.macros:
            macro = self.text.macros[node.name.name]
            with self.macro(macro, self.arguments(node), node):
                return self.target(macro.body)
        raise self.error(node, "this cannot be assigned to here", "On the left stands a variable or an element, a[i]")

    def element(self, node):
        """``a[i]``, ``tile[i][j]``: an `Address`."""
        subscripts, base = [], node
        while isinstance(base, c_ast.ArrayRef):
            subscripts.insert(0, base.subscript)
            base = base.name
        address = self.expression(base)
        if not isinstance(address, Address):
            raise self.error(node, f"only arrays and pointers have elements, and this is {self.described(address)}")
        indices = [self.index(s) for s in subscripts]
        if len(address.shape) > 1:
            if len(indices) != len(address.shape):
                raise self.error(
                    node,
                    f"the array has {len(address.shape)} axes, and {len(indices)} indices came",
                    "A row of an array is no pointer here: give all indices",
                )
            places = [as_number(i).node for i in indices]
            return replace(address, offset=Value(ast.Tuple(places, ast.Load()), LONG), shape=())
        if len(indices) > 1:
            raise self.error(node, "this array has one axis, and two indices came", "a[row * columns + column]")
        return replace(address, offset=self.moved(address.offset, indices[0], "+"), shape=())

    def index(self, node):
        value = self.scalar(node, "an index")
        if not value.type.whole:
            raise self.error(node, f"an index must be a whole number, and this is a {value.type}")
        return value if value.type.signed and value.type.bits == 32 and not value.truth else exact(value)

    def flat(self, address, node):
        if len(address.shape) > 1:
            raise self.error(node, "an array of two axes is no pointer here", "Give all indices: a[i][j]")
        return replace(address, shape=())

    def load(self, address, node):
        """The `Value` or `Parts` at an address."""
        address = self.flat(address, node)
        if isinstance(address.type.of, Vector):
            parts = [self.load(self.part(address, i), node) for i in range(lanes(address.type.of))]
            return Parts(parts, address.type.of)
        element = self.located(ast.Subscript(name(address.array), address.offset.node, ast.Load()), node)
        if address.type.of.whole:
            return of_type(self.call("ocl_int64", element), address.type.of)
        return Value(element, address.type.of)

    def part(self, address, i):
        """The address of a component: an array of vectors is one of their numbers."""
        begin = copy.deepcopy(address.offset)
        if not address.unscaled:
            begin = self.binary("*", begin, whole(lanes(address.type.of), LONG), None)
        return Address(
            address.array, self.binary("+", begin, whole(i, LONG), None), replace(address.type, of=address.type.of.of)
        )

    # -- calls -------------------------------------------------------------------------------------------------------

    def arguments(self, node):
        return node.args.exprs if node.args else []

    def on_FuncCall(self, node):
        if not isinstance(node.name, c_ast.ID):
            raise self.error(node, "only a function's name can be called")
        called, arguments = node.name.name, self.arguments(node)
        macro = self.text.macros.get(called)
        if macro is not None and macro.parameters is not None:
            if len(arguments) != len(macro.parameters):
                raise self.error(node, f"the macro {called} takes {len(macro.parameters)}, and {len(arguments)} came")
            return self.expand(macro, arguments, node)
        if called in self.functions:
            return self.call_function(called, [self.expression(a) for a in arguments], node)
        function = builtins.find(called)
        if function is None:
            cure = self.near(called, (*self.functions, *builtins.NAMES))
            raise self.error(node, f"the function {called}() is not known here", cure)
        return function(self, node, [self.expression(a) for a in arguments])

    def call_function(self, called, values, node):
        """A function of the program."""
        made = self.function(called, node)
        if len(values) != len(made.parameters):
            raise self.error(node, f"{called}() takes {len(made.parameters)} arguments, and {len(values)} came")
        arguments = []
        for value, kind in zip(values, made.parameters, strict=True):
            if isinstance(kind, Pointer):
                if not isinstance(value, Address) or value.type.of != kind.of:
                    raise self.error(
                        node, f"{called}() takes a pointer to {kind.of}, and this is {self.described(value)}"
                    )
                value = self.flat(value, node)
                arguments += [name(value.array), value.offset.node]
            elif isinstance(kind, Vector):
                arguments += [v.node for v in self.vector([value], kind, node).values]
            else:
                arguments.append(convert(self.need_scalar(value, node), kind).node)
        result = self.call(made.python_name, *arguments)
        return Value(result, None) if made.result is None else of_type(result, made.result)

    def size_of(self, node):
        kind = (
            self.declared_type(node.expr, node)
            if isinstance(node.expr, c_ast.Typename)
            else self.expression(node.expr).type
        )
        if not isinstance(kind, Number | Vector):
            raise self.error(node, "sizeof takes a number or a vector here")
        number = kind.of if isinstance(kind, Vector) else kind
        return whole(np.dtype(number.numpy).itemsize * lanes(kind), ULONG)


_WORDS = {
    "CompoundLiteral": "a compound literal",
    "InitList": "a list in braces",
    "Typename": "a type",
    "Goto": "goto",
    "Label": "a label",
}
