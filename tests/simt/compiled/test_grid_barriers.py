"""Barriers of the grid in the compiled engine: what the executor computes, and its errors, word for word."""

import os
import threading
import time

import generator
import numpy as np
import pytest
from generator_case import differences
from generator_shrink import in_executor
from numba import float32

import simt
from simt import Unsupported, compiled, cuda
from simt.compiled import launch as launching

pytestmark = pytest.mark.rotates

FIRST = int(os.environ.get("DLKERNELS_SEED", 0))
WAYS = [(checked, order) for checked in (True, False) for order in ("forward", "reverse")]


def outcome(run):
    """The arrays by name, or the error."""
    try:
        return run()
    except simt.KernelError as error:
        return {type(error).__name__: np.array(error.reason)}


# -- random kernels ----------------------------------------------------------------------------------------------------


def with_grid_barriers(seed):
    """A random kernel whose barriers are those of the grid, or None where it has none.

    Blocks may take different branches, and pass different numbers of barriers: then the launch fails in both engines.
    """
    case = generator.kernel(seed, size=(3, 4, 6, 9)[seed % 4])
    source = case.source.replace("cuda.syncthreads()", "cuda.cg.this_grid().sync()")
    return None if source == case.source else case.with_source(source)


def compare(seeds):
    """(compared, failed in both, refused)."""
    counts = [0, 0, 0]
    for seed in seeds:
        case = with_grid_barriers(seed)
        if case is None:
            continue
        expected = outcome(lambda case=case: in_executor(case))
        checked, order = WAYS[seed % len(WAYS)]

        def in_compiled(case=case, checked=checked, order=order):
            return case.run(
                lambda k, grid, block, a, shared: compiled.run(k, grid, block, a, shared, checked, order=order)
            )

        try:
            found = outcome(in_compiled)
        except Unsupported:
            counts[2] += 1
            continue
        counts[0] += 1
        failed = expected.keys() ^ dict.fromkeys(case.names).keys() and "Deadlock" in expected
        counts[1] += failed
        assert expected.keys() == found.keys(), f"{expected}\n{found}\n{case}"
        assert failed or not differences(expected, found, case.rough), str(case)
    return counts


@pytest.mark.parametrize(("first", "count"), [(0, 8), pytest.param(100, 200, marks=pytest.mark.slow)])
def test_random_kernels(first, count):
    compared, failed, refused = compare(range(FIRST + first, FIRST + first + count))
    assert compared - failed >= count // 6
    assert refused <= compared // 5


# -- the shapes of code around a barrier -------------------------------------------------------------------------------


@cuda.jit(device=True)
def neighbours(grid, y, row, i):
    grid.sync()
    return y[row, (i + 1) % y.shape[1]] - y[row, i - 1 if i else y.shape[1] - 1]


@cuda.jit
def everything(x, y, n, bounds):
    """Loops of all kinds, a branch with barriers on both sides, what threads, blocks and the block's memory keep."""
    grid = cuda.cg.this_grid()
    s, own = cuda.shared.array(32, float32), cuda.local.array(3, float32)
    t, i = cuda.threadIdx.x, cuda.grid(1)
    s[t], own[1], total, size, pair = x[i], x[i] + 1, float32(0), y.shape[1], (i, 0.5)
    for step in range(n):
        y[step % 2, i] = total + step
        grid.sync()
        total += y[step % 2, size - 1 - i] * own[1] + s[31 - t]
        if step == 3:
            continue
        total += pair[1]
        if step > 4:
            break
    k = bounds[0]
    while k < bounds[1]:
        y[2, i] = total
        k += 1
        grid.sync()
        total -= neighbours(grid, y, 2, i)
        for inner in range(k, bounds[1], 2):
            grid.sync()
            if t % 3 == inner % 3:
                total += inner
    for weight in (0.5, 2.0):
        y[3, i] = total * weight
        grid.sync()
        total += y[3, (i + 7) % size]
        grid.sync()
    if n > 3:
        grid.sync()
        x[i] = total + y[2, size - 1 - i]
    elif n > 1:
        for r in range(2):
            grid.sync()
            x[i] += r
    else:
        x[i] = total
    x[i] += pair[0]


@pytest.mark.parametrize("steps", [0, 1, 3, 7])
@pytest.mark.parametrize(("checked", "order"), WAYS)
def test_everything_that_is_kept_and_asked(steps, checked, order):
    rng = np.random.default_rng(steps)
    arguments = (
        rng.standard_normal(160).astype(np.float32),
        np.zeros((4, 160), np.float32),
        steps,
        np.array([1, 1 + steps]),
    )
    expected, found = ([np.copy(a) if isinstance(a, np.ndarray) else a for a in arguments] for _ in range(2))
    simt.run(everything, 5, 32, expected)
    for threads in (1, 3):
        found = [np.copy(a) if isinstance(a, np.ndarray) else a for a in arguments]
        compiled.run(everything, 5, 32, found, checked=checked, order=order, threads=threads)
        for one, other in zip(expected[:2], found[:2], strict=True):
            np.testing.assert_array_equal(one, other)


