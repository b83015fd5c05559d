"""How the zoo is kept: each small kernel with a launch, and the kinds of finding it must give (none if correct).

In a buggy kernel the comment ``# BUG`` marks the lines that a finding must name.
"""

import functools
import inspect
from dataclasses import dataclass

import numpy as np

from dlkernels import cuda


@dataclass(frozen=True)
class Animal:
    """A kernel, its launch, what must be found, the marked lines, and how to make fresh arguments."""

    name: str
    kernel: object
    grid: object
    block: object
    arguments: tuple
    shared_bytes: int
    expected: frozenset
    lines: frozenset

    def make_arguments(self):
        return [a() if callable(a) else a for a in self.arguments]


def cage(register, expected, grid, block, *arguments, shared_bytes=0):
    """Decorator: compile the function as a kernel and put it into the list ``register``."""

    def put(function):
        source, start = inspect.getsourcelines(function)
        lines = frozenset(start + k for k, text in enumerate(source) if "# BUG" in text)
        kinds = frozenset([expected] if isinstance(expected, str) else expected)
        register.append(
            Animal(function.__name__, cuda.jit(function), grid, block, arguments, shared_bytes, kinds, lines)
        )
        return function

    return put


def cages():
    """(CORRECT, BUGGY, fine, bug): the two lists of a file, and the decorators that fill them; `bug` takes the kinds
    first."""
    correct, buggy = [], []
    return correct, buggy, functools.partial(cage, correct, ()), functools.partial(cage, buggy)


def zeros(*shape, dtype=np.float32):
    return lambda: np.zeros(shape, dtype)


def ints(n=1):
    return zeros(n, dtype=np.int32)


def numbers(*shape, dtype=np.float32):
    return lambda: (np.arange(np.prod(shape)) % 13 + 1).reshape(shape).astype(dtype)


def bins(n, count):
    return lambda: (np.arange(n) * 7 % count).astype(np.int32)
