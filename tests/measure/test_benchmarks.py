"""The benchmark scripts: they find what there is, keep what they have, and say what they need."""

import importlib
import json
import subprocess
import sys
import types
from collections import Counter
from pathlib import Path

import numpy as np
import pytest

from dlkernels import implementations

FOLDER = Path(__file__).resolve().parents[2] / "benchmarks"


@pytest.fixture(autouse=True)
def scripts(monkeypatch):
    """The scripts import each other as they do when run: from their own folder."""
    monkeypatch.syspath_prepend(str(FOLDER))


def script(name):
    return importlib.import_module(name)


# ---- run.py -----------------------------------------------------------------------------------------------


@pytest.fixture
def two_benchmarks(monkeypatch):
    """One benchmark that works and one that fails; returns what was recorded."""
    run, recorded = script("run"), {}
    monkeypatch.setattr(run, "benchmarks", lambda: ["works", "fails"])
    monkeypatch.setattr(run, "machine_card", lambda: "card")
    monkeypatch.setattr(
        run, "record", lambda name, data, command: recorded.update({name: data}) or Path(f"{name}.json")
    )
    monkeypatch.setitem(sys.modules, "works", types.SimpleNamespace(benchmark=lambda quick: {"quick": quick}))
    monkeypatch.setitem(sys.modules, "fails", types.SimpleNamespace(benchmark=lambda quick: 1 / 0))
    return recorded


@pytest.mark.quick
def test_a_failing_benchmark_does_not_hide_the_others(two_benchmarks, capsys):
    assert script("run").main(["fails", "works"]) == 1
    assert two_benchmarks == {"works": {"quick": False}}
    assert "Failed: fails. The other results are recorded." in capsys.readouterr().err


def test_a_peer_that_cannot_start_is_named(tmp_path):
    """One without NumPy, say: what it wrote itself is read by nobody else."""
    side = script("sides").Side(tmp_path / "is_not_there.py", "PyTorch", "as a user has it", 1, {})
    with pytest.raises(RuntimeError, match=r"PyTorch, .*, ended with [12].*TORCH_PYTHON"), side:
        side.ask("what")


def test_quick_records_nothing(two_benchmarks):
    assert script("run").main(["works", "--quick"]) == 0
    assert two_benchmarks == {}


def test_an_unknown_benchmark_is_said(two_benchmarks, capsys):
    with pytest.raises(SystemExit):
        script("run").main(["nothing"])
    assert "no benchmark is called nothing; there are works, fails" in capsys.readouterr().err


def test_the_library_of_another_copy_is_not_measured(two_benchmarks, monkeypatch, tmp_path, capsys):
    run = script("run")
    monkeypatch.setattr(run, "HERE", tmp_path / "benchmarks")
    monkeypatch.setattr(run, "benchmarks", lambda: ["works"])
    with pytest.raises(SystemExit):
        run.main(["works"])
    assert "the library of another copy would be measured" in capsys.readouterr().err
    assert two_benchmarks == {}


def test_benchmarks_are_found_by_their_function():
    found = script("run").benchmarks()
    assert "vector" in found
    assert not {"run", "ladder", "gpu_record", "cublas"} & set(found)


# ---- the cases --------------------------------------------------------------------------------------------

CASES = [pytest.param(k, id=name) for k, name in enumerate(["add", "axpy", "bias_activation", "relu", "leaky_relu",
    "elu", "sigmoid", "tanh", "silu", "gelu", "relu_backward", "leaky_relu_backward", "elu_backward", "sigmoid_backward",
    "tanh_backward", "silu_backward", "gelu_backward"])]  # fmt: skip


@pytest.mark.quick
def test_every_case_is_listed_here():
    assert [parameter.id for parameter in CASES] == [case.operation for case in script("vector").CASES]


@pytest.mark.parametrize("index", CASES)
@pytest.mark.parametrize("peer", ["numpy", "torch"])
def test_the_peers_compute_the_same_as_the_reference(index, peer):
    """A peer that did something else would make our ratios look bad or good for no reason."""
    case = script("vector").CASES[index]
    assert case.numpy or case.torch
    arguments, out = case.prepare(2048)
    if peer == "numpy" and case.numpy:
        case.numpy(out, *arguments)
    elif peer == "torch" and case.torch:
        torch = pytest.importorskip("torch")
        tensors = [torch.from_numpy(x) if isinstance(x, np.ndarray) else x for x in arguments]
        case.torch(torch, torch.from_numpy(out), *tensors)
    else:
        return  # this peer has no such function
    expected = implementations.OPERATIONS[case.operation].reference(*arguments)
    np.testing.assert_allclose(out, expected, rtol=1e-4, atol=1e-6)


