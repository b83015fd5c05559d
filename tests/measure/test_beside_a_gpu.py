"""The scripts that put the engines and the x-ray beside a GPU, here without one: what they read, compare and record."""

import importlib
import json
from pathlib import Path

import numpy as np
import pytest
from numba import float64

import simt
from cpulab import measure
from simt import compiled, cuda

pytestmark = pytest.mark.quick
ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture(autouse=True)
def scripts(monkeypatch):
    for folder in ("benchmarks", "tests/simt/compiled", "tests/zoo"):
        monkeypatch.syspath_prepend(str(ROOT / folder))


@pytest.fixture
def differential():
    return importlib.import_module("gpu_differential")


@pytest.fixture
def sanitizer():
    return importlib.import_module("gpu_sanitizer")


# -- gpu_differential --------------------------------------------------------------------------------------------------


class Planted:
    """In the place of the GPU: the executor, and in one array something else."""

    name = "planted"

    def __init__(self, change=None, error=None):
        self.change, self.error = change, error

    def arrays(self, case, opt=True):
        from generator_shrink import in_executor

        if self.error:
            raise self.error
        found = in_executor(case)
        if self.change:
            self.change(found)
        return found

    @staticmethod
    def is_crash(error):
        return isinstance(error, OSError)


KERNEL = """

@cuda.jit
def kernel(y, n):
    t, b = cuda.threadIdx.x, cuda.blockIdx.x
    cuda.syncthreads()
    if CONDITION:
        cuda.syncthreads()
        cuda.syncthreads()
    y[b, t] += n * t / 3 + float32(b)
"""


@pytest.fixture
def made(differential, monkeypatch):
    """The script takes these kernels for those of its seeds: a condition behind whose barriers blocks may not all
    come."""

    def make(condition, barriers="block"):
        from generator_case import HEADER, Case

        source = HEADER + KERNEL.replace("CONDITION", condition)
        arguments = (np.linspace(0, 1, 12).reshape(3, 4), 5)
        case = Case(0, source, (3, 1, 1), (4, 1, 1), arguments, ("y", "n"), (), 0, ("barriers", "floats"))
        grid = source.replace("cuda.syncthreads()", "cuda.cg.this_grid().sync()")
        return case if barriers == "block" else case.with_source(grid)

    monkeypatch.setattr(differential, "made", make)
    return make


def last_place(found):
    found["y"][2, 3] = np.nextafter(found["y"][2, 3], np.inf)


def test_one_element_in_its_last_place_is_a_difference(differential, made):
    told = []
    row = differential.outcome("n > 3", "block", Planted(last_place), told.append)
    assert row["outcome"] == "differs"
    assert (row["arrays"], row["different"]) == (["y"], 1)
    assert row["index"] == (2, 3)
    assert row["valid"] is True
    assert row["compiled engine and executor"] == row["second run and first"] == []
    assert "def kernel(" in row["source"]
    assert told[0] == {"phase": "executor"}


def test_equal_arrays_and_errors_are_told_apart(differential, made):
    def found(other):
        return differential.outcome("n > 3", "block", other, lambda message: None)

    assert found(Planted())["outcome"] == "equal"
    assert found(Planted(error=TypeError("no lowering")))["outcome"] == "not supported"
    row = found(Planted(error=OSError("700")))
    assert (row["outcome"], row["message"]) == ("crashed", "OSError: 700")


@pytest.mark.parametrize(
    ("condition", "passed", "outcome"),
    [
        ("n > 3", [3, 3, 3], "equal"),
        ("n > 8", [1, 1, 1], "equal"),
        ("b == 1", [1, 3, 1], "left out"),
        ("b < 2", [3, 3, 1], "left out"),
    ],
)
def test_barriers_of_the_grid_need_blocks_that_all_come_by(differential, made, condition, passed, outcome):
    assert differential.barriers_passed(made(condition)) == passed
    row = differential.outcome(condition, "grid", Planted(), lambda message: None)
    assert row["outcome"] == outcome
    if outcome == "left out":
        assert row["message"] == "blocks pass 1 to 3 barriers"


