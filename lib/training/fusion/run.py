"""Programs compiled, kept, launched and counted: on the CPU by a team of threads, on a GPU as one kernel.

Who adds up to a row (a bias's gradient) does so in a fixed order, whatever the number of threads: each task or row of
threads has sums of its own, which are then added one after the other.
"""

import functools
import itertools
import linecache
import math
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass

import numpy as np
from numba import njit

from dlkernels import cuda, team
from dlkernels.device import is_device_array
from dlkernels.host import new, plain
from dlkernels.layers.cpu_dropout import fill_words
from dlkernels.layers.gpu_dropout import words_of
from dlkernels.layers.philox import u64
from dlkernels.layouts import contiguous
from dlkernels.team import share
from dlkernels.vector import fast, scalar
from dlkernels.vector.gpu import column_sums_kernel

from . import generate
from .generate import CHUNK, RUN, TASK, WARP, WARPS
from .graph import part

THREADS, MOST_BLOCKS = 256, 1024
ALONE = 1 << 15  # elements below which waking another thread costs more than it gains
_launches = ContextVar("launches", default=None)


@dataclass(frozen=True)
class Launch:
    """One pass over memory. device: "cpu" or "gpu"; source: its text; bytes: what it has to move (Program.bytes).

    On a GPU, kernel[grid, block](*arguments) is what was launched.
    """

    program: object
    rows: int
    columns: int
    device: str
    kernel: object = None
    grid: object = None
    block: object = None
    arguments: tuple = ()

    @property
    def bytes(self):
        return self.program.bytes(self.rows, self.columns)

    @property
    def source(self):
        return source(self.program, self.device)

    def __str__(self):
        return " ".join(step.op for step in self.program.operations) or "sum"


@contextmanager
def launches():
    """A list that gets a Launch for each pass that fused functions, and their gradients, make inside."""
    made = []
    before = _launches.set(made)
    try:
        yield made
    finally:
        _launches.reset(before)


def source(program, device="cpu"):
    """The text of the function that a Program becomes on the "cpu" or the "gpu"."""
    if device == "cpu":
        return generate.loop(program)
    return "\n\n".join(write(kernel_program) for write, kernel_program, _ in parts(program))


def parts(program):
    """[(what writes a kernel's source, its Program, the numbers of its leaves)]: a kernel for what is full or summed to
    a row, and one for what is summed to a column. The numbers of its outputs follow from their order."""
    sides = (
        (generate.kernel, [output for output in program.outputs if output[1] != "column"]),
        (generate.row_kernel, [output for output in program.outputs if output[1] == "column"]),
    )
    return [(write, *part(program.steps, outputs)) for write, outputs in sides if outputs]


# ---- compiled --------------------------------------------------------------------------------------------------------


@njit(fastmath={"reassoc"})
def line_sum(line):
    """The sum of a line, in vectors: in another order than one after the other."""
    total = line.dtype.type(0)
    for x in line:
        total += x
    return total