def test_a_ladder_is_compared_rung_by_rung(monkeypatch):
    ladder, case = script("ladder"), script("vector").CASES[0]
    monkeypatch.setattr(ladder, "last_level_cache", lambda: 0)  # so that the triad takes part
    rows = ladder.compare(case, 1024, threads=1, budget=0.01)
    names = [row["name"] for row in rows]
    assert names[0] == "NumPy"
    assert names[-1] == implementations.of("add", device="cpu")[-1].name
    assert "triad" not in names
    for row in rows:
        assert row["bandwidth"] == pytest.approx(12 * 1024 / row["seconds"])
        assert row["share_of_triad"] > 0
    json.dumps(rows, allow_nan=False)
    assert "NumPy / this" in str(ladder.table(rows))


def test_traffic_is_counted_without_the_arrays():
    assert script("ladder").traffic("add", (1 << 30,)) == 12 << 30
    assert script("ladder").traffic("bias_activation", (1 << 20, 1024)) == (8 << 30) + 4096
    assert script("vector").CASES[2].traffic(1 << 20) == (8 << 20) + 4096


@pytest.mark.quick
def test_every_operation_is_timed_by_some_benchmark():
    """From the table alone: a new operation is timed by operations.py, with sizes from its examples."""
    operations = script("operations")
    assert set(operations.operations()) == set(implementations.OPERATIONS) - operations.elsewhere()
    assert {"linear", "linear_backward", "matmul_backward"} <= set(operations.operations())
    assert set(operations.PEERS) <= set(operations.operations())


@pytest.mark.rotates
@pytest.mark.parametrize(
    "name", ["linear", "matmul_backward", "matmul_half", "matmul_int8", "linear_backward", "conv2d_half"]
)
def test_an_operation_is_compared_with_its_peers(name):
    for dtype in implementations.OPERATIONS[name].examples.dtypes:
        compared_with_peers(name, dtype)


def compared_with_peers(name, dtype):
    operations = script("operations")
    shape = next(s for s in implementations.OPERATIONS[name].examples.shapes if np.prod(s) > 100)
    rows = list(operations.compare(name, shape, dtype, threads=1, budget=0.01))
    assert [row["name"] for row in rows][-1] == implementations.of(name, "cpu")[-1].name
    assert all(row["seconds"] > 0 and row["bandwidth"] > 0 for row in rows)
    json.dumps(rows, allow_nan=False)
    assert name in str(operations.table(rows))
    arguments = script("ladder").prepare(name, shape, dtype)[0]
    ours = implementations.of(name, "cpu")[-1](*arguments)
    for label, peer in operations.PEERS.get(name, {}).items():
        if label == "PyTorch":
            continue  # a development dependency
        both = ((x if isinstance(x, tuple) else (x,)) for x in (ours, peer(*arguments)()))
        for one, other in zip(*both, strict=True):
            np.testing.assert_allclose(one, other, rtol=1e-3, atol=1e-3)


def test_rungs_that_are_too_slow_are_left_out():
    ladder, case = script("ladder"), script("vector").CASES[0]
    small, large = ladder.candidates(case, 1024), ladder.candidates(case, 2**20)
    assert "add_python" in small
    assert "add_python" not in large


# ---- gpu_record.py ----------------------------------------------------------------------------------------


def test_without_a_gpu_one_sentence_says_what_is_needed(monkeypatch, capsys):
    from dlkernels import device

    monkeypatch.setattr(device, "name", "executor")
    assert script("gpu_record").main([]) == 2
    error = capsys.readouterr().err
    assert "NVIDIA GPU" in error
    assert error.count("\n") == 1


