"""Statements and declarations of OpenCL C, as statements of Python with the places of the text."""

import ast
import copy

from pycparser import c_ast

from .builtins import Atomic
from .declarations import Declarations
from .types import Address, Number, Pointer, Value, Vector, call, convert, exact, name, variable, whole


class Statements(Declarations):
    """The part of `Reader` that reads statements: each appends to ``self.out``."""

    def block(self, node):
        """The statements of a block, or of one statement, with a scope of their own."""
        outer, self.out = self.out, []
        with self.scope():
            items = node.block_items or [] if isinstance(node, c_ast.Compound) else [node]
            for item in items:
                self.statement(item)
        made, self.out = self.out, outer
        return made or [self.located(ast.Pass(), node)]

    def statement(self, node):
        method = getattr(self, f"do_{type(node).__name__}", None)
        if method is not None:
            method(node)
        else:
            self.do_expression(node)

    def emit(self, statement, node):
        self.out.append(self.located(statement, node))

    def do_EmptyStatement(self, node):
        pass

    do_Pragma = do_EmptyStatement

    def do_Compound(self, node):
        self.out += self.block(node)

    def do_expression(self, node):
        """An expression by itself: a call."""
        value = self.expression(node)
        if isinstance(value, Atomic):
            self.emit(ast.Expr(value.bare), node)
        elif isinstance(value, Value) and not isinstance(value.node, ast.Constant | ast.Name):
            self.emit(ast.Expr(value.node), node)

    def do_DeclList(self, node):
        for declaration in node.decls:
            self.statement(declaration)

    def do_ExprList(self, node):
        for expression in node.exprs:
            self.statement(expression)

    def do_Return(self, node):
        if node.expr is None:
            self.emit(ast.Return(None), node)
            return
        if self.result is None:
            raise self.error(node, "a kernel returns nothing", "Write results into an array")
        self.emit(ast.Return(convert(self.scalar(node.expr), self.result).node), node)

    def do_If(self, node):
        test = self.condition(node.cond)
        otherwise = self.block(node.iffalse) if node.iffalse is not None else []
        made = ast.If(test, self.block(node.iftrue), otherwise)
        self.emit(made, node)

    def do_Switch(self, node):
        """A chain of tests. Each case must end: with break, return or continue."""
        value = exact(self.scalar(node.cond, "a whole number"))
        switched, cases, values = self.keep(value.node, node), [], []
        for item in node.stmt.block_items or []:
            if not isinstance(item, c_ast.Case | c_ast.Default):
                raise self.error(item, "a switch begins with a case")
            values.append(item.expr if isinstance(item, c_ast.Case) else None)
            body = item.stmts or []
            if body:
                cases.append((values, self.case(body, item)))
                values = []
        chain = next((body for values, body in cases if None in values), [])
        for values, body in reversed(cases):
            if None in values:
                continue
            tests = [convert(self.scalar(v), value.type).node for v in values]
            compared = [ast.Compare(name(switched), [ast.Eq()], [test]) for test in tests]
            test = compared[0] if len(compared) == 1 else ast.BoolOp(ast.Or(), compared)
            chain = [self.located(ast.If(test, body, chain), node)]
        self.out += chain

    def case(self, body, item):
        """The statements of a case, without its break."""
        last = body[-1].block_items[-1] if isinstance(body[-1], c_ast.Compound) and body[-1].block_items else body[-1]
        if not isinstance(last, c_ast.Break | c_ast.Return | c_ast.Continue):
            raise self.error(item, "this case goes on into the next one", "End it with break;")
        kept = [s for s in body if s is not last]
        if last not in body:  # { ...; break; }
            kept[-1] = c_ast.Compound(body[-1].block_items[:-1], body[-1].coord)
        if not isinstance(last, c_ast.Break):
            kept = list(body)
        if any(_breaks(s) for s in kept):
            raise self.error(item, "a break inside an if of a case is not read here", "Turn the condition round")
        return self.block(c_ast.Compound(kept, item.coord))

    # -- loops -------------------------------------------------------------------------------------------------------

    def do_While(self, node):
        self.loop(node, node.cond, node.stmt, [])

    def do_DoWhile(self, node):
        """The test stands at the end, and where the loop goes on early."""
        flag = self.fresh("again")
        self.emit(ast.Assign([name(flag, True)], ast.Constant(True)), node)

        def ask():
            self.emit(ast.Assign([name(flag, True)], self.condition(node.cond)), node)

        self.loop(node, None, node.stmt, ask, name(flag))

    def do_For(self, node):
        with self.scope():
            counted = self.counted(node)
            if counted:
                return
            if node.init is not None:
                self.statement(node.init)
            self.loop(node, node.cond, node.stmt, (lambda: self.statement(node.next)) if node.next is not None else [])

    def loop(self, node, cond, body, step, test=None):
        """A loop whose ``step`` also comes before each ``continue`` of its own."""
        with self.in_place():
            test = test or (ast.Constant(True) if cond is None else self.condition(cond))
        self.steps.append(step or None)
        made = self.block(body)
        if step:
            outer, self.out = self.out, made
            step()
            self.out = outer
        self.steps.pop()
        self.header(ast.While(test, made, []), test, node)

    def header(self, loop, head, node):
        """A loop, whose place is its first line up to the closing bracket."""
        begin = self.text.begin(node)
        end = self.text.header_end(begin) if not isinstance(node, c_ast.DoWhile) else (begin[0], begin[1] + 2)
        self.put(head, begin, end, over=True)
        self.put(loop, begin, end)
        last = max((n.end_lineno, n.end_col_offset) for s in loop.body for n in ast.walk(s) if hasattr(n, "end_lineno"))
        loop.end_lineno, loop.end_col_offset = max(last, (loop.end_lineno, loop.end_col_offset))
        self.out.append(loop)

    def counted(self, node):
        """``for (int k = a; k < b; k += c)`` as ``range``, where nothing in the loop changes k, b or c."""
        init, cond, step = node.init, node.cond, node.next
        single = isinstance(init, c_ast.DeclList) and len(init.decls) == 1 and init.decls[0].init is not None
        if not single or not isinstance(init.decls[0].type, c_ast.TypeDecl) or not isinstance(cond, c_ast.BinaryOp):
            return False
        key, by = init.decls[0].name, None
        if isinstance(step, c_ast.UnaryOp) and step.op in ("++", "p++"):
            by, moves = whole(1), step.expr
        elif isinstance(step, c_ast.Assignment) and step.op == "+=":
            by, moves = None, step.lvalue
        else:
            return False
        plain = all(isinstance(n, c_ast.ID) and n.name == key for n in (moves, cond.left)) and cond.op in ("<", "<=")
        changed = assigned(node.stmt)
        parts = [cond.right] + ([step.rvalue] if by is None else [])
        if not plain or key in changed or not all(self.steady(p, {*changed, key}) for p in parts):
            return False
        kind = self.declared_type(init.decls[0].type, node)
        if not isinstance(kind, Number) or not kind.whole:
            return False
        by = by or self.scalar(step.rvalue)
        begin, end = convert(self.scalar(init.decls[0].init), kind), self.scalar(cond.right)
        if not end.type.whole or by.low < 1 or (kind.bits == 64 and not kind.signed and min(begin.low, end.low) < 0):
            return False
        end = exact(end)
        if not kind.signed and end.type.signed and end.low < 0:
            return False
        stop = self.binary("+", end, whole(1), node) if cond.op == "<=" else end
        counter = self.declare(key, kind, node)
        counter.known = Value(name(counter.names[0]), kind, begin.low, max(begin.low, min(kind.high, end.high)))
        bounds = [stop.node] if begin.constant == 0 and by.constant == 1 else [begin.node, stop.node]
        head = call("range", *bounds, *([] if by.constant == 1 else [exact(by).node]))
        self.steps.append(None)
        made = self.block(node.stmt)
        self.steps.pop()
        self.header(ast.For(name(counter.names[0], True), head, made, []), head, node)
        return True

    def steady(self, node, changed):
        """Whether an expression has one value all through a loop: no memory, no calls but of the work-item's place."""
        if isinstance(node, c_ast.FuncCall):
            return isinstance(node.name, c_ast.ID) and node.name.name.startswith("get_")
        if isinstance(node, c_ast.ID):
            macro = self.text.macros.get(node.name)
            return node.name not in changed and (
                macro is None or macro.body is None or self.steady(macro.body, changed)
            )
        if isinstance(node, c_ast.ArrayRef | c_ast.StructRef) or (isinstance(node, c_ast.UnaryOp) and node.op == "*"):
            return False
        return all(self.steady(child, changed) for _, child in node.children())

    def do_Break(self, node):
        self.emit(ast.Break(), node)

    def do_Continue(self, node):
        if not self.steps:
            raise self.error(node, "continue stands outside of a loop")
        if self.steps[-1]:
            step = self.steps[-1]
            step()
        self.emit(ast.Continue(), node)

    # -- assignments -------------------------------------------------------------------------------------------------

    def do_UnaryOp(self, node):
        if node.op not in ("++", "--", "p++", "p--"):
            self.do_expression(node)
            return
        self.change(node.expr, node.op.strip("p")[0], whole(1), node)

    def do_Assignment(self, node):
        if node.op != "=":
            self.change(node.lvalue, node.op[:-1], self.expression(node.rvalue), node)
            return
        if isinstance(node.rvalue, c_ast.Assignment):  # a = b = c
            self.do_Assignment(node.rvalue)
            self.assign(node.lvalue, self.expression(node.rvalue.lvalue), node)
            return
        self.assign(node.lvalue, self.expression(node.rvalue), node)

    def change(self, target, op, value, node):
        """``target op= value``."""
        self.assign(target, self.operate(op, self.expression(target), value, node), node)

    def assign(self, target, value, node):
        if isinstance(target, c_ast.StructRef):
            self.assign_components(target, value, node)
            return
        where = self.target(target)
        if isinstance(where, Address):
            if where.shape and where.shape != ():
                raise self.error(node, "an array is not assigned to as a whole", "Assign to its elements")
            self.store(where, value, node)
            return
        if where.const:
            raise self.error(node, "this is const, and cannot be assigned to", "Leave out const")
        self.set(where, value, node)

    def assign_components(self, target, value, node):
        """``v.x = 1``, ``a[i].xy = w``."""
        kind = self.expression(target.name).type
        if not isinstance(kind, Vector):
            raise self.error(node, "components are assigned to of vectors only")
        picked = self.components(target.field.name, kind, node)
        values = (
            self.vector([value], Vector(kind.of, len(picked)), node).values
            if len(picked) > 1
            else [convert(self.need_scalar(value, node), kind.of)]
        )
        where = self.target(target.name)
        if len(values) > 1:  # v.xy = v.yx: all are read before one is set
            values = [variable(self.keep(component.node, node), kind.of) for component in values]
        for i, component in zip(picked, values, strict=True):
            if isinstance(where, Address):
                self.store(self.part(self.flat(where, node), i), component, node)
            else:
                self.emit(ast.Assign([name(where.names[i], True)], component.node), node)

    def set(self, entry, value, node):
        """A variable gets a value."""
        kind = entry.type
        if isinstance(kind, Pointer):
            self.point(entry, value, node)
        elif isinstance(kind, Vector):
            values = self.vector([value], kind, node).values
            held = [self.keep(component.node, node) for component in values]  # v = v.yx: all are read before one is set
            for target, source in zip(entry.names, held, strict=True):
                self.emit(ast.Assign([name(target, True)], name(source)), node)
        else:
            converted = convert(self.need_scalar(value, node), kind)
            self.emit(ast.Assign([name(entry.names[0], True)], converted.node), node)

    def point(self, entry, value, node):
        if not isinstance(value, Address):
            raise self.error(node, f"a pointer gets a pointer, and this is {self.described(value)}")
        value = self.flat(value, node)
        if value.type.of != entry.type.of:
            raise self.error(node, f"a pointer to {entry.type.of} cannot point to {value.type.of}")
        if entry.base not in ("", value.array):
            raise self.error(
                node, "a pointer that points to one array cannot point to another one later", "Take a pointer for each"
            )
        entry.base = value.array
        self.emit(ast.Assign([name(entry.offset, True)], exact(value.offset).node), node)

    def store(self, address, value, node):
        """An element gets a value."""
        if address.type.const or address.type.space == "constant":
            raise self.error(
                node, f"{address.array} can be read only: it is {'const' if address.type.const else 'constant'}"
            )
        address = self.flat(address, node)
        if isinstance(address.type.of, Vector):
            values = self.vector([value], address.type.of, node).values
            if any(isinstance(n, ast.Subscript) for v in values for n in ast.walk(v.node)):
                values = [variable(self.keep(component.node, node), address.type.of.of) for component in values]
            for i, component in enumerate(values):
                self.store(self.part(address, i), component, node)
            return
        target = ast.Subscript(name(address.array), copy.deepcopy(address.offset.node), ast.Store())
        left = node.lvalue if isinstance(node, c_ast.Assignment) else node
        self.located(target, left)
        self.emit(ast.Assign([target], convert(self.need_scalar(value, node), address.type.of).node), node)


def _breaks(node):
    """Whether a statement holds a break that is not one of a loop or switch inside it."""
    if isinstance(node, c_ast.Break):
        return True
    if isinstance(node, c_ast.For | c_ast.While | c_ast.DoWhile | c_ast.Switch):
        return False
    return any(_breaks(child) for _, child in node.children())


def assigned(node):
    """Names that a piece of a program assigns to, or changes in place."""
    found = set()

    class Visitor(c_ast.NodeVisitor):
        def visit_Assignment(self, n):
            self.note(n.lvalue)
            self.generic_visit(n)

        def visit_UnaryOp(self, n):
            if n.op in ("++", "--", "p++", "p--"):
                self.note(n.expr)
            self.generic_visit(n)

        def visit_Decl(self, n):
            found.add(n.name)
            self.generic_visit(n)

        def note(self, target):
            while isinstance(target, c_ast.StructRef):
                target = target.name
            if isinstance(target, c_ast.ID):
                found.add(target.name)

    Visitor().visit(node)
    return found
