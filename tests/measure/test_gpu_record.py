"""The parts of `make gpu-record` that need no GPU: its checks, its readers, and its experiments in the executor."""

import importlib
import json
from pathlib import Path

import numpy as np
import pytest

from cpulab import measure
from dlkernels import implementations
from simt.xray import xray

pytestmark = pytest.mark.rotates

FOLDER = Path(__file__).resolve().parents[2] / "benchmarks"


@pytest.fixture(autouse=True)
def scripts(monkeypatch):
    monkeypatch.syspath_prepend(str(FOLDER))


def script(name):
    return importlib.import_module(name)


def once(found, cuda, rounds=1, first=1):
    return script("gpu_timing").event_times(found, cuda, rounds=1, sample=0, first=1)


# ---- operations ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize("chapter", ["memory", "convolution", "attention", "recurrent"])
def test_every_rung_of_a_chapter_is_checked_and_timed(chapter):
    gpu_operations, lines = script("gpu_operations"), []
    calls = gpu_operations.TINY[chapter]
    gpu_operations.measure(chapter, lines.append, once, calls)
    assert not [line["error"] for line in lines if "error" in line]
    names = {line["name"] for line in lines}
    for call in calls:
        rungs = {rung.name for rung in implementations.of(call.operation, "gpu")}
        assert rungs - gpu_operations.UNTIMED <= names
    assert all(line["seconds"] > 0 and line["bytes"] > 0 and line["difference"] <= 5e-4 for line in lines)
    json.dumps(lines, allow_nan=False)


def test_calls_have_rungs_and_sizes_that_their_examples_take():
    gpu_operations = script("gpu_operations")
    for calls in gpu_operations.CALLS.values():
        for call in calls:
            assert implementations.of(call.operation, "gpu"), call
    assert set(gpu_operations.CALLS) == set(gpu_operations.TINY) <= set(script("gpu_record").SECTIONS)


def test_a_wrong_rung_is_named_and_not_timed(monkeypatch):
    gpu_operations, lines = script("gpu_operations"), []
    real = gpu_operations.candidates

    def candidates(call, there):
        found = real(call, there)
        right = found["scan_blocks"]
        return {"scan_blocks": right, "half": lambda: right().copy_to_host() / 2, "raises": lambda: 1 / 0}

    monkeypatch.setattr(gpu_operations, "candidates", candidates)
    monkeypatch.setattr(gpu_operations, "on_host", np.asarray)
    gpu_operations.measure("recurrent", lines.append, once, [gpu_operations.rows("scan", 40)])
    errors = {line["name"]: line.get("error") for line in lines}
    assert errors["scan_blocks"] is None
    assert "0.5 of its norm" in errors["half"]
    assert errors["raises"].startswith("ZeroDivisionError")


@pytest.mark.parametrize(
    ("got", "expected", "share"),
    [([3.0, 4.0], [3.0, 4.0], 0), ([3.0, 9.0], [3.0, 4.0], 1), ([np.nan, 4], [3, 4], np.inf), ([3.0], [3, 4], np.inf)],
)
def test_differences_are_shares_of_the_norm(got, expected, share):
    assert script("gpu_operations").difference(np.array(got), np.array(expected)) == pytest.approx(share)


# ---- kernels' own durations ---------------------------------------------------------------------------------


def event(cat, name, ts, dur):
    return {"ph": "X", "cat": cat, "name": name, "ts": ts, "dur": dur}


def test_kernels_belong_to_the_candidate_in_whose_span_they_began():
    events = [
        event("user_annotation", "candidate a", 0, 100),
        event("user_annotation", "candidate b", 200, 100),
        event("user_annotation", "something else", 0, 1000),
        event("kernel", "second", 40, 10),
        event("kernel", "first", 10, 20),
        event("gpu_memset", "Memset", 50, 1),
        event("kernel", "second", 60, 14),
        event("kernel", "other", 250, 5),  # one kernel for two calls: not to be told apart
        event("cpu_op", "aten::add", 10, 99),
        {"ph": "i", "name": "mark"},
    ]
    found = script("gpu_timing").read_trace(json.dumps({"traceEvents": events}), calls=2)
    assert found == {"a": {"seconds": pytest.approx(22.5e-6), "kernels": 2, "longest": "first"}}


