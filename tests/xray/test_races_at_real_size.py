"""Races that the compiled engine sees, against those that the executor works out of a record of every access."""

import sys
from pathlib import Path

import numpy as np
import planted_causes
import pytest
from numba import float32, int32

import simt
from simt import Trace, cuda
from simt.compiled import suspects as words_of_shadow
from simt.xray import NotLookedFor, raced, suspected, xray
from simt.xray.arguments import copies

sys.path.insert(0, str(Path(__file__).parents[1] / "zoo"))
import zoo_buggy
import zoo_correct

BLOCKS, THREADS, PLACES = 2, 64, 3
NOTHING, LOAD, STORE, UPDATE = range(4)
NO, BLOCK, WARP, GRID = range(4)


@cuda.jit
def written_by_lot(barriers, shared_kind, shared_place, global_kind, global_place, x, y, bytes_of_y):
    """Each thread does what tables say: in each step something with shared and with global memory, then a barrier."""
    s = cuda.shared.array(3, int32)
    t, i = cuda.threadIdx.x, cuda.grid(1)
    seen = int32(0)
    for step in range(barriers.shape[0]):
        k = shared_place[step, i]
        if shared_kind[step, i] == 1:
            seen += s[k]
        elif shared_kind[step, i] == 2:
            s[k] = t
        elif shared_kind[step, i] == 3:
            cuda.atomic.add(s, k, 1)
        k = global_place[step, i]
        if global_kind[step, i] == 1:
            seen += x[k]
        elif global_kind[step, i] == 2:
            x[k] = t
        elif global_kind[step, i] == 3:
            cuda.atomic.add(x, k, 1)
        elif global_kind[step, i] == 4:
            seen += bytes_of_y[4 * k]
        elif global_kind[step, i] == 5:
            y[k] = t
        if barriers[step] == 1:
            cuda.syncthreads()
        if barriers[step] == 2:
            cuda.syncwarp()
        if barriers[step] == 3:
            cuda.cg.this_grid().sync()
    x[8 + i] = seen


def by_lot(seed):
    """Few threads do anything, so that about half of the launches have no race."""
    random = np.random.default_rng(seed)
    steps, everybody = int(random.integers(1, 5)), BLOCKS * THREADS
    busy = random.random((2, steps, everybody)) < random.choice([0.005, 0.02, 1.0])
    one_kind = random.random() < 0.3  # all load, or all are atomic, most of the time
    kinds = [random.integers(1, most, (steps, everybody)) for most in (4, 6)]
    if one_kind:
        kinds = [np.where(random.random(k.shape) < 0.995, random.choice([1, 3], (steps, 1)), k) for k in kinds]
    shared_kind, global_kind = (np.where(b, k, 0).astype(np.int32) for b, k in zip(busy, kinds, strict=True))
    places = [random.integers(0, PLACES, (steps, everybody)).astype(np.int32) for _ in range(2)]
    barriers = random.choice([NO, BLOCK, BLOCK, WARP, WARP, GRID], steps).astype(np.int32)
    x, y = cuda.to_device(np.zeros(8 + everybody, np.int32)), cuda.to_device(np.zeros(PLACES, np.int32))
    return barriers, shared_kind, places[0], global_kind, places[1], x, y, y.view(np.int8)


def pairs_of(kernel, grid, block, arguments, order="forward"):
    """All pairs of expressions that the executor finds racing."""
    trace = Trace()
    simt.run(kernel, grid, block, copies(arguments), order=order, trace=trace)
    return raced.find_races(trace)


def same_memory(arrays):
    return {array.removeprefix("bytes_of_") for array in arrays}


@pytest.mark.parametrize("order", ["forward", pytest.param("reverse", marks=pytest.mark.slow)])
@pytest.mark.parametrize("seed", range(30))
def test_the_same_memory_is_raced_for(seed, order):
    arguments = by_lot(seed)
    pairs = pairs_of(written_by_lot, BLOCKS, THREADS, arguments, order)
    counts = simt.count(written_by_lot, BLOCKS, THREADS, copies(arguments), order=order, races=True)
    assert counts.unseen == ""
    found = [(counts.sites[s.site], counts.arrays[s.array].name, len(s.blocks) > 1) for s in counts.suspects]
    assert same_memory(array for _, array, _ in found) == same_memory(f.array for f in pairs)
    between_blocks = same_memory(f.array for f in pairs if f.scope == "grid")
    assert same_memory(array for _, array, wide in found if wide) == between_blocks
    for site, _, wide in found:
        assert any(site.line in f.lines and (f.scope == "grid" or not wide) for f in pairs)


# -- the zoo, and the planted races ------------------------------------------------------------------------------------

DAILY = (
    "matmul_without_last_barrier", "block_forgotten_in_the_index", "warp_without_syncwarp", "counter_without_a_fence",
    "last_warp_is_not_full", "rows_cut_between_threads", "update_of_what_is_not_cleared_yet",
)  # fmt: skip
PLANTED = [
    (p.name, cuda.jit(p.function), p.grid, p.block, p.shared_bytes, p.fresh)
    for p in planted_causes.ONE + planted_causes.TWO
    if "race" in p.kinds or "atomic-against-plain" in p.kinds
]
ZOO = [
    (a.name, a.kernel, a.grid, a.block, a.shared_bytes, a.make_arguments)
    for a in zoo_correct.CORRECT + [b for b in zoo_buggy.BUGGY if b.expected & {"race", "atomic-against-plain"}]
]


