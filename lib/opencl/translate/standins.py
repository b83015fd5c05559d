"""Intrinsics of the GPU, by the Python that stands for them: ``context.load(array, index, 4)`` becomes vload4."""

import ast

from simt.source.tree import tree_of

from .values import NOTHING, Several


class StandIn:
    """One call. A stand-in is one expression or statement of loads and stores, perhaps behind a test of a parameter."""

    def __init__(self, function, node, python_function):
        self.function, self.node, self.python_function = function, node, python_function
        self.tree = tree_of(python_function)

    def call(self, values):
        parameters = [a.arg for a in self.tree.args.args]
        self.values = dict(zip(parameters[1:], values, strict=True))
        self.context = parameters[0]
        result = NOTHING
        for statement in self.tree.body:
            result = self._statement(statement)
        return result

    def _statement(self, statement):
        if isinstance(statement, ast.Expr) and isinstance(statement.value, ast.Constant):
            return NOTHING
        if isinstance(statement, ast.Return | ast.Expr):
            return self._expression(statement.value)
        if isinstance(statement, ast.If) and isinstance(statement.test, ast.Name):
            test, f = self.values[statement.test.id], self.function
            _, body = f.apart(lambda: [self._statement(s) for s in statement.body])
            _, orelse = f.apart(lambda: [self._statement(s) for s in statement.orelse])
            f.out.append((f"if ({test.text}) {{", body, "} else {" if orelse else "}"))
            if orelse:
                f.out.append(("", orelse, "}"))
            return NOTHING
        return self._refuse()

    def _expression(self, node):
        f = self.function
        if isinstance(node, ast.Name):
            return self.values[node.id]
        if isinstance(node, ast.Constant):
            return f.frozen(node, node.value)
        if isinstance(node, ast.Tuple):
            return Several(tuple(self._expression(e) for e in node.elts))
        is_call = isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute)
        if is_call and isinstance(node.func.value, ast.Name) and node.func.value.id == self.context:
            method, arguments = node.func.attr, [self._expression(a) for a in node.args]
            if method == "load":
                return f.load_many(self.node, arguments[0], arguments[1], arguments[2].constant)
            if method in ("store", "send"):
                f.store_many(self.node, *arguments)
                return NOTHING
            if method == "arrive":
                return NOTHING
        return self._refuse()

    def _refuse(self):
        self.function.refuse(self.node, f"the intrinsic {self.python_function.__name__}")