# ---- experiments --------------------------------------------------------------------------------------------


def test_experiments_run_and_check_their_results():
    gpu_experiments, lines = script("gpu_experiments"), []
    gpu_experiments.measure(lines.append, once, gpu_experiments.TINY)
    assert not [line for line in lines if "error" in line]
    assert {line["experiment"] for line in lines} == {one.__name__ for one in gpu_experiments.EXPERIMENTS}
    strides = {(line["step"], line["shift"]): line["sectors"] for line in lines if line["experiment"] == "strides"}
    assert strides == {(1, 0): 4, (1, 1): 5, (2, 0): 8, (4, 0): 16, (8, 0): 32, (16, 0): 32, (32, 0): 32, (0, 0): 1}
    races = [line for line in lines if line["experiment"] == "races" and line["name"] == "product"]
    assert [line["wrong_runs"] > 0 for line in races] == [False, True]  # in the executor's order the barrier is missed
    json.dumps(lines, allow_nan=False)


def test_an_experiment_with_a_wrong_result_is_not_timed(monkeypatch):
    gpu_experiments, lines = script("gpu_experiments"), []
    monkeypatch.setattr(gpu_experiments, "copy_strided", gpu_experiments.nothing_of)
    monkeypatch.setattr(gpu_experiments, "EXPERIMENTS", (gpu_experiments.flight,))
    gpu_experiments.measure(lines.append, once, gpu_experiments.TINY)
    assert [list(line) for line in lines] == [["experiment", "error"]]


# ---- counters -----------------------------------------------------------------------------------------------

HEAD = '"ID","Process ID","Kernel Name","Metric Name","Metric Unit","Metric Value"'


def test_the_csv_of_nsight_compute_is_understood():
    output = f"""==PROF== Connected to process 1
{HEAD}
"0","1","add_kernel","loads.sum","request","1,024"
"0","1","add_kernel","other","","5"
"10","1","wide","loads.sum","request","7"
"2","1","stride","ld.sum","request","3"
"2","1","stride","st.sum","request","4"
==PROF== Disconnected
"""
    parse = script("gpu_counters").parse_ncu
    parsed = parse(output, {"loads.sum": "loads", "ld.sum": "both", "st.sum": "both"})
    assert parsed == [("add_kernel", {"loads": 1024}), ("stride", {"both": 7}), ("wide", {"loads": 7})]
    assert parse("==ERROR== ERR_NVGPUCTRPERM", {}) == []


def counts(value):
    return dict.fromkeys(script("gpu_counters").COMPARED, value)


def test_kernels_go_to_rungs_by_their_order_and_name():
    launched = [{"name": "a"}, {"name": "b"}, {"name": "c", "error": "E"}, {"name": "d"}, {"name": "e"}]
    expected = {
        "a": {"launches": [{"kernel": "one", **counts(1)}, {"kernel": "two", **counts(2)}]},
        "b": {"launches": [{"kernel": "one", **counts(5)}]},
        "d": {"launches": [{"kernel": "lost", **counts(1)}]},
        "e": {"launches": [{"kernel": "two", **counts(4)}]},
    }
    names = ["void fill()", "f::one[abi]", "f::two", "f::one", "g::two"]
    measured = [(name, counts(k)) for k, name in enumerate(names)]
    rows = {row["name"]: row for row in script("gpu_counters").matched(launched, measured, expected)}
    assert (rows["a"]["nsight"], rows["a"]["xray"]) == (counts(3), counts(3))
    assert rows["a"]["differs"] == []
    assert rows["b"]["differs"] == list(script("gpu_counters").COMPARED)
    assert rows["c"]["error"] == "E"
    assert "other kernels" in rows["d"]["error"]
    assert rows["e"]["differs"] == []