def cases():
    return [pytest.param(*c, id=c[0], marks=() if c[0] in DAILY else pytest.mark.slow) for c in PLANTED + ZOO]


@pytest.mark.parametrize(("name", "kernel", "grid", "block", "shared_bytes", "fresh"), cases())
def test_the_same_races_are_told(name, kernel, grid, block, shared_bytes, fresh):
    expected = sorted((f.kind, f.lines, f.array) for f in xray(kernel, grid, block, shared_bytes)(*fresh()).races)
    try:
        found = xray(kernel, grid, block, shared_bytes, engine="compiled")(*fresh()).races
    except (NotLookedFor, simt.Unsupported, simt.KernelError):
        return  # it says so
    assert sorted((f.kind, f.lines, f.array) for f in found) == expected


# -- at real size ------------------------------------------------------------------------------------------------------

TILE = 16


@cuda.jit
def matmul(a, b, c, last_barrier):
    sa = cuda.shared.array((TILE, TILE), float32)
    sb = cuda.shared.array((TILE, TILE), float32)
    tx, ty = cuda.threadIdx.x, cuda.threadIdx.y
    column, row = cuda.grid(2)
    total = float32(0)
    for start in range(0, a.shape[1], TILE):
        sa[ty, tx] = a[row, start + tx]
        sb[ty, tx] = b[start + ty, column]
        cuda.syncthreads()
        for k in range(TILE):
            total += sa[ty, k] * sb[k, tx]
        if last_barrier:
            cuda.syncthreads()
    c[row, column] = total


def look(n, last_barrier):
    a, b, c = np.ones((n, n), np.float32), np.ones((n, n), np.float32), np.zeros((n, n), np.float32)
    return xray(matmul, (n // TILE, n // TILE), (TILE, TILE), engine="compiled")(a, b, c, last_barrier)


@pytest.mark.parametrize("n", [128, pytest.param(512, marks=pytest.mark.slow)])
def test_a_barrier_that_a_product_needs(n):
    right, wrong = look(n, True), look(n, False)
    assert right.races == []
    right.require(races=0)
    (race,) = wrong.races
    assert str(wrong).splitlines()[0].endswith("RACES LOOKED FOR, by the compiled engine")
    assert (race.kind, race.scope, race.array, len(race.index)) == ("race", "block", "sa", 2)
    assert race.threads[0]["block"] == race.threads[1]["block"] == (0, 0, 0)
    assert race.threads[0] != race.threads[1]
    assert "`sa[ty, k]`" in race.message
    assert "`sa[ty, tx]`" in race.message
    assert "at the end of the loop body" in race.cure
    assert "at the end of the loop body" in " ".join(str(wrong).split())
    assert "at the end of the loop body" in wrong._repr_html_()
    with pytest.raises(AssertionError, match="races"):
        wrong.require(races=0)


def test_a_race_that_is_too_much_to_record_is_told_in_fewer_words(monkeypatch):
    monkeypatch.setattr(suspected, "MOST_ACCESSES", 0)
    races = look(32, False).races
    assert {(f.array, f.line) for f in races} == {
        (f.array, f.line) for f in races if "nothing orders the two" in f.message
    }
    assert {f.array for f in races} == {"sa", "sb"}
    assert all(f.threads and f.index and f.cure for f in races)


# -- what is not looked for --------------------------------------------------------------------------------------------


@cuda.jit
def handed_over(x, part, flag):
    if cuda.threadIdx.x == 0:
        part[cuda.blockIdx.x] = x[cuda.blockIdx.x]
        cuda.threadfence()
        cuda.atomic.add(flag, 0, 1)


@cuda.jit
def one_half_meets(x, y):
    t = cuda.threadIdx.x
    if t < 16:
        y[t] = x[t]
        cuda.syncwarp(0xFFFF)


def not_looked_for(report, why):
    assert str(report).splitlines()[0].endswith("no races looked for")
    assert why in " ".join(str(report).split())
    assert report.to_dict()["races"] is None
    with pytest.raises(NotLookedFor, match=why):
        report.require(races=0)


def test_order_that_a_kernel_makes_itself_is_left_to_the_executor():
    arguments = np.ones(2, np.float32), np.zeros(2, np.float32), np.zeros(1, np.int32)
    not_looked_for(xray(handed_over, 2, 32, engine="compiled")(*arguments), "fences")
    halves = np.ones(32, np.float32), np.zeros(32, np.float32)
    not_looked_for(xray(one_half_meets, 1, 32, engine="compiled")(*halves), "syncwarp")


def test_more_memory_than_has_a_shadow(monkeypatch):
    monkeypatch.setattr(words_of_shadow, "MOST_UNITS", 100)
    not_looked_for(look(32, True), "more than 100 elements")