def test_what_a_section_found_is_kept_when_it_runs_out_of_time_or_crashes(monkeypatch):
    gpu_record = script("gpu_record")
    real = gpu_record.run_limited
    bodies = {"slow": "import time; time.sleep(600)", "crash": "import os; os._exit(7)", "fine": ""}

    def child(command, limit, *rest, **environment):
        section, file = command[-2:]
        Path(file).write_text("[1]\n")  # however long it takes to start
        return real([sys.executable, "-c", bodies[section]], limit, *rest, **environment)

    monkeypatch.setattr(gpu_record, "run_limited", child)
    slow = gpu_record.run_section("slow", 1)
    assert (slow["status"], slow["lines"]) == ("stopped after 1 s", [[1]])
    crash = gpu_record.run_section("crash", 600)
    assert (crash["status"], crash["lines"]) == ("failed (exit code 7)", [[1]])
    assert gpu_record.run_section("fine", 600)["status"] == "complete"


def test_sections_are_recorded_one_by_one(monkeypatch):
    from cpulab import measure
    from dlkernels import device

    gpu_record, recorded = script("gpu_record"), []
    monkeypatch.setattr(device, "name", "gpu")
    sections = dict.fromkeys(gpu_record.SECTIONS, "complete") | {"times": "failed (exit code 1)"}
    monkeypatch.setattr(
        gpu_record, "run_section", lambda name, limit: {"status": sections[name], "seconds": 1, "lines": []}
    )
    monkeypatch.setattr(
        measure, "record", lambda name, data, command: recorded.append(sorted(data)) or Path("gpu.json")
    )
    assert gpu_record.main([]) == 1
    assert recorded == [sorted(list(sections)[: k + 1]) for k in range(len(sections))]
    assert next(iter(sections)) == "tests"  # what is wrong is known before it is timed


def test_every_gpu_rung_is_timed_and_an_operation_that_fails_is_named(monkeypatch):
    """The same code on the executor, with small arrays; its times mean nothing, its rows do."""
    gpu_record, vector, rows = script("gpu_record"), script("vector"), []
    add = vector.CASES[0]

    class Broken(vector.Case):
        def prepare(self, n):
            return 1 / 0

    broken = Broken("axpy")
    monkeypatch.setattr(gpu_record, "SIZES", (256,))
    monkeypatch.setattr(gpu_record, "cases", lambda: [add, broken])
    assert gpu_record.measure_times(rows.append) == 0
    assert rows.pop() == {"operation": "axpy", "size": 256, "error": "ZeroDivisionError: division by zero"}
    names = [row["name"] for row in rows]
    assert names[0] == "copy"
    assert {rung.name for rung in implementations.of("add", device="gpu")} <= set(names)
    assert all(row["bandwidth"] > 0 and row["launch_seconds"] > 0 for row in rows)
    json.dumps(rows, allow_nan=False)


def transfers(sizes):
    """Lines of the section, from the executor: its times mean nothing, its rows and checks do."""
    gpu_record, gpu_transfers, lines = script("gpu_record"), script("gpu_transfers"), []

    def once(found, cuda, rounds):
        return gpu_record.event_times(found, cuda, rounds=1, sample=0, first=1)

    gpu_transfers.measure(lines.append, once, sizes)
    return lines


def test_copies_and_kernel_of_a_vector_add_are_timed_by_themselves():
    lines = transfers([1, 300])
    names = ["pageable", "pinned", "kernel"]
    assert [(line["size"], line["name"]) for line in lines] == [(n, name) for n in (1, 300) for name in names]
    assert all(line["seconds"] > 0 and line["bytes"] == 12 * line["size"] for line in lines)
    json.dumps(lines, allow_nan=False)


def test_a_copy_that_brings_something_else_is_not_timed(monkeypatch):
    rung = implementations.of("add", device="gpu")[-1]
    monkeypatch.setitem(rung.__dict__, "function", lambda a, b, out: out.copy_to_device(np.ones(out.size, np.float32)))
    assert transfers([5]) == [{"size": 5, "error": "AssertionError: what came back by pageable copies is not a + b"}]


def test_a_command_without_a_program_is_not_fatal():
    with pytest.raises(FileNotFoundError):
        script("gpu_record").run_limited(["no-such-program-here"], 5)


def test_cublas_says_when_it_is_missing(monkeypatch):
    cublas = script("cublas")
    cublas._library.cache_clear()
    monkeypatch.setattr(cublas.ctypes.util, "find_library", lambda name: None)
    monkeypatch.setattr(cublas.sysconfig, "get_paths", lambda: {"purelib": "/nowhere"})
    with pytest.raises(OSError, match="libcublas is not installed"):
        cublas._library()