def test_dynamic_shared_memory_and_several_axes_are_kept():
    @cuda.jit
    def kernel(x):
        s = cuda.shared.array(0, float32)
        row, t = cuda.blockIdx.y, cuda.threadIdx.y * 4 + cuda.threadIdx.x
        s[t] = x[row, cuda.blockIdx.x, t]
        cuda.syncthreads()
        for _ in range(3):
            x[row, cuda.blockIdx.x, t] = 2 * s[7 - t]
            cuda.cg.this_grid().sync()
            s[t] += x[1 - row, 2 - cuda.blockIdx.x, t]
            cuda.cg.this_grid().sync()

    start = np.random.default_rng(0).standard_normal((2, 3, 8)).astype(np.float32)
    expected, found = start.copy(), start.copy()
    simt.run(kernel, (3, 2), (4, 2), [expected], shared_bytes=32)
    compiled.run(kernel, (3, 2), (4, 2), [found], shared_bytes=32)
    np.testing.assert_array_equal(expected, found)
    assert not np.array_equal(start, found)


@cuda.jit
def counts_up(x, n):
    for _ in range(n):
        x[cuda.grid(1)] += 1
        cuda.cg.this_grid().sync()


def test_policy_gives_large_cooperative_launches_to_the_compiled_engine():
    x = np.zeros(512)
    counts_up[4, 128](x, 2000)
    assert cuda.last_launch().engine == "compiled"
    assert (x == 2000).all()


# -- errors ------------------------------------------------------------------------------------------------------------


def blocks_leave(x):
    if cuda.blockIdx.x == 0:
        cuda.cg.this_grid().sync()


def threads_leave(x):
    if cuda.grid(1) < 6:
        cuda.cg.this_grid().sync()
        x[cuda.grid(1)] = 1


def outside_behind_a_barrier(x):
    cuda.cg.this_grid().sync()
    x[cuda.grid(1) + 1] = 1


def nothing_wrong(x):
    cuda.cg.this_grid().sync()


WRONG = [
    (blocks_leave, 2, 2, simt.Deadlock),
    (threads_leave, 2, 4, simt.Deadlock),
    (outside_behind_a_barrier, 2, 4, simt.OutOfBounds),
    (nothing_wrong, 17, 1024, simt.LaunchError),
]


@pytest.mark.parametrize(("function", "grid", "block", "kind"), WRONG, ids=lambda v: getattr(v, "__name__", None))
def test_errors_are_the_executors(function, grid, block, kind):
    kernel, said = cuda.jit(function), []
    for run in (simt.run, compiled.run):
        with pytest.raises(kind) as caught:
            run(kernel, grid, block, [np.zeros(8)])
        said.append(str(caught.value))
    assert said[0] == said[1]


def test_a_launch_too_long_for_the_executor_says_what_is_known(monkeypatch):
    monkeypatch.setattr(launching, "LONG", 0)
    words = {
        blocks_leave: "line {}.*1 of 2 blocks wait at the grid barrier",
        threads_leave: "different ways.*line {}",
        outside_behind_a_barrier: r"block \(1, 0, 0\) used an index outside an array \(line {}\)$",
    }
    for function, grid, block, _ in WRONG[:3]:
        line = function.__code__.co_firstlineno + (1 if function is threads_leave else 2)
        with pytest.raises(simt.KernelError, match=words[function].format(line)):
            compiled.run(cuda.jit(function), grid, block, [np.zeros(8)])


def test_an_endless_loop_around_a_barrier_ends(monkeypatch):
    monkeypatch.setattr(compiled.generation, "MOST_OF_GRID", 50)

    @cuda.jit
    def kernel(x):
        k = 1
        while k > 0:
            x[cuda.grid(1)] = k
            cuda.cg.this_grid().sync()

    with pytest.raises(simt.TooManyIterations, match="goes on and on") as caught:
        compiled.run(kernel, 2, 4, [np.zeros(8)])
    assert caught.value.line == kernel.py_func.__code__.co_firstlineno + 3


def test_a_view_that_is_kept_over_a_barrier_is_refused():
    @cuda.jit
    def kernel(x):
        row = x[int(x[0, 0])]
        cuda.cg.this_grid().sync()
        row[cuda.threadIdx.x] = 1

    with pytest.raises(Unsupported, match="'row'"):
        compiled.run(kernel, 1, 4, [np.zeros((4, 4))])


def test_ctrl_c_ends_a_launch_of_many_rounds(monkeypatch):
    x, before = cuda.to_device(np.zeros(64)), threading.active_count()
    compiled.run(counts_up, 2, 32, [x, 1])

    waits = threading.Thread.join
    calls = []

    def join(self, timeout=None):
        if not calls:
            calls.append(self)
            ends = time.monotonic() + 120
            while x.copy_to_host()[0] < 3:  # it is on its way
                assert time.monotonic() < ends
                time.sleep(0.01)
            raise KeyboardInterrupt
        waits(self, timeout)

    monkeypatch.setattr(threading.Thread, "join", join)
    with pytest.raises(KeyboardInterrupt):
        compiled.run(counts_up, 2, 32, [x, 10**9])
    assert threading.active_count() == before
    assert x.copy_to_host()[0] < 10**9
