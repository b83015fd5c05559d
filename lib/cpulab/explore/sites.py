"""Where a program touches what threads may share, read off its bytecode and its source.

`of(code)` maps the offset of each such instruction to a Site. `Site.locate(frame)` says, before the instruction runs,
which object it is about; it evaluates names, attributes and subscripts without running any code of the program.
"""

import ast
import dis
import linecache
import types
from collections import deque
from dataclasses import dataclass

import numpy as np

CONTAINERS = (list, dict, set, deque, bytearray, np.ndarray)
_ATTR = {"LOAD_ATTR": "read", "LOAD_METHOD": "read", "STORE_ATTR": "write", "DELETE_ATTR": "write"}
_GLOBAL = {"LOAD_GLOBAL": "read", "LOAD_NAME": "read", "STORE_GLOBAL": "write", "DELETE_GLOBAL": "write"}
_CELL = {"LOAD_DEREF": "read", "STORE_DEREF": "write", "LOAD_CLASSDEREF": "read"}
_ITEM = {
    "BINARY_SUBSCR": "read",
    "BINARY_SLICE": "read",
    "STORE_SUBSCR": "write",
    "STORE_SLICE": "write",
    "DELETE_SUBSCR": "write",
}
_CALL = ("CALL", "CALL_KW", "CALL_FUNCTION_EX")
_READING = {"count", "index", "copy", "get", "keys", "values", "items", "union", "sum", "tolist"}  # methods
_NOT_DATA = (
    types.FunctionType,
    types.BuiltinFunctionType,
    types.MethodType,
    types.ModuleType,
    type,
    property,
    staticmethod,
    classmethod,
    types.MethodDescriptorType,
    types.WrapperDescriptorType,
    types.ClassMethodDescriptorType,
    types.GetSetDescriptorType,
)


class Unknown(Exception):
    """The object cannot be found out without running code."""


@dataclass(frozen=True)
class Access:
    """`base`: identity of the object; `key`: attribute or element, None for the whole of a container."""

    base: object
    key: object
    kind: str
    owner: object  # kept alive, so that its identity is not given to another object
    peek: object  # () -> present value, or raises Unknown


@dataclass(eq=False)
class Site:
    """One instruction. `text` is its source expression."""

    kind: str
    space: str
    name: str
    node: ast.AST | None
    parent: ast.AST | None
    line: int
    text: str
    file: str
    called: str = ""  # of a call: the function, as it is written

    def locate(self, frame):
        """The Access this instruction makes now, or None if it touches no data."""
        try:
            return getattr(self, "_" + self.space)(frame)
        except Unknown:
            if self.space in ("attr", "item"):  # known by name only: careful is better
                return Access((self.space, self.name or self.text), None, self.kind, None, _unknown)
            return None

    def _attr(self, frame):
        owner = _evaluate(self.node.value, frame) if isinstance(self.node, ast.Attribute) else _raise()
        if isinstance(owner, (types.ModuleType, type)) and self.kind == "read":
            return None
        if getattr(type(owner), "is_stand_in", False):
            return None
        if self.kind == "read":
            value = _attribute(owner, self.name)
            if isinstance(value, _NOT_DATA):
                return None
            container = self._whole(value)
            if container:
                return container
        return Access(id(owner), self.name, self.kind, owner, lambda: _attribute(owner, self.name))

    def _global(self, frame):
        space = frame.f_globals
        value = space.get(self.name, _raise)
        if self.kind == "read":
            if value is _raise or isinstance(value, _NOT_DATA) or getattr(value, "is_stand_in", False):
                return None
            container = self._whole(value)
            if container:
                return container
        return Access(id(space), self.name, self.kind, space, lambda: space[self.name])

    def _cell(self, frame):
        value = frame.f_locals.get(self.name, _raise)
        if self.kind == "read":
            if value is _raise or isinstance(value, _NOT_DATA) or getattr(type(value), "is_stand_in", False):
                return None
            container = self._whole(value)
            if container:
                return container
        return Access("nonlocal", self.name, self.kind, None, lambda: frame.f_locals[self.name])

    def _whole(self, value):
        """Loading a container reads its content, unless an element or a method is asked for next."""
        if not isinstance(value, CONTAINERS):
            return None
        parent = self.parent
        if isinstance(parent, ast.Subscript) and parent.value is self.node:
            return None
        if isinstance(parent, ast.Attribute):
            return None
        return Access(id(value), None, "read", value, lambda: value)

    def _item(self, frame):
        if not isinstance(self.node, ast.Subscript):
            raise Unknown
        owner = _evaluate(self.node.value, frame)
        if not isinstance(owner, CONTAINERS):
            return None if isinstance(owner, tuple | str | bytes | range) else _raise()
        key = None
        if not isinstance(self.node.slice, ast.Slice) and self.kind in ("read", "write"):
            try:
                key = _evaluate(self.node.slice, frame)
                hash(key)
                if isinstance(key, int) and key < 0:
                    key += len(owner)
            except (Unknown, TypeError):
                key = None
        where = key
        return Access(id(owner), key, self.kind, owner, lambda: owner[where] if where is not None else _raise())

    def _call(self, frame):
        function = self.node.func
        owner = _evaluate(function.value, frame)
        if not isinstance(owner, CONTAINERS):
            return None
        return Access(id(owner), None, self.kind, owner, lambda: owner)


