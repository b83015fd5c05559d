"""Where threads of a block part ways and meet all the same: a warp's shuffle within ``if warp == 0``, say.

Here a warp's operations go by __local memory and barriers, which all work-items of a group must reach. So a branch
with such an operation inside becomes a guard: its other statements run under ``if (guard)``, the operation is reached
by all, and only those whose guard is true take part. A loop goes on while any of them does.
"""

import ast

from simt.intrinsics import stand_ins
from simt.source.function import Source
from simt.source.known import as_called
from simt.source.names import DeviceName

from .values import NAMES, NOTHING, Several, Value, converted, number


class Meeting(list):
    """Statements that all threads run, whatever their guard says."""


class Together:
    """The part of a function's translation that knows guards. under: the guard that holds here, or None."""

    # -- who meets ----------------------------------------------------------------------------------------------------

    def meets(self, node):
        """Whether a statement has an operation inside that all threads must reach, or leaves a loop under a guard."""
        if self.program.meets(self.source, node):
            return True
        return self.under is not None and self._leaves(node)

    def all_meet(self, block):
        return any(self.program.meets(self.source, statement) for statement in block)

    def _leaves(self, node, inner=False):
        if isinstance(node, ast.Return):
            return True
        if isinstance(node, ast.Break | ast.Continue):
            return not inner
        inner = inner or isinstance(node, ast.For | ast.While)
        return any(self._leaves(child, inner) for child in ast.iter_child_nodes(node))

    # -- guards -------------------------------------------------------------------------------------------------------

    def guard(self, wanted, of):
        self.needs_guards = True
        name = self.fresh(wanted, of=of)
        self.top[name] = f"bool {name};"
        return name

    def guarded_lines(self, guard, lines):
        """Write statements for the threads whose guard is true; what is a `Meeting`, for all."""
        for line in lines:
            if isinstance(line, Meeting):
                self.out += list(line)
            elif (
                self.out
                and isinstance(self.out[-1], tuple)
                and self.out[-1][0] == f"if ({guard}) {{"
                and (not self._changes(self.out[-1][1], guard))
            ):
                self.out[-1][1].append(line)
            else:
                self.out.append((f"if ({guard}) {{", [line], "}"))

    @staticmethod
    def _changes(lines, guard):
        return any(isinstance(line, str) and f"{guard} = " in line for line in lines)

    def meeting(self, lines):
        """Write what all threads run."""
        if self.under is None:
            self.out += lines
        else:
            self.out.append(Meeting(lines))

    def under_guard(self, node):
        """A statement with a meeting inside, where a guard holds."""
        if isinstance(node, ast.If):
            test, lines = self.apart(lambda: self.truth(node.test))
            if test.constant is not None:
                self.block(node.body if test.constant else node.orelse)
                return
            self.guarded_lines(self.under, lines)
            self.guarded_if(node, test)
        elif isinstance(node, ast.For | ast.While):
            self.loop_together(node)
        else:
            _, lines = self.apart(lambda: getattr(self, "on_" + type(node).__name__)(node))
            self.guarded_lines(self.under, lines)

    def guarded_if(self, node, test):
        outer, divergent = self.under, self.divergent
        inside = self.guard("inside", (id(node), "if"))
        self.out.append(f"{inside} = {_both(outer, test)};")
        outside = None
        if node.orelse:
            outside = self.guard("outside", (id(node), "else"))
            self.out.append(f"{outside} = {f'{outer} && !{inside}' if outer else f'!{inside}'};")
        before = dict(self.env)
        self.divergent = True
        self._block_under(inside, node.body)
        body_env, self.env = self.env, before
        if outside:
            self._block_under(outside, node.orelse)
        self.divergent = divergent
        self.env = self.joined_env(body_env, self.env)

    def _block_under(self, guard, block):
        outer, self.under = self.under, guard
        self.guards.append(guard)
        self.block(block)
        self.guards.pop()
        self.under = outer

    def leaving(self, how):
        """What a ``break`` or ``continue`` is: under a guard, that the guards up to its loop's are no longer true."""
        if self.under is None or self.loop_guards[-1] is None:
            return f"{how};"
        go, inside = self.loop_guards[-1]
        down = self.guards[self.guards.index(inside) :]
        return " = ".join([go, *down] if how == "break" else down) + " = false;"

    def turned_around(self, node, rest):
        """``if i >= n: return`` before a barrier: the rest becomes its ``else``. Whether that was so."""
        if not (isinstance(node, ast.If) and not node.orelse and isinstance(node.body[-1], ast.Return)):
            return False
        if (
            node.body[-1].value is not None
            or self.under is not None
            or not self.all_meet(rest)
            or self.all_meet(node.body)
        ):
            return False
        if self._seems_uniform(node.test) and not self.divergent:
            return False
        if self.depth_of_loops():
            return False
        turned = ast.copy_location(
            ast.If(node.test, node.body[:-1] or [ast.copy_location(ast.Pass(), node)], rest), node
        )
        self.program.keep(turned)
        self.at = turned
        self.on_If(turned)
        return True

    def depth_of_loops(self):
        return len(self.breaks)

    def return_value(self, node, value):
        self.returned.append(value)
        if self.under is None:
            if self.divergent:
                self.left_apart = True
            self.emit(f"return {self.returned_text(value)};" if value is not NOTHING else "return;")
            return
        if value is not NOTHING:
            self.emit(f"result = {self.returned_text(value)};")
        if self.guards:
            self.emit(" = ".join(self.guards) + " = false;")

    # -- loops --------------------------------------------------------------------------------------------------------

    def loop_together(self, node):
        """A loop that threads may leave one by one, with a meeting inside."""
        if node.orelse:
            self.refuse(node, "an `else` of a loop")
        is_for = isinstance(node, ast.For)
        if is_for and not self.is_range(node):
            self.for_each(node)
            return
        if is_for and self.under is not None and not any(self._leaves(s) for s in node.body):
            limits, _ = self.apart(lambda: self.range_of(node))
            if all(v.uniform for v in limits):
                self.loop_guards.append(None)
                self.range_loop(node)
                self.loop_guards.pop()
                return
        outer, divergent = self.under, self.divergent
        go, inside = self.guard("go", (id(node), "go")), self.guard("inside", (id(node), "loop"))
        self.needs_exchange()
        counter, step = None, []
        if is_for:
            counter, step = self._counter(node, outer)
        self.out.append(f"{go} = {outer or 'true'};")

        def head():
            self.under = go
            self.guards.append(go)
            if is_for:
                test = counter[1]
                lines = []
            else:
                test, lines = self.apart(lambda: self.truth(node.test))
            self.guarded_lines(go, [*lines, f"{go} = {test.text};"])
            self.guards.pop()
            self.out.append((f"if (!any_thread({go}, exchange)) {{", ["break;"], "}"))
            self.out.append(f"{inside} = {go};")
            self.under = inside
            self.guards.append(inside)
            if is_for:
                _, lines = self.apart(lambda: self.assign_name(node.target.id, counter[0]))
                self.guarded_lines(inside, lines)
            return test, False

        def write(test, before, body):
            self.out.append(("while (true) {", [*before, *body, *step], "}"))

        self.divergent = True
        self.loop_guards.append((go, inside))
        depth = len(self.guards)

        def head_again():
            del self.guards[depth:]
            return head()

        self.loop(node, head_again, write)
        del self.guards[depth:]
        self.loop_guards.pop()
        self.under, self.divergent = outer, divergent

    def _counter(self, node, outer):
        """((the loop's variable, its test), the statements that step on) of a ``for`` written as a ``while``."""
        limits, lines = self.apart(lambda: self.range_of(node))
        kinds = [v.type for v in limits]
        kind = self.typed(node, range, *(kinds if len(node.iter.args) > 1 else kinds[1:2]))[1].dtype
        start, stop, step = limits
        if step.low < 0 < step.high:
            self.refuse(node, "a range whose step may go either way, with a barrier or shuffle inside")
        names = [self.fresh(f"{node.target.id}_{part}", of=(id(node), part)) for part in ("next", "stop", "step")]
        for name, value in zip(names, limits, strict=True):
            self.top[name] = f"{NAMES[kind]} {name};"
            lines.append(f"{name} = {converted(value, kind, implicit=True).text};")
        if outer is None:
            self.out += lines
        else:
            self.guarded_lines(outer, lines)
        up = step.low >= 0
        low, high = (start.low, max(start.low, stop.high - 1)) if up else (min(start.high, stop.low + 1), start.high)
        item = number(names[0], kind, low, high, uniform=False)
        test = number(f"{names[0]} {'<' if up else '>'} {names[1]}", kind, uniform=False, binds=8)
        return (item, test), [f"{names[0]} += {names[2]};"]

    def argument_kept(self, value):
        """An argument of a function that all threads call: found before, under the guard."""
        if self.under is None:
            return value
        if isinstance(value, Several):
            return Several(tuple(map(self.argument_kept, value.items)))
        if isinstance(value, Value) and (value.constant is not None or value.text.isidentifier()):
            return value
        if not isinstance(value, Value) and "[" not in value.text:
            return value
        return self._kept(value)


def _both(guard, test):
    if guard is None:
        return test.text
    inner = f"({test.text})" if test.binds < 8 else test.text
    return f"{guard} && {inner}"


def meets_in(source, node, cache):
    """Whether code has a barrier or warp operation inside, or calls a device function that has one."""
    key = id(node)
    if key not in cache:
        cache[key] = node, any(_meets(source, n, cache) for n in ast.walk(node) if isinstance(n, ast.Call))
    return cache[key][1]


def _meets(source, call, cache):
    if source.is_local(call.func) or not isinstance(call.func, ast.Name | ast.Attribute):
        return False
    known, function = source.static(call.func)
    if not known:
        return False
    if isinstance(function, DeviceName):
        return function.kind in ("barrier", "warp")
    try:
        function = stand_ins.get(function, function)
    except TypeError:
        return False
    python_function = getattr(function, "py_func", None)
    if python_function is None:
        return False
    python_function = as_called(source, call, python_function)
    if python_function not in cache:
        cache[python_function] = False
        inner = Source(python_function)
        cache[python_function] = any(meets_in(inner, s, cache) for s in inner.node.body)
    return cache[python_function]