def test_a_kernel_without_barriers_has_none_to_replace(differential, made, monkeypatch):
    plain = made("n > 3")
    plain = plain.with_source(plain.source.replace("cuda.syncthreads()", "pass"))
    monkeypatch.setattr(differential, "made", lambda seed, barriers: plain)
    assert differential.outcome(0, "grid", Planted(), lambda message: None)["outcome"] == "no barriers"


def test_the_record_keeps_what_is_not_equal_and_counts_the_rest(differential):
    rows = [
        {"seed": 3, "barriers": "block", "outcome": "equal", "features": "floats, loops"},
        {"seed": 4, "barriers": "grid", "outcome": "equal", "features": "loops"},
        {"seed": 9, "barriers": "block", "outcome": "differs", "features": "floats", "source": "def kernel(): ..."},
    ]
    about = {"about": {}, "device": "gpu", "seconds": 1, "workers": 1, "first": 3, "counts": {"equal": 2, "differs": 1}}
    kept = differential.compact({**about, "rows": rows})
    assert kept["others"] == rows[2:]
    assert kept["equal"] == {"block": 1, "grid": 1}
    assert kept["features"] == {"floats": 1, "loops": 2}
    assert kept["last"] == 9


def test_without_a_file_the_script_writes_the_record(differential, monkeypatch, capsys):
    kept = []
    monkeypatch.setattr(measure, "record", lambda name, data: kept.append((name, data)))
    monkeypatch.setattr(
        differential.Run, "all", lambda run: run.keep({"outcome": "equal", "barriers": "block", "features": "x"})
    )
    assert differential.main(["--device", "executor", "--count", "1"]) == 0
    ((name, data),) = kept
    assert (name, data["counts"], data["features"]) == ("gpu_differential", {"equal": 1}, {"x": 1})
    json.dumps(data, allow_nan=False)


# What an H200 computed where the linker had fused a product and a sum (seeds 440 and 815 of 26 November 2026).
FUSED = [
    ((0.7, 0.7 * -0.5048828125, 0.55078125), 0.30338867187500007, 0.303388671875),
    ((0.7, 0.388671875, float(np.float32(0.3))), 0.5720703244209289, 0.572070324420929),
]


@cuda.jit
def apart(x, a, b):
    x[0] += a * b


@cuda.jit
def together(x, a, b):
    x[0] = cuda.fma(a, b, x[0])


@pytest.mark.parametrize(("numbers", "rounded_twice", "on_the_gpu"), FUSED)
@pytest.mark.parametrize("run", [simt.run, compiled.run])
def test_what_a_gpu_fuses_is_fma_here(run, numbers, rounded_twice, on_the_gpu):
    a, b, term = numbers
    for kernel, expected in ((apart, rounded_twice), (together, on_the_gpu)):
        x = np.array([term])
        run(kernel, 1, 1, (x, float64(a), float64(b)))
        assert x[0] == expected


def test_the_probe_tells_both_ways(differential):
    a, b, term, rounded_twice, rounded_once = differential.PRODUCT
    found = {}
    for kernel in (apart, together):
        x = np.array([term])
        simt.run(kernel, 1, 1, (x, a, b))
        found[kernel] = x[0]
    assert found == {apart: rounded_twice, together: rounded_once}
    x = np.array([term])
    differential.product_and_sum(x, a, b)
    assert x[0] == rounded_twice


def test_kernels_with_floats_are_compiled_without_the_linker(differential, made):
    numba_cuda = pytest.importorskip("numba.cuda")
    pytest.importorskip("numba_cuda")
    gpu = object.__new__(differential.Gpu)
    gpu.cuda = numba_cuda
    with_floats = made("n > 3")
    without = with_floats.with_source(with_floats.source.replace("n * t / 3 + float32(b)", "n"))
    for opt in (True, False):
        kernel = gpu.compiled(with_floats, opt)
        assert kernel.targetoptions["lto"] is False
        assert kernel.targetoptions["opt"] is opt
    assert gpu.compiled(without).targetoptions["lto"] is not False


# -- gpu_sanitizer -----------------------------------------------------------------------------------------------------

