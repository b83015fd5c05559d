"""A random kernel with its launch: how it is run, repeated and compared."""

import hashlib
import linecache
from dataclasses import dataclass, field, replace

import numpy as np

HEADER = """import math

import numpy as np
from numba import float32, float64, int32, int64, uint32

from simt import cuda
"""


@dataclass(frozen=True)
class Case:
    """A kernel as source text, and its launch. ``arguments`` are arrays and numbers as they are before it."""

    seed: int
    source: str
    grid: tuple
    block: tuple
    arguments: tuple = field(repr=False)
    names: tuple
    rough: tuple
    shared_bytes: int = 0
    features: tuple = ()

    def function(self, header=None):
        """The kernel, as ``cuda.jit`` of the header's ``cuda`` makes it."""
        text = self.source if header is None else header + self.source[len(HEADER) :]
        file = f"<random kernel {hashlib.sha256(text.encode()).hexdigest()[:16]}>"
        linecache.cache[file] = (len(text), None, text.splitlines(True), file)
        namespace = {"__name__": "random_kernel"}
        exec(compile(text, file, "exec"), namespace)
        return namespace["kernel"]

    def fresh(self):
        """Copies of the arguments."""
        return [a.copy(order="K") if isinstance(a, np.ndarray) else a for a in self.arguments]

    def run(self, launch):
        """The arrays after ``launch(kernel, grid, block, arguments, shared_bytes)``, by name."""
        arguments = self.fresh()
        launch(self.function(), self.grid, self.block, arguments, self.shared_bytes)
        return {n: a for n, a in zip(self.names, arguments, strict=True) if isinstance(a, np.ndarray)}

    def with_source(self, source):
        return replace(self, source=source)

    def __str__(self):
        """What is needed to repeat it."""
        launch = f"kernel[{self.grid}, {self.block}, 0, {self.shared_bytes}]({', '.join(self.names)})"
        values = [f"#   {n} = {_describe(a)}" for n, a in zip(self.names, self.arguments, strict=True)]
        return f"# generator.kernel({self.seed})\n{self.source}\n\n# {launch}\n" + "\n".join(values)


def _describe(value):
    if isinstance(value, np.ndarray):
        return f"{value.dtype}{list(value.shape)}"
    return repr(value)


def differences(a, b, rough=()):
    """Names of the arrays in which two runs differ. ``rough`` ones (exp, sin ...) may, by what their libraries may."""

    def same(name):
        if name in rough:
            return np.allclose(a[name], b[name], rtol=1e-5, atol=1e-5, equal_nan=True)
        return np.array_equal(a[name], b[name], equal_nan=a[name].dtype.kind == "f")

    return [name for name in a if not same(name)]
