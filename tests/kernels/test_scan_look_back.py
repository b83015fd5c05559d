"""The scan in one launch: what a chunk takes from those before it, and what it moves."""

import numpy as np
import pytest

from dlkernels import cuda, implementations
from dlkernels.recurrent import gpu_scan_look_back as look_back
from dlkernels.recurrent import reference
from dlkernels.reduce.gpu_cumsum import SUM, TOTAL
from simt.xray import xray

pytestmark = pytest.mark.rotates

f32, i32 = np.float32, np.int32
CHUNK, THREADS = look_back.CHUNK, look_back.THREADS


@cuda.jit
def state_of(products, ends, states, told, out):
    if cuda.grid(1) == 0:
        out[0] = look_back.state_before(products, ends, states, told, told.size)


@pytest.mark.parametrize("known", range(5))
def test_the_state_before_a_chunk(known):
    """Chunk `known` has told its state, those after it their p and e: all of them count, and nothing before."""
    products, ends, states = np.random.default_rng(known).uniform(-1, 1, (3, 5)).astype(f32)
    told = np.full(5, TOTAL, i32)
    told[: known + 1] = SUM
    out = np.zeros(1, f32)
    state_of[1, 32](products, ends, states, told, out)
    expected = np.float64(states[known])
    for p, e in zip(products[known + 1 :], ends[known + 1 :], strict=True):
        expected = p * expected + e
    np.testing.assert_allclose(out[0], expected, rtol=1e-5, atol=1e-6)


@pytest.mark.parametrize("chunks", [1, 4])
def test_each_number_is_read_once(chunks):
    """Derived: a, b and out, eight numbers a sector; and what blocks tell each other. No two threads meet in a bank."""
    n, rng = chunks * CHUNK, np.random.default_rng(0)
    a, b = rng.uniform(0.8, 1, n).astype(f32), rng.standard_normal(n).astype(f32)
    out, h, room = np.zeros(n, f32), np.ones(1, f32), np.zeros((3, chunks), f32)
    report = xray(look_back.scan_look_back_kernel, chunks, THREADS)(
        a, b, h, out, np.zeros(1, i32), np.zeros(chunks, i32), *room, n, 1, 0, 1
    )
    assert report.ok, report
    np.testing.assert_allclose(out, reference.scan(a, b, h[0]), atol=1e-4)
    total = report.total
    loads = 2 * n // 8 + chunks + (chunks - 1)  # a and b; each block loads h; the state before each chunk but the first
    stores = n // 8 + chunks + 2 * (chunks - 1)  # out, each state, p and e of all but the first
    assert (total["global_load_sectors"], total["global_store_sectors"]) == (loads, stores)
    assert total["bank_conflicts"] == 0


@pytest.mark.parametrize(("shape", "dim"), [((2 * CHUNK + 1,), 0), ((3, CHUNK), 1), ((CHUNK - 1, 5), 0), ((40, 3), 0)])
@pytest.mark.parametrize("reverse", [False, True])
def test_rows_of_any_length_along_any_dimension(shape, dim, reverse):
    rung = next(rung for rung in implementations.of("scan", "gpu") if rung.name == "scan_look_back")
    rng = np.random.default_rng(0)
    a, b = rng.uniform(-1, 1, shape).astype(f32), rng.standard_normal(shape).astype(f32)
    h0 = rng.standard_normal(np.delete(shape, dim)).astype(f32)
    np.testing.assert_allclose(rung(a, b, h0, dim, reverse), reference.scan(a, b, h0, dim, reverse), atol=1e-5)
