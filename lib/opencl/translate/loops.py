"""Loops of a kernel: gone through until what is known at their head does not change; the last round is written."""

import ast
import re
from dataclasses import replace

from numba.core import types

from simt.source.syntax import stored_names

from .values import LARGEST, NAMES, ArrayValue, Several, Value, bounds, converted, in_parentheses, literal, number


class Loops:
    """The part of a function's translation that knows loops."""

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
            isinstance(n, ast.If)
            and any(isinstance(m, ast.Break | ast.Continue | ast.Return) for m in ast.walk(n))
            and not self._seems_uniform(n.test)
            for n in ast.walk(loop)
        )

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
            head_env = dict(self.env)
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
        self.env = self.joined_env(None if always else head_env, *breaks)
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
        limits = [self.number_of(a) for a in node.iter.args]
        if len(limits) == 1:
            limits = [literal(0), limits[0]]
        return (*limits, literal(1)) if len(limits) == 2 else tuple(limits)

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
            self.for_each(node)
            return
        if self.meets(node) and self.under is None and not self._uniform_loop(node):
            self.loop_together(node)
            return
        self.range_loop(node)

    def range_loop(self, node):
        if not isinstance(node.target, ast.Name):
            self.refuse(node, "such a loop")
        limits = self.range_of(node)
        kind = self.typed(node, range, *(v.type for v in limits[: len(node.iter.args)] or limits))[1].dtype
        if len(node.iter.args) == 1:
            kind = self.typed(node, range, limits[1].type)[1].dtype
        assigned = stored_names(ast.Module(node.body, []))
        start, stop, step = (self._fixed(v, assigned, node) for v in limits)
        if step.low < 0 < step.high:
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
        name, up = node.target.id, step.low >= 0
        low, high = (start.low, max(start.low, stop.high - 1)) if up else (min(start.high, stop.low + 1), start.high)
        uniform = start.uniform and stop.uniform and step.uniform
        declares = (id(node), name) in self.places.in_head and not self.guarded
        several = len(self.variants.get(name, ())) > 1 and not declares
        separate = several or name in assigned or self._read_outside(name, node)  # then C's counter is another variable
        counter = self.fresh(f"{name}_next", of=(id(node), "counter")) if separate else self.c_name(name, kind)
        item = number(counter, kind, low, high, uniform=uniform)
        beyond = low < -LARGEST or high + max(abs(step.low), abs(step.high)) > LARGEST
        made = types.int32 if separate and kind == types.int64 and not beyond else None

        def head():
            if separate:
                self.assign_name(name, replace(item, made=made), node)
            else:
                self.apart(lambda: self.assign_name(name, item))
                if beyond and kind == types.int64:
                    self.ranges[name] = bounds(kind)
            return item, uniform

        def write(_, before, body):
            declared = separate or declares
            c_kind = (made or kind) if separate else (self.narrow(name, kind) or kind)
            c_type = f"{NAMES[c_kind]} " if declared else ""
            text = f"{c_type}{counter} = {converted(start, c_kind, implicit=True).text}; "
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
        for node in ast.walk(self.source.node):
            if isinstance(node, ast.For) and isinstance(node.target, ast.Name) and node.target.id == name:
                inside |= {id(n) for n in ast.walk(node)}
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
            self.assign_name(node.target.id, value, node)
            return value, uniform

        def write(_, before, body):
            self.out.append((f"for (long {k} = 0; {k} < {turns}; {k}++) {{", before + body, "}"))

        self.loop(node, head, write)

    def for_each(self, node):
        """A loop over a tuple, written out; over an array, by an index."""
        of = self.expression(node.iter)
        if isinstance(of, Several):
            if any(isinstance(n, ast.Break | ast.Continue) for n in ast.walk(node)):
                self.refuse(node, "a loop over a tuple that can be left early: loop over a range")
            for item in of.items:
                _, assignment = self.apart(lambda item=item: self.assign(node.target, item, node))
                _, inner = self.apart(lambda: self.block(node.body))
                if self.under is None:
                    self.out.append(("{", assignment + inner, "}"))
                else:
                    self.guarded_lines(self.under, assignment)
                    self.out += inner
            return
        if not isinstance(of, ArrayValue) or self.meets(node):
            self.refuse(node, "such a loop")
        k = self.fresh("k")

        def head():
            index = number(k, types.int64, 0, LARGEST, uniform=True)
            value = self.load(node, of, [index]) if len(of.shape) == 1 else self.view(of, [index])
            self.assign(node.target, value, node)
            return index, of.shape[0].uniform

        def write(_, before, body):
            self.out.append((f"for (long {k} = 0; {k} < {of.shape[0].text}; {k}++) {{", before + body, "}"))

        self.loop(node, head, write)


def _stepped(counter, step):
    if step.constant == 1:
        return f"{counter}++"
    if step.constant == -1:
        return f"{counter}--"
    return f"{counter} -= {-step.constant}" if step.high < 0 and step.constant else f"{counter} += {step.text}"
