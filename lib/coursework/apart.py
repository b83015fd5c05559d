"""An answer as each of several processes has it: the same program, and nothing of its memory in common.

The workers of chapter 14 are threads here, so that a check ends and its order can be chosen. A list at the top of a
cell would be seen by all of them, which in processes it is not. So each worker gets its own functions, with its own
values of the names that they use. What cannot be copied, as a lock or a queue, names itself in Shared.
"""

import copy
import dis
from types import BuiltinFunctionType, CellType, CodeType, FunctionType, MethodType, ModuleType

from cpulab.explore.substitution import Namespace

_OUTER = ("LOAD_GLOBAL", "LOAD_NAME", "STORE_GLOBAL", "DELETE_GLOBAL")
_AS_IT_IS = (ModuleType, Namespace, BuiltinFunctionType, CodeType)


class Shared(Exception):
    """A name stands for what threads can share, and processes cannot."""


def copies(answer, n):
    """The function or class `answer` n times; raises Shared."""
    return [_Copy(answer).made for _ in range(n)]


class _Copy:
    def __init__(self, answer):
        self.scope, self.known, self.waiting = {}, {}, []
        self.module = getattr(answer, "__module__", None)
        self.made = self.of(answer, getattr(answer, "__name__", "the answer"))
        while self.waiting:  # what functions and classes use may use them in turn: they are made before that
            self.waiting.pop()()

    def of(self, value, name):
        """The copy of what `name` stands for."""
        if id(value) in self.known:
            return self.known[id(value)]
        if isinstance(value, FunctionType) and value.__module__ == self.module:
            made = self.function(value)
        elif isinstance(value, type) and value.__module__ == self.module:
            made = self.class_(value)
        elif isinstance(value, staticmethod | classmethod):
            made = type(value)(self.of(value.__func__, name))
        elif isinstance(value, property):
            made = property(*(self.of(part, name) for part in (value.fget, value.fset, value.fdel)))
        elif isinstance(value, (type, FunctionType, MethodType, *_AS_IT_IS)):
            made = value  # of Python, NumPy or the course
        else:
            try:
                made = copy.deepcopy(value)
            except Exception:  # whatever does not let itself be copied
                raise Shared(f"{name}, a {type(value).__name__}") from None
            if made is value and getattr(type(value), "__module__", None) == self.module:
                raise Shared(f"{name}, a {type(value).__name__}")
        self.known[id(value)] = made
        return made

    def function(self, old):
        cells = tuple(CellType() for _ in old.__closure__ or ())
        new = FunctionType(old.__code__, self.scope, old.__name__, None, cells)
        self.known[id(old)] = new

        def fill():
            self.scope.setdefault("__builtins__", old.__globals__.get("__builtins__"))
            self.scope.setdefault("__name__", old.__globals__.get("__name__"))
            for name in _names(old.__code__):
                if name in old.__globals__ and name not in self.scope:
                    self.scope[name] = self.of(old.__globals__[name], name)
            for name, cell, old_cell in zip(old.__code__.co_freevars, cells, old.__closure__ or (), strict=True):
                cell.cell_contents = self.of(old_cell.cell_contents, name)
            new.__defaults__ = self.of(old.__defaults__, f"a default value of {old.__name__}")
            new.__kwdefaults__ = self.of(old.__kwdefaults__, f"a default value of {old.__name__}")
            new.__dict__.update({name: self.of(value, name) for name, value in vars(old).items()})

        self.waiting.append(fill)
        return new

    def class_(self, old):
        bases = tuple(self.of(base, base.__name__) for base in old.__bases__)
        members = {name: value for name, value in vars(old).items() if name not in ("__dict__", "__weakref__")}
        new = type(old)(old.__name__, bases, {name: self.of(value, name) for name, value in members.items()})
        self.known[id(old)] = new
        return new


def _names(code):
    """The names that a function, and those within it, look up outside of functions."""
    found = {step.argval for step in dis.get_instructions(code) if step.opname in _OUTER}
    return found.union(*(_names(part) for part in code.co_consts if isinstance(part, CodeType)))
