"""What a device function gets that is known before the kernel runs: functions, types, sizes of its arrays."""

import ast
import operator

import numpy as np
import pytest
from numba import float32, float64, int32

import simt
from simt import NotOnAGpu, compiled, cuda
from simt.source.function import Source
from simt.source.known import known_parameters
from simt.xray import xray


@cuda.jit(device=True)
def twice(x):
    return 2 * x


@cuda.jit(device=True)
def counted(values, size, kind, change, prepare):
    """How often ``prepare(values[t]) % size`` came, in a shared array of ``size`` elements."""
    tile = cuda.shared.array(size, kind)
    t = cuda.threadIdx.x
    tile[t] = 0
    cuda.syncthreads()
    change(tile, prepare(values[t]) % size, 1)
    cuda.syncthreads()
    values[t] = tile[t]


@cuda.jit(device=True)
def handed_on(values, size, change):
    counted(values, size, int32, change, twice)


@cuda.jit(device=True)
def corner(x, shape, fill):
    own = cuda.local.array(shape, float64)
    for i in range(shape[0]):
        for j in range(shape[1]):
            own[i, j] = fill(i) + j
    x[cuda.threadIdx.x] += own[shape[0] - 1, shape[1] - 1]


@cuda.jit(device=True)
def meets(x, wait):
    t = cuda.threadIdx.x
    x[t] += 1
    wait()
    y = x[31 - t]
    wait()
    x[t] = y


SIZE = 32
add = cuda.atomic.add


@cuda.jit
def directly(x):
    counted(x, 32, int32, cuda.atomic.add, twice)


@cuda.jit
def through_another(x):
    handed_on(x, SIZE, add)


@cuda.jit
def of_a_variable(x):
    size = 32
    change = cuda.atomic.add
    counted(x, size, prepare=twice, kind=int32, change=change)


@cuda.jit
def two_shapes(x):
    corner(x, (2, 3), twice)
    corner(x, (4, 5), fill=twice)


@cuda.jit
def with_a_barrier(x):
    meets(x, cuda.syncthreads)


def enclosed(change, kind):
    @cuda.jit
    def kernel(x):
        counted(x, 32, kind, change, twice)

    return kernel