LOG = """========= COMPUTE-SANITIZER
========= Warning: Race reported between Write access at zoo_buggy::no_barrier[abi:v1](Array<float>)+0x190 in zoo_buggy.py:22
=========     and Read access at zoo_buggy::no_barrier[abi:v1](Array<float>)+0x200 in zoo_buggy.py:24 [124 hazards]
=========
a line of the program itself
========= Invalid __global__ read of size 4 bytes
=========     at zoo_kinds::outside[abi:v2](Array<float>)+0x80 in zoo_kinds.py:7
=========     by thread (36,0,0) in block (1,0,0)
========= Target application returned an error
========= RACECHECK SUMMARY: 1 hazard displayed (0 errors, 1 warning)
=========     not a part of any record
========= ERROR SUMMARY: 2 errors
"""


def test_records_of_compute_sanitizer_are_read(sanitizer):
    race, outside = sanitizer.parse(LOG)
    assert race["head"].startswith("Warning: Race reported between Write access at zoo_buggy::no_barrier")
    assert "zoo_buggy.py:24" in race["text"]
    assert outside["head"] == "Invalid __global__ read of size 4 bytes"
    assert outside["text"].count("\n") == 2
    assert "summary" not in (race["text"] + outside["text"]).lower()
    assert sanitizer.parse("========= COMPUTE-SANITIZER\n========= ERROR SUMMARY: 0 errors\n") == []


def test_a_verdict_says_how_many_and_whether_at_the_line(sanitizer):
    run = object.__new__(sanitizer.Run)
    run.animals = {
        "zoo_buggy.no_barrier": type("Animal", (), {"lines": {24}}),
        "right": type("Animal", (), {"lines": set()}),
    }
    records = sanitizer.parse(LOG)
    found = run.verdict("zoo_buggy.no_barrier", records[:1], "")
    assert (found["errors"], found["lines"], found["at_line"]) == (1, [22, 24], True)
    assert not run.verdict("right", records[1:], "")["at_line"]
    assert run.verdict("right", [], "") == "clean"
    assert run.verdict("right", [], "exit code 1") == "failed: exit code 1"


def test_the_record_leaves_out_what_the_compiler_named(sanitizer):
    (race, _) = sanitizer.parse(LOG)
    row = {
        "kernel": "zoo_buggy.no_barrier",
        "fault": ["race"],
        "lines": [24],
        "tools": {
            "racecheck": {"errors": 1, "first": race["head"], "lines": [22, 24], "at_line": True},
            "memcheck": "clean",
            "initcheck": "failed: \x1b[1mnot\x1b[0m at its end " + 500 * "x",
        },
        "xray": {"kinds": ["race"], "spaces": ["shared"], "first": "`s[t]`: ...", "at_line": True},
    }
    kept = sanitizer.short(row)
    assert kept["tools"]["racecheck"] == {
        "errors": 1,
        "first": "Warning: Race reported between Write access",
        "at_line": True,
    }
    assert kept["tools"]["memcheck"] == "clean"
    assert kept["tools"]["initcheck"].startswith("failed: not at its end x")
    assert len(kept["tools"]["initcheck"]) <= 160
    assert kept["xray"] == {"kinds": ["race"], "spaces": ["shared"], "at_line": True}


def test_the_xray_of_the_record_is_the_xray_of_today(sanitizer):
    """Of one kernel of each kind of fault, and of the zoo the names: what is wrong, and where, did not move."""
    rows = measure.recorded("gpu_sanitizer").data["rows"]
    zoo = sanitizer.zoo()
    recorded = {row["kernel"]: row for row in rows}
    assert {name: sorted(zoo[name].expected) for name in recorded if name in zoo} == {
        name: row["fault"] for name, row in recorded.items() if name in zoo
    }
    assert len(recorded.keys() & zoo.keys()) >= 0.9 * len(zoo)
    kinds = {}
    for name, row in recorded.items():
        if name in zoo and row["fault"]:
            kinds.setdefault(tuple(row["fault"]), name)
    said = []
    sanitizer.look(type("Options", (), {"kernels": list(kinds.values())}), lambda **step: said.append(step))
    for step in said:
        row = recorded[step["kernel"]]["xray"]
        assert (step["kinds"], step["spaces"]) == (row["kinds"], row["spaces"]), step["kernel"]
