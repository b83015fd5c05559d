"""Statements of a kernel in OpenCL C. What is known of each variable is followed along the ways that threads take: a
loop is gone through until nothing changes any more, and the last round is what is written."""

import ast
import re
from dataclasses import replace

from numba.core import types

from simt import numbers
from simt.source.syntax import names_in, stored_names

from .translate_values import (
    LARGEST,
    NAMES,
    NOTHING,
    STORED,
    ArrayValue,
    Several,
    Value,
    bounds,
    converted,
    in_parentheses,
    literal,
    number,
)

_SIGN = {
    ast.Add: "+", ast.Sub: "-", ast.Mult: "*", ast.Div: "/", ast.BitAnd: "&", ast.BitOr: "|", ast.BitXor: "^",
}  # fmt: skip


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
        if self.guarded:
            self.top[name] = f"{c_type} {name};".replace("* ", "*")
            self.emit(f"{name} = {text};")
        else:
            self.emit(f"{const}{c_type} {name} = {text};".replace("* ", "*"))

    # -- variables ----------------------------------------------------------------------------------------------------

    def read(self, node, name):
        value = self.env.get(name)
        if value is None:
            self.refuse(node, f"{name!r}, which has no value here")
        if isinstance(value, Value):
            self.reads.setdefault(name, set()).add(value.type)
            return replace(value, text=self.c_name(name, value.type), made=self.narrow(name, value.type))
        return value

    def c_name(self, name, kind):
        """The variable of C that holds a variable as one type."""
        kinds = self.variants.get(name, ())
        plain = self.program.allowed(name)
        return plain if len(kinds) < 2 or kind == kinds[0] else f"{plain}_{NAMES[kind]}"

    def narrow(self, name, kind):
        """int, where that holds all that a variable is ever given."""
        return types.int32 if kind == types.int64 and name in self.small else None

    def c_type(self, name, kind):
        return NAMES[self.narrow(name, kind) or kind]

    def assign_name(self, name, value, statement=None):
        if isinstance(value, Several):
            self._assign_tuple(name, value)
        elif isinstance(value, ArrayValue):
            self._assign_array(name, value)
        elif value is NOTHING:
            self.env[name] = NOTHING
        elif isinstance(value, types.Type):
            self.env[name] = value
        else:
            self._assign_number(name, value, statement)

    def _assign_number(self, name, value, statement):
        kinds = self.variants.get(name) or [value.type]
        low, high = self.ranges.get(name, (value.low, value.high))
        self.ranges[name] = min(low, value.low), max(high, value.high)
        self.stores.setdefault(name, set()).add(value.type)
        if len(kinds) > 1:
            value = self.once(value)
        declares = statement is not None and (id(statement), name) in self.places.inline and not self.guarded
        for kind in kinds:
            narrow = self.narrow(name, kind)
            given = _without_cast(value, narrow or kind)
            given = given or converted(replace(value, type=kind) if narrow else value, narrow or kind, implicit=True).text
            text = f"{self.c_name(name, kind)} = {given};"
            self.emit(f"{NAMES[narrow or kind]} {text}" if declares else text)
        known = number("", value.type, value.low, value.high, uniform=value.uniform and not self.divergent)
        self.env[name] = known

    def _assign_tuple(self, name, value):
        items = []
        for k, item in enumerate(value.items):
            if isinstance(item, Value):
                own = self.fresh(f"{name}_{k}", of=(name, k, item.type))
                self.top[own] = f"{NAMES[item.type]} {own};"
                self.emit(f"{own} = {converted(item, item.type, implicit=True).text};")
                item = replace(item, text=own, made=None, constant=None, binds=99,
                               uniform=item.uniform and not self.divergent)  # fmt: skip
            items.append(item)
        self.env[name] = Several(tuple(items))

    def _assign_array(self, name, value):
        if self.store_counts.get(name) == 1 and name not in self.arguments and re.fullmatch(r"\w+", value.text):
            self.env[name] = value  # another name for the same array
            return
        value = self.flat(value)
        own = self.fresh(name, of=(name, *value.form))
        self.top[own] = f"{self.pointer(value)}{own};"
        shape, strides = (
            None if each is None else tuple(self._extent(f"{own}_{what}{k}", v) for k, v in enumerate(each))
            for what, each in (("shape", value.shape), ("stride", value.strides))
        )
        self.emit(f"{own} = {value.text};")
        self.env[name] = replace(
            value, text=own, shape=shape, strides=strides, uniform=value.uniform and not self.divergent
        )

    def _extent(self, name, value):
        if value.constant is not None or value.text in self.fixed_names:
            return value
        self.top[name] = f"long {name};"
        self.emit(f"{name} = {value.text};")
        return replace(value, text=name, made=None, binds=99)

    def joined_env(self, *ways):
        """What is known where several ways meet; a way is None where no thread comes from there."""
        ways = [way for way in ways if way is not None]
        if not ways:
            return None
        result = dict(ways[0])
        for way in ways[1:]:
            for name, value in way.items():
                result[name] = self._joined(name, result[name], value) if name in result else value
        return result

    def _joined(self, name, a, b):
        if a is b or a == b:
            return a
        if isinstance(a, Value) and isinstance(b, Value):
            kind = a.type if a.type == b.type else numbers.unify(a.type, b.type)
            if kind is None:
                self.refuse(self.source.node, f"{name!r} is {a.type} on one way and {b.type} on another")
            both = a.is_whole and b.is_whole
            low, high = (min(a.low, b.low), max(a.high, b.high)) if both else (None, None)
            return number("", kind, low, high, uniform=a.uniform and b.uniform)
        if isinstance(a, Several) and isinstance(b, Several) and len(a.items) == len(b.items):
            return Several(tuple(_joined_item(x, y) for x, y in zip(a.items, b.items, strict=True)))
        if isinstance(a, ArrayValue) and isinstance(b, ArrayValue) and a.form == b.form:
            same = [x.text == y.text for x, y in zip(a.shape, b.shape, strict=True)]
            if all(same) and a.text == b.text:
                return replace(a, uniform=a.uniform and b.uniform)
        return self.refuse(self.source.node, f"{name!r}, which is another kind of array on each way: use two names")

    def widened(self, before, after):
        """``after``, with bounds that still move set to those of the type, so that a loop comes to an end."""
        result = {}
        for name, value in after.items():
            old = before.get(name)
            if isinstance(value, Value) and isinstance(old, Value) and old.type == value.type and value.is_whole:
                low, high = bounds(value.type)
                value = replace(
                    value,
                    low=value.low if value.low == old.low else 0 if value.low >= 0 else low,
                    high=value.high if value.high == old.high else high,
                )
            result[name] = value
        return result

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
        _, lines = self.apart(lambda: method(node))
        self.guarded_lines(self.under, lines)

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
        for k, each in enumerate(target.elts[:-1]):  # what is overwritten before it is read has another name first
            words = set() if not isinstance(each, ast.Name) else {self.program.allowed(each.id)}
            for later in range(k + 1, len(values)):
                v = values[later]
                text = v.text if isinstance(v, Value | ArrayValue) else ""
                if isinstance(each, ast.Subscript) and "[" in text:
                    words = set(re.findall(r"\w+", text))
                if words & set(re.findall(r"\w+", text)):
                    values[later] = self.once(v) if isinstance(v, Value) and not text.isidentifier() else self._kept(v)
        for each, item in zip(target.elts, values, strict=True):
            self.assign(each, item, node)

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
                _, lines = self.apart(lambda: self.assign_name(target.id, new))
                del lines
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
        first, self.env = self.env, before
        _, other = self.apart(lambda: self.block(node.orelse))
        self.env, self.divergent = self.joined_env(first, self.env), outer
        self.write_if(test, body, other)

    def write_if(self, test, body, other):
        if not body and other:
            test, body, other = self.negated(test), other, []
        if len(other) == 1 and isinstance(other[0], tuple) and other[0][0].startswith("if ("):
            self.out.append((f"if ({test.text}) {{", body, "} else " + other[0][0]))
            self.out.append(("", *other[0][1:]))
        elif other and isinstance(other[0], tuple) and other[0][0].startswith("if (") and all(
            isinstance(o, tuple) and o[0] == "" for o in other[1:]
        ):  # fmt: skip
            self.out.append((f"if ({test.text}) {{", body, "} else " + other[0][0]))
            self.out.append(("", *other[0][1:]))
            self.out += other[1:]
        elif other:
            self.out += [(f"if ({test.text}) {{", body, "} else {"), ("", other, "}")]
        else:
            self.out.append((f"if ({test.text}) {{", body, "}"))

    # -- loops --------------------------------------------------------------------------------------------------------

    def on_While(self, node):
        if self.meets(node) and self.under is None and not self._uniform_loop(node):
            self.loop_together(node)
            return
        if node.orelse:
            self.refuse(node, "an `else` of a loop")

        def head():
            test = self.truth(node.test)
            return test, test.uniform

        def write(test, before, body):
            if before:
                stop = [*before, (f"if ({self.negated(test).text}) {{", ["break;"], "}")]
                self.out.append(("while (true) {", stop + body, "}"))
            else:
                self.out.append((f"while ({test.text}) {{", body, "}"))

        self.loop(node, head, write, always=isinstance(node.test, ast.Constant) and bool(node.test.value))

    def _uniform_loop(self, node):
        """Whether all threads go round a loop equally often, as far as can be seen."""
        try:
            test, _ = self.apart(lambda: self.truth(node.test) if isinstance(node, ast.While) else self.range_of(node))
        except AttributeError:
            return False
        values = test if isinstance(test, tuple) else (test,)
        probe = all(v.uniform for v in values if isinstance(v, Value)) and not self.divergent
        return probe and not self._left_apart(node)

    def _left_apart(self, loop):
        """Whether threads may leave a loop, or a round of it, one by one."""
        return any(
            isinstance(n, ast.If) and any(isinstance(m, ast.Break | ast.Continue | ast.Return) for m in ast.walk(n))
            and not self._seems_uniform(n.test)
            for n in ast.walk(loop)
        )  # fmt: skip

    def _seems_uniform(self, test):
        saved = dict(self.env), set(self.taken)
        try:
            value, _ = self.apart(lambda: self.truth(test))
            return value.uniform
        except Exception:
            return False
        finally:
            self.env, self.taken = saved

    def loop(self, node, head, write, always=False):
        """Go through a loop until what is known at its head does not change, then write it."""
        start, outer, reads = dict(self.env), self.divergent, {k: set(v) for k, v in self.reads.items()}
        apart = False
        while True:
            self.env, self.reads = dict(start), {k: set(v) for k, v in reads.items()}
            self.breaks.append([])
            self.continues.append([])
            self.divergent = outer or apart
            loop_divergence, self.loop_divergence = self.loop_divergence, [self.divergent, False]
            (test, uniform), before = self.apart(head)
            self.divergent = self.divergent or not uniform
            self.loop_divergence[0] = self.divergent
            at_head = dict(self.env)
            _, body = self.apart(lambda: self.block(node.body))
            end = self.joined_env(self.env, *self.continues.pop())
            breaks = self.breaks.pop()
            left, self.loop_divergence = self.loop_divergence[1], loop_divergence
            around = start if end is None else self.joined_env(start, end)
            again = self.widened(start, around)
            if again == start and left == apart:
                break
            start, apart = again, apart or left
        self.divergent = outer
        self.env = self.joined_env(None if always else at_head, *breaks)
        while body and body[-1] == "continue;":
            body.pop()
        write(test, before, body)

    def on_Break(self, node):
        self.breaks[-1].append(self.env)
        self._leave(self.leaving("break"))

    def on_Continue(self, node):
        self.continues[-1].append(self.env)
        self._leave(self.leaving("continue"))

    def _leave(self, text):
        if self.divergent and not self.loop_divergence[0]:
            self.loop_divergence[1] = True
        self.emit(text)
        self.env = None

    def range_of(self, node):
        """(start, stop, step) of a ``for`` over a range."""
        given = [self.number_of(a) for a in node.iter.args]
        if len(given) == 1:
            given = [literal(0), given[0]]
        return (*given, literal(1)) if len(given) == 2 else tuple(given)

    def is_range(self, node):
        return (
            isinstance(node.iter, ast.Call)
            and isinstance(node.iter.func, ast.Name)
            and not self.source.is_local(node.iter.func)
            and self.source.static(node.iter.func)[1] is range
        )

    def on_For(self, node):
        if node.orelse:
            self.refuse(node, "an `else` of a loop")
        if not self.is_range(node):
            self._for_each(node)
            return
        if self.meets(node) and self.under is None and not self._uniform_loop(node):
            self.loop_together(node)
            return
        self.range_loop(node)

    def range_loop(self, node):
        if not isinstance(node.target, ast.Name):
            self.refuse(node, "such a loop")
        given = self.range_of(node)
        kind = self.typed(node, range, *(v.type for v in given[: len(node.iter.args)] or given))[1].dtype
        if len(node.iter.args) == 1:
            kind = self.typed(node, range, given[1].type)[1].dtype
        assigned = stored_names(ast.Module(node.body, []))
        start, stop, step = (self._fixed(v, assigned, node) for v in given)
        if step.low <= 0 <= step.high:
            self._for_by_count(node, start, stop, step, kind)
            return
        self._counted(node, start, stop, step, kind, assigned)

    def _fixed(self, value, assigned, node):
        """The end of a range is found once: by a name where something in the loop may change it."""
        words = set(re.findall(r"[A-Za-z_]\w*", value.text))
        changes = words & {self.c_name(n, value.type) for n in assigned} or "[" in value.text or "(" in value.text
        changes = changes and value.constant is None and not re.fullmatch(r"\(int\)get_\w+\(\d\)", value.text)
        return self.once(value) if changes else value

    def _counted(self, node, start, stop, step, kind, assigned):
        name, up = node.target.id, step.low > 0
        low, high = (start.low, max(start.low, stop.high - 1)) if up else (min(start.high, stop.low + 1), start.high)
        uniform = start.uniform and stop.uniform and step.uniform
        own = name in assigned or self._read_outside(name, node)  # then C's counter is another variable
        counter = self.fresh(f"{name}_next", of=(id(node), "counter")) if own else self.c_name(name, kind)
        item = number(counter, kind, low, high, uniform=uniform)
        beyond = low < -LARGEST or high + max(abs(step.low), abs(step.high)) > LARGEST
        made = types.int32 if own and kind == types.int64 and not beyond else None

        def head():
            if own:
                self.assign_name(name, replace(item, made=made))
            else:
                _, lines = self.apart(lambda: self.assign_name(name, item))
                if beyond and kind == types.int64:
                    self.ranges[name] = bounds(kind)
            return item, uniform

        def write(_, before, body):
            kinds = self.variants.get(name, [kind])
            declared = own or (id(node), name) in self.places.in_head and not self.guarded
            c_kind = (made or kind) if own else (self.narrow(name, kind) or kind)
            first = f"{NAMES[c_kind]} " if declared else ""
            if not own and len(kinds) > 1:
                self.refuse(node, f"the variable {name!r} of a loop, which has two types: use two names")
            text = f"{first}{counter} = {converted(start, c_kind, implicit=True).text}; "
            text += f"{self._before_end(counter, c_kind, stop, up)}; {_stepped(counter, step)}"
            self.out.append((f"for ({text}) {{", before + body, "}"))

        self.loop(node, head, write)

    def _before_end(self, counter, c_kind, stop, up):
        item = number(counter, c_kind)
        a, b = self._same_sign("<", replace(item, low=0 if stop.low >= 0 else item.low), stop)
        return f"{a.text} {'<' if up else '>'} {in_parentheses(b, 9)}"

    def _read_outside(self, name, loop):
        """Whether a variable is read where the loop is over, so that it needs the value of the last round."""
        inside = set()
        for other in ast.walk(self.source.node):
            if isinstance(other, ast.For) and isinstance(other.target, ast.Name) and other.target.id == name:
                inside |= {id(n) for n in ast.walk(other)}
        return any(
            isinstance(n, ast.Name) and n.id == name and isinstance(n.ctx, ast.Load) and id(n) not in inside
            for n in ast.walk(self.source.node)
        )

    def _for_by_count(self, node, start, stop, step, kind):
        """A range whose step may go either way: counted."""
        start, stop, step = (self.once(v) for v in (start, stop, step))
        turns, k = self.fresh("turns"), self.fresh("turn")
        self.define("long", turns, f"range_length({start.text}, {stop.text}, {step.text})", "const ")
        uniform = start.uniform and stop.uniform and step.uniform

        def head():
            value = number(f"{start.text} + {k} * {in_parentheses(step, 11)}", kind, uniform=uniform, binds=10)
            self.assign_name(node.target.id, value)
            return value, uniform

        def write(_, before, body):
            self.out.append((f"for (long {k} = 0; {k} < {turns}; {k}++) {{", before + body, "}"))

        self.loop(node, head, write)

    def _for_each(self, node):
        """A loop over a tuple, written out; over an array, by an index."""
        of = self.expression(node.iter)
        if isinstance(of, Several):
            if any(isinstance(n, ast.Break | ast.Continue) for n in ast.walk(node)):
                self.refuse(node, "a loop over a tuple that can be left early: loop over a range")
            for item in of.items:
                inner = []
                outer, self.out = self.out, inner
                self.assign(node.target, item, node)
                self.block(node.body)
                self.out = outer
                self.out.append(("{", inner, "}"))
            return
        if not isinstance(of, ArrayValue):
            self.refuse(node, "such a loop")
        k = self.fresh("k")

        def head():
            at = number(k, types.int64, 0, LARGEST, uniform=True)
            value = self.load(node, of, [at]) if len(of.shape) == 1 else self.view(of, [at])
            self.assign(node.target, value, node)
            return at, of.shape[0].uniform

        def write(_, before, body):
            self.out.append((f"for (long {k} = 0; {k} < {of.shape[0].text}; {k}++) {{", before + body, "}"))

        self.loop(node, head, write)


def _joined_item(a, b):
    if isinstance(a, Value) and isinstance(b, Value) and a.type == b.type and a.text == b.text:
        return replace(a, low=min(a.low, b.low), high=max(a.high, b.high), uniform=a.uniform and b.uniform)
    return a


def _stepped(counter, step):
    if step.constant == 1:
        return f"{counter}++"
    if step.constant == -1:
        return f"{counter}--"
    return f"{counter} -= {-step.constant}" if step.high < 0 and step.constant else f"{counter} += {step.text}"


def _without_cast(value, kind):
    """The text of a cast to the very type of the variable that it is assigned to, without the cast."""
    found = re.fullmatch(r"\((\w+)\)(get_\w+\(\d\))", value.text)
    return found[2] if found and isinstance(kind, types.Integer) else None


__all__ = ["Statements", "names_in"]
