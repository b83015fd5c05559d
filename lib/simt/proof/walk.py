"""The walk over a kernel: statement by statement, both ways of every branch, each under the condition of its threads.

The walk is that of one thread, which stands for any; the query makes two of it. What it touches between two barriers
meets what the others touch there (Betts, Chong, Donaldson, Qadeer and Thomson, GPUVerify, OOPSLA 2012).
"""

import ast
import functools

from ..source.function import Source
from ..source.known import as_called
from ..source.names import DeviceName, python_of
from ..source.sites import Site
from .expressions import Expressions
from .loops import Loops
from .state import Access, Frame, State, joined, live_after, open_after
from .values import (
    NO,
    THREAD,
    YES,
    Known,
    NotProvable,
    Number,
    Several,
    Unknown,
    View,
    Written,
    both,
    chosen,
    either,
    opposite,
)


class Walk(Loops, Expressions):
    """everywhere: every access once. pairs: [(Access, Access, Flag)] that no barrier parts. meetings: [(live,
    condition, site)]: of the threads where `live` holds, `condition` must hold for all or for none.
    """

    def __init__(self, any_launch):
        self.any_launch = any_launch
        self.arithmetic = any_launch.arithmetic
        self.everywhere, self.pairs, self.meetings, self.inside = [], [], [], []
        self.notes = {}  # what is not followed, in words -> its site
        self.dynamic = None
        self.frames = []
        self.trial = 0  # walks that only find out what a loop changes
        self.sources = {}

    @property
    def frame(self):
        return self.frames[-1]

    def site(self, node, kind):
        """The `Site` of a node of the function that the walk is in; a site is its own."""
        return node if isinstance(node, Site) else self.frame.source.site(node, kind)

    def source_of(self, function):
        if function not in self.sources:
            self.sources[function] = Source(function)
        return self.sources[function]

    def cannot(self, node, reason):
        raise NotProvable(reason, self.site(node, "refused"))

    # -- what is touched -----------------------------------------------------------------------------------------------

    def touch(self, state, view, index, kind, node, live=None):
        """Note an access, and whom it meets."""
        array = view.array
        index = (*view.prefix, *index)
        if kind != "load" and array.space == "global" and not array.written:
            raise Written(array.name)
        if self.trial or array.space in ("local", "constant") or state.live.term is False:
            return
        level = max([n.level for n in index] + [state.live.level])
        for n, size in zip(index, array.shape, strict=True):
            low = self.arithmetic.compare("GtE", n, Number(0)) if not n.natural else YES
            bound = both(low, self.arithmetic.compare("Lt", n, size))
            if bound.term is not True:
                self.inside.append((state.live.term, bound.term, max(level, size.level)))
        if not array.written:
            return
        access = Access(array, tuple(n.term for n in index), kind, state.live, level, self.site(node, kind))
        if not state.ahead:
            self.everywhere.append(access)
        for earlier, flag in state.open:
            if earlier is not None and earlier.array is array and conflict(earlier, access):
                self.pairs.append((earlier, access, flag))
        if conflict(access, access):
            self.pairs.append((access, access, YES))
        state.open.append((access, YES))

    def barrier(self, state, node):
        """All threads of the block must come; what was touched before is over."""
        if state.live.term is False:
            return
        self.must_agree(state, YES, state.live, node, "barrier")
        state.open = []
        if state.ahead:
            state.live = NO

    def must_agree(self, state, live, condition, node, kind):
        if not self.trial and not state.ahead and condition.level == THREAD:
            self.meetings.append((live, condition, self.site(node, kind)))

    # -- statements ----------------------------------------------------------------------------------------------------

    def block(self, statements, state):
        for node in statements:
            if state.live.term is False:
                return
            method = getattr(self, "do_" + type(node).__name__, None)
            if method is None:
                self.cannot(node, f"`{type(node).__name__.lower()}` is not followed")
            method(node, state)

    def do_Pass(self, node, state):
        pass

    def do_Expr(self, node, state):
        self.value(node.value, state)

    def do_Assert(self, node, state):
        self.value(node.test, state)

    def do_Return(self, node, state):
        value = Known(None) if node.value is None else self.value(node.value, state)
        for loop in self.frame.loops:
            if loop.meets:
                self.cannot(node, "a `return` inside a loop with a barrier is not followed")
        self.frame.returns.append((state.live, value))
        state.live = NO

    def do_Break(self, node, state):
        self.leave(node, state, self.frame.loops[-1].breaks)

    def do_Continue(self, node, state):
        self.leave(node, state, self.frame.loops[-1].continues)

    def leave(self, node, state, where):
        if self.frame.loops[-1].meets:
            self.must_agree(state, YES, state.live, node, "loop")
        where.append(state.copy())
        state.live = NO

    def do_Assign(self, node, state):
        if isinstance(node.targets[0], ast.Name) and node.targets[0].id in self.frame.source.aliases:
            return
        value = self.value(node.value, state)
        for target in node.targets:
            self.assign(target, value, state)

    def do_AnnAssign(self, node, state):
        if node.value is not None:
            self.assign(node.target, self.value(node.value, state), state)

    def do_AugAssign(self, node, state):
        value = self.operate(node, self.value(node.target, state), self.value(node.value, state), state)
        self.assign(node.target, value, state)

    def assign(self, target, value, state):
        if isinstance(target, ast.Name):
            state.variables[target.id] = value
        elif isinstance(target, ast.Subscript):
            view = self.value(target.value, state)
            if not isinstance(view, View):
                self.cannot(target, "what is stored to is not an array")
            index = self.indices(target.slice, state)
            if len(index) + len(view.prefix) != len(view.array.shape):
                self.cannot(target, "a store to a part of an array is not followed")
            self.touch(state, view, index, "store", target)
        elif isinstance(target, ast.Tuple | ast.List):
            if isinstance(value, Several) and len(value.items) == len(target.elts):
                parts = value.items
            elif isinstance(value, Unknown):
                parts = [value] * len(target.elts)
            else:
                self.cannot(target, "what is unpacked is no tuple of this length")
            for element, part in zip(target.elts, parts, strict=True):
                self.assign(element, part, state)
        else:
            self.cannot(target, "a store to this is not followed")

    def do_If(self, node, state):
        test = self.truth(node.test, state)
        if isinstance(test.term, bool):
            self.block(node.body if test.term else node.orelse, state)
            return
        meets = self.meets((*node.body, *node.orelse))
        if meets:
            self.must_agree(state, state.live, test, node.test, "branch")
        yes, no = state.copy(live=both(state.live, test)), state.copy(live=both(state.live, opposite(test)))
        before = yes.live, no.live
        self.block(node.body, yes)
        if not meets:
            no.open = yes.open
        self.block(node.orelse, no)
        opened = open_after(test, yes.open, no.open) if meets else no.open
        live, variables = live_after(state, yes, no, *before), joined(test, yes, no, self.site(node.test, "branch"))
        state.variables, state.live, state.open = variables, live, opened

    # -- functions -----------------------------------------------------------------------------------------------------

    def call(self, node, function, arguments, state):
        """The value of a device function, walked through where it is called."""
        if len(self.frames) > 20:
            self.cannot(node, "device functions that call themselves are not followed")
        frame = Frame(self.source_of(function))
        inner = State(arguments, state.live, state.open, state.ahead)
        self.frames.append(frame)
        try:
            body = frame.source.node.body
            if isinstance(body, list):
                self.block(body, inner)
                if inner.live.term is not False:
                    frame.returns.append((inner.live, Known(None)))
            else:
                frame.returns.append((inner.live, self.value(body, inner)))
        finally:
            self.frames.pop()
        state.open = inner.open
        if state.ahead and self.meets([frame.source.node], frame.source):  # some ways may end at a barrier
            state.live = functools.reduce(either, (live for live, _ in frame.returns), NO)
        result = frame.returns[-1][1] if frame.returns else Unknown(THREAD)  # nobody is there any more
        for live, value in reversed(frame.returns[:-1]):
            result = chosen(live, value, result, self.site(node, "call"))
        return result

    def meets(self, nodes, source=None, seen=()):
        """Whether a barrier stands in some statements, or in a device function called there."""
        source = source or self.frame.source
        for call in (part for node in nodes for part in ast.walk(node) if isinstance(part, ast.Call)):
            if isinstance(call.func, ast.Attribute) and call.func.attr == "sync":
                return True
            if source.is_local(call.func):
                continue
            value = source.static(call.func)[1]
            if isinstance(value, DeviceName):
                if value.kind == "barrier":
                    return True
                continue
            function = python_of(self.stands_in(value))
            function = function and as_called(source, call, function)
            if function is not None and function not in seen:
                inner = self.source_of(function)
                if self.meets([inner.node], inner, (*seen, function)):
                    return True
        return False


def conflict(a, b):
    """Whether two threads may not do this at once: one stores, or one is atomic and the other is not."""
    return "store" in (a.kind, b.kind) or (a.kind == "atomic") != (b.kind == "atomic")