@cuda.jit(device=True)
def word_of(number, block, k0, k1):
    """The random word of dropout's element `number`."""
    w0, w1, w2, w3 = words_of(block + u64(number // 4), k0, k1)
    return w0 if number % 4 == 0 else w1 if number % 4 == 1 else w2 if number % 4 == 2 else w3


def _names(functions):
    """What a source text may call: {"gelu_float32": ...}."""
    made = {f"{name}_{dtype}": f for dtype in ("float32", "float64") for name, f in functions(dtype).items()}
    return made | {"np": np, "u64": u64, "float32": np.float32, "float64": np.float64}


@functools.cache
def _on_cpu():
    vectors = lambda dtype: fast.FUNCTIONS if dtype == "float32" else scalar.functions(np.float64)  # noqa: E731
    return _names(vectors) | {"fill_words": fill_words, "line_sum": line_sum}


@functools.cache
def _on_gpu():
    return _names(lambda dtype: scalar.functions(np.dtype(dtype).type)) | {"cuda": cuda, "word_of": word_of}


_numbers = itertools.count()


def _made(text, name, names):
    """The function of a source text, whose lines Python finds again: for the engines and for tracebacks."""
    file = f"<fusion {next(_numbers)}>"
    linecache.cache[file] = len(text), None, text.splitlines(keepends=True), file
    names = dict(names)
    exec(compile(text, file, "exec"), names)
    return names[name]


@functools.lru_cache(maxsize=256)
def compiled_loop(program):
    """What runs all tasks: function(arguments, tasks, threads, least, team)."""
    task = njit(error_model="numpy")(_made(generate.loop(program), "part", _on_cpu()))

    @njit
    def run(arguments, tasks, threads, least, members):
        share(task, arguments, tasks, threads, least, members)

    return run


@functools.lru_cache(maxsize=256)
def compiled_kernel(write, program):
    return cuda.jit(_made(write(program), "kernel", _on_gpu()))


# ---- launched --------------------------------------------------------------------------------------------------------


def run(program, values, shape):
    """The outputs of a Program: arrays of `shape`, or where they are sums shape[-1:] or (*shape[:-1], 1).

    values: for each leaf, in order, an array or a number (of its step's dtype, or what NumPy makes of it).
    """
    rows, columns = math.prod(shape[:-1]), shape[-1] if shape else 1
    steps = [s for s in program.steps if s.op in ("input", "number")]
    there = any(map(is_device_array, values))
    forms = {"full": shape, "row": shape[-1:], "column": (*shape[:-1], 1)}
    numbers = {"float32": np.float32, "float64": np.float64, "uint64": np.uint64, "int64": np.int64}
    values = [numbers[s.dtype](v) if s.op == "number" else v for s, v in zip(steps, values, strict=True)]
    if rows * columns == 0:
        found = [np.zeros(forms[form], program.steps[k].dtype) for k, form in program.outputs]
        return [cuda.to_device(x) for x in found] if there else found
    found = (_on_device if there else _on_host)(program, values, rows, columns)
    return [x.reshape(forms[form]) for x, (_, form) in zip(found, program.outputs, strict=True)]


def cut(program, rows, columns):
    """(rows, columns, rows of a task, tasks) of the loop: it follows from the shape alone."""
    if not program.broadcasts:
        rows, columns = -(-rows * columns // CHUNK), CHUNK
    step = max(1, TASK // columns)
    if any(form == "row" for _, form in program.outputs):
        step = max(step, -(-rows // RUN))  # few sums, as they are added up by one thread
    return rows, columns, step, -(-rows // step)


def _note(*what):
    if (made := _launches.get()) is not None:
        made.append(Launch(*what))


def _on_host(program, values, rows, columns):
    _note(program, rows, columns, "cpu")
    size = rows * columns
    rows, columns, step, tasks = cut(program, rows, columns)
    lengths = {"full": size, "row": tasks * columns, "column": rows}
    outs = [new((lengths[form],), program.steps[k].dtype) for k, form in program.outputs]
    lines = [plain(v).reshape(-1) if isinstance(v, np.ndarray) else v for v in values]
    threads = 1 if size < ALONE else team.size()
    compiled_loop(program)((*lines, *outs, rows, columns, size, step), tasks, threads, size // 4, team.members())
    return [
        out.reshape(tasks, columns).sum(axis=0) if form == "row" else out
        for out, (_, form) in zip(outs, program.outputs, strict=True)
    ]


def _on_device(program, values, rows, columns):
    lines = [contiguous(v).reshape(v.size) if is_device_array(v) else v for v in values]
    leaves = [k for k, s in enumerate(program.steps) if s.op in ("input", "number")]
    value, found = dict(zip(leaves, lines, strict=True)), {}
    for write, kernel_program, leaf_numbers in parts(program):
        arrays = [value[k] for k in leaf_numbers]
        grid, block, down = launch_of(write, kernel_program, rows, columns)
        lengths = {"full": rows * columns, "row": down * columns, "column": rows}
        outs = [cuda.device_array(lengths[form], kernel_program.steps[k].dtype) for k, form in kernel_program.outputs]
        ends = (rows, columns) if kernel_program.broadcasts else ()
        kernel, arguments = compiled_kernel(write, kernel_program), (*arrays, *outs, *ends)
        _note(kernel_program, rows, columns, "gpu", kernel, grid, block, arguments)
        kernel[grid, block](*arguments)
        numbers = [
            n for n, (_, form) in enumerate(program.outputs) if (form == "column") == (write is generate.row_kernel)
        ]
        for n, out, (_, form) in zip(numbers, outs, kernel_program.outputs, strict=True):
            if form == "row":
                sums = cuda.device_array(columns, out.dtype)
                column_sums_kernel[-(-columns // THREADS), THREADS](out.reshape(down, columns), sums)
                out = sums
            found[n] = out
    return [found[n] for n in range(len(program.outputs))]


def launch_of(write, program, rows, columns):
    """(grid, block, rows of threads) of a kernel."""
    if write is generate.row_kernel:
        return (min(-(-rows // WARPS), MOST_BLOCKS),), (WARP, WARPS), 0
    if not program.broadcasts:
        return min(-(-rows * columns // THREADS), MOST_BLOCKS), THREADS, 0
    down = min(-(-rows // WARPS), RUN)
    return (-(-columns // WARP), down), (WARP, WARPS), down * WARPS
