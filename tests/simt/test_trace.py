"""What a traced launch records."""

from pathlib import Path

import numpy as np
import pytest
from numba import float32, int32

import simt
from simt import Deadlock, OutOfBounds, Trace, cuda
from simt.trace import ATOMIC, LOAD, SHARED, STORE, TraceFull

pytestmark = pytest.mark.quick

TILE = 32


def traced(kernel, grid, block, *args, **options):
    names = {"shared_bytes", "order", "budget"}
    trace = Trace(**{k: v for k, v in options.items() if k not in names})
    run_options = {k: v for k, v in options.items() if k in names}
    return simt.run(kernel, grid, block, args, trace=trace, **run_options)


def instructions(trace, text, kind=None):
    """(warp, visit) -> lanes, for the sites with this text."""
    sites = [i for i, s in enumerate(trace.sites) if s.text == text and kind in (None, s.kind)]
    found = {}
    for row in np.flatnonzero(np.isin(trace.site, sites)):
        found.setdefault((trace.warp[row], trace.site[row], trace.visit[row]), []).append(int(trace.lane[row]))
    return found


def test_columns_of_a_copy():
    @cuda.jit
    def copy(x, y):
        i = cuda.grid(1)
        y[i] = x[i]

    x, y = np.arange(96, dtype=np.float32), np.zeros(96, np.float32)
    trace = traced(copy, 2, 48, x, y)
    np.testing.assert_array_equal(y, x)
    assert len(trace) == 192
    loads = trace.kind == LOAD
    np.testing.assert_array_equal(trace.element[loads], np.arange(96))
    np.testing.assert_array_equal(trace.address[loads], 4 * np.arange(96))
    np.testing.assert_array_equal(trace.thread[loads], np.arange(96))
    np.testing.assert_array_equal(trace.block[loads], np.arange(96) // 48)
    # a block of 48 threads has two warps, the second with 16 lanes
    np.testing.assert_array_equal(trace.warp[loads], np.arange(96) // 48 * 2 + np.arange(96) % 48 // 32)
    np.testing.assert_array_equal(trace.lane[loads], np.arange(96) % 48 % 32)
    assert [a.name for a in trace.arrays] == ["x", "y"]
    assert trace.arrays[1].base == 512  # 384 bytes, rounded up to 256
    assert set(trace.size) == {4}
    site = trace.sites[trace.site[0]]
    assert (site.text, site.kind, site.function) == ("x[i]", "load", "copy")
    line = Path(site.file).read_text().splitlines()[site.line - 1]
    assert line[site.column : site.end_column] == "x[i]"
    assert (trace.grid, trace.block_shape, trace.kernel) == ((2, 1, 1), (48, 1, 1), "copy")


def test_a_divergent_if_in_a_loop_keeps_iterations_apart():
    """Even lanes load at j = 0, odd lanes at j = 1: two instructions of 16 lanes, as a GPU issues them."""

    @cuda.jit
    def kernel(x, y):
        t = cuda.threadIdx.x
        total = float32(0)
        for j in range(2):
            if t % 2 == j:
                total += x[t]
        y[t] = total

    trace = traced(kernel, 1, 32, np.ones(32, np.float32), np.ones(32, np.float32))
    found = instructions(trace, "x[t]")
    assert sorted(map(len, found.values())) == [16, 16]
    assert sorted(map(sorted, found.values())) == [list(range(0, 32, 2)), list(range(1, 32, 2))]
    assert len(instructions(trace, "y[t]")) == 1
    paths = [trace.visit_path(visit) for _, _, visit in found]
    assert sorted(path[0][1] for path in paths) == [0, 1]
    assert trace.sites[paths[0][0][0]].text == "for j in range(2)"


def test_lanes_with_different_numbers_of_iterations_meet_again_after_the_loop():
    @cuda.jit
    def kernel(x, y):
        t = cuda.threadIdx.x
        i = 0
        while i < t % 3:
            y[t] += x[i]
            i += 1
        y[t] = 5

    trace = traced(kernel, 1, 32, np.ones(32, np.float32), np.ones(32, np.float32))
    assert sorted(map(len, instructions(trace, "x[i]").values())) == [10, 21]
    assert sorted(len(v) for v in instructions(trace, "y[t]", "store").values()) == [10, 21, 32]
    # `y[t] += ...` is a load and a store at the same place
    assert sorted(map(len, instructions(trace, "y[t]", "load").values())) == [10, 21]


def test_two_calls_of_a_device_function_are_two_instructions():
    @cuda.jit(device=True)
    def read(x, i):
        return x[i]

    @cuda.jit
    def kernel(x, y):
        t = cuda.threadIdx.x
        y[t] = read(x, t) + read(x, 31 - t)
        inner = lambda k: x[k] * 2  # noqa: E731
        y[t] += inner(t) + inner(0)

    trace = traced(kernel, 1, 32, np.ones(32, np.float32), np.ones(32, np.float32))
    assert [len(v) for v in instructions(trace, "x[i]").values()] == [32, 32]
    assert [len(v) for v in instructions(trace, "x[k]").values()] == [32, 32]
    assert trace.sites[next(iter(instructions(trace, "x[i]")))[1]].function == "read"


def test_two_expressions_on_one_line():
    @cuda.jit
    def kernel(a, y):
        i = cuda.threadIdx.x
        y[i] = a[i, 0] * a[0, i]

    trace = traced(kernel, 1, 8, np.ones((8, 8), np.float32), np.zeros(8, np.float32))
    (row,), (column,) = instructions(trace, "a[i, 0]"), instructions(trace, "a[0, i]")
    assert row[1] != column[1]
    np.testing.assert_array_equal(trace.address[trace.site == row[1]], 32 * np.arange(8))
    np.testing.assert_array_equal(trace.address[trace.site == column[1]], 4 * np.arange(8))


def test_shared_memory_epochs_and_barriers():
    @cuda.jit
    def transpose(x, y):
        tile = cuda.shared.array((TILE, TILE), float32)
        other = cuda.shared.array(4, int32)
        tx, ty = cuda.threadIdx.x, cuda.threadIdx.y
        tile[ty, tx] = x[ty, tx]
        other[0] = 1
        cuda.syncthreads()
        y[ty, tx] = tile[tx, ty]

    x = np.random.default_rng(0).random((32, 32)).astype(np.float32)
    y = np.zeros_like(x)
    trace = traced(transpose, 1, (32, 32), x, y, snapshots=True)
    np.testing.assert_array_equal(y, x.T)
    store = trace.site == next(iter(instructions(trace, "tile[ty, tx]")))[1]
    load = trace.site == next(iter(instructions(trace, "tile[tx, ty]")))[1]
    assert set(trace.epoch[store]) == {0}
    assert set(trace.epoch[load]) == {1}
    assert set(trace.space[store]) == {SHARED}
    np.testing.assert_array_equal(trace.element[load][:32], np.arange(32) * 32)
    names = {a.name: a for a in trace.arrays}
    assert names["other"].base == TILE * TILE * 4
    assert names["tile"].shape == (32, 32)
    (barrier,) = trace.barriers
    assert (barrier.block, barrier.epoch, barrier.threads) == (0, 0, 1024)
    assert trace.sites[barrier.site].text == "cuda.syncthreads()"
    at_barrier, at_end = trace.snapshots
    tile = next(i for i, a in enumerate(trace.arrays) if a.name == "tile")
    np.testing.assert_array_equal(at_barrier.arrays[tile], x)
    assert (at_barrier.epoch, at_end.site) == (1, -1)
    assert trace.findings == []


def test_views_count_in_the_array_they_show():
    @cuda.jit
    def kernel(a, y):
        row = a[2]
        part = row[1:]
        y[0] = part[1]
        y[1] = a.T[3, 1]
        y[2] = a.reshape(16)[5]

    trace = traced(kernel, 1, 1, np.arange(16.0).reshape(4, 4), np.zeros(3))
    loads = trace.kind == LOAD
    assert trace.element[loads].tolist() == [10, 7, 5]
    assert trace.address[loads].tolist() == [80, 56, 40]
    assert set(trace.array[loads]) == {0}


def test_device_arrays_that_are_not_contiguous():
    @cuda.jit
    def kernel(a, b, f):
        i = cuda.threadIdx.x
        a[i] = b[i, 1] + f[0, i]

    base = cuda.to_device(np.zeros((4, 6)))
    fortran = cuda.to_device(np.asfortranarray(np.ones((2, 4), np.float32)))
    trace = traced(kernel, 1, 4, base[:, 0][::-1], base[:, 1::2], fortran)
    store = trace.kind == STORE
    assert trace.element[store].tolist() == [0, 1, 2, 3]
    assert trace.address[store].tolist() == [144, 96, 48, 0]
    read = trace.array == 1
    assert trace.element[read].tolist() == [1, 4, 7, 10]
    assert trace.address[read].tolist() == [24, 72, 120, 168]
    read = trace.array == 2
    assert trace.element[read].tolist() == [0, 1, 2, 3]
    assert (trace.address[read] - trace.arrays[2].base).tolist() == [0, 8, 16, 24]


def test_atomics_and_local_and_constant_memory():
    weights = np.arange(3.0)

    @cuda.jit
    def kernel(out):
        mine = cuda.local.array(2, float32)
        mine[1] = weights[2]
        cuda.atomic.add(out, 1, mine[1])

    out = np.zeros(2, np.float32)
    trace = traced(kernel, 1, 2, out)
    assert out[1] == 4
    assert [(trace.arrays[a].space, trace.arrays[a].name) for a in trace.array[:4]] == [
        ("const", "weights"),
        ("local", "mine"),
        ("local", "mine"),
        ("global", "out"),
    ]
    assert trace.kind[:4].tolist() == [LOAD, STORE, LOAD, ATOMIC]
    assert trace.address[:3].tolist() == [16, 4, 4]


def findings(trace):
    return [f.kind for f in trace.findings]


def test_findings_are_collected_and_the_kernel_goes_on():
    @cuda.jit
    def kernel(x, y):
        s = cuda.shared.array(8, float32)
        t = cuda.threadIdx.x
        if t == 2:
            x[t + 7] = 1
        y[t] = x[t - 1]
        y[t] = s[t]

    trace = traced(kernel, 1, 4, np.ones(8), np.ones(4))
    assert (
        findings(trace)
        == ["negative-index"] + ["uninitialised-shared"] * 2 + ["out-of-bounds"] + ["uninitialised-shared"] * 2
    )
    bad = trace.findings[3]
    assert (bad.index, bad.thread, bad.block, trace.arrays[bad.array].name) == ((9,), 2, 0, "x")
    assert trace.sites[bad.site].text == "x[t + 7]"
    with pytest.raises(OutOfBounds):
        traced(kernel, 1, 4, np.ones(8), np.ones(4), collect=False)


def test_divergence_is_collected():
    @cuda.jit
    def two_places(y):
        if cuda.threadIdx.x < 2:
            cuda.syncthreads()
        else:
            cuda.syncthreads()
        y[cuda.threadIdx.x] = 1

    @cuda.jit
    def early_exit(y):
        if cuda.threadIdx.x == 3:
            return
        cuda.syncthreads()
        y[cuda.threadIdx.x] = 1

    @cuda.jit
    def missing_lane(y):
        if cuda.threadIdx.x > 0:
            y[0] = cuda.shfl_sync(0xFFFFFFFF, 1, 0)
        else:
            cuda.syncthreads()

    trace = traced(two_places, 1, 4, np.zeros(4))
    assert findings(trace) == ["divergent-barrier"]
    assert len(trace.findings[0].other_sites) == 2
    trace = traced(early_exit, 1, 4, np.zeros(4))
    assert findings(trace) == ["barrier-after-exit"]
    assert len(trace.findings[0].threads) == 3
    trace = Trace()
    with pytest.raises(Deadlock):
        simt.run(missing_lane, 1, 32, [np.zeros(4)], trace=trace)
    assert findings(trace) == ["divergent-warp-operation"]
    assert trace.thread is not None  # columns are there up to the deadlock


def test_warp_findings():
    @cuda.jit
    def kernel(y):
        t = cuda.threadIdx.x
        if t >= 30:
            return
        y[t] = cuda.shfl_down_sync(0xFFFFFFFF, t, 1)
        cuda.syncwarp(0x3FFFFFFF)

    trace = traced(kernel, 1, 32, np.zeros(32))
    assert findings(trace) == ["inactive-lane-read"]
    shuffle, sync = trace.collectives
    assert (shuffle.name, shuffle.mask, shuffle.lanes) == ("shfl_down_sync", 0xFFFFFFFF, 0x3FFFFFFF)
    assert (sync.name, sync.lanes) == ("syncwarp", 0x3FFFFFFF)


def test_syncwarp_waits_only_for_lanes_that_are_there():
    """CUDA C++ Programming Guide, Synchronization Functions: "all non-exited threads named in mask must execute" it."""

    @cuda.jit
    def kernel(y):
        t = cuda.threadIdx.x
        if t == 3:
            return
        y[t] = t
        cuda.syncwarp()

    trace = traced(kernel, 1, 40, np.zeros(40))
    assert findings(trace) == []
    assert [(c.mask, c.lanes) for c in trace.collectives] == [(0xFFFFFFFF, 0xFFFFFFF7), (0xFFFFFFFF, 0xFF)]


def test_warp_and_grid_epochs():
    @cuda.jit
    def kernel(y):
        i = cuda.grid(1)
        y[i] = 1
        cuda.syncwarp()
        y[i] = 2
        cuda.cg.this_grid().sync()
        y[i] = 3

    trace = traced(kernel, 2, 32, np.zeros(64))
    lines = trace.site - trace.site.min()
    order = np.unique(lines)
    epochs = [
        (set(trace.warp_epoch[lines == k]), set(trace.grid_epoch[lines == k]), set(trace.epoch[lines == k]))
        for k in order
    ]
    assert epochs == [({0}, {0}, {0}), ({1}, {0}, {0}), ({1}, {1}, {1})]
    assert trace.barriers[-1].block == -1


def test_the_trace_does_not_change_the_result_nor_the_order_of_rows():
    @cuda.jit
    def kernel(x, y):
        s = cuda.shared.array(64, float32)
        t = cuda.threadIdx.x
        s[t] = x[cuda.grid(1)]
        cuda.syncthreads()
        y[cuda.grid(1)] = s[63 - t]

    x = np.random.default_rng(0).random(128).astype(np.float32)
    for order in ("forward", "reverse", "shuffled:3"):
        plain, recorded = np.zeros(128, np.float32), np.zeros(128, np.float32)
        simt.run(kernel, 2, 64, [x, plain], order=order)
        first = traced(kernel, 2, 64, x, recorded, order=order)
        again = traced(kernel, 2, 64, x, recorded, order=order)
        np.testing.assert_array_equal(plain, recorded)
        np.testing.assert_array_equal(first.address, again.address)
        np.testing.assert_array_equal(first.thread, again.thread)


def test_too_many_accesses_are_refused():
    @cuda.jit
    def kernel(x):
        for i in range(100):
            x[0] += i

    with pytest.raises(TraceFull, match="limit"):
        traced(kernel, 1, 32, np.zeros(1), limit=1000)


def test_an_empty_trace_has_empty_columns():
    @cuda.jit
    def nothing(x):
        pass

    trace = traced(nothing, 1, 32, np.zeros(1))
    assert len(trace) == len(trace.address) == len(trace.kind) == 0


def test_arguments_that_share_memory_share_addresses():
    @cuda.jit
    def kernel(a, b):
        a[0] = 1
        b[0] = 2

    d = cuda.to_device(np.zeros(16, np.float32))
    trace = traced(kernel, 1, 1, d, d[4:])
    assert trace.address.tolist() == [0, 16]
