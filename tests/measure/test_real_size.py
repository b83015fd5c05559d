"""The record of counts at real size: what can be derived is derived, and a part is counted again."""

import importlib

import pytest

from cpulab.measure import recorded
from dlkernels import implementations

from .test_benchmarks import FOLDER

pytestmark = pytest.mark.rotates

NAMES = ("matmul", "conv2d", "scaled_dot_product_attention", "lstm", "selective_scan")


@pytest.fixture
def script(monkeypatch):
    monkeypatch.syspath_prepend(str(FOLDER))
    return importlib.import_module("real_size")


def kept(operation):
    return {row["rung"]: row for row in recorded("real_size").data["rows"] if row["operation"] == operation}


@pytest.mark.quick
def test_all_rungs_are_there_at_the_sizes_that_the_script_has(script):
    assert set(script.CALLS) == set(NAMES)
    for name, (make, _, rungs) in script.CALLS.items():
        assert tuple(kept(name)) == rungs
        sizes = [list(getattr(x, "shape", ())) for x in make()]
        assert all(row["sizes"] == sizes for row in kept(name).values())


@pytest.mark.quick
def test_a_product_of_tiles_loads_two_numbers_for_each_edge_of_multiply_adds():
    rows, n = kept("matmul"), 512
    for name, tile in {"coalesced": 1, "shared_tile": 16, "tile_2d": 128, "double_buffered": 128}.items():
        loaded = 2 * n**3 // tile
        if tile > 1:  # whole sectors, each number used
            assert rows[name]["bytes_moved"] - rows[name]["bytes_stored"] == 4 * loaded, name
        spread = 8 if name == "tile_2d" else 1  # its lanes store eight columns apart
        assert rows[name]["bytes_stored"] == 4 * n * n * spread
        assert rows[name]["global_load_requests"] in (loaded // 32, loaded // 128), (
            name
        )  # four numbers at a time, or one


@pytest.mark.quick
def test_attention_in_tiles_moves_keys_and_values_once_for_each_block_of_queries():
    rows, n, d = kept("scaled_dot_product_attention"), 1024, 64
    queries = {"shared_tiles": 64, "register_tiles": 64}
    for name, block in queries.items():
        once, again = 2 * n * d, 2 * n * d * n // block
        tables = rows[name]["bytes_moved"] - 4 * (
            once + again
        )  # where rows lie, and a mask of one number: a sector each
        assert 0 < tables < 0.5 * rows[name]["bytes_moved"], name
    three = rows["three_kernels"]
    assert three["launches"] == 3
    assert three["bytes_moved"] > 20 * max(rows[name]["bytes_moved"] for name in queries)


@pytest.mark.quick
def test_a_step_of_an_lstm_moves_all_weights():
    row, steps, hidden = kept("lstm")["fused_inputs"], 16, 512
    assert steps * 16 * hidden**2 < row["bytes_moved"]


@pytest.mark.quick
def test_a_selective_scan_that_keeps_its_states_moves_its_inputs_and_its_result():
    rows, channels, steps, states = kept("selective_scan"), 64, 1024, 16
    inputs, by_step = 3 * channels * steps, 2 * channels * states * steps  # each channel loads B and C anew
    least = 4 * (inputs + by_step)
    assert least < rows["blocks"]["bytes_moved"] < 1.5 * least
    assert rows["wide"]["bytes_moved"] > 4 * 5 * channels * steps * states  # factors and states, written and read
    results = 4 * 4 * channels * steps  # lanes store four steps apart: a quarter of each sector
    ends = 32 * channels * states * 2  # a state behind each of two tiles: a sector
    assert rows["blocks"]["bytes_stored"] == results + ends


@pytest.mark.quick
def test_a_request_moves_one_sector_at_least_and_no_more_than_its_accesses():
    for name in NAMES:
        for row in kept(name).values():
            assert 0 < row["global_load_requests"] * 32 <= row["bytes_moved"] <= 32 * row["accesses"]
    assert not kept("matmul")["coalesced"]["shared_load_requests"]
    assert kept("matmul")["shared_tile"]["shared_load_requests"] == 2 * 512**3 // 32


@pytest.mark.parametrize(
    "rung", [pytest.param("fused_inputs"), pytest.param("kernel_per_gate", marks=pytest.mark.slow)]
)
def test_the_record_is_what_is_counted_now(script, rung):
    (row,) = (r for r in implementations.of("lstm", "gpu") if r.name == f"lstm_{rung}")
    found = script.counted(row, script.sequence())
    assert {key: kept("lstm")[rung][key] for key in found} == found