@pytest.mark.parametrize(
    ("output", "said"),
    [
        (None, "Nsight Compute (ncu) is not installed or not on the PATH"),
        ("ERR_NVGPUCTRPERM", "this user may not read the GPU's counters (ERR_NVGPUCTRPERM)"),
        ("nothing", "ncu saw no kernel: nothing"),
    ],
)
def test_why_nothing_was_counted_is_kept(output, said):
    def profiled(command):
        if output is None:
            raise FileNotFoundError("ncu")
        return output

    kept = []
    assert script("gpu_counters").measure(kept.append, lambda *_, **__: [], profiled) == 1
    assert {line["error"] for line in kept} == {said}


def test_the_xray_counts_what_a_rung_launches(monkeypatch):
    gpu_counters, kept = script("gpu_counters"), []
    chosen = [rung for rung in gpu_counters.rungs() if rung.name in ("add_one_per_element", "sum_shuffle")]
    monkeypatch.setattr(gpu_counters, "rungs", lambda: chosen)
    gpu_counters.expect_share("0/1", kept.append)
    n = implementations.OPERATIONS["add"].examples.timed[0][0]
    (launch,) = kept[0]["launches"]
    assert (launch["global_load_requests"], launch["global_store_sectors"]) == (2 * n // 32, n // 8)
    assert [one["name"] for one in kept] == ["add_one_per_element", "sum_shuffle"]
    assert len(kept[1]["launches"]) == 2


# ---- single accesses to shared memory ------------------------------------------------------------------------


@pytest.mark.parametrize("engine", ["executor", "compiled"])
def test_both_engines_count_the_wavefronts_that_the_gpu_counted(engine):
    """From the kernel's source to the sum of the report; all patterns by the model alone:
    tests/xray/test_traffic.py."""
    banks = script("gpu_banks")
    table, kernels = banks.patterns(), banks.kernels()
    places, values = {name: k for k, name in enumerate(table)}, np.array(list(table.values()))
    out, merged = np.zeros(values.shape, np.float32), 0
    for row in measure.recorded("gpu_banks").data["rows"][::7]:
        kind, size = row["kind"], row["bytes"]
        place = places[row["name"]]
        assert row["pattern"] == " ".join(map(str, values[place]))
        report = xray(kernels[kind, size], 1, 32, engine=engine)(values, place, out)
        found = sum(e.wavefronts for e in report.expressions if (e.space, e.kind) == ("shared", kind))
        assert found == row["nsight"]["wavefronts"], row
        merged += kind == "load" and found < len({lane * size // 128 for lane in np.flatnonzero(values[place] >= 0)})
    assert merged > 5  # some loads that take more lanes at once than their bytes would say


# ---- what pages show ----------------------------------------------------------------------------------------


#: Rungs that were written where there was no GPU since the last record; the next `make gpu-record` empties this.
NOT_RECORDED = {
    "gru_backward_launches",
    "lstm_backward_launches",
    "rnn_backward_launches",
    "attention_backward_register_tiles",
    "conv2d_backward_implicit_gemm",
    "layer_norm_backward_warp_per_row",
    "rms_norm_backward_warp_per_row",
    "scan_look_back",
}


def test_a_ladder_stands_in_the_order_it_is_taught_with_the_library_first():
    found = measure.ladder("matmul", "4096 x 4096 by 4096 x 4096")
    names = [rung.name for rung in implementations.of("matmul", "gpu") if rung.name not in NOT_RECORDED]
    assert list(found) == ["cuBLAS", *names]
    for row in found.values():
        assert row["share"] == pytest.approx(found["cuBLAS"]["time"] / row["time"])
        assert row["flops"] == pytest.approx(2 * 4096**3 / row["time"])
    text = str(measure.ladder_table("matmul", "4096 x 4096 by 4096 x 4096", flops=True))
    assert "share of cuBLAS" in text
    assert "\ndouble_buffered " in text


def test_counts_stand_beside_the_clock():
    counted = {"swizzled": (4, 1), "of_tomorrow": (4, 2)}
    table = str(measure.beside_the_clock("transpose", counted, ("sectors", "ways"), copy=1 << 26))
    copies = measure.ladder("transpose")["transpose_swizzled"]["time"] / measure.recorded_copy(1 << 26)
    assert "in copies" in table
    (ours,) = (line.split() for line in table.splitlines() if line.startswith("swizzled"))
    assert (ours[1:3], ours[-1]) == (["4", "1"], f"{copies:.1f}")
    (tomorrow,) = (line.split() for line in table.splitlines() if line.startswith("of_tomorrow"))
    assert tomorrow[1:] == ["4", "2", "-", "-"]
    table = str(measure.beside_the_clock("sum", {"shuffle": (1,)}, ("barriers",)))
    assert "share of PyTorch" in table
    assert f"{measure.ladder('sum')['sum_shuffle']['share']:.2f}" in table
    assert "\nPyTorch" in table


def test_the_overview_has_every_recorded_call_and_its_fastest_rung():
    sections = "matmul", "times", "memory", "convolution", "attention", "recurrent"
    peaks = {"float32": 67e12, "float16": 989e12, "bfloat16": 989e12}
    rows = measure.overview(*sections, peaks=peaks, bandwidth=4.2e12)
    found = {(row["operation"], row["label"]): row for row in rows}
    assert len(found) == len(rows)
    for section in sections[2:]:
        for line in measure.recorded("gpu").data[section]["lines"]:
            assert (line["operation"], line["label"]) in found
    for operation, label in (("lstm", "128 steps, batch 64, 256 units"), ("matmul", "1000 x 333 by 333 x 777")):
        rungs = [row for row in measure.ladder(operation, label).values() if row["name"] != row["peer"]]
        assert found[operation, label]["kernels"] == max(row["share"] for row in rungs)
    product = found["matmul", "4096 x 4096 by 4096 x 4096"]
    best = measure.ladder("matmul", "4096 x 4096 by 4096 x 4096")[product["rung"]]
    assert product["bound"] == "flop"
    assert product["limit"] == pytest.approx(best["flops"] / 67e12)
    decoded = found["decode_attention", "1 x 32 x 1 x 16384 x 128"]
    assert decoded["bound"] == "bytes"
    assert decoded["limit"] == pytest.approx(2 * 4 * 32 * 16384 * 128 / 4.2e12 / 1543.521e-6, rel=1e-3)
    assert found["scan", "65536"]["kernels"] is None


def test_what_is_not_recorded_is_said():
    with pytest.raises(LookupError, match="recorded are: 8192 x 8192"):
        measure.ladder("transpose", "3 x 3")
    with pytest.raises(LookupError, match="no experiment 'banks' with"):
        measure.experiment("banks", ways=3)
    with pytest.raises(LookupError, match="no copy of 3 numbers"):
        measure.recorded_copy(3)


def test_every_rung_recorded_exists_and_every_section_is_complete():
    data = measure.recorded("gpu").data
    assert set(data) == set(script("gpu_record").SECTIONS)
    assert {section["status"] for section in data.values()} == {"complete"}
    names = {rung.name for rung in implementations.everything()}
    counted = {line["name"] for line in data["counters"]["lines"]}
    assert counted <= names
    rungs = list(script("gpu_counters").rungs())
    operations = {rung.operation for rung in rungs if rung.name in counted}  # others are younger than the record
    assert {rung.name for rung in rungs if rung.operation in operations} <= counted | NOT_RECORDED
    assert counted | NOT_RECORDED <= {rung.name for rung in rungs}
    assert not counted & NOT_RECORDED
    assert sum(section["seconds"] for section in data.values()) < 900  # "about ten minutes", says the script
