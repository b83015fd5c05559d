"""A program in OpenCL C: its kernels in the executor and the x-ray, by NDRange and work-group."""

import ast
import hashlib
import linecache
from dataclasses import dataclass

import numpy as np
from pycparser import c_ast

from simt import cuda, run
from simt.source.tree import give
from simt.xray import xray

from .functions import Reader
from .text import ReadError, Text
from .types import Pointer, dtype_name, lanes


@dataclass(frozen=True)
class LocalMemory:
    """A kernel's argument ``__local float *scratch``: its size in bytes, as in pyopencl."""

    nbytes: int


class Program:
    """A program in OpenCL C. kernels: its kernels' names, in their order. `ReadError` for what is wrong or not read.

    defines: macros by name, as ``-D name=value`` gives them to a compiler.
    """

    def __init__(self, source, defines=None):
        self.text = Text(source, defines)
        definitions = [d for d in self.text.tree.ext if isinstance(d, c_ast.FuncDef)]
        self.kernels = [d.decl.name for d in definitions if "kernel" in d.decl.funcspec]
        if not self.kernels:
            raise ReadError("the program has no kernel", "A kernel begins with __kernel void")
        self._functions = {d.decl.name: d for d in definitions}
        self._made = {}

    def kernel(self, called=None, local=None):
        """A kernel for ``simt``: ``cuda``'s Dispatcher, with the arrays and numbers of the kernel as its arguments.

        called: its name; None for the only one. local: bytes of arguments in local memory, by name.
        """
        called = self._called(called)
        key = called, tuple(sorted((local or {}).items()))
        if key not in self._made:
            self._made[key] = self._compiled(called, local or {})
        return self._made[key]

    def _called(self, called):
        if called is None and len(self.kernels) == 1:
            return self.kernels[0]
        if called not in self.kernels:
            raise ReadError(f"there is no kernel {called!r}", f"The program has: {', '.join(self.kernels)}")
        return called

    def _compiled(self, called, local):
        reader = Reader(self.text, local)
        reader.function(called)
        key = hashlib.sha256(repr((self.text.source, sorted(local.items()))).encode()).hexdigest()[:12]
        file = f"<OpenCL C {called} {key}>"
        text = self.text.source
        linecache.cache[file] = len(text), None, [f"{line}\n" for line in self.text.lines], file
        functions = [made.node for made in reader.made.values()]
        module = ast.fix_missing_locations(ast.Module(functions, []))
        give(file, module)
        namespace = reader.namespace
        exec(compile(module, file, "exec", dont_inherit=True), namespace)
        for name_, made in reader.made.items():
            python = namespace[made.python_name]
            namespace[made.python_name] = cuda.jit(python, device=name_ != called)
            namespace[made.python_name].has_types = True
        return namespace[reader.made[called].python_name]

    def parameters(self, called=None):
        """(name, type) of each argument of a kernel."""
        declared = self._functions[self._called(called)].decl.type.args
        reader = Reader(self.text, {})
        typed = [(p, reader.declared_type(p.type, p)) for p in (declared.params if declared else [])]
        return [(p.name, kind) for p, kind in typed if kind is not None]

    def launch(self, called, global_size, local_size, arguments):
        """(kernel, grid, block, arguments for it): what ``simt.run`` and the x-ray take."""
        grid, block = grid_and_block(global_size, local_size)
        parameters = self.parameters(called)
        if len(parameters) != len(arguments):
            raise ReadError(
                f"the kernel {self._called(called)} takes {len(parameters)} arguments "
                f"({', '.join(n for n, _ in parameters)}), and {len(arguments)} came"
            )
        local, passed = {}, []
        for (label, kind), argument in zip(parameters, arguments, strict=True):
            if isinstance(kind, Pointer) and kind.space == "local":
                if not isinstance(argument, LocalMemory):
                    raise ReadError(f"{label} is in local memory: a LocalMemory(bytes) was expected")
                local[label] = argument.nbytes
            else:
                passed.append(_argument(label, kind, argument))
        return self.kernel(called, local), grid, block, tuple(passed)

    def run(self, called, global_size, local_size=None):
        """A function that runs a kernel with the given arguments in the executor; arrays are changed."""
        return lambda *arguments: run(*self.launch(called, global_size, local_size, arguments))

    def xray(self, called, global_size, local_size=None, **options):
        """A function that runs a kernel and returns `simt.xray.Report`; options: those of `simt.xray.xray`."""

        def launch(*arguments):
            kernel, grid, block, passed = self.launch(called, global_size, local_size, arguments)
            return xray(kernel, grid, block, **options)(*passed)

        return launch


def grid_and_block(global_size, local_size):
    """(work-groups along each axis, work-items of one), of an NDRange. ReadError where one does not divide."""
    sizes = [global_size if isinstance(global_size, tuple | list) else (global_size,)]
    sizes.append(
        sizes[0] if local_size is None else local_size if isinstance(local_size, tuple | list) else (local_size,)
    )
    if len(sizes[0]) != len(sizes[1]):
        raise ReadError(f"the global size has {len(sizes[0])} axes, and the local size {len(sizes[1])}")
    for whole_size, part in zip(*sizes, strict=True):
        if part < 1 or whole_size < 1 or whole_size % part:
            raise ReadError(
                f"invalid work-group size: {part} does not divide the global size {whole_size}",
                "Round the global size up to a multiple, and let the kernel guard its index",
            )
    return tuple(w // p for w, p in zip(*sizes, strict=True)), tuple(map(int, sizes[1]))


def _argument(label, kind, argument):
    if isinstance(kind, Pointer):
        wanted = np.dtype(dtype_name(kind.of))
        if not isinstance(argument, np.ndarray) or argument.dtype != wanted:
            came = (
                f"an array of {argument.dtype}" if isinstance(argument, np.ndarray) else f"a {type(argument).__name__}"
            )
            raise ReadError(f"{label} is a pointer to {kind.of}, and {came} came", f"An array of {wanted} is needed")
        if not argument.flags.c_contiguous or argument.size % lanes(kind.of):
            raise ReadError(f"{label} must be one piece of memory, of whole elements of {kind.of}")
        return argument.reshape(-1)
    if isinstance(argument, bool | int | float | np.number):
        number = np.asarray(argument).astype(kind.numpy)[()]
        return (
            int(number.astype(np.int64))
            if kind.whole
            else np.float32(number)
            if kind.numpy == "float32"
            else float(number)
        )
    raise ReadError(f"{label} is a {kind}, and a {type(argument).__name__} came")
