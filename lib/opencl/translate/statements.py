"""Statements of a kernel in OpenCL C. What is known of each variable is followed along the ways that threads take: a
loop is gone through until nothing changes any more, and the last round is what is written."""

import ast
import re
from dataclasses import replace

from numba.core import types

from .values import NAMES, NOTHING, STORED, ArrayValue, Several, Value

_SIGN = {ast.Add: "+", ast.Sub: "-", ast.Mult: "*", ast.Div: "/", ast.BitAnd: "&", ast.BitOr: "|", ast.BitXor: "^"}


class Statements:
    """The part of a function's translation that knows statements."""

    # -- output -------------------------------------------------------------------------------------------------------

    def emit(self, text):
        self.out.append(text)

    def apart(self, make):
        """(what ``make()`` returns, the statements that it needs before)."""
        outer, self.out = self.out, []
        try:
            result = make()
            return result, self.out
        finally:
            self.out = outer

    def fresh(self, wanted, of=None):
        """A name of C that nothing else has; the same again for the same ``of``."""
        if of is not None and of in self.named:
            return self.named[of]
        name, k = self.program.allowed(wanted), 1
        while name in self.taken:
            k += 1
            name = f"{wanted}_{k}"
        self.taken.add(name)
        if of is not None:
            self.named[of] = name
        return name

    def once(self, value):
        """A value that is used twice, by a name where it is more than one already."""
        if not isinstance(value, Value) or value.constant is not None or value.text.isidentifier():
            return value
        name = self.fresh("once")
        self.define(NAMES[value.in_c], name, value.text, "const ")
        return replace(value, text=name, binds=99)

    def define(self, c_type, name, text, const=""):
        """A variable of C's own, with its value; declared on top where statements are cut up by a guard."""
        declared = f"{c_type}{name}" if c_type.endswith("*") else f"{c_type} {name}"
        if self.guarded:
            self.top[name] = f"{declared};"
            self.emit(f"{name} = {text};")
        else:
            self.emit(f"{const}{declared} = {text};")

    # -- blocks -------------------------------------------------------------------------------------------------------

    def block(self, statements):
        for k, statement in enumerate(statements):
            if self.env is None:
                return
            self.comments(statement)
            if not self.guarded:
                for name in self.places.before.get(id(statement), ()):
                    self._declare(name)
            if self.turned_around(statement, statements[k + 1 :]):
                return
            self.statement(statement)

    def statement(self, node):
        self.at = node
        if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant):
            return
        if self.under is not None and self.meets(node):
            self.under_guard(node)
            return
        method = getattr(self, "on_" + type(node).__name__, None)
        if method is None:
            self.refuse(node, f"a {type(node).__name__} statement")
        if self.under is None:
            method(node)
            return
        guard, self.under = self.under, None  # inside it holds already
        _, lines = self.apart(lambda: method(node))
        self.under = guard
        self.guarded_lines(guard, lines)

    def _declare(self, name):
        for kind in self.variants.get(name, ()):
            if name not in self.arguments or kind != self.arguments[name].type:
                self.emit(f"{self.c_type(name, kind)} {self.c_name(name, kind)};")

    def on_Pass(self, node):
        pass

    def on_Expr(self, node):
        node.value.parent_statement = node
        value = self.expression(node.value)
        if isinstance(value, Value) and "(" in value.text:
            self.emit(f"{value.text};")

    def on_Assign(self, node):
        if self._is_alias(node):
            return
        value = self.expression(node.value)
        for target in node.targets:
            if len(node.targets) > 1 and isinstance(value, Value):
                value = self.once(value)
            self.assign(target, value, node)

    def _is_alias(self, node):
        return all(isinstance(t, ast.Name) and t.id in self.source.aliases for t in node.targets)

    def on_AnnAssign(self, node):
        if node.value is not None:
            self.assign(node.target, self.expression(node.value), node)

    def assign(self, target, value, node):
        if isinstance(target, ast.Name):
            self.assign_name(target.id, value, node)
        elif isinstance(target, ast.Tuple | ast.List):
            self._unpack(target, value, node)
        elif isinstance(target, ast.Subscript):
            array, indices = self._element(target)
            if len(indices) < len(array.shape):
                self.refuse(node, "a store into a whole row: write the loop")
            if not isinstance(value, Value):
                self.refuse(node, "a store of what is no number")
            self.store(target, array, indices, value)
        else:
            self.refuse(node, "such an assignment")

    def _element(self, target):
        array = self.expression(target.value)
        if not isinstance(array, ArrayValue):
            self.refuse(target, "an assignment to an item of what is no array")
        parts = target.slice.elts if isinstance(target.slice, ast.Tuple) else [target.slice]
        if any(isinstance(p, ast.Slice) for p in parts):
            self.refuse(target, "an assignment to a slice: write the loop")
        return array, self.index(target, array, parts)

    def _unpack(self, target, value, node):
        if isinstance(value, ArrayValue) or not isinstance(value, Several) or len(value.items) != len(target.elts):
            self.refuse(node, "an assignment to several names of what is no tuple of as many")
        values = list(value.items)
        for k, variable in enumerate(target.elts[:-1]):  # what is overwritten before it is read has another name first
            words = set() if not isinstance(variable, ast.Name) else {self.program.allowed(variable.id)}
            for later in range(k + 1, len(values)):
                v = values[later]
                text = v.text if isinstance(v, Value | ArrayValue) else ""
                if isinstance(variable, ast.Subscript) and "[" in text:
                    words = set(re.findall(r"\w+", text))
                if words & set(re.findall(r"\w+", text)):
                    values[later] = self.once(v) if isinstance(v, Value) and not text.isidentifier() else self._kept(v)
        for variable, item in zip(target.elts, values, strict=True):
            self.assign(variable, item, node)

    def _kept(self, value):
        """A copy of a variable, which is about to be changed."""
        if isinstance(value, Value):
            name = self.fresh("kept")
            self.define(NAMES[value.in_c], name, value.text, "const ")
            return replace(value, text=name)
        name, value = self.fresh("kept"), self.flat(value)
        self.define(self.pointer(value), name, value.text)
        return replace(value, text=name)

    @staticmethod
    def pointer(array):
        """The type of a pointer to an array's elements."""
        space = f"{array.space} " if array.space != "__private" else ""
        constant = "const " if array.readonly and array.space != "__constant" else ""
        return f"{space}{constant}{STORED[array.dtype]} *"

    def on_AugAssign(self, node):
        target = node.target
        if isinstance(target, ast.Name):
            old = self.expression(target)
        else:
            array, indices = self._element(target)
            if len(indices) < len(array.shape):
                self.refuse(node, "arithmetic with a whole row: write the loop")
            old = self.load(target, array, indices)
        value = self.expression(node.value)
        new = self.operation(node, node.op, old, value)
        plain = isinstance(value, Value) and type(node.op) in _SIGN and self._in_place(node.op, old, value, new)
        if isinstance(target, ast.Name):
            kinds = self.variants.get(target.id, [new.type])
            if plain and list(kinds) == [new.type] == [old.type]:
                self.apart(lambda: self.assign_name(target.id, new))
                self.emit(f"{old.text} {_SIGN[type(node.op)]}= {value.text};")
            else:
                self.assign_name(target.id, new, node)
        elif plain and array.dtype != types.float16:
            if array.readonly:
                self.refuse(node, "a store into an array that is read-only")
            self.emit(f"{old.text} {_SIGN[type(node.op)]}= {value.text};")
        else:
            self.store(target, array, indices, new)

    @staticmethod
    def _in_place(op, old, value, new):
        """Whether C's ``old op= value`` computes in the type that numba has."""
        if old.made == types.uint8 or isinstance(new.type, types.Boolean):
            return False
        if isinstance(new.type, types.Float):
            if value.constant is not None and value.in_c != new.type:
                return False
            c_type = types.float64 if types.float64 in (old.in_c, value.in_c) else types.float32
            return new.type == c_type and isinstance(old.type, types.Float)
        if isinstance(op, ast.Div) or isinstance(value.type, types.Float) or isinstance(old.type, types.Float):
            return False
        return isinstance(old.in_c, types.Integer)  # the low bits are the same in any width

    def on_Return(self, node):
        value = NOTHING if node.value is None else self.expression(node.value)
        if isinstance(value, Value) and isinstance(node.value, ast.Constant) and node.value.value is None:
            value = NOTHING
        self.return_value(node, value)
        self.env = None

    # -- branches -----------------------------------------------------------------------------------------------------

    def on_If(self, node):
        test = self.truth(node.test)
        if test.constant is not None:
            self.block(node.body if test.constant else node.orelse)
            return
        if not test.uniform and self.under is None and (self.all_meet(node.body) or self.all_meet(node.orelse)):
            self.guarded_if(node, test)
            return
        before, outer = dict(self.env), self.divergent
        self.divergent = outer or not test.uniform
        _, body = self.apart(lambda: self.block(node.body))
        body_env, self.env = self.env, before
        _, orelse = self.apart(lambda: self.block(node.orelse))
        self.env, self.divergent = self.joined_env(body_env, self.env), outer
        self.write_if(test, body, orelse)

    def write_if(self, test, body, orelse):
        if not body and orelse:
            test, body, orelse = self.negated(test), orelse, []
        if len(orelse) == 1 and isinstance(orelse[0], tuple) and orelse[0][0].startswith("if ("):
            self.out.append((f"if ({test.text}) {{", body, "} else " + orelse[0][0]))
            self.out.append(("", *orelse[0][1:]))
        elif (
            orelse
            and isinstance(orelse[0], tuple)
            and orelse[0][0].startswith("if (")
            and all(isinstance(o, tuple) and o[0] == "" for o in orelse[1:])
        ):
            self.out.append((f"if ({test.text}) {{", body, "} else " + orelse[0][0]))
            self.out.append(("", *orelse[0][1:]))
            self.out += orelse[1:]
        elif orelse:
            self.out += [(f"if ({test.text}) {{", body, "} else {"), ("", orelse, "}")]
        else:
            self.out.append((f"if ({test.text}) {{", body, "}"))
