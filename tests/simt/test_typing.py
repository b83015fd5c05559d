"""A kernel has types, or it is refused before it runs, as numba-cuda refuses it: asked of both, on thousands of random
kernels.

DLKERNELS_SEED=5000 pytest tests/simt/test_typing.py     other kernels than those of every day
"""

import os
import re

import numba
import numpy as np
import pytest
import typing_kernels as kernels

from simt import KernelError, NotOnAGpu, compiled, cuda, run
from simt.kernel import Kernel
from simt.xray import available
from simt.xray.compiler import lto_ir

needs_the_compiler = pytest.mark.skipif(
    not available(), reason="the compiler for GPUs is not installed: run `make gpu`"
)

FIRST = int(os.environ.get("DLKERNELS_SEED", 0))
TYPES = tuple(numba.typeof(value) for value in kernels.arguments())

#: What numba-cuda takes and we do not: (statement, words of ours, why). All else must be taken, or refused, by both.
DIFFERENT = [
    ("for x in [1, 2]:\n    af[0] = x", "a kernel cannot use a list", "a list that is known and never kept becomes a tuple there"),
    ("math.sin", "can only be called in a kernel", "a function that is named and not called does nothing: a forgotten ()"),
    ("cuda.syncthreads", "write cuda.syncthreads() to call it", "the same, and the barrier is missing"),
    ("math", "which a kernel cannot use from outside", "the same of a module"),
    ("x = type(i)", "type() cannot be called", "a type is nothing that a kernel computes with"),
    ("af[0] = sum((1, 2))", "sum() cannot be called", "the executor has no sum(): a loop says in which type it adds"),
    ("af[0] = max(af)", "() of one value takes a tuple", "one thread reads a whole array: a loop shows what it costs"),
    ("x = i in af", "`in` does not search an array", "the same"),
    ("af[0] = np.sum(af)", "makes or reads whole arrays", "the same"),
    ("af[0] = af.argmax()", "the method .argmax() cannot be used", "the same"),
    ("x = cuda.shared.array(8, np.dtype('f4'))", "makes or reads whole arrays", "a dtype that is made in the kernel"),
    ("x, y = af", "cannot unpack", "an array is no tuple: its length is not known before it runs"),
    ("global TILE", "a kernel cannot use global", "nothing can be assigned to a global variable, so nobody says global"),
    ("cuda.atomic.add(af, 1.5, 1)", "index must be a whole number", "numba-cuda cuts the index of an atomic off, as it does nowhere else"),
    ("cuda.atomic.add(f2, (b, 0), 1)", "index must be a whole number", "the same"),
    ("x = 'a' * 2", "a str cannot be used in arithmetic", "text in a kernel is for print()"),
    ("x = 'a'[0]", "a str cannot be indexed", "the same"),
    ("x = cuda.const.array_like(af)", "takes a NumPy array that is a global", "an argument is no constant: it stays where it is"),
    ("return ()", "void return type", "an empty tuple is nothing, too"),
    ("x = cuda.local.array(8, float32)\ncuda.atomic.add(x, 0, 1)", "works on global and shared arrays", "no other thread sees it"),
]  # fmt: skip
EXPLAINED = re.compile("|".join(re.escape(words) for _, words, _ in DIFFERENT))


def kernel_of(statements, number):
    body = "".join(f"    {line}\n" for line in statements.split("\n"))
    return kernels.function_of(
        f"def kernel({', '.join(kernels.ARGUMENTS)}):\n    t = cuda.threadIdx.x\n{body}", f"-{number}"
    )


def refused_by_numba_cuda(function):
    """What numba-cuda says; None where it compiles the kernel, types, machine code and all."""
    try:
        lto_ir(function, TYPES, (8, 0))
    except Exception as error:
        return f"{type(error).__name__}: {error}"
    return None


def refused_by_us(function, launch=run):
    """What we say; None where the kernel runs, or fails as it may fail on a GPU."""
    try:
        launch(Kernel(function), 1, 32, kernels.arguments())
    except NotOnAGpu as error:
        return error.reason
    except KernelError as error:  # Python's own refusal, met on the way
        return error.reason if re.match(r"(Type|Attribute|Key|Numba\w*)Error:", error.reason) else None
    except (AssertionError, ValueError):  # of the kernel's own
        return None
    return None


def unlike(seeds):
    """(number asked, kernels that only one of the two takes and that nothing explains)."""
    asked, found = 0, []
    for seed in seeds:
        function = kernels.function_of(kernels.source_of(seed), seed)
        if function is None:
            continue
        asked += 1
        theirs, ours = refused_by_numba_cuda(function), refused_by_us(function)
        if (theirs is None) != (ours is None) and not (theirs is None and EXPLAINED.search(ours)):
            found.append(f"kernel {seed}\n{kernels.source_of(seed)}\nnumba-cuda: {theirs and theirs[:600]}\nwe: {ours}")
    return asked, found


