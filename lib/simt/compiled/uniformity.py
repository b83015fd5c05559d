"""Which variables are the same for all threads of a block, and so need to be there once only.

    step = 16                         uniform: no thread index goes in
    while step > 0:                   a uniform condition: all threads go the same way
        v += shuffled(v, step)        varying: v is each thread's own
        step //= 2                    uniform

A variable is varying if something varying goes into one of its values, or if only some threads reach one of its
assignments. What is read from memory counts as varying. A branch or loop with a barrier inside is taken by all threads
or none (that is checked when it runs), so an assignment in it is not varying for that reason.
"""

import ast

from .core import THREAD, Sync, bodies, statements


def names_in(node):
    """Names that an expression reads."""
    return {n.id for n in ast.walk(node) if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Load)}


class Uniformity:
    """``is_uniform(expression)`` for one kernel. ``pure``: functions whose result depends on their arguments only."""

    def __init__(self, block, pure, varying=()):
        self.pure = pure
        self.varying = set(THREAD) | set(varying)
        self.inside = {}  # name -> varying branches and loops (as ids) around every place where it occurs
        self._occurrences(block, ())
        before = None
        while before != len(self.varying):
            before = len(self.varying)
            self._block(block, ())

    def is_uniform(self, node):
        """Whether an expression has one value for the whole block, whoever evaluates it."""
        for n in ast.walk(node):
            if isinstance(n, ast.Name) and n.id in self.varying:
                return False
            if isinstance(n, ast.Call) and not (isinstance(n.func, ast.Name) and n.func.id in self.pure):
                return False
        return True

    def control(self, node):
        """Whether all threads that reach a branch or loop take the same way through it."""
        if isinstance(node, ast.For):
            return self.is_uniform(node.iter)
        return self.is_uniform(node.test)

    def _occurrences(self, block, around):
        """For every name, the branches and loops that enclose all its occurrences."""

        def note(identifier):
            known = self.inside.get(identifier)
            self.inside[identifier] = set(around) if known is None else known & set(around)

        for node in block:
            if isinstance(node, Sync):
                for operand in node.operands.values():
                    if isinstance(operand, ast.Name):
                        note(operand.id)
                if node.target:
                    note(node.target)
                continue
            inner = bodies(node)
            for child in ast.iter_child_nodes(node):
                if not isinstance(child, ast.stmt):
                    for n in ast.walk(child):
                        if isinstance(n, ast.Name):
                            note(n.id)
            for number, body in enumerate(inner):
                self._occurrences(body, (*around, (id(node), number)))

    def _block(self, block, around):
        for node in block:
            if isinstance(node, Sync):
                if node.target and node.kind not in ("count", "and", "or"):
                    self.varying.add(node.target)
            elif isinstance(node, ast.Assign):
                self._assigned(node.targets[0].id, self.is_uniform(node.value), around)
            else:
                one_way = not isinstance(node, (ast.If, ast.For, ast.While)) or self._one_way(node)
                if isinstance(node, ast.For):
                    inner = around if one_way else (*around, (node, 0))
                    self._assigned(node.target.id, self.is_uniform(node.iter), inner)
                for number, body in enumerate(bodies(node)):
                    self._block(body, around if one_way else (*around, (node, number)))

    def _one_way(self, node):
        if self.control(node) and not self._leaves(node):
            return True
        return any(isinstance(n, Sync) and n.is_barrier for n in statements([node]))

    def _leaves(self, node):
        """Whether some threads may leave a loop earlier than others, or skip the end of its body."""
        if isinstance(node, ast.If):
            return False

        def jumps(block, varying):
            for n in block:
                if isinstance(n, (ast.Break, ast.Continue)) and varying:
                    return True
                if isinstance(n, (ast.For, ast.While)):
                    continue
                deeper = varying or (isinstance(n, ast.If) and not self.is_uniform(n.test))
                if any(jumps(b, deeper) for b in bodies(n)):
                    return True
            return False

        return jumps(node.body, False)

    def _assigned(self, identifier, uniform, around):
        if not uniform:
            self.varying.add(identifier)
            return
        for node, number in around:
            if (id(node), number) not in self.inside.get(identifier, ()):
                self.varying.add(identifier)