_COUNTS = np.bincount(2 * (np.arange(32) // 3) % 32, minlength=32)
CASES = {
    "directly": (directly, _COUNTS),
    "through another": (through_another, _COUNTS),
    "of a variable": (of_a_variable, _COUNTS),
    "of a closure": (enclosed(cuda.atomic.add, int32), _COUNTS),
    "two shapes": (two_shapes, np.arange(32) // 3 + (2 + 2) + (6 + 4)),
    "a barrier": (with_a_barrier, (np.arange(32) // 3 + 1)[::-1]),
}


@pytest.mark.rotates
@pytest.mark.parametrize("case", CASES)
@pytest.mark.parametrize("engine", [simt.run, compiled.run], ids=["executor", "compiled"])
def test_both_engines_know_it(case, engine):
    kernel, expected = CASES[case]
    x = np.arange(32) // 3
    engine(kernel, 1, 32, (x,))
    np.testing.assert_array_equal(x, expected)


@pytest.mark.parametrize("case", CASES)
def test_the_x_ray_finds_nothing_in_them(case):
    kernel, expected = CASES[case]
    x = np.arange(32) // 3
    assert not xray(kernel, 1, 32)(x).findings
    np.testing.assert_array_equal(x, expected)


def test_every_type_has_a_function_of_its_own():
    for kind in (int32, float32):
        x = np.arange(32) // 3
        enclosed(cuda.atomic.add, kind)[1, 32](x)
        np.testing.assert_array_equal(x, _COUNTS)


def test_the_x_ray_sees_the_race_behind_it():
    @cuda.jit(device=True)
    def apply(x, change):
        change(x, 0, 1)

    @cuda.jit(device=True)
    def plain(x, i, value):
        x[i] += value

    @cuda.jit
    def right(x):
        apply(x, cuda.atomic.add)

    @cuda.jit
    def wrong(x):
        apply(x, plain)

    assert xray(right, 1, 32)(np.zeros(1)).ok
    assert [f.kind for f in xray(wrong, 1, 32)(np.zeros(1)).findings] == ["race"]


def test_the_proof_knows_it_too():
    pytest.importorskip("z3", reason="pip install z3-solver")
    assert simt.prove(through_another, "void(int64[:])", block=32).free


def test_a_size_that_no_constant_gives_is_refused_with_its_line():
    @cuda.jit
    def kernel(x, n):
        counted(x, n, int32, cuda.atomic.add, twice)

    with pytest.raises(NotOnAGpu, match=r"shape of cuda\.shared\.array must be a constant") as caught:
        kernel[1, 32](np.zeros(32, int), 32)
    assert caught.value.text == "cuda.shared.array(size, kind)"


def test_a_parameter_that_is_assigned_stays_a_variable():
    @cuda.jit(device=True)
    def halves(x, n):
        own = cuda.local.array(4, int32)
        own[0] = n
        n //= 2
        x[0] = own[0] + n

    @cuda.jit
    def kernel(x):
        halves(x, 8)

    for engine in (simt.run, compiled.run):
        x = np.zeros(1)
        engine(kernel, 1, 1, (x,))
        assert x[0] == 12


def test_plain_numbers_make_no_functions_of_their_own():
    """Only sizes of arrays do: a device function of numbers is compiled once."""

    @cuda.jit(device=True)
    def power(x, n):
        return x**n

    @cuda.jit
    def kernel(x):
        x[0] = power(x[0], 2) + power(x[0], 3)
        counted(x, 32, int32, cuda.atomic.add, twice)

    source = Source(kernel.py_func)
    calls = {n.func.id: n for n in ast.walk(source.node) if isinstance(n, ast.Call) and isinstance(n.func, ast.Name)}
    assert source.callee(calls["power"]) is power.py_func
    known = known_parameters(source.callee(calls["counted"]))
    assert known == {"size": 32, "kind": int32, "change": cuda.atomic.add, "prepare": twice}
    assert source.callee(calls["counted"]) is source.callee(calls["counted"])


@pytest.mark.rotates
@pytest.mark.parametrize("engine", [simt.run, compiled.run], ids=["executor", "compiled"])
@pytest.mark.parametrize("name", ["add", "sub", "mul", "truediv", "floordiv", "mod", "pow", "lt", "ge", "ne"])
def test_functions_of_operator_are_the_operators(name, engine):
    function = getattr(operator, name)

    @cuda.jit(device=True)
    def applied(x, y, op):
        return op(x, y)

    @cuda.jit
    def kernel(x, y, z):
        i = cuda.grid(1)
        z[i, 0] = function(x[i], y[i])
        z[i, 1] = applied(x[i], y[i], function)

    x, y, z = np.arange(1.0, 9), np.arange(9.0, 1, -1) / 2, np.zeros((8, 2))
    engine(kernel, 1, 8, (x, y, z))
    np.testing.assert_allclose(z, np.stack([function(x, y)] * 2, 1))


@pytest.mark.parametrize("engine", [simt.run, compiled.run], ids=["executor", "compiled"])
def test_bits_are_counted_by_the_method_too(engine):
    @cuda.jit
    def kernel(x, y):
        i = cuda.grid(1)
        y[i] = x[i].bit_count() + operator.not_(i == 0)

    x, y = np.arange(8, dtype=np.uint32), np.zeros(8)
    engine(kernel, 1, 8, (x, y))
    assert y.tolist() == [v.bit_count() + (v > 0) for v in range(8)]


@pytest.mark.parametrize("engine", [simt.run, compiled.run], ids=["executor", "compiled"])
def test_variables_that_are_each_others_are_no_sizes(engine):
    @cuda.jit
    def kernel(x, a, b):
        t = cuda.threadIdx.x
        if t < 2:
            a = b
        else:
            b = a
        x[t] = twice(a) + twice(b)

    x = np.zeros(4)
    engine(kernel, 1, 4, (x, 1.0, 3.0))
    assert x.tolist() == [12, 12, 4, 4]
