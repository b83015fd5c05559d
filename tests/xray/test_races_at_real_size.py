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


@pytest.mark.parametrize("order", ["forward", "reverse"])
@pytest.mark.parametrize("seed", range(60))
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
