"""One function of a translation: a kernel, or a device function for the types of one kind of call."""

import re

from numba.core import types

from simt.source.function import Source
from simt.source.syntax import local_names

from .arrays import Arrays
from .calls import Calls
from .choices import Choices
from .cuda import Cuda
from .errors import Refused
from .expressions import Expressions
from .loops import Loops
from .places import Places, comments_of
from .statements import Statements
from .together import Together
from .values import LARGEST, NAMES, NOTHING, STORED, ArrayValue, Several, Value, converted, number
from .variables import Variables, bare
from .warps import Warps

MOST_PASSES = 8


class Function(Statements, Loops, Variables, Together, Warps, Arrays, Calls, Cuda, Choices, Expressions):
    """A function on its way to C. It is gone through until the types of its variables are settled.

    arguments: parameter -> Value, ArrayValue, Several, or what is known. guarded: whether the first parameter says
    which threads take part.
    """

    def __init__(self, program, python_function, arguments, name, is_kernel, with_guard=False):
        self.program, self.python_function, self.name = program, python_function, name
        self.source = Source(python_function)
        self.is_kernel, self.with_guard = is_kernel, with_guard
        self.passed = arguments
        self.node = self.source.node
        program.variables |= self.source.locals
        self.comment_lines = comments_of(python_function)
        self.variants, self.small, self.returned = {}, set(), []
        self.needs_guards = with_guard
        self.left_apart, self.base_guard = False, False
        stores = list(_stores(self.node))
        self.store_counts = {n: stores.count(n) for n in set(stores)}
        self.places = Places(self.node.body, local_names(self.node) - set(self.source.parameters))
        self.hidden, self.result = set(), None

    # -- passes -------------------------------------------------------------------------------------------------------

    def translate(self):
        before = None
        for _ in range(MOST_PASSES):
            self._one_pass()
            now = (
                {k: tuple(v) for k, v in self.variants.items()},
                frozenset(self.small),
                self.result,
                self.needs_guards,
                self.base_guard,
            )
            if now == before:
                return self
            before = now
        return self.refuse(self.node, "variables whose types do not settle")

    def _one_pass(self):
        self.guarded = self.needs_guards
        self.under = "alive" if self.base_guard else "on" if self.with_guard else None
        self.guards = [self.under] if self.under else []
        self.out, self.env, self.reads, self.stores, self.ranges = [], {}, {}, {}, {}
        self.top, self.named, self.own_arrays, self.hidden = {}, {}, {}, set()
        self.breaks, self.continues, self.loop_guards, self.returned = [], [], [], []
        self.divergent, self.loop_divergence, self.simple = bool(self.under), [True, False], True
        self.said, self.left_apart = set(), False
        self.taken = (
            {self.program.allowed(n) for n in self.source.locals} | self.program.taken | {"exchange", "dynamic", "on"}
        )
        self.fixed_names, self.arguments = set(), {}
        if self.base_guard:
            self.top["alive"] = f"bool alive = {'on' if self.with_guard else 'true'};"
        self._parameters()
        self.block(self.node.body)
        self.result = _result_of(self)
        self.variants = {}
        for name in self.stores.keys() | self.reads.keys():
            read = self.reads.get(name) or self.stores[name]
            argument = self.arguments.get(name)
            declared = [argument.type] if argument is not None and argument.type in read else []
            self.variants[name] = declared + sorted(
                set(read) - set(declared), key=lambda t: (-t.bitwidth if hasattr(t, "bitwidth") else 0, str(t))
            )
        self.small = {
            name
            for name, (low, high) in self.ranges.items()
            if name not in self.arguments and -LARGEST <= low and high <= LARGEST
        }
        if self.left_apart and self.program.meets_at_all(self) and not self.base_guard:
            self.base_guard = self.needs_guards = True

    def statement(self, node):
        self.simple = self.is_simple(node) if not hasattr(node, "body") else self.is_simple(getattr(node, "test", node))
        super().statement(node)

    # -- parameters ---------------------------------------------------------------------------------------------------

    def _parameters(self):
        """Parameters in C, each with how a call finds it: (text of the declaration, name, path, what)."""
        self.parameters = []
        if self.with_guard:
            self.parameters.append(("bool on", "on", (), "guard"))
        for name, value in self.passed.items():
            parameter = self._parameter(self.program.allowed(name), value, (name,))
            self.env[name] = parameter
            if isinstance(parameter, Value):
                self.arguments[name] = parameter
                low, high = self.ranges.get(name, (parameter.low, parameter.high))
                self.ranges[name] = low, high
                self.stores.setdefault(name, set()).add(parameter.type)

    def _parameter(self, name, value, path):
        if isinstance(value, Several):
            return Several(tuple(self._parameter(f"{name}_{k}", g, (*path, k)) for k, g in enumerate(value.items)))
        if isinstance(value, Value):
            self.taken.add(name)
            c_type = NAMES[value.type]
            if self.is_kernel and value.type == types.boolean:
                c_type = "uchar"  # a bool has no size that host and device share
            self.parameters.append((f"{c_type} {name}", name, path, "number"))
            return number(name, value.type, value.low, value.high, uniform=value.uniform)
        if not isinstance(value, ArrayValue):
            return value
        self.taken.add(name)
        if value.fixed:
            space = f"{value.space} " if value.space != "__private" else ""
            extents = "".join(f"[{v.text}]" for v in value.shape)
            self.parameters.append((f"{space}{STORED[value.dtype]} {name}{extents}", name, path, "pointer"))
            return ArrayValue(name, value.dtype, value.space, value.shape, None, True, value.readonly, value.uniform)
        self.parameters.append((f"{self.pointer(value)}{name}", name, path, "pointer"))
        shape = self._extents(f"{name}_shape", "shape", value.shape, path)
        if len(shape) == 1 and shape[0].constant is None:
            self.parameters[-1] = (f"long {name}_size", f"{name}_size", path, "shape", 0)
            shape = (number(f"{name}_size", types.int64, 0, LARGEST),)
            self.fixed_names.add(f"{name}_size")
        strides = None if value.strides is None else self._extents(f"{name}_stride", "strides", value.strides, path)
        return ArrayValue(name, value.dtype, value.space, shape, strides, False, value.readonly, value.uniform)

    def _extents(self, stem, what, values, path):
        made = []
        for k, value in enumerate(values):
            if value.constant is not None:
                made.append(value)
                continue
            low = 0 if value.low >= 0 else -LARGEST
            self.parameters.append((f"long {stem}{k}", f"{stem}{k}", path, what, k))
            self.fixed_names.add(f"{stem}{k}")
            made.append(number(f"{stem}{k}", types.int64, low, LARGEST))
        return tuple(made)

    # -- calls of other functions -------------------------------------------------------------------------------------

    def call_translated(self, node, python_function, values):
        meets = self.program.function_meets(self.source, node)
        if meets and self.divergent and self.under is None:
            self.refuse(
                node,
                f"a call of {python_function.__name__}, which has a barrier or shuffle inside, in an expression "
                "where threads part ways: take it out of the expression",
            )
        if meets:
            values = {
                name: self.argument_kept(v) if isinstance(v, Value | ArrayValue | Several) else v
                for name, v in values.items()
            }
        callee = self.program.function(self, node, python_function, values, meets and self.under is not None)
        self.hidden |= callee.hidden
        passed = [self._given(values, parameter) for parameter in callee.used_parameters()]
        passed += [self.program.hidden_name(h) for h in sorted(callee.hidden, key=str)]
        text = f"{callee.name}({', '.join(passed)})"
        uniform = meets and callee.result_uniform
        uniform = uniform or (
            not meets and callee.result_uniform and all(getattr(v, "uniform", True) for v in values.values())
        )
        if callee.result is None:
            if meets:
                self.meeting([f"{text};"])
            else:
                self.emit(f"{text};")
            return NOTHING
        c_type = callee.result_type()
        if isinstance(callee.result, tuple):
            name = self.fresh("pair" if len(callee.result) == 2 else "results")
            self._called(name, c_type, text, meets)
            return Several(
                tuple(
                    number(f"{name}.v{k}", kind, *r, uniform=uniform)
                    for k, (kind, r) in enumerate(zip(callee.result, callee.result_ranges, strict=True))
                )
            )
        low, high = callee.result_ranges[0]
        if meets and (self.under is not None or not self.simple):
            name = self.fresh("result")
            self._called(name, c_type, text, meets)
            text = name
        return number(text, callee.result, low, high, uniform=uniform)

    def _called(self, name, c_type, text, meets):
        if self.under is None or not meets:
            self.define(c_type, name, text, "const ")
        else:
            self.top[name] = f"{c_type} {name};"
            self.meeting([f"{name} = {text};"])

    def _given(self, values, parameter):
        _, _, path, what, *axis = parameter
        if what == "guard":
            return self.under
        value = values[path[0]]
        for k in path[1:]:
            value = value.items[k]
        if what == "number":
            return converted(value, value.type, implicit=True).text
        if what == "pointer":
            text = value.text if value.fixed and len(value.shape) else self.flat(value).text
            return bare(text)
        return (value.shape if what == "shape" else value.strides)[axis[0]].text

    # -- results ------------------------------------------------------------------------------------------------------

    def returned_text(self, value):
        if isinstance(value, Several):
            kinds = self.result if isinstance(self.result, tuple) else tuple(v.type for v in value.items)
            parts = ", ".join(converted(v, k, implicit=True).text for v, k in zip(value.items, kinds, strict=False))
            return f"({self.program.struct(kinds)}){{{parts}}}"
        if isinstance(value, ArrayValue):
            self.refuse(self.node, "a device function that returns an array: hand the array to it")
        kind = self.result if isinstance(self.result, types.Type) else value.type
        return converted(value, kind, implicit=True).text

    def result_type(self):
        if self.result is None:
            return "void"
        return self.program.struct(self.result) if isinstance(self.result, tuple) else NAMES[self.result]

    # -- the text -----------------------------------------------------------------------------------------------------

    def used_parameters(self):
        text = "\n".join(_flat(self.out)) + "\n".join(self.top.values())
        words = set(re.findall(r"\w+", text))
        keep = ("pointer", "guard") if not self.is_kernel else ("pointer", "guard", "number")
        return [p for p in self.parameters if p[3] in keep or p[1] in words or p[3] == "number"]

    def text(self):
        declared = [p[0] for p in self.used_parameters()]
        declared += (
            [self.program.hidden_declaration(h) for h in sorted(self.hidden, key=str)] if not self.is_kernel else []
        )
        if self.is_kernel and "dynamic" in self.hidden:
            declared.append("__local char *dynamic")
        body = (
            [*self._docstring(), *self.program.kernel_declarations(self)] if self.is_kernel else list(self._docstring())
        )
        body += list(self.own_arrays.values()) + list(self.top.values())
        if self.guarded:
            body += [
                f"{self.c_type(n, k)} {self.c_name(n, k)};"
                for n in sorted(self.variants)
                for k in self.variants[n]
                if n not in self.arguments or self.arguments[n].type != k
            ]
        body += [
            f"{self.c_name(n, k)} = {self.program.allowed(n)};"
            if self.guarded
            else f"{NAMES[k]} {self.c_name(n, k)} = {self.program.allowed(n)};"
            for n in self.arguments
            for k in self.variants.get(n, ())
            if k != self.arguments[n].type
        ]
        uses_result = self.under_result()
        if uses_result:
            body.append(f"{self.result_type()} result;")
        body += self.out
        if uses_result:
            body.append("return result;")
        head = "__kernel void" if self.is_kernel else self.result_type()
        lines = [f"{head} {self.name}("]
        one_line = f"{head} {self.name}({', '.join(declared)}) {{"
        if len(one_line) <= 120:
            lines = [one_line]
        else:
            line = "    "
            for k, declaration in enumerate(declared):
                declaration += "," if k + 1 < len(declared) else ""
                if len(line) + len(declaration) > 116:
                    lines.append(line.rstrip())
                    line = "    "
                line += declaration + " "
            lines += [line.rstrip(), ") {"]
        return "\n".join([*lines, *_rendered(body, 1), "}"])

    def under_result(self):
        return self.result is not None and bool(
            self.guards or self.base_guard or self.with_guard or self._assigns_result()
        )

    def _assigns_result(self):
        return any(line.startswith("result = ") for line in _flat(self.out))

    def _docstring(self):
        import ast

        text = ast.get_docstring(self.node) if isinstance(self.node, ast.FunctionDef) else None
        return [f"// {line}".rstrip() for line in (text or "").splitlines()]

    def comments(self, statement):
        """Comments above a statement and at its end."""
        first_line = statement.lineno
        for line in sorted(self.comment_lines):
            text, alone = self.comment_lines[line]
            ends = not hasattr(statement, "body") and first_line <= line <= statement.end_lineno
            belongs = (alone and self._above(line, first_line)) or (not alone and (line == first_line or ends))
            if belongs and line not in self.said:
                self.out.append(f"// {text}")

    def _above(self, line, first_line):
        return line < first_line and all(
            k in self.comment_lines and self.comment_lines[k][1] for k in range(line, first_line)
        )

    def refuse(self, node, what):
        node = node if hasattr(node, "lineno") else getattr(self, "at", self.node)
        node = node if hasattr(node, "end_lineno") and node.end_lineno else self.node
        return self.source.refuse(node, what, error=Refused, kernel=self.name)


