"""How a kernel that is counted keeps its visits: the call path, and the iterations of the loops around."""

import ast

from .core import assign, call, name
from .counted import arrays_in
from .watching import BITS


class Visits:
    """The part of `Lowering` that numbers visits. Where nothing is counted, it adds nothing."""

    visit = None  # the variable that holds the visit at hand; None: the kernel's first
    stands_for = None  # (lowering, node): the call that the function at hand is a stand-in for

    @property
    def visited(self):
        return ast.Constant(0) if self.visit is None else name(self.visit)

    def flagged(self, node, kind="load"):
        """The first two operands of an access: what watches it (watching.py), and the number of its line and site."""
        line = self.unit.site(node.lineno)
        if self.unit.counted is None:
            return [name("_flag") if self.unit.checked else ast.Constant(None), ast.Constant(line)]
        self.effects.add("thread")
        source, site_node = (self.stands_for[0].source, self.stands_for[1]) if self.stands_for else (self.source, node)
        number = self.unit.counted.site(source.site(site_node, kind))
        watch = [name("_flag"), name("_counter"), self.visited, name("_t")]
        if self.unit.counted.raced:
            watch.append(ast.Constant(True))
        return [ast.Tuple(watch, ast.Load()), ast.Constant(BITS * number + line % BITS)]

    def deeper(self, iteration, node):
        """Go on in a visit of its own; returns the statement that begins it."""
        inner = self.unit.namespace.temporary()
        value = call("_visit_of", self.visited, self.unit.counted.next_visit(), iteration)
        self.visit = inner
        return assign(inner, value, node)

    def rounds(self, node):
        """(statements before a loop, statements at the head of each round); the visit is then that of the round."""
        if self.unit.counted is None:
            return [], []
        count = self.unit.namespace.temporary()
        more = assign(count, ast.BinOp(name(count), ast.Add(), ast.Constant(1)), node)
        return [assign(count, ast.Constant(-1), node)], [more, self.deeper(name(count), node)]

    def hidden(self, stands_in):
        """What a device function gets besides its arguments."""
        arguments = [name(n) for n in self.unit.hidden]
        if self.unit.counted is not None:
            visit = self.visited
            arguments[-1] = visit if stands_in else call("_visit_of", visit, self.unit.counted.next_visit(), 0)
        return arguments

    def items_of(self, iterable, node):
        """An iterable that is no array: what a loop over an array reads is not counted."""
        if self.unit.counted is None or isinstance(iterable, ast.Tuple):
            return iterable
        kinds = dict(zip(self.unit.parameters, self.unit.argument_types, strict=True))
        if self.is_kernel and isinstance(node, ast.Name) and arrays_in(kinds.get(node.id)):
            self.refuse(node, "a loop over the elements of an array, where accesses are counted")
        return call("_no_array", iterable)
