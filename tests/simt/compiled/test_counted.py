"""The compiled engine counts what the executor's x-ray counts: on random kernels, on every kernel of the library, by
hand."""

import importlib
from pathlib import Path

import generator
import numpy as np
import pytest
from counts import both, different
from numba import float32, float64, int32
from test_differential import MOST_REFUSED, chunks_and_more, size
from test_grid_barriers import with_grid_barriers

import simt.dispatcher
from dlkernels import implementations
from simt import Deadlock, KernelError, Unsupported, cuda
from simt.compiled import slots
from simt.errors import NotFollowed
from simt.xray import NotLookedFor, xray
from simt.xray.arguments import restore, same

pytestmark = pytest.mark.rotates

BENCHMARKS = Path(__file__).parents[3] / "benchmarks"
DAILY = ("matmul_wide", "sum_shuffle")
WEIGHTS = np.arange(8, dtype=np.float32)


# -- random kernels, and those of the library --------------------------------------------------------------------------


@pytest.mark.parametrize("first", chunks_and_more(10, 2000))
def test_random_kernels_are_counted_alike(first):
    refused = 0
    for seed in range(first, first + 10):
        case = generator.kernel(seed, size=size(seed))
        try:
            report, counted, *_ = both(case.function(), case.grid, case.block, case.fresh(), case.shared_bytes)
        except Unsupported:
            refused += 1
            continue
        assert not different(report, counted), f"{different(report, counted)}\n{case}"
    assert refused <= MOST_REFUSED


@pytest.mark.parametrize("first", chunks_and_more(10, 600))
def test_random_kernels_with_grid_barriers_are_counted_alike(first):
    compared = 0
    for seed in range(first, first + 10):
        case = with_grid_barriers(seed)
        if case is None:
            continue
        order = ("forward", "reverse")[seed % 2]
        try:
            report, counted, *_ = both(case.function(), case.grid, case.block, case.fresh(), case.shared_bytes, order)
        except (Unsupported, NotFollowed, Deadlock):  # blocks that pass different barriers
            continue
        assert not different(report, counted), f"{different(report, counted)}\n{case}"
        assert counted.total["grid_barriers"] > 0
        compared += 1
    assert compared or first  # some have no barrier, or pass it in some blocks only


@cuda.jit
def turns(x, y, n):
    """A grid barrier in a loop and a branch, barriers of the block before and behind, memory of every kind across
    it."""
    i, t = cuda.grid(1), cuda.threadIdx.x
    s, own = cuda.shared.array(48, float32), cuda.local.array(3, float32)
    for k in range(3):
        s[t] = x[i]
        cuda.syncthreads()
        own[k] = s[47 - t]
        if k < n:
            cuda.cg.this_grid().sync()
            y[i] = x[(i + 55 * k) % x.size] + own[0] + s[t]
        cuda.syncthreads()


@pytest.mark.parametrize("order", ["forward", "reverse"])
@pytest.mark.parametrize("n", [0, 2, 3])
def test_what_a_block_counts_outlives_its_grid_barriers(order, n):
    given = np.arange(192, dtype=np.float32), np.zeros(192, np.float32), n
    report, counted, after, other = both(turns, 4, 48, given, order=order)
    assert not different(report, counted)
    assert same(after, other)
    assert (counted.total["barriers"], counted.total["grid_barriers"]) == (6, n)


def rungs():
    everything = [rung for rung in implementations.everything() if rung.device == "gpu"]
    return [
        pytest.param(rung, id=rung.name, marks=() if rung.name in DAILY else pytest.mark.slow) for rung in everything
    ]


@pytest.mark.parametrize("rung", rungs())
def test_kernels_of_the_library_are_counted_alike(rung, monkeypatch):
    monkeypatch.syspath_prepend(str(BENCHMARKS))
    gallery = importlib.import_module("gallery")
    seen, refused = [], []

    def compared(kernel, grid, block, arguments, shared_bytes):
        seen.append(kernel.py_func.__name__)
        try:
            report, counted, after, _ = both(kernel, grid, block, arguments, shared_bytes)
        except Unsupported as error:
            refused.append(str(error))
            return xray(kernel, grid, block, shared_bytes)(*arguments)
        assert not different(report, counted), f"{kernel.py_func.__name__}: {different(report, counted)}"
        restore(arguments, after)
        return None

    monkeypatch.setattr(simt.dispatcher, "start", compared)
    for shape, seed in gallery.calls(rung):
        rung(*gallery.arguments(rung, shape, seed))
    assert seen
    if rung.name in DAILY:
        assert not refused


# -- by hand -----------------------------------------------------------------------------------------------------------


@cuda.jit(device=True)
def pick(a, i):
    return a[i]