@pytest.mark.rotates
@pytest.mark.filterwarnings("ignore")
@needs_the_compiler
def test_numba_cuda_takes_what_we_take(capsys):
    asked, found = unlike(range(FIRST, FIRST + 60))
    assert asked > 55
    assert not found, "\n\n".join(found)


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore")
@needs_the_compiler
@pytest.mark.parametrize("first", range(FIRST + 60, FIRST + 4060, 500))
def test_numba_cuda_takes_what_we_take_on_thousands(first, capsys):
    """At most one of two hundred may be refused by one alone, as numba-cuda's versions differ."""
    asked, found = unlike(range(first, first + 500))
    assert asked > 450
    assert len(found) <= asked / 200, "\n\n".join(found)


@pytest.mark.rotates
@pytest.mark.filterwarnings("ignore")
@needs_the_compiler
@pytest.mark.parametrize("number", range(len(DIFFERENT)))
def test_what_differs_still_does(number):
    statements, words, _ = DIFFERENT[number]
    function = kernel_of(statements, number)
    assert refused_by_numba_cuda(function) is None
    assert words in refused_by_us(function)


def test_kernels_are_of_both_kinds():
    """Without numba-cuda: of sixty kernels, a good part has types, and a good part has none."""
    functions = (kernels.function_of(kernels.source_of(seed), seed) for seed in range(60))
    refused = sum(refused_by_us(function) is not None for function in functions if function)
    assert 15 < refused < 45


@pytest.mark.parametrize(
    ("statements", "words"),
    [
        ("x = 1\nif b:\n    x = af\naf[0] = x", "'x' is an int64 on one way and an array of float32 with 1 axis on "
                                                "another"),
        ("af[0] = f << 1", "`<<` does not exist for a float32 and an int64 in a kernel"),
        ("x = af + 1", "a whole array cannot be used in arithmetic in a kernel: work on its elements"),
        ("af[0] = 1j", "cannot store a complex128 in array 'af' of float32"),
        ("af[i, 1] = 1", "array 'af' has 1 axis, but 2 indices came"),
        ("f2[i, 0] = af[i] + ai[i, 1]", "array 'ai' has 1 axis, but 2 indices came"),
        ("x, y = cuda.grid(1)", "an int64 is one value, which cannot be taken apart into several names"),
        ("af[0] = (x := i + 3) + 1", "numba cannot tell the type of a value on this line: write it in several steps"),
        ("x = af[af[1]]", "an index must be a whole number, not a truth value or a float"),
        ("x = af[None]", "an index must be a whole number, None came"),
        ("TABLE[0] = 1", "array 'TABLE' is read-only: the kernel may not write to it"),
        ("x = math.gcd(i, l)", "math has no 'gcd' in a kernel"),
        ("af[0] = np.sqrt(f)", "np.sqrt() does not exist in a kernel: of numbers, math has it"),
        ("ai[0] /= 2", "`/=` gives a float, and this array holds whole numbers"),
        ("x = l.y", "an int64 has no 'y' in a kernel"),
        ("for x in (1, 2.5):\n    af[0] = x", "a tuple whose items have one type"),
        ("cuda.atomic.exch(af, 0, 1)", "cuda.atomic.exch does not exist for float32; only for int32, uint32, int64, "
                                       "uint64"),
        ("x = cuda.shfl_sync(q, i, 0)", "the mask of a shuffle is a whole number of 32 or 64 bits, a uint8 came"),
        ("af[0] = cuda.selp(i, f, f)", "cuda.selp chooses by a truth value, an int32 came"),
        ("x = SIZES[2]", "the tuple has no item of this number"),
        ("x, y = u3.shape", "as many names as the tuple has items"),
        ("print(af)", "print() in a kernel takes numbers and text"),
        ("put(af, 0, 1j)", "cannot store a complex128 in array 'values' of float32"),
        ("if t > 99:\n    x = f & 1", "`&` does not exist for a float32 and an int64"),  # though no thread comes there
    ],
)  # fmt: skip
@pytest.mark.quick
def test_what_is_said(statements, words):
    function = kernel_of(statements, abs(hash(statements)))
    for launch in (run, compiled.run):
        assert words in refused_by_us(function, launch)


@pytest.mark.quick
def test_nothing_runs_before_types_are_known():
    @cuda.jit
    def kernel(x, y):
        x[0] = 1
        if x[0] == 0:
            y[0] = x[0] << y[0]

    x, y = np.zeros(1), np.zeros(1)
    with pytest.raises(NotOnAGpu, match=r"line \d+.*`<<` does not exist for a float64"):
        kernel[1, 1](x, y)
    assert x[0] == 0
    with pytest.raises(NotOnAGpu):  # and the second time, from memory
        kernel[1, 1](x, y)
    kernel[1, 1](np.zeros(1, np.int64), np.zeros(1, np.int64))  # each set of types has its own answer


@pytest.mark.quick
def test_a_device_function_is_asked_for_the_types_of_each_call():
    @cuda.jit(device=True)
    def shifted(x, by):
        return x << by

    @cuda.jit
    def kernel(x, out):
        out[0] = shifted(x[0], 1)

    kernel[1, 1](np.array([3]), out := np.zeros(1))
    assert out[0] == 6
    with pytest.raises(NotOnAGpu, match="`<<` does not exist for a float32") as caught:
        kernel[1, 1](np.array([3], np.float32), out)
    assert "x << by" in str(caught.value)
