"""Declarations of OpenCL C: variables, vectors, pointers, arrays in local and private memory."""

import ast

import numpy as np
from pycparser import c_ast

from .expressions import Expressions, Variable
from .types import Array, Pointer, Vector, as_number, convert, dtype_name, lanes, name, whole


class Declarations(Expressions):
    """The part of `Reader` that reads declarations."""

    def do_Decl(self, node):
        kind = self.declared_type(node.type, node, node.quals)
        if isinstance(kind, Array):
            self.declare_array(node, kind)
            return
        if "local" in node.quals and not isinstance(kind, Pointer):
            self.declare_array(node, Array(kind, (), "local"))
            return
        value = None if node.init is None else self.initial(node, kind)
        entry = self.declare(node.name, kind, node)
        if value is not None:
            self.set(entry, value, node)
        entry.const = "const" in node.quals and not isinstance(kind, Pointer)

    def initial(self, node, kind):
        if isinstance(node.init, c_ast.InitList):
            if not isinstance(kind, Vector):
                raise self.error(node, "a list in braces is for arrays")
            return self.vector([self.expression(e) for e in node.init.exprs], kind, node)
        return self.expression(node.init)

    def declare(self, c_name, kind, node):
        """A new `Variable` in this scope."""
        if c_name in self.scopes[-1]:
            raise self.error(node, f"{c_name} is declared twice")
        python_name = self.python_name(c_name)
        if isinstance(kind, Vector):
            entry = Variable(tuple(f"{python_name}_{i}" for i in range(kind.length)), kind)
        elif isinstance(kind, Pointer):
            entry = Variable((python_name,), kind, base="", offset=f"{python_name}_offset")
        else:
            entry = Variable((python_name,), kind)
        self.scopes[-1][c_name] = entry
        return entry

    def declare_array(self, node, kind):
        """An array in local or private memory, or a variable in local memory."""
        if kind.space == "local" and node.init is not None:
            raise self.error(
                node, "local memory has no value at the start", "Let the work-items write it, then a barrier"
            )
        if kind.space not in ("local", "private"):
            raise self.error(node, f"an array in {kind.space} memory is declared outside of the function")
        python_name = self.python_name(node.name)
        self.scopes[-1][node.name] = Variable((python_name,), kind)
        space = {"local": "shared", "private": "local"}[kind.space]
        shape = kind.shape or (1,)
        if kind.shape and isinstance(kind.of, Vector):
            shape = (int(np.prod(kind.shape)) * lanes(kind.of),)
        elif isinstance(kind.of, Vector):
            shape = (lanes(kind.of),)
        if isinstance(kind.of, Vector) and len(kind.shape) > 1:
            raise self.error(node, "an array of vectors has one axis here")
        sizes = [ast.Constant(n) for n in shape]
        size = sizes[0] if len(sizes) == 1 else ast.Tuple(sizes, ast.Load())
        maker = ast.Attribute(ast.Attribute(name("ocl_cuda"), space, ast.Load()), "array", ast.Load())
        made = ast.Call(maker, [size, name(f"ocl_{dtype_name(kind.of)}")], [])
        self.emit(ast.Assign([name(python_name, True)], made), node)
        if isinstance(node.init, c_ast.InitList):
            self.fill(python_name, kind, node)
        elif node.init is not None:
            raise self.error(node, "an array is filled by a list in braces")

    def fill(self, array, kind, node):
        if isinstance(kind.of, Vector):
            raise self.error(node, "an array of vectors is filled by assignments here")
        values = self.listed(node.init, kind.shape, node)
        for index, item in values.items():
            value = whole(0) if item is None else as_number(self.scalar(item))
            target = ast.Subscript(name(array), _index(index), ast.Store())
            self.emit(ast.Assign([target], convert(value, kind.of).node), node)

    def listed(self, init, shape, node):
        """index -> expression of a list in braces; None where it says nothing, which is 0."""
        found = dict.fromkeys(np.ndindex(shape))
        nested = any(isinstance(e, c_ast.InitList) for e in init.exprs)
        if nested and len(shape) > 1:
            for row, inner in enumerate(init.exprs):
                for index, e in self.listed(inner, shape[1:], node).items():
                    found[row, *index] = e
        else:
            if len(init.exprs) > len(found):
                raise self.error(node, f"the array has {len(found)} elements, and {len(init.exprs)} values came")
            found.update(zip(found, init.exprs, strict=False))
        return found


def _index(index):
    parts = [ast.Constant(int(i)) for i in index]
    return parts[0] if len(parts) == 1 else ast.Tuple(parts, ast.Load())