def test_the_script_says_how_it_is_called():
    command = [sys.executable, str(FOLDER / "gpu_record.py"), "--help"]
    result = subprocess.run(command, capture_output=True, text=True, timeout=600, check=False)
    assert result.returncode == 0
    assert "--only" in result.stdout


# ---- matmul.py --------------------------------------------------------------------------------------------


def test_of_repeated_measurements_the_row_with_the_median_ratio_is_kept():
    def row(m, ratio):
        return {"dtype": "float32", "m": m, "n": 8, "k": 8, "name": "matmul", "ratio": ratio, "low": ratio - 0.1}

    kept = script("matmul").medians([row(8, 1.2), row(16, 0.5), row(8, 0.6), row(8, 1.0)])
    assert kept == [row(8, 1.0) | {"ratios": [0.6, 1.0, 1.2]}, row(16, 0.5) | {"ratios": [0.5]}]


# ---- sides.py, and the benchmarks on it -------------------------------------------------------------------


class Told:
    """A side that says what it was told to."""

    def __init__(self, name, seconds, checks):
        self.name, self.seconds, self.checks = name, list(seconds), checks

    def ask(self, what, **_):
        wall = self.seconds.pop(0) if what == "sample" else 0
        return {"way": f"{self.name}'s", "checks": self.checks, "wall": wall, "cpu": 2 * wall}


CASE = {"kind": "a", "passes": "forward", "work": 12}


def test_a_ratio_is_formed_inside_each_round(monkeypatch):
    sides = script("sides")
    monkeypatch.setattr(sides, "LEAST_ROUNDS", 3)
    monkeypatch.setattr(sides, "BUDGET", 0)
    row = sides.duel([Told("ours", [1, 2, 4], [1.0]), Told("PyTorch", [3, 10, 4], [1.001])], CASE, 0.01)
    assert (row["ratio"], row["cpu_ratio"], row["rounds"]) == (3, 3, 3)  # of 3, 5, 1
    assert (row["seconds"], row["peer_seconds"], row["flops"]) == (2, 4, 6)
    assert row["way"] == "ours's"
    assert "work" not in row


def test_results_that_differ_stop_a_comparison():
    pair = [Told("ours", [], [1.0, 2.0]), Told("PyTorch", [], [1.0, 2.1])]
    with pytest.raises(ValueError, match="the results differ"):
        script("sides").duel(pair, CASE, 0.01)


@pytest.mark.quick
def test_means_are_geometric_and_name_the_lowest():
    sides = script("sides")
    common = {"mode": "m", "instruction_set": "i", "threads": 1, "passes": "forward"}
    rows = [{**common, "kind": kind, "ratio": ratio} for kind, ratio in (("a", 2.0), ("a", 0.5), ("b", 8.0))]
    found = {line["kind"]: line for line in sides.summary(rows, lambda row: f"at {row['ratio']}")}
    assert {kind: round(line["mean"], 6) for kind, line in found.items()} == {"all": 2, "a": 1, "b": 8}
    assert (found["a"]["lowest_at"], found["b"]["lowest_at"], found["all"]["layers"]) == ("at 0.5", "at 8.0", 3)


def test_what_pytorch_runs_is_told_for_each_instruction_set(monkeypatch):
    """A machine with AVX-512 runs all with AVX2 once more: what is asked last is not what ran first."""
    from dlkernels import simd

    sides = script("sides")

    class Settled:
        def __init__(self, script, name, mode, threads, settings):
            self.name, self.kind = name, "AVX2" if settings else "AVX-512"

        def __enter__(self):
            return self

        def __exit__(self, *_):
            pass

        def ask(self, what):
            return {"instruction_set": self.kind} if self.name == "ours" else {"kernels": f"its {self.kind}"}

    monkeypatch.setattr(sides, "Side", Settled)
    monkeypatch.setattr(simd, "instruction_set", lambda: "AVX-512")
    told = {"way": ""} | dict.fromkeys(("ratio", "low", "high", "cpu_ratio", "flops"), 1.0)
    monkeypatch.setattr(sides, "duel", lambda pair, case, tolerance: case | told)
    found = sides.compare("script", [CASE], lambda row: "a case")
    assert {row["instruction_set"] for row in found["rows"]} == {"AVX-512", "AVX2"}
    assert found["peer"]["kernels"] == {"AVX-512": "its AVX-512", "AVX2": "its AVX2"}