def _result_of(function):
    """(type or types of what a function returns); None for nothing."""
    from functools import reduce

    from simt import numbers

    values = [v for v in function.returned if v is not NOTHING]
    function.result_ranges, function.result_uniform = [(None, None)], False
    if not values:
        return None

    def both(a, b):
        kind = a if a == b else numbers.unify(a, b)
        return kind if kind in NAMES else function.refuse(function.node, f"a result that is {a} or {b}")

    split = [v.items if isinstance(v, Several) else (v,) for v in values]
    if any(not isinstance(v, Value) for items in split for v in items) or len({len(i) for i in split}) > 1:
        function.refuse(function.node, "a device function that returns what is no number, or no tuple of such")
    kinds = [reduce(both, [v.type for v in column]) for column in zip(*split, strict=True)]
    function.result_ranges = [
        (min(v.low for v in c), max(v.high for v in c)) if all(v.is_whole for v in c) else (None, None)
        for c in zip(*split, strict=True)
    ]
    function.result_uniform = all(v.uniform for items in split for v in items) and not function.left_apart
    return tuple(kinds) if isinstance(values[0], Several) else kinds[0]


def _stores(node):
    import ast

    for n in ast.walk(node):
        if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Store):
            yield n.id


def _flat(lines):
    for line in lines:
        if isinstance(line, str):
            yield line
        elif isinstance(line, tuple):
            yield line[0]
            yield from _flat(line[1])
            yield line[2]
        else:
            yield from _flat(line)


def _rendered(lines, depth):
    result, indent = [], "    " * depth
    for line in lines:
        if isinstance(line, str):
            result.append(indent + line)
        elif isinstance(line, tuple):
            if line[0]:
                result.append(indent + line[0])
            result += _rendered(line[1], depth + 1)
            result.append(indent + line[2])
        else:
            result += _rendered(line, depth)
    return result