@cuda.jit
def everything(x, y, counters, rows):
    """Loops of each thread's own length, calls, local, shared and constant memory, atomics, an early return."""
    s = cuda.shared.array(64, float64)
    own = cuda.local.array(4, float32)
    w = cuda.const.array_like(WEIGHTS)
    i, t = cuda.grid(1), cuda.threadIdx.x
    for k in range(4):
        own[k] = x[(i + k) % x.shape[0]] * w[k]
    s[t] = own[t % 4] + pick(x, i) + pick(x, 0)
    cuda.syncthreads()
    if t % 3 == 0 and rows[t % 2, t] > 2:
        cuda.atomic.add(counters, t % 2, 1)
    total = float32(0)
    k = 0
    while x[k] < t % 5:
        total += s[(t + k) % 64]
        k += 1
    for k in range(t % 7):
        if k == 3:
            continue
        total += s[2 * k]
    cuda.syncthreads()
    if i >= y.shape[0]:
        return
    y[i] = total
    y[i] += rows.T[t, 1]


def arguments():
    x = np.arange(200, dtype=np.float32)
    return x, np.zeros(120, np.float32), np.zeros(2, np.int32), np.arange(128, dtype=np.float32).reshape(2, 64)


@pytest.mark.parametrize("order", ["forward", "reverse"])
def test_everything_that_kernels_have(order):
    report, counted, after, other = both(everything, 2, 64, arguments(), order=order)
    assert not different(report, counted)
    assert same(after, other)
    assert report.total["barriers"] == counted.total["barriers"] == 2
    assert report.total["shared_bytes"] == counted.total["shared_bytes"] == 512


@cuda.jit(device=True)
def last_of(s, value):
    """The sum of all values, in the last thread's place: Hillis and Steele's rounds, their distances written out."""
    t = cuda.threadIdx.x
    s[t] = value
    cuda.syncthreads()
    for d in (1, 2, 4, 8, 16, 32):
        if t >= d:
            value += s[t - d]
        cuda.syncthreads()
        s[t] = value
        cuda.syncthreads()


@cuda.jit
def sums(x, y):
    s = cuda.shared.array(64, float32)
    last_of(s, x[cuda.grid(1)])
    for array in (x, y):
        array[cuda.grid(1)] = s[63]


def test_barriers_in_a_loop_over_a_tuple():
    report, counted, after, other = both(sums, 2, 64, (np.arange(128, dtype=np.float32), np.zeros(128, np.float32)))
    assert not different(report, counted)
    assert same(after, other)
    assert after[1][0] == 63 * 32
    assert counted.total["barriers"] == 13  # of each block


@cuda.jit
def strided(x, y, stride):
    i = cuda.grid(1)
    y[i] = x[i * stride]


def test_more_blocks_than_the_executor_could_record():
    # 2^22 threads are 2^17 warps: each loads 32 floats 8 bytes apart (8 sectors), and stores 128 bytes (4).
    n = 1 << 22
    x, y = np.zeros(2 * n, np.float32), cuda.device_array(n, np.float32)
    report = xray(strided, n // 256, 256, engine="auto")(x, y, 2)
    assert report.engine == "compiled"
    load, store = report.expressions
    assert (load.requests, load.sectors, load.efficiency) == (1 << 17, 8 << 17, 0.5)
    assert (store.requests, store.sectors, store.efficiency) == (1 << 17, 4 << 17, 1.0)
    assert report.total["bytes_moved"] == 12 * 32 << 17


def test_small_launches_are_recorded():
    report = xray(strided, 2, 32, engine="auto")(np.zeros(128, np.float32), np.zeros(64, np.float32), 2)
    assert report.engine == "executor"
    assert report.ok


def test_a_report_says_what_was_not_looked_for():
    report = xray(strided, 2, 32, engine="compiled")(np.zeros(128, np.float32), np.zeros(64, np.float32), 2)
    assert "Not looked for: memory read before it is written" in " ".join(str(report).split())
    assert "Not looked for: memory read before it is written" in report._repr_html_()
    report.require(sectors_per_request=8, kind="load")
    report.require(races=0)
    for ask in (
        lambda: report.ok,
        lambda: report.findings,
        lambda: report.trace,
        lambda: report.require(findings=0),
        report.bank_strip,
    ):
        with pytest.raises(NotLookedFor, match="engine"):
            ask()
    told = report.to_dict()
    assert (told["engine"], told["findings"], told["races"]) == ("compiled", None, 0)


@cuda.jit
def whole_array(x, y):
    total = float32(0)
    for value in x:
        total += value
    y[cuda.grid(1)] = total


def test_what_cannot_be_counted_is_refused_or_left_to_the_executor():
    x = np.ones(8, np.float32)
    with pytest.raises(Unsupported, match="accesses are counted"):
        xray(whole_array, 1, 32, engine="compiled")(x, np.zeros(32, np.float32))
    with pytest.raises(ValueError, match="engine is"):
        xray(whole_array, 1, 32, engine="fast")
    with pytest.raises(KernelError, match="outside"):
        xray(strided, 2, 32, engine="compiled")(x, np.zeros(64, np.float32), 2)


@cuda.jit
def many(x, y, n):
    total = int32(0)
    while total < n:
        total += x[total % 8]
    y[cuda.grid(1)] = total


def test_too_many_accesses_between_two_barriers():
    n = slots.MOST_SLOTS + 10
    with pytest.raises(Unsupported, match="too many accesses"):
        xray(many, 1, 1, engine="compiled")(np.ones(8, np.int32), np.zeros(1, np.int32), n)