@pytest.mark.rotates
@pytest.mark.parametrize("network", ["LSTM", "GRU"])
def test_a_record_names_the_rungs_that_run(network, monkeypatch):
    """The public functions' own, which are not the last of their ladders; a row of both passes names both."""
    from dlkernels import implementations

    benchmark, sides, ran = script("recurrent"), script("sides"), []
    run = implementations.run
    monkeypatch.setattr(implementations, "run", lambda rung, arguments: ran.append(rung.name) or run(rung, arguments))
    for passes in (sides.FORWARD, sides.BOTH):
        ran.clear()
        _, way, _ = benchmark.ours(benchmark.described(network, 3, 2, 8, passes))
        assert sorted(way.split(", ")) == sorted(ran)


@pytest.mark.parametrize("name", ["convolution", "convolution_direct", "attention", "recurrent"])
def test_what_is_compared_with_pytorch_is_what_the_record_says(name, monkeypatch):
    """Every case is plain data, its arrays have its sizes, and the recorded means are those of the recorded rows."""
    from cpulab.measure import recorded

    benchmark, sides, asked = script(name), script("sides"), []
    monkeypatch.setattr(sides, "compare", lambda file, cases, label, quick: asked.extend(cases))
    benchmark.benchmark()
    assert len({json.dumps(case) for case in asked}) == len(asked)
    small = min(asked, key=lambda case: case["work"])
    assert all(np.isfinite(one).all() for part in benchmark.arrays(small)[:1] for one in part)
    rows, means = recorded(name).data["rows"], recorded(name).data["means"]
    names = [key for key in asked[0] if key != "work"]
    assert {tuple(row[k] for k in names) for row in rows} == {tuple(case[k] for k in names) for case in asked}
    assert sides.summary(rows, benchmark.label) == means


# ---- grading.py -------------------------------------------------------------------------------------------


@pytest.mark.quick
def test_a_class_has_the_shares_that_its_kinds_say():
    grading = script("grading")
    for kinds in grading.CLASSES.values():
        assert sum(kinds.values()) == 50
        assert set(kinds) <= set(grading.hostile.ROWS)
        assert Counter(grading.members(kinds, grading.SIZE).values()) == {kind: 4 * n for kind, n in kinds.items()}
    few = grading.members(grading.CLASSES["varied"], 6)
    assert len(set(few.values())) == 6


@pytest.mark.quick
def test_no_two_submissions_are_equal_and_what_nobody_wrote_is_as_it_was(tmp_path):
    grading = script("grading")
    grading.hand_in(tmp_path, {"anna": "right", "ben": "right", "c": "as_shipped", "d": "nothing", "e": "os_exit"})
    texts = {path.parent.name: path.read_text(encoding="utf-8") for path in tmp_path.glob("*/*.ipynb")}
    assert (tmp_path / "d").is_dir()
    assert sorted(texts) == ["anna", "ben", "c", "e"]
    assert texts["anna"] != texts["ben"] == texts["anna"].replace("# anna", "# ben")
    assert "os._exit" in texts["e"]
    assert "# c" not in texts["c"]


@pytest.mark.quick
def test_a_row_that_has_not_what_is_its_own_is_named():
    grading = script("grading")
    most, who = grading.hostile.MOST, {"a": "right", "b": "right", "c": "nothing", "d": "half", "e": "right"}
    row = {"points": str(most), "status": "graded", "flags": "all longer answers equal the public solution"}
    rows = {"a": row, "b": row | {"points": "1"}, "c": row | {"points": "0"}, "e": row | {"flags": ""}, "f": row}
    assert grading.faults(who, rows) == [
        "f is a stranger",
        f"b (right) has 1, graded; due are {most}, graded",
        "c (nothing) has 0, graded; due are 0, missing",
        "d has no row",
        "e (right) has no flag equal the public solution",
    ]


@pytest.mark.quick
def test_memory_is_told_for_each_tenth_of_a_run():
    tenths = script("grading").tenths([(0, 1, 2), (9, 3, 4), (10, 5, 6), (99.9, 7, 8)], 100, 1)
    assert tenths == [[1, 3], [5], *[[]] * 7, [7]]


@pytest.mark.slow
def test_a_class_of_six_is_graded_and_each_has_what_is_theirs(capsys):
    script("grading").main(["--count", "6", "--class", "varied"])
    said = capsys.readouterr().out
    assert "6 submissions of 07_vector_add on 3 processes" in said
    assert "1 os_exit: 13 points" in said
