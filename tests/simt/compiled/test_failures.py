"""Kernels that go wrong end, and with the executor's error, word for word."""

import re

import numpy as np
import pytest
from numba import float32, int32

import simt
from dlkernels.wide import load4, store4
from simt import compiled, cuda

pytestmark = pytest.mark.quick

FAILING = []


def failing(kind, grid, block, *arguments):
    """Register a kernel that raises ``kind``; ``arguments`` are arrays and numbers."""

    def register(function):
        FAILING.append(pytest.param(kind, cuda.jit(function), grid, block, arguments, id=function.__name__))
        return function

    return register


@failing(simt.OutOfBounds, 1, 32, np.ones(32))
def reads_on_outside_for_ever(x):
    """What is read outside is 0, which this loop would go on for."""
    k = cuda.threadIdx.x
    while x[k] >= 0:
        k += 1


@cuda.jit(device=True)
def first_negative(x, k):
    while x[k] >= 0:
        k += 1
    return k


@failing(simt.OutOfBounds, 1, 32, np.ones(32))
def reads_on_outside_in_a_device_function(x):
    x[0] = first_negative(x, cuda.threadIdx.x)


@failing(simt.OutOfBounds, 2, 32, np.zeros(64, np.float32))
def reads_on_outside_round_a_barrier(x):
    s = cuda.shared.array(32, float32)
    s[cuda.threadIdx.x] = x[cuda.grid(1)]
    cuda.syncthreads()
    k = 0
    while s[k] == 0:
        k += 1
        cuda.syncthreads()
    x[0] = k


@failing(simt.KernelError, 1, 32, 0)
def goes_on_after_a_failed_assertion(step):
    assert step > 0
    k = 0
    while k < 100:
        k += step


@failing(simt.KernelError, 1, 32, np.arange(32.0))
def fails_on_what_it_has_changed(x):
    x[cuda.threadIdx.x] += 1
    assert x[cuda.threadIdx.x] < 20


@failing(simt.OutOfBounds, 1, 32, np.zeros(32), np.zeros(20))
def toggles_before_it_fails(x, y):
    t = cuda.threadIdx.x
    x[t] = 1 - x[t]
    if x[t] == 1:
        y[t] = t


@failing(simt.KernelError, 2, 32, np.zeros(64), 0)
def steps_by_nothing(x, step):
    for k in range(0, 5, step):
        x[cuda.grid(1)] += k


@failing(simt.OutOfBounds, 1, 32, np.arange(32.0))
def compares_with_an_item_outside(x):
    t = cuda.threadIdx.x
    x[t] = 1 if x[t] in (x[t], x[t + 1]) else 2


@failing(simt.KernelError, 1, 1, np.zeros(8, np.float32), np.zeros(8, np.float32), 1)
def loads_16_bytes_that_are_not_aligned(x, y, i):
    store4(y, 0, load4(x, i))


@failing(simt.OutOfBounds, (2, 3), (4, 4), np.zeros((7, 9)))
def fails_in_several_blocks(x):
    i, j = cuda.grid(2)
    x[i, j] = 1


@pytest.mark.parametrize(("kind", "kernel", "grid", "block", "arguments"), FAILING)
def test_the_executors_error(kind, kernel, grid, block, arguments):
    def error_of(run):
        with pytest.raises(kind) as caught:
            run(kernel, grid, block, [a.copy() if isinstance(a, np.ndarray) else a for a in arguments])
        return str(caught.value)

    assert error_of(compiled.run) == error_of(simt.run)


def test_a_failed_launch_leaves_the_hosts_arrays_alone():
    x = np.arange(32.0)

    @cuda.jit
    def fails(x):
        x[cuda.threadIdx.x] += 1
        assert x[cuda.threadIdx.x] < 20

    with pytest.raises(simt.KernelError):
        compiled.run(fails, 1, 32, (x,))
    np.testing.assert_array_equal(x, np.arange(32.0))


@cuda.jit
def a_ticket_for_each_block(counter, x):
    s = cuda.shared.array(1, int32)
    t = cuda.threadIdx.x
    if t == 0:
        s[0] = cuda.atomic.add(counter, 0, 1)
    cuda.syncthreads()
    x[s[0] * cuda.blockDim.x + t] = 1


def ticket_error(run, place):
    arguments = [place(np.zeros(1, np.int32)), place(np.zeros(96))]
    with pytest.raises(simt.OutOfBounds) as caught:
        run(a_ticket_for_each_block, 4, 32, arguments)
    return str(caught.value), arguments


@pytest.mark.parametrize("place", [np.array, cuda.to_device], ids=["host", "device"])
def test_a_block_that_fails_because_others_came_before_is_named(place):
    """Alone it would have the first ticket."""
    wanted, _ = ticket_error(simt.run, place)
    got, arguments = ticket_error(compiled.run, place)
    assert got == wanted
    assert "index [96]" in got
    assert not any(np.asarray(a).any() for a in arguments)


@pytest.mark.parametrize("place", [np.array, cuda.to_device], ids=["host", "device"])
def test_nothing_is_claimed_where_memory_has_changed(place, monkeypatch):
    monkeypatch.setattr("simt.compiled.launch.SMALL", 0)
    wanted, _ = ticket_error(simt.run, place)
    got, _ = ticket_error(compiled.run, place)
    if place is np.array:
        assert got == wanted
    else:
        line = a_ticket_for_each_block.py_func.__code__.co_firstlineno + 7
        assert re.search(rf"used an index outside an array \(line {line}\)$", got)