def _raise(*_):
    raise Unknown


_unknown = _raise


def _attribute(owner, name):
    """owner.name without running code of the program: instance dictionary, slots, then the class."""
    space = getattr(owner, "__dict__", None)
    if isinstance(space, dict) and name in space:
        return space[name]
    for cls in type(owner).__mro__:
        if name in vars(cls):
            member = vars(cls)[name]
            if isinstance(member, types.MemberDescriptorType):
                try:
                    return member.__get__(owner)
                except AttributeError:
                    raise Unknown from None
            return member
    raise Unknown


def _evaluate(node, frame):
    if isinstance(node, ast.Name):
        for space in (frame.f_locals, frame.f_globals):
            if node.id in space:
                return space[node.id]
        raise Unknown
    if isinstance(node, ast.Constant):
        return node.value
    if isinstance(node, ast.Attribute):
        owner = _evaluate(node.value, frame)
        if isinstance(owner, types.ModuleType):
            return vars(owner).get(node.attr) or _raise()
        return _attribute(owner, node.attr)
    if isinstance(node, ast.Tuple):
        return tuple(_evaluate(x, frame) for x in node.elts)
    if isinstance(node, ast.Subscript):
        owner, key = _evaluate(node.value, frame), _evaluate(node.slice, frame)
        if type(owner) in (list, tuple, dict, deque) and isinstance(key, int | str | tuple):
            try:
                return owner[key]
            except (LookupError, TypeError):
                raise Unknown from None
        raise Unknown
    if isinstance(node, ast.BinOp):
        left, right = _evaluate(node.left, frame), _evaluate(node.right, frame)
        if type(left) is int and type(right) is int and abs(left) < 1 << 40 and abs(right) < 1 << 40:
            try:
                return _ARITHMETIC[type(node.op)](left, right)
            except (KeyError, ZeroDivisionError):
                raise Unknown from None
    if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub):
        value = _evaluate(node.operand, frame)
        return -value if type(value) is int else _raise()
    raise Unknown


_ARITHMETIC = {
    ast.Add: lambda a, b: a + b,
    ast.Sub: lambda a, b: a - b,
    ast.Mult: lambda a, b: a * b,
    ast.FloorDiv: lambda a, b: a // b,
    ast.Mod: lambda a, b: a % b,
}

_trees, _maps = {}, {}


def nodes_of(file):
    """{(line, column, end line, end column): [(node, parent), ...]} of a source file, outermost first."""
    lines = linecache.getlines(file)
    key = (file, hash(tuple(lines)))
    if key not in _trees:
        places = {}
        try:
            tree = ast.parse("".join(lines))
        except (SyntaxError, ValueError, RecursionError):
            tree = ast.Module([], [])
        for parent in ast.walk(tree):
            for node in ast.iter_child_nodes(parent):
                if hasattr(node, "lineno"):
                    position = (node.lineno, node.col_offset, node.end_lineno, node.end_col_offset)
                    places.setdefault(position, []).append((node, parent))
        _trees[key] = places
    return _trees[key]


def of(code):
    """Offset -> Site for the instructions of `code` that touch what could be shared."""
    known = _maps.get(id(code))  # by identity: the hash of a code object takes its time
    if known is not None:
        return known[1]
    nodes = nodes_of(code.co_filename)
    by_offset = {}
    for instruction in dis.get_instructions(code):
        site = _site(instruction, code, nodes)
        if site:
            by_offset[instruction.offset] = site
    _maps[id(code)] = (code, by_offset)
    return by_offset


def _site(instruction, code, nodes):
    name = instruction.opname
    position = instruction.positions
    candidates = nodes.get((position.lineno, position.col_offset, position.end_lineno, position.end_col_offset), ())
    if name in _ATTR:
        kind, space, wanted = _ATTR[name], "attr", ast.Attribute
    elif name in _GLOBAL:
        kind, space, wanted = _GLOBAL[name], "global", ast.Name
    elif name in _CELL:
        kind, space, wanted = _CELL[name], "cell", ast.Name
    elif name in _ITEM or (name == "BINARY_OP" and instruction.argrepr == "[]"):
        kind, space, wanted = _ITEM.get(name, "read"), "item", ast.Subscript
    elif name in _CALL:
        kind, space, wanted = "write", "call", ast.Call
    else:
        return None
    node, parent = next(((n, p) for n, p in candidates if isinstance(n, wanted)), (None, None))
    if space == "call":
        if node is None or not isinstance(node.func, ast.Attribute):
            return None
        if node.func.attr in _READING:
            kind = "read"
    text = ast.unparse(node.func.value if space == "call" else node) if node else str(instruction.argval)
    argval = instruction.argval if isinstance(instruction.argval, str) else ""
    called = ast.unparse(node.func) if space == "call" else ""
    return Site(
        kind, space, argval, node, parent, position.lineno or code.co_firstlineno, text, code.co_filename, called
    )
